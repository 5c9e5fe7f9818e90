/* Traces: recording what a schedule does, and traces as lists of instructions. See trace.h. */
#include "trace.h"
#include "ir/ascii.h"

#include "ir/tree/visit.h"
#include "passes/schedule/shape/core.h"
#include "passes/schedule/layout/layout.h"

#include <stdlib.h>

/* --- kinds of instructions ---------------------------------------------------------------------
 */

static const InstructionKind kinds[] = {
#define PURE INST_PURE
#define POSTPROC INST_POSTPROC
#define POSITIONAL INST_POSITIONAL
#define ALL_INPUTS INST_ALL_INPUTS
#define UNTRACED INST_UNTRACED
#define LISTED INST_LISTED
#define MAP_IS_ATTR INST_MAP_IS_ATTR
#define INSTRUCTION(primitive, name, flags) {#primitive, name, flags},
#include "passes/words/instructions.def"
#undef INSTRUCTION
#undef MAP_IS_ATTR
#undef LISTED
#undef UNTRACED
#undef ALL_INPUTS
#undef POSITIONAL
#undef POSTPROC
#undef PURE
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* compute_at: ComputeAt */
static const char *camel_case(Tirc *c, const char *name) {
  char *out = tirc_strdup(c, name), *to = out;
  for (const char *at = name; *at; at++) {
    if (*at == '_') continue;
    bool first = at == name || at[-1] == '_';
    *to++ = first ? tirc_upper(*at) : *at;
  }
  *to = 0;
  return out;
}

InstructionKind tirc_instruction_kind(Tirc *c, const Primitive *p) {
  for (int i = 0; i < N_KINDS; i++)
    if (!strcmp(kinds[i].primitive, p->name)) return kinds[i];
  return (InstructionKind){p->name, camel_case(c, p->name), 0};
}

unsigned tirc_instruction_flags(const Primitive *p) {
  for (int i = 0; i < N_KINDS; i++)
    if (!strcmp(kinds[i].primitive, p->name)) return kinds[i].flags;
  return 0;
}

const Primitive *tirc_instruction_primitive(Tirc *c, const char *kind) {
  for (int i = 0; i < N_KINDS; i++)
    if (!strcmp(kinds[i].name, kind)) return tirc_find_primitive(kinds[i].primitive);
  for (int i = 0; i < tirc_n_primitives; i++)
    if (!strcmp(camel_case(c, tirc_primitives[i].name), kind)) return &tirc_primitives[i];
  return NULL;
}

bool tirc_is_decision(const Param *p) { return !strcmp(p->name, "decision"); }

/* Where a parameter's value goes when it is a list: its items are arguments of the instruction. */
static bool is_spread(const Param *p) { return p->kind == PARAM_LOOPS || p->kind == PARAM_FACTORS; }

static int decision_index(const Primitive *p) {
  for (int i = 0; i < p->n_params; i++)
    if (tirc_is_decision(&p->params[i])) return i;
  return -1;
}

const Value *tirc_instruction_decision(const Instruction *inst) {
  int i = decision_index(inst->p);
  return i < 0 ? NULL : &inst->args[i];
}

static Value bounds_map(Tirc *c, Value ranges);

void tirc_instruction_inputs(Tirc *c, const Instruction *inst, Value list) {
  for (int i = 0; i < inst->p->n_params; i++) {
    const Param *p = &inst->p->params[i];
    const Value v = inst->args[i];
    if (!tirc_is_input(inst->p, p)) continue;
    if (p->kind == PARAM_ACCESS && v.kind == VAL_STR)
      tirc_value_append(c, list, tirc_value_int(!strcmp(v.u.s, "write")));
    else if (p->kind == PARAM_FUNCTION)
      tirc_value_append(c, list, bounds_map(c, v));
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

/* --- recording ---------------------------------------------------------------------------------
 */

Trace *tirc_trace_new(Tirc *c) { return tirc_new(c, Trace); }

static const void *handle_key(Value v) {
  if (v.kind == VAL_LOOP) return v.u.expr;
  return v.kind == VAL_BLOCK ? tirc_block_key(v.u.block_id) : NULL;
}

static void number(Sched *s, Value *v) {
  v->rv = ++*s->next_rv;
  if (handle_key(*v))
    tirc_map_set(s->c, &s->trace->latest, handle_key(*v), (void *)(uintptr_t)v->rv);
}

static void push(Tirc *c, Trace *t, const Instruction *inst) {
  const Value *outputs;
  const int n = tirc_instruction_outputs(inst, &outputs);
  vec_push(c, *t, inst);
  for (int i = 0; i < n; i++) tirc_map_set(c, &t->known, (void *)(uintptr_t)outputs[i].rv, t);
}

void tirc_trace_append(Tirc *c, Trace *t, const Instruction *inst) {
  Instruction *kept = tirc_new(c, Instruction);
  *kept = *inst;
  push(c, t, kept);
}

/* --- what no instruction gave: it was popped, or another schedule's -----------------------------
 */

const Instruction *tirc_trace_pop(Trace *t) {
  const Value *outputs;
  if (!t->n) return NULL;
  const Instruction *last = t->at[--t->n];
  int n = tirc_instruction_outputs(last, &outputs);
  for (int i = 0; i < n; i++) tirc_map_remove(&t->known, (void *)(uintptr_t)outputs[i].rv);
  return last;
}

static bool is_known(const Trace *t, uint32_t rv) {
  return tirc_map_has(&t->known, (void *)(uintptr_t)rv);
}

static uint32_t latest_rv(const Trace *t, Value handle) {
  return (uint32_t)(uintptr_t)tirc_map_get(&t->latest, handle_key(handle));
}

static bool find_block(Visitor *v, Stmt s) {
  Stmt *found = v->self;
  if (s->kind == STMT_BLOCK && !*found) *found = s;
  return !*found;
}

/* A block by its name; a loop as one of those around the first block below it. */
static uint32_t look_up_again(Sched *s, Value handle) {
  const Primitive *p = tirc_find_primitive("get_loops");
  const SRef *r = handle.kind == VAL_BLOCK
                      ? tirc_map_get(&s->blocks, tirc_block_key(handle.u.block_id))
                      : tirc_map_get(&s->loops, handle.u.expr);
  Stmt block = NULL;
  if (r) tirc_visit_stmt(&(Visitor){.stmt = find_block, .self = &block}, r->stmt);
  if (!block) return 0;
  Value found = tirc_trace_get_block(s, tirc_value_str(block->u.block.name),
                                     tirc_value_block(block->u.block.id));
  if (handle.kind == VAL_BLOCK) return found.rv;
  Value *args = tirc_new_array(s->c, Value, p->n_params), loops = VALUE_NONE;
  args[0] = found;
  p->apply(s, args, &loops);
  tirc_trace_record(s, p, args, &loops);
  return latest_rv(s->trace, handle);
}

Value tirc_trace_get_block(Sched *s, Value name, Value block) {
  const Primitive *p = tirc_find_primitive("get_block");
  Value *args = tirc_new_array(s->c, Value, p->n_params);
  args[0] = name;
  args[1] = s->work_on ? tirc_value_str(s->work_on) : VALUE_NONE;
  tirc_trace_record(s, p, args, &block);
  return block;
}

/* An index map as the text of a lambda that can be called: its results in terms of its variables.
 */
typedef struct IndexMapText {
  Callable base;
  Tirc *c;
  Expr *vars;
  Value results;
  int n_rvs; /* random variables in the results, each as a variable, "$17$" */
  Expr *rv_vars;
  const Value *rvs; /* numbers as they were drawn */
} IndexMapText;

static Value substituted(Tirc *c, Value v, const PtrMap *map) {
  if (v.kind == VAL_EXPR) return tirc_value_expr(tirc_substitute(c, v.u.expr, map));
  if (v.kind != VAL_LIST && v.kind != VAL_TUPLE) return v;
  Value out = tirc_value_list(c, v.kind, v.u.list->n, v.u.list->at);
  for (int i = 0; i < out.u.list->n; i++)
    out.u.list->at[i] = substituted(c, out.u.list->at[i], map);
  return out;
}

static Value call_map(Callable *self, int n, const Value *args) {
  IndexMapText *m = (IndexMapText *)self;
  PtrMap map = {0};
  for (int i = 0; i < n && i < m->base.n_params; i++) {
    Expr e = args[i].kind == VAL_EXPR  ? args[i].u.expr
             : args[i].kind == VAL_INT ? tirc_int(m->c, m->vars[i]->dtype, args[i].u.i)
                                       : NULL;
    if (e) tirc_map_set(m->c, &map, m->vars[i], e);
  }
  for (int i = 0; i < m->n_rvs; i++)
    tirc_map_set(m->c, &map, m->rv_vars[i], tirc_int32(m->c, m->rvs[i].u.i));
  return substituted(m->c, m->results, &map);
}

/* What a function gives for n variables; false when it fails, which is for the primitive to say. */
static bool call_with_vars(Tirc *c, Callable *fn, int n, const Value *args, Value *out) {
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    *out = fn->call(fn, n, args);
    TIRC_END(c, trap);
    return true;
  }
  return false;
}

/* With its text: "lambda i0, i1: (i1, i0)". */
static Value map_value(IndexMapText *m) {
  Text t = {.c = m->c};
  tirc_text_add(&t, "lambda");
  for (int i = 0; i < m->base.n_params; i++)
    tirc_text_addf(&t, "%s %s", i ? "," : "", m->vars[i]->u.s);
  tirc_text_addf(&t, ": %s", tirc_value_repr(m->c, m->results));
  m->base.name = t.at;
  return (Value){.kind = VAL_FUNCTION, .u.object = m};
}

static Expr *map_variables(Tirc *c, int n) {
  Expr *vars = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n; i++) vars[i] = tirc_var(c, tirc_format(c, "i%d", i), DT_INT32);
  return vars;
}

/* any: how many arguments a function gets that takes any number. */
static Value record_function(Sched *s, Value v, int any) {
  Tirc *c = s->c;
  Callable *fn = v.u.object;
  if (fn->call == call_map) return v;
  IndexMapText *m = tirc_new(c, IndexMapText);
  const int n = fn->n_params < 0 ? any : fn->n_params;
  Value *args = tirc_new_array(c, Value, n + 1);
  *m = (IndexMapText){.base = {call_map, n, NULL}, .c = c, .vars = map_variables(c, n)};
  for (int i = 0; i < n; i++) args[i] = tirc_value_expr(m->vars[i]);
  return call_with_vars(c, fn, n, args, &m->results) ? map_value(m) : v;
}

/* Of a recorded function that gives a range for each dimension, what the reference records: a map
 * that gives all their bounds, one after the other. */
static Value bounds_map(Tirc *c, Value ranges) {
  const IndexMapText *from = ranges.kind == VAL_FUNCTION ? ranges.u.object : NULL;
  if (!from || from->base.call != call_map) return ranges;
  const Value one = from->results;
  bool several = one.kind == VAL_LIST || one.kind == VAL_TUPLE;
  const ValueList *list = several ? one.u.list : &(ValueList){.n = 1, .at = (Value *)&one};
  IndexMapText *to = tirc_new(c, IndexMapText);
  *to = *from;
  to->results = tirc_value_list(c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < list->n; i++) {
    const Value v = list->at[i];
    bool pair = (v.kind == VAL_LIST || v.kind == VAL_TUPLE) && v.u.list->n == 2;
    Value end = v;
    if (v.kind == VAL_EXPR)
      end = tirc_value_expr(tirc_add(c, v.u.expr, tirc_int(c, v.u.expr->dtype, 1)));
    if (v.kind == VAL_INT) end = tirc_value_int(v.u.i + 1);
    tirc_value_append(c, to->results, pair ? v.u.list->at[0] : v);
    tirc_value_append(c, to->results, pair ? v.u.list->at[1] : end);
  }
  return map_value(to);
}

/* Takes the axis separators out of a recorded map: the list of the places where they stood, which
 * is empty when there are none. */
static Value take_separators(Tirc *c, Value *map) {
  Value places = tirc_value_list(c, VAL_LIST, 0, NULL),
        rest = tirc_value_list(c, VAL_TUPLE, 0, NULL);
  const IndexMapText *from = map->u.object;
  if (from->base.call != call_map) return places;
  if (from->results.kind != VAL_LIST && from->results.kind != VAL_TUPLE) return places;
  const ValueList *results = from->results.u.list;
  for (int i = 0; i < results->n; i++)
    if (tirc_is_axis_separator(results->at[i]))
      tirc_value_append(c, places, tirc_value_int(rest.u.list->n));
    else
      tirc_value_append(c, rest, results->at[i]);
  if (!places.u.list->n) return places;
  IndexMapText *to = tirc_new(c, IndexMapText);
  *to = *from;
  to->results = rest;
  *map = map_value(to);
  return places;
}

const char *tirc_recorded_function(Tirc *c, Value function, const RVNames *names) {
  const IndexMapText *m = function.u.object;
  if (m->base.call != call_map) return m->base.name;
  PtrMap map = {0};
  Expr *named = tirc_new_array(c, Expr, m->n_rvs);
  int n = 0;
  for (int i = 0; i < m->n_rvs; i++) {
    const char *name = names ? tirc_rv_name(names, m->rvs[i]) : NULL;
    if (name) named[n++] = tirc_var(c, name, DT_INT32);
    tirc_map_set(c, &map, m->rv_vars[i], name ? named[n - 1] : tirc_int32(c, m->rvs[i].u.i));
  }
  const char *saved =
      tirc_lambda_saved(c, m->base.n_params, m->vars, n, named, substituted(c, m->results, &map));
  return saved ? saved : tirc_text_with_rvs(c, m->base.name, names);
}

/* A value that no later change of a list reaches, with handles that were made outside of the trace
 * given the number of the same loop or block. */
static Value recorded(Sched *s, Value v, int depth) {
  enum { MAX_DEPTH = 64 };
  bool container = v.kind == VAL_LIST || v.kind == VAL_TUPLE || v.kind == VAL_DICT;
  if (handle_key(v) && !is_known(s->trace, v.rv)) {
    v.rv = latest_rv(s->trace, v);
    if (!is_known(s->trace, v.rv)) v.rv = look_up_again(s, v);
  } else if (!is_known(s->trace, v.rv)) {
    v.rv = 0; /* a number that was drawn is a number now */
  }
  if (!container || depth > MAX_DEPTH) return v;
  v = tirc_value_list(s->c, v.kind, v.u.list->n, v.u.list->at);
  for (int i = 0; i < v.u.list->n; i++) v.u.list->at[i] = recorded(s, v.u.list->at[i], depth + 1);
  return v;
}

/* The block that a call is about: its first argument that is one. */
static const Block *block_of_call(Sched *s, const Primitive *p, const Value *args) {
  for (int k = 0; k < p->n_params; k++)
    if (args[k].kind == VAL_BLOCK) {
      const SRef *r = tirc_map_get(&s->blocks, tirc_block_key(args[k].u.block_id));
      return r ? tirc_block_of(r) : NULL;
    }
  return NULL;
}

static int find_region(Value buffer, int n, const Region *regions) {
  for (int k = 0; k < n; k++)
    if (buffer.kind == VAL_BUFFER ? regions[k].buffer == buffer.u.buffer
                                  : !strcmp(regions[k].buffer->name, buffer.u.s))
      return k;
  return -1;
}

/* A named buffer as its position among the regions of the call's block, where it can be found. */
static Value buffer_position(const Block *b, const Param *p, Value v) {
  if (!b || (v.kind != VAL_STR && v.kind != VAL_BUFFER)) return v;
  const int read = find_region(v, b->n_reads, b->reads);
  const int write = find_region(v, b->n_writes, b->writes);
  if (p->kind == PARAM_BUFFER_INDEX) {
    const int k = !strncmp(p->name, "read", 4) ? read : write;
    return k < 0 ? v : tirc_value_int(k);
  }
  return read < 0 && write < 0 ? v : tirc_value_int(write < 0 ? read : -1 - write);
}

/* The same as a tuple ("read", 0) or ("write", 0). */
static Value buffer_tuple(Sched *s, const Block *b, const Param *p, Value v) {
  const Value at = buffer_position(b, p, v);
  if (at.kind != VAL_INT) return at;
  Value pair[] = {tirc_value_str(at.u.i < 0 ? "write" : "read"),
                  tirc_value_int(at.u.i < 0 ? -1 - at.u.i : at.u.i)};
  return tirc_value_list(s->c, VAL_TUPLE, 2, pair);
}

/* The buffer that a call is about; NULL: none, or one that is not there. */
static Buffer buffer_of_call(const Primitive *p, const Block *b, const Value *args) {
  for (int i = 0; b && i < p->n_params; i++) {
    if (p->params[i].kind != PARAM_BUFFER || args[i].kind != VAL_TUPLE) continue;
    const bool write = !strcmp(args[i].u.list->at[0].u.s, "write");
    const int64_t k = args[i].u.list->at[1].u.i;
    if (k < 0 || k >= (write ? b->n_writes : b->n_reads)) return NULL;
    return (write ? b->writes : b->reads)[k].buffer;
  }
  return NULL;
}

/* How many indices a map of this call takes: the buffer's, or else the block's iterators. */
static int map_inputs(const Primitive *p, const Block *b, const Value *args) {
  const Buffer buffer = buffer_of_call(p, b, args);
  return buffer ? buffer->ndim : b ? b->n_iters : 0;
}

/* A number of the buffer's type where it is one of the same kind, as the reference takes it. */
static Value typed_pad(Tirc *c, Buffer b, Value v) {
  if (b && v.kind == VAL_FLOAT && tirc_dtype_is_float(b->dtype))
    return tirc_value_expr(tirc_float(c, b->dtype, v.u.f));
  if (b && v.kind == VAL_INT && tirc_dtype_is_int(b->dtype))
    return tirc_value_expr(tirc_int(c, b->dtype, v.u.i));
  return v;
}

/* A padding that is a number is recorded as the map that gives it for all new indices. */
static Value record_pad(Sched *s, const Primitive *p, const Block *b, const Value *args, Value v) {
  enum { MAP = 2 };
  const IndexMapText *map = args[MAP].kind == VAL_FUNCTION ? args[MAP].u.object : NULL;
  bool number = v.kind == VAL_INT || v.kind == VAL_FLOAT || v.kind == VAL_EXPR;
  if (!number || !map || map->base.call != call_map) return v;
  Value of = args[MAP];
  take_separators(s->c, &of);
  const Value results = ((const IndexMapText *)of.u.object)->results;
  bool several = results.kind == VAL_LIST || results.kind == VAL_TUPLE;
  IndexMapText *to = tirc_new(s->c, IndexMapText);
  const int n = several ? results.u.list->n : 1;
  const Value value = typed_pad(s->c, buffer_of_call(p, b, args), v);
  *to = (IndexMapText){.base = {call_map, n, NULL}, .c = s->c, .vars = map_variables(s->c, n)};
  to->results = tirc_value_list(s->c, VAL_TUPLE, 1, &value);
  return map_value(to);
}

const Value *tirc_trace_arguments(Sched *s, const Primitive *p, const Value *bound) {
  Value *args = tirc_new_array(s->c, Value, p->n_params + 1);
  const Block *b = block_of_call(s, p, bound);
  for (int i = 0; i < p->n_params; i++) {
    const Param *param = &p->params[i];
    if (param->kind == PARAM_BUFFER_INDEX)
      args[i] = buffer_position(b, param, bound[i]);
    else if (param->kind == PARAM_BUFFER)
      args[i] = buffer_tuple(s, b, param, bound[i]);
    else if (param->kind == PARAM_OPT_BLOCKS && bound[i].kind == VAL_NONE)
      args[i] = tirc_value_list(s->c, VAL_LIST, 0, NULL);
    else if (param->kind == PARAM_PAD_VALUE && bound[i].kind != VAL_FUNCTION)
      args[i] = record_pad(s, p, b, args, bound[i]);
    else if (bound[i].kind == VAL_FUNCTION)
      args[i] = record_function(s, bound[i], map_inputs(p, b, args));
    else
      args[i] = recorded(s, bound[i], 0);
  }
  return args;
}

/* A layout whose map has axis separators is two instructions in the reference's traces. */
static bool record_layout(Sched *s, const Primitive *p, const Value *args, Value *result) {
  enum { BLOCK, BUFFER, MAP };
  static const char *const names[] = {"transform_layout", "set_axis_separator"};
  if (strcmp(p->name, names[0])) return false;
  Value *with = tirc_new_array(s->c, Value, p->n_params);
  memcpy(with, args, (size_t)p->n_params * sizeof *with);
  Value separators = take_separators(s->c, &with[MAP]);
  if (!separators.u.list->n) return false;
  tirc_trace_record(s, p, with, result);
  Value *set = tirc_new_array(s->c, Value, 3);
  memcpy(set, (Value[]){args[BLOCK], args[BUFFER], separators}, 3 * sizeof *set);
  tirc_trace_record(s, tirc_find_primitive(names[1]), set, result);
  return true;
}

void tirc_trace_record(Sched *s, const Primitive *p, const Value *args, Value *result) {
  Tirc *c = s->c;
  if (record_layout(s, p, args, result)) return;
  Instruction inst = {.p = p, .args = args, .rule = s->rule, .reason = s->reason};
  const int decision = decision_index(p);
  if (decision >= 0) {
    Value *with = tirc_new_array(c, Value, p->n_params);
    memcpy(with, args, (size_t)p->n_params * sizeof *with);
    with[decision] = s->decision;
    inst.args = with;
  }
  if (result->kind == VAL_LIST)
    for (int i = 0; i < result->u.list->n; i++) number(s, &result->u.list->at[i]);
  else if (result->kind != VAL_NONE)
    number(s, result);
  inst.result = *result;
  if (result->kind == VAL_LIST)
    inst.result = tirc_value_list(c, VAL_LIST, result->u.list->n, result->u.list->at);
  tirc_trace_append(c, s->trace, &inst);
}

/* --- traces as values --------------------------------------------------------------------------
 */

Trace *tirc_trace_copy(Tirc *c, const Trace *t) {
  Trace *copy = tirc_new(c, Trace);
  copy->next_rv = t->next_rv;
  for (int i = 0; i < t->n; i++) push(c, copy, t->at[i]);
  for (size_t i = 0; i < t->latest.cap; i++)
    if (t->latest.values[i]) tirc_map_set(c, &copy->latest, t->latest.keys[i], t->latest.values[i]);
  return copy;
}

int tirc_trace_length(const Trace *t, bool remove_postproc) {
  int n = 0;
  while (n < t->n && !(remove_postproc && tirc_instruction_flags(t->at[n]->p) & INST_POSTPROC)) n++;
  return n;
}

static void mark_used(Tirc *c, PtrMap *used, Value v) {
  if (v.rv) tirc_map_set(c, used, (void *)(uintptr_t)v.rv, used);
  if (v.kind != VAL_LIST && v.kind != VAL_TUPLE && v.kind != VAL_DICT) return;
  for (int i = 0; i < v.u.list->n; i++) mark_used(c, used, v.u.list->at[i]);
}

static bool is_dead(const Instruction *inst, const PtrMap *used, bool keep_decisions) {
  const Value *outputs;
  if (keep_decisions && tirc_instruction_decision(inst)) return false;
  int n = tirc_instruction_outputs(inst, &outputs);
  if (!(tirc_instruction_flags(inst->p) & INST_PURE)) return false;
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

static const Value *arguments_with(Tirc *c, const Instruction *inst, Value decision) {
  const int at = decision_index(inst->p);
  Value *args = tirc_new_array(c, Value, inst->p->n_params + 1);
  memcpy(args, inst->args, (size_t)inst->p->n_params * sizeof *args);
  if (at >= 0) args[at] = decision;
  return args;
}

Trace *tirc_trace_with_decision(Tirc *c, const Trace *t, int index, Value decision) {
  Trace *out = tirc_trace_copy(c, t);
  Instruction *inst = tirc_new(c, Instruction);
  *inst = *t->at[index];
  inst->args = arguments_with(c, inst, decision);
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
    with.args = arguments_with(c, inst, decision);
    tirc_trace_append(c, t, &with);
  } else {
    push(c, t, inst);
  }
}

/* --- doing it again ----------------------------------------------------------------------------
 */

typedef struct Replay {
  Sched *s;
  const Trace *t;
  PtrMap values; /* number -> the Value * it is here */
  const DecisionProvider *asked;
  bool asking; /* what is raised now is the provider's, perhaps of a trace that it applies */
  Loc loc;
  const char *what;
} Replay;

static const Value *value_here(const Replay *r, uint32_t rv) {
  return rv ? tirc_map_get(&r->values, (void *)(uintptr_t)rv) : NULL;
}

static Expr rv_variable(Tirc *c, Value v) {
  return tirc_var(c, tirc_format(c, "$%u$", v.rv), DT_INT32);
}

/* A recorded map with the random variables of here. */
static Value map_of_here(Replay *r, const IndexMapText *from) {
  Tirc *c = r->s->c;
  PtrMap map = {0};
  IndexMapText *m = tirc_new(c, IndexMapText);
  Value *rvs = tirc_new_array(c, Value, from->n_rvs);
  *m = *from;
  m->rvs = rvs;
  m->rv_vars = tirc_new_array(c, Expr, from->n_rvs);
  for (int i = 0; i < from->n_rvs; i++) {
    const Value *here = value_here(r, from->rvs[i].rv);
    rvs[i] = here && here->kind == VAL_INT ? *here : from->rvs[i];
    m->rv_vars[i] = rv_variable(c, rvs[i]);
    tirc_map_set(c, &map, from->rv_vars[i], m->rv_vars[i]);
  }
  m->results = substituted(c, from->results, &map);
  return map_value(m);
}

/* A map from text: lambda i0: (i0 // $17$,), which is called as lambda r17: lambda i0: ... */
static Value map_of_text(Replay *r, const char *text) {
  Tirc *c = r->s->c;
  Text outer = {.c = c}, inner = {.c = c};
  VEC(Value) rvs = {0}, vars = {0};
  VEC(Expr) exprs = {0};
  tirc_text_add(&outer, "lambda");
  for (const char *at = text, *from; (from = strchr(at, '$')) != NULL || *at;) {
    tirc_text_addn(&inner, at, from ? (size_t)(from - at) : strlen(at));
    if (!from) break;
    char *end;
    const uint32_t rv = (uint32_t)strtoul(from + 1, &end, 10);
    const Value *here = value_here(r, rv);
    if (!here || here->kind != VAL_INT)
      tirc_fail(c, r->loc, "trace", NULL, "an index map holds a random variable that is no number");
    int k = 0;
    while (k < rvs.n && rvs.at[k].rv != here->rv) k++;
    if (k == rvs.n) {
      tirc_text_addf(&outer, "%s r%d", k ? "," : "", k);
      vec_push(c, rvs, *here);
      vec_push(c, exprs, rv_variable(c, *here));
      vec_push(c, vars, tirc_value_expr(exprs.at[k]));
    }
    tirc_text_addf(&inner, "r%d", k);
    at = end + (*end == '$');
  }
  tirc_text_addf(&outer, ": %s", inner.at);
  const Value made = r->s->eval(r->s, outer.at, r->loc);
  Callable *fn = made.u.object;
  const Value map = fn->call(fn, vars.n, vars.at);
  fn = map.kind == VAL_FUNCTION ? map.u.object : NULL;
  if (!fn || fn->n_params < 0)
    tirc_fail(c, r->loc, "trace", NULL, "this is no index map: %s", text);
  IndexMapText *m = tirc_new(c, IndexMapText);
  *m = (IndexMapText){.base = {call_map, fn->n_params, NULL},
                      .c = c,
                      .vars = map_variables(c, fn->n_params),
                      .n_rvs = rvs.n,
                      .rv_vars = exprs.at,
                      .rvs = rvs.at};
  Value *args = tirc_new_array(c, Value, fn->n_params + 1);
  for (int i = 0; i < fn->n_params; i++) args[i] = tirc_value_expr(m->vars[i]);
  m->results = fn->call(fn, fn->n_params, args);
  return map_value(m);
}

static Value translated(Replay *r, Value v) {
  Tirc *c = r->s->c;
  const Value *here = value_here(r, v.rv);
  if (here) return *here;
  if (tirc_value_is_python(v) && r->s->eval)
    return strchr(v.u.object, '$') ? map_of_text(r, v.u.object)
                                   : r->s->eval(r->s, v.u.object, r->loc);
  if (tirc_value_is_python(v)) return v;
  if (v.kind == VAL_FUNCTION && ((const Callable *)v.u.object)->call == call_map)
    return map_of_here(r, v.u.object);
  if (v.kind != VAL_LIST && v.kind != VAL_TUPLE && v.kind != VAL_DICT) return v;
  Value out = tirc_value_list(c, v.kind, v.u.list->n, v.u.list->at);
  for (int i = 0; i < out.u.list->n; i++) out.u.list->at[i] = translated(r, out.u.list->at[i]);
  return out;
}

static void take_results(Replay *r, const Instruction *inst, Value result) {
  Tirc *c = r->s->c;
  const Instruction now = {.p = inst->p, .result = result};
  const Value *then_at, *now_at;
  const int n = tirc_instruction_outputs(inst, &then_at),
            m = tirc_instruction_outputs(&now, &now_at);
  if (n != m)
    tirc_fail(c, r->loc, "trace", "the trace was made on another program",
              "it gives %d results here, and %d in the trace", m, n);
  for (int i = 0; i < n; i++) {
    Value *kept = tirc_new(c, Value);
    *kept = now_at[i];
    tirc_map_set(c, &r->values, (void *)(uintptr_t)then_at[i].rv, kept);
  }
}

/* The instruction with what it gets here, and the decision of the provider. */
static Instruction asked_again(Replay *r, const Instruction *inst) {
  Tirc *c = r->s->c;
  const Value *own = tirc_instruction_decision(inst);
  Value inputs = tirc_value_list(c, VAL_LIST, 0, NULL);
  Value attrs = tirc_value_list(c, VAL_LIST, 0, NULL);
  tirc_instruction_inputs(c, inst, inputs);
  tirc_instruction_attrs(c, inst, attrs);
  for (int i = 0; i < inputs.u.list->n; i++)
    inputs.u.list->at[i] = translated(r, inputs.u.list->at[i]);
  r->asking = true;
  Value decision = r->asked->decide(r->asked->self, inst, inputs, attrs, own ? *own : VALUE_NONE);
  r->asking = false;
  if (!own && decision.kind != VAL_NONE)
    tirc_fail(c, r->loc, "trace", "return the decision that the provider was given",
              "it takes no decision, and the decision provider gives one");
  Instruction with = *inst;
  with.args = arguments_with(c, inst, decision);
  return with;
}

static void replay(Replay *r, const Instruction *inst) {
  Tirc *c = r->s->c;
  const Primitive *p = inst->p;
  const Instruction with = r->asked ? asked_again(r, inst) : *inst;
  const char **names = tirc_new_array(c, const char *, p->n_params + 1);
  Value *keywords = tirc_new_array(c, Value, p->n_params + 1), star = VALUE_NONE;
  int n = 0;
  for (int i = 0; i < p->n_params; i++) {
    Value v = translated(r, with.args[i]);
    if (p->params[i].kind == PARAM_LOOPS) {
      star = v;
      continue;
    }
    names[n] = p->params[i].name;
    keywords[n++] = v;
  }
  Value result =
      tirc_sched_call(r->s, p, r->loc, star.kind == VAL_NONE ? 0 : star.u.list->n,
                      star.kind == VAL_NONE ? NULL : star.u.list->at, n, names, keywords);
  take_results(r, inst, result);
}

static void replay_or_say_where(Replay *r, int i) {
  Tirc *c = r->s->c;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    replay(r, r->t->at[i]);
    TIRC_END(c, trap);
    return;
  }
  if (!r->asking)
    c->diag.message = tirc_format(c, "%s, instruction %d (%s): %s", r->what, i,
                                  tirc_instruction_kind(c, r->t->at[i]->p).name, c->diag.message);
  tirc_throw(c);
}

void tirc_trace_apply(Sched *s, const Trace *t, bool remove_postproc, const DecisionProvider *asked,
                      Loc loc, const char *what) {
  Replay r = {.s = s, .t = t, .asked = asked, .loc = loc, .what = what};
  const int n = tirc_trace_length(t, remove_postproc);
  for (int i = 0; i < n; i++) replay_or_say_where(&r, i);
}
