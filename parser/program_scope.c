/* Statements that scope over what follows them in their body: let, attributes, assertions, launched
 * threads. Each is described by a Scoping; `with` closes it at the end of its block, a line of its
 * own at the end of the body that it stands in. */
#include "reader.h"

static PyValue py_scope(const Call *call, Scoping *s) {
  s->loc = call->node->loc;
  return (PyValue){.kind = PY_SCOPE, .u.scope = s};
}

static PyValue bind_let(Reader *r, const Call *call, Expr var, Expr value) {
  if (!tirc_dtype_equal(var->dtype, value->dtype))
    READ_FAIL(r, call->node, CODE_TYPE, "cast the value",
              "a value of type %s cannot be bound to a %s", tirc_dtype_name(r->c, value->dtype),
              tirc_dtype_name(r->c, var->dtype));
  Scoping *s = tirc_new(r->c, Scoping);
  s->kind = STMT_LET;
  s->var = var;
  s->value = value;
  s->yields = tirc_py_expr(var);
  return py_scope(call, s);
}

static Expr read_variable(Reader *r, const Syn *s) {
  Expr var = tirc_read_expr(r, s);
  if (var->op != OP_VAR) READ_FAIL(r, s, CODE_TYPE, NULL, "expected a variable");
  return var;
}

/* T.LetStmt(value, var=v) */
static PyValue read_let_stmt(Reader *r, const Call *call) {
  Expr value = tirc_read_expr(r, call->args[0]);
  const char *name = tirc_target_name(r, 0, 1);
  DType t = call->args[1] ? tirc_read_dtype(r, call->args[1]) : value->dtype;
  Expr var = call->args[2] ? read_variable(r, call->args[2]) : tirc_var(r->c, name ? name : "v", t);
  return bind_let(r, call, var, value);
}

/* T.let(v, value), and T.let(v, value, body) in an expression. */
static PyValue read_old_let(Reader *r, const Call *call) {
  if (!call->args[1]) {
    Expr value = tirc_read_expr(r, call->args[0]);
    const char *name = tirc_target_name(r, 0, 1);
    return bind_let(r, call, tirc_var(r->c, name ? name : "v", value->dtype), value);
  }
  Expr var = read_variable(r, call->args[0]);
  Expr value =
      tirc_py_to_expr_like(r, call->args[1], tirc_read_value(r, call->args[1]), var->dtype);
  if (!call->args[2]) return bind_let(r, call, var, value);
  Expr body = tirc_read_expr(r, call->args[2]);
  return tirc_py_expr(tirc_expr(r->c, OP_LET, body->dtype, 3, (Expr[]){var, value, body}));
}

static PyValue read_attr(Reader *r, const Call *call) {
  Scoping *s = tirc_new(r->c, Scoping);
  PyValue node = tirc_read_value(r, call->args[0]);
  s->kind = STMT_ATTR;
  s->node = node.kind == PY_INT && node.u.i == 0 ? NULL : tirc_py_to_attr(r, call->args[0], node);
  s->text = tirc_read_string(r, call->args[1], "an attribute's key");
  s->value = tirc_py_to_attr(r, call->args[2], tirc_read_value(r, call->args[2]));
  return py_scope(call, s);
}

static PyValue read_assert(Reader *r, const Call *call) {
  Scoping *s = tirc_new(r->c, Scoping);
  s->kind = STMT_ASSERT;
  s->cond = tirc_read_condition(r, call->args[0]);
  s->text = call->args[1] ? tirc_read_string(r, call->args[1], "the message") : "";
  return py_scope(call, s);
}

/* --- threads ---------------------------------------------------------------------------------- */

static PyValue read_env_thread(Reader *r, const Call *call) {
  const char *name = tirc_target_name(r, 0, 1);
  PyValue v = tirc_py_expr(tirc_var(r->c, name ? name : "v", DT_INT32));
  v.fresh = true;
  const char *tag = tirc_read_string(r, call->args[0], "a thread tag");
  tirc_map_set(r->c, &r->threads, v.u.e, tag);
  return v;
}

/* The variable of a launch around this one of the same threads, as many of them; NULL: none. */
static Expr launched_already(Reader *r, const char *tag, Expr extent) {
  const Expr var = tirc_strmap_get(&r->launched, tag);
  const Range *range = var ? tirc_map_get(&r->loop_ranges, var) : NULL;
  const bool is_gpu = !strncmp(tag, "threadIdx.", 10) || !strncmp(tag, "blockIdx.", 9);
  return range && is_gpu && tirc_expr_same(range->extent, extent) ? var : NULL;
}

/* T.launch_thread("threadIdx.x", n), or of a variable of T.env_thread: a loop bound to the thread,
 * or another name of the thread where such a loop is around it.
 */
static PyValue read_launch_thread(Reader *r, const Call *call) {
  Scoping *s = tirc_new(r->c, Scoping);
  PyValue which = tirc_read_value(r, call->args[0]);
  Expr extent = tirc_read_int(r, call->args[1], "the number of threads");
  const char *tag = which.kind == PY_STR    ? which.u.s
                    : which.kind == PY_EXPR ? tirc_map_get(&r->threads, which.u.e)
                                            : NULL;
  if (!tag)
    READ_FAIL(
        r, call->args[0], CODE_TYPE, NULL,
        "T.launch_thread needs a name such as \"threadIdx.x\", or a variable from T.env_thread");
  const char *name = tirc_target_name(r, 0, 1);
  Expr var = which.kind == PY_EXPR ? which.u.e : tirc_var(r->c, name ? name : "v", extent->dtype);
  s->kind = STMT_FOR;
  if (tirc_map_has(&r->loop_ranges, var)) s->var = tirc_var(r->c, var->u.s, var->dtype);
  s->loop = (For){.var = var,
                  .min = tirc_int(r->c, var->dtype, 0),
                  .extent = tirc_cast(r->c, var->dtype, extent),
                  .kind = LOOP_THREAD_BINDING,
                  .thread = tag};
  Range *range = tirc_new(r->c, Range);
  *range = tirc_range(s->loop.min, s->loop.extent);
  tirc_map_set(r->c, &r->loop_ranges, var, range);
  if (s->var) tirc_map_set(r->c, &r->loop_ranges, s->var, range);
  s->yields = tirc_py_expr(var);
  const Expr same = launched_already(r, tag, s->loop.extent);
  if (same) {
    s->kind = STMT_SEQ;
    s->var = same;
  } else {
    void **launched = tirc_strmap_at(r->c, &r->launched, tag);
    s->value = *launched; /* of the launch around this one */
    *launched = (void *)(s->var ? s->var : var);
  }
  return py_scope(call, s);
}

static PyValue read_unsupported(Reader *r, const Call *call) {
  READ_FAIL(r, call->node, CODE_UNSUPPORTED, "T.alloc_buffer makes a buffer in a block",
            "%s is not supported", call->name);
}

Stmt tirc_wrap(Reader *r, const Scoping *s, Stmt body) {
  For loop = s->loop;
  Stmt wrapped;
  switch (s->kind) {
  case STMT_LET: wrapped = tirc_let(r->c, s->var, s->value, body); break;
  case STMT_ATTR: wrapped = tirc_attr_stmt(r->c, s->node, s->text, s->value, body); break;
  case STMT_ASSERT: wrapped = tirc_assert_stmt(r->c, s->cond, s->text, body); break;
  case STMT_SEQ: return tirc_substitute1_stmt(r->c, body, s->loop.var, s->var);
  case STMT_FOR:
    *tirc_strmap_at(r->c, &r->launched, loop.thread) = (void *)s->value;
    loop.var = s->var ? s->var : loop.var; /* launched again: another loop */
    loop.body = s->var ? tirc_substitute1_stmt(r->c, body, s->loop.var, s->var) : body;
    wrapped = tirc_for(r->c, &loop);
    break;
  default: wrapped = tirc_alloc_stmt(r->c, s->kind, s->buffer, s->annotations, body); break;
  }
  return tirc_with_loc(r->c, wrapped, s->loc);
}

const Function tirc_scope_functions[] = {
    {"LetStmt", "value type_annotation? var?", IN_SCOPE, read_let_stmt, 0},
    {"bind", "value type_annotation? var?", IN_SCOPE, read_let_stmt, 0},
    {"let", "var value? body?", IN_SCOPE | IN_VALUE, read_old_let, 0},
    {"attr", "node attr_key value", IN_SCOPE, read_attr, 0},
    {"Assert", "condition message?", IN_SCOPE, read_assert, 0},
    {"assert", "condition message?", IN_SCOPE, read_assert, 0},
    {"env_thread", "thread_tag dtype?", IN_VALUE, read_env_thread, 0},
    {"launch_thread", "thread extent", IN_SCOPE, read_launch_thread, 0},
    {"realize", "*", IN_SCOPE, read_unsupported, 0},
    {NULL, NULL, 0, NULL, 0},
};
