/* What a function computes: arguments for it, runs of the interpreter, and whether another function
 * computes the same. */
#include "meaning.h"

#include "ir/arith/index_eval.h"
#include "ir/tree/visit.h"
#include "passes/schedule/shape/shape.h"
#include "rng.h"
#include "runtime/interp/free_order.h"

#include <math.h>

enum { ARBITRARY = 42 };

/* By name: a schedule may make the same symbol anew. */
static int64_t size_of(const char *name, int set) {
  /* 1, powers of two, their neighbours, and what tiles of 2 to 8 divide or do not. */
  static const int64_t sizes[VALUES_EQUAL_SETS] = {24, 7, 1,  16, 13, 2, 33, 5,
                                                   8,  3, 17, 12, 4,  9, 6,  32};
  if (set == 0) return 0;
  if (set <= VALUES_EQUAL_SETS) return sizes[set - 1];
  Rng r = {(uint64_t)set};
  for (; *name; name++) r.state = rng_next(&r) ^ (uint64_t)*name;
  return sizes[rng_below(&r, VALUES_EQUAL_SETS)];
}

typedef struct Given {
  IndexEval env;
  int set;
} Given;
static bool give_size(Visitor *v, Expr e) {
  Given *g = v->self;
  if (e->op == OP_VAR && g->set) tirc_eval_give(&g->env, e, size_of(e->u.s, g->set));
  return true;
}

/* False: it is not known. */
static bool extent_of(Tirc *c, Expr e, int set, int64_t *out) {
  Given sizes = {.env = {.c = c}, .set = set};
  tirc_visit_expr(&(Visitor){.expr = give_size, .self = &sizes}, e);
  return tirc_eval_index(&sizes.env, e, out);
}

/* The function's scalars, and the symbols in the shapes of its parameters. */
typedef struct Symbols {
  Tirc *c;
  VEC(Expr) at;
} Symbols;
static Symbols symbols_of(Tirc *c, const Func *f) {
  Symbols out = {.c = c};
  Expr *in_shapes;
  const int n = tirc_symbolic_params(c, f, &in_shapes);
  for (int i = 0; i < n; i++) vec_push(c, out.at, in_shapes[i]);
  for (int i = 0; i < f->n_params; i++)
    if (!f->buffers[i]) vec_push(c, out.at, f->params[i]);
  return out;
}

const char *values_sizes_text(Tirc *c, const Func *f, int set) {
  Text t = {.c = c};
  tirc_text_add(&t, "");
  const Symbols symbols = symbols_of(c, f);
  for (int i = 0; i < symbols.at.n && set; i++) {
    const char *name = symbols.at.at[i]->u.s;
    tirc_text_addf(&t, "%s%s = %lld", i ? ", " : "for ", name, (long long)size_of(name, set));
  }
  if (set) tirc_text_add(&t, ": ");
  return t.at;
}

bool values_can_be_made(Tirc *c, const Func *f, int set) {
  bool known = f->n_params <= VALUES_MAX;
  int64_t extent, elements = 1;
  for (int i = 0; i < f->n_params && known; i++) {
    known = f->buffers[i] || set;
    for (int d = 0; known && f->buffers[i] && d < f->buffers[i]->ndim; d++)
      known = extent_of(c, f->buffers[i]->shape[d], set, &extent) && extent >= 0 &&
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

static Tensor *tensor_for(Tirc *c, Buffer b, int set) {
  int64_t shape[TENSOR_MAX_NDIM] = {0};
  for (int d = 0; d < b->ndim; d++) (void)extent_of(c, b->shape[d], set, &shape[d]);
  return tirc_tensor_new(c, b->dtype, b->ndim, shape);
}

void values_make(Tirc *c, const Func *f, Values *out) {
  Rng r = {42 + (uint64_t)out->n + out->seed};
  for (int i = out->n; i < f->n_params && i < VALUES_MAX; i++, out->n++) {
    if (!f->buffers[i]) continue;
    Tensor *t = out->at[i] = tensor_for(c, f->buffers[i], out->set);
    const bool rounds = out->tolerance > 0 && tirc_dtype_is_float(f->buffers[i]->dtype);
    for (int64_t k = 0; k < t->count; k++) {
      const int value = rng_below(&r, 7) - 3; /* of a bool, which has two: whether it is positive */
      const double more = rounds ? rng_below(&r, 1 << 16) * 0x1p-16 : 0;
      tirc_tensor_set(t, k, f->buffers[i]->dtype.code == TYPE_BOOL ? value > 0 : value + more);
    }
  }
}

/* With sizes for scalars; the tensors are still to be given. */
static Argument *arguments_for(Tirc *c, const Func *f, int set) {
  Argument *out = tirc_new_array(c, Argument, f->n_params);
  for (int i = 0; i < f->n_params; i++) {
    const int64_t size = f->buffers[i] ? 0 : size_of(f->params[i]->u.s, set);
    out[i] = (Argument){.i = size, .f = (double)size};
  }
  return out;
}

const char *values_run(Tirc *c, const Func *f, const Values *v, const InterpOptions *options) {
  Argument *args = arguments_for(c, f, v->set);
  for (int i = 0; i < v->n; i++) args[i].tensor = v->at[i];
  Trap t;
  if (TIRC_TRY(c, t)) {
    tirc_interpret_with(c, f, v->n, args, options);
    TIRC_END(c, t);
    return NULL;
  }
  return tirc_format(c, "running it: [%s] %s", tirc_codes[c->diag.code].text, c->diag.message);
}

void values_relay(Tirc *c, const Module *m, Values *v, const Func *program, bool back) {
  const Func *now = tirc_module_main(m);
  for (int i = 0; i < program->n_params && i < v->n; i++) {
    const Module *copy = tirc_relayout(c, m, now, i, back);
    if (!copy) continue;
    Tensor *from = v->at[i], *to = tensor_for(c, (back ? program : now)->buffers[i], v->set);
    Argument *args = arguments_for(c, copy->funcs[0], v->set);
    args[0].tensor = from;
    args[1].tensor = to;
    tirc_interpret(c, copy->funcs[0], copy->funcs[0]->n_params, args, VALUES_MAX_STEPS);
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
  Symbols symbols;
  VEC(Expr) params;
  VEC(Buffer) buffers;
} Opened;

typedef struct Foreign {
  const Symbols *symbols;
  bool found;
} Foreign;
static bool see_foreign(Visitor *v, Expr e) {
  Foreign *k = v->self;
  bool known = e->op != OP_VAR && e->op != OP_LOAD;
  for (int i = 0; i < k->symbols->at.n; i++) known |= e == k->symbols->at.at[i];
  k->found |= !known;
  return true;
}

/* Whether each extent is made of constants and the function's symbols. */
static bool has_known_shape(const Symbols *symbols, Buffer b) {
  Foreign k = {.symbols = symbols};
  for (int d = 0; d < b->ndim; d++)
    tirc_visit_expr(&(Visitor){.expr = see_foreign, .self = &k}, b->shape[d]);
  return !k.found;
}

static Stmt open_block(Mutator *m, Stmt s) {
  Opened *o = m->self;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_BLOCK) return s;
  Block b = s->u.block;
  Buffer *kept = tirc_new_array(o->c, Buffer, b.n_allocs + 1);
  int n = 0;
  for (int i = 0; i < b.n_allocs; i++) {
    if (!has_known_shape(&o->symbols, b.allocs[i]) || strcmp(b.allocs[i]->scope, "shared") != 0) {
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
  Opened o = {.c = c, .symbols = symbols_of(c, f)};
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
      const bool same =
          !tirc_dtype_is_int(f->buffers[i]->dtype) ||
          tirc_tensor_get_int(expected->at[i], k) == tirc_tensor_get_int(got->at[i], k);
      if (!same || differs(a, b, expected->tolerance))
        return tirc_format(c, "element %lld of %s is %g, not %g", (long long)k, f->buffers[i]->name,
                           b, a);
    }
  return NULL;
}

/* The same, but of equal candidates of an argmax the function may have taken any. */
static const char *compare_choosing(Tirc *c, const Func *program, const Values *expected,
                                    const Values *got) {
  const FreeOrder o = tirc_free_order(c, program, true, NAN_AS_WRITTEN);
  Values again = {.seed = expected->seed, .set = expected->set, .tolerance = expected->tolerance};
  if (!o.func || program->n_params + o.n_chosen > VALUES_MAX) return NULL;
  values_make(c, program, &again);
  for (int i = 0; i < o.n_chosen; i++) {
    const Tensor *from = got->at[o.chosen[i]];
    Tensor *to = tensor_for(c, program->buffers[o.chosen[i]], expected->set);
    for (int64_t k = 0; k < to->count; k++) tirc_tensor_set(to, k, tirc_tensor_get(from, k));
    again.at[again.n++] = to;
  }
  const char *why = values_run(c, o.func, &again, &(InterpOptions){.max_steps = VALUES_MAX_STEPS});
  for (; again.n > program->n_params; again.n--) tirc_tensor_free(again.at[again.n - 1]);
  if (!why) why = values_compare(c, program, &again, got);
  values_free(&again);
  return why ? why : "";
}

const char *values_differ(Tirc *c, const Func *program, const Values *expected, const Values *got) {
  const char *why = values_compare(c, program, expected, got);
  const char *freely = why ? compare_choosing(c, program, expected, got) : NULL;
  return freely ? *freely ? freely : NULL : why;
}

const char *values_check(Tirc *c, const Func *program, const Module *m, const Func *f,
                         const Values *expected, bool *early) {
  Values got = {.seed = expected->seed, .set = expected->set, .tolerance = expected->tolerance};
  values_for(c, program, m, f, &got);
  const char *why = values_run(c, f, &got, &(InterpOptions){.max_steps = VALUES_MAX_STEPS});
  *early = why && c->diag.code == CODE_UNINITIALISED;
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
    why = values_differ(c, program, expected, &got);
  } else if (c->diag.code == CODE_STEPS) {
    why = NULL; /* legal, and too much recomputation to run to the end */
  }
  values_free(&got);
  return why;
}
