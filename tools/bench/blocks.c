/* Beside the time of a part stands what it computes and moves, and how long that takes at least: in
 * registers alone, and in moves between buffers of the size of what it touches. The longer one
 * binds. */
#include "blocks.h"

#include "ir/cpu.h"
#include "tools/kit/kit.h"
#include "tools/kit/table.h"
#include "traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Limit {
  double seconds; /* 0: none is known */
  const char *name;
} Limit;

struct BlockTimes {
  const char *unit; /* of a device: "cycles", "work"; NULL: seconds */
  tirc_profile *profile;
  tirc_profile_summary all;
  int n;
  tirc_profile_part *parts;
  Limit *limits;
};

int check_profile_word(const char *word, bool of_model) {
  if (strcmp(word, "blocks") != 0)
    return complain("--profile=blocks", "--profile knows blocks, not '%s'", word);
  return of_model
             ? complain("bench MODEL --profile shows its functions; one of them, as a program, "
                        "has its blocks shown",
                        "--profile=blocks is of one function, and this is a model")
             : DONE;
}

/* --- ceilings --------------------------------------------------------------------------------- */

/* One thread, or all of them. */
typedef struct Machine {
  tirc_executor *x;
  double fma, integers[4]; /* operations a second; 0: not measured yet */
} Machine;

typedef struct Ceilings {
  int bits;
  Machine one, all;
} Ceilings;

static double seconds_of_floats(const Ceilings *c, Machine *m, double operations) {
  if (operations <= 0) return 0;
  if (m->fma <= 0) m->fma = rate_of_fma(m->x, c->bits);
  return m->fma > 0 ? operations / m->fma : 0;
}

static double seconds_of_integers(const Ceilings *c, Machine *m, double operations, int bits) {
  if (operations <= 0) return 0;
  double *rate = &m->integers[bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3];
  if (*rate <= 0) *rate = rate_of_integers(m->x, c->bits, bits);
  return *rate > 0 ? operations / *rate : 0;
}

static double seconds_of_moves(const Ceilings *c, const Machine *m, int64_t read, int64_t written) {
  tirc_array *from = NULL, *to = NULL;
  double least = 0;
  if (read + written > 0 && new_buffer(read, &from, NULL) && new_buffer(written, &to, NULL))
    least = fmin(time_moves(m->x, c->bits, from, read, to, written, false),
                 time_moves(m->x, c->bits, from, read, to, written, true));
  tirc_array_free(from);
  tirc_array_free(to);
  return least;
}

/* Whether several threads run it: it is in a parallel loop, or has one. */
static bool is_shared(const BlockTimes *t, int i) {
  bool shared = t->parts[i].threads > 1;
  for (int k = i + 1; k < t->n && t->parts[k].depth > t->parts[i].depth; k++)
    shared = shared || t->parts[k].threads > 1;
  return shared;
}

static Limit limit_of(Ceilings *c, const BlockTimes *t, int i) {
  const tirc_profile_part *p = &t->parts[i];
  Machine *m = is_shared(t, i) ? &c->all : &c->one;
  const Limit all[] = {{seconds_of_floats(c, m, p->float_ops), "FMA"},
                       {seconds_of_integers(c, m, p->integer_ops, p->integer_bits), "integers"},
                       {seconds_of_moves(c, m, p->bytes_read, p->bytes_written), "memory"}};
  int most = 0;
  for (int k = 1; k < 3; k++)
    if (all[k].seconds > all[most].seconds) most = k;
  return all[most];
}

static int find_limits(BlockTimes *t, const char *target, tirc_executor *x) {
  tirc_error *e = NULL;
  tirc_target_info info;
  Ceilings c = {.all.x = x};
  if (tirc_target_find(tirc_cpu_or_default(target), &info, &e) ||
      tirc_executor_new(1, &c.one.x, &e))
    return report(e);
  c.bits = tirc_executor_fma(x, info.vector_bits, 0);
  for (int i = 0; c.bits && i < t->n; i++)
    if (t->parts[i].is_timed) t->limits[i] = limit_of(&c, t, i);
  tirc_executor_free(c.one.x);
  return DONE;
}

int time_blocks(const tirc_module *m, const char *device, const char *target, tirc_executor *x,
                double seconds, int n, const tirc_argument *args, BlockTimes **out) {
  const tirc_profile_options options = {.target = target, .seconds = seconds};
  tirc_error *e = NULL;
  tirc_profile_part part;
  BlockTimes *t = tirc_alloc(memory, sizeof *t);
  *out = t;
  if (device && strcmp(device, "cpu") == 0) device = NULL;
  t->unit = !device ? NULL : strcmp(device, "emulate") == 0 ? "work" : "cycles";
  if (tirc_profile_new_on(m, NULL, device, &options, x, n, args, &t->profile, &e)) return report(e);
  (void)tirc_profile_summarize(t->profile, &t->all);
  while (tirc_profile_get(t->profile, t->n, &part)) t->n++;
  t->parts = tirc_alloc_array(memory, (size_t)t->n + 1, sizeof *t->parts);
  t->limits = tirc_alloc_array(memory, (size_t)t->n + 1, sizeof *t->limits);
  for (int i = 0; i < t->n; i++) (void)tirc_profile_get(t->profile, i, &t->parts[i]);
  return device ? DONE : find_limits(t, target, x);
}

void free_block_times(BlockTimes *t) {
  if (t) tirc_profile_free(t->profile);
}

/* --- for people ------------------------------------------------------------------------------- */

static bool is_below(const BlockTimes *t, int i, int part) {
  return i > part && i < t->n && t->parts[i].depth > t->parts[part].depth;
}

static int depth_shown(const BlockTimes *t, int i) {
  int depth = 0;
  for (i = t->parts[i].parent; i >= 0; i = t->parts[i].parent) depth += t->parts[i].is_timed;
  return depth;
}

/* The blocks whose time is in the part's own: those that no timed part in it has. */
static void name_blocks(FILE *f, const BlockTimes *t, int part) {
  enum { MOST = 4 };
  int n = 0;
  for (int i = part + 1; is_below(t, i, part); i++) {
    if (t->parts[i].is_timed) {
      const int timed = i;
      while (is_below(t, i + 1, timed)) i++;
      continue;
    }
    const bool is_leaf = t->parts[i].is_block && !is_below(t, i + 1, i);
    if (is_leaf && n < MOST) fprintf(f, "%s%s", n ? ", " : ": ", t->parts[i].name);
    n += is_leaf;
  }
  if (n > MOST) fprintf(f, " and %d more", n - MOST);
}

static char *name_of(const BlockTimes *t, int i) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = begin_text(&text, &size);
  const tirc_profile_part *p = &t->parts[i];
  for (int d = 0; d < depth_shown(t, i); d++) fputs("  ", f);
  if (i && !p->is_block) {
    fprintf(f, "for %s", p->name);
    if (p->extent >= 0) fprintf(f, " in %lld", (long long)p->extent);
    if (strcmp(p->kind, "serial") != 0) fprintf(f, ", %s", p->kind);
  } else {
    fprintf(f, "%s%s", i ? "block " : "", p->name);
  }
  name_blocks(f, t, i);
  return end_text(f, &text);
}

static void add_rate(Table *table, double n, double seconds) {
  if (n > 0 && seconds > 0)
    add_cell(table, "%.2f", n / seconds * 1e-9);
  else
    add_cell(table, "-");
}

static void add_row(Table *table, const BlockTimes *t, int i) {
  const tirc_profile_part *p = &t->parts[i];
  const double whole = t->parts[0].seconds;
  char *name = name_of(t, i);
  add_cell(table, "%s", name ? name : "");
  add_cell(table, "%.0f", p->times);
  if (t->unit)
    add_cell(table, "%.0f", p->seconds);
  else
    add_cell(table, "%.2f", p->seconds * 1e6);
  add_cell(table, "%.1f %%", whole > 0 ? 100 * p->seconds / whole : 0);
  add_cell(table, "%.1f %%", whole > 0 ? 100 * p->own / whole : 0);
  if (t->unit) return;
  add_rate(table, p->float_ops + p->integer_ops, p->seconds);
  add_rate(table, (double)(p->bytes_read + p->bytes_written), p->seconds);
  if (t->limits[i].seconds > 0 && p->seconds > 0)
    add_cell(table, "%.1f", 100 * t->limits[i].seconds / p->seconds);
  else
    add_cell(table, "-");
  add_cell(table, "%s", t->limits[i].seconds > 0 ? t->limits[i].name : "-");
}

static void put_notes(FILE *to, const BlockTimes *t) {
  static const double much = 0.05;
  const tirc_profile_summary *a = &t->all;
  bool shares = false;
  for (int i = 0; i < t->n; i++) shares = shares || t->parts[i].threads > 1;
  fprintf(to, "the probes took %.1f %% of the time, %.0f ns each; this time is subtracted\n",
          100 * a->probes, a->probe * 1e9);
  if (a->probes > much)
    fprintf(to, "note: that is more than %.0f %%: short parts are less certain\n", 100 * much);
  if (a->seconds > 0 && fabs(t->parts[0].seconds / a->seconds - 1) > much)
    fprintf(to,
            "note: without probes a call takes %.3f times as long as the sum of the parts: probes "
            "changed the code, or something disturbed the machine\n",
            a->seconds / t->parts[0].seconds);
  if (a->left_out)
    fprintf(to, "%d part%s too often for a probe and count%s as part of the loop around\n",
            a->left_out, a->left_out == 1 ? " runs" : "s run", a->left_out == 1 ? "s" : "");
  if (shares)
    fprintf(to,
            "in a parallel loop, a time is the mean over the threads; the loop's own time is for "
            "starting threads and waiting for them\n");
}

/* Of a device. */
static void put_counts(FILE *to, const BlockTimes *t) {
  const bool is_work = strcmp(t->unit, "work") == 0;
  const char *const heads[] = {"part", "times", t->unit, "share", "own"};
  Table table = {.columns = 5, .right = 0x1e};
  fprintf(to, "%s by block\n", is_work ? "work" : "cycles");
  for (int i = 0; i < table.columns; i++) add_cell(&table, "%s", heads[i]);
  for (int i = 0; i < t->n; i++)
    if (t->parts[i].is_timed) add_row(&table, t, i);
  put_table(to, &table);
  fputs(
      is_work
          ? "work: each statement, operation, sector of global memory and turn of shared memory of "
            "a warp counts once; times: for one thread of each block\n"
          : "cycles of the first thread of each block of threads, with the probes', all blocks "
            "together\n",
      to);
}

void put_block_times(FILE *to, const BlockTimes *t) {
  if (t->unit) {
    put_counts(to, t);
    return;
  }
  static const char *const heads[] = {"part",  "times", "us",     "share",   "own",
                                      "GOP/s", "GB/s",  "% peak", "bound by"};
  Table table = {.columns = 9, .right = 0xfe};
  fprintf(to,
          "time by block: %.2f us a call without probes, %.2f with them (the faster half "
          "of %d each, by turns), %d thread%s\n",
          t->all.seconds * 1e6, t->all.probed * 1e6, t->all.calls, t->all.threads,
          plural(t->all.threads));
  for (int i = 0; i < table.columns; i++) add_cell(&table, "%s", heads[i]);
  for (int i = 0; i < t->n; i++)
    if (t->parts[i].is_timed) add_row(&table, t, i);
  put_table(to, &table);
  put_notes(to, t);
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static Json *part_json(const BlockTimes *t, int i) {
  const Limit *limit = &t->limits[i];
  Json *row = profile_part_json(&t->parts[i], t->unit);
  if (limit->seconds <= 0) return row;
  add_number(row, "ceiling_seconds", limit->seconds);
  add_text(row, "ceiling", strcmp(limit->name, "memory") == 0 ? "bandwidth" : limit->name);
  return row;
}

Json *block_times_json(const BlockTimes *t) {
  Json *all = json_object_new_object(), *parts = json_object_new_array();
  add_text(all, "unit", t->unit ? t->unit : "seconds");
  if (!t->unit) add_number(all, "seconds", t->all.seconds);
  if (!t->unit) add_number(all, "seconds_with_probes", t->all.probed);
  if (!t->unit) add_number(all, "probes", t->all.probes);
  if (!t->unit) add_number(all, "seconds_of_a_probe", t->all.probe);
  add_int(all, "calls", t->all.calls);
  add_int(all, "threads", t->all.threads);
  add_int(all, "left_out", t->all.left_out);
  for (int i = 0; i < t->n; i++) json_object_array_add(parts, part_json(t, i));
  add_json(all, "parts", parts);
  return all;
}
