/* What a program is: its functions, parameters and cost; and the library's tables. */
#include "api.h"
#include "passes/search/estimate.h"

#include "passes/script/library.h"

#include "codegen/llvm/llvm.h"
#include "ir/tree/graph.h"
#include "ir/tree/visit.h"
#include "passes/lower/lower.h"
#include "passes/schedule/schedule.h"
#include "passes/words/docs.h"

int tirc_module_functions(const tirc_module *m) { return m ? m->m->n_funcs : 0; }
const char *tirc_module_function(const tirc_module *m, int i) {
  return m && i >= 0 && i < m->m->n_funcs ? m->m->funcs[i]->name : NULL;
}

bool tirc_module_constant(const tirc_module *m, int i, const char **name, int64_t *value,
                          bool *is_int) {
  if (!m || !name || !value || !is_int || i < 0 || i >= m->m->n_constants) return false;
  *name = m->m->constants[i].name;
  *is_int = tirc_const_int(m->m->constants[i].value, value);
  return true;
}

typedef struct AskedInfo {
  const tirc_module *m;
  const char *func;
  int at; /* its number in the module */
  tirc_cost cost;
  int threads;
  double cycles;
} AskedInfo;

typedef struct Written {
  Tirc *c;
  const Module *m;
  PtrMap data; /* data variables of the buffers that are stored to */
} Written;

static bool mark_written(Visitor *v, Stmt s);

/* What a kernel stores to, of what the host hands it. */
static void mark_launched(Written *w, Expr call) {
  const int number = tirc_kernel_number(w->m, call->args[0]->u.s);
  if (number < 0) return;
  const Func *f = w->m->funcs[number];
  Written own = {.c = w->c, .m = w->m};
  tirc_visit_stmt(&(Visitor){.stmt = mark_written, .self = &own}, f->body);
  for (int p = 0; p < f->n_params && p + 1 < call->n; p++)
    if (f->buffers[p] && tirc_map_has(&own.data, f->buffers[p]->data))
      tirc_map_set(w->c, &w->data, call->args[p + 1], f);
}

static bool mark_written(Visitor *v, Stmt s) {
  Written *w = v->self;
  if (s->kind == STMT_EVAL && tirc_is_launch(s->u.eval.value)) mark_launched(w, s->u.eval.value);
  if (s->kind == STMT_STORE) tirc_map_set(w->c, &w->data, s->u.store.buffer->data, s);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_writes; i++)
    tirc_map_set(w->c, &w->data, s->u.block.writes[i].buffer->data, s);
  return true;
}

static void describe_shape(Tirc *c, Buffer b, tirc_param *out) {
  int64_t *shape = tirc_new_array(c, int64_t, b->ndim);
  const char **symbol = tirc_new_array(c, const char *, b->ndim);
  for (int d = 0; d < b->ndim; d++) {
    if (tirc_const_int(b->shape[d], &shape[d])) continue;
    shape[d] = -1;
    if (b->shape[d]->op == OP_VAR) symbol[d] = b->shape[d]->u.s;
  }
  out->ndim = b->ndim;
  out->shape = shape;
  out->symbol = symbol;
}

tirc_param *tirc_api_params(Tirc *c, const Module *m, const Func *f) {
  Written w = {.c = c, .m = m};
  Visitor v = {.stmt = mark_written, .self = &w};
  tirc_visit_stmt(&v, f->body);
  tirc_param *params = tirc_new_array(c, tirc_param, f->n_params);
  for (int i = 0; i < f->n_params; i++) {
    Buffer b = f->buffers[i];
    params[i] = (tirc_param){.name = b ? b->name : f->params[i]->u.s, .is_array = b != NULL};
    params[i].in_file = tirc_name_in_file(f->attrs, params[i].name);
    params[i].dtype = tirc_dtype_name(c, b ? b->dtype : f->params[i]->dtype);
    if (!b) continue;
    describe_shape(c, b, &params[i]);
    params[i].is_written = tirc_map_has(&w.data, b->data);
  }
  return params;
}

static void find(Tirc *c, void *self) {
  AskedInfo *p = self;
  (void)tirc_api_func(c, p->m->m, p->func, &p->at);
}
tirc_status tirc_module_params(const tirc_module *m, const char *func, int *n,
                               const tirc_param **params, tirc_error **error) {
  NEED(m, n, params);
  AskedInfo p = {.m = m, .func = func};
  tirc_status status = tirc_api_scratch(find, &p, &m->sources, error);
  if (status != TIRC_OK) return status;
  *n = m->m->funcs[p.at]->n_params;
  *params = m->params[p.at];
  return status;
}

tirc_symbol *tirc_api_symbols(Tirc *c, const Func *f, int *n) {
  Expr *vars;
  *n = tirc_symbolic_params(c, f, &vars);
  tirc_symbol *symbols = tirc_new_array(c, tirc_symbol, *n + 1);
  for (int i = 0; i < *n; i++)
    symbols[i] =
        (tirc_symbol){.name = vars[i]->u.s, .in_file = tirc_name_in_file(f->attrs, vars[i]->u.s)};
  return symbols;
}

tirc_status tirc_module_symbols(const tirc_module *m, const char *func, int *n,
                                const tirc_symbol **symbols, tirc_error **error) {
  NEED(m, n, symbols);
  AskedInfo p = {.m = m, .func = func};
  tirc_status status = tirc_api_scratch(find, &p, &m->sources, error);
  if (status != TIRC_OK) return status;
  *n = m->n_symbols[p.at];
  *symbols = m->symbols[p.at];
  return status;
}

typedef struct AskedShape {
  const tirc_module *m;
  const char *func;
  int n, n_symbols, param;
  const tirc_argument *args;
  tirc_symbol *symbols;
  int64_t *shape;
  const tirc_array *from; /* of an array in the layout */
  bool wants_array;
  tirc_array *array;
} AskedShape;

/* Its elements, one after the other, to where the layout has them. */
static void lay_out(const Tensor *from, Tensor *to, int d, int64_t *next, int64_t at,
                    const int64_t *strides) {
  const size_t bytes = (size_t)tirc_dtype_bytes(from->dtype);
  if (d == from->ndim) {
    memcpy((char *)to->data + (size_t)at * bytes, (char *)from->data + (size_t)*next * bytes,
           bytes);
    ++*next;
    return;
  }
  for (int64_t i = 0; i < from->shape[d]; i++)
    lay_out(from, to, d + 1, next, at + i * strides[d], strides);
}

static bool has_shape(const Tensor *t, int ndim, const int64_t *shape) {
  bool same = t->ndim == ndim && !t->strides;
  for (int d = 0; d < ndim && same; d++) same = t->shape[d] == shape[d];
  return same;
}

/* The value of an extent of this name: of a symbol, a scalar, or an array that is there. */
static bool extent_of(const AskedShape *p, const Func *f, const Argument *args,
                      const Symbol *symbols, const char *name, int64_t *out) {
  for (int i = 0; i < p->n_symbols; i++)
    if (symbols[i].is_known && !strcmp(symbols[i].name, name)) return *out = symbols[i].value, true;
  for (int i = 0; i < f->n_params; i++) {
    const Buffer b = f->buffers[i];
    if (!b && !strcmp(f->params[i]->u.s, name)) return *out = args[i].i, true;
    for (int d = 0; b && args[i].tensor && d < b->ndim && d < args[i].tensor->ndim; d++)
      if (b->shape[d]->op == OP_VAR && !strcmp(b->shape[d]->u.s, name))
        return *out = args[i].tensor->shape[d], true;
  }
  return false;
}

/* Of indices: what random ones are drawn from. */
static void note_range(const AskedShape *p, const Func *f, const Argument *args,
                       const Symbol *symbols) {
  int64_t first, end;
  Expr e;
  if (!tirc_index_range(f->attrs, p->param, &first, &e)) return;
  const bool known =
      e->op == OP_STRING ? extent_of(p, f, args, symbols, e->u.s, &end) : tirc_const_int(e, &end);
  if (!known || first >= end) return;
  p->array->is_index = true;
  p->array->first = first;
  p->array->last = end - 1;
  const DType t = f->buffers[p->param]->dtype;
  if (tirc_dtype_is_int(t) && p->array->last > tirc_dtype_max(t))
    p->array->last = tirc_dtype_max(t);
}

static void make_array(Tirc *c, AskedShape *p, const Func *f, const Argument *args,
                       Symbol *symbols) {
  const Buffer b = f->buffers[p->param];
  int64_t shape[TENSOR_MAX_NDIM], strides[TENSOR_MAX_NDIM], offset, count = 1, next = 0;
  if (b->ndim > TENSOR_MAX_NDIM)
    tirc_fail(c, f->loc, CODE_SHAPE, NULL, "an array has at most %d dimensions", TENSOR_MAX_NDIM);
  const int64_t elements =
      tirc_find_layout(c, f, p->n, args, p->n_symbols, symbols, p->param, shape, strides, &offset);
  for (int d = 0; d < b->ndim; d++)
    if (__builtin_mul_overflow(count, shape[d], &count)) count = INT64_MAX;
  const bool flat = elements != count || offset;
  const bool fits = p->from && tirc_dtype_equal(p->from->t->dtype, b->dtype) &&
                    has_shape(p->from->t, b->ndim, shape);
  if (p->from &&
      (!fits || !flat)) { /* as it is; of one that does not fit a call says what is wrong */
    p->array = tirc_api_array(c, tirc_tensor_clone_at(c, p->from->t, b->align));
    return;
  }
  p->array = tirc_api_array(
      c, tirc_tensor_new_at(c, b->dtype, flat ? 1 : b->ndim, flat ? &elements : shape, b->align));
  note_range(p, f, args, symbols);
  if (fits && p->from->t->bytes) lay_out(p->from->t, p->array->t, 0, &next, offset, strides);
}

static void find_shape(Tirc *c, void *self) {
  AskedShape *p = self;
  if (p->param >= 0 && !p->shape && !p->wants_array) tirc_api_name(c, NULL);
  const Func *f = tirc_api_func(c, p->m->m, p->func, NULL);
  if (p->n != f->n_params)
    tirc_fail(c, f->loc, CODE_ARGUMENT, NULL, "%s takes %d arguments, not %d", f->name, f->n_params,
              p->n);
  if (p->param >= 0 && p->param < p->n && !f->buffers[p->param])
    tirc_fail(c, f->loc, CODE_ARGUMENT, NULL,
              "the parameter \"%s\" of %s is a scalar, not an array", f->params[p->param]->u.s,
              f->name);
  if (p->param >= p->n)
    tirc_fail(c, f->loc, CODE_ARGUMENT, NULL, "%s has no array parameter number %d", f->name,
              p->param);
  Symbol *symbols = tirc_new_array(c, Symbol, p->n_symbols);
  for (int i = 0; i < p->n_symbols; i++)
    symbols[i] =
        (Symbol){tirc_api_name(c, p->symbols[i].name), p->symbols[i].value, p->symbols[i].is_known};
  const Argument *args = tirc_api_arguments(c, f, p->n, p->args);
  if (p->wants_array)
    make_array(c, p, f, args, symbols);
  else
    tirc_find_shape(c, f, p->n, args, p->n_symbols, symbols, p->param, p->shape);
  for (int i = 0; i < p->n_symbols; i++) {
    p->symbols[i].value = symbols[i].value;
    p->symbols[i].is_known = symbols[i].is_known;
  }
}
tirc_status tirc_module_shape(const tirc_module *m, const char *func, int n,
                              const tirc_argument *args, int n_symbols, tirc_symbol *symbols,
                              int param, int64_t *shape, tirc_error **error) {
  NEED(m, LIST(n, args), LIST(n_symbols, symbols));
  AskedShape p = {.m = m,
                  .func = func,
                  .n = n,
                  .n_symbols = n_symbols,
                  .param = param,
                  .args = args,
                  .symbols = symbols,
                  .shape = shape};
  return tirc_api_scratch(find_shape, &p, &m->sources, error);
}

tirc_status tirc_module_array(const tirc_module *m, const char *func, int n,
                              const tirc_argument *args, int n_symbols, tirc_symbol *symbols,
                              int param, const tirc_array *from, tirc_array **out,
                              tirc_error **error) {
  NEED(m, LIST(n, args), LIST(n_symbols, symbols), COUNT(param), out);
  AskedShape p = {.m = m,
                  .func = func,
                  .n = n,
                  .n_symbols = n_symbols,
                  .param = param,
                  .args = args,
                  .symbols = symbols,
                  .from = from,
                  .wants_array = true};
  const tirc_status status = tirc_api_scratch(find_shape, &p, &m->sources, error);
  if (status == TIRC_OK) *out = p.array;
  return status;
}

static void cost(Tirc *c, void *self) {
  AskedInfo *p = self;
  tirc_count_cost(c, tirc_api_func(c, p->m->m, p->func, NULL), &p->cost, NULL);
}
tirc_status tirc_module_cost(const tirc_module *m, const char *func, tirc_cost *out,
                             tirc_error **error) {
  NEED(m, out);
  AskedInfo p = {.m = m, .func = func};
  tirc_status status = tirc_api_scratch(cost, &p, &m->sources, error);
  if (status == TIRC_OK) *out = p.cost;
  return status;
}

typedef struct CallCost {
  const tirc_module *m;
  const char *func;
  int n;
  const tirc_argument *args;
  tirc_cost cost;
  IntegerWork integers;
} CallCost;

const Func *tirc_api_with_sizes(Tirc *c, const Func *f, int n, const tirc_argument *args) {
  Expr *symbols;
  const int n_symbols = tirc_symbolic_params(c, f, &symbols);
  int64_t *values = tirc_new_array(c, int64_t, n_symbols + 1);
  tirc_bind_arguments(c, f, n, tirc_api_arguments(c, f, n, args), values);
  PtrMap known = {0};
  for (int i = 0; i < n_symbols; i++)
    tirc_map_set(c, &known, symbols[i],
                 (void *)(uintptr_t)tirc_int(c, symbols[i]->dtype, values[i]));
  for (int i = 0; i < n; i++)
    if (!f->buffers[i] && tirc_dtype_is_int(f->params[i]->dtype))
      tirc_map_set(c, &known, f->params[i],
                   (void *)(uintptr_t)tirc_int_of_bits(c, f->params[i]->dtype, args[i].i));
  return tirc_func_with_body(c, f, tirc_substitute_stmt(c, f->body, &known));
}

static void call_cost(Tirc *c, void *self) {
  CallCost *p = self;
  const Func *f = tirc_api_func(c, p->m->m, p->func, NULL);
  tirc_count_cost(c, tirc_api_with_sizes(c, f, p->n, p->args), &p->cost, &p->integers);
}
tirc_status tirc_module_call_cost(const tirc_module *m, const char *func, int n,
                                  const tirc_argument *args, tirc_cost *out, tirc_error **error) {
  NEED(m, LIST(n, args), out);
  CallCost p = {.m = m, .func = func, .n = n, .args = args};
  tirc_status status = tirc_api_scratch(call_cost, &p, &m->sources, error);
  if (status == TIRC_OK) *out = p.cost;
  return status;
}

tirc_status tirc_module_call_integers(const tirc_module *m, const char *func, int n,
                                      const tirc_argument *args, double *operations, int *bits,
                                      tirc_error **error) {
  NEED(m, LIST(n, args), operations, bits);
  CallCost p = {.m = m, .func = func, .n = n, .args = args};
  tirc_status status = tirc_api_scratch(call_cost, &p, &m->sources, error);
  if (status == TIRC_OK) *operations = p.integers.operations, *bits = p.integers.bits;
  return status;
}

#define CACHES_OF "znver3" /* whose figures the header gives */

static void estimate(Tirc *c, void *self) {
  AskedInfo *p = self;
  if (p->threads < 1)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "%d is not a possible number of threads",
              p->threads);
  p->cycles = tirc_estimate_cycles(c, tirc_api_func(c, p->m->m, p->func, NULL),
                                   tirc_cpu_find(CACHES_OF), p->threads);
}
tirc_status tirc_module_estimate(const tirc_module *m, const char *func, int threads,
                                 double *cycles, tirc_error **error) {
  NEED(m, cycles);
  AskedInfo p = {.m = m, .func = func, .threads = threads};
  tirc_status status = tirc_api_scratch(estimate, &p, &m->sources, error);
  if (status == TIRC_OK) *cycles = p.cycles;
  return status;
}

/* --- tables ----------------------------------------------------------------------------------- */

bool tirc_error_table(int i, tirc_error_info *out) {
  if (!out || i < 0 || i >= SERR_COUNT) return false;
  const CodeInfo *e = &tirc_codes[i];
  *out = (tirc_error_info){e->text, e->meaning, e->hint, (tirc_status)e->status};
  return true;
}
bool tirc_primitive_table(int i, tirc_primitive_info *out) {
  if (!out || i < 0 || i >= tirc_n_primitives) return false;
  const Primitive *p = &tirc_primitives[i];
  int star = p->n_params - 1;
  while (star >= 0 && p->params[star].kind != PARAM_LOOPS) star--;
  int named = 0;
  while (named < p->n_params && !p->params[named].keyword_only) named++;
  if (named == p->n_params) named = -1;
  *out = (tirc_primitive_info){p->name, p->help, p->n_params, star, named};
  return true;
}
bool tirc_primitive_param(int i, int k, const char **name, const char **default_text) {
  if (i < 0 || i >= tirc_n_primitives || k < 0 || k >= tirc_primitives[i].n_params) return false;
  if (!name || !default_text) return false;
  *name = tirc_primitives[i].params[k].name;
  *default_text = tirc_primitives[i].params[k].default_text;
  return true;
}
bool tirc_primitive_documentation(int i, tirc_primitive_doc *out) {
  if (!out || i < 0 || i >= tirc_n_primitives) return false;
  const PrimitiveDoc *d = tirc_find_primitive_doc(tirc_primitives[i].name);
  if (!d) return false;
  *out = (tirc_primitive_doc){d->params, d->returns, d->program, d->script, d->needs, d->errors};
  return true;
}
bool tirc_primitive_raises(int i, int k) {
  return i >= 0 && i < tirc_n_primitives && k >= 0 && k < SERR_COUNT &&
         tirc_may_raise(tirc_primitives[i].name, (DiagCode)k);
}
bool tirc_definition_table(int i, tirc_definition_info *out) {
  if (!out || i < 0 || i >= tirc_n_definitions) return false;
  const Definition *d = &tirc_definitions[i];
  *out = (tirc_definition_info){d->name, d->text, d->errors};
  return true;
}
bool tirc_pass_table(int i, const char **name, const char **help) {
  if (!name || !help || i < 0 || i >= tirc_n_passes) return false;
  *name = tirc_passes[i].name;
  *help = tirc_passes[i].help;
  return true;
}

bool tirc_pass_alone_table(int i, const char **name, const char **help, const char **of) {
  const Pass *pass = i < 0 ? NULL : tirc_pass_number(tirc_n_passes + i);
  if (!name || !help || !of || !pass) return false;
  const bool is_pass = pass->run || pass->over_module;
  *name = pass->name;
  *help = is_pass ? pass->help : NULL;
  *of = is_pass ? NULL : pass->help;
  return true;
}

bool tirc_pass_option_table(int i, const char **pass, const char **name, const char **help) {
  const PassOption *option = tirc_pass_option_number(i);
  if (!pass || !name || !help || !option) return false;
  *pass = option->pass;
  *name = option->name;
  *help = option->help;
  return true;
}

static void target_info(const Cpu *cpu, tirc_target_info *out) {
  *out = (tirc_target_info){cpu->name,
                            tirc_cpu_arch_name(cpu),
                            tirc_cpu_isa(cpu),
                            tirc_cpu_vector_bits(cpu),
                            tirc_cpu_vector_registers(cpu),
                            (int64_t)cpu->l1_kib * 1024,
                            (int64_t)cpu->l2_kib * 1024,
                            (int64_t)cpu->l3_kib * 1024};
}
bool tirc_target_table(int i, tirc_target_info *out) {
  const Cpu *cpu = tirc_cpu_number(i);
  if (cpu && out) target_info(cpu, out);
  return cpu && out;
}
typedef struct FindTarget {
  const char *name;
  tirc_target_info *out;
} FindTarget;
static void find_target(Tirc *c, void *self) {
  FindTarget *p = self;
  const Cpu *cpu = tirc_llvm_cpu(c, p->name);
  target_info(cpu, p->out);
  if (cpu->cores) p->out->name = "native"; /* its own name goes with the context */
}
tirc_status tirc_target_find(const char *name, tirc_target_info *out, tirc_error **error) {
  NEED(name, out);
  return tirc_api_scratch(find_target, &(FindTarget){name, out}, &(Sources){0}, error);
}

static void gpu_info(const Gpu *gpu, tirc_gpu_info *out) {
  *out = (tirc_gpu_info){gpu->name,   tirc_gpu_kinds[gpu->kind], gpu->threads,  gpu->warp,
                         gpu->shared, gpu->shared_dyn,           gpu->registers};
}
bool tirc_gpu_table(int i, tirc_gpu_info *out) {
  const Gpu *gpu = tirc_gpu_number(i);
  if (gpu && out) gpu_info(gpu, out);
  return gpu && out;
}
bool tirc_gpu_card_table(int i, const char **card, const char **name) {
  return card && name && tirc_gpu_card(i, card, name);
}
typedef struct FindGpu {
  const char *name;
  bool *found;
  tirc_gpu_info *out;
} FindGpu;
static void find_gpu(Tirc *c, void *self) {
  FindGpu *p = self;
  const Gpu *gpu = tirc_gpu_find(p->name);
  *p->found = gpu != NULL;
  if (gpu) gpu_info(gpu, p->out);
  if (!gpu && tirc_gpu_is_meant(p->name)) tirc_gpu_unknown(c, p->name);
}
tirc_status tirc_gpu_find_target(const char *name, bool *found, tirc_gpu_info *out,
                                 tirc_error **error) {
  NEED(name, found, out);
  return tirc_api_scratch(find_gpu, &(FindGpu){name, found, out}, &(Sources){0}, error);
}

bool tirc_rules_table(int i, const char **name, const char **text) {
  if (i < 0 || i >= tirc_n_rule_libraries) return false;
  if (name) *name = tirc_rule_libraries[i].name;
  if (text) *text = tirc_rule_libraries[i].text;
  return true;
}
