"""The dot products of processors (tirc rules tensor_intrin/x86, tensor_intrin/arm_cpu): the interpreter against exact
numbers, C's loops and, for ARM, both code generators in qemu-aarch64 against the interpreter, bit by bit; and the
instructions in assembly. Usage: dots.py TIRC FOLDER"""
import ctypes, os, shutil, subprocess, sys
from fractions import Fraction
import numpy as np
from kernels import run, write

tirc, folder = sys.argv[1:]
rng = np.random.default_rng(7)
M, K_TILES, N_TILES = 3, 4, 2
SHORT = {'int8': 'i8', 'uint8': 'u8', 'int16': 'i16', 'bfloat16': 'bf16', 'int32': 's32', 'uint32': 'u32', 'float32': 'f32'}
# instruction: terms, types, sums, numbers of lanes, {target: mnemonic}
ALL = {'sapphirerapids': (16, 8, 4), 'alderlake': (8, 4), 'znver4': (16, 8, 4)}
X86 = [('vpdpbusd', 4, 'uint8', 'int8', 'int32', ALL), ('vpdpbusd', 4, 'int8', 'uint8', 'int32', ALL),
       ('vpdpwssd', 2, 'int16', 'int16', 'int32', ALL),
       ('vpdpbssd', 4, 'int8', 'int8', 'int32', {'lunarlake': (8, 4)}),
       ('vpdpbuud', 4, 'uint8', 'uint8', 'int32', {'lunarlake': (8, 4)}),
       ('vdpbf16ps', 2, 'bfloat16', 'bfloat16', 'float32', {'sapphirerapids': (16, 8, 4), 'znver4': (16, 8, 4)})]
ARM = [('sdot', 4, 'int8', 'int8', 'int32', {'neoverse-n1': (4,), 'apple-m1': (4,)}),
       ('udot', 4, 'uint8', 'uint8', 'int32', {'neoverse-n1': (4,)}),
       ('udot', 4, 'uint8', 'uint8', 'uint32', {'neoverse-n1': (4,)}),
       ('usdot', 4, 'uint8', 'int8', 'int32', {'neoverse-v1': (4,)}),
       ('usdot', 4, 'int8', 'uint8', 'int32', {'neoverse-v1': (4,)}),
       ('bfdot', 2, 'bfloat16', 'bfloat16', 'float32', {'neoverse-v1': (4,)})]

PROGRAM = '''@T.prim_func
def main(A: T.Buffer(({m}, {k}), "{a}"), W: T.Buffer(({nt}, {kt}, {lanes}, {terms}), "{b}"), C: T.Buffer(({m}, {n}), "{c}")):
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + T.Cast("{c}", A[vi, vk]) * T.Cast("{c}", W[vj // {lanes}, vk // {terms}, vj % {lanes}, vk % {terms}])
'''
SCHEDULE = '''C = sch.get_block("C")
i, j, k = sch.get_loops(C)
j0, j1 = sch.split(j, [None, {lanes}])
k0, k1 = sch.split(k, [None, {terms}])
sch.reorder(i, j0, k0, j1, k1)
sch.tensorize(j1, "{name}")
'''


def value(bits):
    return Fraction(float(np.array([bits << 16], 'uint32').view('float32')[0]))


def is_number(bits):
    return bits & 0x7f80 != 0x7f80


def rounded(x):
    """To nearest, 24 bits, ties to even; what is below the least normal number is 0."""
    if x == 0:
        return Fraction(0)
    e = abs(x.numerator).bit_length() - x.denominator.bit_length()
    e -= Fraction(2) ** e > abs(x)
    unit = Fraction(2) ** (e - 23)
    x = round(x / unit) * unit
    return Fraction(0) if abs(x) < Fraction(2) ** -126 else x


def exact(a, b, c):
    """The sums of the program in exact integers, or of AVX512_BF16 in fractions; None: not of numbers alone."""
    out = c.copy()
    if c.dtype != np.float32:
        total = c.astype(object) + a.astype(object) @ b.astype(object)
        return np.array([[int(v) % 2 ** 32 for v in row] for row in total], 'uint32').astype(c.dtype)
    flush = lambda x: Fraction(0) if abs(x) < Fraction(2) ** -126 else x
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            if not all(map(is_number, [*map(int, a[i]), *map(int, b[:, j])])):
                out[i, j] = np.nan
                continue
            s = Fraction(float(c[i, j]))
            for k in range(0, a.shape[1], 2):
                for t in (k + 1, k):
                    s = rounded(flush(value(int(a[i, t]))) * flush(value(int(b[t, j]))) + flush(s))
            out[i, j] = float(s) if abs(s) < Fraction(2) ** 128 else np.copysign(np.inf, float(s > 0) - 0.5)
    return out


def drawn(t, shape):
    if t == 'bfloat16':  # many that cancel, and all kinds of numbers
        x = rng.integers(0x3f00, 0x4100, shape).astype('uint16') | (rng.integers(0, 2, shape) << 15).astype('uint16')
        wild = rng.integers(0, 65536, shape).astype('uint16')
        low = rng.choice(np.array([0x0001, 0x0080, 0x8080, 0x007f, 0x0100, 0x1f80, 0x2000, 0x5f00], 'uint16'), shape)
        kind = rng.integers(0, 8, shape)
        return np.where(kind == 0, wild, np.where(kind < 3, low, x))
    info = np.iinfo(t)
    x = rng.integers(info.min, info.max + 1, shape)
    edge = rng.choice([info.min, info.max], shape)
    return np.where(rng.integers(0, 3, shape) == 0, edge, x).astype(t)


def sums(t, shape):
    if t != 'float32':
        return drawn(t, shape)
    x = rng.standard_normal(shape).astype('float32')
    x[rng.integers(0, 4, shape) == 0] *= np.float32(1e-38)
    return x


def same(got, want):
    return (np.isnan(got) & np.isnan(want) | (got == want)).all() if got.dtype.kind == 'f' else (got == want).all()


class Case:
    def __init__(self, row, lanes):
        self.instruction, self.terms, self.a, self.b, self.c, self.targets = row
        self.lanes = lanes
        self.name = 'dot_%dx%d_%s%s%s_%s' % (lanes, self.terms, SHORT[self.a], SHORT[self.b], SHORT[self.c], self.instruction)
        m, n, k = M, N_TILES * lanes, K_TILES * self.terms
        words = dict(m=m, n=n, k=k, nt=N_TILES, kt=K_TILES, lanes=lanes, terms=self.terms, a=self.a, b=self.b, c=self.c,
                     name=self.name)
        self.base = os.path.join(folder, self.name)
        self.files = [write(self.base + '.tir', PROGRAM.format(**words)), write(self.base + '.sch', SCHEDULE.format(**words))]
        self.A, self.W = drawn(self.a, (m, k)), drawn(self.b, (N_TILES, K_TILES, lanes, self.terms))
        self.C = sums(self.c, (m, n))

    def interpreted(self):
        given = {'A': self.A, 'W': self.W, 'C': self.C}
        for x, array in given.items():
            np.save('%s.%s.npy' % (self.base, x), array.view('V2') if array.dtype == np.uint16 else array)
        out = self.base + '.out.npy'
        run(tirc, 'run', *self.files, '--interpret', *['--in=%s=%s.%s.npy' % (x, self.base, x) for x in given], '--out=C=' + out)
        self.want = np.load(out)
        B = self.W.transpose(1, 3, 0, 2).reshape(self.A.shape[1], -1)
        if self.instruction != 'bfdot':
            plain = exact(self.A, B, self.C)
            whole = ~np.isnan(plain) if self.c == 'float32' else np.ones(plain.shape, bool)
            assert whole.any() and same(self.want[whole], plain[whole]), (self.name, self.want, plain)

    def check(self, what, got):
        if not same(got, self.want):
            bad = np.argwhere(~((got == self.want) | (got != got)))
            sys.exit('%s by %s: %s, not %s, at %s' % (self.name, what, got, self.want, bad[:4]))

    def assembly(self):
        for target, lanes in self.targets.items():
            if self.lanes in lanes:
                text = run(tirc, 'build', *self.files, '--emit=asm', '--target=' + target).stdout
                assert self.instruction in text, (self.name, target, text)


cases = [Case(row, lanes) for row in X86 for lanes in (16, 8, 4) if lanes in row[5].get('sapphirerapids', (8, 4))]
arms = [Case(row, 4) for row in ARM]
sources = []
for case in cases + arms:
    case.interpreted()
    case.assembly()
    run(tirc, 'build', *case.files, '--emit=c', '--target=sapphirerapids' if case in cases else '--target=neoverse-v1', '-o', case.base + '.c')
    sources.append(case.base + '.c')

# C without the instructions
so = os.path.join(folder, 'loops.so')
run('gcc', '-std=gnu17', '-O1', '-Wall', '-Wextra', '-Werror', '-Wno-psabi', '-shared', '-fPIC', '-o', so, *sources, '-lm')
loops = ctypes.CDLL(so)
for case in cases + arms:
    got = case.C.copy()
    assert getattr(loops, case.name)(*[ctypes.c_void_p(x.ctypes.data) for x in (case.A, case.W, got)]) == 0
    case.check("C's loops", got)

# C with them, which is compiled alone
for case in cases:
    for march in ['sapphirerapids'] if 'sapphirerapids' in case.targets else []:
        run('gcc', '-O1', '-Wall', '-Wextra', '-Werror', '-march=' + march, '-S', '-o', case.base + '.s', case.base + '.c')
        assert case.instruction in open(case.base + '.s').read(), (case.name, 'C for ' + march)

# ARM's: machine code, and C by a cross compiler
MAIN = '''#include <stdio.h>
static char data[3][65536];
int %s(const void *, const void *, void *);
int main(int n, char **files) {
  (void)n;
  for (int i = 0; i < 3; i++) {
    FILE *f = fopen(files[i + 1], "rb");
    if (!f || !fread(data[i], 1, sizeof data[i], f)) return 3;
    fclose(f);
  }
  int status = %s(data[0], data[1], data[2]);
  fwrite(data[2], 1, %d, stdout);
  return status;
}
'''
cross = 'aarch64-linux-gnu-gcc'
if shutil.which(cross) and shutil.which('qemu-aarch64'):
    for case in arms:
        source = write(case.base + '.main.c', MAIN % (case.name, case.name, case.C.nbytes))
        run(tirc, 'build', *case.files, '--emit=obj', '--target=neoverse-v1', '-o', case.base + '.o')
        for x in ('A', 'W', 'C'):
            getattr(case, x).tofile('%s.%s.raw' % (case.base, x))
        run(cross, '-O1', '-mcpu=neoverse-v1', '-S', '-o', case.base + '.arm.s', case.base + '.c')
        assert case.instruction in open(case.base + '.arm.s').read(), (case.name, "C for neoverse-v1")
        for kind in ('.o', '.arm.s'):
            program = case.base + kind + '.run'
            run(cross, '-static', '-O1', '-o', program, source, case.base + kind, '-march=armv8.6-a', '-lm')
            given = ['%s.%s.raw' % (case.base, x) for x in ('A', 'W', 'C')]
            out = subprocess.run(['qemu-aarch64', '-cpu', 'max', program] + given, capture_output=True, check=True).stdout
            case.check('qemu of ' + kind, np.frombuffer(out, case.C.dtype).reshape(case.C.shape))
print('%d dot products' % len(cases + arms))
