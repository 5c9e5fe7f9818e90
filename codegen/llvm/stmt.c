/* Statements. Loops are built in the rotated form that LLVM's loop passes work on: one test before
 * the loop (none when the extent is a constant), then a body that ends with the test. */
#include "codegen/wmma.h"
#include "gen.h"
#include "ir/tree/amx.h"
#include "ir/tree/annotations.h"
#include "ir/tree/int_op.h"

LLVMBasicBlockRef tirc_gen_block(Gen *g, const char *name) {
  return LLVMAppendBasicBlockInContext(g->context, g->f.fn, name);
}

void tirc_gen_free(Gen *g, const Workspace *w) {
  LLVMBasicBlockRef freed = NULL;
  if (w->on_stack) {
    LLVMBasicBlockRef free = tirc_gen_block(g, "free");
    freed = tirc_gen_block(g, "freed");
    LLVMBuildCondBr(g->b, w->on_stack, freed, free);
    LLVMPositionBuilderAtEnd(g->b, free);
  }
  LLVMValueRef args[3] = {g->f.rt, w->pointer, w->bytes};
  tirc_gen_service(g, SERVICE_FREE, 3, args);
  if (!freed) return;
  LLVMBuildBr(g->b, freed);
  LLVMPositionBuilderAtEnd(g->b, freed);
}

/* The exit that frees w and all around it, for branches to come. Shared, because one a branch would
 * make the code of n allocations grow as n squared. */
static const Exit *shared_exit(Gen *g, Workspace *w) {
  Exit *e = w ? &w->exit : &g->f.exit;
  if (e->block) return e;
  e->block = tirc_gen_block(g, "exit");
  LLVMPositionBuilderAtEnd(g->b, e->block);
  e->phi = LLVMBuildPhi(g->b, tirc_gen_int_type(g, 32, 1), "status");
  if (w) {
    tirc_gen_free(g, w);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    const Exit *outer = shared_exit(g, w->outer);
    LLVMPositionBuilderAtEnd(g->b, here);
    LLVMBuildBr(g->b, outer->block);
    LLVMAddIncoming(outer->phi, &e->phi, &here, 1);
  } else {
    LLVMBuildRet(g->b, e->phi);
  }
  return e;
}

void tirc_gen_leave_if(Gen *g, LLVMValueRef failed, LLVMValueRef status) {
  g->f.may_fail = true;
  if (g->f.in_nests) {
    LLVMBasicBlockRef stay = tirc_gen_block(g, "stay"), here = LLVMGetInsertBlock(g->b);
    const Exit *e = shared_exit(g, g->f.workspace);
    LLVMPositionBuilderAtEnd(g->b, here);
    LLVMBuildCondBr(g->b, failed, e->block, stay);
    LLVMAddIncoming(e->phi, &status, &here, 1);
    LLVMPositionBuilderAtEnd(g->b, stay);
    return;
  }
  LLVMBasicBlockRef leave = tirc_gen_block(g, "leave"), stay = tirc_gen_block(g, "stay");
  LLVMBuildCondBr(g->b, failed, leave, stay);
  LLVMPositionBuilderAtEnd(g->b, leave);
  for (Workspace *w = g->f.workspace; w; w = w->outer) tirc_gen_free(g, w);
  LLVMBuildRet(g->b, status);
  LLVMPositionBuilderAtEnd(g->b, stay);
}

/* --- loops ---------------------------------------------------------------------------------- */

void tirc_gen_loop(Gen *g, DType type, LLVMValueRef min, LLVMValueRef extent, LLVMValueRef metadata,
                   void (*body)(Gen *g, LLVMValueRef i, const void *self), const void *self) {
  LLVMTypeRef t = LLVMTypeOf(min);
  const bool wraps = tirc_dtype_wraps(type); /* the end of uint8's 1 to 255 is 0 */
  LLVMValueRef end =
      wraps ? LLVMBuildAdd(g->b, min, extent, "") : LLVMBuildNSWAdd(g->b, min, extent, "");
  LLVMBasicBlockRef loop = tirc_gen_block(g, "loop"), done = tirc_gen_block(g, "done");
  const LLVMIntPredicate more = type.code == TYPE_INT ? LLVMIntSGT : LLVMIntUGT;
  LLVMValueRef any = LLVMBuildICmp(g->b, more, extent, LLVMConstNull(t), "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
  LLVMBuildCondBr(g->b, any, loop, done);
  LLVMPositionBuilderAtEnd(g->b, loop);
  LLVMValueRef i = LLVMBuildPhi(g->b, t, "i");
  body(g, i, self);
  LLVMValueRef one = tirc_gen_int(g, t, 1);
  LLVMValueRef next = wraps ? LLVMBuildAdd(g->b, i, one, "") : LLVMBuildNSWAdd(g->b, i, one, "");
  LLVMValueRef again = LLVMBuildICmp(g->b, wraps ? LLVMIntNE : LLVMIntSLT, next, end, "");
  LLVMValueRef from[2] = {min, next};
  LLVMBasicBlockRef blocks[2] = {before, LLVMGetInsertBlock(g->b)};
  LLVMAddIncoming(i, from, blocks, 2);
  LLVMValueRef br = LLVMBuildCondBr(g->b, again, loop, done);
  if (metadata) LLVMSetMetadata(br, LLVMGetMDKindIDInContext(g->context, "llvm.loop", 9), metadata);
  LLVMPositionBuilderAtEnd(g->b, done);
}

/* What stands behind llvm.loop: a node that refers to itself and holds the hints. */
static LLVMValueRef unroll_hint(Gen *g) {
  LLVMMetadataRef key = LLVMMDStringInContext2(g->context, "llvm.loop.unroll.full", 21);
  LLVMMetadataRef hint = LLVMMDNodeInContext2(g->context, &key, 1);
  LLVMMetadataRef self = LLVMTemporaryMDNode(g->context, NULL, 0);
  LLVMMetadataRef parts[2] = {self, hint};
  LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, parts, 2);
  LLVMMetadataReplaceAllUsesWith(self, node);
  return LLVMMetadataAsValue(g->context, node);
}

static void loop_body(Gen *g, LLVMValueRef i, const void *self) {
  const For *loop = self;
  tirc_map_set(g->c, &g->f.vars, loop->var, i);
  tirc_gen_stmt(g, loop->body);
  tirc_map_remove(&g->f.vars, loop->var); /* nothing later is dominated by its value */
}

static void gen_serial(Gen *g, const For *loop) {
  DType t = loop->var->dtype;
  LLVMValueRef min = tirc_gen_cast(g, tirc_gen_expr(g, loop->min), loop->min->dtype, t);
  LLVMValueRef extent = tirc_gen_cast(g, tirc_gen_expr(g, loop->extent), loop->extent->dtype, t);
  const bool unrolled = loop->kind == LOOP_UNROLLED || tirc_wmma_numbers(&g->f.fragments, loop);
  LLVMValueRef hint = unrolled ? unroll_hint(g) : NULL;
  tirc_gen_loop(g, t, min, extent, hint, loop_body, loop);
}

static void build_loop(Gen *g, Stmt s) {
  if (s->u.loop.kind == LOOP_PARALLEL && !g->f.in_parallel)
    tirc_gen_parallel(g, s);
  else
    gen_serial(g, &s->u.loop);
}

static void gen_for(Gen *g, Stmt s) {
  const For *loop = &s->u.loop;
  if (loop->kind == LOOP_THREAD_BINDING && g->target->is_gpu) {
    tirc_gen_axis(g, loop);
    return;
  }
  if (loop->kind == LOOP_THREAD_BINDING)
    tirc_fail(g->c, s->loc, CODE_CODEGEN, NULL,
              "the loop %s is bound to the thread axis %s, which this "
              "target does not have",
              loop->var->u.s, loop->thread ? loop->thread : "?");
  int outer = tirc_marks_enter(g, loop);
  if (g->f.in_nests)
    tirc_gen_nest(g, s, build_loop);
  else
    build_loop(g, s);
  tirc_marks_leave(g, outer);
}

/* --- the others ----------------------------------------------------------------------------- */

static LLVMValueRef condition(Gen *g, Expr e) {
  return tirc_gen_cast(g, tirc_gen_expr(g, e), e->dtype, DT_BOOL);
}

static void gen_seq(Gen *g, Stmt s) {
  const int n = s->u.seq.n;
  for (int i = 0; i < n; i++) {
    if (i + 1 < n && tirc_gen_pair(g, tirc_item(s, i), tirc_item(s, i + 1)))
      i++;
    else
      tirc_gen_stmt(g, tirc_item(s, i));
  }
}

static void gen_if(Gen *g, Stmt s) {
  Stmt other = s->u.branch.else_case;
  if (s->u.branch.cond->dtype.lanes > 1) {
    tirc_gen_masked_store(g, tirc_gen_expr(g, s->u.branch.cond), s->u.branch.then_case);
    return;
  }
  LLVMBasicBlockRef then = tirc_gen_block(g, "then");
  LLVMBasicBlockRef otherwise = other ? tirc_gen_block(g, "else") : NULL;
  LLVMBasicBlockRef done = tirc_gen_block(g, "endif");
  LLVMBuildCondBr(g->b, condition(g, s->u.branch.cond), then, other ? otherwise : done);
  LLVMPositionBuilderAtEnd(g->b, then);
  tirc_gen_stmt(g, s->u.branch.then_case);
  LLVMBuildBr(g->b, done);
  if (other) {
    LLVMPositionBuilderAtEnd(g->b, otherwise);
    tirc_gen_stmt(g, other);
    LLVMBuildBr(g->b, done);
  }
  LLVMPositionBuilderAtEnd(g->b, done);
}

static void gen_while(Gen *g, Stmt s) {
  LLVMBasicBlockRef test = tirc_gen_block(g, "while"), body = tirc_gen_block(g, "do");
  LLVMBasicBlockRef done = tirc_gen_block(g, "done");
  LLVMBuildBr(g->b, test);
  LLVMPositionBuilderAtEnd(g->b, test);
  LLVMBuildCondBr(g->b, condition(g, s->u.loop_while.cond), body, done);
  LLVMPositionBuilderAtEnd(g->b, body);
  tirc_gen_stmt(g, s->u.loop_while.body);
  LLVMBuildBr(g->b, test);
  LLVMPositionBuilderAtEnd(g->b, done);
}

static void gen_let(Gen *g, Stmt s) {
  Expr var = s->u.let.var, value = s->u.let.value;
  LLVMValueRef v = tirc_gen_cast(g, tirc_gen_expr(g, value), value->dtype, var->dtype);
  tirc_map_set(g->c, &g->f.vars, var, v);
  tirc_gen_stmt(g, s->u.let.body);
  tirc_map_remove(&g->f.vars, var);
}

static void gen_assert(Gen *g, Stmt s) {
  if (g->target->is_gpu)
    tirc_fail(g->c, s->loc, CODE_CODEGEN,
              "put the assertion before the loops that are bound to threads",
              "a kernel cannot report that an assertion fails: %s",
              s->u.check.message ? s->u.check.message : "");
  LLVMValueRef failed = LLVMBuildNot(g->b, condition(g, s->u.check.cond), "");
  const int code = tirc_failure_code(g->c, &g->failures, g->func, s);
  tirc_gen_leave_if(g, failed, tirc_gen_int(g, tirc_gen_int_type(g, 32, 1), code));
  tirc_gen_stmt(g, s->u.check.body);
}

static void gen_eval(Gen *g, Stmt s) {
  Expr e = s->u.eval.value;
  const bool ends = tirc_calls(e, CALL_PTX_COMMIT_GROUP);
  if (g->target->is_gpu && (ends || tirc_calls(e, CALL_PTX_WAIT_GROUP)))
    tirc_gen_group_of_copies(g, e);
  else if (e->op != OP_STRING)
    tirc_gen_expr(g, e);
}

static void gen_decl(Gen *g, Stmt s) { tirc_gen_stmt(g, s->u.alloc.body); }
static void gen_attr(Gen *g, Stmt s) {
  if (g->target->is_gpu && strcmp(s->u.attr.key, tirc_key(KEY_TENSOR_CORE)) == 0)
    tirc_gen_tensor_core(g, s->u.attr.value);
  else if (g->target->is_gpu && strcmp(s->u.attr.key, tirc_key(KEY_ASYNC_COPY)) == 0 &&
           tirc_gen_async_copy(g, s->u.attr.body, s->u.attr.value))
    return;
  else if (!g->target->is_gpu && tirc_is_amx(s))
    tirc_gen_amx(g, s);
  else
    tirc_gen_stmt(g, s->u.attr.body);
}

static void gen_nested_block(Gen *g, Stmt s) {
  tirc_fail(g->c, s->loc, CODE_CODEGEN, NULL, "the block %s has not been lowered", s->u.block.name);
}

void tirc_gen_stmt(Gen *g, Stmt s) {
  static void (*const generators[])(Gen *, Stmt) = {
      [STMT_FOR] = gen_for,          [STMT_BLOCK] = gen_nested_block,
      [STMT_SEQ] = gen_seq,          [STMT_STORE] = tirc_gen_store,
      [STMT_EVAL] = gen_eval,        [STMT_IF] = gen_if,
      [STMT_WHILE] = gen_while,      [STMT_LET] = gen_let,
      [STMT_ALLOC] = tirc_gen_alloc, [STMT_DECL] = gen_decl,
      [STMT_ATTR] = gen_attr,        [STMT_ASSERT] = gen_assert,
  };
  if (s->loc.line > 0) {
    g->loc = s->loc;
    tirc_marks_statement(g);
  }
  generators[s->kind](g, s);
}
