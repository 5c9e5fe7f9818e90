/* What the functions of codegen/lanes.h are written in where they are text: each step is a line.
 *
 *   const float v3 = v2 * 0.5f;
 */
#ifndef TIRC_CODEGEN_TEXT_LANES_H
#define TIRC_CODEGEN_TEXT_LANES_H

#include "codegen/lanes.h"
#include "gen.h"

/* What a value is: whole numbers are unsigned, tests are ints, on vectors 0 or -1. */
typedef enum LaneKind { KIND_FLOAT, KIND_WHOLE, KIND_TEST } LaneKind;
struct LaneValue {
  const char *s;
  LaneKind kind;
  int bits;
  bool is_constant; /* a scalar, which C spreads beside a vector */
};

/* The self of a Lanes. */
typedef struct LaneWriter {
  Gen *g;
  Text out;
  int n_values;
  bool is_inside; /* of braces of the function's */
} LaneWriter;

const char *tirc_src_lane_type(const Lanes *v, LaneKind kind);
Lane tirc_src_lane_value(const Lanes *v, LaneKind kind, const char *s);
Lane tirc_src_lane_define(const Lanes *v, LaneKind kind, const char *text); /* as a variable */
/* result = FUNCTION of each lane of x, by libm; `at` holds a lane. */
void tirc_src_each_lane(const Lanes *v, const char *result, const char *x, const char *function);

/* For a LaneMaker, which has its own unless_far. */
Lane tirc_src_lane_real(const Lanes *v, double x);
Lane tirc_src_lane_whole(const Lanes *v, int64_t x);
Lane tirc_src_lane_apply(const Lanes *v, LaneOp op, int n, const Lane *args);

#endif
