/* specialize(block, size, ranges): a copy of what a block does for each range of a size, chosen
 * when it runs.
 *
 *   with T.block("root"):                  with T.block("root"):
 *       for i in range(n):                     if n == 1:
 *           block B: vi = i                        block n_1:
 *                                     ->               for i in range(1):
 *   specialize("root", "n",                                block B_n_1: vi = i
 *              [1, [2, 8]])                    else:
 *                                                  if 2 <= n and n <= 8:
 *                                                      block n_2_to_8:
 *                                                          for i in range(n): ...
 *                                                  else:
 *                                                      block n_other:
 *                                                          for i in range(n):
 *                                                              block B: vi = i
 *
 * Each copy is a scope of its own: it allocates what the block allocated, its blocks bear its name
 * behind their own, and where the range is one number that number stands for the size. What is left
 * for all other sizes is no copy: its loops and blocks keep their handles. Exactly one of them
 * runs, whatever the size is, and nothing changes a size while a function runs.
 *
 * Needs: a size of the function (an extent of its parameters, or a scalar), ranges of numbers in
 * ascending order, and a block without iterators, init and views. */
#include "blocks.h"
#include "ir/tree/symbols.h"

enum { MOST_RANGES = 64 };

typedef struct SizeRange {
  int64_t least, most;
} SizeRange;

typedef struct Sizes {
  Sched *s;
  Tirc *c;
  SRef *block;
  Expr size;
  int n;
  SizeRange *at;
} Sizes;

/* --- checks ----------------------------------------------------------------------------------- */

static void require_scope(const Sizes *z) {
  const Block *b = tirc_block_of(z->block);
  const char *what = b->n_iters     ? "iterators"
                     : b->init      ? "an init"
                     : b->n_matches ? "views of its own"
                                    : NULL;
  if (what) tirc_refuse(z->s, z->block->stmt, SERR_NOT_A_SCOPE, "block %s has %s", b->name, what);
}

static Expr size_named(const Sizes *z, const char *name) {
  Expr *symbols;
  const int n = tirc_extent_params(z->c, z->s->mod->funcs[z->block->func], &symbols);
  Text t = {.c = z->c};
  tirc_text_add(&t, "");
  for (int i = 0; i < n; i++) {
    if (!strcmp(symbols[i]->u.s, name)) return symbols[i];
    tirc_text_addf(&t, "%s%s", i ? ", " : "", symbols[i]->u.s);
  }
  tirc_sched_error(z->s, NULL, SERR_SIZE_NOT_FOUND, NULL,
                   n ? tirc_format(z->c, "its sizes are: %s", t.at)
                     : "all its extents are known: a schedule for them is all that it needs",
                   "the function %s has no size %s", z->s->mod->funcs[z->block->func]->name, name);
}

static _Noreturn void bad_range(const Sizes *z, int i, const char *why) {
  tirc_refuse(z->s, NULL, SERR_SIZE_RANGES, "range %d: %s", i + 1, why);
}

static SizeRange range_of(const Sizes *z, int i, Value v) {
  if (v.kind == VAL_INT) return (SizeRange){v.u.i, v.u.i};
  if (!tirc_is_sequence(v) || v.u.list->n != 2 || v.u.list->at[0].kind != VAL_INT ||
      v.u.list->at[1].kind != VAL_INT)
    bad_range(z, i, "it is neither an int nor a pair of ints");
  return (SizeRange){v.u.list->at[0].u.i, v.u.list->at[1].u.i};
}

static void read_ranges(Sizes *z, Value ranges) {
  if (!tirc_is_sequence(ranges) || !ranges.u.list->n || ranges.u.list->n > MOST_RANGES)
    tirc_refuse(z->s, NULL, SERR_SIZE_RANGES, "ranges is not a list of 1 to %d ranges",
                MOST_RANGES);
  z->n = ranges.u.list->n;
  z->at = tirc_new_array(z->c, SizeRange, z->n);
  for (int i = 0; i < z->n; i++) {
    const SizeRange r = range_of(z, i, ranges.u.list->at[i]);
    if (r.least > r.most) bad_range(z, i, "it ends before it begins");
    if (r.least < 0 || r.most > tirc_dtype_max(z->size->dtype)) bad_range(z, i, "no size is that");
    if (i && r.least <= z->at[i - 1].most)
      bad_range(z, i, "it overlaps the one before, or comes before it");
    z->at[i] = r;
  }
}

/* --- copies ----------------------------------------------------------------------------------- */

typedef struct Suffixed {
  const Sizes *of;
  const char *suffix;
  StrMap names;
} Suffixed;

static Stmt with_suffix(Mutator *m, Stmt s) {
  Suffixed *x = m->self;
  const Stmt to = tirc_mutate_stmt_children(m, s);
  if (to->kind != STMT_BLOCK) return to;
  struct StmtNode *named = tirc_new(m->c, struct StmtNode);
  *named = *to;
  named->u.block.name =
      tirc_free_block_name(x->of->s, x->of->block->func,
                           tirc_format(m->c, "%s_%s", to->u.block.name, x->suffix), &x->names);
  return tirc_stmt_done(m->c, named);
}

/* The body with the allocations, as a scope of this name. */
static Stmt scope_of(const Sizes *z, const char *name, Stmt body, int n, const Buffer *allocs) {
  const Block scope = {.name = name,
                       .predicate = tirc_bool(z->c, true),
                       .n_allocs = n,
                       .allocs = allocs,
                       .body = body};
  return tirc_with_loc(z->c, tirc_block(z->c, &scope), z->block->stmt->loc);
}

static const char *name_of_range(const Sizes *z, SizeRange r) {
  if (r.least == r.most) return tirc_format(z->c, "%s_%lld", z->size->u.s, (long long)r.least);
  return tirc_format(z->c, "%s_%lld_to_%lld", z->size->u.s, (long long)r.least, (long long)r.most);
}

static Stmt copy_for(const Sizes *z, SizeRange r, StrMap *names) {
  const Block *b = tirc_block_of(z->block);
  Suffixed x = {.of = z, .suffix = name_of_range(z, r), .names = *names};
  Mutator m = {.c = z->c, .expr = tirc_keep_expr, .stmt = with_suffix, .self = &x};
  const Stmt body = tirc_mutate_stmt(&m, b->body);
  const char *name = tirc_free_block_name(z->s, z->block->func, x.suffix, &x.names);
  *names = x.names;
  const Stmt copy = tirc_clone_fresh(z->c, scope_of(z, name, body, b->n_allocs, b->allocs));
  if (r.least < r.most) return copy;
  return tirc_substitute1_stmt(z->c, copy, z->size, tirc_int(z->c, z->size->dtype, r.least));
}

static Expr holds(const Sizes *z, SizeRange r) {
  Tirc *c = z->c;
  const Expr least = tirc_int(c, z->size->dtype, r.least),
             most = tirc_int(c, z->size->dtype, r.most);
  if (r.least == r.most) return tirc_binary(c, OP_EQ, z->size, least);
  return tirc_and(c, tirc_binary(c, OP_LE, least, z->size), tirc_binary(c, OP_LE, z->size, most));
}

void tirc_prim_specialize(Sched *s, const Value *args, Value *result) {
  Tirc *c = s->c;
  Sizes z = {.s = s, .c = c, .block = tirc_sref_of_value(s, args[0])};
  require_scope(&z);
  z.size = size_named(&z, args[1].u.s);
  read_ranges(&z, args[2]);
  StrMap names = {0};
  const Block *b = tirc_block_of(z.block);
  const char *rest =
      tirc_free_block_name(s, z.block->func, tirc_format(c, "%s_other", z.size->u.s), &names);
  Stmt *scopes = tirc_new_array(c, Stmt, z.n + 1), body;
  for (int i = 0; i < z.n; i++) scopes[i] = copy_for(&z, z.at[i], &names);
  body = scopes[z.n] = scope_of(&z, rest, b->body, b->n_allocs, b->allocs);
  for (int i = z.n; i-- > 0;) body = tirc_if(c, holds(&z, z.at[i]), scopes[i], body);
  Block to = *b;
  to.n_allocs = 0;
  to.allocs = NULL;
  to.measured = NULL;
  to.n_measured = 0;
  to.body = body;
  tirc_sched_replace(s, z.block, tirc_with_loc(c, tirc_block(c, &to), z.block->stmt->loc));
  *result = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int i = 0; i <= z.n; i++)
    tirc_value_append(c, *result, tirc_value_block(scopes[i]->u.block.id));
}
