/* A whole source: the kernels first, into a text of their own, because only they know which helpers
 * have to stand in front of them. */
#include "gen.h"
#include "ir/tree/annotations.h"
#include "ir/tree/print.h"

/* --- what is known of a kernel --------------------------------------------------------------- */

typedef struct Facts {
  Tirc *c;
  Kernel *k;
  PtrMap touched, twice, written; /* data variables: by a place, by several, by a store */
} Facts;

static void touch(Facts *f, Expr data) {
  tirc_map_set(f->c, tirc_map_has(&f->touched, data) ? &f->twice : &f->touched, data, data);
}

static bool find_load(Visitor *v, Expr e) {
  Facts *f = v->self;
  Atomic a;
  if (tirc_atomic(e, &a)) tirc_map_set(f->c, &f->written, a.place->u.buffer->data, e->args[0]);
  if (e->op == OP_LOAD) touch(v->self, e->u.buffer->data);
  return true;
}

static bool find_stmt(Visitor *v, Stmt s) {
  Facts *f = v->self;
  if (s->kind == STMT_STORE) {
    touch(f, s->u.store.buffer->data);
    tirc_map_set(f->c, &f->written, s->u.store.buffer->data, s);
  }
  if (s->kind == STMT_FOR && (int)s->u.loop.axis < GPU_AXES) {
    f->k->extents[s->u.loop.axis] = s->u.loop.extent;
    tirc_gpu_blocks_at_once(&s->u.loop, &f->k->blocks_at_once);
  }
  return true;
}

Kernel tirc_gpu_kernel(Tirc *c, const Func *f, const char *name) {
  Kernel k = {.f = f, .name = name};
  Facts facts = {.c = c, .k = &k};
  tirc_visit_stmt(&(Visitor){.stmt = find_stmt, .expr = find_load, .self = &facts}, f->body);
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i] && tirc_map_has(&facts.twice, f->buffers[i]->data) &&
        tirc_map_has(&facts.written, f->buffers[i]->data))
      k.shares_global = true;
  return k;
}

/* --- a kernel -------------------------------------------------------------------------------- */

/* "4 x 8": of the axes from `first` on, x first. */
static const char *extents(Gen *g, int first) {
  Text t = {.c = g->c};
  for (int a = first; a < first + 3; a++)
    if (g->kernels->k->extents[a])
      tirc_text_addf(&t, "%s%s", t.n ? " x " : "",
                     tirc_print_expr(g->c, g->kernels->k->extents[a]));
  return t.n ? t.at : "1";
}

static void describe(Gen *g) {
  const int64_t shared = tirc_gpu_shared_bytes(g->kernels->k->f);
  Text t = {.c = g->c};
  const char *blocks = extents(g, 0), *threads = extents(g, 3);
  tirc_text_addf(&t, "%s: %s block%s of %s thread%s", g->kernels->k->name, blocks,
                 strcmp(blocks, "1") ? "s" : "", threads, strcmp(threads, "1") ? "s" : "");
  if (shared > 0) tirc_text_addf(&t, "; %lld bytes of shared memory a block", (long long)shared);
  tirc_text_addf(g->out, "\n/* %s. */\n", t.at);
}

static const char *head(const Gen *g) {
  int64_t threads[3] = {1, 1, 1};
  for (int i = 0; i < 3; i++)
    if (g->kernels->k->extents[3 + i] &&
        !tirc_const_int(g->kernels->k->extents[3 + i], &threads[i]))
      return g->l->kernel(g->c, NULL, 0, g->is_header);
  return g->l->kernel(g->c, threads, g->kernels->k->blocks_at_once, g->is_header);
}

void tirc_gpu_begin(Gen *g, const Kernel *k) {
  g->kernels->k = k;
  g->loc = k->f->loc;
  g->taken.n = 0;
  vec_push(g->c, g->taken, k->name);
  g->note = NULL;
  g->kernels->dynamic_bytes = 0;
}

static void write_kernel(Gen *g, const Kernel *k) {
  Signature s = tirc_signature(g->c, k->f);
  Text params = {.c = g->c};
  tirc_gpu_begin(g, k);
  if (s.n != k->f->n_params)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL,
              "the kernel %s uses %s, which is not one of its parameters", k->name,
              s.params[k->f->n_params].var->u.s);
  for (int i = 0; i < s.n; i++) {
    tirc_text_add(&params, i ? ",\n    " : "");
    (void)tirc_src_param(g, &params, &s.params[i]);
  }
  describe(g);
  tirc_src_open(g, "%s %s(%s%s) {", head(g), k->name, s.n ? "\n    " : "",
                s.n ? params.at : "void");
  tirc_gpu_find_fragments(g, k->f->body);
  tirc_gpu_declare_shared(g, k->f->body);
  tirc_src_stmt(g, k->f->body);
  tirc_src_close(g);
}

/* The kernels of the module, and in a header what launches them. */
static void write_functions(Gen *g) {
  for (int i = 0; i < g->kernels->module->n_funcs; i++) {
    if (!g->kernels->symbols[i]) continue;
    const Kernel k = tirc_gpu_kernel(g->c, g->kernels->module->funcs[i], g->kernels->symbols[i]);
    write_kernel(g, &k);
    if (g->is_header) tirc_gpu_write_geometry(g, &k);
  }
  if (!g->out->n)
    tirc_fail(g->c, (Loc){g->kernels->module->file, 0, 0}, CODE_CODEGEN,
              "bind its loops: sch.bind(loop=i, thread_axis=\"blockIdx.x\")",
              "the program has no loop that is bound to threads, so there is no kernel");
  if (g->is_header) tirc_gpu_write_launchers(g);
}

const char *const *tirc_gpu_symbols(Tirc *c, const Language *l, const Module *m) {
  const char *const *names = tirc_symbols(c, m);
  const char **at = tirc_new_array(c, const char *, m->n_funcs + 1);
  for (int i = 0; i < m->n_funcs; i++)
    if (tirc_is_kernel(m->funcs[i]))
      at[i] = tirc_src_reserves(l, names[i]) ? tirc_format(c, "%s_kernel", names[i]) : names[i];
  return at;
}

static const char *source(Gen *g, const Module *scheduled) {
  Tirc *c = g->c;
  Text functions = {.c = c}, t = {.c = c}, helpers = {.c = c};
  BlockNotes *notes = tirc_notes(c, NULL);
  g->out = &functions;
  g->notes = notes;
  g->kernels->symbols = tirc_gpu_symbols(c, g->l, g->kernels->module);
  for (int i = 0; scheduled && scheduled != g->kernels->module && i < scheduled->n_funcs; i++)
    tirc_notes_add(notes, scheduled->funcs[i]);
  write_functions(g);
  g->kernels->k = NULL; /* helpers are of all kernels */
  tirc_src_write_helpers(g, &helpers);
  tirc_text_addf(&t, "/* Made by tirc: %s. */\n", g->l->name);
  if (g->is_header)
    tirc_text_addf(&t, "#ifndef %s\n#define %s\n", tirc_gpu_guard(g), tirc_gpu_guard(g));
  if (g->uses_double) tirc_text_add(&t, g->l->doubles);
  tirc_src_write_own(g, &t, tirc_format(c, "%s%s", helpers.n ? helpers.at : "", functions.at));
  if (helpers.n) tirc_text_add(&t, helpers.at);
  tirc_text_add(&t, functions.at);
  if (g->is_header) tirc_text_add(&t, "\n#endif\n");
  return t.at;
}

const char *tirc_gpu_source(Tirc *c, const Language *l, const Module *m, const Module *scheduled) {
  Kernels kernels = {.module = m};
  Gen g = {.c = c, .l = l, .kernels = &kernels};
  return source(&g, scheduled);
}

const char *tirc_gpu_header(Tirc *c, const Module *m, const Module *scheduled) {
  Kernels kernels = {.module = m};
  Gen g = {.c = c, .l = &tirc_cuda_c, .kernels = &kernels, .is_header = true};
  return source(&g, scheduled);
}
