"""Every recorded case and every example schedule, with its script run by Python itself: each call
goes through a method of tirc.Schedule. The verdict, the code and the program must be those that the
library's own script interpreter comes to."""

import sys

import pytest

import tirc
from support import CASES, EXAMPLES, MATMUL, constants_of, parts_of, run_python

pytestmark = pytest.mark.filterwarnings("ignore::tirc.ScheduleWarning")
FILES = sorted(p for d in ("own", "verdicts", "results") for p in (CASES / d).glob("*.case"))


def outcome(work):
    try:
        return None, work()
    except tirc.TVMError as e:
        return e, None


def named(path):
    return "%s/%s" % (path.parent.name, path.stem)


@pytest.mark.parametrize("path", FILES, ids=named)
def test_case(path):
    head, parts = parts_of(path)
    mod, text = tirc.parse(parts["program"]), parts["schedule"]
    by_script, expected = outcome(lambda: tirc.schedule_script(mod, text))
    sch = tirc.Schedule(mod)
    error, _ = outcome(lambda: run_python(sch, text, str(path) + ".py", constants_of(parts["program"])))
    if by_script is None:
        assert error is None, error
        tirc.assert_structural_equal(sch.mod, expected)
        return
    assert error is not None, "the script fails with %s" % by_script.code
    assert (type(error), error.code, error.message, error.condition, error.call) == (
        type(by_script), by_script.code, by_script.message, by_script.condition, by_script.call)


def is_library(path):
    """The exercise of a lesson whose checker says that it is one."""
    checker = path.parent / "check.sch"
    return checker.exists() and checker.read_text().startswith("# rules")


# Those of the lessons' checkers and of the recipes are no schedules of their own: the ones follow on
# a schedule and a prelude, the others are imported. Nor are operators of one's own, nor passes over models.
SCRIPTS = sorted(p for p in EXAMPLES.rglob("*.sch")
                 if p.name not in ("check.sch", "solution.sch") and p.parent.name not in ("recipes", "own_operators", "models", "dataflow"))  # of an array, PX and PY are its extents
SCHEDULES = [p for p in SCRIPTS if not is_library(p)]
LIBRARIES = [p for p in SCRIPTS if is_library(p)]


@pytest.mark.parametrize("path", LIBRARIES, ids=named)
def test_library(path):
    mod = tirc.read(next(path.parent.glob("*.tir")))
    scheduled = tirc.auto(mod, rules=str(path))
    tirc.assert_structural_equal(scheduled, tirc.schedule_script(mod, scheduled.trace_script()))


def program_of(path):
    """The program beside a schedule; those of a study are schedules of the matmul that it measures."""
    return next((p for p in path.parent.glob("*.tir") if p.name != "goal.tir"), EXAMPLES / "matmul" / "matmul.tir")


@pytest.mark.parametrize("path", SCHEDULES, ids=named)
def test_example(path):
    program = program_of(path)
    mod, text = tirc.read(program), path.read_text()
    by_script, expected = outcome(lambda: tirc.schedule_script(mod, text, str(path)))
    sch = tirc.Schedule(mod)
    error, _ = outcome(lambda: run_python(sch, text, str(path), constants_of(program.read_text())))
    assert getattr(error, "code", None) == getattr(by_script, "code", None)
    if error is None:
        tirc.assert_structural_equal(sch.mod, expected)
        assert str(sch.trace)


@pytest.mark.parametrize("p", tirc.primitives(), ids=lambda p: p.name)
def test_example_of_the_documentation(p):
    """Every primitive, by the example that its help gives."""
    assert "sch.%s(" % p.name in p.example
    mod = tirc.parse(p.program)
    by_script, sch = tirc.Schedule(mod, seed=1), tirc.Schedule(mod, seed=1)
    by_script.run_script(p.example)
    run_python(sch, p.example, "<example %s>" % p.name, constants_of(p.program))
    tirc.assert_structural_equal(sch.mod, by_script.mod)
    assert str(sch.trace) == str(by_script.trace)


def test_scripts_import_one_package():
    """What a script imports of tvm are the package's own modules, and no second copies that raise errors of their own."""
    run_python(tirc.Schedule(tirc.parse(MATMUL)), "from tvm.tir.tensor_intrin.cuda import get_wmma_intrin_group\n", "import.py")
    assert not [name for name in sys.modules if name.startswith("tvm.")]
    assert tirc.tir.tensor_intrin.__name__ == "tirc.tir.tensor_intrin"
