/* Integer reasoning against goldens: what simplification and iterator maps make of expressions that
 * schedules are known to write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/arith/arith.h"
#include "ir/tree/print.h"

/* A reader of Python's arithmetic, for the tables below. Names make variables at first sight. */
typedef struct Reader {
  Tirc *c;
  const char *p;
  Expr names[16];
  int n;
} Reader;

static Expr read_expr(Reader *r, int precedence);

static Expr read_primary(Reader *r) {
  while (*r->p == ' ') r->p++;
  if (*r->p == '(') {
    r->p++;
    Expr e = read_expr(r, 0);
    r->p++;
    return e;
  }
  bool minus = *r->p == '-';
  if (minus) r->p++;
  char name[32];
  int n = 0;
  while (strchr("abcdefghijklmnopqrstuvwxyz_0123456789", *r->p) && *r->p) name[n++] = *r->p++;
  name[n] = 0;
  if (name[0] >= '0' && name[0] <= '9') return tirc_int32(r->c, minus ? -atoi(name) : atoi(name));
  if ((!strcmp(name, "min") || !strcmp(name, "max")) && *r->p == '(') {
    r->p++;
    Expr a = read_expr(r, 0);
    r->p++;
    Expr b = read_expr(r, 0);
    r->p++;
    return tirc_expr(r->c, name[1] == 'i' ? OP_MIN : OP_MAX, DT_INT32, 2, (Expr[]){a, b});
  }
  for (int i = 0; i < r->n; i++)
    if (!strcmp(r->names[i]->u.s, name)) return r->names[i];
  return r->names[r->n++] = tirc_var(r->c, tirc_strdup(r->c, name), DT_INT32);
}

static Expr read_expr(Reader *r, int precedence) {
  static const Op infix[] = {OP_FLOORDIV, OP_FLOORMOD, OP_MUL, OP_ADD, OP_SUB, OP_LE, OP_GE,
                             OP_EQ,       OP_NE,       OP_LT,  OP_GT,  OP_AND, OP_OR};
  Expr left = read_primary(r);
  for (;;) {
    while (*r->p == ' ') r->p++;
    const OpInfo *info = NULL;
    Op op = OP_COUNT;
    for (size_t i = 0; i < sizeof infix / sizeof *infix && !info; i++)
      if (!strncmp(r->p, tirc_ops[infix[i]].name, strlen(tirc_ops[infix[i]].name))) {
        op = infix[i];
        info = &tirc_ops[op];
      }
    if (!info || info->precedence <= precedence) return left;
    r->p += strlen(info->name);
    Expr right = read_expr(r, info->precedence);
    left = tirc_expr(r->c, op, op >= OP_EQ ? DT_BOOL : DT_INT32, 2, (Expr[]){left, right});
  }
}

static Expr read_all(Reader *r, const char *text) {
  r->p = text;
  return read_expr(r, 0);
}

/* "x 8; y 16": x in [0, 8), y in [0, 16), in that order. */
static int read_domain(Reader *r, const char *text, Expr *vars, Range *doms) {
  int n = 0;
  r->p = text;
  while (*r->p) {
    vars[n] = read_primary(r);
    doms[n++] = tirc_range(tirc_int32(r->c, 0), read_expr(r, 0));
    while (*r->p == ';' || *r->p == ' ') r->p++;
  }
  return n;
}

typedef struct Golden {
  const char *domain, *expr, *expected;
} Golden;

static const Golden goldens[] = {
    {"x 8; y 16", "(x * 16 + y) // 16", "x"},
    {"x 8; y 16", "(x * 16 + y) % 16", "y"},
    {"x 8; y 8", "(x * 8 + y) // 16", "x // 2"},
    {"x 8; y 8", "(x * 8 + y) % 16", "x % 2 * 8 + y"},
    {"x 8; y 16", "x // 2 * 64 + (y + x % 2 * 32)", "x * 32 + y"},
    {"x 8; y 32", "x // 2 * 64 + y", "x // 2 * 64 + y"},
    {"x 8; y 16", "x * 16 + y < 128", "T.bool(True)"},
    {"x 8; y 16", "x * 16 + y < 100", "x * 16 + y < 100"},
    {"x 8; y 8", "x * 8 + y < 16", "x < 2"},
    {"", "n - x + x * 3", "x * 2 + n"},
    {"", "1 + x + 2", "x + 3"},
    {"", "y + (3 + x * n)", "y + x * n + 3"},
    {"", "n // 16 * 16 + n % 16", "n"},
    {"", "(n + 15) // 16", "(n + 15) // 16"},
    {"", "x * 4 // 2", "x * 2"},
    {"", "x * 2 // 4", "x // 2"},
    {"", "(x * 6 + 5) % 3", "2"},
    {"", "x - x", "0"},
    {"", "min(x + 3, x + 5)", "x + 3"},
    {"", "max(x, 3) + 2 - max(x, 3)", "2"},
    {"x 4", "min(x, 7)", "x"},
    {"i n", "i < n", "T.bool(True)"},
    {"i n", "i + 1 <= n", "T.bool(True)"},
    {"i n", "i + 1 < n", "i + 1 < n"},
    {"i n", "0 <= i", "T.bool(True)"},
    {"", "x + 1 < y + 1", "x < y"},
    {"", "x * 4 < 9", "x < 3"},
    {"", "x * 3 < y * 3", "x < y"},
    {"", "0 < x * 3 - y * 3", "y < x"},
    {"", "x - y < 0", "x < y"},
    {"y 4", "(y + 19) % 8 < 7", "T.bool(True)"},
    {"y 4", "3 <= (y + 19) % 8", "T.bool(True)"},
    {"y 6", "(y + 19) % 8 < 7", "(y + 3) % 8 < 7"},
    {"x 8; y 32", "x * 32 + y < (n + 31) // 32 * 32", "x < (n + 31) // 32"},
    {"", "n < x + -9", "n + 9 < x"},
    {"", "n < x + -2147483646", "n < x - 2147483646"}, /* n + 2147483646 need not be a number */
    {"", "x < 5 and 4 < x", "T.bool(False)"},
    {"", "x < 5 or 4 <= x", "T.bool(True)"},
    {"x 1; y 4", "x * 4 + y", "y"},
    {"", "x // 0", "x // 0"},
    {"", "2147483647 + 1", "T.Add(2147483647, 1)"},
    {"", "x * 65536 * 65536", "x * 65536 * 65536"},
    {"", "x // 65536 // 65536", "x // 65536 // 65536"},
};

static void golden_simplifications(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
    Reader r = {.c = c};
    Analyzer *a = tirc_analyzer(c);
    Expr vars[8];
    Range doms[8];
    int n = read_domain(&r, goldens[i].domain, vars, doms);
    for (int k = 0; k < n; k++) tirc_bind_range(a, vars[k], doms[k]);
    Expr e = tirc_simplify(a, read_all(&r, goldens[i].expr));
    const char *got = tirc_print_expr(c, e);
    if (strcmp(got, goldens[i].expected))
      fail_msg("%s: %s, not %s", goldens[i].expr, got, goldens[i].expected);
  }
  tirc_context_release(c);
}

typedef struct MapGolden {
  const char *domain, *predicate, *indices[3];
  IterLevel level;
  const char *expected; /* the indices by tirc_iter_sum_expr; NULL: not detected */
} MapGolden;

static const MapGolden map_goldens[] = {
    {"i 4; j 32", "", {"i * 32 + j"}, ITER_LEVEL_BIJECTIVE, "i * 32 + j"},
    {"f 128", "", {"f // 32", "f % 32"}, ITER_LEVEL_BIJECTIVE, "f // 32; f % 32"},
    {"i 8; j 16",
     "",
     {"(i * 16 + j) // 4", "(i * 16 + j) % 4"},
     ITER_LEVEL_BIJECTIVE,
     "(i * 16 + j) // 4; (i * 16 + j) % 4"},
    {"i 7; j 16", "i * 16 + j < 100", {"i * 16 + j"}, ITER_LEVEL_SURJECTIVE, "i * 16 + j"},
    {"i 7; j 16",
     "i * 16 + j < 100 and 2 <= i * 16 + j",
     {"i * 16 + j"},
     ITER_LEVEL_SURJECTIVE,
     "i * 16 + j + -2 + 2"},
    {"i 7; j 16", "i * 16 + j < 100", {"i", "j"}, ITER_LEVEL_SURJECTIVE, NULL},
    {"i 7; j 16", "i * 16 + j < 100", {"i // 2", "i % 2"}, ITER_LEVEL_SURJECTIVE, NULL},
    /* a bound on a part that follows from the bound on the whole */
    {"i 3; k 2; f 32",
     "i * 64 + k * 32 + f < 100 and i * 4 + k * 2 + f // 16 < 10",
     {"i * 64 + k * 32 + f"},
     ITER_LEVEL_SURJECTIVE,
     "i * 64 + k * 32 + f"},
    {"i n; j 16", "", {"i * 16 + j"}, ITER_LEVEL_BIJECTIVE, "i * 16 + j"},
    {"i n; j m", "", {"i * m + j"}, ITER_LEVEL_BIJECTIVE, "i * m + j"},
    {"i 8; j 16", "", {"i"}, ITER_LEVEL_BIJECTIVE, NULL},
    {"i 8; j 16", "", {"i"}, ITER_LEVEL_SURJECTIVE, "i"},
    {"i 8", "", {"i", "i + 1"}, ITER_LEVEL_SURJECTIVE, NULL},
    {"i 8", "", {"i // 2", "i % 4"}, ITER_LEVEL_SURJECTIVE, NULL},
    {"i 8; j 8", "", {"i * j"}, ITER_LEVEL_SURJECTIVE, NULL},
    {"i 10", "", {"i // 4"}, ITER_LEVEL_SURJECTIVE, "i // 4"},
    {"i 10", "", {"i // 4", "i % 4"}, ITER_LEVEL_BIJECTIVE, NULL},
    {"u 1; i 8", "", {"u * 8 + i", "u"}, ITER_LEVEL_BIJECTIVE, "i; 0"},
    {"i 8; j 3", "", {"i * 4 + j"}, ITER_LEVEL_BIJECTIVE, NULL},
    {"i 8; j 4", "", {"i * 2 + j"}, ITER_LEVEL_BIJECTIVE, NULL},
    {"i 8; j 4", "", {"i * 2 + j"}, ITER_LEVEL_NO_CHECK, "i * 2 + j"},
};

static void golden_iterator_maps(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  for (size_t i = 0; i < sizeof map_goldens / sizeof *map_goldens; i++) {
    const MapGolden *g = &map_goldens[i];
    Reader r = {.c = c};
    Analyzer *a = tirc_analyzer(c);
    Expr vars[8], indices[3];
    Range doms[8];
    int n_vars = read_domain(&r, g->domain, vars, doms), n = 0;
    for (; n < 3 && g->indices[n]; n++) indices[n] = read_all(&r, g->indices[n]);
    Expr pred = *g->predicate ? read_all(&r, g->predicate) : NULL;
    const IterMap *map =
        tirc_detect_iter_map(a, n, indices, n_vars, vars, doms, pred, g->level, true, NULL);
    Text t = {.c = c};
    for (int k = 0; map && k < n; k++)
      tirc_text_addf(&t, "%s%s", k ? "; " : "",
                     tirc_print_expr(c, tirc_iter_sum_expr(a, &map->indices[k])));
    const char *got = map ? t.at : "nothing", *want = g->expected ? g->expected : "nothing";
    if (strcmp(got, want)) fail_msg("%s (%s): %s, not %s", g->indices[0], g->domain, got, want);
  }
  tirc_context_release(c);
}

/* Loads are atoms; unit loops and decided branches go when structure may change. */
static void statements(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  Expr i = tirc_var(c, "i", DT_INT32), u = tirc_var(c, "u", DT_INT32), shape = tirc_int32(c, 64);
  Buffer b = tirc_buffer(c, "B", DT_FLOAT32, 1, &shape, "global");
  Expr at = tirc_add(c, tirc_mul(c, i, tirc_int32(c, 4)), u);
  Expr load = tirc_load(c, b, 1, &at);
  Stmt store = tirc_store(c, b, 1, &at, tirc_add(c, load, load));
  Stmt branch = tirc_if(c, tirc_lt(c, i, tirc_int32(c, 8)), store, NULL);
  Stmt nest = tirc_for_serial(c, u, tirc_int32(c, 1), branch);
  Stmt s = tirc_for_serial(c, i, tirc_int32(c, 8), nest);
  Stmt kept = tirc_simplify_stmt(tirc_analyzer(c), s, false);
  assert_int_equal(kept->u.loop.body->kind, STMT_FOR);
  Stmt flat = tirc_simplify_stmt(tirc_analyzer(c), s, true);
  assert_int_equal(flat->u.loop.body->kind, STMT_STORE);
  assert_string_equal(tirc_print_expr(c, flat->u.loop.body->u.store.indices[0]), "i * 4");
  tirc_context_release(c);
}

/* What wraps is compared by value only. */
static void narrow_operands(void **state) {
  (void)state;
  static const char *const types[] = {"int8", "uint8", "int16", "uint32", "uint64"};
  Tirc *c = tirc_context_new();
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    DType t;
    assert_true(tirc_dtype_parse(types[i], &t));
    const Expr n = tirc_var(c, "n", t), m = tirc_var(c, "m", t);
    Analyzer *a = tirc_analyzer(c);
    assert_true(tirc_is_int(tirc_simplify(a, tirc_sub(c, n, n)), 0));
    assert_true(tirc_dtype_equal(tirc_simplify(a, tirc_sub(c, n, n))->dtype, t));
    assert_true(tirc_is_true(tirc_simplify(a, tirc_eq(c, n, n))));
    assert_true(tirc_is_int(tirc_simplify(a, tirc_lt(c, n, n)), 0));
    assert_true(tirc_is_true(tirc_simplify(a, tirc_binary(c, OP_GE, n, n))));
    assert_string_equal(tirc_print_expr(c, tirc_simplify(a, tirc_lt(c, n, m))), "n < m");
    assert_string_equal(tirc_print_expr(c, tirc_simplify(a, tirc_sub(c, n, m))), "n - m");
  }
  const Expr x = tirc_var(c, "x", DT_FLOAT32);
  assert_string_equal(tirc_print_expr(c, tirc_simplify0(c, tirc_eq(c, x, x))), "x == x"); /* NaN */
  tirc_context_release(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(narrow_operands),
      cmocka_unit_test(golden_simplifications),
      cmocka_unit_test(golden_iterator_maps),
      cmocka_unit_test(statements),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
