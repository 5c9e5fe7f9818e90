/* Can the check be fooled, in either direction? Each file of a folder is a program with, in
 * comments behind it,
 *
 *   # range: NAME LO HI        what an array is drawn from
 *   # schedule:                a schedule, in lines "#| ...", that changes the order of its sums
 *   # fault: OLD => NEW        a mistake: the first OLD in the program becomes NEW
 *
 * The program itself, plain and by each schedule, compiled, must pass the check with every seed;
 * the reference interpreter in the program's own types, too. Each fault, run in its own types, must
 * be found with one of the seeds. usage: planted FOLDER [SEEDS] */
#include "runtime/tirc.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMS = 8, MOST_TEXT = 1 << 16 };

typedef struct Program {
  const char *path;
  char text[MOST_TEXT];
  const char *notes; /* behind the program, in text */
  tirc_module *plain;
  int n;
  const tirc_param *params;
} Program;

typedef struct Counts {
  int programs, runs, faults, found, failures;
} Counts;

static int fail(Counts *k, const Program *p, const char *what, const char *detail) {
  k->failures++;
  printf("%s: %s: %s\n", p->path, what, detail);
  return 0;
}
static int fail_with(Counts *k, const Program *p, const char *what, tirc_error *e) {
  fail(k, p, what, tirc_error_message(e));
  tirc_error_free(e);
  return 0;
}

/* The line behind `head` in the notes, one after the other; NULL: no more. */
static const char *next_note(const char **at, const char *head, char *line, size_t size) {
  for (const char *p = *at; p && *p;) {
    const size_t n = strcspn(p, "\n");
    const char *next = p[n] ? p + n + 1 : p + n;
    if (strncmp(p, head, strlen(head)) == 0) {
      snprintf(line, size, "%.*s", (int)(n - strlen(head)), p + strlen(head));
      *at = next;
      return line;
    }
    p = next;
  }
  return NULL;
}

static int is_written(const Program *p, int i) { return p->params[i].is_written; }

static int make_arguments(Counts *k, const Program *p, int seed, tirc_argument *args) {
  tirc_error *e = NULL;
  for (int i = 0; i < p->n; i++) {
    const char *at = p->notes;
    char line[128], name[32];
    double low, high;
    if (tirc_module_array(p->plain, NULL, p->n, args, 0, NULL, i, NULL, &args[i].array, &e))
      return fail_with(k, p, "an array", e);
    tirc_array_fill_random(args[i].array, (uint64_t)(seed * 1000 + i));
    while (next_note(&at, "# range: ", line, sizeof line))
      if (sscanf(line, "%31s %lf %lf", name, &low, &high) == 3 &&
          !strcmp(name, p->params[i].name) &&
          tirc_array_fill_range(args[i].array, (uint64_t)(seed * 1000 + i), low, high, &e))
        return fail_with(k, p, "a range", e);
  }
  return 1;
}

static void free_arguments(int n, tirc_argument *args) {
  for (int i = 0; i < n; i++) tirc_array_free(args[i].array);
}

/* Runs m from args' start and compares; -1: it does not run. */
static int passes(Counts *k, const Program *p, const tirc_reference *r, const tirc_module *m,
                  int compiled, const tirc_argument *args, tirc_check *c) {
  tirc_error *e = NULL;
  tirc_argument got[MOST_PARAMS] = {0};
  tirc_kernel *kernel = NULL;
  int ok = 1;
  for (int i = 0; i < p->n && ok; i++) ok = !tirc_array_copy(args[i].array, &got[i].array, &e);
  if (ok && compiled)
    ok = !tirc_kernel_new(m, NULL, NULL, &kernel, &e) &&
         !tirc_kernel_run(kernel, NULL, p->n, got, &e);
  else if (ok)
    ok = !tirc_module_interpret(m, NULL, p->n, got, 0, &e);
  if (ok) ok = !tirc_reference_check(r, p->n, got, c, &e);
  tirc_kernel_free(kernel);
  free_arguments(p->n, got);
  if (ok) return c->ok;
  fail_with(k, p, "a run", e);
  return -1;
}

static void must_pass(Counts *k, const Program *p, const tirc_reference *r, const tirc_module *m,
                      int compiled, const tirc_argument *args, const char *what) {
  char text[256];
  tirc_check c;
  k->runs++;
  if (passes(k, p, r, m, compiled, args, &c) != 0) return;
  snprintf(text, sizeof text, "%s element %lld is %.9g, should be %.9g: %g, %g allowed%s", c.param,
           (long long)c.at, c.got, c.expected, c.error, c.allowed,
           c.too_undecided ? "; too much is undecided" : "");
  fail(k, p, what, text);
}

static void run_schedules(Counts *k, const Program *p, const tirc_reference *r,
                          const tirc_argument *args) {
  char script[4096], line[256];
  const char *at = p->notes;
  while (next_note(&at, "# schedule:", line, sizeof line)) {
    tirc_module *scheduled = NULL;
    tirc_error *e = NULL;
    size_t n = 0;
    while (strncmp(at, "#| ", 3) == 0 && next_note(&at, "#| ", line, sizeof line))
      n += (size_t)snprintf(script + n, sizeof script - n, "%s\n", line);
    if (tirc_module_schedule_text(p->plain, script, n, "schedule", NULL, &scheduled, &e)) {
      fail_with(k, p, "a schedule", e);
      continue;
    }
    must_pass(k, p, r, scheduled, 1, args, "scheduled");
    must_pass(k, p, r, scheduled, 0, args, "scheduled, interpreted");
    tirc_module_free(scheduled);
  }
}

/* The program with a mistake in it; NULL: there is no such text. */
static tirc_module *plant(Counts *k, const Program *p, const char *fault) {
  static const char arrow[] = " => ";
  char text[MOST_TEXT];
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  const char *to = strstr(fault, arrow);
  char old[256];
  if (!to) return fail(k, p, "no arrow", fault), NULL;
  snprintf(old, sizeof old, "%.*s", (int)(to - fault), fault);
  const char *at = strstr(p->text, old);
  if (!at || at >= p->notes) return fail(k, p, "nowhere in the program", fault), NULL;
  const int n =
      snprintf(text, sizeof text, "%.*s%s%.*s", (int)(at - p->text), p->text, to + strlen(arrow),
               (int)(p->notes - at - (long)strlen(old)), at + strlen(old));
  if (tirc_module_parse(text, (size_t)n, p->path, 0, NULL, &m, &e)) fail_with(k, p, fault, e);
  return m;
}

static void find_faults(Counts *k, const Program *p, int seeds) {
  char fault[512];
  const char *at = p->notes;
  while (next_note(&at, "# fault: ", fault, sizeof fault)) {
    tirc_module *m = plant(k, p, fault);
    int found = 0;
    k->faults++;
    for (int seed = 1; m && seed <= seeds && !found; seed++) {
      tirc_argument args[MOST_PARAMS] = {0};
      tirc_reference *r = NULL;
      tirc_check c = {.ok = true};
      if (make_arguments(k, p, seed, args) &&
          !tirc_reference_new(p->plain, NULL, p->n, args, NULL, &r, NULL))
        found = passes(k, p, r, m, 0, args, &c) == 0 && c.error > c.allowed;
      tirc_reference_free(r);
      free_arguments(p->n, args);
    }
    k->found += found;
    if (!found) fail(k, p, "a planted fault is not found", fault);
    tirc_module_free(m);
  }
}

static void run_program(Counts *k, Program *p, int seeds) {
  tirc_error *e = NULL;
  p->notes = strstr(p->text, "\n# ");
  p->notes = p->notes ? p->notes + 1 : p->text + strlen(p->text);
  if (tirc_module_parse(p->text, strlen(p->text), p->path, 0, NULL, &p->plain, &e) ||
      tirc_module_params(p->plain, NULL, &p->n, &p->params, &e)) {
    fail_with(k, p, "the program", e);
    return;
  }
  k->programs++;
  for (int seed = 1; seed <= seeds && p->n <= MOST_PARAMS; seed++) {
    tirc_argument args[MOST_PARAMS] = {0};
    tirc_reference *r = NULL;
    if (make_arguments(k, p, seed, args)) {
      for (int i = 0; i < p->n; i++)
        if (is_written(p, i)) tirc_array_fill_poison(args[i].array);
      if (tirc_reference_new(p->plain, NULL, p->n, args, NULL, &r, &e)) {
        fail_with(k, p, "the reference", e);
      } else {
        must_pass(k, p, r, p->plain, 1, args, "as it stands");
        must_pass(k, p, r, p->plain, 0, args, "interpreted");
        run_schedules(k, p, r, args);
      }
    }
    tirc_reference_free(r);
    free_arguments(p->n, args);
  }
  find_faults(k, p, seeds);
  tirc_module_free(p->plain);
}

int main(int argc, char **argv) {
  const int seeds = argc > 2 ? atoi(argv[2]) : 3;
  Counts k = {0};
  struct dirent *entry;
  DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
  while (folder && (entry = readdir(folder))) {
    char path[1024];
    Program *p = calloc(1, sizeof *p);
    const char *ending = strrchr(entry->d_name, '.');
    snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
    FILE *f = p && ending && !strcmp(ending, ".tir") ? fopen(path, "r") : NULL;
    if (f && fread(p->text, 1, sizeof p->text - 1, f) > 0) {
      p->path = path;
      run_program(&k, p, seeds);
    }
    if (f) fclose(f);
    free(p);
  }
  if (folder) closedir(folder);
  printf("%d programs, %d runs that are right, %d of %d planted faults found, %d failures\n",
         k.programs, k.runs, k.found, k.faults, k.failures);
  return k.failures || k.programs < 25 || k.faults < 200;
}
