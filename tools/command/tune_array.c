/* `tirc tune --array SPEC`: mappings onto an array of processing elements, best first, by what they
 * cost. `tirc run --array SPEC`: a program in the order of an array. */
#include "cost.h"

#include <string.h>

static int read_spec(const char *path, char **text) {
  size_t n = 0;
  const int status = read_text(path, text, &n);
  if (status == DONE && memchr(*text, 0, n)) return complain(NULL, "%s: is not text", path);
  return status;
}

static long long count_in(Json *j, const char *key) { return (long long)number_in(j, key); }

static Json *field(Json *j, const char *key) {
  Json *out = NULL;
  json_object_object_get_ex(j, key, &out);
  return out;
}

static void add_mapping(Table *t, Json *one, int place) {
  Json *cost = field(one, "cost");
  const char *call = strchr(text_in(one, "schedule"), '(');
  add_cell(t, "%d", place);
  add_cell(t, "%lld", count_in(one, "cycles"));
  add_cell(t, "%s", text_in(cost, "busy_binds"));
  add_cell(t, "%lld", count_in(cost, "busy"));
  add_cell(t, "%.6g", number_in(cost, "active_avg"));
  add_cell(t, "%lld", count_in(cost, "ingress_items"));
  add_cell(t, "%lld", count_in(cost, "egress_items"));
  add_cell(t, "%.2f", number_in(cost, "energy"));
  add_cell(t, "%.*s", call ? (int)strcspn(call, "\n") : 0, call ? call : "");
}

static int show_mappings(const TuneOptions *o, Json *j) {
  const char *const heads[] = {"",   "cycles", "limit",  "busy",        "PEs",
                               "in", "out",    "energy", "map_to_array"};
  Json *best = field(j, "best");
  const int n = (int)json_object_array_length(best);
  printf(
      "block %s: %lld mappings, %lld counted, %lld refused, %lld skipped because they would take "
      "longer\n",
      text_in(j, "block"), count_in(j, "mappings"), count_in(j, "tried"), count_in(j, "refused"),
      count_in(j, "left_out"));
  if (count_in(j, "untried"))
    printf("%lld were not counted, which use no more PEs: --trials N counts more\n",
           count_in(j, "untried"));
  if (!n) {
    fprintf(stderr, "no mapping is legal, or none can be counted\n");
    return NO;
  }
  Table t = {.columns = 9, .right = 0xFB};
  for (int i = 0; i < t.columns; i++) add_cell(&t, "%s", heads[i]);
  for (int i = 0; i < n; i++) add_mapping(&t, json_object_array_get_idx(best, (size_t)i), i + 1);
  put_table(stdout, &t);
  print_once(stdout, field(json_object_array_get_idx(best, 0), "cost"));
  if (!o->run.make.from.output) return DONE;
  const char *schedule = text_in(json_object_array_get_idx(best, 0), "schedule");
  return write_output(o->run.make.from.output, schedule, strlen(schedule));
}

int tune_array(const TuneOptions *o) {
  const List *args = &o->run.make.from.args;
  tirc_module *m = NULL;
  char *spec = NULL, *json = NULL;
  tirc_error *e = NULL;
  if (args->n != 1)
    return complain("tirc tune PROG --array SPEC", "mappings are searched for one program");
  int status = check_output(o->run.make.from.output);
  if (status == DONE) status = read_spec(o->array, &spec);
  if (status == DONE) status = load_program(&o->run.make.from, args->at[0], &m);
  if (status != DONE) return status;
  const tirc_spatial_options how = {.spec_name = o->array};
  if (tirc_module_spatial_search(m, NULL, spec, o->trials, &how, &json, &e)) {
    status = report(e);
  } else {
    Json *j = json_tokener_parse(json);
    status = j ? show_mappings(o, j) : complain(NULL, "memory is out");
    json_object_put(j);
  }
  tirc_string_free(json);
  tirc_module_free(m);
  return status;
}

int run_on_array(const RunOptions *o, const tirc_module *m, int n, const tirc_argument *args) {
  char *spec = NULL, *json = NULL;
  tirc_error *e = NULL;
  const int status = read_spec(o->array, &spec);
  if (status != DONE) return status;
  const tirc_spatial_options how = {.spec_name = o->array};
  if (tirc_module_spatial_run(m, NULL, spec, n, args, o->run.max_steps, &how, &json, &e))
    return report(e);
  Json *j = json_tokener_parse(json);
  if (!j) return complain("", "memory is out");
  printf("on the array: %lld instances in %lld stamps on %lld PEs, %lld items in and %lld out: "
         "the counts are those of tirc cost\n",
         count_in(j, "instances"), count_in(j, "time_stamps"), count_in(j, "pes_used"),
         count_in(j, "ingress_items"), count_in(j, "egress_items"));
  json_object_put(j);
  tirc_string_free(json);
  return DONE;
}
