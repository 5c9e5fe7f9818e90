/* An If whose branches give different things, of other ranks or extents: what follows it in the
 * graph is converted with each of them, as a part of the branch. */
#include "onnx_import.h"

/* The nodes of a graph from an If on, of which one branch is taken. */
typedef struct Rest {
  GraphBody body; /* the first member */
  Importing *k;
  const OnnxModel *graph;
  int at, taken; /* 1, 2 */
} Rest;

static void run_rest(const GraphBody *self, Script *sc, const Value *inputs, Value *outputs) {
  const Rest *r = (const Rest *)(const void *)self;
  Importing *k = r->k;
  const int outside = k->hidden.n;
  (void)sc, (void)inputs;
  k->depth++;
  k->maker.taken = r->taken;
  tirc_import_node(k, &r->graph->nodes[r->at]);
  tirc_import_nodes(k, r->graph, r->at + 1);
  k->depth--;
  for (int i = 0; i < self->n_outputs; i++)
    outputs[i] = tirc_import_value(k, r->graph->outputs[i].name);
  tirc_import_leave_names(k, outside);
}

static bool may_be_bound(const Importing *k) {
  bool any = false;
  for (int i = 0; i < k->model->n_inputs; i++) {
    const OnnxBound *b =
        tirc_depends_on_input(k->needed, i) ? tirc_import_bound(k, k->model->inputs[i].name) : NULL;
    any |= b && b->if_needed && !k->is_bound[i];
  }
  return any;
}

/* What an import was in the middle of, where it may go on after an error. */
typedef struct Kept {
  GraphMark mark;
  int hidden, depth, within, n_apart;
  const OnnxNode *node;
  const Called *called;
  int64_t opset;
} Kept;

static Kept keep(Importing *k) {
  return (Kept){tirc_graph_mark(&k->maker, k->conversions->sc),
                k->hidden.n,
                k->depth,
                k->within,
                k->n_apart,
                k->node,
                k->called,
                k->opset};
}

/* What was converted since then is gone. Throws on where there is nothing that helps. */
static void go_back(Importing *k, const Kept *kept) {
  if (!tirc_script_catchable(&k->c->diag) || may_be_bound(k)) tirc_throw(k->c);
  tirc_import_leave_names(k, kept->hidden);
  k->depth = kept->depth;
  k->within = kept->within;
  k->n_apart = kept->n_apart;
  k->node = kept->node;
  k->called = kept->called;
  k->opset = kept->opset;
  tirc_graph_return_to(&k->maker, k->conversions->sc, &kept->mark);
}

/* NULL: it cannot be; the reason is the context's, if there is one. */
static Node try_rest(Importing *k, const Rest *r) {
  GraphMaker *m = &k->maker;
  const Kept kept = keep(k);
  const char *name = tirc_format(k->c, "%s_%s", m->hint, r->taken == 1 ? "then" : "else");
  Trap trap;
  k->c->diag.message = NULL;
  if (TIRC_TRY(k->c, trap)) {
    const Node call = tirc_graph_write_branch(m, k->conversions->sc, &r->body, name);
    TIRC_END(k->c, trap);
    if (call) return call;
  }
  go_back(k, &kept);
  return NULL;
}

/* One branch alone can be gone on with: the condition on extents has to be for it. */
static bool take_one(Importing *k, Node cond, const Rest *r, const char *reason, Value *outputs) {
  Tirc *c = k->c;
  Script *sc = k->conversions->sc;
  const OnnxNode *n = &r->graph->nodes[r->at];
  const Expr holds = tirc_graph_condition(sc, cond);
  if (!holds || !reason) return false;
  const char *around = k->maker.whose;
  const Expr truth = tirc_cast(c, DT_BOOL, holds);
  const Need need = {r->taken == 1 ? truth : tirc_not(c, truth),
                     tirc_format(c, "the other branch does not go with what follows: %s", reason),
                     {0}};
  k->maker.whose = tirc_format(c, "node '%s' (%s)", n->name, n->op);
  tirc_graph_require(&k->maker, 1, &need);
  k->maker.whose = around;
  run_rest(&r->body, sc, NULL, outputs);
  return true;
}

/* An If whose branches give different things: what follows in the graph is part of each of them.
 * False: that cannot be; *why is what is wrong with the first branch, if both have something. */
static bool convert_apart(Importing *k, const OnnxModel *g, int at, Diag *why) {
  enum { MOST_APART = 10 };
  GraphMaker *m = &k->maker;
  const Node cond = m->apart;
  const Kept kept = keep(k);
  Value *outputs = tirc_new_array(k->c, Value, g->n_outputs);
  Node calls[2];
  Diag wrong[2] = {{0}};
  Rest rests[2];
  m->apart = NULL;
  if (k->n_apart == MOST_APART) return false;
  k->n_apart++;
  m->hint = g->outputs[0].name;
  for (int i = 0; i < 2; i++) {
    rests[i] = (Rest){{0, g->n_outputs, run_rest}, k, g, at, i + 1};
    calls[i] = try_rest(k, &rests[i]);
    if (!calls[i]) wrong[i] = k->c->diag;
  }
  if (wrong[0].message && wrong[1].message) *why = wrong[0];
  const int one = calls[0] ? 0 : 1;
  bool ok = calls[0] && calls[1] && tirc_graph_if(m, cond, calls, g->n_outputs, outputs);
  if (!calls[0] != !calls[1]) {
    go_back(k, &kept);
    ok = take_one(k, cond, &rests[one], wrong[1 - one].message, outputs);
  }
  k->n_apart = kept.n_apart;
  for (int i = 0; ok && i < g->n_outputs; i++) tirc_import_put(k, g->outputs[i].name, outputs[i]);
  return ok;
}

/* False: the rest of the nodes is converted, too. */
bool tirc_import_next(Importing *k, const OnnxModel *g, int at) {
  const Kept kept = keep(k);
  Trap trap;
  k->maker.apart = NULL;
  if (TIRC_TRY(k->c, trap)) {
    tirc_import_node(k, &g->nodes[at]);
    TIRC_END(k->c, trap);
    return true;
  }
  if (!k->maker.apart || !g->n_outputs) tirc_throw(k->c);
  Diag why = k->c->diag;
  go_back(k, &kept);
  if (convert_apart(k, g, at, &why)) return false;
  k->c->diag = why;
  tirc_throw(k->c);
}
