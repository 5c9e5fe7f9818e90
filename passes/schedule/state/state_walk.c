/* How the sref tree follows a replacement. Old and new statement are compared from the top down:
 * the same pointer in the same place is passed by, a loop or block that kept its identity is
 * entered, items of a sequence are matched, and only what has no counterpart is walked whole. So
 * a primitive that rewrites a whole scope costs little for the blocks in it that it leaves alone.
 *
 * Two rounds: first the blocks that went from their places leave the lists and indices of their
 * scopes, then the new parts are walked, in which an identity that was there before keeps its node,
 * a new one gets a node. Those that went and were not met again are dead; a stamp tells which were
 * met. */
#include "nodes.h"
#include "state.h"

static PtrMap *map_of(Sched *s, Stmt stmt) {
  return stmt->kind == STMT_FOR ? &s->loops : &s->blocks;
}

/* A scope whose children change. */
typedef struct Change {
  SRef *scope;
  ScopeChange gone;
} Change;

typedef struct Walk {
  Sched *s;
  int func;
  SRefs found;         /* blocks of the scope that is being walked, as they come */
  bool loose;          /* see Scope.loose */
  bool same_above;     /* the loops of the scope around here are as they were */
  bool collecting;     /* the first round */
  SRefs gone;          /* first round: as found, of the old statement */
  VEC(Change) changes; /* scopes, in the order in which both rounds leave them */
  int n_taken;
  VEC(Stmt) left; /* old statements without a counterpart */
} Walk;

/* --- what is new ------------------------------------------------------------------------------ */

/* The node of this statement's identity, old or new, now standing here. */
static SRef *claim(Walk *w, Stmt stmt, SRef *parent, int seq_index) {
  Sched *s = w->s;
  PtrMap *map = map_of(s, stmt);
  SRef *r = tirc_map_get(map, tirc_identity(stmt));
  if (r && r->stamp == s->stamp)
    tirc_fail(s->c, stmt->loc, CODE_ILL_FORMED,
              "each loop needs its own variable, and each block needs its own id",
              "the %s is in the program twice", tirc_describe(s, stmt));
  if (!r) {
    r = tirc_new(s->c, SRef);
    tirc_map_set(s->c, map, tirc_identity(stmt), r);
  }
  const char *name = r->stmt && r->stmt->kind == STMT_BLOCK ? r->stmt->u.block.name : NULL;
  r->stmt = stmt;
  if (stmt->kind == STMT_BLOCK && name != stmt->u.block.name) tirc_name_block(s, r, name != NULL);
  r->parent = parent;
  r->seq_index = seq_index;
  r->func = w->func;
  r->stamp = s->stamp;
  return r;
}

static void walk(Walk *w, Stmt stmt, SRef *parent, int seq_index);

/* What a node was before it was claimed. */
typedef struct Before {
  Stmt stmt; /* NULL: it was not there */
  bool same_above, same_parent;
} Before;

static Before before_claim(const Walk *w, Stmt stmt, const SRef *parent) {
  const SRef *known = tirc_sref_find(w->s, stmt);
  return (Before){known ? known->stmt : NULL, w->same_above, known && known->parent == parent};
}

static bool same_place(const Before *b) { return b->same_above && b->same_parent; }

/* Whether blocks below see the same domain. */
static bool same_header(Stmt a, Stmt b) {
  const For *x = &a->u.loop, *y = &b->u.loop;
  bool thread = x->kind == LOOP_THREAD_BINDING || y->kind == LOOP_THREAD_BINDING;
  return x->min == y->min && x->extent == y->extent &&
         (!thread || (x->kind == y->kind && !strcmp(x->thread, y->thread)));
}

static void walk_loop(Walk *w, Stmt stmt, SRef *parent, int seq_index) {
  const Before was = before_claim(w, stmt, parent);
  SRef *r = claim(w, stmt, parent, seq_index);
  w->loose |= tirc_reads_memory(stmt->u.loop.min) || tirc_reads_memory(stmt->u.loop.extent);
  if (was.stmt == stmt && same_place(&was)) {
    tirc_blocks_in(w->s, stmt->u.loop.body, &w->found);
    return;
  }
  w->same_above = was.stmt && same_place(&was) && same_header(was.stmt, stmt);
  walk(w, stmt->u.loop.body, r, -1);
  w->same_above = was.same_above;
}

static void walk_block(Walk *w, Stmt stmt, SRef *parent, int seq_index) {
  const Before was = before_claim(w, stmt, parent);
  SRef *r = claim(w, stmt, parent, seq_index);
  if (was.stmt != stmt || !same_place(&was)) r->dirty = w->s->stamp;
  if (was.stmt != stmt) {
    const SRefs outer = w->found;
    const bool outer_loose = w->loose;
    w->found = (SRefs){0};
    w->loose = was.stmt && r->scope->loose; /* what is as it was is not walked */
    w->same_above = was.stmt != NULL;
    walk(w, stmt->u.block.body, r, -1);
    tirc_scope_rebuild(w->s, r, w->found.n, w->found.at, w->loose);
    w->found = outer;
    w->loose = outer_loose;
    w->same_above = was.same_above;
  }
  vec_push(w->s->c, w->found, r);
}

static void walk(Walk *w, Stmt stmt, SRef *parent, int seq_index) {
  if (stmt->kind == STMT_BLOCK) {
    walk_block(w, stmt, parent, seq_index);
  } else if (stmt->kind == STMT_FOR) {
    walk_loop(w, stmt, parent, seq_index);
  } else {
    const bool seq = stmt->kind == STMT_SEQ;
    const bool direct = seq && parent && tirc_body_of(parent->stmt) == stmt;
    Stmt inner;
    w->loose |= !seq;
    for (int i = 0; (inner = tirc_below(stmt, i)); i++) walk(w, inner, parent, direct ? i : -1);
  }
}

/* Loops and blocks of an old subtree that the walk over its replacement did not meet are dead. */
static void bury(Sched *s, Stmt stmt) {
  Stmt inner;
  if (stmt->kind == STMT_FOR || stmt->kind == STMT_BLOCK) {
    SRef *r = tirc_sref_find(s, stmt);
    if (r && r->stamp == s->stamp && r->stmt == stmt) return;
    if (r && r->stamp != s->stamp) {
      r->stmt = NULL;
      tirc_map_remove(map_of(s, stmt), tirc_identity(stmt));
    }
    bury(s, tirc_body_of(stmt));
  }
  for (int i = 0; (inner = tirc_below(stmt, i)); i++) bury(s, inner);
}

void tirc_blocks_in(Sched *s, Stmt stmt, SRefs *out) {
  SRef *r = stmt->kind == STMT_BLOCK ? tirc_sref_find(s, stmt) : NULL;
  Stmt inner;
  if (r) vec_push(s->c, *out, r);
  if (stmt->kind == STMT_FOR) tirc_blocks_in(s, stmt->u.loop.body, out);
  for (int i = 0; (inner = tirc_below(stmt, i)); i++) tirc_blocks_in(s, inner, out);
}

/* --- old against new -------------------------------------------------------------------------- */

static bool same_identity(Stmt a, Stmt b) {
  return a->kind == b->kind && (a->kind == STMT_FOR || a->kind == STMT_BLOCK) &&
         tirc_identity(a) == tirc_identity(b);
}

static void leave(Walk *w, Stmt old) {
  if (!w->collecting) return;
  tirc_blocks_in(w->s, old, &w->gone);
  vec_push(w->s->c, w->left, old);
}

static void enter(Walk *w, Stmt now, SRef *parent, int seq_index) {
  if (!w->collecting) walk(w, now, parent, seq_index);
}

static void compare(Walk *w, Stmt old, Stmt now, SRef *parent, int seq_index);

static SRef *node_of(Walk *w, Stmt now, SRef *parent, int seq_index) {
  return w->collecting ? tirc_sref_find(w->s, now) : claim(w, now, parent, seq_index);
}

static void compare_loops(Walk *w, Stmt old, Stmt now, SRef *parent, int seq_index) {
  const bool same_above = w->same_above;
  SRef *r = node_of(w, now, parent, seq_index);
  w->loose |= tirc_reads_memory(now->u.loop.min) || tirc_reads_memory(now->u.loop.extent);
  w->same_above = same_above && same_header(old, now);
  compare(w, old->u.loop.body, now->u.loop.body, r, -1);
  w->same_above = same_above;
}

static void compare_blocks(Walk *w, Stmt old, Stmt now, SRef *parent, int seq_index) {
  Tirc *c = w->s->c;
  const bool same_above = w->same_above, outer_loose = w->loose;
  const SRefs gone = w->gone, found = w->found;
  SRef *r = node_of(w, now, parent, seq_index);
  w->gone = w->found = (SRefs){0};
  w->same_above = true;
  w->loose = r->scope->loose;
  compare(w, old->u.block.body, now->u.block.body, r, -1);
  if (w->collecting) {
    Change change = {r, tirc_scope_leave(w->s, r, &w->gone)};
    vec_push(c, w->changes, change);
  } else {
    r->dirty = w->s->stamp;
    r->scope->loose = w->loose;
    tirc_scope_update(w->s, r, &w->changes.at[w->n_taken++].gone, &w->found);
  }
  w->gone = gone;
  w->found = found;
  w->loose = outer_loose;
  w->same_above = same_above;
  if (w->collecting)
    vec_push(c, w->gone, r);
  else
    vec_push(c, w->found, r);
}

typedef struct Items {
  Stmt of; /* a sequence, or the only item */
  int first, end;
} Items;

static Stmt at(const Items *in, int i) {
  return in->of->kind == STMT_SEQ ? tirc_item(in->of, i) : in->of;
}

/* Whether x stands a little further on. */
static bool comes_soon(Stmt x, Items in) {
  enum { NEAR = 4 };
  for (int i = in.first; i < in.end && i < in.first + NEAR; i++)
    if (at(&in, i) == x || same_identity(at(&in, i), x)) return true;
  return false;
}

static const SeqPart *part(const Items *in, int i) {
  return in->of->kind == STMT_SEQ ? tirc_part(in->of, i) : NULL;
}

static int smaller(int x, int y) { return x < y ? x : y; }

/* How many items two sequences share from here on, by parts that both have. */
static int shared(const Items *old, const Items *now) {
  const SeqPart *const a = part(old, old->first), *const b = part(now, now->first);
  if (!a || !b || old->first - a->first != now->first - b->first) return 0;
  const SeqPart *x = a, *const x_end = old->of->u.seq.parts + old->of->u.seq.n_parts;
  const SeqPart *y = b, *const y_end = now->of->u.seq.parts + now->of->u.seq.n_parts;
  for (; x < x_end && y < y_end && x->at == y->at; x++, y++)
    if (x->first - a->first != y->first - b->first) break;
  if (x == a) return 0;
  return smaller(smaller(tirc_part_end(old->of, x - 1), old->end) - old->first,
                 smaller(tirc_part_end(now->of, y - 1), now->end) - now->first);
}

/* Passes by what both begin with, part by part where they share them; */
static void skip_same_start(Items *old, Items *now) {
  while (old->first < old->end && now->first < now->end) {
    int n = shared(old, now);
    if (!n) n = at(old, old->first) == at(now, now->first);
    if (!n) break;
    old->first += n;
    now->first += n;
  }
}

static bool ends_with(const Items *in, const SeqPart *p) { return p && p->first >= in->first; }

/* and what both end with. */
static void skip_same_end(Items *old, Items *now) {
  while (old->first < old->end && now->first < now->end) {
    const SeqPart *a = part(old, old->end - 1), *b = part(now, now->end - 1);
    while (ends_with(old, a) && ends_with(now, b) && a->at == b->at &&
           old->end - a->first == now->end - b->first) {
      old->end = a->first;
      now->end = b->first;
      if (old->first == old->end || now->first == now->end) return;
      a--;
      b--;
    }
    if (at(old, old->end - 1) != at(now, now->end - 1)) break;
    old->end--;
    now->end--;
  }
}

static void compare_items(Walk *w, Items old, Items now, SRef *parent, bool direct) {
  skip_same_start(&old, &now);
  skip_same_end(&old, &now);
  while (old.first < old.end && now.first < now.end) {
    Stmt was = at(&old, old.first), is = at(&now, now.first);
    const int index = direct ? now.first : -1;
    if (was == is) { /* the loops above are as they were */
      skip_same_start(&old, &now);
    } else if (same_identity(was, is)) {
      compare(w, was, is, parent, index);
      old.first++;
      now.first++;
    } else if (comes_soon(was, (Items){now.of, now.first + 1, now.end})) {
      enter(w, is, parent, index);
      now.first++;
    } else {
      leave(w, was);
      old.first++;
    }
  }
  for (; old.first < old.end; old.first++) leave(w, at(&old, old.first));
  for (; now.first < now.end; now.first++)
    enter(w, at(&now, now.first), parent, direct ? now.first : -1);
}

static Items items_of(Stmt stmt) {
  return (Items){stmt, 0, stmt->kind == STMT_SEQ ? stmt->u.seq.n : 1};
}

/* Below loops that are not as they were even what is the same is another. */
static void compare(Walk *w, Stmt old, Stmt now, SRef *parent, int seq_index) {
  if (old == now && w->same_above) return;
  const bool sequence = old->kind == STMT_SEQ || now->kind == STMT_SEQ;
  if (w->same_above && sequence) {
    compare_items(w, items_of(old), items_of(now), parent, now->kind == STMT_SEQ);
  } else if (w->same_above && same_identity(old, now)) {
    if (old->kind == STMT_FOR)
      compare_loops(w, old, now, parent, seq_index);
    else
      compare_blocks(w, old, now, parent, seq_index);
  } else {
    leave(w, old);
    enter(w, now, parent, seq_index);
  }
}

/* --- the doors -------------------------------------------------------------------------------- */

void tirc_walk_function(Sched *s, int func, Stmt body) {
  Walk w = {.s = s, .func = func};
  walk(&w, body, NULL, -1);
  s->roots[func] = w.found.at[0];
}

void tirc_walk_change(Sched *s, int func, SRef *parent, SRef *scope, Stmt before, Stmt with,
                      int seq_index) {
  Walk w = {.s = s, .func = func, .collecting = true, .same_above = true};
  s->stamp++;
  compare(&w, before, with, parent, seq_index);
  ScopeChange gone = {0};
  if (scope) gone = tirc_scope_leave(s, scope, &w.gone);
  w.collecting = false;
  w.loose = false;
  compare(&w, before, with, parent, seq_index);
  for (int i = 0; i < w.left.n; i++) bury(s, w.left.at[i]);
  if (scope) {
    scope->scope->loose |= w.loose;
    tirc_scope_update(s, scope, &gone, &w.found);
    tirc_users_spread(s, scope, &w.found);
    tirc_scope_spread(s, scope);
  } else if (w.found.n) {
    s->roots[func] = w.found.at[0];
  }
}
