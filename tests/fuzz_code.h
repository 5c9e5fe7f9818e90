/* The parts of the fuzzer of code: typed expressions whose values are known to lie in a range
 * (fuzz_code_expr.c), programs made of them (fuzz_code_program.c, fuzz_code_stage.c) or of tiles
 * (fuzz_code_region.c), runs in processes of their own (fuzz_code_run.c), and counterexamples made
 * small (fuzz_code_shrink.c). */
#ifndef TIRC_TESTS_FUZZ_CODE_H
#define TIRC_TESTS_FUZZ_CODE_H

#include "passes/schedule/schedule.h"
#include "rng.h"
#include "runtime/interp/interp.h"

typedef __int128 Wide; /* holds what arithmetic on any integer type gives */

/* An expression. Floats have integer values, which are exact in their type. */
typedef struct Typed {
  const char *text;
  DType t;
  Wide lo, hi; /* its value is one of these */
} Typed;

enum { CODE_ORDERS = 3 };
enum { CODE_DIMS = 3, CODE_BUFFERS = 10, CODE_VARS = 24, CODE_PARAMS = 14 };

typedef struct CodeBuffer {
  const char *name;
  DType t;
  int n, shape[CODE_DIMS];
  Typed extents[CODE_DIMS]; /* the same as expressions */
  Wide lo, hi;              /* of the elements */
  bool is_param;
} CodeBuffer;

/* What a parameter gets. */
typedef struct CodeParam {
  bool is_scalar;
  int n; /* dimensions of the array, which is flat where the buffer has strides */
  int64_t shape[CODE_DIMS];
  Wide lo, hi; /* of its elements; of a scalar both are the value */
} CodeParam;

typedef struct Program {
  const char *name, *text, *schedule; /* schedule: lines, of which those that fail do nothing */
  const char *bindings; /* lines that make threads of it, after these; NULL: as the emulator's part
                         * draws */
  int64_t tile;         /* the most elements of a buffer in shared memory; 0: any */
  bool automatic;       /* scheduled by the rules, too */
  bool kernel;          /* or for the emulator alone: it has threads, */
  const char *orders[CODE_ORDERS]; /* which compute the same in other orders */
  uint64_t seed;                   /* of its arrays' elements */
  int n_params;
  CodeParam params[CODE_PARAMS];
} Program;

/* A program that grows. */
typedef struct Draft {
  Tirc *c;
  Rng *r;
  int depth, budget; /* of the text; how many operations an expression may still have */
  int n_names;
  bool ordered; /* loops around here run in order */
  int n_vars, n_buffers, n_blocks;
  Typed vars[CODE_VARS];            /* integers in scope */
  CodeBuffer buffers[CODE_BUFFERS]; /* that may be read */
  Text head, body;                  /* declarations; statements */
  Program *program;
} Draft;

/* --- fuzz_code_expr.c */

#define code_any(g, table) (&(table)[rng_below((g)->r, (int)(sizeof(table) / sizeof *(table)))])
DType code_type(Draft *g);     /* any but void and handle */
DType code_int_type(Draft *g); /* of 8 to 64 bits */
Wide code_min(DType t);        /* of floats: integers are exact down to it */
Wide code_max(DType t);
Typed code_constant(Draft *g, DType t, Wide value);
/* Of this type, with so many levels of operations at most. */
Typed code_expr(Draft *g, DType t, int depth);
Typed code_condition(Draft *g, int depth);
Typed code_cast(Draft *g, Typed x, DType t);
/* An expression of the same type with values between these, of which the type has some. */
Typed code_fit(Draft *g, Typed x, Wide lo, Wide hi);
/* Two operands of one type; they are fitted where the result would not be defined. */
Typed code_binary(Draft *g, Op op, Typed a, Typed b);
/* An integer from 0 to extent - 1. extent has one value. */
const char *code_index(Draft *g, Typed extent);
/* What a vectorizer may take for an access with a stride: A[(3 * i + 1) % 64]. */
Typed code_strided_load(Draft *g);
const char *code_indices(Draft *g, const CodeBuffer *b);

/* --- fuzz_code_program.c */

/* Many of them cannot be run: they overflow, or divide by 0. */
void code_program(Tirc *c, Rng *r, const char *name, Program *out);
const char *code_name(Draft *g, const char *prefix);
void code_line(Draft *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One more buffer, declared; who adds it to g->buffers says that it may be read. */
CodeBuffer code_buffer(Draft *g, DType t, int n, const Typed *extents, bool is_param);

/* --- fuzz_code_kernel.c */

/* A kernel, or loops with a schedule that makes one. Many of them must be refused. */
void code_kernel(Tirc *c, Rng *r, const char *name, Program *out);

/* --- fuzz_code_stage.c */

/* Loops and stores that fill one more buffer. last: it is a parameter. */
void code_stage(Draft *g, bool last);

/* --- fuzz_code_region.c */

/* One whose buffers become smaller when it is lowered. */
void code_regions(Tirc *c, Rng *r, const char *name, Program *out);

/* --- fuzz_code_run.c */

/* The lines of a schedule, of which some may fail. */
void code_run_lines(Tirc *c, Sched *s, const char *lines);

typedef struct Arrays { /* one a parameter; NULL: a scalar */
  int n;
  Argument *args;
} Arrays;

/* A program and what it should compute. */
typedef struct Expected {
  const Program *program;
  const Module *from, *scheduled, *lowered;
  Arrays start, end;
} Expected;

/* Parses, interprets, schedules and lowers in context c. False: c->diag says what the program does
 * that is not defined, or what is not well formed. */
bool code_expect(Tirc *c, const Program *p, Expected *out);
/* The same of a module that is there already. */
bool code_expect_module(Tirc *c, const Program *p, const Module *m, Expected *out);
void code_release(Expected *e);
/* Whether the kernel computes the same in all its orders. */
bool code_same_in_orders(Tirc *c, const Program *p, const Expected *e);

/* --- fuzz_code_emulate.c */

enum { CODE_REASONS = 32 };

typedef struct CodeEmulated {
  long done, refused; /* refused: not lowered, such as for its types */
  long twice;         /* where threads store to one element by one statement */
  long warned;        /* they compute something else, and a warning says so */
  struct {
    const char *what; /* of the heap: the message without names and numbers */
    long n;
  } reasons[CODE_REASONS]; /* why they are refused */
} CodeEmulated;

/* What is wrong with what the emulator computes, or NULL. */
const char *code_emulate(Tirc *c, const Expected *e, CodeEmulated *count);

typedef struct Compiler Compiler;
struct Compiler {
  const char *command; /* of a C compiler with its options; NULL: machine code */
  const char *cpu;     /* what machine code is for, and C's vectors */
  const char *folder;  /* for C files */
  bool is_portable;    /* C without extensions */
};
/* Compiles and runs n programs, each once, in other processes. why[i]: NULL, or how program i
 * differs from what it should compute. */
void code_run(Tirc *c, const Compiler *how, int n, const Expected *programs, const char **why);

/* --- fuzz_code_shrink.c */

/* The smallest module with the same parameters that still differs, and how it does. */
const Module *code_shrink(Tirc *c, const Compiler *how, Program *p, const char **why);

#endif
