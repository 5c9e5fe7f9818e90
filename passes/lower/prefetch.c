/* Software prefetch, asked for by a loop's annotation "software_prefetch": {buffer: distance, ...}.
 *
 *   for k in range(96):                  for k in range(96):
 *     C[..] = C[..] + B[k * 24:+24]  ->    T.prefetch(T.address_of(B[(k + 8) * 24])) ...
 *                                          C[..] = C[..] + B[k * 24:+24]
 *
 * At the start of each iteration the cache lines are fetched that the iteration `distance` steps
 * later reads or writes of the buffer. If the loop itself does not touch the buffer, the innermost
 * loop around it that does is meant, and its work is shared out evenly: each iteration of the
 * annotated loop fetches its part of what the outer loop touches `distance` steps later. So the
 * source of the next panel to be packed comes in while this panel is multiplied:
 *
 *   for j in range(32):                  for j in range(32):
 *     for k in range(768):                 for k in range(768):
 *       P[k * 24:+24] = B[k, j..]            P[k * 24:+24] = B[k, j..]
 *     for i in range(16):            ->    for i in range(16):
 *       ...                                  for r in range(48):
 *                                              T.prefetch(T.address_of(B[i * 48 + r, (j + 1)..]))
 *                                            ...
 *
 * A distance [d, n] means the loop that is n loops further out, counting loops whose steps touch
 * different elements: with {"P": [1, 1]} on k, the panel that j multiplies next comes in while all
 * tiles i use this one.
 *
 *   for j in range(32):
 *     for i in range(16):
 *       for k in range(768):
 *         ... P[j * 18432 + k * 24:+24]
 *
 * A prefetch never faults, so addresses beyond the buffer's end need no test. What finds an address
 * is run ahead, too, and would: a number that is loaded for a later step. Of a loop whose end is
 * loaded the first step is fetched. */
#include "internal.h"

#include "ir/arith/equal.h"
#include "ir/tree/vector_index.h"

#include <stdlib.h>

enum { LINE = 64, MAX_PER_STATEMENT = 64 };

typedef struct Prefetch {
  Tirc *c;
  Stmt body; /* of the function */
  Analyzer *a;
  VEC(Stmt) loops;       /* around the statement being rewritten, outermost first, */
  VEC(const For *) main; /* and where to look for what they touch: see main_part */
  Stmt siblings;         /* the sequence that is being rewritten */
} Prefetch;

/* --- which lines a statement touches -------------------------------------------------------- */

typedef struct Access {
  Expr start;    /* flat index of the first element */
  int64_t count; /* elements from the first to the last */
  bool is_write;
  Buffer buffer;
} Access;
typedef VEC(Access) Accesses;

typedef struct Touch {
  Prefetch *p;
  const char *name;
  Accesses found; /* of the simple statements just seen */
  PtrMap own;     /* memory that is allocated or named in the nest: there is none of it ahead */
  bool any;       /* a buffer of that name is touched, be it of the nest's own */
} Touch;

/* A place that is itself read from memory is left out: a later one may lie beyond that memory. */
static void note_access(Touch *t, Buffer b, int n, const Expr *indices, bool is_write) {
  if (strcmp(b->name, t->name) != 0) return;
  t->any = true;
  if (n != 1 || tirc_map_has(&t->own, b->data) || tirc_map_has(&t->own, b) ||
      tirc_loads_or_calls(indices[0]))
    return;
  Expr start = indices[0];
  int64_t count = 1, stride;
  if (start->dtype.lanes > 1 && start->op != OP_RAMP && start->op != OP_BROADCAST) {
    /* from here and there: at least where the first lane and the last one are */
    const Expr ends[] = {tirc_one_lane(t->p->c, start, 0),
                         tirc_one_lane(t->p->c, start, start->dtype.lanes - 1)};
    for (int i = 0; i < 2; i++)
      if (ends[i]) vec_push(t->p->c, t->found, ((Access){ends[i], 1, is_write, b}));
    return;
  }
  if (start->op == OP_RAMP) {
    if (!tirc_const_int(start->args[1], &stride) || stride < 0 || stride > INT32_MAX) return;
    count = (start->dtype.lanes - 1) * stride + 1;
  }
  if (start->op == OP_RAMP || start->op == OP_BROADCAST) start = start->args[0];
  if (start->dtype.lanes == 1) vec_push(t->p->c, t->found, ((Access){start, count, is_write, b}));
}

static bool note_load(Visitor *v, Expr e) {
  if (e->op == OP_LOAD) note_access(v->self, e->u.buffer, e->n, e->args, false);
  return true;
}

/* Accesses whose starts differ by constants. */
typedef struct Group {
  Access first;
  VEC(Access) at; /* start is an INT: the distance from the first one */
} Group;

static int64_t start_of(const Access *a) {
  int64_t v = 0;
  tirc_const_int(a->start, &v);
  return v;
}

static int by_start(const void *x, const void *y) {
  int64_t a = start_of(x), b = start_of(y);
  return (a > b) - (a < b);
}

static Stmt fetch(Tirc *c, const Access *first, int64_t offset, bool is_write) {
  Expr index = tirc_add(c, first->start, tirc_int(c, first->start->dtype, offset));
  Expr address = tirc_load(c, first->buffer, 1, &index);
  address = tirc_call(c, DT_HANDLE, CALL_ADDRESS_OF, 1, &address);
  Expr args[4] = {address, tirc_int32(c, is_write), tirc_int32(c, 3), tirc_int32(c, 1)};
  return tirc_eval(c, tirc_call(c, DT_HANDLE, CALL_PREFETCH, 4, args));
}

typedef VEC(Stmt) Stmts;

/* One prefetch a line. Where the first element lies in its line is known from the index alone, for
 * buffers start at a line; if it is not known, the last element is fetched as well. */
static void fetch_group(Prefetch *p, Group *g, Stmts *out) {
  int64_t per_line = LINE / tirc_dtype_bytes(tirc_dtype_lanes(g->first.buffer->dtype, 1));
  if (per_line < 1) per_line = 1;
  Modular m = tirc_modular(p->a, g->first.start);
  int64_t step = tirc_gcd(m.coeff, per_line); /* starts are at base, base + step ... of a line */
  int64_t base = ((m.base % step) + step) % step;
  bool is_known = step == per_line;
  qsort(g->at.at, (size_t)g->at.n, sizeof *g->at.at, by_start);
  int64_t next = INT64_MIN; /* the lines before it are done */
  for (int i = 0; i < g->at.n; i++) {
    int64_t begin = start_of(&g->at.at[i]), end = begin + g->at.at[i].count;
    int64_t line = begin - ((begin + base) % per_line + per_line) % per_line;
    if (!is_known) line = begin;
    if (line < next) line = next;
    for (; line < end && out->n < MAX_PER_STATEMENT; line += per_line) {
      int64_t at = line > begin ? line : begin;
      vec_push(p->c, *out, fetch(p->c, &g->first, at, g->at.at[i].is_write));
      next = line + per_line;
    }
    bool ends_here = i + 1 == g->at.n || start_of(&g->at.at[i + 1]) > end;
    if (!is_known && ends_here && end > next - per_line + step - (begin + base) % step)
      vec_push(p->c, *out, fetch(p->c, &g->first, end - 1, g->at.at[i].is_write));
  }
}

/* Turns what has been noted into prefetches, and forgets it. */
static void fetch_noted(Touch *t, Stmts *out) {
  Prefetch *p = t->p;
  VEC(Group) groups = {0};
  for (int i = 0; i < t->found.n; i++) {
    Access a = t->found.at[i];
    int k = 0;
    for (; k < groups.n; k++) {
      Expr d = tirc_simplify(p->a, tirc_sub(p->c, a.start, groups.at[k].first.start));
      int64_t distance;
      if (a.buffer->data != groups.at[k].first.buffer->data || !tirc_const_int(d, &distance))
        continue;
      a.start = d;
      vec_push(p->c, groups.at[k].at, a);
      break;
    }
    if (k < groups.n) continue;
    Group g = {.first = a};
    a.start = tirc_int(p->c, a.start->dtype, 0);
    vec_push(p->c, g.at, a);
    vec_push(p->c, groups, g);
  }
  t->found.n = 0;
  for (int k = 0; k < groups.n; k++) fetch_group(p, &groups.at[k], out);
}

static void touch(Touch *t, Stmt s, Stmts *out);

/* The loop nest that fetches what s touches; empty when it touches nothing. */
static Stmt touch_all(Touch *t, Stmt s) {
  Stmts parts = {0};
  touch(t, s, &parts);
  fetch_noted(t, &parts);
  return tirc_seq(t->p->c, parts.n, parts.at);
}

static void touch_loop(Touch *t, Stmt s, Stmts *out) {
  For loop = s->u.loop;
  fetch_noted(t, out);
  tirc_bind_range(t->p->a, loop.var, tirc_range(loop.min, loop.extent));
  loop.body = touch_all(t, loop.body);
  if (tirc_is_empty(loop.body) || tirc_loads_or_calls(loop.min)) return;
  if (tirc_loads_or_calls(loop.extent)) {
    loop.body = tirc_lower_substitute1(t->p->c, loop.body, loop.var, loop.min);
    vec_push(t->p->c, *out, tirc_clone_fresh(t->p->c, loop.body));
    return;
  }
  if (!tirc_stmt_uses_var(loop.body, loop.var)) { /* the same lines each time */
    vec_push(t->p->c, *out, loop.body);
    return;
  }
  loop.annotations = (Attrs){0};
  if (loop.kind == LOOP_PARALLEL) loop.kind = LOOP_SERIAL;
  vec_push(t->p->c, *out, tirc_clone_fresh(t->p->c, tirc_for(t->p->c, &loop)));
}

/* A buffer of the nest's own is not there before the nest. */
static void touch_alloc(Touch *t, Stmt s, Stmts *out) {
  Buffer b = s->u.alloc.buffer;
  tirc_map_set(t->p->c, &t->own, s->kind == STMT_ALLOC ? (const void *)b->data : b, b);
  touch(t, s->u.alloc.body, out);
}

/* Adds the prefetches for s, those of simple statements after a while, so that neighbours share
 * lines. Conditions are ignored. */
static void touch(Touch *t, Stmt s, Stmts *out) {
  Visitor v = {.expr = note_load, .self = t};
  switch (s->kind) {
  case STMT_STORE:
    tirc_visit_expr(&v, s->u.store.value);
    note_access(t, s->u.store.buffer, s->u.store.n, s->u.store.indices, true);
    return;
  case STMT_EVAL: return;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) touch(t, tirc_item(s, i), out);
    return;
  case STMT_FOR: touch_loop(t, s, out); return;
  case STMT_IF: touch(t, s->u.branch.then_case, out); return;
  case STMT_ALLOC:
  case STMT_DECL: touch_alloc(t, s, out); return;
  case STMT_ATTR: touch(t, s->u.attr.body, out); return;
  case STMT_ASSERT: touch(t, s->u.check.body, out); return;
  case STMT_LET:
  case STMT_WHILE:
  case STMT_BLOCK: return;
  }
}

/* --- the annotation ------------------------------------------------------------------------- */

/* Of a loop that was partitioned, all parts. */
static Range whole_loop(const For *loop) {
  Expr min = tirc_attrs_get(loop->annotations, "partition_min");
  Expr extent = tirc_attrs_get(loop->annotations, "partition_extent");
  return min && extent ? tirc_range(min, extent) : tirc_range(loop->min, loop->extent);
}

/* In an iteration that was peeled the loop's variable is a number; what it stands for is seen in
 * the longest part of the loop. */
static const For *main_part(const Prefetch *p, Stmt s) {
  const For *loop = &s->u.loop, *best = loop;
  Range whole = whole_loop(loop);
  int64_t longest = 0, extent;
  if (!tirc_is_int(loop->extent, 1) || whole.extent == loop->extent) return loop;
  for (int i = 0; p->siblings && i < p->siblings->u.seq.n; i++) {
    Stmt other = tirc_item(p->siblings, i);
    if (other->kind != STMT_FOR || strcmp(other->u.loop.var->u.s, loop->var->u.s) != 0) continue;
    Range r = whole_loop(&other->u.loop);
    if (tirc_const_int(other->u.loop.extent, &extent) && extent > longest &&
        tirc_expr_equal(p->c, r.min, whole.min) && tirc_expr_equal(p->c, r.extent, whole.extent)) {
      longest = extent;
      best = &other->u.loop;
    }
  }
  return best;
}

/* What loop number i touches `distance` iterations later. If it is to go round, what comes after
 * the last one are the first ones of the next round, be it of the loop around it or further out. */
static Stmt fetch_ahead(Prefetch *p, int i, bool round, const char *name, int64_t distance) {
  Tirc *c = p->c;
  Touch t = {.p = p, .name = name};
  Stmt nest = touch_all(&t, p->main.at[i]->body);
  int64_t extent;
  if (tirc_is_empty(nest)) return nest;
  PtrMap map = {0};
  Expr carry = tirc_int(c, p->main.at[i]->var->dtype, distance);
  for (bool last = false; !last; i--) {
    const For *loop = &p->loops.at[i]->u.loop;
    Expr later = tirc_add(c, loop->var, tirc_cast(c, loop->var->dtype, carry));
    Range whole = whole_loop(loop);
    last = i == 0 || !round || !tirc_const_int(whole.extent, &extent) || extent < 1;
    if (!last) {
      Expr steps = tirc_sub(c, later, whole.min);
      Expr n = tirc_int(c, loop->var->dtype, extent);
      later = tirc_add(c, whole.min, tirc_floormod(c, steps, n));
      carry = tirc_floordiv(c, steps, n);
    }
    tirc_map_set(c, &map, p->main.at[i]->var, later);
    if (p->main.at[i]->var != loop->var) tirc_map_set(c, &map, loop->var, later);
  }
  return tirc_lower_substitute(c, nest, &map);
}

_Noreturn static void refuse(Prefetch *p, Stmt loop, const char *name, const char *why) {
  tirc_fail(
      p->c, tirc_place_of(loop), CODE_LOWER,
      "annotate(loop, \"software_prefetch\", {\"B\": 8}) fetches what the loop touches of B 8 "
      "iterations later",
      "the loop %s is annotated to prefetch %s, but %s", loop->u.loop.var->u.s, name, why);
}

/* Loops that stand directly in each other, as one. */
static Stmt fuse(Tirc *c, Stmt nest) {
  const For *outer = &nest->u.loop, *inner = &outer->body->u.loop;
  int64_t m, n, all;
  if (outer->body->kind != STMT_FOR || !tirc_const_int(outer->extent, &m) ||
      !tirc_const_int(inner->extent, &n) || n < 1 || __builtin_mul_overflow(m, n, &all) ||
      all > INT32_MAX)
    return nest;
  Expr var = tirc_var(c, outer->var->u.s, DT_INT32), columns = tirc_int(c, DT_INT32, n);
  Expr row = tirc_cast(c, outer->var->dtype, tirc_floordiv(c, var, columns));
  Expr column = tirc_cast(c, inner->var->dtype, tirc_floormod(c, var, columns));
  PtrMap map = {0};
  tirc_map_set(c, &map, outer->var, tirc_add(c, outer->min, row));
  tirc_map_set(c, &map, inner->var, tirc_add(c, inner->min, column));
  Stmt body = tirc_lower_substitute(c, inner->body, &map);
  return fuse(c, tirc_for_serial(c, var, tirc_int(c, DT_INT32, all), body));
}

/* The part of the nest that this iteration of the innermost loops, from number `from` on, does. Of
 * a sequence (a loop with a peeled tail) all loops are shared out; single accesses are left out. */
static Stmt share_out(Prefetch *p, Stmt nest, int from, const char *name) {
  Tirc *c = p->c;
  Stmt here = p->loops.at[p->loops.n - 1];
  int64_t rows, iterations = 1, extent;
  if (nest->kind == STMT_SEQ) {
    Stmts parts = {0};
    for (int i = 0; i < nest->u.seq.n; i++)
      vec_push(c, parts, share_out(p, tirc_item(nest, i), from, name));
    return tirc_seq(c, parts.n, parts.at);
  }
  if (nest->kind != STMT_FOR) return tirc_seq(c, 0, NULL);
  nest = fuse(c, nest);
  if (!tirc_const_int(nest->u.loop.extent, &rows) || rows < 1)
    refuse(p, here, name,
           "the loop that the prefetches are distributed over has no constant extent");
  Expr number = tirc_int(c, DT_INT32, 0);
  for (int i = from; i < p->loops.n; i++) {
    const For *l = &p->loops.at[i]->u.loop;
    extent = tirc_const_bound(p->a, l->extent).max; /* of a tail that ends early, all steps */
    if (extent < 1 || __builtin_mul_overflow(iterations, extent, &iterations) ||
        iterations > INT32_MAX)
      refuse(p, here, name, "the number of iterations that share the prefetches has no bound");
    Expr step = tirc_cast(c, DT_INT32, tirc_sub(c, l->var, l->min));
    number = tirc_add(c, tirc_mul(c, number, tirc_int(c, DT_INT32, extent)), step);
  }
  int64_t share = (rows + iterations - 1) / iterations, pause = iterations / rows;
  For loop = nest->u.loop;
  Expr which = pause > 1 ? tirc_floordiv(c, number, tirc_int(c, DT_INT32, pause)) : number;
  Expr row = tirc_var(c, loop.var->u.s, DT_INT32);
  Expr at = tirc_add(c, tirc_mul(c, which, tirc_int(c, DT_INT32, share)), row);
  if (share * (iterations / (pause > 1 ? pause : 1)) > rows)
    at = tirc_min(c, at, tirc_int(c, DT_INT32, rows - 1));
  at = tirc_cast(c, loop.var->dtype, at);
  Stmt body = tirc_lower_substitute1(c, loop.body, loop.var, tirc_add(c, loop.min, at));
  Stmt part = share == 1 ? tirc_lower_substitute1(c, body, row, tirc_int(c, DT_INT32, 0))
                         : tirc_for_serial(c, row, tirc_int(c, DT_INT32, share), body);
  if (pause <= 1) return part;
  Expr turn = tirc_floormod(c, number, tirc_int(c, DT_INT32, pause));
  return tirc_if(c, tirc_eq(c, turn, tirc_int(c, DT_INT32, 0)), part, NULL);
}

/* Whether the loop's steps touch different lines. */
static bool moves(Prefetch *p, int i, const char *name) {
  Touch t = {.p = p, .name = name};
  return tirc_stmt_uses_var(touch_all(&t, p->main.at[i]->body), p->main.at[i]->var);
}

static Stmt prefetches(Prefetch *p, const char *name, int64_t distance, int64_t outward) {
  int here = p->loops.n - 1, i = here;
  for (; i >= 0 && outward > 0; i--) outward -= moves(p, i, name);
  for (; i >= 0; i--) {
    if (i < here && !moves(p, i, name)) continue;
    Stmt nest = fetch_ahead(p, i, i < here, name, distance);
    if (!tirc_is_empty(nest)) return i == here ? nest : share_out(p, nest, i + 1, name);
  }
  /* A loop of one step is gone by now, and then there may be nothing to fetch. */
  Touch t = {.p = p, .name = name};
  touch_all(&t, p->body);
  if (!t.any) refuse(p, p->loops.at[here], name, "no buffer of that name is accessed");
  return tirc_seq(p->c, 0, NULL);
}

static Stmt annotated(Prefetch *p, Expr wish, Stmt body) {
  Stmts parts = {0};
  for (int i = 0; i + 1 < wish->n; i += 2) {
    int64_t distance, outward;
    tirc_prefetch_distance(wish->args[i + 1], &distance, &outward);
    vec_push(p->c, parts, prefetches(p, wish->args[i]->u.s, distance, outward));
  }
  vec_push(p->c, parts, body);
  return tirc_seq(p->c, parts.n, parts.at);
}

static Stmt visit(Mutator *m, Stmt s) {
  Prefetch *p = m->self;
  if (s->kind != STMT_FOR) {
    Stmt outer = p->siblings;
    p->siblings = s->kind == STMT_SEQ ? s : NULL;
    s = tirc_mutate_stmt_children(m, s);
    p->siblings = outer;
    return s;
  }
  vec_push(p->c, p->main, main_part(p, s));
  tirc_bind_range(p->a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
  vec_push(p->c, p->loops, s);
  Expr wish = tirc_attrs_get(s->u.loop.annotations, tirc_key(KEY_SOFTWARE_PREFETCH));
  Stmt outer = p->siblings;
  p->siblings = NULL;
  Stmt result = tirc_mutate_stmt_children(m, s);
  p->siblings = outer;
  if (s->u.loop.annotations.n > 0) {
    For loop = result->u.loop;
    loop.annotations = tirc_attrs_remove(p->c, loop.annotations, tirc_key(KEY_SOFTWARE_PREFETCH));
    loop.annotations = tirc_attrs_remove(p->c, loop.annotations, "partition_min");
    loop.annotations = tirc_attrs_remove(p->c, loop.annotations, "partition_extent");
    if (wish) loop.body = annotated(p, wish, loop.body);
    result = tirc_for(p->c, &loop);
  }
  p->loops.n--;
  p->main.n--;
  return result;
}

Stmt tirc_lower_prefetch(Tirc *c, const Func *f) {
  Prefetch p = {.c = c, .body = f->body, .a = tirc_analyzer(c)};
  Mutator m = {.c = c, .stmt = visit, .self = &p};
  return tirc_mutate_stmt(&m, f->body);
}
