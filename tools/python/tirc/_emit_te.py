"""R.emit_te(f, x, y) in the text of a module: Python calls f with te's tensors of the types of x and y, and what it gives stands in
the module as a function that is called there."""

import ast

from ._errors import TVMError


def _is_call(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "emit_te"


def _statements(body):
    """Those of a graph, in order, in and out of dataflow blocks."""
    for s in body:
        yield s
        if isinstance(s, ast.With):
            yield from _statements(s.body)


def _first(tree):
    """(class, function, statement, call) of the first that there is."""
    for c in tree.body:
        for f in c.body if isinstance(c, ast.ClassDef) else [c]:
            for s in _statements(f.body) if isinstance(f, ast.FunctionDef) else ():
                for node in ast.walk(s) if not isinstance(s, ast.With) else ():
                    if _is_call(node):
                        return c, f, s, node
    return None


def _until(body, statement, names):
    """The statements before one, and what gives these names there."""
    out = []
    for s in body:
        if s is statement:
            return out, True
        if isinstance(s, ast.With):
            inner, found = _until(s.body, statement, names)
            if found:
                inner.append(ast.parse("R.output(%s)" % ", ".join(names)).body[0])
                return out + [ast.With(s.items, inner)], True
        out.append(s)
    return out, False


def _types(tree, whole, function, statement, names, scope):
    """{name: type} of values at a statement, from the library: of the module with its functions so far, and what comes before."""
    if not names:
        return {}
    from ._module import parse
    from ._expand import is_plain
    from .relax._views import view_of
    before, _ = _until(function.body, statement, [])
    bound = {n.id for s in before for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    so_far, _ = _until(function.body, statement, [n for n in names if n in bound])
    returned = ast.parse("return %s" % (", ".join(names))).body[0]
    cut = ast.FunctionDef(function.name, function.args, so_far + [returned], function.decorator_list)
    rest = [cut if f is function else f for f in whole.body if f is function or not any(map(_is_call, ast.walk(f)))]
    module = ast.ClassDef(whole.name, [], [], rest, whole.decorator_list)
    text = ast.unparse(ast.fix_missing_locations(ast.Module([module if n is whole else n for n in tree.body], [])))
    view = view_of(parse(text, **{k: v for k, v in scope.items() if is_plain(v) and k in text}).graphs[function.name])
    result = view.body.body  # and not by their names: one that is bound again is another variable
    return {n: v.struct_info for n, v in zip(names, [result] if len(names) == 1 else result.fields)}


def _fail(file, line, words, hint=None):
    raise TVMError(words, code="python", hint=hint, file=file, line=line)


def _values(names, types):
    from . import te
    return {n: te.placeholder(types[n].shape, types[n].dtype, name=n) for n in names}


def _made(call, scope, names, types, file, line):
    """(the name that it shall have, its function, the types of its results)"""
    from . import te
    from .relax.expr import TensorStructInfo
    tensors = _values(names, types)
    given = ast.Call(ast.Name("dict", ast.Load()), [], [ast.keyword(k, v) for k, v in ((k.arg, k.value) for k in call.keywords)])
    place = {**scope, **tensors, "dict": dict}

    def value(node):
        return eval(compile(ast.fix_missing_locations(ast.Expression(node)), file, "eval"), place)
    try:
        function = value(call.args[0])
        args, keywords = value(ast.List(call.args[1:], ast.Load())), value(given)
        hint = keywords.pop("primfunc_name_hint", None)
        results = function(*args, **keywords)
    except Exception as error:
        _fail(file, line, "Python cannot work out %s (%s: %s)" % (ast.unparse(call), type(error).__name__, error))
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    name = hint or getattr(function, "__name__", "te_func")
    infos = ", ".join(str(TensorStructInfo(t.shape, t.dtype)) for t in results)
    return name if name.isidentifier() else "te_func", te.create_prim_func([*tensors.values(), *results]), infos if len(results) == 1 else "[%s]" % infos


def written_out(text, file, first, scope):
    """The text with R.call_tir in the place of each R.emit_te of Python's functions; scope: names of Python."""
    while True:
        tree = ast.parse(text)
        found = _first(tree)
        if found is None:
            return text
        whole, function, statement, call = found
        line = first + call.lineno - 1
        if not isinstance(whole, ast.ClassDef):
            _fail(file, line, "R.emit_te makes a function of the module, and there is none", "write the graph into a class with @I.ir_module")
        known = {a.arg for a in function.args.args} | {n.id for s in function.body for n in ast.walk(s) if isinstance(n, ast.Name)
                                                       and isinstance(n.ctx, ast.Store)}
        names = list(dict.fromkeys(n.id for a in call.args[1:] + [k.value for k in call.keywords] for n in ast.walk(a)
                                   if isinstance(n, ast.Name) and n.id in known))
        name, made, infos = _made(call, scope, names, _types(tree, whole, function, statement, names, scope), file, line)
        taken = {f.name for f in whole.body if isinstance(f, ast.FunctionDef)}
        name = next(n for n in (name + "_%d" % i if i else name for i in range(1 << 20)) if n not in taken)
        text = _with(text, whole, call, "R.call_tir(%s.%s, (%s), out_sinfo=%s)" % (whole.name, name, "".join(n + ", " for n in names), infos),
                     made.script_as(name, dialect="tir"))


def _with(text, whole, call, instead, function):
    """The text with one more function at the end of the class, and other words for a call, which keeps its lines."""
    lines = [line.encode() for line in text.split("\n")]
    begin, end = call.lineno - 1, call.end_lineno - 1
    tail = lines[end][call.end_col_offset:]
    lines[begin:end + 1] = [lines[begin][:call.col_offset] + b"(" + instead.encode() + b"\n" * (end - begin) + b")" + tail]
    indent = whole.body[0].col_offset * " "
    body = ["@T.prim_func(private=True)"] + function[function.index("@T.prim_func"):].rstrip("\n").split("\n")[1:]
    at = whole.end_lineno
    before, behind = b"\n".join(lines).split(b"\n")[:at], b"\n".join(lines).split(b"\n")[at:]
    return b"\n".join(before + [b""] + [(indent + line).encode() for line in body] + behind).decode()
