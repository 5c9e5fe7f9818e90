/* Loops get marks where they begin and end, which whoever runs them on a machine may count by:
 *
 *   for k in range(8): ...      T.start_profile_intrinsic(3)
 *                           ->  for k in range(8): ...
 *                               T.end_profile_intrinsic(3)
 *
 * A loop's number is its place in the text, from 1. What is in a parallel loop has no marks, nor
 * has a loop without others in it (lwp_min_height), below so many others (lwp_max_depth), or,
 * unless instr_siblings is off, one that no other loop stands beside. */
#include "internal.h"

typedef struct Profile {
  Tirc *c;
  int number, depth, max_depth, min_height;
  bool siblings, parallel;
  PtrMap beside; /* loops that another one stands beside */
} Profile;

/* How deep loops nest in it. */
static int height_of(Stmt s);
static bool see_height(Visitor *v, Stmt s) {
  int *most = v->self;
  if (s->kind != STMT_FOR) return true;
  const int h = 1 + height_of(s->u.loop.body);
  if (h > *most) *most = h;
  return false;
}
static int height_of(Stmt s) {
  int most = 0;
  tirc_visit_stmts(s, see_height, &most);
  return most;
}

static void note_siblings(Profile *p, Stmt seq) {
  int loops = 0;
  for (int i = 0; i < seq->u.seq.n; i++) loops += tirc_item(seq, i)->kind == STMT_FOR;
  for (int i = 0; loops > 1 && i < seq->u.seq.n; i++)
    if (tirc_item(seq, i)->kind == STMT_FOR) tirc_map_set(p->c, &p->beside, tirc_item(seq, i), p);
}

static Stmt mark(Tirc *c, Callee callee, int number) {
  Expr id = tirc_int32(c, number);
  return tirc_eval(c, tirc_call(c, DT_HANDLE, callee, 1, &id));
}

static Stmt visit(Mutator *m, Stmt s) {
  Profile *p = m->self;
  if (s->kind == STMT_SEQ) note_siblings(p, s);
  if (s->kind != STMT_FOR) return tirc_mutate_stmt_children(m, s);
  const int number = ++p->number;
  const bool inside = p->parallel, alone = !tirc_map_has(&p->beside, s);
  const bool marked = !inside && (!p->max_depth || p->depth < p->max_depth) &&
                      height_of(s->u.loop.body) >= p->min_height && !(p->siblings && alone);
  p->depth++;
  p->parallel |= s->u.loop.kind == LOOP_PARALLEL;
  s = tirc_mutate_stmt_children(m, s);
  p->parallel = inside;
  p->depth--;
  if (!marked) return s;
  Stmt all[] = {mark(m->c, CALL_START_PROFILE_INTRINSIC, number), s,
                mark(m->c, CALL_END_PROFILE_INTRINSIC, number)};
  return tirc_seq(m->c, 3, all);
}

Stmt tirc_lower_profile(Tirc *c, const Func *f) {
  Profile p = {.c = c,
               .max_depth = (int)tirc_pass_number_option(f, "lwp_max_depth", 0),
               .min_height = (int)tirc_pass_number_option(f, "lwp_min_height", 1),
               .siblings = tirc_pass_number_option(f, "instr_siblings", 1) != 0};
  if (!tirc_pass_option(f, "instrument_lwp")) return f->body;
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = visit, .self = &p};
  return tirc_mutate_stmt(&m, f->body);
}
