"""tirc.runtime: tensors, as TVM has them around numpy's arrays, and types."""

__path__ = []  # what is imported below it is asked for by name

from enum import IntEnum

from . import nd as ndarray
from ._export import load_module
from ._device import Device, cpu, cuda, device, opencl
from ._values import Object
from ._runtime import BenchmarkResult, Module, Tensor, empty, tensor

NDArray = Tensor


class DataTypeCode(IntEnum):
    """The kinds of numbers, as DLPack has them."""

    INT, UINT, FLOAT, HANDLE, BFLOAT = range(5)


class DataType(str):
    """The parts of a type such as "float32x4": type_code, bits, lanes."""

    def __new__(cls, name):
        import re
        found = re.fullmatch(r"(bool|handle|void|bfloat|float|uint|int)(\d*)(?:x(\d+))?", str(name))
        if not found:
            raise ValueError("there is no type %r" % (name,))
        self = super().__new__(cls, name)
        self.type_code = DataTypeCode[{"bool": "UINT", "void": "HANDLE"}.get(found.group(1), found.group(1).upper())]
        self.bits = int(found.group(2) or {"bool": 1, "handle": 64, "void": 0}.get(found.group(1), 32))
        self.lanes = int(found.group(3) or 1)
        return self

    itemsize = property(lambda self: (self.bits * self.lanes + 7) // 8)


ShapeTuple = tuple


def convert(value):
    """Returns its argument: Python's values need no conversion."""
    return value


def __getattr__(name):
    from . import _doors
    return _doors.missing("tirc.runtime", name)


__all__ = ["BenchmarkResult", "DataType", "DataTypeCode", "Device", "Module", "NDArray", "Object", "ShapeTuple", "Tensor", "convert", "cpu", "cuda", "device", "empty",
           "load_module", "ndarray", "opencl", "tensor"]
