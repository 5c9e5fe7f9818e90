#!/usr/bin/env python3
"""study.py TIRC PROGRAM SCHEDULE [KILLS]

`tirc study` is killed at random moments (SIGKILL, or SIGINT), KILLS times (8), and begun again with the
same command. What it said was measured is stored and stays, sample by sample; a setting is stored
whole; nothing is measured twice; the report of the last run has everything."""
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TIRC, PROGRAM, SCHEDULE = sys.argv[1:4]
SHOWN = re.compile(r"^\[\d+/\d+\] small M=(\d+), 1 thread: 4 contenders", re.M)
SETTINGS = 40
STUDY = """# Killed now and then
workload("small.tir", D={"M": list(range(1, %d))})
contender("good", "good.sch")
contender("auto", auto)
ablate("rule_vectors", of="good")
contender("never", "never.sch", expect_error="not-data-parallel")
threads(1)
repeat(2, seconds=0.002, attempts=1)
table("good", "auto", "good")
plot("map", "heat")
""" % (SETTINGS + 1)


def write_study(folder):
    shutil.copy(PROGRAM, os.path.join(folder, "small.tir"))
    with open(SCHEDULE) as f, open(os.path.join(folder, "good.sch"), "w") as to:
        to.write("def rule_vectors():\n    pass\n\nrule_vectors()\n" + f.read())
    with open(os.path.join(folder, "never.sch"), "w") as f:
        f.write('sch.parallel(sch.get_loops("C")[-1])\n')
    with open(os.path.join(folder, "kills.study"), "w") as f:
        f.write(STUDY)


def command(folder, path):
    return [TIRC, "study", os.path.join(folder, "kills.study"), "--database", path, "-o",
            os.path.join(folder, "report")]


def rows_of(path):
    if not os.path.exists(path):
        return {}
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'result'").fetchone():
        return {}
    rows = {}
    for name, setting, contender, code, samples in db.execute(
            "SELECT id, setting, contender, code, samples FROM result"):
        rows[name] = json.loads(setting)["M"], contender, code, samples
        assert code or all(s > 0 for s in json.loads(samples)), rows[name]
    db.close()
    return rows


def check_rows(rows, before, said):
    assert before.items() <= rows.items(), "what was stored is gone"
    contenders = {}
    for m, contender, code, _ in rows.values():
        names = contenders.setdefault(m, [])
        assert contender not in names, "%s of M=%s was measured twice" % (contender, m)
        assert (code == "not-data-parallel") == (contender == "never"), (contender, code)
        names.append(contender)
    assert len({frozenset(n) for n in contenders.values()}) <= 1, contenders
    assert said <= set(contenders), (said, contenders)
    return set(contenders)


def check_locked(folder):
    """A database that takes nothing any more: what was measured is beside the report, to be merged."""
    path, report = os.path.join(folder, "locked.db"), os.path.join(folder, "locked")
    short, sizes = os.path.join(folder, "short.study"), list(range(8, 72, 8))
    with open(short, "w") as f:
        f.write(STUDY.replace("range(1, %d)" % (SETTINGS + 1), str(sizes)))
    process = subprocess.Popen([TIRC, "study", short, "--database", path, "-o", report], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=dict(os.environ, TIRC_DATABASE_WAIT="0.1"))
    assert process.stdout.readline().startswith("[1/8]")
    db = sqlite3.connect(path, isolation_level=None, timeout=60)
    db.execute("BEGIN EXCLUSIVE")
    errors = process.communicate()[1]
    db.execute("ROLLBACK")
    db.close()
    rescued, before = os.path.join(report, "unstored.db"), rows_of(path)
    if len({r[0] for r in before.values()}) < len(sizes):  # it was not done before the lock was there
        assert process.returncode == 2 and "locked" in errors, (process.returncode, errors)
        assert "tirc db merge %s" % rescued in errors, errors
        subprocess.run([TIRC, "db", "merge", rescued, "--database", path], check=True,
                       stdout=subprocess.PIPE)
    rows = rows_of(path)
    assert before.items() <= rows.items() and {r[0] for r in rows.values()} == set(sizes), errors


def check_again(folder, path):
    """What is measured again counts as it did before, in what an interrupted run says and reports."""
    process = subprocess.Popen([*command(folder, path), "--again"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline().startswith("[1/%d]" % SETTINGS)
    process.send_signal(signal.SIGINT)
    out = process.communicate()[0]
    assert "Interrupted: %d of %d settings" % (SETTINGS, SETTINGS) in out, out
    with open(os.path.join(folder, "report", "report.md")) as f:
        assert "%d of %d settings of" % (SETTINGS, SETTINGS) in f.read()


def main():
    kills = int(sys.argv[4]) if len(sys.argv) > 4 else 8
    seed = random.randrange(1 << 30)
    chance, shown, stored, unsaid, n = random.Random(seed), 0, 0, 0, 0
    before, said = {}, set()
    with tempfile.TemporaryDirectory() as folder:
        write_study(folder)
        check_locked(folder)
        path = os.path.join(folder, "0.db")
        for i in range(kills):
            with open(os.path.join(folder, "out"), "w+") as shows:
                process = subprocess.Popen(command(folder, path), stdout=shows, stderr=subprocess.PIPE, text=True)
                while i % 4 and not os.fstat(shows.fileno()).st_size and process.poll() is None:
                    time.sleep(0.005)  # mostly it is killed while it measures
                time.sleep(chance.uniform(0, 0.3))
                process.send_signal(signal.SIGINT if i % 5 == 4 else signal.SIGKILL)
                errors = process.communicate()[1]
                shows.seek(0)
                out = shows.read()
            assert process.returncode in (-signal.SIGKILL, -signal.SIGINT, 0, 1), (seed, errors)
            new = {int(m) for m in SHOWN.findall(out)}
            assert not new & said, (seed, "measured twice", new & said)
            said |= new
            rows = rows_of(path)
            there = check_rows(rows, before, said)
            assert len(there) - len({r[0] for r in before.values()} | new) <= 1, (seed, there, said)
            unsaid += len(there) - len({r[0] for r in before.values()} | new)
            counted = re.search(r"^Interrupted: (\d+) of (\d+) settings", out, re.M)
            assert not counted or counted.groups() == (str(len(there)), str(SETTINGS)), (seed, out)
            before = rows
            if len(there) == SETTINGS:  # all is done: from the beginning
                n, shown, stored = n + 1, shown + len(said), stored + len(rows)
                path, before, said = os.path.join(folder, "%d.db" % n), {}, set()
        done = subprocess.run(command(folder, path), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
        assert done.returncode == 0, (seed, done.stderr)
        rows = rows_of(path)
        assert len(check_rows(rows, before, said)) == SETTINGS, seed
        with open(os.path.join(folder, "report", "report.md")) as f:
            assert "%d of %d settings" % (SETTINGS, SETTINGS) in f.read(), seed
        again = subprocess.run(command(folder, path), stdout=subprocess.PIPE, text=True)
        assert "All %d settings were in the database" % SETTINGS in again.stdout, again.stdout
        assert rows_of(path) == rows, seed
        check_again(folder, path)
    print("%d kills (seed %d): %d results are there, %d settings were stored and not yet shown" %
          (kills, seed, stored + len(rows), unsaid))


main()
