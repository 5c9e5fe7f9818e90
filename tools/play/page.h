/* What the C library of a page lacks and the tree uses; it is included before each file. */
#ifndef TIRC_TOOLS_PLAY_PAGE_H
#define TIRC_TOOLS_PLAY_PAGE_H

#include <stddef.h>

void qsort_r(void *at, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
             void *self);

#endif
