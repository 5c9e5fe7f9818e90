/* What `tirc run` is given, values first, then files: NAME=F.npy, NAME=F.npz (its array NAME),
 * NAME=F.npz:OTHER, and F.npz for every array by the name of its parameter. */
#include "ir/number.h"
#include "kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *behind(const char *text, const char *name) {
  const size_t n = strlen(name);
  return strncmp(text, name, n) == 0 && text[n] == '=' ? text + n + 1 : NULL;
}

const char *value_of_name(const char *text, const char *name, const char *in_file) {
  const char *value = behind(text, name);
  return value || !in_file ? value : behind(text, in_file);
}

const char *value_of_param(const char *text, const tirc_param *p) {
  return value_of_name(text, p->name, p->in_file);
}

static bool is_called(const tirc_param *p, const char *name) {
  return !strcmp(p->name, name) || !strcmp(p->in_file, name);
}

int read_scalar(const tirc_param *p, const char *value, tirc_argument *out) {
  char *end = NULL;
  const bool is_uint64 = !strcmp(p->dtype, "uint64");
  errno = is_uint64 && strchr(value, '-') ? ERANGE : 0;
  if (strstr(p->dtype, "float"))
    out->f = tirc_parse_double(value, &end);
  else if (is_uint64)
    out->i = (int64_t)strtoull(value, &end, 10);
  else
    out->i = strtoll(value, &end, 10);
  return *value && !*end && !errno
             ? DONE
             : complain(NULL, "'%s' is not a value for \"%s\"", value, p->name);
}

int read_extent(const char *value, tirc_symbol *out) {
  char *end = NULL;
  errno = 0;
  out->value = strtoll(value, &end, 10);
  out->is_known = true;
  return *value && !*end && !errno && out->value >= 0
             ? DONE
             : complain(NULL, "'%s' is not an extent for \"%s\"", value, out->name);
}

bool is_archive(const char *path) {
  size_t n = strlen(path);
  return n > 4 && strcmp(path + n - 4, ".npz") == 0;
}

/* Which of a parameter's names an archive has; the first where it has none. */
static const char *name_in(const tirc_npz *z, const tirc_param *p) {
  const char *name;
  for (int k = 0; (name = tirc_npz_name(z, k)); k++)
    if (is_called(p, name)) return name;
  return p->in_file;
}

/* The array of this name, or of the parameter's. */
static int read_member(const char *path, const char *name, const tirc_param *p, tirc_array **out) {
  tirc_error *e = NULL;
  tirc_npz *z = NULL;
  bool failed =
      tirc_npz_open(path, &z, &e) || tirc_npz_read(z, name ? name : name_in(z, p), out, &e);
  tirc_npz_close(z);
  return failed ? report(e) : DONE;
}

int read_array_file(const tirc_param *p, const char *file, tirc_array **out) {
  tirc_error *e = NULL;
  if (is_archive(file)) return read_member(file, NULL, p, out);
  const char *colon = strrchr(file, ':');
  char *archive = colon ? tirc_strndup(memory, file, (size_t)(colon - file)) : NULL;
  bool member = archive && is_archive(archive);
  return member                               ? read_member(archive, colon + 1, p, out)
         : tirc_array_read_npy(file, out, &e) ? report(e)
                                              : DONE;
}

/* Fills the parameters that the archive has and that have no array yet. */
static int read_archive(const char *path, int n, const tirc_param *params, tirc_argument *args) {
  tirc_error *e = NULL;
  tirc_npz *z = NULL;
  if (tirc_npz_open(path, &z, &e)) return report(e);
  const char *name;
  int found = 0, status = DONE;
  for (int k = 0; (name = tirc_npz_name(z, k)) && status == DONE; k++)
    for (int i = 0; i < n && status == DONE; i++) {
      if (!params[i].is_array || !is_called(&params[i], name)) continue;
      found++;
      if (!args[i].array && tirc_npz_read(z, name, &args[i].array, &e)) status = report(e);
    }
  tirc_npz_close(z);
  if (status == DONE && !found)
    return complain(
        "its arrays are found by the names of parameters; --in A=F.npz:NAME says another one",
        "%s: none of its arrays is a parameter of the function", path);
  return status;
}

int read_archives(const Running *o, int n, const tirc_param *params, tirc_argument *args) {
  int status = DONE;
  for (int k = 0; k < o->in.n && status == DONE; k++)
    if (is_archive(o->in.at[k]) && !strchr(o->in.at[k], '='))
      status = read_archive(o->in.at[k], n, params, args);
  return status;
}

typedef struct Output { /* what goes to one archive */
  int n;
  const char **names;
  const tirc_array **arrays;
} Output;

/* Is parameter p to be written by this --out; its file if so. */
static const char *file_for(const char *out, const tirc_param *p) {
  const char *file = value_of_param(out, p);
  if (file) return file;
  return p->is_array && p->is_written && is_archive(out) && !strchr(out, '=') ? out : NULL;
}

static void collect(const Running *o, const char *file, int n, const tirc_param *params,
                    const tirc_argument *args, Output *all) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < o->out.n; k++) {
      const char *to = file_for(o->out.at[k], &params[i]);
      if (!to || strcmp(to, file) != 0 || !args[i].array) continue;
      all->names[all->n] = params[i].in_file;
      all->arrays[all->n++] = args[i].array;
      break;
    }
}

/* All that goes to one archive is written at once: an archive is replaced, not added to. */
static int write_archive(const Running *o, const char *file, int n, const tirc_param *params,
                         const tirc_argument *args) {
  tirc_error *e = NULL;
  Output all = {0, tirc_alloc_array(memory, (size_t)n + 1, sizeof *all.names),
                tirc_alloc_array(memory, (size_t)n + 1, sizeof *all.arrays)};
  collect(o, file, n, params, args, &all);
  return tirc_npz_write(file, all.n, all.names, all.arrays, &e) ? report(e) : DONE;
}

static int write_one(const Running *o, const char *out, int n, const tirc_param *params,
                     const tirc_argument *args) {
  tirc_error *e = NULL;
  const char *written = NULL;
  for (int i = 0; i < n; i++) {
    const char *file = file_for(out, &params[i]);
    if (!file || (written && strcmp(written, file) == 0)) continue;
    if (!args[i].array) return complain(NULL, "\"%s\" is not an array", params[i].in_file);
    int status = is_archive(file) ? write_archive(o, file, n, params, args)
                 : tirc_array_write_npy(args[i].array, file, &e) ? report(e)
                                                                 : DONE;
    if (status != DONE) return status;
    written = file;
  }
  return DONE;
}

int write_array_files(const Running *o, int n, const tirc_param *params,
                      const tirc_argument *args) {
  int status = DONE;
  for (int k = 0; k < o->out.n && status == DONE; k++)
    status = write_one(o, o->out.at[k], n, params, args);
  return status;
}
