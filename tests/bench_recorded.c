/* bench_recorded [-v] [--print] [--check] [--lower GPU] [--filter TEXT] PROGRAMS.json
 * SCHEDULES.jsonl [INTRINSICS.json]
 * bench_recorded [-v] [--print] [--check] [--lower GPU] [--filter TEXT] FILE.case...
 *
 * What each of many recorded schedules costs: one JSON object a line, with its `name` or `id`, the
 * `program` by its name in PROGRAMS.json, the script as `schedule` or as a list of `calls`, and
 * perhaps the `result`, which ours is compared with. INTRINSICS.json holds scripts by the names of
 * the intrinsics that they register; those that a schedule names are run before it. Cases are those
 * of cases/README.md. Times are the processor's, of the script alone. -v prints those of the calls,
 * --print the programs. --lower makes kernels of each program that has loops over a GPU's threads.
 * A record may have its program as text, and its schedule as a function apply_trace(sch). With
 * --check it fails where a schedule is refused, where a program differs from what is recorded or is
 * not lowered, or where a question of meaning went over its budget. */
#include "cases.h"
#include "ir/arith/equal.h"
#include "ir/tree/print.h"
#include "parser/program.h"
#include "passes/lower/lower.h"
#include "passes/script/script.h"

#include "slow_path.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Options {
  bool verbose, print, check;
  const char *filter;
  const Gpu *gpu;
  struct json_object *programs, *intrinsics;
} Options;

typedef struct Tally {
  int n, room, differ, refused, lowered, not_lowered;
  double *seconds;
  SlowPath slow;
} Tally;

typedef struct Run {
  const Options *o;
  Tally *tally;
  Case test;
  double call; /* when the running one began */
  double seconds;
  const char *outcome; /* NULL: as recorded */
} Run;

static double cpu_seconds(void) { return slow_path_now(); }

static const char *text_of(struct json_object *object, const char *key) {
  struct json_object *value;
  return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) : NULL;
}

static Source source_of(const char *name, const char *text) {
  return (Source){name, text, strlen(text)};
}

static const char *schedule_of(Tirc *c, struct json_object *record) {
  struct json_object *calls;
  Text t = {.c = c};
  if (!json_object_object_get_ex(record, "calls", &calls)) return text_of(record, "schedule");
  for (size_t i = 0; i < json_object_array_length(calls); i++)
    tirc_text_addf(&t, "%s\n", json_object_get_string(json_object_array_get_idx(calls, i)));
  return t.at;
}

static void register_intrinsics(Sched *s, const Options *o, const char *schedule) {
  if (!o->intrinsics) return;
  json_object_object_foreach(o->intrinsics, name, text) {
    if (!strstr(schedule, name)) continue;
    const Source source = source_of(name, json_object_get_string(text));
    tirc_run_script(s, &source, NULL, NULL, NULL, NULL);
  }
}

static void time_call(void *self, Sched *s, const char *call, Loc loc, const Diag *diag) {
  Run *r = self;
  (void)s, (void)loc, (void)diag;
  if (r->o->verbose) printf("  %9.3f ms  %s\n", (cpu_seconds() - r->call) * 1e3, call);
  r->call = cpu_seconds();
}

/* What was recorded is lowered even where ours differs. */
static void lower(Tirc *c, Run *r, const Module *m) {
  Trap trap;
  if (!r->o->gpu || !strstr(r->test.result, "T.thread_binding")) return;
  if (TIRC_TRY(c, trap)) {
    tirc_lower_for(c, m, r->o->gpu, NULL, NULL);
    TIRC_END(c, trap);
    r->tally->lowered++;
  } else {
    r->tally->not_lowered++;
    printf("not lowered: %s\n", c->diag.message);
  }
}

static void run(Tirc *c, Run *r) {
  const Source text = source_of("program", r->test.program),
               script = source_of("schedule", r->test.schedule);
  Sched *s = tirc_sched_new(c, tirc_parse_module(c, &text, 0, NULL));
  register_intrinsics(s, r->o, r->test.schedule);
  const double start = r->call = cpu_seconds();
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    tirc_run_script(s, &script, NULL, NULL, time_call, r);
    TIRC_END(c, trap);
  } else {
    r->outcome = tirc_format(c, "refused: %s [%s]", c->diag.message, tirc_codes[c->diag.code].text);
  }
  r->seconds = cpu_seconds() - start;
  slow_path_add(&r->tally->slow, s);
  if (r->o->print) fputs(tirc_print_module(c, s->mod, NULL), stdout);
  if (!r->test.result) return;
  const Source expected = source_of("result", r->test.result);
  const Module *result = tirc_parse_module(c, &expected, 0, NULL);
  lower(c, r, r->outcome ? result : s->mod);
  if (r->outcome) return;
  const char *difference = tirc_module_difference(c, result, s->mod);
  if (difference) r->outcome = tirc_format(c, "differs: %s", difference);
}

static void add(const Run *r) {
  Tally *t = r->tally;
  if (t->n == t->room) {
    t->room = t->room ? 2 * t->room : 256;
    t->seconds = realloc(t->seconds, (size_t)t->room * sizeof *t->seconds);
    if (!t->seconds) abort();
  }
  t->seconds[t->n++] = r->seconds;
  if (r->outcome) *(strncmp(r->outcome, "differs", 7) ? &t->refused : &t->differ) += 1;
}

/* In a context of its own. */
static void run_case(const Options *o, const Case *test, Tally *t) {
  if (o->filter && !strstr(test->name, o->filter)) return;
  Run r = {.o = o, .tally = t, .test = *test};
  Tirc *c = tirc_context_new();
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    run(c, &r);
    TIRC_END(c, trap);
  } else {
    r.outcome = c->diag.message;
  }
  printf("%-40s %9.2f ms%s%.*s\n", test->name, r.seconds * 1e3, r.outcome ? "  " : "",
         r.outcome ? (int)strcspn(r.outcome, "\n") : 0, r.outcome ? r.outcome : "");
  fflush(stdout);
  add(&r);
  tirc_context_release(c);
}

static void run_record(const Options *o, struct json_object *record, Tally *t) {
  Tirc *c = tirc_context_new();
  const char *name = text_of(record, "name"), *program = text_of(record, "program");
  const char *schedule = schedule_of(c, record);
  if (schedule && strstr(schedule, "def apply_trace("))
    schedule = tirc_format(c, "%s\napply_trace(sch)\n", schedule);
  if (program && !strchr(program, '\n')) program = text_of(o->programs, program);
  const Case test = {.name = name ? name : text_of(record, "id"),
                     .program = program,
                     .schedule = schedule,
                     .result = text_of(record, "result")};
  if (test.name && test.program && test.schedule)
    run_case(o, &test, t);
  else
    fprintf(stderr, "bench_recorded: no schedule: %.60s\n", json_object_get_string(record));
  tirc_context_release(c);
}

static bool run_case_file(const Options *o, const char *path, Tally *t) {
  Tirc *c = tirc_context_new();
  Case test;
  const char *why = "cannot be read";
  char *text = case_read(path);
  const bool read = text && case_parse(c, path, text, &test, &why);
  if (read)
    run_case(o, &test, t);
  else
    fprintf(stderr, "bench_recorded: %s: %s\n", path, why);
  free(text);
  tirc_context_release(c);
  return read;
}

/* Whether all is as recorded, and was decided within its budget. */
static bool report(Tally *t) {
  const bool as_recorded =
      t->n && !t->refused && !t->differ && !t->not_lowered && !t->slow.over_budget;
  double sum = 0;
  for (int i = 0; i < t->n; i++) sum += t->seconds[i];
  slow_path_sort(t->seconds, t->n);
  if (t->n)
    printf("%d schedules: mean %.2f ms, median %.2f ms, p99 %.2f ms, worst %.2f ms\n", t->n,
           sum / t->n * 1e3, t->seconds[t->n / 2] * 1e3, t->seconds[t->n * 99 / 100] * 1e3,
           t->seconds[t->n - 1] * 1e3);
  printf("%d refused, %d differ from what is recorded\n", t->refused, t->differ);
  if (t->lowered + t->not_lowered) printf("%d lowered, %d not\n", t->lowered, t->not_lowered);
  slow_path_report(&t->slow);
  free(t->seconds);
  return as_recorded;
}

static struct json_object *read_json(const char *path) {
  struct json_object *object = json_object_from_file(path);
  if (!object) fprintf(stderr, "bench_recorded: %s cannot be read\n", path);
  return object;
}

static bool run_file(const Options *o, const char *path, Tally *t) {
  FILE *f = fopen(path, "rb");
  char *line = NULL;
  size_t room = 0;
  if (!f) {
    fprintf(stderr, "bench_recorded: %s cannot be read\n", path);
    return false;
  }
  while (getline(&line, &room, f) > 0) {
    struct json_object *record = json_tokener_parse(line);
    if (record) run_record(o, record, t);
    json_object_put(record);
  }
  free(line);
  fclose(f);
  return true;
}

static bool is_case(const char *path) {
  const size_t n = strlen(path);
  return n > 5 && !strcmp(path + n - 5, ".case");
}

int main(int argc, char **argv) {
  Options o = {0};
  Tally tally = {0};
  bool done = true;
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (!strcmp(argv[i], "-v"))
      o.verbose = true;
    else if (!strcmp(argv[i], "--print"))
      o.print = true;
    else if (!strcmp(argv[i], "--check"))
      o.check = true;
    else if (!strcmp(argv[i], "--filter") && i + 1 < argc)
      o.filter = argv[++i];
    else if (!strcmp(argv[i], "--lower") && i + 1 < argc && tirc_gpu_find(argv[i + 1]))
      o.gpu = tirc_gpu_find(argv[++i]);
    else
      i = argc;
  }
  const bool cases = i < argc && is_case(argv[i]);
  if (!cases && (argc - i < 2 || argc - i > 3)) {
    fprintf(stderr, "usage: bench_recorded [-v] [--print] [--check] [--lower GPU] [--filter TEXT] "
                    "PROGRAMS.json SCHEDULES.jsonl [INTRINSICS.json] | FILE.case...\n");
    return 2;
  }
  if (cases) {
    for (; i < argc; i++) done &= run_case_file(&o, argv[i], &tally);
  } else {
    o.programs = read_json(argv[i]);
    o.intrinsics = argc - i == 3 ? read_json(argv[i + 2]) : NULL;
    done = o.programs && run_file(&o, argv[i + 1], &tally);
    json_object_put(o.programs);
    json_object_put(o.intrinsics);
  }
  const bool as_recorded = report(&tally);
  return !done ? 2 : o.check && !as_recorded;
}
