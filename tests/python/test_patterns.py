"""Patterns of graphs in Python: what matches, and what a rewriter may ask."""

import pytest

import tirc as tvm
from tirc import relax
from tirc.relax.dpl import is_const, is_op, is_tuple_get_item, rewrite_call, wildcard


def graph(value, before=""):
    return tvm.parse("""@R.function
def main(a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")):
    with R.dataflow():%s
        gv = %s
        R.output(gv)
    return gv
""" % (before and "\n        " + before, value))["main"]


def doubled(value):
    """What is written for x + x."""
    x = wildcard()
    return rewrite_call(x + x, lambda expr, matchings: relax.op.multiply(matchings[x], relax.const(2.0)), graph(value)).script()


def test_a_part_in_two_places_is_one_value():
    assert "R.multiply(a, " in doubled("R.add(a, a)")
    assert "R.add(a, b)" in doubled("R.add(a, b)")
    assert "R.multiply(b, " in doubled("R.add(R.negative(a), R.add(b, b))")


def test_a_rewriter_cannot_ask_for_values():
    x = wildcard()

    def refused(ask):
        with pytest.raises(TypeError, match="before there is a graph"):
            rewrite_call(is_op("nn.relu")(x), lambda expr, matchings: expr if ask(matchings[x]) else matchings[x], graph("R.nn.relu(a)"))
    refused(lambda m: m.struct_info.dtype == "float32")
    refused(lambda m: m.ndim == 1)
    refused(lambda m: m.shape == (4,))
    refused(lambda m: m.shape[0] == 4)
    refused(lambda m: m.attrs.axis in (0, 1))


def test_constants():
    x, c = wildcard(), is_const()
    made = rewrite_call(is_op("add")(x, c), lambda expr, matchings: relax.op.subtract(matchings[x], matchings[c]),
                        graph('R.add(a, R.const(2.0, "float32"))')).script()
    assert "R.subtract(a, R.const(2" in made


def test_fields():
    x = wildcard()

    f = graph("parts[1]", "parts = R.split(a, 2, axis=0)")

    def replaced(**index):
        part = is_op("split")(x)
        return "R.split" not in rewrite_call(is_tuple_get_item(part, **index), lambda expr, matchings: relax.op.strided_slice(
            matchings[x], [0], [2], [4]), f).script()
    assert replaced() and replaced(index=1) and replaced(index=None) and not replaced(index=0)


def test_an_alternative_is_what_matched():
    x = wildcard()
    either = is_op("negative")(x) | is_op("abs")(x)

    def made(value):
        return rewrite_call(is_op("nn.relu")(either), lambda expr, matchings: relax.op.nn.gelu(matchings[either]), graph(value)).script()
    for inner in ("R.negative(a)", "R.abs(a)"):
        text = made("R.nn.relu(%s)" % inner)
        assert inner in text and "R.nn.gelu" in text and "R.nn.relu" not in text
