"""The decoder of examples/models: tokens with what was kept are those without it, and what does not go."""

import json
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest
import tirc

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MODELS = SOURCE / "examples/models"
sys.path[:0] = [str(MODELS), str(SOURCE / "tests/networks")]  # in front of packages of the same names
import decoder as file_of_onnx  # noqa: E402
import gpt2  # noqa: E402
import onnxruntime  # noqa: E402

SMALL = str(MODELS / "gpt2_small.tir")
SIZES = gpt2.sizes_of(SMALL)
PROMPT = [3, 141, 59, 26, 53]


@pytest.fixture(scope="module")
def weights():
    return dict(gpt2.drawn(SIZES, 0))


@pytest.fixture(scope="module")
def decoder(weights):
    return gpt2.Decoder(SMALL, weights, threads=1)


def test_modules_are_ours():
    assert all(pathlib.Path(m.__file__).is_relative_to(SOURCE) for m in (file_of_onnx, gpt2, onnxruntime))


def test_texts():
    for name, words in (("gpt2_small.tir", "--layers 2 --width 64 --heads 4 --vocabulary 211 --positions 128"), ("gpt2.tir", "")):
        made = subprocess.run([sys.executable, MODELS / "gpt2.py", "text", *words.split()], capture_output=True, text=True, check=True).stdout
        assert made == (MODELS / name).read_text(), name


def test_tokens(decoder):
    tokens = [decoder.start(PROMPT)]
    while len(tokens) < 64:
        tokens.append(decoder.next(tokens[-1]))
    assert len(set(tokens)) > 5, tokens
    again = [decoder.start(PROMPT + tokens[:i]) for i in range(64)]
    assert again == tokens


def test_in_place(decoder):
    """Results that begin where the cache does, results of their own, and what overlaps otherwise."""
    decoder.start(PROMPT)
    n = len(PROMPT)
    past = {"past_" + k: a[:n].copy() for k, a in decoder.kept.items()}
    apart = decoder.decode(ids=np.array([7]), **past)
    before = {k: a[:n].copy() for k, a in decoder.kept.items()}
    token = decoder.next(7)
    assert token == apart[0][0] and decoder.length == n + 1
    for (k, a), other in zip(decoder.kept.items(), apart[2:]):
        assert (a[:n] == before[k]).all() and (a[:n + 1] == other).all(), k
    shifted = {k: a[1:n + 2] for k, a in decoder.kept.items()}
    with pytest.raises(tirc.TircError, match="overlaps"):
        decoder.decode.into(shifted, ids=np.array([7]), **{"past_" + k: a[:n] for k, a in decoder.kept.items()})
    with pytest.raises(tirc.TircError, match='no result "key_0"; the results are token, logits, keys_0'):
        decoder.decode.into({"key_0": 1}, ids=np.array([7]), **past)


def test_bounds(decoder, weights):
    full = {"past_" + k: np.zeros((SIZES.positions, SIZES.width), "float32") for k in decoder.kept}
    with pytest.raises(tirc.TircError, match="128"):
        decoder.decode(ids=np.array([7]), **full)
    with pytest.raises(tirc.TircError, match="outside of 0 to 128"):
        decoder.prefill(np.zeros(129, "int64"))
    with pytest.raises(tirc.TircError, match="wte_weight"):
        tirc.compile(SMALL, entry="prefill", weights={**weights, "wte_weight": weights["wte_weight"][:, :32].copy()}, threads=1, plain=True)(np.array(PROMPT))


def test_onnx(tmp_path, decoder):
    """The same graph as a file of ONNX: its results are those of the text, and ONNX Runtime's where that is installed."""
    path, n, rng = tmp_path / "model.onnx", 12, np.random.default_rng(7)
    path.write_bytes(file_of_onnx.Writer(SIZES, 0).bytes())
    given = {"ids": np.array([7]), **{"past_" + k: rng.standard_normal((n, SIZES.width), "float32") for k in decoder.kept}}
    wanted = decoder.decode(**given)
    results = [tirc.compile(str(path), threads=1, plain=True)(**given)]
    if onnxruntime.exists():
        results.append(onnxruntime.Session(str(path))(list(given.values())))
    for got in results:
        assert len(got) == len(wanted) == 2 + 2 * SIZES.layers
        for a, b in zip(got, wanted):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def test_stored(tmp_path, weights):
    def write(path, change=()):
        header, data = {}, b""
        for name, shape in gpt2.weights_of(SIZES):
            array = dict(change).get(name, weights[gpt2.spelled(name)])
            header["transformer." + name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
            data += array.tobytes()
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    write(tmp_path / "good.safetensors")
    stored = dict(gpt2.stored(SIZES, tmp_path / "good.safetensors"))
    assert stored.keys() == weights.keys() and all((stored[k] == weights[k]).all() for k in weights)
    write(tmp_path / "wide.safetensors", [("h.1.mlp.c_fc.weight", np.zeros((64, 128), "float32"))])
    with pytest.raises(SystemExit, match=r"h.1.mlp.c_fc.weight is F32\[64, 128\], and \[64, 256\] is wanted"):
        dict(gpt2.stored(SIZES, tmp_path / "wide.safetensors"))


def test_several_graphs():
    with pytest.raises(tirc.TircError, match="no graph 'decoder': prefill, decode"):
        tirc.compile(SMALL, entry="decoder", weights={})


def error_of(got, wanted):
    return np.sqrt(((got - wanted) ** 2).sum() / (wanted ** 2).sum())


def test_quantized(weights, decoder):
    ids = np.array(PROMPT)
    wanted = decoder.prefill(ids)[1]
    got = tirc.compile(SMALL, entry="prefill", weights=weights, threads=1, quantize="int4", group=16, zero_point=True, only="h_0_mlp*",
                       plain=True)(ids)[1]
    assert 0 < error_of(got, wanted) < 0.3
    got = tirc.compile(SMALL, entry="prefill", weights=weights, threads=1, activations="int8", plain=True)(ids)[1]
    assert 0 < error_of(got, wanted) < 0.05
    few = dict(entry="prefill", weights=weights, threads=1, quantize="int4", group=32, plain=True, target="native")
    alone, both = (tirc.compile(SMALL, **few, **more)(ids)[1] for more in ({}, {"activations": "int8"}))
    assert 0 < error_of(both, alone) < 0.05


def test_quantize_words(weights):
    with pytest.raises(ValueError, match="int8"):
        tirc.compile(SMALL, entry="decode", weights=weights, quantize="int2")
    with pytest.raises(ValueError, match="activations is \"int8\", not 'int4'"):
        tirc.compile(SMALL, entry="decode", weights=weights, activations="int4")
    with pytest.raises(tirc.TircError, match="no weight is quantized"):
        tirc.compile(SMALL, entry="decode", weights=weights, quantize="int8", only="mlp")
