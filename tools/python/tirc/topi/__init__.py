"""tirc.topi: the operators as functions of te's tensors, by the reference's names. Each is the library's operator
(`tirc operator`), which `tirc operator NAME` prints; what it asks of shapes it asks here, too."""

from .. import _operators
from . import nn, utils


def cast(x, dtype):
    return _operators.call("astype", x, str(dtype))


def concatenate(a_tuple, axis=0):
    return _operators.call("concat", list(a_tuple), axis)


def transpose(a, axes=None):
    return _operators.call("permute_dims", a, axes)


def expand_dims(a, axis, num_newaxis=1):
    for i in range(num_newaxis):
        a = _operators.call("expand_dims", a, axis + i if axis >= 0 else axis)
    return a


def matmul(a, b, transp_a=False, transp_b=False):
    return nn.matmul(a, b, transpose_a=transp_a, transpose_b=transp_b)


def reshape(a, newshape):
    return _operators.call("reshape", a, tuple(newshape))


def split(ary, indices_or_sections, axis=0):
    parts = _operators.call("split", ary, indices_or_sections, axis)
    return list(parts)


def strided_slice(a, begin, end, strides=None, axes=None, slice_mode="end"):
    if slice_mode != "end":
        raise ValueError("a slice goes up to an end, and not by %r" % (slice_mode,))
    axes = list(range(len(begin))) if axes is None else list(axes)
    return _operators.call("strided_slice", a, axes, list(begin), list(end), None if strides is None else list(strides))


def take(a, indices, axis=None, batch_dims=0, mode="clip"):
    if batch_dims:
        raise ValueError("take has no batch_dims")
    return _operators.call("take", a, indices, axis, mode)


def gather(data, axis, indices):
    return _operators.call("gather_elements", data, indices, axis)


def arange(start, stop=None, step=1, dtype="float32"):
    return _operators.call("arange", start, stop, step, dtype)


def full(shape, dtype, fill_value):
    return _operators.call("full", tuple(shape), fill_value, dtype)


def trilu(data, k, upper):
    return _operators.call("triu" if upper else "tril", data, k)


def argmax(data, axis=None, keepdims=False, select_last_index=False):
    return _arg("argmax", data, axis, keepdims, select_last_index)


def argmin(data, axis=None, keepdims=False, select_last_index=False):
    return _arg("argmin", data, axis, keepdims, select_last_index)


def _arg(name, data, axis, keepdims, last):
    if last:
        raise ValueError("%s gives the first of those that are the same" % name)
    return _operators.call(name, data, axis, keepdims)


def __getattr__(name):
    if name in _operators.table() and not name.startswith("_"):
        return _function(name)
    from .. import _doors
    return _doors.missing("tirc.topi", name)


def _function(name):
    def function(*args, **keywords):
        return _operators.call(name, *args, **keywords)

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = "The operator R.%s; `tirc operator %s` says what it takes." % (name, name)
    return function


def __dir__():
    return sorted({n for n in globals() if not n.startswith("_")} | {n for n in _operators.table() if "." not in n})
