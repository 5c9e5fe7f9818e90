/* Names: the program's own, as far as C allows. What is no letter or digit becomes "_"; words of C,
 * of its library and of the generated code, and names that an enclosing scope has already, get a
 * number behind them. */
#include "../libm.h"
#include "gen.h"

#include <ctype.h>

static bool is_reserved(const char *s) {
  static const char *const words[] = {
      "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
      "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
      "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
      "union", "unsigned", "void", "volatile", "while", "asm", "typeof", "bool", "true", "false",
      "main", "NULL", "NAN", "INFINITY", "isnan", "isinf", "linux", "unix", "status", "lanes",
      "VLOAD", "VSTORE", "VSPLAT", "size_t", "ptrdiff_t", "abort", "exit", "abs", "j0", "j1", "jn",
      "y0", "y1", "yn", "gamma", "index", "rindex", "printf", "puts", "signbit", "isfinite",
      "isnormal", "fpclassify", "strlen", "strcpy", "strcmp", "alloca", "calloc", "realloc",
      /* words that C++ has beside C's, for the header */
      "class", "new", "delete", "this", "template", "typename", "namespace", "operator", "private",
      "public", "protected", "virtual", "friend", "using", "try", "catch", "throw", "and", "or",
      "not", "xor", "export", "mutable", "explicit", "nullptr", "constexpr", "wchar_t"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(s, words[i]) == 0) return true;
  size_t n = strlen(s);
  DType t;
  size_t word = strcspn(s, "0123456789"); /* float32x8 and the like */
  bool is_vector = false;
  static const char *const kinds[] = {"float", "bfloat", "int", "uint"};
  for (int i = 0; i < 4; i++)
    is_vector = is_vector || (s[word] && strlen(kinds[i]) == word && !strncmp(s, kinds[i], word));
  bool is_type = n > 2 && strcmp(s + n - 2, "_t") == 0;
  return is_type || is_vector || tirc_dtype_parse(s, &t) || tirc_is_library_name(s) ||
         s[0] == '_' || strncmp(s, "tirc_", 5) == 0 || strncmp(s, "INT", 3) == 0 ||
         strncmp(s, "UINT", 4) == 0;
}

const char *tirc_c_identifier(Tirc *c, const char *name) {
  char *s = tirc_format(c, "%s%s", isdigit((unsigned char)*name) || !*name ? "v_" : "", name);
  for (char *p = s; *p; p++)
    if (!isalnum((unsigned char)*p)) *p = '_';
  return is_reserved(s) ? tirc_format(c, "%s%s_", s[0] == '_' ? "v" : "", s) : s;
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
