/* The schedule of --auto is the first point of the space that a search draws from, and a rule that
 * draws what it leaves open makes that schedule of usual values alone: test_first_point FOLDER...
 */
#include "ir/cpu.h"
#include "ir/equal.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "parser/program.h"
#include "passes/rules/rules.h"
#include "passes/schedule/trace/trace.h"
#include "passes/search/space.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const targets[] = {"haswell", "znver4"};
enum { N_TARGETS = sizeof targets / sizeof *targets, AUTOMATIC = 0, PRODUCTS = 1 };

typedef struct Tally {
  int programs, drawn, failures;
} Tally;

/* What a trace does, without what it looked at, and without the words of the rules. */
static const char *calls_of(Tirc *c, const Space *sp, const Trace *t) {
  t = tirc_trace_simplified(c, tirc_trace_plain(tirc_space_schedule(sp, c), t), false);
  const char *text = tirc_trace_python(c, t, false);
  Text out = {.c = c};
  tirc_text_add(&out, "");
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    if (strncmp(text, "  # rule ", 9) != 0) tirc_text_addf(&out, "%.*s\n", (int)n, text);
  }
  return out.at;
}

/* The likeliest point of a way; NULL: it declines. */
static Sched *first_of(Tirc *c, const Space *sp, int way) {
  Value decisions = tirc_value_list(c, VAL_LIST, 0, NULL);
  Sched *volatile s = NULL;
  Trap trap;
  tirc_value_append(c, decisions, tirc_value_int(way));
  if (TIRC_TRY(c, trap)) {
    s = tirc_space_draw(sp, c, &(Draw){decisions.u.list, true, 1});
    TIRC_END(c, trap);
  }
  return s;
}

/* A product that Goto's way or a tile took: what the rules that draw are for. */
static bool is_product(const Trace *t) {
  bool product = false;
  for (int i = 0; i < t->n; i++) {
    const char *reason = t->at[i]->reason;
    if (!reason) continue;
    if (!strncmp(reason, "a convolution", 13)) return false;
    product |= !strncmp(reason, "a product of ", 13) || !strncmp(reason, "a sum of ", 9);
  }
  return product;
}

static void compare(Tally *t, Tirc *c, const Space *sp, const Sched *automatic, int way,
                    const char *name) {
  const Sched *s = first_of(c, sp, way);
  if (!s)
    printf("%s: no point of %s\n", name, tirc_space_way(sp, way));
  else if (strcmp(tirc_print_module(c, s->mod, NULL), tirc_print_module(c, automatic->mod, NULL)))
    printf("%s: the program of %s is another one\n", name, tirc_space_way(sp, way));
  else if (strcmp(calls_of(c, sp, s->trace), calls_of(c, sp, automatic->trace)))
    printf("%s: the calls of %s are others\n", name, tirc_space_way(sp, way));
  else
    return;
  t->failures++;
}

static void check_program(Tally *t, Tirc *c, const char *path, const char *target) {
  const Source source = tirc_read_source(c, path);
  const Module *m = tirc_parse_module(c, &source, 0, NULL);
  tirc_verify(c, m);
  const SpaceOptions options = {.target = tirc_cpu_find(target)};
  const Space *sp = tirc_space_new(c, m, &options);
  Sched *automatic = tirc_space_schedule(sp, c);
  tirc_auto_schedule(automatic, NULL, &options.limits, NULL, NULL, NULL, NULL);
  const char *name = tirc_format(c, "%s for %s", path, target);
  t->programs++;
  if (tirc_space_takes(sp, 0, AUTOMATIC)) compare(t, c, sp, automatic, AUTOMATIC, name);
  if (!is_product(automatic->trace)) return;
  t->drawn++;
  compare(t, c, sp, automatic, PRODUCTS, name);
}

static void check_file(Tally *t, const char *path, const char *target) {
  Tirc *c = tirc_context_new();
  Trap trap;
  if (!c) abort();
  if (TIRC_TRY(c, trap)) {
    check_program(t, c, path, target);
    TIRC_END(c, trap);
  } else {
    printf("%s: %s\n", path, c->diag.message);
    t->failures++;
  }
  tirc_context_release(c);
}

static int is_program(const struct dirent *e) {
  const size_t n = strlen(e->d_name);
  return n > 4 && !strcmp(e->d_name + n - 4, ".tir");
}

int main(int argc, char **argv) {
  Tally t = {0};
  for (int i = 1; i < argc; i++) {
    struct dirent **entries;
    const int n = scandir(argv[i], &entries, is_program, alphasort);
    for (int k = 0; k < n; k++) {
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[i], entries[k]->d_name);
      for (int j = 0; j < N_TARGETS; j++) check_file(&t, path, targets[j]);
      free(entries[k]);
    }
    if (n >= 0) free(entries);
  }
  printf("%d programs, %d of them products whose rules draw; %d failures\n", t.programs, t.drawn,
         t.failures);
  return t.failures || !t.drawn;
}
