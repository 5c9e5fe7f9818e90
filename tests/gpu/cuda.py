#!/usr/bin/env python3
"""Is what tirc emits for CUDA taken by clang, without CUDA's SDK? cuda.py TIRC TESTS EXAMPLES

Each kernel and schedule of TESTS/gpu becomes CUDA C, which clang makes PTX of, with the words of cuda_words.h and
no others; some a header, of which it compiles the host's side, too; and the program of EXAMPLES/gpu that includes one.
Each becomes PTX by LLVM as well, with as many kernels.
With nvcc on the machine, nvcc compiles that program.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from every import sample  # noqa: E402

TIRC, TESTS, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
CLANG = next((c for c in ("clang-19", "clang") if shutil.which(c)), None)
failures = []
# functions that are CUDA's in its source, and that PTX has not
LEFT_TO_CUDA = re.compile(r"^.*T\.(tan|atan|sinh|cosh|asinh|atan2|fmod)\(.*\n", re.M)


def clang(path, side, arch, *words):
    done = subprocess.run([CLANG, "-x", "cuda", "--cuda-%s-only" % side, "-nocudainc", "-nocudalib",
                           "--cuda-path=/nonexistent", "-include", str(TESTS / "gpu/cuda_words.h"),
                           "--cuda-gpu-arch=" + arch, "-O1", "-Wall", "-Werror", "-S", "-o", "-", *words, str(path)],
                          capture_output=True, text=True)
    return done.stdout, done.stderr


def build(kind, folder, words, target):
    """The path of what is emitted."""
    path = folder / {"cuda-header": "matmul_tirc.h", "cuda": "kernel.cu", "ptx": "kernel.ptx"}[kind]
    done = subprocess.run([TIRC, "build", *map(str, words), "--emit=" + kind, "--target", target, "-o", str(path)],
                          capture_output=True, text=True)
    return (path, "") if done.returncode == 0 else (None, done.stderr)


def programs(folder):
    """Names, and the words of tirc build."""
    for path in sorted((TESTS / "gpu/kernels").glob("*.tir")):
        if "# fails: " not in path.read_text():
            yield path.stem, [path]
    for path in sorted((TESTS / "gpu/schedules").glob("*.tir")):
        text = path.read_text()
        script = "\n".join(line[3:] for line in text.split("\n") if line.startswith("#| ") or line == "#|")
        for values in re.findall(r"^# with: (.*)", text, re.M)[:1]:
            file = folder / (path.stem + ".sch")
            file.write_text("\n".join(values.split()) + "\n" + script + "\n")
            yield "%s with %s" % (path.stem, values), [path, file]
    for path in sorted((TESTS / "emulate/right").glob("*.tir")):
        if not path.name.endswith(".plain.tir"):
            yield path.stem, [path] + [s for s in [path.with_suffix(".sch")] if s.exists()]


def check(name, good, said):
    if not good:
        failures.append(name)
        print("%s: %s" % (name, said.strip()[:2000]), flush=True)


def make_ptx(name, folder, words, arch, n_kernels):
    text = words[0].read_text()
    if LEFT_TO_CUDA.search(text):
        words = [folder / "left.tir"]
        words[0].write_text(LEFT_TO_CUDA.sub("", text))
    path, said = build("ptx", folder, words, arch)
    text = path.read_text() if path else ""
    check(name + " as PTX", text.count(".entry") == n_kernels and ".target " + arch in text, said or text)


def compile_each(folder):
    for number, (name, words) in enumerate(sample(programs(folder))):
        arch = ("sm_75", "sm_80")[number % 2]
        path, said = build("cuda", folder, words, arch)
        if path:
            ptx, said = clang(path, "device", arch)
            source = path.read_text()
            check(name, ptx.count(".entry") == source.count("__global__") > 0, said)
            make_ptx(name, folder, words, arch, source.count("__global__"))
            check(name, "#include" not in source and "#define" not in source, "it has directives")
        else:
            check(name, False, said)
    return number + 1


def compile_example(folder):
    matmul = EXAMPLES / "gpu/matmul.cu"
    sizes = [w for n in "MNK" for w in ("-D", n + "=1024")]
    path, said = build("cuda-header", folder, [EXAMPLES / "gpu/matmul.tir", EXAMPLES / "gpu/matmul.sch", *sizes],
                       "nvidia/nvidia-t4")
    check("matmul_tirc.h", path, said)
    for side, sign in (("device", ".entry"), ("host", "cudaLaunch")):
        code, said = clang(matmul, side, "sm_75", "-I", str(folder))
        check("matmul.cu on the " + side, sign in code, said)
    if shutil.which("nvcc"):
        done = subprocess.run(["nvcc", "-arch=sm_75", "-I", str(folder), str(matmul), "-o", str(folder / "matmul")],
                              capture_output=True, text=True)
        check("matmul.cu by nvcc", done.returncode == 0, done.stderr)


def compile_two_headers(folder):
    """Both have vectors and the same functions."""
    names = ("softmax", "layer_norm")
    for name in names:
        path, said = build("cuda-header", folder, [EXAMPLES / name / (name + ".tir"), "--auto"], "sm_80")
        check(name, path, said)
        if path:
            path.rename(folder / (name + ".h"))
    both = folder / "both.cu"
    both.write_text("".join('#include "%s.h"\n' % name for name in names))
    ptx, said = clang(both, "device", "sm_80", "-Wno-unused-function")
    check("two headers", ptx.count(".entry") >= 2, said)


def check_ptx(name, ptx, folder, arch, trans, has_products, said):
    products = ptx.count("wmma.mma.sync.aligned.row." + ("col" if trans else "row"))
    check(name + " for " + arch, ptx and (products > 0) == has_products, said)
    check(name + " in registers", not has_products or ".local" not in ptx, "it has .local memory")
    if has_products:
        assemble(name, ptx, folder, arch)


def assemble(name, ptx, folder, arch):
    if not ptx or not shutil.which("ptxas"):
        return
    (folder / "product.ptx").write_text(ptx)
    done = subprocess.run(["ptxas", "-arch=" + arch, str(folder / "product.ptx"), "-o", "/dev/null"],
                          capture_output=True, text=True)
    check(name + " by ptxas", done.returncode == 0, done.stderr)


def compile_tensor_cores(folder):
    """A product by tensor cores: right on the emulator, instructions where the target has them, and loops elsewhere."""
    program, script = (EXAMPLES / "tensor_cores/matmul.tir").read_text(), (EXAMPLES / "tensor_cores/wmma.sch").read_text()
    for of, sum_of, trans, lacks in (("float16", "float32", False, "sm_61"), ("float16", "float16", True, "sm_61"),
                                     ("int8", "int32", False, "sm_70"), ("int8", "int32", True, "sm_70")):
        name = "tensor cores: %s, %s, %s" % (of, sum_of, trans)
        text = program.replace("float32", sum_of).replace("float16", of) if of != sum_of else program.replace("float32", of)
        tir, sch = folder / "product.tir", folder / "product.sch"
        tir.write_text(text.replace("B[vk, vj]", "B[vj, vk]") if trans else text)
        script_of = script.replace('"float16", "float32", False', '"%s", "%s", %s' % (of, sum_of, trans))
        # rows in shared memory are 16 bytes longer than a power of two, so that they meet other banks
        sch.write_text(script_of.replace("offset=8", "offset=16") if of == "int8" else script_of)
        words = [tir, sch, "-D", "N=64"]
        done = subprocess.run([TIRC, "run", *map(str, words), "--device", "emulate", "--target", "sm_80", "--check"],
                              capture_output=True, text=True)
        check(name, done.returncode == 0, done.stdout + done.stderr)
        for arch in ("sm_80", lacks):
            path, said = build("cuda", folder, words, arch)
            by_clang, said = clang(path, "device", arch, "-O3") if path else ("", said)
            path, said_of_llvm = build("ptx", folder, words, arch)
            for ptx in (by_clang, path.read_text() if path else ""):
                check_ptx(name, ptx, folder, arch, trans, arch == "sm_80", said + said_of_llvm)


def compile_mma(folder):
    """Products by mma.sync: operands by ldmatrix, copies that are asynchronous, all in registers."""
    programs = [("product_float16", "f16"), ("product_float16_turned", "f16"), ("product_bfloat16_relu", "bf16"),
                ("product_int8", "s8")]
    for name, of in programs:
        words = [TESTS / "gpu/rules" / (name + ".tir"), "--auto"]
        words += [] if "bfloat16" in name else [w for size in ("M=96", "N=112", "K=128") for w in ("-D", size)]
        for kind in ("cuda", "ptx"):
            path, said = build(kind, folder, words, "sm_80")
            ptx, said = clang(path, "device", "sm_80", "-O3") if path and kind == "cuda" else (path.read_text() if path else "", said)
            check("%s by %s" % (name, kind), "mma.sync" in ptx and "." + of + "." + of in ptx and "ldmatrix" in ptx, said)
            # clang keeps a vector of bytes that a condition chooses in memory, nvcc does not
            if (of, kind) != ("s8", "cuda"):
                check("%s by %s in registers" % (name, kind), ".local" not in ptx, "it has .local memory")
            assemble(name + " by " + kind, ptx, folder, "sm_80")


def compile_dots(folder):
    """Four products of bytes are one instruction, where the target has it, and no call of it is left elsewhere."""
    words = [TESTS / "gpu/rules/product_int8.tir", "-D", "M=70", "-D", "N=35", "-D", "K=66", "--auto"]
    for arch, has in (("sm_60", False), ("sm_61", True)):
        for kind in ("cuda", "ptx"):
            path, said = build(kind, folder, words, arch)
            ptx, said = clang(path, "device", arch) if path and kind == "cuda" else (path.read_text() if path else "", said)
            check("dp4a by %s for %s" % (kind, arch), ptx and ("dp4a.s32.s32" in ptx) == has, said)


def main():
    if not CLANG:
        print("there is no clang")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        n = compile_each(folder)
        path, said = build("cuda-header", folder, [TESTS / "emulate/right/shuffle.tir"], "sm_80")
        check("a header", path and clang(path, "host", "sm_80", "-Wno-unused-function")[0], said)
        compile_example(folder)
        compile_tensor_cores(folder)
        compile_two_headers(folder)
        compile_dots(folder)
        compile_mma(folder)
    print("%d programs, %d failures" % (n, len(failures)))
    return 1 if failures else 0


sys.exit(main())
