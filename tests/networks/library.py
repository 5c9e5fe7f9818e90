"""Libraries that `tirc build` made of a model with open extents, called on memory between pages that nobody may touch."""
import ctypes
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "..", "tools", "python"), os.path.join(HERE, "..", "cli")]
from guarded import Guarded, in_a_child  # noqa: E402, F401

FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]


def tirc_says(tirc, *words):
    done = subprocess.run([tirc, *map(str, words)], capture_output=True, text=True, timeout=300)
    if not 0 <= done.returncode <= 2:
        raise AssertionError("%s ends with %d: %s" % (words, done.returncode, done.stderr[-500:]))
    return done


def built(tirc, path, way, *words):
    """The shared object of a model, its weights inside; way: lib, obj, c or portable."""
    kind, to = "c" if way == "portable" else way, path[:-5] + "_" + way
    source = to + {"lib": ".so", "obj": ".o", "c": ".c"}[kind]
    told = tirc_says(tirc, "build", path, "--emit=" + kind, *["--portable"] * (way == "portable"), "--weights-inside", "-o", source, *words)
    if told.returncode:
        raise AssertionError("%s as %s is refused: %s" % (path, way, told.stderr[-800:]))
    if kind != "lib":
        done = subprocess.run(["cc", *FLAGS, *["-pedantic-errors" if way == "portable" else "-march=haswell"], source, "-o", to + ".so", "-lm"], capture_output=True, text=True)
        if done.returncode or done.stderr:
            raise AssertionError("%s as %s does not compile: %s" % (path, way, done.stderr[:1500]))
    return to + ".so"


class Library:
    def __init__(self, tirc, path):
        os.environ.setdefault("TIRC_LIBRARY", os.path.dirname(os.path.dirname(tirc)))
        import tirc as package
        self.model = package.load(path)

    def extents(self, shapes):
        """The values of the extents that lead the parameters, by the inputs' shapes."""
        known = {}
        for t, shape in zip(self.model.inputs, shapes):
            known.update({e: n for e, n in zip(t.shape, shape) if isinstance(e, str) and e.isidentifier()})
        return known

    def call(self, inputs, at_end=True):
        """(status, text, results): inputs, results and the workspace each flush with the end of its pages, or with their beginning."""
        m, known, kept = self.model, self.extents([x.shape for x in inputs]), []

        def memory(size, align):
            kept.append(Guarded(size, at_end, align))
            return kept[-1]

        def placed(shape, dtype):
            return memory(int(np.prod(shape)) * dtype.itemsize, dtype.itemsize), shape, dtype

        leading = [ctypes.c_int64(known[c_name]) for _, c_name, _, _ in m._extents]
        given = [placed(x.shape, x.dtype) for x in inputs]
        for (g, shape, dtype), x in zip(given, inputs):
            ctypes.memmove(g.at, np.ascontiguousarray(x).ctypes.data, x.nbytes)
        size = m._workspace(leading)
        refused = m._info.workspace < 0 and size == 0
        outs = [placed([max(m._evaluate(e, known), 0) for e in t.shape], np.dtype(t.dtype)) for t in m.outputs]
        arrays = [ctypes.c_void_p(g.at) for g, _, _ in given + outs]
        status = m._run(*leading, *arrays, *m._block, ctypes.c_void_p(memory(size, 64).at))
        results = [np.array(g.array(shape, dtype)) for g, shape, dtype in outs]
        text = m._error_text(status).decode() if status else ""
        for (g, shape, dtype), x in zip(given, inputs):
            assert g.array(shape, dtype).tobytes() == x.tobytes(), "an input was written"
        for g in kept:
            g.free()
        return status, text, results, refused
