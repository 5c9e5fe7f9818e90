/* A cache in which the line that was used longest ago goes first, on the accesses of a run. Arrays
 * lie one behind the other, each at a multiple of 64 bytes, as on the page of `tirc step`. */
#include "exercise.h"

#include <string.h>

enum { ALIGNED = 64 };

typedef struct Cache {
  CacheShape shape;
  int64_t sets;
  int64_t *lines; /* of each set its ways, the latest first; -1: empty */
  int64_t end;    /* of the arrays */
  int64_t most;
  CacheCount *count;
} Cache;

static void see_array(void *self, int array, const char *name, const char *dtype, int bytes,
                      const char *scope, int ndim, const int64_t *shape) {
  Cache *cache = self;
  int64_t size = bytes;
  (void)array, (void)dtype, (void)scope;
  for (int d = 0; d < ndim; d++) size *= shape[d];
  ArrayMisses *a = one_more(cache->count->at, cache->count->n);
  *a = (ArrayMisses){.name = copied(name), .base = cache->end, .bytes = bytes};
  cache->end += (size + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* Whether the line was there; from now on it is the latest of its set. */
static bool touch(const Cache *cache, int64_t line) {
  int64_t *set = cache->lines + line % cache->sets * cache->shape.ways, at = 0;
  while (at < cache->shape.ways - 1 && set[at] != line) at++;
  const bool found = set[at] == line;
  memmove(set + 1, set, (size_t)at * sizeof *set);
  set[0] = line;
  return found;
}

static bool see_access(void *self, int array, int64_t element, bool is_write) {
  Cache *cache = self;
  CacheCount *count = cache->count;
  ArrayMisses *a = &count->at[array];
  (void)is_write;
  if (count->accesses == cache->most) return false;
  const bool missed = !touch(cache, (a->base + element * a->bytes) / cache->shape.line);
  count->accesses++;
  a->accesses++;
  count->misses += missed;
  a->misses += missed;
  return true;
}

tirc_status count_misses(const tirc_module *m, int n, const tirc_argument *args, CacheShape shape,
                         int64_t most, CacheCount *out, tirc_error **error) {
  Cache cache = {.shape = shape, .most = most, .count = out};
  const tirc_observer observer = {.self = &cache, .array = see_array, .access = see_access};
  cache.sets = shape.size / shape.line / shape.ways;
  const size_t lines = (size_t)(cache.sets * shape.ways);
  cache.lines = tirc_alloc_array(memory, lines, sizeof *cache.lines);
  memset(cache.lines, 0xff, lines * sizeof *cache.lines);
  *out = (CacheCount){0};
  return tirc_module_observe(m, NULL, n, args, 4 * most, &observer, &out->whole, error);
}
