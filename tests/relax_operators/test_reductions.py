import numpy as np
import pytest
from harness import check, floats, ints, refused, symbolic

AXES = [((4, 5), None), ((4, 5), 0), ((4, 5), -1), ((3, 4, 5), [0, 2]), ((3, 4, 5), [-2]), ((7,), 0), ((), None), ((2, 1, 3, 4, 2), [1, 3]),
        ((1, 1), None), ((33, 70), 1), ((0, 5), 1), ((2, 3), [])]
FUNCTIONS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean, "variance": np.var, "std": np.std}


def _axis(axis):
    return tuple(axis) if isinstance(axis, list) else axis


def _softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reduce(name, keepdims):
    for shape, axis in AXES if name == "sum" else AXES[2:6]:
        x = floats(*shape, low=0.5, high=1.5)
        want = np.asarray(FUNCTIONS[name](x.astype("float64"), axis=_axis(axis), keepdims=keepdims)).astype("float32")
        check(name, [x], want, axis=axis, keepdims=keepdims)


def test_types():
    x = floats(6, 40, low=0, high=1, dtype="float16")
    check("sum", [x], x.astype("float64").sum(1).astype("float16"), axis=1)
    check("mean", [x], x.astype("float64").mean(1).astype("float16"), axis=1)
    i = ints(6, 9)
    check("sum", [i], i.sum(1).astype("int32"), axis=1)
    check("max", [i], i.max(1), axis=1)
    check("sum", [i.astype("int64")], i.sum(0), axis=0)
    check("min", [i.astype("int8")], i.min(0).astype("int8"), axis=0)


def test_infinities():
    x = np.full((3, 5), -np.inf, dtype="float32")
    x[1, 2] = 4
    check("max", [x], x.max(1), axis=1)
    check("min", [-x], (-x).min(1), axis=1)
    check("nn.softmax", [x[1:2].copy()], np.array([[0, 0, 1, 0, 0]], "float32"))


def test_of_nothing():
    x = floats(3, 0)
    check("sum", [x], x.sum(1), axis=1)
    check("prod", [x], x.prod(1), axis=1)
    refused("max", [x], "no elements", "(3, 0)", axis=1)
    refused("argmax", [x], "no elements", axis=1)


@pytest.mark.parametrize("name,f", [("argmax", np.argmax), ("argmin", np.argmin)])
def test_arg(name, f):
    for shape, axis in [((4, 5), 1), ((4, 5), 0), ((7,), 0), ((3, 4, 5), -2), ((1, 1), 1), ((4, 6), None), ((17, 40), 1)]:
        x = ints(*shape, low=-3, high=3).astype("float32")
        check(name, [x], np.asarray(f(x, axis=axis)), axis=axis)
        check(name, [x], np.asarray(f(x, axis=axis, keepdims=True)), axis=axis, keepdims=True)
    x = np.full((2, 4), -np.inf, dtype="float32")
    check("argmax", [x], np.zeros(2, "int64"), axis=1)
    i = ints(5, 6)
    check(name, [i], f(i, axis=1), axis=1)
    check(name, [np.float32(3)], np.int64(0))


@pytest.mark.parametrize("shape,axis", [((4, 5), -1), ((4, 5), 0), ((2, 3, 4, 7), 1), ((9,), 0), ((1, 1), 1), ((3, 1000), -1), ((0, 4), 1)])
def test_softmax(shape, axis):
    x = floats(*shape, low=-9, high=9)
    y = _softmax(x.astype("float64"), axis) if x.size else x
    check("nn.softmax", [x], y.astype("float32"), axis=axis)
    check("nn.log_softmax", [x], np.log(y).astype("float32"), axis=axis)


def test_softmax_half():
    x = floats(4, 50, dtype="float16")
    check("nn.softmax", [x], _softmax(x.astype("float64"), -1).astype("float16"))
    check("nn.log_softmax", [x], np.log(_softmax(x.astype("float64"), -1)).astype("float16"))


def test_symbolic():
    def softmax(n):
        x = floats(n, 12)
        return [x], _softmax(x, -1)
    symbolic("nn.softmax", 3, "n", [1, 3, 8], softmax)
    def along(n):
        x = floats(4, n)
        return [x], x.mean(1)
    symbolic("mean", 3, "n", [1, 3, 8, 33], along, axis=1)


def test_refused():
    refused("sum", [floats(4, 5)], "axis 2", "2 dimensions", axis=2)
    refused("sum", [floats(4, 5)], "axis 0", "twice", axis=[0, -2])
    refused("mean", [ints(4)], "int32")
    refused("nn.softmax", [floats()], "axis -1", "0 dimensions")
    refused("argmax", [floats(4, 5)], "axis -3", axis=-3)


# --- normalisations ----------------------------------------------------------------------------------

def _norm(x, axes, epsilon):
    x = x.astype("float64")
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


@pytest.mark.parametrize("shape,axes", [((4, 10), [-1]), ((2, 3, 8), [1, 2]), ((5,), [0]), ((2, 3, 1), [-1]), ((2, 2, 3, 4, 5), [2, 4])])
def test_layer_norm(shape, axes):
    x = floats(*shape)
    gamma, beta = floats(*[shape[a] for a in axes]), floats(*[shape[a] for a in axes])
    wide = [shape[d] if d in [a % len(shape) for a in axes] else 1 for d in range(len(shape))]
    n = _norm(x, tuple(axes), 1e-3)
    check("nn.layer_norm", [x, gamma, beta], (n * gamma.reshape(wide) + beta.reshape(wide)).astype("float32"), axes=axes, epsilon=1e-3)
    check("nn.layer_norm", [x, gamma, beta], n.astype("float32"), axes=axes, epsilon=1e-3, center=False, scale=False)
    ms = (x.astype("float64") ** 2).mean(tuple(axes), keepdims=True)
    check("nn.rms_norm", [x, gamma], (x / np.sqrt(ms + 1e-5) * gamma.reshape(wide)).astype("float32"), axes=axes)
    half = (x / 2).astype("float32")  # of which two are x, exactly
    check("nn.add_rms_norm", [half, half, gamma], [(x / np.sqrt(ms + 1e-5) * gamma.reshape(wide)).astype("float32"), x], axes=axes)


def test_layer_norm_half():
    x, gamma, beta = (floats(*s, dtype="float16") for s in [(4, 60), (60,), (60,)])
    check("nn.layer_norm", [x, gamma, beta], (_norm(x, -1, 1e-5) * gamma + beta).astype("float16"), axes=[-1])


@pytest.mark.parametrize("shape,axis", [((2, 3, 4, 5), 1), ((2, 4, 5, 3), 3), ((6, 4), 1), ((1, 1, 1, 1), 1)])
def test_batch_norm(shape, axis):
    x = floats(*shape)
    c = shape[axis]
    gamma, beta, mean, var = floats(c), floats(c), floats(c), floats(c, low=0.5, high=2)
    at = lambda v: v.astype("float64").reshape([c if d == axis else 1 for d in range(len(shape))])
    y = (x - at(mean)) / np.sqrt(at(var) + 1e-5) * at(gamma) + at(beta)
    check("nn.batch_norm", [x, gamma, beta, mean, var], (y.astype("float32"), mean, var), axis=axis)
    axes = tuple(d for d in range(len(shape)) if d != axis)
    m, v = x.astype("float64").mean(axes), x.astype("float64").var(axes)
    y = (x - at(m)) / np.sqrt(at(v) + 1e-5) * at(gamma) + at(beta)
    check("nn.batch_norm", [x, gamma, beta, mean, var],
          (y.astype("float32"), (mean * 0.8 + m * 0.2).astype("float32"), (var * 0.8 + v * 0.2).astype("float32")),
          axis=axis, training=True, momentum=0.2)


@pytest.mark.parametrize("shape,groups", [((2, 6, 4, 5), 3), ((2, 4, 5), 1), ((1, 4, 2, 2), 4), ((3, 8), 2)])
def test_group_norm(shape, groups):
    x = floats(*shape)
    c = shape[1]
    gamma, beta = floats(c), floats(c)
    parts = x.reshape((shape[0], groups, c // groups) + shape[2:])
    n = _norm(parts, tuple(range(2, parts.ndim)), 1e-5).reshape(shape)
    at = [c if d == 1 else 1 for d in range(len(shape))]
    want = (n * gamma.reshape(at) + beta.reshape(at)).astype("float32")
    check("nn.group_norm", [x, gamma, beta], want, num_groups=groups)
    check("nn.group_norm", [x, gamma, beta], want, num_groups=groups, channel_axis=1, axes=list(range(2, len(shape))))


def test_instance_norm():
    x, gamma, beta = floats(2, 3, 4, 5), floats(3), floats(3)
    want = _norm(x, (2, 3), 1e-5) * gamma.reshape(1, 3, 1, 1) + beta.reshape(1, 3, 1, 1)
    check("nn.instance_norm", [x, gamma, beta], want.astype("float32"), axes=[2, 3])


def test_norms_refused():
    refused("nn.layer_norm", [floats(4, 5), floats(4), floats(5)], "gamma", "(4,)", "(5,)")
    refused("nn.batch_norm", [floats(2, 3, 4)] + [floats(3)] * 3 + [floats(4)], "moving_var", "(4,)", "(3,)")
    refused("nn.group_norm", [floats(2, 6, 4), floats(6), floats(6)], "4 groups", "6 channels", num_groups=4)
    refused("nn.rms_norm", [floats(4, 5), floats(5, 1)], "(5, 1)")
    refused("nn.add_rms_norm", [floats(4, 5), floats(1, 5), floats(5)], "(1, 5)", "(4, 5)")


def test_norms_symbolic():
    def case(n):
        x, gamma, beta = floats(n, 5, 16), floats(16), floats(16)
        return [x, gamma, beta], (_norm(x, -1, 1e-5) * gamma + beta).astype("float32")
    symbolic("nn.layer_norm", 3, "n", [1, 3, 8], case)


@pytest.mark.parametrize("shape, to", [((3, 2, 3), (2, 1)), ((2, 3), (1, 3)), ((2, 3), (2, 3)), ((4, 5), ()), ((5,), (1,)), ((2, 0, 3), (1, 3))])
def test_collapse_sum(shape, to):
    x = floats(*shape)
    new = len(shape) - len(to)
    want = x.sum(tuple(range(new)) + tuple(new + d for d, e in enumerate(to) if e == 1), keepdims=True).reshape(to).astype("float32")
    check("collapse_sum_to", [x], want, shape=list(to))
    check("collapse_sum_like", [x, floats(*to)], want)


def test_collapse_sum_refused_and_symbolic():
    refused("collapse_sum_to", [floats(3, 4)], "3 and 2", shape=[2, 4])
    refused("collapse_sum_to", [floats(4)], "fewer axes", shape=[1, 4])

    def case(n):
        x, like = floats(n, 4), floats(1, 4)
        return [x, like], x.sum(0, keepdims=True)
    symbolic("collapse_sum_like", 2, "n", [1, 3, 8], case)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (1, 1), (4, 0)])
def test_cross_entropy_with_logits(shape):
    x, y = floats(*shape), floats(*shape)
    want = -(x * y).sum() / (shape[0] if len(shape) == 2 else 1)
    check("nn.cross_entropy_with_logits", [x, y], np.asarray(want, "float32"))
    refused("nn.cross_entropy_with_logits", [x, floats(7)], "(7,)")
