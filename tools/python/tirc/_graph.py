"""A module's graph as a picture: what each value is computed by, below what it is computed from."""

import ast
import html

_MOST, _WIDTH, _HEIGHT, _GAP = 80, 190, 34, 22


def _bindings(text):
    """(value, what computes it, [values that it reads], its type or None) of the graph main, or of the first one, in order."""
    graphs = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)
              and any(ast.unparse(d).startswith("R.function") for d in n.decorator_list)]
    if not graphs:
        return []
    f = next((g for g in graphs if g.name == "main"), graphs[0])
    out = [(a.arg, "", [], ast.unparse(a.annotation) if a.annotation else None) for a in f.args.args]
    known = {row[0] for row in out}
    for node in ast.walk(ast.Module(body=f.body, type_ignores=[])):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        name, value = node.targets[0] if isinstance(node, ast.Assign) else node.target, node.value
        if not isinstance(name, ast.Name) or ast.unparse(value) == "T.int64()" or isinstance(value, ast.Name) and value.id not in known:
            continue  # an extent, and cls = Module
        reads = list(dict.fromkeys(n.id for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in known))
        what = ast.unparse(value.func) if isinstance(value, ast.Call) else ast.unparse(value)
        if what.startswith("R.call_") and value.args:
            what = ast.unparse(value.args[0])
        out.append((name.id, what, reads, ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else None))
        known.add(name.id)
    return out


def html_of(mod):
    """The picture of a module's graph, or, of a large one, a table; "": there is no graph."""
    from ._errors import TVMError
    from ._render import table_html
    from .relax.transform import with_types
    try:
        rows = _bindings(with_types(mod).script())
    except TVMError:  # an operator that refuses what it gets
        rows = _bindings(mod.script())
    if len(rows) > _MOST:
        return table_html(("value", "is", "of", "type"), [(n, w, ", ".join(r), t or "") for n, w, r, t in rows])
    return _svg(rows) if rows else ""


def _places(rows):
    """{value: (column, row)}: each below all that it reads."""
    level, used, at = {}, {}, {}
    for name, _, reads, _ in rows:
        level[name] = 1 + max((level[r] for r in reads), default=-1)
    for name, what, reads, _ in rows:
        readers = [level[n] for n, _, of, _ in rows if name in of]
        row = max(min(readers) - 1, 0) if not what and readers else level[name]  # a weight is beside its use
        at[name] = (used.get(row, 0), row)
        used[row] = used.get(row, 0) + 1
    return at


def _svg(rows):
    at = _places(rows)
    x = lambda name: 8 + at[name][0] * (_WIDTH + _GAP)
    y = lambda name: 8 + at[name][1] * (_HEIGHT + _GAP)
    width, height = (16 + (1 + max(p[i] for p in at.values())) * (size + _GAP) for i, size in enumerate((_WIDTH, _HEIGHT)))
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="11">' % (width, height)]
    for name, _, reads, _ in rows:
        for r in reads:
            x0, y0, x1, y1 = x(r) + _WIDTH // 2, y(r) + _HEIGHT, x(name) + _WIDTH // 2, y(name)
            out.append('<path d="M%d %d C%d %d %d %d %d %d" fill="none" stroke="#999"/>' % (x0, y0, x0, y0 + 14, x1, y1 - 14, x1, y1))
    for name, what, _, info in rows:
        colour = "#eef4ff" if what else "#f4f4f4"
        words = "%s = %s" % (name, what) if what else name
        out.append('<g><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="%s" stroke="#88a"/>'
                   '<text x="%d" y="%d">%s</text><text x="%d" y="%d" fill="#777">%s</text></g>' % (
                       html.escape("%s: %s" % (words, info or "")), x(name), y(name), _WIDTH, _HEIGHT, colour, x(name) + 6, y(name) + 14,
                       html.escape(words[:28]), x(name) + 6, y(name) + 27, html.escape(_short(info)[:28])))
    return "".join(out + ["</svg>"])


def _short(info):
    """R.Tensor((4, 4), dtype='float32') as (4, 4) float32."""
    if not info or not info.startswith("R.Tensor("):
        return info or ""
    call = ast.parse(info, mode="eval").body
    dtype = next((k.value for k in call.keywords if k.arg == "dtype"), call.args[1] if len(call.args) > 1 else None)
    return "%s %s" % (ast.unparse(call.args[0]).replace("'", "") if call.args else "", dtype.value if isinstance(dtype, ast.Constant) else "")
