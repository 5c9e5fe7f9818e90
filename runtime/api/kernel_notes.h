/* What kernels for a GPU leave out, or do otherwise than the program asks for: a warning each. */
#ifndef TIRC_RUNTIME_KERNEL_NOTES_H
#define TIRC_RUNTIME_KERNEL_NOTES_H

#include "ir/gpu.h"
#include "passes/schedule/schedule.h"

/* Of functions as they are before InjectSoftwarePipeline: loops that stay as they are, or whose
 * copies are plain ones since the target has no others. */
void tirc_pipeline_notes(Tirc *c, const Module *m, void (*tell)(void *self, Warning w), void *self);
/* Of a lowered module: copies that were to be asynchronous, and are plain ones. */
void tirc_copy_notes(Tirc *c, const Module *lowered, void (*tell)(void *self, Warning w),
                     void *self);
/* Of a lowered module, symbols as of tirc_gpu_symbols: what its host functions compute themselves,
 * which is in no kernel. */
void tirc_host_notes(Tirc *c, const Module *lowered, const char *const *symbols,
                     void (*tell)(void *self, Warning w), void *self);

#endif
