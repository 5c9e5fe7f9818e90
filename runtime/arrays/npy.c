/* .npy files: a magic number, a version, a Python dictionary as text that gives element type, order
 * and shape, then the elements. The header is read with a scanner of just the literals that NumPy
 * writes; every length is checked against the file's size before anything is allocated. */
#include "ir/number.h"
#include "npz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct NpyType {
  const char *name; /* behind the byte-order mark */
  DType dtype;
} NpyType;
static const NpyType npy_types[] = {
    {"f4", {TYPE_FLOAT, 32, 1}},  {"f8", {TYPE_FLOAT, 64, 1}}, {"f2", {TYPE_FLOAT, 16, 1}},
    {"V2", {TYPE_BFLOAT, 16, 1}}, {"b1", {TYPE_BOOL, 1, 1}},   {"i1", {TYPE_INT, 8, 1}},
    {"i2", {TYPE_INT, 16, 1}},    {"i4", {TYPE_INT, 32, 1}},   {"i8", {TYPE_INT, 64, 1}},
    {"u1", {TYPE_UINT, 8, 1}},    {"u2", {TYPE_UINT, 16, 1}},  {"u4", {TYPE_UINT, 32, 1}},
    {"u8", {TYPE_UINT, 64, 1}},
};
enum { N_TYPES = sizeof npy_types / sizeof *npy_types };

/* An open file that is closed before an error unwinds. */
typedef struct File {
  Tirc *c;
  const char *path;
  FILE *f;
} File;

_Noreturn static void fail(File *f, DiagCode code, const char *reason) {
  const char *path = f->path;
  if (f->f) fclose(f->f);
  tirc_fail(f->c, (Loc){0}, code, NULL, "%s: %s", path, reason);
}

static void get(File *f, void *at, size_t n) {
  errno = 0;
  if (fread(at, 1, n, f->f) == n) return;
  if (ferror(f->f)) fail(f, CODE_FILE, tirc_error_text(errno));
  fail(f, CODE_NPY, "the file ends too early");
}

/* The text after "'key':", blanks skipped. */
static const char *value_of(File *f, const char *text, const char *key) {
  const char *p = strstr(text, key);
  if (!p) fail(f, CODE_NPY, tirc_format(f->c, "the header has no %s", key));
  p += strlen(key);
  while (*p == ' ' || *p == ':') p++;
  return p;
}

static void read_shape(File *f, const char *p, NpyHeader *h) {
  if (*p++ != '(') fail(f, CODE_NPY, "the header's shape is not a tuple");
  for (;;) {
    while (*p == ' ' || *p == ',') p++;
    if (*p == ')') return;
    char *end;
    errno = 0;
    long long v = strtoll(p, &end, 10);
    if (end == p || errno || v < 0)
      fail(f, CODE_NPY, "the header's shape contains something that is not an extent");
    if (h->ndim == TENSOR_MAX_NDIM) fail(f, CODE_NPY, "the array has too many dimensions");
    h->shape[h->ndim++] = v;
    p = end;
    if (*p == 'L') p++;
  }
}

static NpyHeader parse_header(File *f, const char *text) {
  NpyHeader h = {0};
  const char *p = value_of(f, text, "'descr'");
  const char *end = *p == '\'' ? strchr(p + 1, '\'') : NULL;
  if (!end || end - p - 1 >= (long)sizeof h.descr)
    fail(f, CODE_NPY, "the header's descr is not a simple type");
  memcpy(h.descr, p + 1, (size_t)(end - p - 1));
  const char *order = value_of(f, text, "'fortran_order'");
  h.fortran = strncmp(order, "True", 4) == 0;
  if (!h.fortran && strncmp(order, "False", 5) != 0)
    fail(f, CODE_NPY, "the header's fortran_order is neither True nor False");
  read_shape(f, value_of(f, text, "'shape'"), &h);
  return h;
}

static DType element_type(File *f, const char *descr) {
  if (descr[0] && strchr("<>|=", descr[0]))
    for (int i = 0; i < N_TYPES; i++)
      if (strcmp(descr + 1, npy_types[i].name) == 0) return npy_types[i].dtype;
  fail(f, CODE_NPY, tirc_format(f->c, "the element type '%s' is not supported", descr));
}

static void swap_bytes(Tensor *t) {
  size_t size = (size_t)tirc_dtype_bytes(t->dtype);
  unsigned char *p = t->data;
  for (size_t i = 0; i < t->bytes; i += size)
    for (size_t j = 0; j < size / 2; j++) {
      unsigned char x = p[i + j];
      p[i + j] = p[i + size - 1 - j];
      p[i + size - 1 - j] = x;
    }
}

/* `from` holds the elements in Fortran order: the first index runs fastest. */
static void transpose(Tensor *t, const char *from) {
  size_t size = (size_t)tirc_dtype_bytes(t->dtype);
  int64_t index[TENSOR_MAX_NDIM] = {0};
  for (int64_t i = 0; i < t->count; i++) {
    int64_t at = 0, stride = 1;
    for (int d = 0; d < t->ndim; d++) {
      at += index[d] * stride;
      stride *= t->shape[d];
    }
    memcpy((char *)t->data + (size_t)i * size, from + (size_t)at * size, size);
    for (int d = t->ndim - 1; d >= 0 && ++index[d] == t->shape[d]; d--) index[d] = 0;
  }
}

static const char *read_header_text(File *f) {
  unsigned char magic[8], length[4] = {0};
  get(f, magic, 8);
  if (memcmp(magic, "\x93NUMPY", 6) != 0) fail(f, CODE_NPY, "this is no .npy file");
  if (magic[6] < 1 || magic[6] > 3) fail(f, CODE_NPY, "an unknown version of the format");
  get(f, length, magic[6] == 1 ? 2 : 4);
  size_t n = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
  if (n > 1 << 20) fail(f, CODE_NPY, "the header is too long");
  char *text = tirc_alloc(f->c, n + 1);
  get(f, text, n);
  return text;
}

/* Bytes from here to the end of the file; -1 when it cannot tell (a pipe). */
static int64_t bytes_left(FILE *f) {
  long here = ftell(f);
  if (here < 0 || fseek(f, 0, SEEK_END) != 0) return -1;
  long end = ftell(f);
  return fseek(f, here, SEEK_SET) == 0 && end >= here ? end - here : -1;
}

static void read_elements(File *f, Tensor *t, bool fortran) {
  bool ok;
  if (fortran && t->ndim > 1) {
    char *raw = malloc(t->bytes ? t->bytes : 1);
    ok = raw && fread(raw, 1, t->bytes, f->f) == t->bytes;
    if (ok) transpose(t, raw);
    free(raw);
  } else {
    ok = fread(t->data, 1, t->bytes, f->f) == t->bytes;
  }
  if (ok) return;
  tirc_tensor_free(t);
  fail(f, CODE_NPY, "the file ends before the last element");
}

NpyHeader tirc_npy_read_header(Tirc *c, const char *path, FILE *stream) {
  File f = {c, path, stream};
  return parse_header(&f, read_header_text(&f));
}

Tensor *tirc_npy_read_stream(Tirc *c, const char *path, FILE *stream, bool whole) {
  File f = {c, path, stream};
  NpyHeader h = parse_header(&f, read_header_text(&f));
  DType dtype = element_type(&f, h.descr);
  int64_t bytes = tirc_dtype_bytes(dtype), left = bytes_left(f.f);
  for (int d = 0; d < h.ndim; d++)
    if (__builtin_mul_overflow(bytes, h.shape[d], &bytes))
      fail(&f, CODE_NPY, "the number of elements overflows 64 bits");
  if (left >= 0 && bytes > left) fail(&f, CODE_NPY, "the file ends before the last element");
  if (whole && bytes < left) fail(&f, CODE_NPY, "there are bytes after the last element");
  Trap trap;
  Tensor *t = NULL;
  if (TIRC_TRY(c, trap)) {
    t = tirc_tensor_new_at(c, dtype, h.ndim, h.shape, TENSOR_OF_FILE_ALIGN);
    TIRC_END(c, trap);
  } else {
    fclose(f.f);
    tirc_throw(c);
  }
  read_elements(&f, t, h.fortran);
  fclose(f.f);
  if (h.descr[0] == '>') swap_bytes(t);
  return t;
}

Tensor *tirc_npy_read(Tirc *c, const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) fail(&(File){c, path, NULL}, CODE_FILE, tirc_error_text(errno));
  return tirc_npy_read_stream(c, path, f, false);
}

static const char *descr_of(DType t) {
  for (int i = 0; i < N_TYPES; i++)
    if (tirc_dtype_equal(npy_types[i].dtype, t)) return npy_types[i].name;
  return NULL;
}

const char *tirc_npy_header(Tirc *c, const char *path, const Tensor *t, size_t *n) {
  enum { HEAD = 10 }; /* magic number, version, length of the text */
  const char *type = descr_of(t->dtype);
  if (!type) fail(&(File){c, path, NULL}, CODE_NPY, "an element type that .npy files do not have");
  Text text = {.c = c};
  tirc_text_addn(&text, "\x93NUMPY\1\0\0\0", HEAD);
  tirc_text_addf(&text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                 type[1] == '1' ? '|' : '<', type);
  for (int d = 0; d < t->ndim; d++)
    tirc_text_addf(&text, "%lld%s", (long long)t->shape[d],
                   t->ndim == 1      ? ","
                   : d + 1 < t->ndim ? ", "
                                     : "");
  tirc_text_add(&text, "), }");
  while ((text.n + 1) % 64 != 0) tirc_text_add(&text, " ");
  tirc_text_add(&text, "\n");
  size_t length = text.n - HEAD;
  text.at[HEAD - 2] = (char)(length & 255);
  text.at[HEAD - 1] = (char)(length >> 8);
  *n = text.n;
  return text.at;
}

void tirc_npy_write(Tirc *c, const char *path, const Tensor *t) {
  size_t n;
  const char *header = tirc_npy_header(c, path, t, &n);
  File f = {c, path, fopen(path, "wb")};
  if (!f.f) fail(&f, CODE_FILE, tirc_error_text(errno));
  bool ok = fwrite(header, 1, n, f.f) == n && fwrite(t->data, 1, t->bytes, f.f) == t->bytes;
  ok = fclose(f.f) == 0 && ok;
  f.f = NULL;
  if (!ok) fail(&f, CODE_FILE, "writing failed");
}
