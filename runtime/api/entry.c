#include "entry.h"

#include "codegen/c/c.h"
#include "codegen/symbols.h"
#include "ir/arith/arith.h"
#include "passes/module/pipeline.h"
#include "passes/module/plan.h"

#include <inttypes.h>

enum { MOST_CONSTANTS = 4 << 20, BYTES_A_LINE = 20 };

typedef struct Entry {
  Tirc *c;
  const Module *m, *lowered;
  const Plan *plan;
  const char *name;
  const char *const *symbols; /* one a function of lowered */
  int64_t *offsets, total;
  Text text;
} Entry;

/* --- memory -------------------------------------------------------------------------------------
 */

static int64_t bytes_of(Entry *e, Buffer b) {
  const Info info = tirc_info_tensor(e->c, b->dtype, b->ndim, b->shape);
  const int64_t bytes = tirc_info_bytes(info);
  if (bytes < 0)
    tirc_fail(e->c, e->plan->signature->loc, "unsupported", "give it a size: -D n=8",
              "C source has a workspace of one size, and %s is %s", b->name,
              tirc_info_words(e->c, info));
  return bytes;
}

/* What is made of weights alone lives through the whole call. */
static void plan_memory(Entry *e) {
  const Plan *plan = e->plan;
  MemoryUse *uses = tirc_new_array(e->c, MemoryUse, plan->n_tensors);
  int n = 0, a, b;
  for (int i = 0; i < plan->n_tensors; i++) {
    const PlanTensor *t = &plan->tensors[i];
    const int64_t bytes = bytes_of(e, t->buffer);
    if (t->place == PLAN_WORKSPACE)
      uses[n++] = (MemoryUse){bytes, t->first, t->last, 0};
    else if (t->place == PLAN_PREPARED)
      uses[n++] = (MemoryUse){bytes, 0, plan->n_calls, 0};
  }
  e->total = tirc_plan_memory(e->c, n, uses);
  if (e->total < 0 || tirc_memory_conflict(n, uses, e->total, &a, &b))
    tirc_fail(e->c, (Loc){0}, "memory", NULL, "the workspace has no plan");
  e->offsets = tirc_new_array(e->c, int64_t, plan->n_tensors);
  for (int i = 0, k = 0; i < plan->n_tensors; i++)
    if (plan->tensors[i].place == PLAN_WORKSPACE || plan->tensors[i].place == PLAN_PREPARED)
      e->offsets[i] = uses[k++].offset;
}

static void put_constants(Entry *e) {
  int64_t all = 0;
  for (int i = 0; i < e->plan->n_tensors; i++) {
    const PlanTensor *t = &e->plan->tensors[i];
    if (t->place != PLAN_CONST) continue;
    const int64_t bytes = bytes_of(e, t->buffer);
    const unsigned char *data = t->data;
    if ((all += bytes) > MOST_CONSTANTS)
      tirc_fail(e->c, e->plan->signature->loc, "unsupported", "make them parameters of main",
                "constants of more than 4 MB do not go into C source");
    tirc_text_addf(&e->text,
                   "\nstatic const unsigned char %s_const%d[] __attribute__((aligned(64))) = {",
                   e->name, i);
    for (int64_t k = 0; k < bytes; k++)
      tirc_text_addf(&e->text, "%s%u,", k % BYTES_A_LINE ? " " : "\n    ", data[k]);
    tirc_text_add(&e->text, bytes ? "\n};\n" : "0};\n");
  }
}

/* --- the function -------------------------------------------------------------------------------
 */

/* A name of the entry's own, or a parameter's. */
static const char *parameter_name(Entry *e, int i) {
  static const char *const own[] = {"workspace", "at", "failed"};
  const char *name = tirc_c_identifier(e->c, e->plan->signature->buffers[i]->name);
  for (size_t k = 0; k < sizeof own / sizeof *own; k++)
    if (strcmp(own[k], name) == 0) return tirc_format(e->c, "%s_", name);
  return strcmp(e->name, name) == 0 ? tirc_format(e->c, "%s_", name) : name;
}

static void put_head(Entry *e) {
  const Func *f = e->plan->signature;
  tirc_text_addf(
      &e->text,
      "\n/* The model: main's parameters, its results, and a workspace of %s_workspace bytes,\n"
      " * aligned to 64, which nobody else uses while it runs.\n",
      e->name);
  for (int i = 0; i < f->n_params; i++)
    tirc_text_addf(
        &e->text, " *   %s: %s, %s\n", parameter_name(e, i),
        tirc_info_words(e->c, tirc_info_tensor(e->c, f->buffers[i]->dtype, f->buffers[i]->ndim,
                                               f->buffers[i]->shape)),
        i < e->plan->n_inputs   ? "an input"
        : i < e->plan->n_params ? "a weight"
                                : "written");
  tirc_text_addf(&e->text, " */\nenum { %s_workspace = %" PRId64 " };\nint %s(", e->name, e->total,
                 e->name);
  for (int i = 0; i < f->n_params; i++)
    tirc_text_addf(&e->text, "%s%s *%s, ", i < e->plan->n_params ? "const " : "",
                   tirc_c_type(f->buffers[i]->dtype), parameter_name(e, i));
  tirc_text_add(&e->text, "void *workspace)");
}

static const char *pointer(Entry *e, int tensor) {
  const PlanTensor *t = &e->plan->tensors[tensor];
  if (t->place == PLAN_PARAM || t->place == PLAN_RESULT) return parameter_name(e, t->index);
  if (t->place == PLAN_CONST) return tirc_format(e->c, "(const void *)%s_const%d", e->name, tensor);
  return tirc_format(e->c, "(void *)(at + %" PRId64 ")", e->offsets[tensor]);
}

static int64_t number(Entry *e, Expr x, const char *what) {
  int64_t v = 0;
  if (!x || !tirc_const_int(tirc_simplify0(e->c, x), &v))
    tirc_fail(e->c, e->plan->signature->loc, "unsupported", "give it a size: -D n=8",
              "%s is no number", what);
  return v;
}

static int function_number(const Entry *e, const Func *f) {
  int i = 0;
  while (strcmp(e->lowered->funcs[i]->name, f->name) != 0) i++;
  return i;
}

/* Extents that no parameter tells are further arguments, in the order of the lowered function. */
static void put_symbols(Entry *e, const PlanCall *call) {
  Match match = {.c = e->c};
  Expr *symbols, *own;
  const int n_own = tirc_symbolic_params(e->c, call->func, &own);
  const int n =
      tirc_symbolic_params(e->c, e->lowered->funcs[function_number(e, call->func)], &symbols);
  for (int i = 0; i < call->n; i++) {
    Buffer b = e->plan->tensors[call->tensors[i]].buffer;
    if (!tirc_match_buffer(&match, call->func->buffers[i],
                           tirc_info_tensor(e->c, b->dtype, b->ndim, b->shape)))
      tirc_fail(e->c, call->loc, "shape", NULL, "the call of %s: %s", call->func->name, match.why);
  }
  for (int i = 0; i < n; i++) {
    Expr value = tirc_map_get(&match.symbols, symbols[i]);
    for (int k = 0; !value && k < n_own; k++)
      if (strcmp(own[k]->u.s, symbols[i]->u.s) == 0) value = tirc_map_get(&match.symbols, own[k]);
    tirc_text_addf(&e->text, ", %" PRId64, number(e, value, symbols[i]->u.s));
  }
}

static void put_call(Entry *e, const PlanCall *call) {
  if (call->symbol)
    tirc_fail(e->c, call->loc, "unsupported", NULL,
              "the C source of a model cannot call \"%s\" of another program", call->symbol);
  if (!call->func) {
    tirc_text_addf(&e->text, "  memcpy(%s, %s, %" PRId64 ");\n", pointer(e, call->tensors[1]),
                   pointer(e, call->tensors[0]),
                   bytes_of(e, e->plan->tensors[call->tensors[0]].buffer));
    return;
  }
  tirc_text_addf(&e->text, "  failed = %s(", e->symbols[function_number(e, call->func)]);
  for (int i = 0; i < call->n; i++)
    tirc_text_addf(&e->text, "%s%s", i ? ", " : "", pointer(e, call->tensors[i]));
  for (int i = 0; i < call->n_scalars; i++)
    tirc_text_addf(&e->text, ", %" PRId64, number(e, call->scalars[i], "a scalar"));
  put_symbols(e, call);
  tirc_text_add(&e->text, ");\n  if (failed) return failed;\n");
}

static void put_body(Entry *e) {
  tirc_text_add(&e->text, " {\n  char *at = workspace;\n  int failed = 0;\n  (void)at;\n");
  for (int i = 0; i < e->plan->n_calls; i++) put_call(e, &e->plan->calls[i]);
  tirc_text_add(&e->text, "  return failed;\n}\n");
}

const char *tirc_entry_c(Tirc *c, const Module *m, const Module *lowered, const char *name,
                         bool is_header) {
  Entry e = {.c = c, .m = m, .lowered = lowered, .text = {.c = c}};
  e.name = tirc_c_identifier(c, name);
  e.symbols = tirc_symbols(c, lowered);
  for (int i = 0; i < lowered->n_funcs; i++)
    if (strcmp(e.symbols[i], e.name) == 0) e.name = tirc_format(c, "%s_model", e.name);
  e.plan = tirc_plan(tirc_passes_open(c, NULL), m);
  plan_memory(&e);
  if (is_header) {
    tirc_text_add(&e.text, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    put_head(&e);
    tirc_text_add(&e.text, ";\n\n#ifdef __cplusplus\n}\n#endif\n");
  } else {
    put_constants(&e);
    put_head(&e);
    put_body(&e);
  }
  return e.text.at;
}
