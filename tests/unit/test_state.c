/* The schedule's state is kept up to date piece by piece. After each of many random primitives it
 * must be what a schedule made anew from the same module finds: the same tree, the same blocks in
 * each scope, the same dependences and flags. A failed primitive must leave everything as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/tree/print.h"
#include "ir/tree/visit.h"
#include "parser/program.h"
#include "passes/schedule/shape/shape.h"
#include "passes/schedule/state/state.h"

static const char matmul[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((32, 24), \"float32\"), B: T.Buffer((24, 30), \"float32\"),\n"
    "         D: T.Buffer((32, 30), \"float32\")):\n"
    "    C = T.alloc_buffer((32, 30))\n"
    "    for i, j, k in T.grid(32, 30, 24):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
    "    for i, j in T.grid(32, 30):\n"
    "        with T.block(\"D\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            D[vi, vj] = T.max(C[vi, vj], T.float32(0))\n";

/* A stencil that reads a neighbourhood, and a reader of only a part. */
static const char stencil[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((36, 36), \"float32\"), E: T.Buffer((32, 32), \"float32\")):\n"
    "    B = T.alloc_buffer((36, 36))\n"
    "    C = T.alloc_buffer((32, 36))\n"
    "    for i, j in T.grid(36, 36):\n"
    "        with T.block(\"B\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            B[vi, vj] = A[vi, vj] * T.float32(2)\n"
    "    for i, j in T.grid(32, 36):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            C[vi, vj] = B[vi, vj] + B[vi + 2, vj] + B[vi + 4, vj]\n"
    "    for i, j in T.grid(32, 32):\n"
    "        with T.block(\"E\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            E[vi, vj] = C[vi, vj] + C[vi, vj + 4]\n";

/* Two writers, a write after a read, a block inside of a block, bindings that are not affine. */
static const char mixed[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((16, 16), \"float32\"), B: T.Buffer((16, 16), \"float32\")):\n"
    "    T_1 = T.alloc_buffer((16, 16))\n"
    "    for i, j in T.grid(16, 8):\n"
    "        with T.block(\"left\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            T_1[vi, vj] = A[vi, vj]\n"
    "    for i, j in T.grid(16, 8):\n"
    "        with T.block(\"right\"):\n"
    "            vi = T.axis.spatial(16, i)\n"
    "            vj = T.axis.spatial(16, j + 8)\n"
    "            T_1[vi, vj] = A[vi, vj] + T.float32(1)\n"
    "    for i in range(16):\n"
    "        with T.block(\"outer\"):\n"
    "            vi = T.axis.spatial(16, i)\n"
    "            T.reads(T_1[vi, 0:16])\n"
    "            T.writes(B[vi, 0:16])\n"
    "            for j in range(16):\n"
    "                with T.block(\"inner\"):\n"
    "                    vj = T.axis.spatial(16, j)\n"
    "                    B[vi, vj] = T_1[vi, vj]\n"
    "    for i, j in T.grid(16, 16):\n"
    "        with T.block(\"again\"):\n"
    "            vi = T.axis.spatial(16, i)\n"
    "            vj = T.axis.spatial(16, j * j % 16)\n"
    "            T_1[vi, vj] = A[vj, vi]\n";

/* --- comparing a state with a fresh one ------------------------------------------------------ */

static int position(const Scope *scope, const SRef *r) {
  for (int i = 0; i < scope->n_blocks; i++)
    if (scope->blocks[i] == r) return i;
  fail_msg("a dependence names a block that is not in its scope");
  return -1;
}

static void assert_same_chain(const SRef *a, const SRef *b) {
  for (; a && b; a = a->parent, b = b->parent) {
    assert_ptr_equal(a->stmt, b->stmt);
    assert_int_equal(a->func, b->func);
  }
  assert_null(a);
  assert_null(b);
}

static void assert_same_block(Sched *s, SRef *a, Sched *fresh, SRef *b) {
  assert_same_chain(a, b);
  assert_int_equal(tirc_has_affine_binding(s, a), tirc_has_affine_binding(fresh, b));
  assert_int_equal(tirc_has_region_cover(s, a), tirc_has_region_cover(fresh, b));
  const Scope *x = a->scope, *y = b->scope;
  assert_int_equal(x->n_blocks, y->n_blocks);
  assert_int_equal(tirc_is_stage_pipeline(s, a), tirc_is_stage_pipeline(fresh, b));
  const Deps in_x = tirc_deps_of(s, x), in_y = tirc_deps_of(fresh, y);
  assert_int_equal(in_x.n, in_y.n);
  for (int i = 0; i < in_x.n; i++) {
    assert_int_equal(in_x.at[i].kind, in_y.at[i].kind);
    assert_int_equal(position(x, in_x.at[i].src), position(y, in_y.at[i].src));
    assert_int_equal(position(x, in_x.at[i].dst), position(y, in_y.at[i].dst));
  }
  for (int i = 0; i < x->n_blocks; i++) assert_same_block(s, x->blocks[i], fresh, y->blocks[i]);
}

static int count_alive(const PtrMap *map) {
  int n = 0;
  for (size_t i = 0; i < map->cap; i++) n += map->values[i] && ((SRef *)map->values[i])->stmt;
  return n;
}

static void assert_as_fresh(Sched *s) {
  Sched *fresh = tirc_sched_new(s->c, s->mod);
  for (int i = 0; i < s->mod->n_funcs; i++)
    assert_same_block(s, s->roots[i], fresh, fresh->roots[i]);
  assert_int_equal(count_alive(&s->loops), count_alive(&fresh->loops));
  assert_int_equal(count_alive(&s->blocks), count_alive(&fresh->blocks));
  for (size_t i = 0; i < fresh->loops.cap; i++)
    if (fresh->loops.values[i])
      assert_same_chain(tirc_map_get(&s->loops, fresh->loops.keys[i]), fresh->loops.values[i]);
}

/* --- random primitives ----------------------------------------------------------------------- */

typedef struct Drawn {
  uint64_t state;
} Drawn;

static int below(Drawn *r, int n) {
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return (int)((r->state >> 33) % (uint64_t)n);
}

static Value random_block(Sched *s, Drawn *r) {
  SRef *at = s->roots[0];
  do at = at->scope->blocks[below(r, at->scope->n_blocks)];
  while (at->scope->n_blocks && below(r, 2));
  return tirc_value_of_sref(at);
}

static Value random_loop(Sched *s, Drawn *r, Value block) {
  const SRefs loops = tirc_loops_above(s, tirc_sref_of_value(s, block));
  return loops.n ? tirc_value_of_sref(loops.at[below(r, loops.n)]) : block;
}

static Value random_factors(Sched *s, Drawn *r) {
  static const int factors[] = {1, 2, 3, 4, 5, 8, 16};
  Value list = tirc_value_list(s->c, VAL_LIST, 0, NULL);
  int n = 2 + below(r, 2), inferred = below(r, n);
  for (int i = 0; i < n; i++)
    tirc_value_append(s->c, list,
                      i == inferred ? VALUE_NONE : tirc_value_int(factors[below(r, 7)]));
  return list;
}

/* Adjacent loops to be fused, or loops in a random order. */
static int random_loops(Sched *s, Drawn *r, bool adjacent, Value *out) {
  const SRefs loops = tirc_loops_above(s, tirc_sref_of_value(s, random_block(s, r)));
  const int n = loops.n > 6 ? 6 : loops.n;
  int first = adjacent && n > 1 ? below(r, n - 1) : 0, count = adjacent ? (n > 1 ? 2 : n) : n;
  for (int i = 0; i < count; i++) out[i] = tirc_value_of_sref(loops.at[first + i]);
  for (int i = count - 1; !adjacent && i > 0; i--) {
    int k = below(r, i + 1);
    Value v = out[i];
    out[i] = out[k];
    out[k] = v;
  }
  return count;
}

/* Returns the name of the primitive that is to be called. */
static const char *random_call(Sched *s, Drawn *r, int *n, Value *args) {
  static const char *const kinds[] = {"parallel", "vectorize", "unroll", "add_unit_loop"};
  Value block = random_block(s, r), loop = random_loop(s, r, block);
  *n = 2;
  args[0] = loop;
  switch (below(r, 9)) {
  case 0:
  case 1: args[1] = random_factors(s, r); return "split";
  case 2: *n = random_loops(s, r, true, args); return "fuse";
  case 3: *n = random_loops(s, r, false, args); return "reorder";
  case 4: *n = 1; return kinds[below(r, 4)];
  case 5:
    args[0] = block;
    args[1] = tirc_value_int(0);
    args[2] = tirc_value_str("global");
    *n = 3;
    return below(r, 2) ? "cache_read" : "cache_write";
  case 6:
    args[0] = random_block(s, r);
    args[1] = loop;
    return below(r, 2) ? "compute_at" : "reverse_compute_at";
  case 7:
    args[0] = block;
    args[1] = loop;
    return "decompose_reduction";
  default:
    args[0] = block;
    *n = 1;
    return below(r, 2) ? "compute_inline" : "reverse_compute_inline";
  }
}

static bool call(Sched *s, const char *name, int n, const Value *args) {
  Tirc *c = s->c;
  Trap t;
  if (TIRC_TRY(c, t)) {
    tirc_sched_call(s, tirc_find_primitive(name), (Loc){"test", 1, 1}, &(Args){.n = n, .at = args});
    TIRC_END(c, t);
    return true;
  }
  return false;
}

static void run(const char *program, const char *title) {
  enum { SEEDS = 40, STEPS = 8 };
  int done = 0, failed = 0;
  for (int seed = 1; seed <= SEEDS; seed++) {
    Tirc *c = tirc_context_new();
    Source source = {title, program, strlen(program)};
    Sched *s = tirc_sched_new(c, tirc_parse_module(c, &source, 0, NULL));
    Drawn r = {(uint64_t)seed};
    assert_as_fresh(s);
    for (int step = 0; step < STEPS; step++) {
      Value args[8];
      int n;
      const char *name = random_call(s, &r, &n, args);
      const char *before = tirc_print_module(c, s->mod, NULL);
      const Module *mod = s->mod;
      if (call(s, name, n, args)) {
        done++;
      } else {
        failed++;
        assert_ptr_equal(s->mod, mod);
        assert_string_equal(tirc_print_module(c, s->mod, NULL), before);
      }
      assert_as_fresh(s);
    }
    tirc_context_release(c);
  }
  assert_true(done > SEEDS && failed > 0); /* the walk went somewhere, and ran into walls */
}

static void test_matmul(void **state) {
  (void)state;
  run(matmul, "matmul");
}

static void test_stencil(void **state) {
  (void)state;
  run(stencil, "stencil");
}

static void test_mixed(void **state) {
  (void)state;
  run(mixed, "mixed");
}

/* Enough nests for a sequence in several parts: chains of three blocks, the last of which sums. */
static void test_wide(void **state) {
  (void)state;
  enum { CHAINS = 50 };
  Tirc *c = tirc_context_new();
  Text t = {.c = c}, nests = {.c = c};
  tirc_text_add(&t, "@T.prim_func\ndef main(A: T.Buffer((8, 6)), Z: T.Buffer((50, 8))):\n"
                    "    with T.block(\"root\"):\n");
  for (int i = 0; i < CHAINS; i++) {
    tirc_text_addf(
        &t, "        X%d = T.alloc_buffer((8, 6))\n        Y%d = T.alloc_buffer((8, 6))\n", i, i);
    tirc_text_addf(&nests,
                   "        for i, j in T.grid(8, 6):\n            with T.block(\"X%d\"):\n"
                   "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                   "                X%d[vi, vj] = A[vi, vj] * T.float32(2)\n"
                   "        for i, j in T.grid(8, 6):\n            with T.block(\"Y%d\"):\n"
                   "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                   "                Y%d[vi, vj] = X%d[vi, vj] + T.float32(1)\n"
                   "        for i, j in T.grid(8, 6):\n            with T.block(\"Z%d\"):\n"
                   "                vi, vj = T.axis.remap(\"SR\", [i, j])\n"
                   "                with T.init():\n"
                   "                    Z[%d, vi] = T.float32(0)\n"
                   "                Z[%d, vi] = Z[%d, vi] + Y%d[vi, vj]\n",
                   i, i, i, i, i, i, i, i, i, i);
  }
  tirc_text_add(&t, nests.at);
  run(t.at, "wide");
  tirc_context_release(c);
}

/* --- what a scope says ----------------------------------------------------------------------- */

static Sched *schedule(Tirc *c, const char *program) {
  Source source = {"test", program, strlen(program)};
  return tirc_sched_new(c, tirc_parse_module(c, &source, 0, NULL));
}

static void test_dependences(void **state) {
  (void)state;
  static const struct {
    int src, dst;
    DepKind kind;
  } expected[] = {{0, 1, DEP_WAW}, {0, 2, DEP_RAW}, {1, 2, DEP_RAW},
                  {0, 3, DEP_WAW}, {1, 3, DEP_WAW}, {2, 3, DEP_WAR}};
  Tirc *c = tirc_context_new();
  Sched *s = schedule(c, mixed);
  const Scope *scope = s->roots[0]->scope;
  const Deps deps = tirc_deps_of(s, scope);
  assert_int_equal(deps.n, 6);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(position(scope, deps.at[i].src), expected[i].src);
    assert_int_equal(position(scope, deps.at[i].dst), expected[i].dst);
    assert_int_equal(deps.at[i].kind, expected[i].kind);
  }
  assert_false(tirc_is_stage_pipeline(s, s->roots[0])); /* a write after a read */
  assert_true(tirc_has_affine_binding(s, scope->blocks[2]));
  assert_false(tirc_has_affine_binding(s, scope->blocks[3])); /* j * j */
  tirc_context_release(c);
}

static void test_region_cover(void **state) {
  (void)state;
  static const char format[] =
      "@T.prim_func\n"
      "def main(A: T.Buffer((64,), \"float32\"), C: T.Buffer((64,), \"float32\")):\n"
      "    B = T.alloc_buffer((64,))\n"
      "    for i in range(%d):\n"
      "        with T.block(\"B\"):\n"
      "            vi = T.axis.spatial(%d, i)\n"
      "            B[vi] = A[vi]\n"
      "    for i in range(64):\n"
      "        with T.block(\"C\"):\n"
      "            vi = T.axis.spatial(64, i)\n"
      "            C[vi] = B[vi]\n";
  for (int extent = 63; extent <= 64; extent++) {
    Tirc *c = tirc_context_new();
    Sched *s = schedule(c, tirc_format(c, format, extent, extent));
    SRef *root = s->roots[0];
    assert_int_equal(tirc_has_region_cover(s, root->scope->blocks[1]), extent == 64);
    assert_int_equal(tirc_is_stage_pipeline(s, root), extent == 64);
    tirc_context_release(c);
  }
}

/* A block that comes to read another buffer has other producers, though no block moved. */
static void test_changed_buffers(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  Sched *s = schedule(c, stencil);
  const Scope *scope = s->roots[0]->scope;
  SRef *reader = scope->blocks[2];
  PtrMap map = {0};
  tirc_map_set(c, &map, tirc_block_of(reader)->reads[0].buffer,
               tirc_block_of(scope->blocks[0])->writes[0].buffer);
  tirc_sched_replace(s, reader, tirc_substitute_buffers(c, reader->stmt, &map));
  assert_as_fresh(s);
  const SRefs producers = tirc_producers(s, reader, s->roots[0]);
  assert_int_equal(producers.n, 1);
  assert_ptr_equal(producers.at[0], s->roots[0]->scope->blocks[0]);
  tirc_context_release(c);
}

/* Handles hold on to identities: a rewritten block keeps its own, a split loop loses it. */
static void test_handles(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  Sched *s = schedule(c, matmul);
  Value block = tirc_value_of_sref(s->roots[0]->scope->blocks[0]);
  const SRefs loops = tirc_loops_above(s, tirc_sref_of_value(s, block));
  assert_int_equal(loops.n, 3);
  Value i = tirc_value_of_sref(loops.at[0]), j = tirc_value_of_sref(loops.at[1]);
  Value factors[] = {VALUE_NONE, tirc_value_int(4)};
  Value args[] = {i, tirc_value_list(c, VAL_LIST, 2, factors)};
  assert_true(call(s, "split", 2, args));
  assert_true(call(s, "parallel", 1, &j));
  assert_int_equal(tirc_sref_of_value(s, j)->stmt->u.loop.kind, LOOP_PARALLEL);
  assert_int_equal(tirc_loops_above(s, tirc_sref_of_value(s, block)).n, 4);
  assert_false(call(s, "parallel", 1, &i));
  assert_string_equal(tirc_codes[c->diag.code].text, "stale-handle");
  tirc_context_release(c);
}

/* What a call takes of memory does not grow with the program, with a let around the blocks, too. */
static void test_memory_under_a_let(void **state) {
  (void)state;
  enum { BLOCKS = 100, CALLS = 100 };
  static const char *const heads[] = {
      "    if A[0, 0] > T.float32(0):\n",
      "    with T.LetStmt(T.float32(2)) as x:\n",
  };
  size_t taken[2];
  for (int lets = 0; lets < 2; lets++) {
    Tirc *c = tirc_context_new();
    const char *text = tirc_format(
        c, "@T.prim_func\ndef main(A: T.Buffer((%d, 16), \"float32\")):\n%s", BLOCKS, heads[lets]);
    for (int i = 0; i < BLOCKS; i++)
      text = tirc_format(c,
                         "%s        for i in range(16):\n"
                         "            with T.block(\"b%d\"):\n"
                         "                vi = T.axis.spatial(16, i)\n"
                         "                A[%d, vi] = T.float32(1)\n",
                         text, i, i);
    Sched *s = schedule(c, text);
    const SRefs loops = tirc_loops_above(s, s->roots[0]->scope->blocks[0]);
    assert_int_equal(loops.n, 1);
    Value loop = tirc_value_of_sref(loops.at[0]);
    const size_t before = c->bytes;
    for (int i = 0; i < CALLS; i++) assert_true(call(s, i % 2 ? "parallel" : "unroll", 1, &loop));
    taken[lets] = c->bytes - before;
    tirc_context_release(c);
  }
  assert_true(taken[1] < 2 * taken[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory_under_a_let),
      cmocka_unit_test(test_dependences),
      cmocka_unit_test(test_region_cover),
      cmocka_unit_test(test_changed_buffers),
      cmocka_unit_test(test_handles),
      cmocka_unit_test(test_matmul),
      cmocka_unit_test(test_stencil),
      cmocka_unit_test(test_mixed),
      cmocka_unit_test(test_wide),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
