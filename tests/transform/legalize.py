"""Graphs of one operator, and the loops that the reference makes of them: both are compiled as they stand and run with the same inputs,
and the numbers are compared.

A pair is `numbers` (the same), or it differs, for a reason.

Usage: legalize.py FILE.jsonl [--expect FILE] [--keep FOLDER] [--show WORD] [--only WORD] [--list]"""

import re
import sys

import numpy as np
import tirc
from tirc import topi
from tirc.script import relax as R

import pairs
from pairs import Reason, short

SIZE = 6  # of symbolic extents
DTYPES = {"bfloat16": "uint16", "bool": "bool"}


def complete(text):
    """A text whose tensors have types where the pair leaves them open."""
    return re.sub(r"R\.Tensor\((\([^()]*\))\)", r'R.Tensor(\1, "float32")', text)


# Operators of the test of unary ones that are not R.NAME and topi.NAME.
UNARY = {"clip": (lambda x: R.clip(x, 3, 8), lambda x: topi.clip(x, 3, 8)), "square": (R.square, lambda x: x * x)}


def given(test):
    """Values of the test's parameters that stand in its name: [abs-relax_op0-te_func0-float32]."""
    name = re.search(r"::test_unary_ops\[(\w+)-", test)
    if not name:
        return None
    known = UNARY.get(name[1]) or (getattr(R, name[1]), getattr(topi, name[1]))
    return {"relax_op": known[0], "te_func": known[1], "dtype": re.search(r"(\w+)\]", test)[1], "name": name[1]}


def read(pair, side):
    text, values = complete(pair[side]["text"]), given(pair["test"])
    try:
        return tirc.script.from_source(text, values) if values else tirc.parse(text)
    except tirc.TVMError as e:
        raise Reason("%s is not read: %s" % (side, short(e))) from None


def compiled(mod, what):
    try:
        return tirc.compile(mod, plain=True)
    except tirc.TVMError as e:
        raise Reason("%s is not compiled: %s" % (what, short(e))) from None


def compiled_before(pair):
    """The pair's graph; a type that it says its result has, and which it has not, is left out, as the reference does not look at it."""
    before = read(pair, "before")
    try:
        return compiled(before, "before")
    except Reason as e:
        if "is said to give" not in str(e):
            raise
    return compiled(read({**pair, "before": {"text": re.sub(r"\) -> R\.Tensor\(.*\):\n", "):\n", pair["before"]["text"])}}, "before"), "before")


def extent(d, sizes):
    """A number, a variable, or an expression of variables, `n * T.int64(3)`."""
    if not isinstance(d, str):
        return d
    expression = re.sub(r"T\.int\d+\((\d+)\)", r"\1", d)
    for name in re.findall(r"[A-Za-z_]\w*", expression):
        sizes.setdefault(name, SIZE)
    return SIZE if d == "?" else eval(expression, {"__builtins__": {}}, sizes)


def array(p, sizes, rng):
    shape = [extent(d, sizes) for d in p.shape]
    if any(d < 0 for d in shape):
        raise Reason("an input's extent is not told")
    dtype = np.dtype(DTYPES.get(p.dtype, p.dtype))
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        return rng.uniform(0.5, 2, shape).astype(dtype)  # where logarithms and roots are numbers
    return rng.integers(1, 3, shape).astype(dtype)  # numbers that divide, and indices that are there


def run(model, arrays, what):
    try:
        got = model(*arrays)
    except tirc.TVMError as e:
        raise Reason("%s is not run: %s" % (what, short(e))) from None
    return got if isinstance(got, tuple) else (got,)


def judged(pair):
    _, after = read(pair, "before"), read(pair, "after")
    theirs = compiled(after, "after")
    ours = compiled_before(pair)
    rng, sizes = np.random.default_rng(1), {}
    if len(ours.inputs) != len(theirs.inputs):
        raise Reason("other inputs")
    arrays = [array(p, sizes, rng) for p in ours.inputs]
    a, b = run(ours, arrays, "before"), run(theirs, arrays, "after")
    if len(a) != len(b) or any(x.shape != y.shape or x.dtype != y.dtype for x, y in zip(a, b)):
        return "differs: other shapes or types"
    for x, y in zip(a, b):
        near = 1e-2 if x.dtype == "float16" else 1e-4
        if not np.allclose(x.astype("float64"), y.astype("float64"), rtol=near, atol=near / 10, equal_nan=True):
            return "differs: other numbers"
    return "numbers"


def show(pair):
    print(pair["before"]["text"], pair["after"]["text"], sep="\n--- after\n")


def operator(pair):
    """operators"""
    found = [name for name in re.findall(r"R\.([a-z_.0-9]+)\(", pair["before"]["text"]) if name not in ("function", "const", "output", "dataflow")]
    return found[0] if found else re.search(r"::test_(\w+)", pair["test"]).group(1)


def first_lines(n, count):
    return ("# The reference's loops for operators, and ours",
            "Of %d graphs of one operator, %d compute the same as the loops that the reference makes of them, whatever type their tests say that the result has; "
            "those of unary operators call `topi` in the place of loops, by `R.emit_te`, with the values that stand in the test's name. The others, by reason; "
            "`tests/transform/legalize.py` writes this page." % (n, count["numbers"]))


REASONS = [
    ("'transformation' is not defined", "the pair does not have the test's index map"),
    ("kind of expression", "the graph gives a function's type as a struct info"),
    ("R.call_pure_packed", "packed functions that give a tensor are not called: `R.call_dps_packed`"),
    ("no operator", "an operator that there is not"),
    ("is not a tensor of a known shape", "a parameter whose type is not told"),
    ("nothing tells what", "an extent that no input tells"),
    ("other numbers", "other numbers"),
    ("is not compiled", "not compiled, for other reasons"),
    ("is not read", "not read, for other reasons"),
    ("is not run", "not run"),
]

if __name__ == "__main__":
    sys.exit(pairs.main(pairs.Suite(("numbers",), judged, show, REASONS, first_lines, 60_000, 450_000, operator)))
