/* Loops on threads of the caller's: the body is a function of its own, which takes what the loop
 * uses of what is around it from a struct.
 *
 *   for (int32_t i = 0; i < 8; i++) {       struct f__loop0 { float *B; const float *A; };
 *     B[i] = A[i];                          static void f__body0(int64_t tirc_i, void *tirc_p) {
 *   }                                         const struct f__loop0 *tirc_k = tirc_p;
 *                                   ->        float *restrict B = tirc_k->B; ...
 *                                             const int32_t i = (int32_t)tirc_i;
 *                                             B[i] = A[i];
 *                                           }
 *                                           ... tirc_rt->parallel_for(self, 8, f__body0, &k, 0);
 *
 * Without a runtime the loop is OpenMP's, as elsewhere. A step cannot return: it leaves its status
 * in a variable. */
#include "gen.h"
#include "ir/tree/annotations.h"
#include "ir/tree/find.h"

typedef struct Capture {
  Visitor v;
  Gen *g;
  PtrMap seen, written; /* variables, in order of first appearance in `vars` */
  VEC(Expr) vars;
} Capture;

static void capture(Capture *k, Expr var, bool is_written) {
  if (is_written) tirc_map_set(k->g->c, &k->written, var, var);
  if (!tirc_map_has(&k->g->vars, var) || tirc_map_has(&k->seen, var)) return;
  tirc_map_set(k->g->c, &k->seen, var, var);
  vec_push(k->g->c, k->vars, var);
}

static void capture_buffer(Capture *k, Buffer b, bool is_written) {
  capture(k, b->data, is_written);
  for (int i = 0; i < b->ndim; i++) {
    tirc_visit_expr(&k->v, b->shape[i]);
    if (b->strides) tirc_visit_expr(&k->v, b->strides[i]);
  }
  if (b->elem_offset) tirc_visit_expr(&k->v, b->elem_offset);
}

/* What a call gets the address of it may write. */
static bool capture_expr(Visitor *v, Expr e) {
  Capture *k = v->self;
  if (e->op == OP_VAR) capture(k, e, e->dtype.code == TYPE_HANDLE);
  if (e->op == OP_LOAD) capture_buffer(k, e->u.buffer, false);
  for (int i = 0; e->op == OP_CALL && i < e->n; i++)
    if (e->args[i]->op == OP_LOAD) capture_buffer(k, e->args[i]->u.buffer, true);
  return true;
}

static bool capture_stmt(Visitor *v, Stmt s) {
  if (s->kind == STMT_STORE) capture_buffer(v->self, s->u.store.buffer, true);
  if (s->kind == STMT_ALLOC || s->kind == STMT_DECL)
    capture_buffer(v->self, s->u.alloc.buffer, false);
  return true;
}

static Capture captures(Gen *g, Stmt body) {
  Capture k = {.g = g};
  k.v = (Visitor){.expr = capture_expr, .stmt = capture_stmt};
  k.v.self = &k;
  tirc_visit_stmt(&k.v, body);
  return k;
}

/* --- tiles ------------------------------------------------------------------------------------ */

typedef struct Sharing {
  Buffer b;
  bool found;
} Sharing;

static bool is_data(const void *data, Expr e) {
  return e == data || (e->op == OP_LOAD && e->u.buffer->data == data);
}

static bool stores_to(Visitor *v, Stmt s) {
  Sharing *x = v->self;
  if (s->kind == STMT_STORE && s->u.store.buffer->data == x->b->data) x->found = true;
  return !x->found;
}

static bool find_shared(Visitor *v, Stmt s) {
  Sharing *x = v->self;
  if (s->kind != STMT_FOR || s->u.loop.kind != LOOP_PARALLEL) return !x->found;
  x->found |= tirc_find_expr_in(s->u.loop.body, is_data, x->b->data) != NULL;
  tirc_visit_stmt(&(Visitor){.stmt = stores_to, .self = x}, s->u.loop.body);
  return false;
}

bool tirc_cg_is_shared(Gen *g, Buffer b, Stmt s) {
  Sharing x = {.b = b};
  if (!g->file->what->has_runtime || g->file->in_parallel) return false;
  tirc_visit_stmt(&(Visitor){.stmt = find_shared, .self = &x}, s);
  return x.found;
}

/* --- the function and the call ---------------------------------------------------------------- */

/* One name that the body uses: its type in the struct and in the body, and what the struct gets. */
typedef struct Field {
  const char *name, *type, *own, *value;
} Field;
typedef VEC(Field) Fields;

static Field field_of(Gen *g, const Name *name, Expr var, bool is_written) {
  Tirc *c = g->c;
  if (name->element.code == TYPE_VOID && !name->is_array) {
    const char *type = tirc_src_value_type(g, tirc_dtype_lanes(var->dtype, 1));
    const char *is_const = var->dtype.code == TYPE_HANDLE ? "" : "const ";
    return (Field){name->s, tirc_format(c, "%s ", type), tirc_format(c, "%s%s ", is_const, type),
                   name->s};
  }
  const bool of_memory = name->element.code != TYPE_VOID;
  const char *type = of_memory ? tirc_c_type(name->element)
                               : tirc_src_value_type(g, tirc_dtype_lanes(var->dtype, 1));
  const char *pointer = tirc_format(c, "%s%s *", is_written ? "" : "const ", type);
  const bool apart = of_memory && g->file->restrict_data;
  return (Field){name->s, pointer, tirc_format(c, "%s%s", pointer, apart ? "restrict " : ""),
                 tirc_format(c, "(%s)%s", pointer, name->s)};
}

/* Those that the body turned out to use. */
static Fields fields_of(Gen *g, const Capture *k, const bool *used) {
  Fields out = {0};
  for (int i = 0; i < k->vars.n; i++) {
    Name *name = tirc_map_get(&g->vars, k->vars.at[i]);
    const bool is_used = name->used;
    name->used |= used[i];
    if (is_used)
      vec_push(g->c, out,
               field_of(g, name, k->vars.at[i], tirc_map_has(&k->written, k->vars.at[i])));
  }
  return out;
}

static void put_body(Gen *g, int number, const For *loop, const Fields *f, const char *first,
                     const Text *body, bool leaves, bool uses_rt) {
  const char *func = g->file->func, *type = tirc_c_type(loop->var->dtype);
  const Name *i = tirc_map_get(&g->vars, loop->var);
  const int indent = g->indent;
  Text *outer = tirc_cg_begin_body(g, &g->file->bodies);
  g->indent = 0;
  tirc_text_add(g->out, "\n");
  tirc_src_open(g, "struct %s__loop%d {", func, number);
  for (int k = 0; k < f->n; k++) tirc_src_line(g, "%s%s;", f->at[k].type, f->at[k].name);
  if (first) tirc_src_line(g, "%s tirc_first;", type);
  if (leaves) tirc_src_line(g, "_Atomic int *tirc_status;");
  tirc_src_line(g, "const tirc_runtime *tirc_rt;");
  g->indent--;
  tirc_src_line(g, "};");
  tirc_src_open(g, "static %svoid %s__body%d(int64_t tirc_i, void *tirc_p) {",
                g->file->rounds ? "TIRC_ROUNDS " : "", func, number);
  const bool needs = f->n || first || leaves || uses_rt;
  if (needs) tirc_src_line(g, "const struct %s__loop%d *tirc_k = tirc_p;", func, number);
  if (!needs) tirc_src_line(g, "(void)tirc_p;");
  if (uses_rt) tirc_src_line(g, "const tirc_runtime *tirc_rt = tirc_k->tirc_rt;");
  for (int k = 0; k < f->n; k++)
    tirc_src_line(g, "%s%s = tirc_k->%s;", f->at[k].own, f->at[k].name, f->at[k].name);
  if (i->used)
    tirc_src_line(g, "const %s %s = (%s)(%stirc_i);", type, i->s, type,
                  first ? "tirc_k->tirc_first + " : "");
  else
    tirc_src_line(g, "(void)tirc_i;");
  tirc_cg_end_body(g, &g->file->bodies, body);
  tirc_src_close(g);
  g->out = outer;
  g->indent = indent;
}

static void put_call(Gen *g, int number, const For *loop, const Fields *f, const char *first,
                     const char *n, const char *clauses, bool leaves) {
  const char *func = g->file->func;
  tirc_src_open(g, "{");
  if (leaves) tirc_src_line(g, "_Atomic int tirc_status = 0;");
  tirc_src_open(g, "struct %s__loop%d tirc_loop = {", func, number);
  for (int k = 0; k < f->n; k++) tirc_src_line(g, "%s,", f->at[k].value);
  if (first) tirc_src_line(g, "%s,", first);
  if (leaves) tirc_src_line(g, "&tirc_status,");
  tirc_src_line(g, "tirc_rt,");
  g->indent--;
  tirc_src_line(g, "};");
  tirc_src_line(g, "const int64_t tirc_n = %s;", n);
  const int64_t least = tirc_loop_number(loop, KEY_PARALLEL_FROM);
  tirc_src_open(g, "if (tirc_rt && tirc_rt->parallel_for%s) {",
                least > 1 ? tirc_format(g->c, " && tirc_n >= %lld", (long long)least) : "");
  tirc_src_line(g, "if (tirc_n > 0)");
  tirc_src_line(g, "  tirc_rt->parallel_for(tirc_rt->self, tirc_n, %s__body%d, &tirc_loop, %lld);",
                func, number, (long long)tirc_loop_number(loop, KEY_PARALLEL_CHUNKS));
  g->indent--;
  tirc_src_open(g, "} else {");
  tirc_text_addf(g->out, "#ifdef _OPENMP\n#pragma omp parallel for %s\n#endif\n", clauses);
  tirc_src_line(g, "for (int64_t tirc_i = 0; tirc_i < tirc_n; tirc_i++)");
  tirc_src_line(g, "  %s__body%d(tirc_i, &tirc_loop);", func, number);
  tirc_src_close(g);
  if (leaves) tirc_cg_leave_if(g, "tirc_status", "tirc_status");
  tirc_src_close(g);
}

void tirc_cg_parallel(Gen *g, const For *loop, const char *first, const char *n,
                      const char *clauses) {
  CFile *file = g->file;
  const CFile was = *file;
  const int number = file->n_parallel++, indent = g->indent, mark = g->taken.n;
  const Capture k = captures(g, loop->body);
  bool *used = tirc_new_array(g->c, bool, k.vars.n + 1);
  for (int i = 0; i < k.vars.n; i++) {
    Name *name = tirc_map_get(&g->vars, k.vars.at[i]);
    used[i] = name->used;
    name->used = false;
  }
  tirc_src_put_ahead(g);
  Text body = {.c = g->c}, *outer = tirc_cg_begin_body(g, &body);
  g->indent = 1;
  file->in_parallel = true;
  file->leaves = file->uses_rt = file->uses_zero = false;
  file->held = NULL;
  (void)tirc_src_declare(g, loop->var, loop->var->u.s);
  tirc_src_stmt(g, loop->body);
  g->out = outer;
  g->indent = indent;
  const bool leaves = file->leaves, uses_rt = file->uses_rt;
  if (file->uses_zero) {
    Text with = {.c = g->c};
    tirc_text_addf(&with, "  volatile int64_t tirc_zero = 0;\n%s", body.at);
    body = with;
  }
  file->in_parallel = was.in_parallel;
  file->leaves = was.leaves;
  file->held = was.held;
  file->uses_rt = was.uses_rt;
  file->uses_zero = was.uses_zero;
  const Fields f = fields_of(g, &k, used);
  put_body(g, number, loop, &f, first, &body, leaves, uses_rt);
  g->taken.n = mark;
  put_call(g, number, loop, &f, first, n, clauses, leaves);
}
