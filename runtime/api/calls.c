/* What the graphs of a module call, and how often. */
#include "program.h"

#include "passes/module/pipeline.h"

typedef struct Counting {
  const tirc_module *m;
  void (*tell)(void *self, const char *name, int calls);
  void *self;
} Counting;

static void count_one(Tirc *c, StrMap *counts, const char *name) {
  void **at = tirc_strmap_at(c, counts, name);
  *at = (void *)((intptr_t)*at + 1);
}

static void tell_all(const Counting *k, const StrMap *counts) {
  for (int i = 0; i < counts->n; i++)
    k->tell(k->self, counts->at[i].key, (int)(intptr_t)counts->at[i].value);
}

/* --- what is written -------------------------------------------------------------------------- */

static void count_nodes(Tirc *c, void *self) {
  const Counting *k = self;
  const Module *m = k->m->m;
  StrMap counts = {0};
  for (int g = 0; g < m->n_graphs; g++)
    for (int b = 0; b < m->graphs[g]->n_blocks; b++)
      for (int i = 0; i < m->graphs[g]->blocks[b].n; i++) {
        const Node n = m->graphs[g]->blocks[b].at[i].value;
        if (n->kind == NODE_CALL || n->kind == NODE_CALL_TIR || n->kind == NODE_CALL_DPS ||
            n->kind == NODE_CALL_GRAPH)
          count_one(c, &counts, n->name);
      }
  tell_all(k, &counts);
}

tirc_status tirc_module_operators(const tirc_module *m,
                                  void (*tell)(void *self, const char *name, int calls), void *self,
                                  tirc_error **error) {
  NEED(m, tell);
  Counting k = {m, tell, self};
  return tirc_api_scratch(count_nodes, &k, &m->sources, error);
}

/* --- what a run calls ------------------------------------------------------------------------- */

static void count_planned(Tirc *c, void *self) {
  const Counting *k = self;
  Passes *passes = tirc_passes_open(c, NULL);
  const Plan *plan = tirc_plan(passes, tirc_infer(passes, k->m->m));
  StrMap counts = {0};
  for (int i = plan->n_prepare; i < plan->n_calls; i++)
    if (plan->calls[i].func) count_one(c, &counts, plan->calls[i].func->name);
  tell_all(k, &counts);
}

tirc_status tirc_module_run_calls(const tirc_module *m,
                                  void (*tell)(void *self, const char *name, int calls), void *self,
                                  tirc_error **error) {
  NEED(m, tell);
  Counting k = {m, tell, self};
  return tirc_api_scratch(count_planned, &k, &m->sources, error);
}
