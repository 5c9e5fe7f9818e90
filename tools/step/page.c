/* `tirc step --html`: one page with everything in it: the data, and the playground where it was
 * built, or the files of tools/page, which the build puts into page.inc. */
#include "step.h"
#include "tools/kit/json.h"

#include <string.h>

#include "page.inc" /* page_html, page_css, page_js: texts */

void put_in_script(FILE *to, json_object *j) {
  for (const char *s = json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN); *s; s++)
    if (*s == '<')
      fputs("\\u003c", to);
    else
      fputc(*s, to);
}

void put_marked(FILE *to, const char *html, const char *css, const char *js, json_object *data) {
  for (const char *at = html, *mark; *at; at = mark) {
    mark = strchr(at, '@');
    fwrite(at, 1, mark ? (size_t)(mark - at) : strlen(at), to);
    if (!mark) return;
    size_t n = strcspn(mark + 1, "@") + 2;
    if (n == 5 && strncmp(mark, "@css@", n) == 0)
      fputs(css, to);
    else if (n == 4 && strncmp(mark, "@js@", n) == 0)
      fputs(js, to);
    else if (n == 6 && strncmp(mark, "@data@", n) == 0)
      put_in_script(to, data);
    else
      n = 1, fputc('@', to);
    mark += n;
  }
}

/* What the playground's page brings stands between these. */
static const char begin_mark[] = "<script type=\"application/json\" id=\"examples\">";
static const char end_mark[] = "</script>";

int put_playground(FILE *to, const char *page, json_object *data) {
  const char *at = strstr(page, begin_mark), *end = at ? strstr(at, end_mark) : NULL;
  if (!end) return complain("tools/playground makes it", "the page is no playground");
  at += sizeof begin_mark - 1;
  fwrite(page, 1, (size_t)(at - page), to);
  put_in_script(to, data);
  fputs(end, to);
  return DONE;
}

/* The same, to be changed: with what the compiler in the page must know. */
static int fill_playground(FILE *to, const char *page, const StepOptions *o,
                           const ProgramText *program, json_object *data) {
  json_object *j = json_object_new_object();
  add_text(data, "program", program->text);
  add_some(data, "target", o->make.from.target);
  add_json(data, "define", json_texts(o->make.from.define.n, o->make.from.define.at));
  add_json(data, "instance", json_texts(o->instance.n, o->instance.at));
  add_json(j, "examples", json_object_new_array());
  add_json(j, "opened", json_object_get(data));
  const int status = put_playground(to, page, j);
  json_object_put(j);
  return status;
}

/* Whether the playground shows all of it: it has no times, traffic and links of arrays, and no
 * scripts to import. */
static bool is_whole(const StepOptions *o, json_object *data) {
  json_object *scripts = json_object_object_get(data, "scripts");
  return !o->profile && !o->report && !o->array && json_object_array_length(scripts) == 1;
}

/* The array's description, as the library understands it. */
static int add_array(const StepOptions *o, json_object *data) {
  char *text = NULL, *json = NULL;
  size_t n = 0;
  tirc_error *e = NULL;
  if (!o->array) return DONE;
  const int status = read_text(o->array, &text, &n);
  if (status != DONE) return status;
  if (memchr(text, 0, n)) return complain(NULL, "%s: is not text", o->array);
  const tirc_spatial_options how = {.spec_name = o->array};
  if (tirc_spatial_spec(text, &how, &json, &e)) return report(e);
  add_json(data, "array", json_tokener_parse(json));
  tirc_string_free(json);
  return DONE;
}

int write_page(const StepOptions *o, const ProgramText *program, const tirc_module *m,
               const tirc_steps *s, const StepChoice *choice) {
  const List *args = &o->make.from.args;
  char *text = NULL, *page = NULL;
  size_t n = 0;
  const char *script = is_automatic(&o->make)          ? "<auto>"
                       : strcmp(args->at[1], "-") == 0 ? "<stdin>"
                                                       : args->at[1];
  json_object *data = page_data(program, script, s, choice);
  add_json(data, "run", page_traces(o, program, m, s));
  int status = add_array(o, data);
  if (status == DONE) status = add_profile(o, s, data);
  if (status == DONE) status = add_report(o, s, data);
  if (status == DONE) status = read_playground(is_whole(o, data) ? o->playground : "none", &page);
  FILE *f = begin_text(&text, &n);
  if (status == DONE && page)
    status = fill_playground(f, page, o, program, data);
  else
    put_marked(f, page_html, page_css, page_js, data);
  json_object_put(data);
  (void)end_text(f, &text);
  return status == DONE ? write_output(o->html, text, n) : status;
}
