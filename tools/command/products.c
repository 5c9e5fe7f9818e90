/* `tirc run MODEL --log-matmuls FILE`: one JSON line for each product, in the order in which they
 * run. */
#include "command.h"
#include "tools/kit/json.h"

#include <errno.h>
#include <string.h>

typedef struct Log {
  const tirc_program *p;
  const tirc_program_call *call;
  FILE *to;
  int prepared; /* so many calls in front run once, of weights alone */
  tirc_error *error;
} Log;

static void put_product(void *self, const tirc_product *p) {
  Log *log = self;
  Json *j = json_object_new_object();
  add_int(j, "call", log->call->number);
  add_text(j, "phase", log->call->number < log->prepared ? "prepare" : "run");
  add_text(j, "function", log->call->func);
  add_text(j, "block", p->block);
  add_int(j, "batch", p->batch);
  add_int(j, "M", p->m);
  add_int(j, "N", p->n);
  add_int(j, "K", p->k);
  add_text(j, "a", p->a);
  add_text(j, "b", p->b);
  add_text(j, "out", p->out);
  add_text(j, "layout", p->layout);
  add_bool(j, "convolution", p->is_convolution);
  add_number(j, "seconds", log->call->seconds); /* of the whole function */
  fprintf(log->to, "%s\n", json_string(j, false));
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
