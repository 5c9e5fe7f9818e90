#include "kept_schedule.h"

#include "ir/tree/visit.h"

/* --- where statements stand ------------------------------------------------------------------- */

/* Of a module: its functions and their statements, in the order of a walk. */
typedef struct Places {
  Tirc *c;
  VEC(Loc) at;
  int next; /* to be given out */
} Places;

static bool note_place(Visitor *v, Stmt s) {
  Places *p = v->self;
  vec_push(p->c, p->at, s->loc);
  return true;
}

static void note_places(Places *p, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++) {
    vec_push(p->c, p->at, m->funcs[i]->loc);
    tirc_visit_stmts(m->funcs[i]->body, note_place, p);
  }
}

static Loc next_place(Places *p) { return p->next < p->at.n ? p->at.at[p->next++] : (Loc){0}; }

/* Of a tree that was read just now, and belongs to nobody else. */
static bool give_place(Visitor *v, Stmt s) {
  const Loc loc = next_place(v->self);
  if (!tirc_is_empty(s)) ((struct StmtNode *)(uintptr_t)s)->loc = loc;
  return true;
}

static const Module *with_places(Tirc *c, const Module *like, const Module *m, Places *p) {
  Module *to = tirc_copy(c, like, 1);
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs);
  for (int i = 0; i < m->n_funcs; i++) {
    Func *f = tirc_copy(c, m->funcs[i], 1);
    f->loc = next_place(p);
    tirc_visit_stmts(f->body, give_place, p);
    funcs[i] = f;
  }
  to->c = c;
  to->funcs = funcs;
  return to;
}

static void put_places(Text *t, const Places *p) {
  const char *file = NULL;
  tirc_put_number(t, p->at.n);
  for (int i = 0; i < p->at.n; i++) {
    const Loc loc = p->at.at[i];
    const bool is_other = loc.file && (!file || strcmp(loc.file, file) != 0);
    if (is_other) file = loc.file;
    tirc_put_number(t, is_other ? -1 : !!loc.file);
    if (is_other) tirc_put_text(t, file);
    tirc_put_number(t, loc.line);
    tirc_put_number(t, loc.column);
  }
}

static Places take_places(EntryReading *r) {
  Places p = {.c = r->c};
  const char *file = NULL;
  for (int64_t n = tirc_take_number(r); n > 0; n--) {
    const int64_t kind = tirc_take_number(r);
    if (kind < 0) file = tirc_take_text(r);
    const int line = (int)tirc_take_number(r), column = (int)tirc_take_number(r);
    vec_push(p.c, p.at, ((Loc){kind ? file : NULL, line, column}));
  }
  return p;
}

/* --- keys ------------------------------------------------------------------------------------- */

typedef struct Work {
  const tirc_module *from;
  const tirc_auto_options *rules;
  const tirc_schedule_options *options;
  const Module *scheduled; /* to be kept, or found */
} Work;

/* Whoever watches rules is told by them. */
static bool can_keep(const Work *k) {
  const tirc_schedule_options *o = k->options;
  return !k->from->lowered && !k->from->intrins && !k->from->m->n_graphs && k->from->m->n_funcs &&
         !k->rules->tried && !o->trace && !o->verify;
}

static const char *key_of(Tirc *c, const void *self) {
  const Work *w = self;
  EntryKey k;
  Places p = {.c = c};
  const char *file = NULL;
  if (!tirc_key_begin(&k, c, "schedule", w->options->target)) return NULL;
  tirc_key_of_schedule(&k, w->options);
  tirc_key_of_rules(&k, w->rules);
  note_places(&p, w->from->m);
  for (int i = 0; i < p.at.n; i++) {
    const Loc *loc = &p.at.at[i];
    if (loc->file && (!file || strcmp(loc->file, file) != 0))
      tirc_text_addf(&k.text, "in %s\n", file = loc->file);
    tirc_text_addf(&k.text, "%d:%d ", loc->line, loc->column);
  }
  return tirc_key_end(&k, w->from->m);
}

/* --- entries ---------------------------------------------------------------------------------- */

static bool put_schedule(Text *t, const void *self) {
  Places places = {.c = t->c}, of_read = {.c = t->c};
  const Module *back;
  Module *functions_alone = tirc_copy(t->c, ((const Work *)self)->scheduled, 1);
  functions_alone->n_constants = 0;
  if (!tirc_put_module(t, functions_alone, &back)) return false;
  note_places(&places, functions_alone);
  note_places(&of_read, back);
  put_places(t, &places);
  return places.at.n == of_read.at.n;
}

static void take_schedule(EntryReading *r, void *self) {
  Work *k = self;
  const Module *m = tirc_take_module(r);
  Places places = take_places(r);
  if (m->n_funcs != k->from->m->n_funcs) tirc_entry_damaged(r);
  tirc_context_depend(r->c, k->from->c);
  k->scheduled = with_places(r->c, k->from->m, m, &places);
}

static const EntryKind schedules = {"schedule", key_of, put_schedule, take_schedule};

void tirc_schedule_keep(Tirc *c, const Module *scheduled, const tirc_module *from,
                        const tirc_auto_options *rules, const MakingNotes *notes) {
  const Work k = {from, rules, &notes->given, scheduled};
  if (!notes->made_of) return;
  for (int i = 0; i < scheduled->n_funcs; i++)
    if (scheduled->funcs[i]->relayouts) return;
  tirc_entry_keep(c, &schedules, &k, notes);
}

const Module *tirc_schedule_find(Tirc *c, const tirc_module *from, const tirc_auto_options *rules,
                                 const tirc_schedule_options *options, uint64_t *made_of) {
  Work k = {from, rules, options, NULL};
  *made_of = 0;
  return can_keep(&k) && tirc_entry_find(c, &schedules, &k, options, made_of) ? k.scheduled : NULL;
}
