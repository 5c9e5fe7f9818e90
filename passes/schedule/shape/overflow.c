/* What a primitive makes can be counted in the types that its loops and indices have.
 *
 *   for i, j in T.grid(50000, 50000):               for ax0 in range(50000 * 50000):   # int32
 *     block B: vi = i, vj = j          - refused ->   block B: v_i0 = ax0
 *
 * Folding leaves such an operation as it is, and nodes know that they have one inside of them. What
 * stood in the program before is the program's affair. Extents of symbols are checked when their
 * values are known (passes/lower/extents.c). */
#include "ir/tree/print.h"
#include "shape.h"

typedef struct Search {
  Tirc *c;
  Stmt at; /* where the walk is */
  Expr found;
  const char *where;
} Search;

static const char *place_of(Tirc *c, Stmt s) {
  if (s->kind == STMT_FOR) return tirc_format(c, "the extent of loop %s", s->u.loop.var->u.s);
  if (s->kind == STMT_BLOCK) return tirc_format(c, "in block %s", s->u.block.name);
  return s->kind == STMT_STORE ? tirc_format(c, "a store to %s", s->u.store.buffer->name)
                               : "in a statement";
}

static bool search_expr(Visitor *v, Expr e) {
  Search *k = v->self;
  if (k->found || !e->overflows) return false;
  k->found = e;
  k->where = place_of(k->c, k->at);
  return false;
}

static void search_buffer(Search *k, Buffer b) {
  for (int i = 0; b && i < b->ndim && !k->found; i++) {
    if (!b->shape[i]->overflows) continue;
    k->found = b->shape[i];
    k->where = tirc_format(k->c, "extent %d of buffer %s", i, b->name);
  }
}

static bool search_stmt(Visitor *v, Stmt s) {
  Search *k = v->self;
  if (k->found) return false;
  k->at = s;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++)
    search_buffer(k, s->u.block.allocs[i]);
  return !k->found;
}

static Search search_module(Tirc *c, const Module *m) {
  Search k = {.c = c};
  Visitor v = {.expr = search_expr, .stmt = search_stmt, .regions = true, .self = &k};
  for (int i = 0; i < m->n_funcs && !k.found; i++) {
    for (int p = 0; p < m->funcs[i]->n_params; p++) search_buffer(&k, m->funcs[i]->buffers[p]);
    if (m->funcs[i]->body) tirc_visit_stmt(&v, m->funcs[i]->body);
  }
  return k;
}

/* " = 2500000000", where int64 holds it. */
static const char *value_of(Tirc *c, Expr e) {
  if (e->op == OP_INT || e->args[0]->op != OP_INT || e->args[1]->op != OP_INT) return "";
  const int64_t x = e->args[0]->u.i, y = e->args[1]->u.i;
  int64_t value;
  const bool lost = e->op == OP_ADD   ? __builtin_add_overflow(x, y, &value)
                    : e->op == OP_SUB ? __builtin_sub_overflow(x, y, &value)
                                      : __builtin_mul_overflow(x, y, &value);
  return lost ? "" : tirc_format(c, " = %lld", (long long)value);
}

static const char *inner_expr(Tirc *c, Expr e) {
  if (e->op == OP_INT) return tirc_digits(c, e);
  return tirc_format(c, "%s %s %s", tirc_digits(c, e->args[0]), tirc_ops[e->op].name,
                     tirc_digits(c, e->args[1]));
}

/* --- a value, which is no index --------------------------------------------------------------- */

typedef struct Narrow {
  Expr made;     /* the operation that overflows */
  Buffer stored; /* where it is stored */
  Expr found;    /* a value that it was made of, as the program has it */
  bool is_in;    /* in a store to that */
} Narrow;

static bool find_loaded(Visitor *v, Expr e) {
  Narrow *k = v->self;
  if (k->found || !k->is_in) return false;
  if (e->op == k->made->op && tirc_dtype_equal(e->dtype, k->made->dtype))
    for (int i = 0; i < 2 && !k->found; i++)
      if (e->args[i]->op == OP_LOAD) k->found = e->args[i];
  return !k->found && e->op != OP_LOAD;
}

static bool enter_store(Visitor *v, Stmt s) {
  Narrow *k = v->self;
  k->is_in = s->kind == STMT_STORE && s->u.store.buffer == k->stored;
  return !k->found;
}

/* A constant that took the place of a load. `before`: the program in which that stands. */
static const char *hint_of_value(Tirc *c, const Module *before, Stmt store, Expr e) {
  Narrow k = {.made = e, .stored = store->u.store.buffer};
  tirc_visit_module(&(Visitor){.stmt = enter_store, .expr = find_loaded, .self = &k}, before);
  const Expr what = k.found ? k.found : e->args[0];
  const char *name = tirc_print_expr(c, what);
  return tirc_format(c,
                     "it is a value and no index: compute it in a wider type, with T.Cast(\"%s\", "
                     "%s) in place of %s",
                     e->dtype.bits < 32 ? "int32" : "int64", name, name);
}

void tirc_require_countable(Sched *s, const Module *before) {
  Search now = search_module(s->c, s->mod);
  if (!now.found || search_module(s->c, before).found) return;
  Expr e = now.found;
  bool is_value = now.at && now.at->kind == STMT_STORE && e == now.at->u.store.value;
  for (int i = 0; i < e->n; i++) {
    if (!e->args[i]->overflows) continue;
    is_value &= e->op != OP_LOAD;
    e = e->args[i], i = -1;
  }
  const char *hint = is_value && e->n == 2 ? hint_of_value(s->c, before, now.at, e) : NULL;
  tirc_sched_error(s, NULL, SERR_INDEX_OVERFLOW, NULL, hint, "%s%s does not fit %s: %s",
                   inner_expr(s->c, e), value_of(s->c, e), tirc_dtype_name(s->c, e->dtype),
                   now.where);
}
