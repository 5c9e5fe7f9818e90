"""Runs last: whether each operator of the table was checked, or, where a sample of the tests runs, stands in one."""

import ast
import pathlib
import re

import every
import harness
import pytest

HERE = pathlib.Path(__file__).resolve()
TABLE = HERE.parents[2] / "passes/module/operators/table.sch"


def test_all_checked(request):
    tree = ast.parse(TABLE.read_text())
    names = {key.value for key in tree.body[-1].value.keys}
    assert len(names) > 100
    if every.EVERY == 1 and len(request.session.items) < 200:
        pytest.skip("not all tests run")
    written = "".join(p.read_text() for p in HERE.parent.glob("test_*.py"))
    checked = harness.CHECKED if every.EVERY == 1 else set(re.findall(r"[\w.]+", written))
    assert names - checked == set()
