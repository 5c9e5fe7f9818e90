/* Which functions of the C library code calls. */
#include "libm.h"

static const struct {
  const char *name;
  int arity;
} functions[] = {
#define LIBM(name, arity) {#name, arity},
#include "libm.def"
#undef LIBM
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

bool tirc_libm_find(const char *name, int arity, LibmFunc *out) {
  for (int i = 0; i < N_FUNCTIONS; i++) {
    size_t n = strlen(functions[i].name);
    if (strncmp(name, functions[i].name, n) != 0 || arity != functions[i].arity) continue;
    bool on_float = strcmp(name + n, "f") == 0;
    if (name[n] != 0 && !on_float) continue;
    *out = (LibmFunc){functions[i].name, on_float};
    return true;
  }
  return false;
}

bool tirc_is_library_name(const char *name) {
  static const char *const others[] = {"aligned_alloc", "free",  "malloc", "memcpy", "memmove",
                                       "memset",        "exp10", "sincos", "ldexp",  "bcmp"};
  for (size_t i = 0; i < N_FUNCTIONS + sizeof others / sizeof *others; i++) {
    const char *taken = i < N_FUNCTIONS ? functions[i].name : others[i - N_FUNCTIONS];
    size_t length = strlen(taken);
    if (strncmp(name, taken, length) != 0) continue;
    if (name[length] == 0 || strcmp(name + length, "f") == 0) return true;
  }
  return false;
}

const char *tirc_extern_name(Expr e, int *first) {
  DType t;
  bool has_type = e->n > 1 && e->args[0]->op == OP_STRING && e->args[1]->op == OP_STRING &&
                  tirc_dtype_parse(e->args[0]->u.s, &t);
  int at = has_type ? 1 : 0;
  *first = at + 1;
  return e->n > at && e->args[at]->op == OP_STRING ? e->args[at]->u.s : "";
}
