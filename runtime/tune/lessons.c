#include "lessons.h"

#include "store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FEWEST = 12,      /* lessons for a model */
  MANY = 24,        /* for one that knows better than earlier searches */
  MOST = 4000,      /* that a model for the next searches is trained with, */
  MOST_OF_ONE = 400 /* of one program */
};
static const double SLOWEST = 5; /* what is 2^5 times as slow as the best is just slow */

typedef struct Lesson {
  int program;
  double seconds;
} Lesson;

struct Lessons {
  tirc_db *db;
  const char *target;
  Model *model; /* of this search; NULL: there is no library for it */
  Model *prior; /* of an earlier one, or NULL */
  int n, cap, n_programs;
  Lesson *lessons;
  float *features; /* PROGRAM_FEATURES for each lesson */
  double *best;    /* of each program */
};

static void recall_model(Lessons *l) {
  tirc_db_model *kept = NULL;
  char version[32];
  if (!l->model || !l->db) return;
  if (tirc_db_get_model(l->db, "cost", l->target, &kept, NULL) != TIRC_OK) return;
  snprintf(version, sizeof version, "\"features of\": %d,", FEATURES_VERSION);
  if (kept->description && strstr(kept->description, version)) {
    l->prior = tirc_model_new(MODEL_COST);
    if (l->prior) (void)tirc_model_load(l->prior, kept->data, kept->n);
  }
  tirc_db_model_free(kept);
}

Lessons *tirc_lessons_new(tirc_db *db, const char *target) {
  Lessons *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  *l = (Lessons){.db = db, .target = target, .model = tirc_model_new(MODEL_COST)};
  recall_model(l);
  return l;
}

void tirc_lessons_free(Lessons *l) {
  if (!l) return;
  tirc_model_free(l->model);
  tirc_model_free(l->prior);
  free(l->lessons);
  free(l->features);
  free(l->best);
  free(l);
}

static bool make_room(Lessons *l, int program) {
  if (l->n == l->cap) {
    const size_t cap = 2 * (size_t)l->cap + 64;
    Lesson *lessons = realloc(l->lessons, cap * sizeof *lessons);
    if (lessons) l->lessons = lessons;
    float *features = realloc(l->features, cap * PROGRAM_FEATURES * sizeof *features);
    if (features) l->features = features;
    if (!lessons || !features) return false;
    l->cap = (int)cap;
  }
  if (program >= l->n_programs) {
    double *best = realloc(l->best, ((size_t)program + 1) * sizeof *best);
    if (!best) return false;
    l->best = best;
    while (l->n_programs <= program) l->best[l->n_programs++] = (double)INFINITY;
  }
  return true;
}

void tirc_lessons_add(Lessons *l, int program, const float *features, double seconds) {
  if (!l->model || !make_room(l, program)) return;
  memcpy(l->features + (size_t)l->n * PROGRAM_FEATURES, features,
         PROGRAM_FEATURES * sizeof *features);
  l->lessons[l->n++] = (Lesson){program, seconds};
  if (seconds < l->best[program]) l->best[program] = seconds;
}

/* Labels tell how many times as slow as the best of its program each is. */
void tirc_lessons_train(Lessons *l) {
  if (!l->model || l->n < FEWEST) return;
  float *labels = calloc((size_t)l->n, sizeof *labels);
  for (int i = 0; labels && i < l->n; i++)
    labels[i] = (float)fmin(SLOWEST, log2(l->lessons[i].seconds / l->best[l->lessons[i].program]));
  if (labels) (void)tirc_model_train(l->model, l->n, PROGRAM_FEATURES, l->features, labels);
  free(labels);
}

static const Model *oracle(const Lessons *l) {
  const bool knows = tirc_model_is_trained(l->model), knew = tirc_model_is_trained(l->prior);
  if (knows && (l->n >= MANY || !knew)) return l->model;
  return knew ? l->prior : NULL;
}

bool tirc_lessons_can_tell(const Lessons *l) { return oracle(l) != NULL; }

bool tirc_lessons_predict(const Lessons *l, int n, const float *features, float *out) {
  const Model *m = oracle(l);
  return m && tirc_model_predict(m, n, PROGRAM_FEATURES, features, out);
}

/* --- for the next searches -------------------------------------------------------------------- */

typedef struct Gathering {
  Lessons *all;
  int program;
  char **tasks; /* ids */
} Gathering;

static bool gather_task(void *self, const tirc_db_task *t) {
  Gathering *g = self;
  char **grown = realloc(g->tasks, ((size_t)g->program + 1) * sizeof *grown);
  if (!grown) return false;
  g->tasks = grown;
  g->tasks[g->program] = strdup(t->id);
  return g->tasks[g->program++] != NULL;
}

static bool gather_trial(void *self, const tirc_db_trial *t) {
  Gathering *g = self;
  Extra e;
  if (t->state == TIRC_DB_DONE && !t->code && tirc_extra_read(t->more, &e) && e.has_features)
    tirc_lessons_add(g->all, g->program, e.features, t->seconds);
  return g->all->n < MOST;
}

void tirc_lessons_keep(const Lessons *l) {
  char description[96];
  tirc_db_model m = {.kind = "cost", .target = l->target, .description = description};
  Gathering g = {.all = l->db && l->model ? tirc_lessons_new(NULL, l->target) : NULL};
  if (!g.all) return;
  (void)tirc_db_tasks(l->db, &(tirc_db_filter){.target = l->target}, gather_task, &g, NULL);
  const int n = g.program;
  for (int i = n - 1; i >= 0; i--) { /* the latest programs first */
    g.program = i;
    if (g.tasks[i] && g.all->n < MOST)
      (void)tirc_db_trials(l->db, g.tasks[i], MOST_OF_ONE, gather_trial, &g, NULL);
    free(g.tasks[i]);
  }
  free(g.tasks);
  tirc_lessons_train(g.all);
  m.trained_on = g.all->n;
  snprintf(description, sizeof description, "{\"features of\": %d, \"programs\": %d}",
           FEATURES_VERSION, n);
  if (tirc_model_is_trained(g.all->model) && tirc_model_save(g.all->model, &m.data, &m.n))
    (void)tirc_db_put_model(l->db, &m, NULL);
  tirc_lessons_free(g.all);
}
