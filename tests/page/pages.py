"""Pages of `tirc step --html` for tests that are called with TIRC SOURCE_ROOT."""
import json
import os
import re
import subprocess
import sys

TIRC, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
EXAMPLES = ROOT + "/examples/"


def make_page(folder, *arguments, status=0, name="page"):
    """Its path, its text and its data."""
    path = os.path.join(folder, name + ".html")
    done = subprocess.run([TIRC, "step", *arguments, "--html", path, "--playground", "none"], capture_output=True, text=True)
    assert done.returncode == status, done
    with open(path, encoding="utf-8") as f:
        page = f.read()
    return path, page, json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))


def explain(name):
    """What `tirc explain` says of a term or code, as one line."""
    done = subprocess.run([TIRC, "explain", name], capture_output=True, text=True)
    assert done.returncode == 0, done
    return one_line(done.stdout)


def one_line(text):
    return " ".join(text.split())
