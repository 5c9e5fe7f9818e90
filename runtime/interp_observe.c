/* What an observer of a run is told. */
#include "interp_code.h"

enum { MOST_LOOPS = 64 };

const char tirc_run_ended[] = "ended";

void tirc_observe_access(Run *run, const View *v, int64_t at, bool is_write) {
  Memory *m = v->memory;
  const InterpObserver *o = run->observer;
  if (!m->number) {
    m->number = ++run->arrays;
    if (o->array) o->array(o->self, m->number - 1, m->owner->buffer, m->owner->shape);
  }
  int64_t element = v == m->owner ? at : at * v->elem / m->owner->elem;
  if (o->access && !o->access(o->self, m->number - 1, element, is_write))
    tirc_fail(run->t, (Loc){0}, tirc_run_ended, NULL, "the observer ended the run");
}

/* Blocks without a name are made by lowering, to hold buffers; nothing is computed in them. */
void tirc_observe_block(Run *run, const Step *s) {
  if (!run->observer->block || !*s->stmt->u.block.name) return;
  Stmt loops[MOST_LOOPS];
  int64_t values[MOST_LOOPS];
  int n = 0;
  for (const Step *p = s->parent; p && n < MOST_LOOPS; p = p->parent)
    n += p->stmt->kind == STMT_FOR;
  int i = n;
  for (const Step *p = s->parent; p && i > 0; p = p->parent) {
    if (p->stmt->kind != STMT_FOR) continue;
    loops[--i] = p->stmt;
    values[i] = p->u.loop.cell->i;
  }
  run->observer->block(run->observer->self, &s->stmt->u.block, n, loops, values);
}
