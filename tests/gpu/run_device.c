/* Do kernels compute on a device what they should? Each file is a program and a schedule for GPUs,
 * or a module as lowering makes it (main launches kernels) and beside them the same function
 * without a device, called `reference`. The reference interpreter says what is right. Behind the
 * program, in comments:
 *
 *   # set: NAME VALUE          a scalar parameter, or an extent that is no number
 *   # schedule:                and its lines behind "#| "
 *   # with: NAME=VALUE ...     once more with these variables in the schedule
 *   # source: TEXT             a line of the source, without the blanks at its ends
 *   # fails: CODE TEXT         instead of running it fails, and the message has this text in it
 *
 * usage: run_device DEVICE [--sample] FILE... ; of a sample are each TIRC_TEST_EVERY-th file, from
 * the first one on. Status 77: there is no such device. */
#include "../every.h"
#include "codegen/gpu/gpu.h"
#include "runtime/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMS = 16, MOST_TEXT = 1 << 16 };

typedef struct Program {
  const char *path, *device;
  char text[MOST_TEXT];
  tirc_module *m;
  const char *reference; /* the function that says what is right */
  const char *with;      /* the variables of its schedule, or NULL */
  int n, runs;
  const tirc_param *params;
  tirc_argument args[MOST_PARAMS];
  bool no_device;
} Program;

static int fail(const Program *p, const char *what, const char *detail) {
  printf("%s%s%s: %s: %s\n", p->path, p->with ? " with " : "", p->with ? p->with : "", what,
         detail);
  return 1;
}

static int fail_with(const Program *p, const char *what, tirc_error *e) {
  fail(p, what, tirc_error_message(e));
  tirc_error_free(e);
  return 1;
}

/* The next comment "# head: ..." from *at on. */
static const char *next_note(const char **at, const char *head, char *line, size_t size) {
  for (const char *p = *at; *p;) {
    const size_t n = strcspn(p, "\n"), h = strlen(head);
    const char *next = p[n] ? p + n + 1 : p + n;
    if (n >= h && strncmp(p, head, h) == 0) {
      snprintf(line, size, "%.*s", (int)(n - h), p + h);
      *at = next;
      return line;
    }
    p = next;
  }
  return NULL;
}

static int read_program(Program *p) {
  tirc_error *e = NULL;
  FILE *f = fopen(p->path, "r");
  if (!f) return fail(p, "it cannot be read", "no such file");
  const size_t n = fread(p->text, 1, sizeof p->text - 1, f);
  p->text[n] = 0;
  fclose(f);
  p->reference = strstr(p->text, "# schedule:") ? NULL : "reference";
  if (tirc_module_parse(p->text, n, p->path, 0, NULL, &p->m, &e) ||
      tirc_module_params(p->m, p->reference, &p->n, &p->params, &e))
    return fail_with(p, "the program", e);
  return p->n > MOST_PARAMS ? fail(p, "the program", "it has too many parameters") : 0;
}

/* --- arguments ------------------------------------------------------------------------------- */

static double value_of(const Program *p, const char *name) {
  char line[128], of[64];
  const char *at = p->text;
  double v = 0;
  while (next_note(&at, "# set: ", line, sizeof line))
    if (sscanf(line, "%63s %lf", of, &v) == 2 && strcmp(of, name) == 0) return v;
  return 0;
}

static int make_arguments(Program *p) {
  tirc_error *e = NULL;
  const tirc_symbol *known;
  tirc_symbol symbols[MOST_PARAMS];
  int n = 0;
  if (tirc_module_symbols(p->m, p->reference, &n, &known, &e)) return fail_with(p, "symbols", e);
  for (int i = 0; i < n && i < MOST_PARAMS; i++) {
    symbols[i] = known[i];
    symbols[i].value = (int64_t)value_of(p, known[i].name);
    symbols[i].is_known = true;
  }
  for (int i = 0; i < p->n; i++) {
    p->args[i].f = value_of(p, p->params[i].name);
    p->args[i].i = (int64_t)p->args[i].f;
  }
  for (int i = 0; i < p->n; i++) {
    if (!p->params[i].is_array) continue;
    if (tirc_module_array(p->m, p->reference, p->n, p->args, n, symbols, i, NULL, &p->args[i].array,
                          &e))
      return fail_with(p, "an array", e);
    tirc_array_fill_random(p->args[i].array, (uint64_t)i);
  }
  return 0;
}

/* --- the source ------------------------------------------------------------------------------ */

static void copy_source(Tirc *c, void *self) {
  Program *p = self;
  const char *source = tirc_gpu_source(c, &tirc_opencl_c, p->m->m, NULL);
  snprintf(p->text, sizeof p->text, "%s", source);
}

static bool has_line(const char *text, const char *line) {
  const size_t n = strlen(line);
  for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
    s += strspn(s, " ");
    if (strncmp(s, line, n) == 0 && (s[n] == '\n' || !s[n])) return true;
  }
  return false;
}

static int check_source(const Program *p) {
  Program *out = malloc(sizeof *out);
  char line[256];
  const char *at = p->text;
  tirc_error *e = NULL;
  int failures = 0;
  if (!out) return fail(p, "the source", "out of memory");
  *out = *p;
  if (strstr(p->text, "# source: ") && tirc_api_scratch(copy_source, out, NULL, &e))
    failures += fail_with(p, "the source", e);
  while (!failures && next_note(&at, "# source: ", line, sizeof line))
    if (!has_line(out->text, line)) {
      failures += fail(p, "the source has no line", line);
      puts(out->text);
    }
  free(out);
  return failures;
}

/* --- runs ------------------------------------------------------------------------------------ */

typedef struct Run {
  Program *p;
  const tirc_module *m;
  const tirc_reference *r;
  tirc_argument got[MOST_PARAMS];
} Run;

static int run(Run *r, tirc_error **e) {
  const Program *p = r->p;
  tirc_kernel *k = NULL;
  int bad = 0;
  for (int i = 0; i < p->n && !bad; i++) {
    r->got[i] = p->args[i];
    r->got[i].array = NULL;
    bad = p->args[i].array && tirc_array_copy(p->args[i].array, &r->got[i].array, e);
  }
  bad = bad || tirc_kernel_new_on(r->m, "main", p->device, NULL, &k, e) ||
        tirc_kernel_run(k, NULL, p->n, r->got, e);
  tirc_kernel_free(k);
  return bad;
}

static int check_failure(const Program *p, tirc_error *e) {
  char code[32], text[256], line[256];
  const char *at = p->text;
  if (!next_note(&at, "# fails: ", line, sizeof line)) return fail_with(p, "a run", e);
  if (!e) return fail(p, "it runs, and should fail", line);
  int failures = 0;
  if (sscanf(line, "%31s %255[^\n]", code, text) != 2 ||
      strcmp(code, tirc_error_get(e, TIRC_ERROR_CODE)) != 0 || !strstr(tirc_error_message(e), text))
    failures = fail(p, "it fails otherwise", tirc_error_message(e));
  tirc_error_free(e);
  return failures;
}

static int check_results(const Run *r) {
  const Program *p = r->p;
  tirc_check c = {.ok = false};
  tirc_error *e = NULL;
  char text[256];
  if (tirc_reference_check(r->r, p->n, r->got, &c, &e)) return fail_with(p, "the check", e);
  snprintf(text, sizeof text, "%s element %lld is %.9g, should be %.9g: %g, %g allowed",
           c.param ? c.param : "?", (long long)c.at, c.got, c.expected, c.error, c.allowed);
  return c.ok ? 0 : fail(p, "a wrong result", text);
}

static int check_run(Program *p, const tirc_module *m, const tirc_reference *reference) {
  Run r = {.p = p, .m = m, .r = reference};
  tirc_error *e = NULL;
  int failures = 0;
  p->runs++;
  if (run(&r, &e) && strcmp(tirc_error_get(e, TIRC_ERROR_CODE), "device") == 0) {
    p->no_device = true;
    failures = fail_with(p, "there is no device", e);
  } else if (e || strstr(p->text, "# fails: ")) {
    failures = check_failure(p, e);
  } else {
    failures = check_results(&r);
  }
  for (int i = 0; i < p->n; i++) tirc_array_free(r.got[i].array);
  return failures;
}

/* The lines behind "#| ", below "NAME = VALUE" for each of `with`. */
static char *script_of(const Program *p, const char *with) {
  char *script = NULL, line[256];
  size_t size = 0;
  const char *at = p->text;
  FILE *f = open_memstream(&script, &size);
  if (!f) return NULL;
  for (const char *w = with; w && *w; w += strcspn(w, " "), w += strspn(w, " "))
    fprintf(f, "%.*s\n", (int)strcspn(w, " "), w);
  while (next_note(&at, "#| ", line, sizeof line)) fprintf(f, "%s\n", line);
  fclose(f);
  return script;
}

static int check_schedule(Program *p, const char *with, const tirc_reference *r) {
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  char *script = script_of(p, with);
  p->with = with;
  int failures = 0;
  if (tirc_module_schedule_text(p->m, script, strlen(script), "schedule", NULL, &m, &e))
    failures = fail_with(p, "the schedule", e);
  else
    failures = check_run(p, m, r);
  tirc_module_free(m);
  free(script);
  p->with = NULL;
  return failures;
}

static int check_file(Program *p) {
  tirc_reference *r = NULL;
  tirc_error *e = NULL;
  char with[256];
  const char *at = p->text;
  int failures = read_program(p);
  if (!failures) failures = make_arguments(p);
  if (!failures && tirc_reference_new(p->m, p->reference, p->n, p->args, NULL, &r, &e))
    failures = fail_with(p, "the interpreter", e);
  if (failures) return failures;
  if (p->reference)
    failures = check_run(p, p->m, r);
  else
    while (!p->no_device && next_note(&at, "# with: ", with, sizeof with))
      failures += check_schedule(p, with, r);
  tirc_reference_free(r);
  return p->no_device ? failures : failures + check_source(p);
}

int main(int argc, char **argv) {
  int failures = 0, runs = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  const bool is_sample = argc > 2 && strcmp(argv[2], "--sample") == 0;
  const int first = is_sample ? 3 : 2, step = is_sample ? tirc_test_every() : 1;
  int programs = 0;
  if (argc <= first) return fprintf(stderr, "usage: run_device DEVICE [--sample] FILE...\n"), 2;
  for (int i = first; i < argc; i += step, programs++) {
    Program *p = calloc(1, sizeof *p);
    if (!p) return 2;
    *p = (Program){.path = argv[i], .device = argv[1]};
    failures += check_file(p);
    runs += p->runs;
    const bool skip = p->no_device;
    for (int k = 0; k < p->n && k < MOST_PARAMS; k++) tirc_array_free(p->args[k].array);
    tirc_module_free(p->m);
    free(p);
    if (skip) return 77;
  }
  printf("%d runs of %d programs on %s, %d failures\n", runs, programs, argv[1], failures);
  return failures ? 1 : 0;
}
