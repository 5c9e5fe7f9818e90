/* What is measured: a program at one setting of its constants and one number of threads. */
#ifndef TIRC_TOOLS_SETTING_H
#define TIRC_TOOLS_SETTING_H

#include "runtime/tirc.h"

/* What the program cannot do without. A ceiling does one of it, and nothing else. */
typedef enum CeilingKind {
  NO_CEILING,
  FMA_CEILING,
  INTEGER_CEILING,
  BANDWIDTH_CEILING
} CeilingKind;
extern const char *const ceiling_names[BANDWIDTH_CEILING + 1]; /* NULL for NO_CEILING */
CeilingKind ceiling_named(const char *name);

typedef struct Work {
  double float_ops;
  int64_t bytes_read, bytes_written; /* the traffic: those of the array parameters */
} Work;
double bytes_of_work(const Work *w);
/* 10^9 a second, of what takes so long and does that part of the work; 0: none of it. */
double gflops(const Work *w, CeilingKind kind, double seconds);
double gbytes(const Work *w, CeilingKind kind, double seconds);

typedef struct Setting {
  char *kernel;  /* the suite's word for it, or the program's file name without its ending */
  char *setting; /* "M=128 N=768" */
  int n_defines;
  tirc_define *defines;
  int threads;
  int calls; /* a run of what its suite is of, from 1 */
  Work work;
} Setting;

#endif
