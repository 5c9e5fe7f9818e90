#include "held.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct json_object Json;

double number_in(Json *j, const char *key) {
  Json *v = NULL;
  return json_object_object_get_ex(j, key, &v) ? json_object_get_double(v) : 0;
}

const char *text_in(Json *j, const char *key) {
  Json *v = NULL;
  return json_object_object_get_ex(j, key, &v) ? json_object_get_string(v) : NULL;
}

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

static char *copied(const char *text) { return text ? strdup(text) : NULL; }

static void take_turns_of(Contender *c, const tirc_db_result *r, Json *more) {
  Json *turns = NULL;
  if (!json_object_object_get_ex(more, "turns", &turns) || !r->n_samples ||
      !json_object_is_type(turns, json_type_array))
    return;
  const int n = (int)json_object_array_length(turns);
  int at = 0;
  c->turns = calloc((size_t)n + 1, sizeof *c->turns);
  c->times = calloc((size_t)r->n_samples + 1, sizeof *c->times);
  if (!c->turns || !c->times) return;
  memcpy(c->times, r->samples, (size_t)r->n_samples * sizeof *c->times);
  c->n_times = r->n_samples;
  for (int i = 0; i < n; i++) {
    const int calls = json_object_get_int(json_object_array_get_idx(turns, (size_t)i));
    if (calls <= 0 || calls > r->n_samples - at) break;
    c->turns[c->n_turns++] = median_of_copy(c->times + at, calls);
    at += calls;
  }
}

Held *hold_result(Case *k, const char *name, const Ceiling *ceiling, const tirc_db_result *r,
                  Json *more) {
  Held *h = calloc(1, sizeof *h);
  char when[32] = "";
  const time_t created = (time_t)r->created;
  struct tm parts;
  if (!h) return NULL;
  if (gmtime_r(&created, &parts)) strftime(when, sizeof when, "%Y-%m-%d %H:%M", &parts);
  h->c = (Contender){.name = strdup(name), .ceiling = ceiling, .skipped = r->code != NULL};
  h->c.code = copied(r->code);
  h->c.failure = copied(r->message);
  h->c.schedule = copied(r->schedule);
  h->session = copied(r->session);
  h->environment = copied(r->conditions.environment);
  h->when = strdup(when);
  h->load = r->conditions.load;
  h->clock_low = r->conditions.clock_low;
  h->clock_high = r->conditions.clock_high;
  h->busy = was_busy(more);
  if (!r->code) take_turns_of(&h->c, r, more);
  if (number_in(more, "float_ops") > 0) k->cost.float_ops = number_in(more, "float_ops");
  k->bytes_read = (int64_t)number_in(more, "bytes_read");
  k->bytes_written = (int64_t)number_in(more, "bytes_written");
  summarise(k, &h->c);
  free(h->c.times);
  h->c.times = NULL;
  return h;
}

void free_held(Held *h) {
  while (h) {
    Held *older = h->older;
    free(h->c.name);
    free(h->c.code);
    free(h->c.failure);
    free(h->c.schedule);
    free(h->c.turns);
    free(h->session);
    free(h->environment);
    free(h->when);
    free(h);
    h = older;
  }
}
