/* Large nests of which it is known what a schedule call may do to them: a program as data, which is
 * printed for the library and run here by itself, and nothing of the library's own knowledge of
 * what is legal. */
#ifndef TIRC_TESTS_NESTS_H
#define TIRC_TESTS_NESTS_H

#include "ir/tree/ir.h"
#include "rng.h"

enum {
  NEST_SLOTS = 40,
  NEST_SYMBOLS = 2, /* slots 0 and 1, as far as they are used */
  NEST_BUFFERS = 6,
  NEST_DIMS = 4,
  NEST_AXES = 4,
  NEST_ITEMS = 4,
  NEST_LOOPS = 8
};

/* An integer or a condition: of numbers and of what slots (symbols, loops, iterators) stand at. */
typedef enum IxOp {
  IX_INT,
  IX_SLOT,
  IX_ADD,
  IX_SUB,
  IX_MUL,
  IX_DIV,
  IX_MOD,
  IX_LT,
  IX_GE,
  IX_AND
} IxOp;
typedef struct Ix {
  IxOp op;
  int64_t value; /* or slot */
  const struct Ix *a, *b;
} Ix;

const Ix *ix_int(Tirc *c, int64_t value);
const Ix *ix_slot(Tirc *c, int slot);
const Ix *ix_op(Tirc *c, IxOp op, const Ix *a, const Ix *b); /* without + 0 and * 1 */
const Ix *ix_op_int(Tirc *c, IxOp op, const Ix *a, int64_t b);

typedef struct NestBuffer {
  const char *name;
  int ndim;
  const Ix *shape[NEST_DIMS];
  bool alloc;  /* else a parameter */
  bool stored; /* else an input */
} NestBuffer;

/* What is stored: sums and products. */
typedef enum ValOp { VAL_INT, VAL_LOAD, VAL_ADD, VAL_MUL } ValOp;
typedef struct Val {
  ValOp op;
  int value, buffer;
  const Ix *at[NEST_DIMS];
  const struct Val *a, *b;
} Val;

typedef struct NestAxis {
  int slot;
  const Ix *extent, *binding;
  bool reduce;
} NestAxis;

/* A loop (name == NULL) or a block of one store. */
typedef struct Node {
  int slot; /* of a loop, with its extent and what is in it */
  const Ix *extent;
  int n;
  struct Node *items[NEST_ITEMS];
  bool backward; /* it is run so */
  const char *name;
  int n_axes;
  NestAxis axes[NEST_AXES];
  const Ix *where, *guard; /* of loops; of iterators, an if around the store; or NULL */
  int buffer;
  const Ix *at[NEST_DIMS];
  const Val *value;
  bool init; /* of 0, where the reduction iterators are 0 */
} Node;

typedef enum NestCall { CALL_REORDER, CALL_PARALLEL, CALL_VECTORIZE, CALL_BIND, N_CALLS } NestCall;
extern const char *const nest_calls[N_CALLS];

typedef enum Truth { TRUTH_UNKNOWN, TRUTH_LEGAL, TRUTH_ILLEGAL, TRUTH_FAULT } Truth;

typedef struct Nest {
  Tirc *c;
  const char *kind; /* "shift: ..." */
  bool wide;        /* integers are int64 */
  int n_slots, n_symbols;
  const char *names[NEST_SLOTS];
  int n_buffers;
  NestBuffer buffers[NEST_BUFFERS];
  int n;
  Node *items[NEST_ITEMS];
  /* The call: loops around a block as they are, and of reorder as they are given. */
  NestCall call;
  const char *block;
  int n_chain, n_given;
  Node *chain[NEST_LOOPS]; /* all loops around the block, outermost first */
  int given[NEST_LOOPS];   /* places in the chain */
  Truth formula;           /* for any sizes */
  bool harmless;           /* perhaps: what comes too late or too early may not count */
  const char *why;
  /* Sizes at which an illegal call shows, if there are symbols. */
  int64_t telling[NEST_SYMBOLS];
} Nest;

int nest_slot(Nest *n, const char *name);
const char *nest_program(const Nest *n);
const char *nest_script(const Nest *n);
/* The chain's places in the new order; as they are, unless the call is a reorder. */
void nest_order(const Nest *n, int *out);

/* Runs all instances, as they are and as they may come after the call. UNKNOWN: there are too many,
 * or the results are the same though instances meet. FAULT: the program itself is wrong. */
Truth nest_run(Nest *n, const int64_t *sizes, const char **why);
double nest_instances(const Nest *n, const int64_t *sizes);

/* A nest and a call of this kind; *formula says whether it is legal, if that follows from how it
 * was made. False: draw again. */
bool nest_draw(Rng *r, Nest *out);
/* The same of those whose truth only a run can tell. */
bool nest_draw_odd(Rng *r, Nest *out);

/* What a message says of two iterations that meet. */
typedef enum WitnessVerdict {
  WITNESS_NONE,
  WITNESS_TRUE,
  WITNESS_FALSE,
  WITNESS_OPEN
} WitnessVerdict;
/* OPEN: there are too many instances to look for it. */
WitnessVerdict nest_witness(Nest *n, const char *condition, const char **why);

/* --- for these files only: integers ----------------------------------------------------------- */

typedef struct Env {
  int64_t at[NEST_SLOTS];
  bool overflow; /* of int32 */
} Env;
int64_t ix_eval(Env *env, const Ix *e);

#endif
