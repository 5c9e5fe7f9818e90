#include "safetensors.h"

#include "ir/json_check.h"
#include "ir/number.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct json_object Json;

static const size_t MOST_HEADER = 100 * 1000 * 1000; /* what the format allows */
enum { HEAD = 8 };

static const struct {
  const char *name;
  DType type;
} types[] = {
    {"F64", {TYPE_FLOAT, 64, 1}},   {"F32", {TYPE_FLOAT, 32, 1}}, {"F16", {TYPE_FLOAT, 16, 1}},
    {"BF16", {TYPE_BFLOAT, 16, 1}}, {"I64", {TYPE_INT, 64, 1}},   {"I32", {TYPE_INT, 32, 1}},
    {"I16", {TYPE_INT, 16, 1}},     {"I8", {TYPE_INT, 8, 1}},     {"U64", {TYPE_UINT, 64, 1}},
    {"U32", {TYPE_UINT, 32, 1}},    {"U16", {TYPE_UINT, 16, 1}},  {"U8", {TYPE_UINT, 8, 1}},
    {"BOOL", {TYPE_BOOL, 1, 1}}};

typedef struct Reading {
  Tirc *c;
  Safetensors *s;
  const char *data; /* behind the header */
  size_t n_data;
  VEC(StoredTensor) tensors;
} Reading;

#define DAMAGED "the file is damaged: write it again, with save_file of safetensors"
#define DOWNLOADED "it may have been downloaded in part"

#define FAIL(r, hint, ...)                                                                         \
  tirc_fail((r)->c, (Loc){(r)->s->path, 0, 0}, CODE_SAFETENSORS, hint, __VA_ARGS__)

/* --- the file --------------------------------------------------------------------------------- */

static void map_file(Tirc *c, Safetensors *s) {
  struct stat there;
  const int fd = open(s->path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    tirc_fail(c, (Loc){0}, CODE_FILE, "--weights FILE.safetensors", "cannot read '%s': %s", s->path,
              tirc_error_text(errno));
  const bool known = fstat(fd, &there) == 0;
  const bool regular = known && S_ISREG(there.st_mode) && there.st_size > 0;
  void *at = regular ? mmap(NULL, (size_t)there.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
  const int error = errno;
  close(fd);
  if (!regular)
    tirc_fail(c, (Loc){0}, CODE_FILE, "--weights FILE.safetensors",
              "cannot map '%s': it is not a file, or empty", s->path);
  if (at == MAP_FAILED)
    tirc_fail(c, (Loc){0}, CODE_FILE, NULL, "cannot map '%s': %s", s->path, tirc_error_text(error));
  s->mapping = at;
  s->bytes = (size_t)there.st_size;
}

static size_t header_length(Reading *r) {
  const unsigned char *head = r->s->mapping;
  uint64_t n = 0;
  if (r->s->bytes < HEAD) FAIL(r, DOWNLOADED, "the file ends before its header does");
  for (int i = HEAD - 1; i >= 0; i--) n = n << 8 | head[i];
  if (n > MOST_HEADER)
    FAIL(r, "is it a safetensors file?", "the header would be %llu bytes long; at most %zu are",
         (unsigned long long)n, MOST_HEADER);
  if (n > r->s->bytes - HEAD) FAIL(r, DOWNLOADED, "the file ends within its header");
  return (size_t)n;
}

/* --- the header ------------------------------------------------------------------------------- */

static int64_t count_of(Reading *r, const char *name, Json *j, const char *what) {
  const int64_t n = json_object_is_type(j, json_type_int) ? json_object_get_int64(j) : -1;
  if (n < 0 || n == INT64_MAX) FAIL(r, DAMAGED, "'%s': %s is not a number of elements", name, what);
  return n;
}

static DType type_of(Reading *r, const char *name, Json *j) {
  const char *text = json_object_is_type(j, json_type_string) ? json_object_get_string(j) : "";
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].name, text) == 0) return types[i].type;
  Text known = {.c = r->c};
  tirc_text_add(&known, "there are");
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    tirc_text_addf(&known, " %s", types[i].name);
  FAIL(r, known.at, "'%s': the element type '%s' is not supported", name, text);
}

static Json *member(Reading *r, const char *name, Json *of, const char *key, enum json_type type) {
  Json *j;
  if (!json_object_is_type(of, json_type_object) || !json_object_object_get_ex(of, key, &j) ||
      !json_object_is_type(j, type))
    FAIL(r, "{NAME: {\"dtype\", \"shape\", \"data_offsets\"}}", "'%s' has no \"%s\"", name, key);
  return j;
}

static void read_tensor(Reading *r, const char *name, Json *j) {
  Json *shape = member(r, name, j, "shape", json_type_array);
  Json *offsets = member(r, name, j, "data_offsets", json_type_array);
  const size_t n = json_object_array_length(shape);
  Tensor t = {.dtype = type_of(r, name, member(r, name, j, "dtype", json_type_string)),
              .ndim = (int)n,
              .count = 1};
  if (n > TENSOR_MAX_NDIM)
    FAIL(r, "reshape it before it is saved", "'%s' has more than %d axes", name, TENSOR_MAX_NDIM);
  if (json_object_array_length(offsets) != 2)
    FAIL(r, DAMAGED, "'%s' does not have two offsets", name);
  for (size_t d = 0; d < n; d++) {
    t.shape[d] = count_of(r, name, json_object_array_get_idx(shape, d), "an extent");
    if (__builtin_mul_overflow(t.count, t.shape[d], &t.count))
      FAIL(r, DAMAGED, "'%s' has too many elements", name);
  }
  const int64_t from = count_of(r, name, json_object_array_get_idx(offsets, 0), "an offset");
  const int64_t to = count_of(r, name, json_object_array_get_idx(offsets, 1), "an offset");
  int64_t bytes;
  if (to < from)
    FAIL(r, DAMAGED, "'%s' should end at %lld, before it begins at %lld", name, (long long)to,
         (long long)from);
  if ((uint64_t)to > r->n_data)
    FAIL(r, DOWNLOADED, "'%s' should lie from %lld to %lld, but there are only %zu bytes", name,
         (long long)from, (long long)to, r->n_data);
  if (__builtin_mul_overflow(t.count, tirc_dtype_bytes(t.dtype), &bytes) || bytes != to - from)
    FAIL(r, DAMAGED, "'%s': %lld elements do not take %lld bytes", name, (long long)t.count,
         (long long)(to - from));
  t.bytes = (size_t)bytes;
  t.data = (void *)(uintptr_t)(r->data + from);
  vec_push(r->c, r->tensors, ((StoredTensor){tirc_strdup(r->c, name), t}));
}

static int by_place(const void *x, const void *y) {
  const StoredTensor *a = *(const StoredTensor *const *)x, *b = *(const StoredTensor *const *)y;
  return ((char *)a->tensor.data > (char *)b->tensor.data) -
         ((char *)a->tensor.data < (char *)b->tensor.data);
}

static void check_overlaps(Reading *r) {
  const StoredTensor **order = tirc_new_array(r->c, const StoredTensor *, r->tensors.n);
  int n = 0;
  for (int i = 0; i < r->tensors.n; i++)
    if (r->tensors.at[i].tensor.bytes) order[n++] = &r->tensors.at[i];
  if (n) qsort(order, (size_t)n, sizeof *order, by_place);
  for (int i = 1; i < n; i++) {
    const Tensor *a = &order[i - 1]->tensor, *b = &order[i]->tensor;
    if ((char *)a->data + a->bytes > (char *)b->data)
      FAIL(r, DAMAGED, "'%s' and '%s' overlap", order[i - 1]->name, order[i]->name);
  }
}

static void read_members(Reading *r, Json *all, const char *text, size_t n) {
  const JsonFault fault = tirc_json_check_text(r->c, text, n);
  if (fault.what) FAIL(r, DAMAGED, "the header: %s", fault.what);
  if (!json_object_is_type(all, json_type_object))
    FAIL(r, DAMAGED, "the header is not a JSON object");
  json_object_object_foreach(all, name, j) if (strcmp(name, "__metadata__") != 0)
      read_tensor(r, name, j);
  check_overlaps(r);
}

/* JSON objects are not in the arena. */
static void read_header(Reading *r, const char *text, const size_t n) {
  json_tokener *t = json_tokener_new();
  if (!t) FAIL(r, NULL, "out of memory");
  json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
  Json *volatile all = json_tokener_parse_ex(t, text, (int)n);
  Trap trap;
  if (TIRC_TRY(r->c, trap)) {
    read_members(r, all, text, n);
    TIRC_END(r->c, trap);
    json_object_put(all);
    json_tokener_free(t);
    return;
  }
  r->c->trap = trap.outer;
  json_object_put(all);
  json_tokener_free(t);
  tirc_throw(r->c);
}

Safetensors *tirc_safetensors_map(Tirc *c, const char *path) {
  Safetensors *s = tirc_new(c, Safetensors);
  *s = (Safetensors){.c = c, .path = tirc_strdup(c, path)};
  map_file(c, s);
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    Reading r = {.c = c, .s = s};
    const size_t n = header_length(&r);
    r.data = (const char *)s->mapping + HEAD + n;
    r.n_data = s->bytes - HEAD - n;
    const char *text = (const char *)s->mapping + HEAD;
    size_t used = n; /* what follows is padding */
    while (used && strchr(" \n", text[used - 1])) used--;
    read_header(&r, text, used);
    s->n = r.tensors.n;
    s->at = r.tensors.at;
    TIRC_END(c, trap);
    return s;
  }
  c->trap = trap.outer;
  tirc_safetensors_unmap(s);
  tirc_throw(c);
}

void tirc_safetensors_unmap(Safetensors *s) {
  if (s && s->mapping) munmap(s->mapping, s->bytes);
  if (s) s->mapping = NULL;
}

const StoredTensor *tirc_safetensors_find(const Safetensors *s, const char *name) {
  for (int i = 0; i < s->n; i++)
    if (strcmp(s->at[i].name, name) == 0) return &s->at[i];
  return NULL;
}

/* --- writing ---------------------------------------------------------------------------------- */

static const char *stored_type(const Tensor *t) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (tirc_dtype_equal(types[i].type, t->dtype)) return types[i].name;
  return NULL;
}

static void put_name(Text *t, const char *name) {
  json_object *j = json_object_new_string(name);
  tirc_text_add(t, j ? json_object_to_json_string_ext(j, JSON_C_TO_STRING_NOSLASHESCAPE) : "");
  json_object_put(j);
}

/* Numbers of eight bytes before narrower ones. */
static const StoredTensor **by_width(Tirc *c, int n, const StoredTensor *at) {
  const StoredTensor **order = tirc_new_array(c, const StoredTensor *, n);
  int placed = 0;
  for (int bytes = 8; bytes; bytes /= 2)
    for (int i = 0; i < n; i++)
      if (tirc_dtype_bytes(at[i].tensor.dtype) == bytes) order[placed++] = &at[i];
  return order;
}

static const char *header_of(Tirc *c, int n, const StoredTensor *const *order) {
  Text t = {.c = c};
  size_t end = 0;
  tirc_text_add(&t, "{");
  for (int i = 0; i < n; i++) {
    const Tensor *x = &order[i]->tensor;
    tirc_text_add(&t, i ? "," : "");
    put_name(&t, order[i]->name);
    tirc_text_addf(&t, ":{\"dtype\":\"%s\",\"shape\":[", stored_type(x));
    for (int d = 0; d < x->ndim; d++)
      tirc_text_addf(&t, "%s%lld", d ? "," : "", (long long)x->shape[d]);
    tirc_text_addf(&t, "],\"data_offsets\":[%zu,%zu]}", end, end + x->bytes);
    end += x->bytes;
  }
  tirc_text_add(&t, "}");
  while (t.n % 8) tirc_text_add(&t, " ");
  return t.at;
}

void tirc_safetensors_write(Tirc *c, const char *path, int n, const StoredTensor *at) {
  const StoredTensor **order = by_width(c, n, at);
  const char *header = header_of(c, n, order);
  const char *temporary = tirc_format(c, "%s.new", path);
  const uint64_t length = strlen(header);
  FILE *f = fopen(temporary, "wb");
  bool ok = f && fwrite(&length, sizeof length, 1, f) == 1 && fwrite(header, length, 1, f) == 1;
  for (int i = 0; ok && i < n; i++) {
    const Tensor *x = &order[i]->tensor;
    ok = !x->bytes || fwrite(x->data, x->bytes, 1, f) == 1;
  }
  int error = ok ? 0 : errno;
  if (f && fclose(f) && ok) ok = false, error = errno;
  if (ok && rename(temporary, path)) ok = false, error = errno;
  if (ok) return;
  if (f) unlink(temporary);
  tirc_fail(c, (Loc){path, 0, 0}, CODE_FILE, NULL, "cannot write '%s': %s", path,
            tirc_error_text(error));
}
