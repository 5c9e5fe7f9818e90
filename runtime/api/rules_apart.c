/* Rules leave behind a hundred times what they give, of each function that they schedule. So a few
 * functions at a time are scheduled in a context of their own, which goes when the results have
 * been copied: what a model of many functions needs while it is made is that of these few. */
#include "rules_apart.h"

#include "ir/tree/copy.h"
#include "passes/rules/rules.h"

const Module *tirc_module_of_some(Tirc *c, const Module *m, int first, int n) {
  Module *to = tirc_copy(c, m, 1);
  to->c = c;
  to->n_funcs = n < m->n_funcs - first ? n : m->n_funcs - first;
  to->funcs = tirc_copy(c, m->funcs + first, to->n_funcs);
  to->n_graphs = 0;
  return to;
}

typedef struct Some {
  Tirc *c;
  const Module *m;
  const RulesApart *r;
  int first;       /* of RULED_TOGETHER */
  const Func **to; /* in c */
} Some;

static void schedule_some(Tirc *apart, void *self) {
  const Some *k = self;
  const RulesApart *r = k->r;
  const tirc_auto_options *rules = r->rules;
  const Module *m = tirc_module_of_some(apart, k->m, k->first, RULED_TOGETHER);
  tirc_module *plain = tirc_api_module(apart, m, r->sources);
  Sched *s = tirc_api_schedule(apart, plain, r->options);
  const ScriptLimits limits = {.steps = r->options->max_steps};
  const RuleListener listener = {rules ? rules->tried : NULL, rules ? rules->self : NULL};
  tirc_auto_schedule(s, rules ? rules->rules : NULL, &limits, r->out, NULL,
                     (void *)(uintptr_t)r->options, listener.tried ? &listener : NULL);
  for (int i = 0; i < m->n_funcs; i++)
    k->to[i] = tirc_func_copy(k->c, apart, s->mod->funcs[i], 0, NULL);
}

const Module *tirc_schedule_by_rules(Tirc *c, const Module *m, const RulesApart *r) {
  Module *out = tirc_copy(c, m, 1);
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs);
  for (int i = 0; i < m->n_funcs; i += RULED_TOGETHER) {
    Some some = {c, m, r, i, funcs + i};
    tirc_api_apart(c, schedule_some, &some);
  }
  tirc_context_depend(c, m->c);
  out->c = c;
  out->funcs = funcs;
  return out;
}
