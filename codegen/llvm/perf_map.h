/* /tmp/perf-PID.map: where `perf` looks for the names of code that no file has. */
#ifndef TIRC_CODEGEN_PERF_MAP_H
#define TIRC_CODEGEN_PERF_MAP_H

#include "image.h"

/* Adds the functions of the image, if $TIRC_PERF_MAP asks for it, other than empty or 0. */
void tirc_perf_map_add(const Image *image, const char *object, size_t n);

#endif
