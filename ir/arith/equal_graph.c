/* Structural equality of graphs: bindings in their order, variables paired where they are defined.
 */
#include "equal_internal.h"
#include "ir/tree/annotations.h"

#include "ir/tree/graph.h"

static bool equal_info(Equal *q, const char *what, Info a, Info b) {
  if (!a || !b)
    return a == b || tirc_equal_differ(q, what, a ? tirc_print_info(q->c, a) : "not inferred",
                                       b ? tirc_print_info(q->c, b) : "not inferred");
  bool same = a->kind == b->kind && tirc_dtype_equal(a->dtype, b->dtype) && a->ndim == b->ndim &&
              !a->shape == !b->shape && a->n == b->n && !a->value == !b->value;
  for (int i = 0; same && a->shape && i < a->ndim; i++)
    same = tirc_equal_expr(q, what, a->shape[i], b->shape[i]);
  if (same && a->value) same = tirc_equal_expr(q, what, a->value, b->value);
  for (int i = 0; same && i < a->n; i++) same = equal_info(q, what, a->fields[i], b->fields[i]);
  return same || tirc_equal_differ(q, what, tirc_print_info(q->c, a), tirc_print_info(q->c, b));
}

static bool equal_data(Equal *q, const char *what, Node a, Node b) {
  const int64_t bytes = tirc_info_bytes(a->info);
  return !memcmp(a->data, b->data, (size_t)(bytes > 0 ? bytes : 0)) ||
         tirc_equal_differ(q, what, "a constant", "one with other elements");
}

static bool equal_node(Equal *q, const char *what, Node a, Node b) {
  if (!tirc_equal_int(q, what, (int)a->kind, (int)b->kind)) return false;
  if (a->kind == NODE_VAR)
    return tirc_equal_is_pair(q, a, b) || tirc_equal_differ(q, what, a->name, b->name);
  if (!equal_info(q, what, a->info, b->info) || !tirc_equal_text(q, what, a->name, b->name) ||
      !tirc_equal_int(q, what, a->index, b->index) || !tirc_equal_int(q, what, a->n, b->n))
    return false;
  if (!a->value != !b->value || (a->value && !tirc_equal_expr(q, what, a->value, b->value)))
    return tirc_equal_differ(q, what, a->value ? "a value" : "none", b->value ? "a value" : "none");
  if (a->kind == NODE_CONST && !equal_data(q, what, a, b)) return false;
  for (int i = 0; i < a->n; i++) {
    const char *x = a->keys ? a->keys[i] : NULL, *y = b->keys ? b->keys[i] : NULL;
    if (!tirc_equal_text(q, what, x, y) || !equal_node(q, what, a->args[i], b->args[i]))
      return false;
  }
  return true;
}

static bool equal_block(Equal *q, const GraphBlock *a, const GraphBlock *b) {
  if (!tirc_equal_int(q, "dataflow block", a->is_dataflow, b->is_dataflow) ||
      !tirc_equal_int(q, "number of bindings", a->n, b->n) ||
      !tirc_equal_int(q, "number of outputs", a->n_outputs, b->n_outputs))
    return false;
  for (int i = 0; i < a->n; i++) {
    const char *what = tirc_format(q->c, "binding of %s", a->at[i].var->name);
    if (!equal_node(q, what, a->at[i].value, b->at[i].value) ||
        !equal_info(q, what, a->at[i].var->info, b->at[i].var->info))
      return false;
    tirc_equal_pair(q, a->at[i].var, b->at[i].var);
  }
  for (int i = 0; i < a->n_outputs; i++)
    if (!equal_node(q, "R.output", a->outputs[i], b->outputs[i])) return false;
  return true;
}

static bool equal_graph(Equal *q, const Graph *a, const Graph *b) {
  q->where = tirc_format(q->c, "function %s", a->name);
  if (!tirc_equal_int(q, "number of parameters", a->n_params, b->n_params)) return false;
  for (int i = 0; i < a->n_params; i++) {
    const char *what = tirc_format(q->c, "parameter %d", i + 1);
    if (!equal_info(q, what, a->params[i]->info, b->params[i]->info)) return false;
    tirc_equal_pair(q, a->params[i], b->params[i]);
  }
  if (!tirc_equal_int(q, "number of blocks", a->n_blocks, b->n_blocks)) return false;
  for (int i = 0; i < a->n_blocks; i++)
    if (!equal_block(q, &a->blocks[i], &b->blocks[i])) return false;
  return equal_node(q, "result", a->result, b->result) &&
         equal_info(q, "type of the result", a->info, b->info) &&
         tirc_equal_attrs(q, "attribute",
                          tirc_attrs_remove(q->c, a->attrs, tirc_key(KEY_GLOBAL_SYMBOL)),
                          tirc_attrs_remove(q->c, b->attrs, tirc_key(KEY_GLOBAL_SYMBOL)));
}

const char *tirc_graphs_difference(Tirc *c, const Module *a, const Module *b) {
  if (a->n_graphs != b->n_graphs)
    return tirc_format(c, "number of graphs: %d against %d", a->n_graphs, b->n_graphs);
  for (int i = 0; i < a->n_graphs; i++) {
    const Graph *other = a->n_graphs == 1 ? b->graphs[0] : tirc_module_graph(b, a->graphs[i]->name);
    if (!other) return tirc_format(c, "function %s: only in the first", a->graphs[i]->name);
    Equal q = {.c = c, .analyzer = tirc_plain_analyzer(c), .where = ""};
    if (!equal_graph(&q, a->graphs[i], other)) return q.why;
  }
  return NULL;
}
