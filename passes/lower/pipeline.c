/* The pipeline: every function through every pass of passes.def. */
#include "internal.h"

const Pass tirc_passes[] = {
#define PASS(function, name, help) {name, tirc_lower_##function, help},
#include "passes.def"
#undef PASS
};
const int tirc_n_passes = (int)(sizeof tirc_passes / sizeof *tirc_passes);

/* What is wrong with statements that a schedule made stands at the function. */
static Stmt run_on(Tirc *c, const Func *f, Stmt (*run)(Tirc *c, const Func *f)) {
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    Stmt body = run(c, f);
    TIRC_END(c, trap);
    return body;
  }
  if (!c->diag.loc.line && !strcmp(c->diag.code, "lower")) c->diag.loc = f->loc;
  tirc_throw(c);
}

static const Module *run_pass(Tirc *c, const Module *m, const Pass *pass) {
  for (int i = 0; i < m->n_funcs; i++) {
    const Func *f = m->funcs[i];
    Stmt body = run_on(c, f, pass->run);
    if (body != f->body) m = tirc_module_with_func(c, m, i, tirc_func_with_body(c, f, body));
  }
  return m;
}

const Module *tirc_lower_until(Tirc *c, const Module *m, const char *pass) {
  for (int p = 0; p < tirc_n_passes; p++) {
    m = run_pass(c, m, &tirc_passes[p]);
    if (!strcmp(tirc_passes[p].name, pass)) break;
  }
  return m;
}

const Module *tirc_lower(Tirc *c, const Module *m, LowerObserver observer, void *self) {
  for (int i = 0; i < m->n_funcs; i++) run_on(c, m->funcs[i], tirc_check_annotations);
  for (int i = 0; i < m->n_funcs; i++) tirc_know_extents(c, m->funcs[i]);
  for (int p = 0; p < tirc_n_passes; p++) {
    m = run_pass(c, m, &tirc_passes[p]);
    if (observer) observer(self, tirc_passes[p].name, m);
  }
  return m;
}
