#!/usr/bin/env python3
"""A decoder of GPT-2's shape: writes its graph as text, makes weights from a seed, and generates tokens.

usage: gpt2.py text [--layers N] [--width N] [--heads N] [--vocabulary N] [--positions N]
       gpt2.py run FILE.tir [--weights FILE.safetensors|--seed N] [--prompt N] [--tokens N] [--threads N] [--quantize int8|int4]
                            [--activations int8] [--check] [--figures FILE.json]

text: the default sizes are GPT-2's. run: takes a prompt of so many tokens, drawn from the seed, and prints the most likely
tokens that follow. The keys and values of all previous tokens are in arrays with room for the longest sequence. decode gets
the beginning of each array; its result begins at the same place, so only the new row is written.
--check computes each token again, starting with the first one, without the kept keys and values. The weights have the names
of the usual safetensors (wte.weight, h.0.attn.c_attn.weight ...), or are random: embeddings with a standard deviation of 0.02, other matrices with 1 / sqrt(rows), gains of 1.
"""
import argparse, json, re, statistics, sys, time

LAYER = [("ln_1.weight", "E"), ("ln_1.bias", "E"), ("attn.c_attn.weight", "E, 3E"), ("attn.c_attn.bias", "3E"),
         ("attn.c_proj.weight", "E, E"), ("attn.c_proj.bias", "E"), ("ln_2.weight", "E"), ("ln_2.bias", "E"),
         ("mlp.c_fc.weight", "E, 4E"), ("mlp.c_fc.bias", "4E"), ("mlp.c_proj.weight", "4E, E"), ("mlp.c_proj.bias", "E")]


def weights_of(sizes):
    """(name in files, shape) of each weight, in their order."""
    def shape(text):
        return tuple(int(part.strip()[:-1] or 1) * sizes.width for part in text.split(","))
    yield "wte.weight", (sizes.vocabulary, sizes.width)
    yield "wpe.weight", (sizes.positions, sizes.width)
    for i in range(sizes.layers):
        for name, text in LAYER:
            yield "h.%d.%s" % (i, name), shape(text)
    yield "ln_f.weight", (sizes.width,)
    yield "ln_f.bias", (sizes.width,)


def spelled(name):
    return name.replace(".", "_")


def body(sizes, decodes):
    """The bindings of one of the two functions."""
    heads, depth, width = sizes.heads, sizes.width // sizes.heads, sizes.width
    rows = "1" if decodes else "m"
    first, end = ("n", "n + 1") if decodes else ("0", "m")
    mask = "" if decodes else ', causal_mask="TopLeft"'
    yield "places = R.strided_slice(wpe_weight, axes=[0], begin=[%s], end=[%s], assume_inbound=True)" % (first, end)
    yield "x = R.add(R.take(wte_weight, ids, axis=0), places)"
    x = "x"
    for i in range(sizes.layers):
        w = "h_%d_%%s" % i
        def norm(y, which):
            return "R.nn.layer_norm(%s, %s, %s, axes=[-1], epsilon=1e-5)" % (y, w % (which + "_weight"), w % (which + "_bias"))
        def linear(y, which):
            return "R.add(R.matmul(%s, %s), %s)" % (y, w % (which + "_weight"), w % (which + "_bias"))
        yield "qkv%d = R.split(%s, 3, axis=1)" % (i, linear(norm(x, "ln_1"), "attn_c_attn"))
        if decodes:
            yield "keys_%d = R.concat((past_keys_%d, qkv%d[1]), axis=0)" % (i, i, i)
            yield "values_%d = R.concat((past_values_%d, qkv%d[2]), axis=0)" % (i, i, i)
        else:
            yield "keys_%d = qkv%d[1]" % (i, i)
            yield "values_%d = qkv%d[2]" % (i, i)
        seen = end
        yield "q%d = R.reshape(qkv%d[0], (1, %s, %d, %d))" % (i, i, rows, heads, depth)
        yield "k%d = R.reshape(keys_%d, (1, %s, %d, %d))" % (i, i, seen, heads, depth)
        yield "v%d = R.reshape(values_%d, (1, %s, %d, %d))" % (i, i, seen, heads, depth)
        yield "a%d = R.reshape(R.nn.attention(q%d, k%d, v%d%s), (%s, %d))" % (i, i, i, i, mask, rows, width)
        yield "y%d = R.add(%s, %s)" % (i, linear("a%d" % i, "attn_c_proj"), x)
        yield "f%d = R.nn.gelu_tanh(%s)" % (i, linear(norm("y%d" % i, "ln_2"), "mlp_c_fc"))
        yield "x%d = R.add(%s, y%d)" % (i, linear("f%d" % i, "mlp_c_proj"), i)
        x = "x%d" % i
    if not decodes:
        yield "last = R.strided_slice(%s, axes=[0], begin=[m - 1], end=[m], assume_inbound=True)" % x
        x = "last"
    yield "h = R.nn.layer_norm(%s, ln_f_weight, ln_f_bias, axes=[-1], epsilon=1e-5)" % x
    yield "logits = R.matmul(h, R.permute_dims(wte_weight))"
    yield "token = R.argmax(logits, axis=1)"


def function(sizes, decodes):
    rows, bound, seen = ("1", "n", "n + 1") if decodes else ('"m"', "m", "m")
    kept = ["%s_%d" % (name, i) for i in range(sizes.layers) for name in ("keys", "values")]
    inputs = ['ids: R.Tensor((%s,), "int64")' % rows]
    inputs += ['past_%s: R.Tensor(("n", %d), "float32")' % (k, sizes.width) for k in kept if decodes]
    weights = ['%s: R.Tensor(%s, "float32")' % (spelled(name), shape) for name, shape in weights_of(sizes)]
    results = ["token", "logits"] + kept
    most = sizes.positions - 1 if decodes else sizes.positions
    return ["    @R.function", "    def %s(" % ("decode" if decodes else "prefill"),
            *["        %s," % line for line in inputs + weights], "    ):",
            '        R.func_attr({"num_input": %d, "tir_var_upper_bound": {"%s": %d}, "tir_var_lower_bound": {"%s": 1}})' % (len(inputs), bound, most, bound),
            "        with R.dataflow():", *["            " + line for line in body(sizes, decodes)],
            "            R.output(%s)" % ", ".join(results), "        return (%s)" % ", ".join(results)]


def text(sizes):
    head = ["# A decoder of GPT-2's shape, as gpt2.py writes it: %d layers, %d wide, %d heads, a vocabulary of %d, up to %d tokens." %
            (sizes.layers, sizes.width, sizes.heads, sizes.vocabulary, sizes.positions),
            "# prefill takes a prompt of m tokens; decode takes one more token, and the keys and values of n tokens, to which it adds.",
            "", "@I.ir_module", "class Module:"]
    return "\n".join(head + function(sizes, False) + [""] + function(sizes, True)) + "\n"


# --- running it ------------------------------------------------------------------------------------

def sizes_of(path):
    """The sizes in the first line of the text."""
    with open(path) as f:
        numbers = re.search(r"(\d+) layers, (\d+) wide, (\d+) heads, a vocabulary of (\d+), up to (\d+) tokens", f.readline())
    if not numbers:
        sys.exit("gpt2.py: %s does not begin as gpt2.py text writes it" % path)
    return argparse.Namespace(**dict(zip(("layers", "width", "heads", "vocabulary", "positions"), map(int, numbers.groups()))))


def drawn(sizes, seed):
    import numpy
    rng = numpy.random.default_rng(seed)
    for name, shape in weights_of(sizes):
        if len(shape) == 2:
            yield spelled(name), rng.standard_normal(shape, "float32") * numpy.float32(0.02 if name.startswith("w") else shape[0] ** -0.5)
        else:
            yield spelled(name), numpy.full(shape, name.endswith("weight"), "float32")


def stored(sizes, path):
    """The tensors of a file by their usual names, with or without the prefix transformer."""
    import numpy
    with open(path, "rb") as f:
        length = int.from_bytes(f.read(8), "little")
        header = json.loads(f.read(length))
    data = numpy.memmap(path, numpy.uint8, "r", 8 + length)
    for name, shape in weights_of(sizes):
        found = header.get(name) or header.get("transformer." + name)
        if not found:
            sys.exit("gpt2.py: %s has no tensor %s" % (path, name))
        if found["dtype"] != "F32" or tuple(found["shape"]) != shape:
            sys.exit("gpt2.py: %s: %s is %s%s, and %s is wanted: another variant of the model?" %
                     (path, name, found["dtype"], found["shape"], list(shape)))
        first, end = found["data_offsets"]
        yield spelled(name), numpy.require(data[first:end].view("float32").reshape(shape), requirements="A")


class Decoder:
    def __init__(self, path, weights, threads=0, **options):
        import numpy, tirc
        self.sizes = sizes_of(path)
        how = dict(weights=weights, threads=threads, **options)
        self.prefill = tirc.compile(path, entry="prefill", **how)
        self.decode = tirc.compile(path, entry="decode", **how)
        room = (self.sizes.positions, self.sizes.width)
        self.kept = {"%s_%d" % (k, i): numpy.zeros(room, "float32") for i in range(self.sizes.layers) for k in ("keys", "values")}
        self.result = {"token": numpy.zeros(1, "int64"), "logits": numpy.zeros((1, self.sizes.vocabulary), "float32")}
        self.length = 0

    def start(self, prompt):
        import numpy
        m = len(prompt)
        out = {**self.result, **{k: a[:m] for k, a in self.kept.items()}}
        token = self.prefill.into(out, numpy.asarray(prompt, "int64"))[0]
        self.length = m
        return int(token[0])

    def next(self, token):
        import numpy
        n = self.length
        past = {"past_" + k: a[:n] for k, a in self.kept.items()}
        out = {**self.result, **{k: a[:n + 1] for k, a in self.kept.items()}}
        token = self.decode.into(out, ids=numpy.array([token]), **past)[0]
        self.length = n + 1
        return int(token[0])


def run(o):
    import numpy
    sizes = sizes_of(o.file)
    weights = dict(stored(sizes, o.weights) if o.weights else drawn(sizes, o.seed))
    options = {"target": "native", **{k: v for k, v in (("quantize", o.quantize), ("activations", o.activations)) if v}}
    model = Decoder(o.file, weights, o.threads, **options)
    prompt = [int(t) for t in numpy.random.default_rng(o.seed).integers(0, sizes.vocabulary, o.prompt)]
    if o.prompt + o.tokens - 1 > sizes.positions:
        sys.exit("gpt2.py: %d tokens behind %d are more than the %d positions" % (o.tokens, o.prompt, sizes.positions))
    model.start(prompt)  # what depends only on weights is computed now
    begin = time.perf_counter()
    tokens = [model.start(prompt)]
    first = time.perf_counter() - begin
    if o.tokens > 1:
        model.next(tokens[0])
        model.length -= 1
    each = []
    for _ in range(o.tokens - 1):
        begin = time.perf_counter()
        tokens.append(model.next(tokens[-1]))
        each.append(time.perf_counter() - begin)
    print("tokens:", *tokens)
    if o.check:
        again = [model.start(prompt + tokens[:i]) for i in range(o.tokens)]
        wrong = [i for i in range(o.tokens) if again[i] != tokens[i]]
        if wrong:
            sys.exit("check: FAILED; token %d is %d, and %d without what was kept" % (wrong[0], tokens[wrong[0]], again[wrong[0]]))
        print("check: ok; each token is the one that a whole sequence gives")
    figures = {"prefill_ms": first * 1e3, "decode_tokens_per_second": 1 / statistics.median(each) if each else None}
    print("time: prefill of %d tokens %.3g ms" % (o.prompt, first * 1e3) + (", decode %.4g tokens/s" % figures["decode_tokens_per_second"] if each else ""))
    if o.figures:
        with open(o.figures, "w") as f:
            json.dump(figures, f)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    t = commands.add_parser("text")
    for name, usual in (("layers", 12), ("width", 768), ("heads", 12), ("vocabulary", 50257), ("positions", 1024)):
        t.add_argument("--" + name, type=int, default=usual)
    r = commands.add_parser("run")
    r.add_argument("file")
    r.add_argument("--weights")
    r.add_argument("--quantize", choices=["int8", "int4"])
    r.add_argument("--activations", choices=["int8"])
    r.add_argument("--figures")
    r.add_argument("--check", action="store_true")
    for name, usual in (("seed", 0), ("prompt", 16), ("tokens", 64), ("threads", 1)):
        r.add_argument("--" + name, type=int, default=usual)
    o = parser.parse_args()
    if o.command == "text":
        if o.width % o.heads:
            sys.exit("gpt2.py: a width of %d is not %d heads" % (o.width, o.heads))
        print(text(o), end="")
    else:
        run(o)


if __name__ == "__main__":
    main()
