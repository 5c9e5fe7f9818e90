#!/usr/bin/env python3
"""Programs of suites at four sizes, on the emulator and on OpenCL's first device: operators.py TIRC SUITE... [--device D]... [--every N] [--target T]

Of each line of a suite: sizes of a few tiles, odd ones, the least ones, and odd ones of which the first is known to the
run only (of a graph: all of its symbols). Kernels, strides, paddings stay. Each program, and each function of a graph, is
scheduled by --auto for GPUs and must compute what the program computes.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from parts import functions_of, symbols_of

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
    arrays = re.findall(r"(\w+): T\.Buffer\((\((?:[^()]|\([^()]*\))*\))((?:, \"?\w+\"?)?)\)", head[1])
    own = "def main(%s, %s: T.int32):\n" % (", ".join(a.lower() + "_: T.handle" for a, _, _ in arrays), name)
    own += "".join("    %s = T.match_buffer(%s_, %s%s)\n" % (a, a.lower(), shape, t) for a, shape, t in arrays)
    return text.replace(head[0], own)


def programs(o, name, path, given, kind, folder):
    """Programs with their options."""
    of, text = sizes(given, SIZES[kind]), path.read_text()
    if "@R.function" in text:
        fixed = [w for n, v in of.items() if kind != "open" or '"%s"' % n not in text for w in ("-D", "%s=%d" % (n, v))]
        for part in functions_of(o.tirc, str(path), fixed, os.path.join(folder, kind)):
            yield part, [w for s in symbols_of(part) for w in ("--in", "%s=%d" % (s, of[s]))]
        return
    words = []
    if kind == "open":
        first = next(n for n in of if n not in KEPT and re.search(r"(?m)^%s = \d+\n" % n, text))
        path = pathlib.Path(folder) / (name + ".tir")
        path.write_text(opened(text, first))
        words = ["--in", "%s=%d" % (first, of.pop(first))]
    yield str(path), words + [w for n, v in of.items() for w in ("-D", "%s=%d" % (n, v))]


def what_is_wrong(o, program, words, device):
    """None: nothing is; "": the device is not there."""
    target = "opencl" if device.startswith("opencl") else o.target
    done = subprocess.run([o.tirc, "run", program, *words, "--auto", "--check", "--device", device, "--target", target],
                          capture_output=True, text=True, errors="replace", env={**POCL, **os.environ})
    if "OpenCL has no device" in done.stderr or "OpenCL is not" in done.stderr:
        return ""
    if not done.returncode and "check: ok" in done.stdout:
        return None
    return "status %d\n%s" % (done.returncode, (done.stdout + done.stderr)[-700:])


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("tirc")
    p.add_argument("suites", nargs="+", type=pathlib.Path)
    p.add_argument("--device", action="append")
    p.add_argument("--target", default="sm_80")
    p.add_argument("--every", type=int, default=1)
    o = p.parse_intermixed_args()
    cases = [(*line, kind) for suite in o.suites for line in lines(suite) for kind in SIZES][:: o.every]
    runs = {device: [] for device in o.device or ["emulate", "opencl"]}
    with tempfile.TemporaryDirectory() as folder:
        for name, path, given, kind in cases:
            for program, words in programs(o, name, path, given, kind, folder):
                for device in runs:
                    wrong = what_is_wrong(o, program, words, device)
                    if wrong != "":
                        runs[device].append(wrong is not None)
                    if wrong:
                        print("%s, %s, %s (%s) on %s: %s" % (name, kind, os.path.basename(program), " ".join(words), device, wrong), flush=True)
    for device, wrong in runs.items():
        print("on %s: %d runs, %d wrong" % (device, len(wrong), sum(wrong)))
    return 1 if any(map(any, runs.values())) or not any(runs.values()) else 0


sys.exit(main())
