#!/usr/bin/env bash
# Debian's packages, unpacked into a folder, as their users have them: usage: deb.sh FOLDER, the one of `tools/release deb`.
# Not one of the tests that run by themselves: building the packages takes minutes.
set -euo pipefail
folder=$(realpath "$1") source=$(realpath "$(dirname "$0")/../..")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
unset TIRC_LIBRARY LD_LIBRARY_PATH
export TIRC_CACHE=off PYTHONDONTWRITEBYTECODE=1
for package in "$folder"/*.deb; do
  case $package in *-dbgsym_*) ;; *) dpkg-deb -x "$package" "$root" ;; esac
done
version=$(sed -n "s/^project('tirc'.* version: '\([^']*\)'.*/\1/p" "$source/meson.build")
[ "$("$root/usr/bin/tirc" --version)" = "tirc $version" ]
"$root/usr/bin/tirc" run "$root/usr/share/doc/tirc/examples/matmul/matmul.tir" -D M=4 -D N=8 -D K=8 --check >/dev/null
[ -f "$root/usr/share/man/man1/tirc.1.gz" ]
PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 "$source/tests/packages/installed.py" "$version" "$root" deb
TIRC_LLVM=$root/none PYTHONPATH=$root/usr/lib/python3/dist-packages \
  /usr/bin/python3 "$source/tests/packages/installed.py" "$version" "$root" deb without-llvm
pc=$(find "$root" -name tirc.pc)
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=${pc%/*}
lib=$(dirname "${pc%/*}")
cc "$source/examples/embed/jit.c" $(pkg-config --cflags --libs tirc) -o "$root/jit" && LD_LIBRARY_PATH=$lib "$root/jit" >/dev/null
cc "$source/examples/embed/jit.c" $(pkg-config --cflags tirc) "$lib/libtirc.a" $(PKG_CONFIG_SYSROOT_DIR= pkg-config --libs json-c libzip isl libprotobuf-c sqlite3) \
  -lm -pthread -ldl -o "$root/jit" && "$root/jit" >/dev/null
echo ok
