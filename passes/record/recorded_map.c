/* Index maps in traces: applied, and as text. See recorded_map.h. */
#include "recorded_map.h"

#include "ir/tree/visit.h"

Value tirc_value_substituted(Tirc *c, Value v, const PtrMap *map) {
  if (v.kind == VAL_EXPR) return tirc_value_expr(tirc_substitute(c, v.u.expr, map));
  if (!tirc_is_sequence(v)) return v;
  Value out = tirc_value_list(c, v.kind, v.u.list->n, v.u.list->at);
  for (int i = 0; i < out.u.list->n; i++)
    out.u.list->at[i] = tirc_value_substituted(c, out.u.list->at[i], map);
  return out;
}

static Value with_arguments(Tirc *c, Value v, const PtrMap *map) {
  if (v.kind == VAL_EXPR) return tirc_value_expr(tirc_substitute_typed(c, v.u.expr, map));
  if (!tirc_is_sequence(v)) return v;
  Value out = tirc_value_list(c, v.kind, v.u.list->n, v.u.list->at);
  for (int i = 0; i < out.u.list->n; i++)
    out.u.list->at[i] = with_arguments(c, out.u.list->at[i], map);
  return out;
}

Value tirc_call_map(Callable *self, int n, const Value *args) {
  RecordedMap *m = (RecordedMap *)self;
  PtrMap map = {0};
  for (int i = 0; i < n && i < m->base.n_params; i++) {
    Expr e = args[i].kind == VAL_EXPR  ? args[i].u.expr
             : args[i].kind == VAL_INT ? tirc_int(m->c, m->vars[i]->dtype, args[i].u.i)
                                       : NULL;
    if (e) tirc_map_set(m->c, &map, m->vars[i], e);
  }
  for (int i = 0; i < m->n_rvs; i++)
    tirc_map_set(m->c, &map, m->rv_vars[i], tirc_int32(m->c, m->rvs[i].u.i));
  return with_arguments(m->c, m->results, &map);
}

/* Saved traces do not tell lists from tuples. */
static Value as_tuples(Tirc *c, Value v) {
  if (!tirc_is_sequence(v)) return v;
  Value out = tirc_value_list(c, VAL_TUPLE, v.u.list->n, v.u.list->at);
  for (int i = 0; i < out.u.list->n; i++) out.u.list->at[i] = as_tuples(c, out.u.list->at[i]);
  return out;
}

Value tirc_map_value(RecordedMap *m) {
  Text t = {.c = m->c};
  tirc_text_add(&t, "lambda");
  for (int i = 0; i < m->base.n_params; i++)
    tirc_text_addf(&t, "%s %s", i ? "," : "", m->vars[i]->u.s);
  m->results = as_tuples(m->c, m->results);
  tirc_text_addf(&t, ": %s", tirc_value_repr(m->c, m->results));
  m->base.name = t.at;
  return (Value){.kind = VAL_FUNCTION, .u.object = m};
}

Expr *tirc_map_variables(Tirc *c, int n) {
  Expr *vars = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n; i++) vars[i] = tirc_var(c, tirc_format(c, "i%d", i), DT_INT32);
  return vars;
}

static Value with_results(Tirc *c, const RecordedMap *from, Value results) {
  RecordedMap *to = tirc_copy(c, from, 1);
  to->results = results;
  return tirc_map_value(to);
}

Value tirc_recorded_bounds(Tirc *c, Value ranges) {
  const RecordedMap *from = tirc_recorded_map(ranges);
  if (!from) return ranges;
  const Value one = from->results;
  const ValueList *list =
      tirc_is_sequence(one) ? one.u.list : &(ValueList){.n = 1, .at = (Value *)&one};
  Value all = tirc_value_list(c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < list->n; i++) {
    const Value v = list->at[i];
    bool pair = tirc_is_sequence(v) && v.u.list->n == 2;
    Value end = v;
    if (v.kind == VAL_EXPR)
      end = tirc_value_expr(tirc_add(c, v.u.expr, tirc_int(c, v.u.expr->dtype, 1)));
    if (v.kind == VAL_INT) end = tirc_value_int(v.u.i + 1);
    tirc_value_append(c, all, pair ? v.u.list->at[0] : v);
    tirc_value_append(c, all, pair ? v.u.list->at[1] : end);
  }
  return with_results(c, from, all);
}

Value tirc_take_separators(Tirc *c, Value *map) {
  Value places = tirc_value_list(c, VAL_LIST, 0, NULL),
        rest = tirc_value_list(c, VAL_TUPLE, 0, NULL);
  const RecordedMap *from = map->u.object;
  if (from->base.call != tirc_call_map) return places;
  if (!tirc_is_sequence(from->results)) return places;
  const ValueList *results = from->results.u.list;
  for (int i = 0; i < results->n; i++)
    if (tirc_is_axis_separator(results->at[i]))
      tirc_value_append(c, places, tirc_value_int(rest.u.list->n));
    else
      tirc_value_append(c, rest, results->at[i]);
  if (!places.u.list->n) return places;
  *map = with_results(c, from, rest);
  return places;
}

const char *tirc_recorded_function(Tirc *c, Value function, const RVNames *names) {
  const RecordedMap *m = function.u.object;
  if (m->base.call != tirc_call_map) return m->base.name;
  PtrMap map = {0};
  Expr *named = tirc_new_array(c, Expr, m->n_rvs);
  int n = 0;
  for (int i = 0; i < m->n_rvs; i++) {
    const char *name = names ? tirc_rv_name(names, m->rvs[i]) : NULL;
    if (name) named[n++] = tirc_var(c, name, DT_INT32);
    tirc_map_set(c, &map, m->rv_vars[i], name ? named[n - 1] : tirc_int32(c, m->rvs[i].u.i));
  }
  const char *saved = tirc_lambda_saved(c, m->base.n_params, m->vars, n, named,
                                        tirc_value_substituted(c, m->results, &map));
  return saved ? saved : tirc_text_with_rvs(c, m->base.name, names);
}
