/* Graphs as text, in the layout of the reference's printer. Extents and attributes are numbers as
 * Python writes them, without a type. */
#include "annotations.h"
#include "graph.h"
#include "ir/number.h"
#include "print_internal.h"

#include <math.h>
#include <stdio.h>

/* What a variable would like to be called. */
static const char *hint_of(const Printer *p, const char *name) { return p->anonymous ? "v" : name; }

static void line(Printer *p, const char *text) {
  tirc_text_addf(&p->out, "%*s%s\n", 4 * p->indent, "", text);
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* So many digits, as text; whether they give the value again. */
static bool is_given_by(char *text, size_t n, int digits, double v, bool single) {
  tirc_snprintf(text, n, "%.*g", digits, v);
  const double again = tirc_parse_double(text, NULL);
  return single ? (float)again == (float)v : again == v;
}

/* The shortest digits that give the value again, as a float of Python's. */
static void put_float(Text *t, double v, bool single) {
  char text[64];
  if (isnan(v) || isinf(v)) {
    tirc_text_addf(t, "float(\"%s\")", isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
    return;
  }
  int digits = single ? 7 : 15; /* which most have: fewer from there on, or more */
  const bool fewer = is_given_by(text, sizeof text, digits, v, single);
  while (fewer && digits > 1 && is_given_by(text, sizeof text, digits - 1, v, single)) digits--;
  while (!fewer && digits < 17 && !is_given_by(text, sizeof text, digits + 1, v, single)) digits++;
  (void)is_given_by(text, sizeof text, fewer || digits == 17 ? digits : digits + 1, v, single);
  tirc_text_add(t, text);
  if (!strpbrk(text, ".e")) tirc_text_add(t, ".0");
}

static void put_element(Text *t, DType type, const char *at) {
  const int bytes = tirc_dtype_bytes(type);
  uint16_t half;
  float single;
  double wide;
  int64_t i = 0;
  if (type.code == TYPE_BOOL) {
    tirc_text_add(t, *at ? "True" : "False");
  } else if (tirc_dtype_is_float(type)) {
    memcpy(&half, at, sizeof half);
    if (bytes == 2)
      wide = type.code == TYPE_BFLOAT ? tirc_bfloat_to_double(half) : tirc_half_to_double(half);
    if (bytes == 4) memcpy(&single, at, sizeof single), wide = single;
    if (bytes == 8) memcpy(&wide, at, sizeof wide);
    put_float(t, wide, bytes == 4);
  } else {
    memcpy(&i, at, (size_t)bytes); /* little-endian, as all of the formats here */
    const int unused = 64 - 8 * bytes;
    if (type.code == TYPE_INT) i = (int64_t)((uint64_t)i << unused) >> unused;
    tirc_text_addf(t, type.code == TYPE_UINT ? "%llu" : "%lld", (long long)i);
  }
}

/* [[1.0, 2.0], [3.0, 4.0]]: dimensions from d on. Gives where the next element is. */
static const char *put_elements(Text *t, Info info, int d, const char *at) {
  int64_t extent = 0;
  if (d == info->ndim) {
    put_element(t, info->dtype, at);
    return at + tirc_dtype_bytes(info->dtype);
  }
  tirc_const_int(info->shape[d], &extent);
  tirc_text_add(t, "[");
  for (int64_t i = 0; i < extent; i++) {
    if (i) tirc_text_add(t, ", ");
    at = put_elements(t, info, d + 1, at);
  }
  tirc_text_add(t, "]");
  return at;
}

static void put_extent(Printer *p, Text *t, Expr e) {
  const bool outside = p->bare_int64;
  p->bare_int64 = true;
  tirc_printer_expr(p, t, e, 0);
  p->bare_int64 = outside;
}

/* An attribute. */
static void put_literal(Printer *p, Text *t, Expr e) {
  if (e->op == OP_INT && e->dtype.code == TYPE_BOOL) {
    tirc_text_add(t, e->u.i ? "True" : "False");
  } else if (e->op == OP_FLOAT) {
    put_float(t, e->u.f, false);
  } else if (e->op == OP_TUPLE || e->op == OP_DICT) {
    const bool is_dict = e->op == OP_DICT;
    tirc_text_add(t, is_dict ? "{" : "[");
    for (int i = 0; i < e->n; i++) {
      if (i) tirc_text_add(t, is_dict && i % 2 ? ": " : ", ");
      put_literal(p, t, e->args[i]);
    }
    tirc_text_add(t, is_dict ? "}" : "]");
  } else {
    put_extent(p, t, e);
  }
}

/* --- what is known ---------------------------------------------------------------------------- */

/* quoted: in the signature, where extents that are no numbers stand in strings. */
static void put_shape(Printer *p, Text *t, Info info, bool quoted) {
  for (int i = 0; i < info->ndim; i++) {
    if (i) tirc_text_add(t, ", ");
    Text extent = {.c = p->c};
    put_extent(p, &extent, info->shape[i]);
    tirc_text_addf(t, quoted && !tirc_is_integer(info->shape[i]) ? "\"%s\"" : "%s", extent.at);
  }
}

static void put_info(Printer *p, Text *t, Info info, bool quoted) {
  const char *comma = "";
  switch (info->kind) {
  case INFO_OBJECT: tirc_text_add(t, "R.Object"); return;
  case INFO_TUPLE:
    tirc_text_add(t, "R.Tuple(");
    for (int i = 0; i < info->n; i++) {
      if (i) tirc_text_add(t, ", ");
      put_info(p, t, info->fields[i], quoted);
    }
    tirc_text_add(t, ")");
    return;
  case INFO_PRIM:
    tirc_text_add(t, "R.Prim(");
    if (info->value) {
      tirc_text_add(t, quoted && !tirc_is_integer(info->value) ? "value=\"" : "value=");
      put_extent(p, t, info->value);
      tirc_text_add(t, quoted && !tirc_is_integer(info->value) ? "\")" : ")");
    } else {
      tirc_text_addf(t, "\"%s\")", tirc_dtype_name(p->c, info->dtype));
    }
    return;
  case INFO_SHAPE:
    tirc_text_add(t, "R.Shape(");
    if (info->shape) {
      tirc_text_add(t, "[");
      put_shape(p, t, info, quoted);
      tirc_text_add(t, "]");
    } else if (info->ndim >= 0) {
      tirc_text_addf(t, "ndim=%d", info->ndim);
    }
    tirc_text_add(t, ")");
    return;
  case INFO_TENSOR: break;
  }
  tirc_text_add(t, "R.Tensor(");
  if (info->shape) {
    tirc_text_add(t, "(");
    put_shape(p, t, info, quoted);
    tirc_text_add(t, info->ndim == 1 ? ",)" : ")");
    comma = ", ";
  }
  if (info->dtype.code != TYPE_VOID) {
    tirc_text_addf(t, "%sdtype=\"%s\"", comma, tirc_dtype_name(p->c, info->dtype));
    comma = ", ";
  }
  if (!info->shape && info->ndim >= 0) tirc_text_addf(t, "%sndim=%d", comma, info->ndim);
  tirc_text_add(t, ")");
}

const char *tirc_print_info(Tirc *c, Info info) {
  Printer p = {.c = c};
  Text t = {.c = c};
  put_info(&p, &t, info, false);
  return t.at;
}

const char *tirc_info_words(Tirc *c, Info info) {
  Printer p = {.c = c};
  Text t = {.c = c};
  if (!info) return "of an unknown shape";
  if (info->kind != INFO_TENSOR) {
    put_info(&p, &t, info, false);
    return t.at;
  }
  tirc_text_add(&t, info->dtype.code == TYPE_VOID ? "?" : tirc_dtype_name(c, info->dtype));
  tirc_text_add(&t, "[");
  if (info->shape)
    put_shape(&p, &t, info, false);
  else if (info->ndim < 0)
    tirc_text_add(&t, "...");
  for (int i = 0; !info->shape && i < info->ndim; i++) tirc_text_add(&t, i ? ", ?" : "?");
  tirc_text_add(&t, "]");
  return t.at;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void put_node(Printer *p, Text *t, Node n);

/* (a, b); one alone is (a,). */
static void put_tuple(Printer *p, Text *t, Node n) {
  tirc_text_add(t, "(");
  for (int i = 0; i < n->n; i++) {
    if (i) tirc_text_add(t, ", ");
    put_node(p, t, n->args[i]);
  }
  tirc_text_add(t, n->n == 1 ? ",)" : ")");
}

/* out_sinfo=R.Tensor(...), or a list of them. */
static void put_results(Printer *p, Text *t, Info info) {
  const Info *results;
  const int n = tirc_info_results(&info, &results);
  const bool several = info->kind == INFO_TUPLE;
  tirc_text_addf(t, "%s=%s", tirc_word_in(p->dialect, WORD_KEYWORD, "out_sinfo"),
                 several ? "[" : "");
  for (int i = 0; i < n; i++) {
    if (i) tirc_text_add(t, ", ");
    put_info(p, t, results[i], false);
  }
  if (several) tirc_text_add(t, "]");
}

static void put_call_of_func(Printer *p, Text *t, Node n) {
  if (n->kind == NODE_CALL_TIR)
    tirc_text_addf(t, "R.call_tir(cls.%s, ", n->name);
  else
    tirc_text_addf(t, "R.call_dps_packed(%s, ", tirc_printer_string(p->c, n->name));
  put_tuple(p, t, n);
  tirc_text_add(t, ", ");
  put_results(p, t, n->info);
  if (n->value) {
    tirc_text_add(t, ", tir_vars=R.shape(");
    put_literal(p, t, n->value);
    tirc_text_add(t, ")");
  }
  tirc_text_add(t, ")");
}

static void put_args(Printer *p, Text *t, Node n) {
  tirc_text_add(t, "(");
  for (int i = 0; i < n->n; i++) {
    if (i) tirc_text_add(t, ", ");
    if (n->keys && n->keys[i]) tirc_text_addf(t, "%s=", n->keys[i]);
    put_node(p, t, n->args[i]);
  }
  tirc_text_add(t, ")");
}

/* A number; a float that is none of Python's says its type. */
static void put_value(Printer *p, Text *t, Expr e) {
  const bool is_narrow = e->op == OP_FLOAT && e->dtype.bits != 64;
  if (is_narrow) tirc_text_addf(t, "T.%s(", tirc_dtype_name(p->c, e->dtype));
  put_literal(p, t, e);
  if (is_narrow) tirc_text_add(t, ")");
}

/* As they lie in memory, two digits a byte. */
static void put_bits(Printer *p, Text *t, Node n) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *at = n->data;
  const size_t size = (size_t)tirc_info_bytes(n->info);
  char *text = tirc_alloc(p->c, 2 * size + 1);
  for (size_t i = 0; i < size; i++) {
    text[2 * i] = digits[at[i] >> 4];
    text[2 * i + 1] = digits[at[i] & 15];
  }
  put_info(p, t, n->info, false);
  tirc_text_addn(t, text, 2 * size);
}

static void put_node(Printer *p, Text *t, Node n) {
  switch (n->kind) {
  case NODE_VAR: tirc_text_add(t, tirc_printer_name(p, n, n->name)); return;
  case NODE_CONST:
    tirc_text_add(t, "R.const(");
    if (p->bits)
      put_bits(p, t, n);
    else
      put_elements(t, n->info, 0, n->data);
    tirc_text_addf(t, ", \"%s\")", tirc_dtype_name(p->c, n->info->dtype));
    return;
  case NODE_VALUE: put_value(p, t, n->value); return;
  case NODE_SHAPE:
    tirc_text_add(t, "R.shape(");
    put_literal(p, t, n->value);
    tirc_text_add(t, ")");
    return;
  case NODE_TUPLE: put_tuple(p, t, n); return;
  case NODE_ITEM:
    put_node(p, t, n->args[0]);
    tirc_text_addf(t, "[%d]", n->index);
    return;
  case NODE_CALL:
    tirc_text_addf(t, "R.%s", n->name);
    put_args(p, t, n);
    return;
  case NODE_CALL_GRAPH:
    tirc_text_addf(t, "cls.%s", n->name);
    put_args(p, t, n);
    return;
  case NODE_IF: /* in a message: a binding has the two in lines of their own */
    for (int i = 0; i < 3; i++) {
      if (i) tirc_text_add(t, i == 1 ? " if " : " else ");
      put_node(p, t, n->args[i == 0 ? 1 : i == 1 ? 0 : 2]);
    }
    return;
  case NODE_CALL_TIR:
  case NODE_CALL_DPS: put_call_of_func(p, t, n); return;
  case NODE_MATCH_CAST:
    tirc_text_add(t, "R.match_cast(");
    put_node(p, t, n->args[0]);
    tirc_text_add(t, ", ");
    put_info(p, t, n->info, false);
    tirc_text_add(t, ")");
    return;
  }
}

const char *tirc_print_node(Tirc *c, Node n) {
  Printer p = {.c = c};
  Text t = {.c = c};
  put_node(&p, &t, n);
  return t.at;
}

/* --- functions -------------------------------------------------------------------------------- */

/* The value of a call that writes its results says what they are. */
static bool says_info(Node value) {
  return value->kind == NODE_CALL_TIR || value->kind == NODE_CALL_DPS ||
         value->kind == NODE_MATCH_CAST || value->kind == NODE_SHAPE;
}

/* y: R.Tensor(...) = R.NAME(...) */
static void print_bound(Printer *p, const Binding *b, const char *name, Node value,
                        const char *text) {
  Text t = {.c = p->c};
  tirc_text_add(&t, name);
  if (b->var->info && !says_info(value)) {
    tirc_text_add(&t, ": ");
    put_info(p, &t, b->var->info, false);
  }
  tirc_text_addf(&t, " = %s", text);
  line(p, t.at);
}

/* A binding of an `if` stands in both branches. */
static void print_binding(Printer *p, const Binding *b) {
  const bool is_if = b->value->kind == NODE_IF;
  const Node *parts = is_if ? b->value->args : &b->value;
  Text texts[3] = {{.c = p->c}, {.c = p->c}, {.c = p->c}};
  for (int i = 0; i < (is_if ? 3 : 1); i++) put_node(p, &texts[i], parts[i]);
  if (is_if) line(p, tirc_format(p->c, "if %s:", texts[0].at));
  const char *name = tirc_names_define(p, b->var, hint_of(p, b->var->name));
  p->indent += is_if;
  print_bound(p, b, name, parts[is_if], texts[is_if].at);
  p->indent -= is_if;
  if (!is_if) return;
  line(p, "else:");
  p->indent++;
  print_bound(p, b, name, parts[2], texts[2].at);
  p->indent--;
}

static void print_block(Printer *p, const GraphBlock *b) {
  if (b->is_dataflow) line(p, "with R.dataflow():");
  p->indent += b->is_dataflow;
  for (int i = 0; i < b->n; i++) print_binding(p, &b->at[i]);
  if (b->is_dataflow) {
    Text t = {.c = p->c};
    tirc_text_add(&t, "R.output(");
    for (int i = 0; i < b->n_outputs; i++) {
      if (i) tirc_text_add(&t, ", ");
      put_node(p, &t, b->outputs[i]);
    }
    tirc_text_add(&t, ")");
    line(p, t.at);
  }
  p->indent -= b->is_dataflow;
}

typedef struct Mentions {
  Symbols symbols;
  PtrMap seen;
  bool functions;
} Mentions;

static bool calls_function(Node n) {
  bool calls = n->kind == NODE_CALL_TIR || n->kind == NODE_CALL_GRAPH;
  for (int i = 0; i < n->n; i++) calls |= calls_function(n->args[i]);
  return calls;
}

static void note_mentions(Tirc *c, Mentions *m, Node n) {
  m->functions |= calls_function(n);
  tirc_node_symbols(c, n, &m->seen, &m->symbols);
}

static Mentions mentions_of(Tirc *c, const Graph *g) {
  Mentions m = {0};
  for (int i = 0; i < g->n_params; i++) note_mentions(c, &m, g->params[i]);
  for (int i = 0; i < g->n_blocks; i++)
    for (int k = 0; k < g->blocks[i].n; k++) {
      note_mentions(c, &m, g->blocks[i].at[k].var);
      note_mentions(c, &m, g->blocks[i].at[k].value);
    }
  note_mentions(c, &m, g->result);
  tirc_info_symbols(c, g->info, &m.seen, &m.symbols);
  return m;
}

static const char *head_of(Printer *p, const Graph *g) {
  Text t = {.c = p->c};
  tirc_text_addf(&t, "def %s(", g->name);
  for (int i = 0; i < g->n_params; i++) {
    if (i) tirc_text_add(&t, ", ");
    tirc_text_addf(&t, "%s: ", tirc_names_define(p, g->params[i], hint_of(p, g->params[i]->name)));
    put_info(p, &t, g->params[i]->info, true);
  }
  tirc_text_add(&t, ")");
  if (g->info) {
    tirc_text_add(&t, " -> ");
    put_info(p, &t, g->info, true);
  }
  tirc_text_add(&t, ":");
  return t.at;
}

/* Attributes that the text says in another way. */
static Attrs shown_attrs(Tirc *c, const Graph *g) {
  Attrs shown = tirc_attrs_get(g->attrs, "tirc.private")
                    ? tirc_attrs_remove(c, g->attrs, "tirc.private")
                    : g->attrs;
  Expr symbol = tirc_attrs_get(shown, tirc_key(KEY_GLOBAL_SYMBOL));
  bool same = symbol && symbol->op == OP_STRING && strcmp(symbol->u.s, g->name) == 0;
  return same ? tirc_attrs_remove(c, shown, tirc_key(KEY_GLOBAL_SYMBOL)) : shown;
}

static void print_attrs(Printer *p, Attrs attrs) {
  Text t = {.c = p->c};
  if (!attrs.n) return;
  tirc_text_add(&t, "R.func_attr({");
  for (int i = 0; i < attrs.n; i++) {
    tirc_text_addf(&t, "%s%s: ", i ? ", " : "", tirc_printer_string(p->c, attrs.at[i].key));
    put_literal(p, &t, attrs.at[i].value);
  }
  tirc_text_add(&t, "})");
  line(p, t.at);
}

void tirc_printer_graph(Printer *p, const Graph *g, const char *module) {
  const int frame = tirc_names_enter(p);
  const Mentions m = mentions_of(p->c, g);
  if (m.functions) tirc_names_define(p, &module, "cls");
  for (int i = 0; i < m.symbols.n; i++)
    tirc_names_define(p, m.symbols.at[i], hint_of(p, m.symbols.at[i]->u.s));
  line(p, tirc_attrs_get(g->attrs, "tirc.private") ? "@R.function(private=True)" : "@R.function");
  line(p, head_of(p, g));
  p->indent++;
  for (int i = 0; i < m.symbols.n; i++)
    line(p, tirc_format(p->c, "%s = T.int64()",
                        tirc_printer_name(p, m.symbols.at[i], m.symbols.at[i]->u.s)));
  print_attrs(p, shown_attrs(p->c, g));
  if (m.functions) line(p, tirc_format(p->c, "cls = %s", module));
  for (int i = 0; i < g->n_blocks; i++) print_block(p, &g->blocks[i]);
  Text t = {.c = p->c};
  put_node(p, &t, g->result);
  line(p, tirc_format(p->c, "return %s", t.at));
  p->indent--;
  tirc_names_leave(p, frame);
}

const char *tirc_graph_key(Tirc *c, const Graph *g) {
  Graph nameless = *g;
  nameless.name = "graph";
  nameless.attrs = tirc_attrs_remove(c, g->attrs, tirc_key(KEY_GLOBAL_SYMBOL));
  Printer p = {.c = c, .out = {.c = c}, .anonymous = true};
  tirc_printer_graph(&p, &nameless, "Module");
  return p.out.at;
}
