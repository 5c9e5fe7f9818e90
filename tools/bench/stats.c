/* Ratios over the cases of a run (runtime/measure/statistics.h). */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tirc_ratio ratio_to(const Contender *of, const Contender *base) {
  return tirc_times_as_fast(of ? &of->f : NULL, base ? &base->f : NULL);
}

bool is_chosen(const Bench *b, const Case *k, const char *kernel, int threads) {
  return k < b->cases + b->n_measured && (!kernel || strcmp(kernel, k->at.kernel) == 0) &&
         (!threads || threads == k->at.threads);
}

bool was_measured(const Bench *b, const char *kernel, int threads, int i) {
  for (int j = 0; j < b->n_measured; j++)
    if (is_chosen(b, &b->cases[j], kernel, threads) && b->cases[j].contenders[i].f.median > 0)
      return true;
  return false;
}

/* A geometric mean in the making, and the case with the lowest ratio in it. */
typedef struct Mean {
  RatioMean mean;
  Lowest lowest;
} Mean;

static void add_ratio(Mean *m, const Case *k, const Contender *of, const Contender *base,
                      bool together) {
  if (!base || !tirc_mean_add(&m->mean, &of->f, &base->f, together)) return;
  const double ratio = base->f.median / of->f.median;
  if (!m->lowest.at || ratio < m->lowest.ratio) m->lowest = (Lowest){k, ratio};
}

static tirc_ratio end_mean(const Mean *m, Lowest *lowest) {
  *lowest = m->lowest;
  return tirc_mean_end(&m->mean, 1, 1);
}

tirc_ratio mean_ratio(const Bench *b, const char *kernel, int threads, int i, int base,
                      Lowest *lowest) {
  Mean m = {0};
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    if (is_chosen(b, k, kernel, threads))
      add_ratio(&m, k, &k->contenders[i],
                base == BINDING ? binding_ceiling(k) : &k->contenders[base], true);
  }
  return end_mean(&m, lowest);
}

int fewest_threads(const Bench *b) {
  int fewest = b->threads[0].threads;
  for (int t = 1; t < b->n_threads; t++)
    if (b->threads[t].threads < fewest) fewest = b->threads[t].threads;
  return fewest;
}

/* The same setting on other threads; NULL while it was not measured. */
static const Case *same_on(const Bench *b, const Case *k, int threads) {
  int settings = b->n_cases / b->n_threads, setting = (int)(k - b->cases) % settings;
  for (int j = setting; j < b->n_measured; j += settings)
    if (b->cases[j].at.threads == threads) return &b->cases[j];
  return NULL;
}

tirc_ratio mean_scaling(const Bench *b, const char *kernel, int threads, int i, Lowest *lowest) {
  Mean m = {0};
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    const Case *from = is_chosen(b, k, kernel, threads) ? same_on(b, k, fewest_threads(b)) : NULL;
    if (from) add_ratio(&m, k, &k->contenders[i], &from->contenders[i], false);
  }
  return end_mean(&m, lowest);
}

double mean_best_share(const Bench *b, const char *kernel, int threads, int i) {
  double sum = 0;
  int n = 0;
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    double share = best_seconds(b, k) / k->contenders[i].f.median;
    if (!is_chosen(b, k, kernel, threads) || !(k->contenders[i].f.median > 0) || !(share > 0))
      continue;
    sum += log(share);
    n++;
  }
  return n ? exp(sum / n) : 0;
}

int list_kernels(const Bench *b, const char **out, int most) {
  int n = 0;
  for (int j = 0; j < b->n_measured && n < most; j++) {
    int i = 0;
    while (i < n && strcmp(out[i], b->cases[j].at.kernel) != 0) i++;
    if (i == n) out[n++] = b->cases[j].at.kernel;
  }
  return n;
}

int contender_width(const Case *k, const char *head) {
  int width = (int)strlen(head);
  for (int i = 0; i < k->n_contenders; i++)
    if (k->contenders[i].f.median > 0 && (int)strlen(k->contenders[i].name) > width)
      width = (int)strlen(k->contenders[i].name);
  return width;
}
