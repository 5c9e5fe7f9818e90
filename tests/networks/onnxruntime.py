"""ONNX Runtime by its C interface, where `tools/setup --onnxruntime` put its library: places in the table never change."""
import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p

import numpy as np

PATH = os.environ.get("TIRC_ONNXRUNTIME") or os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "tirc", "onnxruntime", "libonnxruntime.so.1")
TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64"}
NUMBERS = {np.dtype(name): number for number, name in TYPES.items()}
PLACES = {"GetErrorMessage": 2, "CreateEnv": 3, "CreateSession": 7, "Run": 9, "CreateSessionOptions": 10, "SetIntraOpNumThreads": 24, "SessionGetOutputCount": 31,
          "SessionGetInputName": 36, "SessionGetOutputName": 37, "CreateTensorWithDataAsOrtValue": 49, "GetTensorMutableData": 51, "GetTensorElementType": 60,
          "GetDimensionsCount": 61, "GetDimensions": 62, "GetTensorTypeAndShape": 65, "CreateCpuMemoryInfo": 69, "GetAllocatorWithDefaultOptions": 78, "ReleaseValue": 96}


def exists():
    return os.path.exists(PATH)


class Session:
    """A file, to be called with the arrays of its inputs in their order; gives a list of its outputs."""

    def __init__(self, path, threads=1):
        base = ctypes.CDLL(PATH).OrtGetApiBase
        base.restype = POINTER(c_void_p)
        self._table = ctypes.cast(ctypes.CFUNCTYPE(c_void_p, ctypes.c_uint32)(base()[0])(1), POINTER(c_void_p))
        env, options, self._session, self._memory, allocator = (c_void_p() for _ in range(5))
        self._do("CreateEnv", c_int(3), c_char_p(b"tirc"), byref(env))
        self._do("CreateSessionOptions", byref(options))
        self._do("SetIntraOpNumThreads", options, c_int(threads))
        self._do("CreateSession", env, c_char_p(os.fspath(path).encode()), options, byref(self._session))
        self._do("CreateCpuMemoryInfo", c_int(1), c_int(0), byref(self._memory))
        self._do("GetAllocatorWithDefaultOptions", byref(allocator))
        self._allocator, n = allocator, c_size_t()
        self._do("SessionGetOutputCount", self._session, byref(n))
        self._outputs = [self._name("Output", i) for i in range(n.value)]

    def _do(self, name, *args):
        status = ctypes.CFUNCTYPE(c_void_p, *[type(a) if not str(type(a)).endswith("CArgObject'>") else c_void_p for a in args])(self._table[PLACES[name]])(*args)
        if status:
            tell = ctypes.CFUNCTYPE(c_char_p, c_void_p)(self._table[PLACES["GetErrorMessage"]])
            raise RuntimeError(tell(status).decode())

    def _name(self, what, i):
        out = c_char_p()
        self._do("SessionGet%sName" % what, self._session, c_size_t(i), self._allocator, byref(out))
        return out.value

    def __call__(self, arrays):
        arrays = [np.array(a, order="C", copy=False) for a in arrays]
        values, n = (c_void_p * max(len(arrays), 1))(), len(arrays)
        for i, a in enumerate(arrays):
            value = c_void_p()
            self._do("CreateTensorWithDataAsOrtValue", self._memory, c_void_p(a.ctypes.data), c_size_t(a.nbytes), (c_int64 * max(a.ndim, 1))(*a.shape), c_size_t(a.ndim),
                     c_int(NUMBERS[a.dtype]), byref(value))
            values[i] = value.value
        names = (c_char_p * max(n, 1))(*[self._name("Input", i) for i in range(n)])
        outputs, results = (c_char_p * len(self._outputs))(*self._outputs), (c_void_p * len(self._outputs))()
        self._do("Run", self._session, c_void_p(), names, values, c_size_t(n), outputs, c_size_t(len(outputs)), results)
        found = [self._array(c_void_p(r)) for r in results]
        release = ctypes.CFUNCTYPE(None, c_void_p)(self._table[PLACES["ReleaseValue"]])
        for v in [*values[:n], *results]:
            release(v)
        return found

    def _array(self, value):
        info, kind, n, data = c_void_p(), c_int(), c_size_t(), c_void_p()
        self._do("GetTensorTypeAndShape", value, byref(info))
        self._do("GetTensorElementType", info, byref(kind))
        self._do("GetDimensionsCount", info, byref(n))
        shape = (c_int64 * max(n.value, 1))()
        self._do("GetDimensions", info, shape, n)
        self._do("GetTensorMutableData", value, byref(data))
        a = np.empty(tuple(shape[:n.value]), TYPES[kind.value])
        if a.nbytes:
            ctypes.memmove(a.ctypes.data, data, a.nbytes)
        return a
