/* Kernels in WGSL, WebGPU's language. It has C's operators and neither C's declarations nor its
 * pointers, so that its statements and expressions are written here; names and kernels are those of
 * the other languages.
 *
 *   @group(0) @binding(0) var<storage, read> A: array<f32>;       arrays, in the kernel's order
 *   @group(0) @binding(2) var<uniform> args: main_kernel_args;    scalars and extents
 *   var<workgroup> S: array<f32, 64>;                             shared memory
 *
 * Numbers have 32 bits, or are float16 (`enable f16`); a bool is none of memory. What is updated
 * atomically is of type atomic<i32>, in all of its kernel. Lanes of vectors are written one by one.
 * A choice computes both sides: reads beyond an array are harmless in WGSL, and so is x / 0. */
#include "codegen/access.h"
#include "gen.h"
#include "ir/tree/find.h"

#include <math.h>

typedef struct Wgsl {
  Gen g;
  Kernels kernels;
  Text globals;  /* of the module: bindings, shared memory */
  PtrMap atomic; /* data that is updated atomically in the kernel */
  bool half, floordiv, floormod, infinite, round;
  int lane;
} Wgsl;

static const char *expr(Wgsl *w, Expr e);

_Noreturn static void refuse(const Wgsl *w, const char *hint, const char *what) {
  tirc_fail(w->g.c, w->g.loc, CODE_CODEGEN, hint, "WGSL has no %s", what);
}

/* --- types ------------------------------------------------------------------------------------ */

static const char *type_of(Wgsl *w, DType t) {
  t = tirc_dtype_lanes(t, 1);
  if (t.code == TYPE_BOOL) return "bool";
  if (t.code == TYPE_FLOAT && t.bits == 16) {
    w->half = true;
    return "f16";
  }
  if (t.bits == 32 && t.code == TYPE_FLOAT) return "f32";
  if (t.bits == 32 && t.code == TYPE_INT) return "i32";
  if (t.bits == 32 && t.code == TYPE_UINT) return "u32";
  refuse(w,
         t.bits == 64 ? "WGSL has 32-bit numbers: use float32 or int32"
                      : "WGSL has 32-bit numbers and float16",
         tirc_dtype_name(w->g.c, t));
}

static const char *element_of(Wgsl *w, Buffer b) {
  const DType t = tirc_dtype_lanes(b->dtype, 1);
  if (t.code == TYPE_BOOL) refuse(w, "store int32", "bool in memory");
  const char *type = type_of(w, t);
  return tirc_map_has(&w->atomic, b->data) ? tirc_format(w->g.c, "atomic<%s>", type) : type;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static const char *number(Wgsl *w, Expr e) {
  Tirc *c = w->g.c;
  const DType t = tirc_dtype_lanes(e->dtype, 1);
  if (t.code == TYPE_BOOL) return e->u.i ? "true" : "false";
  (void)type_of(w, t);
  if (e->op == OP_INT && t.code == TYPE_UINT)
    return tirc_format(c, "%uu", (unsigned)(uint64_t)e->u.i);
  if (e->op == OP_INT && e->u.i == INT32_MIN) return "i32(-2147483647 - 1)";
  if (e->op == OP_INT) return tirc_format(c, e->u.i < 0 ? "i32(%lld)" : "%lldi", (long long)e->u.i);
  const double v = e->u.f;
  if (!isfinite(v)) { /* constants are finite: a variable's bits are not looked at */
    w->infinite = true;
    const char *bits = isnan(v) ? "tirc_nan" : "tirc_infinity";
    return tirc_format(c, "%s%s(bitcast<f32>(%s))", v < 0 ? "-" : "", type_of(w, t), bits);
  }
  const char *digits = tirc_format(c, fabs(v) > 3.4e38 ? "%.17g" : "%.9g", v);
  const char *point = strpbrk(digits, ".e") ? "" : ".0";
  return tirc_format(c, v < 0 ? "(%s%s%c)" : "%s%s%c", digits, point, t.bits == 16 ? 'h' : 'f');
}

/* --- memory ----------------------------------------------------------------------------------- */

static const char *place(Wgsl *w, Buffer b, int n, const Expr *indices) {
  const Name *name = tirc_src_name_of(&w->g, b);
  const Expr index = tirc_linear_index(w->g.c, b, n, indices);
  if (!tirc_dtype_equal(name->element, tirc_dtype_lanes(b->dtype, 1)))
    refuse(w, "give it a buffer of its own", "views of memory as another type");
  return tirc_format(w->g.c, "%s[%s]", name->s, expr(w, index));
}

static const char *load(Wgsl *w, Expr e) {
  const char *at = place(w, e->u.buffer, e->n, e->args);
  return tirc_map_has(&w->atomic, e->u.buffer->data) ? tirc_format(w->g.c, "atomicLoad(&%s)", at)
                                                     : at;
}

static const char *atomic(Wgsl *w, Expr e, const Atomic *a) {
  static const struct {
    Op op;
    const char *name;
  } names[] = {{OP_ADD, "atomicAdd"},         {OP_MIN, "atomicMin"},       {OP_MAX, "atomicMax"},
               {OP_BITWISE_AND, "atomicAnd"}, {OP_BITWISE_OR, "atomicOr"}, {OP_COUNT, NULL}};
  if (tirc_dtype_is_float(e->dtype)) refuse(w, "add up integers", "atomic sums of floats");
  const char *at = place(w, a->place->u.buffer, a->place->n, a->place->args);
  (void)type_of(w, e->dtype);
  if (a->compare)
    return tirc_format(w->g.c, "atomicCompareExchangeWeak(&%s, %s, %s).old_value", at,
                       expr(w, a->compare), expr(w, a->value));
  int i = 0;
  while (names[i].op != a->op) i++;
  return tirc_format(w->g.c, "%s(&%s, %s)", names[i].name, at, expr(w, a->value));
}

/* --- expressions ------------------------------------------------------------------------------ */

static const char *cast(Wgsl *w, Expr e) {
  const DType from = tirc_dtype_lanes(e->args[0]->dtype, 1), to = tirc_dtype_lanes(e->dtype, 1);
  const char *x = expr(w, e->args[0]);
  if (tirc_dtype_equal(from, to)) return x;
  if (to.code == TYPE_BOOL && from.code != TYPE_BOOL)
    return tirc_format(w->g.c, "(%s != %s(0))", x, type_of(w, from));
  return tirc_format(w->g.c, "%s(%s)", type_of(w, to), x);
}

static const char *call1(Wgsl *w, const char *name, Expr x) {
  return tirc_format(w->g.c, "%s(%s)", name, expr(w, x));
}

/* Of the bits of a float32 without its sign, against those of infinity. */
static const char *by_bits(Wgsl *w, Expr e, const char *compares) {
  if (e->args[0]->dtype.bits != 32) refuse(w, "cast it to float32", "such a test of float16");
  return tirc_format(w->g.c, "((bitcast<u32>(%s) & 0x7fffffffu) %s 0x7f800000u)",
                     expr(w, e->args[0]), compares);
}

static const char *math(Wgsl *w, Expr e) {
  static const struct {
    Op op;
    const char *name;
  } names[] = {{OP_EXP, "exp"},
               {OP_EXP2, "exp2"},
               {OP_LOG, "log"},
               {OP_LOG2, "log2"},
               {OP_SQRT, "sqrt"},
               {OP_RSQRT, "inverseSqrt"},
               {OP_SIN, "sin"},
               {OP_COS, "cos"},
               {OP_TAN, "tan"},
               {OP_ASIN, "asin"},
               {OP_ACOS, "acos"},
               {OP_ATAN, "atan"},
               {OP_SINH, "sinh"},
               {OP_COSH, "cosh"},
               {OP_TANH, "tanh"},
               {OP_ASINH, "asinh"},
               {OP_ACOSH, "acosh"},
               {OP_ATANH, "atanh"},
               {OP_FLOOR, "floor"},
               {OP_CEIL, "ceil"},
               {OP_TRUNC, "trunc"},
               {OP_NEARBYINT, "round"},
               {OP_ABS, "abs"},
               {OP_POPCOUNT, "countOneBits"},
               {OP_CLZ, "countLeadingZeros"},
               {OP_COUNT, NULL}};
  Tirc *c = w->g.c;
  for (int i = 0; names[i].name; i++)
    if (names[i].op == e->op) {
      const char *r = call1(w, names[i].name, e->args[0]);
      const bool counts = e->op == OP_POPCOUNT || e->op == OP_CLZ;
      return counts ? tirc_format(c, "%s(%s)", type_of(w, e->dtype), r) : r;
    }
  switch (e->op) {
  case OP_SIGMOID: return tirc_format(c, "(1.0 / (1.0 + exp(-%s)))", expr(w, e->args[0]));
  case OP_EXP10: return tirc_format(c, "exp2(%s * 3.3219280948873623)", expr(w, e->args[0]));
  case OP_LOG10: return tirc_format(c, "(log2(%s) * 0.30102999566398120)", expr(w, e->args[0]));
  case OP_ROUND: w->round = true; return call1(w, "tirc_round", e->args[0]);
  case OP_ATAN2: return tirc_format(c, "atan2(%s, %s)", expr(w, e->args[0]), expr(w, e->args[1]));
  case OP_POW: return tirc_format(c, "pow(%s, %s)", expr(w, e->args[0]), expr(w, e->args[1]));
  case OP_FMOD: return tirc_format(c, "(%s %% %s)", expr(w, e->args[0]), expr(w, e->args[1]));
  case OP_FMA:
    return tirc_format(c, "fma(%s, %s, %s)", expr(w, e->args[0]), expr(w, e->args[1]),
                       expr(w, e->args[2]));
  case OP_ISNAN: return by_bits(w, e, ">");
  case OP_ISINF: return by_bits(w, e, "==");
  case OP_ISFINITE: return by_bits(w, e, "<");
  default: break;
  }
  refuse(w, "lower for CUDA or OpenCL, which support it", tirc_format(c, "T.%s", tirc_called(e)));
}

static const char *infix(Wgsl *w, Expr e) {
  const char *x = expr(w, e->args[0]), *y = expr(w, e->args[1]);
  const bool is_bool = e->args[0]->dtype.code == TYPE_BOOL;
  const char *op = tirc_ops[e->op].c_form;
  if (is_bool && (e->op == OP_ADD || e->op == OP_BITWISE_OR)) op = "||";
  if (is_bool && (e->op == OP_MUL || e->op == OP_BITWISE_AND)) op = "&&";
  if (is_bool && (e->op == OP_SUB || e->op == OP_BITWISE_XOR)) op = "!=";
  if (e->op == OP_SHIFT_LEFT || e->op == OP_SHIFT_RIGHT) y = tirc_format(w->g.c, "u32(%s)", y);
  return tirc_format(w->g.c, "(%s %s %s)", x, op, y);
}

static const char *operation(Wgsl *w, Expr e) {
  Tirc *c = w->g.c;
  switch (e->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_DIV:
  case OP_EQ:
  case OP_NE:
  case OP_LT:
  case OP_LE:
  case OP_GT:
  case OP_GE:
  case OP_AND:
  case OP_OR:
  case OP_BITWISE_AND:
  case OP_BITWISE_OR:
  case OP_BITWISE_XOR:
  case OP_SHIFT_LEFT:
  case OP_SHIFT_RIGHT:
  case OP_TRUNCDIV:
  case OP_TRUNCMOD: return infix(w, e);
  case OP_MIN:
  case OP_MAX:
    return tirc_format(c, "%s(%s, %s)", tirc_ops[e->op].name, expr(w, e->args[0]),
                       expr(w, e->args[1]));
  case OP_FLOORDIV:
  case OP_FLOORMOD: {
    if (e->dtype.code != TYPE_INT)
      return infix(
          w, tirc_expr(c, e->op == OP_FLOORDIV ? OP_TRUNCDIV : OP_TRUNCMOD, e->dtype, 2, e->args));
    *(e->op == OP_FLOORDIV ? &w->floordiv : &w->floormod) = true;
    return tirc_format(c, "%s(%s, %s)", tirc_ops[e->op].c_form, expr(w, e->args[0]),
                       expr(w, e->args[1]));
  }
  case OP_NOT: return tirc_format(c, "!%s", expr(w, e->args[0]));
  case OP_BITWISE_NOT:
    return tirc_format(c, e->dtype.code == TYPE_BOOL ? "!%s" : "~%s", expr(w, e->args[0]));
  case OP_CAST: return cast(w, e);
  case OP_LIKELY: return expr(w, e->args[0]);
  case OP_SELECT:
  case OP_IF_THEN_ELSE:
    return tirc_format(c, "select(%s, %s, %s)", expr(w, e->args[2]), expr(w, e->args[1]),
                       expr(w, e->args[0]));
  case OP_REINTERPRET:
    if (e->dtype.lanes > 1 || e->args[0]->dtype.bits != e->dtype.bits)
      refuse(w, NULL, "such bits as another type");
    return tirc_format(c, "bitcast<%s>(%s)", type_of(w, e->dtype), expr(w, e->args[0]));
  default: return math(w, e);
  }
}

/* In the lane that is written. */
static const char *expr(Wgsl *w, Expr e) {
  Atomic a;
  switch (e->op) {
  case OP_INT:
  case OP_FLOAT: return number(w, e);
  case OP_VAR: {
    const Name *name = tirc_map_get(&w->g.vars, e);
    if (!name || e->dtype.lanes > 1) tirc_src_unsupported(&w->g, e);
    return name->s;
  }
  case OP_LOAD: return load(w, e);
  case OP_BROADCAST: return expr(w, e->args[0]);
  case OP_RAMP:
    return tirc_format(w->g.c, "(%s + %s * %d)", expr(w, e->args[0]), expr(w, e->args[1]), w->lane);
  case OP_CALL:
    if (tirc_atomic(e, &a)) return atomic(w, e, &a);
    if (tirc_calls(e, CALL_TVM_THREAD_INVARIANT) && e->n == 1) return expr(w, e->args[0]);
    break;
  case OP_STRING:
  case OP_TUPLE:
  case OP_DICT:
  case OP_NONE:
  case OP_LET:
  case OP_LARGE_UINT: break;
  default: return operation(w, e);
  }
  refuse(w, NULL, tirc_format(w->g.c, "T.%s", tirc_called(e)));
}

/* --- statements ------------------------------------------------------------------------------- */

static void stmt(Wgsl *w, Stmt s);

static void store(Wgsl *w, Stmt s) {
  const Buffer b = s->u.store.buffer;
  const Expr value = s->u.store.value;
  int lanes = value->dtype.lanes;
  for (int d = 0; d < s->u.store.n; d++)
    if (s->u.store.indices[d]->dtype.lanes > lanes) lanes = s->u.store.indices[d]->dtype.lanes;
  const bool apart = lanes == 1 || !tirc_src_overlaps(s, true);
  const char **values = tirc_new_array(w->g.c, const char *, lanes);
  for (w->lane = 0; w->lane < lanes; w->lane++) {
    values[w->lane] = expr(w, value);
    if (apart) continue; /* all lanes are computed before the first is stored */
    const char *name = tirc_src_name(&w->g, "lane");
    tirc_src_line(&w->g, "let %s = %s;", name, values[w->lane]);
    values[w->lane] = name;
  }
  for (w->lane = 0; w->lane < lanes; w->lane++) {
    const char *at = place(w, b, s->u.store.n, s->u.store.indices);
    if (tirc_map_has(&w->atomic, b->data))
      tirc_src_line(&w->g, "atomicStore(&%s, %s);", at, values[w->lane]);
    else
      tirc_src_line(&w->g, "%s = %s;", at, values[w->lane]);
  }
  w->lane = 0;
}

static void loop(Wgsl *w, Stmt s) {
  const For *f = &s->u.loop;
  const int mark = w->g.taken.n;
  const char *type = type_of(w, f->var->dtype);
  const char *min = expr(w, f->min), *extent = expr(w, f->extent);
  if (f->kind == LOOP_THREAD_BINDING) {
    static const char *const axes[GPU_AXES] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z",
                                               "threadIdx.x", "threadIdx.y", "threadIdx.z"};
    if ((int)f->axis >= GPU_AXES) refuse(w, NULL, "virtual threads");
    const char *name = tirc_src_declare(&w->g, f->var, f->var->u.s)->s;
    tirc_src_line(&w->g, "let %s: %s = %s(%s) + %s;", name, type, type, axes[f->axis], min);
    stmt(w, f->body);
    return;
  }
  const char *end = tirc_is_int(f->min, 0) ? extent : tirc_format(w->g.c, "%s + %s", min, extent);
  if (tirc_loads_or_calls(f->extent) || tirc_loads_or_calls(f->min)) {
    const char *last = tirc_src_name(&w->g, tirc_format(w->g.c, "%s_end", f->var->u.s));
    tirc_src_line(&w->g, "let %s: %s = %s;", last, type, end);
    end = last;
  }
  const char *i = tirc_src_declare(&w->g, f->var, f->var->u.s)->s;
  tirc_src_open(&w->g, "for (var %s: %s = %s; %s < %s; %s++) {", i, type, min, i, end, i);
  stmt(w, f->body);
  tirc_src_close(&w->g);
  w->g.taken.n = mark;
}

static void branch(Wgsl *w, Stmt s) {
  const int mark = w->g.taken.n;
  tirc_src_open(&w->g, "if (%s) {", expr(w, s->u.branch.cond));
  stmt(w, s->u.branch.then_case);
  w->g.taken.n = mark;
  if (s->u.branch.else_case) {
    w->g.indent--;
    tirc_src_open(&w->g, "} else {");
    stmt(w, s->u.branch.else_case);
    w->g.taken.n = mark;
  }
  tirc_src_close(&w->g);
}

static void evaluate(Wgsl *w, Stmt s) {
  const Expr e = s->u.eval.value;
  if (e->op == OP_INT || tirc_calls(e, CALL_PREFETCH) || tirc_calls(e, CALL_ASSUME)) return;
  if (tirc_calls(e, CALL_TVM_STORAGE_SYNC)) {
    const char *scope = e->n == 1 && e->args[0]->op == OP_STRING ? e->args[0]->u.s : "shared";
    if (tirc_owner(tirc_storage_of(scope)) != OWNER_BLOCK)
      refuse(w, "lower for a target whose threads form no warps", "barrier of a warp");
    tirc_src_line(&w->g, "workgroupBarrier();");
    if (w->kernels.k->shares_global) tirc_src_line(&w->g, "storageBarrier();");
    return;
  }
  tirc_src_line(&w->g, "_ = %s;", expr(w, e));
}

static void allocate(Wgsl *w, Stmt s) {
  const Buffer b = s->u.alloc.buffer;
  if (s->kind == STMT_ALLOC) {
    const int64_t n =
        tirc_kernel_bytes(w->g.c, w->g.loc, b) / tirc_dtype_bytes(tirc_dtype_lanes(b->dtype, 1));
    const bool is_shared = tirc_is_block_memory(w->g.c, w->g.loc, s);
    Name *name = tirc_src_declare(&w->g, b->data, b->name);
    name->element = tirc_dtype_lanes(b->dtype, 1);
    const char *text = tirc_format(w->g.c, "%s: array<%s, %lld>;", name->s, element_of(w, b),
                                   (long long)(n > 0 ? n : 1));
    if (is_shared)
      tirc_text_addf(&w->globals, "var<workgroup> %s\n", text);
    else
      tirc_src_line(&w->g, "var %s", text);
  }
  stmt(w, s->u.alloc.body);
}

static void stmt(Wgsl *w, Stmt s) {
  if (s->loc.line) w->g.loc = s->loc;
  switch (s->kind) {
  case STMT_FOR: loop(w, s); return;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) stmt(w, tirc_item(s, i));
    return;
  case STMT_STORE: store(w, s); return;
  case STMT_EVAL: evaluate(w, s); return;
  case STMT_IF: branch(w, s); return;
  case STMT_WHILE:
    tirc_src_open(&w->g, "while (%s) {", expr(w, s->u.loop_while.cond));
    stmt(w, s->u.loop_while.body);
    tirc_src_close(&w->g);
    return;
  case STMT_LET: {
    const Expr var = s->u.let.var;
    if (var->dtype.lanes > 1) refuse(w, NULL, "names for vectors");
    const char *value = expr(w, s->u.let.value);
    const char *name = tirc_src_declare(&w->g, var, var->u.s)->s;
    tirc_src_line(&w->g, "let %s: %s = %s;", name, type_of(w, var->dtype), value);
    stmt(w, s->u.let.body);
    return;
  }
  case STMT_ALLOC:
  case STMT_DECL: allocate(w, s); return;
  case STMT_ATTR: stmt(w, s->u.attr.body); return;
  default: refuse(w, "put the assertion before the loops that are bound to threads", "assertions");
  }
}

/* --- kernels ---------------------------------------------------------------------------------- */

static bool find_update(Visitor *v, Expr e) {
  Wgsl *w = v->self;
  Atomic a;
  if (tirc_atomic(e, &a))
    tirc_map_set(w->g.c, &w->atomic, a.place->u.buffer->data, a.place->u.buffer->data);
  return true;
}

/* Arrays are bindings, scalars together another one. */
static void parameters(Wgsl *w, const Kernel *k) {
  const Signature s = tirc_signature(w->g.c, k->f);
  Text fields = {.c = w->g.c};
  int n = 0;
  const char *args = tirc_src_name(&w->g, tirc_format(w->g.c, "%s_args", k->name));
  for (int i = 0; i < s.n; i++) {
    const Param *p = &s.params[i];
    w->g.loc = k->f->loc;
    if (!p->buffer) {
      Name *name = tirc_new(w->g.c, Name);
      const char *field = tirc_c_identifier(w->g.c, p->var->u.s);
      tirc_text_addf(&fields, "%s%s: %s", fields.n ? ", " : "", field, type_of(w, p->var->dtype));
      name->s = tirc_format(w->g.c, "%s.%s", args, field);
      tirc_map_set(w->g.c, &w->g.vars, p->var, name);
      continue;
    }
    Name *name = tirc_src_declare(&w->g, p->var, p->buffer->name);
    name->element = tirc_dtype_lanes(p->buffer->dtype, 1);
    tirc_map_set(w->g.c, &w->g.vars, p->buffer->data, name);
    const bool writes = p->is_written || tirc_map_has(&w->atomic, p->buffer->data);
    tirc_text_addf(&w->globals, "@group(0) @binding(%d) var<storage, %s> %s: array<%s>;\n", n++,
                   writes ? "read_write" : "read", name->s, element_of(w, p->buffer));
  }
  if (fields.n)
    tirc_text_addf(&w->globals,
                   "struct %s_of { %s };\n@group(0) @binding(%d) var<uniform> %s: %s_of;\n", args,
                   fields.at, n, args, args);
}

static void write_kernel(Wgsl *w, const Kernel *k) {
  Tirc *c = w->g.c;
  int64_t threads[3] = {1, 1, 1};
  const int mark = w->g.taken.n;
  Text body = {.c = c};
  w->kernels.k = k;
  w->g.loc = k->f->loc;
  w->g.out = &body;
  w->atomic = (PtrMap){0};
  tirc_visit_stmt(&(Visitor){.expr = find_update, .self = w}, k->f->body);
  for (int i = 0; i < 3; i++)
    if (k->extents[3 + i] && !tirc_const_int(k->extents[3 + i], &threads[i]))
      refuse(w, "split the loop by a constant",
             "thread blocks whose size is known only at run time");
  (void)tirc_src_name(&w->g, "blockIdx");
  (void)tirc_src_name(&w->g, "threadIdx");
  parameters(w, k);
  w->g.indent = 1;
  stmt(w, k->f->body);
  w->g.indent = 0;
  /* names of the module stay taken: kernels share it */
  (void)mark;
  tirc_text_addf(
      &w->globals,
      "\n@compute @workgroup_size(%lld, %lld, %lld)\nfn %s(@builtin(workgroup_id) "
      "blockIdx: vec3<u32>, @builtin(local_invocation_id) threadIdx: vec3<u32>) {\n%s}\n",
      (long long)threads[0], (long long)threads[1], (long long)threads[2], k->name,
      body.n ? body.at : "");
}

static void helpers(const Wgsl *w, Text *t) {
  if (w->half) tirc_text_add(t, "enable f16;\n");
  if (w->infinite)
    tirc_text_add(t, "var<private> tirc_infinity: u32 = 0x7f800000u;\n"
                     "var<private> tirc_nan: u32 = 0x7fc00000u;\n");
  if (w->floordiv)
    tirc_text_add(t, "fn tirc_floordiv(a: i32, b: i32) -> i32 {\n"
                     "  if (b == 0) { return 0; }\n"
                     "  return a / b - select(0, 1, a % b != 0 && (a % b < 0) != (b < 0));\n}\n");
  if (w->floormod)
    tirc_text_add(t, "fn tirc_floormod(a: i32, b: i32) -> i32 {\n"
                     "  if (b == 0) { return 0; }\n"
                     "  let r = a % b;\n"
                     "  return select(r, r + b, r != 0 && (r < 0) != (b < 0));\n}\n");
  if (w->round)
    tirc_text_add(t, "fn tirc_round(x: f32) -> f32 {\n"
                     "  let t = trunc(x);\n"
                     "  return select(t, t + sign(x), abs(x - t) >= 0.5);\n}\n");
}

const char *tirc_wgsl_source(Tirc *c, const Module *m) {
  Wgsl w = {.g = {.c = c, .l = &tirc_wgsl}, .kernels = {.module = m}, .globals = {.c = c}};
  const char *const *symbols = tirc_gpu_symbols(c, &tirc_wgsl, m);
  Text t = {.c = c};
  w.g.kernels = &w.kernels;
  w.kernels.symbols = symbols;
  for (int i = 0; i < m->n_funcs; i++)
    if (symbols[i]) vec_push(c, w.g.taken, symbols[i]);
  for (int i = 0; i < m->n_funcs; i++) {
    if (!symbols[i]) continue;
    const Kernel k = tirc_gpu_kernel(c, m->funcs[i], symbols[i]);
    write_kernel(&w, &k);
  }
  if (!w.globals.n)
    tirc_fail(c, (Loc){m->file, 0, 0}, CODE_CODEGEN,
              "bind its loops: sch.bind(loop=i, thread_axis=\"blockIdx.x\")",
              "the program has no loop that is bound to threads, so there is no kernel");
  tirc_text_add(&t, "/* Made by tirc: WGSL. */\n");
  helpers(&w, &t);
  tirc_text_add(&t, w.globals.at);
  return t.at;
}

/* --- the row ---------------------------------------------------------------------------------- */

/* Keywords, reserved words, types and functions that kernels may use. */
static const char reserved[] =
    "alias break case const const_assert continue continuing default diagnostic discard else "
    "enable false fn for if let loop override requires return struct switch true var while "
    "array atomic bool f16 f32 i32 u32 mat2x2 ptr sampler vec2 vec3 vec4 select bitcast min max "
    "abs exp exp2 log log2 sqrt pow floor ceil round trunc sin cos tan tanh fma sign any all "
    "workgroupBarrier storageBarrier active as async await auto become cast catch class "
    "co_await coherent common compile concept consteval constexpr constinit crate debugger "
    "delete demote do enum explicit export extends extern external fallthrough filter final "
    "finally friend from get goto groupshared highp impl implements import inline instanceof "
    "interface layout lowp macro match mediump meta mod module move mut mutable namespace new "
    "nil noexcept null nullptr of operator package partition pass patch pixelfragment precise "
    "precision private protected pub public readonly ref regardless register reinterpret_cast "
    "resource restrict self set shared sizeof smooth snorm static std subroutine super target "
    "template this thread_local throw trait try type typedef typeid typename typeof union "
    "unless unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly "
    "yield NULL Self main ";
static const char reserved_n[] = "u i f vec mat ";

const Language tirc_wgsl = {.name = "WGSL",
                            .family = &tirc_kernels,
                            .function = "fn",
                            .reserved = reserved,
                            .reserved_n = reserved_n};
