/* Well-formedness: one walk over each function with what is in scope at every point. A variable or
 * buffer is in scope from its definition to the end of the statement that defines it, and is
 * defined once in a function. Types must agree exactly: whoever builds IR inserts the casts. */
#include "verify.h"

#include "find.h"

#include "graph.h"

#include "print.h"

typedef struct Verifier {
  Tirc *c;
  PtrMap vars, buffers; /* in scope now */
  PtrMap ever;          /* defined anywhere in this function so far */
  PtrMap
      loop_blocks; /* loop variable -> how many blocks with iterators were open at its loop, + 1 */
  int open_blocks;
  const char *block; /* the innermost of these */
  Loc loc;           /* of the statement looked at */
  PtrMap constants;  /* data variables of T.allocate_const */
} Verifier;

#define FAIL(v, hint, ...) tirc_fail((v)->c, (v)->loc, CODE_ILL_FORMED, hint, __VA_ARGS__)

static const char *type_name(Verifier *v, DType t) { return tirc_dtype_name(v->c, t); }

static bool is_condition(Expr e) { return e->dtype.code == TYPE_BOOL && e->dtype.lanes == 1; }

/* --- definitions ------------------------------------------------------------------------------ */

static void define(Verifier *v, Expr var) {
  if (var->op != OP_VAR) FAIL(v, NULL, "something other than a variable is defined");
  if (tirc_map_has(&v->ever, var))
    FAIL(v, "give each definition a variable of its own", "variable %s is defined twice", var->u.s);
  tirc_map_set(v->c, &v->ever, var, var);
  tirc_map_set(v->c, &v->vars, var, var);
}

static void undefine(Verifier *v, Expr var) { tirc_map_remove(&v->vars, var); }

static void check_expr(Verifier *v, Expr e);

static void check_int(Verifier *v, Expr e, const char *what) {
  check_expr(v, e);
  if (!tirc_dtype_is_int(e->dtype))
    FAIL(v, NULL, "%s must be an integer, not %s", what, type_name(v, e->dtype));
  if (e->op == OP_LARGE_UINT)
    FAIL(v, NULL, "%s is %s, which int64 does not hold", what, tirc_digits(v->c, e));
}

/* A bare variable of a buffer's layout that nothing else defines is defined by the buffer: it is
 * solved for when the buffer is bound. */
static void define_bare(Verifier *v, Expr e) {
  if (e->op == OP_VAR && !tirc_map_has(&v->vars, e)) define(v, e);
}

static void define_layout(Verifier *v, Buffer b, bool binds_shape) {
  for (int i = 0; i < b->ndim; i++) {
    if (binds_shape) define_bare(v, b->shape[i]);
    if (b->strides) define_bare(v, b->strides[i]);
  }
  if (b->elem_offset) define_bare(v, b->elem_offset);
}

static void define_buffer(Verifier *v, Buffer b, bool binds_shape) {
  if (tirc_map_has(&v->buffers, b)) FAIL(v, NULL, "buffer %s is defined twice", b->name);
  if (!b->data || b->ndim < 0 || !b->scope) FAIL(v, NULL, "buffer %s is incomplete", b->name);
  if (b->storage != tirc_storage_of(b->scope))
    FAIL(v, NULL, "the storage of buffer %s is not that of scope \"%s\"", b->name, b->scope);
  tirc_map_set(v->c, &v->buffers, b, b);
  if (!tirc_map_has(&v->vars, b->data)) define(v, b->data);
  define_layout(v, b, binds_shape);
  for (int i = 0; i < b->ndim; i++) {
    int64_t extent;
    check_int(v, b->shape[i], "an extent of a shape");
    if (tirc_const_int(b->shape[i], &extent) && extent < 0)
      FAIL(v, NULL, "dimension %d of buffer %s is negative", i, b->name);
  }
  for (int i = 0; b->strides && i < b->ndim; i++) check_int(v, b->strides[i], "a stride");
  if (b->elem_offset) check_int(v, b->elem_offset, "an offset");
}

static void undefine_buffer(Verifier *v, Buffer b) {
  tirc_map_remove(&v->buffers, b);
  undefine(v, b->data);
}

/* --- expressions ------------------------------------------------------------------------------ */

/* A block with iterators sees the loops around it through them only. */
static void check_var(Verifier *v, Expr e) {
  if (!tirc_map_has(&v->vars, e))
    FAIL(v, tirc_map_has(&v->ever, e) ? "its loop, block or let has ended" : NULL,
         "variable %s is used where it is not defined", e->u.s);
  intptr_t level = (intptr_t)tirc_map_get(&v->loop_blocks, e);
  if (level && level - 1 < v->open_blocks)
    FAIL(v, "bind an iterator of the block to it: vi = T.axis.spatial(extent, i)",
         "block \"%s\" uses the loop variable %s that stands outside of it", v->block, e->u.s);
}

static void check_access(Verifier *v, Buffer b, int n, const Expr *indices) {
  if (!tirc_map_has(&v->buffers, b))
    FAIL(v, NULL, "buffer %s is used where it is not defined", b->name);
  if (n != b->ndim)
    FAIL(v, NULL, "buffer %s has %d dimensions, but here %d indices", b->name, b->ndim, n);
  for (int i = 0; i < n; i++) check_int(v, indices[i], "an index");
}

static void check_same(Verifier *v, Expr e, int from) {
  for (int i = from + 1; i < e->n; i++)
    if (!tirc_dtype_equal(e->args[from]->dtype, e->args[i]->dtype))
      FAIL(v, NULL, "'%s' of operands of types %s and %s", tirc_ops[e->op].name,
           type_name(v, e->args[from]->dtype), type_name(v, e->args[i]->dtype));
}

static void check_let(Verifier *v, Expr e) {
  check_expr(v, e->args[1]);
  define(v, e->args[0]);
  check_expr(v, e->args[2]);
  undefine(v, e->args[0]);
  tirc_map_remove(&v->ever, e->args[0]); /* an expression may stand in several places */
}

/* Which threads reduce together is said by their loops' variables, wherever these stand. */
static void check_all_reduce(Verifier *v, Expr e) {
  const int open = v->open_blocks;
  int64_t n;
  if (!e->n || !tirc_const_int(e->args[0], &n) || n < 1 || n > e->n) n = e->n;
  for (int i = 0; i < e->n; i++) {
    v->open_blocks = i >= 2 + 2 * n ? 0 : open;
    check_expr(v, e->args[i]);
  }
  v->open_blocks = open;
}

static void check_reducer(Verifier *v, Expr e) {
  const int n = tirc_reducer_size(e);
  for (int i = 0; i < 2 * n; i++) define(v, e->args[i]);
  for (int i = 2 * n; i < 3 * n; i++) check_expr(v, e->args[i]);
  for (int i = 0; i < 2 * n; i++) {
    undefine(v, e->args[i]);
    tirc_map_remove(&v->ever, e->args[i]);
  }
  for (int i = 3 * n; i < 4 * n; i++) check_expr(v, e->args[i]);
}

static void check_expr(Verifier *v, Expr e) {
  const OpInfo *info = &tirc_ops[e->op];
  if (e->op == OP_VAR) check_var(v, e);
  if (e->op == OP_LOAD) check_access(v, e->u.buffer, e->n, e->args);
  if (info->class == OPCLASS_LEAF || e->op == OP_LOAD) return;
  if (info->arity >= 0 && e->n != info->arity)
    FAIL(v, NULL, "'%s' of %d operands instead of %d", info->name, e->n, info->arity);
  if (e->op == OP_LET) {
    check_let(v, e);
    return;
  }
  if (tirc_reducer_size(e)) {
    check_reducer(v, e);
    return;
  }
  if (tirc_calls(e, CALL_TVM_THREAD_ALLREDUCE)) {
    check_all_reduce(v, e);
    return;
  }
  for (int i = 0; i < e->n; i++) check_expr(v, e->args[i]);
  bool chooses = e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE;
  if (chooses && e->args[0]->dtype.code != TYPE_BOOL)
    FAIL(v, NULL, "the condition of T.%s is of type %s", info->name,
         type_name(v, e->args[0]->dtype));
  bool mixed = e->op == OP_LDEXP || e->op == OP_Q_MULTIPLY_SHIFT_PER_AXIS;
  bool uniform = (info->class == OPCLASS_BINARY || info->class == OPCLASS_CALL) && !mixed;
  if (uniform && e->n > 1) check_same(v, e, chooses ? 1 : 0);
  bool logical = e->op == OP_AND || e->op == OP_OR || e->op == OP_NOT;
  if (logical && e->args[0]->dtype.code != TYPE_BOOL)
    FAIL(v, NULL, "'%s' of operands of type %s", info->name, type_name(v, e->args[0]->dtype));
}

static void check_condition(Verifier *v, Expr e) {
  check_expr(v, e);
  if (!is_condition(e)) FAIL(v, NULL, "a condition is of type %s", type_name(v, e->dtype));
}

/* --- statements ------------------------------------------------------------------------------- */

/* Of a vector: the lanes that its one store stores. */
static void check_branch_condition(Verifier *v, Stmt s) {
  const Expr cond = s->u.branch.cond;
  if (cond->dtype.lanes == 1) {
    check_condition(v, cond);
    return;
  }
  check_expr(v, cond);
  const Stmt store = s->u.branch.then_case;
  const bool is_store = store->kind == STMT_STORE && !s->u.branch.else_case;
  if (cond->dtype.code != TYPE_BOOL || !is_store ||
      store->u.store.value->dtype.lanes != cond->dtype.lanes)
    FAIL(v, "an if of a vector has one store of as many lanes", "a condition is of type %s",
         type_name(v, cond->dtype));
}

static void check_stmt(Verifier *v, Stmt s);

static void check_loop(Verifier *v, const For *f) {
  check_int(v, f->min, "a loop's start");
  check_int(v, f->extent, "a loop's extent");
  if (f->kind == LOOP_THREAD_BINDING && !f->thread) FAIL(v, NULL, "a thread loop without a thread");
  if (f->axis != tirc_gpu_axis(f->thread)) FAIL(v, NULL, "the axis of a loop is not its thread's");
  define(v, f->var);
  if (!tirc_dtype_is_int(f->var->dtype) || f->var->dtype.lanes != 1)
    FAIL(v, NULL, "the loop variable %s is of type %s", f->var->u.s, type_name(v, f->var->dtype));
  tirc_map_set(v->c, &v->loop_blocks, f->var, (void *)(intptr_t)(v->open_blocks + 1));
  check_stmt(v, f->body);
  tirc_map_remove(&v->loop_blocks, f->var);
  undefine(v, f->var);
}

static void check_region(Verifier *v, const Region *r) {
  if (!tirc_map_has(&v->buffers, r->buffer))
    FAIL(v, NULL, "a region of buffer %s, which is not defined here", r->buffer->name);
  for (int i = 0; i < r->buffer->ndim; i++) {
    check_int(v, r->dims[i].min, "the begin of a region");
    check_int(v, r->dims[i].extent, "the extent of a region");
  }
}

static void check_block_parts(Verifier *v, const Block *b) {
  for (int i = 0; i < b->n_allocs; i++) define_buffer(v, b->allocs[i], false);
  for (int i = 0; i < b->n_reads; i++) check_region(v, &b->reads[i]);
  for (int i = 0; i < b->n_writes; i++) check_region(v, &b->writes[i]);
  for (int i = 0; i < b->n_matches; i++) {
    check_region(v, &b->matches[i].source);
    define_buffer(v, b->matches[i].buffer, true);
  }
  if (b->init) check_stmt(v, b->init);
  check_stmt(v, b->body);
  for (int i = 0; i < b->n_matches; i++) undefine_buffer(v, b->matches[i].buffer);
  for (int i = 0; i < b->n_allocs; i++) undefine_buffer(v, b->allocs[i]);
}

static void check_block(Verifier *v, const Block *b) {
  const char *outer = v->block;
  for (int i = 0; i < b->n_iters; i++) {
    check_int(v, b->iters[i].dom.min, "the begin of a domain");
    check_int(v, b->iters[i].dom.extent, "the extent of a domain");
    check_int(v, b->iter_values[i], "what an iterator is bound to");
  }
  check_condition(v, b->predicate);
  for (int i = 0; i < b->n_iters; i++) define(v, b->iters[i].var);
  if (b->n_iters) {
    v->open_blocks++;
    v->block = b->name;
  }
  check_block_parts(v, b);
  if (b->n_iters) v->open_blocks--;
  v->block = outer;
  for (int i = 0; i < b->n_iters; i++) undefine(v, b->iters[i].var);
}

static void check_store(Verifier *v, Stmt s) {
  Buffer b = s->u.store.buffer;
  Expr value = s->u.store.value;
  check_access(v, b, s->u.store.n, s->u.store.indices);
  if (tirc_map_has(&v->constants, b->data))
    FAIL(v, "copy it to a buffer of its own", "%s is stored to, and its memory is constant",
         b->name);
  check_expr(v, value);
  int lanes = b->dtype.lanes;
  for (int i = 0; i < s->u.store.n; i++) lanes *= s->u.store.indices[i]->dtype.lanes;
  DType t = tirc_dtype_lanes(b->dtype, lanes);
  if (!tirc_dtype_equal(t, value->dtype))
    FAIL(v, NULL, "a value of type %s is stored into %s", type_name(v, value->dtype),
         tirc_print_buffer(v->c, b));
}

static void check_let_stmt(Verifier *v, Stmt s) {
  Expr var = s->u.let.var;
  check_expr(v, s->u.let.value);
  if (!tirc_dtype_equal(var->dtype, s->u.let.value->dtype))
    FAIL(v, NULL, "variable %s of type %s has a value of type %s", var->u.s,
         type_name(v, var->dtype), type_name(v, s->u.let.value->dtype));
  define(v, var);
  check_stmt(v, s->u.let.body);
  undefine(v, var);
}

/* As many constants as the buffer has elements, of its type. */
static void check_constants(Verifier *v, Buffer b, Expr data) {
  int64_t count = 1, extent;
  for (int i = 0; i < b->ndim; i++)
    if (!tirc_const_int(b->shape[i], &extent) || __builtin_mul_overflow(count, extent, &count))
      FAIL(v, NULL, "the shape of the constant %s is not constant", b->name);
  if (data->op != OP_TUPLE || data->n != count)
    FAIL(v, NULL, "%s has %lld elements, but the list has %d", b->name, (long long)count,
         data->op == OP_TUPLE ? data->n : 1);
  for (int i = 0; i < data->n; i++)
    if (!tirc_is_constant(data->args[i]) || !tirc_dtype_equal(data->args[i]->dtype, b->dtype))
      FAIL(v, NULL, "element %d of the constant %s is not a constant of type %s", i, b->name,
           type_name(v, b->dtype));
  tirc_map_set(v->c, &v->constants, b->data, b);
}

static void check_alloc(Verifier *v, Stmt s) {
  Buffer b = s->u.alloc.buffer;
  bool view = s->kind == STMT_DECL;
  const Expr data = tirc_attrs_get(s->u.alloc.annotations, ALLOC_DATA);
  if (view) check_expr(v, b->data);
  define_buffer(v, b, false);
  if (data && view) FAIL(v, NULL, "the view %s has data of its own", b->name);
  if (data) check_constants(v, b, data);
  check_stmt(v, s->u.alloc.body);
  if (view)
    tirc_map_remove(&v->buffers, b);
  else
    undefine_buffer(v, b);
}

static void check_stmt(Verifier *v, Stmt s) {
  Loc outer = v->loc;
  Stmt below;
  if (s->loc.line) v->loc = s->loc;
  switch (s->kind) {
  case STMT_FOR: check_loop(v, &s->u.loop); break;
  case STMT_BLOCK: check_block(v, &s->u.block); break;
  case STMT_STORE: check_store(v, s); break;
  case STMT_EVAL: check_expr(v, s->u.eval.value); break;
  case STMT_LET: check_let_stmt(v, s); break;
  case STMT_ALLOC:
  case STMT_DECL: check_alloc(v, s); break;
  default:
    if (s->kind == STMT_IF) check_branch_condition(v, s);
    if (s->kind == STMT_WHILE) check_condition(v, s->u.loop_while.cond);
    if (s->kind == STMT_ATTR && s->u.attr.node) check_expr(v, s->u.attr.node);
    if (s->kind == STMT_ATTR && s->u.attr.value) check_expr(v, s->u.attr.value);
    if (s->kind == STMT_ASSERT) check_condition(v, s->u.check.cond);
    for (int i = 0; (below = tirc_below(s, i)); i++) check_stmt(v, below);
  }
  v->loc = outer;
}

/* --- modules ---------------------------------------------------------------------------------- */

static void check_func(Tirc *c, const Func *f) {
  Verifier v = {.c = c, .loc = f->loc};
  for (int i = 0; i < f->n_params; i++) define(&v, f->params[i]);
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers && f->buffers[i]) define_layout(&v, f->buffers[i], true);
  for (int i = 0; i < f->n_params; i++) {
    Buffer b = f->buffers ? f->buffers[i] : NULL;
    if (!b) continue;
    if (f->params[i]->dtype.code != TYPE_HANDLE)
      FAIL(&v, NULL, "buffer %s is bound to the scalar parameter %s", b->name, f->params[i]->u.s);
    define_buffer(&v, b, true);
  }
  check_stmt(&v, f->body);
}

void tirc_verify(Tirc *c, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++) {
    for (int k = 0; k < i; k++)
      if (strcmp(m->funcs[i]->name, m->funcs[k]->name) == 0)
        tirc_fail(c, m->funcs[i]->loc, CODE_ILL_FORMED, NULL, "two functions are called '%s'",
                  m->funcs[i]->name);
    check_func(c, m->funcs[i]);
  }
  tirc_verify_graphs(c, m);
}
