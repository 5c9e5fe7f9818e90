/* Results against what a function should compute: a run of the reference interpreter with bounds,
 * kept, and the comparison of arrays with it. */
#include "check.h"

#include "runtime/interp/free_order.h"

#include <math.h>
#include <stdlib.h>

static const double MOST_UNDECIDED = 0.01; /* of an array's elements */

typedef struct Expected { /* of one run */
  Argument *args;
  ElementBounds *bounds;
} Expected;

struct tirc_reference {
  Tirc *c; /* holds this struct */
  const tirc_module *module;
  const Func *func;
  const tirc_param *params;
  int n;
  int64_t max_steps;
  Expected expected;
};

/* --- runs ------------------------------------------------------------------------------------- */

/* Where the function wants it: to a multiple of what it asks for. */
static void *room_for(Tirc *c, const Tensor *t, const Buffer b) {
  const uintptr_t align = b && b->align > 64 ? (uintptr_t)b->align : 1;
  char *at = tirc_alloc(c, t->bytes + align);
  return at + (align - (uintptr_t)at % align) % align;
}

static Argument *copy_arguments(Tirc *c, const Func *f, int n, const Argument *from) {
  Argument *to = tirc_new_array(c, Argument, n);
  for (int i = 0; i < n; i++) {
    to[i] = from[i];
    if (!from[i].tensor) continue;
    Tensor *t = to[i].tensor = tirc_new(c, Tensor);
    *t = *from[i].tensor;
    if (t->strides) t->strides = tirc_copy(c, t->strides, t->ndim);
    t->data = room_for(c, t, f->buffers[i]);
    memcpy(t->data, from[i].tensor->data, t->bytes);
  }
  return to;
}

static void free_bounds(int n, ElementBounds *b) {
  for (int i = 0; b && i < n; i++) {
    free(b[i].lo);
    free(b[i].hi);
    free(b[i].undecided);
    free(b[i].inside);
  }
}

static void run(Tirc *c, const Func *f, Expected *e, const tirc_reference_options *o) {
  e->bounds = tirc_new_array(c, ElementBounds, f->n_params);
  InterpOptions options = {.bounds = e->bounds};
  if (o) options.max_steps = o->max_steps, options.go_on = o->go_on, options.self = o->self;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    (void)tirc_interpret_with(c, f, f->n_params, e->args, &options);
    TIRC_END(c, trap);
    return;
  }
  free_bounds(f->n_params, e->bounds);
  tirc_throw(c);
}

typedef struct Making {
  const tirc_module *m;
  const char *func;
  int n;
  const tirc_argument *args;
  const tirc_reference_options *options;
  tirc_reference *result;
} Making;

static void make(Tirc *c, void *self) {
  Making *p = self;
  int index = 0;
  tirc_reference *r = tirc_new(c, tirc_reference);
  const Func *f = tirc_api_func(c, p->m->m, p->func, &index);
  *r = (tirc_reference){.c = c, .module = p->m, .func = f, .n = p->n};
  r->params = p->m->params[index];
  if (p->options) r->max_steps = p->options->max_steps;
  const Argument *args = tirc_api_arguments(c, f, p->n, p->args);
  if (p->n != f->n_params) { /* which says so */
    tirc_bind_arguments(c, f, p->n, args, NULL);
    return;
  }
  r->expected.args = copy_arguments(c, f, p->n, args);
  run(c, f, &r->expected, p->options);
  p->result = r;
}

tirc_status tirc_reference_new(const tirc_module *m, const char *func, int n,
                               const tirc_argument *args, const tirc_reference_options *options,
                               tirc_reference **out, tirc_error **error) {
  NEED(m, LIST(n, args), COUNT(options ? options->max_steps : 0), out);
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  Making p = {m, func, n, args, options, NULL};
  tirc_status status = tirc_api_guard(c, make, &p, &m->sources, error);
  if (status == TIRC_OK)
    *out = p.result;
  else
    tirc_context_release(c);
  return status;
}

void tirc_reference_free(tirc_reference *r) {
  if (!r) return;
  free_bounds(r->n, r->expected.bounds);
  tirc_context_release(r->c);
}

const Func *tirc_reference_function(const tirc_reference *r) { return r->func; }

bool tirc_reference_writes(const tirc_reference *r, int param) {
  return r->func->buffers[param] && r->params[param].is_written;
}

/* --- elements --------------------------------------------------------------------------------- */

/* What an element may be. */
typedef struct Admitted {
  double expected, lo, hi;
  int64_t lo_int, hi_int;
  bool is_float, anything, undecided;
} Admitted;

static Admitted admitted(const Expected *e, int param, int64_t at) {
  const Tensor *t = e->args[param].tensor;
  const ElementBounds *b = &e->bounds[param];
  Admitted r = {.expected = tirc_tensor_get(t, at), .is_float = tirc_dtype_is_float(t->dtype)};
  r.lo = r.hi = r.expected;
  if (!r.is_float) r.lo_int = r.hi_int = tirc_tensor_get_int(t, at);
  if (!b->lo) return r;
  r.undecided = b->undecided[at] != BOUND_DECIDED;
  r.anything = b->undecided[at] == BOUND_OPEN;
  if (r.is_float) {
    r.lo = b->lo[at].f, r.hi = b->hi[at].f;
  } else {
    r.lo_int = b->lo[at].i, r.hi_int = b->hi[at].i;
    if (r.lo_int != r.hi_int) r.lo = (double)r.lo_int, r.hi = (double)r.hi_int;
  }
  return r;
}

static bool is_right(const Admitted *r, const Tensor *got, int64_t at, double value) {
  if (r->anything) return true;
  if (r->is_float) return (value >= r->lo && value <= r->hi) || (isnan(value) && isnan(r->lo));
  if (got->dtype.code == TYPE_UINT && got->dtype.bits == 64)
    return tirc_tensor_get_int(got, at) == r->lo_int;
  const int64_t x = tirc_tensor_get_int(got, at);
  return x >= r->lo_int && x <= r->hi_int;
}

/* --- comparison ------------------------------------------------------------------------------- */

/* What a NaN makes of an array where max and min give NaN, and where they give the other operand:
 * elements that are NaN there and none here depend on the order in which it comes. */
typedef struct NanRuns {
  Expected stays, goes;
} NanRuns;

static bool is_by_order(const NanRuns *runs, int param, int64_t at) {
  return runs && runs->stays.args && runs->goes.args &&
         isnan(tirc_tensor_get(runs->stays.args[param].tensor, at)) &&
         !isnan(tirc_tensor_get(runs->goes.args[param].tensor, at));
}

/* How near an element comes to what is allowed; beyond it, above 1. */
static double closeness(const tirc_check *c) {
  if (!c->wrong) return c->allowed > 0 && c->error > 0 ? fmin(c->error / c->allowed, 1) : 0;
  if (!isfinite(c->error)) return (double)INFINITY;
  return 1 + 0x1p-40 + c->error / (c->allowed + 1e-300 + 0x1p-52 * fabs(c->expected));
}

static void compare_element(const Tensor *got, int64_t at, const Admitted *r, tirc_check *out) {
  *out = (tirc_check){.at = at, .got = tirc_tensor_get(got, at), .expected = r->expected};
  out->wrong = !is_right(r, got, at, out->got);
  out->error = out->got == r->expected || (isnan(out->got) && isnan(r->expected))
                   ? 0
                   : fabs(out->got - r->expected);
  if (isnan(out->error)) out->error = (double)INFINITY;
  out->allowed = fabs((out->got >= r->expected ? r->hi : r->lo) - r->expected);
  if (isnan(out->allowed)) out->allowed = 0;
  if (r->anything) out->error = 0;
}

static void compare_param(const Expected *e, int param, const Tensor *got, const NanRuns *runs,
                          tirc_check *all, double *worst) {
  const ElementBounds *b = &e->bounds[param];
  int64_t elements = 0, undecided = 0;
  for (int64_t at = 0; at < got->count; at++) {
    tirc_check one;
    if (b->inside && !b->inside[at]) continue;
    const Admitted r = admitted(e, param, at);
    elements++;
    undecided += r.undecided;
    compare_element(got, at, &r, &one);
    if (one.wrong && is_by_order(runs, param, at)) {
      all->nan_order++;
      continue;
    }
    if (one.wrong) all->wrong = true;
    const double close = closeness(&one);
    if (close <= *worst) continue;
    *worst = close;
    all->param = "", all->at = at, all->got = one.got, all->expected = one.expected;
    all->error = one.error, all->allowed = one.allowed;
  }
  all->elements += elements;
  all->undecided += undecided;
  if ((double)undecided > MOST_UNDECIDED * (double)elements) all->too_undecided = true;
}

static bool same_layout(const Tensor *a, const Tensor *b) {
  return a && tirc_dtype_equal(a->dtype, b->dtype) && a->count == b->count;
}

static tirc_check compare_all(const tirc_reference *r, const Expected *e, const Argument *got,
                              const NanRuns *runs) {
  tirc_check all = {0};
  double worst = -1;
  for (int i = 0; i < r->n; i++) {
    const char *before = all.param;
    tirc_check kept = all;
    if (!r->func->buffers[i]) continue;
    all.param = NULL;
    double reached = r->params[i].is_written ? worst : 1;
    compare_param(e, i, got[i].tensor, runs, &all, &reached);
    if (!r->params[i].is_written) all.elements = kept.elements, all.undecided = kept.undecided;
    if (all.param) worst = reached;
    all.param = all.param ? r->params[i].name : before;
  }
  all.ok = !all.wrong && !all.too_undecided;
  return all;
}

static bool has_nan_input(const tirc_reference *r) {
  for (int i = 0; i < r->n; i++)
    for (int64_t j = 0; r->func->buffers[i] && j < r->expected.args[i].tensor->count; j++)
      if (isnan(tirc_tensor_get(r->expected.args[i].tensor, j))) return true;
  return false;
}

/* What the program makes of the same inputs in another order. The outputs hold what it made before:
 * one that is read before it is written is another input now, and its result only differs more.
 * Nothing where the order decides nothing. */
static void run_freely(Tirc *c, const tirc_reference *r, const Argument *chosen, NanOrder nan,
                       Expected *out) {
  const FreeOrder o = tirc_free_order(c, r->func, chosen != NULL, nan);
  if (!o.func) return;
  const Argument *own = copy_arguments(c, r->func, r->n, r->expected.args);
  Expected e = {.args = tirc_new_array(c, Argument, r->n + o.n_chosen)};
  memcpy(e.args, own, (size_t)r->n * sizeof *own);
  for (int i = 0; i < o.n_chosen; i++) e.args[r->n + i] = chosen[o.chosen[i]];
  run(c, o.func, &e, &(tirc_reference_options){.max_steps = r->max_steps});
  for (int i = r->n; i < r->n + o.n_chosen; i++) free_bounds(1, &e.bounds[i]);
  *out = e;
}

typedef struct Comparing {
  const tirc_reference *r;
  int n;
  const tirc_argument *got;
  tirc_check result;
} Comparing;

typedef struct AnyOrder {
  NanRuns nan;
  Expected chosen;
} AnyOrder;

/* What cannot be run so (its steps are out) is not excused. */
static void compare_in_any_order(Tirc *c, Comparing *p, const Argument *got) {
  const tirc_reference *r = p->r;
  AnyOrder *k = tirc_new(c, AnyOrder);
  Trap trap;
  if (r->module->lowered) return;
  if (TIRC_TRY(c, trap)) {
    if (has_nan_input(r)) {
      run_freely(c, r, NULL, NAN_STAYS, &k->nan.stays);
      run_freely(c, r, NULL, NAN_GOES, &k->nan.goes);
    }
    run_freely(c, r, got, NAN_AS_WRITTEN, &k->chosen);
    TIRC_END(c, trap);
  }
  p->result = compare_all(r, k->chosen.args ? &k->chosen : &r->expected, got, &k->nan);
  free_bounds(r->n, k->chosen.bounds);
  free_bounds(r->n, k->nan.stays.bounds);
  free_bounds(r->n, k->nan.goes.bounds);
}

static void compare(Tirc *c, void *self) {
  Comparing *p = self;
  const tirc_reference *r = p->r;
  const Argument *got = tirc_api_arguments(c, r->func, p->n, p->got);
  for (int i = 0; i < r->n; i++)
    if (p->n != r->n ||
        (r->func->buffers[i] && !same_layout(got[i].tensor, r->expected.args[i].tensor)))
      tirc_fail(c, r->func->loc, CODE_ARGUMENT, "give the arguments that the function was run with",
                p->n != r->n ? "%s takes different arguments"
                             : "an array of %s differs in shape or type from the reference",
                r->func->name);
  p->result = compare_all(r, &r->expected, got, NULL);
  if (!p->result.ok) compare_in_any_order(c, p, got);
}

tirc_status tirc_reference_check(const tirc_reference *r, int n, const tirc_argument *got,
                                 tirc_check *out, tirc_error **error) {
  NEED(r, LIST(n, got), out);
  Comparing p = {.r = r, .n = n, .got = got};
  const tirc_status status = tirc_api_scratch(compare, &p, &r->module->sources, error);
  if (status == TIRC_OK) *out = p.result;
  return status;
}

void tirc_reference_element(const tirc_reference *r, int param, int64_t at, double *expected,
                            double *least, double *greatest) {
  Admitted e = {.expected = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};
  if (r && param >= 0 && param < r->n && r->func->buffers[param] && at >= 0 &&
      at < r->expected.args[param].tensor->count) {
    const uint8_t *inside = r->expected.bounds[param].inside;
    e = admitted(&r->expected, param, at);
    if (inside && !inside[at]) e.lo = -(double)INFINITY, e.hi = (double)INFINITY;
  }
  if (expected) *expected = e.expected;
  if (least) *least = e.lo;
  if (greatest) *greatest = e.hi;
}
