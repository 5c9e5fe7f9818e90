/* Runs a program on random data in two ways and compares all that it wrote. For tests of lowering
 * and of code generation. */
#ifndef TIRC_TESTS_COMPARE_H
#define TIRC_TESTS_COMPARE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "ir/tree/print.h"
#include "ir/tree/verify.h"
#include "parser/program.h"
#include "runtime/interp/interp.h"

enum { MAX_PARAMS = 12 };

/* The arguments of one run: tensors for buffers, small numbers for scalars. */
typedef struct Run {
  int n;
  Argument args[MAX_PARAMS];
} Run;

static inline const Module *parse(Tirc *c, const char *text) {
  Source source = {"test.tir", text, strlen(text)};
  const Module *m = tirc_parse_module(c, &source, 0, NULL);
  tirc_verify(c, m);
  return m;
}

/* Symbolic extents get `symbol`; integer parameters too. */
static inline int64_t extent_of(Expr e, int64_t symbol) {
  int64_t v;
  return tirc_const_int(e, &v) ? v : symbol;
}

static inline Run new_run(Tirc *c, const Func *f, int64_t symbol) {
  Run r = {.n = f->n_params};
  assert_true(r.n <= MAX_PARAMS);
  for (int i = 0; i < r.n; i++) {
    Buffer b = f->buffers[i];
    r.args[i].i = symbol;
    r.args[i].f = 1.5;
    if (!b) continue;
    int64_t shape[TENSOR_MAX_NDIM];
    for (int d = 0; d < b->ndim; d++) shape[d] = extent_of(b->shape[d], symbol);
    r.args[i].tensor = tirc_tensor_new(c, b->dtype, b->ndim, shape);
    tirc_tensor_random(r.args[i].tensor, (uint64_t)i + 1);
  }
  return r;
}

static inline Run copy_run(Tirc *c, const Run *from) {
  Run r = *from;
  for (int i = 0; i < r.n; i++)
    if (r.args[i].tensor) r.args[i].tensor = tirc_tensor_clone(c, from->args[i].tensor);
  return r;
}

static inline void free_run(Run *r) {
  for (int i = 0; i < r->n; i++) tirc_tensor_free(r->args[i].tensor);
}

/* Equal up to `tolerance`, relative to max(1, |x|). */
static inline void assert_same_run(const char *what, const Run *x, const Run *y, double tolerance) {
  for (int i = 0; i < x->n; i++) {
    const Tensor *a = x->args[i].tensor, *b = y->args[i].tensor;
    for (int64_t k = 0; a && k < a->count; k++) {
      bool is_int = !tirc_dtype_is_float(a->dtype);
      double u = is_int ? (double)tirc_tensor_get_int(a, k) : tirc_tensor_get(a, k);
      double v = is_int ? (double)tirc_tensor_get_int(b, k) : tirc_tensor_get(b, k);
      if (u == v || (isnan(u) && isnan(v))) continue;
      if (!is_int && fabs(u - v) <= tolerance * fmax(1, fabs(u))) continue;
      fail_msg("%s: argument %d, element %lld: %.9g is expected, it is %.9g", what, i, (long long)k,
               u, v);
    }
  }
}

/* Runs body in a context; an error that escapes fails the test with its message. */
static inline void in_context(const char *label, void (*body)(Tirc *c, const void *arg),
                              const void *arg) {
  Tirc *c = tirc_context_new();
  assert_non_null(c);
  Trap trap;
  char message[600] = "";
  if (TIRC_TRY(c, trap)) {
    body(c, arg);
    TIRC_END(c, trap);
  } else {
    snprintf(message, sizeof message, "%s: %s (line %d)", tirc_codes[c->diag.code].text,
             c->diag.message, c->diag.loc.line);
  }
  tirc_context_release(c);
  if (message[0]) fail_msg("%s: %s", label, message);
}

/* The code of the error that body raises; copied to `code`. "" when it raises none. */
static inline void error_code(void (*body)(Tirc *c, const void *arg), const void *arg, char *code,
                              size_t n) {
  Tirc *c = tirc_context_new();
  assert_non_null(c);
  Trap trap;
  code[0] = 0;
  if (TIRC_TRY(c, trap)) {
    body(c, arg);
    TIRC_END(c, trap);
  } else {
    snprintf(code, n, "%s", tirc_codes[c->diag.code].text);
    assert_non_null(c->diag.message);
  }
  tirc_context_release(c);
}

#endif
