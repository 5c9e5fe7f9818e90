/* The namespaces that scripts written for the reference expect: tir (also as tvm and T), with typed
 * constants, a few functions on expressions and the names of types; and math. */
#include "te.h"

#include <math.h>

Value tirc_script_namespace(const char *name) { return tirc_script_object("namespace", name); }

/* --- constants -------------------------------------------------------------------------------- */

/* "inf", "-inf" and "nan", which have no other form. */
static bool no_finite(Value v, double *out) {
  static const struct {
    const char *name;
    double value;
  } words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}};
  for (size_t i = 0; v.kind == VAL_STR && i < sizeof words / sizeof *words; i++)
    if (!strcmp(v.u.s, words[i].name)) return *out = words[i].value, true;
  return false;
}

static Value typed_constant(Script *sc, Value v, const char *type) {
  DType t;
  double f;
  int64_t i;
  if (!tirc_dtype_parse(type, &t) || t.code == TYPE_HANDLE || t.code == TYPE_VOID)
    tirc_script_error(sc, "ValueError", "use a type such as int32, int64, float32 or bool",
                      "'%s' is not a type of a constant", type);
  const bool large = v.kind == VAL_EXPR && v.u.expr->op == OP_LARGE_UINT;
  if (large && tirc_dtype_is_int(t) && !tirc_dtype_equal(t, DT_UINT64))
    tirc_script_error(sc, "OverflowError", NULL, "%s is not a value of type %s",
                      tirc_digits(sc->c, v.u.expr), type);
  if (v.kind == VAL_EXPR) return tirc_value_expr(tirc_cast(sc->c, t, v.u.expr));
  if (tirc_dtype_is_float(t) && (tirc_script_number(v, &f) || no_finite(v, &f)))
    return tirc_value_expr(tirc_float(sc->c, t, f));
  if (tirc_dtype_is_float(t) || !tirc_script_int(v, &i))
    tirc_script_error(sc, "TypeError", NULL, "%s is not a value of type %s",
                      tirc_script_repr(sc, v), type);
  if (t.code == TYPE_BOOL) return tirc_value_expr(tirc_bool(sc->c, i != 0));
  if (i < tirc_dtype_min(t) || i > tirc_dtype_max(t))
    tirc_script_error(sc, "OverflowError", NULL, "%lld is not a value of type %s", (long long)i,
                      type);
  return tirc_value_expr(tirc_int(sc->c, t, i));
}

static const char *type_text(Script *sc, Value v) {
  if (v.kind != VAL_STR)
    tirc_script_error(sc, "TypeError", NULL, "a type is a string such as \"int32\"");
  return v.u.s;
}

/* const(value, dtype="int32") */
static Value run_const(Script *sc, Value self, const Args *a) {
  (void)self;
  const Value *given = tirc_script_argument(a, 0, "value");
  const Value *type = tirc_script_argument(a, 1, "dtype");
  const Value v = given ? *given : VALUE_NONE;
  const char *usual = v.kind == VAL_FLOAT ? "float32" : v.kind == VAL_BOOL ? "bool" : "int32";
  return typed_constant(sc, v, type && type->kind != VAL_NONE ? type_text(sc, *type) : usual);
}

/* IntImm(dtype, value) */
static Value run_imm(Script *sc, Value self, const Args *a) {
  const Value *type = tirc_script_argument(a, 0, "dtype");
  const Value *v = tirc_script_argument(a, 1, "value");
  (void)self;
  return typed_constant(sc, v ? *v : VALUE_NONE, type_text(sc, type ? *type : VALUE_NONE));
}

/* T.int64(4): the type's name is the object that is called. */
static Value run_typed(Script *sc, Value self, const Args *a) {
  return typed_constant(sc, a->at[0], self.u.s);
}

static Value limit(Script *sc, const Args *a, int which) {
  DType t;
  const Value *type = tirc_script_argument(a, 0, "dtype");
  const char *name = type_text(sc, type ? *type : VALUE_NONE);
  Expr e = tirc_dtype_parse(name, &t) ? tirc_limit(sc->c, t, which) : NULL;
  if (!e)
    tirc_script_error(sc, "ValueError", "use a type such as int32, int64, float32 or bool",
                      "the type '%s' has no such value", name);
  return tirc_value_expr(e);
}
static Value run_min_value(Script *sc, Value self, const Args *a) {
  return (void)self, limit(sc, a, -1);
}
static Value run_max_value(Script *sc, Value self, const Args *a) {
  return (void)self, limit(sc, a, 1);
}
static Value run_infinity(Script *sc, Value self, const Args *a) {
  return (void)self, limit(sc, a, 2);
}

/* --- functions on expressions ----------------------------------------------------------------- */

static Value binary(Script *sc, Op op, const Args *a) {
  Expr x, y;
  tirc_script_pair(sc, a->at[0], a->at[1], &x, &y);
  return tirc_script_of_expr(tirc_binary(sc->c, op, x, y));
}

static Value run_floordiv(Script *sc, Value self, const Args *a) {
  return (void)self, tirc_script_binary(sc, "//", a->at[0], a->at[1]);
}
static Value run_floormod(Script *sc, Value self, const Args *a) {
  return (void)self, tirc_script_binary(sc, "%", a->at[0], a->at[1]);
}
static Value run_ceildiv(Script *sc, Value self, const Args *a) {
  (void)self;
  Value up = tirc_script_binary(sc, "-", a->at[1], tirc_value_int(1));
  return tirc_script_binary(sc, "//", tirc_script_binary(sc, "+", a->at[0], up), a->at[1]);
}
static Value run_min(Script *sc, Value self, const Args *a) {
  return (void)self, binary(sc, OP_MIN, a);
}
static Value run_max(Script *sc, Value self, const Args *a) {
  return (void)self, binary(sc, OP_MAX, a);
}

static Value run_truncdiv(Script *sc, Value self, const Args *a) {
  return (void)self, binary(sc, OP_TRUNCDIV, a);
}
static Value run_truncmod(Script *sc, Value self, const Args *a) {
  return (void)self, binary(sc, OP_TRUNCMOD, a);
}

/* x.astype(dtype) */
Value tirc_script_astype(Script *sc, Value self, const Args *a) {
  const Value *type = tirc_script_argument(a, 0, "dtype");
  return typed_constant(sc, self, type_text(sc, type ? *type : VALUE_NONE));
}

/* Cast(dtype, value) */
static Value run_cast(Script *sc, Value self, const Args *a) {
  return (void)self, typed_constant(sc, a->at[1], type_text(sc, a->at[0]));
}

/* reinterpret(dtype, value) */
static Value run_reinterpret(Script *sc, Value self, const Args *a) {
  DType t;
  const char *type = type_text(sc, a->at[0]);
  Expr e = tirc_script_expr(sc, a->at[1]);
  (void)self;
  if (!tirc_dtype_parse(type, &t) || t.bits * t.lanes != e->dtype.bits * e->dtype.lanes)
    tirc_script_error(sc, "ValueError", "T.Cast converts the value",
                      "'%s' is not a type of the size of %s", type,
                      tirc_dtype_name(sc->c, e->dtype));
  return tirc_value_expr(tirc_expr(sc->c, OP_REINTERPRET, t, 1, &e));
}

/* if_then_else(condition, true value, false value): both values get the type of their sum; of
 * Select, which takes two of one type, only when one is a plain number. */
static Value choose(Script *sc, Op op, const Args *a) {
  Tirc *c = sc->c;
  Expr args[3];
  int64_t truth;
  args[0] = tirc_script_expr(sc, a->at[0]);
  tirc_script_pair(sc, a->at[1], a->at[2], &args[1], &args[2]);
  if (args[0]->dtype.code != TYPE_BOOL)
    tirc_script_error(sc, "TypeError", NULL, "the condition must be a bool, not %s",
                      tirc_dtype_name(c, args[0]->dtype));
  if (!tirc_dtype_equal(args[1]->dtype, args[2]->dtype)) {
    if (op == OP_SELECT && a->at[1].kind == VAL_EXPR && a->at[2].kind == VAL_EXPR)
      tirc_script_error(sc, "TypeError", "T.Cast(type, value) converts one of them",
                        "the two values must have the same type, not %s and %s",
                        tirc_dtype_name(c, args[1]->dtype), tirc_dtype_name(c, args[2]->dtype));
    const DType t = tirc_binary(c, OP_ADD, args[1], args[2])->dtype;
    for (int i = 1; i < 3; i++) args[i] = tirc_cast(c, t, args[i]);
  }
  if (op == OP_IF_THEN_ELSE && tirc_const_int(args[0], &truth))
    return tirc_script_of_expr(args[truth ? 1 : 2]);
  return tirc_script_of_expr(tirc_expr(c, op, args[1]->dtype, 3, args));
}
static Value run_if_then_else(Script *sc, Value self, const Args *a) {
  return (void)self, choose(sc, OP_IF_THEN_ELSE, a);
}
static Value run_select(Script *sc, Value self, const Args *a) {
  return (void)self, choose(sc, OP_SELECT, a);
}

/* --- math ------------------------------------------------------------------------------------- */

static double real(Script *sc, Value v) {
  double f;
  int64_t i;
  if (tirc_script_number(v, &f)) return f;
  if (tirc_script_int(v, &i)) return (double)i;
  tirc_script_error(sc, "TypeError", NULL, "math takes numbers, not %s", tirc_script_a_type(sc, v));
}

static Value whole(Script *sc, double f) {
  if (!(fabs(f) < 9.2e18))
    tirc_script_error(sc, "OverflowError", NULL, "%g is too large for an int", f);
  return tirc_value_int((int64_t)f);
}

static Value run_floor(Script *sc, Value self, const Args *a) {
  return (void)self, a->at[0].kind == VAL_INT ? a->at[0] : whole(sc, floor(real(sc, a->at[0])));
}
static Value run_ceil(Script *sc, Value self, const Args *a) {
  return (void)self, a->at[0].kind == VAL_INT ? a->at[0] : whole(sc, ceil(real(sc, a->at[0])));
}

static double in_domain(Script *sc, double x, bool valid) {
  if (!valid)
    tirc_script_error(sc, "ValueError", NULL, "%g is outside of the function's domain", x);
  return x;
}

static Value run_sqrt(Script *sc, Value self, const Args *a) {
  double x = real(sc, a->at[0]);
  return (void)self, tirc_value_float(sqrt(in_domain(sc, x, x >= 0)));
}
static Value run_log2(Script *sc, Value self, const Args *a) {
  double x = real(sc, a->at[0]);
  return (void)self, tirc_value_float(log2(in_domain(sc, x, x > 0)));
}
static Value run_log(Script *sc, Value self, const Args *a) {
  double x = real(sc, a->at[0]);
  return (void)self, tirc_value_float(log(in_domain(sc, x, x > 0)));
}

static Value run_gcd(Script *sc, Value self, const Args *a) {
  (void)self;
  int64_t x, y;
  if (!tirc_script_int(a->at[0], &x) || !tirc_script_int(a->at[1], &y))
    tirc_script_error(sc, "TypeError", NULL, "gcd() takes two ints");
  while (y) {
    int64_t rest = y == -1 ? 0 : x % y;
    x = y, y = rest;
  }
  return x < 0 ? tirc_script_unary(sc, "-", tirc_value_int(x)) : tirc_value_int(x);
}

static Value run_prod(Script *sc, Value self, const Args *a) {
  (void)self;
  Iter it = tirc_script_iter(sc, a->at[0]);
  Value total = tirc_value_int(1), item;
  while (tirc_script_next(sc, &it, &item)) total = tirc_script_binary(sc, "*", total, item);
  return total;
}

/* IndexMap.from_func(f): index maps are functions here. */
static Value run_from_func(Script *sc, Value self, const Args *a) {
  (void)self;
  const Value *f = tirc_script_argument(a, 0, "mapping_function");
  if (!f || f->kind != VAL_FUNCTION)
    tirc_script_error(sc, "TypeError", "lambda i, j: (j, i)",
                      "from_func() needs a function, not %s",
                      tirc_script_a_type(sc, f ? *f : VALUE_NONE));
  return *f;
}

const NativeRow tirc_script_namespace_rows[] = {
    {"tir", "const", run_const, 0, 2, "value dtype"},
    {"te", "const", run_const, 0, 2, "value dtype"},
    {"tir", "IntImm", run_imm, 0, 2, "dtype value"},
    {"tir", "FloatImm", run_imm, 0, 2, "dtype value"},
    {"tir", "floordiv", run_floordiv, 2, 2, NULL},
    {"tir", "floormod", run_floormod, 2, 2, NULL},
    {"tir", "indexdiv", run_floordiv, 2, 2, NULL},
    {"tir", "indexmod", run_floormod, 2, 2, NULL},
    {"tir", "ceildiv", run_ceildiv, 2, 2, NULL},
    {"tir", "min", run_min, 2, 2, NULL},
    {"tir", "max", run_max, 2, 2, NULL},
    {"tir", "truncdiv", run_truncdiv, 2, 2, NULL},
    {"tir", "truncmod", run_truncmod, 2, 2, NULL},
    {"tir", "Cast", run_cast, 2, 2, NULL},
    {"tir", "reinterpret", run_reinterpret, 2, 2, NULL},
    {"tir", "if_then_else", run_if_then_else, 3, 3, NULL},
    {"tir", "Select", run_select, 3, 3, NULL},
    {"tir", "min_value", run_min_value, 0, 1, "dtype"},
    {"tir", "max_value", run_max_value, 0, 1, "dtype"},
    {"tir", "infinity", run_infinity, 0, 1, "dtype"},
    {"te", "if_then_else", run_if_then_else, 3, 3, NULL},
    {"te", "floordiv", run_floordiv, 2, 2, NULL},
    {"te", "floormod", run_floormod, 2, 2, NULL},
    {"te", "min_value", run_min_value, 0, 1, "dtype"},
    {"te", "max_value", run_max_value, 0, 1, "dtype"},
    {"math", "floor", run_floor, 1, 1, NULL},
    {"math", "ceil", run_ceil, 1, 1, NULL},
    {"math", "sqrt", run_sqrt, 1, 1, NULL},
    {"math", "log2", run_log2, 1, 1, NULL},
    {"math", "log", run_log, 1, 1, NULL},
    {"math", "gcd", run_gcd, 2, 2, NULL},
    {"IndexMap", "from_func", run_from_func, 0, 3,
     "mapping_function ndim inverse_index_map index_dtype"},
    {"math", "prod", run_prod, 1, 1, NULL},
    {"Trace", "apply_json_to_schedule", tirc_script_apply_json, 0, 2, "json_obj sch"},
    {"InstructionKind", "get", tirc_script_instruction_kind, 0, 1, "name"},
    {0},
};

static const NativeRow typed_row = {"tir", "typed constant", run_typed, 1, 1, NULL};

/* The names below tir that lead on: tvm.tir.schedule.ScheduleError ... */
static const char *const inner[] = {"tir",   "schedule", "script",      "ir", "trace",
                                    "state", "function", "instruction", "te", "s_tir"};

static const char *const types[] = {
    "For",          "Block",         "IterVar",           "Range",       "Buffer",
    "BufferRegion", "Var",           "PrimExpr",          "SeqStmt",     "BufferStore",
    "PrimFunc",     "BufferLoad",    "TensorIntrin",      "Add",         "Mul",
    "Schedule",     "IRModule",      "ForKind",           "IndexMap",    "Trace",
    "BlockRV",      "LoopRV",        "StmtSRef",          "DepKind",     "Dependency",
    "BlockScope",   "ScheduleState", "ScheduleDebugMask", "Instruction", "InstructionKind"};

/* Constants of types, as the attributes of loops and iterators give them. */
static const struct {
  const char *type, *name;
  Value value;
} members[] = {
    {"IterVar", "DataPar", {.kind = VAL_INT, .u.i = 0}},
    {"IterVar", "CommReduce", {.kind = VAL_INT, .u.i = 2}},
    {"IterVar", "Ordered", {.kind = VAL_INT, .u.i = 3}},
    {"IterVar", "Opaque", {.kind = VAL_INT, .u.i = 4}},
    {"ForKind", "SERIAL", {.kind = VAL_STR, .u.s = "serial"}},
    {"ForKind", "PARALLEL", {.kind = VAL_STR, .u.s = "parallel"}},
    {"ForKind", "VECTORIZED", {.kind = VAL_STR, .u.s = "vectorized"}},
    {"ForKind", "UNROLLED", {.kind = VAL_STR, .u.s = "unroll"}},
    {"ForKind", "THREAD_BINDING", {.kind = VAL_STR, .u.s = "thread_binding"}},
    {"DepKind", "RAW", {.kind = VAL_INT, .u.i = DEP_RAW}},
    {"DepKind", "WAW", {.kind = VAL_INT, .u.i = DEP_WAW}},
    {"DepKind", "WAR", {.kind = VAL_INT, .u.i = DEP_WAR}},
    {"DepKind", "OPAQUE", {.kind = VAL_INT, .u.i = DEP_OPAQUE}},
    {"ScheduleDebugMask", "VERIFY_SREF_TREE", {.kind = VAL_INT, .u.i = SCHED_VERIFY_TREE}},
    {"ScheduleDebugMask", "VERIFY_CACHED_FLAGS", {.kind = VAL_INT, .u.i = SCHED_VERIFY_FLAGS}},
    {"IndexMap", "AXIS_SEPARATOR", {.kind = VAL_STR, .u.s = "axis_separator"}},
    {"te", "AXIS_SEPARATOR", {.kind = VAL_STR, .u.s = "axis_separator"}},
    {"math", "inf", {.kind = VAL_FLOAT, .u.f = INFINITY}},
    {"math", "pi", {.kind = VAL_FLOAT, .u.f = 3.14159265358979323846}},
};

static const char *listed(const char *const *names, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (!strcmp(names[i], name)) return names[i];
  return NULL;
}
#define LISTED(names, name) listed(names, sizeof(names) / sizeof *(names), name)

bool tirc_script_namespace_member(Script *sc, const char *space, const char *name, Value *out) {
  DType t;
  const char *found;
  static const NativeRow *const tables[] = {tirc_script_namespace_rows, tirc_script_intrin_rows,
                                            tirc_script_math_rows,      tirc_script_te_rows,
                                            tirc_script_te_reduce_rows, tirc_script_te_func_rows,
                                            tirc_script_te_ahead_rows};
  name = tirc_word_known(WORD_MODULE, name);
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (const NativeRow *row = tables[i]; row->name; row++)
      if (!strcmp(row->type, space) && !strcmp(row->name, name))
        return *out = tirc_script_native(row), true;
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    if (!strcmp(members[i].type, space) && !strcmp(members[i].name, name))
      return *out = members[i].value, true;
  const bool of_tensors = !strcmp(space, "te");
  if (of_tensors && !strcmp(name, "Tensor"))
    return *out = tirc_script_object("type", "Tensor"), true;
  if ((of_tensors || !strcmp(space, "tir")) && tirc_script_math_member(sc, name, out)) return true;
  if (strcmp(space, "tir")) return false;
  if (!strcmp(name, "ExprRV")) name = "PrimExpr";
  if (LISTED(inner, name))
    return *out = tirc_script_namespace(strcmp(name, "te") ? "tir" : "te"), true;
  if ((found = LISTED(types, name))) return *out = tirc_script_object("type", found), true;
  const ExceptionClass *class = tirc_script_exception_class(name);
  if (class) return *out = tirc_script_object("type", class->name), true;
  if (!tirc_dtype_parse(name, &t)) return false;
  return *out = tirc_script_method(sc, &typed_row, tirc_value_str(tirc_strdup(sc->c, name))), true;
}
