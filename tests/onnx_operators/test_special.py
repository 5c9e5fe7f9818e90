"""Conversions at NaN, infinities, zeros and extents of 0: what ONNX's definitions say in numpy."""

import numpy as np
import pytest

from test_conversions import int64, run, softmax

NAN, INF = np.float32("nan"), np.float32("inf")
np.seterr(all="ignore")
X = np.array([NAN, 1, INF, -INF, -0.0, 0.0, -2, 7, 0.5, 200, -200, NAN], "float32")
Y = np.array([1, NAN, -INF, INF, 0.0, -0.0, NAN, 7, -0.5, NAN, 200, NAN], "float32")
Z = np.array([0, 0, 0, 0, NAN, 0, 0, NAN, 0, 0, INF, -INF], "float32")
ROWS = np.stack([X, Y, Z, np.full(12, -INF, "float32"), np.arange(12, dtype="float32")])
ZEROS = np.zeros(3, "float32")
PLANE = np.arange(16, dtype="float32").reshape(1, 1, 4, 4)
PLANE[0, 0, 1, 1] = NAN
NONE = np.zeros((2, 0), "float32")


def exp_minus_1(x):
    return np.exp(x.astype("float64")) - 1


def f32(x):
    return np.asarray(x).astype("float32")


def softplus(x):
    return f32(np.logaddexp(x.astype("float64"), 0))


def hard_sigmoid(x, alpha=0.2, beta=0.5):
    return np.maximum(0, np.minimum(1, f32(alpha) * x + f32(beta)))


def last(x, f):
    return (x.shape[1] - 1 - f(x[:, ::-1], 1))[:, None]


def log_sum_exp(x):
    return f32(np.log(np.exp(x.astype("float64")).sum(1, keepdims=True)))


TABLE = [
    # operator, inputs, outputs, opset, attributes
    ("Relu", [X], [np.maximum(X, 0)], 14, {}), ("LeakyRelu", [X], [np.where(X < 0, f32(0.01) * X, X)], 16, {}),
    ("PRelu", [X, f32([0.5])], [np.where(X < 0, f32(0.5) * X, X)], 16, {}), ("Elu", [X], [f32(np.where(X > 0, X, exp_minus_1(X)))], 6, {}),
    ("Celu", [X], [f32(np.maximum(0, X) + np.minimum(0, exp_minus_1(X)))], 12, {}), ("Softplus", [X], [softplus(X)], 1, {}),
    ("Softsign", [X], [X / (1 + np.abs(X))], 1, {}), ("Mish", [X], [X * np.tanh(softplus(X))], 18, {}), ("HardSigmoid", [X], [hard_sigmoid(X)], 6, {}),
    ("HardSwish", [X], [X * hard_sigmoid(X, 1 / 6)], 14, {}), ("Sigmoid", [X], [f32(1 / (1 + np.exp(-X.astype("float64"))))], 13, {}),
    ("Sign", [X], [np.sign(X)], 13, {}), ("Abs", [X], [np.abs(X)], 13, {}), ("Neg", [X], [-X], 13, {}), ("Reciprocal", [X], [1 / X], 13, {}),
    ("Sqrt", [X], [np.sqrt(X)], 13, {}), ("Log", [X], [np.log(X)], 13, {}), ("Tanh", [X], [np.tanh(X)], 13, {}), ("Round", [X], [np.rint(X)], 11, {}),
    ("Shrink", [X], [f32(np.where(X < -0.5, X, np.where(X > 0.5, X, 0)))], 9, {}), ("IsNaN", [X], [np.isnan(X)], 13, {}), ("IsInf", [X], [np.isinf(X)], 20, {}),
    ("Clip", [X], [np.clip(X, -1, 3)], 6, {"min": -1.0, "max": 3.0}), ("Clip", [X, f32(-1), f32(3)], [np.clip(X, -1, 3)], 13, {}),
    ("Clip", [X, f32(0), f32(6)], [np.clip(X, 0, 6)], 13, {}), ("Clip", [X, None, f32(3)], [np.minimum(X, 3)], 13, {}),
    ("Max", [X, Y], [np.maximum(X, Y)], 13, {}), ("Max", [Y, X], [np.maximum(X, Y)], 13, {}), ("Max", [X, f32(1)], [np.maximum(X, 1)], 13, {}),
    ("Max", [f32(1), X], [np.maximum(X, 1)], 13, {}), ("Max", [X, Y, Z], [np.maximum(np.maximum(X, Y), Z)], 13, {}),
    ("Min", [X, Y], [np.minimum(X, Y)], 13, {}), ("Min", [Y, X, Z], [np.minimum(np.minimum(X, Y), Z)], 13, {}), ("Min", [X, f32(1)], [np.minimum(X, 1)], 13, {}),
    ("Sum", [X, Y, Z], [X + Y + Z], 13, {}), ("Div", [X, Y], [X / Y], 14, {}), ("Mod", [X, Y], [np.fmod(X, Y)], 13, {"fmod": 1}),
    ("Pow", [X, Y], [f32(np.power(X.astype("float64"), Y))], 15, {}), ("Less", [X, Y], [X < Y], 13, {}), ("Equal", [X, Y], [X == Y], 13, {}),
    ("Where", [X > 0, X, Y], [np.where(X > 0, X, Y)], 16, {}), ("CumSum", [X, np.int64(0)], [np.cumsum(X)], 14, {}),
    ("Trilu", [ROWS], [np.triu(ROWS)], 14, {}), ("Gemm", [ROWS, f32(np.eye(12))], [ROWS @ f32(np.eye(12))], 13, {}),
    ("ReduceMax", [ROWS, int64(1)], [ROWS.max(1, keepdims=True)], 20, {}), ("ReduceMin", [ROWS, int64(1)], [ROWS.min(1, keepdims=True)], 20, {}),
    ("ReduceMax", [ROWS, int64(0)], [ROWS.max(0)], 20, {"keepdims": 0}), ("ReduceMax", [ROWS], [ROWS.max().reshape(1, 1)], 13, {}),
    ("ReduceSum", [ROWS, int64(1)], [ROWS.sum(1, keepdims=True)], 13, {}), ("ReduceProd", [ROWS], [ROWS.prod(1, keepdims=True)], 13, {"axes": [1]}),
    ("ReduceMean", [ROWS, int64(1)], [ROWS.mean(1, keepdims=True)], 18, {}), ("ReduceL1", [ROWS, int64(1)], [np.abs(ROWS).sum(1, keepdims=True)], 18, {}),
    ("ReduceL2", [ROWS, int64(1)], [np.sqrt((ROWS * ROWS).sum(1, keepdims=True))], 18, {}), ("ReduceLogSumExp", [ROWS, int64(1)], [log_sum_exp(ROWS)], 18, {}),
    ("ReduceSum", [NONE, int64(1)], [f32([[0], [0]])], 13, {}), ("ReduceProd", [NONE, int64(1)], [f32([[1], [1]])], 18, {}),
    ("ReduceMax", [NONE, int64(1)], [f32([[-INF], [-INF]])], 20, {}), ("ReduceMin", [NONE, int64(1)], [f32([[INF], [INF]])], 20, {}),
    ("ReduceMean", [NONE, int64(1)], [f32([[NAN], [NAN]])], 18, {}), ("ReduceL2", [NONE, int64(1)], [f32([[0], [0]])], 18, {}),
    ("ReduceLogSum", [NONE, int64(1)], [f32([[-INF], [-INF]])], 18, {}), ("ReduceLogSumExp", [NONE, int64(1)], [f32([[-INF], [-INF]])], 18, {}),
    ("ReduceSumSquare", [NONE, int64(1)], [f32([[0], [0]])], 18, {}), ("Relu", [NONE], [NONE], 14, {}), ("Max", [NONE, NONE], [NONE], 13, {}),
    ("Softmax", [NONE], [NONE], 13, {"axis": 0}), ("Concat", [NONE, NONE], [np.zeros((4, 0), "float32")], 13, {"axis": 0}), ("CumSum", [NONE, np.int64(1)], [NONE], 14, {}),
    ("MatMul", [NONE, NONE.T.copy()], [np.zeros((2, 2), "float32")], 13, {}), ("Transpose", [NONE], [NONE.T], 13, {}),
    ("ArgMax", [ROWS], [np.argmax(ROWS, 1)[:, None]], 13, {"axis": 1}), ("ArgMin", [ROWS], [np.argmin(ROWS, 1)[:, None]], 13, {"axis": 1}),
    ("ArgMax", [ROWS], [last(ROWS, np.argmax)], 13, {"axis": 1, "select_last_index": 1}),
    ("TopK", [ROWS, int64(12)], [np.sort(ROWS, 1)[:, ::-1], None], 11, {}), ("TopK", [ROWS, int64(5)], [np.sort(ROWS, 1)[:, :5], None], 11, {"largest": 0}),
    ("Softmax", [ROWS], [softmax(ROWS, 1)], 13, {}), ("Hardmax", [ROWS], [f32(np.argmax(ROWS, 1)[:, None] == np.arange(12))], 13, {}),
    ("MaxPool", [PLANE], [f32([[[[4, 7], [13, 15]]]]), None], 12, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("MaxPool", [PLANE], [f32([[[[4, 7], [13, 15]]]]), int64(4, 7, 13, 15).reshape(1, 1, 2, 2)], 12, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("MaxPool", [f32([[[7, NAN, 3, NAN, NAN, 5]]])], [f32([[[7, 5]]]), int64(0, 5).reshape(1, 1, 2)], 12, {"kernel_shape": [3], "strides": [3]}),
    ("GlobalMaxPool", [PLANE], [f32([[[[NAN]]]])], 1, {}), ("GlobalAveragePool", [PLANE], [f32([[[[NAN]]]])], 1, {}),
    ("ScatterElements", [f32([1, NAN, 3]), int64(0, 1, 2), f32([NAN, 5, 7])], [f32([NAN, NAN, 7])], 18, {"reduction": "max"}),
    ("DynamicQuantizeLinear", [ZEROS], [np.zeros(3, "uint8"), f32(1 / 255), np.uint8(0)], 11, {}),
    ("DynamicQuantizeLinear", [f32([-2, -1])], [np.array([0, 128], "uint8"), f32(2 / 255), np.uint8(255)], 11, {}),
    ("DynamicQuantizeLinear", [f32([2, 2])], [np.array([255, 255], "uint8"), f32(2 / 255), np.uint8(0)], 11, {}),
    ("QuantizeLinear", [f32([INF, -INF, -0.0]), f32(1), np.int8(0)], [np.array([127, -128, 0], "int8")], 13, {}),
    ("LpNormalization", [f32([[3, 4]])], [f32([[0.6, 0.8]])], 1, {}),
]


@pytest.mark.parametrize("case", TABLE, ids=["%d-%s-%d" % (i, case[0], case[3]) for i, case in enumerate(TABLE)])
def test_special(tmp_path, case):
    result = run(tmp_path, *case)
    assert result.returncode == 0, result.stdout + result.stderr
