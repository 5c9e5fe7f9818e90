/* Expressions as Python text with as few parentheses as precedence allows. */
#include <math.h>
#include <stdio.h>

#include "find.h"
#include "print_internal.h"

const char *tirc_printer_string(Tirc *c, const char *s) {
  Text t = {.c = c};
  tirc_text_add(&t, "\"");
  for (; *s; s++) {
    unsigned char ch = (unsigned char)*s;
    if (ch == '"' || ch == '\\')
      tirc_text_addf(&t, "\\%c", ch);
    else if (ch == '\n')
      tirc_text_add(&t, "\\n");
    else if (ch == '\t')
      tirc_text_add(&t, "\\t");
    else if (ch < 0x20 || ch == 0x7f)
      tirc_text_addf(&t, "\\x%02x", ch);
    else
      tirc_text_addn(&t, s, 1);
  }
  tirc_text_add(&t, "\"");
  return t.at;
}

/* A constant that prints as a bare number: the reader computes with those as Python does. */
static bool is_bare_int(const Printer *p, Expr e) {
  return e->op == OP_INT && tirc_dtype_equal(e->dtype, p->bare_int64 ? DT_INT64 : DT_INT32);
}

static void print_int(Printer *p, Text *t, Expr e) {
  if (e->dtype.code == TYPE_BOOL)
    tirc_text_addf(t, "T.bool(%s)", e->u.i ? "True" : "False");
  else if (is_bare_int(p, e))
    tirc_text_add(t, tirc_digits(p->c, e));
  else
    tirc_text_addf(t, "T.%s(%s)", tirc_dtype_name(p->c, e->dtype), tirc_digits(p->c, e));
}

static void print_float(Printer *p, Text *t, Expr e) {
  double v = e->u.f;
  tirc_text_addf(t, "T.%s(", tirc_dtype_name(p->c, e->dtype));
  if (isnan(v))
    tirc_text_add(t, "\"nan\"");
  else if (isinf(v))
    tirc_text_add(t, v > 0 ? "\"inf\"" : "\"-inf\"");
  else if (nearbyint(v) == v)
    tirc_text_addf(t, "%.1f", v);
  else
    tirc_text_addf(t, "%.17g", v);
  tirc_text_add(t, ")");
}

static void print_list(Printer *p, Text *t, int n, const Expr *at) {
  for (int i = 0; i < n; i++) {
    if (i) tirc_text_add(t, ", ");
    tirc_printer_expr(p, t, at[i], 0);
  }
}

static void print_slice(Printer *p, Text *t, Expr base, Expr stride, int lanes) {
  Tirc *c = p->c;
  Expr stop = tirc_add(c, base, tirc_mul(c, tirc_int(c, stride->dtype, lanes), stride));
  tirc_printer_expr(p, t, base, 0);
  tirc_text_add(t, ":");
  tirc_printer_expr(p, t, stop, 0);
  if (!tirc_is_int(stride, 1)) {
    tirc_text_add(t, ":");
    tirc_printer_expr(p, t, stride, 0);
  }
}

void tirc_printer_indices(Printer *p, Text *t, int n, const Expr *indices) {
  tirc_text_add(t, n ? "[" : "[()");
  for (int i = 0; i < n; i++) {
    if (i) tirc_text_add(t, ", ");
    Expr e = indices[i];
    int64_t stride;
    if (e->op == OP_RAMP && tirc_const_int(e->args[1], &stride) && stride > 0)
      print_slice(p, t, e->args[0], e->args[1], e->dtype.lanes);
    else
      tirc_printer_expr(p, t, e, 0);
  }
  tirc_text_add(t, "]");
}

/* Whether reading `a op b` gives this very node again, or folds or widens something. */
static bool reads_back(Printer *p, Expr e) {
  if (is_bare_int(p, e->args[0]) && is_bare_int(p, e->args[1])) return false;
  Expr again = tirc_binary(p->c, (Op)e->op, e->args[0], e->args[1]);
  return again->op == e->op && again->n == 2 && again->args[0] == e->args[0] &&
         again->args[1] == e->args[1];
}

static void print_binary(Printer *p, Text *t, Expr e, int min_precedence) {
  int own = tirc_ops[e->op].precedence;
  if (!reads_back(p, e)) {
    tirc_text_addf(t, "T.%s(", tirc_node_names[e->op]);
    print_list(p, t, 2, e->args);
    tirc_text_add(t, ")");
    return;
  }
  /* Comparisons do not chain here, so both sides bind tighter; the others associate to the left. */
  const bool compares = tirc_compares(e->op);
  if (own < min_precedence) tirc_text_add(t, "(");
  tirc_printer_expr(p, t, e->args[0], compares ? own + 1 : own);
  tirc_text_addf(t, " %s ", tirc_ops[e->op].name);
  tirc_printer_expr(p, t, e->args[1], own + 1);
  if (own < min_precedence) tirc_text_add(t, ")");
}

static void print_dict(Printer *p, Text *t, Expr e) {
  tirc_text_add(t, "{");
  for (int i = 0; i + 1 < e->n; i += 2) {
    if (i) tirc_text_add(t, ", ");
    tirc_printer_expr(p, t, e->args[i], 0);
    tirc_text_add(t, ": ");
    tirc_printer_expr(p, t, e->args[i + 1], 0);
  }
  tirc_text_add(t, "}");
}

static void print_var(Printer *p, Text *t, Expr e) {
  Buffer owner = tirc_map_get(&p->data, e);
  const char *name = tirc_map_get(&p->names, e);
  if (name)
    tirc_text_add(t, name);
  else if (owner)
    tirc_text_addf(t, "%s.data", tirc_printer_name(p, owner, owner->name));
  else
    tirc_text_add(t, e->u.s && *e->u.s ? e->u.s : "v");
}

static void print_let(Printer *p, Text *t, Expr e) {
  int mark = tirc_names_enter(p);
  Text value = {.c = p->c};
  tirc_printer_expr(p, &value, e->args[1], 0);
  const char *name = tirc_names_define(p, e->args[0], e->args[0]->u.s);
  tirc_text_add(t, "T.Let(");
  tirc_printer_expr(p, t, e->args[2], 0);
  tirc_text_addf(t, ", where={%s: %s})", name, value.at);
  tirc_names_leave(p, mark);
}

/* T.comm_reducer(lambda x, y: x + y, [T.float32(0)]) */
static void print_reducer(Printer *p, Text *t, Expr e) {
  const int n = tirc_reducer_size(e), mark = tirc_names_enter(p);
  tirc_text_add(t, "T.comm_reducer(lambda ");
  for (int i = 0; i < 2 * n; i++)
    tirc_text_addf(t, "%s%s", i ? ", " : "", tirc_names_define(p, e->args[i], e->args[i]->u.s));
  tirc_text_add(t, n > 1 ? ": (" : ": ");
  print_list(p, t, n, e->args + 2 * n);
  tirc_text_add(t, n > 1 ? "), [" : ", [");
  tirc_names_leave(p, mark);
  print_list(p, t, n, e->args + 3 * n);
  tirc_text_add(t, "])");
}

/* T.target("cuda", host="llvm") */
static void print_target(Printer *p, Text *t, Expr e) {
  tirc_text_add(t, "T.target(");
  for (int i = 0; i < e->n; i++) {
    if (i) tirc_text_add(t, ", host=");
    tirc_printer_expr(p, t, e->args[i], 0);
  }
  tirc_text_add(t, ")");
}

static void print_call(Printer *p, Text *t, const char *name, Expr e) {
  tirc_text_addf(t, "T.%s(", name);
  print_list(p, t, e->n, e->args);
  tirc_text_add(t, ")");
}

static void print_other(Printer *p, Text *t, Expr e, int min_precedence) {
  Tirc *c = p->c;
  switch ((Op)e->op) {
  case OP_NOT: {
    int own = tirc_ops[OP_NOT].precedence;
    tirc_text_add(t, own < min_precedence ? "(not " : "not ");
    tirc_printer_expr(p, t, e->args[0], own);
    if (own < min_precedence) tirc_text_add(t, ")");
    break;
  }
  case OP_CAST:
  case OP_REINTERPRET:
    tirc_text_addf(t, "T.%s(\"%s\", ", e->op == OP_CAST ? "Cast" : "reinterpret",
                   tirc_dtype_name(c, e->dtype));
    tirc_printer_expr(p, t, e->args[0], 0);
    tirc_text_add(t, ")");
    break;
  case OP_LOAD:
    tirc_text_add(t, tirc_printer_name(p, e->u.buffer, e->u.buffer->name));
    tirc_printer_indices(p, t, e->n, e->args);
    break;
  case OP_RAMP:
  case OP_BROADCAST:
    tirc_text_addf(t, "T.%s(", tirc_ops[e->op].name);
    print_list(p, t, e->n, e->args);
    tirc_text_addf(t, ", %d)", e->dtype.lanes / e->args[0]->dtype.lanes);
    break;
  case OP_LET: print_let(p, t, e); break;
  case OP_TUPLE:
    tirc_text_add(t, "[");
    print_list(p, t, e->n, e->args);
    tirc_text_add(t, "]");
    break;
  case OP_DICT: print_dict(p, t, e); break;
  default:
    if (tirc_reducer_size(e))
      print_reducer(p, t, e);
    else if (tirc_calls(e, CALL_TARGET) && e->n == 2)
      print_target(p, t, e);
    else
      print_call(p, t, tirc_called(e), e);
    break;
  }
}

void tirc_printer_expr(Printer *p, Text *t, Expr e, int min_precedence) {
  switch (tirc_ops[e->op].class) {
  case OPCLASS_LEAF:
    if (e->op == OP_VAR)
      print_var(p, t, e);
    else if (tirc_is_integer(e))
      print_int(p, t, e);
    else if (e->op == OP_FLOAT)
      print_float(p, t, e);
    else if (e->op == OP_NONE)
      tirc_text_add(t, "None");
    else
      tirc_text_add(t, tirc_printer_string(p->c, e->u.s));
    break;
  case OPCLASS_BINARY: print_binary(p, t, e, min_precedence); break;
  case OPCLASS_CALL: {
    const char *name = tirc_ops[e->op].name;
    if (e->op == OP_TRUNCDIV) name = "Div";
    if (e->op == OP_ABS && !tirc_dtype_is_float(e->dtype)) name = "abs";
    bool folds = (e->op == OP_MIN || e->op == OP_MAX) && !reads_back(p, e);
    print_call(p, t, folds ? tirc_node_names[e->op] : name, e);
    break;
  }
  case OPCLASS_OTHER: print_other(p, t, e, min_precedence); break;
  }
}

void tirc_printer_attrs(Printer *p, Text *t, Attrs a) {
  tirc_text_add(t, "{");
  for (int i = 0; i < a.n; i++) {
    tirc_text_addf(t, "%s%s: ", i ? ", " : "", tirc_printer_string(p->c, a.at[i].key));
    tirc_printer_expr(p, t, a.at[i].value, 0);
  }
  tirc_text_add(t, "}");
}

void tirc_printer_attrs_line(Printer *p, const char *call, Attrs a) {
  Text t = {.c = p->c};
  if (!a.n) return;
  tirc_text_addf(&t, "%s(", call);
  tirc_printer_attrs(p, &t, a);
  tirc_text_add(&t, ")");
  tirc_printer_line(p, t.at, -1);
}

void tirc_printer_region(Printer *p, Text *t, Region r) {
  tirc_text_add(t, tirc_printer_name(p, r.buffer, r.buffer->name));
  tirc_text_add(t, r.buffer->ndim ? "[" : "[()");
  for (int i = 0; i < r.buffer->ndim; i++) {
    if (i) tirc_text_add(t, ", ");
    tirc_printer_expr(p, t, r.dims[i].min, 0);
    if (tirc_is_int(r.dims[i].extent, 1)) continue;
    tirc_text_add(t, ":");
    tirc_printer_expr(p, t, tirc_add(p->c, r.dims[i].min, r.dims[i].extent), 0);
  }
  tirc_text_add(t, "]");
}
