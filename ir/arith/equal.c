/* Structural equality by walking both trees at once. Definitions pair up variables and buffers;
 * uses must then be paired. Expressions that differ as written are compared again after
 * simplification under the ranges of the loops and iterators around them. */
#include "equal_internal.h"

#include <math.h>

#include "arith.h"
#include "ir/tree/annotations.h"
#include "ir/tree/find.h"
#include "ir/tree/graph.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"

bool tirc_equal_differ(Equal *q, const char *what, const char *a, const char *b) {
  if (!q->why) q->why = tirc_format(q->c, "%s: %s: %s against %s", q->where, what, a, b);
  return false;
}

void tirc_equal_pair(Equal *q, const void *a, const void *b) {
  tirc_map_set(q->c, &q->to_b, a, b);
  tirc_map_set(q->c, &q->to_a, b, a);
}

bool tirc_equal_is_pair(Equal *q, const void *a, const void *b) {
  const void *x = tirc_map_get(&q->to_b, a), *y = tirc_map_get(&q->to_a, b);
  if (x || y) return x == b && y == a;
  if (q->closed) return a == b;
  tirc_equal_pair(q, a, b);
  return true;
}

/* --- expressions ------------------------------------------------------------------------------ */

static bool same_as_written(Equal *q, Expr a, Expr b) {
  if (a->op != b->op || a->n != b->n || !tirc_dtype_equal(a->dtype, b->dtype)) return false;
  int from = 0;
  switch (a->op) {
  case OP_VAR: return tirc_equal_is_pair(q, a, b);
  case OP_INT:
  case OP_LARGE_UINT: return a->u.i == b->u.i;
  case OP_FLOAT: return a->u.f == b->u.f || (isnan(a->u.f) && isnan(b->u.f));
  case OP_STRING:
    if (strcmp(a->u.s, b->u.s) != 0) return false;
    break;
  case OP_CALL:
    if (a->u.callee != b->u.callee) return false;
    from = 2 * tirc_reducer_size(a);
    for (int i = 0; i < from; i++) tirc_equal_pair(q, a->args[i], b->args[i]);
    break;
  case OP_LOAD:
    if (!tirc_equal_is_pair(q, a->u.buffer, b->u.buffer)) return false;
    break;
  case OP_LET:
    tirc_equal_pair(q, a->args[0], b->args[0]);
    from = 1;
    break;
  case OP_DICT:
    for (int i = 0; i < a->n; i += 2) {
      int k = 0;
      while (k < b->n && !same_as_written(q, a->args[i], b->args[k])) k += 2;
      if (k >= b->n || !same_as_written(q, a->args[i + 1], b->args[k + 1])) return false;
    }
    return true;
  default: break;
  }
  for (int i = from; i < a->n; i++)
    if (!same_as_written(q, a->args[i], b->args[i])) return false;
  return true;
}

static Expr rename_expr(Mutator *m, Expr e) {
  Equal *q = m->self;
  if (e->op == OP_VAR) {
    Expr to = tirc_map_get(&q->to_a, e);
    return to ? to : e;
  }
  return tirc_mutate_expr_children(m, e);
}

static Buffer rename_buffer(Mutator *m, Buffer b) {
  Buffer to = tirc_map_get(&((Equal *)m->self)->to_a, b);
  return to ? to : b;
}

/* x % y is x, and x // y is 0, where 0 <= x < y, be y symbolic or not. */
static Expr drop_remainder(Mutator *m, Expr e) {
  Analyzer *a = m->self;
  e = tirc_mutate_expr_children(m, e);
  if ((e->op != OP_FLOORMOD && e->op != OP_FLOORDIV) || !tirc_dtype_is_int(e->dtype)) return e;
  const Expr x = e->args[0], zero = tirc_int(m->c, e->dtype, 0);
  if (e->args[1]->op == OP_INT || !tirc_prove_ge(a, x, zero) || !tirc_prove_lt(a, x, e->args[1]))
    return e;
  return e->op == OP_FLOORMOD ? x : zero;
}

static bool same_value(Equal *q, Expr x, Expr y) {
  if (tirc_expr_same(x, y)) return true;
  if (!tirc_dtype_equal(x->dtype, y->dtype)) return false;
  if (tirc_dtype_equal(x->dtype, DT_BOOL))
    return x->op == y->op && tirc_compares(x->op) && same_value(q, x->args[0], y->args[0]) &&
           same_value(q, x->args[1], y->args[1]);
  if (!tirc_dtype_is_int(x->dtype) || x->dtype.lanes != 1) return false;
  if (tirc_prove_equal(q->analyzer, x, y)) return true;
  Mutator m = {.c = q->c, .expr = drop_remainder, .self = q->analyzer};
  const Expr u = tirc_mutate_expr(&m, x), v = tirc_mutate_expr(&m, y);
  return (u != x || v != y) && tirc_prove_equal(q->analyzer, u, v);
}

static bool follows(Analyzer *a, Expr given, Expr cond) {
  return tirc_prove_given(a, given, cond) ||
         (cond->op == OP_OR &&
          (follows(a, given, cond->args[0]) || follows(a, given, cond->args[1])));
}

static bool has_conjunct(Equal *q, Expr in, Expr of) {
  return in->op == OP_AND ? has_conjunct(q, in->args[0], of) || has_conjunct(q, in->args[1], of)
                          : same_value(q, in, of);
}

/* Each part of the condition `of` is one of `in`, or follows from that and the ranges. */
static bool has_conjuncts(Equal *q, Expr in, Expr of) {
  return of->op == OP_AND ? has_conjuncts(q, in, of->args[0]) && has_conjuncts(q, in, of->args[1])
                          : has_conjunct(q, in, of) || follows(q->analyzer, in, of);
}

static bool equal_expr(Equal *q, Expr a, Expr b) {
  if (same_as_written(q, a, b)) return true;
  if (!tirc_dtype_equal(a->dtype, b->dtype)) return false;
  Mutator m = {.c = q->c, .expr = rename_expr, .buffer = rename_buffer, .self = q};
  Expr renamed = tirc_mutate_expr(&m, b);
  Expr x = tirc_simplify(q->analyzer, a), y = tirc_simplify(q->analyzer, renamed);
  if (tirc_dtype_equal(a->dtype, DT_BOOL)) return has_conjuncts(q, x, y) && has_conjuncts(q, y, x);
  return same_value(q, x, y);
}

bool tirc_equal_expr(Equal *q, const char *what, Expr a, Expr b) {
  return equal_expr(q, a, b) ||
         tirc_equal_differ(q, what, tirc_print_expr(q->c, a), tirc_print_expr(q->c, b));
}

static bool check_exprs(Equal *q, const char *what, int n, const Expr *a, const Expr *b) {
  for (int i = 0; i < n; i++)
    if (!tirc_equal_expr(q, what, a[i], b[i])) return false;
  return true;
}

bool tirc_equal_int(Equal *q, const char *what, int a, int b) {
  return a == b ||
         tirc_equal_differ(q, what, tirc_format(q->c, "%d", a), tirc_format(q->c, "%d", b));
}

bool tirc_equal_text(Equal *q, const char *what, const char *a, const char *b) {
  if (!a || !b) return a == b || tirc_equal_differ(q, what, a ? a : "none", b ? b : "none");
  return strcmp(a, b) == 0 || tirc_equal_differ(q, what, a, b);
}

/* A bool as the int that annotate makes of it: traces do not tell them apart. */
static Expr bool_as_int(Mutator *m, Expr e) {
  bool is_bool = e->op == OP_INT && tirc_dtype_equal(e->dtype, DT_BOOL);
  return is_bool ? tirc_int32(m->c, e->u.i) : tirc_mutate_expr_children(m, e);
}

bool tirc_equal_attrs(Equal *q, const char *what, Attrs a, Attrs b) {
  Mutator ints = {.c = q->c, .expr = bool_as_int};
  for (int i = 0; i < a.n; i++) {
    Expr value = a.at[i].value, other = tirc_attrs_get(b, a.at[i].key);
    if (!other)
      return tirc_equal_differ(q, what, tirc_format(q->c, "\"%s\"", a.at[i].key), "no such key");
    if (!equal_expr(q, tirc_mutate_expr(&ints, value), tirc_mutate_expr(&ints, other)))
      return tirc_equal_differ(q, tirc_format(q->c, "%s \"%s\"", what, a.at[i].key),
                               tirc_print_expr(q->c, value), tirc_print_expr(q->c, other));
  }
  for (int i = 0; i < b.n; i++)
    if (!tirc_attrs_get(a, b.at[i].key))
      return tirc_equal_differ(q, what, "no such key", tirc_format(q->c, "\"%s\"", b.at[i].key));
  return true;
}

/* --- buffers and regions ---------------------------------------------------------------------- */

static bool define_buffer(Equal *q, Buffer a, Buffer b) {
  const char *what = tirc_format(q->c, "buffer %s", a->name);
  if (!tirc_dtype_equal(a->dtype, b->dtype))
    return tirc_equal_differ(q, what, tirc_dtype_name(q->c, a->dtype),
                             tirc_dtype_name(q->c, b->dtype));
  if (!tirc_equal_int(q, what, a->ndim, b->ndim)) return false;
  if (!check_exprs(q, tirc_format(q->c, "%s, shape", what), a->ndim, a->shape, b->shape))
    return false;
  if (!a->strides != !b->strides)
    return tirc_equal_differ(q, what, a->strides ? "strides" : "no strides",
                             b->strides ? "strides" : "none");
  if (a->one_stride != b->one_stride)
    return tirc_equal_differ(q, what, a->one_stride ? "strides=(1,)" : "no strides",
                             b->one_stride ? "strides=(1,)" : "none");
  if (a->strides && !check_exprs(q, "strides", a->ndim, a->strides, b->strides)) return false;
  Expr zero = tirc_int32(q->c, 0);
  if (!tirc_equal_expr(q, tirc_format(q->c, "%s, elem_offset", what),
                       a->elem_offset ? a->elem_offset : zero,
                       b->elem_offset ? b->elem_offset : zero))
    return false;
  if (!tirc_equal_text(q, tirc_format(q->c, "%s, scope", what), a->scope, b->scope)) return false;
  if (!tirc_equal_int(q, tirc_format(q->c, "%s, align", what), a->align, b->align)) return false;
  if (!tirc_equal_int(q, tirc_format(q->c, "%s, axis separators", what), a->n_axis_separators,
                      b->n_axis_separators))
    return false;
  for (int i = 0; i < a->n_axis_separators; i++)
    if (!tirc_equal_int(q, what, a->axis_separators[i], b->axis_separators[i])) return false;
  tirc_equal_pair(q, a, b);
  tirc_equal_pair(q, a->data, b->data);
  return true;
}

static bool check_regions(Equal *q, const char *what, int n, const Region *a, int m,
                          const Region *b) {
  for (int i = 0; i < n || i < m; i++) {
    const char *x = i < n ? tirc_print_region(q->c, a[i]) : "nothing";
    const char *y = i < m ? tirc_print_region(q->c, b[i]) : "nothing";
    if (i >= n || i >= m || !tirc_equal_is_pair(q, a[i].buffer, b[i].buffer))
      return tirc_equal_differ(q, what, x, y);
    for (int d = 0; d < a[i].buffer->ndim; d++)
      if (!equal_expr(q, a[i].dims[d].min, b[i].dims[d].min) ||
          !equal_expr(q, a[i].dims[d].extent, b[i].dims[d].extent))
        return tirc_equal_differ(q, what, x, y);
  }
  return true;
}

/* --- statements ------------------------------------------------------------------------------- */

static bool equal_stmt(Equal *q, Stmt a, Stmt b);

static bool equal_for(Equal *q, const For *a, const For *b) {
  const char *what = tirc_format(q->c, "loop %s", a->var->u.s);
  if (!tirc_dtype_equal(a->var->dtype, b->var->dtype))
    return tirc_equal_differ(q, what, tirc_dtype_name(q->c, a->var->dtype),
                             tirc_dtype_name(q->c, b->var->dtype));
  if (!tirc_equal_text(q, what, tirc_loop_kind_name(a->kind), tirc_loop_kind_name(b->kind)))
    return false;
  if (!tirc_equal_expr(q, tirc_format(q->c, "%s, start", what), a->min, b->min) ||
      !tirc_equal_expr(q, tirc_format(q->c, "%s, extent", what), a->extent, b->extent) ||
      !tirc_equal_text(q, tirc_format(q->c, "%s, thread", what), a->thread, b->thread) ||
      !tirc_equal_attrs(q, tirc_format(q->c, "%s, annotation", what), a->annotations,
                        b->annotations))
    return false;
  tirc_equal_pair(q, a->var, b->var);
  tirc_bind_range(q->analyzer, a->var, tirc_range(a->min, a->extent));
  const Expr none = tirc_int(q->c, a->extent->dtype, 0);
  const int mark = tirc_enter_constraint(q->analyzer, tirc_lt(q->c, none, a->extent));
  const bool same = equal_stmt(q, a->body, b->body);
  tirc_leave_constraint(q->analyzer, mark);
  return same;
}

static bool equal_iter(Equal *q, const IterVar *x, const IterVar *y) {
  const char *what = tirc_format(q->c, "iterator %s", x->var->u.s);
  return tirc_equal_text(q, what, tirc_iter_kind_name(x->kind), tirc_iter_kind_name(y->kind)) &&
         tirc_equal_expr(q, tirc_format(q->c, "%s, domain", what), x->dom.min, y->dom.min) &&
         tirc_equal_expr(q, tirc_format(q->c, "%s, domain", what), x->dom.extent, y->dom.extent);
}

/* What its iterators stand for is of interest where the block runs. */
static bool equal_bindings(Equal *q, const Block *a, const Block *b) {
  const Expr runs = tirc_simplify(q->analyzer, a->predicate);
  const int mark = tirc_enter_constraint(q->analyzer, runs);
  bool same = true;
  for (int i = 0; i < a->n_iters && same; i++)
    same = tirc_equal_expr(q, tirc_format(q->c, "iterator %s, binding", a->iters[i].var->u.s),
                           a->iter_values[i], b->iter_values[i]);
  tirc_leave_constraint(q->analyzer, mark);
  return same;
}

static bool equal_iters(Equal *q, const Block *a, const Block *b) {
  if (!tirc_equal_int(q, "number of iterators", a->n_iters, b->n_iters)) return false;
  for (int i = 0; i < a->n_iters; i++)
    if (!equal_iter(q, &a->iters[i], &b->iters[i])) return false;
  if (!tirc_equal_expr(q, "predicate", a->predicate, b->predicate) || !equal_bindings(q, a, b))
    return false;
  for (int i = 0; i < a->n_iters; i++) {
    tirc_equal_pair(q, a->iters[i].var, b->iters[i].var);
    tirc_bind_range(q->analyzer, a->iters[i].var, a->iters[i].dom);
  }
  return true;
}

static bool equal_block(Equal *q, const Block *a, const Block *b) {
  const char *outside = q->where;
  if (!tirc_equal_text(q, "block name", a->name, b->name)) return false;
  q->where = tirc_format(q->c, "%s, block %s", outside, a->name);
  if (!equal_iters(q, a, b)) return false;
  if (!tirc_equal_int(q, "number of allocated buffers", a->n_allocs, b->n_allocs) ||
      !tirc_equal_int(q, "number of matched buffers", a->n_matches, b->n_matches))
    return false;
  for (int i = 0; i < a->n_allocs; i++)
    if (!define_buffer(q, a->allocs[i], b->allocs[i])) return false;
  for (int i = 0; i < a->n_matches; i++)
    if (!check_regions(q, "match_buffer", 1, &a->matches[i].source, 1, &b->matches[i].source) ||
        !define_buffer(q, a->matches[i].buffer, b->matches[i].buffer))
      return false;
  if (!check_regions(q, "reads", a->n_reads, a->reads, b->n_reads, b->reads) ||
      !check_regions(q, "writes", a->n_writes, a->writes, b->n_writes, b->writes) ||
      !tirc_equal_attrs(q, "annotation", a->annotations, b->annotations))
    return false;
  if (!a->init != !b->init)
    return tirc_equal_differ(q, "init", a->init ? "present" : "absent",
                             b->init ? "present" : "absent");
  if (a->init && !equal_stmt(q, a->init, b->init)) return false;
  if (!equal_stmt(q, a->body, b->body)) return false;
  q->where = outside;
  return true;
}

static bool equal_branch(Equal *q, Stmt a, Stmt b) {
  Stmt x = a->u.branch.else_case, y = b->u.branch.else_case;
  if (!tirc_equal_expr(q, "condition", a->u.branch.cond, b->u.branch.cond) ||
      !equal_stmt(q, a->u.branch.then_case, b->u.branch.then_case))
    return false;
  if (!x != !y)
    return tirc_equal_differ(q, "else", x ? "present" : "absent", y ? "present" : "absent");
  return !x || equal_stmt(q, x, y);
}

static bool equal_store(Equal *q, Stmt a, Stmt b) {
  if (!tirc_equal_is_pair(q, a->u.store.buffer, b->u.store.buffer) || a->u.store.n != b->u.store.n)
    return tirc_equal_differ(q, "buffer stored to", a->u.store.buffer->name,
                             b->u.store.buffer->name);
  return check_exprs(q, tirc_format(q->c, "index of %s", a->u.store.buffer->name), a->u.store.n,
                     a->u.store.indices, b->u.store.indices) &&
         tirc_equal_expr(q, tirc_format(q->c, "value stored to %s", a->u.store.buffer->name),
                         a->u.store.value, b->u.store.value);
}

static const char *const kind_names[] = {
    [STMT_FOR] = "a loop",          [STMT_BLOCK] = "a block",
    [STMT_SEQ] = "a sequence",      [STMT_STORE] = "a store",
    [STMT_EVAL] = "an evaluation",  [STMT_IF] = "an if",
    [STMT_WHILE] = "a while",       [STMT_LET] = "a let",
    [STMT_ALLOC] = "an allocation", [STMT_DECL] = "a buffer declaration",
    [STMT_ATTR] = "an attribute",   [STMT_ASSERT] = "an assert",
};

static bool equal_stmt(Equal *q, Stmt a, Stmt b) {
  if (a->kind != b->kind)
    return tirc_equal_differ(q, "statement", kind_names[a->kind], kind_names[b->kind]);
  switch (a->kind) {
  case STMT_FOR: return equal_for(q, &a->u.loop, &b->u.loop);
  case STMT_BLOCK: return equal_block(q, &a->u.block, &b->u.block);
  case STMT_SEQ:
    if (!tirc_equal_int(q, "number of statements", a->u.seq.n, b->u.seq.n)) return false;
    for (int i = 0; i < a->u.seq.n; i++)
      if (!equal_stmt(q, tirc_item(a, i), tirc_item(b, i))) return false;
    return true;
  case STMT_STORE: return equal_store(q, a, b);
  case STMT_EVAL: return tirc_equal_expr(q, "evaluated", a->u.eval.value, b->u.eval.value);
  case STMT_IF: return equal_branch(q, a, b);
  case STMT_WHILE:
    return tirc_equal_expr(q, "condition", a->u.loop_while.cond, b->u.loop_while.cond) &&
           equal_stmt(q, a->u.loop_while.body, b->u.loop_while.body);
  case STMT_LET:
    if (!tirc_equal_expr(q, "let value", a->u.let.value, b->u.let.value)) return false;
    tirc_equal_pair(q, a->u.let.var, b->u.let.var);
    return equal_stmt(q, a->u.let.body, b->u.let.body);
  case STMT_ALLOC:
  case STMT_DECL:
    if (a->kind == STMT_DECL &&
        !tirc_equal_is_pair(q, a->u.alloc.buffer->data, b->u.alloc.buffer->data))
      return tirc_equal_differ(q, "data of the buffer", a->u.alloc.buffer->name,
                               b->u.alloc.buffer->name);
    return define_buffer(q, a->u.alloc.buffer, b->u.alloc.buffer) &&
           tirc_equal_attrs(q, "annotation", a->u.alloc.annotations, b->u.alloc.annotations) &&
           equal_stmt(q, a->u.alloc.body, b->u.alloc.body);
  case STMT_ATTR:
    return tirc_equal_text(q, "attribute", a->u.attr.key, b->u.attr.key) &&
           tirc_equal_expr(q, "attribute value", a->u.attr.value, b->u.attr.value) &&
           equal_stmt(q, a->u.attr.body, b->u.attr.body);
  case STMT_ASSERT:
    return tirc_equal_expr(q, "assertion", a->u.check.cond, b->u.check.cond) &&
           equal_stmt(q, a->u.check.body, b->u.check.body);
  }
  return false;
}

/* --- functions and modules -------------------------------------------------------------------- */

static Attrs compared_attrs(Tirc *c, const Func *f) {
  return tirc_attrs_remove(c, f->attrs, tirc_key(KEY_GLOBAL_SYMBOL));
}

static bool equal_func(Equal *q, const Func *a, const Func *b) {
  q->where = tirc_format(q->c, "function %s", a->name);
  if (!tirc_equal_int(q, "number of parameters", a->n_params, b->n_params)) return false;
  for (int i = 0; i < a->n_params; i++) {
    Buffer x = a->buffers ? a->buffers[i] : NULL, y = b->buffers ? b->buffers[i] : NULL;
    const char *what = tirc_format(q->c, "parameter %d", i + 1);
    if (!x != !y)
      return tirc_equal_differ(q, what, x ? "a buffer" : "no buffer", y ? "a buffer" : "no buffer");
    if (!tirc_dtype_equal(a->params[i]->dtype, b->params[i]->dtype))
      return tirc_equal_differ(q, what, tirc_dtype_name(q->c, a->params[i]->dtype),
                               tirc_dtype_name(q->c, b->params[i]->dtype));
    tirc_equal_pair(q, a->params[i], b->params[i]);
  }
  for (int i = 0; i < a->n_params; i++)
    if (a->buffers && a->buffers[i] && !define_buffer(q, a->buffers[i], b->buffers[i]))
      return false;
  return tirc_equal_attrs(q, "attribute", compared_attrs(q->c, a), compared_attrs(q->c, b)) &&
         equal_stmt(q, a->body, b->body);
}

static Equal fresh(Tirc *c) {
  return (Equal){.c = c, .analyzer = tirc_plain_analyzer(c), .where = ""};
}

bool tirc_expr_equal(Tirc *c, Expr a, Expr b) {
  Equal q = fresh(c);
  q.closed = true;
  return equal_expr(&q, a, b);
}

const char *tirc_module_difference(Tirc *c, const Module *a, const Module *b) {
  if (a->n_funcs != b->n_funcs)
    return tirc_format(c, "number of functions: %d against %d", a->n_funcs, b->n_funcs);
  for (int i = 0; i < a->n_funcs; i++) {
    const Func *other = a->n_funcs == 1 ? b->funcs[0] : tirc_module_func(b, a->funcs[i]->name);
    if (!other) return tirc_format(c, "function %s: only in the first", a->funcs[i]->name);
    Equal q = fresh(c);
    if (!equal_func(&q, a->funcs[i], other)) return q.why;
  }
  const char *why = tirc_graphs_difference(c, a, b);
  if (why) return why;
  Equal q = fresh(c);
  q.where = "module";
  return tirc_equal_attrs(&q, "attribute", a->attrs, b->attrs) ? NULL : q.why;
}
