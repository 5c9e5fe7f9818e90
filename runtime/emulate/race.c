/* Races. Each unit of memory that two threads may meet in remembers, with the time, who wrote it
 * last and up to two threads that have read it since the block's last barrier; that is enough to
 * see every race in a launch whose accesses are these, in whatever order they come: an access is in
 * a race if the other one has no barrier behind it, and of readers it only matters whether there is
 * one besides the writer.
 *
 * Times are the number of barriers passed, over all launches. Blocks run one after the other, so a
 * time also tells the block; none of them is before another of the same launch. */
#include "code.h"

#include "ir/tree/print.h"

/* --- words ------------------------------------------------------------------------------------ */

static const char *three(Emu *e, const char *axis, const int64_t *extent, int64_t flat) {
  Text text = {.c = e->t};
  for (int d = 0; d < 3; d++) {
    if (extent[d] > 1 || (d == 0 && extent[1] <= 1 && extent[2] <= 1))
      tirc_text_addf(&text, "%s%s.%c = %lld", text.at ? ", " : "(", axis, 'x' + d,
                     (long long)(flat % extent[d]));
    flat /= extent[d];
  }
  tirc_text_add(&text, ")");
  return text.at;
}
const char *tirc_emu_thread(Emu *e, int thread) { return three(e, "threadIdx", e->block, thread); }
const char *tirc_emu_block(Emu *e, int64_t block) { return three(e, "blockIdx", e->grid, block); }

const char *tirc_emu_act(Emu *e, const Act *a) {
  if (!a) return "somewhere";
  const Loc loc = a->stmt->loc;
  const char *text = tirc_print_stmt(e->t, a->stmt, DIALECT_TIR);
  while (*text == ' ') text++;
  const size_t n = strcspn(text, "\n");
  const char *shown = n > 90 ? tirc_format(e->t, "%.87s...", text) : tirc_strndup(e->t, text, n);
  if (loc.line) return tirc_format(e->t, "line %d, `%s`", loc.line, shown);
  return tirc_format(e->t, "`%s`", shown);
}

static Loc place_of(const Act *a) {
  for (; a; a = a->parent)
    if (a->stmt->loc.line) return a->stmt->loc;
  return (Loc){0};
}

/* "at k = 3": the loops around what runs, as the thread sees them. */
static const char *loop_values(Emu *e) {
  Text text = {.c = e->t};
  const Act *loops[12];
  int n = 0;
  for (const Act *a = e->doing; a && n < 12; a = a->parent)
    if (a->stmt->kind == STMT_FOR && a->stmt->u.loop.kind != LOOP_THREAD_BINDING) loops[n++] = a;
  while (n > 0) {
    const Act *a = loops[--n];
    const Var *v = a->var;
    if (a == e->doing || (!v->same && e->thread < 0)) continue;
    tirc_text_addf(&text, "%s%s = %lld", text.at ? ", " : ", at ", a->stmt->u.loop.var->u.s,
                   (long long)(v->same ? v->one[0].i : v->each[e->thread].i));
  }
  return text.at ? text.at : "";
}

static const BlockStart *block_at(const Emu *e, uint32_t time) {
  int low = 0, high = e->starts.n - 1;
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (e->starts.at[middle].time <= time)
      low = middle;
    else
      high = middle - 1;
  }
  return &e->starts.at[low];
}

void tirc_emu_fail(Emu *e, DiagCode code, const char *hint, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *what = tirc_vformat(e->t, format, args);
  va_end(args);
  const char *who = "";
  if (e->thread >= 0) who = tirc_format(e->t, " in thread %s", tirc_emu_thread(e, e->thread));
  if (e->starts.n)
    who = tirc_format(e->t, "%s%s of block %s", who, e->thread >= 0 ? "" : " in a thread",
                      tirc_emu_block(e, e->starts.at[e->starts.n - 1].block));
  e->told = true;
  tirc_fail(e->t, place_of(e->doing), code, hint, "%s%s, in kernel \"%s\"%s", what, who,
            e->kernel->name, loop_values(e));
}

/* --- two that meet ---------------------------------------------------------------------------- */

typedef struct Meeting {
  const Store *store;
  int64_t unit;
  int thread;
  bool writes;
  uint32_t when; /* of the other one */
  int other;
  uint16_t act;
  bool other_writes;
} Meeting;

_Noreturn static void race(Emu *e, const Meeting *m) {
  const Store *s = m->store;
  const int elem = tirc_dtype_bytes(s->buffer->dtype);
  const int64_t here = e->starts.at[e->starts.n - 1].block, there = block_at(e, m->when)->block;
  const char *other = tirc_emu_thread(e, m->other), *own = tirc_emu_thread(e, m->thread);
  const char *order = "no barrier between them";
  if (here != there) {
    other = tirc_format(e->t, "%s of block %s", other, tirc_emu_block(e, there));
    own = tirc_format(e->t, "%s of block %s", own, tirc_emu_block(e, here));
    order = "no order exists between two blocks";
  }
  e->told = true;
  const Act *act = m->act < e->acts.n ? e->acts.at[m->act] : NULL;
  tirc_fail(e->t, place_of(e->doing), CODE_RACE,
            here != there ? "let each block use its own elements, or launch two kernels"
                          : "put T.tvm_storage_sync(\"shared\") between them, or let only one "
                            "thread do it",
            "race for element %lld of the %s buffer \"%s\": thread %s %s it (%s), and thread %s %s "
            "it (%s); %s%s%s, in kernel \"%s\"%s",
            (long long)(m->unit * s->unit / elem), s->place == SHARED ? "shared" : "global",
            s->buffer->name, other, m->other_writes ? "writes" : "reads", tirc_emu_act(e, act), own,
            m->writes ? "writes" : "reads", tirc_emu_act(e, e->doing), order,
            here != there ? "" : ", in block ", here != there ? "" : tirc_emu_block(e, here),
            e->kernel->name, loop_values(e));
}

/* From when on an access may be one that is not ordered. */
static uint32_t oldest(const Emu *e, const Store *s) {
  return s->place == SHARED ? e->block_start : e->launch_start;
}

/* Whether what `other` did then has nothing between it and what `thread` does now. */
static bool is_unordered(const Emu *e, uint32_t when, int other, int thread) {
  if (when < e->block_start) return true; /* of another block */
  if (other == thread) return false;
  if (other / WARP == thread / WARP) return when >= e->warp_time[thread / WARP];
  return when >= e->barrier;
}

/* A third reader takes the place of one that says less: of another time of its warp, or of the
 * second of one warp. */
static void note_third(Trace *t, uint16_t thread, uint32_t now, uint16_t act) {
  const int warp = thread / WARP;
  const bool old_read = t->reader / WARP == warp && t->read < now;
  const bool old_also = t->other / WARP == warp && t->also < now;
  if (old_read)
    t->read = now, t->reader = thread, t->read_act = act;
  else if (old_also || (t->reader / WARP == t->other / WARP && t->other / WARP != warp))
    t->also = now, t->other = thread, t->other_act = act;
}

/* Of two threads that have updated it, the one that the last is not. */
static inline void check_other_update(Emu *e, const Store *s, int64_t unit, uint16_t thread,
                                      uint32_t from, bool writes) {
  const Trace *t = &s->traces[unit];
  if (t->atomic && t->updater != NOBODY && t->updated >= from &&
      is_unordered(e, t->updated, t->updater, thread))
    race(e, &(Meeting){s, unit, thread, writes, t->updated, t->updater, t->update_act, true});
}

static void note_read(Emu *e, const Store *s, int64_t unit, uint16_t thread, uint32_t from) {
  Trace *t = &s->traces[unit];
  const uint16_t act = e->doing->number;
  const uint32_t now = e->warp_time[thread / WARP];
  if (t->wrote >= from && is_unordered(e, t->wrote, t->writer, thread))
    race(e, &(Meeting){s, unit, thread, false, t->wrote, t->writer, t->write_act, true});
  check_other_update(e, s, unit, thread, from, false);
  if (t->first < from) t->first = now, t->first_reader = thread, t->first_act = act;
  if (t->read < e->barrier) {
    t->read = now, t->reader = thread, t->read_act = act;
    t->other = NOBODY;
  } else if (t->reader == thread) {
    t->read = now;
  } else if (t->other == NOBODY || t->other == thread) {
    t->also = now, t->other = thread, t->other_act = act;
  } else {
    note_third(t, thread, now, act);
  }
}

static inline void check_readers(Emu *e, const Store *s, int64_t unit, uint16_t thread,
                                 uint32_t from) {
  const Trace *t = &s->traces[unit];
  if (t->first >= from && t->first < e->block_start)
    race(e, &(Meeting){s, unit, thread, true, t->first, t->first_reader, t->first_act, false});
  if (t->read >= e->barrier) {
    if (is_unordered(e, t->read, t->reader, thread))
      race(e, &(Meeting){s, unit, thread, true, t->read, t->reader, t->read_act, false});
    if (t->other != NOBODY && is_unordered(e, t->also, t->other, thread))
      race(e, &(Meeting){s, unit, thread, true, t->also, t->other, t->other_act, false});
  }
}

static inline void note_write(Emu *e, const Store *s, int64_t unit, uint16_t thread,
                              uint32_t from) {
  Trace *t = &s->traces[unit];
  if (t->wrote >= from && is_unordered(e, t->wrote, t->writer, thread))
    race(e, &(Meeting){s, unit, thread, true, t->wrote, t->writer, t->write_act, true});
  check_other_update(e, s, unit, thread, from, true);
  check_readers(e, s, unit, thread, from);
  t->wrote = e->warp_time[thread / WARP];
  t->writer = thread;
  t->write_act = e->doing->number;
  t->atomic = false;
}

/* Updates do not race with each other, but with all else. */
static void note_update(Emu *e, const Store *s, int64_t unit, uint16_t thread, uint32_t from) {
  Trace *t = &s->traces[unit];
  const bool recent = t->wrote >= from;
  if (recent && !t->atomic && is_unordered(e, t->wrote, t->writer, thread))
    race(e, &(Meeting){s, unit, thread, true, t->wrote, t->writer, t->write_act, true});
  check_readers(e, s, unit, thread, from);
  const bool known = t->atomic && t->updater != NOBODY && t->updated >= from;
  const bool foreign = known && t->updated < e->block_start;
  if (!recent || !t->atomic) {
    t->updater = NOBODY;
  } else if (!foreign && (t->writer != thread || t->wrote < e->block_start)) {
    t->updated = t->wrote;
    t->updater = t->writer;
    t->update_act = t->write_act;
  }
  t->atomic = true;
  t->wrote = e->warp_time[thread / WARP];
  t->writer = thread;
  t->write_act = e->doing->number;
}

void tirc_emu_note_reads(Emu *e, const Store *s, Values at, int units, const Threads *l) {
  const uint32_t from = oldest(e, s), barrier = e->barrier, block_start = e->block_start;
  const bool by_warps = e->syncs_warps;
  /* Of many that read one element, the first and the last are as good as all: there is one besides
   * any writer, and the two are of different warps if any are. */
  const int step = at.same && !e->syncs_warps && l->n > 2 ? l->n - 1 : 1;
  const uint16_t *const last = l->last ? l->last : l->at;
  for (int k = 0; k < l->n; k += step)
    for (int u = 0; u < units; u++) {
      const int64_t unit = value_at(at, k).i * units + u;
      const Trace *t = &s->traces[unit];
      /* a barrier is behind what was written, and there are readers enough: most often */
      const bool ordered =
          !t->atomic && t->wrote < barrier && (t->wrote >= block_start || t->wrote < from);
      const bool known = t->read >= barrier &&
                         (t->other != NOBODY || (t->reader == l->at[k] && t->reader == last[k]));
      if (ordered && known && !by_warps) continue;
      note_read(e, s, unit, l->at[k], from);
      if (last[k] != l->at[k]) note_read(e, s, unit, last[k], from);
    }
}
void tirc_emu_note_writes(Emu *e, const Store *s, Values at, int units, const Threads *l) {
  const uint32_t from = oldest(e, s);
  for (int k = 0; k < l->n; k++)
    for (int u = 0; u < units; u++) note_write(e, s, value_at(at, k).i * units + u, l->at[k], from);
}
void tirc_emu_note_updates(Emu *e, const Store *s, Values at, int units, const Threads *l) {
  const uint32_t from = oldest(e, s);
  for (int k = 0; k < l->n; k++)
    for (int u = 0; u < units; u++)
      note_update(e, s, value_at(at, k).i * units + u, l->at[k], from);
}

/* --- time ------------------------------------------------------------------------------------- */

void tirc_emu_pass_barrier(Emu *e) {
  if (e->time > UINT32_MAX - 2)
    tirc_fail(e->t, (Loc){0}, CODE_LIMIT, "run fewer --blocks", "the launch has too many barriers");
  e->barrier = ++e->time;
  e->epoch->stamp = ++e->clock;
  for (int i = 0; i <= (e->threads - 1) / WARP; i++) e->warp_time[i] = e->time;
}
