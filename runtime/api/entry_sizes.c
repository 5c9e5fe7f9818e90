#include "entry_sizes.h"

#include "ir/tree/print.h"
#include "ir/tree/symbols.h"
#include "ir/tree/visit.h"
#include "passes/lower/lower.h"

#include <stdlib.h>

enum {
  ALIGNMENT = 64,
  MOST_EXTENT = INT32_MAX, /* where nothing says less: sums and products of few stay exact */
  USUAL_EXTENT = 64,       /* for which the order of tensors by size is chosen */
  MOST_VALUES = 1 << 20
};

/* --- extents ---------------------------------------------------------------------------------- */

static EntryExtent extent_of(EntrySizes *s, Expr var) {
  EntryExtent e = {.var = var,
                   .in_file = tirc_name_in_file(s->plan->signature->attrs, var->u.s),
                   .lower = 0,
                   .upper = MOST_EXTENT};
  for (int i = 0; i < s->plan->n_bounds; i++) {
    const PlanBound *b = &s->plan->bounds[i];
    if (b->symbol != var) continue;
    e.lower = b->lower;
    if (b->upper < e.upper) e.upper = b->upper;
  }
  return e;
}

void tirc_sizes_open(EntrySizes *s, Tirc *c, const Plan *plan) {
  Expr *vars;
  *s = (EntrySizes){.c = c, .plan = plan, .known = tirc_analyzer(c)};
  s->n_extents = tirc_symbolic_params(c, plan->signature, &vars);
  s->extents = tirc_new_array(c, EntryExtent, s->n_extents);
  for (int i = 0; i < s->n_extents; i++) {
    const EntryExtent e = s->extents[i] = extent_of(s, vars[i]);
    const DType t = vars[i]->dtype;
    const Range r = {tirc_int(c, t, e.lower), tirc_int(c, t, e.upper - e.lower + 1)};
    tirc_bind_range(s->known, vars[i], r);
  }
  const Expr most = tirc_int(c, DT_INT64, MOST_VALUES);
  s->out = tirc_buffer(c, "sizes", DT_INT64, 1, &most, "global");
  vec_push(c, s->values, tirc_int(c, DT_INT64, 0)); /* the workspace, at the end */
}

/* --- values and conditions -------------------------------------------------------------------- */

int tirc_sizes_value(EntrySizes *s, Expr e) {
  Tirc *c = s->c;
  e = tirc_simplify(s->known, tirc_cast(c, DT_INT64, e));
  void **at = tirc_strmap_at(c, &s->numbers, tirc_print_expr(c, e));
  if (*at) return (int)(intptr_t)*at;
  if (s->values.n == MOST_VALUES)
    tirc_fail(c, s->plan->signature->loc, CODE_UNSUPPORTED, NULL,
              "the code of the model needs more than %d sizes", MOST_VALUES);
  vec_push(c, s->values, e);
  *at = (void *)(intptr_t)(s->values.n - 1);
  return s->values.n - 1;
}

void tirc_sizes_check(EntrySizes *s, Expr cond, const char *message, Loc loc) {
  Tirc *c = s->c;
  const Expr simple = tirc_simplify(s->known, cond);
  if (tirc_is_int(simple, 1)) return;
  void **at =
      tirc_strmap_at(c, &s->checked, tirc_format(c, "%s %s", tirc_print_expr(c, simple), message));
  if (*at) return;
  *at = s;
  vec_push(c, s->checks, ((SizeCheck){simple, message, loc}));
}

/* At least 0, where that is not known. */
static Expr extent_or_none(EntrySizes *s, Expr e) {
  const Expr none = tirc_int(s->c, e->dtype, 0);
  return tirc_prove_ge(s->known, e, none) ? e : tirc_max(s->c, e, none);
}

Expr tirc_sizes_bytes(EntrySizes *s, Buffer b, bool always) {
  Tirc *c = s->c;
  Expr bytes = tirc_int(c, DT_INT64, tirc_dtype_bytes(b->dtype));
  for (int d = 0; d < b->ndim; d++) {
    const Expr e = tirc_cast(c, DT_INT64, b->shape[d]);
    if (always)
      tirc_sizes_check(s, tirc_binary(c, OP_GE, e, tirc_int(c, DT_INT64, 0)),
                       tirc_format(c, "extent %d of %s, %s, would be negative", d, b->name,
                                   tirc_print_expr(c, tirc_simplify(s->known, e))),
                       s->plan->signature->loc);
    bytes = tirc_mul(c, bytes, extent_or_none(s, e));
  }
  int64_t known;
  bytes = tirc_simplify(s->known, bytes);
  if (tirc_const_int(bytes, &known) && known <= INT64_MAX - ALIGNMENT)
    return tirc_int(c, DT_INT64, (known + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  const Expr line = tirc_int(c, DT_INT64, ALIGNMENT);
  const Expr lines =
      tirc_floordiv(c, tirc_add(c, bytes, tirc_int(c, DT_INT64, ALIGNMENT - 1)), line);
  return tirc_simplify(s->known, tirc_mul(c, lines, line));
}

/* --- memory ----------------------------------------------------------------------------------- */

typedef struct Slot {
  VEC(const SizedUse *) uses;
  Expr bytes; /* the largest of them */
  StrMap known;
} Slot;

typedef struct Ordered {
  SizedUse *use;
  int64_t usual; /* bytes */
  int number;
} Ordered;

static int by_size(const void *x, const void *y) {
  const Ordered *a = x, *b = y;
  if (a->usual != b->usual) return a->usual < b->usual ? 1 : -1;
  return a->number - b->number;
}

static int64_t usual_bytes(EntrySizes *s, Expr bytes) {
  PtrMap values = {0};
  int64_t v;
  for (int i = 0; i < s->n_extents; i++) {
    const EntryExtent *e = &s->extents[i];
    const int64_t usual = e->upper < USUAL_EXTENT   ? e->upper
                          : e->lower > USUAL_EXTENT ? e->lower
                                                    : USUAL_EXTENT;
    tirc_map_set(s->c, &values, e->var, tirc_int(s->c, e->var->dtype, usual));
  }
  const Expr known = tirc_simplify0(s->c, tirc_substitute(s->c, bytes, &values));
  return tirc_const_int(known, &v) ? v : 0;
}

static bool is_free(const Slot *slot, const SizedUse *u) {
  for (int i = 0; i < slot->uses.n; i++)
    if (slot->uses.at[i]->first <= u->last && u->first <= slot->uses.at[i]->last) return false;
  return true;
}

static void put_into(EntrySizes *s, Slot *slot, const SizedUse *u) {
  vec_push(s->c, slot->uses, u);
  void **known = tirc_strmap_at(s->c, &slot->known, tirc_print_expr(s->c, u->bytes));
  if (!*known) slot->bytes = slot->bytes ? tirc_max(s->c, slot->bytes, u->bytes) : u->bytes;
  *known = slot;
}

void tirc_sizes_place(EntrySizes *s, int n, SizedUse *uses) {
  Tirc *c = s->c;
  Ordered *order = tirc_new_array(c, Ordered, n);
  Slot *slots = tirc_new_array(c, Slot, n);
  int n_slots = 0, *slot_of = tirc_new_array(c, int, n);
  for (int i = 0; i < n; i++) order[i] = (Ordered){&uses[i], usual_bytes(s, uses[i].bytes), i};
  if (n) qsort(order, (size_t)n, sizeof *order, by_size);
  for (int i = 0; i < n; i++) { /* the slot that is the least too large */
    int k = n_slots - 1;
    while (k >= 0 && !is_free(&slots[k], order[i].use)) k--;
    if (k < 0) k = n_slots++;
    put_into(s, &slots[k], order[i].use);
    slot_of[order[i].number] = k;
  }
  EntryValue *at = tirc_new_array(c, EntryValue, n_slots);
  Expr end = tirc_int(c, DT_INT64, 0);
  for (int k = 0; k < n_slots; k++) {
    int64_t known;
    at[k] = tirc_const_int(end, &known)
                ? (EntryValue){ENTRY_WORKSPACE, known}
                : (EntryValue){ENTRY_WORKSPACE_SIZE, tirc_sizes_value(s, end)};
    const Expr number = tirc_int(c, DT_INT64, at[k].at);
    if (at[k].place == ENTRY_WORKSPACE_SIZE) end = tirc_load(c, s->out, 1, &number);
    end = tirc_simplify(s->known, tirc_add(c, end, slots[k].bytes));
  }
  for (int i = 0; i < n; i++) uses[i].at = at[slot_of[i]];
  /* never 0, which says that the extents are refused */
  s->values.at[0] = tirc_max(c, end, tirc_int(c, DT_INT64, ALIGNMENT));
}

/* --- the function ----------------------------------------------------------------------------- */

/* An expression of extents in floats, in which nothing overflows: near enough to tell what does. */
static Expr in_floats(Tirc *c, Expr e) {
  const DType t = DT_FLOAT64;
  switch (e->op) {
  case OP_INT: return tirc_float(c, t, (double)e->u.i);
  case OP_CAST: return in_floats(c, e->args[0]);
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_MIN:
  case OP_MAX: return tirc_binary(c, e->op, in_floats(c, e->args[0]), in_floats(c, e->args[1]));
  case OP_FLOORDIV:
    return tirc_binary(c, OP_DIV, in_floats(c, e->args[0]), in_floats(c, e->args[1]));
  default: return tirc_cast(c, t, e);
  }
}

/* That an int64 holds it, with room to spare; NULL: that is known. */
static Expr is_small(EntrySizes *s, Expr e) {
  const int64_t most = (int64_t)1 << 60;
  const Bound b = tirc_const_bound(s->known, e);
  const Expr x = in_floats(s->c, e);
  return b.min > -most && b.max < most
             ? NULL
             : tirc_binary(s->c, OP_LE, x, tirc_float(s->c, x->dtype, (double)most));
}

static Stmt asserted(EntrySizes *s, Stmt body) {
  Tirc *c = s->c;
  for (int i = s->checks.n - 1; i >= 0; i--) {
    const SizeCheck *k = &s->checks.at[i];
    body = tirc_with_loc(c, tirc_assert_stmt(c, k->cond, k->message, body), k->loc);
  }
  return body;
}

/* Ahead of what is computed of the extents: that they are within their bounds. */
static Stmt within_bounds(EntrySizes *s, Stmt body) {
  Tirc *c = s->c;
  const Loc loc = s->plan->signature->loc;
  for (int i = s->n_extents - 1; i >= 0; i--) {
    const EntryExtent *e = &s->extents[i];
    const DType t = e->var->dtype;
    const Expr most = tirc_binary(c, OP_LE, e->var, tirc_int(c, t, e->upper)),
               least = tirc_binary(c, OP_GE, e->var, tirc_int(c, t, e->lower));
    const char *name = e->in_file;
    body = tirc_assert_stmt(
        c, most, tirc_format(c, "the extent %s is at most %lld", name, (long long)e->upper), body);
    body = tirc_with_loc(c, body, loc);
    body = tirc_assert_stmt(
        c, least, tirc_format(c, "the extent %s is at least %lld", name, (long long)e->lower),
        body);
    body = tirc_with_loc(c, body, loc);
  }
  return body;
}

/* Each value is stored when what it is made of is there, and no product overflows. */
static Stmt stores_of(EntrySizes *s) {
  Tirc *c = s->c;
  const int n = s->values.n;
  Stmt all = NULL;
  for (int i = 0; i < n; i++) { /* the last first: the workspace needs all others */
    const int number = i ? n - i : 0;
    const Expr at = tirc_int(c, DT_INT64, number), value = s->values.at[number];
    const Stmt store = tirc_store(c, s->out, 1, &at, value);
    const Stmt both[] = {store, all};
    const Expr small = is_small(s, value);
    all = all ? tirc_seq(c, 2, both) : store;
    if (small) all = tirc_assert_stmt(c, small, "the extents are too large", all);
    all = tirc_with_loc(c, all, s->plan->signature->loc);
  }
  return all;
}

const Func *tirc_sizes_func(EntrySizes *s, const char *name) {
  Tirc *c = s->c;
  const int n = s->n_extents + 1;
  Func *f = tirc_new(c, Func);
  Expr *params = tirc_new_array(c, Expr, n);
  Buffer *buffers = tirc_new_array(c, Buffer, n);
  for (int i = 0; i < s->n_extents; i++) params[i] = s->extents[i].var;
  params[n - 1] = tirc_var(c, "sizes_handle", DT_HANDLE);
  buffers[n - 1] = s->out;
  *f = (Func){.name = name,
              .n_params = n,
              .params = params,
              .buffers = buffers,
              .loc = s->plan->signature->loc,
              .body = within_bounds(s, asserted(s, stores_of(s)))};
  f->attrs = tirc_attrs_set(c, f->attrs, "tirc.private", tirc_bool(c, true));
  Module *m = tirc_new(c, Module);
  *m = (Module){.c = c, .name = "Module", .n_funcs = 1};
  const Func *const only = f;
  m->funcs = tirc_copy(c, &only, 1);
  return tirc_lower(c, m, NULL, NULL)->funcs[0];
}
