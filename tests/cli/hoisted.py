"""Memory of a model's functions that the caller has for them: hoisted.py TIRC FOLDER PROGRAMS [SEED]

Draws models of one function whose loops, of all kinds, allocate buffers of a size, a type and a number of steps of their
own in each copy that unrolling or a tail makes of them; builds them as C, and runs them with a workspace and arrays that
end, or begin, at a page that nobody may touch. What they store is known without them.
"""
import ctypes
import os
import random
import re
import subprocess
import sys

import numpy as np
from guarded import Guarded, in_a_child

LENGTH = 1 << 17  # elements of A, and of a row of B
BYTES = {"float32": 4, "int32": 4, "float64": 8, "int16": 2}


class Model:
    """A nest of loops; at its innermost step, number row, t[k] = A[k] * (row + 1), and then B[row, k] = t[size - 1 - k]."""

    def __init__(self, r):
        self.r = r
        self.loops = []  # kind, extent, how much smaller for each step of the outermost one
        for depth in range(r.choice([1, 2, 2, 2, 3])):
            kind = r.choice(["unroll", "parallel", "range", "unroll"] if depth else ["unroll", "unroll", "range", "parallel"])
            extent = r.choice([1, 2, 3, 4]) if kind != "range" else r.choice([2, 3, 5])
            less = r.choice([0, 0, 1, 2]) if depth and kind != "unroll" and self.loops[0][0] == "unroll" else 0
            self.loops.append((kind, extent + less * (self.loops[0][1] - 1) if depth else extent, less))
        self.buffers = []
        for _ in range(r.choice([1, 1, 2])):
            dtype = r.choice(["float32"] * 3 + ["int32", "float64", "int16"])
            size = r.choice([40, 5000, 17000, 20000, 32768, 33000])
            grows = r.choice([0, 0, 13, 1000, 16384]) if self.loops[0][0] == "unroll" else 0
            self.buffers.append((dtype, size, grows))
        self.form = r.choice(["c", "c", "obj"])
        self.limit = r.randint(1, 9) if r.random() < 0.3 else None  # a condition, which may part a loop

    def rows(self):
        """The variables and the number of each step, in order."""
        steps = [((), 0)]
        for kind, extent, less in self.loops:
            steps = [(v + (x,), n * 16 + x) for v, n in steps for x in range(extent - (less * v[0] if v else 0))]
        return [(v, n) for v, n in steps if self.limit is None or sum(v) < self.limit]

    def text(self):
        n = 16 ** len(self.loops)
        out = ['@I.ir_module', 'class Module:', '    @T.prim_func',
               '    def f(A: T.Buffer((%d,), "float32"), B: T.Buffer((%d, %d), "float32")):' % (LENGTH, n, len(self.buffers))]
        # B has a sum for each buffer, which float32 holds: it stays small
        pad, names = '        ', []
        for d, (kind, extent, less) in enumerate(self.loops):
            name = "ijl"[d]
            of = "%d - %d * i" % (extent, less) if less else "%d" % extent
            out.append(pad + "for %s in %s(%s):" % (name, kind if kind == "range" else "T." + kind, of))
            pad += "    "
            names.append(name)
        row = "0"
        for name in names:
            row = "(%s) * 16 + %s" % (row, name)
        out += [pad + 'with T.block("P"):', pad + "    vi = T.axis.spatial(%d, i)" % self.loops[0][1],
                pad + "    vrow = T.axis.spatial(%d, %s)" % (n, row)]
        if self.limit is not None:
            out.append(pad + "    T.where(%s < %d)" % (" + ".join(names), self.limit))
        out += [pad + "    T.reads(A[0:%d])" % LENGTH, pad + "    T.writes(B[vrow, 0:%d])" % len(self.buffers)]
        pad += "    "
        for b, (dtype, size, grows) in enumerate(self.buffers):
            out.append(pad + 't%d = T.alloc_buffer((%d + vi * %d,), "%s")' % (b, size, grows, dtype))
        for b, (dtype, size, grows) in enumerate(self.buffers):
            extent = "%d + vi * %d" % (size, grows)
            value = "A[k] * T.Cast(\"float32\", vrow %% 7 + 1)"
            out += [pad + "for k in range(%s):" % extent,
                    pad + '    t%d[k] = %s' % (b, value.replace("%%", "%") if dtype == "float32" else
                                                 'T.Cast("%s", %s)' % (dtype, value.replace("%%", "%")))]
        for b, (dtype, size, grows) in enumerate(self.buffers):
            extent = "%d + vi * %d" % (size, grows)
            read = "t%d[%s - 1 - k]" % (b, extent)
            out += [pad + "B[vrow, %d] = T.float32(0)" % b,
                    pad + "for k in range(%s):" % extent,
                    pad + "    B[vrow, %d] = B[vrow, %d] + %s * T.Cast(\"float32\", k %% 3)"
                    % (b, b, read if dtype == "float32" else 'T.Cast("float32", %s)' % read)]
        out += ['    @R.function', '    def main(A: R.Tensor((%d,), "float32")):' % LENGTH, '        cls = Module',
                '        with R.dataflow():',
                '            y = R.call_tir(cls.f, (A,), out_sinfo=R.Tensor((%d, %d), dtype="float32"))' % (n, len(self.buffers)),
                '            R.output(y)', '        return y']
        return "\n".join(out) + "\n"

    def expected(self, a):
        out = {}
        for v, row in self.rows():
            for b, (dtype, size, grows) in enumerate(self.buffers):
                n = size + v[0] * grows
                t = (a[:n] * np.float32(row % 7 + 1)).astype(dtype)
                out[row, b] = float((t[::-1].astype("float64") * (np.arange(n) % 3)).sum())
        return out


def call(library, symbol, model, workspace_size, a, at_end):
    """Runs the model's function; ends the process."""
    shape = (16 ** len(model.loops), len(model.buffers))
    given, got, workspace = Guarded(a.nbytes, at_end), Guarded(shape[0] * shape[1] * 4, at_end), Guarded(workspace_size, at_end)
    given.array(a.shape, "float32")[:] = a
    status = getattr(ctypes.CDLL(library), symbol)(*[ctypes.c_void_p(x.at) for x in (given, got, workspace)])
    y = got.array(shape, "float32")
    wrong = [k for k, v in model.expected(a).items() if y[k] != v]
    for k in wrong[:3]:
        print("element %s is %r, and should be %r" % (k, y[k], model.expected(a)[k]), flush=True)
    return bool(wrong) or status


def run(tirc, folder, name, model):
    """"", or what went wrong."""
    base = os.path.join(folder, name)
    with open(base + ".tir", "w") as f:
        f.write(model.text())
    code = base + (".c" if model.form == "c" else ".o")
    warn = ["-Wall", "-Wextra", "-Werror"] if model.form == "c" else []
    for command in ([tirc, "build", base + ".tir", "--emit=" + model.form, "-o", code], [tirc, "build", base + ".tir", "--emit=header", "-o", base + ".h"],
                    ["gcc", "-O1", "-fopenmp", "-shared", "-fPIC", *warn, code, "-o", base + ".so", "-lm"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return " ".join(command) + ": " + done.stderr
    size = int(re.search(r"enum { %s_workspace = (\d+) }" % name, open(base + ".h").read())[1])
    a = (np.arange(LENGTH) % 5).astype("float32")
    for at_end in (True, False):
        why = in_a_child(lambda: call(base + ".so", name, model, size, a, at_end))
        if why:
            return "run, at %s of the pages: %s" % ("the end" if at_end else "the beginning", why)
    for file in (base + ".tir", code, base + ".h", base + ".so"):
        os.remove(file)
    return ""


def main():
    tirc, folder, programs = os.path.realpath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    failures = 0
    for i in range(programs):
        model = Model(random.Random("%d %d" % (seed, i)))
        why = run(tirc, folder, "m%d" % i, model)
        if why:
            failures += 1
            print("seed %d, program %d: %s\n%s" % (seed, i, why, model.text()))
    print("%d programs, %d failures" % (programs, failures))
    sys.exit(failures > 0)


main()
