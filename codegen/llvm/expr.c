/* Expressions. One function an operator, in the order of ir/tree/ops.def; a row missing here does
 * not compile.
 *
 * Products and sums of floats carry `contract`, so that a multiplication and an addition fuse;
 * nothing is reassociated. Index arithmetic in 32 and 64 signed bits is known not to overflow
 * (nsw); all other arithmetic wraps. Of bools, + is or (ir/tree/int_op.h). Divisions of integers
 * never trap: x // 0 and x % 0 are 0. */
#include "gen.h"
#include "ir/tree/atomic.h"
#include "ir/tree/find.h"
#include "ir/tree/int_op.h"

typedef LLVMValueRef (*Emit)(Gen *g, Expr e);

/* Whether sums and products in this type are taken not to overflow where they are indices. */
static bool is_index(DType t) { return t.code == TYPE_INT && !tirc_dtype_wraps(t); }

/* Sums and products of indices are those of their widened operands: a narrow sum forgets that it
 * does not overflow where LLVM rearranges it, and each address would be computed and widened anew.
 * Those of int8 and int16 are data that happens to be an index: they wrap. */
LLVMValueRef tirc_gen_index_expr(Gen *g, Expr e) {
  const Op op = e->op;
  if ((op == OP_ADD || op == OP_SUB || op == OP_MUL) && is_index(e->dtype) && e->dtype.lanes == 1) {
    LLVMValueRef x = tirc_gen_index_expr(g, e->args[0]), y = tirc_gen_index_expr(g, e->args[1]);
    if (op == OP_ADD) return LLVMBuildNSWAdd(g->b, x, y, "");
    return op == OP_SUB ? LLVMBuildNSWSub(g->b, x, y, "") : LLVMBuildNSWMul(g->b, x, y, "");
  }
  bool outer = g->index;
  g->index = true;
  LLVMValueRef v = tirc_gen_index(g, tirc_gen_expr(g, e), e->dtype);
  g->index = outer;
  return v;
}

_Noreturn static void unsupported(Gen *g, Expr e) {
  tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "T.%s has no translation to machine code",
            tirc_called(e));
}

/* --- leaves --------------------------------------------------------------------------------- */

static LLVMValueRef emit_VAR(Gen *g, Expr e) {
  LLVMValueRef v = tirc_map_get(&g->f.vars, e);
  if (!v)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "the variable %s is used where it is not defined",
              e->u.s);
  return v;
}

static LLVMValueRef emit_INT(Gen *g, Expr e) {
  if (e->dtype.code == TYPE_HANDLE) return LLVMConstNull(tirc_gen_type(g, e->dtype));
  return tirc_gen_int(g, tirc_gen_type(g, e->dtype), e->u.i);
}

static LLVMValueRef emit_LARGE_UINT(Gen *g, Expr e) { return emit_INT(g, e); }

static LLVMValueRef emit_FLOAT(Gen *g, Expr e) {
  bool is_small = tirc_gen_is_small_float(e->dtype);
  LLVMTypeRef t = tirc_gen_float_type(g, is_small ? 64 : e->dtype.bits, 1);
  LLVMValueRef v = LLVMConstReal(t, e->u.f);
  if (is_small) v = tirc_gen_cast(g, v, DT_FLOAT64, tirc_dtype_lanes(e->dtype, 1));
  return tirc_gen_splat(g, v, e->dtype.lanes);
}

/* --- binary operators ----------------------------------------------------------------------- */

/* Operands of one type: bits of small floats widened. */
typedef struct Pair {
  DType t; /* the operands' own type */
  LLVMValueRef a, b;
  bool is_float;
} Pair;

static Pair operands(Gen *g, Expr e) {
  DType t = e->args[0]->dtype, u = e->args[1]->dtype;
  if (u.lanes > t.lanes) t.lanes = u.lanes;
  u.lanes = t.lanes;
  if (!tirc_dtype_equal(t, u))
    tirc_fail(g->c, g->loc, CODE_CODEGEN, "cast one of them",
              "the operands of %s have the different types %s and %s", tirc_ops[e->op].name,
              tirc_dtype_name(g->c, t), tirc_dtype_name(g->c, u));
  Pair p = {t, tirc_gen_expr(g, e->args[0]), tirc_gen_expr(g, e->args[1]), tirc_dtype_is_float(t)};
  p.a = tirc_gen_cast(g, p.a, e->args[0]->dtype, t);
  p.b = tirc_gen_cast(g, p.b, e->args[1]->dtype, t);
  if (tirc_gen_is_small_float(t)) {
    p.a = tirc_gen_widen(g, p.a, t);
    p.b = tirc_gen_widen(g, p.b, t);
  }
  return p;
}

static LLVMValueRef float_result(Gen *g, LLVMValueRef v, DType t) {
  if (tirc_gen_is_small_float(t)) return tirc_gen_narrow(g, v, t); /* rounded each time */
  if (!LLVMIsConstant(v) && LLVMCanValueUseFastMathFlags(v))
    LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
  return v;
}

static LLVMValueRef emit_arith(Gen *g, Expr e) {
  static const struct {
    LLVMOpcode on_float, on_int;
  } opcodes[OP_COUNT] = {
      [OP_ADD] = {LLVMFAdd, LLVMAdd},  [OP_SUB] = {LLVMFSub, LLVMSub},
      [OP_MUL] = {LLVMFMul, LLVMMul},  [OP_DIV] = {LLVMFDiv, 0},
      [OP_BITWISE_AND] = {0, LLVMAnd}, [OP_BITWISE_OR] = {0, LLVMOr},
      [OP_BITWISE_XOR] = {0, LLVMXor},
  };
  Pair p = operands(g, e);
  LLVMOpcode opcode = p.is_float ? opcodes[e->op].on_float : opcodes[e->op].on_int;
  if (opcode == 0 || p.t.code == TYPE_HANDLE) unsupported(g, e);
  if (p.t.code == TYPE_BOOL && opcode == LLVMAdd) opcode = LLVMOr;
  LLVMValueRef v = LLVMBuildBinOp(g->b, opcode, p.a, p.b, "");
  if (p.is_float) return float_result(g, v, p.t);
  bool can_overflow = opcode == LLVMAdd || opcode == LLVMSub || opcode == LLVMMul;
  if (g->index && can_overflow && is_index(p.t) && LLVMIsAInstruction(v)) LLVMSetNSW(v, true);
  return v;
}

static LLVMValueRef compare(Gen *g, Op op, const Pair *p) {
  static const struct {
    LLVMRealPredicate real;
    LLVMIntPredicate with_sign, without;
  } predicates[OP_COUNT] = {
      [OP_EQ] = {LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ},
      [OP_NE] = {LLVMRealUNE, LLVMIntNE, LLVMIntNE},
      [OP_LT] = {LLVMRealOLT, LLVMIntSLT, LLVMIntULT},
      [OP_LE] = {LLVMRealOLE, LLVMIntSLE, LLVMIntULE},
      [OP_GT] = {LLVMRealOGT, LLVMIntSGT, LLVMIntUGT},
      [OP_GE] = {LLVMRealOGE, LLVMIntSGE, LLVMIntUGE},
  };
  if (p->is_float) return LLVMBuildFCmp(g->b, predicates[op].real, p->a, p->b, "");
  bool with_sign = p->t.code == TYPE_INT;
  LLVMIntPredicate i = with_sign ? predicates[op].with_sign : predicates[op].without;
  return LLVMBuildICmp(g->b, i, p->a, p->b, "");
}

static LLVMValueRef emit_compare(Gen *g, Expr e) {
  Pair p = operands(g, e);
  return compare(g, (Op)e->op, &p);
}

/* a < b ? a : b, which is what the processor's instruction does with NaN too. */
static LLVMValueRef emit_minmax(Gen *g, Expr e) {
  Pair p = operands(g, e);
  LLVMValueRef c = compare(g, e->op == OP_MIN ? OP_LT : OP_GT, &p);
  LLVMValueRef v = LLVMBuildSelect(g->b, c, p.a, p.b, "");
  return tirc_gen_is_small_float(p.t) ? tirc_gen_narrow(g, v, p.t) : v;
}

/* --- integer division ----------------------------------------------------------------------- */

typedef struct Division {
  LLVMValueRef quotient, remainder;
} Division;

/* Towards zero. A divisor of 0 or -1 would trap, so it is 1 for the machine, and the results are
 * put right afterwards. */
static Division divide(Gen *g, const Pair *p, int64_t constant) {
  LLVMTypeRef t = LLVMTypeOf(p->a);
  LLVMBuilderRef b = g->b;
  if (p->t.code != TYPE_INT) {
    LLVMValueRef zero = LLVMBuildICmp(b, LLVMIntEQ, p->b, LLVMConstNull(t), "");
    LLVMValueRef d =
        constant > 0 ? p->b : LLVMBuildSelect(b, zero, tirc_gen_int(g, t, 1), p->b, "");
    Division r = {LLVMBuildUDiv(b, p->a, d, ""), LLVMBuildURem(b, p->a, d, "")};
    if (constant > 0) return r;
    r.quotient = LLVMBuildSelect(b, zero, LLVMConstNull(t), r.quotient, "");
    return r; /* the remainder by 1 is 0 */
  }
  if (constant != 0 && constant != -1)
    return (Division){LLVMBuildSDiv(b, p->a, p->b, ""), LLVMBuildSRem(b, p->a, p->b, "")};
  LLVMValueRef zero = LLVMBuildICmp(b, LLVMIntEQ, p->b, LLVMConstNull(t), "");
  LLVMValueRef minus = LLVMBuildICmp(b, LLVMIntEQ, p->b, tirc_gen_int(g, t, -1), "");
  LLVMValueRef unsafe = LLVMBuildOr(b, zero, minus, "");
  LLVMValueRef d = LLVMBuildSelect(b, unsafe, tirc_gen_int(g, t, 1), p->b, "");
  LLVMValueRef q = LLVMBuildSDiv(b, p->a, d, "");
  q = LLVMBuildSelect(b, minus, LLVMBuildNeg(b, p->a, ""), q, "");
  q = LLVMBuildSelect(b, zero, LLVMConstNull(t), q, "");
  return (Division){q, LLVMBuildSRem(b, p->a, d, "")};
}

/* The divisor when it is a constant, 0 otherwise. */
static int64_t constant_divisor(Expr e) {
  int64_t v = 0;
  Expr d = e->args[1];
  if (d->op == OP_BROADCAST) d = d->args[0];
  return tirc_const_int(d, &v) ? v : 0;
}

static bool is_power_of_two(int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

static LLVMValueRef float_mod(Gen *g, const Pair *p) {
  LLVMTypeRef t = LLVMTypeOf(p->a);
  LLVMValueRef q = LLVMBuildFDiv(g->b, p->a, p->b, "");
  q = tirc_gen_intrinsic(g, "llvm.floor", t, 1, &q);
  return LLVMBuildFSub(g->b, p->a, LLVMBuildFMul(g->b, q, p->b, ""), "");
}

static LLVMValueRef emit_truncdiv(Gen *g, Expr e) {
  Pair p = operands(g, e);
  if (p.is_float) unsupported(g, e);
  Division d = divide(g, &p, constant_divisor(e));
  return e->op == OP_TRUNCDIV ? d.quotient : d.remainder;
}

static LLVMValueRef emit_floordiv(Gen *g, Expr e) {
  bool is_div = e->op == OP_FLOORDIV;
  Pair p = operands(g, e);
  if (p.is_float) {
    LLVMValueRef v = is_div ? LLVMBuildFDiv(g->b, p.a, p.b, "") : float_mod(g, &p);
    if (is_div) v = tirc_gen_intrinsic(g, "llvm.floor", LLVMTypeOf(v), 1, &v);
    return tirc_gen_is_small_float(p.t) ? tirc_gen_narrow(g, v, p.t) : v;
  }
  int64_t k = constant_divisor(e);
  LLVMTypeRef t = LLVMTypeOf(p.a);
  if (p.t.code == TYPE_INT && is_power_of_two(k)) {
    if (!is_div) return LLVMBuildAnd(g->b, p.a, tirc_gen_int(g, t, k - 1), "");
    return LLVMBuildAShr(g->b, p.a, tirc_gen_int(g, t, __builtin_ctzll((uint64_t)k)), "");
  }
  Division d = divide(g, &p, k);
  if (p.t.code != TYPE_INT) return is_div ? d.quotient : d.remainder;
  /* One less, where there is a remainder and its sign is not the divisor's. */
  LLVMValueRef zero = LLVMConstNull(t);
  LLVMValueRef inexact = LLVMBuildICmp(g->b, LLVMIntNE, d.remainder, zero, "");
  LLVMValueRef signs = LLVMBuildXor(g->b, d.remainder, p.b, "");
  LLVMValueRef differ = LLVMBuildICmp(g->b, LLVMIntSLT, signs, zero, "");
  LLVMValueRef fix = LLVMBuildAnd(g->b, inexact, differ, "");
  if (is_div) return LLVMBuildAdd(g->b, d.quotient, LLVMBuildSExt(g->b, fix, t, ""), "");
  LLVMValueRef shifted = LLVMBuildAdd(g->b, d.remainder, p.b, "");
  return LLVMBuildSelect(g->b, fix, shifted, d.remainder, "");
}

/* --- logic and choice ----------------------------------------------------------------------- */

static bool needs_guard(Expr e) {
  if (e->op == OP_LOAD || e->op == OP_CALL || e->op == OP_IF_THEN_ELSE) return true;
  for (int i = 0; i < e->n; i++)
    if (needs_guard(e->args[i])) return true;
  return false;
}

/* cond ? x : y where just one side is computed; NULL stands for the constant `other`. */
static LLVMValueRef branch(Gen *g, LLVMValueRef cond, Expr x, Expr y, LLVMValueRef other) {
  Expr sides[2] = {x, y};
  LLVMBasicBlockRef blocks[2] = {tirc_gen_block(g, "then"), tirc_gen_block(g, "else")};
  LLVMBasicBlockRef done = tirc_gen_block(g, "endif");
  LLVMValueRef values[2];
  LLVMBuildCondBr(g->b, cond, blocks[0], blocks[1]);
  for (int i = 0; i < 2; i++) {
    LLVMPositionBuilderAtEnd(g->b, blocks[i]);
    values[i] = sides[i] ? tirc_gen_expr(g, sides[i]) : other;
    blocks[i] = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, done);
  }
  LLVMPositionBuilderAtEnd(g->b, done);
  LLVMTypeRef t = LLVMTypeOf(values[x ? 0 : 1]);
  if (LLVMGetTypeKind(t) == LLVMVoidTypeKind) return values[0];
  LLVMValueRef phi = LLVMBuildPhi(g->b, t, "");
  LLVMAddIncoming(phi, values, blocks, 2);
  return phi;
}

/* The right side is guarded by the left one when it reads memory: `i < n and A[i] > 0`. */
static LLVMValueRef emit_logic(Gen *g, Expr e) {
  bool is_and = e->op == OP_AND;
  Expr x = e->args[0], y = e->args[1];
  if (e->dtype.lanes == 1 && needs_guard(y)) {
    LLVMValueRef known = LLVMConstInt(tirc_gen_int_type(g, 1, 1), !is_and, false);
    LLVMValueRef cond = tirc_gen_cast(g, tirc_gen_expr(g, x), x->dtype, DT_BOOL);
    return is_and ? branch(g, cond, y, NULL, known) : branch(g, cond, NULL, y, known);
  }
  LLVMValueRef a = tirc_gen_cast(g, tirc_gen_expr(g, x), x->dtype, e->dtype);
  LLVMValueRef b = tirc_gen_cast(g, tirc_gen_expr(g, y), y->dtype, e->dtype);
  return is_and ? LLVMBuildAnd(g->b, a, b, "") : LLVMBuildOr(g->b, a, b, "");
}

static LLVMValueRef emit_NOT(Gen *g, Expr e) {
  Expr x = e->args[0];
  return LLVMBuildNot(g->b, tirc_gen_cast(g, tirc_gen_expr(g, x), x->dtype, e->dtype), "");
}

static LLVMValueRef emit_BITWISE_NOT(Gen *g, Expr e) {
  return LLVMBuildNot(g->b, tirc_gen_expr(g, e->args[0]), "");
}

static LLVMValueRef side(Gen *g, Expr x, DType t) {
  return tirc_gen_cast(g, tirc_gen_expr(g, x), x->dtype, t);
}

/* Of T.Select(T.isnan(x), x, y) on vectors: all bits of NaN beside those of y are NaN, and no
 * choice of lanes, which LLVM would merge with the comparison of a maximum. */
static bool keeps_nan_by_bits(Expr e) {
  return tirc_keeps_nan(e) && e->dtype.lanes > 1 && e->dtype.code == TYPE_FLOAT &&
         e->dtype.bits >= 32 && tirc_dtype_equal(e->args[1]->dtype, e->dtype) &&
         tirc_dtype_equal(e->args[2]->dtype, e->dtype);
}

static LLVMValueRef emit_kept_nan(Gen *g, Expr e) {
  const DType bits = {.code = TYPE_INT, .bits = e->dtype.bits, .lanes = e->dtype.lanes};
  LLVMTypeRef t = tirc_gen_type(g, bits);
  LLVMValueRef x = tirc_gen_expr(g, e->args[1]), y = tirc_gen_expr(g, e->args[2]);
  LLVMValueRef is_nan = LLVMBuildFCmp(g->b, LLVMRealUNO, x, x, "");
  LLVMValueRef all =
      LLVMBuildOr(g->b, LLVMBuildBitCast(g->b, y, t, ""), LLVMBuildSExt(g->b, is_nan, t, ""), "");
  return LLVMBuildBitCast(g->b, all, tirc_gen_type(g, e->dtype), "");
}

static LLVMValueRef emit_SELECT(Gen *g, Expr e) {
  if (keeps_nan_by_bits(e)) return emit_kept_nan(g, e);
  Expr c = e->args[0];
  LLVMValueRef cond =
      tirc_gen_cast(g, tirc_gen_expr(g, c), c->dtype, tirc_dtype_lanes(DT_BOOL, c->dtype.lanes));
  LLVMValueRef x = side(g, e->args[1], e->dtype), y = side(g, e->args[2], e->dtype);
  return LLVMBuildSelect(g->b, cond, x, y, "");
}

static LLVMValueRef emit_IF_THEN_ELSE(Gen *g, Expr e) {
  Expr c = e->args[0], x = e->args[1], y = e->args[2];
  if (e->dtype.code != TYPE_VOID && !needs_guard(x) && !needs_guard(y)) return emit_SELECT(g, e);
  if (c->dtype.lanes > 1 && (x->op != OP_LOAD || needs_guard(y)))
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL,
              "T.if_then_else has a vector as its condition, and one of its sides reads memory");
  if (c->dtype.lanes > 1)
    return tirc_gen_masked_load(g, tirc_gen_expr(g, c), x, side(g, y, e->dtype));
  LLVMValueRef cond = tirc_gen_cast(g, tirc_gen_expr(g, c), c->dtype, DT_BOOL);
  return branch(g, cond, tirc_cast(g->c, e->dtype, x), tirc_cast(g->c, e->dtype, y), NULL);
}

static LLVMValueRef emit_LET(Gen *g, Expr e) {
  tirc_map_set(g->c, &g->f.vars, e->args[0], tirc_gen_expr(g, e->args[1]));
  LLVMValueRef v = tirc_gen_expr(g, e->args[2]);
  tirc_map_remove(&g->f.vars, e->args[0]);
  return v;
}

/* --- shifts, casts, vectors ----------------------------------------------------------------- */

static LLVMValueRef emit_shift(Gen *g, Expr e) {
  Pair p = operands(g, e);
  if (p.is_float) unsupported(g, e);
  LLVMTypeRef t = LLVMTypeOf(p.a);
  LLVMValueRef by = LLVMBuildAnd(g->b, p.b, tirc_gen_int(g, t, p.t.bits - 1), "");
  if (e->op == OP_SHIFT_LEFT) return LLVMBuildShl(g->b, p.a, by, "");
  return p.t.code == TYPE_INT ? LLVMBuildAShr(g->b, p.a, by, "") : LLVMBuildLShr(g->b, p.a, by, "");
}

static LLVMValueRef emit_CAST(Gen *g, Expr e) {
  return tirc_gen_cast(g, tirc_gen_expr(g, e->args[0]), e->args[0]->dtype, e->dtype);
}

static LLVMValueRef emit_REINTERPRET(Gen *g, Expr e) {
  DType from = e->args[0]->dtype;
  LLVMValueRef v = tirc_gen_expr(g, e->args[0]);
  if (from.bits * from.lanes != e->dtype.bits * e->dtype.lanes)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL,
              "a %s is reinterpreted as a %s, which has another size", tirc_dtype_name(g->c, from),
              tirc_dtype_name(g->c, e->dtype));
  if (from.code == TYPE_HANDLE || e->dtype.code == TYPE_HANDLE)
    return tirc_gen_cast(g, v, from, e->dtype);
  return LLVMBuildBitCast(g->b, v, tirc_gen_type(g, e->dtype), "");
}

static LLVMValueRef emit_LIKELY(Gen *g, Expr e) { return tirc_gen_expr(g, e->args[0]); }

static LLVMValueRef emit_RAMP(Gen *g, Expr e) {
  DType scalar = tirc_dtype_lanes(e->dtype, 1);
  LLVMTypeRef t = tirc_gen_type(g, scalar);
  int n = e->dtype.lanes;
  LLVMValueRef *steps = tirc_new_array(g->c, LLVMValueRef, n);
  for (int i = 0; i < n; i++) steps[i] = tirc_gen_int(g, t, i);
  LLVMValueRef lanes = LLVMConstVector(steps, (unsigned)n);
  LLVMValueRef base = tirc_gen_splat(g, side(g, e->args[0], scalar), n);
  LLVMValueRef stride = tirc_gen_splat(g, side(g, e->args[1], scalar), n);
  return LLVMBuildAdd(g->b, base, LLVMBuildMul(g->b, stride, lanes, ""), "");
}

static LLVMValueRef emit_BROADCAST(Gen *g, Expr e) {
  LLVMValueRef v = tirc_gen_expr(g, e->args[0]);
  if (e->args[0]->dtype.lanes == 1) return tirc_gen_splat(g, v, e->dtype.lanes);
  unsupported(g, e);
}

/* --- calls ---------------------------------------------------------------------------------- */

/* T.prefetch(T.address_of(A[i, j]) or A[i, j], rw=0, locality=3, cache_type=1) */
static LLVMValueRef emit_prefetch(Gen *g, Expr e) {
  static const int64_t defaults[4] = {0, 0, 3, 1};
  static const int64_t largest[4] = {0, 1, 3, 1};
  LLVMTypeRef i32 = tirc_gen_int_type(g, 32, 1);
  if (e->n < 1 || e->n > 4) unsupported(g, e);
  LLVMValueRef args[4];
  args[0] =
      e->args[0]->op == OP_LOAD ? tirc_gen_address(g, e->args[0]) : tirc_gen_expr(g, e->args[0]);
  for (int i = 1; i < 4; i++) {
    int64_t v = defaults[i];
    if (i < e->n && (!tirc_const_int(e->args[i], &v) || v < 0 || v > largest[i]))
      tirc_fail(g->c, g->loc, CODE_CODEGEN, "T.prefetch(address, rw, locality, cache_type)",
                "argument %d of T.prefetch is not a constant from 0 to %d", i, (int)largest[i]);
    args[i] = tirc_gen_int(g, i32, v);
  }
  if (LLVMGetTypeKind(LLVMTypeOf(args[0])) != LLVMPointerTypeKind) unsupported(g, e);
  return tirc_gen_intrinsic(g, "llvm.prefetch", LLVMTypeOf(args[0]), 4, args);
}

static LLVMValueRef emit_address_of(Gen *g, Expr e) {
  if (e->n != 1 || e->args[0]->op != OP_LOAD) unsupported(g, e);
  return tirc_gen_address(g, e->args[0]);
}

static LLVMValueRef emit_operand(Gen *g, Expr e) {
  if (e->n != 1) unsupported(g, e);
  return tirc_gen_expr(g, e->args[0]);
}

static LLVMValueRef emit_assume(Gen *g, Expr e) {
  (void)e;
  return LLVMConstInt(tirc_gen_int_type(g, 1, 1), 1, false);
}

/* T.opaque_zero(dtype): empty assembly in the entry gives an i64, of which no bit is known. */
static LLVMValueRef emit_amx_permitted(Gen *g, Expr e) {
  return (void)e, tirc_gen_amx_permitted(g);
}

static LLVMValueRef emit_opaque_zero(Gen *g, Expr e) {
  if (!tirc_dtype_is_int(e->dtype) || e->dtype.lanes != 1) unsupported(g, e);
  LLVMTypeRef i64 = tirc_gen_int_type(g, 64, 1);
  if (!g->f.zero) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMTypeRef type = LLVMFunctionType(i64, &i64, 1, false);
    LLVMValueRef text =
        LLVMGetInlineAsm(type, "", 0, "=r,0", 4, false, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef known = LLVMConstNull(i64);
    LLVMPositionBuilderAtEnd(g->b, g->f.entry);
    g->f.zero = LLVMBuildCall2(g->b, type, text, &known, 1, "zero");
    LLVMPositionBuilderAtEnd(g->b, here);
  }
  return LLVMBuildIntCast2(g->b, g->f.zero, tirc_gen_type(g, e->dtype), false, "");
}

static LLVMAtomicRMWBinOp operation_of(const Atomic *a) {
  const DType t = a->place->dtype;
  const bool is_signed = t.code == TYPE_INT;
  switch (a->op) {
  case OP_ADD: return tirc_dtype_is_float(t) ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd;
  case OP_MIN: return is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
  case OP_MAX: return is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
  case OP_BITWISE_AND: return LLVMAtomicRMWBinOpAnd;
  default: return LLVMAtomicRMWBinOpOr;
  }
}

static LLVMValueRef emit_atomic(Gen *g, Expr e) {
  const LLVMAtomicOrdering order = LLVMAtomicOrderingMonotonic;
  Atomic a;
  if (!tirc_atomic(e, &a) || e->dtype.lanes > 1) unsupported(g, e);
  const DType t = a.place->dtype;
  LLVMValueRef value = side(g, a.value, t);
  if (!a.compare)
    return LLVMBuildAtomicRMW(g->b, operation_of(&a), tirc_gen_address(g, a.place), value, order,
                              false);
  LLVMValueRef compare = side(g, a.compare, t);
  LLVMValueRef both = LLVMBuildAtomicCmpXchg(g->b, tirc_gen_address(g, a.place), compare, value,
                                             order, order, false);
  return LLVMBuildExtractValue(g->b, both, 0, "");
}

/* x86 counts the ticks of its rdtsc, ARM those of a counter that programs may read, a GPU its
 * cycles. */
static LLVMValueRef emit_clock(Gen *g, Expr e) {
  (void)e;
  const bool is_steady = !g->target->is_gpu && g->target->cpu->arch != CPU_X86_64;
  const char *name = is_steady ? "llvm.readsteadycounter" : "llvm.readcyclecounter";
  const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->module, id, NULL, 0);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, NULL, 0, "");
}

static LLVMValueRef emit_CALL(Gen *g, Expr e) {
  static const Emit of_gpu[CALL_COUNT] = {
      [CALL_TVM_STORAGE_SYNC] = tirc_gen_barrier,
      [CALL_TVM_WARP_SHUFFLE] = tirc_gen_shuffle,
      [CALL_TVM_WARP_SHUFFLE_UP] = tirc_gen_shuffle,
      [CALL_TVM_WARP_SHUFFLE_DOWN] = tirc_gen_shuffle,
      [CALL_TVM_WARP_ACTIVEMASK] = tirc_gen_active_mask,
      [CALL_TVM_THREAD_INVARIANT] = emit_operand,
  };
  static const Emit calls[CALL_COUNT] = {
      [CALL_PREFETCH] = emit_prefetch,
      [CALL_ADDRESS_OF] = emit_address_of,
#define ATOMIC(id, name, op) [CALL_##id] = emit_atomic,
#include "ir/tree/atomics.def"
#undef ATOMIC
      [CALL_EXTERN] = tirc_gen_extern,
      [CALL_PURE_EXTERN] = tirc_gen_extern,
      [CALL_ASSUME] = emit_assume,
      [CALL_OPAQUE_ZERO] = emit_opaque_zero,
      [CALL_AMX_PERMITTED] = emit_amx_permitted,
      [CALL_CLOCK] = emit_clock,
      [CALL_LLVM_INTRIN] = tirc_gen_llvm_call,
      [CALL_LLVM_PURE_INTRIN] = tirc_gen_llvm_call,
  };
  Emit emit = calls[e->u.callee];
  if (!emit && g->target->is_gpu) emit = of_gpu[e->u.callee];
  if (!emit) unsupported(g, e);
  return emit(g, e);
}

static LLVMValueRef emit_none(Gen *g, Expr e) { unsupported(g, e); }

/* --- the table ------------------------------------------------------------------------------ */

#include "codegen/families.h"
#define emit_math tirc_gen_math
#define emit_LOAD tirc_gen_load

static const Emit emitters[OP_COUNT] = {
#define OP(id, name, arity, class, precedence, c_form) [OP_##id] = emit_##id,
#include "ir/tree/ops.def"
#undef OP
};

LLVMValueRef tirc_gen_expr(Gen *g, Expr e) {
  LLVMValueRef dot = g->target->is_gpu ? tirc_gen_dot(g, e) : NULL;
  return dot ? dot : emitters[e->op](g, e);
}
