/* `--plot FILE.png|svg`: one picture by gnuplot. For each kernel and number of threads a panel with
 * a line a contender over the settings, or a bar if there is one setting, and below, for each
 * number of threads, a heat map of contenders and settings. Programs of a suite have the maps only:
 * their rates have little to do with each other. */
#define _GNU_SOURCE
#include "bench.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_KERNELS = 64, PANEL_WIDTH = 720, PANEL_HEIGHT = 380, CELL_WIDTH = 48 };

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

/* What a contender gets wherever it is drawn: its place among those that were measured anywhere.
 * The colours are told apart by the colour-blind, too (Okabe and Ito, 2008; grey
 * for their yellow, which nobody reads on white); the eighth contender
 * begins again, with other points and broken lines. */
static int style_of(const Bench *b, int i) {
  int n = 1;
  for (int j = 0; j < i; j++)
    n += was_measured(b, NULL, 0, j) && !b->cases[0].contenders[j].ceiling;
  return n;
}

static const char *const colours[] = {"#0072B2", "#E69F00", "#009E73", "#D55E00",
                                      "#CC79A7", "#56B4E9", "#999999"};
enum { N_COLOURS = sizeof colours / sizeof *colours };
static const char *colour_of(const Bench *b, int i) {
  return colours[(style_of(b, i) - 1) % N_COLOURS];
}

static void write_styles(FILE *f, const Bench *b) {
  static const int points[] = {7, 5, 9, 11, 13};
  for (int i = 0; i < b->cases[0].n_contenders; i++) {
    int n = style_of(b, i), again = (n - 1) / N_COLOURS;
    fprintf(f, "set linetype %d lc rgb '%s' lw 1.5 pt %d dt %d\n", n, colour_of(b, i),
            points[again % 5], again + 1);
  }
}

/* Contenders that have a figure; the ceilings are drawn apart. */
static bool is_row(const Bench *b, const char *kernel, int threads, int i) {
  return was_measured(b, kernel, threads, i) && !b->cases[0].contenders[i].ceiling;
}

static int count_rows(const Bench *b, const char *kernel, int threads) {
  int n = 0;
  for (int i = 0; i < b->cases[0].n_contenders; i++) n += is_row(b, kernel, threads, i);
  return n;
}

/* --- rates -------------------------------------------------------------------------------------
 */

/* GFLOP/s, or of programs without float operations GB/s. */
static bool counts_operations(const Bench *b) { return b->cases[0].cost.float_ops > 0; }

static double rate(const Bench *b, const Case *k, double seconds) {
  double work =
      counts_operations(b) ? k->cost.float_ops : (double)(k->bytes_read + k->bytes_written);
  return 1e-9 * work / seconds;
}

/* "place label rate low high"; what was not measured is a gap. */
static void write_point(FILE *f, const Bench *b, const Case *k, const Contender *c, int place,
                        const char *name) {
  if (c && c->median > 0)
    fprintf(f, "%d \"%s\" %g %g %g\n", place, name, rate(b, k, c->median), rate(b, k, c->high),
            rate(b, k, c->low));
  else
    fprintf(f, "%d \"%s\" NaN NaN NaN\n", place, name);
}

/* $d<i> of contender i, and $d<n> of the binding ceiling. */
static void write_data(FILE *f, const Bench *b, const char *kernel, int threads) {
  for (int i = 0; i <= b->cases[0].n_contenders; i++) {
    int place = 0;
    fprintf(f, "$d%d << EOD\n", i);
    for (int j = 0; j < b->n_measured; j++) {
      const Case *k = &b->cases[j];
      if (is_chosen(b, k, kernel, threads))
        write_point(f, b, k, i < k->n_contenders ? &k->contenders[i] : binding_ceiling(k), place++,
                    label(b, k));
    }
    fprintf(f, "EOD\n");
  }
}

static void write_frame(FILE *f, const Bench *b, const char *kernel, int threads,
                        const char *xlabel) {
  fprintf(f,
          "set title \"%s, %d thread%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\nset yrange "
          "[0:*]\nset grid ytics\n",
          kernel, threads, threads == 1 ? "" : "s", xlabel,
          counts_operations(b) ? "GFLOP/s" : "GB/s");
}

static const Case *first_chosen(const Bench *b, const char *kernel, int threads) {
  for (int j = 0; j < b->n_measured; j++)
    if (is_chosen(b, &b->cases[j], kernel, threads)) return &b->cases[j];
  return NULL;
}

static void write_lines(FILE *f, const Bench *b, const char *kernel, int threads) {
  const int all = b->cases[0].n_contenders;
  write_data(f, b, kernel, threads);
  write_frame(f, b, kernel, threads, axis(b, first_chosen(b, kernel, threads)));
  fprintf(f, "set xrange [-0.3:%d.3]\nplot ", count(b, kernel, threads) - 1);
  for (int i = 0; i < all; i++)
    if (is_row(b, kernel, threads, i))
      fprintf(f,
              "$d%d using 1:4:5 with filledcurves lt %d fs transparent solid 0.2 noborder notitle, "
              "$d%d using 1:3:xtic(2) with linespoints lt %d title \"%s\", ",
              i, style_of(b, i), i, style_of(b, i), b->cases[0].contenders[i].name);
  fprintf(f, "$d%d using 1:3:xtic(2) with lines lc rgb 'black' dt 2 title \"binding ceiling\"\n",
          all);
}

/* One setting: a bar a contender. */
static void write_bars(FILE *f, const Bench *b, const char *kernel, int threads) {
  const Case *k = first_chosen(b, kernel, threads);
  const Contender *binding = binding_ceiling(k);
  int place = 0;
  for (int i = 0; i < k->n_contenders; i++) {
    if (!is_row(b, kernel, threads, i)) continue;
    fprintf(f, "$d%d << EOD\n", i);
    write_point(f, b, k, &k->contenders[i], place++, k->contenders[i].name);
    fprintf(f, "EOD\n");
  }
  write_frame(f, b, kernel, threads, "");
  fprintf(f, "set xrange [-0.6:%d.6]\nset xtics rotate by -30\nset boxwidth 0.7\nplot ", place - 1);
  for (int i = 0; i < k->n_contenders; i++)
    if (is_row(b, kernel, threads, i))
      fprintf(f,
              "$d%d using 1:3:xtic(2) with boxes lt %d fs solid 0.8 noborder notitle, "
              "$d%d using 1:4:(0):($5-$4) with vectors nohead lc rgb 'black' notitle, ",
              i, style_of(b, i), i);
  if (binding)
    fprintf(f, "%g with lines lc rgb 'black' dt 2 title \"binding ceiling\"",
            rate(b, k, binding->median));
  else
    fprintf(f, "NaN notitle");
  fprintf(f, "\nset xtics norotate\n");
}

/* A bar a contender: the geometric mean of its rates. */
static void write_means(FILE *f, const Bench *b, const char *kernel, int threads) {
  int place = 0;
  for (int i = 0; i < b->cases[0].n_contenders; i++) {
    double sum = 0;
    int n = 0;
    for (int j = 0; j < b->n_measured; j++) {
      const Case *k = &b->cases[j];
      if (!is_chosen(b, k, kernel, threads) || !(k->contenders[i].median > 0)) continue;
      sum += log(rate(b, k, k->contenders[i].median));
      n++;
    }
    if (!n || b->cases[0].contenders[i].ceiling) continue;
    fprintf(f, "$d%d << EOD\n%d \"%s\" %g\nEOD\n", i, place++, b->cases[0].contenders[i].name,
            exp(sum / n));
  }
  write_frame(f, b, kernel ? kernel : "all", threads, "");
  fprintf(f, "set xrange [-0.6:%d.6]\nset xtics rotate by -40\nset boxwidth 0.7\nplot ", place - 1);
  for (int i = 0; i < b->cases[0].n_contenders; i++)
    if (is_row(b, kernel, threads, i))
      fprintf(f, "$d%d using 1:3:xtic(2) with boxes lt %d fs solid 0.8 noborder notitle, ", i,
              style_of(b, i));
  fprintf(f, "NaN notitle\n");
}

/* --- the roofline ------------------------------------------------------------------------------
 */

static double intensity(const Case *k) {
  return k->cost.float_ops / (double)(k->bytes_read + k->bytes_written);
}

/* Rates over operations a byte, below what the ceilings reached in the run. */
static void write_roofline(FILE *f, const Bench *b, int threads) {
  const double peak = best_rate(b, threads) * 1e-9;
  double bandwidth = 0, least = INFINITY, most = 0;
  for (int i = 0; i < b->cases[0].n_contenders; i++) {
    fprintf(f, "$d%d << EOD\n", i);
    for (int j = 0; j < b->n_measured; j++) {
      const Case *k = &b->cases[j];
      const Contender *c = &k->contenders[i];
      if (!is_chosen(b, k, NULL, threads) || !(c->median > 0)) continue;
      fprintf(f, "%g %g\n", intensity(k), rate(b, k, c->median));
      least = fmin(least, intensity(k));
      most = fmax(most, intensity(k));
      if (c->ceiling == &bandwidth_ceiling && c->gbytes > bandwidth) bandwidth = c->gbytes;
    }
    fprintf(f, "NaN NaN\nEOD\n");
  }
  fprintf(f,
          "set title \"Roofline, %d thread%s\"\nset xlabel \"operations a byte of the "
          "parameters\"\nset ylabel \"GFLOP/s\"\nset logscale xy\nset grid\nset yrange "
          "[*:*]\nset xrange [%g:%g]\nset samples 400\nplot ",
          threads, threads == 1 ? "" : "s",
          (bandwidth > 0 ? fmin(least, peak / bandwidth) : least) / 3, most * 2);
  for (int i = 0; i < b->cases[0].n_contenders; i++)
    if (is_row(b, NULL, threads, i))
      fprintf(f, "$d%d with points lt %d title \"%s\", ", i, style_of(b, i),
              b->cases[0].contenders[i].name);
  if (peak > 0) fprintf(f, "%g with lines lc rgb 'black' dt 1 title \"multiply-adds\", ", peak);
  if (peak > 0 && bandwidth > 0)
    fprintf(f, "%g * x < %g ? %g * x : NaN with lines lc rgb 'black' dt 2 title \"bandwidth\", ",
            bandwidth, 1.2 * peak, bandwidth);
  fprintf(f, "NaN notitle\n");
}

/* --- the heat map ------------------------------------------------------------------------------
 */

/* Rectangles, which stay sharp at any size; a contender's name has its colour. */
static int write_cells(FILE *f, const Bench *b, int threads, int *name_length) {
  const Case *all = &b->cases[0];
  int rows = 0;
  fprintf(f, "$h << EOD\n");
  for (int i = 0; i < all->n_contenders; i++) {
    int x = 0;
    if (!is_row(b, NULL, threads, i)) continue;
    for (int j = 0; j < b->n_measured; j++) {
      const Case *k = &b->cases[j];
      const Contender *c = &k->contenders[i], *ceiling = binding_ceiling(k);
      if (!is_chosen(b, k, NULL, threads)) continue;
      fprintf(f, "%d %d ", x++, rows);
      if (c->median > 0 && (ceiling || !ceiling_bits(b)))
        fprintf(f, "%.1f", ceiling ? 100 * ceiling->median / c->median : rate(b, k, c->median));
      else
        fprintf(f, "NaN");
      fprintf(f, " \"%s %s\"\n", k->kernel, label(b, k));
    }
    rows++;
  }
  fprintf(f, "EOD\n");
  for (int i = 0, y = 0; i < all->n_contenders; i++) {
    if (!is_row(b, NULL, threads, i)) continue;
    fprintf(f, "set label %d \"%s\" at graph 0, first %d right offset -1,0 textcolor rgb '%s'\n",
            i + 1, all->contenders[i].name, y++, colour_of(b, i));
    if ((int)strlen(all->contenders[i].name) > *name_length)
      *name_length = (int)strlen(all->contenders[i].name);
  }
  return rows;
}

static void write_heat_map(FILE *f, const Bench *b, int threads) {
  int name_length = 0, rows = write_cells(f, b, threads, &name_length);
  const bool percent = ceiling_bits(b);
  fprintf(
      f,
      "set title \"%s, %d thread%s\"\nset xlabel \"\"\nset ylabel \"\"\nunset key\nunset "
      "grid\nset xtics rotate by -60\nset xrange [-0.5:%d.5]\nset yrange [%d.5:-0.5]\n"
      "set cbrange [0:%s]\nunset ytics\nset lmargin %d\n"
      "plot $h using 1:2:(0.5):(0.5):3:xtic(4) with boxxyerror lc palette fs solid 1 border lc rgb "
      "'white', $h using 1:2:(sprintf('%%.0f', $3)) with labels font ',9'\n"
      "set xtics norotate\nset ytics\nset lmargin -1\nunset label\nset key\nset cbrange [*:*]\n",
      percent                ? "% of the binding ceiling"
      : counts_operations(b) ? "GFLOP/s"
                             : "GB/s",
      threads, threads == 1 ? "" : "s", count(b, NULL, threads) - 1, rows - 1,
      percent ? "100" : "*", name_length + 4);
}

/* --- the page ----------------------------------------------------------------------------------
 */

static void write_panel(FILE *f, const Bench *b, const char *kernel, int threads) {
  if (!count_rows(b, kernel, threads)) return;
  if (count(b, kernel, threads) > 1)
    write_lines(f, b, kernel, threads);
  else
    write_bars(f, b, kernel, threads);
}

static void write_script(FILE *f, const Bench *b, const char *path, bool svg) {
  const char *kernels[MOST_KERNELS];
  int n = list_kernels(b, kernels, MOST_KERNELS);
  const bool panels = !b->of_programs;
  const bool maps = !panels || b->n_cases > b->n_threads; /* one setting needs none */
  const int each = panels + maps, rows = each * b->n_threads;
  const int width =
      panels ? PANEL_WIDTH * n : PANEL_WIDTH / 2 + CELL_WIDTH * b->n_cases / b->n_threads;
  double h = 1.0 / rows;
  fprintf(f,
          "set terminal %s noenhanced size %d,%d%s\nset output '%s'\nset datafile missing 'NaN'\n"
          "set palette defined (0 '#ffffff', 1 '#56b4e9')\n",
          svg ? "svg" : "pngcairo", width, PANEL_HEIGHT * rows,
          svg ? " background rgb 'white'" : "", path);
  write_styles(f, b);
  fprintf(f, "set key outside right center vertical Left reverse\nset multiplot\n");
  for (int t = 0; t < b->n_threads; t++) {
    int threads = b->threads[t].threads, row = each * t;
    for (int i = 0; i < n && panels; i++) {
      fprintf(f, "set origin %g,%g\nset size %g,%g\n", (double)i / n, 1 - (row + 1) * h, 1.0 / n,
              h);
      write_panel(f, b, kernels[i], threads);
    }
    if (!maps || !count_rows(b, NULL, threads)) continue;
    fprintf(f, "set origin 0,%g\nset size 1,%g\n", 1 - (row + each) * h, h);
    write_heat_map(f, b, threads);
  }
  fprintf(f, "unset multiplot\n");
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n > m && strcmp(s + n - m, end) == 0;
}

/* --- a panel by itself -------------------------------------------------------------------------
 */

static int longest_name(const Bench *b, int threads) {
  int most = 0;
  for (int i = 0; i < b->cases[0].n_contenders; i++) {
    const int n = (int)strlen(b->cases[0].contenders[i].name);
    if (is_row(b, NULL, threads, i) && n > most) most = n;
  }
  return most;
}

/* gnuplot would run what stands between such quotes. */
bool is_plain_text(const char *text) {
  for (const char *p = text; *p; p++)
    if ((unsigned char)*p < ' ' || strchr("\"'`\\", *p)) return false;
  return true;
}

static bool has_plain_names(const Bench *b) {
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    if (!is_plain_text(k->kernel)) return false;
    for (int d = 0; d < k->n_defines; d++)
      if (!is_plain_text(k->defines[d].value) || !is_plain_text(k->defines[d].name)) return false;
    for (int i = 0; i < k->n_contenders; i++)
      if (!is_plain_text(k->contenders[i].name)) return false;
  }
  return true;
}

/* gnuplot draws beside the picture, which then takes its place: what fails leaves the old one. */
typedef struct Drawing {
  FILE *f; /* gnuplot's commands; NULL: it cannot be started */
  char *part;
  const char *path;
} Drawing;

static Drawing start_drawing(const char *path) {
  Drawing d = {.path = path, .part = part_of(path)};
  signal(SIGPIPE, SIG_IGN);
  if (d.part) d.f = popen("gnuplot >/dev/null 2>&1", "w");
  return d;
}

static bool end_drawing(Drawing *d) {
  struct stat there;
  bool ok = d->f && pclose(d->f) == 0;
  ok = ok && stat(d->part, &there) == 0 && there.st_size > 0 && put_part(d->part, d->path);
  if (!ok && d->part) unlink(d->part);
  free(d->part);
  return ok;
}

bool plot_panel(const Bench *b, const char *kind, const char *kernel, int threads,
                const char *path) {
  enum {
    WIDTH = 640,
    HEIGHT = 440,
    NARROW = 500,
    ROW = 19,
    CELL = 34,
    LETTER = 9,
    FEWEST_ROWS = 7
  };
  const bool heat = strcmp(kind, "heat") == 0, svg = ends_with(path, ".svg");
  /* Pages show drawings on telephones, too: little around the letters. */
  const int width = heat  ? LETTER * longest_name(b, threads) + 130 + CELL * count(b, NULL, threads)
                    : svg ? NARROW
                          : WIDTH;
  const int rows = count_rows(b, NULL, threads);
  const int height = heat ? 170 + ROW * (rows < FEWEST_ROWS ? FEWEST_ROWS : rows) : HEIGHT;
  if (!count_rows(b, kernel, threads) || !is_plain_text(path) || !has_plain_names(b)) return false;
  Drawing d = start_drawing(path);
  FILE *f = d.f;
  if (!f) return end_drawing(&d);
  fprintf(
      f,
      "set terminal %s noenhanced size %d,%d font \",%d\"%s\nset output '%s'\nset datafile "
      "missing 'NaN'\nset palette defined (0 '#ffffff', 1 '#56b4e9')\n"
      "set key outside bottom center horizontal Left reverse maxrows 4\nset xlabel offset 0,0.4\n",
      svg ? "svg" : "pngcairo", width, height, svg ? 14 : 11, svg ? " background rgb 'white'" : "",
      d.part);
  write_styles(f, b);
  if (heat)
    write_heat_map(f, b, threads);
  else if (strcmp(kind, "roofline") == 0)
    write_roofline(f, b, threads);
  else if (strcmp(kind, "bars") == 0)
    write_means(f, b, kernel, threads);
  else
    write_panel(f, b, kernel, threads);
  return end_drawing(&d);
}

bool has_gnuplot(void) { return system("command -v gnuplot >/dev/null") == 0; }

/* Before hours of measuring, not after. */
int check_plot(const Options *o) {
  if (!o->plot) return DONE;
  if (!ends_with(o->plot, ".png") && !ends_with(o->plot, ".svg"))
    return complain(o, "name it FILE.png or FILE.svg", "--plot makes PNG and SVG, not '%s'",
                    o->plot);
  if (strpbrk(o->plot, "'\n\\"))
    return complain(o, NULL, "the name of a plot has no quotes and backslashes");
  if (has_gnuplot()) return check_output(o, o->plot);
  return complain(o, "on Debian: apt-get install gnuplot-nox", "--plot needs gnuplot");
}

int write_plot(const Bench *b) {
  if (!b->n_measured) return DONE;
  if (!has_plain_names(b))
    return complain(b->o, NULL, "--plot cannot draw names with quotes and backslashes");
  Drawing d = start_drawing(b->o->plot);
  if (d.f) write_script(d.f, b, d.part, ends_with(b->o->plot, ".svg"));
  if (end_drawing(&d)) return DONE;
  return complain(b->o, NULL, "gnuplot could not write '%s'", b->o->plot);
}
