/* What an exercise consists of. */
#include "exercise.h"

#include <stddef.h>
#include <string.h>

/* In the order in which tools/embed writes them. */
const ExerciseFile exercise_files[] = {
    {"README.md", offsetof(Exercise, page), false, true},
    {"program.tir", offsetof(Exercise, program), false, true},
    {"exercise.sch", offsetof(Exercise, start), false, true},
    {"check.sch", offsetof(Exercise, check), false, false},
    {"hints.md", offsetof(Exercise, hints), true, false},
    {"solution.sch", offsetof(Exercise, solution), true, false},
    {"schedule.sch", offsetof(Exercise, schedule), true, true},
    {"goal.tir", offsetof(Exercise, goal), true, true},
};
const int n_exercise_files = sizeof exercise_files / sizeof *exercise_files;

const char *exercise_text(const Exercise *x, int file) {
  return *(const char *const *)(const void *)((const char *)x + exercise_files[file].field);
}

const char *title_of(const char *page, size_t *n) {
  const char *title = page + strspn(page, "# ");
  *n = strcspn(title, "\n");
  return title;
}

const char *hint_of(const Exercise *x, int i, size_t *n) {
  static const char mark[] = "\n---\n";
  const char *at = x->hints;
  for (; at && i > 0; i--) {
    at = strstr(at, mark);
    if (at) at += sizeof mark - 1;
  }
  if (!at) return NULL;
  at += strspn(at, "\n");
  const char *end = strstr(at, mark);
  *n = end ? (size_t)(end - at) + 1 : strlen(at);
  return *n ? at : NULL;
}

static uint32_t stir(uint32_t hash, const char *text) {
  do hash = (hash ^ (unsigned char)*text) * 16777619U; /* FNV-1a */
  while (*text++);
  return hash;
}

char *edition_of(const Course *c) {
  uint32_t hash = 2166136261U;
  for (int i = 0; i < c->n; i++) {
    hash = stir(stir(stir(hash, c->at[i].name), c->at[i].program), c->at[i].check);
    hash = stir(hash, c->at[i].goal ? c->at[i].goal : "");
  }
  return tirc_format(memory, "%08x", hash);
}
