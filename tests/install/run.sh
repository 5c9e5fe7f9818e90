#!/usr/bin/env bash
# The project as its users get it: installed to a prefix of its own, found through pkg-config by both
# compilers, by CMake and meson, run, and removed. run.sh BUILD SOURCE
set -euo pipefail
build=$1 source=$2
root=$(mktemp -d)
log=$build/meson-logs/install-log.txt
[ ! -f "$log" ] || cp "$log" "$root/log" # of who has installed it, and will want to remove it
trap '[ ! -f "$root/log" ] || cp "$root/log" "$log"; rm -rf "$root"' EXIT
to=$root/to
DESTDIR=$to meson install -C "$build" --no-rebuild --quiet >/dev/null
pc=$(find "$root" -name tirc.pc)
export PKG_CONFIG_SYSROOT_DIR=$to PKG_CONFIG_PATH=${pc%/*}
lib=$(dirname "$(dirname "$pc")")
export LD_LIBRARY_PATH=$lib
header=$(find "$root" -path "*/include/tirc.h")
parts=$(find "${header%/*}/tirc" -name '*.h' ! -name runtime_abi.h)

# What is exported is what the header declares, under the version that it counts.
abi=$(sed -n 's/^#define TIRC_ABI //p' "${header%/*}/tirc/base.h")
cat $parts | grep -v '^#define' | grep -o 'TIRC_API [^;(]*(' | sed 's/.*[ *]\(tirc_[a-z0-9_]*\)($/\1/' | sort >"$root/declared"
nm -D --defined-only "$lib/libtirc.so" | awk '$2 != "A" { print $3 }' | sort >"$root/exported"
sed "s/\$/@@TIRC_$abi/" "$root/declared" | diff - "$root/exported"
[ "$(wc -l <"$root/declared")" -gt 50 ]
objdump -p "$lib/libtirc.so" | grep -q "SONAME *libtirc.so.$abi\$"

strict=(-std=c11 -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Werror)
for cc in gcc clang-19; do
  command -v "$cc" >/dev/null || continue
  "$cc" "${strict[@]}" -O1 "$source/examples/embed/jit.c" $(pkg-config --cflags --libs tirc) -o "$root/jit"
  "$root/jit" >"$root/out" || { cat "$root/out"; exit 1; }
  grep -q '^refused: sch.parallel(k)$' "$root/out"
  grep -q '^largest error .* GFLOP/s' "$root/out"
  "$cc" "${strict[@]}" -O1 "$source/examples/embed/measure.c" $(pkg-config --cflags --libs tirc) -o "$root/measure"
  "$root/measure" >"$root/out" || { cat "$root/out"; exit 1; }
  grep -q '^wrong: wrong-result, "B" element 65535 is ' "$root/out"
  grep -q '^tirc is .* times as fast as by hand' "$root/out"
  printf '@R.function\ndef main(x: R.Tensor(("n", 4), "float32")):\n    gv = R.nn.relu(R.add(x, x))\n    return gv\n' >"$root/model.tir"
  "$cc" "${strict[@]}" -O1 "$source/examples/embed/model.c" $(pkg-config --cflags --libs tirc) -o "$root/model"
  "$root/model" "$root/model.tir" >"$root/out" || { cat "$root/out"; exit 1; }
  grep -q '^gv: float32\[1, 4\] = ' "$root/out"
  grep -q '^1 calls of 1 functions; workspace 0 bytes$' "$root/out"
done

# The header alone, and each part of it: as C++, and with DLPack's own header before or after it, whether installed or not.
printf '#include <tirc.h>\nint main() { return tirc_abi() != TIRC_ABI; }\n' >"$root/abi.cc"
g++ -Wall -Wextra -Werror "$root/abi.cc" $(pkg-config --cflags --libs tirc) -o "$root/abi"
"$root/abi"
facts='_Static_assert(sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64 && sizeof(DLDataType) == 4, "size");
_Static_assert(offsetof(DLTensor, shape) == 24 && offsetof(DLTensor, byte_offset) == 40, "layout");
_Static_assert(kDLBfloat == 4 && kDLComplex == 5 && kDLROCM == 10, "codes");'
compiles() { # the includes, one an argument
  printf '#include <stddef.h>\n' >"$root/dl.c"
  printf '#include <%s>\n' "$@" >>"$root/dl.c"
  printf '%s\nint main(void) { return 0; }\n' "$facts" >>"$root/dl.c"
  gcc -Wall -Werror -c "$root/dl.c" -o "$root/dl.o" -I"$root/own" $(pkg-config --cflags tirc)
}
compiles tirc.h
for part in $parts; do
  printf '#include <tirc/%s>\nint main() { return 0; }\n' "${part##*/}" | tee "$root/part.c" >"$root/part.cc"
  gcc -Wall -Wextra -Werror -fsyntax-only "$root/part.c" $(pkg-config --cflags tirc)
  g++ -Wall -Wextra -Werror -fsyntax-only "$root/part.cc" $(pkg-config --cflags tirc)
done
if [ -f /usr/include/dlpack/dlpack.h ]; then
  compiles dlpack/dlpack.h tirc.h
  compiles tirc.h dlpack/dlpack.h
fi
mkdir "$root/own"
sed 's/dlpack\/dlpack\.h/no-such-header.h/' "${header%/*}/tirc_dlpack.h" >"$root/own/tirc_dlpack.h"
cp -r "$header" "${header%/*}/tirc" "$root/own"
compiles tirc.h

mkdir "$root/consumers"
"$source/tests/install/consumers.sh" "${header%/include/*}" "$root/consumers" "$source"

# The Python package, from the installed tree and by pip, which need no variable to find the library.
if [ -x /usr/bin/python3 ]; then
  unset LD_LIBRARY_PATH
  program='import tirc
m = tirc.parse("@T.prim_func\ndef main(A: T.Buffer((4,), \"float32\")):\n    for i in range(4):\n        A[i] = T.float32(1)\n")
assert "float32" in m.script() and tirc.library_path.startswith("ROOT"), tirc.library_path'
  packages=$(dirname "$(find "$root" -path '*/tirc/_lib.py')")
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${packages%/tirc} /usr/bin/python3 -c "${program//ROOT/$root}"
  if /usr/bin/python3 -c 'import pip, setuptools, wheel' 2>/dev/null; then
    mkdir -p "$root/source/tools"
    cp "$source/meson.build" "$root/source"
    cp -r "$source/tools/python" "$root/source/tools"
    /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-index --no-deps \
      --no-build-isolation --target "$root/pip" "$root/source/tools/python"
    [ "$(ls -d "$root"/pip/tirc-*.dist-info)" = "$root/pip/tirc-$(meson introspect --projectinfo "$build" | sed 's/.*"version": "\([^"]*\)".*/\1/').dist-info" ]
    TIRC_LIBRARY=$build PYTHONPATH=$root/pip /usr/bin/python3 -c "${program//ROOT/$build}"
  fi
fi

# The command, its manual pages and completions, and the pages and examples, which the command takes.
prefix=${header%/include/*}
share=$prefix/share docs=$prefix/share/doc/tirc
"$prefix/bin/tirc" help --man=list | sort | diff - <(ls "$share"/man/man[17] | grep tirc | sort)
for file in "$share"/{bash-completion/completions/tirc,zsh/site-functions/_tirc,fish/vendor_completions.d/tirc.fish,licenses/tirc/LICENSE} "$docs/examples/guide/library.md"; do
  [ -s "$file" ] || { echo "$file is not there"; exit 1; }
done
python3 "$source/tests/pages/pages.py" "$prefix/bin/tirc" "$docs" --links
(cd "$docs" && "$prefix/bin/tirc" apply examples/matmul/matmul.tir examples/matmul/rule_based.sch >/dev/null)

# Removed, nothing is left.
(cd "$build" && meson --internal uninstall >/dev/null)
if [ -e "$to" ]; then
  find "$to"
  exit 1
fi
