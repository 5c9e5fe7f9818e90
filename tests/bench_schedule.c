/* bench_schedule PROGRAM SCRIPT
 *
 * How fast schedules are made: the script on the program again and again, its trace replayed, in
 * the processor's time, in the fastest of many turns, for what else the machine does slows the
 * others; what its questions of meaning cost that sight does not answer; and
 * what each primitive costs in modules of 10, 100 and 1,000 blocks that it has nothing to do with,
 * which must not grow; the memory that a call takes does by what it copies of the list of the
 * scope's allocations. Memory before and after shows that freeing gives everything back. */
#include "ir/tree/print.h"
#include "parser/program.h"
#include "passes/replay/replay.h"
#include "passes/script/script.h"
#include "slow_path.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_SIZES = 3, ROUNDS = 100, WARM_UP = 10, TURNS = 100, TURN = 20 };
static const int sizes[N_SIZES] = {10, 100, 1000};

/* What the thread's cache of the allocator keeps counts as in use: compare with what was in use
 * when the same had been done before. */
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

/* --- a whole schedule ------------------------------------------------------------------------- */

typedef struct Whole {
  const char *program, *script;
  Source script_source;
  const Module *m;
  const Trace *trace;
  int primitives;
  size_t arena;
  SlowPath slow;
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
  slow_path_add(&w->slow, s);
}

static void replay(Tirc *c, void *self) {
  Whole *w = self;
  Sched *s = tirc_sched_new(c, w->m);
  tirc_trace_apply(s, w->trace, false, NULL, (Loc){0}, "the trace");
  w->primitives = s->trace->n;
  w->arena = c->bytes;
}

static void run_once(Whole *w, void (*body)(Tirc *c, void *self)) {
  Tirc *c = tirc_context_new();
  guarded(c, body, w);
  tirc_context_release(c);
}

static void measure_whole(Whole *w, const char *name, void (*body)(Tirc *c, void *self)) {
  for (int i = 0; i < WARM_UP; i++) run_once(w, body);
  const size_t before = bytes_in_use();
  double seconds = 1;
  for (int turn = 0; turn < TURNS; turn++) {
    const double start = slow_path_now();
    for (int i = 0; i < TURN; i++) run_once(w, body);
    const double each = (slow_path_now() - start) / TURN;
    if (each < seconds) seconds = each;
  }
  printf("%-22s %8.0f schedules/s %10.0f primitives/s %8.1f KiB a schedule %8ld B left\n", name,
         1 / seconds, w->primitives / seconds, (double)w->arena / 1024,
         (long)bytes_in_use() - (long)before);
}

/* --- primitives among unrelated blocks -------------------------------------------------------- */

/* What the rows below work on: a product, a producer and its consumer, an update, a padding, a
 * window; and n
 * blocks in pairs that have nothing to do with them. */
static const char blocks[] =
    "        for i, j, k in T.grid(64, 64, 64):\n            with T.block(\"C\"):\n"
    "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "                with T.init():\n                    C[vi, vj] = T.float32(0)\n"
    "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
    "        for i, j in T.grid(64, 64):\n            with T.block(\"F\"):\n"
    "                vi, vj = T.axis.remap(\"SR\", [i, j])\n"
    "                with T.init():\n                    F[vi] = D[vi]\n"
    "                F[vi] = F[vi] + A[vi, vj] * T.float32(2)\n"
    "        for i, j in T.grid(64, 64):\n            with T.block(\"P\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                P[vi, vj] = A[vi, vj] * T.float32(2)\n"
    "        for i, j in T.grid(64, 64):\n            with T.block(\"Q\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                Q[vi, vj] = P[vi, vj] + T.float32(1)\n"
    "        for i, j in T.grid(64, 64):\n            with T.block(\"U\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                U[vi, vj] = A[vi, vj] + U[vi, vj]\n"
    "        for i, j in T.grid(66, 66):\n            with T.block(\"W\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                W[vi, vj] = T.if_then_else(1 <= vi and vi < 65 and 1 <= vj and vj < 65,\n"
    "                                           A[vi - 1, vj - 1], T.float32(0))\n"
    "        for i, j in T.grid(64, 64):\n            with T.block(\"S\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                S[vi, vj] = W[vi, vj] + W[vi + 1, vj + 1] + W[vi + 2, vj + 2]\n"
    "        for i in range(64):\n            with T.block(\"R\"):\n"
    "                vi = T.axis.spatial(64, i)\n                R[0] = D[vi]\n"
    "            with T.block(\"V\"):\n                vi = T.axis.spatial(64, i)\n"
    "                V[vi] = R[0] * T.float32(2)\n"
    "        for i in range(64):\n            with T.block(\"V2\"):\n"
    "                vi = T.axis.spatial(64, i)\n                V[vi] = V[vi] * T.float32(2)\n";

static const Module *module_of(Tirc *c, int n) {
  Text t = {.c = c};
  tirc_text_add(&t, "@T.prim_func\ndef main(");
  for (const char *p = "ABCQSU"; *p; p++) tirc_text_addf(&t, "%c: T.Buffer((64, 64)), ", *p);
  tirc_text_add(
      &t,
      "D: T.Buffer((64,)), F: T.Buffer((64,)), V: T.Buffer((64,))):\n    with T.block(\"root\"):\n"
      "        P = T.alloc_buffer((64, 64))\n        W = T.alloc_buffer((66, 66))\n        R = "
      "T.alloc_buffer((1,))\n");
  for (int i = 0; i < n; i++) tirc_text_addf(&t, "        X%d = T.alloc_buffer((64,))\n", i);
  tirc_text_add(&t, blocks);
  for (int i = 0; i < n; i++)
    tirc_text_addf(&t,
                   "        for i in range(64):\n            with T.block(\"X%d\"):\n"
                   "                vi = T.axis.spatial(64, i)\n"
                   "                X%d[vi] = %s[vi] * T.float32(2)\n",
                   i, i, i % 2 ? tirc_format(c, "X%d", i - 1) : "D");
  Source source = {"bench", t.at, t.n};
  return tirc_parse_module(c, &source, 0, NULL);
}

static const char intrinsic[] = "@T.prim_func\n"
                                "def sum8(a: T.handle, b: T.handle, c: T.handle):\n"
                                "    A = T.match_buffer(a, (8, 8), offset_factor=1)\n"
                                "    B = T.match_buffer(b, (8, 8), offset_factor=1)\n"
                                "    C = T.match_buffer(c, (8, 8), offset_factor=1)\n"
                                "    with T.block('root'):\n"
                                "        T.reads(C[0:8, 0:8], A[0:8, 0:8], B[0:8, 0:8])\n"
                                "        T.writes(C[0:8, 0:8])\n"
                                "        for i, j, k in T.grid(8, 8, 8):\n"
                                "            with T.block('update'):\n"
                                "                vi, vj, vk = T.axis.remap('SSR', [i, j, k])\n"
                                "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
                                "tvm.tir.TensorIntrin.register('sum8', sum8, sum8)\n";

/* Before each: b and its loops i, j, k are those of the product. */
static const char prelude[] = "b = sch.get_block('C')\ni, j, k = sch.get_loops(b)\n";

#define TILED                                                                                      \
  "i0, i1 = sch.split(i, [None, 8])\nj0, j1 = sch.split(j, [None, 8])\n"                           \
  "k0, k1 = sch.split(k, [None, 8])\nsch.reorder(i0, j0, k0, i1, j1, k1)\n"

/* Each row's script prepares a call and leaves its arguments in `args`; only the call is timed, and
 * the module is put back afterwards. */
static const struct Row {
  const char *primitive, *script;
} rows[] = {
    {"get_block", "args = ('C',)"},
    {"get_loops", "args = (b,)"},
    {"split", "args = (i, [None, 8])"},
    {"fuse", "args = (i, j)"},
    {"reorder", "args = (j, i)"},
    {"loop_partition", "args = (sch.get_loops('Q')[0], [None, 8])"},
    {"merge", "args = (sch.get_loops('P')[1], sch.get_loops('Q')[1])"},
    {"normalize_loops", "sch.split(i, [None, 7])\nargs = (b,)"},
    {"add_unit_loop", "args = (b,)"},
    {"parallel", "args = (i,)"},
    {"vectorize", "args = (j,)"},
    {"unroll", "args = (k,)"},
    {"bind", "args = (i, 'blockIdx.x')"},
    {"annotate", "args = (i, 'key', 1)"},
    {"unannotate", "sch.annotate(i, 'key', 1)\nargs = (i, 'key')"},
    {"cache_read", "args = (b, 0, 'global')"},
    {"cache_write", "args = (b, 0, 'global')"},
    {"cache_inplace", "args = ('U', 'U', 'global')"},
    {"cache_index", "args = ('S', 'global')"},
    {"reindex", "args = (b, ('read', 0))"},
    {"reindex_cache_read", "args = (b, 0, 'global', lambda i, j, k: (k, i))"},
    {"reindex_cache_write", "args = (b, 0, 'global', lambda i, j, k: (j, i))"},
    {"read_at", "args = (i, b, 0, 'global')"},
    {"write_at", "args = (i, b, 0, 'global')"},
    {"compute_at", "args = ('P', sch.get_loops('Q')[0])"},
    {"reverse_compute_at", "args = (sch.cache_write(b, 0, 'global'), i)"},
    {"compute_inline", "args = ('P',)"},
    {"reverse_compute_inline", "args = ('Q',)"},
    {"fuse_reduction_epilogue", "args = (b, sch.cache_write(b, 0, 'global'))"},
    {"decompose_reduction", "args = (b, k)"},
    {"compose_reduction", "z = sch.decompose_reduction(b, k)\nargs = (b, [z])"},
    {"rewrite_update", "args = ('U',)"},
    {"atomic_update", "args = ('U', True)"},
    {"privatize", "args = (sch.get_loops('U')[0], 'global', True)"},
    {"factor_out", "sch.cache_write('F', 0, 'global')\nargs = ('F',)"},
    {"rfactor", "args = (k, 0)"},
    {"decompose_padding", "args = ('W', sch.get_loops('W')[0])"},
    {"pad_einsum", "args = (b, [48, 48, 48])"},
    {"blockize", "args = (j,)"},
    {"tensorize", TILED "sch.decompose_reduction(b, k0)\nargs = (i1, 'sum8')"},
    {"set_scope", "args = ('P', 0, 'global.x')"},
    {"unsafe_set_dtype", "args = ('P', 0, 'float16')"},
    {"storage_align", "args = ('P', 0, 0, 32, 8)"},
    {"set_axis_separator", "args = ('P', ('write', 0), [1])"},
    {"transform_layout", "args = ('P', ('write', 0), lambda i, j: (j, i))"},
    {"rename_buffer", "args = ('V2',)"},
    {"expand_buffer", "args = (sch.get_loops('V')[0], 'R')"},
    {"reshape_buffer", "args = ('P', ('write', 0), [8, 8, 64])"},
    {"restore_shapes", "args = ()"},
    {"transform_block_layout", "args = ('Q', lambda i, j: (j, i))"},
    {"reorder_block_iter_var", "args = (b, [1, 0, 2])"},
    {"rolling_buffer", "x, y = sch.get_loops('S')\nsch.compute_at('W', x)\nargs = ('W', 0)"},
    {"annotate_buffer_access", "args = ('Q', 0, 'read', lambda i, j: ((0, 64), (j, j + 1)))"},
    {"unsafe_hide_buffer_access", "args = ('Q', 'read', [0])"},
    {"sample_perfect_tile", "args = (i, 2)"},
    {"sample_compute_location", "args = ('P',)"},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

typedef struct Cost { /* of a row's call, in a module of n blocks */
  const struct Row *row;
  int n;
  Sched *s;
  const Module *kept; /* as it was before the calls */
  Script *script;
  double seconds[ROUNDS];
  size_t bytes; /* of the last call */
} Cost;

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static Source source_of(const char *text) { return (Source){"row", text, strlen(text)}; }

/* Sorts the times. */
static double median(double *times) {
  qsort(times, ROUNDS, sizeof *times, compare);
  return times[ROUNDS / 2];
}

static void prepare_row(Tirc *c, void *self) {
  Cost *cost = self;
  const Source once = source_of(intrinsic);
  cost->s = tirc_sched_new(c, module_of(c, cost->n));
  cost->kept = cost->s->mod;
  cost->script = tirc_script_open(cost->s, NULL, NULL, NULL, NULL);
  tirc_script_run(cost->script, &once);
}

typedef struct Call {
  Cost *cost;
  int round;
} Call;

static void measure_call(Tirc *c, void *self) {
  const Call *k = self;
  Cost *cost = k->cost;
  const Primitive *p = tirc_find_primitive(cost->row->primitive);
  const Source args = source_of("args"),
               script = source_of(tirc_format(c, "%s%s\n", prelude, cost->row->script));
  if (!p) tirc_fail(c, (Loc){0}, CODE_NAME, NULL, "there is no %s", cost->row->primitive);
  tirc_script_run(cost->script, &script);
  const ValueList *list = tirc_script_value(cost->script, &args).u.list;
  const size_t before = c->bytes;
  const double start = slow_path_now();
  tirc_sched_call(cost->s, p, (Loc){"bench", 1, 1}, &(Args){.n = list->n, .at = list->at});
  cost->seconds[k->round] = slow_path_now() - start;
  cost->bytes = c->bytes - before;
  tirc_sched_restore(cost->s, cost->kept);
}

/* The sizes take turns, so that what else the machine does falls on all of them; the ratio is the
 * median of those of the rounds. */
static void measure_row(const struct Row *row) {
  Tirc *contexts[N_SIZES];
  Cost costs[N_SIZES];
  double ratios[ROUNDS];
  for (int i = 0; i < N_SIZES; i++) {
    contexts[i] = tirc_context_new();
    costs[i] = (Cost){.row = row, .n = sizes[i]};
    guarded(contexts[i], prepare_row, &costs[i]);
  }
  for (int r = 0; r < ROUNDS; r++) {
    for (int i = 0; i < N_SIZES; i++) guarded(contexts[i], measure_call, &(Call){&costs[i], r});
    ratios[r] = costs[N_SIZES - 1].seconds[r] / costs[0].seconds[r];
  }
  printf("%-26s", row->primitive);
  for (int i = 0; i < N_SIZES; i++) printf(" %14.2f", median(costs[i].seconds) * 1e6);
  printf(" %12.1f %10.1f %10.1f\n", median(ratios), (double)costs[0].bytes / 1024,
         (double)costs[N_SIZES - 1].bytes / 1024);
  fflush(stdout);
  for (int i = 0; i < N_SIZES; i++) tirc_context_release(contexts[i]);
}

/* What the kernel takes to hand out fresh pages is no cost of a primitive: memory that was freed
 * is used again, as in a search. */
static void keep_memory(void) {
  enum { ENOUGH = 128 << 20, PAGE = 4096 };
  mallopt(M_MMAP_THRESHOLD, ENOUGH * 2);
  mallopt(M_TRIM_THRESHOLD, ENOUGH * 2);
  volatile char *p = malloc(ENOUGH);
  for (size_t i = 0; p && i < ENOUGH; i += PAGE) p[i] = 1;
  free((void *)p);
}

static void measure_primitives(void) {
  keep_memory();
  printf("\n%-26s", "microseconds a call");
  for (int i = 0; i < N_SIZES; i++) printf(" %7d blocks", sizes[i]);
  printf(" %7d / %d %11s %d, %d\n", sizes[N_SIZES - 1], sizes[0], "KiB at", sizes[0],
         sizes[N_SIZES - 1]);
  measure_row(&rows[0]);
  const size_t before = bytes_in_use();
  for (int r = 1; r < N_ROWS; r++) measure_row(&rows[r]);
  printf("\nmemory in use: %zu B after the first row, %zu B after the last\n", before,
         bytes_in_use());
}

int main(int argc, char **argv) {
  if (argc != 3) give_up("usage: bench_schedule PROGRAM SCRIPT");
  Whole w = {.program = argv[1], .script = argv[2]};
  Tirc *inputs = tirc_context_new(), *first = tirc_context_new();
  guarded(inputs, read_inputs, &w);
  guarded(first, run_script, &w);
  const Trace *trace = w.trace;
  measure_whole(&w, "script", run_script);
  w.trace = trace;
  measure_whole(&w, "trace", replay);
  slow_path_report(&w.slow);
  tirc_context_release(first);
  tirc_context_release(inputs);
  measure_primitives();
  return 0;
}
