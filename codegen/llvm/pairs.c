/* Pairs of products (codegen/pairs.h), by x86's instruction for them: 16 bits times 16 bits, and
 * neighbours added. */
#include "codegen/pairs.h"
#include "gen.h"

static const struct {
  int lanes; /* of the sums */
  const char *feature, *name;
} pmadd[] = {
    {16, "avx512bw", "llvm.x86.avx512.pmaddw.d.512"},
    {8, "avx2", "llvm.x86.avx2.pmadd.wd"},
    {4, "sse2", "llvm.x86.sse2.pmadd.wd"},
};

/* The widest one that divides the lanes; -1: none. */
static int instruction_for(const Gen *g, int lanes) {
  if (g->target->cpu->arch != CPU_X86_64) return -1;
  for (int i = 0; i < 3; i++)
    if (lanes % pmadd[i].lanes == 0 && tirc_cpu_has(g->target->cpu, pmadd[i].feature)) return i;
  return -1;
}

/* 2 n numbers of 16 bits: the pairs of n lanes, from lane k on. */
static LLVMValueRef operand(Gen *g, const PairOperand *f, int k, int n) {
  const int lanes = f->is_same ? 2 : 2 * n;
  const DType from = tirc_dtype_lanes(f->buffer->dtype, lanes);
  const DType words = {.code = TYPE_INT, .bits = 16, .lanes = (uint16_t)lanes};
  LLVMValueRef index = tirc_gen_index_expr(g, f->index);
  LLVMValueRef v = tirc_gen_load_vector(g, f->buffer, index, f->is_same ? 0 : 2 * k, lanes);
  v = tirc_gen_cast(g, v, from, words);
  if (!f->is_same) return v;
  v = LLVMBuildBitCast(g->b, v, tirc_gen_int_type(g, 32, 1), "");
  return LLVMBuildBitCast(g->b, tirc_gen_splat(g, v, n), tirc_gen_int_type(g, 16, 2 * n), "");
}

bool tirc_gen_pair(Gen *g, Stmt first, Stmt second) {
  PairOfProducts p;
  if (!tirc_find_pair(g->c, first, second, g->restrict_data, &p)) return false;
  const int row = instruction_for(g, p.lanes);
  if (row < 0) return false;
  tirc_marks_store(g, p.sum);
  const int n = pmadd[row].lanes;
  const unsigned id = LLVMLookupIntrinsicID(pmadd[row].name, strlen(pmadd[row].name));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->module, id, NULL, 0);
  for (int k = 0; k < p.lanes; k += n) {
    LLVMValueRef both[2];
    for (int i = 0; i < 2; i++) both[i] = operand(g, &p.factors[i], k, n);
    LLVMValueRef sums = LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, both, 2, "");
    LLVMValueRef at = tirc_gen_index_expr(g, p.at->args[0]);
    sums = LLVMBuildAdd(g->b, tirc_gen_load_vector(g, p.sum, at, k, n), sums, "");
    tirc_gen_store_vector(g, p.sum, at, k, sums, n);
  }
  return true;
}
