/* A header for a program in CUDA C++: the kernels, the geometry of their launches as constants
 * where it is known, and for each host function a launcher that does what it does on a stream. */
#include "codegen/symbols.h"
#include "gen.h"
#include "ir/tree/annotations.h"
#include "ir/tree/find.h"

/* --- the geometry ---------------------------------------------------------------------------- */

void tirc_gpu_write_geometry(Gen *g, const Kernel *k) {
  static const char *const names[GPU_AXES] = {"blocks_x",  "blocks_y",  "blocks_z",
                                              "threads_x", "threads_y", "threads_z"};
  Text t = {.c = g->c};
  for (int a = 0; a < GPU_AXES; a++) {
    int64_t n = 1;
    if (!k->extents[a] || tirc_const_int(k->extents[a], &n))
      tirc_text_addf(&t, "  %s_%s = %lld,\n", k->name, names[a], (long long)n);
  }
  tirc_text_addf(&t, "  %s_dynamic_bytes = %lld /* of shared memory */\n", k->name,
                 (long long)tirc_gpu_dynamic_bytes(k->f));
  tirc_text_addf(g->out, "\n/* How %s is launched. */\nenum {\n%s};\n", k->name, t.at);
}

/* --- statements of a host function ----------------------------------------------------------- */

_Noreturn static void refuse(Gen *g, const char *what) {
  tirc_fail(g->c, g->loc, CODE_CODEGEN, "bind its loops to blocks and threads",
            "a launcher can only launch kernels, but %s %s", g->kernels->k->name, what);
}

static bool is_launch(const void *unused, Expr e) { return (void)unused, tirc_is_launch(e); }

static const char *argument(Gen *g, Expr e, const Func *kernel, int i) {
  const Name *name = tirc_map_get(&g->vars, e);
  if (!kernel->buffers[i])
    return tirc_src_operand_as(g, e, kernel->params[i]->dtype, &tirc_src_first).s;
  if (!name) refuse(g, "passes one of them something other than an array");
  return name->s;
}

static const char *dim3_of(Gen *g, Expr const *extents) {
  Text t = {.c = g->c};
  for (int i = 0; i < 3; i++)
    tirc_text_addf(&t, "%s%s", i ? ", " : "",
                   extents[i] ? tirc_src_index(g, extents[i], &tirc_src_first).s : "1");
  return tirc_format(g->c, "dim3(%s)", t.at);
}

/* CUDA refuses a launch of no blocks. */
static const char *not_empty(Gen *g, Expr const *extents) {
  Text t = {.c = g->c};
  int64_t n;
  for (int i = 0; i < GPU_AXES; i++)
    if (extents[i] && !tirc_const_int(extents[i], &n))
      tirc_text_addf(&t, " && (%s) > 0", tirc_src_index(g, extents[i], &tirc_src_first).s);
  return t.n ? t.at : "";
}

static int kernel_of(Gen *g, Expr launch) {
  const int number = tirc_kernel_number(g->kernels->module, launch->args[0]->u.s);
  if (number < 0) refuse(g, "calls something else");
  return number;
}

static void launch(Gen *g, Expr e) {
  Expr extents[GPU_AXES] = {NULL};
  Text args = {.c = g->c};
  if (!tirc_is_launch(e)) refuse(g, "also does something else");
  const int number = kernel_of(g, e);
  const char *symbol = g->kernels->symbols[number];
  const Func *k = g->kernels->module->funcs[number];
  const int n_axes = tirc_n_launch_params(k);
  if (e->n != 1 + k->n_params + n_axes) refuse(g, "launches one with too few values");
  for (int i = 0; i < n_axes; i++) {
    const int axis = (int)tirc_gpu_axis(tirc_launch_param(k, i));
    if (axis >= GPU_AXES) refuse(g, "launches one over an axis that does not exist");
    extents[axis] = e->args[1 + k->n_params + i];
  }
  for (int i = 0; i < k->n_params; i++)
    tirc_text_addf(&args, "%s%s", i ? ", " : "", argument(g, e->args[1 + i], k, i));
  const int64_t dynamic = tirc_gpu_dynamic_bytes(k);
  if (dynamic > 0)
    tirc_src_line(g,
                  "if (!error) error = cudaFuncSetAttribute((const void *)%s, "
                  "cudaFuncAttributeMaxDynamicSharedMemorySize, %lld);",
                  symbol, (long long)dynamic);
  tirc_src_line(g, "if (!error%s) %s<<<%s, %s, %lld, stream>>>(%s);", not_empty(g, extents), symbol,
                dim3_of(g, extents), dim3_of(g, extents + GPU_BLOCK_AXES), (long long)dynamic,
                args.n ? args.at : "");
  tirc_src_line(g, "if (!error) error = cudaGetLastError();");
}

/* Memory that lives as long as the launches on this stream need it. */
static void allocate(Gen *g, Stmt s) {
  Buffer b = s->u.alloc.buffer;
  const DType t = tirc_dtype_lanes(b->dtype, 1);
  Name *name = tirc_src_declare(g, b->data, b->name);
  const char *type = tirc_src_memory_type(g, t);
  Text n = {.c = g->c};
  name->element = t;
  name->space = "";
  tirc_text_addf(&n, "sizeof(%s)", type);
  for (int i = 0; i < b->ndim; i++)
    tirc_text_addf(&n, " * (%s)", tirc_src_index(g, b->shape[i], &tirc_src_first).s);
  tirc_src_line(g, "%s *%s = nullptr;", type, name->s);
  tirc_src_line(g, "if (!error) error = cudaMallocAsync((void **)&%s, %s, stream);", name->s, n.at);
  tirc_src_stmt(g, s->u.alloc.body);
  tirc_src_line(g, "if (%s) (void)cudaFreeAsync(%s, stream);", name->s, name->s);
}

bool tirc_gpu_host_stmt(Gen *g, Stmt s) {
  switch (s->kind) {
  case STMT_EVAL:
    if (s->u.eval.value->op != OP_INT && s->u.eval.value->op != OP_STRING)
      launch(g, s->u.eval.value);
    return true;
  case STMT_ALLOC: allocate(g, s); return true;
  case STMT_DECL: tirc_src_stmt(g, s->u.alloc.body); return true; /* a view is its data */
  case STMT_ASSERT:
    /* no return: what is allocated around it is freed */
    tirc_src_line(g, "if (!error && !(%s)) error = cudaErrorInvalidValue;",
                  tirc_src_operand_as(g, s->u.check.cond, DT_BOOL, &tirc_src_first).s);
    tirc_src_open(g, "if (!error) {");
    tirc_src_stmt(g, s->u.check.body);
    tirc_src_close(g);
    return true;
  case STMT_STORE: refuse(g, "computes, too");
  case STMT_FOR:
    if (s->u.loop.kind == LOOP_THREAD_BINDING) refuse(g, "has a loop of threads");
    return false;
  default: return false;
  }
}

/* What its kernels write; it stores nothing itself. */
typedef struct Written {
  Gen *g;
  PtrMap handles;
} Written;

static bool find_written(Visitor *v, Expr e) {
  Written *w = v->self;
  if (!tirc_is_launch(e)) return true;
  const Signature s = tirc_signature(w->g->c, w->g->kernels->module->funcs[kernel_of(w->g, e)]);
  for (int i = 0; i < s.n && i + 1 < e->n; i++)
    if (s.params[i].is_written) tirc_map_set(w->g->c, &w->handles, e->args[1 + i], e);
  return false;
}

static void write_launcher(Gen *g, const Func *f, const char *symbol) {
  Signature s = tirc_signature(g->c, f);
  const Kernel as_kernel = {.f = f, .name = tirc_format(g->c, "%s_launch", symbol)};
  Text params = {.c = g->c};
  tirc_gpu_begin(g, &as_kernel);
  Written w = {.g = g};
  tirc_visit_stmt(&(Visitor){.expr = find_written, .self = &w}, f->body);
  for (int i = 0; i < s.n; i++) {
    Param *p = &s.params[i];
    p->is_written = p->buffer &&
                    (tirc_map_has(&w.handles, p->buffer->data) || tirc_map_has(&w.handles, p->var));
    (void)tirc_src_param(g, &params, &s.params[i]);
    if (s.params[i].buffer) /* launches name an array by its handle, too */
      tirc_map_set(g->c, &g->vars, s.params[i].var,
                   tirc_map_get(&g->vars, s.params[i].buffer->data));
    tirc_text_add(&params, ",\n    ");
  }
  (void)tirc_src_name(g, "stream");
  (void)tirc_src_name(g, "error");
  tirc_text_addf(g->out, "\n/* Begins %s on a stream; arrays are on the device. */\n", f->name);
  tirc_src_open(g, "static inline cudaError_t %s(\n    %scudaStream_t stream = 0) {",
                as_kernel.name, params.n ? params.at : "");
  tirc_src_line(g, "cudaError_t error = cudaSuccess;");
  g->kernels->on_host = true;
  tirc_src_stmt(g, f->body);
  g->kernels->on_host = false;
  tirc_src_line(g, "return error;");
  tirc_src_close(g);
}

void tirc_gpu_write_launchers(Gen *g) {
  const char *const *names = tirc_symbols(g->c, g->kernels->module);
  for (int i = 0; i < g->kernels->module->n_funcs; i++)
    if (!g->kernels->symbols[i] &&
        tirc_find_expr_in(g->kernels->module->funcs[i]->body, is_launch, NULL))
      write_launcher(g, g->kernels->module->funcs[i], names[i]);
}

const char *tirc_gpu_guard(Gen *g) {
  const char *const *names = tirc_symbols(g->c, g->kernels->module);
  char *guard = tirc_strdup(g->c, tirc_format(g->c, "TIRC_%s_CUDA_H", names[0]));
  for (char *p = guard; *p; p++)
    if (*p >= 'a' && *p <= 'z') *p = (char)(*p - 'a' + 'A');
  return guard;
}
