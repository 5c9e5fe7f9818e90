/* Programs of the fuzzer of code on the emulator of a GPU: loops of their blocks become threads,
 * and what the kernels compute must be the interpreter's results. */
#include "fuzz_code.h"

#include "ir/gpu.h"
#include "ir/tree/find.h"
#include "passes/lower/lower.h"
#include "passes/schedule/loops/loops.h"
#include "passes/schedule/schedule.h"
#include "passes/script/script.h"
#include "runtime/emulate/emulate.h"

#include "ir/tree/print.h"

#include <math.h>

static bool try_line(Tirc *c, Sched *s, const char *line) {
  const Source source = {"fuzz.sch", line, strlen(line)};
  Trap t;
  if (!TIRC_TRY(c, t)) return false;
  tirc_run_script(s, &source, NULL, NULL, NULL, NULL);
  TIRC_END(c, t);
  return true;
}

/* A block's loops together are the threads, or the last is and the first are blocks; as far as that
 * is legal. */
static const Module *bound(Tirc *c, Rng *r, const Module *m, int n_blocks) {
  Sched *s = tirc_sched_new(c, m);
  for (int i = 0; i < n_blocks; i++) {
    const char *loops = tirc_format(c, "sch.get_loops(\"S%d\")", i);
    const bool together = rng_chance(r, 60);
    if (together &&
        try_line(c, s, tirc_format(c, "sch.bind(sch.fuse(*%s), \"threadIdx.x\")", loops)))
      continue;
    try_line(c, s, tirc_format(c, "sch.bind(%s[-1], \"threadIdx.x\")", loops));
    try_line(c, s, tirc_format(c, "sch.bind(%s[-2], \"threadIdx.y\")", loops));
    try_line(c, s, tirc_format(c, "sch.bind(%s[0], \"blockIdx.x\")", loops));
  }
  return s->mod;
}

/* Of a kernel: its lines, as far as they are legal. */
static const Module *scheduled(Tirc *c, const Expected *e) {
  Sched *s = tirc_sched_new(c, e->from);
  code_run_lines(c, s, e->program->schedule);
  return s->mod;
}

/* As the program itself says. */
static const Module *bound_by(Tirc *c, const Expected *e) {
  Sched *s = tirc_sched_new(c, e->scheduled);
  code_run_lines(c, s, e->program->bindings);
  return s->mod;
}

/* The words of the message that are neither names nor numbers, and whether it is for want of a
 * proof. */
static void count_reason(CodeEmulated *count, const Tirc *c) {
  char what[80] = "unproved: ";
  size_t n = strstr(c->diag.message, "cannot be proved") ? strlen(what) : 0;
  for (const char *p = c->diag.message; *p && *p != '"' && n + 24 < sizeof what;) {
    const size_t word = strcspn(p, " ");
    const bool plain = strspn(p, "abcdefghijklmnopqrstuvwxyz,") == word;
    if (plain && word > 1 && word < 20) {
      memcpy(what + n, p, word);
      n += word;
      what[n++] = ' ';
    }
    p += word + (p[word] == ' ');
  }
  what[n] = 0;
  for (int i = 0; i < CODE_REASONS; i++) {
    if (!count->reasons[i].what) count->reasons[i].what = strdup(what);
    if (strcmp(count->reasons[i].what, what)) continue;
    count->reasons[i].n++;
    return;
  }
}

/* A race of one statement with itself: lowering knows that its threads store the same number there,
 * or leaves that to the author. */
static bool stores_twice(const char *race) {
  const char *first = strstr(race, " writes it ("), *then = first;
  if (strncmp(race, "race ", 5) || !first || !(then = strstr(first + 1, " writes it (")))
    return false;
  first = strchr(first, '`');
  then = strchr(then, '`');
  const size_t n = first ? strcspn(first + 1, "`") : 0;
  return first && then && !strncmp(first, then, n + 2);
}

static void note_warning(void *self, Warning w) {
  (void)w;
  *(bool *)self = true;
}

/* Whether a warning says that iterations of a loop over threads use what others store: the program
 * has them one by one. */
static bool is_warned(Tirc *c, const Module *m) {
  bool told = false;
  tirc_racing_loops(&(Telling){tirc_sched_new(c, m), note_warning, &told});
  return told;
}

static const char *difference(Tirc *c, const char *name, const Tensor *is, const Tensor *right) {
  for (int64_t i = 0; i < right->count; i++) {
    const double a = tirc_tensor_get(is, i), b = tirc_tensor_get(right, i);
    const size_t size = right->bytes / (size_t)right->count;
    const bool same = tirc_dtype_is_float(right->dtype)
                          ? a == b || (isnan(a) && isnan(b))
                          : !memcmp((const char *)is->data + (size_t)i * size,
                                    (const char *)right->data + (size_t)i * size, size);
    if (!same)
      return tirc_format(c, "emulated: element %lld of %s is %.17g, not %.17g", (long long)i, name,
                         a, b);
  }
  return NULL;
}

static bool is_more(const void *most, Stmt s) {
  int64_t n;
  return s->kind == STMT_ALLOC && !strncmp(s->u.alloc.buffer->scope, "shared", 6) &&
         (!tirc_const_int(s->u.alloc.buffer->shape[0], &n) || n > *(const int64_t *)most);
}

/* A buffer of a tile that is larger than the tile. */
static const char *too_large(Tirc *c, const Module *m, int64_t most) {
  for (int i = 0; most && i < m->n_funcs; i++) {
    Stmt s = tirc_find_stmt(m->funcs[i]->body, is_more, &most, NULL);
    if (s)
      return tirc_format(c, "emulated: %s has %s elements, and a tile %lld",
                         s->u.alloc.buffer->name, tirc_print_expr(c, s->u.alloc.buffer->shape[0]),
                         (long long)most);
  }
  return NULL;
}

const char *code_emulate(Tirc *c, const Expected *e, CodeEmulated *count) {
  const Func *f = tirc_module_main(e->from);
  Rng r = {e->program->seed};
  const Module *volatile lowered = NULL;
  Trap t;
  if (TIRC_TRY(c, t)) {
    const Module *threads = e->program->kernel     ? scheduled(c, e)
                            : e->program->bindings ? bound_by(c, e)
                                                   : bound(c, &r, e->from, 16);
    lowered = tirc_lower_for(c, threads, tirc_gpu_find("emulated"), NULL, NULL);
    TIRC_END(c, t);
  }
  if (!lowered) return count->refused++, count_reason(count, c), NULL;
  if (!tirc_has_kernels(lowered)) return NULL;
  count->done++;
  const char *volatile why = too_large(c, lowered, e->program->tile);
  Argument *args = tirc_copy(c, e->start.args, e->start.n);
  for (int i = 0; i < e->start.n; i++)
    if (args[i].tensor) args[i].tensor = tirc_tensor_clone(c, args[i].tensor);
  EmulateReport report = {0};
  const EmulateOptions options = {.seed = e->program->seed};
  if (TIRC_TRY(c, t)) {
    tirc_emulate(c, lowered, tirc_module_main(lowered), e->start.n, args, &options, &report);
    TIRC_END(c, t);
    for (int i = 0; i < e->start.n && !why; i++)
      if (args[i].tensor)
        why = difference(c, f->buffers[i]->name, args[i].tensor, e->end.args[i].tensor);
  } else {
    why = tirc_format(c, "emulated: %s", c->diag.message);
    if (stores_twice(c->diag.message)) count->twice++, why = NULL;
  }
  for (int i = 0; i < e->start.n; i++) tirc_tensor_free(args[i].tensor);
  if (why && e->program->kernel && is_warned(c, e->from)) count->warned++, why = NULL;
  if (why) fprintf(stderr, "%s\n", tirc_print_module(c, lowered, NULL));
  return why;
}
