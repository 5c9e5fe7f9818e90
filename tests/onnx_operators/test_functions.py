"""Functions that a file defines itself, and what its results are called."""

import os
import subprocess

import numpy as np

from test_conversions import TIRC, floats
from messages import field, function, graph, model, node, reference, tensor, value

X = floats(2, 3)
VALUES = [value("x", "float32", (2, 3))], [value("scores", "float32", (2, 3))]


def with_references(op, inputs, outputs, **references):
    """A node whose attributes are those of the node that calls its function."""
    return node(op, inputs, outputs) + b"".join(field(5, reference(k, of)) for k, of in references.items())


def run(folder, nodes, functions, expected, opset=17):
    (folder / "model.onnx").write_bytes(model(nodes, *VALUES, functions=functions, opset=opset))
    (folder / "input_0.pb").write_bytes(tensor(X))
    (folder / "output_0.pb").write_bytes(tensor(np.asarray(expected, "float32")))
    return subprocess.run([TIRC, "run", folder / "model.onnx", "--test-data", folder], capture_output=True, text=True)


def right(*arguments, **more):
    result = run(*arguments, **more)
    assert result.returncode == 0, result.stdout + result.stderr


TWICE = function("Twice", "mine", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])])


def test_nested_with_names_of_its_own(tmp_path):
    """Inner names are those of the outer graph, too, and mean something else there."""
    four = function("Four", "mine", ["x"], ["scores"], [node("Twice", ["x"], ["a"], domain="mine"), node("Twice", ["a"], ["scores"], domain="mine")])
    nodes = [node("Four", ["x"], ["a"], domain="mine"), node("Four", ["a"], ["b"], domain="mine"), node("Sub", ["b", "x"], ["scores"])]
    right(tmp_path, nodes, [TWICE, four], 15 * X)


def test_attributes(tmp_path):
    """Of the calling node, by default, or left out."""
    leaky = function("Leaky", "mine", ["a"], ["b"], [with_references("LeakyRelu", ["a"], ["b"], alpha="slope")], defaults={"slope": 0.5})
    left = function("Left", "mine", ["a"], ["b"], [with_references("LeakyRelu", ["a"], ["b"], alpha="slope")], attributes=["slope"])
    outer = function("Outer", "mine", ["a"], ["b"], [node("Leaky", ["a"], ["b"], domain="mine") + field(5, reference("slope", "steep"))], attributes=["steep"])
    leaks = lambda slope: np.where(X < 0, X * np.float32(slope), X)
    for op, attributes, slope in [("Leaky", {}, 0.5), ("Leaky", {"slope": 0.25}, 0.25), ("Left", {}, 0.01), ("Outer", {"steep": 2.0}, 2), ("Outer", {}, 0.5)]:
        right(tmp_path, [node(op, ["x"], ["scores"], domain="mine", **attributes)], [leaky, left, outer], leaks(slope))


def test_versions_and_optional_inputs(tmp_path):
    """A function has its own version of the operators; an input may be left out."""
    old = function("Old", "mine", ["a"], ["b"], [node("Softmax", ["a"], ["b"], axis=0)], opset=11)
    e = np.exp(X - X.max())
    right(tmp_path, [node("Old", ["x"], ["scores"], domain="mine")], [old], e / e.sum())
    clip = function("Limit", "mine", ["a", "low", "high"], ["b"], [node("Clip", ["a", "low", "high"], ["b"])])
    right(tmp_path, [node("Limit", ["x"], ["scores"], domain="mine")], [clip], X)


def test_refused(tmp_path):
    circle = function("Circle", "mine", ["a"], ["b"], [node("Circle", ["a"], ["b"], domain="mine")])
    result = run(tmp_path, [node("Circle", ["x"], ["scores"], domain="mine")], [circle], X)
    assert result.returncode == 2 and "call each other" in result.stderr
    result = run(tmp_path, [node("Twice", ["x", "x"], ["scores"], domain="mine")], [TWICE], X)
    assert result.returncode == 2 and "1 inputs" in result.stderr
    loose = function("Loose", "mine", ["a"], ["b"], [node("Add", ["a", "x"], ["b"])])
    result = run(tmp_path, [node("Loose", ["x"], ["scores"], domain="mine")], [loose], X)
    assert result.returncode == 2 and "which nothing gives" in result.stderr


def result_name(folder, nodes):
    (folder / "model.onnx").write_bytes(model(nodes, *VALUES))
    result = subprocess.run([TIRC, "run", folder / "model.onnx"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.split(":")[0]


def test_names_of_results(tmp_path):
    for nodes in ([node("Relu", ["x"], ["h"]), node("Identity", ["h"], ["scores"])], [node("HardSwish", ["x"], ["scores"])],
                  [node("Relu", ["x"], ["scores_"]), node("Add", ["scores_", "x"], ["scores"])],
                  [node("Dropout", ["x"], ["h"]), node("Gelu", ["h"], ["scores"], domain="com.microsoft")]):
        assert result_name(tmp_path, nodes) == "scores"
