/* Entries of the code cache (codegen/llvm/cache.h) that are more than an object file: numbers and
 * texts one after the other, and what was told while they were made. Their keys are all that
 * decides what they say: the module, options, scripts that making them may read, this machine's
 * calibration, and who made them. */
#ifndef TIRC_RUNTIME_API_KEPT_ENTRY_H
#define TIRC_RUNTIME_API_KEPT_ENTRY_H

#include "api.h"
#include "codegen/llvm/cache.h"
#include "passes/script/reads.h"

/* --- keys ------------------------------------------------------------------------------------- */

typedef struct EntryKey {
  Text text;
  ScriptReads reads;
} EntryKey;
/* False: it cannot be said what the entry would depend on. what: "program". */
bool tirc_key_begin(EntryKey *k, Tirc *c, const char *what, const char *target);
void tirc_key_list(Text *t, const char *name, int n, const char *const *at);
void tirc_key_of_schedule(EntryKey *k, const tirc_schedule_options *o); /* or NULL */
void tirc_key_of_rules(EntryKey *k, const tirc_auto_options *o);        /* or NULL */
/* The key of what is made of this module; NULL as above. */
const char *tirc_key_end(EntryKey *k, const Module *m);

/* --- what an entry holds ---------------------------------------------------------------------- */

void tirc_put_number(Text *t, int64_t n);
void tirc_put_bytes(Text *t, const char *s, size_t n);
void tirc_put_text(Text *t, const char *s); /* or NULL */

typedef struct EntryReading {
  Tirc *c;
  const char *at, *end;
} EntryReading;
EntryReading tirc_entry_reading(Tirc *c, const Kept *kept);
int64_t tirc_take_number(EntryReading *r);
Source tirc_take_bytes(EntryReading *r); /* where they lie in the entry, at a multiple of 8 */
const char *tirc_take_text(EntryReading *r);
/* An entry has a sum and its whole key, so that this is a defect of whoever wrote it. */
_Noreturn void tirc_entry_damaged(const EntryReading *r);

/* Whether functions have the same names of their own, their arrays and their symbols: what their
 * callers see beside their structure. */
bool tirc_same_names(Tirc *c, const Func *a, const Func *b);
/* A module as text. False: what is read of it, *back, is not what was written. */
bool tirc_put_module(Text *t, const Module *m, const Module **back);
const Module *tirc_take_module(EntryReading *r);

/* --- what is told ----------------------------------------------------------------------------- */

/* What was told while something was made, and of what: scripts may be written anew meanwhile. */
typedef struct MakingNotes {
  Tirc *c;
  uint64_t made_of;                 /* a sum of the key ahead of it; 0: there was none */
  tirc_schedule_options given, own; /* own: notes, and tells the given ones */
  Text told;                        /* as an entry has it */
} MakingNotes;
/* The options to be used while it is made; given: or NULL. */
void tirc_making_notes(MakingNotes *n, Tirc *c, const tirc_schedule_options *given);
void tirc_put_told(Text *t, const MakingNotes *notes);

/* --- kept, and found again -------------------------------------------------------------------- */

/* A kind of entries: what is told, then what it puts there. `self` is of tirc_entry_keep, or of
 * tirc_entry_find. */
typedef struct EntryKind {
  const char *what;                                  /* "program" */
  const char *(*key)(Tirc *apart, const void *self); /* NULL: that cannot be said */
  bool (*put)(Text *t, const void *self);            /* false: it cannot be kept */
  void (*take)(EntryReading *r, void *self);         /* throws where it is damaged */
} EntryKind;
/* Keeps it, if it can be kept, and what it would be made of is still that of the notes. */
void tirc_entry_keep(Tirc *c, const EntryKind *kind, const void *self, const MakingNotes *notes);
/* Whether one was kept, which `take` has read; *made_of is that of the notes. What was told when it
 * was made is told to o again. o: or NULL */
bool tirc_entry_find(Tirc *c, const EntryKind *kind, void *self, const tirc_schedule_options *o,
                     uint64_t *made_of);

#endif
