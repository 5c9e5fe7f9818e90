/* What pictures are made of: figures of contenders over settings, wherever they come from. */
#ifndef TIRC_TOOLS_CHART_H
#define TIRC_TOOLS_CHART_H

#include "held.h"

#include "tools/kit/kit.h"

typedef struct Series {
  const char *name;
  CeilingKind ceiling;
} Series;

/* The contents of settings and series, and what is held, belong to whoever fills them in. */
typedef struct Chart {
  int n_settings, n_series;
  Setting *settings;
  Series *series;
  const Held **held; /* [setting * n_series + series]; NULL, or without a median: not measured */
  bool of_programs;  /* each setting is a program of its own: their rates have little in common */
  int base;          /* the series that all are compared with; -1: rates are drawn */
  bool is_time;      /* with a base: ratios of times, not of speeds */
} Chart;
/* Zeroed, without a base. */
void new_chart(Chart *c, int n_settings, int n_series);
/* DONE, or BAD after saying that no series is called so (NULL: there is to be no base). */
int no_base(const char *name);
int choose_base(Chart *c, const char *name);

/* Of the series in a setting; 0: it was not measured. */
double median_of(const Chart *c, int setting, int series);
/* Of the ceiling that binds there, or 0. */
double binding_median(const Chart *c, int setting);
/* What is drawn: GFLOP/s (of programs without float operations GB/s) or, with a base, how many
 * times as fast, or the time as a multiple; of a setting, or as geometric mean of a panel's
 * (kernel NULL, threads 0: any). value 0: there is none. */
const char *chart_unit(const Chart *c); /* "GFLOP/s", "times as fast as openblas" */
tirc_ratio value_at(const Chart *c, int setting, int series);
tirc_ratio mean_value(const Chart *c, const char *kernel, int threads, int series);
double binding_value(const Chart *c, int setting); /* of the binding ceiling */
bool is_busy(const Chart *c, int setting, int series);
/* The best rate of the FMA ceiling in any call on so many threads, operations a second; or 0. */
double best_fma_rate(const Chart *c, int threads);
/* kernel NULL, threads 0: any. */
bool is_in_chart(const Chart *c, int setting, const char *kernel, int threads);
bool is_drawn(const Chart *c, const char *kernel, int threads, int series); /* has some figure */

/* plot.c */
/* DONE, or BAD after saying why there will be no plot at that path (NULL: none is asked for) */
int check_plot(const char *path);
/* All of it as one picture: a panel for each kernel and number of threads, a map for the latter. */
int write_plot(const Chart *c, const char *path);
bool has_gnuplot(void);
bool is_plain_text(const char *text); /* without quotes, backslashes and control characters */
/* One panel as a picture: a line, bars (geometric means) or the only bars of a kernel, or the heat
 * map or roofline of all (kernel NULL). path: .svg, .png or .pdf.
 * False: there is none, or names are not plain. */
bool plot_panel(const Chart *c, const char *kind, const char *kernel, int threads,
                const char *path);

/* One bar for each name; `what`: their unit. DONE or BAD. */
int plot_bars(const char *path, const char *what, int n, const char *const *names,
              const double *values);

#endif
