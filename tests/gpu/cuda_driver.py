#!/usr/bin/env python3
"""What does tirc ask of CUDA's driver, and say when that refuses? cuda_driver.py TIRC FOLDER

FOLDER has the libcuda.so.1 of fake/cuda.c.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

TIRC, FOLDER = sys.argv[1:]
PROGRAM = """@T.prim_func
def add(A: T.Buffer((SIZE,), "float32"), B: T.Buffer((SIZE,), "float32")):
    for i in range(SIZE):
        with T.block("B"):
            vi = T.axis.spatial(SIZE, i)
            B[vi] = A[vi] + T.float32(1)
"""
SCHEDULE = """i, = sch.get_loops("B")
bx, tx = sch.split(i, [None, 64])
sch.bind(bx, "blockIdx.x")
sch.bind(tx, "threadIdx.x")
"""
failures = []


def run(words, folder=FOLDER, **environment):
    done = subprocess.run([TIRC, *words], capture_output=True, text=True,
                          env=dict(os.environ, LD_LIBRARY_PATH=folder, **environment))
    return done.returncode, done.stdout + done.stderr


def check(name, got, status, *wanted):
    missing = [w for w in wanted if w not in got[1]]
    if got[0] != status or missing:
        failures.append(name)
        print("%s: status %d; missing %s in\n%s" % (name, got[0], missing, got[1]))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        words = [str(folder / "add.tir"), str(folder / "add.sch"), "--device", "cuda"]
        (folder / "add.tir").write_text(PROGRAM.replace("SIZE", "1000"))
        (folder / "add.sch").write_text(SCHEDULE)
        check("run", run(["run", *words, "--check"], FAKE_CUDA_LOG=str(folder / "log")), 0, "check: ok")
        calls = (folder / "log").read_text().split("\n")
        check("launch", (0, "\n".join(calls)), 0, "cuLaunchKernel add_kernel grid 16 1 1 block 64 1 1 shared 0")
        for made, freed in (("cuMemAlloc", "cuMemFree"), ("cuModuleLoadDataEx", "cuModuleUnload")):
            n = [sum(c.startswith(what) for c in calls) for what in (made, freed)]
            check("as many %s as %s" % (made, freed), (n[0] - n[1], ""), 0)
        check("bench", run(["bench", *words, "--attempts", "1", "--seconds", "0.01"]), 0, "add")
        check("none", run(["run", *words], folder="/nonexistent"), 2, "libcuda.so.1 does not load", "--device emulate")
        check("no device", run(["run", *words], FAKE_CUDA_DEVICES="0"), 2, "CUDA has no device here")
        check("no such device", run(["run", *words[:-1], "cuda:3"]), 2, "CUDA has 1 device here, and no number 3")
        check("refused", run(["run", *words], FAKE_CUDA_REFUSES="1"), 2, "the device Fake GPU does not take the code of add_kernel",
              "CUDA_ERROR_INVALID_PTX", "ptxas error: it refuses all", "--emit=ptx")
        check("another target", run(["run", *words, "--target", "opencl"]), 2, "opencl is no GPU of CUDA")
        (folder / "add.tir").write_text(PROGRAM.replace("SIZE", "20000000"))
        check("memory", run(["run", *words]), 2, "A has 80000000 bytes, and the device Fake GPU has 67108864")
    print("%d failures" % len(failures))
    return 1 if failures else 0


sys.exit(main())
