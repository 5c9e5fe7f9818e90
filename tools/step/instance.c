/* A small instance of a program, on which the same schedule does the same, with few enough
 * iterations to be watched. The constants at the program's top shrink as long as each call of the
 * script ends as before and, if that is possible, no loop comes down to one iteration and no
 * predicate comes or goes. */
#include "step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CONSTANTS = 16, MOST_TRIES = 150, BIGGEST = 64 };

static const int64_t sizes[] = {1,  2,  3,   4,   6,   8,   12,  16,  24,   32,   48,
                                64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

typedef struct Search {
  const StepOptions *o;
  const ProgramText *program;
  const tirc_steps *full; /* of the program as it is */
  int n;                  /* constants */
  tirc_define defines[MOST_CONSTANTS];
  int64_t values[MOST_CONSTANTS], most[MOST_CONSTANTS];
  bool fixed[MOST_CONSTANTS];
  char *outcome[2]; /* of the program as it is; [1]: with the shape of its loops */
  int tries;
  int64_t budget;
} Search;

/* How each call ended, and which loops have more than one iteration. */
static char *outcome_of(const tirc_steps *s, bool loops) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = begin_text(&text, &size);
  int n = tirc_steps_count(s);
  for (int i = 0; i < n; i++) {
    const tirc_step *step = tirc_steps_at(s, i);
    fprintf(f, "%s %s\n", step->primitive,
            step->error ? tirc_error_get(step->error, TIRC_ERROR_CODE) : "");
  }
  const tirc_view *v = n ? tirc_steps_at(s, n - 1)->after : tirc_steps_first(s);
  for (int i = 0; i < v->n && loops; i++)
    fprintf(f, "%d %s %s\n", v->nodes[i].depth, v->nodes[i].name,
            v->nodes[i].predicate || (v->nodes[i].extent && strcmp(v->nodes[i].extent, "1") == 0)
                ? "1"
                : "");
  return end_text(f, &text);
}

/* The program with the search's values, stepped through; NULL when it is not well formed. */
static tirc_steps *step_through(Search *q) {
  char text[MOST_CONSTANTS][24];
  tirc_module *m = NULL;
  tirc_steps *s = NULL;
  for (int i = 0; i < q->n; i++) {
    snprintf(text[i], sizeof text[i], "%lld", (long long)q->values[i]);
    q->defines[i].value = text[i];
  }
  tirc_schedule_options options = {.target = q->o->make.from.target,
                                   .max_steps = q->o->make.from.script_steps};
  const char *script = tirc_steps_script(q->full),
             *name = is_automatic(&q->o->make)
                         ? "<auto>"
                         : q->o->make.from.args.at[1]; /* imports: beside it */
  if (tirc_module_parse(q->program->text, q->program->n, q->program->name, q->n, q->defines, &m,
                        NULL) == TIRC_OK)
    (void)tirc_module_steps_text(m, script, strlen(script), name, &options, &s, NULL);
  tirc_module_free(m);
  return s;
}

/* Whether constant i may be v. */
static bool fits(Search *q, int i, int64_t v, bool loops) {
  int64_t old = q->values[i];
  if (q->tries++ >= MOST_TRIES) return false;
  q->values[i] = v;
  tirc_steps *s = step_through(q);
  char *outcome = s ? outcome_of(s, loops) : NULL;
  bool same = outcome && strcmp(outcome, q->outcome[loops]) == 0;
  tirc_steps_free(s);
  q->values[i] = old;
  return same;
}

static void shrink(Search *q, int i, bool loops) {
  int first = loops ? 0 : 1; /* an extent of 1 shows nothing */
  for (int k = first; k < N_SIZES && sizes[k] < q->values[i] && !q->fixed[i]; k++) {
    if (!fits(q, i, sizes[k], loops)) continue;
    q->values[i] = sizes[k];
    return;
  }
}

/* Whether the first and the last program run within the budget. */
static bool is_small(Search *q) {
  tirc_steps *s = step_through(q);
  bool whole = s != NULL;
  for (int i = 0; i < 2 && whole; i++) {
    const tirc_step *last = tirc_steps_at(s, tirc_steps_count(s) - 1);
    const tirc_view *v = i && last ? last->after : tirc_steps_first(s);
    json_object_put(
        trace_as_json(tirc_steps_module(s, v), &q->o->instance, q->budget, NULL, &whole));
  }
  tirc_steps_free(s);
  return whole;
}

/* The next size of the smallest constant that can still grow; false: none can. */
static bool grow(Search *q, bool *done) {
  int i = -1;
  for (int k = 0; k < q->n; k++)
    if (!done[k] && !q->fixed[k] && (i < 0 || q->values[k] < q->values[i])) i = k;
  if (i < 0) return false;
  int64_t old = q->values[i], most = q->most[i] < BIGGEST ? q->most[i] : BIGGEST;
  for (int k = 0; k < N_SIZES && sizes[k] <= most; k++) {
    if (sizes[k] <= old || !fits(q, i, sizes[k], true)) continue;
    q->values[i] = sizes[k];
    if (is_small(q)) return true;
    q->values[i] = old;
    break;
  }
  return done[i] = true;
}

static void read_constants(Search *q, const tirc_module *m) {
  const char *name;
  int64_t value;
  bool is_int;
  for (int i = 0; q->n < MOST_CONSTANTS && tirc_module_constant(m, i, &name, &value, &is_int);
       i++) {
    if (!is_int) continue;
    int64_t given = instance_value(&q->o->instance, name, -1);
    q->defines[q->n].name = name;
    q->values[q->n] = given >= 0 ? given : value;
    q->most[q->n] = value;
    q->fixed[q->n++] = given >= 0;
  }
}

static void search(Search *q) {
  bool done[MOST_CONSTANTS] = {false};
  if (is_small(q)) return;
  for (int i = 0; i < q->n; i++) shrink(q, i, true);
  if (is_small(q))
    while (grow(q, done)) {
    }
  else
    for (int i = 0; i < q->n && !is_small(q); i++) shrink(q, i, false);
}

/* "M = 2, N = 128"; empty when the program has no constants. */
static char *setting(const Search *q) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = begin_text(&text, &size);
  for (int i = 0; i < q->n; i++)
    fprintf(f, "%s%s = %lld", i ? ", " : "", q->defines[i].name, (long long)q->values[i]);
  return end_text(f, &text);
}

/* --- what was asked for ----------------------------------------------------------------------- */

/* Whether the program has a constant, a scalar or an extent of this name; offers those that it has.
 */
static bool has_size(const tirc_module *m, Nearest *best) {
  const char *name;
  int64_t value;
  bool is_int, found = false;
  for (int i = 0; tirc_module_constant(m, i, &name, &value, &is_int); i++) {
    if (is_int) tirc_offer_name(best, name, strlen(name));
    found |= is_int && !strcmp(name, best->wanted);
  }
  const tirc_param *params;
  int n;
  if (tirc_module_params(m, NULL, &n, &params, NULL)) n = 0;
  for (int i = 0; i < n; i++) {
    if (!params[i].is_array) tirc_offer_name(best, params[i].name, strlen(params[i].name));
    found |= !params[i].is_array && !strcmp(params[i].name, best->wanted);
    for (int d = 0; params[i].is_array && d < params[i].ndim; d++) {
      const char *symbol = params[i].symbol[d];
      if (symbol) tirc_offer_name(best, symbol, strlen(symbol));
      found |= symbol && !strcmp(symbol, best->wanted);
    }
  }
  return found;
}

int check_instance(const StepOptions *o, const tirc_module *m) {
  for (int i = 0; i < o->instance.n; i++) {
    const char *text = o->instance.at[i], *equals = strchr(text, '=');
    char *end = NULL;
    errno = 0;
    if (!equals || equals == text || strtoll(equals + 1, &end, 10) < 1 || *end || errno)
      return complain("as in --instance M=4", "--instance: '%s' is not a NAME=EXTENT", text);
    char *name = tirc_strndup(memory, text, (size_t)(equals - text));
    Nearest best = {.wanted = name, .n_wanted = strlen(name)};
    int status = DONE;
    if (!has_size(m, &best)) {
      char hint[256] = "the program has no constants and no symbolic extents";
      if (best.name) snprintf(hint, sizeof hint, "there is '%.*s'", (int)best.n, best.name);
      status = complain(hint, "--instance: the program has no constant and no extent '%s'", name);
    }
    if (status != DONE) return status;
  }
  return DONE;
}

/* --- the search ------------------------------------------------------------------------------- */

tirc_steps *small_instance(const StepOptions *o, const ProgramText *program, const tirc_module *m,
                           const tirc_steps *full, int64_t budget, char **out_setting) {
  Search q = {.o = o, .program = program, .full = full, .budget = budget};
  q.outcome[0] = outcome_of(full, false);
  q.outcome[1] = outcome_of(full, true);
  tirc_steps *s = NULL;
  if (q.outcome[0] && q.outcome[1]) {
    read_constants(&q, m);
    search(&q);
    s = step_through(&q);
  }
  *out_setting = setting(&q);
  return s;
}
