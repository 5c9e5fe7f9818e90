/* Stages of programs for the fuzzer of code: nests that fill a buffer, element by element, as sums,
 * scans, scattered, under while and over triangles. */
#include "fuzz_code.h"

enum { MAX_LOOPS = 4, MAX_RUNS = 1500 };

typedef struct Loop {
  Typed var;           /* starts at var.lo */
  const char *header;  /* what follows "in" */
  const char *kind;    /* "spatial" or "reduce" */
  const char *lo, *hi; /* of its type */
} Loop;

typedef struct Stage {
  CodeBuffer *out;
  bool last, partial; /* partial: some elements may keep what they hold */
  int n;
  Loop loops[MAX_LOOPS];
  Wide lo, hi; /* what is stored */
  bool stored;
} Stage;

/* --- loops ----------------------------------------------------------------------------------- */

static const char *typed_number(Draft *g, DType t, Wide v) {
  if (tirc_dtype_equal(t, DT_INT32)) return tirc_format(g->c, "%lld", (long long)v);
  return tirc_format(g->c, "T.%s(%lld)", tirc_dtype_name(g->c, t), (long long)v);
}

static bool is_number(const char *text) { return text[0] >= '0' && text[0] <= '9'; }

static const char *loop_kind(Draft *g, const Loop *l, bool may_be_parallel) {
  const Wide extent = l->var.hi - l->var.lo + 1;
  if (extent <= 8 && rng_chance(g->r, 15)) return "T.unroll";
  if (!may_be_parallel || !rng_chance(g->r, 20)) return rng_chance(g->r, 70) ? "range" : "T.serial";
  if (extent <= 64 && is_number(l->hi) && rng_chance(g->r, 60)) return "T.vectorized";
  return "T.parallel";
}

/* Over an extent; of its type, or of another one that has the numbers. */
static Loop make_loop(Draft *g, Typed extent, const char *kind, bool may_be_parallel) {
  Loop l = {.kind = kind};
  DType t = extent.t;
  Wide lo = 0;
  const bool known = is_number(extent.text);
  if (known && rng_chance(g->r, 30)) t = code_int_type(g);
  if (known && rng_chance(g->r, 20)) lo = rng_below(g->r, 12) - (t.code == TYPE_INT ? 6 : 0);
  if (known && rng_chance(g->r, 4)) lo = code_max(t) > 1000 ? lo : code_max(t) - extent.hi;
  if (lo + extent.hi > code_max(t) || lo < code_min(t)) t = DT_INT32, lo = 0;
  l.var = (Typed){code_name(g, "i"), t, lo, lo + extent.hi - 1};
  l.lo = typed_number(g, t, lo);
  l.hi = known ? typed_number(g, t, lo + extent.hi) : extent.text;
  const char *form = loop_kind(g, &l, may_be_parallel);
  l.header = lo || rng_chance(g->r, 10) ? tirc_format(g->c, "%s(%s, %s)", form, l.lo, l.hi)
                                        : tirc_format(g->c, "%s(%s)", form, l.hi);
  return l;
}

static void open_loops(Draft *g, const Stage *s, int from, int n) {
  for (int i = from; i < from + n; i++, g->depth++)
    code_line(g, "for %s in %s:", s->loops[i].var.text, s->loops[i].header);
}

/* The block's iterators stand for the loops from here on. */
static void open_block(Draft *g, Stage *s) {
  code_line(g, "with T.block(\"S%d\"):", g->n_blocks++);
  g->depth++;
  for (int i = 0; i < s->n; i++) {
    Loop *l = &s->loops[i];
    const char *v = code_name(g, "v");
    const char *domain = l->var.lo ? tirc_format(g->c, "(%s, %s)", l->lo, l->hi) : l->hi;
    code_line(g, "%s = T.axis.%s(%s, %s)", v, l->kind, domain, l->var.text);
    l->var.text = v;
  }
}

static void push_vars(Draft *g, const Stage *s, int from, int n) {
  for (int i = from; i < from + n && g->n_vars < CODE_VARS; i++)
    g->vars[g->n_vars++] = s->loops[i].var;
}

/* --- stores ---------------------------------------------------------------------------------- */

/* A loop's variable as an index: from 0 on. */
static const char *plain_index(Draft *g, const Loop *l) {
  Typed at = l->var;
  if (at.lo) at = (Typed){tirc_format(g->c, "(%s - %s)", at.text, l->lo), at.t, 0, at.hi - at.lo};
  return tirc_dtype_equal(at.t, DT_INT32) || rng_chance(g->r, 40) ? at.text
                                                                  : code_cast(g, at, DT_INT32).text;
}

static const char *own_indices(Draft *g, const Stage *s) {
  Text t = {.c = g->c};
  tirc_text_add(&t, s->out->n ? "" : "()");
  for (int d = 0; d < s->out->n; d++)
    tirc_text_addf(&t, "%s%s", d ? ", " : "", plain_index(g, &s->loops[d]));
  return t.at;
}

static Typed value(Draft *g, DType t) {
  g->budget = 2;
  if (rng_chance(g->r, 12)) return code_cast(g, code_strided_load(g), t);
  g->budget = 1 + rng_below(g->r, 11);
  return code_expr(g, t, 1 + rng_below(g->r, 4));
}

static void note(Stage *s, Typed v) {
  if (!s->stored || v.lo < s->lo) s->lo = v.lo;
  if (!s->stored || v.hi > s->hi) s->hi = v.hi;
  s->stored = true;
}

static void store(Draft *g, Stage *s, const char *indices) {
  const Typed v = value(g, s->out->t);
  code_line(g, "%s[%s] = %s", s->out->name, indices, v.text);
  note(s, v);
}

/* A value under a name; the name of another type than the value's is a cast. */
static void let(Draft *g) {
  const Typed v = value(g, code_int_type(g));
  const char *x = code_name(g, "x");
  code_line(g, "%s: T.%s = %s", x, tirc_dtype_name(g->c, v.t), v.text);
  if (g->n_vars < CODE_VARS) g->vars[g->n_vars++] = (Typed){x, v.t, v.lo, v.hi};
}

static void store_somehow(Draft *g, Stage *s, const char *indices, int more) {
  const int kept = g->n_vars;
  if (rng_chance(g->r, 18)) let(g);
  if (more && (s->out->is_param || s->last) && rng_chance(g->r, 22)) {
    g->budget = 1 + rng_below(g->r, 8);
    code_line(g, "if %s:", code_condition(g, 2).text);
    g->depth++;
    store_somehow(g, s, indices, more - 1);
    g->depth--;
    if (rng_chance(g->r, 50)) {
      code_line(g, "else:");
      g->depth++;
      store_somehow(g, s, indices, more - 1);
      g->depth--;
    } else {
      s->partial = true;
    }
  } else {
    store(g, s, indices);
  }
  g->n_vars = kept;
}

/* --- views ----------------------------------------------------------------------------------- */

/* Of a part of a buffer that can be read; it can be read in the block, too. */
static void view(Draft *g) {
  const CodeBuffer *b = &g->buffers[rng_below(g->r, g->n_buffers)];
  if (!b->n || g->n_buffers + 1 >= CODE_BUFFERS) return;
  CodeBuffer *v = &g->buffers[g->n_buffers];
  *v = *b;
  v->name = code_name(g, "V");
  Text region = {.c = g->c}, shape = {.c = g->c}, strides = {.c = g->c};
  for (int d = 0; d < b->n; d++) {
    v->shape[d] = 1 + rng_below(g->r, b->shape[d]);
    v->extents[d] =
        (Typed){tirc_format(g->c, "%d", v->shape[d]), DT_INT32, v->shape[d], v->shape[d]};
    const int room = b->shape[d] - v->shape[d] + 1;
    g->budget = 3;
    const char *from =
        rng_chance(g->r, 50)
            ? tirc_format(g->c, "%d", rng_below(g->r, room))
            : code_index(g, (Typed){tirc_format(g->c, "%d", room), DT_INT32, room, room});
    tirc_text_addf(&region, "%s%s:%s + %d", d ? ", " : "", from, from, v->shape[d]);
    tirc_text_addf(&shape, "%d, ", v->shape[d]);
    tirc_text_addf(&strides, "%s\"%s\"", d ? ", " : "", code_name(g, "t"));
  }
  code_line(g, "%s = T.match_buffer(%s[%s], (%s), \"%s\", strides=[%s], offset_factor=1)", v->name,
            b->name, region.at, shape.at, tirc_dtype_name(g->c, v->t), strides.at);
  g->n_buffers++;
}

/* --- kinds of stages ------------------------------------------------------------------------- */

/* Each element once, in a block or without one. */
static void elementwise(Draft *g, Stage *s) {
  const int kept = g->n_vars, buffers = g->n_buffers;
  const bool block = rng_chance(g->r, 65);
  open_loops(g, s, 0, s->n);
  push_vars(g, s, 0, s->n);
  g->budget = 6;
  const bool where = block && s->out->is_param && rng_chance(g->r, 15);
  const char *condition = where ? code_condition(g, 2).text : NULL;
  g->n_vars = kept;
  if (block) open_block(g, s);
  push_vars(g, s, 0, s->n);
  if (where) code_line(g, "T.where(%s)", condition);
  s->partial |= where;
  if (block && rng_chance(g->r, 15)) view(g);
  store_somehow(g, s, own_indices(g, s), 2);
  g->n_vars = kept;
  g->n_buffers = buffers;
}

static const struct {
  const char *form;
  bool on_bool, on_int, on_float, grows;
} folds[] = {{"(%s + %s)", true, true, true, true},
             {"(%s + %s)", true, true, true, true},
             {"(%s * %s)", true, true, false, true},
             {"T.min(%s, %s)", true, true, true, false},
             {"T.max(%s, %s)", true, true, true, false},
             {"(%s & %s)", true, true, false, false},
             {"(%s | %s)", true, true, false, false},
             {"(%s ^ %s)", true, true, false, false},
             {"(%s and %s)", true, false, false, false},
             {"(%s or %s)", true, false, false, false},
             {"(%s - %s)", false, true, true, true},
             {"T.Select(T.isnan(%s), @, T.min(@, %s))", false, false, true, false}};

/* out[indices] folded with a value, n times in all. */
static void fold(Draft *g, Stage *s, const char *indices, Wide n) {
  const DType t = s->out->t;
  const bool is_float = tirc_dtype_is_float(t), is_bool = t.code == TYPE_BOOL;
  int i = rng_below(g->r, sizeof folds / sizeof *folds);
  const bool wraps = t.code == TYPE_UINT || is_bool || t.bits < 32;
  while (!(is_bool    ? folds[i].on_bool
           : is_float ? folds[i].on_float
                      : folds[i].on_int) ||
         (strchr(folds[i].form, '*') && !wraps))
    i = rng_below(g->r, sizeof folds / sizeof *folds);
  Typed v = value(g, t);
  const Wide share = code_max(t) / (n + 2);
  if (folds[i].grows && (!wraps || is_float)) v = code_fit(g, v, -share, share);
  const char *self = tirc_format(g->c, "%s[%s]", s->out->name, indices);
  const char *const texts[] = {self, v.text};
  Text out = {.c = g->c};
  for (const char *p = folds[i].form, *const *x = texts; *p; p++) {
    if (*p == '@')
      tirc_text_add(&out, self);
    else if (*p == '%')
      tirc_text_add(&out, *x++), p++;
    else
      tirc_text_addn(&out, p, 1);
  }
  code_line(g, "%s = %s", self, out.at);
  note(s, (Typed){NULL, t, code_min(t), code_max(t)});
}

static void start(Draft *g, Stage *s, const char *indices) {
  const Typed zero =
      code_constant(g, s->out->t, rng_below(g->r, s->out->t.code == TYPE_BOOL ? 2 : 4));
  code_line(g, "%s[%s] = %s", s->out->name, indices, zero.text);
}

static Typed draw_extent(Draft *g, int most) {
  static const int extents[] = {0,  1,  2,  3,  4,  5,  7,   8,   9,   13,
                                16, 17, 31, 32, 40, 64, 100, 100, 128, 200};
  int size = *code_any(g, extents);
  if (size > most) size = most;
  return (Typed){tirc_format(g->c, "%d", size), DT_INT32, size, size};
}

static void reduction(Draft *g, Stage *s) {
  const int kept = g->n_vars, buffers = g->n_buffers, n = s->n;
  Typed extent = draw_extent(g, 32);
  if (!extent.hi) extent = (Typed){"1", DT_INT32, 1, 1};
  s->loops[s->n++] = make_loop(g, extent, "reduce", false);
  if (rng_chance(g->r, 60)) {
    open_loops(g, s, 0, s->n);
    open_block(g, s);
    push_vars(g, s, 0, s->n);
    const char *at = own_indices(g, s);
    code_line(g, "with T.init():");
    g->depth++;
    start(g, s, at);
    g->depth--;
    fold(g, s, at, extent.hi);
  } else {
    open_loops(g, s, 0, n);
    push_vars(g, s, 0, n);
    const char *at = own_indices(g, s);
    start(g, s, at);
    open_loops(g, s, n, 1);
    push_vars(g, s, n, 1);
    fold(g, s, at, extent.hi);
  }
  g->n_vars = kept;
  g->n_buffers = buffers;
}

/* Each element of the one before it. */
static void scan(Draft *g, Stage *s) {
  const int kept = g->n_vars;
  start(g, s, "0");
  const char *i = code_name(g, "i");
  code_line(g, "for %s in range(%d):", i, s->out->shape[0] - 1);
  g->depth++;
  g->vars[g->n_vars++] = (Typed){i, DT_INT32, 0, s->out->shape[0] > 2 ? s->out->shape[0] - 2 : 0};
  code_line(g, "%s[%s + 1] = %s[%s]", s->out->name, i, s->out->name, i);
  fold(g, s, tirc_format(g->c, "%s + 1", i), s->out->shape[0]);
  g->n_vars = kept;
}

/* To places that are computed, some of them several times. */
static void scatter(Draft *g, Stage *s) {
  const int kept = g->n_vars;
  s->partial = true;
  s->n = 0;
  const Typed extent = draw_extent(g, 100);
  s->loops[s->n++] = make_loop(g, extent, "spatial", false);
  if (extent.hi <= 10 && rng_chance(g->r, 40))
    s->loops[s->n++] = make_loop(g, draw_extent(g, 20), "spatial", false);
  for (int i = 0; i < s->n; i++)
    if (s->loops[i].var.hi < s->loops[i].var.lo) s->loops[i].var.hi = s->loops[i].var.lo;
  open_loops(g, s, 0, s->n);
  push_vars(g, s, 0, s->n);
  g->budget = 8;
  store_somehow(g, s, code_indices(g, s->out), 2);
  g->n_vars = kept;
}

/* Counts in a buffer of any type up to near its end. */
static void counted(Draft *g, Stage *s) {
  const int kept = g->n_vars;
  const DType t = code_int_type(g);
  const Wide top = code_max(t) < 300 ? code_max(t) : 60, step = 1 + rng_below(g->r, 3);
  const Wide from = rng_chance(g->r, 30) && t.code == TYPE_INT ? -9 : rng_below(g->r, 9);
  const Wide end = rng_chance(g->r, 40) ? top - step + 1 : rng_below(g->r, (int)top - 3);
  const char *w = code_name(g, "B");
  tirc_text_addf(&g->head, "    %s = T.alloc_buffer((1,), \"%s\")\n", w, tirc_dtype_name(g->c, t));
  code_line(g, "%s[0] = %s", w, code_constant(g, t, from).text);
  code_line(g, "while %s[0] < %s:", w, code_constant(g, t, end).text);
  g->depth++;
  g->vars[g->n_vars++] =
      (Typed){tirc_format(g->c, "%s[0]", w), t, from, end > from ? end - 1 : from};
  g->budget = 8;
  s->partial = true;
  store_somehow(g, s, code_indices(g, s->out), 1);
  code_line(g, "%s[0] = %s[0] + %s", w, w, code_constant(g, t, step).text);
  g->n_vars = kept;
}

/* The place of the first greatest or last least value. */
static void argmax(Draft *g, Stage *s) {
  const int kept = g->n_vars;
  const DType t = code_int_type(g);
  const char *m = code_name(g, "B"), *y = code_name(g, "x");
  const bool greatest = rng_chance(g->r, 50);
  tirc_text_addf(&g->head, "    %s = T.alloc_buffer((1,), \"%s\")\n", m, tirc_dtype_name(g->c, t));
  code_line(g, "%s[0] = %s", m, code_constant(g, t, greatest ? code_min(t) : code_max(t)).text);
  s->partial = true;
  s->n = 0;
  Typed extent = draw_extent(g, 100);
  s->loops[s->n++] =
      make_loop(g, extent.hi ? extent : (Typed){"1", DT_INT32, 1, 1}, "reduce", false);
  open_loops(g, s, 0, 1);
  push_vars(g, s, 0, 1);
  code_line(g, "%s: T.%s = %s", y, tirc_dtype_name(g->c, t), value(g, t).text);
  g->budget = 3;
  const char *at = code_indices(g, s->out);
  code_line(g, "if %s %s %s[0]:", y, greatest ? ">" : "<=", m);
  g->depth++;
  code_line(g, "%s[0] = %s", m, y);
  const Typed place = code_cast(g, s->loops[0].var, s->out->t);
  code_line(g, "%s[%s] = %s", s->out->name, at, place.text);
  note(s, place);
  g->n_vars = kept;
}

static void triangle(Draft *g, Stage *s) {
  static const char *const forms[] = {
      "range(%s + 1)",    "range(%s)", "range(%s, 9)", "range(9 - %s)", "T.serial(%s // 2, %s + 1)",
      "range(%s, %s * 2)"};
  const int kept = g->n_vars;
  const char *i = code_name(g, "i"), *j = code_name(g, "i");
  code_line(g, "for %s in range(9):", i);
  g->depth++;
  Text header = {.c = g->c};
  for (const char *p = *code_any(g, forms); *p; p++)
    if (*p == '%')
      tirc_text_add(&header, i), p++;
    else
      tirc_text_addn(&header, p, 1);
  code_line(g, "for %s in %s:", j, header.at);
  g->depth++;
  g->vars[g->n_vars++] = (Typed){i, DT_INT32, 0, 8};
  g->vars[g->n_vars++] = (Typed){j, DT_INT32, 0, 15};
  s->partial = true;
  g->budget = 6;
  store_somehow(g, s, code_indices(g, s->out), 1);
  g->n_vars = kept;
}

/* --- a stage --------------------------------------------------------------------------------- */

static const struct {
  void (*emit)(Draft *, Stage *);
  int percent;
  bool partial;
} kinds[] = {{reduction, 18, false},   {scan, 8, false},  {scatter, 14, true},
             {counted, 6, true},       {argmax, 4, true}, {triangle, 5, true},
             {elementwise, 100, false}};

static int draw_shape(Draft *g, Typed *extents) {
  const CodeBuffer *like = &g->buffers[rng_below(g->r, g->n_buffers)];
  int n = rng_chance(g->r, 70) ? 1 : 2, runs = 1;
  if (rng_chance(g->r, 3)) return 0;
  if (like->n && rng_chance(g->r, 30)) {
    n = like->n;
    for (int d = 0; d < n; d++) runs *= like->shape[d];
    for (int d = 0; d < n; d++) extents[d] = like->extents[d];
    if (runs <= MAX_RUNS) return n;
    n = 1;
  }
  for (int d = 0; d < n; d++) {
    extents[d] = draw_extent(g, n == 2 ? 40 : 200);
    if (!extents[d].hi && rng_chance(g->r, 70)) extents[d] = (Typed){"6", DT_INT32, 6, 6};
  }
  return n;
}

void code_stage(Draft *g, bool last) {
  Typed extents[CODE_DIMS];
  Stage s = {.last = last};
  int kind = 0, n = draw_shape(g, extents);
  while (!rng_chance(g->r, kinds[kind].percent)) kind++;
  bool empty = false;
  for (int d = 0; d < n; d++) empty |= extents[d].hi == 0;
  if (empty || (kinds[kind].emit == scan && n != 1)) kind = sizeof kinds / sizeof *kinds - 1;
  const bool is_param = last || kinds[kind].partial || rng_chance(g->r, 40);
  const int depth = g->depth, vars = g->n_vars, buffers = g->n_buffers;
  CodeBuffer out = code_buffer(g, code_type(g), n, extents, is_param);
  s.out = &out;
  const bool may_be_parallel = kinds[kind].emit == elementwise;
  for (int d = 0; d < n; d++) s.loops[s.n++] = make_loop(g, extents[d], "spatial", may_be_parallel);
  for (int d = 0; d < n; d++)
    if (s.loops[d].var.hi < s.loops[d].var.lo) s.loops[d].var.hi = s.loops[d].var.lo;
  kinds[kind].emit(g, &s);
  g->depth = depth;
  g->n_vars = vars;
  g->n_buffers = buffers;
  if (!s.stored) return;
  if (!is_param || !s.partial) out.lo = s.lo, out.hi = s.hi;
  if (s.partial && s.lo < out.lo) out.lo = s.lo;
  if (s.partial && s.hi > out.hi) out.hi = s.hi;
  if (!empty && g->n_buffers < CODE_BUFFERS) g->buffers[g->n_buffers++] = out;
}
