"""What the tests share: where things are, and schedule scripts run by Python itself."""

import linecache
import pathlib
import sys
import types

import tirc

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CASES = SOURCE / "tests" / "cases"
EXAMPLES = SOURCE / "examples"

MATMUL = """
@T.prim_func
def main(A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 32), "float32"), C: T.Buffer((16, 32), "float32")):
    for i, j, k in T.grid(16, 32, 24):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def recipes(text, names):
    """The modules that a script may import from, with the script's names in them."""
    modules = {"recipes": types.ModuleType("recipes")}
    for path in (EXAMPLES / "recipes").glob("*.sch") if "from recipes." in text else ():
        module = modules["recipes." + path.stem] = types.ModuleType("recipes." + path.stem)
        module.__dict__.update(names)
        exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return modules


def run_python(sch, text, name, constants=None):
    """Runs the text of a schedule script as Python code, with the names that a script finds."""
    names = {"sch": sch, "T": tirc.script.tir, "tir": tirc.tir, "tvm": tirc, "TensorIntrin": tirc.TensorIntrin,
             "ScheduleError": tirc.ScheduleError, "TVMError": tirc.TVMError, "__name__": "script"}
    names.update(sch.mod.functions)
    names.update(constants or {})
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)  # for inspect.getsource
    aliases = {"tvm": tirc, "tvm.tir": tirc.tir, "tvm.script": tirc.script, **recipes(text, names)}
    before = {k: sys.modules.get(k) for k in aliases}
    sys.modules.update(aliases)
    try:
        exec(compile(text, name, "exec"), names)
    finally:
        for k, module in before.items():
            sys.modules.pop(k)
            if module is not None:
                sys.modules[k] = module
        tirc.TensorIntrin._registered.clear()
    return names["sch"]


def parts_of(path):
    """A .case file: its head and its parts."""
    head, parts, name = {}, {}, None
    for line in path.read_text().splitlines(True):
        if line.startswith("--- "):
            name = line[4:].strip()
            parts[name] = ""
        elif name is None:
            key, _, value = line.partition(":")
            head[key] = value.strip()
        else:
            parts[name] += line
    return head, parts


def constants_of(text):
    """The names at the top of a program, as Python values."""
    names = {}
    for line in text.splitlines():
        if "=" in line and line[:1].isupper():
            name, _, value = line.partition("=")
            names[name.strip()] = eval(value, {}, names)
    return names
