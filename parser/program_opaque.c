/* T.* functions that the compiler passes on as they are: calls of other code, of the GPU and of the
 * runtime. They parse, print and are opaque to every analysis. */
#include "reader.h"

/* The type of a call that the compiler knows nothing more of. */
typedef enum Gives {
  GIVES_HANDLE,
  GIVES_INT32,
  GIVES_UINT32,
  GIVES_BOOL,
  GIVES_SECOND,
  GIVES_NAMED,
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

/* The keyword dtype is the first argument of a call that is given its type; the other calls have a
 * type of their own, whatever it says. */
static PyValue read_opaque(Reader *r, const Call *call) {
  const Syn **given = tirc_new_array(r->c, const Syn *, call->n_rest + 2);
  int n = 0;
  const Callee callee = (Callee)call->function->detail;
  if (gives[callee] == GIVES_NAMED && call->args[DTYPE]) given[n++] = call->args[DTYPE];
  if (call->args[FIRST]) given[n++] = call->args[FIRST];
  for (int i = 0; i < call->n_rest; i++) given[n++] = call->rest[i];
  Expr *args = tirc_new_array(r->c, Expr, n);
  for (int i = 0; i < n; i++) args[i] = argument(r, given[i]);
  DType t = DT_HANDLE;
  switch (gives[callee]) {
  case GIVES_INT32: t = DT_INT32; break;
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
  case GIVES_HANDLE: break;
  }
  return tirc_py_expr(tirc_call(r->c, t, callee, n, args));
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
#define CALL(id, name, gives) {name, "first? * dtype?", IN_VALUE, read_opaque, CALL_##id},
#include "ir/tree/calls.def"
#undef CALL
    {"llvm_lookup_intrinsic_id", "name", IN_VALUE, read_intrinsic_id, 0},
    {NULL, NULL, 0, NULL, 0},
};
