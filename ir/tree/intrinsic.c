/* The table of LLVM intrinsics, and what a call of one must look like. */
#include "intrinsic.h"

#include "print.h"
#include "vector_index.h"

static const struct Row {
  const char *name;
  IntrinsicShape shape;
  int arity;
  const char *c_form;
} rows[INTRINSIC_COUNT] = {
#define INTRINSIC(id, name, shape, arity, c_form) {name, SHAPE_##shape, arity, c_form},
#include "intrinsics.def"
#undef INTRINSIC
};

#define DOT_INT8 DT(TYPE_INT, 8)
#define DOT_UINT8 DT(TYPE_UINT, 8)
#define DOT_INT16 DT(TYPE_INT, 16)
#define DOT_BFLOAT16 DT(TYPE_BFLOAT, 16)
static const Dot dots[INTRINSIC_COUNT] = {
#define DOT(id, ...) [INTRINSIC_##id] = {__VA_ARGS__},
#include "dots.def"
#undef DOT
};

const Dot *tirc_find_dot_named(IntrinsicId id) { return dots[id].name ? &dots[id] : NULL; }

bool tirc_is_llvm_call(Expr e) {
  return tirc_calls(e, CALL_LLVM_PURE_INTRIN) || tirc_calls(e, CALL_LLVM_INTRIN);
}

/* ".v8f32" and the like */
static bool is_type_suffix(const char *s) {
  return !*s || (s[0] == '.' && (s[1] == 'v' || s[1] == 'f' || s[1] == 'i') && s[2] >= '0' &&
                 s[2] <= '9' && !strchr(s + 1, '.'));
}

static int find(const char *name) {
  for (int i = 0; i < INTRINSIC_COUNT; i++) {
    size_t n = strlen(rows[i].name);
    bool overloaded = rows[i].shape <= SHAPE_ISUM;
    if (!strncmp(name, rows[i].name, n) && (overloaded ? is_type_suffix(name + n) : !name[n]))
      return i;
  }
  return -1;
}

static bool is(DType t, TypeCode code, int bits, int lanes) {
  return t.code == code && t.bits == bits && t.lanes == lanes;
}

/* Elements, or their bits as the lanes of the result have them. */
static bool is_operand(const Dot *dot, DType element, DType t) {
  return tirc_dtype_equal(t, tirc_dtype_lanes(element, dot->lanes * dot->terms)) ||
         is(t, TYPE_INT, 32, dot->lanes);
}

static bool is_dot(const Dot *dot, const Expr *args, DType t) {
  DType sum = dot->sums == DOT_WRAPS ? DT_INT32 : DT_FLOAT32;
  if (dot->sums == DOT_WRAPS && t.code == TYPE_UINT) sum.code = TYPE_UINT;
  return tirc_dtype_equal(t, tirc_dtype_lanes(sum, dot->lanes)) &&
         tirc_dtype_equal(args[0]->dtype, t) && is_operand(dot, dot->a, args[1]->dtype) &&
         is_operand(dot, dot->b, args[2]->dtype);
}

static bool types_fit(const IntrinsicCall *k, DType t) {
  DType a = k->args[0]->dtype, b = k->args[k->n - 1]->dtype;
  switch (k->shape) {
  case SHAPE_EACH:
    for (int i = 0; i < k->n; i++)
      if (!tirc_dtype_equal(k->args[i]->dtype, t)) return false;
    return t.code == TYPE_FLOAT && t.bits >= 32;
  case SHAPE_FSUM:
    return tirc_dtype_equal(a, t) && t.lanes == 1 && t.code == TYPE_FLOAT && t.bits >= 32 &&
           tirc_dtype_equal(tirc_dtype_lanes(b, 1), t);
  case SHAPE_ISUM:
    return t.lanes == 1 && tirc_dtype_is_int(t) && tirc_dtype_equal(tirc_dtype_lanes(b, 1), t);
  case SHAPE_MADD_UB:
    return is(t, TYPE_INT, 16, 16) && is(a, TYPE_UINT, 8, 32) && is(b, TYPE_INT, 8, 32);
  case SHAPE_DOT: return is_dot(k->dot, k->args, t);
  default: return is(t, TYPE_INT, 32, 8) && is(a, TYPE_INT, 16, 16) && is(b, TYPE_INT, 16, 16);
  }
}

/* What the operands of a dot product are, and which instruction has those that were given. */
static const char *hint_of(Tirc *c, const IntrinsicCall *k) {
  const Dot *dot = k->dot;
  if (!dot) return "see the table of intrinsics";
  const int n = dot->lanes * dot->terms;
  Text t = {.c = c};
  tirc_text_addf(&t, "it takes (%s, %s, %s)",
                 tirc_dtype_name(c, tirc_dtype_lanes(dot->sums == DOT_WRAPS ? DT_INT32 : DT_FLOAT32,
                                                     dot->lanes)),
                 tirc_dtype_name(c, tirc_dtype_lanes(dot->a, n)),
                 tirc_dtype_name(c, tirc_dtype_lanes(dot->b, n)));
  const char *before = "; those are the operands of ";
  for (int i = 0; i < INTRINSIC_COUNT; i++) {
    const Dot *d = &dots[i];
    const int m = d->lanes * d->terms;
    if (!d->name || !tirc_dtype_equal(k->args[1]->dtype, tirc_dtype_lanes(d->a, m)) ||
        !tirc_dtype_equal(k->args[2]->dtype, tirc_dtype_lanes(d->b, m)))
      continue;
    tirc_text_addf(&t, "%s%s", before, d->name);
    before = ", ";
  }
  return t.at;
}

IntrinsicCall tirc_llvm_call(Tirc *c, Expr e, Loc loc) {
  const char *hint = "T.call_llvm_pure_intrin(dtype, name, operands...)";
  int at = e->n > 1 && e->args[0]->op == OP_STRING && e->args[1]->op == OP_STRING ? 1 : 0;
  if (e->n <= at || e->args[at]->op != OP_STRING)
    tirc_fail(c, loc, CODE_INTRINSIC, hint, "%s does not name an LLVM intrinsic",
              tirc_print_expr(c, e));
  const char *name = e->args[at++]->u.s;
  int id = find(name);
  if (id < 0) {
    Text known = {.c = c};
    for (int i = 0; i < INTRINSIC_COUNT; i++)
      tirc_text_addf(&known, "%s%s", i ? ", " : "known are ", rows[i].name);
    tirc_fail(c, loc, CODE_INTRINSIC, known.at, "the LLVM intrinsic \"%s\" cannot be called", name);
  }
  /* Older programs say how many operands follow. */
  bool counted = at < e->n && e->args[at]->op == OP_INT && e->args[at]->dtype.code == TYPE_UINT &&
                 e->args[at]->u.i == e->n - at - 1;
  if (counted) at++;
  const struct Row *row = &rows[id];
  IntrinsicCall k = {(IntrinsicId)id,
                     row->name,
                     row->c_form,
                     row->shape,
                     e->n - at,
                     e->args + at,
                     tirc_find_dot_named((IntrinsicId)id)};
  if (k.n != rows[id].arity)
    tirc_fail(c, loc, CODE_INTRINSIC, hint, "\"%s\" takes %d operands, not %d", name,
              rows[id].arity, k.n);
  if (!types_fit(&k, e->dtype)) {
    Text types = {.c = c};
    for (int i = 0; i < k.n; i++)
      tirc_text_addf(&types, "%s%s", i ? ", " : "", tirc_dtype_name(c, k.args[i]->dtype));
    tirc_fail(c, loc, CODE_INTRINSIC, hint_of(c, &k), "\"%s\" gives no %s for (%s)", name,
              tirc_dtype_name(c, e->dtype), types.at);
  }
  return k;
}

Expr tirc_llvm_sum_of_lanes(Tirc *c, Expr e, Loc loc) {
  if (!tirc_is_llvm_call(e)) return NULL;
  const IntrinsicCall k = tirc_llvm_call(c, e, loc);
  if (k.shape != SHAPE_ISUM) return NULL;
  Expr sum = NULL;
  for (int i = 0; i < k.args[0]->dtype.lanes; i++) {
    Expr lane = tirc_one_lane(c, k.args[0], i);
    if (!lane) return NULL;
    sum = sum ? tirc_add(c, sum, lane) : lane;
  }
  return sum;
}

Expr tirc_dot_elements(Tirc *c, const IntrinsicCall *k, int operand) {
  Expr e = k->args[operand];
  DType t = operand == 1 ? k->dot->a : k->dot->b;
  t = tirc_dtype_lanes(t, k->dot->lanes * k->dot->terms);
  if (t.code == TYPE_BFLOAT) t.code = TYPE_UINT;
  while (e->op == OP_REINTERPRET && !tirc_dtype_equal(e->dtype, t)) e = e->args[0];
  return tirc_dtype_equal(e->dtype, t) ? e : tirc_expr(c, OP_REINTERPRET, t, 1, &e);
}
