/* `--plot FILE.png|svg`: one picture by gnuplot. For each kernel and number of threads a panel with
 * a line a contender over the settings, and below, for each number of threads, a heat map of
 * contenders and settings. */
#include "bench.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_KERNELS = 64, PANEL_WIDTH = 520, PANEL_HEIGHT = 380 };

/* The part of a setting that tells it from the others of its kernel: "64" of "M=64 K=768". */
static const char *label(const Bench *b, const Case *k) {
  for (int d = 0; d < k->n_defines; d++)
    for (int j = 0; j < b->n_measured; j++) {
      const Case *other = &b->cases[j];
      if (strcmp(other->kernel, k->kernel) == 0 && d < other->n_defines &&
          strcmp(other->defines[d].value, k->defines[d].value) != 0)
        return k->defines[d].value;
    }
  return "";
}

static const char *axis(const Bench *b, const Case *k) {
  for (int d = 0; d < k->n_defines; d++)
    if (label(b, k) == k->defines[d].value) return k->defines[d].name;
  return "";
}

static int count(const Bench *b, const char *kernel, int threads) {
  int n = 0;
  for (int j = 0; j < b->n_measured; j++) n += is_chosen(b, &b->cases[j], kernel, threads);
  return n;
}

/* $d<i>: place, label, GFLOP/s. What was not measured is a gap. */
static void write_lines(FILE *f, const Bench *b, const char *kernel, int threads) {
  const Case *first = NULL;
  for (int i = 0; i < b->cases[0].n_contenders; i++) {
    int place = 0;
    fprintf(f, "$d%d << EOD\n", i);
    for (int j = 0; j < b->n_measured; j++) {
      const Case *k = &b->cases[j];
      if (!is_chosen(b, k, kernel, threads)) continue;
      const Contender *c = &k->contenders[i];
      if (!first) first = k;
      if (c->median > 0)
        fprintf(f, "%d \"%s\" %g %g %g\n", place, label(b, k), c->gflops,
                k->cost.float_ops / c->high * 1e-9, k->cost.float_ops / c->low * 1e-9);
      else
        fprintf(f, "%d \"%s\" NaN NaN NaN\n", place, label(b, k));
      place++;
    }
    fprintf(f, "EOD\n");
  }
  fprintf(f,
          "set title \"%s, %d thread%s\"\nset xlabel \"%s\"\nset ylabel \"GFLOP/s\"\n"
          "set xrange [-0.3:%d.3]\nset yrange [0:*]\nset key bottom right\nset grid ytics\n",
          kernel, threads, threads == 1 ? "" : "s", first ? axis(b, first) : "",
          count(b, kernel, threads) - 1);
  fprintf(f, "plot ");
  for (int i = 0, n = 0; i < b->cases[0].n_contenders; i++) {
    if (!was_measured(b, kernel, threads, i)) continue;
    fprintf(f,
            "%s$d%d using 1:4:5 with filledcurves lt %d fs transparent solid 0.2 noborder notitle, "
            "$d%d using 1:3:xtic(2) with linespoints lt %d pt 7 title \"%s\"",
            n++ ? ", " : "", i, i + 1, i, i + 1, b->cases[0].contenders[i].name);
  }
  fprintf(f, "\n");
}

/* Of the heat map: the FMA ceiling is what the others are shares of. */
static bool is_row(const Bench *b, int threads, int i) {
  return was_measured(b, NULL, threads, i) && !b->cases[0].contenders[i].ceiling;
}

static int count_rows(const Bench *b, int threads) {
  int n = 0;
  for (int i = 0; i < b->cases[0].n_contenders; i++) n += is_row(b, threads, i);
  return n;
}

static void write_heat_map(FILE *f, const Bench *b, int threads) {
  const Case *all = &b->cases[0];
  bool percent = ceiling_bits(b);
  fprintf(f, "$h << EOD\n");
  int rows = 0;
  for (int i = 0; i < all->n_contenders; i++) {
    if (!is_row(b, threads, i)) continue;
    int x = 0;
    for (int j = 0; j < b->n_measured; j++) {
      const Case *k = &b->cases[j];
      const Contender *c = &k->contenders[i], *ceiling = binding_ceiling(k);
      if (!is_chosen(b, k, NULL, threads)) continue;
      if (c->median > 0 && (ceiling || !percent))
        fprintf(f, "%d %d %.1f \"%s %s\" \"%s\"\n", x++, rows,
                ceiling ? 100 * ceiling->median / c->median : c->gflops, k->kernel, label(b, k),
                c->name);
      else
        fprintf(f, "%d %d NaN \"%s %s\" \"%s\"\n", x++, rows, k->kernel, label(b, k), c->name);
    }
    fprintf(f, "\n");
    rows++;
  }
  fprintf(f,
          "EOD\nset title \"%s, %d thread%s\"\nset xlabel \"\"\nset ylabel \"\"\nunset key\nunset "
          "grid\nset xtics rotate by -60\nset xrange [-0.5:%d.5]\nset yrange [%d.5:-0.5]\n%s\n"
          "plot $h using 1:2:3:xtic(4):ytic(5) with image, "
          "$h using 1:2:(sprintf('%%.0f', $3)) with labels font ',9'\n"
          "set xtics norotate\nset key\nset cbrange [*:*]\n",
          percent ? "% of the ceiling that binds" : "GFLOP/s", threads, threads == 1 ? "" : "s",
          count(b, NULL, threads) - 1, rows - 1,
          percent ? "set cbrange [0:100]" : "set cbrange [0:*]");
}

static void write_script(FILE *f, const Bench *b, bool svg) {
  const char *kernels[MOST_KERNELS];
  int n = list_kernels(b, kernels, MOST_KERNELS), rows = 2 * b->n_threads;
  int width = PANEL_WIDTH * (n < 2 ? 2 : n), height = PANEL_HEIGHT * rows;
  fprintf(f,
          "set terminal %s noenhanced size %d,%d%s\nset output '%s'\nset datafile missing 'NaN'\n"
          "set palette defined (0 '#fff5eb', 0.5 '#fdae6b', 1 '#31a354')\n"
          "set multiplot\n",
          svg ? "svg" : "pngcairo", width, height, svg ? " background rgb 'white'" : "",
          b->o->plot);
  for (int t = 0; t < b->n_threads; t++) {
    int threads = b->threads[t].threads;
    double h = 1.0 / rows;
    if (!count(b, NULL, threads)) continue;
    for (int i = 0; i < n; i++) {
      if (!count(b, kernels[i], threads)) continue;
      fprintf(f, "set origin %g,%g\nset size %g,%g\n", (double)i / n, 1 - (2 * t + 1) * h, 1.0 / n,
              h);
      write_lines(f, b, kernels[i], threads);
    }
    /* An image has at least two rows and columns. */
    if (count_rows(b, threads) < 2 || count(b, NULL, threads) < 2) continue;
    fprintf(f, "set origin 0,%g\nset size 1,%g\n", 1 - (2 * t + 2) * h, h);
    write_heat_map(f, b, threads);
  }
  fprintf(f, "unset multiplot\n");
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n > m && strcmp(s + n - m, end) == 0;
}

/* Before hours of measuring, not after. */
int check_plot(const Options *o) {
  if (!o->plot) return DONE;
  if (!ends_with(o->plot, ".png") && !ends_with(o->plot, ".svg"))
    return complain(o, "name it FILE.png or FILE.svg", "--plot makes PNG and SVG, not '%s'",
                    o->plot);
  if (strpbrk(o->plot, "'\n\\"))
    return complain(o, NULL, "the name of a plot has no quotes and backslashes");
  if (system("command -v gnuplot >/dev/null") == 0) return DONE;
  return complain(o, "on Debian: apt-get install gnuplot-nox", "--plot needs gnuplot");
}

int write_plot(const Bench *b) {
  if (!b->n_measured) return DONE;
  signal(SIGPIPE, SIG_IGN);
  FILE *f = popen("gnuplot", "w");
  if (!f) return complain(b->o, NULL, "cannot start gnuplot");
  write_script(f, b, ends_with(b->o->plot, ".svg"));
  if (pclose(f) == 0) return DONE;
  return complain(b->o, NULL, "gnuplot could not write '%s'", b->o->plot);
}
