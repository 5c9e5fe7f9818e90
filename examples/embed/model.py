"""A model called from Python: python3 model.py [FILE.onnx|FILE.tir [WEIGHTS.safetensors]]"""

import pathlib
import sys

import numpy
import tirc

model = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1] / "models" / "mlp.tir"
weights = sys.argv[2] if len(sys.argv) > 2 else None
rng = numpy.random.default_rng(0)


def random(p):
    """Extents with a name are 1 here; the shape of an array determines them."""
    return rng.standard_normal([e if isinstance(e, int) else 1 for e in p.shape]).astype(p.dtype)


if weights is None and not str(model).endswith(".onnx"):
    shapes = {"w0": (784, 128), "b0": (128,), "w1": (128, 10), "b1": (10,)}
    weights = {name: rng.standard_normal(shape).astype("float32") for name, shape in shapes.items()}
run = tirc.compile(model, target="native", weights=weights)
results = run(*map(random, run.inputs))
for p, y in zip(run.outputs, results if isinstance(results, tuple) else (results,)):
    print(p.name, y.shape, y.ravel()[:4])
