/* The numbers behind a refusal: where a call is refused since it would change what is computed, it
 * is carried out all the same, on a small instance of the program, and run by the interpreter; an
 * element that differs for certain from what the program computes is told. Calls that cannot be
 * carried out, and those that do no harm to these arrays, have no such numbers. */
#include "next.h"

#include <string.h>

enum { MOST_CONSTANTS = 16, MOST_STEPS = 400000 };

typedef struct Small {
  NextQuestion ask; /* of the small program */
  tirc_module *program;
  Session session;
  int n;
  tirc_argument *args;
  const tirc_param *params;
  tirc_reference *expected;
  char *sizes; /* "M = 8, N = 8", or "" */
} Small;

/* The program with each constant at most `most`; whether one is smaller for it. */
static bool shrink(const NextQuestion *ask, int64_t most, Small *out) {
  tirc_define defines[MOST_CONSTANTS];
  const char *name;
  int64_t value;
  bool is_int, smaller = false;
  int n = 0;
  size_t size = 0;
  FILE *f = begin_text(&out->sizes, &size);
  for (int i = 0;
       n < MOST_CONSTANTS && tirc_module_constant(ask->program, i, &name, &value, &is_int); i++) {
    if (!is_int) continue;
    const int64_t now = value < most ? value : most;
    if (now < value) fprintf(f, "%s%s = %lld", smaller ? ", " : "", name, (long long)now);
    smaller |= now < value;
    defines[n++] = (tirc_define){name, tirc_format(memory, "%lld", (long long)now)};
  }
  (void)end_text(f, &out->sizes);
  return smaller && tirc_module_parse(ask->text, strlen(ask->text), "program", n, defines,
                                      &out->program, NULL) == TIRC_OK;
}

static void end_small(Small *k) {
  if (k->args) free_arguments(k->n, k->args);
  tirc_reference_free(k->expected);
  tirc_schedule_free(k->session.s);
  tirc_module_free(k->program);
}

/* Whole numbers are easier to compare for a reader. */
static void fill_with_integers(const Small *k) {
  for (int i = 0; i < k->n; i++) {
    tirc_array *a = k->args[i].array;
    if (!a || !strstr(k->params[i].dtype, "float")) continue;
    for (int64_t at = 0; at < tirc_array_count(a); at++)
      tirc_array_set(a, at, (double)((at * 7 + i * 5 + at / 3) % 9 + 1));
  }
}

/* Whether the script runs on the program, and what that computes is known. */
static bool begin_small(Small *k, const NextQuestion *ask) {
  const tirc_schedule_options options = {.target = ask->target, .max_steps = ask->max_steps};
  const tirc_reference_options limit = {.max_steps = MOST_STEPS};
  const List none = {0};
  k->ask = *ask;
  if (k->program) k->ask.program = k->program;
  if (begin_session(&k->ask, &options, &k->session, NULL) ||
      !small_arguments(k->ask.program, &none, &k->n, &k->args, NULL) ||
      tirc_module_params(k->ask.program, NULL, &k->n, &k->params, NULL))
    return false;
  fill_with_integers(k);
  return tirc_reference_new(k->ask.program, NULL, k->n, k->args, &limit, &k->expected, NULL) ==
         TIRC_OK;
}

/* "[2, 3]" */
static char *place_of(const tirc_array *a, int64_t at) {
  char *text = tirc_format(memory, "]");
  for (int d = tirc_array_ndim(a) - 1; d >= 0; d--) {
    const int64_t extent = tirc_array_shape(a)[d];
    text = tirc_format(memory, "%s%lld%s", d ? ", " : "[", (long long)(at % extent), text);
    at /= extent;
  }
  return text;
}

static const char *sentence(const Small *k, const tirc_check *c) {
  const tirc_array *a = NULL;
  for (int i = 0; i < k->n; i++)
    if (strcmp(k->params[i].name, c->param) == 0) a = k->args[i].array;
  if (!a) return NULL;
  return tirc_format(memory, "In an order that this would allow, %s%s is %g instead of %g%s%s%s.",
                     c->param, place_of(a, c->at), c->got, c->expected, *k->sizes ? " (with " : "",
                     k->sizes, *k->sizes ? ")" : "");
}

/* What the call makes wrong; NULL: nothing that is seen here. */
static const char *wrong_by(const Small *k, const char *text) {
  tirc_schedule *copy = copy_of(&k->session);
  tirc_module *m = NULL;
  tirc_check found = {.ok = true};
  tirc_argument *args = tirc_alloc_array(memory, (size_t)k->n + 1, sizeof *args);
  const bool ran =
      copy && args &&
      tirc_schedule_run_unchecked(copy, text, strlen(text), "<next>", NULL) == TIRC_OK &&
      tirc_schedule_module(copy, &m, NULL) == TIRC_OK && copy_arguments(k->n, k->args, args) &&
      tirc_module_interpret(m, NULL, k->n, args, MOST_STEPS, NULL) == TIRC_OK &&
      tirc_reference_check(k->expected, k->n, args, &found, NULL) == TIRC_OK;
  const char *text_of = ran && found.wrong && found.param ? sentence(k, &found) : NULL;
  if (args) free_arguments(k->n, args);
  tirc_module_free(m);
  tirc_schedule_free(copy);
  return text_of;
}

/* The smallest of these on which a refused call does harm; the program as it is comes last. */
void find_wrong(const NextQuestion *ask, Proposals *p) {
  static const int64_t most[] = {4, 8, 16, 32, 64, 0};
  bool found = false;
  for (size_t i = 0; i < sizeof most / sizeof *most && !found; i++) {
    Small k = {.sizes = ""};
    if (most[i] && !(ask->text && shrink(ask, most[i], &k))) continue;
    if (!most[i]) k.sizes = "";
    if (begin_small(&k, ask))
      for (int r = 0; r < p->n_refused; r++) {
        if (!p->refused[r].wrong) p->refused[r].wrong = wrong_by(&k, p->refused[r].text);
        found |= p->refused[r].wrong != NULL;
      }
    end_small(&k);
  }
}
