/* Graphs: building, looking up, walking. */
#include "graph.h"

#include "annotations.h"
#include "visit.h"

/* --- building --------------------------------------------------------------------------------- */

Info tirc_info_copy(Tirc *c, const struct StructInfo *info) {
  struct StructInfo *to = tirc_copy(c, info, 1);
  if (info->shape) to->shape = tirc_copy(c, info->shape, info->ndim ? info->ndim : 1);
  if (info->n) to->fields = tirc_copy(c, info->fields, info->n);
  return to;
}

Info tirc_info_tensor(Tirc *c, DType t, int ndim, const Expr *shape) {
  /* Of no dimensions: an array nevertheless, which says that the shape is known. */
  const Expr none[1] = {NULL};
  if (!shape || !ndim) shape = ndim != 0 ? NULL : none;
  Expr *own = shape && ndim > 0 ? tirc_copy(c, shape, ndim) : NULL;
  int64_t n;
  for (int i = 0; own && i < ndim; i++) /* text has one kind of numbers for shapes */
    if (tirc_const_int(own[i], &n)) own[i] = tirc_int(c, DT_INT64, n);
  return tirc_info_copy(
      c, &(struct StructInfo){
             .kind = INFO_TENSOR, .dtype = t, .ndim = ndim, .shape = own ? own : shape});
}

Info tirc_info_tuple(Tirc *c, int n, const Info *fields) {
  return tirc_info_copy(c, &(struct StructInfo){.kind = INFO_TUPLE, .n = n, .fields = fields});
}

Node tirc_graph_node(Tirc *c, const struct Node *node) {
  struct Node *to = tirc_copy(c, node, 1);
  to->args = tirc_copy(c, node->args, node->n);
  if (node->keys) to->keys = tirc_copy(c, node->keys, node->n);
  return to;
}

Node tirc_node_var(Tirc *c, const char *name, Info info, Loc loc) {
  return tirc_graph_node(c,
                         &(struct Node){.kind = NODE_VAR, .name = name, .info = info, .loc = loc});
}

Node tirc_node_tuple(Tirc *c, int n, const Node *args) {
  Info *fields = tirc_new_array(c, Info, n);
  bool known = true;
  for (int i = 0; i < n; i++) known &= (fields[i] = args[i]->info) != NULL;
  return tirc_graph_node(c, &(struct Node){.kind = NODE_TUPLE,
                                           .n = n,
                                           .args = args,
                                           .info = known ? tirc_info_tuple(c, n, fields) : NULL});
}

Node tirc_node_const(Tirc *c, Info info, const void *data, Loc loc) {
  const int64_t bytes = tirc_info_bytes(info);
  void *own = tirc_alloc(c, (size_t)(bytes > 0 ? bytes : 1));
  if (bytes > 0) memcpy(own, data, (size_t)bytes);
  return tirc_graph_node(c,
                         &(struct Node){.kind = NODE_CONST, .info = info, .data = own, .loc = loc});
}

/* --- bounds ----------------------------------------------------------------------------------- */

static bool find_bound(Attrs attrs, const char *key, const char *name, int64_t *out) {
  const Expr dict = tirc_attrs_get(attrs, key);
  for (int i = 0; dict && dict->op == OP_DICT && i + 1 < dict->n; i += 2)
    if (strcmp(dict->args[i]->u.s, name) == 0) return tirc_const_int(dict->args[i + 1], out);
  return false;
}

ExtentBounds tirc_extent_bounds(Attrs attrs, const char *name) {
  ExtentBounds b = {0, INT64_MAX, false};
  b.is_said |= find_bound(attrs, tirc_key(KEY_LOWER_BOUND), name, &b.lower);
  b.is_said |= find_bound(attrs, tirc_key(KEY_UPPER_BOUND), name, &b.upper);
  return b;
}

/* --- indices ------------------------------------------------------------------------------------
 * Of a function [[number of a parameter, first, end], ...], of a graph {"name": [first, end]}:
 * names of a function's parameters are nobody's concern.
 */

static bool is_range(const Expr *ends, int64_t *first, Expr *end) {
  *end = ends[1];
  return tirc_const_int(ends[0], first) && ((*end)->op == OP_INT || (*end)->op == OP_STRING);
}

Expr tirc_range_end(Tirc *c, Expr extent) {
  int64_t end;
  if (tirc_const_int(extent, &end)) return tirc_int(c, DT_INT64, end);
  while (extent->op == OP_CAST) extent = extent->args[0];
  return extent->op == OP_VAR ? tirc_string(c, extent->u.s) : NULL;
}

bool tirc_index_range(Attrs attrs, int param, int64_t *first, Expr *end) {
  const Expr list = tirc_attrs_get(attrs, tirc_key(KEY_INDEX_RANGES));
  for (int i = 0; list && list->op == OP_TUPLE && i < list->n; i++) {
    const Expr row = list->args[i];
    int64_t number;
    if (row->op == OP_TUPLE && row->n == 3 && tirc_const_int(row->args[0], &number) &&
        number == param)
      return is_range(row->args + 1, first, end);
  }
  return false;
}

Attrs tirc_with_index_range(Tirc *c, Attrs attrs, int param, int64_t first, Expr end) {
  const char *key = tirc_key(KEY_INDEX_RANGES);
  const Expr list = tirc_attrs_get(attrs, key);
  const int n = list && list->op == OP_TUPLE ? list->n : 0;
  const Expr row[] = {tirc_int32(c, param), tirc_int(c, DT_INT64, first), end};
  Expr *rows = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n; i++) rows[i] = list->args[i];
  rows[n] = tirc_expr(c, OP_TUPLE, DT_HANDLE, 3, row);
  return tirc_attrs_set(c, attrs, key, tirc_expr(c, OP_TUPLE, DT_HANDLE, n + 1, rows));
}

/* --- dictionaries of names ---------------------------------------------------------------------- */

/* The place of its value; 0: it is not there. */
static int find_entry(Expr dict, const char *name) {
  for (int i = 0; dict && dict->op == OP_DICT && i + 1 < dict->n; i += 2)
    if (dict->args[i]->op == OP_STRING && strcmp(dict->args[i]->u.s, name) == 0) return i + 1;
  return 0;
}

static Attrs with_entry(Tirc *c, Attrs attrs, const char *key, const char *name, Expr value) {
  const Expr dict = tirc_attrs_get(attrs, key);
  const int n = dict && dict->op == OP_DICT ? dict->n : 0, known = find_entry(dict, name);
  Expr *items = tirc_new_array(c, Expr, n + 2);
  for (int i = 0; i < n; i++) items[i] = dict->args[i];
  const int at = known ? known : n + 1;
  items[at - 1] = tirc_string(c, name);
  items[at] = value;
  return tirc_attrs_set(c, attrs, key, tirc_expr(c, OP_DICT, DT_HANDLE, known ? n : n + 2, items));
}

bool tirc_graph_range(Attrs attrs, const char *name, int64_t *first, Expr *end) {
  const Expr dict = tirc_attrs_get(attrs, tirc_key(KEY_INPUT_RANGES));
  const int at = find_entry(dict, name);
  const Expr ends = at ? dict->args[at] : NULL;
  return ends && ends->op == OP_TUPLE && ends->n == 2 && is_range(ends->args, first, end);
}

Attrs tirc_with_graph_range(Tirc *c, Attrs attrs, const char *name, int64_t first, Expr end) {
  const Expr ends[] = {tirc_int(c, DT_INT64, first), end};
  return with_entry(c, attrs, tirc_key(KEY_INPUT_RANGES), name,
                    tirc_expr(c, OP_TUPLE, DT_HANDLE, 2, ends));
}

const char *tirc_name_in_file(Attrs attrs, const char *name) {
  const Expr dict = tirc_attrs_get(attrs, tirc_key(KEY_FILE_NAMES));
  const int at = find_entry(dict, name);
  return at && dict->args[at]->op == OP_STRING ? dict->args[at]->u.s : name;
}

Attrs tirc_with_name_in_file(Tirc *c, Attrs attrs, const char *name, const char *in_file) {
  return with_entry(c, attrs, tirc_key(KEY_FILE_NAMES), name, tirc_string(c, in_file));
}

const char *tirc_result_in_file(Attrs attrs, int i) {
  const Expr list = tirc_attrs_get(attrs, tirc_key(KEY_RESULT_NAMES));
  return list && list->op == OP_TUPLE && i < list->n && list->args[i]->op == OP_STRING
             ? list->args[i]->u.s
             : NULL;
}

Attrs tirc_with_results_in_file(Tirc *c, Attrs attrs, int n, const char *const *names) {
  Expr *items = tirc_new_array(c, Expr, n);
  for (int i = 0; i < n; i++) items[i] = tirc_string(c, names[i]);
  return tirc_attrs_set(c, attrs, tirc_key(KEY_RESULT_NAMES),
                        tirc_expr(c, OP_TUPLE, DT_HANDLE, n, items));
}

int tirc_result_count(Attrs attrs, int i, int k, int *axis) {
  const Expr list = tirc_attrs_get(attrs, tirc_key(KEY_RESULT_COUNTS));
  for (int r = 0; list && list->op == OP_TUPLE && r < list->n; r++) {
    const Expr row = list->args[r];
    int64_t of, count, along;
    if (row->op != OP_TUPLE || row->n != 3 || !tirc_const_int(row->args[0], &of) || of != i ||
        !tirc_const_int(row->args[1], &count) || !tirc_const_int(row->args[2], &along) || k--)
      continue;
    *axis = (int)along;
    return (int)count;
  }
  return -1;
}

Attrs tirc_with_result_count(Tirc *c, Attrs attrs, int i, int count, int axis) {
  const char *key = tirc_key(KEY_RESULT_COUNTS);
  const Expr list = tirc_attrs_get(attrs, key);
  const int n = list && list->op == OP_TUPLE ? list->n : 0;
  const Expr row[] = {tirc_int(c, DT_INT64, i), tirc_int(c, DT_INT64, count),
                      tirc_int(c, DT_INT64, axis)};
  Expr *rows = tirc_new_array(c, Expr, n + 1);
  for (int k = 0; k < n; k++) rows[k] = list->args[k];
  rows[n] = tirc_expr(c, OP_TUPLE, DT_HANDLE, 3, row);
  return tirc_attrs_set(c, attrs, key, tirc_expr(c, OP_TUPLE, DT_HANDLE, n + 1, rows));
}

/* --- looking up ------------------------------------------------------------------------------- */

const Graph *tirc_module_graph(const Module *m, const char *name) {
  for (int i = 0; i < m->n_graphs; i++)
    if (strcmp(m->graphs[i]->name, name) == 0) return m->graphs[i];
  return NULL;
}

const Func *tirc_module_func(const Module *m, const char *name) {
  for (int i = 0; i < m->n_funcs; i++)
    if (strcmp(m->funcs[i]->name, name) == 0) return m->funcs[i];
  return NULL;
}

const Graph *tirc_module_main_graph(const Module *m) {
  const Graph *g = tirc_module_graph(m, "main");
  return g ? g : m->n_graphs == 1 ? m->graphs[0] : NULL;
}

int64_t tirc_info_count(Info info) {
  int64_t count = 1, extent;
  if (info->kind != INFO_TENSOR || !info->shape) return -1;
  for (int i = 0; i < info->ndim; i++)
    if (!tirc_const_int(info->shape[i], &extent) || extent < 0 ||
        __builtin_mul_overflow(count, extent, &count))
      return -1;
  return count;
}

int64_t tirc_info_bytes(Info info) {
  int64_t count = tirc_info_count(info), bytes;
  if (count < 0 || __builtin_mul_overflow(count, tirc_dtype_bytes(info->dtype), &bytes)) return -1;
  return bytes;
}

int tirc_info_results(const Info *info, const Info **out) {
  const bool several = (*info)->kind == INFO_TUPLE;
  *out = several ? (*info)->fields : info;
  return several ? (*info)->n : 1;
}

/* --- walking ---------------------------------------------------------------------------------- */

Node tirc_mutate_node(NodeMutator *m, Node n) {
  struct Node to = *n;
  bool changed = false;
  Node *args = n->n ? tirc_copy(m->c, n->args, n->n) : NULL;
  for (int i = 0; i < n->n; i++) {
    args[i] = tirc_mutate_node(m, n->args[i]);
    changed |= args[i] != n->args[i];
  }
  to.args = args;
  if (m->info && n->info && n->kind != NODE_VAR) to.info = m->info(m, n->info);
  changed |= to.info != n->info;
  if (changed) n = tirc_graph_node(m->c, &to);
  return m->node ? m->node(m, n) : n;
}

Info tirc_substitute_info(Tirc *c, Info info, const PtrMap *map) {
  struct StructInfo to = *info;
  bool changed = false;
  Expr *shape = info->shape && info->ndim > 0 ? tirc_copy(c, info->shape, info->ndim) : NULL;
  Info *fields = info->n ? tirc_copy(c, info->fields, info->n) : NULL;
  for (int i = 0; shape && i < info->ndim; i++) {
    shape[i] = tirc_substitute(c, info->shape[i], map);
    changed |= shape[i] != info->shape[i];
  }
  for (int i = 0; i < info->n; i++) {
    fields[i] = tirc_substitute_info(c, info->fields[i], map);
    changed |= fields[i] != info->fields[i];
  }
  if (info->value) to.value = tirc_substitute(c, info->value, map);
  changed |= to.value != info->value;
  if (!changed) return info;
  if (shape) to.shape = shape;
  to.fields = fields;
  return tirc_info_copy(c, &to);
}

typedef struct SymbolWalk {
  Tirc *c;
  PtrMap *seen;
  Symbols *out;
} SymbolWalk;

static bool note_symbol(Visitor *v, Expr e) {
  SymbolWalk *w = v->self;
  if (e->op != OP_VAR || tirc_map_has(w->seen, e)) return true;
  tirc_map_set(w->c, w->seen, e, e);
  vec_push(w->c, *w->out, e);
  return true;
}

void tirc_info_symbols(Tirc *c, Info info, PtrMap *seen, Symbols *out) {
  if (!info) return;
  SymbolWalk w = {c, seen, out};
  Visitor v = {.expr = note_symbol, .self = &w};
  for (int i = 0; info->shape && i < info->ndim; i++) tirc_visit_expr(&v, info->shape[i]);
  if (info->value) tirc_visit_expr(&v, info->value);
  for (int i = 0; i < info->n; i++) tirc_info_symbols(c, info->fields[i], seen, out);
}

void tirc_node_symbols(Tirc *c, Node n, PtrMap *seen, Symbols *out) {
  const struct StructInfo prim = {.kind = INFO_PRIM, .value = n->value};
  tirc_info_symbols(c, n->info, seen, out);
  if (n->value) tirc_info_symbols(c, &prim, seen, out);
  for (int i = 0; i < n->n; i++) tirc_node_symbols(c, n->args[i], seen, out);
}
