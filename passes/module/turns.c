#include "turns.h"

#include "ir/arith/access.h"
#include "ir/tree/annotations.h"
#include "ir/tree/find.h"
#include "ir/tree/graph.h"
#include "ir/tree/visit.h"

typedef VEC(Buffer) Buffers;
/* The loop of a function that says that it has one, its last statement; NULL: none. */
static Stmt loop_of(const Func *f) {
  const Expr says = tirc_attrs_get(f->attrs, tirc_key(KEY_LOOP_OF_TURNS));
  if (!says || !tirc_is_true(says) || f->body->kind != STMT_BLOCK) return NULL;
  Stmt s = f->body->u.block.body;
  if (s->kind == STMT_SEQ && s->u.seq.n) s = tirc_item(s, s->u.seq.n - 1);
  return s->kind == STMT_WHILE ? s : NULL;
}

static const char *name_of_call(Tirc *c, const Func *f, int i) {
  return tirc_format(c, "%s_turn%d", f->name, i);
}

static bool is_while(const void *unused, Stmt s) {
  (void)unused;
  return s->kind == STMT_WHILE;
}

/* Not a block that stores one value, and none with a loop that the run ends. */
static bool is_call(Stmt s) {
  return s->kind == STMT_BLOCK && !s->u.block.n_iters && !s->u.block.init &&
         !s->u.block.n_matches && s->u.block.body->kind != STMT_STORE &&
         !tirc_find_stmt(s, is_while, NULL, NULL);
}

/* The calls of a loop, those of branches within it, too, in their order. */
typedef VEC(Stmt) Calls;
typedef struct Listing {
  Tirc *c;
  Calls calls;
} Listing;

static bool list_call(Visitor *v, Stmt s) {
  Listing *k = v->self;
  if (s->kind == STMT_BLOCK && is_call(s)) vec_push(k->c, k->calls, s);
  return s->kind == STMT_SEQ || s->kind == STMT_IF || s->kind == STMT_WHILE;
}

static Calls calls_of(Tirc *c, Stmt loop) {
  Listing k = {.c = c};
  if (loop) tirc_visit_stmts(loop, list_call, &k);
  return k.calls;
}

/* Which buffers of the function around it a call uses. */
static Buffers params_of(Tirc *c, const Func *f, Stmt call) {
  const Block *root = &f->body->u.block;
  Buffers params = {0};
  for (int i = 0; i < f->n_params + root->n_allocs; i++) {
    const Buffer b = i < f->n_params ? f->buffers[i] : root->allocs[i - f->n_params];
    if (b && tirc_uses_of(call, b, NULL, NULL)) vec_push(c, params, b);
  }
  return params;
}

/* --- apart ------------------------------------------------------------------------------------ */

static bool tells(const Buffers *params, Expr var) {
  for (int i = 0; i < params->n; i++)
    for (int d = 0; d < params->at[i]->ndim; d++)
      if (params->at[i]->shape[d] == var) return true;
  return false;
}

static bool shapes_use(int n, const Buffer *buffers, Expr var) {
  for (int i = 0; i < n; i++)
    if (tirc_any_uses(buffers[i]->ndim, buffers[i]->shape, var)) return true;
  return false;
}

/* Whether the parameters' shapes tell all extents that the call needs. */
static bool tells_all(Tirc *c, const Func *f, Stmt call, const Buffers *params) {
  PtrMap seen = {0}, untold = {0};
  Symbols symbols = {0};
  const Block *b = &call->u.block;
  const Info *all = tirc_buffer_infos(c, f->n_params, f->buffers);
  for (int i = 0; i < f->n_params; i++) tirc_info_symbols(c, all[i], &seen, &symbols);
  for (int i = 0; i < symbols.n; i++) {
    const Expr var = symbols.at[i];
    if (tells(params, var)) continue;
    tirc_map_set(c, &untold, var, f);
    if (shapes_use(params->n, params->at, var) || shapes_use(b->n_allocs, b->allocs, var))
      return false;
  }
  return !tirc_stmt_uses_any(b->body, &untold);
}

static const Func *call_of(Tirc *c, const Func *f, Stmt call, const char *name,
                           const Buffers *buffers) {
  Func *to = tirc_new(c, Func);
  const int n = buffers->n;
  Expr *params = tirc_new_array(c, Expr, n);
  for (int i = 0; i < n; i++)
    params[i] = tirc_var(c, tirc_format(c, "var_%s", buffers->at[i]->name), DT_HANDLE);
  const Block *own = &call->u.block;
  const Block root = {.name = "root",
                      .predicate = tirc_bool(c, true),
                      .n_allocs = own->n_allocs,
                      .allocs = own->allocs,
                      .body = own->body};
  *to = (Func){.name = name,
               .n_params = n,
               .params = params,
               .buffers = buffers->at,
               .body = tirc_clone_fresh(c, tirc_block(c, &root)),
               .loc = f->loc};
  to->attrs = tirc_attrs_remove(c, f->attrs, tirc_key(KEY_IS_SCHEDULED));
  to->attrs = tirc_attrs_remove(c, to->attrs, tirc_key(KEY_LOOP_OF_TURNS));
  to->attrs = tirc_attrs_remove(c, to->attrs, tirc_key(KEY_LAYOUT_FREE));
  to->attrs = tirc_attrs_remove(c, to->attrs, tirc_key(KEY_INDEX_RANGES));
  return to;
}

const Module *tirc_turns_apart(Tirc *c, const Module *m) {
  VEC(const Func *) funcs = {0};
  for (int i = 0; i < m->n_funcs; i++) vec_push(c, funcs, m->funcs[i]);
  for (int i = 0; i < m->n_funcs; i++) {
    const Func *f = m->funcs[i];
    const Calls calls = calls_of(c, loop_of(f));
    for (int k = 0; k < calls.n; k++) {
      const char *name = name_of_call(c, f, k);
      const Buffers params = params_of(c, f, calls.at[k]);
      if (!tirc_module_func(m, name) && tells_all(c, f, calls.at[k], &params))
        vec_push(c, funcs, call_of(c, f, calls.at[k], name, &params));
    }
  }
  if (funcs.n == m->n_funcs) return m;
  Module *to = tirc_copy(c, m, 1);
  to->funcs = funcs.at;
  to->n_funcs = funcs.n;
  return to;
}

/* --- back ------------------------------------------------------------------------------------- */

typedef struct Back {
  Tirc *c;
  const Func *f;
  const Module *m, *scheduled;
  Calls calls;
  StrMap names; /* of the function's blocks */
} Back;

static Stmt rename_block(Mutator *m, Stmt s) {
  Back *k = m->self;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_BLOCK) return s;
  struct StmtNode to = *s;
  const char *wanted = s->u.block.name;
  for (int i = 1; tirc_strmap_get(&k->names, to.u.block.name); i++)
    to.u.block.name = tirc_format(k->c, "%s_%d", wanted, i);
  *tirc_strmap_at(k->c, &k->names, to.u.block.name) = k;
  return tirc_stmt_done(k->c, tirc_copy(k->c, &to, 1));
}

/* The call's block with what the schedule made of it, on the buffers of the function around it. */
static Stmt scheduled_call(Tirc *c, const Func *f, Stmt call, const Func *to) {
  const Buffers params = params_of(c, f, call);
  const int n = to->n_params;
  Match match = {.c = c};
  PtrMap buffers = {0};
  const bool plain = to->body->kind == STMT_BLOCK && !to->body->u.block.n_iters;
  if (!plain || n != params.n ||
      tirc_match_params(&match, n, tirc_buffer_infos(c, n, to->buffers),
                        tirc_buffer_infos(c, n, params.at)) >= 0)
    return call;
  for (int i = 0; i < n; i++)
    tirc_map_set(c, &buffers, to->buffers[i], (void *)(uintptr_t)params.at[i]);
  const Stmt own = tirc_clone_fresh(
      c, tirc_substitute_buffers(c, tirc_substitute_stmt(c, to->body, &match.symbols), &buffers));
  Block block = own->u.block;
  block.name = call->u.block.name;
  return tirc_infer_regions(c, tirc_block(c, &block), false, false);
}

static Stmt replace_call(Mutator *m, Stmt s) {
  Back *k = m->self;
  for (int i = 0; i < k->calls.n; i++) {
    if (k->calls.at[i] != s) continue;
    const char *name = name_of_call(k->c, k->f, i);
    const Func *to = tirc_module_func(k->m, name) ? NULL : tirc_module_func(k->scheduled, name);
    return to ? scheduled_call(k->c, k->f, s, to) : s;
  }
  return tirc_mutate_stmt_children(m, s);
}

static const Func *with_calls(Tirc *c, const Func *f, const Module *m, const Module *scheduled) {
  Back k = {.c = c, .f = f, .m = m, .scheduled = scheduled, .calls = calls_of(c, loop_of(f))};
  Mutator replace = {.c = c, .stmt = replace_call, .self = &k};
  Mutator rename = {.c = c, .stmt = rename_block, .self = &k};
  Block own = f->body->u.block;
  own.body = tirc_mutate_stmt(&rename, tirc_mutate_stmt(&replace, own.body));
  Func *to = tirc_copy(c, f, 1);
  to->body = tirc_block(c, &own);
  return to;
}

const Module *tirc_turns_back(Tirc *c, const Module *m, const Module *scheduled) {
  VEC(const Func *) funcs = {0};
  for (int i = 0; i < scheduled->n_funcs; i++) {
    const Func *f = scheduled->funcs[i];
    if (tirc_module_func(m, f->name)) /* others are calls */
      vec_push(c, funcs, loop_of(f) ? with_calls(c, f, m, scheduled) : f);
  }
  Module *to = tirc_copy(c, scheduled, 1);
  to->funcs = funcs.at;
  to->n_funcs = funcs.n;
  return to;
}
