"""The runner of pairs of programs: what it does not count as right."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "transform"))
import transform  # noqa: E402
from pairs import Reason  # noqa: E402


def test_not_read_is_not_refused():
    text = "@T.prim_func\ndef f(A: T.Buffer((8,), \"int32\")):\n    n = T.Var(\"n\", dtype=\"int32\")\n"
    text += "    for i in T.vectorized(n):\n        A[i] = 3\n"
    with pytest.raises(Reason, match="n is used where it is not defined"):
        transform.judged({"test": "t", "passes": [["VectorizeLoop"]], "before": {"text": text}, "raises": "TVMError"})
