/* The state pointer that every function of the library takes: an arena that owns all nodes built
 * through it, the innermost error trap, and the counters that make identities unique.
 *
 * Memory: tirc_alloc never returns NULL. When memory (or the arena's limit) runs out it raises a
 * diagnostic, like every other error. Nothing allocated here is freed alone; all of it goes when
 * the context is released. Two threads use two contexts; nodes are immutable, so a context may
 * refer to nodes of another one that it has retained.
 *
 * Errors: inside the library an error fills `c->diag` and unwinds to the innermost TIRC_TRY. The
 * functions of the public header catch it there and hand it out as a value, so no jump ever crosses
 * the public header. Code between must keep nothing that needs cleaning outside the arena.
 */
#ifndef TIRC_IR_CONTEXT_H
#define TIRC_IR_CONTEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ir/codes.h"

typedef struct Tirc Tirc;

/* A place in a source text. line and column start at 1; line 0 means "nowhere". */
typedef struct Loc {
  const char *file;
  int line, column;
} Loc;

/* Exit status of the command and of every diagnostic. */
enum { TIRC_STATUS_OK = 0, TIRC_STATUS_NO = 1, TIRC_STATUS_BAD = 2 };

typedef struct Diag {
  int status;            /* TIRC_STATUS_NO: a ScheduleError or a failed check; _BAD: bad input */
  DiagCode code;         /* of codes.def */
  Loc loc;               /* in the program or in the script */
  const char *message;   /* one sentence, or a sentence and the definition that it violates */
  const char *primitive; /* for ScheduleErrors: the primitive's name, otherwise NULL */
  const char *call;      /* the call as text, e.g. "sch.split(loop=i, factors=[None, 0])" */
  const char *condition; /* which condition of which definition failed, with the loop or buffer */
  const char *hint;      /* what to do instead, or NULL */
  const struct MarkedModule
      *ir; /* the program and the places in it, for tirc_print_marked; or NULL */
} Diag;

typedef struct Trap {
  jmp_buf env;
  struct Trap *outer;
} Trap;

typedef struct ArenaChunk ArenaChunk;

struct Tirc {
  ArenaChunk *chunks;      /* newest first */
  ArenaChunk *spare;       /* one that tirc_rewind gave back, or NULL */
  size_t bytes, max_bytes; /* allocated so far; limit, 0 for none */
  Trap *trap;
  Diag diag;
  uint32_t next_block_id; /* see Block.id in ir.h */
  uint32_t n_overflows;   /* expressions with ExprNode.overflows that went into a statement */
  Tirc **retained;        /* contexts whose nodes this one refers to */
  int n_retained;
  struct Owned *owned;         /* what is not in the arena and goes with it, newest first */
  struct KnownExtent *extents; /* bounds and conditions that its analyzers know, newest first */
  int refs;                    /* changed atomically */
};

/* A new context with one reference, or NULL when memory is out. */
Tirc *tirc_context_new(void);
Tirc *tirc_context_retain(Tirc *c);
void tirc_context_release(Tirc *c);
/* From now on `c` keeps `other` alive. Idempotent. */
void tirc_context_depend(Tirc *c, Tirc *other);

/* `what` is released together with the context. Where memory for that runs out, it is at once. */
void tirc_context_own(Tirc *c, void *what, void (*release)(void *what));

void *tirc_alloc(Tirc *c, size_t bytes); /* zeroed, aligned to 16 */
#define tirc_new(c, T) ((T *)tirc_alloc((c), sizeof(T)))
#define tirc_new_array(c, T, n) ((T *)tirc_alloc_array((c), (size_t)(n), sizeof(T)))
void *tirc_alloc_array(Tirc *c, size_t n, size_t size); /* checks the product */
#define tirc_copy(c, from, n) tirc_copy_array((c), (from), (n), sizeof *(from))
void *tirc_copy_array(Tirc *c, const void *from, int n, size_t size); /* NULL when n is 0 */
/* For work that leaves nothing behind but a number: everything allocated since the mark is free to
 * be used again. An error that unwinds past the rewind only leaves the memory taken. */
typedef struct ArenaMark {
  ArenaChunk *chunk;
  size_t used, bytes;
  struct KnownExtent *extents;
} ArenaMark;
ArenaMark tirc_mark(const Tirc *c);
void tirc_rewind(Tirc *c, ArenaMark mark);
char *tirc_strdup(Tirc *c, const char *s);
char *tirc_strndup(Tirc *c, const char *s, size_t n);
char *tirc_format(Tirc *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *tirc_vformat(Tirc *c, const char *format, va_list args);

/* TIRC_TRY: `Trap t; if (TIRC_TRY(c, t)) { ...; TIRC_END(c, t); } else { c->diag says why }`.
 * Leaving the body by return, break or goto without TIRC_END is a bug. Locals that change in the
 * body and are read in the else part must be volatile. */
#define TIRC_TRY(c, t) ((t).outer = (c)->trap, (c)->trap = &(t), setjmp((t).env) == 0)
#define TIRC_END(c, t) ((c)->trap = (t).outer)
/* Unwinds with c->diag as it stands. */
_Noreturn void tirc_throw(Tirc *c);
/* Fills c->diag (status TIRC_STATUS_BAD) and unwinds. `hint` may be NULL. */
_Noreturn void tirc_fail(Tirc *c, Loc loc, DiagCode code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Growable array in the arena: `VEC(Expr) v = {0}; vec_push(c, v, e); v.at[0]`. */
#define VEC(T)                                                                                     \
  struct {                                                                                         \
    T *at;                                                                                         \
    int n, cap;                                                                                    \
  }
#define vec_push(c, v, x)                                                                          \
  ((v).n == (v).cap ? (void)((v).at = tirc_vec_grow((c), (v).at, &(v).cap, (v).n, sizeof *(v).at)) \
                    : (void)0,                                                                     \
   (v).at[(v).n++] = (x))
void *tirc_vec_grow(Tirc *c, void *at, int *cap, int n, size_t size);

/* Growable text in the arena. */
typedef struct Text {
  Tirc *c;
  char *at; /* always NUL-terminated once something was added */
  size_t n, cap;
} Text;
void tirc_text_add(Text *t, const char *s);
void tirc_text_addn(Text *t, const char *s, size_t n);
void tirc_text_addf(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Map from a pointer to a pointer, in the arena. A zeroed PtrMap is an empty one. */
typedef struct PtrMap {
  const void **keys;
  void **values;
  size_t n, cap; /* n counts used slots, removed ones included */
} PtrMap;
void *tirc_map_get(const PtrMap *m, const void *key); /* NULL when absent */
bool tirc_map_has(const PtrMap *m, const void *key);
void tirc_map_set(Tirc *c, PtrMap *m, const void *key, const void *value);
void tirc_map_remove(PtrMap *m, const void *key);
PtrMap tirc_map_copy(Tirc *c, const PtrMap *m);

/* Map from a text to a pointer, in the arena, which keeps the order in which the texts came: at[0]
 * to at[n - 1]. A zeroed StrMap is an empty one. The texts are not copied. */
typedef struct StrMap {
  struct {
    const char *key;
    void *value;
  } * at;
  int n, cap;
  int *
      slots; /* 2 * cap of them, by hash: 1 + the place in `at`; 0: free. NULL while they are few */
} StrMap;
void *tirc_strmap_get(const StrMap *m, const char *key); /* NULL when absent */
/* Where the value of key is kept until the next key is added; NULL stands there if it is new. */
void **tirc_strmap_at(Tirc *c, StrMap *m, const char *key);
void tirc_strmap_clear(StrMap *m); /* empties it, and keeps its memory */

#endif
