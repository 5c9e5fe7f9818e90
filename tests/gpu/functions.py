#!/usr/bin/env python3
"""Are the functions of mathematics that CUDA C brings along as good as codegen/vector_math.c says? functions.py TIRC [STEP]

They are compiled for the processor, with C's words for those of PTX, with and without fused multiply-add, and compared
with double precision: every STEP-th float, special ones, and for pow pairs of both.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TIRC, STEP = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 9973
FUNCTIONS = {  # of A[b] and B[b]: the reference, and the bound in units in the last place
    "exp": ("exp(x)", 1), "exp2": ("exp2(x)", 2), "exp10": ("pow(10, x)", 2), "log": ("log(x)", 2), "log2": ("log2(x)", 2),
    "log10": ("log10(x)", 2), "log1p": ("log1p(x)", 2), "tanh": ("tanh(x)", 2), "erf": ("erf(x)", 2), "sin": ("sin(x)", 2),
    "cos": ("cos(x)", 2), "pow": ("pow(x, y)", 1)}
POWERS = {"pow": "B[b]"}
WORDS = r"""
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define __device__
static inline unsigned tirc_float_bits(float x) { unsigned r; memcpy(&r, &x, 4); return r; }
static inline float tirc_as_float(unsigned x) { float r; memcpy(&r, &x, 4); return r; }
static inline unsigned long long tirc_double_bits(double x) { unsigned long long r; memcpy(&r, &x, 8); return r; }
static inline double tirc_as_double(unsigned long long x) { double r; memcpy(&r, &x, 8); return r; }
#define tirc_sqrt sqrtf
#define tirc_fabs fabsf
#define tirc_copysign copysignf
"""
CHECK = r"""
static double unit(double x) {
  int e = -126;
  if (x != 0 && isfinite(x)) (void)frexp(x, &e), e--;
  return ldexp(1, (e < -126 ? -126 : e > 127 ? 127 : e) - 23);
}
static double error_of(float got, double expected) {
  float near = (float)expected;
  if (isnan(expected)) return isnan(got) ? 0 : INFINITY;
  if (isinf(near) || isinf(got)) return got == near ? 0 : INFINITY;
  return !signbit(got) != !signbit(expected) ? INFINITY : fabs((double)got - expected) / unit(expected);
}
static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1, -1, 2, -2, 3, -3, 0.5f, -0.5f, 1.5f, 0x1p-149f, -0x1p-149f,
  0x1.fffffep127f, -0x1.fffffep127f, 0x1p-126f, 0x1p17f, 0x1p23f, 0x1p24f, -0x1p24f, 8388609, -8388609, 0x1.fffffep-1f, 0x1.000002p0f};
enum { SPECIAL = sizeof special / sizeof *special };
"""
ONE = r"""
static double look_at_%(name)s(float x, float y, double worst) {
  (void)y;
  double e = error_of(tirc_%(name)s(x%(second)s), REFERENCE_%(name)s((double)x, (double)y));
  if (e > %(bound)s && worst <= %(bound)s) printf("%(name)s of %%a, %%a: %%g units\n", (double)x, (double)y, e);
  return e > worst ? e : worst;
}
"""
MAIN = r"""
  {
    double worst = 0;
    uint64_t s = 88172645463325252u;
    for (int i = 0; i < SPECIAL; i++)
      for (int k = 0; k < SPECIAL; k++) worst = look_at_%(name)s(special[i], special[k], worst);
    for (uint64_t b = 0; b < (uint64_t)1 << 32; b += STEP) {
      s ^= s << 13, s ^= s >> 7, s ^= s << 17;
      worst = look_at_%(name)s(tirc_as_float((unsigned)b), b & 1 ? tirc_as_float((unsigned)s) : (float)((int)(s & 255) - 128) / 4, worst);
    }
    printf("%(name)s: %%.3f\n", worst);
    failed |= worst > %(bound)s;
  }
"""


def functions(folder):
    """The text of those that a kernel brings along that calls all of them."""
    lines = ["            C[b * 16 + %d] = %s" % (i, "T.pow(A[b], %s)" % POWERS[n] if n in POWERS else "T.%s(A[b])" % n)
             for i, n in enumerate(FUNCTIONS)]
    (folder / "all.tir").write_text('@T.prim_func\ndef f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), '
                                    'C: T.Buffer((1024,), "float32")):\n    for b in T.thread_binding(64, thread="blockIdx.x"):\n'
                                    '        for t in range(1):\n' + "\n".join(lines) + "\n")
    source = subprocess.run([TIRC, "build", str(folder / "all.tir"), "--emit=cuda", "-o", "-"], capture_output=True, text=True, check=True).stdout
    return [f for f in re.findall(r"^static __device__ inline .*?^}\n", source, re.M | re.S) if "asm" not in f]


def main():
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        of = [dict(name=n, reference=r, bound=b, second=", y" if n == "pow" else "") for n, (r, b) in FUNCTIONS.items()]
        text = WORDS + "\n".join(functions(folder)) + CHECK + "".join(
            "#define REFERENCE_%(name)s(x, y) (%(reference)s)\n" % f + ONE % f for f in of)
        text += "int main(void) {\n  int failed = 0;\n" + "".join(MAIN % f for f in of) + "  return failed;\n}\n"
        (folder / "all.c").write_text(text)
        for options in (["-ffp-contract=off"], ["-march=native", "-ffp-contract=fast"]):
            subprocess.run(["cc", "-std=gnu17", "-O2", "-DSTEP=%d" % STEP, *options, "-o", str(folder / "all"), str(folder / "all.c"), "-lm"], check=True)
            print(*options, flush=True)
            failed |= subprocess.run([str(folder / "all")]).returncode != 0
    return failed


sys.exit(main())
