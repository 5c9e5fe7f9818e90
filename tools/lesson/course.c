/* Courses: the lessons that are part of the command, and folders. */
#include "exercise.h"

#include "ir/ascii.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const Exercise built_in[] = {
#include "lessons.inc"
};

static const char lessons_page[] =
#include "lessons_page.inc"
    ;

static void set_text(Exercise *x, int file, const char *text) {
  *(const char **)(void *)((char *)x + exercise_files[file].field) = text;
}

static char *title_text(const char *page) {
  size_t n;
  const char *title = title_of(page, &n);
  return tirc_strndup(memory, title, n);
}

const Course *lessons(void) {
  static const Course all = {"Lessons", lessons_page, sizeof built_in / sizeof *built_in, built_in};
  return &all;
}

/* --- folders ---------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
  return strcmp(((const Exercise *)a)->name, ((const Exercise *)b)->name);
}

static bool is_there(const char *path) {
  struct stat s;
  return stat(path, &s) == 0;
}

static int read_exercise(const char *folder, Exercise *x) {
  for (int i = 0; i < n_exercise_files; i++) {
    const char *path = tirc_format(memory, "%s/%s/%s", folder, x->name, exercise_files[i].name);
    char *text;
    size_t n;
    if (!is_there(path)) {
      if (exercise_files[i].may_be_missing) continue;
      return complain("an exercise has README.md, program.tir, exercise.sch and check.sch",
                      "there is no '%s'", path);
    }
    if (read_text(path, &text, &n) != DONE) return BAD;
    if (strlen(text) != n) return complain(NULL, "'%s' is no text", path);
    set_text(x, i, text);
  }
  return DONE;
}

static int find_exercises(const char *folder, int *n, Exercise **out) {
  DIR *d = opendir(folder);
  if (!d) return complain(NULL, "cannot read the folder '%s': %s", folder, strerror(errno));
  *n = 0;
  for (const struct dirent *e; (e = readdir(d)) != NULL;) {
    struct stat s;
    const char *path = tirc_format(memory, "%s/%s", folder, e->d_name);
    if (!tirc_is_digit(e->d_name[0]) || stat(path, &s) || !S_ISDIR(s.st_mode)) continue;
    *one_more(*out, *n) = (Exercise){.name = copied(e->d_name)};
  }
  closedir(d);
  if (*n) qsort(*out, (size_t)*n, sizeof **out, by_name);
  return DONE;
}

int read_course(const char *folder, Course *out) {
  const char *page = tirc_format(memory, "%s/README.md", folder);
  Exercise *at = NULL;
  char *text;
  size_t length;
  *out = (Course){0};
  int status = find_exercises(folder, &out->n, &at);
  if (status == DONE && !out->n)
    status = complain("each exercise is a folder in it whose name begins with a digit: 01-first",
                      "'%s' has no exercises", folder);
  if (status == DONE && !is_there(page))
    status = complain("its heading is the title of the course", "there is no '%s'", page);
  if (status == DONE) status = read_text(page, &text, &length);
  for (int i = 0; i < out->n && status == DONE; i++) status = read_exercise(folder, &at[i]);
  if (status != DONE) return status;
  out->at = at;
  out->page = text;
  out->title = title_text(text);
  return DONE;
}

/* --- its exercises ---------------------------------------------------------------------------- */

int find_exercise(const Course *c, const char *word) {
  char *end;
  const long n = strtol(word, &end, 10);
  if (*word && !*end) return n >= 1 && n <= c->n ? (int)n - 1 : -1;
  for (int i = 0; i < c->n; i++)
    if (strcmp(c->at[i].name, word) == 0) return i;
  return -1;
}
