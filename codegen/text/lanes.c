/* Functions of floats that are written out, as text: in scalars, and in GNU's vectors, which C has.
 */
#include "lanes.h"

/* Of each operation, the text on vectors and on scalars: $x, $y, $z are its operands, $X ... the
 * same as vectors where they are constants; $F, $U, $I the types of floats, whole numbers and
 * signed ones, $T that of the operands of a choice; $a and $c name the functions |x| and copysign.
 */
typedef struct Row {
  LaneKind kind;
  const char *vectors, *scalars; /* NULL: as on vectors */
} Row;
static const Row rows[LANE_OP_COUNT] = {
    [LANE_ADD] = {KIND_FLOAT, "$x + $y", NULL},
    [LANE_SUB] = {KIND_FLOAT, "$x - $y", NULL},
    [LANE_MUL] = {KIND_FLOAT, "$x * $y", NULL},
    [LANE_DIV] = {KIND_FLOAT, "$x / $y", NULL},
    [LANE_MUL_ADD] = {KIND_FLOAT, "$x * $y + $z", NULL},
    [LANE_MAGNITUDE] = {KIND_FLOAT, "($F)(($U)$X & 0x7fffffffu)", "$a($x)"},
    [LANE_WITH_SIGN_OF] = {KIND_FLOAT, "($F)((($U)$X & 0x7fffffffu) | (($U)$Y & 0x80000000u))",
                           "$c($x, $y)"},
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
  LaneWriter *w = v->self;
  const DType t = {.code = (uint8_t)code, .bits = (uint8_t)v->bits, .lanes = (uint16_t)v->n};
  return v->n == 1 ? tirc_src_memory_type(w->g, t) : w->g->l->vector_type(w->g, t);
}

const char *tirc_src_lane_type(const Lanes *v, LaneKind kind) {
  if (kind == KIND_TEST && v->n == 1) return "int";
  return type(v, kind == KIND_FLOAT ? TYPE_FLOAT : kind == KIND_WHOLE ? TYPE_UINT : TYPE_INT);
}

Lane tirc_src_lane_value(const Lanes *v, LaneKind kind, const char *s) {
  LaneWriter *w = v->self;
  Lane x = tirc_new(w->g->c, struct LaneValue);
  *x = (struct LaneValue){.s = s, .kind = kind, .bits = v->bits};
  return x;
}

Lane tirc_src_lane_real(const Lanes *v, double x) {
  LaneWriter *w = v->self;
  const DType t = v->bits == 32 ? DT_FLOAT32 : DT_FLOAT64;
  Lane r = tirc_src_lane_value(v, KIND_FLOAT, tirc_src_float(w->g, t, x).s);
  r->is_constant = true;
  return r;
}

Lane tirc_src_lane_whole(const Lanes *v, int64_t x) {
  LaneWriter *w = v->self;
  const DType t = {.code = TYPE_UINT, .bits = (uint8_t)v->bits, .lanes = 1};
  Lane r = tirc_src_lane_value(v, KIND_WHOLE, tirc_src_number(w->g, t, x).s);
  r->is_constant = true;
  return r;
}

/* A vector, also of a constant. */
static const char *spread(const Lanes *v, Lane x) {
  LaneWriter *w = v->self;
  if (v->n == 1 || !x->is_constant) return x->s;
  const Lanes of_x = with_bits(v, x->bits);
  return tirc_format(w->g->c, "VSPLAT(%s, %s)", tirc_src_lane_type(&of_x, x->kind), x->s);
}

static const char *function(const Lanes *v, Op op) {
  LaneWriter *w = v->self;
  return tirc_src_function(w->g, op, v->bits == 32 ? DT_FLOAT32 : DT_FLOAT64);
}

static const char *fill(const Lanes *v, const char *text, LaneKind kind, const Lane *args) {
  LaneWriter *w = v->self;
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
                      : *s == 'T' ? tirc_src_lane_type(v, kind)
                      : *s == 'a' ? function(v, OP_ABS)
                      : *s == 'c' ? function(v, OP_COPYSIGN)
                      : *s >= 'x' ? args[*s - 'x']->s
                                  : spread(v, args[*s - 'X']));
  }
  return t.at;
}

Lane tirc_src_lane_define(const Lanes *v, LaneKind kind, const char *text) {
  LaneWriter *w = v->self;
  const char *name = tirc_format(w->g->c, "v%d", w->n_values++);
  tirc_text_addf(&w->out, "%s  const %s %s = %s;\n", w->is_inside ? "  " : "",
                 tirc_src_lane_type(v, kind), name, text);
  return tirc_src_lane_value(v, kind, name);
}

/* CALL of each lane of x: `at` holds a lane. */
void tirc_src_each_lane(const Lanes *v, const char *result, const char *x, const char *function) {
  LaneWriter *w = v->self;
  tirc_text_addf(&w->out,
                 "    float at[%d];\n"
                 "    memcpy(at, &%s, sizeof at);\n"
                 "    for (int i = 0; i < %d; i++) at[i] = %sf(at[i]);\n"
                 "    memcpy(&%s, at, sizeof at);\n",
                 v->n, x, v->n, function, result);
}

/* Where the language has one. */
static const char *bits_function(const Lanes *v, LaneOp op) {
  const Language *l = ((LaneWriter *)v->self)->g->l;
  if (op == LANE_BITS_OF) return v->bits == 32 ? l->bits_of_float : l->bits_of_double;
  if (op == LANE_OF_BITS) return v->bits == 32 ? l->float_of_bits : l->double_of_bits;
  return NULL;
}

Lane tirc_src_lane_apply(const Lanes *v, LaneOp op, int n, const Lane *args) {
  LaneWriter *w = v->self;
  const Row *row = &rows[op];
  Lane x[3] = {0};
  bool is_constant = true;
  for (int i = 0; i < n; i++) {
    x[i] = args[i];
    is_constant &= x[i]->is_constant;
  }
  if (is_constant && v->n > 1)
    x[0] = tirc_src_lane_value(v, x[0]->kind, spread(v, x[0])); /* or C has a scalar */
  const LaneKind kind = op == LANE_CHOOSE ? x[1]->kind : row->kind;
  if (op == LANE_CHOOSE && v->n > 1 && x[0]->bits != v->bits)
    x[0] = tirc_src_lane_define(v, KIND_TEST,
                                tirc_format(w->g->c, "__builtin_convertvector(%s, %s)", x[0]->s,
                                            tirc_src_lane_type(v, KIND_TEST)));
  const char *text = v->n == 1 && row->scalars ? row->scalars : row->vectors;
  const char *own = v->n == 1 ? bits_function(v, op) : NULL;
  if (own) text = tirc_format(w->g->c, "%s($x)", own);
  return tirc_src_lane_define(v, kind, fill(v, text, kind, x));
}
