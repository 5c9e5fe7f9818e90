/* The parameters of a function, in the order of the binary interface. */
#include "signature.h"

#include "ir/tree/annotations.h"
#include "ir/tree/find.h"
#include "ir/tree/symbols.h"

static bool is_handle_let(const void *unused, Stmt s) {
  (void)unused;
  return s->kind == STMT_LET && s->u.let.var->dtype.code == TYPE_HANDLE;
}

/* Whether the data of different parameters may be assumed apart: not when the program says so, and
 * not when it makes pointers of its own. */
static bool can_restrict(const Func *f) {
  Expr wish = tirc_attrs_get(f->attrs, tirc_key(KEY_NOALIAS));
  if (wish && tirc_is_int(wish, 0)) return false;
  return !tirc_find_stmt(f->body, is_handle_let, NULL, NULL);
}

static bool shares_data(const Func *f, int param) {
  for (int i = 0; i < f->n_params; i++)
    if (i != param && f->buffers[i] && f->buffers[i]->data == f->buffers[param]->data) return true;
  return false;
}

/* --- what is written -------------------------------------------------------------------------- */

typedef struct Writes {
  Tirc *c;
  PtrMap data; /* data variables that are stored to */
} Writes;

static bool find_store(Visitor *v, Stmt s) {
  Writes *w = v->self;
  Buffer b = s->kind == STMT_STORE ? s->u.store.buffer : NULL;
  if (b) tirc_map_set(w->c, &w->data, b->data, b);
  return true;
}

/* An address that is kept may be written through; a prefetch only looks. */
static bool find_address(Visitor *v, Expr e) {
  Writes *w = v->self;
  const Expr addressed = tirc_addressed(e);
  if (addressed) tirc_map_set(w->c, &w->data, addressed->u.buffer->data, addressed->u.buffer);
  return true;
}

static bool skip_prefetch(Visitor *v, Expr e) {
  if (tirc_calls(e, CALL_PREFETCH)) return false;
  return find_address(v, e);
}

Signature tirc_signature(Tirc *c, const Func *f) {
  Expr *symbols;
  int n_symbols = tirc_symbolic_params(c, f, &symbols);
  Writes w = {.c = c};
  Visitor v = {.stmt = find_store, .expr = skip_prefetch, .self = &w};
  tirc_visit_stmt(&v, f->body);
  Signature s = {.n = f->n_params + n_symbols, .restrict_data = can_restrict(f)};
  s.params = tirc_new_array(c, Param, s.n + 1);
  for (int i = 0; i < s.n; i++) {
    bool is_symbol = i >= f->n_params;
    Param *p = &s.params[i];
    p->var = is_symbol ? symbols[i - f->n_params] : f->params[i];
    p->buffer = is_symbol ? NULL : f->buffers[i];
    if (!p->buffer) continue;
    p->is_apart = s.restrict_data && !shares_data(f, i);
    p->is_written = tirc_map_has(&w.data, p->buffer->data);
  }
  return s;
}
