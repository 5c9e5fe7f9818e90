/* What could be done next: a table of calls, each tried with the loops and blocks that there are on
 * a copy of the schedule; those that are legal are ranked by the estimate of what they make. */
#include "bench.h"
#include "repl.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12, MOST = 400, TEXT = 320 };

typedef enum Needs { NEEDS_LOOP, NEEDS_TWO_LOOPS, NEEDS_BLOCK, NEEDS_BLOCK_AND_LOOP } Needs;

/* L, M: loops, L around M; B: a block; #: a number of the row's; l, m: the loops' names. */
static const struct {
  Needs needs;
  const char *call;
  int numbers[6]; /* end with 0; {0}: none is needed */
} rows[] = {
    {NEEDS_LOOP, "{l}_0, {l}_1 = sch.split({L}, factors=[None, {#}])", {4, 8, 16, 32, 64}},
    {NEEDS_LOOP, "sch.parallel({L})", {0}},
    {NEEDS_LOOP, "sch.vectorize({L})", {0}},
    {NEEDS_LOOP, "sch.unroll({L})", {0}},
    {NEEDS_LOOP, "sch.rfactor({L}, 0)", {0}},
    {NEEDS_TWO_LOOPS, "sch.reorder({M}, {L})", {0}},
    {NEEDS_TWO_LOOPS, "{l}_{m} = sch.fuse({L}, {M})", {0}},
    {NEEDS_BLOCK, "sch.cache_read(\"{B}\", 0, \"global\")", {0}},
    {NEEDS_BLOCK, "sch.cache_read(\"{B}\", {#}, \"global\")", {1, 2, 3}},
    {NEEDS_BLOCK, "sch.cache_write(\"{B}\", 0, \"global\")", {0}},
    {NEEDS_BLOCK, "sch.compute_inline(\"{B}\")", {0}},
    {NEEDS_BLOCK, "sch.reverse_compute_inline(\"{B}\")", {0}},
    {NEEDS_BLOCK_AND_LOOP, "sch.compute_at(\"{B}\", {L})", {0}},
    {NEEDS_BLOCK_AND_LOOP, "sch.reverse_compute_at(\"{B}\", {L})", {0}},
    {NEEDS_BLOCK_AND_LOOP, "sch.decompose_reduction(\"{B}\", {L})", {0}},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

typedef struct Proposal {
  char text[TEXT];
  double cycles;
} Proposal;
struct Proposals {
  int n;
  double now; /* the estimate of the program as it is */
  Proposal at[MOST];
};

/* A variable of the session that holds a loop. */
typedef struct Name {
  char *name;
  tirc_value value;
} Name;

typedef struct Search {
  Repl *r;
  tirc_schedule *s;
  int n, n_names, threads;
  const tirc_tree_node *nodes;
  Name names[256];
  const char *focus; /* only what concerns this block or loop; "" for all */
  Proposals *out;
} Search;

void free_proposals(Proposals *p) { free(p); }

/* --- names ------------------------------------------------------------------------------------ */

/* A name's value, by way of a dict: the API evaluates expressions as arguments. */
static bool value_of(tirc_schedule *s, const char *name, tirc_value *out) {
  char dict[TEXT];
  tirc_value key = tirc_text("x"), self;
  snprintf(dict, sizeof dict, "{'x': %s}", name);
  self = tirc_script(dict);
  return tirc_schedule_method(s, &self, "get", 1, &key, 0, NULL, NULL, out, NULL) == TIRC_OK;
}

static void find_names(Search *q) {
  int line = 0;
  size_t at = 0;
  for (char *name; (name = next_variable(q->r, &line, &at)) != NULL;) {
    Name *x = &q->names[q->n_names];
    bool loop = q->n_names < 256 && strlen(name) < 64 && value_of(q->s, name, &x->value) &&
                x->value.kind == TIRC_KIND_LOOP;
    if (loop)
      x->name = name, q->n_names++;
    else
      free(name);
  }
}

static const Name *name_of(const Search *q, int node) {
  for (int i = q->n_names - 1; i >= 0; i--)
    if (q->names[i].value.u.handle == q->nodes[node].handle.u.handle) return &q->names[i];
  return NULL;
}

/* How a line gets at a loop: by its variable, or from the first block in it. */
static bool loop_text(const Search *q, int node, char *out, size_t size) {
  const Name *x = name_of(q, node);
  if (x) return snprintf(out, size, "%s", x->name) < (int)size;
  int block = node, above = 0;
  while (block < q->n && !q->nodes[block].is_block) block++;
  for (int i = q->nodes[node].parent; i >= 0 && !q->nodes[i].is_block; i = q->nodes[i].parent)
    above++;
  return block < q->n &&
         snprintf(out, size, "sch.get_loops(\"%s\")[%d]", q->nodes[block].name, above) < (int)size;
}

/* --- trying ----------------------------------------------------------------------------------- */

static void try_call(Search *q, const char *text) {
  tirc_schedule *copy = NULL;
  tirc_module *m = NULL;
  double cycles;
  if (q->out->n == MOST || was_interrupted() || tirc_schedule_copy(q->s, &copy, NULL)) return;
  for (int i = 0; i < q->n_names; i++)
    (void)tirc_schedule_set(copy, q->names[i].name, &q->names[i].value, NULL);
  if (tirc_schedule_run(copy, text, strlen(text), "<next>", NULL) == TIRC_OK &&
      tirc_schedule_module(copy, &m, NULL) == TIRC_OK &&
      tirc_module_estimate(m, NULL, q->threads, &cycles, NULL) == TIRC_OK) {
    Proposal *p = &q->out->at[q->out->n++];
    snprintf(p->text, sizeof p->text, "%s", text);
    p->cycles = cycles;
  }
  tirc_module_free(m);
  tirc_schedule_free(copy);
}

/* A row's call with everything filled in; false when it does not fit. */
static bool fill(const Search *q, int row, int block, int outer, int inner, int number, char *out,
                 size_t size) {
  size_t n = 0;
  for (const char *s = rows[row].call; *s && n + 1 < size; s++) {
    char word[160] = "";
    if (*s != '{') {
      out[n++] = *s;
      continue;
    }
    bool ok = true;
    switch (s[1]) {
    case 'L': ok = loop_text(q, outer, word, sizeof word); break;
    case 'M': ok = loop_text(q, inner, word, sizeof word); break;
    case 'l': ok = snprintf(word, sizeof word, "%s", q->nodes[outer].name) < 160; break;
    case 'm': ok = snprintf(word, sizeof word, "%s", q->nodes[inner].name) < 160; break;
    case 'B': ok = snprintf(word, sizeof word, "%s", q->nodes[block].name) < 160; break;
    default: snprintf(word, sizeof word, "%d", number); break;
    }
    size_t m = strlen(word);
    if (!ok || n + m + 1 >= size) return false;
    memcpy(out + n, word, m);
    n += m;
    s += 2;
  }
  out[n] = 0;
  return true;
}

static bool in_focus(const Search *q, int node) {
  if (node < 0) return false;
  const Name *x = name_of(q, node);
  return strcmp(q->nodes[node].name, q->focus) == 0 || (x && strcmp(x->name, q->focus) == 0);
}

static void try_row(Search *q, int row, int block, int outer, int inner) {
  char text[TEXT];
  if (*q->focus && !in_focus(q, block) && !in_focus(q, outer) && !in_focus(q, inner)) return;
  for (const int *number = rows[row].numbers; number == rows[row].numbers || *number; number++)
    if (fill(q, row, block, outer, inner, *number, text, sizeof text)) try_call(q, text);
}

/* Whether loop `inner` stands below loop `outer` with no block between. */
static bool is_below(const Search *q, int inner, int outer) {
  int i = q->nodes[inner].parent;
  while (i > outer && !q->nodes[i].is_block) i = q->nodes[i].parent;
  return i == outer;
}

static void try_all(Search *q) {
  for (int row = 0; row < N_ROWS; row++) {
    bool with_block = rows[row].needs >= NEEDS_BLOCK, pairs = rows[row].needs & 1;
    for (int a = 0; a < q->n; a++) {
      if (q->nodes[a].is_block != with_block) continue;
      if (!pairs) try_row(q, row, with_block ? a : -1, with_block ? -1 : a, -1);
      for (int b = 0; pairs && b < q->n; b++) {
        if (q->nodes[b].is_block || b == a) continue;
        if (with_block)
          try_row(q, row, a, b, -1);
        else if (is_below(q, b, a))
          try_row(q, row, -1, a, b);
      }
    }
  }
}

/* --- the command ------------------------------------------------------------------------------ */

static int by_cycles(const void *a, const void *b) {
  double x = ((const Proposal *)a)->cycles, y = ((const Proposal *)b)->cycles;
  return (x > y) - (x < y);
}

static bool knows_focus(const Search *q) {
  bool found = !*q->focus;
  for (int i = 0; i < q->n; i++) found = found || in_focus(q, i);
  return found;
}

static int search(Search *q) {
  tirc_error *e = NULL;
  char *text = script_of(q->r, NULL);
  tirc_schedule_options options = {.target = q->r->o->target, .max_steps = q->r->o->script_steps};
  tirc_executor *x = NULL;
  int status = DONE;
  if (!text) return complain(q->r->o, NULL, "out of memory");
  if (tirc_executor_new((int)q->r->o->threads, &x, &e) ||
      tirc_schedule_new(q->r->program, &options, &q->s, &e) ||
      tirc_schedule_run(q->s, text, strlen(text), "<session>", &e) ||
      tirc_schedule_tree(q->s, NULL, &q->n, &q->nodes, &e) ||
      tirc_module_estimate(module_now(q->r), NULL, tirc_executor_threads(x), &q->out->now, &e))
    status = report(q->r->o, e);
  if (x) q->threads = tirc_executor_threads(x);
  if (status == DONE) find_names(q);
  if (status == DONE && !knows_focus(q))
    status = complain(q->r->o, "`blocks` and `loops` list them", "there is no block or loop '%s'",
                      q->focus);
  if (status == DONE) try_all(q);
  for (int i = 0; i < q->n_names; i++) free(q->names[i].name);
  tirc_executor_free(x);
  tirc_schedule_free(q->s);
  free(text);
  return status;
}

static int measure(const Repl *r, const Proposals *p) {
  const char *names[SHOWN + 1] = {"now"};
  char *scripts[SHOWN + 1] = {script_of(r, NULL)}, numbers[SHOWN][8];
  int n = 1, status = DONE;
  for (; n <= p->n && n <= SHOWN; n++) {
    char line[TEXT + 2];
    snprintf(numbers[n - 1], sizeof numbers[n - 1], "%d", n);
    snprintf(line, sizeof line, "%s\n", p->at[n - 1].text);
    names[n] = numbers[n - 1];
    scripts[n] = script_of(r, line);
  }
  for (int i = 0; i < n; i++)
    if (!scripts[i]) status = complain(r->o, NULL, "out of memory");
  if (status == DONE) status = bench_scripts(r, n, names, scripts);
  for (int i = 0; i < n; i++) free(scripts[i]);
  return status;
}

int propose(Repl *r, const char *argument) {
  size_t n = strcspn(argument, " ");
  const char *rest = argument + n + strspn(argument + n, " ");
  bool first = strcmp(argument, "--measure") == 0, measured = first || !strcmp(rest, "--measure");
  if (*rest && !measured) return complain(r->o, NULL, "usage: next [BLOCK|LOOP|N] [--measure]");
  char *focus = strndup(argument, first ? 0 : n);
  Search q = {.r = r, .focus = focus, .out = calloc(1, sizeof *q.out)};
  int status = focus && q.out ? search(&q) : complain(r->o, NULL, "out of memory");
  free(focus);
  if (status != DONE) {
    free_proposals(q.out);
    return status;
  }
  qsort(q.out->at, (size_t)q.out->n, sizeof *q.out->at, by_cycles);
  for (int i = 0; i < q.out->n && i < SHOWN; i++)
    printf("%3d  %6.2fx  %s\n", i + 1, q.out->now / q.out->at[i].cycles, q.out->at[i].text);
  printf("%d legal call%s%s; x: how much faster by an estimate\n", q.out->n,
         q.out->n == 1 ? "" : "s", q.out->n > SHOWN ? ", the best of them" : "");
  free_proposals(r->proposals);
  r->proposals = q.out;
  return measured ? measure(r, q.out) : DONE;
}

int pick_proposal(Repl *r, int number) {
  char line[TEXT + 2];
  if (!r->proposals)
    return complain(r->o, "call `next` without a number first", "nothing was proposed yet");
  if (number > r->proposals->n || number > SHOWN)
    return complain(r->o, NULL, "there is no call %d among those that were shown", number);
  snprintf(line, sizeof line, "%s\n", r->proposals->at[number - 1].text);
  fputs(line, stdout);
  return accept_line(r, line);
}
