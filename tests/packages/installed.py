"""What an installed package does in a Python that has nothing else: usage: installed.py VERSION FOLDER [deb] [without-llvm]

FOLDER is below which it is installed, and what it needs, too, but for a package of Debian. Without LLVM only machine code is
refused."""

import array
import importlib.metadata
import pathlib
import re
import sys

import tirc
from tirc.script import tir as T


@T.prim_func
def double(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] * T.float32(2)


version, folder, what = sys.argv[1], sys.argv[2], sys.argv[3:]
without_llvm = "without-llvm" in what
assert tirc.__version__ == version, tirc.__version__
assert "deb" in what or importlib.metadata.version("tirc") == version
assert tirc.library_path.startswith(folder), tirc.library_path
loaded = set(re.findall(r"/\S*(?:isl|zip|sqlite3|json-c|protobuf-c|gmp|crypto)[^/]*\.so\S*", pathlib.Path("/proc/self/maps").read_text()))
assert "deb" in what or len(loaded) >= 6 and all(path.startswith(folder) or "lib-dynload" in path for path in loaded), loaded

sch = tirc.Schedule(double)
i, = sch.get_loops(sch.get_block("B"))
sch.vectorize(sch.split(i, factors=[None, 8])[1])
a, wanted = array.array("f", range(16)), array.array("f", range(0, 32, 2))


def result(run):
    b = array.array("f", [0] * 16)
    run(a, b)
    return b


assert result(lambda *arrays: tirc.interpret(sch.mod, *arrays)) == wanted
assert "int main_(const float *restrict A" in sch.mod.emit("c")
assert "__global__" in tirc.auto(double, target="sm_80").emit("cuda", target="sm_80")
try:
    assert result(tirc.build(sch.mod)) == wanted and not without_llvm
except tirc.TVMError as e:
    assert without_llvm and "LLVM's library cannot be loaded" in str(e) and "libllvm19" in e.hint, e
print("ok")
