/* Random calls, made from the table of primitives: which one, on what, and what often follows it.
 */
#include "fuzz_calls.h"

#include "ir/tree/find.h"

/* --- the program's blocks --------------------------------------------------------------------- */

static bool look_at_guard(Visitor *v, Expr e) {
  bool *found = v->self;
  *found |= e->op == OP_IF_THEN_ELSE;
  return true;
}

static bool pads(Stmt body) {
  bool found = false;
  tirc_visit_stmt(&(Visitor){.expr = look_at_guard, .self = &found}, body);
  return found;
}

static bool is_let(const void *unused, Stmt s) { return (void)unused, s->kind == STMT_LET; }

static BlockText block_text_of(Stmt s, int n_loops, Stmt outer, Stmt inner) {
  const Block *b = &s->u.block;
  BlockText out = {.name = b->name,
                   .n_loops = n_loops,
                   .n_iters = b->n_iters,
                   .n_dims = b->n_writes ? b->writes[0].buffer->ndim : 0,
                   .guards = pads(b->body),
                   .names = tirc_find_stmt(b->body, is_let, NULL, NULL),
                   .stmt = s,
                   .outer = outer,
                   .inner = inner};
  for (int i = 0; i < b->n_iters; i++) out.reduces |= b->iters[i].kind == ITER_REDUCE;
  for (int i = 0; i < b->n_reads && b->n_writes; i++)
    out.updates |= !b->init && b->reads[i].buffer == b->writes[0].buffer;
  return out;
}

static void note(Blocks *out, Attrs annotations, const char *text) {
  if (tirc_attrs_get(annotations, "note") && out->n_notes < MAX_NOTES)
    out->notes[out->n_notes++] = text;
}

static void note_loops(Tirc *c, const BlockText *b, int n, const Stmt *loops, Blocks *out) {
  for (int i = 0; i < n; i++) note(out, loops[i]->u.loop.annotations, fuzz_loop_text(c, b, i));
}

enum { MAX_DEPTH = 64 };
typedef struct Above {
  int n;
  Stmt loops[MAX_DEPTH];
} Above;

static void collect(Tirc *c, Stmt s, Above *above, Blocks *out) {
  switch (s->kind) {
  case STMT_FOR:
    if (above->n == MAX_DEPTH) break;
    above->loops[above->n++] = s;
    collect(c, s->u.loop.body, above, out);
    above->n--;
    break;
  case STMT_BLOCK:
    if (out->n < MAX_BLOCKS) {
      BlockText *b = &out->at[out->n++];
      bool loops = above->n > 0;
      *b = block_text_of(s, above->n, loops ? above->loops[0] : NULL,
                         loops ? above->loops[above->n - 1] : NULL);
      for (int i = 0; i < out->n - 1 && loops; i++)
        out->at[i].shares |= out->at[i].outer == b->outer;
      note(out, s->u.block.annotations, fuzz_block_text(c, b));
      note_loops(c, b, above->n, above->loops, out);
    }
    collect(c, s->u.block.body, &(Above){0}, out);
    break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) collect(c, tirc_item(s, i), above, out);
    break;
  case STMT_IF: collect(c, s->u.branch.then_case, above, out); break;
  default: break;
  }
}

/* --- which primitive -------------------------------------------------------------------------- */

/* Names by weight; the others weigh 10. */
static const struct {
  const char *name;
  int weight;
} weights[] = {{"compute_at", 80},
               {"reverse_compute_at", 80},
               {"compute_inline", 40},
               {"split", 60},
               {"fuse", 40},
               {"reorder", 40},
               {"cache_read", 30},
               {"cache_write", 30},
               {"reverse_compute_inline", 40},
               {"fuse_reduction_epilogue", 40},
               {"get_block", 1},
               {"get_loops", 1},
               {"get_child_blocks", 1},
               {"get_producers", 1},
               {"get_consumers", 1},
               {"get_output_blocks", 1},
               {"enter_postproc", 1},
               {"sample_categorical", 1},
               {"can_decompose_padding", 5},
               {"decompose_reduction", 20},
               {"parallel", 20},
               {"vectorize", 20},
               {"bind", 15},
               {"rfactor", 20},
               {"transform_layout", 30},
               {"transform_block_layout", 20},
               {"reindex", 20},
               {"unsafe_set_dtype", 2},
               {"unsafe_hide_buffer_access", 2},
               {"annotate_buffer_access", 2}};

static int weight_of(const char *name) {
  for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++)
    if (strcmp(weights[i].name, name) == 0) return weights[i].weight;
  return 10;
}

static const Primitive *pick_primitive(Rng *r) {
  int total = 0;
  for (int i = 0; i < tirc_n_primitives; i++) total += weight_of(tirc_primitives[i].name);
  int at = rng_below(r, total);
  for (int i = 0;; i++)
    if ((at -= weight_of(tirc_primitives[i].name)) < 0) return &tirc_primitives[i];
}

/* What makes sense after a call, on the same block. */
static const struct {
  const char *after, *then;
  int percent;
} follows[] = {
    {"annotate", "unannotate", 30},
    {"cache_read", "compute_at", 20},
    {"cache_write", "reverse_compute_at", 10},
    {"compute_at", "rolling_buffer", 20},
    {"split", "rfactor", 5},
    {"split", "tensorize", 5},
    {"decompose_reduction", "tensorize", 10},
    {"blockize", "tensorize", 5},
    {"reorder", "decompose_reduction", 10},
    {"merge", "fission", 20},
    {"compute_at", "fission", 5},
    {"reverse_compute_at", "fission", 5},
    {"make_blocks", "parallel", 40},
    {"fission", "parallel", 20},
};

static const BlockText *block_in(const Blocks *b, const char *line) {
  const char *at = strstr(line, "get_block(\"");
  for (int i = 0; at && i < b->n; i++) {
    size_t n = strlen(b->at[i].name);
    if (strncmp(at + 11, b->at[i].name, n) == 0 && at[11 + n] == '"') return &b->at[i];
  }
  return NULL;
}

static const Primitive *follow(Rng *r, Blocks *b, const char *last) {
  for (size_t i = 0; last && i < sizeof follows / sizeof *follows; i++) {
    size_t n = strlen(follows[i].after);
    if (strncmp(last, "sch.", 4) != 0 || strncmp(last + 4, follows[i].after, n) != 0 ||
        last[4 + n] != '(' || !rng_chance(r, follows[i].percent))
      continue;
    b->picked = b->loop_of = block_in(b, last);
    return tirc_find_primitive(follows[i].then);
  }
  return NULL;
}

/* --- one call --------------------------------------------------------------------------------- */

static const char *try_call(Tirc *c, Rng *r, const Primitive *p, Blocks *b) {
  if (strcmp(p->name, "tensorize") == 0 && rng_chance(r, 90)) return fuzz_tensorize(c, r, b);
  Text t = {.c = c};
  tirc_text_addf(&t, "sch.%s(", p->name);
  bool first = true;
  for (int i = 0; i < p->n_params; i++) {
    const Param *q = &p->params[i];
    bool optional = q->default_text != NULL;
    bool changes_numbers = strcmp(q->name, "disable_predication") == 0 ||
                           strcmp(q->name, "assume_injective_transform") == 0;
    if (optional && (changes_numbers || rng_chance(r, 70))) continue;
    const char *text = fuzz_argument(c, r, b, p->name, q);
    if (!text) return NULL;
    tirc_text_addf(&t, optional ? "%s%s=%s" : "%s%s%s", first ? "" : ", ", optional ? q->name : "",
                   text);
    first = false;
  }
  tirc_text_add(&t, ")");
  return t.at;
}

const char *fuzz_call(Tirc *c, Rng *r, Sched *s, const char *last, const Primitive *which) {
  Blocks blocks = {0};
  const Func *f = tirc_module_main(s->mod);
  blocks.symbolic = !values_can_be_made(c, f, 0);
  collect(c, f->body, &(Above){0}, &blocks);
  for (;;) {
    blocks.loop_of = blocks.picked = NULL;
    if (which) return try_call(c, r, which, &blocks);
    const Primitive *next = follow(r, &blocks, last);
    const char *text = try_call(c, r, next ? next : pick_primitive(r), &blocks);
    if (text) return text;
  }
}
