/* The documentation's tables. The example programs are small enough to read, and each shows the
 * shape that a family of primitives is about; help prints them before and after the example's
 * script ran. */
#include "docs.h"
#include "words.h"

#define FUNC "@T.prim_func\ndef main("

/* What they are made of: a block under one loop, under two, and sums. */
#define OVER(n, name, store)                                                                       \
  "    for i in range(" #n "):\n"                                                                  \
  "        with T.block(\"" name "\"):\n"                                                          \
  "            vi = T.axis.spatial(" #n ", i)\n"                                                   \
  "            " store "\n"
#define OVER_GRID(m, n, name, store)                                                               \
  "    for i, j in T.grid(" #m ", " #n "):\n"                                                      \
  "        with T.block(\"" name "\"):\n"                                                          \
  "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"                                            \
  "            " store "\n"
#define SUM_OF_ROWS(name)                                                                          \
  "    for i, k in T.grid(8, 64):\n"                                                               \
  "        with T.block(\"" name "\"):\n"                                                          \
  "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"                                            \
  "            with T.init():\n"                                                                   \
  "                " name "[vi] = T.float32(0)\n"                                                  \
  "            " name "[vi] = " name "[vi] + A[vi, vk]\n"
#define PRODUCT(m, n, k)                                                                           \
  FUNC "A: T.Buffer((" #m ", " #k "), \"float32\"), B: T.Buffer((" #k ", " #n "), \"float32\"), "  \
       "C: T.Buffer((" #m ", " #n "), \"float32\")):\n"                                            \
       "    for i, j, k in T.grid(" #m ", " #n ", " #k "):\n"                                      \
       "        with T.block(\"C\"):\n"                                                            \
       "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                               \
       "            with T.init():\n"                                                              \
       "                C[vi, vj] = T.float32(0)\n"                                                \
       "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"

/* One block: B = A + 1, over one loop or two. */
#define VECTOR                                                                                     \
  FUNC "A: T.Buffer((100,), \"float32\"), B: T.Buffer((100,), \"float32\")):\n" OVER(              \
      100, "B", "B[vi] = A[vi] + T.float32(1)")
#define GRID                                                                                       \
  FUNC "A: T.Buffer((8, 16), \"float32\"), B: T.Buffer((8, 16), \"float32\")):\n" OVER_GRID(       \
      8, 16, "B", "B[vi, vj] = A[vi, vj] + T.float32(1)")

/* A producer and its consumer: B = A * 2, C = B + 1. */
#define STAGES                                                                                     \
  FUNC "A: T.Buffer((64,), \"float32\"), C: T.Buffer((64,), \"float32\")):\n"                      \
       "    B = T.alloc_buffer((64,))\n" OVER(64, "B", "B[vi] = A[vi] * T.float32(2)")             \
           OVER(64, "C", "C[vi] = B[vi] + T.float32(1)")

/* Sums that are overwritten in place. */
#define MAXIMUM_OF_SUMS                                                                            \
  FUNC "A: T.Buffer((8, 16), \"float32\"), C: T.Buffer((8,), \"float32\")):\n"                     \
       "    for i, k in T.grid(8, 16):\n"                                                          \
       "        with T.block(\"C\"):\n"                                                            \
       "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"                                       \
       "            with T.init():\n                C[vi] = T.float32(0)\n"                        \
       "            C[vi] = C[vi] + A[vi, vk]\n"                                                   \
       "    for i in range(8):\n"                                                                  \
       "        with T.block(\"R\"):\n            vi = T.axis.spatial(8, i)\n"                     \
       "            C[vi] = T.max(C[vi], T.float32(0))\n"

/* One element that each iteration stores to and reads. */
#define SCALAR                                                                                     \
  FUNC "A: T.Buffer((64,), \"float32\"), C: T.Buffer((64,), \"float32\")):\n"                      \
       "    t = T.alloc_buffer((1,))\n"                                                            \
       "    for i in range(64):\n"                                                                 \
       "        with T.block(\"t\"):\n            vi = T.axis.spatial(64, i)\n"                    \
       "            t[0] = A[vi] * T.float32(2)\n"                                                 \
       "        with T.block(\"C\"):\n            vi = T.axis.spatial(64, i)\n"                    \
       "            C[vi] = t[0] + T.float32(1)\n"

/* Reductions: the sums of rows, and a matrix product. */
#define ROW_SUM                                                                                    \
  FUNC "A: T.Buffer((8, 64), \"float32\"), B: T.Buffer((8,), \"float32\")):\n" SUM_OF_ROWS("B")
#define MATMUL PRODUCT(32, 32, 32)

/* The sums of rows, and what is added to each. */
#define BIAS                                                                                       \
  FUNC "A: T.Buffer((8, 64), \"float32\"), bias: T.Buffer((8,), \"float32\"), "                    \
       "D: T.Buffer((8,), \"float32\")):\n"                                                        \
       "    C = T.alloc_buffer((8,))\n" SUM_OF_ROWS("C") OVER(8, "D", "D[vi] = C[vi] + bias[vi]")

/* What layouts, paddings, copies and partial loops are shown on. */
#define TRANSPOSE                                                                                  \
  FUNC "A: T.Buffer((16, 8), \"float32\"), B: T.Buffer((8, 16), \"float32\")):\n" OVER_GRID(       \
      8, 16, "B", "B[vi, vj] = A[vj, vi]")
#define GRID_STAGES                                                                                \
  FUNC "A: T.Buffer((8, 16), \"float32\"), C: T.Buffer((8, 16), \"float32\")):\n"                  \
       "    B = T.alloc_buffer((8, 16))\n" OVER_GRID(8, 16, "B",                                   \
                                                     "B[vi, vj] = A[vi, vj] * T.float32(2)")       \
           OVER_GRID(8, 16, "C", "C[vi, vj] = B[vi, vj] + T.float32(1)")
#define ODD_MATMUL PRODUCT(30, 32, 30)
#define PADDING                                                                                    \
  FUNC "A: T.Buffer((14,), \"float32\"), B: T.Buffer((16,), \"float32\")):\n" OVER(                \
      16, "B", "B[vi] = T.if_then_else(1 <= vi and vi < 15, A[vi - 1], T.float32(0))")
#define TWO_OUTPUTS                                                                                \
  FUNC "A: T.Buffer((8, 16), \"float32\"), B: T.Buffer((8, 16), \"float32\"), "                    \
       "C: T.Buffer((8, 16), \"float32\")):\n" OVER_GRID(8, 16, "B",                               \
                                                         "B[vi, vj] = A[vi, vj] + T.float32(1)")   \
           OVER_GRID(8, 16, "C", "C[vi, vj] = A[vi, vj] * T.float32(2)")
#define SCALED                                                                                     \
  FUNC "A: T.Buffer((8, 64), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"                     \
       "    for i, k in T.grid(8, 64):\n        with T.block(\"B\"):\n"                            \
       "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"                                       \
       "            with T.init():\n                B[vi] = T.float32(1)\n"                        \
       "            B[vi] = B[vi] + A[vi, vk] * T.float32(2)\n"
#define DIFFERENCE                                                                                 \
  FUNC "A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n" OVER(                \
      64, "B", "B[vi] = B[vi] - A[vi]")
#define HISTOGRAM                                                                                  \
  FUNC "A: T.Buffer((64,), \"int32\"), H: T.Buffer((8,), \"int32\")):\n"                           \
       "    for i in range(64):\n        with T.block(\"H\"):\n"                                   \
       "            vi = T.axis.reduce(64, i)\n"                                                   \
       "            H[A[vi] % 8] = H[A[vi] % 8] + 1\n"
#define SCAN                                                                                       \
  FUNC "A: T.Buffer((96,), \"float32\"), B: T.Buffer((96,), \"float32\")):\n"                      \
       "    for j in range(96):\n        with T.block(\"B\"):\n"                                   \
       "            vj = T.axis.scan(96, j)\n"                                                     \
       "            B[vj] = A[vj] + T.if_then_else(vj > 0, B[vj - 1], T.float32(0))\n"
#define IN_PLACE                                                                                   \
  FUNC "A: T.Buffer((64,), \"float32\")):\n" OVER(64, "A", "A[vi] = A[vi] * T.float32(2)")
#define GATHER                                                                                     \
  FUNC "A: T.Buffer((16,), \"float32\"), B: T.Buffer((8, 32), \"float32\")):\n" OVER_GRID(         \
      8, 32, "B", "B[vi, vj] = A[vi // 4 + vj // 4]")
#define NAMED                                                                                      \
  FUNC "A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n" OVER(                \
      64, "B", "x = A[vi]\n            B[vi] = x * x")
#define NO_BLOCKS                                                                                  \
  FUNC "A: T.Buffer((8, 64), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"                     \
       "    for i in range(8):\n"                                                                  \
       "        B[i] = 0.0\n"                                                                      \
       "        for k in range(64):\n"                                                             \
       "            B[i] += A[i, k]\n"
#define SIZED                                                                                      \
  FUNC "a: T.handle, b: T.handle):\n"                                                              \
       "    n = T.int32()\n"                                                                       \
       "    A = T.match_buffer(a, (n,), \"float32\")\n"                                            \
       "    B = T.match_buffer(b, (n,), \"float32\")\n" OVER(n, "B",                               \
                                                             "B[vi] = A[vi] + T.float32(1)")
#define WINDOW                                                                                     \
  FUNC "A: T.Buffer((66,), \"float32\"), C: T.Buffer((64,), \"float32\")):\n"                      \
       "    B = T.alloc_buffer((66,))\n" OVER(66, "B", "B[vi] = A[vi] * T.float32(2)")             \
           OVER(64, "C", "C[vi] = B[vi] + B[vi + 1] + B[vi + 2]")

#define LIST(...)                                                                                  \
  (const char *const[]) { __VA_ARGS__ __VA_OPT__(, ) NULL }
#define PARAMS LIST
#define NEEDS LIST
#define RETURNS(text) text
#define NOTHING NULL
#define EXAMPLE(program, script) program, script
#define RAISES(...)                                                                                \
  (const int[]) { __VA_ARGS__ __VA_OPT__(, ) - 1 }

const PrimitiveDoc tirc_primitive_docs[] = {
#define PRIMITIVE_DOC(name, params, returns, example, needs, raises)                               \
  {#name, params, returns, example, needs, raises},
#include "primitive_docs.def"
#undef PRIMITIVE_DOC
};
const int tirc_n_primitive_docs = (int)(sizeof tirc_primitive_docs / sizeof *tirc_primitive_docs);

const PrimitiveDoc *tirc_find_primitive_doc(const char *primitive) {
  for (int i = 0; i < tirc_n_primitive_docs; i++)
    if (!strcmp(tirc_primitive_docs[i].name, primitive)) return &tirc_primitive_docs[i];
  return NULL;
}

const Definition tirc_definitions[] = {
#define DEFINITION(name, text, explains) {name, text, explains},
#define EXPLAINS RAISES
#include "definitions.def"
#undef EXPLAINS
#undef DEFINITION
};
const int tirc_n_definitions = (int)(sizeof tirc_definitions / sizeof *tirc_definitions);

/* Errors that come with the kind of a parameter, before the primitive itself runs: a handle may be
 * stale, a name unknown. */
static bool kind_raises(int kind, int code) {
  static const struct {
    int kind, errors[3];
  } rows[] = {
      {PARAM_FUNC, {SERR_FUNCTION_NOT_FOUND, -1, -1}},
      {PARAM_BLOCK, {SERR_STALE_HANDLE, SERR_BLOCK_NOT_FOUND, SERR_FUNCTION_NOT_FOUND}},
      {PARAM_BLOCK_OR_LOOP, {SERR_STALE_HANDLE, SERR_BLOCK_NOT_FOUND, SERR_FUNCTION_NOT_FOUND}},
      {PARAM_OPT_BLOCKS, {SERR_STALE_HANDLE, SERR_BLOCK_NOT_FOUND, SERR_FUNCTION_NOT_FOUND}},
      {PARAM_LOOP, {SERR_STALE_HANDLE, -1, -1}},
      {PARAM_LOCATION, {SERR_STALE_HANDLE, -1, -1}},
      {PARAM_LOOPS, {SERR_STALE_HANDLE, -1, -1}},
      {PARAM_FACTORS, {SERR_STALE_HANDLE, -1, -1}},
      {PARAM_LOOP_OR_BLOCKS, {SERR_STALE_HANDLE, SERR_BLOCK_NOT_FOUND, SERR_FUNCTION_NOT_FOUND}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int k = 0; k < 3; k++)
      if (rows[i].kind == kind && rows[i].errors[k] == code) return true;
  return false;
}

bool tirc_may_raise(const char *primitive, DiagCode code) {
  const PrimitiveDoc *d = tirc_find_primitive_doc(primitive);
  const Primitive *p = tirc_find_primitive(primitive);
  if (code == CODE_ARGUMENT || code == CODE_LOST_MARK || code == CODE_EQUAL_CANDIDATES ||
      code == SERR_LET_ESCAPES || code == SERR_INDEX_OVERFLOW)
    return true;
  for (int i = 0; d && d->errors[i] >= 0; i++)
    if (d->errors[i] == (int)code) return true;
  for (int i = 0; p && i < p->n_params; i++)
    if (kind_raises((int)p->params[i].kind, (int)code)) return true;
  return false;
}
