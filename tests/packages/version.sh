#!/usr/bin/env bash
# The version stands in meson.build alone, and the sources that packages are built from have it everywhere: usage:
# version.sh SOURCE VERSION
set -euo pipefail
source=$1 version=$2
abi=$(sed -n "s/^abi = '\([0-9]*\)'.*/\1/p" "$source/meson.build")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
tree=$("$source/tools/release" source "$root")
[ "$tree" = "$root/tirc-$version" ]
head -1 "$tree/debian/changelog" | grep -qF "tirc ($version-1) "
grep -qx "Package: libtirc$abi" "$tree/debian/control"
grep -qx "Package: libtirc-dev" "$tree/debian/control" && grep -qx "Package: tirc" "$tree/debian/control" && grep -qx "Package: python3-tirc" "$tree/debian/control"
[ -f "$tree/debian/libtirc$abi.install" ] && [ -x "$tree/debian/rules" ] && [ -f "$tree/meson.build" ]
! grep -n '@[A-Z]*@' "$tree"/debian/{control,changelog,copyright}
if command -v dpkg-parsechangelog >/dev/null; then
  [ "$(dpkg-parsechangelog --file "$tree/debian/changelog" --show-field Version)" = "$version-1" ]
fi
! grep -rnF "$version" "$source/tools/packages" "$source/tools/release" "$source/tools/python/pyproject.toml" "$source/tools/python/setup.py"
[ "$(grep -cF "'$version'" "$source/meson.build")" = 1 ]
# Without a word of what is wanted, it says what there is.
status=0
"$source/tools/release" 2>"$root/usage" || status=$?
[ "$status" = 2 ] && grep -q 'usage: tools/release' "$root/usage"
