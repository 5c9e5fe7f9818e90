/* factor_scan(loop): a scan in two passes, whose pieces do not wait for each other.
 *
 *   for p, q:                                          for p, q: total[p] = total[p] + A[p * n + q]
 *     B[v] = A[v] + (0 < v ? B[v - 1] : s)      ->     for p: begin[p] = (0 < p ? total[p - 1] : 0)
 *                                                                        + (0 < p ? begin[p - 1] : s)
 *   factor_scan(p)                                     for p, q: B[p * n + q] = A[p * n + q]
 *                                                          + (0 < q ? B[p * n + q - 1] : begin[p])
 *
 * The two blocks before it are new: a reduction of each piece, and a scan of these. The last one
 * keeps the block's identity; its pieces are apart. The operation is one that reductions know, so
 * that steps may be grouped. Needs: a block of one store and one iterator of a scan, bound to the
 * loop and the one below it, which are the innermost ones and have extents that depend on no loop;
 * of the element stored a step before, and of no other of the buffer, it loads. */
#include "blocks.h"
#include "ir/tree/print.h"

#include <math.h>

typedef struct Scan {
  Sched *s;
  Tirc *c;
  SRef *block, *loop, *steps; /* steps: the loop below the loop */
  int iter;                   /* of the scan */
  Stmt store;
  Op op;
  Expr before, x; /* operands: an element and a start by a condition, and what comes in */
  int n_before;   /* which operand that is */
  Expr end;       /* what the predicate says of the loops; true: nothing */
  Expr rest;      /* and of others */
  Buffer total, begin;
} Scan;

/* --- what it is ------------------------------------------------------------------------------- */

static _Noreturn void refuse(const Scan *x, const char *why) {
  tirc_sched_error(x->s, x->block->stmt, SERR_ORDER_MATTERS, why,
                   "write B[v] = x + T.if_then_else(v > 0, B[v - 1], start), with v = T.axis.scan, "
                   "split its loop into two serial ones, and give the outer one",
                   "the steps of block %s cannot be divided into pieces", tirc_name_of(x->block));
}

static const Block *block_of(const Scan *x) { return tirc_block_of(x->block); }
static Expr var_of(const SRef *loop) { return tirc_loop_of(loop)->var; }

/* The pieces of all scans have room in the scope, and a block iterates over them. */
static void require_range(const Scan *x, const char *what, const char *name, Range r) {
  for (SRef *up = x->steps; tirc_is_loop(up); up = up->parent)
    if (tirc_range_uses(r, var_of(up)))
      refuse(x, tirc_format(x->c, "the range of %s %s depends on loop %s", what, name,
                            tirc_name_of(up)));
  if (tirc_loads_or_calls(r.min) || tirc_loads_or_calls(r.extent))
    refuse(x, tirc_format(x->c, "the range of %s %s is loaded", what, name));
}

static void require_loops(Scan *x) {
  x->block = tirc_blockize_only_child(x->s, x->loop);
  x->steps = x->block->parent;
  SRef *const loops[2] = {x->loop, x->steps};
  if (x->steps == x->loop || x->steps->parent != x->loop)
    refuse(x, tirc_format(x->c, "loop %s has not one loop below it; split the loop of the scan",
                          tirc_name_of(x->loop)));
  for (int i = 0; i < 2; i++) {
    const For *f = tirc_loop_of(loops[i]);
    if (f->kind != LOOP_SERIAL || !tirc_is_int(f->min, 0))
      refuse(x, tirc_format(x->c, "loop %s is not a serial loop from 0", tirc_name_of(loops[i])));
    require_range(x, "loop", tirc_name_of(loops[i]), tirc_loop_range(f));
  }
}

static void find_iter(Scan *x) {
  const Block *b = block_of(x);
  x->iter = -1;
  for (int i = 0; i < b->n_iters; i++) {
    require_range(x, "iterator", b->iters[i].var->u.s, b->iters[i].dom);
    const bool goes_on = b->iters[i].kind == ITER_SCAN || b->iters[i].kind == ITER_OPAQUE;
    if (b->iters[i].kind == ITER_REDUCE || (goes_on && x->iter >= 0))
      refuse(x, "it must have one iterator T.axis.scan (or opaque) and spatial ones");
    if (goes_on) x->iter = i;
  }
  if (x->iter < 0) refuse(x, "it has no iterator T.axis.scan");
}

static bool uses_loops(const Scan *x, Expr e) {
  return tirc_uses_var(e, var_of(x->loop)) || tirc_uses_var(e, var_of(x->steps));
}

/* Its steps in terms of the loops. */
static Expr step_of_loops(const Scan *x, Expr piece, Expr step) {
  return tirc_add(x->c, tirc_mul(x->c, piece, tirc_loop_of(x->steps)->extent), step);
}

static void require_binding(const Scan *x) {
  const Block *b = block_of(x);
  Analyzer *a = tirc_analyzer_of_loops(x->s, x->block, NULL);
  const Expr all = step_of_loops(x, var_of(x->loop), var_of(x->steps));
  if (!tirc_is_int(b->iters[x->iter].dom.min, 0) ||
      !tirc_prove_equal(a, b->iter_values[x->iter], all))
    refuse(x, tirc_format(x->c, "iterator %s is not %s", b->iters[x->iter].var->u.s,
                          tirc_print_expr(x->c, all)));
  for (int i = 0; i < b->n_iters; i++)
    if (i != x->iter && uses_loops(x, b->iter_values[i]))
      refuse(x,
             tirc_format(x->c, "iterator %s is bound to a loop of the scan", b->iters[i].var->u.s));
}

/* What an iterator is bound to, as the iterator. */
static Expr as_iter(Mutator *m, Expr e) {
  const Block *b = m->self;
  for (int i = 0; i < b->n_iters; i++)
    if (e->op != OP_INT && tirc_dtype_equal(e->dtype, b->iters[i].var->dtype) &&
        tirc_expr_same(e, b->iter_values[i]))
      return b->iters[i].var;
  return tirc_mutate_expr_children(m, e);
}

/* As a block says it inside of itself: of its iterators, and not of loops around. */
static Expr end_of_iters(const Scan *x) {
  Block b = *block_of(x);
  Mutator m = {.c = x->c, .expr = as_iter, .self = &b};
  const Expr end = tirc_mutate_expr(&m, x->end);
  for (SRef *up = x->loop->parent; tirc_is_loop(up); up = up->parent)
    if (tirc_uses_var(end, var_of(up)))
      refuse(x, tirc_format(x->c, "its condition %s uses loop %s, which no iterator is bound to",
                            tirc_print_expr(x->c, x->end), tirc_name_of(up)));
  return end;
}

/* Where it ends: the one condition on the loops that leaves out no step but the last ones. */
static void split_predicate(Scan *x) {
  const Block *b = block_of(x);
  PtrMap loops = {0};
  tirc_map_set(x->c, &loops, var_of(x->loop), x);
  tirc_map_set(x->c, &loops, var_of(x->steps), x);
  x->end = tirc_conjuncts(x->c, b->predicate, &loops, true);
  x->rest = tirc_conjuncts(x->c, b->predicate, &loops, false);
  if (tirc_is_true(x->end)) return;
  Analyzer *a = tirc_analyzer_of_loops(x->s, x->block, NULL);
  const Expr end = x->end, step = b->iter_values[x->iter];
  if (end->op != OP_LT || uses_loops(x, end->args[1]) ||
      uses_loops(x, tirc_simplify(a, tirc_sub(x->c, end->args[0], step))))
    refuse(x, tirc_format(x->c, "its condition %s may leave out steps before others",
                          tirc_print_expr(x->c, x->end)));
  x->end = end_of_iters(x);
}

/* --- what it stores --------------------------------------------------------------------------- */

static bool is_of_buffer(const void *buffer, Expr e) {
  const struct BufferNode *b = buffer;
  return (e->op == OP_LOAD && e->u.buffer->data == b->data) || e == b->data ||
         tirc_is_opaque_call(NULL, e);
}

/* Whether it is a load of the element a step before, where there is one, and a start. */
static bool is_before(const Scan *x, Expr e) {
  Tirc *c = x->c;
  const Buffer to = x->store->u.store.buffer;
  const bool chooses = e->op == OP_IF_THEN_ELSE || e->op == OP_SELECT;
  const Expr load = chooses ? e->args[1] : NULL, var = block_of(x)->iters[x->iter].var;
  if (!load || load->op != OP_LOAD || load->u.buffer != to) return false;
  if (tirc_find_expr(e->args[0], is_of_buffer, to) || tirc_find_expr(e->args[2], is_of_buffer, to))
    return false;
  const Expr zero = tirc_int(c, var->dtype, 0), one = tirc_int(c, var->dtype, 1);
  PtrMap first = {0}, previous = {0};
  tirc_map_set(c, &first, var, zero);
  tirc_map_set(c, &previous, var, tirc_sub(c, var, one));
  Analyzer *a = tirc_analyzer(c);
  tirc_bind_range(a, var, block_of(x)->iters[x->iter].dom);
  if (!tirc_prove(a, tirc_not(c, tirc_substitute(c, e->args[0], &first)))) return false;
  tirc_enter_constraint(a, tirc_binary(c, OP_LE, one, var));
  bool same = tirc_prove(a, e->args[0]);
  for (int i = 0; same && i < load->n; i++)
    same = tirc_prove_equal(a, load->args[i],
                            tirc_substitute(c, x->store->u.store.indices[i], &previous));
  return same;
}

static bool is_known(Op op, DType t) {
  const bool bits = op == OP_BITWISE_AND || op == OP_BITWISE_OR || op == OP_BITWISE_XOR;
  return op == OP_ADD || op == OP_MUL || op == OP_MIN || op == OP_MAX ||
         (bits && tirc_dtype_is_int(t));
}

/* What says where the store is, and whether. */
static bool is_placed_by(const Scan *x, const void *buffer) {
  const Block *b = block_of(x);
  bool found = tirc_find_expr(b->predicate, is_of_buffer, buffer) != NULL;
  for (int i = 0; i < b->n_iters; i++)
    found = found || tirc_find_expr(b->iter_values[i], is_of_buffer, buffer);
  for (int i = 0; i < x->store->u.store.n; i++)
    found = found || tirc_find_expr(x->store->u.store.indices[i], is_of_buffer, buffer);
  return found;
}

static void read_body(Scan *x) {
  const Block *b = block_of(x);
  if (b->body->kind != STMT_STORE || b->init || b->n_allocs || b->n_matches)
    refuse(x, "it is not one store");
  x->store = b->body;
  const Expr value = x->store->u.store.value;
  x->op = (Op)value->op;
  if (value->n != 2 || !is_known(x->op, value->dtype))
    refuse(x, "its value is no sum, product, minimum, maximum, and, or, exclusive or");
  x->n_before = is_before(x, value->args[0]) ? 0 : 1;
  x->before = value->args[x->n_before];
  x->x = value->args[1 - x->n_before];
  const void *to = x->store->u.store.buffer;
  if (!is_before(x, x->before) || tirc_find_expr(x->x, is_of_buffer, to) || is_placed_by(x, to))
    refuse(x, tirc_format(x->c,
                          "one operand must be T.if_then_else(%s > 0, the element of the step "
                          "before, a start), and nothing else may load from %s",
                          b->iters[x->iter].var->u.s, x->store->u.store.buffer->name));
}

/* --- the new blocks --------------------------------------------------------------------------- */

static Expr neutral(const Scan *x) {
  return tirc_neutral(x->c, x->op, x->store->u.store.buffer->dtype);
}

/* A number of each piece of each scan. */
static Buffer buffer_of_pieces(const Scan *x, const char *suffix) {
  const Block *b = block_of(x);
  Expr *shape = tirc_new_array(x->c, Expr, b->n_iters + 1);
  int n = 0;
  for (int i = 0; i < b->n_iters; i++)
    if (i != x->iter) shape[n++] = b->iters[i].dom.extent;
  shape[n++] = tirc_loop_of(x->loop)->extent;
  const Buffer of = x->store->u.store.buffer;
  return tirc_buffer(x->c, tirc_format(x->c, "%s_%s", of->name, suffix), of->dtype, n, shape,
                     "global");
}

/* A block over the iterators of the old one, with others in the place of the scan's. */
typedef struct Piece {
  VEC(IterVar) iters;
  VEC(Expr) values, at; /* at: the indices of buffers of pieces */
  Expr piece, step;     /* iterators; step: NULL where there is none */
  PtrMap vars;          /* from the old iterators, and loops of the scan */
} Piece;

static Expr add_iter(const Scan *x, Piece *p, const SRef *loop, IterKind kind) {
  const For *f = tirc_loop_of(loop);
  const Expr var = tirc_var(x->c, tirc_format(x->c, "v%s", f->var->u.s), f->var->dtype);
  vec_push(x->c, p->iters, ((IterVar){var, tirc_loop_range(f), kind}));
  vec_push(x->c, p->values, f->var);
  tirc_map_set(x->c, &p->vars, f->var, var);
  return var;
}

static Piece over_pieces(const Scan *x, IterKind of_pieces, bool has_steps, IterKind of_steps) {
  const Block *b = block_of(x);
  Piece p = {0};
  for (int i = 0; i < b->n_iters; i++) {
    const IterVar *iter = &b->iters[i];
    if (i == x->iter) continue;
    const Expr var = tirc_var(x->c, iter->var->u.s, iter->var->dtype);
    vec_push(x->c, p.iters, ((IterVar){var, iter->dom, iter->kind}));
    vec_push(x->c, p.values, b->iter_values[i]);
    vec_push(x->c, p.at, tirc_sub(x->c, var, iter->dom.min));
    tirc_map_set(x->c, &p.vars, iter->var, var);
  }
  p.piece = add_iter(x, &p, x->loop, of_pieces);
  if (has_steps) p.step = add_iter(x, &p, x->steps, of_steps);
  vec_push(x->c, p.at, p.piece);
  const IterVar *scan = &b->iters[x->iter];
  const Expr step =
      has_steps ? step_of_loops(x, p.piece, p.step) : tirc_int(x->c, scan->var->dtype, 0);
  tirc_map_set(x->c, &p.vars, scan->var, tirc_cast(x->c, scan->var->dtype, step));
  return p;
}

static Expr combined(const Scan *x, Expr a, Expr b) { return tirc_binary(x->c, x->op, a, b); }

static Expr chosen(const Scan *x, Expr cond, Expr then, Expr other) {
  return tirc_expr(x->c, OP_IF_THEN_ELSE, then->dtype, 3, (Expr[]){cond, then, other});
}

static Stmt block_with(const Scan *x, const Piece *p, const Block *like, const char *name,
                       Expr predicate, Stmt init, Stmt body) {
  Block b = {.id = like ? like->id : 0,
             .name = name,
             .n_iters = p->iters.n,
             .iters = p->iters.at,
             .iter_values = p->values.at,
             .predicate = predicate,
             .annotations = like ? like->annotations : (Attrs){0},
             .init = init,
             .body = body};
  return tirc_with_loc(x->c, tirc_infer_regions(x->c, tirc_block(x->c, &b), false, false),
                       x->block->stmt->loc);
}

static Stmt make_total(const Scan *x, const char *name) {
  Tirc *c = x->c;
  const Piece p = over_pieces(x, ITER_SPATIAL, true, ITER_REDUCE);
  const Expr self = tirc_load(c, x->total, p.at.n, p.at.at);
  Expr value = tirc_substitute(c, x->x, &p.vars);
  if (!tirc_is_true(x->end))
    value = chosen(x, tirc_substitute(c, x->end, &p.vars), value, neutral(x));
  return block_with(x, &p, NULL, name, x->rest,
                    tirc_store(c, x->total, p.at.n, p.at.at, neutral(x)),
                    tirc_store(c, x->total, p.at.n, p.at.at, combined(x, self, value)));
}

static Stmt make_begin(const Scan *x, const char *name) {
  Tirc *c = x->c;
  const Piece p = over_pieces(x, ITER_SCAN, false, ITER_SCAN);
  const Expr one = tirc_int(c, p.piece->dtype, 1);
  const Expr has = tirc_lt(c, tirc_int(c, p.piece->dtype, 0), p.piece);
  Expr *at = tirc_copy(c, p.at.at, p.at.n);
  at[p.at.n - 1] = tirc_sub(c, p.piece, one);
  const Expr total = tirc_load(c, x->total, p.at.n, at);
  const Expr begin = tirc_load(c, x->begin, p.at.n, at);
  const Expr start = tirc_substitute(c, x->before->args[2], &p.vars);
  const Expr value = combined(x, chosen(x, has, total, neutral(x)), chosen(x, has, begin, start));
  return block_with(x, &p, NULL, name, x->rest, NULL,
                    tirc_store(c, x->begin, p.at.n, p.at.at, value));
}

/* The element a step before. */
static Expr load_before(const Scan *x, const Piece *p) {
  Tirc *c = x->c;
  const Expr var = block_of(x)->iters[x->iter].var;
  const int n = x->store->u.store.n;
  PtrMap previous = {0};
  Analyzer *plain = tirc_analyzer(c);
  Expr *at = tirc_new_array(c, Expr, n + 1);
  tirc_map_set(c, &previous, var, tirc_sub(c, var, tirc_int(c, var->dtype, 1)));
  for (int i = 0; i < n; i++) {
    const Expr index = tirc_substitute(c, x->store->u.store.indices[i], &previous);
    at[i] = tirc_simplify(plain, tirc_substitute(c, index, &p->vars));
  }
  return tirc_load(c, x->store->u.store.buffer, n, at);
}

static Stmt make_scan(const Scan *x) {
  Tirc *c = x->c;
  const Block *b = block_of(x);
  const Piece p = over_pieces(x, ITER_SPATIAL, true, ITER_SCAN);
  const Stmt store = tirc_substitute_stmt(c, x->store, &p.vars);
  const Expr goes_on = tirc_lt(c, tirc_int(c, p.step->dtype, 0), p.step);
  const Expr before =
      chosen(x, goes_on, load_before(x, &p), tirc_load(c, x->begin, p.at.n, p.at.at));
  const Expr in = tirc_substitute(c, x->x, &p.vars);
  const Expr value = x->n_before ? combined(x, in, before) : combined(x, before, in);
  return block_with(
      x, &p, b, b->name, b->predicate, NULL,
      tirc_store(c, store->u.store.buffer, store->u.store.n, store->u.store.indices, value));
}

/* In copies of the loops of the scan, or of the outer one alone. */
static Stmt in_loops(const Scan *x, Stmt s, bool steps) {
  const SRef *const loops[2] = {x->steps, x->loop};
  PtrMap vars = {0};
  for (int i = steps ? 0 : 1; i < 2; i++) {
    const For *f = tirc_loop_of(loops[i]);
    const Expr var = tirc_var(x->c, f->var->u.s, f->var->dtype);
    tirc_map_set(x->c, &vars, f->var, var);
    s = tirc_for_serial(x->c, var, f->extent, s);
  }
  return tirc_substitute_stmt(x->c, s, &vars);
}

void tirc_prim_factor_scan(Sched *s, const Value *args, Value *result) {
  Tirc *c = s->c;
  Scan x = {.s = s, .c = c, .loop = tirc_sref_of_value(s, args[0])};
  require_loops(&x);
  SRef *scope = tirc_require_scope_root(s, x.block, false);
  find_iter(&x);
  require_binding(&x);
  split_predicate(&x);
  read_body(&x);
  x.total = buffer_of_pieces(&x, "total");
  x.begin = buffer_of_pieces(&x, "begin");
  StrMap names = {0};
  const char *name = tirc_name_of(x.block);
  const int func = x.block->func;
  Stmt total =
      make_total(&x, tirc_free_block_name(s, func, tirc_format(c, "%s_total", name), &names));
  Stmt begin =
      make_begin(&x, tirc_free_block_name(s, func, tirc_format(c, "%s_begin", name), &names));
  const uint32_t ids[2] = {total->u.block.id, begin->u.block.id};
  Stmt parts[3] = {in_loops(&x, total, true), in_loops(&x, begin, false),
                   tirc_replace_stmt(c, x.loop->stmt, x.block->stmt, make_scan(&x))};
  const Buffer own[2] = {x.total, x.begin};
  Stmt body = tirc_replace_node(s, tirc_body_of(scope->stmt), x.loop, tirc_seq(c, 3, parts));
  tirc_sched_replace(s, scope, tirc_with_allocs(c, scope->stmt, body, 2, own));
  *result = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int i = 0; i < 2; i++) tirc_value_append(c, *result, tirc_value_block(ids[i]));
}
