"""Values between Python and a schedule: handles, expressions, and things with attributes."""

import ctypes
from ctypes import POINTER, byref

from . import _lib
from ._lib import Value

_CALLABLE = ("primitive", "method", "builtin")


class IntImm(int):
    """An integer of the program; one that was sampled remembers where it comes from."""

    dtype = "int32"
    _handle = None

    def __new__(cls, *args):
        """IntImm(3), or IntImm("int64", 3)."""
        self = super().__new__(cls, args[-1] if args else 0)
        if len(args) == 2:
            self.dtype = str(args[0])
        return self

    @property
    def value(self):
        return int(self)


class Object:
    """A part of a schedule's program: it has the attributes that a schedule script sees."""

    def __init__(self, owner=None, value=None):
        self._owner, self._handle = owner, value

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if self._handle is None:
            raise AttributeError("%s has no %s: it belongs to no schedule" % (type(self).__name__, name))
        out = self._owner.attribute(self._handle, name)
        if out.kind == _lib.OBJECT and out.type.decode() in _CALLABLE:
            return lambda *args, **keywords: self._owner.method(self._handle, name, args, keywords)
        return outward(self._owner, out)

    def _same(self, other):
        if self._handle is None or getattr(other, "_handle", None) is None:
            return self is other
        return (isinstance(other, Object) and self._handle.kind == other._handle.kind
                and self._handle.owner == other._handle.owner
                and self._handle.u.handle == other._handle.u.handle)

    def __eq__(self, other):
        return self._same(other)

    def __hash__(self):
        return id(self) if self._handle is None else hash((self._handle.kind, self._handle.u.handle))

    def __str__(self):
        if self._handle is None:
            return "a %s of no schedule" % type(self).__name__
        with self._owner.lock:
            return _lib.string("schedule_text", self._owner.pointer, byref(self._handle))

    def __repr__(self):
        """For people who look at a list of handles: one that is gone is no error here."""
        from ._errors import TVMError
        try:
            text = str(self)
        except TVMError as error:
            text = "(%s)" % error.message
        return "<%s %s>" % (type(self).__name__, text.strip().partition("\n")[0])


class LoopRV(Object):
    """A handle of a loop."""


class BlockRV(Object):
    """A handle of a block."""


class Buffer(Object):
    """A buffer of the program."""


class Operand:
    """Arithmetic builds expressions, as in a schedule script."""

    def __bool__(self):
        raise TypeError("the value of the expression %s is not known" % self)

    def __neg__(self):
        return 0 - self

    def __ne__(self, other):
        return self._operate("!=", self, other)


def _operator(name, op, swapped=None):
    def forward(self, other):
        return self._operate(op, self, other)

    def backward(self, other):
        return self._operate(op, other, self)

    setattr(Operand, "__%s__" % name, forward)
    if swapped:
        setattr(Operand, "__%s__" % swapped, backward)


for _name, _op in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("floordiv", "//"),
                   ("mod", "%"), ("lshift", "<<"), ("rshift", ">>"), ("and", "&"), ("or", "|"), ("xor", "^")):
    _operator(_name, _op, "r" + _name)
for _name, _op in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    _operator(_name, _op)


_OF_TWO = {"Add": "+", "Sub": "-", "Mul": "*", "FloorDiv": "//", "FloorMod": "%", "EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}

_NAMED = {"Max": "max", "Min": "min", "And": "all", "Or": "any"}  # classes whose functions have other names


class _ExprType(type):
    """tir.Max is the class of a maximum, and tir.Max(a, b) is one."""

    def __call__(cls, *args, **keywords):
        if args and hasattr(args[0], "pointer"):  # an owner: the library's
            return type.__call__(cls, *args, **keywords)
        if cls.__name__ == "Var":
            from .te import var
            return var(*args, **keywords)
        if cls.__name__ in _OF_TWO and len(args) >= 2 and any(isinstance(x, ExprRV) for x in args[:2]):
            return ExprRV._operate(next(x for x in args if isinstance(x, ExprRV)), _OF_TWO[cls.__name__], *args[:2])
        name = _NAMED.get(cls.__name__, cls.__name__) if any(isinstance(x, ExprRV) for x in args) else cls.__name__
        from ._names import find
        return find("tirc.tir", name)(*args, **keywords)


class ExprRV(Operand, Object, metaclass=_ExprType):
    """A symbolic expression, such as an extent or a variable of an index map."""

    def _operate(self, op, a, b):
        keep, out = [], Value()
        x, y = inward(self._owner, a, keep), inward(self._owner, b, keep)
        with self._owner.lock:
            self._owner.place()
            _lib.call("schedule_operator", self._owner.pointer, op.encode(), byref(x), byref(y), byref(out))
        return outward(self._owner, out)

    def __eq__(self, other):
        if isinstance(other, Object):
            return self._same(other)
        return self._operate("==", self, other)

    __hash__ = Object.__hash__


class Deferred(Operand):
    """An expression without a schedule, as text: T.int64(4). The schedule that gets it evaluates it."""

    def __init__(self, text):
        self._text = text

    def _operate(self, op, a, b):
        if isinstance(a, ExprRV) or isinstance(b, ExprRV):
            return ExprRV._operate(a if isinstance(a, ExprRV) else b, op, a, b)
        made = Deferred.made_of(a, b)
        a, b = (x._text if isinstance(x, Deferred) else repr(x) for x in (a, b))
        return made("(%s %s %s)" % (a, op, b))

    @staticmethod
    def made_of(*values):
        """The class of what is made of these: an expression of a program where one is."""
        classes = [getattr(x, "_made", type(x)) for x in values if isinstance(x, Deferred)]
        return next((c for c in classes if c is not Deferred), Deferred)

    def astype(self, dtype):
        return type(self)("%s.astype(%r)" % (self._text, str(dtype)))

    def __str__(self):
        return self._text

    __repr__ = __str__


class Op:
    """An operator by its name: Op.get("relax.nn.relu"). Two of one name are equal."""

    def __init__(self, name):
        self.name = name

    @staticmethod
    def get(op_name):
        from . import _names, _operators
        space, _, name = op_name.partition(".")
        known = {"relax": _operators.table, "tir": _names.of_expressions, "tirx": _names.of_expressions}.get(space, dict)()
        if name not in known and op_name not in _CALLS:
            raise AttributeError("there is no operator %s: `tirc operator` lists those of graphs, relax.NAME here" % op_name)
        return Op(op_name)

    def __eq__(self, other):
        return isinstance(other, Op) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return "Op(%s)" % self.name


_CALLS = ["relax." + name for name in ("call_tir", "call_dps_packed", "call_pure_packed", "match_cast")]


class Range(Object):
    """A range with a start and an extent: Range(0, 4), Range.from_min_extent(2, 4)."""

    def __init__(self, begin=None, end=None):
        if hasattr(begin, "pointer"):  # an owner: the library's
            Object.__init__(self, begin, end)
            return
        Object.__init__(self)
        self.min, self.extent = (0, begin) if end is None else (begin, end - begin)

    @staticmethod
    def from_min_extent(min_value, extent):
        made = Range(0, extent)
        made.min = min_value
        return made

    def __eq__(self, other):
        return isinstance(other, Range) and (self is other or self._same(other) or
                                             (self._handle is None and other._handle is None and (self.min, self.extent) == (other.min, other.extent)))

    def __hash__(self):
        return hash((str(self.min), str(self.extent)))

    def __str__(self):
        return Object.__str__(self) if self._handle is not None else "T.Range(%s, %s)" % (self.min, self.min + self.extent)


class Typed:
    """Classes by the name of the library's type, made when first seen: For, Block, IterVar, ..."""

    classes = {}

    @classmethod
    def named(cls, name, base=Object):
        if name not in cls.classes:
            cls.classes[name] = type(base)(name, (base,), {"__doc__": "A %s of the program." % name})
        return cls.classes[name]


class StmtSRef(Object):
    """A reference to a loop or block; equal to others of the same statement."""

    def __eq__(self, other):
        return isinstance(other, StmtSRef) and self.stmt == other.stmt

    __hash__ = None  # what it refers to changes


Typed.classes["StmtSRef"] = StmtSRef
Typed.classes["Range"] = Range


class ModuleView(Object):
    """The module that a schedule has now, as a view: mod["main"].body."""

    def __getitem__(self, name):
        return self.functions[name]

    def __contains__(self, name):
        return name in self.functions


Typed.classes["IRModule"] = ModuleView


def outward(owner, v):
    """A value that the library gave, as Python's."""
    kind = v.kind
    if kind == _lib.NONE:
        return None
    if kind == _lib.BOOL:
        return v.u.b
    if kind == _lib.INT:
        out = IntImm(v.u.i)
        if v.number:
            out._handle = _copy(v)
        return out
    if kind == _lib.FLOAT:
        return v.u.f
    if kind == _lib.STR:
        return v.u.s.decode("utf-8", "replace")
    if kind in (_lib.LIST, _lib.TUPLE, _lib.DICT):
        items = [outward(owner, v.u.items[i]) for i in range(v.n)]
        if kind == _lib.DICT:
            return dict(zip(items[::2], items[1::2]))
        return items if kind == _lib.LIST else tuple(items)
    if kind == _lib.EXPR:
        return Typed.named(v.type.decode(), ExprRV)(owner, _copy(v))
    plain = {_lib.LOOP: LoopRV, _lib.BLOCK: BlockRV, _lib.BUFFER: Buffer}.get(kind)
    if plain:
        return plain(owner, _copy(v))
    return owner.wrap(v.type.decode(), _copy(v))


def _copy(v):
    out = Value()
    ctypes.memmove(byref(out), byref(v), ctypes.sizeof(Value))
    return out


def _array(values):
    return (Value * max(len(values), 1))(*values)


def _items(owner, v, kind, values, keep):
    array = _array([inward(owner, x, keep) for x in values])
    keep.append(array)
    v.kind, v.n = kind, len(values)
    v.u.items = ctypes.cast(array, POINTER(Value))


def _text(v, kind, text, keep):
    if "\0" in text:
        raise ValueError("a text cannot contain the character 0: %r" % text)
    data = text.encode()
    keep.append(data)
    v.kind, v.u.s = kind, data


def inward(owner, x, keep):
    """x as a value for the library; what has to live until the call is over goes to keep."""
    v = Value()
    if x is None:
        v.kind = _lib.NONE
    elif isinstance(x, ExprRV) and x._owner is not owner and type(x).__name__ in ("IntImm", "FloatImm"):
        _text(v, _lib.SCRIPT, str(x), keep)  # a number, whosever it is
    elif isinstance(x, (Object, IntImm)) and x._handle is not None:
        return x._handle
    elif isinstance(x, Deferred):
        _text(v, _lib.SCRIPT, x._text, keep)
    elif isinstance(x, bool):
        v.kind, v.u.b = _lib.BOOL, x
    elif isinstance(x, str):
        _text(v, _lib.STR, x, keep)
    elif isinstance(x, (list, tuple)):
        _items(owner, v, _lib.LIST if isinstance(x, list) else _lib.TUPLE, x, keep)
    elif isinstance(x, dict):
        _items(owner, v, _lib.DICT, [part for pair in x.items() for part in pair], keep)
    elif isinstance(x, float):
        v.kind, v.u.f = _lib.FLOAT, x
    elif isinstance(x, type):
        raise TypeError("a schedule takes no class (%s)" % x.__name__)
    elif hasattr(x, "__index__") and 2**63 <= x.__index__() < 2**64:
        _text(v, _lib.SCRIPT, str(x.__index__()), keep)  # a uint64
    elif hasattr(x, "__index__"):
        v.kind, v.u.i = _lib.INT, _int64(x.__index__())
    elif hasattr(x, "__float__"):
        v.kind, v.u.f = _lib.FLOAT, float(x)
    elif callable(x):
        return _function(owner, x, keep)
    else:
        raise TypeError("a schedule takes no %s" % type(x).__name__)
    return v


def _int64(i):
    if not -2**63 <= i < 2**63:
        raise OverflowError("%d does not fit into 64 bits" % i)
    return i


def _n_params(function):
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & 0x04 or code.co_kwonlyargcount:  # *args
        return -1
    return code.co_argcount - (1 if hasattr(function, "__self__") else 0)


def _last_by_keyword(function, n):
    """The parameters that only a keyword reaches take the last of n indices, unless the others take them all."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & 0x04 and n <= code.co_argcount - (1 if hasattr(function, "__self__") else 0):
        return ()
    return code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]


def _function(owner, function, keep):
    function = getattr(function, "mapping_function", function)  # of an IndexMap

    def run(_self, _schedule, n, args, result):
        try:
            given = [outward(owner, args[i]) for i in range(n)]
            named = _last_by_keyword(function, n)
            places = max(n - len(named), 0)
            value = function(*given[:places], **dict(zip(named, given[places:])))
            result[0] = inward(owner, value, owner.kept)
            return 0
        except BaseException as e:  # no exception can pass through the library: it is raised after
            owner.failure = owner.failure or e
            return 2

    call = _lib.CALLBACK(run)
    name = getattr(function, "__name__", "function").encode()
    f = _lib.Function(call, None, _n_params(function), name)
    keep += [call, f, name]
    v = Value()
    v.kind, v.u.function = _lib.FUNCTION, ctypes.pointer(f)
    return v


def arguments(owner, args, keywords, keep):
    """What a call takes: n, args, n_keywords, names, values."""
    positional = _array([inward(owner, x, keep) for x in args])
    named = _array([inward(owner, x, keep) for x in keywords.values()])
    names = (ctypes.c_char_p * max(len(keywords), 1))(*[k.encode() for k in keywords])
    return len(args), positional, len(keywords), names, named
