/* The arena, the error trap and the small containers that live in the arena.
 *
 * The arena is a list of chunks that double in size; an allocation bumps a pointer. Nothing is
 * freed before the whole context is, which is what lets trees share nodes without counting
 * references. */
#include "context.h"
#include "number.h"

#include <stdio.h>
#include <stdlib.h>

struct ArenaChunk {
  ArenaChunk *next;
  size_t used, size;
  _Alignas(16) char data[];
};

struct Owned {
  struct Owned *next;
  void *what;
  void (*release)(void *what);
};

enum { FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 1 << 20 };

Tirc *tirc_context_new(void) {
  Tirc *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->refs = 1;
  c->next_block_id = 1;
  return c;
}

Tirc *tirc_context_retain(Tirc *c) {
  __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
  return c;
}

void tirc_context_release(Tirc *c) {
  if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
  for (struct Owned *o = c->owned, *older; o; o = older) {
    older = o->next;
    o->release(o->what);
    free(o);
  }
  for (int i = 0; i < c->n_retained; i++) tirc_context_release(c->retained[i]);
  for (ArenaChunk *chunk = c->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    free(chunk);
  }
  free(c->spare);
  free(c);
}

void tirc_context_depend(Tirc *c, Tirc *other) {
  if (!other || other == c) return;
  for (int i = 0; i < c->n_retained; i++)
    if (c->retained[i] == other) return;
  Tirc **grown = tirc_new_array(c, Tirc *, c->n_retained + 1);
  if (c->n_retained) memcpy(grown, c->retained, (size_t)c->n_retained * sizeof *grown);
  grown[c->n_retained] = tirc_context_retain(other);
  c->retained = grown;
  c->n_retained++;
}

static _Noreturn void out_of_memory(Tirc *c, size_t bytes) {
  c->diag = (Diag){.status = TIRC_STATUS_BAD,
                   .code = CODE_MEMORY,
                   .message = c->max_bytes && c->bytes + bytes > c->max_bytes
                                  ? "the memory limit is reached"
                                  : "out of memory"};
  tirc_throw(c);
}

/* Not in the arena, of which a part may be taken back. */
void tirc_context_own(Tirc *c, void *what, void (*release)(void *what)) {
  struct Owned *o = malloc(sizeof *o);
  if (!o) {
    release(what);
    out_of_memory(c, sizeof *o);
  }
  *o = (struct Owned){c->owned, what, release};
  c->owned = o;
}

/* Under the address sanitizer, memory that was given back may not be touched. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(at, n) __asan_poison_memory_region((at), (n))
#define UNPOISON(at, n) __asan_unpoison_memory_region((at), (n))
#else
#define POISON(at, n) ((void)(at), (void)(n))
#define UNPOISON(at, n) ((void)(at), (void)(n))
#endif

static ArenaChunk *new_chunk(Tirc *c, size_t bytes) {
  ArenaChunk *fresh = c->spare;
  if (fresh && fresh->size >= bytes) {
    c->spare = NULL;
    return fresh;
  }
  size_t size = c->chunks ? c->chunks->size * 2 : FIRST_CHUNK;
  if (size > LARGEST_CHUNK) size = LARGEST_CHUNK;
  if (size < bytes) size = bytes;
  fresh = malloc(sizeof *fresh + size);
  if (!fresh) out_of_memory(c, bytes);
  fresh->size = size;
  return fresh;
}

ArenaMark tirc_mark(const Tirc *c) {
  return (ArenaMark){c->chunks, c->chunks ? c->chunks->used : 0, c->bytes, c->extents};
}

void tirc_rewind(Tirc *c, ArenaMark mark) {
  while (c->chunks != mark.chunk) {
    ArenaChunk *chunk = c->chunks, *smaller = c->spare;
    c->chunks = chunk->next;
    if (!smaller || smaller->size < chunk->size) {
      c->spare = chunk;
      chunk = smaller;
    }
    if (c->spare) POISON(c->spare->data, c->spare->size);
    free(chunk);
  }
  if (mark.chunk) {
    POISON(mark.chunk->data + mark.used, mark.chunk->size - mark.used);
    mark.chunk->used = mark.used;
  }
  c->bytes = mark.bytes;
  c->extents = mark.extents;
}

static void *take(Tirc *c, size_t bytes) {
  if (bytes > SIZE_MAX / 2) out_of_memory(c, bytes);
  bytes = (bytes + 15) & ~(size_t)15;
  if (c->max_bytes && c->bytes + bytes > c->max_bytes) out_of_memory(c, bytes);
  ArenaChunk *chunk = c->chunks;
  if (!chunk || chunk->size - chunk->used < bytes) {
    ArenaChunk *fresh = new_chunk(c, bytes);
    fresh->next = chunk;
    fresh->used = 0;
    c->chunks = chunk = fresh;
  }
  void *p = chunk->data + chunk->used;
  UNPOISON(p, bytes);
  chunk->used += bytes;
  c->bytes += bytes;
  return p;
}

void *tirc_alloc(Tirc *c, size_t bytes) { return memset(take(c, bytes), 0, bytes); }

void *tirc_copy_array(Tirc *c, const void *from, int n, size_t size) {
  size_t bytes;
  if (n <= 0) return NULL;
  if (__builtin_mul_overflow((size_t)n, size, &bytes)) out_of_memory(c, SIZE_MAX / 2);
  return memcpy(take(c, bytes), from, bytes);
}

void *tirc_alloc_array(Tirc *c, size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) out_of_memory(c, SIZE_MAX / 2);
  return tirc_alloc(c, bytes);
}

char *tirc_strndup(Tirc *c, const char *s, size_t n) {
  char *copy = tirc_alloc(c, n + 1);
  memcpy(copy, s, n);
  return copy;
}

char *tirc_strdup(Tirc *c, const char *s) { return tirc_strndup(c, s, strlen(s)); }

char *tirc_vformat(Tirc *c, const char *format, va_list args) {
  char small[256]; /* most texts fit */
  va_list again;
  va_copy(again, args);
  int n = tirc_vsnprintf(small, sizeof small, format, args);
  if (n < (int)sizeof small) {
    va_end(again);
    return tirc_strndup(c, small, n < 0 ? 0 : (size_t)n);
  }
  char *s = tirc_alloc(c, (size_t)n + 1);
  tirc_vsnprintf(s, (size_t)n + 1, format, again);
  va_end(again);
  return s;
}

char *tirc_format(Tirc *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *s = tirc_vformat(c, format, args);
  va_end(args);
  return s;
}

_Noreturn void tirc_throw(Tirc *c) {
  Trap *trap = c->trap;
  /* Every entry of the public header sets a trap, so there is always one to go to. */
  c->trap = trap->outer;
  longjmp(trap->env, 1);
}

_Noreturn void tirc_fail(Tirc *c, Loc loc, DiagCode code, const char *hint, const char *format,
                         ...) {
  va_list args;
  va_start(args, format);
  const char *message = tirc_vformat(c, format, args);
  va_end(args);
  c->diag =
      (Diag){.status = TIRC_STATUS_BAD, .code = code, .loc = loc, .message = message, .hint = hint};
  tirc_throw(c);
}

void *tirc_vec_grow(Tirc *c, void *at, int *cap, int n, size_t size) {
  int wanted = *cap ? *cap * 2 : 8;
  void *grown = tirc_alloc_array(c, (size_t)wanted, size);
  if (n) memcpy(grown, at, (size_t)n * size);
  *cap = wanted;
  return grown;
}

void tirc_text_addn(Text *t, const char *s, size_t n) {
  if (t->n + n + 1 > t->cap) {
    size_t cap = t->cap ? t->cap * 2 : 64;
    while (cap < t->n + n + 1) cap *= 2;
    char *grown = tirc_alloc(t->c, cap);
    if (t->n) memcpy(grown, t->at, t->n);
    t->at = grown;
    t->cap = cap;
  }
  memcpy(t->at + t->n, s, n);
  t->n += n;
  t->at[t->n] = 0;
}

void tirc_text_add(Text *t, const char *s) { tirc_text_addn(t, s, strlen(s)); }

void tirc_text_addf(Text *t, const char *format, ...) {
  char small[256]; /* most pieces fit, and need no copy of their own */
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int n = tirc_vsnprintf(small, sizeof small, format, args);
  if (n >= 0 && n < (int)sizeof small)
    tirc_text_addn(t, small, (size_t)n);
  else
    tirc_text_add(t, tirc_vformat(t->c, format, again));
  va_end(again);
  va_end(args);
}

/* Open addressing with linear probing; a removed slot keeps REMOVED as its key. */
static const char removed_key;
#define REMOVED ((const void *)&removed_key)

static size_t slot_of(const PtrMap *m, const void *key, bool *found) {
  uint64_t h = (uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15);
  size_t free_slot = SIZE_MAX;
  for (size_t i = (size_t)(h >> 32) & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
    if (m->keys[i] == key) {
      *found = true;
      return i;
    }
    if (m->keys[i] == REMOVED && free_slot == SIZE_MAX) free_slot = i;
    if (!m->keys[i]) {
      *found = false;
      return free_slot == SIZE_MAX ? i : free_slot;
    }
  }
}

bool tirc_map_has(const PtrMap *m, const void *key) {
  bool found = false;
  if (m->cap && key) slot_of(m, key, &found);
  return found;
}

void *tirc_map_get(const PtrMap *m, const void *key) {
  bool found = false;
  if (!m->cap || !key) return NULL;
  size_t i = slot_of(m, key, &found);
  return found ? m->values[i] : NULL;
}

static void put(PtrMap *m, const void *key, void *value) {
  bool found;
  size_t i = slot_of(m, key, &found);
  if (!found && !m->keys[i]) m->n++;
  m->keys[i] = key;
  m->values[i] = value;
}

void tirc_map_set(Tirc *c, PtrMap *m, const void *key, const void *value) {
  if (2 * (m->n + 1) > m->cap) {
    size_t live = 0;
    for (size_t i = 0; i < m->cap; i++) live += m->keys[i] && m->keys[i] != REMOVED;
    PtrMap grown = {.cap = m->cap ? m->cap : 16};
    while (grown.cap < 4 * (live + 1)) grown.cap *= 2;
    grown.keys = tirc_new_array(c, const void *, grown.cap);
    grown.values = tirc_new_array(c, void *, grown.cap);
    for (size_t i = 0; i < m->cap; i++)
      if (m->keys[i] && m->keys[i] != REMOVED) put(&grown, m->keys[i], m->values[i]);
    *m = grown;
  }
  put(m, key, (void *)(uintptr_t)value);
}

void tirc_map_remove(PtrMap *m, const void *key) {
  bool found = false;
  if (!m->cap) return;
  size_t i = slot_of(m, key, &found);
  if (!found) return;
  m->keys[i] = REMOVED;
  m->values[i] = NULL;
}

PtrMap tirc_map_copy(Tirc *c, const PtrMap *m) {
  PtrMap copy = {0};
  for (size_t i = 0; i < m->cap; i++)
    if (m->keys[i] && m->values[i]) tirc_map_set(c, &copy, m->keys[i], m->values[i]);
  return copy;
}

/* Few texts are found without a table. */
enum { FEW_TEXTS = 8 };

static int few_place(const StrMap *m, const char *key) {
  for (int i = 0; i < m->n; i++)
    if (m->at[i].key == key || (*m->at[i].key == *key && !strcmp(m->at[i].key, key))) return i + 1;
  return 0;
}

static int *str_slot(const StrMap *m, const char *key) {
  uint32_t h = 2166136261u, mask = 2 * (uint32_t)m->cap - 1;
  for (const char *s = key; *s; s++) h = (h ^ (unsigned char)*s) * 16777619u;
  while (m->slots[h & mask] && strcmp(m->at[m->slots[h & mask] - 1].key, key)) h++;
  return &m->slots[h & mask];
}

void *tirc_strmap_get(const StrMap *m, const char *key) {
  const int place = m->slots ? *str_slot(m, key) : few_place(m, key);
  return place ? m->at[place - 1].value : NULL;
}

void **tirc_strmap_at(Tirc *c, StrMap *m, const char *key) {
  int place = m->slots ? *str_slot(m, key) : few_place(m, key);
  if (!place) {
    if (m->n == m->cap) {
      StrMap grown = *m;
      grown.at = tirc_vec_grow(c, m->at, &grown.cap, m->n, sizeof *m->at);
      grown.slots = grown.cap > FEW_TEXTS ? tirc_new_array(c, int, 2 * (size_t)grown.cap) : NULL;
      *m = grown;
      for (int i = 0; m->slots && i < m->n; i++) *str_slot(m, m->at[i].key) = i + 1;
    }
    m->at[m->n].key = key;
    m->at[m->n].value = NULL;
    place = m->n + 1;
    if (m->slots) *str_slot(m, key) = place;
    m->n = place;
  }
  return &m->at[place - 1].value;
}

void tirc_strmap_clear(StrMap *m) {
  if (m->slots) memset(m->slots, 0, 2 * (size_t)m->cap * sizeof *m->slots);
  m->n = 0;
}
