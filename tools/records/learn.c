#define _GNU_SOURCE
#include "learn.h"

#include "passes/search/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A model, or where all examples agree, their value. */
struct Trees {
  Model *model;
  double constant;
  int n_values;
  const double *values; /* the knob's */
};

/* --- examples --------------------------------------------------------------------------------- */

bool has_trees(void) { return tirc_model_library() != NULL; }

Query query_of(const Facts *f) {
  Query q = {0};
  for (int i = 0; i < f->n_axes; i++) {
    q.kinds[i] = f->axes[i].reduction ? 'R' : 'S';
    q.extents[i] = f->axes[i].extent;
  }
  return q;
}

static const struct {
  const char *name;
  bool yes_no;
} whole_knobs[] = {{"vector_width", false},
                   {"unroll_factor", false},
                   {"cache_write_used", true},
                   {"reduction_decompose_used", true}};
enum { N_WHOLE = sizeof whole_knobs / sizeof *whole_knobs };

void lore_add(Lore *l, const char *machine, double seconds, const Facts *f) {
  Example *x = one_more(l->at, l->n);
  *x = (Example){.machine = tirc_strdup(memory, machine), .seconds = seconds, .query = query_of(f)};
  const double whole[N_WHOLE] = {(double)f->vector_width, (double)f->unroll, *f->cache_writes != 0,
                                 *f->decomposed_at != 0};
  memcpy(x->whole, whole, sizeof whole);
  for (int i = 0; i < f->n_axes; i++) {
    const Axis *a = &f->axes[i];
    double below = 1;
    memcpy(x->axes[i], a->name, sizeof x->axes[i]);
    x->tile[i] = (double)a->tile;
    x->n_levels[i] = a->n - 1;
    for (int k = 0; k < a->n - 1; k++)
      x->levels[i][k] = below *= (double)a->levels[a->n - 1 - k].extent;
  }
}

static int compare_extents(const Query *x, const Query *y) {
  for (int i = 0; x->kinds[i]; i++)
    if (x->extents[i] != y->extents[i]) return x->extents[i] < y->extents[i] ? -1 : 1;
  return 0;
}

/* By group, shape, time, and whatever else there is: what is learnt does not depend on the order in
 * which the database has them. */
static int compare_examples(const void *a, const void *b) {
  const Example *x = a, *y = b;
  int order = strcmp(x->machine, y->machine);
  if (!order) order = strcmp(x->query.kinds, y->query.kinds);
  if (!order) order = compare_extents(&x->query, &y->query);
  if (!order) order = (x->seconds > y->seconds) - (x->seconds < y->seconds);
  if (!order) order = memcmp(x->whole, y->whole, sizeof x->whole);
  return order ? order : memcmp(x->tile, y->tile, sizeof x->tile);
}

/* The knob of an example; NaN: it has none. */
static double value_of(const Example *x, const Group *g, const Knob *k) {
  if (k->axis < 0) return x->whole[k - g->knobs];
  if (k->level == 0) return x->tile[k->axis];
  return k->level <= x->n_levels[k->axis] ? x->levels[k->axis][k->level - 1] : (double)NAN;
}

bool has_shape(const Group *g, const Query *q) {
  for (int i = 0; i < g->n; i++)
    if (compare_extents(&g->at[i].query, q) == 0) return true;
  return false;
}

/* --- learning --------------------------------------------------------------------------------- */

/* Widths and tiles go up by factors. */
static double scaled(const Knob *k, double v) { return k->yes_no ? v : v > 0 ? log2(v) : -1; }

typedef struct Rows { /* the examples of a knob without one fold */
  int n;
  float *features, *labels;
} Rows;

static void add_row(Rows *r, const Group *g, const Query *q, double label) {
  for (int a = 0; a < g->n_axes; a++) r->features[r->n * g->n_axes + a] = (float)q->extents[a];
  r->labels[r->n++] = (float)label;
}

enum { MOST_FOLDS = 32 };
static int fold_of(const Example *x) { return x->shape % MOST_FOLDS; }

/* fold -1: none is left out. */
static void take_rows(const Group *g, const Knob *k, int fold, Rows *r) {
  *r = (Rows){.features =
                  tirc_alloc_array(memory, (size_t)(g->n * g->n_axes) + 1, sizeof *r->features),
              .labels = tirc_alloc_array(memory, (size_t)g->n + 1, sizeof *r->labels)};
  for (int i = 0; i < g->n; i++) {
    const double v = value_of(&g->at[i], g, k);
    if (!isnan(v) && fold_of(&g->at[i]) != fold) add_row(r, g, &g->at[i].query, scaled(k, v));
  }
}

static bool all_agree(const Rows *r) {
  for (int i = 1; i < r->n; i++)
    if (r->labels[i] > r->labels[0] || r->labels[i] < r->labels[0]) return false;
  return true;
}

static void free_trees(Trees *t) {
  if (t) tirc_model_free(t->model);
}

static Trees *grow(const Group *g, const Knob *k, const Rows *r) {
  Trees *t = tirc_alloc(memory, sizeof *t);
  t->constant = r->n ? (double)r->labels[0] : (double)NAN;
  if (all_agree(r)) return t;
  t->model = tirc_model_new(k->yes_no ? MODEL_CLASS : MODEL_NUMBER);
  if (t->model && tirc_model_train(t->model, r->n, g->n_axes, r->features, r->labels)) return t;
  free_trees(t);
  return NULL;
}

/* --- predicting ------------------------------------------------------------------------------- */

/* The closest value that was seen. */
static double closest(const Knob *k, double label) {
  double best = (double)NAN;
  for (int i = 0; i < k->n_values; i++)
    if (isnan(best) || fabs(scaled(k, k->values[i]) - label) < fabs(scaled(k, best) - label))
      best = k->values[i];
  return best;
}

static double ask(const Group *g, const Knob *k, const Trees *t, const Query *q) {
  float features[MOST_AXES], label = (float)t->constant;
  for (int a = 0; a < g->n_axes; a++) features[a] = (float)q->extents[a];
  if (t->model && !tirc_model_predict(t->model, 1, g->n_axes, features, &label)) return (double)NAN;
  return isnan(label) ? (double)NAN : closest(k, (double)label);
}

double predict(const Group *g, const Knob *k, const Query *q) { return ask(g, k, k->trees, q); }

bool is_constant(const Knob *k) { return k->n_values == 1; }

double accuracy(const Errors *e, int n) { return n ? 1 - (double)e->wrong / n : (double)NAN; }

/* --- leaving shapes out ----------------------------------------------------------------------- */

/* The value that most rows have. */
static double most_usual(const Knob *k, const Rows *r) {
  double best = (double)NAN;
  int most = 0;
  for (int v = 0; v < k->n_values; v++) {
    int n = 0;
    for (int i = 0; i < r->n; i++) n += fabs((double)r->labels[i] - scaled(k, k->values[v])) < 1e-4;
    if (n > most) most = n, best = k->values[v];
  }
  return best;
}

static void add_error(Errors *e, double got, double wanted) {
  const double off = fabs(got - wanted);
  e->absolute += off;
  e->relative += off / fmax(wanted, 1);
  e->wrong += !(off <= 0); /* what cannot be predicted is wrong, too */
}

static bool validate_fold(const Group *g, Knob *k, int fold) {
  Rows r;
  take_rows(g, k, fold, &r);
  Trees *t = grow(g, k, &r);
  for (int i = 0; t && i < g->n; i++) {
    const double wanted = value_of(&g->at[i], g, k);
    if (fold_of(&g->at[i]) != fold || isnan(wanted) || r.n == 0) continue;
    k->score.n++;
    add_error(&k->score.trees, ask(g, k, t, &g->at[i].query), wanted);
    add_error(&k->score.constant, most_usual(k, &r), wanted);
  }
  const bool ok = t != NULL;
  free_trees(t);
  return ok;
}

static bool learn_knob(const Group *g, Knob *k) {
  Rows r;
  take_rows(g, k, -1, &r);
  k->trees = grow(g, k, &r);
  bool ok = k->trees != NULL;
  for (int f = 0; ok && g->n_shapes > 1 && f < g->n_shapes && f < MOST_FOLDS; f++)
    ok = validate_fold(g, k, f);
  return ok;
}

/* --- groups ----------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool find_values(const Group *g, Knob *k) {
  int n = 0;
  k->values = tirc_alloc_array(memory, (size_t)g->n + 1, sizeof *k->values);
  for (int i = 0; i < g->n; i++) {
    const double v = value_of(&g->at[i], g, k);
    if (!isnan(v)) k->values[n++] = v;
  }
  qsort(k->values, (size_t)n, sizeof *k->values, compare_doubles);
  for (int i = 0; i < n; i++)
    if (i == 0 || k->values[i] > k->values[k->n_values - 1])
      k->values[k->n_values++] = k->values[i];
  return true;
}

static Knob *add_knob(Group *g, int axis, int level) {
  Knob *k = &g->knobs[g->n_knobs++];
  *k = (Knob){.axis = axis, .level = level};
  if (axis >= 0 && level == 0) snprintf(k->name, sizeof k->name, "tile of %s", g->axes[axis]);
  if (level) snprintf(k->name, sizeof k->name, "%s, level %d from inside", g->axes[axis], level);
  return k;
}

/* The levels that more than half of the examples have. */
static int usual_levels(const Group *g, int axis) {
  for (int level = MOST_LEVELS - 1; level > 0; level--) {
    int n = 0;
    for (int i = 0; i < g->n; i++) n += g->at[i].n_levels[axis] >= level;
    if (2 * n > g->n) return level;
  }
  return 0;
}

static void add_knobs(Group *g) {
  for (int i = 0; i < N_WHOLE; i++) {
    Knob *k = add_knob(g, -1, 0);
    k->yes_no = whole_knobs[i].yes_no;
    snprintf(k->name, sizeof k->name, "%s", whole_knobs[i].name);
  }
  for (int a = 0; a < g->n_axes; a++) {
    add_knob(g, a, 0);
    for (int level = usual_levels(g, a); level > 0; level--) add_knob(g, a, level);
  }
}

static bool learn_group(Group *g) {
  const Example *first = &g->at[0];
  g->kinds = first->query.kinds;
  g->n_axes = (int)strlen(g->kinds);
  g->axes = first->axes;
  for (int i = 0; i < g->n; i++) {
    g->n_shapes += i == 0 || compare_extents(&g->at[i - 1].query, &g->at[i].query) != 0;
    g->at[i].shape = g->n_shapes - 1;
  }
  add_knobs(g);
  for (int i = 0; i < g->n_knobs; i++)
    if (!find_values(g, &g->knobs[i]) || !learn_knob(g, &g->knobs[i])) return false;
  return true;
}

static bool same_group(const Example *x, const Example *y) {
  return strcmp(x->machine, y->machine) == 0 && strcmp(x->query.kinds, y->query.kinds) == 0;
}

bool lore_learn(Lore *l) {
  qsort(l->at, (size_t)l->n, sizeof *l->at, compare_examples);
  l->groups = tirc_alloc_array(memory, (size_t)l->n + 1, sizeof *l->groups);
  for (int i = 0; i < l->n; i++) {
    if (i == 0 || !same_group(&l->at[i - 1], &l->at[i])) l->groups[l->n_groups++].at = &l->at[i];
    l->groups[l->n_groups - 1].n++;
  }
  for (int i = 0; i < l->n_groups; i++)
    if (!learn_group(&l->groups[i])) return false;
  return true;
}

void lore_free(Lore *l) {
  for (int i = 0; i < l->n_groups; i++)
    for (int k = 0; k < l->groups[i].n_knobs; k++) free_trees(l->groups[i].knobs[k].trees);
}
