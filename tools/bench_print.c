/* The tables of a bench. */
#include "bench.h"

#include <string.h>

enum { MOST_KERNELS = 64 };

static const char *plural(int n) { return n == 1 ? "" : "s"; }

void print_case(const Bench *b, const Case *k) {
  FILE *f = b->out;
  const Contender *ceiling = ceiling_of(k);
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
    if (ceiling)
      fprintf(f, "%6.1f%%", 100 * ceiling->median / c->median);
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

/* --- the summary --------------------------------------------------------------------------------
 */

/* A kind of lines: what contender i has to say of a kernel (NULL: of all) on so many threads. */
typedef void PrintRow(const Bench *b, const char *kernel, int threads, int base, int i);

static void print_head(const Bench *b, const char *kernel, int i) {
  fprintf(b->out, "%-12s %-24s ", kernel ? kernel : "all", b->cases[0].contenders[i].name);
}

static void print_lowest(const Bench *b, const char *kernel, const Case *lowest) {
  fprintf(b->out, " at %s%s%s\n", kernel ? "" : lowest->kernel, kernel ? "" : " ", lowest->setting);
}

/* Everything against the first contender, schedules against each rival. */
static void print_ratio(const Bench *b, const char *kernel, int threads, int base, int i) {
  const Contender *c = &b->cases[0].contenders[i], *to = &b->cases[0].contenders[base];
  const Case *lowest;
  double least;
  if (i == base || c->ceiling || (base > 0 && (!to->rival || c->rival))) return;
  Ratio r = mean_ratio(b, kernel, threads, i, base, &lowest, &least);
  if (!(r.value > 0)) return;
  print_head(b, kernel, i);
  fprintf(b->out, "x %-18s %6.3f  [%5.3f, %5.3f]  %6.3f", to->name, r.value, r.low, r.high, least);
  print_lowest(b, kernel, lowest);
}

static void print_share(const Bench *b, const char *kernel, int threads, int base, int i) {
  const Case *lowest;
  double least;
  if (i == base) return;
  Ratio r = mean_ratio(b, kernel, threads, i, base, &lowest, &least);
  if (!(r.value > 0)) return;
  print_head(b, kernel, i);
  fprintf(b->out, "%6.1f%%  [%5.1f, %5.1f]  %6.1f%%  %6.1f%%", 100 * r.value, 100 * r.low,
          100 * r.high, 100e9 * mean_gflops(b, kernel, threads, i) / best_rate(b, threads),
          100 * least);
  print_lowest(b, kernel, lowest);
}

static void print_scaling(const Bench *b, const char *kernel, int threads, int base, int i) {
  const Case *lowest;
  double least;
  (void)base;
  Ratio r = mean_scaling(b, kernel, threads, i, &lowest, &least);
  if (!(r.value > 0)) return;
  print_head(b, kernel, i);
  fprintf(b->out, "%6.3f  [%5.3f, %5.3f]  %6.3f", r.value, r.low, r.high, least);
  print_lowest(b, kernel, lowest);
}

/* Kernel by kernel if there are several, then all of them. */
static void print_rows(const Bench *b, PrintRow *print, int threads, int base) {
  const char *kernels[MOST_KERNELS];
  int n = list_kernels(b, kernels, MOST_KERNELS);
  for (int j = n > 1 ? 0 : n; j <= n; j++)
    for (int i = 0; i < b->cases[0].n_contenders; i++)
      print(b, j < n ? kernels[j] : NULL, threads, base, i);
}

static int count_chosen(const Bench *b, int threads) {
  int n = 0;
  for (int j = 0; j < b->n_measured; j++) n += is_chosen(b, &b->cases[j], NULL, threads);
  return n;
}

static void print_means(const Bench *b, int threads, int cases) {
  int last = b->cases[0].n_contenders - 1;
  double best = best_rate(b, threads);
  fprintf(b->out,
          "\nGeometric means over %d settings, %d thread%s: how many times as fast, with 95%% "
          "confidence\n%-12s %-24s   %-18s %6s  %16s  %6s\n",
          cases, threads, plural(threads), "kernel", "contender", "base", "ratio", "", "lowest");
  for (int base = 0; base < last; base++) print_rows(b, print_ratio, threads, base);
  if (!(best > 0)) return;
  fprintf(b->out,
          "\nShare of the FMA ceiling over %d settings, %d thread%s: of its medians in the same "
          "minutes (%% peak), and of its best rate in the run, %.1f GFLOP/s (%% best)\n%-12s %-24s "
          "%7s  %14s  %7s  %7s\n",
          cases, threads, plural(threads), best * 1e-9, "kernel", "contender", "% peak", "",
          "% best", "lowest % peak");
  print_rows(b, print_share, threads, last);
}

void print_summary(const Bench *b) {
  int fewest = fewest_threads(b);
  for (int t = 0; t < b->n_threads; t++) {
    int cases = count_chosen(b, b->threads[t].threads);
    if (cases > 1) print_means(b, b->threads[t].threads, cases);
  }
  for (int t = 0; t < b->n_threads; t++) {
    int threads = b->threads[t].threads;
    if (threads == fewest || !count_chosen(b, threads)) continue;
    fprintf(b->out,
            "\nFrom %d to %d threads: how many times as fast, geometric mean over %d setting%s\n"
            "%-12s %-24s %6s  %14s  %6s\n",
            fewest, threads, count_chosen(b, threads), plural(count_chosen(b, threads)), "kernel",
            "contender", "ratio", "", "lowest");
    print_rows(b, print_scaling, threads, 0);
  }
}
