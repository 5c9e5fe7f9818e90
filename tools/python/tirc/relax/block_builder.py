"""tirc.relax.block_builder: a graph written call by call. What is emitted is a line of the language's text, which get() reads.

    bb = relax.BlockBuilder()
    x, w = (relax.Var(name, relax.TensorStructInfo((4, 4), "float32")) for name in "xw")
    with bb.function("main", [x, w]):
        with bb.dataflow():
            y = bb.emit(relax.op.nn.relu(x))
            z = bb.emit_te(topi.matmul, y, w)
            out = bb.emit_output(z)
        bb.emit_func_output(out)
    mod = bb.get()
"""

import ast
import contextlib
import re

from .. import te
from .._module import GlobalVar, Graph, IRModule, PrimFunc, parse
from .._values import ExprRV, Op
from .transform import with_types
from .expr import Call, DataflowVar, Expr, TensorStructInfo, Tuple, Var, info_of, known, text_of


def call_tir(gvar, args, out_sinfo):
    """R.call_tir of a function of the module."""
    return _call("call_tir", GlobalVar(gvar), args, out_sinfo)


def call_dps_packed(func, args, out_sinfo):
    """R.call_dps_packed: a function of a shared object."""
    return _call("call_dps_packed", str(func), args, out_sinfo)


def _call(op, function, args, out_sinfo, variables=None):
    infos = [info_of(i, {} if variables is None else variables) for i in (out_sinfo if isinstance(out_sinfo, (list, tuple)) else [out_sinfo])]
    operands = args if isinstance(args, Tuple) else Tuple(args if isinstance(args, (list, tuple)) else (args,))
    return Call(Op("relax." + op), [function, operands], sinfo_args=infos)


class _Function:
    """One that is being written."""

    def __init__(self, name, params, attrs, decorator="R.function"):
        self.name, self.params, self.attrs, self.decorator = name, list(params), dict(attrs or {}), decorator
        self.lines, self.outputs, self.returned, self.in_dataflow = [], [], None, False
        self.taken = []  # what was used, of a function whose parameters come at its end

    def text(self, symbols, returned=None):
        """Its lines, to the end or up to a value, an emitted one or a line more."""
        params = self.params or self.taken
        head = ["@" + self.decorator, "def %s(%s):" % (self.name, ", ".join("%s: %s" % (p, _annotation(p)) for p in params))]
        body = ["%s = T.int64()" % n for n in sorted(symbols - self._told())]
        if self.attrs:
            body.append("R.func_attr(%s)" % text_of(self.attrs))
        for indent, line in self.lines:
            body.append("    " * indent + line)
        if returned is not None and self.in_dataflow:
            body.append("    R.output(%s)" % returned)
        body.append("return %s" % (returned if returned is not None else self.returned))
        return "\n".join(head + ["    " + line for line in body])

    def _told(self):
        """Extents that are strings in the annotations."""
        return {str(e) for p in self.params or self.taken if p.said is None for e in p.struct_info.shape if not isinstance(e, int)}


def _annotation(p):
    """With names of extents as texts: they are nobody's yet."""
    if p.said is not None:
        return p.said
    shape = "".join("%s, " % (e if isinstance(e, int) else '"%s"' % e) for e in p.struct_info.shape)
    return 'R.Tensor((%s), "%s")' % (shape[:-1] if p.struct_info.ndim == 1 else shape[:-2], p.struct_info.dtype)


class BlockBuilder:
    """Writes the functions of a module."""

    _stack = []

    def __init__(self, mod=None):
        """mod: what is there already."""
        self._functions, self._graphs, self._now = {}, {}, None
        self._head, self._rest, self._params = "", [], mod and mod._params
        if mod is not None:
            self._functions = dict(mod.functions)
            self._graphs = {name: g.script_as(name) for name, g in mod.graphs.items()}
            self._keep_others(mod.script())
        self._names, self._variables = {*self._functions, *self._graphs}, {}

    def _keep_others(self, text):
        """What a module's text has beside functions: constants, attributes."""
        tree = ast.parse(text)
        whole = next((n for n in tree.body if isinstance(n, ast.ClassDef)), ast.Module([], []))
        self._head = "".join(ast.unparse(n) + "\n" for n in tree.body if isinstance(n, ast.Assign))
        self._rest = [ast.unparse(n) for n in whole.body if not isinstance(n, (ast.FunctionDef, ast.Pass))]

    @staticmethod
    def current():
        """The innermost one in whose `with bb.function(...)` this is; None: there is none."""
        return BlockBuilder._stack[-1] if BlockBuilder._stack else None

    # --- functions and blocks -------------------------------------------------------------------

    @contextlib.contextmanager
    def function(self, name, params=None, attrs=None, private=False):
        if private:
            raise ValueError("each function that a builder writes can be called: private=False")
        f = _Function(self._name(name), [], attrs)
        with self.writes(f):
            self.set_params(params or [])
            yield
        if f.returned is None:
            raise ValueError("the function %s returns nothing: bb.emit_func_output(x)" % f.name)
        self._graphs[f.name] = f.text(self._symbols_of(f))

    @contextlib.contextmanager
    def writes(self, f):
        """What is emitted goes into f."""
        if self._now is not None:
            raise ValueError("the function %s is not at its end" % self._now.name)
        self._now, self._values = f, set()
        BlockBuilder._stack.append(self)
        try:
            yield
        finally:
            self._now = None
            BlockBuilder._stack.remove(self)

    def set_params(self, params):
        """Of the function that is being written."""
        self._writing().params = list(params)
        self._values.update(map(str, params))
        for p in params:
            for extent in p.struct_info.shape if p.said is None else ():
                if isinstance(extent, ExprRV):
                    self._variables.setdefault(str(extent), extent)

    @contextlib.contextmanager
    def dataflow(self):
        f = self._writing()
        f.lines.append((0, "with R.dataflow():"))
        f.in_dataflow, f.outputs = True, []
        yield
        if not f.outputs:
            raise ValueError("the dataflow block gives nothing: bb.emit_output(x)")
        f.lines.append((1, "R.output(%s)" % ", ".join(f.outputs)))
        f.in_dataflow = False

    def current_block_is_dataflow(self):
        """Whether values are emitted into a dataflow block."""
        return self._writing().in_dataflow

    def _writing(self):
        if self._now is None:
            raise ValueError("this belongs into `with bb.function(name, params):`")
        return self._now

    def _symbols_of(self, f):
        text = "\n".join(line for _, line in f.lines)
        return {n for n in self._variables if re.search(r"\b%s\b" % re.escape(n), text)}

    # --- values ---------------------------------------------------------------------------------

    def get_unique_name(self, name_prefix):
        return self._name(name_prefix)

    def _name(self, wanted):
        name = next(n for n in ("%s%s" % (wanted, i or "") for i in range(1 << 20)) if n not in self._names)
        self._names.add(name)
        return name

    def _value(self, wanted):
        name = next(n for n in ("%s%s" % (wanted, i or "") for i in range(1 << 20)) if n not in self._values)
        self._values.add(name)
        return name

    def emit(self, expr, name_hint=""):
        """A value that is computed; its Var."""
        f = self._writing()
        text = text_of(expr)
        self._take(f, text)
        name = self._value(name_hint or ("lv" if f.in_dataflow else "gv"))
        f.lines.append((1 if f.in_dataflow else 0, "%s = %s" % (name, text)))
        made = (DataflowVar if f.in_dataflow else Var)(name, _builder=self)
        if isinstance(expr, Call) and len(expr.sinfo_args) == 1:
            made.__dict__["_info"] = expr.struct_info
        return made

    def _take(self, f, text):
        """Notes the parameters that a line reads, where they were not given."""
        if f.params:
            return
        for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text)):
            if name not in self._values and name in known and known[name] not in f.taken:
                f.taken.append(known[name])
                self._values.add(name)

    def emit_output(self, expr, name_hint=""):
        """The same, of a dataflow block's results."""
        f = self._writing()
        if not f.in_dataflow:
            raise ValueError("emit_output belongs into `with bb.dataflow():`")
        is_emitted = isinstance(expr, DataflowVar) and not name_hint  # it leaves the block as it is
        out = expr if is_emitted else self.emit(expr, name_hint or "gv")
        f.outputs.append(str(out))
        return Var(str(out), _builder=self)

    def emit_func_output(self, output, params=None):
        """What the function returns: a value, or several."""
        f = self._writing()
        if f.returned is not None:
            raise ValueError("the function %s returns twice" % f.name)
        if params is not None and not f.params:
            f.params = list(params)
        if not f.params:
            f.params = f.taken
        f.returned = text_of(output)

    def normalize(self, expr):
        """The value itself: its type is found when it is asked for, and the library names what stands within a call."""
        return expr

    def match_cast(self, value, struct_info, name_hint=""):
        """The value with another type, which only the run tells."""
        return self.emit(Expr("R.match_cast(%s, %s)" % (text_of(value), info_of(struct_info, self._variables))), name_hint)

    def _info_of(self, value):
        """The type of what was emitted, or could be, from the library."""
        f = self._writing()
        name, lines = str(value), list(f.lines)
        if not isinstance(value, Var):
            name = next(n for n in ("value%d" % i for i in range(1 << 20)) if n not in self._values)
            f.lines.append((1 if f.in_dataflow else 0, "%s = %s" % (name, value)))
        try:
            text = self._module_text({**self._graphs, f.name: f.text(self._symbols_of(f), name)})
        finally:
            f.lines[:] = lines
        printed = with_types(parse(text, "<BlockBuilder>")).script(dialect="tir")
        found = re.search(r"(?m)^\s*%s: (R\.Tensor\(.*?\)) = " % re.escape(name), printed)
        if not found:
            raise TypeError("%s is not a tensor of which all extents are known: emit its parts" % value)
        return info_of(found.group(1), self._variables)

    # --- functions of programs ------------------------------------------------------------------

    def add_func(self, func, func_name):
        """Puts a function into the module; its name there."""
        if not isinstance(func, PrimFunc):
            raise TypeError("add_func takes a function with @T.prim_func, not %r" % (func,))
        name = self._name(func_name)
        self._functions[name] = func
        return GlobalVar(name)

    def update_func(self, gvar, updated_function):
        """Puts a function, or a graph, in the place of that of a name."""
        if not isinstance(updated_function, (PrimFunc, Graph)):
            raise TypeError("a module takes functions with @T.prim_func and @R.function, not a %s" % type(updated_function).__name__)
        self._names.add(str(gvar))
        if isinstance(updated_function, Graph):
            self._functions.pop(gvar, None)
            self._graphs[gvar] = updated_function.script_as(str(gvar))
        else:
            self._graphs.pop(gvar, None)
            self._functions[gvar] = updated_function

    def graph(self, f):
        """The function that was written, as a graph of a module with all others."""
        text = self._module_text({**self._graphs, f.name: f.text(self._symbols_of(f))})
        return Graph(parse(text, "<BlockBuilder>"), f.name)

    def call_te(self, func, *args, primfunc_name_hint=None, **keywords):
        """R.call_tir of what a function of te makes of tensors."""
        inputs, places = [], []

        def tensor(x):
            if isinstance(x, (list, tuple)):
                return type(x)(map(tensor, x))
            if not isinstance(x, Expr):
                return x
            var = x if isinstance(x, Var) else self.emit(x)
            if str(var) not in places:
                self._take(self._writing(), str(var))
                places.append(str(var))
                inputs.append(te.placeholder(var.struct_info.shape, var.struct_info.dtype, name=str(var)))
            return inputs[places.index(str(var))]

        made = func(*map(tensor, args), **{k: tensor(x) for k, x in keywords.items()})
        outputs = list(made) if isinstance(made, (list, tuple)) else [made]
        name = primfunc_name_hint or getattr(func, "__name__", "te_func")
        var = self.add_func(te.create_prim_func(inputs + outputs), name if name.isidentifier() else "te_func")
        types = [TensorStructInfo(t.shape, t.dtype) for t in outputs]
        return _call("call_tir", var, [Expr(p) for p in places], types, self._variables)

    def emit_te(self, func, *args, **keywords):
        return self.emit(self.call_te(func, *args, **keywords))

    def call_tir(self, var, args, out_sinfo):
        return call_tir(var, args, out_sinfo)

    # --- the module -----------------------------------------------------------------------------

    def _module_text(self, graphs):
        parts = self._rest + [f.script_as(name) for name, f in self._functions.items()] + [*graphs.values()]
        indented = ["    " + line if line.strip() else "" for part in parts for line in part.rstrip("\n").split("\n") + [""]]
        text = re.sub(r"(?m)^( *)cls = \w+\n", "", "\n".join(indented or ["    pass"]))
        return "%s@I.ir_module\nclass Module:\n%s\n" % (self._head, re.sub(r"\bcls\.", "Module.", text))

    def get(self):
        """The module."""
        if self._now is not None:
            raise ValueError("the function %s is not at its end" % self._now.name)
        made = parse(self._module_text(self._graphs), "<BlockBuilder>")
        return IRModule._of(made._module, self._params)

    finalize = get


__all__ = ["BlockBuilder"]
