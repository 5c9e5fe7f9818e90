"""A program that follows its user's locale (GTK, Qt, locale.setlocale(LC_ALL, "")) and one that does not see the
same."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

PROGRAM = '''
import locale, sys
import numpy as np
import tirc

print(locale.setlocale(locale.LC_ALL, ""), locale.str(1.5), file=sys.stderr)
module = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi] * T.float32(1.5) + T.float32(0.25)
""")
print(module)
sch = tirc.Schedule(module)
sch.annotate("C", "INIT", 0.5)
print(sch.trace)
print(sch.mod)
c = np.zeros(4, "float32")
tirc.build(sch.mod)(np.ones(4, "float32"), c)
print(c.view("uint32"))
try:
    sch.split(sch.get_loops("C")[0], factors=[1.5])
except Exception as error:
    print(type(error).__name__, error)
'''


def said(environment):
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, timeout=100)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout, done.stderr.decode(errors="replace")


@pytest.mark.skipif(shutil.which("localedef") is None or not pathlib.Path("/usr/share/i18n/locales/de_DE").exists(),
                    reason="no localedef, or no locales to make")
@pytest.mark.parametrize("name, charmap", [("de_DE", "UTF-8"), ("tr_TR", "ISO-8859-9")])
def test_the_locale_changes_nothing(tmp_path, name, charmap):
    subprocess.run(["localedef", "-c", "-i", name, "-f", charmap, tmp_path / f"{name}.{charmap}"],
                   capture_output=True, check=False)
    environment = {**os.environ, "LOCPATH": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    plain, point = said({**environment, "LC_ALL": "C"})
    here, comma = said({**environment, "LC_ALL": f"{name}.{charmap}"})
    assert "1.5" in point and "1,5" in comma
    assert here == plain
