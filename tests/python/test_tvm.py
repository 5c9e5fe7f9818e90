"""Code written for tvm.tir.Schedule runs by changing the import."""

import importlib.util
import inspect
import pathlib

import pytest

import tirc
from support import EXAMPLES

SOURCE = pathlib.Path(__file__).with_name("rule_based_tvm.py")


def test_rule_based_schedule_by_changing_the_import(tmp_path):
    text = SOURCE.read_text()
    changed = text.replace("\nimport tvm\n", "\nimport tirc as tvm\n").replace(
        "\nfrom tvm.script import tir as T\n", "\nfrom tirc.script import tir as T\n")
    assert sum(a != b for a, b in zip(text.split("\n"), changed.split("\n"))) == 2
    path = tmp_path / "rule_based.py"
    path.write_text(changed)
    spec = importlib.util.spec_from_file_location("rule_based", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sch = module.main()
    script = (EXAMPLES / "matmul" / "rule_based.sch").read_text()
    mod = tirc.read(EXAMPLES / "matmul" / "matmul.tir")
    expected = tirc.Schedule(mod)
    expected.run_script(script)
    tirc.assert_structural_equal(sch.mod, expected.mod)
    assert str(sch.trace) == str(expected.trace)


def test_it_is_written_for_tvm():
    """The same file as it stands, where TVM is installed."""
    pytest.importorskip("tvm")
    spec = importlib.util.spec_from_file_location("rule_based_tvm", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main().mod is not None


def rows(part):
    """The signatures of a part of tests/signatures.txt, {name: text}."""
    lines = (pathlib.Path(__file__).parents[1] / "signatures.txt").read_text().split("\n")
    inside = lines[lines.index(part) + 1:]
    heads = [line for line in inside if line and not line.startswith((" ", "#"))]
    end = heads.index("methods") if "methods" in heads else len(heads)
    return {head.partition("(")[0]: head for head in heads[:end]}


def signature(name, f, first="self"):
    text = str(inspect.signature(f)).replace("'", '"')
    return name + text.replace("(%s, " % first, "(").replace("(%s)" % first, "()")


@pytest.mark.parametrize("name", [p.name for p in tirc.primitives()])
def test_signatures(name):
    assert signature(name, getattr(tirc.Schedule, name)) == rows("primitives")[name]


def test_no_primitive_is_missing():
    assert sorted(rows("primitives")) == sorted(p.name for p in tirc.primitives())


@pytest.mark.parametrize("name", [name for name in rows("methods") if name != "Schedule"])
def test_signatures_of_methods(name):
    assert signature(name, getattr(tirc.Schedule, name)) == rows("methods")[name]


def test_signature_of_the_constructor():
    own = signature("Schedule", tirc.Schedule.__init__)
    assert own.replace(", target=None, strict=False, dialect=None", "") == rows("methods")["Schedule"]


def test_methods_come_from_the_table():
    for p in tirc.primitives():
        method = getattr(tirc.Schedule, p.name)
        assert method.__doc__.startswith(p.help)
        assert len(inspect.signature(method).parameters) == 1 + len(p.params)


def test_what_is_missing_is_said():
    """A name that neither the language nor the package has is no stand-in that counts as true."""
    for path, words in (("ir_builder", "use instead: write"), ("call_pure_extren", "use instead: T.call_pure_extern"),
                        ("For_", "tirc.tir has no 'For_'"), ("grid", "tirc.tir has no 'grid'")):
        with pytest.raises(AttributeError, match=words):
            getattr(tirc.tir, path)
    assert tirc.tirx.transform is tirc.tir.transform
    for name in ("max", "exp", "int64", "float32x4", "const", "if_then_else", "Select", "Cast", "IntImm", "Var", "BufferLoad"):
        assert hasattr(tirc.tir, name)
    with pytest.raises(TypeError, match="T.max is not known"):
        bool(tirc.tir.max)
    with pytest.raises(TypeError):
        assert tirc.tir.max(1, 2)
