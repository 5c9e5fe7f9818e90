/* The runtime that kernels are given (runtime_abi.h): a pool for parallel loops and a store of
 * workspace blocks, so that a kernel called again finds its memory mapped and warm. */
#ifndef TIRC_RUNTIME_WORKSPACE_H
#define TIRC_RUNTIME_WORKSPACE_H

#include "runtime_abi.h"

typedef struct KernelRuntime KernelRuntime;
KernelRuntime *tirc_kernel_runtime_new(int threads); /* NULL when memory or threads are out */
void tirc_kernel_runtime_free(KernelRuntime *r);
const tirc_runtime *tirc_kernel_runtime_abi(const KernelRuntime *r);

#endif
