/* Source for GPUs: the kernels of a module that was lowered for one. One emitter, and a row of
 * spellings for each language. The module's host functions are not in it: who runs the
 * kernels walks those (runtime/api). */
#ifndef TIRC_CODEGEN_GPU_H
#define TIRC_CODEGEN_GPU_H

#include "ir/tree/ir.h"

typedef struct Language Language;    /* a row: codegen/text/gen.h */
extern const Language tirc_opencl_c; /* OpenCL C 1.2; doubles need cl_khr_fp64 */
extern const Language tirc_cuda_c;   /* CUDA C, without its headers */

extern const Language tirc_wgsl; /* WebGPU's; numbers of 32 bits, and float16 */

/* What the kernels of a module are called in its source: [i] belongs to function i, NULL where that
 * is none. */
const char *const *tirc_gpu_symbols(Tirc *c, const Language *l, const Module *m);

/* Bytes of shared memory that one block of a kernel has, -1 when that is no number. */
int64_t tirc_gpu_shared_bytes(const Func *f);
/* Those of scope shared.dyn, which a launch in CUDA asks for. */
int64_t tirc_gpu_dynamic_bytes(const Func *f);

/* The kernels of the module, readable: with the program's names, and comments that say which block
 * a statement is of, where `scheduled`, which it was lowered from, is given. Throws "codegen". */
const char *tirc_gpu_source(Tirc *c, const Language *l, const Module *lowered,
                            const Module *scheduled);
const char *tirc_wgsl_source(Tirc *c, const Module *lowered);
/* A header in CUDA C++ with the kernels, the geometry of their launches as constants, and an inline
 * launcher NAME_launch(its parameters, stream) for each host function. */
const char *tirc_gpu_header(Tirc *c, const Module *lowered, const Module *scheduled);

#endif
