/* The table of AMX's products, and what a call of one must look like. */
#include "amx.h"

#include "annotations.h"
#include "print.h"

static const struct Row {
  const char *name, *feature;
  DType a, b, c;
} rows[] = {
    {"tdpbssd", "amx-int8", DT(TYPE_INT, 8), DT(TYPE_INT, 8), DT_INT32},
    {"tdpbsud", "amx-int8", DT(TYPE_INT, 8), DT(TYPE_UINT, 8), DT_INT32},
    {"tdpbusd", "amx-int8", DT(TYPE_UINT, 8), DT(TYPE_INT, 8), DT_INT32},
    {"tdpbuud", "amx-int8", DT(TYPE_UINT, 8), DT(TYPE_UINT, 8), DT_INT32},
    {"tdpbf16ps", "amx-bf16", DT(TYPE_BFLOAT, 16), DT(TYPE_BFLOAT, 16), DT_FLOAT32},
    {"tdpfp16ps", "amx-fp16", DT(TYPE_FLOAT, 16), DT(TYPE_FLOAT, 16), DT_FLOAT32},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

enum { NAME, M, N, K, C, STRIDE_C, A, STRIDE_A, B, STRIDE_B, N_ARGS };
static const char form[] =
    "T.call_intrin(\"int32\", \"tdpbusd\", m, n, k, T.address_of(C[0, 0]), c, "
    "T.address_of(A[0, 0]), a, T.address_of(B[0, 0, 0]), b)";

bool tirc_is_amx(Stmt s) {
  return s->kind == STMT_ATTR && strcmp(s->u.attr.key, tirc_key(KEY_AMX)) == 0;
}

/* Its arguments, behind a type where that is one of them; NULL: it has not so many. */
static const Expr *args_of(Expr e) {
  const bool is_call = tirc_calls(e, CALL_INTRIN) && e->n >= N_ARGS && e->args[0]->op == OP_STRING;
  const int first = is_call && e->args[1]->op == OP_STRING ? 1 : 0;
  return is_call && e->n == first + N_ARGS ? e->args + first : NULL;
}

static const struct Row *row_of(Tirc *c, Expr e, Loc loc) {
  const Expr *args = args_of(e);
  Text known = {.c = c};
  for (int i = 0; i < N_ROWS; i++) {
    if (args && strcmp(rows[i].name, args[NAME]->u.s) == 0) return &rows[i];
    tirc_text_addf(&known, "%s%s", i ? ", " : "known are ", rows[i].name);
  }
  tirc_fail(c, loc, CODE_INTRINSIC, args ? known.at : form, "%s is not a product of AMX",
            tirc_print_expr(c, e));
}

static int size_of(Tirc *c, Expr e, int arg, int most, Loc loc) {
  static const char *const names[] = {
      [M] = "rows of C", [N] = "columns of C", [K] = "elements of a row of A"};
  int64_t n;
  if (tirc_const_int(args_of(e)[arg], &n) && n >= 1 && n <= most) return (int)n;
  tirc_fail(
      c, loc, CODE_INTRINSIC,
      tirc_format(c,
                  "a product has up to %d by %d tiles of AMX, each of up to %d rows of %d bytes; "
                  "split the loops",
                  AMX_SIDE, AMX_SIDE, AMX_ROWS, AMX_ROW_BYTES),
      "\"%s\" takes 1 to %d %s, not %s", args_of(e)[NAME]->u.s, most, names[arg],
      tirc_print_expr(c, args_of(e)[arg]));
}

static Expr first_of(Tirc *c, Expr e, int arg, DType t, Loc loc) {
  const Expr at = args_of(e)[arg];
  const bool is_place = tirc_calls(at, CALL_ADDRESS_OF) && at->n == 1 && at->args[0]->op == OP_LOAD;
  if (!is_place)
    tirc_fail(c, loc, CODE_INTRINSIC, form, "%s is not a T.address_of", tirc_print_expr(c, at));
  const DType is = tirc_dtype_lanes(at->args[0]->u.buffer->dtype, 1);
  if (tirc_dtype_equal(is, t)) return at->args[0];
  Text fit = {.c = c};
  for (int i = 0; i < N_ROWS; i++)
    if (tirc_dtype_equal(arg == A ? rows[i].a : arg == B ? rows[i].b : rows[i].c, is))
      tirc_text_addf(&fit, "%s%s", fit.n ? ", " : "those that take it there: ", rows[i].name);
  tirc_fail(c, loc, CODE_INTRINSIC, fit.n ? fit.at : NULL, "\"%s\" takes %s of %s, and %s is of %s",
            args_of(e)[NAME]->u.s,
            arg == A   ? "A"
            : arg == B ? "B"
                       : "C",
            tirc_dtype_name(c, t), at->args[0]->u.buffer->name, tirc_dtype_name(c, is));
}

Amx tirc_amx_of(Tirc *c, Stmt s) {
  const Expr e = s->u.attr.value;
  const struct Row *row = row_of(c, e, s->loc);
  Amx x = {.name = row->name, .feature = row->feature, .terms = 32 / row->a.bits};
  x.m = size_of(c, e, M, AMX_SIDE * AMX_ROWS, s->loc);
  x.n = size_of(c, e, N, AMX_SIDE * AMX_ROWS, s->loc);
  x.k = size_of(c, e, K, 1 << 16, s->loc);
  if (x.k % x.terms != 0)
    tirc_fail(c, s->loc, CODE_INTRINSIC, "fill A and B up with zeros",
              "\"%s\" takes %d elements of a row of A at a time, which do not divide %d", x.name,
              x.terms, x.k);
  x.c.first = first_of(c, e, C, row->c, s->loc), x.c.stride = args_of(e)[STRIDE_C], x.c.bytes = 4;
  x.a.first = first_of(c, e, A, row->a, s->loc), x.a.stride = args_of(e)[STRIDE_A],
  x.a.bytes = row->a.bits / 8;
  x.b.first = first_of(c, e, B, row->b, s->loc), x.b.stride = args_of(e)[STRIDE_B],
  x.b.bytes = row->b.bits / 8;
  return x;
}
