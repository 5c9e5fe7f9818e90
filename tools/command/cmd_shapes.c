/* `tirc shapes`: the workloads of a checkpoint. The files give names and shapes of weights; what
 * they are used for, a script says (shapes.sch). */
#define _GNU_SOURCE
#include "checkpoint.h"
#include "command.h"
#include "ir/ascii.h"
#include "tools/bench/bench.h"
#include "tools/kit/input.h"
#include "tools/kit/json.h"
#include "tools/kit/table.h"
#include "tools/results/database.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char built_in_rules[] =
#include "shapes.inc"
    ;
static const char no_program[] = "@T.prim_func\ndef main():\n    T.evaluate(0)\n";
static const char usual_program[] = "matmul.tir";

/* What the rules made of the weights: [kernel, program, sizes, names], checked. */
typedef struct Found {
  const ShapesOptions *o;
  const char *rules; /* where they stand, for messages */
  tirc_schedule *s;
  Checkpoint weights;
  tirc_value list;
  int64_t n_used; /* weights in them */
} Found;

/* --- asking the rules ------------------------------------------------------------------------- */

/* [[name, [extents], dtype], ...] */
static tirc_status set_weights(Found *f, tirc_error **e) {
  const int n = f->weights.n;
  tirc_value *rows = tirc_alloc_array(memory, (size_t)n + 1, sizeof *rows);
  tirc_value(*cells)[3] = tirc_alloc_array(memory, (size_t)n + 1, sizeof *cells);
  tirc_value(*dims)[MOST_WEIGHT_DIMS] = tirc_alloc_array(memory, (size_t)n + 1, sizeof *dims);
  tirc_status status = TIRC_BAD;
  for (int i = 0; rows && cells && dims && i < n; i++) {
    const Weight *w = &f->weights.at[i];
    for (int d = 0; d < w->ndim; d++) dims[i][d] = tirc_integer(w->shape[d]);
    cells[i][0] = tirc_text(w->name);
    cells[i][1] = tirc_list_of(w->ndim, dims[i]);
    cells[i][2] = tirc_text(w->dtype);
    rows[i] = tirc_list_of(3, cells[i]);
  }
  if (rows && cells && dims) {
    const tirc_value all = tirc_list_of(n, rows);
    status = tirc_schedule_set(f->s, "weights", &all, e);
  }
  return status;
}

/* The rules and a last line that asks them. A script that is one function and nothing else would be
 * called with the schedule. */
static char *question(const char *rules) {
  return tirc_format(memory, "%s\nfound = list(workloads(weights))\n", rules);
}

/* The script runs without a program; nothing of it is scheduled. */
static int ask_text(Found *f, const char *text) {
  const tirc_schedule_options options = {.max_steps = f->o->from.script_steps,
                                         .print = print_aside};
  const tirc_value found = tirc_script("found"), none = tirc_list_of(0, NULL);
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  const bool asked = !tirc_module_parse(no_program, strlen(no_program), "", 0, NULL, &m, &e) &&
                     !tirc_schedule_new(m, &options, &f->s, &e) && !set_weights(f, &e) &&
                     !tirc_schedule_run(f->s, text, strlen(text), f->rules, &e) &&
                     !tirc_schedule_operator(f->s, "+", &found, &none, &f->list, &e);
  tirc_module_free(m);
  if (asked) return DONE;
  report(e);
  return BAD;
}

static int ask_rules(Found *f) {
  char *rules = NULL;
  size_t n = 0;
  int status = f->o->uses ? read_text(f->o->uses, &rules, &n) : DONE;
  if (status == DONE && rules && memchr(rules, 0, n))
    status = complain(NULL, "cannot read '%s': %s", f->o->uses, read_fault(EILSEQ));
  if (status != DONE) return status;
  return ask_text(f, question(rules ? rules : built_in_rules));
}

/* --- checking what they say ------------------------------------------------------------------- */

/* What a suite can have as one word. */
static bool is_word(const tirc_value *v) {
  if (v->kind != TIRC_KIND_STR || !*v->u.s) return false;
  for (const char *p = v->u.s; *p; p++)
    if (!tirc_is_letter_or_digit(*p) && !strchr("_-./+", *p)) return false;
  return true;
}

static bool is_list(const tirc_value *v) {
  return v->kind == TIRC_KIND_LIST || v->kind == TIRC_KIND_TUPLE;
}

static bool is_sizes(const tirc_value *v) {
  if (v->kind != TIRC_KIND_DICT || v->n < 2) return false;
  for (int64_t i = 0; i + 1 < v->n; i += 2) {
    const tirc_value *values = &v->u.items[i + 1];
    if (!is_word(&v->u.items[i])) return false;
    if (values->kind == TIRC_KIND_INT) continue;
    if (!is_list(values) || values->n == 0) return false;
    for (int64_t k = 0; k < values->n; k++)
      if (values->u.items[k].kind != TIRC_KIND_INT) return false;
  }
  return true;
}

static bool is_names(const tirc_value *v) {
  if (!is_list(v) || v->n == 0) return false;
  for (int64_t i = 0; i < v->n; i++)
    if (v->u.items[i].kind != TIRC_KIND_STR) return false;
  return true;
}

static int check_workloads(Found *f) {
  for (int64_t i = 0; i < f->list.n; i++) {
    const tirc_value *w = &f->list.u.items[i];
    if (!is_list(w) || w->n != 4 || !is_word(&w->u.items[0]) || !is_word(&w->u.items[1]) ||
        !is_sizes(&w->u.items[2]) || !is_names(&w->u.items[3]))
      return complain(
          "such as [\"qkv\", \"matmul.tir\", {\"M\": [16, 32], \"K\": 768, \"N\": 768}, "
          "names]; `tirc shapes --show-uses` prints the built-in script",
          "%s: workload %lld is not [kernel, program, sizes, names of weights]", f->rules,
          (long long)i + 1);
    f->n_used += w->u.items[3].n;
  }
  if (f->list.n) return DONE;
  if (!f->weights.n) return complain(NULL, "%s: there are no weights", f->o->from.args.at[0]);
  return complain("weights are known by the ends of their names: `tirc shapes --show-uses` prints "
                  "the rules, --uses FILE takes your own",
                  "none of the %d weights, such as '%s', is of a product or a convolution that is "
                  "known to %s",
                  f->weights.n, f->weights.at[0].name, f->rules);
}

/* --- a suite ---------------------------------------------------------------------------------- */

static const char *part(const Found *f, int64_t i, int k) {
  return f->list.u.items[i].u.items[k].u.s;
}

/* M=16,32 K=768 N=768 */
static void put_sizes(FILE *to, const tirc_value *sizes) {
  for (int64_t i = 0; i + 1 < sizes->n; i += 2) {
    const tirc_value *v = &sizes->u.items[i + 1];
    fprintf(to, "%s%s=", i ? " " : "", sizes->u.items[i].u.s);
    for (int64_t k = 0; is_list(v) && k < v->n; k++)
      fprintf(to, "%s%lld", k ? "," : "", (long long)v->u.items[k].u.i);
    if (!is_list(v)) fprintf(to, "%lld", (long long)v->u.i);
  }
}

static char *sizes_text(const tirc_value *sizes) {
  char *text = NULL;
  size_t n = 0;
  FILE *f = begin_text(&text, &n);
  put_sizes(f, sizes);
  return end_text(f, &text);
}

static bool is_of_products(const Found *f) {
  for (int64_t i = 0; i < f->list.n; i++)
    if (strcmp(part(f, i, 1), usual_program) != 0) return false;
  return true;
}

static void put_suite(FILE *to, const Found *f) {
  const List *args = &f->o->from.args;
  const bool products = is_of_products(f);
  fputs("# Workloads of ", to);
  for (int i = 0; i < args->n; i++) {
    fputs(i ? ", " : "", to);
    const char *file = args->at[i];
    for (const char *p = strcmp(file, "-") ? file : "standard input"; *p; p++)
      fputc((unsigned char)*p < ' ' ? '?' : *p, to);
  }
  fprintf(to, ": %s\n",
          products ? "tirc bench matmul.tir --auto --suite THIS" : "tirc bench --suite THIS");
  for (int64_t i = 0; i < f->list.n; i++) {
    fprintf(to, "%-20s ", part(f, i, 0));
    if (!products) fprintf(to, "%-14s ", part(f, i, 1));
    put_sizes(to, &f->list.u.items[i].u.items[2]);
    fputc('\n', to);
  }
}

/* A suite finds its programs in its folder; those that the command has are put there, unless
 * something of the name is there already. */
static int write_programs(const Found *f) {
  const char *suite = f->o->from.output, *slash = strrchr(suite, '/');
  int status = DONE;
  for (int64_t i = 0; i < f->list.n && status == DONE; i++) {
    const char *name = part(f, i, 1), *text = known_program(name);
    if (!text) continue;
    char *path = tirc_format(memory, "%.*s%s", slash ? (int)(slash - suite) + 1 : 0, suite, name);
    if (access(path, F_OK) != 0) {
      status = write_output(path, text, strlen(text));
      if (status == DONE) fprintf(stderr, "wrote %s\n", path);
    }
  }
  return status;
}

static int write_suite_file(const Found *f) {
  char *text = NULL;
  size_t n = 0;
  FILE *to = begin_text(&text, &n);
  put_suite(to, f);
  (void)end_text(to, &text);
  int status = write_output(f->o->from.output, text, n);
  if (status == DONE && strcmp(f->o->from.output, "-") != 0 && !is_of_products(f))
    status = write_programs(f);
  return status;
}

/* --- tables ----------------------------------------------------------------------------------- */

static Json *json_sizes(const tirc_value *sizes) {
  Json *out = json_object_new_object();
  for (int64_t i = 0; i + 1 < sizes->n; i += 2) {
    const tirc_value *v = &sizes->u.items[i + 1];
    Json *values = is_list(v) ? json_object_new_array() : json_object_new_int64(v->u.i);
    for (int64_t k = 0; is_list(v) && k < v->n; k++)
      json_object_array_add(values, json_object_new_int64(v->u.items[k].u.i));
    add_json(out, sizes->u.items[i].u.s, values);
  }
  return out;
}

static Json *json_weights(const Found *f) {
  Json *list = json_object_new_array();
  for (int i = 0; i < f->weights.n; i++) {
    const Weight *w = &f->weights.at[i];
    Json *j = json_object_new_object(), *shape = json_object_new_array();
    for (int d = 0; d < w->ndim; d++)
      json_object_array_add(shape, json_object_new_int64(w->shape[d]));
    add_text(j, "name", w->name);
    add_text(j, "dtype", w->dtype);
    add_json(j, "shape", shape);
    json_object_array_add(list, j);
  }
  return list;
}

static const char *type_of(const Found *f, const char *name) {
  for (int i = 0; i < f->weights.n; i++)
    if (strcmp(f->weights.at[i].name, name) == 0) return f->weights.at[i].dtype;
  return "?"; /* a name that the rules made up */
}

/* The types of a workload's weights, each once, in the file's words: "F32", "F16, F32". */
static char *types_of(const Found *f, const tirc_value *names) {
  char *text = NULL;
  size_t n = 0;
  FILE *to = begin_text(&text, &n);
  for (int64_t i = 0; i < names->n; i++) {
    const char *type = type_of(f, names->u.items[i].u.s);
    int64_t k = 0;
    while (k < i && strcmp(type_of(f, names->u.items[k].u.s), type) != 0) k++;
    if (k == i) fprintf(to, "%s%s", i ? ", " : "", type);
  }
  return end_text(to, &text);
}

static int print_json(const Found *f) {
  Json *all = json_object_new_object(), *list = json_object_new_array();
  for (int64_t i = 0; i < f->list.n; i++) {
    const tirc_value *w = f->list.u.items[i].u.items;
    Json *j = json_object_new_object(), *names = json_object_new_array();
    for (int64_t k = 0; k < w[3].n; k++)
      json_object_array_add(names, json_text(w[3].u.items[k].u.s));
    add_text(j, "kernel", w[0].u.s);
    add_text(j, "program", w[1].u.s);
    add_json(j, "sizes", json_sizes(&w[2]));
    add_json(j, "weights", names);
    char *types = types_of(f, &w[3]);
    add_text(j, "dtype", types ? types : "");
    json_object_array_add(list, j);
  }
  add_json(all, "workloads", list);
  add_json(all, "weights", json_weights(f));
  return write_json(NULL, all, false);
}

static void print_table(const Found *f) {
  Table t = {.columns = 6, .right = 1u << 3};
  const char *const heads[] = {"kernel", "program", "sizes", "weights", "such as", "type"};
  for (int i = 0; i < t.columns; i++) add_cell(&t, "%s", heads[i]);
  for (int64_t i = 0; i < f->list.n; i++) {
    const tirc_value *w = f->list.u.items[i].u.items;
    char *sizes = sizes_text(&w[2]), *types = types_of(f, &w[3]);
    add_cell(&t, "%s", w[0].u.s);
    add_cell(&t, "%s", w[1].u.s);
    add_cell(&t, "%s", sizes ? sizes : "");
    add_cell(&t, "%lld", (long long)w[3].n);
    add_cell(&t, "%s", w[3].u.items[0].u.s);
    add_cell(&t, "%s", types ? types : "");
  }
  put_table(stdout, &t);
  printf("%lld workload%s from %lld of %d weights\n", (long long)f->list.n, plural(f->list.n),
         (long long)f->n_used, f->weights.n);
}

/* --- the command ------------------------------------------------------------------------------ */

int cmd_shapes(ShapesOptions *o) {
  const List *args = &o->from.args;
  Found f = {.o = o, .rules = o->uses ? o->uses : "shapes.sch"};
  int status = DONE;
  if (o->show_uses) {
    fputs(built_in_rules, stdout);
    return DONE;
  }
  if (!args->n) return complain(NULL, "usage: tirc shapes FILE... [-o SUITE]");
  if (o->as_json && o->from.output && strcmp(o->from.output, "-") == 0)
    return complain("-o FILE writes it elsewhere", "--json and -o - both take standard output");
  if (is_named_model(args->at[0])) return shapes_of_model(o);
  for (int i = 0; i < args->n && status == DONE; i++)
    status = read_checkpoint(args->at[i], &f.weights);
  if (status == DONE) status = check_names(&f.weights);
  if (status == DONE) status = ask_rules(&f);
  if (status == DONE) status = check_workloads(&f);
  const bool suite_only = o->from.output && strcmp(o->from.output, "-") == 0;
  if (status == DONE && o->as_json)
    status = print_json(&f);
  else if (status == DONE && !suite_only)
    print_table(&f);
  if (status == DONE && o->from.output) status = write_suite_file(&f);
  tirc_schedule_free(f.s);
  return status;
}
