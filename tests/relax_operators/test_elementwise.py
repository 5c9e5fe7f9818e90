import math

import numpy as np
import pytest
from harness import bools, check, floats, ints, refused, symbolic

SHAPES = [((4, 5), (4, 5)), ((4, 5), (5,)), ((4, 1), (1, 5)), ((), (3,)), ((), ()), ((1,), (1,)), ((2, 3, 4, 5), (3, 1, 5)),
          ((2, 1, 3, 1, 4), (5, 1, 7, 1)), ((0, 5), (1, 5)), ((13,), (13,))]
ARITHMETIC = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "maximum": np.maximum,
              "minimum": np.minimum, "floor_divide": np.floor_divide, "mod": np.fmod, "floor_mod": np.mod}
COMPARISONS = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
               "greater": np.greater, "greater_equal": np.greater_equal}
BITS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}


@pytest.mark.parametrize("shapes", SHAPES)
def test_add(shapes):
    a, b = floats(*shapes[0]), floats(*shapes[1])
    check("add", [a, b], a + b)


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name):
    f = ARITHMETIC[name]
    a, b = floats(3, 1, 5), floats(4, 5, low=0.5)
    check(name, [a, b], f(a, b).astype("float32"))
    a, b = ints(3, 1, 5), ints(4, 5, low=1)
    b[0, 0] = -3
    want = np.trunc(a / b).astype("int32") if name == "divide" else f(a, b)
    check(name, [a, b], want)
    a, b = ints(4, dtype="int64"), ints(4, low=1, dtype="int64")
    check(name, [a, b], np.trunc(a / b).astype("int64") if name == "divide" else f(a, b))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8"])
def test_types(dtype):
    a, b = (floats(5, 3).astype(dtype), floats(3).astype(dtype)) if dtype.startswith("f") else (
        ints(5, 3, low=0, dtype=dtype), ints(3, low=0, dtype=dtype))
    check("add", [a, b], a + b)
    check("multiply", [a, b], a * b)


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name):
    a, b = ints(4, 5, low=-1, high=2), ints(5, low=-1, high=2)
    check(name, [a, b], COMPARISONS[name](a, b))
    a, b = floats(3), floats(2, 3)
    b[0] = a
    check(name, [a, b], COMPARISONS[name](a, b))


@pytest.mark.parametrize("name", BITS)
def test_bits(name):
    a, b = ints(4, 5), ints(5)
    check(name, [a, b], BITS[name](a, b))


def test_shifts_and_logic():
    a, b = ints(4, 5, low=0, high=100), ints(5, low=0, high=6)
    check("left_shift", [a, b], a << b)
    check("right_shift", [a, b], a >> b)
    a, b = bools(4, 5), bools(5)
    check("logical_and", [a, b], a & b)
    check("logical_or", [a, b], a | b)
    check("logical_xor", [a, b], a ^ b)
    check("logical_not", [a], ~a)
    i = ints(7)
    check("bitwise_not", [i], ~i)


def test_numbers_as_operands():
    a = floats(3, 4)
    check("add", [a], a + np.float32(2.5), b=2.5)
    check("power", [np.abs(a)], np.abs(a) ** np.float32(2.5), b=2.5)


def test_where():
    c, a, b = bools(4, 1), floats(3, 1, 5), floats(5)
    check("where", [c, a, b], np.where(c, a, b))
    refused("where", [floats(3), floats(3), floats(3)], "bool")


@pytest.mark.parametrize("name,f,low,high", [
    ("abs", np.abs, -2, 2), ("acos", np.arccos, -1, 1), ("acosh", np.arccosh, 1, 3), ("asin", np.arcsin, -1, 1),
    ("asinh", np.arcsinh, -2, 2), ("atan", np.arctan, -2, 2), ("atanh", np.arctanh, -0.9, 0.9), ("ceil", np.ceil, -5, 5),
    ("cos", np.cos, -3, 3), ("cosh", np.cosh, -2, 2), ("exp", np.exp, -4, 4), ("floor", np.floor, -5, 5),
    ("log", np.log, 0.1, 9), ("negative", np.negative, -2, 2), ("rsqrt", lambda x: 1 / np.sqrt(x), 0.1, 9),
    ("round", np.round, -5, 5), ("sign", np.sign, -2, 2), ("sin", np.sin, -3, 3), ("sinh", np.sinh, -2, 2),
    ("sqrt", np.sqrt, 0, 9), ("square", np.square, -2, 2), ("tan", np.tan, -1, 1), ("tanh", np.tanh, -3, 3),
    ("trunc", np.trunc, -5, 5), ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), -8, 8),
    ("erf", np.vectorize(math.erf, otypes=["float64"]), -3, 3)])
def test_unary(name, f, low, high):
    for shape in [(3, 5), ()] + ([(2, 1, 3, 2, 2), (0, 4), (37,)] if name == "exp" else []):
        x = floats(*shape, low=low, high=high)
        check(name, [x], np.asarray(f(x.astype("float64"))).astype("float32"))
    x = floats(3, low=low, high=high, dtype="float64")
    check(name, [x], f(x))


def test_half():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.0], dtype="float32")
    check("round", [x], np.round(x))
    check("sign", [x], np.sign(x))


def test_classes():
    x = np.array([1.0, np.inf, -np.inf, np.nan, 0.0], dtype="float32")
    check("isnan", [x], np.isnan(x))
    check("isinf", [x], np.isinf(x))
    check("isfinite", [x], np.isfinite(x))


def test_astype_clip():
    x = floats(4, 3, low=-5, high=5)
    check("astype", [x], x.astype("int32"), dtype="int32")
    check("astype", [x], x.astype("float64"), dtype="float64")
    check("clip", [x], np.clip(x, -1.5, 2), min=-1.5, max=2)
    i = ints(20)
    check("clip", [i], np.clip(i, -2, 3), min=-2, max=3)
    check("astype", [i], i.astype("float32"), dtype="float32")
    check("astype", [i], i.astype(bool), dtype="bool")
    check("reinterpret", [x], x.view("int32"), dtype="int32")
    refused("reinterpret", [x], "int8", "size of float32", dtype="int8")


def test_symbolic():
    def case(n):
        a, b = floats(n, 7), floats(7)
        return [a, b], a * b
    symbolic("multiply", 5, "n", [1, 3, 8, 0], case)


def test_refused():
    refused("add", [floats(4, 5), floats(4)], "(4, 5)", "(4,)", "do not broadcast", "axis -1")
    refused("add", [floats(4, 5), ints(5)], "float32", "int32", "differ")
    refused("exp", [ints(4)], "float")
    refused("logical_and", [floats(4), floats(4)], "bool")
    refused("sqrt", [floats(4), floats(4)], "1 argument")
    refused("clip", [floats(4)], "min")


# --- activations ------------------------------------------------------------------------------------

def _erf(x):
    return np.vectorize(math.erf, otypes=["float64"])(x)


ACTIVATIONS = {
    "nn.relu": lambda x: np.maximum(x, 0), "nn.silu": lambda x: x / (1 + np.exp(-x)),
    "nn.gelu": lambda x: x * 0.5 * (1 + _erf(x / math.sqrt(2))),
    "nn.gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
    "nn.leakyrelu": lambda x: np.where(x > 0, x, 0.01 * x),
    "nn.selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1)),
    "nn.softplus": lambda x: np.log1p(np.exp(x))}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    for shape in [(3, 5), ()]:
        x = floats(*shape, low=-6, high=6)
        check(name, [x], np.asarray(ACTIVATIONS[name](x.astype("float64"))).astype("float32"))
    x = floats(33, low=-3, high=3, dtype="float16")
    check(name, [x], ACTIVATIONS[name](x.astype("float64")).astype("float16"))


def test_more_activations():
    x = floats(2, 3, 4)
    check("nn.leakyrelu", [x], np.where(x > 0, x, x * np.float32(0.2)), alpha=0.2)
    slope = floats(3)
    check("nn.prelu", [x, slope], np.where(x > 0, x, x * slope[:, None]))
    slope = floats(1)
    check("nn.prelu", [x, slope], np.where(x > 0, x, x * slope), axis=-1)
    check("nn.softplus", [x], (np.log1p(np.exp(3.0 * x.astype("float64"))) / 3).astype("float32"), beta=3.0)
    check("nn.dropout", [x], (x, np.ones_like(x)))
    refused("nn.prelu", [x, floats(5)], "(5,)", "(2, 3, 4)")
    refused("nn.gelu", [ints(3)], "int32")
