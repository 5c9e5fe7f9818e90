#include "operator_call.h"

#include "ir/tree/visit.h"
#include "passes.h"

typedef struct Operand {
  Passes *p;
  Node call;
  const char *name; /* of the parameter, where the text says it */
} Operand;

#define FAIL(o, hint, ...) tirc_fail((o)->p->c, (o)->call->loc, CODE_TYPE, hint, __VA_ARGS__)

/* --- what is known of integers ---------------------------------------------------------------- */

static int64_t integer_at(Node n, int64_t i) {
  const int bits = n->info->dtype.bits;
  const bool is_signed = n->info->dtype.code == TYPE_INT;
  int64_t v = 0;
  memcpy(&v, (const char *)n->data + i * (bits / 8), (size_t)bits / 8); /* little-endian */
  if (is_signed && bits < 64) v = (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
  return v;
}

static const Bound *constant_range(Tirc *c, Node n) {
  const int64_t count = tirc_info_count(n->info);
  if (count < 1 || n->info->dtype.lanes != 1) return NULL;
  if (n->info->dtype.code == TYPE_UINT && n->info->dtype.bits == 64) return NULL;
  Bound b = {INT64_MAX, INT64_MIN};
  for (int64_t i = 0; i < count; i++) {
    const int64_t v = integer_at(n, i);
    if (v < b.min) b.min = v;
    if (v > b.max) b.max = v;
  }
  return tirc_copy(c, &b, 1);
}

/* Of the elements of a tensor; NULL: nothing is known. */
static const Bound *range_of(Passes *p, Node n, Info info) {
  if (info->kind != INFO_TENSOR || !tirc_dtype_is_int(info->dtype)) return NULL;
  const Bound *known = tirc_map_get(&p->ranges, n);
  if (known || n->kind != NODE_CONST || !n->data) return known;
  known = constant_range(p->c, n);
  if (known) tirc_map_set(p->c, &p->ranges, n, known);
  return known;
}

static void note_range(Passes *p, Node var, const Bound *range) {
  if (range) tirc_map_set(p->c, &p->ranges, var, range);
}

void tirc_note_program(Passes *p, Node var, const OperatorProgram *made, const Node *tensors) {
  const MadeBy by = {made, tensors};
  tirc_map_set(p->c, &p->made_by, var, tirc_copy(p->c, &by, 1));
  if (!made->is_tuple) note_range(p, var, made->results[0].range);
}

void tirc_note_field(Passes *p, Node var, Node tuple, int i) {
  const MadeBy *by = tirc_map_get(&p->made_by, tuple);
  const OperatorProgram *made = by ? by->program : NULL;
  if (made && made->is_tuple && i < made->n_results) note_range(p, var, made->results[i].range);
}

/* --- operands --------------------------------------------------------------------------------- */

static Value value_of_expr(Tirc *c, Expr e) {
  if (e->op != OP_TUPLE) return tirc_script_of_expr(e);
  Value *items = tirc_new_array(c, Value, e->n);
  for (int i = 0; i < e->n; i++) items[i] = value_of_expr(c, e->args[i]);
  return tirc_value_list(c, VAL_LIST, e->n, items);
}

static Value value_of_shape(Tirc *c, int n, const Expr *shape) {
  Value *items = tirc_new_array(c, Value, n);
  for (int i = 0; i < n; i++) items[i] = value_of_expr(c, shape[i]);
  return tirc_value_list(c, VAL_TUPLE, n, items);
}

static Value value_of_tensor(const Operand *o, Node n, Info info) {
  if (!info->shape || info->dtype.code == TYPE_VOID)
    FAIL(o, "R.match_cast(x, R.Tensor(...)) says what it is",
         "R.%s: of its operand %s the shape or the type is not known: %s", o->call->name,
         n->name ? n->name : "", tirc_info_words(o->p->c, info));
  return tirc_operator_tensor(o->p->ops,
                              o->name   ? o->name
                              : n->name ? n->name
                                        : "const",
                              (TensorType){info->dtype, info->ndim, info->shape,
                                           range_of(o->p, n, info), n->kind == NODE_CONST});
}

static Value value_of_info(const Operand *o, Node n, Info info) {
  Tirc *c = o->p->c;
  if (!info || info->kind == INFO_OBJECT)
    FAIL(o, "R.match_cast(x, R.Tensor(...)) says what it is", "R.%s: nothing is known of '%s'",
         o->call->name, n->name ? n->name : "an operand");
  if (info->kind == INFO_TENSOR) return value_of_tensor(o, n, info);
  if (info->kind == INFO_SHAPE && info->shape) return value_of_shape(c, info->ndim, info->shape);
  if (info->kind == INFO_PRIM && info->value) return value_of_expr(c, info->value);
  if (info->kind != INFO_TUPLE)
    FAIL(o, NULL, "R.%s cannot be made before its operand %s is known: %s", o->call->name,
         n->name ? n->name : "", tirc_info_words(c, info));
  Value *items = tirc_new_array(c, Value, info->n);
  for (int i = 0; i < info->n; i++) items[i] = value_of_info(o, n, info->fields[i]);
  return tirc_value_list(c, VAL_TUPLE, info->n, items);
}

static Value value_of_node(const Operand *o, Node n) {
  if (n->kind == NODE_VALUE) return value_of_expr(o->p->c, n->value);
  if (n->kind == NODE_SHAPE) return value_of_shape(o->p->c, n->value->n, n->value->args);
  if (n->kind != NODE_TUPLE) return value_of_info(o, n, n->info);
  Value *items = tirc_new_array(o->p->c, Value, n->n);
  for (int i = 0; i < n->n; i++) items[i] = value_of_node(o, n->args[i]);
  return tirc_value_list(o->p->c, VAL_TUPLE, n->n, items);
}

static int tensors_of_info(Node n, Info info, Node *out) {
  int count = 0;
  if (info && info->kind == INFO_TENSOR) {
    if (out) out[0] = n;
    return 1;
  }
  for (int i = 0; info && info->kind == INFO_TUPLE && i < info->n; i++)
    count += tensors_of_info(n, info->fields[i], out ? out + count : NULL);
  return count;
}

static int tensors_of(Node n, Node *out) {
  int count = 0;
  if (n->kind == NODE_VALUE || n->kind == NODE_SHAPE) return 0;
  if (n->kind != NODE_TUPLE) return tensors_of_info(n, n->info, out);
  for (int i = 0; i < n->n; i++) count += tensors_of(n->args[i], out ? out + count : NULL);
  return count;
}

int tirc_operator_tensors(Node call, Node *out) {
  int count = 0;
  for (int i = 0; i < call->n; i++) count += tensors_of(call->args[i], out ? out + count : NULL);
  return count;
}

/* --- calls ------------------------------------------------------------------------------------ */

static bool put_var(Visitor *v, Expr e) {
  if (e->op == OP_VAR) tirc_text_addf(v->self, " %p", (const void *)e);
  return true;
}

/* Variables by their address, wherever they stand: two may have one name. */
static void put_symbols(Text *key, Info info, Expr value) {
  Visitor v = {.expr = put_var, .self = key};
  if (value) tirc_visit_expr(&v, value);
  if (!info) return;
  for (int i = 0; info->shape && i < info->ndim; i++) tirc_visit_expr(&v, info->shape[i]);
  for (int i = 0; i < info->n; i++) put_symbols(key, info->fields[i], NULL);
  put_symbols(key, NULL, info->value);
}

static void put_operand(Passes *p, Text *key, Node n) {
  Tirc *c = p->c;
  if (n->kind == NODE_TUPLE) {
    tirc_text_add(key, "(");
    for (int i = 0; i < n->n; i++) put_operand(p, key, n->args[i]);
    tirc_text_add(key, ")");
  } else if (n->kind == NODE_VALUE || n->kind == NODE_SHAPE) {
    tirc_text_addf(key, " %s", tirc_print_node(c, n));
    put_symbols(key, NULL, n->value);
  } else {
    const Bound *range = range_of(p, n, n->info);
    tirc_text_addf(key, " %s", tirc_info_words(c, n->info));
    put_symbols(key, n->info, NULL);
    if (range)
      tirc_text_addf(key, "%s from %lld to %lld", n->kind == NODE_CONST ? " with all" : "",
                     (long long)range->min, (long long)range->max);
  }
}

/* What the program depends on. */
static const char *key_of(Passes *p, const Graph *g, Node call) {
  Text key = {.c = p->c};
  tirc_text_addf(&key, "%p %s", (const void *)g->params, call->name);
  for (int i = 0; i < call->n; i++) {
    if (call->keys && call->keys[i]) tirc_text_addf(&key, " %s=", call->keys[i]);
    put_operand(p, &key, call->args[i]);
  }
  return key.at;
}

static const OperatorProgram *make_program(Passes *p, Node call) {
  Tirc *c = p->c;
  OperatorCall k = {.name = call->name};
  Value *values = tirc_new_array(c, Value, call->n);
  const char **keywords = tirc_new_array(c, const char *, call->n);
  for (int i = 0; i < call->n; i++) {
    const char *key = call->keys ? call->keys[i] : NULL;
    const Operand o = {p, call, key};
    values[i] = value_of_node(&o, call->args[i]);
    if (!key) k.n_args++;
    if (key) keywords[k.n_keywords++] = key;
  }
  k.args = values;
  k.keywords = keywords;
  k.values = values + k.n_args;
  OperatorProgram *made = tirc_new(c, OperatorProgram);
  *made = tirc_operator_program(p->ops, &k);
  return made;
}

void tirc_open_operators(Passes *p) {
  if (p->ops) return;
  p->ops = tirc_operators_open(p->c, p->options.operators, NULL);
  tirc_operators_set_indices(p->ops, p->options.indices);
}

const OperatorProgram *tirc_operator_call(Passes *p, const Graph *g, Node call) {
  Tirc *c = p->c;
  tirc_open_operators(p);
  if (!tirc_operator(p->ops, call->name))
    tirc_fail(c, call->loc, CODE_NAME, tirc_operator_hint(p->ops, call->name),
              "there is no operator R.%s", call->name);
  void **at = tirc_strmap_at(c, &p->calls, key_of(p, g, call));
  Trap trap;
  if (*at) return *at;
  if (TIRC_TRY(c, trap)) {
    const OperatorProgram *made = make_program(p, call);
    TIRC_END(c, trap);
    at = tirc_strmap_at(c, &p->calls, key_of(p, g, call));
    *at = (void *)(uintptr_t)made;
    return made;
  }
  if (call->loc.line) { /* where it is called; the script's place goes with the words */
    const Loc in = c->diag.loc;
    c->diag.loc = call->loc;
    if (in.line) c->diag.message = tirc_script_placed(c, c->diag.message, in);
  }
  tirc_throw(c);
}

Info tirc_operator_result(Passes *p, const Graph *g, Node call) {
  const OperatorProgram *made = tirc_operator_call(p, g, call);
  Info *fields = tirc_new_array(p->c, Info, made->n_results);
  for (int i = 0; i < made->n_results; i++)
    fields[i] = tirc_info_tensor(p->c, made->results[i].dtype, made->results[i].ndim,
                                 made->results[i].shape);
  return made->is_tuple ? tirc_info_tuple(p->c, made->n_results, fields) : fields[0];
}

Value tirc_operator_attributes(Passes *p, Node call) {
  Tirc *c = p->c;
  Value dict = tirc_value_list(c, VAL_DICT, 0, NULL);
  tirc_open_operators(p);
  const Operator *op = tirc_operator(p->ops, call->name);
  for (int i = 0; op && i < op->n_params; i++) {
    const OperatorParam *param = &op->params[i];
    Node given = NULL;
    for (int k = 0; k < call->n; k++) {
      const char *key = call->keys ? call->keys[k] : NULL;
      if (key ? strcmp(key, param->name) == 0 : k == i) given = call->args[k];
    }
    const bool is_attribute = given && (given->kind == NODE_VALUE || given->kind == NODE_SHAPE);
    if (given ? !is_attribute : !param->value) continue;
    tirc_value_append(c, dict, tirc_value_str(param->name));
    tirc_value_append(c, dict, given ? value_of_expr(c, given->value) : *param->value);
  }
  return dict;
}
