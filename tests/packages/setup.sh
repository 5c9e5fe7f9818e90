#!/usr/bin/env bash
# What is said where there is no apt, and that the table of packages has all that it should: usage: setup.sh SOURCE
set -euo pipefail
source=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
table=$source/tools/packages/names.txt
# Each line has a group, five columns of names and what they are for.
grep -v '^#' "$table" | awk -F' [|] ' 'NF != 7 { print FILENAME ": " $0; bad = 1 } END { exit bad }'
fails() { # STATUS COMMAND...: what it says goes to `said`
  local status=0 expected=$1
  shift
  "$@" >"$root/said" 2>&1 || status=$?
  [ "$status" = "$expected" ] || { cat "$root/said"; echo "status $status: $*"; exit 1; }
}
# The command line of a distribution has the names of its column, and Debian's are those that are installed.
"$source/tools/setup" --names alpine >"$root/said"
grep -q '^  apk add build-base .* llvm19-dev ' "$root/said"
grep -q 'not tried' "$root/said"
if grep -E ' -( |$)' "$root/said"; then exit 1; fi
"$source/tools/setup" --names debian >"$root/said"
grep -q '^  apt-get install build-essential .* libjson-c-dev ' "$root/said"
fails 2 "$source/tools/setup" --names beos
# Without apt, setup names packages and fails; demo goes on to meson, and names them where that finds too little.
mkdir -p "$root/bin" "$root/tree/tools/packages"
for command in bash env cat id dirname mkdir; do ln -s "$(command -v "$command")" "$root/bin"; done
cp "$source"/tools/{setup,demo} "$root/tree/tools"
cp "$table" "$root/tree/tools/packages"
fails 1 env PATH="$root/bin" "$root/tree/tools/setup"
grep -q 'there is no apt here' "$root/said"
grep -q 'meson setup build/release --buildtype=release' "$root/said"
printf '#!/bin/bash\necho "$*" >>meson.said\n[ "$1" != setup ] && exit 3\necho "ERROR: Dependency isl not found"\nexit 1\n' >"$root/bin/meson"
chmod +x "$root/bin/meson"
fails 1 env PATH="$root/bin" "$root/tree/tools/demo"
grep -q 'Dependency isl not found' "$root/said"
grep -q 'What each is for' "$root/said"
printf '#!/bin/bash\necho "$*" >>meson.said\n[ "$1" = setup ]\n' >"$root/bin/meson"
rm -f "$root/tree/meson.said"
fails 1 env PATH="$root/bin" "$root/tree/tools/demo"
[ "$(cat "$root/tree/meson.said")" = $'setup build/release --buildtype=release\ncompile -C build/release' ]
