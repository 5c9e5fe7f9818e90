/* The door of the compiler in a page: one question in, one answer out, both JSON. A question is
 *
 *     {"do": "steps", "program": TEXT, "schedule": TEXT, ...}
 *
 * and `actions` below has what may be asked. What a question needs is gone with its answer. */
#include "play.h"
#include "tools/kit/json.h"
#include "tools/next/next.h"
#include "tools/step/step.h"
#include "tools/teach/teach.h"

#include <stdlib.h>
#include <string.h>

static const char *const program_name = "program.tir", *const script_name = "schedule.sch";
/* A script, and a program that is run, end after so many: a page is not to be waited for. */
enum { SCRIPT_STEPS = 2000000, RUN_STEPS = 20000000 };

/* --- the question ----------------------------------------------------------------------------- */

typedef struct Question {
  Json *j;
  const char *program, *schedule, *target;
  size_t n_program, n_schedule; /* bytes: there may be zeros in a text */
  List define, instance;
} Question;

static const char *text_or(Json *j, const char *key, const char *otherwise) {
  const char *text = text_in(j, key);
  return text ? text : otherwise;
}

static size_t length_in(Json *j, const char *key) {
  Json *v = NULL;
  return json_object_object_get_ex(j, key, &v) ? (size_t)json_object_get_string_len(v) : 0;
}

static List list_in(Json *j, const char *key) {
  Json *list = NULL;
  List out = {0};
  if (!json_object_object_get_ex(j, key, &list) || !json_object_is_type(list, json_type_array))
    return out;
  for (size_t i = 0; i < json_object_array_length(list); i++)
    if (json_object_is_type(json_object_array_get_idx(list, i), json_type_string))
      *one_more(out.at, out.n) = json_object_get_string(json_object_array_get_idx(list, i));
  return out;
}

static Question read_question(Json *j) {
  return (Question){.j = j,
                    .program = text_or(j, "program", ""),
                    .schedule = text_or(j, "schedule", ""),
                    .n_program = length_in(j, "program"),
                    .n_schedule = length_in(j, "schedule"),
                    .target = text_in(j, "target"),
                    .define = list_in(j, "define"),
                    .instance = list_in(j, "instance")};
}

/* --- what is made of it ----------------------------------------------------------------------- */

typedef struct Made {
  tirc_module *program;
  tirc_steps *steps;
  Json *warnings; /* of the program */
  Json *printed;  /* by the script */
} Made;

static void describe_error(Json *answer, const tirc_error *e) {
  Json *j = error_as_json(e);
  add_int(j, "status", tirc_error_status(e));
  add_json(answer, "error", j);
  Json *explained = json_object_new_object();
  explain_error(explained, e);
  add_json(answer, "explanations", explained);
}

static void add_error(Json *answer, tirc_error *e) {
  describe_error(answer, e);
  tirc_error_free(e);
}

/* An error that the library did not raise. */
static void add_message(Json *answer, const char *code, const char *message) {
  Json *error = json_object_new_object();
  add_json(error, "code", json_object_new_string(code));
  add_json(error, "message", json_object_new_string(message));
  add_json(answer, "error", error);
}

static void hear_warning(void *self, const char *file, int line, int column, const char *message,
                         const char *code) {
  Made *made = self;
  (void)line, (void)column;
  if (file && strcmp(file, program_name) == 0) add_warning(&made->warnings, code, message);
}

static void hear_print(void *self, const char *text) {
  Made *made = self;
  json_object_array_add(made->printed, json_text(text));
}

static tirc_schedule_options options_for(const Question *q, Made *made) {
  return (tirc_schedule_options){.target = q->target,
                                 .max_steps = SCRIPT_STEPS,
                                 .self = made,
                                 .print = hear_print,
                                 .warn = hear_warning};
}

static bool parse(const Question *q, tirc_module **out, Json *answer) {
  tirc_define *defines = tirc_alloc_array(memory, (size_t)q->define.n + 1, sizeof *defines);
  tirc_error *e = NULL;
  for (int i = 0; i < q->define.n; i++) {
    const char *text = q->define.at[i], *equals = strchr(text, '=');
    defines[i].name = equals ? tirc_strndup(memory, text, (size_t)(equals - text)) : text;
    defines[i].value = equals ? equals + 1 : "";
  }
  const bool failed = tirc_module_parse(q->program, q->n_program, program_name, q->define.n,
                                        defines, out, &e) != TIRC_OK;
  if (failed) add_error(answer, e);
  return !failed;
}

/* False: the answer has the error. A script that fails has made steps, too. */
static bool make_steps(const Question *q, Made *made, Json *answer) {
  tirc_error *e = NULL;
  if (!parse(q, &made->program, answer)) return false;
  made->printed = json_object_new_array();
  const tirc_schedule_options options = options_for(q, made);
  (void)tirc_module_check(made->program, &options, NULL);
  if (tirc_module_steps_text(made->program, q->schedule, q->n_schedule, script_name, &options,
                             &made->steps, &e) == TIRC_OK)
    return true;
  add_error(answer, e);
  return false;
}

static void free_made(Made *made) {
  json_object_put(made->warnings);
  json_object_put(made->printed);
  tirc_steps_free(made->steps);
  tirc_module_free(made->program);
}

static StepChoice all_of(const Made *made) {
  StepChoice choice = {.n = tirc_steps_count(made->steps), .warnings = made->warnings};
  choice.shown = tirc_alloc_array(memory, (size_t)choice.n + 1, sizeof *choice.shown);
  for (int i = 0; i < choice.n; i++) choice.shown[i] = true;
  return choice;
}

/* The program after step number `step` of the question; without one, after the last that went well.
 */
static const tirc_module *module_at(const Question *q, const Made *made) {
  Json *at = NULL;
  const int n = tirc_steps_count(made->steps);
  const int k = json_object_object_get_ex(q->j, "step", &at) ? json_object_get_int(at) : n;
  const tirc_view *v = k > 0 && n > 0 ? tirc_steps_at(made->steps, k < n ? k - 1 : n - 1)->after
                                      : tirc_steps_first(made->steps);
  return tirc_steps_module(made->steps, v);
}

/* --- the actions ------------------------------------------------------------------------------ */

/* What the page shows of the steps, as `tirc step --html` has it. */
static void do_steps(const Question *q, Json **answer) {
  Made made = {0};
  if (make_steps(q, &made, *answer)) {
    const ProgramText program = {program_name, (char *)(uintptr_t)q->program, q->n_program};
    const StepChoice choice = all_of(&made);
    json_object_put(*answer);
    *answer = page_data(&program, script_name, made.steps, &choice);
    add_json(*answer, "printed", json_object_get(made.printed));
    if (tirc_steps_error(made.steps))
      add_int(*answer, "status", tirc_error_status(tirc_steps_error(made.steps)));
  }
  free_made(&made);
}

/* The accesses of a small instance; null where there is none. */
static void do_run(const Question *q, Json **answer) {
  Made made = {0};
  const char *names[] = {program_name, script_name};
  const StepOptions o = {
      .make.from = {.args = {2, names}, .target = q->target, .script_steps = SCRIPT_STEPS},
      .instance = q->instance};
  const ProgramText program = {program_name, (char *)(uintptr_t)q->program, q->n_program};
  if (make_steps(q, &made, *answer))
    add_json(*answer, "run", page_traces(&o, &program, made.program, made.steps));
  free_made(&made);
}

static const struct {
  const char *name, *target;
  tirc_emit_kind kind;
} kinds[] = {
    {"c", NULL, TIRC_EMIT_C},
    {"portable-c", NULL, TIRC_EMIT_PORTABLE_C},
    {"header", NULL, TIRC_EMIT_HEADER},
    {"cuda", "sm_80", TIRC_EMIT_CUDA},
    {"opencl", "opencl", TIRC_EMIT_OPENCL},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static bool lower(const tirc_module *m, const char *target, char **text, tirc_error **e) {
  tirc_module *lowered = NULL;
  const bool ok = tirc_module_lower_for(m, target, NULL, NULL, &lowered, e) == TIRC_OK &&
                  tirc_module_print(lowered, text, e) == TIRC_OK;
  tirc_module_free(lowered);
  return ok;
}

static bool emit(const Question *q, const tirc_module *m, const char *kind, char **text,
                 tirc_error **e) {
  size_t n = 0;
  for (int i = 0; i < N_KINDS; i++)
    if (strcmp(kinds[i].name, kind) == 0)
      return tirc_module_emit(m, kinds[i].kind, q->target ? q->target : kinds[i].target, NULL, text,
                              &n, e) == TIRC_OK;
  return lower(m, q->target, text, e);
}

/* The program after a step as code of a kind, or lowered. */
static void do_code(const Question *q, Json **answer) {
  Made made = {0};
  tirc_error *e = NULL;
  char *text = NULL;
  if (make_steps(q, &made, *answer)) {
    if (emit(q, module_at(q, &made), text_or(q->j, "kind", "lowered"), &text, &e))
      add_text(*answer, "text", text);
    else
      add_error(*answer, e);
  }
  tirc_string_free(text);
  free_made(&made);
}

static Json *proposal_as_json(const Proposals *p, int i) {
  Json *j = json_object_new_object();
  add_text(j, "call", p->at[i].text);
  add_number(j, "times", p->now / p->at[i].cycles);
  return j;
}

static Json *refusal_as_json(const Refusal *r) {
  Json *j = json_object_new_object();
  add_text(j, "call", r->text);
  add_text(j, "code", r->code);
  add_text(j, "message", r->message);
  add_some(j, "condition", r->condition);
  add_some(j, "hint", r->hint);
  add_some(j, "wrong", r->wrong);
  return j;
}

static NextQuestion next_question(const Question *q, const Made *made) {
  return (NextQuestion){.program = made->program,
                        .text = q->program,
                        .script = q->schedule,
                        .script_name = script_name,
                        .target = q->target,
                        .focus = text_or(q->j, "focus", ""),
                        .max_steps = SCRIPT_STEPS,
                        .threads = 8,
                        .refused = true};
}

static void add_proposals(Json *answer, const Proposals *p) {
  Json *legal = json_object_new_array(), *refused = json_object_new_array();
  for (int i = 0; i < p->n; i++) json_object_array_add(legal, proposal_as_json(p, i));
  for (int i = 0; i < p->n_refused; i++)
    json_object_array_add(refused, refusal_as_json(&p->refused[i]));
  add_json(answer, "legal", legal);
  add_json(answer, "refused", refused);
}

/* What may be done next, the best first, and what may not, and why; nothing behind a call that is
 * refused. */
static void do_next(const Question *q, Json **answer) {
  Made made = {0};
  Proposals *p = tirc_alloc(memory, sizeof *p);
  tirc_error *e = NULL;
  const bool stepped = make_steps(q, &made, *answer);
  if (stepped && tirc_steps_error(made.steps)) {
    describe_error(*answer, tirc_steps_error(made.steps));
  } else if (stepped) {
    NextQuestion ask = next_question(q, &made);
    ask.now = module_at(q, &made);
    const int status = find_next(&ask, p, &e);
    if (status == BAD) add_error(*answer, e);
    if (status == NO) add_message(*answer, "argument", "there is no such block or loop");
    if (status == DONE) add_proposals(*answer, p);
  }
  free_made(&made);
}

/* What a call would make wrong that is refused behind the schedule. */
static void do_wrong(const Question *q, Json **answer) {
  Made made = {0};
  Proposals *p = tirc_alloc(memory, sizeof *p);
  Refusal call = {.text = text_or(q->j, "call", "")};
  *p = (Proposals){.n_refused = 1, .refused = &call};
  if (parse(q, &made.program, *answer)) {
    const NextQuestion ask = next_question(q, &made);
    find_wrong(&ask, p);
    add_some(*answer, "wrong", call.wrong);
  }
  free_made(&made);
}

/* The program after a step on the emulator of a GPU: races, and barriers that not all threads
 * reach. */
static void do_emulate(const Question *q, Json **answer) {
  Made made = {0};
  tirc_module *lowered = NULL;
  tirc_argument *args = NULL;
  tirc_emulate_report done = {0};
  tirc_error *e = NULL;
  int n = 0;
  if (make_steps(q, &made, *answer)) {
    const tirc_emulate_options options = {.max_steps = RUN_STEPS};
    const tirc_module *m = module_at(q, &made);
    if (!small_arguments(m, &q->instance, &n, &args, &e) ||
        tirc_module_lower_for(m, q->target ? q->target : "sm_80", NULL, NULL, &lowered, &e) ||
        tirc_module_emulate(lowered, NULL, n, args, &options, &done, &e))
      add_error(*answer, e);
    add_int(*answer, "launches", done.launches);
    add_int(*answer, "blocks", done.blocks);
    add_int(*answer, "barriers", done.barriers);
  }
  if (args) free_arguments(n, args);
  tirc_module_free(lowered);
  free_made(&made);
}

/* The scheduled program as text: what `tirc apply` writes. */
static void do_apply(const Question *q, Json **answer) {
  tirc_module *m = NULL, *scheduled = NULL;
  tirc_error *e = NULL;
  char *text = NULL;
  Made made = {.printed = json_object_new_array()};
  const tirc_schedule_options options = options_for(q, &made);
  if (parse(q, &m, *answer)) {
    if (tirc_module_schedule_text(m, q->schedule, q->n_schedule, script_name, &options, &scheduled,
                                  &e) ||
        tirc_module_print(scheduled, &text, &e))
      add_error(*answer, e);
    add_text(*answer, "text", text);
  }
  tirc_string_free(text);
  tirc_module_free(scheduled);
  tirc_module_free(m);
  free_made(&made);
}

static void do_words(const Question *q, Json **answer) {
  (void)q;
  json_object_put(*answer);
  *answer = words_as_json();
}

static void do_lessons(const Question *q, Json **answer) {
  (void)q;
  json_object_put(*answer);
  *answer = lessons_as_json();
}

/* What the check of an exercise says of the schedule. */
static void do_check(const Question *q, Json **answer) {
  Json *exercise = NULL;
  (void)json_object_object_get_ex(q->j, "exercise", &exercise);
  add_json(*answer, "verdict", verdict_as_json(exercise, q->schedule));
}

/* How large the heap has become: after a thousand questions no larger than after a few. */
static void do_memory(const Question *q, Json **answer) {
  (void)q;
  add_int(*answer, "bytes", bytes_taken());
}

static const struct {
  const char *name;
  void (*answer)(const Question *q, Json **answer);
} actions[] = {
    {"steps", do_steps},     {"run", do_run},     {"code", do_code},       {"next", do_next},
    {"wrong", do_wrong},     {"apply", do_apply}, {"emulate", do_emulate}, {"words", do_words},
    {"lessons", do_lessons}, {"check", do_check}, {"memory", do_memory},
};
enum { N_ACTIONS = sizeof actions / sizeof *actions };

/* --- the door --------------------------------------------------------------------------------- */

static Json *answer_to(Json *question) {
  Json *answer = json_object_new_object();
  const Question q = read_question(question);
  const char *what = text_or(question, "do", "");
  for (int i = 0; i < N_ACTIONS; i++)
    if (strcmp(actions[i].name, what) == 0) actions[i].answer(&q, &answer);
  return answer;
}

static Json *no_memory(void) {
  Json *answer = json_object_new_object();
  add_message(answer, "memory", "out of memory");
  return answer;
}

char *tirc_answer(const char *question) {
  memory = tirc_context_new();
  Json *j = json_tokener_parse(question), *answer = NULL;
  Trap trap;
  if (TIRC_TRY(memory, trap)) {
    answer = answer_to(j);
    TIRC_END(memory, trap);
  } else {
    answer = no_memory();
  }
  char *text = strdup(json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PLAIN));
  json_object_put(answer);
  json_object_put(j);
  tirc_context_release(memory);
  memory = NULL;
  return text;
}
