/* Statements that kernels have in a way of their own: loops on threads, barriers. */
#include "codegen/wmma.h"
#include "gen.h"
#include "ir/tree/annotations.h"
#include "ir/tree/find.h"
#include "ir/tree/int_op.h"

/* --- loops ----------------------------------------------------------------------------------- */

static const char *sum(Gen *g, Expr min, CText x, DType t) {
  if (tirc_is_int(min, 0)) return x.s;
  return tirc_c_binary(g->c, OP_ADD, tirc_src_bound(g, min, t), x).s;
}

static bool is_var(const void *var, Expr e) { return e == var; }

/* A loop over an axis of threads: its variable is what the device says. */
static void gen_axis(Gen *g, const For *loop, int axis) {
  const DType t = loop->var->dtype;
  CText at = {g->l->axes[axis], BINDS_ALL};
  if (!tirc_find_expr_in(loop->body, is_var, loop->var)) {
    tirc_src_stmt(g, loop->body);
    return;
  }
  if (!tirc_is_int(loop->min, 0)) at = tirc_c_cast_to(g->c, tirc_src_value_type(g, t), at);
  Name *name = tirc_src_declare(g, loop->var, loop->var->u.s);
  tirc_src_line(g, "const %s %s = %s;", tirc_src_value_type(g, t), name->s,
                sum(g, loop->min, at, t));
  tirc_src_stmt(g, loop->body);
}

/* What reads memory is read once, before the loop. */
static CText once(Gen *g, Expr e, DType t, const char *name, const char *what) {
  CText v = tirc_src_bound(g, e, t);
  if (!tirc_loads_or_calls(e)) return v;
  const char *s = tirc_src_name(g, tirc_format(g->c, "%s_%s", name, what));
  tirc_src_line(g, "const %s %s = %s;", tirc_src_value_type(g, t), s, v.s);
  return (CText){s, BINDS_ALL};
}

static CText end_of(Gen *g, const For *loop, DType t, CText min) {
  int64_t first, extent;
  if (tirc_const_int(loop->min, &first) && tirc_const_int(loop->extent, &extent))
    return tirc_src_bound(g, tirc_int(g->c, t, first + extent), t);
  CText n = once(g, loop->extent, t, loop->var->u.s, "extent");
  return tirc_is_int(loop->min, 0) ? n : tirc_c_binary(g->c, OP_ADD, min, n);
}

static void gen_serial(Gen *g, const For *loop) {
  /* in a type in which the end is a number, too */
  const DType t = loop->var->dtype, wide = tirc_dtype_wraps(t) ? DT_INT64 : t;
  const char *wanted = loop->var->u.s, *type = tirc_src_value_type(g, wide);
  CText min = once(g, loop->min, wide, wanted, "start"), end = end_of(g, loop, wide, min);
  const char *outer_note = g->note;
  const int mark = g->taken.n;
  tirc_src_note(g, tirc_note_loop(g->notes, loop->var, &g->note));
  Name *name = tirc_src_declare(g, loop->var, wanted);
  const char *i = name->s, *limit = tirc_c_operand(g->c, end, BINDS_SUM);
  if (loop->kind == LOOP_UNROLLED || tirc_wmma_numbers(&g->kernels->fragments, loop))
    tirc_text_add(g->out, "#pragma unroll\n");
  tirc_src_open(g, "for (%s %s = %s; %s < %s; %s++) {", type, i, min.s, i, limit, i);
  if (!tirc_dtype_equal(t, wide))
    name->s = tirc_format(g->c, "((%s)%s)", tirc_src_value_type(g, t), i);
  tirc_src_stmt(g, loop->body);
  tirc_src_close(g);
  g->taken.n = mark; /* names in braces end with them */
  if (g->note != outer_note && outer_note) g->note = "";
}

void tirc_gpu_for(Gen *g, Stmt s) {
  const For *loop = &s->u.loop;
  if (loop->kind != LOOP_THREAD_BINDING) {
    gen_serial(g, loop);
    return;
  }
  if ((int)loop->axis < GPU_AXES) {
    gen_axis(g, loop, loop->axis);
    return;
  }
  tirc_fail(g->c, s->loc, CODE_CODEGEN, NULL,
            "%s has no thread axis %s, to which the loop %s is bound", g->l->name,
            loop->thread ? loop->thread : "?", loop->var->u.s);
}

/* --- the others ------------------------------------------------------------------------------ */

void tirc_gpu_seq(Gen *g, Stmt s) {
  for (int i = 0; i < s->u.seq.n; i++) tirc_src_stmt(g, tirc_item(s, i));
}

void tirc_gpu_bind(Gen *g, Stmt s) {
  Expr var = s->u.let.var, value = s->u.let.value;
  const DType t = tirc_dtype_lanes(var->dtype, 1);
  const char *type = tirc_src_value_type(g, t);
  const int lanes = var->dtype.lanes;
  if (lanes == 1) {
    CText v = tirc_src_operand_as(g, value, t, &tirc_src_first);
    tirc_src_line(g, "const %s %s = %s;", type, tirc_src_declare(g, var, var->u.s)->s, v.s);
  } else {
    const char *lane = tirc_src_name(g, "lane");
    CText v = tirc_src_operand_as(g, value, t, &(Window){0, 1, lane});
    Name *name = tirc_src_declare(g, var, var->u.s);
    name->is_array = true;
    tirc_src_line(g, "%s %s[%d];", type, name->s, lanes);
    tirc_src_line(g, "for (int %s = 0; %s < %d; %s++) %s[%s] = %s;", lane, lane, lanes, lane,
                  name->s, lane, v.s);
  }
  tirc_src_stmt(g, s->u.let.body);
}

/* The barrier of a block is one for global memory where threads hand values on there. */
static void gen_barrier(Gen *g, Expr e) {
  const char *scope = e->n == 1 && e->args[0]->op == OP_STRING ? e->args[0]->u.s : "shared";
  const char *barrier = g->kernels->k->shares_global ? g->l->barrier_all : g->l->barrier;
  const Storage of = tirc_storage_of(scope);
  if (of == STORAGE_WARP) barrier = g->l->warp_barrier;
  if (!barrier || (of != STORAGE_WARP && tirc_owner(of) != OWNER_BLOCK))
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "%s has no T.tvm_storage_sync(\"%s\")", g->l->name,
              scope);
  tirc_src_line(g, "%s;", barrier);
}

void tirc_gpu_eval(Gen *g, Stmt s) {
  Expr e = s->u.eval.value;
  if (e->op == OP_STRING || e->op == OP_INT || e->dtype.lanes > 1) return;
  if (tirc_calls(e, CALL_TVM_STORAGE_SYNC)) {
    gen_barrier(g, e);
    return;
  }
  if (tirc_is_hint(e) || tirc_calls(e, CALL_ASSUME)) return; /* without a meaning */
  if (tirc_calls(e, CALL_PTX_COMMIT_GROUP) || tirc_calls(e, CALL_PTX_WAIT_GROUP)) {
    tirc_gpu_group_of_copies(g, e);
    return;
  }
  tirc_src_line(g, "(void)%s;", tirc_c_operand(g->c, tirc_src_scalar(g, e), BINDS_CAST));
}

void tirc_gpu_attr(Gen *g, Stmt s) {
  if (g->l->tensor_cores && strcmp(s->u.attr.key, tirc_key(KEY_TENSOR_CORE)) == 0)
    tirc_gpu_tensor_core(g, s->u.attr.value);
  else if (strcmp(s->u.attr.key, tirc_key(KEY_ASYNC_COPY)) == 0 &&
           tirc_gpu_async_copy(g, s->u.attr.body, s->u.attr.value))
    return;
  else
    tirc_src_stmt(g, s->u.attr.body);
}

void tirc_gpu_check(Gen *g, Stmt s) {
  tirc_fail(g->c, s->loc, CODE_CODEGEN,
            "put the assertion before the loops that are bound to threads",
            "a kernel cannot report that an assertion fails: %s",
            s->u.check.message ? s->u.check.message : "");
}
