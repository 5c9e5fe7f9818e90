"""Random models: what their results need not, what hangs on weights alone, constants, extents of 0."""
import random

HEAD = "@I.ir_module\nclass Module:\n    @R.function\n    def main(%s):\n"
ONE = ["R.nn.relu({0})", "R.exp({0})", "R.negative({0})", "R.power({0}, R.const(%s, \"float32\"))", "R.sqrt(R.abs({0}))", "R.nn.softmax({0})",
       "R.sum({0}, axis=1, keepdims=True)", "R.take({0}, R.const(%s, \"int32\"), axis=0)", "R.permute_dims({0})", "{0}", "R.tanh({0})",
       "R.clip({0}, -0.5, 0.5)", "R.astype(R.astype({0}, \"NARROW\"), \"float32\")", "R.maximum({0}, R.const(%s, \"float32\"))"]
TWO = ["R.add({0}, {1})", "R.multiply({0}, {1})", "R.concat(({0}, {1}), axis=0)", "R.maximum({0}, {1})", "R.matmul({0}, R.permute_dims({1}))", "R.divide({0}, {1})"]
NUMBERS = [0.0, -0.0, 0.5, 0.6, 1.0, 1.5, 2.0, 3.0, 4.0, -1.0, -2.5, 7.25, 1e30, 0.3333]


def draw(seed):
    """The text of a model, the type of all of it, and the shapes of its inputs and weights."""
    rng = random.Random(seed)
    columns = rng.choice([1, 3, 8, 19, 32])
    rows = lambda: rng.choice([0, 1, 2, 3, 5, 16])
    inputs = {"x%d" % i: (rows(), columns) for i in range(rng.randint(1, 3))}
    weights = {"w%d" % i: (rows(), columns) for i in range(rng.randint(0, 3))}
    params = ", ".join("%s: R.Tensor(%s, \"float32\")" % each for each in {**inputs, **weights}.items())
    known = {**inputs, **weights}
    lines, made = [], []
    for i in range(rng.randint(1, 8)):
        name = "v%d" % i
        kind = rng.random()
        if kind < 0.15:
            shape = (rows(), columns)
            text = "R.%s(%s, \"float32\")" % (rng.choice(["zeros", "ones"]), "R.shape([%d, %d])" % shape)
        elif kind < 0.65:
            form, a = rng.choice(ONE), rng.choice(list(known))
            shape = known[a]
            if "take" in form:
                if not shape[0]:
                    continue
                picked = [rng.randrange(shape[0]) for _ in range(rng.randint(1, 6))]
                form, shape = form % picked, (len(picked), shape[1])
            elif "%s" in form:
                form %= repr(rng.choice(NUMBERS))
            if "permute" in form:
                shape = shape[::-1]
            if "sum" in form:
                shape = (shape[0], 1)
            text = form.format(a)
        else:
            form, a, b = rng.choice(TWO), rng.choice(list(known)), rng.choice(list(known))
            shape = known[a]
            if known[b][1] != shape[1] or ("concat" not in form and "matmul" not in form and known[b] != shape):
                b = a
            if "concat" in form:
                shape = (shape[0] + known[b][0], shape[1])
            if "matmul" in form:
                shape = (shape[0], known[b][0])
            text = form.format(a, b)
        known[name] = shape
        made.append(name)
        lines.append("            %s = %s\n" % (name, text))
    if not made:
        lines, made = ["            v0 = R.nn.relu(x0)\n"], ["v0"]
        known["v0"] = known["x0"]
    results = rng.sample(made, rng.randint(1, min(3, len(made))))
    body = "        R.func_attr({\"num_input\": %d})\n        with R.dataflow():\n%s            R.output(%s)\n        return %s\n" % (
        len(inputs), "".join(lines), ", ".join(results), results[0] if len(results) == 1 else "(%s)" % ", ".join(results))
    text = HEAD % params + body
    dtype, narrow = rng.choice([("float32", "float16"), ("float64", "float32")])
    return text.replace("float32", dtype).replace("NARROW", narrow), dtype, inputs, weights
