/* `tirc shapes MODEL`: the functions that a model comes to, each once, as programs of a suite with
 * how often a run of the model calls each: for `tirc bench --suite`, `tirc tune --suite`, and the
 * suite() and estimate() of a study. */
#define _GNU_SOURCE
#include "command.h"
#include "tools/kit/json.h"
#include "tools/kit/model.h"
#include "tools/kit/table.h"
#include "tune_model.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The programs' folder stands beside the suite, and has its name without the ending. */
static char *folder_of(const char *suite) {
  const char *slash = strrchr(suite, '/'), *dot = strrchr(suite, '.');
  const bool ends = dot && dot != suite && (!slash || dot > slash + 1);
  return ends ? tirc_strndup(memory, suite, (size_t)(dot - suite))
              : tirc_format(memory, "%s.programs", suite);
}

static int write_function(const ModelTask *t, const char *folder) {
  char *text = NULL;
  tirc_error *e = NULL;
  if (tirc_module_print(t->module, &text, &e)) return report(e);
  const int status =
      write_output(tirc_format(memory, "%s/%s.tir", folder, t->name), text, strlen(text));
  tirc_string_free(text);
  return status;
}

static int write_suite_of(const ShapesOptions *o, const ModelTasks *t) {
  const char *suite = o->from.output, *slash;
  char *folder = folder_of(suite), *text = NULL;
  size_t n = 0;
  int status = DONE, width = 0;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return complain(NULL, "cannot make '%s': %s", folder, strerror(errno));
  for (int i = 0; i < t->n && status == DONE; i++) status = write_function(&t->at[i], folder);
  if (status != DONE) return status;
  FILE *to = begin_text(&text, &n);
  slash = strrchr(folder, '/');
  fprintf(to,
          "# The functions of a model, and how often a run calls each: tirc bench --suite THIS\n");
  for (int i = 0; i < t->n; i++)
    if ((int)strlen(t->at[i].name) > width) width = (int)strlen(t->at[i].name);
  for (int i = 0; i < t->n; i++)
    fprintf(to, "%-*s x%-4d %s/%s.tir\n", width, t->at[i].name, t->at[i].calls,
            slash ? slash + 1 : folder, t->at[i].name);
  (void)end_text(to, &text);
  status = write_output(suite, text, n);
  if (status == DONE) fprintf(stderr, "wrote %s and %s/\n", suite, folder);
  return status;
}

/* --- what there is ---------------------------------------------------------------------------- */

static double float_ops(const ModelTask *t) {
  tirc_cost cost = {0};
  return tirc_module_cost(t->module, NULL, &cost, NULL) == TIRC_OK ? cost.float_ops : 0;
}

static void print_functions(const ModelTasks *t) {
  static const char *const heads[] = {"function", "calls", "Mflop a call"};
  Table table = {.columns = 3, .right = 6};
  int calls = 0;
  for (int i = 0; i < 3; i++) add_cell(&table, "%s", heads[i]);
  for (int i = 0; i < t->n; i++) {
    add_cell(&table, "%s", t->at[i].name);
    add_cell(&table, "%d", t->at[i].calls);
    add_cell(&table, "%.4g", 1e-6 * float_ops(&t->at[i]));
    calls += t->at[i].calls;
  }
  put_table(stdout, &table);
  printf("%d function%s, %d call%s a run\n", t->n, plural(t->n), calls, plural(calls));
}

static int print_functions_json(const ModelTasks *t) {
  Json *all = json_object_new_object(), *list = json_object_new_array();
  for (int i = 0; i < t->n; i++) {
    Json *j = json_object_new_object();
    add_text(j, "kernel", t->at[i].name);
    add_int(j, "calls", t->at[i].calls);
    add_number(j, "float_ops", float_ops(&t->at[i]));
    add_text(j, "program_hash", t->at[i].hash);
    json_object_array_add(list, j);
  }
  add_json(all, "workloads", list);
  return write_json(NULL, all, false);
}

bool is_named_model(const char *path) {
  const char *dot = strrchr(path, '.');
  return is_onnx(path) || (dot && strcmp(dot, ".tir") == 0);
}

int shapes_of_model(const ShapesOptions *o) {
  const Making make = {.from = o->from};
  tirc_module *model = NULL;
  ModelTasks t = {0};
  if (o->from.args.n != 1)
    return complain("each with a suite of its own", "one model at a time, not %d", o->from.args.n);
  if (o->from.output && strcmp(o->from.output, "-") == 0)
    return complain("-o FILE",
                    "a suite of a model's functions needs a file, as they are put beside it");
  int status = load_program(&o->from, o->from.args.at[0], &model);
  if (status == DONE && !tirc_module_has_graph(model))
    status = complain("a file of ONNX, or a text with a graph (R.function)", "'%s' is no model",
                      o->from.args.at[0]);
  if (status == DONE) status = find_model_tasks(&make, model, &t);
  if (status == DONE && o->as_json)
    status = print_functions_json(&t);
  else if (status == DONE)
    print_functions(&t);
  if (status == DONE && o->from.output) status = write_suite_of(o, &t);
  free_model_tasks(&t);
  tirc_module_free(model);
  return status;
}
