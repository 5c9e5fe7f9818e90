"""Models as C: strict.py TIRC OUT [--every N] [--draw N] [--seed S]

Each is compiled by every compiler without a word (compilers.py), and computes what `tirc run` does: the models of this folder,
those of one node that the tests of conversions have (--every N: every Nth), and random ones.
"""
import argparse
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import zlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "onnx"), str(HERE.parent / "onnx_operators")]
from compilers import compiled, model_of  # noqa: E402
from draw import draw  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("tirc")
parser.add_argument("out", type=pathlib.Path)
parser.add_argument("--every", type=int, default=1)
parser.add_argument("--draw", type=int, default=10)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()
tirc, out = os.path.abspath(options.tirc), options.out
os.environ["TIRC"] = tirc
from messages import model, node, tensor, value  # noqa: E402
import test_conversions as conversions  # noqa: E402

PLACES = ([], ["--weights-out", str(out / "block")], ["--weights-inside"])
failures = passed = refused = 0


def tirc_says(*words):
    done = subprocess.run([tirc, *map(str, words)], capture_output=True, text=True)
    if done.returncode > 2 or done.returncode < 0:
        raise AssertionError("%s ends with %d: %s" % (words, done.returncode, done.stderr[-500:]))
    return done


def save_weights(arrays):
    path, header, at = out / "w.safetensors", {}, 0
    for name, a in arrays.items():
        header[name] = {"dtype": "F" + str(a.itemsize * 8), "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(a.tobytes() for a in arrays.values()))
    return ["--weights", path]


def same(got, want):
    if want.dtype.kind != "f":
        return np.array_equal(got, want)
    with np.errstate(all="ignore"):
        error = 1e-4 if want.dtype == "float32" else 1e-10
        return np.allclose(got, want, rtol=error, atol=error, equal_nan=True)


def counted(got, wanted):
    """Of a result of which only the run tells the rows: `tirc run` writes those, and C has room for the most."""
    shorter = [d for d in range(got.ndim) if wanted.ndim == got.ndim and wanted.shape[d] < got.shape[d]]
    return got[tuple(map(slice, wanted.shape))] if len(shorter) == 1 else got


def through_c(path, words, place, given, run_words, inputs):
    """`given` are inputs and weights by name; the same model by `tirc run` with run_words says what must come out."""
    without_extensions = ["--portable"] if (passed + failures) % 3 == 2 else []
    built = tirc_says("build", path, *words, *place, *without_extensions, "--emit=c", "-o", out / "model.c")
    if built.returncode:
        return False
    tirc_says("build", path, *words, *place, "--emit=header", "-o", out / "model.h")
    library = compiled(out / "model.c")
    library = library.rename(out / ("model%d.so" % (passed + failures)))  # or a loaded one of that name answers
    params, call = model_of(out / "model.h", library, path.stem)
    library.unlink()
    arrays = {}
    for p, (dtype, shape, role) in params.items():
        arrays[p] = np.full(shape, 77, dtype) if role == "written" else np.ascontiguousarray(given[p])
    call(arrays, (out / "block").read_bytes() if place[:1] == ["--weights-out"] else None)
    for p, a in inputs.items():
        np.save(out / (p + ".npy"), a)
    results = [p for p, (_, _, role) in params.items() if role == "written"]
    told = tirc_says("run", path, *run_words, *[w for p in inputs for w in ("--in", "%s=%s" % (p, out / (p + ".npy")))],
                     "--out", out / "results.npz")
    assert told.returncode == 0, told.stderr
    wanted = np.load(out / "results.npz")
    for p, run_name in zip(results, wanted.files[-len(results):]):
        want = wanted[run_name]
        got = counted(arrays[p], want)
        assert got.shape == want.shape and same(got, want), "%s is\n%.500s\nnot\n%.500s" % (p, got, want)
    return True


def test(what, *arguments):
    global failures, passed, refused
    try:
        if through_c(*arguments):
            passed += 1
        else:
            refused += 1
    except AssertionError as error:
        failures += 1
        print("%s: %s" % (what, error), flush=True)


def text_model(what, path, dtype, inputs, weights, place, special=False):
    rng = np.random.default_rng(zlib.crc32(what.encode()))
    arrays = {p: rng.uniform(-1, 1, shape).astype(dtype) for p, shape in {**inputs, **weights}.items()}
    for a in arrays.values() if special else ():
        places = rng.random(a.shape) < 0.1
        a[places] = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e30], places.sum())
    words = save_weights({p: arrays[p] for p in weights}) if weights else []
    test(what, path, words if place else [], place if weights else [], arrays, words, {p: arrays[p] for p in inputs})


def one_node_model(what, case, place):
    """Operands behind the first are weights, too: constants of the file."""
    op, inputs, outputs, opset, attributes = case
    domain, name = op.rsplit(".", 1) if "." in op else ("", op)
    kept = {"x%d" % i: np.asarray(a) for i, a in enumerate(inputs) if a is not None}
    ends = [["" if a is None else "%s%d" % (c, i) for i, a in enumerate(end)] for c, end in (("x", inputs), ("y", outputs))]
    fed = {p: a for i, (p, a) in enumerate(kept.items()) if i == 0}
    path = out / "model.onnx"
    path.write_bytes(model([node(name, *ends, domain=domain, **attributes)], [value(p, str(a.dtype), a.shape) for p, a in fed.items()],
                           [value("y%d" % i, str(np.asarray(a).dtype), np.asarray(a).shape) for i, a in enumerate(outputs) if a is not None],
                           [tensor(a, p) for p, a in kept.items() if p not in fed], opset=opset))
    test(what, path, [], place, kept, [], fed)


def shapes_in(text):
    """Of a model's text, the type of main's parameters, the shapes of the inputs and those of the weights."""
    head = re.search(r"def main\((.*?)\):\n(.*?)\n", text, re.S)
    shapes = {p: tuple(int(e) for e in re.findall(r"\d+", s)) for p, s in re.findall(r"(\w+): R.Tensor\(\((.*?)\)", head.group(1))}
    told = re.search(r"num_input\": (\d+)", text)
    n = int(told.group(1)) if told else len(shapes)
    dtype = re.search(r"\"(float\d+)\"", head.group(1)).group(1)
    return dtype, dict(list(shapes.items())[:n]), dict(list(shapes.items())[n:])


for path in sorted(HERE.glob("*.tir")):
    for place in PLACES:
        text_model("%s %s" % (path.name, " ".join(place)), path, *shapes_in(path.read_text()), place)
for i, case in enumerate(conversions.CASES):
    if i % options.every == 0:
        one_node_model("case %d, %s" % (i, case[0]), case, PLACES[1 + i // options.every % 2])
for i in range(options.draw):
    text, dtype, inputs, weights = draw(options.seed * 1000003 + i)
    path = out / "drawn.tir"
    path.write_text(text)
    before = failures
    text_model("model %d" % i, path, dtype, inputs, weights, PLACES[i % 3], i % 4 == 1)
    if failures > before:
        print(text)
print("%d passed, %d failed, %d refused" % (passed, failures, refused))
sys.exit(failures > 0 or not passed)
