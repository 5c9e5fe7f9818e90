/* What a mapping costs on an array of processing elements (PEs): counted, not guessed.
 *
 *   for io, jo in T.grid(4, 4):                          io, jo, k are time, outermost first
 *     for k in T.serial(32, annotations={"pe_skew": [1, 1]}):   ... k later by ii + ji
 *       for ii in T.thread_binding(8, "pe.x"):           ii, ji are where it runs
 *         for ji in T.thread_binding(8, "pe.y"):         what is inside of both shares a stamp
 *           C[...] = C[...] + A[...] * B[...]
 *
 * Definitions are those of relation-centric notation (TENET, ISCA 2021): an element x of a tensor
 * at a PE and a stamp is loaded from outside unless a place that the PE may take from has it:
 * itself or a PE that a link names, at the stamp before, or at the same one. A sum's own
 * accumulator counts as written alone. Stamps are those that occur, in their order; the one before
 * is the last of these. Nothing here samples: a count is of all instances, or of sizes on which it
 * is of degree one (interpolate.c), or there is none. */
#ifndef TIRC_SPATIAL_H
#define TIRC_SPATIAL_H

#include "ir/arith/arith.h"
#include "ir/gpu.h"
#include "passes/record/value.h"

enum { MAP_LOOPS = 48 };

/* Of dicts whose keys are texts; NULL: it has none. */
void tirc_dict_put(Tirc *c, Value dict, const char *key, Value v);
const Value *tirc_dict_find(Value dict, const char *key);

typedef struct ArraySpec {
  const char *file;
  int n_dims;
  int64_t dims[PE_AXES];
  /* Bits a step; bits, 0: of a log, each operand's own; steps. */
  int64_t bandwidth, item_bits, latency;
  const char *links; /* their name */
  int n_deltas;
  const int64_t (*deltas)[PE_AXES];     /* from whom: a PE at p takes from p + delta */
  bool same_time, prev_time, self_prev; /* at the same stamp; at the one before; its own then */
  double mac, l1_read, l1_write, l2_read, l2_write; /* energy of one */
} ArraySpec;

/* From JSON; throws with the file, the line and the name of what is wrong. */
const ArraySpec *tirc_array_spec(Tirc *c, const char *file, const char *text, size_t n);
/* It as a dict, links as steps. */
Value tirc_spec_report(Tirc *c, const ArraySpec *spec);

/* --- the mapping ------------------------------------------------------------------------------ */

typedef struct MapLoop {
  Expr var;
  int64_t min, extent;
  int axis;    /* of the array; -1: none */
  bool inside; /* of the innermost bound loop: it shares a stamp */
  bool skewed;
  int64_t skew[PE_AXES]; /* it runs later by so much times the coordinates */
} MapLoop;

/* An iterator of the statement. */
typedef struct MapIter {
  const char *name;
  Expr var;
  int64_t extent;
  Expr value;   /* in the loops */
  int lead;     /* the loop that counts its steps and nothing else; -1: there is none */
  int64_t step; /* how far one of these goes, */
  int64_t unit; /* and how far it has to go so that all divisions come round */
} MapIter;

/* What has to hold: value is less than 0, is 0, or is not. */
typedef enum TestKind { TEST_NEGATIVE, TEST_ZERO, TEST_OTHER } TestKind;
typedef struct MapTest {
  TestKind kind;
  Expr value;
  int iter; /* >= 0: it is this iterator's value less its extent; -1 */
} MapTest;

typedef struct MapTests {
  int n;
  const MapTest *at;
} MapTests;

typedef struct MapRef {
  int n;
  const Expr *plain;   /* indices in the iterators */
  const Expr *indices; /* in the loops */
  MapTests when;       /* where it is touched, beside where the instance runs */
} MapRef;

typedef struct MapTensor {
  Buffer buffer;
  bool write;
  int n;
  const MapRef *refs;
} MapTensor;

typedef struct Mapping {
  Tirc *c;
  Loc loc;
  Stmt nest;
  const char *name; /* of the block */
  int n_loops, n_iters, n_tensors;
  MapLoop *loops;
  MapIter *iters;
  const MapTensor *tensors;
  MapTests tests;   /* where an instance runs */
  int others;       /* nests of the function that are not on the array */
  struct Place *at; /* of the statement (passes/meaning/touches.h) */
  Stmt inner;       /* the innermost block around it; NULL: none */
} Mapping;

/* Of the one nest of f with loops over pe.x, pe.y or pe.z, or of those the one of the block. */
const Mapping *tirc_mapping(Tirc *c, const Func *f, const char *block);
/* Throws where it does not fit the array: a loop is longer than its axis, or there is none. */
void tirc_mapping_fits(const Mapping *m, const ArraySpec *spec);
/* The same with other extents of its iterators, each from its own by steps of its unit. */
const Mapping *tirc_mapping_resized(const Mapping *m, const int64_t *extents);
/* The number of instances; -1: more than there are numbers. */
int64_t tirc_mapping_instances(const Mapping *m);

/* Whether each instance runs once, on one element and at one stamp (with others, where these tie).
 */
typedef enum Once { ONCE_NO, ONCE_YES, ONCE_UNKNOWN } Once;
typedef struct OneToOne {
  Once once;
  const char *example; /* "i = 0 and i = 1": two runs of one instance; NULL */
} OneToOne;
OneToOne tirc_mapping_once(const Mapping *m, const Func *f);

/* --- counting --------------------------------------------------------------------------------- */

typedef struct TensorCount {
  int64_t total, unique, own_only, spatial, distinct, peak;
} TensorCount;

typedef struct Counts {
  int64_t instances, time_stamps, pes_used, space_time, busy;
  int64_t folds;     /* stamps of all time loops but the innermost */
  int64_t unfounded; /* elements that PEs take from each other in a circle, and nobody loads */
  int64_t active_max, ties_max, peak_ingress, peak_egress; /* -1: unknown */
  TensorCount *tensors;
} Counts;

/* Instance by instance, stamp by stamp. */
Counts tirc_count_mapping(Tirc *c, const Mapping *m, const ArraySpec *spec);
/* Whether links at the same stamp lead from a PE back to itself. */
bool tirc_links_have_cycle(Tirc *c, const ArraySpec *spec);

/* All counts as one row: those that hang on sizes step by step, and behind them the greatest ones,
 * which do not. */
enum { STEADY = 7, STEADY_OF_TENSOR = 5, GREATEST = 4, GREATEST_OF_TENSOR = 1 };
int tirc_count_row(const Mapping *m, Counts *k, int64_t **row);

/* A product of extents of iterators (bits) times above / below. */
typedef struct Monomial {
  unsigned extents;
  int64_t above, below;
} Monomial;
typedef struct Formula {
  int n;
  const Monomial *at;
} Formula;

typedef struct Exactly {
  Counts counts;
  bool interpolated, proved; /* proved: that the counts are of degree one; else guards tell */
  int guards;                /* so many further sizes lie on the line */
  int small;                 /* so many small mappings were counted, */
  int64_t work;              /* of so many instances together */
  const int64_t *least;      /* of each iterator, from which on formulas hold; 0: it stands still */
  const Formula *formulas;   /* of the counts that hang on sizes step by step; NULL */
} Exactly;

typedef struct HowExactly {
  int64_t enumerate; /* count instance by instance up to so many */
  int64_t most;      /* and where nothing else is exact up to so many; beyond it throws */
  bool formulas;     /* asks for them */
} HowExactly;
Exactly tirc_count_exactly(Tirc *c, const Mapping *m, const ArraySpec *spec, HowExactly how);

/* --- running ---------------------------------------------------------------------------------- */

struct Argument; /* runtime/interp/interp.h */
/* f on these arguments, instance by instance in the order of the array, and what its elements had
 * to take from outside meanwhile; folds and unfounded stay 0. */
Counts tirc_run_array(Tirc *c, const Func *f, const Mapping *m, const ArraySpec *spec, int n_args,
                      const struct Argument *args, int64_t max_steps);
/* Throws where these are not the counts of the estimate, naming the first that differs. */
void tirc_require_same_counts(const Mapping *m, Counts run, Counts estimate);

/* --- reports ---------------------------------------------------------------------------------- */

typedef struct CostOptions {
  const char *block;
  bool allow_cycles, formulas;
  int64_t enumerate, most; /* 0: as usual */
} CostOptions;
/* All that is known, as a dict. */
Value tirc_cost_report(Tirc *c, const Func *f, const ArraySpec *spec, const CostOptions *o);

/* How many steps so many items, or bits, take from or to outside. */
int64_t tirc_array_delay(const ArraySpec *spec, int64_t items);
int64_t tirc_bits_delay(const ArraySpec *spec, __int128 bits);

/* --- products on a systolic array, by formula --------------------------------------------------- */

typedef enum Dataflow { OUTPUT_STATIONARY, WEIGHT_STATIONARY, INPUT_STATIONARY } Dataflow;
enum { N_DATAFLOWS = 3 };
extern const char *const tirc_dataflow_names[N_DATAFLOWS]; /* "os", ... */

typedef struct MatrixProduct {
  int64_t batch, m, n, k;
} MatrixProduct;

/* Of one of a batch; items and steps. */
typedef struct Systolic {
  int64_t rows, columns,
      stream; /* of the matrix that lies on the array, and what streams through */
  int64_t folds[2], macs;
  int64_t formula, stepped;                  /* steps: as published, and as registers move */
  int64_t reads_a, reads_b, writes, partial; /* partial: sums that come back in */
  double efficiency;                         /* the part of the array that folds use */
} Systolic;
/* dims[0] are its rows, dims[1] its columns. */
Systolic tirc_systolic(const ArraySpec *spec, Dataflow how, const MatrixProduct *p);

/* A log of products, a line each (tirc run --log-matmuls), as a dict: by line, by function, in all.
 * Throws with the line and the field that is wrong. */
Value tirc_log_report(Tirc *c, const char *file, const char *text, size_t n, const ArraySpec *spec,
                      Dataflow how);

#endif
