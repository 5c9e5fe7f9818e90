#include "kept_schedule.h"

#include "ir/arith/equal.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"
#include "parser/program.h"

#include <stdlib.h>

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

/* Whoever watches rules is told by them. */
static bool can_keep(const tirc_module *from, const tirc_auto_options *rules,
                     const tirc_schedule_options *o) {
  return !from->lowered && !from->intrins && !from->m->n_graphs && from->m->n_funcs &&
         !rules->tried && !o->trace && !o->verify;
}

static const char *key_of(Tirc *c, const tirc_module *from, const tirc_auto_options *rules,
                          const tirc_schedule_options *o) {
  EntryKey k;
  Places p = {.c = c};
  const char *file = NULL;
  if (!tirc_key_begin(&k, c, "schedule", o->target)) return NULL;
  tirc_key_of_schedule(&k, o);
  tirc_key_of_rules(&k, rules);
  note_places(&p, from->m);
  for (int i = 0; i < p.at.n; i++) {
    const Loc *loc = &p.at.at[i];
    if (loc->file && (!file || strcmp(loc->file, file) != 0))
      tirc_text_addf(&k.text, "in %s\n", file = loc->file);
    tirc_text_addf(&k.text, "%d:%d ", loc->line, loc->column);
  }
  return tirc_key_end(&k, from->m);
}

typedef struct Work {
  const Module *scheduled;
  const tirc_module *from;
  const tirc_auto_options *rules;
  const tirc_schedule_options *options;
  const MakingNotes *notes;
  CodeCache cache;
  char *key; /* of the heap */
} Work;

/* --- keeping ---------------------------------------------------------------------------------- */

static const Module *functions_alone(Tirc *c, const Module *m) {
  Module *to = tirc_copy(c, m, 1);
  to->n_constants = 0;
  return to;
}

/* Whether what is read is what was written, with the names that callers see. */
static bool is_same(Tirc *c, const Module *a, const Module *b) {
  if (a->n_funcs != b->n_funcs) return false;
  for (int i = 0; i < a->n_funcs; i++)
    if (!tirc_same_names(c, a->funcs[i], b->funcs[i])) return false;
  return !tirc_module_difference(c, a, b);
}

static void keep(Tirc *c, void *self) {
  const Work *k = self;
  Text t = {.c = c};
  Places places = {.c = c}, of_read = {.c = c};
  const char *key = key_of(c, k->from, k->rules, k->options);
  if (!key || tirc_cache_sum(key) != k->notes->made_of) return;
  const Module *m = functions_alone(c, k->scheduled);
  const char *text = tirc_print_module(c, m, NULL);
  const Source source = {"<kept>", text, strlen(text)};
  const Module *read = tirc_parse_module(c, &source, 0, NULL);
  note_places(&places, m);
  note_places(&of_read, read);
  if (places.at.n != of_read.at.n || !is_same(c, m, read)) return;
  tirc_put_told(&t, k->notes);
  tirc_put_bytes(&t, text, source.length);
  put_places(&t, &places);
  tirc_cache_keep(&k->cache, key, t.at, t.n);
}

/* Where it cannot be kept, it was made all the same. */
void tirc_schedule_keep(Tirc *c, const Module *scheduled, const tirc_module *from,
                        const tirc_auto_options *rules, const MakingNotes *notes) {
  Work k = {.scheduled = scheduled,
            .from = from,
            .rules = rules,
            .options = &notes->given,
            .notes = notes,
            .cache = tirc_cache_open()};
  Trap trap;
  if (!*k.cache.folder || !notes->made_of) return;
  for (int i = 0; i < scheduled->n_funcs; i++)
    if (scheduled->funcs[i]->relayouts) return;
  if (!TIRC_TRY(c, trap)) {
    c->trap = trap.outer;
    return;
  }
  tirc_api_apart(c, keep, &k);
  TIRC_END(c, trap);
}

/* --- finding ---------------------------------------------------------------------------------- */

static void make_key(Tirc *apart, void *self) {
  Work *k = self;
  const char *key = key_of(apart, k->from, k->rules, k->options);
  if (key) k->key = tirc_api_copy(apart, key, strlen(key));
}

static const Module *take(Tirc *c, const Work *k, const Kept *kept) {
  EntryReading r = tirc_entry_reading(c, kept), told = r;
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    c->trap = trap.outer;
    tirc_tell_damaged(k->options, "schedule");
    return NULL;
  }
  tirc_tell_again(&r, NULL);
  const Source text = tirc_take_bytes(&r);
  Places places = take_places(&r);
  const Module *m = tirc_parse_module(c, &text, 0, NULL);
  if (m->n_funcs != k->from->m->n_funcs) tirc_entry_damaged(&r);
  tirc_context_depend(c, k->from->c);
  m = with_places(c, k->from->m, m, &places);
  TIRC_END(c, trap);
  tirc_tell_again(&told, k->options);
  return m;
}

const Module *tirc_schedule_find(Tirc *c, const tirc_module *from, const tirc_auto_options *rules,
                                 const tirc_schedule_options *options, uint64_t *made_of) {
  Work k = {.from = from, .rules = rules, .options = options, .cache = tirc_cache_open()};
  Trap trap;
  *made_of = 0;
  if (!*k.cache.folder || !can_keep(from, rules, options)) return NULL;
  if (!TIRC_TRY(c, trap)) { /* what cannot be read is said by whoever makes it */
    c->trap = trap.outer;
    return NULL;
  }
  tirc_api_apart(c, make_key, &k);
  TIRC_END(c, trap);
  if (k.key) *made_of = tirc_cache_sum(k.key);
  Kept kept = k.key ? tirc_cache_find(&k.cache, k.key) : (Kept){0};
  free(k.key);
  if (kept.was_damaged) tirc_tell_damaged(options, "schedule");
  const Module *found = kept.bytes ? take(c, &k, &kept) : NULL;
  free(kept.bytes);
  return found;
}
