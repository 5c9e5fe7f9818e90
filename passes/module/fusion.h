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

/* Parts of a graph that become graphs of their own (outline.c). */
typedef struct Outlining {
  Tirc *c;
  const Module *m; /* whose names are taken */
  VEC(const Graph *) made;
} Outlining;

typedef struct Outlined {
  const char *composite; /* the attribute Composite, or NULL */
  bool binds_constants;  /* constants are no parameters */
} Outlined;

/* The call of a new graph of these bindings, in their order, the last of which is its result. */
Node tirc_call_apart(Outlining *all, GraphRewriter *r, int n, const Binding *const *members,
                     const Outlined *how);
/* m with `to` as its graph number g, and with the graphs that were made. */
const Module *tirc_with_graphs_apart(const Outlining *all, const Module *m, int g, const Graph *to);

/* A graph that is to be one prim_func: the attribute Primitive. */
static inline bool tirc_is_primitive(const Graph *g) {
  const Expr value = tirc_attrs_get(g->attrs, tirc_key(KEY_PRIMITIVE));
  int64_t is = 0;
  return value && tirc_const_int(value, &is) && is;
}

#endif
