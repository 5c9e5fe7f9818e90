"""tirc.tir.analysis: questions about programs."""

from ctypes import Structure, byref, c_bool, c_double, c_int, c_int64

from .. import _lib
from .._errors import TVMError
from .._module import IRModule, PrimFunc, parse


class _Cost(Structure):
    _fields_ = [("float_ops", c_double), ("reduction", c_double), ("is_exact", c_bool), ("m", c_int64), ("n", c_int64), ("k", c_int64),
                ("a", c_int), ("b", c_int), ("c", c_int)]


def expr_deep_equal(lhs, rhs):
    """Whether two expressions are the same, of the same variables."""
    from .._module import structural_equal
    return structural_equal(lhs, rhs)


def verify_well_formed(obj, assert_mode=True):
    """Whether a program keeps the rules of the language, when it is read again: an error where it does not, or False without
    assert_mode."""
    if not isinstance(obj, (IRModule, PrimFunc)):
        raise TypeError("a program is well formed, not a %s" % type(obj).__name__)
    try:
        parse(obj.script(), "<program>")
    except TVMError:
        if assert_mode:
            raise
        return False
    return True


def estimate_tir_flops(mod):
    """How many float operations a program makes; a product and a sum are two."""
    from .._module import as_module
    mod, total = as_module(mod, "main"), 0.0
    for name in mod.functions:
        cost = _Cost()
        _lib.call("module_cost", mod._module, name.encode(), byref(cost))
        total += cost.float_ops
    return total


def verify_gpu_code(func, constraints):
    """Whether the kernels of a program, which is a function or a module, are within the limits: {"max_threads_per_block": 1024}.
    An extent that is not known is beyond every limit. Memory of a program with blocks is what its kernels need."""
    from . import _gpu_code, transform
    from .._module import as_module
    mod = as_module(func, "main")
    if "T.block(" in mod.script() or "T.sblock(" in mod.script():
        for name in ("PlanAndUpdateBufferAllocationLocation", "ConvertBlocksToOpaque", "CompactBufferAllocation"):
            mod = getattr(transform, name)()(mod)
    return all(_gpu_code.within(f.body, constraints) for f in mod.functions.values())


def verify_memory(func):
    """Whether a function for a GPU touches its parameters in kernels only; True for a processor and without a target."""
    from . import _gpu_code
    from .._target import Target
    target = (func.attrs or {}).get("target")
    if target is None or Target(str(target).removeprefix("T.target(").removesuffix(")").strip("\"'")).kind.name in ("llvm", "c"):
        return True
    return _gpu_code.is_apart(func.body)


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.tir.analysis", name)


__all__ = ["estimate_tir_flops", "expr_deep_equal", "verify_gpu_code", "verify_memory", "verify_well_formed"]
