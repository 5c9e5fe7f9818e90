/* The function of a model (codegen/model_entry.h) as C: behind the source of the functions, or
 * behind their header. */
#include "gen.h"

#include "ir/tree/graph.h"

#include <inttypes.h>

enum { MOST_CONSTANTS = 4 << 20, BYTES_A_LINE = 20 };

typedef struct Writing {
  Tirc *c;
  const ModelEntry *e;
  const char *const *symbols;
  Failures failures; /* of all functions */
  Text text;
  int n_told;         /* of the products, by the calls so far */
  const char *indent; /* of calls */
  bool source_alone;
} Writing;

/* What goes into the source, and how much of it there is: gcc takes 0.3 GB and 5 s a million. */
static void put_bytes(Writing *w, const char *name, const void *bytes, int64_t n) {
  const unsigned char *data = bytes;
  tirc_text_addf(&w->text, "\nstatic const _Alignas(64) unsigned char %s[] = {", name);
  for (int64_t b = 0; b < n; b++)
    tirc_text_addf(&w->text, "%s%u,", b % BYTES_A_LINE ? " " : "\n    ", data[b]);
  tirc_text_add(&w->text, n ? "\n};\n" : "0};\n");
}

static void put_constants(Writing *w) {
  const ModelEntry *e = w->e;
  const int64_t weights = e->place == WEIGHTS_INSIDE ? e->weights : 0;
  int64_t constants = 0;
  for (int i = 0; i < e->n_consts; i++) constants += e->consts[i].is_read ? e->consts[i].bytes : 0;
  if (constants > MOST_CONSTANTS - weights)
    tirc_fail(w->c, (Loc){0}, CODE_UNSUPPORTED,
              weights
                  ? "--weights-out FILE keeps weights beside the code; --emit=obj and lib take any"
                  : "make them parameters of main, or --emit=obj",
              "%s of %" PRId64 " bytes do not go into C source, which takes 4 MB",
              weights ? "weights and constants" : "constants", weights + constants);
  for (int i = 0; i < e->n_consts; i++)
    if (e->consts[i].is_read)
      put_bytes(w, tirc_format(w->c, "%s_const%d", e->name, i), e->consts[i].data,
                e->consts[i].bytes);
  if (e->place == WEIGHTS_INSIDE)
    put_bytes(w, tirc_format(w->c, "%s_weights", e->name), e->block, e->weights);
}

/* --- products --------------------------------------------------------------------------------- */

static void put_product_type(Writing *w) {
  const char *name = w->e->name;
  tirc_text_addf(
      &w->text,
      "\n/* Told of each product of matrices as it runs, where it is set: before it, and after it "
      "with\n * is_done 1. NULL costs a comparison a product. out[batch, M, N] is the sum over K "
      "of\n"
      " * a[batch, M, K] * b[batch, K, N]; of a convolution the left matrix is never made. */\n"
      "typedef struct %s_product {\n"
      "  const char *function, *block, *phase; /* \"run\", or \"prepare\": once */\n"
      "  int64_t batch, M, N, K;\n"
      "  const char *a, *b, *out, *layout; /* types; \"NN\", T: it lies the other way round */\n"
      "  int convolution;\n"
      "} %s_product;\n"
      "extern void (*%s_on_product)(const %s_product *product, int is_done);\n",
      name, name, name, name);
}

static void put_products(Writing *w) {
  const ModelEntry *e = w->e;
  tirc_text_addf(&w->text,
                 "void (*%s_on_product)(const %s_product *, int) = NULL;\n"
                 "static const %s_product %s_products[] = {\n",
                 e->name, e->name, e->name, e->name);
  for (int i = tirc_entry_first_call(e); i < e->n_calls; i++)
    for (int k = 0; k < e->calls[i].n_products; k++) {
      const EntryProduct *p = &e->calls[i].products[k];
      tirc_text_addf(&w->text,
                     "    {%s, %s, \"%s\", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                     ", \"%s\", \"%s\", \"%s\", \"%s\", %d},\n",
                     tirc_c_quoted(w->c, p->function), tirc_c_quoted(w->c, p->block),
                     i < e->n_prepare ? "prepare" : "run", p->batch, p->m, p->n, p->k, p->a, p->b,
                     p->out, p->layout, p->is_convolution);
    }
  tirc_text_add(&w->text, "};\n");
}

static void tell_products(Writing *w, const EntryCall *call, int is_done) {
  const char *name = w->e->name;
  for (int i = 0; i < call->n_products; i++)
    tirc_text_addf(&w->text, "%sif (%s_on_product) %s_on_product(&%s_products[%d], %d);\n",
                   w->indent, name, name, name, w->n_told + i, is_done);
}

/* --- parameters ------------------------------------------------------------------------------- */

static const char *role(const ModelEntry *e, int i) {
  return i < e->n_inputs ? "an input" : i < e->n_inputs + e->n_weights ? "a weight" : "written";
}

/* Parameters from one on, before others. */
static void put_params(Writing *w, int from, int to) {
  const ModelEntry *e = w->e;
  for (int i = from; i < to; i++)
    if (tirc_entry_has_param(e, i))
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

static const char *words(Writing *w, Buffer b) {
  return tirc_info_words(w->c, tirc_info_tensor(w->c, b->dtype, b->ndim, b->shape));
}

/* What a parameter is called in the file, where C has another name for it. */
static const char *name_in_file(Writing *w, const char *name, const char *in_file) {
  if (!strcmp(name, in_file)) return "";
  char *quoted = tirc_strdup(w->c, tirc_c_quoted(w->c, in_file));
  for (char *at = quoted; *at; at++) /* neither the end of a comment nor another one's begin */
    if ((at[0] == '*' && at[1] == '/') || (at[0] == '/' && at[1] == '*')) *at = '?';
  return tirc_format(w->c, ", in the file %s", quoted);
}

/* How the block of weights is laid out. */
static void put_layout(Writing *w) {
  const ModelEntry *e = w->e;
  tirc_text_addf(
      &w->text,
      "\n/* The weights: one block of %s_weights bytes, aligned to 64, which any number of\n"
      " * callers read. It is the file that `tirc build --weights-out FILE` writes beside "
      "this\n * very code: map it (mmap), and pass where it begins. In it lie, at these "
      "bytes:\n",
      e->name);
  for (int i = 0; i < e->n_parts; i++)
    tirc_text_addf(&w->text, " *   %" PRId64 ": %s, %s\n", e->parts[i].at, e->parts[i].name,
                   words(w, e->parts[i].buffer));
  tirc_text_addf(&w->text, " */\nenum { %s_weights = %" PRId64 " };\n", e->name, e->weights);
  for (int i = 0; i < e->n_parts; i++)
    tirc_text_addf(&w->text, "%s%s_weights_%s = %" PRId64 "%s", i ? "  " : "enum {\n  ", e->name,
                   e->parts[i].name, e->parts[i].at, i + 1 < e->n_parts ? ",\n" : "\n};\n");
}

/* Behind a head that began at `from`: the end of a declaration, and the one with a runtime. */
static void end_declaration(Writing *w, int from, const char *name) {
  const char *head = strstr(w->text.at + from, tirc_format(w->c, "\nint %s(", name)) + 1;
  head = tirc_strdup(w->c, head);
  tirc_text_add(&w->text, ";\n");
  if (!w->source_alone) tirc_cg_declare_with_runtime(&w->text, head);
}

/* "int64_t n, int64_t s, " or, alone, "int64_t n, int64_t s" */
static void put_extents(Writing *w, bool alone) {
  const ModelEntry *e = w->e;
  for (int i = 0; i < e->n_extents; i++)
    tirc_text_addf(&w->text, "int64_t %s%s", e->extents[i].name,
                   alone && i + 1 == e->n_extents ? "" : ", ");
}

static void put_extent_names(Writing *w) {
  for (int i = 0; i < w->e->n_extents; i++) tirc_text_addf(&w->text, "%s, ", w->e->extents[i].name);
}

static void put_size_head(Writing *w) {
  const char *name = w->e->name;
  tirc_text_addf(&w->text, "int64_t %s_workspace_size(", name);
  put_extents(w, true);
  tirc_text_add(&w->text, ")");
}

/* How large the workspace is: a number, or a function of the extents. */
static void put_workspace(Writing *w, bool is_header) {
  const ModelEntry *e = w->e;
  if (!e->n_extents) {
    tirc_text_addf(&w->text, "enum { %s_workspace = %" PRId64 " };\n", e->name, e->workspace);
    return;
  }
  tirc_text_addf(&w->text, "/* Bytes of the workspace for these extents; 0: %s refuses them. */\n",
                 e->name);
  put_size_head(w);
  tirc_text_add(&w->text, ";\n");
  if (is_header) return;
  put_size_head(w);
  tirc_text_addf(&w->text, " {\n  int64_t sizes[%d];\n  return %s(", e->n_sizes,
                 w->symbols[e->sizes]);
  put_extent_names(w);
  tirc_text_add(&w->text, "sizes) ? 0 : sizes[0];\n}\n");
}

/* Ahead of the calls. */
static void put_sizes(Writing *w) {
  const ModelEntry *e = w->e;
  if (!e->n_extents) return;
  tirc_text_addf(&w->text, "  int64_t sizes[%d];\n  failed = %s(", e->n_sizes,
                 w->symbols[e->sizes]);
  put_extent_names(w);
  tirc_text_add(&w->text, "sizes);\n  if (failed) return failed;\n");
}

/* Which rows of a result mean something, where only the run knows. */
static const char *rows_that_count(Writing *w, int param) {
  const ModelEntry *e = w->e;
  const int first = e->n_inputs + e->n_weights;
  Text said = {.c = w->c};
  for (int i = 0; i < e->n_rows; i++)
    if (first + e->rows[i].result == param)
      tirc_text_addf(&said, "%s%s rows of it along axis %d", said.n ? " and " : ", ",
                     e->names[first + e->rows[i].count], e->rows[i].axis);
  return said.n ? said.at : "";
}

static void put_head(Writing *w, bool is_header) {
  const ModelEntry *e = w->e;
  const char *between = e->place == WEIGHTS_BESIDE ? "the block of weights, "
                        : tirc_entry_prepares(e)   ? "what was prepared, "
                                                   : "";
  tirc_text_addf(&w->text,
                 "\n/* The model: %smain's %s, its results, %sand a workspace of %s_workspace%s "
                 "bytes,\n * aligned to 64, which nobody else uses while it runs.\n",
                 e->n_extents ? "extents, " : "",
                 e->place == WEIGHTS_PARAMS ? "parameters" : "inputs", between, e->name,
                 e->n_extents ? "_size(...)" : "");
  for (int i = 0; i < e->n_extents; i++)
    tirc_text_addf(&w->text, " *   %s: an extent, from %" PRId64 " to %" PRId64 "%s\n",
                   e->extents[i].name, e->extents[i].lower, e->extents[i].upper,
                   name_in_file(w, e->extents[i].name, e->extents[i].in_file));
  for (int i = 0; i < tirc_entry_params(e); i++)
    if (tirc_entry_has_param(e, i))
      tirc_text_addf(&w->text, " *   %s: %s, %s%s%s\n", e->names[i], words(w, e->params[i]),
                     role(e, i), rows_that_count(w, i),
                     name_in_file(w, e->names[i], e->tensors[i].in_file));
  tirc_text_add(&w->text, " */\n");
  put_workspace(w, is_header);
  tirc_text_addf(&w->text, "int %s(", e->name);
  put_extents(w, false);
  put_params(w, 0, tirc_entry_params(e));
  tirc_text_addf(&w->text, "%svoid *workspace)",
                 e->place == WEIGHTS_BESIDE ? "const void *weights, "
                 : tirc_entry_prepares(e)   ? "const void *prepared, "
                                            : "");
}

static const char *value(Writing *w, EntryValue v) {
  Tirc *c = w->c;
  switch (v.place) {
  case ENTRY_PARAM: return w->e->names[v.at];
  case ENTRY_WORKSPACE: return tirc_format(c, "(void *)(at + %" PRId64 ")", v.at);
  case ENTRY_PREPARED:
  case ENTRY_WEIGHTS: return tirc_format(c, "(void *)(packed + %" PRId64 ")", v.at);
  case ENTRY_CONST: return tirc_format(c, "(const void *)%s_const%" PRId64, w->e->name, v.at);
  case ENTRY_SIZE: return tirc_format(c, "sizes[%" PRId64 "]", v.at);
  case ENTRY_WORKSPACE_SIZE: return tirc_format(c, "(void *)(at + sizes[%" PRId64 "])", v.at);
  case ENTRY_NUMBER: break;
  }
  return tirc_format(c, "%" PRId64, v.at);
}

static void put_call(Writing *w, const EntryCall *call) {
  if (call->func < 0) {
    const char *bytes = call->size ? tirc_format(w->c, "(size_t)sizes[%d]", call->size)
                                   : tirc_format(w->c, "%" PRId64, call->bytes);
    const char *to = value(w, call->args[1]), *from = value(w, call->args[0]);
    const bool in_place = call->args[0].place == ENTRY_PARAM && call->args[1].place == ENTRY_PARAM;
    tirc_text_addf(&w->text, "%s", w->indent);
    if (in_place) tirc_text_addf(&w->text, "if ((const void *)%s != (const void *)%s) ", to, from);
    tirc_text_addf(&w->text, "memcpy(%s, %s, %s);\n", to, from, bytes);
    return;
  }
  tell_products(w, call, 0);
  tirc_text_addf(&w->text, "%sfailed = %s(", w->indent, w->symbols[call->func]);
  for (int i = 0; i < call->n; i++)
    tirc_text_addf(&w->text, "%s%s", i ? ", " : "", value(w, call->args[i]));
  tirc_text_addf(&w->text, ");\n%sif (failed) return failed;\n", w->indent);
  tell_products(w, call, 1);
  w->n_told += call->n_products;
}

/* Whether calls, or what they hang on, read or write parameter i. */
static bool uses_param(const ModelEntry *e, int i, int from, int to) {
  for (const EntryCall *call = e->calls + from; call < e->calls + to; call++) {
    for (int k = 0; k < call->n; k++)
      if (call->args[k].place == ENTRY_PARAM && call->args[k].at == i) return true;
    for (int k = 0; k < call->n_conditions; k++)
      if (call->conditions[k].at.place == ENTRY_PARAM && call->conditions[k].at.at == i)
        return true;
  }
  return false;
}

/* if (*(const bool *)(at + 64) && !*(const bool *)flag) { */
static void open_branch(Writing *w, const EntryCall *call) {
  for (int i = 0; i < call->n_conditions; i++)
    tirc_text_addf(&w->text, "%s%s*(const unsigned char *)%s", i ? " && " : "  if (",
                   call->conditions[i].is ? "" : "!", value(w, call->conditions[i].at));
  tirc_text_add(&w->text, ") {\n");
}

/* The calls; first_param .. end_param - 1 are the function's parameters. */
static void put_body(Writing *w, int from, int to, int first_param, int end_param,
                     const char *names) {
  const ModelEntry *e = w->e;
  int branch = -1;
  w->indent = "  ";
  tirc_text_addf(&w->text, " {\n%s", names);
  for (int i = first_param; i < end_param; i++)
    if (tirc_entry_has_param(e, i) && !uses_param(e, i, from, to))
      tirc_text_addf(&w->text, "  (void)%s;\n", e->names[i]);
  tirc_text_add(&w->text, "  int failed = 0;\n");
  if (!first_param) put_sizes(w);
  for (int i = from; i < to; i++) {
    const EntryCall *call = &e->calls[i];
    if (call->branch != branch) {
      if (branch >= 0) tirc_text_add(&w->text, "  }\n");
      if (call->branch >= 0) open_branch(w, call);
      branch = call->branch;
      w->indent = branch < 0 ? "  " : "    ";
    }
    put_call(w, call);
  }
  if (branch >= 0) tirc_text_add(&w->text, "  }\n");
  tirc_text_add(&w->text, "  return failed;\n}\n");
}

/* What is made once: the block of weights, or what prepares. */
static void put_first(Writing *w, bool is_header) {
  const ModelEntry *e = w->e;
  if (!is_header) put_constants(w);
  if (tirc_entry_products(e)) put_product_type(w);
  if (tirc_entry_products(e) && !is_header) put_products(w);
  if (e->place == WEIGHTS_BESIDE) put_layout(w);
  if (!tirc_entry_prepares(e)) return;
  const int at = (int)w->text.n;
  put_prepare_head(w);
  if (is_header)
    end_declaration(w, at, tirc_format(w->c, "%s_prepare", e->name));
  else
    put_body(w, 0, e->n_prepare, e->n_inputs, e->n_inputs + e->n_weights,
             "  char *packed = prepared;\n");
}

const char *tirc_c_entry(Tirc *c, const char *before, const ModelEntry *e, const Module *lowered,
                         bool is_header, bool source_alone) {
  Writing w = {.source_alone = source_alone,
               .c = c,
               .e = e,
               .symbols = tirc_symbols(c, lowered),
               .text = {.c = c}};
  w.failures = tirc_failures(c, lowered);
  const char *block = e->place == WEIGHTS_INSIDE   ? tirc_format(c, "%s_weights", e->name)
                      : e->place == WEIGHTS_BESIDE ? "weights"
                      : tirc_entry_prepares(e)     ? "prepared"
                                                   : NULL;
  const char *names = "  char *at = workspace;\n  (void)at;\n";
  if (block)
    names = tirc_format(c, "%s  const char *packed = (const char *)%s;\n  (void)packed;\n", names,
                        block);
  tirc_text_add(&w.text, before);
  if (is_header) tirc_text_add(&w.text, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  put_first(&w, is_header);
  const int at = (int)w.text.n;
  put_head(&w, is_header);
  if (is_header) {
    end_declaration(&w, at, e->name);
    tirc_cg_declare_error_text(&w.text, e->name);
    tirc_cg_declare_info(&w.text, e->name);
    tirc_text_add(&w.text, "\n#ifdef __cplusplus\n}\n#endif\n");
  } else {
    put_body(&w, e->n_prepare, e->n_calls, 0, tirc_entry_params(e), names);
    tirc_cg_error_text(c, &w.text, e->name, &w.failures, NULL);
    tirc_cg_declare_info(&w.text, e->name);
    tirc_cg_info(c, &w.text, e);
  }
  return w.text.at;
}
