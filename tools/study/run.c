/* What a study measures: for each target, each workload at each number of threads is a unit, whose
 * contenders take turns. A unit is stored whole, so that what ends the process costs at most the
 * one that is running; and of a unit that the database has in part, only the rest is measured,
 * together with what it is compared with.
 *
 * A result is the study's if program, schedule's text, target, threads and kind of machine are,
 * and if it was measured as long as the study asks for. */
#define _GNU_SOURCE
#include "study.h"

#include "tools/bench/settings.h"
#include "tools/kit/json.h"
#include "tools/results/database.h"
#include "tools/results/held.h"

#include <string.h>

static int place(const Study *s, const Ground *g, const Case *k, int plan) {
  return (int)(k - g->b.cases) * s->plans.n + plan;
}

const Held *held(const Study *s, const Ground *g, const Case *k, int plan) {
  return g->held[place(s, g, k, plan)];
}

/* --- units ------------------------------------------------------------------------------------ */

/* What -D would be. */
static Line line_of(const Workload *w) {
  Line l = {.number = w->loc.line,
            .kernel = tirc_strdup(memory, w->name),
            .file = tirc_strdup(memory, w->program)};
  for (int i = 0; i < w->sizes.n; i++) (void)add_axis(&l, w->sizes.at[i]);
  return l;
}

static int add_suite(Ground *g, const Workload *w) {
  const int before = g->b.n_cases;
  const List sizes = {w->sizes.n, w->sizes.at};
  g->b.of_programs = false;
  const int status = read_suite(&g->b, w->suite, &sizes);
  if (status != DONE) return status;
  if (g->b.of_programs == (w->program != NULL))
    return complain("suite(name, program=\"matmul.tir\") for a suite of sizes alone",
                    "%s:%d:%d: the suite '%s' %s", w->loc.file, w->loc.line, w->loc.column,
                    w->suite,
                    w->program ? "names programs of its own" : "names no programs: which is it?");
  for (int i = before; w->program && i < g->b.n_cases; i++)
    g->b.cases[i].file = tirc_strdup(memory, w->program);
  return DONE;
}

static int add_workload(Ground *g, const Workload *w) {
  if (w->suite) return add_suite(g, w);
  Line l = line_of(w);
  return add_line(&g->b, &l);
}

static bool has_sizes(const tirc_module *m) {
  int n;
  const tirc_param *params;
  const tirc_symbol *symbols;
  if (!tirc_module_symbols(m, NULL, &n, &symbols, NULL) && n) return true;
  if (tirc_module_params(m, NULL, &n, &params, NULL)) return false;
  for (int i = 0; i < n; i++)
    if (!params[i].is_array) return true;
  return false;
}

/* The schedule of a contender that each setting has its own of; NULL: there is none, or nothing
 * was tuned, and auto's would stand in for it. */
static char *made_text(const Ground *g, const Case *k, const Contender *p, bool *bare) {
  Made how = {0};
  const tirc_schedule_options options = {
      .target = g->b.how.target, .self = &how, .warn = note_made};
  const tirc_auto_options by_rules = {0};
  const char *where = *g->b.how.database ? g->b.how.database : NULL;
  tirc_module *m = NULL;
  char *text = NULL;
  const tirc_status made =
      p->tuned ? tirc_module_tuned(k->program, where, k->at.threads, &by_rules, &options, &m, NULL)
      : p->automatic ? tirc_module_auto(k->program, &by_rules, &options, &m, NULL)
                     : tirc_module_schedule_text(k->program, p->text, strlen(p->text), p->script,
                                                 &options, &m, NULL);
  *bare = !made && !how.untuned && how.bare;
  if (!made && !how.untuned && tirc_module_trace(m, TIRC_TRACE_SCRIPT, &text, NULL)) text = NULL;
  tirc_module_free(m);
  return text;
}

static int identify(Study *s, Ground *g, Case *k) {
  tirc_error *e = NULL;
  const int i = (int)(k - g->b.cases);
  int status = load_case(&g->b, k);
  if (status != DONE) return status;
  if (tirc_module_hash(k->program, &g->hashes[i], &e)) return report(e);
  g->sized[i] = has_sizes(k->program);
  for (int p = 0; p < s->plans.n; p++) {
    const Contender *what = &s->plans.at[p].what;
    const bool made = what->automatic || what->tuned || what->by_trace;
    char *text = made ? made_text(g, k, what, &g->bare[place(s, g, k, p)]) : NULL;
    if (text && tirc_db_text_hash(text, &g->texts[place(s, g, k, p)], &e)) status = report(e);
    tirc_string_free(text);
  }
  release_samples(k);
  return status;
}

static int make_units(Study *s, Ground *g) {
  int status = DONE;
  for (int i = 0; i < s->workloads.n && status == DONE; i++)
    status = add_workload(g, &s->workloads.at[i]);
  if (status == DONE) status = multiply_threads(&g->b);
  if (status != DONE) return status;
  const size_t n = (size_t)(g->b.n_cases * s->plans.n) + 1;
  g->held = tirc_alloc_array(memory, n, sizeof *g->held);
  g->texts = tirc_alloc_array(memory, n, sizeof *g->texts);
  g->bare = tirc_alloc_array(memory, n, sizeof *g->bare);
  g->hashes = tirc_alloc_array(memory, (size_t)g->b.n_cases + 1, sizeof *g->hashes);
  g->sized = tirc_alloc_array(memory, (size_t)g->b.n_cases + 1, sizeof *g->sized);
  for (int i = 0; i < g->b.n_cases && status == DONE; i++) status = identify(s, g, &g->b.cases[i]);
  return status;
}

/* --- what the database has -------------------------------------------------------------------- */

static Held *hold(const Study *s, Case *k, const Plan *p, const tirc_db_result *r, Json *more) {
  Held *h = hold_result(&k->at.work, p->what.name, p->ceiling, r, more);
  if (h)
    h->is_enough = r->code || (number_in(more, "seconds_asked_for") >= 0.999 * s->seconds &&
                               h->f.n_turns >= s->turns);
  return h;
}

/* The hash of what the contender's schedule is in a setting; NULL: it has none. */
static const char *schedule_hash(const Study *s, const Ground *g, const Case *k, int plan) {
  const Plan *p = &s->plans.at[plan];
  return p->hash ? p->hash : g->texts[place(s, g, k, plan)];
}

static bool is_of(const Study *s, const Ground *g, const Case *k, int plan,
                  const tirc_db_result *r) {
  const char *hash = schedule_hash(s, g, k, plan);
  if (hash) return r->schedule_hash && strcmp(hash, r->schedule_hash) == 0;
  return !r->schedule && strcmp(s->plans.at[plan].what.name, r->contender) == 0;
}

/* What was measured long enough comes first, of that what the machine was calm for, of that the
 * latest. */
static int rank(const Held *h) { return 2 * h->is_enough + !h->busy; }

typedef struct Look {
  const Study *s;
  Ground *g;
  int case_number;
} Look;

static bool look_at(void *self, const tirc_db_result *r) {
  const Look *l = self;
  const Study *s = l->s;
  Ground *g = l->g;
  Case *k = &g->b.cases[l->case_number];
  Json *more = r->more ? json_tokener_parse(r->more) : NULL;
  const char *setting = text_in(more, "setting");
  const bool same = strcmp(r->hash, g->hashes[l->case_number]) == 0 &&
                    r->threads == k->at.threads && !text_in(more, "compiler") &&
                    !text_in(more, "packed_ahead") &&
                    (!g->sized[l->case_number] || (setting && strcmp(setting, k->at.setting) == 0));
  for (int p = 0; same && p < s->plans.n; p++) {
    Held *h = is_of(s, g, k, p, r) ? hold(s, k, &s->plans.at[p], r, more) : NULL;
    if (!h) continue;
    Held **at = &g->held[place(s, g, k, p)];
    while (*at && rank(*at) > rank(h)) at = &(*at)->older;
    h->older = *at;
    *at = h;
  }
  json_object_put(more);
  return true;
}

static int look_up_case(const Study *s, Ground *g, int i) {
  tirc_error *e = NULL;
  const tirc_db_filter filter = {.workload = g->hashes[i],
                                 .target = g->b.target.name,
                                 .threads = g->b.cases[i].at.threads,
                                 .machine = g->b.store.profile};
  Look l = {s, g, i};
  for (int p = 0; p < s->plans.n; p++) {
    free_held(g->held[i * s->plans.n + p]);
    g->held[i * s->plans.n + p] = NULL;
  }
  return tirc_db_results(g->b.store.db, &filter, NULL, look_at, &l, &e) ? report(e) : DONE;
}

static int look_up(const Study *s, Ground *g) {
  int status = DONE;
  for (int i = 0; i < g->b.n_cases && status == DONE; i++) status = look_up_case(s, g, i);
  return status;
}

/* --- before ----------------------------------------------------------------------------------- */

static void leave_out_doubles(Bench *b) {
  int n = 0;
  for (int i = 0; i < b->n_threads; i++) {
    int j = 0;
    while (j < n && b->threads[j].threads != b->threads[i].threads) j++;
    if (j < n)
      tirc_executor_free(b->threads[i].executor);
    else
      b->threads[n++] = b->threads[i];
  }
  b->n_threads = n;
}

static int open_ground(Study *s, Ground *g, const char *target) {
  Bench *b = &g->b;
  *b = (Bench){.o = &s->usual,
               .how = {.target = target,
                       .threads = s->threads,
                       .database = s->o->asked.database ? s->o->asked.database : "",
                       .seconds = s->seconds,
                       .cool_down = s->cool_down,
                       .turns = s->turns,
                       .attempts = s->attempts,
                       .pin = s->pin}};
  int status = open_bench(b);
  leave_out_doubles(b);
  if (status != DONE) return status;
  for (int i = 0; i < s->plans.n; i++) {
    Plan *p = &s->plans.at[i];
    if (p->what.rival && !p->missing && !open_rival(b, p->what.rival))
      p->missing = p->what.rival->install;
  }
  status = make_units(s, g);
  if (status != DONE) return status;
  profile_machine(&b->profile);
  status = open_store(b);
  if (status != DONE) return status;
  g->environment = environment_description(b);
  return look_up(s, g);
}

static int hash_texts(Study *s) {
  tirc_error *e = NULL;
  for (int i = 0; i < s->plans.n && !e; i++)
    if (s->plans.at[i].what.text && !s->plans.at[i].what.by_trace)
      (void)tirc_db_text_hash(s->plans.at[i].what.text, &s->plans.at[i].hash, &e);
  return e ? report(e) : DONE;
}

int prepare_study(Study *s) {
  int status = hash_texts(s);
  s->grounds = tirc_alloc_array(memory, (size_t)s->targets.n, sizeof *s->grounds);
  for (int i = 0; i < s->targets.n && status == DONE; i++) {
    s->n_grounds++;
    status = open_ground(s, &s->grounds[i], s->targets.at[i]);
    if (status == DONE) s->n_units += s->grounds[i].b.n_cases;
  }
  return status;
}

/* --- measuring -------------------------------------------------------------------------------- */

static bool can_run(const Study *s, const Ground *g, const Case *k, int plan) {
  const Plan *p = &s->plans.at[plan];
  return !p->ceiling && !p->missing && (!p->what.tuned || schedule_hash(s, g, k, plan));
}

static bool is_lacking(const Study *s, const Ground *g, const Case *k, int plan) {
  const Held *h = held(s, g, k, plan);
  return can_run(s, g, k, plan) && (!h || !h->is_enough);
}

static bool is_missing(const Study *s, const Ground *g, const Case *k, int plan) {
  return s->o->again ? can_run(s, g, k, plan) : is_lacking(s, g, k, plan);
}

static bool is_among(const Names *names, const char *name) {
  for (int i = 0; i < names->n; i++)
    if (strcmp(names->at[i], name) == 0) return true;
  return false;
}

/* Besides what is missing what that is compared with: ratios are of what took turns. */
static void add_references(const Study *s, const Ground *g, const Case *k, bool *wanted) {
  const int n = s->plans.n;
  bool *missing = tirc_alloc_array(memory, (size_t)n, sizeof *missing);
  memcpy(missing, wanted, (size_t)n * sizeof *wanted);
  for (int p = 0; p < n; p++)
    for (int t = 0; missing[p] && t < s->comparisons.n; t++) {
      const Comparison *c = &s->comparisons.at[t];
      if (!is_among(&c->of, s->plans.at[p].what.name)) continue;
      for (int i = 0; i < c->against.n; i++) {
        const int other = find_plan(s, c->against.at[i]);
        wanted[other] = wanted[other] || can_run(s, g, k, other);
      }
    }
}

/* One of the same schedule comes before it. */
static bool is_double(const Study *s, const Ground *g, const Case *k, const bool *wanted,
                      int plan) {
  const char *hash = schedule_hash(s, g, k, plan);
  for (int p = 0; hash && p < plan; p++) {
    const char *other = wanted[p] ? schedule_hash(s, g, k, p) : NULL;
    if (other && strcmp(other, hash) == 0) return true;
  }
  return false;
}

static int choose_contenders(const Study *s, const Ground *g, const Case *k, Contender *out) {
  int n = 0;
  bool *wanted = tirc_alloc_array(memory, (size_t)s->plans.n, sizeof *wanted);
  for (int p = 0; p < s->plans.n; p++) n += wanted[p] = is_missing(s, g, k, p);
  if (n) add_references(s, g, k, wanted);
  for (int p = n = 0; p < s->plans.n; p++)
    if (wanted[p] && !is_double(s, g, k, wanted, p)) out[n++] = s->plans.at[p].what;
  return n;
}

/* ", 3 min left", once that is worth saying. */
static void print_rest(const Study *s) {
  const int left = s->n_missing - s->n_measured;
  const double seconds = (tirc_seconds() - s->started) / s->n_measured * left;
  if (left > 0 && seconds >= 90)
    printf(", %.0f min left", seconds / 60);
  else if (left > 0 && seconds >= 5)
    printf(", %.0f s left", seconds);
}

static int run_unit(Study *s, Ground *g, Case *k) {
  Bench *b = &g->b;
  const double started = tirc_seconds();
  int status = prepare_case(b, k);
  if (status == DONE && !was_interrupted()) measure_case(b, k);
  if (status == DONE && !was_interrupted()) {
    char disturbed[256];
    store_case(b, k);
    describe_disturbance(k, disturbed, sizeof disturbed);
    s->n_done++;
    s->n_measured++;
    printf("[%d/%d] %s%s%s, %d thread%s: %d contenders in %.0f s", s->n_done, s->n_units,
           k->at.kernel, *k->at.setting ? " " : "", k->at.setting, k->at.threads,
           plural(k->at.threads), b->n_planned, tirc_seconds() - started);
    print_rest(s);
    printf("%s%s\n", *disturbed ? "; disturbed: " : "", disturbed);
    fflush(stdout);
  }
  release_case(k);
  return status;
}

/* The same program on as many threads may come under several names. */
static bool came_before(const Ground *g, const Case *k) {
  const int i = (int)(k - g->b.cases);
  for (int j = 0; j < i; j++)
    if (g->b.cases[j].at.threads == k->at.threads && strcmp(g->hashes[j], g->hashes[i]) == 0)
      return true;
  return false;
}

static int run_ground(Study *s, Ground *g) {
  Contender *planned = tirc_alloc_array(memory, (size_t)s->plans.n + 1, sizeof *planned);
  int status = DONE;
  g->b.planned = planned;
  g->b.started = tirc_seconds();
  for (int i = 0; i < g->b.n_cases && status == DONE && !was_interrupted(); i++) {
    Case *k = &g->b.cases[i];
    if (s->n_measured && came_before(g, k)) status = look_up_case(s, g, i);
    if (status != DONE) break;
    g->b.n_planned = choose_contenders(s, g, k, planned);
    if (g->b.n_planned)
      status = run_unit(s, g, k);
    else
      s->n_done += g->lacks[i], g->b.n_passed++; /* others were counted at the start */
  }
  g->b.planned = NULL;
  return status;
}

static int count_missing(const Study *s, Ground *g) {
  int n = 0;
  g->lacks = tirc_alloc_array(memory, (size_t)g->b.n_cases + 1, sizeof *g->lacks);
  for (int i = 0; i < g->b.n_cases; i++) {
    bool missing = false;
    for (int p = 0; p < s->plans.n; p++) missing = missing || is_missing(s, g, &g->b.cases[i], p);
    n += g->lacks[i] = missing;
  }
  return n;
}

/* Whatever was passed by, or comes under a second name: what the database has counts. */
static int count_held(const Study *s) {
  int n = 0;
  for (int i = 0; i < s->n_grounds; i++)
    for (int c = 0; c < s->grounds[i].b.n_cases; c++) {
      int p = 0;
      while (p < s->plans.n && !is_lacking(s, &s->grounds[i], &s->grounds[i].b.cases[c], p)) p++;
      n += p == s->plans.n;
    }
  return n;
}

int run_study(Study *s) {
  int status = DONE;
  catch_interrupts();
  for (int i = 0; i < s->n_grounds; i++) {
    s->n_missing += count_missing(s, &s->grounds[i]);
  }
  s->n_done = s->n_units - s->n_missing;
  if (s->n_missing && s->n_missing < s->n_units)
    printf("%d of %d settings are in the database\n", s->n_done, s->n_units);
  s->started = tirc_seconds();
  for (int i = 0; i < s->n_grounds && status == DONE; i++) {
    status = run_ground(s, &s->grounds[i]);
    if (status == DONE && s->n_measured) status = look_up(s, &s->grounds[i]);
  }
  if (status == DONE) s->n_done = count_held(s);
  return status == DONE && was_interrupted() ? NO : status;
}

/* What the database did not take goes to one beside the report. */
int close_study(Study *s) {
  int status = DONE;
  for (int i = 0; i < s->n_grounds; i++) {
    char *path = tirc_format(memory, "%s/unstored.db", s->report);
    const int rescued = rescue_store(&s->grounds[i].b, path),
              closed = close_store(&s->grounds[i].b);
    if (rescued != DONE || closed != DONE) status = BAD;
  }
  return status;
}

static void forget_held(const Study *s, Ground *g) {
  for (int i = 0; g->held && i < g->b.n_cases * s->plans.n; i++) free_held(g->held[i]);
}

void free_study(Study *s) {
  for (int i = 0; i < s->n_grounds; i++) {
    Ground *g = &s->grounds[i];
    forget_held(s, g);
    for (int j = 0; g->texts && j < g->b.n_cases * s->plans.n; j++) tirc_string_free(g->texts[j]);
    for (int j = 0; g->hashes && j < g->b.n_cases; j++) tirc_string_free(g->hashes[j]);
    close_bench(&g->b);
  }
  for (int i = 0; i < s->plans.n; i++) tirc_string_free(s->plans.at[i].hash);
  tirc_schedule_free(s->script);
}
