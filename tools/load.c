/* Reading programs and running schedule scripts, with errors reported. */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int load_program_with(const Options *o, const char *path, int n, const tirc_define *defines,
                      tirc_module **out) {
  tirc_error *e = NULL;
  return tirc_module_read(path, n, defines, out, &e) ? report(o, e) : DONE;
}

int load_program(const Options *o, const char *path, tirc_module **out) {
  int n = o->define.n, status = DONE;
  tirc_define *defines = calloc((size_t)n + 1, sizeof *defines);
  if (!defines) return complain(o, NULL, "out of memory");
  for (int i = 0; i < n && status == DONE; i++) {
    const char *equals = strchr(o->define.at[i], '=');
    if (!equals || equals == o->define.at[i])
      status = complain(o, "write -D M=128", "-D takes NAME=VALUE, not '%s'", o->define.at[i]);
    else
      defines[i] =
          (tirc_define){strndup(o->define.at[i], (size_t)(equals - o->define.at[i])), equals + 1};
  }
  if (status == DONE) status = load_program_with(o, path, n, defines, out);
  for (int i = 0; i < n; i++) free((char *)(uintptr_t)defines[i].name);
  free(defines);
  return status;
}

static void print_text(void *options, const char *text) {
  (void)options;
  fputs(text, stderr);
}

static void print_trace(void *options, const char *call, const char *file, int line,
                        const char *failure) {
  const Options *o = options;
  fprintf(stderr, "%s%-6s%s %s:%d: %s\n", paint(o, failure ? RED : GREEN),
          failure ? "failed" : "ok", paint(o, RESET), file ? file : "?", line, call);
}

/* A script at `path`, or the trace that --trace-json names when path is NULL. */
static int schedule(const Options *o, const tirc_module *m, const char *path, tirc_module **out) {
  tirc_schedule_options s = {
      .target = o->target,
      .max_steps = o->script_steps,
      .strict = o->strict,
      .verify = o->debug_mask && strcmp(o->debug_mask, "none") != 0,
      .self = (void *)(uintptr_t)o,
      .print = print_text,
      .trace = o->trace ? print_trace : NULL,
      .warn = warn_about,
  };
  tirc_error *e = NULL;
  tirc_status status = path ? tirc_module_schedule(m, path, &s, out, &e)
                            : tirc_module_replay(m, o->trace_json, o->record, &s, out, &e);
  return status ? report(o, e) : DONE;
}

int load_scheduled(const Options *o, tirc_module **unscheduled, tirc_module **out) {
  tirc_module *m = NULL;
  if (o->args.n > 1 && strcmp(o->args.at[0], "-") == 0 && strcmp(o->args.at[1], "-") == 0)
    return complain(o, NULL, "only one of the program and the schedule can be standard input");
  if (o->args.n > 1 && o->trace_json)
    return complain(o, "leave one of them out", "a schedule is a script or a trace, not both");
  int status = load_program(o, o->args.at[0], &m);
  if (status != DONE) return status;
  if (o->args.n > 1 || o->trace_json) {
    status = schedule(o, m, o->args.n > 1 ? o->args.at[1] : NULL, out);
    if (unscheduled && status == DONE)
      *unscheduled = m;
    else
      tirc_module_free(m);
    return status;
  }
  *out = m;
  return DONE;
}

char *path_stem(const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  if (strcmp(base, "-") == 0) return strdup("kernel");
  return dot && dot > base ? strndup(base, (size_t)(dot - base)) : strdup(base);
}

int write_output(const Options *o, const char *path, const char *bytes, size_t n) {
  bool standard = !path || strcmp(path, "-") == 0;
  FILE *f = standard ? stdout : fopen(path, "wb");
  if (!f) return complain(o, NULL, "cannot write '%s': %s", path, strerror(errno));
  bool ok = fwrite(bytes, 1, n, f) == n;
  ok = (standard ? fflush(f) : fclose(f)) == 0 && ok;
  return ok ? DONE
            : complain(o, NULL, "cannot write '%s': %s", standard ? "standard output" : path,
                       strerror(errno));
}
