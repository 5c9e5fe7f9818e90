/* What the files of this folder share: the state of one source being written, the row that spells
 * it in a language, and the doors of each file.
 *
 * Values: a bool is a bool (a byte in memory), integers and floats are themselves. A float16 or
 * bfloat16 is a float that is one of its numbers: it is widened by a load, rounded after each
 * operation, and narrowed by a store.
 *
 * Vectors: a statement on vectors is written once where the language has all its operations on
 * them, and otherwise once for each lane. So an expression is asked for its value with a lane: NULL
 * is all lanes, or a scalar; otherwise the text of one number. */
#ifndef TIRC_CODEGEN_GPU_GEN_H
#define TIRC_CODEGEN_GPU_GEN_H

#include "codegen/c_text.h"
#include "codegen/notes.h"
#include "codegen/signature.h"
#include "gpu.h"
#include "ir/gpu.h"
#include "ir/tree/visit.h"

/* What a variable of the program is in the source. */
typedef struct Name {
  const char *s;
  DType element;     /* of a pointer's target */
  const char *space; /* the qualifier of what it points to */
  bool is_array;     /* the lanes of a vector, in an array */
} Name;

typedef enum HelperId {
#define HELPER(id, name, needs, text) HELPER_##id,
#include "functions.def"
#include "helpers.def"
#undef HELPER
  HELPER_COUNT
} HelperId;
typedef struct Helper {
  HelperId id;
  DType t;
} Helper;

typedef struct Kernel {
  const Func *f;
  const char *name;
  Expr extents[GPU_AXES]; /* NULL: the kernel does not have the axis */
  bool shares_global;     /* several places touch what it writes there: barriers order that, too */
} Kernel;

typedef struct Gen {
  Tirc *c;
  const GpuLanguage *l;
  const Kernel *k;
  Text *out;
  int indent;
  Loc loc;
  PtrMap vars;             /* from a variable, or a view, to its Name */
  VEC(const char *) taken; /* names of this kernel */
  VEC(Helper) helpers;     /* functions that the code needs, in that order */
  bool index;              /* inside of index arithmetic, which does not overflow */
  bool uses_double;
  const BlockNotes *notes;
  const Module *module;
  const char *const *symbols; /* of its kernels */
  bool is_header;             /* kernels with launchers, for a program */
  bool on_host;               /* in a launcher */
  const char *note;           /* the comment last written */
  int64_t dynamic_bytes;      /* of shared.dyn that this kernel has declared */
  PtrMap fragments;           /* of tensor cores: WmmaFragments */
  VEC(Expr) moved;            /* loads of the store being written whose vectors are in vars */
} Gen;

/* --- the row of a language ------------------------------------------------------------------- */
typedef struct GpuFunction {
  Op op;
  const char *name, *wide; /* on 64 bits, where that is another one */
} GpuFunction;
typedef struct GpuText {
  const char *name, *text;
} GpuText;
struct GpuLanguage {
  const char *name;                          /* in messages */
  const char *target;                        /* what is lowered for when nobody says */
  const char *ints[4], *uints[4];            /* of 8, 16, 32, 64 bits */
  const char *half;                          /* what a float16 is in memory */
  const char *function, *function_of_both;   /* before a helper's result; one for the host, too */
  const char *global, *shared, *restrict_of; /* qualifiers, with a blank behind them */
  const char *shared_target;                 /* of what points to shared memory, likewise */
  const char *axes[GPU_AXES];
  const char *barrier, *barrier_all; /* of shared memory; of global memory, too */
  const char *warp_barrier;          /* NULL: there are no warps */
  const char *active_mask;           /* the threads of a warp that are here; NULL likewise */
  const char *long_suffix, *ulong_suffix;
  const char *float_suffix; /* of functions on float: "f" */
  const char *infinity, *nan;
  const char *bits_of_float, *float_of_bits, *double_of_bits; /* functions */
  const char *round_half;        /* the body of a function that rounds the float x to a float16 */
  const GpuFunction *functions;  /* that have another name than in C; ends with name NULL */
  bool written_out;              /* functions of mathematics are helpers (functions.def) */
  const GpuText *own;            /* functions in front where they are called; ends with name NULL */
  const char *const *reserved;   /* words that are no names; ends with NULL */
  const char *const *reserved_n; /* likewise, with a number behind them */
  bool vector_arith;             /* vectors have operators and functions */
  /* Not 0: vectors are what memory moves at once, this many bytes, from addresses of as many. */
  int moved_bytes;
  const char *doubles; /* the line that sources with doubles begin with */
  /* Before a kernel's name; threads of a block, or NULL when they are not known; whether the kernel
   * is of this source alone. */
  const char *(*kernel)(Tirc *c, const int64_t *threads, bool is_static);
  /* All memory of scope shared.dyn is one array, of that name, whose size a launch says: its
   * declaration. NULL: it is declared like other memory of a block. */
  const char *dynamic, *declare_dynamic;
  /* Memory of one thread ("" before it) or of a block. */
  void (*declare_array)(Gen *g, const char *space, DType t, const char *name, int64_t count);
  const char *(*vector_type)(Tirc *c, const char *scalar, int lanes);
  CText (*splat)(Gen *g, const char *type, CText scalar);
  CText (*load_vector)(Gen *g, const char *p, DType t);
  const char *(*store_vector)(Gen *g, const char *p, DType t, const char *value);
  CText (*convert)(Gen *g, CText v, const char *type); /* vectors, to a type of as many lanes */
  CText (*bits_as)(Gen *g, CText v, DType from, const char *type);
  CText (*load_half)(Gen *g, const char *p, const char *index);
  const char *(*store_half)(Gen *g, const char *p, const char *index, const char *value);
  CText (*shuffle)(Gen *g, Expr call, int n, const CText *args); /* NULL: there is none */
  bool tensor_cores;                                             /* PTX can stand in it */
};

/* --- names.c --------------------------------------------------------------------------------- */
/* The name, as far as the language allows, made new in this kernel. */
const char *tirc_gpu_name(Gen *g, const char *wanted);
Name *tirc_gpu_declare(Gen *g, const void *key, const char *wanted);
bool tirc_gpu_reserves(const GpuLanguage *l, const char *s);

/* --- types.c --------------------------------------------------------------------------------- */
const char *tirc_gpu_memory_type(Gen *g, DType t);
const char *tirc_gpu_value_type(Gen *g, DType t); /* all lanes of it */
bool tirc_gpu_is_small(DType t);                  /* float16 or bfloat16 */
CText tirc_gpu_literal(Gen *g, DType t, int64_t v);
CText tirc_gpu_float(Gen *g, DType t, double v);
CText tirc_gpu_cast(Gen *g, CText v, DType from, DType to); /* scalars */
CText tirc_gpu_round(Gen *g, CText v, DType t); /* a float to the nearest one of a small type */
CText tirc_gpu_text(Gen *g, Binds binds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- helpers.c ------------------------------------------------------------------------------- */
/* The name of a helper function for a type, which is written in front of the kernels. */
const char *tirc_gpu_helper(Gen *g, HelperId id, DType t);
void tirc_gpu_write_helpers(Gen *g, Text *out);
/* Those of the language's own functions that a text, or one of them, calls. */
void tirc_gpu_write_own(Gen *g, Text *out, const char *text);

/* --- expr.c ---------------------------------------------------------------------------------- */
CText tirc_gpu_expr(Gen *g, Expr e, const char *lane);
CText tirc_gpu_scalar(Gen *g, Expr e);
const char *tirc_gpu_index(Gen *g, Expr e); /* a scalar, in index arithmetic */
/* Of a vector or of the scalar that all its lanes are. */
CText tirc_gpu_all_lanes(Gen *g, Expr e);
_Noreturn void tirc_gpu_unsupported(Gen *g, Expr e);
CText tirc_gpu_operand_as(Gen *g, Expr x, DType t, const char *lane); /* converted */

/* --- math.c ---------------------------------------------------------------------------------- */
CText tirc_gpu_math(Gen *g, Expr e, const char *lane);
CText tirc_gpu_call(Gen *g, Expr e, const char *lane);
bool tirc_gpu_math_on_vectors(Op op);
/* The name of the function that an operator is on a type; NULL: the language has none. */
const char *tirc_gpu_function(Gen *g, Op op, DType t);

/* --- memory.c -------------------------------------------------------------------------------- */
CText tirc_gpu_load(Gen *g, Expr e, const char *lane);
void tirc_gpu_store(Gen *g, Stmt s);
void tirc_gpu_alloc(Gen *g, Stmt s);
void tirc_gpu_decl(Gen *g, Stmt s);
Expr tirc_gpu_store_index(Gen *g, Stmt s); /* in elements from the array on */
const char *tirc_gpu_pointer(Gen *g, Buffer b, Expr index);
/* v, which is what value is, stored there. */
void tirc_gpu_put(Gen *g, DType element, const char *array, const char *at, CText v);
/* A lane of a store's value as its element is held. */
CText tirc_gpu_stored_value(Gen *g, Expr value, DType t, const char *lane);
/* Shared memory is declared where a kernel begins. */
void tirc_gpu_declare_shared(Gen *g, Stmt body);

/* --- aligned.c ------------------------------------------------------------------------------- */
/* A store of a vector for languages whose vectors only move: what is loaded at once is, and true is
 * given where it is stored at once, too. */
bool tirc_gpu_move(Gen *g, Stmt store, Expr index);
/* Behind a store: the next one may find other values where the same expressions load. */
void tirc_gpu_forget_moved(Gen *g);
/* Whether these elements are moved at once, from or to an address that is a multiple of them. */
bool tirc_gpu_is_moved(Gen *g, Buffer b, Expr index);

/* --- dot.c ----------------------------------------------------------------------------------- */
/* Whether it is an instruction's four products of bytes. */
bool tirc_gpu_dot(Gen *g, Expr e, CText *out);

/* --- tensor_core.c --------------------------------------------------------------------------- */
/* For languages that have them. Whether an allocation is of fragments, which are declared then. */
void tirc_gpu_find_fragments(Gen *g, Stmt body);
bool tirc_gpu_fragments(Gen *g, Stmt alloc);
void tirc_gpu_tensor_core(Gen *g, Expr call);

/* --- vector.c -------------------------------------------------------------------------------- */
bool tirc_gpu_has_vectors(DType t); /* its lanes: 2, 3, 4, 8, 16 */
/* Whether the language has every operation of a store's value on vectors. */
bool tirc_gpu_has_vector_form(Gen *g, Stmt store);
/* Whether a lane's store may change what a later lane reads. */
bool tirc_gpu_lanes_overlap(Stmt store);
/* The scalar in every lane, when it is one. */
Expr tirc_gpu_spread(Expr e);

/* --- source.c -------------------------------------------------------------------------------- */
void tirc_gpu_begin(Gen *g, const Kernel *k);                /* a function, without names yet */
void tirc_gpu_param(Gen *g, Text *declared, const Param *p); /* of it */

/* --- launcher.c: headers --------------------------------------------------------------------- */
void tirc_gpu_write_geometry(Gen *g, const Kernel *k);
void tirc_gpu_write_launchers(Gen *g);
/* A statement of a host function; false: it is written as in a kernel. */
bool tirc_gpu_host_stmt(Gen *g, Stmt s);
const char *tirc_gpu_guard(Gen *g); /* the macro that says that the header is there */

/* --- stmt.c ---------------------------------------------------------------------------------- */
void tirc_gpu_stmt(Gen *g, Stmt s);
void tirc_gpu_line(Gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tirc_gpu_open(Gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tirc_gpu_close(Gen *g);

#endif
