"""Models that somebody damaged: mutations.py TIRC EXAMPLES OUT [COUNT [SEED]]

Each mutation of a model or of its weights ends with a status of 0, 1 or 2: no crash, no sanitizer's report, no wait.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys

tirc, examples, out = sys.argv[1:4]
count = int(sys.argv[4]) if len(sys.argv) > 4 else 300
rng = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
texts = [open(os.path.join(examples, f), encoding="utf-8").read() for f in sorted(os.listdir(examples)) if f.endswith(".tir")]
tokens = sorted({t for text in texts for t in re.findall(r"[A-Za-z_.]+|\d+|[^\w\s]", text)})
tokens += ["-1", "0", "99999999999999999999", "None", "()", "(", "[", "\"n * 2\"", "n // 0", "R.shape([n])", "x[0]", "cls.main(x)"]


def mutate(text):
    words = re.findall(r"[A-Za-z_.]+|\d+|\s+|.", text)
    for _ in range(rng.choice((1, 1, 2, 5))):
        i, kind = rng.randrange(len(words)), rng.randrange(5)
        if kind == 0:
            del words[i]
        elif kind == 1:
            words[i] = rng.choice(tokens)
        elif kind == 2:
            words.insert(i, rng.choice(tokens))
        elif kind == 3:
            k = rng.randrange(len(words))
            words[i], words[k] = words[k], words[i]
        else:
            lines = "".join(words).split("\n")
            i = rng.randrange(len(lines))
            lines.insert(rng.randrange(len(lines)), lines.pop(i))
            words = re.findall(r"[A-Za-z_.]+|\d+|\s+|.", "\n".join(lines))
    return "".join(words)


def run(what, *command):
    try:
        done = subprocess.run([tirc, *command], capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        sys.exit("%s: no end: %s" % (what, " ".join(command)))
    if done.returncode not in (0, 1, 2) or b"Sanitizer" in done.stderr or b"runtime error" in done.stderr:
        sys.exit("%s: status %d: %s\n%s" % (what, done.returncode, " ".join(command), done.stderr.decode(errors="replace")[:4000]))
    return done.returncode


refused = 0
model = os.path.join(out, "mutated.tir")
for i in range(count):
    with open(model, "w", encoding="utf-8") as f:
        f.write(mutate(rng.choice(texts)))
    refused += run("mutation %d" % i, "check", model) != 0
header = json.dumps({"w0": {"dtype": "F32", "shape": [784, 128], "data_offsets": [0, 401408]},
                     "b0": {"dtype": "F32", "shape": [128], "data_offsets": [401408, 401920]},
                     "w1": {"dtype": "F32", "shape": [128, 10], "data_offsets": [401920, 407040]},
                     "b1": {"dtype": "F32", "shape": [10], "data_offsets": [407040, 407080]}}).encode()
whole = struct.pack("<Q", len(header)) + header + bytes(407080)
weights = os.path.join(out, "mutated.safetensors")
for i in range(count // 3):
    data = bytearray(whole)
    for _ in range(rng.choice((1, 2, 8))):
        data[rng.randrange(8 + len(header))] = rng.choice(b"0123456789{}[]\",:-eF\x00\xff" + bytes([rng.randrange(256)]))
    if rng.random() < 0.3:
        data = data[:rng.randrange(len(data))]
    with open(weights, "wb") as f:
        f.write(data)
    refused += run("weights %d" % i, "run", os.path.join(examples, "mlp.tir"), "--plain", "--in", "n=1", "--weights", weights) != 0
print("%d mutations, %d refused" % (count + count // 3, refused))
sys.exit(refused < count // 2)
