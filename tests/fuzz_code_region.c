/* Programs of the fuzzer of code whose buffers become smaller when they are lowered: what a block
 * P writes is read at its place, beside it under a condition, or turned, by a block S0 whose tail a
 * condition cuts off, over extents of any integer type. Schedules put P, or copies of what is read
 * and written, into tiles that do not divide the extents; on the emulator threads fetch them. */
#include "fuzz_code.h"

#include "ir/tree/int_op.h"

enum { HALO = 2 }; /* rows and columns beside a tile that are read, too */

typedef struct Regions {
  Draft *g;
  DType index;          /* of loops and extents */
  const char *n, *m;    /* extents: symbols or numbers */
  int rows, columns;    /* what they are */
  int tile[2];          /* of the schedule */
  const char *element;  /* type */
  bool threads, whole;  /* whole: what is read may be more than a tile and its halo */
  Text schedule, binds; /* lines */
} Regions;

static const char *number(Regions *k, int value) {
  if (tirc_dtype_equal(k->index, DT_INT32)) return tirc_format(k->g->c, "%d", value);
  return tirc_format(k->g->c, "T.%s(%d)", tirc_dtype_name(k->g->c, k->index), value);
}

static DType draw_index(Draft *g) {
  static const DType types[] = {DT_INT32,          DT_INT32,           DT_INT32,
                                {TYPE_INT, 8, 1},  {TYPE_INT, 8, 1},   {TYPE_INT, 16, 1},
                                {TYPE_UINT, 8, 1}, {TYPE_UINT, 16, 1}, {TYPE_INT, 64, 1}};
  return *code_any(g, types);
}

static const char *extent(Regions *k, const char *name, int value) {
  if (rng_chance(k->g->r, 40)) return number(k, value);
  tirc_text_addf(&k->g->head, "    %s = T.%s()\n", name, tirc_dtype_name(k->g->c, k->index));
  return name;
}

static void parameter(Regions *k, const char *name, const char *rows, const char *columns, int n,
                      int m) {
  Program *p = k->g->program;
  p->params[p->n_params++] = (CodeParam){.n = 2, .shape = {n, m}, .lo = -30, .hi = 30};
  tirc_text_addf(&k->g->head, "    %s = T.match_buffer(a_%s, (%s, %s), \"%s\", align=4)\n", name,
                 name, rows, columns, k->element);
}

/* --- what S0 reads of P ----------------------------------------------------------------------- */

static const char *beside(Regions *k) {
  Tirc *c = k->g->c;
  const char *one = number(k, 1), *two = number(k, 2), *zero = number(k, 0);
  const char *nothing = tirc_format(c, "T.%s(0)", k->element);
  switch (rng_below(k->g->r, 7)) {
  case 0: return tirc_format(c, "T.if_then_else(vi > %s, P[vi - %s, vj], %s)", zero, one, nothing);
  case 1:
    return tirc_format(c, "T.if_then_else(vj > %s and vi > %s, P[vi - %s, vj - %s], %s)", zero,
                       zero, one, one, nothing);
  case 2:
    return tirc_format(c, "T.if_then_else(vi + %s < %s, P[vi + %s, vj], %s)", two, k->n, two,
                       nothing);
  case 3:
    return tirc_format(c, "T.if_then_else(%s <= vj and vj < %s - %s, P[vi, vj - %s], %s)", two,
                       k->m, one, two, nothing);
  case 4: k->whole = true; return tirc_format(c, "P[vi, T.min(vj + %s, %s - %s)]", one, k->m, one);
  case 5: k->whole = true; return tirc_format(c, "P[T.max(vi, %s) - %s, vj]", one, one);
  default: return NULL;
  }
}

/* --- the program ------------------------------------------------------------------------------ */

static void producer(Regions *k) {
  Draft *g = k->g;
  code_line(g, "for i, j in T.grid(%s, %s):", k->n, k->m);
  code_line(g, "    with T.block(\"P\"):");
  code_line(g, "        vi, vj = T.axis.remap(\"SS\", [i, j])");
  code_line(g, "        P[vi, vj] = A[vi, vj] + T.%s(1)", k->element);
}

/* Loops over the columns that a condition ends, or that just end. */
static void columns(Regions *k) {
  Draft *g = k->g;
  const int by = 2 + rng_below(g->r, 6);
  const bool parted = rng_chance(g->r, 50);
  const Wide top = code_max(k->index);
  if (!parted || k->columns + by > top || k->rows + by > top) {
    code_line(g, "for i, j in T.grid(%s, %s):", k->n, k->m);
    code_line(g, "    with T.block(\"S0\"):");
    code_line(g, "        vi, vj = T.axis.remap(\"SS\", [i, j])");
    return;
  }
  k->whole = true;
  code_line(g, "for i, j0, j1 in T.grid(%s, (%s + %s) // %s, %s):", k->n, k->m, number(k, by - 1),
            number(k, by), number(k, by));
  code_line(g, "    with T.block(\"S0\"):");
  code_line(g, "        vi = T.axis.spatial(%s, i)", k->n);
  code_line(g, "        vj = T.axis.spatial(%s, j0 * %s + j1)", k->m, number(k, by));
  code_line(g, "        T.where(j0 * %s + j1 < %s)", number(k, by), k->m);
}

static void consumer(Regions *k, bool turned) {
  Tirc *c = k->g->c;
  const char *more = beside(k), *at = turned ? "vj, vi" : "vi, vj";
  columns(k);
  code_line(k->g, "        C[%s] = P[vi, vj]%s", at, more ? tirc_format(c, " + %s", more) : "");
}

/* --- the schedule ----------------------------------------------------------------------------- */

#define add(k, ...) tirc_text_addf(&(k)->schedule, __VA_ARGS__)
#define bind(k, ...) tirc_text_addf(&(k)->binds, __VA_ARGS__)

static void split(Regions *k) {
  add(k, "sch.fuse(*sch.get_loops(\"S0\")[1:])\n");
  add(k, "sch.split(sch.get_loops(\"S0\")[0], [None, %d])\n", k->tile[0]);
  add(k, "sch.split(sch.get_loops(\"S0\")[2], [None, %d])\n", k->tile[1]);
  if (rng_chance(k->g->r, 80) || k->threads)
    add(k, "sch.reorder(sch.get_loops(\"S0\")[2], sch.get_loops(\"S0\")[1])\n");
}

static const char *const lines[] = {
    "sch.vectorize(sch.get_loops(\"S0\")[-1])", "sch.parallel(sch.get_loops(\"S0\")[0])",
    "sch.unroll(sch.get_loops(\"S0\")[-1])", "sch.loop_partition([sch.get_loops(\"S0\")[0]])", ""};

static void bind_threads(Regions *k, const char *fetches) {
  static const char *const axes[] = {"blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"};
  for (int i = 0; i < 4; i++) bind(k, "sch.bind(sch.get_loops(\"S0\")[%d], \"%s\")\n", i, axes[i]);
  for (int i = 1; fetches && i < 3; i++)
    bind(k, "sch.bind(sch.get_loops(\"%s\")[-%d], \"%s\")\n", fetches, i, axes[4 - i]);
}

/* Where threads share P, it belongs to a block of them, and they fetch it together. */
static void schedule(Regions *k) {
  Rng *r = k->g->r;
  const bool threads = k->threads = rng_chance(r, 50), shared = threads && rng_chance(r, 70);
  const int at = shared ? 1 : threads ? 3 : rng_below(r, 4);
  const char *block = "P", *scope = shared ? "shared" : threads ? "local" : "global";
  split(k);
  if (rng_chance(r, 60)) {
    add(k, "sch.compute_at(\"P\", sch.get_loops(\"S0\")[%d])\n", at);
    bind(k, "sch.set_scope(\"P\", 0, \"%s\")\n", scope);
  } else {
    block = tirc_format(k->g->c, "P_%s", scope);
    add(k, "sch.cache_read(\"S0\", 0, \"%s\")\n", scope);
    add(k, "sch.compute_at(\"%s\", sch.get_loops(\"S0\")[%d])\n", block, at);
  }
  if (rng_chance(r, 30)) {
    add(k, "sch.cache_write(\"S0\", 0, \"local\")\n");
    add(k, "sch.reverse_compute_at(\"C_local\", sch.get_loops(\"S0\")[%d])\n",
        threads ? 3 : rng_below(r, 4));
  }
  if (shared || rng_chance(r, 60))
    add(k, "sch.split(sch.fuse(*sch.get_loops(\"%s\")[-2:]), [None, %d, %d])\n", block, k->tile[0],
        k->tile[1]);
  if (shared && !k->whole && !tirc_dtype_wraps(k->index))
    k->g->program->tile = (int64_t)(k->tile[0] + HALO) * (k->tile[1] + HALO);
  if (threads)
    bind_threads(k, shared ? block : NULL);
  else
    tirc_text_addf(&k->schedule, "%s\n", *code_any(k->g, lines));
}

void code_regions(Tirc *c, Rng *r, const char *name, Program *out) {
  static const int sizes[] = {1, 2, 3, 5, 7, 8, 9, 12, 15, 16, 17, 23, 31, 33};
  static const int tiles[] = {1, 2, 3, 4, 4, 5, 8, 8, 11, 16};
  static const char *const elements[] = {"float32", "float32", "int32", "float64", "int64"};
  Draft g = {.c = c, .r = r, .depth = 1, .program = out};
  Regions k = {.g = &g, .index = draw_index(&g), .element = *code_any(&g, elements)};
  g.head.c = g.body.c = k.schedule.c = k.binds.c = c;
  *out = (Program){.name = name, .seed = rng_next(r)};
  k.rows = *code_any(&g, sizes);
  k.columns = *code_any(&g, sizes);
  for (int i = 0; i < 2; i++) k.tile[i] = *code_any(&g, tiles);
  const bool turned = rng_chance(r, 30);
  tirc_text_add(&g.head, "");
  tirc_text_add(&g.body, "");
  tirc_text_add(&k.schedule, "");
  tirc_text_add(&k.binds, "");
  k.n = extent(&k, "n", k.rows);
  k.m = extent(&k, "m", k.columns);
  parameter(&k, "A", k.n, k.m, k.rows, k.columns);
  parameter(&k, "C", turned ? k.m : k.n, turned ? k.n : k.m, turned ? k.columns : k.rows,
            turned ? k.rows : k.columns);
  tirc_text_addf(&g.head, "    P = T.alloc_buffer((%s, %s), \"%s\")\n", k.n, k.m, k.element);
  producer(&k);
  consumer(&k, turned);
  if (rng_chance(r, 85)) schedule(&k);
  out->text = tirc_format(c, "@T.prim_func\ndef %s(a_A: T.handle, a_C: T.handle):\n%s%s", name,
                          g.head.at, g.body.at);
  out->schedule = k.schedule.at;
  out->bindings = k.threads ? k.binds.at : NULL;
}
