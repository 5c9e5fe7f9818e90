/* The FMA ceiling takes its turns with the contenders: as many float operations as the program has,
 * on the same threads, in registers. What disturbs the machine disturbs it as well, so that a share
 * of it is as sound as any other ratio of the run. */
#include "bench.h"

#include <string.h>

void run_ceiling(const Case *k) {
  (void)tirc_executor_fma(k->executor, k->vector_bits, k->cost.float_ops);
}

int ceiling_bits(const Bench *b) {
  return tirc_executor_fma(b->threads[0].executor, b->target.vector_bits, 0);
}

/* It is there in every case, so that contenders have the same numbers in all. */
void add_ceiling(const Bench *b, Case *k) {
  k->vector_bits = b->target.vector_bits;
  bool none = !(k->cost.float_ops > 0) || !ceiling_bits(b);
  k->contenders[k->n_contenders++] =
      (Contender){.name = strdup("FMA ceiling"), .ceiling = k, .skipped = none};
}

const Contender *ceiling_of(const Case *k) {
  const Contender *last = k->n_contenders ? &k->contenders[k->n_contenders - 1] : NULL;
  return last && last->ceiling && last->median > 0 ? last : NULL;
}

double best_rate(const Bench *b, int threads) {
  double best = 0;
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    const Contender *c = k->threads == threads ? ceiling_of(k) : NULL;
    if (c && k->cost.float_ops / c->min > best) best = k->cost.float_ops / c->min;
  }
  return best;
}
