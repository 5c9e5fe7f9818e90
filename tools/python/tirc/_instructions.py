"""Instructions that are made by hand: Instruction(InstructionKind.get("Split"), inputs, attrs, outputs), with handles that
belong to no schedule, BlockRV() and LoopRV(). A trace of them is made by what traces are as JSON."""

import re

from . import _values
from ._values import BlockRV, LoopRV, Object, Typed

_PURE = ("Get", "Sample")


class InstructionKind(Object):
    """name; is_pure: it changes nothing."""

    def __init__(self, owner=None, value=None, name=None):
        Object.__init__(self, owner, value)
        if name is not None:
            self.name, self.is_pure = name, name.startswith(_PURE)

    @staticmethod
    def get(name):
        """The kind of this name: "GetBlock", "Split" ..."""
        if name not in _names():
            raise ValueError("there is no kind of instructions %r: %s" % (name, ", ".join(sorted(_names()))))
        return InstructionKind(name=name)


def _names():
    from ._schedule import primitives
    names = {"".join(part.capitalize() for part in p.name.split("_")) for p in primitives()}
    return names | {n.replace("Block", "SBlock") for n in names} | {"EnterPostproc"}


class Instruction(Object):
    """kind, inputs, attrs, outputs: of a trace, or made by hand."""

    def __init__(self, kind, inputs=None, attrs=None, outputs=None):
        by_hand = isinstance(kind, InstructionKind)
        Object.__init__(self, *(None, None) if by_hand else (kind, inputs))
        if by_hand:
            self.kind, self.inputs, self.attrs, self.outputs = kind, list(inputs or []), list(attrs or []), list(outputs or [])

    def __str__(self):
        if self._handle is not None:
            return Object.__str__(self)
        from ._schedule import Trace
        line = str(Trace(_givers(self.inputs) + [self])).strip().rpartition("\n")[2].strip()
        return re.sub(r"\b[blv]\d+\b(?=[^\"]*(?:\"[^\"]*\"[^\"]*)*$)", "_", line)

    def __hash__(self):
        return id(self) if self._handle is None else Object.__hash__(self)

    def __eq__(self, other):
        return self is other or (self._handle is not None and Object.__eq__(self, other))


def _givers(inputs):
    """Instructions that give the handles among the inputs."""
    out, block = [], BlockRV()
    for x in inputs:
        if isinstance(x, BlockRV):
            out.append(Instruction(InstructionKind.get("GetBlock"), [], ["", "main"], [x]))
        elif isinstance(x, LoopRV):
            out += [Instruction(InstructionKind.get("GetBlock"), [], ["", "main"], [block]),
                    Instruction(InstructionKind.get("GetLoops"), [block], [], [x])]
        elif isinstance(x, _values.ExprRV) and type(x).__name__ == "Var":
            out.append(Instruction(InstructionKind.get("SampleCategorical"), [], [[0], [1.0]], [x]))
    return out


Typed.classes.update(Instruction=Instruction, InstructionKind=InstructionKind)


def is_by_hand(instruction):
    return isinstance(instruction, Instruction) and instruction._handle is None


def _saved(value, names):
    """As JSON of a trace has it; names: handles -> names."""
    if id(value) in names:
        return names[id(value)]
    if isinstance(value, (list, tuple)):
        return [_saved(v, names) for v in value]
    if isinstance(value, dict):
        return {k: _saved(v, names) for k, v in value.items()}
    if isinstance(value, _values.ExprRV) and type(value).__name__ in ("FloatImm", "IntImm"):
        return value.value
    if isinstance(value, Object):
        raise ValueError("an instruction uses a handle that none before it gives")
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _input(value, names):
    if isinstance(value, str):
        return '"%s"' % value
    return "None" if value is None else _saved(value, names)


def as_json(instructions, decisions):
    """What Trace.from_json reads."""
    names, out = {}, []
    for inst in instructions:
        inputs = [_input(x, names) for x in inst.inputs]
        attrs = [_saved(x, names) for x in inst.attrs]
        for x in inst.outputs:
            names[id(x)] = "%s%d" % ("b" if isinstance(x, BlockRV) else "l" if isinstance(x, LoopRV) else "v", len(names))
        out.append([inst.kind.name, inputs, attrs, [names[id(x)] for x in inst.outputs]])
    given = {id(inst): decision for inst, decision in dict(decisions or {}).items()}
    return [out, [[i, _saved(given[id(inst)], names)] for i, inst in enumerate(instructions) if id(inst) in given]]
