"""Devices: the processor, and GPUs through OpenCL or CUDA. Arrays are in the processor's memory; a kernel for a GPU
copies them to the GPU and back."""

import ctypes
import functools

from . import _lib
from ._errors import TVMError

_TYPES = {"cpu": 1, "cuda": 2, "opencl": 4}  # DLPack's
_NAMES = {"llvm": "cpu", "c": "cpu", "cl": "opencl", "nvptx": "cuda", "gpu": "cuda"}
_ABSENT = ("metal", "vulkan", "rocm", "webgpu", "hexagon", "ext_dev")


@functools.lru_cache(maxsize=None)
def _found(kind):
    """{number: name} of the devices of a kind."""
    found = {}

    def hear(_, info):
        number = info.contents.device.decode().rpartition(":")[2]
        found[int(number)] = info.contents.name.decode("utf-8", "replace")

    try:
        _lib.call("devices_of", kind.encode(), _lib.HEAR_DEVICE(hear), None)
    except TVMError:
        pass  # there is none
    return found


class Device:
    """type: "cpu", "cuda", "opencl"; index. exist: whether this machine has it."""

    def __init__(self, type, index=0):
        self.type, self.index = type, index

    device_id = property(lambda self: self.index)
    device_type = property(lambda self: _TYPES.get(self.type, 0))

    @property
    def exist(self):
        return self.type == "cpu" and self.index == 0 or self.type in _TYPES and self.index in _found(self.type)

    @property
    def device_name(self):
        return "cpu" if self.type == "cpu" else _found(self.type).get(self.index)

    def sync(self, stream=None):
        """Runs are over when they return."""

    def __eq__(self, other):
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __repr__(self):
        return "%s(%d)" % (self.type, self.index)


def device(dev, dev_id=0):
    """A device by its name: device("cpu"), device("cuda", 1), device("opencl:0")."""
    if isinstance(dev, Device):
        return dev
    name, _, number = str(dev).partition(":")
    name = name.split()[0] if name.split() else name
    name = _NAMES.get(name, name)
    if name not in _TYPES and name not in _ABSENT:
        raise ValueError("there is no device %r: one is cpu, cuda or opencl" % (dev,))
    return Device(name, int(number) if number else dev_id)


def cpu(dev_id=0):
    return Device("cpu", dev_id)


def cuda(dev_id=0):
    return Device("cuda", dev_id)


def opencl(dev_id=0):
    return Device("opencl", dev_id)


def check(where):
    """That arrays can be for it: None, or a device that there is."""
    if where is None:
        return
    if not isinstance(where, Device):
        raise TypeError("a device is cpu(), cuda() or opencl(), not %r" % (where,))
    if not where.exist:
        raise ValueError("there is no %r on this machine; kernels for GPUs that are not here can be written as source: "
                         "build(...).imported_modules[0].get_source()" % (where,))
