/* The accesses of one small run, packed for the page. A stream of unsigned LEB128 numbers:
 *
 *   0 block same value...    an instance of a block starts; its first `same` loops stand where they
 *                            stood before, the values of the others follow
 *   1 + 2 * array + write    an access, followed by how far its element is from the last one in
 * that array, zigzag: 0, -1, 1, -2 ... are 0, 1, 2, 3
 */
#include "step.h"
#include "tools/kit/json.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 64, MOST_BLOCKS = 64, MOST_LOOPS = 64 };

typedef struct BlockSeen {
  char *key; /* its name and the loops around it */
  int n;
  int64_t values[MOST_LOOPS];
  bool any;
} BlockSeen;

typedef struct Packer {
  unsigned char *at;
  size_t n, cap;
  bool failed; /* more arrays or blocks than there is room for */
  int64_t accesses, budget;
  int64_t last[MOST_ARRAYS];
  BlockSeen blocks[MOST_BLOCKS];
  int n_blocks;
  json_object *arrays, *block_list;
} Packer;

static void put_number(Packer *p, uint64_t v) {
  if (p->n + 10 > p->cap) {
    size_t cap = p->cap ? 2 * p->cap : 4096;
    unsigned char *grown = tirc_alloc(memory, cap);
    if (p->n) memcpy(grown, p->at, p->n);
    p->at = grown;
    p->cap = cap;
  }
  for (; v >= 0x80; v >>= 7) p->at[p->n++] = (unsigned char)(v | 0x80);
  p->at[p->n++] = (unsigned char)v;
}

static void put_signed(Packer *p, int64_t v) {
  put_number(p, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

/* --- the observer ----------------------------------------------------------------------------- */

static void see_array(void *self, int array, const char *name, const char *dtype, int bytes,
                      const char *scope, int ndim, const int64_t *shape) {
  Packer *p = self;
  json_object *j = json_object_new_object(), *extents = json_object_new_array();
  p->failed |= array >= MOST_ARRAYS;
  add_json(j, "name", json_object_new_string(name));
  add_json(j, "dtype", json_object_new_string(dtype));
  add_json(j, "scope", json_object_new_string(scope));
  add_int(j, "bytes", bytes);
  for (int d = 0; d < ndim; d++) json_object_array_add(extents, json_object_new_int64(shape[d]));
  add_json(j, "shape", extents);
  json_object_array_add(p->arrays, j);
}

static char *block_key(const char *name, int n, const char *const *loops) {
  char *key = NULL;
  size_t size = 0;
  FILE *f = begin_text(&key, &size);
  fputs(name, f);
  for (int i = 0; i < n; i++) fprintf(f, " %s", loops[i]);
  return end_text(f, &key);
}

/* The block's number; -1 when there is no room for it. */
static int find_block(Packer *p, const char *name, int n, const char *const *loops) {
  char *key = block_key(name, n, loops);
  for (int i = 0; i < p->n_blocks; i++)
    if (strcmp(p->blocks[i].key, key) == 0) {
      return i;
    }
  if (!key || p->n_blocks == MOST_BLOCKS || n > MOST_LOOPS) {
    return -1;
  }
  json_object *j = json_object_new_object(), *list = json_object_new_array();
  for (int i = 0; i < n; i++) json_object_array_add(list, json_object_new_string(loops[i]));
  add_json(j, "name", json_object_new_string(name));
  add_json(j, "loops", list);
  json_object_array_add(p->block_list, j);
  p->blocks[p->n_blocks] = (BlockSeen){.key = key, .n = n};
  return p->n_blocks++;
}

static void see_block(void *self, const char *name, int n, const char *const *loops,
                      const int64_t *values) {
  Packer *p = self;
  int number = find_block(p, name, n, loops), same = 0;
  p->failed |= number < 0;
  if (number < 0) return;
  BlockSeen *b = &p->blocks[number];
  while (b->any && same < n && b->values[same] == values[same]) same++;
  put_number(p, 0);
  put_number(p, (uint64_t)number);
  put_number(p, (uint64_t)same);
  for (int i = same; i < n; i++) put_signed(p, b->values[i] = values[i]);
  b->any = true;
}

static bool see_access(void *self, int array, int64_t element, bool is_write) {
  Packer *p = self;
  if (p->failed || p->accesses == p->budget) return false;
  p->accesses++;
  put_number(p, 1 + 2 * (uint64_t)array + is_write);
  put_signed(p, element - p->last[array]);
  p->last[array] = element;
  return true;
}

/* --- traces ----------------------------------------------------------------------------------- */

static char *base64(const unsigned char *at, size_t n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *out = tirc_alloc(memory, (n + 2) / 3 * 4 + 1), *to = out;
  for (size_t i = 0; i < n; i += 3) {
    unsigned v = (unsigned)at[i] << 16 | (i + 1 < n ? (unsigned)at[i + 1] << 8 : 0) |
                 (i + 2 < n ? at[i + 2] : 0U);
    *to++ = digits[v >> 18];
    *to++ = digits[v >> 12 & 63];
    *to++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
    *to++ = i + 2 < n ? digits[v & 63] : '=';
  }
  *to = 0;
  return out;
}

static json_object *packed(Packer *p, bool whole, const tirc_error *e) {
  json_object *j = json_object_new_object();
  char *data = base64(p->at, p->n);
  add_json(j, "arrays", json_object_get(p->arrays));
  add_json(j, "blocks", json_object_get(p->block_list));
  add_int(j, "accesses", p->accesses);
  add_bool(j, "whole", whole);
  if (e) add_text(j, "failure", tirc_error_message(e));
  if (data) add_json(j, "data", json_object_new_string(data));
  return j;
}

json_object *trace_as_json(const tirc_module *m, const List *given, int64_t budget,
                           int64_t *accesses, bool *whole) {
  Packer p = {
      .budget = budget, .arrays = json_object_new_array(), .block_list = json_object_new_array()};
  tirc_observer observer = {&p, see_array, see_block, see_access};
  tirc_argument *args = NULL;
  tirc_error *e = NULL;
  int n = 0;
  bool ended = false;
  if (small_arguments(m, given, &n, &args, &e))
    (void)tirc_module_observe(m, NULL, n, args, 20 * budget, &observer, &ended, &e);
  json_object *j = packed(&p, ended, e);
  if (accesses) *accesses = p.accesses;
  if (whole) *whole = ended;
  if (args) free_arguments(n, args);
  tirc_error_free(e);
  json_object_put(p.arrays);
  json_object_put(p.block_list);
  return j;
}
