/* Does a tile of the program compute what a description says? Both are walked side by side, as
 * TVM's TensorizeComparator does:
 *
 *   variables that are bound at the same place are the same;
 *   a buffer of the description stands for a box of a buffer of the program, found in the regions
 * of the outermost blocks; it may have fewer dimensions, then the first ones are fixed; an index of
 * the program minus the box's start must equal the description's index; all else must be equal node
 * by node. Indices may differ in their integer type.
 *
 * Besides what the reference compares: the fixed dimensions of every access, the inits of inner
 * blocks, and the types that values are cast to. */
#include "tensor_intrin.h"

#include "ir/tree/print.h"
#include "passes/schedule/shape/shape.h"

typedef struct Matcher {
  Sched *s;
  Tirc *c;
  Analyzer *equal; /* variables of the tile are those of the description */
  Analyzer *tile;  /* knows the tile's iterators */
  PtrMap vars;     /* from a variable of the tile to the description's */
  PtrMap boxes;    /* from a buffer of the description to its TileBuffer */
  VEC(TileBuffer) buffers;
  bool init_moved; /* the tile's init has moved out of it */
  const char *why;
} Matcher;

static bool differ(Matcher *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool differ(Matcher *m, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (!m->why) m->why = tirc_vformat(m->c, format, args);
  va_end(args);
  return false;
}

static bool match_expr(Matcher *m, Expr x, Expr y);
static bool match_stmt(Matcher *m, Stmt x, Stmt y);

static bool define(Matcher *m, Expr x, Expr y) {
  Expr known = tirc_map_get(&m->vars, x);
  if (known) return known == y;
  tirc_map_set(m->c, &m->vars, x, y);
  if (x->dtype.code != TYPE_HANDLE) tirc_bind_value(m->equal, x, tirc_cast(m->c, x->dtype, y));
  return true;
}

static bool same_index(Matcher *m, Expr x, Expr y) {
  return tirc_prove_equal(m->equal, x, tirc_cast(m->c, x->dtype, y));
}

/* --- buffers ---------------------------------------------------------------------------------- */

static bool match_buffer(Matcher *m, Buffer x, Buffer y, TileBuffer **out) {
  *out = NULL;
  for (int i = 0; i < m->buffers.n; i++)
    if (m->buffers.at[i].desc == y) *out = &m->buffers.at[i];
  if (*out)
    return (*out)->tile == x ||
           differ(m, "%s stands for %s and for %s", y->name, (*out)->tile->name, x->name);
  if (!tirc_dtype_equal(x->dtype, y->dtype) || strcmp(x->scope, y->scope) != 0)
    return differ(m, "%s is %s in scope \"%s\", and %s is %s in scope \"%s\"", x->name,
                  tirc_dtype_name(m->c, x->dtype), x->scope, y->name,
                  tirc_dtype_name(m->c, y->dtype), y->scope);
  if (!define(m, x->data, y->data))
    return differ(m, "%s would stand for two buffers of the description", x->name);
  vec_push(m->c, m->buffers, ((TileBuffer){y, x, NULL}));
  *out = &m->buffers.at[m->buffers.n - 1];
  return true;
}

static bool fixed_dims(Matcher *m, const TileBuffer *b, const Expr *at, int n) {
  for (int i = 0; i < n; i++)
    if (!tirc_prove_equal(m->tile, b->base[i], at[i]))
      return differ(m, "%s is used at %s in dimension %d, and the tile is at %s", b->tile->name,
                    tirc_print_expr(m->c, at[i]), i, tirc_print_expr(m->c, b->base[i]));
  return true;
}

static bool match_region(Matcher *m, Region x, Region y) {
  TileBuffer *b;
  if (!match_buffer(m, x.buffer, y.buffer, &b)) return false;
  int skip = x.buffer->ndim - y.buffer->ndim;
  if (skip < 0)
    return differ(m, "%s has %d dimensions, and %s has %d", x.buffer->name, x.buffer->ndim,
                  y.buffer->name, y.buffer->ndim);
  Expr *mins = tirc_new_array(m->c, Expr, x.buffer->ndim + 1);
  for (int i = 0; i < x.buffer->ndim; i++) {
    mins[i] = x.dims[i].min;
    bool equal = i < skip ? tirc_is_int(x.dims[i].extent, 1)
                          : same_index(m, x.dims[i].extent, y.dims[i - skip].extent);
    if (!equal)
      return differ(m, "the tile uses %s, and the description %s", tirc_print_region(m->c, x),
                    tirc_print_region(m->c, y));
  }
  bool first = !b->base;
  if (first) {
    Expr *base = tirc_new_array(m->c, Expr, x.buffer->ndim + 1);
    for (int i = 0; i < x.buffer->ndim; i++)
      base[i] =
          i < skip ? mins[i]
                   : tirc_simplify(m->tile,
                                   tirc_sub(m->c, mins[i],
                                            tirc_cast(m->c, mins[i]->dtype, y.dims[i - skip].min)));
    b->base = base;
    return true;
  }
  if (!fixed_dims(m, b, mins, skip)) return false;
  for (int i = skip; i < x.buffer->ndim; i++)
    if (!same_index(m, tirc_simplify(m->tile, tirc_sub(m->c, mins[i], b->base[i])),
                    y.dims[i - skip].min))
      return differ(m, "the tile uses %s, and the description %s", tirc_print_region(m->c, x),
                    tirc_print_region(m->c, y));
  return true;
}

static bool match_regions(Matcher *m, const char *what, int n, const Region *x, int k,
                          const Region *y) {
  if (n != k)
    return differ(m, "the tile's block %s %d regions, and the description's %d", what, n, k);
  for (int i = 0; i < n; i++)
    if (!match_region(m, x[i], y[i])) return false;
  return true;
}

static bool match_access(Matcher *m, Buffer bx, int n, const Expr *x, Buffer by, int k,
                         const Expr *y) {
  TileBuffer *b;
  if (!match_buffer(m, bx, by, &b)) return false;
  int skip = n - k;
  if (!b->base || skip < 0) return differ(m, "%s is not in the regions of the block", bx->name);
  if (!fixed_dims(m, b, x, skip)) return false;
  for (int i = 0; i < k; i++)
    if (!same_index(m, tirc_simplify(m->tile, tirc_sub(m->c, x[i + skip], b->base[i + skip])),
                    y[i]))
      return differ(m, "%s in dimension %d of %s is not the description's %s",
                    tirc_print_expr(m->c, x[i + skip]), i + skip, bx->name,
                    tirc_print_expr(m->c, y[i]));
  return true;
}

/* --- expressions ------------------------------------------------------------------------------ */

static bool same_type(Expr x, Expr y) {
  bool index = x->dtype.code == TYPE_INT && y->dtype.code == TYPE_INT && x->dtype.bits >= 32 &&
               y->dtype.bits >= 32 && x->dtype.lanes == y->dtype.lanes;
  return tirc_dtype_equal(x->dtype, y->dtype) || (index && x->op != OP_CAST);
}

static bool match_node(Matcher *m, Expr x, Expr y) {
  if (x->op != y->op || x->n != y->n || !same_type(x, y)) return false;
  switch (x->op) {
  case OP_VAR: return tirc_map_get(&m->vars, x) == y;
  case OP_INT:
  case OP_LARGE_UINT: return x->u.i == y->u.i;
  case OP_FLOAT: return memcmp(&x->u.f, &y->u.f, sizeof x->u.f) == 0;
  case OP_STRING: return strcmp(x->u.s, y->u.s) == 0;
  case OP_LOAD: return match_access(m, x->u.buffer, x->n, x->args, y->u.buffer, y->n, y->args);
  case OP_LET:
    return match_expr(m, x->args[1], y->args[1]) && define(m, x->args[0], y->args[0]) &&
           match_expr(m, x->args[2], y->args[2]);
  case OP_CALL:
    if (x->u.callee != y->u.callee) return false;
    break;
  default: break;
  }
  for (int i = 0; i < x->n; i++)
    if (!match_expr(m, x->args[i], y->args[i])) return false;
  return true;
}

static bool match_expr(Matcher *m, Expr x, Expr y) {
  if (x->op == OP_LOAD && y->op == OP_LOAD)
    return match_access(m, x->u.buffer, x->n, x->args, y->u.buffer, y->n, y->args);
  return x == y || match_node(m, x, y) ||
         differ(m, "%s is not the description's %s", tirc_print_expr(m->c, x),
                tirc_print_expr(m->c, y));
}

/* --- statements ------------------------------------------------------------------------------- */

static bool match_loop(Matcher *m, const For *x, const For *y) {
  if (!define(m, x->var, y->var))
    return differ(m, "loop %s is not the description's %s", x->var->u.s, y->var->u.s);
  if (!match_expr(m, x->min, y->min) || !match_expr(m, x->extent, y->extent)) return false;
  if (x->kind != y->kind || !x->thread != !y->thread ||
      (x->thread && strcmp(x->thread, y->thread) != 0))
    return differ(m, "loop %s is %s, and the description's %s is %s", x->var->u.s,
                  tirc_loop_kind_name(x->kind), y->var->u.s, tirc_loop_kind_name(y->kind));
  bool same = x->annotations.n == y->annotations.n;
  for (int i = 0; same && i < x->annotations.n; i++) {
    Expr other = tirc_attrs_get(y->annotations, x->annotations.at[i].key);
    same = other && match_expr(m, x->annotations.at[i].value, other);
  }
  if (!same)
    return differ(m, "loop %s has other annotations than the description's %s", x->var->u.s,
                  y->var->u.s);
  return match_stmt(m, x->body, y->body);
}

static bool match_inits(Matcher *m, const Block *x, const Block *y) {
  if (!x->init && !y->init) return true;
  if (x->init && y->init) return match_stmt(m, x->init, y->init);
  if (y->init && m->init_moved) return true;
  return differ(m, "block %s has %s init, and the description's block %s has %s", x->name,
                x->init ? "an" : "no", y->name, y->init ? "one" : "none");
}

static bool match_block(Matcher *m, const Block *x, const Block *y) {
  if (x->n_iters != y->n_iters)
    return differ(m, "block %s has %d iterators, and the description's block %s has %d", x->name,
                  x->n_iters, y->name, y->n_iters);
  for (int i = 0; i < x->n_iters; i++)
    if (!match_expr(m, x->iter_values[i], y->iter_values[i])) return false;
  if (!match_expr(m, x->predicate, y->predicate)) return false;
  for (int i = 0; i < x->n_iters; i++) {
    tirc_bind_range(m->tile, x->iters[i].var, x->iters[i].dom);
    if (x->iters[i].kind != y->iters[i].kind || !define(m, x->iters[i].var, y->iters[i].var))
      return differ(m, "iterator %s of block %s is %s, and the description's %s is %s",
                    x->iters[i].var->u.s, x->name, tirc_iter_kind_name(x->iters[i].kind),
                    y->iters[i].var->u.s, tirc_iter_kind_name(y->iters[i].kind));
  }
  if (x->n_allocs || y->n_allocs || x->n_matches || y->n_matches)
    return differ(m, "block %s or the description's block %s has buffers or views of its own",
                  x->name, y->name);
  return match_regions(m, "writes", x->n_writes, x->writes, y->n_writes, y->writes) &&
         match_regions(m, "reads", x->n_reads, x->reads, y->n_reads, y->reads) &&
         match_inits(m, x, y) && match_stmt(m, x->body, y->body);
}

static bool match_stmt(Matcher *m, Stmt x, Stmt y) {
  if (x->kind != y->kind)
    return differ(m, "where the description has another kind of statement, the tile has\n%s",
                  tirc_print_stmt(m->c, x, m->s->mod->dialect));
  switch (x->kind) {
  case STMT_FOR: return match_loop(m, &x->u.loop, &y->u.loop);
  case STMT_BLOCK: return match_block(m, &x->u.block, &y->u.block);
  case STMT_SEQ:
    if (x->u.seq.n != y->u.seq.n)
      return differ(m, "there are %d statements where the description has %d", x->u.seq.n,
                    y->u.seq.n);
    for (int i = 0; i < x->u.seq.n; i++)
      if (!match_stmt(m, tirc_item(x, i), tirc_item(y, i))) return false;
    return true;
  case STMT_STORE:
    return match_access(m, x->u.store.buffer, x->u.store.n, x->u.store.indices, y->u.store.buffer,
                        y->u.store.n, y->u.store.indices) &&
           match_expr(m, x->u.store.value, y->u.store.value);
  case STMT_EVAL: return match_expr(m, x->u.eval.value, y->u.eval.value);
  case STMT_IF:
    return match_expr(m, x->u.branch.cond, y->u.branch.cond) &&
           match_stmt(m, x->u.branch.then_case, y->u.branch.then_case) &&
           !x->u.branch.else_case == !y->u.branch.else_case &&
           (!x->u.branch.else_case || match_stmt(m, x->u.branch.else_case, y->u.branch.else_case));
  default:
    return differ(m,
                  "a description is made of loops, blocks, stores and conditions; the tile has\n%s",
                  tirc_print_stmt(m->c, x, m->s->mod->dialect));
  }
}

/* An init that stands in the tile's own block runs before the body, once, when the block has no
 * reduction left outside. Then it is of no matter whether the implementation starts anew. */
static bool starts_anew(const Block *b) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_REDUCE && !tirc_is_int(b->iters[i].dom.extent, 1)) return false;
  return b->init != NULL;
}

static Matcher match(Sched *s, Stmt tile, Stmt desc, bool *equal) {
  Matcher m = {.s = s, .c = s->c, .equal = tirc_analyzer(s->c), .tile = tirc_analyzer(s->c)};
  const Block *x = &tile->u.block, *y = &desc->u.block;
  m.init_moved = starts_anew(x);
  tirc_bind_iters(m.tile, x);
  /* a condition of loops outside lets the tile run whole, or not at all */
  *equal = (tirc_is_true(y->predicate) || match_expr(&m, x->predicate, y->predicate)) &&
           match_regions(&m, "writes", x->n_writes, x->writes, y->n_writes, y->writes) &&
           match_regions(&m, "reads", x->n_reads, x->reads, y->n_reads, y->reads) &&
           match_stmt(&m, x->body, y->body);
  return m;
}

const char *tirc_match_tile(Sched *s, Stmt tile, const Func *desc, TileMatch *out) {
  bool equal;
  Matcher m = match(s, tile, desc->body, &equal);
  const char *why = equal ? NULL : m.why ? m.why : "the two differ";
  if (!equal) /* as written, or both simplified: v // 8 is 0 in a tile of 8 */
    m = match(s, tirc_simplify_stmt(tirc_analyzer(s->c), tile, false),
              tirc_simplify_stmt(tirc_analyzer(s->c), desc->body, false), &equal);
  *out = (TileMatch){m.buffers.n, m.buffers.at};
  return equal ? NULL : why;
}
