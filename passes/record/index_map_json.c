/* Index maps in the form in which TVM saves its objects, as tuning records hold them: a string with
 * a list of nodes that name each other by their numbers.
 *
 *   lambda i0, i1: (i0 // 16, i1)
 *   {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "tir.IndexMap",
 *     "attrs": {"initial_indices": "2", "final_indices": "5", "inverse_index_map": "0"}}, ...]} */
#include "ir/number.h"
#include "ir/tree/print.h"
#include "trace.h"

#include <stdlib.h>

static const struct {
  const char *key;
  Op op;
  const char *python; /* NULL: a function, T.<name> */
} operators[] = {
    {"tir.Add", OP_ADD, "+"},
    {"tir.Sub", OP_SUB, "-"},
    {"tir.Mul", OP_MUL, "*"},
    {"tir.FloorDiv", OP_FLOORDIV, "//"},
    {"tir.FloorMod", OP_FLOORMOD, "%"},
    {"tir.Min", OP_MIN, NULL},
    {"tir.Max", OP_MAX, NULL},
    {"tir.EQ", OP_EQ, "=="},
    {"tir.NE", OP_NE, "!="},
    {"tir.LT", OP_LT, "<"},
    {"tir.LE", OP_LE, "<="},
    {"tir.GT", OP_GT, ">"},
    {"tir.GE", OP_GE, ">="},
    {"tir.Div", OP_TRUNCDIV, NULL},
    {"tir.Mod", OP_TRUNCMOD, NULL},
};
enum { N_OPERATORS = sizeof operators / sizeof *operators };

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct Saved {
  Tirc *c;
  Value nodes;
  const ValueList *inputs; /* numbers of the variables' nodes */
  int left, depth;         /* steps: the nodes may name each other in a circle */
  bool values;             /* the map gives values, not indices */
  const NamedVars *named;
} Saved;

static Value field(Value dict, const char *key) {
  for (int i = 0; dict.kind == VAL_DICT && i + 1 < dict.u.list->n; i += 2)
    if (dict.u.list->at[i].kind == VAL_STR && !strcmp(dict.u.list->at[i].u.s, key))
      return dict.u.list->at[i + 1];
  return VALUE_NONE;
}

static int64_t number(Value v) {
  return v.kind == VAL_INT ? v.u.i : v.kind == VAL_STR ? strtoll(v.u.s, NULL, 10) : -1;
}

static Value node(const Saved *s, int64_t i) {
  bool known = s->nodes.kind == VAL_LIST && i > 0 && i < s->nodes.u.list->n;
  return known ? s->nodes.u.list->at[i] : VALUE_NONE;
}

static Value attr(Value node, const char *key) { return field(field(node, "attrs"), key); }

static const char *kind_of(Value node) {
  Value key = field(node, "type_key");
  return key.kind == VAL_STR ? key.u.s : "";
}

static const ValueList *array(const Saved *s, Value index) {
  Value data = field(node(s, number(index)), "data");
  return data.kind == VAL_LIST ? data.u.list : NULL;
}

static bool add_expr(Saved *s, Text *t, int64_t index);

static bool add_operator(Saved *s, Text *t, Value at, int i) {
  const char *name = tirc_ops[operators[i].op].name, *python = operators[i].python;
  tirc_text_addf(t, "%s(", python ? "" : tirc_format(s->c, "T.%s", name));
  if (!add_expr(s, t, number(attr(at, "a")))) return false;
  tirc_text_addf(t, "%s", python ? tirc_format(s->c, " %s ", python) : ", ");
  if (!add_expr(s, t, number(attr(at, "b")))) return false;
  tirc_text_add(t, ")");
  return true;
}

/* A number; with its type unless it is that of an index, or the one that a plain number has. A
 * number that is itself the map's value must not become an index: it keeps its type. */
static bool add_constant(Saved *s, Text *t, Value at, Value constant) {
  static const char *const usual[] = {"int32", "int64", "float32"};
  Value dtype = attr(at, "dtype");
  const char *name = dtype.kind == VAL_STR ? dtype.u.s : "int32";
  const char *digits = constant.kind == VAL_EXPR ? tirc_digits(s->c, constant.u.expr)
                                                 : tirc_value_repr(s->c, constant);
  bool finite = constant.kind != VAL_FLOAT || constant.u.f - constant.u.f == 0, plain = false;
  const bool value = s->values && s->depth == 1;
  DType known;
  for (int i = 0; i < 3; i++) plain |= finite && !value && !strcmp(name, usual[i]);
  if (!tirc_dtype_parse(name, &known)) return false;
  if (plain)
    tirc_text_add(t, digits);
  else
    tirc_text_addf(t, finite ? "T.%s(%s)" : "T.%s(\"%s\")", name, digits);
  return true;
}

/* An integer, as text if int64 does not hold it. */
static Value integer(Tirc *c, Value v) {
  const unsigned long long large = v.kind == VAL_STR ? strtoull(v.u.s, NULL, 10) : 0;
  const bool fits = large <= INT64_MAX || v.u.s[0] == '-';
  return fits ? tirc_value_int(number(v)) : tirc_value_expr(tirc_uint64(c, large));
}

static bool add_node(Saved *s, Text *t, int64_t index) {
  Value at = node(s, index), value = attr(at, "value");
  for (int i = 0; i < s->inputs->n; i++)
    if (number(s->inputs->at[i]) == index) {
      tirc_text_addf(t, "i%d", i);
      return true;
    }
  if (!strcmp(kind_of(at), "tir.Var") && s->named) {
    const Value name = attr(at, "name");
    const char *text = name.kind == VAL_STR ? s->named->text(s->named->self, name.u.s) : NULL;
    if (text) tirc_text_add(t, text);
    return text != NULL;
  }
  if (!strcmp(kind_of(at), "IntImm")) return add_constant(s, t, at, integer(s->c, value));
  if (!strcmp(kind_of(at), "FloatImm") && value.kind == VAL_STR)
    return add_constant(s, t, at, tirc_value_float(tirc_parse_double(value.u.s, NULL)));
  DType type;
  if (!strcmp(kind_of(at), "tir.Cast") && attr(at, "dtype").kind == VAL_STR &&
      tirc_dtype_parse(attr(at, "dtype").u.s, &type)) {
    tirc_text_addf(t, "T.Cast(\"%s\", ", tirc_dtype_name(s->c, type));
    if (!add_expr(s, t, number(value))) return false;
    tirc_text_add(t, ")");
    return true;
  }
  for (int i = 0; i < N_OPERATORS; i++)
    if (!strcmp(kind_of(at), operators[i].key)) return add_operator(s, t, at, i);
  return false;
}

static bool add_expr(Saved *s, Text *t, int64_t index) {
  enum { MAX_DEPTH = 400 }; /* the text is to be parsed */
  if (s->left-- <= 0 || s->depth == MAX_DEPTH) return false;
  s->depth++;
  const bool known = add_node(s, t, index);
  s->depth--;
  return known;
}

const char *tirc_saved_lambda(Tirc *c, Value graph, bool values, const NamedVars *named) {
  enum { MAX_STEPS = 10000 };
  Saved s = {
      .c = c, .nodes = field(graph, "nodes"), .left = MAX_STEPS, .values = values, .named = named};
  Value map = node(&s, number(field(graph, "root")));
  if (strcmp(kind_of(map), "tir.IndexMap") != 0) return NULL;
  const ValueList *outputs = array(&s, attr(map, "final_indices"));
  s.inputs = array(&s, attr(map, "initial_indices"));
  if (!s.inputs || !outputs) return NULL;
  Text t = {.c = c};
  tirc_text_add(&t, "lambda");
  for (int i = 0; i < s.inputs->n; i++) tirc_text_addf(&t, "%s i%d", i ? "," : "", i);
  tirc_text_add(&t, ": (");
  for (int i = 0; i < outputs->n; i++) {
    if (!add_expr(&s, &t, number(outputs->at[i]))) return NULL;
    tirc_text_add(&t, ", ");
  }
  tirc_text_add(&t, ")");
  return t.at;
}

/* --- writing ---------------------------------------------------------------------------------- */

typedef struct Writer {
  Tirc *c;
  VEC(const char *) nodes;
  int n_vars, type, vars;
  const Expr *inputs;
} Writer;

static int put(Writer *w, const char *text) {
  vec_push(w->c, w->nodes, text);
  return w->nodes.n - 1;
}

static int put_array(Writer *w, int n, const int *at) {
  Text t = {.c = w->c};
  tirc_text_add(&t, "{\"type_key\":\"Array\",\"data\":[");
  for (int i = 0; i < n; i++) tirc_text_addf(&t, "%s%d", i ? "," : "", at[i]);
  tirc_text_add(&t, "]}");
  return put(w, t.at);
}

static int put_typed(Writer *w, const char *key, DType t, const char *value) {
  return put(w, tirc_format(w->c,
                            "{\"type_key\":\"%s\",\"attrs\":{\"dtype\":\"%s\",\"span\":\"0\","
                            "\"value\":\"%s\"}}",
                            key, tirc_dtype_name(w->c, t), value));
}

static int put_float(Writer *w, DType t, double v) {
  return put_typed(w, "FloatImm", t, tirc_value_repr(w->c, tirc_value_float(v)));
}

static int put_var(Writer *w, const char *name) {
  return put(w,
             tirc_format(w->c,
                         "{\"type_key\":\"tir.Var\",\"attrs\":{\"dtype\":\"int32\",\"name\":\"%s\","
                         "\"span\":\"0\",\"type_annotation\":\"%d\"}}",
                         name, w->type));
}

/* 0: there is no form for it. */
static int put_expr(Writer *w, Expr e) {
  for (int i = 0; i < w->n_vars; i++)
    if (e == w->inputs[i]) return w->vars + i;
  if (tirc_is_integer(e)) return put_typed(w, "IntImm", e->dtype, tirc_digits(w->c, e));
  if (e->op == OP_FLOAT) return put_float(w, e->dtype, e->u.f);
  if (e->op == OP_CAST) {
    const int from = put_expr(w, e->args[0]);
    return from ? put_typed(w, "tir.Cast", e->dtype, tirc_format(w->c, "%d", from)) : 0;
  }
  for (int i = 0; i < N_OPERATORS; i++) {
    if (e->op != operators[i].op) continue;
    const int a = put_expr(w, e->args[0]), b = put_expr(w, e->args[1]);
    if (!a || !b) return 0;
    return put(w, tirc_format(w->c,
                              "{\"type_key\":\"%s\",\"attrs\":{\"a\":\"%d\",\"b\":\"%d\","
                              "\"dtype\":\"%s\",\"span\":\"0\"}}",
                              operators[i].key, a, b, tirc_dtype_name(w->c, e->dtype)));
  }
  return 0;
}

static int put_value(Writer *w, Value v) {
  if (v.kind == VAL_INT) return put_expr(w, tirc_int32(w->c, v.u.i));
  if (v.kind == VAL_FLOAT) return put_float(w, DT_FLOAT32, v.u.f);
  return v.kind == VAL_EXPR ? put_expr(w, v.u.expr) : 0;
}

static void put_inputs(Writer *w, int n_own) {
  w->type = put(w, "{\"type_key\":\"PrimType\",\"attrs\":{\"dtype\":\"int32\"}}");
  w->vars = w->nodes.n;
  for (int i = 0; i < w->n_vars; i++)
    put_var(w, i < n_own ? tirc_format(w->c, "i%d", i) : w->inputs[i]->u.s);
}

const char *tirc_lambda_saved(Tirc *c, int n, const Expr *vars, int n_rvs, const Expr *rvs,
                              Value results) {
  const bool many = tirc_is_sequence(results);
  const int n_out = many ? results.u.list->n : 1;
  Expr *known = tirc_new_array(c, Expr, n + n_rvs + 1);
  for (int i = 0; i < n + n_rvs; i++) known[i] = i < n ? vars[i] : rvs[i - n];
  Writer w = {.c = c, .n_vars = n + n_rvs, .inputs = known};
  int *inputs = tirc_new_array(c, int, n + 1), *outputs = tirc_new_array(c, int, n_out + 1);
  put(&w, "{\"type_key\":\"\"}");
  put_inputs(&w, n);
  for (int i = 0; i < n; i++) inputs[i] = w.vars + i;
  for (int i = 0; i < n_out; i++) {
    outputs[i] = put_value(&w, many ? results.u.list->at[i] : results);
    if (!outputs[i]) return NULL;
  }
  const int from = put_array(&w, n, inputs), to = put_array(&w, n_out, outputs);
  const int root = put(&w, tirc_format(c,
                                       "{\"type_key\":\"tir.IndexMap\",\"attrs\":{"
                                       "\"final_indices\":\"%d\",\"initial_indices\":\"%d\","
                                       "\"inverse_index_map\":\"0\"}}",
                                       to, from));
  Text t = {.c = c};
  tirc_text_addf(&t, "{\"root\":%d,\"nodes\":[", root);
  for (int i = 0; i < w.nodes.n; i++) tirc_text_addf(&t, "%s%s", i ? "," : "", w.nodes.at[i]);
  tirc_text_add(&t, "],\"b64ndarrays\":[],\"attrs\":{\"tvm_version\":\"0.20.0\"}}");
  return t.at;
}
