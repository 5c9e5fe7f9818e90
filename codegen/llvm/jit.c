/* Code for this process: the same object file that `--emit=obj` writes, linked in memory by ORC.
 * The only symbols it can reach are those the translation names: libm, and memory from the C
 * library. */
#include "gen.h"
#include "ir/child.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct Entry {
  char *name; /* of the heap */
  PackedFunc func;
} Entry;
/* Where a child puts code, which this process runs at the same address: the sections of code from
 * the start on, data from the middle on. */
enum { ROOM_HALF = 256 << 20 };
typedef struct Room {
  char *at;
  size_t code, data; /* taken of each half */
  bool is_full;      /* something did not fit, which ends a process that LLVM runs in */
} Room;
struct Jit {
  LLVMOrcLLJITRef lljit; /* NULL: a child made the code, which is in this room */
  Room room;
  int n;
  Entry *funcs;
};

void tirc_jit_free(Jit *j) {
  if (!j) return;
  if (j->lljit) {
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(j->lljit);
    if (error) LLVMConsumeError(error);
  }
  tirc_shared_free(j->room.at, 2 * (size_t)ROOM_HALF);
  for (int i = 0; i < j->n; i++) free(j->funcs[i].name);
  free(j->funcs);
  free(j);
}

static void check(Tirc *c, LLVMErrorRef error) {
  if (!error) return;
  char *message = LLVMGetErrorMessage(error), *s = tirc_strdup(c, message);
  LLVMDisposeErrorMessage(message);
  tirc_fail(c, (Loc){0}, CODE_CODEGEN, NULL, "the code cannot be linked: %s", s);
}

/* --- in a room -------------------------------------------------------------------------------- */

static uint8_t *take(Room *r, char *half, size_t *taken, uintptr_t bytes, unsigned alignment) {
  const size_t from = (*taken + alignment - 1) / alignment * alignment;
  r->is_full |= bytes > ROOM_HALF || from > ROOM_HALF - bytes;
  if (r->is_full) return NULL;
  *taken = from + bytes;
  return (uint8_t *)half + from;
}

static uint8_t *take_code(void *self, uintptr_t bytes, unsigned alignment, unsigned number,
                          const char *name) {
  Room *r = self;
  (void)number, (void)name;
  return take(r, r->at, &r->code, bytes, alignment ? alignment : 1);
}

static uint8_t *take_data(void *self, uintptr_t bytes, unsigned alignment, unsigned number,
                          const char *name, LLVMBool is_constant) {
  Room *r = self;
  (void)number, (void)name, (void)is_constant;
  return take(r, r->at + ROOM_HALF, &r->data, bytes, alignment ? alignment : 1);
}

static void *same(void *self) { return self; }
static void nothing(void *self) { (void)self; }
static LLVMBool finished(void *self, char **message) {
  (void)self, (void)message;
  return false;
}

static LLVMOrcObjectLayerRef link_in_room(void *room, LLVMOrcExecutionSessionRef session,
                                          const char *triple) {
  (void)triple;
  return LLVMOrcCreateRTDyldObjectLinkingLayerWithMCJITMemoryManagerLikeCallbacks(
      session, room, same, nothing, take_code, take_data, finished, nothing);
}

/* --- code ------------------------------------------------------------------------------------- */

/* room: where the code goes, or NULL: into memory of the linker's. */
static Jit *open_in(Tirc *c, Room *room) {
  Jit *j = calloc(1, sizeof *j);
  if (!j) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    tirc_jit_free(j);
    tirc_throw(c);
  }
  LLVMOrcDefinitionGeneratorRef process;
  tirc_targets_ready(c);
  LLVMOrcLLJITBuilderRef builder = room ? LLVMOrcCreateLLJITBuilder() : NULL;
  if (room) LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, link_in_room, room);
  check(c, LLVMOrcCreateLLJIT(&j->lljit, builder)); /* takes the builder */
  const char prefix = LLVMOrcLLJITGetGlobalPrefix(j->lljit);
  check(c, LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, prefix, NULL, NULL));
  LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(j->lljit), process);
  TIRC_END(c, trap);
  return j;
}

Jit *tirc_jit_open(Tirc *c) { return open_in(c, NULL); }

static void make_room(Tirc *c, Jit *j, int n) {
  Entry *grown = realloc(j->funcs, ((size_t)j->n + (size_t)n + 1) * sizeof *grown);
  if (!grown) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  j->funcs = grown;
}

void tirc_jit_add(Tirc *c, Jit *j, const Module *lowered, const char *cpu) {
  make_room(c, j, lowered->n_funcs);
  LLVMOrcJITDylibRef main = LLVMOrcLLJITGetMainJITDylib(j->lljit);
  LLVMMemoryBufferRef object = tirc_gen_compile(c, lowered, cpu, true, EMIT_OBJ);
  check(c, LLVMOrcLLJITAddObjectFile(j->lljit, main, object)); /* takes the object in any case */
  for (int i = 0; i < lowered->n_funcs; i++) {
    LLVMOrcExecutorAddress address = 0;
    const char *symbol = tirc_format(c, "%s__packed", lowered->funcs[i]->name);
    check(c, LLVMOrcLLJITLookup(j->lljit, &address, symbol));
    char *name = strdup(lowered->funcs[i]->name);
    if (!name) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
    j->funcs[j->n++] = (Entry){name, (PackedFunc)(uintptr_t)address};
  }
}

Jit *tirc_jit_new(Tirc *c, const Module *lowered, const char *cpu) {
  Jit *j = tirc_jit_open(c);
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    tirc_jit_free(j);
    tirc_throw(c);
  }
  tirc_jit_add(c, j, lowered, cpu);
  TIRC_END(c, trap);
  return j;
}

/* --- code that a child makes ------------------------------------------------------------------ */

typedef struct Making {
  const Module *lowered;
  const char *cpu;
  int together;
  Room *room;          /* in shared memory, as is */
  PackedFunc *entries; /* one a function */
} Making;

static void make_in_child(Tirc *c, void *self) {
  const Making *k = self;
  Jit *j = open_in(c, k->room);
  for (int i = 0; i < k->lowered->n_funcs; i += k->together) {
    const ArenaMark mark = tirc_mark(c);
    Module some = *k->lowered;
    some.funcs += i;
    some.n_funcs = k->lowered->n_funcs - i < k->together ? k->lowered->n_funcs - i : k->together;
    tirc_jit_add(c, j, &some, k->cpu);
    tirc_rewind(c, mark);
  }
  for (int i = 0; i < k->lowered->n_funcs; i++) k->entries[i] = j->funcs[i].func;
}

/* Nothing is written from now on, and only code runs. */
static bool close_room(const Room *r) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), code = (r->code + page - 1) / page * page;
  if (mprotect(r->at, ROOM_HALF, PROT_NONE) ||
      (code && mprotect(r->at, code, PROT_READ | PROT_EXEC)))
    return false;
  __builtin___clear_cache(r->at, r->at + r->code); /* the child's data is instructions here */
  return true;
}

Jit *tirc_jit_by_child(Tirc *c, const Module *lowered, const char *cpu, int together,
                       int64_t *peak) {
  const size_t table = sizeof(Room) + (size_t)lowered->n_funcs * sizeof(PackedFunc);
  Room *room = tirc_shared_memory(table);
  Jit *j = room ? calloc(1, sizeof *j) : NULL;
  if (j) room->at = j->room.at = tirc_shared_memory(2 * (size_t)ROOM_HALF);
  Making making = {lowered, cpu, together, room, (PackedFunc *)(room + 1)};
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    const bool was_full = room && room->is_full;
    tirc_shared_free(room, table);
    tirc_jit_free(j);
    /* Beside the room there may have been none for what the child loads. */
    if (was_full || c->diag.code == CODE_MEMORY) return NULL;
    tirc_throw(c);
  }
  bool ok = j && j->room.at && tirc_in_child(c, make_in_child, &making, peak) && close_room(room);
  if (ok) make_room(c, j, lowered->n_funcs);
  for (int i = 0; ok && i < lowered->n_funcs; i++) {
    char *name = strdup(lowered->funcs[i]->name);
    if (!name) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
    j->funcs[j->n++] = (Entry){name, making.entries[i]};
  }
  TIRC_END(c, trap);
  tirc_shared_free(room, table);
  if (ok) return j;
  tirc_jit_free(j);
  return NULL;
}

PackedFunc tirc_jit_find(Jit *j, const char *func) {
  for (int i = 0; i < j->n; i++)
    if (strcmp(j->funcs[i].name, func) == 0) return j->funcs[i].func;
  return NULL;
}
