"""The perceptron of mlp_functions.tir in four variants, beside the times published for such variants: one function for
each operator, fused, with tiles of 64 x 64, and both. All give the same scores and classes.

    python3 variants.py [--seconds 0.3] [--threads 1] [--profile]
"""
import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MODEL, TILES = HERE / "mlp_functions.tir", "--pass=cleanup:%s" % (HERE / "tile_matmul_first.sch")
VARIANTS = [("unfused", 353.32, ["--skip=FuseOps"]), ("fused", 304.37, []), ("tiled", 364.41, [TILES, "--skip=FuseOps"]),
            ("tiled and fused", 312.16, [TILES])]
SHAPES = {"w0": (784, 128), "b0": (128,), "w1": (128, 10), "b1": (10,)}


def tirc(*words):
    done = subprocess.run(["tirc", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def save_weights(path, arrays):
    header, data = {}, b""
    for name, a in arrays.items():
        header[name] = {"dtype": "F32", "shape": a.shape, "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", default="0.3")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--profile", action="store_true", help="show the time of each function, too")
    o = parser.parse_args()
    rng = np.random.default_rng(1)
    rows = {name: [published] for name, published, _ in VARIANTS}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        arrays = {k: (rng.standard_normal(s) * s[0] ** -0.5).astype("float32") for k, s in SHAPES.items()}
        save_weights(folder / "mlp.safetensors", arrays)
        for batch in (1, 64):
            x = rng.random((batch, 784)).astype("float32")  # images
            np.save(folder / "x.npy", x)
            expected = np.maximum(x @ arrays["w0"] + arrays["b0"], 0) @ arrays["w1"] + arrays["b1"]
            for name, _, how in VARIANTS:
                how = [MODEL, "--plain", "--weights", folder / "mlp.safetensors", *how, "--threads", o.threads]
                tirc("run", *how, "--in", "x=%s" % (folder / "x.npy"), "--out", "gv=%s" % (folder / "gv.npy"))
                got = np.load(folder / "gv.npy")
                if np.abs(got - expected).max() > 1e-4 or (got.argmax(1) != expected.argmax(1)).any():
                    sys.exit("%s, batch %d: other scores" % (name, batch))
                told = tirc("bench", *how, "-D", "m=%d" % batch, "--seconds", o.seconds, "--figures", folder / "t.json",
                            *(["--profile"] if o.profile else []))
                if o.profile:
                    print("%s, batch %d\n%s" % (name, batch, told.split("\n", 1)[1]))
                rows[name].append(1e6 * json.loads((folder / "t.json").read_text())["median_seconds"])
    print("%-16s %14s %12s %12s" % ("", "published, us", "batch 1, us", "batch 64, us"))
    for name, times in rows.items():
        print("%-16s %14.2f %12.2f %12.2f" % (name, *times))


main()
