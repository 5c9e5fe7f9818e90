/* The arguments of a case: arrays at random, scalars and symbolic extents from -D or the suite, as
 * constants are. */
#include "bench.h"

#include <string.h>
#include <sys/stat.h>

static const char *given(const Case *k, const char *name) {
  for (int i = 0; i < k->at.n_defines; i++)
    if (strcmp(k->at.defines[i].name, name) == 0) return k->at.defines[i].value;
  return NULL;
}

bool is_size(const tirc_module *m, const char *name) {
  int n;
  const tirc_param *params;
  const tirc_symbol *symbols;
  if (!tirc_module_params(m, NULL, &n, &params, NULL))
    for (int i = 0; i < n; i++)
      if (!params[i].is_array && strcmp(params[i].name, name) == 0) return true;
  if (!tirc_module_symbols(m, NULL, &n, &symbols, NULL))
    for (int i = 0; i < n; i++)
      if (strcmp(symbols[i].name, name) == 0) return true;
  return false;
}

int load_named(const Loading *o, const char *file, const char *text, int n,
               const tirc_define *defines, tirc_module **out) {
  tirc_error *e = NULL;
  if (!text) return load_program_with(o, file, n, defines, out);
  return tirc_module_parse(text, strlen(text), file, n, defines, out, &e) ? report(e) : DONE;
}

/* A file is read twice: which names are sizes, a program without its settings tells. */
tirc_module *read_plain(const char *file, const char *text) {
  struct stat info;
  tirc_module *out = NULL;
  if (text)
    (void)tirc_module_parse(text, strlen(text), file, 0, NULL, &out, NULL);
  else if (stat(file, &info) == 0 && S_ISREG(info.st_mode))
    (void)tirc_module_read(file, 0, NULL, &out, NULL);
  return out;
}

int load_case(const Bench *b, Case *k) {
  const char *file = k->file ? k->file : b->o->make.from.args.at[0];
  int n = 0;
  tirc_define *constants = tirc_alloc_array(memory, (size_t)k->at.n_defines + 1, sizeof *constants);
  tirc_module *plain = k->at.n_defines ? read_plain(file, k->text) : NULL;
  const bool has_sizes = plain && !tirc_module_has_graph(plain); /* a model's are its constants */
  for (int i = 0; i < k->at.n_defines; i++)
    if (!has_sizes || !is_size(plain, k->at.defines[i].name)) constants[n++] = k->at.defines[i];
  int status = load_named(&b->o->make.from, file, k->text, n, constants, &k->program);
  tirc_module_free(plain);
  return status;
}

static int no_size(const char *what, const char *name) {
  char *hint = tirc_format(memory, "give it one or several: -D %.80s=16,32", name);
  return complain(hint, "%s \"%s\" has no value", what, name);
}

static int read_symbols(Case *k) {
  tirc_error *e = NULL;
  const tirc_symbol *symbols;
  if (tirc_module_symbols(k->program, NULL, &k->n_symbols, &symbols, &e)) return report(e);
  k->symbols =
      tirc_alloc_array(memory, (size_t)(k->n_symbols + k->n_params) + 1, sizeof *k->symbols);
  int status = DONE;
  for (int i = 0; i < k->n_symbols && status == DONE; i++) {
    const char *value = given(k, symbols[i].name);
    k->symbols[i] = symbols[i];
    status = value ? read_extent(value, &k->symbols[i]) : no_size("the extent", symbols[i].name);
  }
  return status;
}

/* A scalar is among the sizes, too: copies between layouts are told it by its name. */
static int read_scalars(Case *k) {
  int status = DONE;
  for (int i = 0; i < k->n_params && status == DONE; i++) {
    const tirc_param *p = &k->params[i];
    const char *value = p->is_array ? NULL : given(k, p->name);
    if (p->is_array) continue;
    status = value ? read_scalar(p, value, &k->args[i]) : no_size("the scalar parameter", p->name);
    if (status == DONE)
      k->symbols[k->n_symbols++] = (tirc_symbol){p->name, k->args[i].i, true, p->in_file};
  }
  return status;
}

static bool new_array(const Case *k, const tirc_module *m, const tirc_argument *args, int i,
                      tirc_array **out, tirc_error **e) {
  return !tirc_module_array(m, NULL, k->n_params, args, k->n_symbols, k->symbols, i, NULL, out, e);
}

bool new_array_after(const Case *k, const tirc_module *scheduled, int i, tirc_array **out,
                     tirc_error **e) {
  tirc_argument *scalars = tirc_alloc_array(memory, (size_t)k->n_params + 1, sizeof *scalars);
  for (int j = 0; scalars && j < k->n_params; j++)
    if (!k->params[j].is_array) scalars[j] = k->args[j];
  return scalars && new_array(k, scheduled, scalars, i, out, e);
}

int make_arrays(const Bench *b, Case *k) {
  tirc_error *e = NULL;
  const tirc_param *params;
  if (tirc_module_params(k->program, NULL, &k->n_params, &params, &e)) return report(e);
  const size_t n = (size_t)k->n_params + 1;
  k->args = tirc_alloc_array(memory, n, sizeof *k->args);
  k->params = tirc_alloc_array(memory, n, sizeof *k->params);
  memcpy(k->params, params, (size_t)k->n_params * sizeof *params);
  int status =
      b->of_programs || b->tunes ? DONE : check_range_names(b->o, k->n_params, k->params, 1);
  if (status == DONE) status = read_symbols(k);
  if (status == DONE) status = read_scalars(k);
  for (int i = 0; i < k->n_params && status == DONE; i++) {
    if (!k->params[i].is_array) continue;
    if (!new_array(k, k->program, k->args, i, &k->args[i].array, &e)) return report(e);
    status = fill_random(b->o, &k->params[i], i, k->args[i].array);
    k->params[i].ndim = tirc_array_ndim(k->args[i].array); /* 1: flat, with gaps */
    k->params[i].shape = tirc_array_shape(k->args[i].array);
  }
  return status;
}

tirc_status random_arguments(const tirc_module *m, int *n, tirc_argument **args, tirc_error **e) {
  const tirc_param *params = NULL;
  tirc_status status = tirc_module_params(m, NULL, n, &params, e);
  if (status) return status;
  *args = tirc_alloc_array(memory, (size_t)*n + 1, sizeof **args);
  for (int i = 0; i < *n && !status; i++) {
    status = tirc_module_array(m, NULL, *n, *args, 0, NULL, i, NULL, &(*args)[i].array, e);
    if (!status) tirc_array_fill_random((*args)[i].array, (uint64_t)i);
  }
  return status;
}

/* What a contender forgets to write shows. */
void poison_results(const Case *k, tirc_argument *args) {
  for (int i = 0; i < k->n_params; i++)
    if (k->params[i].is_written && args[i].array) tirc_array_fill_poison(args[i].array);
}
