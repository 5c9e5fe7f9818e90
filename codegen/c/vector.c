/* Which form a statement on vectors gets in C, and which buffers are register tiles. */
#include "codegen/access.h"
#include "gen.h"
#include "ir/tree/intrinsic.h"

static bool has_forms(Expr e);

static bool has_form(Expr e) {
  if (e->dtype.lanes == 1 || e->op == OP_FLOAT) return true;
  if (!tirc_src_computes(e->dtype)) return false;
  switch (e->op) {
  case OP_BROADCAST: return e->args[0]->dtype.lanes == 1;
  case OP_LOAD: return e->n == 1 && !e->u.buffer->strides && tirc_is_contiguous(e->args[0]);
  case OP_DIV:
  case OP_ADD:
  case OP_SUB:
  case OP_MUL: return has_forms(e);
  case OP_BITWISE_AND:
  case OP_BITWISE_OR:
  case OP_BITWISE_XOR: return tirc_dtype_is_int(e->dtype) && has_forms(e);
  default: return e->dtype.bits == 32 && tirc_cg_has_lane_function(e) && has_forms(e);
  }
}

static bool has_forms(Expr e) {
  for (int i = 0; i < e->n; i++)
    if (!has_form(e->args[i])) return false;
  return true;
}

bool tirc_cg_has_vector_form(Gen *g, Stmt s) {
  Buffer b = s->u.store.buffer;
  return !tirc_cg_is_portable(g) && s->u.store.n == 1 && !b->strides &&
         tirc_src_computes(b->dtype) && tirc_is_contiguous(s->u.store.indices[0]) &&
         has_form(s->u.store.value);
}

int tirc_cg_next_chunk(int left, int size) {
  while (size > left) size /= 2;
  return size < 1 ? 1 : size;
}

static bool find_widest(Visitor *v, Expr e) {
  int bytes = e->op == OP_LOAD ? tirc_dtype_bytes(tirc_dtype_lanes(e->u.buffer->dtype, 1)) : 0;
  if (bytes > *(int *)v->self) *(int *)v->self = bytes;
  return true;
}

int tirc_cg_chunk_lanes(Gen *g, Stmt s) {
  int widest = tirc_dtype_bytes(tirc_dtype_lanes(s->u.store.buffer->dtype, 1));
  tirc_visit_expr(&(Visitor){.expr = find_widest, .self = &widest}, s->u.store.value);
  return g->file->what->vector_bytes / widest;
}

/* --- register tiles ------------------------------------------------------------------------- */

enum { MAX_PIECES = 64 };

typedef struct Search {
  Visitor v;
  Gen *g;
  Buffer b;
  Tile *tile;
  int chunk; /* lanes of the statement at hand; 0 where vectors have no business */
  bool failed;
} Search;

static void add_piece(Search *k, int64_t start, int n) {
  Tile *t = k->tile;
  if (start < 0 || start > INT32_MAX - n) k->failed = true;
  for (int i = 0; i < t->pieces.n && !k->failed; i++) {
    const Piece *p = &t->pieces.at[i];
    if (p->start == start && p->n == n) return;
    if (start < p->start + p->n && p->start < start + n) k->failed = true;
  }
  if (t->pieces.n == MAX_PIECES) k->failed = true;
  if (!k->failed) vec_push(k->g->c, t->pieces, ((Piece){(int)start, n, false}));
}

static void add_access(Search *k, Buffer b, int n, Expr const *indices) {
  int64_t start;
  if (b->data != k->b->data) return;
  if (n != 1 || !tirc_dtype_equal(b->dtype, k->b->dtype) || b->strides ||
      (b->elem_offset && !tirc_is_int(b->elem_offset, 0))) {
    k->failed = true;
  } else if (tirc_const_int(indices[0], &start)) {
    add_piece(k, start, 1);
  } else if (tirc_is_contiguous(indices[0]) && tirc_const_int(indices[0]->args[0], &start) &&
             k->chunk > 0) {
    int left = indices[0]->dtype.lanes;
    for (int at = 0, lanes; left > 0 && !k->failed; at += lanes, left -= lanes) {
      lanes = tirc_cg_next_chunk(left, k->chunk);
      add_piece(k, start + at, lanes);
    }
  } else {
    k->failed = true;
  }
}

/* The sum of a dot product is one piece; what is multiplied is read as bits. */
static bool search_dot(Visitor *v, Stmt s) {
  Search *k = v->self;
  IntrinsicCall call;
  if (!tirc_cg_is_dot(k->g, s, &call)) return false;
  k->chunk = call.dot->lanes;
  add_access(k, s->u.store.buffer, s->u.store.n, s->u.store.indices);
  k->chunk = 0;
  for (int i = 1; i < 3; i++) tirc_visit_expr(v, call.args[i]);
  return true;
}

/* Calls may take an address, or lanes out of their order; reinterpret changes their number. */
static bool search_expr(Visitor *v, Expr e) {
  Search *k = v->self;
  bool opaque = e->op == OP_REINTERPRET || e->op == OP_LET ||
                (e->op == OP_CALL && !(tirc_is_llvm_call(e) &&
                                       tirc_llvm_call(k->g->c, e, k->g->loc).shape == SHAPE_EACH));
  if (opaque) {
    int chunk = k->chunk;
    k->chunk = 0;
    bool is_address = e->op == OP_CALL;
    for (int i = 0; i < e->n; i++) {
      if (is_address && e->args[i]->op == OP_LOAD && e->args[i]->u.buffer->data == k->b->data)
        k->failed = true;
      tirc_visit_expr(v, e->args[i]);
    }
    k->chunk = chunk;
    return false;
  }
  if (e->op == OP_LOAD) add_access(k, e->u.buffer, e->n, e->args);
  return !k->failed;
}

static bool search_stmt(Visitor *v, Stmt s) {
  Search *k = v->self;
  if (s->kind == STMT_STORE && search_dot(v, s)) return false;
  k->chunk = s->kind == STMT_STORE ? tirc_cg_chunk_lanes(k->g, s) : 0;
  if (s->kind == STMT_STORE) add_access(k, s->u.store.buffer, s->u.store.n, s->u.store.indices);
  return !k->failed;
}

Tile *tirc_cg_find_tile(Gen *g, Buffer b, Stmt body) {
  if (!tirc_src_computes(b->dtype) || tirc_cg_is_portable(g)) return NULL;
  if (tirc_cg_is_shared(g, b, body)) return NULL;
  Search k = {.g = g, .b = b, .tile = tirc_new(g->c, Tile)};
  k.v = (Visitor){.expr = search_expr, .stmt = search_stmt, .self = &k};
  tirc_visit_stmt(&k.v, body);
  return k.failed || k.tile->pieces.n == 0 ? NULL : k.tile;
}
