"""tirc.tir.schedule.transform: changes made of several calls."""

from ..function import TensorIntrin
from .analysis import get_tensorize_loop_mapping


def tile_with_tensor_intrin(sch, block, intrin_name, allow_padding=False):
    """Splits a block's loops into tiles of an intrinsic, with the tile's loops innermost, and gives the outermost of those, for
    sch.tensorize. None: the block is not what the intrinsic computes, or extents are no multiples."""
    if allow_padding:
        raise ValueError("sch.pad_einsum(block, paddings) pads first; get_tensorize_loop_mapping(..., allow_padding=True) says by how much")
    info = get_tensorize_loop_mapping(sch, block, TensorIntrin.get(intrin_name).desc)
    if info is None:
        return None
    inner = {}
    loops = [(loop, info.loop_map.find(sch.get_sref(loop))) for loop in sch.get_loops(block)]
    for loop, of in loops:
        if of is not None:
            inner[info.desc_loop_indexer[of]] = sch.split(loop, factors=[None, of.extent])[1]
    suffix = [inner[i] for i in sorted(inner)]
    refs, met, moved = [sch.get_sref(loop) for loop in suffix], False, []
    for loop in sch.get_loops(block):
        if sch.get_sref(loop) in refs:
            met = True
        elif met:
            moved.append(loop)
    sch.reorder(*moved, *suffix)
    return suffix[0]


__all__ = ["tile_with_tensor_intrin"]
