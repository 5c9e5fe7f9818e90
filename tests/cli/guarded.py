"""Memory between pages that nobody may touch, and processes whose end is looked at."""
import ctypes
import mmap
import os

import numpy as np

PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class Guarded:
    """So many bytes between two pages without access: at the end of theirs, or at the beginning."""

    def __init__(self, size, at_end, align=64):
        room = -(-size // PAGE) * PAGE
        self.length = room + 2 * PAGE
        self.base = libc.mmap(None, self.length, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        for guard in (self.base, self.base + PAGE + room):
            assert libc.mprotect(guard, PAGE, 0) == 0
        self.at = self.base + PAGE + ((room - size) // align * align if at_end else 0)
        ctypes.memset(self.base + PAGE, 255, room)

    def array(self, shape, dtype):
        n = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.frombuffer((ctypes.c_char * n).from_address(self.at), dtype).reshape(shape)

    def free(self):
        libc.munmap(self.base, self.length)


def in_a_child(f):
    """f() in a process of its own: "" where it gives 0, or what went wrong."""
    child = os.fork()
    if not child:
        try:
            os._exit(int(f() or 0))
        except BaseException as error:
            print(error, flush=True)
            os._exit(2)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "signal %d" % os.WTERMSIG(status)
    return "status %d" % os.WEXITSTATUS(status) if status else ""
