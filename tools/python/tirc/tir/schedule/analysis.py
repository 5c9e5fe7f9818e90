"""tirc.tir.schedule.analysis: questions about the blocks of a schedule."""

from ..._errors import TVMError


def has_block(sch, block_name):
    """Whether a block of this name is in the function that is worked on."""
    try:
        sch.copy().get_block(block_name)
        return True
    except TVMError:
        return False


def is_output_block(sch, block):
    """Whether it writes what the function gives back."""
    wanted = sch.get_sref(block)
    return any(sch.get_sref(b) == wanted for b in sch.get_output_blocks("root"))


def __getattr__(name):
    from ... import _doors
    return _doors.missing("tirc.tir.schedule.analysis", name)


__all__ = ["has_block", "is_output_block"]
