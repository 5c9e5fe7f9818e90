/* The GPUs that kernels can be made for, with the limits of a block of threads. --target takes the
 * names of the rows of gpus.def and the tags of cards. */
#ifndef TIRC_IR_GPU_H
#define TIRC_IR_GPU_H

#include "context.h"

typedef enum GpuKind { GPU_CUDA, GPU_OPENCL, GPU_WEBGPU } GpuKind;
extern const char *const tirc_gpu_kinds[]; /* "cuda", "opencl", "webgpu" */

/* What tensor cores multiply. */
typedef enum TensorCores {
  TENSOR_F16 = 1, /* float16, summed in float16 or float32 */
  TENSOR_S8 = 2,  /* int8, summed in int32 */
  DOT_S8 = 4,     /* not of a warp: a thread adds four products of bytes to an int32 */
  ASYNC_COPIES =
      8, /* from global to shared memory, without registers and without waiting: cp.async */
  MMA_16816 = 16, /* mma.sync of rows of 16 bytes and more: float16, bfloat16, tf32, int8 */
  SM_80 = ASYNC_COPIES | MMA_16816
} TensorCores;

/* What runs blocks of threads at the same time; all 0: nothing is known of it. */
typedef struct Multiprocessors {
  int n; /* of a usual card; of one of them: */
  int threads, blocks;
  int64_t shared;    /* bytes, of all its blocks */
  int64_t registers; /* 32 bits each */
  int64_t shared_of_system;
} Multiprocessors;

typedef struct Gpu {
  const char *name; /* "sm_80", "opencl" */
  GpuKind kind;
  const char *arch;
  int threads, warp;  /* of a block; of a warp, 1: unknown */
  int64_t shared;     /* bytes of a block in scope "shared" */
  int64_t shared_dyn; /* and with "shared.dyn" */
  int64_t registers;  /* 32 bits each, of a block; 0: unknown */
  bool shuffles;
  Multiprocessors side;
  unsigned tensor_cores; /* of TensorCores */
} Gpu;

/* What a loop is bound to: from 0 on the axes of a GPU, blockIdx.x, .y, .z, then threadIdx.x, .y,
 * .z. */
enum { GPU_AXES = 6, GPU_BLOCK_AXES = 3 };
typedef enum ThreadAxis {
  AXIS_THREAD_X = GPU_BLOCK_AXES,
  AXIS_VIRTUAL = GPU_AXES, /* vthread, vthread.x ...: each thread runs all of them */
  AXIS_COPROCESSOR,        /* cthread */
  AXIS_PE_X,               /* pe.x, .y, .z of an array of processing elements */
  AXIS_PE_Y,
  AXIS_PE_Z,
  AXIS_UNKNOWN,
  AXIS_NONE /* it is bound to nothing */
} ThreadAxis;
extern const char *const tirc_gpu_axes[GPU_AXES];
ThreadAxis tirc_gpu_axis(const char *thread); /* or NULL */
static inline bool tirc_is_block_axis(ThreadAxis a) { return (int)a < GPU_BLOCK_AXES; }
static inline bool tirc_is_thread_axis(ThreadAxis a) {
  return (int)a >= GPU_BLOCK_AXES && (int)a < GPU_AXES;
}
enum { PE_AXES = 3 };
/* Which axis of an array of processing elements it is, from 0; -1: none. */
static inline int tirc_pe_axis(ThreadAxis a) {
  return a >= AXIS_PE_X && a <= AXIS_PE_Z ? (int)a - (int)AXIS_PE_X : -1;
}
/* How many blocks or threads a launch may have along one; INT64_MAX: as many as it likes. */
int64_t tirc_gpu_most_along(GpuKind kind, int axis);

/* Arrays begin at multiples of so many bytes: tensor cores ask for it. */
enum { GPU_ALIGNMENT = 32 };
/* Where an array of so many bytes ends, behind others that end at `at`; INT64_MAX: too far. */
int64_t tirc_gpu_end_behind(int64_t at, int64_t bytes);

/* What code is made for when nobody says: the least one of those that can run the source. */
#define CUDA_DEFAULT "sm_75"
static inline const char *tirc_gpu_default_target(GpuKind kind) {
  return kind == GPU_CUDA ? CUDA_DEFAULT : tirc_gpu_kinds[kind];
}
/* By name or by a card's tag; NULL when there is none. */
const Gpu *tirc_gpu_find(const char *name);
const Gpu *tirc_gpu_number(int i); /* NULL behind the end of the table */
/* The tag of a known card and its row; false behind the end. */
bool tirc_gpu_card(int i, const char **tag, const char **row);
/* Whether a name that is in no table is meant for a GPU: of the form sm_NN, opencl... or
 * maker/card. */
bool tirc_gpu_is_meant(const char *name);
/* Throws "target", with the nearest name. */
_Noreturn void tirc_gpu_unknown(Tirc *c, const char *name);

#endif
