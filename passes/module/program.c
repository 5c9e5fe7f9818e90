/* From a graph of calls to a plan: each result of a call is a tensor, tuples are lists of them, and
 * what a cast claims of extents becomes a check or a name for what is known. */
#include "conditions.h"
#include "graph_builder.h"
#include "ir/tree/annotations.h"
#include "passes.h"
#include "plan.h"

#include "ir/arith/equal.h"
#include "ir/tree/views.h"
#include "ir/tree/visit.h"

typedef struct Tensors { /* that a variable stands for: one, or the leaves of a tuple */
  int n;
  int *at;
} Tensors;

typedef struct Planning {
  Passes *p;
  Tirc *c;
  const Module *m;
  const Graph *g;
  PtrMap values;  /* variable, or constant -> Tensors * */
  PtrMap symbols; /* what R.match_cast gave a name -> the extent that it is */
  int n_params;   /* tensors among the graph's: they come first */
  VEC(PlanTensor) tensors;
  VEC(PlanCall) calls;
  VEC(PlanCheck) checks;
  VEC(PlanGuard) guards;
  int guard; /* the branch that is planned now, or -1 */
  bool for_code;
  PtrMap made_in_front; /* tensor number + 1 as a key: of weights and constants alone */
} Planning;

#define FAIL(k, loc, code, hint, ...) tirc_fail((k)->c, loc, code, hint, __VA_ARGS__)

/* --- tensors ---------------------------------------------------------------------------------- */

static Buffer buffer_of(Planning *k, const char *name, Info info) {
  Expr *shape = tirc_new_array(k->c, Expr, info->ndim);
  for (int i = 0; i < info->ndim; i++)
    shape[i] = tirc_substitute(k->c, info->shape[i], &k->symbols);
  return tirc_buffer(k->c, name, info->dtype, info->ndim, shape, "global");
}

static int add_tensor(Planning *k, PlanPlace place, const char *name, Info info, Loc loc) {
  if (!info || info->kind != INFO_TENSOR || !info->shape || info->dtype.code == TYPE_VOID)
    FAIL(k, loc, CODE_UNSUPPORTED,
         info && (info->kind == INFO_PRIM || info->kind == INFO_SHAPE)
             ? "let it be an extent of a tensor, or an R.Shape of such"
             : "R.match_cast(x, R.Tensor(...)) says what it is",
         "%s: '%s' is not a tensor of a known shape and type: %s", k->g->name, name,
         tirc_info_words(k->c, info));
  vec_push(k->c, k->tensors,
           ((PlanTensor){.buffer = buffer_of(k, name, info),
                         .place = place,
                         .first = -1,
                         .last = -1,
                         .guard = place == PLAN_WORKSPACE ? k->guard : -1}));
  return k->tensors.n - 1;
}

static const Tensors *single(Planning *k, int tensor) {
  Tensors *t = tirc_new(k->c, Tensors);
  *t = (Tensors){1, tirc_copy(k->c, &tensor, 1)};
  return t;
}

static int leaves_of(Info info) {
  int n = 0;
  if (!info || info->kind != INFO_TUPLE) return 1;
  for (int i = 0; i < info->n; i++) n += leaves_of(info->fields[i]);
  return n;
}

static const Tensors *constant(Planning *k, Node n) {
  const Tensors *known = tirc_map_get(&k->values, n);
  if (known) return known;
  const int i = add_tensor(k, PLAN_CONST, "const", n->info, n->loc);
  k->tensors.at[i].data = n->data;
  known = single(k, i);
  tirc_map_set(k->c, &k->values, n, known);
  return known;
}

static const Tensors *value_of(Planning *k, Node n);

static const Tensors *tuple(Planning *k, Node n) {
  VEC(int) all = {0};
  for (int i = 0; i < n->n; i++) {
    const Tensors *part = value_of(k, n->args[i]);
    for (int j = 0; j < part->n; j++) vec_push(k->c, all, part->at[j]);
  }
  Tensors *t = tirc_new(k->c, Tensors);
  *t = (Tensors){all.n, all.at};
  return t;
}

static const Tensors *item(Planning *k, Node n) {
  const Node of = n->args[0];
  const Tensors *all = value_of(k, of);
  int from = 0;
  if (!of->info || of->info->kind != INFO_TUPLE)
    FAIL(k, n->loc, CODE_UNSUPPORTED, NULL, "%s: a field of what is not a tuple", k->g->name);
  for (int i = 0; i < n->index; i++) from += leaves_of(of->info->fields[i]);
  Tensors *t = tirc_new(k->c, Tensors);
  *t = (Tensors){leaves_of(of->info->fields[n->index]), all->at + from};
  return t;
}

/* What is known already is compared; a symbol that nothing has is a name for it. */
static const Tensors *cast(Planning *k, Node n) {
  const Info to = n->info, from = n->args[0]->info;
  const Tensors *t = value_of(k, n->args[0]);
  if (to->kind != INFO_TENSOR || !from || from->kind != INFO_TENSOR || t->n != 1)
    FAIL(k, n->loc, CODE_UNSUPPORTED, NULL, "R.match_cast of what is not a tensor");
  Buffer b = k->tensors.at[t->at[0]].buffer;
  if (to->dtype.code != TYPE_VOID && !tirc_dtype_equal(to->dtype, b->dtype))
    FAIL(k, n->loc, CODE_TYPE, NULL, "R.match_cast to %s of %s", tirc_info_words(k->c, to),
         tirc_info_words(k->c, from));
  if (to->ndim >= 0 && to->ndim != b->ndim)
    FAIL(k, n->loc, CODE_SHAPE, NULL, "R.match_cast to %s of %s", tirc_info_words(k->c, to),
         tirc_info_words(k->c, from));
  for (int i = 0; to->shape && i < b->ndim; i++) {
    const Expr e = tirc_substitute(k->c, to->shape[i], &k->symbols);
    bool known = e->op != OP_VAR;
    for (int j = 0; j < k->g->n_params && !known; j++) {
      PtrMap seen = {0};
      Symbols symbols = {0};
      tirc_info_symbols(k->c, k->g->params[j]->info, &seen, &symbols);
      known = tirc_map_has(&seen, e);
    }
    if (!known) {
      tirc_map_set(k->c, &k->symbols, e, b->shape[i]);
    } else if (!tirc_expr_equal(k->c, e, b->shape[i])) {
      const char *what = tirc_format(k->c, "R.match_cast to %s of %s", tirc_info_words(k->c, to),
                                     tirc_info_words(k->c, from));
      vec_push(k->c, k->checks, ((PlanCheck){e, b->shape[i], n->loc, what, k->guard}));
    }
  }
  return t;
}

/* --- calls ------------------------------------------------------------------------------------ */

static const Tensors *results_of(Planning *k, Node n, const char *name) {
  const Info *results;
  const int count = tirc_info_results(&n->info, &results);
  Tensors *t = tirc_new(k->c, Tensors);
  *t = (Tensors){count, tirc_new_array(k->c, int, count)};
  for (int i = 0; i < count; i++)
    t->at[i] = add_tensor(k, PLAN_WORKSPACE, count > 1 ? tirc_format(k->c, "%s_%d", name, i) : name,
                          results[i], n->loc);
  return t;
}

typedef struct Stores {
  Buffer to;
  bool found;
} Stores;

static bool note_store(Visitor *v, Stmt s) {
  Stores *k = v->self;
  if (s->kind == STMT_STORE && s->u.store.buffer->data == k->to->data) k->found = true;
  return !k->found;
}

/* An argument may be read by others, or be a weight: only results are written. */
static void check_stores(Planning *k, const PlanCall *call) {
  const Stmt body = call->func ? tirc_without_views(k->c, call->func->body) : NULL;
  for (int i = 0; call->func && i < call->n - call->n_written; i++) {
    Stores stores = {call->func->buffers[i], false};
    tirc_visit_stmts(body, note_store, &stores);
    if (stores.found)
      FAIL(k, call->loc, CODE_ILL_FORMED, "results come behind the arguments",
           "%s writes its parameter %s, which is an argument here", call->func->name,
           stores.to->name);
  }
}

static void add_copy(Planning *k, int from, int to, Loc loc) {
  const int pair[] = {from, to};
  vec_push(k->c, k->calls,
           ((PlanCall){.n = 2,
                       .n_written = 1,
                       .tensors = tirc_copy(k->c, pair, 2),
                       .guard = k->guard,
                       .loc = loc}));
}

/* A result that begins with an argument gets its elements first. Where the caller gives both the
 * same place, a run copies nothing. */
static void start_result(Planning *k, const Func *f, const Tensors *args, const Tensors *out,
                         Loc loc) {
  const Expr value = f ? tirc_attrs_get(f->attrs, tirc_key(KEY_STARTS_AS)) : NULL;
  int64_t from;
  if (!value) return;
  if (!tirc_const_int(value, &from) || from < 0 || from >= args->n || out->n != 1)
    FAIL(k, loc, CODE_ILL_FORMED, NULL, "%s: its result starts as an argument that it has not",
         f->name);
  add_copy(k, args->at[from], out->at[0], loc);
}

/* The tensor that lies where this one does. */
static int root_of(const Planning *k, int tensor) {
  const PlanTensor *t = &k->tensors.at[tensor];
  return t->place == PLAN_VIEW ? t->index : tensor;
}

/* Whether the result can be read where the argument lies: an input may have been overwritten by
 * then, where the caller lets a result begin there. */
static bool is_view(const Planning *k, const Func *f, const Tensors *args) {
  return f && k->guard < 0 && args->n == 1 &&
         tirc_attrs_get(f->attrs, tirc_key(KEY_SAME_ELEMENTS)) &&
         k->tensors.at[root_of(k, args->at[0])].place == PLAN_WORKSPACE;
}

static const Tensors *call(Planning *k, Node n, const char *name) {
  const Tensors *args = tuple(k, n), *out = results_of(k, n, name);
  if (n->kind == NODE_CALL_TIR && is_view(k, tirc_module_func(k->m, n->name), args)) {
    k->tensors.at[out->at[0]].place = PLAN_VIEW;
    k->tensors.at[out->at[0]].index = root_of(k, args->at[0]);
    return out;
  }
  PlanCall to = {.n = args->n + out->n, .n_written = out->n, .guard = k->guard, .loc = n->loc};
  int *tensors = tirc_new_array(k->c, int, to.n);
  for (int i = 0; i < to.n; i++) tensors[i] = i < args->n ? args->at[i] : out->at[i - args->n];
  to.tensors = tensors;
  if (n->kind == NODE_CALL_TIR)
    to.func = tirc_module_func(k->m, n->name);
  else
    to.symbol = n->name;
  to.n_scalars = n->value ? n->value->n : 0;
  Expr *scalars = tirc_new_array(k->c, Expr, to.n_scalars);
  for (int i = 0; i < to.n_scalars; i++)
    scalars[i] = tirc_substitute(k->c, n->value->args[i], &k->symbols);
  to.scalars = scalars;
  check_stores(k, &to);
  start_result(k, to.func, args, out, n->loc);
  vec_push(k->c, k->calls, to);
  return out;
}

static const Tensors *value_of(Planning *k, Node n) {
  const Tensors *known;
  switch (n->kind) {
  case NODE_VAR:
    known = tirc_map_get(&k->values, n);
    if (!known)
      FAIL(k, n->loc, CODE_UNSUPPORTED, NULL, "%s: '%s' is not a tensor", k->g->name, n->name);
    return known;
  case NODE_CONST: return constant(k, n);
  case NODE_TUPLE: return tuple(k, n);
  case NODE_ITEM: return item(k, n);
  case NODE_MATCH_CAST: return cast(k, n);
  default: break;
  }
  FAIL(k, n->loc, CODE_UNSUPPORTED, NULL, "%s: '%s' is not a tensor", k->g->name,
       tirc_print_node(k->c, n));
}

/* --- branches --------------------------------------------------------------------------------- */

/* R.Shape and R.Prim of extents that tensors tell: nobody has to give them. */
static bool is_extents(Info info) {
  return info &&
         ((info->kind == INFO_SHAPE && info->shape) || (info->kind == INFO_PRIM && info->value));
}

/* Main's extents for the symbols of a function that is called, and what its parameters are. */
static PtrMap bind_call(Planning *k, Node call, const Graph *g) {
  const int n = g->n_params;
  Match match = {.c = k->c};
  Info *is = tirc_new_array(k->c, Info, n);
  for (int i = 0; i < n; i++) is[i] = tirc_substitute_info(k->c, call->args[i]->info, &k->symbols);
  const int wrong = tirc_match_params(&match, n, tirc_node_infos(k->c, n, g->params), is);
  if (wrong >= 0)
    FAIL(k, call->loc, CODE_SHAPE, NULL, "the call of %s: argument %d: %s", g->name, wrong + 1,
         match.why);
  for (int i = 0; i < n; i++)
    if (!is_extents(g->params[i]->info))
      tirc_map_set(k->c, &k->values, g->params[i], value_of(k, call->args[i]));
  return match.symbols;
}

static void plan_bindings(Planning *k, const Graph *g);

/* A condition of the graph that is planned now, in what is known of its extents. */
static Expr condition_now(Planning *k, Expr cond) {
  return tirc_simplify0(k->c, tirc_substitute(k->c, cond, &k->symbols));
}

/* What a branch asks of extents is asked where it is taken, even if it is known not to hold. */
static void check_conditions(Planning *k, const Graph *g) {
  for (int i = 0; i < tirc_n_conditions(g->attrs); i++) {
    const Need need = tirc_condition(k->c, g, i);
    const Expr cond = condition_now(k, need.cond);
    const Loc loc = *need.loc.file ? need.loc : g->loc;
    if (!tirc_is_int(cond, 1))
      vec_push(k->c, k->checks, ((PlanCheck){cond, NULL, loc, need.message, k->guard}));
  }
}

static const Tensors *plan_branch(Planning *k, Node n) {
  if (n->kind != NODE_CALL_GRAPH) return value_of(k, n);
  const Graph *g = tirc_module_graph(k->m, n->name);
  const PtrMap inside = bind_call(k, n, g), outside = k->symbols;
  k->symbols = inside;
  plan_bindings(k, g);
  check_conditions(k, g);
  const Tensors *out = value_of(k, g->result);
  k->symbols = outside;
  return out;
}

/* What calls from number `from` on make is written to another tensor from now on. */
static void write_to(Planning *k, int from, int old, int to) {
  for (int i = from; i < k->calls.n; i++) {
    const PlanCall *call = &k->calls.at[i];
    int *tensors = tirc_copy(k->c, call->tensors, call->n);
    for (int j = 0; j < call->n; j++)
      if (tensors[j] == old) tensors[j] = to;
    k->calls.at[i].tensors = tensors;
  }
  for (int i = 0; i < k->guards.n; i++)
    if (k->guards.at[i].tensor == old) k->guards.at[i].tensor = to;
}

/* Each result of a branch becomes one of the `if`: the calls that make it write there, where the
 * branch makes it; what is there without the branch, or comes out twice, is copied. */
static void give_branch(Planning *k, const Tensors *made, const Tensors *out, int first_tensor,
                        int first_call, Loc loc) {
  bool *is_own = tirc_new_array(k->c, bool, out->n);
  for (int i = 0; i < out->n; i++) {
    is_own[i] = made->at[i] >= first_tensor && k->tensors.at[made->at[i]].place == PLAN_WORKSPACE;
    for (int j = 0; j < i; j++) is_own[i] &= made->at[j] != made->at[i];
    if (!is_own[i]) add_copy(k, made->at[i], out->at[i], loc);
  }
  for (int i = 0; i < out->n; i++)
    if (is_own[i]) write_to(k, first_call, made->at[i], out->at[i]);
}

/* if c: y = cls.f(x)  else: y = cls.g(x)   ->   f's calls where c holds, g's where it does not, and
 * both write y. */
static const Tensors *plan_if(Planning *k, Node n, const char *name) {
  const Tensors *cond = value_of(k, n->args[0]);
  const int outer = k->guard;
  const Buffer b = cond->n == 1 ? k->tensors.at[cond->at[0]].buffer : NULL;
  if (!b || b->ndim || b->dtype.code != TYPE_BOOL)
    FAIL(k, n->loc, CODE_UNSUPPORTED, NULL, "%s: the condition of an `if` is one bool", k->g->name);
  const Tensors *out = results_of(k, n, name);
  for (int i = 1; i < 3; i++) {
    const int first_tensor = k->tensors.n, first_call = k->calls.n;
    vec_push(k->c, k->guards, ((PlanGuard){outer, cond->at[0], i == 1}));
    k->guard = k->guards.n - 1;
    const Tensors *made = plan_branch(k, n->args[i]);
    if (made->n != out->n)
      FAIL(k, n->loc, CODE_UNSUPPORTED, NULL, "%s: the branches of an `if` give the same",
           k->g->name);
    give_branch(k, made, out, first_tensor, first_call, n->loc);
  }
  k->guard = outer;
  return out;
}

/* --- bindings --------------------------------------------------------------------------------- */

static void plan_binding(Planning *k, const Binding *b) {
  const Node n = b->value;
  const bool is_call = n->kind == NODE_CALL_TIR || n->kind == NODE_CALL_DPS;
  if (n->kind == NODE_CALL || n->kind == NODE_CALL_GRAPH)
    FAIL(k, n->loc, CODE_UNSUPPORTED, "let the passes of phase 2 run",
         "%s: %s is not a call of a prim_func yet", k->g->name, tirc_print_node(k->c, n));
  if (n->kind == NODE_VALUE || n->kind == NODE_SHAPE) return; /* used by operators only */
  tirc_map_set(k->c, &k->values, b->var,
               is_call              ? call(k, n, b->var->name)
               : n->kind == NODE_IF ? plan_if(k, n, b->var->name)
                                    : value_of(k, n));
}

static void plan_bindings(Planning *k, const Graph *g) {
  for (int b = 0; b < g->n_blocks; b++)
    for (int i = 0; i < g->blocks[b].n; i++) plan_binding(k, &g->blocks[b].at[i]);
}

/* --- the order -------------------------------------------------------------------------------- */

static bool is_in_front(Planning *k, int tensor) {
  const PlanTensor *t = &k->tensors.at[root_of(k, tensor)];
  return t->place == PLAN_CONST || t->place == PLAN_PREPARED ||
         (t->place == PLAN_PARAM && tirc_map_has(&k->made_in_front, t->buffer));
}

static bool has_open_extents(Planning *k, const PlanCall *call) {
  int64_t known;
  for (int j = 0; j < call->n; j++) {
    const Buffer b = k->tensors.at[call->tensors[j]].buffer;
    for (int d = 0; d < b->ndim; d++)
      if (!tirc_const_int(b->shape[d], &known)) return true;
  }
  for (int j = 0; j < call->n_scalars; j++)
    if (!tirc_const_int(call->scalars[j], &known)) return true;
  return false;
}

/* Calls of weights and constants alone come first, and their results stay. */
static int move_in_front(Planning *k) {
  PlanCall *order = tirc_new_array(k->c, PlanCall, k->calls.n);
  bool *front = tirc_new_array(k->c, bool, k->calls.n);
  int n = 0, prepared = 0;
  for (int i = 0; i < k->calls.n; i++) {
    const PlanCall *call = &k->calls.at[i];
    front[i] = call->guard < 0 && /* a branch is not run ahead of its condition */
               !(k->for_code && has_open_extents(k, call));
    for (int j = 0; j < call->n - call->n_written; j++)
      front[i] &= is_in_front(k, call->tensors[j]);
    for (int j = call->n - call->n_written; j < call->n && front[i]; j++) {
      k->tensors.at[call->tensors[j]].place = PLAN_PREPARED;
      k->tensors.at[call->tensors[j]].index = prepared++;
    }
    if (front[i]) order[n++] = *call;
  }
  const int in_front = n;
  for (int i = 0; i < k->calls.n; i++)
    if (!front[i]) order[n++] = k->calls.at[i];
  k->calls.at = order;
  k->calls.cap = n;
  return in_front;
}

static void is_alive(Planning *k, int tensor, int call) {
  PlanTensor *t = &k->tensors.at[root_of(k, tensor)];
  if (t->first < 0) t->first = call;
  t->last = call;
}

static void find_lives(Planning *k) {
  for (int i = 0; i < k->calls.n; i++) {
    for (int j = 0; j < k->calls.at[i].n; j++) is_alive(k, k->calls.at[i].tensors[j], i);
    for (int g = k->calls.at[i].guard; g >= 0; g = k->guards.at[g].outer)
      is_alive(k, k->guards.at[g].tensor, i);
  }
}

/* --- results ---------------------------------------------------------------------------------- */

/* A result is written by a call where it can be; a parameter, a constant, or a tensor that comes
 * out twice, is copied. */
static void give_results(Planning *k, const Tensors *out, int n_params) {
  for (int i = 0; i < out->n; i++) {
    PlanTensor *t = &k->tensors.at[out->at[i]];
    if (t->place == PLAN_WORKSPACE) {
      t->place = PLAN_RESULT;
      t->index = n_params + i;
      continue;
    }
    struct BufferNode own = *t->buffer;
    const PlanTensor to = {
        .buffer = tirc_buffer(k->c, own.name, own.dtype, own.ndim, own.shape, "global"),
        .place = PLAN_RESULT,
        .index = n_params + i,
        .first = -1,
        .last = -1,
        .guard = -1};
    vec_push(k->c, k->tensors, to);
    add_copy(k, out->at[i], k->tensors.n - 1, (Loc){0});
  }
}

/* Each result is stored to, so that whoever asks hears that it is written. */
static Stmt stores_of(Tirc *c, int n, const Buffer *buffers) {
  Stmt *at = tirc_new_array(c, Stmt, n);
  for (int i = 0; i < n; i++) {
    Buffer b = buffers[i];
    Expr *zeros = tirc_new_array(c, Expr, b->ndim);
    for (int d = 0; d < b->ndim; d++) zeros[d] = tirc_int(c, b->shape[d]->dtype, 0);
    const Expr value =
        tirc_dtype_is_float(b->dtype) ? tirc_float(c, b->dtype, 0) : tirc_int(c, b->dtype, 0);
    at[i] = tirc_store(c, b, b->ndim, zeros, value);
  }
  return tirc_seq(c, n, at);
}

static bool is_in_file(Planning *k, const char *name, int count) {
  for (int i = 0; i < count; i++) {
    const char *in_file = tirc_result_in_file(k->g->attrs, i);
    if (in_file && !strcmp(in_file, name)) return true;
  }
  return false;
}

/* What the file calls one result is no other one's name. */
static const char *spelling(Planning *k, const char *in_file, int count) {
  const char *name = tirc_graph_spelling(k->c, in_file);
  while (strcmp(name, in_file) != 0 && is_in_file(k, name, count))
    name = tirc_format(k->c, "%s_", name);
  return name;
}

static const char *result_name(Planning *k, Node n, int i, int count) {
  const char *in_file = tirc_result_in_file(k->g->attrs, i);
  const Node named = n->kind == NODE_TUPLE && i < n->n ? n->args[i] : n;
  const char *base = in_file ? spelling(k, in_file, count)
                     : named->kind == NODE_VAR && (n->kind == NODE_TUPLE || count == 1)
                         ? named->name
                         : tirc_format(k->c, "out%d", i);
  for (int p = 0; p < k->g->n_params; p++)
    if (strcmp(k->g->params[p]->name, base) == 0) return tirc_format(k->c, "%s_out", base);
  return base;
}

/* The conditions that are not known to hold, asserted in front of `body`. */
static Stmt asserting(Planning *k, Stmt body) {
  for (int i = tirc_n_conditions(k->g->attrs) - 1; i >= 0; i--) {
    const Need need = tirc_condition(k->c, k->g, i);
    const Loc loc = *need.loc.file ? need.loc : k->g->loc;
    const Expr cond = condition_now(k, need.cond);
    int64_t holds;
    if (!tirc_const_int(cond, &holds))
      body = tirc_with_loc(k->c, tirc_assert_stmt(k->c, cond, need.message, body), loc);
    else if (!holds)
      FAIL(k, loc, CODE_VALUE, NULL, "%s", need.message);
  }
  return body;
}

/* What random inputs are drawn from. */
static Attrs ranges_of(Planning *k, int n, const Buffer *params) {
  Attrs attrs = {0};
  int64_t first;
  Expr end;
  for (int i = 0; i < n; i++)
    if (tirc_graph_range(k->g->attrs, params[i]->name, &first, &end))
      attrs = tirc_with_index_range(k->c, attrs, i, first, end);
  return attrs;
}

/* And what the file calls them all. */
static Attrs names_of(Planning *k, Attrs attrs, int n, const Buffer *results) {
  const char *key = tirc_key(KEY_FILE_NAMES);
  const Expr names = tirc_attrs_get(k->g->attrs, key);
  if (names) attrs = tirc_attrs_set(k->c, attrs, key, names);
  for (int i = 0; i < n; i++) {
    const char *in_file = tirc_result_in_file(k->g->attrs, i);
    if (in_file && strcmp(in_file, results[i]->name) != 0)
      attrs = tirc_with_name_in_file(k->c, attrs, results[i]->name, in_file);
  }
  return attrs;
}

/* Which result counts the rows of another one: a scalar integer, and an axis that is there. */
static Attrs counts_of(Planning *k, Attrs attrs, int n, const Buffer *results) {
  for (int i = 0, axis; i < n; i++)
    for (int nth = 0, count; (count = tirc_result_count(k->g->attrs, i, nth, &axis)) >= 0; nth++) {
      if (count >= n || results[count]->ndim || !tirc_dtype_is_int(results[count]->dtype) ||
          axis < 0 || axis >= results[i]->ndim)
        FAIL(k, k->g->loc, CODE_VALUE, NULL,
             "%s: result %d has no rows along axis %d that result %d, an integer, could count",
             k->g->name, i, axis, count);
      attrs = tirc_with_result_count(k->c, attrs, i, count, axis);
    }
  return attrs;
}

static const Func *signature_of(Planning *k, const Tensors *out) {
  const int n_params = k->n_params, n = n_params + out->n;
  Func *f = tirc_new(k->c, Func);
  Expr *params = tirc_new_array(k->c, Expr, n);
  Buffer *buffers = tirc_new_array(k->c, Buffer, n);
  for (int i = 0; i < n; i++) {
    Buffer b = k->tensors.at[i < n_params ? i : out->at[i - n_params]].buffer;
    if (i >= n_params) {
      const char *name = result_name(k, k->g->result, i - n_params, out->n);
      for (int j = 0; j < i; j++)
        if (strcmp(buffers[j]->name, name) == 0) name = tirc_format(k->c, "%s_%d", name, i);
      b = tirc_buffer(k->c, name, b->dtype, b->ndim, b->shape, "global");
    }
    buffers[i] = b;
    params[i] = tirc_var(k->c, tirc_format(k->c, "%s_handle", b->name), DT_HANDLE);
  }
  *f = (Func){.name = k->g->name,
              .n_params = n,
              .params = params,
              .buffers = buffers,
              .loc = k->g->loc,
              .attrs = counts_of(
                  k, names_of(k, ranges_of(k, n_params, buffers), out->n, buffers + n_params),
                  out->n, buffers + n_params),
              .body = asserting(k, stores_of(k->c, out->n, buffers + n_params))};
  return f;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void take_bounds(Planning *k, Plan *plan) {
  PtrMap seen = {0};
  Symbols symbols = {0};
  VEC(PlanBound) bounds = {0};
  for (int i = 0; i < k->g->n_params; i++)
    tirc_info_symbols(k->c, k->g->params[i]->info, &seen, &symbols);
  for (int i = 0; i < symbols.n; i++) {
    const ExtentBounds b = tirc_extent_bounds(k->g->attrs, symbols.at[i]->u.s);
    if (b.lower > 0 || b.upper < INT64_MAX)
      vec_push(k->c, bounds, ((PlanBound){symbols.at[i], b.lower, b.upper}));
  }
  plan->n_bounds = bounds.n;
  plan->bounds = bounds.at;
}

/* A symbol that nothing tells has no value when the graph runs. */
static void require_told(Planning *k) {
  const Expr untold = tirc_untold_symbol(k->c, k->g->n_params, k->g->params, 0, NULL, false);
  if (untold)
    FAIL(k, k->g->loc, CODE_SHAPE,
         tirc_format(k->c, "let it be an extent of a parameter by itself, or give it: -D %s=8",
                     untold->u.s),
         "%s: nothing tells what \"%s\" is", k->g->name, untold->u.s);
}

static const Plan *plan_module(Passes *p, const Module *m, bool for_code) {
  const Graph *g = tirc_module_main_graph(m);
  if (!g)
    tirc_fail(p->c, (Loc){m->file, 0, 0}, CODE_NAME, "call one of them main, or take one: --entry",
              "the module has %d graphs and none is called main", m->n_graphs);
  Planning k = {.p = p, .c = p->c, .m = m, .g = g, .guard = -1, .for_code = for_code};
  const Expr inputs = tirc_attrs_get(g->attrs, tirc_key(KEY_NUM_INPUT));
  int64_t before_weights = g->n_params;
  int n_inputs = 0;
  if (inputs) tirc_const_int(inputs, &before_weights);
  require_told(&k);
  for (int i = 0; i < g->n_params; i++) {
    if (is_extents(g->params[i]->info)) continue;
    const int t =
        add_tensor(&k, PLAN_PARAM, g->params[i]->name, g->params[i]->info, g->params[i]->loc);
    k.tensors.at[t].index = k.n_params++;
    if (i < before_weights)
      n_inputs++;
    else
      tirc_map_set(k.c, &k.made_in_front, k.tensors.at[t].buffer, g);
    tirc_map_set(k.c, &k.values, g->params[i], single(&k, t));
  }
  plan_bindings(&k, g);
  const Tensors *out = value_of(&k, g->result);
  Plan *plan = tirc_new(p->c, Plan);
  plan->n_prepare = move_in_front(&k);
  plan->signature = signature_of(&k, out);
  give_results(&k, out, k.n_params);
  find_lives(&k);
  plan->n_inputs = n_inputs;
  plan->n_params = k.n_params;
  plan->n_results = out->n;
  plan->n_tensors = k.tensors.n;
  plan->tensors = k.tensors.at;
  plan->n_calls = k.calls.n;
  plan->calls = k.calls.at;
  plan->n_guards = k.guards.n;
  plan->guards = k.guards.at;
  plan->n_checks = k.checks.n;
  plan->checks = k.checks.at;
  take_bounds(&k, plan);
  return plan;
}

const Plan *tirc_plan(Passes *p, const Module *m) { return plan_module(p, m, false); }

const Plan *tirc_plan_for_code(Passes *p, const Module *m) { return plan_module(p, m, true); }
