"""The functions of a graph, each as a program of its own, as they are before rules schedule them."""
import os
import re
import subprocess


def functions_of(tirc, graph, options, folder):
    where = os.path.join(folder, os.path.basename(graph))
    os.makedirs(folder, exist_ok=True)
    done = subprocess.run([tirc, "lower", graph, *options, "--dump-dir", where], capture_output=True, text=True, errors="replace")
    phases = sorted(f for f in os.listdir(where) if "phase3" in f) if os.path.isdir(where) else []
    if not phases:
        raise SystemExit("%s: %s" % (graph, done.stderr))
    for part in re.split(r"(?m)^(?=    @)", open(os.path.join(where, phases[-1])).read())[1:]:
        if "@T.prim_func" in part:
            path = os.path.join(where, re.search(r"def (\w+)", part)[1] + ".tir")
            with open(path, "w") as out:
                out.write(re.sub(r"(?m)^    ", "", part).replace("(private=True)", ""))
            yield path


def symbols_of(program):
    return re.findall(r"(?m)^    (\w+) = T\.int(?:32|64)\(\)", open(program).read())
