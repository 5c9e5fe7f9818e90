#!/usr/bin/env python3
"""postgres.py TIRC WORKER UNIT-TEST RECORDS

On a PostgreSQL server of its own (a temporary folder, a Unix socket): the unit test of the database;
tirc db with it; four workers of which two are killed while the server is stopped once, hard, and
started again; a server that does not come back. Status 77 (skipped) without PostgreSQL, or where it
cannot be started."""
import atexit
import glob
import os
import pwd
import random
import shutil
import subprocess
import sys
import tempfile
import time

tirc, worker, unit_test, records = (os.path.abspath(p) for p in sys.argv[1:5])


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


def start_worker(url, name, budget, out, wait="60"):
    env = dict(os.environ, TIRC_DATABASE_WAIT=wait)
    return subprocess.Popen([worker, url, "64", str(budget), "1", "8", name], stdout=out, stderr=subprocess.PIPE,
                            text=True, env=env)


def said_in(path):
    with open(path) as f:
        return [line for line in f.read().split("\n")[:-1]]


def check_workers(server, folder, chance):
    """Four work, two are killed, the server is stopped once in between: no trial that was said to be
    stored is lost, none is stored twice, and the rest is done."""
    budget, url = 400, server.database("workers")
    paths = [os.path.join(folder, "said%d" % i) for i in range(4)]
    workers = [start_worker(url, "w%d" % i, budget, open(paths[i], "w")) for i in range(4)]
    time.sleep(chance.uniform(0.4, 0.8))
    workers[0].kill()
    time.sleep(chance.uniform(0.1, 0.3))
    assert server.stop("immediate") == 0
    time.sleep(chance.uniform(0.5, 1.5))
    assert server.start() == 0
    time.sleep(chance.uniform(0.2, 0.4))
    workers[1].kill()
    for w in workers[2:]:
        _, err = w.communicate(timeout=120)
        assert w.returncode == 0, err
    for w in workers[:2]:
        w.communicate()
    said = [line for path in paths for line in said_in(path)]
    rows = dict(line.split("|", 1) for line in server.ask(
        "workers", "SELECT id, state || '|' || coalesce(worker, '') || '|' || coalesce(samples, '') FROM tirc.trial"))
    assert len(said) == len(set(said)), "a trial was stored twice"
    assert len(rows) == budget, len(rows)
    assert all(row.startswith("done|") and "0.001" in row for row in rows.values())
    lost = [trial for trial in said if trial not in rows]
    assert not lost, lost
    for i, path in enumerate(paths):
        assert all(rows[trial].split("|")[1] == "w%d" % i for trial in said_in(path))
    again = server.ask("workers", "SELECT coalesce(sum(attempts - 1), 0) FROM tirc.trial")[0]
    print("4 workers, 2 killed, the server stopped once: %d trials, each stored once, %d said so (%s), %s taken again" %
          (budget, len(said), " + ".join(str(len(said_in(p))) for p in paths), again))
    return url


def check_end(server, folder):
    """A server that stays away ends the worker, with all that was stored."""
    url, path = server.database("gone"), os.path.join(folder, "said")
    process = start_worker(url, "w", 10000, open(path, "w"), wait="1")
    time.sleep(0.8)
    assert server.stop("fast") == 0
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2 and "PostgreSQL server" in err, (process.returncode, err)
    assert "cannot be reached" in run("db", "list", "--database", url, status=2)
    assert server.start() == 0
    kept = set(server.ask("gone", "SELECT id FROM tirc.trial WHERE state = 'done'"))
    said = said_in(path)
    assert said and set(said) <= kept
    print("a server that stays away: %d trials were said to be stored, and are" % len(said))


def main():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    server = Server()
    done = subprocess.run([unit_test, server.database("unit")])
    assert done.returncode == 0
    with tempfile.TemporaryDirectory() as folder:
        check_command(server, folder)
        for _ in range(int(sys.argv[5]) if len(sys.argv) > 5 else 1):
            check_workers(server, folder, random.Random(seed))
            server.call("dropdb", "-h", server.folder, "-U", "tirc", "--force", "workers")
            seed += 1
        check_end(server, folder)


main()
