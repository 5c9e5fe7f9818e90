#include "pages.h"

#include "system.h"

#include <stdint.h>
#include <stdlib.h>

/* From LARGE on a block is whole huge pages. It has more small pages then than the first level of a
 * usual TLB has entries (64). */
enum { HUGE_PAGE = 2 << 20, LARGE = 256 << 10, LINE = 64 };

size_t tirc_pages_size(size_t bytes) {
  size_t unit = bytes >= LARGE ? HUGE_PAGE : LINE;
  if (bytes > SIZE_MAX - unit) return 0;
  return bytes ? (bytes + unit - 1) / unit * unit : unit;
}

void *tirc_pages_new(size_t size) { return tirc_pages_new_at(size, LINE); }

void *tirc_pages_new_at(size_t size, size_t align) {
  const size_t usual = size >= HUGE_PAGE ? HUGE_PAGE : LINE, at = align > usual ? align : usual;
  if (size > SIZE_MAX - at) return NULL;
  void *p = tirc_memory_new(at, (size + at - 1) / at * at);
  if (p && size >= HUGE_PAGE) tirc_prefer_huge_pages(p, size);
  return p;
}

void tirc_pages_free(void *p) { tirc_memory_free(p); }
