"""Structural equality of views of programs: statements and expressions, part by part."""

from ._values import Object
from .tir.stmt_functor import _LEAVES, _parts


def difference(a, b, map_free_vars):
    """The first difference in words; None: there is none."""
    return _Pairs(map_free_vars).differ(a, b)


class _Pairs:
    """Which variables and buffers of one are which of the other."""

    def __init__(self, map_free_vars):
        self.free, self.there, self.back = map_free_vars, {}, {}

    def differ(self, a, b):
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            if len(a) != len(b):
                return "%d parts and %d" % (len(a), len(b))
            return next((d for d in map(self.differ, a, b) if d), None)
        if not isinstance(a, Object) or not isinstance(b, Object):
            return None if type(a) is type(b) and a == b else "%s and %s" % (a, b)
        if type(a).__name__ != type(b).__name__:
            return "a %s and a %s" % (type(a).__name__, type(b).__name__)
        if type(a).__name__ in _LEAVES:
            return self.leaves(a, b)
        self.defined(a, b)
        for n in _WORDS.get(type(a).__name__, ()):
            x, y = (str(getattr(v, n, "")) for v in (a, b))
            if x != y:
                return "%s and %s" % (x, y)
        if type(a).__name__ in ("BufferLoad", "BufferStore", "BufferRegion"):
            words = self.leaves(a.buffer, b.buffer)
            if words:
                return words
        return self.differ(list(_parts(a)), list(_parts(b)))

    def defined(self, a, b):
        """What a statement makes may have any name."""
        name = _MAKES.get(type(a).__name__)
        made = [(getattr(x, name) if name else ()) for x in (a, b)]
        for x, y in zip(*(m if isinstance(m, (list, tuple)) else [m] for m in made)):
            self.pair(x, y)

    def pair(self, a, b):
        self.there[_key(a)], self.back[_key(b)] = _key(b), _key(a)

    def leaves(self, a, b):
        kind = type(a).__name__
        if kind not in ("Var", "Buffer"):
            return None if str(a) == str(b) else "%s and %s" % (a, b)
        if _key(a) in self.there or _key(b) in self.back:
            same = self.there.get(_key(a)) == _key(b) and self.back.get(_key(b)) == _key(a)
            return None if same else "%s and %s" % (a, b)
        if _key(a) == _key(b):
            return None
        if not self.free or str(a.dtype) != str(b.dtype):
            return "%s and %s, which nothing in them makes" % (a, b)
        self.pair(a, b)
        return None


_WORDS = {"For": ("kind", "thread_binding"), "Block": ("annotations",), "Cast": ("dtype",), "Call": ("op",), "AttrStmt": ("attr_key",)}
_MAKES = {"For": "loop_var", "LetStmt": "var", "IterVar": "var", "Block": "alloc_buffers", "DeclBuffer": "buffer", "Allocate": "buffer_var"}


def _key(x):
    return x._handle.owner, x._handle.u.handle
