/* AttachVariableBounds: what main's attributes say of extents, functions know of theirs, so that
 * schedules and code are made for these. It is the range of what the calls pass; where all pass one
 * number, it is that:
 *
 *   R.func_attr({"tir_var_upper_bound": {"n": 32}})
 *   R.call_tir(cls.f, (x,)), x of n * 2 rows
 *
 *   ->  T.func_attr({"tir_var_upper_bound": {"m": 64}}) of f, whose rows are m
 *
 * Functions that others may call, too, stay as they are. */
#include "passes.h"

#include "ir/arith/arith.h"
#include "ir/tree/annotations.h"
#include "ir/tree/symbols.h"

typedef struct Attaching {
  Tirc *c;
  const Func *f;
  int n;
  Expr *symbols;
  Bound *bounds; /* of each: over the calls so far */
  int calls;
  bool unknown; /* a call does not say what the symbols are */
} Attaching;

static void know_graph(Tirc *c, const Graph *g) {
  PtrMap seen = {0};
  Symbols symbols = {0};
  for (int i = 0; i < g->n_params; i++) tirc_info_symbols(c, g->params[i]->info, &seen, &symbols);
  for (int i = 0; i < symbols.n; i++) {
    const ExtentBounds b = tirc_extent_bounds(g->attrs, symbols.at[i]->u.s);
    tirc_know_extent(c, symbols.at[i], b.lower, b.upper);
  }
}

/* Tensors, results, then scalars: what the call gives to the parameters in their order. */
static void match_call(Attaching *k, Match *match, Node call) {
  const Func *f = k->f;
  const Info *results;
  const int n_results = tirc_info_results(&call->info, &results);
  Info *is = tirc_new_array(k->c, Info, f->n_params);
  for (int i = 0; i < f->n_params && i < call->n + n_results; i++)
    is[i] = i < call->n ? call->args[i]->info : results[i - call->n];
  k->unknown |= tirc_match_params(match, f->n_params,
                                  tirc_buffer_infos(k->c, f->n_params, f->buffers), is) >= 0;
  for (int i = 0; i < f->n_params; i++) {
    const int scalar = i - call->n - n_results;
    if (f->buffers[i]) continue;
    if (scalar < 0 || !call->value || scalar >= call->value->n)
      k->unknown = true;
    else
      tirc_map_set(k->c, &match->symbols, f->params[i], call->value->args[scalar]);
  }
}

static void look_at_call(Attaching *k, Node call) {
  Match match = {.c = k->c};
  Analyzer *known = tirc_analyzer(k->c);
  match_call(k, &match, call);
  for (int i = 0; i < k->n; i++) {
    const Expr value = tirc_map_get(&match.symbols, k->symbols[i]);
    if (!value) {
      k->unknown = true;
      return;
    }
    const Bound b = tirc_const_bound(known, value);
    if (!k->calls || b.min < k->bounds[i].min) k->bounds[i].min = b.min;
    if (!k->calls || b.max > k->bounds[i].max) k->bounds[i].max = b.max;
  }
  k->calls++;
}

static bool share_names(const Attaching *k) {
  for (int i = 0; i < k->n; i++)
    for (int j = 0; j < i; j++)
      if (strcmp(k->symbols[i]->u.s, k->symbols[j]->u.s) == 0) return true;
  return false;
}

static Attrs with_bounds(const Attaching *k, AnnotationKey key) {
  Tirc *c = k->c;
  Expr *items = tirc_new_array(c, Expr, 2 * k->n);
  int n = 0;
  for (int i = 0; i < k->n; i++) {
    const bool is_upper = key == KEY_UPPER_BOUND;
    const int64_t bound = is_upper ? k->bounds[i].max : k->bounds[i].min;
    if (k->bounds[i].min < 0) continue; /* a scalar that may be negative is no extent */
    if (is_upper ? bound == TIRC_POS_INF : bound <= 0) continue;
    items[n++] = tirc_string(c, k->symbols[i]->u.s);
    items[n++] = tirc_int(c, DT_INT64, bound);
  }
  if (!n) return k->f->attrs;
  return tirc_attrs_set(c, k->f->attrs, tirc_key(key), tirc_expr(c, OP_DICT, DT_HANDLE, n, items));
}

static const Func *attach(Tirc *c, const Module *m, const Graph *main, const Func *f) {
  Attaching k = {.c = c, .f = f};
  k.n = tirc_extent_params(c, f, &k.symbols);
  k.bounds = tirc_new_array(c, Bound, k.n);
  if (!k.n || !tirc_attrs_get(f->attrs, "tirc.private") || share_names(&k)) return f;
  for (int g = 0; g < m->n_graphs; g++)
    for (int b = 0; b < m->graphs[g]->n_blocks; b++)
      for (int i = 0; i < m->graphs[g]->blocks[b].n; i++) {
        const Node value = m->graphs[g]->blocks[b].at[i].value;
        if (value->kind != NODE_CALL_TIR || strcmp(value->name, f->name) != 0) continue;
        if (m->graphs[g] != main) return f;
        look_at_call(&k, value);
      }
  if (k.unknown || !k.calls) return f;
  Func *to = tirc_copy(c, f, 1);
  to->attrs = with_bounds(&k, KEY_LOWER_BOUND);
  k.f = to;
  to->attrs = with_bounds(&k, KEY_UPPER_BOUND);
  tirc_know_extents(c, to);
  return to;
}

const Module *tirc_pass_attach_bounds(Passes *p, const Module *m) {
  const Graph *main = tirc_module_main_graph(m);
  if (!main) return m;
  know_graph(p->c, main);
  for (int i = 0; i < m->n_funcs; i++)
    m = tirc_module_with_func(p->c, m, i, attach(p->c, m, main, m->funcs[i]));
  return m;
}
