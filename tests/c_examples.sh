#!/usr/bin/env bash
# Each program of the examples with each schedule beside it, one pair a line.
for schedule in "$1"/*/*.sch "$1"/*/*/*.sch; do
  case $(basename "$schedule") in check.sch | solution.sch) continue ;; esac # of a lesson: it checks schedules; `tirc lesson` runs each
  for program in "$(dirname "$schedule")"/*.tir; do [ -f "$program" ] && [ "$(basename "$program")" != goal.tir ] && printf '%s %s\n' "$program" "$schedule"; done
done
