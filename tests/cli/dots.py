"""The dot products of processors (tirc rules tensor_intrin/x86, tensor_intrin/arm_cpu): the interpreter against exact
numbers, C's loops, what this processor has and, for ARM, both code generators in qemu-aarch64 against the interpreter, bit by bit; and the
instructions in assembly. Usage: dots.py TIRC FOLDER"""
import ctypes, os, shutil, subprocess, sys
from fractions import Fraction
import numpy as np
from kernels import run, write

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from every import sample

tirc, folder = sys.argv[1:]
rng = np.random.default_rng(7)
M, K_TILES, N_TILES = 3, 4, 2
SHORT = {'int8': 'i8', 'uint8': 'u8', 'int16': 'i16', 'bfloat16': 'bf16', 'int32': 's32', 'uint32': 'u32', 'float32': 'f32'}
# instruction: terms, types, sums, numbers of lanes, {target: mnemonic}
ALL = {'sapphirerapids': (16, 8, 4), 'alderlake': (8, 4), 'znver4': (16, 8, 4)}
X86 = [('vpdpbusd', 4, 'uint8', 'int8', 'int32', ALL), ('vpdpbusd', 4, 'int8', 'uint8', 'int32', ALL),
       ('vpdpbusd', 8, 'int8', 'int8', 'int32', ALL), ('vpdpbusd', 8, 'uint8', 'uint8', 'int32', ALL),
       ('vpdpwssd', 2, 'int16', 'int16', 'int32', ALL),
       ('vpdpbssd', 4, 'int8', 'int8', 'int32', {'lunarlake': (8, 4)}),
       ('vpdpbsud', 4, 'int8', 'uint8', 'int32', {'arrowlake': (8, 4)}),
       ('vpdpbuud', 4, 'uint8', 'uint8', 'int32', {'lunarlake': (8, 4)}),
       ('vdpbf16ps', 2, 'bfloat16', 'bfloat16', 'float32', {'sapphirerapids': (16, 8, 4), 'znver4': (16, 8, 4)})]
ARM = [('sdot', 4, 'int8', 'int8', 'int32', {'neoverse-n1': (4,), 'apple-m1': (4,)}),
       ('udot', 4, 'uint8', 'uint8', 'int32', {'neoverse-n1': (4,)}),
       ('udot', 4, 'uint8', 'uint8', 'uint32', {'neoverse-n1': (4,)}),
       ('usdot', 4, 'uint8', 'int8', 'int32', {'neoverse-v1': (4,)}),
       ('usdot', 4, 'int8', 'uint8', 'int32', {'neoverse-v1': (4,)}),
       ('bfdot', 2, 'bfloat16', 'bfloat16', 'float32', {'neoverse-v1': (4,)})]

# what /proc/cpuinfo calls those that have the instruction: with any number of lanes, with 8 or fewer
HERE = {'vpdpbusd': ('avx512_vnni', 'avx_vnni'), 'vpdpwssd': ('avx512_vnni', 'avx_vnni'), 'vdpbf16ps': ('avx512_bf16',),
        'vpdpbssd': ('-', 'avx_vnni_int8'), 'vpdpbsud': ('-', 'avx_vnni_int8'), 'vpdpbuud': ('-', 'avx_vnni_int8')}
FLAGS = open('/proc/cpuinfo').read().split() if os.path.exists('/proc/cpuinfo') else []
PROGRAM = '''@T.prim_func
def main(A: T.Buffer(({m}, {k}), "{a}"), W: T.Buffer(({nt}, {kt}, {lanes}, {near}), "{b}"), C: T.Buffer(({m}, {n}), "{c}")):
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + T.Cast("{c}", A[vi, vk]) * T.Cast("{c}", W[vj // {lanes}, vk // {near}, vj % {lanes}, vk % {near}])
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
    def __init__(self, row, lanes, name=None):
        self.instruction, self.terms, self.a, self.b, self.c, self.targets = row
        self.lanes = lanes
        self.name = name or 'dot_%dx%d_%s%s%s_%s' % (lanes, self.terms, SHORT[self.a], SHORT[self.b], SHORT[self.c], self.instruction)
        m, n, k, near = M, N_TILES * lanes, K_TILES * self.terms, min(self.terms, 4)  # so many lie beside each other
        words = dict(m=m, n=n, k=k, nt=N_TILES, kt=k // near, lanes=lanes, terms=self.terms, near=near, a=self.a, b=self.b, c=self.c,
                     name=self.name)
        self.base = os.path.join(folder, self.name)
        self.files = [write(self.base + '.tir', PROGRAM.format(**words)), write(self.base + '.sch', SCHEDULE.format(**words))]
        self.A, self.W = drawn(self.a, (m, k)), drawn(self.b, (N_TILES, k // near, lanes, near))
        self.C = rng.integers(-1000, 1000, (m, n)).astype(self.c) if name else sums(self.c, (m, n))  # plain sums must not wrap

    def ran(self, *how):
        given = {'A': self.A, 'W': self.W, 'C': self.C}
        for x, array in given.items():
            np.save('%s.%s.npy' % (self.base, x), array.view('V2') if array.dtype == np.uint16 else array)
        out = self.base + '.out.npy'
        run(tirc, 'run', *self.files, *how, *['--in=%s=%s.%s.npy' % (x, self.base, x) for x in given], '--out=C=' + out)
        return np.load(out)

    def is_here(self):
        """Whether this processor has the instruction."""
        words = HERE.get(self.instruction, ())
        return any(w in FLAGS for w in (words if self.lanes < 16 else words[:1]))

    def interpreted(self):
        self.want = self.ran('--interpret')
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
# by the reference's names: what others have, and what has no instruction
arms += [Case(('udot', 4, 'uint8', 'uint8', 'int32', {'neoverse-n1': (4,)}), 4, 'dot_4x4_u8u8i32_hdot'),
         Case(('mla', 4, 'int8', 'int8', 'int32', {'cortex-a53': (4,)}), 4, 'dot_4x4_i8i8s32_neon')]
cases += [Case(('vpmaddwd', 4, 'uint8', 'int8', 'int32', {'skylake-avx512': (16,)}), 16, 'dot_16x4_avx512')]
sources = []
for case in cases + arms:
    case.interpreted()
    case.assembly()
    run(tirc, 'build', *case.files, '--emit=c', '--target=sapphirerapids' if case in cases else '--target=neoverse-v1', '-o', case.base + '.c')
    sources.append(case.base + '.c')

# C without the instructions, and with those of this processor; machine code with them
for name, how in ('loops', []), ('own', ['-march=native']):
    so = os.path.join(folder, name + '.so')
    run('gcc', '-std=gnu17', '-O1', '-Wall', '-Wextra', '-Werror', '-Wno-psabi', *how, '-shared', '-fPIC', '-o', so, *sources, '-lm')
    functions = ctypes.CDLL(so)
    for case in cases + arms:
        got = case.C.copy()
        assert getattr(functions, case.name)(*[ctypes.c_void_p(x.ctypes.data) for x in (case.A, case.W, got)]) == 0
        case.check('C by gcc ' + ' '.join(how), got)
here = [case for case in cases if case.is_here()]
for case in here:
    case.check('machine code', case.ran('--target=native', '--threads=1'))

# C with them, which is compiled alone
for case in sample([case for case in cases if 'sapphirerapids' in case.targets]):
    run('gcc', '-O1', '-Wall', '-Wextra', '-Werror', '-march=sapphirerapids', '-S', '-o', case.base + '.s', case.base + '.c')
    assert case.instruction in open(case.base + '.s').read(), (case.name, "sapphirerapids' C")
    if shutil.which('clang'):
        run('clang', '-O1', '-Wall', '-Wextra', '-Werror', '-march=sapphirerapids', '-S', '-o', case.base + '.s', case.base + '.c')

# ARM's: machine code, and C by a cross compiler
MAIN = '''#include <stdio.h>
#define JOIN(a, b) a##b
#define PACK(name) JOIN(name, _pack_B)
static char data[3][65536], packed[65536];
int NAME(const void *, const void *, void *);
int PACK(NAME)(const void *, void *) __attribute__((weak)); /* of a B that is laid out ahead */
int main(int n, char **files) {
  (void)n;
  for (int i = 0; i < 3; i++) {
    FILE *f = fopen(files[i + 1], "rb");
    if (!f || !fread(data[i], 1, sizeof data[i], f)) return 3;
    fclose(f);
  }
  if (PACK(NAME) && PACK(NAME)(data[1], packed)) return 4;
  int status = NAME(data[0], PACK(NAME) ? packed : data[1], data[2]);
  fwrite(data[2], 1, SIZE, stdout);
  return status;
}
'''
cross = 'aarch64-linux-gnu-gcc'
has_arm = shutil.which(cross) and shutil.which('qemu-aarch64')


def in_qemu(base, code, A, B, C):
    """What C is after the function of a file, an object or assembly, has run."""
    name, program = os.path.basename(base), code + '.run'
    source = write(base + '.main.c', MAIN)
    for x, array in ('A', A), ('B', B), ('C', C):
        array.tofile('%s.%s.raw' % (base, x))
    run(cross, '-static', '-O1', '-march=armv8.6-a', '-DNAME=' + name, '-DSIZE=%d' % C.nbytes, '-o', program, source, code, '-lm')
    files = ['%s.%s.raw' % (base, x) for x in 'ABC']
    out = subprocess.run(['qemu-aarch64', '-cpu', 'max', program] + files, capture_output=True, check=True).stdout
    return np.frombuffer(out, C.dtype).reshape(C.shape)


for case in arms[::3] + arms[5:6] + arms[-1:] if has_arm else []:
    run(tirc, 'build', *case.files, '--emit=obj', '--target=neoverse-v1', '-o', case.base + '.o')
    run(cross, '-O1', '-mcpu=neoverse-v1', '-S', '-o', case.base + '.arm.s', case.base + '.c')
    assert case.instruction in open(case.base + '.arm.s').read() or case.instruction == 'mla', (case.name, "C for neoverse-v1")
    for kind in ('.o', '.arm.s'):
        case.check('qemu of ' + kind, in_qemu(case.base, case.base + kind, case.A, case.W, case.C))

# --- tiles of AMX: what runs here says that there is no permission, or computes the same ----------------
AMX_PROGRAM = '''@T.prim_func
def main(A: T.Buffer((32, {k}), "{a}"), W: T.Buffer((32 // {n}, {k} // {terms}, {n}, {terms}), "{b}"), C: T.Buffer((32, 32), "{c}")):
    for i, j, k in T.grid(32, 32, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + T.Cast("{c}", A[vi, vk]) * T.Cast("{c}", W[vj // {n}, vk // {terms}, vj % {n}, vk % {terms}])
'''
AMX_SCHEDULE = '''i, j, k = sch.get_loops("C")
i0, i1 = sch.split(i, [None, {m}])
j0, j1 = sch.split(j, [None, {n}])
sch.reorder(i0, j0, i1, j1, k)
sch.tensorize(i1, "{name}")
'''
AMX = [('tdpbusd', 4, 'uint8', 'int8', 'int32', 128, 16, 16), ('tdpbsud', 4, 'int8', 'uint8', 'int32', 64, 16, 32),
       ('tdpbssd', 4, 'int8', 'int8', 'int32', 256, 32, 32), ('tdpbuud', 4, 'uint8', 'uint8', 'int32', 64, 32, 16),
       ('tdpbf16ps', 2, 'bfloat16', 'bfloat16', 'float32', 64, 32, 32)]
for word, terms, a, b, c, k, m, n in AMX:
    name = 'amx_%dx%dx%d_%s%s%s_%s' % (m, n, k, SHORT[a], SHORT[b], SHORT[c], word)
    base = os.path.join(folder, name)
    words = dict(k=k, terms=terms, a=a, b=b, c=c, m=m, n=n, name=name)
    files = [write(base + '.tir', AMX_PROGRAM.format(**words)), write(base + '.sch', AMX_SCHEDULE.format(**words))]
    A, W = drawn(a, (32, k)), drawn(b, (32 // n, k // terms, n, terms))
    if c == 'float32':
        A, W = [(rng.integers(-8, 8, z.shape).astype('float32').view('uint32') >> 16).astype('uint16') for z in (A, W)]
    wide = [(z.astype('uint32') << 16).view('float32') if c == 'float32' else z.astype(object) for z in (A, W)]
    want = wide[0] @ wide[1].transpose(1, 3, 0, 2).reshape(k, 32)
    want = want if c == 'float32' else np.array(want % 2 ** 32, 'uint32').astype('int32')
    for x, array in (('A', A), ('W', W), ('C', np.zeros((32, 32), c))):
        np.save('%s.%s.npy' % (base, x), array.view('V2') if array.dtype == np.uint16 else array)
    run(tirc, 'run', *files, '--interpret', *['--in=%s=%s.%s.npy' % (x, base, x) for x in 'AWC'], '--out=C=' + base + '.out.npy')
    assert same(np.load(base + '.out.npy'), want), name
    run(tirc, 'build', *files, '--emit=asm', '--target=sapphirerapids', '-o', base + '.s')
    text = open(base + '.s').read()
    assert all(x in text for x in (word, 'ldtilecfg', 'tileloadd', 'tilestored', 'syscall', 'tilerelease')), (name, text)
    # each tile of A and B is read once a step, and no sum leaves its tile before the end
    sides, per_step = (m // 16, n // 16), k * (4 // terms) // 64
    loads = sides[0] * sides[1] + per_step * sum(sides)
    assert [text.count('\t' + x) for x in ('tileloadd', 'tilestored', word)] == [loads, sides[0] * sides[1], per_step * sides[0] * sides[1]], text
    run(tirc, 'build', *files, '--emit=c', '--target=sapphirerapids', '-o', base + '.c')
    strict = ['gcc', '-std=gnu17', '-O1', '-Wall', '-Wextra', '-Werror', '-Wno-psabi', '-shared', '-fPIC']
    run(*strict, '-o', base + '.loops.so', base + '.c', '-lm')
    run(*strict, '-mamx-tile', '-mamx-int8', '-mamx-bf16', '-o', base + '.tiles.so', base + '.c', '-lm')
    run('gcc', '-shared', '-o', base + '.code.so', base + '.s', '-lm')
    assert word in run('objdump', '-d', base + '.tiles.so').stdout, name
    for kind in ('loops', 'tiles', 'code') if word in ('tdpbusd', 'tdpbf16ps') else ('loops',):
        library, got = ctypes.CDLL('%s.%s.so' % (base, kind)), np.zeros((32, 32), c)
        status = getattr(library, name)(*[ctypes.c_void_p(z.ctypes.data) for z in (A, W, got)])
        assert status == 0 and same(got, want) or kind != 'loops' and status == 2 and not got.any(), (name, kind, status, got)
        if status:
            text = getattr(library, name + '_error_text')
            text.restype = ctypes.c_char_p
            assert b'does not permit AMX tiles' in text(status), name

# Each tile that is there has rows and bytes, and no other one has either: the processor refuses half a tile.
text = open(base + '.c').read()
assert text.count('_tile_loadconfig(&tiles)') == 1, text
sizes = [(rows, columns) for rows in (1, 5, 16, 17, 32) for columns in (4, 20, 64, 68, 128)]
open(base + '.config.c', 'w').write(text.replace('_tile_loadconfig(&tiles)', 'look(&tiles)').replace('#include', 'static void look(const void *p);\n#include', 1) + '''
static int wrong, tiles;
static void look(const void *p) {
  const uint8_t *rows = (const uint8_t *)p + 48;
  const uint16_t *bytes = (const uint16_t *)p + 8;
  tiles = 0;
  for (int i = 0; i < 8; i++) {
    wrong += !rows[i] != !bytes[i];
    tiles += !!rows[i];
  }
}
int check(int rows, int columns, int count) {
  tirc_amx_begin(rows, columns, 64);
  return wrong || tiles != count;
}
''')
run(*strict, '-mamx-tile', '-mamx-int8', '-mamx-bf16', '-o', base + '.config.so', base + '.config.c', '-lm')
for rows, columns in sizes:
    down, right = 1 + (rows > 16), 1 + (columns > 64)
    assert ctypes.CDLL(base + '.config.so').check(rows, columns, down * right + down + right) == 0, (rows, columns)

# --- the rules: products by hand of nobody -----------------------------------------------------------
PLAIN = '''@T.prim_func
def main(A: T.Buffer(({m}, {k}), "{a}"), B: T.Buffer({shape}, "{b}"), C: T.Buffer(({m}, {n}), "{c}")):
    T.func_attr({{"layout_free_buffers": [{free}], "tir.noalias": T.bool(True)}})
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.{c}(0)
            C[vi, vj] = C[vi, vj] + T.Cast("{c}", {x}) * T.Cast("{c}", {y})
'''
# types, B by rows, B's factor in front, M, N, K, {target: instruction}; the last ones with a B that is laid out ahead
RULES = [('uint8', 'int8', True, False, 33, 61, 53, {'sapphirerapids': 'vpdpbusd', 'alderlake': 'vpdpbusd', 'neoverse-v1': 'usdot'}),
         ('int8', 'uint8', False, True, 32, 64, 64, {'znver4': 'vpdpbusd', 'neoverse-v2': 'usdot'}),
         ('int8', 'int8', True, True, 24, 48, 40, {'lunarlake': 'vpdpbssd', 'cascadelake': 'vpdpbusd', 'alderlake': 'vpdpbusd', 'apple-m1': 'sdot', 'neoverse-n1': 'sdot'}),
         ('uint8', 'uint8', False, False, 5, 200, 130, {'lunarlake': 'vpdpbuud', 'cascadelake': 'vpdpbusd', 'neoverse-n1': 'udot'}),
         ('int16', 'int16', True, False, 30, 50, 70, {'znver4': 'vpdpwssd', 'alderlake': 'vpdpwssd'}),
         ('bfloat16', 'bfloat16', True, False, 40, 64, 64, {'sapphirerapids': 'tdpbf16ps', 'znver4': 'vdpbf16ps', 'neoverse-v1': 'bfdot'}),
         ('int8', 'int8', False, True, 40, 50, 200, {'sapphirerapids': 'tdpbssd'}),
         ('uint8', 'int8', True, False, 32, 32, 64, {'emeraldrapids': 'tdpbusd'})]
FREE = len(RULES)
RULES += [('uint8', 'int8', True, False, 53, 61, 68, {'sapphirerapids': 'tdpbusd', 'neoverse-v1': 'usdot'}),
          ('int8', 'int8', False, False, 20, 96, 32, {'neoverse-n1': 'sdot', 'lunarlake': 'vpdpbssd', 'znver4': 'vpdpbusd'}),
          ('bfloat16', 'bfloat16', True, True, 33, 80, 64, {'sapphirerapids': 'tdpbf16ps', 'neoverse-v1': 'bfdot'})]
of_rules = sample((r, target) for r, row in enumerate(RULES) for target in row[-1])
for r, target in of_rules:
    a, b, by_rows, b_first, m, n, k, targets = RULES[r]
    c = 'float32' if a == 'bfloat16' else 'int32'
    factors = ['A[vi, vk]', 'B[vk, vj]' if by_rows else 'B[vj, vk]']
    x, y = reversed(factors) if b_first else factors
    program = PLAIN.format(a=a, b=b, c=c, m=m, n=n, k=k, x=x, y=y, shape=(k, n) if by_rows else (n, k), free='1' if r >= FREE else '')
    A, B = drawn(a, (m, k)), drawn(b, (k, n) if by_rows else (n, k))
    if c == 'float32':  # whole numbers, which no order rounds
        A, B = [(rng.integers(-8, 8, z.shape).astype('float32').view('uint32') >> 16).astype('uint16') for z in (A, B)]
    wide = [(z.astype('uint32') << 16).view('float32') if c == 'float32' else z.astype(object) for z in (A, B)]
    want = wide[0] @ (wide[1] if by_rows else wide[1].T)
    if c == 'int32':
        want = np.array(want % 2 ** 32, 'uint32').astype('int32')
    instruction = targets[target]
    base = os.path.join(folder, 'rule_%d_%s' % (r, target.replace('-', '_')))
    write(base + '.tir', program)
    assert instruction in run(tirc, 'build', base + '.tir', '--auto', '--emit=asm', '--target=' + target).stdout, (base, instruction)
    run(tirc, 'build', base + '.tir', '--auto', '--emit=c', '--target=' + target, '-o', base + '.c')
    for end, how in ('.so', []), ('_own.so', ['-march=native']):
        run('gcc', '-std=gnu17', '-O1', '-Wall', '-Wextra', '-Werror', '-Wno-psabi', *how, '-shared', '-fPIC', '-o', base + end, base + '.c', '-lm')
        got = np.zeros((m, n), c)
        library, packed = ctypes.CDLL(base + end), B
        if r >= FREE:
            packed = np.zeros(1 << 16, 'uint8')
            pack = getattr(library, os.path.basename(base) + '_pack_B')
            assert pack(*[ctypes.c_void_p(z.ctypes.data) for z in (B, packed)]) == 0
        given = [ctypes.c_void_p(z.ctypes.data) for z in (A, packed, got)]
        assert getattr(library, os.path.basename(base))(*given) == 0
        assert (got == want).all(), (base, how, got, want)
    if instruction.startswith('td') and r < FREE:
        for name, array in (('A', A), ('B', B)):
            np.save('%s.%s.npy' % (base, name), array.view('V2') if array.dtype == np.uint16 else array)
        run(tirc, 'run', base + '.tir', '--auto', '--target=' + target, '--interpret', *['--in=%s=%s.%s.npy' % (n, base, n) for n in 'AB'],
            '--out=C=' + base + '.out.npy')
        assert (np.load(base + '.out.npy') == want).all(), base
    if target.startswith('neoverse') and has_arm:
        run(tirc, 'build', base + '.tir', '--auto', '--emit=obj', '--target=' + target, '-o', base + '.o')
        assert (in_qemu(base, base + '.o', A, B, np.zeros((m, n), c)) == want).all(), base

# --- tiles of AMX by the rules: rows that only the run counts, and a convolution that fills nothing of a tile ----------
OPEN = '''@T.prim_func
def main(a: T.handle, B: T.Buffer((200, 50), "int8"), c: T.handle):
    m = T.int32()
    A = T.match_buffer(a, (m, 200), "uint8")
    C = T.match_buffer(c, (m, 50), "int32")
    for i, j, k in T.grid(m, 50, 200):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])
'''
CONVOLUTION = '''@T.prim_func
def main(X: T.Buffer((2, 9, 8, 24), "int8"), W: T.Buffer((3, 2, 24, 20), "int8"), Y: T.Buffer((2, 7, 7, 20), "int32")):
    for n, h, w, c, y, x, k in T.grid(2, 7, 7, 20, 3, 2, 24):
        with T.block("Y"):
            vn, vh, vw, vc, vy, vx, vk = T.axis.remap("SSSSRRR", [n, h, w, c, y, x, k])
            with T.init():
                Y[vn, vh, vw, vc] = 0
            Y[vn, vh, vw, vc] = Y[vn, vh, vw, vc] + T.Cast("int32", X[vn, vh + vy, vw + vx, vk]) * T.Cast("int32", W[vy, vx, vk, vc])
'''


def convolved(X, W):
    windows = np.lib.stride_tricks.sliding_window_view(X.astype('int32'), (3, 2), axis=(1, 2))  # n, h, w, k, y, x
    return np.einsum('nhwkyx,yxkc->nhwc', windows, W.astype('int32'))


for name, program, word in ('open_rows', OPEN, 'tdpbusd'), ('convolution', CONVOLUTION, 'tdpbssd'):
    base = os.path.join(folder, name)
    write(base + '.tir', program)
    text = run(tirc, 'build', base + '.tir', '--auto', '--emit=asm', '--target=sapphirerapids').stdout
    assert word + '\t%tmm7, %tmm5, %tmm3' in text, (name, text)  # two by two tiles
    run(tirc, 'build', base + '.tir', '--auto', '--emit=c', '--target=sapphirerapids', '-o', base + '.c')
    run('gcc', '-std=gnu17', '-O1', '-Wall', '-Wextra', '-Werror', '-Wno-psabi', '-shared', '-fPIC', '-o', base + '.so', base + '.c', '-lm')
    made = getattr(ctypes.CDLL(base + '.so'), name)
    for rows in (1, 37) if name == 'open_rows' else (None,):
        if rows:
            data = [drawn('uint8', (rows, 200)), drawn('int8', (200, 50)), np.zeros((rows, 50), 'int32')]
            want, more = data[0].astype('int32') @ data[1].astype('int32'), [ctypes.c_int32(rows)]
        else:
            data = [drawn('int8', (2, 9, 8, 24)), drawn('int8', (3, 2, 24, 20)), np.zeros((2, 7, 7, 20), 'int32')]
            want, more = convolved(*data[:2]), []
        assert made(*[ctypes.c_void_p(z.ctypes.data) for z in data], *more) == 0
        assert (data[2] == want).all(), (name, rows)
print('%d dot products, %d of them by this processor, %d of tiles, %d by rules' % (len(cases + arms), len(here), len(AMX), len(of_rules)))
