#include "library.h"

#include <string.h>

#define FOLDER "<rules>/"
#define ENDING ".sch"
#define TABLES "targets/"
#define USUAL "usual"

const RuleLibrary tirc_rule_libraries[] = {
#include "libraries.inc"
};
const int tirc_n_rule_libraries = (int)(sizeof tirc_rule_libraries / sizeof *tirc_rule_libraries);

const RuleLibrary *tirc_rule_library(const char *name) {
  for (int i = 0; i < tirc_n_rule_libraries; i++)
    if (!strcmp(tirc_rule_libraries[i].name, name)) return &tirc_rule_libraries[i];
  return NULL;
}

const RuleLibrary *tirc_rule_table(Tirc *c, const Cpu *target) {
  const char *const names[] = {target->llvm_name, tirc_cpu_vector_feature(target), USUAL};
  const RuleLibrary *found = NULL;
  for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
    if (names[i]) found = tirc_rule_library(tirc_format(c, TABLES "%s", names[i]));
  return found;
}

const char *tirc_rule_library_path(Tirc *c, const char *name) {
  return tirc_format(c, FOLDER "%s" ENDING, name);
}

const Source *tirc_rule_library_source(Tirc *c, const char *path) {
  const size_t folder = strlen(FOLDER), ending = strlen(ENDING), n = strlen(path);
  if (strncmp(path, FOLDER, folder) != 0 || n < folder + ending) return NULL;
  const RuleLibrary *l = tirc_rule_library(tirc_strndup(c, path + folder, n - folder - ending));
  if (!l) return NULL;
  Source *s = tirc_new(c, Source);
  *s = (Source){path, l->code, strlen(l->code)};
  return s;
}
