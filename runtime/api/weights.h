/* What arrays of weights are views of. */
#ifndef TIRC_RUNTIME_API_WEIGHTS_H
#define TIRC_RUNTIME_API_WEIGHTS_H

#include "api.h"

#include "runtime/arrays/safetensors.h"

struct tirc_weights {
  Tirc *c; /* holds this struct */
  Safetensors *file;
};

/* Throws "name", with what there is instead. */
const Tensor *tirc_weights_find(Tirc *c, const tirc_weights *w, const char *name);

#endif
