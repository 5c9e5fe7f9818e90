"""Arrays that end where memory ends, or begin there: a foreign element ends the process."""

import ctypes
import mmap

import numpy as np

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class Guarded:
    """Room between two stretches that nobody may touch, far enough for a row of indices that are a little wrong."""

    FAR = 1 << 20

    def __init__(self):
        self._regions = []

    def array(self, like, at_end=True):
        like = np.array(like, order="C")
        room = (max(like.nbytes, 1) + mmap.PAGESIZE - 1) // mmap.PAGESIZE * mmap.PAGESIZE
        base = _libc.mmap(None, room + 2 * self.FAR, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        assert base not in (None, ctypes.c_void_p(-1).value)
        self._regions.append((base, room + 2 * self.FAR))
        assert _libc.mprotect(base, self.FAR, 0) == 0 and _libc.mprotect(base + self.FAR + room, self.FAR, 0) == 0
        place = base + self.FAR + (room - like.nbytes if at_end else 0)
        memory = (ctypes.c_char * like.nbytes).from_address(place)
        array = np.frombuffer(memory, dtype=like.dtype).reshape(like.shape)
        array[...] = like
        return array

    def free(self):
        for region in self._regions:
            _libc.munmap(*region)
        self._regions = []
