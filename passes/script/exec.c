/* Statements: one function a kind, found through a table. How a statement ends is its Flow; errors
 * unwind past all of it. */
#include "interp.h"

typedef Flow (*Exec)(Frame *f, const Syn *s);

static Value eval(Frame *f, const Syn *e) { return tirc_script_eval(f, e); }
static bool holds(Frame *f, const Syn *e) { return tirc_script_truth(f->sc, eval(f, e)); }

/* --- assignment ------------------------------------------------------------------------------- */

/* "the loops are i, j, k: " of a list of loops, else "". */
static const char *loops_in(Script *sc, Value items) {
  Text t = {.c = sc->c};
  for (int i = 0; i < items.u.list->n; i++) {
    if (items.u.list->at[i].kind != VAL_LOOP) return "";
    tirc_text_addf(&t, "%s%s", i ? ", " : "", items.u.list->at[i].u.expr->u.s);
  }
  return t.n ? tirc_format(sc->c, "the loops are %s; ", t.at) : "";
}

static _Noreturn void wrong_count(Script *sc, int want, Value items, bool star) {
  const int have = items.u.list->n;
  tirc_script_error(sc, "ValueError",
                    have > want && !star
                        ? tirc_format(sc->c, "%sa name with a star takes the rest: a, *rest = ...",
                                      loops_in(sc, items))
                        : NULL,
                    "there %s %s%d name%s on the left, but %d value%s on the right",
                    want == 1 ? "is" : "are", star ? "at least " : "", want, want == 1 ? "" : "s",
                    have, have == 1 ? "" : "s");
}

static void unpack(Frame *f, const SynList *targets, Value v) {
  Script *sc = f->sc;
  Loc loc = sc->loc;
  const Value items = v.kind == VAL_TUPLE ? v : tirc_script_collect(sc, v, VAL_LIST);
  const Value *at = items.u.list->at;
  int n = targets->n, have = items.u.list->n, star = -1;
  for (int i = 0; i < n; i++)
    if (targets->at[i]->kind == SYN_STAR) star = i;
  if (star < 0 ? have != n : have < n - 1) wrong_count(sc, star < 0 ? n : n - 1, items, star >= 0);
  for (int i = 0, k = 0; i < n; i++) {
    sc->loc = loc;
    if (i != star) {
      tirc_script_assign(f, targets->at[i], at[k++]);
      continue;
    }
    int rest = have - (n - 1);
    tirc_script_assign(f, targets->at[i]->a, tirc_value_list(sc->c, VAL_LIST, rest, at + k));
    k += rest;
  }
}

/* The index of a subscript that is assigned to or deleted. */
static Value index_of(Frame *f, const Syn *target) {
  if (target->kids.n == 1 && target->kids.at[0]->kind == SYN_SLICE)
    tirc_script_error(f->sc, "NotImplementedError", "build a new list instead",
                      "you cannot assign to a slice");
  if (target->kids.n == 1 && !target->i) return eval(f, target->kids.at[0]);
  Value tuple = tirc_value_list(f->sc->c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < target->kids.n; i++)
    tirc_value_append(f->sc->c, tuple, eval(f, target->kids.at[i]));
  return tuple;
}

static _Noreturn void no_target(Script *sc, const Syn *target) {
  sc->loc = target->loc;
  if (target->kind == SYN_ATTRIBUTE)
    tirc_script_error(sc, "AttributeError", "annotate(...) and set_scope(...) change the program",
                      "you cannot assign to the attribute '%s'", target->s);
  tirc_script_error(sc, "TypeError", NULL, "you cannot assign to this");
}

void tirc_script_assign(Frame *f, const Syn *target, Value v) {
  switch (target->kind) {
  case SYN_NAME:
    if (f->assigns && tirc_script_begin_given(f->env, target->s)) break;
    tirc_script_set(f->sc, f->env, target->s, v);
    break;
  case SYN_TUPLE:
  case SYN_LIST: unpack(f, &target->kids, v); break;
  case SYN_SUBSCRIPT: {
    Value container = eval(f, target->a);
    Value index = index_of(f, target);
    f->sc->loc = target->loc;
    tirc_script_set_item(f->sc, container, index, v);
    break;
  }
  case SYN_ATTRIBUTE: {
    Value of = eval(f, target->a);
    f->sc->loc = target->loc;
    if (!tirc_script_set_attribute(f->sc, of, target->s, v)) no_target(f->sc, target);
    break;
  }
  default: no_target(f->sc, target);
  }
}

static Flow exec_assign(Frame *f, const Syn *s) {
  Value v = eval(f, s->a);
  f->assigns = true;
  for (int i = 0; i < s->kids.n; i++) {
    f->sc->loc = s->loc;
    tirc_script_assign(f, s->kids.at[i], v);
  }
  f->assigns = false;
  return FLOW_NEXT;
}

static Flow exec_annotated(Frame *f, const Syn *s) {
  if (!s->c) return FLOW_NEXT;
  const Value v = eval(f, s->c);
  f->assigns = true;
  tirc_script_assign(f, s->a, v);
  f->assigns = false;
  return FLOW_NEXT;
}

static Value augmented(Frame *f, const Syn *s, Value old) {
  Value operand = eval(f, s->b);
  f->sc->loc = s->loc;
  if (old.kind != VAL_LIST || strcmp(s->op, "+"))
    return tirc_script_binary(f->sc, s->op, old, operand);
  Value more = tirc_script_collect(f->sc, operand, VAL_LIST); /* in place, as Python does */
  for (int i = 0; i < more.u.list->n; i++) tirc_value_append(f->sc->c, old, more.u.list->at[i]);
  return old;
}

static Flow exec_augmented(Frame *f, const Syn *s) {
  const Syn *target = s->a;
  if (target->kind == SYN_NAME) {
    Value old = tirc_script_lookup(f->sc, f->env, target->s, NULL);
    tirc_script_set(f->sc, f->env, target->s, augmented(f, s, old));
  } else if (target->kind == SYN_SUBSCRIPT) {
    Value container = eval(f, target->a);
    Value index = index_of(f, target);
    Value old = tirc_script_item(f->sc, container, index);
    tirc_script_set_item(f->sc, container, index, augmented(f, s, old));
  } else {
    no_target(f->sc, target);
  }
  return FLOW_NEXT;
}

static void delete (Frame *f, const Syn *target) {
  if (target->kind == SYN_NAME) {
    tirc_script_unset(f->sc, f->env, target->s);
  } else if (target->kind == SYN_SUBSCRIPT) {
    Value container = eval(f, target->a);
    tirc_script_delete_item(f->sc, container, index_of(f, target));
  } else if (target->kind == SYN_TUPLE) {
    for (int i = 0; i < target->kids.n; i++) delete (f, target->kids.at[i]);
  } else {
    no_target(f->sc, target);
  }
}

static Flow exec_delete(Frame *f, const Syn *s) { return delete (f, s->a), FLOW_NEXT; }

/* --- control ---------------------------------------------------------------------------------- */

static Flow exec_expr(Frame *f, const Syn *s) { return eval(f, s->a), FLOW_NEXT; }
static Flow exec_pass(Frame *f, const Syn *s) { return (void)f, (void)s, FLOW_NEXT; }
static Flow exec_break(Frame *f, const Syn *s) { return (void)f, (void)s, FLOW_BREAK; }
static Flow exec_continue(Frame *f, const Syn *s) { return (void)f, (void)s, FLOW_CONTINUE; }

static Flow exec_return(Frame *f, const Syn *s) {
  f->result = s->a ? eval(f, s->a) : VALUE_NONE;
  return FLOW_RETURN;
}

static Flow exec_if(Frame *f, const Syn *s) {
  return tirc_script_exec(f, holds(f, s->a) ? &s->body : &s->orelse);
}

static Flow exec_while(Frame *f, const Syn *s) {
  while (holds(f, s->a)) {
    tirc_script_tick(f->sc, 1);
    Flow flow = tirc_script_exec(f, &s->body);
    if (flow == FLOW_RETURN) return flow;
    if (flow == FLOW_BREAK) return FLOW_NEXT;
  }
  return tirc_script_exec(f, &s->orelse);
}

static Flow exec_for(Frame *f, const Syn *s) {
  Iter it = tirc_script_iter(f->sc, eval(f, s->b));
  Value item;
  while (tirc_script_next(f->sc, &it, &item)) {
    f->sc->loc = s->loc;
    tirc_script_assign(f, s->a, item);
    Flow flow = tirc_script_exec(f, &s->body);
    if (flow == FLOW_RETURN) return flow;
    if (flow == FLOW_BREAK) return FLOW_NEXT;
  }
  return tirc_script_exec(f, &s->orelse);
}

/* @T.prim_func, @tvm.script.tir.prim_func, with or without arguments */
static bool is_prim_func(const Syn *decorator) {
  const Syn *d = decorator->kind == SYN_CALL ? decorator->a : decorator;
  return d->kind == SYN_ATTRIBUTE && !strcmp(d->s, "prim_func");
}

static Flow exec_def(Frame *f, const Syn *s) {
  if (s->decorators.n && is_prim_func(s->decorators.at[0])) {
    tirc_script_set(f->sc, f->env, s->s, tirc_script_prim_func(f, s));
    return FLOW_NEXT;
  }
  if (s->decorators.n)
    tirc_script_error(f->sc, "NotImplementedError", "define a plain function",
                      "the only decorator in scripts is @T.prim_func");
  tirc_script_set(f->sc, f->env, s->s, tirc_script_function(f, s));
  return FLOW_NEXT;
}

static Flow exec_import(Frame *f, const Syn *s) {
  tirc_script_import(f, s);
  return FLOW_NEXT;
}

/* --- errors ----------------------------------------------------------------------------------- */

static Flow exec_assert(Frame *f, const Syn *s) {
  if (holds(f, s->a)) return FLOW_NEXT;
  const char *message =
      s->b ? tirc_script_str(f->sc, eval(f, s->b)) : "the assertion does not hold";
  f->sc->loc = s->loc;
  tirc_script_error(f->sc, "AssertionError", NULL, "%s", message);
}

static Flow exec_raise(Frame *f, const Syn *s) {
  Script *sc = f->sc;
  if (s->a) {
    Value v = eval(f, s->a);
    sc->loc = s->loc;
    tirc_script_raise(sc, v);
  }
  if (!sc->handling)
    tirc_script_error(sc, "RuntimeError", NULL, "there is no exception to raise again");
  sc->c->diag = sc->handling->diag;
  tirc_throw(sc->c);
}

/* Runs the body; an exception that a script may catch sets *caught, and the interpreter is as deep
 * as it was before. */
static Flow exec_guarded(Frame *f, const SynList *body, bool *caught) {
  Script *const sc = f->sc;
  const int calls = sc->calls, nesting = sc->nesting;
  Trap trap;
  if (TIRC_TRY(sc->c, trap)) {
    Flow flow = tirc_script_exec(f, body);
    TIRC_END(sc->c, trap);
    return flow;
  }
  if (!tirc_script_catchable(&sc->c->diag)) tirc_throw(sc->c);
  sc->calls = calls;
  sc->nesting = nesting;
  *caught = true;
  return FLOW_NEXT;
}

/* Whether `except TYPE` takes the exception; a tuple of types takes any of them. */
static bool accepts(Frame *f, const Syn *type, const ExceptionClass *class) {
  if (!type) return true;
  Value v = eval(f, type);
  const bool several = v.kind == VAL_TUPLE;
  for (int i = 0; i < (several ? v.u.list->n : 1); i++) {
    Value one = several ? v.u.list->at[i] : v;
    if (!tirc_script_is(one, "type") || !tirc_script_exception_class(one.u.object))
      tirc_script_error(f->sc, "TypeError", NULL, "except needs the class of an exception");
    if (tirc_script_is_subclass(class, one.u.object)) return true;
  }
  return false;
}

static Flow handle(Frame *f, const Syn *s) {
  Script *sc = f->sc;
  const Diag diag = sc->c->diag;
  Value exception = tirc_script_exception(sc, &diag);
  const Exception *e = exception.u.object, *outer = sc->handling;
  for (int i = 0; i < s->kids.n; i++) {
    const Syn *except = s->kids.at[i];
    if (!accepts(f, except->a, e->class)) continue;
    if (except->s) tirc_script_set(sc, f->env, except->s, exception);
    sc->handling = e;
    Flow flow = tirc_script_exec(f, &except->body);
    sc->handling = outer;
    return flow;
  }
  sc->c->diag = diag;
  tirc_throw(sc->c);
}

static Flow exec_handled(Frame *f, const Syn *s) {
  bool caught = false;
  const Exception *handling = f->sc->handling;
  Flow flow = exec_guarded(f, &s->body, &caught);
  if (caught) {
    f->sc->handling = handling;
    return handle(f, s);
  }
  return flow == FLOW_NEXT ? tirc_script_exec(f, &s->orelse) : flow;
}

/* `finally` around the rest: its own return, break or continue wins, as in Python. */
static Flow exec_try(Frame *f, const Syn *s) {
  if (!s->finalbody.n) return exec_handled(f, s);
  Script *const sc = f->sc;
  const int calls = sc->calls, nesting = sc->nesting;
  const Exception *const handling = sc->handling;
  Trap trap;
  if (TIRC_TRY(sc->c, trap)) {
    Flow flow = exec_handled(f, s);
    TIRC_END(sc->c, trap);
    Value result = f->result;
    Flow last = tirc_script_exec(f, &s->finalbody);
    if (last != FLOW_NEXT) return last;
    f->result = result;
    return flow;
  }
  const Diag diag = sc->c->diag;
  if (!tirc_script_catchable(&diag)) tirc_throw(sc->c);
  sc->calls = calls;
  sc->nesting = nesting;
  sc->handling = handling;
  Flow last = tirc_script_exec(f, &s->finalbody);
  if (last != FLOW_NEXT) return last;
  sc->c->diag = diag;
  tirc_throw(sc->c);
}

static const Exec execs[] = {
    [SYN_EXPR_STMT] = exec_expr,
    [SYN_ASSIGN] = exec_assign,
    [SYN_ANNASSIGN] = exec_annotated,
    [SYN_AUGASSIGN] = exec_augmented,
    [SYN_IF] = exec_if,
    [SYN_FOR] = exec_for,
    [SYN_WHILE] = exec_while,
    [SYN_DEF] = exec_def,
    [SYN_RETURN] = exec_return,
    [SYN_BREAK] = exec_break,
    [SYN_CONTINUE] = exec_continue,
    [SYN_PASS] = exec_pass,
    [SYN_ASSERT] = exec_assert,
    [SYN_RAISE] = exec_raise,
    [SYN_TRY] = exec_try,
    [SYN_IMPORT] = exec_import,
    [SYN_GLOBAL] = exec_pass,
    [SYN_DELETE] = exec_delete,
};

static Flow exec1(Frame *f, const Syn *s) {
  size_t kind = s->kind;
  Exec run = kind < sizeof execs / sizeof *execs ? execs[kind] : NULL;
  tirc_script_enter(f->sc, s);
  if (!run)
    tirc_script_error(f->sc, "NotImplementedError",
                      "scripts have functions, but no classes and no with",
                      "this statement does not work in a schedule script");
  Flow flow = run(f, s);
  tirc_script_leave(f->sc);
  return flow;
}

Flow tirc_script_exec(Frame *f, const SynList *body) {
  for (int i = 0; i < body->n; i++) {
    Flow flow = exec1(f, body->at[i]);
    if (flow != FLOW_NEXT) return flow;
  }
  return FLOW_NEXT;
}
