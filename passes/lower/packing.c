/* Constant operands that are packed once, ahead of the calls. A copy at the top of the function
 * whose block is annotated "meta_schedule.layout_rewrite_preproc" leaves the function, which then
 * takes what it wrote:
 *
 *   def f(A, B, C):                          def f_pack_B(B, P):
 *     P = T.alloc_buffer(...)                  P[...] = B[...]
 *     P[...] = B[...]     # annotated   ->
 *     C[...] = A[...] * P[...]               def f(A, P, C):
 *                                              C[...] = A[...] * P[...]
 *
 * Whoever calls the function must know that a parameter is another array, so the program or the
 * schedule says that its layout is free: "layout_free_buffers": [1] in T.func_attr or on the root
 * block, with the parameter's number. */
#include "packing.h"

#include "internal.h"
#include "ir/arith/access.h"

static bool is_marked(Stmt s) {
  Expr mark = s->kind == STMT_BLOCK
                  ? tirc_attrs_get(s->u.block.annotations, tirc_key(KEY_LAYOUT_PREPROC))
                  : NULL;
  int64_t value;
  return mark && (!tirc_const_int(mark, &value) || value != 0);
}

static bool note_marked(Visitor *v, Stmt s) {
  if (is_marked(s)) *(Stmt *)v->self = s;
  return true;
}

static Stmt find_marked(Stmt s) {
  Stmt found = NULL;
  tirc_visit_stmt(&(Visitor){.stmt = note_marked, .self = &found}, s);
  return found;
}

bool tirc_packs(Stmt nest) { return find_marked(nest) != NULL; }

typedef struct Use {
  Buffer buffer;
  bool found;
} Use;

static bool use_in_expr(Visitor *v, Expr e) {
  Use *u = v->self;
  if (e->op == OP_LOAD && e->u.buffer == u->buffer) u->found = true;
  return !u->found;
}
static bool use_in_stmt(Visitor *v, Stmt s) {
  Use *u = v->self;
  if (s->kind == STMT_STORE && s->u.store.buffer == u->buffer) u->found = true;
  if (s->kind == STMT_BLOCK)
    for (int i = 0; i < s->u.block.n_matches; i++)
      if (s->u.block.matches[i].source.buffer == u->buffer) u->found = true;
  return !u->found;
}
static bool uses(Stmt s, Buffer b) {
  Use u = {.buffer = b};
  tirc_visit_stmt(&(Visitor){.stmt = use_in_stmt, .expr = use_in_expr, .self = &u}, s);
  return u.found;
}

_Noreturn static void refuse(Tirc *c, Stmt block, const char *why, const char *hint) {
  tirc_fail(c, tirc_place_of(block), CODE_LOWER, hint,
            "the block %s is annotated to be packed before the calls, but %s", block->u.block.name,
            why);
}

static bool is_free(const Func *f, int parameter) {
  Expr lists[2] = {tirc_attrs_get(f->attrs, tirc_key(KEY_LAYOUT_FREE)),
                   tirc_attrs_get(f->body->u.block.annotations, tirc_key(KEY_LAYOUT_FREE))};
  for (int l = 0; l < 2; l++)
    for (int i = 0; lists[l] && i < lists[l]->n; i++)
      if (tirc_is_int(lists[l]->args[i], parameter)) return true;
  return false;
}

static int parameter_of(const Func *f, Buffer b) {
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i] == b) return i;
  return -1;
}

/* The function that does the copy alone. */
static const Func *packing_function(Tirc *c, const Func *f, int parameter, Stmt nest,
                                    Buffer packed) {
  Func *to = tirc_new(c, Func);
  *to = *f;
  to->name = tirc_format(c, "%s_pack_%s", f->name, f->buffers[parameter]->name);
  Expr *params = tirc_new_array(c, Expr, 2);
  Buffer *buffers = tirc_new_array(c, Buffer, 2);
  params[0] = f->params[parameter];
  params[1] = tirc_var(c, packed->name, DT_HANDLE);
  buffers[0] = f->buffers[parameter];
  buffers[1] = packed;
  to->n_params = 2;
  to->params = params;
  to->buffers = buffers;
  to->relayouts = NULL;
  to->attrs = tirc_attrs_remove(c, f->attrs, tirc_key(KEY_LAYOUT_FREE));
  Block root = f->body->u.block;
  root.id = 0;
  root.n_reads = root.n_writes = root.n_allocs = 0;
  root.annotations = (Attrs){0};
  root.body = nest;
  to->body = tirc_block(c, &root);
  return to;
}

/* The function without the copy. */
static const Func *packed_function(Tirc *c, const Func *f, int parameter, Stmt nest,
                                   Buffer packed) {
  Func *to = tirc_new(c, Func);
  *to = *f;
  Buffer *buffers = tirc_new_array(c, Buffer, f->n_params);
  for (int i = 0; i < f->n_params; i++) buffers[i] = i == parameter ? packed : f->buffers[i];
  to->buffers = buffers;
  to->relayouts = NULL;
  Block root = f->body->u.block;
  Buffer *allocs = tirc_new_array(c, Buffer, root.n_allocs);
  int n = 0;
  for (int i = 0; i < root.n_allocs; i++)
    if (root.allocs[i] != packed) allocs[n++] = root.allocs[i];
  root.allocs = allocs;
  root.n_allocs = n;
  Stmt *rest = tirc_new_array(c, Stmt, root.body->u.seq.n);
  n = 0;
  for (int i = 0; i < root.body->u.seq.n; i++)
    if (tirc_item(root.body, i) != nest) rest[n++] = tirc_item(root.body, i);
  root.body = tirc_seq(c, n, rest);
  to->body = tirc_block(c, &root);
  return to;
}

/* One copy leaves f; NULL when it has none. */
static const Func *split_one(Tirc *c, const Func *f, const Func **pack) {
  if (f->body->kind != STMT_BLOCK) return NULL;
  const Block *root = &f->body->u.block;
  Stmt block = find_marked(root->body), nest = NULL;
  if (!block) return NULL;
  for (int i = 0; root->body->kind == STMT_SEQ && i < root->body->u.seq.n; i++)
    if (find_marked(tirc_item(root->body, i)) == block) nest = tirc_item(root->body, i);
  const Block *b = &block->u.block;
  Buffer packed = b->n_writes == 1 ? b->writes[0].buffer : NULL;
  bool is_alloc = false;
  for (int i = 0; i < root->n_allocs; i++) is_alloc |= root->allocs[i] == packed;
  int parameter = b->n_reads == 1 ? parameter_of(f, b->reads[0].buffer) : -1;
  if (!nest || !is_alloc || parameter < 0)
    refuse(c, block, "it is not a copy of a parameter to a buffer at the top of the function",
           "annotate the block that cache_read makes, and leave it where it is");
  if (!is_free(f, parameter))
    refuse(c, block,
           tirc_format(c, "the layout of parameter %d, %s, is not free", parameter,
                       f->buffers[parameter]->name),
           tirc_format(c, "sch.annotate(sch.get_block(\"root\"), \"%s\", [%d])",
                       tirc_key(KEY_LAYOUT_FREE), parameter));
  const Func *rest = packed_function(c, f, parameter, nest, packed);
  if (uses(rest->body, f->buffers[parameter]))
    refuse(c, block, tirc_format(c, "%s is read elsewhere, too", f->buffers[parameter]->name),
           NULL);
  *pack = packing_function(c, f, parameter, nest, packed);
  return rest;
}

const Module *tirc_split_packing(Tirc *c, const Module *m) {
  VEC(const Func *) funcs = {0};
  bool found = false;
  for (int i = 0; i < m->n_funcs; i++) {
    const Func *f = m->funcs[i], *pack;
    for (const Func *rest; (rest = split_one(c, f, &pack)) != NULL; f = rest) {
      vec_push(c, funcs, pack);
      found = true;
    }
    vec_push(c, funcs, f);
  }
  if (!found) return m;
  Module *to = tirc_new(c, Module);
  *to = *m;
  to->is_class = true;
  to->n_funcs = funcs.n;
  to->funcs = funcs.at;
  return to;
}
