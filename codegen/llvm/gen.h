/* What the files of this folder share: the state of one module being translated, and the doors of
 * each file in the order types, math, memory, expressions, statements, functions, target.
 *
 * Values: a bool is an i1 (a byte in memory), integers are themselves, float16 and bfloat16 are the
 * i16 of their bits and every operation on them goes through float, handles are pointers; vectors
 * are LLVM vectors of these. */
#ifndef TIRC_CODEGEN_LLVM_GEN_H
#define TIRC_CODEGEN_LLVM_GEN_H

#include "calls.h"

#include "asm_code.h"
#include "codegen/failures.h"
#include "ir/cpu.h"
#include "ir/gpu.h"
#include "ir/tree/visit.h"
#include "llvm.h"

typedef struct Target {
  LLVMTargetMachineRef machine;
  const Cpu *cpu;
  const char *triple, *features, *layout; /* features: beyond those that LLVM knows cpu to have */
  bool f16c;                              /* converts float16 in hardware */
  bool is_gpu;                            /* functions are kernels (kernel.c) */
} Target;

/* A way out of a function of many nests that others branch to: phi is the status. */
typedef struct Exit {
  LLVMBasicBlockRef block; /* NULL until it is needed */
  LLVMValueRef phi;
} Exit;

/* Workspace of the function being built that must be freed on every way out, innermost first. */
typedef struct Workspace {
  LLVMValueRef pointer, bytes;
  LLVMValueRef on_stack; /* whether it came to lie there, and is not freed; NULL: it does not */
  struct Workspace *outer;
  Exit exit; /* frees it and goes on to the exit of the outer one */
} Workspace;

/* The runtime's services, built into the module when first asked for (runtime_calls.c). */
typedef enum Service { SERVICE_ALLOC, SERVICE_FREE, SERVICE_COUNT } Service;

/* What belongs to the function being built. */
typedef struct Frame {
  LLVMValueRef fn, rt;
  LLVMBasicBlockRef entry; /* holds the allocations of the frame and nothing else */
  LLVMBasicBlockRef here;  /* where building goes on, while another function is built */
  PtrMap vars;             /* from a variable (data variables of buffers too) to an LLVMValueRef */
  Workspace *workspace;
  int64_t stack_bytes;
  int64_t dynamic_bytes; /* of memory of a block whose size a launch says */
  PtrMap fragments;      /* of tensor cores: WmmaFragments (codegen/wmma.h) */
  bool in_parallel;      /* the body of a parallel loop */
  bool in_nests;         /* its nests are functions of their own, and it has shared ways out */
  bool may_fail;         /* has a way out with another status than 0 */
  Exit exit;             /* with all workspace freed */
  int mark;              /* of the loop being built, in Gen.marks */
  LLVMValueRef zero;     /* a 0 that LLVM does not know, or NULL */
  LLVMMetadataRef scope; /* of its debug locations; NULL without marks */
} Frame;

typedef struct Gen {
  Tirc *c;
  const Target *target;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  LLVMValueRef services[SERVICE_COUNT];
  LLVMTypeRef runtime_type;
  const Func *func;   /* the one being translated */
  const char *symbol; /* what it is called */
  Failures failures;  /* of the module for a file, of `func` for this process */
  Loc loc;            /* of the statement being translated */
  bool exports;       /* for a file, not for this process */
  bool restrict_data; /* its different data variables never alias */
  int n_outlined;     /* bodies of parallel loops so far */
  bool index;         /* inside of index arithmetic, which does not overflow */
  LoopMarks *marks;   /* NULL unless the loops shall be found again in the assembly */
  bool lines;         /* those of the program are told */
  LLVMDIBuilderRef debug;
  LLVMMetadataRef debug_file;
  Frame f;
} Gen;

/* Where attributes of a function itself go, beside those of its result (0) and parameters (1..). */
#define ON_FUNCTION ((unsigned)-1)

/* --- types.c: types, constants, conversions ------------------------------------------------- */
LLVMTypeRef tirc_gen_type(Gen *g, DType t);        /* of a value */
LLVMTypeRef tirc_gen_memory_type(Gen *g, DType t); /* of a value in memory */
LLVMTypeRef tirc_gen_int_type(Gen *g, int bits, int lanes);
LLVMTypeRef tirc_gen_float_type(Gen *g, int bits, int lanes);
LLVMValueRef tirc_gen_int(Gen *g, LLVMTypeRef t, int64_t v); /* splat for vectors */
LLVMValueRef tirc_gen_splat(Gen *g, LLVMValueRef scalar, int lanes);
bool tirc_gen_is_small_float(DType t); /* float16 or bfloat16 */
/* float16 or bfloat16 bits to float, and back with rounding to nearest even. */
LLVMValueRef tirc_gen_widen(Gen *g, LLVMValueRef v, DType t);
LLVMValueRef tirc_gen_narrow(Gen *g, LLVMValueRef v, DType t);
LLVMValueRef tirc_gen_cast(Gen *g, LLVMValueRef v, DType from, DType to);
/* An index as i64. */
LLVMValueRef tirc_gen_index(Gen *g, LLVMValueRef v, DType t);

/* --- math.c: intrinsics and the functions programs may call --------------------------------- */
LLVMValueRef tirc_gen_math(Gen *g, Expr e);
LLVMValueRef tirc_gen_extern(Gen *g, Expr e);
LLVMValueRef tirc_gen_llvm_call(Gen *g, Expr e); /* intrinsic.c */
/* A call to an LLVM intrinsic overloaded on `t`. */
LLVMValueRef tirc_gen_intrinsic(Gen *g, const char *name, LLVMTypeRef t, int n, LLVMValueRef *args);

/* The function NAME of libm (without the f of float) on each lane of type t. */
LLVMValueRef tirc_gen_libm(Gen *g, const char *name, DType t, int n, const LLVMValueRef *args);

/* lanes.c: whether the function of this type is written out (codegen/lanes.h), and the function;
 * NULL when it is none of those. */
bool tirc_gen_has_vector_math(Op op, DType t);
LLVMValueRef tirc_gen_vector_math(Gen *g, Op op, DType t, const LLVMValueRef *args);

/* --- memory.c ------------------------------------------------------------------------------- */
LLVMValueRef tirc_gen_load(Gen *g, Expr load);
void tirc_gen_store(Gen *g, Stmt store);
/* Of elements one after the other, those for which `mask` holds; the others of a load are
 * `other`'s. */
LLVMValueRef tirc_gen_masked_load(Gen *g, LLVMValueRef mask, Expr load, LLVMValueRef other);
void tirc_gen_masked_store(Gen *g, LLVMValueRef mask, Stmt store);
LLVMValueRef tirc_gen_address(Gen *g, Expr load); /* of an element */
/* n elements from index + offset on. */
LLVMValueRef tirc_gen_load_vector(Gen *g, Buffer b, LLVMValueRef index, int64_t offset, int n);
void tirc_gen_store_vector(Gen *g, Buffer b, LLVMValueRef index, int64_t offset, LLVMValueRef v,
                           int n);
/* Runs s->u.alloc.body with the buffer's memory in place. */
void tirc_gen_alloc(Gen *g, Stmt s);

/* --- pairs.c -------------------------------------------------------------------------------- */
/* Both stores by one instruction, if they are a pair that the processor has one for. */
bool tirc_gen_pair(Gen *g, Stmt first, Stmt second);

/* --- expr.c --------------------------------------------------------------------------------- */
LLVMValueRef tirc_gen_expr(Gen *g, Expr e);
LLVMValueRef tirc_gen_index_expr(Gen *g, Expr e); /* as i64, known not to overflow */

/* --- stmt.c --------------------------------------------------------------------------------- */
void tirc_gen_stmt(Gen *g, Stmt s);
LLVMBasicBlockRef tirc_gen_block(Gen *g, const char *name); /* appended to the current function */
/* for (i = min; i < min + extent; i++) body. Both of this integer type. `metadata` may be NULL. */
void tirc_gen_loop(Gen *g, DType type, LLVMValueRef min, LLVMValueRef extent, LLVMValueRef metadata,
                   void (*body)(Gen *g, LLVMValueRef i, const void *self), const void *self);
/* Leaves the function with `status` where the i1 `failed` holds, freeing what must be freed. */
void tirc_gen_leave_if(Gen *g, LLVMValueRef failed, LLVMValueRef status);
/* Gives back what w holds; building goes on in another block where only some of it is held. */
void tirc_gen_free(Gen *g, const Workspace *w);

/* --- error_text.c --------------------------------------------------------------------------- */
/* The function NAME_error_text for the codes of one function, or of all (NULL). */
void tirc_gen_error_text(Gen *g, const char *name, const Func *only);

/* --- info.c ---------------------------------------------------------------------------------- */
/* The function NAME_info of a model. */
void tirc_gen_info(Gen *g, const ModelEntry *e);

/* --- kernel.c: on GPUs ---------------------------------------------------------------------- */
Target *tirc_gpu_target(Tirc *c, const Gpu *gpu);
void tirc_gen_kernel(Gen *g, const Func *f, const char *symbol);
/* A loop over an axis of threads. */
void tirc_gen_axis(Gen *g, const For *loop);
/* Memory of a block. */
LLVMValueRef tirc_gen_shared(Gen *g, Buffer b, int64_t bytes);
LLVMValueRef tirc_gen_barrier(Gen *g, Expr call);
LLVMValueRef tirc_gen_shuffle(Gen *g, Expr call);
LLVMValueRef tirc_gen_dot(Gen *g, Expr e); /* codegen/dot.h; NULL: it is none */
LLVMValueRef tirc_gen_active_mask(Gen *g, Expr call);

/* --- tensor_core.c -------------------------------------------------------------------------- */
/* Whether the buffer is of fragments, whose registers have a place then. */
bool tirc_gen_fragments(Gen *g, Buffer b);
void tirc_gen_tensor_core(Gen *g, Expr call);

/* --- async_copy.c --------------------------------------------------------------------------- */
/* A store that copies so many bytes; false: it is no asynchronous copy. */
bool tirc_gen_async_copy(Gen *g, Stmt store, Expr bytes);
void tirc_gen_group_of_copies(Gen *g, Expr call); /* its end, or until few are on their way */

/* --- amx.c ---------------------------------------------------------------------------------- */
void tirc_gen_amx(Gen *g, Stmt s);
LLVMValueRef tirc_gen_amx_permitted(Gen *g);

/* --- parallel.c ----------------------------------------------------------------------------- */
void tirc_gen_parallel(Gen *g, Stmt loop);
/* The variables of the current function that a loop uses, in order of first appearance. */
int tirc_gen_captures(Gen *g, Stmt loop, Expr const **out);

/* --- nest.c --------------------------------------------------------------------------------- */
bool tirc_gen_has_many_nests(Stmt body);
/* A function that does what `build` builds for the loop, and the call of it. */
void tirc_gen_nest(Gen *g, Stmt loop, void (*build)(Gen *g, Stmt loop));

/* --- runtime_calls.c ------------------------------------------------------------------------ */
LLVMValueRef tirc_gen_service(Gen *g, Service s, int n, LLVMValueRef *args);

/* --- function.c ----------------------------------------------------------------------------- */
/* Starts the function fn; *outer keeps the one being built. Ends it (its last block must have its
 * terminator) and goes back. */
void tirc_gen_begin(Gen *g, LLVMValueRef fn, Frame *outer);
void tirc_gen_end(Gen *g, const Frame *outer);
/* like: the symbol of one that was translated before, and does the same; or NULL. */
void tirc_gen_function(Gen *g, const Func *f, const char *symbol, const char *like);
/* tirc_default_runtime ? tirc_default_runtime() : NULL */
LLVMValueRef tirc_gen_default_runtime(Gen *g);
/* entry.c; symbols: one a function of the module, all of which are there. */
void tirc_gen_entry(Gen *g, const ModelEntry *e, const char *const *symbols);
void tirc_gen_attribute(Gen *g, LLVMValueRef fn, unsigned index, const char *name);

/* --- marks.c: nothing happens in any of them without Gen.marks or Gen.lines ------------------- */
void tirc_marks_begin(Gen *g, const Module *m);
void tirc_marks_end(Gen *g);
void tirc_marks_function(Gen *g);              /* g->f.fn begins */
void tirc_marks_statement(Gen *g);             /* g->loc is where it was written */
void tirc_marks_resume(Gen *g);                /* the outer function goes on */
int tirc_marks_enter(Gen *g, const For *loop); /* gives what leave takes */
void tirc_marks_leave(Gen *g, int outer);
void tirc_marks_store(Gen *g, Buffer b);

/* --- target.c ------------------------------------------------------------------------------- */
/* What LLVM needs before anything else is asked of it; more than once does nothing. */
void tirc_targets_ready(Tirc *c);
/* Throws "target". `runs_here`: the code is for this process. */
Target *tirc_target_new(Tirc *c, const char *cpu, bool runs_here);
void tirc_target_free(Target *t); /* NULL is fine */

/* --- emit.c --------------------------------------------------------------------------------- */
/* The module as bytes that the caller disposes; throws. */
LLVMMemoryBufferRef tirc_gen_compile(Tirc *c, const Module *m, const char *cpu, bool runs_here,
                                     EmitKind kind);

#endif
