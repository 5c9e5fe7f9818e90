/* The sizes: multiples of the tiles in the program, for tiles that end where the symbols do; one
 * more, for a last tile of one element; small ones, for distances between elements; and for several
 * symbols such that each is the greater one. All are more than the constants that are added to
 * indices, so that these lead to other elements. Tiles that have no small common multiple have
 * sizes of their own. */
#include "sizes.h"

#include "../../ir/arith.h"
#include "../../ir/visit.h"
#include "internal.h"

enum { LEAST = 64, SMALL = 2, MOST = 2048, MAX_FACTORS = 16 };
enum { OF_BASE, AFTER_BASE, SMALL_SIZES, RISING, FALLING }; /* the trials, before other bases */

typedef struct Look {
  Tirc *c;
  Sizes sizes;
  Analyzer *a;
  int n;
  int64_t factors[MAX_FACTORS]; /* of tiles, in their order */
  int64_t added;                /* the greatest constant that is */
} Look;

/* --- what is in the program ------------------------------------------------------------------ */

static bool add_symbol(Visitor *v, Expr e) {
  Look *k = v->self;
  if (e->op == OP_VAR && tirc_dtype_is_int(e->dtype) && !tirc_map_has(&k->sizes.numbers, e))
    tirc_map_set(k->c, &k->sizes.numbers, e, (void *)(intptr_t)++k->sizes.n_symbols);
  return true;
}

static void find_symbols(Look *k, const Func *f) {
  Visitor v = {.expr = add_symbol, .self = k};
  for (int i = 0; i < f->n_params; i++) {
    const Buffer b = f->buffers[i];
    if (!b) tirc_visit_expr(&v, f->params[i]);
    for (int d = 0; b && d < b->ndim; d++)
      if (b->shape[d]->op != OP_INT) tirc_visit_expr(&v, b->shape[d]);
  }
}

static void add_factor(Look *k, int64_t factor) {
  int at = 0;
  while (at < k->n && k->factors[at] < factor) at++;
  if (factor < 2 || factor > MOST / 2 || k->n == MAX_FACTORS ||
      (at < k->n && k->factors[at] == factor))
    return;
  for (int i = k->n++; i > at; i--) k->factors[i] = k->factors[i - 1];
  k->factors[at] = factor;
}

typedef struct Names {
  const Sizes *sizes;
  bool symbol, other;
} Names;

static bool see_name(Visitor *v, Expr e) {
  Names *k = v->self;
  const bool symbol = e->op == OP_VAR && tirc_map_has(&k->sizes->numbers, e);
  k->symbol |= symbol;
  k->other |= (e->op == OP_VAR && !symbol) || e->op == OP_LOAD;
  return !k->other;
}

static void decide(Look *k, Expr condition, bool holds) {
  tirc_map_set(k->c, &k->sizes.decided, condition, (void *)(intptr_t)(1 + holds));
}

static void look_at_condition(Look *k, Expr e) {
  Names names = {.sizes = &k->sizes};
  tirc_visit_expr(&(Visitor){.expr = see_name, .self = &names}, e);
  if (!names.symbol || names.other) return;
  if (tirc_prove(k->a, e))
    decide(k, e, true);
  else if (tirc_prove(k->a, tirc_not(k->c, e)))
    decide(k, e, false);
}

static bool look_at(Visitor *v, Expr e) {
  Look *k = v->self;
  int64_t constant;
  const bool tiles = e->op == OP_MUL || e->op == OP_FLOORDIV || e->op == OP_FLOORMOD ||
                     e->op == OP_TRUNCDIV || e->op == OP_TRUNCMOD;
  const bool compares = e->op >= OP_EQ && e->op <= OP_GE;
  if (compares) look_at_condition(k, e);
  for (int i = 0; i < 2 && (tiles || compares || e->op == OP_ADD || e->op == OP_SUB); i++) {
    if (!tirc_const_int(e->args[i], &constant)) continue;
    if (tiles)
      add_factor(k, constant);
    else if (constant > k->added && constant <= MOST / 2)
      k->added = constant;
  }
  return true;
}

/* --- the sizes ------------------------------------------------------------------------------- */

static int64_t multiple_from(int64_t least, int64_t of) { return (least + of - 1) / of * of; }

static void add_base(Sizes *sizes, int64_t base) {
  if (sizes->n_bases < SIZES_MAX_BASES) sizes->bases[sizes->n_bases++] = base;
}

/* The least common multiple of the first factors that have one of at most `most`. These are taken
 * out. */
static int64_t take_factors(Look *k, int64_t most) {
  int64_t all = 1;
  int left = 0;
  for (int i = 0; i < k->n; i++) {
    int64_t with = all;
    while (with % k->factors[i]) with += all;
    if (with <= most)
      all = with;
    else
      k->factors[left++] = k->factors[i];
  }
  k->n = left;
  return all;
}

static void choose_bases(Look *k) {
  Sizes *sizes = &k->sizes;
  const int64_t tiles = take_factors(k, 2 * LEAST);
  int64_t most = multiple_from(LEAST, tiles);
  add_base(sizes, most);
  while (k->n) {
    const int64_t base = multiple_from(LEAST, take_factors(k, MOST));
    add_base(sizes, base);
    if (base > most) most = base;
  }
  if (k->added >= most) add_base(sizes, multiple_from(k->added + 1, tiles));
}

const Sizes tirc_one_size = {.n_trials = 1, .n_bases = 1, .bases = {LEAST}};

static void assume(Look *k, Expr condition) {
  if (condition->op == OP_AND) {
    assume(k, condition->args[0]);
    assume(k, condition->args[1]);
  } else {
    decide(k, condition, true);
  }
}

/* The loop or block below the root that it is in. */
static const SRef *nest_around(const SRef *in) {
  while (in->parent && in->parent->parent) in = in->parent;
  return in;
}

const Sizes *tirc_sizes_of(Sched *s, const SRef *in, Expr assumed) {
  Look k = {.c = s->c};
  find_symbols(&k, s->mod->funcs[in->func]);
  if (!k.sizes.n_symbols) return &tirc_one_size;
  k.a = tirc_analyzer(s->c);
  tirc_bind_shapes(s, k.a, in);
  tirc_visit_stmt(&(Visitor){.expr = look_at, .self = &k}, nest_around(in)->stmt);
  if (assumed) assume(&k, assumed);
  choose_bases(&k);
  k.sizes.n_trials = (k.sizes.n_symbols > 1 ? FALLING : SMALL_SIZES) + k.sizes.n_bases;
  return tirc_copy(s->c, &k.sizes, 1);
}

int64_t tirc_size(const Sizes *sizes, Expr var, int trial) {
  const intptr_t number = (intptr_t)tirc_map_get(&sizes->numbers, var);
  const int64_t base = sizes->bases[0], k = number ? number - 1 : 0;
  const int own = sizes->n_symbols > 1 ? FALLING : SMALL_SIZES;
  if (trial > own) return sizes->bases[trial - own] + 1;
  switch (trial) {
  case OF_BASE: return base;
  case AFTER_BASE: return base + 1;
  case SMALL_SIZES: return SMALL + k;
  case RISING: return base + 1 + 2 * k;
  default: return base + 1 + 2 * (sizes->n_symbols - 1 - k);
  }
}

bool tirc_size_decides(const Sizes *sizes, Expr condition, bool *holds) {
  const intptr_t known = (intptr_t)tirc_map_get(&sizes->decided, condition);
  *holds = known > 1;
  return known;
}
