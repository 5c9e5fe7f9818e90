/* The array runs: the statement's instances in the order of stamps, at each stamp element by
 * element, with the numbers that there are. An element that touches an item takes it from where it
 * may, from itself or over a link; what is in none of these places comes from outside, and counts.
 * It knows the interpreter and the links, and nothing of how counting is made fast (count.c): that
 * is held against it.
 *
 *   for io, jo:                         for io, jo:
 *     for k in range(32):                 for u in range(46):              the stamp
 *       for ii in pe.x, ji in pe.y:  ->     for ii, ji:                    the element
 *         S[k]                                if 0 <= u - ii - ji < 32: S[u - ii - ji] */
#include "spatial.h"

#include "ir/tree/visit.h"
#include "passes/schedule/state/nodes.h"
#include "runtime/interp/interp.h"

#include <stdlib.h>

typedef VEC(int64_t) Pile;

typedef struct Seen { /* of a tensor */
  Buffer buffer;
  bool write;
  int64_t size;
  Pile own;         /* of the running instance */
  Pile now, before; /* element of the array times size plus item; ascending behind a stamp */
  Pile all;         /* items, each once */
  TensorCount n;
} Seen;

typedef struct Array {
  Tirc *c;
  const Mapping *m;
  const ArraySpec *spec;
  int n_time, n_pe;
  const MapLoop *pes[PE_AXES]; /* in the order of the loops */
  int64_t stamp[MAP_LOOPS];
  bool begun;
  int64_t pe;
  Pile at; /* the element of each instance of the stamp */
  Pile used;
  int n_tensors;
  Seen *tensors;
  VEC(Buffer) arrays; /* by their numbers */
  Counts n;
} Array;

/* --- sets ------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void settle(Pile *p) {
  int kept = 0;
  if (p->n > 1) qsort(p->at, (size_t)p->n, sizeof *p->at, compare);
  for (int i = 0; i < p->n; i++)
    if (!kept || p->at[i] != p->at[kept - 1]) p->at[kept++] = p->at[i];
  p->n = kept;
}

static bool has(const Pile *p, int64_t what) {
  return p->n && bsearch(&what, p->at, (size_t)p->n, sizeof *p->at, compare);
}

/* --- an instance, a stamp --------------------------------------------------------------------- */

static void end_instance(Array *a) {
  for (int t = 0; t < a->n_tensors; t++) {
    Seen *s = &a->tensors[t];
    settle(&s->own);
    s->n.total += s->own.n;
    for (int i = 0; i < s->own.n; i++) {
      vec_push(a->c, s->now, a->pe * s->size + s->own.at[i]);
      vec_push(a->c, s->all, s->own.at[i]);
    }
    if (s->all.n > 1 << 16) settle(&s->all);
    s->own.n = 0;
  }
}

/* The element that `delta` away; -1: there is none. */
static int64_t neighbour(const ArraySpec *spec, int64_t pe, const int64_t delta[PE_AXES]) {
  int64_t x[PE_AXES], out = 0;
  for (int i = PE_AXES - 1; i >= 0; i--) {
    x[i] = pe % spec->dims[i] + delta[i];
    pe /= spec->dims[i];
    if (x[i] < 0 || x[i] >= spec->dims[i]) return -1;
  }
  for (int i = 0; i < PE_AXES; i++) out = out * spec->dims[i] + x[i];
  return out;
}

static bool comes_by_link(const Array *a, const Seen *s, int64_t pe, int64_t item) {
  for (int d = 0; d < a->spec->n_deltas; d++) {
    const int64_t from = neighbour(a->spec, pe, a->spec->deltas[d]);
    if (from < 0 || from == pe) continue;
    if (a->spec->same_time && has(&s->now, from * s->size + item)) return true;
    if (a->spec->prev_time && has(&s->before, from * s->size + item)) return true;
  }
  return false;
}

static int64_t take_items(Array *a, Seen *s) {
  int64_t fresh = 0;
  settle(&s->now);
  for (int i = 0; i < s->now.n; i++) {
    const int64_t pe = s->now.at[i] / s->size, item = s->now.at[i] % s->size;
    const bool own = has(&s->before, s->now.at[i]), linked = comes_by_link(a, s, pe, item);
    s->n.own_only += !own;
    s->n.spatial += linked;
    fresh += !linked && !(own && a->spec->self_prev);
  }
  s->n.unique += fresh;
  if (fresh > s->n.peak) s->n.peak = fresh;
  const Pile old = s->before;
  s->before = s->now;
  s->now = old;
  s->now.n = 0;
  return fresh;
}

static void end_stamp(Array *a) {
  int64_t in = 0, out = 0, ties = 0, most = 0;
  const int instances = a->at.n;
  if (!instances) return;
  for (int i = 0; i < instances; i++) { /* they come element by element */
    ties = i && a->at.at[i] == a->at.at[i - 1] ? ties + 1 : 1;
    if (ties > most) most = ties;
  }
  settle(&a->at);
  for (int i = 0; i < a->at.n; i++) vec_push(a->c, a->used, a->at.at[i]);
  settle(&a->used);
  a->n.instances += instances;
  a->n.time_stamps++;
  a->n.space_time += a->at.n;
  a->n.busy += most;
  if (most > a->n.ties_max) a->n.ties_max = most;
  if (a->at.n > a->n.active_max) a->n.active_max = a->at.n;
  for (int t = 0; t < a->n_tensors; t++)
    *(a->tensors[t].write ? &out : &in) += take_items(a, &a->tensors[t]);
  if (in > a->n.peak_ingress) a->n.peak_ingress = in;
  if (out > a->n.peak_egress) a->n.peak_egress = out;
  a->at.n = 0;
}

/* --- what the interpreter tells --------------------------------------------------------------- */

static void see_array(void *self, int array, Buffer b, const int64_t *shape) {
  Array *a = self;
  (void)shape;
  (void)array;
  vec_push(a->c, a->arrays, b);
}

/* The loops are time, elements, and what shares a stamp. */
static void see_block(void *self, const Block *b, int n, Stmt const *loops, const int64_t *values) {
  Array *a = self;
  (void)loops;
  if (strcmp(b->name, a->m->name) || n < a->n_time + a->n_pe) return;
  if (a->begun) end_instance(a);
  if (a->begun && memcmp(a->stamp, values, (size_t)a->n_time * sizeof *values)) end_stamp(a);
  memcpy(a->stamp, values, (size_t)a->n_time * sizeof *values);
  a->begun = true;
  int64_t x[PE_AXES] = {0};
  for (int i = 0; i < a->n_pe; i++) x[a->pes[i]->axis] = values[a->n_time + i] - a->pes[i]->min;
  a->pe = (x[0] * a->spec->dims[1] + x[1]) * a->spec->dims[2] + x[2];
  vec_push(a->c, a->at, a->pe);
}

static bool see_access(void *self, int array, int64_t element, bool is_write) {
  Array *a = self;
  const Buffer b = a->arrays.at[array];
  for (int t = 0; t < a->n_tensors && a->begun; t++) {
    Seen *s = &a->tensors[t];
    if (s->buffer != b || s->write != is_write) continue;
    if (element >= s->size)
      tirc_fail(a->c, a->m->loc, CODE_PE_ARRAY, NULL, "%s has strides", b->name);
    vec_push(a->c, s->own, element);
  }
  return true;
}

/* --- the program in the order of the array ------------------------------------------------------ */

static Stmt around(Tirc *c, const MapLoop *l, Expr var, int64_t extent, Stmt body) {
  For loop = {.var = var,
              .min = tirc_int(c, var->dtype, l->skewed ? 0 : l->min),
              .extent = tirc_int(c, var->dtype, extent),
              .kind = LOOP_SERIAL,
              .body = body};
  return tirc_for(c, &loop);
}

/* The step that an element is at, of a loop that runs later by its coordinates, counted so that the
 * first stamp is 0. */
static Expr late_step(const Array *a, const MapLoop *l, Expr stamp, int64_t *extent) {
  Tirc *c = a->c;
  const DType t = l->var->dtype;
  int64_t low = 0, high = l->extent - 1;
  Expr step = stamp;
  for (int i = 0; i < a->n_pe; i++) {
    const MapLoop *pe = a->pes[i];
    const int64_t by = l->skew[pe->axis], most = by * (pe->extent - 1);
    *(most < 0 ? &low : &high) += most;
    const Expr x = tirc_sub(c, tirc_cast(c, t, pe->var), tirc_int(c, t, pe->min));
    step = tirc_sub(c, step, tirc_mul(c, x, tirc_int(c, t, by)));
  }
  *extent = high - low + 1;
  return tirc_add(c, step, tirc_int(c, t, low));
}

static Stmt in_order(const Array *a, Stmt body) {
  Tirc *c = a->c;
  const Mapping *m = a->m;
  for (int i = m->n_loops - 1; i >= 0; i--)
    if (m->loops[i].inside)
      body = around(c, &m->loops[i], m->loops[i].var, m->loops[i].extent, body);
  Expr stamps[MAP_LOOPS] = {0};
  int64_t extents[MAP_LOOPS];
  for (int i = 0; i < m->n_loops; i++) {
    const MapLoop *l = &m->loops[i];
    if (!l->skewed) continue;
    stamps[i] = tirc_var(c, "stamp", l->var->dtype);
    const Expr step = late_step(a, l, stamps[i], &extents[i]);
    const Expr zero = tirc_int(c, l->var->dtype, 0), end = tirc_int(c, l->var->dtype, l->extent);
    const Expr here =
        tirc_binary(c, OP_AND, tirc_binary(c, OP_LE, zero, step), tirc_lt(c, step, end));
    const Expr value = tirc_add(c, step, tirc_int(c, l->var->dtype, l->min));
    body = tirc_if(c, here, tirc_substitute1_stmt(c, body, l->var, value), NULL);
  }
  for (int i = a->n_pe - 1; i >= 0; i--)
    body = around(c, a->pes[i], a->pes[i]->var, a->pes[i]->extent, body);
  for (int i = m->n_loops - 1; i >= 0; i--) {
    const MapLoop *l = &m->loops[i];
    if (l->axis < 0 && !l->inside)
      body = around(c, l, stamps[i] ? stamps[i] : l->var, stamps[i] ? extents[i] : l->extent, body);
  }
  return body;
}

static Stmt innermost(const Mapping *m, Stmt nest) {
  int n = 0;
  Stmt s = nest;
  for (; s->kind == STMT_FOR; s = s->u.loop.body) n++;
  if (n != m->n_loops || s->kind != STMT_BLOCK)
    tirc_fail(m->c, m->loc, CODE_PE_ARRAY, "one block in one nest of loops",
              "something else than one block is in the loops, and the array does not run it");
  return s;
}

static const Func *reordered(const Array *a, const Func *f) {
  const Stmt nest = a->m->nest;
  Func *out = tirc_copy(a->c, f, 1);
  out->body = tirc_replace_stmt(a->c, f->body, nest, in_order(a, innermost(a->m, nest)));
  return out;
}

/* --- the door --------------------------------------------------------------------------------- */

static int64_t size_of(const Array *a, Buffer b) {
  int64_t size = 1, extent;
  for (int d = 0; d < b->ndim; d++) {
    if (!tirc_const_int(tirc_simplify0(a->c, b->shape[d]), &extent))
      tirc_fail(a->c, a->m->loc, CODE_PE_ARRAY, "give symbolic sizes a value: -D n=64",
                "%s has no constant shape", b->name);
    size *= extent;
  }
  return size;
}

static void make_array(Array *a) {
  const Mapping *m = a->m;
  for (int i = 0; i < m->n_loops; i++) {
    a->n_time += m->loops[i].axis < 0 && !m->loops[i].inside;
    if (m->loops[i].axis >= 0) a->pes[a->n_pe++] = &m->loops[i];
  }
  a->n_tensors = m->n_tensors;
  a->tensors = tirc_new_array(a->c, Seen, m->n_tensors);
  for (int t = 0; t < m->n_tensors; t++) {
    a->tensors[t].buffer = m->tensors[t].buffer;
    a->tensors[t].write = m->tensors[t].write;
    a->tensors[t].size = size_of(a, m->tensors[t].buffer);
    for (int o = 0; o < t; o++)
      if (a->tensors[o].buffer == a->tensors[t].buffer)
        tirc_fail(a->c, m->loc, CODE_PE_ARRAY, NULL,
                  "%s is read and written, and the array does not run it",
                  a->tensors[t].buffer->name);
  }
}

Counts tirc_run_array(Tirc *c, const Func *f, const Mapping *m, const ArraySpec *spec, int n_args,
                      const Argument *args, int64_t max_steps) {
  Array a = {.c = c, .m = m, .spec = spec};
  const InterpObserver seen = {
      .self = &a, .array = see_array, .block = see_block, .access = see_access};
  const InterpOptions o = {.max_steps = max_steps, .observer = &seen};
  make_array(&a);
  tirc_interpret_with(c, reordered(&a, f), n_args, args, &o);
  end_instance(&a);
  end_stamp(&a);
  a.n.pes_used = a.used.n;
  a.n.tensors = tirc_new_array(c, TensorCount, m->n_tensors + 1);
  for (int t = 0; t < m->n_tensors; t++) {
    settle(&a.tensors[t].all);
    a.tensors[t].n.distinct = a.tensors[t].all.n;
    a.n.tensors[t] = a.tensors[t].n;
  }
  return a.n;
}

static const char *const whole_names[] = {"instances",  "time_stamps",  "pes_used",
                                          "space_time", "busy",         "active_max",
                                          "ties_max",   "peak_ingress", "peak_egress"};
enum { N_WHOLE = sizeof whole_names / sizeof *whole_names };
static const char *const tensor_names[] = {"total",   "unique",   "own_only",
                                           "spatial", "distinct", "peak"};
enum { N_OF_TENSOR = sizeof tensor_names / sizeof *tensor_names };

static void require_same(const Mapping *m, const char *what, const char *of, int64_t run,
                         int64_t estimate) {
  if (run != estimate)
    tirc_fail(m->c, m->loc, CODE_PE_ARRAY, "this is a defect of tirc: please report it",
              "the array counts %lld for %s%s, and the estimate says %lld", (long long)run, what,
              of, (long long)estimate);
}

void tirc_require_same_counts(const Mapping *m, Counts run, Counts estimate) {
  const int64_t a[N_WHOLE] = {run.instances,  run.time_stamps,  run.pes_used,
                              run.space_time, run.busy,         run.active_max,
                              run.ties_max,   run.peak_ingress, run.peak_egress};
  const int64_t b[N_WHOLE] = {estimate.instances,  estimate.time_stamps,  estimate.pes_used,
                              estimate.space_time, estimate.busy,         estimate.active_max,
                              estimate.ties_max,   estimate.peak_ingress, estimate.peak_egress};
  for (int i = 0; i < N_WHOLE; i++) require_same(m, whole_names[i], "", a[i], b[i]);
  for (int t = 0; t < m->n_tensors; t++) {
    const TensorCount *x = &run.tensors[t], *y = &estimate.tensors[t];
    const int64_t mine[N_OF_TENSOR] = {x->total,   x->unique,   x->own_only,
                                       x->spatial, x->distinct, x->peak};
    const int64_t told[N_OF_TENSOR] = {y->total,   y->unique,   y->own_only,
                                       y->spatial, y->distinct, y->peak};
    for (int i = 0; i < N_OF_TENSOR; i++)
      require_same(m, tensor_names[i], tirc_format(m->c, " of %s", m->tensors[t].buffer->name),
                   mine[i], told[i]);
  }
}
