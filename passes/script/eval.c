/* Expressions: one function a kind of node, found through a table. */
#include "interp.h"

typedef Value (*Eval)(Frame *f, const Syn *e);

void tirc_script_enter(Script *sc, const Syn *e) {
  sc->loc = e->loc;
  tirc_script_tick(sc, 1);
  if (++sc->nesting > SCRIPT_MAX_NESTING)
    tirc_script_limit(sc, "use fewer levels of calls and brackets", "the script nests too deeply");
}

static Value eval(Frame *f, const Syn *e) { return tirc_script_eval(f, e); }

/* --- literals and names ----------------------------------------------------------------------- */

static Value eval_name(Frame *f, const Syn *e) {
  return tirc_script_lookup(f->sc, f->env, e->s, NULL);
}
static Value eval_int(Frame *f, const Syn *e) {
  return tirc_syn_is_large(e) ? tirc_value_expr(tirc_uint64(f->sc->c, (uint64_t)e->i))
                              : tirc_value_int(e->i);
}
static Value eval_float(Frame *f, const Syn *e) { return (void)f, tirc_value_float(e->f); }
static Value eval_string(Frame *f, const Syn *e) { return (void)f, tirc_value_str(e->s); }
static Value eval_true(Frame *f, const Syn *e) { return (void)f, (void)e, tirc_value_bool(true); }
static Value eval_false(Frame *f, const Syn *e) { return (void)f, (void)e, tirc_value_bool(false); }
static Value eval_none(Frame *f, const Syn *e) { return (void)f, (void)e, VALUE_NONE; }

static Value eval_format(Frame *f, const Syn *e) {
  Value v = eval(f, e->a);
  if (e->i == 'r')
    v = tirc_value_str(tirc_script_repr(f->sc, v));
  else if (e->i)
    v = tirc_value_str(tirc_script_str(f->sc, v));
  return tirc_value_str(tirc_script_format(f->sc, v, e->s ? e->s : ""));
}

static Value eval_fstring(Frame *f, const Syn *e) {
  Text t = {.c = f->sc->c};
  tirc_text_add(&t, "");
  for (int i = 0; i < e->kids.n; i++) tirc_text_add(&t, eval(f, e->kids.at[i]).u.s);
  return tirc_value_str(t.at);
}

/* --- containers ------------------------------------------------------------------------------- */

static void append_all(Script *sc, Value list, Value iterable) {
  Iter it = tirc_script_iter(sc, iterable);
  Value item;
  while (tirc_script_next(sc, &it, &item)) tirc_value_append(sc->c, list, item);
}

/* An empty list with room for n values. */
static Value list_for(Tirc *c, ValueKind kind, int n) {
  ValueList *list = tirc_new(c, ValueList);
  *list = (ValueList){.cap = n, .at = n ? tirc_new_array(c, Value, n) : NULL};
  return (Value){.kind = kind, .u.list = list};
}

static Value eval_sequence(Frame *f, const SynList *kids, ValueKind kind) {
  Value list = list_for(f->sc->c, kind, kids->n);
  for (int i = 0; i < kids->n; i++) {
    const Syn *kid = kids->at[i];
    if (kid->kind == SYN_STAR)
      append_all(f->sc, list, eval(f, kid->a));
    else
      tirc_value_append(f->sc->c, list, eval(f, kid));
  }
  return list;
}

static Value eval_list(Frame *f, const Syn *e) { return eval_sequence(f, &e->kids, VAL_LIST); }
static Value eval_tuple(Frame *f, const Syn *e) { return eval_sequence(f, &e->kids, VAL_TUPLE); }

static Value eval_dict(Frame *f, const Syn *e) {
  Value dict = tirc_value_list(f->sc->c, VAL_DICT, 0, NULL);
  for (int i = 0; i + 1 < e->kids.n; i += 2) {
    Value key = eval(f, e->kids.at[i]);
    tirc_script_dict_set(f->sc, dict, key, eval(f, e->kids.at[i + 1]));
  }
  return dict;
}

static void comprehend(Frame *f, const Syn *e, int clause, Value out) {
  Script *sc = f->sc;
  if (clause == e->kids.n) {
    tirc_value_append(sc->c, out, eval(f, e->a));
    return;
  }
  const Syn *clause_syn = e->kids.at[clause];
  Iter it = tirc_script_iter(sc, eval(f, clause_syn->b));
  Value item;
  while (tirc_script_next(sc, &it, &item)) {
    tirc_script_assign(f, clause_syn->a, item);
    bool wanted = true;
    for (int i = 0; wanted && i < clause_syn->kids.n; i++)
      wanted = tirc_script_truth(sc, eval(f, clause_syn->kids.at[i]));
    if (wanted) comprehend(f, e, clause + 1, out);
  }
}

/* A generator expression is worked out at once: a script cannot tell. */
static Value eval_comprehension(Frame *f, const Syn *e) {
  Frame inner = {.sc = f->sc, .env = tirc_script_env(f->sc, f->env)};
  Value out = tirc_value_list(f->sc->c, VAL_LIST, 0, NULL);
  comprehend(&inner, e, 0, out);
  tirc_script_end_env(f->sc, inner.env);
  return out;
}

/* --- attributes, subscripts, calls ------------------------------------------------------------ */

static Value eval_attribute(Frame *f, const Syn *e) {
  const bool of_name = e->a->kind == SYN_NAME;
  f->sc->loc = e->loc;
  Value v = of_name ? tirc_script_lookup(f->sc, f->env, e->a->s, e->s) : eval(f, e->a);
  f->sc->loc = e->loc;
  return tirc_script_attribute(f->sc, v, e->s);
}

static Value eval_slice_of(Frame *f, Value v, const Syn *slice) {
  Value parts[3];
  const Syn *syns[3] = {slice->a, slice->b, slice->c};
  const Value *given[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; i++)
    if (syns[i]) {
      parts[i] = eval(f, syns[i]);
      given[i] = &parts[i];
    }
  return tirc_script_slice(f->sc, v, given[0], given[1], given[2]);
}

/* The index of a subscript: a tuple when it has several parts or a trailing comma. */
static Value eval_index(Frame *f, const Syn *e) {
  if (e->kids.n == 1 && !e->i) return eval(f, e->kids.at[0]);
  return eval_sequence(f, &e->kids, VAL_TUPLE);
}

static Value eval_subscript(Frame *f, const Syn *e) {
  Value v = eval(f, e->a);
  if (e->kids.n == 1 && e->kids.at[0]->kind == SYN_SLICE) {
    f->sc->loc = e->loc;
    return eval_slice_of(f, v, e->kids.at[0]);
  }
  Value index = eval_index(f, e);
  f->sc->loc = e->loc;
  return tirc_script_item(f->sc, v, index);
}

static Value eval_slice(Frame *f, const Syn *e) {
  (void)e;
  tirc_script_error(f->sc, "TypeError", NULL, "a slice cannot be one of several indices");
}

static void add_keywords(Script *sc, Value dict, Value names, Value values) {
  if (dict.kind != VAL_DICT)
    tirc_script_error(sc, "TypeError", NULL, "** takes a dict, not %s",
                      tirc_script_a_type(sc, dict));
  for (int i = 0; i < dict.u.list->n; i += 2) {
    if (dict.u.list->at[i].kind != VAL_STR)
      tirc_script_error(sc, "TypeError", NULL, "keywords must be strings, but %s is not one",
                        tirc_script_repr(sc, dict.u.list->at[i]));
    tirc_value_append(sc->c, names, dict.u.list->at[i]);
    tirc_value_append(sc->c, values, dict.u.list->at[i + 1]);
  }
}

enum { FEW_ARGUMENTS = 8 };

static Value eval_call(Frame *f, const Syn *e) {
  Script *sc = f->sc;
  Value callee = eval(f, e->a);
  int keywords = 0;
  bool named = false, starred = false;
  for (int i = 0; i < e->kids.n; i++) {
    starred |= e->kids.at[i]->kind == SYN_STAR;
    keywords += e->kids.at[i]->kind == SYN_KEYWORD;
    named |= e->kids.at[i]->kind == SYN_KEYWORD || e->kids.at[i]->kind == SYN_DOUBLESTAR;
  }
  if (!named && !starred && e->kids.n <= FEW_ARGUMENTS && tirc_script_copies_arguments(callee)) {
    Value few[FEW_ARGUMENTS];
    for (int i = 0; i < e->kids.n; i++) few[i] = eval(f, e->kids.at[i]);
    sc->loc = e->loc;
    return tirc_script_call(sc, callee, &(Args){.n = e->kids.n, .at = few});
  }
  Value args = list_for(sc->c, VAL_LIST, e->kids.n - keywords), names = VALUE_NONE,
        values = VALUE_NONE;
  if (named) {
    names = list_for(sc->c, VAL_LIST, keywords);
    values = list_for(sc->c, VAL_LIST, keywords);
  }
  for (int i = 0; i < e->kids.n; i++) {
    const Syn *kid = e->kids.at[i];
    if (kid->kind == SYN_STAR) {
      append_all(sc, args, eval(f, kid->a));
    } else if (kid->kind == SYN_DOUBLESTAR) {
      add_keywords(sc, eval(f, kid->a), names, values);
    } else if (kid->kind == SYN_KEYWORD) {
      tirc_value_append(sc->c, values, eval(f, kid->a));
      tirc_value_append(sc->c, names, tirc_value_str(kid->s));
    } else {
      tirc_value_append(sc->c, args, eval(f, kid));
    }
  }
  if (!named) {
    sc->loc = e->loc;
    return tirc_script_call(sc, callee, &(Args){.n = args.u.list->n, .at = args.u.list->at});
  }
  int n = names.u.list->n;
  const char **texts = tirc_new_array(sc->c, const char *, n + 1);
  for (int i = 0; i < n; i++) {
    texts[i] = names.u.list->at[i].u.s;
    for (int k = 0; k < i; k++)
      if (!strcmp(texts[i], texts[k]))
        tirc_script_error(sc, "TypeError", NULL, "the keyword argument '%s' is given twice",
                          texts[i]);
  }
  sc->loc = e->loc;
  Args a = {args.u.list->n, args.u.list->at, n, texts, values.u.list->at};
  return tirc_script_call(sc, callee, &a);
}

/* --- operators -------------------------------------------------------------------------------- */

static Value eval_binary(Frame *f, const Syn *e) {
  Value a = eval(f, e->a), b = eval(f, e->b);
  f->sc->loc = e->loc;
  return tirc_script_binary(f->sc, e->op, a, b);
}

static Value eval_unary(Frame *f, const Syn *e) {
  Value a = eval(f, e->a);
  f->sc->loc = e->loc;
  return tirc_script_unary(f->sc, e->op, a);
}

static Value eval_compare(Frame *f, const Syn *e) {
  Value a = eval(f, e->a), b = eval(f, e->b);
  f->sc->loc = e->loc;
  return tirc_script_compare(f->sc, e->op, a, b);
}

/* The operand that a chain of comparisons ends with, or NULL. */
static const Syn *chain_end(const Syn *e) {
  if (e->kind == SYN_COMPARE) return e->b;
  return e->kind == SYN_BOOL && e->b->kind == SYN_COMPARE ? e->b->b : NULL;
}

static bool is_chain(const Syn *e) {
  return e->kind == SYN_BOOL && !strcmp(e->op, "and") && e->b->kind == SYN_COMPARE &&
         chain_end(e->a) && chain_end(e->a) == e->b->a;
}

/* x < y < z: y is evaluated once. *last is the value of the rightmost operand reached. */
static Value eval_chain(Frame *f, const Syn *e, Value *last) {
  if (!is_chain(e)) {
    Value a = eval(f, e->a);
    *last = eval(f, e->b);
    return tirc_script_compare(f->sc, e->op, a, *last);
  }
  Value middle, left = eval_chain(f, e->a, &middle);
  if (!tirc_script_truth(f->sc, left)) return left;
  *last = eval(f, e->b->b);
  f->sc->loc = e->b->loc;
  return tirc_script_compare(f->sc, e->b->op, middle, *last);
}

static Value eval_bool(Frame *f, const Syn *e) {
  Value last;
  if (is_chain(e)) return eval_chain(f, e, &last);
  Value a = eval(f, e->a);
  f->sc->loc = e->loc;
  bool want = !strcmp(e->op, "and");
  return tirc_script_truth(f->sc, a) == want ? eval(f, e->b) : a;
}

static Value eval_conditional(Frame *f, const Syn *e) {
  return tirc_script_truth(f->sc, eval(f, e->b)) ? eval(f, e->a) : eval(f, e->c);
}

static const Eval evals[] = {
    [SYN_NAME] = eval_name,
    [SYN_INT] = eval_int,
    [SYN_FLOAT] = eval_float,
    [SYN_STRING] = eval_string,
    [SYN_FSTRING] = eval_fstring,
    [SYN_FORMAT] = eval_format,
    [SYN_TRUE] = eval_true,
    [SYN_FALSE] = eval_false,
    [SYN_NONE] = eval_none,
    [SYN_ELLIPSIS] = eval_none,
    [SYN_TUPLE] = eval_tuple,
    [SYN_LIST] = eval_list,
    [SYN_DICT] = eval_dict,
    [SYN_LISTCOMP] = eval_comprehension,
    [SYN_ATTRIBUTE] = eval_attribute,
    [SYN_CALL] = eval_call,
    [SYN_SUBSCRIPT] = eval_subscript,
    [SYN_SLICE] = eval_slice,
    [SYN_BINARY] = eval_binary,
    [SYN_UNARY] = eval_unary,
    [SYN_COMPARE] = eval_compare,
    [SYN_BOOL] = eval_bool,
    [SYN_CONDITIONAL] = eval_conditional,
    [SYN_LAMBDA] = tirc_script_function,
};

Value tirc_script_eval(Frame *f, const Syn *e) {
  size_t kind = e->kind;
  Eval run = kind < sizeof evals / sizeof *evals ? evals[kind] : NULL;
  tirc_script_enter(f->sc, e);
  if (!run)
    tirc_script_error(f->sc, "NotImplementedError", NULL,
                      "this does not work in a schedule script");
  Value v = run(f, e);
  tirc_script_leave(f->sc);
  return v;
}
