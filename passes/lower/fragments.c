/* What the threads of a warp do on tensor cores becomes plain loops. A fragment, of which a warp
 * has one, is in the threads' own memory then: operands of a product whole in each thread, results
 * spread over the warp, so that each thread computes some elements of them:
 *
 *   T.tvm_mma_sync(D.data, d, A.data, a, B.data, b, C.data, c)      # 16 x 16 x 16, 32 threads
 *
 *   for i in range(8):                                    # element tx + 32 * i of the 256
 *     D[d * 8 + i] = C[c * 8 + i]
 *     for k in range(16):
 *       D[d * 8 + i] = D[d * 8 + i] + A[a * 256 + row * 16 + k] * B[b * 256 + k * 16 + column]
 *
 * Loads and stores of fragments go through T.tvm_access_ptr of the other array. Where the target
 * has tensor cores that do all of a function's calls, each such nest says what it is,
 *
 *   with T.attr(D.data, "tensor_core", T.tvm_mma_sync(...)):
 *
 * and the code generator may take the instruction for the loops. The pointers are T.address_of
 * then.
 *
 * Fragments of scope warp are those of mma.sync, of which is known which thread has which element
 * of a result: of row r and column j the thread 4 * (r % 8) + j % 8 // 2. Elements of such results
 * may be loaded, where the thread that has one is the one that runs. Their loads are ldmatrix, each
 * thread with the address of a row, and what is filled or stored is a loop over the thread's own:
 *
 *   with T.attr(A.data, "tensor_core", T.ptx_ldmatrix(.., A.data, a, T.address_of(S[.. tx ..]))):
 *   with T.attr(D.data, "tensor_core", T.ptx_mma(.., A.data, a, B.data, b, D.data, d)): */
#include "internal.h"
#include "lower.h"
#include "mma.h"

#include "ir/arith/arith.h"
#include "ir/arith/equal.h"
#include "ir/tree/find.h"
#include "ir/tree/print.h"

typedef struct Fragment {
  Buffer buffer, own; /* own: what a thread has of it */
  int64_t m, n, k;    /* of the product that it takes part in; 0: not known */
  bool is_operand, is_result;
  int rows_of; /* its place in the product: 0 m x k, 1 k x n, 2 m x n */
  enum { ANY_LAYOUT, BY_ROWS, BY_COLUMNS } layout; /* of an operand: how all loads of it lie */
  bool is_mixed;                                   /* an operand on both sides */
  const char *wanted; /* of an operand, as its products say: "row_major" or "col_major"; or NULL */
  bool mma;           /* of scope warp */
  int64_t row;        /* of such a result: how far rows of its buffer are apart; 0: not known */
} Fragment;

typedef struct Fragments {
  Tirc *c;
  PtrMap of;      /* from a data variable to its Fragment */
  PtrMap buffers; /* from a data variable to a buffer */
  Expr lane;      /* threadIdx.x */
  int64_t lanes;  /* its extent */
  Stmt at;        /* for messages */
  /* Whether calls become instructions, until one is not what tensor cores do. */
  const Gpu *gpu;
  bool native, refused;
  PtrMap by_lane;   /* variables that differ between the threads of a warp */
  bool divergent;   /* in what not all of them may come to */
  Analyzer *ranges; /* of the loops around */
} Fragments;

typedef enum Does { FILL, LOAD, STORE, PRODUCT } Does;
/* Where the arguments of each stand: fragment, its number, the pointer or value, the stride, how
 * the array lies. */
static const struct Row {
  Callee callee;
  Does does;
  int n, index, other, stride, layout, shape; /* shape: of m, n, k, or -1: 8 x 8 x 8 */
  bool native;                                /* NVIDIA's tensor cores may do it */
} rows[] = {
    {CALL_TVM_FILL_FRAGMENT, FILL, 6, 4, 5, -1, -1, 1, true},
    {CALL_TVM_LOAD_MATRIX_SYNC, LOAD, 8, 4, 5, 6, 7, 1, true},
    {CALL_TVM_STORE_MATRIX_SYNC, STORE, 8, 4, 5, 6, 7, 1, true},
    {CALL_TVM_MMA_SYNC, PRODUCT, 8, 1, 2, -1, -1, -1, true},
    {CALL_MAKE_FILLED_SIMDGROUP_MATRIX, FILL, 5, 1, 2, -1, -1, -1},
    {CALL_SIMDGROUP_LOAD, LOAD, 7, 1, 2, 3, 6, -1},
    {CALL_SIMDGROUP_STORE, STORE, 7, 1, 2, 3, 6, -1},
    {CALL_SIMDGROUP_MULTIPLY_ACCUMULATE, PRODUCT, 8, 1, 2, -1, -1, -1},
};
enum { SIMDGROUP = 8 };

static const struct Row *row_of(Expr e) {
  for (size_t i = 0; e->op == OP_CALL && i < sizeof rows / sizeof *rows; i++)
    if (e->u.callee == rows[i].callee && e->n == rows[i].n) return &rows[i];
  return NULL;
}

static _Noreturn void refuse(const Fragments *k, Expr e, const char *why) {
  tirc_fail(k->c, k->at ? tirc_place_of(k->at) : (Loc){0}, CODE_LOWER, NULL, "%s in %s", why,
            tirc_print_expr(k->c, e));
}

static const char one_layout[] = "for a B that is stored by columns use the _trans variants of "
                                 "both the load and the product; for A use neither";

/* --- what there is ---------------------------------------------------------------------------- */

static Fragment *fragment(Fragments *k, Expr data) {
  Fragment *f = tirc_map_get(&k->of, data);
  if (f) return f;
  f = tirc_new(k->c, Fragment);
  tirc_map_set(k->c, &k->of, data, f);
  return f;
}

static void note_shape(Fragments *k, Expr e, const struct Row *row) {
  Fragment *f = fragment(k, e->args[0]);
  int64_t v[3] = {SIMDGROUP, SIMDGROUP, SIMDGROUP};
  for (int i = 0; row->shape >= 0 && i < 3; i++)
    if (!tirc_const_int(e->args[row->shape + i], &v[i]) || v[i] < 1 || v[i] > 1024)
      refuse(k, e, "a fragment's shape is not a constant");
  const bool other = f->m != v[0] || f->n != v[1] || f->k != v[2];
  if (f->m && other) refuse(k, e, "a fragment has two shapes");
  f->m = v[0];
  f->n = v[1];
  f->k = v[2];
}

static bool note_call(Visitor *v, Expr e) {
  Fragments *k = v->self;
  const struct Row *row = row_of(e);
  if (!row) return true;
  if (row->does != PRODUCT) note_shape(k, e, row);
  if (row->does == STORE) fragment(k, e->args[0])->is_result = true;
  if (row->does != PRODUCT) return true;
  for (int i = 0; i < 4; i++) {
    Fragment *f = fragment(k, e->args[2 * i]);
    const bool is_operand = i == 1 || i == 2;
    f->is_mixed |= is_operand && f->is_operand && f->rows_of != (i == 1 ? 0 : 1);
    f->is_operand |= is_operand;
    f->is_result |= !is_operand;
    f->rows_of = i == 1 ? 0 : i == 2 ? 1 : 2;
  }
  return true;
}

static bool is_layout(Stmt s) {
  return s->kind == STMT_ATTR && !strcmp(s->u.attr.key, tirc_key(KEY_TENSOR_CORE_LAYOUT));
}

static void note_layout(Fragments *k, Stmt s) {
  Fragment *f = fragment(k, s->u.attr.node);
  if (tirc_const_int(s->u.attr.value, &f->row) || s->u.attr.value->op != OP_STRING) return;
  const char *wanted = s->u.attr.value->u.s;
  if (f->wanted && strcmp(f->wanted, wanted))
    tirc_fail(
        k->c, tirc_place_of(s), CODE_LOWER, one_layout,
        "a fragment is an operand of two products: one takes it by rows, the other by columns");
  f->wanted = wanted;
}

static bool note_stmt(Visitor *v, Stmt s) {
  Fragments *k = v->self;
  if (is_layout(s)) note_layout(k, s);
  if (s->kind == STMT_ALLOC || s->kind == STMT_DECL)
    tirc_map_set(k->c, &k->buffers, s->u.alloc.buffer->data, s->u.alloc.buffer);
  if (s->kind == STMT_STORE)
    tirc_map_set(k->c, &k->buffers, s->u.store.buffer->data, s->u.store.buffer);
  return true;
}

static int64_t elements(const Fragment *f) {
  return f->rows_of == 0 ? f->m * f->k : f->rows_of == 1 ? f->k * f->n : f->m * f->n;
}

static int64_t columns(const Fragment *f) { return f->rows_of == 0 ? f->k : f->n; }

/* --- loops ------------------------------------------------------------------------------------ */

static Expr number(Fragments *k, int64_t v) { return tirc_int32(k->c, v); }

/* How many elements of the fragment a thread has. */
static int64_t share(const Fragments *k, const Fragment *f) {
  return f->is_operand ? elements(f) : elements(f) / k->lanes;
}

static Expr in_own(Fragments *k, const Fragment *f, Expr index, Expr i) {
  return tirc_add(k->c, tirc_mul(k->c, tirc_cast(k->c, DT_INT32, index), number(k, share(k, f))),
                  i);
}

/* Which element of the fragment the i-th of the thread's is. */
static Expr element(Fragments *k, const Fragment *f, Expr i) {
  if (f->is_operand) return i;
  Expr lane = tirc_cast(k->c, DT_INT32, k->lane);
  if (f->mma) return tirc_mma_element(k->c, lane, i);
  return tirc_add(k->c, lane, tirc_mul(k->c, i, number(k, k->lanes)));
}

static Stmt loop(Fragments *k, Expr var, int64_t n, Stmt body) {
  return tirc_for_serial(k->c, var, number(k, n), body);
}

static Stmt fill(Fragments *k, Expr e, const struct Row *row, const Fragment *f) {
  Expr i = tirc_var(k->c, "i", DT_INT32), at = in_own(k, f, e->args[row->index], i);
  Expr value = tirc_cast(k->c, f->own->dtype, e->args[row->other]);
  return loop(k, i, share(k, f), tirc_store(k->c, f->own, 1, &at, value));
}

static bool is_transposed(const Fragments *k, Expr e, const struct Row *row) {
  Expr layout = e->args[row->layout];
  if (layout->op == OP_STRING) return !strcmp(layout->u.s, "col_major");
  int64_t v;
  if (!tirc_const_int(layout, &v)) refuse(k, e, "the layout of the matrix is not a constant");
  return v != 0;
}

/* The array of a load or a store. */
static Buffer other_of(Fragments *k, Expr e, const struct Row *row) {
  Expr pointer = e->args[row->other];
  Buffer b = NULL;
  if (tirc_calls(pointer, CALL_TVM_ACCESS_PTR) && pointer->n == 5)
    b = tirc_map_get(&k->buffers, pointer->args[1]);
  if (!b || b->ndim != 1) refuse(k, e, "no T.tvm_access_ptr of an array");
  return b;
}

/* A fragment from an array or to it. */
static Stmt move(Fragments *k, Expr e, const struct Row *row, const Fragment *f) {
  Tirc *c = k->c;
  Expr pointer = e->args[row->other];
  Buffer b = other_of(k, e, row);
  Expr i = tirc_var(c, "i", DT_INT32), which = element(k, f, i), width = number(k, columns(f));
  Expr r = tirc_floordiv(c, which, width), column = tirc_floormod(c, which, width);
  const bool turned = is_transposed(k, e, row);
  if (row->does == LOAD && f->wanted && turned != !strcmp(f->wanted, "col_major"))
    tirc_fail(c, k->at ? tirc_place_of(k->at) : (Loc){0}, CODE_LOWER, one_layout,
              "a fragment is loaded by %s, but the product takes it by %s: %s",
              turned ? "columns" : "rows", turned ? "rows" : "columns", tirc_print_expr(c, e));
  Expr far = tirc_mul(c, turned ? column : r, e->args[row->stride]);
  Expr there = tirc_add(c, pointer->args[2], tirc_add(c, far, turned ? r : column));
  Expr here = in_own(k, f, e->args[row->index], i);
  Expr from = row->does == LOAD ? tirc_load(c, b, 1, &there) : tirc_load(c, f->own, 1, &here);
  Stmt s = row->does == LOAD ? tirc_store(c, f->own, 1, &here, tirc_cast(c, f->own->dtype, from))
                             : tirc_store(c, b, 1, &there, tirc_cast(c, b->dtype, from));
  return loop(k, i, share(k, f), s);
}

static Stmt product(Fragments *k, Expr e) {
  Tirc *c = k->c;
  const Fragment *f[4];
  for (int i = 0; i < 4; i++) f[i] = fragment(k, e->args[2 * i]);
  const Fragment *d = f[0];
  Expr i = tirc_var(c, "i", DT_INT32), j = tirc_var(c, "k", DT_INT32);
  Expr which = element(k, d, i), width = number(k, d->n), depth = number(k, f[1]->k);
  Expr r = tirc_floordiv(c, which, width), column = tirc_floormod(c, which, width);
  Expr to = in_own(k, d, e->args[1], i), start = in_own(k, f[3], e->args[7], i);
  Expr a = in_own(k, f[1], e->args[3], tirc_add(c, tirc_mul(c, r, depth), j));
  Expr b = in_own(k, f[2], e->args[5], tirc_add(c, tirc_mul(c, j, width), column));
  const DType t = d->own->dtype;
  Expr x = tirc_cast(c, t, tirc_load(c, f[1]->own, 1, &a));
  Expr y = tirc_cast(c, t, tirc_load(c, f[2]->own, 1, &b));
  Expr sum = tirc_add(c, tirc_load(c, d->own, 1, &to), tirc_mul(c, x, y));
  Stmt steps = loop(k, j, f[1]->k, tirc_store(c, d->own, 1, &to, sum));
  Expr old = tirc_cast(c, t, tirc_load(c, f[3]->own, 1, &start));
  Stmt first = tirc_store(c, d->own, 1, &to, old);
  return loop(k, i, share(k, d), tirc_seq(c, 2, (Stmt[]){first, steps}));
}

static void check(Fragments *k, Expr e, const Fragment *f) {
  if (!f->own) refuse(k, e, "a fragment is not allocated in the kernel");
  if (f->is_operand && f->is_result) refuse(k, e, "a fragment is both an operand and a result");
  if (!k->lane || elements(f) % k->lanes)
    refuse(k, e, "the extent of threadIdx.x is not the size of a warp");
}

/* --- instructions ----------------------------------------------------------------------------- */

static bool is_of(const Fragment *f, DType t) { return tirc_dtype_equal(f->own->dtype, t); }

static bool is_tile(const Fragment *f) { return f->m == 16 && f->n == 16 && f->k == 16; }

static bool is_multiple(Fragments *k, Expr e, int64_t bytes, int64_t of) {
  const Modular m = tirc_modular(tirc_analyzer(k->c), e);
  return tirc_gcd(m.coeff, m.base) * bytes % of == 0;
}

static bool differs(const Fragments *k, Expr e) {
  return tirc_reads_memory(e) || tirc_uses_any(e, &k->by_lane);
}

/* Whether registers hold the type: of operands, or of sums. */
static bool is_held(const Fragment *f) {
  if (f->is_operand) return is_of(f, DT(TYPE_FLOAT, 16)) || is_of(f, DT(TYPE_INT, 8));
  return is_of(f, DT(TYPE_FLOAT, 16)) || is_of(f, DT_FLOAT32) || is_of(f, DT_INT32);
}

static bool is_native_product(const Fragments *k, const Fragment *const *f) {
  const bool f16 = is_of(f[1], DT(TYPE_FLOAT, 16)) && is_of(f[2], DT(TYPE_FLOAT, 16)) &&
                   (is_of(f[0], DT(TYPE_FLOAT, 16)) || is_of(f[0], DT_FLOAT32));
  const bool s8 =
      is_of(f[1], DT(TYPE_INT, 8)) && is_of(f[2], DT(TYPE_INT, 8)) && is_of(f[0], DT_INT32);
  const unsigned has = k->gpu->tensor_cores;
  for (int i = 0; i < 4; i++)
    if (!is_tile(f[i])) return false;
  return tirc_dtype_equal(f[0]->own->dtype, f[3]->own->dtype) && f[1]->layout && f[2]->layout &&
         ((f16 && has & TENSOR_F16) || (s8 && has & TENSOR_S8));
}

/* A tile begins at a multiple of 32 bytes, or of a row if that is less, and its rows are multiples
 * of 16 bytes apart. */
static bool is_native_move(Fragments *k, Expr e, const struct Row *row, Fragment *f) {
  const Buffer b = other_of(k, e, row);
  const int bytes = tirc_dtype_bytes(b->dtype);
  const int layout = is_transposed(k, e, row) ? BY_COLUMNS : BY_ROWS;
  if (!is_tile(f) || !is_of(f, b->dtype) || differs(k, e->args[row->other]->args[2]) ||
      !is_multiple(k, e->args[row->other]->args[2], bytes, bytes > 1 ? 32 : 16) ||
      !is_multiple(k, e->args[row->stride], bytes, 16))
    return false;
  if (!f->is_operand) return true;
  if (row->does == STORE || (f->layout && (int)f->layout != layout)) return false;
  f->layout = layout;
  return true;
}

/* The call as the code generator takes it; NULL: it is not what the target's tensor cores do. */
static Expr instruction(Fragments *k, Expr e, const struct Row *row, Fragment *const *f) {
  Tirc *c = k->c;
  bool is = !k->divergent && row->native;
  const int pointer = row->does == LOAD || row->does == STORE ? row->other : -1;
  for (int i = 0; i < e->n; i++) is = is && (i == pointer || !differs(k, e->args[i]));
  for (int i = 0; i < (row->does == PRODUCT ? 4 : 1); i++)
    is = is && is_held(f[i]) && !f[i]->is_mixed;
  switch (row->does) {
  case FILL: is = is && is_tile(f[0]) && !f[0]->is_operand; break;
  case PRODUCT: is = is && is_native_product(k, (const Fragment *const *)f); break;
  case LOAD:
  case STORE: is = is && is_native_move(k, e, row, f[0]); break;
  }
  if (!is) return k->refused = true, NULL;
  if (row->does == FILL || row->does == PRODUCT) return e;
  Expr *args = tirc_new_array(c, Expr, e->n);
  memcpy(args, e->args, sizeof *args * (size_t)e->n);
  Expr first = tirc_load(c, other_of(k, e, row), 1, &e->args[row->other]->args[2]);
  args[row->other] = tirc_call(c, DT_HANDLE, CALL_ADDRESS_OF, 1, &first);
  return tirc_call(c, e->dtype, e->u.callee, e->n, args);
}

/* --- mma.sync --------------------------------------------------------------------------------- */

static bool has_mma(const Fragments *k) { return k->gpu && k->gpu->tensor_cores & MMA_16816; }

/* Where a GPU runs the code, loops would be a hundred times slower than what is meant. */
static _Noreturn void refuse_mma(Fragments *k, Expr e, const char *hint, const char *why) {
  tirc_fail(k->c, k->at ? tirc_place_of(k->at) : (Loc){0}, CODE_LOWER, hint, "%s: %s", why,
            tirc_print_expr(k->c, e));
}

static const char *type_of(DType t) {
  return t.code == TYPE_BFLOAT ? "bf16"
         : t.code == TYPE_INT  ? "int8"
         : t.bits == 32        ? "tf32"
                               : "fp16";
}

/* Rows of 16 bytes, each at the address that one thread has. */
static Expr ldmatrix(Fragments *k, Expr e, const struct Row *row, const Fragment *f) {
  Tirc *c = k->c;
  Buffer b = other_of(k, e, row);
  const bool turned = is_transposed(k, e, row), is_b = f->rows_of == 1, trans = turned != is_b;
  const int bytes = tirc_dtype_bytes(b->dtype);
  if (tirc_owner(b->storage) != OWNER_BLOCK)
    refuse_mma(k, e, "copy the tile to scope shared first", "ldmatrix loads from shared memory");
  if (!is_of(f, b->dtype) || (trans && bytes != 2))
    refuse_mma(k, e,
               "store the tile with consecutive steps of the reduction side by side: ldmatrix has "
               "no .trans for elements of 1 or 4 bytes",
               "ldmatrix has no such fragment");
  if (!is_multiple(k, e->args[row->other]->args[2], bytes, 16) ||
      !is_multiple(k, e->args[row->stride], bytes, 16))
    refuse_mma(
        k, e, "make the rows multiples of 16 bytes: sch.storage_align",
        "ldmatrix loads rows that begin at multiples of 16 bytes, and these may begin elsewhere");
  Expr lane = tirc_cast(c, DT_INT32, k->lane);
  Expr at = tirc_add(c, e->args[row->other]->args[2],
                     tirc_ldmatrix_row(c, lane, e->args[row->stride], is_b, trans, 16 / bytes));
  Expr place = tirc_load(c, b, 1, &at);
  Expr args[] = {tirc_bool(c, trans),    number(k, 4),
                 tirc_string(c, ".b16"), e->args[0],
                 e->args[row->index],    tirc_call(c, DT_HANDLE, CALL_ADDRESS_OF, 1, &place)};
  return tirc_call(c, f->own->dtype, CALL_PTX_LDMATRIX, 6, args);
}

static Expr mma(Fragments *k, Expr e, Fragment *const *f) {
  Tirc *c = k->c;
  const DType of = f[1]->own->dtype, to = f[0]->own->dtype;
  const bool whole = of.code == TYPE_INT;
  const int64_t depth = 32 / tirc_dtype_bytes(of);
  if (!tirc_dtype_equal(of, f[2]->own->dtype) || !tirc_dtype_equal(to, f[3]->own->dtype) ||
      !tirc_dtype_equal(to, whole ? DT_INT32 : DT_FLOAT32) || e->args[0] != e->args[6] ||
      !tirc_expr_equal(c, e->args[1], e->args[7]) || (whole && of.bits != 8) || f[1]->k != depth ||
      (!whole && of.bits > 32) || f[1]->m != 16 || f[2]->n != 16)
    refuse_mma(k, e, "tirc rules tensor_intrin/cuda lists the intrinsics",
               "mma.sync has no product of fragments of these shapes and types");
  const char *shape = tirc_format(c, "m16n8k%lld", (long long)depth);
  const char *sum = whole ? "int32" : "fp32";
  Expr args[] = {tirc_string(c, shape),
                 tirc_string(c, "row"),
                 tirc_string(c, "col"),
                 tirc_string(c, type_of(of)),
                 tirc_string(c, type_of(of)),
                 tirc_string(c, sum),
                 e->args[2],
                 e->args[3],
                 e->args[4],
                 e->args[5],
                 e->args[0],
                 e->args[1]};
  return tirc_call(c, to, CALL_PTX_MMA, 12, args);
}

/* Neighbours of a row that one thread has go together, a register of theirs each. */
static Stmt store_pairs(Fragments *k, Expr e, const struct Row *row, const Fragment *f) {
  Tirc *c = k->c;
  Expr pointer = e->args[row->other], one = number(k, 1);
  Buffer b = other_of(k, e, row);
  Expr i = tirc_var(c, "i", DT_INT32), first = tirc_mul(c, i, number(k, 2));
  Expr which = element(k, f, first), width = number(k, 16);
  Expr far = tirc_mul(c, tirc_floordiv(c, which, width), e->args[row->stride]);
  Expr there = tirc_add(c, pointer->args[2], tirc_add(c, far, tirc_floormod(c, which, width)));
  Expr here = tirc_ramp(c, in_own(k, f, e->args[row->index], first), one, 2);
  Expr at = tirc_ramp(c, tirc_cast(c, DT_INT32, there), one, 2);
  Expr value = tirc_cast(c, tirc_dtype_lanes(b->dtype, 2), tirc_load(c, f->own, 1, &here));
  return loop(k, i, share(k, f) / 2, tirc_store(c, b, 1, &at, value));
}

static Stmt lowered_mma(Fragments *k, Expr e, const struct Row *row, Fragment *const *f) {
  Tirc *c = k->c;
  const bool is_gpu = k->gpu && k->gpu->kind == GPU_CUDA && k->gpu->registers > 0;
  const bool loads = row->does == LOAD, multiplies = row->does == PRODUCT;
  bool alike = !k->divergent;
  for (int i = 0; i < e->n; i++) alike &= (loads && i == row->other) || !differs(k, e->args[i]);
  if (is_gpu && !has_mma(k))
    refuse_mma(k, e, "use the wmma intrinsics, or a target from sm_80 on",
               tirc_format(c, "the tensor cores of %s have no such fragments", k->gpu->name));
  if (is_gpu && (loads || multiplies) && !alike)
    refuse_mma(k, e, "all threads of a warp must execute it together, with the same tile",
               "not all threads of a warp reach the same product");
  if (row->does == FILL) return fill(k, e, row, f[0]);
  if (row->does == STORE && !is_transposed(k, e, row)) return store_pairs(k, e, row, f[0]);
  Stmt loops = multiplies ? product(k, e) : move(k, e, row, f[0]);
  if (!is_gpu || !(loads || multiplies)) return loops;
  Expr call = loads ? ldmatrix(k, e, row, f[0]) : mma(k, e, f);
  return tirc_attr_stmt(c, e->args[0], tirc_key(KEY_TENSOR_CORE), call, loops);
}

/* An element of a result, as the register of the thread that has it. */
static Expr own_element(Mutator *m, Expr e) {
  Fragments *k = m->self;
  Tirc *c = m->c;
  e = tirc_mutate_expr_children(m, e);
  Fragment *f = e->op == OP_LOAD && e->n == 1 ? tirc_map_get(&k->of, e->u.buffer->data) : NULL;
  if (!f || !f->mma || !f->own || f->is_operand || !f->row || f->row % 16 || !k->lane) return e;
  const int lanes = e->dtype.lanes;
  Expr at = e->args[0], one = number(k, 1);
  if (lanes > 2 || (lanes == 2 && (at->op != OP_RAMP || !tirc_is_int(at->args[1], 1)))) return e;
  Analyzer *a = k->ranges;
  Expr first = tirc_cast(c, DT_INT32, lanes == 2 ? at->args[0] : at);
  Expr lane = tirc_cast(c, DT_INT32, k->lane),
       own = tirc_simplify(a, tirc_mma_register(c, first, f->row));
  if (!tirc_prove_equal(a, tirc_mma_owner(c, first, f->row), lane) ||
      (lanes == 2 && !tirc_is_int(tirc_simplify(a, tirc_floormod(c, first, number(k, 2))), 0)))
    return e;
  if (lanes == 2) own = tirc_ramp(c, own, one, 2);
  return tirc_load(c, f->own, 1, &own);
}

static Stmt lowered(Fragments *k, Expr e, const struct Row *row) {
  const int n = row->does == PRODUCT ? 4 : 1;
  Fragment *f[4];
  for (int i = 0; i < n; i++) check(k, e, f[i] = fragment(k, e->args[2 * i]));
  if (f[0]->mma) return lowered_mma(k, e, row, f);
  Expr native = k->native ? instruction(k, e, row, f) : NULL;
  Stmt loops = row->does == FILL      ? fill(k, e, row, f[0])
               : row->does == PRODUCT ? product(k, e)
                                      : move(k, e, row, f[0]);
  return native ? tirc_attr_stmt(k->c, e->args[0], tirc_key(KEY_TENSOR_CORE), native, loops)
                : loops;
}

static Stmt allocate(Fragments *k, Mutator *m, Stmt s) {
  Fragment *f = tirc_map_get(&k->of, s->u.alloc.buffer->data);
  int64_t n;
  if (!f || s->u.alloc.buffer->ndim != 1 || !f->m) return tirc_mutate_stmt_children(m, s);
  struct BufferNode to = *s->u.alloc.buffer;
  Expr extent = to.shape[0];
  f->mma = s->u.alloc.buffer->storage == STORAGE_WARP;
  if (k->lanes && !f->is_operand && tirc_const_int(extent, &n)) extent = number(k, n / k->lanes);
  to.shape = &extent;
  to.scope = "local";
  f->own = tirc_buffer_copy(k->c, &to);
  return tirc_alloc_stmt(k->c, s->kind, f->own, s->u.alloc.annotations,
                         tirc_mutate_stmt(m, s->u.alloc.body));
}

/* What is below a statement that is no call. */
static Stmt inside(Mutator *m, Stmt s) {
  Fragments *k = m->self;
  const bool was = k->divergent;
  const For *loop = &s->u.loop;
  switch (s->kind) {
  case STMT_IF: k->divergent |= differs(k, s->u.branch.cond); break;
  case STMT_WHILE: k->divergent |= differs(k, s->u.loop_while.cond); break;
  case STMT_FOR:
    tirc_bind_range(k->ranges, loop->var, tirc_range(loop->min, loop->extent));
    k->divergent |= differs(k, loop->min) || differs(k, loop->extent);
    k->refused |= loop->kind == LOOP_THREAD_BINDING && !tirc_is_thread_loop(s); /* vthread */
    break;
  case STMT_LET:
    if (differs(k, s->u.let.value)) tirc_map_set(k->c, &k->by_lane, s->u.let.var, s);
    break;
  default: break;
  }
  s = tirc_mutate_stmt_children(m, s);
  k->divergent = was;
  return s;
}

static bool is_element(const void *fragments, Expr e) {
  const Fragments *k = fragments;
  const Fragment *f = e->op == OP_LOAD ? tirc_map_get(&k->of, e->u.buffer->data) : NULL;
  return f && e->u.buffer != f->own;
}

static Stmt visit(Mutator *m, Stmt s) {
  Fragments *k = m->self;
  if (tirc_is_thread_loop(s) && s->u.loop.axis == AXIS_THREAD_X) {
    k->lane = s->u.loop.var;
    if (!tirc_const_int(s->u.loop.extent, &k->lanes) || k->lanes != 32) k->lane = NULL;
    tirc_map_set(k->c, &k->by_lane, s->u.loop.var, s);
  }
  if (s->kind == STMT_ALLOC) return allocate(k, m, s);
  if (is_layout(s)) return tirc_mutate_stmt(m, s->u.attr.body);
  if (s->kind == STMT_STORE) {
    s = tirc_mutate_stmt_children(m, s);
    Expr of = tirc_map_has(&k->of, s->u.store.buffer->data)
                  ? s->u.store.value
                  : tirc_find_expr(s->u.store.value, is_element, k);
    if (of)
      tirc_fail(k->c, tirc_place_of(s), CODE_LOWER,
                "tensorize the block with one of the intrinsics (tirc rules tensor_intrin/cuda); "
                "only for a result in scope warp may each thread load its own elements",
                "a single element of a fragment is loaded or stored, but only whole tiles can be");
  }
  if (s->kind != STMT_EVAL) return inside(m, s);
  const struct Row *row = row_of(s->u.eval.value);
  if (!row) return s;
  k->at = s;
  return lowered(k, s->u.eval.value, row);
}

Stmt tirc_lower_fragments(Tirc *c, const Func *f) {
  Fragments k = {.c = c};
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i]) tirc_map_set(c, &k.buffers, f->buffers[i]->data, f->buffers[i]);
  tirc_visit_stmt(&(Visitor){.expr = note_call, .stmt = note_stmt, .self = &k}, f->body);
  if (!k.of.n) return f->body;
  Mutator m = {.c = c, .stmt = visit, .expr = own_element, .self = &k};
  k.ranges = tirc_analyzer(c);
  k.gpu = tirc_gpu_of(f);
  k.native = k.gpu && k.gpu->tensor_cores & (TENSOR_F16 | TENSOR_S8);
  Stmt body = tirc_mutate_stmt(&m, f->body);
  if (!k.native || !k.refused) return body;
  k.native = false;
  return tirc_mutate_stmt(&m, f->body);
}
