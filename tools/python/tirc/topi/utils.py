"""tirc.topi.utils: numbers of extents."""


def get_const_int(expr):
    """The value of a constant expression; an error if it is known only at run time."""
    try:
        return int(getattr(expr, "value", expr))
    except (TypeError, ValueError, AttributeError):
        raise ValueError("%s is not a number" % (expr,)) from None


def get_const_tuple(in_tuple):
    """Turns constant extents into numbers; extents known only at run time stay as they are."""
    out = []
    for extent in in_tuple:
        try:
            out.append(get_const_int(extent))
        except ValueError:
            out.append(extent)
    return tuple(out)


__all__ = ["get_const_int", "get_const_tuple"]
