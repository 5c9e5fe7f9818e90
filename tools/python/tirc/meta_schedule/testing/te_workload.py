"""tirc.meta_schedule.testing.te_workload: usual computations as tensors of te, inputs first, for te.create_prim_func."""

from ... import te
from ...tir import all as all_of
from ...tir import if_then_else, max as greater


def _matrices(n, m, k, in_dtype):
    return te.placeholder((n, k), name="A", dtype=in_dtype), te.placeholder((k, m), name="B", dtype=in_dtype)


def _product(a, b, n, m, k, out_dtype, name):
    r = te.reduce_axis((0, k), name="k")
    return te.compute((n, m), lambda i, j: te.sum(a[i, r].astype(out_dtype) * b[r, j].astype(out_dtype), axis=[r]), name=name)


def matmul(n, m, k, in_dtype="float32", out_dtype="float32"):
    a, b = _matrices(n, m, k, in_dtype)
    return a, b, _product(a, b, n, m, k, out_dtype, "C")


def matmul_relu(n, m, k, in_dtype="float32", out_dtype="float32"):
    a, b = _matrices(n, m, k, in_dtype)
    c = _product(a, b, n, m, k, out_dtype, "C")
    zero = te.const(0, out_dtype)
    return a, b, te.compute((n, m), lambda i, j: greater(c[i, j], zero), name="compute")


def batch_matmul_nkkm(B, N, M, K, in_dtype="float32", out_dtype="float32"):
    x = te.placeholder((B, N, K), name="X", dtype=in_dtype)
    y = te.placeholder((B, K, M), name="Y", dtype=in_dtype)
    k = te.reduce_axis((0, K), name="k")
    z = te.compute((B, N, M), lambda b, i, j: te.sum(x[b, i, k].astype(out_dtype) * y[b, k, j].astype(out_dtype), axis=[k]), name="Z")
    return x, y, z


def transpose_batch_matmul(batch, seq_len, n_head, n_dim, in_dtype="float32", out_dtype="float32"):
    query = te.placeholder((batch, seq_len, n_head, n_dim), name="query", dtype=in_dtype)
    value = te.placeholder((batch, seq_len, n_head, n_dim), name="value", dtype=in_dtype)
    query_t = te.compute((batch, n_head, seq_len, n_dim), lambda b, h, l, d: query[b, l, h, d], name="query_T")
    value_t = te.compute((batch, n_head, n_dim, seq_len), lambda b, h, d, l: value[b, l, h, d], name="value_T")
    k = te.reduce_axis((0, n_dim), name="k")
    c = te.compute((batch, n_head, seq_len, seq_len),
                   lambda b, h, i, j: te.sum(query_t[b, h, i, k].astype(out_dtype) * value_t[b, h, k, j].astype(out_dtype), axis=[k]), name="C")
    return query, value, c


def _padded(x, widths, axes, dtype):
    """Zeros around some axes."""
    shape = [extent + 2 * widths if d in axes else extent for d, extent in enumerate(x.shape)]

    def element(*i):
        inside = [c for d in axes for c in (i[d] >= widths, i[d] < x.shape[d] + widths)]
        return if_then_else(all_of(*inside), x[[i[d] - widths if d in axes else i[d] for d in range(len(i))]], te.const(0, dtype))

    return te.compute(shape, element, name="PadInput")


def _extent(n, kernel, stride, padding, dilation):
    return (n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def conv1d_nlc(N, L, CI, CO, kernel_size, stride=1, padding=0, dilation=1, groups=1, in_dtype="float32", out_dtype="float32"):
    per = CI // groups
    inputs = te.placeholder((N, L, CI), name="inputs", dtype=in_dtype)
    weight = te.placeholder((kernel_size, per, CO), name="weight", dtype=in_dtype)
    padded = _padded(inputs, padding, (1,), in_dtype)
    rc, rl = te.reduce_axis((0, per), name="rc"), te.reduce_axis((0, kernel_size), name="rl")
    output = te.compute(
        (N, _extent(L, kernel_size, stride, padding, dilation), CO),
        lambda n, l, co: te.sum(padded[n, l * stride + rl * dilation, co // (CO // groups) * per + rc].astype(out_dtype)
                                * weight[rl, rc, co].astype(out_dtype), axis=[rl, rc]), name="conv1d_nlc")
    return inputs, weight, output


def conv2d_nhwc(N, H, W, CI, CO, kernel_size, stride=1, padding=0, dilation=1, groups=1, in_dtype="float32", out_dtype="float32"):
    per = CI // groups
    inputs = te.placeholder((N, H, W, CI), name="inputs", dtype=in_dtype)
    weight = te.placeholder((kernel_size, kernel_size, per, CO), name="weight", dtype=in_dtype)
    padded = _padded(inputs, padding, (1, 2), in_dtype)
    rh, rw, rc = te.reduce_axis((0, kernel_size), name="rh"), te.reduce_axis((0, kernel_size), name="rw"), te.reduce_axis((0, per), name="rc")
    output = te.compute(
        (N, _extent(H, kernel_size, stride, padding, dilation), _extent(W, kernel_size, stride, padding, dilation), CO),
        lambda n, h, w, co: te.sum(
            padded[n, h * stride + rh * dilation, w * stride + rw * dilation, co // (CO // groups) * per + rc].astype(out_dtype)
            * weight[rh, rw, rc, co].astype(out_dtype), axis=[rh, rw, rc]), name="conv2d_nhwc")
    return inputs, weight, output


def conv2d_nchw(n, h, w, ci, co, kh, kw, stride, padding, dilation=1, in_dtype="float32", out_dtype="float32"):
    x = te.placeholder((n, ci, h, w), name="X", dtype=in_dtype)
    weight = te.placeholder((co, ci, kh, kw), name="W", dtype=in_dtype)
    padded = _padded(x, padding, (2, 3), in_dtype)
    rc, rh, rw = te.reduce_axis((0, ci), name="rc"), te.reduce_axis((0, kh), name="rh"), te.reduce_axis((0, kw), name="rw")
    y = te.compute(
        (n, co, _extent(h, kh, stride, padding, dilation), _extent(w, kw, stride, padding, dilation)),
        lambda b, c, i, j: te.sum(padded[b, rc, i * stride + rh * dilation, j * stride + rw * dilation].astype(out_dtype)
                                  * weight[c, rc, rh, rw].astype(out_dtype), axis=[rc, rh, rw]), name="conv2d_nchw")
    return x, weight, y


def depthwise_conv2d_nhwc(N, H, W, C, kernel_size, stride=1, padding=0, dilation=1, factor=1, in_dtype="float32", out_dtype="float32"):
    if factor != 1:
        raise ValueError("each channel gives one: factor is 1")
    inputs = te.placeholder((N, H, W, C), dtype=in_dtype)
    weight = te.placeholder((factor, kernel_size, kernel_size, C), dtype=in_dtype)
    padded = _padded(inputs, padding, (1, 2), in_dtype)
    rh, rw = te.reduce_axis((0, kernel_size), name="rh"), te.reduce_axis((0, kernel_size), name="rw")
    output = te.compute(
        (N, _extent(H, kernel_size, stride, padding, dilation), _extent(W, kernel_size, stride, padding, dilation), C),
        lambda n, h, w, c: te.sum(padded[n, h * stride + rh * dilation, w * stride + rw * dilation, c].astype(out_dtype)
                                  * weight[0, rh, rw, c].astype(out_dtype), axis=[rh, rw]), name="depth_conv2d_nhwc")
    return inputs, weight, output


def softmax_mn(m, n, dtype="float32"):
    a = te.placeholder((m, n), name="A", dtype=dtype)
    from ... import topi
    return a, topi.nn.softmax(a, axis=1)


def norm_bmn(B, M, N, dtype="float32"):
    a = te.placeholder((B, M, N), name="A", dtype=dtype)
    i, j = te.reduce_axis((0, M), name="i"), te.reduce_axis((0, N), name="j")
    c = te.compute((B,), lambda b: te.sum(a[b, i, j] * a[b, i, j], axis=[i, j]), name="C")
    return a, te.compute((B,), lambda b: te.sqrt(c[b]), name="D")
