"""Models in libraries that `tirc build --emit=lib` made. They are called by the names of their inputs, with numpy
arrays. The libraries need nothing of tirc; NAME_info describes their parameters."""

import ctypes
import mmap
import os
import re
import types
from ctypes import CDLL, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p

from ._errors import ArgumentError

FORMAT, ALIGNMENT = 1, 64


class _Tensor(Structure):
    _fields_ = [("name", c_char_p), ("c_name", c_char_p), ("dtype", c_char_p), ("ndim", c_int), ("shape", POINTER(c_int64)),
                ("extents", POINTER(c_char_p))]


class _Extent(Structure):
    _fields_ = [("name", c_char_p), ("c_name", c_char_p), ("lower", c_int64), ("upper", c_int64)]


class _Rows(Structure):
    _fields_ = [("result", c_int), ("count", c_int), ("axis", c_int)]


class _Info(Structure):
    _fields_ = [("format", c_int), ("n_extents", c_int), ("n_inputs", c_int), ("n_weights", c_int), ("n_results", c_int),
                ("name", c_char_p), ("version", c_char_p), ("extents", POINTER(_Extent)), ("tensors", POINTER(_Tensor)),
                ("workspace", c_int64), ("weights", c_int64), ("prepared", c_int64),
                ("n_rows", c_int), ("rows", POINTER(_Rows))]


class TensorInfo:
    """name, as in the model's file, c_name, dtype, and shape: numbers, and the texts of extents known only at run
    time."""

    def __init__(self, t):
        self.name, self.c_name, self.dtype = t.name.decode(), t.c_name.decode(), t.dtype.decode()
        self.shape = tuple(t.shape[d] if t.shape[d] >= 0 else t.extents[d].decode() for d in range(t.ndim))

    def __repr__(self):
        return "%s: %s%s" % (self.name, self.dtype, list(self.shape))


def _numpy_dtype(name):
    import numpy
    return numpy.dtype("uint16" if name == "bfloat16" else name)  # whose bits they are


def _aligned(n):
    """n bytes, their owner and where they begin."""
    import numpy
    owner = numpy.empty(max(n, 1) + ALIGNMENT, "uint8")
    return owner, owner.ctypes.data + -owner.ctypes.data % ALIGNMENT


def _found(path):
    """Names of what may be a model: the library has NAME_info for it."""
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return sorted({m.group(1).decode() for m in re.finditer(rb"(?<=\0)([A-Za-z_]\w*)_info(?=\0)", data)})


def _select(condition, a, b):
    return a if condition else b


def _truncdiv(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_WORDS = {"__builtins__": {}, "T": types.SimpleNamespace(
    max=max, min=min, int64=int, int32=int, Cast=lambda dtype, x: int(x), Select=_select, if_then_else=_select, abs=abs,
    Div=_truncdiv, truncdiv=_truncdiv, truncmod=lambda a, b: a - b * _truncdiv(a, b))}


class Loaded:
    """A model in a library: `model(x)`, or `model(**{"input.1": x})`, returns a numpy array; several results are a
    tuple. If the number of rows of a result is known only at run time, the result has these rows, and the number
    is a separate result. inputs, weights, outputs: TensorInfos; extents: names -> (least, greatest) of extents
    known only at run time; version: that of the tirc which made it. Several threads may call it at once."""

    def __init__(self, path, name=None, weights=None):
        path = os.path.abspath(os.fspath(path))
        self._library = CDLL(path)
        self.name = name or self._only_name(path)
        try:
            tell = getattr(self._library, self.name + "_info")
        except AttributeError:
            raise ArgumentError("%s has no model '%s'" % (path, self.name), code="argument") from None
        tell.restype = POINTER(_Info)
        info = self._info = tell().contents
        if info.format < FORMAT:
            raise ArgumentError("%s was made by another tirc, %s" % (path, info.version.decode()), code="argument")
        self.version = info.version.decode()
        n, last = info.n_inputs, info.n_inputs + info.n_weights
        tensors = [TensorInfo(info.tensors[i]) for i in range(last + info.n_results)]
        self.inputs, self.weights, self.outputs = tensors[:n], tensors[n:last], tensors[last:]
        self._extents = [(e.name.decode(), e.c_name.decode(), e.lower, e.upper) for e in info.extents[:info.n_extents]]
        self.extents = {e[0]: e[2:] for e in self._extents}
        rows = info.rows[:info.n_rows] if info.format >= 2 and info.n_rows else []
        self._rows = [(r.result, r.count, r.axis) for r in rows]  # of a result: which one counts its rows, along this axis
        self._run, self._error_text = getattr(self._library, self.name), getattr(self._library, self.name + "_error_text")
        self._error_text.restype = c_char_p
        self._take_weights(weights)

    def _only_name(self, path):
        names = [n for n in _found(path) if hasattr(self._library, n) and hasattr(self._library, n + "_error_text")]
        if len(names) != 1:
            raise ArgumentError("%s has %s" % (path, "the models %s: name says which" % ", ".join(names) if names else "no model"),
                                code="argument")
        return names[0]

    def _take_weights(self, given):
        """The block that the code reads; or an array for each, of which it prepares what it needs."""
        info, self._block, self._arrays = self._info, [], []
        if info.weights == 0:
            self._block = [c_void_p(0)]
        elif info.weights > 0:
            if not isinstance(given, (str, os.PathLike)):
                raise ArgumentError("weights is the file that `tirc build --weights-out` wrote beside the library", code="argument")
            if os.path.getsize(given) != info.weights:
                raise ArgumentError("%s has %d bytes, and the library's weights %d" %
                                    (given, os.path.getsize(given), info.weights), code="argument")
            import numpy
            self._mapped = numpy.memmap(given, "uint8", "r")
            self._block = [c_void_p(self._mapped.ctypes.data)]
        if not self.weights:
            return
        given = dict(given or {})
        missing = [w.name for w in self.weights if w.name not in given and w.c_name not in given]
        if missing:
            raise ArgumentError("weights are missing: %s" % ", ".join(missing[:8] + ["..."] * (len(missing) > 8)), code="argument")
        self._arrays = [self._array(w, given[w.name] if w.name in given else given[w.c_name], {}, "weight") for w in self.weights]
        if info.prepared:
            self._kept, at = _aligned(info.prepared)
            self._block = [c_void_p(at)]
            self._check(getattr(self._library, self.name + "_prepare")(*self._pointers(self._arrays), c_void_p(at)))

    def _check(self, status):
        if status:
            raise ArgumentError("%s: %s" % (self.name, self._error_text(status).decode()), code="run")

    @staticmethod
    def _pointers(arrays):
        return [c_void_p(a.ctypes.data) for a in arrays]

    def _array(self, t, x, extents, what):
        """As the code reads it. Extents that it tells are noted."""
        import numpy
        a = numpy.ascontiguousarray(x)
        if a.dtype != _numpy_dtype(t.dtype):
            raise ArgumentError("the %s '%s' is %s, not %s" % (what, t.name, t.dtype, a.dtype), code="argument")
        if numpy.ndim(x) == 0:
            a = a.reshape(())
        fits = a.ndim == len(t.shape)
        for wanted, is_ in zip(t.shape, a.shape):
            if isinstance(wanted, str) and wanted.isidentifier():
                fits &= extents.setdefault(wanted, is_) == is_
            elif not isinstance(wanted, str):
                fits &= wanted == is_
        if not fits:
            raise ArgumentError("the %s '%s' is %s, not %s" % (what, t.name, list(t.shape), list(a.shape)), code="argument")
        return a

    def _inputs_of(self, args, keywords):
        given = dict(enumerate(args))
        if len(args) > len(self.inputs):
            raise ArgumentError("the model has %d inputs, not %d" % (len(self.inputs), len(args)), code="argument")
        for name, x in keywords.items():
            i = next((i for of in ("name", "c_name") for i, t in enumerate(self.inputs) if name == getattr(t, of)), None)
            if i is None or i in given:
                raise ArgumentError("%s '%s'; the inputs are %s" % ("there is no input" if i is None else "twice the input", name,
                                                                   ", ".join(t.name for t in self.inputs)), code="argument")
            given[i] = x
        missing = [t.name for i, t in enumerate(self.inputs) if i not in given]
        if missing:
            raise ArgumentError("inputs are missing: %s" % ", ".join(missing), code="argument")
        return [given[i] for i in range(len(self.inputs))]

    @staticmethod
    def _evaluate(extent, extents):
        return extent if not isinstance(extent, str) else int(eval(extent, dict(_WORDS), extents))

    def _workspace(self, leading):
        if self._info.workspace >= 0:
            return self._info.workspace
        size = getattr(self._library, self.name + "_workspace_size")
        size.restype = c_int64
        return size(*leading)

    def __call__(self, /, *args, **keywords):  # an input may be called self
        import numpy
        extents = {}
        arrays = [self._array(t, x, extents, "input") for t, x in zip(self.inputs, self._inputs_of(args, keywords))]
        leading = [c_int64(extents[c_name]) for _, c_name, _, _ in self._extents]
        for t, a in zip(self.inputs, arrays):
            if a.shape != tuple(self._evaluate(e, extents) for e in t.shape):
                raise ArgumentError("the input '%s' is %s, not %s" % (t.name, list(t.shape), list(a.shape)), code="argument")
        results = [numpy.empty([max(self._evaluate(e, extents), 0) for e in t.shape], _numpy_dtype(t.dtype)) for t in self.outputs]
        keep, at = _aligned(self._workspace(leading))
        self._check(self._run(*leading, *self._pointers(arrays + self._arrays + results), *self._block, c_void_p(at)))
        for i, count, axis in self._rows:
            results[i] = results[i][(slice(None),) * axis + (slice(int(results[count])),)]
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self):
        return "<%s (%s) -> (%s)>" % (self.name, ", ".join(map(repr, self.inputs)), ", ".join(map(repr, self.outputs)))


def load(path, name=None, weights=None):
    """Loads a model from a library that `tirc build MODEL --emit=lib` made. name: which model, if the library has
    several. weights: the file of --weights-out; for a model whose weights are parameters, a dict of arrays."""
    return Loaded(path, name, weights)
