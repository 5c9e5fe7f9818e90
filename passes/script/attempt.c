/* Trying something on a schedule that may have to be undone: what rules are made of. */
#include "interp.h"

typedef struct Gathered { /* warnings of calls that may yet be undone */
  Tirc *c;
  VEC(Warning) list;
} Gathered;

static void gather(void *self, Warning w) {
  Gathered *g = self;
  vec_push(g->c, g->list, w);
}

/* The schedule that a call is about: that of a primitive, or an argument; a rule may go on with a
 * copy. */
static Sched *meant(const Script *sc, Value function, const Args *a) {
  if (tirc_script_is(function, "primitive")) return ((BoundPrimitive *)function.u.object)->s;
  for (int i = 0; i < a->n; i++)
    if (tirc_script_is(a->at[i], "Schedule")) return a->at[i].u.object;
  return sc->sched;
}

bool tirc_script_attempt(Script *sc, Value function, const Args *a, Value *answer) {
  Tirc *c = sc->c;
  Sched *s = meant(sc, function, a);
  Gathered g = {.c = c};
  const int calls = sc->calls, nesting = sc->nesting;
  const Exception *const handling = sc->handling;
  const Loc loc = sc->loc;
  const KeptSched kept = tirc_sched_keep(s);
  s->warn = gather;
  s->warn_self = &g;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    *answer = tirc_script_call(sc, function, a);
    TIRC_END(c, trap);
    s->warn = kept.was.warn;
    s->warn_self = kept.was.warn_self;
    if (answer->kind == VAL_BOOL && !answer->u.b) {
      const char *const reason = s->reason;
      tirc_sched_return_to(s, &kept);
      s->reason = reason; /* why it declines */
      return true;
    }
    for (int i = 0; s->warn && i < g.list.n; i++) s->warn(s->warn_self, g.list.at[i]);
    return true;
  }
  const Diag diag = c->diag;
  tirc_sched_return_to(s, &kept);
  c->diag = diag;
  if (!tirc_script_catchable(&diag)) tirc_throw(c);
  sc->calls = calls;
  sc->nesting = nesting;
  sc->handling = handling;
  sc->loc = loc;
  return false;
}

const char *tirc_script_raised(Tirc *c) {
  const Diag *d = &c->diag;
  if (!d->loc.file) return tirc_format(c, "%s [%s]", d->message, tirc_codes[d->code].text);
  return tirc_format(c, "%s:%d: %s [%s]", d->loc.file, d->loc.line, d->message,
                     tirc_codes[d->code].text);
}

/* attempt(f, *args): whether f(*args) did not return False or raise; otherwise what it did is
 * undone. */
Value tirc_script_run_attempt(Script *sc, Value self, const Args *a) {
  (void)self;
  Value answer;
  const Args args = {.n = a->n - 1,
                     .at = a->at + 1,
                     .n_keywords = a->n_keywords,
                     .names = a->names,
                     .keywords = a->keywords};
  Sched *s = meant(sc, a->at[0], &args);
  const char *const reason = s->reason;
  const bool returned = tirc_script_attempt(sc, a->at[0], &args, &answer);
  const bool done = returned && (answer.kind != VAL_BOOL || answer.u.b);
  if (!done) s->reason = reason;
  return tirc_value_bool(done);
}
