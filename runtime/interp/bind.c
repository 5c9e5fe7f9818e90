/* From tensors to parameters: which variables the shapes of a function's buffers leave open, and
 * what given tensors say about them. An extent may be any expression of them; those in which one
 * unknown stands under sums and products with constants are solved, the others are checked. */
#include "interp.h"

#include "ir/arith/arith.h"
#include "ir/tree/graph.h"
#include "ir/tree/int_op.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"
#include "passes/lower/extents.h"

/* --- solving ---------------------------------------------------------------------------------- */

typedef struct Solver {
  Tirc *c;
  const Func *f;
  PtrMap values; /* variable -> int64_t * */
  const char *param;
  bool impossible; /* solve() saw that no integer is a solution */
} Solver;

static void know(Solver *s, Expr var, int64_t v) {
  int64_t *place = tirc_new(s->c, int64_t);
  *place = v;
  tirc_map_set(s->c, &s->values, var, place);
}

_Noreturn static void refuse(Solver *s, const char *hint, const char *what) {
  tirc_fail(s->c, s->f->loc, CODE_ARGUMENT, hint, "argument \"%s\" of %s: %s", s->param, s->f->name,
            what);
}

static bool fits(DType t, int64_t v) {
  if (t.code == TYPE_BOOL) return v == 0 || v == 1;
  if (t.code == TYPE_UINT) return v >= 0 && (t.bits >= 63 || v >> t.bits == 0);
  return t.bits >= 64 || (v >= -(INT64_C(1) << (t.bits - 1)) && v < INT64_C(1) << (t.bits - 1));
}

_Noreturn static void refuse_value(Solver *s, Expr var, int64_t v) {
  tirc_fail(s->c, s->f->loc, CODE_ARGUMENT, NULL,
            "%lld is not a value of type %s, which \"%s\" of %s has", (long long)v,
            tirc_dtype_name(s->c, var->dtype), var->u.s, s->f->name);
}

static void check_bounds(const Solver *s, Expr symbol, int64_t v) {
  const ExtentBounds b = tirc_extent_bounds(s->f->attrs, symbol->u.s);
  if (!b.is_said || (v >= b.lower && v <= b.upper)) return;
  tirc_fail(s->c, s->f->loc, CODE_ARGUMENT,
            v > b.upper ? "tir_var_upper_bound of T.func_attr sets this bound"
                        : "tir_var_lower_bound of T.func_attr sets this bound; the default is 0",
            "\"%s\" of %s is %lld, but it must be at %s %lld", symbol->u.s, s->f->name,
            (long long)v, v > b.upper ? "most" : "least",
            (long long)(v > b.upper ? b.upper : b.lower));
}

/* The known variables of e as constants; false when one is not known. */
static bool put_values(Solver *s, Expr e, PtrMap *to) {
  const int64_t *known = e->op == OP_VAR ? tirc_map_get(&s->values, e) : NULL;
  if (e->op == OP_VAR && !known) return false;
  if (known) tirc_map_set(s->c, to, e, tirc_int(s->c, e->dtype, *known));
  for (int i = 0; i < e->n; i++)
    if (!put_values(s, e->args[i], to)) return false;
  return true;
}

/* What is rare in shapes (T.if_then_else, T.truncdiv, ...). */
static bool simplify(Solver *s, Expr e, int64_t *out) {
  PtrMap values = {0};
  return put_values(s, e, &values) &&
         tirc_const_int(tirc_simplify0(s->c, tirc_substitute(s->c, e, &values)), out);
}

/* The value of e, when all in it is known. Of int32 and int64 it may be more than the type holds,
 * which is seen later (fits_all). */
static bool evaluate(Solver *s, Expr e, int64_t *out) {
  int64_t x = 0, y = 0;
  const int64_t *known;
  if (e->op == OP_INT) return *out = e->u.i, true;
  if (e->op == OP_VAR)
    return (known = tirc_map_get(&s->values, e)) != NULL ? (*out = *known, true) : false;
  if (e->n < 1 || e->n > 2 || !tirc_dtype_is_whole(e->dtype) ||
      !tirc_dtype_is_whole(e->args[0]->dtype))
    return simplify(s, e, out);
  if (!evaluate(s, e->args[0], &x)) return false;
  if (e->n == 2 && !evaluate(s, e->args[1], &y)) return false;
  if (e->op == OP_CAST) {
    *out =
        tirc_dtype_wraps(e->dtype) || e->dtype.code == TYPE_BOOL ? tirc_wrap_int(e->dtype, x) : x;
    return true;
  }
  const DType t = e->args[0]->dtype;
  const IntResult r =
      tirc_int_op((Op)e->op, t.code == TYPE_INT && t.bits == 32 ? DT_INT64 : t, x, y, out);
  return r == INT_IS_NO_OPERATION ? simplify(s, e, out) : tirc_int_has_value(r);
}

/* Learns the one unknown of e == v, when it stands under sums and products only. */
static bool solve(Solver *s, Expr e, int64_t v) {
  int64_t known;
  while (e->op == OP_CAST) e = e->args[0];
  if (e->op == OP_VAR) {
    if (!fits(e->dtype, v)) refuse_value(s, e, v);
    return know(s, e, v), true;
  }
  if (e->op != OP_ADD && e->op != OP_SUB && e->op != OP_MUL) return false;
  bool left = evaluate(s, e->args[0], &known);
  if (!left && !evaluate(s, e->args[1], &known)) return false;
  Expr unknown = e->args[left ? 1 : 0];
  if (e->op == OP_MUL && known != 0 && known != -1 && v % known != 0)
    return s->impossible = true, false;
  if (e->op == OP_MUL)
    return known != 0 && !(known == -1 && v == INT64_MIN) && v % known == 0 &&
           solve(s, unknown, v / known);
  if (e->op == OP_SUB && left) return !__builtin_sub_overflow(known, v, &v) && solve(s, unknown, v);
  bool overflow =
      e->op == OP_ADD ? __builtin_sub_overflow(v, known, &v) : __builtin_add_overflow(v, known, &v);
  return !overflow && solve(s, unknown, v);
}

/* --- one parameter ---------------------------------------------------------------------------- */

/* Adds the names of e's variables without a value, each once. */
static void name_unknown(Solver *s, Expr e, Text *to, PtrMap *seen) {
  for (int i = 0; i < e->n; i++) name_unknown(s, e->args[i], to, seen);
  if (e->op != OP_VAR || tirc_map_has(&s->values, e) || tirc_map_has(seen, e)) return;
  tirc_map_set(s->c, seen, e, e);
  tirc_text_addf(to, "%s\"%s\"", to->n ? ", " : "", e->u.s);
}

/* The names in b's shape, strides and offset that have no value, or "". */
static const char *unknown_of(Solver *s, Buffer b) {
  Text names = {.c = s->c};
  PtrMap seen = {0};
  for (int d = 0; d < b->ndim; d++) name_unknown(s, b->shape[d], &names, &seen);
  for (int d = 0; b->strides && d < b->ndim; d++) name_unknown(s, b->strides[d], &names, &seen);
  if (b->elem_offset) name_unknown(s, b->elem_offset, &names, &seen);
  return names.n ? names.at : "";
}

/* A tensor may also come flat: what lowering makes of a buffer, and buffers with strides. */
static bool is_flat(Buffer b, const Tensor *t) {
  return b->ndim != t->ndim || b->strides || b->elem_offset;
}

/* e should be v: true when that is now known to hold, false when too little is known. */
static bool equate(Solver *s, Expr e, int64_t v, const char *what, int d) {
  int64_t is;
  if (!evaluate(s, e, &is)) {
    bool solved = solve(s, e, v);
    if (s->impossible)
      refuse(s, "give arrays of the shapes that the function declares",
             tirc_format(s->c, "%s %d is %lld, but should be %s", what, d, (long long)v,
                         tirc_print_expr(s->c, e)));
    return solved;
  }
  if (is != v)
    refuse(s, "give arrays of the shapes that the function declares",
           tirc_format(s->c, "%s %d is %lld, but should be %s%lld", what, d, (long long)v,
                       e->op == OP_INT ? "" : tirc_format(s->c, "%s = ", tirc_print_expr(s->c, e)),
                       (long long)is));
  return true;
}

/* A tensor that came with strides of its own must have those of the buffer. */
static bool bind_strides(Solver *s, Buffer b, const Tensor *t) {
  bool done = true;
  int64_t compact = 1;
  for (int d = b->ndim - 1; d >= 0; d--) {
    if (t->shape[d] == 1 && !(b->strides && b->strides[d]->op == OP_VAR)) continue;
    if (b->strides)
      done = equate(s, b->strides[d], t->strides[d], "stride", d) && done;
    else if (t->strides[d] != compact && t->count)
      refuse(s, "copy it to a compact array, or declare strides in T.match_buffer",
             tirc_format(s->c, "stride %d is %lld, but a compact row-major array has %lld", d,
                         (long long)t->strides[d], (long long)compact));
    compact *= t->shape[d];
  }
  return done;
}

static void require_compact(Solver *s, const Tensor *t) {
  int64_t compact = 1;
  for (int d = t->ndim - 1; d >= 0 && t->count; d--) {
    if (t->shape[d] != 1 && t->strides[d] != compact)
      refuse(s, "copy it to a compact array",
             "an array must be compact if the function declares another number of dimensions");
    compact *= t->shape[d];
  }
}

static bool bind_dims(Solver *s, Buffer b, const Tensor *t) {
  bool done = true;
  if (b->ndim == t->ndim && !(b->ndim == 1 && is_flat(b, t)))
    for (int d = 0; d < b->ndim; d++)
      done = equate(s, b->shape[d], t->shape[d], "extent", d) && done;
  if (b->ndim == 1 && t->ndim != 1 && !b->strides)
    done = equate(s, b->shape[0], t->count, "the number of elements, extent", 0) && done;
  bool own = t->strides && b->ndim == t->ndim;
  if (own) done = bind_strides(s, b, t) && done;
  int64_t stride = 1, extent;
  for (int d = b->ndim - 1; b->strides && !own && d >= 0; d--) {
    if (b->strides[d]->op == OP_VAR) done = equate(s, b->strides[d], stride, "stride", d) && done;
    if (evaluate(s, b->shape[d], &extent) && __builtin_mul_overflow(stride, extent, &stride))
      return false;
  }
  if (b->elem_offset && b->elem_offset->op == OP_VAR && !tirc_map_has(&s->values, b->elem_offset))
    know(s, b->elem_offset, 0);
  return done;
}

/* How many elements the buffer reaches over, when all is known. */
static int64_t reach(Solver *s, Buffer b) {
  int64_t last = 0, stride = 1, extent, own, step;
  if (b->elem_offset && !evaluate(s, b->elem_offset, &last)) return -1;
  for (int d = b->ndim - 1; d >= 0; d--) {
    if (!evaluate(s, b->shape[d], &extent)) return -1;
    if (extent <= 0) return 0;
    own = stride;
    if (b->strides && !evaluate(s, b->strides[d], &own)) return -1;
    if (__builtin_mul_overflow(extent - 1, own, &step) ||
        __builtin_add_overflow(last, step, &last) ||
        __builtin_mul_overflow(stride, extent, &stride))
      return -1;
  }
  return last + 1;
}

static void check_buffer(Solver *s, Buffer b, const Tensor *t) {
  int64_t needed = reach(s, b);
  if (needed < 0) {
    const char *names = unknown_of(s, b);
    refuse(s, "pass the extent as a scalar parameter",
           tirc_format(s->c, "the extents of %s cannot be derived from the arrays' shapes%s%s",
                       tirc_print_buffer(s->c, b), *names ? ", which do not tell " : "", names));
  }
  if (needed > t->count || (!b->strides && !b->elem_offset && needed != t->count))
    refuse(s, "give arrays of the shapes that the function declares",
           tirc_format(s->c, "%s has %lld elements, but the array has %lld",
                       tirc_print_buffer(s->c, b), (long long)needed, (long long)t->count));
}

static void check_argument(Solver *s, Buffer b, const Argument *a) {
  if (!a->tensor) refuse(s, NULL, "an array is missing");
  if (a->tensor->dtype.code != b->dtype.code || a->tensor->dtype.bits != b->dtype.bits)
    refuse(s, "convert the array",
           tirc_format(s->c, "the array has dtype %s, but should have %s",
                       tirc_dtype_name(s->c, a->tensor->dtype), tirc_dtype_name(s->c, b->dtype)));
  if (b->dtype.lanes != 1)
    refuse(s, "declare it with one more extent, and access it by T.Ramp",
           tirc_format(s->c, "%s has vectors as elements, and an array has numbers",
                       tirc_print_buffer(s->c, b)));
  bool flat = a->tensor->ndim == 1 && (b->strides || b->elem_offset);
  if (b->ndim != a->tensor->ndim && b->ndim != 1 && !flat)
    refuse(s, "give arrays of the shapes that the function declares",
           tirc_format(s->c, "the array has %d dimensions, but should have %d", a->tensor->ndim,
                       b->ndim));
  if (a->tensor->strides && a->tensor->ndim != b->ndim) require_compact(s, a->tensor);
  /* 64 is what a program says that says nothing; code asks only for the alignment of elements. */
  if (b->align > 64 && (uintptr_t)a->tensor->data % (uintptr_t)b->align)
    refuse(s, "allocate it with that alignment",
           tirc_format(s->c, "its data is not aligned to the %d bytes that the function asks for",
                       b->align));
}

static const char *param_name(const Func *f, int i) {
  return f->buffers[i] ? f->buffers[i]->name : f->params[i]->u.s;
}

/* An extent may need what a later parameter tells, so go round until nothing is open. */
static void bind_tensors(Solver *s, int n_args, const Argument *args) {
  bool open = true;
  for (int round = 0; open && round <= n_args; round++) {
    open = false;
    for (int i = 0; i < n_args; i++) {
      s->param = param_name(s->f, i);
      if (s->f->buffers[i] && args[i].tensor && !bind_dims(s, s->f->buffers[i], args[i].tensor))
        open = true;
    }
  }
}

/* A uint64 that int64 does not hold is given as its bits, and is no extent. */
static void know_scalar(Solver *s, int i, int64_t v) {
  const DType t = s->f->params[i]->dtype;
  s->param = param_name(s->f, i);
  if (tirc_dtype_is_int(t) && t.bits < 64 && !fits(t, v))
    refuse(s, NULL,
           tirc_format(s->c, "%lld is not a value of type %s", (long long)v,
                       tirc_dtype_name(s->c, t)));
  if (t.code != TYPE_UINT || t.bits < 64 || v >= 0) know(s, s->f->params[i], v);
}

/* What the function asserts on entry of variables that have values by now. */
static void check_assertions(Solver *s) {
  PtrMap values = {0};
  Loc loc = s->f->loc;
  for (size_t i = 0; i < s->values.cap; i++) {
    const Expr var = s->values.keys[i];
    const int64_t *v = var ? tirc_map_get(&s->values, var) : NULL;
    if (v && fits(var->dtype, *v)) tirc_map_set(s->c, &values, var, tirc_int(s->c, var->dtype, *v));
  }
  const char *why = values.n ? tirc_failed_extent(s->c, s->f->body, &values, &loc) : NULL;
  if (why) tirc_fail(s->c, loc, CODE_ASSERT, NULL, "%s", why);
}

void tirc_bind_arguments(Tirc *c, const Func *f, int n_args, const Argument *args,
                         int64_t *values) {
  Solver s = {.c = c, .f = f};
  if (n_args != f->n_params)
    tirc_fail(c, f->loc, CODE_ARGUMENT, NULL, "%s takes %d arguments, not %d", f->name, f->n_params,
              n_args);
  for (int i = 0; i < n_args; i++)
    if (!f->buffers[i]) know_scalar(&s, i, args[i].i);
  for (int i = 0; i < n_args; i++) {
    s.param = param_name(f, i);
    if (f->buffers[i]) check_argument(&s, f->buffers[i], &args[i]);
  }
  bind_tensors(&s, n_args, args);
  check_assertions(&s);
  for (int i = 0; i < n_args; i++) {
    s.param = param_name(f, i);
    if (f->buffers[i]) check_buffer(&s, f->buffers[i], args[i].tensor);
  }
  Expr *symbols;
  int n = tirc_symbolic_params(c, f, &symbols);
  for (int i = 0; i < n; i++) {
    const int64_t *v = tirc_map_get(&s.values, symbols[i]);
    if (!v)
      tirc_fail(c, f->loc, CODE_ARGUMENT, "pass it as a scalar parameter",
                "the arrays' shapes do not determine \"%s\"", symbols[i]->u.s);
    values[i] = *v;
  }
  n = tirc_extent_params(c, f, &symbols);
  for (int i = 0; i < n; i++) {
    const int64_t *v = tirc_map_get(&s.values, symbols[i]);
    if (v) check_bounds(&s, symbols[i], *v);
  }
}

/* --- before there are arrays ------------------------------------------------------------------ */

/* Whether e and all that it is made of stay within their types. */
static bool fits_all(Solver *s, Expr e) {
  int64_t v;
  if (evaluate(s, e, &v) && !fits(e->dtype, v)) return false;
  for (int i = 0; i < e->n; i++)
    if (!fits_all(s, e->args[i])) return false;
  return true;
}

/* Extent d of b, of which every variable is known. */
static int64_t extent_of(Solver *s, Buffer b, int d) {
  Expr e = b->shape[d];
  int64_t v;
  const char *text = tirc_print_expr(s->c, e);
  if (!evaluate(s, e, &v))
    refuse(s, "use other extents",
           tirc_format(s->c,
                       "extent %d, %s, has no value: it overflows, divides by zero or uses "
                       "what shapes cannot",
                       d, text));
  if (!fits_all(s, e))
    refuse(s, "use smaller extents",
           tirc_format(s->c, "extent %d, %s, leaves the range of %s: it comes to %lld", d, text,
                       tirc_dtype_name(s->c, e->dtype), (long long)v));
  if (v < 0)
    refuse(s, "extents start at 0",
           tirc_format(s->c, "extent %d, %s, is %lld", d, text, (long long)v));
  return v;
}

static void shape_of(Solver *s, Buffer b, int64_t *shape) {
  Text names = {.c = s->c};
  PtrMap seen = {0};
  for (int d = 0; d < b->ndim; d++) name_unknown(s, b->shape[d], &names, &seen);
  if (names.n) {
    Text hint = {.c = s->c};
    tirc_text_add(&hint, "give an array whose shape tells it, or its value: tirc run");
    for (const char *at = names.at; at; at = strchr(at, ',')) {
      at = strchr(at, '"') + 1;
      tirc_text_addf(&hint, " --in %.*s=64", (int)strcspn(at, "\""), at);
    }
    refuse(s, hint.at, tirc_format(s->c, "its shape needs the value of %s", names.at));
  }
  for (int d = 0; d < b->ndim; d++) shape[d] = extent_of(s, b, d);
}

static Solver find_shape(Tirc *c, const Func *f, int n_args, const Argument *args, int n_symbols,
                         Symbol *symbols, int param, int64_t *shape) {
  Solver s = {.c = c, .f = f};
  Expr *vars;
  int n = tirc_symbolic_params(c, f, &vars);
  for (int i = 0; i < n_args; i++)
    if (!f->buffers[i]) know_scalar(&s, i, args[i].i);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n_symbols; k++) {
      if (!symbols[k].is_known || strcmp(symbols[k].name, vars[i]->u.s) != 0) continue;
      if (!fits(vars[i]->dtype, symbols[k].value)) refuse_value(&s, vars[i], symbols[k].value);
      know(&s, vars[i], symbols[k].value);
    }
  for (int i = 0; i < n_args; i++) {
    s.param = param_name(f, i);
    if (f->buffers[i] && args[i].tensor) check_argument(&s, f->buffers[i], &args[i]);
  }
  bind_tensors(&s, n_args, args);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n_symbols; k++) {
      const int64_t *v = tirc_map_get(&s.values, vars[i]);
      if (v && strcmp(symbols[k].name, vars[i]->u.s) == 0)
        symbols[k].value = *v, symbols[k].is_known = true;
    }
  check_assertions(&s);
  if (param < 0) return s;
  s.param = param_name(f, param);
  shape_of(&s, f->buffers[param], shape);
  return s;
}

void tirc_find_shape(Tirc *c, const Func *f, int n_args, const Argument *args, int n_symbols,
                     Symbol *symbols, int param, int64_t *shape) {
  (void)find_shape(c, f, n_args, args, n_symbols, symbols, param, shape);
}

static int64_t layout_value(Solver *s, Expr e, int64_t otherwise, const char *what) {
  int64_t v = otherwise;
  if (e && e->op == OP_VAR && !tirc_map_has(&s->values, e)) know(s, e, otherwise);
  if (e && (!evaluate(s, e, &v) || v < 0))
    refuse(s, "use strides and an offset that are known and not negative",
           tirc_format(s->c, "%s, %s, does not have a value that an array can have", what,
                       tirc_print_expr(s->c, e)));
  return v;
}

int64_t tirc_find_layout(Tirc *c, const Func *f, int n_args, const Argument *args, int n_symbols,
                         Symbol *symbols, int param, int64_t *shape, int64_t *strides,
                         int64_t *offset) {
  Solver s = find_shape(c, f, n_args, args, n_symbols, symbols, param, shape);
  const Buffer b = f->buffers[param];
  int64_t compact = 1;
  for (int d = b->ndim - 1; d >= 0; d--) {
    strides[d] = layout_value(&s, b->strides ? b->strides[d] : NULL, compact, "a stride");
    if (__builtin_mul_overflow(compact, shape[d], &compact)) compact = INT64_MAX;
  }
  *offset = layout_value(&s, b->elem_offset, 0, "elem_offset");
  const int64_t elements = reach(&s, b);
  if (elements < 0) refuse(&s, "use smaller extents", "its size overflows 64 bits");
  return elements;
}
