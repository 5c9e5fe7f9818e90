#!/usr/bin/env python3
"""The programs of a suite at four sizes, on the emulator and on OpenCL's first device: operators.py TIRC SUITE [--device D]... [--every N] [--target T]

Of each line of the suite: sizes of a few tiles, odd ones, the least ones, and odd ones of which the first is known to the
run only. Kernels, strides, paddings stay. Each is scheduled by --auto for GPUs and must compute what the program computes.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

KEPT = {"KERNEL", "STRIDE", "PAD", "BINS"}
SIZES = {"tiles": lambda n: min(n, 32), "odd": lambda n: min(n, 21) | 1, "least": lambda n: 1, "open": lambda n: min(n, 13) | 1}
POCL = {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}


def lines(path):
    for line in open(path):
        words = line.split("#")[0].split()
        if words:
            yield words[0], path.parent / words[1], dict((w.split("=")[0], int(w.split("=")[1])) for w in words[2:])


def sizes(given, of):
    return {n: v if n in KEPT else of(v) for n, v in given.items()}


def opened(text, name):
    """The program with a size as an argument, and its arrays as handles."""
    text = re.sub(r"(?m)^%s = \d+\n" % name, "", text)
    text = re.sub(r"(?m)^    T\.func_attr\(\{\"onednn\".*\n", "", text)
    head = re.search(r"def main\((.*)\):\n", text)
    arrays = re.findall(r"(\w+): T\.Buffer\((\((?:[^()]|\([^()]*\))*\))((?:, \"\w+\")?)\)", head[1])
    own = "def main(%s, %s: T.int32):\n" % (", ".join(a.lower() + "_: T.handle" for a, _, _ in arrays), name)
    own += "".join("    %s = T.match_buffer(%s_, %s%s)\n" % (a, a.lower(), shape, t) for a, shape, t in arrays)
    return text.replace(head[0], own)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("tirc")
    p.add_argument("suite", type=pathlib.Path)
    p.add_argument("--device", action="append")
    p.add_argument("--target", default="sm_80")
    p.add_argument("--every", type=int, default=1)
    o = p.parse_args()
    cases = [(name, path, given, kind) for name, path, given in lines(o.suite) for kind in SIZES][:: o.every]
    wrong = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path, given, kind in cases:
            of = sizes(given, SIZES[kind])
            program, words = path, []
            if kind == "open":
                first = next(n for n in of if n not in KEPT and re.search(r"(?m)^%s = \d+\n" % n, path.read_text()))
                program = pathlib.Path(folder) / (name + ".tir")
                program.write_text(opened(path.read_text(), first))
                words = ["--in", "%s=%d" % (first, of.pop(first))]
            words += [w for n, v in of.items() for w in ("-D", "%s=%d" % (n, v))]
            for device in o.device or ["emulate", "opencl"]:
                target = "opencl" if device.startswith("opencl") else o.target
                done = subprocess.run([o.tirc, "run", str(program), *words, "--auto", "--check", "--device", device, "--target", target],
                                      capture_output=True, text=True, errors="replace", env={**POCL, **os.environ})
                if "OpenCL has no device" in done.stderr or "OpenCL is not" in done.stderr:
                    continue
                runs += 1
                if done.returncode or "check: ok" not in done.stdout:
                    wrong += 1
                    print("%s, %s (%s) on %s: status %d\n%s" % (name, kind, " ".join(words), device, done.returncode,
                                                               (done.stdout + done.stderr)[-700:]), flush=True)
    print("%d runs, %d wrong" % (runs, wrong))
    return 1 if wrong or not runs else 0


sys.exit(main())
