/* Each operation copies what it is given (isl counts references, so that is cheap), makes its
 * result, and keeps that in the list of what is alive. */
#include "set.h"

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef enum LiveKind { LIVE_VALUE, LIVE_SET, LIVE_MAP } LiveKind;
typedef struct Live {
  LiveKind kind;
  void *at;
} Live;

typedef struct Known { /* of a parameter */
  const void *key;
  int64_t first, end;
} Known;

struct Sets {
  Tirc *c;
  isl_ctx *ctx;
  Live *live;
  int n, room;
  Known *known;
  int n_known, known_room;
  int64_t question; /* changes when what was made in one goes */
  bool no_memory;
  SetsCost *costs;
  int n_costs, cost_room;
  double began; /* the last question */
};

static void free_live(Live l) {
  switch (l.kind) {
  case LIVE_VALUE: isl_pw_aff_free(l.at); break;
  case LIVE_SET: isl_set_free(l.at); break;
  case LIVE_MAP: isl_map_free(l.at); break;
  }
}

static void free_all(Sets *s) {
  while (s->n > 0) free_live(s->live[--s->n]);
  s->n_known = 0;
  s->question++;
}

int64_t tirc_sets_question(const Sets *s) { return s->question; }

static void release(void *self) {
  Sets *s = self;
  free_all(s);
  isl_ctx_free(s->ctx);
  free(s->live);
  free(s->known);
  free(s->costs);
  free(s);
}

static _Noreturn void out_of_memory(Tirc *c) {
  tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
}

Sets *tirc_sets_new(Tirc *c) {
  Sets *s = calloc(1, sizeof *s);
  if (!s) out_of_memory(c);
  s->c = c;
  tirc_context_own(c, s, release);
  return s;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One more, unless there is no memory for what measurements alone want to know. */
static void begin_cost(Sets *s) {
  if (s->n_costs == s->cost_room) {
    const int room = s->cost_room ? 2 * s->cost_room : 16;
    SetsCost *grown = realloc(s->costs, (size_t)room * sizeof *grown);
    if (!grown) return;
    s->costs = grown;
    s->cost_room = room;
  }
  s->costs[s->n_costs++] = (SetsCost){0};
  s->began = now();
}

void tirc_sets_went_on(Sets *s) {
  if (s->n_costs) s->costs[s->n_costs - 1].seconds = now() - s->began;
}

int tirc_sets_costs(const Sets *s, const SetsCost **out) {
  *out = s ? s->costs : NULL;
  return s ? s->n_costs : 0;
}

/* isl says that it has no memory, but the numbers that it counts with (GMP) end the process. So a
 * question is asked only where there is several times the memory that one within its budget takes
 * (less than 2 MiB in all recorded cases). */
static void require_room(const Sets *s) {
  void *room = malloc(8 << 20);
  if (!room) out_of_memory(s->c);
  free(room);
}

void tirc_sets_begin(Sets *s, unsigned long budget) {
  require_room(s);
  begin_cost(s);
  free_all(s);
  s->no_memory = false;
  if (!s->ctx) s->ctx = isl_ctx_alloc(); /* of one that is never asked there is none */
  if (!s->ctx) out_of_memory(s->c);
  isl_options_set_on_error(s->ctx, ISL_ON_ERROR_CONTINUE);
  isl_ctx_reset_error(s->ctx);
  isl_ctx_reset_operations(s->ctx);
  isl_ctx_set_max_operations(s->ctx, budget);
}

void tirc_sets_end(Sets *s) {
  const enum isl_error error = isl_ctx_last_error(s->ctx);
  const bool no_memory = s->no_memory || error == isl_error_alloc;
  free_all(s);
  s->no_memory = false;
  isl_ctx_reset_error(s->ctx);
  tirc_sets_went_on(s);
  if (s->n_costs) s->costs[s->n_costs - 1].over_budget = error == isl_error_quota;
  if (no_memory) out_of_memory(s->c);
}

static void *keep(Sets *s, LiveKind kind, void *at) {
  if (!at) return NULL;
  if (s->n == s->room) {
    const int room = s->room ? 2 * s->room : 64;
    Live *grown = realloc(s->live, (size_t)room * sizeof *grown);
    if (!grown) {
      s->no_memory = true;
      free_live((Live){kind, at});
      return NULL;
    }
    s->live = grown;
    s->room = room;
  }
  s->live[s->n++] = (Live){kind, at};
  return at;
}

static ZValue value(Sets *s, isl_pw_aff *a) { return keep(s, LIVE_VALUE, a); }
static ZSet set(Sets *s, isl_set *a) { return keep(s, LIVE_SET, a); }
static ZMap map(Sets *s, isl_map *a) { return keep(s, LIVE_MAP, a); }

/* --- numbers --------------------------------------------------------------------------------- */

static isl_space *tuples(Sets *s, int n) { return isl_space_set_alloc(s->ctx, 0, (unsigned)n); }
static isl_val *number(Sets *s, int64_t v) { return isl_val_int_from_si(s->ctx, v); }

ZValue tirc_z_int(Sets *s, int n, int64_t v) {
  isl_local_space *space = isl_local_space_from_space(tuples(s, n));
  return value(s, isl_pw_aff_from_aff(isl_aff_val_on_domain(space, number(s, v))));
}

static isl_pw_aff *place_of(Sets *s, int n, int place) {
  isl_local_space *space = isl_local_space_from_space(tuples(s, n));
  return isl_pw_aff_from_aff(isl_aff_var_on_domain(space, isl_dim_set, (unsigned)place));
}

ZValue tirc_z_place(Sets *s, int n, int place) { return value(s, place_of(s, n, place)); }

static isl_id *param_id(Sets *s, const void *key) {
  char name[32];
  snprintf(name, sizeof name, "p%jx", (uintmax_t)(uintptr_t)key);
  return isl_id_alloc(s->ctx, name, (void *)(uintptr_t)key);
}

ZValue tirc_z_param(Sets *s, int n, const void *key) {
  isl_space *space = isl_space_add_param_id(tuples(s, n), param_id(s, key));
  return value(s, isl_pw_aff_from_aff(isl_aff_param_on_domain_space_id(space, param_id(s, key))));
}

void tirc_z_param_within(Sets *s, const void *key, int64_t first, int64_t end) {
  for (int i = 0; i < s->n_known; i++)
    if (s->known[i].key == key) return;
  if (s->n_known == s->known_room) {
    const int room = s->known_room ? 2 * s->known_room : 16;
    Known *grown = realloc(s->known, (size_t)room * sizeof *grown);
    if (!grown) out_of_memory(s->c);
    s->known = grown;
    s->known_room = room;
  }
  s->known[s->n_known++] = (Known){key, first, end};
}

static bool involves(isl_map *m, isl_id *param) {
  const int place = isl_map_find_dim_by_id(m, isl_dim_param, param);
  return place >= 0 && isl_map_involves_dims(m, isl_dim_param, (unsigned)place, 1);
}

static const Known *known_of(const Sets *s, isl_id *param) {
  for (int i = 0; i < s->n_known; i++)
    if (s->known[i].key == isl_id_get_user(param)) return &s->known[i];
  return NULL;
}

/* With what is known of the parameters that it is about, or the other one (NULL: of all). */
static isl_map *with_known(Sets *s, isl_map *m, isl_map *other) {
  if (!s->n_known) return m;
  if (other) m = isl_map_align_params(m, isl_map_get_space(other));
  for (int i = 0; i < isl_map_dim(m, isl_dim_param); i++) {
    isl_id *param = isl_map_get_dim_id(m, isl_dim_param, (unsigned)i);
    const Known *k = known_of(s, param);
    if (k && (!other || involves(m, param) || involves(other, param))) {
      m = isl_map_lower_bound_val(m, isl_dim_param, (unsigned)i, number(s, k->first));
      isl_val *last = isl_val_sub_ui(number(s, k->end), 1);
      m = isl_map_upper_bound_val(m, isl_dim_param, (unsigned)i, last);
    }
    isl_id_free(param);
  }
  return m;
}

/* Of one affine number each there is no case to tell apart, which is dear. */
static bool is_affine(isl_pw_aff *a) { return isl_pw_aff_isa_aff(a) == isl_bool_true; }

#define VALUE_OP(name)                                                                             \
  ZValue tirc_z_##name(Sets *s, ZValue a, ZValue b) {                                              \
    return a && b ? value(s, isl_pw_aff_##name(isl_pw_aff_copy(a), isl_pw_aff_copy(b))) : NULL;    \
  }
#define AFFINE_OP(name)                                                                            \
  ZValue tirc_z_##name(Sets *s, ZValue a, ZValue b) {                                              \
    isl_pw_aff *x = isl_pw_aff_copy(a), *y = isl_pw_aff_copy(b);                                   \
    if (!a || !b || !is_affine(a) || !is_affine(b)) return value(s, isl_pw_aff_##name(x, y));      \
    x = isl_pw_aff_align_params(x, isl_pw_aff_get_space(b));                                       \
    y = isl_pw_aff_align_params(y, isl_pw_aff_get_space(x));                                       \
    isl_aff *found = isl_aff_##name(isl_pw_aff_as_aff(x), isl_pw_aff_as_aff(y));                   \
    return value(s, isl_pw_aff_from_aff(found));                                                   \
  }
AFFINE_OP(add)
AFFINE_OP(sub)
AFFINE_OP(mul)
VALUE_OP(min)
VALUE_OP(max)

int tirc_z_length(ZValue a) { return isl_pw_aff_dim(a, isl_dim_in); }

bool tirc_z_is_constant(Sets *s, ZValue a) {
  (void)s;
  return a && isl_pw_aff_is_cst(a) == isl_bool_true;
}

ZValue tirc_z_floordiv(Sets *s, ZValue a, int64_t by) {
  if (!a) return NULL;
  if (is_affine(a)) {
    isl_aff *part = isl_aff_scale_down_val(isl_pw_aff_as_aff(isl_pw_aff_copy(a)), number(s, by));
    return value(s, isl_pw_aff_from_aff(isl_aff_floor(part)));
  }
  return value(s, isl_pw_aff_floor(isl_pw_aff_scale_down_val(isl_pw_aff_copy(a), number(s, by))));
}

ZValue tirc_z_floormod(Sets *s, ZValue a, int64_t by) {
  if (a && is_affine(a)) {
    isl_aff *whole = isl_pw_aff_as_aff(isl_pw_aff_copy(a));
    return value(s, isl_pw_aff_from_aff(isl_aff_mod_val(whole, number(s, by))));
  }
  return a ? value(s, isl_pw_aff_mod_val(isl_pw_aff_copy(a), number(s, by))) : NULL;
}

ZValue tirc_z_choose(Sets *s, ZSet where, ZValue yes, ZValue no) {
  if (!where || !yes || !no) return NULL;
  return value(s, isl_pw_aff_cond(isl_set_indicator_function(isl_set_copy(where)),
                                  isl_pw_aff_copy(yes), isl_pw_aff_copy(no)));
}

ZValue tirc_z_extend(Sets *s, ZValue a, int more) {
  if (!a || !more) return a;
  return value(s, isl_pw_aff_add_dims(isl_pw_aff_copy(a), isl_dim_in, (unsigned)more));
}

/* --- sets ------------------------------------------------------------------------------------ */

ZSet tirc_z_all(Sets *s, int n) { return set(s, isl_set_universe(tuples(s, n))); }
ZSet tirc_z_none(Sets *s, int n) { return set(s, isl_set_empty(tuples(s, n))); }

static isl_set *compare(Op op, isl_pw_aff *a, isl_pw_aff *b) {
  switch (op) {
  case OP_EQ: return isl_pw_aff_eq_set(a, b);
  case OP_NE: return isl_pw_aff_ne_set(a, b);
  case OP_LT: return isl_pw_aff_lt_set(a, b);
  case OP_LE: return isl_pw_aff_le_set(a, b);
  case OP_GT: return isl_pw_aff_gt_set(a, b);
  default: return isl_pw_aff_ge_set(a, b);
  }
}

ZSet tirc_z_compare(Sets *s, Op op, ZValue a, ZValue b) {
  return a && b ? set(s, compare(op, isl_pw_aff_copy(a), isl_pw_aff_copy(b))) : NULL;
}

ZSet tirc_z_and(Sets *s, ZSet a, ZSet b) {
  return a && b ? set(s, isl_set_intersect(isl_set_copy(a), isl_set_copy(b))) : NULL;
}

ZSet tirc_z_or(Sets *s, ZSet a, ZSet b) {
  return a && b ? set(s, isl_set_union(isl_set_copy(a), isl_set_copy(b))) : NULL;
}

ZSet tirc_z_within(Sets *s, ZSet a, int place, int64_t first, int64_t end) {
  if (!a) return NULL;
  const unsigned at = (unsigned)place;
  isl_set *from = isl_set_lower_bound_val(isl_set_copy(a), isl_dim_set, at, number(s, first));
  isl_val *last = isl_val_sub_ui(number(s, end), 1);
  return set(s, isl_set_upper_bound_val(from, isl_dim_set, at, last));
}

ZSet tirc_z_not(Sets *s, ZSet a) { return a ? set(s, isl_set_complement(isl_set_copy(a))) : NULL; }

ZSet tirc_z_extend_set(Sets *s, ZSet a, int more) {
  if (!a || !more) return a;
  return set(s, isl_set_add_dims(isl_set_copy(a), isl_dim_set, (unsigned)more));
}

/* --- relations ------------------------------------------------------------------------------- */

/* From the tuples to all numbers from a on, so many of them. */
static isl_map *interval(isl_pw_aff *a, isl_pw_aff *extent) {
  isl_map *from = isl_map_from_pw_aff(isl_pw_aff_copy(a));
  isl_map *end = isl_map_from_pw_aff(isl_pw_aff_add(a, extent));
  isl_space *one = isl_space_range(isl_map_get_space(from));
  from = isl_map_apply_range(from, isl_map_lex_le(isl_space_copy(one)));
  return isl_map_intersect(from, isl_map_apply_range(end, isl_map_lex_gt(one)));
}

static isl_map *to_one(Sets *s, ZSet from, ZValue to, ZValue extent) {
  if (!to) return isl_map_from_domain_and_range(isl_set_copy(from), isl_set_universe(tuples(s, 1)));
  if (extent) return interval(isl_pw_aff_copy(to), isl_pw_aff_copy(extent));
  return isl_map_from_pw_aff(isl_pw_aff_copy(to));
}

/* Whether they are one affine number each, everywhere. */
static bool are_affine(int n, const ZValue *to, const ZValue *extents) {
  for (int i = 0; i < n; i++)
    if (!to[i] || (extents && extents[i]) || isl_pw_aff_isa_aff(to[i]) != isl_bool_true)
      return false;
  return n > 0;
}

static isl_map *affine_map(Sets *s, isl_set *from, int n, const ZValue *to) {
  isl_aff_list *list = isl_aff_list_alloc(s->ctx, n);
  for (int i = 0; i < n; i++)
    list = isl_aff_list_add(list, isl_pw_aff_as_aff(isl_pw_aff_copy(to[i])));
  isl_space *space = isl_space_from_domain(isl_set_get_space(from));
  space = isl_space_add_dims(space, isl_dim_out, (unsigned)n);
  isl_map *m = isl_map_from_multi_aff(isl_multi_aff_from_aff_list(space, list));
  return isl_map_intersect_domain(m, from);
}

ZMap tirc_z_map(Sets *s, ZSet from, int n, const ZValue *to, const ZValue *extents) {
  if (!from) return NULL;
  if (are_affine(n, to, extents)) return map(s, affine_map(s, isl_set_copy(from), n, to));
  isl_map *m = isl_map_from_domain_and_range(isl_set_copy(from), isl_set_universe(tuples(s, 0)));
  for (int i = 0; i < n; i++)
    m = isl_map_flat_range_product(m, to_one(s, from, to[i], extents ? extents[i] : NULL));
  return map(s, m);
}

ZMap tirc_z_empty(Sets *s, int n_in, int n_out) {
  return map(s, isl_map_empty(isl_space_alloc(s->ctx, 0, (unsigned)n_in, (unsigned)n_out)));
}

#define MAP_OP(name, isl_name)                                                                     \
  ZMap tirc_z_##name(Sets *s, ZMap a, ZMap b) {                                                    \
    return a && b ? map(s, isl_map_##isl_name(isl_map_copy(a), isl_map_copy(b))) : NULL;           \
  }
MAP_OP(union, union)
MAP_OP(meet, intersect)
MAP_OP(minus, subtract)
MAP_OP(compose, apply_range)

ZMap tirc_z_reverse(Sets *s, ZMap a) { return a ? map(s, isl_map_reverse(isl_map_copy(a))) : NULL; }

ZMap tirc_z_drop_in(Sets *s, ZMap a, int first, int n) {
  if (!a || !n) return a;
  return map(s, isl_map_project_out(isl_map_copy(a), isl_dim_in, (unsigned)first, (unsigned)n));
}

static int index_in(int n, const int *places, int place) {
  int i = 0;
  while (i < n && places[i] != place) i++;
  return i;
}

ZMap tirc_z_keep_in(Sets *s, ZMap a, int n, const int *places) {
  if (!a) return NULL;
  int *order = tirc_new_array(s->c, int, n + 1), kept = 0;
  isl_map *m = isl_map_copy(a);
  for (int i = isl_map_dim(a, isl_dim_in), end = i; i >= 0; i--) {
    if (i > 0 && index_in(n, places, i - 1) == n) continue;
    m = isl_map_project_out(m, isl_dim_in, (unsigned)i, (unsigned)(end - i));
    end = i - 1;
  }
  bool turned = false;
  for (int i = 0; i < isl_map_dim(a, isl_dim_in); i++) {
    const int k = index_in(n, places, i);
    if (k == n) continue;
    order[k] = kept;
    turned |= k != kept++;
  }
  const ZMap found = map(s, m);
  return turned ? tirc_z_permute_in(s, found, order) : found;
}

ZMap tirc_z_from_head(Sets *s, ZMap a, int n) {
  if (!a) return NULL;
  const int tail = isl_map_dim(a, isl_dim_out) - n;
  isl_map *same = isl_set_identity(isl_map_range(isl_map_copy(a)));
  return map(s, isl_map_project_out(same, isl_dim_in, (unsigned)n, (unsigned)tail));
}

ZMap tirc_z_tuples(Sets *s, int n) {
  return map(s, isl_map_universe(isl_space_alloc(s->ctx, 0, (unsigned)n, (unsigned)n)));
}

#define PLACES_OP(name, isl_name)                                                                  \
  ZMap tirc_z_##name(Sets *s, ZMap m, int a) {                                                     \
    return m ? map(s, isl_map_##isl_name(isl_map_copy(m), isl_dim_in, a, isl_dim_out, a)) : NULL;  \
  }
PLACES_OP(equal_at, equate)
PLACES_OP(less_at, order_lt)
PLACES_OP(greater_at, order_gt)

ZMap tirc_z_later(Sets *s, int n) { return map(s, isl_map_lex_lt(tuples(s, n))); }

ZMap tirc_z_last(Sets *s, ZMap a) { return a ? map(s, isl_map_lexmax(isl_map_copy(a))) : NULL; }

ZMap tirc_z_permute_in(Sets *s, ZMap a, const int *order) {
  if (!a) return NULL;
  const int n = isl_map_dim(a, isl_dim_in);
  isl_map *turn = isl_map_universe(isl_space_alloc(s->ctx, 0, (unsigned)n, (unsigned)n));
  for (int i = 0; i < n; i++) turn = isl_map_equate(turn, isl_dim_in, order[i], isl_dim_out, i);
  return map(s, isl_map_apply_domain(isl_map_copy(a), turn));
}

static Answer answer(isl_bool b) {
  return b == isl_bool_error ? ANSWER_UNKNOWN : b ? ANSWER_YES : ANSWER_NO;
}

static Answer ask(Sets *s, isl_bool (*question)(isl_map *a), ZMap a) {
  if (!a) return ANSWER_UNKNOWN;
  isl_map *within = with_known(s, isl_map_copy(a), a);
  const Answer found = answer(question(within));
  isl_map_free(within);
  return found;
}

static Answer ask_both(Sets *s, isl_bool (*question)(isl_map *a, isl_map *b), ZMap a, ZMap b) {
  if (!a || !b) return ANSWER_UNKNOWN;
  isl_map *x = with_known(s, isl_map_copy(a), b), *y = with_known(s, isl_map_copy(b), a);
  const Answer found = answer(question(x, y));
  isl_map_free(x);
  isl_map_free(y);
  return found;
}

Answer tirc_z_is_empty(Sets *s, ZMap a) { return ask(s, isl_map_is_empty, a); }
Answer tirc_z_is_equal(Sets *s, ZMap a, ZMap b) { return ask_both(s, isl_map_is_equal, a, b); }
Answer tirc_z_is_function(Sets *s, ZMap a) { return ask(s, isl_map_is_single_valued, a); }
Answer tirc_z_is_subset(Sets *s, ZMap a, ZMap b) { return ask_both(s, isl_map_is_subset, a, b); }

/* --- witnesses ------------------------------------------------------------------------------- */

static bool coordinates(isl_point *p, int n, int64_t *out) {
  bool known = true;
  for (int i = 0; i < n; i++) {
    isl_val *v = isl_point_get_coordinate_val(p, isl_dim_set, i);
    known &= v && isl_val_is_int(v) == isl_bool_true;
    out[i] = known ? isl_val_get_num_si(v) : 0;
    isl_val_free(v);
  }
  return known;
}

/* The first point, so that people see small numbers: all in one tuple, the parameters foremost. */
static isl_point *first_point(isl_set *tuples) {
  isl_point *p = isl_set_sample_point(isl_set_lexmin(isl_set_copy(tuples)));
  if (!p || isl_point_is_void(p) != isl_bool_false) {
    isl_point_free(p);
    p = isl_set_sample_point(isl_set_copy(tuples));
  }
  isl_set_free(tuples);
  return p;
}

bool tirc_z_sample(Sets *s, ZMap a, ZPoint *out) {
  if (!a) return false;
  const int n_params = isl_map_dim(a, isl_dim_param);
  const int n_in = isl_map_dim(a, isl_dim_in), n_out = isl_map_dim(a, isl_dim_out);
  const void **keys = tirc_new_array(s->c, const void *, n_params + 1);
  int64_t *at = tirc_new_array(s->c, int64_t, n_params + n_in + n_out + 1);
  isl_set *all = isl_set_flatten(isl_map_wrap(with_known(s, isl_map_copy(a), NULL)));
  for (int i = 0; i < n_params; i++) {
    isl_id *id = isl_set_get_dim_id(all, isl_dim_param, (unsigned)i);
    keys[i] = isl_id_get_user(id);
    isl_id_free(id);
  }
  all = isl_set_move_dims(all, isl_dim_set, 0, isl_dim_param, 0, (unsigned)n_params);
  isl_point *p = first_point(all);
  const bool known =
      p && isl_point_is_void(p) == isl_bool_false && coordinates(p, n_params + n_in + n_out, at);
  isl_point_free(p);
  *out = (ZPoint){n_params, n_in, n_out, keys, at, at + n_params, at + n_params + n_in};
  return known;
}

ZMap tirc_z_at(Sets *s, ZMap a, int n_params, const void *const *params, const int64_t *of_params,
               const int64_t *in) {
  if (!a) return NULL;
  isl_map *m = isl_map_copy(a);
  for (int i = 0; i < n_params; i++) {
    isl_id *id = param_id(s, params[i]);
    const int place = isl_map_find_dim_by_id(m, isl_dim_param, id);
    isl_id_free(id);
    if (place >= 0) m = isl_map_fix_val(m, isl_dim_param, (unsigned)place, number(s, of_params[i]));
  }
  for (int i = 0; in && i < isl_map_dim(a, isl_dim_in); i++)
    m = isl_map_fix_val(m, isl_dim_in, (unsigned)i, number(s, in[i]));
  return map(s, m);
}
