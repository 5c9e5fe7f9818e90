/* The overview of a suite of programs: a row for each, what --auto makes of it beside the ceiling
 * that binds and all others. */
#include "bench.h"

#include <math.h>
#include <string.h>

static int automatic_contender(const Case *k) {
  int i = 0;
  while (i < k->n_contenders - 1 && !k->contenders[i].automatic) i++;
  return i;
}

/* What rows are compared with. */
static bool is_other(const Bench *b, int threads, int i) {
  const Contender *c = &b->cases[0].contenders[i];
  return (c->plain || c->rival) && was_measured(b, NULL, threads, i);
}

static int width_of_names(const Bench *b) {
  size_t width = strlen("geometric mean");
  for (int j = 0; j < b->n_measured; j++)
    if (strlen(b->cases[j].at.kernel) > width) width = strlen(b->cases[j].at.kernel);
  return (int)width;
}

/* A figure or, where there is none, "-". */
static void print_figure(FILE *f, int width, int digits, double v) {
  if (v > 0)
    fprintf(f, "  %*.*f", width, digits, v);
  else
    fprintf(f, "  %*s", width, "-");
}

static int column_width(const Contender *c) { return (int)strlen(c->name) + 2; }

static void print_program(const Bench *b, const Case *k, int width) {
  const int a = automatic_contender(k);
  const Contender *c = &k->contenders[a], *binding = binding_ceiling(k);
  fprintf(b->out, "%-*s", width, k->at.kernel);
  print_figure(b->out, 9, 4, c->f.median * 1e3);
  print_figure(b->out, 7, 1, binding ? 100 * ratio_to(c, binding).value : 0);
  fprintf(b->out, "  %-9.*s", binding ? (int)strcspn(binding->name, " ") : 1,
          binding ? binding->name : "-");
  for (int i = 0; i < k->n_contenders; i++)
    if (is_other(b, k->at.threads, i))
      print_figure(b->out, column_width(&k->contenders[i]), 2,
                   ratio_to(c, &k->contenders[i]).value);
  fprintf(b->out, "\n");
}

static void print_means(const Bench *b, int threads, int width) {
  const Case *k = &b->cases[0];
  Lowest lowest;
  const int a = automatic_contender(k);
  tirc_ratio share = mean_ratio(b, NULL, threads, a, BINDING, &lowest);
  fprintf(b->out, "%-*s  %9s", width, "geometric mean", "");
  print_figure(b->out, 7, 1, 100 * share.value);
  fprintf(b->out, "  %-9s", "");
  for (int i = 0; i < k->n_contenders; i++)
    if (is_other(b, threads, i))
      print_figure(b->out, column_width(&k->contenders[i]), 2,
                   mean_ratio(b, NULL, threads, a, i, &lowest).value);
  fprintf(b->out, "\n");
}

void print_overview(const Bench *b, int threads) {
  const Case *first = &b->cases[0];
  const int width = width_of_names(b);
  fprintf(
      b->out,
      "\nPrograms by --auto, %d thread%s: share of the ceiling that binds (bandwidth: a copy of "
      "the same size, with the same share of reads and writes), and how many times as fast as "
      "others\n%-*s  %9s  %7s  %-9s",
      threads, plural(threads), width, "program", "median ms", "% peak", "ceiling");
  for (int i = 0; i < first->n_contenders; i++)
    if (is_other(b, threads, i)) fprintf(b->out, "  x %s", first->contenders[i].name);
  fprintf(b->out, "\n");
  for (int j = 0; j < b->n_measured; j++)
    if (b->cases[j].at.threads == threads) print_program(b, &b->cases[j], width);
  print_means(b, threads, width);
}
