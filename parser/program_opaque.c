/* T.* functions that the compiler passes on as they are: calls of other code, of the GPU and of the
 * runtime. They parse, print and are opaque to every analysis. */
#include "reader.h"

/* The type of a call that the compiler knows nothing more of. */
typedef enum Gives {
  GIVES_HANDLE,
  GIVES_INT32,
  GIVES_UINT32,
  GIVES_BOOL,
  GIVES_SECOND,
  GIVES_NAMED,
  GIVES_VOID
} Gives;

enum { FIRST, DTYPE }; /* parameters */

static Expr argument(Reader *r, const Syn *s) {
  PyValue v = tirc_read_value(r, s);
  return v.kind == PY_NONE ? tirc_py_to_expr(r, s, v) : tirc_py_to_attr(r, s, v);
}

/* The keyword dtype is the first argument of a call that is given its type; the other calls have a
 * type of their own, whatever it says. */
static PyValue read_opaque(Reader *r, const Call *call) {
  const Syn **given = tirc_new_array(r->c, const Syn *, call->n_rest + 2);
  int n = 0;
  if (call->function->detail == GIVES_NAMED && call->args[DTYPE]) given[n++] = call->args[DTYPE];
  if (call->args[FIRST]) given[n++] = call->args[FIRST];
  for (int i = 0; i < call->n_rest; i++) given[n++] = call->rest[i];
  Expr *args = tirc_new_array(r->c, Expr, n);
  for (int i = 0; i < n; i++) args[i] = argument(r, given[i]);
  DType t = DT_HANDLE;
  switch ((Gives)call->function->detail) {
  case GIVES_INT32: t = DT_INT32; break;
  case GIVES_BOOL: t = DT_BOOL; break;
  case GIVES_VOID: t = DT_VOID; break;
  case GIVES_SECOND:
    if (n > 1) t = args[1]->dtype;
    break;
  case GIVES_UINT32: t = DT(TYPE_UINT, 32); break;
  case GIVES_NAMED:
    if (n && given[0]->kind == SYN_STRING && !*given[0]->s)
      t = DT_VOID;
    else if (n)
      t = tirc_read_dtype(r, given[0]);
    break;
  case GIVES_HANDLE: break;
  }
  return tirc_py_expr(tirc_call(r->c, t, call->function->name, n, args));
}

/* An intrinsic goes by its name; its number is another one in each version of LLVM. */
static PyValue read_intrinsic_id(Reader *r, const Call *call) {
  const PyValue name = tirc_read_value(r, call->args[0]);
  if (name.kind != PY_STR)
    READ_FAIL(r, call->args[0], CODE_TYPE, NULL, "expected the name of an intrinsic, not %s",
              tirc_py_describe(r, name));
  return name;
}

#define OPAQUE(gives, text)                                                                        \
  { text, "first? * dtype?", IN_VALUE, read_opaque, GIVES_##gives }

const Function tirc_opaque_functions[] = {
    OPAQUE(BOOL, "assume"),
    OPAQUE(NAMED, "opaque_zero"), /* a 0 that no compiler knows (LowerIntrin makes it) */
    OPAQUE(HANDLE, "address_of"),
    OPAQUE(NAMED, "type_annotation"),
    OPAQUE(NAMED, "call_extern"),
    OPAQUE(NAMED, "call_pure_extern"),
    OPAQUE(NAMED, "call_intrin"),
    OPAQUE(NAMED, "call_pure_intrin"),
    OPAQUE(NAMED, "call_llvm_intrin"),
    OPAQUE(NAMED, "call_llvm_pure_intrin"),
    {"llvm_lookup_intrinsic_id", "name", IN_VALUE, read_intrinsic_id, 0},
    OPAQUE(INT32, "call_packed"),
    OPAQUE(INT32, "call_cpacked"),
    OPAQUE(INT32, "call_packed_lowered"),
    OPAQUE(INT32, "call_cpacked_lowered"),
    OPAQUE(HANDLE, "ret"),
    OPAQUE(HANDLE, "undef"),
    OPAQUE(BOOL, "isnullptr"),
    OPAQUE(HANDLE, "target"),
    OPAQUE(HANDLE, "prefetch"),
    OPAQUE(INT32, "dp4a"),
    OPAQUE(INT32, "vscale"),
    OPAQUE(NAMED, "vectorlow"),
    OPAQUE(NAMED, "vectorhigh"),
    OPAQUE(NAMED, "vectorcombine"),
    OPAQUE(HANDLE, "comm_reducer"),
    OPAQUE(HANDLE, "iter_var"),
    OPAQUE(NAMED, "lookup_param"),
    OPAQUE(HANDLE, "mem_copy"),
    OPAQUE(HANDLE, "dma_copy"),
    OPAQUE(HANDLE, "dma_wait"),
    OPAQUE(HANDLE, "start_profile_intrinsic"),
    OPAQUE(HANDLE, "end_profile_intrinsic"),
    OPAQUE(HANDLE, "texture2d_store"),
    OPAQUE(HANDLE, "texture2d_load"),
    OPAQUE(HANDLE, "create_barriers"),
    OPAQUE(NAMED, "mma_store"),
    OPAQUE(NAMED, "mma_fill"),
    OPAQUE(NAMED, "ptx_mma"),
    OPAQUE(NAMED, "ptx_mma_sp"),
    OPAQUE(NAMED, "ptx_ldmatrix"),
    OPAQUE(NAMED, "ptx_cp_async"),
    OPAQUE(NAMED, "ptx_cp_async_bulk"),
    OPAQUE(HANDLE, "ptx_commit_group"),
    OPAQUE(HANDLE, "ptx_wait_group"),
    OPAQUE(NAMED, "ptx_cp_async_barrier"),
    OPAQUE(HANDLE, "ptx_init_barrier_thread_count"),
    OPAQUE(HANDLE, "ptx_arrive_barrier"),
    OPAQUE(HANDLE, "ptx_arrive_barrier_expect_tx"),
    OPAQUE(HANDLE, "ptx_wait_barrier"),
    OPAQUE(HANDLE, "simdgroup_load"),
    OPAQUE(HANDLE, "simdgroup_store"),
    OPAQUE(HANDLE, "simdgroup_multiply_accumulate"),
    OPAQUE(HANDLE, "make_filled_simdgroup_matrix"),
    OPAQUE(HANDLE, "tvm_access_ptr"),
    OPAQUE(HANDLE, "tvm_fill_fragment"),
    OPAQUE(HANDLE, "tvm_load_matrix_sync"),
    OPAQUE(HANDLE, "tvm_store_matrix_sync"),
    OPAQUE(HANDLE, "tvm_mma_sync"),
    OPAQUE(HANDLE, "tvm_bmma_sync"),
    OPAQUE(HANDLE, "tvm_tuple"),
    OPAQUE(INT32, "tvm_storage_sync"),
    OPAQUE(HANDLE, "tvm_thread_allreduce"),
    OPAQUE(BOOL, "tvm_thread_invariant"),
    OPAQUE(SECOND, "tvm_warp_shuffle"),
    OPAQUE(SECOND, "tvm_warp_shuffle_up"),
    OPAQUE(SECOND, "tvm_warp_shuffle_down"),
    OPAQUE(UINT32, "tvm_warp_activemask"),
    OPAQUE(HANDLE, "tvm_stack_alloca"),
    OPAQUE(HANDLE, "tvm_stack_make_shape"),
    OPAQUE(HANDLE, "tvm_stack_make_array"),
    OPAQUE(HANDLE, "tvm_struct_get"),
    OPAQUE(INT32, "tvm_struct_set"),
    OPAQUE(INT32, "tvm_call_packed"),
    OPAQUE(INT32, "tvm_call_cpacked"),
    OPAQUE(INT32, "tvm_call_packed_lowered"),
    OPAQUE(INT32, "tvm_call_cpacked_lowered"),
    OPAQUE(HANDLE, "tvm_throw_last_error"),
    OPAQUE(HANDLE, "tvm_static_handle"),
    OPAQUE(HANDLE, "tvm_context_id"),
    OPAQUE(HANDLE, "tvm_global_barrier_kinit"),
    OPAQUE(HANDLE, "tvm_check_return"),
    OPAQUE(HANDLE, "large_uint_imm"),
    {NULL, NULL, 0, NULL, 0},
};
