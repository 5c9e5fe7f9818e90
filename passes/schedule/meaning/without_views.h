/* Blocks as they are run by checks: without views. */
#ifndef TIRC_SCHEDULE_SIGHT_WITHOUT_VIEWS_H
#define TIRC_SCHEDULE_SIGHT_WITHOUT_VIEWS_H

#include "passes/schedule/schedule.h"

/* A view whose address goes into a call: which elements that uses is not known. */
typedef struct Opaque {
  Region shown;
  bool read, written;
} Opaque;

typedef VEC(Opaque) Opaques;

typedef struct Plain {
  PtrMap blocks; /* SRef -> Stmt, which accesses what views show in the place of the views */
  PtrMap opaque; /* that Stmt, or one of a block in it -> Opaques, or NULL */
} Plain;

/* In the arena of the schedule. */
Plain tirc_plain_blocks(Sched *s, int n, SRef *const *blocks);

#endif
