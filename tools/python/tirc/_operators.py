"""The operators of graphs, called with tensors of te: each is the function of a script of the library's."""

import functools

from . import _lib, te

_PLACE = b"<operators>/python.sch"  # as if the text stood beside them


def _run(owner, text):
    data = text.encode()
    with owner.lock, owner.listener:
        _lib.call("schedule_run", owner.pointer, data, len(data), _PLACE)


@functools.lru_cache(maxsize=None)
def table():
    """{"nn.relu": "activations.relu"}: where each is."""
    owner = te._owner()
    _run(owner, "from table import operators as operators_table\n")
    return owner.method(te._script("lambda: operators_table"), "__call__", (), {})


def call(name, *args, **keywords):
    """The tensors that an operator makes of these: call("nn.softmax", x, axis=-1)."""
    file, _, function = table()[name].partition(".")
    owner, alias = te._owner(args, list(keywords.values())), "operator_" + name.replace(".", "_")
    known = owner.__dict__.setdefault("operators", set())
    if name not in known:
        _run(owner, "from %s import %s as %s\n" % (file, function, alias))
        known.add(name)
    return owner.method(te._script(alias), "__call__", args, keywords)
