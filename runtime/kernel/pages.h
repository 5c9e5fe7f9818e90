/* Memory for tensors and workspaces. A block of a quarter of a megabyte or more lies on huge pages
 * where the system has them (it is asked by madvise): a kernel that walks rows of several KB
 * otherwise spends its time on TLB misses. */
#ifndef TIRC_RUNTIME_PAGES_H
#define TIRC_RUNTIME_PAGES_H

#include <stddef.h>

/* What a block of so many bytes is rounded up to; 0 when that does not fit size_t. */
size_t tirc_pages_size(size_t bytes);
/* `size` is one that tirc_pages_size gave; NULL when memory is out. For tirc_pages_free, which is
 * free() but on Windows. */
void *tirc_pages_new(size_t size);
void tirc_pages_free(void *p); /* or NULL */
/* The same at a multiple of `align`, a power of two. */
void *tirc_pages_new_at(size_t size, size_t align);

#endif
