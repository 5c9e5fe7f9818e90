/* What the products of logs would cost on systolic arrays: by line, by function, in all; several
 * logs, arrays, dataflows and sizes of items side by side. */
#include "cost.h"
#include "tools/results/chart.h"

#include <stdlib.h>
#include <string.h>

typedef struct Log {
  const CostOptions *o;
  const char *path, *text;
  size_t n;
} Log;

List words_of(const char *text, const char *usual) {
  List out = {0};
  for (const char *p = text ? text : usual; *p;) {
    const size_t n = strcspn(p, ",");
    add_to_list(&out, tirc_strndup(memory, p, n));
    p += n + (p[n] == ',');
  }
  return out;
}

static int cost_on(const Log *l, const char *spec, const char *dataflow, const char *bits,
                   Json **out) {
  char *text = NULL, *json = NULL;
  size_t n = 0;
  tirc_error *e = NULL;
  const int status = read_text(spec, &text, &n);
  if (status != DONE) return status;
  const tirc_spatial_options o = {.spec_name = spec,
                                  .item_bits = strcmp(bits, "own") ? atoll(bits) : TIRC_OWN_BITS};
  if (tirc_spatial_log_cost(l->text, l->n, l->path, text, dataflow, &o, &json, &e))
    return report(e);
  *out = json_tokener_parse(json);
  tirc_string_free(json);
  return *out ? DONE : complain(NULL, "memory is out");
}

/* --- one array -------------------------------------------------------------------------------- */

static long long count_in(Json *j, const char *key) { return (long long)number_in(j, key); }

static void add_sum(Table *t, const char *name, Json *x, double all) {
  add_cell(t, "%s", name);
  add_cell(t, "%lld", count_in(x, "products"));
  add_cell(t, "%lld", count_in(x, "macs"));
  add_cell(t, "%lld", count_in(x, "simulated_cycles"));
  add_cell(t, "%lld", count_in(x, "formula_cycles"));
  add_cell(t, "%.1f %%", 100 * number_in(x, "utilisation"));
  add_cell(t, "%lld", count_in(x, "reads"));
  add_cell(t, "%lld", count_in(x, "writes"));
  add_cell(t, "%lld", count_in(x, "latency"));
  add_cell(t, "%s", text_in(x, "binds"));
  add_cell(t, "%.2f", number_in(x, "energy"));
  add_cell(t, "%.1f %%", all > 0 ? 100 * number_in(x, "latency") / all : 0);
}

static const char *const sum_heads[] = {"function", "products", "operations", "cycles",
                                        "formula",  "in use",   "in",         "out",
                                        "latency",  "limit",    "energy",     "share"};
enum { SUM_COLUMNS = sizeof sum_heads / sizeof *sum_heads };

static Json *list_in(Json *j, const char *key) {
  Json *out = NULL;
  json_object_object_get_ex(j, key, &out);
  return out;
}

static void print_functions(const Log *l, Json *j) {
  Table t = {.style = l->o->csv ? CSV : ALIGNED, .columns = SUM_COLUMNS, .right = 0xFFE};
  Json *functions = list_in(j, "functions"), *all = list_in(j, "all");
  const size_t n = json_object_array_length(functions);
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += number_in(json_object_array_get_idx(functions, i), "latency");
  for (int i = 0; i < SUM_COLUMNS; i++) add_cell(&t, "%s", sum_heads[i]);
  for (size_t i = 0; i < n; i++) {
    Json *x = json_object_array_get_idx(functions, i);
    add_sum(&t, text_in(x, "function"), x, sum);
  }
  add_sum(&t, "all", all, number_in(all, "latency"));
  put_table(stdout, &t);
}

static void print_lines(const Log *l, Json *j) {
  const char *const heads[] = {"line",  "function", "batch",   "M",      "N",  "K",
                               "folds", "cycles",   "formula", "in use", "in", "out"};
  Table t = {.style = l->o->csv ? CSV : ALIGNED, .columns = 12, .right = 0xFFC};
  Json *all = list_in(j, "products");
  for (int i = 0; i < 12; i++) add_cell(&t, "%s", heads[i]);
  for (size_t i = 0; i < json_object_array_length(all); i++) {
    Json *x = json_object_array_get_idx(all, i), *folds = list_in(x, "folds");
    add_cell(&t, "%lld", count_in(x, "line"));
    add_cell(&t, "%s", text_in(x, "function"));
    add_cell(&t, "%lld", count_in(x, "batch"));
    add_cell(&t, "%lld", count_in(x, "M"));
    add_cell(&t, "%lld", count_in(x, "N"));
    add_cell(&t, "%lld", count_in(x, "K"));
    add_cell(&t, "%lldx%lld", (long long)json_object_get_int64(json_object_array_get_idx(folds, 0)),
             (long long)json_object_get_int64(json_object_array_get_idx(folds, 1)));
    add_cell(&t, "%lld", count_in(x, "simulated_cycles"));
    add_cell(&t, "%lld", count_in(x, "formula_cycles"));
    add_cell(&t, "%.1f %%", 100 * number_in(x, "utilisation"));
    add_cell(&t, "%lld", count_in(x, "reads_A") + count_in(x, "reads_B"));
    add_cell(&t, "%lld", count_in(x, "writes_C"));
  }
  put_table(stdout, &t);
}

static int plot_functions(const Log *l, Json *j) {
  Json *functions = list_in(j, "functions");
  const int n = (int)json_object_array_length(functions);
  const char **names = tirc_new_array(memory, const char *, n + 1);
  double *values = tirc_new_array(memory, double, n + 1);
  for (int i = 0; i < n; i++) {
    Json *x = json_object_array_get_idx(functions, (size_t)i);
    names[i] = text_in(x, "function");
    values[i] = number_in(x, "latency");
  }
  return plot_bars(l->o->plot, "cycles", n, names, values);
}

static int show_one(const Log *l, Json *j) {
  if (l->o->lines) {
    print_lines(l, j);
    putchar('\n');
  }
  print_functions(l, j);
  const long long prepared = count_in(j, "prepared");
  if (prepared && !l->o->csv)
    printf("not counted: %lld product%s of weights only, which run%s once, before all others\n",
           prepared, plural(prepared), prepared == 1 ? "s" : "");
  return l->o->plot ? plot_functions(l, j) : DONE;
}

/* --- several ---------------------------------------------------------------------------------- */

typedef struct Case {
  const char *log, *spec, *dataflow, *bits;
} Case;

typedef struct Compared {
  Table t;
  bool logs; /* several: also where each spends most, and what it took here */
  int n;
  const char **names;
  double *values;
} Compared;

/* Where most of the cycles go: "fused_matmul_add 41.0 %". */
static const char *largest_in(Json *j) {
  Json *functions = list_in(j, "functions"), *most = NULL;
  double sum = 0;
  for (size_t i = 0; i < json_object_array_length(functions); i++) {
    Json *x = json_object_array_get_idx(functions, i);
    sum += number_in(x, "latency");
    if (!most || number_in(x, "latency") > number_in(most, "latency")) most = x;
  }
  if (!most) return "-";
  return tirc_format(memory, "%s %.1f %%", text_in(most, "function"),
                     sum > 0 ? 100 * number_in(most, "latency") / sum : 0);
}

static void compare(Compared *k, const Case *of, Json *j) {
  Json *all = list_in(j, "all");
  const char *size = strcmp(of->bits, "0") ? of->bits : "";
  const double seconds = number_in(all, "seconds");
  if (k->logs) add_cell(&k->t, "%s", path_stem(of->log));
  add_cell(&k->t, "%s", path_stem(of->spec));
  add_cell(&k->t, "%s", of->dataflow);
  add_cell(&k->t, "%s", size);
  add_cell(&k->t, "%lld", count_in(all, "simulated_cycles"));
  add_cell(&k->t, "%lld", count_in(all, "formula_cycles"));
  add_cell(&k->t, "%.1f %%", 100 * number_in(all, "utilisation"));
  add_cell(&k->t, "%lld", count_in(all, "reads"));
  add_cell(&k->t, "%lld", count_in(all, "writes"));
  add_cell(&k->t, "%lld", count_in(all, "latency"));
  add_cell(&k->t, "%s", text_in(all, "binds"));
  add_cell(&k->t, "%.2f", number_in(all, "energy"));
  if (k->logs) add_cell(&k->t, "%s", largest_in(j));
  if (k->logs && seconds > 0) add_cell(&k->t, "%.3g ms", 1e3 * seconds);
  if (k->logs && !(seconds > 0)) add_cell(&k->t, "-");
  k->names[k->n] =
      tirc_format(memory, "%s%s%s %s%s%s", k->logs ? path_stem(of->log) : "", k->logs ? " " : "",
                  path_stem(of->spec), of->dataflow, *size ? " " : "", size);
  k->values[k->n++] = number_in(all, "latency");
}

static Compared begin_compared(const CostOptions *o, int n, bool logs) {
  const char *const heads[] = {"log", "array", "flow",    "bits",  "cycles", "formula", "in use",
                               "in",  "out",   "latency", "limit", "energy", "most in", "here"};
  enum { ALL = sizeof heads / sizeof *heads };
  const int first = logs ? 0 : 1, end = logs ? ALL : ALL - 2;
  Compared k = {.t = {.style = o->csv ? CSV : ALIGNED, .columns = end - first},
                .logs = logs,
                .names = tirc_new_array(memory, const char *, n),
                .values = tirc_new_array(memory, double, n)};
  for (int i = first; i < end; i++) {
    if (i > 2 && i != ALL - 2) k.t.right |= 1ull << (i - first);
    add_cell(&k.t, "%s", heads[i]);
  }
  return k;
}

void print_json(Json *j) {
  printf("%s\n", json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN |
                                                       JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* The log at hand on all arrays; `all`: in all, so many cases. */
static int each_case(const Log *l, int all, Compared *k) {
  const List flows = words_of(l->o->dataflow, "os"), bits = words_of(l->o->bits, "0");
  int status = DONE;
  for (int i = 0; i < l->o->array.n * flows.n * bits.n && status == DONE; i++) {
    const Case of = {l->path, l->o->array.at[i / (flows.n * bits.n)],
                     flows.at[i / bits.n % flows.n], bits.at[i % bits.n]};
    Json *j = NULL;
    status = cost_on(l, of.spec, of.dataflow, of.bits, &j);
    if (status != DONE) break;
    if (l->o->as_json)
      print_json(j);
    else if (all == 1)
      status = show_one(l, j);
    else
      compare(k, &of, j);
    json_object_put(j);
  }
  return status;
}

int cost_logs(const CostOptions *o) {
  const List *paths = &o->make.from.args;
  const int all = paths->n * o->array.n * words_of(o->dataflow, "os").n * words_of(o->bits, "0").n;
  int status = DONE;
  Compared k = begin_compared(o, all, paths->n > 1);
  for (int i = 0; i < paths->n && status == DONE; i++) {
    char *text = NULL;
    size_t n = 0;
    status = read_text(paths->at[i], &text, &n);
    if (status == DONE) status = each_case(&(Log){o, paths->at[i], text, n}, all, &k);
  }
  if (status != DONE || o->as_json || all == 1) return status;
  put_table(stdout, &k.t);
  return o->plot ? plot_bars(o->plot, "cycles", k.n, k.names, k.values) : DONE;
}
