#!/usr/bin/env python3
"""records.py TIRC RECORDS TRACES

For each NAME.records.json of the folder RECORDS, what another tuner wrote of a matrix product: all
records are imported, the best one makes the program TRACES/NAME.tir (or NAME.best.tir) of the
product, all of them apply, and what is exported comes back, as records and as CSV."""
import json
import os
import subprocess
import sys
import tempfile

PRODUCT = """@T.prim_func
def main(A: T.Buffer(({m}, {k}), "float32"), B: T.Buffer(({k}, {n}), "float32"), C: T.Buffer(({m}, {n}), "float32")):
    T.func_attr({{"tir.noalias": T.bool(True)}})
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
tirc = os.path.abspath(sys.argv[1])


def run(*args, database=None, status=0):
    command = [tirc, *args] + (["--database", database] if database else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != status:
        sys.exit("%s: status %d\n%s" % (" ".join(command), done.returncode, done.stderr))
    return done.stdout


def records_of(path):
    with open(path) as f:
        return sorted(json.dumps([json.loads(line)[1][0], json.loads(line)[1][1]]) for line in f)


def check(records, expected, folder):
    with open(records) as f:
        lines = f.read().splitlines()
    arguments = json.loads(lines[0])[1][3]
    (m, k), n = arguments[0][2], arguments[1][2][1]
    program, database, best = (os.path.join(folder, name) for name in ("p.tir", "a.db", "best.json"))
    with open(program, "w") as f:
        f.write(PRODUCT.format(m=m, k=k, n=n))
    said = run("db", "import", records, program, database=database)
    assert "%d trials imported, 0 of them failed; 0 were known" % len(lines) in said, said
    said = run("db", "import", records, program, database=database)
    assert "0 trials imported, 0 of them failed; %d were known" % len(lines) in said, said

    run("db", "best", program, "--json", "-o", best, database=database)
    with open(best, "w") as f:
        f.write(run("db", "best", program, "--json", database=database))
    made = os.path.join(folder, "made.tir")
    run("apply", program, "--trace-json", best, "-o", made)
    run("equal", made, expected)
    fastest = min(sum(times) / len(times) for times in (json.loads(line)[1][1] for line in lines))
    assert json.load(open(best))[1][1] == [fastest]
    script = os.path.join(folder, "best.sch")
    run("db", "best", program, "-o", script, database=database)
    run("apply", program, script, "-o", made)
    run("equal", made, expected)

    out = os.path.join(folder, "out")
    run("db", "export", out, database=database)
    exported = os.path.join(out, "records.json")
    assert records_of(exported) == records_of(records)
    for i in range(len(lines)):
        run("apply", program, "--trace-json", exported, "--record", str(i + 1), "-o", made)
    again, table = os.path.join(folder, "b.db"), os.path.join(folder, "all.csv")
    run("db", "import", out, database=again)
    assert run("db", "show", program, "--csv", database=again).count("\n") == len(lines) + 1
    run("db", "export", table, "--csv", database=database)
    third = os.path.join(folder, "c.db")
    said = run("db", "import", table, program, database=third)
    assert "%d trials imported" % len(lines) in said, said
    assert "%d were known" % len(lines) in run("db", "import", table, database=third)
    assert run("db", "export", "--csv", database=third).count("[[") >= len(lines)
    print("%s: %d records, best %.4f ms" % (os.path.basename(records), len(lines), 1e3 * fastest))


def main():
    folder, traces = sys.argv[2:4]
    names = sorted(f[:-len(".records.json")] for f in os.listdir(folder) if f.endswith(".records.json"))
    assert names, folder
    for name in names:
        expected = os.path.join(traces, name + ".best.tir")
        if not os.path.exists(expected):
            expected = os.path.join(traces, name + ".tir")
        with tempfile.TemporaryDirectory() as scratch:
            check(os.path.join(folder, name + ".records.json"), expected, scratch)


main()
