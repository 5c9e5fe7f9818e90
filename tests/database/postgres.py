#!/usr/bin/env python3
"""postgres.py TIRC UNIT-TEST RECORDS [ROUNDS]

On a PostgreSQL server of its own (a temporary folder, a Unix socket): the unit test of the database;
tirc db with it; four `tirc tune` on one study, of which two are killed while the server is stopped once,
hard, and started again; a server that does not come back. Status 77 (skipped) without PostgreSQL, or where it
cannot be started."""
import atexit
import glob
import json
import os
import pwd
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

tirc, unit_test, records = (os.path.abspath(p) for p in sys.argv[1:4])


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def find_programs():
    for folder in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True) + os.environ["PATH"].split(":"):
        if os.path.exists(os.path.join(folder, "initdb")):
            return folder
    skip("PostgreSQL is not installed (on Debian: apt install postgresql)")


def as_ordinary_user():
    """What to put before a command, and who that is: the server does not run as root."""
    if os.geteuid() != 0:
        return [], None
    if not shutil.which("runuser"):
        skip("root, and no runuser")
    for name in ("postgres", "nobody"):
        try:
            return ["runuser", "-u", name, "--"], pwd.getpwnam(name)
        except KeyError:
            pass
    skip("root, and no ordinary user")


class Server:
    def __init__(self):
        self.programs = find_programs()
        self.prefix, user = as_ordinary_user()
        self.folder = tempfile.mkdtemp(prefix="tircpg", dir="/tmp")  # a socket's path is short
        os.chmod(self.folder, 0o755)
        atexit.register(self.remove)
        if user:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.data = os.path.join(self.folder, "data")
        if self.call("initdb", "-D", self.data, "-A", "trust", "-U", "tirc", "-E", "UTF8", "--locale=C").returncode:
            skip("initdb fails")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as f:
            f.write("listen_addresses = ''\nunix_socket_directories = '%s'\n" % self.folder)
        if self.start():
            skip("the server does not start")

    def call(self, program, *args):
        return subprocess.run([*self.prefix, os.path.join(self.programs, program), *args], cwd="/",
                              capture_output=True, text=True)

    def start(self):
        log = os.path.join(self.folder, "log")
        # A server that inherits the pipes would keep call waiting for their end.
        return subprocess.run([*self.prefix, os.path.join(self.programs, "pg_ctl"), "-D", self.data, "-w", "-l", log, "start"],
                              cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def stop(self, mode):
        return self.call("pg_ctl", "-D", self.data, "-m", mode, "-w", "stop").returncode

    def remove(self):
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def database(self, name):
        made = self.call("createdb", "-h", self.folder, "-U", "tirc", name)
        assert made.returncode == 0, made.stderr
        return "postgresql://tirc@/%s?host=%s" % (name, self.folder)

    def ask(self, name, sql):
        done = self.call("psql", "-h", self.folder, "-U", "tirc", "-d", name, "-At", "-c", sql)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


def run(*args, status=0):
    done = subprocess.run([tirc, *args], capture_output=True, text=True)
    assert done.returncode == status, (args, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def check_command(server, folder):
    """The same as with a file, and there and back."""
    url, back = server.database("command"), os.path.join(folder, "back.db")
    program, file = os.path.join(folder, "p.tir"), os.path.join(folder, "a.db")
    with open(program, "w") as f:
        f.write("@T.prim_func\ndef main(A: T.Buffer((128, 768)), B: T.Buffer((768, 768)), C: T.Buffer((128, 768))):\n"
                "    for i, j, k in T.grid(128, 768, 768):\n        with T.block('C'):\n"
                "            vi, vj, vk = T.axis.remap('SSR', [i, j, k])\n            with T.init():\n"
                "                C[vi, vj] = T.float32(0)\n            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n")
    assert "no tables" in run("db", "list", "--database", url, status=2)
    assert "64 trials imported" in run("db", "import", records, program, "--database", url)
    assert "64 were known" in run("db", "import", records, program, "--database", url)
    run("db", "import", records, program, "--database", file)
    for verb in (["best", program], ["list", "--csv"], ["show", "p", "--csv"]):
        mine, theirs = (run("db", *verb, "--database", d) for d in (file, url))
        strip = lambda text: [line.rsplit(",", 2)[0] for line in text.splitlines()]
        assert strip(mine) == strip(theirs), verb
    assert "64 trials" in run("db", "merge", url, "--database", back)
    assert "0 trials" in run("db", "merge", back, "--database", url)
    assert "59 trials" in run("db", "prune", "--keep", "5", "--database", url)
    assert "59 trials, 0 models" in run("db", "merge", back, "--database", url)
    server.ask("command", "UPDATE tirc.tirc_schema SET version = 9")
    assert "newer tirc" in run("db", "list", "--database", url, status=2)
    assert "cannot be reached" in run("db", "list", "--database", url + "none", status=2)
    secret = "postgresql://tirc:secret@/none?host=%s&password=secret" % server.folder
    assert "secret" not in run("db", "list", "--database", secret, status=2)


PRODUCT = """@T.prim_func
def main(A: T.Buffer((24, 32)), B: T.Buffer((32, 48)), C: T.Buffer((24, 48))):
    for i, j, k in T.grid(24, 48, 32):
        with T.block('C'):
            vi, vj, vk = T.axis.remap('SSR', [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


class Tune:
    """A `tirc tune` of its own; what it says it has stored is stored."""

    def __init__(self, url, folder, name, trials, wait):
        program, self.path = os.path.join(folder, "product.tir"), os.path.join(folder, name)
        if not os.path.exists(program):  # the others read it as they start
            with open(program, "w") as f:
                f.write(PRODUCT)
        self.out = open(self.path, "w")
        self.process = subprocess.Popen(
            [tirc, "tune", program, "--database", url, "--trials", str(trials), "--threads", "1", "--lease", "4",
             "--seed", name[-1]], stdout=self.out, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, TIRC_DATABASE_WAIT=wait))

    def said(self):
        """The times that it printed, each after the trial was stored; a line may be cut short where it was killed."""
        with open(self.path) as f:
            lines = [line.split() for line in f.read().split("\n")[:-1]]
        return [w[4] for w in lines if w[0] == "trial" and w[5:6] == ["ms"]]

    def wait_for(self, n):
        while len(self.said()) < n and self.process.poll() is None:
            time.sleep(0.02)

    def end(self):
        _, err = self.process.communicate(timeout=120)
        with open(self.path) as f:
            return self.process.returncode, f.read(), err


def trials_in(server, name):
    rows = [line.split("|") for line in server.ask(
        name, "SELECT id, state, worker, coalesce(seconds, -1), attempts, coalesce(samples, '') FROM tirc.trial")]
    return {row[0]: row[1:] for row in rows}


def times(row):
    """The medians that a trial has had, as it is told: more samples may have come to those of the first measuring."""
    samples = [1e3 * s for s in json.loads(row[4] or "[]")]
    medians = [statistics.median(samples[:n]) for n in range(1, len(samples) + 1)]
    return {"%.3g" % m if m < 0.01 else "%.4f" % m for m in medians}


def check_said(worker, rows):
    """Each time that it printed is that of a trial in the database that it has done."""
    mine = [times(r) for r in rows.values() if ":%d:" % worker.process.pid in r[1]]
    lost = [said for said in worker.said() if not any(said in t for t in mine)]
    assert not lost, ("trials that were stored are lost", lost)


def check_workers(server, folder, chance):
    """Four search together, two are killed, the server is stopped once in between: no trial that was said to be
    stored is lost, none is done twice, and the rest is done."""
    budget, url = 96, server.database("workers")
    workers = [Tune(url, folder, "said%d" % i, budget, "60") for i in range(4)]
    workers[0].wait_for(chance.randint(1, 6))
    assert workers[0].process.poll() is None, ("the first ended by itself", workers[0].end())
    workers[0].process.kill()
    time.sleep(chance.uniform(0.1, 0.3))
    before = trials_in(server, "workers")
    assert server.stop("immediate") == 0
    time.sleep(chance.uniform(0.5, 1.5))
    assert server.start() == 0
    workers[1].wait_for(len(workers[1].said()) + chance.randint(1, 3))
    workers[1].process.kill()
    ends = [w.end() for w in workers]
    for code, out, err in ends[2:]:
        assert code == 0, err
        assert "%d trials, " % budget in out, out
        assert "the database is available again" in err, err
    rows = trials_in(server, "workers")
    assert len(rows) == budget, len(rows)
    assert all(row[0] == "done" for row in rows.values())
    for trial, row in before.items():
        if row[0] == "done":  # those that are among the best are timed again at the end, which adds samples
            now, first = rows[trial], row[4].rstrip("]")
            assert now[1] == row[1] and now[3] == row[3] and now[4].startswith(first), ("a trial was done twice", row, now)
    for w in workers:
        check_said(w, rows)
    again = sum(int(row[3]) - 1 for row in rows.values())
    lost = [row for row in rows.values() if int(row[3]) > 1]
    assert len(lost) <= 4 * 8, len(lost)  # a batch of each: who was killed, or silent while the server was gone
    print("4 x tirc tune, 2 killed, the server stopped once: %d trials, %s said so, %d taken again" %
          (budget, " + ".join(str(len(w.said())) for w in workers), again))


def check_end(server, folder):
    """A server that stays away ends the search, with all that was stored."""
    url = server.database("gone")
    worker = Tune(url, folder, "said9", 10000, "1")
    worker.wait_for(10)
    assert server.stop("fast") == 0
    code, out, err = worker.end()
    assert code == 2 and "PostgreSQL server" in err, (code, err)
    assert "best" in out.splitlines()[-1] or "what it does" in out or "schedule of --auto" in out, out
    assert "cannot be reached" in run("db", "list", "--database", url, status=2)
    assert server.start() == 0
    rows = trials_in(server, "gone")
    said = worker.said()
    stored = [times(r) for r in rows.values()]
    lost = sum(1 for s in said if not any(s in t for t in stored))
    assert len(said) >= 10 and lost <= 1, (len(said), lost)  # the trial at which the database was lost is said, too
    print("a server that stays away: %d trials were stored, and the best was given" % (len(said) - lost))


def main():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    server = Server()
    done = subprocess.run([unit_test, server.database("unit")])
    assert done.returncode == 0
    with tempfile.TemporaryDirectory() as folder:
        check_command(server, folder)
        for _ in range(int(sys.argv[4]) if len(sys.argv) > 4 else 1):
            check_workers(server, folder, random.Random(seed))
            server.call("dropdb", "-h", server.folder, "-U", "tirc", "--force", "workers")
            seed += 1
        check_end(server, folder)


main()
