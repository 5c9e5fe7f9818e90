/* Functions that return a value: they write it into a buffer of one element, their last parameter.
 *
 *     if n > 0:                       if n > 0:
 *         return n          ->            result[0] = n
 *     return -n                       else:
 *                                         result[0] = -n
 *
 * So nothing but the reader knows of them. A return ends the function, and a store does not: what
 * stands behind an `if` that returns becomes its other case, and a return within a loop or a block
 * is refused. */
#include "ir/tree/annotations.h"
#include "reader.h"

/* What is returned: of `return x`, T.ret(x), T.evaluate(T.ret(x)); NULL: it is none of these. */
static const Syn *returned(Reader *r, const Syn *s) {
  if (s->kind == SYN_RETURN) return s->a ? s->a : s;
  const Syn *call = s->kind == SYN_EXPR_STMT ? s->a : NULL;
  for (int depth = 0; depth < 2 && call && call->kind == SYN_CALL && call->kids.n == 1; depth++) {
    const char *path = tirc_names_path(r, call->a);
    if (path && strcmp(path, "T.ret") == 0) return call->kids.at[0];
    if (!path || strcmp(path, "T.evaluate") != 0) return NULL;
    call = call->kids.at[0];
  }
  return NULL;
}

static bool has_return(Reader *r, SynList list) {
  for (int i = 0; i < list.n; i++) {
    const Syn *s = list.at[i];
    if (returned(r, s) || has_return(r, s->body) || has_return(r, s->orelse)) return true;
  }
  return false;
}

/* Whether each way through the statements returns. */
static bool always_returns(Reader *r, SynList list) {
  const Syn *last = list.n ? list.at[list.n - 1] : NULL;
  if (!last || last->kind != SYN_IF) return last && returned(r, last);
  return always_returns(r, last->body) && always_returns(r, last->orelse);
}

static SynList joined(Reader *r, SynList a, SynList b) {
  VEC(Syn *) all = {0};
  for (int i = 0; i < a.n; i++) vec_push(r->c, all, a.at[i]);
  for (int i = 0; i < b.n; i++) vec_push(r->c, all, b.at[i]);
  return (SynList){all.n, all.at};
}

static SynList with_last_returns(Reader *r, SynList list, const Syn *around);

/* An `if` with a return in it, whose cases end as the function does. */
static Syn *ending_if(Reader *r, const Syn *s, SynList rest) {
  const bool then_returns = always_returns(r, s->body), else_returns = always_returns(r, s->orelse);
  if (s->kind != SYN_IF || (!then_returns && !else_returns))
    READ_FAIL(r, s, CODE_UNSUPPORTED,
              "keep the value in a buffer, or let one case of the 'if' always return",
              "a function returns at its end, or at the end of an 'if', and not within this");
  if (then_returns && else_returns && rest.n)
    READ_FAIL(r, rest.at[0], CODE_SYNTAX, NULL, "the function has returned before this statement");
  Syn *to = tirc_copy(r->c, s, 1);
  to->body = with_last_returns(r, then_returns ? s->body : joined(r, s->body, rest), s);
  to->orelse = with_last_returns(r, else_returns ? s->orelse : joined(r, s->orelse, rest), s);
  return to;
}

/* The statements with a return at the end of each way through them. */
static SynList with_last_returns(Reader *r, SynList list, const Syn *around) {
  for (int i = 0; i < list.n; i++) {
    const Syn *s = list.at[i];
    const SynList before = {i, list.at}, rest = {list.n - i - 1, list.at + i + 1};
    if (returned(r, s) && rest.n)
      READ_FAIL(r, rest.at[0], CODE_SYNTAX, NULL,
                "the function has returned before this statement");
    if (returned(r, s)) return list;
    if (!has_return(r, s->body) && !has_return(r, s->orelse)) continue;
    Syn *last = ending_if(r, s, rest);
    return joined(r, before, (SynList){1, tirc_copy(r->c, &last, 1)});
  }
  READ_FAIL(r, around, CODE_TYPE, "add a return", "the function returns a value, but not here");
}

const Syn *tirc_with_last_returns(Reader *r, const Syn *def) {
  if (!has_return(r, def->body)) return def;
  Syn *to = tirc_copy(r->c, def, 1);
  to->body = with_last_returns(r, def->body, def);
  return to;
}

/* The buffer of the value; its type is what the function says, or that of the first value. */
static Buffer make_result(Reader *r, FuncFrame *f, DType t) {
  const Expr one = tirc_int32(r->c, 1);
  f->returned = tirc_buffer(r->c, "result", t, 1, &one, "global");
  vec_push(r->c, f->params, tirc_var(r->c, "result_handle", DT_HANDLE));
  vec_push(r->c, f->buffers, f->returned);
  f->attrs = tirc_attrs_set(r->c, f->attrs, tirc_key(KEY_RETURNS), tirc_bool(r->c, true));
  return f->returned;
}

bool tirc_read_return(Reader *r, const Syn *s) {
  const Syn *value = returned(r, s);
  FuncFrame *f = r->func;
  if (!value) return false;
  if (value == s) READ_FAIL(r, s, CODE_UNSUPPORTED, NULL, "a return without a value");
  if (f->depth)
    READ_FAIL(r, s, CODE_UNSUPPORTED, "let it write its result into an array of the caller",
              "%s, which others call, returns a value", f->name);
  const PyValue v = tirc_read_value(r, value);
  const Expr e = f->returns.code == TYPE_VOID ? tirc_py_to_expr(r, value, v)
                                              : tirc_py_to_expr_like(r, value, v, f->returns);
  const Buffer b = f->returned
                       ? f->returned
                       : make_result(r, f, f->returns.code == TYPE_VOID ? e->dtype : f->returns);
  const Expr zero = tirc_int32(r->c, 0);
  tirc_emit(r, s, tirc_make_store(r, s, b, 1, &zero, value, v));
  return true;
}
