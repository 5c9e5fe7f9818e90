#!/usr/bin/env python3
"""What mappings cost, against recorded counts: cases.py TIRC FILE.jsonl... [--enumerate|--bind|--run|--tune]

A line is a case: a program and a schedule of this folder, constants, an array, links, and the answers, which were counted
instance by instance. All of them must come out equal. Links that take no time and lead in a circle are refused where
an item goes round that nobody loads; with --allow-cycles they are counted as recorded. --enumerate: large sizes one by
one. --bind: the loops are bound to pe.x ... where the schedules only note it. --run: the array runs each, and counts the
same. --tune: a search finds a mapping that is as fast, or faster."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from every import sample

HERE = pathlib.Path(__file__).resolve().parent


def command(tirc, case, folder, bind):
    spec = folder / "spec.json"
    spec.write_text(json.dumps({k: case[k] for k in ("array", "interconnect")}))
    schedule = HERE / case["schedule"]
    if bind:
        text = schedule.read_text()
        for axis in "xyz":
            text = text.replace(', "pe", "%s")' % axis, ', "pe.%s")' % axis)
        schedule = folder / "bound.sch"
        schedule.write_text("\n".join(l.replace("sch.annotate(", "sch.bind(") if '"pe.' in l else l for l in text.split("\n")))
    defines = [x for k, v in case["define"].items() for x in ("-D", "%s=%s" % (k, v))]
    return [tirc, "cost", str(HERE / case["program"]), str(schedule), "--array", str(spec), "--json"] + defines


def differences(got, want):
    for key, value in want.items():
        if key != "tensors":
            if got.get(key) != value:
                yield key, got.get(key), value
            continue
        if list(value) != list(got[key]):
            yield "tensors", list(got[key]), list(value)
        for name, tensor in value.items():
            own = got[key].get(name, {})
            yield from (("%s of %s" % (k, name), own.get(k), v) for k, v in tensor.items() if own.get(k) != v)


def check_product(tirc, case, folder):
    """A product on a systolic array: SCALE-Sim's formulas, and what registers do that move step by step."""
    (folder / "log.jsonl").write_text(json.dumps({k: case[k] for k in "MNK"}) + "\n")
    (folder / "spec.json").write_text(json.dumps({"array": {"dims": [case["rows"], case["columns"]], "bandwidth": 64,
                                                            "item_bits": 16, "latency": 16}, "interconnect": "systolic"}))
    run = subprocess.run([tirc, "cost", str(folder / "log.jsonl"), "--array", str(folder / "spec.json"), "--dataflow",
                          case["flow"], "--json"], capture_output=True, text=True)
    if run.returncode:
        return run.stderr[:600]
    got = json.loads(run.stdout)["products"][0]
    wrong = [(k, got.get(k), v) for k, v in case.items() if k not in ("flow", "rows", "columns") and got.get(k) != v]
    return "; ".join("%s is %s, not %s" % w for w in wrong[:6])


def check_run(words):
    """The array runs, and what it counts meanwhile is the estimate's; what it computes is right."""
    words = [words[0], "run"] + [w for w in words[2:] if w != "--json"] + ["--check"]
    run = subprocess.run(words, capture_output=True, text=True)
    return "" if run.returncode == 0 and "the counts are those of tirc cost" in run.stdout else run.stderr[:600] or run.stdout


def check_tune(words, case):
    """The space of mappings has one that is as fast, or faster."""
    words = [words[0], "tune", words[2]] + [w for w in words[4:] if w != "--json"] + ["--trials", "2000"]
    run = subprocess.run(words, capture_output=True, text=True)
    if run.returncode:
        return run.stderr[:600]
    rows = [line.split() for line in run.stdout.splitlines()]
    best = next(int(row[1]) for row in rows if row[:1] == ["1"])
    answers = case["answers"]
    recorded = max(answers[k] for k in ("busy", "ingress_delay", "egress_delay"))
    return "" if best <= recorded else "the best mapping takes %d cycles, and this one %d" % (best, recorded)


def check(tirc, case, folder, options):
    if "flow" in case:
        return check_product(tirc, case, folder)
    words = command(tirc, case, folder, "--bind" in options)
    if "--run" in options:
        return check_run(words)
    if "--tune" in options:
        return check_tune(words, case)
    if "--enumerate" in options:
        words += ["--limit", "2000000000"]
    run = subprocess.run(words, capture_output=True, text=True)
    unloaded = any(t["unique"] < t["distinct"] for t in case["answers"]["tensors"].values())
    if unloaded and (run.returncode != 2 or "form a cycle" not in run.stderr):
        return "a circle of links is not refused: %s" % (run.stderr or run.stdout)[:300]
    if run.returncode == 2 and "form a cycle" in run.stderr:
        run = subprocess.run(words + ["--allow-cycles"], capture_output=True, text=True)
    if run.returncode:
        return run.stderr[:600]
    wrong = list(differences(json.loads(run.stdout), case["answers"]))
    return "; ".join("%s is %s, not %s" % w for w in wrong[:6])


def main():
    tirc, files = os.path.abspath(sys.argv[1]), [a for a in sys.argv[2:] if not a.startswith("--")]
    options = [a for a in sys.argv[2:] if a.startswith("--")]
    bad = n = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            for line in sample(open(file, encoding="utf-8").read().splitlines()):
                case, n = json.loads(line), n + 1
                why = check(tirc, case, pathlib.Path(folder), options)
                if why:
                    bad += 1
                    print("%s: %s" % (case.get("name", case), why))
    print("%d of %d cases have the recorded counts" % (n - bad, n))
    sys.exit(bad != 0 or n == 0)


main()
