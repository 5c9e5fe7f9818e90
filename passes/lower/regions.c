/* How far the accesses to buffers reach while the loops inside of a statement run, the variables
 * outside being fixed. Conditions around an access narrow it. One walk serves any number of
 * buffers. */
#include "regions.h"

#include "accesses.h"
#include "ir/arith/box.h"

/* Through a view all of what it shows may be read and written. */
static void add_views(Extract *x, Place *at, const Block *b, bool behind) {
  for (int i = 0; i < b->n_matches && !behind; i++) {
    tirc_add_access(x, at, &b->matches[i].source, false);
    tirc_add_access(x, at, &b->matches[i].source, true);
  }
}

static void widen(Accesses *w, const Touch *t, Reach *reach) {
  IntSet **sets = t->write ? &reach->writes : &reach->reads;
  const bool first = !*sets;
  const Range *dims = tirc_dims_of(w->c, t);
  if (first) *sets = tirc_new_array(w->c, IntSet, t->n);
  for (int i = 0; i < t->n; i++) {
    const IntSet one = tirc_box_of_range(w->a, dims[i], tirc_dom_of(w, t->at));
    (*sets)[i] = first ? one : tirc_set_union(w->a, (*sets)[i], one);
    reach->is_opaque |= tirc_loads_or_calls(dims[i].min);
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
