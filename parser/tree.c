/* Builders of the syntax tree: what the grammar's actions call. Every node is made by `finish`,
 * which counts the depth, so no tree deeper than SYNTAX_MAX_DEPTH comes to be. */
#include "tree.h"

static Loc loc_of(const Parser *p, Place at) {
  return (Loc){p->file, at.first_line, at.first_column};
}

void tirc_syn_fail(Parser *p, int line, int column, const char *hint, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *message = tirc_vformat(p->c, format, args);
  va_end(args);
  tirc_fail(p->c, (Loc){p->file, line, column}, CODE_SYNTAX, hint, "%s", message);
}

static _Noreturn void fail_at(Parser *p, const Syn *s, const char *hint, const char *message) {
  tirc_syn_fail(p, s->loc.line, s->loc.column, hint, "%s", message);
}

Syn *tirc_syn_node(Parser *p, SynKind kind, Place at) {
  Syn *s = tirc_new(p->c, Syn);
  s->kind = kind;
  s->loc = loc_of(p, at);
  s->end_line = at.last_line;
  s->end_column = at.last_column;
  s->depth = 1;
  return s;
}

static void deepen(Syn *s, const Syn *child) {
  if (child && child->depth >= s->depth) s->depth = child->depth + 1;
}

static void deepen_list(Syn *s, SynList list) {
  for (int i = 0; i < list.n; i++) deepen(s, list.at[i]);
}

static Syn *finish(Parser *p, Syn *s) {
  deepen(s, s->a);
  deepen(s, s->b);
  deepen(s, s->c);
  deepen_list(s, s->kids);
  deepen_list(s, s->body);
  deepen_list(s, s->orelse);
  deepen_list(s, s->finalbody);
  deepen_list(s, s->decorators);
  if (s->depth + p->depth > SYNTAX_MAX_DEPTH) {
    tirc_syn_fail(p, s->loc.line, s->loc.column, "split it: give parts of it their own names",
                  "nested too deeply: more than %d levels", SYNTAX_MAX_DEPTH);
  }
  return s;
}

static SynList list_of(const SynVec *v) { return v ? (SynList){v->n, v->at} : (SynList){0}; }

SynVec *tirc_syn_vec(Parser *p, Syn *first) {
  SynVec *v = tirc_new(p->c, SynVec);
  return first ? tirc_syn_push(p, v, first) : v;
}

SynVec *tirc_syn_push(Parser *p, SynVec *v, Syn *x) {
  vec_push(p->c, *v, x);
  return v;
}

SynVec *tirc_syn_append(Parser *p, SynVec *v, const SynVec *more) {
  for (int i = 0; i < more->n; i++) vec_push(p->c, *v, more->at[i]);
  return v;
}

Syn *tirc_syn_name(Parser *p, Place at, const char *s) {
  return tirc_syn_named(p, SYN_NAME, at, s, NULL, NULL);
}

Syn *tirc_syn_1(Parser *p, SynKind kind, Place at, Syn *a) {
  return tirc_syn_3(p, kind, at, a, NULL, NULL);
}

Syn *tirc_syn_3(Parser *p, SynKind kind, Place at, Syn *a, Syn *b, Syn *c) {
  Syn *s = tirc_syn_node(p, kind, at);
  s->a = a;
  s->b = b;
  s->c = c;
  return finish(p, s);
}

Syn *tirc_syn_op(Parser *p, SynKind kind, Place at, const char *op, Syn *a, Syn *b) {
  Syn *s = tirc_syn_node(p, kind, at);
  s->op = op;
  s->a = a;
  s->b = b;
  if (kind == SYN_UNARY && tirc_syn_is_large(a) && a->i == INT64_MIN && strcmp(op, "-") == 0) {
    s->kind = SYN_INT; /* -2^63 */
    s->op = NULL;
    s->a = NULL;
    s->i = INT64_MIN;
  }
  return finish(p, s);
}

Syn *tirc_syn_named(Parser *p, SynKind kind, Place at, const char *name, Syn *a, Syn *b) {
  Syn *s = tirc_syn_node(p, kind, at);
  s->s = name;
  s->a = a;
  s->b = b;
  return finish(p, s);
}

Syn *tirc_syn_list(Parser *p, SynKind kind, Place at, SynVec *kids) {
  return tirc_syn_with_kids(p, kind, at, NULL, kids);
}

Syn *tirc_syn_parenthesised(Place at, Syn *s) {
  if (s->kind != SYN_TUPLE) return s;
  s->loc.line = at.first_line;
  s->loc.column = at.first_column;
  s->end_line = at.last_line;
  s->end_column = at.last_column;
  return s;
}

/* More named parameters and arguments than this are a mistake, and slow to check. */
enum { MAX_NAMES = 1000 };

/* Keyword arguments come after positional ones, and no name twice. */
static void check_arguments(Parser *p, SynList args) {
  int keywords = 0;
  for (int i = 0; i < args.n; i++) {
    const Syn *x = args.at[i];
    if (x->kind == SYN_KEYWORD && ++keywords > MAX_NAMES)
      fail_at(p, x, NULL, "more than 1000 keyword arguments");
    bool generator = x->kind == SYN_LISTCOMP && x->i == 1;
    if (generator && args.n > 1)
      fail_at(p, x, "put it in parentheses", "a generator expression must be the only argument");
    if (i == 0 || args.at[i - 1]->kind != SYN_KEYWORD) continue;
    if (x->kind != SYN_KEYWORD && x->kind != SYN_DOUBLESTAR && x->kind != SYN_STAR)
      fail_at(p, x, NULL, "a positional argument follows a keyword argument");
    for (int k = 0; k < i && x->kind == SYN_KEYWORD; k++) {
      if (args.at[k]->kind == SYN_KEYWORD && strcmp(args.at[k]->s, x->s) == 0)
        fail_at(p, x, NULL, tirc_format(p->c, "the argument '%s' is given twice", x->s));
    }
  }
}

static void check_parameters(Parser *p, SynList params) {
  if (params.n > MAX_NAMES) fail_at(p, params.at[MAX_NAMES], NULL, "more than 1000 parameters");
  for (int i = 0; i < params.n; i++) {
    const Syn *x = params.at[i];
    if (x->kind != SYN_PARAM) continue;
    if (x->i == 1 && !*x->s && (i + 1 == params.n || params.at[i + 1]->i))
      fail_at(p, x, NULL, "a parameter must follow '*'");
    for (int k = 0; k < i; k++) {
      const Syn *y = params.at[k];
      if (strcmp(x->s, y->s) == 0)
        fail_at(p, x, NULL, tirc_format(p->c, "the parameter '%s' is declared twice", x->s));
      if (y->i == 2) fail_at(p, x, NULL, "no parameter may follow '**'");
      if (y->b && !x->b && !x->i && k == i - 1)
        fail_at(p, x, NULL, "a parameter without default follows one with a default");
    }
  }
}

Syn *tirc_syn_with_kids(Parser *p, SynKind kind, Place at, Syn *a, SynVec *kids) {
  Syn *s = tirc_syn_node(p, kind, at);
  s->a = a;
  s->kids = list_of(kids);
  if (kind == SYN_CALL) check_arguments(p, s->kids);
  if (kind == SYN_LAMBDA) check_parameters(p, s->kids);
  return finish(p, s);
}

Syn *tirc_syn_keyword(Parser *p, Place at, Syn *name, Syn *value) {
  if (name->kind != SYN_NAME)
    fail_at(p, name, "a comparison is written '=='",
            "a keyword argument is a name, '=' and a value");
  return tirc_syn_named(p, SYN_KEYWORD, at, name->s, value, NULL);
}

/* --- strings ---------------------------------------------------------------------------------- */

/* Strings that stand side by side are one; an f-string among them makes all of it one. */
Syn *tirc_syn_join_strings(Parser *p, Place at, SynVec *strings) {
  if (strings->n == 1) return strings->at[0];
  bool plain = true;
  Text text = {.c = p->c};
  SynVec *parts = tirc_syn_vec(p, NULL);
  for (int i = 0; i < strings->n; i++) {
    Syn *x = strings->at[i];
    SynVec fields = {x->kids.at, x->kids.n, x->kids.n};
    if (x->kind == SYN_STRING) {
      tirc_text_add(&text, x->s);
      tirc_syn_push(p, parts, x);
    } else {
      plain = false;
      tirc_syn_append(p, parts, &fields);
    }
  }
  if (!plain) return tirc_syn_list(p, SYN_FSTRING, at, parts);
  Syn *s = tirc_syn_node(p, SYN_STRING, at);
  s->s = text.at ? text.at : "";
  return s;
}

/* --- comparisons ------------------------------------------------------------------------------ */

Syn *tirc_syn_compare(Parser *p, Place at, Syn *left, const char *op, Syn *right) {
  /* Parentheses around the left side end a chain; they show in where the two begin. */
  bool bare = left->loc.line == at.first_line && left->loc.column == at.first_column;
  Syn *last = left->kind == SYN_BOOL && left->i == 1 ? left->b : left;
  if (!bare || last->kind != SYN_COMPARE) return tirc_syn_op(p, SYN_COMPARE, at, op, left, right);
  Place there = {last->b->loc.line, last->b->loc.column, at.last_line, at.last_column, 0, 0};
  Syn *next = tirc_syn_op(p, SYN_COMPARE, there, op, last->b, right);
  next->i = 1;
  Syn *both = tirc_syn_op(p, SYN_BOOL, at, "and", left, next);
  both->i = 1;
  return both;
}

/* --- statements ------------------------------------------------------------------------------- */

void tirc_syn_check_target(Parser *p, const Syn *t) {
  switch (t->kind) {
  case SYN_NAME:
  case SYN_ATTRIBUTE:
  case SYN_SUBSCRIPT: return;
  case SYN_TUPLE:
  case SYN_LIST:
    for (int i = 0; i < t->kids.n; i++) tirc_syn_check_target(p, t->kids.at[i]);
    return;
  case SYN_STAR: tirc_syn_check_target(p, t->a); return;
  case SYN_COMPARE:
    fail_at(p, t, "an assignment is written with a single '='", "cannot assign to a comparison");
    return;
  case SYN_CALL: fail_at(p, t, NULL, "cannot assign to a call"); return;
  default: fail_at(p, t, NULL, "cannot assign to this expression");
  }
}

Syn *tirc_syn_assign(Parser *p, Place at, SynVec *parts) {
  Syn *s = tirc_syn_node(p, SYN_ASSIGN, at);
  s->a = parts->at[parts->n - 1];
  s->kids = (SynList){parts->n - 1, parts->at};
  for (int i = 0; i < s->kids.n; i++) tirc_syn_check_target(p, s->kids.at[i]);
  return finish(p, s);
}

Syn *tirc_syn_annotated(Parser *p, Place at, Syn *target, Syn *annotation, Syn *value) {
  if (target->kind != SYN_NAME && target->kind != SYN_ATTRIBUTE && target->kind != SYN_SUBSCRIPT)
    fail_at(p, target, NULL, "only a single name can have a type annotation");
  return tirc_syn_3(p, SYN_ANNASSIGN, at, target, annotation, value);
}

Syn *tirc_syn_augmented(Parser *p, Place at, Syn *target, const char *op, Syn *value) {
  if (target->kind != SYN_NAME && target->kind != SYN_ATTRIBUTE && target->kind != SYN_SUBSCRIPT)
    fail_at(p, target, NULL, tirc_format(p->c, "'%s=' needs a single target", op));
  return tirc_syn_op(p, SYN_AUGASSIGN, at, op, target, value);
}

Syn *tirc_syn_compound(Parser *p, SynKind kind, Place at, Syn *a, Syn *b, SynVec *kids,
                       SynVec *body, SynVec *orelse) {
  Syn *s = tirc_syn_node(p, kind, at);
  s->a = a;
  s->b = b;
  s->kids = list_of(kids);
  s->body = list_of(body);
  s->orelse = list_of(orelse);
  return finish(p, s);
}

Syn *tirc_syn_def(Parser *p, SynKind kind, Place at, const char *name, SynVec *params, Syn *returns,
                  SynVec *body) {
  Syn *s = tirc_syn_compound(p, kind, at, NULL, returns, params, body, NULL);
  s->s = name;
  if (kind == SYN_DEF) check_parameters(p, s->kids);
  return s;
}

Syn *tirc_syn_try(Parser *p, Place at, SynVec *body, SynVec *handlers, SynVec *orelse,
                  SynVec *finally) {
  Syn *s = tirc_syn_compound(p, SYN_TRY, at, NULL, NULL, handlers, body, orelse);
  s->finalbody = list_of(finally);
  return finish(p, s);
}

Syn *tirc_syn_decorate(Parser *p, SynVec *decorators, Syn *def) {
  def->decorators = list_of(decorators);
  return finish(p, def);
}

Syn *tirc_syn_import(Parser *p, Place at) {
  const char *from = p->text + at.first_offset;
  return tirc_syn_named(p, SYN_IMPORT, at,
                        tirc_strndup(p->c, from, at.last_offset - at.first_offset), NULL, NULL);
}
