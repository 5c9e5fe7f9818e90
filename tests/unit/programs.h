/* Small programs that between them use everything the lowering passes and the code generators must
 * handle; each runs on random data. */
#ifndef TIRC_TESTS_PROGRAMS_H
#define TIRC_TESTS_PROGRAMS_H

#include <stdint.h>

typedef struct Program {
  const char *name, *text;
  int64_t symbol;   /* value of symbolic extents and integer parameters */
  double tolerance; /* of machine code; 0 must be exact */
} Program;

#define FUNC(params, body) "@T.prim_func\ndef main(" params "):\n" body
#define F32 "\"float32\""
#define B2(name, m, n) #name ": T.Buffer((" #m ", " #n "), \"float32\")"
#define B1(name, n) #name ": T.Buffer((" #n ",), \"float32\")"
#define MATMUL_BLOCK(indent)                                                                       \
  indent "with T.block(\"C\"):\n" indent                                                           \
         "    vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n" indent                              \
         "    with T.init():\n" indent "        C[vi, vj] = T.float32(0)\n" indent                 \
         "    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"

/* A one-dimensional elementwise map under one loop over 37 elements. */
#define MAP(type, out, expr)                                                                       \
  "@T.prim_func\ndef main(A: T.Buffer((37,), \"" type "\"), B: T.Buffer((37,), \"" type            \
  "\"), C: T.Buffer((37,), \"" out "\")):\n    for i in range(37):\n        C[i] = " expr "\n"
#define VMAP(type, out, expr)                                                                      \
  "@T.prim_func\ndef main(A: T.Buffer((37,), \"" type "\"), B: T.Buffer((37,), \"" type            \
  "\"), C: T.Buffer((37,), \"" out "\")):\n    for i in T.vectorized(37):\n        C[i] = " expr   \
  "\n"
#define BOTH(label, type, out, expr, tolerance)                                                    \
  {label, MAP(type, out, expr), 0, tolerance}, {                                                   \
    label " vectorized", VMAP(type, out, expr), 0, tolerance                                       \
  }

static const Program programs[] = {
    {"a value stored where it stands",
     FUNC(B1(A, 8) ", " B1(B, 8),
          "    for i in range(8):\n        A[i + 0] = A[i]\n        B[i] = A[i]\n"),
     0, 0},
    {"tests that repeat the one before them",
     FUNC(B1(A, 9) ", " B1(B, 24),
          "    for i in range(8):\n        if A[8] > T.float32(0):\n            A[8] = A[i]\n"
          "        if A[8] > T.float32(0):\n            B[i] = A[i]\n"
          "        if i % 3 == 1:\n            B[i + 8] = A[i]\n"
          "        if i % 3 == 1:\n            B[i + 16] = A[i]\n"),
     0, 0},
    {"matmul",
     FUNC(B2(A, 13, 17) ", " B2(B, 17, 11) ", " B2(C, 13, 11),
          "    for i, j, k in T.grid(13, 11, 17):\n" MATMUL_BLOCK("        ")),
     0, 1e-5},
    {"sums of parts of a reduction",
     FUNC(B2(A, 8, 200) ", " B1(C, 8),
          "    S = T.alloc_buffer((5, 8), scope=\"local\")\n    for ko, i in T.grid(5, 8):\n"
          "        for ki in range(40):\n            with T.block(\"S\"):\n"
          "                vi, vko, vki = T.axis.remap(\"SSR\", [i, ko, ki])\n"
          "                with T.init():\n                    S[vko, vi] = T.float32(0)\n"
          "                S[vko, vi] = S[vko, vi] + A[vi, vko * 40 + vki]\n"
          "        with T.block(\"C\"):\n            vi, vko = T.axis.remap(\"SR\", [i, ko])\n"
          "            with T.init():\n                C[vi] = T.float32(0)\n"
          "            C[vi] = C[vi] + S[vko, vi]\n"),
     0, 1e-5},
    {"matmul, vectorized inside of the reduction",
     FUNC(B2(A, 13, 17) ", " B2(B, 17, 24) ", " B2(C, 13, 24),
          "    for i in T.parallel(13):\n        for k in range(17):\n"
          "            for j in T.vectorized(24):\n" MATMUL_BLOCK("                ")),
     0, 1e-5},
    {"matmul, vectorized outside of the reduction",
     FUNC(B2(A, 5, 17) ", " B2(B, 17, 24) ", " B2(C, 5, 24),
          "    for i in range(5):\n        for j in T.vectorized(24):\n"
          "            for k in range(17):\n" MATMUL_BLOCK("                ")),
     0, 1e-5},
    {"vectors over loops of 64 bits",
     FUNC("A: T.Buffer((T.int64(6), T.int64(48)), \"float32\"), "
          "B: T.Buffer((T.int64(6), T.int64(48)), \"float32\")",
          "    for i in T.parallel(T.int64(6)):\n        for j0 in range(T.int64(3)):\n"
          "            for j1 in T.vectorized(T.int64(16)):\n                with T.block(\"B\"):\n"
          "                    vi = T.axis.spatial(T.int64(6), i)\n"
          "                    vj = T.axis.spatial(T.int64(48), j0 * T.int64(16) + j1)\n"
          "                    B[vi, vj] = A[vi, vj] * T.float32(2)\n"),
     0, 0},
    {"tail predicates",
     FUNC(B2(A, 30, 50) ", " B2(B, 30, 50),
          "    for i0 in T.parallel(4):\n        for j0, i1 in T.grid(4, 8):\n"
          "            for j1 in T.vectorized(16):\n                with T.block(\"B\"):\n"
          "                    vi = T.axis.spatial(30, i0 * 8 + i1)\n"
          "                    vj = T.axis.spatial(50, j0 * 16 + j1)\n"
          "                    T.where(i0 * 8 + i1 < 30 and j0 * 16 + j1 < 50)\n"
          "                    B[vi, vj] = A[vi, vj] * T.float32(2)\n"),
     0, 0},
    {"tail of a reduction",
     FUNC(B2(A, 6, 50) ", " B1(B, 6),
          "    for i, k0 in T.grid(6, 4):\n        for k1 in T.unroll(16):\n"
          "            with T.block(\"B\"):\n                vi = T.axis.spatial(6, i)\n"
          "                vk = T.axis.reduce(50, k0 * 16 + k1)\n"
          "                T.where(k0 * 16 + k1 < 50)\n                with T.init():\n"
          "                    B[vi] = T.float32(0)\n                B[vi] = B[vi] + A[vi, vk]\n"),
     0, 1e-6},
    {"a condition on a loop whose bounds change within the loop outside",
     FUNC("P: T.Buffer((16,), \"int32\"), " B2(C, 16, 64),
          "    for i in range(16):\n        P[i] = 0\n        for k in range(64):\n"
          "            for j in range(P[i] % 64, P[i] % 64 + 4):\n"
          "                if k <= i + j // 2:\n"
          "                    C[i, k] = C[i, k] + T.float32(1)\n"
          "            P[i] = k * 5\n"),
     0, 0},
    {"a condition on a loop whose bounds have a name within the loop outside",
     FUNC("P: T.Buffer((16,), \"int32\"), " B2(C, 16, 64),
          "    for i in range(16):\n        for k in range(64):\n"
          "            with T.LetStmt((P[k % 16] & 7)) as x:\n"
          "                for j in range(x, x + 4):\n                    if k <= i + j // 2:\n"
          "                        C[i, k] = C[i, k] + T.float32(1)\n"),
     0, 0},
    {"rows of a triangle in vectors",
     FUNC(B2(A, 32, 32) ", " B1(B, 32),
          "    for i in range(32):\n"
          "        s = T.decl_buffer((8,), scope=\"local\")\n"
          "        for v in T.vectorized(8):\n            s[v] = T.float32(0)\n"
          "        for k in range(4):\n            for v in T.vectorized(8):\n"
          "                if k * 8 + v <= i:\n                    s[v] = s[v] + A[i, k * 8 + v]\n"
          "        B[i] = T.float32(0)\n"
          "        for v in range(8):\n            B[i] = B[i] + s[v]\n"),
     0, 1e-6},
    {"from a diagonal on, backwards and in steps",
     FUNC("A: T.Buffer((40,), \"float32\"), B: T.Buffer((10, 40), \"float32\")",
          "    for i, j in T.grid(10, 40):\n        B[i, j] = T.float32(0)\n"
          "    for i in range(10):\n        for j in range(40):\n"
          "            if i * 3 <= j * 2 and j < i * 5 + 7:\n                B[i, j] = A[j]\n"
          "            if 39 - j >= i:\n                B[i, j] = B[i, j] + A[39 - j]\n"),
     0, 0},
    {"a view of the row that a number in a cache says",
     FUNC("L: T.Buffer((16,), \"int32\"), " B2(A, 16, 4) ", " B1(E, 16),
          "    N = T.alloc_buffer((16,), \"int32\")\n    for i in range(16):\n"
          "        with T.block(\"N\"):\n            vi = T.axis.spatial(16, i)\n"
          "            N[vi] = T.abs(L[vi]) % 16\n"
          "        with T.block(\"E\"):\n            vi = T.axis.spatial(16, i)\n"
          "            V = T.match_buffer(A[N[vi], 0:4], (1, 4), \"float32\")\n"
          "            E[vi] = V[0, 1]\n"),
     0, 0},
    {"cache in a tile",
     FUNC(B2(A, 32, 32) ", " B2(B, 32, 32),
          "    with T.block(\"root\"):\n        X = T.alloc_buffer((32, 32))\n"
          "        for i0, j0 in T.grid(4, 2):\n"
          "            for i1, j1 in T.grid(8, 16):\n                with T.block(\"X\"):\n"
          "                    vi = T.axis.spatial(32, i0 * 8 + i1)\n"
          "                    vj = T.axis.spatial(32, j0 * 16 + j1)\n"
          "                    X[vi, vj] = A[vi, vj] + T.float32(1)\n"
          "            for i1, j1 in T.grid(8, 16):\n                with T.block(\"B\"):\n"
          "                    vi = T.axis.spatial(32, i0 * 8 + i1)\n"
          "                    vj = T.axis.spatial(32, j0 * 16 + j1)\n"
          "                    B[vi, vj] = X[vi, vj] * T.float32(3)\n"),
     0, 1e-6},
    {"a symbolic number of tiles",
     FUNC("a: T.handle, b: T.handle",
          "    n = T.int32()\n    A = T.match_buffer(a, (n,))\n"
          "    B = T.match_buffer(b, (n, 4))\n"
          "    with T.block(\"root\"):\n        X = T.alloc_buffer(((n + 7) // 8, 4))\n"
          "        for i, j in T.grid((n + 7) // 8, 4):\n            with T.block(\"X\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                X[vi, vj] = A[vi * 8 % n] + T.float32(1)\n"
          "        for i, j in T.grid(n, 4):\n            with T.block(\"B\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                B[vi, vj] = X[vi // 8, 3 - vj] * T.float32(3)\n"),
     19, 1e-6},
    {"storage_align",
     FUNC(B2(A, 16, 16) ", " B2(B, 16, 16),
          "    with T.block(\"root\"):\n        X = T.alloc_buffer((16, 16))\n"
          "        for i, j in T.grid(16, 16):\n            with T.block(\"X\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                T.block_attr({\"buffer_dim_align\": [[0, 0, 32, 5]]})\n"
          "                X[vi, vj] = A[vj, vi]\n"
          "        for i, j in T.grid(16, 16):\n            with T.block(\"B\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                B[vi, vj] = X[vi, vj]\n"),
     0, 0},
    {"values carried from one iteration to the next stay outside of the loop",
     FUNC(B1(A, 20) ", " B1(B, 20),
          "    with T.block(\"root\"):\n        X = T.alloc_buffer((1,))\n"
          "        for i in range(20):\n            with T.block(\"X\"):\n"
          "                vi = T.axis.opaque(20, i)\n"
          "                if vi == 0:\n                    X[0] = T.float32(0)\n"
          "                X[0] = X[0] + A[vi]\n                B[vi] = X[0]\n"),
     0, 1e-6},
    {"a window over earlier values",
     FUNC(B1(A, 20) ", " B1(B, 20),
          "    with T.block(\"root\"):\n        X = T.alloc_buffer((20,))\n"
          "        for i in range(20):\n            with T.block(\"X\"):\n"
          "                vi = T.axis.spatial(20, i)\n                X[vi] = A[vi]\n"
          "            with T.block(\"B\"):\n                vi = T.axis.spatial(20, i)\n"
          "                B[vi] = X[vi] + X[T.max(vi - 1, 0)]\n"),
     0, 1e-6},
    {"blur with a cache of its rows",
     FUNC(B2(A, 18, 16) ", " B2(B, 16, 16),
          "    with T.block(\"root\"):\n        X = T.alloc_buffer((18, 16))\n"
          "        for i in T.parallel(16):\n"
          "            for ax0, ax1 in T.grid(3, 16):\n                with T.block(\"X\"):\n"
          "                    vi = T.axis.spatial(18, i + ax0)\n"
          "                    vj = T.axis.spatial(16, ax1)\n"
          "                    X[vi, vj] = A[vi, vj] * T.float32(2)\n"
          "            for j in T.vectorized(16):\n                with T.block(\"B\"):\n"
          "                    vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                    B[vi, vj] = X[vi, vj] + X[vi + 1, vj] + X[vi + 2, vj]\n"),
     0, 1e-6},
    {"padding",
     FUNC(B1(A, 16) ", " B1(B, 20),
          "    for i in T.vectorized(20):\n        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(20, i)\n"
          "            B[vi] = T.if_then_else(2 <= vi and vi < 18, A[vi - 2], T.float32(7))\n"),
     0, 0},
    {"nested blocks and a view",
     FUNC(B2(A, 16, 16) ", " B2(B, 16, 16),
          "    for i, j in T.grid(4, 4):\n        with T.block(\"outer\"):\n"
          "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "            T.reads(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])\n"
          "            T.writes(B[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])\n"
          "            X = T.match_buffer(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), "
          "strides=[16, 1], offset_factor=1)\n"
          "            for ii, jj in T.grid(4, 4):\n                with T.block(\"inner\"):\n"
          "                    vii, vjj = T.axis.remap(\"SS\", [ii, jj])\n"
          "                    B[vi * 4 + vii, vj * 4 + vjj] = X[vii, vjj] * T.float32(2)\n"),
     0, 0},
    {"opaque block with an if",
     FUNC(B1(A, 20) ", " B1(B, 20),
          "    for i in range(20):\n        with T.block(\"B\"):\n            T.reads(A[0:20])\n"
          "            T.writes(B[0:20])\n            if i % 3 == 0:\n"
          "                B[i] = A[i]\n            else:\n"
          "                B[i] = A[19 - i] + T.float32(1)\n"),
     0, 1e-6},
    {"while",
     FUNC(B1(A, 8), "    with T.block(\"root\"):\n        n = T.alloc_buffer((1,), \"int32\")\n"
                    "        with T.block(\"w\"):\n            T.reads(n[0], A[0:8])\n"
                    "            T.writes(n[0], A[0:8])\n            n[0] = 0\n"
                    "            while n[0] < 8:\n                A[n[0]] = T.float32(3)\n"
                    "                n[0] = n[0] + 2\n"),
     0, 0},
    {"let",
     FUNC(B1(A, 20) ", " B1(B, 20),
          "    for i in T.vectorized(20):\n        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(20, i)\n            T.reads(A[19 - vi])\n"
          "            T.writes(B[vi])\n            at: T.int32 = 19 - vi\n"
          "            B[vi] = A[at] * T.float32(2)\n"),
     0, 0},
    {"a load that a mask cuts",
     FUNC(B2(A, 10, 13) ", " B2(B, 10, 16),
          "    for i in range(10):\n        for j0 in T.unroll(2):\n"
          "            for j1 in T.vectorized(8):\n"
          "                B[i, j0 * 8 + j1] = T.if_then_else(j0 * 8 + j1 < 13, "
          "A[i, j0 * 8 + j1], T.float32(0))\n"),
     0, 0},
    {"vectors written out, with a tail",
     FUNC(B2(A, 10, 21) ", " B2(B, 10, 21),
          "    for i in range(10):\n        for j0 in range(2):\n"
          "            for j1 in T.unroll(2):\n                for j2 in T.vectorized(8):\n"
          "                    if j0 * 16 + j1 * 8 + j2 < 21:\n"
          "                        B[i, j0 * 16 + j1 * 8 + j2] = A[i, j0 * 16 + j1 * 8 + j2]\n"),
     0, 0},
    {"vectorized under a symbolic tail",
     FUNC("a: T.handle, b: T.handle",
          "    n = T.int32()\n    A = T.match_buffer(a, (n,))\n    B = T.match_buffer(b, (n,))\n"
          "    for i0 in T.parallel((n + 15) // 16):\n        for i1 in T.vectorized(16):\n"
          "            with T.block(\"B\"):\n"
          "                vi = T.axis.spatial(n, i0 * 16 + i1)\n"
          "                T.where(i0 * 16 + i1 < n)\n"
          "                B[vi] = A[vi] + T.float32(1)\n"),
     53, 0},
    {"lanes left out of several statements",
     FUNC("a: T.handle, b: T.handle, c: T.handle",
          "    n = T.int64()\n    A = T.match_buffer(a, (n,))\n    B = T.match_buffer(b, (n,))\n"
          "    C = T.match_buffer(c, (n,))\n"
          "    for o in range((n + 7) // 8):\n        for v in T.vectorized(8):\n"
          "            if o * 8 + v < n:\n                with T.block(\"B\"):\n"
          "                    x = A[o * 8 + v]\n                    B[o * 8 + v] = x * x\n"
          "                for k in range(2):\n"
          "                    C[o * 8 + v] = B[o * 8 + v] + A[k]\n"),
     13, 0},
    {"what is read beside a border, in vectors",
     FUNC(B1(A, 31) ", " B1(B, 32),
          "    for o in range(4):\n        for v in T.vectorized(8):\n"
          "            B[o * 8 + v] = T.if_then_else((o * 8 + v) % 3 >= 1, A[o * 8 + v - 1] * "
          "T.float32(2), T.float32(1))\n"),
     0, 0},
    {"a choice that computes both sides, and a guard in one of them",
     FUNC(B1(A, 8) ", L: T.Buffer((1,), \"int32\"), " B1(B, 16),
          "    for i in range(16):\n        B[i] = T.Select(i < L[0] % 2 + 7, "
          "T.if_then_else(i < L[0] % 2 + 7, A[i], T.float32(0)), T.float32(1))\n"),
     0, 0},
    {"a size that is a number in a branch, where rows are one after the other",
     FUNC(
         "a: T.handle, b: T.handle",
         "    n = T.int64()\n    A = T.match_buffer(a, (n, n))\n    B = T.match_buffer(b, (n, n))\n"
         "    if n == 16:\n        for f in range(n * 2):\n            for v in T.vectorized(8):\n"
         "                B[(f * 8 + v) // 16, (f * 8 + v) % 16] = "
         "A[(f * 8 + v) // 16, (f * 8 + v) % 16] * T.float32(2)\n"),
     16, 0},
    {"symbolic extent of 0",
     FUNC(
         "a: T.handle, b: T.handle",
         "    n = T.int32()\n    A = T.match_buffer(a, (n, 4))\n    B = T.match_buffer(b, (n, 4))\n"
         "    for i, j in T.grid(n, 4):\n        with T.block(\"B\"):\n"
         "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "            B[vi, vj] = A[vi, vj] + T.float32(1)\n"),
     0, 0},
    {"symbolic workspace",
     FUNC(
         "a: T.handle, b: T.handle",
         "    n = T.int32()\n    A = T.match_buffer(a, (n, 7))\n    B = T.match_buffer(b, (n, 7))\n"
         "    with T.block(\"root\"):\n        X = T.alloc_buffer((n, 7))\n"
         "        for i, j in T.grid(n, 7):\n            with T.block(\"X\"):\n"
         "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "                X[vi, vj] = A[vi, vj] + T.float32(1)\n"
         "        for i, j in T.grid(n, 7):\n            with T.block(\"B\"):\n"
         "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "                B[vi, vj] = X[n - 1 - vi, vj]\n"),
     9, 0},
    {"large workspace",
     FUNC(B2(A, 200, 200) ", " B2(B, 200, 200),
          "    with T.block(\"root\"):\n        X = T.alloc_buffer((200, 200))\n"
          "        for i, j in T.grid(200, 200):\n            with T.block(\"X\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                X[vi, vj] = A[vi, vj] + T.float32(1)\n"
          "        for i, j in T.grid(200, 200):\n            with T.block(\"B\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                B[vi, vj] = X[vj, vi]\n"),
     0, 0},
    {"workspace of each thread",
     FUNC(B2(A, 12, 60) ", " B2(B, 12, 60),
          "    with T.block(\"root\"):\n        X = T.alloc_buffer((12, 60))\n"
          "        for i in T.parallel(12):\n            for j in range(60):\n"
          "                with T.block(\"X\"):\n"
          "                    vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                    X[vi, vj] = A[vi, vj] + T.float32(1)\n"
          "            for j in range(60):\n                with T.block(\"B\"):\n"
          "                    vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                    B[vi, vj] = X[vi, 59 - vj]\n"),
     0, 0},
    {"parallel in parallel",
     FUNC(B2(A, 6, 10) ", " B2(B, 6, 10),
          "    for i in T.parallel(6):\n        for j in T.parallel(10):\n"
          "            with T.block(\"B\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                B[vi, vj] = A[vi, vj] * T.float32(2)\n"),
     0, 0},
    {"a long vectorized loop",
     FUNC(B1(A, 1000) ", " B1(B, 1000),
          "    for i in T.vectorized(1000):\n        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(1000, i)\n            B[vi] = A[999 - vi]\n"),
     0, 0},
    {"vectorized with a stride, a gather and a broadcast",
     FUNC(B2(A, 24, 24) ", I: T.Buffer((24,), \"int32\"), " B2(B, 24, 24),
          "    for i in range(24):\n        for j in T.vectorized(24):\n"
          "            with T.block(\"B\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                B[vj, vi] = A[vj, vi] + A[vi, 0] + A[vi, (I[vj] % 24 + 24) % 24]\n"),
     0, 1e-6},
    {"floor division of a vector index",
     FUNC(B2(A, 8, 16) ", " B2(B, 8, 16),
          "    for i in range(4):\n        for j in T.vectorized(32):\n"
          "            with T.block(\"B\"):\n"
          "                vi = T.axis.spatial(8, (i * 32 + j) // 16)\n"
          "                vj = T.axis.spatial(16, (i * 32 + j) % 16)\n"
          "                B[vi, vj] = A[vi, vj] * T.float32(2)\n"),
     0, 0},
    {"explicit and hinted unrolling",
     FUNC(B2(A, 8, 8) ", " B2(B, 8, 8),
          "    for i in T.serial(8, annotations={\"pragma_auto_unroll_max_step\": 16, "
          "\"pragma_unroll_explicit\": 0}):\n        for j in T.unroll(8):\n"
          "            with T.block(\"B\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                B[vi, vj] = A[vj, vi]\n"),
     0, 0},
    {"scalar parameters",
     FUNC(B1(A, 20) ", n: T.int32, x: T.float32, " B1(B, 20),
          "    for i in range(20):\n        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(20, i)\n"
          "            B[vi] = A[(vi + n) % 20] * x\n"),
     7, 0},
    {"zero-dimensional buffer",
     FUNC(B1(A, 20) ", B: T.Buffer((), \"float32\")",
          "    for i in range(20):\n        with T.block(\"B\"):\n"
          "            vi = T.axis.reduce(20, i)\n            with T.init():\n"
          "                B[()] = T.float32(0)\n            B[()] = B[()] + A[vi]\n"),
     0, 1e-6},
    {"int64 indices",
     FUNC(B2(A, 6, 10) ", " B2(B, 6, 10),
          "    for i, j in T.grid(T.int64(6), T.int64(10)):\n        with T.block(\"B\"):\n"
          "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "            B[vi, vj] = A[T.int64(5) - vi, vj]\n"),
     0, 0},
    {"argmax over tuples",
     FUNC(B2(A, 6, 16) ", " B1(V, 6) ", I: T.Buffer((6,), \"int32\")",
          "    for i, k in T.grid(6, 16):\n        with T.block(\"argmax\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, k])\n            T.reads(A[vi, vk])\n"
          "            T.writes(V[vi], I[vi])\n            with T.init():\n"
          "                V[vi] = T.float32(-100)\n                I[vi] = -1\n"
          "            v: T.float32 = T.Select(V[vi] >= A[vi, vk], V[vi], A[vi, vk])\n"
          "            k2: T.int32 = T.Select(V[vi] >= A[vi, vk], I[vi], vk)\n"
          "            V[vi] = v\n            I[vi] = k2\n"),
     0, 0},
    BOTH("add float32", "float32", "float32", "A[i] + B[i] * A[i] - B[i]", 1e-6),
    BOTH("float64", "float64", "float64", "A[i] / (B[i] + T.float64(3)) - A[i]", 1e-12),
    BOTH("float16", "float16", "float16", "A[i] * B[i] + A[i]", 0),
    BOTH("bfloat16", "bfloat16", "bfloat16", "A[i] * B[i] + A[i]", 0),
    BOTH("float16 to float32", "float16", "float32",
         "T.Cast(\"float32\", A[i]) * T.Cast(\"float32\", B[i])", 0),
    BOTH("float32 to float16", "float32", "float16", "T.Cast(\"float16\", A[i] * B[i])", 0),
    BOTH("float32 to bfloat16", "float32", "bfloat16", "T.Cast(\"bfloat16\", A[i] * B[i])", 0),
    BOTH("float64 to float16", "float64", "float16", "T.Cast(\"float16\", A[i] * B[i])", 0),
    BOTH("float64 to bfloat16", "float64", "bfloat16", "T.Cast(\"bfloat16\", A[i] * B[i])", 0),
    BOTH("int8", "int8", "int8", "T.min(A[i], B[i])", 0),
    BOTH("int8 to int32", "int8", "int32", "T.Cast(\"int32\", A[i]) * T.Cast(\"int32\", B[i])", 0),
    BOTH("uint8", "uint8", "uint8", "T.max(A[i], B[i])", 0),
    BOTH("int16", "int16", "int16", "A[i] - B[i]", 0),
    BOTH("uint16", "uint16", "uint16", "A[i] // (B[i] % T.uint16(5) + T.uint16(1))", 0),
    BOTH("int32 division", "int32", "int32", "A[i] // 3 + A[i] % 3 * 100", 0),
    {"prefetch of what the loop reads",
     FUNC(B1(A, 96) ", " B1(B, 96),
          "    for i in T.serial(6, annotations={\"software_prefetch\": {\"A\": 2, \"B\": 0}}):\n"
          "        for j in T.vectorized(16):\n            B[i * 16 + j] = A[i * 16 + j]\n"),
     0, 0},
    {"prefetch of the next panel, shared out",
     FUNC(B2(A, 40, 50) ", " B2(B, 40, 50),
          "    for q in T.parallel(2):\n        for j in range(3):\n"
          "            P = T.decl_buffer((40, 8))\n            for k in range(40):\n"
          "                for v in T.vectorized(8):\n"
          "                    P[k, v] = A[k, q * 24 + j * 8 + v]\n"
          "            for i in T.serial(8, annotations={\"software_prefetch\": {\"A\": 1}}):\n"
          "                for k, v in T.grid(5, 8):\n"
          "                    B[i * 5 + k, q * 24 + j * 8 + v] = P[i * 5 + k, v]\n"),
     0, 0},
    {"prefetch of the panel after the one in use",
     FUNC(B2(A, 4, 320) ", " B2(B, 4, 16),
          "    for j, i in T.grid(4, 4):\n"
          "        for k in T.serial(5, annotations={\"software_prefetch\": {\"A\": [1, 1]}}):\n"
          "            for l in range(4):\n                for v in T.vectorized(16):\n"
          "                    B[i, v] = B[i, v] + A[j, k * 64 + l * 16 + v]\n"),
     0, 0},
    {"prefetch over the end of a peeled iteration",
     FUNC(B2(A, 3, 800) ", " B1(B, 16),
          "    for q, j in T.grid(2, 3):\n        P = T.decl_buffer((800,))\n"
          "        for k in range(100):\n            for v in T.vectorized(8):\n"
          "                P[k * 8 + v] = A[j, k * 8 + v]\n"
          "        for i in T.serial(100, annotations={\"software_prefetch\": {\"A\": 1}}):\n"
          "            for v in T.vectorized(8):\n                if j == 0:\n"
          "                    B[q * 8 + v] = T.float32(0)\n"
          "                B[q * 8 + v] = B[q * 8 + v] + P[i * 8 + v]\n"),
     0, 0},
    {"border of a padding",
     FUNC(B1(A, 30) ", " B1(B, 40),
          "    for i in range(5):\n        for j in T.vectorized(8):\n"
          "            B[i * 8 + j] = T.if_then_else(i * 8 + j < 30, A[i * 8 + j], "
          "T.float32(0))\n"),
     0, 0},
    {"cache that the first pass over it fills",
     FUNC(B1(A, 64) ", " B1(B, 192), "    X = T.alloc_buffer((64,))\n"
                                     "    for t, r, k in T.grid(4, 3, 16):\n"
                                     "        with T.block(\"X\"):\n"
                                     "            v = T.axis.spatial(64, t * 16 + k)\n"
                                     "            T.where(r < 1)\n"
                                     "            X[v] = A[v] + T.float32(1)\n"
                                     "        with T.block(\"B\"):\n"
                                     "            vr = T.axis.spatial(3, r)\n"
                                     "            v = T.axis.spatial(64, t * 16 + k)\n"
                                     "            B[vr * 64 + v] = X[v] * T.float32(2)\n"),
     0, 0},
    {"rows of a pair that its first step fills",
     FUNC(B2(A, 8, 8) ", " B2(D, 8, 8),
          "    C = T.alloc_buffer((8, 8), \"float32\")\n"
          "    for o, i in T.grid(4, 2):\n"
          "        for r, j in T.grid(2, 8):\n"
          "            with T.block(\"fill\"):\n"
          "                vi = T.axis.opaque(8, o * 2 + (r + i) % 2)\n"
          "                vj = T.axis.spatial(8, j)\n"
          "                T.where(i < 1)\n"
          "                C[vi, vj] = A[vi, vj]\n"
          "        for j in range(8):\n"
          "            with T.block(\"use\"):\n"
          "                vi = T.axis.spatial(8, o * 2 + i)\n"
          "                vj = T.axis.spatial(8, j)\n"
          "                D[vi, vj] = C[vi, vj] + T.float32(1)\n"),
     0, 0},
    {"half of a cache that the first step fills",
     FUNC(B2(A, 8, 8) ", " B2(D, 8, 8), "    C = T.alloc_buffer((8, 8), \"float32\")\n"
                                        "    for i in range(8):\n"
                                        "        for j in range(4):\n"
                                        "            with T.block(\"fill0\"):\n"
                                        "                vj = T.axis.spatial(8, j)\n"
                                        "                vi = T.axis.spatial(8, i)\n"
                                        "                C[0, vj] = A[vi, vj]\n"
                                        "        for j in range(4):\n"
                                        "            with T.block(\"fill1\"):\n"
                                        "                vj = T.axis.spatial(8, j + 4)\n"
                                        "                T.where(i < 1)\n"
                                        "                C[0, vj] = A[0, vj]\n"
                                        "        for j in range(8):\n"
                                        "            with T.block(\"use\"):\n"
                                        "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                                        "                D[vi, vj] = C[0, vj] + T.float32(1)\n"),
     0, 0},
    {"rows that the first half of a loop fills",
     FUNC(B2(A, 8, 8) ", " B2(D, 8, 8),
          "    C = T.alloc_buffer((8, 8), \"float32\")\n"
          "    for i in range(8):\n"
          "        for jo, ji in T.grid(3, 3):\n"
          "            with T.block(\"fill0\"):\n"
          "                vj = T.axis.spatial(8, jo * 3 + ji)\n"
          "                vi = T.axis.spatial(8, i)\n"
          "                T.where(jo * 3 + ji < 8 and i < 4)\n"
          "                C[vi % 4, vj] = A[vi, vj]\n"
          "        for j in range(8):\n"
          "            with T.block(\"use\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                D[vi, vj] = C[vi % 4, vj] + T.float32(1)\n"),
     0, 0},
    {"rows that every other step fills",
     FUNC(B2(A, 8, 8) ", " B2(D, 8, 8),
          "    C = T.alloc_buffer((8, 8), \"float32\")\n"
          "    for i in range(8):\n"
          "        for j in range(8):\n"
          "            with T.block(\"fill\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                T.where(i % 2 == 0)\n"
          "                C[vi // 2, vj] = A[vi, vj]\n"
          "        for j in range(8):\n"
          "            with T.block(\"use\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                D[vi, vj] = C[vi // 2, vj] * T.float32(2)\n"),
     0, 0},
    {"what the end of an iteration leaves for the next",
     FUNC(B1(A, 8) ", " B1(D, 8),
          "    C = T.alloc_buffer((2,))\n    for i in range(8):\n        C[0] = A[i]\n"
          "        D[i] = C[0] + T.if_then_else(i > 0, C[1], T.float32(0))\n"
          "        C[1] = A[i] * T.float32(2)\n"),
     0, 0},
    {"the same where a loop that would write it anew has no steps",
     FUNC("n: T.int32, " B1(A, 8) ", " B1(D, 8),
          "    C = T.alloc_buffer((1,))\n    for i in range(8):\n        for k in range(n):\n"
          "            C[0] = A[k]\n        D[i] = T.if_then_else(i > 0, C[0], T.float32(0))\n"
          "        C[0] = A[i]\n"),
     0, 0},
    {"elements between those that an iteration fills",
     FUNC(B1(A, 8) ", " B1(D, 2),
          "    C = T.alloc_buffer((8,))\n    for i in range(2):\n        for j in range(4):\n"
          "            C[j * 2 + i] = A[j * 2 + i]\n        D[i] = C[2]\n"),
     0, 0},
    {"elements that are read before the iteration comes to them",
     FUNC(B2(A, 4, 8) ", " B2(D, 4, 8),
          "    C = T.alloc_buffer((8,))\n    for j in range(8):\n        C[j] = A[0, j]\n"
          "    for i in range(4):\n        for j in range(8):\n            C[j] = A[i, j]\n"
          "            D[i, j] = C[7 - j]\n"),
     0, 0},
    {"the same in a buffer of the loop around",
     FUNC(B2(A, 4, 8) ", " B2(D, 4, 8),
          "    C = T.alloc_buffer((8,))\n    for i in range(4):\n        for j in range(8):\n"
          "            C[j] = A[i, j]\n"
          "            D[i, j] = T.if_then_else(i > 0 or j > 3, C[7 - j], T.float32(0))\n"),
     0, 0},
    {"a fill that the first iteration alone has steps for",
     FUNC(B1(A, 8) ", " B2(D, 4, 8),
          "    C = T.alloc_buffer((8,))\n    for i in range(4):\n"
          "        for k in range(1 - T.min(i, 1)):\n            for j in range(8):\n"
          "                C[j] = A[j]\n        for j in range(8):\n"
          "            D[i, j] = C[j] + T.float32(1)\n"),
     0, 0},
    {"a triangle that leaves the rest to the iterations before",
     FUNC(B2(A, 8, 8) ", " B2(D, 8, 8),
          "    C = T.alloc_buffer((8, 8))\n    for i in range(8):\n        for j in range(8):\n"
          "            for k in range(T.if_then_else(i == 0, 8, j)):\n"
          "                C[j, k] = A[i, k]\n        for j, k in T.grid(8, 8):\n"
          "            D[i, j] = C[j, k]\n"),
     0, 0},
    {"a fill under a condition on memory that has changed when it is read",
     FUNC(B2(A, 4, 8) ", " B2(D, 4, 8),
          "    C = T.alloc_buffer((8,))\n    m = T.alloc_buffer((1,), \"int32\")\n"
          "    for i in range(4):\n        m[0] = T.if_then_else(i == 0, 1, 0)\n"
          "        for j in range(8):\n            if m[0] == 1:\n"
          "                C[j] = A[i, j]\n        m[0] = 1\n        for j in range(8):\n"
          "            if m[0] == 1:\n                D[i, j] = C[j]\n"),
     0, 0},
    {"a fill by as many steps as memory says, which has changed when it is read",
     FUNC(B2(A, 4, 8) ", " B2(D, 4, 8),
          "    C = T.alloc_buffer((8,))\n    m = T.alloc_buffer((1,), \"int32\")\n"
          "    for i in range(4):\n        m[0] = T.if_then_else(i == 0, 8, 0)\n"
          "        for j in range(m[0]):\n            C[j] = A[i, j]\n        m[0] = 8\n"
          "        for j in range(m[0]):\n            D[i, j] = C[j]\n"),
     0, 0},
    {"a fill in a first step that memory lets through in one iteration only",
     FUNC(B1(A, 4) ", " B1(D, 4),
          "    C = T.alloc_buffer((1,))\n    m = T.alloc_buffer((1,), \"int32\")\n"
          "    for i in range(4):\n        m[0] = T.if_then_else(i == 0, 1, 0)\n"
          "        for k in range(2):\n            if m[0] == 1:\n"
          "                if k == 0:\n                    C[0] = A[i]\n"
          "                D[i] = C[0]\n            m[0] = 1\n"),
     0, 0},
    {"both halves of a cache",
     FUNC(B2(A, 6, 8) ", " B2(D, 6, 8),
          "    C = T.alloc_buffer((6, 8))\n    for i in range(6):\n        for j in range(4):\n"
          "            C[i, j] = A[i, j]\n        for j in range(4):\n"
          "            C[i, j + 4] = A[i, j] * T.float32(2)\n        for j in range(8):\n"
          "            D[i, j] = C[i, 7 - j]\n"),
     0, 0},
    {"halves by loops of uint32, one of them filled by the iteration before",
     FUNC(B2(A, 4, 4) ", " B2(D, 4, 8),
          "    P = T.alloc_buffer((8,))\n    for i in range(4):\n"
          "        for j in range(T.uint32(4)):\n            P[j] = A[i, j]\n"
          "        for j in range(T.uint32(8)):\n            if i > 0:\n"
          "                D[i, j] = P[j]\n"
          "        for j in range(T.uint32(4)):\n"
          "            P[j + T.uint32(4)] = A[i, j]\n"),
     0, 0},
    {"a tile of each thread, with a tail",
     FUNC(B1(A, 100) ", " B1(D, 100), "    C = T.alloc_buffer((16,))\n"
                                      "    for i in T.parallel(7):\n        for j in range(16):\n"
                                      "            if i * 16 + j < 100:\n"
                                      "                C[j] = A[i * 16 + j]\n"
                                      "        for j in range(16):\n"
                                      "            if i * 16 + j < 100:\n"
                                      "                D[i * 16 + j] = C[j]\n"),
     0, 0},
    {"sums through a view",
     FUNC(B2(A, 4, 6) ", " B2(D, 4, 6),
          "    C = T.alloc_buffer((4,))\n    for i in range(4):\n        for k in range(6):\n"
          "            with T.block(\"C\"):\n"
          "                vi = T.axis.spatial(4, i)\n"
          "                vk = T.axis.reduce(6, k)\n"
          "                V = T.match_buffer(C[vi:vi + 1], (1,), offset_factor=1)\n"
          "                with T.init():\n                    V[0] = T.float32(0)\n"
          "                V[0] = V[0] + A[vi, vk]\n"
          "            with T.block(\"D\"):\n"
          "                vi, vk = T.axis.remap(\"SS\", [i, k])\n"
          "                D[vi, vk] = C[vi]\n"),
     0, 0},
    {"tile under a loop of one step",
     FUNC(B1(A, 64) ", " B1(B, 64), "    X = T.alloc_buffer((64,))\n    for q, j in T.grid(1, 8):\n"
                                    "        for i in range(8):\n            with T.block(\"X\"):\n"
                                    "                v = T.axis.spatial(64, q * 64 + j * 8 + i)\n"
                                    "                X[v] = A[v] + T.float32(1)\n"
                                    "        for i in range(8):\n            with T.block(\"B\"):\n"
                                    "                v = T.axis.spatial(64, j * 8 + i)\n"
                                    "                B[v] = X[v] * T.float32(2)\n"),
     0, 0},
    {"iterators of 32 bits bound to loops of 8",
     FUNC("A: T.Buffer((16,), \"int32\"), C: T.Buffer((8,), \"int32\")",
          "    for i in T.serial(T.int8(111), T.int8(119)):\n        with T.block(\"C\"):\n"
          "            v = T.axis.spatial((T.int8(111), T.int8(119)), i)\n"
          "            C[v - 111] = A[T.bitwise_xor(v, 1) // 8] + T.shift_left(v, 6)\n"),
     0, 0},
    {"values that nothing uses, of arrays that nothing else uses",
     FUNC("A: T.Buffer((4,), \"int32\"), C: T.Buffer((4,), \"int32\")",
          "    for i in range(4):\n        x: T.int32 = A[i] + 1\n        y: T.int32 = x * 2\n"
          "        C[i] = i\n"),
     0, 0},
    BOTH("int32 division by powers of two", "int32", "int32", "A[i] // 4 + A[i] % 4 * 100", 0),
    BOTH("int32 division by negatives", "int32", "int32", "A[i] // -3 + A[i] % -3 * 100", 0),
    BOTH("int32 division by data", "int32", "int32",
         "A[i] // (B[i] * 2 + 1) + A[i] % (B[i] * 2 + 1) * 100", 0),
    BOTH("int32 truncated division", "int32", "int32",
         "T.truncdiv(A[i], B[i] * 2 + 1) + T.truncmod(A[i], 3) * 100", 0),
    BOTH("int64", "int64", "int64", "A[i] * T.int64(100000000000) // T.int64(7)", 0),
    BOTH("uint32", "uint32", "uint32", "A[i] + B[i]", 0),
    BOTH("uint64", "uint64", "uint64", "A[i] + B[i]", 0),
    BOTH("bool", "bool", "bool", "A[i] and not B[i] or B[i] and not A[i]", 0),
    BOTH("comparison", "float32", "bool", "A[i] < B[i]", 0),
    BOTH("bool to int", "bool", "int32", "T.Cast(\"int32\", A[i])", 0),
    BOTH("int to bool", "int32", "bool", "T.Cast(\"bool\", A[i])", 0),
    BOTH("select", "float32", "float32", "T.Select(A[i] > B[i], A[i], B[i] * T.float32(2))", 0),
    BOTH("bits", "int32", "int32",
         "T.bitwise_xor(T.bitwise_and(A[i], 255), T.shift_right(B[i], 1)) + "
         "T.bitwise_or(A[i], T.bitwise_not(B[i]))",
         0),
    BOTH("exp and tanh", "float32", "float32", "T.exp(A[i]) + T.tanh(B[i])", 1e-6),
    BOTH("erf, log, sigmoid, rsqrt", "float32", "float32",
         "T.erf(A[i]) + T.log(B[i] + T.float32(2)) + T.sigmoid(A[i]) + "
         "T.rsqrt(B[i] + T.float32(2))",
         1e-6),
    BOTH("pow, sqrt, atan2", "float64", "float64",
         "T.pow(A[i] + T.float64(2), B[i]) + T.sqrt(A[i] + T.float64(2)) + T.atan2(A[i], B[i])",
         1e-12),
    BOTH("rounding", "float32", "float32",
         "T.floor(A[i] * T.float32(9)) + T.ceil(B[i] * T.float32(9)) + "
         "T.round(A[i] * T.float32(8)) + T.nearbyint(B[i] * T.float32(8)) + "
         "T.trunc(A[i] * T.float32(5))",
         1e-6),
    BOTH("abs", "float32", "float32", "T.fabs(A[i])", 0),
    BOTH("abs of integers", "int32", "int32", "T.abs(A[i])", 0),
    BOTH("exp in float16", "float16", "float16", "T.exp(A[i])", 2e-3),
    BOTH("call_pure_extern", "float32", "float32",
         "T.call_pure_extern(\"float32\", \"expf\", A[i])", 1e-6),
};
enum { N_PROGRAMS = sizeof programs / sizeof *programs };

#endif
