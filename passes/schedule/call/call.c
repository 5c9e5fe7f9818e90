/* One call of a primitive: arguments are bound to parameters as Python binds
 * them, each is checked and converted by the row of its kind, the primitive runs, and when it fails
 * the schedule is put back and the error is completed with what only the caller knows: the call as
 * text, its place, and the program with the offending statements underlined. */
#include "ir/nearest.h"
#include "ir/number.h"
#include "ir/tree/print.h"
#include "ir/tree/verify.h"
#include "ir/utf8.h"
#include "passes/schedule/loops/loops.h"
#include "passes/schedule/state/state.h"
#include "recording.h"
#include "steps.h"

#include <stdlib.h>

/* --- the table -------------------------------------------------------------------------------- */

static void (*const appliers[])(Sched *, const Value *, Value *) = {
#define PRIMITIVE(name, params, help, instruction, flags, sentence) tirc_prim_##name,
#include "passes/words/primitives.def"
#undef PRIMITIVE
};

/* --- the call as text ------------------------------------------------------------------------- */

static void add_value(Text *t, Value v, int depth, const void *sched) {
  enum { MAX_DEPTH = 8 };
  const SRef *block = v.kind == VAL_BLOCK ? tirc_sref_known(sched, v) : NULL;
  if (block)
    tirc_text_add(t, tirc_name_of(block));
  else if (tirc_is_sequence(v) && depth < MAX_DEPTH)
    tirc_add_container(t, v, depth, add_value, sched);
  else
    tirc_text_add(t, tirc_value_repr(t->c, v));
}

/* A long one is cut. */
static void add_argument(Sched *s, Text *t, Value v) {
  enum { LONGEST = 400 };
  const size_t end = t->n + LONGEST;
  add_value(t, v, 0, s);
  if (t->n <= end) return;
  for (t->n = end; tirc_utf8_continues(t->at[t->n]);) t->n--;
  t->at[t->n] = 0;
  tirc_text_add(t, "...");
}

const char *tirc_sched_call_text(Sched *s, const Primitive *p, const Args *args) {
  Text t = {.c = s->c};
  tirc_text_addf(&t, "sch.%s(", tirc_word_in(s->mod->dialect, WORD_METHOD, p->name));
  for (int i = 0; i < args->n; i++) {
    if (i) tirc_text_add(&t, ", ");
    add_argument(s, &t, args->at[i]);
  }
  for (int i = 0; i < args->n_keywords; i++) {
    tirc_text_addf(&t, "%s%s=", args->n + i ? ", " : "", args->names[i]);
    add_argument(s, &t, args->keywords[i]);
  }
  tirc_text_add(&t, ")");
  return t.at;
}

/* --- checking and converting one argument ----------------------------------------------------- */

typedef struct Binding {
  Sched *s;
  const Primitive *p;
  const char *what; /* the parameter, or the element of it: "factors[1]" */
  const char *expected;
  const Value *all; /* what all parameters are given, and whether they are; NULL: of an element */
  const bool *given;
} Binding;

static const char *signature_hint(Sched *s, const Primitive *p) {
  return tirc_format(s->c, "the signature is sch.%s", tirc_primitive_signature(s->c, p));
}

/* Roughly whether a parameter takes a value. */
static bool suits(ParamKind kind, Value v) {
  switch (kind) {
  case PARAM_LOOP: return v.kind == VAL_LOOP;
  case PARAM_BLOCK: return v.kind == VAL_BLOCK || v.kind == VAL_STR;
  case PARAM_BLOCK_OR_LOOP: return v.kind == VAL_BLOCK || v.kind == VAL_LOOP;
  case PARAM_STR: return v.kind == VAL_STR;
  case PARAM_INT: return v.kind == VAL_INT;
  case PARAM_BUFFER_INDEX: return v.kind == VAL_INT || v.kind == VAL_STR;
  case PARAM_INTS:
  case PARAM_FACTORS: return tirc_is_sequence(v);
  case PARAM_INDEX_MAP: return v.kind == VAL_FUNCTION;
  default: return false;
  }
}

/* A hint where two arguments fit when they change places; or NULL. */
static const char *swapped(const Binding *b, Value v) {
  int here = 0;
  while (b->all && here < b->p->n_params && b->p->params[here].name != b->what) here++;
  for (int i = 0; b->all && here < b->p->n_params && i < b->p->n_params; i++)
    if (i != here && b->given[i] && !suits(b->p->params[i].kind, b->all[i]) &&
        suits(b->p->params[i].kind, v) && suits(b->p->params[here].kind, b->all[i]))
      return tirc_format(b->s->c, "the arguments are in the wrong order: sch.%s",
                         tirc_primitive_signature(b->s->c, b->p));
  return NULL;
}

/* What the parameter may be called whose name is near, and the signature. */
static const char *parameter_hint(Sched *s, const Primitive *p, const char *name) {
  Nearest best = {.wanted = name, .n_wanted = strlen(name)};
  for (int i = 0; i < p->n_params; i++)
    tirc_offer_name(&best, p->params[i].name, strlen(p->params[i].name));
  const char *near = tirc_suggest_name(&best, "", NULL);
  const char *signature = signature_hint(s, p);
  return near ? tirc_format(s->c, "%s %s", near, signature) : signature;
}

#define argument_error(s, p, ...)                                                                  \
  tirc_fail((s)->c, (s)->loc, CODE_ARGUMENT, signature_hint(s, p), __VA_ARGS__)

static _Noreturn void wrong_type_but(Binding *b, Value v, const char *hint) {
  Text t = {.c = b->s->c};
  tirc_text_addf(&t, "argument '%s' of sch.%s must be %s, but it is %s", b->what, b->p->name,
                 b->expected, tirc_a_type(b->s->c, tirc_value_type_name(v)));
  if (v.kind != VAL_NONE) {
    tirc_text_add(&t, " (");
    add_value(&t, v, 0, b->s);
    tirc_text_add(&t, ")");
  }
  if (!hint) hint = swapped(b, v);
  if (!hint) hint = signature_hint(b->s, b->p);
  tirc_fail(t.c, b->s->loc, CODE_ARGUMENT, hint, "%s", t.at);
}

static _Noreturn void wrong_type(Binding *b, Value v) { wrong_type_but(b, v, NULL); }

static Value only(Binding *b, Value v, ValueKind kind) {
  if (v.kind != kind) wrong_type(b, v);
  return v;
}

static Value convert_str(Binding *b, Value v) { return only(b, v, VAL_STR); }
static Value convert_bool(Binding *b, Value v) { return only(b, v, VAL_BOOL); }
static Value convert_function(Binding *b, Value v) { return only(b, v, VAL_FUNCTION); }

static Value convert_func(Binding *b, Value v) {
  if (v.kind != VAL_NONE) return convert_str(b, v);
  return b->s->work_on ? tirc_value_str(b->s->work_on) : v;
}

static Value convert_int(Binding *b, Value v) {
  int64_t constant;
  if (v.kind == VAL_BOOL) return tirc_value_int(v.u.b);
  if (v.kind == VAL_EXPR && tirc_const_int(v.u.expr, &constant)) return tirc_value_int(constant);
  if (v.kind != VAL_INT) wrong_type(b, v);
  return v;
}

static Value convert_float(Binding *b, Value v) {
  int64_t constant;
  if (v.kind == VAL_FLOAT) return v;
  if (v.kind == VAL_EXPR && v.u.expr->op == OP_FLOAT) return tirc_value_float(v.u.expr->u.f);
  if (v.kind == VAL_EXPR && tirc_const_int(v.u.expr, &constant))
    return tirc_value_float((double)constant);
  if (v.kind != VAL_INT && v.kind != VAL_BOOL) wrong_type(b, v);
  return tirc_value_float(v.kind == VAL_INT ? (double)v.u.i : v.u.b);
}

static _Noreturn void stale(Binding *b, const char *kind, const char *name) {
  tirc_refuse(b->s, NULL, SERR_STALE_HANDLE,
              "argument '%s' of sch.%s is the %s %s, which is no longer in the program", b->what,
              b->p->name, kind, name);
}

static Value convert_block(Binding *b, Value v) {
  if (v.kind == VAL_STR) {
    Value args[] = {v, VALUE_NONE}, found = VALUE_NONE;
    tirc_prim_get_block(b->s, args, &found);
    return tirc_trace_get_block(b->s, v, found);
  }
  if (v.kind != VAL_BLOCK) wrong_type(b, v);
  if (!tirc_sref_known(b->s, v)) stale(b, "block", tirc_value_repr(b->s->c, v));
  return v;
}

/* A hint for a list of loops where one is expected, as get_loops and split give it; or NULL. */
static const char *take_one(Binding *b, Value v) {
  if (!tirc_is_sequence(v) || !v.u.list->n) return NULL;
  Text t = {.c = b->s->c};
  for (int i = 0; i < v.u.list->n; i++) {
    if (v.u.list->at[i].kind != VAL_LOOP) return NULL;
    tirc_text_addf(&t, "%s%s", i ? ", " : "", v.u.list->at[i].u.expr->u.s);
  }
  return v.u.list->n == 1
             ? tirc_format(b->s->c, "take the loop: `%s, = sch.get_loops(block)`, or `[0]`", t.at)
             : tirc_format(b->s->c, "take one of the loops: `%s = ...`, or `[0]`", t.at);
}

/* A hint for a loop's name where its handle is expected. */
static const char *loops_of_name(Binding *b, Value v) {
  Sched *s = b->s;
  const char *loops = tirc_hint_of_loop(s, v.u.s);
  if (!loops) return swapped(b, v);
  return tirc_format(s->c, "a loop is given by its handle: %s, then %s without quotes", loops,
                     v.u.s);
}

static Value convert_loop(Binding *b, Value v) {
  if (v.kind == VAL_STR) {
    const char *hint = loops_of_name(b, v);
    wrong_type_but(
        b, v, hint ? hint : "a loop is given by its handle: `i, j = sch.get_loops(\"BLOCK\")`");
  }
  if (v.kind != VAL_LOOP) wrong_type_but(b, v, take_one(b, v));
  if (!tirc_sref_known(b->s, v)) stale(b, "loop", v.u.expr->u.s);
  return v;
}

static Value convert_location(Binding *b, Value v) {
  const Sched *s = b->s;
  bool marked = v.kind == VAL_LOOP && (v.u.expr == s->root_mark || v.u.expr == s->inline_mark);
  return marked ? v : convert_loop(b, v);
}

static Value convert_block_or_loop(Binding *b, Value v) {
  return v.kind == VAL_LOOP ? convert_loop(b, v) : convert_block(b, v);
}

static Value convert_factor(Binding *b, Value v);

/* A hint for an element where a list of such is expected, or NULL. */
static const char *list_of(Binding *b, Value v, Value (*convert)(Binding *, Value)) {
  bool number = v.kind == VAL_INT || v.kind == VAL_FLOAT;
  bool block = v.kind == VAL_STR || v.kind == VAL_BLOCK;
  Text t = {.c = b->s->c};
  if (convert == convert_block ? !block : !number) return NULL;
  add_value(&t, v, 0, b->s);
  return convert == convert_factor
             ? tirc_format(b->s->c, "write %s=[None, %s], or [%s, None]", b->what, t.at, t.at)
             : tirc_format(b->s->c, "write %s=[%s]", b->what, t.at);
}

/* Every element through `convert`; messages name the element. */
static Value convert_elements(Binding *b, Value v, const char *expected,
                              Value (*convert)(Binding *, Value)) {
  if (!tirc_is_sequence(v)) wrong_type_but(b, v, list_of(b, v, convert));
  Tirc *c = b->s->c;
  Value out = tirc_value_list(c, VAL_LIST, v.u.list->n, v.u.list->at);
  Binding element = {b->s, b->p, NULL, expected, NULL, NULL};
  for (int i = 0; i < out.u.list->n; i++) {
    element.what = tirc_format(c, "%s[%d]", b->what, i);
    out.u.list->at[i] = convert(&element, out.u.list->at[i]);
  }
  return out;
}

static Value convert_loops(Binding *b, Value v) {
  for (int i = 0; i < v.u.list->n; i++) {
    if (tirc_is_sequence(v.u.list->at[i]))
      argument_error(b->s, b->p, "sch.%s takes loops, not a list of loops: write sch.%s(*loops)",
                     b->p->name, b->p->name);
  }
  return convert_elements(b, v, "a loop", convert_loop);
}

#define A_BLOCK "a block or a block's name"

static Value convert_loop_or_blocks(Binding *b, Value v) {
  return v.kind == VAL_LOOP ? convert_loop(b, v) : convert_elements(b, v, A_BLOCK, convert_block);
}

static Value convert_factor(Binding *b, Value v) {
  if (v.kind == VAL_NONE || v.kind == VAL_INT) return v;
  if (v.kind == VAL_BOOL) return tirc_value_int(v.u.b);
  if (v.kind == VAL_LOOP) {
    convert_loop(b, v);
    v = tirc_value_expr(tirc_loop_of(tirc_sref_known(b->s, v))->extent);
  }
  if (v.kind == VAL_FLOAT) wrong_type_but(b, v, "divide integers with //: 16 // 4");
  if (v.kind != VAL_EXPR || !tirc_dtype_is_int(v.u.expr->dtype)) wrong_type(b, v);
  if (v.u.expr->op == OP_LARGE_UINT) wrong_type(b, v);
  int64_t constant;
  return tirc_const_int(v.u.expr, &constant) ? tirc_value_int(constant) : v;
}

static Value convert_buffer_index(Binding *b, Value v) {
  if (v.kind == VAL_STR || v.kind == VAL_BUFFER) return v;
  return convert_int(b, v);
}

/* ("write", 0) */
static Value convert_buffer(Binding *b, Value v) {
  if (v.kind == VAL_STR || v.kind == VAL_BUFFER) return v;
  if (v.kind != VAL_TUPLE || v.u.list->n != 2 || v.u.list->at[0].kind != VAL_STR) wrong_type(b, v);
  const char *which = v.u.list->at[0].u.s;
  if (strcmp(which, "read") && strcmp(which, "write")) wrong_type(b, v);
  Value pair[] = {v.u.list->at[0], convert_int(b, v.u.list->at[1])};
  return tirc_value_list(b->s->c, VAL_TUPLE, 2, pair);
}

static Value convert_pad_value(Binding *b, Value v) {
  static const ValueKind kinds[] = {VAL_NONE, VAL_BOOL, VAL_INT, VAL_FLOAT, VAL_EXPR, VAL_FUNCTION};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (v.kind == kinds[i]) return v;
  wrong_type(b, v);
}

static Value convert_any(Binding *b, Value v) {
  if (v.kind == VAL_BLOCK || v.kind == VAL_LOOP || v.kind == VAL_FUNCTION || v.kind == VAL_OBJECT)
    wrong_type(b, v);
  return v;
}

static const struct KindRow {
  const char *expected;
  Value (*convert)(Binding *, Value);
  const char *each; /* of a list, whose elements are converted; NULL: it is none */
  bool optional;    /* it may be None */
} kind_rows[] = {
    [PARAM_STR] = {"a str", convert_str},
    [PARAM_OPT_STR] = {"a str or None", convert_str, .optional = true},
    [PARAM_FUNC] = {"a function's name or None", convert_func},
    [PARAM_INT] = {"an int", convert_int},
    [PARAM_OPT_INT] = {"an int or None", convert_int, .optional = true},
    [PARAM_INTS] = {"a list of ints", convert_int, "an int"},
    [PARAM_OPT_INTS] = {"None or a list of ints", convert_int, "an int", true},
    [PARAM_FLOATS] = {"a list of floats", convert_float, "a float"},
    [PARAM_BOOL] = {"a bool", convert_bool},
    [PARAM_BLOCK] = {A_BLOCK, convert_block},
    [PARAM_LOOP] = {"a loop", convert_loop},
    [PARAM_LOCATION] = {"a loop", convert_location},
    [PARAM_BLOCK_OR_LOOP] = {"a block or a loop", convert_block_or_loop},
    [PARAM_LOOPS] = {"loops", convert_loops},
    [PARAM_OPT_BLOCKS] = {"None or a list of blocks", convert_block, A_BLOCK, true},
    [PARAM_FACTORS] = {"a list of factors", convert_factor, "an int, None or an expression"},
    [PARAM_LOOP_OR_BLOCKS] = {"a loop or a list of blocks", convert_loop_or_blocks},
    [PARAM_ACCESS] = {"\"read\" or \"write\"", convert_str},
    [PARAM_FUNCTION] = {"a function", convert_function},
    [PARAM_BUFFER_INDEX] = {"an int, a buffer or a buffer's name", convert_buffer_index},
    [PARAM_BUFFER] = {"a tuple such as (\"write\", 0), a buffer or a buffer's name",
                      convert_buffer},
    [PARAM_INDEX_MAP] = {"a function such as lambda i, j: (j, i)", convert_function},
    [PARAM_PAD_VALUE] = {"None, a number or a function", convert_pad_value},
    [PARAM_ANY] = {"a bool, int, float, str, list or dict", convert_any},
};

/* --- binding ---------------------------------------------------------------------------------- */

static int param_named(const Primitive *p, const char *name) {
  for (int i = 0; i < p->n_params; i++)
    if (p->params[i].kind != PARAM_LOOPS && !strcmp(p->params[i].name, name)) return i;
  return -1;
}

/* Random variables that remove_rv took away are no arguments any more. */
static void reject_removed(Binding *b, Value v) {
  if (v.rv && tirc_map_has(&b->s->removed, (void *)(uintptr_t)v.rv))
    tirc_refuse(b->s, NULL, SERR_STALE_HANDLE, "argument '%s' of sch.%s was given to remove_rv",
                b->what, b->p->name);
  if (tirc_is_sequence(v))
    for (int i = 0; i < v.u.list->n; i++) reject_removed(b, v.u.list->at[i]);
}

/* Puts each argument as given at its parameter's place. */
static void place_arguments(Sched *s, const Primitive *p, const Args *args, Value *at,
                            bool *given) {
  int taken = 0;
  for (int i = 0; i < p->n_params && taken < args->n && !p->params[i].keyword_only; i++) {
    bool star = p->params[i].kind == PARAM_LOOPS;
    at[i] =
        star ? tirc_value_list(s->c, VAL_LIST, args->n - taken, args->at + taken) : args->at[taken];
    given[i] = true;
    taken = star ? args->n : taken + 1;
  }
  if (taken < args->n)
    argument_error(s, p, "sch.%s takes at most %d argument%s, but %d %s given", p->name, taken,
                   taken == 1 ? "" : "s", args->n, args->n == 1 ? "is" : "are");
  for (int i = 0; i < args->n_keywords; i++) {
    const char *name = args->names[i];
    int k = param_named(p, name);
    if (k < 0)
      tirc_fail(s->c, s->loc, CODE_ARGUMENT, parameter_hint(s, p, name),
                "sch.%s has no parameter '%s'", p->name, name);
    if (given[k]) argument_error(s, p, "argument '%s' of sch.%s is given twice", name, p->name);
    at[k] = args->keywords[i];
    given[k] = true;
  }
}

static const Value *bind_arguments(Sched *s, const Primitive *p, const Args *args) {
  Tirc *c = s->c;
  Value *at = tirc_new_array(c, Value, p->n_params + 1);
  bool *given = tirc_new_array(c, bool, p->n_params + 1);
  place_arguments(s, p, args, at, given);
  for (int i = 0; i < p->n_params; i++) {
    const Param *param = &p->params[i];
    if (!given[i] && param->default_text)
      at[i] = tirc_default_value(c, param->default_text);
    else if (!given[i] && param->kind == PARAM_LOOPS)
      at[i] = tirc_value_list(c, VAL_LIST, 0, NULL);
    else if (!given[i])
      argument_error(s, p, "argument '%s' of sch.%s is missing", param->name, p->name);
    const struct KindRow *row = &kind_rows[param->kind];
    Binding b = {s, p, param->name, row->expected, at, given};
    if (s->removed.n) reject_removed(&b, at[i]);
    if (row->optional && at[i].kind == VAL_NONE) continue;
    at[i] =
        row->each ? convert_elements(&b, at[i], row->each, row->convert) : row->convert(&b, at[i]);
  }
  return at;
}

/* --- the call --------------------------------------------------------------------------------- */

static int function_index(const Sched *s) {
  int i = 0;
  while (i < s->mod->n_funcs && strcmp(s->mod->funcs[i]->name, s->work_on)) i++;
  return i;
}

/* A primitive that marked nothing fails on what it was called with: its blocks and loops. */
static void mark_argument(Sched *s, ParamKind kind, Value v) {
  SRefs found = {0};
  const bool handle = v.kind == VAL_BLOCK || v.kind == VAL_LOOP;
  if (handle && tirc_sref_known(s, v))
    tirc_sched_mark(s, tirc_sref_known(s, v)->stmt);
  else if (tirc_is_sequence(v))
    for (int i = 0; i < v.u.list->n; i++) mark_argument(s, kind, v.u.list->at[i]);
  else if (v.kind == VAL_STR && (kind == PARAM_BLOCK || kind == PARAM_BLOCK_OR_LOOP) && s->work_on)
    tirc_blocks_named(s, function_index(s), v.u.s, &found);
  for (int i = 0; i < found.n; i++) tirc_sched_mark(s, found.at[i]->stmt);
}

static void mark_arguments(Sched *s, const Primitive *p, const Args *args) {
  for (int i = 0; i < args->n; i++)
    mark_argument(s, i < p->n_params ? p->params[i].kind : PARAM_ANY, args->at[i]);
  for (int i = 0; i < args->n_keywords; i++) {
    int k = param_named(p, args->names[i]);
    mark_argument(s, k < 0 ? PARAM_ANY : p->params[k].kind, args->keywords[i]);
  }
}

/* What was marked in a program that is taken back stands in the old one under the same identity;
 * what was new in it is not there. */
static void keep_marks(Sched *s) {
  Stmt *kept = tirc_new_array(s->c, Stmt, s->n_marks + 1);
  int n = 0;
  for (int i = 0; i < s->n_marks; i++) {
    const SRef *r = tirc_sref_find(s, s->marks[i]);
    bool is_node = s->marks[i]->kind == STMT_FOR || s->marks[i]->kind == STMT_BLOCK;
    if (r || !is_node) kept[n++] = r ? r->stmt : s->marks[i];
  }
  s->marks = kept;
  s->n_marks = n;
}

/* Puts the schedule back and completes the diagnostic. The memory limit does not count here, or a
 * script that ran into it could leave a half-changed schedule. */
static void after_failure(Sched *s, const Primitive *p, Loc loc, const Module *before,
                          const Args *args) {
  Tirc *c = s->c;
  Diag diag = c->diag;
  size_t limit = c->max_bytes;
  c->max_bytes = 0;
  if (s->mod != before) tirc_sched_restore(s, before);
  diag.loc = loc;
  diag.primitive = p->name;
  diag.call = tirc_sched_call_text(s, p, args);
  if (diag.status == TIRC_STATUS_NO && !diag.ir) {
    keep_marks(s);
    if (!s->n_marks) mark_arguments(s, p, args);
    const MarkedModule marked = {.module = s->mod, .marks = {.n = s->n_marks, .at = s->marks}};
    diag.ir = tirc_copy(c, &marked, 1);
  }
  c->max_bytes = limit;
  c->diag = diag;
}

static void verify(Sched *s) {
  const char *fault = s->debug_mask ? tirc_sched_fault(s, s->debug_mask) : NULL;
  if (fault)
    tirc_fail(s->c, s->loc, CODE_INTERNAL, "please report this, with the program and the schedule",
              "the schedule's state is wrong after this call: %s", fault);
}

/* Primitives move what they compute over loops, not over a let; where there is one, what they made
 * is verified. */
static void require_lets_around(Sched *s) {
  Trap trap;
  const ArenaMark mark = tirc_mark(s->c);
  if (TIRC_TRY(s->c, trap)) {
    tirc_verify(s->c, s->mod);
    TIRC_END(s->c, trap);
    tirc_rewind(s->c, mark);
    return;
  }
  if (s->c->diag.code != CODE_ILL_FORMED) tirc_throw(s->c);
  tirc_sched_error(s, NULL, SERR_LET_ESCAPES, tirc_format(s->c, "%s", s->c->diag.message), NULL,
                   "a variable would be used outside of the let that defines it");
}

/* A primitive has succeeded, unless warnings are errors. */
static void hand_out_warnings(Sched *s) {
  if (s->strict && s->warnings.n) tirc_raise_warning(s->c, s->warnings.at[0]);
  for (int i = 0; s->warn && i < s->warnings.n; i++) s->warn(s->warn_self, s->warnings.at[i]);
}

void tirc_program_warnings(Sched *s, void (*tell)(void *self, Warning w), void *self) {
  Telling t = {s, tell, self};
  tirc_spatial_dependences(&t);
  tirc_racing_loops(&t);
  tirc_accesses_outside(&t);
  tirc_sums_overwritten(&t);
}

/* The outermost primitive is traced; one that another calls is that one's business. */
static Value run(Sched *s, const Primitive *p, const Value *bound) {
  Value result = VALUE_NONE;
  const bool trace = s->calls == 1 && !(p->flags & INST_UNTRACED);
  const Value *traced = trace ? tirc_trace_arguments(s, p, bound) : NULL;
  const Module *before = s->mod;
  const uint32_t overflows = s->c->n_overflows;
  appliers[p - tirc_primitives](s, bound, &result);
  if (s->c->n_overflows != overflows && s->calls == 1 && s->mod != before)
    tirc_require_countable(s, before);
  if (s->lets && s->calls == 1 && s->mod != before) require_lets_around(s);
  verify(s);
  if (s->calls == 1) {
    const SetMarks marks = tirc_marks_after(s, p, before);
    hand_out_warnings(s);
    s->set_marks = marks;
    s->changed_marks.n = 0;
  }
  if (traced) tirc_trace_record(s, p, traced, &result);
  return result;
}

Value tirc_sched_call(Sched *s, const Primitive *p, Loc loc, const Args *args) {
  Tirc *c = s->c;
  const Module *const before = s->mod;
  const int n_warnings = s->warnings.n, n_changed = s->changed_marks.n, calls = s->calls++;
  s->loc = loc;
  s->marks = NULL;
  s->n_marks = 0;
  const bool record = s->steps && calls == 0;
  StepDraft draft = {0};
  if (record) draft = tirc_step_begin(s, p, tirc_sched_call_text(s, p, args));
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    const Value *bound = bind_arguments(s, p, args);
    if (record) tirc_step_describe(s, p, bound, &draft);
    Value result = run(s, p, bound);
    if (record) tirc_step_end(s, p, loc, &draft, &result);
    if (calls == 0) s->warnings.n = 0;
    TIRC_END(c, trap);
    s->calls = calls;
    return result;
  }
  s->calls = calls;
  s->warnings.n = n_warnings;
  s->changed_marks.n = n_changed;
  after_failure(s, p, loc, before, args);
  if (record) tirc_step_end(s, p, loc, &draft, NULL);
  tirc_throw(c);
}
