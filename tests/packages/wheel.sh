#!/usr/bin/env bash
# The wheel, installed into an empty environment without a network: usage: wheel.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2
command -v patchelf >/dev/null && /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || { echo "no patchelf or venv"; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
unset TIRC_LIBRARY PYTHONPATH LD_LIBRARY_PATH
wheel=$("$source/tools/release" wheel --build "$build" "$root")
version=$(meson introspect --projectinfo "$build" | sed 's/.*"version": "\([^"]*\)".*/\1/')
case $wheel in "$root/tirc-$version-py3-none-manylinux_"*.whl) ;; *) echo "its name is $wheel"; exit 1 ;; esac
/usr/bin/python3 -m venv "$root/venv"
"$root/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
cd "$root" # not where another tirc may lie
export TIRC_CACHE=off
"$root/venv/bin/python" "$source/tests/packages/installed.py" "$version" "$root/venv"
TIRC_LLVM=$root/none "$root/venv/bin/python" "$source/tests/packages/installed.py" "$version" "$root/venv" without-llvm
# Nothing is left behind, as RECORD says.
"$root/venv/bin/pip" uninstall --quiet --disable-pip-version-check --yes tirc
[ -z "$(find "$root/venv" -name '*tirc*')" ]
