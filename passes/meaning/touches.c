#include "touches.h"

#include "ir/tree/atomic.h"

#include "ir/arith/access.h"
#include "ir/arith/box.h"
#include "ir/arith/init_part.h"
#include "ir/tree/find.h"
#include "ir/tree/print.h"
#include "ir/tree/views.h"
#include "sums.h"

/* --- the way ---------------------------------------------------------------------------------- */

typedef struct Walk {
  Extract *x;
  Tirc *c;
  Place *at;
  int *time; /* the next statement's, in the loop around */
  Stmt block;
  bool init;
  Stmt inner, stmt;
  bool address; /* a call takes it of what comes next */
  bool untold;  /* as of a touch */
} Walk;

Place *tirc_place_further(Tirc *c, Place *up, Place p) {
  Place *out = tirc_copy(c, &p, 1);
  out->up = up;
  out->n_loops = (up ? up->n_loops : 0) + (p.kind == PLACE_LOOP && !p.outside);
  return out;
}

/* Conditions one by one: of those that cannot be known the others remain. */
Place *tirc_place_when(Tirc *c, Place *up, Expr condition, bool negated) {
  if (condition->op == OP_NOT) return tirc_place_when(c, up, condition->args[0], !negated);
  if (condition->op == (negated ? OP_OR : OP_AND)) {
    up = tirc_place_when(c, up, condition->args[0], negated);
    return tirc_place_when(c, up, condition->args[1], negated);
  }
  return tirc_is_true(condition) && !negated
             ? up
             : tirc_place_further(c, up, tirc_when_place(condition, negated));
}

Place *tirc_place_within(Tirc *c, Place *up, Expr value, Range dom) {
  up = tirc_place_when(c, up, tirc_binary(c, OP_LE, dom.min, value), false);
  return tirc_place_when(c, up, tirc_lt(c, value, tirc_add(c, dom.min, dom.extent)), false);
}

Place *tirc_place_loop(Tirc *c, Place *up, const For *loop) {
  return tirc_place_further(c, up, tirc_loop_place(loop->var, tirc_range(loop->min, loop->extent)));
}

static Place *into(Walk *w, Place *up, Expr condition, bool negated) {
  return tirc_place_when(w->c, up, condition, negated);
}

/* --- expressions ------------------------------------------------------------------------------ */

static void touch(Walk *w, Touch t) {
  if (w->x->wants && !w->x->wants(w->x->self, t.buffer)) return;
  t.at = w->at;
  t.time = *w->time;
  t.block = w->block;
  t.init = w->init;
  t.inner = w->inner;
  t.stmt = w->stmt;
  t.untold = w->untold;
  vec_push(w->c, w->x->touches, t);
}

Touch tirc_region_touch(Tirc *c, const Region *box) {
  const int n = box->buffer->ndim;
  Expr *from = tirc_new_array(c, Expr, n + 1), *extents = tirc_new_array(c, Expr, n + 1);
  for (int d = 0; d < n; d++) {
    from[d] = box->dims[d].min;
    extents[d] = box->dims[d].extent;
  }
  return (Touch){.buffer = box->buffer, .n = n, .indices = from, .extents = extents};
}

/* All of a region may be touched, or surely is. */
static void touch_box(Walk *w, const Region *box, bool read, bool written, bool surely) {
  Touch t = tirc_region_touch(w->c, box);
  t.surely = surely;
  t.load = tirc_load(w->c, box->buffer, t.n, t.indices);
  if (read) touch(w, t);
  t.write = true;
  t.load = NULL;
  if (written) touch(w, t);
}

static void walk_expr(Walk *w, Expr e);

static void touch_load(Walk *w, Expr e, bool address) {
  Touch t = {.buffer = e->u.buffer, .load = e, .address = address};
  const bool any = address && w->x->lowered;
  if (!any) t.n = e->n, t.indices = e->args;
  touch(w, t);
  if (any) touch(w, (Touch){.buffer = t.buffer, .write = true, .address = true});
}

/* A call that gets a buffer's address may use of it what the block around declares. (Where it is
 * trusted to store to that, walk_eval says so.) Outside of blocks nothing is declared: it is a
 * store to a buffer of that memory. */
static void touch_declared(Walk *w, Expr data) {
  const Block *b = w->inner ? &w->inner->u.block : NULL;
  if (w->x->lowered || (b && w->x->trusts_calls)) return;
  for (int i = 0; b && i < b->n_reads; i++)
    if (b->reads[i].buffer->data == data) touch_box(w, &b->reads[i], true, false, false);
  for (int i = 0; b && i < b->n_writes; i++) {
    const Region *written = &b->writes[i];
    w->untold = !b->init && !tirc_declared_read(b, written->buffer);
    for (int k = 0; k < b->n_iters; k++) w->untold &= !tirc_region_uses(written, b->iters[k].var);
    if (written->buffer->data == data) touch_box(w, written, b->init, true, false);
  }
  w->untold = false;
  if (b) return;
  struct BufferNode *any = tirc_new(w->c, struct BufferNode);
  *any = (struct BufferNode){.name = data->u.s, .data = data, .scope = "global"};
  touch(w, (Touch){.buffer = any, .write = true});
}

/* The element is read, and then stored to. */
static void touch_update(Walk *w, Expr e, const Atomic *a) {
  const bool alone = w->stmt && w->stmt->kind == STMT_EVAL && w->stmt->u.eval.value == e;
  const Expr place = a->place;
  for (int i = 0; i < place->n; i++) walk_expr(w, place->args[i]);
  if (a->compare) walk_expr(w, a->compare);
  walk_expr(w, a->value);
  Touch t = {.buffer = place->u.buffer,
             .n = place->n,
             .indices = place->args,
             .load = place,
             .update = alone ? e : NULL};
  touch(w, t);
  t.load = NULL;
  t.write = true;
  ++*w->time;
  touch(w, t);
}

static void walk_expr(Walk *w, Expr e) {
  Atomic update;
  if (tirc_atomic(e, &update)) {
    touch_update(w, e, &update);
    return;
  }
  Place *at = w->at;
  const Expr addressed = tirc_addressed(e);
  const bool address = w->address;
  const bool prefetches = tirc_calls(e, CALL_PREFETCH);
  w->address = false;
  if (prefetches && w->x->lowered) return;
  if (e->op == OP_AND || e->op == OP_OR) {
    walk_expr(w, e->args[0]);
    w->at = into(w, at, e->args[0], e->op == OP_OR);
    walk_expr(w, e->args[1]);
  } else if (e->op == OP_IF_THEN_ELSE) {
    walk_expr(w, e->args[0]);
    for (int k = 0; k < 2; k++) {
      w->at = into(w, at, e->args[0], k == 1);
      walk_expr(w, e->args[1 + k]);
    }
  } else if (e->op == OP_LET) {
    walk_expr(w, e->args[1]);
    w->at = tirc_place_further(w->c, at, tirc_bind_place(e->args[0], e->args[1]));
    walk_expr(w, e->args[2]);
  } else {
    for (int i = 0; i < e->n; i++) {
      w->address = prefetches || (e->op == OP_CALL && e->dtype.code == TYPE_HANDLE);
      walk_expr(w, e->args[i]);
    }
    if (e->op == OP_LOAD) touch_load(w, e, address);
    if (e->op == OP_VAR && e->dtype.code == TYPE_HANDLE) touch_declared(w, e);
    if (addressed) touch_declared(w, addressed->u.buffer->data);
  }
  w->at = at;
}

static void walk_alloc(Walk *w, Buffer b) {
  tirc_map_set(w->c, &w->x->own, b, b);
  for (int i = 0; i < b->ndim; i++) walk_expr(w, b->shape[i]);
}

/* --- statements ------------------------------------------------------------------------------- */

static void walk(Walk *w, Stmt s);

static void walk_below(Walk *w, Place p, Stmt body) {
  Place *at = w->at;
  w->at = tirc_place_further(w->c, at, p);
  walk(w, body);
  w->at = at;
}

static void walk_loop(Walk *w, const For *f) {
  int *time = w->time, inside = 0;
  walk_expr(w, f->min);
  walk_expr(w, f->extent);
  if (tirc_is_int(f->extent, 1) && !w->x->lowered) { /* one number less to reckon with */
    walk_below(w, tirc_bind_place(f->var, f->min), f->body);
    return;
  }
  Place p = tirc_loop_place(f->var, tirc_range(f->min, f->extent));
  p.time = *time;
  w->time = &inside;
  walk_below(w, p, f->body);
  w->time = time;
}

static void walk_either(Walk *w, Expr condition, Stmt yes, Stmt no) {
  Place *at = w->at;
  walk_expr(w, condition);
  w->at = into(w, at, condition, false);
  walk(w, yes);
  w->at = into(w, at, condition, true);
  if (no) walk(w, no);
  w->at = at;
}

/* What a call may do with a view whose address it gets. */
static void touch_opaque(Walk *w, const Opaques *opaque) {
  for (int i = 0; opaque && i < opaque->n; i++)
    touch_box(w, &opaque->at[i].shown, opaque->at[i].read, opaque->at[i].written, false);
}

static void walk_init(Walk *w, const Block *b, bool always) {
  Place *at = w->at;
  for (int i = 0; !always && i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_REDUCE)
      w->at = tirc_place_further(
          w->c, w->at, tirc_when_place(tirc_eq(w->c, b->iters[i].var, b->iters[i].dom.min), false));
  walk(w, b->init);
  w->at = at;
}

static void touch_views(Walk *w, const Block *b, bool behind) {
  if (!b->n_matches || !w->x->views) return;
  for (int i = 0; i < b->n_matches && !behind; i++)
    for (int d = 0; d < b->matches[i].source.buffer->ndim; d++) {
      walk_expr(w, b->matches[i].source.dims[d].min);
      walk_expr(w, b->matches[i].source.dims[d].extent);
    }
  w->x->views(w->x, w->at, b, behind);
}

/* What an iterator of a block stands for. */
static Place place_of(const Walk *w, const IterVar *iter, Expr value, bool loose) {
  if (!loose || tirc_is_int(iter->dom.extent, 1))
    return tirc_bind_place(iter->var, loose ? iter->dom.min : value);
  Place p = tirc_loop_place(iter->var, iter->dom);
  p.outside = w->x->instances >= INSTANCE_ANY;
  p.time = *w->time;
  return p;
}

/* An instance that stores to more than the body does runs where each iterator is in its domain. */
static void walk_init_part(Walk *w, const Block *b, bool always) {
  Place *at = w->at;
  for (int i = 0; i < b->n_iters; i++)
    w->at = tirc_place_within(w->c, w->at, b->iters[i].var, b->iters[i].dom);
  walk_init(w, b, always);
  w->at = at;
}

/* Of the block of the scope is of interest what is its init; `rest`: of the predicate. */
static void walk_parts(Walk *w, const Block *b, Expr rest, bool outermost) {
  const int n = outermost ? tirc_inits_by_hand(b) : 0;
  const bool always = outermost && w->x->instances == INSTANCE_STARTED;
  w->init |= outermost;
  if (b->init && tirc_is_true(rest)) walk_init(w, b, always);
  if (b->init && !tirc_is_true(rest)) walk_init_part(w, b, always);
  if (b->init) {
    w->init &= !outermost;
    walk_expr(w, rest);
    w->init |= outermost;
  }
  w->at = into(w, w->at, rest, false);
  for (int i = 0; i < n; i++) walk(w, tirc_item(b->body, i));
  w->init &= !outermost;
  if (!n) walk(w, b->body);
  for (int i = n; n && i < b->body->u.seq.n; i++) walk(w, tirc_item(b->body, i));
}

static void walk_block(Walk *w, Stmt s, bool outermost) {
  const Block *b = &s->u.block;
  const bool loose = outermost && w->x->instances != INSTANCES_BOUND;
  Place *at = w->at;
  const Stmt inner = w->inner;
  w->inner = s;
  const Expr starts = b->init ? tirc_init_part(w->c, b, b->predicate, false) : b->predicate;
  const Expr rest = b->init ? tirc_init_part(w->c, b, b->predicate, true) : tirc_bool(w->c, true);
  walk_expr(w, starts);
  w->at = into(w, at, starts, false);
  for (int i = 0; i < b->n_iters; i++) {
    walk_expr(w, b->iters[i].dom.min);
    walk_expr(w, b->iters[i].dom.extent);
    walk_expr(w, b->iter_values[i]);
    w->at = tirc_place_further(w->c, w->at, place_of(w, &b->iters[i], b->iter_values[i], loose));
  }
  for (int i = 0; i < b->n_allocs; i++) walk_alloc(w, b->allocs[i]);
  if (w->x->plain) touch_opaque(w, tirc_map_get(&w->x->plain->opaque, s));
  touch_views(w, b, false);
  walk_parts(w, b, rest, outermost);
  touch_views(w, b, true);
  w->at = at;
  w->inner = inner;
}

/* A block of the nest's scope, or one inside of it. */
static void enter_block(Walk *w, Stmt s) {
  if (w->block) {
    walk_block(w, s, false);
    return;
  }
  w->block = s;
  walk_block(w, tirc_map_get(&w->x->plain->blocks, s), true);
  w->block = NULL;
}

/* An address that a call gets. */
static bool is_pointer(const void *self, Expr e) {
  (void)self;
  return (e->op == OP_VAR && e->dtype.code == TYPE_HANDLE) || tirc_calls(e, CALL_ADDRESS_OF);
}

/* A call that gets an address is taken to store to all that its block declares to write. */
static void walk_eval(Walk *w, Expr e) {
  walk_expr(w, e);
  if (tirc_is_atomic(e)) return;
  if (!w->x->trusts_calls || !w->inner || !tirc_find_expr(e, is_pointer, NULL)) return;
  const Block *b = &w->inner->u.block;
  for (int i = 0; i < b->n_writes; i++) touch_box(w, &b->writes[i], false, true, true);
}

static void walk(Walk *w, Stmt s) {
  const Stmt outer = w->stmt;
  Stmt below;
  w->stmt = s;
  ++*w->time;
  switch (s->kind) {
  case STMT_FOR: walk_loop(w, &s->u.loop); break;
  case STMT_BLOCK: enter_block(w, s); break;
  case STMT_STORE:
    for (int i = 0; i < s->u.store.n; i++) walk_expr(w, s->u.store.indices[i]);
    walk_expr(w, s->u.store.value);
    ++*w->time; /* what is loaded, comes first */
    touch(w, (Touch){.buffer = s->u.store.buffer,
                     .write = true,
                     .n = s->u.store.n,
                     .indices = s->u.store.indices});
    break;
  case STMT_EVAL: walk_eval(w, s->u.eval.value); break;
  case STMT_IF:
    walk_either(w, s->u.branch.cond, s->u.branch.then_case, s->u.branch.else_case);
    break;
  case STMT_WHILE:
    walk_expr(w, s->u.loop_while.cond);
    walk_below(w, (Place){.kind = PLACE_REPEAT}, s->u.loop_while.body);
    break;
  case STMT_LET:
    walk_expr(w, s->u.let.value);
    walk_below(w, tirc_bind_place(s->u.let.var, s->u.let.value), s->u.let.body);
    break;
  default:
    if (s->kind == STMT_ALLOC) walk_alloc(w, s->u.alloc.buffer);
    if (s->kind == STMT_ATTR) walk_expr(w, s->u.attr.value);
    if (s->kind == STMT_ASSERT) walk_expr(w, s->u.check.cond);
    for (int i = 0; (below = tirc_below(s, i)); i++) walk(w, below);
  }
  w->stmt = outer;
}

/* --- the door --------------------------------------------------------------------------------- */

void tirc_extract(Extract *x, Place *at, Stmt block, Stmt inner, Stmt surrounds, Stmt s) {
  int time = 0;
  Walk w = {.x = x,
            .c = x->c,
            .at = at,
            .time = &time,
            .block = block,
            .inner = inner,
            .stmt = surrounds};
  walk(&w, s);
}

Place **tirc_place_loops(Tirc *c, Place *at) {
  const int n = at ? at->n_loops : 0;
  Place **loops = tirc_new_array(c, Place *, n + 1);
  for (Place *p = at; p && p->n_loops; p = p->up)
    if (p->kind == PLACE_LOOP) loops[p->n_loops - 1] = p;
  return loops;
}

typedef struct Uses {
  Tirc *c;
  PtrMap *vars;
} Uses;

static bool see_use(Visitor *v, Expr e) {
  const Uses *u = v->self;
  if (e->op == OP_VAR) tirc_map_set(u->c, u->vars, e, (void *)e);
  return true;
}

void tirc_add_used(Tirc *c, Expr e, PtrMap *used) {
  Uses u = {c, used};
  if (e) tirc_visit_expr(&(Visitor){.expr = see_use, .self = &u}, e);
}

static bool is_needed(const Place *p, const PtrMap *used, bool loosely) {
  int64_t n;
  if (p->kind == PLACE_WHEN && loosely && !p->outside) return tirc_uses_any(p->a, used);
  if (p->kind == PLACE_BIND) return tirc_map_has(used, p->var);
  return p->kind != PLACE_LOOP || p->outside || tirc_map_has(used, p->var) ||
         !tirc_const_int(p->b, &n) || n < 1;
}

/* From the inside out: what is needed is further out than what needs it. */
Place *tirc_place_of_used(Tirc *c, Place *at, PtrMap *used, bool loosely) {
  if (!at) return NULL;
  const bool needed = is_needed(at, used, loosely);
  if (needed) tirc_add_used(c, at->a, used);
  if (needed) tirc_add_used(c, at->b, used);
  Place *up = tirc_place_of_used(c, at->up, used, loosely);
  if (!needed || up == at->up) return needed ? at : up;
  Place thin = *at;
  thin.question = 0;
  return tirc_place_further(c, up, thin);
}

static bool same_place(const Place *a, const Place *b) {
  while (a && b && a != b && a->kind == b->kind && a->var == b->var && a->a == b->a &&
         a->b == b->b && a->negated == b->negated && a->outside == b->outside) {
    a = a->up;
    b = b->up;
  }
  return a == b;
}

Touch tirc_touch_of_used(Tirc *c, Touch t, PtrMap *used, bool loosely) {
  for (int d = 0; d < t.n; d++) {
    tirc_add_used(c, t.indices[d], used);
    tirc_add_used(c, t.extents ? t.extents[d] : NULL, used);
  }
  t.at = tirc_place_of_used(c, t.at, used, loosely);
  return t;
}

bool tirc_same_touch(const Touch *a, const Touch *b) {
  return a->buffer == b->buffer && a->n == b->n && !a->extents == !b->extents &&
         tirc_same_exprs(a->n, a->indices, b->indices) &&
         (!a->extents || tirc_same_exprs(a->n, a->extents, b->extents)) && same_place(a->at, b->at);
}

bool tirc_updates_commute(const Touch *a, const Touch *b) {
  return a->update && b->update && tirc_atomics_commute(a->update, b->update);
}

bool tirc_share_memory(Tirc *c, const Touches *of, const Touch **first, const Touch **second) {
  PtrMap written = {0};
  for (int i = 0; i < of->n; i++)
    if (of->at[i].write) tirc_map_set(c, &written, of->at[i].buffer->data, &of->at[i]);
  for (int i = 0; i < of->n; i++) {
    *first = tirc_map_get(&written, of->at[i].buffer->data);
    *second = &of->at[i];
    if (*first && (*first)->buffer != (*second)->buffer) return true;
  }
  return false;
}

const char *tirc_touch_text(Tirc *c, const Touch *t) {
  const char *what =
      tirc_print_expr(c, t->load ? t->load : tirc_load(c, t->buffer, t->n, t->indices));
  const int line = t->stmt->loc.line ? t->stmt->loc.line : t->inner ? t->inner->loc.line : 0;
  return line ? tirc_format(c, "%s (line %d)", what, line) : what;
}

/* --- views ------------------------------------------------------------------------------------ */

static bool is_address(const void *buffer, Expr e) {
  const struct BufferNode *b = buffer;
  const Expr addressed = tirc_addressed(e);
  return e == b->data || (addressed && addressed->u.buffer == b);
}

static bool takes_address(const Block *b, Buffer of) {
  return (b->init && tirc_find_expr_in(b->init, is_address, of)) ||
         tirc_find_expr_in(b->body, is_address, of);
}

typedef struct Search {
  Tirc *c;
  Plain *to;
  VEC(Opaques *) found; /* of the blocks as they stand, in the order of the text */
  int n;                /* given to the blocks without views */
} Search;

static bool find_opaque(Visitor *v, Stmt stmt) {
  Search *k = v->self;
  if (stmt->kind != STMT_BLOCK) return true;
  const Block *b = &stmt->u.block;
  Opaques *opaque = NULL;
  for (int i = 0; i < b->n_matches; i++) {
    const Region *shown = &b->matches[i].source;
    if (!takes_address(b, b->matches[i].buffer)) continue;
    const bool written = tirc_declared_write(b, shown->buffer);
    /* A sum with an init does not declare that it reads itself. */
    const bool read = tirc_declared_read(b, shown->buffer) || (b->init && written);
    if (!opaque) opaque = tirc_new(k->c, Opaques);
    vec_push(k->c, *opaque, ((Opaque){*shown, read, written}));
  }
  vec_push(k->c, k->found, opaque);
  return true;
}

static bool give_opaque(Visitor *v, Stmt stmt) {
  Search *k = v->self;
  if (stmt->kind == STMT_BLOCK) tirc_map_set(k->c, &k->to->opaque, stmt, k->found.at[k->n++]);
  return true;
}

void tirc_add_plain_block(Tirc *c, Stmt block, Plain *to) {
  Search k = {.c = c, .to = to};
  const Stmt at = tirc_without_views(c, block);
  tirc_map_set(c, &to->blocks, block, at);
  tirc_visit_stmts(block, find_opaque, &k);
  tirc_visit_stmts(at, give_opaque, &k);
}
