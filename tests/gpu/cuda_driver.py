#!/usr/bin/env python3
"""What does tirc ask of CUDA's driver, and say when that refuses? cuda_driver.py TIRC FOLDER

FOLDER has the libcuda.so.1 of fake/cuda.c and the libOpenCL.so.1 of fake/opencl.c.
"""
import importlib.util
import os
import pathlib
import re
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
# Tensors that are on the device: what runs there takes them as they lie.
TENSORS = """
import ctypes, sys
import numpy, tirc
from tirc import _lib
cuda = ctypes.CDLL("libcuda.so.1")
capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class OnDevice:
    def __init__(self, array, number=0, offset=0):
        at = ctypes.c_uint64()
        cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(array.nbytes + offset))
        cuda.cuMemcpyHtoD_v2(at, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))
        self.at, self.like, self.shape = at, array, (ctypes.c_int64 * 1)(*array.shape)
        self.managed = _lib.DLManagedTensor(_lib.DLTensor(at.value + offset, _lib.DLDevice(2, number), 1,
                                                          _lib.DLDataType(2, 32, 1), self.shape, None, 0))

    def __dlpack__(self, stream=None):
        return capsule(ctypes.addressof(self.managed), b"dltensor", None)

    def numpy(self):
        out = numpy.empty_like(self.like)
        cuda.cuMemcpyDtoH_v2(out.ctypes.data_as(ctypes.c_void_p), self.at, ctypes.c_size_t(out.nbytes))
        return out


def refusal(f, *args):
    try:
        f(*args)
    except tirc.ArgumentError as e:
        return str(e)


program, schedule = sys.argv[1:]
plain = tirc.read(program)
add = tirc.build(tirc.schedule_script(plain, open(schedule).read()), target="sm_80")
zeros = numpy.zeros(1000, "float32")
a, b, c = OnDevice(numpy.arange(1000, dtype="float32")), OnDevice(zeros), OnDevice(zeros)
add(a, b)
add(b, c)
print("there", (c.numpy() == a.numpy() + 2).all())
add(c, zeros)
print("both", (zeros == a.numpy() + 3).all())
print(refusal(add, OnDevice(zeros, number=1), b))
print(refusal(add, OnDevice(zeros, offset=4), b))
print(refusal(tirc.build(plain), a, b))
print(refusal(tirc.build(tirc.schedule_script(plain, open(schedule).read()), target="opencl"), a, b))
print("time", add.time(a, b, number=1, repeat=1).min > 0)
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


def check_tensors(folder, words):
    (folder / "tensors.py").write_text(TENSORS)
    done = subprocess.run([sys.executable, str(folder / "tensors.py"), *words[:2]], capture_output=True, text=True,
                          env=dict(os.environ, LD_LIBRARY_PATH=FOLDER, FAKE_CUDA_LOG=str(folder / "log of tensors"),
                                   PYTHONPATH=str(pathlib.Path(__file__).parents[2] / "tools/python"),
                                   TIRC_LIBRARY=str(pathlib.Path(TIRC).resolve().parents[1])))
    check("tensors of the device", (done.returncode, done.stdout + done.stderr), 0, "there True", "both True", "time True",
          "the tensor is on the device cuda:1, but kernels run on the device cuda:0",
          "A begins at a device address that is not a multiple of 32",
          "the tensor is on the device cuda:0, but kernels run on the cpu",
          "the tensor is on the device cuda:0, but kernels on the device opencl:0 take arrays of the cpu")
    copies = (folder / "log of tensors").read_text().count("cuMemcpyHtoD")
    check("what is there is not copied", (copies - 6, ""), 0)  # those of the script, and zeros once


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        words = [str(folder / "add.tir"), str(folder / "add.sch"), "--device", "cuda"]
        (folder / "add.tir").write_text(PROGRAM.replace("SIZE", "1000"))
        (folder / "add.sch").write_text(SCHEDULE)
        check("run", run(["run", *words, "--check"], FAKE_CUDA_LOG=str(folder / "log")), 0, "check: ok", "by the device's clock")
        calls = (folder / "log").read_text().split("\n")
        check("launch", (0, "\n".join(calls)), 0, "cuLaunchKernel add_kernel grid 16 1 1 block 64 1 1 shared 0")
        for made, freed in (("cuMemAlloc", "cuMemFree"), ("cuModuleLoadDataEx", "cuModuleUnload")):
            n = [sum(c.startswith(what) for c in calls) for what in (made, freed)]
            check("as many %s as %s" % (made, freed), (n[0] - n[1], ""), 0)
        check("bench", run(["bench", *words, "--attempts", "1", "--seconds", "0.01"]), 0, "add")
        for command in ("run", "bench"):
            check(command + " of a kernel that does not end",
                  run([command, *words, "--timeout", "0.2"], FAKE_CUDA_HANGS="1"), 2,
                  "the kernel add_kernel takes longer than 0.2 s: it is ended", "--timeout")
        if importlib.util.find_spec("numpy"):
            check_tensors(folder, words)
        rule = "def gpu(sch, name):\n%s\n    return True\n\n\nrules = [gpu]\n" % re.sub("(?m)^", "    ", SCHEDULE.rstrip())
        (folder / "mine.sch").write_text(rule)
        check("tune of one", run(["tune", words[0], "--device", "cuda", "--rules", str(folder / "mine.sch"), "--trials", "1",
                                  "--database", str(folder / "tirc.db")],
                                 FAKE_CUDA_HANGS="1"), 2, "failed timeout", "in the kernel add_kernel")
        check("none", run(["run", *words], folder="/nonexistent"), 2, "libcuda.so.1 cannot be loaded", "--device emulate")
        check("no device", run(["run", *words], FAKE_CUDA_DEVICES="0"), 2, "CUDA has no device here")
        check("no such device", run(["run", *words[:-1], "cuda:3"]), 2, "CUDA has 1 device on this machine, and none with number 3")
        check("refused", run(["run", *words], FAKE_CUDA_REFUSES="1"), 2, "the device Fake GPU does not take the code of add_kernel",
              "CUDA_ERROR_INVALID_PTX", "ptxas error: it refuses all", "--emit=ptx")
        check("another target", run(["run", *words, "--target", "opencl"]), 2, "opencl is not a GPU of CUDA")
        (folder / "add.tir").write_text(PROGRAM.replace("SIZE", "20000000"))
        check("memory", run(["run", *words]), 2, "A has 80000000 bytes, and the device Fake GPU has 67108864")
    print("%d failures" % len(failures))
    return 1 if failures else 0


sys.exit(main())
