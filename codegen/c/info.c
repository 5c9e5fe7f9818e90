/* What a model is, as a function in C: NAME_info(). */
#include "gen.h"

#include <inttypes.h>

void tirc_cg_declare_info(Text *t, const char *name) {
  static const char types[] =
      "\n#ifndef TIRC_MODEL_INFO_H\n"
      "#define TIRC_MODEL_INFO_H\n"
      "/* An array that a model takes. */\n"
      "typedef struct tirc_model_tensor {\n"
      "  const char *name;     /* in the file of the model */\n"
      "  const char *c_name;   /* in its header */\n"
      "  const char *dtype;    /* \"float32\" */\n"
      "  int ndim;\n"
      "  const int64_t *shape; /* -1: only the run knows the extent */\n"
      "  const char *const *extents; /* the same as text: \"3\", \"n\", \"n * 2\" */\n"
      "} tirc_model_tensor;\n"
      "/* An extent that only the run knows: an int64_t. */\n"
      "typedef struct tirc_model_extent {\n"
      "  const char *name, *c_name;\n"
      "  int64_t lower, upper; /* what it may be, both included */\n"
      "} tirc_model_extent;\n"
      "/* A result of which only the run knows how many rows mean something: the first ones along\n"
      " * the axis, as many as another result says. Both are numbers among the results. */\n"
      "typedef struct tirc_model_rows {\n"
      "  int result, count, axis;\n"
      "} tirc_model_rows;\n"
      "/* The parameters of a model: its extents, its tensors (inputs, weights where each is a\n"
      " * parameter, results), the block of weights or what was prepared, where it has one, and\n"
      " * its workspace. */\n"
      "typedef struct tirc_model_info {\n"
      "  int format; /* 2: the members below; a later one may have more behind them */\n"
      "  int n_extents, n_inputs, n_weights, n_results;\n"
      "  const char *name;    /* of the function */\n"
      "  const char *version; /* of the tirc that made it */\n"
      "  const tirc_model_extent *extents;\n"
      "  const tirc_model_tensor *tensors;\n"
      "  int64_t workspace; /* bytes; -1: NAME_workspace_size tells */\n"
      "  int64_t weights;   /* bytes of the block that it takes; -1: it takes none */\n"
      "  int64_t prepared;  /* bytes that NAME_prepare fills; 0: there is none */\n"
      "  int n_rows;        /* these and those behind are not there in format 1 */\n"
      "  const tirc_model_rows *rows;\n"
      "} tirc_model_info;\n"
      "#endif\n";
  tirc_text_add(t, types);
  tirc_text_addf(t,
                 "/* What %s takes and gives. It is constant, and nobody frees it. */\n"
                 "const tirc_model_info *%s_info(void);\n",
                 name, name);
}

static void put_extents(Tirc *c, Text *t, int i, const EntryTensor *v) {
  tirc_text_addf(t, "  static const int64_t shape%d[] = {", i);
  for (int d = 0; d < v->ndim; d++) tirc_text_addf(t, "%s%" PRId64, d ? ", " : "", v->shape[d]);
  tirc_text_addf(t, "};\n  static const char *const extents%d[] = {", i);
  for (int d = 0; d < v->ndim; d++)
    tirc_text_addf(t, "%s%s", d ? ", " : "", tirc_c_quoted(c, v->extents[d]));
  tirc_text_add(t, "};\n");
}

static void put_tensor(Tirc *c, Text *t, int i, const EntryTensor *v) {
  const char *shape = v->ndim ? tirc_format(c, "shape%d, extents%d", i, i) : "NULL, NULL";
  tirc_text_addf(t, "    {%s, %s, %s, %d, %s},\n", tirc_c_quoted(c, v->in_file),
                 tirc_c_quoted(c, v->name), tirc_c_quoted(c, v->dtype), v->ndim, shape);
}

static void put_all_extents(Tirc *c, Text *t, const ModelEntry *e) {
  tirc_text_add(t, "  static const tirc_model_extent extents[] = {\n");
  for (int i = 0; i < e->n_extents; i++)
    tirc_text_addf(t, "    {%s, %s, %" PRId64 ", %" PRId64 "},\n",
                   tirc_c_quoted(c, e->extents[i].in_file), tirc_c_quoted(c, e->extents[i].name),
                   e->extents[i].lower, e->extents[i].upper);
  tirc_text_add(t, "  };\n");
}

void tirc_cg_info(Tirc *c, Text *t, const ModelEntry *e) {
  const int n = tirc_entry_params(e);
  tirc_text_addf(t, "const tirc_model_info *%s_info(void) {\n", e->name);
  for (int i = 0; i < n; i++)
    if (tirc_entry_has_param(e, i) && e->tensors[i].ndim) put_extents(c, t, i, &e->tensors[i]);
  tirc_text_add(t, "  static const tirc_model_tensor tensors[] = {\n");
  for (int i = 0; i < n; i++)
    if (tirc_entry_has_param(e, i)) put_tensor(c, t, i, &e->tensors[i]);
  tirc_text_add(t, "  };\n");
  if (e->n_extents) put_all_extents(c, t, e);
  if (e->n_rows) tirc_text_add(t, "  static const tirc_model_rows rows[] = {");
  for (int i = 0; i < e->n_rows; i++)
    tirc_text_addf(t, "%s{%d, %d, %d}%s", i ? ", " : "", e->rows[i].result, e->rows[i].count,
                   e->rows[i].axis, i + 1 < e->n_rows ? "" : "};\n");
  const EntryInfo is = tirc_entry_info(e);
  tirc_text_addf(t,
                 "  static const tirc_model_info info = {%d, %d, %d, %d, %d, %s, %s, %s, tensors, "
                 "%" PRId64 ", %" PRId64 ", %" PRId64 ", %d, %s};\n  return &info;\n}\n",
                 ENTRY_INFO_FORMAT, e->n_extents, e->n_inputs, is.n_weights, e->n_results,
                 tirc_c_quoted(c, e->name), tirc_c_quoted(c, e->version),
                 e->n_extents ? "extents" : "NULL", is.workspace, is.weights, is.prepared,
                 e->n_rows, e->n_rows ? "rows" : "NULL");
}
