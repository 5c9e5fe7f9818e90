/* Reading programs and running schedule scripts, with errors reported. */
#include "input.h"
#include "kit.h"
#include "model.h"

#include "ir/utf8.h"

#include <errno.h>
#include <string.h>

/* The program as --dialect spells it. */
static int in_dialect(tirc_module **m) {
  tirc_module *other;
  tirc_error *e = NULL;
  if (!speech.dialect) return DONE;
  if (tirc_module_in_dialect(*m, speech.dialect, &other, &e)) return report(e);
  tirc_module_free(*m);
  *m = other;
  return DONE;
}

/* Sizes that cannot be are told, and the program goes on without them; not with --strict. */
static int with_sizes(const Loading *o, tirc_module **m) {
  tirc_gpu_info gpu;
  bool is_gpu = false;
  if (o->sizes.n && o->target && !tirc_gpu_find_target(o->target, &is_gpu, &gpu, NULL) && is_gpu)
    return complain("leave it out: kernels for a GPU take every size of an open extent",
                    "--sizes is for processors, and %s is a GPU", o->target);
  for (int i = 0; i < o->sizes.n; i++) {
    tirc_module *other;
    tirc_error *e = NULL;
    if (tirc_module_with_sizes(*m, o->sizes.at[i], &other, &e)) {
      if (o->strict) return report(e);
      warn_about(NULL, NULL, 0, 0, tirc_error_message(e), tirc_error_get(e, TIRC_ERROR_CODE));
      tirc_error_free(e);
      continue;
    }
    tirc_module_free(*m);
    *m = other;
  }
  return DONE;
}

static int with_entry(const Loading *o, tirc_module **m) {
  tirc_module *other;
  tirc_error *e = NULL;
  if (!o->entry) return DONE;
  if (tirc_module_with_main(*m, o->entry, &other, &e)) return report(e);
  tirc_module_free(*m);
  *m = other;
  return DONE;
}

static int as_asked(const Loading *o, tirc_module **m) {
  int status = with_entry(o, m);
  if (status == DONE) status = with_sizes(o, m);
  return status == DONE ? in_dialect(m) : status;
}

int load_program_with(const Loading *o, const char *path, int n, const tirc_define *defines,
                      tirc_module **out) {
  tirc_error *e = NULL;
  const char *end = strrchr(path, '.');
  if (end && strcmp(end, ".sch") == 0)
    return complain("the program comes first: PROG FILE.sch", "'%s' is a schedule, not a program",
                    path);
  if (is_onnx(path)) {
    const int status = import_onnx(o, path, n, defines, out);
    return status == DONE ? as_asked(o, out) : status;
  }
  if (o->bind.n || o->test_data)
    return complain("leave it out", "%s is about a file of ONNX, and not '%s'",
                    o->bind.n ? "--bind" : "--test-data", path);
  return tirc_module_read(path, n, defines, out, &e) ? report(e) : as_asked(o, out);
}

/* The -D of the options. */
static int read_defines(const Loading *o, tirc_define **out) {
  tirc_define *defines = *out = tirc_alloc_array(memory, (size_t)o->define.n + 1, sizeof *defines);
  for (int i = 0; i < o->define.n; i++) {
    const char *equals = strchr(o->define.at[i], '=');
    if (!equals || equals == o->define.at[i])
      return complain("write -D M=128", "-D takes NAME=VALUE, not '%s'", o->define.at[i]);
    defines[i] = (tirc_define){
        tirc_strndup(memory, o->define.at[i], (size_t)(equals - o->define.at[i])), equals + 1};
  }
  return DONE;
}

int load_program(const Loading *o, const char *path, tirc_module **out) {
  tirc_define *defines;
  int status = read_defines(o, &defines);
  return status == DONE ? load_program_with(o, path, o->define.n, defines, out) : status;
}

int load_program_text(const Loading *o, const char *name, const char *text, size_t n,
                      tirc_module **out) {
  tirc_define *defines;
  tirc_error *e = NULL;
  int status = read_defines(o, &defines);
  if (status == DONE && tirc_module_parse(text, n, name, o->define.n, defines, out, &e))
    status = report(e);
  return status == DONE ? as_asked(o, out) : status;
}

enum { MOST_TEXT = 1 << 28 };

int read_text(const char *path, char **text, size_t *n) {
  const bool standard = strcmp(path, "-") == 0;
  FILE *f = standard ? stdin : fopen(path, "rb");
  errno = f ? 0 : errno;
  *text = f ? read_to_end(f, MOST_TEXT, n) : NULL;
  const int error = errno;
  if (f && !standard) fclose(f);
  if (*text) return DONE;
  return complain(NULL, "cannot read '%s': %s", path,
                  error == EFBIG ? "the file is larger than 256 MB" : strerror(error));
}

/* A script at `path`, or what --auto makes, or the trace that --trace-json names when path is NULL.
 */
static int schedule(const Making *o, const tirc_module *m, const char *path, tirc_module **out) {
  tirc_schedule_options s = schedule_options(o);
  tirc_error *e = NULL;
  const tirc_auto_options a = auto_options(o);
  tirc_status status = o->tuned ? tirc_module_tuned(m, o->database, o->threads, &a, &s, out, &e)
                       : o->automatic ? (o->needs_trace ? tirc_module_auto
                                                        : tirc_module_auto_kept)(m, &a, &s, out, &e)
                       : path         ? tirc_module_schedule(m, path, &s, out, &e)
                              : tirc_module_replay(m, o->trace_json, o->record, &s, out, &e);
  return status ? report(e) : DONE;
}

int check_program(const Making *o, const tirc_module *m) {
  tirc_schedule_options s = schedule_options(o);
  tirc_error *e = NULL;
  return tirc_module_check(m, &s, &e) ? report(e) : DONE;
}

/* The first program of the command line, scheduled as the options say; m becomes the unscheduled
 * one, or is freed. */
static int schedule_as_it_is(const Making *o, tirc_module *m, tirc_module **unscheduled,
                             tirc_module **out) {
  const List *args = &o->from.args;
  int status;
  if (tirc_module_has_graph(m)) {
    status = run_phases(o, m, "schedule", out);
    tirc_module_free(m);
    return status;
  }
  if (args->n > 1 || o->trace_json || is_automatic(o)) {
    status = schedule(o, m, args->n > 1 ? args->at[1] : NULL, out);
    if (unscheduled && status == DONE)
      *unscheduled = m;
    else
      tirc_module_free(m);
    return status;
  }
  status = check_program(o, m);
  if (status == DONE)
    *out = m;
  else
    tirc_module_free(m);
  return status;
}

typedef tirc_status WithWish(const tirc_module *m, tirc_module **out, tirc_error **error);

static int ask_for(bool asked, WithWish *with_wish, tirc_module **m) {
  tirc_module *with = NULL;
  tirc_error *e = NULL;
  if (!asked) return DONE;
  if (with_wish(*m, &with, &e)) return report(e);
  tirc_module_free(*m);
  *m = with;
  return DONE;
}

int schedule_loaded(const Making *o, tirc_module *m, tirc_module **unscheduled, tirc_module **out) {
  int status = schedule_as_it_is(o, m, unscheduled, out);
  if (status == DONE) status = ask_for(o->lines, tirc_module_with_lines, out);
  return status == DONE ? ask_for(o->fast_math, tirc_module_with_fast_math, out) : status;
}

int load_scheduled(const Making *o, tirc_module **unscheduled, tirc_module **out) {
  tirc_module *m = NULL;
  const int status = load_checked(o, &m);
  return status == DONE ? schedule_loaded(o, m, unscheduled, out) : status;
}

int load_checked(const Making *o, tirc_module **out) {
  const List *args = &o->from.args;
  const int status = check_auto(o);
  if (status != DONE) return status;
  if (args->n > 1 && is_automatic(o))
    return complain("leave one of them out", "a schedule is a script or --auto, not both");
  if (args->n > 1 && strcmp(args->at[0], "-") == 0 && strcmp(args->at[1], "-") == 0)
    return complain(NULL, "only one of the program and the schedule can be standard input");
  if (args->n > 1 && o->trace_json)
    return complain("leave one of them out", "a schedule is a script or a trace, not both");
  return load_program(&o->from, args->at[0], out);
}

char *path_stem(const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  if (strcmp(base, "-") == 0) return tirc_strdup(memory, "kernel");
  return dot && dot > base ? tirc_strndup(memory, base, (size_t)(dot - base))
                           : tirc_strdup(memory, base);
}

char *shown_stem(const char *path) {
  char *stem = path_stem(path), *shown = tirc_alloc(memory, 3 * strlen(stem) + 1);
  return tirc_utf8_repair(shown, stem);
}

int check_code(const Making *o, const tirc_module *m, tirc_emit_kind kind) {
  tirc_schedule_options s = schedule_options(o);
  tirc_error *e = NULL;
  const tirc_status status = kind >= TIRC_EMIT_OPENCL && kind <= TIRC_EMIT_PTX
                                 ? tirc_module_check_kernels(m, kind, &s, &e)
                                 : tirc_module_check_code(m, &s, &e);
  return status ? report(e) : DONE;
}
