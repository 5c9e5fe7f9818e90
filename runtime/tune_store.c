#include "tune_store.h"

#include "../passes/schedule/trace/trace.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_REMADE = 48 }; /* points; of the others only the hashes are known */

tirc_status tirc_store_open(Store *s, const char *where, tirc_error **error) {
  *s = (Store){0};
  if (!where) return TIRC_OK;
  tirc_status status = tirc_db_open(*where ? where : NULL, TIRC_DB_WRITE, &s->db, error);
  if (status == TIRC_OK) {
    char text[96];
    snprintf(text, sizeof text, "{\"tirc\": \"%s\"}", tirc_version());
    status = tirc_db_put_environment(s->db, text, &s->environment, error);
  }
  if (status != TIRC_OK) tirc_store_close(s);
  return status;
}

void tirc_store_close(Store *s) {
  tirc_string_free(s->environment);
  tirc_db_close(s->db);
  *s = (Store){0};
}

/* "AMD EPYC 7543 Processor", 2 of them: amd-epyc-7543-processor-2-cores. */
void tirc_store_profile(char *out, size_t size) {
  char name[256] = "";
  size_t n = 0;
  tirc_machine_name(name, sizeof name);
  for (const char *p = name; *p && n + 16 < size; p++) {
    if (isalnum((unsigned char)*p))
      out[n++] = (char)tolower((unsigned char)*p);
    else if (n && out[n - 1] != '-')
      out[n++] = '-';
  }
  const char *dash = n && out[n - 1] != '-' ? "-" : "";
  snprintf(out + n, size - n, "%s%ld-cores", dash, sysconf(_SC_NPROCESSORS_ONLN));
}

tirc_status tirc_store_task(const Store *s, const tirc_tune_task *task, const char *target,
                            int threads, char **id, tirc_error **error) {
  char profile[160];
  *id = NULL;
  if (!s->db) return TIRC_OK;
  tirc_store_profile(profile, sizeof profile);
  const tirc_db_described machine = {.profile = profile};
  const tirc_db_task t = {.module = task->module,
                          .name = task->name,
                          .target = target,
                          .threads = threads,
                          .machine = &machine};
  return tirc_db_put_task(s->db, &t, id, error);
}

/* --- what is there -----------------------------------------------------------------------------
 */

typedef struct Recall {
  Search *search;
  const StoreListener *listener;
  int64_t n, failed;
  int remade;
} Recall;

/* "hash" of {"hash": "0123456789abcdef"}. */
static bool read_hash(const char *more, uint64_t *out) {
  const char *at = more ? strstr(more, "\"hash\": \"") : NULL;
  char *end;
  if (!at) return false;
  *out = strtoull(at + 9, &end, 16);
  return *end == '"';
}

typedef struct Reading {
  Recall *recall;
  const tirc_db_trial *trial;
  SearchPoint *point;
} Reading;

static void read_trace(Tirc *c, void *self) {
  Reading *r = self;
  const Value v = tirc_value_of_json(c, r->trial->trace);
  const Trace *t = tirc_trace_of_value(c, v, (Loc){0}, "the trace");
  r->point = tirc_search_know(r->recall->search, t, r->trial->seconds);
}

static bool recall(void *self, const tirc_db_trial *t) {
  Recall *r = self;
  uint64_t hash;
  if (t->state != TIRC_DB_DONE) return true;
  r->n++;
  if (t->code) r->failed++;
  if (read_hash(t->more, &hash)) tirc_search_pass_over(r->search, hash);
  if (t->code || !isfinite(t->seconds) || r->remade >= MOST_REMADE) return true;
  Reading reading = {r, t, NULL};
  r->remade++;
  /* what cannot be read any more is passed over */
  (void)tirc_api_scratch(read_trace, &reading, NULL, NULL);
  /* the schedule of the rules is known by its way, though others may decide to make it, too */
  if (reading.point && strstr(t->more ? t->more : "", "\"way\": \"automatic\""))
    reading.point->way = "automatic";
  if (reading.point) r->listener->heard(r->listener->self, reading.point, t->seconds);
  return true;
}

tirc_status tirc_store_recall(const Store *s, const char *task, Search *search,
                              const StoreListener *listener, int64_t *n, int64_t *failed,
                              tirc_error **error) {
  Recall r = {.search = search, .listener = listener};
  tirc_status status = s->db ? tirc_db_trials(s->db, task, 0, recall, &r, error) : TIRC_OK;
  *n = r.n;
  *failed = r.failed;
  return status;
}

/* --- what is kept ------------------------------------------------------------------------------
 */

tirc_status tirc_store_trial(const Store *s, const char *task, const char *trace,
                             const SearchPoint *p, const Measured *m, int64_t seed,
                             tirc_error **error) {
  char more[160];
  if (!s->db) return TIRC_OK;
  snprintf(more, sizeof more, "{\"hash\": \"%016llx\", \"way\": \"%.80s\"}",
           (unsigned long long)p->hash, p->way);
  const bool failed = *m->code != 0;
  const tirc_db_trial t = {.task = task,
                           .trace = trace,
                           .state = TIRC_DB_DONE,
                           .predicted = isfinite(p->rank) ? p->rank : 0,
                           .code = failed ? m->code : NULL,
                           .message = failed ? m->message : NULL,
                           .seconds = failed ? (double)NAN : m->seconds,
                           .n_samples = failed ? 0 : m->n_samples,
                           .samples = m->samples,
                           .conditions = {.environment = s->environment, .seed = seed},
                           .source = "tune",
                           .more = more};
  return tirc_db_put_trial(s->db, &t, NULL, error);
}
