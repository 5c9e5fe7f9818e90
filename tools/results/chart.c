#include "chart.h"

#include "runtime/measure/statistics.h"

#include <math.h>
#include <string.h>

void new_chart(Chart *c, int n_settings, int n_series) {
  *c = (Chart){.n_settings = n_settings, .n_series = n_series, .base = -1};
  c->settings = tirc_alloc_array(memory, (size_t)n_settings + 1, sizeof *c->settings);
  c->series = tirc_alloc_array(memory, (size_t)n_series + 1, sizeof *c->series);
  c->held = tirc_alloc_array(memory, (size_t)n_settings * (size_t)n_series + 1, sizeof *c->held);
}

int no_base(const char *name) {
  return complain("--against takes the name of a contender",
                  "there is no contender '%s' to compare with", name);
}

int choose_base(Chart *c, const char *name) {
  int i = 0;
  while (name && i < c->n_series && strcmp(c->series[i].name, name) != 0) i++;
  c->base = name && i < c->n_series ? i : -1;
  return name && c->base < 0 ? no_base(name) : DONE;
}

double median_of(const Chart *c, int setting, int series) {
  const Held *h = c->held[setting * c->n_series + series];
  return h && h->f.median > 0 ? h->f.median : 0;
}

double binding_median(const Chart *c, int setting) {
  double most = 0;
  for (int i = 0; i < c->n_series; i++)
    if (c->series[i].ceiling) most = fmax(most, median_of(c, setting, i));
  return most;
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static bool counts_operations(const Chart *c) { return c->settings[0].work.float_ops > 0; }

const char *chart_unit(const Chart *c) {
  if (c->base < 0) return counts_operations(c) ? "GFLOP/s" : "GB/s";
  return tirc_format(memory,
                     c->is_time ? "time, as a multiple of that of %s" : "times as fast as %s",
                     c->series[c->base].name);
}

static double amount(const Chart *c, int setting) {
  const Work *w = &c->settings[setting].work;
  return 1e-9 * (counts_operations(c) ? w->float_ops : bytes_of_work(w));
}

typedef struct Drawn {
  RatioMean mean;
  double log_amount;
} Drawn;

static void add_value(const Chart *c, int setting, int series, Drawn *d) {
  const Held *const *held = &c->held[setting * c->n_series], *of = held[series],
                    *base = c->base >= 0 ? held[c->base] : NULL;
  const bool together = of && base && strcmp(of->r.session, base->r.session) == 0;
  if (!of || (c->base >= 0 && !base)) return;
  if (tirc_mean_add(&d->mean, &of->f, base ? &base->f : NULL, together) && c->base < 0)
    d->log_amount += log(amount(c, setting));
}

static tirc_ratio end_value(const Chart *c, const Drawn *d) {
  if (c->base < 0 && d->mean.n) return tirc_mean_end(&d->mean, -1, exp(d->log_amount / d->mean.n));
  return tirc_mean_end(&d->mean, c->is_time ? -1 : 1, 1);
}

tirc_ratio value_at(const Chart *c, int setting, int series) {
  Drawn d = {0};
  add_value(c, setting, series, &d);
  return end_value(c, &d);
}

tirc_ratio mean_value(const Chart *c, const char *kernel, int threads, int series) {
  Drawn d = {0};
  for (int j = 0; j < c->n_settings; j++)
    if (is_in_chart(c, j, kernel, threads)) add_value(c, j, series, &d);
  return end_value(c, &d);
}

double binding_value(const Chart *c, int setting) {
  const double seconds = binding_median(c, setting);
  if (!(seconds > 0)) return 0;
  const double base = c->base >= 0 ? median_of(c, setting, c->base) : amount(c, setting);
  if (c->is_time) return base > 0 ? seconds / base : 0;
  return base / seconds;
}

bool is_busy(const Chart *c, int setting, int series) {
  return median_of(c, setting, series) > 0 && c->held[setting * c->n_series + series]->busy;
}

/* --- what there is ---------------------------------------------------------------------------- */

double best_fma_rate(const Chart *c, int threads) {
  double best = 0;
  for (int j = 0; j < c->n_settings; j++)
    for (int i = 0; i < c->n_series && c->settings[j].threads == threads; i++)
      if (c->series[i].ceiling == FMA_CEILING && median_of(c, j, i) > 0)
        best = fmax(best, c->settings[j].work.float_ops / c->held[j * c->n_series + i]->f.fastest);
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
