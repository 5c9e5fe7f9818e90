"""tirc.relax.op: the operators of graphs as functions of their values: op.nn.relu(op.matmul(x, w)). `tirc operator` lists them."""

from .._operators import table
from .._values import Op
from .expr import Call


class _Operator:
    """An operator, or the name of a group of them: nn."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return _member("%s.%s" % (self._name, name))

    def __call__(self, *args, **keywords):
        return Call(Op("relax." + self._name), args, keywords)

    def __repr__(self):
        return "R." + self._name


def _member(name):
    known = table()
    if name in known or any(n.startswith(name + ".") for n in known):
        return _Operator(name)
    import difflib
    near = difflib.get_close_matches(name, known, 1)
    raise AttributeError("there is no operator R.%s%s" % (name, "; did you mean R.%s?" % near[0] if near else ": `tirc operator` lists them"))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("call_tir", "call_dps_packed"):
        from . import block_builder
        return getattr(block_builder, name)
    return _member(name)


def __dir__():
    return sorted({n.partition(".")[0] for n in table()})
