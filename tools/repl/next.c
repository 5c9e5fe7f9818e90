/* What could be done next: a table of calls, each tried with the loops and blocks that there are on
 * a copy of the schedule; those that are legal are ranked by the estimate of what they make. Calls
 * that need more than a loop, a block or a small number (an index map, an intrinsic, a key) are not
 * in the table: there is no list of what to try. */
#include "repl.h"
#include "tools/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12, MOST = 400, TEXT = 480 };
static const double TOO_SLOW = 20;

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

typedef struct Proposal {
  char text[TEXT];
  double cycles;
  int number; /* in the order of trying */
} Proposal;
struct Proposals {
  int n, shown;
  double now; /* the estimate of the program as it is */
  Proposal at[MOST];
};

/* A variable of the session that holds a loop or a block. */
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
  int n_warnings;    /* so far */
  bool *chosen;      /* each node: whether it is the focus, or a loop around the block that is */
  Proposals *out;
} Search;

/* --- names ------------------------------------------------------------------------------------ */

/* A name's value, by way of a dict: the API evaluates expressions as arguments. */
static bool value_of(tirc_schedule *s, const char *name, tirc_value *out) {
  tirc_value key = tirc_text("x"), self = tirc_script(tirc_format(memory, "{'x': %s}", name));
  return tirc_schedule_method(s, &self, "get", 1, &key, 0, NULL, NULL, out, NULL) == TIRC_OK;
}

static void find_names(Search *q) {
  int line = 0;
  size_t at = 0;
  for (char *name; (name = next_variable(q->r, &line, &at)) != NULL;) {
    Name *x = &q->names[q->n_names];
    bool wanted = q->n_names < 256 && strlen(name) < 64 && value_of(q->s, name, &x->value) &&
                  (x->value.kind == TIRC_KIND_LOOP || x->value.kind == TIRC_KIND_BLOCK);
    if (wanted) x->name = name, q->n_names++;
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

/* --- the focus -------------------------------------------------------------------------------- */

/* The schedule as it is now, to be freed, with the names that the calls use; NULL without memory.
 */
static tirc_schedule *copy_of(const Search *q) {
  tirc_schedule *copy = NULL;
  if (tirc_schedule_copy(q->s, &copy, NULL)) return NULL;
  for (int i = 0; i < q->n_names; i++)
    (void)tirc_schedule_set(copy, q->names[i].name, &q->names[i].value, NULL);
  return copy;
}

static void choose(Search *q, int node) {
  q->chosen[node] = true;
  if (!q->nodes[node].is_block) return;
  for (int i = q->nodes[node].parent; i >= 0 && !q->nodes[i].is_block; i = q->nodes[i].parent)
    q->chosen[i] = true;
}

/* By an expression (a variable, sch.get_loops("C")[0]), or all that have the name. */
static bool find_focus(Search *q) {
  tirc_value v = {0};
  tirc_schedule *copy = copy_of(q);
  bool found = false;
  bool given = copy && value_of(copy, q->focus, &v) &&
               (v.kind == TIRC_KIND_LOOP || v.kind == TIRC_KIND_BLOCK);
  tirc_schedule_free(copy);
  for (int by_name = 0; by_name < 2 && !found; by_name++)
    for (int i = 0; i < q->n; i++) {
      bool is_it = by_name ? strcmp(q->nodes[i].name, q->focus) == 0
                           : given && q->nodes[i].handle.u.handle == v.u.handle;
      if (is_it) choose(q, i);
      found |= is_it;
    }
  return found;
}

static bool in_focus(const Search *q, int node) {
  return !*q->focus || (node >= 0 && q->chosen[node]);
}

/* --- trying ----------------------------------------------------------------------------------- */

static void count_warning(void *self, const char *file, int line, int column, const char *message,
                          const char *code) {
  (void)file, (void)line, (void)column, (void)message, (void)code;
  ((Search *)self)->n_warnings++;
}

static bool is_changed(const Search *q, const tirc_module *m) {
  char *difference = NULL;
  bool changed =
      tirc_module_compare(module_now(q->r), m, &difference, NULL) == TIRC_OK && difference;
  tirc_string_free(difference);
  return changed;
}

/* What changes nothing is no proposal, and neither is what is warned of. */
static void try_call(Search *q, const char *text) {
  tirc_module *m = NULL;
  double cycles;
  if (q->out->n == MOST || was_interrupted()) return;
  tirc_schedule *copy = copy_of(q);
  const int n_warnings = q->n_warnings;
  if (copy && tirc_schedule_run(copy, text, strlen(text), "<next>", NULL) == TIRC_OK &&
      q->n_warnings == n_warnings && tirc_schedule_module(copy, &m, NULL) == TIRC_OK &&
      is_changed(q, m) && tirc_module_estimate(m, NULL, q->threads, &cycles, NULL) == TIRC_OK) {
    Proposal *p = &q->out->at[q->out->n];
    p->number = q->out->n++;
    snprintf(p->text, sizeof p->text, "%s", text);
    p->cycles = cycles;
  }
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
  tirc_schedule *copy = copy_of(q);
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
  char text[TEXT];
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
  char text[TEXT];
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

static int search(Search *q) {
  tirc_error *e = NULL;
  char *text = script_of(q->r, NULL);
  tirc_schedule_options options = {.target = q->r->o->run.make.from.target,
                                   .max_steps = q->r->o->run.make.from.script_steps,
                                   .self = q,
                                   .warn = count_warning};
  tirc_executor *x = NULL;
  int status = DONE;
  if (tirc_executor_new(q->r->o->run.make.threads, &x, &e) ||
      tirc_schedule_new(q->r->program, &options, &q->s, &e) ||
      tirc_schedule_run(q->s, text, strlen(text), "<session>", &e) ||
      tirc_schedule_tree(q->s, NULL, &q->n, &q->nodes, &e) ||
      tirc_module_estimate(module_now(q->r), NULL, tirc_executor_threads(x), &q->out->now, &e))
    status = report(e);
  if (x) q->threads = tirc_executor_threads(x);
  if (status == DONE) find_names(q);
  q->chosen = tirc_alloc_array(memory, (size_t)q->n + 1, sizeof *q->chosen);
  if (status == DONE && *q->focus && !find_focus(q))
    status = complain("`blocks` and `loops` list them", "there is no block or loop '%s'", q->focus);
  if (status == DONE) try_all(q);
  tirc_executor_free(x);
  tirc_schedule_free(q->s);
  return status;
}

/* --- measuring -------------------------------------------------------------------------------- */

/* How well x foretells y: most calls change little, and their order is noise; so the pairs that
 * differ by a fifth when measured are told of as well. A tie of the estimate is half right. */
static void print_agreement(const double *x, const double *y, int n) {
  double right = 0;
  int pairs = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      if (y[k] < 1.2 * y[i]) continue;
      right += x[k] > x[i] ? 1 : x[k] == x[i] ? 0.5 : 0;
      pairs++;
    }
  printf("rank correlation of estimate and measurement: %.2f", tirc_rank_correlation(n, x, y, 1));
  if (pairs)
    printf("; %.0f %% of the %d pairs that differ by a fifth in the right order",
           100 * right / pairs, pairs);
  putchar('\n');
}

/* seconds[0] is the program as it is, seconds[i] with call i; 0 where nothing was measured. */
static void print_measured(const Proposals *p, const double *seconds) {
  double *x = tirc_alloc_array(memory, 2 * MOST, sizeof *x), *y = x ? x + MOST : NULL;
  int n = 0;
  printf("\n  #  estimate  measured (the least time of a call)\n");
  for (int i = 0; x && i < p->shown; i++) {
    const Proposal *at = &p->at[i];
    printf("%3d  %7.2fx  ", i + 1, p->now / at->cycles);
    if (seconds[0] > 0 && seconds[i + 1] > 0) {
      x[n] = at->cycles, y[n++] = seconds[i + 1];
      printf("%7.2fx  %s\n", seconds[0] / seconds[i + 1], at->text);
    } else {
      printf("%8s  %s\n", "-", at->text);
    }
  }
  if (n > 2) print_agreement(x, y, n);
}

/* What was shown, but for calls that seem to make the program TOO_SLOW times slower. */
static int measure(const Repl *r, const Proposals *p) {
  size_t n = 1;
  char **scripts = tirc_alloc_array(memory, (size_t)p->shown + 1, sizeof *scripts);
  char(*names)[24] = tirc_alloc_array(memory, (size_t)p->shown + 1, sizeof *names);
  const char **pointers = tirc_alloc_array(memory, (size_t)p->shown + 1, sizeof *pointers);
  double *seconds = tirc_alloc_array(memory, (size_t)p->shown + 1, sizeof *seconds);
  while (n <= (size_t)p->shown && p->at[n - 1].cycles < TOO_SLOW * p->now) n++;
  for (size_t i = 0; i < n; i++) {
    char *line = tirc_format(memory, "%s\n", i ? p->at[i - 1].text : "None");
    snprintf(names[i], sizeof names[i], i ? "%zu" : "now", i);
    pointers[i] = names[i];
    scripts[i] = script_of(r, line);
  }
  int status = bench_scripts(r, (int)n, pointers, scripts, seconds);
  if (status == DONE) print_measured(p, seconds);
  return status;
}

/* --- the command ------------------------------------------------------------------------------ */

static void print_proposals(const Proposals *p) {
  for (int i = 0; i < p->shown; i++)
    printf("%3d  %6.2fx  %s\n", i + 1, p->now / p->at[i].cycles, p->at[i].text);
  printf("%d legal call%s%s; x: how much faster by an estimate\n", p->n, plural(p->n),
         p->n > p->shown ? ", the best of them (--all: all)" : "");
}

/* Takes the last word off when it is `flag`. */
static bool take_flag(char *text, const char *flag) {
  size_t n = strlen(text), m = strlen(flag);
  while (n && text[n - 1] == ' ') n--;
  bool is_it = n >= m && strncmp(text + n - m, flag, m) == 0 && (n == m || text[n - m - 1] == ' ');
  text[is_it ? n - m : n] = 0;
  return is_it;
}

int propose(Repl *r, const char *argument) {
  char *focus = tirc_strdup(memory, argument);
  bool all = false, measured = false;
  Search q = {.r = r, .focus = focus, .out = tirc_alloc(memory, sizeof *q.out)};
  for (bool more = true; more;) {
    more = false;
    if (take_flag(focus, "--all")) all = more = true;
    if (take_flag(focus, "--measure")) measured = more = true;
  }
  int status = strstr(focus, "--")
                   ? complain(NULL, "usage: next [BLOCK|LOOP|N] [--all] [--measure]")
                   : search(&q);
  if (status != DONE) return status;
  qsort(q.out->at, (size_t)q.out->n, sizeof *q.out->at, by_cycles);
  q.out->shown = all || q.out->n < SHOWN ? q.out->n : SHOWN;
  print_proposals(q.out);
  r->proposals = q.out;
  return measured ? measure(r, q.out) : DONE;
}

int pick_proposal(Repl *r, int number) {
  char line[TEXT + 2];
  if (!r->proposals)
    return complain("call `next` without a number first", "nothing was proposed yet");
  if (number > r->proposals->shown)
    return complain(NULL, "there is no call %d among those that were shown", number);
  snprintf(line, sizeof line, "%s\n", r->proposals->at[number - 1].text);
  fputs(line, stdout);
  return accept_line(r, line);
}
