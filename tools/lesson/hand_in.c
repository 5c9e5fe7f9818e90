/* The code of what a learner has written: in a folder, for each exercise, the exercise.sch of a
 * folder with its name, or a schedule with its name. */
#include "lesson.h"

#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/* NULL: there is none. */
static const char *file_of(const char *folder, const char *name) {
  const char *path = tirc_format(memory, "%s/%s/exercise.sch", folder, name);
  if (is_file(path)) return path;
  path = tirc_format(memory, "%s/%s.sch", folder, name);
  return is_file(path) ? path : NULL;
}

int print_result(const LessonOptions *o, const Course *c) {
  const char *folder = o->args.at[o->args.n - 1];
  const bool in_place = o->args.n == 1; /* the course's own files were changed */
  Result r = {.course = c->title, .edition = edition_of(c), .learner = o->learner};
  r.names = tirc_alloc_array(memory, (size_t)c->n + 1, sizeof *r.names);
  r.schedules = tirc_alloc_array(memory, (size_t)c->n + 1, sizeof *r.schedules);
  if (o->args.n > 2)
    return complain(NULL, "usage: tirc lesson FOLDER [MINE] --result [--learner=NAME]");
  for (int i = 0; i < c->n; i++) {
    const char *path = file_of(folder, c->at[i].name);
    char *text;
    size_t n;
    if (!path) continue;
    if (read_text(path, &text, &n) != DONE) return BAD;
    if (strlen(text) != n) return complain(NULL, "'%s' is no text", path);
    if (!in_place && strcmp(text, c->at[i].start) == 0) continue;
    r.names[r.n] = c->at[i].name;
    r.schedules[r.n++] = text;
  }
  if (!r.n)
    return complain(tirc_format(memory,
                                "`tirc lesson %s --write MINE` writes the files to begin with",
                                o->args.at[0]),
                    "in '%s' no exercise was begun", folder);
  char *code;
  const char *why = result_code(&r, &code);
  if (why) return complain(NULL, "the result of '%s' makes no code: %s", folder, why);
  return write_output(o->output, tirc_format(memory, "%s\n", code), strlen(code) + 1);
}
