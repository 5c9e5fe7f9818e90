/* Wild programs: what fuzz_program never draws. Each is full of one to four things (Feature), so
 * that many of them meet. Here is what is around the stages' loops and blocks: the buffers, the
 * loops that stages share, and the outer blocks, conditions and lets between loops. */
#include "fuzz_wild.h"

#include <stdarg.h>
#include <stdio.h>

/* --- text ------------------------------------------------------------------------------------ */

void wild_line(Wild *g, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *line = tirc_vformat(g->c, format, args);
  va_end(args);
  tirc_text_addf(&g->body, "%*s%s\n", 4 * g->depth, "", line);
}

const char *wild_fill(Wild *g, const char *pattern, Fill with) {
  Text t = {.c = g->c};
  tirc_text_add(&t, "");
  for (const char *p = pattern; *p; p++) switch (*p == '@' ? *++p : 0) {
    case 'a': tirc_text_add(&t, with.a); break;
    case 'b': tirc_text_add(&t, with.b); break;
    case 'c': tirc_text_add(&t, with.c); break;
    case 'n': tirc_text_addf(&t, "%d", with.n); break;
    case 'm': tirc_text_addf(&t, "%d", with.m); break;
    default: tirc_text_addn(&t, p, 1);
    }
  return t.at;
}

const char *wild_list(Wild *g, int n, const char *const *texts) {
  Text t = {.c = g->c};
  tirc_text_add(&t, "");
  for (int i = 0; i < n; i++) tirc_text_addf(&t, "%s%s", i ? ", " : "", texts[i]);
  return t.at;
}

const char *wild_shape(Wild *g, const WildBuffer *b) {
  const char *extents[MAX_DIMS];
  for (int d = 0; d < b->n; d++) extents[d] = tirc_format(g->c, "%d", b->shape[d]);
  return tirc_format(g->c, "(%s%s)", wild_list(g, b->n, extents), b->n ? "," : "");
}

const char *wild_name(Wild *g, const char *prefix) {
  return tirc_format(g->c, "%s%d", prefix, ++g->n_names);
}

/* --- what is drawn --------------------------------------------------------------------------- */

static const char *const features[N_FEATURES] = {
    [STARTS] = "starts",   [PARTS] = "parts",     [NESTS] = "nests",     [IFS] = "ifs",
    [WHERES] = "wheres",   [LETS] = "lets",       [BODIES] = "bodies",   [SUMS] = "sums",
    [BINDS] = "binds",     [GATHERS] = "gathers", [TYPES] = "types",     [VIEWS] = "views",
    [KINDS] = "kinds",     [EXTENTS] = "extents", [UPDATES] = "updates", [SHARES] = "shares",
    [SCALARS] = "scalars", [NARROWS] = "narrows"};

bool wild_on(Wild *g, Feature f) { return rng_chance(g->r, g->percent[f]); }

/* Also says which, in a comment. */
static void draw_features(Wild *g, Text *comment) {
  static const int percents[] = {30, 50, 70};
  g->percent[UPDATES] = 10;
  g->percent[SHARES] = 30;
  tirc_text_add(comment, "#");
  for (int i = 1 + rng_below(g->r, 4); i > 0; i--) {
    const int f = rng_below(g->r, N_FEATURES);
    g->percent[f] = *wild_any(g, percents);
    if (f == SCALARS) g->percent[rng_chance(g->r, 50) ? IFS : WHERES] = *wild_any(g, percents);
    tirc_text_addf(comment, " %s", features[f]);
  }
}

int wild_extent(Wild *g) {
  static const int plain[] = {2, 3, 4, 4, 4, 5, 6}, odd[] = {0, 1, 1, 1, 2, 3, 4};
  return wild_on(g, EXTENTS) && rng_chance(g->r, 40) ? *wild_any(g, odd) : *wild_any(g, plain);
}

bool wild_is_empty(const WildBuffer *b) {
  for (int d = 0; d < b->n; d++)
    if (!b->shape[d]) return true;
  return false;
}

WildBuffer *wild_buffer(Wild *g, const char *prefix, int n, const int *shape, const char *dtype) {
  WildBuffer *b = &g->buffers[g->n_buffers++];
  *b = (WildBuffer){.name = wild_name(g, prefix), .dtype = dtype, .n = n};
  b->shown = b->name;
  b->param = rng_chance(g->r, 55);
  for (int d = 0; d < n; d++) b->shape[d] = shape[d];
  return b;
}

static const char *draw_dtype(Wild *g) {
  static const char *const dtypes[] = {"int32", "int8", "uint8", "int64", "float16", "bool"};
  return wild_on(g, TYPES) ? *wild_any(g, dtypes) : "float32";
}

static void draw_inputs(Wild *g) {
  int shape[MAX_DIMS];
  const int n = rng_chance(g->r, 65) ? 2 : 1;
  for (int d = 0; d < n; d++) {
    const int extent = wild_extent(g);
    shape[d] = extent ? extent : 1;
  }
  wild_buffer(g, "A", n, shape, draw_dtype(g))->param = true;
  if (g->percent[GATHERS] == 0) return;
  const int extent = wild_extent(g);
  WildBuffer *indices = wild_buffer(g, "I", 1, &(int){extent ? extent : 1}, "int32");
  indices->param = indices->indexes = true;
}

/* What a stage writes: a new buffer, often in the shape of one that it may read, or one that is
 * there. */
static WildBuffer *draw_out(Wild *g, const WildLoop *shared) {
  static const int dims[] = {1, 1, 1, 2, 2, 2, 2, 2, 2, 3};
  const WildBuffer *like = &g->buffers[rng_below(g->r, g->n_sources)];
  WildBuffer *last = &g->buffers[g->n_sources - 1 - rng_below(g->r, g->n_sources > 2 ? 3 : 1)];
  if (!last->indexes && (wild_on(g, UPDATES) || g->n_buffers + 2 > MAX_BUFFERS)) return last;
  if (g->n_buffers + 2 > MAX_BUFFERS) return &g->buffers[0];
  int shape[MAX_DIMS], n = *wild_any(g, dims);
  if (wild_on(g, EXTENTS) && rng_chance(g->r, 30)) n = 0;
  for (int d = 0; d < n; d++) shape[d] = wild_extent(g);
  if (n && like->n && rng_chance(g->r, 50))
    for (int d = 0; d < (n = like->n); d++) shape[d] = like->shape[d];
  if (n && shared && rng_chance(g->r, 70)) shape[0] = shared->extent;
  const bool indexes = n == 1 && wild_on(g, GATHERS) && rng_chance(g->r, 35);
  WildBuffer *out = wild_buffer(g, "B", n, shape, indexes ? "int32" : draw_dtype(g));
  out->indexes = indexes;
  return out;
}

/* --- around a stage's blocks ----------------------------------------------------------------- */

static void emit_from(Wild *g, WildStage *s, int k);

static void emit_inside(Wild *g, WildStage *s, int k) {
  g->depth++;
  emit_from(g, s, k);
  g->depth--;
}

/* The first n loops as terms. */
static Terms loop_terms(Wild *g, const WildStage *s, int n) {
  Terms out = {0};
  for (int i = 0; i < n; i++) {
    const WildLoop *l = &s->loops[i];
    const char *text = l->lo ? tirc_format(g->c, "(%s - %d)", l->shown, l->lo) : l->shown;
    out.at[out.n++] = (Term){text, l->extent};
  }
  return out;
}

/* A condition around what is in the first k loops, on their variables or on a value. */
static void emit_if(Wild *g, WildStage *s, int k) {
  const Terms in = loop_terms(g, s, k);
  const char *condition = rng_chance(g->r, 70) ? wild_condition(g, s, k) : NULL;
  wild_line(g, "if %s:", condition ? condition : wild_load(g, s, &in, "bool", false));
  emit_inside(g, s, k);
  if (rng_chance(g->r, 50)) {
    s->partial = true;
    return;
  }
  wild_line(g, "else:");
  emit_inside(g, s, k);
}

static bool sums_over(const WildStage *s, int loop) {
  for (int i = 0; i < s->n_axes; i++)
    if (s->axes[i].reduces &&
        (s->axes[i].bound.loops[0] == loop || s->axes[i].bound.loops[1] == loop))
      return true;
  return false;
}

/* Of an outer block; from here on they stand for the first k loops. */
static void emit_outer_axes(Wild *g, WildStage *s, int k) {
  for (int i = 0; i < k; i++) {
    WildLoop *l = &s->loops[i];
    const char *v = wild_name(g, "o");
    const bool reduces = sums_over(s, i) && rng_chance(g->r, 80);
    wild_line(g, "%s = T.axis.%s(%s, %s)", v, reduces ? "reduce" : "spatial",
              wild_domain(g, l->lo, l->extent), l->shown);
    l->shown = v;
  }
}

static void emit_outer_block(Wild *g, WildStage *s, int k) {
  WildLoop kept[MAX_STAGE];
  WildBuffer local = *s->out;
  memcpy(kept, s->loops, sizeof kept);
  wild_line(g, "with T.block(\"%s\"):", wild_name(g, "outer"));
  const char *where = wild_on(g, WHERES) ? wild_condition(g, s, k) : NULL;
  g->depth++;
  emit_outer_axes(g, s, k);
  if (where) wild_line(g, "T.where(%s)", where);
  s->partial |= where != NULL;
  if (s->out->n && !s->reduces && rng_chance(g->r, 35)) {
    WildBuffer *out = s->out;
    local.name = local.shown = wild_name(g, "t");
    wild_line(g, "%s = T.alloc_buffer(%s, \"%s\")", local.name, wild_shape(g, out), out->dtype);
    s->around = ~0u;
    s->out = &local;
    s->fresh = true;
    emit_from(g, s, k);
    s->out = out;
    s->fresh = false;
    s->copied = &local;
  }
  emit_from(g, s, k);
  s->copied = NULL;
  g->depth--;
  memcpy(s->loops, kept, sizeof kept);
}

/* A loop's variable by another name. */
static void emit_index_let(Wild *g, WildStage *s, int k) {
  static const char *const same[] = {"@a", "@a * 1", "@a + 0"};
  if (!k) {
    emit_from(g, s, k);
    return;
  }
  WildLoop *l = &s->loops[rng_below(g->r, k)];
  const char *kept = l->shown, *x = wild_name(g, "k");
  wild_line(g, "%s: T.int32 = %s", x, wild_fill(g, *wild_any(g, same), (Fill){.a = l->shown}));
  l->shown = x;
  emit_from(g, s, k);
  l->shown = kept;
}

static void emit_value_let(Wild *g, WildStage *s, int k) {
  const Terms in = loop_terms(g, s, k);
  const char *kept = s->addend, *y = wild_name(g, "y");
  wild_line(g, "%s: T.%s = %s", y, s->out->dtype, wild_load(g, s, &in, s->out->dtype, false));
  s->addend = y;
  emit_from(g, s, k);
  s->addend = kept;
}

static const struct {
  Feature feature;
  void (*emit)(Wild *, WildStage *, int k);
} surroundings[] = {
    {NESTS, emit_outer_block}, {IFS, emit_if}, {LETS, emit_index_let}, {LETS, emit_value_let}};

/* The loops from k on, what stands between them, and the block. */
static void emit_from(Wild *g, WildStage *s, int k) {
  for (unsigned i = 0; i < sizeof surroundings / sizeof *surroundings && k >= s->n_opened; i++)
    if (!(s->around & 1u << i) && wild_on(g, surroundings[i].feature) && rng_chance(g->r, 40)) {
      s->around |= 1u << i;
      surroundings[i].emit(g, s, k);
      return;
    }
  if (k == s->n_loops) {
    wild_block(g, s);
    return;
  }
  wild_loop(g, s, k);
  emit_inside(g, s, k + 1);
}

/* --- the program ----------------------------------------------------------------------------- */

/* shared: a loop around this stage and another one, or NULL. */
static void emit_stage(Wild *g, const WildLoop *shared) {
  WildStage s = {0};
  g->n_sources = g->n_buffers;
  s.out = draw_out(g, shared);
  if (shared) s.loops[s.n_loops++] = *shared;
  s.n_opened = s.n_loops;
  wild_space(g, &s);
  emit_from(g, &s, s.n_opened);
  /* What is in a parameter is there already. */
  if (rng_chance(g->r, s.partial ? 90 : shared ? 40 : 0)) s.out->param = true;
  if (s.out->level <= s.level) s.out->level = s.level + 1;
  for (int i = g->n_sources; i < g->n_buffers; i++) {
    g->buffers[i].param |= s.partial;
    g->buffers[i].level = s.out->level;
  }
}

static void emit_pair(Wild *g) {
  WildLoop l = {.var = wild_name(g, "i"), .extent = wild_extent(g), .above = -1};
  l.shown = l.var;
  wild_line(g, "for %s in range(%d):", l.var, l.extent);
  g->depth++;
  emit_stage(g, &l);
  emit_stage(g, &l);
  g->depth--;
}

static const char *whole_text(Wild *g, const char *comment) {
  Text t = {.c = g->c};
  int n = 0;
  tirc_text_addf(&t, "%s\n@T.prim_func\ndef main(", comment);
  for (int i = 0; i < g->n_buffers; i++)
    if (g->buffers[i].param)
      tirc_text_addf(&t, "%s%s: T.Buffer(%s, \"%s\")", n++ ? ", " : "", g->buffers[i].name,
                     wild_shape(g, &g->buffers[i]), g->buffers[i].dtype);
  tirc_text_addf(&t, "%s):\n", g->has_scalar ? ", n: T.int32" : "");
  for (int i = 0; i < g->n_buffers; i++)
    if (!g->buffers[i].param)
      tirc_text_addf(&t, "    %s = T.alloc_buffer(%s, \"%s\")\n", g->buffers[i].name,
                     wild_shape(g, &g->buffers[i]), g->buffers[i].dtype);
  tirc_text_addn(&t, g->head.at, g->head.n);
  tirc_text_add(&t, g->body.at);
  return t.at;
}

const char *fuzz_wild_program(Tirc *c, Rng *r) {
  Wild g = {.c = c, .r = r, .depth = 1, .head = {.c = c}, .body = {.c = c}};
  Text comment = {.c = c};
  tirc_text_add(&g.head, "");
  draw_features(&g, &comment);
  draw_inputs(&g);
  for (int n = 2 + rng_below(r, 3); n > 0; n--)
    if (wild_on(&g, SHARES))
      emit_pair(&g);
    else
      emit_stage(&g, NULL);
  return whole_text(&g, comment.at);
}
