/* The parts of `tirc bench`. */
#ifndef TIRC_TOOLS_BENCH_H
#define TIRC_TOOLS_BENCH_H

#include "tool.h"

/* cblas_sgemm */
typedef void (*Sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);

/* One way to compute the program: a schedule, or a library. */
typedef struct Contender {
  const char *name; /* the script's file name without its ending */
  const char *script;
  Sgemm library; /* NULL for a schedule */
  bool skipped;  /* its schedule fails, or its results are wrong */
  tirc_kernel *kernel;
  tirc_launch *launch;
  /* what was measured */
  double *times; /* seconds a call */
  int n_times, cap_times;
  double spent; /* seconds in timed calls */
  double median, min;
  double spread; /* from the lower to the upper quartile, as a part of the median */
  double gflops, percent;
} Contender;

/* One program at one setting of its constants. */
typedef struct Case {
  const char *kernel; /* the program's file name without its ending */
  char *setting;      /* "M=128 N=768" */
  int n_defines;
  tirc_define *defines;
  tirc_module *program;
  tirc_cost cost;
  int n_params;
  const tirc_param *params;
  tirc_argument *args, *expected;
  int n_contenders;
  Contender *contenders;
} Case;

typedef struct Bench {
  const Options *o;
  tirc_executor *executor;
  int threads;
  double peak; /* operations a second, 0 unknown */
  char machine[256];
  Sgemm library;    /* OpenBLAS, or NULL, */
  const char *core; /* and what it calls its kernels */
  int n_cases;
  Case *cases;
} Bench;

/* bench_prepare.c: DONE, or BAD when nothing can be measured at all */
int prepare_case(const Bench *b, Case *k);
void free_case(Case *k);
/* bench_measure.c */
void measure_case(const Bench *b, Case *k);
double ratio_to(const Contender *of,
                const Contender *base); /* how many times faster `of` is; 0 unknown */
const Contender *find_library(const Case *k);
const Contender *find_first(const Case *k); /* the first that was measured */
/* The geometric mean over the cases of the ratio of contender i to the library (or to the first),
 * or of its share of the peak. 0 when there is none. */
typedef enum Mean { MEAN_VS_LIBRARY, MEAN_VS_FIRST, MEAN_PERCENT } Mean;
double geometric_mean(const Bench *b, int i, Mean what);
void call_contender(const Case *k, const Contender *c);
/* bench_openblas.c: NULL, with a line that says why, when it is not there */
Sgemm load_openblas(int threads, const char **core);
void call_library(Sgemm library, const tirc_cost *cost, const tirc_argument *args);
/* bench_json.c */
int write_json(const Bench *b, const char *path);

#endif
