/* The functions of a model, as programs to tune. */
#ifndef TIRC_TOOLS_TUNE_MODEL_H
#define TIRC_TOOLS_TUNE_MODEL_H

#include "tools/kit/kit.h"

typedef struct ModelTask {
  char *name, *hash;
  tirc_module *module; /* the function alone */
  int calls;           /* a run of the model */
} ModelTask;
typedef struct ModelTasks {
  int n;
  ModelTask *at;
  int n_inputs; /* of the model */
  char **inputs;
  int n_ranges; /* what integers of --test-data are between */
  tirc_input_range *ranges;
} ModelTasks;

/* DONE, or the exit status after the error was reported; to be freed either way. */
int find_model_tasks(const Making *o, const tirc_module *model, ModelTasks *t);
void free_model_tasks(ModelTasks *t);
/* --show-tasks */
void show_model_tasks(const ModelTasks *t);

#endif
