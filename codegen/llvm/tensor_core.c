/* Fragments of tensor cores (codegen/wmma.h): arrays of registers in a thread's frame, which LLVM
 * keeps in registers once the loops over them are written out, and PTX as inline assembly. */
#include "codegen/wmma.h"
#include "gen.h"

static LLVMTypeRef held_type(Gen *g, const WmmaFragments *f) { return tirc_gen_type(g, f->held); }

bool tirc_gen_fragments(Gen *g, Buffer b) {
  const WmmaFragments *f = tirc_map_get(&g->f.fragments, b->data);
  if (!f) return false;
  LLVMTypeRef t = LLVMArrayType2(held_type(g, f), (uint64_t)(f->count * f->registers));
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
  LLVMPositionBuilderAtEnd(g->b, g->f.entry);
  tirc_map_set(g->c, &g->f.vars, b->data, LLVMBuildAlloca(g->b, t, b->name));
  LLVMPositionBuilderAtEnd(g->b, here);
  return true;
}

/* Register number i of a fragment. */
static LLVMValueRef place(Gen *g, const WmmaPart *p, int i) {
  LLVMValueRef array = tirc_map_get(&g->f.vars, p->of->buffer->data);
  LLVMTypeRef i64 = tirc_gen_int_type(g, 64, 1);
  LLVMValueRef first = LLVMBuildNSWMul(g->b, tirc_gen_index_expr(g, p->index),
                                       tirc_gen_int(g, i64, p->of->registers), "");
  LLVMValueRef at = LLVMBuildNSWAdd(g->b, first, tirc_gen_int(g, i64, i), "");
  return LLVMBuildInBoundsGEP2(g->b, held_type(g, p->of), array, &at, 1, "");
}

static const char *constraint(const WmmaFragments *f) {
  return tirc_dtype_is_float(f->held) ? "f" : "r";
}

static void fill(Gen *g, const WmmaCall *call) {
  const WmmaFragments *f = call->out.of;
  LLVMValueRef v =
      tirc_gen_cast(g, tirc_gen_expr(g, call->value), call->value->dtype, f->buffer->dtype);
  if (tirc_gen_is_small_float(f->buffer->dtype)) { /* two in a register */
    LLVMTypeRef i32 = tirc_gen_int_type(g, 32, 1), i16 = tirc_gen_int_type(g, 16, 1);
    v = LLVMBuildZExt(g->b, LLVMBuildBitCast(g->b, v, i16, ""), i32, "");
    v = LLVMBuildMul(g->b, v, tirc_gen_int(g, i32, 0x10001), "");
  }
  for (int i = 0; i < f->registers; i++) LLVMBuildStore(g->b, v, place(g, &call->out, i));
}

enum { MOST = 40 }; /* operands: four fragments of 8 registers, a pointer, a stride */

static void build_call(Gen *g, const WmmaCall *of) {
  const WmmaCall call = *of;
  LLVMValueRef args[MOST];
  LLVMTypeRef types[MOST], results[MOST];
  const int outs = call.out.of ? call.out.of->registers : 0;
  unsigned n = 0;
  const char *constraints = "";
  if (!call.ptx) {
    fill(g, &call);
    return;
  }
  for (int i = 0; i < outs; i++) {
    results[i] = held_type(g, call.out.of);
    constraints = tirc_format(g->c, "%s=%s,", constraints, constraint(call.out.of));
  }
  for (int k = 0; k < call.n_in; k++)
    for (int i = 0; i < call.in[k].of->registers; i++) {
      LLVMTypeRef t = held_type(g, call.in[k].of);
      args[n] = LLVMBuildLoad2(g->b, t, place(g, &call.in[k], i), "");
      types[n++] = t;
      constraints = tirc_format(g->c, "%s%s,", constraints, constraint(call.in[k].of));
    }
  if (call.place) {
    LLVMTypeRef generic = LLVMPointerTypeInContext(g->context, 0);
    args[n] = LLVMBuildAddrSpaceCast(g->b, tirc_gen_address(g, call.place), generic, "");
    types[n++] = generic;
    constraints = tirc_format(g->c, "%sl,", constraints);
  }
  if (call.stride) {
    LLVMTypeRef i32 = tirc_gen_int_type(g, 32, 1);
    args[n] = LLVMBuildTrunc(g->b, tirc_gen_index_expr(g, call.stride), i32, "");
    types[n++] = i32;
    constraints = tirc_format(g->c, "%sr,", constraints);
  }
  constraints = tirc_format(g->c, "%s~{memory}", constraints);
  LLVMTypeRef result = outs ? LLVMStructTypeInContext(g->context, results, (unsigned)outs, false)
                            : LLVMVoidTypeInContext(g->context);
  LLVMTypeRef fn = LLVMFunctionType(result, types, n, false);
  LLVMValueRef line =
      LLVMGetInlineAsm(fn, call.ptx, strlen(call.ptx), constraints, strlen(constraints), true,
                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef r = LLVMBuildCall2(g->b, fn, line, args, n, "");
  for (int i = 0; i < outs; i++)
    LLVMBuildStore(g->b, LLVMBuildExtractValue(g->b, r, (unsigned)i, ""), place(g, &call.out, i));
}

void tirc_gen_tensor_core(Gen *g, Expr e) {
  WmmaCall calls[WMMA_MOST_CALLS];
  const int n = tirc_wmma_calls(g->c, &g->f.fragments, e, '$', calls);
  for (int i = 0; i < n; i++) build_call(g, &calls[i]);
}
