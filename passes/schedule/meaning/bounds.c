/* Is an access outside of its buffer?
 *
 *   for i in range(9):                      at i = 8
 *     B[i] = A[i]                           index 8 of A, whose extent is 8
 *
 * Of a program as it is written; what is told of, is proved: some instance reaches the access,
 * under all conditions around it, and its index is outside then. With symbolic sizes: for all of
 * them for which the access is reached at all, so that a buffer which callers make large enough is
 * none. */
#include "ir/tree/print.h"
#include "meaning.h"
#include "places.h"

typedef struct Outside {
  Sched *s;
  Tirc *c;
  SRef *root;      /* of the function */
  Analyzer *known; /* how loops and iterators vary */
  PtrMap places;   /* a variable -> where its range was made known */
  Extract x;
} Outside;

/* --- by sight --------------------------------------------------------------------------------- */

static void know(Outside *o, Place *p) {
  if (!p || (p->var && tirc_map_get(&o->places, p->var) == p)) return;
  know(o, p->up);
  if (!p->var) return;
  tirc_map_set(o->c, &o->places, p->var, p);
  if (p->kind == PLACE_LOOP) {
    tirc_bind_range(o->known, p->var, (Range){p->a, p->b});
    return;
  }
  const DType t = p->var->dtype;
  int64_t n;
  if (!tirc_dtype_is_int(t) || t.lanes != 1) return; /* no index is of it */
  if (p->a->op == OP_VAR || p->a->op == OP_INT) {
    tirc_bind_value(o->known, p->var, p->a);
    return;
  }
  /* Its ends and not its value, which would write out each let of a chain inside the next. */
  const Bound b = tirc_const_bound(o->known, p->a);
  if (b.min == TIRC_NEG_INF || b.max == TIRC_POS_INF || b.min > b.max ||
      __builtin_sub_overflow(b.max, b.min, &n) || n >= tirc_dtype_max(t))
    return;
  tirc_bind_range(o->known, p->var, (Range){tirc_int(o->c, t, b.min), tirc_int(o->c, t, n + 1)});
}

static bool is_inside(Outside *o, Expr index, Expr extent) {
  int64_t n;
  const Bound b = tirc_const_bound(o->known, index);
  if (b.min >= 0 && tirc_const_int(extent, &n)) return b.max < n;
  return b.min >= 0 && tirc_prove_lt(o->known, index, extent);
}

/* --- exactly ---------------------------------------------------------------------------------- */

static bool reads_memory_around(const Place *p) {
  while (p && !(p->a && tirc_reads_memory(p->a)) && !(p->b && tirc_reads_memory(p->b))) p = p->up;
  return p != NULL;
}

/* For which sizes a place is reached: of a set of instances, the parameters. */
static ZMap sizes_of(Sets *z, ZSet reached, int n) {
  return tirc_z_drop_in(z, tirc_z_map(z, reached, 0, NULL, NULL), 0, n);
}

static const char *instance_text(Outside *o, const Relations *r, Place *at, const ZPoint *p) {
  Text t = {.c = o->c};
  Place **loops = tirc_place_loops(o->c, at);
  for (int i = 0; i < p->n_params; i++)
    tirc_text_addf(&t, "%s%s = %lld", t.n ? ", " : "", tirc_param_text(r, p->params[i]),
                   (long long)p->of_params[i]);
  for (int i = 0; i < p->n_in; i++)
    tirc_text_addf(&t, "%s%s = %lld", t.n ? ", " : "", loops[i]->var->u.s, (long long)p->in[i]);
  return t.n ? tirc_format(o->c, ", at %s", t.at) : "";
}

static const char *message_of(Outside *o, const Relations *r, const Touch *t, int d, Place *at,
                              const ZPoint *p) {
  Tirc *c = o->c;
  const char *index = tirc_print_expr(c, t->indices[d]);
  const char *value = tirc_format(c, "%lld", (long long)p->out[0]);
  const char *block = t->inner ? tirc_format(c, " in block \"%s\"", t->inner->u.block.name) : "";
  return tirc_format(c, "index %s%s of dimension %d of buffer \"%s\" is outside of [0, %s)%s%s",
                     index, strcmp(index, value) ? tirc_format(c, " = %s", value) : "", d,
                     t->buffer->name, tirc_print_expr(c, t->buffer->shape[d]), block,
                     instance_text(o, r, at, p));
}

/* What is wrong with an index that is outside for sure; NULL: none is known to be. */
static const char *ask(Outside *o, const Touch *t, int d) {
  Tirc *c = o->c;
  PtrMap used = {0};
  tirc_add_used(c, t->indices[d], &used);
  tirc_add_used(c, t->buffer->shape[d], &used);
  Place *at = tirc_place_of_used(c, t->at, &used, false);
  if (reads_memory_around(at) || tirc_reads_memory(t->indices[d])) return NULL;
  const Expr lane = tirc_var(c, "lane", DT_INT32), index = tirc_lane_of(c, t->indices[d], lane);
  if (!index) return NULL;
  if (t->indices[d]->op == OP_RAMP) /* each lane is an instance of its own */
    at = tirc_lanes_place(c, at, lane, t->indices[d]->dtype.lanes);
  const Expr below = tirc_lt(c, index, tirc_int(c, index->dtype, 0));
  const Expr above = tirc_binary(c, OP_GE, index, t->buffer->shape[d]);
  Place *out = tirc_place_when(c, at, tirc_binary(c, OP_OR, below, above), false);
  Sets *z = tirc_sets_of(o->s);
  Relations r = *tirc_relations_in(o->s, o->root);
  const char *message = NULL;
  tirc_sets_begin(z, SETS_BUDGET);
  const ZSet outside = tirc_reached(&r, out), reached = tirc_reached(&r, at);
  const ZMap wrong = sizes_of(z, outside, out->n_loops);
  if (outside && at->is_exact && out->is_exact && tirc_z_is_empty(z, wrong) == ANSWER_NO &&
      tirc_z_is_subset(z, sizes_of(z, reached, at->n_loops), wrong) == ANSWER_YES) {
    bool exact = true;
    ZPoint point;
    const Touch asked = {.n = 1, .indices = &index, .at = out};
    const ZMap values = tirc_relation_of(&r, &asked, &exact);
    if (exact && tirc_z_sample(z, values, &point)) message = message_of(o, &r, t, d, out, &point);
  }
  tirc_sets_end(z);
  return message;
}

static const char *find_outside(Outside *o, const Touch *t) {
  const char *found = NULL;
  know(o, t->at);
  for (int d = 0; d < t->n && d < t->buffer->ndim && !found; d++)
    if (!is_inside(o, t->indices[d], t->buffer->shape[d]) && !t->address) found = ask(o, t, d);
  return found;
}

/* --- telling ---------------------------------------------------------------------------------- */

static Loc loc_of(const Touch *t) {
  return t->stmt->loc.line || !t->inner ? t->stmt->loc : t->inner->loc;
}

/* Whether another access of the statement is to the same buffer, of which was told. */
static bool is_told(const Touches *touches, int i, const bool *told) {
  const Touch *t = &touches->at[i];
  for (int k = i - 1; k >= 0; k--)
    if (told[k] && touches->at[k].stmt == t->stmt && touches->at[k].buffer == t->buffer)
      return true;
  return false;
}

static void check(Outside *o, const Telling *to) {
  const Touches *touches = &o->x.touches;
  bool *told = tirc_new_array(o->c, bool, touches->n + 1);
  for (int i = 0; i < touches->n; i++) {
    const Touch *t = &touches->at[i];
    const char *message = is_told(touches, i, told) ? NULL : find_outside(o, t);
    told[i] = message != NULL;
    if (message) to->tell(to->self, (Warning){CODE_OUT_OF_BOUNDS, loc_of(t), message});
  }
}

void tirc_accesses_outside(Telling *t) {
  Sched *s = t->s;
  for (int i = 0; i < s->mod->n_funcs; i++) {
    const Stmt body = s->mod->funcs[i]->body;
    if (!body) continue;
    SRef flat = {.stmt = body, .func = i}; /* of a function without a root block */
    Outside o = {.s = s, .c = s->c, .root = s->roots[i] ? s->roots[i] : &flat};
    o.known = tirc_analyzer(s->c);
    o.x = (Extract){.c = s->c};
    Place *at = tirc_place_around(s->c, o.root);
    const bool is_root = body->kind == STMT_BLOCK;
    tirc_extract(&o.x, at, body, is_root ? body : NULL, NULL, is_root ? body->u.block.body : body);
    check(&o, t);
  }
}

/* --- computed anew ---------------------------------------------------------------------------- */

/* What of an expression may fail where it is evaluated anew, as the bounds of a copy are: a load at
 * an index that is not inside of its buffer, a division by zero. The condition that kept it from
 * that may stay behind:
 *
 *   T.if_then_else(J[i] < 2, A[I[J[i]]], 0)         I, of two elements, is loaded at J[i]
 *
 * What runs there in any case may evaluate the same; then it fails no more than it did. */

typedef struct Sure {
  Tirc *c;
  Analyzer *a;
  Expr part;
  Buffer buffer; /* loaded at `part` in dimension d; NULL: the part itself is evaluated */
  int d;
  bool found;
} Sure;

static bool see_evaluated(Visitor *v, Expr e) {
  Sure *k = v->self;
  const bool loads = e->op == OP_LOAD && e->u.buffer == k->buffer;
  k->found |=
      k->buffer ? loads && tirc_expr_same(e->args[k->d], k->part) : tirc_expr_same(e, k->part);
  const bool chooses = e->op == OP_IF_THEN_ELSE || e->op == OP_AND || e->op == OP_OR;
  if (chooses) tirc_visit_expr(v, e->args[0]);
  return !k->found && !chooses && e->op != OP_CALL; /* of which an argument may be an address */
}

static bool see_run(Visitor *v, Stmt s) {
  Sure *k = v->self;
  PtrMap bindings = {0};
  switch (s->kind) {
  case STMT_FOR:
    tirc_visit_expr(v, s->u.loop.min);
    tirc_visit_expr(v, s->u.loop.extent);
    return !k->found && tirc_surely_some(k->a, s->u.loop.extent);
  case STMT_IF: tirc_visit_expr(v, s->u.branch.cond); return false;
  case STMT_WHILE: tirc_visit_expr(v, s->u.loop_while.cond); return false;
  case STMT_BLOCK:
    if (!tirc_is_true(s->u.block.predicate)) return false;
    tirc_bindings_of(k->c, s, &bindings);
    tirc_visit_stmt(v, tirc_substitute_stmt(k->c, s->u.block.body, &bindings));
    return false;
  default: return !k->found;
  }
}

static bool is_found(Sure k, Stmt run) {
  tirc_visit_stmt(&(Visitor){.expr = see_evaluated, .stmt = see_run, .self = &k}, run);
  return k.found;
}

bool tirc_surely_loads_at(Tirc *c, Analyzer *a, Stmt run, Buffer b, int d, Expr index) {
  return is_found((Sure){.c = c, .a = a, .part = index, .buffer = b, .d = d}, run);
}

typedef struct Failing {
  Sched *s;
  const SRef *at;
  Analyzer *a;
  Stmt run;
} Failing;

static bool is_moving(const void *self, Expr e) {
  const Failing *k = self;
  return e->op == OP_VAR && (tirc_is_bound_around(k->at, e) || tirc_map_has(&k->s->loops, e));
}

static bool may_be_zero(const Failing *k, Expr divisor) {
  const Expr zero = tirc_int(k->s->c, divisor->dtype, 0);
  return tirc_find_expr(divisor, is_moving, k) && !tirc_prove_lt(k->a, zero, divisor) &&
         !tirc_prove_lt(k->a, divisor, zero);
}

static bool may_be_outside(const Failing *k, Expr load) {
  for (int i = 0; i < load->n; i++)
    if (!tirc_surely_indexes(k->a, load->args[i], load->u.buffer->shape[i])) return true;
  return false;
}

static bool may_fail(const void *self, Expr e) {
  const Failing *k = self;
  const bool fails =
      tirc_divides(e) ? may_be_zero(k, e->args[1]) : e->op == OP_LOAD && may_be_outside(k, e);
  return fails && !(k->run && is_found((Sure){.c = k->s->c, .a = k->a, .part = e}, k->run));
}

Expr tirc_failing_part(Sched *s, const SRef *at, Analyzer *a, Expr e, Stmt run) {
  return tirc_find_expr(e, may_fail, &(Failing){s, at, a, run});
}

const char *tirc_how_it_fails(Tirc *c, Expr part) {
  return part->op == OP_LOAD ? tirc_format(c, "read outside of %s", part->u.buffer->name)
                             : "divide by zero";
}
