/* Parallel loops. The loop becomes two functions of its own:
 *
 *   int  NAME.task0(i64 from, i64 n, captured values..., rt)   n iterations; different data never
 * alias here
 *   void NAME.body0(i64 i, closure *)                  unpacks the closure, calls the task for one
 * iteration, and keeps the first status that is not 0
 *
 * Without a runtime that has threads the task runs all iterations in one call. Otherwise the
 * closure lives in the frame of the function that runs the loop:
 *   { i32 status, ptr rt, captured values... }
 * The loop's annotation "parallel_chunks" says how many contiguous pieces the range is cut into at
 * most, which the threads take one by one; without it there is one for each thread. Below as many
 * iterations as "parallel_from" says the task runs all of them in one call, too.
 *
 * Two functions, because what is loaded from a closure cannot be noalias, but parameters can. A
 * parallel loop inside of a task runs serially. */
#include "gen.h"
#include "ir/tree/annotations.h"
#include "ir/tree/int_op.h"

typedef struct Capture {
  Visitor v;
  Gen *g;
  PtrMap seen;
  VEC(Expr) vars; /* in order of first appearance */
} Capture;

static void capture(Capture *k, Expr var) {
  if (!tirc_map_has(&k->g->f.vars, var) || tirc_map_has(&k->seen, var)) return;
  tirc_map_set(k->g->c, &k->seen, var, var);
  vec_push(k->g->c, k->vars, var);
}

static void capture_buffer(Capture *k, Buffer b) {
  capture(k, b->data);
  for (int i = 0; i < b->ndim; i++) {
    tirc_visit_expr(&k->v, b->shape[i]);
    if (b->strides) tirc_visit_expr(&k->v, b->strides[i]);
  }
  if (b->elem_offset) tirc_visit_expr(&k->v, b->elem_offset);
}

static bool capture_expr(Visitor *v, Expr e) {
  if (e->op == OP_VAR) capture(v->self, e);
  if (e->op == OP_LOAD) capture_buffer(v->self, e->u.buffer);
  return true;
}

static bool capture_stmt(Visitor *v, Stmt s) {
  if (s->kind == STMT_STORE) capture_buffer(v->self, s->u.store.buffer);
  if (s->kind == STMT_ALLOC) capture_buffer(v->self, s->u.alloc.buffer);
  return true;
}

int tirc_gen_captures(Gen *g, Stmt loop, Expr const **out) {
  Capture k = {.g = g};
  k.v = (Visitor){.expr = capture_expr, .stmt = capture_stmt, .self = &k};
  tirc_visit_stmt(&k.v, loop);
  *out = k.vars.at;
  return k.vars.n;
}

/* What travels into the task: its parameters and the closure's fields behind status and rt. */
typedef struct Task {
  int n;
  Expr const *vars;
  LLVMValueRef *values; /* in the outer function */
  LLVMTypeRef closure, ptr, i64, i32;
  LLVMValueRef fn;
  LLVMTypeRef type;
} Task;

static Task collect(Gen *g, const For *loop) {
  Capture k = {.g = g};
  k.v = (Visitor){.expr = capture_expr, .stmt = capture_stmt, .self = &k};
  tirc_visit_expr(&k.v, loop->min);
  tirc_visit_stmt(&k.v, loop->body);
  Task t = {.n = k.vars.n, .vars = k.vars.at};
  t.ptr = LLVMPointerTypeInContext(g->context, 0);
  t.i64 = LLVMInt64TypeInContext(g->context);
  t.i32 = LLVMInt32TypeInContext(g->context);
  t.values = tirc_new_array(g->c, LLVMValueRef, t.n + 1);
  LLVMTypeRef *fields = tirc_new_array(g->c, LLVMTypeRef, t.n + 2);
  LLVMTypeRef *params = tirc_new_array(g->c, LLVMTypeRef, t.n + 3);
  fields[0] = t.i32;
  fields[1] = t.ptr;
  params[0] = params[1] = t.i64;
  for (int i = 0; i < t.n; i++) {
    t.values[i] = tirc_map_get(&g->f.vars, t.vars[i]);
    fields[i + 2] = params[i + 2] = LLVMTypeOf(t.values[i]);
  }
  params[t.n + 2] = t.ptr;
  t.closure = LLVMStructTypeInContext(g->context, fields, (unsigned)t.n + 2, false);
  t.type = LLVMFunctionType(t.i32, params, (unsigned)t.n + 3, false);
  return t;
}

static void task_step(Gen *g, LLVMValueRef i, const void *self) {
  const For *loop = self;
  const DType t = loop->var->dtype;
  LLVMValueRef min = tirc_gen_cast(g, tirc_gen_expr(g, loop->min), loop->min->dtype, t);
  i = tirc_gen_cast(g, i, DT_INT64, t);
  tirc_map_set(g->c, &g->f.vars, loop->var,
               tirc_dtype_wraps(t) ? LLVMBuildAdd(g->b, min, i, "")
                                   : LLVMBuildNSWAdd(g->b, min, i, ""));
  tirc_gen_stmt(g, loop->body);
}

static void build_task(Gen *g, const For *loop, Task *t, const char *name) {
  t->fn = LLVMAddFunction(g->module, name, t->type);
  LLVMSetLinkage(t->fn, LLVMInternalLinkage);
  tirc_gen_attribute(g, t->fn, ON_FUNCTION, "noinline");
  Frame outer;
  tirc_gen_begin(g, t->fn, &outer);
  g->f.in_parallel = true;
  g->f.mark = outer.mark;
  tirc_marks_resume(g);
  g->f.rt = LLVMGetParam(t->fn, (unsigned)t->n + 2);
  for (int i = 0; i < t->n; i++) {
    LLVMValueRef p = LLVMGetParam(t->fn, (unsigned)i + 2);
    LLVMSetValueName2(p, t->vars[i]->u.s, strlen(t->vars[i]->u.s));
    tirc_map_set(g->c, &g->f.vars, t->vars[i], p);
    if (t->vars[i]->dtype.code == TYPE_HANDLE && g->restrict_data)
      tirc_gen_attribute(g, t->fn, (unsigned)i + 3, "noalias");
  }
  tirc_gen_loop(g, DT_INT64, LLVMGetParam(t->fn, 0), LLVMGetParam(t->fn, 1), NULL, task_step, loop);
  LLVMBuildRet(g->b, tirc_gen_int(g, t->i32, 0));
  tirc_gen_end(g, &outer);
}

static LLVMValueRef build_body(Gen *g, const Task *t, const char *name) {
  LLVMTypeRef params[2] = {t->i64, t->ptr};
  LLVMTypeRef none = LLVMVoidTypeInContext(g->context);
  LLVMValueRef fn = LLVMAddFunction(g->module, name, LLVMFunctionType(none, params, 2, false));
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  Frame outer;
  tirc_gen_begin(g, fn, &outer);
  LLVMValueRef closure = LLVMGetParam(fn, 1);
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, t->n + 3);
  args[0] = LLVMGetParam(fn, 0);
  args[1] = tirc_gen_int(g, t->i64, 1);
  for (int i = 0; i <= t->n; i++) { /* rt, the field before the captures, is the last argument */
    LLVMValueRef p = LLVMBuildStructGEP2(g->b, t->closure, closure, (unsigned)i + 1, "");
    LLVMTypeRef type = LLVMStructGetTypeAtIndex(t->closure, (unsigned)i + 1);
    args[i == 0 ? t->n + 2 : i + 1] = LLVMBuildLoad2(g->b, type, p, "");
  }
  LLVMValueRef status = LLVMBuildCall2(g->b, t->type, t->fn, args, (unsigned)t->n + 3, "");
  LLVMBasicBlockRef bad = tirc_gen_block(g, "bad"), done = tirc_gen_block(g, "done");
  LLVMBuildCondBr(g->b, LLVMBuildIsNotNull(g->b, status, ""), bad, done);
  LLVMPositionBuilderAtEnd(g->b, bad);
  LLVMValueRef keep = LLVMBuildStore(g->b, status, closure); /* status is the first field */
  LLVMSetOrdering(keep, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(keep, 4);
  LLVMBuildBr(g->b, done);
  LLVMPositionBuilderAtEnd(g->b, done);
  LLVMBuildRetVoid(g->b);
  tirc_gen_end(g, &outer);
  return fn;
}

static LLVMValueRef frame_closure(Gen *g, const Task *t) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
  LLVMPositionBuilderAtEnd(g->b, g->f.entry);
  LLVMValueRef p = LLVMBuildAlloca(g->b, t->closure, "closure");
  LLVMPositionBuilderAtEnd(g->b, here);
  LLVMBuildStore(g->b, tirc_gen_int(g, t->i32, 0), p);
  for (int i = 0; i <= t->n; i++) {
    LLVMValueRef field = LLVMBuildStructGEP2(g->b, t->closure, p, (unsigned)i + 1, "");
    LLVMBuildStore(g->b, i == 0 ? g->f.rt : t->values[i - 1], field);
  }
  return p;
}

/* rt->parallel_for, or NULL: without a runtime, too. */
static LLVMValueRef threads_of(Gen *g, const Task *t) {
  LLVMBasicBlockRef look = tirc_gen_block(g, "look"), looked = tirc_gen_block(g, "looked");
  LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(g->b), look};
  LLVMBuildCondBr(g->b, LLVMBuildIsNull(g->b, g->f.rt, ""), looked, look);
  LLVMPositionBuilderAtEnd(g->b, look);
  LLVMValueRef field = LLVMBuildStructGEP2(g->b, g->runtime_type, g->f.rt, 1, "");
  LLVMValueRef found[2] = {LLVMConstNull(t->ptr), LLVMBuildLoad2(g->b, t->ptr, field, "")};
  LLVMBuildBr(g->b, looked);
  LLVMPositionBuilderAtEnd(g->b, looked);
  LLVMValueRef threads = LLVMBuildPhi(g->b, t->ptr, "threads");
  LLVMAddIncoming(threads, found, from, 2);
  return threads;
}

static LLVMValueRef run_alone(Gen *g, const Task *t, LLVMValueRef n) {
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, t->n + 3);
  args[0] = tirc_gen_int(g, t->i64, 0);
  args[1] = n;
  for (int i = 0; i < t->n; i++) args[i + 2] = t->values[i];
  args[t->n + 2] = g->f.rt;
  return LLVMBuildCall2(g->b, t->type, t->fn, args, (unsigned)t->n + 3, "");
}

static LLVMValueRef run_on(Gen *g, const Task *t, LLVMValueRef threads, LLVMValueRef n,
                           LLVMValueRef body, int64_t chunks) {
  LLVMTypeRef params[5] = {t->ptr, t->i64, t->ptr, t->ptr, t->i64};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), params, 5, false);
  LLVMValueRef closure = frame_closure(g, t), self = LLVMBuildLoad2(g->b, t->ptr, g->f.rt, "");
  LLVMValueRef args[5] = {self, n, body, closure, tirc_gen_int(g, t->i64, chunks)};
  LLVMBuildCall2(g->b, type, threads, args, 5, "");
  return LLVMBuildLoad2(g->b, t->i32, closure, "");
}

void tirc_gen_parallel(Gen *g, Stmt s) {
  const For *loop = &s->u.loop;
  Task t = collect(g, loop);
  int number = g->n_outlined++;
  build_task(g, loop, &t, tirc_format(g->c, "%s.task%d", g->func->name, number));
  LLVMValueRef body = build_body(g, &t, tirc_format(g->c, "%s.body%d", g->func->name, number));
  LLVMValueRef n = tirc_gen_index(g, tirc_gen_expr(g, loop->extent), loop->extent->dtype);
  LLVMValueRef threads = threads_of(g, &t), status[2];
  LLVMBasicBlockRef alone = tirc_gen_block(g, "alone"), on = tirc_gen_block(g, "on"),
                    ran = tirc_gen_block(g, "ran"), from[2];
  LLVMValueRef is_alone = LLVMBuildIsNull(g->b, threads, "");
  const int64_t least = tirc_loop_number(loop, KEY_PARALLEL_FROM);
  if (least > 1)
    is_alone = LLVMBuildOr(
        g->b, is_alone, LLVMBuildICmp(g->b, LLVMIntSLT, n, tirc_gen_int(g, t.i64, least), ""), "");
  LLVMBuildCondBr(g->b, is_alone, alone, on);
  LLVMPositionBuilderAtEnd(g->b, alone);
  status[0] = run_alone(g, &t, n);
  from[0] = LLVMGetInsertBlock(g->b);
  LLVMBuildBr(g->b, ran);
  LLVMPositionBuilderAtEnd(g->b, on);
  status[1] = run_on(g, &t, threads, n, body, tirc_loop_number(loop, KEY_PARALLEL_CHUNKS));
  from[1] = LLVMGetInsertBlock(g->b);
  LLVMBuildBr(g->b, ran);
  LLVMPositionBuilderAtEnd(g->b, ran);
  LLVMValueRef first = LLVMBuildPhi(g->b, t.i32, "status");
  LLVMAddIncoming(first, status, from, 2);
  tirc_gen_leave_if(g, LLVMBuildIsNotNull(g->b, first, ""), first);
}
