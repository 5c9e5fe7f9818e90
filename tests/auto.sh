#!/usr/bin/env bash
# Runs the programs of a folder as --auto schedules them, and compares the results with those of the unscheduled ones in
# the reference interpreter: usage: auto.sh TIRC FOLDER|PROGRAMS.json... (an object: names, and programs as text)
# A line `# with OPTIONS` of a program asks for a run with these; a program without one runs as it is. `# by RULE`: that
# rule takes it (in each run, or after OPTIONS: `# with -D M=1 by RULE`). A line `# slow` says that rules warn of a block that they
# cannot make fast. Each plain script (--script) gives an equal program.
set -u
tirc=$(realpath "$1")
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
runs=0 failures=0 programs=0

complain() {
  failures=$((failures + 1))
  printf '%s %s: %s\n' "$program" "$options" "$1"
  head -c 1500 "$scratch/err"
}

run() { # the program with the options
  runs=$((runs + 1))
  # shellcheck disable=SC2086
  "$tirc" run "$program" --auto --explain-auto --check $options >"$scratch/out" 2>"$scratch/err" ||
    { cat "$scratch/out" >>"$scratch/err"; complain "status $?"; return; }
  grep -q '^check: ok' "$scratch/out" || complain "no check"
  [ -z "$rule" ] || grep -q "^took .* by $rule" "$scratch/err" || complain "rule $rule does not take it"
  grep -v '^declined\|^took\|^left' "$scratch/err" | grep -q . && ! grep -q 'no rule' "$scratch/err" && complain "it warns"
  grep -q 'no rule makes' "$scratch/err" && ! grep -q '^# slow' "$program" && complain "the rules leave it slow"
  # shellcheck disable=SC2086
  sizes=$(printf '%s' "$options" | grep -oE -- '-D [^ ]+' | tr '\n' ' ')
  "$tirc" apply "$program" --auto --script $sizes >"$scratch/plain.sch" 2>/dev/null
  "$tirc" apply "$program" "$scratch/plain.sch" $sizes >"$scratch/plain.tir" 2>"$scratch/err" &&
    "$tirc" apply "$program" --auto $sizes >"$scratch/auto.tir" 2>/dev/null &&
    { cmp -s "$scratch/auto.tir" "$scratch/plain.tir" || "$tirc" equal "$scratch/auto.tir" "$scratch/plain.tir" >"$scratch/err" 2>&1; } ||
    complain "the plain script does not give the same program"
}

for folder in "$@"; do
  if [ -f "$folder" ]; then
    mkdir -p "$scratch/programs"
    python3 -c 'import json, sys
for name, text in json.load(open(sys.argv[1])).items(): open("%s/%s.tir" % (sys.argv[2], name), "w").write(text)' "$folder" "$scratch/programs" || exit 2
    folder=$scratch/programs
  fi
  for program in "$folder"/*.tir; do
    (( programs++ % ${TIRC_TEST_EVERY:-1} == 0 )) || continue
    rule=$(sed -n 's/^# by \(.*\)/\1/p' "$program" | head -1) every=$rule options=
    if grep -q '^# with' "$program"; then
      while read -r options; do
        rule=$every
        case $options in *' by '*) rule=${options##* by } options=${options% by *} ;; esac
        run
      done < <(sed -n 's/^# with //p' "$program")
    else
      run
    fi
  done
done
echo "$runs runs, $failures failures"
[ "$runs" -gt 0 ] && [ "$failures" -eq 0 ]
