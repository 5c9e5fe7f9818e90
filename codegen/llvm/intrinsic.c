/* LLVM intrinsics that a program names itself, checked against the table of ir/tree/intrinsics.def:
 * a name that LLVM does not know, or one that the processor cannot run, would end the process. */
#include "ir/tree/intrinsic.h"
#include "gen.h"

static void need_feature(Gen *g, const Dot *dot) {
  const Cpu *cpu = g->target->cpu;
  if (tirc_cpu_has(cpu, dot->feature) || (dot->other && tirc_cpu_has(cpu, dot->other))) return;
  const char * or = dot->other ? tirc_format(g->c, " or %s", dot->other) : "";
  tirc_fail(g->c, g->loc, CODE_CODEGEN,
            tirc_format(
                g->c, "choose a --target that has it: %s; --emit=c writes loops for other targets",
                tirc_cpus_with(g->c, dot->feature, dot->other)),
            "\"%s\" needs %s%s, which %s does not have", dot->name, dot->feature, or, cpu->name);
}

/* ARM's take elements; x86's take integers as the lanes of the result, and bfloat16 by themselves.
 */
static LLVMValueRef dot_operand(Gen *g, const Dot *dot, LLVMValueRef v, DType element) {
  const bool is_float = element.code == TYPE_BFLOAT, is_lanes = g->target->cpu->arch == CPU_X86_64;
  LLVMTypeRef t = is_float ? LLVMBFloatTypeInContext(g->context) : NULL;
  const unsigned n = (unsigned)(dot->lanes * dot->terms);
  if (is_float)
    t = LLVMVectorType(t, n);
  else if (is_lanes)
    t = tirc_gen_int_type(g, 32, dot->lanes);
  else
    t = tirc_gen_int_type(g, element.bits, (int)n);
  return LLVMBuildBitCast(g->b, v, t, "");
}

static LLVMValueRef gen_dot(Gen *g, const IntrinsicCall *k) {
  const Dot *dot = k->dot;
  need_feature(g, dot);
  LLVMValueRef args[3];
  for (int i = 0; i < 3; i++) args[i] = tirc_gen_expr(g, k->args[i]);
  args[1] = dot_operand(g, dot, args[1], dot->a);
  args[2] = dot_operand(g, dot, args[2], dot->b);
  const unsigned id = LLVMLookupIntrinsicID(dot->name, strlen(dot->name));
  LLVMTypeRef over[2] = {LLVMTypeOf(args[0]), LLVMTypeOf(args[1])};
  LLVMValueRef fn =
      LLVMGetIntrinsicDeclaration(g->module, id, over, LLVMIntrinsicIsOverloaded(id) ? 2 : 0);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, 3, "");
}

LLVMValueRef tirc_gen_llvm_call(Gen *g, Expr e) {
  IntrinsicCall k = tirc_llvm_call(g->c, e, g->loc);
  if (k.dot) return gen_dot(g, &k);
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
