#include "model_rival.h"

#include "bench.h"
#include "tools/kit/model.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const name = "onnxruntime";

/* --- the process whose memory is measured ----------------------------------------------------- */

static bool send_bytes(int to, const void *bytes, size_t n) {
  const char *at = bytes;
  while (n) {
    const ssize_t sent = write(to, at, n);
    if (sent <= 0) return false;
    at += sent;
    n -= (size_t)sent;
  }
  return true;
}

static bool take_bytes(int from, void *bytes, size_t n) {
  char *at = bytes;
  while (n) {
    const ssize_t got = read(from, at, n);
    if (got <= 0) return false;
    at += got;
    n -= (size_t)got;
  }
  return true;
}

enum { MOST_DIMENSIONS = 16 };
typedef struct Header {
  char type[16];
  int ndim;
  int64_t shape[MOST_DIMENSIONS];
} Header;

static bool send_array(int to, tirc_array *a) {
  Header h = {.ndim = tirc_array_ndim(a)};
  if (h.ndim > MOST_DIMENSIONS) return false;
  snprintf(h.type, sizeof h.type, "%s", tirc_array_dtype(a));
  for (int d = 0; d < h.ndim; d++) h.shape[d] = tirc_array_shape(a)[d];
  return send_bytes(to, &h, sizeof h) &&
         send_bytes(to, tirc_array_data(a), (size_t)tirc_array_bytes(a));
}

static tirc_array *take_array(int from) {
  Header h;
  tirc_array *a = NULL;
  if (take_bytes(from, &h, sizeof h) && !tirc_array_new(h.type, h.ndim, h.shape, &a, NULL) &&
      !take_bytes(from, tirc_array_data(a), (size_t)tirc_array_bytes(a))) {
    tirc_array_free(a);
    a = NULL;
  }
  return a;
}

typedef struct Request {
  int n, threads; /* inputs, which follow */
} Request;

/* Whether there is a library; then one run, and what it needed. Nothing where that fails, which
 * this process's own run says. */
static void run_in_child(const char *path, int from, int to) {
  Request q;
  const char found = onnxruntime_exists();
  if (!send_bytes(to, &found, 1) || !found || !take_bytes(from, &q, sizeof q)) return;
  tirc_array **inputs = tirc_alloc_array(memory, (size_t)q.n + 1, sizeof *inputs);
  const int n = q.n;
  bool ok = inputs != NULL;
  for (int i = 0; ok && i < n; i++) ok = (inputs[i] = take_array(from)) != NULL;
  OnnxRuntime *r = ok ? onnxruntime_open(path, q.threads) : NULL;
  if (r && onnxruntime_bind(r, n, inputs) && onnxruntime_run(r)) {
    const int64_t peak = process_memory("status", "VmHWM"); /* at most, so far */
    (void)send_bytes(to, &peak, sizeof peak);
  }
}

/* While this process is small: a fork has the pages of its parent. */
static bool start_child(ModelRival *r) {
  int down[2], up[2];
  if (pipe(down)) return false;
  if (pipe(up)) {
    close(down[0]);
    close(down[1]);
    return false;
  }
  fflush(NULL);
  r->child = fork();
  if (r->child == 0) {
    close(down[1]);
    close(up[0]);
    run_in_child(r->path, down[0], up[1]);
    _exit(0);
  }
  close(down[0]);
  close(up[1]);
  signal(SIGPIPE, SIG_IGN); /* its end is no end of this one */
  r->to_child = down[1];
  r->from_child = up[0];
  if (r->child > 0) return true;
  close(down[1]);
  close(up[0]);
  r->child = 0;
  return false;
}

static void end_child(ModelRival *r) {
  if (!r->child) return;
  close(r->to_child);
  close(r->from_child);
  (void)waitpid(r->child, NULL, 0);
  r->child = 0;
}

static void measure_child(ModelRival *r, int threads, int n, tirc_array *const *inputs) {
  const Request q = {n, threads};
  bool ok = send_bytes(r->to_child, &q, sizeof q);
  for (int i = 0; ok && i < n; i++) ok = send_array(r->to_child, inputs[i]);
  if (!ok || !take_bytes(r->from_child, &r->peak, sizeof r->peak)) r->peak = 0;
  end_child(r);
}

/* --- in this process -------------------------------------------------------------------------- */

int begin_rival(const char *model, const char *vs, ModelRival *out) {
  char found = false;
  *out = (ModelRival){.path = model};
  if (!vs) return DONE;
  if (strcmp(vs, name) != 0)
    return complain("--vs is for functions otherwise: tirc bench PROG --vs openblas",
                    "a model is measured beside %s, not '%s'", name, vs);
  if (!is_onnx(out->path))
    return complain("give it the file itself: MODEL.onnx", "%s reads files of ONNX, and not '%s'",
                    name, out->path);
  if (!start_child(out)) return complain(NULL, "cannot start a process: %s", strerror(errno));
  out->is_here = take_bytes(out->from_child, &found, 1) && found;
  if (!out->is_here)
    fprintf(stderr,
            "%s is left out: it is not installed; tools/setup --onnxruntime gets it, and "
            "TIRC_ONNXRUNTIME=FILE names a library\n",
            name);
  return DONE;
}

/* What --bind gives its input i. NULL: nothing, or what the input does not take. */
static tirc_array *bound_input(ModelRival *r, const Loading *from, int i) {
  const char *input = onnxruntime_input(r->runtime, i), *value = NULL;
  tirc_array *a = NULL;
  for (int k = 0; k < from->bind.n; k++) {
    const char *equals = strrchr(from->bind.at[k], '=');
    const size_t n = (size_t)(equals - from->bind.at[k]);
    if (strlen(input) == n && strncmp(input, from->bind.at[k], n) == 0) value = equals + 1;
  }
  if (!value || is_bound_to_file(value))
    return value && read_bound_file(value, &a) == DONE ? a : NULL;
  int64_t count = 1;
  for (const char *c = value; *c; c++) count += *c == ',';
  a = onnxruntime_new_input(r->runtime, i, count);
  for (int64_t k = 0; a && k < count; k++) {
    tirc_array_set(a, k, strtod(value, NULL));
    value += strcspn(value, ",") + 1;
  }
  return a;
}

/* Its inputs, by their names: the model's, and those that are constants of the model by --bind. */
static int find_inputs(ModelRival *r, const Loading *from, int n, const tirc_param *params,
                       const tirc_argument *args) {
  for (int i = 0; i < onnxruntime_inputs(r->runtime); i++) {
    tirc_array *a = NULL;
    for (int k = 0; k < n && !a; k++)
      if (strcmp(params[k].in_file, onnxruntime_input(r->runtime, i)) == 0) a = args[k].array;
    const bool is_bound = !a;
    if (is_bound) a = bound_input(r, from, i);
    if (!a)
      return complain("--bind gives it numbers, or a file (.npy, .pb)",
                      "%s takes an input \"%s\", which the model here has not", name,
                      onnxruntime_input(r->runtime, i));
    if (is_bound) *one_more(r->bound, r->n_bound) = a;
    *one_more(r->inputs, r->n_inputs) = a;
  }
  return DONE;
}

int start_rival(ModelRival *r, const Loading *from, int threads, int n, const tirc_param *params,
                const tirc_argument *args) {
  r->own_peak = process_memory("status", "VmHWM");
  r->runtime = onnxruntime_open(r->path, threads);
  if (onnxruntime_problem(r->runtime))
    return complain(NULL, "%s cannot run the model: %s", name, onnxruntime_problem(r->runtime));
  const int status = find_inputs(r, from, n, params, args);
  if (status != DONE) return status;
  measure_child(r, threads, r->n_inputs, r->inputs);
  if (onnxruntime_bind(r->runtime, r->n_inputs, r->inputs) && onnxruntime_run(r->runtime))
    return DONE;
  return complain(NULL, "%s cannot run the model: %s", name, onnxruntime_problem(r->runtime));
}

int call_rival(void *rival) {
  const ModelRival *r = rival;
  return !onnxruntime_run(r->runtime);
}

void end_rival(ModelRival *r) {
  end_child(r);
  onnxruntime_close(r->runtime);
  r->runtime = NULL;
  for (int i = 0; i < r->n_bound; i++) tirc_array_free(r->bound[i]);
  r->n_bound = 0;
}

/* --- its results ------------------------------------------------------------------------------ */

static const double OF_ITSELF = 1e-3, OF_LARGEST = 1e-4;

static double largest(tirc_array *a) {
  double most = 0;
  for (int64_t i = 0; i < tirc_array_count(a); i++) most = fmax(most, fabs(tirc_array_get(a, i)));
  return most;
}

/* Integers of a byte or two are mostly what floats were rounded to: a step apart where one of them
 * came to lie on the other side of a half. */
static bool is_in_steps(const char *type) {
  return strcmp(type, "int8") == 0 || strcmp(type, "uint8") == 0 || strcmp(type, "int16") == 0 ||
         strcmp(type, "uint16") == 0;
}

/* How far `got` is off, as a part of what is allowed. */
static double share_of_allowed(double got, double wanted, double most, const char *type) {
  if (got == wanted || (isnan(got) && isnan(wanted))) return 0;
  if (is_in_steps(type)) return fabs(got - wanted);
  if (!strstr(type, "float") || !isfinite(got) || !isfinite(wanted)) return INFINITY;
  return fabs(got - wanted) / (OF_ITSELF * fabs(wanted) + OF_LARGEST * most);
}

static int compare_array(ModelRival *r, int number, const char *what, tirc_array *got,
                         tirc_array *wanted) {
  if (!wanted || tirc_array_count(got) != tirc_array_count(wanted) ||
      strcmp(tirc_array_dtype(got), tirc_array_dtype(wanted)) != 0) {
    printf("check: FAILED; %s has another \"%s\"\n", name, what);
    return NO;
  }
  RivalDifference d = {.result = what, .number = number, .elements = tirc_array_count(got)};
  const char *type = tirc_array_dtype(got);
  const double most = strstr(type, "float") ? largest(wanted) : 0;
  for (int64_t i = 0; i < d.elements; i++) {
    const double a = tirc_array_get(got, i), b = tirc_array_get(wanted, i),
                 off = share_of_allowed(a, b, most, type);
    r->error = fmax(r->error, off);
    if (off <= 1) continue;
    d.n++;
    if (off <= d.most) continue;
    d.most = off;
    d.at = i;
    d.got = a;
    d.wanted = b;
  }
  if (d.n) *one_more(r->differences, r->n_differences) = d;
  return DONE;
}

void put_rival_differences(const ModelRival *r, FILE *out) {
  for (int i = 0; i < r->n_differences; i++) {
    const RivalDifference *d = &r->differences[i];
    fprintf(out,
            "differs: %lld of %lld elements of \"%s\" by more than is allowed, most of all element "
            "%lld: %.9g, and %.9g by %s\n",
            (long long)d->n, (long long)d->elements, d->result, (long long)d->at, d->got, d->wanted,
            name);
    if (d->is_judged)
      fprintf(out, "float64: tirc's \"%s\" is %.2g from it, that of %s %.2g: %s nearer\n",
              d->result, d->own_off, name, d->its_off,
              d->own_off < d->its_off   ? "tirc is"
              : d->own_off > d->its_off ? "the other one is"
                                        : "none is");
  }
  if (r->no_judge) fprintf(out, "float64: not computed: %s\n", r->no_judge);
}

int compare_rival(ModelRival *r, int n, const tirc_param *params, const tirc_argument *results) {
  int status = DONE;
  const int m = onnxruntime_outputs(r->runtime); /* counts of rows come behind these */
  if (m > n) return complain(NULL, "%s gives %d results, and not %d", name, m, n);
  for (int i = 0; i < m && status == DONE; i++) {
    tirc_array *wanted = onnxruntime_output(r->runtime, i);
    status = compare_array(r, i, params[i].name, results[i].array, wanted);
    tirc_array_free(wanted);
  }
  return status;
}
