/* `--plot FILE.png|svg`: one picture by gnuplot. For each kernel and number of threads a panel with
 * a line a contender over the settings, or a bar if there is one setting, and below, for each
 * number of threads, a heat map of contenders and settings. Programs of a suite have the maps only:
 * their rates have little to do with each other. */
#define _GNU_SOURCE
#include "chart.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PANEL_WIDTH = 720, PANEL_HEIGHT = 380, CELL_WIDTH = 48 };

/* The constant that tells the setting from the others of its kernel: 64 of "M=64 K=768"; NULL:
 * there is none. */
static const tirc_define *telling(const Chart *c, int setting) {
  const Setting *s = &c->settings[setting];
  for (int d = 0; d < s->n_defines; d++)
    for (const Setting *other = c->settings; other < c->settings + c->n_settings; other++)
      if (strcmp(other->kernel, s->kernel) == 0 && d < other->n_defines &&
          strcmp(other->defines[d].value, s->defines[d].value) != 0)
        return &s->defines[d];
  return NULL;
}

static const char *label(const Chart *c, int setting) {
  const tirc_define *d = telling(c, setting);
  return d ? d->value : "";
}

static int count(const Chart *c, const char *kernel, int threads) {
  int n = 0;
  for (int j = 0; j < c->n_settings; j++) n += is_in_chart(c, j, kernel, threads);
  return n;
}

/* What a contender gets wherever it is drawn: its place among those that were measured anywhere.
 * The colours are told apart by the colour-blind, too (Okabe and Ito, 2008; grey
 * for their yellow, which nobody reads on white); the eighth contender
 * begins again, with other points and broken lines. */
static int style_of(const Chart *c, int i) {
  int n = 1;
  for (int j = 0; j < i; j++) n += is_drawn(c, NULL, 0, j) && !c->series[j].ceiling;
  return n;
}

static const char *const colours[] = {"#0072B2", "#E69F00", "#009E73", "#D55E00",
                                      "#CC79A7", "#56B4E9", "#999999"};
enum { N_COLOURS = sizeof colours / sizeof *colours };
static const char *colour_of(const Chart *c, int i) {
  return colours[(style_of(c, i) - 1) % N_COLOURS];
}

static void write_styles(FILE *f, const Chart *c) {
  static const int points[] = {7, 5, 9, 11, 13};
  for (int i = 0; i < c->n_series; i++) {
    int n = style_of(c, i), again = (n - 1) / N_COLOURS;
    fprintf(f, "set linetype %d lc rgb '%s' lw 1.5 pt %d dt %d\n", n, colour_of(c, i),
            points[again % 5], again + 1);
  }
}

/* Contenders that have a figure; the ceilings are drawn apart. */
static bool is_row(const Chart *c, const char *kernel, int threads, int i) {
  return is_drawn(c, kernel, threads, i) && !c->series[i].ceiling;
}

static int count_rows(const Chart *c, const char *kernel, int threads) {
  int n = 0;
  for (int i = 0; i < c->n_series; i++) n += is_row(c, kernel, threads, i);
  return n;
}

/* --- rates -------------------------------------------------------------------------------------
 */

/* GFLOP/s, or of programs without float operations GB/s. */
static bool counts_operations(const Chart *c) { return c->settings[0].work.float_ops > 0; }

static double rate(const Chart *c, int setting, double seconds) {
  const Work *w = &c->settings[setting].work;
  return 1e-9 * (counts_operations(c) ? w->float_ops : bytes_of_work(w)) / seconds;
}

/* "place label rate low high"; what was not measured is a gap. */
static void write_point(FILE *f, const Chart *c, int setting, int series, int place,
                        const char *name) {
  const double median =
      series < c->n_series ? median_of(c, setting, series) : binding_median(c, setting);
  const tirc_figures *m = series < c->n_series ? c->marks[setting * c->n_series + series].f : NULL;
  if (median > 0)
    fprintf(f, "%d \"%s\" %g %g %g\n", place, name, rate(c, setting, median),
            m ? rate(c, setting, m->high) : 0, m ? rate(c, setting, m->low) : 0);
  else
    fprintf(f, "%d \"%s\" NaN NaN NaN\n", place, name);
}

/* $d<i> of contender i, and $d<n> of the binding ceiling. */
static void write_data(FILE *f, const Chart *c, const char *kernel, int threads) {
  for (int i = 0; i <= c->n_series; i++) {
    int place = 0;
    fprintf(f, "$d%d << EOD\n", i);
    for (int j = 0; j < c->n_settings; j++)
      if (is_in_chart(c, j, kernel, threads)) write_point(f, c, j, i, place++, label(c, j));
    fprintf(f, "EOD\n");
  }
}

static void write_frame(FILE *f, const Chart *c, const char *kernel, int threads,
                        const char *xlabel) {
  fprintf(f,
          "set title \"%s, %d thread%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\nset yrange "
          "[0:*]\nset grid ytics\n",
          kernel, threads, threads == 1 ? "" : "s", xlabel,
          counts_operations(c) ? "GFLOP/s" : "GB/s");
}

/* The first setting of a panel that has some. */
static int first_setting(const Chart *c, const char *kernel, int threads) {
  int j = 0;
  while (j < c->n_settings - 1 && !is_in_chart(c, j, kernel, threads)) j++;
  return j;
}

static void write_lines(FILE *f, const Chart *c, const char *kernel, int threads) {
  const int all = c->n_series;
  write_data(f, c, kernel, threads);
  const tirc_define *axis = telling(c, first_setting(c, kernel, threads));
  write_frame(f, c, kernel, threads, axis ? axis->name : "");
  fprintf(f, "set xrange [-0.3:%d.3]\nplot ", count(c, kernel, threads) - 1);
  for (int i = 0; i < all; i++)
    if (is_row(c, kernel, threads, i))
      fprintf(f,
              "$d%d using 1:4:5 with filledcurves lt %d fs transparent solid 0.2 noborder notitle, "
              "$d%d using 1:3:xtic(2) with linespoints lt %d title \"%s\", ",
              i, style_of(c, i), i, style_of(c, i), c->series[i].name);
  fprintf(f, "$d%d using 1:3:xtic(2) with lines lc rgb 'black' dt 2 title \"binding ceiling\"\n",
          all);
}

/* One setting: a bar a contender. */
static void write_bars(FILE *f, const Chart *c, const char *kernel, int threads) {
  const int k = first_setting(c, kernel, threads);
  int place = 0;
  for (int i = 0; i < c->n_series; i++) {
    if (!is_row(c, kernel, threads, i)) continue;
    fprintf(f, "$d%d << EOD\n", i);
    write_point(f, c, k, i, place++, c->series[i].name);
    fprintf(f, "EOD\n");
  }
  write_frame(f, c, kernel, threads, "");
  fprintf(f, "set xrange [-0.6:%d.6]\nset xtics rotate by -30\nset boxwidth 0.7\nplot ", place - 1);
  for (int i = 0; i < c->n_series; i++)
    if (is_row(c, kernel, threads, i))
      fprintf(f,
              "$d%d using 1:3:xtic(2) with boxes lt %d fs solid 0.8 noborder notitle, "
              "$d%d using 1:4:(0):($5-$4) with vectors nohead lc rgb 'black' notitle, ",
              i, style_of(c, i), i);
  if (binding_median(c, k) > 0)
    fprintf(f, "%g with lines lc rgb 'black' dt 2 title \"binding ceiling\"",
            rate(c, k, binding_median(c, k)));
  else
    fprintf(f, "NaN notitle");
  fprintf(f, "\nset xtics norotate\n");
}

/* A bar a contender: the geometric mean of its rates. */
static void write_means(FILE *f, const Chart *c, const char *kernel, int threads) {
  int place = 0;
  for (int i = 0; i < c->n_series; i++) {
    double sum = 0;
    int n = 0;
    for (int j = 0; j < c->n_settings; j++) {
      if (!is_in_chart(c, j, kernel, threads) || !(median_of(c, j, i) > 0)) continue;
      sum += log(rate(c, j, median_of(c, j, i)));
      n++;
    }
    if (!n || c->series[i].ceiling) continue;
    fprintf(f, "$d%d << EOD\n%d \"%s\" %g\nEOD\n", i, place++, c->series[i].name, exp(sum / n));
  }
  write_frame(f, c, kernel ? kernel : "all", threads, "");
  fprintf(f, "set xrange [-0.6:%d.6]\nset xtics rotate by -40\nset boxwidth 0.7\nplot ", place - 1);
  for (int i = 0; i < c->n_series; i++)
    if (is_row(c, kernel, threads, i))
      fprintf(f, "$d%d using 1:3:xtic(2) with boxes lt %d fs solid 0.8 noborder notitle, ", i,
              style_of(c, i));
  fprintf(f, "NaN notitle\n");
}

/* --- the roofline ------------------------------------------------------------------------------
 */

static double intensity(const Work *w) { return w->float_ops / bytes_of_work(w); }

/* Rates over operations a byte, below what the ceilings reached in the run. */
static void write_roofline(FILE *f, const Chart *c, int threads) {
  const double peak = best_fma_rate(c, threads) * 1e-9;
  double bandwidth = 0, least = INFINITY, most = 0;
  for (int i = 0; i < c->n_series; i++) {
    fprintf(f, "$d%d << EOD\n", i);
    for (int j = 0; j < c->n_settings; j++) {
      const Work *w = &c->settings[j].work;
      const double median = median_of(c, j, i);
      if (!is_in_chart(c, j, NULL, threads) || !(median > 0)) continue;
      fprintf(f, "%g %g\n", intensity(w), rate(c, j, median));
      least = fmin(least, intensity(w));
      most = fmax(most, intensity(w));
      if (c->series[i].ceiling == BANDWIDTH_CEILING)
        bandwidth = fmax(bandwidth, gbytes(w, BANDWIDTH_CEILING, median));
    }
    fprintf(f, "NaN NaN\nEOD\n");
  }
  fprintf(f,
          "set title \"Roofline, %d thread%s\"\nset xlabel \"operations a byte of the "
          "parameters\"\nset ylabel \"GFLOP/s\"\nset logscale xy\nset grid\nset yrange "
          "[*:*]\nset xrange [%g:%g]\nset samples 400\nplot ",
          threads, threads == 1 ? "" : "s",
          (bandwidth > 0 ? fmin(least, peak / bandwidth) : least) / 3, most * 2);
  for (int i = 0; i < c->n_series; i++)
    if (is_row(c, NULL, threads, i))
      fprintf(f, "$d%d with points lt %d title \"%s\", ", i, style_of(c, i), c->series[i].name);
  if (peak > 0) fprintf(f, "%g with lines lc rgb 'black' dt 1 title \"multiply-adds\", ", peak);
  if (peak > 0 && bandwidth > 0)
    fprintf(f, "%g * x < %g ? %g * x : NaN with lines lc rgb 'black' dt 2 title \"bandwidth\", ",
            bandwidth, 1.2 * peak, bandwidth);
  fprintf(f, "NaN notitle\n");
}

/* --- the heat map ------------------------------------------------------------------------------
 */

static bool has_ceilings(const Chart *c) {
  for (int j = 0; j < c->n_settings; j++)
    if (binding_median(c, j) > 0) return true;
  return false;
}

/* Rectangles, which stay sharp at any size; a contender's name has its colour. */
static int write_cells(FILE *f, const Chart *c, int threads, int *name_length) {
  const bool percent = has_ceilings(c);
  int rows = 0;
  fprintf(f, "$h << EOD\n");
  for (int i = 0; i < c->n_series; i++) {
    int x = 0;
    if (!is_row(c, NULL, threads, i)) continue;
    for (int j = 0; j < c->n_settings; j++) {
      const double median = median_of(c, j, i), ceiling = binding_median(c, j);
      if (!is_in_chart(c, j, NULL, threads)) continue;
      fprintf(f, "%d %d ", x++, rows);
      if (median > 0 && (ceiling > 0 || !percent))
        fprintf(f, "%.1f", percent ? 100 * ceiling / median : rate(c, j, median));
      else
        fprintf(f, "NaN");
      fprintf(f, " \"%s %s\"\n", c->settings[j].kernel, label(c, j));
    }
    rows++;
  }
  fprintf(f, "EOD\n");
  for (int i = 0, y = 0; i < c->n_series; i++) {
    if (!is_row(c, NULL, threads, i)) continue;
    fprintf(f, "set label %d \"%s\" at graph 0, first %d right offset -1,0 textcolor rgb '%s'\n",
            i + 1, c->series[i].name, y++, colour_of(c, i));
    if ((int)strlen(c->series[i].name) > *name_length)
      *name_length = (int)strlen(c->series[i].name);
  }
  return rows;
}

static void write_heat_map(FILE *f, const Chart *c, int threads) {
  int name_length = 0, rows = write_cells(f, c, threads, &name_length);
  const bool percent = has_ceilings(c);
  fprintf(
      f,
      "set title \"%s, %d thread%s\"\nset xlabel \"\"\nset ylabel \"\"\nunset key\nunset "
      "grid\nset xtics rotate by -60\nset xrange [-0.5:%d.5]\nset yrange [%d.5:-0.5]\n"
      "set cbrange [0:%s]\nunset ytics\nset lmargin %d\n"
      "plot $h using 1:2:(0.5):(0.5):3:xtic(4) with boxxyerror lc palette fs solid 1 border lc rgb "
      "'white', $h using 1:2:(sprintf('%%.0f', $3)) with labels font ',9'\n"
      "set xtics norotate\nset ytics\nset lmargin -1\nunset label\nset key\nset cbrange [*:*]\n",
      percent                ? "% of the binding ceiling"
      : counts_operations(c) ? "GFLOP/s"
                             : "GB/s",
      threads, threads == 1 ? "" : "s", count(c, NULL, threads) - 1, rows - 1,
      percent ? "100" : "*", name_length + 4);
}

/* --- the page ----------------------------------------------------------------------------------
 */

static void write_panel(FILE *f, const Chart *c, const char *kernel, int threads) {
  if (!count_rows(c, kernel, threads)) return;
  if (count(c, kernel, threads) > 1)
    write_lines(f, c, kernel, threads);
  else
    write_bars(f, c, kernel, threads);
}

static bool same_kernel(const Setting *a, const Setting *b) {
  return strcmp(a->kernel, b->kernel) == 0;
}
static bool same_threads(const Setting *a, const Setting *b) { return a->threads == b->threads; }

typedef bool SameSetting(const Setting *a, const Setting *b);
static bool is_first(const Chart *c, int setting, SameSetting *same) {
  int j = 0;
  while (!same(&c->settings[j], &c->settings[setting])) j++;
  return j == setting;
}
static int count_first(const Chart *c, SameSetting *same) {
  int n = 0;
  for (int j = 0; j < c->n_settings; j++) n += is_first(c, j, same);
  return n;
}

static void write_script(FILE *f, const Chart *c, const char *path, bool svg) {
  const int n = count_first(c, same_kernel), n_threads = count_first(c, same_threads);
  const bool panels = !c->of_programs;
  const bool maps = !panels || c->n_settings > n_threads; /* one setting needs none */
  const int each = panels + maps, rows = each * n_threads;
  const int width =
      panels ? PANEL_WIDTH * n : PANEL_WIDTH / 2 + CELL_WIDTH * c->n_settings / n_threads;
  double h = 1.0 / rows;
  fprintf(f,
          "set terminal %s noenhanced size %d,%d%s\nset output '%s'\nset datafile missing 'NaN'\n"
          "set palette defined (0 '#ffffff', 1 '#56b4e9')\n",
          svg ? "svg" : "pngcairo", width, PANEL_HEIGHT * rows,
          svg ? " background rgb 'white'" : "", path);
  write_styles(f, c);
  fprintf(f, "set key outside right center vertical Left reverse\nset multiplot\n");
  for (int s = 0, t = 0; s < c->n_settings; s++) {
    if (!is_first(c, s, same_threads)) continue;
    const int threads = c->settings[s].threads, row = each * t++;
    for (int j = 0, i = 0; j < c->n_settings && panels; j++) {
      if (!is_first(c, j, same_kernel)) continue;
      fprintf(f, "set origin %g,%g\nset size %g,%g\n", (double)i / n, 1 - (row + 1) * h, 1.0 / n,
              h);
      write_panel(f, c, c->settings[j].kernel, threads);
      i++;
    }
    if (!maps || !count_rows(c, NULL, threads)) continue;
    fprintf(f, "set origin 0,%g\nset size 1,%g\n", 1 - (row + each) * h, h);
    write_heat_map(f, c, threads);
  }
  fprintf(f, "unset multiplot\n");
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n > m && strcmp(s + n - m, end) == 0;
}

/* --- a panel by itself -------------------------------------------------------------------------
 */

static int longest_name(const Chart *c, int threads) {
  int most = 0;
  for (int i = 0; i < c->n_series; i++) {
    const int n = (int)strlen(c->series[i].name);
    if (is_row(c, NULL, threads, i) && n > most) most = n;
  }
  return most;
}

/* gnuplot would run what stands between such quotes. */
bool is_plain_text(const char *text) {
  for (const char *p = text; *p; p++)
    if ((unsigned char)*p < ' ' || strchr("\"'`\\", *p)) return false;
  return true;
}

static bool has_plain_names(const Chart *c) {
  for (int j = 0; j < c->n_settings; j++) {
    const Setting *s = &c->settings[j];
    if (!is_plain_text(s->kernel)) return false;
    for (int d = 0; d < s->n_defines; d++)
      if (!is_plain_text(s->defines[d].value) || !is_plain_text(s->defines[d].name)) return false;
  }
  for (int i = 0; i < c->n_series; i++)
    if (!is_plain_text(c->series[i].name)) return false;
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

bool plot_panel(const Chart *c, const char *kind, const char *kernel, int threads,
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
  const int width = heat  ? LETTER * longest_name(c, threads) + 130 + CELL * count(c, NULL, threads)
                    : svg ? NARROW
                          : WIDTH;
  const int rows = count_rows(c, NULL, threads);
  const int height = heat ? 170 + ROW * (rows < FEWEST_ROWS ? FEWEST_ROWS : rows) : HEIGHT;
  if (!count_rows(c, kernel, threads) || !is_plain_text(path) || !has_plain_names(c)) return false;
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
  write_styles(f, c);
  if (heat)
    write_heat_map(f, c, threads);
  else if (strcmp(kind, "roofline") == 0)
    write_roofline(f, c, threads);
  else if (strcmp(kind, "bars") == 0)
    write_means(f, c, kernel, threads);
  else
    write_panel(f, c, kernel, threads);
  return end_drawing(&d);
}

bool has_gnuplot(void) { return system("command -v gnuplot >/dev/null") == 0; }

/* Before hours of measuring, not after. */
int check_plot(const Options *o, const char *path) {
  if (!path) return DONE;
  if (!ends_with(path, ".png") && !ends_with(path, ".svg"))
    return complain(o, "name it FILE.png or FILE.svg", "--plot makes PNG and SVG, not '%s'", path);
  if (strpbrk(path, "'\n\\"))
    return complain(o, NULL, "the name of a plot has no quotes and backslashes");
  if (has_gnuplot()) return check_output(o, path);
  return complain(o, "on Debian: apt-get install gnuplot-nox", "--plot needs gnuplot");
}

int write_plot(const Options *o, const Chart *c, const char *path) {
  if (!c->n_settings) return DONE;
  if (!has_plain_names(c))
    return complain(o, NULL, "--plot cannot draw names with quotes and backslashes");
  Drawing d = start_drawing(path);
  if (d.f) write_script(d.f, c, d.part, ends_with(path, ".svg"));
  if (end_drawing(&d)) return DONE;
  return complain(o, NULL, "gnuplot could not write '%s'", path);
}
