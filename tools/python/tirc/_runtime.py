"""Kernels: compiled functions that take arrays as they lie in memory."""

import collections
import ctypes
import functools
import os
import re
import statistics
import threading
from ctypes import POINTER, byref, c_int64

from . import _device, _lib
from ._device import cpu, device
from ._errors import ArgumentError, TVMError
from ._module import IRModule, PrimFunc, as_module
from ._target import Target

_CODES = {"i": 0, "u": 1, "f": 2, "b": 6, "c": 5}
_BY_NAME = {"bfloat16": (4, 16)}


def cpu_of(target):
    """The CPU name of a target as it may be written: "native", "llvm -mcpu=native", a Target, None."""
    if target is None:
        return None
    text = target.get("mcpu") if isinstance(target, dict) else str(target)
    if text and text.split()[:1] in (["llvm"], ["c"]):
        found = re.search(r"-mcpu[= ](\S+)", text)
        text = found.group(1) if found else None
    return text.encode() if text else None


def gpu_of(target):
    """The name of a GPU, when the target is one: "nvidia/nvidia-t4", "sm_80", "cuda -arch=sm_80", "opencl"; otherwise None."""
    if isinstance(target, dict):
        text = "%s -arch=%s" % (target.get("kind", ""), target["arch"]) if "arch" in target else target.get("kind", "")
    else:
        text = str(target or "")
    first = (text.split() or [""])[0]
    if first == "cuda":
        found = re.search(r"-arch[= ](\S+)", text)
        return (found.group(1) if found else "sm_75").encode()
    return first.encode() if re.match(r"sm_|opencl|nvidia/", first) else None


# --- tensors ----------------------------------------------------------------------------------


class _Borrowed:
    """A DLTensor and what keeps its memory: for the time of a call."""

    def __init__(self, tensor, keep, writable=True):
        self.tensor, self.keep, self.writable = tensor, keep, writable


@functools.lru_cache(None)
def _type_of(dtype):
    code, bits = _BY_NAME.get(dtype.name, (_CODES.get(dtype.kind), 8 * dtype.itemsize))
    if code is None or not dtype.isnative:
        raise TypeError("no kernel takes arrays of dtype %s" % dtype)
    return _lib.DLDataType(code, bits, 1)


@functools.lru_cache(None)
def _extents(n):
    return c_int64 * max(n, 1)


def _of_numpy(array):
    dtype, size, n = _type_of(array.dtype), array.dtype.itemsize, array.ndim
    flags, strides = array.flags, None  # none: it is compact
    if not flags.c_contiguous:
        if any(s % size for s in array.strides):
            raise TypeError("the strides %s are not multiples of the %d bytes of an element" % (array.strides, size))
        strides = _extents(n)(*[s // size for s in array.strides])
    shape = _extents(n)(*array.shape)
    t = _lib.DLTensor(array.__array_interface__["data"][0], _lib.DLDevice(1, 0), n,
                      dtype, shape, strides, 0)
    return _Borrowed(t, (array, shape, strides), flags.writeable)


_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _of_dlpack(producer):
    try:
        capsule = producer.__dlpack__(max_version=(1, 0))
    except TypeError:
        capsule = producer.__dlpack__()
    name = _capsule_name(capsule)
    at = _capsule_pointer(capsule, name)
    if name == b"dltensor_versioned":
        managed = _lib.DLManagedTensorVersioned.from_address(at)
        return _Borrowed(managed.dl_tensor, (producer, capsule), not managed.flags & 1)
    if name != b"dltensor":
        raise TypeError("__dlpack__ gave a capsule called %r" % name)
    return _Borrowed(_lib.DLTensor.from_address(at), (producer, capsule))


_FORMATS = {**dict.fromkeys("bhilq", "i"), **dict.fromkeys("BHILQ", "u"), **dict.fromkeys("efd", "f"), "?": "b"}


def _of_buffer(view):
    """Where there is no numpy: what may be written and lies in order, such as an array.array."""
    kind = _FORMATS.get(view.format)
    if kind is None or view.readonly or not view.c_contiguous:
        raise TypeError("this buffer (format %r, %s) needs numpy: pip install numpy"
                        % (view.format, "read-only" if view.readonly else "writable"))
    memory = (ctypes.c_char * view.nbytes).from_buffer(view.cast("B"))
    shape = (c_int64 * max(view.ndim, 1))(*view.shape)
    t = _lib.DLTensor(ctypes.addressof(memory), _lib.DLDevice(1, 0), view.ndim,
                      _lib.DLDataType(_CODES[kind], 8 * view.itemsize, 1), shape, None, 0)
    return _Borrowed(t, (memory, shape))


def _borrow(x):
    if isinstance(x, _Borrowed):
        return x
    if isinstance(x, Tensor):
        x = x._array
    if type(x).__module__.partition(".")[0] == "numpy" and hasattr(type(x), "__array_interface__"):
        return _of_numpy(x)
    if hasattr(x, "__dlpack__"):
        return _of_dlpack(x)
    try:
        view = memoryview(x)
    except TypeError:
        raise TypeError("a %s is not an array: give one of numpy, or whatever has __dlpack__ or a buffer"
                        % type(x).__name__) from None
    try:
        import numpy
    except ImportError:
        return _of_buffer(view)
    return _of_numpy(numpy.asarray(view))


def _bits(dtype, x):
    """An integer as the library takes it: 64 bits, those of a uint64 as they are."""
    if x != x or int(x) != x:  # NaN, 1.5, "4"
        raise OverflowError
    i = int(x)
    low, high = (0, 2**64) if dtype == "uint64" else (-2**63, 2**63)
    if not low <= i < high:
        raise OverflowError
    return i


def _arguments(func, args):
    """The arguments as the library takes them, and what must live as long."""
    params, out, keep = func.params, (_lib.Argument * max(len(args), 1))(), []
    for i, x in enumerate(args):
        p = params[i] if i < len(params) else None
        if p is not None and p.shape is None:
            try:
                if "float" in p.dtype:
                    out[i].f = float(x)
                else:
                    out[i].i = _bits(p.dtype, x)
            except (TypeError, ValueError):
                raise ArgumentError('argument "%s" of %s: a %s is a number, not a %s'
                                    % (p.name, func.name, p.dtype, type(x).__name__), code="argument") from None
            except OverflowError:
                raise ArgumentError('argument "%s" of %s: %r is not a value of type %s' % (p.name, func.name, x, p.dtype),
                                    code="argument") from None
            continue
        try:
            b = _borrow(x)
        except (TypeError, BufferError, RuntimeError) as e:  # what a producer says of itself
            raise ArgumentError('argument "%s" of %s: %s' % (p.name if p else i, func.name, e), code="argument") from None
        if p is not None and p.is_written and not b.writable:
            raise ArgumentError('argument "%s" of %s: it is written, but the array is read-only'
                                % (p.name, func.name), code="argument")
        keep.append(b)
        out[i].tensor = ctypes.pointer(b.tensor)
    return out, keep


def _with_result(func, args):
    """The arguments, and the array of what the function returns, of one that returns a value and is called without it; else None."""
    params = func.params
    if len(args) == len(params) or not func.attrs.get("tirc.returns"):
        return args, None
    if len(args) != len(params) - 1:
        raise ArgumentError("%s takes %d arguments, not %d" % (func.name, len(params) - 1, len(args)), code="argument")
    dtype = params[-1].dtype
    try:
        import numpy
        result = numpy.zeros(1, dtype)
    except TypeError:
        raise ArgumentError("a function that returns a %s is called with an array for it" % dtype, code="argument") from None
    return (*args, result), result


# --- kernels ----------------------------------------------------------------------------------


class BenchmarkResult:
    """The measured seconds of a run: results, and their mean, median, min, max, std."""

    def __init__(self, results):
        self.results = tuple(results)
        self.mean, self.median = statistics.fmean(results), statistics.median(results)
        self.min, self.max = min(results), max(results)
        self.std = statistics.pstdev(results)

    def __repr__(self):
        return "BenchmarkResult(min=%.4g ms, mean=%.4g ms, median=%.4g ms, max=%.4g ms, std=%.2g ms)" % tuple(
            1e3 * x for x in (self.min, self.mean, self.median, self.max, self.std))


def timed(call, number=10, repeat=1, min_repeat_ms=0):
    """A function of the arguments that measures a call in Python and gives a BenchmarkResult."""
    import time

    def seconds(args, n):
        start = time.perf_counter()
        for _ in range(n):
            call(*args)
        return time.perf_counter() - start

    def run(*args):
        call(*args)
        n = number
        while min_repeat_ms and seconds(args, n) * 1e3 < min_repeat_ms:
            n *= 2
        return BenchmarkResult([seconds(args, n) / n for _ in range(repeat)])
    return run


class Kernel:
    """A compiled function. Calling it checks the arguments and runs it; arrays are used in place. One that returns a value is called
    without its last parameter, and gives the number."""

    def __init__(self, func, target, executor, lock):
        self.func, self.name, self._executor, self._lock = func, func.name, executor, lock
        self._n_params = len(func.params)
        gpu, name = gpu_of(target), func.name.encode()
        if gpu:
            device = b"opencl" if gpu.startswith(b"opencl") else b"cuda"
            self._kernel = _lib.make("kernel", "kernel_new_on", func.module._module, name, device, gpu)
        else:
            self._kernel = _lib.make("kernel", "kernel_new", func.module._module, name, cpu_of(target))

    def __call__(self, *args):
        args, result = (args, None) if len(args) == self._n_params else _with_result(self.func, args)
        given, keep = _arguments(self.func, args)
        with self._lock:  # threads share the workers, one call at a time
            _lib.call("kernel_run", self._kernel, self._executor, len(args), given)
        del keep
        return None if result is None else result[0].item()

    def time(self, *args, number=10, repeat=5, min_repeat_ms=0):
        """Runs it repeatedly: `repeat` measurements of `number` runs each, or of as many as take min_repeat_ms."""
        if repeat < 1 or number < 1:
            raise ValueError("repeat and number are at least 1")
        args, _ = _with_result(self.func, args)
        given, keep = _arguments(self.func, args)
        launch = _lib.make("launch", "launch_new", self._kernel, self._executor, len(args), given)
        seconds = (ctypes.c_double * repeat)()
        with self._lock:
            _lib.call("launch_time", launch, number, repeat, min_repeat_ms / 1e3, seconds)
        del launch, keep
        return BenchmarkResult(list(seconds))

    def __repr__(self):
        return "<Kernel %s(%s)>" % (self.name, ", ".join(map(repr, self.func.params)))


class _Kernels:
    """What a module for a GPU has on it."""

    def __init__(self, source):
        self._source = source

    def get_source(self, fmt=""):
        return self._source


class Module:
    """A built program: call it, or one of its functions by name. For a GPU, the kernels are compiled when they are
    called; imported_modules[0].get_source() is their source."""

    entry_name = "__tvm_main__"

    def __init__(self, mod, target=None, threads=0):
        self.mod, self.target = mod, target
        if not 0 <= threads < 2**31:
            raise ValueError("threads is from 0 to 2147483647, not %s" % threads)
        self._executor = _lib.make("executor", "executor_new", threads)
        self._kernels, self._lock = {}, threading.Lock()
        self.imported_modules = []
        gpu = gpu_of(target)
        if gpu:
            self.imported_modules = [_Kernels(mod.emit("opencl" if gpu.startswith(b"opencl") else "cuda", target))]
        for name in list(mod.functions)[:0 if gpu else 1]:
            self[name]  # compiles the module, so that errors come here

    def _main(self):
        names = list(self.mod.functions)
        return self["main" if len(names) != 1 else names[0]]

    def __getitem__(self, name):
        """The function of this name, or with this global_symbol."""
        if name == self.entry_name:
            return self._main()
        if name not in self._kernels:
            try:
                func = PrimFunc(self.mod, name)
                func.params
            except TVMError:
                raise KeyError("%r is not one of the functions: %s" % (name, ", ".join(self.mod.functions))) from None
            self._kernels[name] = Kernel(func, self.target, self._executor, self._lock)
        return self._kernels[name]

    def get_function(self, name, query_imports=False):
        return self[name]

    def __call__(self, *args):
        return self._main()(*args)

    @property
    def threads(self):
        return _lib.lib.tirc_executor_threads(self._executor)

    def time_evaluator(self, func_name, dev=None, number=10, repeat=1, min_repeat_ms=0, **_):
        """Returns a function of the arguments that measures the call and returns a BenchmarkResult."""
        kernel = self[func_name]
        return lambda *args: kernel.time(*args, number=number, repeat=repeat, min_repeat_ms=min_repeat_ms)

    def time(self, *args, **keywords):
        return self._main().time(*args, **keywords)

    def export_library(self, file_name, *, fcompile=None, addons=None, workspace_dir=None, cc=None):
        """Writes a shared library (.so), which runtime.load_module reads and C programs can link, or an object (.o).
        cc: the C compiler."""
        from ._export import export_program
        if fcompile or addons or workspace_dir:
            raise ValueError("the C compiler links it: cc=\"clang\" says which one, and $TMPDIR where it works")
        if self.imported_modules:
            raise ValueError("kernels for a GPU are written as source: imported_modules[0].get_source(), or mod.emit(\"cuda-header\", target)")
        export_program(self.mod, self.target, file_name, cc)

    def get_source(self, fmt=""):
        """The code: "llvm" or "asm", of a target "c" usually "c"; for a GPU, of its kernels."""
        if self.imported_modules and fmt in ("", "llvm"):
            return self.imported_modules[0].get_source()
        usual = "c" if self.target and Target(self.target).kind == "c" else "llvm"
        return self.mod.emit({"": usual, "ll": "llvm"}.get(fmt, fmt), self.target)


def build(mod, target=None, name=None, threads=0):
    """Compiles a module or function for this machine. target: an LLVM CPU name, "native", "llvm -mcpu=NAME", None for
    haswell (AVX2 and FMA), or a GPU, such as "nvidia/nvidia-t4". threads 0: TIRC_NUM_THREADS, or one for each
    core. Inside `with Target(...)`, None means that target."""
    return Module(_module_of(mod), Target.current() if target is None else target, threads)


def _function_of(mod, func):
    functions = mod.functions
    return functions[func or ("main" if "main" in functions or len(functions) != 1 else next(iter(functions)))]


CheckResult = collections.namedtuple(
    "CheckResult", "ok param at got expected error allowed elements undecided too_undecided nan_order wrong")
CheckResult.__doc__ = """ok: all elements are right. param, at, got, expected, error, allowed: the element that comes
nearest to what it may be off, or is furthest beyond. undecided: elements whose address or branch rounding decides, or without bounds; more
than 1 % of an array (too_undecided), and it cannot be checked. nan_order: elements that the order of a NaN decides.
wrong: some element is not what it may be, however many others are undecided."""
CheckResult.__bool__ = lambda self: self.ok


class Reference:
    """What a function should compute from these arguments, which do not change: the results of the reference
    interpreter, each with the deviation that the program's own types, and sums in any order, may cause."""

    def __init__(self, mod, *args, func=None, max_steps=0):
        self.mod = as_module(mod)
        self.func = _function_of(self.mod, func)
        given, keep = _arguments(self.func, args)
        options = _lib.ReferenceOptions(max_steps=max_steps)
        self._reference = _lib.make("reference", "reference_new", self.mod._module, self.func.name.encode(), len(args),
                                    given, options)
        del keep

    def check(self, *args):
        """Compares the arguments after a run from the same start. Returns a CheckResult, which is true if they are
        right."""
        given, keep = _arguments(self.func, args)
        check = _lib.Check()
        _lib.call("reference_check", self._reference, len(args), given, check)
        del keep
        result = CheckResult(*(getattr(check, name) for name in CheckResult._fields))
        return result._replace(param=result.param.decode() if result.param else None)


def interpret(mod, *args, func=None, max_steps=0):
    """Runs the reference interpreter: slow, and every access is checked."""
    mod = as_module(mod)
    f = _function_of(mod, func)
    args, result = _with_result(f, args)
    given, keep = _arguments(f, args)
    _lib.call("module_interpret", mod._module, f.name.encode(), len(args), given, max_steps)
    del keep
    return None if result is None else result[0].item()


EmulateReport = collections.namedtuple("EmulateReport", "launches blocks blocks_run barriers")


class _EmulateOptions(ctypes.Structure):
    _fields_ = [("max_steps", c_int64), ("blocks", c_int64), ("seed", ctypes.c_uint64), ("go_on", ctypes.c_void_p), ("self", ctypes.c_void_p),
                ("written", ctypes.c_void_p)]


class _EmulateReport(ctypes.Structure):
    _fields_ = [(name, c_int64) for name in EmulateReport._fields]


def emulate(mod, *args, target="cuda", func=None, seed=0, blocks=0, max_steps=0):
    """Runs a program whose loops are bound to blocks and threads on this processor, as a GPU would. This is slow.
    Races, barriers that not all threads reach, and reads of memory that nobody wrote are errors. blocks: how many
    blocks of each launch run; 0: all. Returns an EmulateReport."""
    mod = _module_of(mod)
    gpu = gpu_of(target)
    if gpu is None:
        raise ValueError("a GPU is emulated, such as \"cuda\" or \"nvidia/nvidia-t4\", and not %r" % (str(target),))
    lowered = IRModule._of(_lib.make("module", "module_lower_for", mod._module, gpu, None, None))
    f = _function_of(mod, func)
    given, keep = _arguments(f, args)
    options, report = _EmulateOptions(max_steps=max_steps, blocks=blocks, seed=seed), _EmulateReport()
    _lib.call("module_emulate", lowered._module, f.name.encode(), len(args), given, byref(options), byref(report))
    del keep
    return EmulateReport(*(getattr(report, name) for name in EmulateReport._fields))


def _module_of(mod):
    """A program; of a schedule, that which it has now."""
    return as_module(mod.mod if hasattr(mod, "mod") and not isinstance(mod, IRModule) else mod)


def compile(mod, target=None, *, weights=None, bind=None, defines=None, threads=0, operators=None, example=None, dynamic_shapes=None, entry=None, **options):
    """A callable for a model: a module with a graph, or the path of its file, ONNX or text. Call it as model(x), or
    as model(x=...) with the names of its inputs; several results are a tuple. weights: a .safetensors file or a
    dict of arrays; an ONNX file has its own. bind: inputs that are constants. defines: extents as numbers.
    plain=True: without schedules; script=FILE.sch: with this schedule. indices: "check": an index outside its
    table is an error; "clip": the nearest valid index is used; "trust": indices are not checked. entry: the graph
    of a file that becomes main. quantize="int8" or "int4", group, only, zero_point: weights of fewer bits, as with
    the command; activations="int8": products in integers. packed: {name: function of Python}, which R.call_dps_packed
    calls with tensors, the results last. passes: a list of "PHASE:FILE". For a module of functions it does what build does, under the name
    that TVM uses since 0.24.

    compile(module, example), for a PyTorch module: torch.onnx.export writes it with these arguments, a tensor or a
    tuple of tensors; dynamic_shapes is passed to the exporter."""
    from . import _model, _torch
    if _torch.is_module(mod):
        if example is None and not isinstance(target, str):
            target, example = None, target
        def use(path):
            return compile(path, target, weights=weights, bind=bind, defines=defines, threads=threads, operators=operators, **options)
        return _torch.exported(mod, example, dynamic_shapes, use)
    if example is not None or dynamic_shapes is not None:
        raise ValueError("example and dynamic_shapes are for a module of PyTorch")
    if isinstance(mod, (str, os.PathLike)):
        module = _model.read_model(mod, defines or {}, bind, operators, entry)
    else:
        mod = _module_of(mod)
        module, weights = mod._module, mod._params if weights is None else weights
        if bind or defines:
            raise ValueError("bind and defines are for the file of a model")
    if _model.has_graph(module):
        return _model.Model(module, target, threads, weights, operators=operators, **options)
    if weights is not None or operators is not None:
        raise ValueError("weights and operators are for models, and this is none")
    mod = IRModule._of(module) if isinstance(mod, (str, os.PathLike)) else mod
    return build(mod, target=target, threads=threads, **options)


def lower(mod):
    """The program after all passes, from which code is generated."""
    return _module_of(mod).lower()


class Tensor:
    """A tensor, as TVM's: numpy() returns a copy as a numpy array. Kernels accept it like a numpy array."""

    def __init__(self, array, device=None):
        self._array, self.device = array, device or cpu()

    def numpy(self):
        return self._array.copy()

    asnumpy = numpy

    def copyfrom(self, source):
        self._array[...] = source._array if isinstance(source, Tensor) else source
        return self

    @property
    def shape(self):
        return self._array.shape

    @property
    def dtype(self):
        return self._array.dtype.name

    def copyto(self, target):
        """Copies into another tensor, or into a new one for a device."""
        return target.copyfrom(self) if isinstance(target, Tensor) else tensor(self, target)

    def __getattr__(self, name):
        if name in ("__dlpack__", "__dlpack_device__", "__array_interface__"):
            return getattr(self._array, name)
        raise AttributeError(name)

    def __array__(self, dtype=None, copy=None):
        return self._array.astype(dtype) if dtype else self._array

    def __len__(self):
        return len(self._array)

    def __repr__(self):
        return "Tensor(%s, %s)" % (self.dtype, list(self.shape))


def _aligned(array):
    """A copy at the start of a page, or of 256 bytes where it is less than a page: programs may ask for that."""
    import numpy
    align = 4096 if array.nbytes >= 4096 else 256
    memory = numpy.empty(array.nbytes + align, "uint8")
    start = -memory.ctypes.data % align
    copy = memory[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def tensor(array, device=None, mem_scope=None):
    """A copy of an array, in memory that a kernel can use."""
    import numpy
    _device.check(device)
    if mem_scope not in (None, "global"):
        raise ValueError("the only memory of a processor is global, not %r" % (mem_scope,))
    return Tensor(_aligned(numpy.asarray(array._array if isinstance(array, Tensor) else array)), device)


def empty(shape, dtype="float32", device=None, mem_scope=None):
    import numpy
    return tensor(numpy.zeros(shape, dtype), device, mem_scope)
