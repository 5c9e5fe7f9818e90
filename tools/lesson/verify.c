/* Results of a course, run again. What is in a code is anybody's: each schedule is run in a process
 * of its own with bounds on its steps, memory and time, and is interpreted, not compiled. One that
 * does not end costs itself alone. */
#include "lesson.h"

#include "ir/ascii.h"
#include "ir/child.h"
#include "runtime/measure/child.h"

#include <string.h>

enum { SCRIPT_STEPS = 2000000, MOST_ANSWER = 1 << 22 };
static const int64_t RUN_STEPS = 2000000000, MEMORY = (int64_t)2 << 30;
static const double SECONDS = 30; /* for an exercise, if nothing else is asked for */

typedef struct Verifying {
  const LessonOptions *o;
  const Course *c;
  Prepared *prepared; /* an exercise each */
  char *answer;       /* of the child */
  int n, refused, undone;
} Verifying;

typedef struct Code {
  Verifying *v;
  const char *from; /* who sends it, or where it stands */
  Result result;
} Code;

/* One of its schedules. */
typedef struct Answer {
  const Code *code;
  int exercise;
  const char *schedule;
} Answer;

/* --- in the child ----------------------------------------------------------------------------- */

static void verify(void *self) {
  const Answer *a = self;
  Verifying *v = a->code->v;
  const CheckOptions how = {.script_steps = SCRIPT_STEPS, .max_steps = RUN_STEPS};
  /* it may import what is embedded, and there is nothing beside it */
  const char *name = tirc_format(memory, "<results>/<code>/%s.sch", v->c->at[a->exercise].name);
  Outcome found = check_exercise(&v->prepared[a->exercise],
                                 (Attempted){.path = name, .text = a->schedule}, &how);
  const char *text = json_string(outcome_as_json(&found), false);
  const size_t n = strlen(text) + 1;
  if (n <= MOST_ANSWER) memcpy(v->answer, text, n);
}

static void nothing(void *self) { (void)self; }

/* --- from outside ----------------------------------------------------------------------------- */

/* The verdict on a schedule; what does not end in time, or ends its process, has none. */
static Json *run_again(Answer *a) {
  const ChildWork work = {verify, nothing, a, MEMORY};
  Verifying *v = a->code->v;
  Child child;
  ChildFailure failure = {.message = "it cannot be run"};
  *v->answer = 0;
  const bool done = tirc_child_start(&child, &work) &&
                    tirc_child_await(&child, v->o->seconds > 0 ? v->o->seconds : SECONDS,
                                     "running it", NULL, NULL, &failure);
  tirc_child_end(&child);
  Json *j = done ? json_tokener_parse(v->answer) : NULL;
  if (j) return j;
  Json *error = json_object_new_object();
  j = json_object_new_object();
  add_int(j, "status", BAD);
  add_text(j, "result", "unknown");
  add_text(error, "message", done ? "its verdict is too long" : failure.message);
  add_json(j, "error", error);
  return j;
}

static Json *verdict_on(const Code *code, int i) {
  Answer a = {code, i, NULL};
  Json *j = json_object_new_object();
  add_text(j, "name", code->v->c->at[i].name);
  for (int k = 0; k < code->result.n && !a.schedule; k++)
    if (strcmp(code->result.names[k], code->v->c->at[i].name) == 0)
      a.schedule = code->result.schedules[k];
  if (a.schedule) {
    Json *verdict = run_again(&a);
    json_object_object_foreach(verdict, key, value) add_json(j, key, json_object_get(value));
    json_object_put(verdict);
  } else {
    add_int(j, "status", NO);
    add_text(j, "result", "missing");
  }
  return j;
}

static Json *verdicts_on(const Code *code) {
  Json *list = json_object_new_array();
  for (int i = 0; i < code->v->c->n; i++) json_object_array_add(list, verdict_on(code, i));
  return list;
}

/* What the exercises of a code compute, once for all codes; NULL, or why it cannot be told. */
static const char *prepare(const Code *code, int exercise) {
  Prepared *p = &code->v->prepared[exercise];
  const int status = prepare_exercise(&code->v->c->at[exercise], p);
  Prepared *run = status == DONE ? interpreted(p) : NULL;
  if (run && compute_prepared(run) == DONE) return NULL;
  return "its exercise cannot be run";
}

/* Whether it is of this course; then its exercises are ready to be run. */
static const char *check_course(const Code *code) {
  const Course *c = code->v->c;
  const char *why = NULL;
  if (strcmp(code->result.course, c->title) != 0)
    return tirc_format(memory, "it is of the course '%s', and not of '%s'",
                       shown_name(code->result.course), c->title);
  for (int i = 0; i < code->result.n && !why; i++) {
    int of = -1;
    for (int k = 0; k < c->n; k++)
      if (strcmp(code->result.names[i], c->at[k].name) == 0) of = k;
    why = of >= 0 ? prepare(code, of)
                  : tirc_format(memory, "the course has no exercise '%s'",
                                shown_name(code->result.names[i]));
  }
  return why;
}

static void print_exercise(Json *j) {
  Json *checks = NULL, *error = NULL;
  const char *why = NULL;
  if (json_object_object_get_ex(j, "error", &error)) why = text_in(error, "message");
  if (json_object_object_get_ex(j, "checks", &checks))
    for (size_t i = 0; i < json_object_array_length(checks) && !why; i++) {
      Json *check = json_object_array_get_idx(checks, i), *ok = NULL;
      if (json_object_object_get_ex(check, "ok", &ok) && !json_object_get_boolean(ok))
        why = text_in(check, "text");
    }
  printf("  %-8s %s%s", text_in(j, "result"), text_in(j, "name"), why ? ": " : "\n");
  if (!why) return;
  put_name(stdout, why);
  putchar('\n');
}

static void print_verdicts(const Code *code, Json *list, int done) {
  const Result *r = &code->result;
  put_name(stdout, code->from);
  if (r->learner) {
    fputs(", ", stdout);
    put_name(stdout, r->learner);
  }
  printf(": %d of %d%s\n", done, code->v->c->n,
         strcmp(r->edition, edition_of(code->v->c)) != 0
             ? ", made with another edition of the course"
             : "");
  for (size_t i = 0; i < json_object_array_length(list); i++)
    print_exercise(json_object_array_get_idx(list, i));
}

static void print_as_json(const Code *code, Json *list, int done, const char *why) {
  const Result *r = &code->result;
  Json *j = json_object_new_object();
  add_text(j, "from", code->from);
  if (why) {
    add_text(j, "refused", why);
  } else {
    add_text(j, "learner", r->learner);
    add_text(j, "edition", r->edition);
    add_bool(j, "same_edition", strcmp(r->edition, edition_of(code->v->c)) == 0);
    add_int(j, "done", done);
    add_int(j, "of", code->v->c->n);
    add_json(j, "exercises", json_object_get(list));
  }
  puts(json_string(j, false));
}

static void verify_code(Verifying *v, const char *from, const char *text) {
  Code code = {.v = v, .from = from};
  const char *why = read_result(text, &code.result);
  if (!why) why = check_course(&code);
  Json *list = why ? NULL : verdicts_on(&code);
  int done = 0;
  for (size_t i = 0; list && i < json_object_array_length(list); i++)
    done += number_in(json_object_array_get_idx(list, i), "status") == DONE;
  v->n++;
  v->refused += why != NULL;
  v->undone += !why && done < v->c->n;
  if (v->o->as_json)
    print_as_json(&code, list, done, why);
  else if (why)
    (void)complain(NULL, "%s: the code is refused: %s", shown_name(from), why);
  else
    print_verdicts(&code, list, done);
  fflush(stdout);
  json_object_put(list);
}

/* --- codes ------------------------------------------------------------------------------------ */

/* What stands before the code in its line, "anna: tirc1...", or else the line's number. */
static const char *sender(const char *name, const char *text, const char *code) {
  const char *line = code;
  while (line > text && line[-1] != '\n') line--;
  while (line < code && (tirc_is_space(*line) || *line == '>')) line++;
  const char *end = code;
  while (end > line && strchr(" \t:,;=", end[-1])) end--;
  int number = 1;
  for (const char *at = text; at < code; at++) number += *at == '\n';
  enum { MOST_NAME = 80 };
  const int n = end - line < MOST_NAME ? (int)(end - line) : MOST_NAME;
  return n ? tirc_format(memory, "%.*s", n, line) : tirc_format(memory, "%s:%d", name, number);
}

static int verify_text(Verifying *v, const char *name, const char *text) {
  const char *rest = text, *from;
  const int before = v->n;
  for (char *code; (code = next_code(&rest, &from)) != NULL;)
    verify_code(v, sender(name, text, from), code);
  if (v->n > before) return DONE;
  return complain("a code begins with tirc1. and ends with a full stop", "there is no code in '%s'",
                  name);
}

static int verify_argument(Verifying *v, const char *word) {
  char *text;
  size_t n;
  if (strncmp(word, "tirc1.", 6) == 0) {
    verify_code(v, tirc_format(memory, "code %d", v->n + 1), word);
    return DONE;
  }
  if (read_text(word, &text, &n) != DONE) return BAD;
  return verify_text(v, strcmp(word, "-") == 0 ? "<stdin>" : word, text);
}

int verify_results(const LessonOptions *o, const Course *c) {
  Verifying v = {.o = o, .c = c};
  v.prepared = tirc_alloc_array(memory, (size_t)c->n + 1, sizeof *v.prepared);
  memset(v.prepared, 0, (size_t)c->n * sizeof *v.prepared);
  v.answer = tirc_shared_memory(MOST_ANSWER);
  int status = v.answer ? DONE : complain(NULL, "there is not enough memory");
  int worst = status;
  if (status == DONE && o->args.n == 1) worst = verify_argument(&v, "-");
  for (int i = 1; i < o->args.n && status == DONE; i++) {
    const int of = verify_argument(&v, o->args.at[i]);
    if (of > worst) worst = of;
  }
  for (int i = 0; i < c->n; i++) free_prepared(&v.prepared[i]);
  tirc_shared_free(v.answer, MOST_ANSWER);
  if (v.refused || worst == BAD) return BAD;
  return v.undone ? NO : worst;
}
