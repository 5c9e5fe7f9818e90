/* What the files of this folder share: what a file in C has besides what all sources have
 * (codegen/text/gen.h), and the doors of each file in the order types, functions, memory,
 * statements.
 *
 * Values in C: a bool is an int that is 0 or 1 (a byte in memory), integers and floats are
 * themselves, float16 and bfloat16 are the uint16_t of their bits, handles are pointers.
 *
 * Vectors: a statement on vectors is written once for each register, where C has the operation on
 * vectors, and otherwise as a loop over the lanes, which compilers turn into vectors again. */
#ifndef TIRC_CODEGEN_C_GEN_H
#define TIRC_CODEGEN_C_GEN_H

#include "c.h"
#include "codegen/failures.h"
#include "codegen/text/gen.h"
#include "ir/tree/intrinsic.h"

/* A register tile: each piece is a variable of its own. */
typedef struct Piece {
  int start, n; /* in elements */
  bool read;
} Piece;
typedef struct Tile {
  VEC(Piece) pieces;
} Tile;

/* Memory that must be freed on every way out, innermost first. */
typedef struct Held {
  const char *name, *bytes;
  const char *memory; /* "array_x" of a scope "array.x"; NULL */
  struct Held *outer;
} Held;

/* A function of float vectors that is written out. */
typedef struct LaneFunction {
  Op op;
  int lanes;
  bool has_power; /* its second argument is one number */
  double power;
  const char *name;
} LaneFunction;

typedef struct CFile {
  const CSource *what;
  const char *func;     /* its name in C */
  const Func *function; /* the one being written */
  Failures failures;    /* of the module */
  VEC(DType) vectors;   /* vector types in use */
  VEC(LaneFunction) lane_functions;
  VEC(IntrinsicId) dots;     /* ids of the dot products in use */
  Text lane_texts;           /* of those */
  VEC(const char *) headers; /* of instructions of the user's own */
  bool uses_stdlib;
  bool uses_zero;     /* in this function: a 0 that compilers do not know */
  bool rounds;        /* likewise of this function; */
  bool uses_rounding; /* some function has conversions that gcc must be kept from losing */
  bool restrict_data;
  Held *held;
  int64_t stack_bytes;
  bool in_parallel, leaves; /* inside of a parallel loop; and something has left it */
  Expr mask;                /* the lanes that the store at hand stores; NULL: all */
  int n_parallel;
  Text bodies;  /* of parallel loops, which stand before the function */
  bool uses_rt; /* in the body at hand */
  int n_lets;   /* variables of expressions, where they stand in front of the statement */
} CFile;

extern const Language tirc_c_language; /* types.c */

/* Whether the file keeps to C11. */
static inline bool tirc_cg_is_portable(const Gen *g) { return g->file->what->vector_bytes == 0; }

/* --- types.c -------------------------------------------------------------------------------- */
/* The name of a vector type; with one lane, of the scalar that may alias anything. */
const char *tirc_cg_vector(Gen *g, DType scalar, int lanes);

/* --- expr.c --------------------------------------------------------------------------------- */
Emit tirc_cg_let, tirc_cg_reinterpret, tirc_cg_ramp, tirc_cg_vector_arith, tirc_cg_all_lanes;
/* A vector of elements of type t, also of what is the same in all lanes. */
CText tirc_cg_vector_value(Gen *g, Expr e, DType t, const Window *w);

/* --- decided.c ------------------------------------------------------------------------------ */
/* Whether x op y comes out one way, whatever the variables are; y: NULL for 0. */
bool tirc_cg_is_decided(Op op, Expr x, Expr y, bool *holds);

/* --- calls.c -------------------------------------------------------------------------------- */
Emit tirc_cg_call;
CText tirc_cg_popcount(Gen *g, Expr e, CText a);

/* --- lanes.c -------------------------------------------------------------------------------- */
/* Whether a function of a vector is written out. */
bool tirc_cg_has_lane_function(Expr e);
/* Its value, of the lanes of w or of one of them; small floats are floats then. False: it is not
 * written out. */
bool tirc_cg_lane_function(Gen *g, Expr e, const Window *w, const CText *args, CText *value);

/* --- memory.c ------------------------------------------------------------------------------- */
Emit tirc_cg_load;
CText tirc_cg_address(Gen *g, Expr load);
EmitStmt tirc_cg_store, tirc_cg_if, tirc_cg_alloc;
bool tirc_cg_is_tile(Gen *g, Buffer b);
/* The element at index + k of an array, to be read. */
const char *tirc_cg_element(Gen *g, Buffer b, Expr index, int64_t k);
/* The variable of a register tile that has these lanes of the index; NULL for other buffers. */
const char *tirc_cg_tile_piece(Gen *g, Buffer b, Expr index, int first, int n);
void tirc_cg_note_written(Gen *g, Buffer b);
void tirc_cg_free(Gen *g, const Held *h); /* memory of the heap */

/* --- pairs.c -------------------------------------------------------------------------------- */
/* Both stores by a helper, if they are a pair (codegen/pairs.h). */
bool tirc_cg_pair(Gen *g, Stmt first, Stmt second);

/* --- dots.c --------------------------------------------------------------------------------- */
/* Whether a store adds a dot product of dots.def to what it stores to, in vectors that registers
 * hold. */
bool tirc_cg_is_dot(Gen *g, Stmt store, IntrinsicCall *k);
/* Such a store, by a function; false: it is another one. */
bool tirc_cg_dot(Gen *g, Stmt store);

/* --- instruction.c --- of the user's own ------------------------------------------------------ */
EmitStmt tirc_cg_instruction;
/* Throws where the buffer lies in memory that only instructions reach. */
void tirc_cg_require_reach(Gen *g, Buffer b);
/* What the header's functions for such memory are called, but for _alloc and _free. */
const char *tirc_cg_memory_name(Gen *g, Buffer b);

/* --- amx.c ---------------------------------------------------------------------------------- */
EmitStmt tirc_cg_attr; /* of a product of tiles; of others what stands below */

/* --- vector.c ------------------------------------------------------------------------------- */
/* Whether C has every operation of a store's value on vectors. */
bool tirc_cg_has_vector_form(Gen *g, Stmt store);
/* The lanes that go into one statement: `size` at most, a power of two. */
int tirc_cg_next_chunk(int left, int size);
int tirc_cg_chunk_lanes(Gen *g, Stmt store);
/* NULL when the buffer must be an array. */
Tile *tirc_cg_find_tile(Gen *g, Buffer b, Stmt body);

/* --- stmt.c --------------------------------------------------------------------------------- */
EmitStmt tirc_cg_for, tirc_cg_seq, tirc_cg_bind, tirc_cg_check, tirc_cg_eval;
/* if (cond) { free what is held; return status; } */
void tirc_cg_leave_if(Gen *g, const char *cond, const char *status);
/* What follows is written to `body` until tirc_cg_end_body. */
Text *tirc_cg_begin_body(Gen *g, Text *body);
void tirc_cg_end_body(Gen *g, Text *outer, const Text *body);

/* --- parallel.c ----------------------------------------------------------------------------- */
/* A loop on the threads of the runtime; its body is a function of its own. n: how many steps. */
void tirc_cg_parallel(Gen *g, const For *loop, const char *first, const char *n,
                      const char *clauses);
/* Whether something in a statement uses the buffer within a loop on threads. */
bool tirc_cg_is_shared(Gen *g, Buffer b, Stmt s);

/* --- declare.c ------------------------------------------------------------------------------ */
/* What a comment says behind the symbol g->func of f: "" where it is the function's name, or for
 * main the one that was asked for. */
const char *tirc_cg_symbol_note(Gen *g, const Func *f);
/* int NAME(const float *restrict A, ...), and the names of the parameters in *names. */
const char *tirc_cg_declaration(Gen *g, const Signature *s, Name ***names);
/* Of int NAME(...) also int NAME__rt(..., const tirc_runtime *), which machine code has beside it.
 */
void tirc_cg_declare_with_runtime(Text *t, const char *declaration);
/* The type tirc_runtime, with what it is. */
extern const char tirc_cg_runtime_type[];

/* --- error_text.c --------------------------------------------------------------------------- */
/* The function NAME_error_text for the codes of one function, or of all (NULL); its declaration. */
void tirc_cg_error_text(Tirc *c, Text *t, const char *name, const Failures *f, const Func *only);
void tirc_cg_declare_error_text(Text *t, const char *name);

/* --- info.c ---------------------------------------------------------------------------------- */
/* The function NAME_info of a model; the types that it gives, and its declaration. */
void tirc_cg_info(Tirc *c, Text *t, const ModelEntry *e);
void tirc_cg_declare_info(Text *t, const char *name);

#endif
