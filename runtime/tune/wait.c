/* Waiting for other processes that search the same. */
#include "parts.h"
#include "runtime/kernel/timer.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

static const double NAP = 0.2;            /* seconds */
static const double SOON = 1, AGAIN = 30; /* of waiting, until it is told */

/* Of all programs of the search. */
static Others all_others(Tuning *t) {
  Others all = {0};
  for (int i = 0; i < t->n && !t->lost; i++) {
    Others o;
    tirc_error *e = NULL;
    const tirc_status status = tirc_store_others(&t->store, &t->tasks[i].study, &o, &e);
    if (!tirc_tuning_stored(t, status, &e) || !o.workers) continue;
    if (!all.workers) all = o, all.workers = all.trials = 0;
    all.workers += o.workers;
    all.trials += o.trials;
    all.left = fmax(all.left, o.left);
  }
  return all;
}

static void tell(Tuning *t) {
  const tirc_tune_options *o = t->options;
  const Others all = all_others(t);
  char who[128], more[40] = "", message[400];
  if (!all.workers || t->lost) return;
  tirc_worker_text(all.first, who, sizeof who);
  if (all.workers > 1) snprintf(more, sizeof more, " and %lld more", (long long)all.workers - 1);
  snprintf(message, sizeof message,
           "waiting for %lld trial%s that %s%s took; what is not heard of is taken over in %.0f s",
           (long long)all.trials, all.trials == 1 ? "" : "s", who, more, ceil(all.left));
  o->warn(o->self, message);
  t->told = tirc_now();
}

void tirc_tuning_wait(Tuning *t) {
  const struct timespec time = {0, (long)(NAP * 1e9)};
  const tirc_tune_options *o = t->options;
  const double now = tirc_now();
  if (t->idle == 0) t->idle = now, t->told = 0;
  if (o->warn && now - t->idle > SOON && (t->told == 0 || now - t->told > AGAIN)) tell(t);
  if (o->waits) o->waits(o->self);
  nanosleep(&time, NULL);
}
