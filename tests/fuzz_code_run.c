/* Programs run: by the interpreter here, as machine code and as C in processes of their own, which
 * may crash, trap or never end. Arrays lie in shared memory between pages that nobody may touch,
 * often up to the last byte, and what is left of their pages must keep its bytes. */
#include "fuzz_code.h"

#include "codegen/c/c.h"
#include "codegen/failures.h"
#include "codegen/llvm/llvm.h"
#include "ir/cpu.h"
#include "ir/tree/verify.h"
#include "parser/program.h"
#include "passes/lower/lower.h"
#include "passes/rules/rules.h"

#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_STEPS = 30000, PAGE = 4096, LINE = 64, UNTOUCHED = 0xa5, SECONDS = 60 };

/* --- arrays ---------------------------------------------------------------------------------- */

static int64_t draw_value(Rng *r, DType t, Wide lo, Wide hi) {
  const Wide near = rng_below(r, 3);
  Wide v = rng_below(r, 9) - 4;
  if (hi - lo > 1000 && rng_chance(r, 50))
    v = rng_chance(r, 50) ? hi - near : lo + near;
  else if (hi - lo <= 1000 || rng_chance(r, 50))
    v = lo + (Wide)(rng_next(r) % ((uint64_t)(hi - lo) + 1 ? (uint64_t)(hi - lo) + 1 : UINT64_MAX));
  if (v < lo) v = lo;
  if (v > hi) v = hi;
  (void)t;
  return (int64_t)v;
}

static Arrays make_arrays(Tirc *c, const Program *p, const Func *f) {
  Arrays a = {p->n_params, tirc_new_array(c, Argument, p->n_params + 1)};
  for (int i = 0; i < a.n; i++) {
    const CodeParam *k = &p->params[i];
    Rng r = {p->seed + (uint64_t)i};
    a.args[i].i = (int64_t)k->lo;
    if (k->is_scalar) continue;
    Tensor *t = a.args[i].tensor = tirc_tensor_new(c, f->buffers[i]->dtype, k->n, k->shape);
    for (int64_t e = 0; e < t->count; e++) {
      const int64_t v = draw_value(&r, t->dtype, k->lo, k->hi);
      if (tirc_dtype_is_float(t->dtype))
        tirc_tensor_set(t, e, (double)v);
      else
        tirc_tensor_set_int(t, e, v);
    }
  }
  return a;
}

static Arrays copy_arrays(Tirc *c, const Arrays *from) {
  Arrays a = {from->n, tirc_copy(c, from->args, from->n)};
  for (int i = 0; i < a.n; i++)
    if (a.args[i].tensor) a.args[i].tensor = tirc_tensor_clone(c, a.args[i].tensor);
  return a;
}

static void free_arrays(Arrays *a) {
  for (int i = 0; i < a->n; i++) tirc_tensor_free(a->args[i].tensor);
  a->n = 0;
}

void code_release(Expected *e) {
  free_arrays(&e->start);
  free_arrays(&e->end);
}

/* --- what should come out -------------------------------------------------------------------- */

static void run_line(Tirc *c, Sched *s, const char *line) {
  Source source = {"fuzz.sch", line, strlen(line)};
  Trap t;
  if (!TIRC_TRY(c, t)) return;
  tirc_run_script(s, &source, NULL, NULL, NULL, NULL);
  TIRC_END(c, t);
}

void code_run_lines(Tirc *c, Sched *s, const char *lines) {
  for (const char *at = lines; *at;) {
    const size_t n = strcspn(at, "\n");
    run_line(c, s, tirc_strndup(c, at, n));
    at += n + (at[n] != 0);
  }
}

static const Module *scheduled(Tirc *c, const Program *p, const Module *m) {
  if (!p->automatic && !*p->schedule) return m;
  Sched *s = tirc_sched_new(c, m);
  code_run_lines(c, s, p->schedule);
  Trap t;
  if (p->automatic && TIRC_TRY(c, t)) {
    tirc_auto_schedule(s, NULL, NULL, NULL, NULL, NULL, NULL);
    TIRC_END(c, t);
  }
  return s->mod;
}

static const Module *renamed(Tirc *c, const Module *m, const char *name) {
  Func *f = tirc_new(c, Func);
  *f = *tirc_module_main(m);
  f->name = name;
  return tirc_module_with_func(c, m, 0, f);
}

bool code_expect_module(Tirc *c, const Program *p, const Module *m, Expected *out) {
  *out = (Expected){.program = p};
  Arrays start = make_arrays(c, p, tirc_module_main(m));
  Arrays end = copy_arrays(c, &start);
  Trap t;
  volatile bool ok = false;
  if (TIRC_TRY(c, t)) {
    tirc_interpret(c, tirc_module_main(m), end.n, end.args, MAX_STEPS);
    out->from = m;
    if (p->kernel) out->scheduled = out->lowered = m;
    if (!p->kernel) out->scheduled = renamed(c, scheduled(c, p, m), p->name);
    if (!p->kernel) out->lowered = tirc_lower(c, out->scheduled, NULL, NULL);
    ok = true;
    TIRC_END(c, t);
  }
  out->start = start;
  out->end = end;
  if (!ok) code_release(out);
  return ok;
}

bool code_expect(Tirc *c, const Program *p, Expected *out) {
  Source source = {"fuzz.tir", p->text, strlen(p->text)};
  const Module *volatile m = NULL;
  Trap t;
  if (TIRC_TRY(c, t)) {
    const Module *parsed = tirc_parse_module(c, &source, 0, NULL);
    tirc_verify(c, parsed);
    m = parsed;
    TIRC_END(c, t);
  }
  return m && code_expect_module(c, p, m, out);
}

bool code_same_in_orders(Tirc *c, const Program *p, const Expected *e) {
  for (int i = 1; i < CODE_ORDERS; i++) {
    Program other = *p;
    Expected is;
    other.text = p->orders[i];
    if (!code_expect(c, &other, &is)) return false;
    bool same = true;
    for (int a = 0; a < is.end.n; a++) {
      const Tensor *x = is.end.args[a].tensor, *y = e->end.args[a].tensor;
      same &= !x || memcmp(x->data, y->data, x->bytes) == 0;
    }
    code_release(&is);
    if (!same) return false;
  }
  return true;
}

/* --- guarded memory -------------------------------------------------------------------------- */

typedef struct Guarded {
  uint8_t *pages; /* the first and the last of them are nobody's */
  size_t n_pages, at, bytes;
} Guarded;

/* Up to the end, or from the start; as it must be aligned. */
static Guarded guard(Tirc *c, const Tensor *t, int align, bool at_end) {
  Guarded g = {.bytes = t->bytes, .n_pages = 2 + (t->bytes + PAGE - 1) / PAGE};
  if (g.n_pages < 3) g.n_pages = 3;
  g.pages = mmap(NULL, g.n_pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (g.pages == MAP_FAILED) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  memset(g.pages, UNTOUCHED, g.n_pages * PAGE);
  g.at = at_end ? ((g.n_pages - 1) * PAGE - t->bytes) / (size_t)align * (size_t)align : PAGE;
  memcpy(g.pages + g.at, t->data, t->bytes);
  mprotect(g.pages, PAGE, PROT_NONE);
  mprotect(g.pages + (g.n_pages - 1) * PAGE, PAGE, PROT_NONE);
  return g;
}

static const char *difference(Tirc *c, const char *name, const Tensor *is, const Tensor *right,
                              const Guarded *g) {
  for (size_t i = PAGE; i < (g->n_pages - 1) * PAGE; i++)
    if ((i < g->at || i >= g->at + g->bytes) && g->pages[i] != UNTOUCHED)
      return tirc_format(c, "byte %lld of %s is written", (long long)i - (long long)g->at, name);
  for (int64_t i = 0; i < right->count; i++) {
    const double a = tirc_tensor_get(is, i), b = tirc_tensor_get(right, i);
    const size_t size = right->bytes / (size_t)right->count;
    const bool is_float = tirc_dtype_is_float(right->dtype);
    const bool same = is_float ? a == b || (isnan(a) && isnan(b))
                               : !memcmp((const char *)is->data + (size_t)i * size,
                                         (const char *)right->data + (size_t)i * size, size);
    if (same) continue;
    if (is_float)
      return tirc_format(c, "element %lld of %s is %.17g, not %.17g", (long long)i, name, a, b);
    return tirc_format(c, "element %lld of %s is %lld, not %lld", (long long)i, name,
                       (long long)tirc_tensor_get_int(is, i),
                       (long long)tirc_tensor_get_int(right, i));
  }
  return NULL;
}

/* --- runs ------------------------------------------------------------------------------------ */

typedef struct Call {
  int n;
  Guarded *arrays; /* one a parameter; without pages: a scalar */
  void **args;     /* as NAME__packed takes them */
} Call;

static Call make_call(Tirc *c, const Expected *e) {
  const Func *f = tirc_module_main(e->from);
  Expr *symbols;
  const int n = e->start.n, n_symbols = tirc_symbolic_params(c, f, &symbols);
  int64_t *values = tirc_new_array(c, int64_t, n_symbols + 1);
  Call call = {n, tirc_new_array(c, Guarded, n + 1), tirc_new_array(c, void *, n + n_symbols + 1)};
  tirc_bind_arguments(c, f, n, e->start.args, values);
  for (int i = 0; i < n; i++) {
    Argument *a = &e->start.args[i];
    call.args[i] = &a->i;
    if (!a->tensor) continue;
    const int align = f->buffers[i]->align < LINE ? f->buffers[i]->align : LINE;
    call.arrays[i] = guard(c, a->tensor, align, (e->program->seed >> i) % 4 != 0);
    call.args[i] = call.arrays[i].pages + call.arrays[i].at;
  }
  for (int i = 0; i < n_symbols; i++) call.args[n + i] = &values[i];
  return call;
}

static const char *check_call(Tirc *c, const Expected *e, const Call *call) {
  const Func *f = tirc_module_main(e->from);
  for (int i = 0; i < call->n; i++) {
    const Tensor *right = e->end.args[i].tensor;
    if (!right) continue;
    Tensor is = *right;
    is.data = call->arrays[i].pages + call->arrays[i].at;
    const char *why = difference(c, f->buffers[i]->name, &is, right, &call->arrays[i]);
    if (why) return why;
  }
  return NULL;
}

static void end_call(Call *call) {
  for (int i = 0; i < call->n; i++)
    if (call->arrays[i].pages) munmap(call->arrays[i].pages, call->arrays[i].n_pages * PAGE);
}

/* All programs as one module; either what was lowered, or what it was lowered from. */
static Module *joined(Tirc *c, int n, const Expected *programs, bool lowered) {
  const Func **funcs = tirc_new_array(c, const Func *, n);
  Module *m = tirc_new(c, Module);
  for (int i = 0; i < n; i++)
    funcs[i] = tirc_module_main(lowered ? programs[i].lowered : programs[i].scheduled);
  *m = (Module){.c = c, .n_funcs = n, .funcs = funcs};
  return m;
}

/* What the parent sees of a child. */
typedef struct Progress {
  volatile int compiled, at; /* at: the program that runs just now */
  char message[200];         /* why it cannot be compiled */
  volatile int status[];
} Progress;

typedef int (*Packed)(void **args);

/* In the child. */
static void run_machine_code(Tirc *c, const char *cpu, const Module *m, int from, int n,
                             const Expected *programs, const Call *calls, Progress *p) {
  Jit *j = tirc_jit_new(c, m, cpu);
  p->compiled = 1;
  for (p->at = from; p->at < n; p->at++)
    p->status[p->at] = tirc_jit_find(j, programs[p->at].program->name)(calls[p->at].args, NULL);
}

static void run_library(Tirc *c, const char *path, int from, int n, const Expected *programs,
                        const Call *calls, Progress *p) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) tirc_fail(c, (Loc){0}, CODE_FILE, NULL, "%s", dlerror());
  p->compiled = 1;
  for (p->at = from; p->at < n; p->at++) {
    const char *symbol = tirc_format(c, "%s__packed", programs[p->at].program->name);
    p->status[p->at] = ((Packed)(uintptr_t)dlsym(library, symbol))(calls[p->at].args);
  }
}

static const char *wait_for(Tirc *c, pid_t child) {
  int status;
  if (waitpid(child, &status, 0) != child) return "the process is lost";
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGXCPU ? "it does not end"
                                       : tirc_format(c, "it ends by signal %d", WTERMSIG(status));
  return WEXITSTATUS(status) ? tirc_format(c, "it ends with status %d", WEXITSTATUS(status)) : NULL;
}

/* The line with the error, among what a compiler or a program has written; "" without one. */
static const char *error_in(Tirc *c, const char *path) {
  char line[400] = "";
  FILE *f = fopen(path, "r");
  bool found = false;
  while (!found && f && fgets(line, sizeof line, f)) found = strstr(line, "error:");
  if (f) fclose(f);
  line[strcspn(line, "\n")] = 0;
  return found ? tirc_strdup(c, line) : "";
}

/* From program number `from` on; never returns. What programs write to the standard error goes to
 * the file `said`. */
_Noreturn static void child(Tirc *c, const Compiler *how, const char *library, const Module *m,
                            int from, int n, const Expected *programs, const Call *calls,
                            Progress *p) {
  const struct rlimit limit = {SECONDS, SECONDS + 1};
  Trap t;
  setrlimit(RLIMIT_CPU, &limit);
  if (library && !freopen(tirc_format(c, "%s/said", how->folder), "w", stderr)) _exit(4);
  if (TIRC_TRY(c, t)) {
    if (library)
      run_library(c, library, from, n, programs, calls, p);
    else
      run_machine_code(c, how->cpu, m, from, n, programs, calls, p);
    _exit(0);
  }
  snprintf(p->message, sizeof p->message, "%s", c->diag.message);
  _exit(3);
}

/* False: they cannot be compiled together. */
static bool run_from(Tirc *c, const Compiler *how, const char *library, int n,
                     const Expected *programs, const Call *calls, Progress *p, const char **why) {
  const Module *m = library ? NULL : joined(c, n, programs, true);
  for (int from = 0; from < n; from = p->at + 1) {
    p->compiled = 0;
    p->at = from;
    p->message[0] = 0;
    fflush(stdout);
    fflush(stderr);
    const pid_t pid = fork();
    if (pid < 0) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "no process can be started");
    if (pid == 0) child(c, how, library, m, from, n, programs, calls, p);
    const char *ended = wait_for(c, pid);
    if (!ended) return true;
    const char *error = library ? error_in(c, tirc_format(c, "%s/said", how->folder)) : p->message;
    if (*error) ended = tirc_strdup(c, error);
    if (!p->compiled) return why[from] = ended, false;
    if (p->at == n) p->at--;
    why[p->at] = ended;
  }
  return true;
}

/* What computes with constants and bools at random compares in vain. */
#define WARNINGS                                                                                   \
  "-Wall -Werror -Wno-bool-operation -Wno-bool-compare -Wno-tautological-compare "                 \
  "-Wno-unknown-warning-option"

/* NULL: it is not compiled, and *why says so. */
static const char *compile_c(Tirc *c, const Compiler *how, int n, const Expected *programs,
                             const char **why) {
  const Module *from = joined(c, n, programs, false), *lowered = joined(c, n, programs, true);
  const CSource what = {
      .lowered = lowered,
      .scheduled = from,
      .vector_bytes = how->is_portable ? 0 : tirc_cpu_vector_bits(tirc_cpu_find(how->cpu)) / 8,
      .packed = true};
  const char *path = tirc_format(c, "%s/code.c", how->folder);
  const char *library = tirc_format(c, "%s/code.so", how->folder);
  const char *said = tirc_format(c, "%s/said", how->folder);
  Trap t;
  if (!TIRC_TRY(c, t)) {
    *why = tirc_strdup(c, c->diag.message);
    return NULL;
  }
  const char *text = tirc_c_source(c, &what);
  FILE *f = fopen(path, "w");
  if (!f) tirc_fail(c, (Loc){0}, CODE_FILE, NULL, "%s cannot be written", path);
  fputs(text, f);
  fclose(f);
  TIRC_END(c, t);
  if (!system(tirc_format(c, "%s " WARNINGS " -fPIC -shared -o %s %s -lm 2> %s", how->command,
                          library, path, said)))
    return library;
  *why = error_in(c, said);
  return NULL;
}

/* What a schedule does to an extent may not fit the type that a symbol has: (n + 4) // 5 of a
 * uint8. That is asserted on entry. */
static bool refuses(const Program *p, int status) {
  return status >= STATUS_FIRST_FAILURE && (p->automatic || *p->schedule);
}

static void run_together(Tirc *c, const Compiler *how, int n, const Expected *programs,
                         const char **why) {
  Call *calls = tirc_new_array(c, Call, n);
  for (int i = 0; i < n; i++) calls[i] = make_call(c, &programs[i]);
  Progress *p = mmap(NULL, sizeof *p + (size_t)n * sizeof p->status[0], PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  const char *path = how->command ? compile_c(c, how, n, programs, &why[0]) : NULL;
  bool done = (path || !how->command) && run_from(c, how, path, n, programs, calls, p, why);
  for (int i = 0; done && i < n; i++) {
    if (!why[i] && refuses(programs[i].program, p->status[i])) continue;
    if (!why[i] && p->status[i]) why[i] = tirc_format(c, "it returns %d", p->status[i]);
    if (!why[i]) why[i] = check_call(c, &programs[i], &calls[i]);
  }
  munmap(p, sizeof *p + (size_t)n * sizeof p->status[0]);
  for (int i = 0; i < n; i++) end_call(&calls[i]);
  if (done || n == 1) return;
  /* Of which one that is shows when each half is compiled alone. */
  memset(why, 0, (size_t)n * sizeof *why);
  run_together(c, how, n / 2, programs, why);
  run_together(c, how, n - n / 2, programs + n / 2, why + n / 2);
}

void code_run(Tirc *c, const Compiler *how, int n, const Expected *programs, const char **why) {
  memset(why, 0, (size_t)n * sizeof *why);
  if (n) run_together(c, how, n, programs, why);
  for (int i = 0; i < n; i++)
    if (why[i])
      why[i] = tirc_format(c, "%s: %s", how->command ? how->command : "machine code", why[i]);
}
