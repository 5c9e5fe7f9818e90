/* The documentation agrees with the tables that it is about, and its examples do what they say. */
#include "passes/schedule/schedule.h"
#include "passes/words/docs.h"
#include "runtime/tirc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

static void one_record_for_each_primitive(void **state) {
  (void)state;
  for (int i = 0; i < tirc_n_primitives; i++) {
    const Primitive *p = &tirc_primitives[i];
    if (i >= tirc_n_primitive_docs || strcmp(tirc_primitive_docs[i].name, p->name) != 0)
      fail_msg("primitive_docs.def lacks %s, or has it elsewhere than primitives.def", p->name);
    int n = 0;
    while (tirc_primitive_docs[i].params[n]) n++;
    if (n != p->n_params)
      fail_msg("%s has %d parameters, %d are explained", p->name, p->n_params, n);
  }
  assert_int_equal(tirc_n_primitive_docs, tirc_n_primitives);
}

static void no_error_twice(void **state) {
  (void)state;
  for (int i = 0; i < tirc_n_primitive_docs; i++) {
    const PrimitiveDoc *d = &tirc_primitive_docs[i];
    for (int k = 0; d->errors[k] >= 0; k++)
      for (int j = 0; j < k; j++)
        if (d->errors[j] == d->errors[k])
          fail_msg("%s names %s twice", d->name, tirc_codes[d->errors[k]].text);
  }
}

static void every_error_has_a_primitive(void **state) {
  (void)state;
  for (int k = 0; k < SERR_COUNT; k++) {
    int i = 0;
    while (i < tirc_n_primitives && !tirc_may_raise(tirc_primitives[i].name, (DiagCode)k)) i++;
    if (i == tirc_n_primitives) fail_msg("no primitive is said to raise %s", tirc_codes[k].text);
  }
}

static void say_nothing(void *self, const char *text) { (void)self, (void)text; }

static void examples_run(void **state) {
  (void)state;
  tirc_schedule_options options = {.print = say_nothing, .strict = true, .verify = true};
  for (int i = 0; i < tirc_n_primitive_docs; i++) {
    const PrimitiveDoc *d = &tirc_primitive_docs[i];
    tirc_module *before = NULL, *after = NULL;
    tirc_error *e = NULL;
    char call[64];
    snprintf(call, sizeof call, "sch.%s(", d->name);
    if (!strstr(d->script, call)) fail_msg("the example of %s does not call it", d->name);
    if (tirc_module_parse(d->program, strlen(d->program), d->name, 0, NULL, &before, &e) ||
        tirc_module_schedule_text(before, d->script, strlen(d->script), d->name, &options, &after,
                                  &e))
      fail_msg("the example of %s: %s", d->name, tirc_error_message(e));
    tirc_module_free(after);
    tirc_module_free(before);
  }
}

/* Codes are what people type and scripts compare: words of a to z and digits, each once. */
static void codes_are_well_formed(void **state) {
  (void)state;
  for (int k = 0; k < SERR_COUNT; k++) {
    const char *code = tirc_codes[k].text;
    assert_int_equal(strspn(code, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(code));
    for (int j = 0; j < k; j++)
      if (!strcmp(code, tirc_codes[j].text)) fail_msg("the code %s stands twice", code);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_record_for_each_primitive), cmocka_unit_test(no_error_twice),
      cmocka_unit_test(every_error_has_a_primitive),   cmocka_unit_test(examples_run),
      cmocka_unit_test(codes_are_well_formed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
