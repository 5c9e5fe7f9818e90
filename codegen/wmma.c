#include "wmma.h"

#include "ir/arith/arith.h"
#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"

#include <string.h>

enum { TILE = 256, WARP = 32 };
/* Where arguments stand: of T.ptx_ldmatrix(trans, number, type, data, index, address), and of
 * T.ptx_mma(shape, layouts of A and B, types of A, B and sum, data and index of A, B and sum). */
enum { LDMATRIX_DATA = 3, LDMATRIX_PLACE = 5, MMA_TYPE = 3, MMA_DATA = 6 };

static bool is_of_ptx(Expr e) {
  return tirc_calls(e, CALL_PTX_LDMATRIX) || tirc_calls(e, CALL_PTX_MMA);
}

typedef struct Scan {
  Tirc *c;
  PtrMap of, buffers;
} Scan;

static bool is_half(DType t) { return t.code == TYPE_FLOAT && t.bits == 16; }

static bool is_columns(Expr layout) {
  return layout->op == OP_STRING && !strcmp(layout->u.s, "col_major");
}

/* What is said of the fragments at an argument; loads and products both do. */
static WmmaFragments *note(Scan *k, Expr data) {
  WmmaFragments *f = tirc_map_get(&k->of, data);
  Buffer b = tirc_map_get(&k->buffers, data);
  if (f || !b) return f;
  f = tirc_new(k->c, WmmaFragments);
  const bool half = is_half(b->dtype), whole = b->dtype.code == TYPE_INT;
  *f = (WmmaFragments){.buffer = b,
                       .registers = half ? 4 : 8,
                       .held = half    ? DT(TYPE_UINT, 32)
                               : whole ? DT_INT32
                                       : DT_FLOAT32};
  tirc_map_set(k->c, &k->of, data, f);
  return f;
}

static void note_operand(Scan *k, Expr data, int role) {
  WmmaFragments *f = note(k, data);
  if (!f) return;
  f->role = role;
  f->held = DT(TYPE_UINT, 32);
  f->registers = is_half(f->buffer->dtype) ? 8 : 2;
}

static void note_mma_operand(Scan *k, Expr data) {
  WmmaFragments *f = note(k, data);
  if (!f) return;
  f->role = WMMA_A;
  f->held = DT(TYPE_UINT, 32);
  f->registers = 4;
  f->tile = TILE * 2 / tirc_dtype_bytes(f->buffer->dtype); /* rows of 32 bytes */
}

static bool note_attr(Visitor *v, Stmt s) {
  Scan *k = v->self;
  if (s->kind == STMT_ALLOC)
    tirc_map_set(k->c, &k->buffers, s->u.alloc.buffer->data, s->u.alloc.buffer);
  if (s->kind != STMT_ATTR || strcmp(s->u.attr.key, tirc_key(KEY_TENSOR_CORE))) return true;
  Expr e = s->u.attr.value;
  const bool product = tirc_calls(e, CALL_TVM_MMA_SYNC);
  if (tirc_calls(e, CALL_PTX_LDMATRIX)) note_mma_operand(k, e->args[LDMATRIX_DATA]);
  if (is_of_ptx(e)) return true;
  for (int i = 0; i < (product ? 4 : 1); i++)
    if (product && (i == WMMA_A || i == WMMA_B))
      note_operand(k, e->args[2 * i], i);
    else
      note(k, e->args[2 * i]);
  if (tirc_calls(e, CALL_TVM_LOAD_MATRIX_SYNC)) {
    WmmaFragments *f = note(k, e->args[0]);
    if (f) f->by_columns = is_columns(e->args[7]);
  }
  return true;
}

static bool count(Visitor *v, Stmt s) {
  const PtrMap *of = v->self;
  WmmaFragments *f = s->kind == STMT_ALLOC ? tirc_map_get(of, s->u.alloc.buffer->data) : NULL;
  int64_t extent;
  if (!f || !tirc_const_int(f->buffer->shape[0], &extent)) return true;
  f->count = extent / (f->role == WMMA_SUM ? TILE / WARP : f->tile ? f->tile : TILE);
  return true;
}

PtrMap tirc_wmma_fragments(Tirc *c, Stmt kernel) {
  Scan k = {.c = c};
  tirc_visit_stmts(kernel, note_attr, &k);
  tirc_visit_stmts(kernel, count, &k.of);
  return k.of;
}

/* --- lines ------------------------------------------------------------------------------------ */

static const char *list(Tirc *c, char mark, int first, int n) {
  const char *s = "{";
  for (int i = 0; i < n; i++) s = tirc_format(c, "%s%s%c%d", s, i ? ", " : "", mark, first + i);
  return tirc_format(c, "%s}", s);
}

static const char *type_of(DType t) {
  return t.code == TYPE_INT ? (t.bits == 8 ? "s8" : "s32") : t.bits == 16 ? "f16" : "f32";
}

static const char *layout_of(bool by_columns) { return by_columns ? "col" : "row"; }

/* --- loops over fragments --------------------------------------------------------------------- */

typedef struct Numbers {
  Expr var;
  bool found;
} Numbers;

static bool find_number(Visitor *v, Stmt s) {
  Numbers *n = v->self;
  if (s->kind == STMT_ATTR && !strcmp(s->u.attr.key, tirc_key(KEY_TENSOR_CORE))) {
    Expr e = s->u.attr.value;
    const bool product = tirc_calls(e, CALL_TVM_MMA_SYNC), mma = tirc_calls(e, CALL_PTX_MMA);
    for (int i = product ? 1 : mma ? MMA_DATA + 1 : 4; i < (product ? 8 : mma ? e->n : 5); i += 2)
      n->found |= tirc_uses_var(e->args[i], n->var);
  }
  return !n->found;
}

bool tirc_wmma_numbers(const PtrMap *fragments, const For *loop) {
  Numbers n = {loop->var, false};
  if (fragments->n) tirc_visit_stmts(loop->body, find_number, &n);
  return n.found;
}

/* --- calls ------------------------------------------------------------------------------------ */

static WmmaPart part(const PtrMap *fragments, Expr data, Expr index) {
  return (WmmaPart){tirc_map_get(fragments, data), index};
}

static WmmaCall product(Tirc *c, const PtrMap *fragments, Expr e, char mark) {
  WmmaCall r = {.out = part(fragments, e->args[0], e->args[1]), .n_in = 3};
  const char *lists = list(c, mark, 0, r.out.of->registers);
  int n = r.out.of->registers;
  for (int i = 0; i < 3; i++) {
    r.in[i] = part(fragments, e->args[2 * i + 2], e->args[2 * i + 3]);
    lists = tirc_format(c, "%s, %s", lists, list(c, mark, n, r.in[i].of->registers));
    n += r.in[i].of->registers;
  }
  const char *d = type_of(r.out.of->buffer->dtype), *a = type_of(r.in[0].of->buffer->dtype);
  const char *types =
      a[0] == 's' ? tirc_format(c, "%s.%s.%s.%s", d, a, a, d) : tirc_format(c, "%s.%s", d, d);
  r.ptx = tirc_format(c, "wmma.mma.sync.aligned.%s.%s.m16n16k16.%s %s;",
                      layout_of(r.in[0].of->by_columns), layout_of(r.in[1].of->by_columns), types,
                      lists);
  return r;
}

static const char *space_of(Buffer b) {
  return tirc_owner(b->storage) == OWNER_BLOCK ? "shared" : "global";
}

/* A pointer of a program points to any memory; instructions take an address in one of them. */
static const char *with_address(Tirc *c, Buffer b, char mark, int operand, const char *line) {
  return tirc_format(c, "{ .reg .u64 p; cvta.to.%s.u64 p, %c%d; %s }", space_of(b), mark, operand,
                     line);
}

static WmmaCall wmma_call(Tirc *c, const PtrMap *fragments, Expr e, char mark) {
  if (tirc_calls(e, CALL_TVM_MMA_SYNC)) return product(c, fragments, e, mark);
  const WmmaPart part_of = part(fragments, e->args[0], e->args[4]);
  if (tirc_calls(e, CALL_TVM_FILL_FRAGMENT)) return (WmmaCall){.out = part_of, .value = e->args[5]};
  const WmmaFragments *f = part_of.of;
  WmmaCall r = {.place = e->args[5]->args[0], .stride = e->args[6]};
  const Buffer b = r.place->u.buffer;
  const char *layout = layout_of(is_columns(e->args[7])), *type = type_of(f->buffer->dtype);
  const char *registers = list(c, mark, 0, f->registers), *line;
  const int at = f->registers;
  if (tirc_calls(e, CALL_TVM_LOAD_MATRIX_SYNC)) {
    r.out = part_of;
    line = tirc_format(c, "wmma.load.%c.sync.aligned.%s.m16n16k16.%s.%s %s, [p], %c%d;",
                       "cab"[f->role], layout, space_of(b), type, registers, mark, at + 1);
  } else {
    r.in[r.n_in++] = part_of;
    line = tirc_format(c, "wmma.store.d.sync.aligned.%s.m16n16k16.%s.%s [p], %s, %c%d;", layout,
                       space_of(b), type, registers, mark, at + 1);
  }
  /* Which lane has which element of a sum is not known: what others stored or load is in order. */
  static const char *const wait = "bar.warp.sync 0xffffffff;";
  if (f->role == WMMA_SUM) line = tirc_format(c, "%s %s %s", wait, line, wait);
  r.ptx = with_address(c, b, mark, at, line);
  return r;
}

/* --- mma.sync --------------------------------------------------------------------------------- */

static WmmaCall ldmatrix(Tirc *c, const PtrMap *fragments, Expr e, char mark) {
  WmmaCall r = {.out = part(fragments, e->args[LDMATRIX_DATA], e->args[LDMATRIX_DATA + 1]),
                .place = e->args[LDMATRIX_PLACE]->args[0]};
  const char *line = tirc_format(c, "ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 %s, [p];",
                                 tirc_is_true(e->args[0]) ? ".trans" : "", list(c, mark, 0, 4));
  r.ptx = with_address(c, r.place->u.buffer, mark, 4, line);
  return r;
}

/* Half of the registers of each tile of a fragment. */
static WmmaPart half_of(Tirc *c, const WmmaFragments *f, int registers, Expr index, int half) {
  WmmaFragments *of = tirc_new(c, WmmaFragments);
  *of = *f;
  of->registers = registers;
  Expr twice = tirc_mul(c, index, tirc_int(c, index->dtype, 2));
  return (WmmaPart){of, tirc_simplify0(c, tirc_add(c, twice, tirc_int(c, index->dtype, half)))};
}

/* Of the tile's left or right columns. */
static WmmaCall mma_half(Tirc *c, const PtrMap *fragments, Expr e, char mark, int half) {
  const WmmaFragments *b = tirc_map_get(fragments, e->args[MMA_DATA + 2]);
  const bool whole = e->dtype.code == TYPE_INT;
  WmmaFragments *sum = tirc_new(c, WmmaFragments);
  struct BufferNode *buffer = tirc_new(c, struct BufferNode);
  *buffer = (struct BufferNode){.data = e->args[MMA_DATA + 4], .dtype = e->dtype};
  *sum = (WmmaFragments){.buffer = buffer, .held = whole ? DT_INT32 : DT_FLOAT32, .role = WMMA_SUM};
  WmmaCall r = {.n_in = 3};
  r.out = half_of(c, sum, 4, e->args[MMA_DATA + 5], half);
  r.in[0] = part(fragments, e->args[MMA_DATA], e->args[MMA_DATA + 1]);
  r.in[1] = half_of(c, b, 2, e->args[MMA_DATA + 3], half);
  r.in[2] = r.out;
  const char *type = e->args[MMA_TYPE]->u.s, *to = whole ? "s32" : "f32";
  const char *of = !strcmp(type, "fp16") ? "f16" : !strcmp(type, "int8") ? "s8" : type;
  r.ptx = tirc_format(c, "mma.sync.aligned.%s.row.col.%s.%s.%s.%s %s, %s, %s, %s;", e->args[0]->u.s,
                      to, of, of, to, list(c, mark, 0, 4), list(c, mark, 4, 4), list(c, mark, 8, 2),
                      list(c, mark, 10, 4));
  return r;
}

int tirc_wmma_calls(Tirc *c, const PtrMap *fragments, Expr e, char mark, WmmaCall *out) {
  if (!is_of_ptx(e)) {
    out[0] = wmma_call(c, fragments, e, mark);
    return 1;
  }
  if (tirc_calls(e, CALL_PTX_LDMATRIX)) {
    out[0] = ldmatrix(c, fragments, e, mark);
    return 1;
  }
  for (int half = 0; half < 2; half++) out[half] = mma_half(c, fragments, e, mark, half);
  return 2;
}
