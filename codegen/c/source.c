/* A whole file: the functions first, into a text of their own, because only they know which types,
 * macros and helpers have to stand in front of them. */
#include "gen.h"

#include "ir/tree/annotations.h"
#include "ir/tree/find.h"

static const Func *find(const Module *m, const char *name) {
  for (int i = 0; m && i < m->n_funcs; i++)
    if (strcmp(m->funcs[i]->name, name) == 0) return m->funcs[i];
  return NULL;
}

static void write_packed(Gen *g, const Signature *s) {
  Text call = {.c = g->c};
  for (int i = 0; i < s->n; i++) {
    const Param *p = &s->params[i];
    if (p->buffer)
      tirc_text_addf(&call, "%sargs[%d]", i ? ", " : "", i);
    else
      tirc_text_addf(&call, "%s*(%s *)args[%d]", i ? ", " : "", tirc_c_type(p->var->dtype), i);
  }
  tirc_text_addf(g->out, "\nint %s__packed(void **args);\nint %s__packed(void **args) {\n",
                 g->file->func, g->file->func);
  if (!s->n) tirc_text_add(g->out, "  (void)args;\n");
  tirc_text_addf(g->out, "  return %s(%s);\n}\n", g->file->func, s->n ? call.at : "");
}

/* NAME with what it is without threads of the caller's. */
static void write_without_runtime(Gen *g, const char *declaration, const Signature *s,
                                  Name *const *names) {
  tirc_src_open(g, "%s {", declaration);
  Text args = {.c = g->c};
  tirc_text_add(&args, "");
  for (int i = 0; i < s->n; i++) tirc_text_addf(&args, "%s, ", names[i]->s);
  tirc_src_line(g, "return %s__rt(%sNULL);", g->file->func, args.at);
  tirc_src_close(g);
}

/* int NAME(a, b) as int NAME__rt(a, b, const tirc_runtime *tirc_rt). */
static const char *with_runtime(Gen *g, const char *declaration, const Signature *s) {
  const char *params = strchr(declaration, '(') + 1;
  return tirc_format(g->c, "%.*s__rt(%.*s%sconst tirc_runtime *tirc_rt)",
                     (int)(params - 1 - declaration), declaration,
                     s->n ? (int)strlen(params) - 1 : 0, params, s->n ? ", " : "");
}

static bool is_cast(Expr e, DType from, DType to) {
  return e->op == OP_CAST && tirc_dtype_equal(tirc_dtype_lanes(e->args[0]->dtype, 1), from) &&
         tirc_dtype_equal(tirc_dtype_lanes(e->dtype, 1), to);
}
static bool rounds(const void *unused, Expr e) {
  return (void)unused, is_cast(e, DT_FLOAT64, DT_FLOAT32);
}
static bool widens(const void *unused, Expr e) {
  return (void)unused, is_cast(e, DT_FLOAT32, DT_FLOAT64);
}

/* Whether a double may become a float and a double again: gcc 12 takes both conversions out where
 * it makes one vector of two neighbouring statements. */
static bool may_lose_rounding(const Func *f) {
  return tirc_find_expr_in(f->body, rounds, NULL) && tirc_find_expr_in(f->body, widens, NULL);
}

static void write_function(Gen *g, const Func *f, const char *symbol) {
  Signature s = tirc_signature(g->c, f);
  Name **names;
  g->loc = f->loc;
  g->file->func = symbol;
  g->file->function = f;
  vec_push(g->c, g->taken, g->file->func);
  g->notes = tirc_notes(g->c, find(g->file->what->scheduled, f->name));
  g->note = NULL;
  g->file->restrict_data = s.restrict_data;
  g->file->stack_bytes = 0;
  g->file->uses_zero = false;
  const int mark = g->taken.n;
  const char *declaration = tirc_cg_declaration(g, &s, &names), *plain = declaration;
  const bool on_runtime = g->file->what->has_runtime;
  Text all = {.c = g->c}, *page = g->out;
  if (on_runtime) {
    tirc_text_addf(g->out, "\n%s;\n", declaration);
    declaration = with_runtime(g, declaration, &s);
    g->out = &all;
    g->file->bodies = (Text){.c = g->c};
  }
  const char *why = tirc_cg_symbol_note(g, f);
  if (*why) tirc_text_addf(g->out, "\n/* %s%s. */", symbol, why);
  /* A model's operators are its own affair; inlined they would be one huge function. */
  const char *place = !g->file->what->called   ? ""
                      : tirc_cg_is_portable(g) ? "TIRC_LOCAL "
                                               : "static __attribute__((noinline)) ";
  tirc_text_addf(g->out, "\n%s%s;\n", place, declaration);
  const bool is_rounding = may_lose_rounding(f);
  g->file->rounds = is_rounding;
  g->file->uses_rounding |= is_rounding;
  tirc_src_open(g, "%s%s%s {", g->file->what->called ? "static " : "",
                is_rounding ? "TIRC_ROUNDS " : "", declaration);
  Text body = {.c = g->c}, *outer = tirc_cg_begin_body(g, &body);
  tirc_src_stmt(g, f->body);
  g->out = outer;
  if (g->file->uses_zero) {
    tirc_src_line(g,
                  "%sint64_t tirc_zero = 0; /* but compilers cannot know it: clang would take what "
                  "wraps for a stride */",
                  tirc_cg_is_portable(g) ? "volatile " : "");
    if (!tirc_cg_is_portable(g)) tirc_src_line(g, "__asm__(\"\" : \"+r\"(tirc_zero));");
  }
  for (int i = 0; i < s.n; i++)
    if (!names[i]->used) tirc_src_line(g, "(void)%s;", names[i]->s);
  if (on_runtime) tirc_src_line(g, "(void)tirc_rt;");
  tirc_cg_end_body(g, outer, &body);
  tirc_src_line(g, "return 0;");
  tirc_src_close(g);
  if (on_runtime) {
    write_without_runtime(g, plain, &s, names);
    g->out = page;
    if (g->file->bodies.n) tirc_text_add(g->out, g->file->bodies.at);
    tirc_text_add(g->out, all.at);
  }
  g->taken.n = mark;
  if (g->file->what->packed) write_packed(g, &s);
  if (!g->file->what->called && tirc_may_fail(&g->file->failures, f))
    tirc_cg_error_text(g->c, g->out, symbol, &g->file->failures, f);
}

/* What others than gcc and clang have no word for, and do without. */
static void write_words(Gen *g, Text *t) {
  if (!tirc_cg_is_portable(g)) return;
  tirc_text_add(t, "\n#if defined __GNUC__\n"
                   "#define TIRC_ALIAS __attribute__((may_alias))\n"
                   "#define TIRC_LOCAL static __attribute__((noinline))\n"
                   "#else\n"
                   "#define TIRC_ALIAS\n"
                   "#define TIRC_LOCAL static\n"
                   "#endif\n");
}

static void write_types(Gen *g, Text *t) {
  bool any = false;
  for (int i = 0; i < g->file->vectors.n; i++) {
    DType v = g->file->vectors.at[i], scalar = tirc_dtype_lanes(v, 1);
    const char *name = tirc_dtype_name(g->c, v), *type = tirc_c_type(scalar);
    if (v.lanes == 1) {
      tirc_text_addf(t, "\ntypedef %s tirc_any_%s %s;", type, name,
                     tirc_cg_is_portable(g) ? "TIRC_ALIAS" : "__attribute__((may_alias))");
      continue;
    }
    int size = tirc_dtype_bytes(scalar);
    any = true;
    tirc_text_addf(t, "\ntypedef %s %s __attribute__((vector_size(%d)));\n", type, name,
                   size * v.lanes);
    tirc_text_addf(t, "typedef %s %s_u __attribute__((vector_size(%d), aligned(%d), may_alias));",
                   type, name, size * v.lanes, size);
  }
  if (g->file->vectors.n) tirc_text_add(t, "\n");
  if (any)
    tirc_text_add(t,
                  "\n/* Vectors in memory that is aligned for its elements only, and a scalar in "
                  "all lanes. */\n"
                  "#define VLOAD(type, p) (*(const type##_u *)(p))\n"
                  "#define VSTORE(type, p, x) (*(type##_u *)(p) = (x))\n"
                  "#define VSPLAT(type, x) ((x) - (type){0})\n");
}

const char *tirc_c_source(Tirc *c, const CSource *what) {
  Text functions = {.c = c}, t = {.c = c};
  CFile file = {.what = what, .lane_texts = {.c = c}, .failures = tirc_failures(c, what->lowered)};
  Gen g = {.c = c, .l = &tirc_c_language, .out = &functions, .file = &file};
  g.lines = tirc_attrs_get(what->lowered->attrs, tirc_key(KEY_DEBUG_LINES)) != NULL;
  const char *const *symbols = tirc_symbols(c, what->lowered);
  for (int i = 0; i < what->lowered->n_funcs; i++)
    if (!what->called || what->called[i]) write_function(&g, what->lowered->funcs[i], symbols[i]);
  tirc_text_add(&t, "/* ");
  if (what->flag && !tirc_cg_is_portable(&g))
    tirc_text_addf(&t,
                   "Compile with: cc -O3 %s. For other processors compilers split the vectors,\n"
                   " * and the code may be 10 times slower, or more.\n * ",
                   what->flag);
  tirc_text_addf(&t, "Made by tirc. C11%s; -fopenmp runs parallel loops on threads.\n",
                 tirc_cg_is_portable(&g) ? ", without extensions" : " with GNU's vectors");
  tirc_text_add(
      &t,
      " * A function returns 0, or 1 when there is no memory for its workspace, or a code from 2\n"
      " * on when an assertion fails: NAME_error_text(code) says which. */\n");
  Text helpers = {.c = c};
  tirc_src_write_helpers(&g, &helpers);
  if (g.uses_math) tirc_text_add(&t, "#include <math.h>\n");
  tirc_text_add(&t, "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n");
  if (file.uses_stdlib) tirc_text_add(&t, "#include <stdlib.h>\n");
  tirc_text_add(&t, "#include <string.h>\n");
  for (int i = 0; i < file.headers.n; i++)
    tirc_text_addf(&t, "#include \"%s\"\n", file.headers.at[i]);
  if (what->has_runtime) tirc_text_add(&t, tirc_cg_runtime_type);
  write_words(&g, &t);
  write_types(&g, &t);
  if (file.uses_rounding)
    tirc_text_add(&t,
                  "\n/* gcc 12 would lose the rounding of two neighbouring doubles to floats. */\n"
                  "#if defined __GNUC__ && !defined __clang__\n"
                  "#define TIRC_ROUNDS __attribute__((optimize(\"no-tree-slp-vectorize\")))\n"
                  "#else\n"
                  "#define TIRC_ROUNDS\n"
                  "#endif\n");
  if (helpers.n) tirc_text_add(&t, helpers.at);
  if (file.lane_texts.n) tirc_text_add(&t, file.lane_texts.at);
  if (functions.n) tirc_text_add(&t, functions.at);
  return t.at;
}
