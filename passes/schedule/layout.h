/* What transform_layout shares with its planning of padding. */
#ifndef TIRC_SCHEDULE_LAYOUT_H
#define TIRC_SCHEDULE_LAYOUT_H

#include "../../ir/visit.h"
#include "index_map.h"

/* A change of the layout of one buffer. */
typedef struct LayoutChange {
  Sched *s;
  Tirc *c;
  SRef *block, *scope; /* the named block; the block in which all accesses are */
  Buffer from, to;     /* to: the same memory, in the new shape */
  IndexMap map;
  InverseMap inverse; /* of padded maps */
  IndexMap pad;       /* one output: the value for the padding, from the new indices */
} LayoutChange;

/* How the padding comes to hold its value. Either loops are replaced that write the whole buffer
 * anyway:
 *
 *   for i in range(100): B[i] = f(i)
 *     ==>
 *   for axis0, axis1 in T.grid(7, 16):
 *       B[axis0, axis1] = T.if_then_else(axis0 == 6 and 4 <= axis1, pad, f(axis0 * 16 + axis1))
 *
 * or a block that fills the padding follows the last write. */
typedef struct PaddingPlan {
  int n;
  const Stmt *replaced, *with; /* n loops */
  Stmt after, fill;            /* or `fill`, to stand after this statement; NULL: none */
} PaddingPlan;
/* Raises pad-of-input when nothing in the scope writes the buffer. */
PaddingPlan tirc_plan_padding(const LayoutChange *l);

#endif
