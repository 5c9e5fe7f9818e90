#!/usr/bin/env python3
"""What ptxas makes of the rules' kernels, as rows of the table of examples/guide/gpu.md: table.py TIRC SOURCES [ARCH]

For each kernel: registers and spilled bytes of a thread, what the report of the emulator estimates, bytes of shared memory, how
many blocks a multiprocessor of an A100 runs at the same time with the registers of ptxas, and what stands in its longest loop, or in all
of it where it has none, in PTX. Needs ptxas; status 77 without.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "on_gpu"))
from programs import GEMV, product  # noqa: E402

TIRC, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
ARCH = sys.argv[3] if len(sys.argv) > 3 else "sm_80"
KINDS = [("FFMA", r"fma\.rn\.f32"), ("MMA", r"mma\.sync"), ("ld.shared", r"ld\.shared"), ("ldmatrix", r"ldmatrix"), ("ld.global", r"ld\.global"),
         ("cp.async", r"cp\.async\.c[ag]"), ("st.shared", r"st\.shared"), ("st.global", r"st\.global"), ("shfl", r"shfl"),
         ("conversions", r"cvt\.(rn\.)?(f32\.f16|f16\.f32|f32\.s|s32\.f)"), ("barriers", r"bar\.sync|barrier\.sync")]


def programs():
    for of, to in (("float32", "float32"), ("float16", "float32"), ("int8", "int32")):
        for layout, place in (("NN", "vk, vj"), ("NT", "vj, vk")):
            yield "%s, %s" % (of, layout), product(of, to, place, 4096), product(of, to, place, 2048, 128), []
    yield "float16, a matrix times a vector", GEMV.replace("N", "4096"), GEMV.replace("N", "4096"), []
    examples = SOURCES / "examples"
    for name, path, sizes in (("softmax of 4096 x 4096", "softmax/softmax.tir", "M=4096 N=4096"), ("layer norm", "layer_norm/layer_norm.tir", "M=4096 N=4096"),
                              ("transpose", "operators/transpose.tir", "M=4096 N=4096"), ("sums of rows", "operators/row_sum.tir", "M=4096 N=4096")):
        text = (examples / path).read_text()
        yield name, text, text, [w for s in sizes.split() for w in ("-D", s)]


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("%s: %s" % (" ".join(map(str, words)), done.stderr[:1000]))
    return done.stdout + done.stderr


def longest_loop(ptx):
    """The instructions of the loop that has most of them, and no other in it; all of them where there is no loop."""
    lines = [re.sub(r"^@!?%p\d+\s+", "", line.strip()) for line in ptx.split("\n")]
    at = {line[:-1]: n for n, line in enumerate(lines) if re.match(r"\$L\w+:$", line)}
    branches = [(at.get(m[1], n), n) for n, line in enumerate(lines) for m in [re.match(r"bra(?:\.uni)?\s+(\$L\w+);", line)] if m]
    loops = [(begin, end) for begin, end in branches if begin < end]
    inner = [x for x in loops if not any(y != x and y[0] >= x[0] and y[1] <= x[1] for y in loops)]
    if not inner:
        return lines, False
    begin, end = max(inner, key=lambda x: x[1] - x[0])
    return lines[begin:end], True


def launch(words, registers):
    """Threads of a block, its bytes of shared memory, and how many of it a multiprocessor of an A100 runs at the same time."""
    threads = 1
    for n in re.search(r"of ([\d x]+) threads", words)[1].split("x"):
        threads *= int(n)
    shared = int((re.search(r"(\d+) bytes of shared", words) or [0, 0])[1])
    warps, up = (threads + 31) // 32, lambda n, by: -(-n // by) * by
    blocks = min(2048 // 32 // warps, 32, 65536 // up(registers * 32, 256) // warps, 167936 // (up(shared, 128) + 1024))
    return str(threads), str(shared), "%d, %d %% of the warps" % (blocks, 100 * blocks * warps // 64)


def row(folder, name, text, small, options):
    (folder / "p.tir").write_text(text)
    (folder / "small.tir").write_text(small)
    run(TIRC, "build", folder / "p.tir", *options, "--auto", "--emit=ptx", "--target", ARCH, "-o", folder / "p.ptx")
    made = run("ptxas", "-v", "-arch=" + ARCH, folder / "p.ptx", "-o", folder / "p.cubin")
    ptx = (folder / "p.ptx").read_text()
    launches = dict(re.findall(r"/\* (\w+): (.*?)\. \*/", run(TIRC, "build", folder / "p.tir", *options, "--auto", "--emit=cuda", "--target", ARCH, "-o", "-")))
    report = run(TIRC, "run", folder / "small.tir", *options, "--auto", "--device", "emulate", "--blocks", "1", "--target", ARCH, "--report", "--json")
    costs = json.loads(report[report.index("{"):report.rindex("}") + 1])
    for m in re.finditer(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers", made, re.S):
        kernel = next(k for k in costs["kernels"] if k["name"] == re.sub(r"^p_", "main_", m[1]))
        code, is_loop = longest_loop(re.search(r"\.entry %s\((.*?)\n}\n" % m[1], ptx, re.S)[1])
        counts = {kind: sum(bool(re.search(what, line)) for line in code) for kind, what in KINDS}
        yield [name, m[1], m[4], "%d + %d" % (int(m[2]), int(m[3])), str(kernel["registers_estimated"]),
               "%.2f" % (kernel["registers_estimated"] / int(m[4])), *launch(launches[m[1]], int(m[4])),
               ("a step: " if is_loop else "all: ") + ", ".join("%d %s" % (n, kind) for kind, n in counts.items() if n)]


def main():
    if not shutil.which("ptxas"):
        print("there is no ptxas")
        return 77
    print("| | kernel | registers | spills | estimated | | threads | shared bytes | blocks a multiprocessor | instructions |\n|" + "---|" * 10)
    with tempfile.TemporaryDirectory() as name:
        for program in programs():
            for cells in row(pathlib.Path(name), *program):
                print("| " + " | ".join(cells) + " |", flush=True)
    return 0


sys.exit(main())
