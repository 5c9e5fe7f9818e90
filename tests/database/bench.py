#!/usr/bin/env python3
"""bench.py TIRC PROGRAM SCHEDULE [KILLS]

`tirc bench --database`: what is stored is what was measured; a process that is killed (SIGKILL) at
random moments, KILLS times (8), loses at most the setting that it is at; a database that cannot
take a setting gets it later, or that is said, and the tables are printed all the same."""
import json
import os
import random
import re
import resource
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

TIRC, PROGRAM, SCHEDULE = sys.argv[1:4]
SHOWN = re.compile(r"^\w+ M=(\d+)  1 thread, ", re.M)


def command(path, sizes, *options):
    return [TIRC, "bench", PROGRAM, SCHEDULE, "--threads", "1", "--attempts", "1", "-D",
            "M=" + ",".join(map(str, sizes)), "--database", path] + list(options)


def check_rows(db):
    """The settings of each session that are there, and that each is whole."""
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    names, settings = {}, {}
    for session, setting, contender, seconds, samples, more in db.execute(
            "SELECT session, setting, contender, seconds, samples, more FROM result"):
        samples, turns, medians = json.loads(samples), json.loads(more)["turns"], []
        assert sum(turns) == len(samples) and all(s > 0 for s in samples), contender
        for n in turns:
            medians.append(statistics.median(samples[:n]))
            samples = samples[n:]
        assert abs(statistics.median(medians) / seconds - 1) < 1e-6, (contender, seconds)
        key = session, json.loads(setting)["M"]
        names.setdefault(key, set()).add(contender)
        settings.setdefault(session, set()).add(key[1])
    assert len({frozenset(n) for n in names.values()}) <= 1, names
    return settings


def check_kills(folder, kills):
    seed = random.randrange(1 << 30)
    chance, path, shown, stored = random.Random(seed), os.path.join(folder, "kills.db"), 0, 0
    for i in range(kills):
        with open(os.path.join(folder, "out"), "w+") as shows:
            process = subprocess.Popen(command(path, range(1, 60), "--seconds", "0.001"),
                                       stdout=shows, stderr=subprocess.PIPE, text=True)
            while "M=1 " not in os.pread(shows.fileno(), 1 << 16, 0).decode():  # it has begun
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.6))
            process.send_signal(signal.SIGKILL)
            errors = process.communicate()[1]
            shows.seek(0)
            out = shows.read()
        assert process.returncode in (-signal.SIGKILL, 0), (process.returncode, errors)
        said = {int(m) for m in SHOWN.findall(out)}
        rows = sqlite3.connect(path).execute(
            "SELECT DISTINCT setting FROM result WHERE session LIKE ?", ("% " + str(process.pid),))
        there = {json.loads(r[0])["M"] for r in rows}
        assert said <= there and len(there - said) <= 1, (seed, said, there)
        shown += len(said)
        stored += len(there)
    check_rows(sqlite3.connect(path))
    print("%d kills (seed %d): %d settings were shown and are stored, %d more are" %
          (kills, seed, shown, stored - shown))


def check_locked(folder):
    path = os.path.join(folder, "locked.db")
    process = subprocess.Popen(command(path, [8, 16, 24], "--seconds", "0.2"), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=dict(os.environ, TIRC_DATABASE_WAIT="0.1"))
    while process.poll() is None:
        try:  # as soon as it has opened it
            db = sqlite3.connect("file:%s?mode=rw" % path, uri=True, isolation_level=None)
            if db.execute("SELECT count(*) FROM environment").fetchone()[0]:
                break
        except sqlite3.Error:
            pass
        time.sleep(0.01)
    db.execute("BEGIN EXCLUSIVE")
    line = process.stderr.readline()
    assert "small M=8 is not in the database yet" in line and "locked" in line, line
    db.execute("ROLLBACK")
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    assert SHOWN.findall(out) == ["8", "16", "24"], out
    assert set().union(*check_rows(db).values()) == {8, 16, 24}


def check_full(folder):
    path = os.path.join(folder, "full.db")
    subprocess.run(command(path, [8], "--seconds", "0.01"), check=True, stdout=subprocess.PIPE)
    limit = os.path.getsize(path) + 40000
    run = subprocess.run(command(path, range(16, 26), "--seconds", "0.05"), text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, restore_signals=False,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert run.returncode == 2, (run.returncode, run.stderr)
    assert len(SHOWN.findall(run.stdout)) == 10, run.stdout
    assert "not in the database" in run.stderr and "disk" in run.stderr, run.stderr
    assert "--figures FILE keeps them" in run.stderr, run.stderr
    there = set().union(*check_rows(sqlite3.connect(path)).values())
    assert 8 in there and len(there) < 11, there


def check_refused(folder):
    other = os.path.join(folder, "other.db")
    with open(other, "w") as f:
        f.write("what is not a database at all, and long enough to be taken for one" * 20)
    newer = os.path.join(folder, "newer.db")
    subprocess.run(command(newer, [8], "--seconds", "0.01"), check=True, stdout=subprocess.PIPE)
    db = sqlite3.connect(newer)
    db.execute("PRAGMA user_version = 99")
    db.commit()
    db.close()
    for path in (other, newer, folder, "/proc/no/such.db"):
        run = subprocess.run(command(path, [8]), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
        assert run.returncode == 2 and "GFLOP/s  " not in run.stdout, (path, run.stdout, run.stderr)
        assert "error" in run.stderr and path in run.stderr, (path, run.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_refused(folder)
        check_locked(folder)
        check_full(folder)
        check_kills(folder, int(sys.argv[4]) if len(sys.argv) > 4 else 8)


main()
