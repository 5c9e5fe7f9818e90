/* The builtin functions, one row each at the end. */
#include "ir/number.h"
#include "passes/replay/replay.h"
#include "require.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

Value tirc_script_native(const NativeRow *row) { return tirc_script_object("builtin", row); }

static const Value *keyword(const Args *a, const char *name) {
  for (int i = 0; i < a->n_keywords; i++)
    if (!strcmp(a->names[i], name)) return &a->keywords[i];
  return NULL;
}

static int64_t int_argument(Script *sc, const char *who, Value v) {
  int64_t i;
  if (!tirc_script_int(v, &i))
    tirc_script_error(sc, "TypeError", v.kind == VAL_FLOAT ? "use // or int(x)" : NULL,
                      "%s() takes ints, not %s", who, tirc_script_a_type(sc, v));
  return i;
}

/* --- sequences -------------------------------------------------------------------------------- */

static Value run_len(Script *sc, Value self, const Args *a) {
  (void)self;
  return tirc_value_int(tirc_script_length(sc, a->at[0]));
}

static Value run_range(Script *sc, Value self, const Args *a) {
  (void)self;
  RangeObject *r = tirc_new(sc->c, RangeObject);
  int64_t args[3] = {0, 0, 1};
  for (int i = 0; i < a->n; i++) args[i] = int_argument(sc, "range", a->at[i]);
  *r = a->n == 1 ? (RangeObject){0, args[0], 1} : (RangeObject){args[0], args[1], args[2]};
  if (r->step == 0) tirc_script_error(sc, "ValueError", NULL, "the step of range() must not be 0");
  return tirc_script_object("range", r);
}

static Value lazy(Script *sc, const Args *over, bool (*next)(Script *, LazyIter *, Value *)) {
  LazyIter *it = tirc_new(sc->c, LazyIter);
  it->next = next;
  it->n = over->n;
  it->parts = tirc_new_array(sc->c, Iter, over->n + 1);
  for (int i = 0; i < over->n; i++) it->parts[i] = tirc_script_iter(sc, over->at[i]);
  return tirc_script_object("iterator", it);
}

static bool next_zip(Script *sc, LazyIter *it, Value *out) {
  Value *items = tirc_new_array(sc->c, Value, it->n + 1);
  if (it->n == 0) return false;
  for (int i = 0; i < it->n; i++)
    if (!tirc_script_next(sc, &it->parts[i], &items[i])) return false;
  *out = tirc_value_list(sc->c, VAL_TUPLE, it->n, items);
  return true;
}

static bool next_enumerate(Script *sc, LazyIter *it, Value *out) {
  Value pair[2] = {tirc_value_int(it->i)};
  if (!tirc_script_next(sc, it->parts, &pair[1])) return false;
  it->i++;
  *out = tirc_value_list(sc->c, VAL_TUPLE, 2, pair);
  return true;
}

static bool next_map(Script *sc, LazyIter *it, Value *out) {
  Value *items = tirc_new_array(sc->c, Value, it->n);
  for (int i = 0; i < it->n; i++)
    if (!tirc_script_next(sc, &it->parts[i], &items[i])) return false;
  *out = tirc_script_call(sc, it->fn, &(Args){.n = it->n, .at = items});
  return true;
}

static bool next_filter(Script *sc, LazyIter *it, Value *out) {
  while (tirc_script_next(sc, it->parts, out))
    if (tirc_script_truth(sc, it->fn.kind == VAL_NONE ? *out : tirc_script_call1(sc, it->fn, *out)))
      return true;
  return false;
}

static Value run_zip(Script *sc, Value self, const Args *a) {
  return (void)self, lazy(sc, a, next_zip);
}

static Value run_enumerate(Script *sc, Value self, const Args *a) {
  (void)self;
  Value v = lazy(sc, &(Args){.n = 1, .at = a->at}, next_enumerate);
  const Value *start = a->n > 1 ? &a->at[1] : keyword(a, "start");
  if (start) ((LazyIter *)v.u.object)->i = int_argument(sc, "enumerate", *start);
  return v;
}

static Value mapped(Script *sc, const Args *a, bool (*next)(Script *, LazyIter *, Value *)) {
  Value v = lazy(sc, &(Args){.n = a->n - 1, .at = a->at + 1}, next);
  ((LazyIter *)v.u.object)->fn = a->at[0];
  return v;
}

static Value run_map(Script *sc, Value self, const Args *a) {
  return (void)self, mapped(sc, a, next_map);
}

static Value run_filter(Script *sc, Value self, const Args *a) {
  return (void)self, mapped(sc, a, next_filter);
}

static Value run_reversed(Script *sc, Value self, const Args *a) {
  (void)self;
  Value list = tirc_script_collect(sc, a->at[0], VAL_LIST);
  tirc_script_reverse(sc, list.u.list);
  return list;
}

static Value run_sorted(Script *sc, Value self, const Args *a) {
  (void)self;
  Value list = tirc_script_collect(sc, a->at[0], VAL_LIST);
  const Value *key = keyword(a, "key"), *reverse = keyword(a, "reverse");
  tirc_script_sort(sc, list.u.list, key ? *key : VALUE_NONE,
                   reverse && tirc_script_truth(sc, *reverse));
  return list;
}

static Value run_list(Script *sc, Value self, const Args *a) {
  (void)self;
  if (!a->n) return tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  return tirc_script_collect(sc, a->at[0], VAL_LIST);
}

static Value run_tuple(Script *sc, Value self, const Args *a) {
  (void)self;
  if (!a->n) return tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  return tirc_script_collect(sc, a->at[0], VAL_TUPLE);
}

static Value run_dict(Script *sc, Value self, const Args *a) {
  (void)self;
  Value dict = tirc_value_list(sc->c, VAL_DICT, 0, NULL);
  if (a->n && a->at[0].kind == VAL_DICT) {
    const ValueList *from = a->at[0].u.list;
    dict = tirc_value_list(sc->c, VAL_DICT, from->n, from->at);
  } else if (a->n) {
    Iter it = tirc_script_iter(sc, a->at[0]);
    Value item;
    while (tirc_script_next(sc, &it, &item)) {
      Value pair = tirc_script_collect(sc, item, VAL_LIST);
      if (pair.u.list->n != 2)
        tirc_script_error(sc, "ValueError", NULL, "dict() needs pairs of a key and a value");
      tirc_script_dict_set(sc, dict, pair.u.list->at[0], pair.u.list->at[1]);
    }
  }
  return dict;
}

/* --- folding ---------------------------------------------------------------------------------- */

static Value extreme(Script *sc, const Args *a, const char *who, bool greatest) {
  const Value *key = keyword(a, "key"), *otherwise = keyword(a, "default");
  Value list = a->n == 1 ? tirc_script_collect(sc, a->at[0], VAL_LIST)
                         : tirc_value_list(sc->c, VAL_LIST, a->n, a->at);
  const ValueList *items = list.u.list;
  if (!items->n && otherwise) return *otherwise;
  if (!items->n)
    tirc_script_error(sc, "ValueError", NULL, "%s() of an empty list is not possible", who);
  Value best = items->at[0], best_key = best;
  if (key && key->kind != VAL_NONE) best_key = tirc_script_call1(sc, *key, best);
  for (int i = 1; i < items->n; i++) {
    Value item = items->at[i], item_key = item;
    if (key && key->kind != VAL_NONE)
      item_key = tirc_script_call1(sc, *key, item);
    else if (item.kind == VAL_EXPR || best.kind == VAL_EXPR) {
      best = best_key =
          tirc_script_of_expr(tirc_binary(sc->c, greatest ? OP_MAX : OP_MIN,
                                          tirc_script_expr(sc, best), tirc_script_expr(sc, item)));
      continue;
    }
    bool better = greatest ? tirc_script_less(sc, best_key, item_key)
                           : tirc_script_less(sc, item_key, best_key);
    if (better) best = item, best_key = item_key;
  }
  return best;
}

static Value run_min(Script *sc, Value self, const Args *a) {
  return (void)self, extreme(sc, a, "min", false);
}
static Value run_max(Script *sc, Value self, const Args *a) {
  return (void)self, extreme(sc, a, "max", true);
}

static Value run_sum(Script *sc, Value self, const Args *a) {
  (void)self;
  const Value *start = a->n > 1 ? &a->at[1] : keyword(a, "start");
  Value total = start ? *start : tirc_value_int(0), item;
  Iter it = tirc_script_iter(sc, a->at[0]);
  while (tirc_script_next(sc, &it, &item)) total = tirc_script_binary(sc, "+", total, item);
  return total;
}

static bool any_is(Script *sc, Value iterable, bool wanted) {
  Iter it = tirc_script_iter(sc, iterable);
  Value item;
  while (tirc_script_next(sc, &it, &item))
    if (tirc_script_truth(sc, item) == wanted) return true;
  return false;
}

static Value run_any(Script *sc, Value self, const Args *a) {
  return (void)self, tirc_value_bool(any_is(sc, a->at[0], true));
}
static Value run_all(Script *sc, Value self, const Args *a) {
  return (void)self, tirc_value_bool(!any_is(sc, a->at[0], false));
}

/* --- numbers ---------------------------------------------------------------------------------- */

static _Noreturn void no_number(Script *sc, const char *what, Value v) {
  tirc_script_error(sc, v.kind == VAL_STR ? "ValueError" : "TypeError", NULL,
                    "%s is not a value of type %s", tirc_script_repr(sc, v), what);
}

static Value int_of_double(Script *sc, double f) {
  if (f != f) tirc_script_error(sc, "ValueError", NULL, "nan is not an int");
  if (f >= 9223372036854775808.0 || f < -9223372036854775808.0)
    tirc_script_error(sc, "OverflowError", "integers have 64 bits", "%g is too large for an int",
                      f);
  return tirc_value_int((int64_t)f);
}

static Value run_int(Script *sc, Value self, const Args *a) {
  (void)self;
  int64_t i;
  if (!a->n) return tirc_value_int(0);
  Value v = a->at[0];
  if (v.kind == VAL_STR) {
    char *end;
    int base = a->n > 1 ? (int)int_argument(sc, "int", a->at[1]) : 10;
    errno = 0;
    long long n =
        base == 0 || (base >= 2 && base <= 36) ? strtoll(v.u.s, &end, base) : (end = "?", 0);
    end += strspn(end, " \t\n");
    if (errno || *end || !*v.u.s) no_number(sc, "int", v);
    return tirc_value_int(n);
  }
  if (v.kind == VAL_FLOAT) return int_of_double(sc, trunc(v.u.f));
  if (v.kind == VAL_EXPR && v.u.expr->op == OP_FLOAT)
    return int_of_double(sc, trunc(v.u.expr->u.f));
  if (!tirc_script_int(v, &i)) no_number(sc, "int", v);
  return tirc_value_int(i);
}

static Value run_float(Script *sc, Value self, const Args *a) {
  (void)self;
  double f = 0;
  int64_t i;
  if (!a->n) return tirc_value_float(0);
  Value v = a->at[0];
  if (v.kind == VAL_STR) {
    char *end;
    f = tirc_parse_double(v.u.s, &end);
    end += strspn(end, " \t\n");
    if (*end || !*v.u.s) no_number(sc, "float", v);
    return tirc_value_float(f);
  }
  if (v.kind == VAL_EXPR && v.u.expr->op == OP_FLOAT) return tirc_value_float(v.u.expr->u.f);
  if (tirc_script_int(v, &i)) return tirc_value_float((double)i);
  if (!tirc_script_number(v, &f)) no_number(sc, "float", v);
  return tirc_value_float(f);
}

static Value run_bool(Script *sc, Value self, const Args *a) {
  (void)self;
  return tirc_value_bool(a->n && tirc_script_truth(sc, a->at[0]));
}

static Value run_abs(Script *sc, Value self, const Args *a) {
  (void)self;
  Value v = a->at[0];
  int64_t i;
  if (v.kind == VAL_FLOAT) return tirc_value_float(fabs(v.u.f));
  if (!tirc_script_int(v, &i)) no_number(sc, "number", v);
  return i < 0 ? tirc_script_unary(sc, "-", tirc_value_int(i)) : tirc_value_int(i);
}

/* Half to even, as Python rounds. */
static Value run_round(Script *sc, Value self, const Args *a) {
  (void)self;
  Value v = a->at[0];
  double f;
  int64_t digits = a->n > 1 && a->at[1].kind != VAL_NONE ? int_argument(sc, "round", a->at[1]) : 0;
  if (v.kind == VAL_INT || v.kind == VAL_BOOL) return v;
  if (!tirc_script_number(v, &f)) no_number(sc, "number", v);
  if (a->n < 2 || a->at[1].kind == VAL_NONE) return int_of_double(sc, nearbyint(f));
  if (digits > 300 || f - f != 0) return v;
  if (digits < 0) {
    double scale = pow(10, digits < -300 ? 300 : (double)-digits);
    return tirc_value_float(nearbyint(f / scale) * scale);
  }
  return tirc_value_float(tirc_parse_double(tirc_format(sc->c, "%.*f", (int)digits, f), NULL));
}

static Value run_divmod(Script *sc, Value self, const Args *a) {
  (void)self;
  Value pair[] = {tirc_script_binary(sc, "//", a->at[0], a->at[1]),
                  tirc_script_binary(sc, "%", a->at[0], a->at[1])};
  return tirc_value_list(sc->c, VAL_TUPLE, 2, pair);
}

static Value run_pow(Script *sc, Value self, const Args *a) {
  return (void)self, tirc_script_binary(sc, "**", a->at[0], a->at[1]);
}

/* --- types and text --------------------------------------------------------------------------- */

static Value run_str(Script *sc, Value self, const Args *a) {
  (void)self;
  return tirc_value_str(a->n ? tirc_script_str(sc, a->at[0]) : "");
}

static Value run_repr(Script *sc, Value self, const Args *a) {
  return (void)self, tirc_value_str(tirc_script_repr(sc, a->at[0]));
}

static const char *text_keyword(Script *sc, const Args *a, const char *name,
                                const char *otherwise) {
  const Value *v = keyword(a, name);
  if (!v || v->kind == VAL_NONE) return otherwise;
  if (v->kind != VAL_STR)
    tirc_script_error(sc, "TypeError", NULL, "%s= of print() must be a string", name);
  return v->u.s;
}

static Value run_print(Script *sc, Value self, const Args *a) {
  (void)self;
  Text t = {.c = sc->c};
  const char *sep = text_keyword(sc, a, "sep", " "), *end = text_keyword(sc, a, "end", "\n");
  for (int i = 0; i < a->n; i++) {
    if (i) tirc_text_add(&t, sep);
    tirc_text_add(&t, tirc_script_str(sc, a->at[i]));
  }
  tirc_text_add(&t, end);
  if (sc->out) sc->out(sc->self, t.at);
  return VALUE_NONE;
}

/* Why the calls that follow are made, or why a rule declines: rules.h. Gives what held before. */
static Value run_because(Script *sc, Value self, const Args *a) {
  const char *const before = sc->sched->reason;
  (void)self;
  if (a->at[0].kind != VAL_STR && a->at[0].kind != VAL_NONE)
    tirc_script_error(sc, "TypeError", NULL, "because() needs a reason as a string, not %s",
                      tirc_script_a_type(sc, a->at[0]));
  sc->sched->reason = a->at[0].kind == VAL_STR ? a->at[0].u.s : NULL;
  return before ? tirc_value_str(before) : VALUE_NONE;
}

/* recorded(part, sizes): does what is known of the program for these sizes on a copy for them.
 * False: nothing is known. Raises where it does not fit. */
static Value run_recorded(Script *sc, Value self, const Args *a) {
  Sched *s = sc->sched;
  (void)self;
  const Trace *t = s->records && a->at[0].kind == VAL_BLOCK
                       ? s->records->find(s->records->self, s, a->at[1])
                       : NULL;
  if (!t) return tirc_value_bool(false);
  Trap trap;
  if (TIRC_TRY(sc->c, trap)) {
    tirc_trace_apply_in(s, t, a->at[0], "the record");
    TIRC_END(sc->c, trap);
    s->records->told(s->records->self, a->at[1], NULL);
    return tirc_value_bool(true);
  }
  s->records->told(s->records->self, a->at[1], sc->c->diag.message);
  tirc_throw(sc->c);
}

static Value run_type(Script *sc, Value self, const Args *a) {
  (void)self;
  const char *name = tirc_script_type_name(a->at[0]);
  for (int i = 0; i < tirc_script_n_builtins; i++)
    if (*tirc_script_builtins[i].name == *name && !strcmp(tirc_script_builtins[i].name, name))
      return tirc_script_native(&tirc_script_builtins[i]);
  return (void)sc, tirc_script_object("type", name);
}

static bool is_instance(Script *sc, Value v, Value type) {
  if (type.kind == VAL_TUPLE) {
    for (int i = 0; i < type.u.list->n; i++)
      if (is_instance(sc, v, type.u.list->at[i])) return true;
    return false;
  }
  const char *name;
  if (tirc_script_is(type, "type"))
    name = type.u.object;
  else if (tirc_script_is(type, "builtin"))
    name = ((const NativeRow *)type.u.object)->name;
  else
    tirc_script_error(sc, "TypeError", NULL, "isinstance() needs a type or a tuple of types");
  static const struct {
    const char *type, *base;
  } bases[] = {{"bool", "int"}, {"int", "IntImm"}, {"float", "FloatImm"}};
  const char *have = tirc_script_type_name(v);
  if (!strcmp(have, name)) return true;
  for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
    if (!strcmp(bases[i].type, have) && !strcmp(bases[i].base, name)) return true;
  if (!strcmp(name, "PrimExpr")) return v.kind == VAL_EXPR;
  return v.kind == VAL_OBJECT && tirc_script_is_subclass(tirc_script_exception_class(v.type), name);
}

static Value run_isinstance(Script *sc, Value self, const Args *a) {
  return (void)self, tirc_value_bool(is_instance(sc, a->at[0], a->at[1]));
}

const NativeRow tirc_script_builtins[] = {
    {NULL, "len", run_len, 1, 1, NULL},
    {NULL, "range", run_range, 1, 3, NULL},
    {NULL, "zip", run_zip, 0, -1, NULL},
    {NULL, "enumerate", run_enumerate, 1, 2, "start"},
    {NULL, "map", run_map, 2, -1, NULL},
    {NULL, "filter", run_filter, 2, 2, NULL},
    {NULL, "reversed", run_reversed, 1, 1, NULL},
    {NULL, "sorted", run_sorted, 1, 1, "key reverse"},
    {NULL, "list", run_list, 0, 1, NULL},
    {NULL, "tuple", run_tuple, 0, 1, NULL},
    {NULL, "dict", run_dict, 0, 1, NULL},
    {NULL, "min", run_min, 1, -1, "key default"},
    {NULL, "max", run_max, 1, -1, "key default"},
    {NULL, "sum", run_sum, 1, 2, "start"},
    {NULL, "any", run_any, 1, 1, NULL},
    {NULL, "all", run_all, 1, 1, NULL},
    {NULL, "int", run_int, 0, 2, NULL},
    {NULL, "float", run_float, 0, 1, NULL},
    {NULL, "bool", run_bool, 0, 1, NULL},
    {NULL, "str", run_str, 0, 1, NULL},
    {NULL, "abs", run_abs, 1, 1, NULL},
    {NULL, "round", run_round, 1, 2, NULL},
    {NULL, "divmod", run_divmod, 2, 2, NULL},
    {NULL, "pow", run_pow, 2, 2, NULL},
    {NULL, "repr", run_repr, 1, 1, NULL},
    {NULL, "print", run_print, 0, -1, "sep end"},
    {NULL, "attempt", tirc_script_run_attempt, 1, -1, "*"},
    {NULL, "because", run_because, 1, 1, NULL},
    {NULL, "recorded", run_recorded, 2, 2, NULL},
    {NULL, "require", tirc_script_run_require, 2, 2, NULL},
    {NULL, "known", tirc_script_run_known, 1, 2, NULL},
    {NULL, "simplify", tirc_script_run_simplify, 1, 2, NULL},
    {NULL, "limits", tirc_script_run_limits, 1, 2, NULL},
    {NULL, "read_json", tirc_script_read_json, 1, 1, NULL},
    {NULL, "type", run_type, 1, 1, NULL},
    {NULL, "isinstance", run_isinstance, 2, 2, NULL},
};
const int tirc_script_n_builtins =
    (int)(sizeof tirc_script_builtins / sizeof *tirc_script_builtins);
