/* `tirc tune MODEL`: each distinct function of a model is a program to tune, whose time counts as
 * often as the model calls it. What is found is that function's record, for --tuned of any model.
 */
#include "tune_model.h"
#include "tools/kit/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Counting {
  ModelTasks *t;
  const tirc_module *functions;
  tirc_error *error;
  bool out_of_memory;
} Counting;

/* A function that computes what one before it does is the same task. */
static void add_task(ModelTasks *t, const char *name, char *hash, tirc_module *alone, int calls) {
  for (int i = 0; i < t->n; i++)
    if (strcmp(t->at[i].hash, hash) == 0) {
      t->at[i].calls += calls;
      tirc_string_free(hash);
      tirc_module_free(alone);
      return;
    }
  *one_more(t->at, t->n) = (ModelTask){tirc_strdup(memory, name), hash, alone, calls};
}

static void count(void *self, const char *name, int calls) {
  Counting *k = self;
  tirc_module *alone = NULL;
  char *hash = NULL;
  if (k->error) return;
  if (tirc_module_alone(k->functions, name, "main", &alone, &k->error)) return;
  if (tirc_module_hash(alone, &hash, &k->error)) {
    tirc_module_free(alone);
    return;
  }
  add_task(k->t, name, hash, alone, calls);
}

/* Code is measured for sizes that are numbers. */
static int check_sizes(const Making *o, const ModelTasks *t) {
  const List *args = &o->from.args;
  for (int i = 0; i < t->n; i++) {
    const tirc_symbol *symbols;
    tirc_error *e = NULL;
    int n;
    if (tirc_module_symbols(t->at[i].module, NULL, &n, &symbols, &e)) return report(e);
    if (!n) continue;
    char *hint = tirc_format(memory, "give it a size, as in -D %.80s=8", symbols[0].name);
    return complain(hint, "%s of the model %s: \"%s\" has no value", t->at[i].name, args->at[0],
                    symbols[0].name);
  }
  return t->n ? DONE : complain(NULL, "the model '%s' calls no function", args->at[0]);
}

/* --range may name them: functions take them by these names. */
static void list_inputs(const tirc_module *model, ModelTasks *t) {
  while (tirc_module_input(model, t->n_inputs)) t->n_inputs++;
  t->inputs = tirc_alloc_array(memory, (size_t)t->n_inputs + 1, sizeof *t->inputs);
  for (int i = 0; i < t->n_inputs; i++)
    t->inputs[i] = tirc_strdup(memory, tirc_module_input(model, i));
}

static tirc_input_range range_of(const char *name, const tirc_array *a) {
  tirc_input_range r = {name, (double)INFINITY, -(double)INFINITY};
  for (int64_t i = 0; i < tirc_array_count(a); i++) {
    r.low = fmin(r.low, tirc_array_get(a, i));
    r.high = fmax(r.high, tirc_array_get(a, i));
  }
  return r;
}

/* Integers of --test-data say what such inputs are like. */
static int take_test_ranges(const Making *o, const tirc_module *model, ModelTasks *t) {
  TestArrays given = {0};
  if (!o->from.test_data || !is_onnx(o->from.args.at[0])) return DONE;
  int status = read_test_arrays(&o->from, "input", &given);
  t->ranges = tirc_alloc_array(memory, (size_t)given.n + 1, sizeof *t->ranges);
  for (int i = 0; i < given.n && status == DONE; i++) {
    int param = -1;
    const char *type = given.at[i] ? tirc_array_dtype(given.at[i]) : "";
    if (!tirc_import_input(model, i, &param) || param < 0 || param >= t->n_inputs) continue;
    if (!strstr(type, "int") || !tirc_array_count(given.at[i])) continue;
    t->ranges[t->n_ranges++] = range_of(t->inputs[param], given.at[i]);
  }
  free_test_arrays(&given);
  return status;
}

int find_model_tasks(const Making *o, const tirc_module *model, ModelTasks *t) {
  tirc_module *functions = NULL;
  list_inputs(model, t);
  int status = take_test_ranges(o, model, t);
  if (status == DONE) status = run_phases(o, model, "cleanup", &functions);
  if (status != DONE) return status;
  Counting k = {.t = t, .functions = functions};
  tirc_error *e = NULL;
  const tirc_status told = tirc_module_run_calls(functions, count, &k, &e);
  tirc_module_free(functions);
  if (told) return report(e);
  if (k.error) return report(k.error);
  return check_sizes(o, t);
}

void free_model_tasks(ModelTasks *t) {
  for (int i = 0; i < t->n; i++) {
    tirc_string_free(t->at[i].hash);
    tirc_module_free(t->at[i].module);
  }
  *t = (ModelTasks){0};
}

void show_model_tasks(const ModelTasks *t) {
  int width = 0;
  for (int i = 0; i < t->n; i++)
    if ((int)strlen(t->at[i].name) > width) width = (int)strlen(t->at[i].name);
  for (int i = 0; i < t->n; i++)
    printf("%-*s  %d call%s\n", width, t->at[i].name, t->at[i].calls, plural(t->at[i].calls));
}
