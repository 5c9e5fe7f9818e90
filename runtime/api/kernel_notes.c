/* Source for GPUs is the kernels alone: what a host function computes itself, because no loop
 * around it is bound to blocks or threads, is not in it. And a loop that is to overlap its
 * iterations stays as it is where that would change what is computed, or cannot be done. */
#include "kernel_notes.h"

#include "ir/tree/annotations.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"
#include "passes/lower/lower.h"

#include <string.h>

typedef struct Notes {
  Tirc *c;
  void (*tell)(void *self, Warning w);
  void *self;
  const Func *func;
  VEC(Expr) told; /* memory that was told of */
} Notes;

static bool is_told(const Notes *k, Expr data) {
  int i = 0;
  while (i < k->told.n && k->told.at[i] != data) i++;
  return i < k->told.n;
}

/* --- on the host ------------------------------------------------------------------------------ */

static void tell_of_host(Notes *k, Stmt s, const char *does) {
  const char *message = tirc_format(
      k->c, "%s %s on the host, not in a kernel: no loop around it is bound to blocks or threads",
      k->func->name, does);
  k->tell(k->self, (Warning){CODE_HOST_COMPUTES, tirc_place_of(s), message});
}

static bool look_on_host(Visitor *v, Stmt s) {
  Notes *k = v->self;
  if (s->kind == STMT_STORE && !is_told(k, s->u.store.buffer->data)) {
    vec_push(k->c, k->told, s->u.store.buffer->data);
    tell_of_host(k, s, tirc_format(k->c, "stores to %s", s->u.store.buffer->name));
  }
  const Expr e = s->kind == STMT_EVAL ? s->u.eval.value : NULL;
  if (e && e->op == OP_CALL && e->u.callee != CALL_PACKED)
    tell_of_host(k, s, tirc_format(k->c, "calls T.%s", tirc_called(e)));
  return true;
}

void tirc_host_notes(Tirc *c, const Module *lowered, const char *const *symbols,
                     void (*tell)(void *self, Warning w), void *self) {
  Notes k = {.c = c, .tell = tell, .self = self};
  for (int i = 0; i < lowered->n_funcs; i++) {
    k.func = lowered->funcs[i];
    if (!symbols[i] && k.func->body) tirc_visit_stmts(k.func->body, look_on_host, &k);
  }
}

/* --- pipelines -------------------------------------------------------------------------------- */

static void tell_of_pipeline(void *self, Stmt loop, const char *why) {
  const Notes *k = self;
  const char *message =
      tirc_format(k->c, "the iterations of loop %s do not overlap: %s", loop->u.loop.var->u.s, why);
  k->tell(k->self, (Warning){CODE_NO_PIPELINE, loop->loc, message});
}

static void tell_of_copies(void *self, Stmt loop, const char *why) {
  const Notes *k = self;
  const char *message = tirc_format(k->c, "the copies of loop %s are not asynchronous: %s",
                                    loop->u.loop.var->u.s, why);
  k->tell(k->self, (Warning){CODE_NO_PIPELINE, loop->loc, message});
}

void tirc_pipeline_notes(Tirc *c, const Module *m, void (*tell)(void *self, Warning w),
                         void *self) {
  Notes k = {.c = c, .tell = tell, .self = self};
  const PipelinesLeft heard = {tell_of_pipeline, tell_of_copies, &k};
  for (int i = 0; i < m->n_funcs; i++)
    if (m->funcs[i]->body) tirc_hear_of_pipelines_left(c, m->funcs[i], &heard);
}

/* One that is in the scope of asynchronous copies, and is none. */
static bool look_for_plain_copy(Visitor *v, Stmt s) {
  Notes *k = v->self;
  if (s->kind != STMT_ATTR || strcmp(s->u.attr.key, tirc_key(KEY_ASYNC_COPY)) ||
      !tirc_is_int(s->u.attr.value, 0) || is_told(k, s->u.attr.node))
    return true;
  const Stmt store = s->u.attr.body;
  vec_push(k->c, k->told, s->u.attr.node);
  const char *message = tirc_format(
      k->c,
      "the copies to %s are not asynchronous: no 4, 8 or 16 bytes of global memory, at multiples "
      "of them on both sides, are stored as they are, `%s`",
      store->u.store.buffer->name, tirc_print_expr(k->c, store->u.store.value));
  k->tell(k->self, (Warning){CODE_NO_PIPELINE, tirc_place_of(store), message});
  return true;
}

void tirc_copy_notes(Tirc *c, const Module *lowered, void (*tell)(void *self, Warning w),
                     void *self) {
  Notes k = {.c = c, .tell = tell, .self = self};
  for (int i = 0; i < lowered->n_funcs; i++)
    if (lowered->funcs[i]->body) tirc_visit_stmts(lowered->funcs[i]->body, look_for_plain_copy, &k);
}
