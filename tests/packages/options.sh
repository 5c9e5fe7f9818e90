#!/usr/bin/env bash
# A build with nothing that can be left out: what it asks for, and what refuses files of ONNX then: usage: options.sh SOURCE VERSION [cross]
set -euo pipefail
source=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
meson setup "$root/build" "$source" -Dtests=false -Dcommand=false -Donnx=false >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
if grep -iE 'protobuf|protoc-c|libedit|cmocka' "$root/log"; then exit 1; fi
ninja -C "$root/build" -t targets all >"$root/targets"
if grep -E '^tools/tirc:|tirc\.1:|onnx\.pb|tests/' "$root/targets"; then exit 1; fi
grep -q '^libtirc.a:' "$root/targets"
[ -f "$root/build/tools/packages/tircConfig.cmake" ]
gcc -std=gnu17 -Wall -Wextra -Werror -I"$source" -I"$source/parser/onnx" -c "$source/parser/onnx/left_out.c" -o "$root/left_out.o"
nm "$root/left_out.o" | grep -c ' T tirc_onnx_read' | grep -qx 2

# With a third word also: a build for another machine asks a tirc that runs here for manual pages, and does without where there is none.
[ $# -gt 2 ] || exit 0
cat >"$root/cross" <<'END'
[binaries]
c = 'gcc'
ar = 'ar'
strip = 'strip'
pkgconfig = 'pkg-config'
[host_machine]
system = 'linux'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
[properties]
needs_exe_wrapper = true
END
for folder in bin none; do mkdir "$root/$folder"; done
printf '#!/bin/sh\necho tirc %s\n' "$2" >"$root/bin/tirc"
chmod +x "$root/bin/tirc"
crossed() { PATH=$1:$PATH meson setup "$root/cross-$2" "$source" --cross-file "$root/cross" -Dtests=false -Donnx=false >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }; }
crossed "$root/bin" with
ninja -C "$root/cross-with" -t commands tools/packages/tirc.1 | grep -q "^$root/bin/tirc help --pages"
if command -v tirc >/dev/null; then exit 0; fi # an installed one would be found
crossed "$root/none" without
grep -q 'no manual pages and completions' "$root/log"
