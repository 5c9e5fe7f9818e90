"""Small checkpoints, without elements that anyone reads: checkpoints.py FOLDER"""
import io, json, os, struct, sys, zipfile

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def write(name, data):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def header(shapes, width=4):
    entries, at = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes:
        size = width
        for d in shape:
            size *= d
        entries[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    return json.dumps(entries).encode(), at


def safetensors(name, shapes):
    text, size = header(shapes)
    text += b" " * (-len(text) % 8)
    write(name, struct.pack("<Q", len(text)) + text + bytes(size))


def raw(name, text, length=None):
    write(name, struct.pack("<Q", len(text) if length is None else length) + text)


def npy(shape, descr="<f4", size=0):
    text = "{'descr': %r, 'fortran_order': False, 'shape': %r, }" % (descr, tuple(shape))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + bytes(size)


def npz(name, members):
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as z:
        for member, data in members:
            z.writestr(member, data)


H, E = 8, 32
bert = [("bert.embeddings.word_embeddings.weight", (100, H)), ("bert.pooler.dense.weight", (H, H)), ("bert.pooler.dense.bias", (H,))]
for layer in range(2):
    stem = "bert.encoder.layer.%d." % layer
    for part, shape in [("attention.output.dense", (H, H)), ("attention.self.query", (H, H)), ("attention.self.key", (H, H)), ("attention.self.value", (H, H)),
                        ("intermediate.dense", (E, H)), ("output.dense", (H, E))]:
        bert += [(stem + part + ".weight", shape), (stem + part + ".bias", shape[:1])]
    bert += [(stem + "output.LayerNorm.weight", (H,))]
safetensors("bert.safetensors", bert)
safetensors("first.safetensors", bert[:9])
safetensors("second.safetensors", bert[9:])
flax = [(name.replace(".", "/").replace("/weight", "/kernel"), shape[::-1]) for name, shape in bert]
npz("bert.npz", [(name + ".npy", npy(shape)) for name, shape in flax])
safetensors("resnet.safetensors", [("conv1.weight", (8, 3, 7, 7)), ("layer1.0.conv1.weight", (8, 8, 1, 1)), ("layer1.0.conv2.weight", (8, 8, 3, 3)), ("layer2.0.conv1.weight", (16, 8, 3, 3)),
                                   ("layer2.0.conv2.weight", (16, 16, 3, 3)), ("layer2.0.downsample.0.weight", (16, 8, 1, 1)), ("layer2.1.conv1.weight", (16, 16, 3, 3)), ("layer3.0.conv1.weight", (4, 16, 1, 1)), ("layer3.0.conv2.weight", (4, 4, 3, 3)), ("layer3.0.conv3.weight", (16, 4, 1, 1)),
                                   ("features.3.weight", (8, 1, 3, 3)), ("odd.weight", (8, 8, 1, 7)), ("fc.weight", (10, 16))])
safetensors("gpt2.safetensors", [("h.0.attn.c_attn.weight", (H, 3 * H)), ("h.0.attn.c_proj.weight", (H, H)), ("h.0.mlp.c_fc.weight", (H, E)), ("wte.weight", (100, H))])
safetensors("norms.safetensors", [("norm.weight", (8,)), ("lm.embed_tokens.weight", (100, 8))])
safetensors("nothing.safetensors", [])
safetensors("odd.safetensors", [("a\033[31m.weight", (2, 2)), ("empty.fc1.weight", (0, 4)), ("../x y.weight", (3, 5))])

text, size = header(bert)
raw("headless.safetensors", text)  # the elements are not there
raw("cut.safetensors", text[:200], len(text))
raw("huge.safetensors", text, 1 << 62)
raw("large.safetensors", text, 99999999)
raw("minus.safetensors", text, (1 << 64) - 1)
raw("zero.safetensors", text, 0)
raw("twice.safetensors", b'{"a.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"a.weight":{"dtype":"F32","shape":[4,4],"data_offsets":[0,64]}}')
raw("list.safetensors", b'{"a.weight":[1,2]}')
raw("shape.safetensors", b'{"a.weight":{"dtype":"F32","shape":[2,-2],"data_offsets":[0,16]}}')
raw("wide.safetensors", b'{"a.weight":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,16]}}')
raw("float.safetensors", b'{"a.weight":{"dtype":"F32","shape":[2.5,2],"data_offsets":[0,16]}}')
raw("offsets.safetensors", b'{"a.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[16,0]}}')
raw("axes.safetensors", b'{"a.weight":{"dtype":"F32","shape":[' + b",".join([b"1"] * 40) + b'],"data_offsets":[0,16]}}')
raw("deep.safetensors", b'{"a":' + b"[" * 100000 + b"]" * 100000 + b"}")
raw("json.safetensors", b'{"a.weight":{"dtype":"F32" "shape":[2,2]}}')
raw("utf8.safetensors", b'{"a\xff.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}')
write("empty.safetensors", b"")
write("short.safetensors", b"\1\0\0")
write("magic.safetensors", b"GGUF" + bytes(100))
with open(os.path.join(folder, "bert.npz"), "rb") as f:
    write("cut.npz", f.read()[:600])
npz("none.npz", [("data.pkl", b"1")])
npz("magic.npz", [("a.weight.npy", b"NUMPY" + bytes(100))])
npz("empty.npz", [("a.weight.npy", b"")])
npz("short.npz", [("a.weight.npy", npy((2, 2))[:40])])
npz("record.npz", [("a.weight.npy", npy((2, 2), [("x", "<f4")]))])
import warnings

warnings.simplefilter("ignore")
npz("twice.npz", [("a.weight.npy", npy((2, 2))), ("a.weight.npy", npy((4, 4)))])
