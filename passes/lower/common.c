/* Small tools of the lowering passes. */
#include "internal.h"

typedef struct Substitution {
  PtrMap buffers; /* those whose shape changed */
  const PtrMap *vars;
} Substitution;

static Expr substitute_expr(Mutator *m, Expr e) {
  if (e->op == OP_VAR) {
    Substitution *s = m->self;
    Expr to = tirc_map_get(s->vars, e);
    return to ? to : e;
  }
  return tirc_mutate_expr_children(m, e);
}

static bool uses(Buffer b, const PtrMap *vars) {
  for (int i = 0; i < b->ndim; i++) {
    if (tirc_uses_any(b->shape[i], vars)) return true;
    if (b->strides && tirc_uses_any(b->strides[i], vars)) return true;
  }
  return b->elem_offset && tirc_uses_any(b->elem_offset, vars);
}

static Buffer substitute_buffer(Mutator *m, Buffer b) {
  Substitution *s = m->self;
  Buffer known = tirc_map_get(&s->buffers, b);
  if (known) return known;
  Buffer result = b;
  if (uses(b, s->vars)) {
    struct BufferNode to = *b;
    Expr *shape = tirc_new_array(m->c, Expr, b->ndim), *strides = NULL;
    if (b->strides) strides = tirc_new_array(m->c, Expr, b->ndim);
    for (int i = 0; i < b->ndim; i++) {
      shape[i] = tirc_substitute(m->c, b->shape[i], s->vars);
      if (strides) strides[i] = tirc_substitute(m->c, b->strides[i], s->vars);
    }
    to.shape = shape;
    to.strides = strides;
    if (b->elem_offset) to.elem_offset = tirc_substitute(m->c, b->elem_offset, s->vars);
    result = tirc_buffer_copy(m->c, &to);
  }
  tirc_map_set(m->c, &s->buffers, b, result);
  return result;
}

Stmt tirc_lower_substitute(Tirc *c, Stmt stmt, const PtrMap *map) {
  Substitution s = {.vars = map};
  Mutator m = {.c = c, .expr = substitute_expr, .buffer = substitute_buffer, .self = &s};
  return tirc_mutate_stmt(&m, stmt);
}

Stmt tirc_lower_substitute1(Tirc *c, Stmt s, Expr var, Expr value) {
  PtrMap map = {0};
  tirc_map_set(c, &map, var, value);
  return tirc_lower_substitute(c, s, &map);
}

const Func *tirc_func_with_extents(Tirc *c, const Func *f, const PtrMap *extents) {
  Substitution s = {.vars = extents};
  Mutator m = {.c = c, .expr = substitute_expr, .buffer = substitute_buffer, .self = &s};
  Func *to = tirc_copy(c, f, 1);
  Buffer *buffers = tirc_new_array(c, Buffer, f->n_params + 1);
  for (int i = 0; i < f->n_params; i++)
    buffers[i] = f->buffers[i] ? substitute_buffer(&m, f->buffers[i]) : NULL;
  to->buffers = buffers;
  to->body = tirc_mutate_stmt(&m, f->body);
  return to;
}

void tirc_lower_conjuncts(Tirc *c, Expr cond, Exprs *out) {
  if (cond->op == OP_LIKELY) {
    tirc_lower_conjuncts(c, cond->args[0], out);
  } else if (cond->op == OP_AND) {
    tirc_lower_conjuncts(c, cond->args[0], out);
    tirc_lower_conjuncts(c, cond->args[1], out);
  } else {
    vec_push(c, *out, cond);
  }
}

/* The condition as "difference >= 0"; NULL when it is no order of integers. */
static Expr difference(Tirc *c, Expr cond) {
  if (cond->n != 2 || !tirc_dtype_is_int(cond->args[0]->dtype) || cond->args[0]->dtype.lanes > 1)
    return NULL;
  Expr a = tirc_cast(c, DT_INT64, cond->args[0]), b = tirc_cast(c, DT_INT64, cond->args[1]);
  Expr one = tirc_int(c, DT_INT64, 1);
  switch (cond->op) {
  case OP_LT: return tirc_sub(c, tirc_sub(c, b, a), one);
  case OP_LE: return tirc_sub(c, b, a);
  case OP_GT: return tirc_sub(c, tirc_sub(c, a, b), one);
  case OP_GE: return tirc_sub(c, a, b);
  default: return NULL;
  }
}

bool tirc_lower_order(Analyzer *a, Tirc *c, Expr cond, Expr var, int64_t *k, Expr *rest) {
  const Expr d = difference(c, cond);
  if (!d) return false;
  const Expr next = tirc_add(c, var, tirc_int(c, var->dtype, 1));
  const Expr step = tirc_simplify(a, tirc_sub(c, tirc_substitute1(c, d, var, next), d));
  if (!tirc_const_int(step, k) || *k == 0 || *k == INT64_MIN) return false;
  *rest = tirc_simplify(a, tirc_substitute1(c, d, var, tirc_int(c, var->dtype, 0)));
  return true;
}

/* Whether it has a value whatever its operands are; shifts by too much and floats that no integer
 * holds have none. */
static bool has_value(Expr e) {
  int64_t n;
  switch (e->op) {
  case OP_LOAD:
  case OP_CALL: return false;
  case OP_TRUNCDIV:
  case OP_TRUNCMOD:
  case OP_FLOORDIV:
  case OP_FLOORMOD: return tirc_const_int(e->args[1], &n) && n > 0;
  case OP_SHIFT_LEFT:
  case OP_SHIFT_RIGHT: return tirc_const_int(e->args[1], &n) && n >= 0 && n < e->dtype.bits;
  case OP_CAST: return !tirc_dtype_is_float(e->args[0]->dtype) || tirc_dtype_is_float(e->dtype);
  default: return true;
  }
}

bool tirc_can_run_early(Analyzer *a, Expr e) {
  if (!has_value(e) || tirc_may_leave_type(a, e)) return false;
  for (int i = 0; i < e->n; i++)
    if (!tirc_can_run_early(a, e->args[i])) return false;
  return true;
}

static Stmt body_of(Stmt s) {
  switch (s->kind) {
  case STMT_FOR: return s->u.loop.body;
  case STMT_LET: return tirc_loads_or_calls(s->u.let.value) ? NULL : s->u.let.body;
  case STMT_ATTR: return s->u.attr.body;
  case STMT_ALLOC:
  case STMT_DECL: return s->u.alloc.body;
  case STMT_IF: {
    const Stmt no = s->u.branch.else_case;
    if (tirc_loads_or_calls(s->u.branch.cond) || (no && !tirc_is_empty(no))) return NULL;
    return s->u.branch.then_case;
  }
  default: return NULL;
  }
}

Stmt tirc_lower_emptied(Stmt s) {
  const Stmt body = body_of(s);
  return body && tirc_is_empty(body) ? body : s;
}

int64_t tirc_lower_bytes(Buffer b) {
  int64_t n = tirc_dtype_bytes(b->dtype), size;
  for (int d = 0; d < b->ndim; d++)
    if (!tirc_const_int(b->shape[d], &size) || __builtin_mul_overflow(n, size, &n)) return -1;
  return n;
}

bool tirc_is_barrier(Stmt s) {
  if (s->kind != STMT_EVAL) return false;
  Expr e = s->u.eval.value;
  return tirc_calls(e, CALL_TVM_STORAGE_SYNC) && e->n >= 1 && e->args[0]->op == OP_STRING &&
         tirc_storage_of(e->args[0]->u.s) != STORAGE_WARP;
}

static bool count(Visitor *v, Stmt s) {
  (void)s;
  ++*(int64_t *)v->self;
  return true;
}

int64_t tirc_lower_size_of(Stmt s) {
  int64_t n = 0;
  tirc_visit_stmt(&(Visitor){.stmt = count, .self = &n}, s);
  return n;
}

void tirc_lower_need(Tirc *c, const Func *f, bool (*bad)(const void *self, Stmt s),
                     const char *pass, const char *what, const char *before) {
  const Stmt found = tirc_find_stmt(f->body, bad, NULL, NULL);
  if (found)
    tirc_fail(c, tirc_place_of(found), CODE_LOWER, tirc_format(c, "run %s before it", before),
              "%s takes no %s", pass, what);
}
