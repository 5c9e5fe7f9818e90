"""What the tests share: where things are, and schedule scripts run by Python itself."""

import importlib.abc
import importlib.machinery
import json
import linecache
import pathlib
import re
import sys

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


class ScriptFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports as a script makes them: `rule_based` is rule_based.sch beside the script that asks, or below the
    examples, run with the script's own names when it is asked for first."""

    def __init__(self, folder, names):
        self.folders, self.names, self.found = [folder, EXAMPLES], names, {}

    def find_spec(self, fullname, path=None, target=None):
        parts = fullname.split(".")
        for folder in self.folders:
            file = folder.joinpath(*parts).with_suffix(".sch")
            package = folder.joinpath(*parts)
            if file.is_file() or (package.is_dir() and any(package.glob("*.sch"))):
                self.found[fullname] = file if file.is_file() else None
                return importlib.machinery.ModuleSpec(fullname, self, is_package=not file.is_file())
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file = self.found[module.__name__]
        if file is not None:
            module.__dict__.update(self.names)
            exec(compile(file.read_text(), str(file), "exec"), module.__dict__)


def attempt(work, sch, *args):
    """A script's attempt(): what a call says that fails leaves no trace."""
    try:
        work(sch.copy(), *args)
    except tirc.TVMError:
        return False
    return work(sch, *args) is not False


def run_python(sch, text, name, constants=None):
    """Runs the text of a schedule script as Python code, with the names that a script finds."""
    folder = pathlib.Path(name).parent
    names = {"sch": sch, "T": tirc.script.tir, "tir": tirc.tir, "tvm": tirc, "TensorIntrin": tirc.TensorIntrin,
             "ScheduleError": tirc.ScheduleError, "TVMError": tirc.TVMError, "__name__": "script", "attempt": attempt,
             "read_json": lambda file: json.loads((folder / file).read_text())}
    names.update(sch.mod.functions)
    names.update(constants or {})
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)  # for inspect.getsource
    finder = ScriptFinder(folder, names)
    for below in re.findall(r"^\s*(?:from|import) tvm([.\w]+)", text, re.MULTILINE):
        importlib.import_module("tirc" + below)  # under its own name: under the other one there would be a second copy
    aliases = {"tvm" + k[len("tirc"):]: module for k, module in sys.modules.items() if k.partition(".")[0] == "tirc"}
    before = {k: sys.modules.get(k) for k in aliases}
    sys.modules.update(aliases)
    sys.meta_path.insert(0, finder)
    try:
        exec(compile(text, name, "exec"), names)
    finally:
        sys.meta_path.remove(finder)
        for k in finder.found:
            sys.modules.pop(k, None)
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
