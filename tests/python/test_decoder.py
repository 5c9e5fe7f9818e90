"""The decoder of examples/models: tokens with what was kept are those without it, and what does not go."""

import json
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest
import tirc

MODELS = pathlib.Path(__file__).resolve().parents[2] / "examples/models"
sys.path.append(str(MODELS))
import gpt2  # noqa: E402

SMALL = str(MODELS / "gpt2_small.tir")
SIZES = gpt2.sizes_of(SMALL)
PROMPT = [3, 141, 59, 26, 53]


@pytest.fixture(scope="module")
def weights():
    return dict(gpt2.drawn(SIZES, 0))


@pytest.fixture(scope="module")
def decoder(weights):
    return gpt2.Decoder(SMALL, weights, threads=1)


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


def test_quantized(weights, decoder):
    ids = np.array(PROMPT)
    wanted = decoder.prefill(ids)[1]
    got = tirc.compile(SMALL, entry="prefill", weights=weights, threads=1, quantize="int4", group=16, zero_point=True, only="h_0_mlp*",
                       plain=True)(ids)[1]
    error = np.sqrt(((got - wanted) ** 2).sum() / (wanted ** 2).sum())
    assert 0 < error < 0.3, error


def test_quantize_words(weights):
    with pytest.raises(ValueError, match="int8"):
        tirc.compile(SMALL, entry="decode", weights=weights, quantize="int2")
    with pytest.raises(tirc.TircError, match="no weight is quantized"):
        tirc.compile(SMALL, entry="decode", weights=weights, quantize="int8", only="mlp")
