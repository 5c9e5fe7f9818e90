#!/usr/bin/env bash
# The version stands in meson.build alone, and the sources that packages are built from have it everywhere: usage:
# version.sh SOURCE VERSION
set -euo pipefail
source=$1 version=$2
abi=$(sed -n "s/^abi = '\([0-9]*\)'.*/\1/p" "$source/meson.build")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
tree=$(DEBFULLNAME='A/B & \C' DEBEMAIL=tests@localhost "$source/tools/release" source "$root")
[ "$tree" = "$root/tirc-$version" ]
head -1 "$tree/debian/changelog" | grep -qF "tirc ($version-1) "
grep -qx "Package: libtirc$abi" "$tree/debian/control"
grep -qx "Package: libtirc-dev" "$tree/debian/control"
grep -qx "Package: tirc" "$tree/debian/control"
grep -qx "Package: python3-tirc" "$tree/debian/control"
grep -qF 'A/B & \C <tests@localhost>' "$tree/debian/changelog"
[ -f "$tree/debian/libtirc$abi.install" ]
[ -x "$tree/debian/rules" ]
[ -f "$tree/meson.build" ]
if grep -n '@[A-Z]*@' "$tree"/debian/{control,changelog,copyright}; then
  echo "debian/: a name is left that tools/release has to fill in"
  exit 1
fi
if command -v dpkg-parsechangelog >/dev/null; then
  [ "$(dpkg-parsechangelog --file "$tree/debian/changelog" --show-field Version)" = "$version-1" ]
fi
if grep -rnF "$version" "$source/tools/packages" "$source/tools/release" "$source/tools/python/pyproject.toml" "$source/tools/python/setup.py"; then
  echo "the version stands elsewhere than in meson.build"
  exit 1
fi
[ "$(grep -cF "'$version'" "$source/meson.build")" = 1 ]
# Without a word of what is wanted, it says what there is.
status=0
"$source/tools/release" 2>"$root/usage" || status=$?
[ "$status" = 2 ]
grep -q 'usage: tools/release' "$root/usage"

# A release comes from a tag: its version and its changes have to be there.
if git -C "$source" rev-parse HEAD >/dev/null 2>&1 && [ -z "$(git -C "$source" rev-parse --show-prefix)" ]; then
  git clone -q --shared --no-checkout "$source" "$root/clone"
  cd "$root/clone"
  git checkout -q HEAD -- meson.build runtime/tirc/base.h
  mkdir tools
  cp "$source/tools/release" tools
  says() { # STATUS WORDS ARGUMENT...
    local status=0 expected=$1 words=$2
    shift 2
    tools/release "$@" --only source "$root/out" >"$root/said" 2>&1 || status=$?
    [ "$status" = "$expected" ] && grep -q "$words" "$root/said" || { cat "$root/said"; exit 1; }
  }
  says 1 'there is no tag v7.8.9' v7.8.9
  git tag v7.8.9
  says 1 'the version of v7.8.9 in meson.build is another one' v7.8.9
  mkdir -p examples/guide
  git config user.name tests
  git config user.email tests@localhost
  sed -i "s/ version: '$version',/ version: '7.8.9',/" meson.build
  printf '# Changes\n\n## 7.8.9\n\nMore of it.\n\n## 7.8.8\n\nLess.\n' >examples/guide/changes.md
  git add meson.build examples/guide/changes.md
  git commit -q --no-verify -m 'A release'
  git tag v7.8.10
  git tag -f v7.8.9 >/dev/null
  says 1 'the version of v7.8.10' v7.8.10
  echo old >"$root/out/an older file" # which is none of this release
  says 0 '^tirc-7.8.9.tar.gz$' v7.8.9
  [ "$(grep . "$root/out/NOTES.md")" = 'More of it.' ]
  [ "$(cut -c67- "$root/out/SHA256SUMS" | tr '\n' ' ')" = 'NOTES.md tirc-7.8.9.tar.gz ' ]
  (cd "$root/out" && sha256sum --quiet -c SHA256SUMS)
  tar -tzf "$root/out/tirc-7.8.9.tar.gz" | grep -x tirc-7.8.9/meson.build >/dev/null # which reads all, so that tar can write it
fi
