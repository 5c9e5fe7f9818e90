#include "box.h"

#include "internal.h"
#include "ir/tree/visit.h"

static Expr end_of(Analyzer *a, Range r) { return tirc_add(a->c, r.min, r.extent); }

Region tirc_whole_buffer(Tirc *c, Buffer b) {
  Range *dims = tirc_new_array(c, Range, b->ndim + 1);
  for (int d = 0; d < b->ndim; d++) dims[d] = tirc_whole_dim(c, b, d);
  return (Region){b, dims};
}

Region tirc_point(Tirc *c, Buffer b, const Expr *indices) {
  Range *dims = tirc_new_array(c, Range, b->ndim + 1);
  for (int d = 0; d < b->ndim; d++)
    dims[d] = tirc_range(indices[d], tirc_int(c, indices[d]->dtype, 1));
  return (Region){b, dims};
}

bool tirc_surely_indexes(Analyzer *a, Expr index, Expr extent) {
  return tirc_prove_ge(a, index, tirc_int(a->c, index->dtype, 0)) &&
         tirc_prove_lt(a, index, extent);
}

bool tirc_surely_some(Analyzer *a, Expr extent) {
  return tirc_prove_ge(a, extent, tirc_int(a->c, extent->dtype, 1));
}

bool tirc_range_surely_in(Analyzer *a, Range inner, Range outer) {
  return tirc_prove_ge(a, inner.min, outer.min) &&
         tirc_prove_ge(a, end_of(a, outer), end_of(a, inner));
}

bool tirc_set_surely_in(Analyzer *a, IntSet inner, Range outer) {
  return inner.min && inner.max && tirc_prove_ge(a, inner.min, outer.min) &&
         tirc_prove_lt(a, inner.max, end_of(a, outer));
}

bool tirc_region_surely_in(Analyzer *a, const Region *inner, const Region *outer) {
  bool within = inner->buffer == outer->buffer;
  for (int d = 0; within && d < outer->buffer->ndim; d++)
    within = tirc_range_surely_in(a, inner->dims[d], outer->dims[d]);
  return within;
}

IntSet tirc_box_of_range(Analyzer *a, Range r, const PtrMap *dom) {
  const Expr last = tirc_sub(a->c, end_of(a, r), tirc_int(a->c, r.min->dtype, 1));
  return (IntSet){tirc_eval_set(a, r.min, dom).min,
                  tirc_eval_set(a, tirc_simplify(a, last), dom).max};
}

bool tirc_range_uses(Range r, Expr var) {
  return tirc_uses_var(r.min, var) || tirc_uses_var(r.extent, var);
}

bool tirc_range_uses_any(Range r, const PtrMap *vars) {
  return tirc_uses_any(r.min, vars) || tirc_uses_any(r.extent, vars);
}

bool tirc_region_uses(const Region *r, Expr var) {
  int d = 0;
  while (d < r->buffer->ndim && !tirc_range_uses(r->dims[d], var)) d++;
  return d < r->buffer->ndim;
}

bool tirc_region_uses_any(const Region *r, const PtrMap *vars) {
  int d = 0;
  while (d < r->buffer->ndim && !tirc_range_uses_any(r->dims[d], vars)) d++;
  return d < r->buffer->ndim;
}
