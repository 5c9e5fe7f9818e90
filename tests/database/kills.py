#!/usr/bin/env python3
"""kills.py WORKER [KILLS]

A process that stores trials in a file is killed at random moments (SIGKILL), KILLS times (20), and
begun again. Whatever it said was stored is there afterwards, whole; the file is sound; at most one
trial a kill was begun again."""
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time


def main():
    worker, kills = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    budget, said, rounds = 60 * kills, [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.db")
        while rounds < kills:
            # Each under a name of its own, as processes are: a lease of 50 ms hides what is lost.
            command = [worker, path, "64", str(budget), "0.05", "1", "worker-%d" % rounds]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            time.sleep(chance.uniform(0.001, 0.4))
            process.send_signal(signal.SIGKILL)
            out, _ = process.communicate()
            said += [line for line in out.splitlines() if len(line) == 32]
            assert process.returncode == -signal.SIGKILL or process.returncode == 0, process.returncode
            rounds += 1
        assert len(said) == len(set(said)), "a trial was done twice"
        db = sqlite3.connect(path)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = dict((r[0], r[1:]) for r in db.execute("SELECT id, state, samples, seconds, attempts FROM trial"))
        for trial in said:
            state, samples, seconds, attempts = rows[trial]
            assert state == "done" and samples and seconds > 0, (trial, rows[trial])
        done = sum(r[0] == "done" for r in rows.values())
        again = sum(r[3] - 1 for r in rows.values() if r[3] > 1)
        unsaid = done - len(said)  # killed between storing and saying so
        assert 0 <= unsaid <= kills and again <= kills, (unsaid, again)
        # And the work goes on.
        subprocess.run([worker, path, "64", str(len(rows)), "0.05", "0", "last"], check=True, stdout=subprocess.PIPE)
        left = db.execute("SELECT count(*) FROM trial WHERE state <> 'done'").fetchone()[0]
        assert left == 0, left
    print("%d kills (seed %d): %d trials were said to be stored and are; %d more are; %d were begun again" %
          (kills, seed, len(said), unsaid, again))


main()
