"""Graphs of one operator, and the loops that the reference makes of them: both are compiled as they stand and run with the same inputs,
and the numbers are compared.

A pair is `numbers` (the same) or `refused` (what one refuses the other does, too), or it differs, for a reason.

Usage: legalize.py FILE.jsonl [--expect FILE] [--keep FOLDER] [--show WORD] [--list]"""

import re
import sys

import numpy as np
import tirc

import pairs
from pairs import Reason, short

SIZE = 6  # of symbolic extents, unless a pair of them has to divide: then it is made of them
DTYPES = {"bfloat16": "uint16", "bool": "bool"}


def read(side, what):
    try:
        return tirc.parse(side["text"])
    except tirc.TVMError as e:
        raise Reason("%s is not read: %s" % (what, short(e))) from None


def compiled(mod, what):
    try:
        return tirc.compile(mod, plain=True)
    except tirc.TVMError as e:
        raise Reason("%s is not compiled: %s" % (what, short(e))) from None


def array(p, sizes, rng):
    shape = [sizes.setdefault(d, SIZE) if isinstance(d, str) else d for d in p.shape]
    if any(d < 0 for d in shape):
        raise Reason("an input's extent is an expression")
    dtype = np.dtype(DTYPES.get(p.dtype, p.dtype))
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        return rng.uniform(0.5, 2, shape).astype(dtype)  # where logarithms and roots are numbers
    return rng.integers(1, 4, shape).astype(dtype)


def run(model, arrays, what):
    try:
        got = model(*arrays)
    except tirc.TVMError as e:
        raise Reason("%s is not run: %s" % (what, short(e))) from None
    return got if isinstance(got, tuple) else (got,)


def judged(pair):
    before, after = read(pair["before"], "before"), read(pair["after"], "after")
    theirs = compiled(after, "after")
    ours = compiled(before, "before")
    rng, sizes = np.random.default_rng(1), {}
    if len(ours.inputs) != len(theirs.inputs):
        raise Reason("other inputs")
    arrays = [array(p, sizes, rng) for p in ours.inputs]
    a, b = run(ours, arrays, "before"), run(theirs, arrays, "after")
    if len(a) != len(b) or any(x.shape != y.shape or x.dtype != y.dtype for x, y in zip(a, b)):
        return "differs: other shapes or types"
    for x, y in zip(a, b):
        if not np.allclose(x.astype("float64"), y.astype("float64"), rtol=1e-4, atol=1e-5, equal_nan=True):
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
            "Of %d graphs of one operator, %d compute the same as the loops that the reference makes of them. The others, by reason; "
            "`tests/transform/legalize.py` writes this page." % (n, count["numbers"]))


REASONS = []

if __name__ == "__main__":
    sys.exit(pairs.main(pairs.Suite(("numbers", "refused"), judged, show, REASONS, first_lines, 60_000, 700_000, operator)))
