/* What an operator's script says of the elements of tensors:
 *
 *   te.known(x)             (0, 7, True): its elements are integers from 0 to 7, both of which are
 *                           among them; False: perhaps; None: nothing is known
 *   te.within(x, 0, 7)      they are, though no expression of x shows it: x
 *   te.ahead(x, y, 0, 8)    y, made of the operand x by a function of its own that runs before the
 *                           operator's, stands for x there, or x itself does; its elements are
 *                           from 0 to 7 then
 *   te.indices()            "check", "clip" or "trust": what is done about indices; None: nothing
 *                           yet, shapes alone are asked for */
#include "ir/arith/arith.h"
#include "ir/tree/int_op.h"
#include "ir/tree/visit.h"
#include "te.h"

/* --- what is known ---------------------------------------------------------------------------- */

static void know(const Tensor *t, Bound b, bool is_attained) {
  Tensor *to = (Tensor *)(uintptr_t)t;
  to->has_range = true;
  to->range = b;
  to->is_attained = is_attained;
}

typedef struct Standing {
  Mutator m;
  Script *sc;
  Analyzer *known;
  bool may_wrap; /* an operation in it, so that bounds of it say nothing */
} Standing;

/* Whether the numbers that come of it are those that its type has. Bounds take this for granted of
 * the types of indices: it is so of indices, but an element may be any number. */
static bool stays_in_type(Analyzer *known, Expr e) {
  if (!tirc_dtype_is_int(e->dtype) || tirc_dtype_wraps(e->dtype)) return true;
  switch (e->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL: return tirc_bound_fits(e->dtype, tirc_unwrapped_bound(known, e));
  case OP_FLOORDIV:
  case OP_TRUNCDIV: { /* the least one by -1 */
    const Bound x = tirc_const_bound(known, e->args[0]), y = tirc_const_bound(known, e->args[1]);
    return x.min > tirc_dtype_min(e->dtype) || y.min > -1 || y.max < -1;
  }
  default: return true;
  }
}

/* Loads stand as variables of what is known of the tensors' elements. */
static Expr stand_in(Mutator *m, Expr e) {
  Standing *k = m->self;
  Bound b;
  if (e->op != OP_LOAD) {
    e = tirc_mutate_expr_children(m, e);
    k->may_wrap |= !stays_in_type(k->known, e);
    return e;
  }
  const Tensor *t = tirc_te_tensor_of(k->sc, e->u.buffer);
  Expr var = tirc_var(m->c, "element", e->dtype);
  int64_t extent;
  if (t && tirc_te_range(k->sc, t, &b) && !__builtin_sub_overflow(b.max, b.min, &extent) &&
      extent < INT64_MAX)
    tirc_bind_range(
        k->known, var,
        tirc_range(tirc_int(m->c, e->dtype, b.min), tirc_int(m->c, DT_INT64, extent + 1)));
  return var;
}

static bool is_bounded(DType t, Bound b) {
  return b.min > TIRC_NEG_INF && b.max < TIRC_POS_INF && b.min <= b.max &&
         (b.min > tirc_dtype_min(t) || b.max < tirc_dtype_max(t));
}

/* Of what is computed elementwise, from its expression. */
static bool computed_range(Script *sc, const Tensor *t, Bound *out) {
  const Stage *s = t->stage;
  int i = 0;
  if (!s || s->kind != STAGE_COMPUTE || s->reducer) return false;
  while (s->results[i] != t) i++;
  Standing k = {.m = {.c = sc->c, .expr = stand_in}, .sc = sc, .known = tirc_analyzer(sc->c)};
  k.m.self = &k;
  for (int a = 0; a < s->n_axes; a++) tirc_bind_range(k.known, s->axes[a].var, s->axes[a].dom);
  const Expr value = tirc_mutate_expr(&k.m, s->values[i]);
  if (k.may_wrap) return false;
  *out = tirc_const_bound(k.known, tirc_simplify(k.known, value));
  return is_bounded(t->buffer->dtype, *out);
}

bool tirc_te_range(Script *sc, const Tensor *t, Bound *out) {
  if (!t->has_range && (!tirc_dtype_is_int(t->buffer->dtype) || !computed_range(sc, t, out)))
    return false;
  if (!t->has_range) know(t, *out, false);
  *out = t->range;
  return true;
}

void tirc_te_know(Value v, Bound b, bool is_attained) { know(tirc_te_tensor(v), b, is_attained); }

/* --- the script's words ----------------------------------------------------------------------- */

static const Tensor *tensor_argument(Script *sc, const Args *a, int i, const char *what) {
  const Tensor *t = i < a->n ? tirc_te_tensor(a->at[i]) : NULL;
  if (!t) tirc_script_error(sc, "TypeError", NULL, "%s", what);
  return t;
}

static Value run_known(Script *sc, Value self, const Args *a) {
  const Tensor *t = tensor_argument(sc, a, 0, "known() takes a tensor");
  Bound b;
  (void)self;
  if (!tirc_te_range(sc, t, &b)) return VALUE_NONE;
  const Value ends[] = {tirc_value_int(b.min), tirc_value_int(b.max),
                        tirc_value_bool(t->is_attained)};
  return tirc_value_list(sc->c, VAL_TUPLE, 3, ends);
}

/* Ends that are no numbers say nothing. */
static Value run_within(Script *sc, Value self, const Args *a) {
  const Tensor *t = tensor_argument(sc, a, 0, "within() takes a tensor and two ends");
  (void)self;
  if (a->at[1].kind == VAL_INT && a->at[2].kind == VAL_INT && a->at[1].u.i <= a->at[2].u.i)
    know(t, (Bound){a->at[1].u.i, a->at[2].u.i}, false);
  return a->at[0];
}

static Value run_ahead(Script *sc, Value self, const Args *a) {
  static const char what[] = "ahead() takes an operand, what stands for it, and two ends";
  const Ahead ahead = {tensor_argument(sc, a, 0, what), tensor_argument(sc, a, 1, what),
                       tirc_te_index(sc, a->at[2], "an end"),
                       tirc_te_index(sc, a->at[3], "an end")};
  (void)self;
  vec_push(sc->c, sc->te.ahead, ahead);
  return a->at[0];
}

static Value run_indices(Script *sc, Value self, const Args *a) {
  (void)self, (void)a;
  return sc->te.indices ? tirc_value_str(sc->te.indices) : VALUE_NONE;
}

const NativeRow tirc_script_te_ahead_rows[] = {
    {"te", "known", run_known, 1, 1, NULL},
    {"te", "within", run_within, 3, 3, NULL},
    {"te", "ahead", run_ahead, 4, 4, NULL},
    {"te", "indices", run_indices, 0, 0, NULL},
    {0},
};
