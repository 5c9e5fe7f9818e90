/* bench_schedule PROGRAM SCRIPT
 *
 * How fast schedules are made: the script on the program again and again, its trace replayed, and
 * what one primitive costs in modules of 10, 100 and 1,000 blocks that it has nothing to do with,
 * which must not grow. Memory before and after shows that freeing gives everything back. */
#include "ir/print.h"
#include "parser/program.h"
#include "passes/schedule/trace.h"
#include "passes/script/script.h"
#include "runtime/timer.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_SIZES = 3, ROUNDS = 200 };
static const int sizes[N_SIZES] = {10, 100, 1000};

static size_t bytes_in_use(void) { return mallinfo2().uordblks; }

static _Noreturn void give_up(const char *message) {
  fprintf(stderr, "bench_schedule: %s\n", message);
  exit(2);
}

/* Runs body under a trap; an error ends the program. */
static void guarded(Tirc *c, void (*body)(Tirc *c, void *self), void *self) {
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    body(c, self);
    TIRC_END(c, trap);
    return;
  }
  give_up(c->diag.message);
}

/* --- a whole schedule --------------------------------------------------------------------------
 */

typedef struct Whole {
  const char *program, *script;
  Source script_source;
  const Module *m;
  const Trace *trace;
  int primitives;
  size_t arena;
} Whole;

static void read_inputs(Tirc *c, void *self) {
  Whole *w = self;
  Source program = tirc_read_source(c, w->program);
  w->script_source = tirc_read_source(c, w->script);
  w->m = tirc_parse_module(c, &program, 0, NULL);
}

static void run_script(Tirc *c, void *self) {
  Whole *w = self;
  Sched *s = tirc_sched_new(c, w->m);
  tirc_run_script(s, &w->script_source, NULL, NULL, NULL, NULL);
  w->primitives = s->trace->n;
  w->trace = s->trace;
  w->arena = c->bytes;
}

static void replay(Tirc *c, void *self) {
  Whole *w = self;
  Sched *s = tirc_sched_new(c, w->m);
  tirc_trace_apply(s, w->trace, false, (Loc){0}, "the trace");
  w->primitives = s->trace->n;
  w->arena = c->bytes;
}

static void measure_whole(Whole *w, const char *name, void (*body)(Tirc *c, void *self)) {
  const size_t before = bytes_in_use();
  const double start = tirc_now();
  int runs = 0;
  do {
    Tirc *c = tirc_context_new();
    guarded(c, body, w);
    tirc_context_release(c);
    runs++;
  } while (tirc_now() - start < 1);
  const double seconds = (tirc_now() - start) / runs;
  printf("%-22s %8.0f schedules/s %10.0f primitives/s %8.1f KiB a schedule %8ld B left\n", name,
         1 / seconds, w->primitives / seconds, (double)w->arena / 1024,
         (long)bytes_in_use() - (long)before);
}

/* --- primitives among unrelated blocks ---------------------------------------------------------
 */

/* A product, and n blocks in pairs of a producer and its consumer. */
static const Module *module_of(Tirc *c, int n) {
  Text t = {.c = c};
  tirc_text_add(&t, "@T.prim_func\ndef main(A: T.Buffer((64, 64)), B: T.Buffer((64, 64)), "
                    "C: T.Buffer((64, 64)), D: T.Buffer((64,))):\n    with T.block(\"root\"):\n");
  for (int i = 0; i < n; i++) tirc_text_addf(&t, "        X%d = T.alloc_buffer((64,))\n", i);
  tirc_text_add(&t, "        for i, j, k in T.grid(64, 64, 64):\n            with T.block(\"C\"):\n"
                    "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                    "                with T.init():\n                    C[vi, vj] = T.float32(0)\n"
                    "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n");
  for (int i = 0; i < n; i++)
    tirc_text_addf(&t,
                   "        for i in range(64):\n            with T.block(\"X%d\"):\n"
                   "                vi = T.axis.spatial(64, i)\n"
                   "                X%d[vi] = %s[vi] * T.float32(2)\n",
                   i, i, i % 2 ? tirc_format(c, "X%d", i - 1) : "D");
  Source source = {"bench", t.at, t.n};
  return tirc_parse_module(c, &source, 0, NULL);
}

static Value call(Sched *s, const char *name, int n, const Value *args) {
  return tirc_sched_call(s, tirc_find_primitive(name), (Loc){"bench", 1, 1}, n, args, 0, NULL,
                         NULL);
}

/* Each row is a primitive that is timed between its preparation and its undoing. */
typedef struct Nest {
  Sched *s;
  Value block, loops, made;
  const Module *kept;
} Nest;

static Value loop(const Nest *n, int i) { return n->loops.u.list->at[i]; }
static Value factors(Nest *n, int inner) {
  Value both[] = {VALUE_NONE, tirc_value_int(inner)};
  return tirc_value_list(n->s->c, VAL_LIST, 2, both);
}

static void get_block(Nest *n) { call(n->s, "get_block", 1, (Value[]){tirc_value_str("C")}); }
static void get_loops(Nest *n) { n->loops = call(n->s, "get_loops", 1, &n->block); }
static void split(Nest *n) {
  n->made = call(n->s, "split", 2, (Value[]){loop(n, 0), factors(n, 8)});
}
static void fuse(Nest *n) { call(n->s, "fuse", 2, n->made.u.list->at); }
static void reorder(Nest *n) { call(n->s, "reorder", 2, (Value[]){loop(n, 1), loop(n, 0)}); }
static void reorder_back(Nest *n) { call(n->s, "reorder", 2, (Value[]){loop(n, 0), loop(n, 1)}); }
static void unroll(Nest *n) { call(n->s, "unroll", 1, (Value[]){loop(n, 2)}); }
static void annotate(Nest *n) {
  Value args[] = {loop(n, 0), tirc_value_str("key"), tirc_value_int(1)};
  call(n->s, "annotate", 3, args);
}
static void unannotate(Nest *n) {
  call(n->s, "unannotate", 2, (Value[]){loop(n, 0), tirc_value_str("key")});
}
static void cache_read(Nest *n) {
  Value args[] = {n->block, tirc_value_int(0), tirc_value_str("global")};
  n->made = call(n->s, "cache_read", 3, args);
}
static void cache_write(Nest *n) {
  Value args[] = {n->block, tirc_value_int(0), tirc_value_str("global")};
  n->made = call(n->s, "cache_write", 3, args);
}
static void compute_at(Nest *n) { call(n->s, "compute_at", 2, (Value[]){n->made, loop(n, 0)}); }
static void reverse_compute_at(Nest *n) {
  call(n->s, "reverse_compute_at", 2, (Value[]){n->made, loop(n, 0)});
}
static void compute_inline(Nest *n) { call(n->s, "compute_inline", 1, &n->made); }
static void nothing(Nest *n) { (void)n; }

/* decompose_reduction cannot be undone: the module is put back instead. */
static void keep(Nest *n) { n->kept = n->s->mod; }
static void put_back(Nest *n) { tirc_sched_restore(n->s, n->kept); }
static void decompose(Nest *n) {
  call(n->s, "decompose_reduction", 2, (Value[]){n->block, loop(n, 2)});
}
static void cache_write_kept(Nest *n) {
  keep(n);
  cache_write(n);
}

static const struct Row {
  const char *name;
  void (*before)(Nest *), (*timed)(Nest *), (*after)(Nest *);
} rows[] = {
    {"get_block", nothing, get_block, nothing},
    {"get_loops", nothing, get_loops, nothing},
    {"split", nothing, split, fuse},
    {"fuse", split, fuse, nothing},
    {"reorder", nothing, reorder, reorder_back},
    {"unroll", nothing, unroll, nothing},
    {"annotate", nothing, annotate, unannotate},
    {"cache_read", nothing, cache_read, compute_inline},
    {"compute_at", cache_read, compute_at, compute_inline},
    {"compute_inline", cache_read, compute_inline, nothing},
    {"cache_write", keep, cache_write, put_back},
    {"reverse_compute_at", cache_write_kept, reverse_compute_at, put_back},
    {"decompose_reduction", keep, decompose, put_back},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

typedef struct Costs {
  int n;
  double seconds[N_ROWS];
} Costs;

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure_rows(Tirc *c, void *self) {
  Costs *costs = self;
  double *times = calloc(ROUNDS, sizeof *times);
  Nest n = {.s = tirc_sched_new(c, module_of(c, costs->n))};
  n.block = call(n.s, "get_block", 1, (Value[]){tirc_value_str("C")});
  for (int r = 0; r < N_ROWS; r++) {
    for (int i = 0; i < ROUNDS; i++) {
      n.loops = call(n.s, "get_loops", 1, &n.block);
      rows[r].before(&n);
      const double start = tirc_now();
      rows[r].timed(&n);
      times[i] = tirc_now() - start;
      rows[r].after(&n);
    }
    qsort(times, ROUNDS, sizeof *times, compare);
    costs->seconds[r] = times[ROUNDS / 2];
  }
  free(times);
}

static void measure_primitives(void) {
  Costs costs[N_SIZES] = {0};
  for (int i = 0; i < N_SIZES; i++) {
    Tirc *c = tirc_context_new();
    costs[i].n = sizes[i];
    guarded(c, measure_rows, &costs[i]);
    tirc_context_release(c);
  }
  printf("\n%-22s", "microseconds a call");
  for (int i = 0; i < N_SIZES; i++) printf(" %7d blocks", sizes[i]);
  printf("\n");
  for (int r = 0; r < N_ROWS; r++) {
    printf("%-22s", rows[r].name);
    for (int i = 0; i < N_SIZES; i++) printf(" %14.2f", costs[i].seconds[r] * 1e6);
    printf("\n");
  }
}

int main(int argc, char **argv) {
  if (argc != 3) give_up("usage: bench_schedule PROGRAM SCRIPT");
  const size_t before = bytes_in_use();
  Whole w = {.program = argv[1], .script = argv[2]};
  Tirc *inputs = tirc_context_new(), *first = tirc_context_new();
  guarded(inputs, read_inputs, &w);
  guarded(first, run_script, &w);
  const Trace *trace = w.trace;
  measure_whole(&w, "script", run_script);
  w.trace = trace;
  measure_whole(&w, "trace", replay);
  tirc_context_release(first);
  tirc_context_release(inputs);
  measure_primitives();
  malloc_trim(0);
  printf("\nmemory in use: %zu B at the start, %zu B at the end\n", before, bytes_in_use());
  return 0;
}
