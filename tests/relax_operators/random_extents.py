#!/usr/bin/python3
"""Operators over extents that the run tells, drawn at random, most of them near to what is legal: the same verdict, words
and results as with the numbers given ahead.

    TIRC=build/test/tools/tirc tests/relax_operators/random_extents.py PROGRAMS [SEED]"""

import random
import sys
import tempfile

from extents import difference

F, I = ":float32", ":int64"


class Draw:
    """One program: names for some of its extents, and their sizes."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.sizes = {}

    def extent(self, e):
        """e, or a name for it; now and then one that it should not be."""
        if self.r.random() < 0.1:
            e = max(0, e + self.r.choice([-2, -1, 1, 2]))
        if self.r.random() < 0.35:
            return str(e)
        same = [n for n, v in self.sizes.items() if v == e]
        if same and self.r.random() < 0.5:
            return self.r.choice(same)
        name = "e%d" % len(self.sizes)
        self.sizes[name] = e
        return name

    def shape(self, dims, dtype=F):
        return ",".join(self.extent(e) for e in dims) + dtype

    def dims(self, low, high, least=0):
        return [self.r.choice([1, 2, 3, 4, 5, 6] + ([0] if least == 0 else [])) for _ in range(self.r.randint(low, high))]


def broadcasting(d):
    dims = d.dims(1, 3)
    other = [1 if d.r.random() < 0.3 else e for e in dims[d.r.randint(0, len(dims) - 1):]]
    return "%s(x, y)" % d.r.choice(["add", "multiply", "maximum", "less"]), {"x": d.shape(dims), "y": d.shape(other)}


def sliced(d):
    dims = d.dims(1, 2)
    axis, pick = d.r.randrange(len(dims)), lambda: d.r.choice([-100, -7, -4, -2, -1, 0, 1, 2, 3, 5, 9, 2147483647])
    return ("strided_slice(x, axes=[%d], begin=[%d], end=[%d], strides=[%d])" % (axis, pick(), pick(), d.r.choice([1, 1, 2, 3, -1, -2])),
            {"x": d.shape(dims)})


def reshaped(d):
    dims = d.dims(1, 3)
    count, new = 1, []
    for e in dims:
        count *= e
    left = count
    for _ in range(d.r.randint(0, 2)):
        f = d.r.choice([k for k in range(1, 7) if left and left % k == 0] or [1])
        new.append(f)
        left //= f
    new.append(left if left and d.r.random() < 0.5 else -1)
    d.r.shuffle(new)
    return "reshape(x, %s)" % new, {"x": d.shape(dims)}


def padded(d):
    dims, mode = d.dims(1, 2), d.r.choice(["constant", "reflect", "edge", "circular"])
    low = -1 if mode == "constant" else 0
    return "nn.pad(x, %s, '%s')" % ([d.r.randint(low, 3) for _ in range(2 * len(dims))], mode), {"x": d.shape(dims)}


def joined(d):
    dims = d.dims(1, 3)
    axis = d.r.randrange(len(dims))
    other = [d.r.randint(0, 4) if k == axis else e for k, e in enumerate(dims)]
    return "concat((x, y), axis=%d)" % axis, {"x": d.shape(dims), "y": d.shape(other)}


def parted(d):
    dims = d.dims(1, 2)
    axis = d.r.randrange(len(dims))
    cuts = sorted(d.r.randint(0, 5) for _ in range(d.r.randint(1, 2)))
    return "split(x, %s, axis=%d)" % (cuts if d.r.random() < 0.5 else d.r.randint(1, 4), axis), {"x": d.shape(dims)}


def products(d):
    m, k, n = d.dims(3, 3)
    batch = d.dims(0, 1)
    other = batch if d.r.random() < 0.5 else [1] * len(batch)
    return "matmul(x, y)", {"x": d.shape(batch + [m, k]), "y": d.shape(other + [k, n])}


def convolved(d):
    c, o, k, h = d.r.randint(1, 3), d.r.randint(1, 4), d.r.randint(1, 4), d.r.randint(1, 7)
    return ("nn.conv1d(x, w, strides=%d, padding=%d, dilation=%d)" % (d.r.randint(1, 3), d.r.randint(0, 2), d.r.randint(1, 2)),
            {"x": d.shape([d.r.randint(1, 2), c, h]), "w": d.shape([o, c, k])})


def transposed(d):
    c, o, k, h = d.r.randint(1, 3), d.r.randint(1, 3), d.r.randint(1, 4), d.r.randint(0, 5)
    return ("nn.conv1d_transpose(x, w, strides=%d, padding=%d)" % (d.r.randint(1, 3), d.r.randint(0, 2)),
            {"x": d.shape([1, c, h]), "w": d.shape([c, o, k])})


def pooled(d):
    k = d.r.randint(1, 4)
    return ("nn.%s_pool1d(x, pool_size=%d, strides=%d, padding=%d, ceil_mode=%s)"
            % (d.r.choice(["max", "avg"]), k, d.r.randint(1, 4), d.r.randint(0, k - 1), d.r.choice(["True", "False"])),
            {"x": d.shape([1, 2, d.r.randint(0, 8)])})


def normal(d):
    dims = d.dims(2, 3, 1)
    return "nn.layer_norm(x, g, b, axes=[-1])", {"x": d.shape(dims), "g": d.shape(dims[-1:]), "b": d.shape(dims[-1:])}


def taken(d):
    dims, axis = d.dims(1, 3), 0
    return "take(x, i, axis=%d, mode='%s')" % (axis, d.r.choice(["clip", "wrap"])), {"x": d.shape(dims), "i": d.shape(d.dims(0, 2), I)}


def repeated(d):
    dims = d.dims(1, 2)
    if d.r.random() < 0.5:
        return "tile(x, %s)" % [d.r.randint(0, 3) for _ in dims], {"x": d.shape(dims)}
    return "repeat(x, %d, axis=0)" % d.r.randint(0, 3), {"x": d.shape(dims)}


def spread(d):
    dims = d.dims(1, 3)
    own = [1 if d.r.random() < 0.4 else e for e in dims]
    return "broadcast_to(x, %s)" % dims, {"x": d.shape(own)}


def summed(d):
    i, j, k = d.dims(3, 3)
    return "einsum((x, y), subscripts='%s')" % d.r.choice(["ij,jk->ik", "ij,jk->k", "ij,jk->"]), {"x": d.shape([i, j]), "y": d.shape([j, k])}


def best(d):
    dims = d.dims(1, 2)
    return "topk(x, k=%d, ret_type='values')" % d.r.randint(1, 4), {"x": d.shape(dims)}


def attended(d):
    b, s, t, heads, fewer, depth = 1, d.r.randint(1, 3), d.r.randint(1, 3), d.r.randint(1, 4), d.r.randint(1, 2), 2
    return "nn.attention(q, k, v)", {"q": d.shape([b, s, heads, depth]), "k": d.shape([b, t, fewer, depth]), "v": d.shape([b, t, fewer, depth])}


KINDS = [broadcasting, sliced, reshaped, padded, joined, parted, products, convolved, transposed, pooled, normal, taken, repeated,
         spread, summed, best, attended]


def run(programs, seed, kinds=KINDS):
    """How many of the programs differ; each is told."""
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(programs):
            d = Draw("%s %s" % (seed, i))
            call, tensors = kinds[i % len(kinds)](d)
            why = difference(folder, call, tensors, d.sizes)
            if why:
                found += 1
                print("program %d of seed %s: R.%s of %s with %s: %s" % (i, seed, call, tensors, d.sizes, why))
    return found


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    differ = run(wanted, sys.argv[2] if len(sys.argv) > 2 else "1")
    print("%d programs, %d differ" % (wanted, differ))
    sys.exit(differ > 0)
