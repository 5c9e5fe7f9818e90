/* What the files of this folder share: what a source of kernels has besides what all sources have
 * (codegen/text/gen.h, with the rows of the languages), and the doors of each file.
 *
 * A bool is a bool (a byte in memory), a float16 or bfloat16 a float. */
#ifndef TIRC_CODEGEN_GPU_GEN_H
#define TIRC_CODEGEN_GPU_GEN_H

#include "codegen/text/gen.h"
#include "gpu.h"

typedef struct Kernel {
  const Func *f;
  const char *name;
  Expr extents[GPU_AXES]; /* NULL: the kernel does not have the axis */
  int64_t blocks_at_once; /* on a multiprocessor; 0: as many as there is room for */
  bool shares_global;     /* several places touch what it writes there: barriers order that, too */
} Kernel;

typedef struct Kernels {
  const Kernel *k; /* the one being written */
  const Module *module;
  const char *const *symbols; /* of its kernels */
  bool on_host;               /* in a launcher */
  int64_t dynamic_bytes;      /* of shared.dyn that this kernel has declared */
  PtrMap fragments;           /* of tensor cores: WmmaFragments */
  VEC(Expr) moved;            /* loads of the store being written whose vectors are in vars */
} Kernels;

extern const Family tirc_kernels; /* family.c */

/* --- expr.c ---------------------------------------------------------------------------------- */
Emit tirc_gpu_let, tirc_gpu_reinterpret, tirc_gpu_ramp, tirc_gpu_vector_arith;
Emit tirc_gpu_all_lanes; /* of a vector or of the scalar that all its lanes are */

/* --- math.c ---------------------------------------------------------------------------------- */
Emit tirc_gpu_call;
CText tirc_gpu_popcount(Gen *g, Expr e, CText a);
bool tirc_gpu_math_on_vectors(Op op);

/* --- lanes.c --------------------------------------------------------------------------------- */
const char *tirc_gpu_helper_of(Gen *g, Op op, DType t);
bool tirc_gpu_written_out(Gen *g, Expr e, const Window *w, const CText *args, CText *value);
void tirc_gpu_write_function(Gen *g, Text *out, HelperId id);

/* --- memory.c -------------------------------------------------------------------------------- */
Emit tirc_gpu_load;
EmitStmt tirc_gpu_store, tirc_gpu_alloc, tirc_gpu_decl;
const char *tirc_gpu_pointer(Gen *g, Buffer b, Expr index);
Emit tirc_gpu_atomic;
/* v, which is what value is, stored there. */
void tirc_gpu_put(Gen *g, DType element, const char *array, const char *at, CText v);
/* Likewise a lane of a store's value; what is only copied as it lies in memory. */
void tirc_gpu_put_value(Gen *g, DType element, const char *array, const char *at, Expr value,
                        const Window *w);
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

/* --- async_copy.c ---------------------------------------------------------------------------- */
/* A store that copies so many bytes; false: the language has no asynchronous copies, or it is none.
 */
bool tirc_gpu_async_copy(Gen *g, Stmt store, Expr bytes);
void tirc_gpu_group_of_copies(Gen *g, Expr call); /* its end, or until few are on their way */

/* --- vector.c -------------------------------------------------------------------------------- */
/* Whether the language has every operation of a store's value on vectors. */
bool tirc_gpu_has_vector_form(Gen *g, Stmt store);

/* --- source.c -------------------------------------------------------------------------------- */
Kernel tirc_gpu_kernel(Tirc *c, const Func *f, const char *name);
void tirc_gpu_begin(Gen *g, const Kernel *k); /* a function, without names yet */

/* --- launcher.c: headers --------------------------------------------------------------------- */
void tirc_gpu_write_geometry(Gen *g, const Kernel *k);
void tirc_gpu_write_launchers(Gen *g);
/* A statement of a host function; false: it is written as in a kernel. */
bool tirc_gpu_host_stmt(Gen *g, Stmt s);
const char *tirc_gpu_guard(Gen *g); /* the macro that says that the header is there */

/* --- stmt.c ---------------------------------------------------------------------------------- */
EmitStmt tirc_gpu_for, tirc_gpu_seq, tirc_gpu_bind, tirc_gpu_eval, tirc_gpu_attr, tirc_gpu_check;

#endif
