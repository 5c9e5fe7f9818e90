/* Operators: the table, and the programs that they make. */
#include "api.h"

#include "ir/tree/verify.h"
#include "passes/module/operators.h"
#include "passes/script/library.h"

#include <stdlib.h>

struct tirc_operators {
  Tirc *c;
  Operators *ops;
  tirc_operator_info *infos; /* one an operator, filled in when somebody asks */
};

/* --- the table -------------------------------------------------------------------------------- */

typedef struct Opening {
  const char *folder;
  tirc_operators *out;
} Opening;

static const char *keep(Tirc *c, const char *s) { return s ? tirc_strdup(c, s) : NULL; }

static void open_table(Tirc *c, void *self) {
  Opening *o = self;
  o->out = tirc_new(c, tirc_operators);
  *o->out = (tirc_operators){c, tirc_operators_open(c, keep(c, o->folder), NULL), NULL};
  o->out->infos = tirc_new_array(c, tirc_operator_info, tirc_n_operators(o->out->ops));
}

tirc_status tirc_operators_read(const char *folder, tirc_operators **out, tirc_error **error) {
  NEED(out);
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  Opening o = {.folder = folder};
  tirc_status status = tirc_api_guard(c, open_table, &o, &(Sources){0}, error);
  if (status == TIRC_OK)
    *out = o.out;
  else
    tirc_context_release(c);
  return status;
}

void tirc_operators_free(tirc_operators *o) {
  if (o) tirc_context_release(o->c);
}

int tirc_operators_count(const tirc_operators *o) { return o ? tirc_n_operators(o->ops) : 0; }

const char *tirc_operators_name(const tirc_operators *o, int i) {
  return o && i >= 0 && i < tirc_n_operators(o->ops) ? tirc_operator_name(o->ops, i) : NULL;
}

/* softmax(x: Tensor, axis: int = -1) */
static const char *signature(Tirc *c, const Operator *op) {
  Text t = {.c = c};
  tirc_text_addf(&t, "%s(", op->name);
  for (int i = 0; i < op->n_params; i++) {
    const OperatorParam *p = &op->params[i];
    tirc_text_addf(&t, "%s%s%s", i ? ", " : "", p->rest ? "*" : "", p->name);
    if (p->type) tirc_text_addf(&t, ": %s", p->type);
    if (p->usual) tirc_text_addf(&t, p->type ? " = %s" : "=%s", p->usual);
  }
  tirc_text_add(&t, ")");
  return t.at;
}

typedef struct Asking {
  tirc_operators *of;
  const char *name;
  const tirc_operator_info *out;
} Asking;

static const Operator *find(Tirc *c, Operators *ops, const char *name) {
  const Operator *op = tirc_operator(ops, name);
  if (!op)
    tirc_fail(c, (Loc){0}, CODE_OPERATOR, tirc_operator_hint(ops, name),
              "there is no operator R.%s", name);
  return op;
}

static void ask(Tirc *c, void *self) {
  Asking *a = self;
  const Operator *op = find(c, a->of->ops, keep(c, a->name));
  tirc_operator_info *info = tirc_new(c, tirc_operator_info);
  *info = (tirc_operator_info){op->name, signature(c, op), op->summary, op->path,
                               tirc_library_text(c, op->path)};
  a->out = info;
}

tirc_status tirc_operators_find(tirc_operators *o, const char *name, const tirc_operator_info **out,
                                tirc_error **error) {
  NEED(o, name, out);
  Asking a = {.of = o, .name = name};
  tirc_status status = tirc_api_guard(o->c, ask, &a, &(Sources){0}, error);
  if (status == TIRC_OK) *out = a.out;
  return status;
}

/* --- programs --------------------------------------------------------------------------------- */

typedef struct Program {
  const char *folder, *name;
  int n;
  const char *const *words;
  tirc_module *out;
} Program;

static void make_program(Tirc *c, void *self) {
  Program *p = self;
  Operators *ops = tirc_operators_open(c, keep(c, p->folder), NULL);
  const char **words = tirc_new_array(c, const char *, p->n);
  for (int i = 0; i < p->n; i++) words[i] = tirc_strdup(c, tirc_api_name(c, p->words[i]));
  OperatorCall call = tirc_operator_call_of_words(ops, keep(c, p->name), p->n, words);
  call.asserts = true;
  const OperatorProgram program = tirc_operator_program(ops, &call);
  Module *m = tirc_new(c, Module);
  const Func **funcs = tirc_new(c, const Func *);
  *funcs = program.func;
  *m = (Module){.c = c, .name = "Module", .n_funcs = 1, .funcs = funcs};
  tirc_verify(c, m);
  p->out = tirc_api_module(c, m, &(Sources){0});
}

tirc_status tirc_operator_module(const char *folder, const char *name, int n,
                                 const char *const *words, tirc_module **out, tirc_error **error) {
  NEED(name, LIST(n, words), out);
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  Program p = {.folder = folder, .name = name, .n = n, .words = words};
  tirc_status status = tirc_api_guard(c, make_program, &p, &(Sources){0}, error);
  if (status == TIRC_OK)
    *out = p.out;
  else
    tirc_context_release(c);
  return status;
}
