/* What an observer of a run is told. */
#include "code.h"

enum { MOST_LOOPS = 64 };

void tirc_observe_access(Run *run, const View *v, int64_t at, bool is_write) {
  Memory *m = v->memory;
  const InterpObserver *o = run->observer;
  if (!m->number) {
    m->number = ++run->arrays;
    if (o->array) o->array(o->self, m->number - 1, m->owner->buffer, m->owner->shape);
  }
  int64_t element = v == m->owner ? at : at * v->elem / m->owner->elem;
  if (o->access && !o->access(o->self, m->number - 1, element, is_write))
    tirc_fail(run->t, (Loc){0}, CODE_ENDED, NULL, "the observer ended the run");
}

typedef struct Loops {
  int n;
  Stmt at[MOST_LOOPS];
  int64_t values[MOST_LOOPS];
} Loops;

/* Of the statement and around it, outermost first. */
static void loops_from(const Step *s, Loops *out) {
  out->n = 0;
  for (const Step *p = s; p && out->n < MOST_LOOPS; p = p->parent)
    out->n += p->stmt->kind == STMT_FOR;
  int i = out->n;
  for (const Step *p = s; p && i > 0; p = p->parent) {
    if (p->stmt->kind != STMT_FOR) continue;
    out->at[--i] = p->stmt;
    out->values[i] = p->u.loop.cell->i;
  }
}

/* Blocks without a name are made by lowering, to hold buffers; nothing is computed in them. */
void tirc_observe_block(Run *run, const Step *s) {
  if (!run->observer->block || !*s->stmt->u.block.name) return;
  Loops loops;
  loops_from(s->parent, &loops);
  run->observer->block(run->observer->self, &s->stmt->u.block, loops.n, loops.at, loops.values);
}

void tirc_observe_place(Run *run, const Step *s) {
  if (!run->observer->place) return;
  Loops loops;
  loops_from(s, &loops);
  run->observer->place(run->observer->self, loops.n, loops.at, loops.values);
}
