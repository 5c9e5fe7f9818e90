/* Loads, stores, and the memory of a block and of a thread. */
#include "codegen/access.h"
#include "gen.h"
#include "ir/ascii.h"
#include "ir/tree/atomic.h"

#include <math.h>
#include <stdlib.h>

/* --- places ---------------------------------------------------------------------------------- */

static DType element_of(Buffer b) { return tirc_dtype_lanes(b->dtype, 1); }

/* The array; memory that was declared with another type is seen through a pointer to this one. */
static const char *array_of(Gen *g, Buffer b) {
  const Name *name = tirc_src_name_of(g, b);
  if (tirc_dtype_equal(name->element, element_of(b))) return name->s;
  return tirc_format(g->c, "((%s%s *)%s)", name->space, tirc_src_memory_type(g, element_of(b)),
                     name->s);
}

/* Of one lane, or where a vector begins. */
static CText place(Gen *g, Expr index, const Window *w) {
  const char *lane = w->lane ? w->lane : "0";
  int64_t stride;
  if (index->op == OP_BROADCAST) index = index->args[0];
  if (index->op == OP_RAMP && tirc_is_digit(*lane) && tirc_const_int(index->args[1], &stride))
    index = tirc_src_plus(g->c, index->args[0], stride * strtol(lane, NULL, 10));
  return tirc_src_index(g, index, &(Window){0, 1, lane});
}

const char *tirc_gpu_pointer(Gen *g, Buffer b, Expr index) {
  Expr first = index->op == OP_RAMP ? index->args[0] : index;
  if (tirc_is_int(first, 0)) return array_of(g, b);
  return tirc_format(g->c, "%s + %s", array_of(g, b),
                     tirc_c_operand(g->c, place(g, index, &tirc_src_first), BINDS_SUM));
}

/* --- loads ----------------------------------------------------------------------------------- */

typedef struct Element {
  const char *array, *at;
} Element;

static Element element_at(Gen *g, Expr load, const Window *w) {
  Buffer b = load->u.buffer;
  Expr index = tirc_linear_index(g->c, b, load->n, load->args);
  const Name *moved = tirc_map_get(&g->vars, load); /* all lanes at once, before */
  return (Element){moved ? moved->s : array_of(g, b),
                   moved ? tirc_src_lane(g, w) : place(g, index, w).s};
}

/* One of memory, as it lies there. */
static CText element(Gen *g, Expr load, const Window *w) {
  const Element x = element_at(g, load, w);
  return tirc_src_text(g, BINDS_ALL, "%s[%s]", x.array, x.at);
}

CText tirc_gpu_load(Gen *g, Expr e, const Window *w) {
  Buffer b = e->u.buffer;
  const DType t = element_of(b);
  Expr index = tirc_linear_index(g->c, b, e->n, e->args);
  if (index->dtype.lanes > 1 && !w->lane)
    return g->l->load_vector(g, tirc_gpu_pointer(g, b, index),
                             tirc_dtype_lanes(t, index->dtype.lanes));
  if (t.code == TYPE_FLOAT && t.bits == 16) {
    const Element x = element_at(g, e, w);
    return g->l->load_half(g, x.array, x.at);
  }
  CText v = element(g, e, w);
  if (t.code == TYPE_BFLOAT)
    return tirc_src_text(g, BINDS_ALL, "%s(%s)", tirc_src_helper(g, HELPER_FROM_BFLOAT16, t), v.s);
  return t.code == TYPE_BOOL ? tirc_src_text(g, BINDS_EQUAL, "%s != 0", v.s) : v;
}

/* --- stores ---------------------------------------------------------------------------------- */

/* A store of a value that is held as a float rounds it, so what only rounds it need not. */
static CText stored_value(Gen *g, Expr value, DType t, const Window *w) {
  const bool rounds =
      value->op == OP_ADD || value->op == OP_SUB || value->op == OP_MUL || value->op == OP_DIV;
  if (tirc_src_is_small(t) && tirc_dtype_equal(tirc_dtype_lanes(value->dtype, 1), t)) {
    if (rounds)
      return tirc_c_binary(g->c, (Op)value->op, tirc_src_expr(g, value->args[0], w),
                           tirc_src_expr(g, value->args[1], w));
    if (value->op == OP_CAST && value->args[0]->dtype.code == TYPE_FLOAT &&
        value->args[0]->dtype.bits == 32)
      return tirc_src_expr(g, value->args[0], w);
  }
  return tirc_src_operand_as(g, value, t, w);
}

void tirc_gpu_put(Gen *g, DType t, const char *array, const char *at, CText v) {
  if (t.code == TYPE_FLOAT && t.bits == 16)
    tirc_src_line(g, "%s;", g->l->store_half(g, array, at, v.s));
  else if (t.code == TYPE_BFLOAT)
    tirc_src_line(g, "%s[%s] = %s(%s);", array, at, tirc_src_helper(g, HELPER_TO_BFLOAT16, t), v.s);
  else
    tirc_src_line(g, "%s[%s] = %s;", array, at, v.s);
}

/* The bits of a float16 or bfloat16 that is only copied, where memory holds it as an integer: not
 * as a float, which would be there and back. */
static bool copied_bits(Gen *g, Expr e, DType t, const Window *w, CText *out) {
  if (e->op == OP_BROADCAST) e = e->args[0];
  if (!tirc_dtype_equal(tirc_dtype_lanes(e->dtype, 1), t)) return false;
  if (e->op == OP_FLOAT && e->u.f == 0 && !signbit(e->u.f)) {
    *out = tirc_src_text(g, BINDS_ALL, "0");
    return true;
  }
  if (e->op == OP_LOAD) {
    *out = element(g, e, w);
    return true;
  }
  if (e->op != OP_IF_THEN_ELSE && e->op != OP_SELECT) return false;
  CText yes, no, cond;
  if (!copied_bits(g, e->args[1], t, w, &yes) || !copied_bits(g, e->args[2], t, w, &no))
    return false;
  cond = tirc_src_operand_as(g, e->args[0], DT_BOOL, w);
  *out = tirc_src_text(g, BINDS_CHOICE, "%s ? %s : %s", tirc_c_operand(g->c, cond, BINDS_OR),
                       tirc_c_operand(g->c, yes, BINDS_OR), tirc_c_operand(g->c, no, BINDS_CHOICE));
  return true;
}

void tirc_gpu_put_value(Gen *g, DType t, const char *array, const char *at, Expr value,
                        const Window *w) {
  CText bits;
  const bool is_bits = t.code == TYPE_BFLOAT || strcmp(g->l->half, g->l->uints[1]) == 0;
  if (tirc_src_is_small(t) && is_bits && copied_bits(g, value, t, w, &bits))
    tirc_src_line(g, "%s[%s] = %s;", array, at, bits.s);
  else
    tirc_gpu_put(g, t, array, at, stored_value(g, value, t, w));
}

static void store_lane(Gen *g, Stmt s, Expr index, const Window *w) {
  Buffer b = s->u.store.buffer;
  tirc_gpu_put_value(g, element_of(b), array_of(g, b), place(g, index, w).s, s->u.store.value, w);
}

typedef struct Lanes Lanes;
static void each_lane(Gen *g, int lanes, void (*body)(Gen *, const Lanes *, const Window *),
                      const Lanes *self) {
  enum { WRITTEN_OUT = 16 };
  if (lanes <= WRITTEN_OUT) {
    for (int i = 0; i < lanes; i++) body(g, self, &(Window){0, 1, tirc_format(g->c, "%d", i)});
    return;
  }
  const Window w = {0, 1, tirc_src_name(g, "lane")};
  tirc_src_open(g, "for (int %s = 0; %s < %d; %s++) {", w.lane, w.lane, lanes, w.lane);
  body(g, self, &w);
  tirc_src_close(g);
}

struct Lanes {
  Stmt store;
  Expr index;
  const char *all; /* where all lanes of the value are first, or NULL */
};

static void plain_lane(Gen *g, const Lanes *l, const Window *w) {
  store_lane(g, l->store, l->index, w);
}

static void compute_lane(Gen *g, const Lanes *l, const Window *w) {
  const DType t = element_of(l->store->u.store.buffer);
  tirc_src_line(g, "%s[%s] = %s;", l->all, w->lane,
                tirc_src_operand_as(g, l->store->u.store.value, t, w).s);
}

static void move_lane(Gen *g, const Lanes *l, const Window *w) {
  Buffer b = l->store->u.store.buffer;
  tirc_gpu_put(g, element_of(b), array_of(g, b), place(g, l->index, w).s,
               tirc_src_text(g, BINDS_ALL, "%s[%s]", l->all, w->lane));
}

static void store_vector(Gen *g, Stmt s, Expr index) {
  Buffer b = s->u.store.buffer;
  const int lanes = index->dtype.lanes;
  if (g->l->moved_bytes && tirc_gpu_move(g, s, index)) return;
  if (tirc_gpu_has_vector_form(g, s)) {
    const DType t = tirc_dtype_lanes(b->dtype, lanes);
    Expr value = s->u.store.value;
    if (tirc_src_is_small(element_of(b)) && value->op == OP_CAST) value = value->args[0];
    CText v = tirc_gpu_all_lanes(
        g, value->dtype.lanes > 1 ? value : tirc_broadcast(g->c, value, lanes), &tirc_src_all);
    tirc_src_line(g, "%s;", g->l->store_vector(g, tirc_gpu_pointer(g, b, index), t, v.s));
  } else if (!tirc_src_overlaps(s, true)) {
    each_lane(g, lanes, plain_lane, &(Lanes){s, index, NULL});
  } else {
    const Lanes l = {s, index, tirc_src_name(g, "values")};
    tirc_src_line(g, "%s %s[%d];", tirc_src_value_type(g, element_of(b)), l.all, lanes);
    each_lane(g, lanes, compute_lane, &l);
    each_lane(g, lanes, move_lane, &l);
  }
}

void tirc_gpu_store(Gen *g, Stmt s) {
  Expr index = tirc_linear_index(g->c, s->u.store.buffer, s->u.store.n, s->u.store.indices);
  if (index->dtype.lanes == 1)
    store_lane(g, s, index, &tirc_src_first);
  else
    store_vector(g, s, index);
  tirc_gpu_forget_moved(g);
}

/* --- atomic updates -------------------------------------------------------------------------- */

CText tirc_gpu_atomic(Gen *g, Expr e, const Window *w) {
  Atomic a;
  CText args[2];
  int n = 0;
  if (!tirc_atomic(e, &a) || e->dtype.lanes > 1 || !g->l->atomic) tirc_src_unsupported(g, e);
  const Buffer b = a.place->u.buffer;
  const Expr index = tirc_linear_index(g->c, b, a.place->n, a.place->args);
  const CText to = {tirc_gpu_pointer(g, b, index), BINDS_SUM};
  if (a.compare) args[n++] = tirc_src_operand_as(g, a.compare, e->dtype, w);
  args[n++] = tirc_src_operand_as(g, a.value, e->dtype, w);
  return g->l->atomic(g, &a, tirc_src_name_of(g, b)->space, to, args);
}

/* --- memory ---------------------------------------------------------------------------------- */

/* Of shared.dyn a buffer begins at a multiple of 32 bytes, as in memory of its own. */
static int64_t dynamic_size(int64_t bytes) { return tirc_gpu_end_behind(bytes, 0); }

/* A part of the one array that there is. */
static void declare_dynamic(Gen *g, const Name *name, int64_t bytes) {
  const char *type = tirc_src_memory_type(g, name->element);
  if (!g->kernels->dynamic_bytes) tirc_src_line(g, "%s", g->l->declare_dynamic);
  const int64_t at = g->kernels->dynamic_bytes;
  tirc_src_line(g, "%s *%s = (%s *)(%s + %lld);", type, name->s, type, g->l->dynamic,
                (long long)at);
  g->kernels->dynamic_bytes += dynamic_size(bytes);
}

static void declare(Gen *g, Buffer b, const char *space) {
  const int64_t bytes = tirc_kernel_bytes(g->c, g->loc, b);
  Name *name = tirc_src_declare(g, b->data, b->name);
  name->element = element_of(b);
  name->space = *space ? g->l->shared_target : "";
  if (g->l->dynamic && b->storage == STORAGE_SHARED_DYN) {
    declare_dynamic(g, name, bytes);
    return;
  }
  const int64_t count = bytes / tirc_dtype_bytes(name->element);
  g->l->declare_array(g, space, name->element, name->s, count > 0 ? count : 1);
}

static bool declare_if_shared(Visitor *v, Stmt s) {
  Gen *g = v->self;
  if (s->kind == STMT_ALLOC && tirc_owner(s->u.alloc.buffer->storage) == OWNER_BLOCK)
    declare(g, s->u.alloc.buffer, g->l->shared);
  return true;
}

void tirc_gpu_declare_shared(Gen *g, Stmt body) { tirc_visit_stmts(body, declare_if_shared, g); }

void tirc_gpu_alloc(Gen *g, Stmt s) {
  if (!tirc_is_block_memory(g->c, g->loc, s) && !tirc_gpu_fragments(g, s))
    declare(g, s->u.alloc.buffer, "");
  tirc_src_stmt(g, s->u.alloc.body);
}

/* A view of another type is a pointer of its own. */
void tirc_gpu_decl(Gen *g, Stmt s) {
  Buffer b = s->u.alloc.buffer;
  const Name *of = tirc_src_name_of(g, b);
  if (!tirc_dtype_equal(of->element, element_of(b))) {
    Name *name = tirc_src_declare(g, b, b->name);
    const char *type = tirc_src_memory_type(g, element_of(b));
    name->element = element_of(b);
    name->space = of->space;
    tirc_src_line(g, "%s%s *%s = (%s%s *)%s;", of->space, type, name->s, of->space, type, of->s);
  }
  tirc_src_stmt(g, s->u.alloc.body);
}

static bool add_shared(Visitor *v, Stmt s) {
  int64_t *sum = v->self;
  if (s->kind != STMT_ALLOC || tirc_owner(s->u.alloc.buffer->storage) != OWNER_BLOCK) return true;
  const int64_t bytes = tirc_constant_bytes(s->u.alloc.buffer);
  *sum = bytes < 0 || *sum < 0 ? -1 : tirc_gpu_end_behind(*sum, bytes);
  return true;
}

int64_t tirc_gpu_shared_bytes(const Func *f) {
  int64_t sum = 0;
  tirc_visit_stmts(f->body, add_shared, &sum);
  return sum;
}

static bool add_dynamic(Visitor *v, Stmt s) {
  int64_t *sum = v->self;
  if (s->kind == STMT_ALLOC && s->u.alloc.buffer->storage == STORAGE_SHARED_DYN) {
    const int64_t bytes = tirc_constant_bytes(s->u.alloc.buffer);
    if (bytes > 0) *sum += dynamic_size(bytes);
  }
  return true;
}

int64_t tirc_gpu_dynamic_bytes(const Func *f) {
  int64_t sum = 0;
  tirc_visit_stmts(f->body, add_dynamic, &sum);
  return sum;
}
