/* The order of nodes: files are to have one in which each node stands behind those it uses; where
 * they have not, it is found. */
#include "internal.h"

#include "ir/tree/ir.h"

enum { UNSEEN, ACTIVE, DONE };

typedef struct Sorting {
  OnnxFile *f;
  const OnnxModel *m;
  StrMap givers; /* value -> its node's number plus one; -1: an input or initializer */
  char *state;
  VEC(int) order;
  VEC(int) stack; /* nodes that wait for others; and at[i], the input that i waits for */
  int *at;
} Sorting;

static void give(Sorting *s, const char *name, intptr_t by) {
  void **at = tirc_strmap_at(s->f->c, &s->givers, name);
  if (*at && by > 0)
    ONNX_FAIL(s->f, "onnx", NULL, "node '%s' gives the value '%s', which something else gives, too",
              s->m->nodes[by - 1].name, name);
  *at = (void *)by;
}

static intptr_t giver_of(Sorting *s, int node, const char *name) {
  const intptr_t by = (intptr_t)tirc_strmap_get(&s->givers, name);
  if (!by)
    ONNX_FAIL(s->f, "onnx", NULL, "node '%s' uses the value '%s', which nothing gives",
              s->m->nodes[node].name, name);
  return by;
}

/* Without recursion: graphs are long. */
static void visit(Sorting *s, int root) {
  vec_push(s->f->c, s->stack, root);
  while (s->stack.n) {
    const int i = s->stack.at[s->stack.n - 1];
    const OnnxNode *n = &s->m->nodes[i];
    s->state[i] = ACTIVE;
    if (s->at[i] == n->n_inputs) {
      s->state[i] = DONE;
      vec_push(s->f->c, s->order, i);
      s->stack.n--;
      continue;
    }
    const char *name = n->inputs[s->at[i]++];
    const intptr_t by = *name ? giver_of(s, i, name) : -1;
    if (by < 0 || s->state[by - 1] == DONE) continue;
    if (s->state[by - 1] == ACTIVE)
      ONNX_FAIL(s->f, "onnx", NULL, "node '%s' depends on itself, by way of '%s'", n->name, name);
    vec_push(s->f->c, s->stack, (int)by - 1);
  }
}

const OnnxNode *tirc_onnx_in_order(OnnxFile *f, const OnnxModel *m) {
  Sorting s = {.f = f, .m = m};
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
