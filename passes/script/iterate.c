/* What can be walked, indexed, sliced and searched: lists, tuples, dicts, strings, ranges. Work
 * that grows with a value's size counts as steps. */
#include "relax.h"
#include "te.h"

/* --- walking ---------------------------------------------------------------------------------- */

static int64_t range_length(const RangeObject *r) {
  __int128 span = r->step > 0 ? (__int128)r->stop - r->start : (__int128)r->start - r->stop;
  __int128 step = r->step > 0 ? r->step : -(__int128)r->step;
  __int128 n = span <= 0 ? 0 : (span + step - 1) / step;
  return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static Value range_item(const RangeObject *r, int64_t i) {
  return tirc_value_int((int64_t)((__int128)r->start + (__int128)i * r->step));
}

Iter tirc_script_iter(Script *sc, Value v) {
  bool object = tirc_script_is(v, "range") || tirc_script_is(v, "iterator");
  if (v.kind == VAL_STR || v.kind == VAL_LIST || v.kind == VAL_TUPLE || v.kind == VAL_DICT ||
      object)
    return (Iter){v, 0};
  Value fields;
  if (tirc_script_relax_fields(sc, v, &fields)) return (Iter){fields, 0};
  tirc_script_error(
      sc, "TypeError",
      v.kind == VAL_LOOP || v.kind == VAL_BLOCK
          ? "this primitive returns one handle, not a list: write x = sch...., without a comma"
          : NULL,
      "%s cannot be iterated over or unpacked", tirc_script_a_type(sc, v));
}

static bool next_of_object(Script *sc, Iter *it, Value *out) {
  if (tirc_script_is(it->over, "range")) {
    const RangeObject *r = it->over.u.object;
    if (it->i >= range_length(r)) return false;
    *out = range_item(r, it->i++);
    return true;
  }
  LazyIter *lazy = it->over.u.object;
  if (++sc->nesting > SCRIPT_MAX_NESTING)
    tirc_script_limit(sc, NULL, "too many iterators inside of one another");
  bool more = lazy->next(sc, lazy, out);
  tirc_script_leave(sc);
  return more;
}

bool tirc_script_next(Script *sc, Iter *it, Value *out) {
  tirc_script_tick(sc, 1);
  const Value v = it->over;
  int step = v.kind == VAL_DICT ? 2 : 1;
  if (v.kind == VAL_OBJECT) return next_of_object(sc, it, out);
  if (v.kind == VAL_STR) { /* it->i counts bytes */
    const char *at = v.u.s + it->i;
    if (!*at) return false;
    *out = tirc_script_str_item(sc, at, 0, 1);
    it->i += (int64_t)strlen(out->u.s);
    return true;
  }
  if (it->i >= v.u.list->n) return false;
  *out = v.u.list->at[it->i];
  it->i += step;
  return true;
}

Value tirc_script_collect(Script *sc, Value iterable, ValueKind kind) {
  Iter it = tirc_script_iter(sc, iterable);
  Value out = tirc_value_list(sc->c, kind, 0, NULL), item;
  while (tirc_script_next(sc, &it, &item)) tirc_value_append(sc->c, out, item);
  return out;
}

int64_t tirc_script_length(Script *sc, Value v) {
  switch (v.kind) {
  case VAL_STR:
    tirc_script_tick(sc, (int64_t)strlen(v.u.s) / 64);
    return tirc_script_str_length(v.u.s);
  case VAL_LIST:
  case VAL_TUPLE: return v.u.list->n;
  case VAL_DICT: return v.u.list->n / 2;
  default: break;
  }
  if (tirc_script_is(v, "range")) return range_length(v.u.object);
  const Node n = tirc_script_relax(v);
  if (n && n->info && n->info->kind == INFO_TUPLE) return n->info->n;
  tirc_script_error(sc, "TypeError", NULL, "%s has no length", tirc_script_a_type(sc, v));
}

/* --- dicts ------------------------------------------------------------------------------------ */

int tirc_script_dict_find(Script *sc, Value dict, Value key) {
  if (key.kind == VAL_LIST || key.kind == VAL_DICT)
    tirc_script_error(sc, "TypeError", "a tuple can be a key", "%s cannot be a key of a dict",
                      tirc_script_a_type(sc, key));
  const ValueList *list = dict.u.list;
  tirc_script_tick(sc, list->n / 16);
  for (int i = 0; i < list->n; i += 2)
    if (list->at[i].kind == VAL_STR && key.kind == VAL_STR
            ? !strcmp(list->at[i].u.s, key.u.s)
            : tirc_script_equal(sc, list->at[i], key))
      return i + 1;
  return -1;
}

void tirc_script_dict_set(Script *sc, Value dict, Value key, Value v) {
  int at = tirc_script_dict_find(sc, dict, key);
  if (at >= 0) {
    dict.u.list->at[at] = v;
    return;
  }
  tirc_value_append(sc->c, dict, key);
  tirc_value_append(sc->c, dict, v);
}

static int dict_at(Script *sc, Value dict, Value key) {
  int at = tirc_script_dict_find(sc, dict, key);
  if (at < 0)
    tirc_script_error(sc, "KeyError", "dict.get(key) returns None for a missing key",
                      "the dict has no key %s", tirc_script_repr(sc, key));
  return at;
}

/* --- items ------------------------------------------------------------------------------------ */

static int64_t checked_index(Script *sc, Value v, Value index) {
  int64_t i, n = tirc_script_length(sc, v);
  if (!tirc_script_int(index, &i))
    tirc_script_error(sc, "TypeError", NULL, "an index must be an int, not %s",
                      tirc_script_a_type(sc, index));
  if (i < -n || i >= n)
    tirc_script_error(sc, "IndexError", NULL, "index %lld is out of range: the %s has %lld item%s",
                      (long long)i, tirc_script_type_name(v), (long long)n, n == 1 ? "" : "s");
  return i < 0 ? i + n : i;
}

Value tirc_script_item(Script *sc, Value v, Value index) {
  if (v.kind == VAL_DICT) return v.u.list->at[dict_at(sc, v, index)];
  if (v.kind == VAL_LIST || v.kind == VAL_TUPLE) return v.u.list->at[checked_index(sc, v, index)];
  if (v.kind == VAL_STR) return tirc_script_str_item(sc, v.u.s, checked_index(sc, v, index), 1);
  if (tirc_script_is(v, "range")) return range_item(v.u.object, checked_index(sc, v, index));
  if (tirc_script_is(v, "IRModule") && index.kind == VAL_STR) {
    const Module *m = v.u.object;
    for (int i = 0; i < m->n_funcs; i++)
      if (!strcmp(m->funcs[i]->name, index.u.s)) return tirc_script_object("PrimFunc", m->funcs[i]);
    tirc_script_error(sc, "KeyError", NULL, "the module has no function '%s'", index.u.s);
  }
  Value out;
  if (tirc_script_relax_item(sc, v, index, &out)) return out;
  if (tirc_te_tensor(v)) return tirc_te_item(sc, tirc_te_tensor(v), index);
  tirc_script_error(sc, "TypeError", NULL, "%s cannot be indexed", tirc_script_a_type(sc, v));
}

void tirc_script_set_item(Script *sc, Value v, Value index, Value item) {
  if (v.kind == VAL_DICT)
    tirc_script_dict_set(sc, v, index, item);
  else if (v.kind == VAL_LIST)
    v.u.list->at[checked_index(sc, v, index)] = item;
  else
    tirc_script_error(sc, "TypeError",
                      v.kind == VAL_TUPLE ? "list(x) turns a tuple into a list" : NULL,
                      "you cannot assign to the items of %s", tirc_script_a_type(sc, v));
}

void tirc_script_delete_item(Script *sc, Value v, Value index) {
  if (v.kind != VAL_DICT && v.kind != VAL_LIST)
    tirc_script_error(sc, "TypeError", NULL, "you cannot delete the items of %s",
                      tirc_script_a_type(sc, v));
  ValueList *list = v.u.list;
  int width = v.kind == VAL_DICT ? 2 : 1;
  int at = v.kind == VAL_DICT ? dict_at(sc, v, index) - 1 : (int)checked_index(sc, v, index);
  tirc_script_tick(sc, (list->n - at) / 16);
  memmove(list->at + at, list->at + at + width, (size_t)(list->n - at - width) * sizeof(Value));
  list->n -= width;
}

bool tirc_script_contains(Script *sc, Value container, Value item) {
  if (container.kind == VAL_DICT) return tirc_script_dict_find(sc, container, item) >= 0;
  if (container.kind == VAL_STR) {
    if (item.kind != VAL_STR)
      tirc_script_error(sc, "TypeError", NULL, "a string contains strings, not %s",
                        tirc_script_a_type(sc, item));
    tirc_script_tick(sc, (int64_t)strlen(container.u.s) / 64);
    return strstr(container.u.s, item.u.s) != NULL;
  }
  Iter it = tirc_script_iter(sc, container);
  Value each;
  while (tirc_script_next(sc, &it, &each))
    if (tirc_script_equal(sc, each, item)) return true;
  return false;
}

/* --- slices ----------------------------------------------------------------------------------- */

static int64_t bound(Script *sc, const Value *v, int64_t n, int64_t low, int64_t high,
                     int64_t otherwise) {
  int64_t i;
  if (!v || v->kind == VAL_NONE) return otherwise;
  if (!tirc_script_int(*v, &i))
    tirc_script_error(sc, "TypeError", NULL, "the bound of a slice must be an int or None, not %s",
                      tirc_script_a_type(sc, *v));
  if (i < 0) i = i < -n ? low : i + n;
  return i < low ? low : i > high ? high : i;
}

Value tirc_script_slice(Script *sc, Value v, const Value *lo, const Value *hi, const Value *step) {
  int64_t n = tirc_script_length(sc, v), by = 1;
  if (v.kind == VAL_DICT) tirc_script_error(sc, "TypeError", NULL, "a dict cannot be sliced");
  if (step && step->kind != VAL_NONE && !tirc_script_int(*step, &by))
    tirc_script_error(sc, "TypeError", NULL, "the step of a slice must be an int, not %s",
                      tirc_script_a_type(sc, *step));
  if (by == 0) tirc_script_error(sc, "ValueError", NULL, "the step of a slice cannot be 0");
  int64_t low = by > 0 ? 0 : -1, high = by > 0 ? n : n - 1;
  int64_t from = bound(sc, lo, n, low, high, by > 0 ? 0 : n - 1);
  int64_t to = bound(sc, hi, n, low, high, by > 0 ? n : -1);
  int64_t count = range_length(&(RangeObject){from, to, by});
  tirc_script_tick(sc, count / 8 + 1);
  if (v.kind == VAL_STR && by == 1) return tirc_script_str_item(sc, v.u.s, from, count);
  if (v.kind == VAL_STR) {
    Text t = {.c = sc->c};
    tirc_text_add(&t, "");
    tirc_script_tick(sc, n); /* every character is looked for from the start */
    for (int64_t i = 0; i < count; i++)
      tirc_text_add(&t, tirc_script_str_item(sc, v.u.s, from + i * by, 1).u.s);
    return tirc_value_str(t.at);
  }
  Value out = tirc_value_list(sc->c, v.kind == VAL_TUPLE ? VAL_TUPLE : VAL_LIST, 0, NULL);
  for (int64_t i = 0; i < count; i++)
    tirc_value_append(sc->c, out, tirc_script_item(sc, v, tirc_value_int(from + i * by)));
  return out;
}

void tirc_script_reverse(Script *sc, ValueList *list) {
  tirc_script_tick(sc, list->n / 16);
  for (int i = 0, k = list->n - 1; i < k; i++, k--) {
    Value swap = list->at[i];
    list->at[i] = list->at[k];
    list->at[k] = swap;
  }
}

/* --- sorting ---------------------------------------------------------------------------------- */

typedef struct Keyed {
  Value key, item;
} Keyed;

/* A stable merge sort; with `reverse` equal items keep their order too. */
static void merge_sort(Script *sc, Keyed *at, Keyed *scratch, int n, bool reverse) {
  if (n < 2) return;
  int half = n / 2;
  merge_sort(sc, at, scratch, half, reverse);
  merge_sort(sc, at + half, scratch, n - half, reverse);
  memcpy(scratch, at, (size_t)n * sizeof *at);
  for (int i = 0, a = 0, b = half; i < n; i++) {
    bool second = a == half;
    if (!second && b < n) {
      tirc_script_tick(sc, 1);
      second = reverse ? tirc_script_less(sc, scratch[a].key, scratch[b].key)
                       : tirc_script_less(sc, scratch[b].key, scratch[a].key);
    }
    at[i] = scratch[second ? b++ : a++];
  }
}

void tirc_script_sort(Script *sc, ValueList *list, Value key, bool reverse) {
  int n = list->n;
  Keyed *at = tirc_new_array(sc->c, Keyed, 2 * (int64_t)n + 1);
  for (int i = 0; i < n; i++) {
    Value item = list->at[i];
    at[i] = (Keyed){key.kind == VAL_NONE ? item : tirc_script_call1(sc, key, item), item};
  }
  merge_sort(sc, at, at + n, n, reverse);
  for (int i = 0; i < n && i < list->n; i++) list->at[i] = at[i].item;
}
