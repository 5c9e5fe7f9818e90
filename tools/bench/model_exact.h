/* `tirc bench MODEL --vs onnxruntime` where results differ: which of them is nearer to what the
 * model computes in float64. */
#ifndef TIRC_TOOLS_BENCH_MODEL_EXACT_H
#define TIRC_TOOLS_BENCH_MODEL_EXACT_H

#include "model_rival.h"

typedef struct RivalRun { /* of the model here: n arguments, results from number `first` on */
  int n, first;
  const tirc_param *params;
  const tirc_argument *args;
} RivalRun;

/* Computes the model m in float64, of the same inputs, and says of each difference how far both
 * results are from that, or why it cannot. */
void judge_rival(ModelRival *r, const Making *make, const tirc_module *m, tirc_executor *executor,
                 const RivalRun *of);

#endif
