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
#include "ir/cpu.h"
#include "ir/nearest.h"
#include "ir/tree/copy.h"

#include "nodes.h"
#include "passes/record/trace.h"

#include <time.h>

enum { DEFAULT_SEED = 1 };

/* --- a whole module -------------------------------------------------------------------------- */

static void build(Sched *s, const Module *m) {
  s->replacing = true;
  s->mod = m;
  s->loops = (PtrMap){0};
  s->blocks = (PtrMap){0};
  s->names = (StrMap){0};
  s->roots = tirc_new_array(s->c, SRef *, m->n_funcs);
  s->stamp++;
  for (int i = 0; i < m->n_funcs; i++) {
    Stmt body = m->funcs[i]->body;
    if (!body || body->kind != STMT_BLOCK) continue;
    tirc_walk_function(s, i, body);
  }
  s->replacing = false;
}

static bool is_around_block(const void *self, Stmt s) {
  return s->kind == STMT_LET && tirc_find_stmt(s->u.let.body, tirc_is_block_stmt, self, NULL);
}

static bool has_let_around_block(const Module *m) {
  bool found = false;
  for (int i = 0; i < m->n_funcs && !found; i++)
    found = m->funcs[i]->body && tirc_find_stmt(m->funcs[i]->body, is_around_block, NULL, NULL);
  return found;
}

/* Layouts count from here. */
static const Module *without_relayouts(Tirc *c, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++) {
    if (!m->funcs[i]->relayouts) continue;
    Func *f = tirc_copy(c, m->funcs[i], 1);
    f->relayouts = NULL;
    m = tirc_module_with_func(c, m, i, f);
  }
  return m;
}

Sched *tirc_sched_new(Tirc *c, const Module *m) {
  tirc_context_depend(c, m->c);
  for (int i = 0; i < m->n_funcs; i++) tirc_know_extents(c, m->funcs[i]);
  tirc_reserve_block_ids(c, m);
  Sched *s = tirc_new(c, Sched);
  s->c = c;
  s->target = tirc_cpu_find(CPU_DEFAULT);
  s->trace = tirc_trace_new(c);
  s->next_rv = tirc_new(c, uint32_t);
  tirc_sched_seed(s, DEFAULT_SEED);
  const Func *entry = tirc_module_main(m);
  s->work_on = entry ? entry->name : NULL;
  s->lets = has_let_around_block(m);
  build(s, without_relayouts(c, m));
  return s;
}

/* Whether other functions have a root block than those of the state. */
static bool has_other_roots(const Sched *s, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++)
    if ((s->roots[i] != NULL) != (m->funcs[i]->body && m->funcs[i]->body->kind == STMT_BLOCK))
      return true;
  return false;
}

void tirc_sched_restore(Sched *s, const Module *old) {
  if (s->replacing || old->n_funcs != s->mod->n_funcs || has_other_roots(s, old)) {
    build(s, old);
    return;
  }
  s->replacing = true;
  for (int i = 0; i < old->n_funcs; i++)
    if (s->roots[i]) tirc_walk_change(s, i, NULL, NULL, s->roots[i]->stmt, old->funcs[i]->body, -1);
  s->mod = old;
  s->replacing = false;
}

Sched *tirc_sched_copy(Sched *s) {
  Sched *copy = tirc_copy(s->c, s, 1);
  copy->trace = tirc_trace_copy(s->c, s->trace);
  copy->set_marks.cap = s->set_marks.cap = s->set_marks.n; /* neither appends to the other's */
  copy->marks = NULL;
  copy->n_marks = 0;
  copy->removed = tirc_map_copy(s->c, &s->removed);
  memset(&copy->warnings, 0, sizeof copy->warnings);
  copy->changed_marks = (SetMarks){0};
  build(copy, s->mod);
  tirc_sched_seed(copy, tirc_sched_fork_seed(s));
  return copy;
}

/* --- looking up ------------------------------------------------------------------------------ */

SRef *tirc_sref_of_loop(Sched *s, Expr var) {
  SRef *r = tirc_map_get(&s->loops, var);
  if (!r)
    tirc_refuse(s, NULL, SERR_STALE_HANDLE, "the loop %s is no longer in the program", var->u.s);
  return r;
}

SRef *tirc_sref_of_block(Sched *s, uint32_t id) {
  SRef *r = tirc_map_get(&s->blocks, tirc_block_key(id));
  if (!r)
    tirc_refuse(s, NULL, SERR_STALE_HANDLE, "the block of this handle is no longer in the program");
  return r;
}

SRef *tirc_sref_find(Sched *s, Stmt stmt) {
  if (stmt->kind != STMT_FOR && stmt->kind != STMT_BLOCK) return NULL;
  return tirc_map_get(stmt->kind == STMT_FOR ? &s->loops : &s->blocks, tirc_identity(stmt));
}

SRef *tirc_sref_known(const Sched *s, Value v) {
  return v.kind == VAL_LOOP ? tirc_map_get(&s->loops, v.u.expr)
                            : tirc_map_get(&s->blocks, tirc_block_key(v.u.block_id));
}

SRef *tirc_sref_of_value(Sched *s, Value v) {
  return v.kind == VAL_LOOP ? tirc_sref_of_loop(s, v.u.expr) : tirc_sref_of_block(s, v.u.block_id);
}

Value tirc_value_of_sref(const SRef *r) {
  return tirc_is_loop(r) ? tirc_value_loop(r->stmt->u.loop.var)
                         : tirc_value_block(r->stmt->u.block.id);
}

SRef *tirc_scope_root(const SRef *sref) {
  SRef *r = sref->parent;
  while (r && !tirc_is_block(r)) r = r->parent;
  return r;
}

SRefs tirc_loops_above(Sched *s, SRef *sref) {
  SRefs v = {0};
  for (SRef *r = sref->parent; r && tirc_is_loop(r); r = r->parent) vec_push(s->c, v, r);
  for (int i = 0, j = v.n - 1; i < j; i++, j--) {
    SRef *r = v.at[i];
    v.at[i] = v.at[j];
    v.at[j] = r;
  }
  return v;
}

SRefs tirc_child_blocks(Sched *s, SRef *sref) {
  SRefs v = {0};
  if (tirc_is_block(sref))
    return (SRefs){sref->scope->blocks, sref->scope->n_blocks, sref->scope->room};
  tirc_blocks_in(s, sref->stmt->u.loop.body, &v);
  return v;
}

/* --- replacing ------------------------------------------------------------------------------- */

int tirc_item_index(SRef *r) {
  if (!r->parent) return -1;
  Stmt body = tirc_body_of(r->parent->stmt);
  if (body->kind != STMT_SEQ) return -1;
  const int n = body->u.seq.n, hint = r->seq_index < 0 || r->seq_index >= n ? 0 : r->seq_index;
  for (int d = 0; d < n; d++) {
    if (hint + d < n && tirc_item(body, hint + d) == r->stmt) return r->seq_index = hint + d;
    if (hint - d >= 0 && tirc_item(body, hint - d) == r->stmt) return r->seq_index = hint - d;
  }
  return -1;
}

bool tirc_stands_directly(SRef *r) {
  return !r->parent || tirc_body_of(r->parent->stmt) == r->stmt || tirc_item_index(r) >= 0;
}

/* A sequence with another item number i. */
static Stmt with_item(Tirc *c, Stmt seq, int i, Stmt item) {
  struct StmtNode *copy = tirc_seq_draft(c, seq);
  tirc_seq_set(c, copy, seq, i, item);
  return copy;
}

/* A body with `from`, which is `old` as it stood, replaced by `to`. */
static Stmt replace_child(Tirc *c, Stmt body, SRef *old, Stmt from, Stmt to) {
  if (body == from) return to;
  const int index = tirc_item_index(old);
  return index < 0 ? tirc_replace_stmt(c, body, from, to) : with_item(c, body, index, to);
}

/* Copies of everything above `old`, outermost last. */
static Stmt *rebuild_path(Tirc *c, SRef *old, Stmt with, Stmt *top) {
  int depth = 0;
  for (SRef *r = old->parent; r; r = r->parent) depth++;
  Stmt *path = tirc_new_array(c, Stmt, depth);
  Stmt to = with;
  int i = 0;
  for (SRef *r = old; r->parent; r = r->parent) {
    Stmt body = replace_child(c, tirc_body_of(r->parent->stmt), r, r->stmt, to);
    to = tirc_with_body(c, r->parent->stmt, body);
    path[i++] = to;
  }
  *top = to;
  return path;
}

void tirc_sched_replace(Sched *s, SRef *old, Stmt with) {
  Tirc *c = s->c;
  SRef *const parent = old->parent, *const scope = tirc_scope_root(old);
  const int func = old->func, seq_index = old->seq_index;
  const Stmt before = old->stmt;
  Stmt top;
  Stmt *path = rebuild_path(c, old, with, &top);
  const Func *f = tirc_func_with_body(c, s->mod->funcs[func], top);
  s->mod = tirc_module_with_func(c, s->mod, func, f);
  s->replacing = true;
  int i = 0;
  for (SRef *r = parent; r; r = r->parent) r->stmt = path[i++];
  tirc_walk_change(s, func, parent, scope, before, with, seq_index);
  s->replacing = false;
}

/* --- what it samples from --------------------------------------------------------------------- */

void tirc_sched_seed(Sched *s, int64_t seed) {
  struct timespec now = {0};
  if (seed == -1) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    seed = now.tv_nsec + now.tv_sec;
  }
  s->random = tirc_random(seed);
}

int64_t tirc_sched_fork_seed(Sched *s) { return tirc_random_fork(&s->random); }

/* --- names: so that get_block does not walk the program --------------------------------------- */

/* A table of SRefs; blocks that died or got another name leave their list when it is next looked
 * at. */
void tirc_name_block(Sched *s, SRef *block, bool renamed) {
  void **at = tirc_strmap_at(s->c, &s->names, tirc_name_of(block));
  SRefs *list = *at;
  if (!list) *at = list = tirc_new(s->c, SRefs);
  for (int i = 0; renamed && i < list->n; i++)
    if (list->at[i] == block) return;
  vec_push(s->c, *list, block);
}

void tirc_blocks_named(Sched *s, int func, const char *name, SRefs *out) {
  SRefs *list = tirc_strmap_get(&s->names, name);
  int kept = 0;
  for (int i = 0; list && i < list->n; i++) {
    SRef *r = list->at[i];
    if (!r->stmt || strcmp(tirc_name_of(r), name)) continue;
    list->at[kept++] = r;
    if (r->func == func) vec_push(s->c, *out, r);
  }
  if (list) list->n = kept;
}

/* --- back to what a schedule was before several calls ----------------------------------------- */

KeptSched tirc_sched_keep(Sched *s) {
  const KeptSched kept = {*s, tirc_trace_mark(s->trace)};
  s->removed = tirc_map_copy(s->c, &kept.was.removed);
  return kept;
}

void tirc_sched_return_to(Sched *s, const KeptSched *to) {
  const Sched *kept = &to->was;
  const size_t limit = s->c->max_bytes;
  s->c->max_bytes = 0; /* or running out of memory could leave it half changed */
  if (s->mod != kept->mod) tirc_sched_restore(s, kept->mod);
  tirc_trace_undo(s->c, kept->trace, to->mark);
  s->c->max_bytes = limit;
  s->trace = kept->trace;
  s->removed = kept->removed;
  s->set_marks = kept->set_marks;
  s->work_on = kept->work_on;
  s->intrins = kept->intrins;
  s->random = kept->random;
  s->decision = kept->decision;
  s->n_drawn = kept->n_drawn;
  s->debug_mask = kept->debug_mask;
  s->warn = kept->warn;
  s->warn_self = kept->warn_self;
  s->rule = kept->rule;
  s->reason = kept->reason;
}

int tirc_function_named(Sched *s, const char *name) {
  if (!name)
    tirc_refuse(s, NULL, SERR_FUNCTION_NOT_FOUND,
                "the module has several functions, and none is called main");
  for (int i = 0; i < s->mod->n_funcs; i++)
    if (!strcmp(s->mod->funcs[i]->name, name)) return i;
  Nearest near = {.wanted = name, .n_wanted = strlen(name)};
  for (int i = 0; i < s->mod->n_funcs; i++)
    tirc_offer_name(&near, s->mod->funcs[i]->name, strlen(s->mod->funcs[i]->name));
  const char *hint = tirc_suggest_name(&near, "", NULL);
  tirc_sched_error(s, NULL, SERR_FUNCTION_NOT_FOUND, NULL, hint ? tirc_strdup(s->c, hint) : NULL,
                   "the module has no function %s", name);
}
