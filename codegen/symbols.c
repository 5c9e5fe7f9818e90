/* The rule for names that C, its library or a linker has other ideas of. */
#include "symbols.h"

#include "ir/ascii.h"
#include "libm.h"

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

/* "*" is any text, [...] one character of a set. */
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

#define RESERVED(...) __VA_ARGS__,

/* In C, whatever it is the name of. */
static const char *const reserved[] = {
#include "reserved.def"
};
/* For linkers. */
static const char *const library[] = {
#include "library.def"
};
#undef RESERVED
enum {
  N_RESERVED = sizeof reserved / sizeof *reserved,
  N_LIBRARY = sizeof library / sizeof *library
};

static bool is_reserved(const char *s) {
  for (int i = 0; i < N_RESERVED; i++)
    if (matches(reserved[i], s)) return true;
  DType t;
  return tirc_dtype_parse(s, &t) || tirc_is_library_name(s);
}

static bool is_library_symbol(const char *s) {
  for (int i = 0; i < N_LIBRARY; i++)
    if (matches(library[i], s)) return true;
  return false;
}

static const char *without_signs(Tirc *c, const char *name) {
  char *s = tirc_format(c, "%s%s", tirc_is_digit(*name) || !*name ? "v_" : "", name);
  for (char *p = s; *p; p++)
    if (!tirc_is_letter_or_digit(*p)) *p = '_';
  return s;
}

static const char *with_line(Tirc *c, const char *s) {
  return tirc_format(c, "%s%s_", s[0] == '_' ? "v" : "", s);
}

const char *tirc_c_identifier(Tirc *c, const char *name) {
  const char *s = without_signs(c, name);
  return is_reserved(s) ? with_line(c, s) : s;
}

/* A symbol, and those that code generators make of it. */
static const char *const endings[] = {"", "__rt", "__packed", "_error_text"};
enum { N_ENDINGS = sizeof endings / sizeof *endings };

static bool take(Tirc *c, StrMap *taken, const char *s) {
  const char *all[N_ENDINGS];
  for (int i = 0; i < N_ENDINGS; i++) {
    all[i] = tirc_format(c, "%s%s", s, endings[i]);
    if (tirc_strmap_get(taken, all[i])) return false;
  }
  for (int i = 0; i < N_ENDINGS; i++) *tirc_strmap_at(c, taken, all[i]) = (void *)(uintptr_t)all[i];
  return true;
}

/* Names that can stay as they are come first, so that none of them gives way to a new one. */
const char *const *tirc_symbols(Tirc *c, const Module *m) {
  const char **at = tirc_new_array(c, const char *, m->n_funcs + 1);
  StrMap taken = {0};
  for (int i = 0; i < m->n_funcs; i++) {
    const char *name = m->funcs[i]->name;
    bool stays = strcmp(tirc_c_identifier(c, name), name) == 0 && !is_library_symbol(name);
    at[i] = stays && take(c, &taken, name) ? name : NULL;
  }
  for (int i = 0; i < m->n_funcs; i++) {
    if (at[i]) continue;
    const char *base = with_line(c, without_signs(c, m->funcs[i]->name));
    if (is_library_symbol(base)) base = tirc_format(c, "k_%s", base); /* omp_*: of any ending */
    const char *s = base;
    for (int k = 1; is_library_symbol(s) || !take(c, &taken, s); k++)
      s = tirc_format(c, "%s%d", base, k);
    at[i] = s;
  }
  return at;
}
