/* Random programs. Each stage reads one or two tensors that exist already and writes a new one; a
 * tensor that nobody reads is an output, what is left between is allocated. How the loops of a
 * stage look (one a dimension, fused, split with a predicate, shared with the stage before) varies
 * too. Some stages are stores outside of blocks. */
#include "fuzz.h"

#include <ctype.h>

enum { MAX_TENSORS = 26, MAX_ITERS = 6 };

typedef struct Shape {
  int n, at[4];
} Shape;
typedef struct TensorText {
  char name;
  Shape shape;
  bool input, read;
} TensorText;
typedef struct Iter {
  int extent;
  bool reduce;
} Iter;

typedef struct Gen {
  Tirc *c;
  Rng *r;
  int n, n_loops, n_weights;
  TensorText at[MAX_TENSORS];
  Text body;
} Gen;

/* What a stage does: its iterators are v0, v1, ... */
typedef struct Stage {
  int n_iters;
  Iter iters[MAX_ITERS];
  const char *out, *value, *init; /* "v0, v1", an expression, or NULL */
  const char *block;              /* its name; NULL: the tensor's */
} Stage;

static TensorText *add_tensor(Gen *g, Shape shape, bool input) {
  TensorText *t = &g->at[g->n];
  *t = (TensorText){(char)('A' + g->n), shape, input, false};
  g->n++;
  return t;
}
static TensorText *pick(Gen *g) {
  return &g->at[rng_chance(g->r, 60) ? g->n - 1 : rng_below(g->r, g->n)];
}

static const char *load(Gen *g, TensorText *t, const char *indices) {
  t->read = true;
  return tirc_format(g->c, "%c[%s]", t->name, indices);
}
/* "v0, v1", with one of them replaced. */
static const char *iters_text(Gen *g, int n, int replaced, const char *with) {
  Text t = {.c = g->c};
  tirc_text_add(&t, "");
  for (int i = 0; i < n; i++)
    if (i == replaced)
      tirc_text_addf(&t, "%s%s", i ? ", " : "", with);
    else
      tirc_text_addf(&t, "%sv%d", i ? ", " : "", i);
  return t.at;
}
static const char *plain(Gen *g, int n) { return iters_text(g, n, -1, ""); }

/* --- kinds of stages -------------------------------------------------------------------------- */

static Stage over(Gen *g, Shape shape) {
  Stage s = {.n_iters = shape.n, .out = plain(g, shape.n)};
  for (int i = 0; i < shape.n; i++) s.iters[i] = (Iter){shape.at[i], false};
  return s;
}

static Shape elementwise(Gen *g, Stage *s) {
  static const char *const forms[] = {"%s + T.float32(1)", "%s * T.float32(2)",
                                      "T.max(%s, T.float32(0))", "T.float32(3) - %s"};
  TensorText *t = pick(g);
  *s = over(g, t->shape);
  const char *x = load(g, t, plain(g, t->shape.n));
  switch (rng_below(g->r, 4)) {
  case 0: s->value = tirc_format(g->c, forms[0], x); break;
  case 1: s->value = tirc_format(g->c, forms[1], x); break;
  case 2: s->value = tirc_format(g->c, forms[2], x); break;
  default: s->value = tirc_format(g->c, forms[3], x); break;
  }
  return t->shape;
}

static Shape binary(Gen *g, Stage *s) {
  TensorText *t = pick(g), *other = NULL;
  for (int i = 0; i < g->n; i++) {
    bool same = g->at[i].shape.n == t->shape.n;
    for (int d = 0; same && d < t->shape.n; d++) same = g->at[i].shape.at[d] == t->shape.at[d];
    if (same && (!other || rng_chance(g->r, 50))) other = &g->at[i];
  }
  *s = over(g, t->shape);
  const char *at = plain(g, t->shape.n);
  s->value = tirc_format(g->c, "%s + %s", load(g, t, at), load(g, other, at));
  return t->shape;
}

static Shape transpose(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  if (t->shape.n < 2) return elementwise(g, s);
  Shape out = t->shape;
  out.at[0] = t->shape.at[1];
  out.at[1] = t->shape.at[0];
  *s = over(g, out);
  s->value = load(g, t, out.n == 2 ? "v1, v0" : "v1, v0, v2");
  return out;
}

static Shape broadcast(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  Shape out = t->shape;
  if (out.n >= 3) return elementwise(g, s);
  out.at[out.n++] = 2 + rng_below(g->r, 5);
  *s = over(g, out);
  s->value = tirc_format(g->c, "%s + T.float32(1)", load(g, t, plain(g, t->shape.n)));
  return out;
}

/* Ways to add something up. */
static const char *sum_form(Gen *g) {
  static const char *const odd[] = {"@ - %s", "%s + @", "T.fma(%s, T.float32(2), @)",
                                    "@ + %s * T.float32(3)"};
  return rng_chance(g->r, 70) ? "@ + %s" : odd[rng_below(g->r, 4)];
}

static Shape reduction(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  int axis = rng_below(g->r, t->shape.n);
  Shape out = t->shape;
  if (out.n < 2) return elementwise(g, s);
  *s = over(g, t->shape);
  s->iters[axis].reduce = true;
  out.n--;
  Text at = {.c = g->c};
  for (int i = 0, k = 0; i < t->shape.n; i++)
    if (i != axis) {
      tirc_text_addf(&at, "%sv%d", k ? ", " : "", i);
      out.at[k++] = t->shape.at[i];
    }
  s->out = at.at;
  const char *x = load(g, t, plain(g, t->shape.n));
  switch (rng_below(g->r, 10)) {
  case 0: /* which keeps NaN */
    s->init = "T.float32(\"-inf\")";
    s->value = tirc_format(g->c, "T.Select(T.isnan(@), @, T.max(@, %s))", x);
    break;
  case 1:
    s->init = "T.float32(-1000000)";
    s->value = tirc_format(g->c, "T.max(@, %s)", x);
    break;
  case 2:
    s->init = "T.float32(3.4028234663852886e38)";
    s->value = tirc_format(g->c, "T.min(@, %s)", x);
    break;
  case 3: /* the order counts */
    s->init = "T.float32(0)";
    s->value = tirc_format(g->c, "%s - @", x);
    break;
  default:
    s->init = rng_chance(g->r, 80) ? "T.float32(0)" : "T.float32(2)";
    s->value = tirc_format(g->c, sum_form(g), x);
  }
  return out;
}

static Shape matmul(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  if (t->shape.n != 2 || g->n_weights == 2) return binary(g, s);
  g->n_weights++;
  Shape w = {2, {t->shape.at[1], 2 + rng_below(g->r, 6)}};
  TensorText *weights = add_tensor(g, w, true);
  Shape out = {2, {t->shape.at[0], w.at[1]}};
  *s = over(g, out);
  s->iters[s->n_iters++] = (Iter){w.at[0], true};
  s->init = "T.float32(0)";
  const char *product =
      tirc_format(g->c, "%s * %s", load(g, t, "v0, v2"), load(g, weights, "v2, v1"));
  s->value = tirc_format(g->c, sum_form(g), product);
  return out;
}

static Shape stencil(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  int axis = rng_below(g->r, t->shape.n), n = t->shape.n;
  Shape out = t->shape;
  if (out.at[axis] < 4) return elementwise(g, s);
  out.at[axis] -= 2;
  *s = over(g, out);
  const char *next = tirc_format(g->c, "v%d + 1", axis),
             *after = tirc_format(g->c, "v%d + 2", axis);
  s->value = tirc_format(g->c, "%s + %s + %s", load(g, t, plain(g, n)),
                         load(g, t, iters_text(g, n, axis, next)),
                         load(g, t, iters_text(g, n, axis, after)));
  return out;
}

static Shape padding(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  int axis = rng_below(g->r, t->shape.n), n = t->shape.n;
  Shape out = t->shape;
  out.at[axis] += 2;
  *s = over(g, out);
  s->value = tirc_format(g->c, "T.if_then_else(1 <= v%d and v%d < %d, %s, T.float32(0))", axis,
                         axis, out.at[axis] - 1,
                         load(g, t, iters_text(g, n, axis, tirc_format(g->c, "v%d - 1", axis))));
  return out;
}

static Shape strided(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  int axis = rng_below(g->r, t->shape.n), n = t->shape.n;
  bool up = rng_chance(g->r, 50);
  Shape out = t->shape;
  if (!up && out.at[axis] < 4) return elementwise(g, s);
  out.at[axis] = up ? out.at[axis] * 2 : out.at[axis] / 2;
  *s = over(g, out);
  s->value =
      load(g, t, iters_text(g, n, axis, tirc_format(g->c, up ? "v%d // 2" : "v%d * 2", axis)));
  return out;
}

static Shape reshape(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  Shape in = t->shape;
  if (in.n == 2) {
    Shape out = {1, {in.at[0] * in.at[1]}};
    *s = over(g, out);
    s->value = load(g, t, tirc_format(g->c, "v0 // %d, v0 %% %d", in.at[1], in.at[1]));
    return out;
  }
  int factor = in.at[0] % 3 == 0 ? 3 : 2;
  if (in.n != 1 || in.at[0] % factor) return elementwise(g, s);
  Shape out = {2, {in.at[0] / factor, factor}};
  *s = over(g, out);
  s->value = load(g, t, tirc_format(g->c, "v0 * %d + v1", factor));
  return out;
}

/* The store's index is not the iterator itself. */
static Shape scatter(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  Shape out = t->shape;
  if (out.n != 1) return transpose(g, s);
  *s = over(g, out);
  s->out = tirc_format(g->c, "%d - v0", out.at[0] - 1);
  s->value = load(g, t, "v0");
  return out;
}

/* Windows of two summed: the index is a sum of a spatial and a reduction iterator. */
static Shape pooling(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  Shape out = t->shape;
  if (out.n > 2 || out.at[0] < 4) return reduction(g, s);
  int step = 1 + rng_below(g->r, 2), n = out.n;
  out.at[0] = step == 2 ? out.at[0] / 2 : out.at[0] - 1;
  *s = over(g, out);
  s->iters[s->n_iters++] = (Iter){2, true};
  s->init = "T.float32(0)";
  const char *index = tirc_format(g->c, "v0 * %d + v%d", step, n);
  s->value = tirc_format(g->c, "@ + %s", load(g, t, iters_text(g, n, 0, index)));
  return out;
}

static Shape diagonal(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  if (t->shape.n != 2) return elementwise(g, s);
  int n = t->shape.at[0] < t->shape.at[1] ? t->shape.at[0] : t->shape.at[1];
  Shape out = {1, {n}};
  *s = over(g, out);
  s->value = load(g, t, "v0, v0");
  return out;
}

/* From both ends. */
static Shape mirrored(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  int axis = rng_below(g->r, t->shape.n), n = t->shape.n;
  *s = over(g, t->shape);
  const char *index = tirc_format(g->c, "%d - v%d", t->shape.at[axis] - 1, axis);
  const char *other = load(g, t, iters_text(g, n, axis, index));
  s->value =
      rng_chance(g->r, 50) ? tirc_format(g->c, "%s + %s", load(g, t, plain(g, n)), other) : other;
  return t->shape;
}

static Shape wrapped(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  int n = t->shape.n;
  Shape out = t->shape;
  out.at[0] += 1 + rng_below(g->r, 4);
  *s = over(g, out);
  s->value = load(g, t, iters_text(g, n, 0, tirc_format(g->c, "v0 %% %d", t->shape.at[0])));
  return out;
}

/* Two instances store to each element; the later one counts. */
static Shape overwritten(Gen *g, Stage *s) {
  TensorText *t = pick(g);
  int axis = rng_below(g->r, t->shape.n), n = t->shape.n;
  Shape out = t->shape;
  if (rng_chance(g->r, 70)) return elementwise(g, s);
  *s = over(g, t->shape);
  s->value = load(g, t, plain(g, n));
  out.at[axis] = (out.at[axis] + 1) / 2;
  const char *half = rng_chance(g->r, 50) ? tirc_format(g->c, "v%d // 2", axis)
                                          : tirc_format(g->c, "v%d %% %d", axis, out.at[axis]);
  s->out = iters_text(g, n, axis, half);
  return out;
}

static Shape (*const kinds[])(Gen *, Stage *) = {
    elementwise, elementwise, binary,   transpose, broadcast,  reduction, matmul,
    reduction,   stencil,     stencil,  padding,   strided,    reshape,   scatter,
    pooling,     diagonal,    mirrored, wrapped,   overwritten};

/* --- text ------------------------------------------------------------------------------------- */

static void indent(Gen *g, int depth) {
  for (int i = 0; i < depth; i++) tirc_text_add(&g->body, "    ");
}

static void emit_loop(Gen *g, int *depth, const char *var, int extent) {
  indent(g, (*depth)++);
  tirc_text_addf(&g->body, "for %s in range(%d):\n", var, extent);
}

/* An init as a condition of the body. */
static const char *first_step(Gen *g, const Stage *s) {
  const char *all = NULL;
  for (int i = 0; i < s->n_iters; i++)
    if (s->iters[i].reduce)
      all = tirc_format(g->c, "%s%sv%d == 0", all ? all : "if ", all ? " and " : "", i);
  return all ? all : "with T.init()";
}

static void emit_block(Gen *g, int depth, const Stage *s, char name, const char *const *bindings,
                       const char *predicate) {
  indent(g, depth++);
  const char *block = s->block ? s->block : tirc_format(g->c, "%c", name);
  tirc_text_addf(&g->body, "with T.block(\"%s\"):\n", block);
  for (int i = 0; i < s->n_iters; i++) {
    indent(g, depth);
    tirc_text_addf(&g->body, "v%d = T.axis.%s(%d, %s)\n", i,
                   s->iters[i].reduce ? "reduce" : "spatial", s->iters[i].extent, bindings[i]);
  }
  if (predicate) {
    indent(g, depth);
    tirc_text_addf(&g->body, "T.where(%s)\n", predicate);
  }
  const char *self = tirc_format(g->c, "%c[%s]", name, s->out);
  if (s->init) {
    indent(g, depth);
    tirc_text_addf(&g->body, "%s:\n", rng_chance(g->r, 10) ? first_step(g, s) : "with T.init()");
    indent(g, depth + 1);
    tirc_text_addf(&g->body, "%s = %s\n", self, s->init);
  }
  indent(g, depth);
  tirc_text_addf(&g->body, "%s = ", self);
  for (const char *p = s->value; *p; p++)
    if (*p == '@')
      tirc_text_add(&g->body, self);
    else
      tirc_text_addn(&g->body, p, 1);
  tirc_text_add(&g->body, "\n");
}

/* With what the iterators are bound to instead of them. */
static void add_bound(Gen *g, const char *text, const char *const *bindings) {
  for (const char *p = text; *p; p++)
    if (*p == 'v' && isdigit((unsigned char)p[1]) && (p == text || !isalnum((unsigned char)p[-1])))
      tirc_text_addf(&g->body, "(%s)", bindings[*++p - '0']);
    else
      tirc_text_addn(&g->body, p, 1);
}

/* A store outside of blocks. */
static void emit_store(Gen *g, int depth, const Stage *s, char name, const char *const *bindings) {
  indent(g, depth);
  tirc_text_addf(&g->body, "%c[", name);
  add_bound(g, s->out, bindings);
  tirc_text_add(&g->body, "] = ");
  add_bound(g, s->value, bindings);
  tirc_text_add(&g->body, "\n");
}

static void emit_stage(Gen *g, int depth, const Stage *s, char name, const char *shared);

/* A sum of which a block of its own starts the elements. Gives what is left of it. */
static Stage emit_start(Gen *g, int depth, const Stage *s, char name, const char *shared) {
  Stage start = *s, rest = *s;
  start.n_iters = 0;
  while (start.n_iters < s->n_iters && !s->iters[start.n_iters].reduce) start.n_iters++;
  for (int i = start.n_iters; i < s->n_iters; i++)
    if (!s->iters[i].reduce) return rest;
  if (!start.n_iters || start.n_iters == s->n_iters) return rest;
  start.value = s->init;
  start.init = rest.init = NULL;
  start.block = tirc_format(g->c, "%c_start", name);
  emit_stage(g, depth, &start, name, shared);
  return rest;
}

/* shared: the variable of a loop that runs over the first iterator already, or NULL. */
static void emit_stage(Gen *g, int depth, const Stage *s, char name, const char *shared) {
  Stage rest;
  if (s->init && rng_chance(g->r, 15)) {
    rest = emit_start(g, depth, s, name, shared);
    s = &rest;
  }
  const char *bindings[MAX_ITERS], *predicate = NULL;
  int from = 0, form = rng_below(g->r, 10);
  if (shared) bindings[from++] = shared;
  if (form == 0 && !shared && s->n_iters >= 2 && !s->iters[0].reduce && !s->iters[1].reduce) {
    const char *v = tirc_format(g->c, "f%d", g->n_loops++);
    emit_loop(g, &depth, v, s->iters[0].extent * s->iters[1].extent);
    bindings[0] = tirc_format(g->c, "%s // %d", v, s->iters[1].extent);
    bindings[1] = tirc_format(g->c, "%s %% %d", v, s->iters[1].extent);
    from = 2;
  }
  for (int i = from; i < s->n_iters; i++) {
    const char *v = tirc_format(g->c, "i%d", g->n_loops++);
    int n = s->iters[i].extent;
    if (form == 1 && i == from && !predicate) {
      const char *w = tirc_format(g->c, "i%d", g->n_loops++);
      int tile = 2 + rng_below(g->r, 3);
      emit_loop(g, &depth, v, (n + tile - 1) / tile);
      emit_loop(g, &depth, w, tile);
      bindings[i] = tirc_format(g->c, "%s * %d + %s", v, tile, w);
      if (n % tile) predicate = tirc_format(g->c, "%s < %d", bindings[i], n);
      continue;
    }
    emit_loop(g, &depth, v, n);
    bindings[i] = v;
  }
  bool updates = s->init || strchr(s->value, '@');
  for (int i = 0; i < s->n_iters; i++) updates |= s->iters[i].reduce;
  if (!updates && !predicate && strstr(g->body.at, "T.block") && rng_chance(g->r, 3))
    emit_store(g, depth, s, name, bindings);
  else
    emit_block(g, depth, s, name, bindings, predicate);
}

/* The two halves of a tensor by two blocks. */
static void emit_concat(Gen *g) {
  TensorText *t = pick(g);
  if (t->shape.n != 1) return;
  int n = t->shape.at[0];
  Stage first = over(g, t->shape), second = first;
  first.value = load(g, t, "v0");
  second.value = tirc_format(g->c, "%s + T.float32(1)", load(g, t, "v0"));
  second.out = tirc_format(g->c, "v0 + %d", n);
  char name = add_tensor(g, (Shape){1, {2 * n}}, false)->name;
  emit_stage(g, 1, &first, name, NULL);
  second.block = tirc_format(g->c, "%c_rest", name);
  emit_stage(g, 1, &second, name, NULL);
}

/* Only some elements of an output are written; nobody reads it. */
static void emit_partial(Gen *g) {
  TensorText *t = pick(g);
  Stage s = over(g, t->shape);
  const char *bindings[MAX_ITERS];
  s.value = load(g, t, plain(g, t->shape.n));
  int depth = 1;
  for (int i = 0; i < t->shape.n; i++) {
    bindings[i] = tirc_format(g->c, "i%d", g->n_loops++);
    emit_loop(g, &depth, bindings[i], t->shape.at[i]);
  }
  TensorText *out = add_tensor(g, t->shape, false);
  emit_block(g, depth, &s, out->name, bindings,
             tirc_format(g->c, "%s < %d", bindings[0], t->shape.at[0] / 2));
}

/* A parameter that changes in place: an update, a running sum, a shift by one, a skewed wave, all
 * added to the first one, from the other end, halves of it, sums of sums. */
static void emit_in_place(Gen *g) {
  enum { UPDATE, RUNNING, SHIFT, WAVE, ALL, MIRROR, HALVES, SUMS, FORMS };
  TensorText *t = &g->at[rng_below(g->r, g->n)];
  if (!t->input) return;
  int axis = rng_below(g->r, t->shape.n), n = t->shape.n, form = rng_below(g->r, FORMS);
  const char name = t->name;
  Stage s = over(g, t->shape);
  const char *next = iters_text(g, n, axis, tirc_format(g->c, "v%d + 1", axis));
  s.value = "@ * T.float32(2)";
  s.block = tirc_format(g->c, "%c_in_place", name);
  if (form == RUNNING || form == SHIFT || form == WAVE || form == SUMS) s.iters[axis].extent--;
  if (form == RUNNING) {
    s.value = tirc_format(g->c, "@ + %c[%s]", name, s.out);
    s.out = next;
  } else if (form == SHIFT) {
    s.value = tirc_format(g->c, "%c[%s]", name, next);
  } else if (form == WAVE && n == 2) {
    s.iters[0].extent = t->shape.at[0] - 1;
    s.iters[1].extent = t->shape.at[1] - 1;
    s.out = "v0 + 1, v1";
    s.value = tirc_format(g->c, "%c[v0, v1 + 1] + T.float32(1)", name);
  } else if (form == ALL) {
    s.value = tirc_format(g->c, "@ + %c[%s]", name, s.out);
    s.out = iters_text(g, n, axis, "0");
  } else if (form == MIRROR) {
    const char *other = tirc_format(g->c, "%d - v%d", t->shape.at[axis] - 1, axis);
    s.value = tirc_format(g->c, "%c[%s] + T.float32(1)", name, iters_text(g, n, axis, other));
  } else if (form == HALVES) {
    s.value = tirc_format(g->c, "%c[%s] + T.float32(1)", name, s.out);
    s.out = iters_text(g, n, axis, tirc_format(g->c, "v%d // 2", axis));
  } else if (form == SUMS) {
    s.iters[s.n_iters++] = (Iter){2, true};
    s.init = "T.float32(0)";
    s.value = tirc_format(g->c, "@ + %c[%s]", name, s.out);
    s.out = next;
  }
  emit_stage(g, 1, &s, name, NULL);
}

/* Two stages in one loop: the second one reads what the first one stored in this iteration or in
 * an earlier one, or overwrites what the first one has read. */
static void emit_pair(Gen *g) {
  TensorText *t = pick(g);
  Shape shape = t->shape;
  const int n = shape.n, form = rng_below(g->r, 5);
  if (form >= 3 && (!t->input || shape.at[0] < 3)) return;
  if (form >= 3) shape.at[0]--;
  Stage first = over(g, shape), second = first;
  first.value = load(g, t, form >= 3 ? iters_text(g, n, 0, "v0 + 1") : first.out);
  TensorText *made = add_tensor(g, shape, false);
  static const char *const earlier[] = {"v0", "T.max(v0 - 1, 0)", "v0 // 2"};
  const char *made_at = load(g, made, form >= 3 ? second.out : iters_text(g, n, 0, earlier[form]));
  second.value = tirc_format(g->c, "%s + T.float32(1)", made_at);
  second.block = tirc_format(g->c, "%c_pair", made->name);
  const char name = made->name, other = form >= 3 ? t->name : add_tensor(g, shape, false)->name;
  const char *v = tirc_format(g->c, "i%d", g->n_loops++);
  int depth = 1;
  emit_loop(g, &depth, v, shape.at[0]);
  emit_stage(g, depth, &first, name, v);
  emit_stage(g, depth, &second, other, v);
}

/* The place and the value of the greatest element of each row; of equal ones, the first. */
static void emit_argmax(Gen *g) {
  TensorText *t = pick(g);
  if (t->shape.n != 2) return;
  const char *x = load(g, t, "v0, v1");
  Shape rows = {1, {t->shape.at[0]}};
  char at = add_tensor(g, rows, false)->name, most = add_tensor(g, rows, false)->name;
  int i = g->n_loops++, k = g->n_loops++, depth = 1;
  emit_loop(g, &depth, tirc_format(g->c, "i%d", i), t->shape.at[0]);
  emit_loop(g, &depth, tirc_format(g->c, "i%d", k), t->shape.at[1]);
  const char *keep =
      tirc_format(g->c, "%c[v0] > %s or (%c[v0] == %s and %c[v0] <= T.Cast(\"float32\", v1))", most,
                  x, most, x, at);
  tirc_text_addf(&g->body,
                 "            with T.block(\"%c\"):\n"
                 "                v0, v1 = T.axis.remap(\"SR\", [i%d, i%d])\n"
                 "                with T.init():\n"
                 "                    %c[v0] = T.float32(-1)\n"
                 "                    %c[v0] = T.float32(-3.4028234663852886e38)\n",
                 at, i, k, at, most);
  tirc_text_addf(&g->body,
                 "                w0: T.float32 = T.Select(%s, %c[v0], T.Cast(\"float32\", v1))\n"
                 "                w1: T.float32 = T.Select(%s, %c[v0], %s)\n"
                 "                %c[v0] = w0\n"
                 "                %c[v0] = w1\n",
                 keep, at, keep, most, x, at, most);
}

static const char *declare(Gen *g, const TensorText *t) {
  Text x = {.c = g->c};
  for (int i = 0; i < t->shape.n; i++)
    tirc_text_addf(&x, "%d,%s", t->shape.at[i], i + 1 < t->shape.n ? " " : "");
  return x.at;
}

static const char *whole_text(Gen *g) {
  Text t = {.c = g->c};
  tirc_text_add(&t, "from tvm.script import tir as T\n\n@T.prim_func\ndef main(");
  bool first = true;
  for (int i = 0; i < g->n; i++)
    if (g->at[i].input || !g->at[i].read) {
      tirc_text_addf(&t, "%s%c: T.Buffer((%s), \"float32\")", first ? "" : ", ", g->at[i].name,
                     declare(g, &g->at[i]));
      first = false;
    }
  tirc_text_add(&t, "):\n");
  for (int i = 0; i < g->n; i++)
    if (!g->at[i].input && g->at[i].read)
      tirc_text_addf(&t, "    %c = T.alloc_buffer((%s), \"float32\")\n", g->at[i].name,
                     declare(g, &g->at[i]));
  tirc_text_add(&t, g->body.at);
  return t.at;
}

const char *fuzz_program(Tirc *c, Rng *r) {
  Gen g = {.c = c, .r = r, .body = {.c = c}};
  Shape shape = {.n = 1 + rng_below(r, 3)};
  for (int i = 0; i < shape.n; i++) shape.at[i] = 2 + rng_below(r, shape.n == 3 ? 5 : 11);
  add_tensor(&g, shape, true);
  if (rng_chance(r, 5)) emit_in_place(&g);
  int n_stages = 1 + rng_below(r, 5);
  for (int k = 0; k < n_stages; k++) {
    Stage s;
    Shape out = kinds[rng_below(r, (int)(sizeof kinds / sizeof kinds[0]))](&g, &s);
    TensorText *t = add_tensor(&g, out, false);
    Stage next;
    if (!s.init && rng_chance(r, 15) && k + 1 < n_stages && t->shape.n > 1 &&
        s.iters[0].extent == out.at[0]) {
      /* an element-wise stage in the same outer loop */
      int depth = 1;
      const char *v = tirc_format(c, "i%d", g.n_loops++);
      emit_loop(&g, &depth, v, out.at[0]);
      emit_stage(&g, depth, &s, t->name, v);
      next = over(&g, out);
      next.value = tirc_format(c, "%s + T.float32(1)", load(&g, t, plain(&g, out.n)));
      emit_stage(&g, depth, &next, add_tensor(&g, out, false)->name, v);
      k++;
      continue;
    }
    emit_stage(&g, 1, &s, t->name, NULL);
    if (rng_chance(r, 5)) emit_concat(&g);
    if (rng_chance(r, 5)) emit_pair(&g);
  }
  if (rng_chance(r, 5)) emit_argmax(&g);
  if (rng_chance(r, 10)) emit_partial(&g);
  if (rng_chance(r, 5)) emit_in_place(&g);
  return whole_text(&g);
}
