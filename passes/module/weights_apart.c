/* A graph in two: what it makes of weights alone, and the rest, which takes that as its weights.
 *
 *   main(x; w):  q = f(w)                      made(w) -> (w_uint8)
 *                y = g(x, q)           ->      main(x; w_uint8):  y = g(x, w_uint8) */
#include "passes.h"

#include "ir/tree/annotations.h"

typedef struct Apart {
  Tirc *c;
  const Graph *g;
  int n_inputs;
  PtrMap weights;  /* variable -> the parameter that it comes from first, or itself */
  PtrMap made;     /* variable that a binding makes of weights -> that value */
  PtrMap bytes;    /* of weights and of what is made: the fewest from which it can be made */
  PtrMap used;     /* of these: the rest uses it */
  VEC(Node) front; /* of these, the ones that the rest takes */
} Apart;

/* The first parameter that a value of weights alone comes from; NULL: it is none such. */
static Node origin(const Apart *k, Node n) {
  if (n->kind == NODE_VAR) return tirc_map_get(&k->weights, n);
  const bool is_free = n->kind == NODE_CONST || n->kind == NODE_VALUE || n->kind == NODE_SHAPE;
  const bool is_call = n->kind == NODE_CALL || n->kind == NODE_CALL_TIR;
  const bool is_whole = n->kind == NODE_TUPLE || n->kind == NODE_ITEM || is_call;
  PtrMap seen = {0};
  Symbols symbols = {0};
  Node first = NULL;
  if (is_free || !is_whole) return NULL;
  tirc_node_symbols(k->c, n, &seen, &symbols);
  tirc_info_symbols(k->c, n->info, &seen, &symbols);
  if (symbols.n) return NULL;
  for (int i = 0; i < n->n; i++) {
    const Node arg = n->args[i], from = origin(k, arg);
    if (!from && arg->kind != NODE_CONST && arg->kind != NODE_VALUE && arg->kind != NODE_SHAPE)
      return NULL;
    first = first ? first : from;
  }
  return first;
}

static int64_t known_bytes(const Apart *k, Node n) {
  return n->kind == NODE_VAR ? (int64_t)(intptr_t)tirc_map_get(&k->bytes, n) : 0;
}

static void note_bytes(Apart *k, Node var, int64_t bytes) {
  tirc_map_set(k->c, &k->bytes, var, (void *)(intptr_t)bytes);
}

/* Of what it is made of. */
static int64_t operand_bytes(const Apart *k, Node n) {
  int64_t sum = known_bytes(k, n);
  for (int i = 0; i < n->n; i++) sum += operand_bytes(k, n->args[i]);
  return sum;
}

static void note_made(Apart *k, const Binding *at, Node from) {
  const int64_t own = tirc_info_bytes(at->var->info), of = operand_bytes(k, at->value);
  tirc_map_set(k->c, &k->weights, at->var, (void *)(uintptr_t)from);
  tirc_map_set(k->c, &k->made, at->var, (void *)(uintptr_t)at->value);
  note_bytes(k, at->var, own >= 0 && own <= of ? own : of);
}

static void find_made(Apart *k) {
  for (int i = k->n_inputs; i < k->g->n_params; i++) {
    const Node w = k->g->params[i];
    tirc_map_set(k->c, &k->weights, w, (void *)(uintptr_t)w);
    note_bytes(k, w, tirc_info_bytes(w->info));
  }
  for (int b = 0; b < k->g->n_blocks; b++)
    for (int i = 0; i < k->g->blocks[b].n; i++) {
      const Binding *at = &k->g->blocks[b].at[i];
      const Node from = at->value->kind == NODE_VAR ? NULL : origin(k, at->value);
      if (from) note_made(k, at, from);
    }
}

/* It has fewer bytes than what it could be made of in the rest, and is a tensor. */
static bool is_smallest(const Apart *k, Node var) {
  return var->info && var->info->kind == INFO_TENSOR &&
         tirc_info_bytes(var->info) == known_bytes(k, var);
}

/* What the rest uses of what is made, each once: what takes less room than its operands; the others
 * are made of theirs in the rest. */
static void use(Apart *k, Node n) {
  const Node value = n->kind == NODE_VAR ? tirc_map_get(&k->made, n) : NULL;
  bool known = !value || tirc_map_has(&k->used, n);
  if (!known) tirc_map_set(k->c, &k->used, n, k);
  if (!known && is_smallest(k, n))
    vec_push(k->c, k->front, n);
  else if (!known)
    use(k, value);
  for (int i = 0; i < n->n; i++) use(k, n->args[i]);
}

static void find_front(Apart *k) {
  for (int b = 0; b < k->g->n_blocks; b++)
    for (int i = 0; i < k->g->blocks[b].n; i++)
      if (!tirc_map_has(&k->made, k->g->blocks[b].at[i].var)) use(k, k->g->blocks[b].at[i].value);
  use(k, k->g->result);
}

static bool is_in_front(const Apart *k, Node var) {
  for (int i = 0; i < k->front.n; i++)
    if (k->front.at[i] == var) return true;
  return false;
}

static bool is_name(const Apart *k, int n, const Node *others, const char *name) {
  for (int i = 0; i < k->g->n_params; i++)
    if (strcmp(k->g->params[i]->name, name) == 0) return true;
  for (int i = 0; i < n; i++)
    if (strcmp(others[i]->name, name) == 0) return true;
  return false;
}

/* The weights of the rest: w_uint8, w_float16 ... */
static Node *named_front(const Apart *k) {
  Node *named = tirc_new_array(k->c, Node, k->front.n);
  for (int i = 0; i < k->front.n; i++) {
    const Node var = k->front.at[i], from = tirc_map_get(&k->weights, var);
    const char *base =
        tirc_format(k->c, "%s_%s", from->name, tirc_dtype_name(k->c, var->info->dtype));
    const char *name = base;
    for (int n = 1; is_name(k, i, named, name); n++) name = tirc_format(k->c, "%s_%d", base, n);
    named[i] = tirc_node_var(k->c, name, var->info, var->loc);
  }
  return named;
}

static const Graph *with_params(Apart *k, int n, const Node *params, int inputs) {
  Graph *to = tirc_copy(k->c, k->g, 1);
  to->n_params = n;
  to->params = params;
  to->attrs =
      tirc_attrs_set(k->c, k->g->attrs, tirc_key(KEY_NUM_INPUT), tirc_int(k->c, DT_INT64, inputs));
  return to;
}

static const Graph *made_graph(Apart *k, const Node *named) {
  Graph *to = tirc_new(k->c, Graph);
  const Graph *whole = with_params(k, k->g->n_params - k->n_inputs, k->g->params + k->n_inputs, 0);
  *to = (Graph){
      .name = "main", .n_params = whole->n_params, .params = whole->params, .loc = k->g->loc};
  to->attrs =
      tirc_attrs_set(k->c, (Attrs){0}, tirc_key(KEY_NUM_INPUT), tirc_int(k->c, DT_INT64, 0));
  GraphBlock *block = tirc_new(k->c, GraphBlock);
  VEC(Binding) all = {0};
  for (int b = 0; b < k->g->n_blocks; b++)
    for (int i = 0; i < k->g->blocks[b].n; i++)
      if (tirc_map_has(&k->made, k->g->blocks[b].at[i].var))
        vec_push(k->c, all, k->g->blocks[b].at[i]);
  for (int i = 0; i < k->front.n; i++)
    vec_push(k->c, all, ((Binding){named[i], k->front.at[i], named[i]->loc}));
  *block = (GraphBlock){
      .is_dataflow = true, .n = all.n, .at = all.at, .n_outputs = k->front.n, .outputs = named};
  to->n_blocks = 1;
  to->blocks = block;
  to->result = k->front.n == 1 ? named[0] : tirc_node_tuple(k->c, k->front.n, named);
  return to;
}

static Node leave_out(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  const Apart *k = r->self;
  if (!is_in_front(k, b->var)) return value;
  *alias = tirc_map_get(&r->to, b->var);
  return NULL;
}

static const Graph *rest_graph(Apart *k, const Node *named) {
  GraphRewriter r = {.c = k->c, .value = leave_out, .self = k};
  const int n = k->g->n_params;
  Node *params = tirc_new_array(k->c, Node, n + k->front.n);
  for (int i = 0; i < n; i++) params[i] = k->g->params[i];
  for (int i = 0; i < k->front.n; i++) {
    params[n + i] = named[i];
    tirc_map_set(k->c, &r.to, k->front.at[i], (void *)(uintptr_t)named[i]);
  }
  Apart of = *k;
  of.g = tirc_rewrite_graph(&r, k->g);
  return with_params(&of, n + k->front.n, params, k->n_inputs);
}

static const Module *with_main(Passes *p, const Module *m, const Graph *g, const Graph *instead) {
  int at = 0;
  while (m->graphs[at] != g) at++;
  return tirc_pass_dead_code(p, tirc_module_with_graph(p->c, m, at, instead));
}

static bool read_inputs(Apart *k) {
  const Expr inputs = k->g ? tirc_attrs_get(k->g->attrs, tirc_key(KEY_NUM_INPUT)) : NULL;
  int64_t n = 0;
  if (!inputs || !tirc_const_int(inputs, &n) || n > k->g->n_params) return false;
  k->n_inputs = (int)n;
  return true;
}

MadeOfWeights tirc_made_of_weights(Tirc *c, const Graph *g) {
  Apart k = {.c = c, .g = g};
  MadeOfWeights out = {0};
  if (!read_inputs(&k)) return out;
  find_made(&k);
  for (int b = 0; b < g->n_blocks; b++)
    for (int i = 0; i < g->blocks[b].n; i++) {
      const Node var = g->blocks[b].at[i].var, from = tirc_map_get(&k.weights, var);
      if (from && is_smallest(&k, var) && tirc_info_bytes(var->info) < tirc_info_bytes(from->info))
        tirc_map_set(c, &out.smaller, var, (void *)(uintptr_t)from);
    }
  out.all = k.made;
  return out;
}

bool tirc_weights_apart(Passes *p, const Module *m, const Module **made, const Module **rest) {
  m = tirc_infer(p, m);
  Apart k = {.c = p->c, .g = tirc_module_main_graph(m)};
  if (!read_inputs(&k)) return false;
  find_made(&k);
  find_front(&k);
  if (!k.front.n) return false;
  const Node *named = named_front(&k);
  *made = with_main(p, m, k.g, made_graph(&k, named));
  *rest = with_main(p, m, k.g, rest_graph(&k, named));
  return true;
}
