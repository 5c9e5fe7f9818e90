/* A call of a function of the module is read as the function's body (parser/program_func.c), so
 * that of private functions, which nothing outside calls, only those of graphs are called at all.
 */
#include "internal.h"

const Module *tirc_lower_private_functions(Tirc *c, const Module *m) {
  Module *to = tirc_copy(c, m, 1);
  const Func **kept = tirc_new_array(c, const Func *, m->n_funcs);
  to->n_funcs = 0;
  for (int i = 0; i < m->n_funcs; i++)
    if (!tirc_attrs_get(m->funcs[i]->attrs, "tirc.private")) kept[to->n_funcs++] = m->funcs[i];
  to->funcs = kept;
  return m->n_graphs || !to->n_funcs ? m : to;
}
