/* What the files of this folder share: the state of one file being written, and the doors of each
 * file in the order names, types, expressions, memory, statements, functions.
 *
 * Values in C: a bool is an int that is 0 or 1 (a byte in memory), integers and floats are
 * themselves, float16 and bfloat16 are the uint16_t of their bits, handles are pointers.
 *
 * Vectors: a statement on vectors is written once for each register, where C has the operation on
 * vectors, and otherwise as a loop over the lanes, which compilers turn into vectors again. So an
 * expression is always asked for a Window of its lanes. */
#ifndef TIRC_CODEGEN_C_GEN_H
#define TIRC_CODEGEN_C_GEN_H

#include "c.h"
#include "codegen/c_text.h"
#include "codegen/failures.h"
#include "codegen/notes.h"
#include "codegen/signature.h"
#include "codegen/symbols.h"
#include "ir/tree/visit.h"

/* Lanes start .. start + n - 1 as one vector, or, when lane is given, the single lane start + lane
 * (lane is an expression in C). With n = 0 nothing is known of the lane. Scalars ignore it. */
typedef struct Window {
  int start, n;
  const char *lane;
} Window;

/* A register tile: each piece is a variable of its own. */
typedef struct Piece {
  int start, n; /* in elements */
  bool read;
} Piece;
typedef struct Tile {
  VEC(Piece) pieces;
} Tile;

/* What a variable of the program is in C. */
typedef struct Name {
  const char *s;
  DType element; /* of a pointer's target; void for scalars */
  bool is_array; /* lanes of a vector, in an array */
  Tile *tile;
  bool used, read, written;
  bool is_early; /* read where nothing above has written it */
} Name;

/* Memory that must be freed on every way out, innermost first. */
typedef struct Held {
  const char *name;
  struct Held *outer;
} Held;

typedef struct Helper {
  int id;
  DType t;
} Helper;

/* A function of float vectors that is written out. */
typedef struct LaneFunction {
  Op op;
  int lanes;
  bool has_power; /* its second argument is one number */
  double power;
  const char *name;
} LaneFunction;

typedef struct CGen {
  Tirc *c;
  const CSource *what;
  Text *out;
  int indent;
  Loc loc;
  const char *func;        /* its name in C */
  const Func *function;    /* the one being written */
  Failures failures;       /* of the module */
  PtrMap vars;             /* from a variable to its Name */
  VEC(const char *) taken; /* names in scope, innermost last */
  VEC(DType) vectors;      /* vector types in use */
  VEC(Helper) helpers;     /* functions that the code needs, in the order in which it needs them */
  VEC(LaneFunction) lane_functions;
  Text lane_texts; /* of those */
  bool uses_math, uses_stdlib;
  bool uses_zero;     /* in this function: a 0 that compilers do not know */
  bool uses_rounding; /* some function has conversions that gcc must be kept from losing */
  bool restrict_data;
  bool index; /* inside of index arithmetic, which does not overflow */
  Held *held;
  int64_t stack_bytes;
  bool in_parallel, leaves; /* inside of a parallel loop; and something has left it */
  int n_parallel;
  const BlockNotes *notes;
  const char *note; /* the comment last written */
} CGen;

/* --- names.c -------------------------------------------------------------------------------- */
/* A name for a variable of the program: its own, unless C or an enclosing scope forbids that. It is
 * taken until tirc_cg_close_scope(g, mark) with a mark from before. */
const char *tirc_cg_name(CGen *g, const char *wanted);
Name *tirc_cg_declare(CGen *g, Expr var, const char *wanted);
int tirc_cg_open_scope(CGen *g);
void tirc_cg_close_scope(CGen *g, int mark);

/* --- types.c -------------------------------------------------------------------------------- */
const char *tirc_cg_value_type(DType t); /* of a local variable */
/* The name of a vector type; with one lane, of the scalar that may alias anything. */
const char *tirc_cg_vector(CGen *g, DType scalar, int lanes);
bool tirc_cg_is_small(DType t); /* float16 or bfloat16 */
CText tirc_cg_number(CGen *g, DType t, int64_t v);
CText tirc_cg_float(CGen *g, DType t, double v);
CText tirc_cg_cast(CGen *g, CText v, DType from, DType to); /* scalars */
CText tirc_cg_widen(CGen *g, CText v, DType t);
CText tirc_cg_narrow(CGen *g, CText v, DType t);

/* --- helpers.c ------------------------------------------------------------------------------ */
typedef enum HelperId {
#define HELPER(id, name, needs, text) HELPER_##id,
#include "helpers.def"
#undef HELPER
  HELPER_COUNT
} HelperId;
/* The name of a helper function for a type, which is written in front of the functions. */
const char *tirc_cg_helper(CGen *g, HelperId id, DType t);
void tirc_cg_write_helpers(CGen *g, Text *out);

/* --- expr.c --------------------------------------------------------------------------------- */
CText tirc_cg_expr(CGen *g, Expr e, const Window *w);
CText tirc_cg_scalar(CGen *g, Expr e);
const char *tirc_cg_index(CGen *g, Expr e); /* a scalar, in index arithmetic */
/* The text, in parentheses if it binds less than that. */
const char *tirc_cg_operand(CGen *g, CText t, Binds least);
CText tirc_cg_text(CGen *g, Binds binds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
CText tirc_cg_binary(CGen *g, Op op, CText a, CText b);
CText tirc_cg_cast_to(CGen *g, const char *type, CText v);
/* A vector, also of what is the same in all lanes. */
CText tirc_cg_vector_value(CGen *g, Expr e, DType t, const Window *w);
const char *tirc_cg_lane_number(CGen *g, const Window *w); /* of one lane, in C */
_Noreturn void tirc_cg_unsupported(CGen *g, Expr e);

/* --- decided.c ------------------------------------------------------------------------------ */
/* Whether x op y comes out one way, whatever the variables are; y: NULL for 0. */
bool tirc_cg_is_decided(Op op, Expr x, Expr y, bool *holds);

/* --- calls.c -------------------------------------------------------------------------------- */
CText tirc_cg_math(CGen *g, Expr e, const Window *w);
CText tirc_cg_call(CGen *g, Expr e, const Window *w);

/* --- lanes.c -------------------------------------------------------------------------------- */
/* Whether a function of a vector is written out, and its value of so many lanes; small floats are
 * floats then. */
bool tirc_cg_has_lane_function(Expr e);
CText tirc_cg_lane_function(CGen *g, Expr e, int lanes, const CText *args);

/* --- memory.c ------------------------------------------------------------------------------- */
CText tirc_cg_load(CGen *g, Expr e, const Window *w);
CText tirc_cg_address(CGen *g, Expr load);
void tirc_cg_store(CGen *g, Stmt s);
void tirc_cg_alloc(CGen *g, Stmt s);
bool tirc_cg_is_tile(CGen *g, Buffer b);
/* The element at index + k of an array, to be read. */
const char *tirc_cg_element(CGen *g, Buffer b, Expr index, int64_t k);
/* The variable of a register tile that has these lanes of the index; NULL for other buffers. */
const char *tirc_cg_tile_piece(CGen *g, Buffer b, Expr index, int first, int n);
void tirc_cg_note_written(CGen *g, Buffer b);

/* --- pairs.c -------------------------------------------------------------------------------- */
/* Both stores by a helper, if they are a pair (codegen/pairs.h). */
bool tirc_cg_pair(CGen *g, Stmt first, Stmt second);

/* --- vector.c ------------------------------------------------------------------------------- */
/* Whether C has every operation of a store's value on vectors. */
bool tirc_cg_has_vector_form(Stmt store);
/* The lanes that go into one statement: `size` at most, a power of two. */
int tirc_cg_next_chunk(int left, int size);
int tirc_cg_chunk_lanes(CGen *g, Stmt store);
/* How a store is written: whether its value must be complete before the first lane is stored. */
bool tirc_cg_overlaps(CGen *g, Stmt store);
/* NULL when the buffer must be an array. */
Tile *tirc_cg_find_tile(CGen *g, Buffer b, Stmt body);

/* --- stmt.c --------------------------------------------------------------------------------- */
void tirc_cg_stmt(CGen *g, Stmt s);
void tirc_cg_line(CGen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tirc_cg_open(CGen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tirc_cg_close(CGen *g);
/* if (cond) { free what is held; return status; } */
void tirc_cg_leave_if(CGen *g, const char *cond, const char *status);
/* What follows is written to `body` until tirc_cg_end_body. */
Text *tirc_cg_begin_body(CGen *g, Text *body);
void tirc_cg_end_body(CGen *g, Text *outer, const Text *body);

/* --- declare.c ------------------------------------------------------------------------------ */
/* What a comment says behind the symbol g->func of f: "" where it is the function's name, or for
 * main the one that was asked for. */
const char *tirc_cg_symbol_note(CGen *g, const Func *f);
/* int NAME(const float *restrict A, ...), and the names of the parameters in *names. */
const char *tirc_cg_declaration(CGen *g, const Signature *s, Name ***names);

/* --- error_text.c --------------------------------------------------------------------------- */
/* The function NAME_error_text for the codes of one function, or of all (NULL); its declaration. */
void tirc_cg_error_text(Tirc *c, Text *t, const char *name, const Failures *f, const Func *only);
void tirc_cg_declare_error_text(Text *t, const char *name);

#endif
