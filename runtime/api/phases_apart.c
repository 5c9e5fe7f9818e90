/* A phase leaves behind ten times the module that it makes. So each has a context of its own, and
 * more where its passes leave much, which goes when the module has been copied into the next one:
 * what a model needs while it is made is its largest pass, and not all of them. */
#include "phases_apart.h"

#include "ir/tree/copy.h"

enum { ENOUGH = 1 << 24 }; /* bytes that are worth a copy, behind which calls are inferred anew */

typedef struct OnePhase {
  const PhasesApart *p;
  const Module *given;   /* to the first phase */
  int number, next;      /* the phase, and the pass that it goes on with; 0: from its begin */
  Tirc *volatile to;     /* of the phase: read when that unwinds */
  const Module *made[2]; /* the module, and as it was unscheduled; in `to` afterwards */
} OnePhase;

static void run_one(Tirc *apart, void *self) {
  OnePhase *k = self;
  PipelineOptions options = k->p->options;
  options.unscheduled = k->made[1];
  Passes *passes = tirc_passes_open(apart, &options);
  const size_t enough = k->number < k->p->last ? ENOUGH : 0;
  k->made[0] = tirc_run_phase(passes, k->made[0], k->number, enough, &k->next);
  k->made[1] = tirc_unscheduled(passes);
  tirc_modules_copy(k->to, apart, k->given, 2, k->made);
}

static Tirc *new_context(Tirc *like) {
  Tirc *c = tirc_context_new();
  if (!c) tirc_fail(like, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  c->max_bytes = like->max_bytes;
  return c;
}

void tirc_run_phases_apart(Tirc *c, const Module *m, PhasesApart *p) {
  OnePhase k = {.p = p, .given = m, .made = {m}};
  Tirc *volatile between = NULL; /* has the module that the next phase gets */
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    tirc_context_release(k.to == c ? NULL : k.to);
    tirc_context_release(between);
    tirc_throw(c);
  }
  for (; k.number <= p->last; k.number += k.next == 0) {
    k.to = k.number < p->last ? new_context(c) : c;
    tirc_api_apart(c, run_one, &k);
    tirc_context_release(between);
    between = k.to == c ? NULL : k.to;
    k.to = NULL;
  }
  TIRC_END(c, trap);
  p->made = k.made[0];
  p->unscheduled = k.made[1];
}
