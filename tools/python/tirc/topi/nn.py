"""tirc.topi.nn: operators of networks, by the reference's names and parameters."""

from .. import _operators


def dense(data, weight, bias=None, out_dtype=None):
    """data times the transposed weight."""
    return _operators.call("linear", data, weight, bias, out_dtype)


def matmul(tensor_a, tensor_b, bias=None, out_dtype=None, transpose_a=False, transpose_b=False):
    if transpose_a:
        tensor_a = _turned(tensor_a)
    out = _operators.call("nt_matmul" if transpose_b else "matmul", tensor_a, tensor_b, out_dtype)
    return out if bias is None else _operators.call("add", out, bias)


def batch_matmul(tensor_a, tensor_b, oshape=None, out_dtype=None, transpose_a=False, transpose_b=True):
    if oshape is not None:
        raise ValueError("the shape of a product follows from its operands'")
    return matmul(tensor_a, tensor_b, None, out_dtype, transpose_a, transpose_b)


def _turned(x):
    return _operators.call("permute_dims", x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def conv2d(data, kernel, strides, padding, dilation, data_layout="NCHW", kernel_layout="", out_dtype=None):
    usual = {"NCHW": "OIHW", "NHWC": "HWIO"}.get(data_layout, "OIHW")
    return _operators.call("nn.conv2d", data, kernel, strides, padding, dilation, data_layout=data_layout,
                           kernel_layout=kernel_layout or usual, out_layout=data_layout, out_dtype=out_dtype)


def conv2d_nchw(Input, Filter, stride, padding, dilation, out_dtype=None):
    return conv2d(Input, Filter, stride, padding, dilation, "NCHW", "OIHW", out_dtype)


def conv2d_nhwc(Input, Filter, stride, padding, dilation, out_dtype=None):
    return conv2d(Input, Filter, stride, padding, dilation, "NHWC", "HWIO", out_dtype)


def group_conv2d_nchw(Input, Filter, stride, padding, dilation, groups, out_dtype=None):
    return _operators.call("nn.conv2d", Input, Filter, stride, padding, dilation, groups, out_dtype=out_dtype)


def depthwise_conv2d_nchw(Input, Filter, stride, padding, dilation, out_dtype=None):
    """Filter is (channels, multiplier, rows, columns)."""
    channels, multiplier, rows, columns = Filter.shape
    filters = _operators.call("reshape", Filter, (channels * multiplier, 1, rows, columns))
    return group_conv2d_nchw(Input, filters, stride, padding, dilation, channels, out_dtype)


def conv2d_transpose_nchw(Input, Filter, strides, padding, out_dtype=None, output_padding=0):
    return _operators.call("nn.conv2d_transpose", Input, Filter, strides, padding, output_padding, out_dtype=out_dtype)


def pad(data, pad_before, pad_after=None, pad_value=0.0):
    after = pad_before if pad_after is None else pad_after
    return _operators.call("nn.pad", data, [x for pair in zip(pad_before, after) for x in pair], "constant", pad_value)


def pool2d(data, kernel, stride, dilation, padding, pool_type, ceil_mode=False, layout="NCHW", count_include_pad=True):
    kinds = {"max": "nn.max_pool2d", "avg": "nn.avg_pool2d"}
    if pool_type not in kinds:
        raise ValueError("pool_type is max or avg, not %r" % (pool_type,))
    more = {} if pool_type == "max" else {"count_include_pad": count_include_pad}
    return _operators.call(kinds[pool_type], data, kernel, stride, padding, dilation, ceil_mode, layout=layout, out_layout=layout, **more)


def global_pool(data, pool_type, layout="NCHW"):
    axes = [layout.index("H"), layout.index("W")]
    if pool_type not in ("max", "avg"):
        raise ValueError("pool_type is max or avg, not %r" % (pool_type,))
    return _operators.call("max" if pool_type == "max" else "mean", data, axes, True)


def adaptive_pool(data, output_size, pool_type, layout="NCHW"):
    if pool_type not in ("max", "avg"):
        raise ValueError("pool_type is max or avg, not %r" % (pool_type,))
    return _operators.call("nn.adaptive_%s_pool2d" % pool_type, data, output_size, layout)


def leaky_relu(t, alpha):
    return _operators.call("nn.leakyrelu", t, alpha)


def flatten(data):
    """Joins all dimensions except the first."""
    columns = 1
    for extent in data.shape[1:]:
        columns = columns * extent
    return _operators.call("reshape", data, (data.shape[0], columns))


def bias_add(data, bias, axis=1):
    rank = data.ndim - (axis + data.ndim if axis < 0 else axis) - 1
    return _operators.call("add", data, _operators.call("reshape", bias, (bias.shape[0],) + (1,) * rank))


def layer_norm(data, gamma, beta, axis, epsilon=1e-5):
    return _operators.call("nn.layer_norm", data, gamma, beta, axis, epsilon)


def rms_norm(data, weight, axis, epsilon=1e-5):
    return _operators.call("nn.rms_norm", data, weight, axis, epsilon)


def scale_shift_nchw(Input, Scale, Shift):
    each = lambda x: _operators.call("reshape", x, (x.shape[0], 1, 1))
    return _operators.call("add", _operators.call("multiply", Input, each(Scale)), each(Shift))


def __getattr__(name):
    if "nn." + name in _operators.table():
        from . import _function
        return _function("nn." + name)
    if name in ("sigmoid", "tanh"):
        from . import _function
        return _function(name)
    from .. import _doors
    return _doors.missing("tirc.topi.nn", name)


def __dir__():
    return sorted({n for n in globals() if not n.startswith("_")} | {n[3:] for n in _operators.table() if n.startswith("nn.")})
