/* require, known and simplify: what a script may ask and state of extents that have no numbers.
 *
 *   require(n > 3, f"...")    holds: nothing      cannot hold: ValueError      else: a Need
 *   known(n > 3)              True                False                        None
 *
 * What is given besides holds, too: known(n > 3, [n > m, m > 3]). */
#include "require.h"

#include "ir/arith/arith.h"
#include "ir/tree/visit.h"

static const int64_t MOST_EXTENT = (int64_t)1 << 40;

static bool note_extent(Visitor *v, Expr e) {
  Script *sc = v->self;
  if (e->op == OP_VAR) tirc_map_set(sc->c, &sc->needs->extents, e, e);
  return true;
}

void tirc_script_extents(Script *sc, Expr e) {
  tirc_visit_expr(&(Visitor){.expr = note_extent, .self = sc}, e);
}

typedef struct Knowing {
  Script *sc;
  Analyzer *known;
} Knowing;

static bool bind_extent(Visitor *v, Expr e) {
  const Knowing *k = v->self;
  Tirc *c = k->sc->c;
  const DType t = e->dtype;
  if (e->op != OP_VAR || !tirc_dtype_is_int(t) || !tirc_map_has(&k->sc->needs->extents, e))
    return true;
  const int64_t most = t.bits < 64 ? INT32_MAX : MOST_EXTENT;
  tirc_bind_range(k->known, e, (Range){tirc_int(c, t, 0), tirc_int(c, t, most)});
  return true;
}

static Analyzer *analyzer_of(Script *sc, Expr e) {
  Knowing k = {sc, tirc_analyzer(sc->c)};
  if (sc->needs) tirc_visit_expr(&(Visitor){.expr = bind_extent, .self = &k}, e);
  return k.known;
}

static Expr simplify(Script *sc, Expr e) { return tirc_simplify(analyzer_of(sc, e), e); }

/* An analyzer where a condition, or a list of them, holds; x == value gives x another name. */
static Analyzer *analyzer_given(Script *sc, Expr e, Value given) {
  Analyzer *known = analyzer_of(sc, e);
  const bool is_list = given.kind == VAL_LIST || given.kind == VAL_TUPLE;
  const int n = is_list ? given.u.list->n : given.kind != VAL_NONE;
  tirc_prove_by_chains(known);
  for (int i = 0; i < n; i++) {
    const Expr cond = tirc_script_expr(sc, is_list ? given.u.list->at[i] : given);
    if (cond->op == OP_EQ && cond->args[0]->op == OP_VAR)
      tirc_bind_value(known, cond->args[0], cond->args[1]);
    else
      (void)tirc_enter_constraint(known, cond);
  }
  return known;
}

typedef struct Looking {
  Script *sc;
  bool of_extents; /* and of nothing else */
  int n;
} Looking;

static bool look_at(Visitor *v, Expr e) {
  Looking *k = v->self;
  const bool is_plain = e->op == OP_INT || e->op == OP_CAST ||
                        tirc_ops[e->op].class == OPCLASS_BINARY || e->op == OP_MIN ||
                        e->op == OP_MAX;
  const bool is_extent = e->op == OP_VAR && tirc_map_has(&k->sc->needs->extents, e);
  k->of_extents &= (is_plain || is_extent) && tirc_dtype_is_int(e->dtype);
  k->n += is_extent;
  return k->of_extents;
}

Expr tirc_script_simple_extent(Script *sc, Expr e) {
  Looking k = {sc, sc->needs != NULL, 0};
  if (k.of_extents) tirc_visit_expr(&(Visitor){.expr = look_at, .self = &k}, e);
  return k.of_extents && k.n ? simplify(sc, e) : e;
}

/* What was required before holds where this is asked. */
static bool follows(Script *sc, Expr cond) {
  Analyzer *known = analyzer_of(sc, cond);
  for (int i = 0; i < sc->needs->list.n; i++)
    if (tirc_prove_given(known, sc->needs->list.at[i].cond, cond)) return true;
  return false;
}

/* A condition of which not all is known; NULL: it is decided, *holds. */
static Expr undecided(Script *sc, Value v, bool *holds) {
  int64_t number;
  if (v.kind != VAL_EXPR || tirc_script_int(v, &number)) {
    *holds = tirc_script_truth(sc, v);
    return NULL;
  }
  const Expr e = simplify(sc, v.u.expr);
  if (!tirc_const_int(e, &number)) return e;
  *holds = number != 0;
  return NULL;
}

void tirc_script_need(Script *sc, Value v, const char *message) {
  bool holds = true;
  if (v.kind == VAL_LIST || v.kind == VAL_TUPLE) {
    tirc_script_deeper(sc);
    for (int i = 0; i < v.u.list->n; i++) tirc_script_need(sc, v.u.list->at[i], message);
    tirc_script_leave(sc);
    return;
  }
  const Expr open = undecided(sc, v, &holds);
  if (open && !sc->needs) holds = tirc_script_truth(sc, tirc_value_expr(open));
  if (!holds)
    tirc_script_error(sc, "ValueError", NULL, "%s", tirc_script_plain_words(sc->c, message));
  if (open && sc->needs && !follows(sc, open))
    vec_push(sc->c, sc->needs->list,
             ((Need){open, tirc_script_plain_words(sc->c, message), sc->loc}));
}

const char *tirc_script_placed(Tirc *c, const char *message, Loc in) {
  return tirc_format(c, "%s (%s:%d)", message, in.file, in.line);
}

const char *tirc_script_plain_words(Tirc *c, const char *message) {
  static const char cast[] = "T.int64(";
  Text t = {.c = c};
  for (const char *at = message; *at; at++) {
    const size_t digits =
        strncmp(at, cast, sizeof cast - 1) ? 0 : strspn(at + sizeof cast - 1, "-0123456789");
    if (!digits || at[sizeof cast - 1 + digits] != ')') {
      tirc_text_addn(&t, at, 1);
      continue;
    }
    tirc_text_addn(&t, at + sizeof cast - 1, digits);
    at += sizeof cast - 1 + digits;
  }
  return t.n ? t.at : "";
}

/* require(condition, message): all of a list of conditions, too */
Value tirc_script_run_require(Script *sc, Value self, const Args *a) {
  (void)self;
  if (a->at[1].kind != VAL_STR)
    tirc_script_error(sc, "TypeError", NULL, "require() needs a reason as a string, not %s",
                      tirc_script_a_type(sc, a->at[1]));
  tirc_script_need(sc, a->at[0], a->at[1].u.s);
  return VALUE_NONE;
}

static Value given_of(const Args *a) { return a->n > 1 ? a->at[1] : VALUE_NONE; }

Value tirc_script_run_known(Script *sc, Value self, const Args *a) {
  bool holds = true;
  (void)self;
  if (given_of(a).kind != VAL_NONE && a->at[0].kind == VAL_EXPR) {
    const Expr e = a->at[0].u.expr;
    const Value made = tirc_script_of_expr(tirc_simplify(analyzer_given(sc, e, given_of(a)), e));
    return made.kind == VAL_BOOL ? made : VALUE_NONE;
  }
  return undecided(sc, a->at[0], &holds) ? VALUE_NONE : tirc_value_bool(holds);
}

static Value end_of(int64_t end) {
  const bool open = end == TIRC_NEG_INF || end == TIRC_POS_INF;
  return open ? VALUE_NONE : tirc_value_int(end);
}

/* limits(e, given): (least, greatest, step, first); e is first + step k for an integer k */
Value tirc_script_run_limits(Script *sc, Value self, const Args *a) {
  (void)self;
  const Expr e = tirc_script_expr(sc, a->at[0]);
  if (!tirc_dtype_is_int(e->dtype))
    tirc_script_error(sc, "TypeError", NULL, "limits() takes an integer expression");
  Analyzer *known = analyzer_given(sc, e, given_of(a));
  const Bound b = tirc_const_bound(known, e);
  const Modular m = tirc_modular(known, e);
  const Value out[] = {end_of(b.min), end_of(b.max), tirc_value_int(m.coeff),
                       tirc_value_int(m.base)};
  return tirc_value_list(sc->c, VAL_TUPLE, 4, out);
}

Value tirc_script_run_simplify(Script *sc, Value self, const Args *a) {
  (void)self;
  if (a->at[0].kind != VAL_EXPR) return a->at[0];
  const Expr e = a->at[0].u.expr;
  if (given_of(a).kind == VAL_NONE) return tirc_script_of_expr(simplify(sc, e));
  return tirc_script_of_expr(tirc_simplify(analyzer_given(sc, e, given_of(a)), e));
}
