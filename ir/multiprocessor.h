/* What runs blocks of threads side by side (multiprocessors.def). */
#ifndef TIRC_IR_MULTIPROCESSOR_H
#define TIRC_IR_MULTIPROCESSOR_H

#include "gpu.h"

typedef struct Multiprocessor {
  const char *arch;
  int threads, blocks;
  int64_t shared;    /* bytes, of all its blocks */
  int64_t registers; /* 32 bits each */
  int64_t shared_of_system;
} Multiprocessor;
const Multiprocessor *tirc_multiprocessor(const Gpu *gpu); /* NULL: nothing is known of it */

#endif
