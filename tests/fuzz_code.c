/* Random programs, interpreter against machine code and against C:
 *
 *   fuzz_code [--programs N] [--seed S] [--c COMPILER]... [--portable] [--cpu NAME]
 *             [--functions-a-file K] [--most N] [--from I] [--keep DIR] [--regions P] [--emulate]
 *             [--kernels] [--verbose]
 *
 * Every program computes with all element types, in values, conditions and indices, at the edges
 * of the types; loops run over symbolic extents of any integer type and over variables of any; its
 * arrays may have strides. Some have tiles and tails (fuzz_code_region.c). About half of them are
 * scheduled, too. A program that does something which is not defined (the interpreter says so) is
 * drawn again. What machine code and C compute must be the interpreter's results, integers and
 * bools to the byte; floats have values that are exact. Nothing outside of the arrays may be
 * touched. Several programs are compiled together. With --emulate their loops become threads
 * instead, which the emulator of a GPU runs. With --kernels they are kernels from the start, of
 * which lowering must refuse the wrong ones.
 *
 * A counterexample is made smaller while it still differs, and printed; with --keep it goes into a
 * file there as well. */
#include "fuzz_code.h"

#include "ir/cpu.h"
#include "ir/tree/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_COMPILERS = 4, BATCH = 16, MAX_FUNCTIONS = 1000, MAX_TRIES = 200, N_REASONS = 16 };

typedef struct Settings {
  long programs, seed, from;
  int functions, most, regions;
  int n_compilers;
  bool is_portable; /* C without extensions */
  const char *compilers[MAX_COMPILERS];
  const char *keep, *cpu;
  bool verbose, emulate, kernels;
  char folder[64];
} Settings;

typedef struct Stats {
  long drawn, done, broken, ordered; /* ordered: drawn again, for it hangs on the threads' order */
  CodeEmulated emulated;
  struct {
    const char *code; /* of the heap */
    char *example;
    long n;
  } reasons[N_REASONS]; /* why programs were drawn again */
} Stats;

static void count_reason(Stats *stats, const Tirc *c, const char *text) {
  for (int i = 0; i < N_REASONS; i++) {
    if (!stats->reasons[i].code) {
      stats->reasons[i].code = strdup(tirc_codes[c->diag.code].text);
      const size_t room = strlen(c->diag.message) + strlen(text) + 16;
      stats->reasons[i].example = malloc(room);
      if (stats->reasons[i].example)
        snprintf(stats->reasons[i].example, room, "%d: %s\n%s", c->diag.loc.line, c->diag.message,
                 text);
    }
    if (strcmp(stats->reasons[i].code, tirc_codes[c->diag.code].text) == 0) {
      stats->reasons[i].n++;
      return;
    }
  }
}

static void draw(const Settings *set, Tirc *c, Rng *r, const char *name, Program *p, Expected *e,
                 Stats *stats) {
  for (int tries = 0; tries < MAX_TRIES; tries++) {
    if (set->kernels)
      code_kernel(c, r, name, p);
    else
      (rng_chance(r, set->regions) ? code_regions : code_program)(c, r, name, p);
    stats->drawn++;
    if (code_expect(c, p, e)) {
      if (!set->kernels || code_same_in_orders(c, p, e)) return;
      code_release(e);
      stats->ordered++;
      continue;
    }
    count_reason(stats, c, p->text);
  }
  fprintf(stderr, "fuzz_code: no program can be run: %s\n%s", c->diag.message, p->text);
  exit(2);
}

static void print_counterexample(FILE *to, Tirc *c, const Program *p, const Module *m,
                                 const char *why) {
  fprintf(to, "# %s\n", why);
  for (int i = 0; i < p->n_params; i++) {
    const CodeParam *k = &p->params[i];
    fprintf(to, "# parameter %d: ", i);
    for (int d = 0; d < k->n; d++) fprintf(to, "%s%lld", d ? " x " : "", (long long)k->shape[d]);
    fprintf(to, k->is_scalar ? "%lld\n" : " from %lld\n", (long long)k->lo);
  }
  fprintf(to, "# elements are drawn from the seed %llu\n%s", (unsigned long long)p->seed,
          tirc_print_module(c, m, NULL));
  if (*p->schedule) fprintf(to, "# --- schedule\n%s", p->schedule);
  if (p->automatic) fprintf(to, "# --- schedule: the rules'\n");
}

static void report(Tirc *c, const Settings *set, const Compiler *how, Program *p, long number,
                   const char *why, Stats *stats) {
  if (++stats->broken > set->most) return;
  const Module *m = code_shrink(c, how, p, &why);
  if (!m) return;
  printf("counterexample %ld:\n", number);
  print_counterexample(stdout, c, p, m, why);
  printf("\n");
  fflush(stdout);
  if (!set->keep) return;
  FILE *f = fopen(tirc_format(c, "%s/%ld.tir", set->keep, number), "w");
  if (!f) return;
  print_counterexample(f, c, p, m, why);
  fprintf(f, "\n# --- as it was drawn\n");
  for (const char *at = p->text; *at;) {
    const size_t n = strcspn(at, "\n");
    fprintf(f, "# %.*s\n", (int)n, at);
    at += n + (at[n] != 0);
  }
  fclose(f);
}

/* n programs from number `first` on, drawn, and run in each way. */
static void batch(const Settings *set, long first, int n, Stats *stats) {
  Tirc *c = tirc_context_new();
  Program *programs = tirc_new_array(c, Program, n);
  Expected *expected = tirc_new_array(c, Expected, n);
  const char **why = tirc_new_array(c, const char *, n);
  for (int i = 0; i < n; i++) {
    Rng r = {(uint64_t)set->seed * 1000003u + (uint64_t)(first + i)};
    draw(set, c, &r, tirc_format(c, "f%ld", first + i), &programs[i], &expected[i], stats);
    if (set->verbose) printf("# %ld\n%s%s\n", first + i, programs[i].text, programs[i].schedule);
  }
  bool *reported = tirc_new_array(c, bool, n);
  for (int i = 0; set->emulate && i < n; i++) {
    const char *wrong = code_emulate(c, &expected[i], &stats->emulated);
    if (!wrong || ++stats->broken > set->most) continue;
    printf("counterexample %ld:\n", first + i);
    print_counterexample(stdout, c, &programs[i], expected[i].from, wrong);
  }
  for (int k = 0; !set->emulate && k <= set->n_compilers; k++) {
    const Compiler how = {k ? set->compilers[k - 1] : NULL, set->cpu, set->folder,
                          set->is_portable};
    code_run(c, &how, n, expected, why);
    for (int i = 0; i < n; i++) {
      if (!why[i] || reported[i]) continue;
      reported[i] = true;
      report(c, set, &how, &programs[i], first + i, why[i], stats);
    }
  }
  for (int i = 0; i < n; i++) code_release(&expected[i]);
  stats->done += n;
  tirc_context_release(c);
}

static void print_usage(FILE *to) {
  fprintf(to,
          "usage: fuzz_code [OPTION]...\n\n"
          "Random programs: what machine code and C compute is compared with the interpreter.\n\n"
          "  --programs N          how many (1000)\n"
          "  --from I              the number of the first (0): to go on where a run ended\n"
          "  --seed S              of the random numbers (1)\n"
          "  --c COMPILER          as C, too; a C compiler with its options; may be repeated\n"
          "  --cpu NAME            of machine code, and the vectors of C (haswell)\n"
          "  --functions-a-file K  programs that are compiled together (16; with --c 200)\n"
          "  --most N              counterexamples that are made small and printed (10)\n"
          "  --keep DIR            write these to files, too\n"
          "  --regions P           so many of a hundred with tiles and tails (15)\n"
          "  --emulate             on the emulator of a GPU, instead\n"
          "  --kernels             kernels, on the emulator; says why others are refused\n"
          "  --verbose             print each program, and why programs were drawn again\n");
}

static bool read_options(int argc, char **argv, Settings *set) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--verbose"))
      set->verbose = true;
    else if (!strcmp(argv[i], "--emulate"))
      set->emulate = true;
    else if (!strcmp(argv[i], "--kernels"))
      set->emulate = set->kernels = true;
    else if (i + 1 == argc)
      return false;
    else if (!strcmp(argv[i], "--programs"))
      set->programs = strtol(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--from"))
      set->from = strtol(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--seed"))
      set->seed = strtol(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--c") && set->n_compilers < MAX_COMPILERS)
      set->compilers[set->n_compilers++] = argv[++i];
    else if (!strcmp(argv[i], "--cpu"))
      set->cpu = argv[++i];
    else if (!strcmp(argv[i], "--portable"))
      set->is_portable = true;
    else if (!strcmp(argv[i], "--functions-a-file"))
      set->functions = (int)strtol(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--most"))
      set->most = (int)strtol(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--regions"))
      set->regions = (int)strtol(argv[++i], NULL, 10);
    else if (!strcmp(argv[i], "--keep"))
      set->keep = argv[++i];
    else
      return false;
  }
  if (!tirc_cpu_find(set->cpu)) return false;
  if (!set->functions) set->functions = set->n_compilers ? 200 : BATCH;
  return set->functions > 0 && set->functions <= MAX_FUNCTIONS && set->programs > 0;
}

int main(int argc, char **argv) {
  Settings set = {.programs = 1000,
                  .seed = 1,
                  .most = 10,
                  .regions = 15,
                  .cpu = CPU_DEFAULT,
                  .folder = "/tmp/fuzz_code.XXXXXX"};
  Stats stats = {0};
  if (argc == 2 && !strcmp(argv[1], "--help")) return print_usage(stdout), 0;
  if (!read_options(argc, argv, &set)) return print_usage(stderr), 2;
  if (set.n_compilers && !mkdtemp(set.folder)) return 2;
  for (long i = 0; i < set.programs; i += set.functions) {
    const long left = set.programs - i;
    batch(&set, set.from + i, left < set.functions ? (int)left : set.functions, &stats);
    if (isatty(2))
      fprintf(stderr, "\r%ld of %ld programs, %ld counterexamples ", stats.done, set.programs,
              stats.broken);
  }
  if (isatty(2)) fprintf(stderr, "\r%60s\r", "");
  for (int i = 0; set.verbose && i < N_REASONS && stats.reasons[i].code; i++)
    printf("drawn again %ld times: %s, such as\n%s\n", stats.reasons[i].n, stats.reasons[i].code,
           stats.reasons[i].example);
  if (set.emulate)
    printf("%ld programs have threads, %ld are refused, %ld hang on an order, %ld store twice, %ld "
           "are warned of\n",
           stats.emulated.done, stats.emulated.refused, stats.ordered, stats.emulated.twice,
           stats.emulated.warned);
  for (int i = 0; set.emulate && i < CODE_REASONS && stats.emulated.reasons[i].what; i++)
    printf("%6ld %s\n", stats.emulated.reasons[i].n, stats.emulated.reasons[i].what);
  printf("%ld programs, %ld drawn again, %ld counterexamples\n", stats.done,
         stats.drawn - stats.done, stats.broken);
  if (set.n_compilers && !stats.broken) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", set.folder);
    if (system(command)) return 2;
  }
  return stats.broken ? 1 : 0;
}
