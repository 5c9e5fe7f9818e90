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


def _allocations(node):
    """What memory a statement makes."""
    kind = type(node).__name__
    return list(node.alloc_buffers) if kind == "Block" else [node.buffer] if kind == "Allocate" else []


class _Kernel:
    """The loops over threads of one kernel, and what it holds and uses."""

    def __init__(self):
        self.extents, self.made, self.used, self.vector = {}, {}, set(), 0

    def see(self, node):
        kind, tag = type(node).__name__, _thread(node)
        if tag:
            extent = node.extent if isinstance(node.extent, int) else math.inf
            tag = "vthread" if tag.startswith("vthread") else tag
            self.extents[tag] = extent if tag != "vthread" else extent * self.extents.get(tag, 1)
        if kind in ("BufferLoad", "BufferStore"):
            self.used.add(node.buffer.name)
            value = node if kind == "BufferLoad" else node.value
            self.vector = max(self.vector, DataType(getattr(value, "dtype", node.buffer.dtype)).itemsize)
        for buffer in _allocations(node):
            self.made[buffer.name] = buffer

    def takes(self, around):
        """{what: how much}; around: the buffers that are made outside of kernels."""
        out = {tag: extent for tag, extent in self.extents.items() if not tag.startswith("blockIdx")}
        out["threads"] = math.prod(extent for tag, extent in out.items() if tag.startswith("threadIdx"))
        buffers = list(self.made.values()) + [b for name, b in around.items() if name in self.used and name not in self.made]
        for scope in ("shared", "local"):
            out[scope] = sum(_bytes(b) for b in buffers if b.scope().partition(".")[0] == scope)
        out["vector"] = self.vector
        return out


def kernels_of(body):
    """[{what: how much}], a dict for each kernel."""
    kernels, around = [], {}

    def see(node):
        if _thread(node):
            kernels.append(_Kernel())
            pre_order_visit(node, kernels[-1].see)
            return False
        around.update((b.name, b) for b in _allocations(node))
        return True

    pre_order_visit(body, see)
    return [k.takes(around) for k in kernels]


def is_apart(body):
    """Whether whatever is loaded and stored outside of kernels is memory that is made there."""
    made, used = set(), set()

    def see(node):
        if _thread(node):
            return False
        made.update(b.name for b in _allocations(node))
        if type(node).__name__ in ("BufferLoad", "BufferStore"):
            used.add(node.buffer.name)
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
