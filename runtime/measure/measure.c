#include "bed.h"

#include "ir/child.h"
#include "load.h"
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const BedOptions tirc_bed_defaults = {
    .builders = 2, .seconds = 0.02, .hopeless = 4, .build_limit = 6};

static const double FIRST_LIMIT = 60, LEAST_LIMIT = 2; /* of seconds that a candidate may run */
static const double REFERENCE_LIMIT = 600;             /* that the interpreter may */
static const double CHECK_LIMIT =
    10;              /* and a check, with CHECKS times what the interpreter took: */
enum { CHECKS = 5 }; /* of results that another order explains it runs again */
enum { FEWEST_ROUNDS = 2, FEWEST_WHILE_BUSY = 5 };
static const double OUTDONE = 1.04; /* times as slow as the fastest of a comparison: it is over */
static const double MUCH = 1.1;     /* times as fast: worth further rounds until it is sure */

bool tirc_is_hopeless(const Measured *m) { return strcmp(m->code, TIRC_HOPELESS) == 0; }

/* --- the bed ---------------------------------------------------------------------------------- */

static void refuse(Tirc *c, void *self) {
  const char *name = self;
  tirc_fail(c, (Loc){0}, CODE_ARGUMENT, tirc_format(c, "give it one: -D %s=128", name),
            "%s has no value, and a program without a size cannot be measured", name);
}

static tirc_status need_value(const char *name, tirc_error **error) {
  return tirc_api_scratch(refuse, (void *)(uintptr_t)name, NULL, error);
}

static tirc_status fill(const BedOptions *o, const char *param, tirc_array *a, uint64_t seed,
                        tirc_error **error) {
  for (int k = o->n_ranges - 1; k >= 0; k--) /* the last one given, as everywhere */
    if (strcmp(o->ranges[k].param, param) == 0)
      return tirc_array_fill_range(a, seed, o->ranges[k].low, o->ranges[k].high, error);
  tirc_array_fill_random(a, seed);
  return TIRC_OK;
}

static void count_bytes(Bed *b, const tirc_param *p, const tirc_array *a) {
  const int64_t bytes = tirc_array_bytes(a);
  b->bytes += bytes;
  if (p->is_written) b->result_bytes += (size_t)bytes;
}

static tirc_status make_arrays(Bed *b, tirc_error **error) {
  const BedOptions *o = &b->options;
  tirc_symbol *symbols = calloc((size_t)o->n_symbols + 1, sizeof *symbols);
  tirc_status status = symbols ? TIRC_OK : tirc_api_no_memory(error);
  if (symbols && o->n_symbols) memcpy(symbols, o->symbols, (size_t)o->n_symbols * sizeof *symbols);
  for (int i = 0; i < b->n_params && status == TIRC_OK; i++) {
    const tirc_param *p = &b->params[i];
    if (!p->is_array) {
      int k = 0;
      while (k < o->n_symbols && strcmp(symbols[k].name, p->name) != 0) k++;
      if (k == o->n_symbols) status = need_value(p->name, error);
      if (k < o->n_symbols)
        b->args[i].i = symbols[k].value, b->args[i].f = (double)symbols[k].value;
    }
    if (!p->is_array || status != TIRC_OK) continue;
    status = tirc_module_array(b->program, NULL, b->n_params, b->args, o->n_symbols, symbols, i,
                               NULL, &b->args[i].array, error);
    if (status == TIRC_OK)
      status = fill(o, p->name, b->args[i].array, (uint64_t)(o->seed * 1000 + i), error);
    if (status == TIRC_OK) count_bytes(b, p, b->args[i].array);
  }
  free(symbols);
  return status;
}

static tirc_status need_symbols(const Bed *b, tirc_error **error) {
  int n;
  const tirc_symbol *symbols;
  tirc_status status = tirc_module_symbols(b->program, NULL, &n, &symbols, error);
  for (int i = 0; i < n && status == TIRC_OK; i++) {
    bool known = false;
    for (int k = 0; k < b->options.n_symbols; k++)
      known |= strcmp(symbols[i].name, b->options.symbols[k].name) == 0;
    if (!known) status = need_value(symbols[i].name, error);
  }
  return status;
}

tirc_status tirc_bed_new(const tirc_module *program, const BedOptions *options, Bed **out,
                         tirc_error **error) {
  Bed *b = calloc(1, sizeof *b);
  if (!b) return tirc_api_no_memory(error);
  b->program = program;
  b->options = *options;
  tirc_status status = tirc_module_params(program, NULL, &b->n_params, &b->params, error);
  if (status == TIRC_OK) status = need_symbols(b, error);
  if (status == TIRC_OK) {
    b->args = calloc((size_t)b->n_params + 1, sizeof *b->args);
    b->reference_slot = tirc_shared_memory(sizeof *b->reference_slot);
    status = b->args && b->reference_slot ? make_arrays(b, error) : tirc_api_no_memory(error);
  }
  if (status == TIRC_OK && !(b->results = tirc_shared_memory(b->result_bytes)))
    status = tirc_api_no_memory(error);
  if (status == TIRC_OK)
    *out = b;
  else
    tirc_bed_free(b);
  return status;
}

void tirc_bed_free(Bed *b) {
  if (!b) return;
  tirc_child_end(&b->reference);
  for (int i = 0; b->args && i < b->n_params; i++) tirc_array_free(b->args[i].array);
  free(b->args);
  tirc_shared_free(b->results, b->result_bytes);
  tirc_shared_free(b->reference_slot, sizeof *b->reference_slot);
  free(b);
}

/* --- children --------------------------------------------------------------------------------- */

static bool start_child(Child *k, Candidate *c, bool reference) {
  c->slot->m = (Measured){.seconds = (double)INFINITY};
  const ChildWork w = reference ? tirc_reference_work(c) : tirc_candidate_work(c);
  return tirc_child_start(k, &w);
}

/* Waits for its answer; otherwise it is ended, and the slot says why. A failure that it told before
 * its time was over stays. */
static bool await(const Bed *b, Child *k, double seconds, const char *what, Slot *slot) {
  ChildFailure why;
  const BedListener *l = b->listener;
  if (!k->pid) return false;
  if (tirc_child_await(k, seconds, what, l ? l->waits : NULL, l ? l->self : NULL, &why))
    return true;
  if (strcmp(why.code, "timeout") == 0 && *slot->m.code) return false;
  char message[sizeof why.message + sizeof slot->kernel + 16];
  snprintf(message, sizeof message, "%s%s%s", why.message, *slot->kernel ? ", in the kernel " : "",
           slot->kernel);
  tirc_slot_fail(slot, why.code, message);
  return false;
}

static void refuse_program(Tirc *c, void *self) {
  const Measured *m = self;
  tirc_fail(c, (Loc){0}, tirc_code_of(m->code, CODE_FAILED), NULL,
            "the program itself does not run, with random arrays: %s", m->message);
}

void tirc_bed_start(Bed *b) {
  Candidate c = {.bed = b, .slot = b->reference_slot};
  if (!b->reference.pid) (void)start_child(&b->reference, &c, true);
}

/* Waits for the results of the program. */
static tirc_status need_reference(Bed *b, tirc_error **error) {
  if (b->reference_seconds > 0) return TIRC_OK;
  const Slot *s = b->reference_slot;
  if (!await(b, &b->reference, REFERENCE_LIMIT, "interpreting it", b->reference_slot) ||
      !isfinite(s->m.seconds)) {
    b->refuses = strcmp(s->m.code, "interrupted") != 0;
    return tirc_api_scratch(refuse_program, (void *)(uintptr_t)&s->m, NULL, error);
  }
  b->reference_seconds = fmax(s->m.seconds, 1e-9);
  return TIRC_OK;
}

bool tirc_bed_refuses(const Bed *b) { return b->refuses; }

/* One that had to be ended begins again. */
static bool has_reference(Bed *b) {
  b->reference_seconds = b->reference.pid ? b->reference_seconds : 0;
  tirc_bed_start(b);
  return need_reference(b, NULL) == TIRC_OK;
}

/* A check has a time limit of its own: that it takes long says nothing of the candidate. */
static void check(Bed *b, Slot *slot) {
  slot->wants_check = false;
  if (!has_reference(b)) {
    tirc_slot_fail(slot, "interrupted", "there is nothing to check it against");
    return;
  }
  const double limit = CHECK_LIMIT + CHECKS * b->reference_seconds;
  Slot *answer = b->reference_slot;
  *answer->m.code = 0; /* before it is asked: the answer may be there at once */
  tirc_child_ask(&b->reference);
  if (!await(b, &b->reference, limit, "the check", answer) || *answer->m.code)
    tirc_slot_fail(slot, answer->m.code, answer->m.message);
  slot->m.checked = true;
}

/* --- measuring -------------------------------------------------------------------------------- */

static bool goes_on(const BedListener *l) { return !l || !l->go_on || l->go_on(l->self); }

/* Several at a time, in order; all are built or have failed when it returns. */
static void build_all(Bed *b, int n, const Module *const *candidates, Child *children,
                      Slot *slots) {
  const int builders = b->options.builders > 0 ? b->options.builders : 1;
  for (int i = 0, done = 0; done < n; done++) {
    while (i < n && i < done + builders) {
      Candidate c = {.bed = b, .slot = &slots[i], .of = candidates[i]};
      if (!goes_on(b->listener))
        tirc_slot_fail(&slots[i], "interrupted", "");
      else if (!start_child(&children[i], &c, false))
        tirc_slot_fail(&slots[i], "interrupted", "no process could be started for it");
      i++;
    }
    (void)await(b, &children[done], b->options.build_limit, "compiling", &slots[done]);
  }
}

/* How long a run with its samples may take. */
static double limit_of(const Bed *b, double best) {
  const double known = isfinite(best) ? best : b->reference_seconds;
  /* drivers of devices may compile a kernel when it is first launched */
  const double limit = 40 * known + LEAST_LIMIT + (b->options.device ? b->options.build_limit : 0);
  return limit < FIRST_LIMIT ? limit : FIRST_LIMIT;
}

/* It was ended in the middle of calls each of which was too slow: that is a bound, too. */
static void conclude_early(const Bed *b, Slot *slot) {
  Samples *o = &slot->samples;
  if (strcmp(slot->m.code, "timeout") != 0 || !isfinite(slot->best)) return;
  if (!o->n || !(tirc_fastest(o->n, o->at) > b->options.hopeless * slot->best)) return;
  o->is_bound = true;
  tirc_slot_conclude(slot);
}

static void time_one(Bed *b, Child *k, Slot *slot, double best) {
  if (!k->pid || *slot->m.code) return;
  slot->best = best;
  slot->samples.n = 0;
  tirc_child_ask(k);
  if (!await(b, k, limit_of(b, best), "the run", slot)) conclude_early(b, slot);
  if (slot->wants_check) check(b, slot);
}

/* Candidates that are built, and then timed while nothing else of ours runs. */
typedef struct Race {
  Bed *bed;
  int n;
  Child *children;
  Slot *slots;
  Load load; /* from when on they are timed, */
  /* and seconds of cores that were spent by then: by children that were gone, by each, and by the
   * reference */
  double ended, *built, interpreted;
} Race;

static double spent_by(const Child *k, const Slot *s) { return k->pid ? s->own : 0; }

static void end_race(Race *r) {
  for (int i = 0; r->children && i < r->n; i++) tirc_child_end(&r->children[i]);
  r->bed->listener = NULL;
  free(r->children);
  free(r->built);
  tirc_shared_free(r->slots, (size_t)r->n * sizeof *r->slots);
}

static tirc_status start_race(Race *r, Bed *b, int n, const Module *const *candidates,
                              const BedListener *listener, tirc_error **error) {
  *r = (Race){.bed = b, .n = n};
  r->children = calloc((size_t)n + 1, sizeof *r->children);
  r->built = calloc((size_t)n + 1, sizeof *r->built);
  r->slots = tirc_shared_memory((size_t)n * sizeof *r->slots);
  b->listener = listener;
  tirc_bed_start(b);
  if (!r->children || !r->built || !r->slots) return tirc_api_no_memory(error);
  build_all(b, n, candidates, r->children, r->slots);
  const tirc_status status = goes_on(listener) ? need_reference(b, error) : TIRC_OK;
  for (int i = 0; i < n; i++) r->built[i] = spent_by(&r->children[i], &r->slots[i]);
  r->interpreted = spent_by(&b->reference, b->reference_slot);
  r->load = tirc_load_start();
  r->ended = tirc_children_seconds();
  return status;
}

/* Cores that others used. Children that have ended count as such, with what building them took. */
static double others_of(const Race *r) {
  const Bed *b = r->bed;
  double ours = tirc_children_seconds() - r->ended;
  for (int i = 0; i < r->n; i++) ours += spent_by(&r->children[i], &r->slots[i]) - r->built[i];
  ours += spent_by(&b->reference, b->reference_slot) - r->interpreted;
  return tirc_load_since(&r->load, ours);
}

tirc_status tirc_bed_measure(Bed *b, int n, const Module *const *candidates, double best,
                             Measured *out, const BedListener *listener, tirc_error **error) {
  Race r;
  const tirc_status status = start_race(&r, b, n, candidates, listener, error);
  for (int i = 0; i < n && status == TIRC_OK; i++) {
    if (goes_on(listener))
      time_one(b, &r.children[i], &r.slots[i], best);
    else
      tirc_slot_fail(&r.slots[i], "interrupted", "");
    tirc_child_end(&r.children[i]);
    out[i] = r.slots[i].m;
    out[i].load = others_of(&r);
    if (out[i].seconds < best) best = out[i].seconds;
    if (listener && listener->told) listener->told(listener->self, i, &out[i]);
  }
  end_race(&r);
  return status;
}

/* --- comparing -------------------------------------------------------------------------------- */

static double median_of(const Measured *m) { return tirc_median(m->n_samples, m->samples); }

/* One that is out had the first of the turns. */
bool tirc_measured_faster(const Measured *of, const Measured *base) {
  const int n = of->n_samples < base->n_samples ? of->n_samples : base->n_samples;
  const tirc_ratio r = tirc_ratio_of_turns(n, of->samples, n, base->samples);
  return tirc_side_of_one(&r) > 0;
}

static int fastest_of(int n, const Measured *m) {
  int fastest = 0;
  for (int i = 1; i < n; i++)
    if (median_of(&m[i]) < median_of(&m[fastest])) fastest = i;
  return fastest;
}

/* Whether a candidate's fastest turn is slower than what another usually takes. */
static bool is_outdone(const Measured *m, int n, int i, double load) {
  const int fewest = tirc_is_busy(load) ? FEWEST_WHILE_BUSY : FEWEST_ROUNDS;
  return m[i].n_samples >= fewest &&
         tirc_fastest(m[i].n_samples, m[i].samples) > OUTDONE * median_of(&m[fastest_of(n, m)]);
}

/* Something may have disturbed a turn: what seems much faster than the base is to be surely so. */
static bool is_settled(int n, const Measured *m, int base) {
  if (base < 0 || !m[base].n_samples) return true;
  const Measured *fastest = &m[fastest_of(n, m)];
  return median_of(fastest) * MUCH > median_of(&m[base]) || tirc_measured_faster(fastest, &m[base]);
}

/* One turn of each that is not outdone, and of the base, which all are compared with. False: it was
 * enough before all had one. */
static bool take_turns(Race *r, Measured *out, int base, double load) {
  const BedListener *l = r->bed->listener;
  for (int i = 0; i < r->n; i++) {
    if (i != base && is_outdone(out, r->n, i, load)) continue;
    if (!goes_on(l)) return false;
    time_one(r->bed, &r->children[i], &r->slots[i], (double)INFINITY);
    if (!isfinite(r->slots[i].m.seconds)) continue;
    out[i].samples[out[i].n_samples++] = r->slots[i].m.seconds;
    if (l && l->told) l->told(l->self, i, &r->slots[i].m);
  }
  return true;
}

tirc_status tirc_bed_compare(Bed *b, int n, const Module *const *candidates, int base, int rounds,
                             int most_rounds, Measured *out, const BedListener *listener,
                             tirc_error **error) {
  Race r;
  double load = 0;
  const tirc_status status = start_race(&r, b, n, candidates, listener, error);
  if (most_rounds > MOST_SAMPLES) most_rounds = MOST_SAMPLES;
  for (int i = 0; i < n && status == TIRC_OK; i++) out[i] = (Measured){0};
  for (int k = 0; k < most_rounds && status == TIRC_OK && goes_on(listener); k++) {
    if (k >= rounds && !tirc_is_busy(load) && is_settled(n, out, base)) break;
    const bool all = take_turns(&r, out, base, load);
    for (int i = 0; i < n && !k && !all; i++) out[i].n_samples = 0; /* the others had none */
    load = others_of(&r);
  }
  for (int i = 0; i < n && status == TIRC_OK; i++) {
    const Measured turns = out[i];
    out[i] = r.slots[i].m;
    out[i].load = load;
    if (*out[i].code) continue;
    out[i].n_samples = turns.n_samples;
    memcpy(out[i].samples, turns.samples, sizeof turns.samples);
    out[i].seconds = median_of(&turns);
  }
  end_race(&r);
  return status;
}
