/* Stores in the scope of asynchronous copies say how many bytes they copy at once:
 *
 *   with T.attr(0, "async_scope", 1):      with T.attr(S.data, "async_copy", 16):
 *     S[i:i + 8] = A[j:j + 8]         ->     S[i:i + 8] = A[j:j + 8]
 *
 * What is stored is what lies in global memory, 4, 8 or 16 bytes from an address that is a multiple
 * of them to one that is; or zeros, where a condition that is one for all lanes does not hold. All
 * else is a plain store, which is there at once: "async_copy" of 0. */
#include "internal.h"

#include <math.h>

typedef struct Copies {
  Tirc *c;
  Analyzer *a;
  bool in_scope;
} Copies;

static bool is_zero(Expr e) {
  if (e->op == OP_BROADCAST) e = e->args[0];
  return tirc_is_int(e, 0) || (e->op == OP_FLOAT && e->u.f == 0 && !signbit(e->u.f));
}

/* The first of elements that lie side by side; NULL: they do not. */
static Expr first_of(Buffer b, int n, const Expr *indices) {
  if (n != 1 || b->strides || b->elem_offset) return NULL;
  if (indices[0]->dtype.lanes == 1) return indices[0];
  const bool is_row = indices[0]->op == OP_RAMP && tirc_is_int(indices[0]->args[1], 1);
  return is_row ? indices[0]->args[0] : NULL;
}

static bool begins_at_multiple(Copies *k, Expr first, int64_t elements) {
  const Modular m = tirc_modular(k->a, first);
  return m.coeff % elements == 0 && m.base % elements == 0;
}

/* 0: it is none. */
static int bytes_of(Copies *k, Stmt s) {
  Buffer to = s->u.store.buffer;
  Expr value = s->u.store.value;
  if (value->op == OP_IF_THEN_ELSE && is_zero(value->args[2]) &&
      (value->args[0]->dtype.lanes == 1 || value->args[0]->op == OP_BROADCAST))
    value = value->args[1];
  if (value->op != OP_LOAD || value->u.buffer->storage != STORAGE_GLOBAL ||
      tirc_owner(to->storage) != OWNER_BLOCK ||
      !tirc_dtype_equal(value->u.buffer->dtype, to->dtype))
    return 0;
  const int lanes = value->dtype.lanes, bytes = lanes * tirc_dtype_bytes(to->dtype);
  Expr from = first_of(value->u.buffer, value->n, value->args);
  Expr at = first_of(to, s->u.store.n, s->u.store.indices);
  if ((bytes != 4 && bytes != 8 && bytes != 16) || !from || !at ||
      s->u.store.indices[0]->dtype.lanes != lanes)
    return 0;
  return begins_at_multiple(k, from, lanes) && begins_at_multiple(k, at, lanes) ? bytes : 0;
}

static Stmt visit(Mutator *m, Stmt s) {
  Copies *k = m->self;
  if (s->kind == STMT_ATTR && !strcmp(s->u.attr.key, tirc_key(KEY_ASYNC_SCOPE))) {
    const bool was = k->in_scope;
    k->in_scope = true;
    s = tirc_mutate_stmt(m, s->u.attr.body);
    k->in_scope = was;
    return s;
  }
  if (s->kind != STMT_STORE || !k->in_scope) return tirc_mutate_stmt_children(m, s);
  Expr bytes = tirc_int32(m->c, bytes_of(k, s));
  return tirc_attr_stmt(m->c, s->u.store.buffer->data, tirc_key(KEY_ASYNC_COPY), bytes, s);
}

Stmt tirc_lower_async_copies(Tirc *c, const Func *f) {
  Copies k = {.c = c, .a = tirc_analyzer(c)};
  Mutator m = {.c = c, .stmt = visit, .self = &k};
  return tirc_mutate_stmt(&m, f->body);
}
