#include "form.h"

#include "ir/tree/print.h"
#include "ir/tree/visit.h"

/* --- the way through the stamps --------------------------------------------------------------- */

static void make_box(Space *s) {
  for (int a = 0; a < PE_AXES; a++) s->size[a] = 1;
  for (int i = 0; i < s->m->n_loops; i++)
    if (s->m->loops[i].axis >= 0) s->size[s->m->loops[i].axis] = s->m->loops[i].extent;
  s->n_pes = (int)(s->size[0] * s->size[1] * s->size[2]);
  s->at = tirc_alloc_array(s->c, (size_t)s->n_pes, sizeof *s->at);
  for (int pe = 0; pe < s->n_pes; pe++) {
    int64_t rest = pe;
    for (int a = PE_AXES - 1; a >= 0; a--) {
      s->at[pe][a] = rest % s->size[a];
      rest /= s->size[a];
    }
  }
}

static void make_times(Space *s) {
  for (int i = 0; i < s->m->n_loops; i++) {
    const MapLoop *loop = &s->m->loops[i];
    *(loop->axis >= 0 ? &s->place : loop->inside ? &s->inside : &s->time) |= 1ull << i;
    if (loop->axis >= 0 || loop->inside) continue;
    const int n = s->n_time++;
    s->time_loops[n] = i;
    s->high[n] = loop->extent - 1;
    s->skewed |= loop->skewed;
    for (int a = 0; a < PE_AXES; a++) {
      const int64_t most = loop->skew[a] * (s->size[a] - 1);
      *(most < 0 ? &s->low[n] : &s->high[n]) += most;
    }
  }
}

static void make_lates(Space *s) {
  s->lates = tirc_new_array(s->c, int64_t, (int64_t)s->n_pes * s->n_time + 1);
  for (int pe = 0; pe < s->n_pes; pe++)
    for (int n = 0; n < s->n_time; n++)
      for (int a = 0; a < PE_AXES; a++)
        s->lates[pe * s->n_time + n] += s->m->loops[s->time_loops[n]].skew[a] * s->at[pe][a];
}

void tirc_space_make(Space *s, Tirc *c, const Mapping *m) {
  *s = (Space){.c = c, .m = m, .eval = {.c = c}};
  make_box(s);
  make_times(s);
  make_lates(s);
  for (int i = 0; i < m->n_loops; i++) tirc_eval_give(&s->eval, m->loops[i].var, m->loops[i].min);
}

static void set_loop(Space *s, int loop, int64_t step) {
  s->eval.values.at[loop].value = s->m->loops[loop].min + step;
}

bool tirc_space_begin(Space *s) {
  for (int n = 0; n < s->n_time; n++) s->stamp[n] = s->low[n];
  return true;
}

bool tirc_space_next(Space *s, int *turned) {
  int n = s->n_time - 1;
  while (n >= 0 && s->stamp[n] == s->high[n]) {
    s->stamp[n] = s->low[n];
    n--;
  }
  if (n >= 0) s->stamp[n]++;
  *turned = n;
  return n >= 0;
}

static void set_loops(Space *s) {
  for (int i = 0; i < s->m->n_loops; i++)
    if (s->m->loops[i].axis >= 0) set_loop(s, i, s->at[s->pe][s->m->loops[i].axis]);
  for (int n = 0; n < s->n_time; n++) set_loop(s, s->time_loops[n], s->stamp[n] - s->late[n]);
}

void tirc_space_enter(Space *s, int pe) {
  s->pe = pe;
  s->here = true;
  s->late = s->lates + pe * s->n_time;
  for (int n = 0; s->skewed && n < s->n_time && s->here; n++) {
    const int64_t step = s->stamp[n] - s->late[n];
    s->here = step >= 0 && step < s->m->loops[s->time_loops[n]].extent;
  }
  if (s->mixes && s->here) set_loops(s);
}

uint64_t tirc_space_uses(const Space *s, Expr e) {
  uint64_t out = 0;
  for (int i = 0; i < s->m->n_loops; i++)
    if (tirc_uses_var(e, s->m->loops[i].var)) out |= 1ull << i;
  return out;
}

/* --- what shares a stamp ---------------------------------------------------------------------- */

Ties *tirc_ties(const Space *s, uint64_t loops) {
  Ties *t = tirc_new(s->c, Ties);
  t->n = 1;
  t->loops = loops & s->inside;
  int64_t n = 1;
  for (int i = 0; i < s->m->n_loops; i++)
    if (t->loops & 1ull << i) {
      t->at_loop[t->n_loops++] = i;
      n *= s->m->loops[i].extent;
      if (n > 1 << 24)
        tirc_fail(s->c, s->m->loc, CODE_PE_ARRAY,
                  "move loops out of the array's loops with sch.reorder",
                  "more than %d instances share a time stamp and an element of the array", 1 << 24);
    }
  t->n = (int)n;
  t->values = tirc_new_array(s->c, int64_t, n * t->n_loops + 1);
  for (int j = 0; j < t->n; j++) {
    int64_t rest = j;
    for (int l = t->n_loops - 1; l >= 0; l--) {
      const MapLoop *loop = &s->m->loops[t->at_loop[l]];
      t->values[j * t->n_loops + l] = rest % loop->extent;
      rest /= loop->extent;
    }
  }
  return t;
}

static void set_tie(Space *s, const Ties *t, int j) {
  for (int l = 0; l < t->n_loops; l++) set_loop(s, t->at_loop[l], t->values[j * t->n_loops + l]);
}

/* --- forms ------------------------------------------------------------------------------------ */

static int64_t value_of(Space *s, Expr e) {
  int64_t v;
  if (tirc_eval_index(&s->eval, e, &v)) return v;
  tirc_fail(s->c, s->m->loc, CODE_PE_ARRAY, "indices must be made of loops by +, *, // and %",
            "the value of %s is not known", tirc_print_expr(s->c, e));
}

static void add_mixed(Space *s, Form *f, Expr e, int64_t scale) {
  Mixed *more = tirc_new_array(s->c, Mixed, f->n_mixed + 1);
  for (int i = 0; i < f->n_mixed; i++) more[i] = f->mixed[i];
  more[f->n_mixed++] = (Mixed){e, scale};
  s->mixes = true;
  f->mixed = more;
}

static void add_by_loop(Space *s, Form *f, Expr e, int64_t scale, int loop) {
  const int64_t n = s->m->loops[loop].extent;
  if (!f->by_loop[loop]) f->by_loop[loop] = tirc_new_array(s->c, int64_t, n);
  for (int64_t i = 0; i < n; i++) {
    set_loop(s, loop, i);
    f->by_loop[loop][i] += scale * value_of(s, e);
  }
}

static void add_by_place(Space *s, Form *f, Expr e, int64_t scale) {
  for (int pe = 0; pe < s->n_pes; pe++) {
    for (int i = 0; i < s->m->n_loops; i++)
      if (s->m->loops[i].axis >= 0) set_loop(s, i, s->at[pe][s->m->loops[i].axis]);
    f->by_place[pe] += scale * value_of(s, e);
  }
}

static void add_by_tie(Space *s, Form *f, Expr e, int64_t scale, const Ties *ties) {
  for (int j = 0; j < ties->n; j++) {
    set_tie(s, ties, j);
    f->by_tie[j] += scale * value_of(s, e);
  }
}

static void add_part(Space *s, Form *f, Expr e, int64_t scale, const Ties *ties) {
  const uint64_t used = tirc_space_uses(s, e);
  if (!used)
    f->base += scale * value_of(s, e);
  else if (!(used & ~s->place))
    add_by_place(s, f, e, scale);
  else if (!(used & ~s->inside))
    add_by_tie(s, f, e, scale, ties);
  else if (!(used & ~s->time) && !(used & (used - 1)))
    add_by_loop(s, f, e, scale, __builtin_ctzll(used));
  else
    add_mixed(s, f, e, scale);
}

static void add_parts(Space *s, Form *f, Expr e, int64_t scale, const Ties *ties) {
  int64_t k;
  if (e->op == OP_CAST && tirc_dtype_is_int(e->args[0]->dtype)) {
    add_parts(s, f, e->args[0], scale, ties);
  } else if (e->op == OP_ADD || e->op == OP_SUB) {
    add_parts(s, f, e->args[0], scale, ties);
    add_parts(s, f, e->args[1], e->op == OP_SUB ? -scale : scale, ties);
  } else if (e->op == OP_MUL && tirc_const_int(e->args[1], &k)) {
    add_parts(s, f, e->args[0], scale * k, ties);
  } else if (e->op == OP_MUL && tirc_const_int(e->args[0], &k)) {
    add_parts(s, f, e->args[1], scale * k, ties);
  } else {
    add_part(s, f, e, scale, ties);
  }
}

static Form empty(const Space *s, const Ties *ties) {
  return (Form){.by_place = tirc_new_array(s->c, int64_t, s->n_pes),
                .by_tie = tirc_new_array(s->c, int64_t, ties->n)};
}

Form tirc_form(Space *s, Expr e, const Ties *ties) {
  Form f = empty(s, ties);
  add_parts(s, &f, e, 1, ties);
  return f;
}

void tirc_form_add(Space *s, Form *to, const Form *of, int64_t scale, const Ties *ties) {
  if (!to->by_place) *to = empty(s, ties);
  to->base += scale * of->base;
  for (int pe = 0; pe < s->n_pes; pe++) to->by_place[pe] += scale * of->by_place[pe];
  for (int j = 0; j < ties->n; j++) to->by_tie[j] += scale * of->by_tie[j];
  for (int l = 0; l < s->m->n_loops; l++) {
    if (!of->by_loop[l]) continue;
    const int64_t n = s->m->loops[l].extent;
    if (!to->by_loop[l]) to->by_loop[l] = tirc_new_array(s->c, int64_t, n);
    for (int64_t i = 0; i < n; i++) to->by_loop[l][i] += scale * of->by_loop[l][i];
  }
  for (int i = 0; i < of->n_mixed; i++)
    add_mixed(s, to, of->mixed[i].of, scale * of->mixed[i].scale);
}

static void widen(Bound *b, const int64_t *at, int64_t n) {
  int64_t low = at[0], high = at[0];
  for (int64_t i = 1; i < n; i++) {
    if (at[i] < low) low = at[i];
    if (at[i] > high) high = at[i];
  }
  b->min += low;
  b->max += high;
}

Bound tirc_form_bound(const Space *s, const Form *f, const Ties *ties, Buffer buffer, int dim) {
  Bound b = {f->base, f->base};
  int64_t extent;
  if (f->n_mixed) {
    if (tirc_const_int(tirc_simplify0(s->c, buffer->shape[dim]), &extent))
      return (Bound){0, extent - 1};
    tirc_fail(s->c, s->m->loc, CODE_PE_ARRAY, "give symbolic sizes a value: -D n=64",
              "%s has no constant shape", buffer->name);
  }
  widen(&b, f->by_place, s->n_pes);
  widen(&b, f->by_tie, ties->n);
  for (int l = 0; l < s->m->n_loops; l++)
    if (f->by_loop[l]) widen(&b, f->by_loop[l], s->m->loops[l].extent);
  return b;
}

int64_t tirc_form_here(const Space *s, const Form *f) {
  int64_t v = f->base + f->by_place[s->pe];
  for (int n = 0; n < s->n_time; n++) {
    const int64_t *table = f->by_loop[s->time_loops[n]];
    if (table) v += table[s->stamp[n] - s->late[n]];
  }
  return v;
}

int64_t tirc_form_at(Space *s, const Form *f, const Ties *ties, int tie) {
  int64_t v = tirc_form_here(s, f) + f->by_tie[tie];
  if (!f->n_mixed) return v;
  set_tie(s, ties, tie);
  for (int i = 0; i < f->n_mixed; i++) v += f->mixed[i].scale * value_of(s, f->mixed[i].of);
  return v;
}
