/* What was measured on this machine, as its users see it. */
#include "api.h"

#include "codegen/llvm/llvm.h"
#include "passes/script/calibration.h"
#include "passes/script/library.h"

#include <stdio.h>

static void look(Tirc *c, void *self) {
  tirc_calibration *out = self;
  const Cpu *native = tirc_llvm_cpu(c, "native");
  const Calibration k = tirc_calibration_find(c, native);
  *out = (tirc_calibration){.begun = tirc_calibration_is_begun(c, &k, native)};
  snprintf(out->file, sizeof out->file, "%s", k.file);
  snprintf(out->head, sizeof out->head, "%s", k.head);
  snprintf(out->date, sizeof out->date, "%s", k.date ? k.date : "");
  snprintf(out->problem, sizeof out->problem, "%s", k.problem ? k.problem : "");
  snprintf(out->table, sizeof out->table, "%s", tirc_rule_table(c, native, NULL)->name);
}

tirc_status tirc_calibration_look(tirc_calibration *out, tirc_error **error) {
  NEED(out);
  return tirc_api_scratch(look, out, NULL, error);
}
