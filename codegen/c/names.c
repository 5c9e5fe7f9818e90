/* Names in scope: the program's own, as far as C allows (symbols.h); those that an enclosing scope
 * has already get a number. */
#include "gen.h"

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
