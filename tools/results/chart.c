#include "chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool new_chart(Chart *c, int n_settings, int n_series) {
  *c = (Chart){.n_settings = n_settings, .n_series = n_series};
  c->settings = calloc((size_t)n_settings + 1, sizeof *c->settings);
  c->series = calloc((size_t)n_series + 1, sizeof *c->series);
  c->marks = calloc((size_t)n_settings * (size_t)n_series + 1, sizeof *c->marks);
  return c->settings && c->series && c->marks;
}

void free_chart(Chart *c) {
  free(c->settings);
  free(c->series);
  free(c->marks);
  *c = (Chart){0};
}

double median_of(const Chart *c, int setting, int series) {
  const tirc_figures *f = c->marks[setting * c->n_series + series].f;
  return f && f->median > 0 ? f->median : 0;
}

double binding_median(const Chart *c, int setting) {
  double most = 0;
  for (int i = 0; i < c->n_series; i++)
    if (c->series[i].ceiling) most = fmax(most, median_of(c, setting, i));
  return most;
}

double best_fma_rate(const Chart *c, int threads) {
  double best = 0;
  for (int j = 0; j < c->n_settings; j++)
    for (int i = 0; i < c->n_series && c->settings[j].threads == threads; i++)
      if (c->series[i].ceiling == FMA_CEILING && median_of(c, j, i) > 0)
        best = fmax(best, c->settings[j].work.float_ops / c->marks[j * c->n_series + i].f->fastest);
  return best;
}

bool is_in_chart(const Chart *c, int setting, const char *kernel, int threads) {
  const Setting *s = &c->settings[setting];
  return (!kernel || strcmp(kernel, s->kernel) == 0) && (!threads || threads == s->threads);
}

bool is_drawn(const Chart *c, const char *kernel, int threads, int series) {
  for (int j = 0; j < c->n_settings; j++)
    if (is_in_chart(c, j, kernel, threads) && median_of(c, j, series) > 0) return true;
  return false;
}
