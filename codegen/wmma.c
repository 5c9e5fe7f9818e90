#include "wmma.h"

#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"

#include <string.h>

enum { TILE = 256, WARP = 32 };

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

static bool note_attr(Visitor *v, Stmt s) {
  Scan *k = v->self;
  if (s->kind == STMT_ALLOC)
    tirc_map_set(k->c, &k->buffers, s->u.alloc.buffer->data, s->u.alloc.buffer);
  if (s->kind != STMT_ATTR || strcmp(s->u.attr.key, tirc_key(KEY_TENSOR_CORE))) return true;
  Expr e = s->u.attr.value;
  const bool product = tirc_calls(e, CALL_TVM_MMA_SYNC);
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
  f->count = extent / (f->role == WMMA_SUM ? TILE / WARP : TILE);
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
    const bool product = tirc_calls(e, CALL_TVM_MMA_SYNC);
    for (int i = product ? 1 : 4; i < (product ? 8 : 5); i += 2)
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

WmmaCall tirc_wmma_call(Tirc *c, const PtrMap *fragments, Expr e, char mark) {
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
