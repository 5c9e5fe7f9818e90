/* `tirc db import`: tuning records of the reference, or a CSV table that export wrote. What is
 * wrong with one line leaves the database as it was. */
#include "db.h"
#include "ir/number.h"
#include "tools/kit/input.h"
#include "tools/kit/json.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Seconds: what the reference stores for a candidate that failed, or more. */
#define FAILED 1e9

typedef struct Import {
  const DbOptions *o;
  tirc_db *db;
  const char *path; /* of the records */
  int line;
  int n; /* programs */
  struct Program {
    tirc_module *m;
    char *path, *name, *hash;
    char *task;             /* of the last record, with its target and threads */
    char *target, *machine; /* machine "": unknown */
    int threads;
  } * programs;
  int64_t stored, known, failed;
} Import;

static int fault(const Import *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fault(const Import *x, const char *format, ...) {
  char message[600];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return complain("nothing of the file is imported", "%s:%d: %s", x->path, x->line, message);
}

/* --- programs --------------------------------------------------------------------------------- */

static int add_program(Import *x, const char *path) {
  tirc_error *e = NULL;
  struct Program *p = one_more(x->programs, x->n);
  *p = (struct Program){.path = tirc_strdup(memory, path)};
  int status = load_program(&x->o->from, path, &p->m);
  char *hash = NULL;
  if (status == DONE && tirc_module_hash(p->m, &hash, &e)) status = report(e);
  p->hash = copied(hash);
  tirc_string_free(hash);
  p->name = shown_stem(x->o->from.define.n ? x->path : path);
  return status;
}

/* folder/0.tir, folder/1.tir, ... */
static int add_folder(Import *x, const char *folder) {
  struct stat there;
  int status = DONE;
  while (status == DONE) {
    char *path = tirc_format(memory, "%s/%d.tir", folder, x->n);
    if (stat(path, &there)) break;
    status = add_program(x, path);
  }
  return status;
}

static void free_programs(Import *x) {
  for (int i = 0; i < x->n; i++) {
    struct Program *p = &x->programs[i];
    tirc_module_free(p->m);
    tirc_string_free(p->task);
  }
}

/* The task of a program; the last one is kept, as records come in rows of one task. */
static int find_task(Import *x, struct Program *p, const char *target, int threads,
                     const char *machine, const char **task) {
  tirc_error *e = NULL;
  const char *profile = machine ? machine : "";
  if (!p->task || p->threads != threads || strcmp(p->target, target) != 0 ||
      strcmp(p->machine, profile) != 0) {
    const tirc_db_described on = {.profile = machine};
    tirc_string_free(p->task);
    p->task = NULL;
    p->target = tirc_strdup(memory, target);
    p->machine = tirc_strdup(memory, profile);
    p->threads = threads;
    const tirc_db_task t = {.module = p->m,
                            .name = p->name,
                            .target = target,
                            .threads = threads,
                            .machine = machine ? &on : NULL};
    if (tirc_db_put_task(x->db, &t, &p->task, &e)) return report(e);
  }
  *task = p->task;
  return DONE;
}

static int store(Import *x, tirc_db_trial *t) {
  tirc_error *e = NULL;
  bool stored = false;
  char *source = tirc_format(memory, "import:%s", x->path);
  t->source = source;
  t->predicted = NAN;
  if (tirc_db_put_trial(x->db, t, &stored, &e)) return report(e);
  x->stored += stored;
  x->known += !stored;
  x->failed += stored && t->code && strcmp(t->code, TIRC_HOPELESS) != 0;
  return DONE;
}

/* --- tuning records --------------------------------------------------------------------------- */

static Json *item(Json *list, size_t i, json_type type) {
  if (!json_object_is_type(list, json_type_array) || json_object_array_length(list) <= i)
    return NULL;
  Json *j = json_object_array_get_idx(list, i);
  return json_object_is_type(j, type) ? j : NULL;
}

/* The names that LLVM had for processors before it had these. */
static const char *new_name(const char *cpu) {
  static const char *const names[][2] = {{"core-avx2", "haswell"},
                                         {"core-avx-i", "ivybridge"},
                                         {"corei7-avx", "sandybridge"},
                                         {"corei7", "nehalem"},
                                         {"skx", "skylake-avx512"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(cpu, names[i][0]) == 0) return names[i][1];
  return cpu;
}

static const char *string_in(Json *j, const char *key) {
  Json *v = NULL;
  return json_object_object_get_ex(j, key, &v) && json_object_is_type(v, json_type_string)
             ? json_object_get_string(v)
             : NULL;
}

static const char *target_in(const DbOptions *o, Json *target) {
  const char *cpu = string_in(target, "mcpu"), *arch = string_in(target, "arch"),
             *kind = string_in(target, "kind");
  return o->asked.only.target ? o->asked.only.target
         : cpu                ? new_name(cpu)
         : arch               ? arch
         : kind               ? kind
                              : "unknown";
}

static int threads_in(const DbOptions *o, Json *target) {
  Json *cores = NULL;
  if (o->asked.only.threads) return o->asked.only.threads;
  return json_object_object_get_ex(target, "num-cores", &cores) ? json_object_get_int(cores) : 1;
}

static bool same_shape(Json *shape, const tirc_param *p) {
  if (!shape || (int)json_object_array_length(shape) != p->ndim) return false;
  for (int d = 0; d < p->ndim; d++)
    if (p->shape[d] >= 0 &&
        json_object_get_int64(json_object_array_get_idx(shape, (size_t)d)) != p->shape[d])
      return false;
  return true;
}

/* The record must be of this program as far as the arguments tell. */
static int check_arguments(const Import *x, const struct Program *p, Json *arguments) {
  const tirc_param *params;
  int n = 0;
  tirc_error *e = NULL;
  if (!arguments) return DONE;
  if (tirc_module_params(p->m, NULL, &n, &params, &e)) return report(e);
  const size_t given = json_object_array_length(arguments);
  size_t arrays = 0;
  for (int i = 0; i < n; i++) {
    if (!params[i].is_array) continue;
    Json *one = item(arguments, arrays++, json_type_array);
    Json *dtype = item(one, 1, json_type_string);
    const bool same = dtype && strcmp(json_object_get_string(dtype), params[i].dtype) == 0 &&
                      same_shape(item(one, 2, json_type_array), &params[i]);
    if (!same)
      return fault(
          x, "the record is of another program than %s: its argument %zu is %s, and %s is not",
          p->path, arrays, one ? json_object_to_json_string(one) : "missing", params[i].name);
  }
  return arrays == given ? DONE
                         : fault(x, "the record has %zu arguments, and %s takes %zu arrays", given,
                                 p->path, arrays);
}

static bool is_time(double seconds) { return isfinite(seconds) && seconds > 0; }

static int read_samples(Json *seconds, tirc_db_trial *t) {
  const size_t n = json_object_array_length(seconds);
  double *samples = tirc_alloc_array(memory, n + 1, sizeof *samples);
  for (size_t i = 0; i < n; i++)
    samples[i] = json_object_get_double(json_object_array_get_idx(seconds, i));
  t->samples = samples;
  t->n_samples = (int)n;
  return DONE;
}

static bool is_trace(Json *trace) {
  return item(trace, 0, json_type_array) && item(trace, 1, json_type_array) &&
         json_object_array_length(trace) == 2;
}

static int import_record(Import *x, Json *record) {
  Json *index = item(record, 0, json_type_int), *inner = item(record, 1, json_type_array);
  Json *trace = item(inner, 0, json_type_array), *seconds = item(inner, 1, json_type_array);
  Json *target = item(inner, 2, json_type_object);
  if (!index || !is_trace(trace) || !seconds || !target)
    return fault(x, "a tuning record is [workload, [trace, seconds, target, arguments]]");
  const int64_t k = json_object_get_int64(index);
  if (k < 0 || k >= x->n)
    return fault(x, "the record is of program %lld, counted from 0, and %d %s given", (long long)k,
                 x->n, x->n == 1 ? "is" : "are");
  struct Program *p = &x->programs[k];
  int status = check_arguments(x, p, item(inner, 3, json_type_array));
  tirc_db_trial t = {0};
  if (status == DONE)
    status = find_task(x, p, target_in(x->o, target), threads_in(x->o, target),
                       x->o->asked.only.machine, &t.task);
  if (status != DONE) return status;
  read_samples(seconds, &t);
  bool failed = t.n_samples == 0 || t.samples[0] >= FAILED;
  for (int i = 0; i < t.n_samples; i++) failed = failed || !is_time(t.samples[i]);
  if (failed) t.n_samples = 0, t.code = "failed", t.message = "the record has no time";
  t.trace = json_string(json_object_get(trace), false);
  Json *more = json_object_new_object();
  add_json(more, "target", json_object_get(target));
  t.more = json_string(more, false);
  return store(x, &t);
}

static int import_records(Import *x, char *text) {
  int status = DONE;
  for (char *line = text; *line && status == DONE;) {
    const size_t n = strcspn(line, "\n");
    const bool last = !line[n];
    line[n] = 0;
    x->line++;
    if (line[strspn(line, " \t\r")]) {
      char *why = json_fault(line, n);
      Json *record = why ? NULL : json_tokener_parse(line);
      status = record ? import_record(x, record) : fault(x, "%s", why ? why : "no JSON");
      json_object_put(record);
    }
    line += n + !last;
  }
  return status;
}

/* --- CSV -------------------------------------------------------------------------------------- */

enum { MOST_CELLS = 64, MOST_SAMPLES = 4096 };

/* A row, cut up in place; behind it, or NULL at the end of the text. *n: cells, -1: too many. */
static char *read_row(Import *x, char *text, char **cells, int *n) {
  *n = 0;
  if (!*text) return NULL;
  for (x->line++;; text++) {
    char *to = text;
    if (*n == MOST_CELLS) return *n = -1, NULL;
    cells[(*n)++] = to;
    bool quoted = false;
    for (; *text && (quoted || !strchr(",\r\n", *text)); text++) {
      if (*text == '\n') x->line++;
      if (*text == '"' && quoted && text[1] == '"')
        *to++ = *text++;
      else if (*text == '"')
        quoted = !quoted;
      else
        *to++ = *text;
    }
    const char end = *text;
    if (end == '\r' && text[1] == '\n') text++;
    *to = 0;
    if (end != ',') return end ? text + 1 : text;
  }
}

static const char *const csv_columns[] = {"hash",    "target",  "threads",  "machine", "code",
                                          "message", "samples", "finished", "state",   "trace"};
enum { HASH, TARGET, THREADS, MACHINE, CODE, MESSAGE, SAMPLES, FINISHED, STATE, TRACE, N_NEEDED };

static int find_columns(Import *x, int n, char **cells, int *columns) {
  for (int k = 0; k < N_NEEDED; k++) {
    columns[k] = -1;
    for (int i = 0; i < n; i++)
      if (strcmp(cells[i], csv_columns[k]) == 0) columns[k] = i;
    if (columns[k] < 0) return fault(x, "there is no column '%s'", csv_columns[k]);
  }
  return DONE;
}

static bool keep_program(void *self, const tirc_db_task *t) {
  struct Program *p = self;
  p->path = tirc_strdup(memory, "program");
  p->name = copied(t->name);
  p->hash = tirc_strdup(memory, t->hash);
  tirc_module_parse(t->program, strlen(t->program), "program", 0, NULL, &p->m, NULL);
  return false;
}

/* Of those given, or else of the database. */
static int program_of_hash(Import *x, const char *hash, struct Program **out) {
  tirc_error *e = NULL;
  for (int i = 0; i < x->n; i++)
    if (strcmp(x->programs[i].hash, hash) == 0) return *out = &x->programs[i], DONE;
  struct Program found = {0};
  if (strlen(hash) == 32 &&
      tirc_db_tasks(x->db, &(tirc_db_filter){.workload = hash}, keep_program, &found, &e))
    return report(e);
  if (!found.m)
    return fault(x, "neither the files given nor the database have the program %s", hash);
  *out = one_more(x->programs, x->n);
  return **out = found, DONE;
}

static bool read_threads(const char *s, int *out) {
  char *end;
  const long v = strtol(s, &end, 10);
  *out = (int)v;
  return end != s && !*end && v >= 1 && v <= MOST_THREADS;
}

/* Seconds since 1970; an empty cell is 0, for now. */
static bool read_time(const char *s, double *out) {
  char *end;
  *out = tirc_parse_double(s, &end);
  return !*end && *out >= 0 && isfinite(*out);
}

static int import_csv_row(Import *x, char **cells, const int *columns) {
  const char *v[N_NEEDED];
  for (int k = 0; k < N_NEEDED; k++) v[k] = without_csv_mark(cells[columns[k]]);
  if (strcmp(v[STATE], "queued") == 0 || strcmp(v[STATE], "running") == 0) return DONE;
  if (strcmp(v[STATE], "done") != 0)
    return fault(x, "a trial is queued, running or done, and not '%s'", v[STATE]);
  int threads;
  double finished;
  if (!read_threads(v[THREADS], &threads))
    return fault(x, "'%s' is not a number of threads", v[THREADS]);
  if (!read_time(v[FINISHED], &finished))
    return fault(x, "'%s' is not a time in seconds since 1970", v[FINISHED]);
  double samples[MOST_SAMPLES];
  tirc_db_trial t = {.trace = v[TRACE],
                     .code = *v[CODE] ? v[CODE] : NULL,
                     .message = *v[MESSAGE] ? v[MESSAGE] : NULL,
                     .finished = finished,
                     .samples = samples};
  const char *at = v[SAMPLES];
  for (char *end; *at; at = end) {
    if (t.n_samples == MOST_SAMPLES)
      return fault(x, "there are more than %d samples", MOST_SAMPLES);
    samples[t.n_samples++] = tirc_parse_double(at, &end);
    if (end == at || !is_time(samples[t.n_samples - 1]))
      return fault(x, "'%s' are not samples", v[SAMPLES]);
    while (*end == ' ') end++;
  }
  Json *trace = json_tokener_parse(t.trace);
  const bool fits = is_trace(trace);
  json_object_put(trace);
  if (!fits) return fault(x, "'%.40s' is not a trace", t.trace);
  struct Program *p = NULL;
  int status = program_of_hash(x, v[HASH], &p);
  if (status == DONE)
    status = find_task(x, p, v[TARGET], threads,
                       x->o->asked.only.machine ? x->o->asked.only.machine : v[MACHINE], &t.task);
  return status == DONE ? store(x, &t) : status;
}

static int import_csv(Import *x, char *text) {
  char *cells[MOST_CELLS];
  int n, columns[N_NEEDED], wanted = 0;
  char *next = read_row(x, text, cells, &n);
  if (!next || n < 0) return fault(x, "a table's first line names its columns");
  int status = find_columns(x, wanted = n, cells, columns);
  while (status == DONE && (next = read_row(x, next, cells, &n)) != NULL)
    status = n == wanted ? import_csv_row(x, cells, columns)
                         : fault(x, "the line has %d cells, and the first one %d", n, wanted);
  return status == DONE && n < 0 ? fault(x, "the line has too many cells") : status;
}

/* --- all -------------------------------------------------------------------------------------- */

static int import_text(Import *x, const char *path, bool csv) {
  char *text = NULL;
  size_t n = 0;
  tirc_error *e = NULL;
  x->path = path;
  int status = read_text(path, &text, &n);
  if (status == DONE && memchr(text, 0, n))
    status = complain("is this a text file?", "%s: control character 0x00 in the text", path);
  if (status == DONE && tirc_db_begin(x->db, &e)) status = report(e);
  if (status == DONE) status = csv ? import_csv(x, text) : import_records(x, text);
  if (status == DONE && tirc_db_commit(x->db, &e)) status = report(e);
  tirc_db_rollback(x->db);
  if (status == DONE)
    printf("%s: %lld trial%s imported, %lld of them failed; %lld %s known\n", path,
           (long long)x->stored, plural(x->stored), (long long)x->failed, (long long)x->known,
           x->known == 1 ? "was" : "were");
  return status;
}

static bool is_folder(const char *path) {
  struct stat there;
  return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

int db_import(const DbOptions *o, tirc_db *db) {
  const List *args = &o->asked.args;
  if (args->n < 2)
    return complain(NULL, "usage: tirc db import FOLDER | RECORDS PROG... | TABLE.csv [PROG]...");
  const char *path = args->at[1], *ending = strrchr(path, '.');
  const bool csv = o->asked.csv || (ending && strcmp(ending, ".csv") == 0);
  Import x = {.o = o, .db = db, .path = path};
  struct stat there;
  int status = DONE;
  if (strcmp(path, "-") != 0 && stat(path, &there) != 0)
    return complain(NULL, "cannot read %s: %s", path, strerror(errno));
  for (int i = 2; i < args->n && status == DONE; i++) status = add_program(&x, args->at[i]);
  if (status == DONE && is_folder(path)) {
    status = add_folder(&x, path);
    path = tirc_format(memory, "%s/records.json", path);
  }
  if (status == DONE && !csv && !x.n)
    status = complain("the records tell how to schedule, and not what: tirc db import RECORDS PROG",
                      "tirc db import needs the program that the records are of");
  if (status == DONE) status = import_text(&x, path, csv);
  free_programs(&x);
  return status;
}
