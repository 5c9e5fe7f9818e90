/* Calls a lane. A vectorized loop promises that its lanes go together; a function that the code has
 * no vectors of is called for each lane, which costs more than the same call in a plain loop. */
#include "call_notes.h"

#include "ir/tree/print.h"
#include "ir/tree/visit.h"
#include "passes/lower/lower.h"

#include <string.h>

typedef struct Told {
  const char *function;
  DType type;
  Buffer buffer; /* NULL: of no store */
} Told;

typedef struct Notes {
  Tirc *c;
  void (*tell)(void *self, Warning w);
  void *self;
  Stmt stmt; /* the one being looked at */
  VEC(Told) told;
} Notes;

static bool is_told(const Notes *k, const Told *t) {
  for (int i = 0; i < k->told.n; i++) {
    const Told *o = &k->told.at[i];
    if (strcmp(o->function, t->function) == 0 && tirc_dtype_equal(o->type, t->type) &&
        o->buffer == t->buffer)
      return true;
  }
  return false;
}

static bool look_expr(Visitor *v, Expr e) {
  Notes *k = v->self;
  const char *function = tirc_llvm_lane_call(e);
  if (!function) return true;
  const bool is_store = k->stmt && k->stmt->kind == STMT_STORE;
  const Told t = {function, tirc_dtype_lanes(e->dtype, 1),
                  is_store ? k->stmt->u.store.buffer : NULL};
  if (is_told(k, &t)) return true;
  vec_push(k->c, k->told, t);
  const char *message = tirc_format(
      k->c, "%s of %s is called for each of %d lanes%s%s%s: a plain loop would do as well",
      function, tirc_dtype_name(k->c, t.type), e->dtype.lanes,
      is_store ? " of what goes to \"" : "", is_store ? t.buffer->name : "", is_store ? "\"" : "");
  k->tell(k->self,
          (Warning){.code = CODE_CALL_A_LANE, .loc = tirc_place_of(k->stmt), .message = message});
  return true;
}

static bool look_stmt(Visitor *v, Stmt s) {
  ((Notes *)v->self)->stmt = s;
  return true;
}

void tirc_call_notes(Tirc *c, const Module *lowered, void (*tell)(void *self, Warning w),
                     void *self) {
  Notes k = {.c = c, .tell = tell, .self = self};
  Visitor v = {.expr = look_expr, .stmt = look_stmt, .self = &k};
  for (int i = 0; i < lowered->n_funcs; i++) {
    k.told.n = 0;
    tirc_visit_stmt(&v, lowered->funcs[i]->body);
  }
}

/* --- statements lane by lane ------------------------------------------------------------------ */

static void note_serial(void *self, Stmt s, int lanes) {
  Notes *k = self;
  const bool is_store = s->kind == STMT_STORE;
  const Told t = {.function = "", .buffer = is_store ? s->u.store.buffer : NULL};
  if (is_told(k, &t)) return;
  vec_push(k->c, k->told, t);
  const char *message =
      tirc_format(k->c,
                  "%d lanes of %s%s%s run one after the other: it has no vector form, a plain loop "
                  "would do as well",
                  lanes, is_store ? "what goes to \"" : "a vectorized loop",
                  is_store ? t.buffer->name : "", is_store ? "\"" : "");
  k->tell(k->self,
          (Warning){.code = CODE_SERIAL_LANES, .loc = tirc_place_of(s), .message = message});
}

void tirc_serial_notes(Tirc *c, const Module *m, void (*tell)(void *self, Warning w), void *self) {
  Notes k = {.c = c, .tell = tell, .self = self};
  for (int i = 0; i < m->n_funcs; i++) {
    k.told.n = 0;
    tirc_hear_of_serial_lanes(c, m->funcs[i], &(SerialLanes){note_serial, &k});
  }
}
