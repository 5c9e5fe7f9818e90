/* .npz files: zip archives in which each array is a member NAME.npy. libzip knows the archives. */
#include "runtime/arrays/npz.h"

#include "api.h"

#include <stdio.h>
#include <stdlib.h>
#include <zip.h>

struct tirc_npz {
  zip_t *zip;
  char *path;
  int n;
  char **names; /* without ".npy" */
};

typedef struct Job { /* what an entry of the header hands to its body */
  const char *path, *name;
  tirc_npz *npz;
  tirc_array *array;
  NpyHeader header;
  int n;
  const char *const *names;
  const tirc_array *const *arrays;
} Job;

static const char suffix[] = ".npy";
enum { SUFFIX = sizeof suffix - 1 };

_Noreturn static void fail(Tirc *c, const char *path, const char *reason) {
  tirc_fail(c, (Loc){0}, CODE_FILE, NULL, "%s: %s", path, reason);
}

static void list_members(Tirc *c, tirc_npz *z) {
  zip_int64_t n = zip_get_num_entries(z->zip, 0);
  z->names = calloc((size_t)n + 1, sizeof *z->names);
  if (!z->names) fail(c, z->path, "out of memory");
  for (zip_int64_t i = 0; i < n; i++) {
    const char *name = zip_get_name(z->zip, (zip_uint64_t)i, 0);
    size_t length = name ? strlen(name) : 0;
    if (length <= SUFFIX || strcmp(name + length - SUFFIX, suffix) != 0) continue;
    z->names[z->n++] = tirc_api_copy(c, name, length - SUFFIX);
  }
}

static void open_archive(Tirc *c, void *self) {
  Job *job = self;
  tirc_npz *z = job->npz = calloc(1, sizeof *z);
  if (!z) fail(c, job->path, "out of memory");
  z->path = tirc_api_copy(c, job->path, strlen(job->path));
  int code;
  z->zip = zip_open(job->path, ZIP_RDONLY, &code);
  if (!z->zip) {
    zip_error_t e;
    zip_error_init_with_code(&e, code);
    const char *reason = tirc_format(c, "%s", zip_error_strerror(&e));
    zip_error_fini(&e);
    fail(c, job->path, reason);
  }
  list_members(c, z);
}

tirc_status tirc_npz_open(const char *path, tirc_npz **out, tirc_error **error) {
  NEED(path, out);
  Job job = {.path = path};
  tirc_status status = tirc_api_scratch(open_archive, &job, NULL, error);
  if (status == TIRC_OK)
    *out = job.npz;
  else
    tirc_npz_close(job.npz);
  return status;
}

void tirc_npz_close(tirc_npz *z) {
  if (!z) return;
  for (int i = 0; i < z->n; i++) free(z->names[i]);
  free(z->names);
  free(z->path);
  if (z->zip) zip_discard(z->zip);
  free(z);
}

const char *tirc_npz_name(const tirc_npz *z, int i) {
  return z && i >= 0 && i < z->n ? z->names[i] : NULL;
}

static const char *list_names(Tirc *c, const tirc_npz *z) {
  Text t = {.c = c};
  for (int i = 0; i < z->n; i++) tirc_text_addf(&t, "%s%s", i ? ", " : "", z->names[i]);
  return z->n ? t.at : "no array at all";
}

/* All of a member, and no byte more: at the end libzip compares the checksum. NULL or what is
 * wrong.
 */
static const char *read_whole(Tirc *c, zip_file_t *f, char *bytes, size_t n) {
  char more;
  zip_int64_t got = zip_fread(f, bytes, n);
  zip_int64_t rest = got >= 0 && (size_t)got == n ? zip_fread(f, &more, 1) : -1;
  const char *reason = zip_file_strerror(f);
  if (rest == 0) return NULL;
  return zip_file_get_error(f)->zip_err
             ? tirc_format(c, "the archive is damaged: %s", reason)
             : "the archive is damaged: its length is not the one that it states";
}

/* The member's name, and how long it is. */
static const char *find_member(Tirc *c, const Job *job, size_t *n) {
  zip_stat_t info;
  const char *member = tirc_format(c, "%s%s", job->name, suffix);
  if (zip_stat(job->npz->zip, member, 0, &info) != 0 || !(info.valid & ZIP_STAT_SIZE))
    tirc_fail(c, (Loc){0}, CODE_FILE, tirc_format(c, "the file has %s", list_names(c, job->npz)),
              "%s: there is no array '%s'", job->npz->path, job->name);
  *n = info.size;
  return member;
}

/* The bytes of a member, on the heap. */
static char *read_member(Tirc *c, const Job *job, const char *label, size_t *n) {
  zip_t *zip = job->npz->zip;
  const char *member = find_member(c, job, n);
  char *bytes = malloc(*n + 1);
  if (!bytes) fail(c, label, "out of memory");
  zip_file_t *f = zip_fopen(zip, member, 0);
  const char *reason = f ? read_whole(c, f, bytes, *n)
                         : tirc_format(c, "the archive is damaged: %s", zip_strerror(zip));
  if (f) zip_fclose(f);
  if (!reason && *n > 0) return bytes;
  free(bytes);
  fail(c, label, reason ? reason : "the member is empty");
}

static void read_array(Tirc *c, void *self) {
  Job *job = self;
  const char *label = tirc_format(c, "%s, array %s", job->npz->path, job->name);
  size_t n;
  char *bytes = read_member(c, job, label, &n);
  FILE *f = fmemopen(bytes, n, "rb");
  Trap trap;
  if (f && TIRC_TRY(c, trap)) {
    job->array = tirc_api_array(c, tirc_npy_read_stream(c, label, f, true));
    TIRC_END(c, trap);
    free(bytes);
    return;
  }
  free(bytes);
  if (!f) fail(c, label, "out of memory");
  tirc_throw(c);
}

tirc_status tirc_npz_read(const tirc_npz *z, const char *name, tirc_array **out,
                          tirc_error **error) {
  NEED(z, name, out);
  Job job = {.npz = (tirc_npz *)z, .name = name};
  tirc_status status = tirc_api_scratch(read_array, &job, NULL, error);
  if (status == TIRC_OK) *out = job.array;
  return status;
}

/* The longest header of version 1, with what stands before it: later ones are for records. */
enum { MOST_HEADER = (1 << 16) + 12 };

static void read_header(Tirc *c, void *self) {
  Job *job = self;
  const char *label = tirc_format(c, "%s, array %s", job->path, job->name);
  size_t size;
  zip_file_t *z = zip_fopen(job->npz->zip, find_member(c, job, &size), 0);
  if (!z) fail(c, label, tirc_format(c, "the archive is damaged: %s", zip_strerror(job->npz->zip)));
  if (size > MOST_HEADER) size = MOST_HEADER;
  char *bytes = tirc_alloc(c, size + 1);
  const zip_int64_t got = zip_fread(z, bytes, size);
  zip_fclose(z);
  FILE *f = got > 0 ? fmemopen(bytes, (size_t)got, "rb") : NULL;
  if (!f) fail(c, label, got == 0 ? "the member is empty" : "the archive is damaged");
  job->header = tirc_npy_read_header(c, label, f);
  fclose(f);
}

tirc_status tirc_npz_header(const tirc_npz *z, const char *name, NpyHeader *out,
                            tirc_error **error) {
  NEED(z, name, out);
  Job job = {.path = z->path, .name = name, .npz = (tirc_npz *)z};
  const tirc_status status = tirc_api_scratch(read_header, &job, NULL, error);
  if (status == TIRC_OK) *out = job.header;
  return status;
}

/* Adds one array; its bytes are read when the archive is closed. False: see zip_strerror. */
static bool add_array(Tirc *c, zip_t *zip, const Job *job, int i) {
  if (!job->arrays[i]) tirc_api_name(c, NULL);
  const Tensor *t = job->arrays[i]->t;
  size_t n;
  const char *header = tirc_npy_header(c, job->path, t, &n);
  zip_buffer_fragment_t parts[2] = {{(zip_uint8_t *)(uintptr_t)header, n}, {t->data, t->bytes}};
  zip_source_t *source = zip_source_buffer_fragment(zip, parts, 2, 0);
  const char *member = tirc_format(c, "%s%s", tirc_api_name(c, job->names[i]), suffix);
  zip_int64_t at = source ? zip_file_add(zip, member, source, ZIP_FL_ENC_UTF_8) : -1;
  if (source && at < 0) zip_source_free(source);
  /* As numpy.savez: stored, and at a fixed time, so that the same arrays give the same file. */
  return at >= 0 && zip_set_file_compression(zip, (zip_uint64_t)at, ZIP_CM_STORE, 0) == 0 &&
         zip_file_set_dostime(zip, (zip_uint64_t)at, 0, 33, 0) == 0;
}

static void write_arrays(Tirc *c, void *self) {
  Job *job = self;
  int code;
  zip_t *zip = zip_open(job->path, ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!zip) fail(c, job->path, "the file cannot be written");
  bool ok = true;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    for (int i = 0; i < job->n && ok; i++) ok = add_array(c, zip, job, i);
    TIRC_END(c, trap);
  } else {
    zip_discard(zip);
    tirc_throw(c);
  }
  if (ok && zip_close(zip) == 0) return;
  const char *reason = tirc_format(c, "%s", zip_strerror(zip));
  zip_discard(zip);
  fail(c, job->path, reason);
}

tirc_status tirc_npz_write(const char *path, int n, const char *const *names,
                           const tirc_array *const *arrays, tirc_error **error) {
  NEED(path, LIST(n, names), LIST(n, arrays));
  Job job = {.path = path, .n = n, .names = names, .arrays = arrays};
  return tirc_api_scratch(write_arrays, &job, NULL, error);
}
