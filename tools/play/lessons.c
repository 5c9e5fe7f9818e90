/* Lessons and courses in a page: the same check as the command's, by the interpreter. */
#include "play.h"
#include "tools/lesson/lesson.h"

enum { CHECK_SCRIPT_STEPS = 2000000, CHECK_STEPS = 200000000 };

Json *lessons_as_json(void) { return course_as_json(lessons(), true); }

Json *verdict_as_json(Json *exercise, const char *schedule) {
  const CheckOptions o = {
      .threads = 1, .script_steps = CHECK_SCRIPT_STEPS, .max_steps = CHECK_STEPS};
  Exercise x = {0};
  Prepared g = {0};
  Json *j = NULL;
  if (exercise && exercise_of_json(exercise, &x) && prepare_exercise(&x, &g) == DONE) {
    const Outcome v = check_exercise(&g, (Attempted){"schedule.sch", schedule}, &o);
    j = outcome_as_json(&v);
    tirc_error_free(v.error);
  }
  free_prepared(&g);
  return j;
}
