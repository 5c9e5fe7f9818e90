/* A case's contenders take their turns (runtime/measure/turns.h). */
#include "bench.h"

#include <string.h>
#include <unistd.h>

typedef struct Progress {
  const Bench *b;
  const Case *k;
  int64_t most; /* attempts */
} Progress;

/* "[3/24] qkv M=64 goto, attempt 2 of 3, 12 s left" */
static void show_progress(void *self, int contender, int attempt) {
  const Progress *p = self;
  const Bench *b = p->b;
  const int done = (int)(p->k - b->cases);
  if (!speech.progress) return;
  fprintf(stderr, "\r\033[K[%d/%d] %s %s %s", done + 1, b->n_cases, p->k->at.kernel,
          p->k->at.setting, p->k->contenders[contender].name);
  if (attempt > 1) fprintf(stderr, ", attempt %d of %lld", attempt, (long long)p->most);
  if (done > b->n_passed)
    fprintf(stderr, ", %.0f s left",
            (tirc_seconds() - b->started) / (done - b->n_passed) * (b->n_cases - done));
}

/* Ctrl-C ends it. */
static void rest(double seconds) {
  const double end = tirc_seconds() + seconds;
  while (!was_interrupted() && tirc_seconds() < end) usleep(10000);
}

static void take_turns(const Bench *b, Case *k, tirc_contender *at, tirc_figures **figures,
                       double (*counted)[N_COUNTERS]) {
  Progress p = {b, k, b->how.attempts > 0 ? b->how.attempts : 3};
  for (int i = 0; i < k->n_contenders; i++) {
    Contender *c = &k->contenders[i];
    at[i] = (tirc_contender){.name = c->name,
                             .self = c,
                             .call = c->skipped ? NULL : call_contender,
                             .seconds = contender_seconds};
    figures[i] = &c->f;
  }
  const TurnPlan plan = {.n = k->n_contenders,
                         .at = at,
                         .options = {.seconds = b->how.seconds,
                                     .turns = b->how.turns,
                                     .attempts = (int)p.most,
                                     .cores = b->how.pin ? k->at.threads : 0,
                                     .self = &p,
                                     .told = show_progress,
                                     .go_on = may_go_on},
                         .counters = b->counters.open ? &b->counters : NULL,
                         .counted = counted};
  tirc_take_turns(&plan, figures, &k->meanwhile);
  for (int i = 0; i < k->n_contenders; i++)
    memcpy(k->contenders[i].counted, counted[i], sizeof *counted);
}

void measure_case(Bench *b, Case *k) {
  const size_t n = (size_t)k->n_contenders;
  tirc_contender *at = tirc_alloc_array(memory, n, sizeof *at);
  tirc_figures **figures = tirc_alloc_array(memory, n, sizeof *figures);
  double(*counted)[N_COUNTERS] = tirc_alloc_array(memory, n, sizeof *counted);
  if (k != b->cases) rest(b->how.cool_down);
  take_turns(b, k, at, figures, counted);
  if (speech.progress) fprintf(stderr, "\r\033[K");
  k->huge_bytes = huge_pages_in_use();
  b->n_measured = (int)(k - b->cases) + 1;
}
