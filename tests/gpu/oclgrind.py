#!/usr/bin/env python3
"""Does oclgrind, which knows nothing of tirc, agree about kernels? oclgrind.py TIRC TESTS [clean|faulty]

Clean: the kernels and schedules of TESTS/gpu, and those of TESTS/emulate/right; it should find nothing.
Faulty: those of TESTS/emulate/faults.txt, each a mistake in one of them; it should find something: a race, a
barrier that not all threads reach, an access out of bounds, a read before a write. Prints each difference,
for which examples/guide/gpu.md has the reasons; the status is 1 where a clean one is found fault with.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ICD = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"
RACES = {"OCL_ICD_VENDORS": ICD, "OCLGRIND_DATA_RACES": "1"}
ALL = dict(RACES, OCLGRIND_UNINITIALIZED="1")


def run(tirc, folder, words):
    """What it finds, and why the program does not run; where its check of reads gives up, by races alone."""
    found, failed = run_with(ALL, tirc, folder, words)
    return run_with(RACES, tirc, folder, words) if "FATAL" in failed else (found, failed)


def run_with(checks, tirc, folder, words):
    log = os.path.join(folder, "log")
    environment = dict(os.environ, OCLGRIND_LOG=log, **checks)
    if os.path.exists(log):
        os.remove(log)
    try:
        done = subprocess.run([tirc, "run", *words, "--device", "opencl"], env=environment, timeout=600,
                              capture_output=True, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return "it does not end", ""
    found = open(log, errors="replace").read() if os.path.exists(log) else ""
    first = next((line.strip() for line in found.split("\n") if line.strip()), "")
    if "OCLGRIND FATAL ERROR" in found + done.stderr:
        return "", "FATAL: " + " ".join((found + done.stderr).split())[:200]
    return first, "" if done.returncode == 0 else (done.stderr or done.stdout).strip().split("\n")[0]


def inputs(text):
    return [w for name, value in re.findall(r"^# set: (\S+) (\S+)", text, re.M) for w in ("--in", name + "=" + value)]


def clean(tests, folder):
    for path in sorted((tests / "gpu/kernels").glob("*.tir")):
        text = path.read_text()
        if "# fails: " not in text:
            yield path.stem, [str(path)] + inputs(text)
    for path in sorted((tests / "gpu/schedules").glob("*.tir")):
        text = path.read_text()
        script = "\n".join(line[3:] for line in text.split("\n") if line.startswith("#| ") or line == "#|")
        for i, values in enumerate(re.findall(r"^# with: (.*)", text, re.M)):
            file = os.path.join(folder, "%s%d.sch" % (path.stem, i))
            open(file, "w").write("\n".join(values.split()) + "\n" + script + "\n")
            yield "%s with %s" % (path.stem, values), [str(path), file] + inputs(text)
    for path in sorted((tests / "emulate/right").glob("*.tir")):
        if not path.name.endswith(".plain.tir"):
            schedule = [str(s) for s in [path.with_suffix(".sch")] if s.exists()]
            yield path.stem, [str(path)] + schedule + (["--in", "n=1000"] if path.stem == "tail" else [])


def faulty(tests, folder):
    """As tests/emulate/emulate.py reads them."""
    for i, part in enumerate(re.split(r"^== ", (tests / "emulate/faults.txt").read_text(), flags=re.M)[1:]):
        lines = part.split("\n")
        of = next(line[3:].strip() for line in lines if line.startswith("of "))
        text = (tests / "emulate/right" / (of + ".tir")).read_text().split("\n")
        at, indent = 0, ""
        for line in lines[1:]:
            if line.startswith("- "):
                nth = re.match(r"- (\d+): (.*)", line)
                old = nth[2] if nth else line[2:]
                at = [k for k, t in enumerate(text) if t.strip() == old][int(nth[1]) - 1 if nth else 0]
                indent = text[at][:len(text[at]) - len(text[at].lstrip())]
                del text[at]
            elif line.startswith("+ "):
                text.insert(at, indent + line[2:])
                at += 1
        path = os.path.join(folder, "fault%d.tir" % i)
        open(path, "w").write("\n".join(text))
        yield lines[0].strip() + " (" + of + ")", [path] + (["--in", "n=1000"] if of == "tail" else [])


def main():
    tirc, tests = sys.argv[1], pathlib.Path(sys.argv[2])
    if not os.path.exists(ICD):
        print("there is no oclgrind; on Debian: apt-get install oclgrind")
        return 77
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, programs in (("clean", clean), ("faulty", faulty)):
            if kind not in (sys.argv[3:] or kind):
                continue
            for name, words in programs(tests, folder):
                found, failed = run(tirc, folder, words)
                verdict = "not run" if failed and not found else "found" if found else "nothing"
                counts[kind, verdict] = counts.get((kind, verdict), 0) + 1
                if verdict == "not run" or (kind == "clean") == (verdict == "found"):
                    print("%s: %s: %s %s" % (kind, name, verdict, found or failed), flush=True)
    print(", ".join("%s: %s %d" % (kind, verdict, n) for (kind, verdict), n in sorted(counts.items())))
    return 1 if counts.get(("clean", "found")) else 0


sys.exit(main())
