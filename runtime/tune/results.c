/* What a search gives back, and what is said of it beside. */
#include "parts.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Callers get `at`; what came later than that struct stands before it. */
typedef struct Results {
  int n;
  double *loads;
  tirc_tune_loss *losses; /* way NULL: none */
  tirc_tune_result at[];
} Results;

static Results *results_of(const tirc_tune_result *results) {
  return (Results *)(void *)((char *)(uintptr_t)results - offsetof(Results, at));
}

tirc_tune_result *tirc_tune_results_new(int n) {
  Results *r = calloc(1, sizeof *r + ((size_t)n + 1) * sizeof *r->at);
  double *loads = calloc((size_t)n + 1, sizeof *loads);
  tirc_tune_loss *losses = calloc((size_t)n + 1, sizeof *losses);
  if (!r || !loads || !losses) {
    free(r);
    free(loads);
    free(losses);
    return NULL;
  }
  r->n = n;
  r->loads = loads;
  r->losses = losses;
  return r->at;
}

void tirc_tuning_tell_load(const Tuning *t) {
  for (int i = 0; i < t->n; i++) {
    const Task *task = &t->tasks[i];
    const double usual = task->loaded ? task->loads / (double)task->loaded : 0;
    results_of(t->results)->loads[i] = fmax(usual, task->load);
  }
}

double tirc_tune_load(const tirc_tune_result *results, int i) {
  const Results *r = results ? results_of(results) : NULL;
  return r && i >= 0 && i < r->n ? r->loads[i] : 0;
}

void tirc_tuning_tell_loss(const Tuning *t, const Task *task, const tirc_tune_loss *loss) {
  tirc_tune_loss *to = &results_of(t->results)->losses[task->number];
  *to = *loss;
  to->way = strdup(loss->way ? loss->way : "");
}

bool tirc_tune_lost(const tirc_tune_result *results, int i, tirc_tune_loss *out) {
  const Results *r = results ? results_of(results) : NULL;
  if (!r || !out || i < 0 || i >= r->n || !r->losses[i].way) return false;
  *out = r->losses[i];
  return true;
}

void tirc_tune_results_free(int n, tirc_tune_result *results) {
  for (int i = 0; results && i < n; i++) {
    tirc_module_free(results[i].module);
    for (int k = 0; k < results[i].n_failures; k++) {
      free((char *)(uintptr_t)results[i].failures[k].code);
      free((char *)(uintptr_t)results[i].failures[k].message);
    }
    free((tirc_tune_failure *)(uintptr_t)results[i].failures);
    free((char *)(uintptr_t)results[i].way);
  }
  if (!results) return;
  for (int i = 0; i < results_of(results)->n; i++)
    free((char *)(uintptr_t)results_of(results)->losses[i].way);
  free(results_of(results)->losses);
  free(results_of(results)->loads);
  free(results_of(results));
}
