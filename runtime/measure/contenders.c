/* Measuring contenders: prepared, checked, timed in turns, released. */
#include "check.h"
#include "ir/number.h"
#include "statistics.h"
#include "turns.h"

#include <math.h>
#include <stdlib.h>

struct tirc_measurement {
  int n;
  tirc_figures *figures;
  tirc_conditions conditions;
};

static int run_launch(void *launch) { return tirc_launch_run(launch); }
static double seconds_of_launch(void *launch) { return tirc_launch_seconds(launch); }

/* While it is timed the arrays of a launch stay on its device. */
static void stay(const tirc_contender *k, bool stays) {
  if (k->call == run_launch) (void)tirc_launch_stay(k->self, stays);
}

tirc_contender tirc_launch_contender(const char *name, tirc_launch *launch) {
  return (tirc_contender){
      .name = name, .self = launch, .call = run_launch, .seconds = seconds_of_launch};
}

/* --- the check -------------------------------------------------------------------------------- */

/* The written arrays of a contender, as they were when measuring began. */
typedef struct Start {
  const tirc_contender *of;
  char **bytes; /* [param]; NULL: it is not written */
  bool back;    /* they are put back, not kept */
} Start;

static void keep_start(Tirc *c, void *self) {
  Start *s = self;
  const tirc_contender *k = s->of;
  const Argument *a = tirc_api_arguments(c, tirc_reference_function(k->reference), k->n, k->args);
  for (int i = 0; i < k->n; i++) {
    if (!tirc_reference_writes(k->reference, i)) continue;
    if (s->back)
      memcpy(a[i].tensor->data, s->bytes[i], a[i].tensor->bytes);
    else
      s->bytes[i] = tirc_api_copy(c, a[i].tensor->data, a[i].tensor->bytes);
  }
}

static void free_start(Start *s) {
  for (int i = 0; s->bytes && i < s->of->n; i++) free(s->bytes[i]);
  free(s->bytes);
}

static void fail(tirc_figures *f, DiagCode code, const char *message) {
  f->code = strdup(tirc_codes[code].text);
  f->message = strdup(message);
}

static void judge(tirc_figures *f, const tirc_check *c) {
  char text[240];
  if (c->ok) return;
  if (!c->wrong) {
    tirc_snprintf(text, sizeof text,
                  "%lld of %lld elements hang on an address or a branch that rounding decides, or "
                  "have no bounds",
                  (long long)c->undecided, (long long)c->elements);
    fail(f, CODE_UNCHECKED, text);
    return;
  }
  tirc_snprintf(text, sizeof text, "\"%s\" element %lld is %.9g, should be %.9g",
                c->param ? c->param : "?", (long long)c->at, c->got, c->expected);
  fail(f, CODE_WRONG_RESULT, text);
}

static tirc_status check(Start *start, tirc_figures *f, tirc_error **error) {
  const tirc_contender *k = start->of;
  tirc_check c = {.ok = true};
  start->back = true;
  tirc_status status = tirc_api_scratch(keep_start, start, NULL, error);
  if (status != TIRC_OK) return status;
  if (k->call(k->self)) {
    fail(f, CODE_FAILED, "its first call reported a failure");
    return TIRC_OK;
  }
  status = tirc_reference_check(k->reference, k->n, k->args, &c, error);
  if (status == TIRC_OK) judge(f, &c);
  return status;
}

/* --- from start to end ------------------------------------------------------------------------ */

static tirc_status keep_starts(int n, const tirc_contender *at, Start *starts, tirc_error **error) {
  tirc_status status = TIRC_OK;
  for (int i = 0; i < n && status == TIRC_OK; i++) {
    starts[i] = (Start){.of = &at[i]};
    if (!at[i].reference) continue;
    NEED(LIST(at[i].n, at[i].args));
    starts[i].bytes = calloc((size_t)at[i].n + 1, sizeof *starts[i].bytes);
    status = starts[i].bytes ? tirc_api_scratch(keep_start, &starts[i], NULL, error)
                             : tirc_api_no_memory(error);
  }
  return status;
}

static tirc_status measure(tirc_measurement *m, const tirc_contender *at, Start *starts,
                           const tirc_measure_options *options, tirc_error **error) {
  tirc_figures **figures = calloc((size_t)m->n + 1, sizeof *figures);
  bool *prepared = calloc((size_t)m->n + 1, sizeof *prepared);
  tirc_status status =
      figures && prepared ? keep_starts(m->n, at, starts, error) : tirc_api_no_memory(error);
  for (int i = 0; i < m->n && status == TIRC_OK; i++) {
    tirc_figures *f = figures[i] = &m->figures[i];
    prepared[i] = true;
    if (at[i].prepare && at[i].prepare(at[i].self))
      fail(f, CODE_LEFT_OUT, "it cannot be prepared");
    else if (at[i].reference)
      status = check(&starts[i], f, error);
    stay(&at[i], true);
  }
  const TurnPlan plan = {
      .n = m->n, .at = at, .options = options ? *options : (tirc_measure_options){0}};
  if (status == TIRC_OK) tirc_take_turns(&plan, figures, &m->conditions);
  for (int i = 0; prepared && i < m->n; i++) {
    if (prepared[i]) stay(&at[i], false);
    if (prepared[i] && at[i].release) at[i].release(at[i].self);
  }
  free(figures);
  free(prepared);
  return status;
}

tirc_status tirc_measure(int n, const tirc_contender *contenders,
                         const tirc_measure_options *options, tirc_measurement **out,
                         tirc_error **error) {
  const tirc_measure_options none = {0}, *o = options ? options : &none;
  NEED(LIST(n, contenders), COUNT(o->turns), COUNT(o->attempts), COUNT(o->cores), out);
  for (int i = 0; i < n; i++) NEED((const void *)(uintptr_t)contenders[i].call);
  tirc_measurement *m = calloc(1, sizeof *m);
  Start *starts = calloc((size_t)n + 1, sizeof *starts);
  if (m) *m = (tirc_measurement){.n = n, .figures = calloc((size_t)n + 1, sizeof *m->figures)};
  tirc_status status = m && m->figures && starts ? measure(m, contenders, starts, options, error)
                                                 : tirc_api_no_memory(error);
  for (int i = 0; starts && i < n; i++)
    if (starts[i].of) free_start(&starts[i]);
  free(starts);
  if (status == TIRC_OK)
    *out = m;
  else
    tirc_measurement_free(m);
  return status;
}

void tirc_measurement_free(tirc_measurement *m) {
  for (int i = 0; m && m->figures && i < m->n; i++) tirc_figures_clear(&m->figures[i]);
  if (m) free(m->figures);
  free(m);
}

const tirc_figures *tirc_measurement_figures(const tirc_measurement *m, int i) {
  return m && i >= 0 && i < m->n ? &m->figures[i] : NULL;
}

const tirc_conditions *tirc_measurement_conditions(const tirc_measurement *m) {
  return m ? &m->conditions : NULL;
}
