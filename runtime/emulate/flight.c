/* Asynchronous copies. What one stores is not there before the thread that makes it has waited for
 * the copy's group, and for other threads not before a barrier behind that: until then no thread
 * may read it, or store something else. The values themselves are stored at once, since nobody can
 * see the difference. */
#include "code.h"

static void refuse(Emu *e, const Flight *f, const Store *s, int64_t unit, int thread,
                   const char *does) {
  const int elem = tirc_dtype_bytes(s->buffer->dtype);
  const bool open = f->group > e->committed[f->thread];
  e->thread = thread;
  tirc_emu_fail(e, CODE_RACE,
                open ? "put T.ptx_commit_group() after the copies, and T.ptx_wait_group(n) and a "
                       "barrier before their use"
                     : "wait until fewer groups are pending: use T.ptx_wait_group(n) with a "
                       "smaller n, and a barrier after it",
                "element %lld of the shared buffer \"%s\" is %s while a copy to it is pending: "
                "thread %s started the copy (%s), and %s",
                (long long)(unit * s->unit / elem), s->buffer->name, does,
                tirc_emu_thread(e, f->thread), tirc_emu_act(e, f->act),
                open ? "no group has it yet" : "has not waited for its group");
}

static const Flight *flight_to(const Emu *e, const Store *s, int64_t unit) {
  const Flight *found = NULL;
  for (int i = 0; i < e->flights.n; i++) {
    const Flight *f = &e->flights.at[i];
    if (f->store == s && unit >= f->unit && unit < f->unit + f->units) found = f;
  }
  return found;
}

void tirc_emu_check_flights(Emu *e, const Store *s, Values at, int units, const Threads *l,
                            const char *does) {
  for (int k = 0; k < (at.same ? 1 : l->n); k++)
    for (int u = 0; u < units; u++) {
      const int64_t unit = value_at(at, k).i * units + u;
      if (s->flying[unit]) refuse(e, flight_to(e, s, unit), s, unit, l->at[k], does);
    }
}

void tirc_emu_take_off(Emu *e, Store *s, const Act *a, Values at, int units, const Threads *l) {
  for (int k = 0; k < l->n; k++) {
    const int64_t unit = value_at(at, k).i * units;
    const uint16_t thread = l->at[k];
    vec_push(e->t, e->flights, ((Flight){s, a, unit, units, thread, e->committed[thread] + 1}));
    memset(s->flying + unit, 1, (size_t)units);
  }
}

void tirc_emu_commit(Emu *e, const Act *a, const Threads *l) {
  (void)a;
  for (int k = 0; k < l->n; k++) e->committed[l->at[k]]++;
}

/* It lands: from now on it is a store of the thread's. */
static void land(Emu *e, const Flight *f) {
  Cell at = {.i = f->unit / f->units};
  const uint16_t thread = f->thread;
  const Threads one = {.n = 1, .at = &thread};
  memset(f->store->flying + f->unit, 0, (size_t)f->units);
  e->doing = f->act;
  if (f->store->traces) tirc_emu_note_writes(e, f->store, (Values){&at, true}, f->units, &one);
}

void tirc_emu_wait(Emu *e, const Act *a, const Threads *l) {
  const int64_t n = tirc_emu_one(e, a->value, l, "the number of groups");
  bool *const waits = (bool *)take(e, e->threads / (int)sizeof(Cell) + 1);
  int kept = 0;
  memset(waits, 0, (size_t)e->threads);
  for (int k = 0; k < l->n; k++) waits[l->at[k]] = true;
  for (int i = 0; i < e->flights.n; i++) {
    const Flight f = e->flights.at[i];
    if (waits[f.thread] && f.group + n <= e->committed[f.thread])
      land(e, &f);
    else
      e->flights.at[kept++] = f;
  }
  e->flights.n = kept;
  e->doing = a;
  e->top = (Cell *)(void *)waits;
}
