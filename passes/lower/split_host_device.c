/* Each kernel becomes a function of its own, and what is left launches it:
 *
 *   def f(A, B):                              def f(A, B):
 *     for bx in T.thread_binding(...):   ->     T.call_packed("f_kernel", A.data, B.data, 4, 32)
 *       for tx in T.thread_binding(...):      def f_kernel(A, B):
 *         B[bx * 32 + tx] = A[...]              for bx in T.thread_binding(...): ...
 *
 * A kernel's parameters are the arrays that it touches, then the scalars that it uses; a launch
 * gives them and the extents of its axes of threads, in the order of tir.kernel_launch_params. */
#include "internal.h"

typedef struct Split {
  Tirc *c;
  const Func *host;
  VEC(const Func *) kernels;
} Split;

/* What a kernel takes from outside. */
typedef struct Taken {
  Tirc *c;
  PtrMap bound;       /* variables of loops and lets, data of allocations */
  PtrMap seen;        /* variables */
  VEC(Buffer) arrays; /* one a data variable */
  VEC(Buffer) views;  /* others of the same data */
  VEC(Expr) scalars;
} Taken;

static void take_var(Taken *t, Expr e) {
  if (e->dtype.code == TYPE_HANDLE || tirc_map_has(&t->bound, e) || tirc_map_has(&t->seen, e))
    return;
  tirc_map_set(t->c, &t->seen, e, e);
  vec_push(t->c, t->scalars, e);
}

static bool take_vars(Visitor *v, Expr e) {
  if (e->op == OP_VAR) take_var(v->self, e);
  return true;
}

static void take_buffer(Taken *t, Buffer b) {
  if (tirc_map_has(&t->bound, b->data)) return;
  for (int i = 0; i < t->arrays.n; i++) {
    if (t->arrays.at[i] == b) return;
    if (t->arrays.at[i]->data != b->data) continue;
    for (int k = 0; k < t->views.n; k++)
      if (t->views.at[k] == b) return;
    vec_push(t->c, t->views, b);
    return;
  }
  vec_push(t->c, t->arrays, b);
}

static bool take_expr(Visitor *v, Expr e) {
  if (e->op == OP_LOAD) take_buffer(v->self, e->u.buffer);
  return take_vars(v, e);
}

static bool bind(Visitor *v, Stmt s) {
  Taken *t = v->self;
  if (s->kind == STMT_FOR) tirc_map_set(t->c, &t->bound, s->u.loop.var, s);
  if (s->kind == STMT_LET) tirc_map_set(t->c, &t->bound, s->u.let.var, s);
  if (s->kind == STMT_ALLOC) tirc_map_set(t->c, &t->bound, s->u.alloc.buffer->data, s);
  return true;
}

static bool take_stmt(Visitor *v, Stmt s) {
  if (s->kind == STMT_STORE) take_buffer(v->self, s->u.store.buffer);
  return true;
}

static bool bind_let(Visitor *v, Expr e) {
  Taken *t = v->self;
  if (e->op == OP_LET) tirc_map_set(t->c, &t->bound, e->args[0], e);
  return true;
}

static void take(Taken *t, Stmt kernel) {
  tirc_visit_stmt(&(Visitor){.stmt = bind, .expr = bind_let, .self = t}, kernel);
  tirc_visit_stmt(&(Visitor){.stmt = take_stmt, .expr = take_expr, .self = t}, kernel);
  Visitor shapes = {.expr = take_vars, .self = t};
  for (int i = 0; i < t->arrays.n; i++)
    for (int d = 0; d < t->arrays.at[i]->ndim; d++)
      tirc_visit_expr(&shapes, t->arrays.at[i]->shape[d]);
}

/* Parameters of the host come first, in their order. */
static int rank(const Func *host, Buffer b) {
  for (int i = 0; i < host->n_params; i++)
    if (host->buffers[i] && host->buffers[i]->data == b->data) return i;
  return host->n_params;
}

static const char *name_of(const Func *host, Buffer b) {
  const int i = rank(host, b);
  return i < host->n_params ? host->buffers[i]->name : b->name;
}

static void sort(const Func *host, Taken *t) {
  for (int i = 1; i < t->arrays.n; i++) {
    Buffer b = t->arrays.at[i];
    int k = i;
    for (; k > 0 && rank(host, t->arrays.at[k - 1]) > rank(host, b); k--)
      t->arrays.at[k] = t->arrays.at[k - 1];
    t->arrays.at[k] = b;
  }
}

static Attrs attributes(Split *k, Stmt kernel) {
  Tirc *c = k->c;
  VEC(Expr) axes = {0};
  for (Stmt s = kernel; tirc_is_thread_loop(s); s = s->u.loop.body)
    vec_push(c, axes, tirc_string(c, s->u.loop.thread));
  Expr order = tirc_expr(c, OP_TUPLE, DT_VOID, axes.n, axes.at);
  Attrs a = {0};
  a = tirc_attrs_set(c, a, tirc_key(KEY_CALLING_CONV), tirc_int32(c, 2));
  a = tirc_attrs_set(c, a, tirc_key(KEY_TARGET),
                     tirc_attrs_get(k->host->attrs, tirc_key(KEY_TARGET)));
  a = tirc_attrs_set(c, a, tirc_key(KEY_IS_GLOBAL_FUNC), tirc_bool(c, true));
  a = tirc_attrs_set(c, a, tirc_key(KEY_LAUNCH_PARAMS), order);
  Expr fast = tirc_attrs_get(k->host->attrs, tirc_key(KEY_FAST_MATH));
  if (fast) a = tirc_attrs_set(c, a, tirc_key(KEY_FAST_MATH), fast);
  Expr noalias = tirc_attrs_get(k->host->attrs, tirc_key(KEY_NOALIAS));
  return tirc_attrs_set(c, a, tirc_key(KEY_NOALIAS), noalias ? noalias : tirc_bool(c, true));
}

static Stmt launch(Split *k, Stmt kernel, const char *name, const Taken *t) {
  Tirc *c = k->c;
  VEC(Expr) args = {0};
  vec_push(c, args, tirc_string(c, name));
  for (int i = 0; i < t->arrays.n; i++) vec_push(c, args, t->arrays.at[i]->data);
  for (int i = 0; i < t->scalars.n; i++) vec_push(c, args, t->scalars.at[i]);
  for (Stmt s = kernel; tirc_is_thread_loop(s); s = s->u.loop.body)
    vec_push(c, args, s->u.loop.extent);
  return tirc_eval(c, tirc_call(c, DT_INT32, CALL_PACKED, args.n, args.at));
}

static const Func *function(Split *k, Stmt kernel, const char *name, const Taken *t) {
  Tirc *c = k->c;
  const int n = t->arrays.n + t->scalars.n;
  Expr *params = tirc_new_array(c, Expr, n + 1);
  Buffer *buffers = tirc_new_array(c, Buffer, n + 1);
  PtrMap vars = {0}, arrays = {0};
  for (int i = 0; i < t->scalars.n; i++) {
    Expr var = t->scalars.at[i], to = tirc_var(c, var->u.s, var->dtype);
    tirc_map_set(c, &vars, var, to);
    params[t->arrays.n + i] = to;
  }
  for (int i = 0; i < t->arrays.n; i++) {
    struct BufferNode b = *t->arrays.at[i];
    b.name = name_of(k->host, t->arrays.at[i]);
    b.data = tirc_var(c, b.name, DT_HANDLE);
    Expr *shape = tirc_new_array(c, Expr, b.ndim);
    for (int d = 0; d < b.ndim; d++) shape[d] = tirc_substitute(c, b.shape[d], &vars);
    b.shape = shape;
    buffers[i] = tirc_buffer_copy(c, &b);
    params[i] = tirc_var(c, b.name, DT_HANDLE);
    tirc_map_set(c, &arrays, t->arrays.at[i], buffers[i]);
  }
  Stmt body = kernel;
  for (int i = 0; i < t->views.n; i++)
    body = tirc_alloc_stmt(c, STMT_DECL, t->views.at[i], (Attrs){0}, body);
  body = tirc_substitute_buffers(c, body, &arrays);
  body = tirc_lower_substitute(c, body, &vars);
  Func f = {.name = name,
            .n_params = n,
            .params = params,
            .buffers = buffers,
            .attrs = attributes(k, kernel),
            .body = body,
            .loc = k->host->loc};
  return tirc_copy(c, &f, 1);
}

static bool is_accessed(Stmt s, Buffer b) {
  return tirc_uses_of(s, b, NULL, NULL) & (USE_LOAD | USE_STORE);
}

static Stmt visit(Mutator *m, Stmt s) {
  Split *k = m->self;
  if (!tirc_is_thread_loop(s)) {
    s = tirc_mutate_stmt_children(m, s);
    const bool is_idle = s->kind == STMT_DECL && !is_accessed(s->u.alloc.body, s->u.alloc.buffer);
    return is_idle ? s->u.alloc.body : s;
  }
  const char *name = tirc_format(k->c, "%s_kernel", k->host->name);
  if (k->kernels.n) name = tirc_format(k->c, "%s_%d", name, k->kernels.n);
  Taken t = {.c = k->c};
  take(&t, s);
  sort(k->host, &t);
  vec_push(k->c, k->kernels, function(k, s, name, &t));
  return launch(k, s, name, &t);
}

const Module *tirc_lower_split_host_device(Tirc *c, const Module *m) {
  VEC(const Func *) funcs = {0};
  bool changed = false;
  for (int i = 0; i < m->n_funcs; i++) {
    Func host = *m->funcs[i];
    if (!tirc_gpu_of(&host)) {
      vec_push(c, funcs, m->funcs[i]);
      continue;
    }
    Split k = {.c = c, .host = m->funcs[i]};
    Mutator mutator = {.c = c, .stmt = visit, .self = &k};
    host.body = tirc_mutate_stmt(&mutator, host.body);
    host.attrs = tirc_attrs_remove(c, host.attrs, tirc_key(KEY_TARGET));
    vec_push(c, funcs, tirc_copy(c, &host, 1));
    for (int f = 0; f < k.kernels.n; f++) vec_push(c, funcs, k.kernels.at[f]);
    changed = true;
  }
  if (!changed) return m;
  Module to = *m;
  to.c = c;
  to.n_funcs = funcs.n;
  to.funcs = funcs.at;
  to.is_class = true;
  return tirc_copy(c, &to, 1);
}
