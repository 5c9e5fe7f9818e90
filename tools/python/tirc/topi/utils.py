"""tirc.topi.utils: numbers of extents."""


def get_const_int(expr):
    """The number of an expression; an error where only the run knows it."""
    try:
        return int(getattr(expr, "value", expr))
    except (TypeError, ValueError, AttributeError):
        raise ValueError("%s is no number" % (expr,)) from None


def get_const_tuple(in_tuple):
    """Numbers, where extents have them; what only the run tells stays as it is."""
    out = []
    for extent in in_tuple:
        try:
            out.append(get_const_int(extent))
        except ValueError:
            out.append(extent)
    return tuple(out)


__all__ = ["get_const_int", "get_const_tuple"]
