/* Time by block: a function as it is and the same with probes take turns; what probes take is
 * measured in the same calls and taken off. */
#include "parts.h"

#include "runtime/api/kernel.h"
#include "runtime/kernel/timer.h"

#include <math.h>
#include <stdlib.h>

struct tirc_profile {
  Tirc *c; /* holds what it points to, but for `module` */
  const tirc_module *from;
  const Func *func;
  int number; /* of the function in its module */
  Parts parts;
  tirc_profile_part *at;
  bool *probed;
  tirc_module *module;
  tirc_profile_summary summary;
};

/* --- which parts ------------------------------------------------------------------------------ */

/* Seconds of a probe before any was measured. */
static const double PROBE = 25e-9, USUAL_MOST = 0.05, USUAL_SECONDS = 0.3;

static bool is_parallel(const tirc_profile *p, int i) {
  const Stmt s = p->parts.at[i].stmt;
  return s && s->kind == STMT_FOR && s->u.loop.kind == LOOP_PARALLEL;
}

/* The parallel loop that a part is in, not itself; 0: none. Of several the outermost one is. */
static int parallel_around(const tirc_profile *p, int i) {
  int found = 0;
  for (i = p->parts.at[i].parent; i > 0; i = p->parts.at[i].parent)
    if (is_parallel(p, i)) found = i;
  return found;
}

typedef struct Candidate {
  int part;
  double cost;
} Candidate;

static int by_cost(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  return x->cost < y->cost ? -1 : x->cost > y->cost ? 1 : x->part - y->part;
}

/* In a parallel loop they are added up once an iteration, too. */
static double cost_of_probes(const tirc_profile *p, int i) {
  const int loop = parallel_around(p, i);
  const double more = loop ? p->at[loop].times * fmax(0, (double)p->at[loop].extent) : 0;
  return PROBE * (p->at[i].times + more) / p->at[i].threads;
}

/* Those that run the least first, as long as all together cost little. */
static void choose(tirc_profile *p, double seconds, double most) {
  const bool *may = tirc_parts_to_probe(p->c, &p->parts, false);
  Candidate *all = tirc_new_array(p->c, Candidate, p->parts.n);
  double cost = 0;
  int n = 0;
  p->probed = tirc_new_array(p->c, bool, p->parts.n);
  for (int i = 1; i < p->parts.n; i++)
    if (may[i]) all[n++] = (Candidate){i, cost_of_probes(p, i)};
  qsort(all, (size_t)n, sizeof *all, by_cost);
  p->probed[0] = true;
  for (int i = 0; i < n; i++) {
    const bool fits = cost + all[i].cost <= most * seconds;
    p->probed[all[i].part] = fits;
    if (fits)
      cost += all[i].cost;
    else
      p->summary.left_out++;
  }
}

/* --- calls ------------------------------------------------------------------------------------ */

typedef struct Call {
  double seconds;
  int64_t *counters;
} Call;
enum { FEWEST_CALLS = 5, MOST_CALLS = 400 };

typedef struct Run {
  tirc_profile *p;
  tirc_executor *x;
  const tirc_profile_options *o;
  int n;
  const tirc_argument *args;
  tirc_kernel *plain, *probed;
  tirc_launch *as_is, *with_probes;
  tirc_array *counters;
  tirc_argument *more; /* args and the counters */
  int64_t length;
  int n_calls;
  Call *calls;
  double *plain_seconds, *mean;
  double tick; /* seconds of one */
  tirc_status status;
  tirc_error **error;
} Run;

static int by_number(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(int n, double *at) {
  qsort(at, (size_t)n, sizeof *at, by_number);
  return at[n / 2];
}

/* By a caller that has stack enough: the time of asking for stack is in no part. */
static tirc_status time_call(tirc_launch *l, double *seconds, tirc_error **error) {
  const double start = tirc_now();
  const int failed = tirc_api_run_once(l);
  *seconds = tirc_now() - start;
  return failed ? tirc_api_launch_failed(l, failed, error) : TIRC_OK;
}

/* A few calls, the first of which fills caches. */
static void time_plain(void *self) {
  enum { CALLS = 5 };
  Run *r = self;
  double at[CALLS] = {0};
  for (int i = 0; r->status == TIRC_OK && i < CALLS; i++)
    r->status = time_call(r->as_is, &at[i], r->error);
  r->p->summary.seconds = median(CALLS, at);
}

static tirc_status probe_once(Run *r, Call *to, tirc_error **error) {
  memset(tirc_array_data(r->counters), 0, (size_t)tirc_array_bytes(r->counters));
  const tirc_status status = time_call(r->with_probes, &to->seconds, error);
  memcpy(to->counters, tirc_array_data(r->counters), (size_t)tirc_array_bytes(r->counters));
  return status;
}

static void take_turns(void *self) {
  Run *r = self;
  const double seconds = r->o->seconds > 0 ? r->o->seconds : USUAL_SECONDS, start = tirc_now();
  const int64_t start_ticks = tirc_ticks();
  r->status = probe_once(r, &r->calls[0], r->error); /* not counted: it fills caches */
  for (int i = 0; r->status == TIRC_OK && i < MOST_CALLS; i++) {
    if (i >= FEWEST_CALLS && tirc_now() - start > 2 * seconds) break;
    r->status = time_call(r->as_is, &r->plain_seconds[i], r->error);
    if (r->status == TIRC_OK) r->status = probe_once(r, &r->calls[i], r->error);
    r->n_calls++;
  }
  const int64_t ticks = tirc_ticks() - start_ticks;
  r->tick = ticks > 0 ? (tirc_now() - start) / (double)ticks : 0;
}

static tirc_status on_stack_for(const tirc_kernel *k, void (*body)(void *self), Run *r) {
  if (k->stack < r->plain->stack) k = r->plain;
  return tirc_api_on_stack_for(k, body, r) ? r->status : tirc_api_no_memory(r->error);
}

/* --- figures ---------------------------------------------------------------------------------- */

static int half_of(int n) { return (n + 1) / 2; }

static int by_seconds(const void *a, const void *b) {
  const Call *x = a, *y = b;
  return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* The mean of the faster half of the calls, which others disturbed less: in each call the parts add
 * up to the whole, and so they do in the mean. */
static const double *mean_of(Run *r) {
  const int n = half_of(r->n_calls);
  qsort(r->calls, (size_t)r->n_calls, sizeof *r->calls, by_seconds);
  for (int i = 0; i < n; i++) {
    for (int64_t k = 0; k < r->length; k++) r->mean[k] += (double)r->calls[i].counters[k] / n;
    r->p->summary.probed += r->calls[i].seconds / n;
  }
  return r->mean;
}

/* Ticks of a probe: of them `inside` are in what it says itself. */
typedef struct ProbeCost {
  double inside, all;
} ProbeCost;

static ProbeCost cost_of(const Run *r, const double *mean) {
  const double *beside = &mean[r->length - 2 * PROBES_BESIDE];
  const double empties = beside[2 * PROBE_EMPTY + 1];
  ProbeCost c = {0, 0};
  if (empties > 0) c.inside = beside[2 * PROBE_EMPTY] / empties;
  if (empties > 0) c.all = (beside[2 * PROBE_EMPTIES] - c.inside) / empties;
  return c;
}

/* What the probes within a part took: of one in a parallel loop in all threads together, as its own
 * ticks are; else of the mean of the threads. There they are added up at the end of each iteration,
 * which takes about as long as another probe. */
static double probes_within(const tirc_profile *p, const double *mean, int part, ProbeCost cost) {
  double ticks = 0;
  for (int i = part + 1; i < p->parts.n && p->parts.at[i].depth > p->parts.at[part].depth; i++) {
    const int loop = parallel_around(p, i);
    const bool enters = loop && parallel_around(p, part) != loop;
    if (!p->probed[i]) continue;
    double n = mean[2 * i + 1];
    if (enters) n += p->at[loop].times * fmax(0, (double)p->at[loop].extent);
    ticks += n * cost.all / (enters ? p->at[i].threads : 1);
  }
  return ticks;
}

static void fill_in(Run *r) {
  tirc_profile *p = r->p;
  const double *mean = mean_of(r);
  const ProbeCost cost = cost_of(r, mean);
  qsort(r->plain_seconds, (size_t)r->n_calls, sizeof *r->plain_seconds, by_number);
  p->summary.seconds = 0;
  for (int i = 0; i < half_of(r->n_calls); i++)
    p->summary.seconds += r->plain_seconds[i] / half_of(r->n_calls);
  p->summary.calls = r->n_calls;
  p->summary.threads = tirc_executor_threads(r->x);
  p->summary.probe = cost.all * r->tick;
  for (int i = 0; i < p->parts.n; i++) {
    tirc_profile_part *at = &p->at[i];
    at->is_timed = p->probed[i];
    at->seconds = at->own = 0;
    if (!at->is_timed) continue;
    at->times = rint(mean[2 * i + 1] * 1e6) / 1e6;
    const double probes = probes_within(p, mean, i, cost) + at->times * cost.inside;
    if (i == 0 && mean[0] > 0) p->summary.probes = probes / mean[0];
    at->seconds = at->own = fmax(0, mean[2 * i] - probes) * r->tick / at->threads;
    int around = at->parent;
    while (around >= 0 && !p->probed[around]) around = p->at[around].parent;
    if (around >= 0) p->at[around].own -= at->seconds;
  }
  for (int i = 0; i < p->parts.n; i++) {
    p->at[i].own = fmax(0, p->at[i].own);
    if (!p->probed[i]) p->at[i].times = 0;
  }
}

/* --- from start to end ------------------------------------------------------------------------ */

static void share(tirc_profile *p, int threads) {
  for (int i = 1; i < p->parts.n; i++) {
    const int loop = parallel_around(p, i);
    const int64_t extent = loop ? p->at[loop].extent : 1;
    if (loop) p->at[i].threads = extent >= 1 && extent < threads ? (int)extent : threads;
  }
}

typedef struct Describe {
  tirc_profile *p;
  const tirc_module *m;
  const char *func;
  int n;
  const tirc_argument *args;
} Describe;

static void describe(Tirc *c, void *self) {
  Describe *d = self;
  tirc_profile *p = d->p;
  if (d->m->lowered)
    tirc_fail(c, (Loc){0}, CODE_LOWER, "profile the program before it is lowered",
              "the program is already lowered and has no blocks to be timed");
  tirc_context_depend(c, d->m->c);
  p->func = tirc_api_func(c, d->m->m, d->func, &p->number);
  p->parts = tirc_parts(c, p->func);
  const Func *known = tirc_api_with_sizes(c, p->func, d->n, d->args);
  Parts counted = tirc_parts(c, known);
  if (counted.n != p->parts.n) {
    counted = p->parts;
    known = p->func;
  }
  p->at = tirc_count_parts(c, known, &counted);
}

typedef struct MakeProbed {
  tirc_profile *p;
  Sources sources;
  tirc_module *result;
} MakeProbed;

static void make_probed(Tirc *c, void *self) {
  MakeProbed *k = self;
  tirc_context_depend(c, k->p->from->c);
  tirc_context_depend(c, k->p->c);
  const Func *f = tirc_func_with_probes(c, k->p->func, &k->p->parts, k->p->probed);
  k->result =
      tirc_api_module(c, tirc_module_with_func(c, k->p->from->m, k->p->number, f), &k->sources);
}

static void choose_parts(Tirc *c, void *self) {
  Run *r = self;
  const double most = r->o->most_probes > 0 ? r->o->most_probes : USUAL_MOST;
  choose(r->p, r->p->summary.seconds, most);
  r->length = tirc_probe_counters(r->p->parts.n);
  r->calls = tirc_new_array(c, Call, MOST_CALLS);
  r->plain_seconds = tirc_new_array(c, double, MOST_CALLS);
  r->mean = tirc_new_array(c, double, r->length);
  for (int i = 0; i < MOST_CALLS; i++) r->calls[i].counters = tirc_new_array(c, int64_t, r->length);
}

static tirc_status add_probes(Run *r, const char *func, tirc_error **error) {
  tirc_profile *p = r->p;
  MakeProbed k = {.p = p, .sources = p->from->sources};
  tirc_status status = tirc_api_guard(p->c, choose_parts, r, NULL, error);
  if (status == TIRC_OK)
    status = tirc_api_make_module(make_probed, &k, &k.sources, &k.result, &p->module, error);
  if (status == TIRC_OK) status = tirc_array_new("int64", 1, &r->length, &r->counters, error);
  if (status == TIRC_OK) status = tirc_kernel_new(p->module, func, r->o->target, &r->probed, error);
  if (status != TIRC_OK) return status;
  memcpy(r->more, r->args, (size_t)r->n * sizeof *r->more);
  r->more[r->n] = (tirc_argument){.array = r->counters};
  return tirc_launch_new(r->probed, r->x, r->n + 1, r->more, &r->with_probes, error);
}

static tirc_status measure(Run *r, const tirc_module *m, const char *func, tirc_error **error) {
  tirc_profile *p = r->p;
  tirc_status status = tirc_kernel_new(m, func, r->o->target, &r->plain, error);
  if (status == TIRC_OK) status = tirc_launch_new(r->plain, r->x, r->n, r->args, &r->as_is, error);
  Describe d = {p, m, func, r->n, r->args};
  if (status == TIRC_OK) status = tirc_api_guard(p->c, describe, &d, &m->sources, error);
  if (status == TIRC_OK) status = on_stack_for(r->plain, time_plain, r);
  if (status != TIRC_OK) return status;
  share(p, tirc_executor_threads(r->x));
  status = add_probes(r, func, error);
  if (status == TIRC_OK) status = on_stack_for(r->probed, take_turns, r);
  if (status == TIRC_OK) fill_in(r);
  return status;
}

/* --- on a device ------------------------------------------------------------------------------ */

static void choose_on_device(Tirc *c, void *self) {
  Run *r = self;
  tirc_profile *p = r->p;
  p->probed = tirc_parts_to_probe(c, &p->parts, true);
  r->length = tirc_probe_counters(p->parts.n);
  bool any = false;
  for (int i = 0; i < p->parts.n; i++) any = any || p->probed[i];
  if (!any)
    tirc_fail(c, p->func->loc, CODE_LOWER, "bind its loops to blockIdx.x and threadIdx.x",
              "\"%s\" has no loops or blocks that threads of a GPU run", p->func->name);
}

static tirc_status emulate_once(Run *r, const char *func, tirc_error **error) {
  tirc_module *lowered = NULL;
  tirc_costs *costs = NULL;
  tirc_status status =
      tirc_module_lower_for(r->p->module, r->o->target, NULL, NULL, &lowered, error);
  if (status == TIRC_OK)
    status = tirc_module_emulate_costs(lowered, func, r->n + 1, r->more, NULL, NULL, &costs, error);
  tirc_costs_free(costs);
  tirc_module_free(lowered);
  return status;
}

/* Once, for the emulator counts; else the mean of some calls. */
static tirc_status count_on_device(Run *r, const char *func, const char *device, int *calls,
                                   tirc_error **error) {
  enum { CALLS = 5 };
  *calls = 1;
  if (strcmp(device, "emulate") == 0) return emulate_once(r, func, error);
  tirc_status status =
      tirc_kernel_new_on(r->p->module, func, device, r->o->target, &r->probed, error);
  for (*calls = 0; status == TIRC_OK && *calls < CALLS; ++*calls)
    status = tirc_kernel_run(r->probed, r->x, r->n + 1, r->more, error);
  return status;
}

static void take_counts(Run *r, int calls) {
  tirc_profile *p = r->p;
  const int64_t *counters = tirc_array_data(r->counters);
  p->summary = (tirc_profile_summary){.calls = calls, .threads = 1};
  for (int i = 0; i < p->parts.n; i++) {
    tirc_profile_part *at = &p->at[i];
    at->threads = 1;
    at->is_timed = p->probed[i];
    at->times = at->is_timed ? (double)counters[2 * i + 1] / calls : 0;
    at->seconds = at->own = at->is_timed ? (double)counters[2 * i] / calls : 0;
  }
  for (int i = 1; i < p->parts.n; i++) {
    int around = p->at[i].parent;
    while (around > 0 && !p->probed[around]) around = p->at[around].parent;
    if (p->probed[i]) p->at[around].own -= p->at[i].seconds;
    if (p->probed[i] && !around) p->at[0].seconds += p->at[i].seconds;
  }
  p->at[0].is_timed = true;
  p->at[0].times = 1;
  for (int i = 0; i < p->parts.n; i++) p->at[i].own = fmax(0, p->at[i].own);
}

static tirc_status measure_on(Run *r, const tirc_module *m, const char *func, const char *device,
                              tirc_error **error) {
  tirc_profile *p = r->p;
  int calls = 0;
  Describe d = {p, m, func, r->n, r->args};
  MakeProbed k = {.p = p, .sources = m->sources};
  tirc_status status = tirc_api_guard(p->c, describe, &d, &m->sources, error);
  if (status == TIRC_OK) status = tirc_api_guard(p->c, choose_on_device, r, &m->sources, error);
  if (status == TIRC_OK)
    status = tirc_api_make_module(make_probed, &k, &k.sources, &k.result, &p->module, error);
  if (status == TIRC_OK) status = tirc_array_new("int64", 1, &r->length, &r->counters, error);
  if (status != TIRC_OK) return status;
  memcpy(r->more, r->args, (size_t)r->n * sizeof *r->more);
  r->more[r->n] = (tirc_argument){.array = r->counters};
  memset(tirc_array_data(r->counters), 0, (size_t)tirc_array_bytes(r->counters));
  status = count_on_device(r, func, device, &calls, error);
  if (status == TIRC_OK) take_counts(r, calls);
  return status;
}

/* --- the door --------------------------------------------------------------------------------- */

static void release(Run *r) {
  tirc_launch_free(r->with_probes);
  tirc_launch_free(r->as_is);
  tirc_kernel_free(r->probed);
  tirc_kernel_free(r->plain);
  tirc_array_free(r->counters);
  free(r->more);
}

static bool is_here(const char *device) { return !device || strcmp(device, "cpu") == 0; }

tirc_status tirc_profile_new_on(const tirc_module *m, const char *func, const char *device,
                                const tirc_profile_options *options, tirc_executor *x, int n,
                                const tirc_argument *args, tirc_profile **out, tirc_error **error) {
  const tirc_profile_options none = {0};
  NEED(m, x, LIST(n, args), out);
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  tirc_profile *p = calloc(1, sizeof *p);
  if (!p) tirc_context_release(c);
  if (!p) return tirc_api_no_memory(error);
  *p = (tirc_profile){.c = c, .from = m};
  Run r = {.p = p, .x = x, .o = options ? options : &none, .n = n, .args = args, .error = error};
  r.more = calloc((size_t)n + 1, sizeof *r.more);
  tirc_status status = r.more ? TIRC_OK : tirc_api_no_memory(error);
  if (status == TIRC_OK)
    status = is_here(device) ? measure(&r, m, func, error) : measure_on(&r, m, func, device, error);
  release(&r);
  if (status == TIRC_OK)
    *out = p;
  else
    tirc_profile_free(p);
  return status;
}

tirc_status tirc_profile_new(const tirc_module *m, const char *func,
                             const tirc_profile_options *options, tirc_executor *x, int n,
                             const tirc_argument *args, tirc_profile **out, tirc_error **error) {
  return tirc_profile_new_on(m, func, NULL, options, x, n, args, out, error);
}

void tirc_profile_free(tirc_profile *p) {
  if (!p) return;
  tirc_module_free(p->module);
  tirc_context_release(p->c);
  free(p);
}

bool tirc_profile_get(const tirc_profile *p, int i, tirc_profile_part *out) {
  if (!p || !out || i < 0 || i >= p->parts.n) return false;
  *out = p->at[i];
  return true;
}

bool tirc_profile_summarize(const tirc_profile *p, tirc_profile_summary *out) {
  if (!p || !out) return false;
  *out = p->summary;
  return true;
}

const tirc_module *tirc_profile_module(const tirc_profile *p, int64_t *counters) {
  if (p && counters) *counters = tirc_probe_counters(p->parts.n);
  return p ? p->module : NULL;
}
