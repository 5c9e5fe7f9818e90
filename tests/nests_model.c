/* Nests as text, and as they are run. Numbers are those of the ring of integers modulo 2^64, and
 * what arrays hold at first is drawn from all of it: what is equal there is so for all inputs. */
#include "nests.h"

#include <stdlib.h>
#include <string.h>

const char *const nest_calls[N_CALLS] = {"reorder", "parallel", "vectorize", "bind"};

/* --- integers -------------------------------------------------------------------------------- */

static const Ix *ix_new(Tirc *c, Ix e) {
  Ix *out = tirc_new(c, Ix);
  *out = e;
  return out;
}
const Ix *ix_int(Tirc *c, int64_t value) { return ix_new(c, (Ix){IX_INT, value, NULL, NULL}); }
const Ix *ix_slot(Tirc *c, int slot) { return ix_new(c, (Ix){IX_SLOT, slot, NULL, NULL}); }
static bool is_int(const Ix *e, int64_t value) { return e->op == IX_INT && e->value == value; }
const Ix *ix_op(Tirc *c, IxOp op, const Ix *a, const Ix *b) {
  if (op == IX_AND && (!a || !b)) return a ? a : b;
  if ((op == IX_ADD || op == IX_SUB) && is_int(b, 0)) return a;
  if (op == IX_ADD && is_int(a, 0)) return b;
  if ((op == IX_MUL || op == IX_DIV) && is_int(b, 1)) return a;
  const Ix *e = ix_new(c, (Ix){op, 0, a, b});
  if (op > IX_MOD || a->op != IX_INT || b->op != IX_INT) return e;
  return ix_int(c, ix_eval(&(Env){0}, e));
}
const Ix *ix_op_int(Tirc *c, IxOp op, const Ix *a, int64_t b) {
  if (op == IX_ADD && b < 0) return ix_op(c, IX_SUB, a, ix_int(c, -b));
  return ix_op(c, op, a, ix_int(c, b));
}

static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
int64_t ix_eval(Env *env, const Ix *e) {
  if (e->op == IX_INT) return e->value;
  if (e->op == IX_SLOT) return env->at[e->value];
  const int64_t a = ix_eval(env, e->a), b = ix_eval(env, e->b);
  int64_t out = 0;
  switch (e->op) {
  case IX_ADD: out = a + b; break;
  case IX_SUB: out = a - b; break;
  case IX_MUL: out = a * b; break;
  case IX_DIV: out = floor_div(a, b); break;
  case IX_MOD: out = a - floor_div(a, b) * b; break;
  case IX_LT: out = a < b; break;
  case IX_GE: out = a >= b; break;
  default: out = a && b; break;
  }
  env->overflow |= out != (int32_t)out;
  return out;
}

/* --- text ------------------------------------------------------------------------------------ */

typedef struct Printer {
  const Nest *n;
  Text t;
} Printer;

static void put_ix(Printer *p, const Ix *e, bool inside) {
  static const char *const ops[] = {
      [IX_ADD] = " + ", [IX_SUB] = " - ", [IX_MUL] = " * ", [IX_DIV] = " // ",
      [IX_MOD] = " % ", [IX_LT] = " < ",  [IX_GE] = " >= ", [IX_AND] = " and "};
  if (e->op == IX_INT)
    tirc_text_addf(&p->t, p->n->wide ? "T.int64(%lld)" : "%lld", (long long)e->value);
  else if (e->op == IX_SLOT)
    tirc_text_add(&p->t, p->n->names[e->value]);
  else {
    if (inside) tirc_text_add(&p->t, "(");
    put_ix(p, e->a, true);
    tirc_text_add(&p->t, ops[e->op]);
    put_ix(p, e->b, true);
    if (inside) tirc_text_add(&p->t, ")");
  }
}

static void put_list(Printer *p, int n, const Ix *const *at) {
  for (int i = 0; i < n; i++) {
    if (i) tirc_text_add(&p->t, ", ");
    put_ix(p, at[i], false);
  }
}

static void put_element(Printer *p, int buffer, const Ix *const *at) {
  const NestBuffer *b = &p->n->buffers[buffer];
  tirc_text_addf(&p->t, "%s[", b->name);
  put_list(p, b->ndim, at);
  tirc_text_add(&p->t, "]");
}

static void put_val(Printer *p, const Val *v) {
  switch (v->op) {
  case VAL_INT: tirc_text_addf(&p->t, "T.float32(%d)", v->value); break;
  case VAL_LOAD: put_element(p, v->buffer, v->at); break;
  case VAL_ADD:
  case VAL_MUL:
    put_val(p, v->a);
    tirc_text_add(&p->t, v->op == VAL_ADD ? " + " : " * ");
    put_val(p, v->b);
    break;
  }
}

static void put_indent(Printer *p, int depth) { tirc_text_addf(&p->t, "\n%*s", depth * 4, ""); }

static void put_block(Printer *p, const Node *b, int depth) {
  tirc_text_addf(&p->t, "with T.block(\"%s\"):", b->name);
  for (int i = 0; i < b->n_axes; i++) {
    put_indent(p, depth + 1);
    tirc_text_addf(&p->t, "%s = T.axis.%s(", p->n->names[b->axes[i].slot],
                   b->axes[i].reduce ? "reduce" : "spatial");
    put_list(p, 2, (const Ix *const[]){b->axes[i].extent, b->axes[i].binding});
    tirc_text_add(&p->t, ")");
  }
  if (b->where) {
    put_indent(p, depth + 1);
    tirc_text_add(&p->t, "T.where(");
    put_ix(p, b->where, false);
    tirc_text_add(&p->t, ")");
  }
  if (b->init) {
    put_indent(p, depth + 1);
    tirc_text_add(&p->t, "with T.init():");
    put_indent(p, depth + 2);
    put_element(p, b->buffer, b->at);
    tirc_text_add(&p->t, " = T.float32(0)");
  }
  if (b->guard) {
    put_indent(p, depth + 1);
    tirc_text_add(&p->t, "if ");
    put_ix(p, b->guard, false);
    tirc_text_add(&p->t, ":");
  }
  put_indent(p, depth + 1 + (b->guard != NULL));
  put_element(p, b->buffer, b->at);
  tirc_text_add(&p->t, " = ");
  put_val(p, b->value);
}

static void put_node(Printer *p, const Node *node, int depth) {
  put_indent(p, depth);
  if (node->name) {
    put_block(p, node, depth);
    return;
  }
  tirc_text_addf(&p->t, "for %s in range(", p->n->names[node->slot]);
  put_ix(p, node->extent, false);
  tirc_text_add(&p->t, "):");
  for (int i = 0; i < node->n; i++) put_node(p, node->items[i], depth + 1);
}

const char *nest_program(const Nest *n) {
  Printer p = {n, {.c = n->c}};
  tirc_text_add(&p.t, "@T.prim_func\ndef main(");
  for (int i = 0; i < n->n_symbols; i++)
    tirc_text_addf(&p.t, "%s: T.int%d, ", n->names[i], n->wide ? 64 : 32);
  bool first = true;
  for (int i = 0; i < n->n_buffers; i++) {
    const NestBuffer *b = &n->buffers[i];
    if (b->alloc) continue;
    tirc_text_addf(&p.t, "%s%s: T.Buffer((", first ? "" : ", ", b->name);
    put_list(&p, b->ndim, b->shape);
    tirc_text_add(&p.t, ",), \"float32\")");
    first = false;
  }
  tirc_text_add(&p.t, "):");
  for (int i = 0; i < n->n_buffers; i++) {
    const NestBuffer *b = &n->buffers[i];
    if (!b->alloc) continue;
    tirc_text_addf(&p.t, "\n    %s = T.alloc_buffer((", b->name);
    put_list(&p, b->ndim, b->shape);
    tirc_text_add(&p.t, ",), \"float32\")");
  }
  for (int i = 0; i < n->n; i++) put_node(&p, n->items[i], 1);
  tirc_text_add(&p.t, "\n");
  return p.t.at;
}

const char *nest_script(const Nest *n) {
  Text t = {.c = n->c};
  tirc_text_addf(&t, "loops = sch.get_loops(\"%s\")\nsch.%s(", n->block, nest_calls[n->call]);
  for (int i = 0; i < n->n_given; i++)
    tirc_text_addf(&t, "%sloops[%d]", i ? ", " : "", n->given[i]);
  tirc_text_add(&t, n->call == CALL_BIND ? ", \"blockIdx.x\")\n" : ")\n");
  return t.at;
}

int nest_slot(Nest *n, const char *name) {
  n->names[n->n_slots] = name;
  return n->n_slots++;
}

void nest_order(const Nest *n, int *out) {
  bool is_given[NEST_LOOPS] = {false};
  for (int i = 0; i < n->n_given && n->call == CALL_REORDER; i++) is_given[n->given[i]] = true;
  for (int i = 0, next = 0; i < n->n_chain; i++) out[i] = is_given[i] ? n->given[next++] : i;
}

/* --- runs ------------------------------------------------------------------------------------ */

enum { MOST_INSTANCES = 4000000, MOST_ELEMENTS = 8000000 };

/* Who used an element while the watched loop ran once. */
typedef struct Used {
  int64_t run, writer, reader; /* iterations; -1: none, -2: several */
} Used;

typedef struct Machine {
  const Nest *n;
  Env env;
  uint64_t seed;
  int64_t shape[NEST_BUFFERS][NEST_DIMS];
  int64_t size[NEST_BUFFERS];
  uint64_t *data[NEST_BUFFERS];
  bool *written[NEST_BUFFERS]; /* of those that are allocated */
  const char *fault;
  const Node *watch; /* a loop, or NULL */
  Used *used[NEST_BUFFERS];
  bool outside[NEST_BUFFERS]; /* others use it, too */
  bool within;
  int64_t run, iteration;
  bool flows, meets_read, meets_store; /* between iterations of the watched loop, in parameters;
                                          flows: from a store to a later read, in any buffer */
  int64_t met;                         /* the iteration in which that was first */
  int met_buffer;
} Machine;

static uint64_t arbitrary(uint64_t seed, int buffer, int64_t element) {
  Rng r = {seed * 31 + (uint64_t)buffer * 0x100000001b3u + (uint64_t)element * 0x9e3779b1u};
  (void)rng_next(&r);
  return rng_next(&r);
}

static int64_t element_of(Machine *m, int buffer, const Ix *const *at) {
  int64_t out = 0;
  for (int d = 0; d < m->n->buffers[buffer].ndim; d++) {
    const int64_t i = ix_eval(&m->env, at[d]);
    if (i < 0 || i >= m->shape[buffer][d]) {
      m->fault = "an index is outside of its buffer";
      return 0;
    }
    out = out * m->shape[buffer][d] + i;
  }
  return out;
}

static void note(Machine *m, int buffer, bool *what) {
  if (!m->meets_read && !m->meets_store && !m->flows) {
    m->met = m->iteration;
    m->met_buffer = buffer;
  }
  *what = true;
}

static void use(Machine *m, int buffer, int64_t element, bool store) {
  if (!m->used[buffer]) return;
  if (!m->within) {
    m->outside[buffer] = true;
    return;
  }
  Used *u = &m->used[buffer][element];
  if (u->run != m->run) *u = (Used){m->run, -1, -1};
  const bool other_wrote = u->writer != -1 && u->writer != m->iteration;
  const bool other_read = u->reader != -1 && u->reader != m->iteration;
  if (store && other_wrote) note(m, buffer, &m->meets_store);
  if ((store && other_read) || (!store && other_wrote)) note(m, buffer, &m->meets_read);
  /* What this iteration stored last is its own in a buffer of its own. */
  if (!store && other_wrote && u->writer != -2) note(m, buffer, &m->flows);
  int64_t *who = store ? &u->writer : &u->reader;
  *who = *who == -1 || *who == m->iteration || (store && m->n->buffers[buffer].alloc) ? m->iteration
                                                                                      : -2;
}

static uint64_t load(Machine *m, const Val *v) {
  const int64_t e = element_of(m, v->buffer, v->at);
  if (m->fault) return 0;
  if (!m->data[v->buffer]) return arbitrary(m->seed, v->buffer, e);
  if (m->written[v->buffer] && !m->written[v->buffer][e]) m->fault = "what was not written is read";
  use(m, v->buffer, e, false);
  return m->data[v->buffer][e];
}

static uint64_t val_eval(Machine *m, const Val *v) {
  switch (v->op) {
  case VAL_INT: return (uint64_t)v->value;
  case VAL_LOAD: return load(m, v);
  case VAL_ADD: {
    const uint64_t a = val_eval(m, v->a);
    return a + val_eval(m, v->b);
  }
  default: {
    const uint64_t a = val_eval(m, v->a);
    return a * val_eval(m, v->b);
  }
  }
}

static void store(Machine *m, const Node *b, uint64_t value) {
  const int64_t e = element_of(m, b->buffer, b->at);
  if (m->fault) return;
  use(m, b->buffer, e, true);
  m->data[b->buffer][e] = value;
  if (m->written[b->buffer]) m->written[b->buffer][e] = true;
}

static void run_block(Machine *m, const Node *b) {
  bool first = b->init;
  if (b->where && !ix_eval(&m->env, b->where)) return;
  for (int i = 0; i < b->n_axes; i++) {
    const NestAxis *a = &b->axes[i];
    const int64_t at = m->env.at[a->slot] = ix_eval(&m->env, a->binding);
    if (at < 0 || at >= ix_eval(&m->env, a->extent)) m->fault = "an iterator leaves its domain";
    first &= !a->reduce || at == 0;
  }
  if (first) store(m, b, 0);
  if (b->guard && !ix_eval(&m->env, b->guard)) return;
  const uint64_t value = val_eval(m, b->value);
  if (!m->fault) store(m, b, value);
}

static void run_node(Machine *m, const Node *node) {
  if (node->name) {
    run_block(m, node);
    return;
  }
  const int64_t extent = ix_eval(&m->env, node->extent);
  const bool watched = node == m->watch;
  if (watched) m->run++, m->within = true;
  for (int64_t k = 0; k < extent && !m->fault; k++) {
    const int64_t i = node->backward ? extent - 1 - k : k;
    m->env.at[node->slot] = i;
    if (watched) m->iteration = i;
    for (int j = 0; j < node->n; j++) run_node(m, node->items[j]);
  }
  if (watched) m->within = false;
}

static double count(const Node *node, Env *env) {
  double of_items = 0;
  if (node->name) return 1;
  for (int i = 0; i < node->n; i++) of_items += count(node->items[i], env);
  return of_items * (double)ix_eval(env, node->extent);
}
static Env env_of(const Nest *n, const int64_t *sizes) {
  Env env = {0};
  for (int i = 0; i < n->n_symbols; i++) env.at[i] = sizes[i];
  return env;
}
double nest_instances(const Nest *n, const int64_t *sizes) {
  Env env = env_of(n, sizes);
  double out = 0;
  for (int i = 0; i < n->n; i++) out += count(n->items[i], &env);
  return out;
}

static void machine_free(Machine *m) {
  for (int i = 0; i < NEST_BUFFERS; i++) {
    free(m->data[i]);
    free(m->written[i]);
    free(m->used[i]);
  }
}

/* False: its arrays are too large. */
static bool run(const Nest *n, const int64_t *sizes, const Node *watch, Machine *m) {
  *m = (Machine){.n = n, .env = env_of(n, sizes), .watch = watch, .seed = 42};
  int64_t all = 0;
  for (int i = 0; i < n->n_buffers; i++) {
    m->size[i] = 1;
    for (int d = 0; d < n->buffers[i].ndim; d++) {
      m->shape[i][d] = ix_eval(&m->env, n->buffers[i].shape[d]);
      if (__builtin_mul_overflow(m->size[i], m->shape[i][d], &m->size[i])) return false;
    }
    if (n->buffers[i].stored && (all += m->size[i]) > MOST_ELEMENTS) return false;
  }
  for (int i = 0; i < n->n_buffers; i++) {
    if (!n->buffers[i].stored) continue;
    const size_t size = (size_t)m->size[i] + 1;
    m->data[i] = calloc(size, sizeof(uint64_t));
    if (watch) m->used[i] = calloc(size, sizeof(Used));
    if (n->buffers[i].alloc) m->written[i] = calloc(size, sizeof(bool));
    for (int64_t e = 0; e < m->size[i]; e++) m->data[i][e] = arbitrary(m->seed, i, e);
  }
  for (int i = 0; i < n->n && !m->fault; i++) run_node(m, n->items[i]);
  if (m->env.overflow && !n->wide) m->fault = "an integer leaves int32";
  return true;
}

/* NULL, or the first parameter's element that differs. */
static const char *difference(const Machine *a, const Machine *b) {
  for (int i = 0; i < a->n->n_buffers; i++)
    for (int64_t e = 0; a->data[i] && !a->n->buffers[i].alloc && e < a->size[i]; e++)
      if (a->data[i][e] != b->data[i][e])
        return tirc_format(a->n->c, "element %lld of %s differs", (long long)e,
                           a->n->buffers[i].name);
  return NULL;
}

/* With the loops of the chain in their new order, or the loop backward. */
static bool run_changed(Nest *n, const int64_t *sizes, Machine *m) {
  Node was[NEST_LOOPS];
  int order[NEST_LOOPS];
  nest_order(n, order);
  for (int i = 0; i < n->n_chain; i++) was[i] = *n->chain[i];
  for (int i = 0; i < n->n_chain; i++) {
    n->chain[i]->slot = was[order[i]].slot;
    n->chain[i]->extent = was[order[i]].extent;
  }
  if (n->call != CALL_REORDER) n->chain[n->given[0]]->backward = true;
  const bool ok = run(n, sizes, NULL, m);
  for (int i = 0; i < n->n_chain; i++) *n->chain[i] = was[i];
  return ok;
}

static Truth truth_of_runs(Nest *n, const Machine *is, const Machine *would, const char **why) {
  if (is->fault) {
    *why = is->fault;
    return TRUTH_FAULT;
  }
  const char *differs = difference(is, would);
  if (n->call == CALL_REORDER) {
    *why = differs;
    return differs || would->fault ? TRUTH_ILLEGAL : TRUTH_LEGAL;
  }
  if (!is->meets_read && !is->meets_store) return TRUTH_LEGAL;
  const NestBuffer *b = &n->buffers[is->met_buffer];
  /* What only the loop uses is made anew for each of its iterations. */
  if (b->alloc && !is->outside[is->met_buffer] && !is->flows)
    return differs ? TRUTH_UNKNOWN : TRUTH_LEGAL;
  *why = tirc_format(n->c, "iteration %lld meets another one in %s; backward: %s",
                     (long long)is->met, b->name, differs ? differs : "the same");
  return is->meets_read || differs ? TRUTH_ILLEGAL : TRUTH_UNKNOWN;
}

Truth nest_run(Nest *n, const int64_t *sizes, const char **why) {
  Machine is = {0}, would = {0};
  Truth out = TRUTH_UNKNOWN;
  const Node *watch = n->call == CALL_REORDER ? NULL : n->chain[n->given[0]];
  if (nest_instances(n, sizes) > MOST_INSTANCES) return TRUTH_UNKNOWN;
  if (run(n, sizes, watch, &is) && (is.fault || run_changed(n, sizes, &would)))
    out = truth_of_runs(n, &is, &would, why);
  machine_free(&is);
  machine_free(&would);
  return out;
}
