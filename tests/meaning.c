/* What a function computes: arguments for it, runs of the interpreter, and whether another function
 * computes the same. */
#include "meaning.h"

#include "ir/visit.h"
#include "passes/schedule/index_eval.h"
#include "passes/schedule/internal.h"
#include "rng.h"

#include <math.h>

enum { ARBITRARY = 42 };

/* False: it is not known. */
static bool extent_of(Tirc *c, Expr e, int64_t symbols, int64_t *out) {
  IndexEval env = {.c = c, .otherwise = symbols};
  return tirc_const_int(e, out) || (symbols && tirc_eval_index(&env, e, out));
}

static bool has_known_shape(Buffer b) {
  int64_t extent;
  for (int d = 0; d < b->ndim; d++)
    if (!tirc_const_int(b->shape[d], &extent)) return false;
  return true;
}

bool values_can_be_made(Tirc *c, const Func *f, int64_t symbols) {
  bool known = f->n_params <= VALUES_MAX;
  int64_t extent, elements = 1;
  for (int i = 0; i < f->n_params && known; i++) {
    known = f->buffers[i] || symbols;
    for (int d = 0; known && f->buffers[i] && d < f->buffers[i]->ndim; d++)
      known = extent_of(c, f->buffers[i]->shape[d], symbols, &extent) &&
              !__builtin_mul_overflow(elements, extent ? extent : 1, &elements) &&
              elements <= VALUES_MAX_STEPS;
    elements = 1;
  }
  return known;
}

void values_free(Values *v) {
  for (int i = 0; i < v->n; i++) tirc_tensor_free(v->at[i]);
  v->n = 0;
}

static Tensor *tensor_for(Tirc *c, Buffer b, int64_t symbols) {
  int64_t shape[TENSOR_MAX_NDIM] = {0};
  for (int d = 0; d < b->ndim; d++) (void)extent_of(c, b->shape[d], symbols, &shape[d]);
  return tirc_tensor_new(c, b->dtype, b->ndim, shape);
}

void values_make(Tirc *c, const Func *f, Values *out) {
  Rng r = {42 + (uint64_t)out->n + out->seed};
  for (int i = out->n; i < f->n_params && i < VALUES_MAX; i++, out->n++) {
    if (!f->buffers[i]) continue;
    Tensor *t = out->at[i] = tensor_for(c, f->buffers[i], out->symbols);
    const bool rounds = out->tolerance > 0 && tirc_dtype_is_float(f->buffers[i]->dtype);
    for (int64_t k = 0; k < t->count; k++) {
      const int value = rng_below(&r, 7) - 3; /* of a bool, which has two: whether it is positive */
      const double more = rounds ? rng_below(&r, 1 << 16) * 0x1p-16 : 0;
      tirc_tensor_set(t, k, f->buffers[i]->dtype.code == TYPE_BOOL ? value > 0 : value + more);
    }
  }
}

const char *values_run(Tirc *c, const Func *f, const Values *v, const InterpOptions *options) {
  Argument args[VALUES_MAX] = {0};
  for (int i = 0; i < v->n; i++)
    args[i] = (Argument){.tensor = v->at[i], .i = v->symbols, .f = (double)v->symbols};
  Trap t;
  if (TIRC_TRY(c, t)) {
    tirc_interpret_with(c, f, v->n, args, options);
    TIRC_END(c, t);
    return NULL;
  }
  return tirc_format(c, "running it: [%s] %s", c->diag.code, c->diag.message);
}

void values_relay(Tirc *c, const Module *m, Values *v, const Func *program, bool back) {
  const Func *now = tirc_module_main(m);
  for (int i = 0; i < program->n_params && i < v->n; i++) {
    const Module *copy = tirc_relayout(c, m, now, i, back);
    if (!copy) continue;
    Tensor *from = v->at[i], *to = tensor_for(c, (back ? program : now)->buffers[i], v->symbols);
    Argument args[2] = {{.tensor = from}, {.tensor = to}};
    tirc_interpret(c, copy->funcs[0], 2, args, VALUES_MAX_STEPS);
    tirc_tensor_free(from);
    v->at[i] = to;
  }
}

void values_for(Tirc *c, const Func *program, const Module *m, const Func *f, Values *out) {
  values_make(c, program, out);
  values_relay(c, m, out, program, false);
  values_make(c, f, out);
}

typedef struct Opened {
  Tirc *c;
  VEC(Expr) params;
  VEC(Buffer) buffers;
} Opened;

static Stmt open_block(Mutator *m, Stmt s) {
  Opened *o = m->self;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_BLOCK) return s;
  Block b = s->u.block;
  Buffer *kept = tirc_new_array(o->c, Buffer, b.n_allocs + 1);
  int n = 0;
  for (int i = 0; i < b.n_allocs; i++) {
    if (!has_known_shape(b.allocs[i]) || strcmp(b.allocs[i]->scope, "shared") != 0) {
      kept[n++] = b.allocs[i];
      continue;
    }
    vec_push(o->c, o->params, tirc_var(o->c, "p", DT_HANDLE));
    vec_push(o->c, o->buffers, b.allocs[i]);
  }
  b.n_allocs = n;
  b.allocs = kept;
  return tirc_block(o->c, &b);
}

/* What threads fill together as parameters: they wait for each other, not here. */
static const Func *shared_as_params(Tirc *c, const Func *f) {
  Opened o = {.c = c};
  Func *out = tirc_new(c, Func);
  *out = *f;
  for (int i = 0; i < f->n_params; i++) {
    vec_push(c, o.params, f->params[i]);
    vec_push(c, o.buffers, f->buffers[i]);
  }
  out->body = tirc_mutate_stmt(&(Mutator){.c = c, .stmt = open_block, .self = &o}, f->body);
  out->n_params = o.params.n;
  out->params = o.params.at;
  out->buffers = o.buffers.at;
  return out;
}

static bool differs(double a, double b, double tolerance) {
  if (isnan(a) || isnan(b)) return isnan(a) != isnan(b);
  return a != b && !(fabs(a - b) <= tolerance * (1 + fabs(a)));
}

const char *values_compare(Tirc *c, const Func *f, const Values *expected, const Values *got) {
  for (int i = 0; i < expected->n; i++)
    for (int64_t k = 0; expected->at[i] && k < expected->at[i]->count; k++) {
      double a = tirc_tensor_get(expected->at[i], k), b = tirc_tensor_get(got->at[i], k);
      if (differs(a, b, expected->tolerance))
        return tirc_format(c, "element %lld of %s is %g, not %g", (long long)k, f->buffers[i]->name,
                           b, a);
    }
  return NULL;
}

const char *values_check(Tirc *c, const Func *program, const Module *m, const Func *f,
                         const Values *expected, bool *early) {
  Values got = {
      .seed = expected->seed, .symbols = expected->symbols, .tolerance = expected->tolerance};
  values_for(c, program, m, f, &got);
  const char *why = values_run(c, f, &got, &(InterpOptions){.max_steps = VALUES_MAX_STEPS});
  *early = why && strcmp(c->diag.code, "uninitialised") == 0;
  if (*early) {
    /* An instance may run early on what is not there yet, if it runs again when it is: what buffers
     * hold at the start must not matter. */
    values_free(&got);
    const Func *open = shared_as_params(c, f);
    if (open->n_params <= VALUES_MAX) {
      values_for(c, program, m, open, &got);
      why = values_run(c, open, &got,
                       &(InterpOptions){.max_steps = VALUES_MAX_STEPS, .arbitrary = ARBITRARY});
    }
  }
  if (!why) {
    values_relay(c, m, &got, program, true);
    why = values_compare(c, program, expected, &got);
  } else if (strcmp(c->diag.code, "steps") == 0) {
    why = NULL; /* legal, and too much recomputation to run to the end */
  }
  values_free(&got);
  return why;
}
