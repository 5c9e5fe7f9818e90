/* Which statements of a function with a host's part are a device's: what threads run, and what an
 * attribute "device_scope" says, gets an attribute "target" around it.
 *
 *   for t in T.thread_binding(16, "threadIdx.x"):       with T.attr(T.target("cuda"), "target", 0):
 *     A[t] = 0                                      ->    for t in T.thread_binding(16, ...): ... */
#include "internal.h"

static bool is_of_device(Stmt s) {
  return tirc_is_thread_loop(s) ||
         (s->kind == STMT_ATTR && (strcmp(s->u.attr.key, "device_scope") == 0 ||
                                   strcmp(s->u.attr.key, "pipeline_exec_scope") == 0));
}

static Stmt visit(Mutator *m, Stmt s) {
  const Expr target = m->self;
  if (s->kind == STMT_ATTR && strcmp(s->u.attr.key, "target") == 0) return s;
  if (!is_of_device(s)) return tirc_mutate_stmt_children(m, s);
  Expr device = tirc_call(m->c, DT_HANDLE, CALL_TARGET, 1, target->args);
  return tirc_attr_stmt(m->c, device, "target", tirc_int32(m->c, 0), s);
}

Stmt tirc_lower_device_regions(Tirc *c, const Func *f) {
  const Expr target = tirc_attrs_get(f->attrs, tirc_key(KEY_TARGET));
  if (!target || !tirc_calls(target, CALL_TARGET) || target->n < 1) return f->body;
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = visit, .self = (void *)(uintptr_t)target};
  return tirc_mutate_stmt(&m, f->body);
}
