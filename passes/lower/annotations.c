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

static const struct {
  AnnotationKey key;
  bool (*is_right)(Expr wish);
  const char *what, *hint;
} rows[] = {
    {KEY_SOFTWARE_PREFETCH, is_prefetch,
     "no dict from buffer names to distances d or [d, loops outward]",
     "annotate(loop, \"software_prefetch\", {\"B\": 8}) fetches what the loop touches of B 8 "
     "iterations later"},
    {KEY_PARALLEL_CHUNKS, is_positive, "no positive number of pieces",
     "annotate(loop, \"parallel_chunks\", 8) makes 8 of them"},
};

static bool check_loop(Visitor *v, Stmt s) {
  Tirc *c = v->self;
  for (size_t i = 0; s->kind == STMT_FOR && i < sizeof rows / sizeof *rows; i++) {
    Expr wish = tirc_attrs_get(s->u.loop.annotations, tirc_key(rows[i].key));
    if (wish && !rows[i].is_right(wish))
      tirc_fail(c, tirc_place_of(s), "lower", rows[i].hint,
                "the annotation %s of the loop %s is %s", tirc_key(rows[i].key), s->u.loop.var->u.s,
                rows[i].what);
  }
  return true;
}

Stmt tirc_check_annotations(Tirc *c, const Func *f) {
  tirc_visit_stmt(&(Visitor){.stmt = check_loop, .self = c}, f->body);
  return f->body;
}
