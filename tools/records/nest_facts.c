#define _GNU_SOURCE
#include "nest_facts.h"
#include "ir/ascii.h"

#include <stdlib.h>
#include <string.h>

/* --- loops around a block --------------------------------------------------------------------- */

enum { MOST_LOOPS = 48 };
typedef struct Nest {
  const tirc_node *block;
  int n;
  const tirc_node *loops[MOST_LOOPS];
} Nest;

static int64_t extent_of(const tirc_node *loop) {
  char *end = NULL;
  const long long n = strtoll(loop->extent ? loop->extent : "", &end, 10);
  return end && *end == 0 && n > 0 ? n : 1;
}

/* Reductions come before all else, then what runs most often. */
static double weight(const Nest *n) {
  double w = n->block->iters && strchr(n->block->iters, 'R') ? 1e30 : 1;
  for (int i = 0; i < n->n; i++) w *= (double)extent_of(n->loops[i]);
  return w;
}

static Nest heaviest(const tirc_view *v) {
  Nest here = {0}, best = {0};
  for (int i = 0; i < v->n; i++) {
    const tirc_node *node = &v->nodes[i];
    while (here.n && here.loops[here.n - 1]->depth >= node->depth) here.n--;
    if (node->kind == TIRC_LOOP && here.n < MOST_LOOPS) here.loops[here.n++] = node;
    here.block = node;
    if (node->kind == TIRC_BLOCK && here.n && (!best.block || weight(&here) > weight(&best)))
      best = here;
  }
  return best;
}

/* --- axes ------------------------------------------------------------------------------------- */

static void set_axes(Facts *f, const Nest *nest) {
  const char *iters = nest->block && nest->block->iters ? nest->block->iters : "";
  const bool known = (int)strlen(iters) == nest->n;
  for (int i = 0; i < nest->n && f->n_axes < MOST_AXES; i++) {
    Axis *a = &f->axes[f->n_axes++];
    snprintf(a->name, sizeof a->name, "%s", nest->loops[i]->name);
    a->extent = extent_of(nest->loops[i]);
    a->reduction = known && iters[i] == 'R';
    a->n = 1;
    snprintf(a->levels[0].name, sizeof a->levels[0].name, "%s", nest->loops[i]->name);
    a->levels[0].extent = a->extent;
    a->tile = 1;
  }
}

/* j_1_0 and j_3_fused are of j; i_0_j_0_fused is of none alone. */
static bool is_of_axis(const char *loop, const Axis *a) {
  const size_t n = strlen(a->name);
  if (strncmp(loop, a->name, n) != 0 || (loop[n] && loop[n] != '_')) return false;
  for (const char *p = loop + n; *p;) {
    if (strncmp(p, "fused", 5) == 0)
      p += 5;
    else if (*p == '_' || tirc_is_digit(*p))
      p++;
    else
      return false;
  }
  return true;
}

static const Axis *axis_of(const Facts *f, const char *loop) {
  for (int i = 0; i < f->n_axes; i++)
    if (is_of_axis(loop, &f->axes[i])) return &f->axes[i];
  return NULL;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Argument i of "sch.split(j_1, factors=[None, 32])", without a keyword. */
static void read_argument(const char *call, int i, char *out, size_t size) {
  const char *p = strchr(call, '(');
  int depth = 0;
  *out = 0;
  for (p = p ? p + 1 : ""; *p && i > 0; p++) {
    depth += (*p == '[' || *p == '(') - (*p == ']' || *p == ')');
    if (*p == ',' && depth == 0) i--;
  }
  if (i > 0) return;
  while (*p == ' ') p++;
  const size_t n = strcspn(p, ",)");
  const char *equals = memchr(p, '=', n);
  const char *from = equals ? equals + 1 : p;
  snprintf(out, size, "%.*s", (int)(p + n - from), from);
}

static int count_loops(const tirc_view *v, const char *name) {
  int n = 0;
  for (int i = 0; i < v->n; i++)
    n += v->nodes[i].kind == TIRC_LOOP && strcmp(v->nodes[i].name, name) == 0;
  return n;
}

/* The level that was split makes room for those that it became: loops that there are more of. */
static void split_level(Facts *f, const tirc_step *s) {
  struct Level parts[MOST_LEVELS];
  char name[48];
  int n = 0;
  read_argument(s->call, 0, name, sizeof name);
  Axis *a = (Axis *)(uintptr_t)axis_of(f, name);
  for (int i = 0; i < s->after->n && n < MOST_LEVELS; i++) {
    const tirc_node *node = &s->after->nodes[i];
    if (node->kind != TIRC_LOOP || (n && strcmp(parts[n - 1].name, node->name) == 0)) continue;
    if (count_loops(s->after, node->name) <= count_loops(s->before, node->name)) continue;
    snprintf(parts[n].name, sizeof parts[n].name, "%s", node->name);
    parts[n++].extent = extent_of(node);
  }
  int at = 0;
  while (a && at < a->n && strcmp(a->levels[at].name, name) != 0) at++;
  if (!a || at == a->n || n == 0 || a->n + n - 1 > MOST_LEVELS) return;
  memmove(&a->levels[at + n], &a->levels[at + 1], (size_t)(a->n - at - 1) * sizeof *a->levels);
  memcpy(&a->levels[at], parts, (size_t)n * sizeof *parts);
  a->n += n - 1;
}

static void append(char *to, size_t size, const char *separator, const char *text) {
  const size_t n = strlen(to);
  if (n < size) snprintf(to + n, size - n, "%s%s", n ? separator : "", text);
}

static void append_place(Facts *f, const char *call) {
  char block[64], loop[64];
  read_argument(call, 0, block, sizeof block);
  read_argument(call, 1, loop, sizeof loop);
  append(f->computed_at, sizeof f->computed_at, " ", tirc_format(memory, "%s@%s", block, loop));
}

static void read_call(Facts *f, const tirc_step *s) {
  char word[64];
  if (s->error) return;
  read_argument(s->call, 0, word, sizeof word);
  if (strcmp(s->primitive, "split") == 0) split_level(f, s);
  if (strcmp(s->primitive, "cache_write") == 0)
    append(f->cache_writes, sizeof f->cache_writes, " ", word);
  if (strcmp(s->primitive, "cache_read") == 0)
    append(f->cache_reads, sizeof f->cache_reads, " ", word);
  if (strcmp(s->primitive, "compute_at") == 0 || strcmp(s->primitive, "reverse_compute_at") == 0)
    append_place(f, s->call);
  if (strcmp(s->primitive, "decompose_reduction") == 0)
    read_argument(s->call, 1, f->decomposed_at, sizeof f->decomposed_at);
}

/* --- what came of it -------------------------------------------------------------------------- */

static int64_t annotated_unroll(const tirc_node *loop) {
  static const char key[] = "pragma_auto_unroll_max_step";
  const char *at = loop->annotations ? strstr(loop->annotations, key) : NULL;
  for (at = at ? at + strlen(key) : ""; *at && !tirc_is_digit(*at);) at++;
  return strtoll(at, NULL, 10);
}

/* Vectors, threads, unrolling, and tiles: what stands below the first loop of a reduction. */
static void read_nest(Facts *f, const Nest *nest) {
  bool inside = false;
  int64_t unrolled = 1;
  snprintf(f->block, sizeof f->block, "%s", nest->block ? nest->block->name : "");
  for (int i = 0; i < nest->n; i++) {
    const tirc_node *l = nest->loops[i];
    const int64_t n = extent_of(l), most = annotated_unroll(l);
    Axis *a = (Axis *)(uintptr_t)axis_of(f, l->name);
    char text[100];
    if (a && inside) a->tile *= n;
    inside |= a && a->reduction;
    if (strcmp(l->loop_kind, "vectorized") == 0) f->vector_width *= n;
    if (strcmp(l->loop_kind, "parallel") == 0) f->parallel *= n;
    if (strcmp(l->loop_kind, "unroll") == 0) unrolled *= n;
    if (most > f->unroll) f->unroll = most;
    snprintf(text, sizeof text, "%s", l->name);
    append(f->order, sizeof f->order, " ", text);
  }
  if (f->unroll == 0 && unrolled > 1) f->unroll = unrolled;
}

/* --- from outside ----------------------------------------------------------------------------- */

static tirc_status steps_of(const tirc_module *m, const char *script, Facts *out, tirc_error **e) {
  *out = (Facts){.vector_width = 1, .parallel = 1};
  const tirc_status status =
      tirc_module_steps_text(m, script, strlen(script), "trial", NULL, &out->steps, e);
  if (status != TIRC_OK) return status;
  const Nest first = heaviest(tirc_steps_first(out->steps));
  set_axes(out, &first);
  return TIRC_OK;
}

tirc_status read_axes(const tirc_module *program, Facts *out, tirc_error **error) {
  return steps_of(program, "", out, error);
}

/* The calls that a trace amounts to; NULL: it cannot be replayed. */
static char *script_of(const tirc_module *m, const char *trace, tirc_error **error) {
  tirc_module *made = NULL;
  char *script = NULL;
  if (tirc_module_replay_text(m, trace, strlen(trace), "trial", 0, NULL, &made, error) == TIRC_OK)
    (void)tirc_module_trace(made, TIRC_TRACE_SCRIPT, &script, error);
  tirc_module_free(made);
  return script;
}

static void read_steps(Facts *f) {
  const tirc_view *last = tirc_steps_last(f->steps);
  for (int i = 0; last && i < tirc_steps_count(f->steps); i++)
    read_call(f, tirc_steps_at(f->steps, i));
  if (!last) return;
  const Nest nest = heaviest(last);
  read_nest(f, &nest);
}

tirc_status read_facts(const char *program, const char *trace, Facts *out, tirc_error **error) {
  tirc_module *m = NULL;
  *out = (Facts){0};
  tirc_status status = tirc_module_parse(program, strlen(program), "program", 0, NULL, &m, error);
  char *script = status == TIRC_OK ? script_of(m, trace, error) : NULL;
  if (status == TIRC_OK) status = script ? steps_of(m, script, out, error) : TIRC_BAD;
  if (status == TIRC_OK) read_steps(out);
  tirc_string_free(script);
  tirc_module_free(m);
  return status;
}

void free_facts(Facts *f) {
  tirc_steps_free(f->steps);
  *f = (Facts){0};
}
