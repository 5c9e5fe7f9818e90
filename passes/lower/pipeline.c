/* The pipeline: every function through every pass of passes.def that is for it. Which GPU a
 * function is for stands in its attribute "target" from the start until its kernels have it. */
#include "internal.h"

#include <stdlib.h>

#include "ir/nearest.h"
#include "ir/tree/copy.h"

#define ALL PASS_ALL
#define PROCESSOR PASS_PROCESSOR
#define GPU PASS_GPU
const Pass tirc_passes[] = {
#define PASS(function, where, name, help) {name, where, tirc_lower_##function, NULL, help},
#define MODULE_PASS(function, where, name, help) {name, where, NULL, tirc_lower_##function, help},
#include "passes.def"
#undef PASS
#undef MODULE_PASS
};
const int tirc_n_passes = (int)(sizeof tirc_passes / sizeof *tirc_passes);

/* One without functions is another name of the pass that `help` names. */
static const Pass alone[] = {
#define ALONE(function, name, help) {name, PASS_ALL, tirc_lower_##function, NULL, help},
#define ALONE_MODULE(function, name, help) {name, PASS_ALL, NULL, tirc_lower_##function, help},
#define KNOWN_AS(name, ours) {name, PASS_ALL, NULL, NULL, ours},
#define OPTION(pass, name, help)
#include "alone.def"
#undef OPTION
#undef KNOWN_AS
#undef ALONE_MODULE
#undef ALONE
};
enum { N_ALONE = sizeof alone / sizeof *alone };

static const PassOption options[] = {
#define ALONE(function, name, help)
#define ALONE_MODULE(function, name, help)
#define KNOWN_AS(name, ours)
#define OPTION(pass, name, help) {pass, name, help},
#include "alone.def"
#undef OPTION
#undef KNOWN_AS
#undef ALONE_MODULE
#undef ALONE
};
enum { N_OPTIONS = sizeof options / sizeof *options };

/* --- functions for a GPU ---------------------------------------------------------------------- */

static bool is_thread_loop(const void *unused, Stmt s) {
  return (void)unused, tirc_is_thread_loop(s);
}

static bool has_kernels(const Func *f) {
  return tirc_find_stmt(f->body, is_thread_loop, NULL, NULL);
}

static const Func *bound_to(Tirc *c, const Func *f, const Gpu *gpu) {
  Func to = *f;
  const char *key = tirc_key(KEY_TARGET);
  if (gpu && has_kernels(f)) {
    Expr name = tirc_string(c, gpu->name), target = tirc_call(c, DT_HANDLE, CALL_TARGET, 1, &name);
    to.attrs = tirc_attrs_set(c, f->attrs, key, target);
  } else if (tirc_gpu_of(f)) {
    to.attrs = tirc_attrs_remove(c, f->attrs, key);
  } else {
    return f;
  }
  return tirc_copy(c, &to, 1);
}

static const Module *bind_target(Tirc *c, const Module *m, const Gpu *gpu) {
  for (int i = 0; i < m->n_funcs; i++) {
    const Func *f = bound_to(c, m->funcs[i], gpu);
    if (f != m->funcs[i]) m = tirc_module_with_func(c, m, i, f);
  }
  return m;
}

/* --- the passes ------------------------------------------------------------------------------- */

/* What is wrong with statements that a schedule made stands at the function. */
static Stmt run_on(Tirc *c, const Func *f, Stmt (*run)(Tirc *c, const Func *f)) {
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    Stmt body = run(c, f);
    TIRC_END(c, trap);
    return body;
  }
  if (!c->diag.loc.line && c->diag.code == CODE_LOWER) c->diag.loc = f->loc;
  tirc_throw(c);
}

static bool is_for(const Pass *pass, const Func *f) {
  return pass->where == PASS_ALL || (pass->where == PASS_GPU) == (tirc_gpu_of(f) != NULL);
}

static const Module *run_pass(Tirc *c, const Module *m, const Pass *pass) {
  if (pass->over_module) return pass->over_module(c, m);
  for (int i = 0; i < m->n_funcs; i++) {
    const Func *f = m->funcs[i];
    if (!is_for(pass, f)) continue;
    Stmt body = run_on(c, f, pass->run);
    if (body != f->body) m = tirc_module_with_func(c, m, i, tirc_func_with_body(c, f, body));
  }
  return m;
}

/* --- one by its name -------------------------------------------------------------------------- */

const Pass *tirc_pass_number(int i) {
  if (i < 0) return NULL;
  if (i < tirc_n_passes) return &tirc_passes[i];
  return i - tirc_n_passes < N_ALONE ? &alone[i - tirc_n_passes] : NULL;
}

const PassOption *tirc_pass_option_number(int i) {
  return i >= 0 && i < N_OPTIONS ? &options[i] : NULL;
}

static const Pass *find_pass(const char *name) {
  const Pass *found = NULL;
  for (int i = 0; tirc_pass_number(i); i++) {
    const Pass *pass = tirc_pass_number(i);
    if (!strcmp(pass->name, name)) found = pass;
  }
  const bool is_name = found && !found->run && !found->over_module;
  return is_name ? find_pass(found->help) : found;
}

typedef struct Asked {
  const Pass *pass;
  Expr options; /* a tuple of their names */
} Asked;

static const Pass *need_pass(Tirc *c, const char *name) {
  const Pass *pass = find_pass(name);
  if (pass) return pass;
  Nearest best = {.wanted = name, .n_wanted = strlen(name)};
  for (int i = 0; tirc_pass_number(i); i++)
    tirc_offer_name(&best, tirc_pass_number(i)->name, strlen(tirc_pass_number(i)->name));
  const char *hint = tirc_suggest_name(&best, "", "`tirc explain` lists the passes");
  tirc_fail(c, (Loc){0}, CODE_ARGUMENT, tirc_strdup(c, hint), "there is no pass '%s'", name);
}

/* option or option=NUMBER */
static Expr need_option(Tirc *c, const Pass *pass, const char *text) {
  const size_t n = strcspn(text, "=");
  Nearest best = {.wanted = text, .n_wanted = n};
  for (int i = 0; i < N_OPTIONS; i++) {
    if (strcmp(options[i].pass, pass->name) != 0) continue;
    const char *name = options[i].name;
    if (strlen(name) == n && memcmp(name, text, n) == 0) return tirc_string(c, text);
    tirc_offer_name(&best, name, strlen(name));
  }
  const char *hint = tirc_suggest_name(&best, "", "`tirc explain` lists the passes");
  tirc_fail(c, (Loc){0}, CODE_ARGUMENT, tirc_strdup(c, hint), "%s has no option '%.*s'", pass->name,
            (int)n, text);
}

/* Name+option+option */
static Asked need(Tirc *c, const char *text) {
  VEC(Expr) names = {0};
  size_t n = strcspn(text, "+");
  Asked a = {.pass = need_pass(c, tirc_strndup(c, text, n))};
  while (text[n]) {
    text += n + 1;
    n = strcspn(text, "+");
    vec_push(c, names, need_option(c, a.pass, tirc_strndup(c, text, n)));
  }
  if (names.n) a.options = tirc_expr(c, OP_TUPLE, DT_VOID, names.n, names.at);
  return a;
}

int64_t tirc_pass_number_option(const Func *f, const char *option, int64_t usual) {
  const Expr given = tirc_attrs_get(f->attrs, tirc_key(KEY_PASS_OPTIONS));
  const size_t n = strlen(option);
  for (int i = 0; given && i < given->n; i++) {
    const char *text = given->args[i]->u.s;
    if (strncmp(text, option, n) != 0 || (text[n] && text[n] != '=')) continue;
    return text[n] ? strtoll(text + n + 1, NULL, 10) : 1;
  }
  return usual;
}

bool tirc_pass_option(const Func *f, const char *option) {
  return tirc_pass_number_option(f, option, 0) != 0;
}

static const Func *with_options(Tirc *c, const Func *f, Expr names) {
  Func to = *f;
  if (!names) return f;
  to.attrs = tirc_attrs_set(c, f->attrs, tirc_key(KEY_PASS_OPTIONS), names);
  return tirc_copy(c, &to, 1);
}

/* A pass for GPUs asks which one: where the function does not say, the least one that runs CUDA. */
static const Func *for_some_gpu(Tirc *c, const Func *f) {
  Func to = *f;
  Expr name = tirc_string(c, CUDA_DEFAULT), target = tirc_call(c, DT_HANDLE, CALL_TARGET, 1, &name);
  if (tirc_gpu_of(f)) return f;
  to.attrs = tirc_attrs_set(c, f->attrs, tirc_key(KEY_TARGET), target);
  return tirc_copy(c, &to, 1);
}

/* On every function: who asks for a pass by its name means it. */
static const Module *run_alone(Tirc *c, const Module *m, const Asked *asking) {
  Pass pass = *asking->pass;
  const bool is_for_gpu = pass.where == PASS_GPU;
  pass.where = PASS_ALL;
  if (pass.over_module) return run_pass(c, m, &pass);
  for (int i = 0; i < m->n_funcs; i++) {
    const Func *f = m->funcs[i], *asked = is_for_gpu || has_kernels(f) ? for_some_gpu(c, f) : f;
    Stmt body = run_on(c, with_options(c, asked, asking->options), pass.run);
    if (body != f->body) m = tirc_module_with_func(c, m, i, tirc_func_with_body(c, f, body));
  }
  return m;
}

const Module *tirc_lower_only(Tirc *c, const Module *m, const Gpu *gpu, int n,
                              const char *const *names) {
  Asked *passes = tirc_new_array(c, Asked, n);
  tirc_reserve_block_ids(c, m);
  for (int i = 0; i < n; i++) passes[i] = need(c, names[i]);
  for (int i = 0; i < m->n_funcs; i++) run_on(c, m->funcs[i], tirc_check_annotations);
  for (int i = 0; i < m->n_funcs; i++) tirc_know_extents(c, m->funcs[i]);
  if (gpu) m = bind_target(c, m, gpu);
  for (int i = 0; i < n; i++) m = run_alone(c, m, &passes[i]);
  return m;
}

/* --- all -------------------------------------------------------------------------------------- */

static bool is_for_any(const Pass *pass, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++)
    if (is_for(pass, m->funcs[i])) return true;
  return pass->where != PASS_GPU;
}

const Module *tirc_lower_until(Tirc *c, const Module *m, const char *pass) {
  tirc_reserve_block_ids(c, m);
  m = bind_target(c, m, NULL);
  for (int p = 0; p < tirc_n_passes; p++) {
    m = run_pass(c, m, &tirc_passes[p]);
    if (!strcmp(tirc_passes[p].name, pass)) break;
  }
  return m;
}

const Module *tirc_lower_for(Tirc *c, const Module *m, const Gpu *gpu, LowerObserver observer,
                             void *self) {
  for (int i = 0; i < m->n_funcs; i++) run_on(c, m->funcs[i], tirc_check_annotations);
  for (int i = 0; i < m->n_funcs; i++) tirc_know_extents(c, m->funcs[i]);
  m = bind_target(c, m, gpu);
  for (int p = 0; p < tirc_n_passes; p++) {
    if (!is_for_any(&tirc_passes[p], m)) continue;
    m = run_pass(c, m, &tirc_passes[p]);
    if (observer) observer(self, tirc_passes[p].name, m);
  }
  return m;
}

const Module *tirc_lower(Tirc *c, const Module *m, LowerObserver observer, void *self) {
  return tirc_lower_for(c, m, NULL, observer, self);
}
