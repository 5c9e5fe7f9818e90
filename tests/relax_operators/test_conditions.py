"""What operators ask of extents, of numbers and of what only the run tells: the same verdict in the same words."""

import os

import pytest

import extents
import random_extents
from every import EVERY
from extents import difference

F, I = ":float32", ":int64"
# A call, its operands, sizes that it takes and sizes that it refuses.
ROWS = [
    ("nn.pad(x, [3, 3], 'reflect')", {"x": "n" + F}, [dict(n=4), dict(n=9)], [dict(n=3), dict(n=2), dict(n=0)]),
    ("nn.pad(x, [0, 2], 'circular')", {"x": "n" + F}, [dict(n=2)], [dict(n=1), dict(n=0)]),
    ("nn.pad(x, [1, 0], 'edge')", {"x": "n" + F}, [dict(n=1)], [dict(n=0)]),
    ("nn.pad(x, [-2, -1])", {"x": "n" + F}, [dict(n=3), dict(n=7)], [dict(n=2), dict(n=0)]),
    ("add(x, y)", {"x": "n,4" + F, "y": "m,k" + F},
     [dict(n=3, m=3, k=4), dict(n=1, m=5, k=1), dict(n=5, m=1, k=4), dict(n=0, m=1, k=1), dict(n=1, m=0, k=4)],
     [dict(n=3, m=2, k=4), dict(n=3, m=3, k=2), dict(n=2, m=0, k=4)]),
    ("where(c, x, y)", {"c": "n:bool", "x": "m" + F, "y": "k" + F}, [dict(n=3, m=1, k=3), dict(n=1, m=1, k=1), dict(n=1, m=4, k=1)],
     [dict(n=3, m=2, k=3), dict(n=3, m=3, k=2)]),
    ("matmul(x, y)", {"x": "b,n,m" + F, "y": "c,k,4" + F}, [dict(b=2, c=2, n=3, m=5, k=5), dict(b=1, c=3, n=2, m=2, k=2)],
     [dict(b=2, c=3, n=3, m=5, k=5), dict(b=2, c=2, n=3, m=5, k=4)]),
    ("nt_matmul(x, y)", {"x": "n,m" + F, "y": "4,k" + F}, [dict(n=2, m=3, k=3)], [dict(n=2, m=3, k=4)]),
    ("linear(x, w, b)", {"x": "2,n" + F, "w": "m,k" + F, "b": "j" + F}, [dict(n=3, m=4, k=3, j=4)],
     [dict(n=3, m=4, k=2, j=4), dict(n=3, m=4, k=3, j=1)]),
    ("nn.prelu(x, s)", {"x": "2,n" + F, "s": "m" + F}, [dict(n=3, m=3), dict(n=3, m=1)], [dict(n=3, m=2)]),
    ("nn.attention(q, k, v)", {"q": "2,3,n,4" + F, "k": "2,5,m,d" + F, "v": "b,5,m,4" + F},
     [dict(n=4, m=2, d=4, b=2), dict(n=3, m=3, d=4, b=2)],
     [dict(n=4, m=3, d=4, b=2), dict(n=4, m=2, d=3, b=2), dict(n=4, m=2, d=4, b=3)]),
    ("nn.conv2d(x, w)", {"x": "1,c,h,7" + F, "w": "4,d,3,k" + F}, [dict(c=3, d=3, h=3, k=2), dict(c=3, d=3, h=8, k=7)],
     [dict(c=3, d=2, h=5, k=2), dict(c=3, d=3, h=2, k=2), dict(c=3, d=3, h=5, k=8)]),
    ("nn.conv2d(x, w, groups=2)", {"x": "1,c,5,5" + F, "w": "o,2,3,3" + F}, [dict(c=4, o=6)], [dict(c=3, o=6), dict(c=4, o=5)]),
    ("nn.conv2d_transpose(x, w, padding=1)", {"x": "1,c,h,3" + F, "w": "d,2,3,3" + F}, [dict(c=2, d=2, h=2)],
     [dict(c=2, d=3, h=2), dict(c=2, d=2, h=0)]),
    ("nn.max_pool2d(x, pool_size=[3, 3])", {"x": "1,2,h,w" + F}, [dict(h=3, w=5)], [dict(h=2, w=5), dict(h=3, w=0)]),
    ("nn.avg_pool2d(x, pool_size=[2, 2], strides=[3, 3], ceil_mode=True)", {"x": "1,2,h,w" + F},
     [dict(h=2, w=3), dict(h=4, w=5), dict(h=6, w=7)], [dict(h=1, w=5)]),
    ("nn.max_pool_argmax(x, pool_size=[3])", {"x": "1,2,n" + F}, [dict(n=3)], [dict(n=2)]),
    ("nn.adaptive_avg_pool2d(x, output_size=[2, 3])", {"x": "1,2,h,w" + F}, [dict(h=2, w=3), dict(h=5, w=8)], []),
    ("einsum((x, y), subscripts='ij,jk->ik')", {"x": "n,m" + F, "y": "k,4" + F}, [dict(n=2, m=3, k=3), dict(n=2, m=1, k=3), dict(n=2, m=3, k=1)],
     [dict(n=2, m=3, k=2)]),
    ("take(x, i, axis=0)", {"x": "n,3" + F, "i": "m" + I}, [dict(n=2, m=4), dict(n=0, m=0)], [dict(n=0, m=1)]),
    ("take(x, i, axis=0, mode='clip')", {"x": "n,3" + F, "i": "m" + I}, [dict(n=1, m=4)], [dict(n=0, m=2)]),
    ("gather_elements(x, i, axis=0)", {"x": "3,n" + F, "i": "2,m" + I}, [dict(n=4, m=4), dict(n=4, m=2)], [dict(n=2, m=3)]),
    ("gather_elements(x, i, axis=0)", {"x": "n,3" + F, "i": "m,3" + I}, [dict(n=2, m=4), dict(n=0, m=0)], [dict(n=0, m=1)]),
    ("gather_nd(x, i)", {"x": "n,3" + F, "i": "m,1" + I}, [dict(n=2, m=4), dict(n=0, m=0)], [dict(n=0, m=1)]),
    ("gather_nd(x, i, batch_dims=1)", {"x": "n,3" + F, "i": "m,4,1" + I}, [dict(n=2, m=2)], [dict(n=2, m=3)]),
    ("scatter_elements(x, i, u, axis=0)", {"x": "3,n" + F, "i": "1,m" + I, "u": "1,k" + F}, [dict(n=4, m=4, k=4), dict(n=4, m=2, k=2)],
     [dict(n=4, m=4, k=3), dict(n=2, m=3, k=3)]),
    ("scatter_nd(x, i, u)", {"x": "4,n" + F, "i": "m,1" + I, "u": "j,k" + F}, [dict(n=3, m=1, j=1, k=3)],
     [dict(n=3, m=1, j=2, k=3), dict(n=3, m=1, j=1, k=2)]),
    ("reverse_sequence(x, s)", {"x": "n,3" + F, "s": "m" + I}, [dict(n=2, m=2)], [dict(n=2, m=3)]),
    ("linalg.det(x)", {"x": "2,n,m" + F}, [dict(n=2, m=2)], [dict(n=2, m=3)]),
    ("nn.nll_loss(x, t, w)", {"x": "n,5" + F, "t": "m" + I, "w": "k" + F}, [dict(n=3, m=3, k=5)], [dict(n=3, m=2, k=5), dict(n=3, m=3, k=4)]),
    ("nn.nll_loss(x, t)", {"x": "2,n" + F, "t": "2" + I}, [dict(n=3)], [dict(n=0)]),
    ("vision.roi_pool(x, r, [2, 2])", {"x": "n,2,4,4" + F, "r": "m,k" + F}, [dict(n=3, m=0, k=5)], [dict(n=0, m=2, k=5), dict(n=3, m=2, k=4)]),
    ("nn.layer_norm(x, g, b, axes=[-1])", {"x": "2,n" + F, "g": "m" + F, "b": "k" + F}, [dict(n=3, m=3, k=3)], [dict(n=3, m=2, k=3), dict(n=3, m=3, k=4)]),
    ("nn.rms_norm(x, w, axes=[-1])", {"x": "2,n" + F, "w": "m" + F}, [dict(n=3, m=3)], [dict(n=3, m=1)]),
    ("nn.batch_norm(x, g, b, m, v)", {"x": "2,n,3" + F, "g": "n" + F, "b": "n" + F, "m": "k" + F, "v": "n" + F}, [dict(n=2, k=2)], [dict(n=2, k=3)]),
    ("nn.group_norm(x, g, b, num_groups=3)", {"x": "2,n,4" + F, "g": "n" + F, "b": "n" + F}, [dict(n=6), dict(n=3)], [dict(n=4)]),
    ("nn.instance_norm(x, g, b)", {"x": "2,n,4" + F, "g": "n" + F, "b": "m" + F}, [dict(n=2, m=2)], [dict(n=2, m=3)]),
    ("nn.rnn(x, w, h, s)", {"x": "3,b,n" + F, "w": "m,k" + F, "h": "c,n" + F, "s": "d" + I}, [dict(b=2, n=3, m=3, k=3, c=2, d=2)],
     [dict(b=2, n=3, m=4, k=3, c=2, d=2), dict(b=2, n=3, m=3, k=4, c=2, d=2), dict(b=2, n=3, m=3, k=3, c=1, d=2), dict(b=2, n=3, m=3, k=3, c=2, d=1)]),
    ("vision.roi_align(x, r, i, [2, 2])", {"x": "2,2,4,4" + F, "r": "n,k" + F, "i": "m" + I}, [dict(n=3, m=3, k=4)],
     [dict(n=3, m=2, k=4), dict(n=3, m=3, k=5)]),
    ("quantize(x, s)", {"x": "2,n" + F, "s": "m" + F}, [dict(n=3, m=3), dict(n=3, m=1)], [dict(n=3, m=2)]),
    ("quantize(x, s)", {"x": "2,n" + F, "s": "2,m" + F}, [dict(n=3, m=3), dict(n=3, m=1)], [dict(n=3, m=2)]),
    ("topk(x, k=3)", {"x": "2,n" + F}, [dict(n=3), dict(n=5)], [dict(n=2), dict(n=0)]),
    ("image.resize_axis(x, 3, axis=1)", {"x": "2,n" + F}, [dict(n=1), dict(n=5)], [dict(n=0)]),
    ("image.resample(x, i, w, axis=0)", {"x": "4" + F, "i": "n,2" + I, "w": "m,2" + F}, [dict(n=3, m=3)], [dict(n=3, m=2)]),
    ("image.resize2d(x, [4, 4], layout='NCHW')", {"x": "1,2,h,w" + F}, [dict(h=2, w=3)], [dict(h=0, w=3)]),
    ("image.col2im(x, [4, 4], [2, 2])", {"x": "1,n,m" + F}, [dict(n=8, m=9)], [dict(n=6, m=9), dict(n=8, m=8)]),
    ("image.grid_sample(x, g)", {"x": "n,2,3,3" + F, "g": "m,2,2,k" + F}, [dict(n=1, m=1, k=2)], [dict(n=1, m=2, k=2), dict(n=1, m=1, k=3)]),
    ("reshape(x, [8, 3])", {"x": "n,6" + F}, [dict(n=4)], [dict(n=3), dict(n=0)]),
    ("reshape(x, [2, -1])", {"x": "n,3" + F}, [dict(n=4), dict(n=0)], [dict(n=3)]),
    ("reshape(x, [-1, 4])", {"x": "n,m" + F}, [dict(n=4, m=3), dict(n=2, m=6), dict(n=0, m=5)], [dict(n=3, m=3)]),
    ("strided_slice(x, axes=[0], begin=[1], end=[m])", {"x": "n,2" + F, "y": "m" + F}, [dict(n=3, m=5), dict(n=5, m=3), dict(n=4, m=4), dict(n=0, m=1)], []),
    ("strided_slice(x, axes=[0], begin=[m], end=[-1], strides=[2])", {"x": "n,2" + F, "y": "m" + F}, [dict(n=9, m=2), dict(n=3, m=5), dict(n=0, m=0)], []),
    ("strided_slice(x, axes=[0], begin=[1], end=[4], assume_inbound=True)", {"x": "n,2" + F}, [dict(n=4), dict(n=6)], [dict(n=3), dict(n=0)]),
    ("strided_slice(x, axes=[0], begin=[0], end=[m - 3])", {"x": "n" + F, "y": "m" + F}, [dict(n=4, m=1), dict(n=4, m=5), dict(n=2, m=9)], []),
    ("squeeze(x, axis=[0])", {"x": "n,3" + F}, [dict(n=1)], [dict(n=2), dict(n=0)]),
    ("broadcast_to(x, [4, 3])", {"x": "n,3" + F}, [dict(n=1), dict(n=4)], [dict(n=2), dict(n=0)]),
    ("concat((x, y), axis=1)", {"x": "n,m" + F, "y": "k,2" + F}, [dict(n=3, m=2, k=3), dict(n=3, m=0, k=3)], [dict(n=3, m=2, k=2)]),
    ("stack((x, y))", {"x": "n" + F, "y": "m" + F}, [dict(n=3, m=3)], [dict(n=3, m=2)]),
    ("split(x, 3, axis=0)", {"x": "n,2" + F}, [dict(n=6), dict(n=0)], [dict(n=4), dict(n=2)]),
    ("split(x, [2, 5], axis=0)", {"x": "n,2" + F}, [dict(n=5), dict(n=8)], [dict(n=4), dict(n=1)]),
    ("tile(x, [2, 3])", {"x": "n,2" + F}, [dict(n=3), dict(n=0)], []),
    ("repeat(x, 2, axis=0)", {"x": "n,2" + F}, [dict(n=3), dict(n=0)], []),
]
BOUNDS = [-1000, -4, -3, -1, 0, 1, 4, 2147483647]


@pytest.mark.parametrize("row", ROWS, ids=[r[0] for r in ROWS])
def test_verdicts(row, tmp_path):
    call, tensors, legal, illegal = row
    for sizes in legal:
        assert difference(tmp_path, call, tensors, sizes, True) is None
    for sizes in illegal:
        assert difference(tmp_path, call, tensors, sizes, False) is None


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_slices(step, tmp_path):
    """Against numpy: bounds before, in and behind extents from 0 on, in steps that go either way."""
    path = tmp_path / "slices.tir"
    pairs = [(a, b) for a in BOUNDS for b in BOUNDS]
    lines = "".join("            y%d = R.strided_slice(x, axes=[0], begin=[%d], end=[%d], strides=[%d])\n" % (i, a, b, step)
                    for i, (a, b) in enumerate(pairs))
    names = ", ".join("y%d" % i for i in range(len(pairs)))
    path.write_text("""@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        with R.dataflow():
%s            R.output(%s)
        return (%s)
""" % (lines, names, names))
    for n in (0, 1, 4):
        x = extents.np.arange(n, dtype="float32")
        extents.np.save(tmp_path / "x.npy", x)
        status, found = extents.tell(path, ["--plain"], ["x"], tmp_path / "results.npz")
        assert status == 0, found
        for i, (a, b) in enumerate(pairs):
            assert extents.np.array_equal(found["y%d" % i], x[a:b:step]), (n, a, b, step)


def test_random():
    programs = int(os.environ.get("TIRC_RANDOM", 34 // EVERY))
    assert random_extents.run(programs, seed=1) == 0
