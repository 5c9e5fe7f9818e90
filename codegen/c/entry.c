/* The function of a model (codegen/model_entry.h) as C: behind the source of the functions, or
 * behind their header. */
#include "c.h"

#include "codegen/symbols.h"
#include "ir/tree/graph.h"

#include <inttypes.h>

enum { MOST_CONSTANTS = 4 << 20, BYTES_A_LINE = 20 };

typedef struct Writing {
  Tirc *c;
  const ModelEntry *e;
  const char *const *symbols;
  Text text;
} Writing;

static void put_constants(Writing *w) {
  int64_t all = 0;
  for (int i = 0; i < w->e->n_consts; i++) {
    const EntryConst *k = &w->e->consts[i];
    const unsigned char *data = k->data;
    if ((all += k->bytes) > MOST_CONSTANTS)
      tirc_fail(w->c, (Loc){0}, "unsupported", "make them parameters of main, or --emit=obj",
                "constants of more than 4 MB do not go into C source");
    tirc_text_addf(&w->text,
                   "\nstatic const unsigned char %s_const%d[] __attribute__((aligned(64))) = {",
                   w->e->name, i);
    for (int64_t b = 0; b < k->bytes; b++)
      tirc_text_addf(&w->text, "%s%u,", b % BYTES_A_LINE ? " " : "\n    ", data[b]);
    tirc_text_add(&w->text, k->bytes ? "\n};\n" : "0};\n");
  }
}

static int n_params(const ModelEntry *e) { return e->n_inputs + e->n_weights + e->n_results; }

static const char *role(const ModelEntry *e, int i) {
  return i < e->n_inputs ? "an input" : i < e->n_inputs + e->n_weights ? "a weight" : "written";
}

/* Parameters from one on, before others. */
static void put_params(Writing *w, int from, int to) {
  const ModelEntry *e = w->e;
  for (int i = from; i < to; i++)
    tirc_text_addf(&w->text, "%s%s *%s, ", i < e->n_inputs + e->n_weights ? "const " : "",
                   tirc_c_type(e->params[i]->dtype), e->names[i]);
}

static void put_prepare_head(Writing *w) {
  const ModelEntry *e = w->e;
  tirc_text_addf(&w->text,
                 "\n/* Once, before the model runs: what it needs of its weights alone goes into\n"
                 " * %s_prepared bytes, aligned to 64, which any number of callers then read. */\n"
                 "enum { %s_prepared = %" PRId64 " };\nint %s_prepare(",
                 e->name, e->name, e->prepared, e->name);
  put_params(w, e->n_inputs, e->n_inputs + e->n_weights);
  tirc_text_add(&w->text, "void *prepared)");
}

static void put_head(Writing *w) {
  const ModelEntry *e = w->e;
  tirc_text_addf(
      &w->text,
      "\n/* The model: main's parameters, its results, %sand a workspace of %s_workspace "
      "bytes,\n * aligned to 64, which nobody else uses while it runs.\n",
      e->prepared ? "what was prepared, " : "", e->name);
  for (int i = 0; i < n_params(e); i++) {
    Buffer b = e->params[i];
    tirc_text_addf(&w->text, " *   %s: %s, %s\n", e->names[i],
                   tirc_info_words(w->c, tirc_info_tensor(w->c, b->dtype, b->ndim, b->shape)),
                   role(e, i));
  }
  tirc_text_addf(&w->text, " */\nenum { %s_workspace = %" PRId64 " };\nint %s(", e->name,
                 e->workspace, e->name);
  put_params(w, 0, n_params(e));
  tirc_text_addf(&w->text, "%svoid *workspace)", e->prepared ? "const void *prepared, " : "");
}

static const char *value(Writing *w, EntryValue v) {
  Tirc *c = w->c;
  switch (v.place) {
  case ENTRY_PARAM: return w->e->names[v.at];
  case ENTRY_WORKSPACE: return tirc_format(c, "(void *)(at + %" PRId64 ")", v.at);
  case ENTRY_PREPARED: return tirc_format(c, "(void *)(packed + %" PRId64 ")", v.at);
  case ENTRY_CONST: return tirc_format(c, "(const void *)%s_const%" PRId64, w->e->name, v.at);
  case ENTRY_NUMBER: break;
  }
  return tirc_format(c, "%" PRId64, v.at);
}

static void put_call(Writing *w, const EntryCall *call) {
  if (call->func < 0) {
    tirc_text_addf(&w->text, "  memcpy(%s, %s, %" PRId64 ");\n", value(w, call->args[1]),
                   value(w, call->args[0]), call->bytes);
    return;
  }
  tirc_text_addf(&w->text, "  failed = %s(", w->symbols[call->func]);
  for (int i = 0; i < call->n; i++)
    tirc_text_addf(&w->text, "%s%s", i ? ", " : "", value(w, call->args[i]));
  tirc_text_add(&w->text, ");\n  if (failed) return failed;\n");
}

static void put_body(Writing *w, int from, int to, const char *names) {
  tirc_text_addf(&w->text, " {\n%s  int failed = 0;\n", names);
  for (int i = from; i < to; i++) put_call(w, &w->e->calls[i]);
  tirc_text_add(&w->text, "  return failed;\n}\n");
}

const char *tirc_c_entry(Tirc *c, const char *before, const ModelEntry *e, const Module *lowered,
                         bool is_header) {
  Writing w = {.c = c, .e = e, .symbols = tirc_symbols(c, lowered), .text = {.c = c}};
  static const char work[] = "  char *at = workspace;\n  (void)at;\n";
  static const char both[] = "  char *at = workspace;\n  const char *packed = prepared;\n"
                             "  (void)at, (void)packed;\n";
  tirc_text_add(&w.text, before);
  if (is_header) tirc_text_add(&w.text, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  if (!is_header) put_constants(&w);
  if (e->prepared) put_prepare_head(&w);
  if (e->prepared && is_header) tirc_text_add(&w.text, ";\n");
  if (e->prepared && !is_header) put_body(&w, 0, e->n_prepare, "  char *packed = prepared;\n");
  put_head(&w);
  if (is_header)
    tirc_text_add(&w.text, ";\n\n#ifdef __cplusplus\n}\n#endif\n");
  else
    put_body(&w, e->n_prepare, e->n_calls, e->prepared ? both : work);
  return w.text.at;
}
