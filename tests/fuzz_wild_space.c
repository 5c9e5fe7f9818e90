/* The loops and iterators of a wild stage: where they start and end, how iterators are bound to
 * loops, and which instances a predicate leaves out. They are kept as patterns over loops, since
 * other names may stand for the loops where the block is. */
#include "fuzz_wild.h"

const char *wild_over(Wild *g, const WildStage *s, const Over *o) {
  const char *names[2] = {NULL, NULL};
  for (int i = 0; i < 2; i++)
    if (o->loops[i] >= 0) names[i] = s->loops[o->loops[i]].shown;
  return wild_fill(g, o->pattern, (Fill){names[0], names[1], NULL, o->n, o->m});
}

const char *wild_domain(Wild *g, int lo, int extent) {
  return lo ? tirc_format(g->c, "(%d, %d)", lo, lo + extent) : tirc_format(g->c, "%d", extent);
}

void wild_loop(Wild *g, const WildStage *s, int k) {
  const WildLoop *l = &s->loops[k];
  const char *range = tirc_format(g->c, "%d", l->extent);
  if (l->lo) range = tirc_format(g->c, "%d, %d", l->lo, l->lo + l->extent);
  if (wild_on(g, NARROWS) && rng_chance(g->r, 40)) {
    static const char *const types[] = {"uint8", "int8", "int64", "uint32"};
    const char *t = *wild_any(g, types);
    if (l->lo >= 0) range = tirc_format(g->c, "T.%s(%d), T.%s(%d)", t, l->lo, t, l->lo + l->extent);
  }
  if (l->above >= 0) range = tirc_format(g->c, "%s + 1", s->loops[l->above].shown);
  wild_line(g, "%s", wild_fill(g, l->header, (Fill){.a = l->var, .b = range}));
}

static int add_loop(Wild *g, WildStage *s, int lo, int extent) {
  WildLoop *l = &s->loops[s->n_loops];
  *l = (WildLoop){.var = wild_name(g, "i"), .lo = lo, .extent = extent, .above = -1};
  l->shown = l->var;
  l->header = "for @a in range(@b):";
  return s->n_loops++;
}

/* --- bindings -------------------------------------------------------------------------------- */

static const char *const itself = "@a";

/* How many iterations the loop of an iterator has. */
static int count_run(Wild *g, WildStage *s, int extent) {
  if (extent < 2 || !wild_on(g, PARTS)) return extent;
  s->partial = true;
  return 1 + rng_below(g->r, extent);
}

static bool bind_elsewhere(Wild *g, WildStage *s, WildAxis *a) {
  const int form = rng_below(g->r, 5), n = count_run(g, s, a->extent);
  int lo = 1 + rng_below(g->r, 4);
  if (rng_chance(g->r, 25)) lo = -lo;
  if (form < 4) { /* the loop starts there, and in half of them the domain does */
    a->bound = (Over){form < 2 ? "@a - @n" : itself, {add_loop(g, s, lo, n), -1}, lo, 0};
    a->lo = form < 2 ? 0 : lo;
  } else {
    a->bound = (Over){"@a + @n", {add_loop(g, s, 0, n), -1}, lo, 0};
    a->lo = lo;
  }
  return true;
}

/* A number of a form, of the iterator's extent n and of a small q. */
typedef enum Number { NONE, N, LAST, Q, N_TIMES_Q, N_OVER_Q, INSIDE } Number;
static int number_of(Wild *g, Number k, int n, int q) {
  switch (k) {
  case NONE: return 0;
  case N: return n;
  case LAST: return n - 1;
  case Q: return q;
  case N_TIMES_Q: return n * q;
  case N_OVER_Q: return (n + q - 1) / q;
  case INSIDE: return rng_below(g->r, n);
  }
  return 0;
}

static bool bind_oddly(Wild *g, WildStage *s, WildAxis *a) {
  static const struct Form {
    const char *pattern, *tail;
    Number n, first, second; /* in the pattern; extents of the loops */
    bool all, from_first;    /* takes all values; begins with the first one */
  } forms[] = {{"@n - @a", NULL, LAST, N, NONE, true, false},
               {"@a // @n", NULL, Q, N_TIMES_Q, NONE, true, true},
               {"@a % @n", NULL, N, N_TIMES_Q, NONE, true, true},
               {"@a * @n + @b", "@a * @n + @b < @m", Q, N_OVER_Q, Q, true, true},
               {"@n", NULL, INSIDE, NONE, NONE, false, false},
               {itself, NULL, NONE, N, Q, true, true}, /* runs again and again */
               {"(@a + 1) % @n", NULL, N, N, NONE, true, false},
               {"T.min(@a * 2, @n)", NULL, LAST, N, NONE, false, true}};
  static const struct Form narrow[] = {
      {"T.Cast(\"int32\", T.Cast(\"int8\", @a))", NULL, NONE, N, NONE, true, true},
      {"T.Cast(\"int32\", T.Cast(\"uint8\", @a * 100)) % @n", NULL, N, N, NONE, false, true},
      {"T.Cast(\"int32\", T.Cast(\"int8\", @a * 86)) % @n", NULL, N, N, NONE, false, true},
      {"T.min(T.Cast(\"int32\", T.Cast(\"bool\", @a)), @n)", NULL, LAST, N, NONE, false, true},
      {"@n - T.Cast(\"int32\", T.Cast(\"uint8\", @a))", NULL, LAST, N, NONE, true, false}};
  if (a->extent == 0) return false;
  const struct Form *f = wild_on(g, NARROWS) ? wild_any(g, narrow) : wild_any(g, forms);
  const int q = 1 + rng_below(g->r, 3), n = a->extent;
  Over *o = &a->bound;
  *o = (Over){f->pattern, {-1, -1}, number_of(g, f->n, n, q), n};
  if (f->first) o->loops[0] = add_loop(g, s, 0, number_of(g, f->first, n, q));
  if (f->second) o->loops[1] = add_loop(g, s, 0, number_of(g, f->second, n, q));
  if (f->tail && n % q)
    s->wheres[s->n_wheres++] = (Over){f->tail, {o->loops[0], o->loops[1]}, q, n};
  s->partial |= n > 1 && !(a->reduces ? f->from_first : f->all);
  return true;
}

/* Below another loop's variable, and that. */
static bool bind_triangle(Wild *g, WildStage *s, WildAxis *a) {
  if (!s->n_loops || !rng_chance(g->r, 40)) return false;
  const int above = rng_below(g->r, s->n_loops);
  const WildLoop *l = &s->loops[above];
  if (l->lo || l->extent > a->extent || !l->extent) return false;
  const int k = add_loop(g, s, 0, l->extent);
  s->loops[k].above = above;
  a->bound = (Over){itself, {k, -1}, 0, 0};
  s->partial |= !a->reduces;
  return true;
}

static void bind_axis(Wild *g, WildStage *s, WildAxis *a) {
  static const struct {
    Feature feature;
    bool (*bind)(Wild *, WildStage *, WildAxis *);
  } ways[] = {{STARTS, bind_elsewhere},
              {BINDS, bind_oddly},
              {NARROWS, bind_oddly},
              {EXTENTS, bind_triangle}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (wild_on(g, ways[i].feature) && ways[i].bind(g, s, a)) return;
  a->bound = (Over){itself, {add_loop(g, s, 0, count_run(g, s, a->extent)), -1}, 0, 0};
}

/* The first two iterators by one loop. */
static void bind_fused(Wild *g, WildStage *s) {
  WildAxis *a = &s->axes[0], *b = &s->axes[1];
  const int k = add_loop(g, s, 0, a->extent * b->extent);
  a->bound = (Over){"@a // @n", {k, -1}, b->extent, 0};
  b->bound = (Over){"@a % @n", {k, -1}, b->extent, 0};
}

/* --- predicates ------------------------------------------------------------------------------ */

typedef struct Test {
  const char *pattern;
  bool of_two;
} Test;
static const Test tests[] = {
    {"@a < @n", false},      {"@a < @n", false},      {"@a >= @n", false},
    {"@a % @m == 0", false}, {"@a % @m == 1", false}, {"@a + @b < @n", true},
    {"@a <= @b", true},      {"@a != @b", true},      {"@a == @b", true}};

static const Test scalar_tests[] = {{"n < @n", false},      {"@a < n", false},
                                    {"@a < n", false},      {"@a >= n", false},
                                    {"@a + n < @n", false}, {"(@a + n) % @m == 0", false}};

static const Test narrow_tests[] = {
    {"T.Cast(\"bool\", @a % @m)", false},
    {"T.Cast(\"int8\", @a * 50) < T.int8(@n)", false},
    {"T.Cast(\"uint8\", @a - 1) >= T.uint8(@n)", false},
    {"(@a < @n) + (@b == 1)", true},
    {"~(@a <= @b)", true},
    {"T.Cast(\"uint32\", @a) - T.Cast(\"uint32\", @b) < T.uint32(@n)", true}};

/* A test of a loop, perhaps with another one of the first n. */
static Over test_of(Wild *g, const WildStage *s, int loop, int n) {
  const bool scalar = wild_on(g, SCALARS);
  const bool narrow = !scalar && wild_on(g, NARROWS);
  const Test *t = scalar   ? wild_any(g, scalar_tests)
                  : narrow ? wild_any(g, narrow_tests)
                           : wild_any(g, tests);
  const WildLoop *l = &s->loops[loop];
  const int other = t->of_two ? rng_below(g->r, n) : -1;
  int most = l->extent;
  g->has_scalar |= scalar;
  if (t->of_two) most += s->loops[other].lo + s->loops[other].extent;
  int bound = l->lo + rng_below(g->r, most > 0 ? most + 1 : 1);
  if (narrow && bound < 0) bound = 0;
  return (Over){t->pattern, {loop, other}, bound, 2 + rng_below(g->r, 2)};
}

const char *wild_condition(Wild *g, const WildStage *s, int n) {
  if (!n) return NULL;
  const Over test = test_of(g, s, rng_below(g->r, n), n);
  return wild_over(g, s, &test);
}

static void draw_wheres(Wild *g, WildStage *s) {
  for (int i = 0; i < s->n_axes; i++) {
    const WildAxis *a = &s->axes[i];
    if (a->bound.pattern != itself || a->extent < 2 || !wild_on(g, WHERES)) continue;
    s->wheres[s->n_wheres++] = test_of(g, s, a->bound.loops[0], s->n_loops);
    s->partial = true;
  }
}

/* --- kinds ----------------------------------------------------------------------------------- */

static void draw_axis_kinds(Wild *g, WildStage *s) {
  static const char *const spatial[] = {"opaque", "scan", "spatial", "reduce"}, *const reduce[] = {
                                                                                    "reduce",
                                                                                    "opaque"};
  for (int i = 0; i < s->n_axes; i++) {
    WildAxis *a = &s->axes[i];
    a->kind = a->reduces ? "reduce" : "spatial";
    if (!wild_on(g, KINDS) || !rng_chance(g->r, 40)) continue;
    a->kind = a->reduces ? *wild_any(g, reduce) : *wild_any(g, spatial);
    s->partial |= s->reduces; /* it starts again, or not everywhere */
  }
}

/* Only loops of one spatial iterator each: others race. */
static void draw_loop_kinds(Wild *g, WildStage *s) {
  static const char *const headers[] = {"for @a in T.parallel(@b):",
                                        "for @a in T.vectorized(@b):",
                                        "for @a in T.unroll(@b):",
                                        "for @a in T.serial(@b, annotations={\"a\": 1}):",
                                        "for @a in T.thread_binding(@b, thread=\"threadIdx.x\"):",
                                        "for @a in T.thread_binding(@b, thread=\"blockIdx.x\"):"};
  for (int i = 0; i < s->n_axes; i++) {
    const Over *o = &s->axes[i].bound;
    if (o->pattern != itself || s->axes[i].reduces || o->loops[0] < s->n_opened) continue;
    if (wild_on(g, KINDS) && rng_chance(g->r, 40))
      s->loops[o->loops[0]].header = *wild_any(g, headers);
  }
}

/* --- the whole ------------------------------------------------------------------------------- */

static WildAxis *add_axis(Wild *g, WildStage *s, int extent, bool reduces) {
  WildAxis *a = &s->axes[s->n_axes++];
  *a = (WildAxis){.name = wild_name(g, "v"), .extent = extent, .reduces = reduces};
  s->partial |= reduces && extent == 0;
  return a;
}

/* One iterator a dimension, and those of a reduction. */
static void draw_axes(Wild *g, WildStage *s) {
  for (int d = 0; d < s->out->n; d++) (void)add_axis(g, s, s->out->shape[d], false);
  const bool sums = strcmp(s->out->dtype, "bool") != 0 || g->percent[NARROWS];
  s->reduces = sums && rng_chance(g->r, g->percent[SUMS] ? 60 : 20);
  const bool two = wild_on(g, SUMS) && rng_chance(g->r, 33);
  for (int i = 0; i < s->reduces + (s->reduces && two); i++)
    (void)add_axis(g, s, wild_extent(g), true);
}

void wild_space(Wild *g, WildStage *s) {
  draw_axes(g, s);
  int from = 0;
  const int n = s->n_axes;
  if (s->n_opened && s->out->n && s->out->shape[0] == s->loops[0].extent) {
    s->axes[from++].bound = (Over){itself, {0, -1}, 0, 0};
  } else if (s->out->n >= 2 && s->axes[1].extent && wild_on(g, BINDS) && rng_chance(g->r, 40)) {
    bind_fused(g, s);
    from = 2;
  }
  for (int i = from; i < n; i++) bind_axis(g, s, &s->axes[i]);
  if (s->n_opened && !from && rng_chance(g->r, 50)) { /* it runs again in each shared iteration */
    WildAxis *a = add_axis(g, s, s->loops[0].extent, rng_chance(g->r, 40));
    a->bound = (Over){itself, {0, -1}, 0, 0};
  }
  draw_wheres(g, s);
  draw_axis_kinds(g, s);
  draw_loop_kinds(g, s);
}
