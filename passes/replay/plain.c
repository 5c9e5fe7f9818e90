/* A trace without its sampling calls. It is applied, and each of these is forgotten when it is
 * done: numbers are then mere numbers, and loops are looked up by what stands around their blocks,
 * as everything is that no instruction of a trace gave. */
#include "replay.h"

static bool forget_drawn(const Sched *s) {
  Trace *t = s->trace;
  const Instruction *last = t->n ? t->at[t->n - 1] : NULL;
  if (!last || !tirc_instruction_decision(last)) return false;
  tirc_trace_pop(s->c, t);
  return true;
}

static Value decide(void *self, const Instruction *inst, Value inputs, Value attrs,
                    Value decision) {
  const Sched *s = self;
  (void)inst, (void)inputs, (void)attrs;
  forget_drawn(s);
  return decision;
}

/* A block that was to stay where it is, or to be inlined, is moved nowhere. */
static Trace *without_marks(Sched *s, const Trace *t) {
  Trace *out = tirc_trace_new(s->c);
  out->next_rv = t->next_rv;
  for (int i = 0; i < t->n; i++) {
    const Instruction *inst = t->at[i];
    const bool moves = inst->p->n_params > 1 && inst->args[1].kind == VAL_LOOP;
    const Expr at = moves ? inst->args[1].u.expr : NULL;
    const bool reverse = !strncmp(inst->p->name, "reverse", 7);
    Instruction inlined = {
        .p = tirc_find_primitive(reverse ? "reverse_compute_inline" : "compute_inline"),
        .args = inst->args,
        .rule = inst->rule,
        .reason = inst->reason};
    if (at && at == s->inline_mark)
      tirc_trace_append(s->c, out, &inlined);
    else if (!at || at != s->root_mark)
      tirc_trace_push(s->c, out, inst, VALUE_NONE);
  }
  return out;
}

Trace *tirc_trace_plain(Sched *s, const Trace *t) {
  const DecisionProvider asked = {decide, s};
  tirc_trace_apply(s, t, false, &asked, (Loc){0}, "the trace");
  forget_drawn(s);
  return tirc_trace_simplified(s->c, without_marks(s, s->trace), false);
}
