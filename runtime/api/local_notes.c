/* Buffers of scope local that the code keeps in memory after all, and why. A tile becomes registers
 * when every index into it is a constant once loops are unrolled and vectorized; whether it did is
 * read off the optimised code: an allocation of its name that a frame still has. */
#include "local_notes.h"
#include "ir/ascii.h"

#include "ir/tree/print.h"
#include "ir/tree/visit.h"

#include <stddef.h>
#include <string.h>

typedef struct Notes {
  Tirc *c;
  const NameList *in_frame;
  const Cpu *cpu; /* NULL: its registers are not counted */
  void (*tell)(void *self, Warning w);
  void *self;
} Notes;

/* NAME, perhaps with a number or the name of a part behind it. */
static bool is_part_of(const char *allocated, const char *name) {
  const size_t n = strlen(name);
  if (strncmp(allocated, name, n) != 0) return false;
  const char *q = allocated + n;
  if (*q == '.' || tirc_is_digit(*q))
    while (tirc_is_letter_or_digit(*q) || *q == '.') q++;
  return !*q;
}

static bool is_allocated(const NameList *in_frame, const char *name) {
  for (int i = 0; i < in_frame->n; i++)
    if (is_part_of(in_frame->at[i], name)) return true;
  return false;
}

/* --- the loop that leads into it -------------------------------------------------------------- */

typedef struct Search {
  Notes *notes;
  Buffer buffer;
  PtrMap loops; /* variables of those that were not written out */
  const char *found;
} Search;

static bool look_index(Visitor *v, Expr e) {
  Search *s = v->self;
  if (e->op == OP_VAR && !s->found && tirc_map_has(&s->loops, e)) s->found = e->u.s;
  return true;
}
static void look_indices(Search *s, int n, const Expr *indices) {
  Visitor v = {.expr = look_index, .self = s};
  for (int i = 0; i < n; i++) tirc_visit_expr(&v, indices[i]);
}
static bool look_expr(Visitor *v, Expr e) {
  Search *s = v->self;
  if (e->op == OP_LOAD && e->u.buffer->data == s->buffer->data) look_indices(s, e->n, e->args);
  return true;
}
static bool look_stmt(Visitor *v, Stmt stmt) {
  Search *s = v->self;
  if (stmt->kind == STMT_FOR) tirc_map_set(s->notes->c, &s->loops, stmt->u.loop.var, s);
  if (stmt->kind == STMT_STORE && stmt->u.store.buffer->data == s->buffer->data)
    look_indices(s, stmt->u.store.n, stmt->u.store.indices);
  return true;
}
static const char *find_loop(Notes *k, Buffer b, Stmt body) {
  Search s = {.notes = k, .buffer = b};
  Visitor v = {.expr = look_expr, .stmt = look_stmt, .self = &s};
  tirc_visit_stmt(&v, body);
  return s.found;
}

/* --- notes ------------------------------------------------------------------------------------ */

static int64_t vectors_of(const Notes *k, Buffer b) {
  int64_t bytes = tirc_dtype_bytes(b->dtype), extent;
  for (int d = 0; d < b->ndim; d++) {
    if (!tirc_const_int(b->shape[d], &extent) || extent < 0 || extent > INT32_MAX) return INT32_MAX;
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return INT32_MAX;
  }
  int vector = tirc_cpu_vector_bits(k->cpu) / 8;
  return (bytes + vector - 1) / vector;
}

static void say(Notes *k, const char *message) {
  k->tell(k->self, (Warning){.code = CODE_LOCAL_IN_MEMORY, .message = message});
}

static bool look_for_tiles(Visitor *v, Stmt s) {
  Notes *k = v->self;
  if (s->kind != STMT_ALLOC || s->u.alloc.buffer->storage != STORAGE_LOCAL) return true;
  Buffer b = s->u.alloc.buffer;
  const int64_t vectors = k->cpu ? vectors_of(k, b) : 0;
  const int registers = k->cpu ? tirc_cpu_vector_registers(k->cpu) : 0;
  if (vectors > registers) {
    say(k, tirc_format(k->c,
                       "\"%s\" (local) does not fit the registers: it takes %lld vectors, and "
                       "there are %d",
                       b->name, (long long)vectors, registers));
  } else if (is_allocated(k->in_frame, b->name)) {
    const char *loop = find_loop(k, b, s->u.alloc.body);
    say(k,
        tirc_format(k->c, "\"%s\" (local) stays in memory%s%s%s", b->name, loop ? ": loop " : "",
                    loop ? loop : "", loop ? " over it is neither unrolled nor vectorized" : ""));
  }
  return true;
}

static bool look_for_local(Visitor *v, Stmt s) {
  bool *any = v->self;
  if (s->kind == STMT_ALLOC && s->u.alloc.buffer->storage == STORAGE_LOCAL) *any = true;
  return !*any;
}

static bool has_local(const Module *lowered) {
  bool any = false;
  Visitor v = {.stmt = look_for_local, .self = &any};
  for (int i = 0; i < lowered->n_funcs; i++) tirc_visit_stmt(&v, lowered->funcs[i]->body);
  return any;
}

static void tell_all(Notes *k, const Module *lowered) {
  Visitor v = {.stmt = look_for_tiles, .self = k};
  for (int i = 0; i < lowered->n_funcs; i++) tirc_visit_stmt(&v, lowered->funcs[i]->body);
}

void tirc_local_notes_of(Tirc *c, const Module *lowered, const char *cpu, const NameList *in_frame,
                         void (*tell)(void *self, Warning w), void *self) {
  tell_all(&(Notes){c, in_frame, tirc_llvm_cpu(c, cpu), tell, self}, lowered);
}

void tirc_local_notes(Tirc *c, const Module *lowered, const char *cpu,
                      void (*tell)(void *self, Warning w), void *self) {
  if (!has_local(lowered)) return;
  const char *missing = tirc_llvm_missing(c);
  const NameList in_frame = missing ? (NameList){0} : tirc_llvm_in_frame(c, lowered, cpu);
  Notes k = {c, &in_frame, tirc_llvm_cpu(c, cpu), tell, self};
  tell_all(&k, lowered);
  if (missing)
    say(&k,
        tirc_format(c, "it is not known which other buffers (local) stay in memory: %s", missing));
}

void tirc_local_notes_of_kernels(Tirc *c, const Module *lowered, const Gpu *gpu,
                                 const char *const *symbols, void (*tell)(void *self, Warning w),
                                 void *self) {
  if (!has_local(lowered)) return;
  const NameList in_frame = tirc_llvm_kernels_in_frame(c, lowered, gpu, symbols);
  tell_all(&(Notes){c, &in_frame, NULL, tell, self}, lowered);
}
