#include "store.h"
#include "ir/number.h"

#include "runtime/database/driver.h"
#include "runtime/kernel/timer.h"

#include "ir/utf8.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const double LEASE = 60;

tirc_status tirc_store_open(Store *s, const char *where, double lease, const char *target,
                            tirc_error **error) {
  char text[192];
  tirc_calibration numbers; /* that schedules for native are made with */
  const bool calibrated = target && !strcmp(target, "native") &&
                          !tirc_calibration_look(&numbers, NULL) && *numbers.date;
  *s = (Store){.lease = lease > 0 ? lease : LEASE, .renewed = tirc_now()};
  tirc_worker_name(s->worker, sizeof s->worker);
  where = !where ? ":memory:" : *where ? where : NULL;
  tirc_status status = tirc_db_open(where, TIRC_DB_WRITE, &s->db, error);
  snprintf(text, sizeof text, "{\"tirc\": \"%s\"%s%s%s}", tirc_version(),
           calibrated ? ", \"calibration\": \"" : "", calibrated ? numbers.date : "",
           calibrated ? "\"" : "");
  if (status == TIRC_OK) status = tirc_db_put_environment(s->db, text, &s->environment, error);
  if (status != TIRC_OK) tirc_store_close(s);
  return status;
}

void tirc_store_close(Store *s) {
  if (s->db) (void)tirc_db_release(s->db, s->worker, NULL); /* else the lease ends by itself */
  tirc_string_free(s->environment);
  tirc_db_close(s->db);
  s->environment = NULL;
  s->db = NULL;
}

tirc_status tirc_store_renew(Store *s, tirc_error **error) {
  if (tirc_now() - s->renewed < s->lease / 4) return TIRC_OK;
  s->renewed = tirc_now();
  return tirc_db_renew(s->db, s->worker, s->lease, NULL, error);
}

tirc_status tirc_store_join(Store *s, const tirc_tune_task *task, const char *target, int threads,
                            Study *out, tirc_error **error) {
  char profile[160];
  tirc_machine_profile(profile, sizeof profile);
  const tirc_db_described machine = {.profile = profile};
  const tirc_db_task t = {.module = task->module,
                          .name = task->name,
                          .target = target,
                          .threads = threads,
                          .machine = &machine};
  *out = (Study){.c = tirc_context_new()};
  if (!out->c) return tirc_api_no_memory(error);
  return tirc_db_put_task(s->db, &t, &out->id, error);
}

void tirc_study_free(Study *t) {
  tirc_string_free(t->id);
  if (t->c) tirc_context_release(t->c);
}

/* --- other workers ---------------------------------------------------------------------------- */

typedef struct Census {
  const Store *store;
  Others *living;
  DbRows gone; /* names */
} Census;

static void count_worker(void *self, const tirc_db_worker *w) {
  Census *c = self;
  Others *o = c->living;
  if (!w->name || !strcmp(w->name, c->store->worker)) return;
  if (tirc_worker_is_gone(w->name)) {
    c->gone.columns = 1;
    c->gone.n += tirc_db_rows_add(&c->gone, db_text(w->name));
    return;
  }
  if (!o->workers++) snprintf(o->first, sizeof o->first, "%s", w->name);
  o->trials += w->n_trials;
  o->left = fmax(o->left, w->left);
}

tirc_status tirc_store_others(Store *s, const Study *t, Others *out, tirc_error **error) {
  Census c = {.store = s, .living = out};
  *out = (Others){0};
  tirc_status status = tirc_db_workers(s->db, t->id, count_worker, &c, error);
  for (int i = 0; i < c.gone.n && status == TIRC_OK; i++)
    status = tirc_db_expire(s->db, db_cell_text(&c.gone, i, 0), error);
  tirc_db_rows_free(&c.gone);
  return status;
}

/* --- what is kept with a trial ---------------------------------------------------------------- */

/* A name as JSON, with its quotes. */
static void put_name(FILE *f, const char *name) {
  char cut[80], valid[3 * sizeof cut];
  snprintf(cut, sizeof cut, "%s", name);
  (void)tirc_utf8_repair(valid, cut);
  struct json_object *text = json_object_new_string(valid);
  fputs(json_object_to_json_string(text), f);
  json_object_put(text);
}

/* On the heap. */
static char *extra_text(const SearchPoint *p, const float *features) {
  char *out = NULL;
  size_t size;
  FILE *f = open_memstream(&out, &size);
  if (!f) return NULL;
  fprintf(f, "{\"hash\": \"%016" PRIx64 "\", \"way\": ", p->hash);
  put_name(f, p->way);
  if (features) fprintf(f, ", \"features of\": %d, \"features\": ", FEATURES_VERSION);
  for (int i = 0; features && i < PROGRAM_FEATURES; i++) {
    char number[32];
    tirc_snprintf(number, sizeof number, "%.5g", (double)features[i]);
    fprintf(f, "%s%s", i ? "," : "[", number);
  }
  fputs(features ? "]}" : "}", f);
  return fclose(f) == 0 ? out : NULL;
}

static bool read_features(struct json_object *o, Extra *out) {
  struct json_object *version, *list;
  if (!json_object_object_get_ex(o, "features of", &version) ||
      json_object_get_int(version) != FEATURES_VERSION ||
      !json_object_object_get_ex(o, "features", &list) ||
      !json_object_is_type(list, json_type_array) ||
      json_object_array_length(list) != PROGRAM_FEATURES)
    return false;
  for (int i = 0; i < PROGRAM_FEATURES; i++)
    out->features[i] = (float)json_object_get_double(json_object_array_get_idx(list, (size_t)i));
  return true;
}

bool tirc_extra_read(const char *more, Extra *out) {
  struct json_object *o = more ? json_tokener_parse(more) : NULL, *hash, *way;
  *out = (Extra){0};
  const bool ours =
      json_object_is_type(o, json_type_object) && json_object_object_get_ex(o, "hash", &hash) &&
      json_object_is_type(hash, json_type_string) && json_object_object_get_ex(o, "way", &way) &&
      json_object_is_type(way, json_type_string);
  if (ours) {
    out->hash = strtoull(json_object_get_string(hash), NULL, 16);
    snprintf(out->way, sizeof out->way, "%s", json_object_get_string(way));
    out->has_features = read_features(o, out);
  }
  json_object_put(o);
  return ours;
}

/* --- what others do --------------------------------------------------------------------------- */

typedef struct News {
  Study *t;
  void (*visit)(void *self, const tirc_db_trial *trial, const Extra *e);
  void *self;
} News;

static void know(Study *t, const char *id) {
  *tirc_strmap_at(t->c, &t->known, tirc_strdup(t->c, id)) = t;
}

static bool knows(void *self, const char *id) {
  return tirc_strmap_get(&((const News *)self)->t->known, id) != NULL;
}

static void hear(void *self, const tirc_db_trial *trial) {
  const News *n = self;
  Extra e;
  const bool ours = tirc_extra_read(trial->more, &e);
  know(n->t, trial->id);
  n->visit(n->self, trial, ours ? &e : NULL);
}

tirc_status tirc_store_news(Store *s, Study *t,
                            void (*visit)(void *self, const tirc_db_trial *trial, const Extra *e),
                            void *self, tirc_error **error) {
  News n = {t, visit, self};
  /* in this order: what is finished in between is counted twice rather than not at all */
  Others others;
  tirc_status status = tirc_db_unfinished(s->db, t->id, &t->queued, &t->running, error);
  if (status == TIRC_OK && t->running) status = tirc_store_others(s, t, &others, error);
  return status == TIRC_OK ? tirc_db_news(s->db, t->id, knows, hear, &n, error) : status;
}

/* --- what is to be done ----------------------------------------------------------------------- */

static const char *trace_text(const SearchPoint *p) {
  return tirc_value_to_json(p->c, tirc_trace_as_value(p->c, p->trace, false, DIALECT_TIR));
}

tirc_status tirc_store_propose(Store *s, const Study *t, int64_t budget, int n,
                               SearchPoint *const *points, tirc_error **error) {
  tirc_db_trial *trials = calloc((size_t)n + 1, sizeof *trials);
  if (!trials) return tirc_api_no_memory(error);
  for (int i = 0; i < n; i++)
    trials[i] = (tirc_db_trial){.trace = trace_text(points[i]),
                                .predicted = isfinite(points[i]->rank) ? -points[i]->rank : 0,
                                .source = "tune",
                                .more = extra_text(points[i], NULL)};
  const tirc_status status = tirc_db_propose(s->db, t->id, budget, n, trials, NULL, error);
  for (int i = 0; i < n; i++) free((char *)(uintptr_t)trials[i].more);
  free(trials);
  return status;
}

tirc_status tirc_store_take(Store *s, const Study *t, tirc_db_trial **out, tirc_error **error) {
  tirc_error *e = NULL;
  *out = NULL;
  const tirc_status status = tirc_db_take(s->db, t->id, s->worker, s->lease, out, &e);
  if (status == TIRC_BAD && error)
    *error = e;
  else
    tirc_error_free(e);
  return status == TIRC_BAD ? status : TIRC_OK;
}

tirc_status tirc_store_finish(Store *s, Study *t, const tirc_db_trial *trial, const SearchPoint *p,
                              const float *features, const Measured *m, int64_t seed, bool *stored,
                              tirc_error **error) {
  const bool failed = *m->code != 0;
  char *more = extra_text(p, features);
  const tirc_db_trial done = {.id = trial->id,
                              .worker = s->worker,
                              .code = failed ? m->code : NULL,
                              .message = failed ? m->message : NULL,
                              .n_samples = failed && !tirc_is_hopeless(m) ? 0 : m->n_samples,
                              .samples = m->samples,
                              .conditions = {.load = m->load,
                                             .load_is_known = true,
                                             .environment = s->environment,
                                             .seed = seed},
                              .more = more};
  const tirc_status status = tirc_db_finish(s->db, &done, stored, error);
  if (status == TIRC_OK && *stored) know(t, trial->id);
  free(more);
  return status;
}
