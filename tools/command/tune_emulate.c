/* `tirc tune --device emulate`: points of the space for GPUs, ranked by what the emulator counts.
 * Nothing is measured: it is a model, of memory alone, which knows no caches and no time.
 *
 *   cost = blocks x (bytes of sectors + 128 x turns of shared memory), of a block on the average,
 *          twice where fewer than 8 warps of a multiprocessor run side by side */
#define _GNU_SOURCE
#include "tune_emulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USUAL_TRIALS = 16, BLOCKS = 2, TURN = 128, FEW_WARPS = 8 };

typedef struct Ranking {
  const TuneOptions *o;
  const char *target;
  const tirc_module *program;
  int n;
  tirc_argument *args;
} Ranking;

static double cost_of(const tirc_costs *costs) {
  double all = 0;
  tirc_kernel_costs k;
  tirc_access_costs a;
  for (int i = 0; tirc_costs_kernel(costs, i, &k); i++) {
    double turns = 0;
    for (int j = 0; tirc_costs_access(costs, j, &a); j++)
      if (a.shared && strcmp(a.kernel, k.name) == 0) turns += (double)a.asked;
    const double blocks = k.blocks_run ? (double)k.blocks / (double)k.blocks_run : 1;
    const bool few = k.most_warps && k.warps_at_once < FEW_WARPS;
    all += ((double)k.asked + TURN * turns) * blocks * (few ? 2 : 1);
  }
  return all;
}

/* Of a module whose loops are bound; INFINITY: it is not lowered, or computes nothing there. */
static double rank(const Ranking *r, const tirc_module *scheduled) {
  const tirc_emulate_options options = {.blocks = BLOCKS, .seed = (uint64_t)r->o->run.seed};
  tirc_module *lowered = NULL;
  tirc_costs *costs = NULL;
  tirc_error *e = NULL;
  double cost = (double)INFINITY;
  if (tirc_module_lower_for(scheduled, r->target, NULL, NULL, &lowered, &e) == TIRC_OK &&
      tirc_module_emulate_costs(lowered, NULL, r->n, r->args, &options, NULL, &costs, &e) ==
          TIRC_OK)
    cost = cost_of(costs);
  tirc_costs_free(costs);
  tirc_module_free(lowered);
  tirc_error_free(e);
  return cost;
}

/* A library of one rule: a point of the space. */
static bool write_point(const char *path, int64_t number) {
  static const char *const ways[] = {"same_kind", "any_tiles", "block_by_block"};
  FILE *f = fopen(path, "w");
  if (!f) return false;
  fprintf(f,
          "from gpu_space import %s as way\n\n\ndef point(sch, func):\n    sch.seed(%lld)\n"
          "    return way(sch, func)\n\n\nrules = [point]\n",
          ways[number % 3], (long long)number + 1);
  return fclose(f) == 0;
}

/* NULL: it is illegal. Number 0 is the schedule of --auto. */
static tirc_module *draw(const Ranking *r, const char *path, int64_t number) {
  const tirc_schedule_options s = {.target = r->target,
                                   .max_steps = r->o->run.make.from.script_steps};
  const tirc_auto_options rules = {.rules = number ? path : r->o->run.make.rules};
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  if (number && !write_point(path, number)) return NULL;
  if (tirc_module_auto(r->program, &rules, &s, &m, &e) != TIRC_OK) tirc_error_free(e);
  return m;
}

static int make_args(Ranking *r) {
  const tirc_param *params;
  tirc_error *e = NULL;
  if (tirc_module_params(r->program, NULL, &r->n, &params, &e)) return report(e);
  r->args = tirc_alloc_array(memory, (size_t)r->n + 1, sizeof *r->args);
  for (int i = 0; i < r->n; i++) {
    for (int d = 0; params[i].is_array && d < params[i].ndim; d++)
      if (params[i].shape[d] < 0)
        return complain("give it a number: -D N=V", "an extent of %s is open", params[i].name);
    if (!params[i].is_array)
      return complain("make it a constant of the program", "%s is a scalar", params[i].name);
    if (tirc_array_new(params[i].dtype, params[i].ndim, params[i].shape, &r->args[i].array, &e))
      return report(e);
    tirc_array_fill_random(r->args[i].array, (uint64_t)i);
  }
  return DONE;
}

static int write_best(const Ranking *r, const tirc_module *best) {
  tirc_error *e = NULL;
  char *text = NULL;
  if (!r->o->run.make.from.output || !best) return DONE;
  if (tirc_module_trace(best, TIRC_TRACE_SCRIPT, &text, &e)) return report(e);
  const int status = write_output(r->o->run.make.from.output, text, strlen(text));
  tirc_string_free(text);
  return status;
}

static int search(const Ranking *r, const char *path) {
  const int64_t trials = r->o->trials > 0 ? r->o->trials : USUAL_TRIALS;
  const double start = tirc_seconds();
  double first = 0, least = (double)INFINITY;
  tirc_module *best = NULL;
  int64_t legal = 0;
  for (int64_t i = 0; i < trials && !was_interrupted(); i++) {
    if (r->o->seconds > 0 && tirc_seconds() - start > r->o->seconds) break;
    tirc_module *m = draw(r, path, i);
    const double cost = m ? rank(r, m) : (double)INFINITY;
    if (i == 0) first = cost;
    legal += isfinite(cost);
    if (cost < least) {
      printf("trial %lld: %.3g, %.2f of the rules' schedule\n", (long long)i, cost,
             isfinite(first) ? cost / first : 1);
      least = cost;
      tirc_module_free(best);
      best = m;
    } else {
      tirc_module_free(m);
    }
  }
  printf(
      "%lld of %lld points run on the emulator; a model ranked them, of memory alone, and nothing "
      "was measured\n",
      (long long)legal, (long long)trials);
  const int status = best ? write_best(r, best)
                          : complain("--explain-auto of `tirc lower` says why", "no point runs");
  tirc_module_free(best);
  return status;
}

int rank_by_emulator(const TuneOptions *o, const tirc_module *program) {
  Ranking r = {.o = o, .target = o->run.make.from.target, .program = program};
  char path[] = "/tmp/tirc_point_XXXXXX";
  const int fd = mkstemp(path);
  int status = fd < 0 ? complain("it needs a file there", "/tmp cannot be written") : make_args(&r);
  if (fd >= 0) (void)close(fd);
  if (status == DONE) status = search(&r, path);
  if (fd >= 0) (void)unlink(path);
  for (int i = 0; i < r.n && r.args; i++) tirc_array_free(r.args[i].array);
  return status;
}
