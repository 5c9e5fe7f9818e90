/* What a script sees of the program: the fields of loops, blocks, iterators, regions, buffers and
 * expressions under the reference's names, one row each at the end. */
#include "interp.h"
#include "ir/tree/print.h"
#include "passes/schedule/blocks/tensor_intrin.h"
#include "passes/schedule/shape/shape.h"

/* The schedule in which a handle is alive: sch, or else one of its copies. */
static Sched *schedule_of(Script *sc, Value handle) {
  for (int i = -1; i < sc->copies.n; i++) {
    Sched *s = i < 0 ? sc->sched : sc->copies.at[i];
    if (handle.kind == VAL_LOOP && tirc_map_has(&s->loops, handle.u.expr)) return s;
    if (handle.kind == VAL_BLOCK && tirc_map_has(&s->blocks, (void *)(uintptr_t)handle.u.block_id))
      return s;
  }
  return sc->sched;
}

Value tirc_script_resolve_in(Script *sc, Sched *s, Value handle) {
  s->loc = sc->loc;
  if (handle.rv && tirc_map_has(&s->removed, (void *)(uintptr_t)handle.rv))
    tirc_refuse(s, NULL, SERR_STALE_HANDLE, "this %s was removed with remove_rv",
                handle.kind == VAL_LOOP    ? "loop"
                : handle.kind == VAL_BLOCK ? "block"
                                           : "number");
  if (handle.kind == VAL_LOOP)
    return tirc_script_object("For", tirc_sref_of_loop(s, handle.u.expr)->stmt);
  if (handle.kind == VAL_BLOCK)
    return tirc_script_object("Block", tirc_sref_of_block(s, handle.u.block_id)->stmt);
  return handle;
}

Value tirc_script_resolve(Script *sc, Value handle) {
  return tirc_script_resolve_in(sc, schedule_of(sc, handle), handle);
}

Value tirc_script_of_stmt(Stmt s) {
  static const char *const types[] = {
      [STMT_FOR] = "For",           [STMT_BLOCK] = "Block",   [STMT_SEQ] = "SeqStmt",
      [STMT_STORE] = "BufferStore", [STMT_EVAL] = "Evaluate", [STMT_IF] = "IfThenElse",
      [STMT_WHILE] = "While",       [STMT_LET] = "LetStmt",   [STMT_ALLOC] = "Allocate",
      [STMT_DECL] = "DeclBuffer",   [STMT_ATTR] = "AttrStmt", [STMT_ASSERT] = "AssertStmt",
  };
  return s ? tirc_script_object(types[s->kind], s) : VALUE_NONE;
}

static Value of_attr(Script *sc, Expr e) {
  if (e->op != OP_TUPLE && e->op != OP_DICT) return tirc_script_of_expr(e);
  Value out = tirc_value_list(sc->c, e->op == OP_DICT ? VAL_DICT : VAL_LIST, 0, NULL);
  for (int i = 0; i < e->n; i++) tirc_value_append(sc->c, out, of_attr(sc, e->args[i]));
  return out;
}

static Value of_attrs(Script *sc, Attrs attrs) {
  Value dict = tirc_value_list(sc->c, VAL_DICT, 0, NULL);
  for (int i = 0; i < attrs.n; i++) {
    tirc_value_append(sc->c, dict, tirc_value_str(attrs.at[i].key));
    tirc_value_append(sc->c, dict, of_attr(sc, attrs.at[i].value));
  }
  return dict;
}

static Value of_exprs(Script *sc, int n, const Expr *at) {
  Value *values = tirc_new_array(sc->c, Value, n + 1);
  for (int i = 0; i < n; i++) values[i] = tirc_script_of_expr(at[i]);
  return tirc_value_list(sc->c, VAL_LIST, n, values);
}

/* A list of objects of one type, `size` bytes apart. */
static Value of_array(Script *sc, const char *type, int n, const void *at, size_t size) {
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < n; i++)
    tirc_value_append(sc->c, list, tirc_script_object(type, (const char *)at + (size_t)i * size));
  return list;
}

static const For *loop(Value v) { return &((Stmt)v.u.object)->u.loop; }
static const Block *block(Value v) { return &((Stmt)v.u.object)->u.block; }
static const IterVar *iter(Value v) { return v.u.object; }
static const Region *region(Value v) { return v.u.object; }
static const Range *range(Value v) { return v.u.object; }
static Stmt stmt(Value v) { return v.u.object; }
static const Diag *diag(Value v) { return &((const Exception *)v.u.object)->diag; }
static Value text_or_none(const char *s) { return s ? tirc_value_str(s) : VALUE_NONE; }

/* GET(name, expression of sc and v) */
#define GET(name, ...)                                                                             \
  static Value get_##name(Script *sc, Value v) {                                                   \
    (void)sc;                                                                                      \
    return __VA_ARGS__;                                                                            \
  }
GET(loop_var, tirc_value_expr(loop(v)->var))
GET(loop_name, tirc_value_str(loop(v)->var->u.s))
GET(loop_min, tirc_script_of_expr(loop(v)->min))
GET(loop_extent, tirc_script_of_expr(loop(v)->extent))
GET(loop_kind, tirc_value_str(tirc_loop_kind_name(loop(v)->kind)))
GET(loop_thread, text_or_none(loop(v)->thread))
GET(loop_annotations, of_attrs(sc, loop(v)->annotations))
GET(loop_body, tirc_script_of_stmt(loop(v)->body))

GET(block_name, tirc_value_str(block(v)->name))
GET(block_iters, of_array(sc, "IterVar", block(v)->n_iters, block(v)->iters, sizeof(IterVar)))
GET(block_values, of_exprs(sc, block(v)->n_iters, block(v)->iter_values))
GET(block_predicate, tirc_script_of_expr(block(v)->predicate))
GET(block_reads, of_array(sc, "BufferRegion", block(v)->n_reads, block(v)->reads, sizeof(Region)))
GET(block_writes,
    of_array(sc, "BufferRegion", block(v)->n_writes, block(v)->writes, sizeof(Region)))
GET(block_annotations, of_attrs(sc, block(v)->annotations))
GET(block_init, tirc_script_of_stmt(block(v)->init))
GET(block_body, tirc_script_of_stmt(block(v)->body))
GET(itself, v)

static Value get_block_matches(Script *sc, Value v) {
  return of_array(sc, "MatchBufferRegion", block(v)->n_matches, block(v)->matches,
                  sizeof(MatchBuffer));
}
GET(match_buffer, tirc_value_buffer(((const MatchBuffer *)v.u.object)->buffer))
GET(match_source, tirc_script_object("BufferRegion", &((const MatchBuffer *)v.u.object)->source))

static Value get_block_allocs(Script *sc, Value v) {
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < block(v)->n_allocs; i++)
    tirc_value_append(sc->c, list, tirc_value_buffer(block(v)->allocs[i]));
  return list;
}

/* The reference's numbers of iterator types. */
enum { DATA_PAR = 0, COMM_REDUCE = 2, ORDERED = 3, OPAQUE = 4 };
static const int iter_types[] = {[ITER_SPATIAL] = DATA_PAR,
                                 [ITER_REDUCE] = COMM_REDUCE,
                                 [ITER_OPAQUE] = OPAQUE,
                                 [ITER_SCAN] = ORDERED};

GET(iter_var, tirc_value_expr(iter(v)->var))
GET(iter_name, tirc_value_str(iter(v)->var->u.s))
GET(iter_dom, tirc_script_object("Range", &iter(v)->dom))
GET(iter_type, tirc_value_int(iter_types[iter(v)->kind]))
GET(iter_kind, tirc_value_str(tirc_iter_kind_name(iter(v)->kind)))
GET(range_min, tirc_script_of_expr(range(v)->min))
GET(range_extent, tirc_script_of_expr(range(v)->extent))
GET(region_buffer, tirc_value_buffer(region(v)->buffer))
GET(region_dims, of_array(sc, "Range", region(v)->buffer->ndim, region(v)->dims, sizeof(Range)))

GET(buffer_name, tirc_value_str(v.u.buffer->name))
GET(buffer_data, tirc_value_expr(v.u.buffer->data))
GET(buffer_shape, of_exprs(sc, v.u.buffer->ndim, v.u.buffer->shape))
GET(buffer_dtype, tirc_value_str(tirc_dtype_name(sc->c, v.u.buffer->dtype)))
GET(buffer_strides, of_exprs(sc, v.u.buffer->strides ? v.u.buffer->ndim : 0, v.u.buffer->strides))

static Value get_buffer_separators(Script *sc, Value v) {
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < v.u.buffer->n_axis_separators; i++)
    tirc_value_append(sc->c, list, tirc_value_int(v.u.buffer->axis_separators[i]));
  return list;
}
GET(buffer_offset,
    v.u.buffer->elem_offset ? tirc_script_of_expr(v.u.buffer->elem_offset) : tirc_value_int(0))
GET(buffer_align, tirc_value_int(v.u.buffer->align))
GET(buffer_factor, tirc_value_int(v.u.buffer->offset_factor))

GET(store_buffer, tirc_value_buffer(stmt(v)->u.store.buffer))
GET(store_indices, of_exprs(sc, stmt(v)->u.store.n, stmt(v)->u.store.indices))
GET(store_value, tirc_script_of_expr(stmt(v)->u.store.value))
GET(eval_value, tirc_script_of_expr(stmt(v)->u.eval.value))
GET(if_condition, tirc_script_of_expr(stmt(v)->u.branch.cond))
GET(if_then, tirc_script_of_stmt(stmt(v)->u.branch.then_case))
GET(if_else, tirc_script_of_stmt(stmt(v)->u.branch.else_case))
GET(let_var, tirc_value_expr(stmt(v)->u.let.var))
GET(let_value, tirc_script_of_expr(stmt(v)->u.let.value))
GET(let_body, tirc_script_of_stmt(stmt(v)->u.let.body))
GET(while_condition, tirc_script_of_expr(stmt(v)->u.loop_while.cond))
GET(while_body, tirc_script_of_stmt(stmt(v)->u.loop_while.body))
GET(alloc_buffer, tirc_value_buffer(stmt(v)->u.alloc.buffer))
GET(alloc_body, tirc_script_of_stmt(stmt(v)->u.alloc.body))
GET(attr_key, tirc_value_str(stmt(v)->u.attr.key))
GET(attr_value, tirc_script_of_expr(stmt(v)->u.attr.value))
GET(attr_body, tirc_script_of_stmt(stmt(v)->u.attr.body))
GET(assert_condition, tirc_script_of_expr(stmt(v)->u.check.cond))
GET(assert_message, tirc_value_str(stmt(v)->u.check.message))
GET(assert_body, tirc_script_of_stmt(stmt(v)->u.check.body))

static Value get_seq(Script *sc, Value v) {
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < stmt(v)->u.seq.n; i++)
    tirc_value_append(sc->c, list, tirc_script_of_stmt(tirc_item(stmt(v), i)));
  return list;
}

/* An operand; plain numbers are their own constants. */
static Value operand(Script *sc, Value v, int i) {
  if (v.u.expr->n <= i || v.u.expr->op == OP_LOAD)
    tirc_script_error(sc, "AttributeError", NULL, "%s has no operand %c", tirc_script_a_type(sc, v),
                      'a' + i);
  return tirc_script_of_expr(v.u.expr->args[i]);
}
GET(expr_a, operand(sc, v, 0))
GET(expr_b, operand(sc, v, 1))
GET(expr_args, of_exprs(sc, v.u.expr->n, v.u.expr->args))
GET(op_name, tirc_value_str(tirc_format(sc->c, "tir.%s", (const char *)v.u.object)))
/* Of a call: as the reference has it, an Op with a name. */
GET(call_op, tirc_script_object("Op", tirc_called(v.u.expr)))
GET(expr_dtype, tirc_value_str(tirc_dtype_name(sc->c, tirc_script_expr(sc, v)->dtype)))
GET(expr_value, tirc_script_of_expr(v.u.expr))
GET(var_name, tirc_value_str(v.u.expr->u.s))
GET(load_buffer, tirc_value_buffer(v.u.expr->u.buffer))

GET(error_message, tirc_value_str(diag(v)->message))
GET(error_code, tirc_value_str(tirc_codes[diag(v)->code].text))
GET(error_primitive, text_or_none(diag(v)->primitive))
GET(error_call, text_or_none(diag(v)->call))
GET(error_condition, text_or_none(diag(v)->condition))
GET(error_hint, text_or_none(diag(v)->hint))
GET(error_ir, text_or_none(tirc_print_marked(sc->c, diag(v)->ir)))
GET(error_line, tirc_value_int(diag(v)->loc.line))

static Value get_functions(Script *sc, Value v) {
  const Module *m = v.u.object;
  Value dict = tirc_value_list(sc->c, VAL_DICT, 0, NULL);
  for (int i = 0; i < m->n_funcs; i++) {
    tirc_value_append(sc->c, dict, tirc_value_str(m->funcs[i]->name));
    tirc_value_append(sc->c, dict, tirc_script_object("PrimFunc", m->funcs[i]));
  }
  return dict;
}
static Value get_buffer_map(Script *sc, Value v) {
  const Func *f = v.u.object;
  Value dict = tirc_value_list(sc->c, VAL_DICT, 0, NULL);
  for (int i = 0; i < f->n_params; i++) {
    if (!f->buffers[i]) continue;
    tirc_value_append(sc->c, dict, tirc_value_expr(f->params[i]));
    tirc_value_append(sc->c, dict, tirc_value_buffer(f->buffers[i]));
  }
  return dict;
}
GET(func_params,
    of_exprs(sc, ((const Func *)v.u.object)->n_params, ((const Func *)v.u.object)->params))
GET(func_attrs, of_attrs(sc, ((const Func *)v.u.object)->attrs))
GET(intrin_desc, tirc_script_object("PrimFunc", ((const TensorIntrin *)v.u.object)->desc))
GET(intrin_impl, tirc_script_object("PrimFunc", ((const TensorIntrin *)v.u.object)->impl))
GET(func_name, tirc_value_str(((const Func *)v.u.object)->name))
GET(func_body, tirc_script_of_stmt(((const Func *)v.u.object)->body))
GET(type_name,
    tirc_value_str(tirc_script_is(v, "type") ? v.u.object : ((const NativeRow *)v.u.object)->name))

const AttributeRow tirc_script_attributes[] = {
    {"For", "loop_var", get_loop_var},
    {"For", "name", get_loop_name},
    {"For", "min", get_loop_min},
    {"For", "extent", get_loop_extent},
    {"For", "kind", get_loop_kind},
    {"For", "thread_binding", get_loop_thread},
    {"For", "annotations", get_loop_annotations},
    {"For", "body", get_loop_body},
    {"Block", "name", get_block_name},
    {"Block", "name_hint", get_block_name},
    {"Block", "iter_vars", get_block_iters},
    {"Block", "iter_values", get_block_values},
    {"Block", "predicate", get_block_predicate},
    {"Block", "reads", get_block_reads},
    {"Block", "writes", get_block_writes},
    {"Block", "alloc_buffers", get_block_allocs},
    {"Block", "match_buffers", get_block_matches},
    {"MatchBufferRegion", "buffer", get_match_buffer},
    {"MatchBufferRegion", "source", get_match_source},
    {"Block", "annotations", get_block_annotations},
    {"Block", "init", get_block_init},
    {"Block", "body", get_block_body},
    {"Block", "block", get_itself}, /* of a realize, in the reference */
    {"IterVar", "var", get_iter_var},
    {"IterVar", "name", get_iter_name},
    {"IterVar", "dom", get_iter_dom},
    {"IterVar", "iter_type", get_iter_type},
    {"IterVar", "kind", get_iter_kind},
    {"Range", "min", get_range_min},
    {"Range", "extent", get_range_extent},
    {"BufferRegion", "buffer", get_region_buffer},
    {"BufferRegion", "region", get_region_dims},
    {"Buffer", "name", get_buffer_name},
    {"Buffer", "data", get_buffer_data},
    {"Buffer", "shape", get_buffer_shape},
    {"Buffer", "dtype", get_buffer_dtype},
    {"Buffer", "strides", get_buffer_strides},
    {"Buffer", "elem_offset", get_buffer_offset},
    {"Buffer", "data_alignment", get_buffer_align},
    {"Buffer", "offset_factor", get_buffer_factor},
    {"Buffer", "axis_separators", get_buffer_separators},
    {"BufferStore", "buffer", get_store_buffer},
    {"BufferStore", "indices", get_store_indices},
    {"BufferStore", "value", get_store_value},
    {"Evaluate", "value", get_eval_value},
    {"IfThenElse", "condition", get_if_condition},
    {"IfThenElse", "then_case", get_if_then},
    {"IfThenElse", "else_case", get_if_else},
    {"LetStmt", "var", get_let_var},
    {"LetStmt", "value", get_let_value},
    {"LetStmt", "body", get_let_body},
    {"SeqStmt", "seq", get_seq},
    {"While", "condition", get_while_condition},
    {"While", "body", get_while_body},
    {"Allocate", "buffer", get_alloc_buffer},
    {"Allocate", "body", get_alloc_body},
    {"DeclBuffer", "buffer", get_alloc_buffer},
    {"DeclBuffer", "body", get_alloc_body},
    {"AttrStmt", "attr_key", get_attr_key},
    {"AttrStmt", "value", get_attr_value},
    {"AttrStmt", "body", get_attr_body},
    {"AssertStmt", "condition", get_assert_condition},
    {"AssertStmt", "message", get_assert_message},
    {"AssertStmt", "body", get_assert_body},
    {"Var", "name", get_var_name},
    {"BufferLoad", "buffer", get_load_buffer},
    {"BufferLoad", "indices", get_expr_args},
    {"Call", "op", get_call_op},
    {"Op", "name", get_op_name},
    {"PrimExpr", "a", get_expr_a},
    {"PrimExpr", "b", get_expr_b},
    {"PrimExpr", "args", get_expr_args},
    {"PrimExpr", "dtype", get_expr_dtype},
    {"PrimExpr", "value", get_expr_value},
    {"IntImm", "value", get_itself},
    {"IntImm", "dtype", get_expr_dtype},
    {"FloatImm", "value", get_itself},
    {"FloatImm", "dtype", get_expr_dtype},
    {"Exception", "message", get_error_message},
    {"Exception", "code", get_error_code},
    {"Exception", "primitive", get_error_primitive},
    {"Exception", "call", get_error_call},
    {"Exception", "condition", get_error_condition},
    {"Exception", "hint", get_error_hint},
    {"Exception", "ir", get_error_ir},
    {"Exception", "line", get_error_line},
    {"IRModule", "functions", get_functions},
    {"PrimFunc", "name", get_func_name},
    {"str", "name_hint", get_itself},  /* functions go by their names and thread axes by their */
    {"str", "thread_tag", get_itself}, /* tags, which the reference wraps */
    {"PrimFunc", "params", get_func_params},
    {"PrimFunc", "buffer_map", get_buffer_map},
    {"PrimFunc", "attrs", get_func_attrs},
    {"PrimFunc", "body", get_func_body},
    {"TensorIntrin", "desc", get_intrin_desc},
    {"TensorIntrin", "impl", get_intrin_impl},
    {"type", "__name__", get_type_name},
    {"builtin", "__name__", get_type_name},
    {0},
};

/* --- methods ---------------------------------------------------------------------------------- */

static Value show(Script *sc, const char *text) {
  if (sc->out) {
    sc->out(sc->self, text);
    sc->out(sc->self, "\n");
  }
  return VALUE_NONE;
}

static Value run_show_it(Script *sc, Value self, const Args *a) {
  return (void)a, show(sc, tirc_script_str(sc, self));
}

static Value run_script(Script *sc, Value self, const Args *a) {
  return (void)a, tirc_value_str(tirc_script_str(sc, self));
}

static Value run_scope(Script *sc, Value self, const Args *a) {
  return (void)sc, (void)a, tirc_value_str(self.u.buffer->scope);
}

static Value run_same_as(Script *sc, Value self, const Args *a) {
  return tirc_script_compare(sc, "is", self, tirc_script_resolve(sc, a->at[0]));
}

static Value run_names(Script *sc, Value self, const Args *a) {
  (void)a;
  return tirc_script_collect(sc, get_functions(sc, self), VAL_LIST);
}

/* A function goes by its name. */
static Value run_name(Script *sc, Value self, const Args *a) {
  const Value name = a->at[0];
  const Module *m = self.u.object;
  bool found = false;
  for (int i = 0; i < m->n_funcs; i++)
    found |= name.kind == VAL_STR && !strcmp(m->funcs[i]->name, name.u.s);
  if (!found)
    tirc_script_error(sc, "ValueError", NULL, "the module has no function %s",
                      tirc_script_repr(sc, name));
  return name;
}

static Value run_items(Script *sc, Value self, const Args *a) {
  (void)a;
  Value dict = get_functions(sc, self), list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < dict.u.list->n; i += 2)
    tirc_value_append(sc->c, list, tirc_value_list(sc->c, VAL_TUPLE, 2, dict.u.list->at + i));
  return list;
}

const NativeRow tirc_script_object_methods[] = {
    {"IRModule", "get_global_vars", run_names, 0, 0, NULL},
    {"IRModule", "get_global_var", run_name, 1, 1, NULL},
    {"IRModule", "functions_items", run_items, 0, 0, NULL},
    {"IRModule", "show", run_show_it, 0, 0, NULL},
    {"IRModule", "script", run_script, 0, 0, NULL},
    {"PrimFunc", "show", run_show_it, 0, 0, NULL},
    {"PrimFunc", "script", run_script, 0, 0, NULL},
    {"Buffer", "scope", run_scope, 0, 0, NULL},
    {"Buffer", "same_as", run_same_as, 1, 1, NULL},
    {"For", "same_as", run_same_as, 1, 1, NULL},
    {"Block", "same_as", run_same_as, 1, 1, NULL},
    {"IterVar", "same_as", run_same_as, 1, 1, NULL},
    {"PrimExpr", "astype", tirc_script_astype, 0, 1, "dtype"},
    {"PrimExpr", "same_as", run_same_as, 1, 1, NULL},
    {"StmtSRef", "same_as", run_same_as, 1, 1, NULL},
    {0},
};
