/* `tirc lesson`: lessons and courses. */
#ifndef TIRC_TOOLS_LESSON_LESSON_H
#define TIRC_TOOLS_LESSON_LESSON_H

#include "exercise.h"
#include "tools/kit/json.h"

typedef struct LessonOptions {
  List args;
  const char *write, *hint, *output, *learner, *playground;
  int threads;
  double seconds; /* of a schedule that is verified; 0: the usual */
  bool no_timing, as_json, solution, pack, result, verify, no_solutions;
} LessonOptions;

/* hand_ins.c: adds a file, or what a folder has of them; false after saying that it has
 * none, or cannot be read */
bool find_hand_ins(const char *path, List *files);

/* describe.c: courses and verdicts as data, which a page has, too. The caller owns it. A course:
 * {"title", "edition", "page", "predicates", "exercises": [{"name", "title", "page", "program",
 * "start", "check", and where they are there "hints": [...], "solution", "schedule", "goal"}]} */
Json *course_as_json(const Course *c, bool with_solutions);
/* {"status": 0, "result": "done", "checks": [{"ok", "text"}], "error", "times_as_fast", "wanted"}
 */
Json *outcome_as_json(const Outcome *v);
/* An exercise of a course as data; false: it lacks what every exercise has. Its texts live as long
 * as j. */
bool exercise_of_json(Json *j, Exercise *out);

/* result.c: what a learner hands in, as a text without spaces that survives a mail */
typedef struct Result {
  const char *course, *edition, *learner; /* learner: or NULL */
  int n;
  const char **names, **schedules; /* an exercise's folder, and what was written */
} Result;
/* Writes one; NULL, or why it cannot be: what read_result would refuse. */
const char *result_code(const Result *r, char **code);
/* Reads one; NULL, or why it is none. */
const char *read_result(const char *code, Result *out);
/* The next code in a text, which then starts behind it, without what lies between its letters;
 * *from is where it begins. NULL: there are no more. */
char *next_code(const char **text, const char **from);

/* hand_in.c, verify.c, pack.c: what the options ask for; the exit status. */
int print_result(const LessonOptions *o, const Course *c);
int verify_results(const LessonOptions *o, const Course *c);
int pack_course(const LessonOptions *o, const Course *c);

#endif
