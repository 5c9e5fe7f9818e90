/* What could be done next: a table of calls, each tried with the loops and blocks that there are on
 * a copy of the schedule; those that are legal are ranked by the estimate of what they make. Calls
 * that need more than a loop, a block or a small number (an index map, an intrinsic, a key) are not
 * in the table: there is no list of what to try. */
#include "next.h"

#include <stdlib.h>
#include <string.h>

typedef enum Needs {
  NEEDS_LOOP,
  NEEDS_TWO_LOOPS,
  NEEDS_TILE, /* the two innermost loops of a block; the first number that divides both */
  NEEDS_BLOCK,
  NEEDS_BLOCK_AND_LOOP,
  NEEDS_TWO_BLOCKS, /* of one scope */
  NEEDS_TWO_NESTS
} Needs;

/* Calls of the same estimate come in this order. L, M: loops, L around M; B: a block, E: one behind
 * it; #: a number of the row's; l, m: the loops' names. */
static const struct {
  Needs needs;
  const char *call;
  int numbers[6]; /* end with 0; {0}: none is needed */
} rows[] = {
    {NEEDS_LOOP, "sch.parallel({L})", {0}},
    {NEEDS_LOOP, "sch.vectorize({L})", {0}},
    {NEEDS_LOOP, "{l}_0, {l}_1 = sch.split({L}, factors=[None, {#}])", {4, 8, 16, 32, 64}},
    {NEEDS_LOOP, "sch.unroll({L})", {0}},
    {NEEDS_LOOP, "sch.rfactor({L}, 0)", {0}},
    {NEEDS_TWO_LOOPS, "sch.reorder({M}, {L})", {0}},
    {NEEDS_TWO_LOOPS, "{l}_{m} = sch.fuse({L}, {M})", {0}},
    {NEEDS_TILE,
     "{m}_0, {m}_1 = sch.split({M}, factors=[None, {#}]); "
     "{l}_0, {l}_1 = sch.split({L}, factors=[None, {#}]); "
     "sch.reorder({l}_0, {m}_0, {l}_1, {m}_1)",
     {32, 16, 8, 4}},
    {NEEDS_BLOCK, "sch.cache_read(\"{B}\", 0, \"global\")", {0}},
    {NEEDS_BLOCK, "sch.cache_read(\"{B}\", {#}, \"global\")", {1, 2, 3}},
    {NEEDS_BLOCK, "sch.cache_write(\"{B}\", 0, \"global\")", {0}},
    {NEEDS_BLOCK, "sch.compute_inline(\"{B}\")", {0}},
    {NEEDS_BLOCK, "sch.reverse_compute_inline(\"{B}\")", {0}},
    {NEEDS_TWO_BLOCKS, "sch.fuse_reduction_epilogue(\"{B}\", \"{E}\")", {0}},
    {NEEDS_BLOCK_AND_LOOP, "sch.compute_at(\"{B}\", {L})", {0}},
    {NEEDS_BLOCK_AND_LOOP, "sch.reverse_compute_at(\"{B}\", {L})", {0}},
    {NEEDS_BLOCK_AND_LOOP, "sch.decompose_reduction(\"{B}\", {L})", {0}},
    {NEEDS_BLOCK_AND_LOOP, "sch.decompose_padding(\"{B}\", {L})", {0}},
    {NEEDS_BLOCK_AND_LOOP, "sch.read_at({L}, \"{B}\", 0, \"global\")", {0}},
    {NEEDS_BLOCK_AND_LOOP, "sch.read_at({L}, \"{B}\", {#}, \"global\")", {1, 2, 3}},
    {NEEDS_BLOCK_AND_LOOP, "sch.write_at({L}, \"{B}\", 0, \"global\")", {0}},
    {NEEDS_BLOCK, "sch.reindex(\"{B}\", (\"read\", 0))", {0}},
    {NEEDS_BLOCK, "sch.reindex(\"{B}\", (\"read\", {#}))", {1, 2, 3}},
    {NEEDS_BLOCK, "sch.reindex(\"{B}\", (\"write\", 0))", {0}},
    {NEEDS_BLOCK, "sch.rolling_buffer(\"{B}\", 0)", {0}},
    {NEEDS_TWO_NESTS, "sch.merge({L}, {M})", {0}},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

typedef struct Search {
  const NextQuestion *ask;
  Session session;
  int n;
  const tirc_tree_node *nodes;
  int n_warnings; /* so far */
  bool *chosen;   /* each node: whether it is the focus, or a loop around the block that is */
  Proposals *out;
} Search;

/* --- names ------------------------------------------------------------------------------------ */

static const Name *name_of(const Search *q, int node) {
  for (int i = q->session.n_names - 1; i >= 0; i--)
    if (q->session.names[i].value.u.handle == q->nodes[node].handle.u.handle)
      return &q->session.names[i];
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

/* --- the focus -------------------------------------------------------------------------------- */

static void choose(Search *q, int node) {
  q->chosen[node] = true;
  if (!q->nodes[node].is_block) return;
  for (int i = q->nodes[node].parent; i >= 0 && !q->nodes[i].is_block; i = q->nodes[i].parent)
    q->chosen[i] = true;
}

/* By an expression (a variable, sch.get_loops("C")[0]), or all that have the name. */
static bool find_focus(Search *q) {
  tirc_value v = {0};
  tirc_schedule *copy = copy_of(&q->session);
  bool found = false;
  bool given = copy && value_of(copy, q->ask->focus, &v) &&
               (v.kind == TIRC_KIND_LOOP || v.kind == TIRC_KIND_BLOCK);
  tirc_schedule_free(copy);
  for (int by_name = 0; by_name < 2 && !found; by_name++)
    for (int i = 0; i < q->n; i++) {
      bool is_it = by_name ? strcmp(q->nodes[i].name, q->ask->focus) == 0
                           : given && q->nodes[i].handle.u.handle == v.u.handle;
      if (is_it) choose(q, i);
      found |= is_it;
    }
  return found;
}

static bool in_focus(const Search *q, int node) {
  return !*q->ask->focus || (node >= 0 && q->chosen[node]);
}

/* --- trying ----------------------------------------------------------------------------------- */

static void count_warning(void *self, const char *file, int line, int column, const char *message,
                          const char *code) {
  (void)file, (void)line, (void)column, (void)message, (void)code;
  ((Search *)self)->n_warnings++;
}

static bool is_changed(const Search *q, const tirc_module *m) {
  char *difference = NULL;
  bool changed = tirc_module_compare(q->ask->now, m, &difference, NULL) == TIRC_OK && difference;
  tirc_string_free(difference);
  return changed;
}

static void keep_refusal(Search *q, const char *text, const tirc_error *e) {
  Refusal *r = one_more(q->out->refused, q->out->n_refused);
  *r = (Refusal){.text = copied(text),
                 .code = copied(tirc_error_get(e, TIRC_ERROR_CODE)),
                 .message = copied(tirc_error_message(e)),
                 .condition = copied(tirc_error_get(e, TIRC_ERROR_CONDITION)),
                 .hint = copied(tirc_error_get(e, TIRC_ERROR_HINT))};
}

static void keep_proposal(Search *q, const char *text, double cycles) {
  Proposal *p = &q->out->at[q->out->n];
  p->number = q->out->n++;
  snprintf(p->text, sizeof p->text, "%s", text);
  p->cycles = cycles;
}

/* What changes nothing is no proposal, and neither is what is warned of. */
static void try_call(Search *q, const char *text) {
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  double cycles;
  if (q->out->n == MOST_PROPOSALS || (q->ask->go_on && !q->ask->go_on(q->ask->self))) return;
  tirc_schedule *copy = copy_of(&q->session);
  const int n_warnings = q->n_warnings;
  const tirc_status ran =
      copy ? tirc_schedule_run(copy, text, strlen(text), "<next>", &e) : TIRC_BAD;
  if (ran == TIRC_OK && q->n_warnings == n_warnings &&
      tirc_schedule_module(copy, &m, NULL) == TIRC_OK && is_changed(q, m) &&
      tirc_module_estimate(m, NULL, q->ask->threads, &cycles, NULL) == TIRC_OK)
    keep_proposal(q, text, cycles);
  else if (ran == TIRC_NO && q->ask->refused && q->out->n_refused < MOST_PROPOSALS)
    keep_refusal(q, text, e);
  tirc_error_free(e);
  tirc_module_free(m);
  tirc_schedule_free(copy);
}

/* A factor that is no less than the extent splits nothing, and the threads of a loop have none
 * for a loop inside of it. */
static bool is_useful(const Search *q, int row, int outer, int number) {
  if (strstr(rows[row].call, "sch.parallel("))
    for (int i = q->nodes[outer].parent; i >= 0; i = q->nodes[i].parent)
      if (strcmp(q->nodes[i].kind, "parallel") == 0) return false;
  bool splits = rows[row].needs == NEEDS_LOOP && number;
  return !splits || q->nodes[outer].extent < 0 || number < q->nodes[outer].extent;
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
    case 'E': ok = snprintf(word, sizeof word, "%s", q->nodes[inner].name) < 160; break;
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

/* Whether a block is a reduction, or reads along another of its iterators than it writes along. */
static bool gains_by_tiles(const Search *q, int block) {
  static const char question[] =
      "(lambda b: any([v.iter_type == 2 for v in b.iter_vars] + "
      "[str(r.region[-1].min) in [str(v.var) for v in b.iter_vars] and "
      "str(r.region[-1].min) != str(w.region[-1].min) "
      "for r in b.reads for w in b.writes if r.region and w.region]))(sch.get(block))";
  tirc_value answer = {0};
  tirc_schedule *copy = copy_of(&q->session);
  const bool gains = copy &&
                     tirc_schedule_set(copy, "block", &q->nodes[block].handle, NULL) == TIRC_OK &&
                     value_of(copy, question, &answer);
  tirc_schedule_free(copy);
  return gains && answer.kind == TIRC_KIND_BOOL && answer.u.b;
}

/* The number of a tile: 0 if none fits. */
static int tile_of(const Search *q, int row, int outer, int inner) {
  const int64_t a = q->nodes[outer].extent, b = q->nodes[inner].extent;
  for (const int *number = rows[row].numbers; *number; number++)
    if (a > *number && b > *number && a % *number == 0 && b % *number == 0) return *number;
  return 0;
}

static void try_tile(Search *q, int row, int inner) {
  char text[PROPOSAL_TEXT];
  const int outer = q->nodes[inner].parent, block = inner + 1;
  if (outer < 0 || q->nodes[outer].is_block || block >= q->n || q->nodes[block].parent != inner ||
      !q->nodes[block].is_block || (block + 1 < q->n && q->nodes[block + 1].parent >= outer))
    return;
  if (!in_focus(q, block) && !in_focus(q, outer) && !in_focus(q, inner)) return;
  const int number = tile_of(q, row, outer, inner);
  if (number && gains_by_tiles(q, block) &&
      fill(q, row, block, outer, inner, number, text, sizeof text))
    try_call(q, text);
}

static void try_row(Search *q, int row, int block, int outer, int inner) {
  char text[PROPOSAL_TEXT];
  if (!in_focus(q, block) && !in_focus(q, outer) && !in_focus(q, inner)) return;
  for (const int *number = rows[row].numbers; number == rows[row].numbers || *number; number++)
    if (is_useful(q, row, outer, *number) &&
        fill(q, row, block, outer, inner, *number, text, sizeof text))
      try_call(q, text);
}

/* Whether loop `inner` stands below loop `outer` with no block between. */
static bool is_below(const Search *q, int inner, int outer) {
  int i = q->nodes[inner].parent;
  while (i > outer && !q->nodes[i].is_block) i = q->nodes[i].parent;
  return i == outer;
}

/* Whether they stand in two nests, and might run as one loop. */
static bool are_apart(const Search *q, int a, int b) {
  const tirc_tree_node *x = &q->nodes[a], *y = &q->nodes[b];
  int i = b;
  while (i > a) i = q->nodes[i].parent;
  return b > a && i != a && x->depth == y->depth && strcmp(x->extent_text, y->extent_text) == 0;
}

static int block_around(const Search *q, int node) {
  do node = q->nodes[node].parent;
  while (node >= 0 && !q->nodes[node].is_block);
  return node;
}

/* Of n blocks there are n * n pairs, most of which have nothing to do with each other. */
static void try_epilogues(Search *q, int row, int a) {
  enum { NEAR = 8 };
  const int scope = block_around(q, a);
  for (int b = a + 1, seen = 0; b < q->n && seen < NEAR; b++) {
    if (!q->nodes[b].is_block || block_around(q, b) != scope) continue;
    seen++;
    try_row(q, row, a, -1, b);
  }
}

static void try_pairs(Search *q, int row, int a) {
  if (rows[row].needs == NEEDS_TWO_BLOCKS) {
    try_epilogues(q, row, a);
    return;
  }
  for (int b = 0; b < q->n; b++) {
    if (q->nodes[b].is_block || b == a) continue;
    if (rows[row].needs == NEEDS_BLOCK_AND_LOOP)
      try_row(q, row, a, b, -1);
    else if (rows[row].needs == NEEDS_TWO_LOOPS ? is_below(q, b, a) : are_apart(q, a, b))
      try_row(q, row, -1, a, b);
  }
}

static void try_all(Search *q) {
  for (int row = 0; row < N_ROWS; row++) {
    Needs needs = rows[row].needs;
    bool with_block =
        needs == NEEDS_BLOCK || needs == NEEDS_BLOCK_AND_LOOP || needs == NEEDS_TWO_BLOCKS;
    for (int a = 0; a < q->n; a++) {
      if (q->nodes[a].is_block != with_block) continue;
      if (needs == NEEDS_TILE) {
        try_tile(q, row, a);
        continue;
      }
      if (needs == NEEDS_LOOP || needs == NEEDS_BLOCK)
        try_row(q, row, with_block ? a : -1, with_block ? -1 : a, -1);
      else
        try_pairs(q, row, a);
    }
  }
}

/* --- searching -------------------------------------------------------------------------------- */

static int by_cycles(const void *a, const void *b) {
  const Proposal *x = a, *y = b;
  int order = (x->cycles > y->cycles) - (x->cycles < y->cycles);
  return order ? order : x->number - y->number;
}

int find_next(const NextQuestion *ask, Proposals *out, tirc_error **error) {
  Search q = {.ask = ask, .out = out};
  const tirc_schedule_options options = {
      .target = ask->target, .max_steps = ask->max_steps, .self = &q, .warn = count_warning};
  tirc_status status = begin_session(ask, &options, &q.session, error);
  if (status == TIRC_OK) status = tirc_schedule_tree(q.session.s, NULL, &q.n, &q.nodes, error);
  if (status == TIRC_OK)
    status = tirc_module_estimate(ask->now, NULL, ask->threads, &out->now, error);
  q.chosen = tirc_alloc_array(memory, (size_t)q.n + 1, sizeof *q.chosen);
  const bool found = status == TIRC_OK && (!*ask->focus || find_focus(&q));
  if (found) try_all(&q);
  tirc_schedule_free(q.session.s);
  qsort(out->at, (size_t)out->n, sizeof *out->at, by_cycles);
  if (found && ask->refused) find_wrong(ask, out);
  return status != TIRC_OK ? BAD : found ? DONE : NO;
}
