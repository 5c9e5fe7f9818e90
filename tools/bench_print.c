/* The tables of a bench. */
#include "bench.h"

#include <string.h>

enum { MOST_KERNELS = 64 };

static const char *plural(int n) { return n == 1 ? "" : "s"; }

void print_case(const Bench *b, const Case *k) {
  FILE *f = b->out;
  int width = 17;
  for (int i = 0; i < k->n_contenders; i++)
    if (k->contenders[i].median > 0 && (int)strlen(k->contenders[i].name) > width)
      width = (int)strlen(k->contenders[i].name);
  fprintf(f, "\n%s%s%s  %d thread%s, %.4g Mflop%s\n", k->kernel, *k->setting ? " " : "", k->setting,
          k->threads, plural(k->threads), k->cost.float_ops * 1e-6,
          k->cost.is_exact ? "" : " (estimated)");
  if (k->others > 0.1)
    fprintf(f, "busy machine: other processes used %.2f cores meanwhile\n", k->others);
  fprintf(f, "%-*s %11s %7s %11s %7s %6s %9s %7s", width, "contender", "median ms", "+-95%",
          "min ms", "spread", "reps", "GFLOP/s", "% peak");
  for (int i = 0; i < k->n_contenders; i++) {
    const Contender *base = &k->contenders[i];
    if ((i == 0 || base->rival) && base->median > 0) fprintf(f, "  x %s", base->name);
  }
  fprintf(f, "\n");
  for (int i = 0; i < k->n_contenders; i++) {
    const Contender *c = &k->contenders[i];
    if (!(c->median > 0)) continue;
    fprintf(f, "%-*s %11.4f %6.1f%% %11.4f %6.1f%% %6d %9.2f ", width, c->name, c->median * 1e3,
            50 * (c->high - c->low) / c->median, c->min * 1e3, c->spread * 100, c->n_times,
            c->gflops);
    if (k->peak > 0)
      fprintf(f, "%6.1f%%", c->percent);
    else
      fprintf(f, "%7s", "-");
    for (int j = 0; j < k->n_contenders; j++) {
      const Contender *base = &k->contenders[j];
      if ((j == 0 || base->rival) && base->median > 0)
        fprintf(f, "  %*.2f", (int)strlen(base->name) + 2, base->median / c->median);
    }
    fprintf(f, "\n");
  }
  fflush(f);
}

/* Everything against the first contender, schedules against each rival. */
static bool is_row(const Case *k, int i, int base) {
  return i != base && (base == 0 || (k->contenders[base].rival && !k->contenders[i].rival));
}

static void print_rows(const Bench *b, const char *kernel, int threads, int base) {
  const Case *k = &b->cases[0];
  for (int i = 0; i < k->n_contenders; i++) {
    const Case *lowest;
    double least;
    Ratio r = mean_ratio(b, kernel, threads, i, base, &lowest, &least);
    double percent = mean_percent(b, kernel, threads, i);
    if (!is_row(k, i, base) || !(r.value > 0)) continue;
    fprintf(b->out, "%-12s %-18s x %-18s %6.3f  [%5.3f, %5.3f]  ", kernel ? kernel : "all",
            k->contenders[i].name, k->contenders[base].name, r.value, r.low, r.high);
    if (percent > 0)
      fprintf(b->out, "%6.1f%%", percent);
    else
      fprintf(b->out, "%7s", "-");
    fprintf(b->out, "  %6.3f at %s%s%s\n", least, kernel ? "" : lowest->kernel, kernel ? "" : " ",
            lowest->setting);
  }
}

static int count_chosen(const Bench *b, int threads) {
  int n = 0;
  for (int j = 0; j < b->n_measured; j++) n += is_chosen(b, &b->cases[j], NULL, threads);
  return n;
}

void print_summary(const Bench *b) {
  const char *kernels[MOST_KERNELS];
  int n = list_kernels(b, kernels, MOST_KERNELS);
  for (int t = 0; t < b->n_threads; t++) {
    int threads = b->threads[t].threads, cases = count_chosen(b, threads);
    if (cases < 2) continue;
    fprintf(b->out,
            "\nGeometric means over %d settings, %d thread%s: how many times as fast, with 95%% "
            "confidence\n%-12s %-18s   %-18s %6s  %16s  %7s  %6s\n",
            cases, threads, plural(threads), "kernel", "contender", "base", "ratio", "", "% peak",
            "lowest");
    for (int base = 0; base < b->cases[0].n_contenders; base++) {
      for (int i = 0; i < n && n > 1; i++) print_rows(b, kernels[i], threads, base);
      print_rows(b, NULL, threads, base);
    }
  }
}
