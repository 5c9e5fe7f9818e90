/* What the files of the emulator share. A kernel is compiled into a tree of `Piece`s (expressions)
 * and `Act`s (statements). A piece is evaluated for a list of threads at once and gives an array of
 * values; an operation that has no function here is the interpreter's node, run thread by thread.
 *
 * A vector is evaluated one lane at a time, as in the interpreter: `Emu.lane` says which. */
#ifndef TIRC_RUNTIME_EMULATE_CODE_H
#define TIRC_RUNTIME_EMULATE_CODE_H

#include "emulate.h"
#include "runtime/interp/code.h"

enum { MOST_GROUPS = 4, SLOT_ALL = MOST_GROUPS, SLOT_OTHER, SLOTS };
enum { MOST_BLOCK_THREADS = 4096, MOST_DEPS = 12, WARP = 32 };

/* Parts: which threads have a value in common, a number a partition of the block's threads. */
enum { MOST_PARTS = 32, ALL_SAME = 0, OWN = MOST_PARTS - 1 };

/* Threads of a block that do something together, ascending. Values for them are kept in a cache
 * from `first` on and are of use as long as the list in that slot is the one of that stamp. */
typedef struct Threads {
  int n, slot, first;
  uint64_t stamp;
  const uint16_t *at;
  const uint16_t *last; /* NULL, or each stands for several threads, up to this one */
  struct Peers *peers;  /* or NULL: each is evaluated for itself */
  int part;             /* of which there is one each; OWN: whole sets */
} Threads;

/* Of a list: its threads by what they have in common. */
typedef struct Peers {
  Threads of[MOST_PARTS];                /* the first each of those that are in one set */
  uint16_t *set[MOST_PARTS][MOST_PARTS]; /* of each in of[a], its number in of[b] */
  uint32_t known[MOST_PARTS];            /* of each a, a bit a b */
  uint16_t *room[MOST_PARTS][2];
} Peers;

/* A value a thread of the list; same: at[0] is that of all. */
typedef struct Values {
  const Cell *at;
  bool same;
} Values;
static inline Cell value_at(Values v, int k) { return v.at[v.same ? 0 : k]; }

typedef struct Piece Piece;
typedef struct Act Act;

/* A variable of the kernel: one value, or one a thread. */
typedef struct Var {
  uint64_t stamp; /* when it was given its value */
  bool same;
  bool varies;   /* it may differ between threads */
  bool is_index; /* threadIdx */
  int part;
  const Piece *from[2]; /* what it hangs on, or NULL */
  int lanes;
  Cell *one;  /* a value a lane */
  Cell *each; /* by thread, lane by lane */
} Var;

/* Who touched an element last. Times count barriers. */
typedef struct Trace {
  uint32_t wrote, read, also, first; /* first: the first read of the launch */
  uint16_t writer, reader, other, first_reader;
  uint16_t write_act, read_act, other_act, first_act;
  /* `wrote` was an atomic update; of another thread or block, when there was one before it. */
  uint32_t updated;
  uint16_t updater, update_act;
  bool atomic;
} Trace;
enum { NOBODY = UINT16_MAX };

typedef enum Place { GLOBAL, SHARED, LOCAL } Place;

/* Elements of local memory lie thread beside thread, so that threads which do the same are
 * neighbours; where views have elements of other sizes, each thread's lie together. */
typedef struct Store {
  Buffer buffer; /* that it was made for */
  Place place;
  char *data;
  int64_t bytes, capacity; /* of one thread, where it is local */
  int64_t before;          /* shared: what the block had before it */
  uint8_t *written;        /* a byte a unit, or NULL: all of it is */
  uint8_t *report;         /* likewise, for whom the launch was made; or NULL */
  int unit;                /* the size of the smallest element of its views */
  bool by_thread, is_stored;
  Var *version;             /* is given a value with every store to it; NULL: local */
  uint8_t *loaded, *stored; /* a byte a unit: where costs are counted, what the launch touched */
  Trace *traces;            /* one a unit; NULL: no two threads of the launch can meet there */
  uint8_t *flying;          /* shared: of a unit, whether a copy to it is on its way; or NULL */
} Store;

/* An asynchronous copy that is on its way. */
typedef struct Flight {
  Store *store;
  const Act *act;
  int64_t unit;
  int units;
  uint16_t thread;
  uint32_t group; /* of the thread's, from 1 */
} Flight;

typedef struct Window { /* a buffer */
  Buffer buffer;
  DType dtype;
  Store *store;
  int ndim, elem;
  const Piece **shape_code, **stride_code, *offset_code;
  int64_t *shape, *stride, offset, count;
  bool inside; /* all of its elements are in the memory */
  bool plain;  /* one-dimensional, compact, without an offset */
} Window;

typedef struct Cache {
  struct {
    uint64_t threads, stamp;
    bool same;
  } of[SLOTS];
  Cell *at; /* room for all threads, thrice: in groups, all together, another list */
} Cache;

typedef struct Emu Emu;
struct Piece {
  Values (*eval)(Emu *, const Piece *, const Threads *, Cell *room);
  Expr expr;
  DType dtype;
  const Piece *a, *b, *c;
  int part;
  bool reads;  /* it loads or calls */
  bool shares; /* threads of one set of the part may have it evaluated once */
  int n_args;
  const Piece **args;
  Cache *cache; /* or NULL */
  int n_deps;   /* variables that its value hangs on; -1: on more than variables */
  Var **deps;
  Var *var;
  Cell constant;
  const Window *window;
  bool tolerant;      /* a load whose value is only copied: it may be uninitialised */
  const Node *scalar; /* the interpreter's, on the values in `given` */
  Cell **given;
};

struct Act {
  void (*run)(Emu *, const Act *, const Threads *);
  const Act *parent;
  Stmt stmt;
  uint16_t number;
  bool meets; /* something in it is done by several threads together */
  bool flies; /* an asynchronous copy */
  const Piece *value, *min, *extent, **index;
  Window *window;
  Var *var;
  const Act *body, *otherwise;
  int n;
  const Act **at;
  bool *poison; /* of vectors: a thread, lane by lane */
  int work;     /* of a warp, where costs are counted */
};

typedef struct BlockStart {
  uint32_t time;
  int64_t block;
} BlockStart;

/* Where threads went different ways around a barrier. */
typedef struct Parting {
  const struct Parting *outer;
  const Act *at;
  const Act *other_way; /* or NULL */
  const Threads *others;
} Parting;

/* An access of a statement by some threads: of a lane of it. */
typedef struct Asking {
  const void *node; /* the load or the statement */
  const Window *window;
  Values at;
  const Threads *threads;
  int lanes;      /* that are one access: of neighbours */
  bool is_scalar; /* within a vector it is done once */
  bool stores;
} Asking;

struct Emu {
  Tirc *t;             /* what a launch needs */
  struct Costs *costs; /* or NULL */
  int64_t work;        /* what warps did so far, of which T.clock() tells */
  bool counts;         /* what is compiled counts it, and is no work itself */
  int64_t most_shared; /* bytes that a block had */
  const EmulateOptions *o;
  EmulateReport *report;
  const Func *kernel;
  const struct Gpu *gpu;      /* that the kernel was made for, or NULL: any */
  int64_t dynamic;            /* bytes of shared.dyn that the launch asks for; -1: any */
  int64_t shared, shared_dyn; /* bytes of a block that are allocated */
  Run run;                    /* for the interpreter's nodes */
  Compiler scalar;            /* that makes them */
  PtrMap vars, stores, windows;
  VEC(const Act *) acts;
  const Act *parent;
  Expr innermost; /* the loop variable around what is compiled, or NULL */
  int depth, deepest;
  int64_t cached, most_cached; /* cells in caches */

  int64_t grid[3], block[3];
  Var *axis[6]; /* blockIdx.x ... threadIdx.z */
  int threads, n_groups;
  Threads all, group[MOST_GROUPS];
  Peers peers[SLOT_ALL + 1];
  VEC(Piece *) pieces;              /* operands first */
  const uint16_t *part[MOST_PARTS]; /* of each thread, the number of its set */
  int n_parts, n_sets[MOST_PARTS];
  uint16_t *seen;       /* a number a set */
  uint16_t *group_room; /* group after group */
  uint16_t *position;   /* of each thread, its place there: of its elements of local memory */
  uint64_t clock, random;
  Cell *stack, *top, *end;
  int lane;
  bool *poisoned, any_poison; /* by thread: the value that is computed is uninitialised */
  const char *poisoned_buffer;
  const Parting *parting;
  int64_t steps;
  int64_t whiles, changes; /* loops around; how often a store within one changed memory */
  bool flies;              /* what is compiled is an asynchronous copy */
  VEC(Flight) flights;     /* of the block, in the order in which they began */
  uint32_t *committed;     /* by thread: how many groups */
  bool syncs_warps;        /* somewhere in the kernel */
  Var *global_version;     /* of all that blocks share */
  Var *epoch;              /* is given a value with every barrier */
  /* Times. What is older than `launch_start` is of another launch, than `block_start` of another
   * block, and what is not older than `barrier` has no barrier behind it. */
  uint32_t time, launch_start, block_start, barrier;
  uint32_t *warp_time; /* a warp: since when no T.tvm_storage_sync("warp") */
  VEC(BlockStart) starts;
  const Act *doing;
  int thread; /* that does it, or -1 */
  bool told;  /* the error says who and where */
};

/* costs.c: what a statement does on each warp that these threads are of. */
int tirc_emu_operations(Expr x);
void tirc_emu_count_work(Emu *e, const Act *a, const Threads *l);

/* Room for n values, given back by setting e->top to where it was. */
static inline Cell *take(Emu *e, int64_t n) {
  Cell *room = e->top;
  if (e->end - room < n)
    tirc_fail(e->t, (Loc){0}, CODE_LIMIT, NULL, "an expression of kernel \"%s\" nests too deep",
              e->kernel->name);
  e->top += n;
  return room;
}

/* peers.c: for one of each set of threads that have the value in common, if that is less work. */
Values tirc_emu_share(Emu *e, const Piece *p, const Threads *l, Cell *room);

static inline Values evaluate_each(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  Cache *cache = p->cache;
  if (!cache) return p->eval(e, p, l, room);
  const int slot = l->slot;
  Cell *at = cache->at + l->first;
  if (cache->of[slot].threads == l->stamp) {
    uint64_t last = 0;
    for (int i = 0; i < p->n_deps; i++)
      if (p->deps[i]->stamp > last) last = p->deps[i]->stamp;
    if (last <= cache->of[slot].stamp) return (Values){at, cache->of[slot].same};
  }
  Values v = p->eval(e, p, l, at);
  if (v.at != at) memcpy(at, v.at, sizeof *at * (v.same ? 1 : (size_t)l->n));
  cache->of[slot].threads = e->any_poison ? 0 : l->stamp;
  cache->of[slot].stamp = e->clock;
  cache->of[slot].same = v.same;
  return (Values){at, v.same};
}

static inline Values evaluate(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  if (p->shares && l->peers && l->part != p->part) return tirc_emu_share(e, p, l, room);
  return evaluate_each(e, p, l, room);
}

/* piece.c */
const Piece *tirc_emu_expr(Emu *e, Expr x);
const Piece **tirc_emu_exprs(Emu *e, int n, const Expr *at);
Var *tirc_emu_var(Emu *e, Expr var, bool varies);
void tirc_emu_keep(Emu *e, const Piece *p); /* gives caches to what is worth it */
/* One value that all threads of the list agree on; fails with what it is the value of. */
int64_t tirc_emu_one(Emu *e, const Piece *p, const Threads *l, const char *what);
/* Those of the list for which the condition is as wanted; the room is taken from the stack. */
Threads tirc_emu_those(Emu *e, const Threads *l, Values condition, bool wanted);
/* arithmetic.c: NULL: the interpreter's. */
typedef Values (*Eval)(Emu *, const Piece *, const Threads *, Cell *);
Eval tirc_emu_arithmetic(const Piece *p);
/* peers.c */
void tirc_emu_find_parts(Emu *e); /* of all pieces of a launch */
void tirc_emu_open_peers(Emu *e, Threads *l, Peers *peers);
/* memory.c */
Store *tirc_emu_store(Emu *e, Buffer b, Place place);
Window *tirc_emu_window(Emu *e, Buffer b);
void tirc_emu_open_window(Emu *e, Window *w, const Threads *l);
void tirc_emu_open_store(Emu *e, Window *w, const Threads *l);
void tirc_emu_close_store(Emu *e, const Window *w);
Values tirc_emu_load(Emu *e, const Piece *p, const Threads *l, Cell *room);
void tirc_emu_run_store(Emu *e, const Act *a, const Threads *l);
/* NULL: no atomic update */
Eval tirc_emu_atomic(Emu *e, Piece *p);
/* costs.c: where they are counted */
void tirc_emu_ask(Emu *e, const Asking *a);
void tirc_emu_ask_branch(Emu *e, Stmt s, const Threads *l, Values way);
void tirc_emu_open_costs(Emu *e);
void tirc_emu_close_costs(Emu *e, int64_t blocks, int64_t run, int64_t shared);
struct KernelCosts *tirc_emu_kernel_costs(Emu *e);
/* flight.c: asynchronous copies; the places are as for reads and writes. */
void tirc_emu_check_flights(Emu *e, const Store *s, Values at, int units, const Threads *l,
                            const char *does);
void tirc_emu_take_off(Emu *e, Store *s, const Act *a, Values at, int units, const Threads *l);
void tirc_emu_commit(Emu *e, const Act *a, const Threads *l);
void tirc_emu_wait(Emu *e, const Act *a, const Threads *l);
/* race.c: the places of a store, a value a thread */
void tirc_emu_note_reads(Emu *e, const Store *s, Values at, int units, const Threads *l);
void tirc_emu_note_writes(Emu *e, const Store *s, Values at, int units, const Threads *l);
void tirc_emu_note_updates(Emu *e, const Store *s, Values at, int units, const Threads *l);
void tirc_emu_pass_barrier(Emu *e);
static inline uint64_t tirc_emu_draw(uint64_t *random, uint64_t below) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (*random >> 33) % below;
}
const char *tirc_emu_thread(Emu *e, int thread); /* "(threadIdx.x = 1, threadIdx.y = 0)" */
const char *tirc_emu_block(Emu *e, int64_t block);
const char *tirc_emu_act(Emu *e, const Act *a); /* "line 7 (`C[0] = 1`)" */
_Noreturn void tirc_emu_fail(Emu *e, DiagCode code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* needed.c: [function]: whether something uses what the kernel stores, besides its own launch */
const bool *tirc_emu_needed(Tirc *c, const Module *m, const Func *host);
/* warp.c: NULL: no call of a warp */
Eval tirc_emu_warp_call(Emu *e, Piece *p);
bool tirc_is_warp_call(Expr x);
void tirc_emu_warp_sync(Emu *e, const Threads *l);
/* act.c */
const Act *tirc_emu_stmt(Emu *e, Stmt s);
void tirc_emu_run(Emu *e, const Act *a, const Threads *l);

#endif
