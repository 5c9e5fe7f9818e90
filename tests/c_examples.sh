#!/usr/bin/env bash
# Each program of the examples with each schedule beside it, one pair a line.
for schedule in "$1"/*/*.sch "$1"/*/*/*.sch; do
  [ "$(basename "$schedule")" = check.sch ] && continue # of a lesson: it checks schedules
  for program in "$(dirname "$schedule")"/*.tir; do [ -f "$program" ] && printf '%s %s\n' "$program" "$schedule"; done
done
