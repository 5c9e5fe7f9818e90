/* What annotations of loops must look like, whatever becomes of the loop: looked at before the
 * first pass, since a loop that is unrolled or of one step takes its annotations with it. */
#include "internal.h"

/* d or [d, outward] */
bool tirc_prefetch_distance(Expr wish, int64_t *distance, int64_t *outward) {
  bool is_pair = wish->op == OP_TUPLE && wish->n == 2;
  *outward = 0;
  if (is_pair && (!tirc_const_int(wish->args[1], outward) || *outward < 0)) return false;
  return tirc_const_int(is_pair ? wish->args[0] : wish, distance) && *distance >= 0 &&
         *distance <= INT32_MAX;
}

static bool is_prefetch(Expr wish) {
  int64_t distance, outward;
  if (wish->op != OP_DICT) return false;
  for (int i = 0; i + 1 < wish->n; i += 2)
    if (wish->args[i]->op != OP_STRING ||
        !tirc_prefetch_distance(wish->args[i + 1], &distance, &outward))
      return false;
  return true;
}

static bool is_positive(Expr wish) {
  int64_t n;
  return tirc_const_int(wish, &n) && n >= 1;
}

enum { MOST_AT_ONCE = 1024 }; /* more than any multiprocessor has */

static bool is_blocks(Expr wish) {
  int64_t n;
  return tirc_const_int(wish, &n) && n >= 1 && n <= MOST_AT_ONCE;
}

int tirc_pipeline_numbers(Expr wish, int64_t most, int64_t *out) {
  if (wish->op != OP_TUPLE || wish->n > MOST_PIPELINE_PARTS) return -1;
  for (int i = 0; i < wish->n; i++)
    if (!tirc_const_int(wish->args[i], &out[i]) || out[i] < 0 || out[i] > most) return -1;
  return wish->n;
}

static bool is_stages(Expr wish) {
  int64_t stages[MOST_PIPELINE_PARTS];
  return tirc_pipeline_numbers(wish, MOST_PIPELINE_STAGES, stages) > 0;
}

static bool is_order(Expr wish) {
  int64_t places[MOST_PIPELINE_PARTS];
  const int n = tirc_pipeline_numbers(wish, MOST_PIPELINE_PARTS - 1, places);
  uint32_t taken = 0;
  for (int i = 0; i < n; i++) taken |= UINT32_C(1) << places[i];
  return n > 0 && taken == UINT32_MAX >> (MOST_PIPELINE_PARTS - n);
}

static const struct {
  AnnotationKey key;
  bool (*is_right)(Expr wish);
  const char *what, *hint;
} rows[] = {
    {KEY_SOFTWARE_PREFETCH, is_prefetch,
     "not a dict from buffer names to distances d or [d, loops outward]",
     "annotate(loop, \"software_prefetch\", {\"B\": 8}) fetches what the loop touches of B 8 "
     "iterations later"},
    {KEY_PARALLEL_CHUNKS, is_positive, "not a positive number of pieces",
     "annotate(loop, \"parallel_chunks\", 8) makes 8 of them"},
    {KEY_PARALLEL_FROM, is_positive, "not a positive number of iterations",
     "annotate(loop, \"parallel_from\", 64) runs fewer than 64 in the calling thread"},
    {KEY_BLOCKS_AT_ONCE, is_blocks, "not a number of blocks from 1 to 1024",
     "annotate(loop, \"blocks_per_multiprocessor\", 2) leaves registers for two"},
    {KEY_PIPELINE_STAGE, is_stages, "not a list of stages from 0 to 8, at most 32 of them",
     "annotate(loop, \"software_pipeline_stage\", [0, 0, 1]) runs the last of three statements a "
     "step later"},
    {KEY_PIPELINE_ASYNC, is_stages, "not a list of stages from 0 to 8",
     "annotate(loop, \"software_pipeline_async_stages\", [0]) beside software_pipeline_stage and "
     "software_pipeline_order"},
    {KEY_PIPELINE_ORDER, is_order, "not a permutation of 0, 1, 2 and so on",
     "annotate(loop, \"software_pipeline_order\", [0, 1, 2]) keeps the order of three statements"},
};

/* --- a pipeline's two lists ------------------------------------------------------------------- */

/* As they were written: what passes make of one statement stays one here. */
static int statements_of(Stmt body) {
  while (body->kind == STMT_BLOCK) body = body->u.block.body;
  return body->kind == STMT_SEQ ? body->u.seq.n : 1;
}

static bool is_pipeline(const void *unused, Stmt s) {
  (void)unused;
  return s->kind == STMT_FOR &&
         tirc_attrs_get(s->u.loop.annotations, tirc_key(KEY_PIPELINE_STAGE)) != NULL;
}

static bool has_number(Expr list, int64_t number) {
  int64_t n;
  for (int i = 0; list && i < list->n; i++)
    if (tirc_const_int(list->args[i], &n) && n == number) return true;
  return false;
}

static void check_async(Tirc *c, Stmt s, Expr stages) {
  Expr async = tirc_attrs_get(s->u.loop.annotations, tirc_key(KEY_PIPELINE_ASYNC));
  int64_t stage;
  for (int i = 0; async && i < async->n; i++)
    if (tirc_const_int(async->args[i], &stage) && !has_number(stages, stage))
      tirc_fail(c, tirc_place_of(s), CODE_LOWER,
                "its numbers are stages; software_pipeline_stage gives each statement its stage",
                "%s of the loop %s names the stage %lld, but no statement is in that stage",
                tirc_key(KEY_PIPELINE_ASYNC), s->u.loop.var->u.s, (long long)stage);
}

/* In the reference a pipeline inside has become several statements, which have a number each: such
 * numbers are none of ours, and the outer loop stays as it is. */
static void check_pipeline(Tirc *c, Stmt s) {
  const For *loop = &s->u.loop;
  Expr stages = tirc_attrs_get(loop->annotations, tirc_key(KEY_PIPELINE_STAGE));
  Expr order = tirc_attrs_get(loop->annotations, tirc_key(KEY_PIPELINE_ORDER));
  const int n = statements_of(loop->body);
  check_async(c, s, stages);
  if (!stages && !order) return;
  if (!stages || !order)
    tirc_fail(c, tirc_place_of(s), CODE_LOWER, "annotate the loop with both, or with neither",
              "the loop %s has %s but not %s", loop->var->u.s,
              tirc_key(stages ? KEY_PIPELINE_STAGE : KEY_PIPELINE_ORDER),
              tirc_key(stages ? KEY_PIPELINE_ORDER : KEY_PIPELINE_STAGE));
  if (stages->n != order->n)
    tirc_fail(c, tirc_place_of(s), CODE_LOWER,
              "both need one number for each statement of the loop",
              "the loop %s has %d numbers in %s and %d in %s", loop->var->u.s, stages->n,
              tirc_key(KEY_PIPELINE_STAGE), order->n, tirc_key(KEY_PIPELINE_ORDER));
  if (stages->n != n && !tirc_is_int(loop->extent, 1) && /* one step is left as it is */
      !tirc_find_stmt(loop->body, is_pipeline, NULL, NULL))
    tirc_fail(c, tirc_place_of(s), CODE_LOWER,
              "annotate the loop last, because cache_read, compute_at and decompose_reduction add "
              "statements",
              "the loop %s has %d statement%s, and %s has %d numbers", loop->var->u.s, n,
              n == 1 ? "" : "s", tirc_key(KEY_PIPELINE_STAGE), stages->n);
}

static bool check_loop(Visitor *v, Stmt s) {
  Tirc *c = v->self;
  if (s->kind != STMT_FOR) return true;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Expr wish = tirc_attrs_get(s->u.loop.annotations, tirc_key(rows[i].key));
    if (wish && !rows[i].is_right(wish))
      tirc_fail(c, tirc_place_of(s), CODE_LOWER, rows[i].hint,
                "the annotation %s of the loop %s is %s", tirc_key(rows[i].key), s->u.loop.var->u.s,
                rows[i].what);
  }
  if (tirc_attrs_get(s->u.loop.annotations, tirc_key(KEY_BLOCKS_AT_ONCE)) &&
      (int)s->u.loop.axis >= GPU_AXES)
    tirc_fail(c, tirc_place_of(s), CODE_LOWER, "annotate a loop that is bound to blocks or threads",
              "the annotation %s of the loop %s has no effect, because the loop is not bound",
              tirc_key(KEY_BLOCKS_AT_ONCE), s->u.loop.var->u.s);
  check_pipeline(c, s);
  return true;
}

static void check_fast_math(Tirc *c, const Func *f) {
  Expr wish = tirc_attrs_get(f->attrs, tirc_key(KEY_FAST_MATH));
  if (wish && wish->dtype.code != TYPE_BOOL)
    tirc_fail(c, f->loc, CODE_LOWER, "T.func_attr({\"fast_math\": True})",
              "the attribute %s of the function %s is neither True nor False",
              tirc_key(KEY_FAST_MATH), f->name);
}

Stmt tirc_check_annotations(Tirc *c, const Func *f) {
  check_fast_math(c, f);
  tirc_visit_stmt(&(Visitor){.stmt = check_loop, .self = c}, f->body);
  return f->body;
}
