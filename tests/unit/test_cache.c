/* The cache primitives and decompose_reduction: the two errors that come of calling them in the
 * wrong order, the order that is right, and the calls that would change what a program computes.
 * After a failure the module must print as it did before the call that failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/arith/equal.h"
#include "ir/tree/print.h"
#include "parser/program.h"
#include "passes/schedule/schedule.h"
#include "passes/script/script.h"

#define HEAD "@T.prim_func\n"
#define MATMUL                                                                                     \
  HEAD "def main(A: T.Buffer((128, 128), \"float32\"), B: T.Buffer((128, 128), \"float32\"), "     \
       "C: T.Buffer((128, 128), \"float32\")):\n"                                                  \
       "    for i, j, k in T.grid(128, 128, 128):\n"                                               \
       "        with T.block(\"C\"):\n"                                                            \
       "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                               \
       "            with T.init():\n"                                                              \
       "                C[vi, vj] = T.float32(0)\n"                                                \
       "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"
#define TILE                                                                                       \
  "C = sch.get_block(\"C\")\n"                                                                     \
  "i, j, k = sch.get_loops(C)\n"                                                                   \
  "io, ii = sch.split(i, [None, 64])\n"                                                            \
  "jo, ji = sch.split(j, [None, 64])\n"                                                            \
  "ko, ki = sch.split(k, [None, 8])\n"                                                             \
  "sch.reorder(io, jo, ko, ii, ki, ji)\n"
#define CACHE                                                                                      \
  "cw = sch.cache_write(C, 0, \"global\")\n"                                                       \
  "sch.reverse_compute_at(cw, jo)\n"

typedef struct Case {
  const char *title, *program, *schedule;
  const char *code, *message; /* of the error; NULL: legal (message NULL: any) */
  const char *result;         /* of a legal schedule, or NULL: any */
} Case;

static const Case cases[] = {
    {"decompose_reduction before cache_write", MATMUL,
     TILE "sch.decompose_reduction(C, ko)\n"
          "sch.cache_write(C, 0, \"global\")\n",
     "not-single-writer",
     "The buffer C is expected to be written by single block, but got 2 blocks who write it.",
     NULL},
    {"decompose_reduction between cache_write and parallel", MATMUL,
     TILE CACHE "sch.decompose_reduction(C, ko)\n"
                "sch.parallel(sch.fuse(io, jo))\n",
     "not-compact-dataflow", NULL, NULL},
    {"decompose_reduction last", MATMUL,
     TILE CACHE "f = sch.fuse(io, jo)\n"
                "sch.parallel(f)\n"
                "sch.vectorize(ji)\n"
                "init = sch.decompose_reduction(C, ko)\n"
                "assert sch.get(init).name == 'C_init'\n"
                "assert sch.get(C).name == 'C_update'\n"
                "assert sch.get(cw).name == 'C_global'\n",
     NULL, NULL,
     HEAD "def main(A: T.Buffer((128, 128), \"float32\"), B: T.Buffer((128, 128), \"float32\"), "
          "C: T.Buffer((128, 128), \"float32\")):\n"
          "    C_global = T.alloc_buffer((128, 128))\n"
          "    for f in T.parallel(4):\n"
          "        for ii in range(64):\n"
          "            for ji in T.vectorized(64):\n"
          "                with T.block(\"C_init\"):\n"
          "                    vi = T.axis.spatial(128, f // 2 * 64 + ii)\n"
          "                    vj = T.axis.spatial(128, f % 2 * 64 + ji)\n"
          "                    T.reads()\n"
          "                    T.writes(C_global[vi, vj])\n"
          "                    C_global[vi, vj] = T.float32(0)\n"
          "        for ko, ii, ki in T.grid(16, 64, 8):\n"
          "            for ji in T.vectorized(64):\n"
          "                with T.block(\"C_update\"):\n"
          "                    vi = T.axis.spatial(128, f // 2 * 64 + ii)\n"
          "                    vj = T.axis.spatial(128, f % 2 * 64 + ji)\n"
          "                    vk = T.axis.reduce(128, ko * 8 + ki)\n"
          "                    T.reads(C_global[vi, vj], A[vi, vk], B[vk, vj])\n"
          "                    T.writes(C_global[vi, vj])\n"
          "                    C_global[vi, vj] = C_global[vi, vj] + A[vi, vk] * B[vk, vj]\n"
          "        for ax0, ax1 in T.grid(64, 64):\n"
          "            with T.block(\"C_global\"):\n"
          "                v0 = T.axis.spatial(128, f // 2 * 64 + ax0)\n"
          "                v1 = T.axis.spatial(128, f % 2 * 64 + ax1)\n"
          "                T.reads(C_global[v0, v1])\n"
          "                T.writes(C[v0, v1])\n"
          "                C[v0, v1] = C_global[v0, v1]\n"},
    {"a block that reads what it writes cannot move to a write cache",
     HEAD "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
          "    for i in range(64):\n"
          "        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(64, i)\n"
          "            B[vi] = B[vi] + A[vi]\n",
     "sch.cache_write(\"B\", 0, \"global\")\n", "reads-own-output", NULL, NULL},
    {"but it can when it starts with an init of its own",
     HEAD "def main(A: T.Buffer((64, 64), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
          "    for i, k in T.grid(64, 64):\n"
          "        with T.block(\"B\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "            T.reads(B[vi], A[vi, vk])\n"
          "            T.writes(B[vi])\n"
          "            if vk == 0:\n"
          "                B[vi] = T.float32(0)\n"
          "            B[vi] = B[vi] + A[vi, vk]\n",
     "sch.cache_write(\"B\", 0, \"global\")\n", NULL, NULL, NULL},
    {"not when that init belongs to another iteration",
     HEAD "def main(A: T.Buffer((64, 64), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
          "    for i, k in T.grid(64, 64):\n"
          "        with T.block(\"B\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "            T.reads(B[vi], A[vi, vk])\n"
          "            T.writes(B[vi])\n"
          "            if vk == 1:\n"
          "                B[vi] = T.float32(0)\n"
          "            B[vi] = B[vi] + A[vi, vk]\n",
     "sch.cache_write(\"B\", 0, \"global\")\n", "reads-own-output", NULL, NULL},
    {"a copy must not bring back what nobody wrote",
     HEAD "def main(A: T.Buffer((64, 64), \"float32\"), B: T.Buffer((64, 64), \"float32\")):\n"
          "    for i in range(64):\n"
          "        for j in range(i + 1):\n"
          "            with T.block(\"B\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                B[vi, vj] = A[vi, vj]\n",
     "sch.cache_write(\"B\", 0, \"global\")\n", "region-not-covered", NULL, NULL},
    {"a reader before the writer keeps the old contents",
     HEAD "def main(B: T.Buffer((64,), \"float32\"), C: T.Buffer((64,), \"float32\")):\n"
          "    for i in range(64):\n"
          "        with T.block(\"C\"):\n"
          "            vi = T.axis.spatial(64, i)\n"
          "            C[vi] = B[vi]\n"
          "    for i in range(64):\n"
          "        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(64, i)\n"
          "            B[vi] = T.float32(1)\n",
     "sch.cache_read(\"C\", 0, \"global\")\n", "read-before-write", NULL, NULL},
    {"only the named consumers read the cache",
     HEAD "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\"), "
          "C: T.Buffer((64,), \"float32\")):\n"
          "    for i in range(64):\n"
          "        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(64, i)\n"
          "            B[vi] = A[vi]\n"
          "    for i in range(64):\n"
          "        with T.block(\"C\"):\n"
          "            vi = T.axis.spatial(64, i)\n"
          "            C[vi] = A[vi]\n",
     "sch.cache_read(\"C\", 0, \"local\", consumer_blocks=[\"C\"])\n", NULL, NULL,
     HEAD "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\"), "
          "C: T.Buffer((64,), \"float32\")):\n"
          "    A_local = T.alloc_buffer((64,), scope=\"local\")\n"
          "    for ax0 in range(64):\n"
          "        with T.block(\"A_local\"):\n"
          "            v0 = T.axis.spatial(64, ax0)\n"
          "            A_local[v0] = A[v0]\n"
          "    for i in range(64):\n"
          "        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(64, i)\n"
          "            B[vi] = A[vi]\n"
          "    for i in range(64):\n"
          "        with T.block(\"C\"):\n"
          "            vi = T.axis.spatial(64, i)\n"
          "            C[vi] = A_local[vi]\n"},
    {"the cache of a part is as large as the part, and counts from its corner",
     HEAD "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
          "    for i in range(16):\n"
          "        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(16, i)\n"
          "            B[vi + 8] = A[vi]\n",
     "sch.cache_write(\"B\", 0, \"global\")\n", NULL, NULL,
     HEAD "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"
          "    B_global = T.alloc_buffer((16,))\n"
          "    for i in range(16):\n"
          "        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(16, i)\n"
          "            B_global[vi] = A[vi]\n"
          "    for ax0 in range(16):\n"
          "        with T.block(\"B_global\"):\n"
          "            v0 = T.axis.spatial(16, ax0)\n"
          "            B[v0 + 8] = B_global[v0]\n"},
    {"a copy between writer and consumer in one loop",
     HEAD "def main(A: T.Buffer((8, 8), \"float32\"), C: T.Buffer((8, 8), \"float32\")):\n"
          "    B = T.alloc_buffer((8, 8))\n"
          "    for i in range(8):\n"
          "        for j in range(8):\n"
          "            with T.block(\"B\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                B[vi, vj] = A[vi, vj]\n"
          "        for j in range(8):\n"
          "            with T.block(\"C\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                C[vi, vj] = B[vi, vj]\n",
     "sch.cache_read(\"C\", 0, \"local\")\n", NULL, NULL,
     HEAD "def main(A: T.Buffer((8, 8), \"float32\"), C: T.Buffer((8, 8), \"float32\")):\n"
          "    B = T.alloc_buffer((8, 8))\n"
          "    B_local = T.alloc_buffer((8, 8), scope=\"local\")\n"
          "    for i in range(8):\n"
          "        for j in range(8):\n"
          "            with T.block(\"B\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                B[vi, vj] = A[vi, vj]\n"
          "        for ax0, ax1 in T.grid(1, 8):\n"
          "            with T.block(\"B_local\"):\n"
          "                v0 = T.axis.spatial(8, i + ax0)\n"
          "                v1 = T.axis.spatial(8, ax1)\n"
          "                B_local[v0, v1] = B[v0, v1]\n"
          "        for j in range(8):\n"
          "            with T.block(\"C\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                C[vi, vj] = B_local[vi, vj]\n"},
    {"no init below a loop of the reduction", MATMUL,
     "C = sch.get_block(\"C\")\n"
     "i, j, k = sch.get_loops(C)\n"
     "sch.reorder(k, i)\n"
     "sch.decompose_reduction(C, i)\n",
     "loop-below-reduction-loop", NULL, NULL},
    {"no single init for a sum that is computed again and again",
     HEAD "def main(A: T.Buffer((8, 8), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
          "    for t in range(3):\n"
          "        for i, k in T.grid(8, 8):\n"
          "            with T.block(\"B\"):\n"
          "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "                with T.init():\n"
          "                    B[vi] = T.float32(0)\n"
          "                B[vi] = B[vi] + A[vi, vk]\n",
     "sch.decompose_reduction(\"B\", sch.get_loops(\"B\")[0])\n", "repeated-reduction", NULL, NULL},
    {"below the loop that repeats it, it is one",
     HEAD "def main(A: T.Buffer((8, 8), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
          "    for t in range(3):\n"
          "        for i, k in T.grid(8, 8):\n"
          "            with T.block(\"B\"):\n"
          "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "                with T.init():\n"
          "                    B[vi] = T.float32(0)\n"
          "                B[vi] = B[vi] + A[vi, vk]\n",
     "sch.decompose_reduction(\"B\", sch.get_loops(\"B\")[1])\n", NULL, NULL,
     HEAD "def main(A: T.Buffer((8, 8), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
          "    for t in range(3):\n"
          "        for i in range(8):\n"
          "            with T.block(\"B_init\"):\n"
          "                vi = T.axis.spatial(8, i)\n"
          "                T.reads()\n"
          "                B[vi] = T.float32(0)\n"
          "        for i, k in T.grid(8, 8):\n"
          "            with T.block(\"B_update\"):\n"
          "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "                T.reads(B[vi], A[vi, vk])\n"
          "                T.writes(B[vi])\n"
          "                B[vi] = B[vi] + A[vi, vk]\n"},
    {"the init runs where the first step of the reduction ran",
     HEAD "def main(A: T.Buffer((10, 16), \"float32\"), B: T.Buffer((10,), \"float32\")):\n"
          "    for i, k in T.grid(10, 16):\n"
          "        with T.block(\"B\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "            T.where(i < 7 and 0 < k)\n"
          "            with T.init():\n"
          "                B[vi] = T.float32(0)\n"
          "            B[vi] = B[vi] + A[vi, vk]\n",
     "sch.decompose_reduction(\"B\", sch.get_loops(\"B\")[1])\n", NULL, NULL,
     HEAD "def main(A: T.Buffer((10, 16), \"float32\"), B: T.Buffer((10,), \"float32\")):\n"
          "    for i in range(10):\n"
          "        with T.block(\"B_init\"):\n"
          "            vi = T.axis.spatial(10, i)\n"
          "            T.where(False)\n"
          "            T.reads()\n"
          "            B[vi] = T.float32(0)\n"
          "        for k in range(16):\n"
          "            with T.block(\"B_update\"):\n"
          "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "                T.where(i < 7 and 0 < k)\n"
          "                T.reads(B[vi], A[vi, vk])\n"
          "                T.writes(B[vi])\n"
          "                B[vi] = B[vi] + A[vi, vk]\n"},
    {"a consumer of another scope", MATMUL,
     "sch.cache_read(\"C\", 0, \"global\", consumer_blocks=[\"root\"])\n", "cache-consumer", NULL,
     NULL},
    {"a part of a buffer behind its data pointer",
     HEAD "def main(B: T.Buffer((64,), \"float32\")):\n"
          "    for i in range(32):\n"
          "        with T.block(\"B\"):\n"
          "            vi = T.axis.spatial(32, i)\n"
          "            T.reads()\n"
          "            T.writes(B[vi + 16])\n"
          "            T.evaluate(T.call_extern(\"int32\", \"f\", B.data, vi))\n",
     "sch.cache_write(\"B\", 0, \"global\")\n", "cache-alias", NULL, NULL},
    {"alignments of several axes, the last call for an axis counting", MATMUL,
     "C = sch.get_block(\"C\")\n"
     "sch.cache_write(C, 0, \"local\")\n"
     "sch.set_scope(C, 0, \"global\")\n"
     "sch.storage_align(C, 0, 0, 16, 4)\n"
     "sch.storage_align(C, 0, -1, 8, 1)\n"
     "sch.storage_align(C, 0, -2, 32, 8)\n",
     NULL, NULL,
     HEAD "def main(A: T.Buffer((128, 128), \"float32\"), B: T.Buffer((128, 128), \"float32\"), "
          "C: T.Buffer((128, 128), \"float32\")):\n"
          "    C_local = T.alloc_buffer((128, 128))\n"
          "    for i, j, k in T.grid(128, 128, 128):\n"
          "        with T.block(\"C\"):\n"
          "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
          "            T.block_attr({\"buffer_dim_align\": [[0, 0, 32, 8], [0, 1, 8, 1]]})\n"
          "            with T.init():\n"
          "                C_local[vi, vj] = T.float32(0)\n"
          "            C_local[vi, vj] = C_local[vi, vj] + A[vi, vk] * B[vk, vj]\n"
          "    for ax0, ax1 in T.grid(128, 128):\n"
          "        with T.block(\"C_local\"):\n"
          "            v0, v1 = T.axis.remap(\"SS\", [ax0, ax1])\n"
          "            C[v0, v1] = C_local[v0, v1]\n"},
    {"the loop of another block",
     MATMUL "    for i in range(4):\n"
            "        with T.block(\"D\"):\n"
            "            vi = T.axis.spatial(4, i)\n"
            "            T.reads()\n"
            "            T.writes()\n"
            "            T.evaluate(0)\n",
     "sch.decompose_reduction(\"C\", sch.get_loops(\"D\")[0])\n", "loop-not-above-block", NULL,
     NULL},
    {"a storage scope that no target has", MATMUL, "sch.cache_read(\"C\", 0, \"cupboard\")\n",
     "storage-scope", NULL, NULL},
    {"the scope of a parameter", MATMUL, "sch.set_scope(\"C\", 0, \"shared\")\n",
     "buffer-not-allocated", NULL, NULL},
    {"an axis that is not there", MATMUL,
     "sch.cache_write(\"C\", 0, \"global\")\n"
     "sch.storage_align(\"C\", 0, 2, 32, 8)\n",
     "align-axis", NULL, NULL},
    {"a factor of nothing", MATMUL, "sch.storage_align(\"C\", 0, 0, 0, 8)\n", "align-factor", NULL,
     NULL},
};

/* What the module printed as after the last call that succeeded. */
typedef struct Watch {
  Tirc *c;
  const char *last;
  int n_failed;
  bool changed; /* by a call that failed */
} Watch;

static void watch(void *self, Sched *s, const char *call, Loc loc, const Diag *diag) {
  (void)call, (void)loc;
  Watch *w = self;
  const char *now = tirc_print_module(w->c, s->mod, NULL);
  if (diag) w->n_failed++;
  if (diag && strcmp(now, w->last) != 0) w->changed = true;
  w->last = now;
}

static const Module *parse(Tirc *c, const char *text) {
  return tirc_parse_module(c, &(Source){"case.tir", text, strlen(text)}, 0, NULL);
}

static void check_legal(Tirc *c, const Case *t, const Module *m) {
  if (t->code) fail_msg("%s: expected %s, but the schedule was accepted", t->title, t->code);
  if (!t->result) return;
  const char *difference = tirc_module_difference(c, m, parse(c, t->result));
  if (difference) fail_msg("%s: %s\n%s", t->title, difference, tirc_print_module(c, m, NULL));
}

static void check_error(const Case *t, const Diag *d, const Watch *w) {
  if (!t->code) fail_msg("%s: %s: %s", t->title, d->code, d->message);
  assert_string_equal(d->code, t->code);
  assert_int_equal(d->status, TIRC_STATUS_NO);
  if (t->message) assert_string_equal(d->message, t->message);
  assert_non_null(d->hint);
  assert_int_equal(w->n_failed, 1);
  if (w->changed) fail_msg("%s: the failed call changed the module:\n%s", t->title, w->last);
}

static void run_case(void **state) {
  const Case *t = *state;
  Tirc *c = tirc_context_new();
  Trap trap;
  Watch w = {.c = c};
  if (TIRC_TRY(c, trap)) {
    Sched *s = tirc_sched_new(c, parse(c, t->program));
    w.last = tirc_print_module(c, s->mod, NULL);
    Source script = {"case.sch", t->schedule, strlen(t->schedule)};
    tirc_run_script(s, &script, NULL, NULL, watch, &w);
    check_legal(c, t, s->mod);
    TIRC_END(c, trap);
  } else {
    check_error(t, &c->diag, &w);
  }
  tirc_context_release(c);
}

int main(void) {
  enum { N = sizeof cases / sizeof *cases };
  struct CMUnitTest tests[N];
  for (int i = 0; i < N; i++)
    tests[i] =
        (struct CMUnitTest){cases[i].title, run_case, NULL, NULL, (void *)(uintptr_t)&cases[i]};
  return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
