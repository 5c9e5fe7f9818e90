#include "multiprocessor.h"

static const Multiprocessor rows[] = {
#define MULTIPROCESSOR(...) {__VA_ARGS__},
#include "multiprocessors.def"
#undef MULTIPROCESSOR
};

const Multiprocessor *tirc_multiprocessor(const Gpu *gpu) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].arch, gpu->name) == 0) return &rows[i];
  return NULL;
}
