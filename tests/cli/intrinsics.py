"""T.q_multiply_shift and the like against exact numbers: by the interpreter, as machine code and as
C, one by one and as vectors. Usage: intrinsics.py TIRC FOLDER"""
import ctypes, math, os, struct, sys
from fractions import Fraction
from kernels import libraries, run, write

tirc, folder = sys.argv[1:]
LANES = 8

# --- floats by their bits: (bits of the exponent, of the mantissa)
FORMATS = {'float16': (5, 10), 'bfloat16': (8, 7), 'float32': (8, 23), 'float64': (11, 52)}


def width(t):
    return 1 + sum(FORMATS[t])


def value(t, bits):
    """A Fraction, 'nan', or a signed infinity as a float."""
    e, m = FORMATS[t]
    exponent, mantissa = bits >> m & (1 << e) - 1, bits & (1 << m) - 1
    sign = -1 if bits >> (e + m) else 1
    if exponent == (1 << e) - 1:
        return math.nan if mantissa else sign * math.inf
    bias = (1 << (e - 1)) - 1
    if exponent == 0:
        return sign * Fraction(mantissa) * Fraction(2) ** (1 - bias - m)
    return sign * Fraction(mantissa + (1 << m)) * Fraction(2) ** (exponent - bias - m)


def rounded(t, x, negative):
    """The bits of the nearest number, ties to even."""
    e, m = FORMATS[t]
    sign = negative << (e + m)
    x = abs(x)
    if x == 0:
        return sign
    bias = (1 << (e - 1)) - 1
    exponent = max(math.floor(math.log2(x.numerator) - math.log2(x.denominator)) - 1, 1 - bias)
    while Fraction(2) ** (exponent + 1) <= x:
        exponent += 1
    scaled = x / Fraction(2) ** (exponent - m)
    n = round(scaled)  # half to even
    if exponent == 1 - bias and n < 1 << m:
        return sign | n
    bits = ((exponent + bias - 1) << m) + n
    return sign | min(bits, ((1 << e) - 1) << m)


def is_nan(t, bits):
    return isinstance(value(t, bits), float) and math.isnan(value(t, bits))


def ldexp(t, bits, n):
    v = value(t, bits)
    if isinstance(v, float):
        return bits
    return rounded(t, v * Fraction(2) ** n, bits >> (width(t) - 1))


def nextafter(t, x, y):
    a, b, top = value(t, x), value(t, y), 1 << (width(t) - 1)
    if is_nan(t, x) or is_nan(t, y):
        return None  # a NaN
    if a == b:
        return y
    if a == 0:
        return (y & top) | 1
    return x + (1 if (a < b) == (a > 0) else -1)


def wrap32(v):
    return (v + 2 ** 31) % 2 ** 32 - 2 ** 31


def fixed(x, y, by):
    """x y / 2^by, half up."""
    return wrap32(math.floor(Fraction(x * y) / Fraction(2) ** by + Fraction(1, 2)))


def edges(t):
    e, m = FORMATS[t]
    one = ((1 << (e - 1)) - 1) << m
    positive = [0, 1, 2, (1 << m) - 1, 1 << m, (1 << m) + 1, one - 1, one, one + 1, one + (1 << m - 1),
                3 * (1 << m), one + 3 * (1 << m) + 5, (((1 << e) - 1) << m) - 1, ((1 << e) - 1) << m,
                (((1 << e) - 1) << m) | 1 << (m - 1), (((1 << e) - 2) << m) | 3]
    return positive + [p | 1 << (e + m) for p in positive]


INT = {'int32': ('i', ctypes.c_int32), 'bool': ('B', ctypes.c_uint8)}
CODE = {16: 'H', 32: 'I', 64: 'Q'}


def array(t, values):
    code = INT[t][0] if t in INT else CODE[width(t)]
    return bytearray(struct.pack('<%d%s' % (len(values), code), *values))


def numbers(t, data):
    code = INT[t][0] if t in INT else CODE[width(t)]
    return list(struct.unpack('<%d%s' % (len(data) // struct.calcsize(code), code), data))


# --- the tests: name, expression, inputs (name, dtype, values), dtype of the result, the numbers
tests = []


def test(name, expression, inputs, dtype, expected):
    n = len(expected)
    pad = -n % LANES
    inputs = [(a, t, v + v[:1] * pad) for a, t, v in inputs]
    tests.append((name, expression, inputs, dtype, expected + expected[:1] * pad))


big = [0, 1, -1, 2, -2, 3, 5, -7, 100, 12345, -98765, 2 ** 30, -2 ** 30, 2 ** 31 - 1, -2 ** 31, 2 ** 31 - 2]
pairs = [(x, y) for x in big for y in big]
X, Y = [p[0] for p in pairs], [p[1] for p in pairs]
for q, s in [(31, 0), (31, 1), (31, -3), (31, 5), (31, 31), (31, 33), (31, -31), (31, -32), (31, -33), (31, -40),
             (15, 2), (1, 0), (0, 0), (0, 40), (31, 70), (62, -1), (31, 30)]:
    test('q_%d_%d' % (q, s + 100), 'T.q_multiply_shift(X[vi], Y[vi], %d, %d)' % (q, s),
         [('X', 'int32', X), ('Y', 'int32', Y)], 'int32', [fixed(x, y, q - s) for x, y in pairs])
shifts = [-40, -32, -1, 0, 1, 2, 30, 31, 35]
triples = [(x, y, s) for x in big for y in big[::3] for s in shifts]
test('q_by_array', 'T.q_multiply_shift(X[vi], Y[vi], 31, S[vi])',
     [('X', 'int32', [t[0] for t in triples]), ('Y', 'int32', [t[1] for t in triples]),
      ('S', 'int32', [t[2] for t in triples])], 'int32', [fixed(x, y, 31 - s) for x, y, s in triples])
for left in (True, False):
    four = [(x, y, l, r) for x in big for y in big[::3] for l in (0, 1, 4, 31) for r in (0, 1, 7, 31, 33)]
    test('per_axis_%d' % left,
         'T.q_multiply_shift_per_axis(X[vi], Y[vi], L[vi], R[vi], 31, T.bool(%s), T.bool(True))' % left,
         [(n, 'int32', [f[i] for f in four]) for i, n in enumerate('XYLR')], 'int32',
         [fixed(x, y, 31 + r - (l if left else 0)) for x, y, l, r in four])
for t in FORMATS:
    e = edges(t)
    ps = [(x, y) for x in e for y in e]
    test('nextafter_' + t, 'T.nextafter(X[vi], Y[vi])', [('X', t, [p[0] for p in ps]), ('Y', t, [p[1] for p in ps])],
         t, [nextafter(t, *p) for p in ps])
    ns = [0, 1, -1, 2, 10, -10, 25, -25, 52, -52, 53, -53, 54, -54, 126, -126, 149, -149, 150, -150, 254, -254, 300, -300,
          1022, -1022, 1023, -1023, 1024, -1024, 1074, -1074, 1075, -1075, 2046, -2046, 2098, -2098, 2099, -2099,
          2 ** 31 - 1, -2 ** 31]
    ps = [(x, n) for x in e for n in ns]
    expected = [ldexp(t, x, max(min(n, 9000), -9000)) for x, n in ps]
    test('ldexp_' + t, 'T.ldexp(X[vi], N[vi])', [('X', t, [p[0] for p in ps]), ('N', 'int32', [p[1] for p in ps])], t,
         expected)
    test('isfinite_' + t, 'T.isfinite(X[vi])', [('X', t, e)], 'bool', [int(not isinstance(value(t, x), float)) for x in e])

SAME = {'float16': 2, 'bfloat16': 2}


def program(name, expression, inputs, dtype, n):
    params = ', '.join('%s: T.Buffer((%d,), "%s")' % (a, n, t) for a, t, _ in inputs)
    return ('@T.prim_func\ndef %s(%s, C: T.Buffer((%d,), "%s")):\n    for i in range(%d):\n        with T.block("C"):\n'
            '            vi = T.axis.spatial(%d, i)\n            C[vi] = %s\n' % (name, params, n, dtype, n, n, expression))


def check(where, test, data):
    name, _, inputs, dtype, expected = test
    got = numbers(dtype, data)
    for i, (g, w) in enumerate(zip(got, expected)):
        nan = dtype in FORMATS and (w is None or is_nan(dtype, w))
        if is_nan(dtype, g) if nan else g == w:
            continue
        sys.exit('%s, %s: of %s it is %r, not %r' % (where, name, [v[i] for _, _, v in inputs], g, w))


text = 'from tvm.script import tir as T\n' + '\n'.join(program(n, e, i, d, len(x)) for n, e, i, d, x in tests)
source = write(os.path.join(folder, 'intrinsics.tir'), text)
vectors = write(os.path.join(folder, 'vectors.sch'), ''.join(
    'b = sch.get_block("C", func_name="%s")\ni, = sch.get_loops(b)\no, v = sch.split(i, factors=[None, %d])\nsch.vectorize(v)\n'
    % (t[0], LANES) for t in tests))


# the interpreter, through files; bfloat16 has none
def npy(path, t, data, n):
    kind = {'int32': '<i4', 'bool': '|b1', 'float16': '<f2', 'float32': '<f4', 'float64': '<f8'}[t]
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (kind, n)
    head += ' ' * (-(len(head) + 11) % 64) + '\n'
    with open(path, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + data)


for t in tests:
    name, expression, inputs, dtype, expected = t
    if any(d == 'bfloat16' for _, d, _ in inputs):
        continue
    one = write(os.path.join(folder, 'one.tir'), program('main', expression, inputs, dtype, len(expected)))
    files = []
    for a, d, v in inputs:
        path = os.path.join(folder, a + '.npy')
        npy(path, d, array(d, v), len(v))
        files += ['--in', '%s=%s' % (a, path)]
    out = os.path.join(folder, 'C.npy')
    run(tirc, 'run', one, '--interpret', *files, '--out', 'C=' + out)
    data = open(out, 'rb').read()
    check('interpreter', t, data[10 + struct.unpack('<H', data[8:10])[0]:])

for how, script in [('', None), (' in vectors', vectors)]:
    for where, library in libraries(tirc, source, folder, script):
        for t in tests:
            name, _, inputs, dtype, expected = t
            buffers = [array(d, v) for _, d, v in inputs] + [bytearray(array(dtype, [0] * len(expected)))]
            status = getattr(library, name)(*((ctypes.c_char * len(b)).from_buffer(b) for b in buffers))
            if status:
                sys.exit('%s: status %d' % (name, status))
            check(where + how, t, buffers[-1])
print('%d functions' % len(tests))
