#include "library.h"

#include <string.h>

#define ENDING ".sch"
#define TABLES "targets/"
#define USUAL "usual"
#define USUAL_GPU "gpu"

const RuleLibrary tirc_rule_libraries[] = {
#include "libraries.inc"
};
const int tirc_n_rule_libraries = (int)(sizeof tirc_rule_libraries / sizeof *tirc_rule_libraries);

static const RuleLibrary *library_of_name(const char *name) {
  for (int i = 0; i < tirc_n_rule_libraries; i++)
    if (!strcmp(tirc_rule_libraries[i].name, name)) return &tirc_rule_libraries[i];
  return NULL;
}

const RuleLibrary *tirc_rule_table(Tirc *c, const Cpu *target, const Gpu *gpu) {
  const char *const of_gpu[] = {gpu ? gpu->name : NULL,
                                gpu && gpu->kind == GPU_CUDA ? "cuda" : NULL, USUAL_GPU};
  const char *const of_cpu[] = {target->llvm_name, tirc_cpu_vector_feature(target), USUAL};
  const char *const *names = gpu ? of_gpu : of_cpu;
  const RuleLibrary *found = NULL;
  for (size_t i = 0; !found && i < sizeof of_cpu / sizeof *of_cpu; i++)
    if (names[i]) found = library_of_name(tirc_format(c, TABLES "%s", names[i]));
  return found;
}

/* --- paths ------------------------------------------------------------------------------------ */

static const RuleLibrary operator_libraries[] = {
#include "operators.inc"
};

static const RuleLibrary rewrite_libraries[] = {
#include "rewrites.inc"
};

/* The folders that the binary has. */
static const struct Shelf {
  const char *folder;
  const RuleLibrary *at;
  size_t n;
} shelves[] = {
    {"<rules>/", tirc_rule_libraries, sizeof tirc_rule_libraries / sizeof *tirc_rule_libraries},
    {"<operators>/", operator_libraries, sizeof operator_libraries / sizeof *operator_libraries},
    {"<passes>/", rewrite_libraries, sizeof rewrite_libraries / sizeof *rewrite_libraries},
};
enum { RULES, OPERATORS, PASSES, N_SHELVES };

static const char *path_in(Tirc *c, int shelf, const char *name) {
  return tirc_format(c, "%s%s" ENDING, shelves[shelf].folder, name);
}

const char *tirc_rule_library_path(Tirc *c, const char *name) { return path_in(c, RULES, name); }
const char *tirc_operator_library_path(Tirc *c, const char *name) {
  return path_in(c, OPERATORS, name);
}
const char *tirc_pass_library_path(Tirc *c, const char *name) { return path_in(c, PASSES, name); }

static bool is_on(int shelf, const char *path) {
  const char *folder = shelves[shelf].folder;
  return path && strncmp(path, folder, strlen(folder)) == 0;
}

static const RuleLibrary *find(int shelf, const char *name, size_t n) {
  for (size_t i = 0; i < shelves[shelf].n; i++) {
    const char *each = shelves[shelf].at[i].name;
    if (strlen(each) == n && strncmp(each, name, n) == 0) return &shelves[shelf].at[i];
  }
  return NULL;
}

static const RuleLibrary *at_path(const char *path) {
  const size_t ending = strlen(ENDING), n = strlen(path);
  for (int shelf = 0; shelf < N_SHELVES; shelf++) {
    const size_t folder = strlen(shelves[shelf].folder);
    if (is_on(shelf, path) && n >= folder + ending)
      return find(shelf, path + folder, n - folder - ending);
  }
  return NULL;
}

const Source *tirc_library_source(Tirc *c, const char *path) {
  const RuleLibrary *l = at_path(path);
  if (!l) return NULL;
  Source *s = tirc_new(c, Source);
  *s = (Source){path, l->code, strlen(l->code)};
  return s;
}

const char *tirc_library_text(Tirc *c, const char *path) {
  const RuleLibrary *l = at_path(path);
  return (void)c, l ? l->text : NULL;
}

const char *tirc_library_named(Tirc *c, const char *from, const char *name) {
  const int first = is_on(OPERATORS, from) ? OPERATORS : is_on(PASSES, from) ? PASSES : RULES;
  const char *slash =
      is_on(first, from) ? strrchr(from + strlen(shelves[first].folder), '/') : NULL;
  if (slash) { /* beside it, in a folder of the shelf */
    const char *start = from + strlen(shelves[first].folder);
    const char *near = tirc_format(c, "%.*s/%s", (int)(slash - start), start, name);
    if (find(first, near, strlen(near))) return path_in(c, first, near);
  }
  for (int i = 0; i < N_SHELVES; i++) {
    const int shelf = (first + i) % N_SHELVES;
    if (find(shelf, name, strlen(name))) return path_in(c, shelf, name);
  }
  return NULL;
}
