"""Programs with several unknown extents compute what those with the same numbers compute, in the interpreter, in
machine code and with --auto; the latter are compared with numpy elsewhere."""

import numpy as np
import pytest
import tirc
from harness import FOLDER, SEED, _auto

SIZES = dict(n=6, m=5, k=2, b=3, s=4, h=7, w=9, t=6, d=5)
CALLS = [
    "cumsum x=n,m:float32 axis=1", "cumsum x=n,m:float32 axis=0 exclusive=True", "scatter_nd x=n,6:float32 i=k,1:int64 u=k,6:float32",
    "scatter_elements x=n,m:float32 i=k,m:int64 u=k,m:float32", "take x=n,8:float32 i=b,s:int64 axis=0",
    "gather_elements x=n,m:float32 i=n,k:int64 axis=1", "concat xs=b,n,h:float32+b,m,h:float32 axis=1",
    "split x=b,n:float32 indices_or_sections=3 axis=1", "nn.conv2d x=n,3,h,w:float32 k=4,3,3,3:float32 padding=1 strides=2",
    "nn.max_pool2d x=n,3,h,w:float32 pool_size=2 strides=2",
    "nn.avg_pool2d x=n,3,h,w:float32 pool_size=3 strides=2 padding=1 ceil_mode=True",
    "nn.adaptive_avg_pool2d x=n,3,h,w:float32 output_size=2", "nn.adaptive_avg_pool2d x=n,3,h,w:float32 output_size=1",
    "argmax x=n,m:float32 axis=1", "nn.group_norm x=n,8,h,w:float32 g=8:float32 b=8:float32 num_groups=2",
    "nn.pad x=n,m:float32 pad_width=[1,1,0,2] pad_mode=reflect", "image.resize2d x=n,3,h,w:float32 size=(8,8)",
    "strided_slice x=n,m:float32 axes=[1] begin=[1] end=[-1]", "flatten x=n,3,m:float32", "reshape x=b,n,12,64:float32 shape=(-1,768)",
    "tile x=n,m:float32 repeats=[2,3]", "repeat x=n,m:float32 repeats=2 axis=1", "tril x=n,n:float32",
    "one_hot x=n,:int64 on_value=1.0 off_value=0.0 depth=5", "nn.conv2d_transpose x=n,3,h,w:float32 k=3,4,3,3:float32 strides=2",
    "variance x=n,m:float32 axis=[0,1]", "nn.attention q=b,s,4,8:float32 k=b,t,2,8:float32 v=b,t,2,8:float32 causal_mask=BottomRight",
    "matmul a=b,h,s,d:float32 b=b,h,d,t:float32", "nn.batch_norm x=n,3,h,w:float32 g=3:float32 b=3:float32 m=3:float32 v=3:float32 training=True",
    "stack xs=n,m:float32+n,m:float32 axis=1", "flip x=n,m:float32 axis=0", "add a=n,1:float32 b=1,m:float32", "squeeze x=n,1,m:float32"]


def _with_numbers(word):
    name, value = word.split("=", 1)
    if ":" not in word:
        return word
    tensors = [t.split(":") for t in value.split("+")]
    return name + "=" + "+".join(",".join(str(SIZES.get(e, e)) for e in shape.split(",")) + ":" + dtype for shape, dtype in tensors)


@pytest.mark.parametrize("call", CALLS)
def test_as_with_numbers(call):
    name, *words = call.split()
    unknown = tirc.operator(name, *words, folder=FOLDER)
    known = tirc.operator(name, *[_with_numbers(w) for w in words], folder=FOLDER)
    params = list(known.functions.values())[0].params
    n = sum(w.count(":") for w in words)
    arrays = [np.asarray(SEED.integers(0, 2, p.shape) if "int" in p.dtype else SEED.uniform(0.5, 1.5, p.shape)).astype(p.dtype)
              for p in params]
    results = []
    for run in (tirc.build(known), tirc.build(unknown), _auto(unknown), lambda *a: tirc.interpret(unknown, *a)):
        given = [a.copy() for a in arrays]
        run(*given)
        results.append(given[n:])
    assert len(results[0]) >= 1
    for others in results[1:]:
        for a, b in zip(results[0], others):
            np.testing.assert_allclose(a.astype("float64"), b.astype("float64"), rtol=1e-4, atol=1e-5)
