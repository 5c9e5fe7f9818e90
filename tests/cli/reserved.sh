#!/usr/bin/env bash
# A program whose parameters, functions and loops have all the names that C, C++ and the C library's
# headers give a meaning: its header, behind those headers, and its C source must compile, and the
# header must fit the object file. Usage: reserved.sh TIRC FOLDER
set -eu
tirc=$1 out=$2
headers='assert complex ctype errno fenv float inttypes iso646 limits locale math signal stdalign stdarg stdbool stddef stdint stdio stdlib string time wchar'
words='alignas alignof and_eq asm auto bitand bitor bool case catch char char8_t char16_t char32_t
compl concept const consteval constexpr constinit const_cast co_await co_return co_yield decltype
default delete do double dynamic_cast enum explicit export extern false float friend goto inline int
long mutable namespace new noexcept not_eq nullptr operator or_eq private protected public register
reinterpret_cast requires restrict short signed sizeof static static_assert static_cast struct switch
template this thread_local throw true typedef typeid typename typeof typeof_unqual union unsigned
using virtual void volatile wchar_t xor xor_eq'
macros='EOF errno HUGE_VAL M_PI SIZE_MAX NULL INT_MAX stdin I EINTR SEEK_SET DBL_EPSILON PRIX64 isnan'

for h in $headers; do
  case $h in # neither a macro for types and locales, nor a header of C++
  iso646 | complex) echo "#ifndef __cplusplus"; echo "#include <$h.h>"; echo "#endif" ;;
  *) echo "#include <$h.h>" ;;
  esac
done >"$out/headers.h"
# Macros of the headers that the generated code includes, and of those named above.
seen=$(grep -vE '<(ctype|fenv|locale|signal|time|wchar).h>' "$out/headers.h" |
  cc -std=gnu17 -D_GNU_SOURCE -dM -E -x c - | awk '$2 !~ /[(]/ && $2 !~ /^_/ { print $2 }')
names=$(printf '%s\n' $words $macros $seen | grep -vxE 'and|or|not|assert' | sort -u)

program() { # a parameter each
  printf '@T.prim_func\ndef main('
  for n in $names; do printf '%s: T.Buffer((8,), "float32"), ' "$n"; done
  printf 'B: T.Buffer((8,), "float32")):\n    for i in range(8):\n        with T.block("b"):\n'
  printf '            v = T.axis.spatial(8, i)\n            B[v] = B[v]'
  for n in $macros; do printf ' + %s[v]' "$n"; done
  echo
}
program >"$out/names.tir"
"$tirc" build "$out/names.tir" --emit=header -o "$out/names.h"
"$tirc" build "$out/names.tir" --emit=c -o "$out/names.c"
(echo '#include "headers.h"'; echo '#include "names.h"') >"$out/use.c"
cc -std=gnu17 -Wall -Werror -I"$out" -c "$out/use.c" -o "$out/use.o"
cc -std=c17 -I"$out" -c "$out/use.c" -o "$out/use.o"
cc -std=gnu17 -D_GNU_SOURCE -Wall -Werror -c "$out/names.c" -o "$out/names.o"
if command -v g++ >/dev/null; then
  for std in c++11 c++20 gnu++20; do
    g++ -x c++ -std=$std -Wall -Werror -I"$out" -c "$out/use.c" -o "$out/use.o"
  done
fi

# Functions: the header's name is the object's and the C source's.
for n in concept template errno EOF; do
  printf '@T.prim_func\ndef %s(A: T.Buffer((1,), "float32")):\n    A[0] = T.float32(5)\n' "$n" >"$out/f.tir"
  "$tirc" build "$out/f.tir" --emit=header -o "$out/f.h"
  printf '#include <errno.h>\n#include <stdio.h>\n#include "f.h"\nint main(void) { float a = 0; return %s_(&a) || a != 5; }\n' "$n" >"$out/f.c"
  for kind in obj c; do
    "$tirc" build "$out/f.tir" --emit=$kind -o "$out/g.$kind"
    cc "$out/f.c" -x "$([ $kind = c ] && echo c || echo none)" "$out/g.$kind" -o "$out/f"
    "$out/f" || { echo "$n from $kind gives a wrong result"; exit 1; }
  done
done
echo "$(echo "$names" | wc -w) names"
