/* The figures of a bench as JSON, for tables and plots. */
#include "tools/kit/json.h"
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* M, N, K, and whatever constants -D sets; integers as numbers. */
void add_setting(Json *j, const Case *k) {
  if (k->cost.m) {
    add_int(j, "M", k->cost.m);
    add_int(j, "N", k->cost.n);
    add_int(j, "K", k->cost.k);
  }
  for (int i = 0; i < k->at.n_defines; i++) {
    char *end;
    long long v = strtoll(k->at.defines[i].value, &end, 10);
    if (json_object_object_get_ex(j, k->at.defines[i].name, NULL)) continue;
    if (*end)
      add_text(j, k->at.defines[i].name, k->at.defines[i].value);
    else
      add_int(j, k->at.defines[i].name, v);
  }
}

/* Of the binding ceiling's medians in the same turns, and of its best in the run. */
static void add_shares(Json *j, tirc_ratio of_medians, double of_best) {
  if (!(of_medians.value > 0)) return;
  add_number(j, "percent_of_peak", 100 * of_medians.value);
  add_pair(j, "percent_of_peak_95", 100 * of_medians.low, 100 * of_medians.high);
  add_number(j, "percent_of_best_peak", 100 * of_best);
}

/* Of one call, over all threads: those that could be counted. */
static void add_counts(Json *j, const Contender *c) {
  Json *counts = json_object_new_object();
  for (int i = 0; i < N_COUNTERS; i++)
    if (isfinite(count_of(c, (CounterKind)i)))
      add_number(counts, tirc_counter_rows[i].key, count_of(c, (CounterKind)i));
  add_json(j, "counters", counts);
}

/* What disturbed the case, and why a share is above 100 %. */
static void add_doubts(const Bench *b, Json *j, const Case *k, const Contender *c) {
  const char *names[N_DISTURBANCES];
  char text[160];
  add_json(j, "disturbed", json_texts(list_disturbances(k, names), names));
  if (explain_excess(b, k, c, text, sizeof text)) add_text(j, "above_100_percent", text);
}

static Json *result(const Bench *b, const Case *k, const Contender *c) {
  Json *j = json_object_new_object(), *ratios = json_object_new_object();
  Json *intervals = json_object_new_object();
  add_text(j, "kernel", k->at.kernel);
  add_text(j, "setting", k->at.setting);
  if (k->file) add_text(j, "program", k->file);
  add_setting(j, k);
  add_text(j, "contender", c->name);
  add_int(j, "threads", k->at.threads);
  add_number(j, "median_s", c->f.median);
  add_pair(j, "median_s_95", c->f.low, c->f.high);
  add_number(j, "min_s", c->f.fastest);
  add_number(j, "spread", c->f.spread);
  add_int(j, "repetitions", c->f.n_samples);
  add_int(j, "turns", c->f.n_turns);
  add_number(j, "other_load_cores", k->meanwhile.load);
  add_number(j, "clock_drop", tirc_clock_drop(&k->meanwhile));
  add_int(j, "attempts", k->meanwhile.attempts);
  add_doubts(b, j, k, c);
  add_int(j, "huge_page_bytes", k->huge_bytes);
  if (b->counters.open) add_counts(j, c);
  if (c->note && *c->note) add_text(j, "runs", c->note);
  if (c->ahead) add_bool(j, "packed_ahead", true);
  if (c->without) add_text(j, "without", c->without->name);
  add_int(j, "bytes_read", k->at.work.bytes_read);
  add_int(j, "bytes_written", k->at.work.bytes_written);
  const CeilingKind kind = c->ceiling ? c->ceiling->kind : NO_CEILING;
  const double ops = gflops(&k->at.work, kind, c->f.median),
               bytes = gbytes(&k->at.work, kind, c->f.median);
  if (ops > 0) add_number(j, "gflops", ops);
  if (bytes > 0) add_number(j, "gbytes_per_s", bytes);
  if (k->integer_ops > 0 && kind != FMA_CEILING && kind != BANDWIDTH_CEILING)
    add_number(j, "integer_gops", k->integer_ops / c->f.median * 1e-9);
  if (c->ceiling) add_bool(j, "is_ceiling", true);
  if (binding_ceiling(k)) add_text(j, "binding_ceiling", binding_ceiling(k)->name);
  add_shares(j, ratio_to(c, binding_ceiling(k)), best_seconds(b, k) / c->f.median);
  for (int i = 0; i < k->n_contenders; i++) {
    const Contender *base = &k->contenders[i];
    tirc_ratio r = ratio_to(c, base);
    if (base == c || !(r.value > 0)) continue;
    add_number(ratios, base->name, r.value);
    add_pair(intervals, base->name, r.low, r.high);
  }
  add_json(j, "ratio_to", ratios);
  add_json(j, "ratio_to_95", intervals);
  if (c->blocks) add_json(j, "blocks", json_object_get(c->blocks));
  return j;
}

static Json *mean(tirc_ratio r, Lowest lowest) {
  Json *j = json_object_new_object();
  add_number(j, "ratio", r.value);
  add_pair(j, "ratio_95", r.low, r.high);
  add_number(j, "lowest", lowest.ratio);
  add_text(j, "lowest_kernel", lowest.at->at.kernel);
  add_text(j, "lowest_setting", lowest.at->at.setting);
  return j;
}

/* "1": how many times as fast as on one thread. */
static void add_scaling(const Bench *b, Json *j, const char *kernel, int threads, int i) {
  Lowest lowest;
  char fewest[16];
  if (threads == fewest_threads(b)) return;
  tirc_ratio r = mean_scaling(b, kernel, threads, i, &lowest);
  if (!(r.value > 0)) return;
  Json *scaling = json_object_new_object();
  snprintf(fewest, sizeof fewest, "%d", fewest_threads(b));
  add_json(scaling, fewest, mean(r, lowest));
  add_json(j, "geomean_to_threads", scaling);
}

static void add_share_of_binding(const Bench *b, Json *j, const char *kernel, int threads, int i) {
  Lowest lowest;
  tirc_ratio r = mean_ratio(b, kernel, threads, i, BINDING, &lowest);
  add_shares(j, r, mean_best_share(b, kernel, threads, i));
}

static void add_summary(const Bench *b, Json *list, const char *kernel, int threads, int i) {
  const Case *k = &b->cases[0];
  Json *j = json_object_new_object(), *means = json_object_new_object();
  for (int base = 0; base < k->n_contenders; base++) {
    Lowest lowest;
    tirc_ratio r = mean_ratio(b, kernel, threads, i, base, &lowest);
    if (base != i && r.value > 0) add_json(means, k->contenders[base].name, mean(r, lowest));
  }
  add_text(j, "kernel", kernel ? kernel : "all");
  add_text(j, "contender", k->contenders[i].name);
  add_int(j, "threads", threads);
  add_share_of_binding(b, j, kernel, threads, i);
  add_json(j, "geomean_to", means);
  add_scaling(b, j, kernel, threads, i);
  json_object_array_add(list, j);
}

/* Not there in every run, whatever happens. */
static bool is_optional(const Contender *c) { return c->ahead || c->ceiling; }

static Json *summary(const Bench *b) {
  enum { MOST_KERNELS = 64 };
  const char *kernels[MOST_KERNELS];
  Json *list = json_object_new_array();
  int n = list_kernels(b, kernels, MOST_KERNELS);
  for (int t = 0; t < b->n_threads; t++)
    for (int kernel = -1; kernel < n; kernel++)
      for (int i = 0; b->n_measured > 0 && i < b->cases[0].n_contenders; i++)
        if (was_measured(b, NULL, 0, i) || !is_optional(&b->cases[0].contenders[i]))
          add_summary(b, list, kernel < 0 ? NULL : kernels[kernel], b->threads[t].threads, i);
  return list;
}

/* What --ablate could not do without, a line a rule. */
static Json *failures(const Bench *b) {
  Json *list = json_object_new_array();
  for (int i = 0; i < b->n_measured; i++)
    for (int c = 0; c < b->cases[i].n_contenders; c++) {
      const Contender *x = &b->cases[i].contenders[c];
      if (!x->f.message || !x->without) continue;
      Json *j = json_object_new_object();
      add_text(j, "kernel", b->cases[i].at.kernel);
      add_text(j, "setting", b->cases[i].at.setting);
      add_text(j, "without", x->without->name);
      add_text(j, "failure", x->f.message);
      json_object_array_add(list, j);
    }
  return list;
}

static Json *machine(const Bench *b) {
  Json *j = json_object_new_object(), *peaks = json_object_new_object();
  Json *rivals = json_object_new_object();
  const Profile *p = &b->profile;
  add_text(j, "cpu", p->cpu);
  add_int(j, "cores", p->cores);
  add_int(j, "l1_bytes", p->l1);
  add_int(j, "l2_bytes", p->l2);
  add_int(j, "l3_bytes", p->l3);
  add_number(j, "clock_first_hz", p->clock_first);
  add_number(j, "clock_low_hz", p->clock_low);
  add_number(j, "clock_high_hz", p->clock_high);
  add_text(j, "governor", p->governor);
  add_text(j, "transparent_huge_pages", p->huge_pages);
  for (int t = 0; t < b->n_threads; t++) {
    char *threads = tirc_format(memory, "%d", b->threads[t].threads);
    double best = best_rate(b, b->threads[t].threads);
    if (best > 0) add_number(peaks, threads, best * 1e-9);
  }
  add_json(j, "peak_gflops", peaks);
  if (ceiling_bits(b)) add_int(j, "ceiling_vector_bits", ceiling_bits(b));
  add_text(j, "target", b->target.name);
  add_text(j, "pages",
           "huge pages asked for (madvise) for arrays and workspaces of 256 KB and more");
  for (int i = 0; i < b->n_rivals; i++)
    add_text(rivals, b->rivals[i].rival->name, b->rivals[i].kernels);
  add_json(j, "rivals", rivals);
  if (b->how.counters) {
    char note[512];
    tirc_counters_describe(&b->counters, note, sizeof note, NULL);
    add_text(j, "counters_missing", note);
  }
  return j;
}

int write_figures(const Bench *b, const char *path) {
  Json *j = json_object_new_object(), *results = json_object_new_array();
  add_json(j, "machine", machine(b));
  add_bool(j, "complete", b->n_measured == b->n_cases && !was_interrupted());
  for (int i = 0; i < b->n_measured; i++)
    for (int c = 0; c < b->cases[i].n_contenders; c++)
      if (b->cases[i].contenders[c].f.median > 0)
        json_object_array_add(results, result(b, &b->cases[i], &b->cases[i].contenders[c]));
  add_json(j, "results", results);
  add_json(j, "summary", summary(b));
  if (b->how.ablate) add_json(j, "needed", failures(b));
  return write_json(path, j, false);
}
