"""libtirc through ctypes: where the library is, its structs, and calls whose errors are exceptions.

The structs and signatures here are those of tirc.h; TIRC_ABI is compared when the library is loaded.
"""

import ctypes
import glob
import os
import pathlib
from ctypes import (CFUNCTYPE, POINTER, Structure, Union, byref, c_bool, c_char_p, c_double, c_int,
                    c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)

ABI = 3
_NAME = "libtirc.so.%d" % ABI


def _candidates():
    """Paths in which the library may be, best first."""
    given = os.environ.get("TIRC_LIBRARY")
    if given:  # a file, or a build directory; nothing else is tried
        path = pathlib.Path(given)
        yield str(path / _NAME) if path.is_dir() else given
        return
    here = pathlib.Path(__file__).resolve()
    carried = here.parent / "_libs" / _NAME  # of a wheel
    if carried.exists():
        yield str(carried)
    for parent in here.parents:  # installed: PREFIX/lib/python3.11/.../tirc and PREFIX/lib/libtirc
        if parent.name == "lib":
            yield from sorted(glob.glob(str(parent / _NAME)) + glob.glob(str(parent / "*" / _NAME)))
    checkout = here.parents[3] if len(here.parents) > 3 else here.parent
    if (checkout / "runtime" / "tirc.h").exists():
        trees = glob.glob(str(checkout / "build*" / _NAME)) + glob.glob(str(checkout / "build" / "*" / _NAME))
        yield from sorted(filter(os.path.exists, trees), key=os.path.getmtime, reverse=True)  # no dangling links
    yield _NAME


def _load():
    tried = []
    for path in _candidates():
        try:
            lib = ctypes.CDLL(path)
        except OSError as e:
            tried.append(str(e))
            continue
        lib.tirc_abi.restype = c_int
        if lib.tirc_abi() != ABI:
            raise ImportError("%s has ABI %d, but this package is for ABI %d" % (path, lib.tirc_abi(), ABI))
        return lib, path
    raise ImportError("cannot load libtirc (set TIRC_LIBRARY to the file or to a build directory): "
                      + "; ".join(tried))


lib, library_path = _load()

# --- structs ----------------------------------------------------------------------------------

(NONE, BOOL, INT, FLOAT, STR, LIST, TUPLE, DICT, BLOCK, LOOP, EXPR, BUFFER, OBJECT, FUNCTION,
 SCRIPT) = range(15)


class Value(Structure):
    pass


CALLBACK = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, POINTER(Value), POINTER(Value))


class Function(Structure):
    _fields_ = [("call", CALLBACK), ("self", c_void_p), ("n_params", c_int), ("name", c_char_p)]


class _Payload(Union):
    _fields_ = [("b", c_bool), ("i", c_int64), ("f", c_double), ("s", c_char_p),
                ("items", POINTER(Value)), ("function", POINTER(Function)), ("handle", c_void_p)]


Value._fields_ = [("kind", c_int), ("number", c_uint32), ("owner", c_void_p), ("u", _Payload),
                  ("n", c_int64), ("type", c_char_p)]


class Define(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


PRINT = CFUNCTYPE(None, c_void_p, c_char_p)
TRACE = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_int, c_char_p)
WARN = CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_int, c_char_p, c_char_p)


class ScheduleOptions(Structure):
    _fields_ = [("target", c_char_p), ("max_steps", c_int64), ("strict", c_bool), ("verify", c_bool),
                ("self", c_void_p), ("print", PRINT), ("trace", TRACE), ("warn", WARN)]


TRIED = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_bool, c_char_p)


class AutoOptions(Structure):
    _fields_ = [("rules", c_char_p), ("self", c_void_p), ("tried", TRIED)]


class Param(Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("is_array", c_bool), ("is_written", c_bool),
                ("ndim", c_int), ("shape", POINTER(c_int64)), ("symbol", POINTER(c_char_p)), ("in_file", c_char_p)]


class SpatialOptions(Structure):
    _fields_ = [("block", c_char_p), ("spec_name", c_char_p), ("allow_cycles", c_bool), ("formulas", c_bool),
                ("enumerate", c_int64), ("most", c_int64), ("item_bits", c_int64)]


class ReferenceOptions(Structure):
    _fields_ = [("max_steps", c_int64), ("go_on", c_void_p), ("self", c_void_p)]


class Check(Structure):
    _fields_ = [("ok", c_bool), ("wrong", c_bool), ("param", c_char_p), ("at", c_int64), ("got", c_double), ("expected", c_double),
                ("error", c_double), ("allowed", c_double), ("elements", c_int64), ("undecided", c_int64),
                ("too_undecided", c_bool), ("nan_order", c_int64)]


class PrimitiveInfo(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("n_params", c_int), ("star", c_int),
                ("keyword_only", c_int)]


class PrimitiveDoc(Structure):
    _fields_ = [("params", POINTER(c_char_p)), ("returns", c_char_p), ("program", c_char_p),
                ("script", c_char_p), ("needs", POINTER(c_char_p)), ("errors", POINTER(c_int))]


class FunctionInfo(Structure):
    _fields_ = [("topic", c_char_p), ("types", c_char_p), ("help", c_char_p)]


class ScriptInfo(Structure):
    _fields_ = [("kind", c_int), ("owner", c_char_p), ("name", c_char_p)]


class DLDevice(Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLDataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device", DLDevice), ("ndim", c_int32), ("dtype", DLDataType),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


PACKED = CFUNCTYPE(c_int, c_int, POINTER(DLTensor))


class PackedFunction(Structure):
    _fields_ = [("name", c_char_p), ("call", PACKED)]


class DLManagedTensor(Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c_void_p), ("deleter", c_void_p)]


class DLManagedTensorVersioned(Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager_ctx", c_void_p),
                ("deleter", c_void_p), ("flags", c_uint64), ("dl_tensor", DLTensor)]


class Argument(Structure):
    _fields_ = [("array", c_void_p), ("i", c_int64), ("f", c_double), ("tensor", POINTER(DLTensor))]


class Symbol(Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64), ("is_known", c_bool), ("in_file", c_char_p)]


class ProgramOptions(Structure):
    _fields_ = [("target", c_char_p), ("operators", c_char_p), ("n_skip", c_int), ("skip", POINTER(c_char_p)),
                ("n_libraries", c_int), ("libraries", POINTER(c_char_p)), ("n_passes", c_int), ("passes", POINTER(c_char_p)),
                ("plain", c_bool), ("script", c_char_p), ("rules", POINTER(AutoOptions)),
                ("schedule", POINTER(ScheduleOptions)), ("poison", c_bool), ("by_child", c_bool), ("self", c_void_p), ("after", c_void_p),
                ("schedule_alone", c_void_p), ("indices", c_char_p)]


class Bound(Structure):
    _fields_ = [("name", c_char_p), ("value", c_void_p), ("text", c_char_p)]


class ImportOptions(Structure):
    _fields_ = [("operators", c_char_p), ("n_defines", c_int), ("defines", POINTER(Define)), ("n_bound", c_int),
                ("bound", POINTER(Bound)), ("n_given", c_int), ("given", POINTER(c_void_p))]


class PhaseInfo(Structure):
    _fields_ = [("phase", c_int), ("phase_name", c_char_p), ("phase_help", c_char_p), ("name", c_char_p), ("help", c_char_p)]


class DeviceInfo(Structure):
    _fields_ = [("device", c_char_p), ("name", c_char_p), ("platform", c_char_p), ("version", c_char_p), ("memory", c_int64),
                ("shared", c_int64), ("threads", c_int64), ("cores", c_int)]


HEAR_DEVICE = CFUNCTYPE(None, c_void_p, POINTER(DeviceInfo))

# --- functions --------------------------------------------------------------------------------

_out = POINTER(c_void_p)
_keywords = [c_int, POINTER(Value), c_int, POINTER(c_char_p), POINTER(Value), POINTER(Value)]

# Those that give a status; the error pointer comes last and is left out here.
_CHECKED = {
    "module_read": [c_char_p, c_int, POINTER(Define), _out],
    "module_parse": [c_char_p, c_size_t, c_char_p, c_int, POINTER(Define), _out],
    "module_import": [c_char_p, POINTER(ImportOptions), _out],
    "module_weights": [c_void_p, _out],
    "module_symbols": [c_void_p, c_char_p, POINTER(c_int), POINTER(POINTER(Symbol))],
    "module_array": [c_void_p, c_char_p, c_int, POINTER(Argument), c_int, POINTER(Symbol), c_int, c_void_p, _out],
    "module_print": [c_void_p, _out],
    "operator_module": [c_char_p, c_char_p, c_int, POINTER(c_char_p), _out],
    "module_alone": [c_void_p, c_char_p, c_char_p, _out],
    "module_with_main": [c_void_p, c_char_p, _out],
    "module_in_float64": [c_void_p, _out],
    "module_in_dialect": [c_void_p, c_char_p, _out],
    "module_cost": [c_void_p, c_char_p, c_void_p],
    "module_spatial_cost": [c_void_p, c_char_p, c_char_p, POINTER(SpatialOptions), _out],
    "module_spatial_search": [c_void_p, c_char_p, c_char_p, c_int64, POINTER(SpatialOptions), _out],
    "spatial_log_cost": [c_char_p, c_size_t, c_char_p, c_char_p, c_char_p, POINTER(SpatialOptions), _out],
    "module_hash": [c_void_p, _out],
    "module_compare": [c_void_p, c_void_p, _out],
    "module_params": [c_void_p, c_char_p, POINTER(c_int), POINTER(POINTER(Param))],
    "module_schedule_text": [c_void_p, c_char_p, c_size_t, c_char_p, POINTER(ScheduleOptions), _out],
    "module_auto": [c_void_p, POINTER(AutoOptions), POINTER(ScheduleOptions), _out],
    "module_check": [c_void_p, POINTER(ScheduleOptions)],
    "module_check_code": [c_void_p, POINTER(ScheduleOptions)],
    "module_check_kernels": [c_void_p, c_int, POINTER(ScheduleOptions)],
    "module_trace": [c_void_p, c_int, _out],
    "module_relayout": [c_void_p, c_char_p, c_int, c_bool, _out],
    "module_phases": [c_void_p, c_char_p, POINTER(ProgramOptions), _out],
    "devices_of": [c_char_p, HEAR_DEVICE, c_void_p],
    "module_lower_for": [c_void_p, c_char_p, c_void_p, c_void_p, _out],
    "module_lower_only": [c_void_p, c_char_p, c_int, POINTER(c_char_p), _out],
    "module_emit": [c_void_p, c_int, c_char_p, c_char_p, _out, POINTER(c_size_t)],
    "module_interpret": [c_void_p, c_char_p, c_int, POINTER(Argument), c_int64],
    "module_emulate": [c_void_p, c_char_p, c_int, POINTER(Argument), c_void_p, c_void_p],
    "reference_new": [c_void_p, c_char_p, c_int, POINTER(Argument), POINTER(ReferenceOptions), _out],
    "reference_check": [c_void_p, c_int, POINTER(Argument), POINTER(Check)],
    "schedule_new": [c_void_p, POINTER(ScheduleOptions), _out],
    "schedule_copy": [c_void_p, _out],
    "schedule_call": [c_void_p, c_char_p] + _keywords,
    "schedule_method": [c_void_p, POINTER(Value), c_char_p] + _keywords,
    "schedule_attribute": [c_void_p, POINTER(Value), c_char_p, POINTER(Value)],
    "schedule_operator": [c_void_p, c_char_p, POINTER(Value), POINTER(Value), POINTER(Value)],
    "schedule_text": [c_void_p, POINTER(Value), _out],
    "schedule_run": [c_void_p, c_char_p, c_size_t, c_char_p],
    "schedule_set": [c_void_p, c_char_p, POINTER(Value)],
    "schedule_module": [c_void_p, _out],
    "executor_new": [c_int, _out],
    "kernel_new": [c_void_p, c_char_p, c_char_p, _out],
    "kernel_new_on": [c_void_p, c_char_p, c_char_p, c_char_p, _out],
    "kernel_run": [c_void_p, c_void_p, c_int, POINTER(Argument)],
    "launch_new": [c_void_p, c_void_p, c_int, POINTER(Argument), _out],
    "program_new_with": [c_void_p, POINTER(ProgramOptions), c_int, POINTER(PackedFunction), _out],
    "program_run": [c_void_p, c_void_p, c_int, POINTER(Argument)],
    "program_run_watched": [c_void_p, c_void_p, c_int, POINTER(Argument), c_void_p],
    "weights_open": [c_char_p, _out],
    "weights_array": [c_void_p, c_char_p, _out],
    "array_from_dlpack": [POINTER(DLManagedTensor), _out],
    "array_to_dlpack": [c_void_p, _out],
    "launch_time": [c_void_p, c_int, c_int, c_double, POINTER(c_double)],
}
_PLAIN = {
    "version": ([], c_char_p),
    "string_free": ([c_void_p], None),
    "error_status": ([c_void_p], c_int),
    "error_get": ([c_void_p, c_int], c_char_p),
    "error_line": ([c_void_p], c_int),
    "error_column": ([c_void_p], c_int),
    "error_free": ([c_void_p], None),
    "module_free": ([c_void_p], None),
    "module_functions": ([c_void_p], c_int),
    "module_function": ([c_void_p, c_int], c_char_p),
    "schedule_free": ([c_void_p], None),
    "schedule_place": ([c_void_p, c_char_p, c_int, c_int], None),
    "executor_free": ([c_void_p], None),
    "executor_threads": ([c_void_p], c_int),
    "kernel_free": ([c_void_p], None),
    "module_has_graph": ([c_void_p], c_bool),
    "module_input": ([c_void_p, c_int], c_char_p),
    "import_input": ([c_void_p, c_int, POINTER(c_int)], c_char_p),
    "program_signature": ([c_void_p], c_void_p),
    "program_inputs": ([c_void_p], c_int),
    "program_params": ([c_void_p], c_int),
    "program_count_at": ([c_void_p, c_int, c_int, POINTER(c_int)], c_int),
    "program_free": ([c_void_p], None),
    "weights_close": ([c_void_p], None),
    "array_free": ([c_void_p], None),
    "array_tensor": ([c_void_p, POINTER(DLTensor)], None),
    "reference_free": ([c_void_p], None),
    "launch_free": ([c_void_p], None),
    "method_name": ([c_char_p, c_char_p], c_char_p),
    "phase_table": ([c_int, POINTER(PhaseInfo)], c_bool),
    "primitive_table": ([c_int, POINTER(PrimitiveInfo)], c_bool),
    "primitive_param": ([c_int, c_int, POINTER(c_char_p), POINTER(c_char_p)], c_bool),
    "function_table": ([c_int, POINTER(FunctionInfo)], c_bool),
    "function_name": ([c_int, c_int, POINTER(c_char_p), POINTER(c_char_p)], c_bool),
    "script_table": ([c_int, POINTER(ScriptInfo)], c_bool),
    "pass_table": ([c_int, POINTER(c_char_p), POINTER(c_char_p)], c_bool),
    "pass_alone_table": ([c_int, POINTER(c_char_p), POINTER(c_char_p), POINTER(c_char_p)], c_bool),
    "pass_option_table": ([c_int, POINTER(c_char_p), POINTER(c_char_p), POINTER(c_char_p)], c_bool),
    "primitive_documentation": ([c_int, POINTER(PrimitiveDoc)], c_bool),
}


def _declare():
    for name, argtypes in _CHECKED.items():
        f = getattr(lib, "tirc_" + name)
        f.argtypes, f.restype = argtypes + [_out], c_int
    for name, (argtypes, restype) in _PLAIN.items():
        f = getattr(lib, "tirc_" + name)
        f.argtypes, f.restype = argtypes, restype


_declare()


def call(name, *args):
    """Calls tirc_<name>; an error becomes an exception."""
    error = c_void_p()
    if getattr(lib, "tirc_" + name)(*args, byref(error)):
        from . import _errors
        raise _errors.take(error)


def take_string(pointer):
    """A char * that the library gave out, as str; None for NULL."""
    if not pointer.value:
        return None
    try:
        return ctypes.string_at(pointer.value).decode("utf-8", "replace")
    finally:
        lib.tirc_string_free(pointer)


def string(name, *args):
    out = c_void_p()
    call(name, *args, byref(out))
    return take_string(out)


class Owned:
    """An object of the library, freed when Python no longer needs it."""

    def __init__(self, pointer, kind):
        self._as_parameter_ = pointer.value
        self._free = getattr(lib, "tirc_%s_%s" % (kind, "close" if kind == "weights" else "free"))

    def __del__(self):
        if self._as_parameter_:
            self._free(self._as_parameter_)
            self._as_parameter_ = None


def make(kind, name, *args):
    out = c_void_p()
    call(name, *args, byref(out))
    return Owned(out, kind)
