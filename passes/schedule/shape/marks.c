/* Marks that get lost. A loop is made parallel, a block gets an annotation, and a later call puts
 * something else in its place:
 *
 *   sch.parallel(i); sch.fuse(i, j)     ->     for i_j_fused in range(...):
 *
 * The program is what the calls say, and hardly what was meant: the call that drops a mark warns,
 * and names the place of the one that set it. What takes the place of a marked loop or block keeps
 * the mark if it is new in the program and has it, too. Marks of the program's own text count as
 * its author's affair, and so does a mark that is set anew or taken away by a call of its own. */
#include "shape.h"

#include "ir/tree/print.h"

static Attrs attrs_of(Stmt s) {
  return s->kind == STMT_FOR ? s->u.loop.annotations : s->u.block.annotations;
}

static bool has_mark(Stmt s, const SetMark *m) {
  if (m->key) return tirc_attrs_get(attrs_of(s), m->key) != NULL;
  return s->kind == STMT_FOR && s->u.loop.kind == m->kind &&
         (!m->thread || !strcmp(s->u.loop.thread, m->thread));
}

void tirc_mark_changed(Sched *s, const SRef *at, const char *key) {
  const Stmt now = at->stmt;
  const bool is_loop = now->kind == STMT_FOR;
  SetMark m = {.node = tirc_identity(now),
               .key = key,
               .kind = is_loop ? now->u.loop.kind : LOOP_SERIAL,
               .thread = is_loop ? now->u.loop.thread : NULL,
               .func = at->func,
               .what = tirc_describe(s, now),
               .loc = s->loc};
  m.set = has_mark(now, &m);
  vec_push(s->c, s->changed_marks, m);
}

static bool same_mark(const SetMark *a, const SetMark *b) {
  return a->node == b->node && !a->key == !b->key && (!a->key || !strcmp(a->key, b->key));
}

/* --- what takes the place of a loop or block -------------------------------------------------- */

typedef struct Heirs {
  Tirc *c;
  PtrMap before; /* identities of the loops and blocks that there were */
  const SetMark *mark;
  SetMarks *kept; /* gets the mark for each of what is new and has it */
} Heirs;

static bool see_before(Visitor *v, Stmt s) {
  Heirs *h = v->self;
  if (s->kind == STMT_FOR || s->kind == STMT_BLOCK)
    tirc_map_set(h->c, &h->before, tirc_identity(s), h);
  return true;
}

static bool see_after(Visitor *v, Stmt s) {
  Heirs *h = v->self;
  if ((s->kind != STMT_FOR && s->kind != STMT_BLOCK) ||
      tirc_map_has(&h->before, tirc_identity(s)) || !has_mark(s, h->mark))
    return true;
  SetMark m = *h->mark;
  m.node = tirc_identity(s);
  m.func = -1;
  vec_push(h->c, *h->kept, m);
  return true;
}

static void visit_all(const Module *m, bool (*see)(Visitor *, Stmt), Heirs *h) {
  tirc_visit_module(&(Visitor){.stmt = see, .expr = tirc_skip_expr, .self = h}, m);
}

/* --- the call is over ------------------------------------------------------------------------- */

/* Whether the call left the function of the mark as it was: a module has many marks, and a call
 * changes one function. */
static bool is_untouched(const Sched *s, const Module *before, const SetMark *m) {
  const Module *now = s->mod;
  return m->func >= 0 && m->func < now->n_funcs && now->n_funcs == before->n_funcs &&
         now->funcs[m->func] == before->funcs[m->func];
}

static bool still_marked(const Sched *s, const Module *before, const SetMark *m) {
  if (is_untouched(s, before, m)) return true;
  const SRef *r = tirc_map_get(&s->loops, m->node);
  if (!r) r = tirc_map_get(&s->blocks, m->node);
  return r && r->stmt && has_mark(r->stmt, m);
}

/* The call's own change of the mark; NULL: it made none. */
static const SetMark *changed_by_call(const Sched *s, const SetMark *m) {
  for (int i = 0; i < s->changed_marks.n; i++)
    if (same_mark(&s->changed_marks.at[i], m)) return &s->changed_marks.at[i];
  return NULL;
}

/* "at tile.sch:4:1" */
static const char *place_text(Tirc *c, Loc loc) {
  return loc.file ? tirc_format(c, " at %s:%d:%d", loc.file, loc.line, loc.column) : "";
}

static const char *how_text(Tirc *c, const SetMark *m) {
  if (m->key) return tirc_format(c, "annotated with \"%s\"", m->key);
  if (m->thread) return tirc_format(c, "bound to %s", m->thread);
  if (m->kind == LOOP_UNROLLED) return "unrolled";
  return tirc_format(c, "made %s", tirc_loop_kind_name(m->kind));
}

static void warn(Sched *s, const Primitive *p, const SetMark *m, const char *now) {
  tirc_sched_warn_code(s, CODE_LOST_MARK, "%s drops a mark: %s was %s%s, and %s", p->name, m->what,
                       how_text(s->c, m), place_text(s->c, m->loc), now);
}

/* The loop is run in another way from now on. */
static void warn_of_other_kind(Sched *s, const Primitive *p, const SetMark *m, const SetMark *now) {
  if (!m->key && (m->kind != now->kind || (m->thread && strcmp(m->thread, now->thread) != 0)))
    warn(s, p, m, tirc_format(s->c, "now it is %s: a loop has only one kind", how_text(s->c, now)));
}

static bool all_stay(const Sched *s, const Module *before) {
  for (int i = 0; i < s->set_marks.n; i++) {
    const SetMark *m = &s->set_marks.at[i];
    if (changed_by_call(s, m) || !still_marked(s, before, m)) return false;
  }
  return true;
}

/* Those that there were, as far as they are still there. */
static SetMarks remaining(Sched *s, const Primitive *p, const Module *before) {
  SetMarks kept = {0};
  Heirs h = {.c = s->c, .kept = &kept};
  for (int i = 0; i < s->set_marks.n; i++) {
    const SetMark *m = &s->set_marks.at[i];
    const int n = kept.n;
    const SetMark *change = changed_by_call(s, m);
    if (change) warn_of_other_kind(s, p, m, change);
    if (change) continue;
    if (still_marked(s, before, m)) {
      vec_push(s->c, kept, *m);
      continue;
    }
    if (!h.before.cap) visit_all(before, see_before, &h);
    h.mark = m;
    visit_all(s->mod, see_after, &h);
    if (kept.n == n) warn(s, p, m, "nothing in its place is");
  }
  return kept;
}

/* Most calls take no mark away: then the list grows where it is. */
SetMarks tirc_marks_after(Sched *s, const Primitive *p, const Module *before) {
  if (s->mod == before && !s->changed_marks.n) return s->set_marks;
  SetMarks kept = all_stay(s, before) ? s->set_marks : remaining(s, p, before);
  if (s->mod->n_funcs != before->n_funcs) /* they have other numbers */
    for (int i = 0; i < kept.n; i++) kept.at[i].func = -1;
  for (int i = 0; i < s->changed_marks.n; i++)
    if (s->changed_marks.at[i].set) vec_push(s->c, kept, s->changed_marks.at[i]);
  return kept;
}
