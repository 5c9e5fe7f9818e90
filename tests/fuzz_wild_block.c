/* The blocks of wild programs: what they read and store, by which indices, through which views. */
#include "fuzz_wild.h"

typedef struct Draft { /* of a block */
  Wild *g;
  WildStage *s;
  Terms in;                 /* what its indices are made of; first one a dimension of out */
  int scattered;            /* this dimension is stored to by a loaded index; -1: none */
  const char *scatter;      /* which */
  const char *view;         /* an element that is the one it stores to, or NULL */
  const char *at[MAX_DIMS]; /* the indices of that one */
  const char *target;       /* itself */
} Draft;

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* --- values ---------------------------------------------------------------------------------- */

const char *wild_literal(Wild *g, int value, const char *dtype) {
  if (is(dtype, "bool")) return value > 0 ? "T.bool(True)" : "T.bool(False)";
  return tirc_format(g->c, "T.%s(%d)", dtype, value < 0 && is(dtype, "uint8") ? 0 : value);
}

/* One that fits: casts that overflow are errors. */
static const char *cast(Wild *g, const char *value, const char *from, const char *to) {
  if (is(from, to)) return value;
  if (is(to, "uint8") && !is(from, "bool"))
    value = tirc_format(g->c, "T.max(%s, %s)", value, wild_literal(g, 0, from));
  return tirc_format(g->c, "T.Cast(\"%s\", %s)", to, value);
}

/* An index below n that is loaded; NULL: nothing is there to load it from. */
static const char *loaded_index(Wild *g, const Terms *in, int n) {
  static const char *const forms[] = {"@a[@b] % @n", "@a[@b] % @n", "T.max(T.min(@a[@b], @m), 0)"};
  const WildBuffer *from[MAX_BUFFERS];
  int n_from = 0;
  for (int i = 0; i < g->n_sources; i++)
    if (g->buffers[i].indexes && !wild_is_empty(&g->buffers[i])) from[n_from++] = &g->buffers[i];
  if (!n_from || !in->n) return NULL;
  const WildBuffer *b = from[rng_below(g->r, n_from)];
  const Term *t = &in->at[rng_below(g->r, in->n)];
  const char *at = wild_fill(g, t->extent > b->shape[0] ? "@a % @n" : "@a",
                             (Fill){.a = t->text, .n = b->shape[0]});
  return wild_fill(g, *wild_any(g, forms), (Fill){.a = b->shown, .b = at, .n = n, .m = n - 1});
}

/* Numbers that wrap: of 8 bits, and truths. */
static const char *narrow_index(Wild *g, const Term *t, int n) {
  static const char *const forms[] = {
      "T.Cast(\"int32\", T.Cast(\"int8\", @a) * T.int8(100)) % @n",
      "T.Cast(\"int32\", T.Cast(\"uint8\", @a * 77)) % @n",
      "T.Cast(\"int32\", T.Cast(\"uint8\", @a) - T.uint8(2)) % @n",
      "T.min(T.Cast(\"int32\", T.Cast(\"bool\", @a)), @m)",
      "T.min(T.Cast(\"int32\", @a > 1), @m)",
      "T.Cast(\"int32\", T.Cast(\"int8\", @a)) % @n",
      "T.Cast(\"int32\", T.Cast(\"uint32\", @a) - T.uint32(1)) % @n",
      "T.bitwise_and(T.Cast(\"int32\", T.Cast(\"int8\", @a * 43)), 1) % @n"};
  return wild_fill(g, *wild_any(g, forms), (Fill){.a = t->text, .n = n, .m = n - 1});
}

/* An index below n that is made of a term. */
static const char *term_index(Wild *g, const Term *t, int n) {
  if (wild_on(g, NARROWS) && rng_chance(g->r, 50)) return narrow_index(g, t, n);
  const int fold = t->extent ? (t->extent + n - 1) / n : 1, form = rng_below(g->r, 12);
  const Fill with = {.a = t->text, .n = n, .m = n - 1};
  if (t->extent > n && form < 4) return tirc_format(g->c, "%s // %d", t->text, fold);
  if (t->extent > n) return wild_fill(g, form < 8 ? "@a % @n" : "T.min(@a, @m)", with);
  switch (form) {
  case 0: return wild_fill(g, "@m - @a", with);
  case 1: return tirc_format(g->c, "%s + %d", t->text, n - t->extent);
  case 2: return t->extent * 2 <= n + 1 ? wild_fill(g, "@a * 2", with) : t->text;
  case 3: return wild_fill(g, "(@a + 1) % @n", with);
  case 4: return wild_fill(g, "T.max(@a - 1, 0)", with);
  default: return t->text;
  }
}

/* Mostly by the d-th term. */
static const char *any_index(Wild *g, const Terms *in, int d, int n) {
  if (n == 0) return "0";
  if (wild_on(g, GATHERS) && rng_chance(g->r, 40)) {
    const char *loaded = loaded_index(g, in, n);
    if (loaded) return loaded;
  }
  if (!in->n || rng_chance(g->r, 5)) return tirc_format(g->c, "%d", rng_below(g->r, n));
  if (d >= in->n || rng_chance(g->r, 20)) d = rng_below(g->r, in->n);
  return term_index(g, &in->at[d], n);
}

static const char *element(Wild *g, const char *buffer, int n, const char *const *at) {
  return tirc_format(g->c, "%s[%s]", buffer, n ? wild_list(g, n, at) : "()");
}

/* One of those that are there, of the last ones more often. */
static const WildBuffer *pick_source(Wild *g, bool may_be_empty) {
  for (;;) {
    const int i = rng_chance(g->r, 50) ? g->n_sources - 1 : rng_below(g->r, g->n_sources);
    const WildBuffer *b = &g->buffers[i];
    if (may_be_empty || !wild_is_empty(b)) return b;
    if (rng_chance(g->r, 50)) return &g->buffers[0];
  }
}

/* Values stay small enough for sums that are exact in any order: what was summed up twice already
 * (to a half-precision number, once) is kept near 0. */
const char *wild_load(Wild *g, WildStage *s, const Terms *in, const char *dtype,
                      bool may_be_empty) {
  static const char *const truths[] = {"@a > @b", "@a > @b", "@a <= @b", "@a == @b"};
  const WildBuffer *b = pick_source(g, may_be_empty);
  const char *at[MAX_DIMS];
  for (int d = 0; d < b->n; d++) at[d] = any_index(g, in, d, b->shape[d]);
  const char *loaded = element(g, b->shown, b->n, at);
  if (is(dtype, "bool")) {
    if (is(b->dtype, "bool")) return loaded;
    const Fill with = {.a = loaded, .b = wild_literal(g, 0, b->dtype)};
    return wild_fill(g, *wild_any(g, truths), with);
  }
  const char *value = cast(g, loaded, b->dtype, dtype);
  if (b->level <= (is(dtype, "float16") ? 0 : 1)) {
    if (s->level < b->level) s->level = b->level;
    return value;
  }
  return tirc_format(g->c, "T.max(T.min(%s, %s), %s)", value, wild_literal(g, 3, dtype),
                     wild_literal(g, -3, dtype));
}

/* What a block stores: something with a loaded value. */
static const char *draw_value(Draft *d, const Terms *in) {
  enum Other { LITERAL, LOAD, TERM };
  static const struct {
    const char *pattern;
    enum Other other;
  } forms[] = {{"@a", LITERAL},
               {"@a + @b", LITERAL},
               {"@b - @a", LITERAL},
               {"T.max(@a, @b)", LITERAL},
               {"@a + @b", LOAD},
               {"@a + @b", TERM},
               {"T.if_then_else(@c < @n, @a, @b)", LITERAL},
               {"T.if_then_else(@c < @n, @a, @b)", LOAD}};
  Wild *g = d->g;
  const char *dtype = d->s->out->dtype;
  const bool empty = wild_is_empty(d->s->out), truth = is(dtype, "bool");
  const Term zero = {"0", 1}, *t = in->n ? &in->at[rng_below(g->r, in->n)] : &zero;
  const size_t form = (size_t)rng_below(g->r, sizeof forms / sizeof *forms);
  Fill with = {.a = wild_load(g, d->s, in, dtype, empty), .c = t->text};
  with.n = rng_below(g->r, t->extent + 1);
  switch (forms[form].other) {
  case LITERAL: with.b = wild_literal(g, rng_below(g->r, 4), dtype); break;
  case LOAD: with.b = wild_load(g, d->s, in, dtype, empty); break;
  case TERM: with.b = cast(g, t->text, "int32", dtype); break;
  }
  const char *value = truth ? with.a : wild_fill(g, forms[form].pattern, with);
  if (truth && wild_on(g, NARROWS)) {
    static const char *const truths[] = {"@a + @b", "@a * @b", "~@a", "@a and @b", "@a != @b"};
    with.b = wild_load(g, d->s, in, dtype, empty);
    value = wild_fill(g, *wild_any(g, truths), with);
  }
  if (!d->s->addend || truth || rng_chance(g->r, 30)) return value;
  return tirc_format(g->c, "%s + %s", d->s->addend, value);
}

/* --- stores ---------------------------------------------------------------------------------- */

/* Which element the block stores to, by the terms as they are now. */
static void aim(Draft *d) {
  const WildBuffer *out = d->s->out;
  for (int i = 0; i < out->n; i++) d->at[i] = i == d->scattered ? d->scatter : d->in.at[i].text;
  d->target = d->view ? d->view : element(d->g, out->shown, out->n, d->at);
}

static void store(Draft *d, const char *value) { wild_line(d->g, "%s = %s", d->target, value); }
static void store_any(Draft *d) { store(d, draw_value(d, &d->in)); }

/* To what is there: of truths, sums are for narrow numbers. */
static void add_to(Draft *d, const char *value) {
  const bool truth = is(d->s->out->dtype, "bool") && !d->g->percent[NARROWS];
  store(d, truth ? value : tirc_format(d->g->c, "%s + %s", d->target, value));
}

/* A small loop in the block; its variable is a further term. */
static Terms open_loop(Draft *d, int extent) {
  Terms in = d->in;
  const char *q = wild_name(d->g, "q");
  wild_line(d->g, "for %s in range(%d):", q, extent);
  in.at[in.n++] = (Term){q, extent};
  d->g->depth++;
  return in;
}

/* --- bodies ---------------------------------------------------------------------------------- */

static void one_store(Draft *d) {
  if (d->s->fresh || !rng_chance(d->g->r, 10)) {
    store_any(d);
    return;
  }
  add_to(d, draw_value(d, &d->in));
  d->s->partial = true;
}

/* A second output, and perhaps back again. */
static void two_outputs(Draft *d) {
  Wild *g = d->g;
  const WildBuffer *out = d->s->out;
  if (g->n_buffers == MAX_BUFFERS) {
    store_any(d);
    return;
  }
  const WildBuffer *more = wild_buffer(g, "M", out->n, out->shape, out->dtype);
  const char *at = element(g, more->name, more->n, d->at);
  store_any(d);
  wild_line(g, "%s = %s", at, rng_chance(g->r, 50) ? d->target : draw_value(d, &d->in));
  if (rng_chance(g->r, 30)) store(d, at);
}

static void two_stores(Draft *d) {
  store_any(d);
  add_to(d, draw_value(d, &d->in));
}

static void loop_of_stores(Draft *d) {
  store(d, wild_literal(d->g, 0, d->s->out->dtype));
  const Terms in = open_loop(d, 1 + rng_below(d->g->r, 3));
  add_to(d, draw_value(d, &in));
  d->g->depth--;
}

static void branch_on(Draft *d, const char *condition, bool otherwise) {
  wild_line(d->g, "if %s:", condition);
  d->g->depth++;
  store_any(d);
  d->g->depth--;
  if (!otherwise) {
    d->s->partial = true;
    return;
  }
  wild_line(d->g, "else:");
  d->g->depth++;
  store_any(d);
  d->g->depth--;
}

static void branch_on_iterator(Draft *d) {
  if (!d->in.n) {
    store_any(d);
    return;
  }
  const Term *t = &d->in.at[rng_below(d->g->r, d->in.n)];
  const Fill with = {.a = t->text, .n = rng_below(d->g->r, t->extent + 1)};
  branch_on(d, wild_fill(d->g, "@a < @n", with), d->s->fresh || rng_chance(d->g->r, 50));
}

static void branch_on_value(Draft *d) {
  const char *loaded = wild_load(d->g, d->s, &d->in, "bool", wild_is_empty(d->s->out));
  branch_on(d, loaded, d->s->fresh || rng_chance(d->g->r, 50));
}

/* Each instance stores to a whole row. */
static void row(Draft *d) {
  const WildBuffer *out = d->s->out;
  if (out->n) {
    const char *at[MAX_DIMS];
    Terms in = open_loop(d, out->shape[out->n - 1]);
    in.at[out->n - 1] = in.at[--in.n];
    for (int i = 0; i < out->n; i++) at[i] = i < out->n - 1 ? d->at[i] : in.at[i].text;
    wild_line(d->g, "%s = %s", element(d->g, out->shown, out->n, at), draw_value(d, &in));
    d->g->depth--;
  }
  if (!out->n || rng_chance(d->g->r, 40)) store_any(d);
}

static void counted(Draft *d) {
  Wild *g = d->g;
  const char *w = wild_name(g, "W");
  tirc_text_addf(&g->head, "    %s = T.alloc_buffer((), \"int32\")\n", w);
  wild_line(g, "%s[()] = 0", w);
  store(d, wild_literal(g, 1, d->s->out->dtype));
  wild_line(g, "while %s[()] < %d:", w, rng_below(g->r, 4));
  g->depth++;
  add_to(d, draw_value(d, &d->in));
  wild_line(g, "%s[()] = %s[()] + 1", w, w);
  g->depth--;
}

static void (*const bodies[])(Draft *) = {
    two_outputs, two_stores, loop_of_stores, branch_on_iterator, branch_on_value, row, counted};

/* --- reductions ------------------------------------------------------------------------------ */

typedef struct Start { /* of a reduction */
  const char *value;
  enum How { BY_INIT, BY_LOOP, BY_HAND, NOT_AT_ALL } how;
  bool loops; /* adds up several values in each instance */
} Start;

static Start draw_start(Draft *d, bool sums) {
  Wild *g = d->g;
  Start s = {.value = wild_literal(g, sums ? 0 : -100, d->s->out->dtype)};
  if (!wild_on(g, SUMS)) return s;
  switch (rng_below(g->r, 6)) {
  case 0: s.how = BY_LOOP; break;
  case 1: s.how = BY_HAND; break;
  case 2: s.how = NOT_AT_ALL; break;
  case 3: s.loops = true; break;
  case 4: { /* by the spatial iterators alone */
    Terms in = d->in;
    in.n = d->s->out->n;
    s.value = draw_value(d, &in);
    break;
  }
  default: break;
  }
  return s;
}

static void emit_init(Draft *d, const Start *start) {
  if (start->how != BY_INIT && start->how != BY_LOOP) return;
  const int depth = d->g->depth;
  wild_line(d->g, "with T.init():");
  d->g->depth++;
  if (start->how == BY_LOOP) (void)open_loop(d, 1);
  store(d, start->value);
  d->g->depth = depth;
}

static void emit_start_by_hand(Draft *d, const Start *start) {
  const char *first = NULL;
  for (int i = 0; i < d->s->n_axes; i++) {
    const WildAxis *a = &d->s->axes[i];
    if (a->reduces)
      first = tirc_format(d->g->c, "%s%s%s == %d", first ? first : "", first ? " and " : "",
                          a->name, a->lo);
  }
  wild_line(d->g, "if %s:", first);
  d->g->depth++;
  store(d, start->value);
  d->g->depth--;
}

static void reduce(Draft *d, const Start *start, bool sums) {
  if (start->how == BY_HAND) emit_start_by_hand(d, start);
  d->s->partial |= start->how == NOT_AT_ALL;
  const int depth = d->g->depth;
  Terms in = d->in;
  if (start->loops) in = open_loop(d, 2);
  const char *value = draw_value(d, &in);
  if (sums)
    add_to(d, value);
  else
    store(d, tirc_format(d->g->c, "T.max(%s, %s)", d->target, value));
  d->g->depth = depth;
}

/* --- views ----------------------------------------------------------------------------------- */

static const char *view_name(Draft *d) { return wild_name(d->g, "V"); }

/* The element that is stored to. */
static void match_element(Draft *d) {
  const WildBuffer *out = d->s->out;
  const char *region[MAX_DIMS], *ones[MAX_DIMS], *zeros[MAX_DIMS], *v = view_name(d);
  if (d->scattered >= 0) return;
  for (int i = 0; i < out->n; i++) {
    region[i] = tirc_format(d->g->c, "%s:%s + 1", d->at[i], d->at[i]);
    ones[i] = "1";
    zeros[i] = "0";
  }
  wild_line(d->g, "%s = T.match_buffer(%s[%s], (%s,), \"%s\", offset_factor=1)", v, out->shown,
            wild_list(d->g, out->n, region), wild_list(d->g, out->n, ones), out->dtype);
  d->view = element(d->g, v, out->n, zeros);
}

/* A buffer that may be read, or the one that is stored to; NULL: it has no elements. */
static WildBuffer *pick_viewed(Draft *d, bool out_too) {
  WildBuffer *b = &d->g->buffers[rng_below(d->g->r, d->g->n_sources)];
  if (out_too && !d->s->fresh && rng_chance(d->g->r, 30)) b = d->s->out;
  return b->n && !wild_is_empty(b) ? b : NULL;
}

static void match_source(Draft *d) {
  WildBuffer *b = pick_viewed(d, false);
  if (!b || b == d->s->out) return;
  const char *region[MAX_DIMS], *v = view_name(d);
  for (int i = 0; i < b->n; i++) region[i] = tirc_format(d->g->c, "0:%d", b->shape[i]);
  const char *strides[MAX_DIMS], *named = "";
  for (int i = 0; i < b->n; i++) strides[i] = tirc_format(d->g->c, "\"%s\"", wild_name(d->g, "s"));
  if (rng_chance(d->g->r, 40))
    named = tirc_format(d->g->c, ", strides=[%s]", wild_list(d->g, b->n, strides));
  wild_line(d->g, "%s = T.match_buffer(%s[%s], %s, \"%s\"%s, offset_factor=1)", v, b->shown,
            wild_list(d->g, b->n, region), wild_shape(d->g, b), b->dtype, named);
  b->shown = v;
}

static void share_data(Draft *d) {
  WildBuffer *b = pick_viewed(d, true);
  if (!b) return;
  const char *v = view_name(d);
  tirc_text_addf(&d->g->head, "    %s = T.Buffer(%s, \"%s\", data=%s.data)\n", v,
                 wild_shape(d->g, b), b->dtype, b->name);
  b->shown = v;
}

/* The output as one row of elements. */
static void flatten_output(Draft *d) {
  const WildBuffer *out = d->s->out;
  const char *at = d->at[0], *v = view_name(d);
  int n = out->shape[0];
  if (d->s->fresh) return;
  for (int i = 1; i < out->n; n *= out->shape[i++])
    at = tirc_format(d->g->c, "(%s) * %d + %s", at, out->shape[i], d->at[i]);
  tirc_text_addf(&d->g->head, "    %s = T.decl_buffer((%d,), \"%s\", data=%s.data)\n", v, n,
                 out->dtype, out->name);
  d->view = tirc_format(d->g->c, "%s[%s]", v, at);
}

static void draw_view(Draft *d) {
  static void (*const views[])(Draft *) = {match_element, match_source, share_data, flatten_output};
  if (!wild_on(d->g, VIEWS) || !d->s->out->n || wild_is_empty(d->s->out)) return;
  (*wild_any(d->g, views))(d);
  aim(d);
}

/* --- lets ------------------------------------------------------------------------------------ */

/* Of an iterator, for it or as a further term. */
static void emit_index_let(Draft *d) {
  static const struct {
    const char *pattern;
    int times, over; /* of the extent */
    bool same;
  } forms[] = {{"@a", 1, 1, true},
               {"@a * 1", 1, 1, true},
               {"@a % 2", 0, 1, false},
               {"@a // 2", 1, 2, false},
               {"@a * 2", 2, 1, false}};
  if (!d->in.n) return;
  const int i = rng_below(d->g->r, d->in.n), k = rng_below(d->g->r, sizeof forms / sizeof *forms);
  Term *t = &d->in.at[i];
  const char *x = wild_name(d->g, "x");
  wild_line(d->g, "%s: T.int32 = %s", x, wild_fill(d->g, forms[k].pattern, (Fill){.a = t->text}));
  const int extent =
      forms[k].times ? (t->extent * forms[k].times + forms[k].over - 1) / forms[k].over : 2;
  if (!forms[k].same) t = &d->in.at[d->in.n++];
  *t = (Term){x, extent};
}

static void emit_value_let(Draft *d) {
  const char *x = wild_name(d->g, "x"), *dtype = d->s->out->dtype;
  if (is(dtype, "bool")) return;
  const char *value = wild_load(d->g, d->s, &d->in, dtype, wild_is_empty(d->s->out));
  wild_line(d->g, "%s: T.%s = %s", x, dtype, value);
  d->s->addend = x;
}

static void draw_lets(Draft *d) {
  if (wild_on(d->g, LETS) && rng_chance(d->g->r, 40)) emit_index_let(d);
  if (wild_on(d->g, LETS) && rng_chance(d->g->r, 40)) emit_value_let(d);
  aim(d);
}

/* --- the block ------------------------------------------------------------------------------- */

static void emit_iterators(Draft *d) {
  Wild *g = d->g;
  const WildStage *s = d->s;
  wild_line(g, "with T.block(\"%s\"):", wild_name(g, "blk"));
  g->depth++;
  for (int i = 0; i < s->n_axes; i++) {
    const WildAxis *a = &s->axes[i];
    wild_line(g, "%s = T.axis.%s(%s, %s)", a->name, a->kind, wild_domain(g, a->lo, a->extent),
              wild_over(g, s, &a->bound));
    const char *text = a->lo ? tirc_format(g->c, "(%s - %d)", a->name, a->lo) : a->name;
    d->in.at[d->in.n++] = (Term){text, a->extent};
  }
  const char *where = NULL;
  for (int i = 0; i < s->n_wheres; i++)
    where = tirc_format(g->c, "%s%s%s", where ? where : "", where ? " and " : "",
                        wild_over(g, s, &s->wheres[i]));
  if (where) wild_line(g, "T.where(%s)", where);
  if (wild_on(g, KINDS) && rng_chance(g->r, 30)) wild_line(g, "T.block_attr({\"note\": 1})");
}

static void draw_scatter(Draft *d) {
  const WildBuffer *out = d->s->out;
  if (!out->n || wild_is_empty(out) || !wild_on(d->g, GATHERS) || !rng_chance(d->g->r, 30)) return;
  const int i = rng_below(d->g->r, out->n);
  d->scatter = loaded_index(d->g, &d->in, out->shape[i]);
  if (!d->scatter) return;
  d->scattered = i;
  d->s->partial = true;
}

static void emit_body(Draft *d) {
  const bool sums = rng_chance(d->g->r, 67);
  const Start start = d->s->reduces ? draw_start(d, sums) : (Start){0};
  if (d->s->reduces) emit_init(d, &start);
  draw_lets(d);
  if (d->s->reduces)
    reduce(d, &start, sums);
  else if (wild_on(d->g, BODIES))
    (*wild_any(d->g, bodies))(d);
  else
    one_store(d);
}

void wild_block(Wild *g, WildStage *s) {
  const int depth = g->depth;
  const char *addend = s->addend;
  Draft d = {.g = g, .s = s, .scattered = -1};
  emit_iterators(&d);
  if (!s->fresh && !s->copied) draw_scatter(&d);
  aim(&d);
  if (s->copied) {
    store(&d, element(g, s->copied->name, s->copied->n, d.at));
  } else {
    draw_view(&d);
    emit_body(&d);
  }
  for (int i = 0; i < g->n_buffers; i++) g->buffers[i].shown = g->buffers[i].name;
  s->addend = addend;
  g->depth = depth;
}
