"""What prefetching runs ahead must not fault: prefetched.py TIRC FOLDER PROGRAMS [SEED]

Draws functions whose loops are annotated software_prefetch and have ends, starts and places that are loaded, or that
are beyond everything some steps later, and buffers of a step's own; builds them as C and as an object, and runs
both on arrays that end, or begin, at a page that nobody may touch. The same function without annotations says what is right.
"""
import ctypes
import os
import random
import subprocess
import sys

import numpy as np
from guarded import Guarded, in_a_child

ROWS, WIDTH = 24, 12


class Nest:
    def __init__(self, r):
        self.r = r
        self.n = 0
        self.buffers = ["L", "D", "E", "C"]

    def annotation(self):
        wishes = ['"%s": %s' % (b, self.r.choice(["0", "1", "3", "8", "24", "[1, 1]", "[2, 2]", "[5, 1]"]))
                  for b in self.r.sample(self.buffers, self.r.choice([1, 1, 2]))]
        return ', annotations={"software_prefetch": {%s}}' % ", ".join(wishes) if self.r.random() < 0.6 else ""

    def number(self, loops, limit):
        """An expression from 0 to limit - 1 at least where the loops run, and what it is made of."""
        v = self.r.choice(loops + loops[-1:])
        if self.r.random() < 0.7:
            return self.r.choice(["T.min(%s, %d)" % (v, limit - 1), "(%s * 5) %% %d" % (v, limit), "(%d - %s) %% %d" % (ROWS, v, limit),
                                  "%d // (%d - T.min(%s, %d)) %% %d" % (limit, ROWS, v, ROWS - 1, limit)])
        return self.r.choice(["L[%s] %% %d" % (v, limit), "T.min(T.max(L[%s], 0), %d)" % (v, limit - 1),
                              "M[L[%s] %% %d] %% %d" % (v, ROWS, limit)])

    def bounds(self, loops):
        v = self.r.choice(loops)
        return self.r.choice(["%d" % WIDTH, "%d" % self.r.choice([1, 3, 8]), "L[%s] %% %d" % (v, WIDTH), "T.min(L[%s], %d)" % (v, WIDTH),
                              "0, M[%s] %% %d" % (v, WIDTH), "L[%s] %% 4, M[%s] %% %d" % (v, v, WIDTH), "%d - %s // 2" % (WIDTH, v),
                              "L[M[%s] %% %d] %% %d" % (v, ROWS, WIDTH), "M[%s] %% 3, %d" % (v, WIDTH)])

    def body(self, loops, depth, pad):
        out = []
        kind = self.r.random()
        if depth and kind < 0.7:
            name = "j%d" % self.n
            self.n += 1
            out.append("%sfor %s in T.serial(%s%s):" % (pad, name, self.bounds(loops), self.annotation()))
            out += self.body(loops + [name], depth - 1, pad + "    ")
        elif depth and kind < 0.8:
            out.append("%sif %s < %d:" % (pad, self.number(loops, WIDTH), self.r.randint(1, WIDTH)))
            out += self.body(loops, depth - 1, pad + "    ")
        elif depth and kind < 0.95:
            name = "t%d" % self.n
            self.n += 1
            self.buffers.append(name)
            size = self.r.choice([4, 16, 33])
            out += ["%s%s = T.decl_buffer((%d,), \"float32\")" % (pad, name, size),
                    "%sfor q%s in T.serial(%d%s):" % (pad, name, size, self.annotation()),
                    "%s    %s[q%s] = D[%s, q%s %% %d]" % (pad, name, name, self.number(loops, ROWS), name, WIDTH)]
            out += self.body(loops, depth - 1, pad)
            out.append("%sC[i] = C[i] + %s[%s]" % (pad, name, self.number(loops, size)))
        for _ in range(self.r.choice([0, 1, 2]) if out else self.r.choice([1, 2])):
            row, column = self.number(loops, ROWS), self.number(loops, WIDTH)
            of = self.r.choice(["D[%s, %s]", "D[%s, %s]", "E[%s * 12 + %s]"]) % (row, column)
            out.append("%sC[%s] = C[%s] + %s" % ((pad,) + (self.r.choice(["i", self.number(loops, ROWS)]),) * 2 + (of,)))
        return out

    def text(self):
        out = ["@T.prim_func",
               'def f(L: T.Buffer((%d,), "int32"), M: T.Buffer((%d,), "int32"), D: T.Buffer((%d, %d), "float32"), '
               'E: T.Buffer((%d,), "float32"), C: T.Buffer((%d,), "float32")):' % (ROWS, ROWS, ROWS, WIDTH, ROWS * WIDTH, ROWS)]
        pad, loops = "    ", ["i"]
        out.append('    for i in T.serial(%d%s):' % (ROWS, self.annotation()))
        return "\n".join(out + self.body(loops, 3, "        ")) + "\n"


def plain(text):
    while ', annotations={"software_prefetch"' in text:
        i = text.index(', annotations={"software_prefetch"')
        text = text[:i] + text[text.index("}}", i) + 2:]
    return text


def built(tirc, base, text, form):
    with open(base + ".tir", "w") as f:
        f.write(text)
    code = base + (".c" if form == "c" else ".o")
    for command in ([tirc, "build", base + ".tir", "--emit=" + form, "-o", code],
                    ["gcc", "-O1", "-shared", "-fPIC", code, "-o", base + ".so", "-lm"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return " ".join(command) + ": " + done.stderr
    return ""


def arguments(seed, at_end):
    numbers = np.random.default_rng(seed)
    given = [numbers.integers(0, 2 * WIDTH, ROWS).astype("int32"), numbers.integers(0, 3 * WIDTH, ROWS).astype("int32"),
             numbers.integers(-9, 9, (ROWS, WIDTH)).astype("float32"), numbers.integers(-9, 9, ROWS * WIDTH).astype("float32"),
             numbers.integers(-9, 9, ROWS).astype("float32")]
    places = [Guarded(a.nbytes, at_end, a.itemsize) for a in given]
    for place, a in zip(places, given):
        place.array(a.shape, a.dtype)[...] = a
    return places


def compare(base, form, seed, at_end):
    results = []
    for of in ("plain", form):
        places = arguments(seed, at_end)
        status = ctypes.CDLL(base + of + ".so").f(*[ctypes.c_void_p(p.at) for p in places])
        if status:
            print("%s gives %d" % (of, status), flush=True)
            return 3
        results.append(places[-1].array((ROWS,), "float32").copy())
    if np.array_equal(*results, equal_nan=True):
        return 0
    print(results, flush=True)
    return 1


def run(tirc, base, text, seed):
    for of, form, program in (("plain", "obj", plain(text)), ("c", "c", text), ("obj", "obj", text)):
        why = built(tirc, base + of, program, form)
        if "no buffer of that name is accessed" in why or "is annotated to prefetch" in why:
            return None
        if why:
            return why
    for form in ("c", "obj"):
        for at_end in (True, False):
            why = in_a_child(lambda: compare(base, form, seed, at_end))
            if why:
                return "%s, at %s of the pages: %s" % (form, "the end" if at_end else "the beginning", why)
    return ""


def main():
    tirc, folder, programs = os.path.realpath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    failures = refused = 0
    for i in range(programs):
        text = Nest(random.Random("%d %d" % (seed, i))).text()
        why = run(tirc, os.path.join(folder, "p"), text, i)
        refused += why is None
        if why:
            failures += 1
            print("seed %d, program %d: %s\n%s" % (seed, i, why, text), flush=True)
    print("%d programs, %d of them refused, %d failures" % (programs, refused, failures))
    sys.exit(failures > 0 or refused > programs // 2)


main()
