"""The scripts of examples/python run to their ends."""

import subprocess
import sys

import pytest

from support import EXAMPLES

SCRIPTS = {"gemm_te.py": "the product is right", "graph.py": "5 rows of 10 scores are right", "tensorir.py": "ms scheduled",
           "today.py": "the sums are right", "tune.py": "the best of 3 is right"}


def test_all_are_known():
    assert sorted(p.name for p in (EXAMPLES / "python").glob("*.py")) == sorted(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name):
    run = subprocess.run([sys.executable, "-B", str(EXAMPLES / "python" / name)] + ["3"] * (name == "tune.py"), capture_output=True, text=True,
                         timeout=240)
    assert run.returncode == 0, run.stderr
    assert SCRIPTS[name] in run.stdout
