#!/usr/bin/env bash
# A build with nothing that can be left out: what it asks for, and what refuses files of ONNX then: usage: options.sh SOURCE
set -euo pipefail
source=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
meson setup "$root/build" "$source" -Dtests=false -Dcommand=false -Donnx=false >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
if grep -iE 'protobuf|protoc-c|libedit|cmocka' "$root/log"; then exit 1; fi
ninja -C "$root/build" -t targets all >"$root/targets"
if grep -E '^tools/tirc:|tirc\.1:|onnx\.pb|tests/' "$root/targets"; then exit 1; fi
grep -q '^libtirc.a:' "$root/targets" && [ -f "$root/build/tools/packages/tircConfig.cmake" ]
gcc -std=gnu17 -Wall -Wextra -Werror -I"$source" -I"$source/parser/onnx" -c "$source/parser/onnx/left_out.c" -o "$root/left_out.o"
nm "$root/left_out.o" | grep -c ' T tirc_onnx_read' | grep -qx 2
