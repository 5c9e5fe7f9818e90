/* What one would write in C, as `tirc build --emit=c` prints it, compiled when the bench starts:
 * the program's own loops, or with its sums outside of the columns, so that the inner loop walks
 * along memory and the compiler can make vectors of it. The faster one counts. On one thread. */
#include "rivals.h"

#include <math.h>
#include <string.h>

static const char other_order[] =
#include "c_order.inc"
    ;

/* One of the two, and which. */
typedef struct PlainC {
  Compiled *code;
  const char *order;
} PlainC;

bool plain_c_open(const Bench *b, char *kernels, size_t size, const char **why) {
  const char *compiler = first_compiler();
  *why = "there is no C compiler";
  if (compiler) snprintf(kernels, size, "on 1 thread, %s -O3 -march=%s", compiler, b->target.name);
  return compiler != NULL;
}

/* It need not be told what the program computes. */
bool plain_c_takes(const Case *k) { return (void)k, true; }

/* The program with its sums outside of their columns; NULL where that is no other order. */
static tirc_module *reorder(const Case *k) {
  tirc_module *out = NULL;
  char *before = NULL, *after = NULL;
  if (tirc_module_schedule_text(k->program, other_order, strlen(other_order), "<c order>", NULL,
                                &out, NULL))
    return NULL;
  const bool is_other = !tirc_module_print(k->program, &before, NULL) &&
                        !tirc_module_print(out, &after, NULL) && strcmp(before, after) != 0;
  tirc_string_free(before);
  tirc_string_free(after);
  if (is_other) return out;
  tirc_module_free(out);
  return NULL;
}

/* The best of some calls; of one that takes long there are two. */
static double time_of(const Compiled *c) {
  enum { MOST = 100 };
  const double ENOUGH = 0.02, started = tirc_seconds();
  double best = (double)INFINITY, now = started;
  for (int i = 0; i < MOST && (i < 2 || now - started < ENOUGH); i++) {
    const double from = now;
    call_compiled(c);
    now = tirc_seconds();
    best = fmin(best, now - from);
  }
  return best;
}

void *plain_c_prepare(const Bench *b, const Case *k, const Operator *op, const char **why) {
  tirc_error *e = NULL;
  const char *compiler = first_compiler(), *unused;
  PlainC *c = tirc_alloc(memory, sizeof *c);
  (void)op;
  if (!compiler) return NULL;
  *c = (PlainC){compile_contender(b, k, k->program, compiler, k->args, why, &e),
                "the program's own order of loops"};
  if (!c->code && e) *why = "it has no form in C";
  tirc_error_free(e);
  tirc_module *other = c->code ? reorder(k) : NULL;
  Compiled *code = other ? compile_contender(b, k, other, compiler, k->args, &unused, NULL) : NULL;
  tirc_module_free(other);
  if (code && time_of(code) < time_of(c->code)) *c = (PlainC){code, "sums outside of the columns"};
  return c->code ? c : NULL;
}

void plain_c_run(void *prepared) { call_compiled(((PlainC *)prepared)->code); }
const char *plain_c_note(const void *prepared) { return ((const PlainC *)prepared)->order; }
void plain_c_free(void *prepared) { (void)prepared; }
