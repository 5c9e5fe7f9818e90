/* The schedule's state: the sref tree over an immutable program.
 *
 * A node of the tree (SRef) stands for an identity - a loop variable or a block id - and points to
 * the statement that has this identity now. Replacing a subtree copies the statements on the way to
 * the root and walks the new subtree once: an identity that was there before keeps its node, a new
 * one gets a node, and those that the walk did not meet again are dead. A stamp tells which nodes
 * the walk has met. Nodes outside of the subtree are not looked at, nor is what stands in the
 * subtree as it stood before under loops that are as they were: primitives that rewrite a whole
 * scope cost little for the blocks in it that they leave alone. */
#include "state.h"
#include "../../ir/cpu.h"

#include "../../ir/visit.h"
#include "internal.h"
#include "trace.h"

enum { DEFAULT_SEED = 1 };

/* --- walking --------------------------------------------------------------------------------- */

/* The statements directly below one that is neither loop nor block; at most two. */
static int below(Stmt s, Stmt out[2]) {
  switch (s->kind) {
  case STMT_IF:
    out[0] = s->u.branch.then_case;
    out[1] = s->u.branch.else_case;
    return out[1] ? 2 : 1;
  case STMT_WHILE: out[0] = s->u.loop_while.body; return 1;
  case STMT_LET: out[0] = s->u.let.body; return 1;
  case STMT_ALLOC:
  case STMT_DECL: out[0] = s->u.alloc.body; return 1;
  case STMT_ATTR: out[0] = s->u.attr.body; return 1;
  case STMT_ASSERT: out[0] = s->u.check.body; return 1;
  default: return 0;
  }
}

static PtrMap *map_of(Sched *s, Stmt stmt) {
  return stmt->kind == STMT_FOR ? &s->loops : &s->blocks;
}

static const void *key_of(Stmt stmt) {
  return stmt->kind == STMT_FOR ? (const void *)stmt->u.loop.var : tirc_block_key(stmt->u.block.id);
}

/* One walk over a new subtree. `found` gathers the blocks of the scope that is being walked. */
typedef struct Walk {
  Sched *s;
  int func;
  SRefs found;
  bool dataflow_changed; /* a block of the outer scope reads or writes other buffers than before */
  bool same_above;       /* the loops of the scope around here are as they were */
} Walk;

static bool same_buffers(int n, const Region *a, int m, const Region *b) {
  if (n != m) return false;
  for (int i = 0; i < n; i++)
    if (a[i].buffer != b[i].buffer) return false;
  return true;
}

static bool same_dataflow(Stmt a, Stmt b) {
  const Block *x = &a->u.block, *y = &b->u.block;
  return a == b || (same_buffers(x->n_reads, x->reads, y->n_reads, y->reads) &&
                    same_buffers(x->n_writes, x->writes, y->n_writes, y->writes));
}

/* The node of this statement's identity, old or new, now standing here. */
static SRef *claim(Walk *w, Stmt stmt, SRef *parent, int seq_index) {
  Sched *s = w->s;
  PtrMap *map = map_of(s, stmt);
  SRef *r = tirc_map_get(map, key_of(stmt));
  if (r && r->stamp == s->stamp) {
    bool loop = stmt->kind == STMT_FOR;
    tirc_fail(s->c, stmt->loc, "ill-formed",
              "each loop needs a variable of its own, and each block an id",
              "the %s %s stands in the program twice", loop ? "loop" : "block",
              loop ? stmt->u.loop.var->u.s : stmt->u.block.name);
  }
  if (!r) {
    r = tirc_new(s->c, SRef);
    tirc_map_set(s->c, map, key_of(stmt), r);
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
  const SRef *known = tirc_map_get(map_of(w->s, stmt), key_of(stmt));
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
  const Stmt before = was.stmt;
  SRef *r = claim(w, stmt, parent, seq_index);
  if (before != stmt || !same_place(&was)) r->dirty = w->s->stamp;
  bool dataflow = !before || !same_dataflow(before, stmt);
  if (before != stmt) {
    SRefs outer = w->found;
    bool outer_changed = w->dataflow_changed;
    w->found = (SRefs){0};
    w->same_above = before != NULL;
    walk(w, stmt->u.block.body, r, -1);
    tirc_scope_rebuild(w->s, r, w->found.n, w->found.at);
    w->found = outer;
    w->dataflow_changed = outer_changed;
    w->same_above = was.same_above;
  }
  w->dataflow_changed |= dataflow;
  vec_push(w->s->c, w->found, r);
}

static void walk(Walk *w, Stmt stmt, SRef *parent, int seq_index) {
  if (stmt->kind == STMT_BLOCK) {
    walk_block(w, stmt, parent, seq_index);
  } else if (stmt->kind == STMT_FOR) {
    walk_loop(w, stmt, parent, seq_index);
  } else if (stmt->kind == STMT_SEQ) {
    bool direct = parent && tirc_body_of(parent->stmt) == stmt;
    for (int i = 0; i < stmt->u.seq.n; i++) walk(w, stmt->u.seq.at[i], parent, direct ? i : -1);
  } else {
    Stmt inner[2];
    int n = below(stmt, inner);
    for (int i = 0; i < n; i++) walk(w, inner[i], parent, -1);
  }
}

/* Loops and blocks of an old subtree that the walk over its replacement did not meet are dead. */
static void bury(Sched *s, Stmt stmt) {
  if (stmt->kind == STMT_FOR || stmt->kind == STMT_BLOCK) {
    SRef *r = tirc_map_get(map_of(s, stmt), key_of(stmt));
    if (r && r->stamp == s->stamp && r->stmt == stmt) return;
    if (r && r->stamp != s->stamp) {
      r->stmt = NULL;
      tirc_map_remove(map_of(s, stmt), key_of(stmt));
    }
    bury(s, tirc_body_of(stmt));
  } else if (stmt->kind == STMT_SEQ) {
    for (int i = 0; i < stmt->u.seq.n; i++) bury(s, stmt->u.seq.at[i]);
  } else {
    Stmt inner[2];
    int n = below(stmt, inner);
    for (int i = 0; i < n; i++) bury(s, inner[i]);
  }
}

/* The nodes of the blocks in stmt that are not inside of another block, in order. */
void tirc_blocks_in(Sched *s, Stmt stmt, SRefs *out) {
  if (stmt->kind == STMT_BLOCK) {
    SRef *r = tirc_map_get(&s->blocks, tirc_block_key(stmt->u.block.id));
    if (r) vec_push(s->c, *out, r);
  } else if (stmt->kind == STMT_FOR) {
    tirc_blocks_in(s, stmt->u.loop.body, out);
  } else if (stmt->kind == STMT_SEQ) {
    for (int i = 0; i < stmt->u.seq.n; i++) tirc_blocks_in(s, stmt->u.seq.at[i], out);
  } else {
    Stmt inner[2];
    int n = below(stmt, inner);
    for (int i = 0; i < n; i++) tirc_blocks_in(s, inner[i], out);
  }
}

/* --- a whole module -------------------------------------------------------------------------- */

static void build(Sched *s, const Module *m) {
  s->mod = m;
  s->loops = (PtrMap){0};
  s->blocks = (PtrMap){0};
  s->names = NULL;
  s->roots = tirc_new_array(s->c, SRef *, m->n_funcs);
  s->stamp++;
  for (int i = 0; i < m->n_funcs; i++) {
    Stmt body = m->funcs[i]->body;
    if (!body || body->kind != STMT_BLOCK) continue;
    Walk w = {.s = s, .func = i};
    walk(&w, body, NULL, -1);
    s->roots[i] = w.found.at[0];
  }
}

static bool raise_next_id(Visitor *v, Stmt stmt) {
  Tirc *c = v->self;
  if (stmt->kind == STMT_BLOCK && stmt->u.block.id >= c->next_block_id)
    c->next_block_id = stmt->u.block.id + 1;
  return true;
}

Sched *tirc_sched_new(Tirc *c, const Module *m) {
  tirc_context_depend(c, m->c);
  if (!c->next_block_id) c->next_block_id = 1;
  Visitor v = {.stmt = raise_next_id, .self = c};
  for (int i = 0; i < m->n_funcs; i++)
    if (m->funcs[i]->body) tirc_visit_stmt(&v, m->funcs[i]->body);
  Sched *s = tirc_new(c, Sched);
  s->c = c;
  s->target = tirc_cpu_find(CPU_DEFAULT);
  s->trace = tirc_trace_new(c);
  s->next_rv = tirc_new(c, uint32_t);
  tirc_sched_seed(s, DEFAULT_SEED);
  const Func *entry = tirc_module_main(m);
  s->work_on = entry ? entry->name : NULL;
  build(s, m);
  return s;
}

void tirc_sched_restore(Sched *s, const Module *old) { build(s, old); }

Sched *tirc_sched_copy(Sched *s) {
  Sched *copy = tirc_new(s->c, Sched);
  *copy = *s;
  copy->trace = tirc_trace_copy(s->c, s->trace);
  copy->marks = NULL;
  copy->n_marks = 0;
  copy->removed = (PtrMap){0};
  for (size_t i = 0; i < s->removed.cap; i++)
    if (s->removed.values[i])
      tirc_map_set(s->c, &copy->removed, s->removed.keys[i], s->removed.values[i]);
  memset(&copy->warnings, 0, sizeof copy->warnings);
  build(copy, s->mod);
  tirc_sched_seed(copy, tirc_sched_fork_seed(s));
  return copy;
}

/* --- looking up ------------------------------------------------------------------------------ */

SRef *tirc_sref_of_loop(Sched *s, Expr var) {
  SRef *r = tirc_map_get(&s->loops, var);
  if (!r)
    tirc_sched_error(s, SERR_STALE_HANDLE, NULL, NULL, "the loop %s is no longer in the program",
                     var->u.s);
  return r;
}

SRef *tirc_sref_of_block(Sched *s, uint32_t id) {
  SRef *r = tirc_map_get(&s->blocks, tirc_block_key(id));
  if (!r)
    tirc_sched_error(s, SERR_STALE_HANDLE, NULL, NULL,
                     "the block of this handle is no longer in the program");
  return r;
}

SRef *tirc_sref_find(Sched *s, Stmt stmt) {
  if (stmt->kind != STMT_FOR && stmt->kind != STMT_BLOCK) return NULL;
  return tirc_map_get(map_of(s, stmt), key_of(stmt));
}

SRef *tirc_sref_of_value(Sched *s, Value v) {
  return v.kind == VAL_LOOP ? tirc_sref_of_loop(s, v.u.expr) : tirc_sref_of_block(s, v.u.block_id);
}

Value tirc_value_of_sref(const SRef *r) {
  return tirc_is_loop(r) ? tirc_value_loop(r->stmt->u.loop.var)
                         : tirc_value_block(r->stmt->u.block.id);
}

SRef *tirc_scope_root(Sched *s, SRef *sref) {
  (void)s;
  SRef *r = sref->parent;
  while (r && !tirc_is_block(r)) r = r->parent;
  return r;
}

static int reversed(Sched *s, SRefs *v, SRef ***out) {
  for (int i = 0, j = v->n - 1; i < j; i++, j--) {
    SRef *r = v->at[i];
    v->at[i] = v->at[j];
    v->at[j] = r;
  }
  *out = v->at ? v->at : tirc_new_array(s->c, SRef *, 1);
  return v->n;
}

int tirc_loops_above(Sched *s, SRef *sref, SRef ***out) {
  SRefs v = {0};
  for (SRef *r = sref->parent; r && tirc_is_loop(r); r = r->parent) vec_push(s->c, v, r);
  return reversed(s, &v, out);
}

int tirc_child_blocks(Sched *s, SRef *sref, SRef ***out) {
  SRefs v = {0};
  if (tirc_is_block(sref)) {
    *out = sref->scope->blocks;
    return sref->scope->n_blocks;
  }
  tirc_blocks_in(s, sref->stmt->u.loop.body, &v);
  *out = v.at;
  return v.n;
}

/* --- replacing ------------------------------------------------------------------------------- */

/* A sequence with another item number i. */
static Stmt with_item(Tirc *c, Stmt seq, int i, Stmt item) {
  struct StmtNode *copy = tirc_new(c, struct StmtNode);
  *copy = *seq;
  Stmt *at = tirc_new_array(c, Stmt, seq->u.seq.n);
  memcpy(at, seq->u.seq.at, (size_t)seq->u.seq.n * sizeof *at);
  at[i] = item;
  copy->u.seq.at = at;
  return copy;
}

/* A body with `from` in it, which is not inside of a loop or block of that body, replaced by `to`.
 * The body itself when it does not stand there. */
static Stmt replace_below(Tirc *c, Stmt body, Stmt from, Stmt to) {
  if (body == from) return to;
  if (body->kind == STMT_SEQ) {
    for (int i = 0; i < body->u.seq.n; i++) {
      Stmt item = replace_below(c, body->u.seq.at[i], from, to);
      if (item != body->u.seq.at[i]) return with_item(c, body, i, item);
    }
    return body;
  }
  Stmt inner[2];
  int n = body->kind == STMT_FOR || body->kind == STMT_BLOCK ? 0 : below(body, inner);
  for (int i = 0; i < n; i++)
    if (replace_below(c, inner[i], from, to) != inner[i])
      return tirc_replace_stmt(c, body, from, to);
  return body;
}

/* The same where the place is known: nothing is searched. */
static Stmt replace_child(Tirc *c, Stmt body, int seq_index, Stmt from, Stmt to) {
  if (seq_index < 0 || body->kind != STMT_SEQ || body->u.seq.at[seq_index] != from)
    return replace_below(c, body, from, to);
  return with_item(c, body, seq_index, to);
}

/* Copies of everything above `old`, outermost last. */
static Stmt *rebuild_path(Tirc *c, SRef *old, Stmt with, Stmt *top) {
  int depth = 0;
  for (SRef *r = old->parent; r; r = r->parent) depth++;
  Stmt *path = tirc_new_array(c, Stmt, depth);
  Stmt from = old->stmt, to = with;
  int seq_index = old->seq_index, i = 0;
  for (SRef *r = old->parent; r; r = r->parent) {
    Stmt body = replace_child(c, tirc_body_of(r->stmt), seq_index, from, to);
    to = tirc_with_body(c, r->stmt, body);
    path[i++] = to;
    from = r->stmt;
    seq_index = r->seq_index;
  }
  *top = to;
  return path;
}

void tirc_sched_replace(Sched *s, SRef *old, Stmt with) {
  Tirc *c = s->c;
  SRef *const parent = old->parent, *const scope = tirc_scope_root(s, old);
  const int seq_index = old->seq_index, func = old->func;
  const Stmt before = old->stmt;
  SRefs gone = {0};
  if (scope) tirc_blocks_in(s, before, &gone);
  Stmt top;
  Stmt *path = rebuild_path(c, old, with, &top);
  const Func *f = tirc_func_with_body(c, s->mod->funcs[func], top);
  s->mod = tirc_module_with_func(c, s->mod, func, f);

  s->stamp++;
  Walk w = {.s = s, .func = func, .same_above = true};
  walk(&w, with, parent, seq_index);
  bury(s, before);
  int i = 0;
  for (SRef *r = parent; r; r = r->parent) r->stmt = path[i++];
  if (scope)
    tirc_scope_update(s, scope, gone.n, gone.at, w.found.n, w.found.at, w.dataflow_changed);
  else
    s->roots[func] = w.found.at[0];
}
