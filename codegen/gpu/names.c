/* Names: the program's own, as far as the language allows; each is one thing in all of a kernel. */
#include "codegen/symbols.h"
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

bool tirc_gpu_reserves(const GpuLanguage *l, const char *s) {
  for (const char *const *w = l->reserved; *w; w++)
    if (strcmp(*w, s) == 0) return true;
  for (const char *const *w = l->reserved_n; *w; w++)
    if (is_numbered(s, *w)) return true;
  return false;
}

static bool is_taken(const Gen *g, const char *s) {
  for (int i = 0; i < g->taken.n; i++)
    if (strcmp(g->taken.at[i], s) == 0) return true;
  return strcmp(s, g->k->name) == 0;
}

const char *tirc_gpu_name(Gen *g, const char *wanted) {
  const char *base = tirc_c_identifier(g->c, wanted);
  if (tirc_gpu_reserves(g->l, base)) base = tirc_format(g->c, "%s_", base);
  const char *s = base;
  for (int k = 1; is_taken(g, s); k++) s = tirc_format(g->c, "%s_%d", base, k);
  vec_push(g->c, g->taken, s);
  return s;
}

Name *tirc_gpu_declare(Gen *g, const void *key, const char *wanted) {
  Name *name = tirc_new(g->c, Name);
  name->s = tirc_gpu_name(g, wanted);
  tirc_map_set(g->c, &g->vars, key, name);
  return name;
}

const char *const *tirc_gpu_symbols(Tirc *c, const GpuLanguage *l, const Module *m) {
  const char *const *names = tirc_symbols(c, m);
  const char **at = tirc_new_array(c, const char *, m->n_funcs + 1);
  for (int i = 0; i < m->n_funcs; i++)
    if (tirc_is_kernel(m->funcs[i]))
      at[i] = tirc_gpu_reserves(l, names[i]) ? tirc_format(c, "%s_kernel", names[i]) : names[i];
  return at;
}

const char *tirc_gpu_default_target(const GpuLanguage *l) { return l->target; }
