#include "products.h"

#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"

typedef struct Walk {
  Tirc *c;
  VEC(Product) found;
} Walk;

bool tirc_sums_products(const Block *b, Expr factors[2]) {
  const Stmt s = b->body;
  if (s->kind != STMT_STORE || s->u.store.value->op != OP_ADD) return false;
  const Expr value = s->u.store.value;
  for (int side = 0; side < 2; side++) {
    const Expr sum = value->args[side];
    Expr product = value->args[1 - side];
    while (product->op == OP_CAST) product = product->args[0];
    if (sum->op != OP_LOAD || sum->u.buffer != s->u.store.buffer || product->op != OP_MUL) continue;
    for (int i = 0; i < 2; i++) {
      factors[i] = product->args[i];
      while (factors[i]->op == OP_CAST) factors[i] = factors[i]->args[0];
    }
    return true;
  }
  return false;
}

/* Two loads, of which one may stand behind the condition of a border. */
static bool factors_of(const Block *b, Expr out[2]) {
  if (!tirc_sums_products(b, out)) return false;
  for (int i = 0; i < 2; i++)
    if (out[i]->op == OP_IF_THEN_ELSE || out[i]->op == OP_SELECT) out[i] = out[i]->args[1];
  return out[0]->op == OP_LOAD && out[1]->op == OP_LOAD;
}

static bool uses(Expr load, Expr var) {
  for (int i = 0; i < load->n; i++)
    if (tirc_uses_var(load->args[i], var)) return true;
  return false;
}

/* An index of more than one iterator: a window. */
static bool has_window(Expr load) {
  for (int i = 0; i < load->n; i++)
    if (load->args[i]->op != OP_VAR && load->args[i]->op != OP_INT) return true;
  return false;
}

/* Whether the last index that is an iterator is one of those that the sum runs over. */
static bool ends_with_sum(const Block *b, Expr load) {
  for (int d = load->n - 1; d >= 0; d--)
    for (int i = 0; i < b->n_iters; i++)
      if (load->args[d] == b->iters[i].var) return b->iters[i].kind == ITER_REDUCE;
  return false;
}

/* Whether a statement stores 0 there. */
static bool stores_zero(Stmt s, Stmt where) {
  if (!s || s->kind != STMT_STORE || s->u.store.buffer != where->u.store.buffer) return false;
  const Expr v = s->u.store.value;
  bool same = v->op == OP_FLOAT ? v->u.f == 0 : tirc_is_int(v, 0);
  for (int i = 0; i < s->u.store.n; i++)
    same = same && s->u.store.indices[i] == where->u.store.indices[i];
  return same;
}

static bool is_plain(const Block *b, const Expr factors[2]) {
  const Stmt s = b->body;
  const Expr value = s->u.store.value;
  const bool left = value->args[0]->op == OP_LOAD && value->args[0]->u.buffer == s->u.store.buffer;
  const Expr sum = value->args[!left], product = value->args[left];
  bool is = tirc_is_true(b->predicate) && stores_zero(b->init, s) && product->op == OP_MUL &&
            product->args[0] == factors[0] && product->args[1] == factors[1];
  for (int i = 0; i < sum->n; i++) is = is && sum->args[i] == s->u.store.indices[i];
  for (int i = 0; i < b->n_iters; i++) is = is && tirc_is_int(b->iters[i].dom.min, 0);
  return is;
}

bool tirc_product_of(Tirc *c, const Block *b, Product *out) {
  const Expr one = tirc_int(c, DT_INT64, 1);
  Product p = {.block = b->name, .batch = one, .m = one, .n = one, .k = one};
  bool sums = false;
  for (int i = 0; i < b->n_iters; i++) sums |= b->iters[i].kind == ITER_REDUCE;
  if (!sums || !factors_of(b, p.factors)) return false;
  bool is_matrix = false; /* a sum of squares, element by element, is no product of matrices */
  for (int i = 0; i < b->n_iters; i++) {
    const IterVar *iter = &b->iters[i];
    const bool left = uses(p.factors[0], iter->var), right = uses(p.factors[1], iter->var);
    is_matrix |= iter->kind == ITER_SPATIAL && left != right;
    Expr *to = iter->kind == ITER_REDUCE ? &p.k : left && right ? &p.batch : right ? &p.n : &p.m;
    *to = tirc_mul(c, *to, tirc_cast(c, DT_INT64, iter->dom.extent));
  }
  p.a = tirc_dtype_name(c, p.factors[0]->u.buffer->dtype);
  p.b = tirc_dtype_name(c, p.factors[1]->u.buffer->dtype);
  p.out = tirc_dtype_name(c, b->body->u.store.buffer->dtype);
  p.is_convolution = has_window(p.factors[0]) || has_window(p.factors[1]);
  p.layout[0] = ends_with_sum(b, p.factors[0]) ? 'N' : 'T';
  p.layout[1] = ends_with_sum(b, p.factors[1]) ? 'T' : 'N';
  p.is_plain = is_plain(b, p.factors);
  *out = p;
  return is_matrix;
}

/* Rows and columns are those of the matrix that the block writes. */
bool tirc_told_product(Tirc *c, const Block *b, Loc loc, Product *out) {
  const Expr says = tirc_attrs_get(b->annotations, tirc_key(KEY_PRODUCT));
  if (!says) return false;
  const Expr *at = says->args, one = tirc_int(c, DT_INT64, 1);
  if (says->op != OP_TUPLE || says->n != 3 || at[0]->op != OP_STRING || at[1]->op != OP_STRING ||
      at[2]->op != OP_INT || b->n_writes != 1 || !b->writes[0].buffer->ndim)
    tirc_fail(c, loc, CODE_SHAPE,
              "such as [\"float32\", \"uint4\", 768], of a block that writes one matrix",
              "the annotation \"product\" of block %s must be [type, type, number of terms]",
              b->name);
  const Buffer y = b->writes[0].buffer;
  Product p = {
      .block = b->name, .batch = one, .m = one, .n = one, .a = at[0]->u.s, .b = at[1]->u.s};
  for (int d = 0; d < y->ndim; d++) {
    Expr *to = d + 1 < y->ndim ? &p.m : &p.n;
    *to = tirc_mul(c, *to, tirc_cast(c, DT_INT64, y->shape[d]));
  }
  p.k = tirc_cast(c, DT_INT64, at[2]);
  p.out = tirc_dtype_name(c, y->dtype);
  p.layout[0] = p.layout[1] = 'N';
  *out = p;
  return true;
}

static bool see_block(Visitor *v, Stmt s) {
  Walk *w = v->self;
  Product p;
  if (s->kind != STMT_BLOCK) return true;
  const bool is_told = tirc_told_product(w->c, &s->u.block, s->loc, &p);
  if (is_told || tirc_product_of(w->c, &s->u.block, &p)) vec_push(w->c, w->found, p);
  return !is_told;
}

int tirc_products(Tirc *c, const Func *f, const Product **out) {
  Walk w = {.c = c};
  tirc_visit_stmts(f->body, see_block, &w);
  *out = w.found.at;
  return w.found.n;
}
