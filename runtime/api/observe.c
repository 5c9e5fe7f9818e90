/* An observed run of the interpreter, for those outside. */
#include "api.h"

#include "passes/lower/lower.h"

typedef struct Observe {
  const tirc_module *m;
  const char *func;
  int n;
  const tirc_argument *args;
  int64_t max_steps;
  const tirc_observer *observer;
  bool whole;
  Tirc *c;
} Observe;

static void see_array(void *self, int array, Buffer b, const int64_t *shape) {
  const Observe *p = self;
  if (p->observer->array)
    p->observer->array(p->observer->self, array, b->name, tirc_dtype_name(p->c, b->dtype),
                       tirc_dtype_bytes(b->dtype), b->scope, b->ndim, shape);
}

static void see_block(void *self, const Block *b, int n, Stmt const *loops, const int64_t *values) {
  enum { MOST = 1024 };
  const Observe *p = self;
  const char *names[MOST];
  for (int i = 0; i < n && i < MOST; i++) names[i] = loops[i]->u.loop.var->u.s;
  if (p->observer->block)
    p->observer->block(p->observer->self, b->name, n < MOST ? n : MOST, names, values);
}

static bool see_access(void *self, int array, int64_t element, bool is_write) {
  const Observe *p = self;
  return !p->observer->access || p->observer->access(p->observer->self, array, element, is_write);
}

static void observe(Tirc *c, void *self) {
  Observe *p = self;
  const InterpObserver o = {
      .self = p, .array = see_array, .block = see_block, .access = see_access};
  const Module *m = p->m->m;
  p->c = c;
  tirc_context_depend(c, m->c);
  if (!p->m->lowered) m = tirc_lower_until(c, m, "CompactBufferAllocation");
  const Func *f = tirc_api_func(c, m, p->func, NULL);
  InterpOptions options = {.max_steps = p->max_steps, .observer = &o};
  p->whole = tirc_interpret_with(c, f, p->n, tirc_api_arguments(c, f, p->n, p->args), &options);
}

tirc_status tirc_module_observe(const tirc_module *m, const char *func, int n,
                                const tirc_argument *args, int64_t max_steps,
                                const tirc_observer *observer, bool *whole, tirc_error **error) {
  NEED(m, LIST(n, args), COUNT(max_steps), observer);
  Observe p = {m, func, n, args, max_steps, observer, false, NULL};
  tirc_status status = tirc_api_scratch(observe, &p, &m->sources, error);
  if (status == TIRC_OK && whole) *whole = p.whole;
  return status;
}
