/* Programs: a plan of calls, compiled, and the memory that one caller at a time runs it in. */
#ifndef TIRC_RUNTIME_API_PROGRAM_H
#define TIRC_RUNTIME_API_PROGRAM_H

#include "kernel.h"
#include "passes/module/pipeline.h"
#include "passes/module/plan.h"

#include <pthread.h>

/* For one caller and one set of extents: the tensors' places, and a launch for each call. */
typedef struct Frame {
  struct Frame *next;
  Tirc *c; /* holds this struct */
  int64_t *symbols;
  int64_t total;    /* bytes of the workspace */
  char *workspace;  /* NULL where another frame took it while this one was idle */
  char *packed;     /* of its own, for what is prepared, or NULL */
  char *prepared;   /* what is prepared, in this run: that, or the program's */
  int64_t *offsets; /* of each tensor of the workspace or that is prepared, in there */
  int64_t packed_bytes;
  tirc_array *arrays; /* one a tensor; of parameters and results the caller's, for one run */
  Tensor *tensors;
  tirc_launch **launches;    /* one a call; NULL: a copy, or of another program: */
  DLTensor **foreign;        /* then its tensors */
  tirc_argument **arguments; /* of each call: tensors, then scalars */
  const void **weights;      /* what was prepared: where the weights lay */
  const Diag **refused; /* one a branch of an `if`: what forbids it for these extents, or NULL */
  bool is_prepared;
  bool prepares;   /* has launches of the calls that depend on weights alone */
  ArenaMark fixed; /* what stands in c before it is the same for all extents */
} Frame;

/* What is made of weights alone, for all frames: where its extents are numbers it is the same for
 * all extents of a run. */
typedef struct Prepared {
  char *memory;
  const void **weights; /* where those lay that it is made of */
  int users;            /* runs that read it now */
  bool is_ready;
} Prepared;

/* The memory plan of the last frame, which is that of the next one if its tensors are as large. */
typedef struct Placement {
  int n;
  MemoryUse *uses; /* with room for all tensors */
  int64_t total;   /* -1: there was none */
} Placement;

/* What a symbol of another program is called as. */
typedef int (*ForeignCall)(int n, const DLTensor *tensors);

typedef struct PackedFunctions {
  int n;
  const tirc_packed_function *at;
} PackedFunctions;

struct tirc_program {
  Tirc *c; /* holds this struct */
  Sources sources;
  const Plan *plan;
  tirc_module *signature, *module, *unscheduled; /* in c */
  Jit *jit;
  tirc_kernel *kernels; /* one a function of `module` */
  int n_libraries;
  void **libraries;       /* as dlopen gives them */
  PackedFunctions packed; /* of the caller's */
  ForeignCall *foreign;   /* one a call of the plan: what a symbol of a library is, or NULL */
  int n_symbols;
  Expr *symbols;
  const bool *is_open; /* one a tensor of the plan: only a run knows its extents */
  int64_t made_in; /* bytes of memory that the child that made the code had; 0: there was none */
  bool poison;
  /* Of one that was kept: its functions have no bodies. What it was made of, and, once somebody has
   * asked, the same with bodies; otherwise NULL. */
  const tirc_module *from;
  tirc_program_options *options;
  tirc_program *whole;
  pthread_mutex_t lock;          /* of all that follows, and of `whole` */
  Placement placed, placed_once; /* of the workspace, of what is prepared */
  Frame *idle;
  bool shares; /* frames have `prepared` together, as long as their weights are the same */
  Prepared prepared;
};

/* Its functions as they were lowered, without graphs. */
const Module *tirc_program_lowered(Tirc *c, const tirc_program *p);
/* p itself, or the same with the bodies of its functions; NULL: it cannot be made any more. */
const tirc_program *tirc_program_whole(const tirc_program *p);

/* What folds constants: the interpreter, for so many steps that nobody waits. Throws. */
void tirc_api_evaluate(void *self, Tirc *c, const Func *f, int n, const PassArray *arrays);

/* Of each tensor whether its extents differ from run to run. */
const bool *tirc_frame_open(Tirc *c, const Plan *plan);
/* A frame for these arguments, in no list; throws "argument", "shape", "memory" in `caller`. `old`
 * is NULL, or a frame for other extents, in no list, which becomes this one: that takes less time.
 * It is freed where this throws. */
Frame *tirc_frame_new(Tirc *caller, const tirc_program *p, Frame *old, const int64_t *symbols,
                      const tirc_argument *args);
void tirc_frame_free(Frame *f);
/* Launches of the calls that depend on weights alone, which few frames run. Throws as above. */
void tirc_frame_prepare(Tirc *caller, const tirc_program *p, Frame *f);
/* A workspace, where it has none: that of an idle frame, whose contents nobody asks for, or a new
 * one. Throws "memory". */
void tirc_frame_work(Tirc *caller, const tirc_program *p, Frame *f);
/* Memory of its own for what is prepared. */
void tirc_frame_pack(Tirc *caller, Frame *f);
/* The memory that tensors need with these symbols: fills in `out`, sizes only. */
void tirc_frame_sizes(Tirc *c, const tirc_program *p, const int64_t *symbols,
                      tirc_program_size *out);
/* From now on parameters and results are these. */
void tirc_frame_bind(const tirc_program *p, Frame *f, const tirc_argument *args);

#endif
