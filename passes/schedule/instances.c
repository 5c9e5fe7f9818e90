/* Instances run one after the other on index arithmetic. Of each element is kept which instance
 * stored to it last and what, as a hash of the stored expression in which the loads are what their
 * elements hold, and who read it without having stored to it before. Two instances conflict when
 * one reads what the other one stores, or when they store different values.
 *
 * What is not known proves nothing: an access by an index that is loaded is followed only as far as
 * it may hide others, and so is one under a condition that is, unless what may happen counts, too.
 * Loops that decide neither which elements are used nor whether are run once. */
#include "instances.h"

#include "../../ir/print.h"
#include "../../ir/visit.h"

enum { FIRST_ELEMENTS = 256, MAX_CONSTANTS = 8 };

typedef struct Watch {
  Buffer buffer;
  WatchKind kind;
  bool ignored;
  uint64_t age; /* how often it was renewed */
} Watch;

/* Something that may not run, or one of two of which one does. */
typedef struct Branch {
  const struct Branch *up; /* NULL: it stands in what is certain to run */
  uint64_t id;             /* of both */
  bool second;
} Branch;

typedef struct Element {
  uint64_t key, value; /* key 0: none; what was stored last */
  uint64_t seen;       /* what it holds: that, or perhaps what was there before */
  uint64_t branch;     /* the last one that stored to it */
  uint64_t others;     /* what it held when the last instance before this one was done */
  Site others_store;
  const int64_t *others_by;  /* that instance; NULL: there was none */
  const int64_t *stored_by;  /* NULL: nobody */
  const int64_t *maybe_by;   /* under a condition that is not known, since then; NULL: nobody */
  const int64_t *read_by[2]; /* the first and the last that read before it stored */
  Site store, maybe, reads[2];
} Element;

void tirc_instances_open(Instances *r, Tirc *c, int n, int max_steps) {
  *r = (Instances){.c = c, .n = n, .steps = max_steps, .env = {.c = c}};
  r->at = tirc_new_array(c, int64_t, n + 1);
}

void tirc_instances_watch(Instances *r, Buffer b, WatchKind kind) {
  if (tirc_map_has(&r->watched, b)) return;
  Watch *w = tirc_new(r->c, Watch), *other = tirc_map_get(&r->by_data, b->data);
  *w = (Watch){.buffer = b, .kind = kind};
  if (other) w->ignored = other->ignored = true; /* two views of one memory */
  tirc_map_set(r->c, &r->watched, b, w);
  tirc_map_set(r->c, &r->by_data, b->data, w);
}

void tirc_instances_renew(Instances *r, Buffer b) {
  Watch *w = tirc_map_get(&r->watched, b);
  w->age++;
}

/* --- looking --------------------------------------------------------------------------------- */

static void ignore(Instances *r, Buffer b) {
  Watch *w = tirc_map_get(&r->by_data, b->data);
  if (w) w->ignored = true;
}

/* Whether what is done to the buffer, or to what it is a view of, is followed. */
static bool is_followed(const Instances *r, Buffer b) {
  for (const MatchBuffer *m; (m = tirc_map_get(&r->views, b));) b = m->source.buffer;
  return tirc_map_has(&r->watched, b);
}

static bool ignore_handles(Visitor *v, Expr e) {
  Instances *r = v->self;
  if (e->op == OP_VAR) {
    Watch *w = tirc_map_get(&r->by_data, e);
    if (w) w->ignored = true;
  }
  /* Another view of the same memory. */
  if (e->op == OP_LOAD && !is_followed(r, e->u.buffer)) ignore(r, e->u.buffer);
  if (e->op == OP_CALL && strcmp(e->u.s, "address_of") == 0)
    for (int i = 0; i < e->n; i++)
      if (e->args[i]->op == OP_LOAD) ignore(r, e->args[i]->u.buffer);
  return true;
}

/* A view has the last dimensions of what it is a view of. */
static void follow_view(Instances *r, const MatchBuffer *m) {
  Buffer source = m->source.buffer;
  Watch *w = tirc_map_get(&r->by_data, source->data);
  tirc_map_set(r->c, &r->views, m->buffer, m);
  if (!w) return;
  if (!is_followed(r, source) || m->buffer->ndim > source->ndim) w->ignored = true;
  tirc_map_set(r->c, &r->by_data, m->buffer->data, w);
}

/* A buffer of one instance: what it holds may be stored elsewhere. */
static void own(Instances *r, Buffer b) {
  Watch *w = tirc_map_get(&r->watched, b);
  if (w)
    w->kind = WATCH_VALUES;
  else
    tirc_instances_watch(r, b, WATCH_VALUES);
}

static bool ignore_owned(Visitor *v, Stmt s) {
  Instances *r = v->self;
  if (s->kind == STMT_ALLOC || s->kind == STMT_DECL) ignore(r, s->u.alloc.buffer);
  if (s->kind == STMT_STORE && !is_followed(r, s->u.store.buffer)) ignore(r, s->u.store.buffer);
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_allocs; i++) own(r, b->allocs[i]);
  for (int i = 0; i < b->n_matches; i++) follow_view(r, &b->matches[i]);
  return true;
}

static bool add_var(Visitor *v, Expr e) {
  Instances *r = v->self;
  if (e->op == OP_VAR && !tirc_map_has(&r->matters, e)) tirc_map_set(r->c, &r->matters, e, e);
  return true;
}

static void add_vars(Instances *r, Expr e) {
  tirc_visit_expr(&(Visitor){.expr = add_var, .self = r}, e);
}

static bool vars_of_loads(Visitor *v, Expr e) {
  Instances *r = v->self;
  if (e->op == OP_LOAD && is_followed(r, e->u.buffer))
    for (int i = 0; i < e->n; i++) add_vars(r, e->args[i]);
  if (e->op == OP_IF_THEN_ELSE || e->op == OP_SELECT) add_vars(r, e->args[0]);
  if (e->op == OP_LET && tirc_map_has(&r->matters, e->args[0])) add_vars(r, e->args[1]);
  return true;
}

static bool vars_of_stmt(Visitor *v, Stmt s) {
  Instances *r = v->self;
  if (s->kind == STMT_STORE && is_followed(r, s->u.store.buffer))
    for (int i = 0; i < s->u.store.n; i++) add_vars(r, s->u.store.indices[i]);
  if (s->kind == STMT_IF) add_vars(r, s->u.branch.cond);
  if (s->kind == STMT_FOR) {
    add_vars(r, s->u.loop.min);
    add_vars(r, s->u.loop.extent);
  }
  if (s->kind == STMT_LET && tirc_map_has(&r->matters, s->u.let.var)) add_vars(r, s->u.let.value);
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  add_vars(r, b->predicate);
  for (int i = 0; i < b->n_iters; i++)
    if (tirc_map_has(&r->matters, b->iters[i].var)) add_vars(r, b->iter_values[i]);
  for (int i = 0; i < b->n_matches; i++)
    for (int d = 0; d < b->matches[i].source.buffer->ndim; d++)
      if (is_followed(r, b->matches[i].buffer)) add_vars(r, b->matches[i].source.dims[d].min);
  return true;
}

bool tirc_instances_look(Instances *r, Stmt stmt) {
  Visitor v = {.expr = ignore_handles, .stmt = ignore_owned, .regions = true, .self = r};
  tirc_visit_stmt(&v, stmt);
  bool any = false;
  for (size_t i = 0; i < r->watched.cap; i++) {
    const Watch *w = r->watched.values[i];
    any |= w && !w->ignored && w->kind != WATCH_VALUES;
  }
  if (!any) return false;
  v.expr = vars_of_loads;
  v.stmt = vars_of_stmt;
  for (size_t before = (size_t)-1; before != r->matters.n;) {
    before = r->matters.n;
    tirc_visit_stmt(&v, stmt);
  }
  return true;
}

bool tirc_instances_matters(const Instances *r, Expr var) { return tirc_map_has(&r->matters, var); }

/* --- elements -------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15u;
  return a ^ a >> 29;
}

static Element *place_of(Element *table, uint64_t mask, uint64_t key) {
  uint64_t k = key & mask;
  while (table[k].key && table[k].key != key) k = (k + 1) & mask;
  return &table[k];
}

static Element *element(Instances *r, uint64_t key) {
  if (!r->table || r->used * 2 > r->mask) {
    uint64_t size = r->table ? (r->mask + 1) * 2 : FIRST_ELEMENTS;
    Element *grown = tirc_new_array(r->c, Element, size);
    for (uint64_t i = 0; r->table && i <= r->mask; i++)
      if (r->table[i].key) *place_of(grown, size - 1, r->table[i].key) = r->table[i];
    r->table = grown;
    r->mask = size - 1;
  }
  Element *e = place_of(r->table, r->mask, key);
  if (!e->key) {
    *e = (Element){.key = key, .value = key, .seen = key};
    r->used++;
  }
  return e;
}

static bool same(const Instances *r, const int64_t *a, const int64_t *b) {
  return a == b || memcmp(a, b, (size_t)r->n * sizeof *a) == 0;
}

static void conflict(Instances *r, const Watch *w, const int64_t *of_first, Site first,
                     Site second) {
  if (r->found) return;
  r->found = true;
  r->buffer = w->buffer;
  r->first = first;
  r->second = second;
  r->of_first = of_first;
  r->of_second = r->at;
}

/* Whether nothing certain can be said of what is done to the element now. */
static bool is_unsure(const Instances *r, const Element *e) {
  return !r->may && (r->branch || e->maybe_by);
}

static void read_element(Instances *r, const Watch *w, Element *e, Site site) {
  if (is_unsure(r, e) || (e->stored_by && same(r, e->stored_by, r->at))) return;
  if (w->kind >= WATCH_READS && e->stored_by) conflict(r, w, e->stored_by, e->store, site);
  if (w->kind >= WATCH_READS && e->maybe_by && !same(r, e->maybe_by, r->at))
    conflict(r, w, e->maybe_by, e->maybe, site);
  int k = e->read_by[0] != NULL;
  e->read_by[k] = r->at;
  e->reads[k] = site;
}

/* The branch that is still to be taken for the element to be stored to: where both store, it is the
 * one around. */
static const Branch *branch_of(const Instances *r, const Element *e) {
  const Branch *at = r->branch;
  return at && at->second && e->branch == at->id ? at->up : at;
}

/* The first store of an instance after others: these are done. */
static void note_others(const Instances *r, Element *e) {
  const bool certain = e->stored_by && !same(r, e->stored_by, r->at);
  const bool maybe = e->maybe_by && !same(r, e->maybe_by, r->at);
  if (!certain && !maybe) return;
  if ((e->stored_by && !certain) || (e->maybe_by && !maybe)) return;
  e->others = e->value;
  e->others_by = maybe ? e->maybe_by : e->stored_by;
  e->others_store = maybe ? e->maybe : e->store;
}

static void store_element(Instances *r, const Watch *w, Element *e, Site site, uint64_t value) {
  const bool certain = !is_unsure(r, e);
  for (int k = 0; k < 2 && certain; k++)
    if (w->kind >= WATCH_READS && e->read_by[k] && !same(r, e->read_by[k], r->at))
      conflict(r, w, e->read_by[k], e->reads[k], site);
  note_others(r, e);
  if (certain && (w->kind == WATCH_ALL || w->kind == WATCH_STORES) && e->others_by &&
      e->others != value)
    conflict(r, w, e->others_by, e->others_store, site);
  const Branch *branch = branch_of(r, e);
  e->value = value;
  e->seen = r->branch ? mix(e->seen, value) : value;
  e->branch = branch ? branch->id : 0;
  if (branch) {
    e->maybe_by = r->at;
    e->maybe = site;
  } else if (certain) {
    e->stored_by = r->at;
    e->store = site;
  }
}

/* --- values ---------------------------------------------------------------------------------- */

static uint64_t value_of(Instances *r, Stmt in, Expr e);

/* The watched buffer that this one is or is a view of; NULL: none. */
static Watch *watch_of(const Instances *r, Buffer b) {
  Watch *w = tirc_map_get(&r->by_data, b->data);
  return w && !w->ignored && is_followed(r, b) ? w : NULL;
}

/* A number for each element of each buffer, never 0; 0 when it is not known which it is. */
static uint64_t key_of(Instances *r, Buffer b, int n, const Expr *indices) {
  enum { MAX_DIMS = 16 };
  int64_t at[MAX_DIMS], start;
  if (n > MAX_DIMS) return 0;
  for (int d = 0; d < n; d++)
    if (!tirc_eval_index(&r->env, indices[d], &at[d])) return 0;
  for (const MatchBuffer *m; (m = tirc_map_get(&r->views, b)); b = m->source.buffer) {
    const int added = m->source.buffer->ndim - n;
    if (added < 0 || n + added > MAX_DIMS) return 0;
    for (int d = n + added - 1; d >= 0; d--) {
      if (!tirc_eval_index(&r->env, m->source.dims[d].min, &start)) return 0;
      at[d] = start + (d < added ? 0 : at[d - added]);
    }
    n += added;
  }
  const Watch *w = tirc_map_get(&r->watched, b);
  uint64_t key = (uint64_t)(uintptr_t)b;
  if (w && w->age) key = mix(key, w->age);
  for (int d = 0; d < n; d++) key = mix(key, (uint64_t)at[d]);
  return key | 1;
}

static uint64_t value_of_all(Instances *r, Stmt in, uint64_t value, int n, const Expr *at) {
  for (int i = 0; i < n; i++) value = mix(value, value_of(r, in, at[i]));
  return value;
}

static uint64_t load(Instances *r, Stmt in, Expr e) {
  uint64_t value = value_of_all(r, in, (uint64_t)(uintptr_t)e->u.buffer, e->n, e->args);
  uint64_t key = key_of(r, e->u.buffer, e->n, e->args);
  const Watch *w = watch_of(r, e->u.buffer);
  if (!key && r->may) key = value | 1;
  if (!key || !w) return key ? key : value;
  if (r->outside) return mix(value, key);
  Element *at = element(r, key);
  read_element(r, w, at, (Site){r->block, in, e});
  return at->seen;
}

/* One of two operands, or perhaps either. */
static uint64_t choose(Instances *r, Stmt in, Expr e) {
  bool holds;
  uint64_t value = value_of(r, in, e->args[0]);
  if (tirc_eval_condition(&r->env, e->args[0], &holds))
    return value_of(r, in, e->args[holds ? 1 : 2]);
  const Branch branch = {r->branch, ++r->branches, false};
  r->branch = &branch;
  value = value_of_all(r, in, value, 2, e->args + 1);
  r->branch = branch.up;
  return value;
}

/* A variable gets the value of an expression, as far as it is known. */
static uint64_t bind(Instances *r, Stmt in, Expr var, Expr value) {
  uint64_t hash = value_of(r, in, value), *held = tirc_map_get(&r->values, var);
  if (!held) tirc_map_set(r->c, &r->values, var, held = tirc_new(r->c, uint64_t));
  *held = hash;
  (void)tirc_eval_bind(&r->env, var, value);
  return hash;
}

void tirc_instances_give(Instances *r, Expr var, Expr value) {
  r->outside = true;
  (void)bind(r, NULL, var, value);
  r->outside = false;
}

static uint64_t let(Instances *r, Stmt in, Expr e) {
  const uint64_t value = bind(r, in, e->args[0], e->args[1]);
  return mix(value, value_of(r, in, e->args[2]));
}

static uint64_t value_of_leaf(const Instances *r, Expr e) {
  const uint64_t *bound = e->op == OP_VAR ? tirc_map_get(&r->values, e) : NULL;
  uint64_t value = mix((uint64_t)e->op, (uint64_t)e->dtype.code), bits;
  if (bound) return *bound;
  if (e->op == OP_VAR || e->op == OP_CALL || e->op == OP_STRING)
    value = mix(value, (uint64_t)(uintptr_t)(e->op == OP_VAR ? (const void *)e : e->u.s));
  if (e->op == OP_FLOAT) {
    memcpy(&bits, &e->u.f, sizeof bits);
    value = mix(value, bits);
  }
  return value;
}

static uint64_t value_of(Instances *r, Stmt in, Expr e) {
  int64_t known;
  if (e->op == OP_LOAD) return load(r, in, e);
  if (e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE) return choose(r, in, e);
  if (e->op == OP_LET) return let(r, in, e);
  if (tirc_dtype_is_int(e->dtype) && tirc_eval_index(&r->env, e, &known))
    return mix(OP_INT, (uint64_t)known);
  return value_of_all(r, in, value_of_leaf(r, e), e->n, e->args);
}

/* --- statements ------------------------------------------------------------------------------ */

static void run(Instances *r, Stmt s);

static bool goes_on(Instances *r) { return !r->found && r->steps-- > 0; }

static void run_in(Instances *r, Branch branch, Stmt s) {
  r->branch = &branch;
  if (s) run(r, s);
  r->branch = branch.up;
}

static void run_unsure(Instances *r, Stmt s) {
  run_in(r, (Branch){r->branch, ++r->branches, false}, s);
}

static void run_either(Instances *r, Stmt yes, Stmt no) {
  const uint64_t id = ++r->branches;
  run_in(r, (Branch){r->branch, id, false}, yes);
  run_in(r, (Branch){r->branch, id, true}, no);
}

static void read_range(Instances *r, Stmt in, Range range) {
  (void)value_of(r, in, range.min);
  (void)value_of(r, in, range.extent);
}

static void read_shape(Instances *r, Stmt in, Buffer b) {
  (void)value_of_all(r, in, 0, b->ndim, b->shape);
}

static void run_loop(Instances *r, Stmt s) {
  const For *f = &s->u.loop;
  int64_t min, extent;
  if (!tirc_eval_index(&r->env, f->min, &min) || !tirc_eval_index(&r->env, f->extent, &extent)) {
    read_range(r, s, tirc_range(f->min, f->extent));
    tirc_eval_forget(&r->env, f->var);
    run_unsure(r, f->body);
    return;
  }
  if (extent > 1 && !tirc_instances_matters(r, f->var)) extent = 1;
  for (int64_t i = 0; i < extent && goes_on(r); i++) {
    tirc_eval_give(&r->env, f->var, min + i);
    run(r, f->body);
  }
}

static void run_block(Instances *r, Stmt s) {
  const Block *b = &s->u.block;
  Stmt outer = r->block;
  int64_t value, start;
  bool holds, first = true, sure = true;
  const bool known = tirc_eval_condition(&r->env, b->predicate, &holds);
  if (!known) (void)value_of(r, s, b->predicate);
  if (known && !holds) return;
  const Branch branch = {r->branch, ++r->branches, false};
  if (!known) r->branch = &branch;
  r->block = s;
  for (int i = 0; i < b->n_iters; i++) {
    (void)bind(r, s, b->iters[i].var, b->iter_values[i]);
    read_range(r, s, b->iters[i].dom);
    if (b->iters[i].kind != ITER_REDUCE) continue;
    if (tirc_eval_index(&r->env, b->iters[i].dom.min, &start) &&
        tirc_eval_index(&r->env, b->iters[i].var, &value))
      first &= value == start;
    else
      sure = false;
  }
  for (int i = 0; i < b->n_allocs; i++) read_shape(r, s, b->allocs[i]);
  for (int i = 0; i < b->n_matches; i++)
    for (int d = 0; d < b->matches[i].source.buffer->ndim; d++)
      read_range(r, s, b->matches[i].source.dims[d]);
  if (b->init && first && sure) run(r, b->init);
  if (b->init && first && !sure && r->may) run(r, b->init); /* somewhere its sums start */
  if (first && !sure && !r->may) run_unsure(r, b->init);
  run(r, b->body);
  r->block = outer;
  r->branch = branch.up;
}

static void run_store(Instances *r, Stmt s) {
  uint64_t value = value_of(r, s, s->u.store.value);
  const Buffer b = s->u.store.buffer;
  const uint64_t place =
      value_of_all(r, s, (uint64_t)(uintptr_t)b, s->u.store.n, s->u.store.indices);
  Watch *w = watch_of(r, b);
  if (!w || r->found) return;
  uint64_t key = key_of(r, b, s->u.store.n, s->u.store.indices);
  if (!key && r->may) key = place | 1; /* the same loaded index is the same element */
  if (key)
    store_element(r, w, element(r, key), (Site){r->block, s, NULL}, value);
  else
    w->ignored = true; /* it may hide any read */
}

static void run_branch(Instances *r, Stmt s) {
  bool holds;
  (void)value_of(r, s, s->u.branch.cond);
  Stmt yes = s->u.branch.then_case, no = s->u.branch.else_case;
  if (!tirc_eval_condition(&r->env, s->u.branch.cond, &holds)) {
    run_either(r, yes, no);
  } else if (holds || no) {
    run(r, holds ? yes : no);
  }
}

static void run_let(Instances *r, Stmt s) {
  (void)bind(r, s, s->u.let.var, s->u.let.value);
  run(r, s->u.let.body);
}

static void run(Instances *r, Stmt s) {
  if (!goes_on(r)) return;
  switch (s->kind) {
  case STMT_FOR: run_loop(r, s); break;
  case STMT_BLOCK: run_block(r, s); break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) run(r, tirc_item(s, i));
    break;
  case STMT_STORE: run_store(r, s); break;
  case STMT_EVAL: (void)value_of(r, s, s->u.eval.value); break;
  case STMT_IF: run_branch(r, s); break;
  case STMT_WHILE:
    (void)value_of(r, s, s->u.loop_while.cond);
    run_unsure(r, s->u.loop_while.body);
    break;
  case STMT_LET: run_let(r, s); break;
  case STMT_ALLOC:
  case STMT_DECL:
    read_shape(r, s, s->u.alloc.buffer);
    run(r, s->u.alloc.body);
    break;
  case STMT_ATTR: run(r, s->u.attr.body); break;
  case STMT_ASSERT:
    (void)value_of(r, s, s->u.check.cond);
    run(r, s->u.check.body);
    break;
  }
}

bool tirc_instances_run(Instances *r, Stmt stmt) {
  run(r, stmt);
  return goes_on(r);
}

/* --- places ---------------------------------------------------------------------------------- */

typedef struct Constants {
  int n;
  int64_t at[MAX_CONSTANTS];
} Constants;

static bool add_constant(Visitor *v, Expr e) {
  Constants *k = v->self;
  int64_t value;
  if (k->n == MAX_CONSTANTS || !tirc_const_int(e, &value)) return true;
  if (value < 0 && value > -INT32_MAX) value = -value;
  for (int i = 0; i < k->n; i++)
    if (k->at[i] == value) return true;
  if (value > 3 && value < INT32_MAX) k->at[k->n++] = value;
  return true;
}

static int add_place(int64_t *at, int n, int most, int64_t extent, int64_t place) {
  if (n == most || place < 0 || place >= extent) return n;
  int k = n;
  for (int i = 0; i < n; i++)
    if (at[i] == place) return n;
  for (; k > 0 && at[k - 1] > place; k--) at[k] = at[k - 1];
  at[k] = place;
  return n + 1;
}

int tirc_instances_sample(Tirc *c, int64_t extent, Stmt stmt, int most, int64_t **out) {
  int n = 0;
  int64_t *at = *out = tirc_new_array(c, int64_t, most + 1);
  if (extent <= most) {
    for (; n < extent; n++) at[n] = n;
    return n;
  }
  const int64_t usual[] = {0, 1, extent - 1, 2, extent / 2, extent - 2, extent / 2 - 1, 3};
  Constants k = {0};
  tirc_visit_stmt(&(Visitor){.expr = add_constant, .self = &k}, stmt);
  for (int i = 0; i < 3; i++) n = add_place(at, n, most, extent, usual[i]);
  for (int i = 0; i < k.n; i++) n = add_place(at, n, most, extent, k.at[i]);
  for (int i = 3; i < 8; i++) n = add_place(at, n, most, extent, usual[i]);
  for (int i = 0; i < k.n; i++)
    for (int d = -1; d <= 1; d++) {
      n = add_place(at, n, most, extent, k.at[i] + d);
      n = add_place(at, n, most, extent, extent - 1 - k.at[i] + d);
    }
  for (int i = 0; i < k.n; i++) /* rows of a fused nest */
    for (int j = 0; j < k.n; j++) n = add_place(at, n, most, extent, k.at[i] * k.at[j]);
  for (int i = 4; n < most; i++) n = add_place(at, n, most, extent, i); /* fewer than the extent */
  return n;
}

const char *tirc_site_text(Tirc *c, const Site *site) {
  const struct StmtNode *s = site->stmt;
  Expr e =
      site->load ? site->load : tirc_load(c, s->u.store.buffer, s->u.store.n, s->u.store.indices);
  int line = s->loc.line ? s->loc.line : site->block ? site->block->loc.line : 0;
  return line ? tirc_format(c, "%s (line %d)", tirc_print_expr(c, e), line) : tirc_print_expr(c, e);
}
