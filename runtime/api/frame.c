/* Frames: extents get values, tensors places in the workspace, calls their arguments. */
#include "program.h"

#include "ir/arith/index_eval.h"
#include "ir/tree/visit.h"
#include "runtime/kernel/pages.h"

#include <stdlib.h>

enum { ALIGNMENT = 64 };

/* --- sizes ------------------------------------------------------------------------------------ */

typedef struct Sizing {
  Tirc *c;
  const tirc_program *p;
  PtrMap values;     /* symbol -> INT, */
  IndexEval numbers; /* and its number */
} Sizing;

static void give(Sizing *s, Expr symbol, Expr value) {
  tirc_map_set(s->c, &s->values, symbol, value);
  tirc_eval_give(&s->numbers, symbol, value->u.i);
}

static Sizing sizing(Tirc *c, const tirc_program *p, const int64_t *symbols) {
  Sizing s = {.c = c, .p = p, .numbers = {.c = c}};
  for (int i = 0; i < p->n_symbols; i++)
    give(&s, p->symbols[i], tirc_int(c, p->symbols[i]->dtype, symbols[i]));
  return s;
}

static void check_bounds(const Sizing *s) {
  const Plan *plan = s->p->plan;
  for (int i = 0; i < plan->n_bounds; i++) {
    const PlanBound *b = &plan->bounds[i];
    const Expr value = tirc_map_get(&s->values, b->symbol);
    if (!value || (value->u.i >= b->lower && value->u.i <= b->upper)) continue;
    const bool above = value->u.i > b->upper;
    tirc_fail(s->c, plan->signature->loc, CODE_SHAPE,
              above ? "tir_var_upper_bound of R.func_attr sets this bound"
                    : "tir_var_lower_bound of R.func_attr sets this bound",
              "the extent %s is %lld, but it must be at %s %lld", b->symbol->u.s,
              (long long)value->u.i, above ? "most" : "least",
              (long long)(above ? b->upper : b->lower));
  }
}

/* The same with the largest extents that are allowed: what has no bound stays as it is. */
static Sizing largest(const Sizing *s) {
  const Plan *plan = s->p->plan;
  Sizing to = {.c = s->c, .p = s->p, .numbers = {.c = s->c}};
  for (int i = 0; i < s->p->n_symbols; i++) {
    Expr value = tirc_map_get(&s->values, s->p->symbols[i]);
    for (int k = 0; k < plan->n_bounds; k++)
      if (plan->bounds[k].symbol == s->p->symbols[i] && plan->bounds[k].upper < INT64_MAX)
        value = tirc_int(s->c, value->dtype, plan->bounds[k].upper);
    give(&to, s->p->symbols[i], value);
  }
  return to;
}

/* False: it has no value, a quotient by 0. */
static bool has_value(const Sizing *s, Expr e, int64_t *v) {
  return tirc_const_int(e, v) || tirc_eval_index(&s->numbers, e, v) ||
         tirc_const_int(tirc_simplify0(s->c, tirc_substitute(s->c, e, &s->values)), v);
}

static int64_t evaluate(const Sizing *s, Expr e, const char *what) {
  int64_t v;
  if (!has_value(s, e, &v))
    tirc_fail(s->c, s->p->plan->signature->loc, CODE_SHAPE, NULL, "an extent of %s has no value",
              what);
  return v;
}

/* The tensor of number i, without memory. */
static Tensor sized(const Sizing *s, int i) {
  Buffer b = s->p->plan->tensors[i].buffer;
  Tensor t = {.dtype = b->dtype, .ndim = b->ndim, .count = 1};
  if (b->ndim > TENSOR_MAX_NDIM)
    tirc_fail(s->c, (Loc){0}, CODE_SHAPE, NULL, "%s has more than %d dimensions", b->name,
              TENSOR_MAX_NDIM);
  for (int d = 0; d < b->ndim; d++) {
    t.shape[d] = evaluate(s, b->shape[d], b->name);
    if (t.shape[d] < 0 || __builtin_mul_overflow(t.count, t.shape[d], &t.count))
      tirc_fail(s->c, s->p->plan->signature->loc, CODE_SHAPE, "use other extents",
                "extent %d of %s would be %lld", d, b->name, (long long)t.shape[d]);
  }
  if (__builtin_mul_overflow((size_t)t.count, (size_t)tirc_dtype_bytes(b->dtype), &t.bytes) ||
      t.bytes > INT64_MAX / 2)
    tirc_fail(s->c, (Loc){0}, CODE_MEMORY, "use smaller extents", "%s is too large", b->name);
  return t;
}

/* Extents of what a branch makes may have no value where it is not taken: then it has no elements,
 * and the branch is refused. */
static Tensor tensor_of(const Sizing *s, int i) {
  if (s->p->plan->tensors[i].guard < 0) return sized(s, i);
  Trap trap;
  if (TIRC_TRY(s->c, trap)) {
    const Tensor t = sized(s, i);
    TIRC_END(s->c, trap);
    return t;
  }
  s->c->trap = trap.outer;
  const Buffer b = s->p->plan->tensors[i].buffer;
  return (Tensor){.dtype = b->dtype, .ndim = b->ndim > TENSOR_MAX_NDIM ? 0 : b->ndim};
}

static bool is_open(Expr e) { return e->op != OP_INT; }

const bool *tirc_frame_open(Tirc *c, const Plan *plan) {
  bool *open = tirc_new_array(c, bool, plan->n_tensors);
  for (int i = 0; i < plan->n_tensors; i++) {
    const Buffer b = plan->tensors[i].buffer;
    open[i] = plan->tensors[i].guard >= 0;
    for (int d = 0; d < b->ndim; d++) open[i] |= is_open(b->shape[d]);
  }
  return open;
}

/* Whether a call is the same for all extents. */
static bool is_fixed(const tirc_program *p, const PlanCall *call) {
  bool open = call->guard >= 0;
  for (int k = 0; k < call->n; k++) open |= p->is_open[call->tensors[k]];
  for (int k = 0; k < call->n_scalars; k++) open |= is_open(call->scalars[k]);
  return !open;
}

/* What tensor i takes of the workspace. With upper bounds of the extents it is what it needs at
 * most, so that the plan is one for all runs; an extent that falls where another one rises may need
 * more now. */
static int64_t room_of(const Sizing *s, const Sizing *most, const Tensor *tensors, int i) {
  const size_t now = tensors[i].bytes;
  const bool may_grow = s->p->plan->n_bounds && s->p->is_open[i];
  const size_t room = may_grow ? tensor_of(most, i).bytes : now;
  return (int64_t)(room > now ? room : now);
}

/* --- places ----------------------------------------------------------------------------------- */

static Placement *placement(const tirc_program *p, PlanPlace in) {
  tirc_program *shared = (tirc_program *)(uintptr_t)p;
  return in == PLAN_PREPARED ? &shared->placed_once : &shared->placed;
}

static bool same_uses(int n, const MemoryUse *a, const MemoryUse *b) {
  for (int i = 0; i < n; i++)
    if (a[i].bytes != b[i].bytes || a[i].first != b[i].first || a[i].last != b[i].last)
      return false;
  return true;
}

/* The offsets of the plan before, and its size, where it is of tensors as large as these; -1: it is
 * not. With upper bounds that is so whatever the extents are. */
static int64_t placed_before(const tirc_program *p, PlanPlace in, int n, MemoryUse *uses) {
  tirc_program *shared = (tirc_program *)(uintptr_t)p;
  const Placement *last = placement(p, in);
  pthread_mutex_lock(&shared->lock);
  const bool fits = last->total >= 0 && last->n == n && same_uses(n, last->uses, uses);
  const int64_t total = fits ? last->total : -1;
  for (int i = 0; fits && i < n; i++) uses[i].offset = last->uses[i].offset;
  pthread_mutex_unlock(&shared->lock);
  return total;
}

static void keep_placed(const tirc_program *p, PlanPlace in, int n, const MemoryUse *uses,
                        int64_t total) {
  tirc_program *shared = (tirc_program *)(uintptr_t)p;
  Placement *last = placement(p, in);
  pthread_mutex_lock(&shared->lock);
  for (int i = 0; i < n; i++) last->uses[i] = uses[i];
  last->n = n;
  last->total = total;
  pthread_mutex_unlock(&shared->lock);
}

static int64_t place_anew(const Sizing *s, PlanPlace in, int n, MemoryUse *uses) {
  int a, b;
  const int64_t total = tirc_plan_memory(s->c, n, uses);
  if (total < 0) tirc_fail(s->c, (Loc){0}, CODE_MEMORY, "use smaller extents", "out of memory");
  if (tirc_memory_conflict(n, uses, total, &a, &b))
    tirc_fail(s->c, (Loc){0}, CODE_INTERNAL, NULL, "the memory plan lets tensors %d and %d %s", a,
              b, in == PLAN_PREPARED ? "overlap that are made once" : "of the workspace overlap");
  keep_placed(s->p, in, n, uses, total);
  return total;
}

/* Where the tensors of the workspace lie, or those that are made of weights alone: there, what only
 * calls that run once read lies where later ones write. offsets has one a tensor of the plan. */
static int64_t place(const Sizing *s, PlanPlace in, const Tensor *tensors, int64_t *offsets) {
  const Plan *plan = s->p->plan;
  const Sizing most = largest(s);
  const bool prepared = in == PLAN_PREPARED;
  MemoryUse *uses = tirc_new_array(s->c, MemoryUse, plan->n_tensors);
  int n = 0;
  for (int i = 0; i < plan->n_tensors; i++) {
    const PlanTensor *t = &plan->tensors[i];
    if (t->place != in) continue;
    const int last = prepared && t->last >= plan->n_prepare ? plan->n_calls : t->last;
    const int64_t bytes = prepared ? (int64_t)tensors[i].bytes : room_of(s, &most, tensors, i);
    uses[n++] = (MemoryUse){bytes, t->first, last, 0};
  }
  int64_t total = placed_before(s->p, in, n, uses);
  if (total < 0) total = place_anew(s, in, n, uses);
  for (int i = 0, k = 0; i < plan->n_tensors; i++)
    if (plan->tensors[i].place == in) offsets[i] = uses[k++].offset;
  return total;
}

static int64_t padded(size_t bytes) {
  return ((int64_t)bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void tirc_frame_sizes(Tirc *c, const tirc_program *p, const int64_t *symbols,
                      tirc_program_size *out) {
  const Sizing s = sizing(c, p, symbols);
  check_bounds(&s);
  const Plan *plan = p->plan;
  const Sizing most = largest(&s);
  int64_t *offsets = tirc_new_array(c, int64_t, plan->n_tensors);
  Tensor *tensors = tirc_new_array(c, Tensor, plan->n_tensors);
  *out = (tirc_program_size){.calls = plan->n_calls,
                             .prepared = plan->n_prepare,
                             .functions = p->module->m->n_funcs,
                             .made_in = p->made_in};
  for (int i = 0; i < plan->n_tensors; i++) {
    const PlanTensor *t = &plan->tensors[i];
    tensors[i] = tensor_of(&s, i);
    const int64_t bytes = (int64_t)tensors[i].bytes;
    if (t->place == PLAN_PARAM && t->index < plan->n_inputs) out->inputs += bytes;
    if (t->place == PLAN_PARAM && t->index >= plan->n_inputs) out->weights += bytes;
    if (t->place == PLAN_RESULT) out->results += bytes;
    if (t->place == PLAN_WORKSPACE) out->unshared += padded((size_t)room_of(&s, &most, tensors, i));
  }
  out->workspace = place(&s, PLAN_WORKSPACE, tensors, offsets);
  out->packed = place(&s, PLAN_PREPARED, tensors, offsets);
}

/* --- frames ----------------------------------------------------------------------------------- */

static char *memory(Tirc *c, int64_t bytes) {
  const size_t size = tirc_pages_size((size_t)bytes);
  char *at = size ? tirc_pages_new(size) : NULL;
  if (!at)
    tirc_fail(c, (Loc){0}, CODE_MEMORY, "use smaller extents",
              "a workspace of %lld bytes does not fit into memory", (long long)bytes);
  return at;
}

void tirc_frame_work(Tirc *caller, const tirc_program *p, Frame *f) {
  tirc_program *shared = (tirc_program *)(uintptr_t)p;
  pthread_mutex_lock(&shared->lock);
  for (Frame *other = shared->idle; other && !f->workspace; other = other->next)
    if (other->workspace && other->total == f->total) {
      f->workspace = other->workspace;
      other->workspace = NULL;
    }
  pthread_mutex_unlock(&shared->lock);
  if (!f->workspace) f->workspace = memory(caller, f->total);
}

void tirc_frame_pack(Tirc *caller, Frame *f) {
  if (!f->packed) f->packed = memory(caller, f->packed_bytes);
  f->prepared = f->packed;
}

/* The program's memory, which the first frame asks for, or its own. */
static void place_prepared(Tirc *c, const tirc_program *p, Frame *f) {
  tirc_program *shared = (tirc_program *)(uintptr_t)p;
  if (!p->shares) {
    tirc_frame_pack(c, f);
    return;
  }
  pthread_mutex_lock(&shared->lock);
  if (!shared->prepared.memory)
    shared->prepared.memory = tirc_pages_new(tirc_pages_size((size_t)f->packed_bytes));
  f->prepared = shared->prepared.memory;
  pthread_mutex_unlock(&shared->lock);
  if (!f->prepared) tirc_frame_pack(c, f); /* says what is missing */
}

/* Where tensors lie in memory that a run takes. */
static void place_taken(const Plan *plan, Frame *f) {
  for (int i = 0; i < plan->n_tensors; i++) {
    const PlanPlace in = plan->tensors[i].place;
    if (in == PLAN_WORKSPACE) f->tensors[i].data = f->workspace + f->offsets[i];
    if (in == PLAN_PREPARED) f->tensors[i].data = f->prepared + f->offsets[i];
  }
}

/* Where the tensors of the arguments lie, and views of all. */
static void place_arguments(const Plan *plan, Frame *f, const tirc_argument *args) {
  for (int i = 0; i < plan->n_tensors; i++) {
    const PlanTensor *t = &plan->tensors[i];
    if (t->place == PLAN_PARAM || t->place == PLAN_RESULT)
      f->tensors[i].data = args[t->index].array->t->data;
    if (t->place == PLAN_VIEW) f->tensors[i].data = f->tensors[t->index].data;
  }
}

/* Memory that is not of the size that these extents need is given back, and so is what was prepared
 * for others. */
static void place_tensors(const Sizing *s, Frame *f) {
  const int64_t total = place(s, PLAN_WORKSPACE, f->tensors, f->offsets);
  if (total != f->total) {
    free(f->workspace);
    f->workspace = NULL;
  }
  f->total = total;
  tirc_frame_work(s->c, s->p, f);
  f->packed_bytes = place(s, PLAN_PREPARED, f->tensors, f->offsets);
  if (!s->p->shares) {
    free(f->packed);
    f->packed = NULL;
    f->is_prepared = false;
  }
  place_prepared(s->c, s->p, f);
  place_taken(s->p->plan, f);
}

void tirc_frame_bind(const tirc_program *p, Frame *f, const tirc_argument *args) {
  const Plan *plan = p->plan;
  place_taken(plan, f);
  place_arguments(plan, f, args);
  for (int i = 0; i < plan->n_calls; i++)
    for (int k = 0; f->launches[i] && k < plan->calls[i].n; k++)
      f->launches[i]->packed[k] = f->tensors[plan->calls[i].tensors[k]].data;
  for (int i = 0; i < plan->n_calls; i++)
    for (int k = 0; f->foreign[i] && k < plan->calls[i].n; k++)
      f->foreign[i][k].data = f->tensors[plan->calls[i].tensors[k]].data;
}

static void check_holds(const Sizing *s, const PlanCheck *k) {
  if (!k->b) {
    int64_t holds;
    if (!has_value(s, k->a, &holds) || !holds)
      tirc_fail(s->c, k->loc, CODE_ASSERT, NULL, "%s", k->what);
    return;
  }
  const int64_t a = evaluate(s, k->a, "a cast"), b = evaluate(s, k->b, "a cast");
  if (a != b)
    tirc_fail(s->c, k->loc, CODE_SHAPE, NULL, "%s: an extent is %lld, not %lld", k->what,
              (long long)b, (long long)a);
}

static const tirc_kernel *kernel_of(const tirc_program *p, const Func *f) {
  for (int i = 0; i < p->module->m->n_funcs; i++)
    if (p->module->m->funcs[i] == f) return &p->kernels[i];
  return NULL;
}

static void make_launch(const Sizing *s, Frame *f, int i) {
  const PlanCall *call = &s->p->plan->calls[i];
  const int n = call->n + call->n_scalars;
  tirc_argument *args = f->arguments[i] = tirc_new_array(s->c, tirc_argument, n);
  for (int k = 0; k < call->n; k++) args[k].array = &f->arrays[call->tensors[k]];
  for (int k = 0; k < call->n_scalars; k++)
    args[call->n + k].i = evaluate(s, call->scalars[k], "a scalar");
  f->foreign[i] = call->symbol ? tirc_new_array(s->c, DLTensor, call->n) : NULL;
  for (int k = 0; call->symbol && k < call->n; k++)
    tirc_array_tensor(&f->arrays[call->tensors[k]], &f->foreign[i][k]);
  if (call->func)
    f->launches[i] = tirc_api_launch(s->c, kernel_of(s->p, call->func), NULL, n, args);
  if (f->launches[i]) f->launches[i]->entry = kernel_of(s->p, call->func)->entry;
}

typedef enum Part { PART_CHECK, PART_TENSOR, PART_LAUNCH } Part;

/* What goes wrong in a branch of an `if` is kept until the branch is taken. */
static void make_part(const Sizing *s, Frame *f, Part part, int i, int guard) {
  Trap trap;
  if (guard >= 0 && f->refused[guard]) return;
  if (guard < 0 || TIRC_TRY(s->c, trap)) {
    if (part == PART_CHECK) check_holds(s, &s->p->plan->checks[i]);
    if (part == PART_TENSOR) (void)sized(s, i);
    if (part == PART_LAUNCH) make_launch(s, f, i);
    if (guard >= 0) TIRC_END(s->c, trap);
    return;
  }
  f->refused[guard] = tirc_copy(s->c, &s->c->diag, 1);
  s->c->trap = trap.outer;
}

/* What depends on the extents. */
static void make_parts(const Sizing *s, Frame *f) {
  const Plan *plan = s->p->plan;
  for (int i = 0; i < plan->n_checks; i++)
    if (plan->checks[i].guard >= 0) make_part(s, f, PART_CHECK, i, plan->checks[i].guard);
  for (int i = 0; i < plan->n_tensors; i++)
    if (plan->tensors[i].guard >= 0) make_part(s, f, PART_TENSOR, i, plan->tensors[i].guard);
  for (int i = plan->n_prepare; i < plan->n_calls; i++)
    if (!is_fixed(s->p, &plan->calls[i])) make_part(s, f, PART_LAUNCH, i, plan->calls[i].guard);
}

/* Gives tensors extents and places: all of them, or those whose extents differ from run to run. */
static void fit(const Sizing *s, Frame *f, const int64_t *symbols, const tirc_argument *args,
                bool all) {
  const Plan *plan = s->p->plan;
  check_bounds(s);
  for (int i = 0; i < s->p->n_symbols; i++) f->symbols[i] = symbols[i];
  for (int i = 0; i < plan->n_checks; i++)
    if (plan->checks[i].guard < 0) check_holds(s, &plan->checks[i]);
  for (int i = 0; i < plan->n_tensors; i++)
    if (all || s->p->is_open[i]) f->tensors[i] = tensor_of(s, i);
  place_tensors(s, f);
  place_arguments(plan, f, args);
}

static void allocate(Tirc *c, const tirc_program *p, Frame *f) {
  const Plan *plan = p->plan;
  f->symbols = tirc_new_array(c, int64_t, p->n_symbols);
  f->tensors = tirc_new_array(c, Tensor, plan->n_tensors);
  f->arrays = tirc_new_array(c, tirc_array, plan->n_tensors);
  f->offsets = tirc_new_array(c, int64_t, plan->n_tensors);
  f->launches = tirc_new_array(c, tirc_launch *, plan->n_calls);
  f->foreign = tirc_new_array(c, DLTensor *, plan->n_calls);
  f->arguments = tirc_new_array(c, tirc_argument *, plan->n_calls);
  f->weights = tirc_new_array(c, const void *, plan->n_params);
  f->refused = tirc_new_array(c, const Diag *, plan->n_guards);
  for (int i = 0; i < plan->n_tensors; i++) {
    const char *type = tirc_dtype_name(c, plan->tensors[i].buffer->dtype);
    f->arrays[i].t = &f->tensors[i];
    memcpy(f->arrays[i].dtype, type, strlen(type) + 1);
  }
}

static void build(const tirc_program *p, Frame *f, const int64_t *symbols,
                  const tirc_argument *args) {
  const Plan *plan = p->plan;
  const Sizing s = sizing(f->c, p, symbols);
  allocate(f->c, p, f);
  fit(&s, f, symbols, args, true);
  for (int i = 0; i < plan->n_tensors; i++)
    if (plan->tensors[i].place == PLAN_CONST)
      f->tensors[i].data = (void *)(uintptr_t)plan->tensors[i].data;
  for (int i = plan->n_prepare; i < plan->n_calls; i++)
    if (is_fixed(p, &plan->calls[i])) make_launch(&s, f, i);
  f->fixed = tirc_mark(f->c);
  make_parts(&s, f);
}

/* The frame as one of other extents: what does not depend on them stays. */
static void extend(const tirc_program *p, Frame *f, const int64_t *symbols,
                   const tirc_argument *args) {
  const Plan *plan = p->plan;
  tirc_rewind(f->c, f->fixed);
  for (int i = 0; i < plan->n_guards; i++) f->refused[i] = NULL;
  for (int i = 0; i < plan->n_calls; i++) {
    if (i >= plan->n_prepare && is_fixed(p, &plan->calls[i])) continue;
    f->launches[i] = NULL;
    f->foreign[i] = NULL;
    f->arguments[i] = NULL;
  }
  f->prepares = false;
  const Sizing s = sizing(f->c, p, symbols);
  fit(&s, f, symbols, args, false);
  make_parts(&s, f);
}

/* What was raised in a context, for another one. */
static void pass_on(Tirc *to, const Tirc *from) {
  const Diag d = from->diag;
  to->diag = (Diag){.status = d.status, .code = d.code, .loc = d.loc};
  to->diag.message = tirc_strdup(to, d.message ? d.message : "");
  if (d.hint) to->diag.hint = tirc_strdup(to, d.hint);
  if (d.loc.file) to->diag.loc.file = tirc_strdup(to, d.loc.file);
}

static Frame *new_frame(Tirc *caller, const tirc_program *p) {
  Tirc *c = tirc_context_new();
  if (!c) tirc_fail(caller, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    Frame *f = tirc_new(c, Frame);
    f->c = c;
    tirc_context_depend(c, p->c);
    TIRC_END(c, trap);
    return f;
  }
  c->trap = trap.outer;
  pass_on(caller, c);
  tirc_context_release(c);
  tirc_throw(caller);
}

Frame *tirc_frame_new(Tirc *caller, const tirc_program *p, Frame *old, const int64_t *symbols,
                      const tirc_argument *args) {
  Frame *f = old ? old : new_frame(caller, p);
  Trap trap;
  if (TIRC_TRY(f->c, trap)) {
    (old ? extend : build)(p, f, symbols, args);
    TIRC_END(f->c, trap);
    return f;
  }
  f->c->trap = trap.outer;
  pass_on(caller, f->c);
  tirc_frame_free(f);
  tirc_throw(caller);
}

void tirc_frame_prepare(Tirc *caller, const tirc_program *p, Frame *f) {
  Trap trap;
  if (f->prepares) return;
  if (TIRC_TRY(f->c, trap)) {
    const Sizing s = sizing(f->c, p, f->symbols);
    for (int i = 0; i < p->plan->n_prepare; i++)
      make_part(&s, f, PART_LAUNCH, i, p->plan->calls[i].guard);
    f->prepares = true;
    TIRC_END(f->c, trap);
    return;
  }
  f->c->trap = trap.outer;
  pass_on(caller, f->c);
  tirc_throw(caller);
}

void tirc_frame_free(Frame *f) {
  if (!f) return;
  free(f->workspace);
  free(f->packed);
  tirc_context_release(f->c);
}
