/* `tirc bench`: every setting of the -D lists, every contender; tables, and figures as JSON. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* --- the settings: the product of the -D lists -------------------------------------------------
 */

typedef struct Axis {
  char *name;
  int n;
  char **values;
} Axis;

/* The next value of a list: commas within brackets do not count. */
static const char *value_end(const char *p) {
  int depth = 0;
  for (; *p && (depth > 0 || *p != ','); p++) {
    if (*p == '(' || *p == '[') depth++;
    if (*p == ')' || *p == ']') depth--;
  }
  return p;
}

static bool read_axis(const char *text, Axis *a) {
  const char *p = strchr(text, '=');
  if (!p || p == text) return false;
  a->name = strndup(text, (size_t)(p - text));
  do {
    const char *start = ++p;
    p = value_end(start);
    char **grown = realloc(a->values, ((size_t)a->n + 1) * sizeof *grown);
    if (!grown || p == start) return false;
    a->values = grown;
    a->values[a->n++] = strndup(start, (size_t)(p - start));
  } while (*p == ',');
  return true;
}

/* Case number i of the product; the last axis runs fastest. */
static void choose(const Axis *axes, int n, int i, Case *k) {
  char text[512] = "";
  size_t used = 0;
  k->n_defines = n;
  k->defines = calloc((size_t)n + 1, sizeof *k->defines);
  for (int a = n - 1; k->defines && a >= 0; a--) {
    k->defines[a] = (tirc_define){axes[a].name, axes[a].values[i % axes[a].n]};
    i /= axes[a].n;
  }
  for (int a = 0; k->defines && a < n && used < sizeof text; a++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", a ? " " : "",
                             k->defines[a].name, k->defines[a].value);
  k->setting = strdup(text);
}

/* --- output ------------------------------------------------------------------------------------
 */

static void print_case(const Bench *b, const Case *k) {
  const Contender *first = find_first(k), *library = find_library(k);
  printf("\n%s%s%s  %d thread%s, %.4g Mflop%s\n", k->kernel, *k->setting ? " " : "", k->setting,
         b->threads, b->threads == 1 ? "" : "s", k->cost.float_ops * 1e-6,
         k->cost.is_exact ? "" : " (estimated)");
  printf("%-18s %11s %11s %7s %6s %9s %7s", "contender", "median ms", "min ms", "spread", "reps",
         "GFLOP/s", "% peak");
  if (first) printf("  x %s", first->name);
  if (library && library != first) printf("  x %s", library->name);
  printf("\n");
  for (int i = 0; i < k->n_contenders; i++) {
    const Contender *c = &k->contenders[i];
    if (c->median <= 0) continue;
    printf("%-18s %11.4f %11.4f %6.1f%% %6d %9.2f ", c->name, c->median * 1e3, c->min * 1e3,
           c->spread * 100, c->n_times, c->gflops);
    if (b->peak > 0)
      printf("%6.1f%%", c->percent);
    else
      printf("%7s", "-");
    if (first) printf("  %*.2f", (int)strlen(first->name) + 2, ratio_to(c, first));
    if (library && library != first)
      printf("  %*.2f", (int)strlen(library->name) + 2, ratio_to(c, library));
    printf("\n");
  }
  fflush(stdout);
}

static void print_means(const Bench *b) {
  if (b->n_cases < 2) return;
  printf("\nGeometric means over %d settings\n%-18s %10s %12s %8s\n", b->n_cases, "contender",
         "x first", b->library ? "x openblas" : "", "% peak");
  const Case *k = &b->cases[0];
  for (int i = 0; i < k->n_contenders; i++) {
    double first = geometric_mean(b, i, MEAN_VS_FIRST);
    double library = geometric_mean(b, i, MEAN_VS_LIBRARY);
    double percent = geometric_mean(b, i, MEAN_PERCENT);
    if (first <= 0 && library <= 0 && percent <= 0) continue;
    printf("%-18s %10.2f ", k->contenders[i].name, first);
    if (library > 0)
      printf("%12.2f", library);
    else
      printf("%12s", "");
    printf(" %7.1f%%\n", percent);
  }
}

/* --- the command -------------------------------------------------------------------------------
 */

static bool add_contenders(const Bench *b, Case *k) {
  int scripts = b->o->args.n - 1;
  k->n_contenders = scripts + (b->library ? 1 : 0);
  k->contenders = calloc((size_t)k->n_contenders + 1, sizeof *k->contenders);
  if (!k->contenders) return false;
  for (int i = 0; i < scripts; i++)
    k->contenders[i] =
        (Contender){.name = path_stem(b->o->args.at[i + 1]), .script = b->o->args.at[i + 1]};
  if (b->library)
    k->contenders[scripts] = (Contender){.name = strdup("openblas"), .library = b->library};
  return true;
}

static int run_cases(Bench *b, const Axis *axes) {
  int status = DONE;
  b->cases = calloc((size_t)b->n_cases, sizeof *b->cases);
  if (!b->cases) return complain(b->o, NULL, "out of memory");
  for (int i = 0; i < b->n_cases && status == DONE; i++) {
    Case *k = &b->cases[i];
    k->kernel = path_stem(b->o->args.at[0]);
    choose(axes, b->o->define.n, i, k);
    if (!add_contenders(b, k)) return complain(b->o, NULL, "out of memory");
    status = prepare_case(b, k);
    if (status == DONE) {
      measure_case(b, k);
      print_case(b, k);
    }
    free_case(k);
  }
  return status;
}

static int start(Bench *b) {
  tirc_error *e = NULL;
  if (b->o->vs && strcmp(b->o->vs, "openblas") != 0)
    return complain(b->o, NULL, "--vs knows openblas, not '%s'", b->o->vs);
  if (tirc_executor_new((int)b->o->threads, &b->executor, &e)) return report(b->o, e);
  b->threads = tirc_executor_threads(b->executor);
  if (b->o->vs) b->library = load_openblas(b->threads, &b->core);
  tirc_machine_name(b->machine, sizeof b->machine);
  b->peak = tirc_machine_peak(b->threads);
  printf("%s, %d thread%s, ", b->machine, b->threads, b->threads == 1 ? "" : "s");
  if (b->peak > 0)
    printf("measured AVX2 FMA peak %.1f GFLOP/s\n", b->peak * 1e-9);
  else
    printf("FMA peak not available: the processor has no AVX2 and FMA\n");
  if (b->library) printf("openblas: %s kernels\n", b->core);
  return DONE;
}

static void finish(Bench *b, Axis *axes) {
  for (int i = 0; b->cases && i < b->n_cases; i++) {
    Case *k = &b->cases[i];
    for (int c = 0; k->contenders && c < k->n_contenders; c++)
      free((char *)(uintptr_t)k->contenders[c].name);
    free(k->contenders);
    free(k->defines);
    free(k->setting);
    free((char *)(uintptr_t)k->kernel);
  }
  free(b->cases);
  tirc_executor_free(b->executor);
  for (int a = 0; axes && a < b->o->define.n; a++) {
    for (int i = 0; i < axes[a].n; i++) free(axes[a].values[i]);
    free(axes[a].values);
    free(axes[a].name);
  }
  free(axes);
}

int cmd_bench(Options *o) {
  Bench b = {.o = o, .n_cases = 1};
  Axis *axes = calloc((size_t)o->define.n + 1, sizeof *axes);
  int status = axes ? DONE : complain(o, NULL, "out of memory");
  if (o->args.n < 2 && !o->vs)
    status =
        complain(o, "name a schedule script, or --vs openblas", "usage: tirc bench PROG SCHED...");
  for (int a = 0; a < o->define.n && status == DONE; a++) {
    if (!read_axis(o->define.at[a], &axes[a]) || axes[a].n > 1000 / b.n_cases)
      status = complain(o, "write -D M=16,32; at most 1000 settings in all",
                        "-D takes NAME=VALUE,VALUE,..., not '%s'", o->define.at[a]);
    else
      b.n_cases *= axes[a].n;
  }
  if (status == DONE) status = start(&b);
  if (status == DONE) status = run_cases(&b, axes);
  if (status == DONE) print_means(&b);
  if (status == DONE && o->json) status = write_json(&b, o->json);
  finish(&b, axes);
  return status;
}
