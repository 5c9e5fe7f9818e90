/* Names: the program's own, as far as the language allows (codegen/symbols.h); those that are taken
 * already get a number. */
#include "gen.h"
#include "ir/ascii.h"

/* float4, but not float4x. */
static bool is_numbered(const char *s, const char *word) {
  size_t n = strlen(word);
  if (strncmp(s, word, n) != 0 || !s[n]) return false;
  for (s += n; *s; s++)
    if (!tirc_is_digit(*s)) return false;
  return true;
}

bool tirc_src_reserves(const Language *l, const char *s) {
  for (const char *const *w = l->reserved; w && *w; w++)
    if (strcmp(*w, s) == 0) return true;
  for (const char *const *w = l->reserved_n; w && *w; w++)
    if (is_numbered(s, *w)) return true;
  return false;
}

static bool is_taken(const Gen *g, const char *s) {
  for (int i = 0; i < g->taken.n; i++)
    if (strcmp(g->taken.at[i], s) == 0) return true;
  return false;
}

const char *tirc_src_name(Gen *g, const char *wanted) {
  const char *base = tirc_c_identifier(g->c, wanted);
  if (tirc_src_reserves(g->l, base)) base = tirc_format(g->c, "%s_", base);
  const char *s = base;
  for (int k = 1; is_taken(g, s); k++) s = tirc_format(g->c, "%s_%d", base, k);
  vec_push(g->c, g->taken, s);
  return s;
}

Name *tirc_src_declare(Gen *g, const void *key, const char *wanted) {
  Name *name = tirc_new(g->c, Name);
  name->s = tirc_src_name(g, wanted);
  tirc_map_set(g->c, &g->vars, key, name);
  return name;
}

Name *tirc_src_name_of(Gen *g, Buffer b) {
  Name *name = tirc_map_get(&g->vars, b);
  if (!name) name = tirc_map_get(&g->vars, b->data);
  if (!name)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "the buffer %s is used where it has no memory",
              b->name);
  return name;
}
