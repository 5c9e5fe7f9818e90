/* A course as one file: the playground, with the course in it as data; or, where the playground was
 * not built, a page that has no compiler. */
#include "lesson.h"
#include "tools/step/step.h"

#include <string.h>

#include "course_page.inc" /* page_html, page_css, page_js: texts */

static void put_plain_page(FILE *to, const Course *c, bool with_solutions) {
  Json *data = course_as_json(c, with_solutions);
  put_marked(to, page_html, page_css, page_js, data);
  json_object_put(data);
}

static int put_in(FILE *to, const char *page, const Course *c, bool with_solutions) {
  Json *data = json_object_new_object();
  add_json(data, "examples", json_object_new_array());
  add_json(data, "course", course_as_json(c, with_solutions));
  const int status = put_playground(to, page, data);
  json_object_put(data);
  return status;
}

int pack_course(const LessonOptions *o, const Course *c) {
  char *text = NULL, *page = NULL;
  size_t n = 0;
  int status = DONE;
  if (o->args.n != 1) return complain(NULL, "usage: tirc lesson --pack FOLDER -o FILE.html");
  if (read_playground(o->playground, &page) != DONE) return BAD;
  if (!page && !o->playground)
    warn_about(NULL, NULL, 0, 0,
               "the page has no compiler, since the playground was not built: learners check their "
               "schedules with `tirc lesson`",
               "file");
  FILE *f = begin_text(&text, &n);
  if (page)
    status = put_in(f, page, c, !o->no_solutions);
  else
    put_plain_page(f, c, !o->no_solutions);
  (void)end_text(f, &text);
  return status == DONE ? write_output(o->output, text, n) : status;
}
