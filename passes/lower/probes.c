/* Probes: how long parts of a function take, by the clock of what runs it. They are put around
 * loops and blocks while there are blocks, as attributes, which other passes leave in their place;
 * what a pass writes out twice has its probe twice. At the end they become statements:
 *
 *   T.attr("part", "probe", 3)            t = T.clock()
 *   for k in range(8): ...          ->    for k in range(8): ...
 *                                         times[6] = times[6] + T.clock() - t
 *                                         times[7] = times[7] + 1
 *
 * A thread of a kernel counts likewise, and the first one of each block adds what it has counted.
 * An iteration of a parallel loop counts in an array of its own, which it adds to the common one at
 * its end by atomic updates: threads neither wait for each other nor share lines of the cache while
 * they are timed. */
#include "probes.h"

#include "internal.h"
#include "ir/tree/atomic.h"

/* What the attribute is of: a part, or the statements that count. */
static const char probe_of_part[] = "part", probe_of_counts[] = "counts";

/* --- parts ------------------------------------------------------------------------------------ */

typedef struct Marker {
  Tirc *c;
  VEC(Part) parts;
  int open;           /* the part that is around */
  const bool *probed; /* by their number; NULL: parts are only listed */
} Marker;

static Stmt with_probe(Tirc *c, int part, Stmt s) {
  return tirc_attr_stmt(c, tirc_string(c, probe_of_part), TIRC_PROBE_KEY, tirc_int32(c, part), s);
}

static Stmt visit_part(Mutator *m, Stmt s) {
  Marker *k = m->self;
  if (s->kind != STMT_FOR && s->kind != STMT_BLOCK) return tirc_mutate_stmt_children(m, s);
  const int number = k->parts.n, outer = k->open;
  vec_push(m->c, k->parts, ((Part){s, outer, k->parts.at[outer].depth + 1}));
  k->open = number;
  s = tirc_mutate_stmt_children(m, s);
  k->open = outer;
  return k->probed && k->probed[number] ? with_probe(m->c, number, s) : s;
}

static Stmt visit_parts(Marker *k, const Func *f) {
  Mutator m = {.c = k->c, .expr = tirc_keep_expr, .stmt = visit_part, .self = k};
  vec_push(k->c, k->parts, ((Part){.parent = -1}));
  /* The root block is the function. */
  if (f->body->kind == STMT_BLOCK) return tirc_mutate_stmt_children(&m, f->body);
  return tirc_mutate_stmt(&m, f->body);
}

Parts tirc_parts(Tirc *c, const Func *f) {
  Marker k = {.c = c};
  (void)visit_parts(&k, f);
  return (Parts){k.parts.n, k.parts.at};
}

static const Func *with_param(Tirc *c, const Func *f, Buffer b) {
  Func to = *f;
  Expr *params = tirc_new_array(c, Expr, f->n_params + 1);
  Buffer *buffers = tirc_new_array(c, Buffer, f->n_params + 1);
  const Relayout **relayouts = tirc_new_array(c, const Relayout *, f->n_params + 1);
  for (int i = 0; i < f->n_params; i++) {
    params[i] = f->params[i];
    buffers[i] = f->buffers[i];
    relayouts[i] = f->relayouts ? f->relayouts[i] : NULL;
  }
  params[f->n_params] = tirc_var(c, "times", DT_HANDLE);
  buffers[f->n_params] = b;
  to.n_params++;
  to.params = params;
  to.buffers = buffers;
  to.relayouts = f->relayouts ? relayouts : NULL;
  return tirc_copy(c, &to, 1);
}

const Func *tirc_func_with_probes(Tirc *c, const Func *f, const Parts *parts, const bool *probed) {
  Expr length = tirc_int32(c, tirc_probe_counters(parts->n));
  Buffer times = tirc_buffer(c, "times", DT_INT64, 1, &length, "global");
  Marker k = {.c = c, .probed = probed};
  Stmt body = visit_parts(&k, f);
  if (body->kind == STMT_BLOCK && probed[0]) { /* the root block stays the outermost one */
    Block root = body->u.block;
    root.body = with_probe(c, 0, root.body);
    body = tirc_block(c, &root);
  } else if (probed[0]) {
    body = with_probe(c, 0, body);
  }
  return with_param(c, tirc_func_with_body(c, f, body), times);
}

/* --- what they become ------------------------------------------------------------------------- */

typedef struct Lowering {
  Tirc *c;
  Buffer times; /* of the function */
  Buffer own;   /* of the iteration of a parallel loop; or NULL */
  bool in_kernel;
  const PtrMap *rows; /* and where in it a part counts: its number -> 1 + the row */
} Lowering;

static Expr clock(Tirc *c) { return tirc_call(c, DT_INT64, CALL_CLOCK, 0, NULL); }

static Stmt add_to(Tirc *c, Buffer b, int at, Expr value) {
  Expr index = tirc_int32(c, at);
  return tirc_store(c, b, 1, &index, tirc_add(c, tirc_load(c, b, 1, &index), value));
}

/* body, timed in this row of the counters. */
static Stmt timed(Tirc *c, Buffer counters, int row, Stmt body) {
  Expr start = tirc_var(c, "start", DT_INT64);
  Stmt all[] = {body, add_to(c, counters, 2 * row, tirc_sub(c, clock(c), start)),
                add_to(c, counters, 2 * row + 1, tirc_int(c, DT_INT64, 1))};
  return tirc_let(c, start, clock(c), tirc_seq(c, 3, all));
}

/* The same in a kernel, where an attribute tells the emulator what is no work of the kernel. */
static Stmt timed_in_kernel(Tirc *c, Buffer counters, int row, Stmt body) {
  Expr start = tirc_var(c, "start", DT_INT64), who = tirc_string(c, probe_of_counts);
  Stmt own[] = {add_to(c, counters, 2 * row, tirc_sub(c, clock(c), start)),
                add_to(c, counters, 2 * row + 1, tirc_int(c, DT_INT64, 1))};
  Stmt all[] = {body,
                tirc_attr_stmt(c, who, TIRC_PROBE_KEY, tirc_int32(c, row), tirc_seq(c, 2, own))};
  return tirc_let(c, start, clock(c), tirc_seq(c, 2, all));
}

static bool is_probe(Stmt s) {
  return s->kind == STMT_ATTR && strcmp(s->u.attr.key, TIRC_PROBE_KEY) == 0 && s->u.attr.node &&
         s->u.attr.node->op == OP_STRING && strcmp(s->u.attr.node->u.s, probe_of_part) == 0;
}

/* How many parts an array has counters for. */
static int64_t parts_in(Buffer times) {
  int64_t n;
  return tirc_const_int(times->shape[0], &n) ? n / 2 - PROBES_BESIDE : 0;
}

/* The last parameter; NULL: it is none to count in. */
static Buffer counters_of(const Func *f) {
  const Buffer b = f->n_params ? f->buffers[f->n_params - 1] : NULL;
  const bool fits = b && b->ndim == 1 && tirc_dtype_equal(b->dtype, DT_INT64);
  return fits && parts_in(b) > 0 ? b : NULL;
}

/* Where a part counts; -1: that is no probe, or one of a part that has no counters. */
static int part_of(Stmt s, Buffer times) {
  int64_t part;
  if (!is_probe(s) || !tirc_const_int(s->u.attr.value, &part)) return -1;
  return part >= 0 && part < parts_in(times) ? (int)part : -1;
}

typedef struct Rows {
  Tirc *c;
  Buffer times;
  PtrMap at; /* part number + 1 -> row + 1 */
  VEC(int64_t) parts;
} Rows;

static const void *key_of(int64_t part) { return (const void *)(uintptr_t)(part + 1); }

static bool see_probe(Visitor *v, Stmt s) {
  Rows *r = v->self;
  const int part = part_of(s, r->times);
  if (part < 0 || tirc_map_has(&r->at, key_of(part))) return true;
  vec_push(r->c, r->parts, part);
  tirc_map_set(r->c, &r->at, key_of(part), key_of(r->parts.n - 1));
  return true;
}

static Stmt lower_probes(Mutator *m, Stmt s);

/* One iteration, or one thread: zeroes its own counters, and adds them to the common ones. adds:
 * the condition on which it does, or NULL. */
static Stmt counting_alone(Mutator *m, Stmt body, const Rows *rows, Expr adds) {
  Lowering *k = m->self;
  Tirc *c = m->c;
  const int n = 2 * rows->parts.n;
  Expr length = tirc_int32(c, n);
  Stmt *all = tirc_new_array(c, Stmt, 2 * n + 1), *to_common = &all[n + 1];
  k->own = tirc_buffer(c, "own_times", DT_INT64, 1, &length, "local");
  k->rows = &rows->at;
  all[n] = tirc_mutate_stmt(m, body);
  for (int i = 0; i < n; i++) {
    Expr from = tirc_int32(c, i), to = tirc_int32(c, (int)(2 * rows->parts.at[i / 2]) + i % 2);
    all[i] = tirc_store(c, k->own, 1, &from, tirc_int(c, DT_INT64, 0));
    to_common[i] =
        tirc_eval(c, tirc_atomic_update(c, CALL_ATOMIC_ADD, tirc_load(c, k->times, 1, &to), NULL,
                                        tirc_load(c, k->own, 1, &from), false));
  }
  Stmt adding = tirc_seq(c, n, to_common), parts[] = {tirc_seq(c, n, all), all[n], adding};
  if (adds) parts[2] = tirc_if(c, adds, adding, NULL);
  Stmt whole = tirc_alloc_stmt(c, STMT_ALLOC, k->own, (Attrs){0}, tirc_seq(c, 3, parts));
  k->own = NULL;
  return whole;
}

static Stmt lower_parallel(Mutator *m, Stmt s) {
  Rows rows = {.c = m->c, .times = ((Lowering *)m->self)->times};
  tirc_visit_stmts(s->u.loop.body, see_probe, &rows);
  if (!rows.parts.n) return s;
  For loop = s->u.loop;
  loop.body = counting_alone(m, loop.body, &rows, NULL);
  return tirc_for(m->c, &loop);
}

/* Within the loops over a kernel's threads. */
static Stmt count_in_thread(Mutator *m, Stmt s, const Rows *rows, Expr first) {
  Tirc *c = m->c;
  if (!tirc_is_thread_loop(s)) return counting_alone(m, s, rows, first);
  For loop = s->u.loop;
  if (tirc_is_thread_axis(loop.axis)) {
    Expr is_first = tirc_eq(c, loop.var, loop.min);
    first = first ? tirc_and(c, first, is_first) : is_first;
  }
  loop.body = count_in_thread(m, loop.body, rows, first);
  return tirc_for(c, &loop);
}

static Stmt lower_kernel(Mutator *m, Stmt s) {
  Lowering *k = m->self;
  Rows rows = {.c = m->c, .times = ((Lowering *)m->self)->times};
  tirc_visit_stmts(s, see_probe, &rows);
  if (!rows.parts.n) return s;
  k->in_kernel = true;
  s = count_in_thread(m, s, &rows, NULL);
  k->in_kernel = false;
  return s;
}

static Stmt lower_probes(Mutator *m, Stmt s) {
  Lowering *k = m->self;
  const int part = part_of(s, k->times);
  if (tirc_is_thread_loop(s) && !k->own) return lower_kernel(m, s);
  if (s->kind == STMT_FOR && s->u.loop.kind == LOOP_PARALLEL && !k->own)
    return lower_parallel(m, s);
  if (part < 0) return tirc_mutate_stmt_children(m, s);
  const int row = k->own ? (int)(uintptr_t)tirc_map_get(k->rows, key_of(part)) - 1 : part;
  Stmt body = tirc_mutate_stmt(m, s->u.attr.body);
  if (k->in_kernel) return timed_in_kernel(m->c, k->own, row, body);
  return timed(m->c, k->own ? k->own : k->times, row, body);
}

/* How long probes themselves take: ahead of the function, in the same call. */
static Stmt empty_probes(Tirc *c, Buffer times) {
  const int first = (int)parts_in(times);
  Stmt one = timed(c, times, first + PROBE_EMPTY, tirc_seq(c, 0, NULL));
  Stmt loop = tirc_for_serial(c, tirc_var(c, "probe", DT_INT32), tirc_int32(c, EMPTY_PROBES), one);
  return timed(c, times, first + PROBE_EMPTIES, loop);
}

static bool find_probe(const void *unused, Stmt s) { return (void)unused, is_probe(s); }

Stmt tirc_lower_probes(Tirc *c, const Func *f) {
  const bool any = tirc_find_stmt(f->body, find_probe, NULL, NULL) != NULL;
  Lowering k = {.c = c, .times = any ? counters_of(f) : NULL};
  if (!k.times) return f->body;
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = lower_probes, .self = &k};
  Stmt both[] = {empty_probes(c, k.times), tirc_mutate_stmt(&m, f->body)};
  return tirc_gpu_of(f) ? both[1] : tirc_seq(c, 2, both); /* a kernel's host has no clock of it */
}
