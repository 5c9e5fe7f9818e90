/* A course as one file: a page, with the course in it as data. */
#include "lesson.h"
#include "tools/step/step.h"

#include <string.h>

#include "course_page.inc" /* page_html, page_css, page_js: texts */

int pack_course(const LessonOptions *o, const Course *c) {
  char *text = NULL;
  size_t n = 0;
  if (o->args.n != 1) return complain(NULL, "usage: tirc lesson --pack FOLDER -o FILE.html");
  Json *data = course_as_json(c, !o->no_solutions);
  FILE *f = begin_text(&text, &n);
  put_marked(f, page_html, page_css, page_js, data);
  json_object_put(data);
  (void)end_text(f, &text);
  return write_output(o->output, text, n);
}
