"""Models: graphs of operators, compiled whole, with their weights; called with arrays by name or position."""

import ctypes
import os
import sys
import threading
from ctypes import POINTER, byref, c_int

from . import _lib
from ._errors import ArgumentError, TVMError
from ._module import _define_array
from ._runtime import _borrow, cpu_of


class _Array(_lib.Owned):
    """An array of the library over memory of somebody else, compact, which stays as long."""

    def __init__(self, kind, name, x, is_written=False):
        self._as_parameter_ = None  # until there is one
        out = ctypes.c_void_p()
        try:
            self._borrowed = _borrow(x)
            if is_written and not self._borrowed.writable:
                raise TypeError("it is written, but the array is read-only")
            self._managed = _lib.DLManagedTensor(self._borrowed.tensor, None, None)
            _lib.call("array_from_dlpack", byref(self._managed), byref(out))
        except (TypeError, BufferError, RuntimeError) as e:
            if isinstance(e, TVMError) and not isinstance(e, ArgumentError):
                raise  # memory that is out is no fault of the array
            raise ArgumentError("%s: %s" % (kind % name, e), code="argument") from None
        super().__init__(out, "array")


_tensor_of_capsule = ctypes.PYFUNCTYPE(POINTER(_lib.DLTensor), ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def _give(argument, x, array):
    """Lets an argument of a run be x, and returns what has to stay as long: for a writable, compact array of numpy its
    own tensor, which takes a tenth of the time of array(), that takes the others and says what is wrong with them."""
    if type(x).__module__ == "numpy" and hasattr(x, "__dlpack__") and x.flags.c_contiguous:
        try:
            capsule = x.__dlpack__()
            argument.tensor = _tensor_of_capsule(capsule, b"dltensor")
            return capsule
        except (BufferError, TypeError, RuntimeError):
            pass
    made = array()
    argument.array = made._as_parameter_
    return made


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class _Result:
    """An array of the library, for those who take what has __dlpack__: once, and it is theirs. numpy makes what it gets
    that way read-only, and so has a view."""

    def __init__(self, owned, dtype):
        self._owned, self._dtype = owned, dtype

    @property
    def __array_interface__(self):
        import numpy
        tensor = _lib.DLTensor()
        _lib.lib.tirc_array_tensor(self._owned, byref(tensor))
        return {"version": 3, "shape": tuple(tensor.shape[:tensor.ndim]), "typestr": numpy.dtype(self._dtype).str,
                "data": (tensor.data or 0, False)}

    def __dlpack__(self, stream=None, **_):
        out = ctypes.c_void_p()
        _lib.call("array_to_dlpack", self._owned, byref(out))
        self._owned._as_parameter_ = None
        return _new_capsule(out.value, b"dltensor", None)

    def __dlpack_device__(self):
        return (1, 0)


def _importer(inputs):
    """What takes a result: the from_dlpack of the package that an input is of, torch's or another's; else numpy."""
    for x in inputs:
        package = sys.modules.get(type(x).__module__.partition(".")[0])
        if hasattr(package, "from_dlpack") and package.__name__ != "numpy":
            return package.from_dlpack
    import numpy
    return numpy.asarray


class _Call(ctypes.Structure):
    _fields_ = [("number", c_int), ("of", c_int), ("func", ctypes.c_char_p), ("seconds", ctypes.c_double), ("n", c_int),
                ("args", POINTER(_lib.Argument)), ("n_written", c_int)]


_TELL = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, POINTER(_Call))


class _Watch(ctypes.Structure):
    _fields_ = [("self", ctypes.c_void_p), ("repeat", c_int), ("before", _TELL), ("tell", _TELL)]


_SCHEDULE = ctypes.CFUNCTYPE(c_int, ctypes.c_void_p, ctypes.c_void_p, POINTER(ctypes.c_void_p), POINTER(ctypes.c_void_p))


class _Scheduler:
    """schedule(module) of each function, alone in a module as main: the module scheduled, or None, then the rules do it."""

    def __init__(self, schedule, target):
        self._schedule, self._target, self._failure = schedule, target, None
        self.callback = _SCHEDULE(self._run) if schedule else _SCHEDULE()

    def _run(self, _self, module, out, _error):
        from ._module import IRModule, in_dialect
        from ._schedule import auto
        try:
            mod = IRModule._of(in_dialect(module, "tir"))
            found = self._schedule(mod) or auto(mod, self._target)
            if not hasattr(found, "_module"):
                raise TypeError("the schedule of a function is a module with it as main, not %r" % (found,))
            made = in_dialect(found._module, "tir")  # its own: the library takes it
            out[0], made._as_parameter_ = made._as_parameter_, None
            return 0
        except BaseException as error:  # it belongs to who compiles, not to the library
            self._failure = error
            return 2

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._failure:
            raise self._failure from None


class _Packed:
    """Functions of Python by name, for R.call_dps_packed: they get tensors, the arguments and then the results, which they write."""

    def __init__(self, given):
        self._failure = None
        self.functions = (_lib.PackedFunction * len(given))(*[(name.encode(), self._callback(f)) for name, f in given.items()])

    def _callback(self, function):
        def call(n, tensors):
            try:
                function(*[_view(tensors[i]) for i in range(n)])
                return 0
            except BaseException as error:  # it belongs to who runs the model, not to the library
                self._failure = error
                return 1
        return _lib.PACKED(call)

    def run(self, name, *args):
        try:
            _lib.call(name, *args)
        except Exception:
            failure, self._failure = self._failure, None
            if failure is None:
                raise
            raise failure from None


def _view(t):
    """A tensor of the library as one of Python over its memory."""
    import numpy
    from ._runtime import Tensor
    kinds = {0: "int", 1: "uint", 2: "float", 6: "bool"}
    if t.dtype.code not in kinds:
        raise TypeError("a function of Python gets no tensors of this type: numpy has it not")
    dtype = numpy.dtype("bool" if t.dtype.code == 6 else "%s%d" % (kinds[t.dtype.code], t.dtype.bits))
    shape = t.shape[:t.ndim]
    size = dtype.itemsize
    for extent in shape:
        size *= extent
    memory = (ctypes.c_char * size).from_address((t.data or 0) + t.byte_offset) if size else b""
    return Tensor(numpy.frombuffer(memory, dtype).reshape(shape))


def _bfloat(x):
    """A number as the nearest bfloat16, of two that are as near the even one: numpy has no such type."""
    import numpy
    with numpy.errstate(over="ignore"):
        bits = int(numpy.float32(x).view("uint32"))
    if abs(float(x)) != float("inf") and bits & 0x7FFFFFFF >= 0x7F7F8000 and x == x:
        raise OverflowError("it would be infinite")
    borrowed = _borrow(numpy.array((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 if x == x else 0x7FC0, "uint16"))
    borrowed.tensor.dtype = _lib.DLDataType(4, 16, 1)
    return borrowed


def _number(what, p, x):
    """A number of Python for an input or a weight without axes, as an array of that type."""
    import numpy
    try:
        if p.dtype == "bfloat16":
            return _bfloat(x)
        with numpy.errstate(over="ignore"):
            number = numpy.array(x if "float" in p.dtype else int(x)).astype(p.dtype)
        fits = numpy.isfinite(number) == numpy.isfinite(float(x)) if "float" in p.dtype else int(number) == x
    except (OverflowError, ValueError):  # infinity, NaN, too large
        fits = False
    if not fits:
        raise ArgumentError("%s takes %s, and %r is none" % (what, p.dtype, x), code="argument")
    return number


class Model:
    """A compiled model: `model(x)`, or `model(x=...)` with the names of its inputs. A result is a numpy array, or an
    array of the package of an input, if that has from_dlpack; several results are a tuple. If the number of rows
    of a result is known only at run time, the result has these rows, and the number is a separate result. inputs,
    weights, outputs: their Params."""

    def __init__(self, module, target=None, threads=0, weights=None, schedule=None, packed=None, **options):
        if not 0 <= threads < 2**31:
            raise ValueError("threads is from 0 to 2147483647, not %s" % threads)
        self._executor = _lib.make("executor", "executor_new", threads)
        self._lock, self._module = threading.Lock(), module
        scheduler = _Scheduler(schedule, target)
        with scheduler:
            self._packed = _Packed(packed or {})
            self._program = _lib.make("program", "program_new_with", module, _options(target, scheduler.callback, **options),
                                      len(self._packed.functions), self._packed.functions)
        self._signature = _lib.lib.tirc_program_signature(self._program)  # lives as long
        n, params = c_int(), POINTER(_lib.Param)()
        _lib.call("module_params", self._signature, None, byref(n), byref(params))
        everything = [_Param(params[i]) for i in range(n.value)]
        first, last = _lib.lib.tirc_program_inputs(self._program), _lib.lib.tirc_program_params(self._program)
        self.inputs, self.weights, self.outputs = everything[:first], everything[first:last], everything[last:]
        self._names = {name: i for i, p in enumerate(self.inputs) for name in (p.called, p.name)}
        self._names.update(_file_names(module))
        self._counts = [self._counts_of(i) for i in range(len(self.outputs))]
        self._weights = self._take_weights(weights)
        self._given = (_lib.Argument * (last + len(self.outputs)))()
        for i, a in enumerate(self._weights):
            self._given[first + i].array = a._as_parameter_

    def _take_weights(self, given):
        """One array for each: of a dict, a .safetensors file, or the file that the model came from."""
        opened = None
        if isinstance(given, (str, os.PathLike)):
            opened = _lib.make("weights", "weights_open", os.fspath(given).encode())
        elif given is None:
            out = ctypes.c_void_p()
            _lib.call("module_weights", self._module, byref(out))
            opened = _lib.Owned(out, "weights") if out.value else None
        self._file = opened
        if opened is not None:
            return [_lib.make("array", "weights_array", opened, p.name.encode()) for p in self.weights]
        given = dict(given or {})
        given.update({p.name: given[p.called] for p in self.weights if p.name not in given and p.called in given})
        missing = [p.name for p in self.weights if p.name not in given]
        if missing:
            raise ArgumentError("weights are missing: %s" % ", ".join(missing[:8] + ["..."] * (len(missing) > 8)), code="argument")
        return [self._array("weight", p, given[p.name]) for p in self.weights]

    def _array(self, kind, p, x):
        if p.shape == () and type(x) in (bool, int, float):
            x = _number('the %s "%s"' % (kind, p.name), p, x)
        return _Array('the ' + kind + ' "%s"', p.name, x)

    def _inputs_of(self, args, keywords):
        if len(args) > len(self.inputs):
            raise ArgumentError("the model has %d inputs, not %d" % (len(self.inputs), len(args)), code="argument")
        given = dict(enumerate(args))
        for name, x in keywords.items():
            i = self._names.get(name)
            if i is None or i in given:
                raise ArgumentError('%s "%s"; the inputs are %s' % ("there is no input" if i is None else "twice the input", name,
                                                                   ", ".join(self._names)), code="argument")
            given[i] = x
        missing = [p.name for i, p in enumerate(self.inputs) if i not in given]
        if missing:
            raise ArgumentError("inputs are missing: %s" % ", ".join(missing), code="argument")
        return [given[i] for i in range(len(self.inputs))]

    def __call__(self, /, *args, **keywords):
        return self._run(args, keywords, self._call)

    def into(self, out, /, *args, **keywords):
        """Runs the model and stores results in these arrays, a dict by their names. An array may start at the address
        of the input that the result starts with, such as a growing cache: then nothing of it is copied."""
        names = {p.name for p in self.outputs}
        unknown = [name for name in out if name not in names]
        if unknown:
            raise ArgumentError('there is no result "%s"; the results are %s' % (unknown[0], ", ".join(p.name for p in self.outputs)), code="argument")
        return self._run(args, keywords, self._call, out)

    def _call(self, n, given):
        self._packed.run("program_run", self._program, self._executor, n, given)

    def calls(self, /, *args, **keywords):
        """(function, seconds) for each call of a run."""
        out = []

        def tell(_, call):
            out.append((call.contents.func.decode() if call.contents.func else "copy", call.contents.seconds))
            return True

        watch = _Watch(None, 1, _TELL(), _TELL(tell))
        self._run(args, keywords, lambda n, given: self._packed.run("program_run_watched", self._program, self._executor, n, given, byref(watch)))
        return out

    def _run(self, args, keywords, run, out={}):
        inputs = self._inputs_of(args, keywords)
        first, n = len(self.inputs) + len(self.weights), len(self._given)
        given = type(self._given).from_buffer_copy(self._given)
        kept = [_give(given[i], x, lambda: self._array("input", p, x)) for i, (p, x) in enumerate(zip(self.inputs, inputs))]
        kept += [_give(given[i], out[p.name], lambda: _Array('the result "%s"', p.name, out[p.name], True))
                 for i, p in enumerate(self.outputs, first) if p.name in out]
        made = self._make_results(given, [i for i, p in enumerate(self.outputs) if p.name not in out])
        with self._lock:  # threads share the workers, one call at a time
            run(n, given)
        take = _importer(inputs)
        taken = tuple(take(_Result(made[i], p.dtype)) if i in made else out[p.name] for i, p in enumerate(self.outputs))
        taken = tuple(self._rows(taken, i) for i in range(len(taken)))
        return taken[0] if len(taken) == 1 else taken

    def _make_results(self, given, numbers):
        """Arrays for these results, by their numbers."""
        made, first, n = {}, len(self.inputs) + len(self.weights), len(given)
        symbols, n_symbols = POINTER(_lib.Symbol)(), c_int()
        if numbers:
            _lib.call("module_symbols", self._signature, None, byref(n_symbols), byref(symbols))
        known = (_lib.Symbol * max(n_symbols.value, 1))(*symbols[:n_symbols.value])
        for i in numbers:
            made[i] = _lib.make("array", "module_array", self._signature, None, n, given, n_symbols.value, known, first + i, None)
            given[first + i].array = made[i]._as_parameter_
        return made

    def _counts_of(self, i):
        """(axis, the result that says how many of its rows mean something) of result i."""
        axis, found = c_int(), []
        for k in range(len(self.outputs[i].shape)):
            count = _lib.lib.tirc_program_count_at(self._program, i, k, byref(axis))
            if count >= 0:
                found.append((axis.value, count))
        return found

    def _rows(self, results, i):
        """Of result i those rows that mean something."""
        if not self._counts[i]:
            return results[i]  # which need not be an array that takes slices
        own = [slice(None)] * len(self.outputs[i].shape)
        for axis, count in self._counts[i]:
            own[axis] = slice(int(results[count]))
        return results[i][tuple(own)]

    def _repr_html_(self):
        from ._graph import html_of
        from ._module import IRModule
        from ._render import table_html
        rows = [(kind, p.name, list(p.shape), p.dtype) for kind, ps in (("input", self.inputs), ("weight", self.weights), ("output", self.outputs))
                for p in ps]
        return html_of(IRModule._of(self._module)) + table_html(("", "name", "shape", "type"), rows)

    def __repr__(self):
        return "<Model (%s) -> (%s)>" % tuple(", ".join(map(repr, ps)) for ps in (self.inputs, self.outputs))


class _Param:
    """name, as the file has it, dtype, and shape: numbers and names of extents. called: the name in programs and C."""

    def __init__(self, p):
        self.name, self.called, self.dtype = p.in_file.decode(), p.name.decode(), p.dtype.decode()
        self.shape = tuple(p.shape[i] if p.shape[i] >= 0 else (p.symbol[i] or b"?").decode() for i in range(p.ndim))

    def __repr__(self):
        return "%s: %s%s" % (self.name, self.dtype, list(self.shape))


def _file_names(module):
    """What a file of ONNX calls its inputs -> which they are."""
    names, i, param = {}, 0, c_int()
    while True:
        name = _lib.lib.tirc_import_input(module, i, byref(param))
        if name is None:
            return names
        if param.value >= 0:
            names[name.decode()] = param.value
        i += 1


def parameters_of(module):
    """The names of the main graph's parameters."""
    names = []
    while _lib.lib.tirc_module_input(module, len(names)) is not None:
        names.append(_lib.lib.tirc_module_input(module, len(names)).decode())
    return names


def weights_of(module):
    """{name: numpy array} of the weights of an imported module; they are views."""
    out, found = ctypes.c_void_p(), {}
    _lib.call("module_weights", module, byref(out))
    if not out.value:
        return found
    opened = _lib.Owned(out, "weights")
    for name, dtype in weight_types(module).items():
        array = _Result(_lib.make("array", "weights_array", opened, name.encode()), dtype)
        array.keep = module, opened
        found[name] = _importer(())(array)
    return found


def weight_types(module):
    """{name: type} of the parameters of the main graph after its inputs."""
    from ._module import IRModule
    import re
    text = IRModule._of(module).script()
    first = re.search(r'"num_input": (\d+)', text)
    head = dict(re.findall(r'(\w+): R\.Tensor\(\(.*?\), dtype="(\w+)"\)', text[text.index("def main("):]))
    return {name: head[name] for name in parameters_of(module)[int(first.group(1)) if first else 0:]} if first else {}


def _quantize_pass(quantize, activations, group=0, only="*", zero_point=False):
    if quantize not in ("int8", "int4"):
        raise ValueError("quantize is \"int8\" or \"int4\", not %r" % (quantize,))
    bits = int(quantize[3:])
    return "prepare:quantize(bits=%d, group=%d, zero_point=%s, only=%s, activations=%s)" % (
        bits, group or (32 if bits == 4 else 0), bool(zero_point), '"%s"' % only.replace("\\", "\\\\").replace('"', '\\"'), activations is not None)


def _quantizing(quantize, activations, how):
    """The passes that these ask for."""
    if activations not in (None, "int8"):
        raise ValueError("activations is \"int8\", not %r" % (activations,))
    if quantize is not None:
        return [_quantize_pass(quantize, activations, **how)]
    return ["prepare:int8_activations()"] if activations else []


def _options(target, schedule_alone=_SCHEDULE(), operators=None, plain=False, script=None, skip=(), indices=None, passes=(), quantize=None, activations=None, **how):
    if how and quantize is None:
        raise TypeError("compile() got an unexpected argument %r" % next(iter(how)))
    passes = _quantizing(quantize, activations, how) + list(passes)
    listed = (ctypes.c_char_p * max(len(passes), 1))(*[s.encode() for s in passes])
    skipped = (ctypes.c_char_p * max(len(skip), 1))(*[s.encode() for s in skip])
    path = lambda p: os.fspath(p).encode() if p else None
    return byref(_lib.ProgramOptions(target=cpu_of(target), operators=path(operators), n_skip=len(skip), skip=skipped, n_passes=len(passes),
                                     passes=listed, plain=plain,
                                     script=path(script), schedule_alone=ctypes.cast(schedule_alone, ctypes.c_void_p), indices=indices.encode() if indices else None))


def _bound(bind):
    """Inputs that are constants: numbers, texts as the command takes them, or arrays."""
    keep, bound = [], (_lib.Bound * max(len(bind), 1))()
    for i, (name, value) in enumerate(bind.items()):
        bound[i].name = name.encode()
        if isinstance(value, (int, float, str)):
            bound[i].text = str(value).encode()
        else:
            keep.append(_Array('bind "%s"', name, value))
            bound[i].value = keep[-1]._as_parameter_
    return bound, keep


def read_model(path, defines, bind=None, operators=None, entry=None):
    """Reads a module from a file: ONNX, or text. entry: the graph that becomes main."""
    if entry is not None:
        return _lib.make("module", "module_with_main", read_model(path, defines, bind, operators), entry.encode())
    path, (n, defined) = os.fspath(path), _define_array({k: repr(v) for k, v in defines.items()})
    if not path.endswith(".onnx"):
        if bind:
            raise ValueError("bind is about a file of ONNX, and not %r" % path)
        return _lib.make("module", "module_read", path.encode(), n, defined)
    bound, keep = _bound(bind or {})
    options = _lib.ImportOptions(operators=os.fspath(operators).encode() if operators else None, n_defines=n, defines=defined,
                                 n_bound=len(bind or {}), bound=bound)
    module = _lib.make("module", "module_import", path.encode(), byref(options))
    del keep
    return module


def has_graph(module):
    return _lib.lib.tirc_module_has_graph(module)
