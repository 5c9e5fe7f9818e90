/* The codes of assertions, and what they say. */
#include "failures.h"

#include "ir/tree/visit.h"

typedef struct Adding {
  Tirc *c;
  Failures *to;
  const Func *func;
} Adding;

/* What two assertions of one code have in common. */
static const char *key_of(Tirc *c, const Func *func, Stmt s) {
  const char *message = s->u.check.message;
  return tirc_format(c, "%s %s:%d:%d %s", func->name, s->loc.file ? s->loc.file : "", s->loc.line,
                     s->loc.column, message ? message : "");
}

static bool add(Visitor *v, Stmt s) {
  const Adding *a = v->self;
  if (s->kind != STMT_ASSERT) return true;
  void **number = tirc_strmap_at(a->c, &a->to->numbers, key_of(a->c, a->func, s));
  if (*number) return true;
  const Failure failure = {a->func, s};
  vec_push(a->c, a->to->all, failure);
  *number = (void *)(uintptr_t)a->to->all.n;
  return true;
}

void tirc_failures_add(Tirc *c, Failures *f, const Func *func) {
  Adding a = {c, f, func};
  tirc_visit_stmts(func->body, add, &a);
}

Failures tirc_failures(Tirc *c, const Module *lowered) {
  Failures f = {0};
  for (int i = 0; i < lowered->n_funcs; i++) tirc_failures_add(c, &f, lowered->funcs[i]);
  return f;
}

int tirc_failure_code(Tirc *c, const Failures *f, const Func *func, Stmt assertion) {
  const uintptr_t number = (uintptr_t)tirc_strmap_get(&f->numbers, key_of(c, func, assertion));
  if (!number) /* the code before the first one's says something else */
    tirc_fail(c, assertion->loc, CODE_CODEGEN, NULL, "%s has an assertion without a code",
              func->name);
  return STATUS_FIRST_FAILURE + (int)number - 1;
}

const Failure *tirc_failure_of_code(const Failures *f, int code) {
  const int i = code - STATUS_FIRST_FAILURE;
  return i >= 0 && i < f->all.n ? &f->all.at[i] : NULL;
}

bool tirc_may_fail(const Failures *f, const Func *func) {
  for (int i = 0; i < f->all.n; i++)
    if (f->all.at[i].func == func) return true;
  return false;
}

const char *tirc_failure_text(Tirc *c, const Failure *f) {
  const char *message = f->assertion->u.check.message;
  const Loc at = f->assertion->loc.line > 0 ? f->assertion->loc : f->func->loc;
  const char *file = at.file ? strrchr(at.file, '/') : NULL;
  file = file ? file + 1 : at.file;
  message = message && *message ? message : "an assertion fails";
  if (!file || at.line <= 0) return tirc_format(c, "%s: %s", f->func->name, message);
  return tirc_format(c, "%s: %s (%s:%d)", f->func->name, message, file, at.line);
}

const char *tirc_status_text(int code) {
  return code == 0                  ? "done"
         : code == STATUS_NO_MEMORY ? "no memory for the workspace"
                                    : "not a status of this function";
}
