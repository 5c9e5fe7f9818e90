/* The pipeline: every function through every pass of passes.def. */
#include "internal.h"

const Pass tirc_passes[] = {
#define PASS(function, name, help) {name, tirc_lower_##function, help},
#include "passes.def"
#undef PASS
};
const int tirc_n_passes = (int)(sizeof tirc_passes / sizeof *tirc_passes);

const Module *tirc_lower(Tirc *c, const Module *m, LowerObserver observer, void *self) {
  for (int p = 0; p < tirc_n_passes; p++) {
    for (int i = 0; i < m->n_funcs; i++) {
      const Func *f = m->funcs[i];
      Stmt body = tirc_passes[p].run(c, f);
      if (body != f->body) m = tirc_module_with_func(c, m, i, tirc_func_with_body(c, f, body));
    }
    if (observer) observer(self, tirc_passes[p].name, m);
  }
  return m;
}
