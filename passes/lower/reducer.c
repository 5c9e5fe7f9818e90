/* How a block reduces: which operation makes one of two partial results.
 *
 *   C[i] = C[i] op x            op in + * min max and or, bitwise
 *   C[i] = T.Select(a, C[i], x)
 *
 * Of several components, each by one of these; a comparison may look at all of them (argmax). */
#include "cross_thread.h"

typedef struct Stored {
  Stmt stmt;
  Expr value; /* without lets */
} Stored;
typedef VEC(Stored) Storeds;

static const char *collect(Tirc *c, Stmt s, PtrMap *lets, Storeds *out) {
  const char *wrong = NULL;
  switch (s->kind) {
  case STMT_LET:
    tirc_map_set(c, lets, s->u.let.var, tirc_substitute(c, s->u.let.value, lets));
    return collect(c, s->u.let.body, lets, out);
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n && !wrong; i++) wrong = collect(c, tirc_item(s, i), lets, out);
    return wrong;
  case STMT_STORE: {
    const Stored store = {s, tirc_substitute(c, s->u.store.value, lets)};
    vec_push(c, *out, store);
    return NULL;
  }
  default: return "it does more than store";
  }
}

static bool is_load_of_any(const void *reducer, Expr e) {
  const Reducer *r = reducer;
  for (int i = 0; e->op == OP_LOAD && i < r->n; i++)
    if (e->u.buffer->data == r->buffers[i]->data) return true;
  return false;
}

static Expr identity(Tirc *c, Op op, DType t) {
  const bool is_float = t.code == TYPE_FLOAT || t.code == TYPE_BFLOAT;
  switch (op) {
  case OP_ADD:
  case OP_BITWISE_XOR:
    return t.code == TYPE_BOOL ? NULL : is_float ? tirc_float(c, t, 0) : tirc_int(c, t, 0);
  case OP_MUL:
    return t.code == TYPE_BOOL ? NULL : is_float ? tirc_float(c, t, 1) : tirc_int(c, t, 1);
  default: return NULL;
  }
}

static bool is_operation(Op op) {
  switch (op) {
  case OP_ADD:
  case OP_MUL:
  case OP_MIN:
  case OP_MAX:
  case OP_AND:
  case OP_OR:
  case OP_BITWISE_AND:
  case OP_BITWISE_OR:
  case OP_BITWISE_XOR: return true;
  default: return false;
  }
}

/* new = op(old, incoming), or one of the two by a comparison. */
static const char *read_component(Tirc *c, Reducer *r, int i) {
  Expr v = r->value[i];
  const bool picks = v->op == OP_SELECT || v->op == OP_IF_THEN_ELSE;
  if (!picks && !is_operation((Op)v->op)) return "no operation of what is there with something new";
  const Expr *two = v->args + picks;
  const int old = tirc_expr_same(two[0], r->old[i]) ? 0 : 1;
  if (!tirc_expr_same(two[old], r->old[i]))
    return "what is stored does not go on with what is there";
  r->incoming[i] = two[1 - old];
  if (tirc_find_expr(r->incoming[i], is_load_of_any, r))
    return "what is new is made of what is there";
  r->identity[i] = picks ? NULL : identity(c, (Op)v->op, v->dtype);
  return NULL;
}

static const char *read_init(Tirc *c, const Block *b, Reducer *r) {
  PtrMap lets = {0};
  Storeds stores = {0};
  const char *wrong = b->init ? collect(c, b->init, &lets, &stores) : NULL;
  for (int k = 0; k < stores.n && !wrong; k++)
    for (int i = 0; i < r->n; i++)
      if (stores.at[k].stmt->u.store.buffer == r->buffers[i]) r->init[i] = stores.at[k].value;
  for (int i = 0; b->init && i < r->n && !wrong; i++)
    if (!r->init[i]) wrong = "its init leaves something out";
  return wrong;
}

typedef struct Combine {
  const Reducer *r;
  const Expr *x, *y;
} Combine;

static Expr replace(Mutator *m, Expr e) {
  const Combine *k = m->self;
  for (int i = 0; i < k->r->n; i++) {
    if (tirc_expr_same(e, k->r->old[i])) return k->x[i];
    if (tirc_expr_same(e, k->r->incoming[i])) return k->y[i];
  }
  return tirc_mutate_expr_children(m, e);
}

Expr tirc_lower_combine(Tirc *c, const Reducer *r, int i, const Expr *x, const Expr *y) {
  Combine k = {r, x, y};
  Mutator m = {.c = c, .expr = replace, .self = &k};
  return tirc_mutate_expr(&m, r->value[i]);
}

static bool is_other(const void *unused, Expr e) {
  return (void)unused, e->op == OP_LOAD || e->op == OP_CALL || e->op == OP_VAR;
}

/* Whether what two partial results make is made of nothing else. */
static bool is_closed(Tirc *c, const Reducer *r) {
  Expr zeros[MAX_COMPONENTS];
  for (int i = 0; i < r->n; i++) {
    const DType t = r->value[i]->dtype;
    zeros[i] = tirc_dtype_is_float(t) ? tirc_float(c, t, 0) : tirc_int(c, t, 0);
  }
  for (int i = 0; i < r->n; i++)
    if (tirc_find_expr(tirc_lower_combine(c, r, i, zeros, zeros), is_other, NULL)) return false;
  return true;
}

const char *tirc_lower_reducer(Tirc *c, const Block *b, Reducer *out) {
  PtrMap lets = {0};
  Storeds stores = {0};
  *out = (Reducer){0};
  const char *wrong = collect(c, b->body, &lets, &stores);
  if (wrong) return wrong;
  if (stores.n < 1 || stores.n > MAX_COMPONENTS) return "it stores too much, or nothing";
  out->n = stores.n;
  for (int i = 0; i < stores.n; i++) {
    Stmt s = stores.at[i].stmt;
    out->buffers[i] = s->u.store.buffer;
    out->indices[i] = s->u.store.indices;
    out->value[i] = stores.at[i].value;
    out->old[i] = tirc_load(c, s->u.store.buffer, s->u.store.n, s->u.store.indices);
    for (int k = 0; k < i; k++)
      if (out->buffers[k]->data == s->u.store.buffer->data) return "it stores twice to a buffer";
  }
  for (int i = 0; i < out->n && !wrong; i++) wrong = read_component(c, out, i);
  if (!wrong) wrong = read_init(c, b, out);
  if (!wrong && !is_closed(c, out))
    wrong = "it combines with more than what is there and what is new";
  return wrong;
}
