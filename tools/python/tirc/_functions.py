"""Functions of Python by names: register_func and get_global_func. Graphs call them by R.call_dps_packed."""

_registered = {}


def register_func(name, function=None, override=False):
    """Registers a function under a name; a decorator where it is not given."""
    if callable(name):
        return register_func(name.__name__, name, override)

    def put(f):
        if name in _registered and not override:
            raise ValueError("the function %s is registered already; override=True puts another one in its place" % name)
        _registered[name] = f
        return f
    return put if function is None else put(function)


def get_global_func(name, allow_missing=False):
    """The function of a name; None, or an error, where there is none."""
    if name in _registered:
        return _registered[name]
    if allow_missing:
        return None
    raise ValueError("no function is registered as %r: register_func(%r, f) does that" % (name, name))
