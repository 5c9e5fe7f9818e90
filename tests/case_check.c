/* Running one case and comparing: the verdict, the failing call, the resulting program; and the
 * laws that hold for every schedule: a failed call leaves the module and every handle as they were,
 * and what the printer prints reads back as the same program. */
#include "cases.h"
#include "ir/arith/equal.h"
#include "ir/arith/hash.h"
#include "ir/tree/print.h"
#include "ir/tree/verify.h"
#include "ir/tree/visit.h"
#include "meaning.h"
#include "parser/program.h"
#include "passes/replay/replay.h"
#include "passes/schedule/meaning/meaning.h"
#include "passes/script/script.h"
#include "passes/words/docs.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Run {
  Tirc *c;
  const Module *mod;     /* the module after the last call, */
  const char *text;      /* and as it printed */
  const char *violation; /* of a law, or NULL */
  Seen *seen;
} Run;

/* How many loops and blocks the program has. */
typedef struct Census {
  Sched *s;
  int loops, blocks;
} Census;

/* The sref tree knows every loop and block of the module, and no other statement of theirs. */
static bool mirrored(Visitor *v, Stmt stmt) {
  Census *census = v->self;
  Sched *s = census->s;
  if (stmt->kind != STMT_FOR && stmt->kind != STMT_BLOCK) return true;
  SRef *sref = tirc_sref_find(s, stmt);
  if (!sref || sref->stmt != stmt)
    tirc_fail(s->c, s->loc, CODE_INTERNAL, NULL, "the state has lost %s %s",
              stmt->kind == STMT_FOR ? "loop" : "block",
              stmt->kind == STMT_FOR ? stmt->u.loop.var->u.s : stmt->u.block.name);
  *(stmt->kind == STMT_FOR ? &census->loops : &census->blocks) += 1;
  if (stmt->kind == STMT_FOR) return true;
  tirc_visit_stmt(v, stmt->u.block.body); /* an init is not part of the tree */
  return false;
}

static int alive(const PtrMap *handles) {
  int n = 0;
  for (size_t i = 0; i < handles->cap; i++) n += handles->values[i] != NULL;
  return n;
}

static const char *state_fault(Sched *s) {
  Census census = {.s = s};
  Visitor v = {.stmt = mirrored, .self = &census};
  Trap trap;
  if (TIRC_TRY(s->c, trap)) {
    for (int i = 0; i < s->mod->n_funcs; i++)
      if (s->mod->funcs[i]->body->kind == STMT_BLOCK) tirc_visit_stmt(&v, s->mod->funcs[i]->body);
    TIRC_END(s->c, trap);
    bool more = alive(&s->loops) != census.loops || alive(&s->blocks) != census.blocks;
    return more ? "handles of loops or blocks that are gone are alive" : NULL;
  }
  return s->c->diag.message;
}

static const Module *parse(Tirc *c, const char *name, const char *text) {
  Source source = {name, text, strlen(text)};
  return tirc_parse_module(c, &source, 0, NULL);
}

/* NULL when the programs are equal, and so are their hashes. */
static const char *case_difference(Tirc *c, const Module *a, const Module *b) {
  const char *difference = tirc_module_difference(c, a, b);
  if (difference) return difference;
  const ModuleHash x = tirc_hash_module(c, a), y = tirc_hash_module(c, b);
  return memcmp(&x, &y, sizeof x) ? "the programs are equal and their hashes differ" : NULL;
}

static const char *in_dialect(Tirc *c, const Module *m, Dialect d) {
  Module copy = *m;
  copy.dialect = d;
  return tirc_print_module(c, &copy, NULL);
}

static const char *check_round_trip(Tirc *c, const Module *m) {
  for (int d = 0; d < N_DIALECTS; d++) {
    const char *text = in_dialect(c, m, (Dialect)d);
    const Module *again = parse(c, "printed", text);
    const char *difference = case_difference(c, m, again);
    if (difference) return tirc_format(c, "printed and parsed again: %s\n%s", difference, text);
    const char *twice = in_dialect(c, again, (Dialect)d);
    if (strcmp(text, twice))
      return tirc_format(c, "printed twice, it differs:\n%s\n--- and\n%s", text, twice);
  }
  return NULL;
}

/* The module after a call is well formed and reads back as printed. */
static const char *module_fault(Tirc *c, const Module *m) {
  const char *fault = NULL;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    fault = check_round_trip(c, m);
    tirc_verify(c, m);
    TIRC_END(c, trap);
    return fault;
  }
  return tirc_format(c, "not well formed: %s\n%s", c->diag.message, tirc_print_module(c, m, NULL));
}

/* call: "sch.split(...", with what it is assigned to before it or not. */
static void note_call(Seen *seen, const char *call, const Diag *diag) {
  for (int i = 0; diag && i < SERR_COUNT; i++)
    if (i == (int)diag->code) seen->raised[i] = true;
  const char *name = strncmp(call, "sch.", 4) ? call : call + 4;
  size_t n = strcspn(name, "(");
  for (int i = 0; i < tirc_n_primitives && i < MAX_PRIMITIVES; i++)
    if (strlen(tirc_primitives[i].name) == n && !strncmp(tirc_primitives[i].name, name, n))
      *(diag ? &seen->refused[i] : &seen->legal[i]) += 1;
}

/* What an error is about is underlined in the program, but for a block that is not there. */
static bool points_nowhere(Tirc *c, const Diag *d) {
  const char *shown = tirc_print_marked(c, d->ir);
  return d->status == TIRC_STATUS_NO && d->primitive && d->code != SERR_BLOCK_NOT_FOUND &&
         !(shown && strchr(shown, '^'));
}

/* Handles are the variables of loops and the ids of blocks, so the very same module means the same
 * handles: state_fault then sees that exactly these are alive. */
static void watch(void *self, Sched *s, const char *call, Loc loc, const Diag *diag) {
  Run *run = self;
  (void)loc;
  note_call(run->seen, call, diag);
  if (run->violation) return;
  const char *text = tirc_print_module(run->c, s->mod, NULL);
  if (diag && strcmp(text, run->text))
    run->violation = tirc_format(run->c, "%s failed (%s), but the module changed to\n%s", call,
                                 diag->message, text);
  if (diag && diag->primitive && !run->violation && !tirc_may_raise(diag->primitive, diag->code))
    run->violation = tirc_format(run->c, "the documentation of %s does not name %s: %s",
                                 diag->primitive, tirc_codes[diag->code].text, diag->message);
  if (diag && s->mod != run->mod && !run->violation)
    run->violation =
        tirc_format(run->c, "%s failed (%s), but left another module", call, diag->message);
  if (diag && points_nowhere(run->c, diag) && !run->violation)
    run->violation =
        tirc_format(run->c, "%s failed (%s), and nothing is underlined", call, diag->message);
  bool changed = strcmp(text, run->text) != 0;
  run->mod = s->mod;
  run->text = text;
  const char *fault = run->violation ? NULL : state_fault(s);
  if (!fault && changed) fault = module_fault(run->c, s->mod);
  if (fault) run->violation = tirc_format(run->c, "after %s: %s", call, fault);
}

/* The line of the schedule that is its n-th non-empty one. */
static int line_of_call(const char *schedule, int n) {
  int line = 1, seen = 0;
  for (const char *s = schedule; *s; line++) {
    size_t length = strcspn(s, "\n");
    if (strspn(s, " \t\r") < length && ++seen == n) return line;
    s += length + (s[length] == '\n');
  }
  return 0;
}

static bool expects_warning(const Case *test) { return !strcmp(test->verdict, "warning"); }

static const char *verdict_of(const Case *test, const Diag *diag) {
  return diag->status != TIRC_STATUS_NO ? "argument-error"
         : expects_warning(test)        ? "warning"
                                        : "ScheduleError";
}

static void raise_warning(void *c, Warning w) { tirc_raise_warning(c, w); }

static const char *describe(Tirc *c, const Diag *d) {
  return tirc_format(c, "%s:%d:%d: [%s] %s%s%s", d->loc.file ? d->loc.file : "?", d->loc.line,
                     d->loc.column, tirc_codes[d->code].text, d->message, d->condition ? "; " : "",
                     d->condition ? d->condition : "");
}

/* Whether a failure is one that the case expects; NULL or why not. */
static const char *check_failure(Tirc *c, const Case *test, const Diag *diag) {
  bool any = test->reference_fault || !strcmp(test->verdict, "other-error");
  if (diag->code == CODE_LIMIT || diag->code == CODE_MEMORY) return describe(c, diag);
  if (!any && strcmp(test->verdict, verdict_of(test, diag)))
    return tirc_format(c, "expected %s, got %s: %s", test->verdict, verdict_of(test, diag),
                       describe(c, diag));
  if (any && diag->status != TIRC_STATUS_NO && strcmp(test->verdict, "other-error"))
    return tirc_format(c, "expected a ScheduleError, got %s", describe(c, diag));
  int line = line_of_call(test->schedule, test->fails_at_call);
  if (test->fails_at_call && !any && diag->loc.line != line)
    return tirc_format(c, "expected line %d to fail, got %s", line, describe(c, diag));
  if (test->code && strcmp(test->code, tirc_codes[diag->code].text))
    return tirc_format(c, "expected code %s, got %s", test->code, describe(c, diag));
  if (test->message && !strstr(diag->message, test->message))
    return tirc_format(c, "the message lacks '%s': %s", test->message, describe(c, diag));
  if (test->condition && !(diag->condition && strstr(diag->condition, test->condition)))
    return tirc_format(c, "the condition lacks '%s': %s", test->condition,
                       diag->condition ? diag->condition : "none");
  if (test->hint && !(diag->hint && strstr(diag->hint, test->hint)))
    return tirc_format(c, "the hint lacks '%s': %s", test->hint, diag->hint ? diag->hint : "none");
  return NULL;
}

static const char *check_result(Tirc *c, const Case *test, const Module *m) {
  bool any = test->reference_fault || !strcmp(test->verdict, "other-error");
  if (strcmp(test->verdict, "legal") && !any)
    return tirc_format(c, "expected %s at line %d, but it is legal", test->verdict,
                       line_of_call(test->schedule, test->fails_at_call));
  if (test->result && !test->reference_fault) {
    const Module *expected = parse(c, "result", test->result);
    const char *difference = case_difference(c, expected, m);
    if (difference)
      return tirc_format(c, "the result differs: %s\n%s", difference,
                         tirc_print_module(c, m, NULL));
  }
  return check_round_trip(c, m);
}

static const Trace *read_trace(Tirc *c, const char *json) {
  return tirc_trace_read(c, "trace", json, strlen(json), 0).trace;
}

/* The trace, printed as a script, as JSON, and as the script of that JSON, makes the same program
 * again. A script that registers intrinsics takes their functions out of the module, which is no
 * part of a trace. */
static const char *check_trace_in(Tirc *c, const Module *m, Sched *s, Dialect d) {
  const char *json = tirc_value_to_json(c, tirc_trace_as_value(c, s->trace, false, d));
  const char *const texts[] = {tirc_trace_python(c, s->trace, false, d), json,
                               tirc_trace_python(c, read_trace(c, json), false, d)};
  for (int i = 0; i < 3; i++) {
    const char *text = texts[i];
    Sched *again = tirc_sched_new(c, m);
    Source source = {"trace", text, strlen(text)};
    again->intrins = s->intrins;
    tirc_script_serve(again);
    Trap trap;
    if (TIRC_TRY(c, trap)) {
      if (text == json)
        tirc_trace_apply(again, read_trace(c, json), false, NULL, (Loc){"trace", 1, 1},
                         "the trace");
      else
        tirc_run_script(again, &source, NULL, NULL, NULL, NULL);
      TIRC_END(c, trap);
    } else {
      return tirc_format(c, "its trace fails: %s\n%s", describe(c, &c->diag), text);
    }
    const char *difference = s->intrins ? NULL : case_difference(c, s->mod, again->mod);
    if (difference) return tirc_format(c, "its trace differs: %s\n%s", difference, text);
  }
  return NULL;
}

static const char *check_trace(Tirc *c, const Module *m, Sched *s) {
  const char *failure = check_trace_in(c, m, s, DIALECT_TIR);
  return failure ? failure : check_trace_in(c, m, s, DIALECT_TIRX);
}

typedef struct Computed {
  char *program;
  Values values; /* after it ran */
  bool runs;
} Computed;

static void forget(Computed *k) {
  if (!k) return;
  values_free(&k->values);
  free(k->program);
  free(k);
}

void case_forget(Seen *seen) {
  for (int i = 0; i < MOST_COMPUTED; i++) {
    forget(seen->computed[i]);
    seen->computed[i] = NULL;
  }
}

static const Computed *computed(Tirc *c, const char *program, const Func *f, int set, Seen *seen) {
  for (int i = 0; i < MOST_COMPUTED; i++) {
    const Computed *known = seen->computed[i];
    if (known && known->values.set == set && !strcmp(known->program, program)) return known;
  }
  Computed **at = &seen->computed[seen->next++ % MOST_COMPUTED];
  forget(*at);
  *at = NULL;
  Computed *k = calloc(1, sizeof *k);
  const InterpOptions options = {.max_steps = VALUES_MAX_STEPS};
  *k = (Computed){.program = strdup(program), .values = {.set = set, .tolerance = 1e-4}};
  values_make(c, f, &k->values);
  k->runs = !values_run(c, f, &k->values, &options);
  return *at = k;
}

/* NULL when a function computes what the program's one did. */
static const char *check_numbers(Tirc *c, const char *program, const Func *before, const Module *m,
                                 int set, Seen *seen) {
  bool early;
  const Computed *k = computed(c, program, before, set, seen);
  const char *why =
      k->runs ? values_check(c, before, m, tirc_module_main(m), &k->values, &early) : NULL;
  return why ? tirc_format(c, "it computes something else: %s%s", values_sizes_text(c, before, set),
                           why)
             : NULL;
}

/* The same of the main function before and after the schedule. After unsafe calls the numbers are
 * the user's own affair. */
static const char *check_meaning(Tirc *c, const Case *test, const Module *m, const Sched *s,
                                 Seen *seen) {
  enum { SETS = 3 }; /* of sizes */
  const Func *f = tirc_module_main(m), *now = tirc_module_main(s->mod);
  const char *why = NULL;
  if (strstr(test->schedule, "unsafe_") || strstr(test->schedule, "annotate_buffer_access") || !f ||
      !now || strcmp(f->name, now->name))
    return NULL;
  if (values_can_be_made(c, f, 0)) return check_numbers(c, test->program, f, s->mod, 0, seen);
  for (int set = 1; set <= SETS && !why; set++)
    if (values_can_be_made(c, f, set)) why = check_numbers(c, test->program, f, s->mod, set, seen);
  return why;
}

static const char *check(Tirc *c, const Case *test, Seen *seen) {
  const Module *m = parse(c, "program", test->program);
  Sched *s = tirc_sched_new(c, m);
  Run *run = tirc_new(c, Run);
  *run = (Run){.c = c, .mod = s->mod, .text = tirc_print_module(c, s->mod, NULL), .seen = seen};
  Source schedule = {"schedule", test->schedule, strlen(test->schedule)};
  const char *failure;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    s->strict = test->strict || expects_warning(test);
    if (s->strict) tirc_program_warnings(tirc_sched_new(c, m), raise_warning, c);
    tirc_run_script(s, &schedule, NULL, NULL, watch, run);
    TIRC_END(c, trap);
    failure = check_result(c, test, s->mod);
    if (!failure) failure = check_trace(c, m, s);
    if (!failure) failure = check_meaning(c, test, m, s, seen);
  } else {
    Diag diag = c->diag;
    failure = check_failure(c, test, &diag);
  }
  return failure ? failure : run->violation;
}

static char *check_apart(const Case *test, Seen *seen) {
  Tirc *c = tirc_context_new();
  char *out;
  if (!c) return strdup("no memory");
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    const char *failure = check(c, test, seen);
    out = failure ? strdup(failure) : NULL;
    TIRC_END(c, trap);
  } else {
    const Diag *d = &c->diag;
    char buf[1000];
    snprintf(buf, sizeof buf, "unexpected: %s:%d:%d: [%s] %s", d->loc.file ? d->loc.file : "?",
             d->loc.line, d->loc.column, tirc_codes[d->code].text, d->message);
    out = strdup(buf);
  }
  tirc_context_release(c);
  return out;
}

char *case_check(const Case *test, Seen *seen) {
  Seen own = {0};
  char *out = check_apart(test, seen ? seen : &own);
  case_forget(&own);
  return out;
}
