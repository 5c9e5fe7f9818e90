/* First all symbols have the same size: a multiple of the tiles in the program, one more, for a
 * last tile of one element, and for each loop inside of tiles an iteration of it and one element
 * more; more than the constants that are added to indices; and where conditions on loops and
 * symbols begin to hold for some iterations only. Then each of them in turn is 1, 2, and a little
 * less than the others, for distances between elements; at last each is much larger, or much
 * smaller, than the one before. */
#include "sizes.h"

#include "../../ir/arith.h"
#include "../../ir/visit.h"
#include "index_eval.h"
#include "internal.h"

enum { LEAST = 64, MOST = 2048, MAX_NUMBERS = 16, MAX_VARS = 8 };
enum { OWN_SIZES = 3, MAX_OWN = 5 }; /* of a symbol; symbols that have some */
enum { MAX_ENDS = 4 };

typedef struct Numbers { /* in their order */
  int n;
  int64_t at[MAX_NUMBERS];
} Numbers;

typedef struct Look {
  Tirc *c;
  Sizes sizes;
  Analyzer *a;
  Numbers factors; /* of tiles */
  Numbers steps;   /* between iterations of loops, in conditions on several of them */
  int64_t added;   /* the greatest constant that is */
  Numbers ends;    /* small sizes at which a condition on loops, too, changes */
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

static void add_number(Numbers *k, int64_t number) {
  int at = 0;
  while (at < k->n && k->at[at] < number) at++;
  if (number < 2 || number > MOST / 2 || k->n == MAX_NUMBERS || (at < k->n && k->at[at] == number))
    return;
  for (int i = k->n++; i > at; i--) k->at[i] = k->at[i - 1];
  k->at[at] = number;
}

typedef struct Names {
  const Sizes *sizes;
  bool symbol, load;
  int n; /* other variables */
  Expr vars[MAX_VARS];
  IndexEval env; /* all of them are 0 */
} Names;

static bool see_name(Visitor *v, Expr e) {
  Names *k = v->self;
  const bool symbol = e->op == OP_VAR && tirc_map_has(&k->sizes->numbers, e);
  k->symbol |= symbol;
  k->load |= e->op == OP_LOAD;
  if (e->op == OP_VAR) tirc_eval_give(&k->env, e, 0);
  if (e->op == OP_VAR && !symbol && k->n < MAX_VARS) k->vars[k->n++] = e;
  return true;
}

static void decide(Look *k, Expr condition, bool holds) {
  tirc_map_set(k->c, &k->sizes.decided, condition, (void *)(intptr_t)(1 + holds));
}

static bool difference(IndexEval *env, Expr comparison, int64_t *out) {
  int64_t a, b;
  const bool known = tirc_eval_index(env, comparison->args[0], &a) &&
                     tirc_eval_index(env, comparison->args[1], &b);
  *out = known ? a - b : 0;
  return known;
}

static void look_at_steps(Look *k, Names *names, Expr comparison) {
  int64_t start, next;
  for (int i = 0; i < names->n && difference(&names->env, comparison, &start); i++) {
    tirc_eval_give(&names->env, names->vars[i], 1);
    const int64_t step = difference(&names->env, comparison, &next) ? next - start : 0;
    tirc_eval_give(&names->env, names->vars[i], 0);
    add_number(&k->steps, step < 0 ? -step : step);
  }
}

/* Of i + n < 5: the loop's first iterations are what is left for n = 4 and n = 3. */
static void look_at_end(Look *k, Names *names, Expr comparison) {
  int64_t end;
  if (!difference(&names->env, comparison, &end) || end <= -LEAST || end >= LEAST) return;
  if (end < 0) end = -end;
  add_number(&k->ends, end - 1);
  add_number(&k->ends, end - 2);
}

static void look_at_comparison(Look *k, Expr e) {
  Names names = {.sizes = &k->sizes, .env = {.c = k->c}};
  tirc_visit_expr(&(Visitor){.expr = see_name, .self = &names}, e);
  if (names.n) look_at_steps(k, &names, e);
  if (names.n && names.symbol) look_at_end(k, &names, e);
  if (!names.symbol || names.n || names.load) return;
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
  if (compares) look_at_comparison(k, e);
  for (int i = 0; i < 2 && (tiles || compares || e->op == OP_ADD || e->op == OP_SUB); i++) {
    if (!tirc_const_int(e->args[i], &constant)) continue;
    if (tiles)
      add_number(&k->factors, constant);
    else if (constant > k->added && constant <= MOST / 2)
      k->added = constant;
  }
  return true;
}

/* --- the sizes ------------------------------------------------------------------------------- */

static int64_t multiple_from(int64_t least, int64_t of) { return (least + of - 1) / of * of; }

static void add_size(Sizes *sizes, int64_t size) {
  for (int i = 0; i < sizes->n_same; i++)
    if (sizes->same[i] == size) return;
  if (sizes->n_same < SIZES_MAX_SAME) sizes->same[sizes->n_same++] = size;
}

/* The least common multiple of the factors, but of those without which it would be too large. They
 * count as steps. */
static int64_t common_multiple(Look *k) {
  int64_t all = 1;
  for (int i = 0; i < k->factors.n; i++) {
    int64_t with = all;
    while (with % k->factors.at[i]) with += all;
    if (with <= 2 * LEAST)
      all = with;
    else
      add_number(&k->steps, k->factors.at[i]);
  }
  return all;
}

static void choose(Look *k) {
  Sizes *sizes = &k->sizes;
  const int64_t tiles = common_multiple(k), base = multiple_from(LEAST, tiles);
  sizes->base = base;
  add_size(sizes, base);
  add_size(sizes, base + 1);
  if (k->added >= base) add_size(sizes, multiple_from(k->added + 1, tiles) + 1);
  for (int i = 0; i < k->ends.n && i < MAX_ENDS; i++) add_size(sizes, k->ends.at[i]);
  for (int i = 0; i < k->steps.n; i++) add_size(sizes, k->steps.at[i] + 1);
  const int n_own = sizes->n_symbols < MAX_OWN ? sizes->n_symbols : MAX_OWN;
  sizes->n_own = n_own * OWN_SIZES;
  sizes->n_trials = sizes->n_same + sizes->n_own + (sizes->n_symbols > 1 ? 2 : 0);
}

const Sizes tirc_one_size = {.n_trials = 1, .n_same = 1, .same = {LEAST}};

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
  choose(&k);
  return tirc_copy(s->c, &k.sizes, 1);
}

/* Number 1 is the least. */
static int64_t spread(const Sizes *sizes, int number) {
  return sizes->base * (1 + 3 * (number - 1)) + 1;
}

int64_t tirc_size(const Sizes *sizes, Expr var, int trial) {
  if (trial < sizes->n_same) return sizes->same[trial];
  const int64_t own[OWN_SIZES] = {1, 2, sizes->base - 1};
  const int symbol = (trial - sizes->n_same) / OWN_SIZES;
  const int number = (int)(intptr_t)tirc_map_get(&sizes->numbers, var);
  if (trial == sizes->n_same + sizes->n_own) return spread(sizes, number);
  if (trial > sizes->n_same + sizes->n_own) return spread(sizes, sizes->n_symbols - number + 1);
  const bool is_own = number == symbol + 1;
  return is_own ? own[(trial - sizes->n_same) % OWN_SIZES] : sizes->base + 1;
}

bool tirc_size_decides(const Sizes *sizes, Expr condition, bool *holds) {
  const intptr_t known = (intptr_t)tirc_map_get(&sizes->decided, condition);
  *holds = known > 1;
  return known;
}
