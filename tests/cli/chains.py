"""Functions of very many blocks, each with a buffer of its own: they run, the buffers share memory, and the numbers are right.

usage: chains.py TIRC FOLDER
"""
import random, subprocess, sys

SHAPES = ["(24,)", "(6, 4)", "(2, 3, 4)"]
HEAD = "from tvm.script import tir as T\n\n\n@T.prim_func\ndef main(A: T.Buffer((24,), 'float32'), B: T.Buffer((24,), 'float32')):\n"


def index(shape, flat):
    """The element number `flat` of 24, in a buffer of this shape."""
    return {"(24,)": flat, "(6, 4)": f"{flat} // 4, {flat} % 4", "(2, 3, 4)": f"{flat} // 12, {flat} // 4 % 3, {flat} % 4"}[shape]


def chain(n, factor=""):
    """Block i adds a number to what block i - 1 made, times a factor: then what is put into a block does not become shorter."""
    text = HEAD + "".join(f"    t{i} = T.alloc_buffer((24,), 'float32')\n" for i in range(n - 1))
    for i in range(n):
        source, to = "A" if i == 0 else f"t{i - 1}", "B" if i == n - 1 else f"t{i}"
        text += f"    for i in range(24):\n        with T.block('b{i}'):\n            v = T.axis.spatial(24, i)\n            {to}[v] = {source}[v]{factor} + T.float32({i % 7}.0)\n"
    return text


def products(n, size):
    """Each a product of a weight, scaled, and the one before it: sums that would overflow if the scale were taken out of all of them."""
    text = HEAD.replace("(24,)", f"({size}, {size})").replace("B: ", f"W: T.Buffer(({size}, {size}), 'float32'), B: ")
    text += "".join(f"    t{i} = T.alloc_buffer(({size}, {size}))\n" for i in range(n - 1))
    for i in range(n):
        source, to = "A" if i == 0 else f"t{i - 1}", "B" if i == n - 1 else f"t{i}"
        text += (f"    for i, j, k in T.grid({size}, {size}, {size}):\n        with T.block('b{i}'):\n            vi, vj, vk = T.axis.remap('SSR', [i, j, k])\n"
                 f"            with T.init():\n                {to}[vi, vj] = T.float32(0)\n"
                 f"            {to}[vi, vj] = {to}[vi, vj] + W[vi, vk] * T.float32(0.3) * {source}[vk, vj]\n")
    return text


def viewed(n):
    """The chain in a block with a view of its second buffer, which is read at the end."""
    head, body = chain(n).split("    for i in range(24):", 1)
    first, allocated = head.rsplit("'float32')):\n", 1)
    body = ("    for i in range(24):" + body).replace(f"B[v] = t{n - 2}[v]", f"B[v] = t{n - 2}[v] + seen[v]")
    inside = allocated + "    seen = T.match_buffer(t1[0:24], (24,), 'float32', offset_factor=1)\n" + body
    return first + "'float32')):\n    with T.block('root'):\n" + "".join(f"    {line}\n" for line in inside.splitlines())


def graph(rng, n):
    """Each block reads one to three of those before it, near ones more often; shapes and types differ."""
    made = [("A", "(24,)", "float32")]
    body, head = "", HEAD
    for i in range(n):
        shape, dtype = rng.choice(SHAPES), rng.choice(["float32", "float32", "int32"])
        if i == n - 1:
            name, shape, dtype = "B", "(24,)", "float32"
        else:
            name = f"t{i}"
            head += f"    {name} = T.alloc_buffer({shape}, '{dtype}')\n"
        reads = [rng.choice(made[-6:] if rng.random() < 0.8 else made) for _ in range(rng.randint(1, 3))]
        terms = [f"T.Cast('{dtype}', {b}[{index(s, 'v')}])" if d != dtype else f"{b}[{index(s, 'v')}]" for b, s, d in reads]
        value = " + ".join(terms) + (" + 1" if dtype == "int32" else " * T.float32(0.25)")
        body += f"    for i in range(24):\n        with T.block('b{i}'):\n            v = T.axis.spatial(24, i)\n            {name}[{index(shape, 'v')}] = {value}\n"
        made.append((name, shape, dtype))
    return head + body


def run(tirc, *words):
    p = subprocess.run([tirc, *words], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"{' '.join(words)}\n{p.stdout}{p.stderr}")
    return p.stdout


def main(tirc, folder):
    path, rng = f"{folder}/chain.tir", random.Random(7)
    with open(path, "w") as f:
        f.write(chain(600))
    for words in ([], ["--auto"]):
        assert "check: ok" in run(tirc, "run", path, "--check", "--threads", "1", *words)
    allocated = run(tirc, "lower", path).count("T.decl_buffer")
    assert allocated == 2, f"600 buffers need {allocated}, where two at a time are alive"
    for n in (100, 150, 200, 300):
        with open(path, "w") as f:
            f.write(graph(rng, n))
        before = run(tirc, "print", path).count("T.alloc_buffer")
        after = run(tirc, "lower", path).count("T.decl_buffer")
        assert after < before, f"{n} blocks: {before} buffers became {after}"
        assert "check: ok" in run(tirc, "run", path, "--check", "--threads", "1")
    with open(path, "w") as f:
        f.write(viewed(70))
    assert "check: ok" in run(tirc, "run", path, "--check", "--threads", "1")
    with open(path, "w") as f:
        f.write(products(70, 48))
    sums = [float(run(tirc, "run", path, "--threads", "1", *words).split("sum ")[1].split()[0]) for words in ([], ["--auto"])]
    assert abs(sums[0] - sums[1]) < 1e-3 * abs(sums[0]), f"70 products: {sums}"
    with open(path, "w") as f:
        f.write(chain(3000, " * T.float32(0.5)"))
    run(tirc, "apply", path, "--auto")
    print("chains of 600 and 3000 blocks, 4 graphs: right")


main(*sys.argv[1:])
