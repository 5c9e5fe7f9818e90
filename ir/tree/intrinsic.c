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
  default: return is(t, TYPE_INT, 32, 8) && is(a, TYPE_INT, 16, 16) && is(b, TYPE_INT, 16, 16);
  }
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
  IntrinsicCall k = {(IntrinsicId)id, row->name, row->c_form, row->shape, e->n - at, e->args + at};
  if (k.n != rows[id].arity)
    tirc_fail(c, loc, CODE_INTRINSIC, hint, "\"%s\" takes %d operands, not %d", name,
              rows[id].arity, k.n);
  if (!types_fit(&k, e->dtype)) {
    Text types = {.c = c};
    for (int i = 0; i < k.n; i++)
      tirc_text_addf(&types, "%s%s", i ? ", " : "", tirc_dtype_name(c, k.args[i]->dtype));
    tirc_fail(c, loc, CODE_INTRINSIC, "see the table of intrinsics", "\"%s\" gives no %s for (%s)",
              name, tirc_dtype_name(c, e->dtype), types.at);
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
