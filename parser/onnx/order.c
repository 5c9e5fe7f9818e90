/* The order of nodes: files are to have one in which each node stands behind those it uses; where
 * they have not, it is found. */
#include "internal.h"

#include "ir/tree/ir.h"

enum { UNSEEN, ACTIVE, DONE };

typedef struct Sorting {
  OnnxFile *f;
  const OnnxModel *m;
  bool inner;
  StrMap givers; /* value -> its node's number plus one; -1: an input or initializer */
  char *state;
  VEC(int) order;
  VEC(int) stack; /* nodes that wait for others; and at[i], the input that i waits for */
  int *at;
} Sorting;

static void give(Sorting *s, const char *name, intptr_t by) {
  void **at = tirc_strmap_at(s->f->c, &s->givers, name);
  if (*at && by > 0)
    ONNX_FAIL(s->f, CODE_ONNX, NULL,
              "node '%s' gives the value '%s', which something else gives, too",
              s->m->nodes[by - 1].name, name);
  *at = (void *)by;
}

static intptr_t giver_of(Sorting *s, int node, const char *name) {
  const intptr_t by = (intptr_t)tirc_strmap_get(&s->givers, name);
  if (!by && !s->inner)
    ONNX_FAIL(s->f, CODE_ONNX, NULL, "node '%s' uses the value '%s', which nothing gives",
              s->m->nodes[node].name, name);
  return by ? by : -1;
}

static int n_used(const OnnxNode *n) { return n->n_inputs + n->n_captures; }
static const char *used(const OnnxNode *n, int i) {
  return i < n->n_inputs ? n->inputs[i] : n->captures[i - n->n_inputs];
}

/* Without recursion: graphs are long. */
static void visit(Sorting *s, int root) {
  vec_push(s->f->c, s->stack, root);
  while (s->stack.n) {
    const int i = s->stack.at[s->stack.n - 1];
    const OnnxNode *n = &s->m->nodes[i];
    s->state[i] = ACTIVE;
    if (s->at[i] == n_used(n)) {
      s->state[i] = DONE;
      vec_push(s->f->c, s->order, i);
      s->stack.n--;
      continue;
    }
    const char *name = used(n, s->at[i]++);
    const intptr_t by = *name ? giver_of(s, i, name) : -1;
    if (by < 0 || s->state[by - 1] == DONE) continue;
    if (s->state[by - 1] == ACTIVE)
      ONNX_FAIL(s->f, CODE_ONNX, NULL, "node '%s' depends on itself, by way of '%s'", n->name,
                name);
    vec_push(s->f->c, s->stack, (int)by - 1);
  }
}

const OnnxNode *tirc_onnx_in_order(OnnxFile *f, const OnnxModel *m, bool inner) {
  Sorting s = {.f = f, .m = m, .inner = inner};
  s.state = tirc_new_array(f->c, char, m->n_nodes);
  s.at = tirc_new_array(f->c, int, m->n_nodes);
  for (int i = 0; i < m->n_inputs; i++) give(&s, m->inputs[i].name, -1);
  for (int i = 0; i < m->n_weights; i++) give(&s, m->weights[i].name, -1);
  for (int i = 0; i < m->n_nodes; i++)
    for (int k = 0; k < m->nodes[i].n_outputs; k++)
      if (*m->nodes[i].outputs[k]) give(&s, m->nodes[i].outputs[k], i + 1);
  for (int i = 0; i < m->n_nodes; i++)
    if (s.state[i] == UNSEEN) visit(&s, i);
  OnnxNode *sorted = tirc_new_array(f->c, OnnxNode, m->n_nodes);
  for (int i = 0; i < m->n_nodes; i++) sorted[i] = m->nodes[s.order.at[i]];
  return sorted;
}

/* --- graphs within nodes ---------------------------------------------------------------------- */

typedef struct Capturing {
  OnnxFile *f;
  StrMap known; /* in the graph, or captured before */
  VEC(const char *) names;
} Capturing;

static void know(Capturing *k, const char *name) { *tirc_strmap_at(k->f->c, &k->known, name) = k; }

static void capture(Capturing *k, const char *name) {
  if (!*name || tirc_strmap_get(&k->known, name)) return;
  know(k, name);
  vec_push(k->f->c, k->names, name);
}

static void capture_all(Capturing *k, const OnnxModel *g) {
  k->known = (StrMap){0};
  for (int i = 0; i < k->names.n; i++) know(k, k->names.at[i]);
  for (int i = 0; i < g->n_inputs; i++) know(k, g->inputs[i].name);
  for (int i = 0; i < g->n_weights; i++) know(k, g->weights[i].name);
  for (int i = 0; i < g->n_nodes; i++)
    for (int o = 0; o < g->nodes[i].n_outputs; o++) know(k, g->nodes[i].outputs[o]);
  for (int i = 0; i < g->n_nodes; i++)
    for (int u = 0; u < n_used(&g->nodes[i]); u++) capture(k, used(&g->nodes[i], u));
  for (int i = 0; i < g->n_outputs; i++) capture(k, g->outputs[i].name);
}

void tirc_onnx_find_captures(OnnxFile *f, OnnxNode *n) {
  Capturing k = {.f = f};
  for (int i = 0; i < n->n_attrs; i++)
    if (n->attrs[i].kind == ONNX_GRAPH) capture_all(&k, n->attrs[i].graph);
  n->n_captures = k.names.n;
  n->captures = k.names.at;
}
