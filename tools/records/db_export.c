/* `tirc db export`: tuning records of the reference beside their programs, or one CSV table. */
#include "db.h"
#include "tools/kit/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Json *target_of(const tirc_db_task *k, const tirc_db_trial *t) {
  Json *more = t->more ? json_tokener_parse(t->more) : NULL, *target = NULL;
  if (json_object_object_get_ex(more, "target", &target))
    json_object_get(target);
  else {
    Json *keys = json_object_new_array();
    json_object_array_add(keys, json_object_new_string("cpu"));
    target = json_object_new_object();
    add_json(target, "keys", keys);
    add_json(target, "kind", json_object_new_string("llvm"));
    add_json(target, "mcpu", json_object_new_string(k->target));
    add_int(target, "num-cores", k->threads);
    add_json(target, "tag", json_object_new_string(""));
  }
  json_object_put(more);
  return target;
}

static Json *arguments_of(const tirc_module *m) {
  Json *list = json_object_new_array();
  const tirc_param *p;
  int n = 0;
  if (tirc_module_params(m, NULL, &n, &p, NULL) != TIRC_OK) n = 0;
  for (int i = 0; i < n; i++) {
    Json *one = json_object_new_array(), *shape = json_object_new_array();
    if (!p[i].is_array) {
      json_object_put(one);
      json_object_put(shape);
      continue;
    }
    for (int d = 0; d < p[i].ndim; d++)
      json_object_array_add(shape, json_object_new_int64(p[i].shape[d]));
    json_object_array_add(one, json_object_new_string("TENSOR"));
    json_object_array_add(one, json_object_new_string(p[i].dtype));
    json_object_array_add(one, shape);
    json_object_array_add(list, one);
  }
  return list;
}

Json *tuning_record(int workload, const tirc_db_task *task, const tirc_module *m,
                    const tirc_db_trial *t) {
  Json *record = json_object_new_array(), *inner = json_object_new_array();
  json_object_array_add(inner, json_tokener_parse(t->trace));
  json_object_array_add(inner, json_numbers(t->n_samples, t->samples));
  json_object_array_add(inner, target_of(task, t));
  json_object_array_add(inner, arguments_of(m));
  json_object_array_add(record, json_object_new_int(workload));
  json_object_array_add(record, inner);
  return record;
}

/* --- records in a folder ---------------------------------------------------------------------- */

typedef struct Records {
  const DbOptions *o;
  const char *path;
  FILE *to;
  int workload, written;
  const tirc_db_task *task;
  tirc_module *module;
} Records;

static bool put_record(void *self, const tirc_db_trial *t) {
  Records *r = self;
  if (t->state != TIRC_DB_DONE || t->code || !t->n_samples) return true;
  fprintf(r->to, "%s\n", json_string(tuning_record(r->workload, r->task, r->module, t), false));
  r->written++;
  return true;
}

/* The programs are numbered in the order of their first task. */
static int number_of(const Tasks *tasks, int i, bool *is_new) {
  int n = 0;
  for (int k = 0; k <= i; k++) {
    int first = 0;
    while (strcmp(tasks->at[first].workload, tasks->at[k].workload) != 0) first++;
    if (strcmp(tasks->at[k].workload, tasks->at[i].workload) == 0) {
      *is_new = first == i;
      return n;
    }
    n += first == k;
  }
  return n;
}

static bool has_text(const char *path, const char *text) {
  FILE *f = fopen(path, "rb");
  bool same = f != NULL;
  for (const char *p = text; same && *p; p++) same = fgetc(f) == (unsigned char)*p;
  same = same && fgetc(f) == EOF;
  if (f) fclose(f);
  return same;
}

static int put_program(const Records *r, const char *folder, const char *text) {
  char *path = tirc_format(memory, "%s/%d.tir", folder, r->workload);
  if (has_text(path, text)) return DONE;
  unlink(r->path); /* records of an earlier export, of programs with other numbers */
  return write_output(path, text, strlen(text));
}

static int export_task(Records *r, tirc_db *db, const char *folder, const Tasks *tasks, int i) {
  bool is_new = false;
  tirc_error *e = NULL;
  int status = DONE;
  r->task = &tasks->at[i];
  r->workload = number_of(tasks, i, &is_new);
  if (is_new) status = put_program(r, folder, r->task->program);
  if (status == DONE && tirc_module_parse(r->task->program, strlen(r->task->program), r->path, 0,
                                          NULL, &r->module, &e))
    status = report(e);
  if (status == DONE && tirc_db_trials(db, r->task->id, 0, put_record, r, &e)) status = report(e);
  tirc_module_free(r->module);
  r->module = NULL;
  return status;
}

/* errno says why. */
static int cannot_write(const char *path, NewFile *to) {
  const int status =
      complain(NULL, "cannot write '%s': %s", path ? path : "standard output", strerror(errno));
  drop_file(to);
  return status;
}

static int export_folder(const DbOptions *o, tirc_db *db, const char *folder, const Tasks *tasks) {
  char *path = tirc_format(memory, "%s/records.json", folder);
  Records r = {.o = o, .path = path};
  if (mkdir(folder, 0777) && errno != EEXIST)
    return complain(NULL, "cannot make the folder '%s': %s", folder, strerror(errno));
  NewFile to = begin_file(path);
  if (!to.f) return cannot_write(path, &to);
  int status = DONE;
  r.to = to.f;
  for (int i = 0; i < tasks->n && status == DONE; i++)
    status = export_task(&r, db, folder, tasks, i);
  if (status != DONE)
    drop_file(&to);
  else if (!end_file(&to))
    status = cannot_write(path, &to);
  if (status == DONE)
    printf("%s: %d record%s of %d task%s\n", path, r.written, plural(r.written), tasks->n,
           plural(tasks->n));
  return status;
}

/* --- CSV -------------------------------------------------------------------------------------- */

typedef struct Csv {
  FILE *to;
  const tirc_db_task *task;
} Csv;

static void put_number(FILE *to, const char *format, double v) {
  char text[40];
  snprintf(text, sizeof text, format, v);
  put_csv_cell(to, false, isnan(v) ? NULL : text);
}

static bool put_csv(void *self, const tirc_db_trial *t) {
  static const char *const states[] = {"done", "queued", "running"};
  const Csv *c = self;
  put_csv_cell(c->to, true, t->id);
  put_csv_cell(c->to, false, c->task->name);
  put_csv_cell(c->to, false, c->task->hash);
  put_csv_cell(c->to, false, c->task->target);
  put_number(c->to, "%.0f", c->task->threads);
  put_csv_cell(c->to, false, c->task->machine->profile);
  put_csv_cell(c->to, false, states[t->state]);
  put_csv_cell(c->to, false, t->code);
  put_csv_cell(c->to, false, t->message);
  put_number(c->to, "%.9g", t->seconds);
  put_csv_cell(c->to, false, NULL);
  for (int i = 0; i < t->n_samples; i++) fprintf(c->to, "%s%.17g", i ? " " : "", t->samples[i]);
  put_number(c->to, "%.9g", t->predicted);
  put_csv_cell(c->to, false, t->source);
  put_number(c->to, "%.3f", t->finished);
  put_csv_cell(c->to, false, t->trace);
  fputc('\n', c->to);
  return true;
}

static int export_csv(tirc_db *db, const char *path, const Tasks *tasks) {
  NewFile to = begin_file(path);
  Csv c = {.to = to.f};
  int status = DONE;
  if (!c.to) return cannot_write(path, &to);
  fputs("trial,program,hash,target,threads,machine,state,code,message,seconds,samples,predicted,"
        "source,finished,trace\n",
        c.to);
  for (int i = 0; i < tasks->n && status == DONE; i++) {
    tirc_error *e = NULL;
    c.task = &tasks->at[i];
    if (tirc_db_trials(db, c.task->id, 0, put_csv, &c, &e)) status = report(e);
  }
  if (status != DONE)
    drop_file(&to);
  else if (!end_file(&to))
    status = cannot_write(path, &to);
  return status;
}

int db_export(const DbOptions *o, tirc_db *db) {
  const List *args = &o->asked.args;
  Tasks tasks = {0};
  const char *path = args->n > 1 && strcmp(args->at[1], "-") ? args->at[1] : NULL;
  if (!o->asked.csv && !path)
    return complain("--csv alone prints a table",
                    "usage: tirc db export FOLDER [PROG], or --csv [FILE [PROG]]");
  int status = read_tasks(o, db, 2, &tasks);
  if (status == DONE)
    status = o->asked.csv ? export_csv(db, path, &tasks) : export_folder(o, db, path, &tasks);
  return status;
}
