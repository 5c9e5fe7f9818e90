/* Code for this process: the same object file that `--emit=obj` writes, linked in memory. The only
 * symbols it can reach are those the translation names: libm, and memory from the C library. An
 * object that is in the cache is not made again, and image.c links it; what it does not know goes
 * to ORC, and so does what a child makes. */
#include "cache.h"
#include "gen.h"
#include "image.h"
#include "ir/child.h"
#include "ir/processors.h"
#include "ir/tree/annotations.h"
#include "key.h"
#include "perf_map.h"

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
  int64_t others;    /* bytes of memory that the processes had which compiled beside the child */
} Room;
struct Jit {
  LLVMOrcLLJITRef lljit; /* NULL: nothing has needed it */
  Room room;             /* of code that a child made */
  Room *linked_in;       /* in that child: where ORC puts it */
  bool lines;            /* debuggers hear of its code */
  int n, n_images;
  Entry *funcs;
  Image *images;
};

void tirc_jit_free(Jit *j) {
  if (!j) return;
  if (j->lljit) {
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(j->lljit);
    if (error) LLVMConsumeError(error);
  }
  tirc_shared_free(j->room.at, 2 * (size_t)ROOM_HALF);
  for (int i = 0; i < j->n_images; i++) tirc_image_free(&j->images[i]);
  for (int i = 0; i < j->n; i++) free(j->funcs[i].name);
  free(j->images);
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

/* A debugger that the process runs in finds the code and its lines. */
static LLVMOrcObjectLayerRef link_for_debuggers(void *unused, LLVMOrcExecutionSessionRef session,
                                                const char *triple) {
  LLVMOrcObjectLayerRef layer =
      LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);
  LLVMJITEventListenerRef listener = LLVMCreateGDBRegistrationListener();
  (void)unused, (void)triple;
  if (listener) LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, listener);
  return layer;
}

static void open_orc(Tirc *c, Jit *j) {
  LLVMOrcDefinitionGeneratorRef process;
  if (j->lljit) return;
  tirc_targets_ready(c);
  const bool own = j->linked_in || j->lines;
  LLVMOrcLLJITBuilderRef builder = own ? LLVMOrcCreateLLJITBuilder() : NULL;
  if (builder)
    LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(
        builder, j->linked_in ? link_in_room : link_for_debuggers, j->linked_in);
  check(c, LLVMOrcCreateLLJIT(&j->lljit, builder)); /* takes the builder */
  const char prefix = LLVMOrcLLJITGetGlobalPrefix(j->lljit);
  check(c, LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, prefix, NULL, NULL));
  LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(j->lljit), process);
}

Jit *tirc_jit_open(Tirc *c) {
  Jit *j = calloc(1, sizeof *j);
  if (!j) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  return j;
}

static void make_room(Tirc *c, Jit *j, int n) {
  Entry *funcs = realloc(j->funcs, ((size_t)j->n + (size_t)n + 1) * sizeof *funcs);
  if (funcs) j->funcs = funcs;
  Image *images = realloc(j->images, ((size_t)j->n_images + 1) * sizeof *images);
  if (images) j->images = images;
  if (!funcs || !images) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
}

static void add_entry(Tirc *c, Jit *j, const char *func, PackedFunc entry) {
  char *name = strdup(func);
  if (!name) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  j->funcs[j->n++] = (Entry){name, entry};
}

static const char *packed_symbol(Tirc *c, const Func *f) {
  return tirc_format(c, "%s__packed", f->name);
}

/* False: that is for ORC. */
static bool add_image(Tirc *c, Jit *j, const Module *m, const char *object, size_t n) {
  Image image;
  if (j->linked_in || j->lines || !tirc_image_load(&image, object, n)) return false;
  j->images[j->n_images++] = image;
  tirc_perf_map_add(&image, object, n);
  for (int i = 0; i < m->n_funcs; i++) {
    void *entry = tirc_image_find(&image, object, n, packed_symbol(c, m->funcs[i]));
    add_entry(c, j, m->funcs[i]->name, (PackedFunc)(uintptr_t)entry);
  }
  return true;
}

static void add_by_orc(Tirc *c, Jit *j, const Module *m, const char *object, size_t n) {
  open_orc(c, j);
  LLVMOrcJITDylibRef main = LLVMOrcLLJITGetMainJITDylib(j->lljit);
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object, n, "tirc");
  check(c, LLVMOrcLLJITAddObjectFile(j->lljit, main, buffer)); /* takes the buffer in any case */
  for (int i = 0; i < m->n_funcs; i++) {
    LLVMOrcExecutorAddress address = 0;
    check(c, LLVMOrcLLJITLookup(j->lljit, &address, packed_symbol(c, m->funcs[i])));
    add_entry(c, j, m->funcs[i]->name, (PackedFunc)(uintptr_t)address);
  }
}

void tirc_jit_add_object(Tirc *c, Jit *j, const Module *m, const char *object, size_t n) {
  make_room(c, j, m->n_funcs);
  if (!add_image(c, j, m, object, n)) add_by_orc(c, j, m, object, n);
}

static Kept compiled(Tirc *c, const Module *m, const char *cpu) {
  LLVMMemoryBufferRef buffer = tirc_gen_compile(c, m, cpu, true, EMIT_OBJ);
  const size_t n = LLVMGetBufferSize(buffer);
  char *bytes = malloc(n + 1);
  if (bytes) memcpy(bytes, LLVMGetBufferStart(buffer), n);
  LLVMDisposeMemoryBuffer(buffer);
  if (!bytes) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  return (Kept){bytes, bytes, n, false};
}

typedef struct Adding {
  Jit *j;
  const char *cpu, *machine; /* machine: as keys have it; NULL: nothing is kept */
  CodeCache cache;
  bool only_kept; /* compiles nothing */
} Adding;

static Adding begin(Tirc *c, Jit *j, const char *cpu, bool only_kept) {
  Adding a = {.j = j, .cpu = cpu, .cache = tirc_cache_open(), .only_kept = only_kept};
  a.machine = *a.cache.folder ? tirc_key_of_machine(c) : NULL;
  return a;
}

/* False: they are not in the cache, and nothing else will do. */
static bool add(Tirc *c, const Adding *a, const Module *m) {
  Jit *const j = a->j;
  const bool only_kept = a->only_kept;
  const char *key = a->machine ? tirc_key_of_code(c, a->machine, m, a->cpu) : NULL;
  make_room(c, j, m->n_funcs);
  j->lines = j->lines || tirc_attrs_get(m->attrs, tirc_key(KEY_DEBUG_LINES));
  Kept object = key ? tirc_cache_find(&a->cache, key) : (Kept){0};
  if (!object.bytes && only_kept) return false;
  if (!object.bytes) {
    object = compiled(c, m, a->cpu);
    if (key) tirc_cache_keep(&a->cache, key, object.object, object.n);
  }
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    free(object.bytes);
    tirc_throw(c);
  }
  const bool ok = add_image(c, j, m, object.object, object.n);
  if (!ok && !only_kept) add_by_orc(c, j, m, object.object, object.n);
  TIRC_END(c, trap);
  free(object.bytes);
  return ok || !only_kept;
}

void tirc_jit_add(Tirc *c, Jit *j, const Module *lowered, const char *cpu) {
  const Adding a = begin(c, j, cpu, false);
  (void)add(c, &a, lowered);
}

/* So many of them at a time, as a key has them: part number i. */
static Module part_of(const Module *lowered, int together, int i) {
  Module some = *lowered;
  const int from = i * together, left = lowered->n_funcs - from;
  some.funcs += from;
  some.n_funcs = left < together ? left : together;
  return some;
}

static int count_parts(const Module *lowered, int together) {
  return (lowered->n_funcs + together - 1) / together;
}

static bool add_all(Tirc *c, Jit *j, const Module *lowered, const char *cpu, int together,
                    bool only_kept) {
  const Adding a = begin(c, j, cpu, only_kept);
  bool ok = true;
  for (int i = 0; ok && i < count_parts(lowered, together); i++) {
    const ArenaMark mark = tirc_mark(c);
    const Module some = part_of(lowered, together, i);
    ok = add(c, &a, &some);
    tirc_rewind(c, mark);
  }
  return ok;
}

/* NULL: not all of them are kept, and nothing else will do. */
static Jit *new_jit(Tirc *c, const Module *lowered, const char *cpu, int together, bool only_kept) {
  Jit *volatile j = tirc_jit_open(c);
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    tirc_jit_free(j);
    tirc_throw(c);
  }
  const bool ok = add_all(c, j, lowered, cpu, together, only_kept);
  TIRC_END(c, trap);
  if (ok) return j;
  tirc_jit_free(j);
  return NULL;
}

Jit *tirc_jit_new(Tirc *c, const Module *lowered, const char *cpu) {
  return new_jit(c, lowered, cpu, lowered->n_funcs, false);
}

/* --- code that a child makes ------------------------------------------------------------------ */

typedef struct Making {
  const Module *lowered;
  const char *cpu;
  int together;
  Room *room;          /* in shared memory, as is */
  PackedFunc *entries; /* one a function */
} Making;

/* The parts that one of n processes compiles: each n-th. */
typedef struct Share {
  const Making *making;
  int first, n;
} Share;

/* Compiles those that are not kept yet, and keeps them. */
static void keep_share(Tirc *c, void *self) {
  const Share *s = self;
  const Making *k = s->making;
  const Adding a = begin(c, NULL, k->cpu, false);
  for (int i = s->first; a.machine && i < count_parts(k->lowered, k->together); i += s->n) {
    const ArenaMark mark = tirc_mark(c);
    const Module some = part_of(k->lowered, k->together, i);
    const char *key = tirc_key_of_code(c, a.machine, &some, k->cpu);
    if (!key) return;
    Kept object = tirc_cache_find(&a.cache, key);
    if (!object.bytes) {
      object = compiled(c, &some, k->cpu);
      tirc_cache_keep(&a.cache, key, object.object, object.n);
    }
    free(object.bytes);
    tirc_rewind(c, mark);
  }
}

/* How many processes compile: one a processor that this one may run on, with some parts for each.
 */
static int count_shares(const Making *k) {
  enum { MOST = 8, FEWEST_PARTS = 3 };
  const int n = tirc_processors();
  const int worth = count_parts(k->lowered, k->together) / FEWEST_PARTS;
  const int shares = n < worth ? n : worth;
  return shares < 1 ? 1 : shares < MOST ? shares : MOST;
}

/* Through the cache: what is not found there in the end is compiled by this process. */
static void keep_all(Tirc *c, const Making *k) {
  const int n = count_shares(k);
  int *others = tirc_new_array(c, int, n);
  for (int i = 1; i < n; i++) others[i] = tirc_begin_child(c, keep_share, &(Share){k, i, n});
  if (n > 1) keep_share(c, &(Share){k, 0, n});
  for (int i = 1; i < n; i++) k->room->others += tirc_end_child(others[i]);
}

static void make_in_child(Tirc *c, void *self) {
  const Making *k = self;
  Jit *j = tirc_jit_open(c);
  const CodeCache cache = tirc_cache_open();
  const bool is_roomy = cache.limit >= (int64_t)CACHE_USUAL_MB / 8
                                           << 20; /* none goes while others are written */
  if (*cache.folder && is_roomy && tirc_cache_problem(&cache) == 0) keep_all(c, k);
  j->linked_in = k->room;
  add_all(c, j, k->lowered, k->cpu, k->together, false);
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
  Jit *kept = new_jit(c, lowered, cpu, together, true);
  if (kept) return kept;
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
  if (ok && peak) *peak += room->others;
  if (ok) make_room(c, j, lowered->n_funcs);
  for (int i = 0; ok && i < lowered->n_funcs; i++)
    add_entry(c, j, lowered->funcs[i]->name, making.entries[i]);
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
