/* What happens in the processes of a bed: a candidate is compiled and timed, and the reference
 * interpreter says what is right. */
#include "bed.h"

#include "ir/number.h"
#include "load.h"
#include "runtime/kernel/timer.h"
#include "statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MEMORY = (int64_t)2 << 30; /* beside its arrays */
/* Of which a candidate has copies, and the interpreter, for each element, a double with the least
 * and the greatest that is right. */
enum { COPIES = 4, INTERPRETED = 32 };

static void put(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from); }

void tirc_slot_fail(Slot *s, const char *code, const char *message) {
  s->m.seconds = (double)INFINITY;
  put(s->m.code, sizeof s->m.code, code);
  put(s->m.message, sizeof s->m.message, message);
}

/* By the address of the error: it may be set by what makes `status`, in the same call. */
static bool succeeded(Slot *s, tirc_status status, tirc_error **e) {
  if (status == TIRC_OK) return true;
  tirc_slot_fail(s, tirc_error_get(*e, TIRC_ERROR_CODE), tirc_error_message(*e));
  tirc_error_free(*e);
  *e = NULL;
  return false;
}

static bool is_output(const Bed *b, int i) { return b->params[i].is_written && b->args[i].array; }

/* Outputs as they were before any run. */
static bool own_outputs(Candidate *c) {
  const Bed *b = c->bed;
  c->args = calloc((size_t)b->n_params + 1, sizeof *c->args);
  for (int i = 0; c->args && i < b->n_params; i++) {
    tirc_error *e = NULL;
    c->args[i] = c->packed && c->packed[i].array ? c->packed[i] : b->args[i];
    if (is_output(b, i) &&
        !succeeded(c->slot, tirc_array_copy(b->args[i].array, &c->args[i].array, &e), &e))
      return false;
  }
  return c->args != NULL;
}

/* Its outputs into the memory that all see, or from there. */
static void copy_results(const Candidate *c, bool out) {
  const Bed *b = c->bed;
  char *at = b->results;
  for (int i = 0; i < b->n_params; i++) {
    if (!is_output(b, i)) continue;
    char *own = tirc_array_data(c->args[i].array);
    const size_t bytes = (size_t)tirc_array_bytes(c->args[i].array);
    memcpy(out ? at : own, out ? own : at, bytes);
    at += bytes;
  }
}

/* --- a candidate ------------------------------------------------------------------------------ */

/* What weights and constants are packed into is made once, whoever calls: its time is not that of
 * the candidate. Several functions do not say which of them is called. */
static bool split(Candidate *c, const tirc_module *m) {
  tirc_error *e = NULL;
  if (m->m->n_funcs != 1 || c->bed->options.device) return true;
  if (!succeeded(c->slot, tirc_module_split_packing(m, &c->split, &e), &e)) return false;
  if (c->split->m->n_funcs == 1) {
    tirc_module_free(c->split);
    c->split = NULL;
  }
  return true;
}

static void build(void *self) {
  Candidate *c = self;
  tirc_error *e = NULL;
  const double start = tirc_now();
  const tirc_module *m = tirc_api_module(c->of->c, c->of, &(Sources){0});
  const BedOptions *o = &c->bed->options;
  if (split(c, m)) {
    if (c->split) m = c->split;
    const char *name = m->m->funcs[m->m->n_funcs - 1]->name;
    const tirc_status status =
        tirc_kernel_new_on(m, c->split ? name : NULL, o->device, o->target, &c->kernel, &e);
    (void)succeeded(c->slot, status, &e);
  }
  c->slot->m.build = tirc_now() - start;
  c->slot->own = tirc_own_seconds();
}

static double call(void *self, int times) {
  tirc_launch *l = self;
  const double start = tirc_now();
  double on_device = 0;
  for (int i = 0; i < times; i++) {
    if (tirc_launch_run(l)) return (double)INFINITY; /* memory for workspace is out */
    const double took = on_device < 0 ? -1 : tirc_launch_seconds(l);
    on_device = took < 0 ? -1 : on_device + took;
  }
  return (on_device > 0 ? on_device : tirc_now() - start) / times;
}

static double now(void *self) {
  (void)self;
  return tirc_now();
}

static const char no_memory[] = "there is no memory left for its workspace";

void tirc_slot_conclude(Slot *s) {
  const Samples *from = &s->samples;
  Measured *m = &s->m;
  char message[sizeof m->message];
  m->n_samples = from->n;
  memcpy(m->samples, from->at, sizeof from->at);
  m->seconds = tirc_median(m->n_samples, m->samples);
  if (!from->is_bound) return;
  tirc_snprintf(message, sizeof message,
                "the fastest of %d calls took %.4g ms; the best schedule so far takes %.4g ms",
                from->n, 1e3 * tirc_fastest(from->n, from->at), 1e3 * s->best);
  tirc_slot_fail(s, TIRC_HOPELESS, message);
}

static void take_samples(Candidate *c, tirc_launch *l) {
  const BedOptions *o = &c->bed->options;
  const Sampling s = {.seconds = o->seconds,
                      .hopeless = o->hopeless,
                      .best = c->slot->best,
                      .call = call,
                      .now = now,
                      .self = l};
  if (tirc_take_samples(&s, &c->slot->samples))
    tirc_slot_conclude(c->slot);
  else
    tirc_slot_fail(c->slot, "memory", no_memory);
}

/* Once more, from the same start as the reference: what it computes is left for the check. */
static void show_results(const Candidate *c) {
  Candidate again = *c;
  tirc_launch *l;
  tirc_error *e = NULL;
  if (!own_outputs(&again) ||
      !succeeded(c->slot,
                 tirc_launch_new(c->kernel, c->executor, c->bed->n_params, again.args, &l, &e), &e))
    return;
  c->slot->wants_check = tirc_launch_run(l) == 0;
  if (c->slot->wants_check)
    copy_results(&again, true);
  else
    tirc_slot_fail(c->slot, "memory", no_memory);
  tirc_launch_free(l);
  for (int i = 0; i < c->bed->n_params; i++)
    if (is_output(c->bed, i)) tirc_array_free(again.args[i].array);
  free(again.args);
}

static void note_kernel(void *self, const char *kernel) {
  Slot *s = self;
  put(s->kernel, sizeof s->kernel, kernel);
}

/* One kernel after the other, so that it is known which one does not end, or fails. */
static bool try_on_device(Candidate *c, tirc_launch *l) {
  tirc_error *e = NULL;
  tirc_launch_tell(l, note_kernel, c->slot);
  const bool runs = succeeded(c->slot, tirc_launch_time(l, 1, 0, 0, NULL, &e), &e);
  tirc_launch_tell(l, NULL, NULL);
  *c->slot->kernel = 0;
  return runs;
}

static bool pack(Candidate *c) {
  const Bed *b = c->bed;
  tirc_error *e = NULL;
  if (!c->split || c->packed) return true;
  tirc_argument *packed = calloc((size_t)b->n_params + 1, sizeof *packed);
  if (!packed) {
    tirc_slot_fail(c->slot, "memory", "there is no memory left for packed operands");
    return false;
  }
  if (succeeded(c->slot,
                tirc_module_pack(c->split, b->options.target, c->executor, b->n_params, b->args,
                                 packed, &e),
                &e)) {
    c->packed = packed;
    return true;
  }
  for (int i = 0; i < b->n_params; i++) tirc_array_free(packed[i].array);
  free(packed);
  return false;
}

static void run(Candidate *c) {
  const Bed *b = c->bed;
  Slot *s = c->slot;
  tirc_launch *l = NULL;
  tirc_error *e = NULL;
  if (!c->executor && !succeeded(s, tirc_executor_new(b->options.threads, &c->executor, &e), &e))
    return;
  if (!pack(c) || (!c->args && !own_outputs(c))) return;
  if (!succeeded(s, tirc_launch_new(c->kernel, c->executor, b->n_params, c->args, &l, &e), &e))
    return;
  if (b->options.device && !try_on_device(c, l)) {
    tirc_launch_free(l);
    return;
  }
  (void)tirc_launch_stay(l, true);
  take_samples(c, l);
  if (!*s->m.code && s->m.seconds <= s->best && !s->m.checked) show_results(c);
  tirc_launch_free(l);
}

static void run_if_built(void *self) {
  Candidate *c = self;
  if (c->kernel) run(c);
  c->slot->own = tirc_own_seconds();
}

ChildWork tirc_candidate_work(Candidate *c) {
  return (ChildWork){build, run_if_built, c, MEMORY + COPIES * c->bed->bytes};
}

/* --- the reference ---------------------------------------------------------------------------- */

static void interpret(void *self) {
  Candidate *c = self;
  const Bed *b = c->bed;
  tirc_error *e = NULL;
  const double start = tirc_now();
  if (succeeded(c->slot,
                tirc_reference_new(b->program, NULL, b->n_params, b->args, NULL, &c->reference, &e),
                &e) &&
      own_outputs(c))
    c->slot->m.seconds = tirc_now() - start;
  c->slot->own = tirc_own_seconds();
}

static void compare(Candidate *c) {
  Slot *s = c->slot;
  tirc_check r = {.ok = false};
  tirc_error *e = NULL;
  char message[sizeof s->m.message];
  *s->m.code = *s->m.message = 0;
  copy_results(c, false);
  if (!succeeded(s, tirc_reference_check(c->reference, c->bed->n_params, c->args, &r, &e), &e) ||
      !r.wrong)
    return;
  tirc_snprintf(message, sizeof message, "\"%s\" element %lld is %g, should be %g",
                r.param ? r.param : "?", (long long)r.at, r.got, r.expected);
  tirc_slot_fail(s, "wrong-result", message);
}

static void check(void *self) {
  Candidate *c = self;
  compare(c);
  c->slot->own = tirc_own_seconds();
}

ChildWork tirc_reference_work(Candidate *c) {
  return (ChildWork){interpret, check, c, MEMORY + INTERPRETED * c->bed->bytes};
}
