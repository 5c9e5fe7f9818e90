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
    # The name of the function is all that differs.
    tirc.assert_structural_equal(tirc.IRModule({"main": sch.mod["matmul"]}), expected.mod)
    assert str(sch.trace).replace('"matmul"', '"main"') == str(expected.trace)


def test_it_is_written_for_tvm():
    """The same file as it stands, where TVM is installed."""
    pytest.importorskip("tvm")
    spec = importlib.util.spec_from_file_location("rule_based_tvm", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main().mod is not None


# The reference's signatures, written down by hand from its documentation.
SIGNATURES = {
    "get_block": "(self, name, func_name=None)",
    "split": "(self, loop, factors, preserve_unit_iters=True, disable_predication=False)",
    "fuse": "(self, *loops, preserve_unit_iters=True)",
    "reorder": "(self, *ordered_loops)",
    "compute_at": "(self, block, loop, preserve_unit_loops=False, index=-1)",
    "cache_read": "(self, block, read_buffer_index, storage_scope, consumer_blocks=None)",
    "sample_perfect_tile": "(self, loop, n, max_innermost_factor=16, decision=None)",
    "transform_layout": "(self, block, buffer, index_map, pad_value=None, *, assume_injective_transform=False)",
    "tensorize": "(self, block_or_loop, tensor_intrin, preserve_unit_iters=True)",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name):
    assert str(inspect.signature(getattr(tirc.Schedule, name))) == SIGNATURES[name]


def test_methods_come_from_the_table():
    for p in tirc.primitives():
        method = getattr(tirc.Schedule, p.name)
        assert method.__doc__.startswith(p.help)
        assert len(inspect.signature(method).parameters) == 1 + len(p.params)
