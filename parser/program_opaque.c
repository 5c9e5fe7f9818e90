/* T.* functions that the compiler passes on as they are: calls of other code, of the GPU and of the
 * runtime. They parse, print and are opaque to every analysis. */
#include "ir/scopes.h"
#include "ir/tree/atomic.h"
#include "reader.h"

/* The type of a call that the compiler knows nothing more of. */
typedef enum Gives {
  GIVES_HANDLE,
  GIVES_INT32,
  GIVES_INT64,
  GIVES_UINT32,
  GIVES_BOOL,
  GIVES_SECOND,
  GIVES_NAMED,
  GIVES_ELEMENT,
  GIVES_VOID
} Gives;
static const Gives gives[CALL_COUNT] = {
#define CALL(id, name, gives) [CALL_##id] = GIVES_##gives,
#include "ir/tree/calls.def"
#undef CALL
};

enum { FIRST, DTYPE }; /* parameters */

static Expr argument(Reader *r, const Syn *s) {
  PyValue v = tirc_read_value(r, s);
  return v.kind == PY_NONE ? tirc_py_to_expr(r, s, v) : tirc_py_to_attr(r, s, v);
}

/* --- atomic updates --------------------------------------------------------------------------- */

/* The element, or its address. */
static Expr place_of(Reader *r, const Syn *s, const char *name) {
  const PyValue v = tirc_read_value(r, s);
  Expr at = v.kind == PY_EXPR ? v.u.e : NULL;
  if (at && tirc_calls(at, CALL_ADDRESS_OF) && at->n == 1) at = at->args[0];
  if (!at || at->op != OP_LOAD)
    READ_FAIL(r, s, CODE_TYPE, "name an element: T.address_of(H[i])",
              "%s needs the address of an element, not %s", name, tirc_py_describe(r, v));
  const Buffer b = at->u.buffer;
  if (tirc_owner(b->storage) == OWNER_THREAD)
    READ_FAIL(r, s, CODE_TYPE, "use a normal store: each thread has its own copy of the buffer",
              "%s updates memory that threads share, with scope global or shared, but the buffer "
              "%s has the scope %s",
              name, b->name, b->scope);
  return at;
}

static Expr operand_of(Reader *r, const Syn *s, const char *name, DType t) {
  const PyValue v = tirc_read_value(r, s);
  const Expr e = tirc_py_to_expr_like(r, s, v, t);
  if (!tirc_dtype_equal(e->dtype, t))
    READ_FAIL(r, s, CODE_TYPE, tirc_format(r->c, "T.Cast(\"%s\", x)", tirc_dtype_name(r->c, t)),
              "%s on an element of type %s needs a value of that type, not %s", name,
              tirc_dtype_name(r->c, t), tirc_py_describe(r, v));
  return e;
}

static PyValue atomic_of(Reader *r, const Syn *at, Callee callee, int n, const Syn *const *given,
                         bool unordered) {
  const char *name = tirc_format(r->c, "T.%s", tirc_callees[callee]);
  const int takes = callee == CALL_ATOMIC_CAS ? 3 : 2;
  if (n != takes)
    READ_FAIL(r, at, CODE_ARGUMENT,
              takes == 3 ? "T.atomic_cas(T.address_of(H[i]), compare, value)"
                         : tirc_format(r->c, "%s(T.address_of(H[i]), value)", name),
              "%s takes %d arguments, not %d", name, takes, n);
  const Expr place = place_of(r, given[0], name);
  const char *why = tirc_atomic_refused(r->c, callee, place->dtype, unordered);
  if (why)
    READ_FAIL(r, at, CODE_TYPE,
              tirc_atomic_refused(r->c, callee, place->dtype, true)
                  ? "keep the sums in int32 or int64, or let one thread do it"
                  : "pass unordered=True if any order is acceptable, or use integers",
              "%s on the buffer %s: %s", name, place->u.buffer->name, why);
  const Expr compare = takes == 3 ? operand_of(r, given[1], name, place->dtype) : NULL;
  const Expr value = operand_of(r, given[takes - 1], name, place->dtype);
  return tirc_py_expr(tirc_atomic_update(r->c, callee, place, compare, value,
                                         unordered && tirc_dtype_is_float(place->dtype)));
}

/* T.atomic_add(T.address_of(H[i]), x), or T.atomic_add(H[i], x). */
static PyValue read_atomic(Reader *r, const Call *call) {
  const Callee callee = (Callee)call->function->detail;
  const Syn *given[4];
  int n = 0;
  for (int i = 0; i < 3; i++)
    if (call->args[i]) given[n++] = call->args[i];
  const Syn *unordered = call->args[3];
  if (callee != CALL_ATOMIC_CAS && n == 3) unordered = given[--n];
  return atomic_of(r, call->node, callee, n, given,
                   unordered && tirc_is_true(tirc_read_condition(r, unordered)));
}

/* T.call_intrin("int32", "tir.atomic_add", T.address_of(H[i]), x); CALL_COUNT: another one. */
static Callee intrinsic_of(int n, const Syn *const *given) {
  const bool named = n > 1 && given[1]->kind == SYN_STRING && !strncmp(given[1]->s, "tir.", 4);
  return named ? tirc_find_atomic(given[1]->s + 4) : CALL_COUNT;
}

/* --- the others ------------------------------------------------------------------------------- */

/* T.comm_reducer(lambda x, y: x + y, [T.float32(0)]) */
static PyValue read_reducer(Reader *r, const Call *call) {
  const Syn *lambda = call->args[FIRST], *values = call->n_rest ? call->rest[0] : NULL;
  PyValue none = values ? tirc_read_value(r, values) : PY_VALUE_NONE;
  const int n = none.kind == PY_TUPLE ? none.u.list.n : 0;
  if (!n || lambda->kids.n != 2 * n)
    READ_FAIL(r, call->node, CODE_ARGUMENT,
              "T.comm_reducer(lambda x, y: x + y, [T.float32(0)]) combines two values",
              "%s needs a lambda with two parameters for each neutral element", call->name);
  Expr *args = tirc_new_array(r->c, Expr, 4 * n);
  tirc_names_open(r);
  for (int i = 0; i < 2 * n; i++) {
    const Syn *param = lambda->kids.at[i];
    args[3 * n + i % n] = tirc_py_to_expr(r, values, none.u.list.at[i % n]);
    args[i] = tirc_var(r->c, param->s, args[3 * n + i % n]->dtype);
    tirc_names_bind(r, param, param->s, tirc_py_expr(args[i]), false);
  }
  const PyValue made = tirc_read_value(r, lambda->a);
  if ((made.kind == PY_TUPLE ? made.u.list.n : 1) != n)
    READ_FAIL(r, lambda->a, CODE_TYPE, NULL,
              "the lambda must return as many values as there are neutral elements");
  for (int i = 0; i < n; i++)
    args[2 * n + i] = tirc_py_to_expr_like(
        r, lambda->a, made.kind == PY_TUPLE ? made.u.list.at[i] : made, args[i]->dtype);
  tirc_names_close(r);
  return tirc_py_expr(tirc_call(r->c, DT_HANDLE, CALL_COMM_REDUCER, 4 * n, args));
}

/* T.target("cuda", host="llvm") */
static PyValue read_target(Reader *r, const Call *call) {
  Expr args[2];
  int n = 0;
  for (int i = 0; i < 2; i++)
    if (call->args[i]) args[n++] = argument(r, call->args[i]);
  return tirc_py_expr(tirc_call(r->c, DT_HANDLE, CALL_TARGET, n, args));
}

/* The keyword dtype is the first argument of a call that is given its type; the other calls have a
 * type of their own, whatever it says. */
static PyValue read_opaque(Reader *r, const Call *call) {
  const Syn **given = tirc_new_array(r->c, const Syn *, call->n_rest + 2);
  int n = 0;
  const Callee callee = (Callee)call->function->detail;
  if (callee == CALL_COMM_REDUCER && call->args[FIRST] && call->args[FIRST]->kind == SYN_LAMBDA)
    return read_reducer(r, call);
  if (gives[callee] == GIVES_NAMED && call->args[DTYPE]) given[n++] = call->args[DTYPE];
  if (call->args[FIRST]) given[n++] = call->args[FIRST];
  for (int i = 0; i < call->n_rest; i++) given[n++] = call->rest[i];
  const Callee atomic = callee == CALL_INTRIN ? intrinsic_of(n, given) : CALL_COUNT;
  if (atomic != CALL_COUNT) return atomic_of(r, call->node, atomic, n - 2, given + 2, false);
  Expr *args = tirc_new_array(r->c, Expr, n);
  for (int i = 0; i < n; i++) args[i] = argument(r, given[i]);
  DType t = DT_HANDLE;
  switch (gives[callee]) {
  case GIVES_INT32: t = DT_INT32; break;
  case GIVES_INT64: t = DT_INT64; break;
  case GIVES_BOOL: t = DT_BOOL; break;
  case GIVES_VOID: t = DT_VOID; break;
  case GIVES_SECOND:
    if (n > 1) t = args[1]->dtype;
    break;
  case GIVES_UINT32: t = DT(TYPE_UINT, 32); break;
  case GIVES_NAMED:
    if (n && given[0]->kind == SYN_STRING && !*given[0]->s)
      t = DT_VOID;
    else if (n)
      t = tirc_read_dtype(r, given[0]);
    break;
  case GIVES_ELEMENT:
  case GIVES_HANDLE: break;
  }
  return tirc_py_expr(tirc_call(r->c, t, callee, n, args));
}

/* As a statement it is a return, and read there. */
static PyValue read_ret(Reader *r, const Call *call) {
  READ_FAIL(r, call->node, CODE_SYNTAX, "write it on a line of its own",
            "T.ret gives no value: it ends the function");
}

/* An intrinsic goes by its name; its number is another one in each version of LLVM. */
static PyValue read_intrinsic_id(Reader *r, const Call *call) {
  const PyValue name = tirc_read_value(r, call->args[0]);
  if (name.kind != PY_STR)
    READ_FAIL(r, call->args[0], CODE_TYPE, NULL, "expected the name of an intrinsic, not %s",
              tirc_py_describe(r, name));
  return name;
}

const Function tirc_opaque_functions[] = {
#define CALL(id, name, gives)                                                                      \
  {name,                                                                                           \
   GIVES_##gives == GIVES_ELEMENT ? "address value? other? unordered?"                             \
   : CALL_##id == CALL_TARGET     ? "config host?"                                                 \
   : CALL_##id == CALL_RET        ? "value"                                                        \
                                  : "first? * dtype?",                                                    \
   IN_VALUE,                                                                                       \
   GIVES_##gives == GIVES_ELEMENT ? read_atomic                                                    \
   : CALL_##id == CALL_TARGET     ? read_target                                                    \
   : CALL_##id == CALL_RET        ? read_ret                                                       \
                                  : read_opaque,                                                          \
   CALL_##id},
#include "ir/tree/calls.def"
#undef CALL
    {"llvm_lookup_intrinsic_id", "name", IN_VALUE, read_intrinsic_id, 0},
    {NULL, NULL, 0, NULL, 0},
};
