#!/usr/bin/env python3
"""Do the languages for GPUs say the same of one lowered module? emitters.py TIRC TESTS

Each schedule of TESTS/gpu is lowered once, and printed as OpenCL C and as CUDA C. With the words of both languages made
the same, loops, branches and barriers are compared, and where no vector is moved, which CUDA C has other words for,
every statement is. (What LLVM makes of the same module for PTX is run by the test `cuda driver`.)
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TIRC, TESTS = sys.argv[1], pathlib.Path(sys.argv[2])
SAME = [  # of either language, in this order
    (r"/\*.*?\*/", ""), (r"__attribute__\(\(.*?\)\)\n", ""),
    (r'(__kernel|extern "C" __global__) void (__launch_bounds__\(\d+\) )?', "kernel "),
    (r"alignas\(\d+\) |__shared__ |__local |__global |__restrict__ |\brestrict ", ""),
    (r"get_group_id\((\d)\)", lambda m: "blockIdx." + "xyz"[int(m[1])]),
    (r"get_local_id\((\d)\)", lambda m: "threadIdx." + "xyz"[int(m[1])]),
    (r"barrier\(CLK.*?\);", "__syncthreads();"),
    (r"unsigned (char|short|int)", r"u\1"), (r"unsigned long long", "ulong"), (r"long long", "long"), (r"signed char", "char"),
    (r"(\d)U?LL\b", r"\1L"), (r"(\d)UL\b", r"\1L"), (r"\btirc_(\w+)\(", r"\1("), (r"\b(fmod|atan2|tan|atan)f\(", r"\1("),
]
DECLARES = re.compile(r"\w+ \w+\[\d+\];$|.*\btirc_shared\b")  # CUDA has its shared.dyn in one array
VECTORS = re.compile(r"\bvload|\bvstore|\.at\[|_half\(")


def kernels(text):
    """Lines of the kernels, behind the helper functions."""
    for old, new in SAME:
        text = re.sub(old, new, text, flags=re.S if old.startswith("/") else 0)
    lines = [line.strip() for line in text[text.index("kernel "):].split("\n")]
    return [line for line in lines if line and not DECLARES.match(line)]


def skeleton(lines):
    return [line for line in lines if re.match(r"(for|if|while|}|__syncthreads|kernel)", line)]


def lowered(folder):
    for path in sorted((TESTS / "gpu/schedules").glob("*.tir")):
        text = path.read_text()
        script = "\n".join(line[3:] for line in text.split("\n") if line.startswith("#| ") or line == "#|")
        for values in re.findall(r"^# with: (.*)", text, re.M):
            (folder / "s.sch").write_text("\n".join(values.split()) + "\n" + script + "\n")
            done = subprocess.run([TIRC, "lower", str(path), str(folder / "s.sch"), "--target", "opencl", "-o", str(folder / "l.tir")],
                                  capture_output=True, text=True)
            yield "%s with %s" % (path.stem, values), folder / "l.tir", done.stderr if done.returncode else ""


def main():
    programs = statements = failures = 0
    with tempfile.TemporaryDirectory() as name:
        for of, path, wrong in lowered(pathlib.Path(name)):
            said = [subprocess.run([TIRC, "build", str(path), "--emit=" + kind, "-o", "-"], capture_output=True, text=True)
                    for kind in ("opencl", "cuda")]
            wrong = wrong or "".join(s.stderr for s in said if s.returncode)
            if not wrong:
                both = [kernels(s.stdout) for s in said]
                if any(VECTORS.search(s.stdout) for s in said):
                    both = [skeleton(lines) for lines in both]
                statements += len(both[0])
                differ = [pair for pair in zip(*both) if pair[0] != pair[1]]
                if differ or len(both[0]) != len(both[1]):
                    wrong = "%d and %d lines; %s" % (len(both[0]), len(both[1]), "\n  ".join(differ[0] if differ else ("",)))
            programs += 1
            if wrong:
                failures += 1
                print("%s: %s" % (of, wrong[:600]), flush=True)
    print("%d programs, %d lines, %d failures" % (programs, statements, failures))
    return 1 if failures else 0


sys.exit(main())
