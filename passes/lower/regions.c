/* How far the accesses to buffers reach while the loops inside of a statement run, the variables
 * outside being fixed. Conditions around an access narrow it. One walk serves any number of
 * buffers. */
#include "regions.h"

#include "accesses.h"
#include "ir/arith/box.h"

/* Through a view all of what it shows may be read and written. */
static void add_views(Accesses *w, const Block *b, bool behind) {
  for (int i = 0; i < b->n_matches && !behind; i++) {
    const Region *r = &b->matches[i].source;
    Expr *low = tirc_new_array(w->c, Expr, r->buffer->ndim + 1);
    Expr *high = tirc_new_array(w->c, Expr, r->buffer->ndim + 1);
    for (int d = 0; d < r->buffer->ndim; d++) {
      low[d] = r->dims[d].min;
      high[d] = tirc_sub(w->c, tirc_add(w->c, low[d], r->dims[d].extent),
                         tirc_int(w->c, low[d]->dtype, 1));
    }
    for (int write = 0; write < 2; write++) {
      tirc_add_access(w, r->buffer, tirc_point(w->c, r->buffer, low).dims, write);
      tirc_add_access(w, r->buffer, tirc_point(w->c, r->buffer, high).dims, write);
    }
  }
}

static void widen(const Accesses *w, const Access *access, Reach *reach) {
  IntSet **sets = access->write ? &reach->writes : &reach->reads;
  const bool first = !*sets;
  if (first) *sets = tirc_new_array(w->c, IntSet, access->buffer->ndim);
  for (int i = 0; i < access->buffer->ndim; i++) {
    const Expr index = access->dims[i].min;
    const IntSet one = tirc_eval_set(w->a, index, tirc_dom_of(w, access->at));
    (*sets)[i] = first ? one : tirc_set_union(w->a, (*sets)[i], one);
    reach->is_opaque |= tirc_loads_or_calls(index);
  }
}

const Reach *tirc_lower_reach(Tirc *c, Analyzer *a, Stmt s, int n, const Buffer *buffers,
                              const PtrMap *outer) {
  Reach *reach = tirc_new_array(c, Reach, n + 1);
  PtrMap of = {0};
  Accesses w = {.c = c, .a = a, .views = add_views, .outer = outer};
  for (int i = 0; i < n; i++) {
    tirc_map_set(c, &w.targets, buffers[i]->data, (void *)(uintptr_t)buffers[i]);
    tirc_map_set(c, &of, buffers[i]->data, &reach[i]);
  }
  if (n) tirc_find_accesses(&w, s);
  for (int i = 0; i < n; i++) reach[i].is_opaque = tirc_map_has(&w.opaque, buffers[i]->data);
  for (int i = 0; i < w.at.n; i++) {
    Reach *to = tirc_map_get(&of, w.at.at[i].buffer->data);
    if (!to->is_opaque) widen(&w, &w.at.at[i], to);
  }
  return reach;
}
