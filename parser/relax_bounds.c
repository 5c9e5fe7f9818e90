/* Bounds of symbolic extents, as attributes of a graph:
 *
 *   R.func_attr({"tir_var_upper_bound": {"n": 512}, "tir_var_lower_bound": {"n": 1}})
 *
 * A name is that of an extent in the signature. One that has a number by now (-D n=64) is compared,
 * and nothing is left to bound. */
#include "relax.h"

#include "ir/tree/annotations.h"

static _Noreturn void bad_bounds(GraphFrame *g, const Syn *at, const char *key) {
  READ_FAIL(g->r, at, CODE_TYPE, tirc_format(g->r->c, "{\"%s\": {\"n\": 512}}", key),
            "%s must be a dictionary from names of extents to numbers of at least 0", key);
}

static void check_value(GraphFrame *g, const Syn *at, const char *name, int64_t value,
                        ExtentBounds b) {
  if (value < b.lower)
    READ_FAIL(g->r, at, CODE_SHAPE, NULL, "%s is %lld, but it must be at least %lld", name,
              (long long)value, (long long)b.lower);
  if (value > b.upper)
    READ_FAIL(g->r, at, CODE_SHAPE, NULL, "%s is %lld, but it must be at most %lld", name,
              (long long)value, (long long)b.upper);
}

/* Whether something of the name is still to be bounded. */
static bool is_symbol(GraphFrame *g, const Syn *at, const char *name, ExtentBounds b) {
  const PyValue *v = tirc_names_find(g->r, name);
  int64_t value;
  if (v && v->kind == PY_EXPR && v->u.e->op == OP_VAR) return true;
  if (!v || (v->kind != PY_INT && v->kind != PY_EXPR) ||
      !tirc_const_int(tirc_py_to_expr(g->r, at, *v), &value))
    READ_FAIL(g->r, at, CODE_NAME, tirc_names_suggest(g->r, name),
              "no extent of a parameter is called '%s'", name);
  check_value(g, at, name, value, b);
  return false;
}

Attrs tirc_relax_bounds(GraphFrame *g, const Syn *at, Attrs attrs) {
  static const AnnotationKey keys[] = {KEY_LOWER_BOUND, KEY_UPPER_BOUND};
  Tirc *c = g->r->c;
  Attrs to = attrs;
  for (int k = 0; k < 2; k++) {
    const char *key = tirc_key(keys[k]);
    const Expr dict = tirc_attrs_get(attrs, key);
    int n = 0;
    if (!dict) continue;
    if (dict->op != OP_DICT) bad_bounds(g, at, key);
    Expr *left = tirc_new_array(c, Expr, dict->n);
    for (int i = 0; i < dict->n; i += 2) {
      int64_t value;
      if (!tirc_const_int(dict->args[i + 1], &value) || value < 0) bad_bounds(g, at, key);
      const char *name = dict->args[i]->u.s;
      const ExtentBounds b = tirc_extent_bounds(attrs, name);
      if (b.lower > b.upper)
        READ_FAIL(g->r, at, CODE_SHAPE, NULL,
                  "%s must be at least %lld and at most %lld, which is impossible", name,
                  (long long)b.lower, (long long)b.upper);
      if (!is_symbol(g, at, name, b)) continue;
      left[n++] = dict->args[i];
      left[n++] = dict->args[i + 1];
    }
    to = n ? tirc_attrs_set(c, to, key, tirc_expr(c, OP_DICT, DT_HANDLE, n, left))
           : tirc_attrs_remove(c, to, key);
  }
  return to;
}
