/* What casts doubt on figures: what disturbed the machine while they were taken, and shares of a
 * ceiling above 100 %. */
#include "bench.h"

#include <string.h>

double uncertainty(const Contender *c) {
  return c->median > 0 ? (c->high - c->low) / (2 * c->median) : 0;
}

static const Contender *least_certain(const Case *k) {
  const Contender *found = &k->contenders[0];
  for (int i = 1; i < k->n_contenders; i++)
    if (uncertainty(&k->contenders[i]) > uncertainty(found)) found = &k->contenders[i];
  return found;
}

static double others(const Case *k) { return k->others; }
static double clock_drop(const Case *k) { return k->clock_drop; }
static double widest(const Case *k) { return uncertainty(least_certain(k)); }

/* Quiet machines stay below half of these. */
static const struct Kind {
  const char *name;
  double limit;
  double (*value)(const Case *k);
} kinds[N_DISTURBANCES] = {
    {"load", 0.1, others}, {"clock", 0.1, clock_drop}, {"uncertainty", 0.2, widest}};

double disturbance(const Case *k) {
  double most = 0;
  for (int i = 0; i < N_DISTURBANCES; i++)
    if (kinds[i].value(k) / kinds[i].limit > most) most = kinds[i].value(k) / kinds[i].limit;
  return most;
}

int list_disturbances(const Case *k, const char **names) {
  int n = 0;
  for (int i = 0; i < N_DISTURBANCES; i++)
    if (kinds[i].value(k) > kinds[i].limit) names[n++] = kinds[i].name;
  return n;
}

void describe_disturbance(const Case *k, char *out, size_t size) {
  size_t n = 0;
  const char *comma = "";
  *out = 0;
  if (others(k) > kinds[0].limit) {
    n += (size_t)snprintf(out + n, size - n, "other processes used %.2f cores", others(k));
    comma = ", ";
  }
  if (clock_drop(k) > kinds[1].limit && n < size) {
    n += (size_t)snprintf(out + n, size - n, "%sthe clock dropped by %.0f %%", comma,
                          100 * clock_drop(k));
    comma = ", ";
  }
  if (widest(k) > kinds[2].limit && n < size)
    snprintf(out + n, size - n, "%sthe median of %s is known to +-%.0f %% only", comma,
             least_certain(k)->name, 100 * widest(k));
}

void print_disturbance(const Bench *b, const Case *k) {
  char text[256];
  describe_disturbance(k, text, sizeof text);
  if (*text)
    fprintf(b->out, "disturbed: %s", text);
  else if (k->attempts > 1)
    fprintf(b->out, "undisturbed");
  if (k->attempts > 1) fprintf(b->out, " (the calmest of %d attempts)", k->attempts);
  if (*text || k->attempts > 1) fprintf(b->out, "\n");
}

/* --- shares above 100 % ------------------------------------------------------------------------
 */

bool explain_excess(const Bench *b, const Case *k, const Contender *c, char *out, size_t size) {
  static const double SHORT = 10e-6;
  const Contender *binding = binding_ceiling(k);
  Ratio share = ratio_to(c, binding);
  if (c->ceiling || share.value < 1.0005) return false;
  double of_best = 100 * best_seconds(b, k) / c->median;
  if (share.low <= 1)
    snprintf(out, size, "is within the noise: %.1f to %.1f %% with 95 %% confidence",
             100 * share.low, 100 * share.high);
  else if (binding->median < SHORT)
    snprintf(out, size, "means little: starting a call weighs as much as its %.1f us of work",
             binding->median * 1e6);
  else if (of_best <= 100)
    snprintf(out, size, "is due to the ceiling: it is %.1f %% of the ceiling at its best", of_best);
  else if (disturbance(k) > 1)
    snprintf(out, size, "means little: something disturbed the machine");
  else if (binding->ceiling == &bandwidth_ceiling)
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
    if (k->contenders[i].median > 0 && explain_excess(b, k, &k->contenders[i], text, sizeof text))
      fprintf(b->out, "%s: more than 100 %% %s\n", k->contenders[i].name, text);
}
