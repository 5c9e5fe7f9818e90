/* A C header for compiled functions: what `tirc build --emit=header` writes beside the object file.
 */
#include "api.h"

#include "interp.h"

#include <ctype.h>

/* The C type of one element or scalar; 16-bit floats travel as their bits. */
static const char *c_type(DType t) {
  if (t.code == TYPE_FLOAT && t.bits == 64) return "double";
  if (t.code == TYPE_FLOAT && t.bits == 32) return "float";
  if (t.code == TYPE_FLOAT || t.code == TYPE_BFLOAT) return "uint16_t";
  if (t.code == TYPE_BOOL) return "uint8_t";
  static const char *const ints[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
  static const char *const uints[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  int size = t.bits == 8 ? 0 : t.bits == 16 ? 1 : t.bits == 32 ? 2 : 3;
  if (tirc_dtype_is_int(t)) return t.code == TYPE_INT ? ints[size] : uints[size];
  return "void *";
}

static const char *identifier(Tirc *c, const char *name) {
  char *s = tirc_strdup(c, name);
  for (char *p = s; *p; p++)
    if (!isalnum((unsigned char)*p)) *p = '_';
  return s;
}

static void add_shape(Tirc *c, Text *t, Buffer b) {
  tirc_text_addf(t, " * %s: %s[", b->name, tirc_dtype_name(c, b->dtype));
  for (int d = 0; d < b->ndim; d++) {
    int64_t extent;
    if (tirc_const_int(b->shape[d], &extent))
      tirc_text_addf(t, "%s%lld", d ? ", " : "", (long long)extent);
    else
      tirc_text_addf(t, "%s%s", d ? ", " : "",
                     b->shape[d]->op == OP_VAR ? b->shape[d]->u.s : "...");
  }
  tirc_text_add(t, "]\n");
}

static void add_func(Tirc *c, Text *t, const Func *f) {
  const tirc_param *params = tirc_api_params(c, f);
  Expr *symbols;
  int n_symbols = tirc_symbolic_params(c, f, &symbols);
  tirc_text_addf(t, "\n/* %s. Arrays are compact and row-major.\n", f->name);
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i]) add_shape(c, t, f->buffers[i]);
  tirc_text_addf(t, " */\nint %s(", identifier(c, f->name));
  for (int i = 0; i < f->n_params; i++) {
    Buffer b = f->buffers[i];
    if (b)
      tirc_text_addf(t, "%s%s *%s, ", params[i].is_written ? "" : "const ", c_type(b->dtype),
                     identifier(c, b->name));
    else
      tirc_text_addf(t, "%s %s, ", c_type(f->params[i]->dtype), identifier(c, f->params[i]->u.s));
  }
  for (int i = 0; i < n_symbols; i++)
    tirc_text_addf(t, "%s %s, ", c_type(symbols[i]->dtype), identifier(c, symbols[i]->u.s));
  tirc_text_add(t, "const tirc_runtime *rt);\n");
  tirc_text_add(
      t, "/* The same with the arguments' addresses (scalars by address, too) in an array. */\n");
  tirc_text_addf(t, "int %s__packed(void **args, const tirc_runtime *rt);\n",
                 identifier(c, f->name));
}

const char *tirc_c_header(Tirc *c, const Module *m) {
  Text t = {.c = c};
  tirc_text_add(&t,
                "/* Made by tirc. Each function returns 0, or 1 when memory for workspace is out.\n"
                " * rt may be NULL: then parallel loops run in the caller. */\n"
                "#pragma once\n#include <stdint.h>\n\n"
                "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
                "struct tirc_runtime; /* see tirc/runtime_abi.h */\n"
                "typedef struct tirc_runtime tirc_runtime;\n");
  for (int i = 0; i < m->n_funcs; i++) add_func(c, &t, m->funcs[i]);
  tirc_text_add(&t, "\n#ifdef __cplusplus\n}\n#endif\n");
  return t.at;
}
