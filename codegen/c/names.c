/* Names: the program's own, as far as C allows. What is no letter or digit becomes "_"; words of C,
 * of its library and of the generated code, and names that an enclosing scope has already, get
 * something behind them. */
#include "../../ir/ascii.h"
#include "../libm.h"
#include "gen.h"

/* [A-Z0-9]: whether it has ch; *end: behind it. fnmatch would ask the locale what is from A to Z.
 */
static bool in_class(const char *set, char ch, const char **end) {
  bool has = false;
  for (set++; *set != ']'; set++) {
    const bool range = set[1] == '-' && set[2] != ']';
    has = has || (range ? *set <= ch && ch <= set[2] : *set == ch);
    set += range ? 2 : 0;
  }
  *end = set + 1;
  return has;
}

/* A pattern of reserved.def: "*" is any text, [...] one character of a set. */
static bool matches(const char *pattern, const char *s) {
  for (; *pattern && *pattern != '*'; s++) {
    if (!*s) return false;
    if (*pattern == '[' ? !in_class(pattern, *s, &pattern) : *pattern++ != *s) return false;
  }
  if (!*pattern) return !*s;
  do
    if (matches(pattern + 1, s)) return true;
  while (*s++);
  return false;
}

static bool is_reserved(const char *s) {
#define RESERVED(...) __VA_ARGS__,
  static const char *const patterns[] = {
#include "reserved.def"
  };
#undef RESERVED
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    if (matches(patterns[i], s)) return true;
  DType t;
  return tirc_dtype_parse(s, &t) || tirc_is_library_name(s);
}

const char *tirc_c_identifier(Tirc *c, const char *name) {
  char *s = tirc_format(c, "%s%s", tirc_is_digit(*name) || !*name ? "v_" : "", name);
  for (char *p = s; *p; p++)
    if (!tirc_is_letter_or_digit(*p)) *p = '_';
  return is_reserved(s) ? tirc_format(c, "%s%s_", s[0] == '_' ? "v" : "", s) : s;
}

static bool is_renamed(Tirc *c, const Func *f) {
  return strcmp(tirc_c_identifier(c, f->name), f->name) != 0;
}

const char *tirc_c_label(Tirc *c, const Func *f) {
  return is_renamed(c, f) ? tirc_format(c, " TIRC_SYMBOL(\"%s\")", f->name) : "";
}

const char *tirc_c_label_macros(Tirc *c, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++)
    if (is_renamed(c, m->funcs[i]))
      return "#define TIRC_TEXT(x) #x\n"
             "#define TIRC_PREFIX(x) TIRC_TEXT(x)\n"
             "#define TIRC_SYMBOL(s) __asm__(TIRC_PREFIX(__USER_LABEL_PREFIX__) s)\n";
  return "";
}

static bool is_taken(CGen *g, const char *s) {
  for (int i = 0; i < g->taken.n; i++)
    if (strcmp(g->taken.at[i], s) == 0) return true;
  return false;
}

const char *tirc_cg_name(CGen *g, const char *wanted) {
  const char *base = tirc_c_identifier(g->c, wanted), *s = base;
  for (int k = 1; is_taken(g, s); k++) s = tirc_format(g->c, "%s_%d", base, k);
  vec_push(g->c, g->taken, s);
  return s;
}

Name *tirc_cg_declare(CGen *g, Expr var, const char *wanted) {
  Name *name = tirc_new(g->c, Name);
  name->s = tirc_cg_name(g, wanted);
  tirc_map_set(g->c, &g->vars, var, name);
  return name;
}

int tirc_cg_open_scope(CGen *g) { return g->taken.n; }
void tirc_cg_close_scope(CGen *g, int mark) { g->taken.n = mark; }
