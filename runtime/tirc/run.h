/* Running: the interpreter, the emulator, kernels on threads and devices. */
#ifndef TIRC_TIRC_RUN_H
#define TIRC_TIRC_RUN_H

#include "array.h"
#include "module.h"

TIRC_C_BEGIN

typedef struct tirc_executor tirc_executor;
typedef struct tirc_kernel tirc_kernel;
typedef struct tirc_launch tirc_launch;

/* One argument a parameter.
 *
 * A tensor must be the CPU's (or pinned host memory), or, for a kernel of a device of CUDA, on that
 * device, at a multiple of 32 bytes, where it is taken as it lies; and have the dtype, the rank and
 * the shape that the function declares; symbolic extents take their values from it, and must agree
 * between all arguments. Its strides must be those that the buffer declares: symbolic ones take the
 * tensor's, and a buffer without strides is compact and row-major (extents of 1 may have any
 * stride). Its first element, data + byte_offset, must be aligned to an element, or to `align` if
 * the program asks for more than the usual 64. A tensor that the function writes may not overlap
 * with another argument, unless the function has the attribute tir.noalias = False. What does not
 * fit gives TIRC_BAD with the code "argument" and a message that names the parameter, what it is,
 * and what it should be. The tensor's struct is read during the call that takes the arguments;
 * its memory must stay until the kernel has run. */
typedef struct tirc_argument {
  tirc_array *array;      /* for arrays, or */
  int64_t i;              /* for integer scalars (the bits of a uint64), or */
  double f;               /* for float scalars */
  const DLTensor *tensor; /* for arrays: written in place, like array */
} tirc_argument;

/* A variable that stands in the shapes of a function's arrays and is no parameter. */
typedef struct tirc_symbol {
  const char *name;
  int64_t value; /* if it is known */
  bool is_known;
  const char *in_file; /* as tirc_param has it; whoever makes one may leave it out */
} tirc_symbol;
/* A function's symbols, none of them known; they live as long as the module. TIRC_BAD: the module
 * has no such function. */
TIRC_API tirc_status tirc_module_symbols(const tirc_module *m, const char *func, int *n,
                                         const tirc_symbol **symbols, tirc_error **error);
/* The shape that array parameter number `param` (-1: none is asked for) must have: it gets `ndim`
 * extents. What is known are the scalars among args, the arrays that are there already (any of
 * them may be missing), and the symbols that are; symbols that follow from arrays become known, and
 * names that the function does not have are passed over. TIRC_BAD with the code "argument": n is
 * not the number of its parameters, `param` is no array, an argument does not fit, or an extent
 * does not follow from what is known. */
TIRC_API tirc_status tirc_module_shape(const tirc_module *m, const char *func, int n,
                                       const tirc_argument *args, int n_symbols,
                                       tirc_symbol *symbols, int param, int64_t *shape,
                                       tirc_error **error);

/* An array for that parameter, of the shape that tirc_module_shape finds; where its buffer has
 * strides or an offset that leave gaps, flat and as long as they reach. `from` NULL: zeroed. An
 * array of the parameter's shape: its elements, where the parameter has them, and zeros between
 * them. Any other array: a copy. */
TIRC_API tirc_status tirc_module_array(const tirc_module *m, const char *func, int n,
                                       const tirc_argument *args, int n_symbols,
                                       tirc_symbol *symbols, int param, const tirc_array *from,
                                       tirc_array **out, tirc_error **error);

/* tirc_module_cost of a call: with the symbolic extents that these arguments give. TIRC_BAD with
 * the code "argument" if they do not fit the function. */
TIRC_API tirc_status tirc_module_call_cost(const tirc_module *m, const char *func, int n,
                                           const tirc_argument *args, tirc_cost *out,
                                           tirc_error **error);
/* The same of integers: operations on what is loaded, those of indices left out, and the bits of
 * the narrowest (0 where there are none). */
TIRC_API tirc_status tirc_module_call_integers(const tirc_module *m, const char *func, int n,
                                               const tirc_argument *args, double *operations,
                                               int *bits, tirc_error **error);

/* The reference interpreter: slow, sequential, every access checked. max_steps 0: no limit. */
TIRC_API tirc_status tirc_module_interpret(const tirc_module *m, const char *func, int n,
                                           const tirc_argument *args, int64_t max_steps,
                                           tirc_error **error);

/* The function of a module that was lowered for a GPU, with the kernels that it launches: blocks in
 * an order that is drawn, the threads of a block as the model of a GPU has them. TIRC_BAD with the
 * code "race": two threads touch an element, one writes, and no barrier is between them; "barrier"
 * or "shuffle": threads that should reach it together do not; "uninitialised", "out-of-bounds" and
 * what else the interpreter finds: each with the statements, the threads and the element. */
typedef struct tirc_emulate_options {
  int64_t max_steps;         /* 0: no limit */
  int64_t blocks;            /* run only so many blocks of each launch; 0: all */
  uint64_t seed;             /* of what is drawn */
  bool (*go_on)(void *self); /* asked many times a second, or NULL */
  void *self;
  /* One an argument, or NULL: a byte an element, which is set to 1 where a kernel writes it. NULL
   * for arguments that are no arrays. */
  uint8_t *const *written;
} tirc_emulate_options;
typedef struct tirc_emulate_report { /* over all launches */
  int64_t launches, blocks, blocks_run, barriers;
} tirc_emulate_report;
/* options and report may be NULL. */
TIRC_API tirc_status tirc_module_emulate(const tirc_module *m, const char *func, int n,
                                         const tirc_argument *args,
                                         const tirc_emulate_options *options,
                                         tirc_emulate_report *report, tirc_error **error);
/* What kernels ask of a GPU's memory while they are emulated: a model, without caches and without
 * time. Rows are counted over all launches of the blocks that ran. */
typedef struct tirc_costs tirc_costs;
typedef struct tirc_kernel_costs {
  const char *name;
  int64_t launches, blocks, blocks_run, threads; /* threads: of a block */
  int64_t shared;                                /* bytes of a block */
  int64_t asked, needed; /* bytes of global memory: of all sectors that warps asked for; each
                          * element that is read once, and each that is written */
  int own, registers;    /* of a thread: 32-bit words of its arrays; with all else, estimated */
  /* Side by side on a multiprocessor of the module's target, by this estimate, and what binds it;
   * most_warps 0 and bound NULL: the target's multiprocessors are not known. */
  int blocks_at_once, warps_at_once, most_warps;
  const char *bound;
} tirc_kernel_costs;
typedef struct tirc_access_costs {
  const char *kernel, *statement, *buffer;
  int line; /* of the program; 0: none */
  bool shared, stores;
  int64_t warps;        /* accesses of a warp */
  int64_t asked, ideal; /* sectors of 32 bytes; of shared memory, turns of its banks */
} tirc_access_costs;
typedef struct tirc_branch_costs {
  const char *kernel, *statement;
  int line;
  int64_t warps, parted; /* parted: warps whose threads go both ways */
} tirc_branch_costs;
/* tirc_module_emulate, and what it asked for, which is the caller's. Strings live as long as it. */
TIRC_API tirc_status tirc_module_emulate_costs(const tirc_module *m, const char *func, int n,
                                               const tirc_argument *args,
                                               const tirc_emulate_options *options,
                                               tirc_emulate_report *report, tirc_costs **out,
                                               tirc_error **error);
/* Row i; false behind the last. */
TIRC_API bool tirc_costs_kernel(const tirc_costs *costs, int i, tirc_kernel_costs *out);
TIRC_API bool tirc_costs_access(const tirc_costs *costs, int i, tirc_access_costs *out);
TIRC_API bool tirc_costs_branch(const tirc_costs *costs, int i, tirc_branch_costs *out);
TIRC_API void tirc_costs_free(tirc_costs *costs);

/* Whether the module has kernels of a GPU. */
TIRC_API bool tirc_module_has_kernels(const tirc_module *m);

/* Threads and workspace for kernels: up to 4096. threads 0: as many as the environment's
 * TIRC_NUM_THREADS says, which then must be such a number; one a core where it is not set. */
TIRC_API tirc_status tirc_executor_new(int threads, tirc_executor **out, tirc_error **error);
TIRC_API void tirc_executor_free(tirc_executor *x);
TIRC_API int tirc_executor_threads(const tirc_executor *x);

/* A function compiled into this process. target as for tirc_module_emit. */
TIRC_API tirc_status tirc_kernel_new(const tirc_module *m, const char *func, const char *target,
                                     tirc_kernel **out, tirc_error **error);
/* The same for a device: "cpu" (or NULL), "opencl", or "opencl:1" for the second device that OpenCL
 * has, "cuda" likewise. A launch brings its arrays there and back for each run; tirc_launch_time
 * times the kernels alone. Codes: "device" there is none, "memory" it has too little, "limit" a
 * kernel wants more threads or shared memory than it has. */
TIRC_API tirc_status tirc_kernel_new_on(const tirc_module *m, const char *func, const char *device,
                                        const char *target, tirc_kernel **out, tirc_error **error);
/* The devices beside the processor, of one kind, "opencl" or "cuda", or (NULL) of all, each in the
 * order of their numbers. hear's strings live as long as the call. TIRC_BAD with the code "device":
 * there is none, and the hint says what to install. */
typedef struct tirc_device_info {
  const char *device; /* "opencl:0" */
  const char *name, *platform, *version;
  int64_t memory;  /* bytes, */
  int64_t shared;  /* and what a block of threads shares */
  int64_t threads; /* of a block */
  int cores;
} tirc_device_info;
TIRC_API tirc_status tirc_devices_of(const char *kind,
                                     void (*hear)(void *self, const tirc_device_info *info),
                                     void *self, tirc_error **error);
TIRC_API void tirc_kernel_free(tirc_kernel *k);
/* Checks the arguments and runs. */
TIRC_API tirc_status tirc_kernel_run(const tirc_kernel *k, tirc_executor *x, int n,
                                     const tirc_argument *args, tirc_error **error);
/* Of a module that tirc_module_split_packing made of one function: packs what that one, the last,
 * takes packed. packed[i], of n that are zero, gets a new array for each argument i that is; the
 * caller frees it, also when an error comes back. */
TIRC_API tirc_status tirc_module_pack(const tirc_module *m, const char *target, tirc_executor *x,
                                      int n, const tirc_argument *args, tirc_argument *packed,
                                      tirc_error **error);
/* The same in two steps, for a call that is made many times: the arguments are checked once. The
 * arrays, the kernel and the executor must stay. */
TIRC_API tirc_status tirc_launch_new(const tirc_kernel *k, tirc_executor *x, int n,
                                     const tirc_argument *args, tirc_launch **out,
                                     tirc_error **error);
TIRC_API int tirc_launch_run(tirc_launch *launch); /* 0, or 1 when memory for workspace is out */
/* Between runs the arrays stay on the device (nothing changes for the processor), as a measurement
 * wants it; until it is told that they do not, the caller's arrays are not up to date. 0, or what
 * tirc_launch_run gives for a device that fails. */
TIRC_API int tirc_launch_stay(tirc_launch *launch, bool stays);
/* From now on a run on a device tells of each kernel before it begins, and waits for its end before
 * the next one: so it is known which one does not end. starts NULL: no more. */
TIRC_API void tirc_launch_tell(tirc_launch *launch, void (*starts)(void *self, const char *kernel),
                               void *self);
/* What the kernels of its last run took by the clock of their device, in seconds, without what
 * begins them; -1: none ran yet, or it has no clock, as the processor has none of its own. */
TIRC_API double tirc_launch_seconds(const tirc_launch *launch);
TIRC_API void tirc_launch_free(tirc_launch *launch);
/* Measures: after one run to warm up, seconds[0] to seconds[repeat - 1] become the mean time of a
 * run in seconds, each over `number` runs in a row, or over as many more as fill min_seconds. By
 * tirc_launch_seconds where that is known. */
TIRC_API tirc_status tirc_launch_time(tirc_launch *launch, int number, int repeat,
                                      double min_seconds, double *seconds, tirc_error **error);

/* The ceiling for float32 kernels, to be timed beside them: so many operations (rounded up to some
 * hundred), two an FMA and lane, in registers and nothing else, in pieces on the executor's
 * threads. vector_bits: of the kernels' target; 512 where the processor has them, otherwise 256.
 * Returns those used; 0, and nothing was done, when it has no AVX2 and FMA, or when `operations` is
 * no finite number. */
TIRC_API int tirc_executor_fma(tirc_executor *x, int vector_bits, double operations);
/* The same for kernels of integers of so many bits (8, 16, 32 or 64): additions, and for 32 bits
 * products of 16 bits, added in pairs and to a sum, four operations for a lane. 512 needs
 * AVX-512BW, 256 AVX2. */
TIRC_API int tirc_executor_integers(tirc_executor *x, int vector_bits, int bits, double operations);
/* The ceiling for kernels that memory binds, in the same way: reads `read` bytes at `from` and
 * writes ones (float32) to `written` bytes at `to`, a little of the one and a little of the other
 * in turns. Both go in lines of 64 bytes: from and to are aligned to 64, and hold as many bytes
 * rounded up. past_caches: by stores that keep nothing in a cache and loads from four places at a
 * time, which is faster where no cache could. 0, and nothing was done, also for NULL or negative
 * sizes. */
TIRC_API int tirc_executor_move(tirc_executor *x, int vector_bits, const void *from, int64_t read,
                                void *to, int64_t written, bool past_caches);

/* Seconds of a clock that never goes back; the best float32 rate of AVX2 and FMA in some tenth of a
 * second, in operations a second (0 where there is none); the processor's name. */
TIRC_API double tirc_seconds(void);
TIRC_API double tirc_machine_peak(int threads);
TIRC_API void tirc_machine_name(char *out, size_t size);
/* What results of this machine are kept under: its processor and how many cores,
 * "amd-epyc-7543-processor-2-cores". */
TIRC_API void tirc_machine_profile(char *out, size_t size);

TIRC_C_END
#endif
