/* The schedule of --auto is the first point of the space that a search draws from, and a rule that
 * draws what it leaves open makes that schedule of usual values alone: test_first_point FOLDER...
 */
#include "../every.h"
#include "ir/arith/equal.h"
#include "ir/cpu.h"
#include "ir/tree/print.h"
#include "ir/tree/verify.h"
#include "parser/program.h"
#include "passes/replay/replay.h"
#include "passes/rules/rules.h"
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
  const char *text = tirc_trace_python(c, t, false, DIALECT_TIR);
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

/* The sizes of a line `# with -D M=16 -D N=64`. */
static int read_sizes(Tirc *c, const char *line, int most, Define *out) {
  int n = 0;
  for (const char *end = line + strcspn(line, "\n"); n < most; n++) {
    const char *at = strstr(line, "-D ");
    if (!at || at > end) break;
    const size_t name = strcspn(at += 3, "="), value = strcspn(at, " \n") - name - 1;
    out[n] = (Define){tirc_strndup(c, at, name), tirc_strndup(c, at + name + 1, value)};
    line = at + name + 1 + value;
  }
  return n;
}

static void check_program(Tally *t, Tirc *c, const Source *source, const char *target,
                          const char *sizes) {
  Define defines[8];
  const Module *m = tirc_parse_module(c, source, read_sizes(c, sizes, 8, defines), defines);
  tirc_verify(c, m);
  const SpaceOptions options = {.target = tirc_cpu_find(target)};
  const Space *sp = tirc_space_new(c, m, &options);
  Sched *automatic = tirc_space_schedule(sp, c);
  tirc_auto_schedule(automatic, NULL, &options.limits, NULL, NULL, NULL, NULL);
  const char *name =
      tirc_format(c, "%s for %s, %.*s", source->name, target, (int)strcspn(sizes, "\n"), sizes);
  t->programs++;
  if (tirc_space_takes(sp, 0, AUTOMATIC)) compare(t, c, sp, automatic, AUTOMATIC, name);
  if (!is_product(automatic->trace)) return;
  t->drawn++;
  compare(t, c, sp, automatic, PRODUCTS, name);
}

/* As it is, or with the sizes of its n-th line that has some; whether there is one. */
static bool check_sizes(Tally *t, const char *path, const char *target, int n) {
  static const char with[] = "\n# with ";
  Tirc *c = tirc_context_new();
  volatile bool any = n == 0;
  Trap trap;
  if (!c) abort();
  if (TIRC_TRY(c, trap)) {
    const Source source = tirc_read_source(c, path);
    const char *at = strstr(source.text, with);
    for (int i = 1; at && i < n; i++) at = strstr(at + 1, with);
    any |= at != NULL;
    if (any) check_program(t, c, &source, target, n && at ? at + 1 : "");
    TIRC_END(c, trap);
  } else {
    printf("%s: %s\n", path, c->diag.message);
    t->failures++;
  }
  tirc_context_release(c);
  return any;
}

static void check_file(Tally *t, const char *path, const char *target) {
  for (int n = 0; check_sizes(t, path, target, n); n++) {
  }
}

static int is_program(const struct dirent *e) {
  const size_t n = strlen(e->d_name);
  return n > 4 && !strcmp(e->d_name + n - 4, ".tir");
}

int main(int argc, char **argv) {
  const int step = tirc_test_every();
  Tally t = {0};
  for (int i = 1; i < argc; i++) {
    struct dirent **entries;
    const int n = scandir(argv[i], &entries, is_program, alphasort);
    for (int k = 0; k < n; k++) {
      if (k % step != 0) {
        free(entries[k]);
        continue;
      }
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
