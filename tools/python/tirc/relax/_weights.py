"""Which parameters of a graph are weights: those behind the first num_input of main, as the library has it."""

import ast
import re

from .._module import parse
from .._runtime import tensor

_NUMBER = re.compile(r'"num_input": (\d+)')


def _main(text):
    """The graph of a module's text that is compiled: main, or the only one."""
    found = {n.name: n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)
             and any(ast.unparse(d).startswith("R.function") for d in n.decorator_list)}
    if "main" not in found and len(found) != 1:
        raise ValueError("the module has no graph main")
    return found["main"] if "main" in found else next(iter(found.values()))


def main_of(mod):
    """Its name."""
    return _main(mod.script()).name


def all_inputs(mod):
    """The module with all parameters of main as inputs."""
    from .._model import parameters_of
    return _of_text(_NUMBER.sub('"num_input": %d' % len(parameters_of(mod._module)), mod.script()))


def weighed(mod, params):
    """The module and its weights: those given by name, or those that it has; a module whose weights nobody has takes them as inputs."""
    if params:
        return with_weights(mod, params), params
    if mod._params is None and '"num_input"' in mod.script():
        return all_inputs(mod), None
    return mod, mod._params or None


def as_inputs(mod):
    """The same, and {"main": [the weights that it had]}."""
    found = _NUMBER.search(mod.script())
    if not found:
        return mod, {"main": []}
    if mod._params is None:
        raise ValueError("the module has no weights with it, but those that it is given")
    from .._model import parameters_of
    names = parameters_of(mod._module)[int(found.group(1)):]
    return all_inputs(mod), {"main": [tensor(mod._params[name]) for name in names]}


def with_weights(mod, params):
    """The module with these parameters of main as weights: they stand last."""
    text = mod.script()
    f = _main(text)
    names = [a.arg for a in f.args.args]
    unknown = [name for name in params if name not in names]
    if unknown:
        raise ValueError("%s has no parameter %s; they are %s" % (f.name, ", ".join(map(str, unknown)), ", ".join(names)))
    order = [a for a in f.args.args if a.arg not in params] + [a for a in f.args.args if a.arg in params]
    lines = text.split("\n")
    first = "def %s(%s)" % (f.name, ", ".join(ast.unparse(a) for a in order))
    returned = " -> %s" % ast.unparse(f.returns) if f.returns else ""
    body = lines[f.body[0].lineno - 1:]
    indent = " " * f.body[0].col_offset
    n = len(names) - len(params)
    attrs = '%sR.func_attr({"num_input": %d})' % (indent, n)
    said = [i for i, line in enumerate(body[:f.body[-1].end_lineno - f.body[0].lineno + 1]) if line.strip().startswith("R.func_attr(")]
    if said:
        at = said[0]
        body[at] = _NUMBER.sub('"num_input": %d' % n, body[at]) if _NUMBER.search(body[at]) else body[at].replace("({", '({"num_input": %d, ' % n, 1)
    else:
        body.insert(0, attrs)
    return _of_text("\n".join(lines[:f.lineno - 1] + [" " * f.col_offset + first + returned + ":"] + body))


def _of_text(text):
    return parse(text, "<graph>")
