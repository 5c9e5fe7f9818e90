#!/usr/bin/env bash
# Models link with each other and with programs that have functions of their operators' names: all but NAME's own functions is local.
# usage: link_models.sh TIRC; five models, as objects and as C, in one program of C++.
set -eu
tirc=$(realpath "$1")
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
cd "$d"
for i in 1 2 3 4 5; do
  cat > m$i.tir <<M
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), w: R.Tensor((8, $i), dtype="float32")) -> R.Tensor((4, $i), dtype="float32"):
        with R.dataflow():
            y = R.nn.softmax(R.matmul(x, w))
            R.output(y)
        return y
M
  for way in obj:o c:c header:h; do "$tirc" build m$i.tir --emit=${way%:*} -o m$i.${way#*:}; done
  gcc -std=c11 -Wall -Wextra -Werror -O1 -c m$i.c -o c$i.o
done
{ printf '#include <cstdio>\n'
  for i in 1 2 3 4 5; do printf '#include "m%d.h"\n' $i; done
  cat <<'M'
extern "C" int softmax(int i) { return i + 1; }
extern "C" int matmul(int i) { return 2 * i; }
alignas(64) static char workspace[1 << 16];
static float x[32], w[40], y[20];
int main() {
  for (int i = 0; i < 32; i++) x[i] = (float)i / 32;
  for (int i = 0; i < 40; i++) w[i] = (float)(i % 7) / 7;
M
  for i in 1 2 3 4 5; do
    name=$(grep -o '^int m[a-z0-9_]*(' m$i.h | head -1 | tr -d '(')
    name=${name#int }
    printf '  if (%s(x, w, y, workspace)) return 1;\n  { float sum = 0; for (int k = 0; k < %d; k++) sum += y[k]; std::printf("%%.3f ", (double)sum); }\n' "$name" "$i"
  done
  printf '  std::printf("%%d %%d\\n", softmax(3), matmul(3));\n}\n'; } > main.cc
for objects in "m1.o m2.o m3.o m4.o m5.o" "c1.o c2.o c3.o c4.o c5.o" "m1.o c2.o m3.o c4.o m5.o"; do
  g++ -std=c++17 -Wall -Wextra -Werror main.cc $objects -lm -o all
  [ "$(./all)" = "1.000 1.000 1.000 1.000 1.000 4 6" ] || { ./all; exit 1; }
done
for o in m1.o c1.o; do ! nm "$o" | grep ' [TDBR] ' | grep -v ' m1\(__rt\|_[a-z_]*\)\?$' || exit 1; done
echo "five models in one program, as objects and as C"
