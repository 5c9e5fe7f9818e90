/* Mappings of a nest onto an array, by what they cost: nothing is measured.
 *
 * A mapping is a call of map_to_array (the script mappings): which loops lie on which axis, which
 * is the innermost time loop (the one that decides what stays), which small loops share a stamp,
 * whether there is a skew. Those that use most elements come first; one that would take longer even
 * if no element ever waited is left out once a better one is known. */
#include "api.h"

#include "ir/arith/arith.h"
#include "passes/record/trace.h"
#include "runtime/spatial/spatial.h"

#include <stdlib.h>

enum {
  SEARCH_LOOPS = 12,
  SMALL_LOOP = 16,
  KEPT = 10,
  USUAL_TRIALS = 400,
  SEARCH_ENUMERATE = 100000
};

typedef struct SearchNest {
  const char *block;
  int n;
  int64_t extents[SEARCH_LOOPS], instances;
} SearchNest;

typedef struct OnAxis { /* one loop, or two that become one */
  int n, loops[2];
  int64_t elements;
} OnAxis;

typedef struct Candidate {
  OnAxis axes[PE_AXES];
  int last;
  bool inside, skew;
  int64_t elements; /* that it uses */
  int number;
} Candidate;

typedef struct Found {
  char *schedule;
  int64_t cycles;
  double energy;
  Value cost;
} Found;

typedef struct Search {
  Tirc *c;
  const tirc_module *m;
  const char *func;
  const char *spec_text;
  const ArraySpec *spec;
  tirc_spatial_options o;
  int64_t trials;
  SearchNest nest;
  VEC(Candidate) candidates;
  Found best[KEPT];
  int n_best;
  int64_t tried, refused, left, untried;
  char *json;
} Search;

/* --- the nest --------------------------------------------------------------------------------- */

static bool read_nest(Tirc *c, Stmt s, const char *block, SearchNest *out) {
  *out = (SearchNest){.instances = 1};
  while (s->kind == STMT_FOR) {
    if (out->n == SEARCH_LOOPS ||
        !tirc_const_int(tirc_simplify0(c, s->u.loop.extent), &out->extents[out->n]) ||
        out->extents[out->n] < 1 ||
        __builtin_mul_overflow(out->instances, out->extents[out->n], &out->instances))
      return false;
    out->n++;
    s = s->u.loop.body;
  }
  if (s->kind != STMT_BLOCK || !out->n) return false;
  out->block = s->u.block.name;
  return !block || !strcmp(block, out->block);
}

/* The nest of the block, or the one with most instances. */
static void find_nest(Search *s, const Func *f) {
  Stmt body = f->body->kind == STMT_BLOCK ? f->body->u.block.body : f->body;
  const int n = body->kind == STMT_SEQ ? body->u.seq.n : 1;
  for (int i = 0; i < n; i++) {
    SearchNest one;
    if (read_nest(s->c, body->kind == STMT_SEQ ? tirc_item(body, i) : body, s->o.block, &one) &&
        one.instances > s->nest.instances)
      s->nest = one;
  }
  if (!s->nest.instances)
    tirc_fail(s->c, f->loc, CODE_PE_ARRAY, "give symbolic sizes a value: -D n=64",
              "%s has no nest of at most %d loops with constant extents around one block", f->name,
              SEARCH_LOOPS);
}

/* --- what there is ---------------------------------------------------------------------------- */

static bool lies_on(const OnAxis *a, int loop) {
  for (int i = 0; i < a->n; i++)
    if (a->loops[i] == loop) return true;
  return false;
}

static bool is_on_array(const Candidate *k, int axes, int loop) {
  for (int a = 0; a < axes; a++)
    if (lies_on(&k->axes[a], loop)) return true;
  return false;
}

/* All of it lies there, and no step of it is left. */
static bool is_spent(const Search *s, const Candidate *k, int loop) {
  for (int a = 0; a < s->spec->n_dims; a++) {
    const OnAxis *on = &k->axes[a];
    if (!lies_on(on, loop)) continue;
    int64_t room = s->spec->dims[a];
    if (on->n > 1) room /= s->nest.extents[on->loops[1]];
    return loop != on->loops[0] || s->nest.extents[loop] <= room;
  }
  return s->nest.extents[loop] == 1;
}

static bool is_inside(const Search *s, const Candidate *k, int loop) {
  return k->inside && loop != k->last && s->nest.extents[loop] <= SMALL_LOOP &&
         !is_on_array(k, s->spec->n_dims, loop);
}

/* All loops lie on the array: there is one stamp. */
static bool is_all_spent(const Search *s, const Candidate *k) {
  for (int i = 0; i < s->nest.n; i++)
    if (!is_spent(s, k, i)) return false;
  return true;
}

static void add_candidates(Search *s, Candidate k) {
  k.elements = 1;
  for (int a = 0; a < s->spec->n_dims; a++) k.elements *= k.axes[a].elements;
  if (is_all_spent(s, &k)) vec_push(s->c, s->candidates, k);
  for (k.last = 0; k.last < s->nest.n; k.last++) {
    if (is_spent(s, &k, k.last)) continue;
    for (int how = 0; how < 4; how++) {
      k.inside = how & 1;
      k.skew = how & 2;
      bool any = !k.inside;
      for (int i = 0; i < s->nest.n; i++) any |= is_inside(s, &k, i);
      if (!any || (k.skew && !s->spec->prev_time)) continue;
      k.number = s->candidates.n;
      vec_push(s->c, s->candidates, k);
    }
  }
}

static void lay_axes(Search *s, Candidate k, int axis) {
  if (axis == s->spec->n_dims || axis == PE_AXES) {
    add_candidates(s, k);
    return;
  }
  const int64_t size = s->spec->dims[axis];
  for (int i = 0; i < s->nest.n; i++)
    for (int j = -1; j < s->nest.n; j++) {
      if (is_on_array(&k, axis, i) || j == i || (j >= 0 && is_on_array(&k, axis, j))) continue;
      const int64_t own = j < 0 ? 1 : s->nest.extents[j];
      if (own * 2 > size && j >= 0) continue;
      const int64_t room = size / own;
      Candidate next = k;
      next.axes[axis] = (OnAxis){j < 0 ? 1 : 2, {i, j}, 0};
      next.axes[axis].elements = own * (s->nest.extents[i] < room ? s->nest.extents[i] : room);
      lay_axes(s, next, axis + 1);
    }
}

static int by_elements(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  return x->elements != y->elements ? (x->elements < y->elements) - (x->elements > y->elements)
                                    : x->number - y->number;
}

/* --- trying one ------------------------------------------------------------------------------- */

static char *schedule_of(const Search *s, const Candidate *k) {
  Text t = {.c = s->c};
  tirc_text_addf(&t, "from mappings import *\nmap_to_array(sch, \"%s\", [", s->nest.block);
  for (int a = 0; a < s->spec->n_dims; a++) {
    const OnAxis *on = &k->axes[a];
    tirc_text_addf(&t, on->n > 1 ? "%s[%d, %d]" : "%s[%d]", a ? ", " : "", on->loops[0],
                   on->loops[1]);
  }
  tirc_text_add(&t, "], [");
  for (int a = 0; a < s->spec->n_dims; a++)
    tirc_text_addf(&t, "%s%lld", a ? ", " : "", (long long)s->spec->dims[a]);
  tirc_text_addf(&t, "], %d, [", k->last);
  bool first = true;
  for (int i = 0; i < s->nest.n; i++)
    if (is_inside(s, k, i)) {
      tirc_text_addf(&t, "%s%d", first ? "" : ", ", i);
      first = false;
    }
  tirc_text_addf(&t, "], %s)\n", k->skew ? "True" : "False");
  return t.at;
}

static bool is_better(const Found *a, const Found *b) {
  return a->cycles != b->cycles ? a->cycles < b->cycles : a->energy < b->energy;
}

static void keep(Search *s, Found one) {
  int at = s->n_best;
  while (at > 0 && is_better(&one, &s->best[at - 1])) at--;
  if (at == KEPT) return;
  for (int i = s->n_best < KEPT ? s->n_best : KEPT - 1; i > at; i--) s->best[i] = s->best[i - 1];
  s->best[at] = one;
  if (s->n_best < KEPT) s->n_best++;
}

static void try_one(Search *s, const Candidate *k) {
  char *text = schedule_of(s, k), *json = NULL;
  tirc_module *made = NULL;
  tirc_spatial_options o = s->o;
  o.block = s->nest.block;
  o.enumerate = SEARCH_ENUMERATE;
  s->tried++;
  const bool works =
      !tirc_module_schedule_text(s->m, text, strlen(text), "mapping", NULL, &made, NULL) &&
      !tirc_module_spatial_cost(made, s->func, s->spec_text, &o, &json, NULL);
  tirc_module_free(made);
  if (!works) {
    s->refused++;
    return;
  }
  const Value cost = tirc_value_of_json(s->c, json);
  tirc_string_free(json);
  const Value *energy = tirc_dict_find(cost, "energy");
  keep(s, (Found){text, tirc_dict_find(cost, "busy_latency")->u.i,
                  energy->kind == VAL_INT ? (double)energy->u.i : energy->u.f, cost});
}

/* --- the door --------------------------------------------------------------------------------- */

static void tell(Search *s) {
  Tirc *c = s->c;
  const Value out = tirc_value_list(c, VAL_DICT, 0, NULL),
              best = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int i = 0; i < s->n_best; i++) {
    const Value one = tirc_value_list(c, VAL_DICT, 0, NULL);
    tirc_dict_put(c, one, "cycles", tirc_value_int(s->best[i].cycles));
    tirc_dict_put(c, one, "schedule", tirc_value_str(s->best[i].schedule));
    tirc_dict_put(c, one, "cost", s->best[i].cost);
    tirc_value_append(c, best, one);
  }
  tirc_dict_put(c, out, "block", tirc_value_str(s->nest.block));
  tirc_dict_put(c, out, "mappings", tirc_value_int(s->candidates.n));
  tirc_dict_put(c, out, "tried", tirc_value_int(s->tried));
  tirc_dict_put(c, out, "refused", tirc_value_int(s->refused));
  tirc_dict_put(c, out, "left_out", tirc_value_int(s->left));
  tirc_dict_put(c, out, "untried", tirc_value_int(s->untried));
  tirc_dict_put(c, out, "best", best);
  const char *json = tirc_value_to_json(c, out);
  s->json = tirc_api_copy(c, json, strlen(json));
}

static void search(Tirc *c, void *self) {
  Search *s = self;
  s->c = c;
  tirc_context_depend(c, s->m->c);
  s->spec = tirc_array_spec(c, s->o.spec_name ? s->o.spec_name : "array", s->spec_text,
                            strlen(s->spec_text));
  find_nest(s, tirc_api_func(c, s->m->m, s->func, NULL));
  lay_axes(s, (Candidate){0}, 0);
  if (!s->candidates.n)
    tirc_fail(c, (Loc){0}, CODE_PE_ARRAY, NULL, "the nest of block %s has fewer loops than axes",
              s->nest.block);
  qsort(s->candidates.at, (size_t)s->candidates.n, sizeof *s->candidates.at, by_elements);
  for (int i = 0; i < s->candidates.n; i++) {
    const Candidate *k = &s->candidates.at[i];
    if (s->n_best == KEPT && s->nest.instances / k->elements > s->best[0].cycles)
      s->left++;
    else if (s->tried < s->trials)
      try_one(s, k);
    else
      s->untried++;
  }
  tell(s);
}

tirc_status tirc_module_spatial_search(const tirc_module *m, const char *func, const char *spec,
                                       int64_t trials, const tirc_spatial_options *options,
                                       char **json, tirc_error **error) {
  NEED(m, spec, COUNT(trials), json);
  Search s = {.m = m, .func = func, .spec_text = spec, .trials = trials ? trials : USUAL_TRIALS};
  if (options) s.o = *options;
  const tirc_status status = tirc_api_scratch(search, &s, &m->sources, error);
  if (status == TIRC_OK) *json = s.json;
  return status;
}
