/* Weights that a graph makes of others: made once, and kept in their place. */
#include "weights.h"

#include "ir/tree/annotations.h"
#include "ir/tree/graph.h"
#include "passes/module/pipeline.h"

#include <stdlib.h>

typedef struct Splitting {
  const tirc_module *from;
  tirc_module *made, *rest;
  bool is_apart;
} Splitting;

static void split(Tirc *c, void *self) {
  Splitting *p = self;
  const Module *made, *rest;
  Sources sources = p->from->sources;
  tirc_context_depend(c, p->from->c);
  p->is_apart = tirc_weights_apart(tirc_passes_open(c, NULL), p->from->m, &made, &rest);
  if (!p->is_apart) return;
  p->made = tirc_api_module(c, made, &sources);
  p->rest = tirc_api_module(c, rest, &sources);
}

typedef struct Gathering {
  const Splitting *split;
  const tirc_weights *from;
  const tirc_module *signature; /* of the program that makes them */
  int n, first;                 /* its arguments, and the first that is a result */
  const tirc_param *params;
  const tirc_argument *args;
  tirc_weights *result;
} Gathering;

/* The last weights of the rest are the program's results, in their order. A copy of each: the
 * arrays go, and the file may. */
static void gather(Tirc *c, void *self) {
  Gathering *p = self;
  const Graph *g = tirc_module_main_graph(p->split->rest->m);
  StoredTensor *at = tirc_new_array(c, StoredTensor, g->n_params);
  int64_t inputs = 0;
  int n = 0;
  tirc_const_int(tirc_attrs_get(g->attrs, tirc_key(KEY_NUM_INPUT)), &inputs);
  for (int i = (int)inputs; i < g->n_params; i++) {
    const char *name = tirc_strdup(c, g->params[i]->name);
    const int made = i - (g->n_params - (p->n - p->first));
    const Tensor *t =
        made >= 0 ? p->args[p->first + made].array->t : tirc_weights_find(c, p->from, name);
    at[n] = (StoredTensor){name, *t};
    at[n].tensor.data = tirc_alloc(c, t->bytes + 1);
    memcpy(at[n++].tensor.data, t->data, t->bytes);
  }
  Safetensors *file = tirc_new(c, Safetensors);
  *file = (Safetensors){.c = c, .path = "weights that were made", .n = n, .at = at};
  p->result = tirc_new(c, tirc_weights);
  *p->result = (tirc_weights){c, file};
}

/* The program's arguments: weights by their names, and results. */
static tirc_status take_arguments(const tirc_module *signature, const tirc_weights *w, int first,
                                  int n, const tirc_param *params, tirc_argument *args,
                                  tirc_error **error) {
  tirc_status status = TIRC_OK;
  for (int i = 0; i < n && status == TIRC_OK; i++)
    status = i < first ? tirc_weights_array(w, params[i].name, &args[i].array, error)
                       : tirc_module_array(signature, NULL, n, args, 0, NULL, i, NULL,
                                           &args[i].array, error);
  return status;
}

static tirc_status make(const Splitting *s, const tirc_weights *w, int threads,
                        tirc_weights **weights, tirc_error **error) {
  const tirc_program_options native = {.target = "native"};
  tirc_program *program = NULL;
  tirc_executor *x = NULL;
  tirc_argument *args = NULL;
  Gathering g = {.split = s, .from = w};
  tirc_status status = tirc_program_new(s->made, &native, &program, error);
  if (status == TIRC_OK) status = tirc_executor_new(threads, &x, error);
  g.signature = tirc_program_signature(program);
  g.first = tirc_program_params(program);
  if (status == TIRC_OK) status = tirc_module_params(g.signature, NULL, &g.n, &g.params, error);
  if (status == TIRC_OK && !(args = calloc((size_t)g.n + 1, sizeof *args)))
    status = tirc_api_no_memory(error);
  g.args = args;
  if (status == TIRC_OK)
    status = take_arguments(g.signature, w, g.first, g.n, g.params, args, error);
  if (status == TIRC_OK) status = tirc_program_run(program, x, g.n, args, error);
  Tirc *c = status == TIRC_OK ? tirc_context_new() : NULL;
  if (status == TIRC_OK && !c) status = tirc_api_no_memory(error);
  if (c) status = tirc_api_guard(c, gather, &g, NULL, error);
  if (c && status != TIRC_OK) tirc_context_release(c);
  if (status == TIRC_OK) *weights = g.result;
  for (int i = 0; args && i < g.n; i++) tirc_array_free(args[i].array);
  free(args);
  tirc_executor_free(x);
  tirc_program_free(program);
  return status;
}

tirc_status tirc_module_make_weights(const tirc_module *m, const tirc_weights *w, int threads,
                                     tirc_module **module, tirc_weights **weights,
                                     tirc_error **error) {
  NEED(m, w, module, weights);
  Splitting s = {.from = m};
  *module = NULL;
  *weights = NULL;
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  tirc_status status = tirc_api_guard(c, split, &s, NULL, error);
  if (status == TIRC_OK && s.is_apart) status = make(&s, w, threads, weights, error);
  if (status == TIRC_OK && s.is_apart)
    *module = s.rest;
  else
    tirc_context_release(c);
  return status;
}
