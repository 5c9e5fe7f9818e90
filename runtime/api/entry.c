#include "entry.h"

#include "entry_sizes.h"

#include "products.h"

#include "codegen/hoist.h"
#include "codegen/symbols.h"
#include "ir/arith/arith.h"
#include "ir/tree/annotations.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"
#include "passes/module/pipeline.h"
#include "passes/module/plan.h"
#include "passes/script/require.h"

#include <stdlib.h>

/* What has to hold where a branch is taken, and only the run knows. */
typedef struct RunCheck {
  int guard, flag; /* the number of the size that is 1 where it holds */
  const Func *refuses;
} RunCheck;

typedef struct Making {
  Tirc *c;
  const Module *unscheduled; /* the functions as they were, or NULL */
  const Module *lowered;
  const Plan *plan;
  ModelEntry *e;
  EntryValue *places; /* of each tensor of the plan */
  bool *is_part;      /* of the block of weights; for WEIGHTS_PARAMS none is */
  EntryConst *consts;
  const Func **refusals; /* of each guard: what fails where it is taken, or NULL */
  Hoisted *hoisted;      /* memory that functions take as parameters */
  int64_t most_on_stack;
  VEC(MemoryUse) uses;
  const EntryValue **memory; /* of each call: where that lies in the workspace */
  EntrySizes sizes;          /* what only the run knows, where extents are open */
  const char *sizes_name;    /* of the function that computes it */
  VEC(RunCheck) run_checks;
} Making;

/* --- memory ----------------------------------------------------------------------------------- */

/* For the first extent without a value in one of a kind. */
static const char *hint_of(Tirc *c, Info info) {
  PtrMap seen = {0};
  Symbols symbols = {0};
  tirc_info_symbols(c, info, &seen, &symbols);
  return symbols.n ? tirc_format(c, "give it a size: -D %s=8", symbols.at[0]->u.s) : NULL;
}

static _Noreturn void fail_size(Tirc *c, Loc loc, const char *name, Info info) {
  tirc_fail(c, loc, CODE_UNSUPPORTED, hint_of(c, info),
            "what is prepared of weights has one size, and %s is %s", name,
            tirc_info_words(c, info));
}

static bool is_open(const Making *k) { return k->sizes.n_extents > 0; }

static int64_t bytes_of(Making *k, Buffer b) {
  const Info info = tirc_info_tensor(k->c, b->dtype, b->ndim, b->shape);
  const int64_t bytes = tirc_info_bytes(info);
  if (bytes < 0) fail_size(k->c, k->plan->signature->loc, b->name, info);
  return bytes;
}

void tirc_require_sizes(Tirc *c, const Module *m) {
  const Graph *g = tirc_module_main_graph(m);
  const Expr inputs = g ? tirc_attrs_get(g->attrs, tirc_key(KEY_NUM_INPUT)) : NULL;
  int64_t first = g ? g->n_params : 0;
  if (inputs) tirc_const_int(inputs, &first);
  for (int i = (int)first; g && i < g->n_params; i++)
    if (g->params[i]->info->kind != INFO_PRIM && tirc_info_bytes(g->params[i]->info) < 0)
      fail_size(c, g->loc, g->params[i]->name, g->params[i]->info);
}

static int function_number(const Making *k, const Func *f) {
  int i = 0;
  while (strcmp(k->lowered->funcs[i]->name, f->name) != 0) i++;
  return i;
}

/* What functions need while they run is alive for one call. */
static void add_memory_of_calls(Making *k) {
  const Plan *plan = k->plan;
  for (int i = plan->n_prepare; i < plan->n_calls; i++) {
    const Func *f = plan->calls[i].func;
    const Hoisted *h = f ? &k->hoisted[function_number(k, f)] : NULL;
    for (int j = 0; h && j < h->n; j++)
      vec_push(k->c, k->uses, ((MemoryUse){h->bytes[j], i, i, 0}));
  }
}

static void place_memory_of_calls(Making *k, const MemoryUse *uses) {
  const Plan *plan = k->plan;
  k->memory = tirc_new_array(k->c, const EntryValue *, plan->n_calls);
  for (int i = plan->n_prepare; i < plan->n_calls; i++) {
    const Func *f = plan->calls[i].func;
    const int n = f ? k->hoisted[function_number(k, f)].n : 0;
    EntryValue *at = tirc_new_array(k->c, EntryValue, n);
    for (int j = 0; j < n; j++) at[j] = (EntryValue){ENTRY_WORKSPACE, (uses++)->offset};
    k->memory[i] = at;
  }
}

/* The outermost branch that is refused, of those that the branch stands in, and itself. */
static int refused_branch(const Making *k, int guard) {
  int outermost = -1;
  for (int g = guard; g >= 0; g = k->plan->guards[g].outer)
    if (k->refusals[g]) outermost = g;
  return outermost;
}

/* A branch that is refused makes nothing, whatever its extents would be. */
static int64_t bytes_of_tensor(Making *k, const PlanTensor *t) {
  return refused_branch(k, t->guard) >= 0 ? 0 : bytes_of(k, t->buffer);
}

/* Tensors of one place side by side, those of the workspace sharing it; the size of it all. */
static int64_t place_tensors(Making *k, PlanPlace place, EntryPlace as) {
  const Plan *plan = k->plan;
  int a, b;
  k->uses.n = 0;
  for (int i = 0; i < plan->n_tensors; i++) {
    const PlanTensor *t = &plan->tensors[i];
    if (t->place != place || k->is_part[i]) continue;
    const int64_t bytes = bytes_of_tensor(k, t);
    vec_push(k->c, k->uses,
             (place == PLAN_WORKSPACE ? (MemoryUse){bytes, t->first, t->last, 0}
                                      : (MemoryUse){bytes, 0, plan->n_calls, 0}));
  }
  if (place == PLAN_WORKSPACE) add_memory_of_calls(k);
  MemoryUse *uses = k->uses.at;
  const int64_t total = tirc_plan_memory(k->c, k->uses.n, uses);
  if (total < 0 || tirc_memory_conflict(k->uses.n, uses, total, &a, &b))
    tirc_fail(k->c, (Loc){0}, CODE_MEMORY, NULL, "the workspace has no plan");
  if (!total) as = ENTRY_WORKSPACE; /* which all code has: any address does for no bytes */
  int u = 0;
  for (int i = 0; i < plan->n_tensors; i++)
    if (plan->tensors[i].place == place && !k->is_part[i])
      k->places[i] = (EntryValue){as, uses[u++].offset};
  if (place == PLAN_WORKSPACE) place_memory_of_calls(k, uses + u);
  return total;
}

/* The same of a workspace whose size the run tells. */
static void place_open(Making *k) {
  const Plan *plan = k->plan;
  Tirc *c = k->c;
  VEC(SizedUse) uses = {0};
  for (int i = 0; i < plan->n_tensors; i++) {
    const PlanTensor *t = &plan->tensors[i];
    if (t->place != PLAN_WORKSPACE) continue;
    const Expr bytes = refused_branch(k, t->guard) >= 0
                           ? tirc_int(c, DT_INT64, 0)
                           : tirc_sizes_bytes(&k->sizes, t->buffer, t->guard < 0);
    vec_push(c, uses, ((SizedUse){.bytes = bytes, .first = t->first, .last = t->last}));
  }
  const int n_tensors = uses.n;
  k->uses.n = 0;
  add_memory_of_calls(k);
  for (int i = 0; i < k->uses.n; i++) {
    const MemoryUse *u = &k->uses.at[i];
    const Expr bytes = tirc_int(c, DT_INT64, (u->bytes + 63) / 64 * 64);
    vec_push(c, uses, ((SizedUse){.bytes = bytes, .first = u->first, .last = u->last}));
  }
  tirc_sizes_place(&k->sizes, uses.n, uses.at);
  for (int i = 0, u = 0; i < plan->n_tensors; i++)
    if (plan->tensors[i].place == PLAN_WORKSPACE) k->places[i] = uses.at[u++].at;
  k->memory = tirc_new_array(c, const EntryValue *, plan->n_calls);
  for (int i = plan->n_prepare, u = n_tensors; i < plan->n_calls; i++) {
    const Func *f = plan->calls[i].func;
    const int n = f ? k->hoisted[function_number(k, f)].n : 0;
    EntryValue *at = tirc_new_array(c, EntryValue, n);
    for (int j = 0; j < n; j++) at[j] = uses.at[u++].at;
    k->memory[i] = at;
  }
}

static void choose_part(Making *k, int number) {
  const Plan *plan = k->plan;
  if (plan->tensors[number].place == PLAN_VIEW) number = plan->tensors[number].index;
  const PlanTensor *t = &plan->tensors[number];
  k->is_part[number] |=
      t->place == PLAN_PREPARED || (t->place == PLAN_PARAM && t->index >= plan->n_inputs);
}

/* What calls of each run read of weights and constants, and of what is made of them. */
static void choose_parts(Making *k) {
  const Plan *plan = k->plan;
  k->is_part = tirc_new_array(k->c, bool, plan->n_tensors);
  if (k->e->place == WEIGHTS_PARAMS) return;
  for (int i = plan->n_prepare; i < plan->n_calls; i++) {
    for (int j = 0; j < plan->calls[i].n; j++) choose_part(k, plan->calls[i].tensors[j]);
    for (int g = plan->calls[i].guard; g >= 0; g = plan->guards[g].outer)
      choose_part(k, plan->guards[g].tensor);
  }
}

static const char *parameter_name(Making *k, const char *name, StrMap *taken);

static void place_parts(Making *k) {
  enum { ALIGNMENT = 64 };
  const Plan *plan = k->plan;
  EntryPart *parts = tirc_new_array(k->c, EntryPart, plan->n_tensors);
  ModelEntry *e = k->e;
  StrMap taken = {0};
  e->parts = parts;
  for (int i = 0; i < plan->n_tensors; i++) {
    const PlanTensor *t = &plan->tensors[i];
    if (!k->is_part[i]) continue;
    const int64_t bytes = bytes_of(k, t->buffer);
    parts[e->n_parts++] = (EntryPart){.name = parameter_name(k, t->buffer->name, &taken),
                                      .buffer = t->buffer,
                                      .at = e->weights,
                                      .bytes = bytes,
                                      .param = t->place == PLAN_PARAM ? t->index : -1,
                                      .data = t->place == PLAN_CONST ? t->data : NULL};
    k->places[i] = (EntryValue){ENTRY_WEIGHTS, e->weights};
    if (bytes > INT64_MAX - ALIGNMENT - e->weights)
      tirc_fail(k->c, plan->signature->loc, CODE_MEMORY, NULL, "the weights have too many bytes");
    e->weights += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
}

static void place_others(Making *k) {
  const Plan *plan = k->plan;
  EntryConst *consts = k->consts = tirc_new_array(k->c, EntryConst, plan->n_tensors);
  for (int i = 0; i < plan->n_tensors; i++) {
    const PlanTensor *t = &plan->tensors[i];
    if ((t->place == PLAN_PARAM || t->place == PLAN_RESULT) && !k->is_part[i])
      k->places[i] = (EntryValue){ENTRY_PARAM, t->index};
    if (t->place != PLAN_CONST || k->is_part[i]) continue;
    consts[k->e->n_consts] = (EntryConst){.data = t->data, .bytes = bytes_of(k, t->buffer)};
    k->places[i] = (EntryValue){ENTRY_CONST, k->e->n_consts++};
  }
  for (int i = 0; i < plan->n_tensors; i++)
    if (plan->tensors[i].place == PLAN_VIEW) k->places[i] = k->places[plan->tensors[i].index];
  k->e->consts = consts;
}

/* --- calls ------------------------------------------------------------------------------------ */

static EntryValue number(Making *k, Expr x, const char *what) {
  int64_t v = 0;
  const bool is_known = x && tirc_const_int(tirc_simplify0(k->c, x), &v);
  if (x && !is_known && is_open(k)) return (EntryValue){ENTRY_SIZE, tirc_sizes_value(&k->sizes, x)};
  if (!is_known)
    tirc_fail(k->c, k->plan->signature->loc, CODE_UNSUPPORTED,
              hint_of(k->c, &(struct StructInfo){.value = x}), "%s is not a number", what);
  return (EntryValue){ENTRY_NUMBER, v};
}

/* What the function knows as its symbols, in what the call gives it. */
static Match match_call(Making *k, const PlanCall *call) {
  Match match = {.c = k->c};
  Info *infos = tirc_new_array(k->c, Info, call->n);
  for (int i = 0; i < call->n_scalars; i++)
    tirc_map_set(k->c, &match.symbols, call->func->params[call->n + i], call->scalars[i]);
  for (int i = 0; i < call->n; i++) {
    Buffer b = k->plan->tensors[call->tensors[i]].buffer;
    infos[i] = tirc_info_tensor(k->c, b->dtype, b->ndim, b->shape);
  }
  if (tirc_match_params(&match, call->n, tirc_buffer_infos(k->c, call->n, call->func->buffers),
                        infos) >= 0)
    tirc_fail(k->c, call->loc, CODE_SHAPE, NULL, "the call of %s: %s", call->func->name, match.why);
  return match;
}

/* Extents that no parameter tells are further arguments, in the order of the lowered function. */
static int add_symbols(Making *k, const PlanCall *call, int n_symbols, const Expr *symbols,
                       EntryValue *out) {
  const Match match = match_call(k, call);
  Expr *own;
  const int n_own = tirc_symbolic_params(k->c, call->func, &own);
  for (int i = 0; i < n_symbols; i++) {
    Expr value = tirc_map_get(&match.symbols, symbols[i]);
    for (int s = 0; !value && s < n_own; s++)
      if (strcmp(own[s]->u.s, symbols[i]->u.s) == 0) value = tirc_map_get(&match.symbols, own[s]);
    out[i] = number(k, value, symbols[i]->u.s);
  }
  return n_symbols;
}

/* The products that the call multiplies. */
static void add_products(Making *k, const PlanCall *call, EntryCall *to) {
  const Func *f = k->unscheduled ? tirc_module_func(k->unscheduled, call->func->name) : NULL;
  const tirc_product *found;
  Expr *symbols;
  if (!f) return;
  const Match match = match_call(k, call);
  const int n_symbols = tirc_symbolic_params(k->c, call->func, &symbols);
  int64_t *known = tirc_new_array(k->c, int64_t, n_symbols);
  for (int i = 0; i < n_symbols; i++) {
    const Expr value = tirc_map_get(&match.symbols, symbols[i]);
    if (!value || !tirc_const_int(tirc_simplify0(k->c, value), &known[i])) return;
  }
  to->n_products = tirc_api_products(k->c, f, n_symbols, symbols, known, &found);
  EntryProduct *products = tirc_new_array(k->c, EntryProduct, to->n_products);
  for (int i = 0; i < to->n_products; i++) {
    const tirc_product *p = &found[i];
    products[i] = (EntryProduct){f->name, p->block,  p->batch,         p->m, p->n, p->k, p->a, p->b,
                                 p->out,  p->layout, p->is_convolution};
  }
  to->products = products;
}

/* From the outermost branch on. */
static void add_conditions(Making *k, EntryCall *to, int guard) {
  const Plan *plan = k->plan;
  EntryCondition *conditions = tirc_new_array(k->c, EntryCondition, plan->n_guards);
  for (int g = guard; g >= 0; g = plan->guards[g].outer) to->n_conditions++;
  for (int g = guard, i = to->n_conditions; g >= 0; g = plan->guards[g].outer)
    conditions[--i] = (EntryCondition){k->places[plan->guards[g].tensor], plan->guards[g].taken};
  to->branch = guard;
  to->conditions = conditions;
}

/* Of a copy. */
static void set_bytes(Making *k, Buffer b, EntryCall *to) {
  const Info info = tirc_info_tensor(k->c, b->dtype, b->ndim, b->shape);
  Expr bytes = tirc_int(k->c, DT_INT64, tirc_dtype_bytes(b->dtype));
  to->bytes = tirc_info_bytes(info);
  if (to->bytes >= 0) return;
  if (!is_open(k)) fail_size(k->c, k->plan->signature->loc, b->name, info);
  for (int d = 0; d < b->ndim; d++)
    bytes = tirc_mul(k->c, bytes, tirc_cast(k->c, DT_INT64, b->shape[d]));
  to->size = tirc_sizes_value(&k->sizes, bytes);
}

static EntryCall call_of(Making *k, int number_of_call) {
  const PlanCall *call = &k->plan->calls[number_of_call];
  EntryCall to = {.func = -1};
  add_conditions(k, &to, call->guard);
  if (call->symbol)
    tirc_fail(k->c, call->loc, CODE_UNSUPPORTED, NULL,
              "the code of a model cannot call \"%s\" of another program", call->symbol);
  if (call->func) to.func = function_number(k, call->func);
  if (!call->func) set_bytes(k, k->plan->tensors[call->tensors[0]].buffer, &to);
  Expr *symbols;
  const int n_symbols =
      call->func ? tirc_symbolic_params(k->c, k->lowered->funcs[to.func], &symbols) : 0;
  const int n_memory = call->func ? k->hoisted[to.func].n : 0;
  EntryValue *args =
      tirc_new_array(k->c, EntryValue, call->n + call->n_scalars + n_memory + n_symbols);
  for (int i = 0; i < call->n; i++) args[to.n++] = k->places[call->tensors[i]];
  for (int i = 0; i < call->n_scalars; i++) args[to.n++] = number(k, call->scalars[i], "a scalar");
  for (int i = 0; i < n_memory; i++) args[to.n++] = k->memory[number_of_call][i];
  if (n_symbols) to.n += add_symbols(k, call, n_symbols, symbols, args + to.n);
  if (call->func) add_products(k, call, &to);
  to.args = args;
  return to;
}

static void note_read(Making *k, EntryValue v) {
  if (v.place == ENTRY_CONST) k->consts[v.at].is_read = true;
}

static EntryCall call_of_refusal(Making *k, int guard) {
  EntryCall to = {.func = function_number(k, k->refusals[guard])};
  add_conditions(k, &to, guard);
  return to;
}

/* Ahead of the first call of a branch: what it asks of extents that only the run tells. */
static void ask(Making *k, int guard, bool *is_asked, EntryCall *calls) {
  if (guard < 0 || is_asked[guard]) return;
  ask(k, k->plan->guards[guard].outer, is_asked, calls);
  is_asked[guard] = true;
  for (int i = 0; i < k->run_checks.n; i++) {
    const RunCheck *check = &k->run_checks.at[i];
    if (check->guard != guard) continue;
    EntryValue *flag = tirc_new_array(k->c, EntryValue, 1);
    *flag = (EntryValue){ENTRY_SIZE, check->flag};
    EntryCall to = {.func = function_number(k, check->refuses), .n = 1, .args = flag};
    add_conditions(k, &to, guard);
    calls[k->e->n_calls++] = to;
  }
}

/* All calls but copies of nothing, and which constants those of the code read. A branch that is
 * refused is its refusal. */
static void add_calls(Making *k) {
  const Plan *plan = k->plan;
  ModelEntry *e = k->e;
  EntryCall *calls = tirc_new_array(k->c, EntryCall, plan->n_calls + k->run_checks.n);
  bool *is_asked = tirc_new_array(k->c, bool, plan->n_guards);
  bool *is_told = tirc_new_array(k->c, bool, plan->n_guards);
  for (int i = 0; i < plan->n_calls; i++) {
    const int refused = refused_branch(k, plan->calls[i].guard);
    if (refused >= 0) {
      if (!is_told[refused]) calls[e->n_calls++] = call_of_refusal(k, refused);
      is_told[refused] = true;
      continue;
    }
    ask(k, plan->calls[i].guard, is_asked, calls);
    calls[e->n_calls] = call_of(k, i);
    if (calls[e->n_calls].func < 0 && !calls[e->n_calls].bytes) continue;
    e->n_calls++;
    e->n_prepare += i < plan->n_prepare;
  }
  for (int i = tirc_entry_first_call(e); i < e->n_calls; i++) {
    for (int j = 0; j < calls[i].n; j++) note_read(k, calls[i].args[j]);
    for (int j = 0; j < calls[i].n_conditions; j++) note_read(k, calls[i].conditions[j].at);
  }
  e->calls = calls;
}

/* --- names ------------------------------------------------------------------------------------ */

/* A parameter's name in C: none of the entry's own, and none that another parameter has. */
static const char *parameter_name(Making *k, const char *name, StrMap *taken) {
  name = tirc_c_identifier(k->c, name);
  while (tirc_strmap_get(taken, name)) name = tirc_format(k->c, "%s_", name);
  *tirc_strmap_at(k->c, taken, name) = taken;
  return name;
}

static const char *entry_name(Tirc *c, const Module *m, const char *name, StrMap *taken) {
  const char *const *symbols = tirc_symbols(c, m);
  for (int i = 0; i < m->n_funcs; i++) *tirc_strmap_at(c, taken, symbols[i]) = taken;
  name = tirc_c_identifier(c, name ? name : "model");
  static const char *const endings[] = {"",
                                        "_prepare",
                                        "_weights",
                                        "_product",
                                        "_on_product",
                                        "_products",
                                        "_error_text",
                                        "_info",
                                        "_workspace",
                                        "_prepared",
                                        "_workspace_size"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings;)
    if (tirc_strmap_get(taken, tirc_format(c, "%s%s", name, endings[i])))
      name = tirc_format(c, "%s_model", name), i = 0;
    else
      i++;
  return name;
}

const char *tirc_entry_name(Tirc *c, const Module *m, const char *name) {
  StrMap taken = {0};
  return entry_name(c, m, name, &taken);
}

static int by_name(const void *x, const void *y) {
  return strcmp(((const EntryExtent *)x)->name, ((const EntryExtent *)y)->name);
}

static void name_extents(Making *k, StrMap *taken) {
  const int n = k->sizes.n_extents;
  EntryExtent *extents = k->sizes.extents;
  for (int i = 0; i < n; i++) extents[i].name = parameter_name(k, extents[i].var->u.s, taken);
  if (n) qsort(extents, (size_t)n, sizeof *extents, by_name);
  k->e->n_extents = n;
  k->e->extents = extents;
}

/* As its text has it, with the names in C. */
static const char *extent_words(Making *k, Expr e) {
  PtrMap names = {0};
  for (int i = 0; i < k->sizes.n_extents; i++) {
    const EntryExtent *x = &k->sizes.extents[i];
    tirc_map_set(k->c, &names, x->var, tirc_var(k->c, x->name, x->var->dtype));
  }
  return tirc_script_plain_words(k->c, tirc_print_expr(k->c, tirc_substitute(k->c, e, &names)));
}

static EntryTensor tensor_of(Making *k, const Func *f, int i, const char *name) {
  Tirc *c = k->c;
  const Buffer b = f->buffers[i];
  int64_t *shape = tirc_new_array(c, int64_t, b->ndim);
  const char **extents = tirc_new_array(c, const char *, b->ndim);
  for (int d = 0; d < b->ndim; d++) {
    if (!tirc_const_int(b->shape[d], &shape[d])) shape[d] = -1;
    extents[d] =
        shape[d] < 0 ? extent_words(k, b->shape[d]) : tirc_format(c, "%lld", (long long)shape[d]);
  }
  return (EntryTensor){tirc_name_in_file(f->attrs, b->name),
                       name,
                       tirc_dtype_name(c, b->dtype),
                       b->ndim,
                       shape,
                       extents};
}

static void name_all(Making *k, const char *name) {
  StrMap taken = {0};
  const Func *f = k->plan->signature;
  const char **names = tirc_new_array(k->c, const char *, f->n_params);
  k->e->name = entry_name(k->c, k->lowered, name, &taken);
  k->sizes_name = tirc_free_name(k->c, k->lowered, tirc_format(k->c, "%s_sizes", k->e->name));
  const char *const own[] = {"workspace",
                             "prepared",
                             "weights",
                             "at",
                             "sizes",
                             "packed",
                             "failed",
                             k->e->name,
                             k->sizes_name,
                             tirc_format(k->c, "%s_on_product", k->e->name),
                             tirc_format(k->c, "%s_products", k->e->name)};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    *tirc_strmap_at(k->c, &taken, own[i]) = &taken;
  EntryTensor *tensors = tirc_new_array(k->c, EntryTensor, f->n_params);
  name_extents(k, &taken);
  for (int i = 0; i < f->n_params; i++) {
    names[i] = parameter_name(k, f->buffers[i]->name, &taken);
    tensors[i] = tensor_of(k, f, i, names[i]);
  }
  k->e->names = names;
  k->e->tensors = tensors;
}

static void take_rows(Making *k) {
  const Plan *plan = k->plan;
  VEC(EntryRows) rows = {0};
  for (int i = 0, axis = 0; i < plan->n_results; i++)
    for (int n = 0, count; (count = tirc_result_count(plan->signature->attrs, i, n, &axis)) >= 0;
         n++)
      vec_push(k->c, rows, ((EntryRows){i, count, axis}));
  k->e->n_rows = rows.n;
  k->e->rows = rows.at;
}

/* Functions of calls that prepare keep what they do: that is once. */
static void hoist_memory(Making *k) {
  const Plan *plan = k->plan;
  bool *keeps = tirc_new_array(k->c, bool, k->lowered->n_funcs);
  for (int i = 0; i < plan->n_prepare; i++)
    if (plan->calls[i].func) keeps[function_number(k, plan->calls[i].func)] = true;
  k->hoisted = tirc_new_array(k->c, Hoisted, k->lowered->n_funcs);
  k->lowered = tirc_hoist_memory(k->c, k->lowered, keeps, k->most_on_stack, k->hoisted);
}

/* --- what has to hold ------------------------------------------------------------------------- */

static Expr condition_of(Making *k, const PlanCheck *check) {
  return tirc_simplify0(k->c, check->b ? tirc_eq(k->c, check->a, check->b) : check->a);
}

/* A function that fails with what the check says: always, or where its parameter is 0. */
static const Func *refusal(Making *k, const PlanCheck *check, bool always) {
  Tirc *c = k->c;
  const Expr flag = tirc_var(c, "holds", DT_INT64);
  const Expr cond =
      always ? tirc_bool(c, false) : tirc_binary(c, OP_NE, flag, tirc_int(c, DT_INT64, 0));
  Func *f = tirc_new(c, Func);
  *f = (Func){.name = tirc_free_name(c, k->lowered, "refused"), .loc = check->loc};
  if (!always) {
    f->n_params = 1;
    f->params = tirc_copy(c, &flag, 1);
    f->buffers = tirc_new_array(c, Buffer, 1);
  }
  f->attrs = tirc_attrs_set(c, f->attrs, "tirc.private", tirc_bool(c, true));
  f->body = tirc_with_loc(
      c, tirc_assert_stmt(c, cond, check->what, tirc_eval(c, tirc_int(c, DT_INT32, 0))),
      check->loc);
  return f;
}

static void add_function(Making *k, const Func *f) {
  const int n = k->lowered->n_funcs;
  const Func **funcs = tirc_new_array(k->c, const Func *, n + 1);
  for (int i = 0; i < n; i++) funcs[i] = k->lowered->funcs[i];
  funcs[n] = f;
  k->lowered = tirc_module_with_funcs(k->c, k->lowered, n + 1, funcs);
}

/* What only the run knows: on entry, or where the branch is taken. */
static void check_at_run(Making *k, const PlanCheck *check, Expr cond) {
  if (check->guard < 0) {
    tirc_sizes_check(&k->sizes, cond,
                     check->b ? tirc_format(k->c, "%s: the extents differ", check->what)
                              : check->what,
                     check->loc);
    return;
  }
  const Expr is = tirc_cast(k->c, DT_INT64, cond);
  const RunCheck own = {check->guard, tirc_sizes_value(&k->sizes, is), refusal(k, check, false)};
  add_function(k, own.refuses);
  vec_push(k->c, k->run_checks, own);
}

/* Main's own conditions are asserted by what the signature does. */
static void take_conditions(Making *k) {
  for (Stmt s = k->plan->signature->body; s && s->kind == STMT_ASSERT; s = s->u.check.body)
    tirc_sizes_check(&k->sizes, s->u.check.cond, s->u.check.message, s->loc);
}

/* The function of sizes, when all that asks for one has asked. */
static void add_sizes(Making *k) {
  if (!is_open(k)) return;
  const Func *f = tirc_sizes_func(&k->sizes, k->sizes_name);
  k->e->sizes = k->lowered->n_funcs;
  k->e->n_sizes = k->sizes.values.n;
  add_function(k, f);
}

/* What does not hold is the model's end, or that of each run that takes the branch: a call of a
 * function that fails comes ahead of the branch's own. */
static void look_at_checks(Making *k) {
  const Plan *plan = k->plan;
  k->refusals = tirc_new_array(k->c, const Func *, plan->n_guards);
  for (int i = 0; i < plan->n_checks; i++) {
    const PlanCheck *check = &plan->checks[i];
    const Expr cond = condition_of(k, check);
    int64_t holds;
    if (!tirc_const_int(cond, &holds)) {
      check_at_run(k, check, cond);
      continue;
    }
    if (holds) continue;
    if (check->guard < 0)
      tirc_fail(k->c, check->loc, CODE_SHAPE, NULL, "%s: the extents differ", check->what);
    if (k->refusals[check->guard]) continue;
    k->refusals[check->guard] = refusal(k, check, true);
    add_function(k, k->refusals[check->guard]);
  }
}

const ModelEntry *tirc_model_entry(Tirc *c, const Module *m, const Module *unscheduled,
                                   const Module **lowered, const char *name, EntryWeights place,
                                   int64_t most_on_stack) {
  Making k = {.c = c,
              .unscheduled = unscheduled,
              .lowered = *lowered,
              .e = tirc_new(c, ModelEntry),
              .most_on_stack = most_on_stack};
  const Plan *plan = k.plan = tirc_plan_for_code(tirc_passes_open(c, NULL), m);
  tirc_sizes_open(&k.sizes, c, plan);
  look_at_checks(&k);
  take_conditions(&k);
  *k.e = (ModelEntry){.place = place,
                      .version = TIRC_VERSION,
                      .n_inputs = plan->n_inputs,
                      .n_weights = plan->n_params - plan->n_inputs,
                      .n_results = plan->n_results,
                      .params = plan->signature->buffers};
  hoist_memory(&k);
  name_all(&k, name);
  take_rows(&k);
  k.places = tirc_new_array(c, EntryValue, plan->n_tensors);
  choose_parts(&k);
  if (is_open(&k))
    place_open(&k);
  else
    k.e->workspace = place_tensors(&k, PLAN_WORKSPACE, ENTRY_WORKSPACE);
  k.e->prepared = place_tensors(&k, PLAN_PREPARED, ENTRY_PREPARED);
  place_parts(&k);
  place_others(&k);
  add_calls(&k);
  add_sizes(&k);
  *lowered = k.lowered;
  return k.e;
}
