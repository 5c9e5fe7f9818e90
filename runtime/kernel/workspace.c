#include "workspace.h"

#include "pages.h"
#include "pool.h"
#include "system.h"

#include <stdlib.h>

enum { KEPT = 32 };

/* Blocks are rounded up to whole pages or huge pages, so that those of one kernel fit each other.
 */
typedef struct Free {
  void *p;
  size_t size;
} Free;

struct KernelRuntime {
  tirc_runtime abi;
  Pool *pool;
  Lock lock;
  int n;
  Free kept[KEPT];
};

static void *allocate(void *self, size_t bytes) {
  KernelRuntime *r = self;
  size_t size = tirc_pages_size(bytes);
  void *p = NULL;
  if (size == 0) return NULL;
  tirc_lock(&r->lock);
  for (int i = r->n - 1; i >= 0 && !p; i--)
    if (r->kept[i].size == size) {
      p = r->kept[i].p;
      r->kept[i] = r->kept[--r->n];
    }
  tirc_unlock(&r->lock);
  return p ? p : tirc_pages_new(size);
}

static void release(void *self, void *p, size_t bytes) {
  KernelRuntime *r = self;
  if (!p) return;
  tirc_lock(&r->lock);
  if (r->n == KEPT) tirc_pages_free(r->kept[--r->n].p);
  r->kept[r->n++] = (Free){p, tirc_pages_size(bytes)};
  tirc_unlock(&r->lock);
}

static void parallel_for(void *self, int64_t n, void (*body)(int64_t, void *), void *closure,
                         int64_t chunks) {
  KernelRuntime *r = self;
  tirc_pool_run(r->pool, n, body, closure, chunks);
}

KernelRuntime *tirc_kernel_runtime_new(int threads) {
  KernelRuntime *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->pool = tirc_pool_new(threads);
  if (!r->pool || !tirc_lock_init(&r->lock)) {
    tirc_pool_free(r->pool);
    free(r);
    return NULL;
  }
  r->abi = (tirc_runtime){r, threads > 1 ? parallel_for : NULL, allocate, release};
  return r;
}

void tirc_kernel_runtime_free(KernelRuntime *r) {
  if (!r) return;
  for (int i = 0; i < r->n; i++) tirc_pages_free(r->kept[i].p);
  tirc_pool_free(r->pool);
  tirc_lock_free(&r->lock);
  free(r);
}

const tirc_runtime *tirc_kernel_runtime_abi(const KernelRuntime *r) { return &r->abi; }
