/* Index maps made from functions, applied, and asked for shapes; see layout/layout.h. */
#include "layout.h"
#include "passes/schedule/state/state.h"

#include "ir/tree/print.h"

/* --- from functions --------------------------------------------------------------------------- */

typedef struct MapResult {
  VEC(Expr) outputs;
  VEC(int) separators;
} MapResult;

static Expr output_of(Sched *s, Value v, DType t) {
  Tirc *c = s->c;
  if (v.kind == VAL_EXPR) return v.u.expr;
  if (v.kind == VAL_INT) return tirc_int(c, t, v.u.i);
  if (v.kind == VAL_BOOL) return tirc_bool(c, v.u.b);
  if (v.kind == VAL_FLOAT) return tirc_float(c, DT_FLOAT32, v.u.f);
  tirc_refuse(s, NULL, SERR_INDEX_MAP_RESULT,
              "The function gives %s (%s), which is not an expression.",
              tirc_a_type(c, tirc_value_type_name(v)), tirc_value_repr(c, v));
}

static void add_result(Sched *s, MapResult *r, Value v, DType t) {
  if (tirc_is_axis_separator(v))
    vec_push(s->c, r->separators, r->outputs.n);
  else
    vec_push(s->c, r->outputs, output_of(s, v, t));
}

IndexMap tirc_value_map(Sched *s, Value function, int n, const DType *types, DType number) {
  Tirc *c = s->c;
  Callable *fn = function.u.object;
  int n_inputs = fn->n_params < 0 ? n : fn->n_params;
  Expr *inputs = tirc_new_array(c, Expr, n_inputs + 1);
  Value *args = tirc_new_array(c, Value, n_inputs + 1);
  DType usual = n ? types[0] : DT_INT32;
  for (int i = 0; i < n_inputs; i++) {
    inputs[i] = tirc_var(c, tirc_format(c, "i%d", i), i < n ? types[i] : usual);
    args[i] = tirc_value_expr(inputs[i]);
  }
  Value v = fn->call(fn, n_inputs, args);
  MapResult r = {0};
  if (tirc_is_sequence(v))
    for (int i = 0; i < v.u.list->n; i++) add_result(s, &r, v.u.list->at[i], number);
  else
    add_result(s, &r, v, number);
  return (IndexMap){n_inputs,       r.outputs.n,     inputs, r.outputs.at,
                    r.separators.n, r.separators.at, NULL};
}

IndexMap tirc_index_map(Sched *s, Value function, int n, const DType *types) {
  return tirc_value_map(s, function, n, types, n ? types[0] : DT_INT32);
}

void tirc_require_inputs(Sched *s, const IndexMap *map, int n, const char *of) {
  if (map->n_inputs == n) return;
  tirc_refuse(s, NULL, SERR_INDEX_MAP_INPUTS, "The index map takes %d ind%s, but %s has %d.",
              map->n_inputs, map->n_inputs == 1 ? "ex" : "ices", of, n);
}

static void add_tuple(Text *t, int n, const Expr *at) {
  tirc_text_add(t, "(");
  for (int i = 0; i < n; i++)
    tirc_text_addf(t, "%s%s", i ? ", " : "", tirc_print_expr(t->c, at[i]));
  tirc_text_add(t, n == 1 ? ",)" : ")");
}

const char *tirc_index_map_text(Tirc *c, const IndexMap *map) {
  Text t = {.c = c};
  add_tuple(&t, map->n_inputs, map->inputs);
  tirc_text_add(&t, " -> ");
  add_tuple(&t, map->n_outputs, map->outputs);
  return t.at;
}

/* --- applied ---------------------------------------------------------------------------------- */

const Expr *tirc_map_indices(Tirc *c, Analyzer *a, const IndexMap *map, const Expr *indices) {
  PtrMap inputs = {0};
  for (int i = 0; i < map->n_inputs; i++) tirc_map_set(c, &inputs, map->inputs[i], indices[i]);
  Expr *out = tirc_new_array(c, Expr, map->n_outputs + 1);
  for (int i = 0; i < map->n_outputs; i++)
    out[i] = tirc_simplify(a, tirc_substitute_typed(c, map->outputs[i], &inputs));
  return out;
}

/* --- shapes ----------------------------------------------------------------------------------- */

static Range *boxes_of(Tirc *c, const IndexMap *map, const Expr *shape) {
  Range *doms = tirc_new_array(c, Range, map->n_inputs + 1);
  for (int i = 0; i < map->n_inputs; i++) doms[i] = tirc_from_zero(c, shape[i]);
  return doms;
}

/* The terms of an affine index do not overlap, so the largest one says how far it reaches. */
static Range range_of_sum(Tirc *c, Analyzer *a, const IterSum *sum) {
  Expr extent = NULL;
  for (int i = 0; i < sum->n; i++) {
    const IterSplit *split = &sum->args[i];
    if (!tirc_prove_ge(a, split->scale, tirc_int(c, split->scale->dtype, 0)))
      return (Range){NULL, NULL};
    if (tirc_is_int(split->extent, 1)) continue;
    Expr reach = tirc_mul(c, split->extent, split->scale);
    extent = extent ? tirc_max(c, extent, reach) : reach;
  }
  return tirc_range(sum->base, extent ? extent : tirc_int(c, sum->base->dtype, 1));
}

static Range range_by_bounds(Tirc *c, Analyzer *a, const IndexMap *map, const Range *doms, Expr e) {
  PtrMap sets = {0};
  for (int i = 0; i < map->n_inputs; i++) {
    IntSet *set = tirc_new(c, IntSet);
    *set = tirc_set_of_range(c, doms[i]);
    tirc_map_set(c, &sets, map->inputs[i], set);
  }
  IntSet set = tirc_eval_set(a, e, &sets);
  if (!set.min || !set.max) return (Range){NULL, NULL};
  Expr extent = tirc_add(c, tirc_sub(c, set.max, set.min), tirc_int(c, set.min->dtype, 1));
  return tirc_range(tirc_simplify(a, set.min), tirc_simplify(a, extent));
}

static DType widest(int n, const Expr *shape) {
  DType t = n ? shape[0]->dtype : DT_INT32;
  for (int i = 1; i < n; i++)
    if (shape[i]->dtype.bits > t.bits) t = shape[i]->dtype;
  return t;
}

const Expr *tirc_map_shape(Sched *s, Analyzer *a, const IndexMap *map, const Expr *shape) {
  Tirc *c = s->c;
  const Range *doms = boxes_of(c, map, shape);
  const IterMap *affine =
      tirc_detect_iter_map(a, map->n_outputs, map->outputs, map->n_inputs, map->inputs, doms, NULL,
                           ITER_LEVEL_NO_CHECK, false, NULL);
  Expr *out = tirc_new_array(c, Expr, map->n_outputs + 1);
  DType t = widest(map->n_inputs, shape);
  for (int i = 0; i < map->n_outputs; i++) {
    Range r = affine ? range_of_sum(c, a, &affine->indices[i])
                     : range_by_bounds(c, a, map, doms, map->outputs[i]);
    if (!r.min || !tirc_dtype_is_int(r.min->dtype) || !tirc_is_int(tirc_simplify(a, r.min), 0))
      tirc_refuse(s, NULL, SERR_INDEX_MAP_RANGE,
                  "In %s, index %s does not run over a range that starts at 0.",
                  tirc_index_map_text(c, map), tirc_print_expr(c, map->outputs[i]));
    int64_t extent;
    const bool none =
        tirc_const_int(r.extent, &extent) && extent < 0; /* of inputs without values */
    out[i] = none ? tirc_int(c, t, 0) : tirc_cast(c, t, r.extent);
  }
  return out;
}

Analyzer *tirc_analyzer_of_shapes(Sched *s, const SRef *block) {
  Tirc *c = s->c;
  Analyzer *a = tirc_analyzer(c);
  const Func *f = s->mod->funcs[block->func];
  for (int i = 0; i < f->n_params; i++)
    for (int k = 0; f->buffers[i] && k < f->buffers[i]->ndim; k++) {
      Expr dim = f->buffers[i]->shape[k];
      if (dim->op != OP_INT)
        tirc_enter_constraint(a, tirc_binary(c, OP_GE, dim, tirc_int(c, dim->dtype, 0)));
    }
  return a;
}

/* --- buffers of a block ----------------------------------------------------------------------- */

static bool is_meant(Value selector, Buffer b) {
  return selector.kind == VAL_STR ? !strcmp(selector.u.s, b->name) : selector.u.buffer == b;
}

/* A name may stand for one buffer only; a buffer that is read and written is taken by its name as
 * written, and as itself as read. */
static BufferChoice choose_named(Sched *s, SRef *block, Value selector) {
  const Block *b = tirc_block_of(block);
  BufferChoice found = {0};
  for (int i = 0; i < b->n_reads + b->n_writes; i++) {
    bool is_write = i >= b->n_reads;
    int index = is_write ? i - b->n_reads : i;
    Buffer buffer = (is_write ? b->writes : b->reads)[index].buffer;
    if (!is_meant(selector, buffer)) continue;
    if (found.buffer && found.buffer != buffer)
      tirc_refuse(s, NULL, SERR_BUFFER_SELECTOR, "Block %s uses more than one buffer called %s.",
                  b->name, selector.u.s);
    if (!found.buffer || selector.kind == VAL_STR) found = (BufferChoice){buffer, is_write, index};
  }
  if (found.buffer) return found;
  const char *name = selector.kind == VAL_STR ? selector.u.s : selector.u.buffer->name;
  tirc_sched_error(s, NULL, SERR_BUFFER_NOT_FOUND, NULL,
                   tirc_hint_of_buffer(s, block, name, true, true),
                   "Block %s neither reads nor writes %s.", b->name, name);
}

BufferChoice tirc_choose_buffer(Sched *s, SRef *block, Value selector) {
  const Block *b = tirc_block_of(block);
  if (selector.kind != VAL_TUPLE) return choose_named(s, block, selector);
  bool is_write = !strcmp(selector.u.list->at[0].u.s, "write");
  int64_t index = selector.u.list->at[1].u.i;
  int n = is_write ? b->n_writes : b->n_reads;
  if (index < 0 || index >= n)
    tirc_refuse(s, NULL, SERR_BUFFER_SELECTOR,
                "Block %s %s %d buffer%s, so there is no (\"%s\", %lld).", b->name,
                is_write ? "writes" : "reads", n, n == 1 ? "" : "s", is_write ? "write" : "read",
                (long long)index);
  return (BufferChoice){(is_write ? b->writes : b->reads)[index].buffer, is_write, (int)index};
}
