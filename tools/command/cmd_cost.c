/* `tirc cost`: what a program would cost on an array of processing elements, by its schedule; and
 * what a log of products would (cost_log.c). */
#include "cost.h"
#include "tools/kit/input.h"
#include "tools/results/chart.h"

#include <stdlib.h>
#include <string.h>

/* --- one program on one array ----------------------------------------------------------------- */

static int64_t int_in(Json *j, const char *key) {
  Json *v = NULL;
  return j && json_object_object_get_ex(j, key, &v) ? json_object_get_int64(v) : -1;
}

/* "-": only a count one by one knows it. */
static const char *known(int64_t v) {
  return v < 0 ? "-" : tirc_format(memory, "%lld", (long long)v);
}

static void add_tensor(Table *t, const char *name, Json *x) {
  add_cell(t, "%s", name);
  add_cell(t, "%s", known(int_in(x, "total")));
  add_cell(t, "%s", known(int_in(x, "unique")));
  add_cell(t, "%s", known(int_in(x, "distinct")));
  add_cell(t, "%.4g", number_in(x, "reuse_factor"));
  add_cell(t, "%.4g", number_in(x, "temporal_reuse"));
  add_cell(t, "%.4g", number_in(x, "spatial_reuse"));
  add_cell(t, "%s", known(int_in(x, "peak")));
}

static void print_tensors(Json *all) {
  const char *const heads[] = {"",      "accesses", "from outside", "items",
                               "reuse", "temporal", "spatial",      "at one time"};
  Table t = {.columns = 8, .right = 0xFE};
  for (int i = 0; i < t.columns; i++) add_cell(&t, "%s", heads[i]);
  json_object_object_foreach(all, name, x) add_tensor(&t, name, x);
  put_table(stdout, &t);
}

static void print_formulas(const CostOptions *o, Json *j) {
  Json *all = NULL;
  if (!json_object_object_get_ex(j, "formulas", &all)) {
    if (o->formulas)
      printf("formulas: none; no iterator is long enough, or the counts are not linear in the "
             "sizes\n");
    return;
  }
  Table t = {.columns = 2};
  add_cell(&t, "formula");
  add_cell(&t, "for %s", text_in(j, "formulas_hold"));
  json_object_object_foreach(all, name, x) {
    add_cell(&t, "%s", name);
    add_cell(&t, "%s", json_object_get_string(x));
  }
  putchar('\n');
  put_table(stdout, &t);
}

void print_once(FILE *out, Json *j) {
  Json *once = NULL;
  if (!json_object_object_get_ex(j, "one_to_one", &once))
    fputs("note: whether each instance runs only once is not proved\n", out);
  else if (!json_object_get_boolean(once))
    fprintf(out, "note: instances run more than once, and each run is counted: %s run the same\n",
            json_object_object_get_ex(j, "runs_twice", NULL) ? text_in(j, "runs_twice")
                                                             : "two iterations");
}

static void print_cost(Json *j, const CostOptions *o) {
  Json *tensors = NULL;
  json_object_object_get_ex(j, "tensors", &tensors);
  printf("block %s, links %s: %lld instances, %s\n", text_in(j, "block"), text_in(j, "links"),
         (long long)int_in(j, "instances"), text_in(j, "how"));
  if (tensors) print_tensors(tensors);
  printf(
      "time      %lld stamps, busy for %lld steps; at most %s instance%s on one PE at one stamp\n",
      (long long)int_in(j, "time_stamps"), (long long)int_in(j, "busy"),
      known(int_in(j, "ties_max")), plural(int_in(j, "ties_max")));
  printf("PEs       %lld used, %.6g at one time on average, %s at most\n",
         (long long)int_in(j, "pes_used"), number_in(j, "active_avg"),
         known(int_in(j, "active_max")));
  printf("cycles    %lld: compute %lld, in %lld, out %lld; limited by %s\n",
         (long long)int_in(j, "latency"), (long long)int_in(j, "compute_delay"),
         (long long)int_in(j, "ingress_delay"), (long long)int_in(j, "egress_delay"),
         text_in(j, "binds"));
  printf("          %lld if all PEs wait for the slowest one at each stamp; limited by %s\n",
         (long long)int_in(j, "busy_latency"), text_in(j, "busy_binds"));
  if (o->fill)
    printf("          %lld to compute if the array is filled and drained in each of %lld folds\n",
           (long long)int_in(j, "filled_and_drained"), (long long)int_in(j, "folds"));
  printf("traffic   %lld accesses in the PEs; %lld items come in from outside, %lld go out\n",
         (long long)int_in(j, "l1_reads"), (long long)int_in(j, "ingress_items"),
         (long long)int_in(j, "egress_items"));
  printf("energy    %.2f\n", number_in(j, "energy"));
  if (int_in(j, "not_counted") > 0)
    printf("not counted: %lld other nest%s of the function, which no loop binds to the array\n",
           (long long)int_in(j, "not_counted"), plural(int_in(j, "not_counted")));
  if (json_object_object_get_ex(j, "links_in_circle", NULL))
    printf("note: links without delay form a cycle; %s\n",
           o->allow_cycles ? "it is counted as it stands" : "no item goes round it here");
  print_once(stdout, j);
  print_formulas(o, j);
}

static int cost_of(const CostOptions *o, const tirc_module *m, const char *spec, int64_t bits,
                   Json **out) {
  char *text = NULL, *json = NULL;
  size_t n = 0;
  tirc_error *e = NULL;
  int status = read_text(spec, &text, &n);
  if (status != DONE) return status;
  if (memchr(text, 0, n)) return complain(NULL, "%s: is not text", spec);
  const tirc_spatial_options how = {.block = o->block,
                                    .spec_name = spec,
                                    .allow_cycles = o->allow_cycles,
                                    .formulas = o->formulas,
                                    .most = o->limit,
                                    .item_bits = bits};
  if (tirc_module_spatial_cost(m, NULL, text, &how, &json, &e)) return report(e);
  *out = json_tokener_parse(json);
  tirc_string_free(json);
  return *out ? DONE : complain(NULL, "memory is out");
}

/* Several arrays, or sizes of items, side by side. */
static void add_compared(Table *t, const char *spec, const char *bits, Json *j) {
  add_cell(t, "%s", path_stem(spec));
  if (bits) add_cell(t, "%s", bits);
  add_cell(t, "%lld", (long long)int_in(j, "time_stamps"));
  add_cell(t, "%lld", (long long)int_in(j, "busy"));
  add_cell(t, "%.6g", number_in(j, "active_avg"));
  add_cell(t, "%lld", (long long)int_in(j, "ingress_items"));
  add_cell(t, "%lld", (long long)int_in(j, "egress_items"));
  add_cell(t, "%lld", (long long)int_in(j, "busy_latency"));
  add_cell(t, "%s", text_in(j, "busy_binds"));
  add_cell(t, "%.2f", number_in(j, "energy"));
}

static Table compared_table(const CostOptions *o) {
  const char *const heads[] = {"array", "bits", "stamps", "busy",  "PEs",
                               "in",    "out",  "cycles", "limit", "energy"};
  Table t = {.style = o->csv ? CSV : ALIGNED, .columns = o->bits ? 10 : 9};
  for (int i = 0; i < 10; i++)
    if (i != 1 || o->bits) add_cell(&t, "%s", heads[i]);
  for (int i = 1; i < t.columns; i++) t.right |= 1ull << i;
  return t;
}

static int cost_program(CostOptions *o) {
  tirc_module *m = NULL;
  const List bits = words_of(o->bits, "0");
  const int all = o->array.n * bits.n;
  const bool compare = all > 1 || o->csv;
  Table t = compared_table(o);
  const char **names = tirc_new_array(memory, const char *, all);
  double *cycles = tirc_new_array(memory, double, all);
  int status = load_scheduled(&o->make, NULL, &m);
  for (int i = 0; i < all && status == DONE; i++) {
    const char *spec = o->array.at[i / bits.n], *size = bits.at[i % bits.n];
    Json *j = NULL;
    status = cost_of(o, m, spec, atoll(size), &j);
    if (status != DONE) break;
    names[i] =
        tirc_format(memory, "%s%s%s", path_stem(spec), o->bits ? " " : "", o->bits ? size : "");
    cycles[i] = number_in(j, "busy_latency");
    if (compare && !o->as_json && !i) print_once(stderr, j); /* the same of all arrays */
    if (o->as_json)
      print_json(j);
    else if (compare)
      add_compared(&t, spec, o->bits ? size : NULL, j);
    else
      print_cost(j, o);
    json_object_put(j);
  }
  if (status == DONE && compare && !o->as_json) put_table(stdout, &t);
  if (status == DONE && o->plot) status = plot_bars(o->plot, "cycles", all, names, cycles);
  tirc_module_free(m);
  return status;
}

/* --- the command ------------------------------------------------------------------------------ */

static bool is_count(const char *word) {
  char *end;
  const long long v = strtoll(word, &end, 10);
  return !*end && end > word && v >= 1 && v <= 4096;
}

static int check_options(const CostOptions *o, bool log) {
  const List bits = words_of(o->bits, "1");
  for (int i = 0; i < bits.n; i++)
    if (!is_count(bits.at[i]) && !(log && !strcmp(bits.at[i], "own")))
      return complain("--bits own, of a log, goes by the types of each product",
                      "--bits takes numbers from 1 to 4096, such as 8,16, not '%s'", bits.at[i]);
  if (!log && (o->dataflow || o->lines))
    return complain("tirc run MODEL --log-matmuls FILE writes one",
                    "--%s is for a log of products; a program's schedule says who does what",
                    o->dataflow ? "dataflow" : "lines");
  if (o->plot && o->as_json)
    return complain("one of the two at a time", "--json prints what --plot would draw");
  const int plotted = check_plot(o->plot);
  if (plotted != DONE) return plotted;
  if (log && (o->block || o->formulas || o->fill || o->allow_cycles || o->limit))
    return complain("SCALE-Sim's formulas are taken for a log: R steps fill and drain each fold",
                    "--%s is for a program with its schedule",
                    o->block      ? "block"
                    : o->formulas ? "formulas"
                    : o->fill     ? "fill-drain"
                    : o->limit    ? "limit"
                                  : "allow-cycles");
  return o->array.n ? DONE
                    : complain("--array FILE describes it; examples/arrays has a dozen",
                               "the cost is that on an array of processing elements");
}

static bool is_log(const char *path) {
  const size_t n = strlen(path);
  return n > 6 && !strcmp(path + n - 6, ".jsonl");
}

int cmd_cost(CostOptions *o) {
  const List *args = &o->make.from.args;
  const bool are_logs = is_log(args->at[0]);
  for (int i = 1; i < args->n; i++)
    if (is_log(args->at[i]) != are_logs)
      return complain("logs are compared with logs", "'%s' is %s, and '%s' is not",
                      args->at[!are_logs * i], "a log of products", args->at[are_logs * i]);
  if (!are_logs && args->n > 2)
    return complain("tirc cost PROG SCHED, or several logs",
                    "a program has one schedule, and '%s' is one more", args->at[2]);
  const int status = check_options(o, are_logs);
  if (status != DONE) return status;
  return are_logs ? cost_logs(o) : cost_program(o);
}
