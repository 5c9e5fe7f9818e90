/* What fusion goes by. */
#ifndef TIRC_MODULE_FUSION_H
#define TIRC_MODULE_FUSION_H

#include "module.h"

#include "ir/tree/annotations.h"

#define OP_PATTERN tirc_key(KEY_OP_PATTERN)

enum {
  PATTERN_ELEMENTWISE,
  PATTERN_BROADCAST,
  PATTERN_INJECTIVE,
  PATTERN_REDUCTION,
  PATTERN_OUT_FUSABLE,
  PATTERN_OPAQUE = 8
};

/* A graph that is to be one prim_func: the attribute Primitive. */
static inline bool tirc_is_primitive(const Graph *g) {
  const Expr value = tirc_attrs_get(g->attrs, tirc_key(KEY_PRIMITIVE));
  int64_t is = 0;
  return value && tirc_const_int(value, &is) && is;
}

#endif
