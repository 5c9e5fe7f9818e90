/* Bounds hold what floats do: sums and products in any order, fused or not, and functions. And they
 * hold no more than that: a sum's bound is (n - 1) u times its magnitudes, and little else. */
#include "runtime/interp/bound.h"
#include "tests/rng.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROUNDS = 20000, MOST_TERMS = 24 };

static const DType single = {TYPE_FLOAT, 32, 1};

/* Of many sizes, now and then with few bits, so that exact results are met, too. */
static float draw(Rng *rng) {
  const double x = (double)(int64_t)(rng_next(rng) >> 40) * 0x1p-23 - 1;
  const int scale = (int)(rng_next(rng) % 9) - 4;
  const float few = (float)((int)(rng_next(rng) % 17) - 8);
  return rng_next(rng) % 4 == 0 ? few : (float)ldexp(x, scale);
}

static void shuffle(Rng *rng, int n, float (*pairs)[2]) {
  for (int i = n - 1; i > 0; i--) {
    const int j = (int)(rng_next(rng) % (uint64_t)(i + 1));
    for (int k = 0; k < 2; k++) {
      const float x = pairs[i][k];
      pairs[i][k] = pairs[j][k], pairs[j][k] = x;
    }
  }
}

static void in_bound(const Reach *b, double x, const char *what) {
  if (!(x >= b->lo.f && x <= b->hi.f))
    fail_msg("%s: %.9g is not from %.9g to %.9g", what, x, b->lo.f, b->hi.f);
}

/* Products added one after the other, or in two halves that are added at the end. */
static float sum_of(Rng *rng, int n, float (*pairs)[2]) {
  float halves[2] = {0, 0};
  const int fused = rng_next(rng) % 2 == 0, split = rng_next(rng) % 2 == 0;
  for (int i = 0; i < n; i++) {
    float *to = &halves[split && i >= n / 2];
    volatile float p = pairs[i][0] * pairs[i][1];
    *to = fused ? fmaf(pairs[i][0], pairs[i][1], *to) : *to + p;
  }
  return halves[0] + halves[1];
}

static void sums(void **state) {
  (void)state;
  Rng rng = {1};
  for (int round = 0; round < ROUNDS; round++) {
    float pairs[MOST_TERMS][2];
    const int n = 1 + (int)(rng_next(&rng) % MOST_TERMS);
    Reach sum, next, a, b, product;
    double magnitudes = 0;
    tirc_bound_float(&sum, 0);
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < 2; k++) pairs[i][k] = draw(&rng);
      tirc_bound_float(&a, (double)pairs[i][0]);
      tirc_bound_float(&b, (double)pairs[i][1]);
      tirc_bound_mul(&product, &a, &b, false, single);
      tirc_bound_add(&next, &sum, &product, false, single);
      magnitudes += fabs((double)pairs[i][0] * (double)pairs[i][1]);
      sum = next;
    }
    tirc_bound_close(&sum, single);
    for (int order = 0; order < 4; order++) {
      in_bound(&sum, (double)sum_of(&rng, n, pairs), "a sum");
      shuffle(&rng, n, pairs);
    }
    if (sum.hi.f - sum.lo.f > 2.2 * (n + 2) * 0x1p-24 * magnitudes + 1e-30)
      fail_msg("the bound of a sum of %d terms is too wide", n);
  }
}

static void factors(void **state) {
  (void)state;
  Rng rng = {2};
  for (int round = 0; round < ROUNDS; round++) {
    float pairs[MOST_TERMS][2], product = 1;
    const int n = 1 + (int)(rng_next(&rng) % 12);
    Reach b, factor, next;
    tirc_bound_float(&b, 1);
    for (int i = 0; i < n; i++) {
      pairs[i][0] = draw(&rng);
      tirc_bound_float(&factor, (double)pairs[i][0]);
      tirc_bound_mul(&next, &b, &factor, true, single);
      b = next;
    }
    tirc_bound_close(&b, single);
    shuffle(&rng, n, pairs);
    for (int i = 0; i < n; i++) product *= pairs[i][0];
    in_bound(&b, (double)product, "a product");
  }
}

/* Where all is exact or rounded once, there is one result. */
static void points(void **state) {
  (void)state;
  Rng rng = {3};
  for (int round = 0; round < ROUNDS; round++) {
    const float x = draw(&rng), y = draw(&rng);
    Reach a, b, r;
    tirc_bound_float(&a, (double)x);
    tirc_bound_float(&b, (double)y);
    volatile float expected = x + y;
    tirc_bound_add(&r, &a, &b, false, single);
    tirc_bound_close(&r, single);
    assert_true(r.lo.f == (double)expected && r.hi.f == (double)expected);
    expected = x * y;
    tirc_bound_mul(&r, &a, &b, false, single);
    tirc_bound_close(&r, single);
    assert_true(r.lo.f == (double)expected && r.hi.f == (double)expected);
    if (y == 0) continue;
    expected = x / y;
    tirc_bound_div(&r, &a, &b, single);
    assert_true(r.lo.f == (double)expected && r.hi.f == (double)expected);
  }
}

/* A product times 1 or -1 is still added by one operation, or by two; and nothing else is allowed.
 */
static void negated_products(void **state) {
  (void)state;
  Rng rng = {6};
  for (int round = 0; round < ROUNDS; round++) {
    const float x = draw(&rng), y = draw(&rng), z = draw(&rng);
    const float sign = rng_next(&rng) % 2 ? 1 : -1;
    Reach a, b, c, unit, product, moved, r;
    tirc_bound_float(&a, (double)x);
    tirc_bound_float(&b, (double)y);
    tirc_bound_float(&c, (double)z);
    tirc_bound_float(&unit, (double)sign);
    tirc_bound_mul(&product, &a, &b, false, single);
    switch (round % 3) {
    case 0: tirc_bound_mul(&moved, &product, &unit, false, single); break;
    case 1: tirc_bound_mul(&moved, &unit, &product, false, single); break;
    default: tirc_bound_div(&moved, &product, &unit, single);
    }
    tirc_bound_add(&r, &moved, &c, false, single);
    tirc_bound_close(&r, single);
    volatile float rounded = x * y;
    const float ways[] = {fmaf(sign * x, y, z), sign * rounded + z};
    for (int k = 0; k < 2; k++) in_bound(&r, (double)ways[k], "a negated product");
    if (r.lo.f < (double)fminf(ways[0], ways[1]) || r.hi.f > (double)fmaxf(ways[0], ways[1]))
      fail_msg("the bound of a negated product is too wide");
    /* a sum is rounded before its sign changes */
    Reach sum, turned;
    tirc_bound_add(&sum, &a, &c, false, single);
    tirc_bound_mul(&turned, &sum, &unit, false, single);
    volatile float whole = x + z;
    assert_true(turned.n == 1 && tirc_bound_is_point(&turned, true));
    in_bound(&turned, (double)(sign * whole), "a negated sum");
  }
}

static double call(void *self, double x, double y) {
  (void)y;
  return ((double (*)(double))((double (**)(double))self)[0])(x);
}

/* Whatever an operand is in its bound, the function of it is in the function's. */
/* One of two equal products, chosen and then added: fused or not. */
static void chosen_products(void **state) {
  Rng rng = {2};
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    const float x = draw(&rng), y = draw(&rng), z = draw(&rng), p = x * y;
    Reach a, b, c, product, other, r;
    tirc_bound_float(&a, (double)x);
    tirc_bound_float(&b, (double)y);
    tirc_bound_float(&c, (double)z);
    tirc_bound_mul(&product, &a, &b, false, single);
    other = product;
    tirc_bound_hull(&product, &other, single);
    tirc_bound_add(&r, &product, &c, false, single);
    tirc_bound_close(&r, single);
    in_bound(&r, (double)fmaf(x, y, z), "a chosen product, fused");
    in_bound(&r, (double)(p + z), "a chosen product, rounded");
    tirc_bound_close(&product, single);
    assert_true(product.lo.f == (double)p && product.hi.f == (double)p);
  }
}

static void functions(void **state) {
  (void)state;
  static const struct {
    double (*f)(double);
    FunctionRow row;
  } rows[] = {
      {exp, {CURVE_RISING, 4}}, {tanh, {CURVE_RISING, 4}},  {sin, {CURVE_WAVE, 4}},
      {cosh, {CURVE_EVEN, 4}},  {acos, {CURVE_FALLING, 4}}, {floor, {CURVE_RISING, 0}},
      {fabs, {CURVE_EVEN, 0}},  {tan, {CURVE_TANGENT, 4}},
  };
  Rng rng = {4};
  for (int round = 0; round < ROUNDS; round++) {
    const size_t k = rng_next(&rng) % (sizeof rows / sizeof *rows);
    const double x = (double)draw(&rng) / 10, w = fabs((double)draw(&rng)) / 100;
    const double part = (double)(rng_next(&rng) % 65) / 64;
    double (*f)(double) = rows[k].f;
    Reach a = {.v.f = x, .lo.f = x - w, .hi.f = x + w, .mag = fabs(x) + w, .n = 1}, r;
    tirc_bound_function(&r, &a, NULL, &rows[k].row, call, &f, single);
    const double y = f(x - w + 2 * w * part);
    if (!r.open && !isnan(y)) in_bound(&r, (double)(float)y, "a function");
  }
}

static void narrow(void **state) {
  (void)state;
  Reach a, b, r;
  const DType half = {TYPE_FLOAT, 16, 1};
  tirc_bound_float(&a, 60000);
  tirc_bound_add(&r, &a, &a, false, half); /* in this one order it overflows */
  tirc_bound_close(&r, half);
  assert_true(isinf(r.lo.f));
  tirc_bound_float(&b, -60000);
  Reach all = a, next;
  tirc_bound_add(&next, &all, &b, false, half);
  tirc_bound_add(&all, &next, &a, false, half);
  tirc_bound_close(&all, half); /* in some it does */
  assert_true(all.open);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums),
      cmocka_unit_test(factors),
      cmocka_unit_test(points),
      cmocka_unit_test(functions),
      cmocka_unit_test(narrow),
      cmocka_unit_test(negated_products),
      cmocka_unit_test(chosen_products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
