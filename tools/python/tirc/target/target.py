"""tirc.target.target: where the reference keeps the class."""

from .._target import Target, TargetKind

__all__ = ["Target", "TargetKind"]
