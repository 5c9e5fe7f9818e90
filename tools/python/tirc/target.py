"""tirc.target: Target."""

from ._target import Target, TargetKind

__all__ = ["Target", "TargetKind"]
