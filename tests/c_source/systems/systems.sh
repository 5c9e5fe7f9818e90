#!/usr/bin/env bash
# Emitted C (--portable) and the runtime of kernels as C17 without extensions: by gcc and clang, with clang's rules for
# Windows (as cl) and for macOS, and by MinGW where it is. There are no headers of Windows and macOS here: systems/ has what
# the code may use of them, so that a call that they lack fails. The pool's unit test runs on plain POSIX threads.
# usage: systems.sh TIRC SOURCE
set -euo pipefail
tirc=$(realpath "$1") source=$2
here=$source/tests/c_source/systems
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
export TIRC_CACHE=off
cd "$root"
"$tirc" build "$here/work.tir" --emit=c --portable -o work.c
"$tirc" build "$here/work.tir" --emit=c --portable --runtime -o work_rt.c
"$tirc" build "$source/examples/models/mlp.tir" -D n=4 --emit=c --portable -o mlp.c
emitted=(work.c work_rt.c)
runtime=("$source"/runtime/kernel/{system,pool,pages,workspace,default_runtime}.c)
strict=(-std=c17 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only -I"$source")
tried=0
by() { # COMMAND...
  "$@" && tried=$((tried + 1))
}
clang=$(command -v clang-19 || command -v clang || true)
for cc in gcc $clang; do
  by "$cc" "${strict[@]}" "${emitted[@]}" "${runtime[@]}"
done
if [ -n "$clang" ]; then
  own=(-nostdinc -ffreestanding -isystem "$("$clang" -print-resource-dir)/include" -isystem "$here/c")
  by "$clang" --target=arm64-apple-macos13 "${strict[@]}" "${own[@]}" -isystem "$here/apple" mlp.c "${emitted[@]}" "${runtime[@]}"
  by "$clang" --driver-mode=cl --target=x86_64-pc-windows-msvc /std:c17 /W3 /WX /Zs /X /clang:-ffreestanding \
    -imsvc "$("$clang" -print-resource-dir)/include" -imsvc "$here/c" -imsvc "$here/windows" "/I$source" -- mlp.c "${emitted[@]}" "${runtime[@]}"
fi
if command -v x86_64-w64-mingw32-gcc >/dev/null; then
  by x86_64-w64-mingw32-gcc "${strict[@]}" "${emitted[@]}" mlp.c "$source"/runtime/kernel/{system,default_runtime}.c # which call it
fi
gcc -std=gnu17 -DTIRC_PLAIN_POSIX -O1 -I"$source" "$source/tests/unit/test_pool.c" "${runtime[@]}" -lcmocka -pthread -o pool
./pool >log 2>&1 || { cat log; exit 1; }
echo "$tried ways"
[ "$tried" -ge 2 ]
