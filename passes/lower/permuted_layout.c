/* Rows in shared memory whose pieces of 16 bytes have changed places, by T.attr(S.data,
 * "permuted_layout", elements of a row): all accesses to such a buffer go where these are.
 *
 *   S[row * 64 + piece * 8 + i]    ->    S[row * 64 + (piece ^ row % 8) * 8 + i]
 *
 * Eight pieces below each other, which ldmatrix takes at once, are in different banks then. Rows of
 * 64 bytes lie two in what all banks hold together: of those piece ^ row // 2 % 4. Since a row
 * keeps its elements, what is known of two accesses is as it was. */
#include "internal.h"

enum { PIECE = 16, BANKS = 128 }; /* bytes */

typedef struct Permuted {
  Tirc *c;
  Analyzer *a;
  PtrMap rows; /* from data to an int64_t: elements of a row */
  Stmt at;     /* for messages */
} Permuted;

static bool is_permuted(Stmt s) {
  return s->kind == STMT_ATTR && !strcmp(s->u.attr.key, tirc_key(KEY_PERMUTED_LAYOUT));
}

static bool note(Visitor *v, Stmt s) {
  Permuted *k = v->self;
  if (!is_permuted(s)) return true;
  int64_t *row = tirc_new(k->c, int64_t);
  if (!tirc_const_int(s->u.attr.value, row) || *row < 1)
    tirc_fail(k->c, tirc_place_of(s), CODE_LOWER, "give the tile a constant size",
              "the rows of a buffer with %s have no constant length", s->u.attr.key);
  tirc_map_set(k->c, &k->rows, s->u.attr.node, row);
  return true;
}

static _Noreturn void refuse(Permuted *k, Buffer b, const char *why) {
  tirc_fail(k->c, k->at ? tirc_place_of(k->at) : (Loc){0}, CODE_LOWER,
            "remove the annotation, or pad the rows with storage_align instead",
            "the rows of %s cannot be swizzled: %s", b->name, why);
}

/* Where the element is, or the first of some that stay side by side. */
static Expr moved(Permuted *k, Buffer b, Expr index, int64_t row, int lanes) {
  Tirc *c = k->c;
  const DType t = index->dtype;
  const int64_t piece = PIECE / tirc_dtype_bytes(b->dtype), pieces = row / piece;
  const int64_t among = pieces < 8 ? pieces : 8, apart = among < 8 ? 8 / among : 1;
  if (row % piece || pieces < 2 || (pieces & (pieces - 1)))
    refuse(k, b, "their number of pieces of 16 bytes is not a power of two");
  const Modular m = tirc_modular(k->a, index);
  if (lanes > piece || m.coeff % lanes || m.base % lanes)
    refuse(k, b, "an access to it may span several pieces");
  Expr r = tirc_floordiv(c, index, tirc_int(c, t, row));
  Expr j = tirc_floormod(c, index, tirc_int(c, t, row));
  Expr by = tirc_floormod(c, tirc_floordiv(c, r, tirc_int(c, t, apart)), tirc_int(c, t, among));
  Expr at[2] = {tirc_floordiv(c, j, tirc_int(c, t, piece)), by};
  Expr to = tirc_mul(c, tirc_expr(c, OP_BITWISE_XOR, t, 2, at), tirc_int(c, t, piece));
  Expr in = tirc_floormod(c, j, tirc_int(c, t, piece));
  Expr sum = tirc_add(c, tirc_mul(c, r, tirc_int(c, t, row)), tirc_add(c, to, in));
  return tirc_simplify(k->a, sum);
}

static Expr index_of(Permuted *k, Buffer b, int n, const Expr *indices) {
  const int64_t *row = tirc_map_get(&k->rows, b->data);
  if (!row) return NULL;
  Expr index = n == 1 ? indices[0] : NULL;
  if (!index || b->strides) refuse(k, b, "it is not flat");
  const int lanes = index->dtype.lanes;
  if (lanes == 1) return moved(k, b, index, *row, 1);
  if (index->op != OP_RAMP || !tirc_is_int(index->args[1], 1))
    refuse(k, b, "an access to it uses elements that are not contiguous");
  return tirc_ramp(k->c, moved(k, b, index->args[0], *row, lanes), index->args[1], lanes);
}

static Expr visit_expr(Mutator *m, Expr e) {
  e = tirc_mutate_expr_children(m, e);
  Expr at = e->op == OP_LOAD ? index_of(m->self, e->u.buffer, e->n, e->args) : NULL;
  return at ? tirc_load(m->c, e->u.buffer, 1, &at) : e;
}

static Stmt visit(Mutator *m, Stmt s) {
  Permuted *k = m->self;
  if (is_permuted(s)) return tirc_mutate_stmt(m, s->u.attr.body);
  if (s->kind == STMT_FOR)
    tirc_bind_range(k->a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
  if (s->kind == STMT_STORE || s->kind == STMT_EVAL) k->at = s;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_STORE) return s;
  Expr at = index_of(k, s->u.store.buffer, s->u.store.n, s->u.store.indices);
  return at ? tirc_store(m->c, s->u.store.buffer, 1, &at, s->u.store.value) : s;
}

Stmt tirc_lower_permuted_layout(Tirc *c, const Func *f) {
  Permuted k = {.c = c, .a = tirc_analyzer(c)};
  tirc_visit_stmts(f->body, note, &k);
  if (!k.rows.n) return f->body;
  Mutator m = {.c = c, .stmt = visit, .expr = visit_expr, .self = &k};
  return tirc_mutate_stmt(&m, f->body);
}
