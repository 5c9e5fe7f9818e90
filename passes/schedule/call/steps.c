/* Steps are recorded around tirc_sched_call. The sentences come from primitives.def: a template a
 * primitive, filled with arguments that were put into words before the call and with its result. */
#include "steps.h"

#include "ir/tree/print.h"
#include "passes/schedule/shape/shape.h"

/* --- values in words -------------------------------------------------------------------------- */

static void add_words(Sched *s, Text *t, Value v, int depth);

static void add_list(Sched *s, Text *t, const ValueList *l, int depth) {
  if (l->n == 0) tirc_text_add(t, "none");
  for (int i = 0; i < l->n; i++) {
    if (i) tirc_text_add(t, i + 1 < l->n ? ", " : " and ");
    add_words(s, t, l->at[i], depth + 1);
  }
}

static void add_words(Sched *s, Text *t, Value v, int depth) {
  enum { MAX_DEPTH = 4 };
  const bool handle = v.kind == VAL_LOOP || v.kind == VAL_BLOCK;
  const SRef *r = handle ? tirc_sref_known(s, v) : NULL;
  if (v.kind == VAL_LOOP) { /* "j (768)" */
    tirc_text_add(t, v.u.expr->op == OP_VAR ? v.u.expr->u.s : "a loop");
    if (r) tirc_text_addf(t, " (%s)", tirc_print_expr(s->c, tirc_loop_of(r)->extent));
  } else if (v.kind == VAL_BLOCK) {
    tirc_text_add(t, r ? tirc_name_of(r) : "a block");
  } else if (v.kind == VAL_STR) {
    tirc_text_add(t, v.u.s);
  } else if (v.kind == VAL_BUFFER) {
    tirc_text_add(t, v.u.buffer->name);
  } else if (tirc_is_sequence(v) && depth < MAX_DEPTH) {
    add_list(s, t, v.u.list, depth);
  } else {
    tirc_text_add(t, tirc_value_repr(s->c, v));
  }
}

/* The buffer that a BUFFER_INDEX or BUFFER argument is about, by name. */
static const char *buffer_words(Sched *s, const Primitive *p, const Value *bound, int i) {
  Value v = bound[i];
  bool is_write = strcmp(p->params[i].name, "read_buffer_index") != 0;
  if (v.kind == VAL_TUPLE && v.u.list->n == 2 && v.u.list->at[0].kind == VAL_STR) {
    is_write = !strcmp(v.u.list->at[0].u.s, "write");
    v = v.u.list->at[1];
  }
  if (v.kind == VAL_BUFFER) return v.u.buffer->name;
  if (v.kind == VAL_STR) return v.u.s;
  for (int k = 0; k < p->n_params && v.kind == VAL_INT; k++) {
    if (bound[k].kind != VAL_BLOCK) continue;
    const SRef *r = tirc_sref_known(s, bound[k]);
    if (!r) continue;
    const Block *b = tirc_block_of(r);
    const Regions all = tirc_declared(b, is_write);
    if (v.u.i >= 0 && v.u.i < all.n) return all.at[v.u.i].buffer->name;
  }
  return "a buffer";
}

/* --- sentences -------------------------------------------------------------------------------- */

static const char *word_for(Sched *s, const Primitive *p, const StepDraft *d, const Value *result,
                            const char *name, size_t n) {
  if (n == 6 && !strncmp(name, "result", n)) {
    Text t = {.c = s->c};
    add_words(s, &t, *result, 0);
    return t.at;
  }
  for (int i = 0; i < p->n_params; i++)
    if (strlen(p->params[i].name) == n && !strncmp(p->params[i].name, name, n)) return d->words[i];
  return "?";
}

static const char *fill(Sched *s, const Primitive *p, const StepDraft *d, const Value *result) {
  Text t = {.c = s->c};
  const char *at = p->sentence, *open;
  while ((open = strchr(at, '{')) != NULL) {
    size_t n = strcspn(open + 1, "}");
    tirc_text_addn(&t, at, (size_t)(open - at));
    tirc_text_add(&t, word_for(s, p, d, result, open + 1, n));
    at = open + n + 2;
  }
  tirc_text_add(&t, at);
  return t.at;
}

/* --- recording -------------------------------------------------------------------------------- */

void tirc_sched_record(Sched *s, SchedSteps *steps) {
  s->steps = steps;
  if (steps) steps->c = s->c;
}

StepDraft tirc_step_begin(Sched *s, const Primitive *p, const char *call) {
  return (StepDraft){
      .before = s->mod, .call = call, .words = tirc_new_array(s->c, const char *, p->n_params + 1)};
}

void tirc_step_describe(Sched *s, const Primitive *p, const Value *bound, StepDraft *d) {
  for (int i = 0; i < p->n_params; i++) {
    ParamKind kind = p->params[i].kind;
    Text t = {.c = s->c};
    if (kind == PARAM_BUFFER_INDEX || kind == PARAM_BUFFER)
      tirc_text_add(&t, buffer_words(s, p, bound, i));
    else
      add_words(s, &t, bound[i], 0);
    d->words[i] = t.at;
  }
}

void tirc_step_end(Sched *s, const Primitive *p, Loc loc, const StepDraft *d, const Value *result) {
  SchedStep step = {.p = p, .loc = loc, .call = d->call, .before = d->before, .after = s->mod};
  if (result) {
    Warning *warnings = tirc_new_array(s->c, Warning, s->warnings.n);
    step.sentence = fill(s, p, d, result);
    for (int i = 0; i < s->warnings.n; i++) warnings[i] = s->warnings.at[i];
    step.n_warnings = s->warnings.n;
    step.warnings = warnings;
  } else {
    Diag *diag = tirc_copy(s->c, &s->c->diag, 1);
    step.error = diag;
    step.after = step.before;
    step.sentence = tirc_format(s->c, "%s is refused: nothing changes.", p->name);
  }
  vec_push(s->steps->c, s->steps->list, step);
}
