/* What the products of a log would cost on systolic arrays: by line, by function, in all; several
 * arrays, dataflows and sizes of items side by side. */
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
  const tirc_spatial_options o = {.spec_name = spec, .item_bits = atoll(bits)};
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
                                        "latency",  "binds",    "energy",     "share"};
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
    printf("%lld product%s of weights alone, which run once before, %s not counted\n", prepared,
           plural(prepared), prepared == 1 ? "is" : "are");
  return l->o->plot ? plot_functions(l, j) : DONE;
}

/* --- several ---------------------------------------------------------------------------------- */

typedef struct Compared {
  Table t;
  int n;
  const char **names;
  double *values;
} Compared;

static void compare(Compared *k, const char *spec, const char *dataflow, const char *bits,
                    Json *j) {
  Json *all = list_in(j, "all");
  add_cell(&k->t, "%s", path_stem(spec));
  add_cell(&k->t, "%s", dataflow);
  add_cell(&k->t, "%s", strcmp(bits, "0") ? bits : "");
  add_cell(&k->t, "%lld", count_in(all, "simulated_cycles"));
  add_cell(&k->t, "%lld", count_in(all, "formula_cycles"));
  add_cell(&k->t, "%.1f %%", 100 * number_in(all, "utilisation"));
  add_cell(&k->t, "%lld", count_in(all, "reads"));
  add_cell(&k->t, "%lld", count_in(all, "writes"));
  add_cell(&k->t, "%lld", count_in(all, "latency"));
  add_cell(&k->t, "%s", text_in(all, "binds"));
  add_cell(&k->t, "%.2f", number_in(all, "energy"));
  k->names[k->n] = tirc_format(memory, "%s %s%s%s", path_stem(spec), dataflow,
                               strcmp(bits, "0") ? " " : "", strcmp(bits, "0") ? bits : "");
  k->values[k->n++] = number_in(all, "latency");
}

static Compared begin_compared(const Log *l, int n) {
  const char *const heads[] = {"array", "flow", "bits",    "cycles", "formula", "in use",
                               "in",    "out",  "latency", "binds",  "energy"};
  Compared k = {.t = {.style = l->o->csv ? CSV : ALIGNED, .columns = 11, .right = 0x7FC},
                .names = tirc_new_array(memory, const char *, n),
                .values = tirc_new_array(memory, double, n)};
  for (int i = 0; i < 11; i++) add_cell(&k.t, "%s", heads[i]);
  return k;
}

int cost_log(const CostOptions *o, const char *path, const char *text, size_t n) {
  const Log l = {o, path, text, n};
  const List flows = words_of(o->dataflow, "os"), bits = words_of(o->bits, "0");
  const int all = o->array.n * flows.n * bits.n;
  int status = check_plot(o->plot);
  if (status == DONE && o->plot && o->as_json)
    status = complain("one of the two at a time", "--json prints what --plot would draw");
  if (status != DONE) return status;
  Compared k = begin_compared(&l, all);
  for (int i = 0; i < all && status == DONE; i++) {
    const char *spec = o->array.at[i / (flows.n * bits.n)], *size = bits.at[i % bits.n];
    const char *flow = flows.at[i / bits.n % flows.n];
    Json *j = NULL;
    status = cost_on(&l, spec, flow, size, &j);
    if (status != DONE) break;
    if (o->as_json)
      printf("%s\n", json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN |
                                                           JSON_C_TO_STRING_NOSLASHESCAPE));
    else if (all == 1)
      status = show_one(&l, j);
    else
      compare(&k, spec, flow, size, j);
    json_object_put(j);
  }
  if (status != DONE || o->as_json || all == 1) return status;
  put_table(stdout, &k.t);
  return o->plot ? plot_bars(o->plot, "cycles", k.n, k.names, k.values) : DONE;
}
