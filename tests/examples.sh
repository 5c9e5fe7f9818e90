#!/usr/bin/env bash
# Every example: each schedule is applied, the scheduled program is well formed and reads back as it was
# printed, and the compiled kernel agrees with the reference interpreter on the unscheduled program.
# A schedule that says "expected failure" in its comments must end in a ScheduleError.
# usage: examples.sh TIRC EXAMPLES_FOLDER
set -u
tirc=$1 folder=$2 failures=0 count=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  failures=$((failures + 1))
  printf '%s\n' "$1"
  head -c 2000 "$work/log"
}
for schedule in "$folder"/*/*.sch "$folder"/*/*/*.sch; do
  [[ $schedule == *check.sch ]] && continue # of a lesson: looks at a schedule and is none
  [[ $schedule == *solution.sch ]] && continue # `tirc lesson` runs each
  [[ $schedule == */models/* ]] && continue # of graphs, which have a test of their own
  for program in "$(dirname "$schedule")"/*.tir; do
    [ -e "$program" ] || continue # recipes are imported by others
    [[ $program == *goal.tir ]] && continue # of an exercise: what schedules are to make
    count=$((count + 1))
    small=()
    [ "$(basename "$(dirname "$program")")" = matmul ] && small=(-D M=64 -D N=128 -D K=64)
    how=("$schedule") # a library of rules is no script
    grep -q '^rules = ' "$schedule" && how=(--auto --rules "$schedule")
    if grep -qi 'expected failure' "$schedule"; then
      "$tirc" apply "$program" "$schedule" "${small[@]}" >"$work/log" 2>&1
      [ $? -eq 1 ] || fail "$schedule: should be a ScheduleError"
      continue
    fi
    "$tirc" apply "$program" "${how[@]}" "${small[@]}" >"$work/out.tir" 2>"$work/log" ||
      { fail "$schedule: cannot be applied"; continue; }
    "$tirc" check "$work/out.tir" >"$work/log" 2>&1 || fail "$schedule: the result is ill-formed"
    "$tirc" print "$work/out.tir" >"$work/again.tir" 2>"$work/log"
    cmp -s "$work/out.tir" "$work/again.tir" || fail "$schedule: the result prints differently when read again"
    if [[ $schedule == */gpu/* || $schedule == */tensor_cores/* ]]; then # becomes kernels, which a processor does not run
      for sizes in "" "-D M=70 -D N=50 -D K=37" "-D M=1 -D N=1 -D K=3"; do
        [ -z "$sizes" ] || grep -q 'M, N, K = ' "$program" || continue
        "$tirc" lower "$program" "$schedule" $sizes --target opencl >"$work/out.tir" 2>"$work/log" ||
          { fail "$schedule: $program $sizes is not lowered"; continue; }
        "$tirc" print "$work/out.tir" >"$work/again.tir" 2>"$work/log"
        cmp -s "$work/out.tir" "$work/again.tir" || fail "$schedule: the kernels print differently when read again"
        [ -z "$sizes" ] || "$tirc" run "$program" "$schedule" $sizes --device emulate --check >"$work/log" 2>&1 ||
          fail "$schedule: $program $sizes fails on the emulator"
      done
      ! grep -q ' m = T.int32()' "$program" || "$tirc" run "$program" "$schedule" --in m=37 --device emulate --check >"$work/log" 2>&1 ||
        fail "$schedule: $program fails on the emulator"
      [[ $schedule != */tensor_cores/* ]] || "$tirc" run "$program" "$schedule" -D N=64 --device emulate --check >"$work/log" 2>&1 ||
        fail "$schedule: $program fails on the emulator"
      continue
    fi
    if grep 'sch.bind(' "$schedule" | grep -qv '"pe[.]'; then # kernels, too; a lesson's half product on tensor cores is none
      [[ $schedule == */20-tensor-cores/* ]] ||
        "$tirc" run "$program" "$schedule" --device emulate --check >"$work/log" 2>&1 || fail "$schedule: fails on the emulator"
      continue
    fi
    if [[ $schedule == */vnni/* ]]; then # this machine need not have the instruction
      if grep -qs avx512_vnni /proc/cpuinfo; then how+=(--target native); else how+=(--interpret); fi
    fi
    "$tirc" run "$program" "${how[@]}" "${small[@]}" --check --threads 2 >"$work/log" 2>&1 ||
      fail "$schedule: the check fails"
  done
done

# Extents of 1: tiles are larger than the arrays, loops of one iteration come and go.
for schedule in "$folder"/*/*.sch; do
  [[ $schedule == */models/* || $schedule == */gpu/* || $schedule == */tensor_cores/* || $schedule == */shared_memory/* ]] && continue
  for program in "$(dirname "$schedule")"/*.tir; do
    [ -e "$program" ] && ! grep -qi 'expected failure' "$schedule" || continue
    count=$((count + 1))
    ones=()
    for name in $(sed -n 's/^\([A-Z][A-Z]*\) = [0-9].*/\1/p' "$program"); do
      [ "$(basename "$program") $name" = "matmul_prepacked.tir N" ] || ones+=(-D "$name=1") # a multiple of 24
    done
    "$tirc" run "$program" "$schedule" "${ones[@]}" --check --threads 2 >"$work/log" 2>&1 ||
      fail "$schedule: the check fails with ${ones[*]}"
  done
done

# Extents of 0: one clear line.
for schedule in rule_based goto prepacked; do
  for name in M N K; do
    count=$((count + 1))
    "$tirc" apply "$folder/matmul/matmul.tir" "$folder/matmul/$schedule.sch" -D "$name=0" >"$work/log" 2>&1
    grep -q 'error: a product with an extent of 0 has no tiles \[assert\]' "$work/log" ||
      fail "$schedule.sch: $name=0 has no clear error"
  done
done

# goto.sch computes its parameters from the shape: primes, extents below a tile, one row, one column.
for shape in "1 1 1" "1 7 5" "2 3 521" "3 97 4" "4 24 4" "5 1 9" "7 13 17" "13 25 129" "17 100 130" "31 97 257" "67 769 11" "130 49 3" "257 5 30" "23 31 1031"; do
  read -r m n k <<<"$shape"
  count=$((count + 1))
  "$tirc" run "$folder/matmul/matmul.tir" "$folder/matmul/goto.sch" -D "M=$m" -D "N=$n" -D "K=$k" --check --threads 2 >"$work/log" 2>&1 ||
    fail "goto.sch: the check fails at M=$m N=$n K=$k"
done
echo "$count schedules, $failures failures"
[ "$count" -gt 0 ] && [ "$failures" -eq 0 ]
