/* Which kernels run all of their blocks when only some of each launch are asked for: those whose
 * results something else uses. What a block that was left out would have stored is not there, and a
 * later launch, or the host, would read or add to it as if it were.
 *
 *   T.call_packed("sums", A.data, S.data, 64, 32)            all blocks: S is read below
 *   T.call_packed("scale", A.data, S.data, B.data, 64, 32)   some
 */
#include "code.h"

#include "ir/tree/find.h"

typedef struct Uses {
  Expr data;    /* who uses it? */
  int launches; /* so many, one in a loop counts as two */
  bool host;
  int loops;
} Uses;

static bool see_use(Visitor *v, Expr e) {
  Uses *k = v->self;
  if (tirc_is_launch(e)) {
    bool uses = false;
    for (int i = 1; i < e->n; i++) uses |= e->args[i] == k->data;
    k->launches += uses ? 1 + (k->loops > 0) : 0;
    return false;
  }
  k->host |= e->op == OP_LOAD && e->u.buffer->data == k->data;
  return true;
}

static bool see_part(Visitor *v, Stmt s) {
  Uses *k = v->self;
  k->host |= s->kind == STMT_STORE && s->u.store.buffer->data == k->data;
  if (s->kind != STMT_FOR && s->kind != STMT_WHILE) return true;
  k->loops++;
  tirc_visit_stmt(v, s->kind == STMT_FOR ? s->u.loop.body : s->u.loop_while.body);
  k->loops--;
  return false;
}

static bool is_used_again(const Func *host, Expr data) {
  Uses k = {.data = data};
  tirc_visit_stmt(&(Visitor){.expr = see_use, .stmt = see_part, .self = &k}, host->body);
  return k.launches > 1 || k.host;
}

typedef struct Stores {
  Expr data;
  bool found;
} Stores;

/* What is handed on is taken for stored. */
static bool see_address(Visitor *v, Expr e) {
  Stores *k = v->self;
  const Expr addressed = tirc_addressed(e);
  k->found |= e == k->data || (addressed && addressed->u.buffer->data == k->data);
  return true;
}
static bool see_store(Visitor *v, Stmt s) {
  Stores *k = v->self;
  k->found |= s->kind == STMT_STORE && s->u.store.buffer->data == k->data;
  k->found |= s->kind == STMT_DECL && s->u.alloc.buffer->data == k->data;
  return true;
}

static bool stores_to(const Func *kernel, int i) {
  if (!kernel->buffers[i]) return false;
  Stores k = {.data = kernel->buffers[i]->data};
  tirc_visit_stmt(&(Visitor){.expr = see_address, .stmt = see_store, .self = &k}, kernel->body);
  return k.found;
}

typedef struct Needed {
  const Module *module;
  const Func *host;
  bool *of;
} Needed;

static bool see_launch(Visitor *v, Expr e) {
  const Needed *k = v->self;
  const int f = tirc_is_launch(e) ? tirc_kernel_number(k->module, e->args[0]->u.s) : -1;
  for (int i = 0; f >= 0 && i < k->module->funcs[f]->n_params && i + 1 < e->n && !k->of[f]; i++)
    k->of[f] = stores_to(k->module->funcs[f], i) && is_used_again(k->host, e->args[1 + i]);
  return true;
}

const bool *tirc_emu_needed(Tirc *c, const Module *m, const Func *host) {
  Needed k = {m, host, tirc_new_array(c, bool, m->n_funcs + 1)};
  tirc_visit_stmt(&(Visitor){.expr = see_launch, .self = &k}, host->body);
  return k.of;
}
