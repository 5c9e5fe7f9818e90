"""tirc.relax.expr_functor: walks over the values of graphs, and graphs whose values are made anew one by one.

    class Gelu(relax.PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            return relax.op.nn.gelu(call.args[0]) if call.op.name == "relax.nn.relu" else call

    gelu = Gelu(mod)
    gelu.builder_.update_func("main", gelu.visit_expr(mod["main"]))
    mod = gelu.builder_.get()
"""

from .._module import GlobalVar, Graph
from .._values import Op
from ._views import DataflowBlock, SeqExpr, _Reader
from .block_builder import BlockBuilder, _Function
from .expr import Call, Constant, DataflowVar, Expr, ShapeExpr, Tuple, TupleGetItem, Var

# the method of each kind, the first that fits
_VISITS = ((Graph, "visit_function_"), (SeqExpr, "visit_seq_expr_"), (DataflowVar, "visit_dataflow_var_"), (Var, "visit_var_"),
           (Call, "visit_call_"), (Constant, "visit_constant_"), (Tuple, "visit_tuple_"), (TupleGetItem, "visit_tuple_getitem_"),
           (ShapeExpr, "visit_shape_expr_"), (GlobalVar, "visit_global_var_"), (Op, "visit_op_"), (str, "visit_string_imm_"))


def _parts(expr):
    """The values that a value is made of."""
    if isinstance(expr, Call):
        return [expr.op, *expr.args] if isinstance(expr.op, GlobalVar) else expr.args
    return expr.fields if isinstance(expr, Tuple) else [expr.tuple_value] if isinstance(expr, TupleGetItem) else []


def _of_parts(expr, parts):
    """The same of other values."""
    if isinstance(expr, Call):
        return Call(expr.op, parts, expr.attrs, expr.sinfo_args) if not isinstance(expr.op, GlobalVar) else Call(*parts[:1], parts[1:], expr.attrs)
    return Tuple(parts) if isinstance(expr, Tuple) else TupleGetItem(parts[0], expr.index)


class _Functor:
    """visit_expr calls the method of a value's kind, visit_call_ of a call; one that a class does not have is visit_parts."""

    def visit_expr(self, expr):
        name = next((name for kind, name in _VISITS if isinstance(expr, kind)), None)
        return getattr(self, name)(expr) if name else expr

    def visit_parts(self, expr):
        raise NotImplementedError

    def _visit(self, expr):
        return self.visit_parts(expr)

    visit_call_ = visit_constant_ = visit_tuple_ = visit_tuple_getitem_ = visit_shape_expr_ = _visit
    visit_global_var_ = visit_op_ = visit_string_imm_ = visit_var_ = _visit

    def visit_dataflow_var_(self, var):
        return self.visit_var_(var)

    def visit_binding_block(self, block):
        return self.visit_dataflow_block_(block) if isinstance(block, DataflowBlock) else self.visit_binding_block_(block)

    def visit_binding_block_(self, block):
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_dataflow_block_(self, block):
        self.visit_binding_block_(block)

    def visit_binding(self, binding):
        return self.visit_var_binding_(binding)

    def visit_var_def(self, var):
        """A parameter, or what a binding binds; what stands for it in the new graph. A binding's Var gives its name, and the value the type."""
        return var


class PyExprVisitor(_Functor):
    """Visits the values of a graph in their order: PyExprVisitor().visit_expr(mod["main"])."""

    def visit_parts(self, expr):
        for part in _parts(expr):
            self.visit_expr(part)

    def visit_function_(self, f):
        for p in f.params:
            self.visit_var_def(p)
        self.visit_expr(f.body)

    def visit_seq_expr_(self, seq):
        for block in seq.blocks:
            self.visit_binding_block(block)
        self.visit_expr(seq.body)

    def visit_var_binding_(self, binding):
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)


def _key(var):
    """A variable of the graph that is read is known by its name, which no other has there; a new one, whose name it may share, is itself."""
    return str(var) if isinstance(var._builder, _Reader) else var


class PyExprMutator(_Functor):
    """visit_expr of a graph is the graph with what the methods give for its values; builder_ writes it, and has the functions of mod
    and what is put to them, which builder_.get() gives."""

    def __init__(self, mod=None):
        self.builder_ = BlockBuilder(mod)
        self._new, self._bound = {}, {}

    def visit_parts(self, expr):
        parts = _parts(expr)
        made = [self.visit_expr(p) for p in parts]
        return expr if all(a is b for a, b in zip(parts, made)) else _of_parts(expr, made)

    visit_expr_post_order = visit_parts  # a value whose parts are visited, and not itself

    def visit_var_(self, var):
        return self._new.get(_key(var), var)

    def set_var_remap(self, var, new):
        """What stands for a variable from now on."""
        self._new[_key(var)] = new

    def get_var_remap(self, var):
        return self._new[_key(var)]

    def lookup_binding(self, var):
        """What a variable of the new graph was bound to; None: it is a parameter."""
        return self._bound.get(str(var))

    def visit_function_(self, f):
        view, bb = f.view, self.builder_
        made = _Function(f.name, view.params, view.attrs, view.decorator)
        body = view.body  # which tells of extents, too
        bb._variables.update(view.variables)
        self._new, self._bound = {}, {}
        with bb.writes(made):
            bb.set_params([self._param(p) for p in view.params])
            bb.emit_func_output(self.visit_expr(body))
        return bb.graph(made)

    def _param(self, var):
        """The new graph's parameter in the place of this one."""
        new = self.visit_var_def(var)
        if not isinstance(new, Var):
            raise TypeError("visit_var_def gives a Var for the parameter %s, not %r" % (var, new))
        self.set_var_remap(var, new)
        return new

    def visit_seq_expr_(self, seq):
        for block in seq.blocks:
            self.visit_binding_block(block)
        return self.visit_expr(seq.body)

    def visit_dataflow_block_(self, block):
        with self.builder_.dataflow():
            self.visit_binding_block_(block)

    def visit_var_binding_(self, binding):
        value, var = self.visit_expr(binding.value), self.visit_var_def(binding.var)
        emit = self.builder_.emit if isinstance(var, DataflowVar) or not self.builder_.current_block_is_dataflow() else self.builder_.emit_output
        out = emit(value, str(var))
        if value is binding.value:
            out.__dict__["_info"] = var._info
        self._bound[str(out)] = value
        self.set_var_remap(binding.var, out)


def visitor(cls):
    """The decorator of a class of visitors, which needs none here."""
    return cls


mutator = visitor

__all__ = ["PyExprMutator", "PyExprVisitor", "mutator", "visitor"]
