/* What was measured, as a chart. */
#include "bench.h"

void chart_of(const Bench *b, Chart *out) {
  const int n = b->n_measured ? b->cases[0].n_contenders : 0;
  new_chart(out, b->n_measured, n);
  out->of_programs = b->of_programs;
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    const bool busy = tirc_is_disturbed_by(BY_LOAD, k->meanwhile.load) ||
                      tirc_is_disturbed_by(BY_CLOCK, tirc_clock_drop(&k->meanwhile));
    out->settings[j] = k->at;
    Held *held = tirc_alloc_array(memory, (size_t)n, sizeof *held);
    for (int i = 0; i < n; i++) {
      held[i] = (Held){.r.session = "this", .f = k->contenders[i].f, .busy = busy};
      out->held[j * n + i] = &held[i];
    }
  }
  for (int i = 0; i < n; i++) {
    const Contender *c = &b->cases[0].contenders[i];
    out->series[i] = (Series){c->name, c->ceiling ? c->ceiling->kind : NO_CEILING};
  }
}
