"""What kernels of a program take of a GPU, against limits."""

import math

from ..runtime import DataType
from .stmt_functor import pre_order_visit

# the reference's name of a limit -> what it is a limit of
LIMITS = {"max_threads_per_block": "threads", "max_thread_x": "threadIdx.x", "max_thread_y": "threadIdx.y", "max_thread_z": "threadIdx.z",
          "max_vthread": "vthread", "max_shared_memory_per_block": "shared", "max_local_memory_per_block": "local",
          "max_vector_bytes": "vector", "max_kernels": "kernels"}


def _bytes(buffer):
    """inf: its extents are not known."""
    count = math.prod(e if isinstance(e, int) else math.inf for e in buffer.shape)
    return count * DataType(buffer.dtype).itemsize


def _thread(node):
    return str(node.thread_binding) if type(node).__name__ == "For" and node.kind == "thread_binding" else ""


def _extent(loop):
    return loop.extent if isinstance(loop.extent, int) else math.inf


def _allocations(node):
    """What memory a statement makes."""
    kind = type(node).__name__
    return list(node.alloc_buffers) if kind == "Block" else [node.buffer] if kind == "Allocate" else []


def _views(node):
    """The data of the buffers that a block gives other names, and that of these."""
    matches = node.match_buffers if type(node).__name__ == "Block" else []
    return [(m.source.buffer.data, m.buffer.data) for m in matches]


def _vthreads(node):
    """How many virtual threads there are at most: those of a loop in another one are as many times more."""
    most = 1

    def see(inner):
        nonlocal most
        if inner is not node and _thread(inner).startswith("vthread"):
            most = max(most, _extent(inner) * _vthreads(inner))
            return False
        return True

    pre_order_visit(node, see)
    return most


class _Kernel:
    """The loops over threads of one kernel, and what it holds and uses. Memory is known by its `data`: names may be alike."""

    def __init__(self, loop):
        self.extents, self.made, self.used, self.vector = {}, {}, set(), 0
        pre_order_visit(loop, self._see)
        vthreads = _vthreads(loop) * (_extent(loop) if _thread(loop).startswith("vthread") else 1)
        if vthreads > 1:
            self.extents["vthread"] = vthreads

    def _see(self, node):
        kind, tag = type(node).__name__, _thread(node)
        if tag and not tag.startswith("vthread"):
            known = self.extents.setdefault(tag, _extent(node))
            self.extents[tag] = known if known == _extent(node) else math.inf  # a kernel has one extent for each axis
        if kind in ("BufferLoad", "BufferStore"):
            self.used.add(node.buffer.data)
            value = node if kind == "BufferLoad" else node.value
            self.vector = max(self.vector, DataType(getattr(value, "dtype", node.buffer.dtype)).itemsize)
        self.used.update(of for of, _ in _views(node))
        self.made.update((b.data, b) for b in _allocations(node))

    def takes(self, around):
        """{what: how much}; around: the buffers that are made outside of kernels, by their data."""
        out = {tag: extent for tag, extent in self.extents.items() if not tag.startswith("blockIdx")}
        out["threads"] = math.prod(extent for tag, extent in out.items() if tag.startswith("threadIdx"))
        buffers = list(self.made.values()) + [b for data, b in around.items() if data in self.used and data not in self.made]
        for scope in ("shared", "local"):
            out[scope] = sum(_bytes(b) for b in buffers if b.scope().partition(".")[0] == scope)
        out["vector"] = self.vector
        return out


def kernels_of(body):
    """[{what: how much}], a dict for each kernel."""
    kernels, around = [], {}

    def see(node):
        if _thread(node):
            kernels.append(_Kernel(node))
            return False
        around.update((b.data, b) for b in _allocations(node))
        return True

    pre_order_visit(body, see)
    return [k.takes(around) for k in kernels]


def is_apart(body):
    """Whether whatever is loaded and stored outside of kernels is memory that is made there."""
    made, used = set(), set()

    def see(node):
        if _thread(node):
            return False
        made.update([b.data for b in _allocations(node)] + [to for of, to in _views(node) if of in made])
        if type(node).__name__ in ("BufferLoad", "BufferStore"):
            used.add(node.buffer.data)
        return True

    pre_order_visit(body, see)
    return used <= made


def within(body, constraints):
    """Whether all kernels are within the limits."""
    unknown = [name for name in constraints if name not in LIMITS]
    if unknown:
        raise ValueError("there is no limit %r; the limits are %s" % (unknown[0], ", ".join(LIMITS)))
    kernels = kernels_of(body)
    most = {LIMITS[name]: int(value) for name, value in constraints.items()}
    return len(kernels) <= most.get("kernels", len(kernels)) and all(k.get(what, 0) <= limit for k in kernels for what, limit in most.items())
