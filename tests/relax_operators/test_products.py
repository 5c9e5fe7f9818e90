import numpy as np
import pytest
from harness import check, floats, ints, refused, symbolic

PAIRS = [((4, 5), (5, 3)), ((1, 7), (7, 1)), ((5,), (5,)), ((5,), (5, 3)), ((4, 5), (5,)), ((2, 4, 5), (5, 3)),
         ((2, 1, 4, 5), (3, 5, 2)), ((4, 5), (2, 3, 5, 2)), ((3, 4, 5), (5,)), ((33, 17), (17, 29)), ((1, 1), (1, 1)),
         ((0, 5), (5, 3)), ((4, 0), (0, 3)), ((1, 2, 3, 4, 5), (2, 1, 5, 6))]


@pytest.mark.parametrize("left,right", PAIRS)
def test_matmul(left, right):
    a, b = floats(*left), floats(*right)
    check("matmul", [a, b], (a.astype("float64") @ b).astype("float32"))


def test_types():
    a, b = floats(9, 8, dtype="float16"), floats(8, 7, dtype="float16")
    check("matmul", [a, b], a.astype("float32") @ b.astype("float32"), out_dtype="float32")
    a, b = ints(6, 5, dtype="int8"), ints(5, 4, dtype="int8")
    check("matmul", [a, b], a.astype("int32") @ b, out_dtype="int32")


def test_symbolic():
    def case(n):
        a, b = floats(n, 12, 20), floats(20, 9)
        return [a, b], a @ b
    symbolic("matmul", 3, "n", [1, 3, 8], case)


def test_refused():
    refused("matmul", [floats(4, 5), floats(4, 5)], "(4, 5)", "5 columns", "4 rows")
    refused("matmul", [floats(2, 4, 5), floats(3, 5, 6)], "do not broadcast", "(2, 4, 5)", "(3, 5, 6)")
    refused("matmul", [floats(4, 5), floats(5, 5, dtype="float64")], "float32", "float64")
    refused("matmul", [floats(), floats(4)], "scalar")
