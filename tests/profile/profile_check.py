#!/usr/bin/env python3
"""Time by block, held against other measurements:

    profile_check.py TIRC EXAMPLES [--names NAME,...] [--threads N]

For each operator, scheduled by the rules: the parts' own times add up to what a call takes without probes (5 %), and a nest
takes as long as a program of that nest alone (20 %). The machine's other users disturb both, so the best of some tries counts."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

# Of the suite of operators, with sizes at which a call takes less than what the system gives a process at a time.
OPERATORS = {
    "conv2d": "CI=32 CO=32 H=14 W=14 KERNEL=3 STRIDE=1 PAD=1",
    "max_pool": "C=32 H=56 W=56 KERNEL=3 STRIDE=2 PAD=1",
    "depthwise": "C=64 H=28 W=28 KERNEL=3 STRIDE=1 PAD=1",
    "softmax": "M=128 N=384",
    "layer_norm": "M=128 N=768",
    "attention": "HEADS=1 M=128 N=128 DEPTH=64",
    "blur": "M=256 N=256",
    "two_steps": "M=256 N=256",
    "cumsum": "M=64 N=1000",
    "cumsum_pieces": "P=64 N=1000",
}
TRIES, PARTS, ALONE = 4, 0.05, 0.20
SMALL, SHORT = 0.03, 5e-6  # of the whole, and seconds: a nest that takes less is not run alone, for a call itself takes a while


def run(tirc, *words):
    done = subprocess.run([tirc, *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def profile(tirc, program, threads, *words):
    return json.loads(run(tirc, "run", program, *words, "--threads", str(threads), "--profile=blocks", "--json"))


def sum_of_parts(p):
    return sum(part.get("own_seconds", 0) for part in p["parts"])


# --- a nest alone ---------------------------------------------------------------------------------

def indent_of(line):
    return len(line) - len(line.lstrip())


def nests_of(lines):
    """The nests at the top of a printed function: (first line, line behind it)."""
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))
    base = indent_of(lines[start]) + 4
    heads = [i for i in range(start + 1, len(lines)) if lines[i].strip() and indent_of(lines[i]) == base]
    at = [i for i in heads if re.match(r"(for|with) ", lines[i].strip())]
    return [(i, next((k for k in heads if k > i), len(lines))) for i in at]


def alone(lines, nests, which):
    """The text without the other nests; what they share with it comes from outside, what is its own stays."""
    gone = {i for n, (first, end) in enumerate(nests) if n != which for i in range(first, end)}
    others = "\n".join(lines[i] for i in sorted(gone))
    text, params = [], []
    for i, line in enumerate(lines):
        made = re.match(r"(\w+) = T\.alloc_buffer\((.*)\)$", line.strip())
        if i in gone:
            continue
        if made and indent_of(line) == indent_of(lines[nests[0][0]]) and re.search(rf"\b{made[1]}\b", others):
            params.append(f"{made[1]}: T.Buffer({made[2]})")
            continue
        text.append(line)
    text = "\n".join(text)
    used = [p for p in params if len(re.findall(rf"\b{p.split(':')[0]}\b", text))]
    return re.sub(r"(def \w+\()(.*)(\):)", lambda m: m[1] + ", ".join([m[2], *used]) + m[3], text, count=1)


def own_parts(p):
    """The parts at the top of the function, in order."""
    return [part for part in p["parts"] if part["parent"] == 0]


def check(tirc, name, program, sizes, threads, folder):
    defines = [w for s in sizes for w in ("-D", s)]
    text = run(tirc, "apply", program, "--auto", *defines)
    path = os.path.join(folder, name + ".tir")
    open(path, "w").write(text)
    lines = text.split("\n")
    nests = nests_of(lines)
    best = None
    alones = {}
    for _ in range(TRIES):
        p = profile(tirc, path, threads)
        off = abs(sum_of_parts(p) / p["seconds"] - 1)
        if best is None or off < best[0]:
            best = (off, p)
        tops = own_parts(p)
        for n, part in enumerate(tops):
            if len(nests) < 2 or len(tops) != len(nests) or not part["timed"]:
                continue
            if part["seconds"] < max(SHORT, SMALL * p["parts"][0]["seconds"]):
                continue
            file = os.path.join(folder, f"{name}.{n}.tir")
            open(file, "w").write(alone(lines, nests, n))
            one = profile(tirc, file, threads)
            other = abs(part["seconds"] / one["seconds"] - 1)
            if n not in alones or other < alones[n][0]:
                alones[n] = (other, part, one["seconds"])
    off, p = best
    wrong = off > PARTS
    print(f"{name:20} {1e6 * p['seconds']:10.1f} us, parts {1e6 * sum_of_parts(p):10.1f} us ({100 * off:.1f} %), probes "
          f"{100 * p['probes']:.2f} %" + ("  WRONG" if wrong else ""))
    for n, (other, part, seconds) in sorted(alones.items()):
        bad = other > ALONE
        wrong |= bad
        print(f"    nest {n} {part['name']:18} {1e6 * part['seconds']:10.1f} us, alone {1e6 * seconds:10.1f} us "
              f"({100 * other:.1f} %)" + ("  WRONG" if bad else ""))
    return not wrong, len(alones)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tirc")
    parser.add_argument("examples", help="the folder of examples")
    parser.add_argument("--names", default=",".join(OPERATORS))
    parser.add_argument("--threads", type=int, default=1)
    o = parser.parse_args()
    ok, nests = True, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in o.names.split(","):
            places = [os.path.join(o.examples, place, name + ".tir") for place in ("operators", name)]
            program = next(p for p in places if os.path.exists(p))
            good, n = check(o.tirc, name, program, OPERATORS[name].split(), o.threads, folder)
            ok, nests = ok and good, nests + n
    print(f"{nests} nests were run alone")
    sys.exit(0 if ok and nests else 1)


main()
