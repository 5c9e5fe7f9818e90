/* The lowering pipeline: one list of passes, in the order in which they run. */
#ifndef TIRC_LOWER_LOWER_H
#define TIRC_LOWER_LOWER_H

#include "ir/gpu.h"
#include "ir/tree/ir.h"

typedef enum PassWhere { PASS_ALL, PASS_PROCESSOR, PASS_GPU } PassWhere;
/* A row of passes.def. */
typedef struct Pass {
  const char *name;
  PassWhere where;
  Stmt (*run)(Tirc *c, const Func *f); /* the function's new body; NULL: over_module */
  const Module *(*over_module)(Tirc *c, const Module *m);
  const char *help;
} Pass;
extern const Pass tirc_passes[];
extern const int tirc_n_passes;

typedef void (*LowerObserver)(void *self, const char *pass, const Module *m);
/* Every function through every pass. The observer (or NULL) sees the module after each pass.
 * Throws with code "lower" when a program cannot be lowered (GPU-only constructs, a vectorized loop
 * of symbolic extent ...). The result has no blocks, one-dimensional buffers, no vectorized or
 * unrolled loops but those codegen handles; it can be printed, parsed and interpreted. */
const Module *tirc_lower(Tirc *c, const Module *m, LowerObserver observer, void *self);
/* The same for a GPU: of each function with loops that are bound to threads a host function of its
 * name, which launches kernels by T.call_packed("NAME_kernel", arrays, scalars, extents of the
 * threads), and behind it the kernels. NULL: for a processor. */
const Module *tirc_lower_for(Tirc *c, const Module *m, const Gpu *gpu, LowerObserver observer,
                             void *self);
/* These passes alone, in this order, on every function: by the names of passes.def and alone.def,
 * with options as NAME+OPTION. Throws "argument" at a name that none has, with the nearest. gpu: as
 * above; NULL: each function is for what its attribute "target" says. Blocks and loops that the
 * passes do not ask for stay. */
const Module *tirc_lower_only(Tirc *c, const Module *m, const Gpu *gpu, int n,
                              const char *const *names);
/* Those of passes.def and behind them those of alone.def, whose `help` is a name where it has no
 * function: another name of that one. NULL behind the last. */
const Pass *tirc_pass_number(int i);
/* What a pass of alone.def does besides where it is asked to. NULL behind the last. */
typedef struct PassOption {
  const char *pass, *name, *help;
} PassOption;
const PassOption *tirc_pass_option_number(int i);
/* Whether a loop is bound to blockIdx or threadIdx, or to what is no axis. */
static inline bool tirc_is_thread_loop(Stmt s) {
  return s->kind == STMT_FOR && s->u.loop.kind == LOOP_THREAD_BINDING &&
         s->u.loop.axis != AXIS_VIRTUAL && s->u.loop.axis != AXIS_COPROCESSOR &&
         tirc_pe_axis(s->u.loop.axis) < 0;
}
/* Hears of each statement of a vectorized loop that has no vector form: so many lanes of it run one
 * after the other. A statement may be told of several times. */
typedef struct SerialLanes {
  void (*tell)(void *self, Stmt s, int lanes);
  void *self;
} SerialLanes;
/* Of a function as it is before VectorizeLoop. */
void tirc_hear_of_serial_lanes(Tirc *c, const Func *f, const SerialLanes *heard);

/* Hears of each loop that its annotations would overlap (InjectSoftwarePipeline) and that stays as
 * it is, and why. */
typedef struct PipelinesLeft {
  void (*tell)(void *self, Stmt loop, const char *why);
  void (*tell_plain)(void *self, Stmt loop, const char *why); /* its copies are not asynchronous */
  void *self;
} PipelinesLeft;
/* Of a function as it is before that pass. */
void tirc_hear_of_pipelines_left(Tirc *c, const Func *f, const PipelinesLeft *heard);

/* The function with numbers for some of its symbolic extents, from their variables to expressions.
 */
const Func *tirc_func_with_extents(Tirc *c, const Func *f, const PtrMap *extents);

/* Every function through the passes up to the one of this name. */
const Module *tirc_lower_until(Tirc *c, const Module *m, const char *pass);

#endif
