"""tirc.relax.dpl: patterns of graphs, by the names of the reference. relax.transform.FuseOpsByPattern groups what they match;
rewrite_call writes something else in its place. In C they are those of scripts: `tirc explain is_op`."""

import itertools
import os
import tempfile

from .. import _doors
from .._errors import TVMError
from .._module import Graph, IRModule
from .._values import Deferred
from .expr import Expr, text_of


class DFPattern:
    """A pattern. kind: what the script calls it; parts: of patterns and plain values."""

    def __init__(self, kind, *parts):
        self._kind, self._parts = kind, parts

    def __add__(self, other):
        return is_op("add")(self, other)

    def __sub__(self, other):
        return is_op("subtract")(self, other)

    def __mul__(self, other):
        return is_op("multiply")(self, other)

    def __truediv__(self, other):
        return is_op("divide")(self, other)

    def __or__(self, other):
        """One or the other; the first that matches is taken."""
        return DFPattern("or", self, other)

    def optional(self, around):
        """Itself, or what `around` makes of it."""
        return around(self) | self

    def __getitem__(self, index):
        return is_tuple_get_item(self, index)

    def __call__(self, *args):
        raise TypeError("operands are those of is_op(NAME)")

    def match(self, expr, var2val=None):
        raise TVMError("a pattern is looked for in a whole graph", code="argument",
                       hint="relax.transform.FuseOpsByPattern([(name, pattern)])(mod) or rewrite_call(pattern, rewriter, mod[\"main\"])")

    def __getattr__(self, name):
        if name.startswith("has_"):
            raise AttributeError("a pattern has no %s: ask in the rewriter of a script, matchings[x].dtype and .shape (`tirc explain is_op`)" % name)
        raise AttributeError(name)


class _Operator(DFPattern):
    """is_op(NAME), which takes a pattern for each operand."""

    def __init__(self, name):
        DFPattern.__init__(self, "operator", name)

    def __call__(self, *operands):
        for x in operands:
            if not isinstance(x, DFPattern):
                raise TypeError("an operand of a pattern is a pattern, wildcard() for anything, not %r" % (x,))
        return DFPattern("is_op", self._parts[0], *operands)


def wildcard():
    """Anything."""
    return DFPattern("wildcard")


def is_const():
    """A constant of the text."""
    return DFPattern("is_const")


def is_op(op_name):
    """A call of an operator: is_op("relax.nn.relu")(wildcard())."""
    from .._operators import table
    name = op_name.removeprefix("relax.")
    if name not in table():
        raise ValueError("there is no operator R.%s: `tirc operator` lists them" % name)
    return _Operator(name)


def is_tuple_get_item(tuple_value, index=None):
    """A field of what an operator gives; without an index, any."""
    return DFPattern("is_tuple_get_item", tuple_value, index)


def _choices(pattern):
    """The patterns without alternatives that it stands for, in their order; what stands in two places is one object in each."""
    ors, seen = [], {}

    def note(p):
        if isinstance(p, DFPattern) and id(p) not in seen:
            seen[id(p)] = p
            ors.extend([p] if p._kind == "or" else [])
            for part in p._parts:
                note(part)
    note(pattern)
    out = []
    for taken in itertools.product((0, 1), repeat=len(ors)):
        chosen = {id(p): p._parts[i] for p, i in zip(ors, taken)}
        out.append(lambda p, chosen=chosen: chosen.get(id(p), p))
    return out


class _Text:
    """The script of one pattern: a name for each of its parts."""

    def __init__(self, chosen, names):
        self.chosen, self.names, self.lines, self.written = chosen, names, [], set()

    def name(self, pattern):
        if pattern._kind == "or":  # it matched what the chosen one did
            self.names[id(pattern)] = name = self.name(self.chosen(pattern))
            return name
        name = self.names.setdefault(id(pattern), "p%d" % len(self.names))
        if id(pattern) in self.written:
            return name
        self.written.add(id(pattern))
        parts = [self.name(x) if isinstance(x, DFPattern) else repr(x) for x in pattern._parts]
        if pattern._kind == "operator":
            raise TypeError("is_op(%s) takes its operands: is_op(NAME)(wildcard(), ...)" % parts[0])
        made = "is_op(%s)(%s)" % (parts[0], ", ".join(parts[1:])) if pattern._kind == "is_op" else "%s(%s)" % (pattern._kind, ", ".join(parts))
        self.lines.append("%s = %s" % (name, made))
        return name


def script_of(rows, what, value, more=""):
    """The script of a pass over graphs. rows: (pattern, anything); value(name of the pattern, anything): what stands in the list `what`."""
    lines, items, kept = ["from dataflow import is_const, is_op, is_tuple_get_item, wildcard"], [], []
    for pattern, other in rows:
        if not isinstance(pattern, DFPattern):
            raise TypeError("a pattern is made of is_op, wildcard, is_const and is_tuple_get_item, not %r" % (pattern,))
        kept.append(pattern)  # ids are theirs as long as they live
        for i, chosen in enumerate(_choices(pattern)):
            text = _Text(chosen, {})
            root = text.name(pattern)
            prefix = "q%d_" % len(items)
            lines += [_prefixed(line, text.names.values(), prefix) for line in text.lines]
            items.append(value(prefix + root, other, {k: prefix + v for k, v in text.names.items()}))
    return "\n".join([*lines, "%s = [%s]" % (what, ", ".join(dict.fromkeys(items))), more, ""])


def _prefixed(line, names, prefix):
    import re
    return re.sub(r"\bp\d+\b", lambda m: prefix + m.group() if m.group() in names else m.group(), line)


def run_script(mod, text):
    """The module that a script of patterns makes."""
    from . import transform
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "patterns.sch")
        with open(path, "w") as f:
            f.write(text)
        return transform.alone(mod, path)


class _Matched(Expr):
    """A value of the graph within a rewriter, as text of the script."""

    @property
    def struct_info(self):
        return self

    def __getitem__(self, index):
        return _Matched("%s[%d]" % (self._text, index))

    def __getattr__(self, name):
        if name in ("shape", "dtype", "args", "attrs", "ndim"):
            return _Matched("%s.%s" % (self._text, name))
        if self._text.endswith(".attrs") and not name.startswith("_"):
            return _Matched('%s["%s"]' % (self._text, name))
        raise AttributeError("a value has struct_info, shape, dtype, ndim, args and attrs, and no %s" % name)

    def __bool__(self):
        raise TypeError("a rewriter is called before there is a graph, and cannot ask for what is in it: such a one is a script, "
                        "`rewrites` of tirc build --pass=graph:FILE.sch (`tirc explain is_op`)")

    def __eq__(self, other):
        return bool(self)

    __hash__ = Expr.__hash__
    __index__ = __int__ = __len__ = __iter__ = __bool__


class _Matchings:
    def __init__(self, names):
        self._names = names

    def __getitem__(self, pattern):
        if id(pattern) not in self._names:
            raise KeyError("this is no part of the pattern that matched")
        return _Matched("matchings[%s]" % self._names[id(pattern)])

    def __contains__(self, pattern):
        return id(pattern) in self._names


def rewrite_call(pattern, rewriter, func):
    """func with what rewriter(expr, matchings) gives in the place of each match, until nothing matches; matchings[part] is what a part of
    the pattern matched. func: a graph of a module. The rewriter is called once for the pattern, not for each match."""
    if not isinstance(func, Graph):
        raise TypeError("rewrite_call takes a graph, such as mod[\"main\"], not %r" % (func,))

    def row(root, _, names):
        made = rewriter(_Matched("expr"), _Matchings(names))
        if not isinstance(made, (Deferred, tuple, list)):
            raise TypeError("a rewriter gives a value of the graph, not %r" % (made,))
        return "(%s, lambda expr, matchings: %s)" % (root, text_of(made))
    text = script_of([(pattern, None)], "rewrites", row)
    return run_script(func.module, text)[func.name]


def fused(patterns, binds_constants):
    """A module's pass: a graph for each match, with the attribute Composite."""
    rows = []
    for row in patterns:
        name, pattern, *checks = row if isinstance(row, (tuple, list)) else (row.name, row.pattern)
        if any(checks):
            raise ValueError("a pattern of %s has no annotations and no check: a script has them, `rewrites` (`tirc explain is_op`)" % name)
        rows.append((pattern, str(name)))
    text = script_of(rows, "composites", lambda root, name, _: "(%r, %s)" % (name, root), "bind_constants = %s" % bool(binds_constants))
    return lambda mod: IRModule._of(run_script(mod, text)._module, mod._params)


def __getattr__(name):
    return _doors.missing("tirc.relax.dpl", name)


__all__ = ["DFPattern", "is_const", "is_op", "is_tuple_get_item", "rewrite_call", "wildcard"]
