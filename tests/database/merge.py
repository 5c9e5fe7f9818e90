#!/usr/bin/env python3
"""merge.py TIRC WORKER

A database is merged into another one while somebody goes on writing to it: what was there when the
merging began comes over, whole, and nothing of what refers to rows that were passed by then."""
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading

TRIALS = 20000  # which take long enough to be copied


def main():
    tirc, worker = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "source.db"), os.path.join(folder, "target.db")
        subprocess.run([worker, source, "64", "4", "10", "0", "w"], check=True, stdout=subprocess.PIPE)
        db = sqlite3.connect(source, isolation_level=None, check_same_thread=False)
        (task,) = db.execute("SELECT id FROM task").fetchone()
        add = ("INSERT INTO trial (id, task, trace, state, attempts, created)"
               " VALUES (?, ?, '[[],[]]', 'queued', 0, 0)")
        db.execute("BEGIN")
        db.executemany(add, [("%032x" % i, task) for i in range(TRIALS)])
        db.execute("COMMIT")
        merged, begun, written = threading.Event(), threading.Event(), []

        def write():
            while not merged.is_set():
                new, n = "f" * 24 + "%08x" % len(written), len(written)
                db.execute("INSERT INTO task SELECT ?, workload, ?, threads, machine, winner, created FROM task"
                           " WHERE id = ?", (new, "cpu-%d" % n, task))
                db.execute(add, (new, new))
                written.append(new)
                begun.set()

        writer = threading.Thread(target=write)
        writer.start()
        assert begun.wait(30), "nothing was written"
        done = subprocess.run([tirc, "db", "merge", source, "--database", target], capture_output=True, text=True)
        assert writer.is_alive(), "the writer stopped"
        merged.set()
        writer.join()
        assert done.returncode == 0, done.stderr
        copy = sqlite3.connect(target)
        assert copy.execute("PRAGMA foreign_key_check").fetchall() == []
        (n,) = copy.execute("SELECT count(*) FROM trial WHERE id < 'f'").fetchone()
        assert n >= TRIALS, n
        (later,) = copy.execute("SELECT count(*) FROM trial WHERE id > 'f'").fetchone()
    print("%d trials came over, %d of %d that were written meanwhile" % (n, later, len(written)))


main()
