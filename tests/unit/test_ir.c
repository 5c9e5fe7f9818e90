/* The nouns: arena and containers, constants and folding, printing, rewriting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/arith/equal.h"
#include "ir/tree/ir.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"
#include "ir/utf8.h"

static int new_context(void **state) {
  *state = tirc_context_new();
  return *state == NULL;
}

static int free_context(void **state) {
  tirc_context_release(*state);
  return 0;
}

static void arena_gives_zeroed_aligned_memory(void **state) {
  Tirc *c = *state;
  for (size_t n = 1; n < 100000; n = n * 3 + 1) {
    unsigned char *p = tirc_alloc(c, n);
    assert_int_equal((uintptr_t)p % 16, 0);
    for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
    memset(p, 0xAB, n);
  }
}

static void arena_limit_is_an_error_value(void **state) {
  Tirc *c = *state;
  c->max_bytes = 1 << 20;
  Trap trap;
  volatile int rounds = 0;
  if (TIRC_TRY(c, trap)) {
    for (; rounds < 100000; rounds++) tirc_alloc(c, 1000);
    TIRC_END(c, trap);
    fail();
  } else {
    assert_string_equal(tirc_codes[c->diag.code].text, "memory");
    assert_in_range(rounds, 900, 1100);
  }
}

static void array_size_overflow_is_an_error_value(void **state) {
  Tirc *c = *state;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    tirc_alloc_array(c, SIZE_MAX / 2, 16);
    TIRC_END(c, trap);
    fail();
  } else {
    assert_string_equal(tirc_codes[c->diag.code].text, "memory");
  }
}

static void map_keeps_what_is_put_in(void **state) {
  Tirc *c = *state;
  PtrMap m = {0};
  static char keys[5000];
  for (int i = 0; i < 5000; i++) tirc_map_set(c, &m, &keys[i], &keys[4999 - i]);
  for (int i = 0; i < 5000; i += 2) tirc_map_remove(&m, &keys[i]);
  for (int i = 0; i < 5000; i++) {
    assert_int_equal(tirc_map_has(&m, &keys[i]), i % 2);
    assert_ptr_equal(tirc_map_get(&m, &keys[i]), i % 2 ? &keys[4999 - i] : NULL);
  }
  for (int i = 0; i < 5000; i++) tirc_map_set(c, &m, &keys[i], &keys[i]);
  for (int i = 0; i < 5000; i++) assert_ptr_equal(tirc_map_get(&m, &keys[i]), &keys[i]);
}

static void types_have_names(void **state) {
  Tirc *c = *state;
  static const char *const good[] = {"bool",      "int8",    "uint64", "float16", "bfloat16",
                                     "float32x8", "int64x2", "handle", "void"};
  static const char *const bad[] = {"",          "floats",      "int33",         "float32x",
                                    "float32x0", "float32x1x2", "float32x99999", "Float32",
                                    "int8 "};
  DType t;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    assert_true(tirc_dtype_parse(good[i], &t));
    assert_string_equal(tirc_dtype_name(c, t), good[i]);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(tirc_dtype_parse(bad[i], &t));
  static const char *const usual[][2] = {
      {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}};
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
    assert_true(tirc_dtype_parse(usual[i][0], &t));
    assert_string_equal(tirc_dtype_name(c, t), usual[i][1]);
  }
}

/* op, a, b, dtype bits; expected result, or no folding */
static void folding_never_wraps(void **state) {
  Tirc *c = *state;
  static const struct {
    Op op;
    int64_t a, b;
    int bits;
    bool folds;
    int64_t result;
  } rows[] = {
      {OP_ADD, INT32_MAX, 1, 32, false, 0},
      {OP_ADD, INT32_MAX, 1, 64, true, 2147483648},
      {OP_ADD, INT64_MAX, 1, 64, false, 0},
      {OP_MUL, 65536, 65536, 32, false, 0},
      {OP_SUB, INT64_MIN, 1, 64, false, 0},
      {OP_FLOORDIV, INT64_MIN, -1, 64, false, 0},
      {OP_FLOORDIV, INT32_MIN, -1, 32, false, 0},
      {OP_FLOORDIV, 7, 0, 32, false, 0},
      {OP_FLOORMOD, 7, 0, 32, false, 0},
      {OP_FLOORDIV, -7, 2, 32, true, -4},
      {OP_FLOORMOD, -7, 2, 32, true, 1},
      {OP_FLOORDIV, 7, -2, 32, true, -4},
      {OP_FLOORMOD, 7, -2, 32, true, -1},
      {OP_FLOORDIV, -6, 2, 32, true, -3},
      {OP_TRUNCDIV, -7, 2, 32, true, -3},
      {OP_TRUNCMOD, -7, 2, 32, true, -1},
      {OP_FLOORMOD, INT64_MIN, 3, 64, true, 1},
      {OP_FLOORDIV, INT64_MIN, 3, 64, true, INT64_MIN / 3 - 1},
      {OP_MIN, -3, 4, 32, true, -3},
      {OP_MAX, -3, 4, 32, true, 4},
      {OP_LT, 3, 4, 32, true, 1},
      {OP_GE, 3, 4, 32, true, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    DType t = DT(TYPE_INT, (uint8_t)rows[i].bits);
    Expr e = tirc_binary(c, rows[i].op, tirc_int(c, t, rows[i].a), tirc_int(c, t, rows[i].b));
    assert_int_equal(e->op == OP_INT, rows[i].folds);
    if (rows[i].folds) assert_int_equal(e->u.i, rows[i].result);
  }
}

static void operators_unify_types(void **state) {
  Tirc *c = *state;
  Expr i = tirc_var(c, "i", DT_INT32), l = tirc_var(c, "l", DT_INT64);
  Expr b = tirc_var(c, "b", DT(TYPE_INT, 8)), f = tirc_var(c, "f", DT_FLOAT32);
  assert_string_equal(tirc_print_expr(c, tirc_add(c, i, l)), "T.Cast(\"int64\", i) + l");
  assert_string_equal(tirc_print_expr(c, tirc_add(c, l, tirc_int32(c, 2))), "l + T.int64(2)");
  assert_string_equal(tirc_print_expr(c, tirc_mul(c, b, tirc_int32(c, 2))), "b * T.int8(2)");
  assert_string_equal(tirc_print_expr(c, tirc_mul(c, f, tirc_int32(c, 2))), "f * T.float32(2.0)");
  assert_int_equal(tirc_lt(c, i, l)->dtype.code, TYPE_BOOL);
  assert_ptr_equal(tirc_add(c, i, tirc_int32(c, 0)), i);
  assert_ptr_equal(tirc_mul(c, tirc_int32(c, 1), i), i);
  assert_true(tirc_is_int(tirc_mul(c, i, tirc_int32(c, 0)), 0));
  assert_true(tirc_is_int(tirc_floormod(c, i, tirc_int32(c, 1)), 0));
}

static void parentheses_follow_precedence(void **state) {
  Tirc *c = *state;
  Expr x = tirc_var(c, "x", DT_INT32), y = tirc_var(c, "y", DT_INT32),
       z = tirc_var(c, "z", DT_INT32);
  static const struct {
    Op outer, inner;
    const char *left, *right;
  } rows[] = {
      {OP_ADD, OP_ADD, "x + y + z", "z + (x + y)"},
      {OP_SUB, OP_ADD, "x + y - z", "z - (x + y)"},
      {OP_MUL, OP_ADD, "(x + y) * z", "z * (x + y)"},
      {OP_ADD, OP_MUL, "x * y + z", "z + x * y"},
      {OP_FLOORDIV, OP_MUL, "x * y // z", "z // (x * y)"},
      {OP_FLOORMOD, OP_FLOORDIV, "x // y % z", "z % (x // y)"},
      {OP_LT, OP_ADD, "x + y < z", "z < x + y"},
      {OP_ADD, OP_MIN, "T.min(x, y) + z", "z + T.min(x, y)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Expr inner = tirc_binary(c, rows[i].inner, x, y);
    assert_string_equal(tirc_print_expr(c, tirc_binary(c, rows[i].outer, inner, z)), rows[i].left);
    assert_string_equal(tirc_print_expr(c, tirc_binary(c, rows[i].outer, z, inner)), rows[i].right);
  }
  Expr both = tirc_and(c, tirc_lt(c, x, y), tirc_lt(c, y, z));
  Expr either = tirc_binary(c, OP_OR, both, tirc_eq(c, x, z));
  assert_string_equal(tirc_print_expr(c, either), "x < y and y < z or x == z");
  assert_string_equal(tirc_print_expr(c, tirc_not(c, either)), "not (x < y and y < z or x == z)");
}

static void constants_print_with_their_type(void **state) {
  Tirc *c = *state;
  static const struct {
    double v;
    const char *text;
  } rows[] = {{0, "T.float32(0.0)"},
              {-1, "T.float32(-1.0)"},
              {0.5, "T.float32(0.5)"},
              {1e-5, "T.float32(1.0000000000000001e-05)"},
              {-3.4028234663852886e38, "T.float32(-340282346638528859811704183484516925440.0)"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_string_equal(tirc_print_expr(c, tirc_float(c, DT_FLOAT32, rows[i].v)), rows[i].text);
  assert_string_equal(tirc_print_expr(c, tirc_int(c, DT_INT64, -5)), "T.int64(-5)");
  assert_string_equal(tirc_print_expr(c, tirc_bool(c, true)), "T.bool(True)");
}

/* for i, j: block C with an init, over C[4, 8] */
static Stmt small_nest(Tirc *c, Buffer *buffer) {
  Expr shape[2] = {tirc_int32(c, 4), tirc_int32(c, 8)};
  Buffer b = tirc_buffer(c, "C", DT_FLOAT32, 2, shape, "global");
  Expr i = tirc_var(c, "i", DT_INT32), j = tirc_var(c, "j", DT_INT32);
  Expr vi = tirc_var(c, "vi", DT_INT32), vj = tirc_var(c, "vj", DT_INT32);
  Expr at[2] = {vi, vj}, zero = tirc_int32(c, 0);
  IterVar iters[2] = {{vi, {zero, shape[0]}, ITER_SPATIAL}, {vj, {zero, shape[1]}, ITER_SPATIAL}};
  Expr values[2] = {i, j};
  Stmt store =
      tirc_store(c, b, 2, at, tirc_add(c, tirc_load(c, b, 2, at), tirc_float(c, DT_FLOAT32, 1)));
  Range dims[2] = {{vi, tirc_int32(c, 1)}, {vj, tirc_int32(c, 1)}};
  Region r = {b, dims};
  Stmt block = tirc_block(c, &(Block){.name = "C",
                                      .n_iters = 2,
                                      .iters = iters,
                                      .iter_values = values,
                                      .n_reads = 1,
                                      .reads = &r,
                                      .n_writes = 1,
                                      .writes = &r,
                                      .body = store});
  *buffer = b;
  return tirc_for_serial(c, i, shape[0], tirc_for_serial(c, j, shape[1], block));
}

static const char nest_text[] = "for i, j in T.grid(4, 8):\n"
                                "    with T.block(\"C\"):\n"
                                "        vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                                "        T.reads(C[vi, vj])\n"
                                "        T.writes(C[vi, vj])\n"
                                "        C[vi, vj] = C[vi, vj] + T.float32(1.0)\n";

static void nests_print_in_the_known_layout(void **state) {
  Buffer b;
  assert_string_equal(tirc_print_stmt(*state, small_nest(*state, &b), DIALECT_TIR), nest_text);
}

static void rewriting_nothing_returns_the_same_tree(void **state) {
  Tirc *c = *state;
  Buffer b;
  Stmt s = small_nest(c, &b);
  Mutator m = {.c = c};
  assert_ptr_equal(tirc_mutate_stmt(&m, s), s);
  PtrMap none = {0};
  assert_ptr_equal(tirc_substitute_stmt(c, s, &none), s);
}

static void fresh_copies_share_no_definition(void **state) {
  Tirc *c = *state;
  Buffer b;
  Stmt s = small_nest(c, &b), t = tirc_clone_fresh(c, s);
  assert_ptr_not_equal(s->u.loop.var, t->u.loop.var);
  Stmt sb = s->u.loop.body->u.loop.body, tb = t->u.loop.body->u.loop.body;
  assert_int_not_equal(sb->u.block.id, tb->u.block.id);
  assert_ptr_not_equal(sb->u.block.iters[0].var, tb->u.block.iters[0].var);
  assert_false(tirc_stmt_uses_var(t, s->u.loop.var));
  assert_string_equal(tirc_print_stmt(c, t, DIALECT_TIR), nest_text);
}

static void buffers_are_replaced_everywhere(void **state) {
  Tirc *c = *state;
  Buffer b;
  Stmt s = small_nest(c, &b);
  Buffer other = tirc_buffer(c, "D", DT_FLOAT32, 2, b->shape, "global");
  PtrMap map = {0};
  tirc_map_set(c, &map, b, other);
  const char *text = tirc_print_stmt(c, tirc_substitute_buffers(c, s, &map), DIALECT_TIR);
  assert_null(strstr(text, "C["));
  assert_non_null(strstr(text, "T.writes(D[vi, vj])"));
}

/* --- sequences: what they hold after edits, and that those they were made from keep theirs ---- */

enum { MOST_ITEMS = 400 };

typedef struct Listed {
  Stmt seq;
  int n;
  Stmt at[MOST_ITEMS];
} Listed;

static void assert_holds(const Listed *l) {
  const bool seq = l->n != 1;
  assert_int_equal(seq, l->seq->kind == STMT_SEQ);
  if (seq) assert_int_equal(l->seq->u.seq.n, l->n);
  for (int i = 0; i < l->n; i++) assert_ptr_equal(seq ? tirc_item(l->seq, i) : l->seq, l->at[i]);
}

static void splice(Tirc *c, Listed *l, int at, int gone, int n) {
  Stmt items[MOST_ITEMS];
  for (int i = 0; i < n; i++) items[i] = tirc_eval(c, tirc_int32(c, i));
  memmove(l->at + at + n, l->at + at + gone, (size_t)(l->n - at - gone) * sizeof *l->at);
  memcpy(l->at + at, items, (size_t)n * sizeof *items);
  l->n += n - gone;
  const bool nested = n > 1 && n % 2; /* flattened */
  Stmt inner = nested ? tirc_seq(c, n, items) : NULL;
  l->seq = tirc_seq_splice(c, l->seq, at, gone, nested ? 1 : n, nested ? &inner : items);
}

static void replace(Tirc *c, Listed *l, int n) {
  struct StmtNode *draft = tirc_seq_draft(c, l->seq);
  for (int i = 0; i < n; i++) {
    const int at = rand() % l->n;
    l->at[at] = tirc_eval(c, tirc_int32(c, i));
    tirc_seq_set(c, draft, l->seq, at, l->at[at]);
  }
  l->seq = draft;
}

static void sequences_keep_their_items(void **state) {
  Tirc *c = *state;
  enum { ROUNDS = 3000 };
  Listed now = {.seq = tirc_seq(c, 0, NULL)}, before = now, kept = now;
  srand(1);
  for (int i = 0; i < ROUNDS; i++) {
    const int at = rand() % (now.n + 1), rest = now.n - at;
    const int most = rand() % 10 ? 3 : MOST_ITEMS / 2;
    int gone = rand() % most, n = rand() % most;
    if (gone > rest) gone = rest;
    if (n > MOST_ITEMS - now.n) n = MOST_ITEMS - now.n;
    before = now;
    if (rand() % 3 || now.n < 2)
      splice(c, &now, at, gone, n);
    else
      replace(c, &now, 1 + rand() % 4);
    assert_holds(&now);
    assert_holds(&before);
    assert_holds(&kept);
    if (i % 100 == 0) kept = now;
  }
}

static Stmt exchange(Mutator *m, Stmt s) {
  Stmt to = tirc_map_get(m->self, s);
  return to ? to : s;
}

static void items_become_several_or_none(void **state) {
  Tirc *c = *state;
  enum { ROUNDS = 3000 };
  srand(2);
  for (int round = 0; round < ROUNDS; round++) {
    Listed from = {.seq = tirc_seq(c, 0, NULL)}, to = {0};
    splice(c, &from, 0, 0, 2 + rand() % 70);
    while (from.n > 2 && rand() % 60) splice(c, &from, rand() % (from.n - 1), 1, 0);
    PtrMap planned = {0};
    for (int i = 0; i < from.n; i++) {
      const int n = rand() % (1 + from.n / 3) ? 1 : rand() % 4;
      Stmt items[3] = {from.at[i]};
      for (int k = 0; k < n && n != 1; k++) items[k] = tirc_eval(c, tirc_int32(c, k));
      if (n != 1) tirc_map_set(c, &planned, from.at[i], (void *)(uintptr_t)tirc_seq(c, n, items));
      for (int k = 0; k < n; k++) to.at[to.n++] = items[k];
    }
    Mutator m = {.c = c, .stmt = exchange, .self = &planned};
    to.seq = tirc_mutate_stmt_children(&m, from.seq);
    assert_holds(&to);
    assert_holds(&from);
  }
}

/* Texts with their numbers, found again and in order, however many and however like. */
static void string_maps(void **state) {
  Tirc *c = *state;
  StrMap m = {0};
  assert_null(tirc_strmap_get(&m, "0"));
  for (int round = 0; round < 2; round++)
    for (uintptr_t i = 0; i < 5000; i++) {
      void **at = tirc_strmap_at(c, &m, tirc_format(c, "%d", (int)i * 7));
      assert_ptr_equal(*at, round ? (void *)(i + 1) : NULL);
      *at = (void *)(i + 1);
    }
  assert_int_equal(m.n, 5000);
  for (int i = 0; i < m.n; i++) assert_ptr_equal(m.at[i].value, (void *)((uintptr_t)i + 1));
  assert_null(tirc_strmap_get(&m, "1"));
  assert_null(tirc_strmap_get(&m, ""));
  assert_ptr_equal(tirc_strmap_get(&m, "7"), (void *)2);
}

static void characters(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "\xff",     "\x80",         "\xc0\x80",         "\xc3",
      "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(tirc_utf8_length(wrong[i], strlen(wrong[i])), 0);
    assert_ptr_equal(tirc_utf8_wrong(wrong[i]), wrong[i]);
  }
  const char *text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  assert_null(tirc_utf8_wrong(text));
  assert_int_equal(tirc_utf8_columns(text, strlen(text)), 4);
  assert_int_equal(tirc_utf8_length(text + 1, 1), 0);
  assert_int_equal(tirc_utf8_length(text + 1, 2), 2);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, new_context, free_context)
  const struct CMUnitTest tests[] = {
      T(string_maps),
      T(characters),
      T(arena_gives_zeroed_aligned_memory),
      T(arena_limit_is_an_error_value),
      T(array_size_overflow_is_an_error_value),
      T(map_keeps_what_is_put_in),
      T(types_have_names),
      T(folding_never_wraps),
      T(operators_unify_types),
      T(parentheses_follow_precedence),
      T(constants_print_with_their_type),
      T(nests_print_in_the_known_layout),
      T(rewriting_nothing_returns_the_same_tree),
      T(fresh_copies_share_no_definition),
      T(buffers_are_replaced_everywhere),
      T(sequences_keep_their_items),
      T(items_become_several_or_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
