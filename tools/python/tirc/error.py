"""tirc.error: TVMError, the base of all errors of the library."""

from ._errors import TVMError

__all__ = ["TVMError"]
