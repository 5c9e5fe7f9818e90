/* The figures of a bench as JSON, for tables and plots. */
#include "bench.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

typedef struct json_object Json;

static void add_number(Json *j, const char *key, double v) {
  json_object_object_add(j, key, json_object_new_double(v));
}
static void add_string(Json *j, const char *key, const char *v) {
  json_object_object_add(j, key, json_object_new_string(v));
}
static void add_mean(Json *j, const char *key, double v) {
  json_object_object_add(j, key, v > 0 ? json_object_new_double(v) : NULL);
}

/* M, N, K, and whatever constants -D sets; integers as numbers. */
static void add_setting(Json *j, const Case *k) {
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

static Json *result(const Bench *b, const Case *k, const Contender *c) {
  Json *j = json_object_new_object(), *ratios = json_object_new_object();
  add_string(j, "kernel", k->kernel);
  add_setting(j, k);
  add_string(j, "contender", c->name);
  json_object_object_add(j, "threads", json_object_new_int(b->threads));
  add_number(j, "median_s", c->median);
  add_number(j, "min_s", c->min);
  add_number(j, "spread", c->spread);
  json_object_object_add(j, "repetitions", json_object_new_int(c->n_times));
  add_number(j, "gflops", c->gflops);
  if (b->peak > 0) add_number(j, "percent_of_peak", c->percent);
  const Contender *bases[] = {find_first(k), find_library(k)};
  for (int i = 0; i < 2; i++)
    if (bases[i] && bases[i] != c) add_number(ratios, bases[i]->name, ratio_to(c, bases[i]));
  json_object_object_add(j, "ratio_to", ratios);
  return j;
}

static Json *summary(const Bench *b) {
  Json *list = json_object_new_array();
  const Case *k = &b->cases[0];
  const char *kernels[] = {"all", k->kernel};
  for (int kernel = 0; kernel < 2; kernel++)
    for (int i = 0; i < k->n_contenders; i++) {
      if (geometric_mean(b, i, MEAN_VS_FIRST) <= 0 && geometric_mean(b, i, MEAN_PERCENT) <= 0)
        continue;
      Json *j = json_object_new_object();
      add_string(j, "kernel", kernels[kernel]);
      add_string(j, "contender", k->contenders[i].name);
      json_object_object_add(j, "threads", json_object_new_int(b->threads));
      add_mean(j, "geomean_vs_openblas", geometric_mean(b, i, MEAN_VS_LIBRARY));
      add_mean(j, "geomean_vs_first", geometric_mean(b, i, MEAN_VS_FIRST));
      add_mean(j, "percent_of_peak", geometric_mean(b, i, MEAN_PERCENT));
      json_object_array_add(list, j);
    }
  return list;
}

int write_json(const Bench *b, const char *path) {
  Json *j = json_object_new_object(), *machine = json_object_new_object();
  Json *results = json_object_new_array();
  add_string(machine, "cpu", b->machine);
  json_object_object_add(machine, "threads", json_object_new_int(b->threads));
  if (b->peak > 0) add_number(machine, "peak_gflops", b->peak * 1e-9);
  add_string(machine, "target", b->o->target ? b->o->target : "haswell");
  add_string(machine, "pages", "huge pages asked for (madvise) for arrays of 2 MB and more");
  if (b->library) add_string(machine, "openblas", b->core);
  json_object_object_add(j, "machine", machine);
  for (int i = 0; i < b->n_cases; i++)
    for (int c = 0; c < b->cases[i].n_contenders; c++)
      if (b->cases[i].contenders[c].median > 0)
        json_object_array_add(results, result(b, &b->cases[i], &b->cases[i].contenders[c]));
  json_object_object_add(j, "results", results);
  json_object_object_add(j, "summary", summary(b));
  const char *text =
      json_object_to_json_string_ext(j, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
  int status = write_output(b->o, path, text, strlen(text));
  json_object_put(j);
  return status;
}
