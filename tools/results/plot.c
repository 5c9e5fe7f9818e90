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
  return is_drawn(c, kernel, threads, i) && !c->series[i].ceiling && i != c->base;
}

static int count_rows(const Chart *c, const char *kernel, int threads) {
  int n = 0;
  for (int i = 0; i < c->n_series; i++) n += is_row(c, kernel, threads, i);
  return n;
}

static bool has_ceilings(const Chart *c) {
  for (int j = 0; j < c->n_settings; j++)
    if (binding_median(c, j) > 0) return true;
  return false;
}

/* "place label value low high busy"; what was not measured is a gap, as is an interval of too few
 * turns. */
static void write_point(FILE *f, int place, const char *name, const tirc_ratio *v, bool busy) {
  if (v->value > 0 && !isfinite(v->high))
    fprintf(f, "%d \"%s\" %g NaN NaN %d\n", place, name, v->value, busy);
  else if (v->value > 0)
    fprintf(f, "%d \"%s\" %g %g %g %d\n", place, name, v->value, v->low, v->high, busy);
  else
    fprintf(f, "%d \"%s\" NaN NaN NaN 0\n", place, name);
}

/* $d<i> of contender i, and $d<n> of the binding ceiling. */
static void write_data(FILE *f, const Chart *c, const char *kernel, int threads) {
  for (int i = 0; i <= c->n_series; i++) {
    int place = 0;
    fprintf(f, "$d%d << EOD\n", i);
    for (int j = 0; j < c->n_settings; j++) {
      if (!is_in_chart(c, j, kernel, threads)) continue;
      const bool own = i < c->n_series;
      const tirc_ratio v = own ? value_at(c, j, i) : (tirc_ratio){binding_value(c, j), 0, 0};
      write_point(f, place++, label(c, j), &v, own && is_busy(c, j, i));
    }
    fprintf(f, "EOD\n");
  }
}

/* "geometric mean over M=8, 512", or "geometric mean of 24 settings": of what a bar is. */
static char *name_mean(const Chart *c, const char *kernel, int threads) {
  enum { MOST_LETTERS = 48 };
  const char *name = NULL, *of = NULL;
  bool by_name = true;
  char *list = NULL;
  for (int j = 0; j < c->n_settings; j++) {
    const tirc_define *d = telling(c, j);
    if (!is_in_chart(c, j, kernel, threads)) continue;
    by_name = by_name && d && (!name || strcmp(name, d->name) == 0) &&
              (!of || strcmp(of, c->settings[j].kernel) == 0);
    if (!by_name) break;
    list = list ? tirc_format(memory, "%s, %s", list, d->value)
                : tirc_format(memory, "geometric mean over %s=%s", d->name, d->value);
    name = d->name;
    of = c->settings[j].kernel;
  }
  return by_name && list && strlen(list) <= MOST_LETTERS
             ? list
             : tirc_format(memory, "geometric mean of %d settings", count(c, kernel, threads));
}

/* The only kernel of a panel, or "all" of several. */
static const char *name_kernels(const Chart *c, int threads) {
  const char *kernel = NULL;
  for (int j = 0; j < c->n_settings; j++) {
    if (!is_in_chart(c, j, NULL, threads)) continue;
    if (kernel && strcmp(kernel, c->settings[j].kernel) != 0) return "all";
    kernel = c->settings[j].kernel;
  }
  return kernel ? kernel : "all";
}

/* means: values are geometric means over the settings. */
static void write_frame(FILE *f, const Chart *c, const char *kernel, int threads,
                        const char *xlabel, bool means) {
  fprintf(f,
          "set title \"%s, %d thread%s%s%s\"\nset xlabel \"%s\"\nset ylabel \"%s\"\nset "
          "yrange [0:*]\nset grid ytics\n",
          kernel ? kernel : name_kernels(c, threads), threads, plural(threads), means ? "\\n" : "",
          means ? name_mean(c, kernel, threads) : "", xlabel, chart_unit(c));
}

/* What is common to panels with a contender's name in the key: the base, and what is hollow. */
static void write_key(FILE *f, const Chart *c, const char *kernel, int threads) {
  bool busy = false;
  for (int j = 0; j < c->n_settings; j++)
    for (int i = 0; i < c->n_series; i++)
      busy |= is_in_chart(c, j, kernel, threads) && !c->series[i].ceiling && is_busy(c, j, i);
  if (c->base >= 0)
    fprintf(f, "1 with lines lc rgb '#999999' dt 3 title \"%s\", ", c->series[c->base].name);
  if (busy) fprintf(f, "NaN with points pt 6 lc rgb 'black' title \"hollow: busy machine\", ");
  fprintf(f, "NaN notitle\n");
}

/* The first setting of a panel that has some. */
static int first_setting(const Chart *c, const char *kernel, int threads) {
  int j = 0;
  while (j < c->n_settings - 1 && !is_in_chart(c, j, kernel, threads)) j++;
  return j;
}

static void write_lines(FILE *f, const Chart *c, const char *kernel, int threads) {
  write_data(f, c, kernel, threads);
  const tirc_define *axis = telling(c, first_setting(c, kernel, threads));
  write_frame(f, c, kernel, threads, axis ? axis->name : "", false);
  fprintf(f, "set xrange [-0.3:%d.3]\nplot ", count(c, kernel, threads) - 1);
  for (int i = 0; i < c->n_series; i++)
    if (is_row(c, kernel, threads, i))
      fprintf(
          f,
          "$d%d using 1:4:5 with filledcurves lt %d fs transparent solid 0.2 noborder notitle, "
          "$d%d using 1:3:xtic(2) with linespoints lt %d title \"%s\", $d%d using 1:($6 > 0 ? $3 : "
          "NaN) with points lt %d lc rgb 'white' ps 0.5 notitle, ",
          i, style_of(c, i), i, style_of(c, i), c->series[i].name, i, style_of(c, i));
  if (has_ceilings(c))
    fprintf(f, "$d%d using 1:3:xtic(2) with lines lc rgb 'black' dt 2 title \"binding ceiling\", ",
            c->n_series);
  write_key(f, c, kernel, threads);
}

/* A bar a contender, with its interval: of one setting, or geometric means. */
static void write_bars(FILE *f, const Chart *c, const char *kernel, int threads) {
  const int k = first_setting(c, kernel, threads);
  const int n = count(c, kernel, threads);
  int place = 0;
  for (int i = 0; i < c->n_series; i++) {
    if (!is_row(c, kernel, threads, i)) continue;
    const tirc_ratio v = mean_value(c, kernel, threads, i);
    fprintf(f, "$d%d << EOD\n", i);
    write_point(f, place++, c->series[i].name, &v, false);
    fprintf(f, "EOD\n");
  }
  write_frame(f, c, kernel, threads, "", n > 1);
  fprintf(f, "set xrange [-0.6:%d.6]\nset xtics rotate by -30\nset boxwidth 0.7\nplot ", place - 1);
  for (int i = 0; i < c->n_series; i++) {
    if (!is_row(c, kernel, threads, i)) continue;
    bool busy = false;
    for (int j = 0; j < c->n_settings; j++)
      busy |= is_in_chart(c, j, kernel, threads) && is_busy(c, j, i);
    fprintf(f,
            "$d%d using 1:3:xtic(2) with boxes lt %d fs %s notitle, "
            "$d%d using 1:4:(0):($5-$4) with vectors nohead lc rgb 'black' notitle, ",
            i, style_of(c, i), busy ? "empty border" : "solid 0.8 noborder", i);
  }
  if (n == 1 && binding_value(c, k) > 0)
    fprintf(f, "%g with lines lc rgb 'black' dt 2 title \"binding ceiling\", ",
            binding_value(c, k));
  write_key(f, c, kernel, threads);
  fprintf(f, "set xtics norotate\n");
}

/* --- the roofline ----------------------------------------------------------------------------- */

static double intensity(const Work *w) { return w->float_ops / bytes_of_work(w); }

/* Of a logarithmic axis: in steps of 1, 2, 5, 10. */
static void write_tics(FILE *f, char axis, double low, double high) {
  static const double steps[] = {1, 2, 5};
  const char *comma = "";
  fprintf(f, "set %ctics (", axis);
  for (int decade = (int)floor(log10(low)); decade <= (int)ceil(log10(high)); decade++)
    for (int i = 0; i < 3; i++) {
      const double at = steps[i] * pow(10, decade);
      if (at < low || at > high) continue;
      fprintf(f, "%s\"%g\" %g", comma, at, at);
      comma = ", ";
    }
  fprintf(f, ")\n");
}

typedef struct Span {
  double low, high;
} Span;

static void reach(Span *s, double v) {
  s->low = s->high > 0 ? fmin(s->low, v) : v;
  s->high = fmax(s->high, v);
}

/* What an axis shows; of no figures something, too: gnuplot has no empty one. */
static Span widened(const Span *s, double below, double above) {
  return s->low > 0 ? (Span){s->low / below, s->high * above} : (Span){1, 10};
}

/* $d<i> of contender i: "intensity rate busy"; gives the best bandwidth of the run. */
static double write_rates(FILE *f, const Chart *c, int threads, Span *x, Span *y) {
  double bandwidth = 0;
  for (int i = 0; i < c->n_series; i++) {
    fprintf(f, "$d%d << EOD\n", i);
    for (int j = 0; j < c->n_settings; j++) {
      const Work *w = &c->settings[j].work;
      const double median = median_of(c, j, i), rate = gflops(w, NO_CEILING, median);
      if (!is_in_chart(c, j, NULL, threads) || !(median > 0) || !(rate > 0) ||
          !isfinite(intensity(w)))
        continue;
      fprintf(f, "%g %g %d\n", intensity(w), rate, is_busy(c, j, i));
      if (c->series[i].ceiling == BANDWIDTH_CEILING)
        bandwidth = fmax(bandwidth, gbytes(w, BANDWIDTH_CEILING, median));
      if (c->series[i].ceiling) continue;
      reach(x, intensity(w));
      reach(y, rate);
    }
    fprintf(f, "NaN NaN 0\nEOD\n");
  }
  return bandwidth;
}

/* Rates over operations a byte, below what the ceilings reached in the run. */
static void write_roofline(FILE *f, const Chart *c, int threads) {
  const double peak = best_fma_rate(c, threads) * 1e-9;
  Span x = {0, 0}, y = {0, 0};
  const double bandwidth = write_rates(f, c, threads, &x, &y);
  if (peak > 0) reach(&y, peak);
  if (peak > 0 && bandwidth > 0) reach(&x, peak / bandwidth);
  x = widened(&x, 3, 2), y = widened(&y, 2, 2);
  fprintf(f,
          "set title \"Roofline, %d thread%s\"\nset xlabel \"operations a byte of the "
          "parameters\"\nset ylabel \"GFLOP/s\"\nset logscale xy\nset grid\nset yrange "
          "[%g:%g]\nset xrange [%g:%g]\nset samples 400\n",
          threads, plural(threads), y.low, y.high, x.low, x.high);
  write_tics(f, 'x', x.low, x.high);
  write_tics(f, 'y', y.low, y.high);
  fprintf(f, "plot ");
  for (int i = 0; i < c->n_series; i++)
    if (is_row(c, NULL, threads, i))
      fprintf(f,
              "$d%d with points lt %d title \"%s\", $d%d using 1:($3 > 0 ? $2 : NaN) with points "
              "lt %d lc "
              "rgb 'white' ps 0.5 notitle, ",
              i, style_of(c, i), c->series[i].name, i, style_of(c, i));
  if (peak > 0) fprintf(f, "%g with lines lc rgb 'black' dt 1 title \"multiply-adds\", ", peak);
  if (peak > 0 && bandwidth > 0)
    fprintf(f, "%g * x < %g ? %g * x : NaN with lines lc rgb 'black' dt 2 title \"bandwidth\", ",
            bandwidth, 1.2 * peak, bandwidth);
  write_key(f, c, NULL, threads);
}

/* --- the heat map ----------------------------------------------------------------------------- */

/* What a cell says: a share of the binding ceiling where there are some, otherwise a rate or ratio.
 */
static double cell_of(const Chart *c, int setting, int series) {
  const double median = median_of(c, setting, series), ceiling = binding_median(c, setting);
  if (!(median > 0)) return (double)NAN;
  if (c->base < 0 && has_ceilings(c)) return ceiling > 0 ? 100 * ceiling / median : (double)NAN;
  const double v = value_at(c, setting, series).value;
  return v > 0 ? v : (double)NAN;
}

/* Rectangles, which stay sharp at any size; a contender's name has its colour. */
static int write_cells(FILE *f, const Chart *c, int threads, int *name_length, bool *busy) {
  int rows = 0;
  fprintf(f, "$h << EOD\n");
  for (int i = 0; i < c->n_series; i++) {
    int x = 0;
    if (!is_row(c, NULL, threads, i)) continue;
    for (int j = 0; j < c->n_settings; j++) {
      if (!is_in_chart(c, j, NULL, threads)) continue;
      const double cell = cell_of(c, j, i);
      fprintf(f, "%d %d ", x++, rows);
      fprintf(f, isnan(cell) ? "NaN" : "%.4g", cell);
      fprintf(f, " \"%s %s\" \"%s\"\n", c->settings[j].kernel, label(c, j),
              is_busy(c, j, i) ? "*" : " ");
      *busy |= is_busy(c, j, i);
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
  bool busy = false;
  int name_length = 0, rows = write_cells(f, c, threads, &name_length, &busy);
  const bool percent = c->base < 0 && has_ceilings(c);
  fprintf(f,
          "set title \"%s, %d thread%s%s\"\nset xlabel \"\"\nset ylabel \"\"\nunset key\nunset "
          "grid\nset xtics rotate by -60\nset xrange [-0.5:%d.5]\nset yrange [%d.5:-0.5]\n"
          "set cbrange [0:%s]\nunset ytics\nset lmargin %d\n"
          "plot $h using 1:2:(0.5):(0.5):3:xtic(4) with boxxyerror lc palette fs solid 1 border lc "
          "rgb 'white', $h using 1:2:(sprintf('%s%%s', $3, strcol(5) eq '*' ? '*' : '')) with "
          "labels font ',9'\n"
          "set xtics norotate\nset ytics\nset lmargin -1\nunset label\nset key\nset cbrange "
          "[*:*]\n",
          percent ? "% of the binding ceiling" : chart_unit(c), threads, plural(threads),
          busy ? " (*: busy)" : "", count(c, NULL, threads) - 1, rows - 1, percent ? "100" : "*",
          name_length + 4, c->base >= 0 ? "%.2f" : "%.0f");
}

/* --- the page --------------------------------------------------------------------------------- */

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n > m && strcmp(s + n - m, end) == 0;
}

/* Sizes are pixels, of which paper has 96 an inch. */
static const struct Format {
  const char *ending, *terminal, *unit, *more;
  double scale;
  int font, width; /* of a panel: pages show drawings on telephones, too */
} formats[] = {{".svg", "svg", "", " background rgb 'white'", 1, 14, 500},
               {".png", "pngcairo", "", "", 1, 11, 640},
               {".pdf", "pdfcairo", "in", "", 1.0 / 96, 11, 640}};

static const struct Format *format_of(const char *path) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (ends_with(path, formats[i].ending)) return &formats[i];
  return NULL;
}

static void begin_picture(FILE *f, const Chart *c, const struct Format *form, const char *path,
                          int width, int height) {
  fprintf(f,
          "set terminal %s noenhanced size %g%s,%g%s font \",%d\"%s\nset output '%s'\n"
          "set datafile missing 'NaN'\nset palette defined (0 '#ffffff', 1 '#56b4e9')\n",
          form->terminal, width * form->scale, form->unit, height * form->scale, form->unit,
          form->font, form->more, path);
  write_styles(f, c);
}

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

static void write_script(FILE *f, const Chart *c, const struct Format *form, const char *path) {
  const int n = count_first(c, same_kernel), n_threads = count_first(c, same_threads);
  const bool panels = !c->of_programs;
  const bool maps = !panels || c->n_settings > n_threads; /* one setting needs none */
  const int each = panels + maps, rows = each * n_threads;
  const int width =
      panels ? PANEL_WIDTH * n : PANEL_WIDTH / 2 + CELL_WIDTH * c->n_settings / n_threads;
  double h = 1.0 / rows;
  begin_picture(f, c, form, path, width, PANEL_HEIGHT * rows);
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

/* --- a panel by itself ------------------------------------------------------------------------ */

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
  FILE *f;              /* gnuplot's commands; NULL: it cannot be started */
  struct sigaction was; /* what SIGPIPE did before: gnuplot may end early */
  char *part;
  const char *path;
} Drawing;

static Drawing start_drawing(const char *path) {
  Drawing d = {.path = path, .part = part_of(path)};
  sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &d.was);
  if (d.part) d.f = popen("gnuplot >/dev/null 2>&1", "w");
  return d;
}

static bool end_drawing(Drawing *d) {
  struct stat there;
  bool ok = d->f && pclose(d->f) == 0;
  sigaction(SIGPIPE, &d->was, NULL);
  ok = ok && stat(d->part, &there) == 0 && there.st_size > 0 && put_part(d->part, d->path);
  drop_part(d->part);
  return ok;
}

bool plot_panel(const Chart *c, const char *kind, const char *kernel, int threads,
                const char *path) {
  enum { HEIGHT = 440, ROW = 19, CELL = 34, LETTER = 9, FEWEST_ROWS = 7 };
  const bool heat = strcmp(kind, "heat") == 0;
  const struct Format *form = format_of(path);
  const int width =
      heat ? LETTER * longest_name(c, threads) + 130 + CELL * count(c, NULL, threads) : form->width;
  const int title = heat ? LETTER * 48 : 0, rows = count_rows(c, NULL, threads);
  const int height = heat ? 170 + ROW * (rows < FEWEST_ROWS ? FEWEST_ROWS : rows) : HEIGHT;
  if (!count_rows(c, kernel, threads) || !is_plain_text(path) || !has_plain_names(c)) return false;
  Drawing d = start_drawing(path);
  FILE *f = d.f;
  if (!f) return end_drawing(&d);
  begin_picture(f, c, form, d.part, width > title ? width : title, height);
  fprintf(f, "set key outside top center horizontal Left reverse maxrows 4\n");
  if (heat)
    write_heat_map(f, c, threads);
  else if (strcmp(kind, "roofline") == 0)
    write_roofline(f, c, threads);
  else if (strcmp(kind, "bars") == 0)
    write_bars(f, c, kernel, threads);
  else
    write_panel(f, c, kernel, threads);
  return end_drawing(&d);
}

int plot_bars(const char *path, const char *what, int n, const char *const *names,
              const double *values) {
  enum { BAR = 60, EDGE = 200, HEIGHT = 440 };
  const Chart none = {0};
  for (int i = 0; i < n; i++)
    if (!is_plain_text(names[i]))
      return complain(NULL, "--plot cannot draw names with quotes and backslashes");
  Drawing d = start_drawing(path);
  if (d.f) {
    begin_picture(d.f, &none, format_of(path), d.part, EDGE + BAR * n, HEIGHT);
    fprintf(d.f, "$d << EOD\n");
    for (int i = 0; i < n; i++) fprintf(d.f, "%d \"%s\" %.17g\n", i, names[i], values[i]);
    fprintf(d.f,
            "EOD\nset ylabel \"%s\"\nset yrange [0:*]\nset xrange [-0.6:%d.6]\n"
            "set xtics rotate by -30\nset boxwidth 0.7\nset grid y\n"
            "plot $d using 1:3:xtic(2) with boxes lc rgb '%s' fs solid 0.8 noborder notitle\n",
            what, n - 1, colours[0]);
  }
  if (end_drawing(&d)) return DONE;
  return complain(NULL, "gnuplot could not write '%s'", path);
}

bool has_gnuplot(void) { return system("command -v gnuplot >/dev/null") == 0; }

/* Before hours of measuring, not after. */
int check_plot(const char *path) {
  if (!path) return DONE;
  if (!format_of(path))
    return complain("name it FILE.svg, FILE.png or FILE.pdf",
                    "--plot makes SVG, PNG and PDF, not '%s'", path);
  if (strpbrk(path, "'\n\\"))
    return complain(NULL, "the name of a plot has no quotes and backslashes");
  if (has_gnuplot()) return check_output(path);
  return complain("on Debian: apt-get install gnuplot-nox", "--plot needs gnuplot");
}

int write_plot(const Chart *c, const char *path) {
  if (!c->n_settings) return DONE;
  if (!has_plain_names(c))
    return complain(NULL, "--plot cannot draw names with quotes and backslashes");
  Drawing d = start_drawing(path);
  if (d.f) write_script(d.f, c, format_of(path), d.part);
  if (end_drawing(&d)) return DONE;
  return complain(NULL, "gnuplot could not write '%s'", path);
}
