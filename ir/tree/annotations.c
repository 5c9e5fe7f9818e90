/* The table of annotations. */
#include "annotations.h"
#include "ir.h"
#include "ir/gpu.h"

const AnnotationRow tirc_annotation_rows[N_ANNOTATION_KEYS] = {
#define ANNOTATION(id, key, where, value, help) {key, where, value, help},
#include "annotations.def"
#undef ANNOTATION
};

int64_t tirc_loop_number(const For *loop, AnnotationKey key) {
  int64_t n = 0;
  const Expr wish = tirc_attrs_get(loop->annotations, tirc_key(key));
  return wish && tirc_const_int(wish, &n) ? n : 0;
}

void tirc_gpu_blocks_at_once(const For *loop, int64_t *blocks) {
  Expr asked = tirc_attrs_get(loop->annotations, tirc_key(KEY_BLOCKS_AT_ONCE));
  if (asked && (int)loop->axis < GPU_AXES) (void)tirc_const_int(asked, blocks);
}

const Gpu *tirc_gpu_of(const Func *f) {
  Expr target = tirc_attrs_get(f->attrs, tirc_key(KEY_TARGET));
  if (target && tirc_calls(target, CALL_TARGET) && target->n) target = target->args[0];
  return target && target->op == OP_STRING ? tirc_gpu_find(target->u.s) : NULL;
}
