#include "held.h"

#include "runtime/measure/statistics.h"
#include "tools/kit/json.h"
#include "tools/kit/kit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool was_busy(Json *more) {
  Json *words = NULL;
  if (!json_object_object_get_ex(more, "disturbed", &words) ||
      !json_object_is_type(words, json_type_array))
    return false;
  for (size_t i = 0; i < json_object_array_length(words); i++) {
    const char *word = json_object_get_string(json_object_array_get_idx(words, i));
    if (word && strcmp(word, "uncertainty") != 0) return true;
  }
  return false;
}

static bool take_figures_of(tirc_figures *f, const tirc_db_result *r, Json *more) {
  Json *turns = NULL;
  if (!json_object_object_get_ex(more, "turns", &turns) || !r->n_samples ||
      !json_object_is_type(turns, json_type_array))
    return true;
  const int n = (int)json_object_array_length(turns);
  int *calls = tirc_alloc_array(memory, (size_t)n + 1, sizeof *calls);
  for (int i = 0; i < n; i++)
    calls[i] = json_object_get_int(json_object_array_get_idx(turns, (size_t)i));
  const bool done = tirc_take_figures(f, r->n_samples, r->samples, n, calls);
  free(f->samples);
  f->samples = NULL;
  return done;
}

void keep_work(Json *more, const Work *w) {
  add_number(more, "float_ops", w->float_ops);
  add_int(more, "bytes_read", w->bytes_read);
  add_int(more, "bytes_written", w->bytes_written);
}

void keep_figures(Json *more, const tirc_figures *f, int n_disturbed,
                  const char *const *disturbed) {
  Json *turns = json_object_new_array();
  for (int i = 0; i < f->n_turns; i++)
    json_object_array_add(turns, json_object_new_int(f->turn_samples[i]));
  add_json(more, "disturbed", json_texts(n_disturbed, disturbed));
  add_json(more, "turns", turns);
}

Held *hold_result(Work *w, const char *name, CeilingKind ceiling, const tirc_db_result *r,
                  Json *more) {
  Held *h = tirc_alloc(memory, sizeof *h);
  tirc_db_described *machine = tirc_alloc(memory, sizeof *machine);
  char when[32] = "";
  const time_t created = (time_t)r->created;
  struct tm parts;
  if (gmtime_r(&created, &parts)) strftime(when, sizeof when, "%Y-%m-%d %H:%M", &parts);
  *machine = (tirc_db_described){.profile = copied(r->machine->profile)};
  *h = (Held){.r = {.session = copied(r->session),
                    .hash = copied(r->hash),
                    .schedule = copied(r->schedule),
                    .schedule_hash = copied(r->schedule_hash),
                    .target = copied(r->target),
                    .machine = machine,
                    .code = copied(r->code),
                    .message = copied(r->message),
                    .conditions = {.clock_low = r->conditions.clock_low,
                                   .clock_high = r->conditions.clock_high,
                                   .load = r->conditions.load,
                                   .environment = copied(r->conditions.environment)},
                    .created = r->created},
              .name = tirc_strdup(memory, name),
              .ceiling = ceiling,
              .when = tirc_strdup(memory, when),
              .busy = was_busy(more)};
  if (!r->code && !take_figures_of(&h->f, r, more)) return free_held(h), NULL;
  if (number_in(more, "float_ops") > 0) w->float_ops = number_in(more, "float_ops");
  w->bytes_read = (int64_t)number_in(more, "bytes_read");
  w->bytes_written = (int64_t)number_in(more, "bytes_written");
  return h;
}

void free_held(Held *h) {
  while (h) {
    Held *older = h->older;
    tirc_figures_clear(&h->f);
    h = older;
  }
}

static const Held *first_figure(const Held *h) {
  while (h && !(h->f.median > 0)) h = h->older;
  return h;
}

void pair_up(const Held **of, const Held **base, bool *together) {
  *together = true;
  for (const Held *x = *of; x; x = x->older)
    for (const Held *y = *base; y; y = y->older)
      if (x->f.median > 0 && y->f.median > 0 && strcmp(x->r.session, y->r.session) == 0) {
        *of = x;
        *base = y;
        return;
      }
  *together = false;
  *of = first_figure(*of);
  *base = first_figure(*base);
}
