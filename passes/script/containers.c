/* The methods of lists, tuples and dicts. */
#include "interp.h"

static void work(Script *sc, Value v) { tirc_script_tick(sc, v.u.list->n / 16); }

/* --- lists ------------------------------------------------------------------------------------ */

static Value run_append(Script *sc, Value self, const Args *a) {
  return tirc_value_append(sc->c, self, a->at[0]), VALUE_NONE;
}

static Value run_extend(Script *sc, Value self, const Args *a) {
  Value more = tirc_script_collect(sc, a->at[0], VAL_LIST);
  for (int i = 0; i < more.u.list->n; i++) tirc_value_append(sc->c, self, more.u.list->at[i]);
  return VALUE_NONE;
}

static Value run_insert(Script *sc, Value self, const Args *a) {
  int64_t at;
  ValueList *list = self.u.list;
  if (!tirc_script_int(a->at[0], &at))
    tirc_script_error(sc, "TypeError", NULL, "insert() needs an index and an item");
  if (at < 0) at = at < -list->n ? 0 : at + list->n;
  if (at > list->n) at = list->n;
  work(sc, self);
  tirc_value_append(sc->c, self, a->at[1]);
  memmove(list->at + at + 1, list->at + at, (size_t)(list->n - 1 - at) * sizeof(Value));
  list->at[at] = a->at[1];
  return VALUE_NONE;
}

static Value run_pop(Script *sc, Value self, const Args *a) {
  Value index = a->n ? a->at[0] : tirc_value_int(-1);
  if (!self.u.list->n)
    tirc_script_error(sc, "IndexError", NULL, "pop() cannot take an item from an empty list");
  Value item = tirc_script_item(sc, self, index);
  tirc_script_delete_item(sc, self, index);
  return item;
}

static int position(Script *sc, Value self, Value item) {
  for (int i = 0; i < self.u.list->n; i++)
    if (tirc_script_equal(sc, self.u.list->at[i], item)) return i;
  tirc_script_error(sc, "ValueError", "check with `in` first", "%s is not in the %s",
                    tirc_script_repr(sc, item), tirc_script_type_name(self));
}

static Value run_index(Script *sc, Value self, const Args *a) {
  return tirc_value_int(position(sc, self, a->at[0]));
}

static Value run_remove(Script *sc, Value self, const Args *a) {
  tirc_script_delete_item(sc, self, tirc_value_int(position(sc, self, a->at[0])));
  return VALUE_NONE;
}

static Value run_count(Script *sc, Value self, const Args *a) {
  int64_t n = 0;
  for (int i = 0; i < self.u.list->n; i++) n += tirc_script_equal(sc, self.u.list->at[i], a->at[0]);
  return tirc_value_int(n);
}

static Value run_sort(Script *sc, Value self, const Args *a) {
  Value key = VALUE_NONE, reverse = tirc_value_bool(false);
  for (int i = 0; i < a->n_keywords; i++)
    *(strcmp(a->names[i], "key") ? &reverse : &key) = a->keywords[i];
  tirc_script_sort(sc, self.u.list, key, tirc_script_truth(sc, reverse));
  return VALUE_NONE;
}

static Value run_reverse(Script *sc, Value self, const Args *a) {
  return (void)a, tirc_script_reverse(sc, self.u.list), VALUE_NONE;
}

static Value run_copy(Script *sc, Value self, const Args *a) {
  (void)a, work(sc, self);
  return tirc_value_list(sc->c, self.kind, self.u.list->n, self.u.list->at);
}

static Value run_clear(Script *sc, Value self, const Args *a) {
  return (void)sc, (void)a, self.u.list->n = 0, VALUE_NONE;
}

/* --- dicts ------------------------------------------------------------------------------------ */

static Value run_get(Script *sc, Value self, const Args *a) {
  int at = tirc_script_dict_find(sc, self, a->at[0]);
  return at >= 0 ? self.u.list->at[at] : a->n > 1 ? a->at[1] : VALUE_NONE;
}

static Value run_setdefault(Script *sc, Value self, const Args *a) {
  Value v = a->n > 1 ? a->at[1] : VALUE_NONE;
  int at = tirc_script_dict_find(sc, self, a->at[0]);
  if (at >= 0) return self.u.list->at[at];
  tirc_script_dict_set(sc, self, a->at[0], v);
  return v;
}

static Value run_dict_pop(Script *sc, Value self, const Args *a) {
  int at = tirc_script_dict_find(sc, self, a->at[0]);
  if (at < 0 && a->n > 1) return a->at[1];
  Value v = tirc_script_item(sc, self, a->at[0]);
  tirc_script_delete_item(sc, self, a->at[0]);
  return v;
}

static Value run_update(Script *sc, Value self, const Args *a) {
  if (a->at[0].kind != VAL_DICT)
    tirc_script_error(sc, "TypeError", NULL, "update() takes a dict, not %s",
                      tirc_script_a_type(sc, a->at[0]));
  const ValueList *from = a->at[0].u.list;
  for (int i = 0; i + 1 < from->n; i += 2)
    tirc_script_dict_set(sc, self, from->at[i], from->at[i + 1]);
  return VALUE_NONE;
}

/* The keys (first 0) or the values (first 1). */
static Value column(Script *sc, Value self, int first) {
  Value out = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  work(sc, self);
  for (int i = first; i < self.u.list->n; i += 2) tirc_value_append(sc->c, out, self.u.list->at[i]);
  return out;
}

static Value run_keys(Script *sc, Value self, const Args *a) {
  return (void)a, column(sc, self, 0);
}
static Value run_values(Script *sc, Value self, const Args *a) {
  return (void)a, column(sc, self, 1);
}

static Value run_items(Script *sc, Value self, const Args *a) {
  (void)a, work(sc, self);
  Value out = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  for (int i = 0; i + 1 < self.u.list->n; i += 2)
    tirc_value_append(sc->c, out, tirc_value_list(sc->c, VAL_TUPLE, 2, self.u.list->at + i));
  return out;
}

const NativeRow tirc_script_container_methods[] = {
    {"list", "append", run_append, 1, 1, NULL},
    {"list", "extend", run_extend, 1, 1, NULL},
    {"list", "insert", run_insert, 2, 2, NULL},
    {"list", "pop", run_pop, 0, 1, NULL},
    {"list", "index", run_index, 1, 1, NULL},
    {"list", "remove", run_remove, 1, 1, NULL},
    {"list", "count", run_count, 1, 1, NULL},
    {"list", "sort", run_sort, 0, 0, "key reverse"},
    {"list", "reverse", run_reverse, 0, 0, NULL},
    {"list", "copy", run_copy, 0, 0, NULL},
    {"list", "clear", run_clear, 0, 0, NULL},
    {"tuple", "index", run_index, 1, 1, NULL},
    {"tuple", "count", run_count, 1, 1, NULL},
    {"dict", "get", run_get, 1, 2, NULL},
    {"dict", "setdefault", run_setdefault, 1, 2, NULL},
    {"dict", "pop", run_dict_pop, 1, 2, NULL},
    {"dict", "update", run_update, 1, 1, NULL},
    {"dict", "keys", run_keys, 0, 0, NULL},
    {"dict", "values", run_values, 0, 0, NULL},
    {"dict", "items", run_items, 0, 0, NULL},
    {"dict", "copy", run_copy, 0, 0, NULL},
    {"dict", "clear", run_clear, 0, 0, NULL},
    {0},
};
