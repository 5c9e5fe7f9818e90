/* Functions: parameters, and the root block that TensorIR puts around a body with blocks in it. */
#include "ir/nearest.h"
#include "ir/tree/annotations.h"
#include "relax.h"

static bool is_buffer_type(Reader *r, const Syn *s) {
  bool applied = s->kind == SYN_CALL || s->kind == SYN_SUBSCRIPT;
  const char *path = tirc_names_path(r, applied ? s->a : s);
  return path && strcmp(path, "T.Buffer") == 0;
}

/* T.handle, T.handle("float32"), T.Ptr(T.float32), T.int32 ... */
static DType read_parameter_type(Reader *r, const Syn *s) {
  bool applied = s->kind == SYN_CALL || s->kind == SYN_SUBSCRIPT;
  const Syn *type = applied ? s->a : s;
  const char *path = tirc_names_path(r, type);
  if (path && strcmp(path, "T.Ptr") == 0) return DT_HANDLE;
  DType t = tirc_read_dtype(r, type);
  if (t.code == TYPE_VOID || t.lanes != 1)
    READ_FAIL(r, s, CODE_TYPE, NULL, "a parameter cannot be of type %s", tirc_dtype_name(r->c, t));
  return t;
}

/* Scalars first, because the shapes of buffers may use scalars that stand behind them. */
static void read_parameters(Reader *r, FuncFrame *f, const Syn *def) {
  int n = def->kids.n;
  f->params.at = tirc_new_array(r->c, Expr, n);
  f->buffers.at = tirc_new_array(r->c, Buffer, n);
  f->params.n = f->params.cap = f->buffers.n = f->buffers.cap = n;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < n; i++) {
      const Syn *p = def->kids.at[i];
      if (p->i) READ_FAIL(r, p, CODE_UNSUPPORTED, NULL, "parameters with a star are not supported");
      if (p->b) READ_FAIL(r, p, CODE_UNSUPPORTED, NULL, "parameters cannot have defaults");
      if (!p->a)
        READ_FAIL(r, p, CODE_TYPE,
                  "write it as in 'A: T.Buffer((M, N), \"float32\")' or 'n: T.int32'",
                  "parameter '%s' has no type", p->s);
      bool buffer = is_buffer_type(r, p->a);
      if (buffer != (pass == 1)) continue;
      PyValue v;
      if (buffer) {
        f->buffers.at[i] = tirc_read_buffer_type(r, p->a, p->s);
        f->params.at[i] = tirc_var(r->c, tirc_format(r->c, "%s_handle", p->s), DT_HANDLE);
        v = (PyValue){.kind = PY_BUFFER, .u.buffer = f->buffers.at[i]};
      } else {
        tirc_refuse_define(r, p, p->s, "a parameter");
        f->params.at[i] = tirc_var(r->c, p->s, read_parameter_type(r, p->a));
        v = tirc_py_expr(f->params.at[i]);
      }
      tirc_names_bind(r, p, p->s, v, false);
    }
  }
}

/* A body with blocks in it stands in a root block, unless it is a block without iterators itself.
 */
static Stmt add_root(Reader *r, FuncFrame *f, const Syn *def, Stmt body) {
  bool is_root = body->kind == STMT_BLOCK && body->u.block.n_iters == 0;
  if (!f->root_allocs.n && (is_root || !f->has_blocks)) return body;
  BlockFrame root = {.name = "root", .loc = def->loc};
  for (int i = 0; i < f->root_allocs.n; i++) vec_push(r->c, root.allocs, f->root_allocs.at[i]);
  return tirc_finish_block(r, &root, body);
}

/* The statements of a body that was begun. */
static Stmt read_begun_body(Reader *r, FuncFrame *f, const Syn *def) {
  for (int i = 0; i < def->body.n; i++) tirc_read_statement(r, def->body.at[i]);
  bool single = f->body->stmts.n == 1 && !f->body->scopings.n && !f->root_allocs.n;
  for (int i = 0; i < f->uninferred.n && !single; i++) {
    Uninferred u = f->uninferred.at[i];
    Stmt *at = &f->body->stmts.at[u.at];
    *at = tirc_reader_infer(r, *at, u.has_reads, u.has_writes);
  }
  return add_root(r, f, def, tirc_end_body(r, f->body));
}

static Stmt read_function_body(Reader *r, FuncFrame *f, const Syn *def) {
  Body body;
  tirc_begin_body(r, &body);
  f->body = &body;
  return read_begun_body(r, f, def);
}

/* What is too deep for the program's tree, and not for the text's, is so of the whole function. */
static Stmt read_placed_body(Reader *r, FuncFrame *f, const Syn *def) {
  Trap trap;
  if (TIRC_TRY(r->c, trap)) {
    Stmt body = read_function_body(r, f, def);
    TIRC_END(r->c, trap);
    return body;
  }
  if (!r->c->diag.loc.line) r->c->diag.loc = def->loc;
  tirc_throw(r->c);
}

static bool says(Reader *r, const Syn *argument) {
  return argument && tirc_py_truth(tirc_read_value(r, argument));
}

static _Noreturn void wrong_decorator(Reader *r, const Syn *def, const char *path) {
  if (!def->decorators.n)
    READ_FAIL(r, def, CODE_SYNTAX, "write @T.prim_func above the function",
              "function '%s' has no @T.prim_func", def->s);
  const Syn *first = def->decorators.at[0];
  if (!path && first->kind == SYN_NAME) path = first->s;
  Nearest best = {.wanted = path ? path : "", .n_wanted = path ? strlen(path) : 0};
  tirc_offer_name(&best, "T.prim_func", strlen("T.prim_func"));
  tirc_offer_name(&best, "prim_func", strlen("prim_func"));
  tirc_offer_name(&best, "T.prim_function", strlen("T.prim_function"));
  READ_FAIL(r, first, CODE_SYNTAX,
            tirc_suggest_name(&best, "", NULL) ? "did you mean '@T.prim_func'?"
                                               : "write @T.prim_func above the function",
            "function '%s' has a decorator other than @T.prim_func", def->s);
}

/* @T.prim_func or @T.prim_func(private=True): gives what says s_tir=True, or NULL. */
static const Syn *read_decorator(Reader *r, FuncFrame *f, const Syn *def) {
  const char *path = NULL;
  const Syn *d = def->decorators.n == 1 ? def->decorators.at[0] : NULL;
  if (d) path = tirc_names_path(r, d->kind == SYN_CALL ? d->a : d);
  if (!path || strcmp(path, "T.prim_func") != 0) wrong_decorator(r, def, path);
  if (d->kind != SYN_CALL) return NULL;
  Call call;
  tirc_bind_call(r, d, path, "private? check_well_formed? s_tir?", &call);
  if (says(r, call.args[0]))
    f->attrs = tirc_attrs_set(r->c, f->attrs, "tirc.private", tirc_bool(r->c, true));
  return says(r, call.args[2]) ? call.args[2] : NULL;
}

const Func *tirc_read_func(Reader *r, const Syn *def) {
  int n_calls = 0;
  FuncFrame f = {.name = def->s, .names = r->names.bound.n, .n_calls = &n_calls};
  const Syn *s_tir = read_decorator(r, &f, def);
  f.dialect = tirc_reader_dialect(r, def, s_tir);
  r->func = &f;
  tirc_names_open(r);
  read_parameters(r, &f, def);
  f.returns = tirc_read_returned_type(r, def->b);
  def = tirc_with_last_returns(r, def);
  Stmt body = read_placed_body(r, &f, def);
  tirc_names_close(r);
  r->func = NULL;
  Func *func = tirc_new(r->c, Func);
  *func = (Func){.name = f.name,
                 .n_params = f.params.n,
                 .params = f.params.at,
                 .buffers = f.buffers.at,
                 .attrs = f.attrs,
                 .body = body,
                 .loc = def->loc};
  return func;
}

/* --- calls of functions of the module ---------------------------------------------------------- */

enum { MOST_DEEP = 16, MOST_CALLS = 4096 };

static const Syn *called_def(Reader *r, const Syn *call) {
  const char *path = call->kind == SYN_CALL ? tirc_names_path(r, call->a) : NULL;
  const size_t n = strlen(GRAPH_MODULE ".");
  if (!path || strncmp(path, GRAPH_MODULE ".", n) != 0) return NULL;
  for (int i = 0; i < r->functions.n; i++) {
    const Syn *def = r->functions.at[i];
    if (def->kind == SYN_DEF && strcmp(def->s, path + n) == 0 && !tirc_is_graph(r, def)) return def;
  }
  READ_FAIL(r, call, CODE_NAME, NULL, "the module has no function '%s' that a program can call",
            path + n);
}

/* What is no variable already gets a name: it is computed once. */
static void bind_argument(Reader *r, const Syn *arg, const Syn *param, PyValue given) {
  if (!param->a || param->i || param->b || is_buffer_type(r, param->a))
    READ_FAIL(
        r, arg, CODE_UNSUPPORTED,
        "take x: T.handle(\"float32\"), and declare T.decl_buffer(shape, \"float32\", data=x)",
        "a function that others call takes pointers and numbers, and '%s' is none", param->s);
  const DType t = read_parameter_type(r, param->a);
  const Expr value = tirc_py_to_expr_like(r, arg, given, t);
  if (!tirc_dtype_equal(value->dtype, t))
    READ_FAIL(r, arg, CODE_TYPE, NULL, "'%s' has type %s, and not %s", param->s,
              tirc_dtype_name(r->c, t), tirc_dtype_name(r->c, value->dtype));
  Expr var = value;
  if (value->op != OP_VAR) {
    var = tirc_var(r->c, param->s, t);
    tirc_open_let(r, arg, var, value);
  }
  tirc_names_bind(r, arg, param->s, tirc_py_expr(var), false);
}

static void check_call(Reader *r, const Syn *call, const Syn *def) {
  for (int i = 0; i < call->kids.n; i++)
    if (call->kids.at[i]->kind == SYN_KEYWORD || call->kids.at[i]->kind == SYN_STAR)
      READ_FAIL(r, call->kids.at[i], CODE_UNSUPPORTED, NULL,
                "arguments of a function of the module are given by position");
  if (call->kids.n != def->kids.n)
    READ_FAIL(r, call, CODE_ARGUMENT, NULL, "%s takes %d arguments, not %d", def->s, def->kids.n,
              call->kids.n);
  if (r->func->depth == MOST_DEEP)
    READ_FAIL(r, call, CODE_UNSUPPORTED, "write a loop",
              "%s calls itself, or functions call each other more than %d deep", def->s, MOST_DEEP);
  if (++*r->func->n_calls > MOST_CALLS)
    READ_FAIL(r, call, CODE_UNSUPPORTED, "write a loop; a call is a copy of the function's body",
              "the function has more than %d calls of functions, with those in what it calls",
              MOST_CALLS);
}

static bool has_other_target(const FuncFrame *caller, const FuncFrame *callee) {
  const Expr theirs = tirc_attrs_get(callee->attrs, tirc_key(KEY_TARGET));
  const Expr ours = tirc_attrs_get(caller->attrs, tirc_key(KEY_TARGET));
  return theirs && (!ours || !tirc_expr_same(theirs, ours));
}

bool tirc_read_inlined(Reader *r, const Syn *call) {
  const Syn *def = called_def(r, call);
  if (!def) return false;
  check_call(r, call, def);
  PyValue *given = tirc_new_array(r->c, PyValue, call->kids.n);
  for (int i = 0; i < call->kids.n; i++) given[i] = tirc_read_value(r, call->kids.at[i]);
  FuncFrame *caller = r->func;
  BlockFrame *block = r->block;
  FuncFrame f = {.name = def->s,
                 .dialect = caller->dialect,
                 .names = caller->names,
                 .depth = caller->depth + 1,
                 .n_calls = caller->n_calls};
  const HiddenNames hidden = tirc_names_hide(r, caller->names);
  Body body;
  r->func = &f;
  r->block = NULL;
  tirc_begin_body(r, &body);
  f.body = &body;
  for (int i = 0; i < def->kids.n; i++)
    bind_argument(r, call->kids.at[i], def->kids.at[i], given[i]);
  const Stmt made = read_begun_body(r, &f, def);
  r->func = caller;
  r->block = block;
  tirc_names_show(r, hidden);
  if (has_other_target(caller, &f))
    READ_FAIL(r, call, CODE_UNSUPPORTED, "give both functions one target",
              "%s is for another target than %s, which calls it", def->s, caller->name);
  caller->has_blocks |= f.has_blocks;
  tirc_emit(r, call, made);
  return true;
}
