/* Copies from global to shared memory that a thread does not wait for:
 *
 *   tirc_async_16(A_shared + i * 8, A + j * 8, i < n ? 16 : 0);
 *   tirc_async_commit();
 *   ...
 *   asm volatile("cp.async.wait_group 1;" : : : "memory");
 */
#include "gen.h"

bool tirc_gpu_async_copy(Gen *g, Stmt store, Expr bytes) {
  Expr value = store->u.store.value, cond = NULL;
  int64_t n;
  if (!g->l->tensor_cores || !tirc_const_int(bytes, &n) || n == 0) return false;
  if (value->op == OP_IF_THEN_ELSE) {
    cond = value->args[0]->op == OP_BROADCAST ? value->args[0]->args[0] : value->args[0];
    value = value->args[1];
  }
  const char *to = tirc_gpu_pointer(g, store->u.store.buffer, store->u.store.indices[0]);
  const char *from = tirc_gpu_pointer(g, value->u.buffer, value->args[0]);
  const char *size = tirc_format(g->c, "%lld", (long long)n);
  if (cond) {
    CText holds = tirc_src_operand_as(g, cond, DT_BOOL, &tirc_src_first);
    size = tirc_format(g->c, "%s ? %s : 0", tirc_c_operand(g->c, holds, BINDS_OR), size);
  }
  tirc_src_line(g, "tirc_async_%lld(%s, %s, %s);", (long long)n, to, from, size);
  return true;
}

void tirc_gpu_group_of_copies(Gen *g, Expr call) {
  int64_t n = 0;
  if (!g->l->tensor_cores) return; /* its copies are there at once */
  if (tirc_calls(call, CALL_PTX_COMMIT_GROUP)) {
    tirc_src_line(g, "tirc_async_commit();");
    return;
  }
  if (call->n != 1 || !tirc_const_int(call->args[0], &n) || n < 0)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, "give it a number",
              "the argument of T.ptx_wait_group must be a constant");
  tirc_src_line(g, "asm volatile(\"cp.async.wait_group %lld;\" : : : \"memory\");", (long long)n);
}
