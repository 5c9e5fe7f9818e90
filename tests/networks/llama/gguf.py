"""Writes a model of GPT-2's shape with seeded weights as a file of GGUF (version 3), for llama.cpp: gguf.py OUT f32|q8_0|q4_0 [LAYERS]

Numbers of 8 bits have a scale a group of 32, of 4 bits likewise, around 0; vectors and places stay floats."""
import struct
import sys

import numpy as np

WIDTH, HEADS, VOCABULARY, PLACES, WIDE = 768, 12, 50257, 1024, 3072
TYPES = {"f32": 0, "q8_0": 8, "q4_0": 2}


def text(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()


def entry(key, kind, value):
    form = {4: "<I", 6: "<f"}
    return text(key) + struct.pack("<I", kind) + (text(value) if kind == 8 else struct.pack(form[kind], value))


def array(key, kind, n, data):
    return text(key) + struct.pack("<IIQ", 9, kind, n) + data


def entries(layers):
    numbers = {"context_length": PLACES, "embedding_length": WIDTH, "feed_forward_length": WIDE, "block_count": layers, "attention.head_count": HEADS}
    words = [text("t%d" % i if i > 255 else chr(33 + i % 90) + str(i)) for i in range(VOCABULARY)]
    return ([entry("general.architecture", 8, "gpt2"), entry("general.name", 8, "seeded"), entry("gpt2.attention.layer_norm_epsilon", 6, 1e-5)] +
            [entry("gpt2." + k, 4, v) for k, v in numbers.items()] +
            [entry("tokenizer.ggml.model", 8, "gpt2"), entry("tokenizer.ggml.pre", 8, "gpt-2")] +
            [entry("tokenizer.ggml.%s_token_id" % k, 4, VOCABULARY - 1) for k in ("bos", "eos")] +
            [array("tokenizer.ggml.tokens", 8, VOCABULARY, b"".join(words)), array("tokenizer.ggml.merges", 8, 1, text("t 1")),
             array("tokenizer.ggml.token_type", 5, VOCABULARY, struct.pack("<%di" % VOCABULARY, *([1] * (VOCABULARY - 1) + [3])))])


def floats(a):
    return a.tobytes()


def eight(a):
    groups = a.reshape(-1, 32)
    scale = np.abs(groups).max(1) / 127
    out = np.empty((len(groups), 34), np.uint8)
    out[:, :2] = scale.astype(np.float16).view(np.uint8).reshape(-1, 2)
    out[:, 2:] = np.rint(groups / np.where(scale == 0, 1, scale)[:, None]).astype(np.int8).view(np.uint8)
    return out.tobytes()


def four(a):
    groups = a.reshape(-1, 32)
    scale = groups[np.arange(len(groups)), np.abs(groups).argmax(1)] / -8
    q = np.clip(np.trunc(groups / np.where(scale == 0, 1, scale)[:, None] + 8.5), 0, 15).astype(np.uint8)
    out = np.empty((len(groups), 18), np.uint8)
    out[:, :2] = scale.astype(np.float16).view(np.uint8).reshape(-1, 2)
    out[:, 2:] = q[:, :16] | (q[:, 16:] << 4)
    return out.tobytes()


def tensors(kind, layers):
    rng = np.random.default_rng(0)
    coded = {"f32": floats, "q8_0": eight, "q4_0": four}[kind]

    def matrix(name, rows, columns, few=True):
        a = (rng.standard_normal((rows, columns)) * 0.02).astype(np.float32)
        return name, a.shape, TYPES[kind] if few else 0, coded(a) if few else floats(a)

    def vector(name, n):
        a = np.full(n, name.endswith("norm.weight"), np.float32)
        return name, a.shape, 0, floats(a)
    yield matrix("token_embd.weight", VOCABULARY, WIDTH)
    yield matrix("position_embd.weight", PLACES, WIDTH, False)
    yield from (vector("output_norm." + k, WIDTH) for k in ("weight", "bias"))
    yield matrix("output.weight", VOCABULARY, WIDTH)
    for i in range(layers):
        yield from (vector("blk.%d.%s_norm.%s" % (i, n, k), WIDTH) for n in ("attn", "ffn") for k in ("weight", "bias"))
        for name, rows, columns in (("attn_qkv", 3 * WIDTH, WIDTH), ("attn_output", WIDTH, WIDTH), ("ffn_up", WIDE, WIDTH), ("ffn_down", WIDTH, WIDE)):
            yield matrix("blk.%d.%s.weight" % (i, name), rows, columns)
            yield vector("blk.%d.%s.bias" % (i, name), rows)


def main():
    out, kind = sys.argv[1:3]
    made = list(tensors(kind, int(sys.argv[3]) if len(sys.argv) > 3 else 12))
    meta, offset = entries(12 if len(sys.argv) < 4 else int(sys.argv[3])), 0
    head = b"GGUF" + struct.pack("<IQQ", 3, len(made), len(meta)) + b"".join(meta)
    for name, shape, number, data in made:
        head += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape)) + struct.pack("<IQ", number, offset)
        offset += (len(data) + 31) // 32 * 32
    with open(out, "wb") as f:
        f.write(head + b"\0" * (-len(head) % 32))
        for _, _, _, data in made:
            f.write(data + b"\0" * (-len(data) % 32))


main()
