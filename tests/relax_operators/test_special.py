"""Every operator at NaN, infinities, -0 and extents of 0: a table of what numpy gives."""

import math

import numpy as np
import pytest
from harness import check

NAN, INF = float("nan"), float("inf")
X = np.array([NAN, INF, -INF, -0.0, 0.0, 1, -1, 0.5, -2.5, 3e38, 1e-30, 7, NAN, -3e38, 20.5, 0.25, -1e-30], "float32")
Y = np.array([1, NAN, INF, -INF, -0.0, NAN, 2, -0.0, 0.0, 3, -2, INF], "float32")
A, B = (g.ravel().copy() for g in np.meshgrid(Y, Y))  # each with each
ROWS = np.array([[1, NAN, 3], [NAN, 1, 2], [1, 2, NAN], [INF, -INF, 0], [-INF, -INF, -INF], [-1, -0.0, 0.0], [NAN, NAN, NAN], [INF, INF, 1]], "float32")
LONG = np.tile(np.arange(70, dtype="float32"), (71, 1))
LONG[np.arange(1, 71), np.arange(70)] = NAN
np.seterr(all="ignore")
erf = np.vectorize(math.erf, otypes=["float64"])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def f64(f):
    """Computed in double, rounded once: floats would overflow on the way."""
    return lambda *args, **more: np.asarray(f(*[a.astype("float64") for a in args], **more)).astype(args[0].dtype)


ONE = {  # of one operand, element by element
    "negative": np.negative, "abs": np.abs, "sign": np.sign, "square": np.square, "round": np.rint, "ceil": np.ceil, "floor": np.floor,
    "trunc": np.trunc, "sqrt": f64(np.sqrt), "rsqrt": f64(lambda x: 1 / np.sqrt(x)), "exp": f64(np.exp), "log": f64(np.log), "sigmoid": f64(sigmoid),
    "tanh": f64(np.tanh), "erf": f64(erf), "sin": f64(np.sin), "cos": f64(np.cos), "tan": f64(np.tan), "asin": f64(np.arcsin), "acos": f64(np.arccos),
    "atan": f64(np.arctan), "sinh": f64(np.sinh), "cosh": f64(np.cosh), "asinh": f64(np.arcsinh), "acosh": f64(np.arccosh), "atanh": f64(np.arctanh),
    "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "nn.relu": lambda x: np.maximum(x, 0),
    "nn.leakyrelu": lambda x: np.where(x > 0, x, x * np.float32(0.01)), "nn.silu": f64(lambda x: x * sigmoid(x)),
    "nn.gelu_tanh": f64(lambda x: x * 0.5 * (1 + np.tanh((x + 0.044715 * x ** 3) * (2 / np.pi) ** 0.5))),
    "nn.gelu": f64(lambda x: x * 0.5 * (1 + erf(x * 0.5 ** 0.5))),
    "nn.selu": f64(lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0)))),
    "nn.softplus": f64(lambda x: np.logaddexp(x, 0)),
}
LARGE = {"sin", "cos", "tan"}  # of huge numbers a float of 32 bits is too coarse
TWO = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum, "minimum": np.minimum,
       "power": f64(np.power), "mod": np.fmod, "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
       "greater": np.greater, "greater_equal": np.greater_equal}
ALONG = {"max": np.max, "min": np.min, "sum": np.sum, "prod": np.prod, "mean": np.mean, "variance": np.var, "std": np.std,
         "argmax": np.argmax, "argmin": np.argmin}
OF_NOTHING = {"sum": 0.0, "prod": 1.0, "mean": NAN, "variance": NAN, "std": NAN}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("name", ONE)
def test_one_operand(name):
    x = X[np.abs(np.nan_to_num(X, posinf=0, neginf=0)) < 1e30] if name in LARGE else X
    check(name, [x], ONE[name](x), as_c=True)
    check(name, [np.zeros((0, 3), "float32")], np.zeros((0, 3), "bool" if name.startswith("is") else "float32"), as_c=True)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("name", ["nn.relu", "sign", "abs", "negative", "nn.softplus"])
def test_other_types(name, dtype):
    x = np.array([NAN, INF, -INF, -0.0, 2, -3], dtype)
    check(name, [x], ONE[name](x).astype(dtype), as_c=True)
    a, b = (x.astype("float32").astype(dtype), x[::-1].copy())
    check("maximum", [a, b], np.maximum(a, b), as_c=True)
    check("max", [x.reshape(2, 3)], x.reshape(2, 3).max(1), axis=1, as_c=True)


@pytest.mark.parametrize("name", TWO)
def test_two_operands(name):
    check(name, [A, B], TWO[name](A, B), as_c=True)
    check(name, [A, B[:1]], TWO[name](A, B[:1]), as_c=True)
    empty = np.zeros((3, 0), "float32")
    check(name, [empty, empty[:1]], TWO[name](empty, empty[:1]), as_c=True)


def test_clip():
    check("clip", [X], np.clip(X, np.float32(-1), np.float32(2)), min=-1.0, max=2.0, as_c=True)


@pytest.mark.parametrize("name", ALONG)
def test_along_an_axis(name):
    f = ALONG[name] if name in ("max", "min", "argmax", "argmin") else f64(ALONG[name])
    for x in ROWS, LONG:
        for axis in 0, 1:
            want = np.asarray(f(x, axis=axis))
            check(name, [x], want.astype("int64") if name.startswith("arg") else want, axis=axis, as_c=True)
    if name in OF_NOTHING:
        check(name, [np.zeros((2, 0), "float32")], np.full(2, OF_NOTHING[name], "float32"), axis=1, as_c=True)
    check(name, [np.zeros((0, 3), "float32")], np.zeros(0, "int64" if name.startswith("arg") else "float32"), axis=1, as_c=True)


def test_softmax():
    check("nn.softmax", [ROWS], softmax(ROWS), as_c=True)
    check("nn.log_softmax", [ROWS], ROWS - ROWS.max(-1, keepdims=True) - np.log(np.exp(ROWS - ROWS.max(-1, keepdims=True)).sum(-1, keepdims=True)), as_c=True)


def test_order():
    check("sort", [ROWS], np.sort(ROWS), as_c=True)
    check("argsort", [ROWS], np.argsort(ROWS, kind="stable").astype("int32"), as_c=True)
    check("topk", [ROWS], [np.sort(ROWS)[:, ::-1][:, :2], np.array([[1, 2], [0, 2], [2, 1], [0, 2], [0, 1], [1, 2], [0, 1], [0, 1]], "int32")], k=2, as_c=True)


def test_windows():
    x = np.arange(36, dtype="float32").reshape(1, 1, 6, 6) - 9
    x[0, 0, 1, 2], x[0, 0, 4, 4], x[0, 0, 5, 0] = NAN, -INF, NAN
    taps = np.stack([x[0, 0, i:i + 5:1, j:j + 5:1] for i in range(2) for j in range(2)])
    check("nn.max_pool2d", [x], np.nanmax(taps, 0)[None, None], pool_size=2, as_c=True)
    check("nn.avg_pool2d", [x], taps.mean(0)[None, None], pool_size=2, as_c=True)
    check("nn.adaptive_max_pool2d", [x], np.nanmax(x.reshape(1, 1, 2, 3, 2, 3), (3, 5)), output_size=2, as_c=True)
    indices = np.nanargmax(taps, 0) // 2 * 6 + np.nanargmax(taps, 0) % 2 + np.arange(5)[:, None] * 6 + np.arange(5)
    check("nn.max_pool_argmax", [x], indices[None, None].astype("int64"), pool_size=2, as_c=True)


def test_scattered():
    data, where, updates = np.array([1, NAN, 3, 4], "float32"), np.array([0, 1, 2], "int64"), np.array([NAN, 5, 7], "float32")
    for how, f in ("max", np.maximum), ("min", np.minimum):
        want = data.copy()
        f.at(want, where, updates)
        check("scatter_elements", [data, where, updates], want, axis=0, reduction=how, as_c=True)
