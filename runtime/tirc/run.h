/* Running: the interpreter, the emulator, kernels on threads and devices. */
#ifndef TIRC_TIRC_RUN_H
#define TIRC_TIRC_RUN_H

#include "array.h"
#include "module.h"

TIRC_C_BEGIN

typedef struct tirc_executor tirc_executor;
typedef struct tirc_kernel tirc_kernel;
typedef struct tirc_launch tirc_launch;

/* The arguments of a call: one for each parameter.
 *
 * A tensor must be in CPU memory (or pinned host memory); for a kernel on a CUDA device it may also
 * be on that device, at a multiple of 32 bytes, and is then used in place. It must have the dtype,
 * rank and shape that the function declares. Symbolic extents take their values from it, and these
 * must agree between all arguments. Its strides must be those that the buffer declares: symbolic
 * strides take the tensor's values, and a buffer without strides is compact and row-major (extents
 * of 1 may have any stride). Its first element, data + byte_offset, must be aligned to an element,
 * or to `align` if the program asks for more than the usual 64. A tensor that the function writes
 * must not overlap with another argument, unless the function has the attribute tir.noalias =
 * False. If something does not fit, the status is TIRC_BAD with the code "argument", and the
 * message names the parameter, what it is, and what it should be. The tensor's struct is read only
 * during the call that takes the arguments; its memory must stay until the kernel has run. */
typedef struct tirc_argument {
  tirc_array *array;      /* for arrays, or */
  int64_t i;              /* for integer scalars (the bits of a uint64), or */
  double f;               /* for float scalars */
  const DLTensor *tensor; /* for arrays: written in place, like array */
} tirc_argument;

/* A variable in the shapes of a function's arrays that is not a parameter. */
typedef struct tirc_symbol {
  const char *name;
  int64_t value; /* if it is known */
  bool is_known;
  const char *in_file; /* as in tirc_param; may be left out when you make one */
} tirc_symbol;
/* A function's symbols, with no values yet; they live as long as the module. TIRC_BAD: the module
 * has no such function. */
TIRC_API tirc_status tirc_module_symbols(const tirc_module *m, const char *func, int *n,
                                         const tirc_symbol **symbols, tirc_error **error);
/* The shape that array parameter number `param` must have (-1: none is asked for): `shape` gets its
 * extents. It follows from the scalars among args, the arrays among args (any of them may be
 * missing), and the symbols with known values. Symbols that follow from arrays become known; names
 * that the function does not have are ignored. TIRC_BAD with the code "argument": n is not the
 * number of parameters, `param` is not an array, an argument does not fit, or an extent does not
 * follow from what is known. */
TIRC_API tirc_status tirc_module_shape(const tirc_module *m, const char *func, int n,
                                       const tirc_argument *args, int n_symbols,
                                       tirc_symbol *symbols, int param, int64_t *shape,
                                       tirc_error **error);

/* An array for that parameter, with the shape that tirc_module_shape finds. If its buffer has
 * strides or an offset that leave gaps, the array is flat and as long as they reach. `from` NULL:
 * zeros. `from` with the parameter's shape: its elements, in the parameter's places, and zeros
 * between them. Any other array: a copy of it. */
TIRC_API tirc_status tirc_module_array(const tirc_module *m, const char *func, int n,
                                       const tirc_argument *args, int n_symbols,
                                       tirc_symbol *symbols, int param, const tirc_array *from,
                                       tirc_array **out, tirc_error **error);

/* tirc_module_cost for a call, with the symbolic extents that these arguments give. TIRC_BAD with
 * the code "argument" if they do not fit the function. */
TIRC_API tirc_status tirc_module_call_cost(const tirc_module *m, const char *func, int n,
                                           const tirc_argument *args, tirc_cost *out,
                                           tirc_error **error);
/* The same for integers: the number of operations on loaded data, without those of indices, and the
 * bits of the narrowest type (0 if there are none). */
TIRC_API tirc_status tirc_module_call_integers(const tirc_module *m, const char *func, int n,
                                               const tirc_argument *args, double *operations,
                                               int *bits, tirc_error **error);

/* The reference interpreter: slow, sequential, with every access checked. max_steps 0: no limit. */
TIRC_API tirc_status tirc_module_interpret(const tirc_module *m, const char *func, int n,
                                           const tirc_argument *args, int64_t max_steps,
                                           tirc_error **error);

/* Runs a function of a module that was lowered for a GPU, with the kernels that it launches. Blocks
 * run in a random order, and the threads of a block according to the model of a GPU. TIRC_BAD with
 * the code "race": two threads access an element, one writes, and there is no barrier between them;
 * "barrier" or "shuffle": threads that should reach it together do not; "uninitialised",
 * "out-of-bounds" and the other errors of the interpreter. Each message has the statements, the
 * threads and the element. */
typedef struct tirc_emulate_options {
  int64_t max_steps;         /* 0: no limit */
  int64_t blocks;            /* how many blocks of each launch run; 0: all */
  uint64_t seed;             /* of the random orders */
  bool (*go_on)(void *self); /* asked many times a second, or NULL */
  void *self;
  /* For each argument a byte array, or NULL; the array has one byte for each element, which is set
   * to 1 when a kernel writes that element. NULL for arguments that are not arrays. May be NULL as
   * a whole. */
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
/* What kernels request from a GPU's memory while they are emulated. This is a model, without caches
 * and without time. Rows are counted over all launches of the blocks that ran. */
typedef struct tirc_costs tirc_costs;
typedef struct tirc_kernel_costs {
  const char *name;
  int64_t launches, blocks, blocks_run, threads; /* threads: of a block */
  int64_t shared;                                /* bytes of a block */
  int64_t asked, needed; /* bytes of global memory: of all sectors that warps asked for; each
                          * element that is read once, and each that is written */
  int own, registers; /* of a thread: 32-bit words of its arrays; with everything else, estimated */
  /* What runs at the same time on a multiprocessor of the module's target, by this estimate, and
   * what limits it. most_warps 0 and bound NULL: nothing is known about the target's
   * multiprocessors. */
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
  int64_t warps, parted; /* parted: warps whose threads take both branches */
} tirc_branch_costs;
/* tirc_module_emulate, which also returns these counts; they belong to the caller. Strings live as
 * long as the counts. */
TIRC_API tirc_status tirc_module_emulate_costs(const tirc_module *m, const char *func, int n,
                                               const tirc_argument *args,
                                               const tirc_emulate_options *options,
                                               tirc_emulate_report *report, tirc_costs **out,
                                               tirc_error **error);
/* Row i; false after the last one. */
TIRC_API bool tirc_costs_kernel(const tirc_costs *costs, int i, tirc_kernel_costs *out);
TIRC_API bool tirc_costs_access(const tirc_costs *costs, int i, tirc_access_costs *out);
TIRC_API bool tirc_costs_branch(const tirc_costs *costs, int i, tirc_branch_costs *out);
TIRC_API void tirc_costs_free(tirc_costs *costs);

/* Whether the module has kernels of a GPU. */
TIRC_API bool tirc_module_has_kernels(const tirc_module *m);

/* Threads and workspace for kernels; at most 4096 threads. threads 0: as many as TIRC_NUM_THREADS
 * in the environment says, which must be such a number; if it is not set, one for each core. */
TIRC_API tirc_status tirc_executor_new(int threads, tirc_executor **out, tirc_error **error);
TIRC_API void tirc_executor_free(tirc_executor *x);
TIRC_API int tirc_executor_threads(const tirc_executor *x);

/* A function compiled into this process. target: as for tirc_module_emit. */
TIRC_API tirc_status tirc_kernel_new(const tirc_module *m, const char *func, const char *target,
                                     tirc_kernel **out, tirc_error **error);
/* The same for a device: "cpu" (or NULL), "opencl", or "opencl:1" for the second OpenCL device;
 * "cuda" likewise. A launch copies its arrays to the device and back for each run; tirc_launch_time
 * times only the kernels. Codes: "device": there is none; "memory": it has too little; "limit": a
 * kernel needs more threads or shared memory than it has. */
TIRC_API tirc_status tirc_kernel_new_on(const tirc_module *m, const char *func, const char *device,
                                        const char *target, tirc_kernel **out, tirc_error **error);
/* The devices beside the processor, of one kind, "opencl" or "cuda", or (NULL) of all kinds, in the
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
/* For a module that tirc_module_split_packing made from one function: packs what that function, the
 * last one, takes packed. For each argument i that is packed, packed[i] gets a new array; there are
 * n entries, which must be zero before. The caller frees the arrays, even if the call fails. */
TIRC_API tirc_status tirc_module_pack(const tirc_module *m, const char *target, tirc_executor *x,
                                      int n, const tirc_argument *args, tirc_argument *packed,
                                      tirc_error **error);
/* The same in two steps, for a call that is made many times: the arguments are checked only once.
 * The arrays, the kernel and the executor must stay. */
TIRC_API tirc_status tirc_launch_new(const tirc_kernel *k, tirc_executor *x, int n,
                                     const tirc_argument *args, tirc_launch **out,
                                     tirc_error **error);
TIRC_API int tirc_launch_run(tirc_launch *launch); /* 0, or 1 if there is no memory for workspace */
/* Keeps the arrays on the device between runs (this has no effect for the processor), as is usual
 * for measurements. While they stay, the caller's arrays are not up to date. Returns 0, or the
 * status of tirc_launch_run if the device fails. */
TIRC_API int tirc_launch_stay(tirc_launch *launch, bool stays);
/* From now on, a run on a device reports each kernel before it starts, and waits for its end before
 * it starts the next, so you know which kernel does not end. starts NULL: stops reporting. */
TIRC_API void tirc_launch_tell(tirc_launch *launch, void (*starts)(void *self, const char *kernel),
                               void *self);
/* How long the kernels of its last run took by the clock of their device, in seconds, without the
 * time to start them. -1: none ran yet, or there is no such clock, as for the processor. */
TIRC_API double tirc_launch_seconds(const tirc_launch *launch);
TIRC_API void tirc_launch_free(tirc_launch *launch);
/* Measures: after one run to warm up, seconds[0] to seconds[repeat - 1] become the mean time of a
 * run in seconds, each over `number` runs in a row, or over as many more as fill min_seconds. Uses
 * tirc_launch_seconds where it is known. */
TIRC_API tirc_status tirc_launch_time(tirc_launch *launch, int number, int repeat,
                                      double min_seconds, double *seconds, tirc_error **error);

/* The ceiling for float32 kernels, to be timed beside them: performs so many operations (rounded up
 * to some hundred; an FMA counts as two for each lane) in registers only, divided among the
 * executor's threads. vector_bits: that of the kernels' target; 512 if the processor has such
 * vectors, otherwise 256. Returns the bits used; 0, without doing anything, if the processor lacks
 * AVX2 or FMA, or if `operations` is not a finite number. */
TIRC_API int tirc_executor_fma(tirc_executor *x, int vector_bits, double operations);
/* The same for kernels with integers of so many bits (8, 16, 32 or 64): additions; for 32 bits,
 * products of 16-bit numbers, added in pairs and to a sum, four operations for a lane. 512 needs
 * AVX-512BW, 256 needs AVX2. */
TIRC_API int tirc_executor_integers(tirc_executor *x, int vector_bits, int bits, double operations);
/* The ceiling for kernels that are limited by memory: reads `read` bytes at `from` and writes ones
 * (float32) to `written` bytes at `to`, in small alternating parts. Both are accessed in lines of
 * 64 bytes: from and to are aligned to 64, and their sizes are rounded up. past_caches: uses stores
 * that keep nothing in a cache, and loads from four places at a time, which is faster if the data
 * fits no cache. Returns 0, without doing anything, for NULL or negative sizes, too. */
TIRC_API int tirc_executor_move(tirc_executor *x, int vector_bits, const void *from, int64_t read,
                                void *to, int64_t written, bool past_caches);

/* Seconds of a clock that never goes back. The best float32 rate of AVX2 and FMA during about a
 * tenth of a second, in operations per second (0 if there is none). The processor's name. */
TIRC_API double tirc_seconds(void);
TIRC_API double tirc_machine_peak(int threads);
TIRC_API void tirc_machine_name(char *out, size_t size);
/* The name under which results of this machine are stored: its processor and the number of cores,
 * "amd-epyc-7543-processor-2-cores". */
TIRC_API void tirc_machine_profile(char *out, size_t size);

TIRC_C_END
#endif
