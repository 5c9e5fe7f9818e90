/* What a call leaves in the schedule's trace: its arguments as they were before it ran, and its
 * results under numbers of their own. See recording.h. */
#include "recording.h"

#include "passes/record/recorded_map.h"
#include "passes/schedule/shape/shape.h"

static const void *handle_key(Value v) {
  if (v.kind == VAL_LOOP) return v.u.expr;
  return v.kind == VAL_BLOCK ? tirc_block_key(v.u.block_id) : NULL;
}

static void number(Sched *s, Value *v) {
  v->rv = ++*s->next_rv;
  if (handle_key(*v)) tirc_trace_name(s->c, s->trace, handle_key(*v), v->rv);
}

/* --- what no instruction gave: it was popped, or another schedule's --------------------------- */

static bool is_known(const Trace *t, uint32_t rv) {
  return tirc_map_has(&t->known, (void *)(uintptr_t)rv);
}

static uint32_t latest_rv(const Trace *t, Value handle) {
  return (uint32_t)(uintptr_t)tirc_map_get(&t->latest, handle_key(handle));
}

/* A block by its name; a loop as one of those around the first block below it. */
static uint32_t look_up_again(Sched *s, Value handle) {
  const Primitive *p = tirc_find_primitive("get_loops");
  const SRef *r = tirc_sref_known(s, handle);
  const Stmt block = r ? tirc_find_stmt(r->stmt, tirc_is_block_stmt, NULL, NULL) : NULL;
  if (!block) return 0;
  Value found = tirc_trace_get_block(s, tirc_value_str(block->u.block.name),
                                     tirc_value_block(block->u.block.id));
  if (handle.kind == VAL_BLOCK) return found.rv;
  Value *args = tirc_new_array(s->c, Value, p->n_params), loops = VALUE_NONE;
  args[0] = found;
  tirc_prim_get_loops(s, args, &loops);
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

/* --- arguments -------------------------------------------------------------------------------- */

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

/* any: how many arguments a function gets that takes any number. */
static Value record_function(Sched *s, Value v, int any) {
  Tirc *c = s->c;
  Callable *fn = v.u.object;
  if (fn->call == tirc_call_map) return v;
  RecordedMap *m = tirc_new(c, RecordedMap);
  const int n = fn->n_params < 0 ? any : fn->n_params;
  Value *args = tirc_new_array(c, Value, n + 1);
  *m = (RecordedMap){.base = {tirc_call_map, n, NULL}, .c = c, .vars = tirc_map_variables(c, n)};
  for (int i = 0; i < n; i++) args[i] = tirc_value_expr(m->vars[i]);
  return call_with_vars(c, fn, n, args, &m->results) ? tirc_map_value(m) : v;
}

/* A value that no later change of a list reaches, with handles that were made outside of the trace
 * given the number of the same loop or block. */
static Value recorded(Sched *s, Value v, int depth) {
  enum { MAX_DEPTH = 64 };
  if (handle_key(v) && !is_known(s->trace, v.rv)) {
    v.rv = latest_rv(s->trace, v);
    if (!is_known(s->trace, v.rv)) v.rv = look_up_again(s, v);
  } else if (!is_known(s->trace, v.rv)) {
    v.rv = 0; /* a number that was drawn is a number now */
  }
  if (!tirc_is_container(v) || depth > MAX_DEPTH) return v;
  v = tirc_value_list(s->c, v.kind, v.u.list->n, v.u.list->at);
  for (int i = 0; i < v.u.list->n; i++) v.u.list->at[i] = recorded(s, v.u.list->at[i], depth + 1);
  return v;
}

/* The block that a call is about: its first argument that is one. */
static const Block *block_of_call(Sched *s, const Primitive *p, const Value *args) {
  for (int k = 0; k < p->n_params; k++)
    if (args[k].kind == VAL_BLOCK) {
      const SRef *r = tirc_sref_known(s, args[k]);
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
    const Regions all = tirc_declared(b, write);
    return k < 0 || k >= all.n ? NULL : all.at[k].buffer;
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
  const RecordedMap *map = args[MAP].kind == VAL_FUNCTION ? args[MAP].u.object : NULL;
  bool number = v.kind == VAL_INT || v.kind == VAL_FLOAT || v.kind == VAL_EXPR;
  if (!number || !map || map->base.call != tirc_call_map) return v;
  Value of = args[MAP];
  tirc_take_separators(s->c, &of);
  const Value results = ((const RecordedMap *)of.u.object)->results;
  RecordedMap *to = tirc_new(s->c, RecordedMap);
  const int n = tirc_is_sequence(results) ? results.u.list->n : 1;
  const Value value = typed_pad(s->c, buffer_of_call(p, b, args), v);
  *to = (RecordedMap){
      .base = {tirc_call_map, n, NULL}, .c = s->c, .vars = tirc_map_variables(s->c, n)};
  to->results = tirc_value_list(s->c, VAL_TUPLE, 1, &value);
  return tirc_map_value(to);
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
  Value *with = tirc_copy(s->c, args, p->n_params);
  Value separators = tirc_take_separators(s->c, &with[MAP]);
  if (!separators.u.list->n) return false;
  tirc_trace_record(s, p, with, result);
  Value set[] = {args[BLOCK], args[BUFFER], separators};
  tirc_trace_record(s, tirc_find_primitive(names[1]), tirc_copy(s->c, set, 3), result);
  return true;
}

void tirc_trace_record(Sched *s, const Primitive *p, const Value *args, Value *result) {
  Tirc *c = s->c;
  if (record_layout(s, p, args, result)) return;
  Instruction inst = {.p = p, .args = args, .rule = s->rule, .reason = s->reason};
  const int decision = tirc_decision_index(p);
  if (decision >= 0) {
    Value *with = tirc_copy(c, args, p->n_params);
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
