"""Programs that are measured on GPUs."""

PRODUCT = """@T.prim_func
def main(A: T.Buffer((N, K), "OF"), B: T.Buffer((SHAPE), "OF"), C: T.Buffer((N, N), "TO")):
    for i, j, k in T.grid(N, N, K):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.TO(0)
            C[vi, vj] = C[vi, vj] + T.Cast("TO", A[vi, vk]) * T.Cast("TO", B[PLACE])
"""
GEMV = """@T.prim_func
def main(A: T.Buffer((N, N), "float16"), x: T.Buffer((N,), "float16"), y: T.Buffer((N,), "float32")):
    for i, k in T.grid(N, N):
        with T.block("y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                y[vi] = T.float32(0)
            y[vi] = y[vi] + T.Cast("float32", A[vi, vk]) * T.Cast("float32", x[vk])
"""


def product(of, to, place, n, k=None):
    """Of n x k times k x n; place: "vk, vj", or "vj, vk" of a B that lies by columns."""
    k = k or n
    shape = "%d, %d" % ((k, n) if place == "vk, vj" else (n, k))
    text = PRODUCT.replace("SHAPE", shape).replace("PLACE", place).replace("OF", of).replace("TO", to)
    return text.replace("N", str(n)).replace("K", str(k))
