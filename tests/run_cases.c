/* run_cases [-v] [--filter TEXT] [--every-error] [--enough] [--explained] FILE_OR_FOLDER...
 * run_cases [-v] [--filter TEXT] --random PROGRAMS.json SEQUENCES.jsonl
 *
 * Runs cases and prints those that fail, with the first difference, and a summary. Exit status 1
 * when any fails, 2 when a file cannot be read. With --every-error it fails, too, when there is an
 * error that none of the cases raises; with --explained, when there is one that none explains;
 * with --enough, when there are fewer than LEAST_CASES cases, or a primitive of which no call is
 * legal or fewer than LEAST_REFUSED are refused. */
#include "cases.h"
#include "every.h"
#include "passes/schedule/schedule.h"

#include <dirent.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { LEAST_CASES = 600, LEAST_REFUSED = 5 };

typedef struct Options {
  bool verbose, every_error, explained, enough;
  const char *filter;
} Options;

typedef struct Tally {
  int passed, failed, unreadable;
  Seen seen;
  bool explained[SERR_COUNT]; /* ScheduleErrors */
} Tally;

/* A case that explains an error has all that `tirc explain` shows, and its fix is legal; one that
 * explains a warning is legal, too, and its fix gives none. */
static char *check_explanation(Tally *tally, const Case *test) {
  if (!test->why || !test->fixed || (!test->forbidden == !test->nothing_to_run))
    return strdup("an explanation has why, fixed, and either forbidden or nothing-to-run");
  for (int i = 0; i < SERR_COUNT; i++)
    if (test->code && !strcmp(tirc_codes[i].text, test->code)) tally->explained[i] = true;
  const bool is_warning = !strcmp(test->verdict, "warning");
  const Case plain = {
      .name = test->name, .verdict = "legal", .program = test->program, .schedule = test->schedule};
  char *failure = is_warning ? case_check(&plain, NULL) : NULL;
  if (failure) return failure;
  Case fixed = {.name = test->name,
                .verdict = "legal",
                .strict = is_warning,
                .program = test->fixed_program ? test->fixed_program : test->program,
                .schedule = test->fixed};
  return case_check(&fixed, NULL);
}

static void run_case(const Options *o, Tally *tally, const Case *test) {
  if (o->filter && !strstr(test->name, o->filter)) return;
  char *failure = case_check(test, &tally->seen);
  if (!failure && (o->explained || test->why)) failure = check_explanation(tally, test);
  *(failure ? &tally->failed : &tally->passed) += 1;
  if (failure)
    printf("FAIL %s\n     %s\n", test->name, failure);
  else if (o->verbose)
    printf("ok   %s\n", test->name);
  fflush(stdout);
  free(failure);
}

/* --- .case files ------------------------------------------------------------------------------ */

static void run_file(const Options *o, Tally *tally, const char *path) {
  Tirc *c = tirc_context_new();
  Case test;
  const char *why = "cannot be read";
  char *text = case_read(path);
  if (text && case_parse(c, path, text, &test, &why)) {
    run_case(o, tally, &test);
  } else {
    fprintf(stderr, "%s: %s\n", path, why);
    tally->unreadable++;
  }
  free(text);
  tirc_context_release(c);
}

static int is_case(const struct dirent *entry) {
  size_t n = strlen(entry->d_name);
  return entry->d_name[0] != '.' && (n < 5 || !strcmp(entry->d_name + n - 5, ".case"));
}

static void run_path(const Options *o, Tally *tally, const char *path) {
  struct stat st;
  struct dirent **entries;
  if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
    run_file(o, tally, path);
    return;
  }
  int n = scandir(path, &entries, is_case, alphasort);
  for (int i = 0; i < n; i++) {
    char inner[4096];
    snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
    run_path(o, tally, inner);
    free(entries[i]);
  }
  if (n >= 0) free(entries);
}

/* --- random sequences ------------------------------------------------------------------------- */

static const char *text_of(struct json_object *object, const char *key) {
  struct json_object *value;
  return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) : NULL;
}

static bool sequence_case(Tirc *c, struct json_object *programs, struct json_object *object,
                          Case *out) {
  struct json_object *calls, *at;
  const char *program = text_of(object, "program"), *numbers = text_of(object, "numbers");
  if (!program || !json_object_object_get_ex(object, "calls", &calls)) return false;
  Text schedule = {.c = c};
  for (size_t i = 0; i < json_object_array_length(calls); i++)
    tirc_text_addf(&schedule, "%s\n", json_object_get_string(json_object_array_get_idx(calls, i)));
  *out = (Case){
      .name = tirc_format(c, "%s (%s)", text_of(object, "id"), program),
      .verdict = text_of(object, "verdict"),
      .code = text_of(object, "code"),
      .reference_fault = numbers && !strncmp(numbers, "WRONG", 5),
      .program = text_of(programs, program),
      .schedule = schedule.at,
      .result = text_of(object, "result"),
  };
  if (json_object_object_get_ex(object, "fails-at-call", &at))
    out->fails_at_call = json_object_get_int(at);
  return out->program && out->verdict && out->schedule;
}

static void run_random(const Options *o, Tally *tally, const char *programs_path,
                       const char *path) {
  struct json_object *programs = json_object_from_file(programs_path);
  FILE *f = fopen(path, "rb");
  char *line = NULL;
  size_t cap = 0;
  if (!programs || !f) {
    fprintf(stderr, "%s: cannot be read\n", programs ? path : programs_path);
    tally->unreadable++;
  }
  for (int n = 0; programs && f && getline(&line, &cap, f) > 0; n++) {
    if (n % tirc_test_every() != 0) continue;
    struct json_object *object = json_tokener_parse(line);
    Tirc *c = tirc_context_new();
    Case test;
    if (object && sequence_case(c, programs, object, &test)) {
      run_case(o, tally, &test);
    } else {
      fprintf(stderr, "%s: no sequence: %.60s\n", path, line);
      tally->unreadable++;
    }
    tirc_context_release(c);
    json_object_put(object);
  }
  free(line);
  if (f) fclose(f);
  json_object_put(programs);
}

static void report_missing(Tally *tally, const bool *seen, const char *verb) {
  for (int i = 0; i < SERR_COUNT; i++) {
    if (seen[i]) continue;
    printf("FAIL no case %s %s\n", verb, tirc_codes[i].text);
    tally->failed++;
  }
}

/* Enough cases of each primitive: legal ones, and refused ones of those that can fail. */
static void report_scarce(Tally *tally) {
  for (int i = 0; i < tirc_n_primitives; i++) {
    int legal = tally->seen.legal[i], refused = tally->seen.refused[i];
    bool can_fail = tirc_primitives[i].n_params > 0;
    if (legal && (refused >= LEAST_REFUSED || !can_fail)) continue;
    printf("FAIL %s has %d legal and %d refused calls, and needs 1 and %d\n",
           tirc_primitives[i].name, legal, refused, can_fail ? LEAST_REFUSED : 0);
    tally->failed++;
  }
  if (tally->passed >= LEAST_CASES) return;
  printf("FAIL there are only %d cases\n", tally->passed);
  tally->failed++;
}

int main(int argc, char **argv) {
  Options o = {0};
  Tally tally = {0};
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "-v"))
      o.verbose = true;
    else if (!strcmp(argv[i], "--every-error"))
      o.every_error = true;
    else if (!strcmp(argv[i], "--enough"))
      o.enough = true;
    else if (!strcmp(argv[i], "--explained"))
      o.explained = true;
    else if (!strcmp(argv[i], "--filter") && i + 1 < argc)
      o.filter = argv[++i];
    else if (!strcmp(argv[i], "--random") && i + 2 < argc) {
      run_random(&o, &tally, argv[i + 1], argv[i + 2]);
      i += 2;
    } else if (argv[i][0] == '-') {
      fprintf(stderr, "usage: run_cases [-v] [--filter TEXT] [--every-error] [--enough] "
                      "[--explained] [--random PROGRAMS SEQUENCES] FILE_OR_FOLDER...\n");
      return 2;
    } else {
      run_path(&o, &tally, argv[i]);
    }
  }
  case_forget(&tally.seen);
  if (o.every_error) report_missing(&tally, tally.seen.raised, "raises");
  if (o.enough) report_scarce(&tally);
  if (o.explained) report_missing(&tally, tally.explained, "explains");
  printf("%d passed, %d failed\n", tally.passed, tally.failed);
  return tally.unreadable ? 2 : tally.failed ? 1 : 0;
}
