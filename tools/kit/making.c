/* What the options say of schedules, as the library takes it, and what is heard meanwhile. */
#include "kit.h"

#include <string.h>

void print_aside(void *self, const char *text) {
  (void)self;
  fputs(text, stderr);
}

static void print_trace(void *options, const char *call, const char *file, int line,
                        const char *failure) {
  (void)options;
  fprintf(stderr, "%s%-6s%s %s:%d: %s\n", paint(failure ? RED : GREEN), failure ? "failed" : "ok",
          paint(RESET), file ? file : "?", line, call);
}

tirc_schedule_options schedule_options(const Making *o) {
  return (tirc_schedule_options){
      .target = o->from.target,
      .max_steps = o->from.script_steps,
      .strict = o->from.strict,
      .verify = o->debug_mask && strcmp(o->debug_mask, "none") != 0,
      .print = print_aside,
      .trace = o->trace ? print_trace : NULL,
      .warn = o->quiet ? NULL : warn_about,
  };
}

static void print_tried(void *options, const char *func, const char *rule, bool took,
                        const char *reason) {
  (void)options;
  const char *colour = paint(took ? GREEN : rule ? DIM : YELLOW);
  fprintf(stderr, "%s%s%s %s", colour,
          took   ? "took    "
          : rule ? "declined"
                 : "left    ",
          paint(RESET), func);
  if (rule) fprintf(stderr, " by %s", rule);
  fputs(reason ? ": " : "", stderr);
  if (reason) put_clean(stderr, reason, strlen(reason));
  fputc('\n', stderr);
}

tirc_auto_options auto_options(const Making *o) {
  return (tirc_auto_options){.rules = o->rules, .tried = o->explain_auto ? print_tried : NULL};
}

bool is_automatic(const Making *o) { return o->automatic || o->tuned; }

int check_auto(const Making *o) {
  if (!is_automatic(o) && (o->rules || o->explain_auto))
    return complain("add --auto", "%s goes with --auto", o->rules ? "--rules" : "--explain-auto");
  if (!is_automatic(o) && o->from.sizes.n)
    return complain("add --auto, or --tuned", "--sizes goes with --auto");
  if (is_automatic(o) && o->trace_json)
    return complain("leave one of them out", "a schedule is a trace or --auto, not both");
  return DONE;
}
