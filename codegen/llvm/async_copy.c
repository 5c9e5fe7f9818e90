/* Copies from global to shared memory that a thread does not wait for, as inline assembly in PTX:
 * NVIDIA's PTX ISA, "cp.async". */
#include "gen.h"

static void line(Gen *g, const char *text, const char *constraints, LLVMTypeRef type,
                 LLVMValueRef *args, unsigned n) {
  LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                       true, false, LLVMInlineAsmDialectATT, false);
  LLVMBuildCall2(g->b, type, code, args, n, "");
}

static LLVMValueRef place(Gen *g, Buffer b, Expr index) {
  Expr first = tirc_load(g->c, b, 1, index->op == OP_RAMP ? &index->args[0] : &index);
  LLVMTypeRef generic = LLVMPointerTypeInContext(g->context, 0);
  return LLVMBuildAddrSpaceCast(g->b, tirc_gen_address(g, first), generic, "");
}

bool tirc_gen_async_copy(Gen *g, Stmt store, Expr bytes) {
  Expr value = store->u.store.value, cond = NULL;
  int64_t n;
  if (!tirc_const_int(bytes, &n) || n == 0) return false;
  if (value->op == OP_IF_THEN_ELSE) {
    cond = value->args[0]->op == OP_BROADCAST ? value->args[0]->args[0] : value->args[0];
    value = value->args[1];
  }
  LLVMTypeRef i32 = tirc_gen_int_type(g, 32, 1);
  LLVMValueRef size = tirc_gen_int(g, i32, n);
  if (cond) {
    LLVMValueRef holds = tirc_gen_cast(g, tirc_gen_expr(g, cond), cond->dtype, DT_BOOL);
    size = LLVMBuildSelect(g->b, holds, size, tirc_gen_int(g, i32, 0), "");
  }
  LLVMValueRef args[3] = {place(g, store->u.store.buffer, store->u.store.indices[0]),
                          place(g, value->u.buffer, value->args[0]), size};
  LLVMTypeRef types[3] = {LLVMTypeOf(args[0]), LLVMTypeOf(args[1]), i32};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), types, 3, false);
  const char *text =
      tirc_format(g->c,
                  "{ .reg .u64 p, q; cvta.to.shared.u64 p, $0; cvta.to.global.u64 q, $1; "
                  "cp.async.%s.shared.global [p], [q], %lld, $2; }",
                  n == 16 ? "cg" : "ca", (long long)n);
  line(g, text, "l,l,r,~{memory}", type, args, 3);
  return true;
}

void tirc_gen_group_of_copies(Gen *g, Expr call) {
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), NULL, 0, false);
  const char *text = "cp.async.commit_group;";
  int64_t n = 0;
  if (tirc_calls(call, CALL_PTX_WAIT_GROUP)) {
    if (call->n != 1 || !tirc_const_int(call->args[0], &n) || n < 0)
      tirc_fail(g->c, g->loc, CODE_CODEGEN, "give it a number",
                "the argument of T.ptx_wait_group must be a constant");
    text = tirc_format(g->c, "cp.async.wait_group %lld;", (long long)n);
  }
  line(g, text, "~{memory}", type, NULL, 0);
}
