/* What a status says, as machine code: const char *NAME_error_text(int code). */
#include "gen.h"

static void say(Gen *g, const char *s) {
  LLVMBuildRet(g->b, LLVMBuildGlobalStringPtr(g->b, s, "error_text"));
}

static void add_case(Gen *g, LLVMValueRef choice, int code, const char *s) {
  LLVMBasicBlockRef block = tirc_gen_block(g, "says");
  LLVMAddCase(choice, tirc_gen_int(g, LLVMInt32TypeInContext(g->context), code), block);
  LLVMPositionBuilderAtEnd(g->b, block);
  say(g, s);
}

void tirc_gen_error_text(Gen *g, const char *name, const Func *only) {
  const Failures *f = &g->failures;
  LLVMTypeRef i32 = LLVMInt32TypeInContext(g->context);
  LLVMTypeRef type = LLVMFunctionType(LLVMPointerTypeInContext(g->context, 0), &i32, 1, false);
  LLVMValueRef fn = LLVMAddFunction(g->module, tirc_format(g->c, "%s_error_text", name), type);
  Frame outer;
  tirc_gen_begin(g, fn, &outer);
  LLVMBasicBlockRef other = tirc_gen_block(g, "other");
  LLVMValueRef choice = LLVMBuildSwitch(g->b, LLVMGetParam(fn, 0), other, (unsigned)f->all.n + 2);
  for (int code = 0; code < STATUS_FIRST_FAILURE; code++)
    add_case(g, choice, code, tirc_status_text(code));
  for (int i = 0; i < f->all.n; i++)
    if (!only || f->all.at[i].func == only)
      add_case(g, choice, STATUS_FIRST_FAILURE + i, tirc_failure_text(g->c, &f->all.at[i]));
  LLVMPositionBuilderAtEnd(g->b, other);
  say(g, tirc_status_text(-1));
  tirc_gen_end(g, &outer);
}
