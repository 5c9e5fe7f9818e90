/* Keys and values attached to loops and blocks:
 *
 *   for i in range(8):     annotate(i, "pragma_auto_unroll_max_step", 16)
 *   ->  for i in T.serial(8, annotations={"pragma_auto_unroll_max_step": 16}):
 *
 * A key that is there already keeps its value, as in TVM, and the call warns when the values
 * differ. */
#include "ir/tree/print.h"
#include "passes/schedule/shape/shape.h"

static Attrs *attrs_of(struct StmtNode *s) {
  return s->kind == STMT_FOR ? &s->u.loop.annotations : &s->u.block.annotations;
}

static bool is_variable(const void *self, Expr e) {
  (void)self;
  return e->op == OP_VAR || e->op == OP_LOAD;
}

/* What an annotation says holds for the whole loop or block: it cannot vary within the program. */
static Expr constant(Sched *s, Expr e) {
  const Expr found = tirc_find_expr(e, is_variable, NULL);
  if (found)
    tirc_refuse(s, NULL, SERR_ANNOTATION_VALUE, "%s cannot be an annotation: %s is not a constant",
                tirc_print_expr(s->c, e), tirc_print_expr(s->c, found));
  return e;
}

static Expr value_expr(Sched *s, Value v, int depth);

static Expr items_expr(Sched *s, Value v, Op op, int depth) {
  int n = v.u.list->n;
  Expr *items = tirc_new_array(s->c, Expr, n + 1);
  for (int i = 0; i < n; i++) {
    if (op == OP_DICT && i % 2 == 0 && v.u.list->at[i].kind != VAL_STR)
      tirc_refuse(s, NULL, SERR_ANNOTATION_VALUE, "a key of the dict is %s, not a str",
                  tirc_value_repr(s->c, v.u.list->at[i]));
    items[i] = value_expr(s, v.u.list->at[i], depth + 1);
  }
  return tirc_expr(s->c, op, DT_HANDLE, n, items);
}

static Expr value_expr(Sched *s, Value v, int depth) {
  enum { MAX_DEPTH = 32 };
  Tirc *c = s->c;
  if (depth > MAX_DEPTH)
    tirc_refuse(s, NULL, SERR_ANNOTATION_VALUE, "the value is nested too deeply");
  switch (v.kind) {
  case VAL_NONE: return tirc_expr(c, OP_NONE, DT_HANDLE, 0, NULL);
  case VAL_BOOL: /* as in TVM's Python interface, where a bool is an int */
    return depth ? tirc_bool(c, v.u.b) : tirc_int32(c, v.u.b);
  case VAL_INT: {
    bool narrow = v.u.i >= INT32_MIN && v.u.i <= INT32_MAX;
    return tirc_int(c, narrow ? DT_INT32 : DT_INT64, v.u.i);
  }
  case VAL_FLOAT: return tirc_float(c, DT_FLOAT32, v.u.f);
  case VAL_STR: return tirc_string(c, v.u.s);
  case VAL_EXPR: return constant(s, v.u.expr);
  case VAL_LIST:
  case VAL_TUPLE: return items_expr(s, v, OP_TUPLE, depth);
  case VAL_DICT: return items_expr(s, v, OP_DICT, depth);
  default:
    tirc_refuse(s, NULL, SERR_ANNOTATION_VALUE, "%s cannot be an annotation",
                tirc_value_repr(c, v));
  }
}

static void set_attrs(Sched *s, SRef *r, const char *key, Attrs attrs) {
  struct StmtNode *copy = tirc_copy(s->c, r->stmt, 1);
  *attrs_of(copy) = attrs;
  tirc_sched_replace(s, r, tirc_stmt_done(s->c, copy));
  tirc_mark_changed(s, r, key);
}

void tirc_prim_annotate(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *r = tirc_sref_of_value(s, args[0]);
  const char *key = args[1].u.s;
  Expr value = value_expr(s, args[2], 0);
  struct StmtNode now = *r->stmt;
  Expr before = tirc_attrs_get(*attrs_of(&now), key);
  if (before) {
    tirc_sched_warn(s, "%s has the annotation \"%s\" already, with the value %s, and keeps it",
                    tirc_describe(s, r->stmt), key, tirc_print_expr(s->c, before));
    return;
  }
  set_attrs(s, r, key, tirc_attrs_set(s->c, *attrs_of(&now), key, value));
}

void tirc_prim_unannotate(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *r = tirc_sref_of_value(s, args[0]);
  const char *key = args[1].u.s;
  struct StmtNode now = *r->stmt;
  Attrs attrs = *attrs_of(&now);
  if (!tirc_attrs_get(attrs, key)) {
    Text t = {.c = s->c};
    for (int i = 0; i < attrs.n; i++)
      tirc_text_addf(&t, "%s\"%s\"", i ? ", " : "", attrs.at[i].key);
    tirc_refuse(s, NULL, SERR_ANNOTATION_NOT_FOUND, "%s has no annotation \"%s\"; it has %s",
                tirc_describe(s, r->stmt), key, attrs.n ? t.at : "none");
  }
  set_attrs(s, r, key, tirc_attrs_remove(s->c, attrs, key));
}
