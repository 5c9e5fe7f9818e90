/* Declarations of functions, and the header that explains them. */
#include "gen.h"
#include "ir/tree/print.h"

const char *tirc_cg_declaration(Gen *g, const Signature *s, Name ***names) {
  Text t = {.c = g->c};
  *names = tirc_new_array(g->c, Name *, s->n + 1);
  tirc_text_addf(&t, "int %s(", g->file->func);
  for (int i = 0; i < s->n; i++) {
    if (i) tirc_text_add(&t, ", ");
    (*names)[i] = tirc_src_param(g, &t, &s->params[i]);
  }
  tirc_text_add(&t, s->n ? ")" : "void)");
  return t.at;
}

/* --- the header ----------------------------------------------------------------------------- */

static void add_dims(Gen *g, Text *t, int n, Expr const *dims) {
  tirc_text_add(t, "[");
  for (int d = 0; d < n; d++)
    tirc_text_addf(t, "%s%s", d ? ", " : "", tirc_print_expr(g->c, dims[d]));
  tirc_text_add(t, "]");
}

static void describe(Gen *g, Text *t, const Param *p, const char *name) {
  Buffer b = p->buffer;
  const char *dtype = tirc_dtype_name(g->c, b ? b->dtype : p->var->dtype);
  tirc_text_addf(t, " *   %s: %s", name, dtype);
  if (!b) {
    tirc_text_add(t, "\n");
    return;
  }
  add_dims(g, t, b->ndim, b->shape);
  if (b->strides) {
    tirc_text_add(t, ", strides ");
    add_dims(g, t, b->ndim, b->strides);
    tirc_text_add(t, " in elements");
  } else {
    tirc_text_add(t, ", compact and row-major");
  }
  if (b->elem_offset && !tirc_is_int(b->elem_offset, 0))
    tirc_text_addf(t, ", from element %s on", tirc_print_expr(g->c, b->elem_offset));
  tirc_text_addf(t, ", %s", p->is_written ? "written" : "read");
  if (!p->is_apart) tirc_text_add(t, ", may overlap others");
  if (tirc_src_is_small(b->dtype)) tirc_text_add(t, ", as its bits");
  tirc_text_add(t, "\n");
}

const char *tirc_cg_symbol_note(Gen *g, const Func *f) {
  if (strcmp(g->file->func, f->name) == 0) return "";
  return tirc_format(g->c, ": the name %s is C's, or taken", f->name);
}

void tirc_cg_declare_with_runtime(Text *t, const char *declaration) {
  const char *params = strchr(declaration, '(') + 1;
  const int name = (int)(params - 1 - declaration), n = (int)strlen(params) - 1;
  const bool none = strcmp(params, "void)") == 0;
  tirc_text_addf(t, "%.*s__rt(%.*s%sconst tirc_runtime *);\n", name, declaration, none ? 0 : n,
                 params, none ? "" : ", ");
}

/* runtime/kernel/runtime_abi.h, under the same guard. */
const char tirc_cg_runtime_type[] =
    "\n/* Threads and workspace of the program's own. NAME__rt, which objects and shared objects\n"
    " * have, and C source by --runtime, is NAME with a runtime as its last argument. In other C\n"
    " * source loops are OpenMP's. What is NULL in it the code does itself: loops in the caller, "
    "workspace from\n"
    " * aligned_alloc. self goes to each of its functions.\n"
    " *   parallel_for: runs body(i, closure) for each i in [0, n), once, in any order, on any\n"
    " *     threads, and returns when all are done; chunks: hand out at most so many contiguous\n"
    " *     pieces, 0: as many as there are threads\n"
    " *   alloc: memory at a multiple of 64, or NULL; threads call it, too. alloc and free are\n"
    " *     both NULL, or neither */\n"
    "#ifndef TIRC_RUNTIME_ABI_H\n"
    "#define TIRC_RUNTIME_ABI_H\n"
    "typedef struct tirc_runtime {\n"
    "  void *self;\n"
    "  void (*parallel_for)(void *self, int64_t n, void (*body)(int64_t i, void *closure),\n"
    "                       void *closure, int64_t chunks);\n"
    "  void *(*alloc)(void *self, size_t bytes);\n"
    "  void (*free)(void *self, void *p, size_t bytes);\n"
    "} tirc_runtime;\n"
    "#endif\n";

static void declare(Gen *g, Text *t, const Func *f, const char *symbol, bool source_alone) {
  Signature s = tirc_signature(g->c, f);
  Name **names;
  g->loc = f->loc;
  g->file->func = symbol;
  const int mark = g->taken.n;
  const char *declaration = tirc_cg_declaration(g, &s, &names);
  tirc_text_addf(t, "\n/* %s%s\n", symbol, tirc_cg_symbol_note(g, f));
  for (int i = 0; i < s.n; i++) describe(g, t, &s.params[i], names[i]->s);
  bool apart = false;
  for (int i = 0; i < s.n; i++) apart = apart || s.params[i].is_apart;
  tirc_text_addf(t, " * %s */\n",
                 apart ? "What restrict stands on must not overlap what is written." : "");
  tirc_text_addf(t, "%s;\n", declaration);
  if (!source_alone) tirc_cg_declare_with_runtime(t, declaration);
  if (tirc_may_fail(&g->file->failures, f)) tirc_cg_declare_error_text(t, symbol);
  g->taken.n = mark;
}

const char *tirc_c_header(Tirc *c, const Module *m, bool of_model, bool source_alone,
                          const char *flag) {
  Text t = {.c = c};
  CSource what = {.lowered = m};
  CFile file = {.what = &what, .failures = tirc_failures(c, m)};
  Gen g = {.c = c, .l = &tirc_c_language, .out = &t, .file = &file};
  tirc_text_add(&t, "/* ");
  if (flag && !source_alone)
    tirc_text_addf(&t, "Of C source that is compiled with cc -O3 %s, or of an object.\n * ", flag);
  tirc_text_add(&t,
                "Made by tirc. Arrays need the alignment of their elements, no more. A "
                "function returns 0,\n"
                " * or 1 when there is no memory for its workspace, or a code from 2 on when an "
                "assertion\n"
                " * fails: NAME_error_text(code) says which. */\n"
                "#pragma once\n"
                "#include <stddef.h>\n"
                "#include <stdint.h>\n"
                "\n"
                "#ifdef __cplusplus\n"
                "#define restrict __restrict\n"
                "extern \"C\" {\n"
                "#endif\n");
  if (!source_alone) tirc_text_add(&t, tirc_cg_runtime_type);
  const char *const *symbols = tirc_symbols(c, m);
  const int n = of_model ? 0 : m->n_funcs; /* a model's operators are local */
  for (int i = 0; i < n; i++) declare(&g, &t, m->funcs[i], symbols[i], source_alone);
  tirc_text_add(&t, "\n#ifdef __cplusplus\n}\n#undef restrict\n#endif\n");
  return t.at;
}
