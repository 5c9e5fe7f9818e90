"""Shared libraries of programs and models: written by the system's C compiler of object code and the runtime that parallel loops need."""

import ctypes
import json
import os
import pathlib
import subprocess
import tempfile
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_void_p

from . import _lib
from ._errors import ArgumentError, TVMError

_TOLD = "tirc_program"  # the symbol of what a library of programs tells of itself


def _archive():
    """libtirc_rt.a: threads and workspace for what is linked."""
    at = pathlib.Path(_lib.library_path).resolve().parent
    for folder in (at, at / "runtime"):
        if (folder / "libtirc_rt.a").exists():
            return folder / "libtirc_rt.a"
    raise TVMError("there is no libtirc_rt.a beside %s, so that nothing can be linked" % _lib.library_path, code="file",
                   hint="mod.emit(\"obj\") and mod.emit(\"c\") give code without it")


def link(path, objects, cc=None):
    """A shared library; objects: {file name: bytes}, of which those that end in .c or .s are compiled."""
    compiler = cc or os.environ.get("CC") or "cc"
    with tempfile.TemporaryDirectory() as folder:
        for name, data in objects.items():
            pathlib.Path(folder, name).write_bytes(data if isinstance(data, bytes) else data.encode())
        code = [name for name in objects if name.endswith((".o", ".c", ".s"))]
        command = [*compiler.split(), "-shared", "-s", "-fPIC", "-o", os.path.abspath(path), *code, "-Wl,--as-needed", "-Wl,-z,noexecstack",
                   "-Wl,--exclude-libs,ALL", "-Wl,--whole-archive", str(_archive()), "-Wl,--no-whole-archive", "-lpthread", "-lm"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        except OSError as error:
            raise TVMError("the C compiler cannot be run: %s" % error, code="file", hint="install gcc or clang, or set CC") from None
        if done.returncode:
            raise TVMError("%s cannot link the library:\n%s" % (command[0], done.stderr.strip()), code="file")


def _is_object(path):
    ending = pathlib.Path(path).suffix
    if ending not in (".so", ".o"):
        raise ValueError("a library is a .so, or an object a .o, and not %r" % str(path))
    return ending == ".o"


def export_program(mod, target, path, cc=None):
    """The functions of a module, for load_module and for C."""
    code = mod.emit("obj", target)
    if _is_object(path):
        pathlib.Path(path).write_bytes(code)
        return
    told = json.dumps({"text": mod.script(), "header": mod.emit("header", target)}).encode() + b"\0"
    array = "const char %s[] = {%s};\n" % (_TOLD, ",".join(map(str, told)))
    link(path, {"kernel.o": code, "told.c": array}, cc)


# --- models ------------------------------------------------------------------------------------


class _EmitOptions(Structure):
    _fields_ = [("target", c_char_p), ("main_name", c_char_p), ("place", c_int), ("weights", c_void_p)]


for _name, _argtypes in (("module_emit_model", [c_void_p, c_int, POINTER(_EmitOptions), POINTER(c_void_p), POINTER(c_size_t), POINTER(c_void_p)]),
                         ("module_emit_weights", [c_void_p, POINTER(_EmitOptions), c_char_p, c_void_p, POINTER(c_void_p)])):
    _function = getattr(_lib.lib, "tirc_" + _name)
    _function.argtypes, _function.restype = _argtypes, c_int

_OBJECT, _PARAMS, _INSIDE = 2, 0, 2
_NAME = "model"
_BLOCK = (" .section .rodata\n .balign 64\n .globl {0}\n .hidden {0}\n .type {0}, %object\n{0}:\n .incbin \"weights\"\n .size {0}, . - {0}\n"
          " .section .note.GNU-stack,\"\",%progbits\n")


def _safetensors(arrays):
    """The file of arrays by name, as bytes."""
    import numpy
    head, at, parts = {}, 0, []
    names = {"f": "F", "i": "I", "u": "U", "b": "BOOL"}
    for name, array in arrays.items():
        data = numpy.ascontiguousarray(array.numpy() if hasattr(array, "numpy") else array)
        kind = names[data.dtype.kind]
        head[name] = {"dtype": kind if kind == "BOOL" else "%s%d" % (kind, 8 * data.dtype.itemsize), "shape": list(data.shape),
                      "data_offsets": [at, at + data.nbytes]}
        at += data.nbytes
        parts.append(data.tobytes())
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def export_model(module, target, weights, path, cc=None):
    """A model's library, which tirc.load calls: its weights are within it."""
    from ._runtime import cpu_of
    if _is_object(path):
        raise ValueError("a model is exported as a .so; `tirc build MODEL --emit=obj` writes an object")
    options, objects = _EmitOptions(cpu_of(target), _NAME.encode(), _INSIDE if weights else _PARAMS), {}
    with tempfile.TemporaryDirectory() as folder:
        opened = None
        if weights:
            pathlib.Path(folder, "w.safetensors").write_bytes(_safetensors(weights))
            opened = _lib.make("weights", "weights_open", os.fsencode(os.path.join(folder, "w.safetensors")))
            options.weights = opened._as_parameter_
            _lib.call("module_emit_weights", module, byref(options), os.fsencode(os.path.join(folder, "block")), None)
            objects["weights"] = pathlib.Path(folder, "block").read_bytes()
            objects["weights.s"] = _BLOCK.format(_NAME + "_weights")
        out, n = c_void_p(), c_size_t()
        _lib.call("module_emit_model", module, _OBJECT, byref(options), byref(out), byref(n))
        try:
            objects["kernel.o"] = ctypes.string_at(out.value, n.value)
        finally:
            _lib.lib.tirc_string_free(out)
        del opened
    link(path, objects, cc)


# --- back --------------------------------------------------------------------------------------


class _Function:
    """A function of a library: called with arrays, which it uses in place."""

    def __init__(self, library, func, declared):
        self.func, self.name = func, func.name
        self._call, self._scalars = getattr(library, declared[0]), declared[1]
        self._library, self._symbol = library, declared[0]
        told = {e for p in func.params for e in (p.shape if p.shape is not None else (p.name,))}
        text = func.script()
        if not all(name in told for name, _ in self._scalars) or "strides=" in text or "elem_offset=" in text:
            raise TVMError("%s takes arrays with strides or offsets of their own, or an extent that no array tells: C calls it, and "
                           "tirc.build(mod) does" % self.name, code="argument")

    def __call__(self, *args):
        from ._runtime import _arguments
        params = self.func.params
        if len(args) != len(params):
            raise ArgumentError("%s takes %d arguments, not %d" % (self.name, len(params), len(args)), code="argument")
        given, keep = _arguments(self.func, args)
        extents, values = {p.name: given[i].i for i, p in enumerate(params) if p.shape is None}, []
        for i, p in enumerate(params):
            values.append(self._array(p, given[i].tensor.contents, extents) if p.shape is not None else self._scalar(p, given[i]))
        values += [ctype(extents[name]) for name, ctype in self._scalars]
        status = self._call(*values)
        del keep
        if status:
            raise TVMError("%s: %s" % (self.name, self._error_text(status)), code="run")

    def _error_text(self, status):
        if status == 1:
            return "there is no memory for its workspace"
        tell = getattr(self._library, self._symbol + "_error_text")
        tell.restype = c_char_p
        return tell(status).decode()

    def _array(self, p, tensor, extents):
        shape = tuple(tensor.shape[:tensor.ndim])
        compact, step = True, 1
        for d in reversed(range(tensor.ndim if tensor.strides else 0)):
            compact &= shape[d] == 1 or tensor.strides[d] == step
            step *= shape[d]
        fits = len(shape) == len(p.shape) and all(
            extents.setdefault(wanted, is_) == is_ if isinstance(wanted, str) else wanted in (-1, is_) for wanted, is_ in zip(p.shape, shape))
        dtype = _dtype_of(tensor.dtype)
        if not fits or dtype != p.dtype or not compact:
            raise ArgumentError("argument \"%s\" of %s is %s%s%s, not %s%s" % (p.name, self.name, dtype, list(shape), "" if compact else ", not compact",
                                                                             p.dtype, list(p.shape)), code="argument")
        return c_void_p((tensor.data or 0) + tensor.byte_offset)

    @staticmethod
    def _scalar(p, given):
        if p.dtype in ("float32", "float64"):
            return (ctypes.c_float if p.dtype == "float32" else ctypes.c_double)(given.f)
        kind = getattr(ctypes, "c_%s" % p.dtype, ctypes.c_bool if p.dtype == "bool" else None)
        if kind is None:
            raise ArgumentError("a scalar of type %s cannot be handed over" % p.dtype, code="argument")
        return kind(given.i)


def _dtype_of(t):
    name = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}.get(t.code, "?")
    return name if name == "bool" else "%s%d" % (name, t.bits)


class Library:
    """What load_module gives of programs: call it, or one of its functions by name."""

    entry_name = "__tvm_main__"

    def __init__(self, path, library, told):
        from ._module import parse
        self.path, self.mod = path, parse(told["text"], str(path))
        self._library, self._declared = library, _declared(told["header"])
        self._functions = {}

    def __getitem__(self, name):
        if name == self.entry_name:
            return self._main()
        if name not in self._functions:
            if name not in self.mod.functions:
                raise KeyError("%r is not one of the functions: %s" % (name, ", ".join(self.mod.functions)))
            self._functions[name] = _Function(self._library, self.mod[name], self._of(name))
        return self._functions[name]

    def _of(self, name):
        """(symbol, the scalars behind the parameters) of a function."""
        own = [s for s in self._declared if "_pack_" not in s or s in self.mod.functions]
        symbol = name if name in own else own[list(self.mod.functions).index(name)]
        packing = next((s for s in self._declared if s not in own and s.startswith((name + "_pack_", symbol + "_pack_"))), None)
        if packing:
            raise TVMError("%s takes an operand that its schedule packs, which %s makes" % (name, packing), code="argument",
                           hint="tirc.build(mod) packs it at the first call")
        return symbol, self._declared[symbol][len(self.mod[name].params):]

    def get_function(self, name, query_imports=False):
        return self[name]

    def _main(self):
        names = list(self.mod.functions)
        return self["main" if len(names) != 1 else names[0]]

    def __call__(self, *args):
        self._main()(*args)

    def time_evaluator(self, func_name, dev=None, number=10, repeat=1, min_repeat_ms=0):
        """A function of the arguments that measures and gives a BenchmarkResult."""
        from ._runtime import timed
        return timed(self[func_name], number, repeat, min_repeat_ms)

    def __repr__(self):
        return "<the library %s of %s>" % (self.path, ", ".join(self.mod.functions))


def _declared(header):
    """{symbol: [(name, ctype or None of an array)]} of a C header, in order."""
    import re
    found = {}
    for name, params in re.findall(r"(?m)^int (\w+)\(([^;]*)\);", header):
        if name.endswith("__rt"):
            continue
        parts = [p.strip() for p in params.split(",") if p.strip() != "void"]
        found[name] = [(p.rpartition(" ")[2].lstrip("*"), None if "*" in p else getattr(ctypes, "c_" + p.split()[0][:-2], ctypes.c_int64))
                       for p in parts]
    return found


def load_module(path):
    """Loads a library that export_library wrote: its functions by name; for a model, the result of tirc.load."""
    path = os.path.abspath(os.fspath(path))
    library = ctypes.CDLL(path)
    try:
        told = ctypes.c_char.in_dll(library, _TOLD)
    except ValueError:
        from ._load import load
        return load(path)
    return Library(path, library, json.loads(ctypes.string_at(ctypes.addressof(told)).decode()))
