/* Traces as lists of instructions. See trace.h. */
#include "trace.h"
#include "recorded_map.h"

/* --- instructions ----------------------------------------------------------------------------- */

/* Where a parameter's value goes when it is a list: its items are arguments of the instruction. */
static bool is_spread(const Param *p) { return p->kind == PARAM_LOOPS || p->kind == PARAM_FACTORS; }

int tirc_decision_index(const Primitive *p) {
  for (int i = 0; i < p->n_params; i++)
    if (tirc_is_decision(&p->params[i])) return i;
  return -1;
}

const Value *tirc_instruction_decision(const Instruction *inst) {
  int i = tirc_decision_index(inst->p);
  return i < 0 ? NULL : &inst->args[i];
}

void tirc_instruction_inputs(Tirc *c, const Instruction *inst, Value list) {
  for (int i = 0; i < inst->p->n_params; i++) {
    const Param *p = &inst->p->params[i];
    const Value v = inst->args[i];
    if (!tirc_is_input(inst->p, p)) continue;
    if (p->kind == PARAM_ACCESS && v.kind == VAL_STR)
      tirc_value_append(c, list, tirc_value_int(!strcmp(v.u.s, "write")));
    else if (p->kind == PARAM_FUNCTION)
      tirc_value_append(c, list, tirc_recorded_bounds(c, v));
    else if (!is_spread(p))
      tirc_value_append(c, list, v);
    else
      for (int k = 0; k < inst->args[i].u.list->n; k++)
        tirc_value_append(c, list, inst->args[i].u.list->at[k]);
  }
}

void tirc_instruction_attrs(Tirc *c, const Instruction *inst, Value list) {
  for (int i = 0; i < inst->p->n_params; i++) {
    const Param *p = &inst->p->params[i];
    const Value v = inst->args[i];
    if (tirc_is_input(inst->p, p) || tirc_is_decision(p)) continue;
    if (p->kind == PARAM_BUFFER && v.kind == VAL_TUPLE) { /* its index, and 0 or 1: read or write */
      tirc_value_append(c, list, v.u.list->at[1]);
      tirc_value_append(c, list, tirc_value_int(!strcmp(v.u.list->at[0].u.s, "write")));
    } else {
      tirc_value_append(c, list, v);
    }
  }
}

int tirc_instruction_outputs(const Instruction *inst, const Value **out) {
  bool list = inst->result.kind == VAL_LIST;
  *out = list ? inst->result.u.list->at : &inst->result;
  return list ? inst->result.u.list->n : inst->result.rv ? 1 : 0;
}

/* --- appending -------------------------------------------------------------------------------- */

Trace *tirc_trace_new(Tirc *c) { return tirc_new(c, Trace); }

static void add(Tirc *c, Trace *t, const Instruction *inst) {
  const Value *outputs;
  const int n = tirc_instruction_outputs(inst, &outputs);
  vec_push(c, *t, inst);
  for (int i = 0; i < n; i++) tirc_map_set(c, &t->known, (void *)(uintptr_t)outputs[i].rv, t);
}

static const Instruction *take_last(Trace *t) {
  const Value *outputs;
  const Instruction *last = t->at[--t->n];
  const int n = tirc_instruction_outputs(last, &outputs);
  for (int i = 0; i < n; i++) tirc_map_remove(&t->known, (void *)(uintptr_t)outputs[i].rv);
  return last;
}

static void push(Tirc *c, Trace *t, const Instruction *inst) {
  add(c, t, inst);
  vec_push(c, t->changes, (TraceChange){0});
}

void tirc_trace_append(Tirc *c, Trace *t, const Instruction *inst) {
  Instruction *kept = tirc_copy(c, inst, 1);
  push(c, t, kept);
}

const Instruction *tirc_trace_pop(Tirc *c, Trace *t) {
  if (!t->n) return NULL;
  const TraceChange change = {.popped = t->at[t->n - 1]};
  vec_push(c, t->changes, change);
  return take_last(t);
}

void tirc_trace_name(Tirc *c, Trace *t, const void *key, uint32_t rv) {
  const TraceChange change = {.key = key, .was = tirc_map_get(&t->latest, key)};
  vec_push(c, t->changes, change);
  tirc_map_set(c, &t->latest, key, (void *)(uintptr_t)rv);
}

int tirc_trace_mark(const Trace *t) { return t->changes.n; }

void tirc_trace_undo(Tirc *c, Trace *t, int mark) {
  while (t->changes.n > mark) {
    const TraceChange *change = &t->changes.at[--t->changes.n];
    if (change->popped)
      add(c, t, change->popped);
    else if (!change->key)
      take_last(t);
    else if (change->was)
      tirc_map_set(c, &t->latest, change->key, change->was);
    else
      tirc_map_remove(&t->latest, change->key);
  }
}

/* --- traces as values ------------------------------------------------------------------------- */

Trace *tirc_trace_copy(Tirc *c, const Trace *t) {
  Trace *copy = tirc_new(c, Trace);
  copy->next_rv = t->next_rv;
  for (int i = 0; i < t->n; i++) push(c, copy, t->at[i]);
  copy->latest = tirc_map_copy(c, &t->latest);
  return copy;
}

int tirc_trace_length(const Trace *t, bool remove_postproc) {
  int n = 0;
  while (n < t->n && !(remove_postproc && t->at[n]->p->flags & INST_POSTPROC)) n++;
  return n;
}

static void mark_used(Tirc *c, PtrMap *used, Value v) {
  if (v.rv) tirc_map_set(c, used, (void *)(uintptr_t)v.rv, used);
  if (!tirc_is_container(v)) return;
  for (int i = 0; i < v.u.list->n; i++) mark_used(c, used, v.u.list->at[i]);
}

static bool is_dead(const Instruction *inst, const PtrMap *used, bool keep_decisions) {
  const Value *outputs;
  if (keep_decisions && tirc_instruction_decision(inst)) return false;
  int n = tirc_instruction_outputs(inst, &outputs);
  if (!(inst->p->flags & INST_PURE)) return false;
  for (int i = 0; i < n; i++)
    if (tirc_map_has(used, (void *)(uintptr_t)outputs[i].rv)) return false;
  return true;
}

static Trace *simplified(Tirc *c, const Trace *t, int n, bool keep_decisions) {
  bool *kept = tirc_new_array(c, bool, n + 1);
  PtrMap used = {0};
  for (int i = n - 1; i >= 0; i--) {
    const Instruction *inst = t->at[i];
    kept[i] = !is_dead(inst, &used, keep_decisions);
    for (int k = 0; kept[i] && k < inst->p->n_params; k++) mark_used(c, &used, inst->args[k]);
  }
  Trace *out = tirc_new(c, Trace);
  out->next_rv = t->next_rv;
  for (int i = 0; i < n; i++)
    if (kept[i]) push(c, out, t->at[i]);
  return out;
}

Trace *tirc_trace_simplified(Tirc *c, const Trace *t, bool remove_postproc) {
  return simplified(c, t, tirc_trace_length(t, remove_postproc), false);
}

Trace *tirc_trace_with_decisions(Tirc *c, const Trace *t) { return simplified(c, t, t->n, true); }

const Value *tirc_arguments_with(Tirc *c, const Instruction *inst, Value decision) {
  const int at = tirc_decision_index(inst->p);
  Value *args = tirc_copy(c, inst->args, inst->p->n_params);
  if (at >= 0) args[at] = decision;
  return args;
}

Trace *tirc_trace_with_decision(Tirc *c, const Trace *t, int index, Value decision) {
  Trace *out = tirc_trace_copy(c, t);
  Instruction *inst = tirc_copy(c, t->at[index], 1);
  inst->args = tirc_arguments_with(c, inst, decision);
  out->at[index] = inst;
  return out;
}

static uint32_t first_output(const Instruction *inst) {
  const Value *outputs;
  return tirc_instruction_outputs(inst, &outputs) ? outputs[0].rv : 0;
}

int tirc_trace_find(const Trace *t, const Instruction *inst) {
  for (int i = 0; i < t->n; i++)
    if (t->at[i] == inst || (t->at[i]->p == inst->p && first_output(inst) &&
                             first_output(inst) == first_output(t->at[i])))
      return i;
  return -1;
}

void tirc_trace_push(Tirc *c, Trace *t, const Instruction *inst, Value decision) {
  const Value *own = tirc_instruction_decision(inst);
  if (own && (own->kind != VAL_NONE || decision.kind != VAL_NONE)) {
    Instruction with = *inst;
    with.args = tirc_arguments_with(c, inst, decision);
    tirc_trace_append(c, t, &with);
  } else {
    push(c, t, inst);
  }
}
