/* Calls of tensorize with an intrinsic that is declared in the same lines: a row of as many
 * elements as the innermost loop has iterations. Mostly of the operation that the block computes;
 * the implementation runs backwards, without a block. */
#include "fuzz_calls.h"

typedef struct Kind {
  const char *value; /* of B[%s], from A[%s] */
  Op op;
  bool sum;
} Kind;

static const Kind kinds[] = {
    {"A[@] + T.float32(1)", OP_ADD, false},
    {"A[@] * T.float32(2)", OP_MUL, false},
    {"T.max(A[@], T.float32(0))", OP_MAX, false},
    {"T.float32(3) - A[@]", OP_SUB, false},
    {"A[@]", OP_LOAD, false},
    {"B[0] + A[@]", OP_ADD, true},
    {"T.max(B[0], A[@])", OP_MAX, true},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static const Kind *kind_of(Rng *r, const BlockText *b) {
  Stmt body = b->stmt->u.block.body;
  bool known = body->kind == STMT_STORE && rng_chance(r, 90);
  for (int i = 0; known && i < N_KINDS; i++)
    if (kinds[i].op == (Op)body->u.store.value->op && kinds[i].sum == b->reduces) return &kinds[i];
  return &kinds[rng_below(r, N_KINDS)];
}

static void add_value(Text *t, const Kind *k, const char *at) {
  for (const char *p = k->value; *p; p++)
    if (*p == '@')
      tirc_text_add(t, at);
    else
      tirc_text_addn(t, p, 1);
  tirc_text_add(t, "\n");
}

static void add_head(Text *t, const char *role, const Kind *k, int n) {
  const char *out = k->sum ? "0" : tirc_format(t->c, "0:%d", n);
  tirc_text_addf(t,
                 "@T.prim_func\n"
                 "def row_%s(a: T.handle, b: T.handle):\n"
                 "    A = T.match_buffer(a, (%d,), \"float32\", offset_factor=1)\n"
                 "    B = T.match_buffer(b, (%d,), \"float32\", offset_factor=1)\n"
                 "    with T.block(\"root\"):\n",
                 role, n, k->sum ? 1 : n);
  tirc_text_addf(t, "        T.reads(%sA[0:%d])\n        T.writes(B[%s])\n", k->sum ? "B[0], " : "",
                 n, out);
}

static void add_functions(Text *t, const Kind *k, int n) {
  add_head(t, "desc", k, n);
  tirc_text_addf(t,
                 "        for i in range(%d):\n"
                 "            with T.block(\"row\"):\n"
                 "                vi = T.axis.remap(\"%s\", [i])\n"
                 "                B[%s] = ",
                 n, k->sum ? "R" : "S", k->sum ? "0" : "vi");
  add_value(t, k, "vi");
  tirc_text_add(t, "\n");
  add_head(t, "impl", k, n);
  tirc_text_addf(t, "        for i in range(%d):\n", n);
  const char *at = tirc_format(t->c, "%d - i", n - 1);
  tirc_text_addf(t, "            B[%s] = ", k->sum ? "0" : at);
  add_value(t, k, at);
  tirc_text_add(t, "\n");
}

const char *fuzz_tensorize(Tirc *c, Rng *r, Blocks *blocks) {
  const BlockText *b = blocks->picked ? blocks->picked : fuzz_block(r, blocks);
  for (int i = 0; i < 8 && !b->inner; i++) b = fuzz_block(r, blocks);
  int64_t n = 1;
  if (b->inner) tirc_const_int(b->inner->u.loop.extent, &n);
  if (rng_chance(r, 10)) n++;
  if (n < 1 || n > 16) n = 4;
  bool loop = b->inner && rng_chance(r, 90);
  Text t = {.c = c};
  add_functions(&t, kind_of(r, b), (int)n);
  tirc_text_add(&t, "TensorIntrin.register(\"row\", row_desc, row_impl, override=True)\n");
  tirc_text_addf(&t, "sch.tensorize(%s, \"row\")",
                 loop ? fuzz_loop_text(c, b, b->n_loops - 1) : fuzz_block_text(c, b));
  return t.at;
}
