/* ONNX Runtime, where the machine has its library (tools/setup --onnxruntime gets it). */
#ifndef TIRC_TOOLS_BENCH_ONNXRUNTIME_H
#define TIRC_TOOLS_BENCH_ONNXRUNTIME_H

#include "runtime/tirc.h"

typedef struct OnnxRuntime OnnxRuntime;

bool onnxruntime_exists(void);
/* The file at `path` on so many threads, all its optimizations on. NULL: out of memory; otherwise
 * onnxruntime_problem says whether it can be used. To be closed. */
OnnxRuntime *onnxruntime_open(const char *path, int threads);
void onnxruntime_close(OnnxRuntime *r);
/* What went wrong in the last call, or NULL. */
const char *onnxruntime_problem(const OnnxRuntime *r);
const char *onnxruntime_version(const OnnxRuntime *r);
int onnxruntime_inputs(const OnnxRuntime *r);
const char *onnxruntime_input(const OnnxRuntime *r, int i); /* its name */
/* An array for that input, with so many elements, to be freed; NULL: none of its shapes has them.
 */
tirc_array *onnxruntime_new_input(OnnxRuntime *r, int i, int64_t count);
/* The model's inputs in the file's order, which stay the caller's and are read in each run. */
bool onnxruntime_bind(OnnxRuntime *r, int n, tirc_array *const *inputs);
bool onnxruntime_run(OnnxRuntime *r);
int onnxruntime_outputs(const OnnxRuntime *r);
/* A copy of what the last run gave, to be freed; or NULL. */
tirc_array *onnxruntime_output(OnnxRuntime *r, int i);

#endif
