#!/usr/bin/env bash
# The programs of a suite at its sizes, as --auto schedules them, against the reference interpreter:
# usage: suite.sh TIRC FILE.suite [OPTION...]
set -u
tirc=$1 suite=$2 runs=0 failures=0 programs=0
shift 2
while read -r name program sizes; do
  case $name in '' | '#'*) continue ;; esac
  (( programs++ % ${TIRC_TEST_EVERY:-1} == 0 )) || continue
  options=()
  for size in ${sizes%%#*}; do options+=(-D "$size"); done
  runs=$((runs + 1))
  result=$("$tirc" run "$(dirname "$suite")/$program" --auto --check "${options[@]}" "$@" 2>&1) && grep -q '^check: ok' <<<"$result" ||
    { failures=$((failures + 1)); printf '%s: status %s\n%s\n' "$name" "$?" "$result"; }
done <"$suite"
echo "$runs programs, $failures failures"
[ "$runs" -gt 0 ] && [ "$failures" -eq 0 ]
