/* Source text in the languages that have C's operators: what is common to C (codegen/c) and to the
 * languages of kernels (codegen/gpu). The state of one source being written, the row that spells it
 * in a language, the family of what processors and kernels have differently, and the doors of each
 * file in the order names, types, helpers, expressions, functions, memory, statements.
 *
 * Values: a bool is 0 or 1 (a byte in memory), integers and floats are themselves, handles are
 * pointers. A float16 or bfloat16 is the integer of its bits where a language has small_bits;
 * elsewhere it is a float that is one of its numbers: it is widened by a load, rounded after each
 * operation, and narrowed by a store.
 *
 * Vectors: a statement on vectors is written once where the language has all its operations on
 * them, and otherwise once for each lane, or as a loop over the lanes. So an expression is always
 * asked for a Window of its lanes. */
#ifndef TIRC_CODEGEN_TEXT_GEN_H
#define TIRC_CODEGEN_TEXT_GEN_H

#include "c_text.h"
#include "codegen/notes.h"
#include "codegen/signature.h"
#include "codegen/symbols.h"
#include "ir/gpu.h"
#include "ir/tree/atomic.h"
#include "ir/tree/visit.h"

/* Lanes start .. start + n - 1 as one vector, or, when lane is given, the single lane start + lane
 * (lane is an expression of the language). With n = 0 nothing is known of the lane, or all of them
 * are meant. Scalars ignore it. */
typedef struct Window {
  int start, n;
  const char *lane;
} Window;
extern const Window tirc_src_all, tirc_src_first; /* all lanes; the first one, or a scalar */

/* What a variable of the program is in the source. */
typedef struct Name {
  const char *s;
  DType element;     /* of a pointer's target; void for scalars */
  const char *space; /* the qualifier of what it points to */
  bool is_array;     /* the lanes of a vector, in an array */
  struct Tile *tile; /* C's: it is held in registers */
  bool used, read, written;
  bool is_early; /* read where nothing above has written it, in any case if it is of one element */
  bool is_one;   /* an array of one element */
  int branches;  /* around its declaration */
} Name;

typedef enum HelperId {
#define HELPER(id, name, needs, text) HELPER_##id,
#include "helpers.def"
#undef HELPER
  HELPER_COUNT
} HelperId;
typedef struct Helper {
  HelperId id;
  DType t;
} Helper;

typedef struct Language Language;
typedef struct Gen {
  Tirc *c;
  const Language *l;
  Text *out;
  int indent;
  int branches; /* open ones */
  Loc loc;
  bool lines;              /* #line says which line of the program each line of the source is for */
  PtrMap vars;             /* from a variable, or a view, to its Name */
  VEC(const char *) taken; /* names in scope, innermost last */
  VEC(Helper) helpers;     /* functions that the code needs, in that order */
  bool index;              /* inside of index arithmetic, which does not overflow */
  bool uses_math, uses_double;
  Text ahead;     /* lines that stand in front of the next one: declarations that it needs */
  bool is_header; /* a program may include several such sources, of which each has its helpers */
  const BlockNotes *notes;
  const char *note;        /* the comment last written */
  struct CFile *file;      /* what a source in C has besides */
  struct Kernels *kernels; /* what one of kernels has */
} Gen;
typedef CText Emit(Gen *g, Expr e, const Window *w);
typedef void EmitStmt(Gen *g, Stmt s);

/* --- what processors and kernels have differently -------------------------------------------- */
typedef struct Family {
  bool small_bits;                             /* a small float is the integer of its bits */
  Emit *const *exprs;                          /* [op]: instead of what expr.c has; NULL: that */
  EmitStmt *const *stmts;                      /* [kind]: likewise */
  bool (*expr)(Gen *g, Expr e, CText *out);    /* whether it is written, before any of those */
  bool (*stmt)(Gen *g, Stmt s);                /* likewise */
  CText (*number)(Gen *g, DType t, int64_t v); /* an integer, a bool or NULL */
  CText (*cast_handle)(Gen *g, CText v, DType from, DType to); /* one of them is one */
  CText (*popcount)(Gen *g, Expr e, CText a);
  Emit *vector_arith, *all_lanes; /* vectors; the second also of what is the same in all lanes */
  /* Whether a function of mathematics is written out, and its value. */
  bool (*written_out)(Gen *g, Expr e, const Window *w, const CText *args, CText *value);
  void (*write_function)(Gen *g, Text *out, HelperId id); /* a helper that has no text */
  /* Whether x op y comes out one way, whatever the variables are; y: NULL for 0. */
  bool (*is_decided)(Op op, Expr x, Expr y, bool *holds);
} Family;

/* --- the row of a language ------------------------------------------------------------------- */
typedef struct FunctionName {
  Op op;
  const char *name, *wide; /* on 64 bits, where that is another one */
} FunctionName;
typedef struct OwnText {
  const char *name, *text;
} OwnText;
struct Language {
  const char *name; /* in messages */
  const Family *family;
  const char *ints[4], *uints[4];            /* of 8, 16, 32, 64 bits */
  const char *half;                          /* what a float16 is in memory */
  const char *handle;                        /* NULL: there is none */
  const char *function, *function_of_both;   /* before a helper's result; one for the host, too */
  const char *global, *shared, *restrict_of; /* qualifiers, with a blank behind them */
  const char *float_suffix;                  /* of functions on float: "f" */
  const char *infinity, *nan;
  const char *bits_of_float, *float_of_bits, *bits_of_double,
      *double_of_bits; /* functions, or NULL */
  /* In the text of helpers: a floor of a / b, the end of what rounds to odd, the body of what
   * rounds the float x to a float16. */
  const char *floor_quotient, *end_odd, *round_half;
  const FunctionName *functions; /* that have another name than in C; ends with name NULL */
  /* Functions of mathematics that are helpers: the name of one, or NULL. Or NULL: none is. */
  const char *(*helper_of)(Gen *g, Op op, DType t);
  const OwnText *own;     /* functions in front where they are called; ends with name NULL */
  const char *reserved;   /* words that are no names, each with a blank behind it; or NULL */
  const char *reserved_n; /* likewise, with a number behind the word */
  const char *(*vector_type)(Gen *g, DType t); /* NULL: there is none */

  /* Of kernels. */
  const char *shared_target; /* the qualifier of what points to shared memory */
  const char *axes[GPU_AXES];
  const char *barrier, *barrier_all; /* of shared memory; of global memory, too */
  const char *warp_barrier;          /* NULL: there are no warps */
  const char *active_mask;           /* the threads of a warp that are here; NULL likewise */
  const char *clock;                 /* cycles of what runs a thread; NULL likewise */
  const char *long_suffix, *ulong_suffix;
  bool vector_arith; /* vectors have operators and functions */
  bool tensor_cores; /* PTX can stand in it */
  /* Not 0: vectors are what memory moves at once, this many bytes, from addresses of as many. */
  int moved_bytes;
  const char *doubles; /* the line that sources with doubles begin with */
  /* Before a kernel's name; threads of a block, or NULL when they are not known; blocks that should
   * run at the same time, or 0; whether the kernel is of this source alone. */
  const char *(*kernel)(Tirc *c, const int64_t *threads, int64_t blocks, bool is_static);
  /* All memory of scope shared.dyn is one array, of that name, whose size a launch says: its
   * declaration. NULL: it is declared like other memory of a block. */
  const char *dynamic, *declare_dynamic;
  /* Memory of one thread ("" before it) or of a block. */
  void (*declare_array)(Gen *g, const char *space, DType t, const char *name, int64_t count);
  CText (*splat)(Gen *g, const char *type, CText scalar);
  CText (*load_vector)(Gen *g, const char *p, DType t);
  const char *(*store_vector)(Gen *g, const char *p, DType t, const char *value);
  CText (*convert)(Gen *g, CText v, const char *type); /* vectors, to a type of as many lanes */
  CText (*bits_as)(Gen *g, CText v, DType from, const char *type);
  CText (*load_half)(Gen *g, const char *p, const char *index);
  const char *(*store_half)(Gen *g, const char *p, const char *index, const char *value);
  /* An atomic update; to: the address, args: what it is compared with, or none, and the value. */
  CText (*atomic)(Gen *g, const Atomic *a, const char *space, CText to, const CText *args);
  CText (*shuffle)(Gen *g, Expr call, int n, const CText *args); /* NULL: there is none */
};

/* --- names.c --------------------------------------------------------------------------------- */
bool tirc_src_reserves(const Language *l, const char *s);
/* A name for a variable of the program: its own, unless the language or an enclosing scope forbids
 * that. It is taken until g->taken.n is set to what it was before. */
const char *tirc_src_name(Gen *g, const char *wanted);
Name *tirc_src_declare(Gen *g, const void *key, const char *wanted);
Name *tirc_src_name_of(Gen *g, Buffer b); /* of its memory */
/* A parameter, and its declaration in *t. */
Name *tirc_src_param(Gen *g, Text *t, const Param *p);

/* --- types.c --------------------------------------------------------------------------------- */
const char *tirc_src_type(const Language *l, DType t); /* in memory; NULL: there is none */
const char *tirc_src_memory_type(Gen *g, DType t);
const char *tirc_src_value_type(Gen *g, DType t); /* of a local variable, with all its lanes */
bool tirc_src_is_small(DType t);                  /* float16 or bfloat16 */
bool tirc_src_computes(DType t);                  /* numbers that have operators on vectors */
CText tirc_src_number(Gen *g, DType t, int64_t v);
CText tirc_src_float(Gen *g, DType t, double v);
CText tirc_src_widen(Gen *g, CText v, DType t);  /* a small float, to a float */
CText tirc_src_narrow(Gen *g, CText v, DType t); /* a float, to the nearest one of a small type */
CText tirc_src_cast(Gen *g, CText v, DType from, DType to); /* scalars */
CText tirc_src_text(Gen *g, Binds binds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- helpers.c ------------------------------------------------------------------------------- */
/* The name of a helper function for a type, which is written in front of the functions. */
const char *tirc_src_helper(Gen *g, HelperId id, DType t);
void tirc_src_write_helpers(Gen *g, Text *out);
/* Those of the language's own functions that a text, or one of them, calls. */
void tirc_src_write_own(Gen *g, Text *out, const char *text);

/* --- expr.c ---------------------------------------------------------------------------------- */
CText tirc_src_expr(Gen *g, Expr e, const Window *w);
CText tirc_src_scalar(Gen *g, Expr e);
CText tirc_src_index(Gen *g, Expr e, const Window *w);               /* in index arithmetic */
CText tirc_src_operand_as(Gen *g, Expr x, DType t, const Window *w); /* converted */
CText tirc_src_binary(Gen *g, Op op, CText a, CText b);
CText tirc_src_cast_to(Gen *g, DType t, CText v);
const char *tirc_src_lane(Gen *g, const Window *w); /* the number of one lane */
Expr tirc_src_spread(Expr e);                       /* the scalar in every lane, when it is one */
DType tirc_src_unsigned(DType t);
_Noreturn void tirc_src_unsupported(Gen *g, Expr e);

/* --- math.c ---------------------------------------------------------------------------------- */
CText tirc_src_math(Gen *g, Expr e, const Window *w);
CText tirc_src_extern(Gen *g, Expr e, const Window *w); /* a function of libm by its name */
CText tirc_src_call(Gen *g, const char *name, int n, const CText *args);
/* The name of the function that an operator is on a type; NULL: the language has none. */
const char *tirc_src_function(Gen *g, Op op, DType t);

/* --- stmt.c ---------------------------------------------------------------------------------- */
void tirc_src_stmt(Gen *g, Stmt s);
EmitStmt tirc_src_if;
void tirc_src_line(Gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tirc_src_open(Gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tirc_src_close(Gen *g);
/* The declarations that wait for the next line, where that is a directive. */
void tirc_src_put_ahead(Gen *g);
void tirc_src_note(Gen *g, const char *text);  /* a comment, unless it is NULL */
CText tirc_src_bound(Gen *g, Expr e, DType t); /* of a loop over numbers of type t */
/* Whether a lane's store may change what a later lane reads, so that its value must be complete
 * before the first one is stored; apart: different data variables never alias. */
bool tirc_src_overlaps(Stmt store, bool apart);
/* base + k, with constants put together. */
Expr tirc_src_plus(Tirc *c, Expr base, int64_t k);

#endif
