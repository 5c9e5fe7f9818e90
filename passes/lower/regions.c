/* How far the accesses to buffers reach while the loops inside of a statement run, the variables
 * outside being fixed. Conditions around an access narrow it. One walk serves any number of
 * buffers. */
#include "regions.h"

#include "accesses.h"
#include "bounded_sums.h"
#include "ir/arith/box.h"

enum { MAX_BOXES = 16 }; /* of one buffer; more are a hull */

/* Through a view all of what it shows may be read and written. */
static void add_views(Extract *x, Place *at, const Block *b, bool behind) {
  for (int i = 0; i < b->n_matches && !behind; i++) {
    tirc_add_access(x, at, &b->matches[i].source, false);
    tirc_add_access(x, at, &b->matches[i].source, true);
  }
}

static bool same_end(Expr x, Expr y) { return x == y || (x && y && tirc_expr_same(x, y)); }

static bool is_known(const Reach *reach, int n, const IntSet *box) {
  for (int i = 0; i < reach->boxes.n; i++) {
    int d = 0;
    while (d < n && same_end(reach->boxes.at[i][d].min, box[d].min) &&
           same_end(reach->boxes.at[i][d].max, box[d].max))
      d++;
    if (d == n) return true;
  }
  return false;
}

/* What is touched of one dimension: as loops go, and as the conditions on sums of them say. */
static IntSet reached(Accesses *w, const Touch *t, BoundedSums *sums, Range r) {
  const IntSet box = tirc_box_of_range(w->a, r, tirc_dom_of(w, t->at));
  if (!sums) return box;
  const Range with = {tirc_with_bounded_sums(sums, r.min), tirc_with_bounded_sums(sums, r.extent)};
  return tirc_set_intersect(w->a, box, tirc_box_of_range(w->a, with, &sums->dom));
}

static void widen(Accesses *w, const Touch *t, Reach *reach) {
  const Range *dims = tirc_dims_of(w->c, t);
  BoundedSums *sums = tirc_bounded_sums(w, t->at);
  IntSet *box = tirc_new_array(w->c, IntSet, t->n + 1);
  for (int i = 0; i < t->n; i++) {
    box[i] = reached(w, t, sums, dims[i]);
    reach->is_opaque |= tirc_loads_or_calls(dims[i].min);
  }
  if (is_known(reach, t->n, box)) return;
  const int n = reach->boxes.n;
  if (n < MAX_BOXES)
    vec_push(w->c, reach->boxes, box);
  else
    for (int i = 0; i < t->n; i++)
      reach->boxes.at[n - 1][i] = tirc_set_union(w->a, reach->boxes.at[n - 1][i], box[i]);
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
