/* Functions of float vectors that are written out (codegen/lanes.h), in GNU's vectors or, for one
 * lane, in scalars: each as a function of its own in front of those that call it. One on vectors
 * takes and gives pointers, as a vector that registers are too short for has no fixed way to be
 * passed:
 *
 *   static inline float32x8 *tirc_exp_float32x8(float32x8 *x) { ... *x = v40; return x; }
 *
 * Compilers that may reassociate would undo what the functions do, and have libm's instead. */
#include "codegen/lanes.h"
#include "gen.h"

/* What a value is, in C: whole numbers are unsigned, tests are ints, on vectors 0 or -1. */
typedef enum Kind { KIND_FLOAT, KIND_WHOLE, KIND_TEST } Kind;
struct LaneValue {
  const char *s;
  Kind kind;
  int bits;
  bool is_constant; /* a scalar, which C spreads beside a vector */
  double number;
};

typedef struct Writer {
  Gen *g;
  Text out;
  int n_values;
} Writer;

/* Of each operation, the text on vectors and on scalars: $x, $y, $z are its operands, $X ... the
 * same as vectors where they are constants; $F, $U, $I the types of floats, whole numbers and
 * signed ones, $T that of the operands of a choice. */
typedef struct Row {
  Kind kind;
  const char *vectors, *scalars; /* NULL: as on vectors */
} Row;
static const Row rows[LANE_OP_COUNT] = {
    [LANE_ADD] = {KIND_FLOAT, "$x + $y", NULL},
    [LANE_SUB] = {KIND_FLOAT, "$x - $y", NULL},
    [LANE_MUL] = {KIND_FLOAT, "$x * $y", NULL},
    [LANE_DIV] = {KIND_FLOAT, "$x / $y", NULL},
    [LANE_MUL_ADD] = {KIND_FLOAT, "$x * $y + $z", NULL},
    [LANE_MAGNITUDE] = {KIND_FLOAT, "($F)(($U)$X & 0x7fffffffu)", "fabsf($x)"},
    [LANE_WITH_SIGN_OF] = {KIND_FLOAT, "($F)((($U)$X & 0x7fffffffu) | (($U)$Y & 0x80000000u))",
                           "copysignf($x, $y)"},
    [LANE_SQRT] = {KIND_FLOAT, NULL, "sqrtf($x)"},
    [LANE_LESS] = {KIND_TEST, "$x < $y", NULL},
    [LANE_MORE] = {KIND_TEST, "$x > $y", NULL},
    [LANE_EQUAL] = {KIND_TEST, "$x == $y", NULL},
    [LANE_AT_LEAST] = {KIND_TEST, "$x >= $y", NULL},
    [LANE_NOT_LESS] = {KIND_TEST, "~($x < $y)", "!($x < $y)"},
    [LANE_BOTH] = {KIND_TEST, "$x & $y", NULL},
    [LANE_EITHER] = {KIND_TEST, "$x | $y", NULL},
    [LANE_NOT] = {KIND_TEST, "~$x", "!$x"},
    [LANE_CHOOSE] = {KIND_FLOAT, "($T)(($x & ($I)$Y) | (~$x & ($I)$Z))", "$x ? $y : $z"},
    [LANE_PLUS] = {KIND_WHOLE, "$x + $y", NULL},
    [LANE_MINUS] = {KIND_WHOLE, "$x - $y", NULL},
    [LANE_AND] = {KIND_WHOLE, "$x & $y", NULL},
    [LANE_OR] = {KIND_WHOLE, "$x | $y", NULL},
    [LANE_XOR] = {KIND_WHOLE, "$x ^ $y", NULL},
    [LANE_SHIFT_LEFT] = {KIND_WHOLE, "$x << $y", NULL},
    [LANE_SHIFT_RIGHT] = {KIND_WHOLE, "($U)(($I)$x >> $y)", NULL},
    [LANE_SAME] = {KIND_TEST, "$x == $y", NULL},
    [LANE_BITS_OF] = {KIND_WHOLE, "($U)$X", "((union { $F from; $U to; }){$x}).to"},
    [LANE_OF_BITS] = {KIND_FLOAT, "($F)$X", "((union { $U from; $F to; }){$x}).to"},
    [LANE_TO_FLOAT] = {KIND_FLOAT, "__builtin_convertvector(($I)$X, $F)", "($F)($I)$x"},
    [LANE_TO_WHOLE] = {KIND_WHOLE, "($U)__builtin_convertvector($X, $I)", "($U)($I)$x"},
    [LANE_WIDEN] = {KIND_FLOAT, "__builtin_convertvector($X, $F)", "($F)$x"},
    [LANE_NARROW] = {KIND_FLOAT, "__builtin_convertvector($X, $F)", "($F)$x"},
};

static const char *type(const Lanes *v, TypeCode code) {
  Writer *w = v->self;
  const DType t = {.code = (uint8_t)code, .bits = (uint8_t)v->bits, .lanes = 1};
  return v->n == 1 ? tirc_c_type(t) : tirc_cg_vector(w->g, t, v->n);
}

static const char *type_of_kind(const Lanes *v, Kind kind) {
  if (kind == KIND_TEST && v->n == 1) return "int";
  return type(v, kind == KIND_FLOAT ? TYPE_FLOAT : kind == KIND_WHOLE ? TYPE_UINT : TYPE_INT);
}

static Lane value(const Lanes *v, Kind kind, const char *s) {
  Writer *w = v->self;
  Lane x = tirc_new(w->g->c, struct LaneValue);
  *x = (struct LaneValue){.s = s, .kind = kind, .bits = v->bits};
  return x;
}

static Lane make_real(const Lanes *v, double x) {
  Writer *w = v->self;
  const DType t = v->bits == 32 ? DT_FLOAT32 : DT_FLOAT64;
  Lane r = value(v, KIND_FLOAT, tirc_src_float(w->g, t, x).s);
  r->is_constant = true;
  r->number = x;
  return r;
}

static Lane make_whole(const Lanes *v, int64_t x) {
  Writer *w = v->self;
  const DType t = {.code = TYPE_UINT, .bits = (uint8_t)v->bits, .lanes = 1};
  Lane r = value(v, KIND_WHOLE, tirc_src_number(w->g, t, x).s);
  r->is_constant = true;
  return r;
}

/* A vector, also of a constant. */
static const char *spread(const Lanes *v, Lane x) {
  Writer *w = v->self;
  if (v->n == 1 || !x->is_constant) return x->s;
  const Lanes of_x = with_bits(v, x->bits);
  return tirc_format(w->g->c, "VSPLAT(%s, %s)", type_of_kind(&of_x, x->kind), x->s);
}

static const char *fill(const Lanes *v, const char *text, Kind kind, const Lane *args) {
  Writer *w = v->self;
  Text t = {.c = w->g->c};
  for (const char *s = text; *s; s++) {
    if (*s != '$') {
      tirc_text_addn(&t, s, 1);
      continue;
    }
    s++;
    tirc_text_add(&t, *s == 'F'   ? type(v, TYPE_FLOAT)
                      : *s == 'U' ? type(v, TYPE_UINT)
                      : *s == 'I' ? type(v, TYPE_INT)
                      : *s == 'T' ? type_of_kind(v, kind)
                      : *s >= 'x' ? args[*s - 'x']->s
                                  : spread(v, args[*s - 'X']));
  }
  return t.at;
}

static Lane define(const Lanes *v, Kind kind, const char *text) {
  Writer *w = v->self;
  const char *name = tirc_format(w->g->c, "v%d", w->n_values++);
  tirc_text_addf(&w->out, "  const %s %s = %s;\n", type_of_kind(v, kind), name, text);
  return value(v, kind, name);
}

/* CALL of each lane of x: `at` holds a lane. */
static void each_lane(const Lanes *v, const char *result, const char *x, const char *function) {
  Writer *w = v->self;
  tirc_text_addf(&w->out,
                 "    float at[%d];\n"
                 "    memcpy(at, &%s, sizeof at);\n"
                 "    for (int i = 0; i < %d; i++) at[i] = %sf(at[i]);\n"
                 "    memcpy(&%s, at, sizeof at);\n",
                 v->n, x, v->n, function, result);
}

static Lane lanes_sqrt(const Lanes *v, Lane x) {
  Writer *w = v->self;
  const char *name = tirc_format(w->g->c, "v%d", w->n_values++);
  tirc_text_addf(&w->out, "  %s %s;\n  {\n", type(v, TYPE_FLOAT), name);
  each_lane(v, name, x->s, "sqrt");
  tirc_text_add(&w->out, "  }\n");
  return value(v, KIND_FLOAT, name);
}

static Lane apply(const Lanes *v, LaneOp op, int n, const Lane *args) {
  Writer *w = v->self;
  const Row *row = &rows[op];
  Lane x[3] = {0};
  bool is_constant = true;
  for (int i = 0; i < n; i++) {
    x[i] = args[i];
    is_constant &= x[i]->is_constant;
  }
  if (is_constant && v->n > 1) x[0] = value(v, x[0]->kind, spread(v, x[0])); /* or C has a scalar */
  if (op == LANE_SQRT && v->n > 1) return lanes_sqrt(v, x[0]);
  const Kind kind = op == LANE_CHOOSE ? x[1]->kind : row->kind;
  if (op == LANE_CHOOSE && v->n > 1 && x[0]->bits != v->bits)
    x[0] = define(v, KIND_TEST,
                  tirc_format(w->g->c, "__builtin_convertvector(%s, %s)", x[0]->s,
                              type_of_kind(v, KIND_TEST)));
  const char *text = v->n == 1 && row->scalars ? row->scalars : row->vectors;
  if (op == LANE_MAGNITUDE || op == LANE_WITH_SIGN_OF) w->g->uses_math |= v->n == 1;
  return define(v, kind, fill(v, text, kind, x));
}

static Lane unless_far(const Lanes *v, Op op, Lane x, Lane near, Lane is_far) {
  Writer *w = v->self;
  const char *name = tirc_format(w->g->c, "v%d", w->n_values++), *function = tirc_ops[op].c_form;
  w->g->uses_math = true;
  tirc_text_addf(&w->out, "  %s %s = %s;\n", type(v, TYPE_FLOAT), name, near->s);
  if (v->n == 1) {
    tirc_text_addf(&w->out, "  if (__builtin_expect(%s, 0)) %s = %sf(%s);\n", is_far->s, name,
                   function, x->s);
    return value(v, KIND_FLOAT, name);
  }
  tirc_text_addf(&w->out, "  uint64_t any[%d];\n  memcpy(any, &%s, sizeof any);\n", v->n / 2,
                 is_far->s);
  tirc_text_add(&w->out, "  if (__builtin_expect((any[0]");
  for (int i = 1; i < v->n / 2; i++) tirc_text_addf(&w->out, " | any[%d]", i);
  tirc_text_add(&w->out, ") != 0, 0)) {\n");
  each_lane(v, name, x->s, function);
  tirc_text_add(&w->out, "  }\n");
  return value(v, KIND_FLOAT, name);
}

static bool find_constant(const Lanes *v, Lane x, double *number) {
  (void)v;
  *number = x->number;
  return x->is_constant;
}

/* --- functions ------------------------------------------------------------------------------- */

/* libm's function of x and y; 10^x is not one that all have. */
static const char *libm_call(Writer *w, Op op, const char *x, const char *y) {
  w->g->uses_math = true;
  if (op == OP_EXP10) return tirc_format(w->g->c, "powf(10.0f, %s)", x);
  if (op == OP_POW) return tirc_format(w->g->c, "powf(%s, %s)", x, y);
  return tirc_format(w->g->c, "%sf(%s)", tirc_ops[op].c_form, x);
}

static void write_libm(Writer *w, const LaneFunction *f) {
  const bool is_scalar = f->lanes == 1;
  const char *y = is_scalar ? "y" : "(*y)[i]";
  if (f->has_power) y = tirc_src_float(w->g, DT_FLOAT32, f->power).s;
  const char *call = libm_call(w, f->op, is_scalar ? "x" : "(*x)[i]", y);
  tirc_text_add(&w->out, "#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__\n");
  if (!is_scalar)
    tirc_text_addf(&w->out, "  for (int i = 0; i < %d; i++) (*x)[i] = %s;\n", f->lanes, call);
  tirc_text_addf(&w->out, "  return %s;\n#else\n", is_scalar ? call : "x");
}

static void write_function(Gen *g, const LaneFunction *f) {
  static const LaneMaker maker = {make_real, make_whole, apply, unless_far, find_constant};
  Writer w = {.g = g, .out = {.c = g->c}};
  const Lanes v = {&maker, &w, f->lanes, 32};
  const char *t = type(&v, TYPE_FLOAT), *star = f->lanes > 1 ? "*" : "";
  const bool has_y = f->op == OP_POW && !f->has_power;
  const char *y = has_y ? tirc_format(g->c, ", %s%s %sy", *star ? "const " : "", t, star) : "";
  tirc_text_addf(&w.out, "\nstatic inline %s %s%s(%s %sx%s) {\n", t, star, f->name, t, star, y);
  write_libm(&w, f);
  Lane args[2] = {value(&v, KIND_FLOAT, tirc_format(g->c, "%sx", star))};
  if (*star) args[0] = define(&v, KIND_FLOAT, "*x");
  if (f->op == OP_POW && f->has_power) args[1] = make_real(&v, f->power);
  if (has_y) args[1] = *star ? define(&v, KIND_FLOAT, "*y") : value(&v, KIND_FLOAT, "y");
  const Lane r = tirc_vector_math(&v, f->op, args);
  tirc_text_addf(
      &w.out, *star ? "  *x = %s;\n  return x;\n#endif\n}\n" : "  return %s;\n#endif\n}\n", r->s);
  tirc_text_add(&g->file->lane_texts, w.out.at);
}

/* The name of the function, which is written if nothing has needed it yet. */
static const char *name_of(Gen *g, LaneFunction f) {
  int n_powers = 0;
  for (int i = 0; i < g->file->lane_functions.n; i++) {
    const LaneFunction *k = &g->file->lane_functions.at[i];
    if (k->op == f.op && k->lanes == f.lanes && k->has_power == f.has_power &&
        memcmp(&k->power, &f.power, sizeof f.power) == 0)
      return k->name;
    n_powers += k->has_power && k->lanes == f.lanes;
  }
  const char *which = f.has_power ? tirc_format(g->c, "_%d", n_powers) : "";
  f.name = tirc_format(g->c, "tirc_%s%s_float32x%d", tirc_ops[f.op].name, which, f.lanes);
  vec_push(g->c, g->file->lane_functions, f);
  write_function(g, &f);
  return f.name;
}

static bool find_number(Expr e, double *number) {
  if (e->op == OP_BROADCAST) e = e->args[0];
  if (e->op == OP_FLOAT) *number = e->u.f;
  return e->op == OP_FLOAT;
}

bool tirc_cg_has_lane_function(Expr e) {
  const DType t = e->dtype;
  return t.lanes > 1 && tirc_dtype_is_float(t) && t.bits <= 32 && tirc_has_vector_math((Op)e->op);
}

bool tirc_cg_lane_function(Gen *g, Expr e, const Window *w, const CText *args, CText *value) {
  if (!tirc_cg_has_lane_function(e)) return false;
  const int lanes = w->lane ? 1 : w->n;
  LaneFunction f = {.op = (Op)e->op, .lanes = lanes};
  f.has_power = e->op == OP_POW && find_number(e->args[1], &f.power);
  const char *name = name_of(g, f), *y = "";
  const bool has_y = e->op == OP_POW && !f.has_power;
  if (lanes == 1) {
    *value = tirc_src_call(g, name, has_y ? 2 : 1, args);
    return true;
  }
  const char *t = tirc_cg_vector(g, DT_FLOAT32, lanes);
  if (has_y) y = tirc_format(g->c, ", (%s[]){%s}", t, args[1].s);
  *value = tirc_src_text(g, BINDS_CAST, "*%s((%s[]){%s}%s)", name, t, args[0].s, y);
  return true;
}
