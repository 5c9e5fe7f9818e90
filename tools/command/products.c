/* `tirc run MODEL --log-matmuls FILE`: one JSON line for each product, in the order in which they
 * run. */
#include "command.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

typedef struct json_object Json;

typedef struct Log {
  const tirc_program *p;
  const tirc_program_call *call;
  FILE *to;
  int prepared; /* so many calls in front run once, of weights alone */
  tirc_error *error;
} Log;

static void add(Json *j, const char *key, Json *value) { json_object_object_add(j, key, value); }

static void put_product(void *self, const tirc_product *p) {
  Log *log = self;
  Json *j = json_object_new_object();
  add(j, "call", json_object_new_int(log->call->number));
  add(j, "phase", json_text(log->call->number < log->prepared ? "prepare" : "run"));
  add(j, "function", json_text(log->call->func));
  add(j, "block", json_text(p->block));
  add(j, "batch", json_object_new_int64(p->batch));
  add(j, "M", json_object_new_int64(p->m));
  add(j, "N", json_object_new_int64(p->n));
  add(j, "K", json_object_new_int64(p->k));
  add(j, "a", json_text(p->a));
  add(j, "b", json_text(p->b));
  add(j, "out", json_text(p->out));
  add(j, "layout", json_text(p->layout));
  add(j, "convolution", json_object_new_boolean(p->is_convolution));
  add(j, "seconds", json_number(log->call->seconds)); /* of the whole function */
  fprintf(log->to, "%s\n", json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN));
  json_object_put(j);
}

static bool log_call(void *self, const tirc_program_call *call) {
  Log *log = self;
  log->call = call;
  return tirc_program_products(log->p, call, put_product, log, &log->error) == TIRC_OK;
}

int log_products(const char *path, const tirc_program *p, tirc_executor *x, int n,
                 const tirc_argument *args) {
  tirc_error *e = NULL;
  NewFile to = begin_file(path);
  tirc_program_size size = {0};
  Log log = {.p = p, .to = to.f};
  const tirc_program_watch watch = {.self = &log, .tell = log_call};
  if (!to.f) return complain(NULL, "cannot write '%s': %s", path, strerror(errno));
  bool failed = tirc_program_measure(p, n, args, &size, &e) != TIRC_OK;
  log.prepared = size.prepared;
  failed = failed || tirc_program_run_watched(p, x, n, args, &watch, &e) != TIRC_OK;
  if (failed || log.error) {
    drop_file(&to);
    return report(failed ? e : log.error);
  }
  return end_output(path, &to, DONE);
}
