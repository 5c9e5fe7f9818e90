"""tirc.relax.expr: values of graphs that are being written, as text of the language: Var("x", TensorStructInfo((n, 4), "float32"))."""

import ast
import keyword
import weakref

from .._expand import Piece, literal
from .._module import GlobalVar
from .._values import Deferred, ExprRV, Op


def text_of(value):
    """As a program has it."""
    if isinstance(value, ExprRV):
        return str(value)
    if isinstance(value, GlobalVar):
        return "cls.%s" % value
    if isinstance(value, (list, tuple)):
        return "(%s)" % "".join(text_of(v) + ", " for v in value).rstrip(" ") if value else "R.tuple()"
    text = literal(value)
    if text is None:
        raise TypeError("a graph has no %s: %r" % (type(value).__name__, value))
    return text


class Shape(tuple):
    """Extents; values: as a list."""

    values = property(list)


class TensorStructInfo:
    """The type of a tensor: shape, of numbers and variables, and dtype."""

    def __init__(self, shape=None, dtype="float32", ndim=None):
        if shape is None:
            raise ValueError("a tensor here has a shape: its extents may be variables, tir.Var(\"n\", \"int64\")")
        if ndim is not None and ndim != len(shape):
            raise ValueError("the shape has %d dimensions, not %d" % (len(shape), ndim))
        self.shape, self.dtype = Shape(shape), str(dtype)

    ndim = property(lambda self: len(self.shape))

    def __eq__(self, other):
        return isinstance(other, TensorStructInfo) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def __str__(self):
        extents = "".join("%s, " % (e if isinstance(e, str) else text_of(e)) for e in self.shape)
        return "R.Tensor((%s), dtype=%s)" % (extents[:-1] if len(self.shape) == 1 else extents[:-2], _quoted(self.dtype))

    __repr__ = __str__


def _is_part(node):
    """Of what a type's text may be made: numbers, names, arithmetic, T.int64(4)."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id in ("R", "T") and not node.attr.startswith("_")
    return isinstance(node, _PARTS)


_PARTS = (ast.Call, ast.Name, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.keyword, ast.operator, ast.unaryop,
          ast.expr_context)


def _quoted(text):
    return '"%s"' % text


def info_of(annotation, variables):
    """R.Tensor(("n", 4), "float32"), or such a type, as one; variables: names -> variables."""
    if isinstance(annotation, TensorStructInfo):
        return annotation
    try:
        call = ast.parse(str(annotation).strip(), mode="eval").body
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != "R.Tensor" or not all(map(_is_part, ast.walk(call))):
            raise TypeError
        call.func = ast.Name("make_info", ast.Load())
        code = compile(ast.fix_missing_locations(ast.Expression(call)), "<type>", "eval")
        return eval(code, {"__builtins__": {}}, _Extents(variables))
    except (SyntaxError, TypeError, AttributeError, ValueError):
        raise TypeError("a value of a graph is a tensor: TensorStructInfo((4, 4), \"float32\"), not %s" % (annotation,)) from None


class _Numbers:
    """T.int64(4) in a printed shape."""

    int64 = int32 = int


class _Extents(dict):
    """Names of extents, as the variables that they are."""

    def __init__(self, variables):
        dict.__init__(self, make_info=_info_from(variables), T=_Numbers)
        self._variables = variables

    def __missing__(self, name):
        return variable(name, self._variables)


def variable(name, variables):
    if name not in variables:
        from ..te import var
        variables[name] = var(name, "int64")
    return variables[name]


def _info_from(variables):
    def make(shape, dtype="float32"):
        shape = shape if isinstance(shape, (list, tuple)) else (shape,)
        return TensorStructInfo([variable(e, variables) if isinstance(e, str) and e.isidentifier() else e for e in shape], dtype)
    return make


class Expr(Piece):
    """An expression of a graph, as text; x + y, x[0] and R.add(x, y) make others."""

    def _operate(self, op, a, b):
        name = _OPERATORS.get(op)
        if name is None:
            raise TypeError("a graph has no operator %s" % op)
        return Call(Op("relax." + name), [_operand(a), _operand(b)])

    def __neg__(self):
        return Call(Op("relax.negative"), [self])

    def astype(self, dtype):
        return Call(Op("relax.astype"), [self], {"dtype": str(dtype)})

    def __getattr__(self, name):
        raise AttributeError("a %s has no %s" % (type(self).__name__, name))

    def __getitem__(self, index):
        return TupleGetItem(self, index)

    def __eq__(self, other):
        return self is other

    __hash__ = Deferred.__hash__


_OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "floor_mod", "<": "less", "<=": "less_equal",
              ">": "greater", ">=": "greater_equal"}


def _operand(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return const(value, "float32" if isinstance(value, float) else "int32")


class TupleGetItem(Expr):
    """A field of several values: tuple_value, index."""

    def __init__(self, tuple_value, index):
        Expr.__init__(self, "%s[%d]" % (text_of(tuple_value), index))
        self.__dict__.update(tuple_value=tuple_value, index=index)


class Tuple(Expr):
    """Several values: fields."""

    def __init__(self, fields):
        fields = list(fields)
        Expr.__init__(self, text_of(fields))
        self.__dict__["fields"] = fields


class ShapeExpr(Expr):
    """A shape as a value: values, of numbers and variables."""

    def __init__(self, values):
        values = list(values)
        Expr.__init__(self, "R.shape([%s])" % ", ".join(map(text_of, values)))
        self.__dict__["values"] = values


class Constant(Expr):
    """A constant of the text, as const makes it: data is a tensor, which has bfloat16 as uint16 with the same bits."""

    @property
    def data(self):
        from .._runtime import tensor
        import numpy
        call = _WithoutFloats().visit(ast.parse(self._text, mode="eval").body)
        elements, dtype = map(ast.literal_eval, call.args)
        if dtype != "bfloat16":
            return tensor(numpy.array(elements, dtype))
        bits = numpy.array(elements, "float32")
        whole = bits.view("uint32").astype("uint64")
        rounded = numpy.where(numpy.isnan(bits), 0x7FC00000, whole + 0x7FFF + (whole >> 16 & 1))
        return tensor((rounded >> 16).astype("uint16"))


class _WithoutFloats(ast.NodeTransformer):
    """float("inf") as the number that it is."""

    def visit_Call(self, node):
        self.generic_visit(node)
        is_float = isinstance(node.func, ast.Name) and node.func.id == "float"
        return ast.Constant(float(ast.literal_eval(node.args[0]))) if is_float else node


class Attrs(dict):
    """Arguments of a call by name: attrs["axis"], attrs.axis."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError("the call does not say %s: %s" % (name, ", ".join(self) or "it has values alone"))


class Call(Expr):
    """A call: op, an ir.Op or the GlobalVar of a graph; args; attrs; sinfo_args, the types that it says."""

    def __init__(self, op, args, attrs=None, sinfo_args=None, span=None):
        attrs, sinfo_args = Attrs(attrs or {}), list(sinfo_args or [])
        name = op.name.removeprefix("relax.") if isinstance(op, Op) else None
        given = [text_of(x) for x in args] + ["%s=%s" % (k, text_of(v)) for k, v in attrs.items()]
        if sinfo_args:
            types = ", ".join(map(str, sinfo_args))
            given.append("%s=%s" % ("sinfo_args" if name == "call_pure_packed" else "out_sinfo", types if len(sinfo_args) == 1 else "[%s]" % types))
        Expr.__init__(self, "%s(%s)" % ("R." + name if name else text_of(op), ", ".join(given)))
        self.__dict__.update(op=op, args=list(args), attrs=attrs, sinfo_args=sinfo_args, _info=None)

    @property
    def struct_info(self):
        """Its type; of one that is in no graph yet, as the builder that is writing finds it."""
        if self._info is None and len(self.sinfo_args) == 1:
            self.__dict__["_info"] = info_of(self.sinfo_args[0], {})
        if self._info is None:
            from .block_builder import BlockBuilder
            if BlockBuilder.current() is None:
                raise ValueError("%s is in no graph, which would say its type" % self)
            self.__dict__["_info"] = BlockBuilder.current()._info_of(self)
        return self._info


known = weakref.WeakValueDictionary()  # the last Var of each name that nobody emitted
Expr._made = Expr  # what an operator makes of a Var is none


class Var(Expr):
    """A parameter, or a value that a BlockBuilder has emitted: struct_info is its type."""

    said = None  # the annotation of a parameter of a graph that was read

    def __init__(self, name_hint, struct_info=None, _builder=None):
        if not str(name_hint).isidentifier() or keyword.iskeyword(str(name_hint)):
            raise ValueError("the name of a value is an identifier, not %r" % (name_hint,))
        Deferred.__init__(self, str(name_hint))
        if _builder is None:
            known[str(name_hint)] = self
        self.__dict__.update(name_hint=str(name_hint), _builder=_builder, _info=None if struct_info is None else info_of(struct_info, {}))

    @property
    def struct_info(self):
        if self._info is None:
            if self._builder is None:
                raise ValueError("%s has no type: Var(name, TensorStructInfo(shape, dtype))" % self)
            self.__dict__["_info"] = self._builder._info_of(self)
        return self._info

    @property
    def shape(self):
        return self.struct_info.shape

    @property
    def dtype(self):
        return self.struct_info.dtype


class DataflowVar(Var):
    """A variable that is emitted within `with bb.dataflow():`."""


def const(value, dtype=None):
    """A number, or an array, as a constant."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    if dtype is None:
        kind = getattr(getattr(value, "dtype", None), "name", None)
        dtype = kind or ("float32" if isinstance(value, float) else "bool" if isinstance(value, bool) else "int32")
    elements = value.tolist() if hasattr(value, "tolist") else value
    return Constant("R.const(%s, %s)" % (_elements(elements), dtype._text if isinstance(dtype, Deferred) else _quoted(str(dtype))))


def _elements(value):
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(map(_elements, value))
    text = literal(value)
    if text is None:
        raise TypeError("a constant has no element %r" % (value,))
    return text


__all__ = ["Call", "Constant", "DataflowVar", "Expr", "ShapeExpr", "TensorStructInfo", "Tuple", "TupleGetItem", "Var", "const"]
