/* The contenders of a study: schedules, what rules and searches make, libraries, and schedules with
 * one thing changed. */
#define _GNU_SOURCE
#include "read.h"

#include <stdlib.h>
#include <string.h>

/* What contender() takes besides files. */
static const char by_rules[] = "auto", by_database[] = "tuned", by_library[] = "library";

static const char *schedule_text(Script *sc, const char *path) {
  const Source source = tirc_read_source(sc->c, path);
  (void)tirc_parse_syntax(sc->c, &source);
  return source.text;
}

/* --- what was tuned --------------------------------------------------------------------------- */

void note_made(void *self, const char *file, int line, int column, const char *message,
               const char *code) {
  Made *made = self;
  (void)file, (void)line, (void)column, (void)message;
  made->untuned |= strcmp(code, "not-tuned") == 0;
  made->bare |= strcmp(code, "no-rule") == 0;
}

static tirc_module *sized_program(Script *sc, const char *path, const Names *sizes) {
  tirc_define *defines = tirc_new_array(sc->c, tirc_define, sizes->n + 1);
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  for (int i = 0; i < sizes->n; i++) {
    const size_t n = strcspn(sizes->at[i], "=");
    defines[i] = (tirc_define){tirc_strndup(sc->c, sizes->at[i], n), sizes->at[i] + n + 1};
  }
  if (tirc_module_read(path, sizes->n, defines, &m, &e)) study_raise(sc, e);
  return m;
}

/* The number of threads that comes first in the study, 0: one a core. */
Value study_run_tuned_tiles(Script *sc, Value self, const Args *a) {
  const Study *s = self.u.object;
  const Names sizes = study_sizes(sc, study_given(a, 1, "D"));
  const char *path = study_beside(sc, s, study_text(sc, &a->at[0], "a program")),
             *where = s->o->asked.database;
  Made how = {0};
  const tirc_schedule_options options = {
      .target = s->targets.at[0], .self = &how, .warn = note_made};
  tirc_module *plain = sized_program(sc, path, &sizes), *tuned = NULL;
  tirc_error *e = NULL;
  Tiles t;
  const bool found =
      !tirc_module_tuned(plain, where, atoi(s->threads), NULL, &options, &tuned, &e) &&
      !how.untuned && tiles_of(plain, tuned, &t);
  tirc_module_free(tuned);
  tirc_module_free(plain);
  if (e) study_raise(sc, e);
  if (!found) return VALUE_NONE;
  const Value items[] = {tirc_value_str("M"),      tirc_value_int(t.m),
                         tirc_value_str("N"),      tirc_value_int(t.n),
                         tirc_value_str("K"),      tirc_value_int(t.k),
                         tirc_value_str("vector"), tirc_value_int(t.vector_width)};
  return tirc_value_list(sc->c, VAL_DICT, 8, items);
}

/* --- contenders ------------------------------------------------------------------------------- */

int find_plan(const Study *s, const char *name) {
  for (int i = 0; i < s->plans.n; i++)
    if (strcmp(s->plans.at[i].what.name, name) == 0) return i;
  return -1;
}

void study_add_plan(Script *sc, Study *s, const Plan *p) {
  if (find_plan(s, p->what.name) >= 0)
    tirc_script_error(sc, "ValueError", "give it another name", "there is a contender '%s' already",
                      p->what.name);
  vec_push(sc->c, s->plans, *p);
}

/* Whether it imports from files of its folder, or reads them: then its text is not all that counts.
 */
static bool reads_others(const char *text) {
  for (const char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
    p += strspn(p, " ");
    const bool from = strncmp(p, "from ", 5) == 0;
    const char *of = from ? p + 5 + strspn(p + 5, " ") : "tvm";
    if (strncmp(of, "tvm", 3) != 0 && strncmp(of, "math", 4) != 0 && strncmp(of, "__", 2) != 0)
      return true;
  }
  return strstr(text, "read_json") != NULL;
}

Value study_run_contender(Script *sc, Value self, const Args *a) {
  Study *s = self.u.object;
  Plan p = {.loc = sc->loc, .expect_error = study_text_or_null(sc, a, 2, "expect_error")};
  const char *what = study_text(sc, &a->at[1], "a schedule");
  p.what.name = study_name(sc, &a->at[0], "a contender's name");
  p.what.script = strcmp(what, by_library) == 0 ? NULL : what;
  p.what.automatic = strcmp(what, by_rules) == 0;
  p.what.tuned = strcmp(what, by_database) == 0;
  if (strcmp(what, by_library) == 0) {
    p.what.rival = find_rival(p.what.name, strlen(p.what.name));
    if (!p.what.rival)
      tirc_script_error(sc, "ValueError", "openblas, onednn, onednn-prepacked, c",
                        "no library is known as '%s'", p.what.name);
  } else if (!p.what.automatic && !p.what.tuned) {
    p.what.script = study_beside(sc, s, what);
    p.what.text = schedule_text(sc, p.what.script);
    p.what.by_trace = reads_others(p.what.text);
  }
  if (p.expect_error && (!p.what.text || !has_page(p.expect_error)))
    tirc_script_error(sc, "ValueError", "`tirc explain` lists the codes: not-single-writer",
                      p.what.text ? "there is no error '%s'" : "no schedule ends in '%s' here",
                      p.expect_error);
  study_add_plan(sc, s, &p);
  return VALUE_NONE;
}

/* --- ablations -------------------------------------------------------------------------------- */

const char *find_assignment(const char *text, const char *name, const char **end) {
  const size_t n = strlen(name);
  for (const char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
    const char *q = p + n + (strncmp(p, name, n) == 0 ? strspn(p + n, " ") : 0);
    if (strncmp(p, name, n) != 0 || *q != '=' || q[1] == '=') continue;
    *end = q + strcspn(q, "\n");
    return p;
  }
  return NULL;
}

static bool can_ablate(const Plan *p, const char *name) {
  const char *end;
  return p->what.text && !p->of &&
         (strncmp(name, "rule_", 5) == 0 ? find_rule_named(p->what.text, name) != NULL
                                         : find_assignment(p->what.text, name, &end) != NULL);
}

/* The only contender that has the name, or the one that `of` says. */
static const Plan *ablated(Script *sc, const Study *s, const char *name, const char *of) {
  const int named = of ? find_plan(s, of) : -1;
  const Plan *found = NULL;
  if (of && named < 0)
    tirc_script_error(sc, "ValueError", "contender() comes before ablate()",
                      "there is no contender '%s'", of);
  for (int i = 0; i < s->plans.n; i++) {
    if (!can_ablate(&s->plans.at[i], name) || (of && i != named)) continue;
    if (found)
      tirc_script_error(sc, "ValueError", "say which: of=\"...\"", "'%s' and '%s' both have %s",
                        found->what.name, s->plans.at[i].what.name, name);
    found = &s->plans.at[i];
  }
  if (found) return found;
  tirc_script_error(sc, "ValueError",
                    "a line `NAME = ...` without indentation, or a function rule_NAME",
                    "the schedule of %s has no %s", of ? of : "no contender", name);
}

static void add_ablation(Script *sc, Study *s, const Plan *of, const char *name, const char *label,
                         const char *value) {
  const char *end, *text = of->what.text, *at = find_assignment(text, name, &end);
  Plan p = {.loc = sc->loc, .what = of->what, .of = of->what.name, .value = value};
  const Value whole = tirc_value_str(tirc_format(sc->c, "%s=%s", name, label));
  p.what.name = study_name(sc, &whole, "a label of ablate()");
  p.what.text = tirc_format(sc->c, "%.*s%s = %s%s", (int)(at - text), text, name, value, end);
  const Source source = {p.what.name, p.what.text, strlen(p.what.text)};
  (void)tirc_parse_syntax(sc->c, &source); /* a value that ends elsewhere than its line */
  study_add_plan(sc, s, &p);
}

static void leave_rule_out(Script *sc, Study *s, const Plan *of, const char *name) {
  char *text = script_without(of->what.text, name);
  Plan p = {.loc = sc->loc, .what = of->what, .of = of->what.name, .value = "left out"};
  if (!text)
    tirc_script_error(sc, "ValueError", "its statements stand below its `def`, indented",
                      "%s has no body on lines of its own", name);
  p.what.name = tirc_format(sc->c, "-%s", name + strlen("rule_"));
  p.what.text = tirc_strdup(sc->c, text);
  study_add_plan(sc, s, &p);
}

Value study_run_ablate(Script *sc, Value self, const Args *a) {
  Study *s = self.u.object;
  const char *name = study_text(sc, &a->at[0], "what is ablated");
  const Value *values = study_given(a, 1, "values");
  const Plan of = *ablated(sc, s, name, study_text_or_null(sc, a, 2, "of"));
  if (!values && strncmp(name, "rule_", 5) == 0)
    return leave_rule_out(sc, s, &of, name), VALUE_NONE;
  const bool dict = values && values->kind == VAL_DICT;
  if (!dict && (!values || !study_is_list(values) || !values->u.list->n))
    tirc_script_error(sc, "TypeError", "ablate(\"TK\", [4, 8, 16])",
                      "values is a list or a dict of values by label");
  for (int i = 0; i + dict < values->u.list->n; i += 1 + dict) {
    const char *label = tirc_script_str(sc, values->u.list->at[i]);
    add_ablation(sc, s, &of, name, label,
                 dict ? tirc_script_str(sc, values->u.list->at[i + 1]) : label);
  }
  return VALUE_NONE;
}
