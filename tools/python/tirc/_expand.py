"""What Python does for a program before the library reads its text.

A program is read, not run. An expression of names that are not the program's is worked out by Python, and its value stands
in the text (cfg.n, sizes["n"], ceil(n / 4), *shape); a function or lambda is called with the text of the program's
expressions, and what it returns stands there; the body of a T.macro stands where it is called.
"""

import ast
import builtins
import inspect
import textwrap
import types

from ._errors import TVMError
from ._values import Deferred

_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call, ast.Tuple, ast.List)
_PLAIN = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Tuple, ast.List, ast.operator,
          ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
_MOST_NESTED = 64
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class Piece(Deferred):
    """An expression of a program, as text, for a function of Python that is called with it."""

    def __getitem__(self, index):
        return Piece("%s[%s]" % (self._text, _index(index)))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Piece("%s.%s" % (self._text, name))

    def __call__(self, *args, **keywords):
        given = [_needed(x) for x in args] + ["%s=%s" % (k, _needed(x)) for k, x in keywords.items()]
        return Piece("%s(%s)" % (self._text, ", ".join(given)))

    def __neg__(self):
        return Piece("(-%s)" % self._text)

    def __invert__(self):
        return Piece("(~%s)" % self._text)

    def __eq__(self, other):
        return self._operate("==", self, other)

    __hash__ = Deferred.__hash__
    __iter__ = None


def _index(index):
    if isinstance(index, tuple):
        return ", ".join(_index(i) for i in index) or "()"
    if isinstance(index, slice):
        ends = ["" if x is None else _needed(x) for x in (index.start, index.stop)]
        return ":".join(ends + ([] if index.step is None else [_needed(index.step)]))
    return _needed(index)


def literal(value):
    """value as text of the language; None when it has none."""
    if value is None:
        return "None"
    if isinstance(value, Deferred):
        return value._text
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()  # numpy's scalars
    if isinstance(value, (tuple, list)):
        parts = [literal(v) for v in value]
        return None if None in parts else "(%s,)" % ", ".join(parts) if parts else "()"
    if isinstance(value, dict):
        parts = [(literal(k), literal(v)) for k, v in value.items()]
        return None if any(None in part for part in parts) else "{%s}" % ", ".join("%s: %s" % part for part in parts)
    if isinstance(value, float) and value - value != 0:
        return 'float("%s")' % float(value)
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return repr(kind(value))
    return _dtype(value)


def _dtype(value):
    """numpy.float32 and numpy.dtype("float32") are "float32"."""
    module = getattr(value if isinstance(value, type) else type(value), "__module__", "").partition(".")[0]
    if module not in ("numpy", "ml_dtypes"):
        return None
    try:
        import numpy
        return repr(numpy.dtype(value).name)
    except TypeError:
        return None


def _needed(value):
    text = literal(value)
    if text is None:
        raise TypeError("a program has no %s: %r" % (type(value).__name__, value))
    return text


def dedented(lines):
    """Lines of a definition without its indentation; comments may stand before it."""
    indent = lines[0][:len(lines[0]) - len(lines[0].lstrip())]
    out = []
    for line in lines:
        is_comment = not line.strip() or line.lstrip().startswith("#")
        out.append(line[len(indent):] if line.startswith(indent) else "\n" if is_comment else line)
    return "".join(out)


class Macro:
    """T.macro: its body stands where a program calls it. hygienic: names that it does not have are those of where it is
    defined, otherwise those of where it is called."""

    def __init__(self, function, frame, hygienic=True):
        self.function, self.frame, self.hygienic = function, frame, hygienic
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *_, **__):
        raise TypeError("the macro %s is called within a program" % self.__name__)


def macro(function=None, *, hygienic=True):
    """The decorator @T.macro, or @T.macro(hygienic=False)."""
    from ._source import caller
    frame = caller()
    return (lambda f: Macro(f, frame, hygienic)) if function is None else Macro(function, frame, hygienic)


def stored(node):
    """Names that are assigned in it; those of comprehensions are their own."""
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Store) else set()
    return set().union(*(stored(child) for child in ast.iter_child_nodes(node) if not isinstance(child, _COMPREHENSIONS)))


def _arguments(f):
    return {a.arg for a in f.args.posonlyargs + f.args.args + f.args.kwonlyargs + [x for x in (f.args.vararg, f.args.kwarg) if x]}


def _free_names(node, out=None):
    """The Name nodes of an expression that are not of a lambda or a comprehension in it."""
    out = [] if out is None else out
    if isinstance(node, ast.Lambda):
        for default in node.args.defaults + [d for d in node.args.kw_defaults if d]:
            _free_names(default, out)
        own = _arguments(node)
        out += [n for n in _free_names(node.body) if n.id not in own]
    elif isinstance(node, _COMPREHENSIONS):
        own = set().union(*(stored(g.target) for g in node.generators))
        _free_names(node.generators[0].iter, out)  # it is outside
        inner = [n for child in ast.iter_child_nodes(node) for n in _free_names(child)]
        first = {id(n) for n in _free_names(node.generators[0].iter)}
        out += [n for n in inner if n.id not in own and id(n) not in first]
    elif isinstance(node, ast.Name):
        out.append(node)
    else:
        for child in ast.iter_child_nodes(node):
            _free_names(child, out)
    return out


def _is_namespace(value):
    return isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == __name__.partition(".")[0]


def is_plain(value):
    """Whether the library takes it for a name's value: inf and nan are no literals."""
    return isinstance(value, (bool, int, str, tuple)) or isinstance(value, float) and value - value == 0


class Expander:
    """One function's text, or a macro's."""

    def __init__(self, text, file, first, scopes, names, replaced=None, depth=0):
        self.lines = [line.encode() for line in text.split("\n")]
        self.file, self.first, self.scopes, self.names = file, first, scopes, names
        self.replaced = replaced or {}  # names of the text, as what else they stand
        self.depth, self.brought = depth, set()  # names that macros brought into the function
        self.mentioned = set()  # all names in the text of the function, whosever they are
        self.merged, self.closed, self.free, self.callees, self.hidden = {}, {}, {}, {}, set()
        for scope in reversed(scopes):
            self.merged.update(scope)

    # --- names ----------------------------------------------------------------------------------

    def lookup(self, name):
        """(found, value) of a name that is not the program's."""
        if name in self.names or name in self.replaced:
            return False, None
        if name in self.merged:
            return True, self.merged[name]
        return hasattr(builtins, name), getattr(builtins, name, None)

    def is_closed(self, node):
        """Whether it is of names that Python has, and of nothing of the language."""
        known = self.closed.get(id(node))
        if known is None:
            known = self.closed[id(node)] = all(map(self.is_python, self.free_names(node)))
        return known

    def free_names(self, node):
        known = self.free.get(id(node))
        if known is None:
            known = self.free[id(node)] = _free_names(node)
        return known

    def is_python(self, name):
        found, value = self.lookup(name.id)
        return found and not _is_namespace(value) and not isinstance(value, Deferred)

    def asks_python(self, node):
        """Whether the library cannot work it out from the plain values of its names, which it is told of a program's
        own text."""
        mine = [n.id for n in self.free_names(node) if n.id in self.merged or not hasattr(builtins, n.id)]
        if not mine or self.is_range(node):
            return False
        if not self.depth and all(isinstance(n, _PLAIN) for n in ast.walk(node)):
            return any(not is_plain(self.lookup(n)[1]) for n in mine)
        return True

    @staticmethod
    def is_range(node):
        """range(n) is the language's."""
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"

    # --- values ---------------------------------------------------------------------------------

    def fail(self, node, error):
        where = "%s: %s" % (type(error).__name__, error) if not isinstance(error, TVMError) else error.message
        raise TVMError("Python cannot work out %s (%s)" % (self.source(node), where), code="python", file=self.file,
                       line=self.first + node.lineno - 1) from error

    def evaluate(self, node):
        try:  # closed: no name of the program
            return eval(compile(ast.Expression(body=node), self.file, "eval"), self.merged)
        except Exception as error:
            self.fail(node, error)

    def argument(self, node):
        if self.is_closed(node):
            return self.evaluate(node)
        text = self.source(node, self.edits(node))
        return Piece(text if isinstance(node, _ATOMS) else "(%s)" % text)

    def arguments(self, call):
        args, keywords = [], {}
        for a in call.args:
            if not isinstance(a, ast.Starred):
                args.append(self.argument(a))
            elif self.is_closed(a.value):
                args += list(self.evaluate(a.value))
            else:
                self.fail(a, TypeError("starred arguments are Python's values"))
        for k in call.keywords:
            if k.arg:
                keywords[k.arg] = self.argument(k.value)
            elif self.is_closed(k.value):
                keywords.update(self.evaluate(k.value))
            else:
                self.fail(k.value, TypeError("starred arguments are Python's values"))
        return args, keywords

    def called(self, node):
        """The function, lambda or macro of Python's that is called; None: it is the language's."""
        if not isinstance(node, ast.Call) or not self.is_closed(node.func):
            return None
        if isinstance(node.func, ast.Name) and node.func.id not in self.merged:
            return None  # min, range, len are the language's, too
        if id(node) not in self.callees:
            value = self.evaluate(node.func)
            self.callees[id(node)] = value if callable(value) else None
        return self.callees[id(node)]

    # --- edits: (first line, column, last line, column, text), of bytes, from 1 and 0 --------------

    @staticmethod
    def place(node, text):
        lines = node.end_lineno - node.lineno  # those behind it keep their numbers
        text = "(%s%s)" % (text, "\n" * lines) if lines else text
        return [(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, text)]

    def source(self, node, edits=()):
        return _applied(self.lines, edits, (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))

    def edits(self, node):
        """What changes in the text of a node."""
        if isinstance(node, ast.Starred) and self.is_closed(node.value):
            parts = [literal(v) for v in self.evaluate(node.value)]
            if None not in parts:
                return self.place(node, ", ".join(parts))
        if isinstance(node, ast.JoinedStr):
            return self.text_edits(node)
        if isinstance(node, ast.Name) and node.id in self.replaced and id(node) not in self.hidden:
            return self.place(node, self.replaced[node.id])
        if isinstance(node, (ast.Lambda,) + _COMPREHENSIONS):
            free = {id(n) for n in self.free_names(node)}
            self.hidden |= {id(n) for n in ast.walk(node) if isinstance(n, ast.Name)} - free
        if isinstance(node, ast.Name) and isinstance(self.lookup(node.id)[1], Deferred):
            return self.place(node, literal(self.lookup(node.id)[1]))
        if isinstance(node, ast.expr) and not isinstance(node, ast.Starred):
            text = self.value_text(node)
            if text is not None:
                return self.place(node, text)
        if isinstance(node, ast.Expr) and self.called(node.value) is not None:
            return self.statement(node, self.called(node.value))
        return [edit for child in ast.iter_child_nodes(node) for edit in self.edits(child)]

    def text_edits(self, node):
        """Of an f-string: what stands in it has no place of its own."""
        if any(n.id in self.replaced for n in self.free_names(node)):
            self.fail(node, TypeError("an f-string has Python's values"))
        if self.is_closed(node) and self.asks_python(node):
            return self.place(node, repr(self.evaluate(node)))
        return []

    def value_text(self, node):
        if isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and self.is_closed(node) and self.asks_python(node):
            text = literal(self.evaluate(node))
            if text is not None:
                return text
        function = self.called(node)
        if function is None or isinstance(function, (type, Macro)) or self.is_closed(node):
            return None
        return self.returned(node, function)

    def returned(self, node, function):
        args, keywords = self.arguments(node)
        try:
            return _needed(function(*args, **keywords))
        except Exception as error:
            self.fail(node, error)

    def statement(self, node, function):
        if isinstance(function, Macro):
            return self.body_of(node, function)
        text = self.returned(node.value, function)
        if text != "None":
            return self.place(node, text)
        lines = node.end_lineno - node.lineno
        return [(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, "pass" + "\n" * lines)]

    def body_of(self, node, of):
        """A macro's body in the place of its call."""
        from ._source import scopes_of
        before = self.lines[node.lineno - 1][:node.col_offset]
        behind = self.lines[node.end_lineno - 1][node.end_col_offset:].strip()
        if before.strip() or (behind and not behind.startswith(b"#")):
            self.fail(node, SyntaxError("the call of a macro has a line of its own"))
        if self.depth == _MOST_NESTED:
            self.fail(node, RecursionError("macros are nested too deeply"))
        lines, first = inspect.getsourcelines(of.function)
        text = dedented(lines)
        definition = ast.parse(text).body[0]
        try:
            bound = inspect.signature(of.function).bind(*node.value.args, **{k.arg: k.value for k in node.value.keywords})
        except TypeError as error:
            self.fail(node, error)
        given, values = {}, {}
        for name, parameter in inspect.signature(of.function).parameters.items():
            if name in bound.arguments and isinstance(bound.arguments[name], ast.AST):
                value = self.argument(bound.arguments[name])
            elif parameter.default is not inspect.Parameter.empty:
                value = parameter.default
            else:
                self.fail(node, TypeError("macros take no *%s" % name))
            if isinstance(value, Piece):
                given[name] = value._text
            else:
                values[name] = value
        own = stored(definition)
        for name in sorted(own & (set(given) | set(values))):
            self.fail(node, TypeError("the macro assigns its parameter %s; give the value another name" % name))
        mentioned = {n.id for t in given.values() for n in ast.walk(ast.parse(t)) if isinstance(n, ast.Name)}
        leaving = set().union(*[stored(s) for s in definition.body if isinstance(s, (ast.Assign, ast.AnnAssign))], set())
        taken = self.names | mentioned | own | self.brought | self.mentioned
        for name in sorted(own & mentioned | leaving & (self.names | self.brought | self.mentioned)):
            given[name] = next(n for n in ("%s_%d" % (name, i) for i in range(1, 1 << 20)) if n not in taken)
        self.brought |= {given.get(name, name) for name in own}
        scopes = [values] + list(scopes_of(of.function, of.frame))
        names = own - set(given) if of.hygienic else (own | self.names) - set(given) - set(values)
        inner = Expander(text, inspect.getsourcefile(of.function), first, scopes if of.hygienic else [values] + self.scopes + scopes, names,
                         given, self.depth + 1)
        inner.brought, inner.mentioned = self.brought, {n.id for n in ast.walk(definition) if isinstance(n, ast.Name)} - own
        body = definition.body[1:] if ast.get_docstring(definition) is not None else definition.body
        made = inner.block(body) if body else "pass"
        indent = "\n" + " " * node.col_offset
        return [(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, made.replace("\n", indent))]

    def block(self, body):
        """Statements, expanded, without their indentation."""
        edits = [edit for s in body for edit in self.edits(s)]
        start, end = body[0], body[-1]
        text = _applied(self.lines, edits, (start.lineno, start.col_offset, end.end_lineno, end.end_col_offset))
        return textwrap.dedent(" " * start.col_offset + text)


def _applied(lines, edits, within):
    """The text between two places, with edits."""
    at, out = within[:2], []

    def upto(line, column):
        nonlocal at
        first, begin = at
        if first == line:
            out.append(lines[line - 1][begin:column].decode())
        else:
            middle = [lines[first - 1][begin:]] + lines[first:line - 1] + [lines[line - 1][:column]]
            out.append(b"\n".join(middle).decode())
        at = (line, column)

    for first, begin, last, end, text in sorted(edits):
        upto(first, begin)
        out.append(text)
        at = (last, end)
    upto(*within[2:])
    return "".join(out)


def _functions(tree):
    """The functions of a text, and the names of the class around them."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node, {node.name}
        elif isinstance(node, ast.ClassDef):
            names = {node.name, "cls"} | {n.name for n in node.body if isinstance(n, ast.FunctionDef)} | {
                n for s in node.body if isinstance(s, ast.Assign) for n in stored(s)}
            for f in node.body:
                if isinstance(f, ast.FunctionDef):
                    yield f, names


def expand(text, file, first, scopes):
    """(text, lines): with Python's values in it; for each line of it, which one of the file's it comes from, from `first`."""
    try:
        tree, edits = ast.parse(text), []
    except SyntaxError as error:  # blanks and tabs that only the whole file tells apart
        raise TVMError("the source text is not understood alone: %s" % error.msg, code="source", file=file,
                       line=first + (error.lineno or 1) - 1) from None
    whole = None
    for f, names in _functions(tree):
        arguments = f.args.posonlyargs + f.args.args + f.args.kwonlyargs
        names = names | {a.arg for a in arguments} | stored(f)
        whole = Expander(text, file, first, scopes, names)
        whole.mentioned = {n.id for n in ast.walk(f) if isinstance(n, ast.Name)}
        parts = [a.annotation for a in arguments if a.annotation] + [f.returns] * (f.returns is not None) + f.body
        edits += [edit for part in parts for edit in whole.edits(part)]
    made, origins = text, None
    if edits:
        last = len(whole.lines)
        made, origins = _applied(whole.lines, edits, (1, 0, last, len(whole.lines[-1]))), _origins(edits, last, first)
    if "emit_te" in made and whole is not None:
        from ._emit_te import written_out
        made = written_out(made, file, first, whole.merged)
    return made, origins


def _origins(edits, n_lines, first):
    extra = {}
    for begin, _, end, _, text in edits:
        extra[end] = extra.get(end, 0) + text.count("\n") - (end - begin)
    return [first + line - 1 for line in range(1, n_lines + 1) for _ in range(1 + extra.get(line, 0))]
