"""Programs: modules and their functions."""

import ctypes
import functools
import json
import os
import re
import textwrap
from ctypes import POINTER, byref, c_int

from . import _lib, _source, _warnings
from ._errors import TVMError
from ._render import Shown


def _define_array(constants):
    pairs = [(k.encode(), v.encode()) for k, v in constants.items()]
    return len(pairs), (_lib.Define * max(len(pairs), 1))(*pairs)


def in_dialect(owned, dialect):
    """The module with its texts in a dialect: "tir", that of TVM 0.20, or "tirx", that of its releases since 0.24.
    None: the one that it has."""
    if dialect is None:
        return owned
    if not isinstance(dialect, str):
        raise TypeError('a dialect is "tir" or "tirx", not %r' % (dialect,))
    return _lib.make("module", "module_in_dialect", owned, dialect.encode())


def _new(owned):
    """A module that was read has the dialect of the environment."""
    return IRModule._of(in_dialect(owned, os.environ.get("TIRC_DIALECT") or None))


class GlobalVar(str):
    """The name of a function."""

    @property
    def name_hint(self):
        return str(self)


def _array_text(array):
    return (array if isinstance(array, str) else json.dumps(array)).encode()


def spatial_log_cost(log, array, dataflow="os", bits=0):
    """What the matrix products of a run would cost on a systolic array, by SCALE-Sim's formulas: a dict. log: the
    text that `tirc run --log-matmuls` wrote, or a list of dicts with M, N and K."""
    text = (log if isinstance(log, str) else "".join(json.dumps(p) + "\n" for p in log)).encode()
    options = _lib.SpatialOptions(None, None, False, False, 0, 0, bits)
    return json.loads(_lib.string("spatial_log_cost", text, len(text), None, _array_text(array), dataflow.encode(),
                                  ctypes.byref(options)))


class IRModule(Shown):
    """A program: one or several functions. It is immutable. Programs are read in both dialects of TVM's releases.
    Texts are in that of 0.20 ("tir"), unless script(dialect="tirx"), Schedule(mod, dialect="tirx") or
    $TIRC_DIALECT asks for the other one."""

    def __init__(self, functions=None):
        """From {name: PrimFunc}."""
        functions = dict(functions or {})
        texts = [f.script_as(name) for name, f in functions.items()]
        text = "\n\n".join(texts) or "pass"
        if any(isinstance(f, Graph) for f in functions.values()):
            text = "@I.ir_module\nclass Module:\n%s\n" % textwrap.indent(_of_class(text, "Module"), "    ")
        self._module = _new(_parse(text, "<module>", {}))._module

    _params = None  # arrays of the weights that a graph has with it, by name

    @classmethod
    def _of(cls, owned, params=None):
        self = cls.__new__(cls)
        self._module, self._params = owned, params
        return self

    @classmethod
    def from_expr(cls, func):
        return cls({"main": func})

    def script(self, *, dialect=None, show_meta=None, **_):
        return _lib.string("module_print", in_dialect(self._module, dialect))

    def __repr__(self):
        return "<IRModule %s>" % ", ".join(self.functions)

    def _repr_html_(self):
        """Its graph, if it has one, and the program."""
        from ._graph import html_of
        picture = html_of(self) if "@R.function" in self.script() else ""
        return picture + Shown._repr_html_(self)

    @property
    def functions(self):
        """The functions by name."""
        n = _lib.lib.tirc_module_functions(self._module)
        names = [_lib.lib.tirc_module_function(self._module, i).decode() for i in range(n)]
        now = IRModule._of(self._module)  # what update_func changes later, they do not see
        return {GlobalVar(name): PrimFunc(now, name) for name in names}

    @property
    def graphs(self):
        """The functions with @R.function by name."""
        text = self.script()
        names = re.findall(r"(?m)^ *@R\.function[^\n]*\n *def (\w+)\(", text) if "@R.function" in text else []
        return {GlobalVar(name): Graph(self.clone(), name) for name in names}

    def get_global_vars(self):
        return [*self.functions, *self.graphs]

    def get_global_var(self, name):
        """The name of an existing function."""
        found = next((v for v in self.get_global_vars() if v == name), None)
        if found is None:
            raise ValueError("the module has no function %r: %s" % (name, ", ".join(self.get_global_vars())))
        return found

    def functions_items(self):
        """(name, function) of each."""
        return [*self.functions.items(), *self.graphs.items()]

    def astext(self, show_meta_data=True):
        return self.script()

    def update_func(self, var, func):
        """Replaces the function of this name, or adds it."""
        if not isinstance(func, (PrimFunc, Graph)):
            raise TypeError("a module takes functions with @T.prim_func and @R.function, not a %s" % type(func).__name__)
        self._module = _new(_parse(_with_function(self.script(), str(var), func.script_as(str(var))), "<module>", {}))._module

    def __setitem__(self, var, func):
        self.update_func(var, func)

    def update(self, other):
        """Adds the functions of another module."""
        for name, f in (other.functions if isinstance(other, IRModule) else dict(other)).items():
            self.update_func(name, f)

    def clone(self):
        """Another module with the same functions."""
        return IRModule._of(self._module, self._params)

    def __getitem__(self, name):
        functions = self.functions
        return functions[name] if name in functions else {**functions, **self.graphs}[name]

    def __contains__(self, name):
        return name in self.functions or name in self.graphs

    def lower(self):
        """The program after all passes, from which code is generated."""
        return IRModule._of(_lib.make("module", "module_lower_for", self._module, None, None, None))

    def emit(self, kind, target=None):
        """Code: "llvm", "asm", "c" or "header" as str, "obj" as bytes; for GPU kernels "opencl", "cuda",
        "cuda-header" or "ptx" as str."""
        kinds = {"llvm": 0, "asm": 1, "obj": 2, "header": 3, "c": 4, "opencl": 7, "cuda": 8, "cuda-header": 9, "ptx": 10}
        if kind not in kinds:
            raise ValueError("emit takes %s, not %r" % (", ".join(kinds), kind))
        from ._runtime import cpu_of, gpu_of
        out, n = ctypes.c_void_p(), ctypes.c_size_t()
        _lib.call("module_emit", self._module, kinds[kind], gpu_of(target) or cpu_of(target), None, byref(out), byref(n))
        try:
            data = ctypes.string_at(out.value, n.value)
        finally:
            _lib.lib.tirc_string_free(out)
        return data if kind == "obj" else data.decode()

    def check(self, strict=False):
        """Warns about code that is legal but probably not intended, as each schedule of the program does when it
        starts: blocks that declare an iterator spatial although its instances depend on each other, and parallel
        loops whose iterations depend on each other. With strict, this is an error."""
        _warnings.check("module_check", self._module, None, strict)

    def check_code(self, target=None, strict=False):
        """Warns about buffers of scope local that the code for a target does not keep in registers, with the reason.
        For a GPU it also warns about what no kernel computes, and about loops that should overlap their iterations
        but do not. This generates the code. With strict, warnings are errors."""
        from ._runtime import cpu_of, gpu_of
        gpu = gpu_of(target)
        if gpu:
            kind = 7 if gpu.startswith(b"opencl") else 10  # as emit has them
            _warnings.check("module_check_kernels", self._module, gpu, strict, kind)
            return
        _warnings.check("module_check_code", self._module, cpu_of(target), strict)

    def relayout(self, param, back=False, func=None):
        """For a scheduled module: a module with one function (before, now), which copies an array of the parameter of
        this number into the layout that transform_layout gave it; with back, (now, before) in the other direction.
        None if the schedule did not change the layout."""
        out = _lib.make("module", "module_relayout", self._module, func.encode() if func else None, param, back)
        return IRModule._of(out) if out._as_parameter_ else None

    def spatial_cost(self, array, func=None, block=None, allow_cycles=False, formulas=False, limit=0, bits=0):
        """What the program would cost on an array of processing elements, counted exactly: a dict. Its loops are
        bound to pe.x, pe.y, pe.z. `array` is what `tirc cost --array` reads, as a dict or as text."""
        options = _lib.SpatialOptions(block.encode() if block else None, None, allow_cycles, formulas, 0, limit, bits)
        return json.loads(_lib.string("module_spatial_cost", self._module, func.encode() if func else None, _array_text(array),
                                      ctypes.byref(options)))

    def spatial_search(self, array, trials=0, func=None, block=None):
        """The best mappings of a nest onto an array by their cost, each with its schedule: a dict."""
        options = _lib.SpatialOptions(block.encode() if block else None)
        return json.loads(_lib.string("module_spatial_search", self._module, func.encode() if func else None, _array_text(array),
                                      trials, ctypes.byref(options)))

    def trace_script(self):
        """The same as a script: def apply_trace(sch): ... For tirc.auto, comments give the reasons of each rule."""
        return _lib.string("module_trace", self._module, 1)

    def trace_json(self):
        """The trace of the schedule that made it, as JSON text."""
        return _lib.string("module_trace", self._module, 0)


class _BufferMap(dict):
    def __missing__(self, param):
        for buffer in self.values():
            if isinstance(param, Param) and buffer.name == param.name:
                return buffer
        raise KeyError(param)

    def get(self, param, default=None):
        try:
            return self[param]
        except KeyError:
            return default

    def __contains__(self, param):
        return self.get(param) is not None


class PrimFunc(Shown):
    """A function of a module."""

    def __init__(self, module, name):
        self.module, self.name = module, name
        self.__name__ = name

    @property
    def params(self):
        """Its parameters: a list of Param."""
        n, at = c_int(), POINTER(_lib.Param)()
        _lib.call("module_params", self.module._module, self.name.encode(), byref(n), byref(at))
        return [Param(at[i]) for i in range(n.value)]

    @functools.cached_property
    def _view(self):
        """Of a schedule that nobody changes."""
        from ._schedule import Schedule
        return Schedule(self.module).state.mod[self.name]

    @property
    def body(self):
        """The statements as views, with TVM's names of their parts: Block, For, BufferStore, SeqStmt ..."""
        return self._view.body

    @property
    def buffer_map(self):
        """{variable: buffer}; a Param of params is taken for the variable, too."""
        return _BufferMap(self._view.buffer_map)

    @property
    def attrs(self):
        return self._view.attrs

    def same_as(self, other):
        return self is other or (isinstance(other, PrimFunc) and self.name == other.name and
                                 self.module._module is other.module._module)

    def __eq__(self, other):
        return self.same_as(other)

    def __hash__(self):
        return hash((id(self.module._module), self.name))

    def with_attr(self, key, value=None):
        """A copy with another attribute, or with those of a dict."""
        attrs = dict(self.attrs)
        attrs.update(key if isinstance(key, dict) else {key: value})
        return self._with_attrs(attrs)

    def without_attr(self, key):
        return self._with_attrs({k: v for k, v in self.attrs.items() if k != key})

    def _with_attrs(self, attrs):
        text = _attributed(self.script_as(self.name), attrs, "T")
        return parse(text, "<attributes>").functions[self.name]

    def script(self, *, dialect=None, **_):
        return self.script_as(self.name, dialect)

    def script_as(self, name, dialect=None):
        """Its text, under another name."""
        text = self.module.script(dialect=dialect)
        if len(self.module.functions) > 1 or re.search(r"(?m)^class ", text):
            text = _one_function(text, self.name)
        return re.sub(r"(?m)^def %s\(" % re.escape(self.name), "def %s(" % name, text, count=1)

    def __repr__(self):
        return "<PrimFunc %s>" % self.name


def _attributed(text, attrs, space):
    """The text of a function with these attributes; space: "T" or "R"."""
    import ast
    from ._expand import literal
    f = next(n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef))
    lines = text.split("\n")
    told = [s for s in f.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)
            and ast.unparse(s.value.func) == space + ".func_attr"]
    for s in told:
        lines[s.lineno - 1:s.end_lineno] = [""] * (s.end_lineno - s.lineno + 1)
    said = literal({k: v for k, v in attrs.items() if v is not None})
    if said is None:
        raise TypeError("attributes are numbers, texts and lists of them")
    at = f.body[0].lineno - 1
    for i in range(at - 1, f.lineno - 1, -1):  # "# with T.block("root"):" stands before it
        if lines[i].strip().startswith("#"):
            at = i
    lines.insert(at, "    %s.func_attr(%s)" % (space, said))
    return "\n".join(lines)


class Graph(Shown):
    """A function with @R.function of a module."""

    def __init__(self, module, name):
        self.module, self.name = module, name
        self.__name__ = name

    def script(self, *, dialect=None, **_):
        return self.script_as(self.name, dialect)

    def script_as(self, name, dialect=None):
        """Its text, under another name."""
        text = _one_function(self.module.script(dialect=dialect), self.name)
        return re.sub(r"(?m)^def %s\(" % re.escape(self.name), "def %s(" % name, text, count=1)

    @functools.cached_property
    def view(self):
        """Its values, read from the text."""
        from .relax._views import view_of
        return view_of(self)

    @property
    def params(self):
        return self.view.params

    @property
    def body(self):
        """blocks of bindings, and what it returns: body."""
        return self.view.body

    @property
    def attrs(self):
        return self.view.attrs

    def with_attr(self, key, value=None):
        """A copy with another attribute, or with those of a dict."""
        return self._with_attrs({**self.attrs, **(key if isinstance(key, dict) else {key: value})})

    def without_attr(self, key):
        return self._with_attrs({k: v for k, v in self.attrs.items() if k != key})

    def _with_attrs(self, attrs):
        text = _attributed(self.script_as(self.name), attrs, "R")
        return Graph(_new(_parse(_with_function(self.module.script(), self.name, text), "<attributes>", {})), self.name)

    def __eq__(self, other):
        return isinstance(other, Graph) and self.script() == other.script()

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return "<Graph %s>" % self.name


def _one_function(text, name):
    """The part of a module's text that is the function, without the class around it."""
    import ast
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno] + [d.lineno for d in node.decorator_list])
            return textwrap.dedent("\n".join(lines[first - 1:node.end_lineno])) + "\n"
    raise KeyError(name)


def _of_class(text, name):
    """The text of functions whose `cls` is the class of this name."""
    return re.sub(r"(?m)^( *cls = )\w+$", r"\g<1>" + name, text)


def _with_function(text, name, function):
    """A module's text with this function, the text of one."""
    import ast
    lines, tree = text.split("\n"), ast.parse(text)
    whole = next((n for n in tree.body if isinstance(n, ast.ClassDef)), None)
    old = next((n for n in (whole or tree).body if isinstance(n, ast.FunctionDef) and n.name == name), None)
    made = _of_class(function.rstrip("\n"), whole.name if whole else "Module").split("\n")
    if whole is None and old is None:  # a second one needs a class around both
        both = "\n".join(line for line in lines if not line.startswith("# from tvm")) + "\n" + "\n".join(made)
        return "@I.ir_module\nclass Module:\n" + textwrap.indent(both, "    ") + "\n"
    indented = textwrap.indent("\n".join(made), "    " if whole else "").split("\n")
    if old is None:
        return "\n".join(lines[:whole.end_lineno] + [""] + indented + lines[whole.end_lineno:])
    first = min([old.lineno] + [d.lineno for d in old.decorator_list])
    return "\n".join(lines[:first - 1] + indented + lines[old.end_lineno:])


class Param:
    """A parameter: name, dtype, shape (None for scalars; symbolic extents are -1 or a name), is_written."""

    def __init__(self, p):
        self.name, self.dtype, self.is_written = p.name.decode(), p.dtype.decode(), p.is_written
        self.shape = tuple(p.shape[d] if p.shape[d] >= 0 else p.symbol[d].decode() if p.symbol[d] else -1
                           for d in range(p.ndim)) if p.is_array else None

    def __repr__(self):
        return "%s: %s%s" % (self.name, self.dtype, "" if self.shape is None else list(self.shape))


def as_text(text):
    if not isinstance(text, str):
        raise TypeError("this takes text (a str), not %s" % type(text).__name__)
    return text


def _parse(text, name, constants):
    data = as_text(text).encode()
    n, defines = _define_array(constants)
    return _lib.make("module", "module_parse", data, len(data), name.encode(), n, defines)


def operator(name, *words, folder=None):
    """The program of a graph operator for operands of given types, as `tirc operator` prints it:
    operator("nn.softmax", "x=n,1000:float32", "axis=-1")."""
    array = (ctypes.c_char_p * max(len(words), 1))(*[w.encode() for w in words])
    return IRModule._of(_lib.make("module", "operator_module", folder.encode() if folder else None, name.encode(),
                                  len(words), array))


def parse(text, name="<text>", **constants):
    """A program from text. Constants override those at its top: parse(text, M=128)."""
    return _new(_parse(text, name, {k: repr(v) for k, v in constants.items()}))


def read(path, **constants):
    """A program from a file."""
    n, defines = _define_array({k: repr(v) for k, v in constants.items()})
    return _new(_lib.make("module", "module_read", str(path).encode(), n, defines))


def as_module(thing, name=None):
    """A module; a function becomes a module of its own, under this name or its own name."""
    if isinstance(thing, IRModule):
        return thing
    if isinstance(thing, PrimFunc):
        if list(thing.module.functions) == [name or thing.name]:
            return thing.module
        names = thing.name.encode(), (name or thing.name).encode()
        return IRModule._of(_lib.make("module", "module_alone", thing.module._module, *names))
    raise TypeError("this takes an IRModule or a PrimFunc, not %s" % type(thing).__name__)


class _InClass:
    """A function in the body of a class, which is read as a whole."""

    def __init__(self, function):
        self.__name__ = function.__name__


def prim_func(func=None, private=False, check_well_formed=True, s_tir=False):
    """The decorator @T.prim_func: reads the function's source text; Python never runs it."""
    frame = _source.caller()
    if func is None:
        return lambda f: _prim_func(f, frame)
    if not callable(func):
        raise TypeError("@T.prim_func stands before a function, not before %r" % (func,))
    return _prim_func(func, frame)


def _prim_func(func, frame):
    if _is_in_class(func, frame):
        return _InClass(func)
    return PrimFunc(_read_source(func, frame), func.__name__)


def function(func=None, pure=True, private=False, check_well_formed=True):
    """The decorator @R.function, for a graph in the class of a module, or for a module that consists of this graph."""
    frame = _source.caller()
    if func is None:
        return lambda f: _function(f, frame)
    return _function(func, frame)


def _function(func, frame):
    if _is_in_class(func, frame):
        return _InClass(func)
    return _read_source(func, frame)


def _is_in_class(func, frame):
    return "__qualname__" in frame.f_locals and frame.f_locals.get("__module__") == func.__module__


def ir_module(cls=None, check_well_formed=True, s_tir=False):
    """The decorator @I.ir_module."""
    frame = _source.caller()
    if cls is None:
        return lambda c: _ir_module(c, frame)
    return _ir_module(cls, frame)


def _ir_module(cls, frame):
    return _read_source(cls, frame)


def _read_source(thing, frame):
    source = _source.Text(thing, frame)
    try:
        return _new(_parse(source.text, source.file, source.constants))
    except TVMError as error:
        source.place(error)
        raise


def structural_equal(lhs, rhs, map_free_vars=False):
    """Structural equality of modules and functions, and of views of their parts. map_free_vars: free variables may have other names."""
    return difference(lhs, rhs, map_free_vars) is None


def difference(a, b, map_free_vars=False):
    """None when a and b are structurally equal, otherwise the first difference in words."""
    if not isinstance(a, (IRModule, PrimFunc)) or not isinstance(b, (IRModule, PrimFunc)):
        from ._compare import difference as of_views
        return of_views(a, b, map_free_vars)
    name = "main" if isinstance(a, PrimFunc) and isinstance(b, PrimFunc) else None
    return _lib.string("module_compare", as_module(a, name)._module, as_module(b, name)._module)


def structural_hash(a):
    """A number that structurally equal programs share, in every run and on every machine."""
    name = "main" if isinstance(a, PrimFunc) else None
    return int(_lib.string("module_hash", as_module(a, name)._module), 16)


def assert_structural_equal(lhs, rhs, map_free_vars=False):
    words = difference(lhs, rhs, map_free_vars)
    if words is not None:
        raise ValueError("not structurally equal: " + words)
