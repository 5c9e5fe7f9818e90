import numpy as np
import pytest
import tirc
from harness import CHECKED, FOLDER, _as_c, _run, check, floats, ints, refused, symbolic, words_of

PAIRS = [((4, 5), (5, 3)), ((1, 7), (7, 1)), ((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((2, 4, 5), (5, 3)),
         ((2, 1, 4, 5), (3, 5, 2)), ((4, 5), (2, 3, 5, 2)), ((3, 4, 5), (5,)), ((33, 17), (17, 29)), ((1, 1), (1, 1)),
         ((0, 5), (5, 3)), ((4, 0), (0, 3)), ((1, 2, 3, 4, 5), (2, 1, 5, 6))]


@pytest.mark.parametrize("left,right", PAIRS)
def test_matmul(left, right):
    a, b = floats(*left), floats(*right)
    check("matmul", [a, b], (a.astype("float64") @ b).astype("float32"))


def test_types():
    a, b = floats(9, 8, dtype="float16"), floats(8, 7, dtype="float16")
    check("matmul", [a, b], a.astype("float32") @ b.astype("float32"), out_dtype="float32")
    a, b = ints(6, 5, dtype="int8"), ints(5, 4, dtype="int8")
    check("matmul", [a, b], a.astype("int32") @ b, out_dtype="int32")


def test_symbolic():
    def case(n):
        a, b = floats(n, 12, 20), floats(20, 9)
        return [a, b], a @ b
    symbolic("matmul", 3, "n", [1, 3, 8], case)


def test_transposed_right():
    for left, right in (((5, 7), (6, 7)), ((2, 5, 7), (2, 6, 7)), ((2, 1, 5, 7), (3, 6, 7)), ((7,), (6, 7)), ((0, 7), (6, 7)), ((1, 1), (1, 1))):
        a, b = floats(*left), floats(*right)
        check("nt_matmul", [a, b], np.matmul(a, np.swapaxes(b, -1, -2)))
    a, b = ints(3, 9, dtype="int8"), ints(4, 9, dtype="int8")
    check("nt_matmul", [a, b], a.astype("int32") @ b.T, out_dtype="int32")
    def case(n):
        a, b = floats(n, 12, 20), floats(n, 9, 20)
        return [a, b], a @ np.swapaxes(b, 1, 2)
    symbolic("nt_matmul", 2, "n", [1, 3], case)
    refused("nt_matmul", [floats(4, 5), floats(5, 4)], "(4, 5)", "5 columns", "4 columns")
    refused("nt_matmul", [floats(4, 5), floats(5)], "(5,)", "no matrix")


def test_refused():
    refused("matmul", [floats(4, 5), floats(4, 5)], "(4, 5)", "5 columns", "4 rows")
    refused("matmul", [floats(2, 4, 5), floats(3, 5, 6)], "do not broadcast", "(2, 4, 5)", "(3, 5, 6)")
    refused("matmul", [floats(4, 5), floats(5, 5, dtype="float64")], "float32", "float64")
    refused("matmul", [floats(), floats(4)], "scalar")


def test_half():
    a, b = floats(9, 40, dtype="float16"), floats(40, 7, dtype="float16")
    check("matmul", [a, b], (a.astype("float64") @ b).astype("float16"))


def test_outer_linear():
    a, b = floats(4), floats(6)
    check("outer", [a, b], np.outer(a, b))
    x, w, bias = floats(2, 3, 8), floats(5, 8), floats(5)
    check("linear", [x, w], x @ w.T)
    check("linear", [x, w, bias], x @ w.T + bias)
    refused("linear", [x, floats(8, 5)], "(2, 3, 8)", "(8, 5)")
    refused("outer", [x, b], "(2, 3, 8)")


def _attention(q, k, v, bias=None, scale=None, mask=None, window=None):
    q, k, v = (t.astype("float64").transpose(0, 2, 1, 3) for t in (q, k, v))
    k, v = (np.repeat(t, q.shape[1] // t.shape[1], 1) for t in (k, v))
    s = q @ k.transpose(0, 1, 3, 2) * (scale or q.shape[-1] ** -0.5)
    if bias is not None:
        s = s + bias
    i, j = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])[None]
    if mask:
        last = i + (k.shape[2] - q.shape[2] if mask == "BottomRight" else 0)
        s = np.where((j <= last) & (window is None or j > last - (window or 0)), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).astype("float32").copy()


@pytest.mark.parametrize("q,k,v", [((2, 5, 3, 8), (2, 7, 3, 8), (2, 7, 3, 6)), ((1, 1, 4, 16), (1, 9, 2, 16), (1, 9, 2, 16)), ((1, 6, 1, 4), (1, 6, 1, 4), (1, 6, 1, 4))])
def test_attention(q, k, v):
    a, b, c = floats(*q), floats(*k), floats(*v)
    check("nn.attention", [a, b, c], _attention(a, b, c))
    check("nn.attention", [a, b, c], _attention(a, b, c, scale=0.3), scale=0.3)
    bias = floats(q[0], 1, q[1], k[1])
    check("nn.attention", [a, b, c, bias], _attention(a, b, c, bias))
    check("nn.attention", [a, b, c], _attention(a, b, c, mask="BottomRight"), causal_mask="BottomRight")
    check("nn.attention", [a, b, c], _attention(a, b, c, mask="TopLeft"), causal_mask="TopLeft")
    check("nn.attention", [a, b, c], _attention(a, b, c, mask="BottomRight", window=2), causal_mask="BottomRight", window_size=2)


@pytest.mark.parametrize("transposed,divides", [(False, False), (True, True)])
def test_attention_by_heads(transposed, divides):
    q, k, v, mask = floats(2, 3, 9, 8), floats(2, 3, 7, 8), floats(2, 3, 7, 6), floats(2, 1, 1, 7)
    factor, seen, hidden = np.array(0.7, "float32"), ints(9, 7, low=0, high=2).astype("bool"), np.array(-1e9, "float32")
    s = q.astype("float64") @ k.transpose(0, 1, 3, 2)
    s = s / factor if divides else s * factor

    def result(s):
        e = np.exp(s - s.max(-1, keepdims=True))
        return (e / e.sum(-1, keepdims=True) @ v).astype("float32")
    given = [q, k if transposed else k.transpose(0, 1, 3, 2).copy(), v, factor]
    words = dict(transposed=transposed, divides=divides)
    check("nn.attention_by_heads", given, result(s), **words)
    check("nn.attention_by_heads", given + [mask], result(s + mask), **words)
    check("nn.attention_by_heads", given + [seen, hidden], result(np.where(seen, s, hidden)), **words)
    refused("nn.attention_by_heads", given + [floats(3, 3, 9, 7)], "(3, 3, 9, 7)", **words)


def test_attention_symbolic():
    def case(n):
        q, k, v = floats(1, n, 2, 8), floats(1, n, 2, 8), floats(1, n, 2, 8)
        return [q, k, v], _attention(q, k, v, mask="TopLeft")
    symbolic("nn.attention", 5, "n", [1, 5, 9], case, causal_mask="TopLeft")


def test_attention_refused():
    q = floats(1, 4, 2, 8)
    refused("nn.attention", [q, floats(1, 4, 2, 6), q], "(1, 4, 2, 8)", "(1, 4, 2, 6)")
    refused("nn.attention", [q, q, floats(1, 5, 2, 8)], "differ")
    refused("nn.attention", [q, q, q], "Left", causal_mask="Left")
    refused("nn.attention", [floats(4, 2, 8), q, q], "(4, 2, 8)", "3 dimensions")
    refused("nn.attention", [q, q, q, floats(3, 4)], "do not broadcast")


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_matmul_nbits(bits):
    """Weights (n, k) that are a few to a byte, sixteen rows of them side by side."""
    n, k, size = 32, 48, 16
    q, scales, zeros = ints(n, k, low=0, high=2 ** bits), floats(n, k // size), floats(n, k // size)
    w = (q - zeros.repeat(size, 1)) * scales.repeat(size, 1)
    each = 8 // bits
    packed = sum(q[:, e::each].astype("int64") << (e * bits) for e in range(each)).astype("uint8")
    lanes = lambda t: np.ascontiguousarray(t.reshape(n // 16, 16, -1).transpose(0, 2, 1))  # noqa: E731
    for m in (1, 4) if bits == 4 else (2,):
        x = floats(m, k)
        check("nn.matmul_nbits", [x, lanes(packed), lanes(scales), lanes(zeros)], (x.astype("float64") @ w.T).astype("float32"), bits=bits)
    refused("nn.matmul_nbits", [floats(1, 40), lanes(packed), lanes(scales), lanes(zeros)], "40", bits=bits)


def weights_of_few_bits(n, k, size, bits, signed):
    q, scales = ints(n, k, low=0, high=2 ** bits), (floats(n, k // size) / 2 ** (bits - 1)).astype("float16")
    zeros = np.full((n, k // size), 2 ** (bits - 1), "uint8") if signed else ints(n, k // size, low=0, high=2 ** bits, dtype="uint8")
    packed = sum(q[:, e::8 // bits].astype("int64") << (e * bits) for e in range(8 // bits)).astype("uint8")
    w = (q - zeros.repeat(size, 1).astype("float64")) * scales.repeat(size, 1)
    return w, [packed, scales], [] if signed else [zeros]


@pytest.mark.parametrize("bits, signed", [(4, True), (4, False), (8, True)])
def test_few_bits(bits, signed):
    """All of them, rows of them, and products with them by few rows, by many, and by as many as the run knows."""
    n, k, size = 32, 48, 16
    w, stored, zeros = weights_of_few_bits(n, k, size, bits, signed)
    check("dequantize_nbits", stored + zeros, w.astype("float32"), bits=bits)
    where = ints(3, 2, low=-n, high=n, dtype="int64")
    check("nn.take_nbits", stored + [where] + zeros, w[where].astype("float32"), bits=bits)
    lanes = [np.ascontiguousarray(t.reshape(n // 16, 16, -1).transpose(0, 2, 1)) for t in stored + zeros]
    for m in (1, 3, 19):
        x = floats(m, k)
        for panels in (1, 2):
            check("nn.matmul_nbits", [x] + lanes, (x @ w.T).astype("float32"), bits=bits, panels=panels)
    def case(m):
        x = floats(m, k)
        return [x] + lanes, (x @ w.T).astype("float32")
    for panels in (1, 2):
        symbolic("nn.matmul_nbits", 5, "m", [5, 7, 12, 19], case, bits=bits, panels=panels)
    refused("nn.matmul_nbits", [floats(19, k)] + lanes, "not 3", bits=bits, panels=3)


def test_few_bits_refused():
    w, stored, zeros = weights_of_few_bits(32, 48, 16, 4, False)
    refused("dequantize_nbits", [stored[0], stored[1][:, :2]] + zeros, "(32, 3)", "(32, 2)")
    refused("dequantize_nbits", [stored[0], stored[1][:7]], "(7, 3)")
    refused("dequantize_nbits", [stored[0], floats(32, 5)], "96 numbers do not form 5 groups", bits=2)
    refused("nn.take_nbits", stored + [floats(3)], "float32")


def by_fours(q, bits):
    """(n, k) numbers as (n / 16, k * bits / 32, 64) bytes: four of a column beside each other, of which each byte has the first, the next four, ..."""
    n, k = q.shape
    words = q.astype("int64").reshape(n, -1, 8 // bits, 4)
    packed = sum(words[:, :, e] << (e * bits) for e in range(8 // bits))
    return np.ascontiguousarray(packed.reshape(n // 16, 16, -1, 4).transpose(0, 2, 1, 3).reshape(n // 16, -1, 64).astype("uint8"))


def by_dots(name, given, wanted, **how):
    """By the interpreter, as C, and as machine code where this processor has the instruction."""
    CHECKED.add(name)
    mod = tirc.operator(name, *words_of(given, how, {}), folder=FOLDER)
    ways = [lambda *a: tirc.interpret(mod, *a), _as_c(mod)]
    try:
        ways += [tirc.build(mod, target="native", threads=1)]
    except tirc.TircError as error:
        assert "needs" in str(error)
    for way in ways:
        _run(way, given, (), [wanted], str(how), 0)


DOTS = [("llvm.x86.avx512.vpdpbusd.512", 16), ("llvm.x86.avx512.vpdpbusd.256", 8), ("llvm.x86.avx512.vpdpbusd.128", 4)]


@pytest.mark.parametrize("dot, lanes", DOTS)
@pytest.mark.parametrize("bits, signed", [(4, True), (4, False), (2, True), (8, False)])
def test_few_bits_by_bytes(bits, signed, dot, lanes):
    """Rows of bytes with a factor each: as many as share what is read, fewer, and some more."""
    n, k, size, name = 32, 96, 32, "nn.matmul_nbits_int8"
    q, scales = ints(n, k, low=0, high=2 ** bits), (floats(n, k // size) / 2 ** (bits - 1)).astype("float16")
    zeros = np.full((n, k // size), 2 ** (bits - 1), "uint8") if signed else ints(n, k // size, low=0, high=2 ** bits, dtype="uint8")
    w = (q - zeros.repeat(size, 1).astype("float64")) * scales.repeat(size, 1)
    columns = lambda t: np.ascontiguousarray(t.reshape(n // 16, 16, -1).transpose(0, 2, 1))  # noqa: E731
    stored = [by_fours(q, bits), columns(scales)] + ([] if signed else [columns(zeros)])
    how = dict(bits=bits, dot=dot, lanes=lanes)
    def case(m):
        x, factors = ints(m, k, low=-127, high=128, dtype="int8"), floats(m, 1)
        sums = x.reshape(m, -1, size).sum(2, dtype="int32")
        return [x, factors, sums] + stored, (x @ w.T * factors).astype("float32")
    for m in (1, 3, 19):
        by_dots(name, *case(m), **how)
    given, _ = case(2)
    refused(name, [given[0].astype("float32")] + given[1:], "float32", **how)
    refused(name, given[:1] + [floats(3, 1)] + given[2:], "(3, 1)", **how)
    refused(name, given, "not of 5", bits=bits, dot=dot, lanes=5)
