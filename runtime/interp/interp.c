/* The reference interpreter's entry: binds the arguments, compiles the body (code.h) and
 * runs it. Everything it needs lives in a context of its own, so a run leaves nothing behind. */
#include "code.h"

#include "passes/lower/extents.h"

#include "ir/tree/print.h"

#include <stdarg.h>
#include <stdlib.h>

enum { LOOPS_SHOWN = 12 };

const char *tirc_run_text(Run *run, Expr e) {
  return run->attempts ? "" : tirc_print_expr(run->t, e);
}

/* " (i = 3, j = 4)": the loops and iterators around a step. */
static const char *loop_values(Run *run) {
  const Step *loops[LOOPS_SHOWN];
  int n = 0;
  for (const Step *s = run->at; s && n < LOOPS_SHOWN; s = s->parent)
    if (s->stmt->kind == STMT_FOR) loops[n++] = s;
  Text text = {.c = run->t};
  for (int i = n - 1; i >= 0; i--)
    tirc_text_addf(&text, "%s%s = %lld", i == n - 1 ? ", at " : ", ",
                   loops[i]->stmt->u.loop.var->u.s, (long long)loops[i]->u.loop.cell->i);
  return text.at ? text.at : "";
}

bool tirc_ends_all(DiagCode code) {
  return code == CODE_STEPS || code == CODE_INTERRUPTED || code == CODE_MEMORY;
}

_Noreturn void tirc_run_fail(Run *run, DiagCode code, const char *hint, const char *format, ...) {
  if (run->attempts && !tirc_ends_all(code)) {
    run->t->diag = (Diag){.status = TIRC_STATUS_BAD, .code = code};
    tirc_throw(run->t);
  }
  va_list args;
  va_start(args, format);
  const char *what = tirc_vformat(run->t, format, args);
  va_end(args);
  Loc loc = {0};
  const char *block = NULL;
  for (const Step *s = run->at; s; s = s->parent) {
    if (!loc.line) loc = s->stmt->loc;
    if (!block && s->stmt->kind == STMT_BLOCK) block = s->stmt->u.block.name;
  }
  tirc_fail(run->t, loc, code, hint, "%s%s%s%s%s", what, block ? " in block \"" : "",
            block ? block : "", block ? "\"" : "", loop_values(run));
}

Cell *tirc_compile_var(Compiler *k, Expr var) {
  Cell *cell = tirc_new_array(k->t, Cell, var->dtype.lanes ? var->dtype.lanes : 1);
  tirc_map_set(k->t, &k->vars, var, cell);
  return cell;
}

/* The array's elements as doubles, and back. */
static double *widen(Compiler *k, const float *from, int64_t n) {
  double *to = tirc_new_array(k->t, double, n);
  for (int64_t i = 0; i < n; i++) to[i] = (double)from[i];
  return to;
}
static void narrow(const View *v, Tensor *to) {
  const double *from = (const double *)(const void *)v->memory->data;
  float *at = (float *)to->data;
  for (int64_t i = 0; i < v->memory->bytes / (int64_t)sizeof *from; i++) at[i] = (float)from[i];
}

static void bind_buffer(Compiler *k, Buffer b, Expr handle, Tensor *tensor) {
  Memory *m = tirc_declare_memory(k, b);
  if (handle != b->data) tirc_map_set(k->t, &k->memories, handle, m);
  View *v = tirc_declare_view(k, b, m);
  int64_t elements = (int64_t)tensor->bytes / tirc_dtype_bytes(b->dtype);
  bool wide = v->elem != tirc_dtype_bytes(b->dtype);
  m->data = wide ? (char *)widen(k, (const float *)tensor->data, elements) : tensor->data;
  m->bytes = elements * v->elem;
}

/* The elements of a parameter as values of its type. */
static void take_bounds(Tirc *t, const View *v, ElementBounds *out) {
  const Shade *shade = &v->memory->shade;
  const DType type = v->buffer->dtype;
  const bool floats = tirc_dtype_is_float(type);
  if (!shade->on) return;
  const size_t n = (size_t)shade->count;
  out->count = shade->count;
  out->lo = malloc((n + 1) * sizeof *out->lo);
  out->hi = malloc((n + 1) * sizeof *out->hi);
  out->undecided = malloc(n + 1);
  if (!out->lo || !out->hi || !out->undecided)
    tirc_fail(t, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  for (int64_t e = 0; e < out->count; e++) {
    Cell value = tirc_get_element(v, e);
    Reach b;
    tirc_bound_element(v, e, value, &b);
    if (floats) {
      tirc_bound_close(&b, type);
      tirc_set_element(v, e, b.v);
    }
    out->lo[e].i = b.lo.i, out->hi[e].i = b.hi.i;
    out->undecided[e] = b.open ? BOUND_OPEN : b.hung ? BOUND_HUNG : BOUND_DECIDED;
  }
}

static void mark_elements(const View *v, int d, int64_t at, uint8_t *inside) {
  if (d == v->ndim) {
    inside[at] = 1;
    return;
  }
  for (int64_t i = 0; i < v->shape[d]; i++) mark_elements(v, d + 1, at + i * v->stride[d], inside);
}
/* Those of a buffer that does not reach all of its memory. */
static void find_inside(Tirc *t, const View *v, ElementBounds *out) {
  if (!v->buffer->strides && !v->buffer->elem_offset) return;
  out->count = v->count;
  out->inside = calloc((size_t)v->count + 1, 1);
  if (!out->inside) tirc_fail(t, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  mark_elements(v, 0, v->offset, out->inside);
}

static void bind_scalar(Compiler *k, Expr param, const Argument *a) {
  Cell *cell = tirc_compile_var(k, param);
  if (tirc_dtype_is_float(param->dtype))
    cell->f = tirc_round_float(param->dtype, a->f);
  else
    cell->i = a->i;
}

/* As compiled code does on entry. */
static void check_extents(Tirc *t, const Func *f, int n_symbols, Expr *symbols,
                          const int64_t *values, const Argument *args) {
  PtrMap known = {0};
  for (int i = 0; i < n_symbols; i++)
    tirc_map_set(t, &known, symbols[i], tirc_int(t, symbols[i]->dtype, values[i]));
  for (int i = 0; i < f->n_params; i++)
    if (!f->buffers[i] && tirc_dtype_is_int(f->params[i]->dtype))
      tirc_map_set(t, &known, f->params[i], tirc_int_of_bits(t, f->params[i]->dtype, args[i].i));
  Loc loc = f->loc;
  const char *why = known.n ? tirc_failed_extent(t, tirc_extents_alone(t, f), &known, &loc) : NULL;
  if (why) tirc_fail(t, loc, CODE_ASSERT, "use smaller extents, or wider types", "%s", why);
}

static void interpret(Tirc *t, const Func *f, int n_args, const Argument *args,
                      const InterpOptions *o) {
  Compiler k = {.t = t,
                .loc = f->loc,
                .in_double = o->in_double || o->bounds,
                .bounded = o->bounds != NULL,
                .launches = o->launch != NULL};
  Run run = {.t = t,
             .max_steps = o->max_steps > 0 ? o->max_steps : INT64_MAX,
             .wishes = o->go_on ? o : NULL,
             .launches = o,
             .observer = o->observer,
             .arbitrary = o->arbitrary};
  Expr *symbols;
  int n_symbols = tirc_symbolic_params(t, f, &symbols);
  int64_t *values = tirc_new_array(t, int64_t, n_symbols);
  tirc_bind_arguments(t, f, n_args, args, values);
  for (int i = 0; i < n_symbols; i++) tirc_compile_var(&k, symbols[i])->i = values[i];
  check_extents(t, f, n_symbols, symbols, values, args);
  for (int i = 0; i < f->n_params; i++)
    if (!f->buffers[i]) bind_scalar(&k, f->params[i], &args[i]);
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i]) bind_buffer(&k, f->buffers[i], f->params[i], args[i].tensor);
  const Step *body = tirc_compile_stmt(&k, f->body);
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i]) {
      View *v = tirc_map_get(&k.views, f->buffers[i]);
      tirc_open_view(&run, v);
      tirc_open_late_views(&run, v->memory);
    }
  body->run(&run, body);
  for (int i = 0; i < f->n_params; i++) {
    const View *v = f->buffers[i] ? tirc_map_get(&k.views, f->buffers[i]) : NULL;
    if (v && o->bounds) take_bounds(t, v, &o->bounds[i]), find_inside(t, v, &o->bounds[i]);
    if (v && v->elem != tirc_dtype_bytes(f->buffers[i]->dtype)) narrow(v, args[i].tensor);
  }
}

static const char *keep(Tirc *c, const char *s) { return s ? tirc_strdup(c, s) : NULL; }

bool tirc_interpret_with(Tirc *c, const Func *f, int n_args, const Argument *args,
                         const InterpOptions *o) {
  Tirc *t = tirc_context_new();
  if (!t) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  if (c->max_bytes) t->max_bytes = c->max_bytes > c->bytes ? c->max_bytes - c->bytes : 1;
  Trap trap, copy;
  if (TIRC_TRY(t, trap)) {
    interpret(t, f, n_args, args, o);
    TIRC_END(t, trap);
    tirc_context_release(t);
    return true;
  }
  if (t->diag.code == CODE_ENDED) {
    tirc_context_release(t);
    return false;
  }
  if (TIRC_TRY(c, copy)) {
    Diag d = t->diag;
    d.message = keep(c, d.message);
    d.hint = keep(c, d.hint);
    c->diag = d;
    TIRC_END(c, copy);
  }
  tirc_context_release(t);
  tirc_throw(c);
}

void tirc_interpret(Tirc *c, const Func *f, int n_args, const Argument *args, int64_t max_steps) {
  (void)tirc_interpret_with(c, f, n_args, args, &(InterpOptions){.max_steps = max_steps});
}
