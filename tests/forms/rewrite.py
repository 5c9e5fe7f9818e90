"""One program in the ways that people write it: each form computes the same, and rules are to make
the same of all of them.

A program is read as text that `tirc print` gives: buffers between blocks, and nests of loops around
one block with one store. What has another shape stays as it stands.
"""

import ast
import re
from dataclasses import dataclass, field, replace


@dataclass
class Iter:
    name: str
    kind: str  # "spatial" or "reduce"
    extent: str
    value: str


@dataclass
class Nest:
    loops: list  # (variable, extent)
    block: str
    iters: list
    target: str
    value: str
    init: str = None
    where: str = None
    text: str = None  # of a nest that is kept as it stands


@dataclass
class Program:
    head: str
    params: list
    before: list  # lines of the body before the nests
    nests: list = field(default_factory=list)


def substitute(text, names):
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda m: names.get(m[0], m[0]), text)


# --- reading


def remap(call):
    letters = ast.literal_eval(call.args[0])
    return zip(letters, [ast.unparse(e) for e in call.args[1].elts])


def read_block(loops, block):
    nest = Nest(loops, block.items[0].context_expr.args[0].value, [], None, None)
    extents = dict(loops)
    for s in block.body:
        text = ast.unparse(s)
        if text.startswith(("T.reads(", "T.writes(")):
            continue
        if text.startswith("T.where("):
            nest.where = ast.unparse(s.value.args[0])
        elif isinstance(s, ast.With) and text.startswith("with T.init("):
            if len(s.body) != 1 or not isinstance(s.body[0], ast.Assign):
                return None
            nest.init = ast.unparse(s.body[0].value)
        elif isinstance(s, ast.Assign) and ".axis.remap(" in text:
            names = [t.id for t in getattr(s.targets[0], "elts", [s.targets[0]])]
            for name, (kind, value) in zip(names, remap(s.value)):
                if value not in extents:
                    return None
                nest.iters.append(Iter(name, {"S": "spatial", "R": "reduce"}[kind], extents[value], value))
        elif isinstance(s, ast.Assign) and ".axis." in text:
            kind = s.value.func.attr
            if kind not in ("spatial", "reduce"):
                return None
            nest.iters.append(Iter(s.targets[0].id, kind, *[ast.unparse(a) for a in s.value.args]))
        elif isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Subscript) and nest.target is None:
            nest.target, nest.value = ast.unparse(s.targets[0]), ast.unparse(s.value)
        else:
            return None
    return nest if nest.target else None


def read_nest(s):
    loops = []
    while isinstance(s, ast.For) and len(s.body) == 1:
        call = s.iter
        name = ast.unparse(call.func)
        if name not in ("range", "T.grid", "T.serial") or call.keywords or (name != "T.grid" and len(call.args) != 1):
            return None
        names = [t.id for t in getattr(s.target, "elts", [s.target])]
        loops += list(zip(names, [ast.unparse(a) for a in call.args]))
        s = s.body[0]
    whole = isinstance(s, ast.With) and ast.unparse(s.items[0].context_expr).startswith("T.block(")
    return read_block(loops, s) if whole else None


def read(text):
    tree = ast.parse(text)
    func = [f for f in tree.body if isinstance(f, ast.FunctionDef)][0]
    lines = [ast.unparse(s) for s in tree.body if s is not func]
    program = Program("\n".join(lines), [ast.unparse(a) for a in func.args.args], [])
    for s in func.body:
        if isinstance(s, ast.For):
            program.nests.append(read_nest(s) or Nest([], "", [], "", "", text=ast.unparse(s)))
        else:
            program.before.append(ast.unparse(s))
    return program


# --- writing


def indented(lines, by=1):
    return ["    " * by + line for line in lines]


def in_loops(loops, lines):
    for var, extent in reversed(loops):
        lines = [f"for {var} in range({extent}):"] + indented(lines)
    return lines


def block_lines(n, body=None, init=True):
    lines = [f"{i.name} = T.axis.{i.kind}({i.extent}, {i.value})" for i in n.iters]
    if n.where:
        lines.append(f"T.where({n.where})")
    if n.init is not None and init:
        lines += ["with T.init():", f"    {n.target} = {n.init}"]
    return [f'with T.block("{n.block}"):'] + indented(lines + (body or [f"{n.target} = {n.value}"]))


def nest_lines(n):
    return n.text.split("\n") if n.text else in_loops(n.loops, block_lines(n))


def write(program, lines_of=nest_lines, params=None):
    body = list(program.before)
    for n in program.nests:
        body += nest_lines(n) if n.text else lines_of(n)
    lines = [f"def main({', '.join(params or program.params)}):"] + indented([x for b in body for x in b.split("\n")])
    return f"from tvm.script import tir as T\n{program.head}\n\n@T.prim_func\n" + "\n".join(lines) + "\n"


# --- what a nest is


def spatial(n):
    return [i for i in n.iters if i.kind == "spatial"]


def reduce(n):
    return [i for i in n.iters if i.kind == "reduce"]


def summand(n):
    """x of target = target + x, or None."""
    start = n.target + " + "
    return n.value[len(start):] if n.init is not None and n.value.startswith(start) else None


def is_simple(n):
    """Each iterator is a loop."""
    return [i.value for i in n.iters] == [v for v, _ in n.loops] and not n.where


# --- forms: from a nest to lines, or None where it has none


def named(n):
    x = summand(n)
    if x is None:
        return block_lines_in(n, [f"x = {n.value}", f"{n.target} = x"])
    return block_lines_in(n, [f"x = {x}", f"{n.target} = {n.target} + x"])


def block_lines_in(n, body):
    return in_loops(n.loops, block_lines(n, body))


def named_loads(n):
    value, names = n.value, {}
    own = n.target.split("[")[0]
    for load in re.findall(r"\b\w+\[[^\[\]]*\]", value):
        if not load.startswith(own + "[") and not re.match(r"T\b", load):
            names.setdefault(load, f"x{len(names)}")
    if not names or "if_then_else" in value:
        return None
    for load, name in names.items():
        value = value.replace(load, name)
    return block_lines_in(n, [f"{x} = {load}" for load, x in names.items()] + [f"{n.target} = {value}"])


def start_nest(n, loops):
    kept = [i for i in n.iters if i.kind == "spatial"]
    return in_loops(loops, block_lines(replace(n, block=n.block + "_start", iters=kept, init=None, where=None,
                                               value=n.init)))


def init_before(n):
    if n.init is None or not is_simple(n):
        return None
    loops = [l for l in n.loops if l[0] in [i.value for i in spatial(n)]]
    return start_nest(n, loops) + in_loops(n.loops, block_lines(n, init=False))


def init_inside(n):
    if n.init is None or not is_simple(n):
        return None
    names = [i.value for i in spatial(n)]
    outer = [l for l in n.loops if l[0] in names]
    inner = [l for l in n.loops if l[0] not in names]
    return in_loops(outer, start_nest(n, []) + in_loops(inner, block_lines(n, init=False)))


def start_condition(n):
    return " and ".join(f"{i.name} == 0" for i in reduce(n))


def init_if(n):
    if n.init is None or not reduce(n):
        return None
    body = [f"if {start_condition(n)}:", f"    {n.target} = {n.init}", f"{n.target} = {n.value}"]
    return in_loops(n.loops, block_lines(n, body, init=False))


def factors(n):
    x = summand(n)
    e = ast.parse(x, mode="eval").body if x else None
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult):
        return ast.unparse(e.left), ast.unparse(e.right)
    return None


def update(name, text, of_floats=False):
    """A form of a sum: of its target t and summand x, or factors a and b."""

    def form(n):
        x, (a, b) = summand(n), factors(n) or (None, None)
        if x is None or of_floats and "float" not in n.init or a is None and "{a}" in text:
            return None
        return block_lines_in(n, [text.format(t=n.target, x=x, a=a, b=b)])

    form.__name__ = name
    return form


UPDATES = [update("augmented", "{t} += {x}"),
           update("minus", "{t} -= 0 - ({x})"),
           update("other_side", "{t} = ({x}) + {t}"),
           update("swapped", "{t} = {t} + ({b}) * ({a})"),
           update("fused_multiply", "{t} = T.fma({a}, {b}, {t})", of_floats=True),
           update("scaled", "{t} = {t} + ({a}) * 2 * ({b}) * 0.5", of_floats=True)]


def loops_of_order(n, order):
    loops = dict(n.loops)
    if not is_simple(n) or len(order) < 2 or order == [v for v, _ in n.loops]:
        return None
    return in_loops([(v, loops[v]) for v in order], block_lines(n))


def reversed_spatial(n):
    names = [i.value for i in spatial(n)]
    return loops_of_order(n, names[::-1] + [i.value for i in reduce(n)])


def sum_outside(n):
    names = [i.value for i in reduce(n)]
    return names and loops_of_order(n, names + [i.value for i in spatial(n)])


def sum_between(n):
    names = [i.value for i in spatial(n)]
    return reduce(n) and len(names) > 1 and loops_of_order(n, names[:1] + [i.value for i in reduce(n)] + names[1:])


def iterators_turned(n):
    if len(n.iters) < 2 or not is_simple(n):
        return None
    turned = replace(n, iters=n.iters[::-1])
    return in_loops(n.loops, block_lines(turned))


def fused_loops(n):
    if not is_simple(n) or len(spatial(n)) < 2 or n.iters[:2] != spatial(n)[:2]:
        return None
    (a, x), (b, y) = n.loops[:2]
    values = {a: f"({a}_{b} // ({y}))", b: f"({a}_{b} % ({y}))"}
    iters = [replace(i, value=values.get(i.value, i.value)) for i in n.iters]
    return in_loops([(f"{a}_{b}", f"({x}) * ({y})")] + n.loops[2:], block_lines(replace(n, iters=iters)))


def tiled_loop(n):
    """The first loop in two, where 4 divides it."""
    if not is_simple(n) or not n.loops[0][1].isdigit() or int(n.loops[0][1]) % 4:
        return None
    a, x = n.loops[0]
    iters = [replace(i, value=f"{a}o * 4 + {a}i" if i.value == a else i.value) for i in n.iters]
    loops = [(a + "o", str(int(x) // 4)), (a + "i", "4")] + n.loops[1:]
    return in_loops(loops, block_lines(replace(n, iters=iters)))


def tail(n):
    """The first loop in two, and a predicate."""
    if not is_simple(n) or not n.loops[0][1].isdigit() or int(n.loops[0][1]) < 4:
        return None
    a, x = n.loops[0]
    iters = [replace(i, value=f"{a}o * 3 + {a}i" if i.value == a else i.value) for i in n.iters]
    loops = [(a + "o", str((int(x) + 2) // 3)), (a + "i", "3")] + n.loops[1:]
    return in_loops(loops, block_lines(replace(n, iters=iters, where=f"{a}o * 3 + {a}i < {x}")))


def unit_loop(n):
    iters = n.iters + [Iter("vunit", "spatial", "1", "unit")]
    return in_loops(n.loops + [("unit", "1")], block_lines(replace(n, iters=iters)))


def no_block(n):
    if not is_simple(n):
        return None
    values = {i.name: i.value for i in n.iters}
    target, value = substitute(n.target, values), substitute(n.value, values)
    if n.init is None:
        return in_loops(n.loops, [f"{target} = {value}"])
    names = [i.value for i in spatial(n)]
    outer = [l for l in n.loops if l[0] in names]
    inner = [l for l in n.loops if l[0] not in names]
    start = f"{target} = {substitute(n.init, values)}"
    return in_loops(outer, [start] + in_loops(inner, [f"{target} = {value}"]))


def chosen(n):
    """The first step of a sum takes its start in place of the element."""
    if n.init is None or not reduce(n) or n.value.count(n.target) != 1:
        return None
    value = n.value.replace(n.target, f"T.Select({start_condition(n)}, {n.init}, {n.target})")
    return in_loops(n.loops, block_lines(n, [f"{n.target} = {value}"], init=False))


def started_in_loop(n):
    """No block, and the start under a condition in the loops of the sum."""
    if not is_simple(n) or n.init is None or not reduce(n):
        return None
    values = {i.name: i.value for i in n.iters}
    target, value, start, first = [substitute(x, values) for x in (n.target, n.value, n.init, start_condition(n))]
    return in_loops(n.loops, [f"if {first}:", f"    {target} = {start}", f"{target} = {value}"])


def one_element(n):
    """No block, and sums in an array of one element."""
    made = re.match(r"T\.(\w+)\(", n.init or "")
    if not is_simple(n) or not made or not reduce(n):
        return None
    values, acc = {i.name: i.value for i in n.iters}, f"acc_{n.block}[0]"
    names = [i.value for i in spatial(n)]
    outer = [l for l in n.loops if l[0] in names]
    inner = [l for l in n.loops if l[0] not in names]
    value = substitute(n.value.replace(n.target, acc), values)
    body = [f"{acc} = {substitute(n.init, values)}"] + in_loops(inner, [f"{acc} = {value}"])
    return [f'acc_{n.block} = T.alloc_buffer((1,), "{made[1]}")'] + in_loops(outer, body + [f"{substitute(n.target, values)} = {acc}"])


def first_stores(n):
    """The first step stores what the others add."""
    x = summand(n)
    if x is None or not reduce(n) or not re.fullmatch(r"T\.\w+\(0(\.0)?\)", n.init):
        return None
    body = [f"if {start_condition(n)}:", f"    {n.target} = {x}", "else:", f"    {n.target} = {n.value}"]
    return in_loops(n.loops, block_lines(n, body, init=False))


def one_place(n):
    """No block, and one loop over the elements of the first two dimensions."""
    if not is_simple(n) or len(spatial(n)) < 2 or n.iters[:2] != spatial(n)[:2]:
        return None
    (a, x), (b, y) = n.loops[:2]
    values = {a: f"({a}_{b} // ({y}))", b: f"({a}_{b} % ({y}))"}
    values = {i.name: values.get(i.value, i.value) for i in n.iters}
    target, value, init = [substitute(e, values) if e else e for e in (n.target, n.value, n.init)]
    names = [i.value for i in spatial(n)]
    outer = [(f"{a}_{b}", f"({x}) * ({y})")] + [l for l in n.loops[2:] if l[0] in names]
    inner = [l for l in n.loops if l[0] not in names]
    start = [f"{target} = {init}"] if init else []
    return in_loops(outer, start + in_loops(inner, [f"{target} = {value}"]))


def one_tile(n):
    """No block, and sums in an array of 2 x 4 elements."""
    made = re.match(r"T\.(\w+)\(", n.init or "")
    if not is_simple(n) or not made or not reduce(n) or len(spatial(n)) < 2 or "if_then_else" in n.value:
        return None
    loops, steps = dict(n.loops), dict(zip([i.value for i in spatial(n)][-2:], (2, 4)))
    if not all(loops[v].isdigit() and int(loops[v]) % s == 0 for v, s in steps.items()):
        return None
    values = {i.name: f"({i.value}_o * {steps[i.value]} + {i.value}_i)" if i.value in steps else i.value for i in n.iters}
    tile = [(f"{v}_i", str(s)) for v, s in steps.items()]
    acc = f"acc_{n.block}[{', '.join(v for v, _ in tile)}]"
    outer = [(v + "_o", str(int(e) // steps[v])) if v in steps else (v, e)
             for v, e in n.loops if v in [i.value for i in spatial(n)]]
    inner = [l for l in n.loops if l[0] not in [i.value for i in spatial(n)]]
    value = substitute(n.value.replace(n.target, acc), values)
    body = in_loops(tile, [f"{acc} = {substitute(n.init, values)}"]) + in_loops(inner + tile, [f"{acc} = {value}"])
    body += in_loops(tile, [f"{substitute(n.target, values)} = {acc}"])
    return [f'acc_{n.block} = T.alloc_buffer((2, 4), "{made[1]}")'] + in_loops(outer, body)


FORMS = [named, named_loads, init_before, init_inside, init_if, chosen, started_in_loop, one_element, *UPDATES, reversed_spatial, sum_outside, sum_between,
         iterators_turned, fused_loops, tiled_loop, tail, unit_loop, no_block, first_stores, one_place, one_tile]


# --- forms of the whole program


def handles(program):
    """Parameters as handles and T.match_buffer."""
    params, before = [], []
    for p in program.params:
        found = re.fullmatch(r"(\w+): T\.Buffer\((.*)\)", p)
        params.append(f"{found[1].lower()}_: T.handle" if found else p)
        if found:
            before.append(f"{found[1]} = T.match_buffer({found[1].lower()}_, {found[2]})")
    return write(replace(program, before=before + program.before), params=params)


def flat(program):
    """Parameters of one dimension; the rows are in the indices."""
    params, shapes = [], {}
    for p in program.params:
        found = re.fullmatch(r"(\w+): T\.Buffer\(\(([\d, ]+)\)(.*)\)", p)
        dims = [int(d) for d in found[2].split(",") if d.strip()] if found else []
        size = 1
        for d in dims:
            size *= d
        if len(dims) > 1:
            shapes[found[1]] = dims
        params.append(f"{found[1]}: T.Buffer(({size},){found[3]})" if len(dims) > 1 else p)
    if not shapes or any(n.text for n in program.nests):
        return None

    class Flatten(ast.NodeTransformer):
        def visit_Subscript(self, node):
            self.generic_visit(node)
            if not isinstance(node.value, ast.Name) or node.value.id not in shapes:
                return node
            at = None
            for index, extent in zip(node.slice.elts, shapes[node.value.id]):
                at = ast.unparse(index) if at is None else f"({at}) * {extent} + ({ast.unparse(index)})"
            return ast.parse(f"{node.value.id}[{at}]", mode="eval").body

    def flattened(text):
        return text and ast.unparse(Flatten().visit(ast.parse(text, mode="eval")))

    nests = [replace(n, target=flattened(n.target), value=flattened(n.value), init=flattened(n.init))
             for n in program.nests]
    return write(replace(program, nests=nests), params=params)


def forms(text):
    """(name, program) of each form that differs from the program as it stands."""
    program = read(text)
    plain = write(program)
    yield "plain", plain
    for form in FORMS:
        other = write(program, lambda n: form(n) or nest_lines(n))
        if other != plain:
            yield form.__name__, other
    for form in [handles, flat]:
        other = form(program)
        if other and other != plain:
            yield form.__name__, other
