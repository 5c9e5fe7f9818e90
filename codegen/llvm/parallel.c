/* Parallel loops. The body becomes two functions of its own:
 *
 *   int  NAME.task0(i64 i, captured values..., rt)     the body; different data never alias here
 *   void NAME.body0(i64 i, closure *)                  unpacks the closure, calls the task, and
 * keeps the first status that is not 0
 *
 * The closure lives in the frame of the function that runs the loop:
 *   { i32 status, ptr rt, captured values... }
 * The loop's annotation "parallel_chunks" says how many contiguous pieces the range is cut into at
 * most, which the threads take one by one; without it there is one for each thread.
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
  LLVMTypeRef *params = tirc_new_array(g->c, LLVMTypeRef, t.n + 2);
  fields[0] = t.i32;
  fields[1] = t.ptr;
  params[0] = t.i64;
  for (int i = 0; i < t.n; i++) {
    t.values[i] = tirc_map_get(&g->f.vars, t.vars[i]);
    fields[i + 2] = params[i + 1] = LLVMTypeOf(t.values[i]);
  }
  params[t.n + 1] = t.ptr;
  t.closure = LLVMStructTypeInContext(g->context, fields, (unsigned)t.n + 2, false);
  t.type = LLVMFunctionType(t.i32, params, (unsigned)t.n + 2, false);
  return t;
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
  g->f.rt = LLVMGetParam(t->fn, (unsigned)t->n + 1);
  for (int i = 0; i < t->n; i++) {
    LLVMValueRef p = LLVMGetParam(t->fn, (unsigned)i + 1);
    LLVMSetValueName2(p, t->vars[i]->u.s, strlen(t->vars[i]->u.s));
    tirc_map_set(g->c, &g->f.vars, t->vars[i], p);
    if (t->vars[i]->dtype.code == TYPE_HANDLE && g->restrict_data)
      tirc_gen_attribute(g, t->fn, (unsigned)i + 2, "noalias");
  }
  LLVMValueRef i = tirc_gen_cast(g, LLVMGetParam(t->fn, 0), DT_INT64, loop->var->dtype);
  LLVMValueRef min = tirc_gen_expr(g, loop->min);
  min = tirc_gen_cast(g, min, loop->min->dtype, loop->var->dtype);
  const bool wraps = tirc_dtype_wraps(loop->var->dtype);
  tirc_map_set(g->c, &g->f.vars, loop->var,
               wraps ? LLVMBuildAdd(g->b, min, i, "") : LLVMBuildNSWAdd(g->b, min, i, ""));
  tirc_gen_stmt(g, loop->body);
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
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, t->n + 2);
  args[0] = LLVMGetParam(fn, 0);
  for (int i = 0; i <= t->n; i++) { /* rt, the field before the captures, is the last argument */
    LLVMValueRef p = LLVMBuildStructGEP2(g->b, t->closure, closure, (unsigned)i + 1, "");
    LLVMTypeRef type = LLVMStructGetTypeAtIndex(t->closure, (unsigned)i + 1);
    args[i == 0 ? t->n + 1 : i] = LLVMBuildLoad2(g->b, type, p, "");
  }
  LLVMValueRef status = LLVMBuildCall2(g->b, t->type, t->fn, args, (unsigned)t->n + 2, "");
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

static int64_t chunks_of(const For *loop) {
  int64_t n = 0;
  Expr wish = tirc_attrs_get(loop->annotations, tirc_key(KEY_PARALLEL_CHUNKS));
  return wish && tirc_const_int(wish, &n) ? n : 0;
}

void tirc_gen_parallel(Gen *g, Stmt s) {
  const For *loop = &s->u.loop;
  Task t = collect(g, loop);
  int number = g->n_outlined++;
  build_task(g, loop, &t, tirc_format(g->c, "%s.task%d", g->func->name, number));
  LLVMValueRef body = build_body(g, &t, tirc_format(g->c, "%s.body%d", g->func->name, number));
  LLVMValueRef n = tirc_gen_index(g, tirc_gen_expr(g, loop->extent), loop->extent->dtype);
  LLVMValueRef closure = frame_closure(g, &t);
  LLVMValueRef args[5] = {g->f.rt, n, body, closure, tirc_gen_int(g, t.i64, chunks_of(loop))};
  tirc_gen_service(g, SERVICE_PARALLEL, 5, args);
  LLVMValueRef status = LLVMBuildLoad2(g->b, t.i32, closure, "");
  tirc_gen_leave_if(g, LLVMBuildIsNotNull(g->b, status, ""), status);
}
