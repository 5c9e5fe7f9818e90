"""te: tensor expressions, with the names of tvm.te.

    A = te.placeholder((n, 64), name="A")
    B = te.placeholder((64, 32), name="B")
    k = te.reduce_axis((0, 64), name="k")
    C = te.compute((n, 32), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    func = te.create_prim_func([A, B, C])

Everything is done by the library, as in a schedule script; functions of Python are called with expressions.
"""

__path__ = []  # what is imported below it is asked for by name

import inspect
import itertools
import threading
import weakref
from ctypes import byref

from . import _doors, _lib
from ._errors import TVMError
from ._lib import Value
from ._module import PrimFunc, parse
from ._values import Deferred, ExprRV, Object, Typed, inward, outward

_EMPTY = "@I.ir_module\nclass Module:\n    pass\n"
_numbers = itertools.count()
_lock = threading.Lock()
_current = lambda: None  # the owner of what there is now; it goes with the last tensor


class Tensor(Object):
    """A tensor: shape, dtype, ndim, name; x[i, j] is an element."""

    def __getitem__(self, index):
        out, keep = Value(), []
        at = inward(self._owner, index, keep)
        with self._owner.lock:
            self._owner.place()
            _lib.call("schedule_operator", self._owner.pointer, b"[]", byref(self._handle), byref(at), byref(out))
        return outward(self._owner, out)

    def __call__(self, *indices):
        return self[indices]

    def __neg__(self):
        return _operator("negative", self)


def _operator(name, *args):
    from . import _operators
    return _operators.call(name, *args)


def _elementwise(method, name):
    def forward(self, other):
        return _operator(name, self, other)

    def backward(self, other):
        return _operator(name, other, self)

    setattr(Tensor, "__%s__" % method, forward)
    setattr(Tensor, "__r%s__" % method, backward)


for _method, _name in (("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("floordiv", "floor_divide"), ("mod", "floor_mod")):
    _elementwise(_method, _name)

Typed.classes["Tensor"] = Tensor


def _owners(values):
    for x in values:
        if isinstance(x, Object):
            yield x._owner
        elif isinstance(x, (list, tuple)):
            yield from _owners(x)


def _owner(*values):
    """That of the first tensor or expression among the values; otherwise that of all others there are."""
    global _current
    for owner in _owners(values):
        return owner
    with _lock:
        owner = _current()
        if owner is None:
            from ._schedule import Schedule
            owner = Schedule(parse(_EMPTY))._owner
            _current = weakref.ref(owner)
        return owner


def _script(text):
    v = Value()
    v.kind, v.u.s = _lib.SCRIPT, text.encode()
    return v


def _call(function, *args, **keywords):
    return _owner(args, list(keywords.values())).method(_script("te"), function, args, keywords)


def _axis_names(function, n):
    """As the function calls its indices; what *i takes is i0, i1 ..."""
    parameters = inspect.signature(function).parameters.values()
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = [p.name for p in parameters if p.kind == p.VAR_POSITIONAL]
    if len(named) > n or (len(named) < n and not rest):
        raise TypeError("the function takes %d indices, but the shape has %d dimensions" % (len(named), n))
    return named + ["%s%d" % (rest[0], i) for i in range(len(named), n)] if rest else named


def placeholder(shape, dtype="float32", name="placeholder"):
    return _call("placeholder", shape, dtype, name)


def compute(shape, fcompute, name="compute"):
    shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    return _call("compute", shape, fcompute, name=name, axis_names=_axis_names(fcompute, len(shape)))


def reduce_axis(dom, name="rv"):
    """What a sum runs over: reduce_axis((0, 64), name="k")."""
    made = _call("reduce_axis", dom, name=name)
    made._is_axis = True
    return made


def comm_reducer(fcombine, fidentity, name="reduce"):
    """A reduction of your own: call it with an expression, or a tuple of expressions, and the axis."""
    def reducer(expr, axis):
        owner, keep = _owner([expr, axis]), []  # the functions live until the reduction is made
        functions = [Object(owner, inward(owner, f, keep)) for f in (fcombine, fidentity)]
        made = owner.method(_script("te"), "comm_reducer", (*functions, name), {})
        reduction = owner.method(made._handle, "__call__", (expr, axis), {})
        del keep
        return reduction
    return reducer


def create_prim_func(ops):
    """The function of these tensors: placeholders, and what is computed from them."""
    made = _call("create_prim_func", list(ops) if isinstance(ops, (list, tuple)) else [ops])
    return parse(str(made))["main"]


def indexdiv(a, b):
    """The quotient of indices, which are not negative."""
    return a // b


def indexmod(a, b):
    return a % b


def extern_primfunc(input_tensors, primfunc):
    """Calls a prim_func on these tensors; its results are its last parameters."""
    if not isinstance(primfunc, PrimFunc):
        raise TypeError("a function with @T.prim_func is called, not a %s" % type(primfunc).__name__)
    owner, name = _owner(input_tensors), "primfunc_%d" % next(_numbers)
    data = primfunc.script_as(name).encode()
    with owner.lock, owner.listener:
        _lib.call("schedule_run", owner.pointer, data, len(data), b"<primfunc>")
    return owner.method(_script("te"), "extern_primfunc", (list(input_tensors), Deferred(name)), {})


def _of_axis_or_two(name, of_two):
    def reduce(expr, axis, **keywords):
        if isinstance(axis, (int, float)) or isinstance(axis, ExprRV) and not getattr(axis, "_is_axis", False):
            return of_two(expr, axis)  # te.max(x, 0)
        return _call(name, expr, axis, **keywords)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = "The %s over axes: te.%s(A[i, k], axis=k); or of two numbers." % (
        {"sum": "sum", "max": "greatest", "min": "least"}[name], name)
    return reduce


def _named(name):
    from ._names import find
    return find("tirc.te", name)


sum = _of_axis_or_two("sum", lambda a, b: a + b)
max = _of_axis_or_two("max", lambda a, b: _named("max")(a, b))
min = _of_axis_or_two("min", lambda a, b: _named("min")(a, b))


def __getattr__(name):
    """te.sum, te.reduce_axis, te.exp ...: as scripts have them."""
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        _owner().attribute(_script("te"), name)
    except TVMError as e:
        use = _doors.INSTEAD.get("te." + name)
        raise AttributeError(e.message + ("; use instead: " + use if use else "")) from None
    return lambda *args, **keywords: _call(name, *args, **keywords)


__all__ = ["ExprRV", "Tensor", "comm_reducer", "compute", "create_prim_func", "extern_primfunc", "indexdiv", "indexmod", "max", "min",
           "placeholder", "reduce_axis", "sum"]
