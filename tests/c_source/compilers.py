"""C source as those who embed it compile it: every warning of gcc and clang is an error, with threads and without."""
import ctypes
import pathlib
import re
import shutil
import subprocess

import numpy as np

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-march=haswell"]
SCALARS = {"bool": ctypes.c_bool, "float": ctypes.c_float, "double": ctypes.c_double,
           **{"%sint%d_t" % (u, b): getattr(ctypes, "c_%sint%d" % (u, b)) for u in ("", "u") for b in (8, 16, 32, 64)}}


def ways():
    """Of each compiler that is there, how it is called; the first makes the library that is run."""
    gcc, clang = shutil.which("gcc"), shutil.which("clang-19") or shutil.which("clang")
    if gcc:
        yield [gcc, *STRICT, "-O2", "-fopenmp", "-shared", "-fPIC"]
        yield [gcc, *STRICT, "-fsyntax-only"]
    if clang:
        yield [clang, *STRICT, "-O1", "-c", "-o", "/dev/null"]
        yield [clang, *STRICT, "-fopenmp", "-fsyntax-only"]


WAYS = list(ways())


def compiled(source, ways=WAYS):
    """The shared object of a file of C; what a compiler says of it is an error."""
    source = pathlib.Path(source)
    library = source.with_suffix(".so")
    for way in ways:
        makes = ["-o", library, "-lm"] if "-shared" in way else []
        done = subprocess.run([*way, source, *makes], capture_output=True, text=True)
        if done.returncode or done.stderr:
            raise AssertionError("%s\n%s" % (" ".join(map(str, [*way, source])), done.stderr[:1500]))
    return library


def block(size, fill=255):
    """So many bytes, aligned to 64, with bits that are no number."""
    memory = np.full(size + 64, fill, "uint8")
    return memory, ctypes.c_void_p(memory.ctypes.data + -memory.ctypes.data % 64)


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def model_of(header, library, name):
    """The parameters of a model's function as its header tells them, {name: (type, shape, role)}, and the function: it takes
    arrays by name, and the bytes of the weights' block (or None)."""
    text = pathlib.Path(header).read_text()
    told = text[text.rindex("/* The model:"):]
    params = {p: (t, tuple(int(e) for e in re.findall(r"\d+", re.sub(r"T\.int\d+", "", s))), role) for p, t, s, role in
              re.findall(r"^ \*   (\w+): (\w+)\[(.*?)\], (an input|a weight|written)", told, re.M)}
    params.update({p: (t, (), role) for p, t, role in re.findall(r"^ \*   (\w+): (\w+), (an input|a weight|written)", told, re.M)})
    order = re.findall(r"(\w+)[,)]", re.search(r"^int %s\(.*?\);" % name, told, re.M | re.S).group())
    sizes = {k: int(v) for k, v in re.findall(r"enum \{ %s_(workspace|prepared|weights) = (\d+) \}" % name, text)}
    functions = ctypes.CDLL(str(library))

    def call(arrays, weights=None):
        memory, workspace = block(sizes["workspace"])
        given = {"workspace": workspace, **{k: address(a) for k, a in arrays.items()}}
        if "prepared" in sizes:
            kept, given["prepared"] = block(sizes["prepared"])
            of_weights = re.findall(r"(\w+)[,)]", re.search(r"^int %s_prepare\(.*" % name, text, re.M).group())
            assert getattr(functions, name + "_prepare")(*[given[p] for p in of_weights]) == 0
        if weights is not None:
            held, given["weights"] = block(max(len(weights), 1))
            ctypes.memmove(given["weights"], weights, len(weights))
        assert getattr(functions, name)(*[given[p] for p in order]) == 0

    return params, call


def function_of(source, library):
    """The last function of a file of functions, which takes arrays and, behind them, scalars of what C says."""
    name, told = re.findall(r"^int (\w+)\((.*)\) \{$", pathlib.Path(source).read_text(), re.M)[-1]
    kinds = [None if "*" in each else each.split()[0] for each in told.split(",")]
    function = getattr(ctypes.CDLL(str(library)), name)

    def call(*values):
        assert len(values) == len(kinds)
        passed = [address(v) if kind is None else SCALARS[kind](v) for kind, v in zip(kinds, values)]
        assert function(*passed) == 0

    return call
