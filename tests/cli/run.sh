#!/usr/bin/env bash
# Runs the cases of *.cli: usage: run.sh [--keep-code] TIRC CASES...
# --keep-code: with a code cache of its own, for cases that compile the same again and again
#   $ COMMAND    a shell command, run in this folder; `tirc` is the command under test, $out a scratch folder
#   ? STATUS     its exit status (0 unless said)
#   > TEXT       standard output contains TEXT        >| standard output is empty
#   ! TEXT       standard error contains TEXT         !| standard error is empty
# A case ends at the next `$`. Other lines are comments.
set -u
cache=off
[ "$1" = --keep-code ] && cache=kept && shift
tirc_path=$(realpath "$1")
[ -x "$tirc_path" ] || { echo "no command: $1" >&2; exit 2; }
shift
files=()
for file in "$@"; do files+=("$(realpath "$file")"); done
cd "$(dirname "$0")" || exit 2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
examples=$(realpath ../../examples)
[ $cache = off ] || cache=$out/$cache
export TIRC_DATABASE=$out/tirc.db TIRC_CACHE=$cache TIRC_CALIBRATION=off # and not the user's
tirc() { "$tirc_path" "$@"; }
python=/usr/bin/python3 # the one that has the packages of tools/setup, where several are installed
[ -x "$python" ] || python=$(command -v python3)
python3() { "$python" "$@"; }
failures=0 cases=0 status=0 command= place= expected=0

complain() {
  failures=$((failures + 1))
  printf '%s: %s\n  %s\n' "$place" "$command" "$1"
  printf '  stdout: %s\n  stderr: %s\n' "$(head -c 600 "$out/stdout")" "$(head -c 1200 "$out/stderr")"
}
run_command() {
  ( eval "$command" ) >"$out/stdout" 2>"$out/stderr" </dev/null
  status=$?
  cases=$((cases + 1))
}
end_case() { # the status is looked at once, when the case is over
  [ -n "$command" ] || return
  [ "$status" = "$expected" ] || complain "status is $status, not $expected"
  command= expected=0
}

for file in "${files[@]}"; do
  number=0
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    case $line in
    '$ '*) end_case; command=${line:2} place=$file:$number; run_command ;;
    '? '*) expected=${line:2} ;;
    '> '*) grep -qF -- "${line:2}" "$out/stdout" || complain "standard output has no '${line:2}'" ;;
    '! '*) grep -qF -- "${line:2}" "$out/stderr" || complain "standard error has no '${line:2}'" ;;
    '>|') [ -s "$out/stdout" ] && complain 'standard output is not empty' ;;
    '!|') [ -s "$out/stderr" ] && complain 'standard error is not empty' ;;
    esac
  done <"$file"
  end_case
done
echo "$cases commands, $failures failures"
[ "$cases" -gt 0 ] && [ "$failures" -eq 0 ]
