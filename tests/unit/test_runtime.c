/* Tensors, half floats and .npy files. */
#include "runtime/arrays/tensor.h"
#include "runtime/emulate/half.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int setup(void **state) { return (*state = tirc_context_new()) ? 0 : -1; }
static int teardown(void **state) {
  tirc_context_release(*state);
  return 0;
}

/* The emulator's conversions of many are those of one; 61 leaves a rest beside what is done in
 * vectors. */
enum { SOME = 61 };

static void halves_together(void **state) {
  (void)state;
  for (int first = 0; first + SOME <= 1 << 16; first += SOME) {
    uint16_t bits[SOME], again[SOME];
    Cell value[SOME];
    for (int k = 0; k < SOME; k++) bits[k] = (uint16_t)(first + k);
    tirc_emu_halves_to_values(bits, SOME, value);
    tirc_emu_values_to_halves(value, SOME, again);
    for (int k = 0; k < SOME; k++) {
      const double one = tirc_half_to_double(bits[k]);
      assert_memory_equal(&value[k].f, &one, sizeof one);
      assert_int_equal(again[k], tirc_double_to_half(one));
    }
  }
}

static void rounded_together(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int times = 0; times < 6000; times++) {
    Cell sum[SOME], product[SOME], quotient[SOME];
    double right[3][SOME];
    for (int k = 0; k < SOME; k++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      /* often of one exponent; infinity and NaN in some of the lists */
      const uint16_t mask = times % 4 ? 0xbbff : 0xffff, a = (uint16_t)(random >> 48) & mask;
      const uint16_t b = (uint16_t)(random >> 32) & mask;
      const double x = tirc_half_to_double(a);
      const double y = tirc_half_to_double(times % 2 ? (uint16_t)((a & 0x7c00) | (b & 0x83ff)) : b);
      sum[k].f = x + y, product[k].f = x * y, quotient[k].f = x / y;
      right[0][k] = tirc_half_to_double(tirc_double_to_half(sum[k].f));
      right[1][k] = tirc_half_to_double(tirc_double_to_half(product[k].f));
      right[2][k] = tirc_half_to_double(tirc_double_to_half(quotient[k].f));
    }
    tirc_emu_round_floats_to_half(sum, SOME);
    tirc_emu_round_floats_to_half(product, SOME);
    tirc_emu_round_to_half(quotient, SOME);
    for (int k = 0; k < SOME; k++) {
      assert_true(sum[k].f == right[0][k] || (isnan(sum[k].f) && isnan(right[0][k])));
      assert_true(product[k].f == right[1][k] || (isnan(product[k].f) && isnan(right[1][k])));
      assert_true(quotient[k].f == right[2][k] || (isnan(quotient[k].f) && isnan(right[2][k])));
    }
  }
}

static void half_values(void **state) {
  (void)state;
  static const struct {
    double v;
    uint16_t half, bfloat;
  } rows[] = {
      {0, 0, 0},
      {-0.0, 0x8000, 0x8000},
      {1, 0x3c00, 0x3f80},
      {-2, 0xc000, 0xc000},
      {65504, 0x7bff, 0x4780},
      {65519, 0x7bff, 0x4780},
      {65520, 0x7c00, 0x4780}, /* half rounds up to infinity */
      {1e39, 0x7c00, 0x7f80},
      {0x1p-24, 0x0001, 0x3380}, /* least subnormal half */
      {0x1p-25, 0x0000, 0x3300}, /* tie to even: zero */
      {0x1.8p-25, 0x0001, 0x3340},
      {0x1p-14, 0x0400, 0x3880},
      {1 + 0x1p-11, 0x3c00, 0x3f80}, /* tie to even */
      {1 + 0x1.8p-10, 0x3c02, 0x3f80},
      {0x1p-133, 0, 0x0001},
      {INFINITY, 0x7c00, 0x7f80},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(tirc_double_to_half(rows[i].v), rows[i].half);
    assert_int_equal(tirc_double_to_bfloat(rows[i].v), rows[i].bfloat);
  }
  assert_true(isnan(tirc_half_to_double(tirc_double_to_half((double)NAN))));
  for (unsigned h = 0; h < 0x10000; h++) { /* every finite value survives the way there and back */
    if ((h & 0x7c00) != 0x7c00)
      assert_int_equal(tirc_double_to_half(tirc_half_to_double((uint16_t)h)), h);
    if ((h & 0x7f80) != 0x7f80)
      assert_int_equal(tirc_double_to_bfloat(tirc_bfloat_to_double((uint16_t)h)), h);
  }
}

static void elements_of_each_type(void **state) {
  Tirc *c = *state;
  const char *names[] = {"bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
                         "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    DType t;
    assert_true(tirc_dtype_parse(names[i], &t));
    Tensor *x = tirc_tensor_new(c, t, 1, (const int64_t[]){4});
    assert_true((uintptr_t)x->data % 64 == 0);
    assert_true(tirc_tensor_get(x, 3) == 0);
    tirc_tensor_set(x, 1, 1);
    tirc_tensor_set_int(x, 2, 1);
    assert_true(tirc_tensor_get(x, 1) == 1 && tirc_tensor_get_int(x, 2) == 1);
    tirc_tensor_random(x, 7);
    Tensor *y = tirc_tensor_clone(c, x);
    assert_memory_equal(x->data, y->data, x->bytes);
    tirc_tensor_free(x);
    tirc_tensor_free(y);
  }
}

#define EXPECT_FAIL(c, code_, call)                                                                \
  do {                                                                                             \
    Trap trap;                                                                                     \
    if (TIRC_TRY(c, trap)) {                                                                       \
      call;                                                                                        \
      TIRC_END(c, trap);                                                                           \
      fail_msg("no error: %s", #call);                                                             \
    }                                                                                              \
    assert_string_equal(tirc_codes[(c)->diag.code].text, code_);                                   \
  } while (0)

static void bad_shapes(void **state) {
  Tirc *c = *state;
  EXPECT_FAIL(c, "shape", tirc_tensor_new(c, DT_FLOAT32, 1, (const int64_t[]){-1}));
  EXPECT_FAIL(c, "shape", tirc_tensor_new(c, DT_FLOAT32, 2, (const int64_t[]){1 << 30, INT64_MAX}));
  EXPECT_FAIL(c, "memory", tirc_tensor_new(c, DT_FLOAT32, 1, (const int64_t[]){INT64_MAX / 8}));
  Tensor *t = tirc_tensor_new(c, DT_FLOAT32, 2, (const int64_t[]){0, 5});
  assert_int_equal(t->count, 0);
  tirc_tensor_free(t);
}

static void write_file(const char *path, const char *header, size_t header_size, const void *data,
                       size_t bytes) {
  FILE *f = fopen(path, "wb");
  unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)header_size, 0};
  fwrite(head, 1, sizeof head, f);
  fwrite(header, 1, header_size, f);
  fwrite(data, 1, bytes, f);
  fclose(f);
}

static void npy_files(void **state) {
  Tirc *c = *state;
  char path[] = "/tmp/tirc-npy-XXXXXX";
  close(mkstemp(path));
  const DType types[] = {DT_FLOAT32, DT_FLOAT64, DT(TYPE_FLOAT, 16), DT(TYPE_BFLOAT, 16),
                         DT_BOOL,    DT_INT64,   DT(TYPE_UINT, 8)};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    for (int ndim = 0; ndim <= 3; ndim++) {
      Tensor *x = tirc_tensor_new(c, types[i], ndim, (const int64_t[]){2, 3, 4});
      tirc_tensor_random(x, i);
      tirc_npy_write(c, path, x);
      Tensor *y = tirc_npy_read(c, path);
      assert_true(tirc_dtype_equal(y->dtype, x->dtype));
      assert_int_equal(y->ndim, ndim);
      assert_int_equal(y->count, x->count);
      assert_memory_equal(x->data, y->data, x->bytes);
      tirc_tensor_free(x);
      tirc_tensor_free(y);
    }
  const char fortran[] = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
  write_file(path, fortran, sizeof fortran - 1, "\0\1\0\2\0\3\0\4\0\5\0\6", 12);
  Tensor *t = tirc_npy_read(c, path);
  const int64_t expected[] = {1, 3, 5, 2, 4, 6};
  for (int i = 0; i < 6; i++) assert_int_equal(tirc_tensor_get_int(t, i), expected[i]);
  tirc_tensor_free(t);
  const char *bad[] = {
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n", /* data too short */
      "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 8), }\n",
      "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }\n",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n",
      "{'fortran_order': False}\n",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    write_file(path, bad[i], strlen(bad[i]), "\0\0\0\0\0\0\0\0", 8);
    EXPECT_FAIL(c, "npy", tirc_npy_read(c, path));
  }
  unlink(path);
  EXPECT_FAIL(c, "file", tirc_npy_read(c, path));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(half_values),      cmocka_unit_test(halves_together),
      cmocka_unit_test(rounded_together), cmocka_unit_test(elements_of_each_type),
      cmocka_unit_test(bad_shapes),       cmocka_unit_test(npy_files),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
