/* Why a call failed, from the status that its code gave. */
#include "kernel.h"
#include "on_device.h"

#include "codegen/failures.h"
#include "ir/arith/arith.h"
#include "ir/tree/find.h"
#include "ir/tree/visit.h"
#include "passes/lower/extents.h"
#include "runtime/interp/interp.h"

static bool is_load(const void *self, Expr e) { return (void)self, e->op == OP_LOAD; }

typedef struct Failed {
  const tirc_launch *launch;
  int status;
} Failed;

/* --- what failed, by the interpreter ---------------------------------------------------------- */

enum { MOST_STEPS = 1 << 22, MOST_BYTES = 1 << 26 };

typedef struct Copying {
  Tirc *c;
  const tirc_launch *launch;
  PtrMap symbols; /* of the function, not of what was lowered from it, by their names */
  Text words;     /* ", n = 4" */
  int64_t room;
} Copying;

static void know_symbols(Copying *k) {
  const PtrMap *from = &k->launch->symbols;
  Expr *symbols;
  const int n = tirc_extent_params(k->c, k->launch->kernel->func, &symbols);
  for (size_t i = 0; i < from->cap; i++) {
    Expr known = (Expr)(uintptr_t)from->keys[i];
    if (!known || !tirc_map_has(from, known)) continue;
    for (int s = 0; s < n; s++)
      if (strcmp(symbols[s]->u.s, known->u.s) == 0)
        tirc_map_set(k->c, &k->symbols, symbols[s], tirc_map_get(from, known));
  }
  for (int s = 0; s < n; s++) {
    Expr value = tirc_map_get(&k->symbols, symbols[s]);
    if (value) tirc_text_addf(&k->words, ", %s = %lld", symbols[s]->u.s, (long long)value->u.i);
  }
}

/* A copy of what the call got, for others may write to it meanwhile; false: of what it is not. */
static bool copy_array(Copying *k, Buffer b, const void *data, Tensor *out) {
  Tirc *c = k->c;
  *out = (Tensor){.dtype = b->dtype, .ndim = b->ndim, .count = 1};
  if (b->strides || b->elem_offset || b->ndim > TENSOR_MAX_NDIM || b->dtype.lanes > 1) return false;
  for (int i = 0; i < b->ndim; i++) {
    Expr extent = tirc_simplify0(c, tirc_substitute(c, b->shape[i], &k->symbols));
    if (!tirc_const_int(extent, &out->shape[i]) || out->shape[i] < 0) return false;
    if (__builtin_mul_overflow(out->count, out->shape[i], &out->count)) return false;
  }
  const int64_t size = tirc_dtype_bytes(b->dtype);
  if (out->count > k->room / size) return false;
  k->room -= out->count * size;
  out->bytes = (size_t)(out->count * size);
  out->data = memcpy(tirc_alloc(c, out->bytes + 1), data, out->bytes);
  return true;
}

static bool copy_scalar(const Copying *k, Expr param, Argument *out) {
  Expr value = tirc_map_get(&k->symbols, param);
  if (!value || value->op != OP_INT) return false;
  out->i = value->u.i;
  return true;
}

static bool copy_arguments(Copying *k, Argument *args) {
  const Func *f = k->launch->kernel->func;
  know_symbols(k);
  for (int i = 0; i < f->n_params; i++) {
    Buffer b = f->buffers[i];
    if (b) args[i].tensor = tirc_new(k->c, Tensor);
    if (b ? !copy_array(k, b, k->launch->packed[i], args[i].tensor)
          : !copy_scalar(k, f->params[i], &args[i]))
      return false;
  }
  return true;
}

/* Throws what the interpreter says of an assertion that fails for these arrays, with the element
 * and where the loops stand, if that loads, and of what has no value. Otherwise nothing is said,
 * unless it is another one that fails first: passes know what is assumed. */
static void interpret(Tirc *c, const tirc_launch *launch, Stmt check) {
  const Func *f = launch->kernel->func;
  Argument *args = tirc_new_array(c, Argument, f->n_params);
  Copying k = {.c = c, .launch = launch, .words = {.c = c}, .room = MOST_BYTES};
  Trap trap;
  if (launch->device_call || !copy_arguments(&k, args)) return;
  if (TIRC_TRY(c, trap)) {
    tirc_interpret(c, f, f->n_params, args, MOST_STEPS);
    TIRC_END(c, trap);
    return;
  }
  c->trap = trap.outer;
  const Diag found = c->diag;
  if (found.code == CODE_DIVISION || found.code == CODE_OVERFLOW)
    tirc_fail(c, found.loc.line ? found.loc : f->loc, found.code,
              found.hint ? tirc_strdup(c, found.hint) : NULL, "%s%s", found.message,
              k.words.n ? k.words.at : "");
  const bool loads = tirc_find_expr(check->u.check.cond, is_load, NULL) != NULL;
  const bool is_other = check->loc.line && !strstr(found.message, check->u.check.message);
  if (found.code != CODE_ASSERT || (!loads && !is_other)) return;
  tirc_fail(c, found.loc.line ? found.loc : f->loc, CODE_ASSERT, NULL, "%s%s", found.message,
            k.words.n ? k.words.at : "");
}

/* Memory may be out because an extent came out wrong. */
static void fail_call(Tirc *c, void *self) {
  const Failed *failed = self;
  const tirc_launch *launch = failed->launch;
  const tirc_kernel *k = launch->kernel;
  if (failed->status == DEVICE_FAILED) tirc_device_call_failed(c, launch->device_call);
  Failures all = {0};
  tirc_failures_add(c, &all, k->lowered);
  const Failure *failure = tirc_failure_of_code(&all, failed->status);
  const bool is_written = failure && failure->assertion->loc.line > 0;
  Loc loc = k->func->loc;
  const char *why =
      is_written ? NULL : tirc_failed_extent(c, k->lowered->body, &launch->symbols, &loc);
  if (why) tirc_fail(c, loc, CODE_ASSERT, "use smaller extents, or wider types", "%s", why);
  if (failed->status == STATUS_NO_MEMORY)
    tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  if (failure) interpret(c, launch, failure->assertion);
  const char *message = failure ? failure->assertion->u.check.message : NULL;
  tirc_fail(c, is_written ? failure->assertion->loc : loc, CODE_ASSERT, NULL,
            "the assertion fails: %s", message ? message : "");
}

tirc_status tirc_api_launch_failed(const tirc_launch *launch, int failed, tirc_error **error) {
  Failed failure = {launch, failed};
  return tirc_api_scratch(fail_call, &failure, &launch->kernel->sources, error);
}
