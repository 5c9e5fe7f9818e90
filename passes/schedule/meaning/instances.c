/* Does a block call an iterator spatial whose instances depend on each other?
 *
 *   for i in range(7):
 *     with T.block("A"):
 *       vi = T.axis.spatial(7, i)
 *       A[vi + 1] = A[vi] + T.float32(1)     # instance i reads what instance i - 1 stored
 *
 * First by sight: a buffer of which all accesses have each spatial iterator in the same place is
 * used by each instance alone. That is nearly every block there is. apart.c answers for the others.
 * Opaque and scan iterators keep the order of their instances: their loops stand still.
 *
 * Nobody looks at what is left in a scratch buffer, which is allocated outside of all of this:
 *
 *   for i in range(7):
 *     with T.block("A"):
 *       vi = T.axis.spatial(7, i)
 *       t[0] = B[vi]                         # each instance for itself
 *       A[vi] = t[0] * t[0]
 */
#include "ir/tree/int_op.h"
#include "meaning.h"
#include "passes/meaning/asked.h"
#include "places.h"

typedef struct Instances {
  Sched *s;
  SRef *block;
  Plain plain;
  Extract x;
  int n; /* spatial iterators */
  Expr *names, *values;
} Instances;

/* --- sight ------------------------------------------------------------------------------------ */

bool tirc_is_own_place(Expr index, Expr var) {
  if (index == var) return true;
  bool moved = index->op == OP_ADD || index->op == OP_SUB || index->op == OP_MUL;
  return moved && index->n == 2 && index->args[0] == var && index->args[1]->op == OP_INT &&
         !(index->op == OP_MUL &&
           (tirc_is_int(index->args[1], 0) || tirc_dtype_wraps(index->dtype)));
}

static bool is_moving(const IterVar *iter) {
  return iter->kind == ITER_SPATIAL && !tirc_is_int(iter->dom.extent, 1);
}

/* Whether the iterator stands alone in this dimension of all accesses to the buffer. */
static bool is_place_in(const Extract *x, Buffer b, int d, Expr var) {
  Expr index = NULL;
  for (int i = 0; i < x->touches.n; i++) {
    const Touch *t = &x->touches.at[i];
    if (t->buffer != b) continue;
    if (t->extents || (index && !tirc_expr_same(index, t->indices[d]))) return false;
    index = t->indices[d];
  }
  return tirc_is_own_place(index, var);
}

static bool is_safe(const Instances *k, Buffer b) {
  const Block *block = tirc_block_of(k->block);
  for (int i = 0; i < block->n_iters; i++) {
    int d = 0;
    if (!is_moving(&block->iters[i])) continue;
    while (d < b->ndim && !is_place_in(&k->x, b, d, block->iters[i].var)) d++;
    if (d == b->ndim) return false;
  }
  return true;
}

/* --- the question ----------------------------------------------------------------------------- */

/* Whether the loop moves iterators that keep the order of their instances. */
static bool is_ordered(const Block *b, Expr loop) {
  return tirc_kinds_moved(b, loop) & ~(1u << ITER_SPATIAL | 1u << ITER_REDUCE);
}

/* All accesses of the block, as its loops move: none from `still` (NULL: the scope) outwards, and
 * where that is to be certain, none of an extent that is loaded. */
static Iterations extract(Instances *k, const SRef *still, bool certain) {
  const Block *b = tirc_block_of(k->block);
  PtrMap moves = {0};
  SRef *nest = NULL;
  Iterations of = {.x = &k->x, .n = k->n, .names = k->names, .values = k->values};
  of.spared = certain ? SPARE_UNCERTAIN : SPARE_NONE;
  for (SRef *r = k->block->parent; r && tirc_is_loop(r) && r != still; r = r->parent) {
    const For *f = tirc_loop_of(r);
    if (is_ordered(b, f->var) || (certain && tirc_reads_memory(f->extent))) continue;
    tirc_map_set(k->s->c, &moves, r, r);
    nest = r;
    of.n_around++;
  }
  k->x = (Extract){.c = k->s->c, .plain = &k->plain, .instances = k->x.instances};
  tirc_extract_block(&k->x, k->block, &moves);
  if (nest) of.in = tirc_relations_in(k->s, nest);
  return of;
}

/* False: nothing moves. */
static bool begin(Instances *k) {
  const Block *b = tirc_block_of(k->block);
  bool moves = false;
  k->names = tirc_new_array(k->s->c, Expr, b->n_iters + 1);
  k->values = tirc_new_array(k->s->c, Expr, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind != ITER_SPATIAL) continue;
    k->names[k->n] = b->iters[i].var;
    k->values[k->n++] = b->iter_values[i];
    moves |= is_moving(&b->iters[i]);
  }
  if (moves) k->plain = tirc_plain_blocks(k->s, (SRefs){&k->block, 1, 1});
  return moves;
}

/* What is left in a buffer of the block alone, nobody reads. */
static WatchKind watch_kind(const Instances *k, Buffer b) {
  return tirc_is_used_besides(k->block, b) ? WATCH_ALL : WATCH_READS;
}

/* The buffers in which instances may meet, each once. */
static int unsafe_stores(const Instances *k, Watched **out) {
  const Touches *touches = &k->x.touches;
  VEC(Watched) v = {0};
  for (int i = 0; i < touches->n; i++) {
    const Buffer b = touches->at[i].buffer;
    bool seen = !touches->at[i].write;
    for (int j = 0; j < v.n; j++) seen |= v.at[j].buffer == b;
    if (!seen && !is_safe(k, b)) vec_push(k->s->c, v, ((Watched){b, watch_kind(k, b), true}));
  }
  *out = v.at;
  return v.n;
}

/* Whether any two instances that there may be use other elements, whatever binds the iterators:
 * fewer numbers than those of the loops. */
static bool are_apart(const Instances *k, int n, const Watched *watched) {
  Instances loose = *k;
  loose.values = loose.names;
  loose.x.instances = INSTANCES_ANY;
  const Iterations of = extract(&loose, NULL, false);
  return tirc_elements_apart(&of, n, watched);
}

static bool depend(Sched *s, SRef *block) {
  Instances k = {.s = s, .block = block};
  Watched *watched;
  Meet meet;
  if (!begin(&k)) return false;
  const Iterations of = extract(&k, NULL, false);
  const int n = unsafe_stores(&k, &watched);
  return n && of.in && !are_apart(&k, n, watched) && tirc_iterations_meet(&of, n, watched, &meet);
}

bool tirc_instances_depend(Sched *s, SRef *block) {
  if (block->asked == s->stamp) return block->instances_depend;
  const ArenaMark mark = tirc_mark(s->c);
  block->instances_depend = depend(s, block);
  block->asked = s->stamp;
  tirc_rewind(s->c, mark);
  return block->instances_depend;
}

/* --- telling ---------------------------------------------------------------------------------- */

/* "vi = 0, vj = 1": where two instances differ. */
static const char *instance_text(const Instances *k, const int64_t *of, const int64_t *besides) {
  Text t = {.c = k->s->c};
  for (int i = 0; i < k->n; i++)
    if (of[i] != besides[i])
      tirc_text_addf(&t, "%s%s = %lld", t.n ? ", " : "", k->names[i]->u.s, (long long)of[i]);
  return t.at;
}

/* An update of one element by all instances of an iterator is a reduction; so is what has an init
 * for the element. */
static bool is_sum_over(const Meet *meet, Expr var) {
  const Touch *x = meet->first, *y = meet->second;
  if (x->stmt != y->stmt || (!x->init && !x->load == !y->load)) return false;
  for (int d = 0; d < x->n; d++)
    if (!tirc_expr_same(x->indices[d], y->indices[d]) || tirc_uses_var(x->indices[d], var))
      return false;
  return true;
}

static const char *part_text(const Instances *k, const Touch *t, const int64_t *of,
                             const int64_t *besides) {
  return tirc_format(k->s->c, "%s is %s for %s", tirc_touch_text(k->s->c, t),
                     t->write ? "stored" : "read", instance_text(k, of, besides));
}

static Warning warning_of(const Instances *k, const Meet *meet) {
  Tirc *c = k->s->c;
  const int64_t *x = meet->of_first, *y = meet->of_second;
  int d = 0;
  while (x[d] == y[d]) d++;
  const char *first = part_text(k, meet->first, x, y), *second = part_text(k, meet->second, y, x);
  const Expr var = k->names[d];
  const bool sum = is_sum_over(meet, var);
  const char *message = tirc_format(
      c,
      "block %s declares its iterator %s spatial, but its instances depend on each other: %s, and "
      "%s; declare %s with %s%s",
      tirc_name_of(k->block), var->u.s, x[d] < y[d] ? first : second, x[d] < y[d] ? second : first,
      var->u.s, sum ? "T.axis.reduce" : "T.axis.scan", sum ? "" : ", which keeps their order");
  return (Warning){CODE_SPATIAL_DEPENDENCE, k->block->stmt->loc, message};
}

/* Whether it is allocated between `r` and what is around that. */
static bool is_made_around(Sched *s, SRef *r, Buffer b) {
  const Steps steps = tirc_steps_between(s->c, r);
  for (int i = 0; i < steps.n; i++)
    if (steps.at[i].stmt->kind == STMT_ALLOC && steps.at[i].stmt->u.alloc.buffer == b) return true;
  return false;
}

/* The innermost loop around that has all uses of the buffer in it: each of its iterations fills it
 * anew. The function's root: there is none. */
static const SRef *filled_in(const Instances *k, Buffer b) {
  SRef *r = k->block->parent;
  bool made = is_made_around(k->s, k->block, b);
  while (r->parent && (!tirc_is_loop(r) || (!made && tirc_is_used_besides(r, b)))) {
    made |= is_made_around(k->s, r, b);
    r = r->parent;
  }
  return r;
}

/* Of each buffer alone, for certain. */
static bool check(Instances *k, Meet *meet) {
  Watched *watched;
  (void)extract(k, NULL, true);
  const int n = unsafe_stores(k, &watched);
  for (int i = 0; i < n; i++) {
    const bool scratch = watched[i].kind == WATCH_READS;
    const Iterations of = extract(k, scratch ? NULL : filled_in(k, watched[i].buffer), true);
    if (of.in && tirc_iterations_meet(&of, 1, &watched[i], meet) && meet->witness) return true;
  }
  return false;
}

static bool check_block(Visitor *v, Stmt stmt) {
  const Telling *t = v->self;
  if (stmt->kind != STMT_BLOCK) return true;
  const ArenaMark mark = tirc_mark(t->s->c);
  Instances k = {.s = t->s, .block = tirc_sref_find(t->s, stmt)};
  Meet meet;
  if (!k.block) return true; /* in a T.init, which is no part of the tree */
  if (begin(&k) && check(&k, &meet))
    t->tell(t->self, warning_of(&k, &meet));
  else
    tirc_rewind(t->s->c, mark);
  return true;
}

void tirc_spatial_dependences(Telling *t) {
  tirc_visit_module(&(Visitor){.stmt = check_block, .expr = tirc_skip_expr, .self = t}, t->s->mod);
}
