#!/usr/bin/env bash
# Projects that use an installed tirc: by CMake and by meson, several kernels in one library with a SONAME, which are built
# again when what they were made from changes. consumers.sh PREFIX FOLDER SOURCE; PKG_CONFIG_PATH is set. FOLDER is empty.
set -euo pipefail
prefix=$1 folder=$2 source=$3
export PATH=$prefix/bin:$PATH TIRC_CACHE=off
cp -r "$source/tests/install/consumer" "$folder/source"
cd "$folder"
model=positive.onnx
if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  echo "no numpy: a model of ONNX with weights in a file of their own was not tried"
  model=positive.tir
else
  PYTHONPATH=$source/tests/onnx /usr/bin/python3 - source <<'END'
import sys
import numpy as np
from messages import external_tensor, model, node, value
folder, zero = sys.argv[1], np.zeros(64, "float32")
open(folder + "/zero.data", "wb").write(zero.tobytes())
body = model([node("Relu", ["x"], ["r"]), node("Add", ["r", "zero"], ["y"])], [value("x", "float32", (64,))], [value("y", "float32", (64,))],
             [external_tensor(zero, "zero", "zero.data")])
open(folder + "/positive.onnx", "wb").write(body)
END
fi
says() { # NAME COMMAND...: what it says goes to NAME.log
  local log=$1.log
  shift
  "$@" >"$log" 2>&1 || { cat "$log"; echo "failed: $*"; exit 1; }
}
of_soname() { objdump -p "$1" | grep -q "SONAME *libkernels.so.1\$" || { echo "$1: no SONAME"; exit 1; }; }

if command -v cmake >/dev/null; then
  says configure env -u PKG_CONFIG_SYSROOT_DIR cmake -G Ninja -S source -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DMODEL=$model
  says build cmake --build cmake
  [ "$(cmake/use)" = right ]
  [ "$(cmake/use_archive)" = right ]
  nm cmake/use_archive | grep ' [Tt] tirc_default_runtime$' >/dev/null || { echo "use_archive: no threads were linked"; exit 1; }
  grep -q ' -fopenmp' cmake/build.ninja || grep -q 'OpenMP was not found' configure.log || { echo "EMIT c: loops are serial silently"; exit 1; }
  cmake/version_static
  cmake/version
  of_soname cmake/libkernels.so.1.2.0
  built() { says again cmake --build cmake; grep -o 'tirc build [a-z]*' again.log | sort | uniq -c | awk '{ print $4 ": " $1 }' | tr '\n' ' '; }
  [ "$(built)" = "" ]
  echo 'tile = 16' >source/tiles.sch # which the schedule of total imports
  [ "$(built)" = "total: 1 " ]
  if [ "$model" = positive.onnx ]; then
    touch source/zero.data
    [ "$(built)" = "positive: 1 " ]
  fi
  [ "$(cmake/use)" = right ]
  says example env -u PKG_CONFIG_SYSROOT_DIR cmake -G Ninja -S "$prefix/share/doc/tirc/examples/embed" -B embed -DCMAKE_PREFIX_PATH="$prefix"
  says example cmake --build embed
  embed/host | grep -q 'largest relative error'
  mkdir -p elsewhere/below
  printf '%s\n' 'cmake_minimum_required(VERSION 3.20)' 'project(elsewhere C)' 'find_package(tirc REQUIRED)' 'add_library(kernels STATIC)' \
    'add_subdirectory(below)' >elsewhere/CMakeLists.txt
  echo 'tirc_add_kernel(kernels ../../source/twice.tir)' >elsewhere/below/CMakeLists.txt
  if env -u PKG_CONFIG_SYSROOT_DIR cmake -G Ninja -S elsewhere -B refused -DCMAKE_PREFIX_PATH="$prefix" >refused.log 2>&1; then
    echo "a target of another directory was taken"
    exit 1
  fi
  tr -s '\n ' ' ' <refused.log | grep 'kernels is a target of another directory' >/dev/null || { cat refused.log; exit 1; }
else
  echo "no cmake: its package was not tried"
fi

says setup meson setup meson source
says compile ninja -C meson
[ "$(meson/use)" = right ]
of_soname meson/libkernels.so.1.2.0
says none ninja -C meson -n
grep -q 'no work to do' none.log
echo 'tile = 4' >source/tiles.sch
says some ninja -C meson -n
grep -q 'Generating total' some.log
if grep 'Generating twice' some.log; then
  echo "meson: twice is made again, of which nothing has changed"
  exit 1
fi
