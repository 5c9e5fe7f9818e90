/* `tirc study`: a script of questions becomes measurements in the database and a report. */
#include "study.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NAME.report beside where the command runs, or what -o says. */
static char *report_folder(const StudyOptions *o) {
  return o->write ? copied(o->write)
                  : tirc_format(memory, "%s.report", path_stem(o->asked.args.at[0]));
}

static bool has_wrong_results(const Study *s) {
  bool wrong = false;
  for (int i = 0; i < s->n_grounds; i++)
    for (int j = 0; j < s->grounds[i].b.n_cases; j++)
      for (int p = 0; p < s->plans.n; p++) {
        const Case *k = &s->grounds[i].b.cases[j];
        const Held *h = held(s, &s->grounds[i], k, p);
        if (!h || !h->r.code || strcmp(h->r.code, "wrong-result") != 0) continue;
        fprintf(stderr, "%s %s: WRONG RESULT of %s\n", k->at.kernel, k->at.setting, h->name);
        wrong = true;
      }
  return wrong;
}

/* A contender that should have run and did not: in how many settings, and why in the first. */
static bool has_broken(const Study *s, int plan) {
  const Plan *p = &s->plans.at[plan];
  const Held *first = NULL;
  int n = 0;
  if (p->expect_error || p->ceiling) return false;
  for (int i = 0; i < s->n_grounds; i++)
    for (int j = 0; j < s->grounds[i].b.n_cases; j++) {
      const Held *h = held(s, &s->grounds[i], &s->grounds[i].b.cases[j], plan);
      if (!h || !h->r.code || strcmp(h->r.code, "wrong-result") == 0) continue;
      if (!first) first = h;
      n++;
    }
  if (!n) return false;
  fprintf(stderr, "%s:%d:%d: %s failed in %d setting%s: ", p->loc.file, p->loc.line, p->loc.column,
          p->what.name, n, plural(n));
  const char *why = first->r.message ? first->r.message : "";
  put_clean(stderr, why, strlen(why));
  fprintf(stderr, " [%s]\n", first->r.code);
  return true;
}

/* Expected errors that did not come, contenders that failed, and results that are wrong. */
static bool has_failed(const Study *s) {
  bool failed = false;
  for (int p = 0; p < s->plans.n; p++) failed = has_broken(s, p) || failed;
  for (int p = 0; p < s->plans.n; p++) {
    const char *message;
    const Plan *plan = &s->plans.at[p];
    if (!plan->expect_error || judge_failure(s, p, &message) != DIFFERS) continue;
    fprintf(stderr, "%s:%d:%d: %s did not end in %s: %s\n", plan->loc.file, plan->loc.line,
            plan->loc.column, plan->what.name, plan->expect_error, message);
    failed = true;
  }
  return has_wrong_results(s) || failed;
}

/* Before hours of measuring, not after. */
static int make_report_folder(const Study *s, bool *made) {
  *made = mkdir(s->report, 0777) == 0;
  if ((*made || errno == EEXIST) && access(s->report, W_OK | X_OK) == 0) return DONE;
  return complain("--write FOLDER writes it elsewhere", "cannot write the report to '%s': %s",
                  s->report, strerror(errno));
}

static int run(Study *s) {
  bool made;
  int status = make_report_folder(s, &made), stored;
  if (status == DONE) status = prepare_study(s);
  if (status != DONE) {
    if (made) rmdir(s->report);
    return status;
  }
  status = run_study(s);
  stored = close_study(s);
  if (status == BAD) return BAD;
  if (status == NO)
    printf("Interrupted: %d of %d settings are in the database; the same command goes on\n",
           s->n_done, s->n_units);
  else if (!s->n_measured)
    printf("All %d settings were in the database already; --again measures them again\n",
           s->n_units);
  const int written = write_report(s);
  if (status == DONE) status = written;
  if (status == DONE && has_failed(s)) status = NO;
  return stored == DONE ? status : stored;
}

int cmd_study(StudyOptions *o) {
  const List *args = &o->asked.args;
  if (o->names) {
    print_study_names(stdout);
    return DONE;
  }
  if (!args->n) return complain(NULL, "usage: tirc study FILE");
  Study s = {
      .o = o, .path = args->at[0], .threads = "0", .turns = 9, .seconds = 0.3, .attempts = 3};
  s.report = report_folder(o);
  int status = read_study(&s);
  if (status == DONE) status = run(&s);
  free_study(&s);
  return status;
}
