"""tirc.target: Target."""

from .._target import Target, TargetKind
from . import target


def cuda(model=None, arch=None, options=None):
    """The target of NVIDIA's GPUs: cuda("nvidia/nvidia-t4"), cuda(arch="sm_80")."""
    flags = ([] if arch is None else ["-arch=" + arch]) + ([options] if isinstance(options, str) else list(options or ()))
    return Target(" ".join([model if model else "cuda"] + flags))


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.target", name)


__all__ = ["Target", "TargetKind", "cuda", "target"]
