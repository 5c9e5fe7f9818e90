/* Statements: bodies that grow line by line, assignments, conditions. A table of node kinds leads
 * to the function that reads each. */
#include "reader.h"

#include <math.h>

/* --- bodies ----------------------------------------------------------------------------------- */

void tirc_enter(Reader *r, const Syn *at) {
  if (++r->nest > READER_MAX_NEST)
    READ_FAIL(r, at, CODE_SYNTAX, NULL, "the program nests more than %d statements",
              READER_MAX_NEST);
}

void tirc_emit(Reader *r, const Syn *at, Stmt s) {
  if (s->loc.line == 0) s = tirc_with_loc(r->c, s, at->loc);
  vec_push(r->c, r->body->stmts, s);
}

static void open_scope(Reader *r, const Syn *at, Scoping *s) {
  tirc_enter(r, at);
  s->from = r->body->stmts.n;
  vec_push(r->c, r->body->scopings, s);
}

void tirc_begin_body(Reader *r, Body *body) {
  *body = (Body){.outer = r->body};
  r->body = body;
  tirc_names_open(r);
}

/* The statements from index `from` on; what is empty does nothing, visibly. */
static Stmt gather(Reader *r, const Body *body, int from) {
  if (body->stmts.n == from) return tirc_eval(r->c, tirc_int32(r->c, 0));
  return tirc_seq(r->c, body->stmts.n - from, body->stmts.at + from);
}

Stmt tirc_end_body(Reader *r, Body *body) {
  while (body->scopings.n) {
    const Scoping *s = body->scopings.at[--body->scopings.n];
    Stmt inside = gather(r, body, s->from);
    body->stmts.n = s->from;
    vec_push(r->c, body->stmts, tirc_wrap(r, s, inside));
    r->nest--;
  }
  tirc_names_close(r);
  r->body = body->outer;
  return gather(r, body, 0);
}

Stmt tirc_read_body(Reader *r, SynList list) {
  Body body;
  tirc_begin_body(r, &body);
  for (int i = 0; i < list.n; i++) tirc_read_statement(r, list.at[i]);
  return tirc_end_body(r, &body);
}

/* --- assignments ------------------------------------------------------------------------------ */

/* A float that an integer type has, too: 0.0 is 0 in any. */
static bool is_whole(Expr e, DType t) {
  const double least = (double)tirc_dtype_min(t), most = (double)tirc_dtype_max(t);
  return e->op == OP_FLOAT && t.lanes == 1 && !tirc_dtype_is_float(t) && t.code != TYPE_HANDLE &&
         e->u.f == trunc(e->u.f) && fabs(e->u.f) < 0x1p53 && e->u.f >= least && e->u.f <= most;
}

Stmt tirc_make_store(Reader *r, const Syn *at, Buffer b, int n, const Expr *indices,
                     const Syn *from, PyValue value) {
  DType t = b->dtype;
  for (int i = 0; i < n; i++)
    if (indices[i]->dtype.lanes > 1) t = tirc_dtype_lanes(t, indices[i]->dtype.lanes * t.lanes);
  Expr e = tirc_py_to_expr_like(r, from, value, t);
  DType u = e->dtype;
  if (u.code == TYPE_HANDLE && t.code != TYPE_HANDLE)
    READ_FAIL(r, from, CODE_TYPE, value.kind == PY_BUFFER ? "index it: B[i, j]" : NULL,
              "%s cannot be stored into %s of type %s", tirc_py_describe(r, value), b->name,
              tirc_dtype_name(r->c, t));
  if (tirc_dtype_equal(t, u)) return tirc_store(r->c, b, n, indices, e);
  if (is_whole(e, t)) e = tirc_cast(r->c, t, tirc_int(r->c, DT_INT64, (int64_t)e->u.f));
  u = e->dtype;
  bool loses = tirc_dtype_is_float(u) && !tirc_dtype_is_float(t);
  if (u.lanes != t.lanes && u.lanes != 1)
    READ_FAIL(r, at, CODE_TYPE, NULL, "a vector of %d elements cannot be stored into %d", u.lanes,
              t.lanes);
  if (loses)
    READ_FAIL(r, from, CODE_TYPE,
              tirc_format(r->c, "cast it: T.Cast(\"%s\", x)", tirc_dtype_name(r->c, t)),
              "a value of type %s cannot be stored into %s, whose elements are %s",
              tirc_dtype_name(r->c, u), b->name, tirc_dtype_name(r->c, b->dtype));
  return tirc_store(r->c, b, n, indices, tirc_cast(r->c, t, e));
}

static void assign_element(Reader *r, const Syn *at, const Syn *target, const Syn *from,
                           PyValue v) {
  Buffer b = tirc_expect_buffer(r, target->a);
  Expr indices[READER_MAX_DIMS];
  int n = tirc_read_indices(r, target, b, indices);
  tirc_emit(r, at, tirc_make_store(r, at, b, n, indices, from, v));
}

void tirc_open_let(Reader *r, const Syn *at, Expr var, Expr value) {
  Scoping *s = tirc_new(r->c, Scoping);
  s->kind = STMT_LET;
  s->loc = at->loc;
  s->var = var;
  s->value = value;
  open_scope(r, at, s);
}

/* Gives a value a name: new variables and buffers just get it, constants of the text too; any other
 * expression is bound by a let over the rest of the body. */
static void assign_name(Reader *r, const Syn *at, const Syn *target, PyValue v) {
  if (v.kind == PY_SCOPE) {
    open_scope(r, at, v.u.scope);
    v = v.u.scope->yields;
    if (v.kind == PY_NONE)
      READ_FAIL(r, at, CODE_TYPE, "write it on a line of its own", "this statement has no value");
  } else if ((v.kind == PY_EXPR && !v.fresh && v.u.e->op != OP_INT && v.u.e->op != OP_FLOAT &&
              v.u.e->op != OP_STRING) ||
             v.kind == PY_REGION) {
    Expr value = tirc_py_to_expr(r, at, v), var = tirc_var(r->c, target->s, value->dtype);
    tirc_open_let(r, at, var, value);
    v = tirc_py_expr(var);
  } else if (v.kind == PY_NONE) {
    READ_FAIL(r, at, CODE_TYPE, NULL, "there is no value for the name '%s'", target->s);
  }
  v.fresh = false;
  tirc_names_bind(r, target, target->s, v, false);
}

static void assign(Reader *r, const Syn *at, const Syn *target, const Syn *from, PyValue v) {
  switch (target->kind) {
  case SYN_NAME: assign_name(r, at, target, v); return;
  case SYN_SUBSCRIPT: assign_element(r, at, target, from, v); return;
  case SYN_TUPLE:
  case SYN_LIST:
    if (v.kind != PY_TUPLE)
      READ_FAIL(r, at, CODE_TYPE, NULL, "%s cannot be unpacked", tirc_py_describe(r, v));
    if (v.u.list.n != target->kids.n)
      READ_FAIL(r, target, CODE_TYPE, NULL, "there are %d names for %d values", target->kids.n,
                v.u.list.n);
    for (int i = 0; i < v.u.list.n; i++) assign(r, at, target->kids.at[i], from, v.u.list.at[i]);
    return;
  default: READ_FAIL(r, target, CODE_SYNTAX, NULL, "you cannot assign to this");
  }
}

static PyValue read_right_side(Reader *r, const Syn *target, const Syn *s) {
  r->target = target;
  PyValue v = s->kind == SYN_CALL && tirc_names_path(r, s->a)
                  ? tirc_read_call(r, s, IN_VALUE | IN_SCOPE)
                  : tirc_read_value(r, s);
  r->target = NULL;
  return v;
}

static void read_assign(Reader *r, const Syn *s) {
  const Syn *target = s->kids.at[0];
  if (s->kids.n != 1)
    READ_FAIL(r, s, CODE_UNSUPPORTED, "write one assignment per line",
              "an assignment cannot have several targets");
  bool pairwise =
      target->kind == SYN_TUPLE && s->a->kind == SYN_TUPLE && target->kids.n == s->a->kids.n;
  if (!pairwise) {
    assign(r, s, target, s->a, read_right_side(r, target, s->a));
    return;
  }
  PyValue *values = tirc_new_array(r->c, PyValue, target->kids.n);
  for (int i = 0; i < target->kids.n; i++)
    values[i] = read_right_side(r, target->kids.at[i], s->a->kids.at[i]);
  for (int i = 0; i < target->kids.n; i++)
    assign(r, s, target->kids.at[i], s->a->kids.at[i], values[i]);
}

/* The type in `v: T.int32 = ...`, `p: T.handle("float32") = ...` and `v: T.let[T.int32] = ...`;
 * void for `v: T.let = ...`, which has that of its value. */
static DType read_annotation(Reader *r, const Syn *s) {
  const char *path = tirc_names_path(r, s);
  if (path && strcmp(path, "T.let") == 0) return DT_VOID;
  if (s->kind == SYN_CALL) return tirc_read_dtype(r, s->a);
  if (s->kind == SYN_SUBSCRIPT && s->kids.n == 1) return read_annotation(r, s->kids.at[0]);
  return tirc_read_dtype(r, s);
}

static void read_annotated(Reader *r, const Syn *s) {
  if (s->a->kind != SYN_NAME) READ_FAIL(r, s->a, CODE_SYNTAX, NULL, "only a name can be annotated");
  DType t = read_annotation(r, s->b);
  if (t.code == TYPE_VOID && !s->c)
    READ_FAIL(r, s->b, CODE_TYPE, "write T.let[T.int32]", "%s has no type and no value", s->a->s);
  if (t.code == TYPE_VOID) t = tirc_read_expr(r, s->c)->dtype;
  Expr var = tirc_var(r->c, s->a->s, t);
  if (s->c) {
    Expr value = tirc_py_to_expr_like(r, s->c, tirc_read_value(r, s->c), t);
    if (value->op == OP_INT || value->op == OP_FLOAT) value = tirc_cast(r->c, t, value);
    if (!tirc_dtype_equal(t, value->dtype))
      READ_FAIL(r, s->c, CODE_TYPE,
                tirc_format(r->c, "cast it: T.Cast(\"%s\", x)", tirc_dtype_name(r->c, t)),
                "%s has type %s, but its value has type %s", s->a->s, tirc_dtype_name(r->c, t),
                tirc_dtype_name(r->c, value->dtype));
    tirc_open_let(r, s, var, value);
  }
  tirc_names_bind(r, s->a, s->a->s, tirc_py_expr(var), false);
}

static void read_augmented(Reader *r, const Syn *s) {
  const Syn *target = s->a;
  if (target->kind != SYN_SUBSCRIPT)
    READ_FAIL(r, s, CODE_UNSUPPORTED, "a name cannot change its value: store into a buffer instead",
              "'%s=' needs an element of a buffer on its left", s->op);
  Buffer b = tirc_expect_buffer(r, target->a);
  Expr indices[READER_MAX_DIMS];
  int n = tirc_read_indices(r, target, b, indices);
  Expr old = tirc_load(r->c, b, n, indices);
  PyValue with = tirc_read_value(r, s->b);
  Expr value =
      tirc_reader_binary(r, s, s->op, old, tirc_py_to_expr_like(r, s->b, with, old->dtype));
  tirc_emit(r, s, tirc_make_store(r, s, b, n, indices, s->b, tirc_py_expr(value)));
}

/* --- the others ------------------------------------------------------------------------------- */

static void read_expression_statement(Reader *r, const Syn *s) {
  if (s->a->kind == SYN_STRING) return; /* a docstring */
  if (tirc_read_return(r, s) || tirc_read_inlined(r, s->a)) return;
  PyValue v = s->a->kind == SYN_CALL && tirc_names_path(r, s->a->a)
                  ? tirc_read_call(r, s->a, IN_VALUE | IN_STATEMENT | IN_SCOPE)
                  : tirc_read_value(r, s->a);
  if (v.kind == PY_SCOPE)
    open_scope(r, s, v.u.scope);
  else if (v.kind == PY_EXPR && !v.fresh)
    tirc_emit(r, s, tirc_eval(r->c, v.u.e));
  else if (v.kind != PY_NONE)
    READ_FAIL(r, s, CODE_SYNTAX, "give the value a name, or use it in an expression",
              "%s on a line of its own does nothing", tirc_py_describe(r, v));
}

static void read_if(Reader *r, const Syn *s) {
  PyValue known = tirc_read_value(r, s->a);
  if (known.kind != PY_EXPR && known.kind != PY_REGION) { /* decided while reading, as in Python */
    SynList taken = tirc_py_truth(known) ? s->body : s->orelse;
    tirc_names_open(r);
    for (int i = 0; i < taken.n; i++) tirc_read_statement(r, taken.at[i]);
    tirc_names_close(r);
    return;
  }
  Expr cond = tirc_py_to_expr(r, s->a, known);
  if (cond->dtype.code != TYPE_BOOL) cond = tirc_read_condition(r, s->a);
  tirc_enter(r, s);
  Stmt then_case = tirc_read_body(r, s->body);
  Stmt else_case = s->orelse.n ? tirc_read_body(r, s->orelse) : NULL;
  r->nest--;
  tirc_emit(r, s, tirc_if(r->c, cond, then_case, else_case));
}

static void read_while(Reader *r, const Syn *s) {
  if (s->orelse.n) READ_FAIL(r, s, CODE_UNSUPPORTED, NULL, "a loop cannot have an 'else'");
  Expr cond = tirc_read_condition(r, s->a);
  tirc_enter(r, s);
  Stmt body = tirc_read_body(r, s->body);
  r->nest--;
  tirc_emit(r, s, tirc_while(r->c, cond, body));
}

/* "text", or the kind of error and the text in parts: ("ValueError", ["n is ", "odd"]). */
static const char *read_message(Reader *r, const Syn *s) {
  const bool pair = s->kind == SYN_TUPLE && s->kids.n == 2;
  if (!pair || s->kids.at[1]->kind != SYN_LIST) return tirc_read_string(r, s, "the message");
  Text t = {.c = r->c};
  (void)tirc_read_string(r, s->kids.at[0], "the kind of error");
  tirc_text_add(&t, "");
  for (int i = 0; i < s->kids.at[1]->kids.n; i++)
    tirc_text_add(&t, tirc_read_string(r, s->kids.at[1]->kids.at[i], "a part of the message"));
  return t.at;
}

static void read_assertion(Reader *r, const Syn *s) {
  Scoping *a = tirc_new(r->c, Scoping);
  a->kind = STMT_ASSERT;
  a->loc = s->loc;
  a->cond = tirc_read_condition(r, s->a);
  a->text = s->b ? read_message(r, s->b) : "";
  open_scope(r, s, a);
}

static void read_nothing(Reader *r, const Syn *s) {
  if (s->kind == SYN_IMPORT) tirc_names_import(r, s);
}

static void read_return(Reader *r, const Syn *s) { (void)tirc_read_return(r, s); }

static const struct {
  SynKind kind;
  void (*read)(Reader *r, const Syn *s);
} readers[] = {{SYN_EXPR_STMT, read_expression_statement},
               {SYN_ASSIGN, read_assign},
               {SYN_ANNASSIGN, read_annotated},
               {SYN_AUGASSIGN, read_augmented},
               {SYN_FOR, tirc_read_for},
               {SYN_WITH, tirc_read_with},
               {SYN_IF, read_if},
               {SYN_WHILE, read_while},
               {SYN_ASSERT, read_assertion},
               {SYN_RETURN, read_return},
               {SYN_PASS, read_nothing},
               {SYN_IMPORT, read_nothing},
               {SYN_GLOBAL, read_nothing}};

void tirc_read_statement(Reader *r, const Syn *s) {
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    if (readers[i].kind == s->kind) {
      readers[i].read(r, s);
      return;
    }
  static const char *const names[] = {[SYN_DEF] = "a function in a function",
                                      [SYN_CLASS] = "a class",
                                      [SYN_BREAK] = "'break'",
                                      [SYN_CONTINUE] = "'continue'",
                                      [SYN_RAISE] = "'raise'",
                                      [SYN_TRY] = "'try'",
                                      [SYN_DELETE] = "'del'"};
  READ_FAIL(r, s, CODE_UNSUPPORTED, NULL, "%s is not part of the language of programs",
            names[s->kind]);
}
