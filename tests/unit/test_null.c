/* NULL and negative arguments through every function of the public header: a value, never a crash.
 * And texts that are no UTF-8: what comes out is. */
#include "ir/utf8.h"
#include "runtime/tirc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static tirc_error *e;
#define E (&e)

/* The call says TIRC_BAD, and which argument is wrong. */
#define REFUSED(call) refused(#call, call)
static void refused(const char *call, tirc_status status) {
  if (status != TIRC_BAD || !e) fail_msg("%s gives %d", call, status);
  const char *code = tirc_error_get(e, TIRC_ERROR_CODE);
  if (strcmp(code, "argument") != 0 && strcmp(code, "build") != 0)
    fail_msg("%s: %s: %s", call, code, tirc_error_message(e));
  tirc_error_free(e);
  e = NULL;
}
#define OK(call) assert_int_equal(call, TIRC_OK)

static const char text[] = "@T.prim_func\n"
                           "def main(A: T.Buffer((8,), 'float32')):\n"
                           "    for i in range(8):\n"
                           "        with T.block('b'):\n"
                           "            v = T.axis.spatial(8, i)\n"
                           "            A[v] = T.float32(1)\n";

static const char text_of_n[] = "N = 8\n"
                                "@T.prim_func\n"
                                "def main(A: T.Buffer((N,), 'float32')):\n"
                                "    A[0] = T.float32(N)\n";

typedef struct World {
  tirc_module *m;
  tirc_schedule *s;
  tirc_kernel *k;
  tirc_executor *x;
  tirc_launch *launch;
  tirc_array *a;
  tirc_argument argument;
} World;

static int set_up(void **state) {
  static World w;
  OK(tirc_module_parse(text, strlen(text), "p", 0, NULL, &w.m, NULL));
  OK(tirc_schedule_new(w.m, NULL, &w.s, NULL));
  OK(tirc_kernel_new(w.m, NULL, NULL, &w.k, NULL));
  OK(tirc_executor_new(1, &w.x, NULL));
  OK(tirc_array_new("float32", 1, &(int64_t){8}, &w.a, NULL));
  w.argument.array = w.a;
  OK(tirc_launch_new(w.k, w.x, 1, &w.argument, &w.launch, NULL));
  *state = &w;
  return 0;
}

static int tear_down(void **state) {
  World *w = *state;
  tirc_launch_free(w->launch);
  tirc_array_free(w->a);
  tirc_executor_free(w->x);
  tirc_kernel_free(w->k);
  tirc_schedule_free(w->s);
  tirc_module_free(w->m);
  return 0;
}

static void tell(void *self, const char *func, const char *symbol) {
  (void)self, (void)func, (void)symbol;
}

static void modules(void **state) {
  World *w = *state;
  tirc_module *m = w->m, *out = NULL;
  char *s = NULL;
  int n = 0;
  tirc_size_range *sizes = NULL;
  REFUSED(tirc_module_read(NULL, 0, NULL, &out, E));
  REFUSED(tirc_module_read("no.tir", -1, NULL, &out, E));
  REFUSED(tirc_module_read("no.tir", 1, NULL, &out, E));
  REFUSED(tirc_module_read("no.tir", 0, NULL, NULL, E));
  REFUSED(tirc_module_parse(NULL, 3, "p", 0, NULL, &out, E));
  REFUSED(tirc_module_parse(text, (size_t)-1, "p", 0, NULL, &out, E));
  REFUSED(tirc_module_parse(text, strlen(text), NULL, 1, &(tirc_define){0}, &out, E));
  REFUSED(tirc_module_parse(text, strlen(text), NULL, 0, NULL, NULL, E));
  REFUSED(tirc_module_print(NULL, &s, E));
  REFUSED(tirc_module_print(m, NULL, E));
  REFUSED(tirc_module_alone(NULL, NULL, "f", &(tirc_module *){0}, E));
  REFUSED(tirc_module_alone(m, NULL, NULL, &(tirc_module *){0}, E));
  REFUSED(tirc_module_alone(m, NULL, "f", NULL, E));
  REFUSED(tirc_module_with_main(NULL, "f", &(tirc_module *){0}, E));
  REFUSED(tirc_module_with_main(m, NULL, &(tirc_module *){0}, E));
  REFUSED(tirc_module_with_main(m, "f", NULL, E));
  REFUSED(tirc_module_in_float64(NULL, &(tirc_module *){0}, E));
  REFUSED(tirc_module_in_float64(m, NULL, E));
  REFUSED(tirc_module_make_weights(NULL, NULL, 1, &(tirc_module *){0}, &(tirc_weights *){0}, E));
  REFUSED(tirc_module_with_sizes(NULL, "n=1", &out, E));
  REFUSED(tirc_module_with_sizes(m, NULL, &out, E));
  REFUSED(tirc_module_with_sizes(m, "n=1", NULL, E));
  REFUSED(tirc_module_sizes(NULL, &n, &sizes, E));
  REFUSED(tirc_module_sizes(m, NULL, &sizes, E));
  REFUSED(tirc_module_sizes(m, &n, NULL, E));
  REFUSED(tirc_module_for_sizes(NULL, 0, NULL, &out, E));
  REFUSED(tirc_module_for_sizes(m, 1, NULL, &out, E));
  REFUSED(tirc_module_for_sizes(m, 0, NULL, NULL, E));
  REFUSED(tirc_module_keep_sizes(NULL, NULL, NULL, E));
  REFUSED(tirc_module_hash(NULL, &s, E));
  REFUSED(tirc_module_hash(m, NULL, E));
  REFUSED(tirc_module_compare(m, NULL, &s, E));
  REFUSED(tirc_module_compare(NULL, m, &s, E));
  REFUSED(tirc_module_compare(m, m, NULL, E));
  const tirc_param *params;
  REFUSED(tirc_module_params(NULL, NULL, &n, &params, E));
  REFUSED(tirc_module_params(m, NULL, NULL, &params, E));
  REFUSED(tirc_module_params(m, NULL, &n, NULL, E));
  const tirc_symbol *symbols;
  REFUSED(tirc_module_symbols(NULL, NULL, &n, &symbols, E));
  REFUSED(tirc_module_symbols(m, NULL, NULL, &symbols, E));
  REFUSED(tirc_module_symbols(m, NULL, &n, NULL, E));
  REFUSED(tirc_module_cost(NULL, NULL, &(tirc_cost){0}, E));
  REFUSED(tirc_module_cost(m, NULL, NULL, E));
  REFUSED(tirc_module_estimate(NULL, NULL, 1, &(double){0}, E));
  REFUSED(tirc_module_estimate(m, NULL, 1, NULL, E));
  REFUSED(tirc_module_estimate(m, NULL, -1, &(double){0}, E));
  REFUSED(tirc_module_check(NULL, NULL, E));
  REFUSED(tirc_module_check_code(NULL, NULL, E));
  REFUSED(tirc_module_check_sizes(NULL, E));
  REFUSED(tirc_module_check_kernels(NULL, TIRC_EMIT_PTX, NULL, E));
  REFUSED(tirc_module_check_rules(NULL, NULL, NULL, E));
  REFUSED(tirc_module_lower_for(NULL, NULL, NULL, NULL, &out, E));
  REFUSED(tirc_module_lower_for(m, NULL, NULL, NULL, NULL, E));
  REFUSED(tirc_module_lower_only(NULL, NULL, 0, NULL, &out, E));
  REFUSED(tirc_module_lower_only(m, NULL, 1, NULL, &out, E));
  REFUSED(tirc_module_lower_only(m, NULL, -1, NULL, &out, E));
  REFUSED(tirc_module_lower_only(m, NULL, 0, NULL, NULL, E));
  REFUSED(tirc_module_with_lines(NULL, &out, E));
  REFUSED(tirc_module_with_lines(m, NULL, E));
  REFUSED(tirc_module_with_fast_math(NULL, &out, E));
  REFUSED(tirc_module_with_fast_math(m, NULL, E));
  tirc_program *program;
  static const tirc_program_options wrong[] = {{.n_skip = 1},      {.n_skip = -1},
                                               {.n_libraries = 1}, {.n_libraries = -1},
                                               {.n_passes = 1},    {.n_passes = -1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    REFUSED(tirc_program_new(m, &wrong[i], &program, E));
    REFUSED(tirc_module_phases(m, "loops", &wrong[i], &out, E));
  }
  REFUSED(tirc_program_new(NULL, NULL, &program, E));
  REFUSED(tirc_program_new(m, NULL, NULL, E));
  REFUSED(tirc_program_new_with(m, NULL, 1, NULL, &program, E));
  REFUSED(tirc_module_phases(NULL, NULL, NULL, &out, E));
  REFUSED(tirc_module_phases(m, NULL, NULL, NULL, E));
  REFUSED(tirc_module_emitted_names(NULL, NULL, tell, NULL, E));
  REFUSED(tirc_module_emitted_names(m, NULL, NULL, NULL, E));
  REFUSED(tirc_module_split_packing(NULL, &out, E));
  REFUSED(tirc_module_split_packing(m, NULL, E));
  REFUSED(tirc_module_pack(NULL, NULL, NULL, 0, NULL, NULL, E));
  REFUSED(tirc_module_pack(m, NULL, NULL, 0, NULL, NULL, E));
  size_t size;
  REFUSED(tirc_module_emit(NULL, TIRC_EMIT_C, NULL, NULL, &s, &size, E));
  REFUSED(tirc_module_emit(m, TIRC_EMIT_C, NULL, NULL, NULL, &size, E));
  REFUSED(tirc_module_emit(m, TIRC_EMIT_C, NULL, NULL, &s, NULL, E));
  REFUSED(tirc_module_emit(m, (tirc_emit_kind)-1, NULL, NULL, &s, &size, E));
  REFUSED(tirc_module_emit(m, (tirc_emit_kind)99, NULL, NULL, &s, &size, E));
  const tirc_emit_options emission = {.place = TIRC_WEIGHTS_BESIDE};
  REFUSED(tirc_module_emit_model(NULL, TIRC_EMIT_C, &emission, &s, &size, E));
  REFUSED(tirc_module_emit_model(m, TIRC_EMIT_C, NULL, NULL, &size, E));
  REFUSED(tirc_module_emit_model(m, TIRC_EMIT_C, NULL, &s, NULL, E));
  REFUSED(tirc_module_emit_weights(NULL, &emission, "nowhere", NULL, E));
  REFUSED(tirc_module_emit_weights(m, NULL, "nowhere", NULL, E));
  REFUSED(tirc_module_emit_weights(m, &emission, "nowhere", NULL, E)); /* without weights */
  REFUSED(tirc_module_relayout(NULL, NULL, 0, false, &out, E));
  REFUSED(tirc_module_relayout(m, NULL, -1, false, &out, E));
  REFUSED(tirc_module_relayout(m, NULL, 0, false, NULL, E));
  assert_int_equal(tirc_module_functions(NULL), 0);
  assert_null(tirc_module_function(NULL, 0));
  assert_null(tirc_module_function(m, -1));
  assert_false(tirc_module_constant(NULL, 0, NULL, NULL, NULL));
  assert_false(tirc_module_constant(m, -1, NULL, NULL, NULL));
  assert_int_equal(tirc_error_status(NULL), TIRC_BAD);
  assert_null(tirc_error_message(NULL));
  assert_int_equal(tirc_error_line(NULL) + tirc_error_column(NULL), 0);
  assert_null(out);
  assert_null(s);
}

static void each_file(void *self, const char *path) { (void)self, (void)path; }

static void schedules(void **state) {
  World *w = *state;
  tirc_module *m = w->m, *out = NULL;
  tirc_schedule *s = w->s, *made = NULL;
  tirc_steps *steps = NULL;
  tirc_value none = tirc_none(), v;
  char *string = NULL;
  int n;
  REFUSED(tirc_module_schedule(NULL, "s", NULL, &out, E));
  REFUSED(tirc_module_schedule(m, NULL, NULL, &out, E));
  REFUSED(tirc_module_schedule(m, "s", NULL, NULL, E));
  REFUSED(tirc_script_files(NULL, each_file, NULL, NULL, E));
  REFUSED(tirc_script_files("s", NULL, NULL, NULL, E));
  assert_null(tirc_import_file(NULL, 0));
  assert_null(tirc_import_file(m, 0));
  REFUSED(tirc_module_schedule_text(NULL, "", 0, "s", NULL, &out, E));
  REFUSED(tirc_module_schedule_text(m, NULL, 1, "s", NULL, &out, E));
  REFUSED(tirc_module_schedule_text(m, "", 0, NULL, NULL, NULL, E));
  REFUSED(tirc_module_auto(NULL, NULL, NULL, &out, E));
  REFUSED(tirc_module_auto(m, NULL, NULL, NULL, E));
  REFUSED(tirc_module_auto_kept(NULL, NULL, NULL, &out, E));
  REFUSED(tirc_module_auto_kept(m, NULL, NULL, NULL, E));
  REFUSED(tirc_module_replay(NULL, "s", 0, NULL, &out, E));
  REFUSED(tirc_module_replay(m, NULL, 0, NULL, &out, E));
  REFUSED(tirc_module_replay(m, "s", -1, NULL, &out, E));
  REFUSED(tirc_module_replay(m, "s", 0, NULL, NULL, E));
  REFUSED(tirc_module_replay_text(NULL, "s", 1, "n", 0, NULL, &out, E));
  REFUSED(tirc_module_replay_text(m, NULL, 1, "n", 0, NULL, &out, E));
  REFUSED(tirc_module_replay_text(m, "s", 1, "n", -1, NULL, &out, E));
  REFUSED(tirc_module_replay_text(m, "s", 1, "n", 0, NULL, NULL, E));
  REFUSED(tirc_module_trace(NULL, TIRC_TRACE_JSON, &string, E));
  REFUSED(tirc_module_trace(m, TIRC_TRACE_JSON, NULL, E));
  REFUSED(tirc_module_steps_auto(NULL, NULL, NULL, &steps, E));
  REFUSED(tirc_module_steps_auto(m, NULL, NULL, NULL, E));
  REFUSED(tirc_module_steps(NULL, "s", NULL, &steps, E));
  REFUSED(tirc_module_steps(m, NULL, NULL, &steps, E));
  REFUSED(tirc_module_steps(m, "s", NULL, NULL, E));
  REFUSED(tirc_module_steps_text(NULL, "", 0, "s", NULL, &steps, E));
  REFUSED(tirc_module_steps_text(m, NULL, 1, "s", NULL, &steps, E));
  REFUSED(tirc_module_steps_text(m, "", 0, "s", NULL, NULL, E));
  assert_int_equal(tirc_steps_count(NULL), 0);
  assert_null(tirc_steps_at(NULL, 0));
  assert_null(tirc_steps_script(NULL));
  assert_null(tirc_steps_first(NULL));
  assert_null(tirc_steps_last(NULL));
  assert_null(tirc_steps_error(NULL));
  assert_null(tirc_steps_module(NULL, NULL));
  REFUSED(tirc_schedule_new(NULL, NULL, &made, E));
  REFUSED(tirc_schedule_new(m, NULL, NULL, E));
  REFUSED(tirc_schedule_copy(NULL, &made, E));
  REFUSED(tirc_schedule_copy(s, NULL, E));
  REFUSED(tirc_schedule_run_unchecked(NULL, "", 0, "f", E));
  REFUSED(tirc_schedule_run_unchecked(s, NULL, 1, "f", E));
  tirc_schedule_place(NULL, "f", 1, 1);
  tirc_schedule_place(s, NULL, -1, -1);
  REFUSED(tirc_schedule_call(NULL, "get_child_blocks", 0, NULL, 0, NULL, NULL, &v, E));
  REFUSED(tirc_schedule_call(s, NULL, 0, NULL, 0, NULL, NULL, &v, E));
  REFUSED(tirc_schedule_call(s, "get_loops", -1, &none, 0, NULL, NULL, &v, E));
  REFUSED(tirc_schedule_call(s, "get_loops", 1, NULL, 0, NULL, NULL, &v, E));
  REFUSED(tirc_schedule_call(s, "get_loops", 0, NULL, -1, NULL, NULL, &v, E));
  REFUSED(tirc_schedule_call(s, "get_loops", 0, NULL, 1, NULL, NULL, &v, E));
  REFUSED(tirc_schedule_call(s, "get_loops", 0, NULL, 1, &(const char *){NULL}, &none, &v, E));
  REFUSED(tirc_schedule_call(s, "get_loops", 0, NULL, 1, &(const char *){"block"}, NULL, &v, E));
  REFUSED(tirc_schedule_method(NULL, NULL, "x", 0, NULL, 0, NULL, NULL, &v, E));
  REFUSED(tirc_schedule_attribute(NULL, NULL, "mod", &v, E));
  REFUSED(tirc_schedule_attribute(s, NULL, NULL, &v, E));
  REFUSED(tirc_schedule_attribute(s, NULL, "mod", NULL, E));
  REFUSED(tirc_schedule_operator(NULL, "+", &none, &none, &v, E));
  REFUSED(tirc_schedule_operator(s, NULL, &none, &none, &v, E));
  REFUSED(tirc_schedule_operator(s, "+", NULL, &none, &v, E));
  REFUSED(tirc_schedule_operator(s, "+", &none, NULL, &v, E));
  REFUSED(tirc_schedule_operator(s, "+", &none, &none, NULL, E));
  REFUSED(tirc_schedule_text(NULL, &none, &string, E));
  REFUSED(tirc_schedule_text(s, NULL, &string, E));
  REFUSED(tirc_schedule_text(s, &none, NULL, E));
  REFUSED(tirc_schedule_run(NULL, "", 0, NULL, E));
  REFUSED(tirc_schedule_run(s, NULL, 1, NULL, E));
  REFUSED(tirc_schedule_set(NULL, "x", &none, E));
  REFUSED(tirc_schedule_set(s, NULL, &none, E));
  REFUSED(tirc_schedule_set(s, "x", NULL, E));
  REFUSED(tirc_schedule_module(NULL, &out, E));
  REFUSED(tirc_schedule_module(s, NULL, E));
  const tirc_tree_node *nodes;
  REFUSED(tirc_schedule_tree(NULL, NULL, &n, &nodes, E));
  REFUSED(tirc_schedule_tree(s, NULL, NULL, &nodes, E));
  REFUSED(tirc_schedule_tree(s, NULL, &n, NULL, E));
  OK(tirc_schedule_call(s, "get_child_blocks", 1,
                        &(tirc_value){.kind = TIRC_KIND_STR, .u.s = "root"}, 0, NULL, NULL, &v,
                        NULL));
}

static void arrays(void **state) {
  World *w = *state;
  tirc_array *a = NULL;
  DLManagedTensor *tensor = NULL;
  REFUSED(tirc_array_new(NULL, 0, NULL, &a, E));
  REFUSED(tirc_array_new("float32", -1, NULL, &a, E));
  REFUSED(tirc_array_new("float32", 1, NULL, &a, E));
  REFUSED(tirc_array_new("float32", 0, NULL, NULL, E));
  REFUSED(tirc_array_read_npy(NULL, &a, E));
  REFUSED(tirc_array_read_npy("no.npy", NULL, E));
  REFUSED(tirc_array_write_npy(NULL, "no.npy", E));
  REFUSED(tirc_array_write_npy(w->a, NULL, E));
  REFUSED(tirc_array_copy(NULL, &a, E));
  REFUSED(tirc_array_copy(w->a, NULL, E));
  REFUSED(tirc_array_rows(NULL, 0, 0, &a, E));
  REFUSED(tirc_array_rows(w->a, 0, 0, NULL, E));
  REFUSED(tirc_array_rows(w->a, -1, 0, &a, E));
  REFUSED(tirc_array_rows(w->a, 99, 0, &a, E));
  REFUSED(tirc_array_rows(w->a, 0, -1, &a, E));
  assert_int_equal(tirc_program_count(NULL, 0, NULL), -1);
  assert_int_equal(tirc_program_count_at(NULL, 0, 0, NULL), -1);
  REFUSED(tirc_array_from_dlpack(NULL, &a, E));
  REFUSED(tirc_array_from_dlpack(&(DLManagedTensor){0}, NULL, E));
  REFUSED(tirc_array_to_dlpack(NULL, &tensor, E));
  REFUSED(tirc_array_to_dlpack(w->a, NULL, E));
  REFUSED(tirc_npz_open(NULL, &(tirc_npz *){NULL}, E));
  REFUSED(tirc_npz_open("no.npz", NULL, E));
  REFUSED(tirc_npz_read(NULL, "A", &a, E));
  REFUSED(tirc_npz_write(NULL, 0, NULL, NULL, E));
  REFUSED(tirc_npz_write("no/such/folder.npz", -1, NULL, NULL, E));
  REFUSED(tirc_npz_write("no/such/folder.npz", 1, NULL, NULL, E));
  assert_null(tirc_npz_name(NULL, 0));
  assert_null(tirc_array_dtype(NULL));
  assert_int_equal(tirc_array_ndim(NULL), 0);
  assert_null(tirc_array_shape(NULL));
  assert_int_equal(tirc_array_count(NULL), 0);
  assert_int_equal(tirc_array_bytes(NULL), 0);
  assert_null(tirc_array_data(NULL));
  tirc_array_tensor(NULL, NULL);
  tirc_array_tensor(w->a, NULL);
  tirc_array_fill_random(NULL, 1);
  tirc_array_fill_poison(NULL);
  assert_true(isnan(tirc_array_get(NULL, 0)));
  assert_true(isnan(tirc_array_get(w->a, -1)));
  assert_true(isnan(tirc_array_get(w->a, 8)));
  tirc_array_set(NULL, 0, 1);
  tirc_array_set(w->a, -1, 1);
  tirc_array_set(w->a, 8, 1);
  assert_null(a);
  assert_null(tensor);
}

static void runs(void **state) {
  World *w = *state;
  tirc_argument nothing = {0}, *given = &w->argument;
  tirc_module *m = w->m;
  tirc_kernel *k = NULL;
  tirc_launch *launch = NULL;
  tirc_observer observer = {0};
  int64_t shape[8];
  double seconds[1];
  REFUSED(tirc_module_shape(NULL, NULL, 1, given, 0, NULL, 0, shape, E));
  REFUSED(tirc_module_shape(m, NULL, -1, given, 0, NULL, 0, shape, E));
  REFUSED(tirc_module_shape(m, NULL, 1, NULL, 0, NULL, 0, shape, E));
  REFUSED(tirc_module_shape(m, NULL, 1, given, -1, NULL, 0, shape, E));
  REFUSED(tirc_module_shape(m, NULL, 1, given, 1, NULL, 0, shape, E));
  REFUSED(tirc_module_shape(m, NULL, 1, given, 1, &(tirc_symbol){0}, 0, shape, E));
  REFUSED(tirc_module_shape(m, NULL, 1, given, 0, NULL, 0, NULL, E));
  tirc_array *array = NULL;
  REFUSED(tirc_module_array(NULL, NULL, 1, given, 0, NULL, 0, NULL, &array, E));
  REFUSED(tirc_module_array(m, NULL, -1, given, 0, NULL, 0, NULL, &array, E));
  REFUSED(tirc_module_array(m, NULL, 1, NULL, 0, NULL, 0, NULL, &array, E));
  REFUSED(tirc_module_array(m, NULL, 1, given, 1, NULL, 0, NULL, &array, E));
  REFUSED(tirc_module_array(m, NULL, 1, given, 0, NULL, -1, NULL, &array, E));
  REFUSED(tirc_module_array(m, NULL, 1, given, 0, NULL, 7, NULL, &array, E));
  REFUSED(tirc_module_array(m, NULL, 1, given, 0, NULL, 0, NULL, NULL, E));
  REFUSED(tirc_array_fill_range(NULL, 1, 0, 1, E));
  tirc_reference *reference = NULL;
  tirc_reference_free(NULL);
  REFUSED(tirc_reference_new(NULL, NULL, 1, given, NULL, &reference, E));
  REFUSED(tirc_reference_new(m, NULL, -1, given, NULL, &reference, E));
  REFUSED(tirc_reference_new(m, NULL, 0, NULL, NULL, &reference, E));
  REFUSED(tirc_reference_new(m, NULL, 1, NULL, NULL, &reference, E));
  REFUSED(tirc_reference_new(m, NULL, 1, &nothing, NULL, &reference, E));
  REFUSED(tirc_reference_new(m, NULL, 1, given, NULL, NULL, E));
  REFUSED(tirc_reference_new(m, NULL, 1, given, &(tirc_reference_options){.max_steps = -1},
                             &reference, E));
  REFUSED(tirc_reference_check(NULL, 1, given, &(tirc_check){0}, E));
  assert_int_equal(tirc_reference_new(m, NULL, 1, given, NULL, &reference, NULL), TIRC_OK);
  REFUSED(tirc_reference_check(reference, -1, given, &(tirc_check){0}, E));
  REFUSED(tirc_reference_check(reference, 0, NULL, &(tirc_check){0}, E));
  REFUSED(tirc_reference_check(reference, 1, NULL, &(tirc_check){0}, E));
  REFUSED(tirc_reference_check(reference, 1, &nothing, &(tirc_check){0}, E));
  REFUSED(tirc_reference_check(reference, 1, given, NULL, E));
  tirc_check check = {0};
  assert_int_equal(tirc_reference_check(reference, 1, given, &check, NULL), TIRC_OK);
  double expected;
  tirc_reference_element(reference, 5, 0, &expected, NULL, NULL);
  assert_true(isnan(expected));
  tirc_reference_element(NULL, 0, 0, &expected, NULL, NULL);
  assert_true(isnan(expected));
  tirc_reference_free(reference);
  REFUSED(tirc_module_call_cost(NULL, NULL, 1, given, &(tirc_cost){0}, E));
  REFUSED(tirc_module_call_cost(m, NULL, -1, given, &(tirc_cost){0}, E));
  REFUSED(tirc_module_call_cost(m, NULL, 1, NULL, &(tirc_cost){0}, E));
  REFUSED(tirc_module_call_cost(m, NULL, 1, &nothing, &(tirc_cost){0}, E));
  REFUSED(tirc_module_call_cost(m, NULL, 1, given, NULL, E));
  REFUSED(tirc_module_call_integers(NULL, NULL, 1, given, &(double){0}, &(int){0}, E));
  REFUSED(tirc_module_call_integers(m, NULL, 1, NULL, &(double){0}, &(int){0}, E));
  REFUSED(tirc_module_call_integers(m, NULL, 1, given, NULL, &(int){0}, E));
  REFUSED(tirc_module_call_integers(m, NULL, 1, given, &(double){0}, NULL, E));
  REFUSED(tirc_module_interpret(NULL, NULL, 1, given, 0, E));
  REFUSED(tirc_module_interpret(m, NULL, -1, given, 0, E));
  REFUSED(tirc_module_interpret(m, NULL, 0, NULL, 0, E));
  REFUSED(tirc_module_interpret(m, NULL, 1, NULL, 0, E));
  REFUSED(tirc_module_interpret(m, NULL, 1, &nothing, 0, E));
  REFUSED(tirc_module_interpret(m, NULL, 1, given, -1, E));
  REFUSED(tirc_module_observe(NULL, NULL, 1, given, 0, &observer, NULL, E));
  REFUSED(tirc_module_observe(m, NULL, 1, NULL, 0, &observer, NULL, E));
  REFUSED(tirc_module_observe(m, NULL, 1, given, 0, NULL, NULL, E));
  OK(tirc_module_observe(m, NULL, 1, given, 0, &observer, NULL, E));
  char *json = NULL;
  REFUSED(tirc_spatial_spec(NULL, NULL, &json, E));
  REFUSED(tirc_spatial_spec("{}", NULL, NULL, E));
  REFUSED(tirc_module_spatial_cost(NULL, NULL, "{}", NULL, &json, E));
  REFUSED(tirc_module_spatial_cost(m, NULL, NULL, NULL, &json, E));
  REFUSED(tirc_module_spatial_cost(m, NULL, "{}", NULL, NULL, E));
  REFUSED(tirc_module_spatial_run(NULL, NULL, "{}", 1, given, 0, NULL, &json, E));
  REFUSED(tirc_module_spatial_run(m, NULL, NULL, 1, given, 0, NULL, &json, E));
  REFUSED(tirc_module_spatial_run(m, NULL, "{}", 1, NULL, 0, NULL, &json, E));
  REFUSED(tirc_module_spatial_run(m, NULL, "{}", 1, given, 0, NULL, NULL, E));
  REFUSED(tirc_module_spatial_search(NULL, NULL, "{}", 0, NULL, &json, E));
  REFUSED(tirc_module_spatial_search(m, NULL, NULL, 0, NULL, &json, E));
  REFUSED(tirc_module_spatial_search(m, NULL, "{}", -1, NULL, &json, E));
  REFUSED(tirc_module_spatial_search(m, NULL, "{}", 0, NULL, NULL, E));
  REFUSED(tirc_spatial_log_cost(NULL, 1, NULL, "{}", NULL, NULL, &json, E));
  REFUSED(tirc_spatial_log_cost("", 0, NULL, NULL, NULL, NULL, &json, E));
  REFUSED(tirc_spatial_log_cost("", 0, NULL, "{}", NULL, NULL, NULL, E));
  REFUSED(tirc_executor_new(-1, &(tirc_executor *){NULL}, E));
  REFUSED(tirc_executor_new(1, NULL, E));
  assert_int_equal(tirc_executor_threads(NULL), 0);
  assert_int_equal(tirc_executor_fma(NULL, 256, 1), 0);
  assert_int_equal(tirc_executor_integers(NULL, 256, 8, 1), 0);
  assert_int_equal(tirc_executor_move(NULL, 256, NULL, 0, NULL, 0, false), 0);
  REFUSED(tirc_kernel_new(NULL, NULL, NULL, &k, E));
  REFUSED(tirc_kernel_new(m, NULL, NULL, NULL, E));
  REFUSED(tirc_kernel_new_on(NULL, NULL, "cpu", NULL, &k, E));
  REFUSED(tirc_kernel_new_on(m, NULL, "cpu", NULL, NULL, E));
  REFUSED(tirc_kernel_new_on(m, NULL, "nowhere", NULL, &k, E));
  REFUSED(tirc_devices_of("opencl", NULL, NULL, E));
  REFUSED(tirc_kernel_run(NULL, w->x, 1, given, E));
  REFUSED(tirc_kernel_run(w->k, w->x, -1, NULL, E));
  REFUSED(tirc_kernel_run(w->k, w->x, 0, NULL, E));
  REFUSED(tirc_kernel_run(w->k, w->x, 1, NULL, E));
  REFUSED(tirc_kernel_run(w->k, w->x, 1, &nothing, E));
  REFUSED(tirc_launch_new(NULL, w->x, 1, given, &launch, E));
  REFUSED(tirc_launch_new(w->k, w->x, 1, NULL, &launch, E));
  REFUSED(tirc_launch_new(w->k, w->x, 1, given, NULL, E));
  REFUSED(tirc_launch_time(NULL, 1, 1, 0, seconds, E));
  REFUSED(tirc_launch_time(w->launch, 1, 1, 0, NULL, E));
  REFUSED(tirc_launch_time(w->launch, 1, -1, 0, seconds, E));
  REFUSED(tirc_launch_time(w->launch, 1, 1, (double)INFINITY, seconds, E));
  REFUSED(tirc_launch_time(w->launch, 1, 1, (double)NAN, seconds, E));
  OK(tirc_launch_time(w->launch, -1, 1, -1, seconds, E));

  tirc_measurement *measured = NULL;
  const tirc_contender timed = tirc_launch_contender(NULL, w->launch), untimed = {.name = "none"};
  const tirc_measure_options few = {.seconds = 1e-6, .turns = 1, .attempts = 1},
                             fewer = {.turns = -1}, none = {.attempts = -1},
                             nowhere = {.cores = -1};
  tirc_profile *profile = NULL;
  tirc_profile_part part;
  REFUSED(tirc_profile_new(NULL, NULL, NULL, w->x, 1, &w->argument, &profile, E));
  REFUSED(tirc_profile_new(w->m, NULL, NULL, NULL, 1, &w->argument, &profile, E));
  REFUSED(tirc_profile_new(w->m, NULL, NULL, w->x, 1, NULL, &profile, E));
  REFUSED(tirc_profile_new(w->m, NULL, NULL, w->x, -1, &w->argument, &profile, E));
  REFUSED(tirc_profile_new(w->m, NULL, NULL, w->x, 1, &w->argument, NULL, E));
  REFUSED(tirc_profile_new_on(NULL, NULL, "emulate", NULL, w->x, 1, &w->argument, &profile, E));
  REFUSED(tirc_profile_new_on(w->m, NULL, "emulate", NULL, NULL, 1, &w->argument, &profile, E));
  REFUSED(tirc_profile_new_on(w->m, NULL, NULL, NULL, w->x, 1, &w->argument, NULL, E));
  assert_false(tirc_profile_get(NULL, 0, &part));
  assert_false(tirc_profile_summarize(NULL, NULL));
  assert_null(tirc_profile_module(NULL, NULL));
  tirc_profile_free(NULL);
  REFUSED(tirc_measure(1, NULL, &few, &measured, E));
  REFUSED(tirc_measure(-1, &timed, &few, &measured, E));
  REFUSED(tirc_measure(1, &timed, &few, NULL, E));
  REFUSED(tirc_measure(1, &untimed, &few, &measured, E));
  REFUSED(tirc_measure(1, &timed, &fewer, &measured, E));
  REFUSED(tirc_measure(1, &timed, &none, &measured, E));
  REFUSED(tirc_measure(1, &timed, &nowhere, &measured, E));
  OK(tirc_measure(1, &timed, &few, &measured, E));
  assert_null(tirc_measurement_figures(measured, -1));
  tirc_measurement_free(measured);
  OK(tirc_measure(0, NULL, NULL, &measured, E));
  assert_null(tirc_measurement_figures(NULL, 0));
  assert_null(tirc_measurement_conditions(NULL));
  assert_true(tirc_times_as_fast(NULL, NULL).value == 0);
  assert_false(tirc_surely_faster(NULL, NULL));
  tirc_machine_profile(NULL, 10);
  tirc_measurement_free(measured);
  tirc_measurement_free(NULL);
  assert_int_not_equal(tirc_launch_run(NULL), 0);
  assert_int_not_equal(tirc_launch_stay(NULL, true), 0);
  assert_true(tirc_launch_seconds(NULL) < 0);
  assert_true(tirc_launch_seconds(w->launch) < 0);
  tirc_launch_tell(NULL, NULL, NULL);
  assert_true(tirc_machine_peak(-1) <= 0);
  tirc_machine_name(NULL, 8);
  REFUSED(tirc_code_cache_look(true, NULL, E));
  assert_null(k);
  assert_null(launch);
}

static void tables(void **state) {
  (void)state;
  const char *name;
  REFUSED(tirc_target_find(NULL, &(tirc_target_info){0}, E));
  REFUSED(tirc_target_find("haswell", NULL, E));
  assert_false(tirc_target_table(0, NULL));
  assert_false(tirc_target_table(-1, &(tirc_target_info){0}));
  assert_false(tirc_error_table(0, NULL));
  assert_false(tirc_error_table(-1, &(tirc_error_info){0}));
  assert_false(tirc_primitive_table(0, NULL));
  assert_false(tirc_primitive_table(-1, &(tirc_primitive_info){0}));
  assert_false(tirc_rules_table(-1, NULL, NULL));
  assert_true(tirc_rules_table(0, NULL, NULL));
  tirc_operators *operators;
  tirc_module *made;
  REFUSED(tirc_operators_read(NULL, NULL, E));
  REFUSED(tirc_operators_find(NULL, "add", &(const tirc_operator_info *){NULL}, E));
  REFUSED(tirc_operator_module(NULL, NULL, 0, NULL, &made, E));
  REFUSED(tirc_operator_module(NULL, "add", -1, NULL, &made, E));
  REFUSED(tirc_operator_module(NULL, "add", 1, (const char *[]){NULL}, &made, E));
  assert_int_equal(tirc_operators_read(NULL, &operators, NULL), TIRC_OK);
  assert_null(tirc_operators_name(operators, -1));
  assert_null(tirc_operators_name(operators, 100000));
  assert_int_equal(tirc_operators_count(NULL), 0);
  assert_null(tirc_operators_name(NULL, 0));
  tirc_operators_free(operators);
  tirc_operators_free(NULL);
  assert_false(tirc_primitive_param(0, 0, NULL, NULL));
  assert_false(tirc_primitive_param(-1, -1, &name, &name));
  assert_false(tirc_primitive_documentation(0, NULL));
  assert_false(tirc_primitive_documentation(-1, &(tirc_primitive_doc){0}));
  assert_false(tirc_primitive_raises(-1, -1));
  assert_false(tirc_definition_table(0, NULL));
  assert_false(tirc_definition_table(-1, &(tirc_definition_info){0}));
  assert_false(tirc_pass_table(0, NULL, NULL));
  assert_false(tirc_pass_alone_table(0, NULL, NULL, NULL));
  assert_false(tirc_pass_alone_table(-1, &name, &name, &name));
  assert_false(tirc_pass_table(-1, &name, &name));
}

/* Each call of the builder with nothing, on a builder of its own in a function of its own. */
static void builders(void **state) {
  (void)state;
  tirc_module *m;
  REFUSED(tirc_builder_new(NULL, E));
  REFUSED(tirc_builder_module(NULL, &m, E));
  for (int i = 0; i < 2; i++) {
    tirc_builder *b = NULL;
    tirc_term term = NULL;
    const char *const *names = NULL;
#define FRESH                                                                                      \
  if (i) {                                                                                         \
    OK(tirc_builder_new(&b, NULL));                                                                \
    tirc_build_func(b, "f");                                                                       \
  }
#define BUILD(call)                                                                                \
  do {                                                                                             \
    FRESH;                                                                                         \
    call;                                                                                          \
    if (b) REFUSED(tirc_builder_module(b, &m, E));                                                 \
    tirc_builder_free(b);                                                                          \
    b = NULL;                                                                                      \
  } while (0)
    BUILD(tirc_build_func(b, NULL));
    BUILD((tirc_build_end(b), tirc_build_end(b)));
    BUILD(tirc_build_param(b, NULL, NULL));
    BUILD(tirc_build_symbol(b, NULL, NULL));
    BUILD(tirc_build_buffer(b, "A", "float32", -1, NULL, NULL));
    BUILD(tirc_build_buffer(b, "A", "float32", 1, NULL, NULL));
    BUILD(tirc_build_buffer(b, "A", "float32", 1, &term, NULL));
    BUILD(tirc_build_alloc_buffer(b, NULL, NULL, -1, NULL, NULL));
    BUILD(tirc_build_for(b, NULL, NULL, NULL, NULL, NULL, NULL));
    BUILD(tirc_build_grid(b, -1, NULL, NULL, NULL));
    BUILD(tirc_build_grid(b, 1, names, (tirc_term[]){tirc_build_int(b, NULL, 1)}, NULL));
    BUILD(tirc_build_block(b, NULL));
    BUILD(tirc_build_axis(b, NULL, NULL, NULL, NULL, NULL));
    BUILD(tirc_build_where(b, NULL));
    BUILD(tirc_build_reads(b, -1, NULL));
    BUILD(tirc_build_writes(b, 1, NULL));
    BUILD(tirc_build_block_attr(b, NULL, NULL));
    BUILD(tirc_build_func_attr(b, NULL, NULL));
    BUILD(tirc_build_init(b));
    BUILD(tirc_build_store(b, NULL, -1, NULL, NULL));
    BUILD(tirc_build_if(b, NULL));
    BUILD(tirc_build_else(b));
    BUILD(tirc_build_while(b, NULL));
    BUILD(tirc_build_let(b, NULL, NULL, NULL));
    BUILD(tirc_build_assert(b, NULL, NULL));
    BUILD(tirc_build_evaluate(b, NULL));
    BUILD(tirc_build_int(b, "no type", -1));
    BUILD(tirc_build_uint(b, "no type", 1));
    BUILD(tirc_build_float(b, "no type", -1));
    BUILD(tirc_build_string(b, NULL));
    BUILD(tirc_build_op(b, NULL, NULL, NULL));
    BUILD(tirc_build_load(b, NULL, -1, NULL));
    tirc_term eight = NULL;
    BUILD((eight = tirc_build_int(b, NULL, 8),
           tirc_build_load(b, tirc_build_buffer(b, "A", "float32", 1, &eight, NULL), -1, NULL)));
    BUILD((eight = tirc_build_int(b, NULL, 8),
           tirc_build_region(b, tirc_build_buffer(b, "A", "float32", 1, &eight, NULL), 1, NULL)));
    BUILD((eight = tirc_build_int(b, NULL, 8),
           tirc_build_region(b, tirc_build_buffer(b, "A", "float32", 1, &eight, NULL), -1, NULL)));
    BUILD(tirc_build_call(b, NULL, -1, NULL));
    BUILD(tirc_build_call(b, "exp", 1, NULL));
    BUILD(tirc_build_cast(b, NULL, NULL));
    BUILD(tirc_build_text(b, NULL));
  }
}

/* --- bytes that are no UTF-8 ------------------------------------------------------------------ */

static void is_text(const char *what) {
  if (what && tirc_utf8_wrong(what)) fail_msg("no UTF-8: %s", what);
}

/* The call says TIRC_BAD in valid UTF-8, at that line and column (0: at none). */
#define WRONG_TEXT(line, column, call) wrong_text(#call, line, column, call)
static void wrong_text(const char *call, int line, int column, tirc_status status) {
  if (status != TIRC_BAD || !e) fail_msg("%s gives %d", call, status);
  for (int f = TIRC_ERROR_CODE; f <= TIRC_ERROR_IR; f++)
    is_text(tirc_error_get(e, (tirc_error_field)f));
  if (tirc_error_line(e) != line || tirc_error_column(e) != column)
    fail_msg("%s: at %d:%d, %s", call, tirc_error_line(e), tirc_error_column(e),
             tirc_error_message(e));
  tirc_error_free(e);
  e = NULL;
}

static void wrong_bytes(void **state) {
  World *w = *state;
  static const char program[] = "# \xc3\xa9\n# \xc3\xa9 \xff", bad[] = "a\xff";
  tirc_module *m = NULL;
  tirc_steps *steps = NULL;
  tirc_value v, given = tirc_text(bad), list = tirc_list_of(1, &given), name = tirc_text("b");
  char *out = NULL;
  WRONG_TEXT(2, 5, tirc_module_parse(program, strlen(program), bad, 0, NULL, &m, E));
  WRONG_TEXT(0, 0, tirc_module_read(bad, 0, NULL, &m, E));
  WRONG_TEXT(2, 5, tirc_module_schedule_text(w->m, program, strlen(program), bad, NULL, &m, E));
  WRONG_TEXT(2, 5, tirc_module_steps_text(w->m, program, strlen(program), bad, NULL, &steps, E));
  WRONG_TEXT(0, 0, tirc_module_replay(w->m, bad, 0, NULL, &m, E));
  WRONG_TEXT(2, 5, tirc_schedule_run(w->s, program, strlen(program), bad, E));
  WRONG_TEXT(0, 0, tirc_schedule_call(w->s, bad, 0, NULL, 0, NULL, NULL, NULL, E));
  WRONG_TEXT(0, 0, tirc_schedule_call(w->s, "get_block", 1, &given, 0, NULL, NULL, &v, E));
  WRONG_TEXT(0, 0, tirc_schedule_call(w->s, "get_block", 1, &list, 0, NULL, NULL, &v, E));
  WRONG_TEXT(0, 0,
             tirc_schedule_call(w->s, "get_block", 0, NULL, 1, &(const char *){bad}, &name, &v, E));
  WRONG_TEXT(0, 0, tirc_schedule_set(w->s, "x", &given, E));
  WRONG_TEXT(0, 0, tirc_schedule_attribute(w->s, NULL, bad, &v, E));
  WRONG_TEXT(0, 0, tirc_schedule_operator(w->s, bad, &name, &name, &v, E));
  WRONG_TEXT(0, 0, tirc_array_read_npy(bad, &(tirc_array *){NULL}, E));
  WRONG_TEXT(0, 0, tirc_npz_open(bad, &(tirc_npz *){NULL}, E));
  WRONG_TEXT(0, 0, tirc_array_new(bad, 0, NULL, &(tirc_array *){NULL}, E));
  WRONG_TEXT(0, 0, tirc_kernel_new(w->m, NULL, bad, &(tirc_kernel *){NULL}, E));
  WRONG_TEXT(0, 0, tirc_kernel_new(w->m, bad, NULL, &(tirc_kernel *){NULL}, E));
  WRONG_TEXT(0, 0, tirc_kernel_new_on(w->m, NULL, bad, NULL, &(tirc_kernel *){NULL}, E));
  WRONG_TEXT(0, 0, tirc_kernel_new_on(w->m, NULL, "opencl", bad, &(tirc_kernel *){NULL}, E));
  WRONG_TEXT(0, 0, tirc_target_find(bad, &(tirc_target_info){0}, E));
  tirc_define define = {"N", bad}, named = {bad, "1"};
  if (tirc_module_parse(text_of_n, strlen(text_of_n), "p", 1, &define, &m, E) == TIRC_OK)
    fail_msg("a constant of the value %s", bad);
  is_text(tirc_error_message(e));
  tirc_error_free(e);
  e = NULL;
  if (tirc_module_parse(text_of_n, strlen(text_of_n), "p", 1, &named, &m, E) == TIRC_OK)
    tirc_module_free(m);
  else
    is_text(tirc_error_message(e));
  tirc_error_free(e);
  e = NULL;
  OK(tirc_schedule_module(w->s, &m, NULL));
  OK(tirc_module_trace(m, TIRC_TRACE_JSON, &out, NULL));
  is_text(out);
  tirc_string_free(out);
  tirc_module_free(m);
}

/* What each ..._free accepts. */
static void frees(void **state) {
  (void)state;
  tirc_string_free(NULL);
  tirc_error_free(NULL);
  tirc_module_free(NULL);
  tirc_builder_free(NULL);
  tirc_steps_free(NULL);
  tirc_schedule_free(NULL);
  tirc_npz_close(NULL);
  tirc_array_free(NULL);
  tirc_executor_free(NULL);
  tirc_kernel_free(NULL);
  tirc_launch_free(NULL);
}

static void results(void **state) {
  tirc_tune_loss loss = {.way = "as before"};
  (void)state;
  assert_false(tirc_tune_lost(NULL, 0, &loss));
  assert_string_equal(loss.way, "as before");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modules),     cmocka_unit_test(schedules), cmocka_unit_test(arrays),
      cmocka_unit_test(runs),        cmocka_unit_test(tables),    cmocka_unit_test(builders),
      cmocka_unit_test(wrong_bytes), cmocka_unit_test(frees),     cmocka_unit_test(results)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
