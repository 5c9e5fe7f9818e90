/* bench_compile PROGRAM SCRIPT...
 *
 * Where compile time goes: parse, schedule, lower and LLVM, in milliseconds and as a share. First
 * the matrix product PROGRAM under each script, over the shapes of BERT's layers; then generated
 * modules of 10 to 3,000 blocks, where the time a block must not grow. */
#include "codegen/llvm/llvm.h"
#include "parser/program.h"
#include "passes/lower/lower.h"
#include "passes/script/script.h"
#include "runtime/kernel/timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARSE, SCHEDULE, LOWER, LLVM, N_PHASES, REPEATS = 3 };

static _Noreturn void give_up(const char *message) {
  fprintf(stderr, "bench_compile: %s\n", message);
  exit(2);
}

typedef struct Work {
  const char *program, *script; /* paths; or texts, with program_text */
  bool is_text;
  int n_defines;
  Define defines[3];
  double seconds[N_PHASES];
} Work;

static Source source(Tirc *c, const Work *w, const char *at, const char *name) {
  return w->is_text ? (Source){name, at, strlen(at)} : tirc_read_source(c, at);
}

static void compile(Tirc *c, Work *w) {
  double at[N_PHASES + 1];
  Source program = source(c, w, w->program, "program"), script = source(c, w, w->script, "script");
  at[PARSE] = tirc_now();
  const Module *m = tirc_parse_module(c, &program, w->n_defines, w->defines);
  at[SCHEDULE] = tirc_now();
  Sched *s = tirc_sched_new(c, m);
  tirc_run_script(s, &script, NULL, NULL, NULL, NULL);
  at[LOWER] = tirc_now();
  const Module *lowered = tirc_lower(c, s->mod, NULL, NULL);
  at[LLVM] = tirc_now();
  tirc_llvm_emit(c, lowered, CPU_DEFAULT, EMIT_OBJ);
  at[N_PHASES] = tirc_now();
  for (int i = 0; i < N_PHASES; i++) {
    const double seconds = at[i + 1] - at[i];
    if (w->seconds[i] == 0 || seconds < w->seconds[i]) w->seconds[i] = seconds;
  }
}

/* The least of some runs, of each phase for itself. */
static void measure(Work *w, int repeats) {
  for (int i = 0; i < repeats; i++) {
    Tirc *c = tirc_context_new();
    Trap trap;
    if (!TIRC_TRY(c, trap)) give_up(c->diag.message);
    compile(c, w);
    TIRC_END(c, trap);
    tirc_context_release(c);
  }
}

static void print_head(const char *what) {
  printf("%-34s %14s %14s %14s %14s %10s\n", what, "parse ms", "schedule ms", "lower ms", "LLVM ms",
         "total ms");
}

static void print_row(const char *name, const double *seconds) {
  double total = 0;
  for (int i = 0; i < N_PHASES; i++) total += seconds[i];
  printf("%-34s", name);
  for (int i = 0; i < N_PHASES; i++)
    printf(" %8.2f %4.0f%%", seconds[i] * 1e3, 100 * seconds[i] / total);
  printf(" %10.2f\n", total * 1e3);
  fflush(stdout);
}

/* --- the matrix product ----------------------------------------------------------------------- */

static void measure_shapes(const char *program, const char *script) {
  static const int rows[] = {16, 32, 64, 96, 128, 192, 256, 384};
  static const int layers[][2] = {{768, 768}, {768, 3072}, {3072, 768}}; /* K, N */
  double logs[N_PHASES] = {0};
  int n = 0;
  print_head(script);
  for (size_t l = 0; l < sizeof layers / sizeof *layers; l++)
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++, n++) {
      char text[3][16], name[64];
      Work w = {.program = program, .script = script, .n_defines = 3};
      snprintf(text[0], sizeof text[0], "%d", rows[r]);
      snprintf(text[1], sizeof text[1], "%d", layers[l][1]);
      snprintf(text[2], sizeof text[2], "%d", layers[l][0]);
      for (int d = 0; d < 3; d++) w.defines[d] = (Define){&"M\0N\0K"[2 * d], text[d]};
      snprintf(name, sizeof name, "  M=%d N=%s K=%s", rows[r], text[1], text[2]);
      measure(&w, REPEATS);
      print_row(name, w.seconds);
      for (int i = 0; i < N_PHASES; i++) logs[i] += log(w.seconds[i]);
    }
  for (int i = 0; i < N_PHASES; i++) logs[i] = exp(logs[i] / n);
  print_row("  geometric means", logs);
  printf("\n");
}

/* --- generated modules ------------------------------------------------------------------------ */

/* A chain of n blocks, each of which reads what the one before wrote; every fourth is a sum. */
static char *module_of(Tirc *c, int n) {
  Text t = {.c = c};
  tirc_text_add(&t, "@T.prim_func\ndef main(A: T.Buffer((64, 64)), B: T.Buffer((64, 64))):\n"
                    "    with T.block(\"root\"):\n");
  for (int i = 0; i < n - 1; i++) tirc_text_addf(&t, "        X%d = T.alloc_buffer((64, 64))\n", i);
  for (int i = 0; i < n; i++) {
    const char *from = i ? tirc_format(c, "X%d", i - 1) : "A";
    const char *to = i < n - 1 ? tirc_format(c, "X%d", i) : "B";
    if (i % 4 == 3)
      tirc_text_addf(&t,
                     "        for i, j, k in T.grid(64, 64, 64):\n"
                     "            with T.block(\"X%d\"):\n"
                     "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                     "                with T.init():\n"
                     "                    %s[vi, vj] = T.float32(0)\n"
                     "                %s[vi, vj] = %s[vi, vj] + %s[vi, vk] * A[vk, vj]\n",
                     i, to, to, to, from);
    else
      tirc_text_addf(&t,
                     "        for i, j in T.grid(64, 64):\n"
                     "            with T.block(\"X%d\"):\n"
                     "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                     "                %s[vi, vj] = %s[vi, vj] * T.float32(%d) + A[vi, vj]\n",
                     i, to, from, i);
  }
  return t.at;
}

static char *script_of(Tirc *c, int n) {
  return tirc_format(c,
                     "for n in range(%d):\n"
                     "    b = sch.get_block(f\"X{n}\")\n"
                     "    loops = sch.get_loops(b)\n"
                     "    j, v = sch.split(loops[1], factors=[None, 8])\n"
                     "    if len(loops) == 3:\n"
                     "        sch.reorder(j, loops[2], v)\n"
                     "    sch.vectorize(v)\n"
                     "    if len(loops) == 3:\n"
                     "        sch.decompose_reduction(b, loops[2])\n",
                     n);
}

static void measure_modules(void) {
  static const int sizes[] = {10, 30, 100, 300, 1000, 3000};
  print_head("generated modules");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char name[64];
    Tirc *c = tirc_context_new();
    Work w = {.program = module_of(c, sizes[i]), .script = script_of(c, sizes[i]), .is_text = true};
    snprintf(name, sizeof name, "  %d blocks", sizes[i]);
    measure(&w, sizes[i] > 100 ? 1 : REPEATS);
    print_row(name, w.seconds);
    tirc_context_release(c);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) give_up("usage: bench_compile PROGRAM SCRIPT...");
  for (int i = 2; i < argc; i++) measure_shapes(argv[1], argv[i]);
  measure_modules();
  return 0;
}
