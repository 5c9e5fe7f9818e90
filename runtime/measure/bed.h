/* The parts of measure.h: what processes of a bed share. */
#ifndef TIRC_RUNTIME_BED_H
#define TIRC_RUNTIME_BED_H

#include "child.h"
#include "measure.h"

/* What a child writes and its parent reads. */
typedef struct Slot {
  double best; /* asked: what is at most that is to be checked */
  double own;  /* seconds of cores that the child had when it answered last */
  bool wants_check;
  char kernel[64]; /* that a device runs for the first time; empty: none */
  Samples samples;
  Measured m;
} Slot;

struct Bed {
  const tirc_module *program;
  BedOptions options;
  int n_params;
  const tirc_param *params;
  tirc_argument *args; /* inputs, and what outputs begin with */
  int64_t bytes;       /* of all arrays */
  char *results;       /* shared: the outputs to be checked, one after the other */
  size_t result_bytes;
  Child reference; /* runs the interpreter once, and checks what is in `results` */
  Slot *reference_slot;
  double reference_seconds;    /* that the interpreter took; 0: it has not run */
  bool refuses;                /* it could not run it */
  const BedListener *listener; /* of the call that is going on, or NULL */
};

typedef struct Candidate {
  Bed *bed;
  const Module *of;   /* NULL for the reference */
  tirc_module *split; /* where it packs operands ahead of its calls: what it packs with, or NULL */
  tirc_argument *packed; /* which it packed, the others zero */
  Slot *slot;
  tirc_kernel *kernel;
  tirc_executor *executor;
  tirc_argument *args; /* outputs of its own, inputs of the bed */
  tirc_reference *reference;
} Candidate;

/* candidate.c. In a child: of what is to be timed, and of the reference. */
ChildWork tirc_candidate_work(Candidate *c);
ChildWork tirc_reference_work(Candidate *c);
void tirc_slot_fail(Slot *s, const char *code, const char *message);
void tirc_slot_conclude(Slot *s); /* what its samples amount to */

#endif
