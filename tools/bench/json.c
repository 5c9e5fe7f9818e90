/* The figures of a bench as JSON, for tables and plots. */
#include "bench.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct json_object Json;

static void add_number(Json *j, const char *key, double v) {
  json_object_object_add(j, key, json_number(v));
}
static void add_string(Json *j, const char *key, const char *v) {
  json_object_object_add(j, key, json_text(v));
}
static void add_int(Json *j, const char *key, int64_t v) {
  json_object_object_add(j, key, json_object_new_int64(v));
}
static void add_pair(Json *j, const char *key, double a, double b) {
  json_object_object_add(j, key, json_pair(a, b));
}

/* M, N, K, and whatever constants -D sets; integers as numbers. */
void add_setting(Json *j, const Case *k) {
  if (k->cost.m) {
    json_object_object_add(j, "M", json_object_new_int64(k->cost.m));
    json_object_object_add(j, "N", json_object_new_int64(k->cost.n));
    json_object_object_add(j, "K", json_object_new_int64(k->cost.k));
  }
  for (int i = 0; i < k->n_defines; i++) {
    char *end;
    long long v = strtoll(k->defines[i].value, &end, 10);
    if (json_object_object_get_ex(j, k->defines[i].name, NULL)) continue;
    if (*end)
      add_string(j, k->defines[i].name, k->defines[i].value);
    else
      json_object_object_add(j, k->defines[i].name, json_object_new_int64(v));
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
  json_object_object_add(j, "counters", counts);
}

/* What disturbed the case, and why a share is above 100 %. */
static void add_doubts(const Bench *b, Json *j, const Case *k, const Contender *c) {
  const char *names[N_DISTURBANCES];
  char text[160];
  Json *list = json_object_new_array();
  int n = list_disturbances(k, names);
  for (int i = 0; i < n; i++) json_object_array_add(list, json_text(names[i]));
  json_object_object_add(j, "disturbed", list);
  if (explain_excess(b, k, c, text, sizeof text)) add_string(j, "above_100_percent", text);
}

static Json *result(const Bench *b, const Case *k, const Contender *c) {
  Json *j = json_object_new_object(), *ratios = json_object_new_object();
  Json *intervals = json_object_new_object();
  const Work work = work_of(k);
  add_string(j, "kernel", k->kernel);
  add_string(j, "setting", k->setting);
  if (k->file) add_string(j, "program", k->file);
  add_setting(j, k);
  add_string(j, "contender", c->name);
  add_int(j, "threads", k->threads);
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
  if (c->note && *c->note) add_string(j, "runs", c->note);
  if (c->ahead) json_object_object_add(j, "packed_ahead", json_object_new_boolean(true));
  if (c->without) add_string(j, "without", c->without->name);
  add_int(j, "bytes_read", k->bytes_read);
  add_int(j, "bytes_written", k->bytes_written);
  const CeilingKind kind = c->ceiling ? c->ceiling->kind : NO_CEILING;
  const double ops = gflops(&work, kind, c->f.median), bytes = gbytes(&work, kind, c->f.median);
  if (ops > 0) add_number(j, "gflops", ops);
  if (bytes > 0) add_number(j, "gbytes_per_s", bytes);
  if (k->integer_ops > 0 && kind != FMA_CEILING && kind != BANDWIDTH_CEILING)
    add_number(j, "integer_gops", k->integer_ops / c->f.median * 1e-9);
  if (c->ceiling) json_object_object_add(j, "is_ceiling", json_object_new_boolean(true));
  if (binding_ceiling(k)) add_string(j, "binding_ceiling", binding_ceiling(k)->name);
  add_shares(j, ratio_to(c, binding_ceiling(k)), best_seconds(b, k) / c->f.median);
  for (int i = 0; i < k->n_contenders; i++) {
    const Contender *base = &k->contenders[i];
    tirc_ratio r = ratio_to(c, base);
    if (base == c || !(r.value > 0)) continue;
    add_number(ratios, base->name, r.value);
    add_pair(intervals, base->name, r.low, r.high);
  }
  json_object_object_add(j, "ratio_to", ratios);
  json_object_object_add(j, "ratio_to_95", intervals);
  return j;
}

static Json *mean(tirc_ratio r, Lowest lowest) {
  Json *j = json_object_new_object();
  add_number(j, "ratio", r.value);
  add_pair(j, "ratio_95", r.low, r.high);
  add_number(j, "lowest", lowest.ratio);
  add_string(j, "lowest_kernel", lowest.at->kernel);
  add_string(j, "lowest_setting", lowest.at->setting);
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
  json_object_object_add(scaling, fewest, mean(r, lowest));
  json_object_object_add(j, "geomean_to_threads", scaling);
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
    if (base != i && r.value > 0)
      json_object_object_add(means, k->contenders[base].name, mean(r, lowest));
  }
  add_string(j, "kernel", kernel ? kernel : "all");
  add_string(j, "contender", k->contenders[i].name);
  add_int(j, "threads", threads);
  add_share_of_binding(b, j, kernel, threads, i);
  json_object_object_add(j, "geomean_to", means);
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
      add_string(j, "kernel", b->cases[i].kernel);
      add_string(j, "setting", b->cases[i].setting);
      add_string(j, "without", x->without->name);
      add_string(j, "failure", x->f.message);
      json_object_array_add(list, j);
    }
  return list;
}

static Json *machine(const Bench *b) {
  Json *j = json_object_new_object(), *peaks = json_object_new_object();
  Json *rivals = json_object_new_object();
  const Profile *p = &b->profile;
  add_string(j, "cpu", p->cpu);
  add_int(j, "cores", p->cores);
  add_int(j, "l1_bytes", p->l1);
  add_int(j, "l2_bytes", p->l2);
  add_int(j, "l3_bytes", p->l3);
  add_number(j, "clock_first_hz", p->clock_first);
  add_number(j, "clock_low_hz", p->clock_low);
  add_number(j, "clock_high_hz", p->clock_high);
  add_string(j, "governor", p->governor);
  add_string(j, "transparent_huge_pages", p->huge_pages);
  for (int t = 0; t < b->n_threads; t++) {
    char threads[16];
    snprintf(threads, sizeof threads, "%d", b->threads[t].threads);
    double best = best_rate(b, b->threads[t].threads);
    if (best > 0) add_number(peaks, threads, best * 1e-9);
  }
  json_object_object_add(j, "peak_gflops", peaks);
  if (ceiling_bits(b)) add_int(j, "ceiling_vector_bits", ceiling_bits(b));
  add_string(j, "target", b->target.name);
  add_string(j, "pages",
             "huge pages asked for (madvise) for arrays and workspaces of 256 KB and more");
  for (int i = 0; i < b->n_rivals; i++)
    add_string(rivals, b->rivals[i].rival->name, b->rivals[i].kernels);
  json_object_object_add(j, "rivals", rivals);
  if (b->how.counters) {
    char note[512];
    tirc_counters_describe(&b->counters, note, sizeof note, NULL);
    add_string(j, "counters_missing", note);
  }
  return j;
}

int write_json(const Bench *b, const char *path) {
  Json *j = json_object_new_object(), *results = json_object_new_array();
  json_object_object_add(j, "machine", machine(b));
  json_object_object_add(
      j, "complete", json_object_new_boolean(b->n_measured == b->n_cases && !was_interrupted()));
  for (int i = 0; i < b->n_measured; i++)
    for (int c = 0; c < b->cases[i].n_contenders; c++)
      if (b->cases[i].contenders[c].f.median > 0)
        json_object_array_add(results, result(b, &b->cases[i], &b->cases[i].contenders[c]));
  json_object_object_add(j, "results", results);
  json_object_object_add(j, "summary", summary(b));
  if (b->how.ablate) json_object_object_add(j, "needed", failures(b));
  const char *text =
      json_object_to_json_string_ext(j, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
  int status = write_output(path, text, strlen(text));
  if (status == DONE && strcmp(path, "-") == 0) putchar('\n');
  json_object_put(j);
  return status;
}
