/* What casts doubt on figures: what disturbed the machine while they were taken, and shares of a
 * ceiling above 100 %. */
#include "bench.h"

#include <math.h>
#include <string.h>

/* 0 where it is not known. */
static double uncertainty(const Contender *c) { return fmax(tirc_uncertainty(&c->f), 0); }

static const Contender *least_certain(const Case *k) {
  const Contender *found = &k->contenders[0];
  for (int i = 1; i < k->n_contenders; i++)
    if (uncertainty(&k->contenders[i]) > uncertainty(found)) found = &k->contenders[i];
  return found;
}

static double strength(const Case *k, Disturbance d) {
  const tirc_figures *const widest = &least_certain(k)->f;
  return tirc_disturbance_by(d, &k->meanwhile, 1, &widest);
}

int list_disturbances(const Case *k, const char **names) {
  int n = 0;
  for (Disturbance d = 0; d < N_DISTURBANCES; d++)
    if (tirc_is_disturbed_by(d, strength(k, d))) names[n++] = tirc_disturbance_names[d];
  return n;
}

void describe_disturbance(const Case *k, char *out, size_t size) {
  const char *comma = "";
  *out = 0;
  for (Disturbance d = 0; d < N_DISTURBANCES; d++) {
    const size_t n = strlen(out);
    const double by = strength(k, d);
    if (!tirc_is_disturbed_by(d, by)) continue;
    if (d == BY_LOAD)
      snprintf(out + n, size - n, "%sother processes used %.2f cores", comma, by);
    else if (d == BY_CLOCK)
      snprintf(out + n, size - n, "%sthe clock dropped by %.0f %%", comma, 100 * by);
    else
      snprintf(out + n, size - n, "%sthe median of %s is uncertain by %.0f %%", comma,
               least_certain(k)->name, 100 * by);
    comma = ", ";
  }
}

void print_disturbance(const Bench *b, const Case *k) {
  char text[256];
  describe_disturbance(k, text, sizeof text);
  if (*text)
    fprintf(b->out, "disturbed: %s", text);
  else if (k->meanwhile.attempts > 1)
    fprintf(b->out, "undisturbed");
  if (k->meanwhile.attempts > 1)
    fprintf(b->out, " (the calmest of %d attempts)", k->meanwhile.attempts);
  if (*text || k->meanwhile.attempts > 1) fprintf(b->out, "\n");
}

/* --- shares above 100 % ----------------------------------------------------------------------- */

bool explain_excess(const Bench *b, const Case *k, const Contender *c, char *out, size_t size) {
  static const double SHORT = 10e-6;
  const Contender *binding = binding_ceiling(k);
  tirc_ratio share = ratio_to(c, binding);
  if (c->ceiling || share.value < 1.0005) return false;
  double of_best = 100 * best_seconds(b, k) / c->f.median;
  if (!tirc_is_interval(share.low, share.high))
    snprintf(out, size, "means little: of fewer than %d turns nothing is sure", ENOUGH_TURNS);
  else if (tirc_side_of_one(&share) <= 0)
    snprintf(out, size, "is within the noise: %.1f to %.1f %% with 95 %% confidence",
             100 * share.low, 100 * share.high);
  else if (binding->f.median < SHORT)
    snprintf(out, size, "means little: starting a call weighs as much as its %.1f us of work",
             binding->f.median * 1e6);
  else if (of_best <= 100)
    snprintf(out, size, "is due to the ceiling: it is %.1f %% of the ceiling at its best", of_best);
  else if (k->meanwhile.disturbance > 1)
    snprintf(out, size, "means little: something disturbed the machine");
  else if (binding->ceiling->kind == BANDWIDTH_CEILING)
    snprintf(out, size,
             "suggests that it does not touch all bytes of the parameters, or finds them in nearer "
             "caches than the ceiling does");
  else if (!k->cost.is_exact)
    snprintf(out, size, "suggests that it does fewer operations than the estimate");
  else
    snprintf(out, size, "suggests that it does fewer operations than the program");
  return true;
}

void print_excesses(const Bench *b, const Case *k) {
  char text[160];
  for (int i = 0; i < k->n_contenders; i++)
    if (k->contenders[i].f.median > 0 && explain_excess(b, k, &k->contenders[i], text, sizeof text))
      fprintf(b->out, "%s: more than 100 %% %s\n", k->contenders[i].name, text);
}
