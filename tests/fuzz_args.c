/* Random arguments: a parameter's kind says what text may stand there. Blocks and loops are looked
 * up anew in each line, so a line can be left out of a script. Most arguments are meaningful; some
 * are of another type, out of range, or name what is not there. */
#include "fuzz_calls.h"

const BlockText *fuzz_block(Rng *r, const Blocks *b) {
  /* the root block comes first: seldom a good argument */
  return &b->at[b->n > 1 && rng_chance(r, 98) ? 1 + rng_below(r, b->n - 1) : 0];
}

const char *fuzz_block_text(Tirc *c, const BlockText *b) {
  return tirc_format(c, "sch.get_block(\"%s\")", b->name);
}
const char *fuzz_loop_text(Tirc *c, const BlockText *b, int i) {
  return tirc_format(c, "sch.get_loops(%s)[%d]", fuzz_block_text(c, b), i);
}
static const char *any_loop(Tirc *c, Rng *r, const Blocks *blocks) {
  bool related = blocks->loop_of && rng_chance(r, 75);
  const BlockText *b = related ? blocks->loop_of : fuzz_block(r, blocks);
  return fuzz_loop_text(c, b, b->n_loops ? rng_below(r, b->n_loops) : 0);
}

static const char *loops_text(Tirc *c, Rng *r, const Blocks *blocks, bool shuffle) {
  const BlockText *b = fuzz_block(r, blocks);
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
    tirc_text_addf(&t, "%s%s", i > from ? ", " : "", fuzz_loop_text(c, b, at[i]));
  return t.at;
}

/* Loops of blocks that stand next to each other, at one depth. */
static const char *beside_text(Tirc *c, Rng *r, const Blocks *blocks) {
  int at = blocks->n > 2 ? 1 + rng_below(r, blocks->n - 2) : 0;
  const BlockText *x = &blocks->at[at], *y = &blocks->at[blocks->n > 2 ? at + 1 : at];
  int least = x->n_loops < y->n_loops ? x->n_loops : y->n_loops;
  int depth = least ? rng_below(r, least) : 0;
  return tirc_format(c, "%s, %s", fuzz_loop_text(c, x, depth), fuzz_loop_text(c, y, depth));
}

/* A loop, or a list of neighbouring blocks. */
static const char *target_text(Tirc *c, Rng *r, const Blocks *blocks) {
  if (blocks->n < 3 || rng_chance(r, 70)) return any_loop(c, r, blocks);
  int at = 1 + rng_below(r, blocks->n - 2);
  return tirc_format(c, "[%s, %s]", fuzz_block_text(c, &blocks->at[at]),
                     fuzz_block_text(c, &blocks->at[at + 1]));
}

/* Symbolic lengths are padded to whole tiles of powers of two. */
static int factor(Rng *r, bool symbolic) {
  if (rng_chance(r, 3)) return 0;
  return symbolic && rng_chance(r, 50) ? 2 << rng_below(r, 5) : 1 + rng_below(r, 6);
}

static const char *factors_text(Tirc *c, Rng *r, bool symbolic) {
  int n = 2 + rng_below(r, 2), none = rng_chance(r, 90) ? rng_below(r, n) : -1;
  Text t = {.c = c};
  for (int i = 0; i < n; i++)
    if (i == none)
      tirc_text_addf(&t, "%sNone", i ? ", " : "[");
    else
      tirc_text_addf(&t, "%s%d", i ? ", " : "[", factor(r, symbolic));
  tirc_text_add(&t, "]");
  return t.at;
}

/* Primitives that are for a kind of blocks, and how such a block is known. */
static bool reduces(const BlockText *b) { return b->reduces; }
static bool guards(const BlockText *b) { return b->guards; }
static bool updates(const BlockText *b) { return b->updates; }
static bool names(const BlockText *b) { return b->names; }
static bool shares(const BlockText *b) { return b->shares; }
static const struct {
  const char *primitive;
  bool (*fits)(const BlockText *);
} preferences[] = {
    {"decompose_reduction", reduces},
    {"rfactor", reduces},
    {"decompose_padding", guards},
    {"can_decompose_padding", guards},
    {"cache_inplace", updates},
    {"rolling_buffer", shares},
    {"fuse_reduction_epilogue", reduces},
    {"compose_reduction", updates},
    {"privatize", updates},
    {"factor_out", reduces},
    {"inline_let", names},
};

static const BlockText *fitting_block(Rng *r, const Blocks *b, const char *primitive) {
  for (size_t i = 0; i < sizeof preferences / sizeof *preferences; i++) {
    if (strcmp(preferences[i].primitive, primitive) != 0 || rng_chance(r, 30)) continue;
    int n = 0, k = 0;
    for (int j = 0; j < b->n; j++) n += preferences[i].fits(&b->at[j]);
    if (!n) break;
    for (int left = rng_below(r, n); !preferences[i].fits(&b->at[k]) || left-- > 0;) k++;
    return &b->at[k];
  }
  return fuzz_block(r, b);
}

/* Loops that go with a block: its consumer's, its producer's, its own. Blocks that stand next to
 * each other often are producer and consumer. */
static const char *any_block(Tirc *c, Rng *r, Blocks *b, const char *primitive) {
  const BlockText *picked = b->picked ? b->picked : fitting_block(r, b, primitive);
  int at = (int)(picked - b->at);
  int step = strcmp(primitive, "compute_at") == 0           ? 1
             : strcmp(primitive, "reverse_compute_at") == 0 ? -1
                                                            : 0;
  b->picked = picked;
  b->loop_of = at + step >= 0 && at + step < b->n ? &b->at[at + step] : NULL;
  return fuzz_block_text(c, picked);
}

/* A block behind the one that was picked, most likely the next. */
static const char *later_block(Tirc *c, Rng *r, const Blocks *b) {
  const int at = b->picked ? (int)(b->picked - b->at) + 1 : b->n;
  if (at >= b->n || rng_chance(r, 10)) return fuzz_block_text(c, fuzz_block(r, b));
  return fuzz_block_text(c, &b->at[rng_chance(r, 70) ? at : at + rng_below(r, b->n - at)]);
}

/* A list of one: some block, or for what starts a sum most likely the one before it. */
static const char *blocks_text(Tirc *c, Rng *r, const Blocks *b, const char *primitive) {
  const bool starts = strcmp(primitive, "compose_reduction") == 0;
  const bool before = starts && b->picked && b->picked > b->at && rng_chance(r, 80);
  const BlockText *one = before ? b->picked - 1 : fuzz_block(r, b);
  return rng_chance(r, starts ? 25 : 50) ? "None" : tirc_format(c, "[%s]", fuzz_block_text(c, one));
}

static const char *noted_text(Tirc *c, Rng *r, const Blocks *b) {
  if (b->n_notes && rng_chance(r, 80)) return b->notes[rng_below(r, b->n_notes)];
  return fuzz_block_text(c, fuzz_block(r, b));
}

static const char *buffer_text(Rng *r) {
  return rng_chance(r, 70)   ? "(\"write\", 0)"
         : rng_chance(r, 80) ? "(\"read\", 0)"
                             : "(\"read\", 1)";
}

/* One index that a map gives: an input, or inputs joined, seldom through a type of few values. */
static const char *index_text(Tirc *c, Rng *r, int *next, int n, const int *order) {
  static const char *const types[] = {"uint8", "int8", "bool", "int64"};
  int i = order[(*next)++];
  if (rng_chance(r, 4))
    return tirc_format(c, "tir.Cast(\"int32\", tir.Cast(\"%s\", i%d * %d))", types[rng_below(r, 4)],
                       i, 1 + 85 * rng_below(r, 4));
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

static const char *pick_text(Rng *r, int n, const char *const *at) { return at[rng_below(r, n)]; }
#define ONE_OF(r, ...)                                                                             \
  pick_text(r, (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)),                 \
            (const char *const[]){__VA_ARGS__})

static const char *str_text(Tirc *c, Rng *r, const Blocks *b, const char *name) {
  if (strcmp(name, "storage_scope") == 0)
    return ONE_OF(r, "\"global\"", "\"global\"", "\"local\"", "\"shared\"");
  if (strcmp(name, "ann_key") == 0) return ONE_OF(r, "\"note\"", "\"note\"", "\"other\"");
  if (strcmp(name, "thread_axis") == 0)
    return ONE_OF(r, "\"threadIdx.x\"", "\"threadIdx.y\"", "\"blockIdx.x\"", "\"vthread.x\"",
                  "\"thread\"");
  if (strcmp(name, "dtype") == 0)
    return ONE_OF(r, "\"float64\"", "\"float16\"", "\"int32\"", "\"float32\"", "\"float7\"");
  if (strcmp(name, "buf_type") == 0) return ONE_OF(r, "\"read\"", "\"write\"", "\"both\"");
  if (strcmp(name, "size") == 0) return rng_chance(r, 95) ? "\"n\"" : "\"nothing\"";
  if (strcmp(name, "name") == 0 || strcmp(name, "buffer_name") == 0)
    return rng_chance(r, 80) ? tirc_format(c, "\"%s\"", fuzz_block(r, b)->name) : "\"nothing\"";
  return "\"nothing\"";
}

static const char *int_text(Tirc *c, Rng *r, const char *name) {
  static const struct {
    const char *name;
    int least, most;
  } rows[] = {{"n", 0, 4},
              {"max_innermost_factor", -1, 8},
              {"partition_pos", -1, 3},
              {"innerpart_factor", 0, 3},
              {"buffer_index", 0, 1},
              {"axis", -2, 2},
              {"factor", 0, 8},
              {"offset", 0, 4},
              {"factor_axis", -3, 2},
              {"read_buffer_index", 0, 1},
              {"write_buffer_index", 0, 1},
              {"cse_thresh", -1, 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, name) == 0)
      return tirc_format(c, "%d", rows[i].least + rng_below(r, rows[i].most - rows[i].least + 1));
  return tirc_format(c, "%d", rng_below(r, 4) - 2);
}

static const char *ints_text(Tirc *c, Rng *r, const Blocks *b, const char *name) {
  int n = b->picked ? b->picked->n_iters : 0;
  if (strcmp(name, "padding") == 0) return padding_text(c, r, n);
  if (strcmp(name, "new_order") == 0) return order_text(c, r, n);
  if (strcmp(name, "axis_separators") == 0) return tirc_format(c, "[%d]", rng_below(r, 4));
  if (strcmp(name, "buf_index_array") == 0) return ONE_OF(r, "[0]", "[0]", "[0, 1]", "[-1]", "[]");
  if (strcmp(name, "candidates") == 0) return ONE_OF(r, "[1, 2, 4]", "[0, 1]", "[8, 16]", "[]");
  return ONE_OF(r, "[2, 2]", "[1, 2]", "[2, 3]", "[4, 1]", "[1, 1, 6]", "[0]");
}

/* Boxes of one element of the first buffer that the block writes, which may be the right ones. */
static const char *ranges_text(Tirc *c, Rng *r, const Blocks *b) {
  int n = b->picked ? b->picked->n_iters : 0, dims = b->picked ? b->picked->n_dims : 0;
  Text params = {.c = c}, t = {.c = c};
  for (int i = 0; i < n; i++) tirc_text_addf(&params, "%si%d", i ? ", " : " ", i);
  for (int d = 0; d < dims; d++) {
    int i = n && rng_chance(r, 20) ? rng_below(r, n) : d;
    tirc_text_addf(&t, i < n ? "(i%d, i%d + %d), " : "(%d, %d + %d), ", i, i, 1 + rng_below(r, 2));
  }
  return tirc_format(c, "lambda%s: (%s)", n ? params.at : "", dims ? t.at : "");
}

static const char *nonsense(Rng *r) {
  return ONE_OF(r, "None", "-1", "1000000000000", "3.5", "\"nothing\"", "[]", "[None, None]",
                "sch.get_block(\"nothing\")", "lambda i: i", "(\"read\", 9)", "{}", "True");
}

const char *fuzz_argument(Tirc *c, Rng *r, Blocks *b, const char *primitive, const Param *p) {
  if (rng_chance(r, 2)) return nonsense(r);
  switch (p->kind) {
  case PARAM_BLOCK:
    if (strcmp(primitive, "specialize") == 0 && b->n && rng_chance(r, 80))
      return fuzz_block_text(c, &b->at[0]);
    return strcmp(p->name, "epilogue_block") == 0 ? later_block(c, r, b)
                                                  : any_block(c, r, b, primitive);
  case PARAM_LOOP:
  case PARAM_LOCATION:
    if (!b->loop_of && strcmp(primitive, "rfactor") == 0)
      b->loop_of = fitting_block(r, b, primitive);
    return any_loop(c, r, b);
  case PARAM_BLOCK_OR_LOOP:
    if (strcmp(primitive, "unannotate") == 0) return noted_text(c, r, b);
    if (strcmp(primitive, "make_blocks") == 0 && rng_chance(r, 60))
      return b->n ? fuzz_block_text(c, &b->at[0]) : "sch.add_root_block()";
    return rng_chance(r, 50) ? any_loop(c, r, b) : fuzz_block_text(c, fuzz_block(r, b));
  case PARAM_LOOP_OR_BLOCKS: return target_text(c, r, b);
  case PARAM_LOOPS:
    if (strcmp(primitive, "merge") == 0) return beside_text(c, r, b);
    return loops_text(c, r, b, strcmp(primitive, "reorder") == 0);
  case PARAM_FACTORS:
    if (strcmp(p->name, "shape") == 0)
      return ONE_OF(r, "[None]", "[2, None]", "[None, 2]", "[3, None]", "[1, None, 1]", "[2, 2]",
                    "[None, 4, 2]", "[0, None]");
    return factors_text(c, r, b->symbolic);
  case PARAM_BOOL: return rng_chance(r, 50) ? "True" : "False";
  case PARAM_INT: return int_text(c, r, p->name);
  case PARAM_OPT_INT: return tirc_format(c, "%d", rng_below(r, 5) - 1);
  case PARAM_BUFFER_INDEX: return rng_chance(r, 80) ? "0" : "1";
  case PARAM_OPT_BLOCKS: return blocks_text(c, r, b, primitive);
  case PARAM_STR:
  case PARAM_ACCESS: return str_text(c, r, b, p->name);
  case PARAM_FUNC: return ONE_OF(r, "\"main\"", "None", "\"nothing\"");
  case PARAM_BUFFER: return buffer_text(r);
  case PARAM_INDEX_MAP: {
    int n = b->picked ? b->picked->n_iters : 0;
    if (b->picked && strcmp(primitive, "transform_layout") == 0) n = b->picked->n_dims;
    return map_text(c, r, n);
  }
  case PARAM_PAD_VALUE: return "0.0";
  case PARAM_INTS:
  case PARAM_OPT_INTS: return ints_text(c, r, b, p->name);
  case PARAM_FLOATS: return ONE_OF(r, "[0.25, 0.25, 0.5]", "[0.5, 0.5]", "[1.0]", "[-1.0, 2.0]");
  case PARAM_FUNCTION: return ranges_text(c, r, b);
  case PARAM_ANY:
    if (strcmp(p->name, "ranges") == 0)
      return ONE_OF(r, "[1]", "[5]", "[2, 3, 7]", "[[1, 4]]", "[1, [2, 6], [7, 7]]", "[[0, 5], 8]",
                    "[4, 3]", "[[4, 2]]");
    return ONE_OF(r, "1", "\"x\"", "[1, 2]", "0.5", "{\"a\": 1}", "None");
  default: return NULL;
  }
}
