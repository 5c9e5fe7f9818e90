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

/* What the playground's page brings stands between these. */
static const char begin_mark[] = "<script type=\"application/json\" id=\"examples\">";
static const char end_mark[] = "</script>";

static void put_playground(FILE *to, const char *page, const Course *c, bool with_solutions) {
  const char *at = strstr(page, begin_mark), *end = at ? strstr(at, end_mark) : NULL;
  if (!end) {
    (void)complain("tools/playground makes it", "the page is no playground");
    return;
  }
  Json *data = json_object_new_object();
  add_json(data, "examples", json_object_new_array());
  add_json(data, "course", course_as_json(c, with_solutions));
  at += sizeof begin_mark - 1;
  fwrite(page, 1, (size_t)(at - page), to);
  put_in_script(to, data);
  fputs(end, to);
  json_object_put(data);
}

int pack_course(const LessonOptions *o, const Course *c) {
  const char *path = o->playground ? o->playground : find_playground();
  char *text = NULL, *page = NULL;
  size_t n = 0;
  if (o->args.n != 1) return complain(NULL, "usage: tirc lesson --pack FOLDER -o FILE.html");
  if (path && strcmp(path, "none") == 0) path = NULL;
  if (path && read_text(path, &page, &n) != DONE) return BAD;
  if (!path && !o->playground)
    warn_about(NULL, NULL, 0, 0,
               "the page has no compiler, since the playground was not built: learners check their "
               "schedules with `tirc lesson`",
               "file");
  FILE *f = begin_text(&text, &n);
  if (page)
    put_playground(f, page, c, !o->no_solutions);
  else
    put_plain_page(f, c, !o->no_solutions);
  (void)end_text(f, &text);
  return n ? write_output(o->output, text, n) : BAD;
}
