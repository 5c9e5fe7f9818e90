/* run_c [-v] [--filter TEXT] [--portable] [--cc 'COMPILER FLAGS']... [--programs] [--example PROG
 * SCHED]... CASES...
 *
 * C source against the reference interpreter: the programs of unit/programs.h, all legal cases of
 * the given folders, and examples, each as it is scheduled. What is under test goes into a few C
 * files, many functions in each, which every compiler must take without a warning; then every
 * function runs on random data. Floats may differ by rounding, integers not at all. Where the
 * interpreter would take long, the expected numbers are the machine code's. Of the cases a sample
 * (every.h). */
#include "cases.h"
#include "codegen/c/c.h"
#include "codegen/llvm/llvm.h"
#include "parser/program.h"
#include "passes/lower/lower.h"
#include "passes/script/script.h"
#include "runtime/interp/interp.h"
#include "tests/every.h"
#include "tests/unit/programs.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_STEPS = 300000, BATCH = 64, MAX_COMPILERS = 4 };

typedef struct Options {
  bool verbose;
  const char *filter;
  int n_compilers;
  int vector_bytes; /* 0: C without extensions */
  const char *compilers[MAX_COMPILERS];
  char folder[64]; /* for the C files */
} Options;

/* One function under test. */
typedef struct Entry {
  const char *name;
  const Func *scheduled, *lowered; /* renamed */
  const Module *machine;           /* lowered, for machine code */
  int64_t symbol;
} Entry;

typedef struct Batch {
  const Options *o;
  Tirc *c;
  int number;
  VEC(Entry) entries;
} Batch;

typedef struct Tally {
  int passed, failed, skipped;
} Tally;

static void fail(Tally *t, const char *name, const char *why) {
  t->failed++;
  printf("FAIL %s\n     %s\n", name, why);
  fflush(stdout);
}

/* --- running ---------------------------------------------------------------------------------- */

typedef struct Values {
  int n;
  Argument *args;
} Values;

static Values random_values(Tirc *c, const Func *f, int64_t symbol) {
  Values v = {f->n_params, tirc_new_array(c, Argument, f->n_params)};
  for (int i = 0; i < v.n; i++) {
    Buffer b = f->buffers[i];
    v.args[i].i = symbol;
    v.args[i].f = 1.5;
    int64_t shape[TENSOR_MAX_NDIM];
    for (int d = 0; b && d < b->ndim; d++)
      if (!tirc_const_int(b->shape[d], &shape[d])) shape[d] = symbol;
    if (b) v.args[i].tensor = tirc_tensor_new(c, b->dtype, b->ndim, shape);
    if (b) tirc_tensor_random(v.args[i].tensor, (uint64_t)i + 1);
  }
  return v;
}

static Values copy_values(Tirc *c, const Values *from) {
  Values v = {from->n, tirc_new_array(c, Argument, from->n)};
  for (int i = 0; i < v.n; i++) {
    v.args[i] = from->args[i];
    if (v.args[i].tensor) v.args[i].tensor = tirc_tensor_clone(c, v.args[i].tensor);
  }
  return v;
}

static void free_values(Values *v) {
  for (int i = 0; i < v->n; i++) tirc_tensor_free(v->args[i].tensor);
}

static void **pack(Tirc *c, const Func *f, Values *v) {
  Expr *symbols;
  int n = tirc_symbolic_params(c, f, &symbols);
  int64_t *values = tirc_new_array(c, int64_t, n + 1);
  void **args = tirc_new_array(c, void *, v->n + n);
  tirc_bind_arguments(c, f, v->n, v->args, values);
  for (int i = 0; i < v->n; i++) {
    Argument *a = &v->args[i];
    args[i] = a->tensor ? a->tensor->data : (void *)&a->i;
    if (a->tensor || !tirc_dtype_is_float(f->params[i]->dtype)) continue;
    Tensor cell = {.dtype = f->params[i]->dtype, .count = 1, .data = tirc_alloc(c, 8)};
    tirc_tensor_set(&cell, 0, a->f);
    args[i] = cell.data;
  }
  for (int i = 0; i < n; i++) args[v->n + i] = &values[i];
  return args;
}

static double epsilon(DType t) {
  if (t.code == TYPE_BFLOAT) return 0x1p-7;
  return t.bits == 16 ? 0x1p-10 : t.bits == 32 ? 0x1p-23 : 0x1p-52;
}

/* Sums cancel, so errors are relative to the array's scale. */
static const char *difference(Tirc *c, const Tensor *x, const Tensor *y) {
  bool is_float = tirc_dtype_is_float(x->dtype);
  double sum = 0;
  for (int64_t i = 0; is_float && i < x->count; i++) {
    double v = tirc_tensor_get(x, i);
    if (isfinite(v)) sum += v * v;
  }
  double scale = x->count ? sqrt(sum / (double)x->count) : 0;
  for (int64_t i = 0; i < x->count; i++) {
    double u = tirc_tensor_get(x, i), v = tirc_tensor_get(y, i);
    bool same = is_float ? u == v || (isnan(u) && isnan(v))
                         : tirc_tensor_get_int(x, i) == tirc_tensor_get_int(y, i);
    if (same) continue;
    if (is_float && fabs(u - v) <= 256 * epsilon(x->dtype) * fmax(scale, fabs(u))) continue;
    return tirc_format(c, "element %lld is %.9g, not %.9g", (long long)i, v, u);
  }
  return NULL;
}

/* What the function should compute, in v. False: random data means nothing to it. */
static bool expect(Tirc *c, const Entry *e, Values *v) {
  Values start = copy_values(c, v);
  Trap trap;
  bool known = true;
  if (TIRC_TRY(c, trap)) {
    tirc_interpret(c, e->scheduled, v->n, v->args, MAX_STEPS);
    TIRC_END(c, trap);
  } else if (c->diag.code == CODE_STEPS) {
    Jit *j = tirc_jit_new(c, e->machine, "native");
    for (int i = 0; i < v->n; i++)
      if (v->args[i].tensor)
        memcpy(v->args[i].tensor->data, start.args[i].tensor->data, start.args[i].tensor->bytes);
    tirc_jit_find(j, e->machine->funcs[0]->name)(pack(c, e->scheduled, v), NULL);
    tirc_jit_free(j);
  } else {
    known = false;
  }
  free_values(&start);
  return known;
}

static void skip(const Batch *b, Tally *t, const Entry *e, const Tirc *c) {
  t->skipped++;
  if (b->o->verbose) printf("skip %s: %s\n", e->name, c->diag.message);
}

static void run_entry(Batch *b, Tally *t, const Entry *e, int n_libraries, void *const *libraries) {
  Tirc *c = tirc_context_new();
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    Values input = random_values(c, e->scheduled, e->symbol), expected = copy_values(c, &input);
    const bool known = expect(c, e, &expected);
    const char *wrong = NULL;
    for (int k = 0; known && k < n_libraries && !wrong; k++) {
      const char *symbol = tirc_format(c, "%s__packed", e->lowered->name);
      int (*function)(void **) = (int (*)(void **))(uintptr_t)dlsym(libraries[k], symbol);
      Values got = copy_values(c, &input);
      int status = function ? function(pack(c, e->scheduled, &got)) : -1;
      if (status) wrong = tirc_format(c, "status %d", status);
      for (int i = 0; i < got.n && !wrong; i++)
        if (got.args[i].tensor) wrong = difference(c, expected.args[i].tensor, got.args[i].tensor);
      if (wrong) wrong = tirc_format(c, "%s: %s", b->o->compilers[k], wrong);
      free_values(&got);
    }
    free_values(&input);
    free_values(&expected);
    TIRC_END(c, trap);
    if (!known)
      skip(b, t, e, c);
    else if (wrong)
      fail(t,
           tirc_format(c, "%s (%s/batch%d.c: %s)", e->name, b->o->folder, b->number,
                       e->lowered->name),
           wrong);
    else
      t->passed++;
    if (known && !wrong && b->o->verbose) printf("ok   %s\n", e->name);
  } else {
    skip(b, t, e, c);
  }
  tirc_context_release(c);
}

/* --- batches ---------------------------------------------------------------------------------- */

static const char *source_of(Tirc *c, int vector_bytes, int n, const Entry *entries) {
  const Func **scheduled = tirc_new_array(c, const Func *, n);
  const Func **lowered = tirc_new_array(c, const Func *, n);
  for (int i = 0; i < n; i++) {
    scheduled[i] = entries[i].scheduled;
    lowered[i] = entries[i].lowered;
  }
  Module from = {.c = c, .n_funcs = n, .funcs = scheduled};
  Module to = {.c = c, .n_funcs = n, .funcs = lowered};
  CSource what = {.lowered = &to, .scheduled = &from, .vector_bytes = vector_bytes, .packed = true};
  return tirc_c_source(c, &what);
}

static void write_batch(Batch *b, const char *path) {
  Tirc *c = b->c;
  const char *text = source_of(c, b->o->vector_bytes, b->entries.n, b->entries.at);
  FILE *f = fopen(path, "w");
  if (!f) tirc_fail(c, (Loc){0}, CODE_FILE, NULL, "%s cannot be written", path);
  fputs(text, f);
  fclose(f);
}

/* The libraries stay loaded: OpenMP's threads outlive the calls. */
static void finish(Batch *b, Tally *t) {
  void *libraries[MAX_COMPILERS] = {0};
  const Options *o = b->o;
  char path[128], command[1024];
  int n = 0;
  snprintf(path, sizeof path, "%s/batch%d.c", o->folder, b->number);
  if (b->entries.n) write_batch(b, path);
  for (int k = 0; b->entries.n && k < o->n_compilers; k++) {
    snprintf(command, sizeof command, "%s -Wall -Wextra -Werror -fPIC -shared -o %s.%d.so %s -lm",
             o->compilers[k], path, k, path);
    if (system(command)) {
      fail(t, path, command);
      continue;
    }
    snprintf(command, sizeof command, "%s.%d.so", path, k);
    libraries[n] = dlopen(command, RTLD_NOW | RTLD_LOCAL);
    if (libraries[n])
      n++;
    else
      fail(t, path, dlerror());
  }
  for (int i = 0; i < b->entries.n && n == o->n_compilers; i++)
    run_entry(b, t, &b->entries.at[i], n, libraries);
  tirc_context_release(b->c);
  b->c = tirc_context_new();
  b->number++;
  memset(&b->entries, 0, sizeof b->entries);
}

static const Func *renamed(Tirc *c, const Func *f, const char *name) {
  Func *r = tirc_new(c, Func);
  *r = *f;
  r->name = name;
  return r;
}

static void add(Batch *b, Tally *t, const char *name, const Module *scheduled, int64_t symbol) {
  Tirc *c = b->c;
  const Module *lowered = tirc_lower(c, scheduled, NULL, NULL);
  const char *symbol_name = tirc_format(c, "f%d", b->entries.n);
  if (lowered->n_funcs != 1) {
    t->skipped++;
    return;
  }
  Entry e = {tirc_strdup(c, name), renamed(c, scheduled->funcs[0], symbol_name),
             renamed(c, lowered->funcs[0], symbol_name), lowered, symbol};
  (void)source_of(c, b->o->vector_bytes, 1,
                  &e); /* calls of functions that are not there are no code */
  vec_push(c, b->entries, e);
}

/* --- what is tested --------------------------------------------------------------------------- */

typedef struct Pair {
  const char *name, *program, *schedule; /* texts; no schedule: NULL */
  int64_t symbol;
  int n_defines;
  const Define *defines;
} Pair;

static void try_add(Batch *b, Tally *t, const Pair *p) {
  Tirc *c = b->c;
  if (b->o->filter && !strstr(p->name, b->o->filter)) return;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    Source program = {p->name, p->program, strlen(p->program)};
    const Module *m = tirc_parse_module(c, &program, p->n_defines, p->defines);
    Sched *s = tirc_sched_new(c, m);
    if (p->schedule) {
      Source script = {p->name, p->schedule, strlen(p->schedule)};
      tirc_run_script(s, &script, NULL, NULL, NULL, NULL);
    }
    add(b, t, p->name, s->mod, p->symbol);
    TIRC_END(c, trap);
  } else if (c->diag.code == CODE_LOWER || c->diag.code == CODE_CODEGEN) {
    /* vectorized loops of symbolic extent, GPUs, unknown functions */
    t->skipped++;
    if (b->o->verbose) printf("skip %s: %s\n", p->name, c->diag.message);
  } else {
    fail(t, p->name, c->diag.message);
  }
  if (b->entries.n == BATCH) finish(b, t);
}

static void add_case(Batch *b, Tally *t, const char *path) {
  char *text = case_read(path);
  Case test;
  const char *why = "cannot be read";
  path = tirc_strdup(b->c, path); /* assertions keep it until the batch is written */
  if (!text || !case_parse(b->c, path, text, &test, &why)) {
    fail(t, path, why);
  } else if (strcmp(test.verdict, "legal") == 0 && !test.reference_fault) {
    try_add(
        b, t,
        &(Pair){.name = path, .program = test.program, .schedule = test.schedule, .symbol = 24});
  }
  free(text);
}

static int is_case(const struct dirent *entry) {
  size_t n = strlen(entry->d_name);
  return n > 5 && !strcmp(entry->d_name + n - 5, ".case");
}

static void add_folder(Batch *b, Tally *t, const char *path) {
  struct dirent **entries;
  int n = scandir(path, &entries, is_case, alphasort);
  if (n < 0) fail(t, path, "cannot be read");
  for (int i = 0; i < n; i++) {
    char inner[4096];
    snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
    if (i % tirc_test_every() == 0) add_case(b, t, inner);
    free(entries[i]);
  }
  if (n >= 0) free(entries);
}

static void add_example(Batch *b, Tally *t, const char *program, const char *schedule) {
  static const Define small[] = {{"M", "64"}, {"N", "128"}, {"K", "64"}};
  char *p = case_read(program), *s = case_read(schedule);
  bool shrinks = strstr(program, "matmul/matmul.tir") && !strstr(program, "decompose");
  if (!p || !s)
    fail(t, p ? schedule : program, "cannot be read");
  else if (!strstr(s, "xpected failure"))
    try_add(b, t, &(Pair){schedule, p, s, 24, shrinks ? 3 : 0, small});
  free(p);
  free(s);
}

static void add_programs(Batch *b, Tally *t) {
  for (int i = 0; i < N_PROGRAMS; i++)
    try_add(b, t,
            &(Pair){.name = programs[i].name,
                    .program = programs[i].text,
                    .symbol = programs[i].symbol});
}

int main(int argc, char **argv) {
  Options o = {.folder = "/tmp/run_c.XXXXXX", .vector_bytes = 32};
  Tally t = {0};
  if (!mkdtemp(o.folder)) return 2;
  Batch b = {.o = &o, .c = tirc_context_new()};
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "-v"))
      o.verbose = true;
    else if (!strcmp(argv[i], "--filter") && i + 1 < argc)
      o.filter = argv[++i];
    else if (!strcmp(argv[i], "--cc") && i + 1 < argc && o.n_compilers < MAX_COMPILERS)
      o.compilers[o.n_compilers++] = argv[++i];
    else if (!strcmp(argv[i], "--portable"))
      o.vector_bytes = 0;
    else if (!strcmp(argv[i], "--programs"))
      add_programs(&b, &t);
    else if (!strcmp(argv[i], "--example") && i + 2 < argc) {
      add_example(&b, &t, argv[i + 1], argv[i + 2]);
      i += 2;
    } else {
      add_folder(&b, &t, argv[i]);
    }
  }
  finish(&b, &t);
  tirc_context_release(b.c);
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", o.folder);
  if (!t.failed && system(command)) return 2;
  printf("%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped);
  return t.failed || !t.passed ? 1 : 0;
}
