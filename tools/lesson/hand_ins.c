/* The files of an exercise that someone hands in: a file, or those of a folder and its subfolders,
 * in the order of their names. A folder that has an exercise.sch hands in that one alone: what
 * `tirc lesson --write` puts beside it is the lesson's own. */
#include "lesson.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 16 };

static bool is_folder(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* A link to a folder is none: it may lead back. */
static bool is_folder_itself(const char *path) {
  struct stat s;
  return lstat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool is_script(const char *name) {
  size_t n = strlen(name);
  return n > 4 && strcmp(name + n - 4, ".sch") == 0;
}

/* false after saying which folder cannot be read */
static bool find_in_folder(const char *folder, int depth, List *files) {
  struct dirent **names = NULL;
  int n = scandir(folder, &names, NULL, alphasort);
  bool exercise = false, all = true;
  if (n < 0) {
    complain(NULL, "the folder '%s' cannot be read: %s", folder, strerror(errno));
    return false;
  }
  for (int i = 0; i < n; i++) exercise |= strcmp(names[i]->d_name, "exercise.sch") == 0;
  for (int i = 0; i < n; i++) {
    const char *name = names[i]->d_name;
    char *path = tirc_format(memory, "%s/%s", folder, name);
    if (*name != '.' && is_folder_itself(path)) {
      if (depth < DEEPEST) all &= find_in_folder(path, depth + 1, files);
    } else if (is_folder(path)) {
      /* a link to one */
    } else if (exercise ? strcmp(name, "exercise.sch") == 0 : *name != '.' && is_script(name)) {
      add_to_list(files, path);
    }
    free(names[i]);
  }
  free(names);
  return all;
}

bool find_hand_ins(const char *path, List *files) {
  const int before = files->n;
  if (!is_folder(path)) {
    add_to_list(files, path);
    return true;
  }
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') n--;
  if (!find_in_folder(tirc_format(memory, "%.*s", (int)n, path), 0, files)) return false;
  if (files->n > before) return true;
  complain("a hand-in is a file whose name ends in .sch", "there is no schedule in the folder '%s'",
           path);
  return false;
}
