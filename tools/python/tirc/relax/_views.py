"""A graph as values: what is computed of what, with types. From its text, as the library prints it."""

import ast
import functools

from .._errors import TVMError
from .._module import GlobalVar
from .._values import Op
from .expr import Call, Constant, DataflowVar, Expr, ShapeExpr, Tuple, TupleGetItem, Var, info_of, variable
from .transform import with_types

_TYPES = ("out_sinfo", "out_ty", "sinfo_args", "ty_args")


class VarBinding:
    """var = value."""

    def __init__(self, var, value):
        self.var, self.value = var, value


class BindingBlock:
    """Values that are computed one after the other: bindings."""

    def __init__(self, bindings):
        self.bindings = bindings


class DataflowBlock(BindingBlock):
    """The same within `with R.dataflow():`, of which only some leave: those that are no DataflowVar."""


class SeqExpr:
    """What a graph does: blocks, and the value that it returns, body."""

    def __init__(self, blocks, body):
        self.blocks, self.body = blocks, body


class _Reader:
    """Values of the text of one graph; it stands for the builder that is asked for types."""

    def __init__(self, f):
        self.variables, self.known = {}, {}
        self.decorator, self.statements = ast.unparse(f.decorator_list[0]), f.body
        self.attrs, self.outputs = _attrs(f.body), {name for block in f.body if isinstance(block, ast.With) for name in _outputs(block)}
        self.params = [self.bound(a.arg, a.annotation) for a in f.args.args]
        for p, a in zip(self.params, f.args.args):
            p.__dict__["said"] = ast.unparse(a.annotation)

    @functools.cached_property
    def body(self):
        return SeqExpr(*self.blocks(self.statements))

    @staticmethod
    def _info_of(var):
        raise ValueError("%s is not a tensor of which all extents are known" % var)

    def bound(self, name, annotation, kind=Var):
        """A variable of this name from now on."""
        self.known[name] = made = kind(name, _builder=self)
        try:
            made.__dict__["_info"] = annotation and info_of(ast.unparse(annotation), self.variables)
        except TypeError:
            pass  # it is asked for
        return made

    def blocks(self, statements):
        out, plain = [], []
        for s in statements:
            if isinstance(s, ast.Return):
                return out + ([BindingBlock(plain)] if plain else []), self.value(s.value)
            if isinstance(s, ast.With):
                out += ([BindingBlock(plain)] if plain else []) + [DataflowBlock([b for t in s.body for b in self.binding(t, True)])]
                plain = []
            else:
                plain += self.binding(s, False)
        raise TVMError("the graph returns nothing", code="type")

    def binding(self, s, in_dataflow):
        if isinstance(s, ast.Expr):  # R.output, R.func_attr
            return []
        if isinstance(s, ast.If):
            raise TVMError("the body of a graph with an `if` cannot be visited: line %d of its text has one" % s.lineno, code="unsupported",
                           hint="put what is to be changed into a graph of its own, which the branch calls")
        target, annotation = (s.target, s.annotation) if isinstance(s, ast.AnnAssign) else (s.targets[0], None)
        text = ast.unparse(s.value)
        if text.endswith("T.int64()"):
            variable(target.id, self.variables)
            return []
        if target.id == "cls":
            return []
        value = self.value(s.value)
        local = in_dataflow and target.id not in self.outputs
        var = self.bound(target.id, annotation, DataflowVar if local else Var)
        if isinstance(value, Call):
            if var._info is None and len(value.sinfo_args) == 1 and not isinstance(value.sinfo_args[0], str):
                var.__dict__["_info"] = value.sinfo_args[0]
            value.__dict__["_info"] = var._info
        return [VarBinding(var, value)]

    def value(self, node):
        if isinstance(node, ast.Name) and node.id in self.known:
            return self.known[node.id]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "cls":
            return GlobalVar(node.attr)
        if isinstance(node, ast.Tuple):
            return Tuple(map(self.value, node.elts))
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return TupleGetItem(self.value(node.value), node.slice.value)
        if isinstance(node, ast.Call):
            return self.call(node, ast.unparse(node.func))
        return self.plain(node)

    def plain(self, node):
        """A value of Python's, or the text of what is none."""
        try:
            return ast.literal_eval(node)
        except ValueError:
            return Expr(ast.unparse(node))

    def call(self, node, name):
        if name == "R.const":
            return Constant(ast.unparse(node))
        if name == "R.shape":
            return ShapeExpr([self.plain(e) for e in node.args[0].elts])
        if name == "R.tuple":
            return Tuple(map(self.value, node.args))
        if name.partition(".")[0] not in ("R", "cls"):
            return Expr(ast.unparse(node))
        types = [k.value for k in node.keywords if k.arg in _TYPES]
        types = types[0].elts if types and isinstance(types[0], (ast.List, ast.Tuple)) else types
        attrs = {k.arg: self.value(k.value) for k in node.keywords if k.arg not in _TYPES}
        op = GlobalVar(name[4:]) if name.startswith("cls.") else Op("relax." + name[2:])
        return Call(op, [self.value(a) for a in node.args], attrs, [self.info(t) for t in types])

    def info(self, node):
        text = ast.unparse(node)
        try:
            return info_of(text, self.variables)
        except TypeError:
            return text


def _attrs(statements):
    said = [s.value.args[0] for s in statements if isinstance(s, ast.Expr) and ast.unparse(s.value.func) == "R.func_attr"]
    return ast.literal_eval(said[0]) if said else {}


def _outputs(block):
    return [a.id for s in block.body if isinstance(s, ast.Expr) and ast.unparse(s.value.func) == "R.output" for a in s.value.args]


def view_of(graph):
    """params, body, attrs, variables of a graph."""
    mod = graph.module
    try:
        mod = with_types(mod)
    except TVMError:  # an operator that refuses what it gets
        pass
    tree = ast.parse(mod.script(dialect="tir"))
    return _Reader(next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == graph.name))


__all__ = ["BindingBlock", "DataflowBlock", "SeqExpr", "VarBinding"]
