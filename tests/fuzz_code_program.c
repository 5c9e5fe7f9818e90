/* Programs for the fuzzer of code: parameters, symbols and scalars of every type, a few stages
 * (fuzz_code_stage.c), and a schedule that vectorizes, unrolls, splits and makes parallel what it
 * finds. */
#include "fuzz_code.h"

#include <stdarg.h>

enum { MAX_ELEMENTS = 3000 };

const char *code_name(Draft *g, const char *prefix) {
  return tirc_format(g->c, "%s%d", prefix, g->n_names++);
}

void code_line(Draft *g, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *line = tirc_vformat(g->c, format, args);
  va_end(args);
  tirc_text_addf(&g->body, "%*s%s\n", 4 * g->depth, "", line);
}

/* --- parameters ------------------------------------------------------------------------------ */

/* Array elements: of the whole type, or small. */
static void draw_span(Draft *g, DType t, Wide *lo, Wide *hi) {
  *lo = code_min(t);
  *hi = code_max(t);
  if (t.code == TYPE_BOOL || (!tirc_dtype_is_float(t) && rng_chance(g->r, 45))) return;
  const Wide size = rng_chance(g->r, 50) ? 8 : 100;
  if (*lo < -size) *lo = rng_chance(g->r, 30) ? 0 : -size;
  if (*hi > size) *hi = size;
}

typedef struct Layout {
  const char *text; /* further arguments of T.match_buffer */
  int64_t flat;     /* elements of the flat array; -1: it is compact */
} Layout;

static Layout draw_layout(Draft *g, const CodeBuffer *b) {
  Text t = {.c = g->c};
  int64_t strides[CODE_DIMS], step = 1, last = 0;
  bool symbolic = false;
  tirc_text_add(&t, "");
  if (rng_chance(g->r, 70)) tirc_text_addf(&t, ", align=%d", tirc_dtype_bytes(b->t));
  for (int d = b->n - 1; d >= 0; d--) {
    symbolic |= b->extents[d].text[0] > '9';
    strides[d] = step + (rng_chance(g->r, 50) ? rng_below(g->r, 3) : 0);
    step = strides[d] * b->shape[d];
    last += strides[d] * (b->shape[d] - 1);
  }
  if (symbolic || !b->n || rng_chance(g->r, 75)) return (Layout){t.at, -1};
  const int offset = rng_chance(g->r, 50) ? rng_below(g->r, 5) : 0;
  tirc_text_add(&t, ", strides=[");
  for (int d = 0; d < b->n; d++) tirc_text_addf(&t, "%s%lld", d ? ", " : "", (long long)strides[d]);
  tirc_text_add(&t, "]");
  if (offset) tirc_text_addf(&t, ", elem_offset=%d", offset);
  return (Layout){t.at, offset + last + 1};
}

static void declare_param(Draft *g, CodeBuffer *b) {
  Program *p = g->program;
  CodeParam *out = &p->params[p->n_params++];
  const Layout layout = draw_layout(g, b);
  *out = (CodeParam){.n = b->n, .lo = b->lo, .hi = b->hi};
  for (int d = 0; d < b->n; d++) out->shape[d] = b->shape[d];
  if (layout.flat >= 0) {
    out->n = 1;
    out->shape[0] = layout.flat;
  }
  Text shape = {.c = g->c};
  tirc_text_add(&shape, "");
  for (int d = 0; d < b->n; d++) tirc_text_addf(&shape, "%s, ", b->extents[d].text);
  tirc_text_addf(&g->head, "    %s = T.match_buffer(a_%s, (%s), \"%s\"%s)\n", b->name, b->name,
                 shape.at, tirc_dtype_name(g->c, b->t), layout.text);
}

CodeBuffer code_buffer(Draft *g, DType t, int n, const Typed *extents, bool is_param) {
  CodeBuffer b = {.name = code_name(g, is_param ? "A" : "B"), .t = t, .n = n, .is_param = is_param};
  for (int d = 0; d < n; d++) {
    b.extents[d] = extents[d];
    b.shape[d] = (int)extents[d].hi;
  }
  if (is_param) {
    draw_span(g, t, &b.lo, &b.hi);
    declare_param(g, &b);
    return b;
  }
  Text shape = {.c = g->c};
  tirc_text_add(&shape, "");
  for (int d = 0; d < n; d++) tirc_text_addf(&shape, "%s, ", extents[d].text);
  tirc_text_addf(&g->head, "    %s = T.alloc_buffer((%s), \"%s\")\n", b.name, shape.at,
                 tirc_dtype_name(g->c, t));
  return b;
}

/* A size: of the type's greatest ones where these are small. */
static Wide draw_size(Draft *g, DType t) {
  static const int sizes[] = {1, 2, 7, 16, 30, 33, 64, 100};
  const Wide top = code_max(t);
  if (t.bits == 8 && rng_chance(g->r, 60))
    return rng_chance(g->r, 50) ? top - rng_below(g->r, 4) : top / 2 + rng_below(g->r, 60);
  return *code_any(g, sizes);
}

static void input(Draft *g, const Typed *symbol) {
  static const int sizes[] = {1,  2,  3,   5,   7,   8,   13,  16,  16,  32,  37,
                              64, 64, 100, 127, 128, 128, 200, 256, 256, 256, 512};
  Typed extents[CODE_DIMS];
  const int n = symbol || rng_chance(g->r, 65) ? 1 : rng_chance(g->r, 80) ? 2 : 3;
  int elements = 1;
  for (int d = 0; d < n; d++) {
    int size = *code_any(g, sizes);
    while (elements * size > MAX_ELEMENTS) size /= 2;
    elements *= size;
    extents[d] = (Typed){tirc_format(g->c, "%d", size), DT_INT32, size, size};
  }
  if (symbol) extents[rng_below(g->r, n)] = *symbol;
  g->buffers[g->n_buffers] = code_buffer(g, code_type(g), n, extents, true);
  g->n_buffers++;
}

static void symbol(Draft *g) {
  const DType t = code_int_type(g);
  const Wide size = draw_size(g, t);
  const Typed n = {code_name(g, "n"), t, size, size};
  tirc_text_addf(&g->head, "    %s = T.%s()\n", n.text, tirc_dtype_name(g->c, t));
  input(g, &n);
  g->vars[g->n_vars++] = n;
}

static void scalar(Draft *g, Text *params) {
  const DType t = code_int_type(g);
  const Wide top = code_max(t), low = code_min(t);
  Wide value = rng_chance(g->r, 50) ? draw_size(g, t) : rng_below(g->r, 9) - 4;
  if (rng_chance(g->r, 25))
    value = rng_chance(g->r, 50) ? top - rng_below(g->r, 2) : low + rng_below(g->r, 2);
  if (value < low) value = -value;
  const Typed s = {code_name(g, "s"), t, value, value};
  Program *p = g->program;
  tirc_text_addf(params, "%s: T.%s, ", s.text, tirc_dtype_name(g->c, t));
  p->params[p->n_params++] = (CodeParam){.is_scalar = true, .lo = value, .hi = value};
  g->vars[g->n_vars++] = s;
}

/* --- schedules ------------------------------------------------------------------------------- */

static const char *schedule_line(Draft *g) {
  static const char *const lines[] = {
      "sch.vectorize(sch.get_loops(\"%s\")[-1])",
      "sch.unroll(sch.get_loops(\"%s\")[-1])",
      "sch.parallel(sch.get_loops(\"%s\")[0])",
      "sch.vectorize(sch.split(sch.get_loops(\"%s\")[-1], [None, 4])[1])",
      "sch.vectorize(sch.split(sch.get_loops(\"%s\")[-1], [None, 8])[1])",
      "sch.unroll(sch.split(sch.get_loops(\"%s\")[-1], [None, 3])[1])",
      "sch.split(sch.get_loops(\"%s\")[0], [5, None])",
      "sch.fuse(*sch.get_loops(\"%s\"))",
      "sch.vectorize(sch.split(sch.fuse(*sch.get_loops(\"%s\")), [None, 16])[1])",
      "sch.loop_partition([sch.split(sch.get_loops(\"%s\")[-1], [None, 4])[0]])"};
  const char *pattern = *code_any(g, lines);
  const char *at = strchr(pattern, '%');
  return tirc_format(g->c, "%.*sS%d%s\n", (int)(at - pattern), pattern,
                     rng_below(g->r, g->n_blocks), at + 2);
}

static void draw_schedule(Draft *g) {
  Text t = {.c = g->c};
  tirc_text_add(&t, "");
  if (g->n_blocks && rng_chance(g->r, 45))
    for (int i = 1 + rng_below(g->r, 3); i > 0; i--) tirc_text_add(&t, schedule_line(g));
  else
    g->program->automatic = g->n_blocks && rng_chance(g->r, 10);
  g->program->schedule = t.at;
}

/* --- programs -------------------------------------------------------------------------------- */

void code_program(Tirc *c, Rng *r, const char *name, Program *out) {
  Draft g = {.c = c, .r = r, .depth = 1, .program = out, .ordered = true};
  g.head.c = g.body.c = c;
  Text scalars = {.c = c}, text = {.c = c};
  *out = (Program){.name = name, .seed = rng_next(r)};
  tirc_text_add(&scalars, "");
  tirc_text_add(&g.head, "");
  tirc_text_add(&g.body, "");
  /* Scalars first: that is the order of the parameters. */
  if (rng_chance(r, 30)) scalar(&g, &scalars);
  if (rng_chance(r, 30)) symbol(&g);
  for (int i = rng_below(r, 3); i > 0 || !g.n_buffers; i--) input(&g, NULL);
  for (int i = rng_chance(r, 75) ? 1 : 2; i > 0; i--) code_stage(&g, i == 1);
  tirc_text_addf(&text, "@T.prim_func\ndef %s(%s", name, scalars.at);
  for (const char *p = g.head.at; (p = strstr(p, "T.match_buffer(a_")) != NULL; p++) {
    const char *param = strchr(p, '(') + 1;
    tirc_text_addf(&text, "%.*s: T.handle, ", (int)strcspn(param, ","), param);
  }
  text.n -= 2;
  text.at[text.n] = 0;
  tirc_text_addf(&text, "):\n%s%s", g.head.at, g.body.at);
  out->text = text.at;
  draw_schedule(&g);
}
