/* `tirc tune MODEL`: each distinct function of a model is a program to tune, whose time counts as
 * often as the model calls it. What is found is that function's record, for --tuned of any model.
 */
#include "tune_model.h"
#include "tools/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Counting {
  ModelTasks *t;
  const tirc_module *functions;
  tirc_error *error;
  bool out_of_memory;
} Counting;

/* A function that computes what one before it does is the same task. */
static int add_task(ModelTasks *t, const char *name, char *hash, tirc_module *alone, int calls) {
  for (int i = 0; i < t->n; i++)
    if (strcmp(t->at[i].hash, hash) == 0) {
      t->at[i].calls += calls;
      tirc_string_free(hash);
      tirc_module_free(alone);
      return DONE;
    }
  ModelTask *grown = realloc(t->at, (size_t)(t->n + 1) * sizeof *grown);
  if (grown) t->at = grown;
  char *kept = grown ? strdup(name) : NULL;
  if (!kept) {
    tirc_string_free(hash);
    tirc_module_free(alone);
    return BAD;
  }
  t->at[t->n++] = (ModelTask){kept, hash, alone, calls};
  return DONE;
}

static void count(void *self, const char *name, int calls) {
  Counting *k = self;
  tirc_module *alone = NULL;
  char *hash = NULL;
  bool is_function = false;
  for (int i = 0; i < tirc_module_functions(k->functions); i++)
    is_function |= strcmp(tirc_module_function(k->functions, i), name) == 0;
  if (!is_function || k->error || k->out_of_memory) return;
  if (tirc_module_alone(k->functions, name, "main", &alone, &k->error)) return;
  if (tirc_module_hash(alone, &hash, &k->error)) {
    tirc_module_free(alone);
    return;
  }
  k->out_of_memory = add_task(k->t, name, hash, alone, calls) != DONE;
}

/* Code is measured for sizes that are numbers. */
static int check_sizes(const Options *o, const ModelTasks *t) {
  for (int i = 0; i < t->n; i++) {
    const tirc_symbol *symbols;
    tirc_error *e = NULL;
    int n;
    if (tirc_module_symbols(t->at[i].module, NULL, &n, &symbols, &e)) return report(o, e);
    if (!n) continue;
    char hint[128];
    snprintf(hint, sizeof hint, "give it a size, as in -D %.80s=8", symbols[0].name);
    return complain(o, hint, "%s of the model %s: \"%s\" has no value", t->at[i].name,
                    o->args.at[0], symbols[0].name);
  }
  return t->n ? DONE : complain(o, NULL, "the model '%s' calls no function", o->args.at[0]);
}

int find_model_tasks(const Options *o, const tirc_module *model, ModelTasks *t) {
  tirc_module *functions = NULL;
  const int status = run_phases(o, model, "cleanup", &functions);
  if (status != DONE) return status;
  Counting k = {.t = t, .functions = functions};
  tirc_error *e = NULL;
  const tirc_status told = tirc_module_operators(functions, count, &k, &e);
  tirc_module_free(functions);
  if (told) return report(o, e);
  if (k.error) return report(o, k.error);
  if (k.out_of_memory) return complain(o, NULL, "out of memory");
  return check_sizes(o, t);
}

void free_model_tasks(ModelTasks *t) {
  for (int i = 0; i < t->n; i++) {
    free(t->at[i].name);
    tirc_string_free(t->at[i].hash);
    tirc_module_free(t->at[i].module);
  }
  free(t->at);
  *t = (ModelTasks){0};
}

void show_model_tasks(const ModelTasks *t) {
  int width = 0;
  for (int i = 0; i < t->n; i++)
    if ((int)strlen(t->at[i].name) > width) width = (int)strlen(t->at[i].name);
  for (int i = 0; i < t->n; i++)
    printf("%-*s  %d call%s\n", width, t->at[i].name, t->at[i].calls,
           t->at[i].calls == 1 ? "" : "s");
}
