/* Whether a schedule reaches an exercise's goal. The goal is a script in the language of schedules
 * that looks at the scheduled program and collects what is missing; predicates.sch stands before
 * it. Comments at its head ask for what no script can see:
 *
 *     # emulated              it is for a GPU, as the emulator has it
 *     # interpreted           this machine need not have its instructions
 *     # rules                 what is written is a library of rules
 *     # speed-up: 3           so many times as fast as the program
 *     # beat: schedule.sch 2  so many times as fast as with that schedule
 *     # cache: 1024 64 4      `misses` and `accesses`, of a cache of 1024 bytes in lines of 64, 4 ways
 *     # equal: goal.tir       `difference` from that program, or from what a .sch makes; None: equal
 *     # sizes: M=32 N=64        the interpreter runs it with these constants, which are smaller
 *     # array: {...}          `cost` on that array of processing elements, as `tirc cost --json` says
 */
#include "exercise.h"

#include "ir/ascii.h"
#include "ir/number.h"
#include "tools/kit/json.h"

#include <stdlib.h>
#include <string.h>

static const char prelude[] =
#include "predicates.inc"
    ;

const char *predicates(void) { return prelude; }

/* --- the head of a goal ----------------------------------------------------------------------- */

/* What stands behind "# WORD:", "" where nothing does; NULL: the head has no such line. */
static char *asked(const Exercise *x, const char *word) {
  const size_t n = strlen(word);
  for (const char *line = x->check; *line == '#'; line += strcspn(line, "\n"), line += *line != 0) {
    const char *at = line + 1 + (line[1] == ' ');
    if (strncmp(at, word, n) != 0 || !strchr(":\n", at[n])) continue;
    at += n + (at[n] == ':');
    at += at[0] == ' ';
    return tirc_strndup(memory, at, strcspn(at, "\n"));
  }
  return NULL;
}

/* As a script writes it. */
static void put_string(FILE *to, const char *text) {
  fputc('"', to);
  for (; *text; text++)
    if (*text == '\n')
      fputs("\\n", to);
    else
      fprintf(to, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
  fputc('"', to);
}

/* --- one attempt ------------------------------------------------------------------------------ */

typedef struct Attempt {
  const CheckOptions *o;
  const Exercise *x;
  Prepared *ground;
  tirc_module *scheduled;
  tirc_argument *args;
  Outcome *v;
} Attempt;

static void find(const Attempt *a, bool ok, const char *text) {
  *one_more(a->v->at, a->v->n) = (Remark){ok, text};
  if (!ok && a->v->status == DONE) a->v->status = NO;
}

/* An error ends it. */
static void fail(const Attempt *a, tirc_error *e) {
  a->v->error = e;
  a->v->status = (int)tirc_error_status(e);
}

static bool goes_on(const Attempt *a) { return !a->v->error; }

static tirc_schedule_options script_options(const Attempt *a) {
  return (tirc_schedule_options){.max_steps = a->o->script_steps};
}

static void free_attempt(const Attempt *a) {
  if (a->args) free_arguments(a->ground->n, a->args);
  tirc_module_free(a->scheduled);
}

/* --- running ---------------------------------------------------------------------------------- */

static tirc_status run_emulated(const Attempt *a, tirc_error **e) {
  const tirc_emulate_options options = {.max_steps = a->o->max_steps};
  tirc_module *lowered = NULL;
  tirc_status status = tirc_module_lower_for(a->scheduled, "sm_80", NULL, NULL, &lowered, e);
  if (status == TIRC_OK)
    status = tirc_module_emulate(lowered, NULL, a->ground->n, a->args, &options, NULL, e);
  tirc_module_free(lowered);
  return status;
}

static tirc_status run_scheduled(const Attempt *a, tirc_error **e) {
  if (asked(a->x, "emulated")) return run_emulated(a, e);
  if (a->o->run && !asked(a->x, "interpreted"))
    return a->o->run(a->scheduled, a->o->threads, a->ground->n, a->args, e);
  return tirc_module_interpret(a->scheduled, NULL, a->ground->n, a->args, a->o->max_steps, e);
}

static void check_results(Attempt *a) {
  const Prepared *g = a->ground;
  tirc_check c = {.ok = false};
  tirc_error *e = NULL;
  a->args = tirc_alloc_array(memory, (size_t)g->n + 1, sizeof *a->args);
  const int status = compute_prepared(a->ground);
  if (status != DONE || !copy_arguments(g->n, g->args, a->args)) {
    a->v->status = status != DONE ? status : BAD;
    return;
  }
  if (run_scheduled(a, &e) || tirc_reference_check(g->expected, g->n, a->args, &c, &e))
    fail(a, e);
  else
    find(a, c.ok, c.ok ? "it is legal and computes the same results" : "it computes other results");
}

/* --- speed ------------------------------------------------------------------------------------ */

static void check_speed(const Attempt *a) {
  static const char against_schedule[] = "schedule.sch ";
  const char *speed = asked(a->x, "speed-up"), *beat = asked(a->x, "beat"), *text = a->x->schedule;
  tirc_module *reference = NULL;
  tirc_error *e = NULL;
  double ratio = 0;
  if (!a->o->ratio || (!speed && !beat)) return;
  if (beat && strncmp(beat, against_schedule, sizeof against_schedule - 1) == 0)
    beat += sizeof against_schedule - 1;
  const double wanted = tirc_parse_double(beat ? beat : speed, NULL);
  tirc_status status = TIRC_OK;
  if (beat && text)
    status = tirc_module_schedule_text(a->ground->program, text, strlen(text), "schedule.sch", NULL,
                                       &reference, &e);
  if (status == TIRC_OK)
    status = a->o->ratio(a->scheduled, reference ? reference : a->ground->program, a->o->threads,
                         a->ground->n, a->args, &ratio, &e);
  tirc_module_free(reference);
  a->v->ratio = ratio;
  a->v->wanted = wanted;
  if (status)
    fail(a, e);
  else
    find(a, ratio >= wanted,
         tirc_format(memory, "%.2f times as fast as %s; the exercise asks for %g", ratio,
                     beat ? "the lesson's schedule" : "the unscheduled program", wanted));
}

/* --- facts that a goal asks for --------------------------------------------------------------- */

enum { MOST_ACCESSES = 50000000, MOST_LINES = 1 << 20, MOST_CACHE = 1 << 30, MOST_WAYS = 1024 };

/* "1024 64 4" */
static bool read_shape(const char *text, CacheShape *out) {
  char *end = NULL;
  out->size = strtoll(text, &end, 10);
  out->line = strtoll(end, &end, 10);
  out->ways = strtoll(end, &end, 10);
  return !*end && out->line > 0 && out->line <= MOST_CACHE && out->ways > 0 &&
         out->ways <= MOST_WAYS && out->size <= MOST_CACHE && out->size >= out->line * out->ways &&
         out->size % (out->line * out->ways) == 0 && out->size / out->line <= MOST_LINES;
}

static void put_misses(const Attempt *a, FILE *to) {
  const char *text = asked(a->x, "cache");
  const Prepared *g = a->ground;
  tirc_argument *args = tirc_alloc_array(memory, (size_t)g->n + 1, sizeof *args);
  CacheShape shape;
  CacheCount count = {0};
  tirc_error *e = NULL;
  if (!text) return;
  if (!read_shape(text, &shape)) {
    a->v->status = complain("write # cache: SIZE LINE WAYS, such as 1024 64 4",
                            "%s/check.sch: '%s' is no cache", a->x->name, text);
    return;
  }
  if (!copy_arguments(g->n, g->args, args)) return;
  if (count_misses(a->scheduled, g->n, args, shape, MOST_ACCESSES, &count, &e)) fail(a, e);
  free_arguments(g->n, args);
  if (goes_on(a) && !count.whole)
    find(a, false,
         tirc_format(memory, "it makes more than %d accesses, and so many are not counted",
                     MOST_ACCESSES));
  fputs("misses = {", to);
  for (int i = 0; i < count.n; i++) {
    put_string(to, count.at[i].name);
    fprintf(to, ": %lld, ", (long long)count.at[i].misses);
  }
  fprintf(to, "}\naccesses = %lld\n", (long long)count.accesses);
}

/* The program that a file of the exercise is, or makes of its program; NULL after an error. */
static tirc_module *goal_of(const Attempt *a, const char *file) {
  const char *text = NULL, *end = strrchr(file, '.');
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  for (int i = 0; i < n_exercise_files; i++)
    if (strcmp(exercise_files[i].name, file) == 0) text = exercise_text(a->x, i);
  if (!text) {
    a->v->status = complain("it may be goal.tir, solution.sch or schedule.sch",
                            "%s/check.sch: there is no '%s' to be equal to", a->x->name, file);
    return NULL;
  }
  const bool is_program = end && strcmp(end, ".tir") == 0;
  if (is_program
          ? tirc_module_parse(text, strlen(text), file, 0, NULL, &m, &e)
          : tirc_module_schedule_text(a->ground->program, text, strlen(text), file, NULL, &m, &e))
    a->v->status = report(e);
  return m;
}

static void put_difference(const Attempt *a, FILE *to) {
  const char *file = asked(a->x, "equal");
  char *difference = NULL;
  tirc_error *e = NULL;
  tirc_module *goal = file ? goal_of(a, file) : NULL;
  if (!goal) return;
  if (tirc_module_compare(a->scheduled, goal, &difference, &e)) fail(a, e);
  tirc_module_free(goal);
  fputs("difference = ", to);
  if (difference)
    put_string(to, difference);
  else
    fputs("None", to);
  fputc('\n', to);
  tirc_string_free(difference);
}

/* JSON is what a script would write, but for three names. */
static void put_cost(const Attempt *a, FILE *to) {
  const char *spec = asked(a->x, "array");
  const tirc_spatial_options options = {.spec_name = "the array"};
  char *json = NULL;
  tirc_error *e = NULL;
  if (!spec) return;
  if (tirc_module_spatial_cost(a->scheduled, NULL, spec, &options, &json, &e)) {
    find(a, false, copied(tirc_error_message(e)));
    tirc_error_free(e);
  }
  fprintf(to, "true, false, null = True, False, None\ncost = %s\n", json ? json : "None");
  tirc_string_free(json);
}

/* One line for each thing that is missing. */
static void check_structure(const Attempt *a) {
  static const char last[] = "\nassert len(missing) == 0, \"\\n\".join(missing)\n";
  char *script = NULL;
  size_t size = 0;
  FILE *f = begin_text(&script, &size);
  fputs(prelude, f);
  put_misses(a, f);
  if (goes_on(a)) put_difference(a, f);
  if (goes_on(a)) put_cost(a, f);
  fprintf(f, "%s%s", a->x->check, last);
  script = end_text(f, &script);
  if (!goes_on(a) || a->v->status == BAD || !script) return;
  const tirc_schedule_options options = script_options(a);
  tirc_module *same = NULL;
  tirc_error *e = NULL;
  tirc_status status = tirc_module_schedule_text(a->scheduled, script, strlen(script), "check.sch",
                                                 &options, &same, &e);
  tirc_module_free(same);
  if (status == TIRC_OK) {
    find(a, true, "the schedule is what the exercise asks for");
    return;
  }
  const char *text = tirc_error_message(e);
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = text + strcspn(text, "\n");
    find(a, false, tirc_format(memory, "%.*s", (int)(end - text), text));
  }
  tirc_error_free(e);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* What a library of rules does, from its text alone: the first rule that takes a function. */
const char *exercise_script(const Prepared *g, const char *text) {
  if (!asked(g->x, "rules")) return text;
  char *script = NULL;
  size_t size = 0;
  FILE *f = begin_text(&script, &size);
  fputs(text, f);
  for (int i = 0; i < tirc_module_functions(g->program); i++) {
    fputs("\nfor rule in rules:\n    if rule(sch, ", f);
    put_string(f, tirc_module_function(g->program, i));
    fputs("):\n        break\n", f);
  }
  return end_text(f, &script);
}

static void schedule(Attempt *a, Attempted what) {
  const tirc_auto_options library = {.rules = what.path};
  const tirc_schedule_options options = script_options(a);
  const tirc_module *program = a->ground->program;
  const bool rules = asked(a->x, "rules") != NULL;
  const char *text = what.text ? exercise_script(a->ground, what.text) : NULL;
  tirc_error *e = NULL;
  if (text    ? tirc_module_schedule_text(program, text, strlen(text), what.path, &options,
                                          &a->scheduled, &e)
      : rules ? tirc_module_auto(program, &library, &options, &a->scheduled, &e)
              : tirc_module_schedule(program, what.path, &options, &a->scheduled, &e))
    fail(a, e);
}

static tirc_status make_arguments(Prepared *g, tirc_error **e) {
  if (tirc_module_params(g->program, NULL, &g->n, &g->params, e)) return TIRC_BAD;
  g->args = tirc_alloc_array(memory, (size_t)g->n + 1, sizeof *g->args);
  for (int i = 0; i < g->n; i++) {
    const tirc_param *p = &g->params[i];
    if (tirc_array_new(p->dtype, p->ndim, p->shape, &g->args[i].array, e)) return TIRC_BAD;
    tirc_array_fill_random(g->args[i].array, (uint64_t)i);
  }
  return TIRC_OK;
}

static int prepare_with(const Exercise *x, int n, const tirc_define *defines, Prepared *g) {
  tirc_error *e = NULL;
  *g = (Prepared){.x = x};
  if (tirc_module_parse(x->program, strlen(x->program), "program.tir", n, defines, &g->program,
                        &e) ||
      make_arguments(g, &e))
    return report(e);
  return DONE;
}

int prepare_exercise(const Exercise *x, Prepared *g) {
  return g->args ? DONE : prepare_with(x, 0, NULL, g);
}

Prepared *interpreted(Prepared *g) {
  char *sizes = asked(g->x, "sizes");
  tirc_define *defines = NULL;
  int n = 0;
  if (!sizes || g->small) return sizes ? g->small : g;
  for (char *word = strtok(sizes, " ,"); word; word = strtok(NULL, " ,")) {
    const size_t name = strcspn(word, "=");
    *one_more(defines, n) =
        (tirc_define){tirc_strndup(memory, word, name), word + name + (word[name] != 0)};
  }
  Prepared *small = tirc_alloc(memory, sizeof *small);
  if (prepare_with(g->x, n, defines, small) != DONE) {
    free_prepared(small);
    return NULL;
  }
  return g->small = small;
}

int compute_prepared(Prepared *g) {
  return g->expected ? DONE : make_reference(g->program, NULL, g->n, g->args, 0, &g->expected);
}

void free_prepared(Prepared *g) {
  if (g->small) free_prepared(g->small);
  free_arguments(g->n, g->args);
  tirc_reference_free(g->expected);
  tirc_module_free(g->program);
}

/* What a schedule called, as [instructions, decisions]. */
static Json *calls_of(const tirc_module *m) {
  char *text = NULL;
  tirc_error *e = NULL;
  Json *j = tirc_module_trace(m, TIRC_TRACE_JSON, &text, &e) ? NULL : json_tokener_parse(text);
  tirc_error_free(e);
  tirc_string_free(text);
  return j;
}

/* Whether two runs of a script called the same primitives, so that the results of one speak for
 * the other; where one is unsafe, its arguments alone may change them. */
static bool calls_are_the_same(const tirc_module *a, const tirc_module *b) {
  Json *calls[2] = {calls_of(a), calls_of(b)}, *list[2] = {NULL, NULL};
  for (int k = 0; k < 2; k++)
    if (calls[k]) list[k] = json_object_array_get_idx(calls[k], 0);
  const size_t n = list[0] ? json_object_array_length(list[0]) : 0;
  bool same = list[0] && list[1] && json_object_array_length(list[1]) == n;
  for (size_t i = 0; i < n && same; i++) {
    const char *name[2];
    for (int k = 0; k < 2; k++)
      name[k] = json_object_get_string(
          json_object_array_get_idx(json_object_array_get_idx(list[k], i), 0));
    same = strcmp(name[0], name[1]) == 0 && strncmp(name[0], "Unsafe", 6) != 0;
  }
  for (int k = 0; k < 2; k++) json_object_put(calls[k]);
  return same;
}

/* With the sizes for the interpreter; false: the schedule does not fit them, or does something else
 * with them. */
static bool check_small_results(Attempt *a, Attempted what) {
  Prepared *small = a->o->run ? NULL : interpreted(a->ground);
  Outcome aside = {.status = DONE};
  Attempt b = {.o = a->o, .x = a->x, .ground = small, .v = &aside};
  if (!small && !a->o->run) a->v->status = BAD; /* interpreted has said why */
  if (!small || small == a->ground) return a->v->status == BAD;
  schedule(&b, what);
  const bool fits = !aside.error && calls_are_the_same(a->scheduled, b.scheduled);
  b.v = a->v;
  if (fits) check_results(&b);
  tirc_error_free(aside.error);
  free_attempt(&b);
  return fits;
}

Outcome check_exercise(Prepared *g, Attempted what, const CheckOptions *o) {
  Outcome v = {.status = DONE};
  Attempt a = {.o = o, .x = g->x, .ground = g, .v = &v};
  schedule(&a, what);
  if (goes_on(&a)) check_structure(&a);
  const bool right = v.status == DONE;
  const bool runs = /* what is half on tensor cores does not */
      right || (o->run && !asked(g->x, "emulated"));
  if (goes_on(&a) && runs && v.status != BAD && !check_small_results(&a, what)) check_results(&a);
  if (v.status == DONE) check_speed(&a);
  if (v.status == DONE) find(&a, true, "done");
  free_attempt(&a);
  return v;
}
