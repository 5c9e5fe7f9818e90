/* CollectConditions: a graph says what has to hold of its extents when it runs. */
#include "conditions.h"

#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"
#include "operator_call.h"
#include "passes.h"

enum { COND, MESSAGE, FILE_NAME, LINE, COLUMN, N_PARTS };

static Expr conditions_of(Attrs attrs) { return tirc_attrs_get(attrs, tirc_key(KEY_REQUIRES)); }

int tirc_n_conditions(Attrs attrs) {
  const Expr list = conditions_of(attrs);
  return list && list->op == OP_TUPLE ? list->n : 0;
}

static bool is_condition(Expr e) {
  int64_t number;
  return e->op == OP_TUPLE && e->n == N_PARTS && e->args[COND]->dtype.code == TYPE_BOOL &&
         e->args[MESSAGE]->op == OP_STRING && e->args[FILE_NAME]->op == OP_STRING &&
         tirc_const_int(e->args[LINE], &number) && tirc_const_int(e->args[COLUMN], &number);
}

_Noreturn static void no_conditions(Tirc *c, const Graph *g) {
  tirc_fail(c, g->loc, CODE_TYPE, "[[condition, \"message\", \"file\", line, column], ...]",
            "%s: \"%s\" has something else than conditions", g->name, tirc_key(KEY_REQUIRES));
}

Need tirc_condition(Tirc *c, const Graph *g, int i) {
  const Expr e = conditions_of(g->attrs)->args[i];
  if (!is_condition(e)) no_conditions(c, g);
  Need need = {e->args[COND], e->args[MESSAGE]->u.s, {.file = e->args[FILE_NAME]->u.s}};
  need.loc.line = (int)e->args[LINE]->u.i;
  need.loc.column = (int)e->args[COLUMN]->u.i;
  return need;
}

/* In the same words: whether another one says the same is not worth a proof for each of both. */
static bool is_there(int n, const Expr *list, Expr cond) {
  for (int i = 0; i < n; i++)
    if (list[i]->n > COND && tirc_expr_same(list[i]->args[COND], cond)) return true;
  return false;
}

Attrs tirc_add_conditions(Tirc *c, Attrs attrs, int n, const Need *needs, Loc at,
                          const char *whose) {
  const int before = tirc_n_conditions(attrs);
  Expr *list = tirc_new_array(c, Expr, before + n);
  int count = before;
  for (int i = 0; i < before; i++) list[i] = conditions_of(attrs)->args[i];
  for (int i = 0; i < n; i++) {
    if (is_there(count, list, needs[i].cond)) continue;
    const char *message =
        whose ? tirc_format(c, "%s: %s", whose, needs[i].message) : needs[i].message;
    const Expr parts[N_PARTS] = {[COND] = needs[i].cond,
                                 [MESSAGE] = tirc_string(c, message),
                                 [FILE_NAME] = tirc_string(c, at.file ? at.file : ""),
                                 [LINE] = tirc_int(c, DT_INT64, at.line),
                                 [COLUMN] = tirc_int(c, DT_INT64, at.line ? at.column : 0)};
    list[count++] = tirc_expr(c, OP_TUPLE, DT_HANDLE, N_PARTS, parts);
  }
  if (count == before) return attrs;
  return tirc_attrs_set(c, attrs, tirc_key(KEY_REQUIRES),
                        tirc_expr(c, OP_TUPLE, DT_HANDLE, count, list));
}

Attrs tirc_take_conditions(Tirc *c, Attrs attrs, const Graph *from, const PtrMap *symbols) {
  for (int i = 0; i < tirc_n_conditions(from->attrs); i++) {
    Need need = tirc_condition(c, from, i);
    need.cond = tirc_substitute(c, need.cond, symbols);
    attrs = tirc_add_conditions(c, attrs, 1, &need, need.loc, NULL);
  }
  return attrs;
}

/* --- the pass --------------------------------------------------------------------------------- */

typedef struct Collecting {
  Passes *p;
  const Module *m;
  PtrMap done; /* graph -> the same with its conditions */
} Collecting;

static const Graph *collected(Collecting *k, const Graph *g);

/* Of a graph that is called, in the caller's extents. */
static Attrs add_called(Collecting *k, Attrs attrs, Node call) {
  Tirc *c = k->p->c;
  const Graph *g = tirc_module_graph(k->m, call->name);
  if (!g) return attrs;
  g = collected(k, g);
  Match match = {.c = c};
  const int n = g->n_params;
  const Info *formals = tirc_node_infos(c, n, g->params), *is = tirc_node_infos(c, n, call->args);
  if (tirc_match_params(&match, n, formals, is) >= 0) return attrs;
  return tirc_take_conditions(c, attrs, g, &match.symbols);
}

/* A function that an `if` calls keeps its own: they have to hold where it is taken. */
static const Graph *collected(Collecting *k, const Graph *g) {
  const Graph *known = tirc_map_get(&k->done, g);
  if (known) return known;
  const Expr stated = conditions_of(g->attrs);
  if (stated && stated->op != OP_TUPLE) no_conditions(k->p->c, g);
  Graph *to = tirc_copy(k->p->c, g, 1);
  for (int b = 0; b < g->n_blocks; b++)
    for (int i = 0; i < g->blocks[b].n; i++) {
      const Node n = g->blocks[b].at[i].value;
      if (n->kind == NODE_CALL_GRAPH) to->attrs = add_called(k, to->attrs, n);
      if (n->kind != NODE_CALL) continue;
      const OperatorProgram *made = tirc_operator_call(k->p, g, n);
      to->attrs = tirc_add_conditions(k->p->c, to->attrs, made->n_needs, made->needs, n->loc, NULL);
    }
  tirc_map_set(k->p->c, &k->done, g, to);
  return to;
}

const Module *tirc_pass_collect_conditions(Passes *p, const Module *m) {
  Collecting k = {.p = p, .m = tirc_infer(p, m)};
  m = k.m;
  for (int i = 0; i < m->n_graphs; i++)
    m = tirc_module_with_graph(p->c, m, i, collected(&k, k.m->graphs[i]));
  return m;
}
