"""tirc.tir.schedule.trace: where the reference keeps the class."""

from . import Instruction, InstructionKind, Trace

__all__ = ["Instruction", "InstructionKind", "Trace"]
