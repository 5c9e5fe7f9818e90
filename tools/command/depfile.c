/* `tirc build --depfile`: the files that what is built was made from, as a rule of make, which
 * make, ninja, meson and CMake read. */
#include "depfile.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Depfile {
  List files;
  int status; /* DONE until something is reported */
} Depfile;

static bool is_file(const char *path) {
  struct stat there;
  return stat(path, &there) == 0 && S_ISREG(there.st_mode);
}

/* Once, and only what is there: whoever waits for another one would build each time. */
static void add_file(void *self, const char *path) {
  Depfile *d = self;
  if (!path || strcmp(path, "-") == 0 || !is_file(path)) return;
  for (int i = 0; i < d->files.n; i++)
    if (strcmp(d->files.at[i], path) == 0) return;
  add_to_list(&d->files, copied(path));
}

/* A script and what it reads, or the scripts of a folder; a built-in one is no file. */
static void add_script(Depfile *d, const char *path) {
  tirc_error *e = NULL;
  bool all = true;
  if (!path || d->status != DONE || access(path, R_OK) != 0) return;
  if (tirc_script_files(path, add_file, d, &all, &e)) d->status = report(e);
  if (!all)
    warn_about(NULL, path, 0, 0,
               "it reads JSON by a name that only the run tells, which --depfile leaves out",
               "file");
}

/* PHASE:FILE, FILE possibly with arguments behind it. */
static void add_pass(Depfile *d, const char *pass) {
  const char *file = strchr(pass, ':');
  if (!file) return;
  const size_t n = strlen(++file);
  const char *end = n && file[n - 1] == ')' ? strchr(file, '(') : NULL;
  add_script(d, end ? tirc_strndup(memory, file, (size_t)(end - file)) : file);
}

/* NAME=FILE.npy */
static void add_bound(Depfile *d, const char *bound) {
  const char *equals = strrchr(bound, '=');
  if (equals) add_file(d, equals + 1);
}

static void add_test_data(Depfile *d, const char *folder) {
  for (int i = 0; folder; i++) {
    const char *path = tirc_format(memory, "%s/input_%d.pb", folder, i);
    if (access(path, F_OK) != 0) return;
    add_file(d, path);
  }
}

/* The rules' numbers of this machine. */
static void add_calibration(Depfile *d, const Making *o) {
  tirc_calibration k = {0};
  if (!o->from.target || strcmp(o->from.target, "native") != 0) return;
  if (tirc_calibration_look(&k, NULL) == TIRC_OK && *k.date) add_file(d, k.file);
}

static void collect(Depfile *d, const Making *o, const tirc_module *m) {
  const char *path;
  add_file(d, o->from.args.at[0]);
  for (int i = 1; (path = tirc_import_file(m, i)) != NULL; i++) add_file(d, path);
  if (o->from.args.n > 1) add_script(d, o->from.args.at[1]);
  add_script(d, o->rules);
  add_script(d, o->from.operators);
  for (int i = 0; i < o->pass.n; i++) add_pass(d, o->pass.at[i]);
  for (int i = 0; i < o->from.bind.n; i++) add_bound(d, o->from.bind.at[i]);
  add_test_data(d, o->from.test_data);
  add_file(d, o->trace_json);
  add_file(d, o->weights);
  if (o->database) add_file(d, o->database);
  add_calibration(d, o);
}

/* Make has no way to write these. */
static bool has_control(const char *path) {
  for (; *path; path++)
    if ((unsigned char)*path < ' ') return true;
  return false;
}

static bool are_writable(const List *names) {
  for (int i = 0; i < names->n; i++)
    if (has_control(names->at[i])) return false;
  return true;
}

/* As make reads names: blanks, # and $ are no part of one by themselves. */
static void put_name_of_rule(FILE *to, const char *path) {
  for (; *path; path++) {
    if (*path == ' ' || *path == '#') putc('\\', to);
    if (*path == '$') putc('$', to);
    putc(*path, to);
  }
}

int write_depfile(const BuildOptions *o, const tirc_module *m, const List *made) {
  Depfile d = {.status = DONE};
  char *text;
  size_t n;
  collect(&d, &o->make, m);
  if (d.status != DONE) return d.status;
  if (!are_writable(made) || !are_writable(&d.files))
    return complain("rename the file", "--depfile: the name of a file has a line break or another "
                                       "control character, which make cannot read");
  FILE *to = begin_text(&text, &n);
  for (int i = 0; i < made->n; i++) {
    if (i) putc(' ', to);
    put_name_of_rule(to, made->at[i]);
  }
  putc(':', to);
  for (int i = 0; i < d.files.n; i++) {
    fputs(" \\\n  ", to);
    put_name_of_rule(to, d.files.at[i]);
  }
  putc('\n', to);
  text = end_text(to, &text);
  return write_output(o->depfile, text, n);
}
