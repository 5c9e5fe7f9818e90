/* The reference interpreter: runs any function, scheduled or not, lowered or not, sequentially,
 * every access bounds-checked, integers with overflow checks in their dtype, floats rounded to
 * their dtype after every operation. It is what all other parts are checked against, so it is
 * simple first. */
#ifndef TIRC_RUNTIME_INTERP_H
#define TIRC_RUNTIME_INTERP_H

#include "bound.h"

#include "ir/tree/symbols.h"
#include "runtime/arrays/tensor.h"

typedef struct Argument { /* one a parameter */
  Tensor *tensor;         /* for buffers; written in place */
  int64_t i;              /* for integer scalars */
  double f;               /* for float scalars */
} Argument;

/* A block whose predicate is false is skipped; init runs when all reduction iterators are at their
 * minimum, under its part of the predicate (ir/arith/init_part.h); all loops run in order.
 * max_steps bounds the loop iterations, 0 is no limit. Throws, with the place, the block, the loop
 * values and the buffer:
 * - out-of-bounds: an index outside of the buffer's shape or memory, a matched region outside of
 *   its source, a block's iterator outside of its domain while its predicate holds
 * - uninitialised: memory of an allocated buffer is used where it was never written. A store that
 *   only copies a value may copy the hole, too: caches may hold more than is used of them
 * - overflow: int32 and int64 arithmetic that leaves its type (narrower integers and unsigned ones
 *   wrap around, as they do in compiled code), shifts by too much, casts of floats that do not fit
 * - division, assert, shape, memory, steps; match: match_buffer declares a layout that is not so
 * - unsupported: an intrinsic that has no meaning here; known before anything runs
 * - argument: see tirc_bind_arguments */
void tirc_interpret(Tirc *c, const Func *f, int n_args, const Argument *args, int64_t max_steps);

/* Sees what a run does, in order. */
typedef struct InterpObserver {
  void *self;
  /* An array that is about to be accessed for the first time: a parameter or an allocated buffer.
   * They are numbered from 0; views count as what they view. */
  void (*array)(void *self, int array, Buffer b, const int64_t *shape);
  /* An instance of a block starts; what the loops around it stand at, outermost first. */
  void (*block)(void *self, const Block *b, int n_loops, Stmt const *loops, const int64_t *values);
  /* The loops around what runs next: an iteration starts, or a loop has ended. */
  void (*place)(void *self, int n_loops, Stmt const *loops, const int64_t *values);
  /* element: in the array's memory, counted in its dtype. False ends the run. */
  bool (*access)(void *self, int array, int64_t element, bool is_write);
} InterpObserver;
/* What the elements of an array may be after a run in the program's own types, sums in any order
 * (bound.h). lo NULL: exactly what the array holds. Otherwise element e lies from lo[e] to hi[e],
 * of floats or of integers as the array's dtype; where it is undecided it may be anything, or is
 * hung on an address or a branch that is not decided. On the heap, by malloc. */
typedef struct ElementBounds {
  int64_t count;
  Cell *lo, *hi;
  uint8_t *undecided; /* with lo: a BoundState */
  uint8_t *inside;    /* of a buffer with strides or an offset: what lies in no gap; NULL: all */
} ElementBounds;
enum BoundState { BOUND_DECIDED, BOUND_HUNG, BOUND_OPEN };

/* An argument of a launch: the memory of a buffer, or a scalar. */
typedef struct LaunchArgument {
  DType dtype; /* TYPE_HANDLE: memory */
  Cell value;
  char *data;
  int64_t bytes;
  uint8_t *written; /* a byte a unit, or NULL: all of it is */
  int unit;
} LaunchArgument;

typedef struct InterpOptions {
  int64_t max_steps;
  const InterpObserver *observer; /* or NULL */
  /* float32 is float64 in expressions and in all buffers; results are rounded when they are done:
   * what a float32 kernel should be compared with. Narrower floats stay as they are. Without an
   * observer, sums of products run as plain loops, with the same results and errors
   * (sum.c). */
  bool in_double;
  /* One a parameter, or NULL: the run is in double, and each value carries what it may be. Of
   * arrays that are not written lo stays NULL. */
  ElementBounds *bounds;
  /* Not 0: what was never written is no error to read, and holds integers from -3 to 3 (of a bool
   * 0 or 1) that are drawn from this seed. */
  uint64_t arbitrary;
  /* Asked many times a second, or NULL; when it says false the run ends with "interrupted". */
  bool (*go_on)(void *self);
  void *self;
  /* T.call_packed("NAME", arguments...), in the context t of the run; NULL: an intrinsic without a
   * meaning. */
  void (*launch)(void *launcher, Tirc *t, Loc loc, const char *name, int n,
                 const LaunchArgument *args);
  void *launcher;
} InterpOptions;
/* False when the observer ended the run. */
bool tirc_interpret_with(Tirc *c, const Func *f, int n_args, const Argument *args,
                         const InterpOptions *o);

/* Checks dtype, rank and shape of the tensors against f's parameters and solves for the symbolic
 * extents: values[i] belongs to tirc_symbolic_params' i-th. A tensor may also be flat (of one
 * dimension) where the buffer has strides or an offset, and of any shape where the buffer is flat,
 * as lowering makes it. Throws "argument" naming the parameter. */
void tirc_bind_arguments(Tirc *c, const Func *f, int n_args, const Argument *args, int64_t *values);

typedef struct Symbol { /* of tirc_symbolic_params, by name */
  const char *name;
  int64_t value;
  bool is_known;
} Symbol;
/* Before all tensors are there (any may be NULL): the symbols that those that are there tell get
 * known, and array parameter number `param`, unless it is -1, gets its shape. Throws "argument"
 * when tensors and symbols contradict each other, and when the shape needs what is not known or is
 * negative or too large for its dtype. */
void tirc_find_shape(Tirc *c, const Func *f, int n_args, const Argument *args, int n_symbols,
                     Symbol *symbols, int param, int64_t *shape);
/* The same, and where the elements lie: a stride for each extent, the first element's offset; gives
 * the number of elements from 0 to the last. Strides and an offset that nothing tells are those of
 * a compact array. */
int64_t tirc_find_layout(Tirc *c, const Func *f, int n_args, const Argument *args, int n_symbols,
                         Symbol *symbols, int param, int64_t *shape, int64_t *strides,
                         int64_t *offset);

#endif
