/* Random integer expressions as programs: what the interpreter, machine code and C compilers make
 * of them, as values and as indices, in plain, vectorized, unrolled and parallel loops, against an
 * oracle. Then loops that reach the ends of their variables' types, conversions of floats, and sums
 * of bools. TIRC_TEST_SEED changes which functions are drawn, TIRC_TEST_EVERY how many. */
#include "../every.h"
#include "compare.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "codegen/c/c.h"
#include "codegen/llvm/llvm.h"
#include "int_oracle.h"
#include "ir/tree/visit.h"
#include "passes/lower/lower.h"

enum {
  MOST_FUNCTIONS = 48,
  POINTS = 32,
  EXPRS = 4,
  TABLE = 509,
  MAX_ARGS = N_VARS + 1 + 2 * EXPRS
};

static int as_test(const char *name, int fallback) {
  const char *s = getenv(name);
  return s && *s ? atoi(s) : fallback;
}

static const char *const type_names[N_TYPES] = {"bool",  "int8",   "int16",  "int32", "int64",
                                                "uint8", "uint16", "uint32", "uint64"};

static const char *name_of(DType t) {
  int i = 0;
  while (!tirc_dtype_equal(types[i], t)) i++;
  return type_names[i];
}

/* --- functions -------------------------------------------------------------------------------- */

/* EXPRS expressions of four variables: three are loaded, the last is made of the loop's. Of each
 * the value is stored, and what a table has where the value says. */
typedef struct Drawn {
  World w;
  Expr exprs[EXPRS];
  int64_t inputs[N_VARS][POINTS], values[EXPRS][POINTS];
  int factor, offset; /* of the last variable */
  Tensor *args[MAX_ARGS];
} Drawn;

static bool find_point(Drawn *d, int p) {
  World *w = &d->w;
  for (int tries = 0; tries < 400; tries++) {
    bool defined = true;
    for (int i = 0; i < N_VARS; i++) w->values[i] = random_edge(w, w->vars[i]->dtype);
    w->values[N_VARS - 1] =
        oracle_cast(DT_INT32, w->vars[N_VARS - 1]->dtype, p * d->factor + d->offset);
    for (int i = 0; i < EXPRS && defined; i++) defined = value_of(w, d->exprs[i], &d->values[i][p]);
    for (int i = 0; i < N_VARS; i++) d->inputs[i][p] = w->values[i];
    if (defined) return true;
  }
  return false;
}

static bool draw_function(Drawn *d) {
  World *w = &d->w;
  static const char *const names[N_VARS] = {"v0", "v1", "v2", "v3"};
  for (int i = 0; i < N_VARS; i++)
    w->vars[i] = tirc_var(w->c, names[i], types[below(&w->r, N_TYPES)]);
  d->factor = 1 + below(&w->r, 40);
  d->offset = below(&w->r, 300) - 150;
  for (int i = 0; i < EXPRS; i++)
    d->exprs[i] = random_expr(w, types[below(&w->r, N_TYPES)], 1 + below(&w->r, 3));
  for (int p = 0; p < POINTS; p++)
    if (!find_point(d, p)) return false;
  return true;
}

static const char *text_of(Drawn *d, const char *name, int form) {
  static const char *const loops[] = {"T.serial", "T.vectorized", "T.unroll", "T.parallel"};
  Text t = {.c = d->w.c};
  PtrMap loads = {0};
  tirc_text_addf(&t, "@T.prim_func\ndef %s(", name);
  const Expr p = tirc_var(d->w.c, "p", DT_INT32);
  for (int i = 0; i < N_VARS; i++) {
    const DType type = d->w.vars[i]->dtype;
    const char *array = tirc_format(d->w.c, "V%d", i);
    tirc_text_addf(&t, "%s: T.Buffer((%d,), \"%s\"), ", array, POINTS, name_of(type));
    const Expr shape = tirc_int32(d->w.c, POINTS);
    const Buffer b = tirc_buffer(d->w.c, array, type, 1, &shape, "global");
    Expr e = tirc_load(d->w.c, b, 1, &p);
    if (i == N_VARS - 1) {
      e = tirc_add(d->w.c, tirc_mul(d->w.c, p, tirc_int32(d->w.c, d->factor)),
                   tirc_int32(d->w.c, d->offset));
      e = tirc_expr(d->w.c, OP_CAST, type, 1, &e);
    }
    tirc_map_set(d->w.c, &loads, d->w.vars[i], (void *)(uintptr_t)e);
  }
  tirc_text_addf(&t, "L: T.Buffer((%d,), \"int32\")", TABLE);
  for (int i = 0; i < EXPRS; i++)
    tirc_text_addf(&t, ", O%d: T.Buffer((%d,), \"%s\"), I%d: T.Buffer((%d,), \"int32\")", i, POINTS,
                   name_of(d->exprs[i]->dtype), i, POINTS);
  tirc_text_addf(&t, "):\n    for p in %s(%d):\n", loops[form], POINTS);
  for (int i = 0; i < EXPRS; i++) {
    const char *e = tirc_print_expr(d->w.c, tirc_substitute(d->w.c, d->exprs[i], &loads));
    tirc_text_addf(&t, "        O%d[p] = %s\n", i, e);
    tirc_text_addf(&t,
                   "        I%d[p] = L[T.Cast(\"int32\", T.Cast(\"int64\", %s) %% T.int64(%d))]\n",
                   i, e, TABLE);
  }
  return t.at;
}

static void make_arguments(Drawn *d) {
  Tirc *c = d->w.c;
  const int64_t points = POINTS, table = TABLE;
  int n = 0;
  for (int i = 0; i < N_VARS; i++) {
    Tensor *v = d->args[n++] = tirc_tensor_new(c, d->w.vars[i]->dtype, 1, &points);
    for (int p = 0; p < POINTS; p++) tirc_tensor_set_int(v, p, d->inputs[i][p]);
  }
  Tensor *l = d->args[n++] = tirc_tensor_new(c, DT_INT32, 1, &table);
  for (int i = 0; i < TABLE; i++) tirc_tensor_set_int(l, i, 7 * i);
  for (int i = 0; i < EXPRS; i++) {
    d->args[n++] = tirc_tensor_new(c, d->exprs[i]->dtype, 1, &points);
    d->args[n++] = tirc_tensor_new(c, DT_INT32, 1, &points);
  }
}

static void clear_results(Drawn *d) {
  for (int i = N_VARS + 1; i < MAX_ARGS; i++) memset(d->args[i]->data, 0, d->args[i]->bytes);
}

static void check_results(Drawn *d, const char *who, const char *text) {
  for (int i = 0; i < EXPRS; i++)
    for (int p = 0; p < POINTS; p++) {
      const Tensor *value = d->args[N_VARS + 1 + 2 * i], *found = d->args[N_VARS + 2 + 2 * i];
      const DType t = d->exprs[i]->dtype;
      const int64_t expected = d->values[i][p];
      const Wide rest = around(DT_INT64, number(t, expected));
      const int64_t place = bits_of(rest - floor_of(rest, TABLE) * TABLE);
      const int64_t got = tirc_tensor_get_int(value, p), at = tirc_tensor_get_int(found, p);
      if (got == expected && at == 7 * place) continue;
      fail_msg(
          "%s, O%d and I%d at %d (%lld, %lld, %lld, %lld): %lld and %lld, not %lld and %lld\n%s",
          who, i, i, p, (long long)d->inputs[0][p], (long long)d->inputs[1][p],
          (long long)d->inputs[2][p], (long long)d->inputs[3][p], (long long)got, (long long)at,
          (long long)expected, 7 * (long long)place, text);
    }
}

static const char *const compilers[] = {"gcc", "clang-19", "clang-14"};
enum { N_COMPILERS = sizeof compilers / sizeof *compilers };

static char folder[] = "/tmp/int_code.XXXXXX";

/* --- C ---------------------------------------------------------------------------------------- */

/* The module's functions, each as NAME__packed; NULL where there is no such compiler. */
static void *compiled(Tirc *c, const Module *m, const Module *lowered, const char *name,
                      const char *compiler) {
  if (system(tirc_format(c, "command -v %s > /dev/null", compiler))) return NULL;
  CSource what = {.lowered = lowered, .scheduled = m, .vector_bytes = 32, .packed = true};
  const char *text = tirc_c_source(c, &what),
             *path = tirc_format(c, "%s/%s_%s", folder, name, compiler);
  FILE *f = fopen(tirc_format(c, "%s.c", path), "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  const char *flags = "-O1 -march=haswell -w -fPIC -shared"; /* (gcc 12 errs in vectorizing) */
  if (system(tirc_format(c, "%s %s -o %s.so %s.c -lm", compiler, flags, path, path)))
    fail_msg("%s does not compile the C", compiler);
  void *library = dlopen(tirc_format(c, "%s.so", path), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  return library;
}

static void *function_of(void *library, Tirc *c, const char *name) {
  void *f = dlsym(library, tirc_format(c, "%s__packed", name));
  if (!f) fail_msg("%s", dlerror());
  return f;
}

static void run_packed(Drawn *d, PackedFunc f, const char *who, const char *text) {
  void *args[MAX_ARGS];
  for (int i = 0; i < MAX_ARGS; i++) args[i] = d->args[i]->data;
  clear_results(d);
  assert_int_equal(f(args, NULL), 0);
  check_results(d, who, text);
}

static void interpret(Drawn *d, const Func *f, const char *text) {
  Tirc *c = d->w.c;
  Argument args[MAX_ARGS] = {0};
  Trap trap;
  for (int i = 0; i < MAX_ARGS; i++) args[i].tensor = d->args[i];
  clear_results(d);
  if (!TIRC_TRY(c, trap)) fail_msg("%s\n%s", c->diag.message, text);
  tirc_interpret(c, f, MAX_ARGS, args, 0);
  TIRC_END(c, trap);
  check_results(d, "the interpreter", text);
}

/* Different expressions for each number of functions, then all of them in one module. */
static void test_expressions(void **state) {
  Tirc *c = tirc_context_new();
  Drawn *drawn = tirc_new_array(c, Drawn, MOST_FUNCTIONS);
  const char **texts = tirc_new_array(c, const char *, MOST_FUNCTIONS);
  Text all = {.c = c};
  Random r = {(uint64_t)as_test("TIRC_TEST_SEED", 1)};
  const int functions = MOST_FUNCTIONS / tirc_test_every();
  (void)state;
  for (int i = 0; i < functions; i++) {
    drawn[i].w.c = c;
    do {
      drawn[i].w.r = r;
      const bool found = draw_function(&drawn[i]);
      r = drawn[i].w.r;
      if (found) break;
    } while (true);
    make_arguments(&drawn[i]);
    texts[i] = text_of(&drawn[i], tirc_format(c, "f%d", i), i % 4);
    tirc_text_add(&all, texts[i]);
  }
  Trap trap;
  if (!TIRC_TRY(c, trap)) fail_msg("%s\n%s", c->diag.message, all.at);
  const Module *m = parse(c, all.at), *lowered = tirc_lower(c, m, NULL, NULL);
  TIRC_END(c, trap);
  for (int i = 0; i < functions; i++) interpret(&drawn[i], m->funcs[i], texts[i]);
  Jit *jit = tirc_jit_new(c, lowered, "haswell");
  for (int i = 0; i < functions; i++)
    run_packed(&drawn[i], tirc_jit_find(jit, m->funcs[i]->name), "machine code", texts[i]);
  tirc_jit_free(jit);
  for (int k = 0; k < N_COMPILERS; k++) {
    void *library = compiled(c, m, lowered, "expressions", compilers[k]);
    for (int i = 0; library && i < functions; i++)
      run_packed(&drawn[i], (PackedFunc)function_of(library, c, m->funcs[i]->name), compilers[k],
                 texts[i]);
  }
  for (int i = 0; i < functions; i++)
    for (int a = 0; a < MAX_ARGS; a++) tirc_tensor_free(drawn[i].args[a]);
  tirc_context_release(c);
}

/* --- every way of running --------------------------------------------------------------------- */

/* Runs the functions of a text by the interpreter, machine code and C compilers, each on what
 * `fill` puts into its arguments, and has `check` look at the results. */
typedef struct Ways {
  const char *name;
  void (*fill)(const Func *f, int i, Run *r);
  void (*check)(const char *who, const Func *f, int i, const Run *r);
} Ways;

static void run_and_check(Tirc *c, const Func *f, int i, const Ways *w, PackedFunc code,
                          const char *who) {
  Run r = new_run(c, f, 1);
  void *args[MAX_PARAMS];
  w->fill(f, i, &r);
  for (int a = 0; a < r.n; a++)
    args[a] = r.args[a].tensor ? r.args[a].tensor->data : (void *)&r.args[a].i;
  if (code)
    assert_int_equal(code(args, NULL), 0);
  else
    tirc_interpret(c, f, r.n, r.args, 0);
  w->check(who, f, i, &r);
  free_run(&r);
}

static void run_all_ways(const char *text, const Ways *w) {
  Tirc *c = tirc_context_new();
  Trap trap;
  if (!TIRC_TRY(c, trap)) fail_msg("%s\n%s", c->diag.message, text);
  const Module *m = parse(c, text), *lowered = tirc_lower(c, m, NULL, NULL);
  Jit *jit = tirc_jit_new(c, lowered, "haswell");
  for (int i = 0; i < m->n_funcs; i++) {
    run_and_check(c, m->funcs[i], i, w, NULL, "the interpreter");
    run_and_check(c, m->funcs[i], i, w, tirc_jit_find(jit, m->funcs[i]->name), "machine code");
  }
  tirc_jit_free(jit);
  for (int k = 0; k < N_COMPILERS; k++) {
    void *library = compiled(c, m, lowered, w->name, compilers[k]);
    for (int i = 0; library && i < m->n_funcs; i++)
      run_and_check(c, m->funcs[i], i, w, (PackedFunc)function_of(library, c, m->funcs[i]->name),
                    compilers[k]);
  }
  TIRC_END(c, trap);
  tirc_context_release(c);
}

/* --- loops ------------------------------------------------------------------------------------ */

/* min, and how many; both as parameters or as constants. */
static const struct {
  int type;
  int64_t min, extent;
  const char *loop;
  bool constant;
} loops[] = {
    {5, 0, 255, "T.serial", false},
    {5, 0, 200, "T.serial", false},
    {5, 1, 255, "T.serial", false},
    {5, 1, 255, "T.serial", true},
    {5, 156, 100, "T.serial", true},
    {5, 200, 32, "T.vectorized", true},
    {5, 224, 32, "T.vectorized", true},
    {5, 224, 32, "T.unroll", true},
    {5, 1, 255, "T.parallel", false},
    {5, 0, 255, "T.parallel", false},
    {5, 156, 100, "T.parallel", true},
    {5, 7, 0, "T.serial", false},
    {1, -128, 127, "T.serial", false},
    {1, 100, 28, "T.serial", false},
    {1, 100, 28, "T.serial", true},
    {1, 100, 28, "T.parallel", false},
    {1, 100, 28, "T.unroll", true},
    {1, 96, 32, "T.vectorized", true},
    {1, 5, -3, "T.serial", false},
    {6, 0, 65535, "T.serial", false},
    {6, 65436, 100, "T.serial", false},
    {6, 65436, 100, "T.serial", true},
    {2, 32668, 100, "T.serial", false},
    {7, INT64_C(4294967286), 10, "T.serial", false},
    {7, INT64_C(4294967286), 10, "T.serial", true},
    {7, INT64_C(2147483640), 100, "T.serial", false},
    {7, INT64_C(2147483640), 100, "T.parallel", true},
    {8, -10, 10, "T.serial", false},
    {8, INT64_C(9223372036854775800), 100, "T.serial", false},
    {8, INT64_C(9223372036854775800), 100, "T.parallel", false},
};
enum { N_LOOPS = sizeof loops / sizeof *loops, LOOP_ROOM = 65536 };

static void fill_loop(const Func *f, int i, Run *r) {
  (void)f;
  for (int a = 0; a < 2; a++) memset(r->args[a].tensor->data, 0, r->args[a].tensor->bytes);
  if (loops[i].constant) return;
  r->args[2].i = loops[i].min;
  r->args[3].i = loops[i].extent;
}

static void check_loop(const char *who, const Func *f, int i, const Run *r) {
  (void)f;
  for (int k = 0; k < LOOP_ROOM; k++) {
    const bool runs = k < loops[i].extent;
    const int64_t times = tirc_tensor_get_int(r->args[0].tensor, k);
    const int64_t value = tirc_tensor_get_int(r->args[1].tensor, k);
    if (times == runs && value == (runs ? (int64_t)((uint64_t)loops[i].min + (uint64_t)k) : 0))
      continue;
    fail_msg("%s, loop %d: iteration %d runs %lld times, its variable is %lld", who, i, k,
             (long long)times, (long long)value);
  }
}

static void test_loops(void **state) {
  Tirc *c = tirc_context_new();
  Text t = {.c = c};
  (void)state;
  for (int i = 0; i < N_LOOPS; i++) {
    const DType type = types[loops[i].type];
    const char *name = name_of(type), *params = "", *lo = "lo", *n = "n";
    if (loops[i].constant) {
      lo = tirc_print_expr(c, tirc_int_of_bits(c, type, loops[i].min));
      n = tirc_print_expr(c, tirc_int_of_bits(c, type, loops[i].extent));
    } else {
      params = tirc_format(c, ", lo: T.%s, n: T.%s", name, name);
    }
    tirc_text_addf(&t,
                   "@T.prim_func\ndef f%d(A: T.Buffer((%d,), \"int32\"), B: T.Buffer((%d,), "
                   "\"int64\")%s):\n    for i in %s(%s, %s + %s):\n",
                   i, LOOP_ROOM, LOOP_ROOM, params, loops[i].loop, lo, lo, n);
    const char *at = tirc_format(c, "T.Cast(\"int32\", i - %s)", lo);
    tirc_text_addf(&t, "        A[%s] = A[%s] + 1\n        B[%s] = T.Cast(\"int64\", i)\n", at, at,
                   at);
  }
  run_all_ways(t.at, &(Ways){"loops", fill_loop, check_loop});
  tirc_context_release(c);
}

/* --- floats ----------------------------------------------------------------------------------- */

static const DType floats[] = {
    {TYPE_FLOAT, 16, 1}, {TYPE_BFLOAT, 16, 1}, {TYPE_FLOAT, 32, 1}, {TYPE_FLOAT, 64, 1}};
static const char *const float_names[] = {"float16", "bfloat16", "float32", "float64"};
enum { N_FLOATS = 4, N_NUMBERS = 16 };

/* What all the types that have a sign, or none, hold. */
static const double numbers[N_NUMBERS] = {0, -0.0, 0.25, -0.25, 0.5, -0.5, 0.99609375, -0.99609375,
                                          1, 1.5,  2,    2.75,  3.5, 64,   100,        127};
static const double with_sign[N_NUMBERS] = {-1,   -1.5,  -2,   -2.5, -3.5, -64, -100, -127,
                                            -128, -1.25, 0.75, 7,    8,    9,   10,   11};

static DType int_of(int i) { return types[i / (2 * N_FLOATS)]; }
static DType float_of(int i) { return floats[i / 2 % N_FLOATS]; }
static double number_at(int i, int k) {
  return i % 2 && int_of(i).code != TYPE_UINT ? with_sign[k] : numbers[k];
}
/* Half way between two bfloat16, two float32 and two float64, and one beside that. */
static const uint64_t ties[] = {(UINT64_C(1) << 62) + (UINT64_C(1) << 54),
                                (UINT64_C(1) << 62) + (UINT64_C(3) << 54),
                                (UINT64_C(1) << 63) + (UINT64_C(1) << 55),
                                (UINT64_C(1) << 63) + (UINT64_C(3) << 55),
                                (UINT64_C(1) << 62) + (UINT64_C(1) << 38),
                                (UINT64_C(1) << 63) + (UINT64_C(3) << 39),
                                (UINT64_C(1) << 53) + (UINT64_C(1) << 45),
                                (UINT64_C(1) << 54) + (UINT64_C(3) << 46),
                                (UINT64_C(1) << 62) + (UINT64_C(1) << 9),
                                (UINT64_C(1) << 63) + (UINT64_C(3) << 10),
                                UINT64_C(1) << 53};
enum { N_TIES = sizeof ties / sizeof *ties, N_WHOLE = 96 };

static int64_t edge_at(DType t, int k) {
  int64_t edges[MAX_EDGES];
  const int n = edges_of(t, edges), around = k / 2 % 3 - 1;
  if (t.bits < 64 || k < N_WHOLE - 6 * N_TIES) return edges[k % n];
  const int64_t tie = (int64_t)(ties[(N_WHOLE - 1 - k) / 6] + (uint64_t)(int64_t)around);
  return k % 2 ? (int64_t)(0 - (uint64_t)tie) : tie;
}

static void fill_floats(const Func *f, int i, Run *r) {
  (void)f;
  for (int k = 0; k < N_NUMBERS; k++) tirc_tensor_set(r->args[0].tensor, k, number_at(i, k));
  for (int k = 0; k < N_WHOLE; k++)
    tirc_tensor_set_int(r->args[2].tensor, k, edge_at(int_of(i), k));
}

/* The nearest number of so many binary digits; of two the one whose last digit is 0. */
static double nearest(int digits, Wide v) {
  const Wide size = v < 0 ? -v : v;
  int more = 0;
  while (size >> more >> digits) more++;
  Wide q = size >> more;
  const Wide rest = size - (q << more), tie = more ? (Wide)1 << (more - 1) : 1;
  if (rest > tie || (more && rest == tie && q % 2)) q++;
  return ldexp((double)(v < 0 ? -q : q), more);
}

static double rounded(DType t, Wide v) {
  if (t.code == TYPE_BFLOAT) return nearest(8, v);
  const double r = nearest(t.bits == 16 ? 11 : t.bits == 32 ? 24 : 53, v);
  return t.bits > 16 || fabs(r) <= 65504 ? r : copysign((double)INFINITY, r);
}

static void check_floats(const char *who, const Func *f, int i, const Run *r) {
  const DType t = int_of(i), u = float_of(i);
  for (int k = 0; k < N_NUMBERS; k++) {
    const double from = number_at(i, k);
    const int64_t whole = t.code == TYPE_BOOL ? from != 0 : (int64_t)from;
    const int64_t got = tirc_tensor_get_int(r->args[1].tensor, k);
    if (got != whole) fail_msg("%s, %s: %g becomes %lld", who, f->name, from, (long long)got);
  }
  for (int k = 0; k < N_WHOLE; k++) {
    const int64_t v = edge_at(t, k);
    const double back = tirc_tensor_get(r->args[3].tensor, k), should = rounded(u, number(t, v));
    if (back != should)
      fail_msg("%s, %s: %lld becomes %.17g, not %.17g", who, f->name, (long long)v, back, should);
  }
}

static void test_floats(void **state) {
  Tirc *c = tirc_context_new();
  Text t = {.c = c};
  (void)state;
  for (int i = 0; i < N_TYPES * N_FLOATS * 2; i++) {
    const char *whole = name_of(int_of(i)), *real = float_names[i / 2 % N_FLOATS];
    tirc_text_addf(
        &t,
        "@T.prim_func\ndef to_%s_and_%s_%d(F: T.Buffer((16,), \"%s\"), G: T.Buffer((16,), "
        "\"%s\"), X: T.Buffer((96,), \"%s\"), Y: T.Buffer((96,), \"%s\")):\n",
        real, whole, i % 2, real, whole, whole, real);
    const char *loop = i % 2 ? "T.vectorized" : "range";
    tirc_text_addf(&t, "    for i in %s(16):\n        G[i] = T.Cast(\"%s\", F[i])\n", loop, whole);
    tirc_text_addf(&t, "    for o in range(6):\n        for i in %s(16):\n", loop);
    tirc_text_addf(&t, "            Y[o * 16 + i] = T.Cast(\"%s\", X[o * 16 + i])\n", real);
  }
  run_all_ways(t.at, &(Ways){"floats", fill_floats, check_floats});
  tirc_context_release(c);
}

/* --- pairs of products ------------------------------------------------------------------------ */

/* Types of the factors, lanes of the sums, and whether all lanes share the first factor. Beside the
 * sums a copy whose lanes come from two rows in turn. */
static const struct {
  const char *a, *b;
  int lanes;
  bool shares;
} pairs[] = {
    {"int16", "int16", 8, true},   {"int8", "int16", 8, true},   {"uint8", "int8", 16, true},
    {"int16", "int8", 32, true},   {"int16", "int16", 4, false}, {"uint8", "int8", 8, false},
    {"int16", "int16", 16, false}, {"int8", "uint8", 64, true},
};
enum { N_PAIRS = sizeof pairs / sizeof *pairs };

/* The first pair of A is the least of its type, and so are every second pair of B: of int16 the sum
 * of both products is no int32, but fits behind the least int32. */
static int64_t factor_at(DType t, bool is_first, int k) {
  if (is_first ? k < 2 : k % 4 < 2) return tirc_dtype_min(t);
  return !is_first && k % 4 == 2 ? tirc_dtype_max(t) : tirc_dtype_max(t) / 128 - k % 2;
}

static int64_t sum_at(int i, int v) {
  const bool wide = strcmp(pairs[i].a, "int16") == 0 && strcmp(pairs[i].b, "int16") == 0;
  return wide && (pairs[i].shares ? v % 2 == 0 : v == 0) ? INT32_MIN : v;
}

static void fill_pairs(const Func *f, int i, Run *r) {
  (void)f;
  for (int a = 0; a < 3; a++) {
    Tensor *t = r->args[a].tensor;
    for (int k = 0; k < t->count; k++)
      tirc_tensor_set_int(t, k, a == 2 ? sum_at(i, k) : factor_at(t->dtype, a == 0, k));
  }
}

static void check_pairs(const char *who, const Func *f, int i, const Run *r) {
  (void)f;
  const Tensor *a = r->args[0].tensor, *b = r->args[1].tensor, *c = r->args[2].tensor;
  const int n = pairs[i].lanes;
  for (int v = 0; v < n; v++) {
    int64_t sum = sum_at(i, v);
    for (int k = 0; k < (pairs[i].shares ? 4 : 2); k++)
      sum += factor_at(a->dtype, true, pairs[i].shares ? k : v * 2 + k) *
             factor_at(b->dtype, false, v * 2 + k % 2);
    if (tirc_tensor_get_int(c, v) != sum)
      fail_msg("%s, pairs %d: sum %d is %lld instead of %lld", who, i, v,
               (long long)tirc_tensor_get_int(c, v), (long long)sum);
  }
  for (int v = 0; v < 2 * n; v++)
    assert_int_equal(tirc_tensor_get_int(r->args[3].tensor, v),
                     tirc_tensor_get_int(b, v % 2 * n + v / 2));
}

static void test_pairs(void **state) {
  Tirc *c = tirc_context_new();
  Text t = {.c = c};
  (void)state;
  for (int i = 0; i < N_PAIRS; i++) {
    const int n = pairs[i].lanes;
    tirc_text_addf(&t,
                   "@T.prim_func\ndef pairs%d(A: T.Buffer((%d,), \"%s\"), B: T.Buffer((%d,), "
                   "\"%s\"), C: T.Buffer((%d,), \"int32\"), D: T.Buffer((%d,), \"%s\")):\n",
                   i, 2 * n, pairs[i].a, 2 * n, pairs[i].b, n, 2 * n, pairs[i].b);
    tirc_text_addf(&t,
                   "    for u in T.unroll(%d):\n        for k in T.unroll(2):\n            for v "
                   "in T.vectorized(%d):\n"
                   "                C[v] = C[v] + T.Cast(\"int32\", A[%s]) * T.Cast(\"int32\", "
                   "B[v * 2 + k])\n",
                   pairs[i].shares ? 2 : 1, n, pairs[i].shares ? "u * 2 + k" : "v * 2 + k");
    tirc_text_addf(&t, "    for v in T.vectorized(%d):\n        D[v] = B[v %% 2 * %d + v // 2]\n",
                   2 * n, n);
  }
  run_all_ways(t.at, &(Ways){"pairs", fill_pairs, check_pairs});
  Trap trap;
  if (!TIRC_TRY(c, trap)) fail_msg("%s", c->diag.message);
  const Module *lowered = tirc_lower(c, parse(c, t.at), NULL, NULL);
  const char *at = tirc_llvm_emit(c, lowered, "haswell", EMIT_LLVM).bytes;
  int found = 0;
  while ((at = strstr(at, "call <")) && (at = strchr(at, '@')))
    found += strncmp(at, "@llvm.x86.avx2.pmadd.wd", 23) == 0;
  TIRC_END(c, trap);
  assert_true(found >= N_PAIRS);
  tirc_context_release(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expressions),
      cmocka_unit_test(test_loops),
      cmocka_unit_test(test_floats),
      cmocka_unit_test(test_pairs),
  };
  if (!mkdtemp(folder)) return 2;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) || failed;
}
