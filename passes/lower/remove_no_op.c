/* Statements without effect go: empty loops and branches, evaluations of pure expressions, stores
 * of what stands there already, the declarations of values, views and allocations that nothing
 * uses. So do tests that repeat the one before them:
 *
 *   if i < n: A
 *   if i < n: B     ->    if i < n: A; B */
#include "known.h"

static bool is_pure(Expr e) {
  if (e->op == OP_CALL && e->u.callee != CALL_PURE_EXTERN) return false;
  for (int i = 0; i < e->n; i++)
    if (!is_pure(e->args[i])) return false;
  return true;
}

typedef struct Use {
  Buffer buffer;
  bool found;
} Use;

static bool look_expr(Visitor *v, Expr e) {
  Use *u = v->self;
  if (e == u->buffer->data) u->found = true;
  if (e->op == OP_LOAD && e->u.buffer->data == u->buffer->data) u->found = true;
  return !u->found;
}

static bool look_stmt(Visitor *v, Stmt s) {
  Use *u = v->self;
  if (s->kind == STMT_STORE && s->u.store.buffer->data == u->buffer->data) u->found = true;
  return !u->found;
}

static bool is_used(Buffer b, Stmt body) {
  Use u = {.buffer = b};
  Visitor v = {.expr = look_expr, .stmt = look_stmt, .self = &u};
  tirc_visit_stmt(&v, body);
  return u.found;
}

typedef struct LetUse {
  Expr var;
  bool found;
} LetUse;

static bool look_for_var(Visitor *v, Expr e) {
  LetUse *u = v->self;
  return !(u->found |= e == u->var);
}

static bool look_in_shape(Visitor *v, Stmt s) {
  LetUse *u = v->self;
  const bool declares = s->kind == STMT_ALLOC || s->kind == STMT_DECL;
  for (int d = 0; declares && d < s->u.alloc.buffer->ndim; d++)
    tirc_visit_expr(v, s->u.alloc.buffer->shape[d]);
  return !u->found;
}

/* A pointer's uses are those of buffers; it stays. */
static bool is_let_used(Stmt s) {
  LetUse u = {.var = s->u.let.var, .found = s->u.let.var->dtype.code == TYPE_HANDLE};
  Visitor v = {.expr = look_for_var, .stmt = look_in_shape, .self = &u};
  tirc_visit_stmt(&v, s->u.let.body);
  return u.found;
}

/* What of all data variables is_used would find, in one walk. */
typedef struct Uses {
  Tirc *c;
  PtrMap found;
} Uses;

static bool note_expr(Visitor *v, Expr e) {
  Uses *u = v->self;
  if (e->op == OP_VAR) tirc_map_set(u->c, &u->found, e, u);
  if (e->op == OP_LOAD) tirc_map_set(u->c, &u->found, e->u.buffer->data, u);
  return true;
}

static bool note_stmt(Visitor *v, Stmt s) {
  Uses *u = v->self;
  if (s->kind == STMT_STORE) tirc_map_set(u->c, &u->found, s->u.store.buffer->data, u);
  return true;
}

static Stmt remove_unused(Mutator *m, Stmt s) {
  const Uses *u = m->self;
  s = tirc_mutate_stmt_children(m, s);
  bool unused = s->kind == STMT_ALLOC && !tirc_map_has(&u->found, s->u.alloc.buffer->data);
  return unused ? s->u.alloc.body : s;
}

/* Nothing that a statement does changes it. */
static bool is_fixed(Expr e) {
  if (e->op == OP_CALL || e->op == OP_LOAD) return false;
  for (int i = 0; i < e->n; i++)
    if (!is_fixed(e->args[i])) return false;
  return true;
}

static bool repeats_test(Stmt before, Stmt s) {
  return before->kind == STMT_IF && s->kind == STMT_IF && !before->u.branch.else_case &&
         !s->u.branch.else_case && s->u.branch.cond->dtype.lanes == 1 &&
         is_fixed(s->u.branch.cond) && tirc_expr_same(before->u.branch.cond, s->u.branch.cond);
}

/* kept[0] and the n - 1 branches behind it, which repeat its test, as one. */
static Stmt one_branch(Tirc *c, int n, const Stmt *kept) {
  Stmt *bodies = tirc_new_array(c, Stmt, n);
  if (n == 1) return kept[0];
  for (int i = 0; i < n; i++) bodies[i] = kept[i]->u.branch.then_case;
  return tirc_if(c, kept[0]->u.branch.cond, tirc_seq(c, n, bodies), NULL);
}

static Stmt shorten(Tirc *c, Stmt s) {
  int n = 0, items = 0;
  Stmt *kept = tirc_new_array(c, Stmt, s->u.seq.n);
  for (int i = 0; i < s->u.seq.n; i++)
    if (!tirc_is_empty(tirc_item(s, i))) kept[items++] = tirc_item(s, i);
  for (int i = 0, end; i < items; i = end) {
    for (end = i + 1; end < items && repeats_test(kept[i], kept[end]);) end++;
    kept[n++] = one_branch(c, end - i, kept + i);
  }
  return n == s->u.seq.n ? s : tirc_seq(c, n, kept);
}

static Stmt remove_branch(Tirc *c, Stmt s) {
  Expr cond = s->u.branch.cond;
  Stmt yes = s->u.branch.then_case, no = s->u.branch.else_case;
  if (no && tirc_is_empty(no)) no = NULL;
  if (tirc_is_empty(yes)) {
    if (no) return tirc_if(c, tirc_not(c, cond), no, NULL);
    return is_pure(cond) ? yes : tirc_eval(c, cond);
  }
  return no == s->u.branch.else_case ? s : tirc_if(c, cond, yes, no);
}

bool tirc_lower_stores_itself(Analyzer *a, Stmt s) {
  Expr e = s->u.store.value;
  if (e->op != OP_LOAD || e->u.buffer != s->u.store.buffer || e->n != s->u.store.n) return false;
  for (int i = 0; i < e->n; i++) {
    if (!is_pure(e->args[i])) return false;
    if (tirc_expr_same(e->args[i], s->u.store.indices[i])) continue;
    if (!a || !tirc_prove_equal(a, e->args[i], s->u.store.indices[i])) return false;
  }
  return true;
}

static Stmt remove(Mutator *m, Stmt s) {
  Stmt nothing = tirc_seq(m->c, 0, NULL);
  s = tirc_mutate_stmt_children(m, s);
  switch (s->kind) {
  case STMT_SEQ: return shorten(m->c, s);
  case STMT_FOR:
    return tirc_is_empty(s->u.loop.body) || tirc_is_int(s->u.loop.extent, 0) ? nothing : s;
  case STMT_STORE: return tirc_lower_stores_itself(NULL, s) ? nothing : s;
  case STMT_EVAL: return is_pure(s->u.eval.value) ? nothing : s;
  case STMT_IF: return remove_branch(m->c, s);
  case STMT_LET:
    if (is_let_used(s)) return s;
    if (is_pure(s->u.let.value)) return s->u.let.body;
    return tirc_seq(m->c, 2, (Stmt[]){tirc_eval(m->c, s->u.let.value), s->u.let.body});
  case STMT_ALLOC: return tirc_is_empty(s->u.alloc.body) ? nothing : s;
  case STMT_DECL: return is_used(s->u.alloc.buffer, s->u.alloc.body) ? s : s->u.alloc.body;
  case STMT_ATTR: return tirc_is_empty(s->u.attr.body) ? nothing : s;
  default: return s;
  }
}

Stmt tirc_lower_remove_no_op(Tirc *c, const Func *f) {
  Mutator m = {.c = c, .stmt = remove};
  Stmt body = tirc_mutate_stmt(&m, f->body);
  Uses u = {.c = c};
  Visitor v = {.expr = note_expr, .stmt = note_stmt, .self = &u};
  tirc_visit_stmt(&v, body);
  m = (Mutator){.c = c, .stmt = remove_unused, .self = &u};
  return tirc_mutate_stmt(&m, body);
}

/* --- by itself -------------------------------------------------------------------------------- */

/* A store that goes; what its value does besides stays. */
static Stmt without_store(Tirc *c, Stmt s) {
  Expr value = s->u.store.value;
  Stmt effects = is_pure(value) ? tirc_seq(c, 0, NULL) : tirc_eval(c, value);
  for (int i = s->u.store.n - 1; i >= 0; i--)
    if (!is_pure(s->u.store.indices[i]))
      effects = tirc_seq(c, 2, (Stmt[]){tirc_eval(c, s->u.store.indices[i]), effects});
  return effects;
}

typedef struct Unneeded {
  const Known *known;
  bool copies;     /* that change nothing go; otherwise those that nothing reads */
  bool everywhere; /* otherwise into memory that the function makes alone */
  PtrMap given;    /* data of parameters */
} Unneeded;

static Stmt remove_store(Mutator *m, Stmt s) {
  const Unneeded *k = m->self;
  const Turns *t = s->kind == STMT_STORE ? tirc_turns_of(k->known, s) : NULL;
  if (!t || !t->any) return tirc_mutate_stmt_children(m, s);
  const bool may = k->everywhere || !tirc_map_has(&k->given, s->u.store.buffer->data);
  return may && !(k->copies ? t->changes : t->used) ? without_store(m->c, s) : s;
}

static Stmt without_stores(Tirc *c, const Func *f, Stmt body, bool copies) {
  Unneeded k = {.known = tirc_known_turns(c, tirc_func_with_body(c, f, body)),
                .copies = copies,
                .everywhere = tirc_pass_option(f, "use_dataflow_analysis")};
  if (!k.known) return body;
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i]) tirc_map_set(c, &k.given, f->buffers[i]->data, f);
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = remove_store, .self = &k};
  return tirc_mutate_stmt(&m, body);
}

/* Memory that is stored to, and no more. */
static Stmt remove_unread(Mutator *m, Stmt s) {
  const Uses *u = m->self;
  if (s->kind != STMT_STORE) return tirc_mutate_stmt_children(m, s);
  return tirc_map_has(&u->found, s->u.store.buffer->data) ? s : without_store(m->c, s);
}

static bool note_view(Visitor *v, Stmt s) {
  Uses *u = v->self;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_matches; i++) {
    const MatchBuffer *match = &s->u.block.matches[i];
    tirc_map_set(u->c, &u->found, match->buffer->data, u);
    tirc_map_set(u->c, &u->found, match->source.buffer->data, u);
  }
  if (s->kind == STMT_LET) tirc_map_set(u->c, &u->found, s->u.let.var, u);
  return true;
}

static Stmt without_unread(Tirc *c, const Func *f, Stmt body) {
  Uses u = {.c = c};
  for (int i = 0; i < f->n_params; i++) {
    tirc_map_set(c, &u.found, f->params[i], &u);
    if (f->buffers[i]) tirc_map_set(c, &u.found, f->buffers[i]->data, &u);
  }
  tirc_visit_stmt(&(Visitor){.expr = note_expr, .stmt = note_view, .self = &u}, body);
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = remove_unread, .self = &u};
  return tirc_mutate_stmt(&m, body);
}

/* Stores of an element into itself, by what is known of the indices. */
typedef struct Copies {
  Analyzer *a;
  PtrMap lets;
} Copies;

static Stmt remove_copy(Mutator *m, Stmt s) {
  Copies *k = m->self;
  int mark;
  switch (s->kind) {
  case STMT_FOR:
    tirc_bind_range(k->a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
    return tirc_mutate_stmt_children(m, s);
  case STMT_LET:
    if (tirc_dtype_is_int(s->u.let.var->dtype) && is_fixed(s->u.let.value))
      tirc_bind_value(k->a, s->u.let.var, s->u.let.value);
    return tirc_mutate_stmt_children(m, s);
  case STMT_IF: {
    const Expr cond = s->u.branch.cond;
    Stmt no = s->u.branch.else_case;
    if (cond->dtype.lanes > 1 || !is_fixed(cond)) return tirc_mutate_stmt_children(m, s);
    mark = tirc_enter_constraint(k->a, cond);
    Stmt yes = tirc_mutate_stmt(m, s->u.branch.then_case);
    tirc_leave_constraint(k->a, mark);
    if (no) {
      mark = tirc_enter_constraint(k->a, tirc_simplify(k->a, tirc_not(m->c, cond)));
      no = tirc_mutate_stmt(m, no);
      tirc_leave_constraint(k->a, mark);
    }
    const bool same = yes == s->u.branch.then_case && no == s->u.branch.else_case;
    return same ? s : tirc_if(m->c, cond, yes, no);
  }
  case STMT_STORE: return tirc_lower_stores_itself(k->a, s) ? tirc_seq(m->c, 0, NULL) : s;
  default: return tirc_mutate_stmt_children(m, s);
  }
}

Stmt tirc_lower_remove_no_op_alone(Tirc *c, const Func *f) {
  Copies copies = {.a = tirc_analyzer(c)};
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = remove_copy, .self = &copies};
  Stmt body = tirc_mutate_stmt(&m, f->body);
  if (tirc_pass_option(f, "use_dataflow_analysis")) body = without_stores(c, f, body, true);
  body = without_unread(c, f, body);
  /* what was read to be stored where nothing reads it is not read any more */
  for (Stmt more = NULL; more != body;) {
    if (more) body = more;
    more = without_stores(c, f, body, false);
  }
  return tirc_lower_remove_no_op(c, tirc_func_with_body(c, f, body));
}
