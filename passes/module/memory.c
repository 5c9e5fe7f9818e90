/* The static memory plan: large tensors first, each at the lowest offset that no tensor alive at
 * the same time takes. */
#include "plan.h"

#include <stdlib.h>

enum { ALIGNMENT = 64 };

static bool alive_together(const MemoryUse *a, const MemoryUse *b) {
  return a->first <= b->last && b->first <= a->last;
}

static int64_t padded(int64_t bytes) {
  return bytes > INT64_MAX - ALIGNMENT ? -1 : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Falling by size, then rising by number, so that a plan is always the same. */
static int by_size(const void *x, const void *y) {
  const MemoryUse *a = *(MemoryUse *const *)x, *b = *(MemoryUse *const *)y;
  if (a->bytes != b->bytes) return a->bytes < b->bytes ? 1 : -1;
  return (a > b) - (a < b);
}

static int by_offset(const void *x, const void *y) {
  const MemoryUse *a = *(MemoryUse *const *)x, *b = *(MemoryUse *const *)y;
  return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The lowest gap of n placed neighbours, sorted by offset, that has room. */
static int64_t lowest_gap(int n, MemoryUse *const *placed, int64_t bytes) {
  int64_t at = 0;
  for (int i = 0; i < n; i++) {
    if (placed[i]->offset - at >= bytes) return at;
    const int64_t end = placed[i]->offset + padded(placed[i]->bytes);
    if (end > at) at = end;
  }
  return at;
}

int64_t tirc_plan_memory(Tirc *c, int n, MemoryUse *uses) {
  MemoryUse **order = tirc_new_array(c, MemoryUse *, n);
  MemoryUse **neighbours = tirc_new_array(c, MemoryUse *, n);
  int64_t total = 0;
  for (int i = 0; i < n; i++) order[i] = &uses[i];
  if (n) qsort(order, (size_t)n, sizeof *order, by_size);
  for (int i = 0; i < n; i++) {
    const int64_t bytes = padded(order[i]->bytes);
    int count = 0;
    if (bytes < 0 || total > INT64_MAX - bytes) return -1;
    for (int k = 0; k < i; k++)
      if (alive_together(order[i], order[k])) neighbours[count++] = order[k];
    if (count) qsort(neighbours, (size_t)count, sizeof *neighbours, by_offset);
    order[i]->offset = lowest_gap(count, neighbours, bytes);
    if (order[i]->offset + bytes > total) total = order[i]->offset + bytes;
  }
  return total;
}

bool tirc_memory_conflict(int n, const MemoryUse *uses, int64_t total, int *a, int *b) {
  for (int i = 0; i < n; i++) {
    *a = *b = i;
    if (uses[i].offset < 0 || uses[i].offset % ALIGNMENT || uses[i].offset + uses[i].bytes > total)
      return true;
    for (int k = 0; k < i; k++) {
      const bool apart = uses[i].offset + uses[i].bytes <= uses[k].offset ||
                         uses[k].offset + uses[k].bytes <= uses[i].offset;
      *b = k;
      if (!apart && uses[i].bytes && uses[k].bytes && alive_together(&uses[i], &uses[k]))
        return true;
    }
  }
  return false;
}
