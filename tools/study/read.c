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

/* ">2" or "<0.5": all that is beyond. */
static void read_bound(Script *sc, const char *text, const char *what, Foretold *f) {
  char *end;
  const bool above = *text == '>';
  const double bound = above || *text == '<' ? tirc_parse_double(text + 1, &end) : 0;
  if (!(bound > 0 && isfinite(bound)) || *end)
    tirc_script_error(sc, "ValueError",
                      "write a ratio such as 4.36, a range such as (0.39, 0.58), or a bound such as "
                      "\">1\" or \"<0.5\"",
                      "'%s' is not a%s %s figure", text, *what == 'e' ? "n" : "", what);
  f->low = above ? nextafter(bound, INFINITY) : 0;
  f->high = above ? INFINITY : nextafter(bound, 0);
}

static void read_range(Script *sc, const Value *v, const char *what, Foretold *f) {
  const bool range = study_is_list(v);
  const char *figure = tirc_format(sc->c, "a%s %s figure", *what == 'e' ? "n" : "", what);
  if (range && v->u.list->n != 2)
    tirc_script_error(sc, "ValueError", "(0.39, 0.58)", "a range is two figures");
  f->low = number_of(sc, range ? &v->u.list->at[0] : v, figure);
  f->high = number_of(sc, range ? &v->u.list->at[1] : v, figure);
  if (!(f->low > 0 && f->high >= f->low))
    tirc_script_error(sc, "ValueError", NULL, "%s ratios are positive, the smaller first", what);
}

/* what: "published" or "expected". `of` has the keys of the dicts around the value. */
static void add_foretold(Script *sc, ForetoldList *to, const Value *v, const char *what,
                         Foretold of) {
  int n = 0;
  while (n < MOST_KEYS && of.keys[n]) n++;
  if (v->kind != VAL_DICT) {
    if (v->kind == VAL_STR)
      read_bound(sc, v->u.s, what, &of);
    else
      read_range(sc, v, what, &of);
    vec_push(sc->c, *to, of);
    return;
  }
  if (n == MOST_KEYS)
    tirc_script_error(sc, "ValueError", "contender, kernel, setting and threads, in any order",
                      "a figure has at most four keys");
  for (int i = 0; i + 1 < v->u.list->n; i += 2) {
    const Value *key = &v->u.list->at[i];
    of.keys[n] = key->kind == VAL_INT
                     ? tirc_format(sc->c, "%lld", (long long)key->u.i)
                     : study_text(sc, key, tirc_format(sc->c, "a key of %s", what));
    add_foretold(sc, to, &v->u.list->at[i + 1], what, of);
  }
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
  const Value *published = study_given(a, 5, "published"), *against = study_given(a, 2, "against"),
              *expected = study_given(a, 7, "expected");
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
  if (published) add_foretold(sc, &t.published, published, "published", (Foretold){.low = 0});
  if (expected) add_foretold(sc, &t.expected, expected, "expected", (Foretold){.low = 0});
  vec_push(sc->c, s->comparisons, t);
  return VALUE_NONE;
}

static Value study_run_estimate(Script *sc, Value self, const Args *a) {
  Study *s = self.u.object;
  const Estimate e = {.loc = sc->loc,
                      .title = study_text(sc, &a->at[0], "a title"),
                      .of = names_of(sc, &a->at[1], "a contender"),
                      .against = study_text_or_null(sc, a, 2, "against"),
                      .note = study_text_or_null(sc, a, 3, "note")};
  vec_push(sc->c, s->estimates, e);
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
  const char *kind = study_text_or_null(sc, a, 1, "kind"),
             *ratio = study_text_or_null(sc, a, 4, "ratio");
  const bool named = ratio && strcmp(ratio, "speed") != 0 && strcmp(ratio, "time") != 0;
  Figure f = {.loc = sc->loc,
              .against = named ? ratio : study_text_or_null(sc, a, 3, "against"),
              .is_time = ratio && strcmp(ratio, "time") == 0,
              .title = study_text(sc, &a->at[0], "a title"),
              .kind = kinds[kind ? choice_of(sc, kind, "kind", 4, kinds) : 0],
              .of = names_of(sc, study_given(a, 2, "of"), "a contender")};
  if (f.against && strcmp(f.kind, "roofline") == 0)
    tirc_script_error(sc, "ValueError", "a line, bars or heat",
                      "a roofline compares with ceilings");
  if (ratio && !f.against)
    tirc_script_error(sc, "ValueError", "plot(\"title\", \"bars\", against=\"openblas\")",
                      "a ratio is against some contender");
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

/* Whether `list`, "M=16,32", has a value of a size, "M=16". */
static bool lists_size(const char *list, const char *size, size_t n) {
  const size_t name = strcspn(size, "=") + 1;
  if (name > n || strncmp(list, size, name) != 0) return false;
  for (const char *p = list + name; *p;) {
    const size_t value = strcspn(p, ",");
    if (value == n - name && strncmp(p, size + name, value) == 0) return true;
    p += value + (p[value] == ',');
  }
  return false;
}

/* Each word of "M=16 K=768". */
static bool has_sizes_of(const Workload *w, const char *key) {
  for (const char *p = key; *p;) {
    const size_t n = strcspn(p, " ");
    bool found = n == 0;
    for (int i = 0; i < w->sizes.n && !found; i++) found = lists_size(w->sizes.at[i], p, n);
    if (!found) return false;
    p += n + strspn(p + n, " ");
  }
  return true;
}

/* What a key of published or expected figures names. A suite's names and sizes are not known yet.
 */
typedef enum KeyKind { KEY_UNKNOWN, KEY_ROW, KEY_KERNEL, KEY_SETTING } KeyKind;
static KeyKind kind_of_key(const Study *s, const Comparison *t, const char *key) {
  const bool is_size = strchr(key, '=') != NULL;
  if (is_number(key)) return KEY_ROW;
  for (int i = 0; i < t->of.n; i++)
    if (strcmp(t->of.at[i], key) == 0) return KEY_ROW;
  if (strcmp(key, each_setting) == 0) return KEY_SETTING;
  for (int i = 0; i < s->workloads.n; i++) {
    const Workload *w = &s->workloads.at[i];
    if (is_size && (w->suite || has_sizes_of(w, key))) return KEY_SETTING;
    if (!is_size && (w->suite || strcmp(w->name, key) == 0)) return KEY_KERNEL;
  }
  return KEY_UNKNOWN;
}

static void check_foretold(Script *sc, const Study *s, const Comparison *t,
                           const ForetoldList *list, const char *what) {
  for (int i = 0; i < list->n; i++) {
    const char *kernel = NULL, *setting = NULL, *const *keys = list->at[i].keys;
    for (int k = 0; k < MOST_KEYS && keys[k]; k++) {
      const KeyKind kind = kind_of_key(s, t, keys[k]);
      if (kind == KEY_UNKNOWN)
        reject(sc, t->loc,
               "keys are names of `of` or of workloads, sizes (\"M=16\"), \"each\", or numbers of "
               "threads",
               tirc_format(sc->c, "%s figures for '%%s', which the table does not have", what),
               keys[k]);
      if (kind == KEY_KERNEL) kernel = keys[k];
      if (kind == KEY_SETTING) setting = keys[k];
    }
    if (setting ? t->by == BY_SETTING : !kernel || t->by == BY_KERNEL) continue;
    reject(sc, t->loc, setting ? "by=\"setting\"" : "by=\"kernel\"",
           tirc_format(sc->c, "%s figures for '%%s', but no row for it", what),
           setting ? setting : kernel);
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
    check_foretold(sc, s, &s->comparisons.at[i], &s->comparisons.at[i].published, "published");
    check_foretold(sc, s, &s->comparisons.at[i], &s->comparisons.at[i].expected, "expected");
  }
  for (int i = 0; i < s->figures.n; i++) {
    const Figure *f = &s->figures.at[i];
    const Names against = {f->against != NULL, (const char *[]){f->against}};
    check_contenders(sc, s, &f->of, f->loc);
    check_contenders(sc, s, &against, f->loc);
  }
  for (int i = 0; i < s->estimates.n; i++) {
    const Estimate *e = &s->estimates.at[i];
    const Names against = {e->against != NULL, (const char *[]){e->against}};
    check_contenders(sc, s, &e->of, e->loc);
    check_contenders(sc, s, &against, e->loc);
  }
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

/* -D NAME=VALUE: in place of the line `NAME = ...`, so that places in messages stay. */
static int put_definitions(const Study *s, char **text) {
  const List *define = &s->o->define;
  for (int i = 0; i < define->n; i++) {
    const char *value = strchr(define->at[i], '='), *end = NULL;
    char *name =
        value ? tirc_strndup(memory, define->at[i], (size_t)(value - define->at[i])) : NULL;
    const char *at = value && *name ? find_assignment(*text, name, &end) : NULL;
    if (!value || !*name || strchr(value, '\n'))
      return complain("write -D rows=[16,32]", "-D takes NAME=VALUE, not '%s'", define->at[i]);
    if (!at)
      return complain("it puts a value in place of a line `NAME = ...` without indentation",
                      "-D %s: %s has no line that begins with '%s ='", define->at[i], s->path,
                      name);
    *text = tirc_format(memory, "%.*s%s = %s%s", (int)(at - *text), *text, name, value + 1, end);
  }
  return DONE;
}

int read_study(Study *s) {
  const tirc_schedule_options options = {.print = print_aside};
  const char *slash = strrchr(s->path, '/');
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  char *text = NULL;
  size_t n = 0;
  int status = read_text(s->path, &text, &n);
  if (status == DONE && s->o->define.n && !memchr(text, 0, n)) {
    status = put_definitions(s, &text);
    n = strlen(text);
  }
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
