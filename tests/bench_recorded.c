/* bench_recorded [-v] [--print] [--filter TEXT] PROGRAMS.json SCHEDULES.jsonl [INTRINSICS.json]
 *
 * What each of many recorded schedules costs: one JSON object a line, with its `name` or `id`, the
 * `program` by its name in PROGRAMS.json, the script as `schedule` or as a list of `calls`, and
 * perhaps the `result`, which ours is compared with. INTRINSICS.json holds scripts by the names of
 * the intrinsics that they register; those that a schedule names are run before it. Times are the
 * processor's, of the script alone. -v prints those of the calls, --print the programs. */
#include "ir/equal.h"
#include "ir/print.h"
#include "parser/program.h"
#include "passes/script/script.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Options {
  bool verbose, print;
  const char *filter;
  struct json_object *programs, *intrinsics;
} Options;

typedef struct Tally {
  int n, room, differ, refused;
  double *seconds;
  const char *worst;
} Tally;

typedef struct Run {
  const Options *o;
  struct json_object *record;
  double call; /* when the running one began */
  double seconds;
  const char *outcome; /* NULL: as recorded */
} Run;

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

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

static void run(Tirc *c, Run *r) {
  const char *program = text_of(r->o->programs, text_of(r->record, "program")),
             *schedule = schedule_of(c, r->record), *result = text_of(r->record, "result");
  if (!program || !schedule) tirc_fail(c, (Loc){0}, "record", NULL, "no program or no schedule");
  const Source text = source_of("program", program), script = source_of("schedule", schedule);
  Sched *s = tirc_sched_new(c, tirc_parse_module(c, &text, 0, NULL));
  register_intrinsics(s, r->o, schedule);
  const double start = r->call = cpu_seconds();
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    tirc_run_script(s, &script, NULL, NULL, time_call, r);
    TIRC_END(c, trap);
  } else {
    r->outcome = tirc_format(c, "refused: %s [%s]", c->diag.message, c->diag.code);
  }
  r->seconds = cpu_seconds() - start;
  if (r->o->print) fputs(tirc_print_module(c, s->mod, NULL), stdout);
  if (r->outcome || !result) return;
  const Source expected = source_of("result", result);
  const char *difference =
      tirc_module_difference(c, tirc_parse_module(c, &expected, 0, NULL), s->mod);
  if (difference) r->outcome = tirc_format(c, "differs: %s", difference);
}

static void add(Tally *t, const Run *r) {
  if (t->n == t->room) {
    t->room = t->room ? 2 * t->room : 256;
    t->seconds = realloc(t->seconds, (size_t)t->room * sizeof *t->seconds);
    if (!t->seconds) abort();
  }
  t->seconds[t->n++] = r->seconds;
  if (r->outcome) *(strncmp(r->outcome, "differs", 7) ? &t->refused : &t->differ) += 1;
}

static void run_record(const Options *o, struct json_object *record, Tally *t) {
  const char *name = text_of(record, "name");
  if (!name) name = text_of(record, "id");
  if (!name || (o->filter && !strstr(name, o->filter))) return;
  Run r = {.o = o, .record = record};
  Tirc *c = tirc_context_new();
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    run(c, &r);
    TIRC_END(c, trap);
  } else {
    r.outcome = c->diag.message;
  }
  printf("%-40s %9.2f ms%s%.*s\n", name, r.seconds * 1e3, r.outcome ? "  " : "",
         r.outcome ? (int)strcspn(r.outcome, "\n") : 0, r.outcome ? r.outcome : "");
  fflush(stdout);
  add(t, &r);
  tirc_context_release(c);
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void report(Tally *t) {
  double sum = 0;
  for (int i = 0; i < t->n; i++) sum += t->seconds[i];
  if (t->n) qsort(t->seconds, (size_t)t->n, sizeof *t->seconds, compare);
  if (t->n)
    printf("%d schedules: mean %.2f ms, median %.2f ms, p99 %.2f ms, worst %.2f ms\n", t->n,
           sum / t->n * 1e3, t->seconds[t->n / 2] * 1e3, t->seconds[t->n * 99 / 100] * 1e3,
           t->seconds[t->n - 1] * 1e3);
  printf("%d refused, %d differ from what is recorded\n", t->refused, t->differ);
  free(t->seconds);
}

static struct json_object *read_json(const char *path) {
  struct json_object *object = json_object_from_file(path);
  if (!object) fprintf(stderr, "bench_recorded: %s cannot be read\n", path);
  return object;
}

static bool run_file(const Options *o, const char *path) {
  FILE *f = fopen(path, "rb");
  Tally tally = {0};
  char *line = NULL;
  size_t room = 0;
  if (!f) {
    fprintf(stderr, "bench_recorded: %s cannot be read\n", path);
    return false;
  }
  while (getline(&line, &room, f) > 0) {
    struct json_object *record = json_tokener_parse(line);
    if (record) run_record(o, record, &tally);
    json_object_put(record);
  }
  free(line);
  fclose(f);
  report(&tally);
  return true;
}

int main(int argc, char **argv) {
  Options o = {0};
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    if (!strcmp(argv[i], "-v"))
      o.verbose = true;
    else if (!strcmp(argv[i], "--print"))
      o.print = true;
    else if (!strcmp(argv[i], "--filter") && i + 1 < argc)
      o.filter = argv[++i];
    else
      i = argc;
  }
  if (argc - i < 2 || argc - i > 3) {
    fprintf(stderr, "usage: bench_recorded [-v] [--print] [--filter TEXT] PROGRAMS.json "
                    "SCHEDULES.jsonl [INTRINSICS.json]\n");
    return 2;
  }
  o.programs = read_json(argv[i]);
  o.intrinsics = argc - i == 3 ? read_json(argv[i + 2]) : NULL;
  const bool done = o.programs && run_file(&o, argv[i + 1]);
  json_object_put(o.programs);
  json_object_put(o.intrinsics);
  return done ? 0 : 2;
}
