/* Files of ONNX: what the options bind of them, and the arrays of the ONNX project's tests. */
#define _GNU_SOURCE /* asprintf */
#include "model.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

bool is_onnx(const char *path) {
  const size_t n = strlen(path);
  return n > 5 && strcmp(path + n - 5, ".onnx") == 0;
}

/* --- the folder of a test --------------------------------------------------------------------- */

/* FOLDER/input_0.pb, input_1.pb ... as far as they go. */
static int read_series(const Loading *o, const char *kind, TestArrays *out) {
  for (int i = 0;; i++) {
    tirc_error *e = NULL;
    tirc_array *a = NULL;
    char *path = tirc_format(memory, "%s/%s_%d.pb", o->test_data, kind, i);
    const bool there = access(path, F_OK) == 0;
    const bool failed = there && tirc_array_read_onnx(path, &a, &e);
    if (failed) return report(e);
    if (!there) return DONE;
    *one_more(out->at, out->n) = a;
  }
}

int read_test_arrays(const Loading *o, const char *kind, TestArrays *out) {
  *out = (TestArrays){0};
  if (!o->test_data) return DONE;
  if (access(o->test_data, R_OK | X_OK))
    return complain(NULL, "cannot read the folder '%s': %s", o->test_data, strerror(errno));
  return read_series(o, kind, out);
}

void free_test_arrays(TestArrays *a) {
  for (int i = 0; i < a->n; i++) tirc_array_free(a->at[i]);
  *a = (TestArrays){0};
}

/* Numbers of numpy have no bfloat16, so tests store the bits of such elements as uint16. */
int take_bits(const char *dtype, tirc_array **a) {
  tirc_array *bits;
  tirc_error *e = NULL;
  if (strcmp(dtype, "bfloat16") != 0 || strcmp(tirc_array_dtype(*a), "uint16") != 0) return DONE;
  if (tirc_array_new(dtype, tirc_array_ndim(*a), tirc_array_shape(*a), &bits, &e)) return report(e);
  memcpy(tirc_array_data(bits), tirc_array_data(*a), 2 * (size_t)tirc_array_count(*a));
  tirc_array_free(*a);
  *a = bits;
  return DONE;
}

/* --- importing -------------------------------------------------------------------------------- */

bool is_bound_to_file(const char *value) {
  const char *end = strrchr(value, '.');
  return end && (strcmp(end, ".npy") == 0 || strcmp(end, ".pb") == 0);
}

int read_bound_file(const char *value, tirc_array **out) {
  tirc_error *e = NULL;
  const bool is_tensor = strcmp(strrchr(value, '.'), ".pb") == 0;
  if (is_tensor ? tirc_array_read_onnx(value, out, &e) : tirc_array_read_npy(value, out, &e))
    return report(e);
  return DONE;
}

typedef struct Bound {
  int n;
  tirc_bound *at;
  tirc_array **arrays;
} Bound;

/* --bind NAME=VALUE or NAME=FILE.npy. Names of values have any characters: the last '=' counts. */
static int read_bounds(const Loading *o, Bound *b) {
  int status = DONE;
  b->at = tirc_alloc_array(memory, (size_t)o->bind.n + 1, sizeof *b->at);
  b->arrays = tirc_alloc_array(memory, (size_t)o->bind.n + 1, sizeof *b->arrays);
  for (int i = 0; i < o->bind.n && status == DONE; i++) {
    const char *equals = strrchr(o->bind.at[i], '=');
    if (!equals || equals == o->bind.at[i] || !equals[1])
      return complain("write --bind shape=1,64 or --bind shape=FILE.npy",
                      "--bind takes NAME=VALUE, not '%s'", o->bind.at[i]);
    if (is_bound_to_file(equals + 1)) status = read_bound_file(equals + 1, &b->arrays[i]);
    b->at[i] = (tirc_bound){tirc_strndup(memory, o->bind.at[i], (size_t)(equals - o->bind.at[i])),
                            b->arrays[i], b->arrays[i] ? NULL : equals + 1};
    b->n = i + 1;
  }
  return status;
}

static void free_bounds(Bound *b) {
  for (int i = 0; i < b->n; i++) {
    tirc_array_free(b->arrays[i]);
  }
}

int import_onnx(const Loading *o, const char *path, int n, const tirc_define *defines,
                tirc_module **out) {
  Bound b = {0};
  TestArrays given = {0};
  tirc_error *e = NULL;
  int status = read_bounds(o, &b);
  if (status == DONE) status = read_test_arrays(o, "input", &given);
  const tirc_import_options options = {.operators = o->operators,
                                       .n_defines = n,
                                       .defines = defines,
                                       .n_bound = b.n,
                                       .bound = b.at,
                                       .n_given = given.n,
                                       .given = (const tirc_array *const *)given.at};
  if (status == DONE && tirc_module_import(path, &options, out, &e)) status = report(e);
  free_bounds(&b);
  free_test_arrays(&given);
  return status;
}

/* --- what came out ---------------------------------------------------------------------------- */

static const double RTOL = 1e-3, ATOL = 1e-7;

static bool is_float(const tirc_array *a) {
  const char *t = tirc_array_dtype(a);
  return strncmp(t, "float", 5) == 0 || strncmp(t, "bfloat", 6) == 0;
}

static bool is_close(double got, double wanted) {
  if (isnan(wanted) || isnan(got)) return isnan(wanted) && isnan(got);
  if (isinf(wanted) || isinf(got)) return got == wanted;
  return fabs(got - wanted) <= ATOL + RTOL * fabs(wanted);
}

static bool same_type(const tirc_array *got, const tirc_array *wanted) {
  bool same = strcmp(tirc_array_dtype(got), tirc_array_dtype(wanted)) == 0 &&
              tirc_array_ndim(got) == tirc_array_ndim(wanted);
  for (int d = 0; same && d < tirc_array_ndim(got); d++)
    same = tirc_array_shape(got)[d] == tirc_array_shape(wanted)[d];
  return same;
}

static void put_type(const tirc_array *a) {
  printf("%s[", tirc_array_dtype(a));
  for (int d = 0; d < tirc_array_ndim(a); d++)
    printf("%s%lld", d ? ", " : "", (long long)tirc_array_shape(a)[d]);
  putchar(']');
}

/* Integers of 64 bits as they are: a double does not tell them apart. */
static bool is_same(tirc_array *got, tirc_array *wanted, int64_t i, bool floats) {
  if (strstr(tirc_array_dtype(got), "int64"))
    return ((const int64_t *)tirc_array_data(got))[i] ==
           ((const int64_t *)tirc_array_data(wanted))[i];
  const double a = tirc_array_get(got, i), b = tirc_array_get(wanted, i);
  return floats ? is_close(a, b) : a == b;
}

static bool compare_output(int number, const char *name, tirc_array *got, tirc_array *wanted) {
  int64_t n = tirc_array_count(wanted), wrong = 0, first = 0;
  if (!same_type(got, wanted)) {
    printf("output %d, %s: FAILED; it is ", number, name);
    put_type(got);
    printf(", and should be ");
    put_type(wanted);
    putchar('\n');
    return false;
  }
  const bool floats = is_float(got);
  for (int64_t i = 0; i < n; i++) {
    if (!is_same(got, wanted, i, floats) && !wrong++) first = i;
  }
  if (wrong)
    printf("output %d, %s: FAILED; %lld of %lld elements differ, the first is number %lld: %.9g, "
           "should be %.9g\n",
           number, name, (long long)wrong, (long long)n, (long long)first,
           tirc_array_get(got, first), tirc_array_get(wanted, first));
  else
    printf("output %d, %s: ok\n", number, name);
  return !wrong;
}

/* Of result i, along each axis where they are counted; *cut is the caller's. */
static int cut_rows(const tirc_program *p, int i, const tirc_argument *results, tirc_array **cut) {
  tirc_error *e = NULL;
  for (int k = 0, axis = 0, count; (count = tirc_program_count_at(p, i, k, &axis)) >= 0; k++) {
    tirc_array *whole = *cut;
    const int64_t rows = (int64_t)tirc_array_get(results[count].array, 0);
    const tirc_status status =
        tirc_array_rows(whole ? whole : results[i].array, axis, rows, cut, &e);
    tirc_array_free(whole);
    if (status) {
      *cut = NULL;
      return report(e);
    }
  }
  return DONE;
}

int rows_that_count(const tirc_program *p, int n, const tirc_argument *results, tirc_argument *cut,
                    tirc_argument *shown) {
  for (int i = 0; i < n; i++) {
    if (cut_rows(p, i, results, &cut[i].array)) return BAD;
    shown[i] = cut[i].array ? cut[i] : results[i];
  }
  return DONE;
}

int compare_test_data(const Loading *o, int n, const tirc_param *params,
                      const tirc_argument *args) {
  TestArrays wanted;
  int status = read_test_arrays(o, "output", &wanted);
  if (status == DONE && !wanted.n)
    status = complain(NULL, "the folder '%s' has no output_0.pb", o->test_data);
  if (status == DONE && wanted.n > n)
    status = complain(NULL, "the folder '%s' has %d outputs, and the model has %d", o->test_data,
                      wanted.n, n);
  for (int i = 0; i < wanted.n && status != BAD; i++) {
    if (take_bits(tirc_array_dtype(args[i].array), &wanted.at[i])) {
      status = BAD;
      continue;
    }
    if (!compare_output(i, params[i].name, args[i].array, wanted.at[i])) status = NO;
  }
  free_test_arrays(&wanted);
  return status;
}
