/* The tables of a bench. */
#include "bench.h"

#include <stdarg.h>
#include <string.h>

enum { MOST_KERNELS = 64 };

void tell(const Bench *b, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (b->out) vfprintf(b->out, format, args);
  va_end(args);
}

/* --- a table ---------------------------------------------------------------------------------- */

/* Everything is compared with the first contender and with each rival. */
static bool is_base(const Case *k, int i) {
  return (i == 0 || k->contenders[i].rival) && k->contenders[i].f.median > 0;
}

/* "-" for what it has none of. */
static void print_number(FILE *f, int width, int digits, double v, const char *unit) {
  if (v > 0)
    fprintf(f, " %*.*f%s", width - (int)strlen(unit), digits, v, unit);
  else
    fprintf(f, " %*s", width, "-");
}

/* Four digits behind the point, and six where that would be one or two that count. */
static void print_ms(FILE *f, double seconds) {
  fprintf(f, " %9.*f", seconds < 10e-6 ? 6 : 4, seconds * 1e3);
}

/* Whose rate is that of its operations on integers. */
static bool is_of_integers(const Case *k) {
  return k->integer_ops > 0 && !(k->at.work.float_ops > 0);
}

static double rate_of(const Case *k, CeilingKind kind, double seconds) {
  if (!is_of_integers(k)) return gflops(&k->at.work, kind, seconds);
  return kind == BANDWIDTH_CEILING ? 0 : k->integer_ops / seconds * 1e-9;
}

static void print_heads(FILE *f, const Case *k) {
  fprintf(f, "%-*s %9s %7s %9s %7s %6s %8s %7s %7s", contender_width(k, "contender"), "contender",
          "median ms", "+-95%", "min ms", "spread", "reps", is_of_integers(k) ? "GOP/s" : "GFLOP/s",
          "GB/s", "% peak");
  for (int i = 0; i < k->n_contenders; i++)
    if (is_base(k, i)) fprintf(f, "  x %s", k->contenders[i].name);
  fprintf(f, "\n");
}

static void print_contender(FILE *f, const Case *k, const Contender *c) {
  const Contender *binding = binding_ceiling(k);
  const CeilingKind kind = c->ceiling ? c->ceiling->kind : NO_CEILING;
  bool has_share = binding && (c == binding || !c->ceiling);
  fprintf(f, "%-*s", contender_width(k, "contender"), c->name);
  print_ms(f, c->f.median);
  if (tirc_is_interval(c->f.low, c->f.high))
    fprintf(f, " %6.1f%%", 100 * tirc_uncertainty(&c->f));
  else
    fprintf(f, " %7s", "-");
  print_ms(f, c->f.fastest);
  fprintf(f, " %6.1f%% %6d", c->f.spread * 100, c->f.n_samples);
  print_number(f, 8, 2, rate_of(k, kind, c->f.median), "");
  print_number(f, 7, 2, gbytes(&k->at.work, kind, c->f.median), "");
  print_number(f, 7, 1, has_share ? 100 * binding->f.median / c->f.median : 0, "%");
  for (int i = 0; i < k->n_contenders; i++)
    if (is_base(k, i))
      fprintf(f, "  %*.2f", (int)strlen(k->contenders[i].name) + 2,
              k->contenders[i].f.median / c->f.median);
  fprintf(f, "\n");
}

/* Which ceiling binds, and how long the others take. */
static void print_binding(FILE *f, const Case *k) {
  const Contender *binding = binding_ceiling(k);
  if (!binding) return;
  fprintf(f, "%% peak: relative to the %s", binding->name);
  int others = 0;
  for (int i = 0; i < k->n_contenders; i++) {
    const Contender *c = &k->contenders[i];
    if (c->ceiling && c != binding && c->f.median > 0)
      fprintf(f, "%s%s: %.3g ms", others++ ? ", " : ", which takes longest (", c->name,
              c->f.median * 1e3);
  }
  fputs(others ? ")\n" : "\n", f);
}

static void print_notes(FILE *f, const Case *k) {
  for (int i = 0; i < k->n_contenders; i++)
    if (k->contenders[i].note && *k->contenders[i].note)
      fprintf(f, "%s: %s\n", k->contenders[i].name, k->contenders[i].note);
}

void print_case(const Bench *b, const Case *k) {
  FILE *f = b->out;
  fprintf(f, "\n%s%s%s  %d thread%s", k->at.kernel, *k->at.setting ? " " : "", k->at.setting,
          k->at.threads, plural(k->at.threads));
  if (k->at.work.float_ops > 0)
    fprintf(f, ", %.4g Mflop%s", k->at.work.float_ops * 1e-6,
            k->cost.is_exact ? "" : " (estimated)");
  if (k->integer_ops > 0)
    fprintf(f, ", %.4g Mop on integers%s", k->integer_ops * 1e-6,
            k->cost.is_exact ? "" : " (estimated)");
  fprintf(f, ", %.3g MB read, %.3g MB written\n", (double)k->at.work.bytes_read * 1e-6,
          (double)k->at.work.bytes_written * 1e-6);
  print_disturbance(b, k);
  print_heads(f, k);
  for (int i = 0; i < k->n_contenders; i++)
    if (k->contenders[i].f.median > 0) print_contender(f, k, &k->contenders[i]);
  print_binding(f, k);
  print_notes(f, k);
  print_excesses(b, k);
  if (b->counters.open) print_counts(b, k);
  fflush(f);
}

/* --- the summary ------------------------------------------------------------------------------ */

/* A kind of lines: what contender i has to say of a kernel (NULL: of all) on so many threads. */
typedef void PrintRow(const Bench *b, const char *kernel, int threads, int base, int i);

static void print_head(const Bench *b, const char *kernel, int i) {
  fprintf(b->out, "%-12s %-24s ", kernel ? kernel : "all", b->cases[0].contenders[i].name);
}

static void print_lowest(const Bench *b, const char *kernel, const Case *lowest) {
  fprintf(b->out, " at %s%s%s\n", kernel ? "" : lowest->at.kernel, kernel ? "" : " ",
          lowest->at.setting);
}

/* Everything against the first contender, schedules against each rival. */
static void print_ratio(const Bench *b, const char *kernel, int threads, int base, int i) {
  const Contender *c = &b->cases[0].contenders[i], *to = &b->cases[0].contenders[base];
  char interval[INTERVAL_TEXT];
  Lowest lowest;
  if (i == base || c->ceiling || (base > 0 && (!to->rival || c->rival))) return;
  tirc_ratio r = mean_ratio(b, kernel, threads, i, base, &lowest);
  if (!(r.value > 0)) return;
  print_head(b, kernel, i);
  fprintf(b->out, "x %-18s %6.3f  %s  %6.3f", to->name, r.value,
          interval_text(interval, 5, 3, r.low, r.high), lowest.ratio);
  print_lowest(b, kernel, lowest.at);
}

static void print_share(const Bench *b, const char *kernel, int threads, int base, int i) {
  Lowest lowest;
  char interval[INTERVAL_TEXT];
  if (b->cases[0].contenders[i].ceiling) return;
  tirc_ratio r = mean_ratio(b, kernel, threads, i, base, &lowest);
  if (!(r.value > 0)) return;
  print_head(b, kernel, i);
  fprintf(b->out, "%6.1f%%  %s  %6.1f%%  %6.1f%%", 100 * r.value,
          interval_text(interval, 5, 1, 100 * r.low, 100 * r.high),
          100 * mean_best_share(b, kernel, threads, i), 100 * lowest.ratio);
  print_lowest(b, kernel, lowest.at);
}

static void print_scaling(const Bench *b, const char *kernel, int threads, int base, int i) {
  Lowest lowest;
  char interval[INTERVAL_TEXT];
  (void)base;
  tirc_ratio r = mean_scaling(b, kernel, threads, i, &lowest);
  if (!(r.value > 0)) return;
  print_head(b, kernel, i);
  fprintf(b->out, "%6.3f  %s  %6.3f", r.value, interval_text(interval, 5, 3, r.low, r.high),
          lowest.ratio);
  print_lowest(b, kernel, lowest.at);
}

/* Kernel by kernel if there are several, then all of them; the overview has those of a suite of
 * programs. */
static void print_rows(const Bench *b, PrintRow *print, int threads, int base) {
  const char *kernels[MOST_KERNELS];
  int n = list_kernels(b, kernels, MOST_KERNELS);
  for (int j = n > 1 && !b->of_programs ? 0 : n; j <= n; j++)
    for (int i = 0; i < b->cases[0].n_contenders; i++)
      print(b, j < n ? kernels[j] : NULL, threads, base, i);
}

static int count_chosen(const Bench *b, int threads) {
  int n = 0;
  for (int j = 0; j < b->n_measured; j++) n += is_chosen(b, &b->cases[j], NULL, threads);
  return n;
}

/* In how many of the settings a ceiling binds. */
static int count_bound(const Bench *b, int threads, CeilingKind by) {
  int n = 0;
  for (int j = 0; j < b->n_measured; j++) {
    const Contender *c = binding_ceiling(&b->cases[j]);
    n += is_chosen(b, &b->cases[j], NULL, threads) && c && c->ceiling->kind == by;
  }
  return n;
}

static void print_shares(const Bench *b, int threads) {
  int fma = count_bound(b, threads, FMA_CEILING);
  int integers = count_bound(b, threads, INTEGER_CEILING);
  int bandwidth = count_bound(b, threads, BANDWIDTH_CEILING);
  if (fma + integers + bandwidth == 0) return;
  fprintf(b->out,
          "\nShare of the binding ceiling, %d thread%s (FMA in %d settings, bandwidth in %d",
          threads, plural(threads), fma, bandwidth);
  if (integers) fprintf(b->out, ", integers in %d", integers);
  fprintf(b->out,
          "): of its medians in the same minutes (%% peak), of its best in the run (%% best");
  if (fma) fprintf(b->out, "; FMA %.1f GFLOP/s", best_rate(b, threads) * 1e-9);
  fprintf(b->out, ")\n%-12s %-24s %7s  %14s  %7s  %7s\n", "kernel", "contender", "% peak", "",
          "% best", "lowest % peak");
  print_rows(b, print_share, threads, BINDING);
}

static void print_ratios(const Bench *b, int threads, int cases) {
  const Case *k = &b->cases[0];
  fprintf(b->out,
          "\nGeometric means over %d settings, %d thread%s: how many times as fast, with 95%% "
          "confidence\n%-12s %-24s   %-18s %6s  %16s  %6s\n",
          cases, threads, plural(threads), "kernel", "contender", "base", "ratio", "", "lowest");
  for (int base = 0; base < k->n_contenders; base++)
    if (!k->contenders[base].ceiling) print_rows(b, print_ratio, threads, base);
}

void print_summary(const Bench *b) {
  int fewest = fewest_threads(b);
  for (int t = 0; t < b->n_threads; t++) {
    int cases = count_chosen(b, b->threads[t].threads);
    if (cases && b->of_programs) print_overview(b, b->threads[t].threads);
    if (cases < 2) continue;
    print_ratios(b, b->threads[t].threads, cases);
    print_shares(b, b->threads[t].threads);
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
