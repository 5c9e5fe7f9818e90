/* Random calls, made from the table of primitives: a parameter's kind says what text may stand
 * there. Blocks and loops are looked up anew in each line, so a line can be left out of a script.
 */
#include "fuzz.h"

enum { MAX_BLOCKS = 64 };

typedef struct BlockText {
  const char *name;
  int n_loops, n_iters, n_dims; /* n_dims: of the first buffer that it writes */
} BlockText;
typedef struct Blocks {
  int n;
  BlockText at[MAX_BLOCKS];
  const BlockText *loop_of; /* where the next loop argument most likely comes from, or NULL */
  const BlockText *picked;  /* the last block argument, or NULL */
} Blocks;

static void collect(Stmt s, int n_loops, Blocks *out) {
  switch (s->kind) {
  case STMT_FOR: collect(s->u.loop.body, n_loops + 1, out); break;
  case STMT_BLOCK:
    if (out->n < MAX_BLOCKS)
      out->at[out->n++] = (BlockText){s->u.block.name, n_loops, s->u.block.n_iters,
                                      s->u.block.n_writes ? s->u.block.writes[0].buffer->ndim : 0};
    collect(s->u.block.body, 0, out);
    break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) collect(s->u.seq.at[i], n_loops, out);
    break;
  case STMT_IF: collect(s->u.branch.then_case, n_loops, out); break;
  default: break;
  }
}

/* Names by weight. */
static const struct {
  const char *name;
  int weight;
} weights[] = {{"compute_at", 8},
               {"reverse_compute_at", 8},
               {"compute_inline", 4},
               {"split", 6},
               {"fuse", 4},
               {"reorder", 4},
               {"cache_read", 3},
               {"cache_write", 3},
               {"reverse_compute_inline", 4},
               {"get_block", 0},
               {"get_loops", 0},
               {"get_child_blocks", 0},
               {"get_producers", 0},
               {"get_consumers", 0},
               {"get_output_blocks", 0},
               {"transform_layout", 3},
               {"transform_block_layout", 2},
               {"reindex", 2},
               {"bind", 0}};

static int weight_of(const char *name) {
  for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
    if (strcmp(weights[i].name, name) == 0) return weights[i].weight;
  return 1;
}

static const Primitive *pick_primitive(Rng *r) {
  int total = 0;
  for (int i = 0; i < tirc_n_primitives; i++) total += weight_of(tirc_primitives[i].name);
  int at = rng_below(r, total);
  for (int i = 0;; i++)
    if ((at -= weight_of(tirc_primitives[i].name)) < 0) return &tirc_primitives[i];
}

static const BlockText *pick_block(Rng *r, const Blocks *b) {
  /* the root block comes first: seldom a good argument */
  return &b->at[b->n > 1 && rng_chance(r, 98) ? 1 + rng_below(r, b->n - 1) : 0];
}

static const char *block_text(Tirc *c, const BlockText *b) {
  return tirc_format(c, "sch.get_block(\"%s\")", b->name);
}
static const char *loop_text(Tirc *c, const BlockText *b, int i) {
  return tirc_format(c, "sch.get_loops(%s)[%d]", block_text(c, b), i);
}
static const char *any_loop(Tirc *c, Rng *r, const Blocks *blocks) {
  bool related = blocks->loop_of && rng_chance(r, 75);
  const BlockText *b = related ? blocks->loop_of : pick_block(r, blocks);
  return loop_text(c, b, b->n_loops ? rng_below(r, b->n_loops) : 0);
}

static const char *loops_text(Tirc *c, Rng *r, const Blocks *blocks, bool shuffle) {
  const BlockText *b = pick_block(r, blocks);
  int at[64], n = b->n_loops < 64 ? b->n_loops : 64;
  for (int i = 0; i < n; i++) at[i] = i;
  for (int i = n - 1; shuffle && i > 0; i--) {
    int k = rng_below(r, i + 1), t = at[i];
    at[i] = at[k];
    at[k] = t;
  }
  int count = n > 2 ? 2 + rng_below(r, n - 1) : n;
  int from = n > count ? rng_below(r, n - count + 1) : 0;
  Text t = {.c = c};
  tirc_text_add(&t, "");
  for (int i = from; i < from + count; i++)
    tirc_text_addf(&t, "%s%s", i > from ? ", " : "", loop_text(c, b, at[i]));
  return t.at;
}

/* Loops of blocks that stand next to each other, at one depth. */
static const char *beside_text(Tirc *c, Rng *r, const Blocks *blocks) {
  int at = blocks->n > 2 ? 1 + rng_below(r, blocks->n - 2) : 0;
  const BlockText *x = &blocks->at[at], *y = &blocks->at[blocks->n > 2 ? at + 1 : at];
  int least = x->n_loops < y->n_loops ? x->n_loops : y->n_loops;
  int depth = least ? rng_below(r, least) : 0;
  return tirc_format(c, "%s, %s", loop_text(c, x, depth), loop_text(c, y, depth));
}

/* A loop, or a list of neighbouring blocks. */
static const char *target_text(Tirc *c, Rng *r, const Blocks *blocks) {
  if (blocks->n < 3 || rng_chance(r, 70)) return any_loop(c, r, blocks);
  int at = 1 + rng_below(r, blocks->n - 2);
  return tirc_format(c, "[%s, %s]", block_text(c, &blocks->at[at]),
                     block_text(c, &blocks->at[at + 1]));
}

static const char *factors_text(Tirc *c, Rng *r) {
  int n = 2 + rng_below(r, 2), none = rng_chance(r, 90) ? rng_below(r, n) : -1;
  Text t = {.c = c};
  for (int i = 0; i < n; i++)
    if (i == none)
      tirc_text_addf(&t, "%sNone", i ? ", " : "[");
    else
      tirc_text_addf(&t, "%s%d", i ? ", " : "[", rng_chance(r, 3) ? 0 : 1 + rng_below(r, 6));
  tirc_text_add(&t, "]");
  return t.at;
}

/* A loop that goes with a block: its consumer's, its producer's, its own. Blocks that stand next to
 * each other often are producer and consumer. */
static const char *any_block(Tirc *c, Rng *r, Blocks *b, const char *primitive) {
  const BlockText *picked = pick_block(r, b);
  int at = (int)(picked - b->at);
  int step = strcmp(primitive, "compute_at") == 0           ? 1
             : strcmp(primitive, "reverse_compute_at") == 0 ? -1
                                                            : 0;
  b->picked = picked;
  b->loop_of = at + step > 0 && at + step < b->n ? &b->at[at + step] : NULL;
  return block_text(c, picked);
}

static const char *buffer_text(Rng *r) {
  return rng_chance(r, 70)   ? "(\"write\", 0)"
         : rng_chance(r, 80) ? "(\"read\", 0)"
                             : "(\"read\", 1)";
}

/* One index that a map gives: an input, or inputs joined. */
static const char *index_text(Tirc *c, Rng *r, int *next, int n, const int *order) {
  int i = order[(*next)++];
  if (*next == n || rng_chance(r, 70)) return tirc_format(c, "i%d", i);
  return tirc_format(c, "i%d * %d + i%d", i, 2 + rng_below(r, 9), order[(*next)++]);
}

/* A map of n indices: shuffled, some of them joined, some split. Not all are injective. */
static const char *map_text(Tirc *c, Rng *r, int n) {
  int order[8], next = 0;
  if (n > 8) n = 8;
  for (int i = 0; i < n; i++) order[i] = i;
  for (int i = n - 1; i > 0 && rng_chance(r, 60); i--) {
    int k = rng_below(r, i + 1), t = order[i];
    order[i] = order[k];
    order[k] = t;
  }
  Text params = {.c = c}, t = {.c = c};
  for (int i = 0; i < n; i++) tirc_text_addf(&params, "%si%d", i ? ", " : " ", i);
  while (next < n) {
    const char *e = index_text(c, r, &next, n, order);
    int by = 2 + rng_below(r, 4), rest = rng_chance(r, 90) ? by : by + 1;
    if (rng_chance(r, 60))
      tirc_text_addf(&t, "%s, ", e);
    else
      tirc_text_addf(&t, "(%s) // %d, (%s) %% %d, ", e, by, e, rest);
  }
  return tirc_format(c, "lambda%s: (%s)", n ? params.at : "", n ? t.at : "");
}

static const char *order_text(Tirc *c, Rng *r, int n) {
  Text t = {.c = c};
  int turn = n ? rng_below(r, n) : 0;
  for (int i = 0; i < n; i++) tirc_text_addf(&t, "%s%d", i ? ", " : "[", (i + turn) % n);
  return n ? tirc_format(c, "%s]", t.at) : "[]";
}

static const char *padding_text(Tirc *c, Rng *r, int n) {
  Text t = {.c = c};
  tirc_text_add(&t, "[");
  for (int i = 0; i < n; i++) tirc_text_addf(&t, "%s%d", i ? ", " : "", 1 + rng_below(r, 4));
  tirc_text_add(&t, "]");
  return t.at;
}

/* NULL: no text is known for this parameter. */
static const char *argument(Tirc *c, Rng *r, Blocks *b, const char *primitive, const Param *p) {
  switch (p->kind) {
  case PARAM_BLOCK: return any_block(c, r, b, primitive);
  case PARAM_LOOP:
  case PARAM_LOCATION: return any_loop(c, r, b);
  case PARAM_BLOCK_OR_LOOP:
    return rng_chance(r, 50) ? any_loop(c, r, b) : block_text(c, pick_block(r, b));
  case PARAM_LOOP_OR_BLOCKS: return target_text(c, r, b);
  case PARAM_LOOPS:
    if (strcmp(primitive, "merge") == 0) return beside_text(c, r, b);
    return loops_text(c, r, b, strcmp(primitive, "reorder") == 0);
  case PARAM_FACTORS: return factors_text(c, r);
  case PARAM_BOOL: return rng_chance(r, 50) ? "True" : "False";
  case PARAM_INT: return tirc_format(c, "%d", rng_below(r, 4) - 2);
  case PARAM_BUFFER_INDEX: return rng_chance(r, 80) ? "0" : "1";
  case PARAM_OPT_BLOCKS:
    return rng_chance(r, 50) ? "None" : tirc_format(c, "[%s]", block_text(c, pick_block(r, b)));
  case PARAM_STR:
    if (strcmp(p->name, "storage_scope") == 0)
      return rng_chance(r, 50) ? "\"global\"" : rng_chance(r, 50) ? "\"local\"" : "\"shared\"";
    return strcmp(p->name, "ann_key") == 0 ? "\"note\"" : NULL;
  case PARAM_BUFFER: return buffer_text(r);
  case PARAM_INDEX_MAP: {
    int n = b->picked ? b->picked->n_iters : 0;
    if (b->picked && strcmp(primitive, "transform_layout") == 0) n = b->picked->n_dims;
    return map_text(c, r, n);
  }
  case PARAM_PAD_VALUE: return "0.0";
  case PARAM_INTS:
    if (strcmp(p->name, "padding") == 0)
      return padding_text(c, r, b->picked ? b->picked->n_iters : 0);
    return strcmp(p->name, "new_order") == 0 ? order_text(c, r, b->picked ? b->picked->n_iters : 0)
                                             : NULL;
  case PARAM_OPT_INTS:
    return strcmp(p->name, "axis_separators") == 0 ? tirc_format(c, "[%d]", rng_below(r, 4)) : NULL;
  case PARAM_ANY: return strcmp(p->name, "ann_val") == 0 ? "1" : NULL;
  default: return NULL;
  }
}

static const char *try_call(Tirc *c, Rng *r, const Primitive *p, Blocks *b) {
  b->loop_of = b->picked = NULL;
  Text t = {.c = c};
  tirc_text_addf(&t, "sch.%s(", p->name);
  bool first = true;
  for (int i = 0; i < p->n_params; i++) {
    const Param *q = &p->params[i];
    bool optional = q->default_text != NULL;
    bool changes_numbers = strcmp(q->name, "disable_predication") == 0 ||
                           strcmp(q->name, "assume_injective_transform") == 0;
    if (optional && (changes_numbers || rng_chance(r, 70))) continue;
    const char *text = argument(c, r, b, p->name, q);
    if (!text) return NULL;
    tirc_text_addf(&t, optional ? "%s%s=%s" : "%s%s%s", first ? "" : ", ", optional ? q->name : "",
                   text);
    first = false;
  }
  tirc_text_add(&t, ")");
  return t.at;
}

const char *fuzz_call(Tirc *c, Rng *r, Sched *s) {
  Blocks blocks = {0};
  collect(tirc_module_main(s->mod)->body, 0, &blocks);
  for (;;) {
    const char *text = try_call(c, r, pick_primitive(r), &blocks);
    if (text) return text;
  }
}
