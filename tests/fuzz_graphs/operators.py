"""The operators that graphs are drawn of: each draws its operands and its attributes, and says what numpy makes of them."""
import math

import numpy as np

from draw import FLOATS, INTS, Graph, Impossible

ERF = np.vectorize(math.erf, otypes=["float64"])


def in_float64(f):
    """In float64, and back: as a function of the library's accuracy is."""
    return lambda w, x, *more: f(x.astype("float64"), *[m.astype("float64") for m in more]).astype(x.dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# --- element by element --------------------------------------------------------------------------

SMOOTH = {
    "exp": (np.exp, lambda x: x < 6), "tanh": (np.tanh, None), "sigmoid": (sigmoid, None), "sin": (np.sin, None), "cos": (np.cos, None),
    "erf": (ERF, None), "atan": (np.arctan, None), "sqrt": (np.sqrt, lambda x: x >= 0), "rsqrt": (lambda x: 1 / np.sqrt(x), lambda x: x > 0.1),
    "log": (np.log, lambda x: x > 0.1), "nn.silu": (lambda x: x * sigmoid(x), None), "nn.gelu": (lambda x: x * 0.5 * (1 + ERF(x / math.sqrt(2))), None),
    "nn.softplus": (lambda x: np.where(x > 20, x, np.log1p(np.exp(np.minimum(x, 30)))), None), "sinh": (np.sinh, lambda x: np.abs(x) < 5),
    "asinh": (np.arcsinh, None), "acos": (np.arccos, lambda x: np.abs(x) < 0.9), "tan": (np.tan, lambda x: np.abs(x) < 1.2),
}
STEPS = {"floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc, "sign": np.sign}
ANY = {"negative": np.negative, "abs": np.abs, "square": np.square}


def smooth(g):
    op = g.choice(list(SMOOTH))
    f, domain = SMOOTH[op]
    x = g.pick(lambda v: v.is_float() and (domain is None or v.all(lambda a: domain(a) | np.isnan(a))))
    return g.add(op, "{}", [x], in_float64(f), x.dims)


def steps(g):
    op = g.choice(list(STEPS))
    x = g.pick(lambda v: v.is_float() and v.is_exact())
    return g.add(op, "{}", [x], lambda w, a: STEPS[op](a), x.dims)


def any_unary(g):
    op = g.choice(list(ANY))
    x = g.pick(lambda v: v.is_float() or v.dtype.startswith("int"))
    return g.add(op, "{}", [x], lambda w, a: ANY[op](a), x.dims)


def relu(g):
    x = g.pick(lambda v: v.is_float() and v.all(lambda a: ~np.isnan(a)))
    if g.chance(0.3):
        return g.add("nn.leakyrelu", "{}, alpha=0.25", [x], lambda w, a: np.where(a < 0, a * a.dtype.type(0.25), a), x.dims)
    return g.add("nn.relu", "{}", [x], lambda w, a: np.maximum(a, 0), x.dims)


def clip(g):
    x = g.pick(lambda v: (v.is_float() or v.dtype.startswith("int")) and v.all(lambda a: a == a))
    return g.add("clip", "{}, min=-1, max=2", [x], lambda w, a: np.clip(a, -1, 2).astype(a.dtype), x.dims)


def not_(g):
    x = g.pick(lambda v: not v.is_float())
    return g.add("logical_not" if x.dtype == "bool" else "bitwise_not", "{}", [x], lambda w, a: ~a, x.dims)


def tests(g):
    op = g.choice(["isnan", "isinf", "isfinite"])
    x = g.pick(lambda v: v.is_float())
    return g.add(op, "{}", [x], lambda w, a: getattr(np, op)(a), x.dims, "bool")


def astype(g):
    x = g.pick()
    to = g.choice([t for t in FLOATS + INTS + ("bool",) if t != x.dtype])
    if x.is_float() and not to.startswith("float") and not (x.is_exact() and x.is_finite() and to != "bool"):
        raise Impossible
    if to.startswith("uint") and not x.all(lambda a: a >= 0) or not to.startswith(("float", "bool")) and not x.all(lambda a: np.abs(a.astype("float64")) < 120):
        raise Impossible
    if to == "bool" and not x.is_int():
        raise Impossible
    return g.add("astype", "{}, dtype=\"%s\"" % to, [x], lambda w, a: a.astype(w.dtype(to)), x.dims, to)


def partner(g, x):
    """An operand that goes with x by broadcasting, and the extents of the result."""
    dims = list(x.dims)
    if g.chance(0.5):
        y = g.pick(lambda v: v.dtype == x.dtype and v.dims == x.dims and None not in x.dims)
        return y, dims
    if g.chance(0.5):
        y = g.pick(lambda v: v.dtype == x.dtype and None not in v.dims and v.ndim <= x.ndim and
                   all(e == d or e == "1" for e, d in zip(reversed(v.dims), reversed(dims))))
        return y, dims
    keep = dims[g.rng.integers(len(dims) + 1):]
    return g.input(["1" if d is None or g.chance(0.3) else d for d in keep], x.dtype), dims


BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}
COMPARE = {"less": np.less, "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal, "equal": np.equal, "not_equal": np.not_equal}
BITS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
LOGIC = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}


def ordered(g, x, y):
    return (x, y) if g.chance(0.5) else (y, x)


def binary(g):
    x = g.pick(lambda v: v.dtype != "bool")
    y, dims = partner(g, x)
    op = g.choice(list(BINARY))
    x, y = ordered(g, x, y)
    return g.add(op, "{}, {}", [x, y], lambda w, a, b: BINARY[op](a, b), dims)


def with_number(g):
    x = g.pick(lambda v: v.dtype != "bool")
    op, k = g.choice(list(BINARY)), int(g.rng.integers(0, 4))
    number = k + 0.5 if x.is_float() else k
    if g.chance(0.5):
        return g.add(op, "{}, R.const(%r, \"%s\")" % (number, x.dtype), [x], lambda w, a: BINARY[op](a, a.dtype.type(number)), x.dims)
    return g.add(op, "R.const(%r, \"%s\"), {}" % (number, x.dtype), [x], lambda w, a: BINARY[op](a.dtype.type(number), a), x.dims)


def divide(g):
    x = g.pick(lambda v: v.dtype != "bool")
    if x.is_float():
        y = g.pick(lambda v: v.dtype == x.dtype and v.dims == x.dims and None not in v.dims and v.all(lambda a: np.abs(a) >= 0.25))
        return g.add("divide", "{}, {}", [x, y], lambda w, a, b: a / b, x.dims)
    k = int(g.rng.integers(1, 6))
    op, f = g.choice([("floor_divide", np.floor_divide), ("floor_mod", np.mod), ("mod", np.fmod),
                      ("divide", lambda a, b: np.trunc(a.astype("float64") / b).astype(a.dtype))])
    if x.dtype == "int64" and op == "divide":
        raise Impossible
    return g.add(op, "{}, R.const(%d, \"%s\")" % (k, x.dtype), [x], lambda w, a: f(a, a.dtype.type(k)), x.dims)


def compare(g):
    x = g.pick(lambda v: v.is_exact() and v.dtype != "bool")
    y, dims = partner(g, x)
    if not y.is_exact():
        raise Impossible
    op = g.choice(list(COMPARE))
    return g.add(op, "{}, {}", [x, y], lambda w, a, b: COMPARE[op](a, b), dims, "bool")


def bits(g):
    x = g.pick(lambda v: not v.is_float())
    y, dims = partner(g, x)
    table = LOGIC if x.dtype == "bool" else BITS
    op = g.choice(list(table))
    return g.add(op, "{}, {}", [x, y], lambda w, a, b: table[op](a, b), dims)


def where(g):
    c = g.pick(lambda v: v.dtype == "bool" and None not in v.dims)
    x = g.pick(lambda v: v.dims == c.dims) if g.chance(0.7) else g.input(c.dims, "float32")
    y, dims = partner(g, x)
    if y.ndim > x.ndim:
        raise Impossible
    return g.add("where", "{}, {}, {}", [c, x, y], lambda w, k, a, b: np.where(k, a, b), dims, x.dtype)


# --- reductions ----------------------------------------------------------------------------------

def axes_of(g, x, most=None):
    axes = sorted(g.rng.permutation(x.ndim)[:g.rng.integers(1, (most or x.ndim) + 1)].tolist())
    return axes, [a - x.ndim if g.chance(0.3) else a for a in axes]


def left(x, axes, keepdims):
    return ["1" if d in axes else e for d, e in enumerate(x.dims) if keepdims or d not in axes]


REDUCE = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod, "variance": np.var, "std": np.std}


def reduce(g):
    op = g.choice(list(REDUCE))
    x = g.pick(lambda v: v.ndim and (v.is_float() or v.dtype in ("int32", "int64") and op in ("sum", "max", "min", "prod")))
    if x.ndim == 0 or (x.dtype == "float16" and op in ("prod", "variance", "std")):
        raise Impossible
    axes, said = axes_of(g, x)
    keepdims = g.chance(0.4)
    if op not in ("sum", "prod") and any(0 in x.extents(a) for a in axes):
        raise Impossible
    if op == "std" and not all((np.var(a.astype("float64"), tuple(axes)) > 0.01).all() for a in x.arrays):
        raise Impossible

    def f(w, a):
        r = REDUCE[op](a.astype("float64") if a.dtype.kind == "f" else a, axis=tuple(axes), keepdims=keepdims)
        return np.asarray(r).astype(a.dtype)
    return g.add(op, "{}, axis=%s, keepdims=%s" % (said, keepdims), [x], f, left(x, axes, keepdims))


def arg_reduce(g):
    op = g.choice(["argmax", "argmin"])
    x = g.pick(lambda v: v.ndim and v.is_exact() and v.is_finite() and v.dtype != "bool")
    axis = int(g.rng.integers(x.ndim))
    if 0 in x.extents(axis):
        raise Impossible
    return g.add(op, "{}, axis=%d" % axis, [x], lambda w, a: getattr(np, op)(a, axis=axis).astype("int64"), left(x, [axis], False), "int64")


def softmax(g):
    x = g.pick(lambda v: v.is_float() and v.ndim and v.is_finite())
    axis = int(g.rng.integers(x.ndim))
    if 0 in x.extents(axis):
        raise Impossible
    op = g.choice(["nn.softmax", "nn.log_softmax"])

    def f(a):
        e = np.exp(a - a.max(axis, keepdims=True))
        s = e / e.sum(axis, keepdims=True)
        return s if op == "nn.softmax" else a - a.max(axis, keepdims=True) - np.log(e.sum(axis, keepdims=True))
    return g.add(op, "{}, axis=%d" % axis, [x], in_float64(f), x.dims)


def cumulate(g):
    x = g.pick(lambda v: v.ndim and v.dtype in ("float32", "float64", "int32", "int64"))
    axis, exclusive = int(g.rng.integers(x.ndim)), g.chance(0.3)

    def f(w, a):
        s = np.cumsum(a, axis=axis, dtype=a.dtype)
        return s - a if exclusive else s
    if exclusive and not (x.is_exact() and x.is_finite()):
        raise Impossible
    return g.add("cumsum", "{}, axis=%d, exclusive=%s" % (axis, exclusive), [x], f, x.dims)


# --- products, windows, norms --------------------------------------------------------------------

def wide_sums(a):
    return a.astype("float64") if a.dtype.kind == "f" else a


def matmul(g):
    x = g.pick(lambda v: v.ndim >= 2 and v.dtype in ("float32", "float32", "float64", "int32") and v.dims[-1] is not None and v.is_finite())
    k, j = x.dims[-1], g.choice(g.palette)
    batch = x.dims[:-2] if g.chance(0.3) else []
    nt = g.chance(0.3)
    y = g.input(batch + ([j, k] if nt else [k, j]), x.dtype)

    def f(w, a, b):
        return np.matmul(wide_sums(a), wide_sums(np.swapaxes(b, -1, -2) if nt else b)).astype(a.dtype)
    return g.add("nt_matmul" if nt else "matmul", "{}, {}", [x, y], f, x.dims[:-1] + [j])


def pictures(g, least=1):
    """Of rank 4, with channels and pictures of known size."""
    if g.chance(0.6):
        try:
            return g.pick(lambda v: v.ndim == 4 and v.is_float() and v.is_finite() and all(v.is_known(d) for d in (1, 2, 3)) and int(v.dims[1]) > 0 and min(int(v.dims[2]), int(v.dims[3])) >= least)
        except Impossible:
            pass
    sizes = [str(g.rng.integers(max(least, 3), 9)) for _ in range(2)]
    return g.input([g.choice(g.palette), g.choice(["1", "2", "3", "4", "6"])] + sizes, "float32")


def windows(a, size, stride, pad, dilation, value):
    """(N, C, H', W', size, size) of a padded picture."""
    a = np.pad(a, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=value)
    reach = dilation * (size - 1) + 1
    v = np.lib.stride_tricks.sliding_window_view(a, (reach, reach), (2, 3))
    return v[:, :, ::stride, ::stride, ::dilation, ::dilation]


def conv2d(g):
    x = pictures(g)
    size, stride, pad, dilation = int(g.rng.integers(1, 4)), int(g.rng.integers(1, 3)), int(g.rng.integers(0, 2)), int(g.rng.integers(1, 3))
    channels = int(x.dims[1])
    groups = g.choice([k for k in (1, 1, 1, 2, 3, channels) if channels % k == 0])
    results = groups * int(g.rng.integers(1, 4))
    if min(int(x.dims[2]), int(x.dims[3])) + 2 * pad < dilation * (size - 1) + 1:
        raise Impossible
    weight = g.input([str(results), str(channels // groups), str(size), str(size)], x.dtype)

    def f(w, a, k):
        v = windows(a.astype("float64"), size, stride, pad, dilation, 0)
        v = v.reshape(v.shape[0], groups, channels // groups, *v.shape[2:])
        k = k.astype("float64").reshape(groups, results // groups, channels // groups, size, size)
        r = np.einsum("ngchwij,gocij->ngohw", v, k)
        return r.reshape(r.shape[0], results, *r.shape[3:]).astype(a.dtype)
    text = "{}, {}, strides=%d, padding=%d, dilation=%d, groups=%d" % (stride, pad, dilation, groups)
    return g.add("nn.conv2d", text, [x, weight], f, [x.dims[0], str(results)] + [str((int(e) + 2 * pad - dilation * (size - 1) - 1) // stride + 1) for e in x.dims[2:]])


def pool2d(g):
    size, stride = int(g.rng.integers(1, 4)), int(g.rng.integers(1, 3))
    x = pictures(g, size)
    pad, mean = int(g.rng.integers(0, 2)) if size > 1 else 0, g.chance(0.5)

    def f(w, a):
        if not mean:
            return np.fmax.reduce(windows(a, size, stride, pad, 1, -np.inf), (4, 5), initial=-np.inf).astype(a.dtype)
        ones = windows(np.ones_like(a, "float64"), size, stride, pad, 1, 0).sum((4, 5))
        return (windows(a.astype("float64"), size, stride, pad, 1, 0).sum((4, 5)) / ones).astype(a.dtype)
    op = "nn.avg_pool2d" if mean else "nn.max_pool2d"
    return g.add(op, "{}, pool_size=[%d, %d], strides=%d, padding=%d" % (size, size, stride, pad), [x], f,
                 x.dims[:2] + [str((int(e) + 2 * pad - size) // stride + 1) for e in x.dims[2:]])


def layer_norm(g):
    x = g.pick(lambda v: v.dtype in ("float32", "float64") and v.ndim and v.is_finite() and v.dims[-1] is not None)
    if not all(a.shape[-1] > 1 and (a.astype("float64").var(-1) > 0.01).all() for a in x.arrays):
        raise Impossible
    gamma = g.input(x.dims[-1:], x.dtype)
    if g.chance(0.5):
        return g.add("nn.rms_norm", "{}, {}, axes=[-1]", [x, gamma], in_float64(lambda a, s: a / np.sqrt((a * a).mean(-1, keepdims=True) + 1e-5) * s), x.dims)
    beta = g.input(x.dims[-1:], x.dtype)
    return g.add("nn.layer_norm", "{}, {}, {}, axes=[-1]", [x, gamma, beta],
                 in_float64(lambda a, s, b: (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5) * s + b), x.dims)


def quantize(g):
    x = g.pick(lambda v: v.dtype == "float32" and v.is_exact() and v.is_finite())
    to, zero = g.choice([("int8", -3), ("uint8", 100)])
    ends = np.iinfo(to)
    q = g.add("quantize", "{}, R.const(0.125, \"float32\"), R.const(%d, \"%s\"), out_dtype=\"%s\"" % (zero, to, to), [x],
              lambda w, a: np.clip(np.rint(a / 0.125) + zero, ends.min, ends.max).astype(to), x.dims, to)
    if g.chance(0.5):
        return q
    return g.add("dequantize", "{}, R.const(0.125, \"float32\"), R.const(%d, \"%s\"), out_dtype=\"float32\"" % (zero, to), [q],
                 lambda w, a: ((a.astype("float64") - zero) * 0.125).astype(w.dtype("float32")), x.dims, "float32")


# --- shapes --------------------------------------------------------------------------------------

def reshape(g):
    x = g.pick(lambda v: v.ndim)
    k = int(g.rng.integers(3))
    if k == 0:  # two dimensions become one
        if x.ndim < 2:
            raise Impossible
        d = int(g.rng.integers(x.ndim - 1))
        if None in x.dims:
            raise Impossible
        known = x.is_known(d) and x.is_known(d + 1)
        one = str(int(x.dims[d]) * int(x.dims[d + 1])) if known else None
        said = [e for e in x.dims[:d]] + [one or "%s * %s" % (x.dims[d], x.dims[d + 1])] + x.dims[d + 2:]
        return g.add("reshape", "{}, (%s,)" % ", ".join(said), [x], lambda w, a: a.reshape(a.shape[:d] + (a.shape[d] * a.shape[d + 1],) + a.shape[d + 2:]),
                     x.dims[:d] + [one] + x.dims[d + 2:])
    if k == 1:  # one becomes two
        known = [d for d in range(x.ndim) if x.is_known(d) and int(x.dims[d]) > 1]
        if None in x.dims:
            raise Impossible
        d = g.choice(known)
        n = int(x.dims[d])
        f = g.choice([k for k in range(1, n + 1) if n % k == 0])
        dims = x.dims[:d] + [str(f), str(n // f)] + x.dims[d + 1:]
        return g.add("reshape", "{}, (%s,)" % ", ".join(dims), [x], lambda w, a: a.reshape(a.shape[:d] + (f, n // f) + a.shape[d + 1:]), dims)
    return g.add("flatten", "{}", [x], lambda w, a: a.reshape(-1), [None])


def permute(g):
    x = g.pick(lambda v: v.ndim > 1)
    order = g.rng.permutation(x.ndim).tolist()
    return g.add("permute_dims", "{}, axes=%s" % order, [x], lambda w, a: np.transpose(a, order), [x.dims[d] for d in order])


def expand(g):
    x = g.pick(lambda v: v.ndim < 5)
    axis = int(g.rng.integers(x.ndim + 1))
    return g.add("expand_dims", "{}, axis=%d" % axis, [x], lambda w, a: np.expand_dims(a, axis), x.dims[:axis] + ["1"] + x.dims[axis:])


def squeeze(g):
    x = g.pick(lambda v: "1" in v.dims)
    axis = x.dims.index("1")
    return g.add("squeeze", "{}, axis=[%d]" % axis, [x], lambda w, a: np.squeeze(a, axis), x.dims[:axis] + x.dims[axis + 1:])


def slices(g):
    x = g.pick(lambda v: v.ndim)
    axis = g.choice([d for d in range(x.ndim) if x.is_known(d) and int(x.dims[d]) > 0])
    n = int(x.dims[axis])
    begin, end, step = int(g.rng.integers(-n, n)), int(g.rng.integers(-n - 1, n + 3)), g.choice([1, 1, 2, 3, -1, -2])
    cut = range(n)[begin:end:step]
    return g.add("strided_slice", "{}, axes=[%d], begin=[%d], end=[%d], strides=[%d]" % (axis, begin, end, step), [x],
                 lambda w, a: a[(slice(None),) * axis + (slice(begin, end, step),)], x.dims[:axis] + [str(len(cut))] + x.dims[axis + 1:])


def symbolic_slice(g):
    """Of an extent that only the run knows: from its end, or beyond it."""
    x = g.pick(lambda v: v.ndim and not all(v.is_known(d) for d in range(v.ndim)))
    axis = g.choice([d for d in range(x.ndim) if not x.is_known(d)])
    begin, end = g.choice([(-2, 1000), (1, 1000), (0, -1), (-3, -1), (0, 2), (1, 3)])
    return g.add("strided_slice", "{}, axes=[%d], begin=[%d], end=[%d]" % (axis, begin, end), [x],
                 lambda w, a: a[(slice(None),) * axis + (slice(begin, end),)], x.dims[:axis] + [None] + x.dims[axis + 1:])


def flip(g):
    x = g.pick(lambda v: v.ndim)
    axis = int(g.rng.integers(x.ndim))
    return g.add("flip", "{}, axis=%d" % axis, [x], lambda w, a: np.flip(a, axis), x.dims)


def joined(g, x, axis, y):
    both = x.is_known(axis) and y.is_known(axis)
    return x.dims[:axis] + [str(int(x.dims[axis]) + int(y.dims[axis])) if both else None] + x.dims[axis + 1:]


def concat(g):
    x = g.pick(lambda v: v.ndim)
    axis = int(g.rng.integers(x.ndim))
    if None in x.dims[:axis] + x.dims[axis + 1:]:
        raise Impossible
    y = g.pick(lambda v: v.dtype == x.dtype and v.ndim == x.ndim and v.dims[:axis] + v.dims[axis + 1:] == x.dims[:axis] + x.dims[axis + 1:])
    return g.add("concat", "({}, {}), axis=%d" % axis, [x, y], lambda w, a, b: np.concatenate([a, b], axis), joined(g, x, axis, y))


def stack(g):
    x = g.pick(lambda v: None not in v.dims and v.ndim < 5)
    y = g.pick(lambda v: v.dtype == x.dtype and v.dims == x.dims)
    axis = int(g.rng.integers(x.ndim + 1))
    return g.add("stack", "({}, {}), axis=%d" % axis, [x, y], lambda w, a, b: np.stack([a, b], axis), x.dims[:axis] + ["2"] + x.dims[axis:])


def split(g):
    x = g.pick(lambda v: v.ndim)
    axis = g.choice([d for d in range(x.ndim) if x.is_known(d) and int(x.dims[d]) > 1])
    n = int(x.dims[axis])
    at = int(g.rng.integers(1, n))
    name = g.fresh("t")
    parts = [(0, at), (at, n)]
    made = [g.bind([x], lambda w, a, p=p: a[(slice(None),) * axis + (slice(*p),)], x.dims[:axis] + [str(p[1] - p[0])] + x.dims[axis + 1:]) for p in parts]
    g.lines.append("%s = R.split(%s, indices_or_sections=[%d], axis=%d)" % (name, g.use(x), at, axis))
    g.lines += ["%s = %s[%d]" % (v.name, name, i) for i, v in enumerate(made)]
    g.values += made
    g.root.operators.add("split")
    return made[-1]


def broadcast(g):
    x = g.pick(lambda v: None not in v.dims and v.ndim < 4)
    told = [d for d in g.palette if d.isdigit() or any(d in v.dims for v in g.root.inputs)]
    dims = [g.choice(told) if d == "1" else d for d in x.dims]
    if g.chance(0.5):
        dims = [g.choice(told)] + dims
    return g.add("broadcast_to", "{}, (%s)" % "".join(d + ", " for d in dims), [x], lambda w, a: np.broadcast_to(a, w.shape(dims)).copy(), dims)


def repeats(g):
    x = g.pick(lambda v: v.ndim)
    axis, k = int(g.rng.integers(x.ndim)), int(g.rng.integers(1, 4))
    dims = x.dims[:axis] + [str(k * int(x.dims[axis])) if x.is_known(axis) else None] + x.dims[axis + 1:]
    if g.chance(0.5):
        return g.add("repeat", "{}, repeats=%d, axis=%d" % (k, axis), [x], lambda w, a: np.repeat(a, k, axis), dims)
    times = [1] * x.ndim
    times[axis] = k
    return g.add("tile", "{}, repeats=%s" % times, [x], lambda w, a: np.tile(a, times), dims)


def pad(g):
    x = g.pick(lambda v: v.ndim and v.dtype != "bool")
    widths = [[int(g.rng.integers(0, 3)), int(g.rng.integers(0, 3))] for _ in x.dims]
    mode = g.choice(["constant", "constant", "edge"])
    if mode == "edge" and any(0 in x.extents(d) for d in range(x.ndim)):
        raise Impossible
    flat = [w for pair in widths for w in pair]
    more = {"constant_values": 2} if mode == "constant" else {}
    dims = [str(int(d) + sum(p)) if x.is_known(i) else d if not sum(p) else None for i, (d, p) in enumerate(zip(x.dims, widths))]
    return g.add("nn.pad", "{}, pad_width=%s, pad_mode=\"%s\"%s" % (flat, mode, ", pad_value=2" if more else ""), [x], lambda w, a: np.pad(a, widths, mode=mode, **more), dims)


def resize(g):
    x = pictures(g)
    k = int(g.rng.integers(1, 4))
    size = [k * int(e) for e in x.dims[2:]]
    text = "{}, size=(%d, %d), method=\"nearest_neighbor\", coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\"" % tuple(size)
    return g.add("image.resize2d", text, [x], lambda w, a: a.repeat(k, 2).repeat(k, 3), x.dims[:2] + [str(e) for e in size])


# --- elements that others name -------------------------------------------------------------------

def indices(g, x, axis, dims):
    """An input of indices, from the end, too, that x has along the axis."""
    if x.dims[axis] is None or 0 in x.extents(axis):
        raise Impossible
    text = x.dims[axis]

    def make(shape, world):
        n = world.extent(text)
        i = g.rng.integers(0, n, shape)
        return np.where(g.rng.random(shape) < 0.2, i - n, i)
    return g.input(dims, g.choice(["int64", "int32"]), make, guessed=True)


def take(g):
    x = g.pick(lambda v: v.ndim)
    axis = int(g.rng.integers(x.ndim))
    i = indices(g, x, axis, [g.choice(g.palette) for _ in range(g.rng.integers(0, 3))])
    return g.add("take", "{}, {}, axis=%d" % axis, [x, i], lambda w, a, k: np.take(a, np.where(k < 0, k + a.shape[axis], k), axis), x.dims[:axis] + i.dims + x.dims[axis + 1:])


def gather(g):
    x = g.pick(lambda v: v.ndim and None not in v.dims)
    axis = int(g.rng.integers(x.ndim))
    i = indices(g, x, axis, x.dims[:axis] + [g.choice(g.palette)] + x.dims[axis + 1:])
    return g.add("gather_elements", "{}, {}, axis=%d" % axis, [x, i], lambda w, a, k: np.take_along_axis(a, np.where(k < 0, k + a.shape[axis], k), axis), i.dims)


def scatter(g):
    x = g.pick(lambda v: v.ndim and None not in v.dims and v.dtype in ("float32", "float64", "int32"))
    axis = int(g.rng.integers(x.ndim))
    i = indices(g, x, axis, x.dims[:axis] + [g.choice(["1", "2", x.dims[axis]])] + x.dims[axis + 1:])
    updates = g.input(i.dims, x.dtype)
    if g.special or not updates.is_exact() or not x.is_exact():
        raise Impossible

    def f(w, a, k, u):
        out = a.copy()
        k = np.where(k < 0, k + a.shape[axis], k)
        at = list(np.indices(k.shape))
        at[axis] = k
        np.add.at(out, tuple(at), u)
        return out
    return g.add("scatter_elements", "{}, {}, {}, axis=%d, reduction=\"add\"" % axis, [x, i, updates], f, x.dims)


def one_hot(g):
    depth = int(g.rng.integers(1, 6))
    i = g.input([g.choice(g.palette) for _ in range(g.rng.integers(0, 3))], "int64", lambda shape, w: g.rng.integers(0, depth, shape), guessed=True)
    return g.add("one_hot", "{}, R.prim_value(2.5), R.prim_value(0.5), depth=%d" % depth, [i],
                 lambda w, k: np.where(k[..., None] == np.arange(depth), 2.5, 0.5).astype(w.dtype("float32")), i.dims + [str(depth)], "float32")


def orders(g):
    x = g.pick(lambda v: v.ndim and v.dtype in ("float32", "float64", "int32", "int64") and v.is_exact() and v.is_finite())
    axis = int(g.rng.integers(x.ndim))
    n = min(x.extents(axis))
    descending = g.chance(0.5)

    def where(a):  # of equal ones the first comes first
        return np.argsort(-a if descending else a, axis, kind="stable")
    if g.chance(0.4) and n:
        k = int(g.rng.integers(1, n + 1))
        return g.add("topk", "{}, k=%d, axis=%d, ret_type=\"values\", largest=%s" % (k, axis, descending), [x],
                     lambda w, a: np.take_along_axis(a, where(a), axis)[(slice(None),) * axis + (slice(0, k),)], x.dims[:axis] + [str(k)] + x.dims[axis + 1:])
    if g.chance(0.5):
        return g.add("argsort", "{}, axis=%d, descending=%s" % (axis, descending), [x], lambda w, a: where(a).astype("int32"), x.dims, "int32")
    return g.add("sort", "{}, axis=%d, descending=%s" % (axis, descending), [x], lambda w, a: np.take_along_axis(a, where(a), axis), x.dims)


def like(g):
    x = g.pick(lambda v: v.is_float())
    if g.chance(0.5):
        return g.add("zeros_like", "{}", [x], lambda w, a: np.zeros_like(a), x.dims)
    return g.add("full_like", "{}, R.const(1.5, \"%s\")" % x.dtype, [x], lambda w, a: np.full_like(a, 1.5), x.dims)


def constant(g, dims=None, dtype=None):
    """Of the text: what is computed of constants alone is computed before the graph runs."""
    known = [d for d in g.palette if d.isdigit() and 0 < int(d) < 9]
    dims = [g.choice(known) for _ in range(g.rng.integers(0, 3))] if dims is None else dims
    dtype = dtype or g.choice(["float32", "float32", "float64", "int32", "int64", "bool"])
    special, g.special = g.special, False
    x = g.elements(dtype, tuple(int(d) for d in dims))
    g.special = special
    return g.add("const", repr(x.tolist()).replace("{", "{{") + ", \"%s\"" % dtype, [], lambda w: x.astype(w.dtype(dtype)), dims, dtype)


def triangle(g):
    x = g.pick(lambda v: v.ndim >= 2 and v.dtype != "bool")
    op, k = g.choice(["tril", "triu"]), int(g.rng.integers(-1, 2))
    return g.add(op, "{}, k=%d" % k, [x], lambda w, a: getattr(np, op)(a, k), x.dims)


# --- branches ------------------------------------------------------------------------------------

def some_steps(inner, base):
    """What a branch makes of base: of its extents and its type."""
    v = base
    for _ in range(inner.rng.integers(1, 4)):
        for _ in range(10):
            try:
                made = inner.choice(STEPS_OF_BRANCHES)(inner)
                if made.dims == base.dims and made.dtype == base.dtype:
                    v = made
                break
            except Impossible:
                pass
    return v


def choose(g, cond, makers, dims, dtype, f):
    """if cond: y = cls.f(...) else: y = cls.g(...), each of what a maker binds within a graph of its own."""
    if g.root.depth > 2:
        raise Impossible
    sides = []
    g.root.depth += 1
    try:
        for make in makers:
            inner = Graph(g.rng, g.worlds, g.palette, g.special, outer=g, name=g.fresh("branch"))
            sides.append((inner, make(inner)))
    finally:
        g.root.depth -= 1
    v = g.bind([cond, sides[0][1], sides[1][1]], f, dims, dtype)
    texts = []
    for inner, result in sides:
        if result in inner.values:
            g.root.functions.append(inner.function([result]))
            texts.append("cls.%s(%s)" % (inner.name, ", ".join([g.use(u) for u in inner.used])))
        else:
            texts.append(g.use(result))
    g.lines += ["if %s:" % g.use(cond), "    %s = %s" % (v.name, texts[0]), "else:", "    %s = %s" % (v.name, texts[1])]
    g.values.append(v)
    g.root.operators.add("if")
    return v


def if_(g):
    base = g.pick(lambda v: None not in v.dims)
    cond = constant(g, [], "bool") if g.chance(0.2) else g.input([], "bool", guessed=True)
    return choose(g, cond, [lambda inner: some_steps(inner, base)] * 2, base.dims, base.dtype, lambda w, k, a, b: a if k else b)


def guarded(g):
    """A row that the condition guards, and which may lie outside of all memory."""
    x = g.pick(lambda v: v.ndim and None not in v.dims and v.is_known(0) and int(v.dims[0]) > 0)
    n, dims = int(x.dims[0]), x.dims[1:]
    i = g.input([], "int64", lambda shape, w: g.choice([0, n - 1, n, 10**6, 10**12]), guessed=True)
    other = g.input(dims, x.dtype)
    cond = g.add("less", "{}, R.const(%d, \"int64\")" % n, [i], lambda w, k: k < n, [], "bool")

    def row(inner):
        v = inner.add("take", "{}, {}, axis=0", [x, i], lambda w, a, k: a[k if k < n else 0], dims, x.dtype)
        return some_steps(inner, v)
    return choose(g, cond, [row, lambda inner: some_steps(inner, other)], dims, x.dtype, lambda w, k, a, b: a if k else b)


STEPS_OF_BRANCHES = [smooth, any_unary, relu, binary, binary, with_number, flip, if_, guarded, take, triangle, clip]
FAMILIES = [smooth, steps, any_unary, relu, clip, not_, tests, astype, binary, binary, binary, with_number, divide, compare, bits, where, reduce, reduce, arg_reduce, softmax,
            cumulate, matmul, matmul, conv2d, pool2d, layer_norm, quantize, reshape, reshape, permute, expand, squeeze, slices, symbolic_slice, flip, concat, stack, split,
            broadcast, repeats, pad, resize, take, gather, scatter, one_hot, orders, like, triangle, constant, constant, if_, if_, guarded, guarded]
