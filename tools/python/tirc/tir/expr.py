"""tirc.tir.expr: expressions, by where the reference keeps them; all are in tirc.tir."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    from .. import tir
    return getattr(tir, name)
