"""tirc.nd: tensors by the names of TVM 0.20."""

__path__ = []  # what is imported below it is asked for by name

from ._runtime import Tensor as NDArray
from ._runtime import cpu, device, empty
from ._runtime import tensor as array

__all__ = ["NDArray", "array", "cpu", "device", "empty"]
