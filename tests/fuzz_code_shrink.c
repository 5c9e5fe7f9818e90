/* A counterexample made small: statements go, loops run once, expressions become one of their
 * operands or a small constant, as long as what is left still differs. */
#include "fuzz_code.h"

#include "ir/tree/verify.h"
#include "ir/tree/visit.h"

#include <time.h>

enum { MAX_TRIES = 1500, SECONDS = 20, TOGETHER = 16, MAX_WAYS = 8 };

/* One change: of the statement or the expression that comes at this place in a walk. */
typedef struct Change {
  int place, way; /* way: one of the things that may be done there */
  int seen;
  bool done, in_statements;
} Change;

static Stmt nothing(Tirc *c) { return tirc_seq(c, 0, NULL); }

static Stmt changed_stmt(Tirc *c, Stmt s, int way) {
  switch (s->kind) {
  case STMT_SEQ: return NULL;
  case STMT_BLOCK: return NULL;
  case STMT_FOR: {
    For loop = s->u.loop;
    if (way == 0) return nothing(c);
    if (way == 1) return tirc_substitute1_stmt(c, loop.body, loop.var, loop.min);
    if (way == 2 && loop.kind != LOOP_SERIAL) return loop.kind = LOOP_SERIAL, tirc_for(c, &loop);
    if (way == 3 && tirc_is_int(loop.extent, 1)) return NULL;
    if (way == 3) return loop.extent = tirc_int(c, loop.extent->dtype, 1), tirc_for(c, &loop);
    return NULL;
  }
  case STMT_IF:
    if (way == 0) return s->u.branch.then_case;
    if (way == 1) return s->u.branch.else_case ? s->u.branch.else_case : nothing(c);
    if (way == 2 && s->u.branch.else_case)
      return tirc_if(c, s->u.branch.cond, s->u.branch.then_case, NULL);
    return NULL;
  case STMT_LET:
    if (way == 0) return tirc_substitute1_stmt(c, s->u.let.body, s->u.let.var, s->u.let.value);
    return NULL;
  default: return way == 0 ? nothing(c) : NULL;
  }
}

static Expr changed_expr(Tirc *c, Expr e, int way) {
  const bool leaf = e->op == OP_VAR || tirc_is_integer(e);
  int64_t value;
  int n = 0;
  if (!tirc_dtype_is_int(e->dtype) && !tirc_dtype_is_float(e->dtype) && e->dtype.code != TYPE_BOOL)
    return NULL;
  for (int i = 0; i < e->n && e->op != OP_LOAD; i++)
    if (tirc_dtype_equal(e->args[i]->dtype, e->dtype) && n++ == way) return e->args[i];
  if (way == n && e->op == OP_CAST && e->args[0]->op == OP_CAST)
    return tirc_expr(c, OP_CAST, e->dtype, 1, e->args[0]->args);
  n += e->op == OP_CAST && e->args[0]->op == OP_CAST;
  if (way < n || way > n + 2) return NULL;
  const int small = way - n; /* 0, 1 */
  if (small < 2 && e->op == OP_FLOAT)
    return e->u.f == small ? NULL : tirc_float(c, e->dtype, small);
  if (small < 2 && tirc_dtype_is_float(e->dtype)) return tirc_float(c, e->dtype, small);
  if (small < 2 && tirc_const_int(e, &value) && (value == 0 || value == 1)) return NULL;
  if (small < 2) return tirc_int_of_bits(c, e->dtype, small);
  if (leaf && tirc_const_int(e, &value) && (value > 3 || value < -3))
    return tirc_int_of_bits(c, e->dtype, value / 2);
  return NULL;
}

static Stmt change_stmt(Mutator *m, Stmt s) {
  Change *k = m->self;
  if (!k->done && k->in_statements && k->seen++ == k->place) {
    k->done = true;
    Stmt new = changed_stmt(m->c, s, k->way);
    if (!new) tirc_fail(m->c, (Loc){0}, CODE_INTERNAL, NULL, " ");
    return new;
  }
  if (k->done) return s;
  return tirc_mutate_stmt_children(m, s);
}

static Expr change_expr(Mutator *m, Expr e) {
  Change *k = m->self;
  if (!k->done && !k->in_statements && k->seen++ == k->place) {
    k->done = true;
    Expr new = changed_expr(m->c, e, k->way);
    if (!new) tirc_fail(m->c, (Loc){0}, CODE_INTERNAL, NULL, " ");
    return new;
  }
  return k->done ? e : tirc_mutate_expr_children(m, e);
}

typedef struct Shrink {
  Tirc *c;
  const Compiler *how;
  const Program *p;
  int tries;
  time_t until;
} Shrink;

/* The changed module; NULL: there is no such change. *ends: nor one at a later place. */
static const Module *change(Shrink *s, const Module *m, Change k, bool *ends) {
  Trap t;
  const Module *volatile out = NULL;
  volatile bool none = false;
  if (TIRC_TRY(s->c, t)) {
    Mutator mutator = {.c = s->c, .stmt = change_stmt, .expr = change_expr, .self = &k};
    const Func *f = tirc_module_main(m);
    Stmt body = tirc_mutate_stmt(&mutator, f->body);
    none = !k.done;
    const Module *new = tirc_module_with_func(s->c, m, 0, tirc_func_with_body(s->c, f, body));
    tirc_verify(s->c, new);
    out = new;
    TIRC_END(s->c, t);
  }
  *ends = none;
  return none ? NULL : out;
}

/* Changes that are tried together. */
typedef struct Tries {
  int n;
  struct {
    Change change;
    const Module *module;
  } at[TOGETHER];
  Program programs[TOGETHER];
  Expected expected[TOGETHER];
} Tries;

static void add_try(Shrink *s, Tries *t, const Program *p, const Module *m, Change k) {
  Program *own = &t->programs[t->n];
  *own = *p;
  own->name = tirc_format(s->c, "f%d", t->n);
  if (!code_expect_module(s->c, own, m, &t->expected[t->n])) return;
  t->at[t->n].change = k;
  t->at[t->n++].module = m;
}

/* The first that differs; -1: none of them. */
static int differing(Shrink *s, Tries *t, const char **why) {
  const char *what[TOGETHER];
  int found = -1;
  code_run(s->c, s->how, t->n, t->expected, what);
  for (int i = 0; i < t->n; i++) {
    code_release(&t->expected[i]);
    if (!what[i] || found >= 0) continue;
    found = i;
    *why = what[i];
  }
  s->tries += t->n;
  return found;
}

/* Every change once, going on from each that leaves a difference. */
static const Module *pass(Shrink *s, const Module *m, bool statements, const char **why) {
  Change k = {.in_statements = statements};
  for (bool ends = false; !ends && s->tries < MAX_TRIES && time(NULL) < s->until;) {
    Tries t = {0};
    while (!ends && t.n < TOGETHER) {
      const Module *less = change(s, m, k, &ends);
      if (less) add_try(s, &t, s->p, less, k);
      if (++k.way == MAX_WAYS) k.place++, k.way = 0;
    }
    const int found = differing(s, &t, why);
    if (found < 0) continue;
    m = t.at[found].module;
    k = t.at[found].change;
    k.way = 0;
    ends = false;
  }
  return m;
}

static bool differs(Shrink *s, const Program *p, const Module *m, const char **why) {
  Tries t = {0};
  add_try(s, &t, p, m, (Change){0});
  return t.n && differing(s, &t, why) == 0;
}

const Module *code_shrink(Tirc *c, const Compiler *how, Program *p, const char **why) {
  Expected e;
  Shrink s = {.c = c, .how = how, .p = p, .until = time(NULL) + SECONDS};
  if (!code_expect(c, p, &e)) return NULL;
  const Module *m = e.from, *before;
  code_release(&e);
  Program plain = *p;
  plain.automatic = false;
  plain.schedule = "";
  if ((p->automatic || *p->schedule) && differs(&s, &plain, m, why)) *p = plain;
  do {
    before = m;
    m = pass(&s, m, true, why);
    m = pass(&s, m, false, why);
  } while (m != before && s.tries < MAX_TRIES && time(NULL) < s.until);
  return m;
}
