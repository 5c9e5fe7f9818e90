"""tirc.tir.tensor_intrin: the names of intrinsics that come with the library."""

from . import arm_cpu, cuda, x86

__all__ = ["arm_cpu", "cuda", "x86"]
