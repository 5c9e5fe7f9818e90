/* What kernels have in a way of their own, whatever their language. */
#include "gen.h"

static CText number(Gen *g, DType t, int64_t v) {
  if (t.code == TYPE_BOOL) return tirc_src_text(g, BINDS_ALL, "%s", v ? "true" : "false");
  if (t.code == TYPE_UINT && t.bits == 64)
    return tirc_src_text(g, BINDS_ALL, "%llu%s", (unsigned long long)v, g->l->ulong_suffix);
  if (t.code == TYPE_UINT && t.bits == 32)
    return tirc_src_text(g, BINDS_ALL, "%uu", (unsigned)(uint64_t)v);
  const bool is_long = t.bits == 64 && (!g->index || v > INT32_MAX || v < INT32_MIN);
  const char *suffix = is_long ? g->l->long_suffix : "";
  if (v == INT64_MIN || (v == INT32_MIN && !is_long)) /* its opposite is no literal of the type */
    return tirc_src_text(g, BINDS_ALL, "(-%lld%s - 1)", -(long long)(v + 1), suffix);
  return tirc_src_text(g, v < 0 ? BINDS_CAST : BINDS_ALL, "%lld%s", (long long)v, suffix);
}

static CText cast_handle(Gen *g, CText v, DType from, DType to) {
  if (to.code == TYPE_BOOL)
    return tirc_src_text(g, BINDS_EQUAL, "%s != 0", tirc_c_operand(g->c, v, BINDS_SHIFT));
  tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "%s has no conversion from %s to %s", g->l->name,
            tirc_dtype_name(g->c, from), tirc_dtype_name(g->c, to));
}

static bool host_stmt(Gen *g, Stmt s) { return g->kernels->on_host && tirc_gpu_host_stmt(g, s); }

static Emit *const exprs[OP_COUNT] = {
    [OP_LET] = tirc_gpu_let,   [OP_REINTERPRET] = tirc_gpu_reinterpret,
    [OP_RAMP] = tirc_gpu_ramp, [OP_LOAD] = tirc_gpu_load,
    [OP_CALL] = tirc_gpu_call,
};
static EmitStmt *const stmts[STMT_ASSERT + 1] = {
    [STMT_FOR] = tirc_gpu_for,   [STMT_SEQ] = tirc_gpu_seq,   [STMT_STORE] = tirc_gpu_store,
    [STMT_EVAL] = tirc_gpu_eval, [STMT_LET] = tirc_gpu_bind,  [STMT_ALLOC] = tirc_gpu_alloc,
    [STMT_DECL] = tirc_gpu_decl, [STMT_ATTR] = tirc_gpu_attr, [STMT_ASSERT] = tirc_gpu_check,
};
const Family tirc_kernels = {
    .exprs = exprs,
    .stmts = stmts,
    .expr = tirc_gpu_dot,
    .stmt = host_stmt,
    .number = number,
    .cast_handle = cast_handle,
    .popcount = tirc_gpu_popcount,
    .vector_arith = tirc_gpu_vector_arith,
    .all_lanes = tirc_gpu_all_lanes,
    .written_out = tirc_gpu_written_out,
    .write_function = tirc_gpu_write_function,
};
