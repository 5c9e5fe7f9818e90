#!/usr/bin/env python3
"""The kernels of the rules on an NVIDIA GPU: are they right, and how fast beside what the GPU can do?

on_gpu.py TIRC SOURCES               all of it here; status 77 where there is no nvcc or no GPU
on_gpu.py TIRC SOURCES --make DIR    writes into DIR what it takes, and compiles it where nvcc is
on_gpu.py --run DIR                  compiles it if it is not yet, and runs it; needs nvcc and the driver

--arch ARCH      what it is made for (sm_90a)
--seconds N      how long the run may take (180)
--every N        of what is checked, each Nth case

So that a machine which is lent for minutes needs no tirc: make DIR beforehand, and take it there. Each case is a header
of `tirc build --auto --emit=cuda-header`, a source file that includes it, and for what is checked the arrays before and
after, as a processor computes them (`tirc run`). main.cu runs them all.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from programs import GEMV, product

HERE = pathlib.Path(__file__).resolve().parent
SIZE = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "uint32": 4, "float32": 4,
        "int64": 8, "uint64": 8, "float64": 8}


def timed(sources):
    """Name, program (a file, or its text), options, ceiling, and its floating point operations (None: the bytes of its arrays)."""
    n, flops = 4096, 2.0 * 4096 ** 3
    for of, to, ceiling in (("float32", "float32", "fma"), ("float16", "float32", "mma"), ("int8", "int32", "mma8")):
        for layout, place in (("NN", "vk, vj"), ("NT", "vj, vk")):
            yield "%s %s %d^3" % (of, layout, n), product(of, to, place, n), [], ceiling, flops
    yield "gemv float16 16384", GEMV.replace("N", "16384"), [], "copy", None
    examples = sources / "examples"
    for name, path, sizes in (("vector_add", "vector_add/vector_add.tir", "N=268435456"), ("transpose", "operators/transpose.tir", "M=16384 N=16384"),
                              ("softmax", "softmax/softmax.tir", "M=16384 N=4096"), ("layer_norm", "layer_norm/layer_norm.tir", "M=16384 N=4096"),
                              ("row_sum", "operators/row_sum.tir", "M=16384 N=16384"), ("column_sum", "operators/column_sum.tir", "M=16384 N=16384"),
                              ("total", "operators/total.tir", "M=16384 N=16384"), ("gelu", "operators/gelu.tir", "M=16384 N=8192")):
        yield name + " " + sizes, examples / path, [w for s in sizes.split() for w in ("-D", s)], "copy", None


def checked(sources):
    """The cases of rules.txt that are for CUDA, and the programs of the suite of operators at small sizes."""
    rules = sources / "tests/gpu/rules.txt"
    for line in rules.read_text().split("\n"):
        words = line.split("#")[0].split()
        if words and (words[0].startswith("sm_") or words[0].startswith("nvidia/")):
            yield " ".join([pathlib.Path(words[2]).stem] + words[3:]), rules.parent / words[2], words[3:]
    for path in sorted((sources / "examples/operators").glob("*.tir")):
        yield path.stem, path, []


# --- what is made


def tirc(*words):
    done = subprocess.run([o.tirc, *map(str, words)], capture_output=True, text=True)
    return (done.stderr.strip()[:300] or "status %d" % done.returncode) if done.returncode else None


def launch_of(header):
    """The launcher's name, and of each parameter its type and name: the last function's, which is main's where there is one."""
    name, params = re.findall(r"static inline cudaError_t (\w+)_launch\(([^)]*?)cudaStream_t stream = 0\)", header)[-1]
    return name, [re.fullmatch(r"(.*?)(\w+)", p.strip()).groups() for p in params.replace("\n", " ").split(",") if p.strip()]


def shapes_of(program, options):
    """Of a program without symbols: name to bytes and type."""
    done = subprocess.run([o.tirc, "print", str(program), *(w for w in options)], capture_output=True, text=True)
    found = re.findall(r'(\w+): T\.Buffer\(\(([\d, ]*)\), "(\w+)"\)', done.stdout)
    arrays = {}
    for name, shape, dtype in found:
        count = 1
        for extent in shape.split(","):
            count *= int(extent) if extent.strip() else 1
        arrays[name] = (count * SIZE[dtype], dtype)
    return arrays


def defines(options):
    return [w for i, w in enumerate(options) if w == "-D" or (i and options[i - 1] == "-D")]


def make_case(number, folder, name, program, options, ceiling, work):
    """Its lines of the table, or why there are none."""
    import numpy
    if not isinstance(program, pathlib.Path):
        path = folder / ("case_%d.tir" % number)
        path.write_text(program)
        program = path
    header = folder / ("case_%d.h" % number)
    wrong = tirc("build", program, *defines(options), "--auto", "--emit=cuda-header", "--target", o.arch, "-o", header)
    if wrong:
        return None, wrong
    launcher, params = launch_of(header.read_text())
    pointers = [(kind, of.rstrip("_")) for kind, of in params if "*" in kind]  # "gamma" is C's, and "gamma_" there
    values = dict(w.split("=") for w in options if "=" in w)
    if ceiling:
        shapes = shapes_of(program, defines(options))
        arrays = [(None, None) + shapes[of] for _, of in pointers]
        work = work or sum(bytes_of for _, _, bytes_of, _ in arrays)
    else:
        arrays = []
        out = [w for _, of in pointers for w in ("--out", "%s=%s" % (of, folder / ("case_%d_%s.npy" % (number, of))))]
        wrong = tirc("run", program, *options, *out)
        if wrong:
            return None, wrong
        for kind, of in pointers:
            path = folder / ("case_%d_%s.npy" % (number, of))
            array = numpy.load(path)
            path.unlink()
            raw = path.with_suffix(".bin")
            array.tofile(raw)
            dtype = DTYPE(str(array.dtype), kind)
            is_input = kind.startswith("const")
            arrays.append((raw.name if is_input else None, None if is_input else raw.name, array.nbytes, dtype))
    calls, at = [], 0
    for kind, of in params:
        if "*" in kind:
            calls.append("(%s)arrays[%d]" % (kind.replace("__restrict__", "").strip(), at))
            at += 1
        else:
            calls.append(values[of])
    (folder / ("case_%d.cu" % number)).write_text(
        '#include "on_gpu.h"\n#include "case_%d.h"\ncudaError_t case_%d(void *const *arrays, cudaStream_t stream) {\n  return %s_launch(%s);\n}\n'
        % (number, number, launcher, ", ".join(calls + ["stream"])))
    quoted = lambda s: '"%s"' % s if s else "nullptr"  # noqa: E731
    table = "static const Array arrays_%d[] = {%s};\n" % (number, ", ".join(
        "{%s, %s, %d, \"%s\"}" % (quoted(a), quoted(b), n, d) for a, b, n, d in arrays) or "{}")
    row = '  {"%s", case_%d, %d, arrays_%d, %s, %.17g},\n' % (name, number, len(arrays), number, quoted(ceiling), work or 0)
    return (table, row), None


def DTYPE(numpy_name, kind):
    """numpy has no bfloat16: its arrays are of the bits."""
    return "bfloat16" if numpy_name == "uint16" and "short" in kind else numpy_name


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    sources = pathlib.Path(o.sources).resolve()
    wanted = [(name, program, options, None, None) for name, program, options in list(checked(sources))[::o.every]] + list(timed(sources))
    tables, rows, left = [], [], []
    for number, case in enumerate(wanted):
        made, why = make_case(number, folder, *case)
        if made:
            tables.append("cudaError_t case_%d(void *const *arrays, cudaStream_t stream);\n" % number + made[0])
            rows.append(made[1])
        else:
            left.append("%s: %s" % (case[0], why))
    (folder / "table.cu").write_text('#include "on_gpu.h"\n%sextern const Case cases[] = {\n%s};\nextern const int n_cases = %d;\n'
                                     % ("".join(tables), "".join(rows), len(rows)))
    for name in ("main.cu", "on_gpu.h", "on_gpu.py", "programs.py"):
        shutil.copy(HERE / name, folder / name)
    (folder / "arch").write_text(o.arch)
    print("%d cases are made, %d are not" % (len(rows), len(left)))
    for why in left:
        print("  " + why)
    return 1 if left else 0


# --- compiling and running


def nvcc(folder, *words):
    done = subprocess.run(["nvcc", "-O3", "-std=c++17", *words], cwd=folder, capture_output=True, text=True)
    return "%s\n%s" % (" ".join(words), (done.stderr or done.stdout)[:1500]) if done.returncode else None


def compile_all(folder):
    arch = "-arch=" + (folder / "arch").read_text().strip()
    files = [f.name for f in sorted(folder.glob("*.cu"))]
    cublas = ["-DWITH_CUBLAS"] if subprocess.run("nvcc -x cu -E - -o /dev/null", shell=True, input="#include <cublas_v2.h>\n", text=True,
                                                  capture_output=True).returncode == 0 else []
    objects = [f[:-3] + ".o" for f in files]
    with concurrent.futures.ThreadPoolExecutor(o.jobs or os.cpu_count()) as pool:
        wrong = [w for w in pool.map(lambda f: nvcc(folder, arch, *cublas, "-c", f, "-o", f[:-3] + ".o"), files) if w]
    if not wrong:
        wrong = [w for w in [nvcc(folder, arch, *objects, "-o", "on_gpu", *(["-lcublas"] if cublas else []))] if w]
    if wrong and cublas and "cublas" in wrong[0]:
        wrong = [w for w in [nvcc(folder, arch, "-c", "main.cu", "-o", "main.o") or nvcc(folder, arch, *objects, "-o", "on_gpu")] if w]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


def run(folder):
    for again in (False, True):
        if again or not (folder / "on_gpu").exists():
            if not shutil.which("nvcc"):
                print("there is no nvcc")
                return 77
            if compile_all(folder):
                return 1
        try:
            done = subprocess.run(["./on_gpu", str(o.seconds)], cwd=folder, stderr=subprocess.PIPE, text=True, errors="replace")
        except OSError as e:  # it was made for another architecture
            print("on_gpu does not start:", e)
            continue
        print(done.stderr, end="", file=sys.stderr)
        # else it was made on another system, or for a newer library
        if done.returncode not in (126, 127) and not (done.returncode == 1 and "GLIBC" in done.stderr.partition("\n")[0]):
            return done.returncode
    return 1


def has_gpu():
    return os.path.exists("/dev/nvidia0") or (shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0)


def main():
    if o.run:
        return run(pathlib.Path(o.run).resolve())
    if o.make:
        folder = pathlib.Path(o.make).resolve()
        status = make(folder)
        return compile_all(folder) or status if shutil.which("nvcc") else status
    if not shutil.which("nvcc") or not has_gpu():
        print("there is no %s" % ("nvcc" if not shutil.which("nvcc") else "GPU"))
        return 77
    with tempfile.TemporaryDirectory() as name:
        return make(pathlib.Path(name)) or run(pathlib.Path(name))


p = argparse.ArgumentParser(usage=__doc__)
p.add_argument("tirc", nargs="?")
p.add_argument("sources", nargs="?")
p.add_argument("--make")
p.add_argument("--run")
p.add_argument("--arch", default="sm_90a")
p.add_argument("--seconds", type=int, default=180)
p.add_argument("--every", type=int, default=1)
p.add_argument("--jobs", type=int, default=0)
o = p.parse_args()
if o.tirc:
    o.tirc = os.path.realpath(o.tirc)
sys.exit(main())
