#!/usr/bin/env python3
"""claims.py TIRC PROGRAM SCHEDULE

What `tirc study` says of measurements that are known: its results get other samples, and its report is
read. Each verdict, with the figure and its interval."""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TIRC, PROGRAM, SCHEDULE = sys.argv[1:4]
NAMES = ["base", "twice", "noisy", "alike"]
CLAIMS = [  # of, published, verdict
    ("twice", "2", "carries over, as much"),
    ("twice", "(1.5, 1.8)", "carries over, more"),
    ("twice", "3", "carries over, less"),
    ("twice", "0.5", "differs"),
    ("twice", "\">1\"", "carries over"),
    ("twice", "\"<1\"", "differs"),
    ("twice", "(0.9, 1.1)", "differs"),
    ("alike", "(0.9, 1.1)", "carries over"),
    ("alike", "1.5", "differs"),
    ("noisy", "1.2", "undecided: wide interval"),
    ("noisy", "(0.9, 1.1)", "undecided: wide interval"),
    ("noisy", "9", "differs"),
]


def write_study(folder, turns=5):
    shutil.copy(PROGRAM, os.path.join(folder, "small.tir"))
    with open(SCHEDULE) as f:
        schedule = f.read()
    lines = ["# Known figures", 'workload("small.tir", D={"M": [8, 16, 24]})']
    for name in NAMES:
        with open(os.path.join(folder, name + ".sch"), "w") as f:
            f.write("# %s\n%s" % (name, schedule))
        lines.append('contender("%s", "%s.sch")' % (name, name))
    lines += ["threads(1)", "repeat(%d, seconds=0.0001, attempts=1)" % turns]
    lines += ['table("Claim %d", "%s", "base", published=%s)' % (i, of, published)
              for i, (of, published, _) in enumerate(CLAIMS)]
    with open(os.path.join(folder, "known.study"), "w") as f:
        f.write("\n".join(lines) + "\n")


def set_samples(path, busy, turns=8):
    """Turns of two calls, in which all contenders are slower and faster together; noisy is not."""
    db = sqlite3.connect(path)
    drift = [1, 1.3, 0.8, 1.1, 1.5, 0.9, 1.2, 1][:turns]
    noise = [1, 0.3, 3, 0.5, 2, 1.4, 0.7, 1][:turns]
    for name, contender, setting, more in db.execute("SELECT id, contender, setting, more FROM result").fetchall():
        if contender not in NAMES:
            continue
        times = [1e-3 * d * (n if contender == "noisy" else 1) / (2 if contender == "twice" else 1)
                 for d, n in zip(drift, noise)]
        more = json.loads(more)
        more["turns"] = [2] * len(times)
        more["disturbed"] = ["load"] if json.loads(setting)["M"] in busy else []
        db.execute("UPDATE result SET samples = ?, more = ?, disturbed = ? WHERE id = ?",
                   (json.dumps([t for t in times for _ in range(2)]), json.dumps(more), len(more["disturbed"]), name))
    db.commit()
    db.close()


def report(folder, path):
    out = os.path.join(folder, "report")
    run = subprocess.run([TIRC, "study", os.path.join(folder, "known.study"), "--database", path, "-o", out],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stderr
    with open(os.path.join(out, "report.md")) as f:
        return dict(re.findall(r"^\| Claim (\d+) \| \w+ \| (.*) \|$", f.read(), re.M)), run.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "known.db")
        write_study(folder)
        report(folder, path)
        set_samples(path, busy=[])
        rows, out = report(folder, path)
        assert "All 3 settings were in the database" in out, out
        for i, (of, _, verdict) in enumerate(CLAIMS):
            cells = rows[str(i)].split(" | ")
            assert cells[0] == "geometric mean of all 3 settings" and cells[-1] == verdict, (i, rows[str(i)])
            value, low, high = map(float, re.match(r"(\S+) \[(\S+), (\S+)\]$", cells[1]).groups())
            if of != "noisy":  # what disturbs both alike leaves the ratio as it is
                assert value == low == high == {"twice": 2, "alike": 1}[of], cells
            else:
                assert low < 0.9 and high > 1.3 and low <= value <= high, cells
        set_samples(path, busy=[8])
        rows, _ = report(folder, path)
        assert rows["0"].startswith("geometric mean of all 3 settings (2 of 3, 1 busy) | 2 [2, 2] ") and rows["0"].endswith("as much"), rows["0"]
        set_samples(path, busy=[8, 16])
        rows, _ = report(folder, path)
        assert rows["0"].endswith("undecided: busy machine"), rows["0"]
        set_samples(path, busy=[8, 16, 24])
        rows, _ = report(folder, path)
        assert rows["0"].startswith("geometric mean of all 3 settings (0 of 3, 3 busy) | 2 [2, 2] \\* ") or "2 [2, 2] *" in rows["0"], rows["0"]
        assert rows["0"].endswith("undecided: busy machine"), rows["0"]
        write_study(folder, turns=3)
        set_samples(path, busy=[], turns=3)
        rows, _ = report(folder, path)
        assert rows["0"].endswith("undecided: few turns"), rows["0"]


main()
