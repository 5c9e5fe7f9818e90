/* Functions of the program language in tensor expressions: what is no expression of its result's
 * indices (scatter, scans, loops that depend on data).
 *
 *   @T.prim_func
 *   def main(D: T.Buffer(x.shape, x.dtype), O: T.Buffer(x.shape, x.dtype)): ...
 *   y = te.call_prim_func(main, [x])
 *
 * The last buffers of the function are its results. Where the call's tensors become a function, its
 * statements stand there as they are, on these tensors. */
#include "ir/arith/access.h"
#include "ir/arith/equal.h"
#include "ir/tree/find.h"
#include "te.h"

/* --- the call --------------------------------------------------------------------------------- */

static bool same_extent(Tirc *c, Expr a, Expr b) {
  int64_t x, y;
  if (tirc_const_int(a, &x) && tirc_const_int(b, &y)) return x == y;
  return tirc_expr_equal(c, a, b);
}

static const char *other_input(Script *sc, const Func *f, Buffer want, Buffer have) {
  return tirc_format(sc->c, "the parameter %s of %s is %s, and the tensor %s given for it is %s",
                     want->name, f->name,
                     tirc_te_type_text(sc->c, want->dtype, want->ndim, want->shape), have->name,
                     tirc_te_type_text(sc->c, have->dtype, have->ndim, have->shape));
}

/* Of extents that only the run tells, it is noted that they have to be the same. */
static void check_input(Script *sc, const Func *f, int i, const Tensor *t) {
  Buffer want = f->buffers[i], have = t->buffer;
  bool fits = want->ndim == have->ndim && tirc_dtype_equal(want->dtype, have->dtype);
  for (int d = 0; fits && d < want->ndim; d++) {
    const Expr a = want->shape[d], b = have->shape[d];
    if (same_extent(sc->c, a, b)) continue;
    fits = sc->needs && (a->op != OP_INT || b->op != OP_INT);
    if (fits)
      tirc_script_need(sc, tirc_value_expr(tirc_binary(sc->c, OP_EQ, a, b)),
                       other_input(sc, f, want, have));
  }
  if (!fits)
    tirc_script_error(
        sc, "ValueError",
        tirc_format(sc->c, "%s: T.Buffer(x.shape, x.dtype) accepts any tensor x", want->name), "%s",
        other_input(sc, f, want, have));
}

static void check_func(Script *sc, const Func *f, int n_inputs) {
  for (int i = 0; i < f->n_params; i++)
    if (!f->buffers[i])
      tirc_script_error(sc, "ValueError", "the function may use the script's own numbers",
                        "the parameter %s of %s is a scalar, but only tensors can be passed",
                        f->params[i]->u.s, f->name);
  if (n_inputs >= f->n_params)
    tirc_script_error(sc, "ValueError", "the last parameters of a function are its results",
                      "%s has %d parameter%s, but %d tensors are given", f->name, f->n_params,
                      f->n_params == 1 ? "" : "s", n_inputs);
}

static Buffer result_buffer(Script *sc, Buffer like) {
  Value shape = tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  int n;
  for (int i = 0; i < like->ndim; i++)
    tirc_value_append(sc->c, shape, tirc_value_expr(like->shape[i]));
  const Expr *extents = tirc_te_shape(sc, shape, &n);
  return tirc_buffer(sc->c, like->name, like->dtype, n, extents, "global");
}

static Value call(Script *sc, Value function, Value inputs) {
  const bool several = inputs.kind == VAL_LIST || inputs.kind == VAL_TUPLE;
  const int n = several ? inputs.u.list->n : 1;
  if (!tirc_script_is(function, "PrimFunc"))
    tirc_script_error(sc, "TypeError", "define it with @T.prim_func in the script",
                      "only a program's function can be called, not %s",
                      tirc_script_a_type(sc, function));
  const Func *f = function.u.object;
  const Tensor **tensors = tirc_new_array(sc->c, const Tensor *, n);
  check_func(sc, f, n);
  for (int i = 0; i < n; i++) {
    const Value v = several ? inputs.u.list->at[i] : inputs;
    if (!(tensors[i] = tirc_te_tensor(v)))
      tirc_script_error(sc, "TypeError", NULL, "%s must be called with tensors, not with %s",
                        f->name, tirc_script_a_type(sc, v));
    check_input(sc, f, i, tensors[i]);
  }
  Stage *s = tirc_new(sc->c, Stage);
  *s = (Stage){.kind = STAGE_CALL,
               .name = f->name,
               .loc = sc->loc,
               .func = f,
               .n_inputs = n,
               .inputs = tensors};
  Buffer *results = tirc_new_array(sc->c, Buffer, f->n_params - n);
  for (int i = n; i < f->n_params; i++) results[i - n] = result_buffer(sc, f->buffers[i]);
  return tirc_te_results(sc, s, f->n_params - n, results);
}

/* call_prim_func(func, tensors) */
Value tirc_te_run_call(Script *sc, Value self, const Args *a) {
  return (void)self, call(sc, a->at[0], a->at[1]);
}

/* extern_primfunc(tensors, func): the reference's spelling */
Value tirc_te_run_extern(Script *sc, Value self, const Args *a) {
  return (void)self, call(sc, a->at[1], a->at[0]);
}

/* --- its statements --------------------------------------------------------------------------- */

/* A root block that only holds allocations. */
static bool is_plain_root(Stmt s) {
  const Block *b = &s->u.block;
  return s->kind == STMT_BLOCK && !b->n_iters && !b->n_matches && !b->annotations.n && !b->init &&
         tirc_is_true(b->predicate) && !strcmp(b->name, "root");
}

Stmt tirc_te_call_body(Script *sc, const Stage *stage, Buffers *allocs) {
  Tirc *c = sc->c;
  const Func *f = stage->func;
  PtrMap map = {0};
  for (int i = 0; i < f->n_params; i++) {
    const Tensor *t = i < stage->n_inputs ? stage->inputs[i] : stage->results[i - stage->n_inputs];
    tirc_map_set(c, &map, f->buffers[i], t->buffer);
  }
  Stmt body = tirc_clone_fresh(c, tirc_substitute_buffers(c, f->body, &map));
  if (is_plain_root(body)) {
    for (int i = 0; i < body->u.block.n_allocs; i++) vec_push(c, *allocs, body->u.block.allocs[i]);
    body = body->u.block.body;
  }
  if (tirc_find_stmt(body, tirc_is_block_stmt, NULL, NULL)) return body;
  Stmt block =
      tirc_block(c, &(Block){.name = stage->name, .predicate = tirc_bool(c, true), .body = body});
  return tirc_infer_regions(c, block, false, false);
}
