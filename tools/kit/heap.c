/* The command's heap, in large pages. A compiler touches some ten megabytes once, and where page
 * tables are shadowed, as in some virtual machines, the kernel takes as long for a dozen pages of
 * 4 KiB as for one of 2 MiB. The small ones took a sixth of a small program's time. The library
 * leaves the heap of its caller as it is. */
#define _DEFAULT_SOURCE
#include "kit.h"

#if defined(__GLIBC__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* MAPPED: larger arrays have mappings of their own, which go back to the kernel when they are
 * freed. GROWTH: of addresses, or a quarter of the machine's memory if that is less; pages are
 * handed out when they are touched. */
enum { LARGE_PAGE = 2 << 20, MAPPED = 4 << 20, GROWTH = 2046 << 20 };

void use_large_pages(void) {
  struct rlimit room;
  if (getrlimit(RLIMIT_AS, &room) != 0 || room.rlim_cur != RLIM_INFINITY) return;
  if (getrlimit(RLIMIT_DATA, &room) != 0 || room.rlim_cur != RLIM_INFINITY) return;
  const long quarter = sysconf(_SC_PHYS_PAGES) / 4, page = sysconf(_SC_PAGESIZE);
  const int growth = quarter < GROWTH / page ? (int)(quarter * page) : GROWTH;
  if (growth < LARGE_PAGE || !mallopt(M_MMAP_THRESHOLD, MAPPED) ||
      !mallopt(M_TRIM_THRESHOLD, GROWTH) || !mallopt(M_TOP_PAD, growth))
    return;
  char *first = malloc(MAPPED / 2); /* the heap grows */
  const uintptr_t from = ((uintptr_t)first + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
  const uintptr_t to = (uintptr_t)sbrk(0);
  if (first && from < to) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
  free(first);
  (void)mallopt(M_TOP_PAD, LARGE_PAGE);
}
#else
void use_large_pages(void) {}
#endif
