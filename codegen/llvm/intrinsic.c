/* LLVM intrinsics that a program names itself, checked against the table of ir/tree/intrinsics.def:
 * a name that LLVM does not know, or one that the processor cannot run, would end the process. */
#include "ir/tree/intrinsic.h"
#include "gen.h"

LLVMValueRef tirc_gen_llvm_call(Gen *g, Expr e) {
  IntrinsicCall k = tirc_llvm_call(g->c, e, g->loc);
  LLVMValueRef args[3];
  for (int i = 0; i < k.n; i++) args[i] = tirc_gen_expr(g, k.args[i]);
  if (k.shape == SHAPE_EACH)
    return tirc_gen_intrinsic(g, k.name, tirc_gen_type(g, e->dtype), k.n, args);
  bool sum = k.shape == SHAPE_FSUM || k.shape == SHAPE_ISUM;
  if (sum && k.args[k.n - 1]->dtype.lanes == 1)
    return k.n > 1 ? LLVMBuildFAdd(g->b, args[0], args[1], "") : args[0];
  if (!sum && !tirc_cpu_has(g->target->cpu, "avx2"))
    tirc_fail(g->c, g->loc, CODE_CODEGEN, "choose a --target with AVX2, such as haswell",
              "\"%s\" needs AVX2, which %s does not have", k.name, g->target->cpu->name);
  unsigned id = LLVMLookupIntrinsicID(k.name, strlen(k.name));
  LLVMTypeRef over = LLVMTypeOf(args[k.n - 1]);
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->module, id, &over, sum ? 1 : 0);
  LLVMValueRef r = LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, (unsigned)k.n, "");
  if (k.shape == SHAPE_FSUM) /* in any order, by the table */
    LLVMSetFastMathFlags(r, LLVMFastMathAllowReassoc);
  return r;
}
