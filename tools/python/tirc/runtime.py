"""tirc.runtime: tensors, as TVM has them around numpy's arrays."""

from ._runtime import Tensor, cpu, device, empty, tensor

__all__ = ["Tensor", "cpu", "device", "empty", "tensor"]
