/* Loads, stores, addresses, and the memory of allocated buffers.
 *
 * An access whose index is a ramp of stride 1 is one vector access, aligned like an element; a
 * load of every second element is two of them, one of a row backwards is one, one from a few rows
 * is one a row, and lanes change places; a broadcast index is one scalar; any other vector index is
 * taken apart into lanes. Lanes that a mask leaves out touch nothing: LLVM has these accesses taken
 * apart where the processor has none. Small allocations of constant size live in the function's
 * frame, others come from the runtime and go back to it on every way out of the function. */
#include "codegen/access.h"
#include "gen.h"
#include "ir/tree/vector_index.h"

enum { ALIGNMENT = 64 };

static LLVMValueRef data_of(Gen *g, Buffer b) {
  LLVMValueRef p = tirc_map_get(&g->f.vars, b->data);
  if (!p)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "the buffer %s is used where it is not allocated",
              b->name);
  return p;
}

static LLVMValueRef element(Gen *g, Buffer b, LLVMValueRef index) {
  LLVMTypeRef t = tirc_gen_memory_type(g, tirc_dtype_lanes(b->dtype, 1));
  return LLVMBuildInBoundsGEP2(g->b, t, data_of(g, b), &index, 1, "");
}

LLVMValueRef tirc_gen_address(Gen *g, Expr load) {
  Buffer b = load->u.buffer;
  LLVMValueRef index = tirc_gen_index_expr(g, tirc_linear_index(g->c, b, load->n, load->args));
  LLVMTypeRef t = tirc_gen_memory_type(g, tirc_dtype_lanes(b->dtype, 1));
  /* The address may lie past the end (a prefetch), so nothing is claimed about it. */
  return LLVMBuildGEP2(g->b, t, data_of(g, b), &index, 1, "");
}

/* Of n elements from this index on. GPUs move a vector at once only from an address that is known
 * to be a multiple of its size. */
static int alignment_of(Gen *g, DType t, Expr index) {
  const int bytes = tirc_dtype_bytes(tirc_dtype_lanes(t, 1)), most = 16 / bytes;
  if (!g->target->is_gpu || t.lanes == 1 || most < 2) return bytes;
  return bytes * tirc_index_divisor(g->c, index, most);
}

static LLVMValueRef load_aligned(Gen *g, LLVMValueRef p, DType t, int alignment) {
  LLVMValueRef v = LLVMBuildLoad2(g->b, tirc_gen_memory_type(g, t), p, "");
  LLVMSetAlignment(v, (unsigned)alignment);
  if (t.code == TYPE_BOOL) v = LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
  return v;
}

static LLVMValueRef load_at(Gen *g, LLVMValueRef p, DType t) {
  return load_aligned(g, p, t, tirc_dtype_bytes(tirc_dtype_lanes(t, 1)));
}

static void store_aligned(Gen *g, LLVMValueRef p, LLVMValueRef v, DType t, int alignment) {
  if (t.code == TYPE_BOOL) v = LLVMBuildZExt(g->b, v, tirc_gen_memory_type(g, t), "");
  LLVMSetAlignment(LLVMBuildStore(g->b, v, p), (unsigned)alignment);
}

static void store_at(Gen *g, LLVMValueRef p, LLVMValueRef v, DType t) {
  store_aligned(g, p, v, t, tirc_dtype_bytes(tirc_dtype_lanes(t, 1)));
}

static LLVMValueRef lane_number(Gen *g, int lane) {
  return tirc_gen_int(g, tirc_gen_int_type(g, 32, 1), lane);
}

/* The indices of a vector access, one a lane: a ramp's are computed apart, so that constant strides
 * become constant offsets. */
typedef struct Lanes {
  LLVMValueRef base, stride; /* of a ramp */
  LLVMValueRef vector;       /* otherwise */
} Lanes;

static Lanes lanes_of(Gen *g, Expr index) {
  if (index->op == OP_RAMP)
    return (Lanes){tirc_gen_index_expr(g, index->args[0]), tirc_gen_index_expr(g, index->args[1]),
                   NULL};
  return (Lanes){NULL, NULL, tirc_gen_index_expr(g, index)};
}

static LLVMValueRef lane_index(Gen *g, const Lanes *l, int lane) {
  if (l->vector) return LLVMBuildExtractElement(g->b, l->vector, lane_number(g, lane), "");
  LLVMValueRef k = tirc_gen_int(g, tirc_gen_int_type(g, 64, 1), lane);
  return LLVMBuildNSWAdd(g->b, l->base, LLVMBuildNSWMul(g->b, l->stride, k, ""), "");
}

LLVMValueRef tirc_gen_load_vector(Gen *g, Buffer b, LLVMValueRef index, int64_t offset, int n) {
  LLVMValueRef k = tirc_gen_int(g, tirc_gen_int_type(g, 64, 1), offset);
  return load_at(g, element(g, b, LLVMBuildNSWAdd(g->b, index, k, "")),
                 tirc_dtype_lanes(tirc_dtype_lanes(b->dtype, 1), n));
}

void tirc_gen_store_vector(Gen *g, Buffer b, LLVMValueRef index, int64_t offset, LLVMValueRef v,
                           int n) {
  LLVMValueRef k = tirc_gen_int(g, tirc_gen_int_type(g, 64, 1), offset);
  store_at(g, element(g, b, LLVMBuildNSWAdd(g->b, index, k, "")), v,
           tirc_dtype_lanes(tirc_dtype_lanes(b->dtype, 1), n));
}

/* With a step of 2, the second of the two vectors ends where the last element lies, so that nothing
 * is touched behind it:   0 . 2 . 4 . 6 .      and, from 7 on,   . 8 . 10 . 12 . 14 */
static LLVMValueRef load_steps(Gen *g, Buffer b, const Lanes *l, int step, int n) {
  LLVMValueRef *mask = tirc_new_array(g->c, LLVMValueRef, n);
  for (int i = 0; i < n; i++) {
    const int in_second = n + 2 * i - (n - 1); /* lanes are counted through both */
    mask[i] = lane_number(g, step < 0 ? n - 1 - i : i < n / 2 ? 2 * i : in_second);
  }
  LLVMValueRef first = tirc_gen_load_vector(g, b, l->base, step < 0 ? 1 - n : 0, n);
  LLVMValueRef second = step < 0 ? first : tirc_gen_load_vector(g, b, l->base, n - 1, n);
  return LLVMBuildShuffleVector(g->b, first, second, LLVMConstVector(mask, (unsigned)n), "");
}

/* The step of a ramp whose elements lie so close that whole vectors are loaded; 0: of another. */
static int close_step(Expr index) {
  int64_t step;
  const int n = index->dtype.lanes;
  if (index->op != OP_RAMP || !tirc_const_int(index->args[1], &step)) return 0;
  const bool is_power = (n & (n - 1)) == 0;
  return step == -1 || (step == 2 && is_power && n >= 4) ? (int)step : 0;
}

/* Rows are loaded one beside the other, and the lanes picked out of them. */
static LLVMValueRef load_rows(Gen *g, Buffer b, const LaneRows *r, int n) {
  LLVMValueRef base =
      r->base ? tirc_gen_index_expr(g, r->base) : tirc_gen_int(g, tirc_gen_int_type(g, 64, 1), 0);
  LLVMValueRef *rows = tirc_new_array(g->c, LLVMValueRef, r->n);
  LLVMValueRef *mask = tirc_new_array(g->c, LLVMValueRef, r->n * r->each + n);
  for (int i = 0; i < r->n; i++) rows[i] = tirc_gen_load_vector(g, b, base, r->start[i], r->each);
  for (int i = 0; i < r->n * r->each; i++) mask[i] = lane_number(g, i);
  int count = r->n, each = r->each;
  for (; count > 2; count /= 2, each *= 2)
    for (int i = 0; i < count; i += 2)
      rows[i / 2] = LLVMBuildShuffleVector(g->b, rows[i], rows[i + 1],
                                           LLVMConstVector(mask, (unsigned)(2 * each)), "");
  for (int i = 0; i < n; i++) mask[i] = lane_number(g, r->lane[i]);
  return LLVMBuildShuffleVector(g->b, rows[0], rows[count - 1], LLVMConstVector(mask, (unsigned)n),
                                "");
}

LLVMValueRef tirc_gen_load(Gen *g, Expr e) {
  Buffer b = e->u.buffer;
  Expr index = tirc_linear_index(g->c, b, e->n, e->args);
  int n = index->dtype.lanes;
  DType one = tirc_dtype_lanes(b->dtype, 1);
  if (n == 1) return load_at(g, element(g, b, tirc_gen_index_expr(g, index)), one);
  if (tirc_is_contiguous(index)) {
    const DType all = tirc_dtype_lanes(one, n);
    return load_aligned(g, element(g, b, tirc_gen_index_expr(g, index->args[0])), all,
                        alignment_of(g, all, index->args[0]));
  }
  if (index->op == OP_BROADCAST) {
    LLVMValueRef p = element(g, b, tirc_gen_index_expr(g, index->args[0]));
    return tirc_gen_splat(g, load_at(g, p, one), n);
  }
  Lanes lanes = lanes_of(g, index);
  const int step = close_step(index);
  if (step) return load_steps(g, b, &lanes, step, n);
  LaneRows rows;
  if (tirc_lane_rows(g->c, index, &rows)) return load_rows(g, b, &rows, n);
  LLVMValueRef v = LLVMGetPoison(tirc_gen_type(g, tirc_dtype_lanes(one, n)));
  for (int i = 0; i < n; i++) {
    LLVMValueRef x = load_at(g, element(g, b, lane_index(g, &lanes, i)), one);
    v = LLVMBuildInsertElement(g->b, v, x, lane_number(g, i), "");
  }
  return v;
}

void tirc_gen_store(Gen *g, Stmt s) {
  Buffer b = s->u.store.buffer;
  tirc_marks_store(g, b);
  Expr value = s->u.store.value;
  Expr index = tirc_linear_index(g->c, b, s->u.store.n, s->u.store.indices);
  int n = index->dtype.lanes;
  DType one = tirc_dtype_lanes(b->dtype, 1), all = tirc_dtype_lanes(one, n);
  LLVMValueRef v = tirc_gen_cast(g, tirc_gen_expr(g, value), value->dtype, all);
  if (n == 1) {
    store_at(g, element(g, b, tirc_gen_index_expr(g, index)), v, one);
    return;
  }
  if (tirc_is_contiguous(index)) {
    store_aligned(g, element(g, b, tirc_gen_index_expr(g, index->args[0])), v, all,
                  alignment_of(g, all, index->args[0]));
    return;
  }
  Lanes lanes = lanes_of(g, index);
  for (int i = 0; i < n; i++) {
    LLVMValueRef x = LLVMBuildExtractElement(g->b, v, lane_number(g, i), "");
    store_at(g, element(g, b, lane_index(g, &lanes, i)), x, one);
  }
}

/* --- lanes left out ------------------------------------------------------------------------- */

/* llvm.masked.NAME, which is one for vectors of this type. */
static LLVMValueRef call_masked(Gen *g, const char *name, LLVMTypeRef vector, LLVMValueRef p, int n,
                                LLVMValueRef *args) {
  LLVMTypeRef over[2] = {vector, LLVMTypeOf(p)};
  const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->module, id, over, 2);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, (unsigned)n, "");
}

static Expr first_of(Gen *g, Buffer b, int n, Expr const *indices) {
  const Expr index = tirc_linear_index(g->c, b, n, indices);
  if (!tirc_is_contiguous(index) || b->dtype.code == TYPE_BOOL)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL,
              "a vector of conditions masks lanes of %s that are not contiguous", b->name);
  return index->args[0];
}

static LLVMValueRef alignment_for_mask(Gen *g, Buffer b) {
  return tirc_gen_int(g, tirc_gen_int_type(g, 32, 1),
                      tirc_dtype_bytes(tirc_dtype_lanes(b->dtype, 1)));
}

LLVMValueRef tirc_gen_masked_load(Gen *g, LLVMValueRef mask, Expr load, LLVMValueRef other) {
  const Buffer b = load->u.buffer;
  const Expr first = first_of(g, b, load->n, load->args);
  LLVMValueRef p = element(g, b, tirc_gen_index_expr(g, first));
  return call_masked(g, "llvm.masked.load", LLVMTypeOf(other), p, 4,
                     (LLVMValueRef[]){p, alignment_for_mask(g, b), mask, other});
}

void tirc_gen_masked_store(Gen *g, LLVMValueRef mask, Stmt s) {
  const Buffer b = s->u.store.buffer;
  const Expr value = s->u.store.value, first = first_of(g, b, s->u.store.n, s->u.store.indices);
  const DType all = tirc_dtype_lanes(tirc_dtype_lanes(b->dtype, 1),
                                     s->u.store.indices[s->u.store.n - 1]->dtype.lanes);
  tirc_marks_store(g, b);
  LLVMValueRef v = tirc_gen_cast(g, tirc_gen_expr(g, value), value->dtype, all);
  LLVMValueRef p = element(g, b, tirc_gen_index_expr(g, first));
  call_masked(g, "llvm.masked.store", LLVMTypeOf(v), p, 4,
              (LLVMValueRef[]){v, p, alignment_for_mask(g, b), mask});
}

/* --- allocations ---------------------------------------------------------------------------- */

static LLVMValueRef frame_slot(Gen *g, Buffer b, int64_t bytes) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
  LLVMPositionBuilderAtEnd(g->b, g->f.entry);
  LLVMTypeRef element_type = tirc_gen_memory_type(g, tirc_dtype_lanes(b->dtype, 1));
  int64_t count = bytes / tirc_dtype_bytes(tirc_dtype_lanes(b->dtype, 1));
  LLVMTypeRef array = LLVMArrayType2(element_type, (uint64_t)(count > 0 ? count : 1));
  LLVMValueRef p = LLVMBuildAlloca(g->b, array, b->name);
  LLVMSetAlignment(p, g->target->is_gpu ? 16 : ALIGNMENT);
  LLVMPositionBuilderAtEnd(g->b, here);
  return p;
}

/* The size in bytes of a buffer of symbolic shape; negative extents count as 0. An overflow gives a
 * size that no allocator will grant. */
static LLVMValueRef dynamic_bytes(Gen *g, Buffer b) {
  LLVMTypeRef i64 = tirc_gen_int_type(g, 64, 1), i1 = tirc_gen_int_type(g, 1, 1);
  LLVMValueRef zero = LLVMConstNull(i64);
  LLVMValueRef bytes = tirc_gen_int(g, i64, tirc_dtype_bytes(tirc_dtype_lanes(b->dtype, 1)));
  LLVMValueRef overflowed = LLVMConstInt(i1, 0, false);
  for (int i = 0; i < b->ndim; i++) {
    Expr e = b->shape[i];
    LLVMValueRef extent = tirc_gen_index(g, tirc_gen_expr(g, e), e->dtype);
    LLVMValueRef positive = LLVMBuildICmp(g->b, LLVMIntSGT, extent, zero, "");
    LLVMValueRef args[2] = {bytes, LLVMBuildSelect(g->b, positive, extent, zero, "")};
    LLVMValueRef r = tirc_gen_intrinsic(g, "llvm.smul.with.overflow", i64, 2, args);
    bytes = LLVMBuildExtractValue(g->b, r, 0, "");
    overflowed = LLVMBuildOr(g->b, overflowed, LLVMBuildExtractValue(g->b, r, 1, ""), "");
  }
  return LLVMBuildSelect(g->b, overflowed, tirc_gen_int(g, i64, INT64_MAX), bytes, "");
}

/* What turns out small in a step of a parallel loop needs no allocator, which would take as long as
 * a short row. */
enum { SMALL = 16 << 10 };

static void take_from_runtime(Gen *g, Workspace *w) {
  LLVMValueRef args[2] = {g->f.rt, w->bytes};
  w->pointer = tirc_gen_service(g, SERVICE_ALLOC, 2, args);
  LLVMValueRef none = LLVMBuildIsNull(g->b, w->pointer, "");
  tirc_gen_leave_if(g, none, tirc_gen_int(g, tirc_gen_int_type(g, 32, 1), 1));
}

/* The frame has a place for it, which is taken where the size turns out to fit. */
static void take_small(Gen *g, Buffer b, Workspace *w) {
  LLVMValueRef slot = frame_slot(g, b, SMALL);
  g->f.stack_bytes += SMALL;
  LLVMBasicBlockRef large = tirc_gen_block(g, "large"), taken = tirc_gen_block(g, "taken");
  LLVMValueRef most = tirc_gen_int(g, LLVMTypeOf(w->bytes), SMALL);
  w->on_stack = LLVMBuildICmp(g->b, LLVMIntULE, w->bytes, most, "");
  LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(g->b)};
  LLVMBuildCondBr(g->b, w->on_stack, taken, large);
  LLVMPositionBuilderAtEnd(g->b, large);
  take_from_runtime(g, w);
  LLVMValueRef pointers[2] = {slot, w->pointer};
  from[1] = LLVMGetInsertBlock(g->b);
  LLVMBuildBr(g->b, taken);
  LLVMPositionBuilderAtEnd(g->b, taken);
  w->pointer = LLVMBuildPhi(g->b, LLVMTypeOf(slot), b->name);
  LLVMAddIncoming(w->pointer, pointers, from, 2);
}

static void from_runtime(Gen *g, Stmt s, int64_t bytes) {
  Buffer b = s->u.alloc.buffer;
  LLVMTypeRef i64 = tirc_gen_int_type(g, 64, 1);
  Workspace w = {.bytes = bytes >= 0 ? tirc_gen_int(g, i64, bytes) : dynamic_bytes(g, b),
                 .outer = g->f.workspace};
  if (bytes < 0 && g->f.in_parallel && tirc_fits_stack(SMALL, g->f.stack_bytes))
    take_small(g, b, &w);
  else
    take_from_runtime(g, &w);
  g->f.workspace = &w;
  tirc_map_set(g->c, &g->f.vars, b->data, w.pointer);
  tirc_gen_stmt(g, s->u.alloc.body);
  tirc_map_remove(&g->f.vars, b->data);
  g->f.workspace = w.outer;
  tirc_gen_free(g, &w);
}

static LLVMTypeRef constant_type(Gen *g, DType t) {
  const bool small = tirc_dtype_is_float(t) && t.bits == 16;
  return small ? tirc_gen_int_type(g, 16, 1) : tirc_gen_memory_type(g, t);
}

static LLVMValueRef constant_in_memory(Gen *g, Expr e) {
  LLVMTypeRef t = constant_type(g, e->dtype);
  if (e->dtype.code == TYPE_BOOL) return LLVMConstInt(t, e->u.i != 0, false);
  if (tirc_dtype_is_float(e->dtype) && e->dtype.bits == 16)
    return LLVMConstInt(t, tirc_double_to_16_bits(e->dtype, e->u.f), false);
  return tirc_gen_expr(g, e);
}

static void constant(Gen *g, Stmt s, Expr data) {
  Buffer b = s->u.alloc.buffer;
  LLVMTypeRef element = constant_type(g, b->dtype);
  LLVMValueRef *at = tirc_new_array(g->c, LLVMValueRef, data->n + 1);
  for (int i = 0; i < data->n; i++) at[i] = constant_in_memory(g, data->args[i]);
  LLVMTypeRef array = LLVMArrayType2(element, (uint64_t)data->n);
  LLVMValueRef p = LLVMAddGlobal(g->module, array, b->name);
  LLVMSetInitializer(p, LLVMConstArray2(element, at, (uint64_t)data->n));
  LLVMSetGlobalConstant(p, true);
  LLVMSetLinkage(p, LLVMPrivateLinkage);
  LLVMSetAlignment(p, ALIGNMENT);
  tirc_map_set(g->c, &g->f.vars, b->data, p);
  tirc_gen_stmt(g, s->u.alloc.body);
  tirc_map_remove(&g->f.vars, b->data);
}

/* On a GPU: memory of a block, or of a thread, which becomes registers where indices are known. */
static void in_kernel(Gen *g, Stmt s) {
  Buffer b = s->u.alloc.buffer;
  const bool is_shared = tirc_is_block_memory(g->c, g->loc, s);
  const int64_t bytes = tirc_kernel_bytes(g->c, g->loc, b);
  if (!tirc_gen_fragments(g, b))
    tirc_map_set(g->c, &g->f.vars, b->data,
                 is_shared ? tirc_gen_shared(g, b, bytes) : frame_slot(g, b, bytes));
  tirc_gen_stmt(g, s->u.alloc.body);
  tirc_map_remove(&g->f.vars, b->data);
}

void tirc_gen_alloc(Gen *g, Stmt s) {
  if (g->target->is_gpu) {
    in_kernel(g, s);
    return;
  }
  Buffer b = s->u.alloc.buffer;
  const Expr data = tirc_attrs_get(s->u.alloc.annotations, ALLOC_DATA);
  if (data) {
    constant(g, s, data);
    return;
  }
  int64_t bytes = tirc_constant_bytes(b);
  if (!tirc_fits_stack(bytes, g->f.stack_bytes)) {
    from_runtime(g, s, bytes);
    return;
  }
  g->f.stack_bytes += bytes;
  tirc_map_set(g->c, &g->f.vars, b->data, frame_slot(g, b, bytes));
  tirc_gen_stmt(g, s->u.alloc.body);
  tirc_map_remove(&g->f.vars, b->data);
}
