#include "kept_entry.h"

#include "codegen/llvm/key.h"
#include "codegen/llvm/llvm.h"
#include "ir/arith/equal.h"
#include "ir/number.h"
#include "ir/tree/print.h"
#include "ir/tree/symbols.h"
#include "parser/program.h"
#include "passes/script/calibration.h"

#include <stdlib.h>

/* --- keys ------------------------------------------------------------------------------------- */

void tirc_key_list(Text *t, const char *name, int n, const char *const *at) {
  for (int i = 0; i < n; i++) tirc_text_addf(t, "%s %s\n", name, at[i]);
}

/* A table that is not used is told of each time: why is a part of the key, too. */
static void add_target(EntryKey *k, const char *what, const char *target) {
  target = tirc_cpu_or_default(target);
  tirc_text_addf(&k->text, "%s for %s\n", what, target);
  if (strcmp(target, "native") != 0) return;
  const Cpu *cpu = tirc_llvm_cpu(k->text.c, target);
  tirc_text_addf(&k->text, "%s %s, %d, %d and %d KiB, %d cores\n", cpu->name, cpu->features,
                 cpu->l1_kib, cpu->l2_kib, cpu->l3_kib, cpu->cores);
  const Calibration table = tirc_calibration_find(k->text.c, cpu);
  if (table.problem)
    tirc_text_addf(&k->text, "%s\n", table.problem);
  else
    tirc_script_reads(&k->reads, table.file);
}

bool tirc_key_begin(EntryKey *k, Tirc *c, const char *what, const char *target) {
  const char *machine = tirc_key_of_machine(c);
  *k = (EntryKey){.text = {.c = c}, .reads = {.c = c, .text = {.c = c}}};
  if (!machine) return false;
  tirc_text_add(&k->text, machine);
  add_target(k, what, target);
  return true;
}

void tirc_key_of_schedule(EntryKey *k, const tirc_schedule_options *o) {
  if (o)
    tirc_text_addf(&k->text, "steps %lld strict %d target %s\n", (long long)o->max_steps, o->strict,
                   o->target ? o->target : "-");
}

void tirc_key_of_rules(EntryKey *k, const tirc_auto_options *o) {
  if (!o || !o->rules) return;
  tirc_key_list(&k->text, "rules", 1, &o->rules);
  tirc_script_reads(&k->reads, o->rules);
}

const char *tirc_key_end(EntryKey *k, const Module *m) {
  Tirc *c = k->text.c;
  for (int i = 0; i < m->n_constants; i++)
    tirc_text_addf(&k->text, "%s = %s\n", m->constants[i].name,
                   tirc_print_expr(c, m->constants[i].value));
  const Text *read = &k->reads.text;
  if (read->n) tirc_text_add(&k->text, read->at);
  tirc_text_add(&k->text, tirc_print_module_bits(c, m));
  /* a key is a text: what stands behind a NUL would be no part of it */
  const bool is_text = !read->n || strlen(read->at) == read->n;
  return k->reads.is_open || !is_text ? NULL : k->text.at;
}

/* --- numbers and texts ------------------------------------------------------------------------ */

void tirc_put_number(Text *t, int64_t n) { tirc_text_addn(t, (const char *)&n, sizeof n); }

/* All lie at multiples of 8, where object files are read. */
static size_t filled_up(size_t n) { return (n + 7) / 8 * 8; }

void tirc_put_bytes(Text *t, const char *s, size_t n) {
  static const char zeros[8];
  tirc_put_number(t, (int64_t)n);
  if (n) tirc_text_addn(t, s, n);
  if (n % 8) tirc_text_addn(t, zeros, filled_up(n) - n);
}

void tirc_put_text(Text *t, const char *s) {
  tirc_put_number(t, s != NULL);
  if (s) tirc_put_bytes(t, s, strlen(s));
}

EntryReading tirc_entry_reading(Tirc *c, const Kept *kept) {
  return (EntryReading){c, kept->object, kept->object + kept->n};
}

_Noreturn void tirc_entry_damaged(const EntryReading *r) {
  tirc_fail(r->c, (Loc){0}, CODE_FILE, NULL, "it is not whole");
}

int64_t tirc_take_number(EntryReading *r) {
  int64_t n;
  if ((size_t)(r->end - r->at) < sizeof n) tirc_entry_damaged(r);
  memcpy(&n, r->at, sizeof n);
  r->at += sizeof n;
  return n;
}

Source tirc_take_bytes(EntryReading *r) {
  const int64_t n = tirc_take_number(r), left = r->end - r->at;
  if (n < 0 || n > left || (int64_t)filled_up((size_t)n) > left) tirc_entry_damaged(r);
  const Source s = {"<kept>", r->at, (size_t)n};
  r->at += filled_up((size_t)n);
  return s;
}

const char *tirc_take_text(EntryReading *r) {
  if (!tirc_take_number(r)) return NULL;
  const Source s = tirc_take_bytes(r);
  return tirc_strndup(r->c, s.text, s.length);
}

/* --- modules ---------------------------------------------------------------------------------- */

/* Of several parameters of one name, as two weights that are prepared alike, text has other names
 * for all but the first, and a name finds the first one. */
static bool has_name_of_other(const Func *f, int param) {
  for (int i = 0; i < param; i++)
    if (f->buffers[i] && strcmp(f->buffers[i]->name, f->buffers[param]->name) == 0) return true;
  return false;
}

bool tirc_same_names(Tirc *c, const Func *a, const Func *b) {
  Expr *x, *y;
  const int n = tirc_symbolic_params(c, a, &x), m = tirc_symbolic_params(c, b, &y);
  if (n != m || a->n_params != b->n_params || strcmp(a->name, b->name) != 0) return false;
  for (int i = 0; i < n; i++)
    if (strcmp(x[i]->u.s, y[i]->u.s) != 0 || !tirc_dtype_equal(x[i]->dtype, y[i]->dtype))
      return false;
  for (int i = 0; i < a->n_params; i++)
    if (!a->buffers[i] != !b->buffers[i] || (a->buffers[i] && !has_name_of_other(a, i) &&
                                             strcmp(a->buffers[i]->name, b->buffers[i]->name) != 0))
      return false;
  return true;
}

static bool is_same(Tirc *c, const Module *a, const Module *b) {
  if (a->n_funcs != b->n_funcs || a->n_graphs != b->n_graphs) return false;
  for (int i = 0; i < a->n_funcs; i++)
    if (!tirc_same_names(c, a->funcs[i], b->funcs[i])) return false;
  return !tirc_module_difference(c, a, b);
}

bool tirc_put_module(Text *t, const Module *m, const Module **back) {
  const char *text = tirc_print_module(t->c, m, NULL);
  const Source source = {"<kept>", text, strlen(text)};
  tirc_put_bytes(t, text, source.length);
  *back = tirc_parse_module(t->c, &source, 0, NULL);
  return is_same(t->c, m, *back);
}

const Module *tirc_take_module(EntryReading *r) {
  const Source text = tirc_take_bytes(r);
  return tirc_parse_module(r->c, &text, 0, NULL);
}

/* --- what is told ----------------------------------------------------------------------------- */

enum { TOLD_END, TOLD_WARNING, TOLD_PRINT };

static void note_warning(void *self, const char *file, int line, int column, const char *message,
                         const char *code) {
  MakingNotes *n = self;
  tirc_put_number(&n->told, TOLD_WARNING);
  tirc_put_text(&n->told, file);
  tirc_put_number(&n->told, line);
  tirc_put_number(&n->told, column);
  tirc_put_text(&n->told, message);
  tirc_put_text(&n->told, code);
  if (n->given.warn) n->given.warn(n->given.self, file, line, column, message, code);
}

static void note_print(void *self, const char *text) {
  MakingNotes *n = self;
  tirc_put_number(&n->told, TOLD_PRINT);
  tirc_put_text(&n->told, text);
  if (n->given.print) n->given.print(n->given.self, text);
}

static void pass_trace(void *self, const char *call, const char *file, int line,
                       const char *failure) {
  const MakingNotes *n = self;
  n->given.trace(n->given.self, call, file, line, failure);
}

void tirc_making_notes(MakingNotes *n, Tirc *c, const tirc_schedule_options *given) {
  *n = (MakingNotes){.c = c, .told = {.c = c}};
  if (given) n->given = *given;
  n->own = n->given;
  n->own.self = n;
  n->own.warn = note_warning;
  n->own.print = note_print;
  n->own.trace = n->given.trace ? pass_trace : NULL;
}

void tirc_put_told(Text *t, const MakingNotes *notes) {
  if (notes->told.n) tirc_text_addn(t, notes->told.at, notes->told.n);
  tirc_put_number(t, TOLD_END);
}

/* Tells it to these, or only passes it by. */
static void tell_again(EntryReading *r, const tirc_schedule_options *o) {
  for (int64_t kind; (kind = tirc_take_number(r)) != TOLD_END;) {
    if (kind == TOLD_PRINT) {
      const char *text = tirc_take_text(r);
      if (o && o->print) o->print(o->self, text);
      continue;
    }
    const char *file = tirc_take_text(r);
    const int line = (int)tirc_take_number(r), column = (int)tirc_take_number(r);
    const char *message = tirc_take_text(r), *code = tirc_take_text(r);
    if (o && o->warn) o->warn(o->self, file, line, column, message, code);
  }
}

static void tell_damaged(const tirc_schedule_options *o, const char *what) {
  if (!o || !o->warn) return;
  char text[128];
  tirc_snprintf(text, sizeof text, "the %s in the code cache is damaged and is made again", what);
  o->warn(o->self, NULL, 0, 0, text, "file");
}

/* --- kept, and found again -------------------------------------------------------------------- */

typedef struct Entry {
  const EntryKind *kind;
  const void *self;
  const MakingNotes *notes;
  CodeCache cache;
  char *key; /* of the heap */
} Entry;

/* False: there is no cache, or it threw. */
static bool do_apart(Tirc *c, Entry *e, void (*body)(Tirc *apart, void *self)) {
  Trap trap;
  e->cache = tirc_cache_open();
  if (!*e->cache.folder) return false;
  if (!TIRC_TRY(c, trap)) {
    c->trap = trap.outer;
    return false;
  }
  tirc_api_apart(c, body, e);
  TIRC_END(c, trap);
  return true;
}

static void keep(Tirc *apart, void *self) {
  const Entry *e = self;
  Text t = {.c = apart};
  const char *key = e->kind->key(apart, e->self);
  if (!key || tirc_cache_sum(key) != e->notes->made_of) return;
  tirc_put_told(&t, e->notes);
  if (e->kind->put(&t, e->self)) tirc_cache_keep(&e->cache, key, t.at, t.n);
}

/* Where it cannot be kept, it was made all the same. */
void tirc_entry_keep(Tirc *c, const EntryKind *kind, const void *self, const MakingNotes *notes) {
  Entry e = {.kind = kind, .self = self, .notes = notes};
  (void)do_apart(c, &e, keep);
}

static void make_key(Tirc *apart, void *self) {
  Entry *e = self;
  const char *key = e->kind->key(apart, e->self);
  if (key) e->key = tirc_api_copy(apart, key, strlen(key));
}

static bool take(Tirc *c, const EntryKind *kind, void *self, const tirc_schedule_options *o,
                 const Kept *kept) {
  EntryReading r = tirc_entry_reading(c, kept), told = r;
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    c->trap = trap.outer;
    tell_damaged(o, kind->what);
    return false;
  }
  tell_again(&r, NULL);
  kind->take(&r, self);
  TIRC_END(c, trap);
  tell_again(&told, o);
  return true;
}

bool tirc_entry_find(Tirc *c, const EntryKind *kind, void *self, const tirc_schedule_options *o,
                     uint64_t *made_of) {
  Entry e = {.kind = kind, .self = self};
  *made_of = 0; /* what cannot be read is said by whoever makes it */
  if (!do_apart(c, &e, make_key) || !e.key) return false;
  *made_of = tirc_cache_sum(e.key);
  Kept kept = tirc_cache_find(&e.cache, e.key);
  free(e.key);
  if (kept.was_damaged) tell_damaged(o, kind->what);
  const bool found = kept.bytes && take(c, kind, self, o, &kept);
  free(kept.bytes);
  return found;
}
