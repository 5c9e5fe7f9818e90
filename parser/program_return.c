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

/* T.ret(x), T.call_intrin("int32", "tir.ret", x), either in T.evaluate; NULL: it is none of these.
 */
static const Syn *ret_call(Reader *r, const Syn *call) {
  const char *path = call && call->kind == SYN_CALL ? tirc_names_path(r, call->a) : NULL;
  if (!path) return NULL;
  if (strcmp(path, "T.evaluate") == 0 && call->kids.n == 1) return ret_call(r, call->kids.at[0]);
  const bool named = strcmp(path, "T.call_intrin") == 0 && call->kids.n == 3;
  const Syn *name = named ? call->kids.at[1] : NULL;
  const bool intrinsic = name && name->kind == SYN_STRING && strcmp(name->s, "tir.ret") == 0;
  return intrinsic || strcmp(path, "T.ret") == 0 ? call : NULL;
}

/* A return: its value, or the call that has it; the statement itself where it has none. NULL: it is
 * no return. */
static const Syn *returned(Reader *r, const Syn *s) {
  if (s->kind == SYN_EXPR_STMT) return ret_call(r, s->a);
  if (s->kind != SYN_RETURN) return NULL;
  const Syn *call = ret_call(r, s->a);
  return call ? call : s->a ? s->a : s;
}

static const Syn *returned_value(Reader *r, const Syn *s) {
  const Syn *at = returned(r, s);
  if (at == s) READ_FAIL(r, s, CODE_UNSUPPORTED, NULL, "a return without a value");
  if (!ret_call(r, at)) return at;
  const Syn *last = at->kids.n ? at->kids.at[at->kids.n - 1] : NULL;
  const bool intrinsic = strcmp(tirc_names_path(r, at->a), "T.ret") != 0;
  if (!last || at->kids.n != (intrinsic ? 3 : 1) || last->kind == SYN_KEYWORD ||
      last->kind == SYN_STAR)
    READ_FAIL(r, at, CODE_ARGUMENT, "for another type: T.ret(T.Cast(\"int64\", x))",
              "T.ret takes one value");
  return last;
}

static bool has_return(Reader *r, SynList list) {
  for (int i = 0; i < list.n; i++) {
    const Syn *s = list.at[i];
    if (s->kind == SYN_DEF) continue; /* which no statement is */
    if (returned(r, s) || has_return(r, s->body) || has_return(r, s->orelse)) return true;
  }
  return false;
}

/* Without what does nothing at the end of it. */
static SynList without_idle(SynList list) {
  for (; list.n; list.n--) {
    const Syn *last = list.at[list.n - 1];
    if (last->kind != SYN_PASS && (last->kind != SYN_EXPR_STMT || last->a->kind != SYN_STRING))
      break;
  }
  return list;
}

/* Whether each way through the statements returns. */
static bool always_returns(Reader *r, SynList list) {
  list = without_idle(list);
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
  r->func->ends_early = r->func->ends_early || rest.n;
  Syn *to = tirc_copy(r->c, s, 1);
  to->body = with_last_returns(r, then_returns ? s->body : joined(r, s->body, rest), s);
  to->orelse = with_last_returns(r, else_returns ? s->orelse : joined(r, s->orelse, rest), s);
  return to;
}

/* The statements with a return at the end of each way through them. */
static SynList with_last_returns(Reader *r, SynList list, const Syn *around) {
  list = without_idle(list);
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
  if (r->func->returns.code == TYPE_VOID && !has_return(r, def->body)) return def;
  Syn *to = tirc_copy(r->c, def, 1);
  to->body = with_last_returns(r, def->body, def);
  return to;
}

static bool is_one_number(DType t) {
  return t.lanes == 1 && (tirc_dtype_is_int(t) || tirc_dtype_is_float(t) || t.code == TYPE_BOOL);
}

DType tirc_read_returned_type(Reader *r, const Syn *s) {
  if (!s || s->kind == SYN_NONE) return DT_VOID;
  const char *path = tirc_names_path(r, s);
  const bool named = s->kind == SYN_STRING || (path && strncmp(path, "T.", 2) == 0);
  const DType t = named ? tirc_read_dtype(r, s) : DT_HANDLE;
  if (!named || (!is_one_number(t) && t.code != TYPE_VOID))
    READ_FAIL(r, s, CODE_TYPE, "write the type of a number, as in '-> T.int32'",
              "a function returns one number");
  return t;
}

/* Whether each value of a type is one of another type, or nearly, where integers become floats. A
 * float that is stored as an integer is judged there. */
static bool keeps(DType from, DType to) {
  if (tirc_dtype_equal(from, to)) return true;
  if (to.code == TYPE_BOOL) return false;
  if (from.code == TYPE_BOOL) return true;
  if (tirc_dtype_is_float(from) || tirc_dtype_is_float(to))
    return !tirc_dtype_is_float(from) || !tirc_dtype_is_float(to) || from.bits < to.bits;
  return from.code == to.code ? from.bits <= to.bits : to.code == TYPE_INT && from.bits < to.bits;
}

static void check_returned_type(Reader *r, const Syn *at, DType from, DType to) {
  const FuncFrame *f = r->func;
  if (f->returns.code == TYPE_VOID && !tirc_dtype_equal(from, to))
    READ_FAIL(r, at, CODE_TYPE, "say which behind the parameters, as in '-> T.int64'",
              "the function returns a value of type %s here, and of type %s before",
              tirc_dtype_name(r->c, from), tirc_dtype_name(r->c, to));
  if (!keeps(from, to))
    READ_FAIL(r, at, CODE_TYPE,
              tirc_format(r->c, "cast it: T.Cast(\"%s\", x)", tirc_dtype_name(r->c, to)),
              "the function returns %s, which a value of type %s may not fit into",
              tirc_dtype_name(r->c, to), tirc_dtype_name(r->c, from));
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
  FuncFrame *f = r->func;
  if (!returned(r, s)) return false;
  const Syn *value = returned_value(r, s);
  if (f->depth)
    READ_FAIL(r, s, CODE_UNSUPPORTED, "let it write its result into an array of the caller",
              "%s, which others call, returns a value", f->name);
  const PyValue v = tirc_read_value(r, value);
  DType t = f->returned ? f->returned->dtype : f->returns;
  const Expr e =
      t.code == TYPE_VOID ? tirc_py_to_expr(r, value, v) : tirc_py_to_expr_like(r, value, v, t);
  if (!is_one_number(e->dtype))
    READ_FAIL(r, value, CODE_TYPE, "write it into a buffer that is a parameter",
              "a function returns one number, and not %s", tirc_py_describe(r, v));
  if (t.code == TYPE_VOID) t = e->dtype;
  check_returned_type(r, value, e->dtype, t);
  const Buffer b = f->returned ? f->returned : make_result(r, f, t);
  const Expr zero = tirc_int32(r->c, 0);
  tirc_emit(r, s, tirc_make_store(r, s, b, 1, &zero, value, v));
  return true;
}
