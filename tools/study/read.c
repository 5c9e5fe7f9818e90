/* Reading a study: its script runs once, without a program, and each of its calls of the names in
 * study.def is noted. What can be wrong with a call is found while it runs, so that the error has
 * its place; files are looked up beside the study. */
#define _GNU_SOURCE
#include "read.h"

#include "ir/cpu.h"
#include "ir/number.h"
#include "runtime/api/api.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char no_program[] = "@T.prim_func\ndef main():\n    T.evaluate(0)\n";

/* --- arguments -------------------------------------------------------------------------------- */

const Value *study_given(const Args *a, int i, const char *name) {
  const Value *v = tirc_script_argument(a, i, name);
  return v && v->kind != VAL_NONE ? v : NULL;
}

const char *study_text(Script *sc, const Value *v, const char *what) {
  if (v->kind == VAL_STR && *v->u.s) return v->u.s;
  tirc_script_error(sc, "TypeError", NULL, "%s is a string, not %s", what,
                    tirc_script_a_type(sc, *v));
}

const char *study_text_or_null(Script *sc, const Args *a, int i, const char *name) {
  const Value *v = study_given(a, i, name);
  return v ? study_text(sc, v, name) : NULL;
}

bool study_is_list(const Value *v) { return v->kind == VAL_LIST || v->kind == VAL_TUPLE; }

const char *study_name(Script *sc, const Value *v, const char *what) {
  const char *name = study_text(sc, v, what);
  if (is_plain_text(name) && !strpbrk(name, "|<>&") && strlen(name) < 100) return name;
  tirc_script_error(sc, "ValueError", NULL,
                    "%s has less than 100 characters and none of \"'`\\|<>& in it", what);
}

/* One string or a list of them. */
static Names names_of(Script *sc, const Value *v, const char *what) {
  Names out = {0};
  const int n = v && study_is_list(v) ? v->u.list->n : v ? 1 : 0;
  out.at = tirc_new_array(sc->c, const char *, n + 1);
  for (int i = 0; i < n; i++)
    out.at[out.n++] = study_text(sc, study_is_list(v) ? &v->u.list->at[i] : v, what);
  return out;
}

static double number_of(Script *sc, const Value *v, const char *what) {
  double d;
  if (tirc_script_number(*v, &d)) return d;
  tirc_script_error(sc, "TypeError", NULL, "%s is a number, not %s", what,
                    tirc_script_a_type(sc, *v));
}

static int64_t whole_of(Script *sc, const Value *v, const char *what, int64_t least, int64_t most) {
  int64_t n;
  if (!tirc_script_int(*v, &n))
    tirc_script_error(sc, "TypeError", NULL, "%s is an int, not %s", what,
                      tirc_script_a_type(sc, *v));
  if (n < least || n > most)
    tirc_script_error(sc, "ValueError", NULL, "%s is %lld to %lld, not %lld", what,
                      (long long)least, (long long)most, (long long)n);
  return n;
}

Names study_sizes(Script *sc, const Value *v) {
  Names out = {0};
  if (!v) return out;
  if (v->kind != VAL_DICT)
    tirc_script_error(sc, "TypeError", "D={\"M\": [16, 32], \"K\": 768}",
                      "D is a dict of sizes, not %s", tirc_script_a_type(sc, *v));
  const ValueList *d = v->u.list;
  out.at = tirc_new_array(sc->c, const char *, d->n / 2 + 1);
  for (int i = 0; i + 1 < d->n; i += 2) {
    const Value *values = &d->at[i + 1];
    const char *text = study_name(sc, &d->at[i], "a key of D");
    const int n = study_is_list(values) ? values->u.list->n : 1;
    if (n == 0) tirc_script_error(sc, "ValueError", NULL, "\"%s\" of D has no values", text);
    for (int k = 0; k < n; k++)
      text =
          tirc_format(sc->c, "%s%s%s", text, k ? "," : "=",
                      tirc_script_str(sc, study_is_list(values) ? values->u.list->at[k] : *values));
    if (!is_plain_text(text) || strpbrk(text, "|<>&"))
      tirc_script_error(sc, "ValueError", NULL, "'%.40s' is no size", text);
    out.at[out.n++] = text;
  }
  return out;
}

/* --- files ------------------------------------------------------------------------------------ */

const char *study_beside(Script *sc, const Study *s, const char *name) {
  const char *path = *name == '/' ? name : tirc_format(sc->c, "%s%s", s->folder, name);
  if (access(path, R_OK) == 0) return path;
  tirc_script_error(sc, "ValueError", "files are looked up from the study's folder",
                    "cannot read '%s': %s", path, strerror(errno));
}

_Noreturn void study_raise(Script *sc, tirc_error *e) {
  const char *file = tirc_error_get(e, TIRC_ERROR_FILE);
  const char *message = file ? tirc_format(sc->c, "%s:%d:%d: %s", file, tirc_error_line(e),
                                           tirc_error_column(e), tirc_error_message(e))
                             : tirc_strdup(sc->c, tirc_error_message(e));
  tirc_error_free(e);
  tirc_script_error(sc, "ValueError", NULL, "%s", message);
}

static bool has_constant(const tirc_module *m, const char *axis) {
  const size_t n = strcspn(axis, "=");
  const char *name;
  int64_t value;
  bool is_int;
  for (int i = 0; tirc_module_constant(m, i, &name, &value, &is_int); i++)
    if (strlen(name) == n && strncmp(name, axis, n) == 0) return true;
  char *word = tirc_strndup(memory, axis, n);
  return word && is_size(m, word);
}

/* A program that parses, and has the names that the sizes give. */
static void check_program_file(Script *sc, const char *path, const Names *sizes) {
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  const char *unknown = NULL;
  if (tirc_module_read(path, 0, NULL, &m, &e)) study_raise(sc, e);
  for (int i = 0; i < sizes->n && !unknown; i++)
    if (!has_constant(m, sizes->at[i])) unknown = sizes->at[i];
  tirc_module_free(m);
  if (unknown)
    tirc_script_error(sc, "ValueError", "its constants stand at its top: M = 128",
                      "nothing in %s is called '%.*s'", path, (int)strcspn(unknown, "="), unknown);
}

/* --- workloads -------------------------------------------------------------------------------- */

static Value study_run_workload(Script *sc, Value self, const Args *a) {
  Study *s = self.u.object;
  Workload w = {.loc = sc->loc, .sizes = study_sizes(sc, study_given(a, 1, "D"))};
  w.program = study_beside(sc, s, study_text(sc, &a->at[0], "a program"));
  check_program_file(sc, w.program, &w.sizes);
  char *stem = shown_stem(w.program);
  const Value by_file = tirc_value_str(tirc_strdup(sc->c, stem ? stem : "program"));
  const Value *name = study_given(a, 2, "name");
  w.name = study_name(sc, name ? name : &by_file, "a workload's name");
  vec_push(sc->c, s->workloads, w);
  return VALUE_NONE;
}

static Value study_run_suite(Script *sc, Value self, const Args *a) {
  Study *s = self.u.object;
  const char *name = study_text(sc, &a->at[0], "a suite"),
             *program = study_text_or_null(sc, a, 1, "program");
  Workload w = {.loc = sc->loc, .suite = name, .sizes = study_sizes(sc, study_given(a, 2, "D"))};
  if (!is_known_suite(name)) w.suite = study_beside(sc, s, name);
  if (program) w.program = study_beside(sc, s, program);
  if (program) check_program_file(sc, w.program, &w.sizes);
  vec_push(sc->c, s->workloads, w);
  return VALUE_NONE;
}

/* --- how it is measured ----------------------------------------------------------------------- */

static Value study_run_threads(Script *sc, Value self, const Args *a) {
  Study *s = self.u.object;
  s->threads = "";
  for (int i = 0; i < a->n; i++)
    s->threads =
        tirc_format(sc->c, "%s%s%lld", s->threads, i ? "," : "",
                    (long long)whole_of(sc, &a->at[i], "a number of threads", 0, MOST_THREADS));
  return VALUE_NONE;
}

static Value study_run_targets(Script *sc, Value self, const Args *a) {
  Study *s = self.u.object;
  s->targets.n = 0;
  for (int i = 0; i < a->n; i++) {
    const char *name = study_text(sc, &a->at[i], "a target");
    tirc_target_info info;
    tirc_error *e = NULL;
    bool is_new = true;
    if (tirc_target_find(name, &info, &e)) study_raise(sc, e);
    for (int j = 0; j < s->targets.n; j++) is_new = is_new && strcmp(s->targets.at[j], name) != 0;
    if (is_new) vec_push(sc->c, s->targets, name);
  }
  return VALUE_NONE;
}

static Value study_run_repeat(Script *sc, Value self, const Args *a) {
  Study *s = self.u.object;
  const Value *turns = study_given(a, 0, "turns"), *seconds = study_given(a, 1, "seconds"),
              *attempts = study_given(a, 2, "attempts"),
              *cool_down = study_given(a, 3, "cool_down"), *pin = study_given(a, 4, "pin");
  if (turns) s->turns = (int)whole_of(sc, turns, "turns", 2, 1000);
  if (seconds) s->seconds = number_of(sc, seconds, "seconds");
  if (attempts) s->attempts = (int)whole_of(sc, attempts, "attempts", 1, 100);
  s->pin = pin ? tirc_script_truth(sc, *pin) : s->pin;
  if (cool_down) s->cool_down = number_of(sc, cool_down, "cool_down");
  if (!(s->cool_down >= 0 && s->cool_down <= 3600))
    tirc_script_error(sc, "ValueError", NULL, "cool_down is at most an hour, in seconds");
  if (!(s->seconds > 0 && s->seconds < 3600))
    tirc_script_error(sc, "ValueError", NULL, "seconds are more than 0 and less than an hour");
  return VALUE_NONE;
}

/* --- what is shown ---------------------------------------------------------------------------- */

static void add_published(Script *sc, Comparison *t, const Value *v, const char *a, const char *b) {
  if (v->kind == VAL_DICT) {
    if (b) tirc_script_error(sc, "ValueError", NULL, "published figures have at most two keys");
    for (int i = 0; i + 1 < v->u.list->n; i += 2) {
      const Value *of = &v->u.list->at[i];
      const char *key = of->kind == VAL_INT ? tirc_format(sc->c, "%lld", (long long)of->u.i)
                                            : study_text(sc, of, "a key of published");
      add_published(sc, t, &v->u.list->at[i + 1], a ? a : key, a ? key : NULL);
    }
    return;
  }
  Published p = {.keys = {a, b}};
  if (v->kind == VAL_STR && (*v->u.s == '>' || *v->u.s == '<')) {
    char *end;
    const double bound = tirc_parse_double(v->u.s + 1, &end);
    if (!v->u.s[1] || *end || !(bound > 0 && isfinite(bound)))
      tirc_script_error(sc, "ValueError", "published=\">1\"", "'%s' is no published figure",
                        v->u.s);
    p.low = *v->u.s == '>' ? nextafter(bound, INFINITY) : 0;
    p.high = *v->u.s == '>' ? INFINITY : nextafter(bound, 0);
    vec_push(sc->c, t->published, p);
    return;
  }
  const bool range = study_is_list(v);
  if (range && v->u.list->n != 2)
    tirc_script_error(sc, "ValueError", "(0.39, 0.58)", "a range is two figures");
  p.low = number_of(sc, range ? &v->u.list->at[0] : v, "a published figure");
  p.high = number_of(sc, range ? &v->u.list->at[1] : v, "a published figure");
  if (!(p.low > 0 && p.high >= p.low))
    tirc_script_error(sc, "ValueError", NULL, "published ratios are positive, the smaller first");
  vec_push(sc->c, t->published, p);
}

static int choice_of(Script *sc, const char *word, const char *what, int n,
                     const char *const *words) {
  const char *list = "";
  for (int i = 0; i < n; i++) {
    if (strcmp(words[i], word) == 0) return i;
    list = tirc_format(sc->c, "%s%s%s", list, i ? ", " : "", words[i]);
  }
  tirc_script_error(sc, "ValueError", NULL, "%s is one of %s, not '%s'", what, list, word);
}

static Value study_run_table(Script *sc, Value self, const Args *a) {
  static const char *const groups[] = {"all", "kernel", "setting", "threads"}, *const ratios[] = {
                                                                                   "speed", "time"};
  Study *s = self.u.object;
  const char *by = study_text_or_null(sc, a, 3, "by"),
             *ratio = study_text_or_null(sc, a, 4, "ratio");
  const Value *published = study_given(a, 5, "published"), *against = study_given(a, 2, "against");
  Comparison t = {.loc = sc->loc,
                  .title = study_text(sc, &a->at[0], "a title"),
                  .note = study_text_or_null(sc, a, 6, "note"),
                  .of = names_of(sc, &a->at[1], "a contender"),
                  .against = names_of(sc, against, "a contender")};
  if (!t.of.n || !t.against.n)
    tirc_script_error(sc, "TypeError", "table(\"title\", [\"full\"], against=\"baseline\")",
                      "a table compares contenders with others");
  if (by) t.by = (Grouping)choice_of(sc, by, "by", 4, groups);
  if (ratio) t.is_time = choice_of(sc, ratio, "ratio", 2, ratios);
  if (published) add_published(sc, &t, published, NULL, NULL);
  vec_push(sc->c, s->comparisons, t);
  return VALUE_NONE;
}

static Value study_run_tiles(Script *sc, Value self, const Args *a) {
  Study *s = self.u.object;
  const Figure f = {.loc = sc->loc,
                    .title = study_text(sc, &a->at[0], "a title"),
                    .note = study_text_or_null(sc, a, 2, "note"),
                    .of = names_of(sc, study_given(a, 1, "of"), "a contender")};
  vec_push(sc->c, s->tile_tables, f);
  return VALUE_NONE;
}

static Value study_run_plot(Script *sc, Value self, const Args *a) {
  static const char *const kinds[] = {"line", "bars", "heat", "roofline"};
  Study *s = self.u.object;
  const char *kind = study_text_or_null(sc, a, 1, "kind");
  Figure f = {.loc = sc->loc,
              .title = study_text(sc, &a->at[0], "a title"),
              .kind = kinds[kind ? choice_of(sc, kind, "kind", 4, kinds) : 0],
              .of = names_of(sc, study_given(a, 2, "of"), "a contender")};
  vec_push(sc->c, s->figures, f);
  return VALUE_NONE;
}

/* --- the whole -------------------------------------------------------------------------------- */

static const NativeRow rows[] = {
#define NAME(name, min, max, keywords, usage, help)                                                \
  {"study", #name, study_run_##name, min, max, keywords},
#include "study.def"
#undef NAME
};
enum { N_ROWS = sizeof rows / sizeof *rows };

void print_study_names(FILE *to) {
  static const char *const help[][2] = {
#define NAME(name, min, max, keywords, usage, help) {usage, help},
#include "study.def"
#undef NAME
  };
  fputs("# Is full faster than the baseline?\n"
        "workload(\"matmul.tir\", D={\"M\": [16] if quick else [16, 128]})\n"
        "contender(\"baseline\", \"baseline.sch\")\n"
        "contender(\"full\", \"full.sch\")\n"
        "contender(\"vec_k\", \"vec_k.sch\", expect_error=\"not-data-parallel\")\n"
        "table(\"full against the baseline\", \"full\", against=\"baseline\", published=(10, 34))\n"
        "plot(\"rates\", \"bars\")\n\n",
        to);
  for (int i = 0; i < N_ROWS; i++) put_row(to, 4, help[i][0], help[i][1]);
}

static void define_names(Tirc *c, void *self) {
  Study *s = self;
  Script *sc = s->script->sc;
  static const char *const words[] = {"auto", "tuned", "library"}; /* of contender() */
  for (int i = 0; i < N_ROWS; i++)
    tirc_script_set(sc, sc->globals, rows[i].name,
                    tirc_script_method(sc, &rows[i], tirc_script_object("study", s)));
  for (int i = 0; i < 3; i++) tirc_script_set(sc, sc->globals, words[i], tirc_value_str(words[i]));
  tirc_script_set(sc, sc->globals, "quick", tirc_value_bool(s->o->quick));
  vec_push(c, s->targets, CPU_DEFAULT);
}

static _Noreturn void reject(Script *sc, Loc loc, const char *hint, const char *what,
                             const char *name) {
  sc->loc = loc;
  tirc_script_error(sc, "ValueError", hint, what, name);
}

static void check_contenders(Script *sc, const Study *s, const Names *names, Loc loc) {
  for (int i = 0; i < names->n; i++) {
    if (find_plan(s, names->at[i]) >= 0) continue;
    Nearest best = {.wanted = names->at[i], .n_wanted = strlen(names->at[i])};
    for (int p = 0; p < s->plans.n; p++)
      tirc_offer_name(&best, s->plans.at[p].what.name, strlen(s->plans.at[p].what.name));
    reject(sc, loc, tirc_suggest_name(&best, "", "contender(name, schedule) makes one"),
           "there is no contender '%s'", names->at[i]);
  }
}

static bool is_number(const char *key) { return *key && !key[strspn(key, "0123456789")]; }

/* Keys of published figures are contenders of the table, kernels or numbers of threads; a suite's
 * names are not known yet. */
static void check_published(Script *sc, const Study *s, const Comparison *t) {
  for (int i = 0; i < 2 * t->published.n; i++) {
    const char *key = t->published.at[i / 2].keys[i % 2];
    bool known = !key || (t->by == BY_THREADS && is_number(key)), is_kernel = false;
    for (int n = 0; key && n < t->of.n; n++) known = known || strcmp(t->of.at[n], key) == 0;
    for (int w = 0; !known && w < s->workloads.n; w++) {
      const Workload *k = &s->workloads.at[w];
      is_kernel = is_kernel || k->suite || strcmp(k->name, key) == 0;
    }
    if (!known && !is_kernel)
      reject(sc, t->loc, "keys of published are names of `of`, or of workloads",
             "published figures for '%s', which the table does not have", key);
    if (is_kernel && t->by != BY_KERNEL)
      reject(sc, t->loc, "by=\"kernel\"", "published figures for '%s', but no row for it", key);
  }
}

/* What later calls may still have brought about. */
static void check_study(Tirc *c, void *self) {
  Study *s = self;
  (void)c;
  Script *sc = s->script->sc;
  const Loc start = {s->path, 1, 1};
  if (!s->workloads.n) reject(sc, start, "workload(\"matmul.tir\")", "%s has no workload", s->path);
  if (!s->plans.n)
    reject(sc, start, "contender(\"full\", \"full.sch\")", "%s has no contender", s->path);
  /* They take their turns with all others. */
  for (CeilingKind k = NO_CEILING + 1; k <= BANDWIDTH_CEILING; k++)
    study_add_plan(sc, s, &(Plan){.what = {.name = ceiling_names[k]}, .ceiling = k});
  for (int i = 0; i < s->comparisons.n; i++) {
    check_contenders(sc, s, &s->comparisons.at[i].of, s->comparisons.at[i].loc);
    check_contenders(sc, s, &s->comparisons.at[i].against, s->comparisons.at[i].loc);
    check_published(sc, s, &s->comparisons.at[i]);
  }
  for (int i = 0; i < s->figures.n; i++)
    check_contenders(sc, s, &s->figures.at[i].of, s->figures.at[i].loc);
  for (int i = 0; i < s->tile_tables.n; i++)
    check_contenders(sc, s, &s->tile_tables.at[i].of, s->tile_tables.at[i].loc);
}

/* The first line of comment. */
static void find_title(Study *s, const char *text) {
  Tirc *c = s->script->c;
  const char *p = text + strspn(text, "# ");
  const size_t n = strcspn(p, "\n");
  s->title = *text == '#' && n ? tirc_strndup(c, p, n) : s->path;
}

int read_study(Study *s) {
  const tirc_schedule_options options = {.print = print_aside};
  const char *slash = strrchr(s->path, '/');
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  char *text = NULL;
  size_t n = 0;
  int status = read_text(s->path, &text, &n);
  if (status != DONE) return status;
  bool ok = !tirc_module_parse(no_program, strlen(no_program), "", 0, NULL, &m, &e) &&
            !tirc_schedule_new(m, &options, &s->script, &e);
  if (ok) {
    s->folder = slash ? tirc_strndup(s->script->c, s->path, (size_t)(slash - s->path) + 1) : "";
    find_title(s, text);
    ok = !tirc_api_guard(s->script->c, define_names, s, NULL, &e) &&
         !tirc_schedule_run(s->script, text, n, s->path, &e) &&
         !tirc_api_guard(s->script->c, check_study, s, &s->script->sources, &e);
  }
  tirc_module_free(m);
  if (ok) return DONE;
  report(e);
  return BAD;
}
