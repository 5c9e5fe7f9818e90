/* Names: the program's own, as far as the language allows (codegen/symbols.h); those that are taken
 * already get a number. */
#include "gen.h"
#include "ir/ascii.h"

static bool has_word(const char *words, const char *s, size_t n) {
  for (const char *w = words; w && *w; w += strcspn(w, " ") + 1)
    if (strcspn(w, " ") == n && memcmp(w, s, n) == 0) return true;
  return false;
}

/* float4, but not float4x. */
bool tirc_src_reserves(const Language *l, const char *s) {
  const size_t n = strlen(s);
  size_t word = n;
  while (word > 0 && tirc_is_digit(s[word - 1])) word--;
  return has_word(l->reserved, s, n) || (word < n && has_word(l->reserved_n, s, word));
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
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "the buffer %s is used where it is not allocated",
              b->name);
  return name;
}

Name *tirc_src_param(Gen *g, Text *t, const Param *p) {
  Name *name = tirc_src_declare(g, p->var, p->buffer ? p->buffer->name : p->var->u.s);
  if (!p->buffer) {
    const DType d = p->var->dtype;
    const bool is_bool = d.code == TYPE_BOOL;
    tirc_text_addf(t, "%s %s", is_bool ? tirc_src_memory_type(g, d) : tirc_src_value_type(g, d),
                   name->s);
    return name;
  }
  name->element = tirc_dtype_lanes(p->buffer->dtype, 1);
  name->space = tirc_format(g->c, "%s%s", g->l->global, p->is_written ? "" : "const ");
  tirc_map_set(g->c, &g->vars, p->buffer->data, name);
  tirc_text_addf(t, "%s%s *%s%s", name->space, tirc_src_memory_type(g, name->element),
                 p->is_apart ? g->l->restrict_of : "", name->s);
  return name;
}
