#include "fact_words.h"

#include <string.h>

/* 64 x 32 x 8, one for each axis */
static void put_tiles(const Facts *f, char *out, size_t n) {
  size_t at = 0;
  for (int i = 0; i < f->n_axes && at < n; i++)
    at += (size_t)snprintf(out + at, n - at, "%s%lld", i ? "x" : "", (long long)f->axes[i].tile);
}

/* The extents of axis i, outermost first. */
static void put_levels(const Axis *a, char *out, size_t n) {
  size_t at = (size_t)snprintf(out, n, "%s ", a->name);
  for (int i = 0; i < a->n && at < n; i++)
    at +=
        (size_t)snprintf(out + at, n - at, "%s%lld", i ? "x" : "", (long long)a->levels[i].extent);
}

static void put_all_levels(const Facts *f, char *out, size_t n) {
  size_t at = 0;
  for (int i = 0; i < f->n_axes && at < n; i++) {
    char one[100];
    put_levels(&f->axes[i], one, sizeof one);
    at += (size_t)snprintf(out + at, n - at, "%s%s", i ? "  " : "", one);
  }
}

static void put_width(const Facts *f, char *out, size_t n) {
  snprintf(out, n, "%lld", (long long)f->vector_width);
}
static void put_unroll(const Facts *f, char *out, size_t n) {
  snprintf(out, n, "%lld", (long long)f->unroll);
}
static void put_parallel(const Facts *f, char *out, size_t n) {
  snprintf(out, n, "%lld", (long long)f->parallel);
}
static void put_or_dash(const char *text, char *out, size_t n) {
  snprintf(out, n, "%s", *text ? text : "-");
}
static void put_cache_write(const Facts *f, char *out, size_t n) {
  put_or_dash(f->cache_writes, out, n);
}
static void put_cache_read(const Facts *f, char *out, size_t n) {
  put_or_dash(f->cache_reads, out, n);
}
static void put_decomposed(const Facts *f, char *out, size_t n) {
  put_or_dash(f->decomposed_at, out, n);
}
static void put_places(const Facts *f, char *out, size_t n) { put_or_dash(f->computed_at, out, n); }
static void put_order(const Facts *f, char *out, size_t n) { snprintf(out, n, "%s", f->order); }

const FactWord fact_words[N_FACT_WORDS] = {
    {"tile", true, put_tiles},
    {"vector", true, put_width},
    {"unroll", true, put_unroll},
    {"parallel", true, put_parallel},
    {"cache write", true, put_cache_write},
    {"decomposed at", true, put_decomposed},
    {"levels", false, put_all_levels},
    {"cache read", false, put_cache_read},
    {"computed at", false, put_places},
    {"order", false, put_order},
};

static int differing(const Facts *before, const Facts *after, int k, char *old, char *now,
                     size_t n) {
  fact_words[k].put(before, old, n);
  fact_words[k].put(after, now, n);
  return strcmp(old, now) != 0;
}

int add_fact_changes(Table *t, const Facts *before, const Facts *after) {
  char old[400], now[400];
  int n = 0;
  for (int k = 0; k < N_FACT_WORDS; k++) {
    if (!differing(before, after, k, old, now, sizeof old)) continue;
    add_cell(t, "%s", fact_words[k].name);
    add_cell(t, "%s", old);
    add_cell(t, "%s", now);
    n++;
  }
  return n;
}
