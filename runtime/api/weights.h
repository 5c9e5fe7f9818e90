/* What arrays of weights are views of. */
#ifndef TIRC_RUNTIME_API_WEIGHTS_H
#define TIRC_RUNTIME_API_WEIGHTS_H

#include "api.h"

#include "runtime/arrays/safetensors.h"

struct tirc_weights {
  Tirc *c; /* holds this struct */
  Safetensors *file;
};

#endif
