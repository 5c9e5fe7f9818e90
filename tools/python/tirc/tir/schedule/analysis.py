"""tirc.tir.schedule.analysis: questions about the blocks of a schedule."""

from typing import NamedTuple

from ..._errors import TVMError
from ..._values import ExprRV, Object
from ..stmt_functor import post_order_visit, pre_order_visit


def has_block(sch, block_name):
    """Whether a block of this name is in the function that is worked on."""
    try:
        sch.copy().get_block(block_name)
        return True
    except TVMError:
        return False


def is_output_block(sch, block):
    """Whether the block writes a result of the function."""
    wanted = sch.get_sref(block)
    return any(sch.get_sref(b) == wanted for b in sch.get_output_blocks("root"))


class Pairs(list):
    """What goes with what, of references, which are no keys of a dict."""

    def items(self):
        return list(self)

    def keys(self):
        return [k for k, _ in self]

    def values(self):
        return [v for _, v in self]

    def find(self, key):
        """What goes with it; None: nothing."""
        return next((v for k, v in self if k == key), None)

    def __getitem__(self, key):
        found = self.find(key)
        if found is None:
            raise KeyError(key)
        return found


class TensorizeInfo(NamedTuple):
    """loop_map: the block's loops (references) and those of the description; desc_loop_indexer: the description's loops and their
    numbers; block_iter_paddings: to multiples of what each iterator has to be padded, None where none has to."""

    loop_map: Pairs
    desc_loop_indexer: Pairs
    block_iter_paddings: list


class AutoTensorizeMappingInfo(NamedTuple):
    """mappings: index maps of the block's iterators, after which it has those of the description last."""

    mappings: list


def _description(desc_func):
    """(loops, the block within them) of an intrinsic's description."""
    loops, blocks = [], []
    pre_order_visit(desc_func.body, lambda n: loops.append(n) if type(n).__name__ == "For" else blocks.append(n) if type(n).__name__ == "Block" else True)
    return loops, blocks[-1]


def _uses(expr, var):
    found = []
    if isinstance(expr, Object):
        post_order_visit(expr, lambda node: found.append(node) if node == var else None)
    return bool(found)


def _is_offset_of(binding, var):
    """Whether it is var, or var and something without it."""
    if isinstance(binding, ExprRV) and type(binding).__name__ == "Add":
        a, b = binding.a, binding.b
        return _is_offset_of(a, var) and not _uses(b, var) or _is_offset_of(b, var) and not _uses(a, var)
    return isinstance(binding, Object) and type(binding).__name__ == "Var" and binding == var


def get_tensorize_loop_mapping(sch, block, desc_func, allow_padding=False):
    """Which loops of a block are those of an intrinsic's description, iterators of a kind from the last to the first: a
    TensorizeInfo. None: there are none, or extents are no multiples, unless they may be padded."""
    desc_loops, desc = _description(desc_func)
    target, loops = sch.get(block), sch.get_loops(block)
    at, pairs, paddings = len(target.iter_vars) - 1, Pairs(), {}
    for binding, iterator in reversed(list(zip(desc.iter_values, desc.iter_vars))):
        loop = next((l for l in desc_loops if _is_offset_of(binding, l.loop_var)), None)
        while at >= 0 and target.iter_vars[at].iter_type != iterator.iter_type:
            at -= 1
        if loop is None or at < 0 or not isinstance(loop.extent, int):
            return None
        mine = next((l for l in loops if _is_offset_of(target.iter_values[at], sch.get(l).loop_var)), None)
        extent = sch.get(mine).extent if mine is not None else None
        if not isinstance(extent, int) or (extent % loop.extent and not allow_padding):
            return None
        if extent % loop.extent:
            paddings[at] = loop.extent
        ref = sch.get_sref(mine)
        if pairs.find(ref) not in (None, loop):
            return None
        pairs.append((ref, loop))
        at -= 1
    given = [paddings.get(i, 1) for i in range(len(target.iter_vars))] if paddings else None
    return TensorizeInfo(pairs, Pairs((l, i) for i, l in enumerate(desc_loops)), given)


def _operands(block):
    """The buffers that a product's block uses: what it writes, and what it multiplies in order; with their indices."""
    value, loads = block.body.value, []
    post_order_visit(value, lambda n: loads.append(n) if type(n).__name__ == "BufferLoad" else None)
    return [block.body.indices] + [l.indices for l in loads if l.buffer != block.body.buffer]


def get_auto_tensorize_mapping_info(sch, block, desc_func):
    """How a block's iterators become those of an intrinsic's description: those that stand in the indices of the same operands go
    together. None: they do not fit."""
    from ..index_map import IndexMap
    _, desc = _description(desc_func)
    target = sch.get(block)
    wanted, mine = _operands(desc), _operands(target)
    if len(wanted) != len(mine):
        return None

    def places(var, operands):
        return tuple(any(_uses(i, var) for i in indices) for indices in operands)

    groups = [[i for i, v in enumerate(target.iter_vars) if places(v.var, mine) == places(d.var, wanted) and v.iter_type == d.iter_type]
              for d in desc.iter_vars]
    if not all(groups) or len({places(d.var, wanted) for d in desc.iter_vars}) != len(desc.iter_vars):
        return None
    extents = [v.dom.extent for v in target.iter_vars]
    alone = [i for i in range(len(extents)) if not any(i in g for g in groups)]

    def fused(indices, group):
        out = None
        for i in group:
            out = indices[i] if out is None else out * extents[i] + indices[i]
        return out

    def mapping(*indices):
        return tuple([indices[i] for i in alone] + [fused(indices, group) for group in groups])

    made = IndexMap(mapping, [str(v.var) for v in target.iter_vars])
    made.index_dtype = "int32"
    return AutoTensorizeMappingInfo([made])


def __getattr__(name):
    from ... import _doors
    return _doors.missing("tirc.tir.schedule.analysis", name)


__all__ = ["AutoTensorizeMappingInfo", "TensorizeInfo", "get_auto_tensorize_mapping_info", "get_tensorize_loop_mapping", "has_block", "is_output_block"]
