/* The ceilings take their turns with the contenders, on the same threads: the program's operations
 * on floats, and those on integers, in registers, and its traffic alone. Traffic is what no
 * schedule can do without: each array parameter that is not written is read once, each one that is
 * written is written once. It goes to and from buffers of the size of the parameters, so that it is
 * in cache when the program's arrays are. What disturbs the machine disturbs the ceilings as well,
 * so that a share of one is as sound as any other ratio of the run. The one that takes longer
 * binds. */
#include "bench.h"
#include "traffic.h"

#include <string.h>

static void run_fma(const Case *k) {
  (void)tirc_executor_fma(k->executor, k->vector_bits, k->at.work.float_ops);
}
static void run_bandwidth(const Case *k) {
  (void)tirc_executor_move(k->executor, k->vector_bits, tirc_array_data(k->from),
                           k->at.work.bytes_read, tirc_array_data(k->to), k->at.work.bytes_written,
                           k->past_caches);
}
static void run_integers(const Case *k) {
  (void)tirc_executor_integers(k->executor, k->vector_bits, k->integer_bits, k->integer_ops);
}
static bool has_operations(const Case *k) { return k->at.work.float_ops > 0; }
static bool has_integers(const Case *k) { return k->integer_ops > 0; }
static bool has_traffic(const Case *k) {
  return k->at.work.bytes_read + k->at.work.bytes_written > 0;
}

static const Ceiling ceilings[N_CEILINGS] = {{FMA_CEILING, has_operations, run_fma},
                                             {INTEGER_CEILING, has_integers, run_integers},
                                             {BANDWIDTH_CEILING, has_traffic, run_bandwidth}};

int ceiling_bits(const Bench *b) {
  return tirc_executor_fma(b->threads[0].executor, b->target.vector_bits, 0);
}

int count_cost(Case *k) {
  tirc_error *e = NULL;
  if (tirc_module_call_cost(k->program, NULL, k->n_params, k->args, &k->cost, &e) ||
      tirc_module_call_integers(k->program, NULL, k->n_params, k->args, &k->integer_ops,
                                &k->integer_bits, &e))
    return report(e);
  k->at.work.float_ops = k->cost.float_ops;
  return DONE;
}

void add_ceilings(const Bench *b, Case *k) {
  k->vector_bits = b->target.vector_bits;
  for (int i = 0; i < N_CEILINGS; i++)
    k->contenders[k->n_contenders++] =
        (Contender){.name = tirc_strdup(memory, ceiling_names[ceilings[i].kind]),
                    .ceiling = &ceilings[i],
                    .of = k,
                    .skipped = !ceiling_bits(b)};
}

/* --- traffic ---------------------------------------------------------------------------------- */

static void count_traffic(Case *k) {
  k->at.work.bytes_read = k->at.work.bytes_written = 0;
  for (int i = 0; i < k->n_params; i++)
    if (k->args[i].array)
      *(k->params[i].is_written ? &k->at.work.bytes_written : &k->at.work.bytes_read) +=
          tirc_array_bytes(k->args[i].array);
}

static double time_bandwidth(const Case *k, bool past_caches) {
  return time_moves(k->executor, k->vector_bits, k->from, k->at.work.bytes_read, k->to,
                    k->at.work.bytes_written, past_caches);
}

/* A ceiling is what can be reached: by the faster kind of stores. */
static int prepare_buffers(Case *k) {
  tirc_error *e = NULL;
  if (!new_buffer(k->at.work.bytes_read, &k->from, &e) ||
      !new_buffer(k->at.work.bytes_written, &k->to, &e))
    return report(e);
  k->past_caches = time_bandwidth(k, true) < time_bandwidth(k, false);
  return DONE;
}

int prepare_ceiling(Case *k, Contender *c) {
  const bool moves = c->ceiling->kind == BANDWIDTH_CEILING;
  if (moves) count_traffic(k);
  int status = moves && !c->skipped ? prepare_buffers(k) : DONE;
  c->skipped = c->skipped || !c->ceiling->has_work(k);
  return status;
}

void release_ceilings(Case *k) {
  tirc_array_free(k->from);
  tirc_array_free(k->to);
  k->from = k->to = NULL;
}

/* --- shares ----------------------------------------------------------------------------------- */

static const Contender *find_ceiling(const Case *k, CeilingKind which) {
  for (int i = 0; i < k->n_contenders; i++) {
    const Contender *c = &k->contenders[i];
    if (c->ceiling && c->ceiling->kind == which && c->f.median > 0) return c;
  }
  return NULL;
}

const Contender *binding_ceiling(const Case *k) {
  const Contender *found = NULL;
  for (int i = 0; i < N_CEILINGS; i++) {
    const Contender *c = find_ceiling(k, ceilings[i].kind);
    if (c && (!found || c->f.median > found->f.median)) found = c;
  }
  return found;
}

double best_rate(const Bench *b, int threads) {
  double best = 0;
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    const Contender *c = k->at.threads == threads ? find_ceiling(k, FMA_CEILING) : NULL;
    if (c && k->at.work.float_ops / c->f.fastest > best) best = k->at.work.float_ops / c->f.fastest;
  }
  return best;
}

double best_seconds(const Bench *b, const Case *k) {
  const Contender *binding = binding_ceiling(k);
  if (!binding) return 0;
  return binding->ceiling->kind == FMA_CEILING ? k->at.work.float_ops / best_rate(b, k->at.threads)
                                               : binding->f.fastest;
}
