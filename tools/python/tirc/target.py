"""tirc.target: Target."""

from ._runtime import Target

__all__ = ["Target"]
