"""tirc.driver: how older scripts say tirc.build and tirc.lower."""

from ._runtime import build, lower

__all__ = ["build", "lower"]
