/* Checkpoints. A safetensors file is the length of a header, eight bytes with the lowest first, the
 * header, a JSON object {NAME: {"dtype", "shape", "data_offsets"}}, and the elements. Of a .npz
 * archive the arrays' own headers are read. */
#include "checkpoint.h"
#include "tools/kit/input.h"

#include "runtime/arrays/npz.h"
#include "tools/kit/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_HEADER = 100 * 1000 * 1000 }; /* what the format allows */

static Weight *add_weight(Checkpoint *c, const char *name, const char *dtype) {
  Weight *w = one_more(c->at, c->n);
  *w = (Weight){.name = tirc_strdup(memory, name)};
  snprintf(w->dtype, sizeof w->dtype, "%s", dtype);
  return w;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

int check_names(const Checkpoint *c) {
  int status = DONE;
  char **names = tirc_alloc_array(memory, (size_t)c->n + 1, sizeof *names);
  for (int i = 0; i < c->n; i++) names[i] = c->at[i].name;
  qsort(names, (size_t)c->n, sizeof *names, compare_names);
  for (int i = 1; i < c->n && status == DONE; i++)
    if (strcmp(names[i - 1], names[i]) == 0)
      status = complain(NULL, "two weights are called '%s'", names[i]);
  return status;
}

/* --- safetensors ------------------------------------------------------------------------------ */

static int damaged(const char *path, const char *name, const char *what) {
  return complain("see the safetensors format: {NAME: {\"dtype\", \"shape\", \"data_offsets\"}}",
                  "%s: '%s' %s", path, name, what);
}

static bool is_count(Json *j, int64_t *out) {
  if (!json_object_is_type(j, json_type_int)) return false;
  *out = json_object_get_int64(j);
  return *out >= 0 && *out < INT64_MAX; /* which stands for all that is larger */
}

/* *end: where its elements end, behind the header. */
static int read_tensor(const char *path, Checkpoint *c, const char *name, Json *j, int64_t *end) {
  Json *dtype, *shape, *offsets;
  int64_t begin, elements = 1;
  if (!json_object_is_type(j, json_type_object)) return damaged(path, name, "is not an object");
  if (!json_object_object_get_ex(j, "dtype", &dtype) ||
      !json_object_is_type(dtype, json_type_string))
    return damaged(path, name, "has no dtype");
  if (!json_object_object_get_ex(j, "shape", &shape) ||
      !json_object_is_type(shape, json_type_array))
    return damaged(path, name, "has no shape");
  if (!json_object_object_get_ex(j, "data_offsets", &offsets) ||
      !json_object_is_type(offsets, json_type_array) || json_object_array_length(offsets) != 2 ||
      !is_count(json_object_array_get_idx(offsets, 0), &begin) ||
      !is_count(json_object_array_get_idx(offsets, 1), end) || *end < begin)
    return damaged(path, name, "has no data_offsets");
  const size_t n = json_object_array_length(shape);
  if (n > MOST_WEIGHT_DIMS) return damaged(path, name, "has too many axes");
  Weight *w = add_weight(c, name, json_object_get_string(dtype));
  for (size_t d = 0; d < n; d++)
    if (!is_count(json_object_array_get_idx(shape, d), &w->shape[w->ndim++]) ||
        __builtin_mul_overflow(elements, w->shape[d], &elements))
      return damaged(path, name, "has a shape that is none");
  return DONE;
}

/* A JSON object keeps the last of two members of one name; here they are counted as they are
 * written: colons of the outermost braces. */
static int count_members(const char *text, size_t n) {
  int depth = 0, members = 0;
  bool quoted = false;
  for (size_t i = 0; i < n; i++) {
    if (quoted && text[i] == '\\') {
      i++;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      depth += (text[i] == '{' || text[i] == '[') - (text[i] == '}' || text[i] == ']');
      members += text[i] == ':' && depth == 1;
    }
  }
  return members;
}

/* What the header says, which may be of a file without its elements: enough for shapes. */
static int read_tensors(const char *path, Checkpoint *c, Json *all, int64_t n_data) {
  int64_t last = 0;
  int status = DONE;
  json_object_object_foreach(all, name, j) {
    int64_t end = 0;
    if (strcmp(name, "__metadata__") == 0) continue;
    if (status == DONE) status = read_tensor(path, c, name, j, &end);
    if (end > last) last = end;
  }
  if (status == DONE && n_data >= 0 && last > n_data)
    fprintf(stderr, "%s: note: the elements are not all there: %lld of %lld bytes\n", path,
            (long long)n_data, (long long)last);
  return status;
}

static int parse_header(const char *path, Checkpoint *c, const char *text, size_t n,
                        int64_t n_data) {
  while (n && (text[n - 1] == ' ' || text[n - 1] == '\n' || text[n - 1] == 0)) n--; /* padding */
  json_tokener *t = json_tokener_new();
  json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
  Json *all = json_tokener_parse_ex(t, text, (int)n);
  const enum json_tokener_error why = json_tokener_get_error(t);
  char *lies = NULL;
  int status;
  if (!json_object_is_type(all, json_type_object))
    status =
        complain(NULL, "%s: the header is not a JSON object: %s", path,
                 why == json_tokener_continue ? "it ends too early" : json_tokener_error_desc(why));
  else if (count_members(text, n) != json_object_object_length(all))
    status = complain(NULL, "%s: two weights have the same name", path);
  else if ((lies = json_fault(text, n)) != NULL)
    status = complain(NULL, "%s: the header: %s", path, lies);
  else
    status = read_tensors(path, c, all, n_data);
  json_object_put(all);
  json_tokener_free(t);
  return status;
}

static uint64_t length_of(const unsigned char *head) {
  uint64_t n = 0;
  for (int i = 7; i >= 0; i--) n = n << 8 | head[i];
  return n;
}

static int no_checkpoint(const char *path) {
  return complain("other formats: save the state as safetensors, or the arrays with numpy.savez",
                  "%s: this is neither a safetensors file nor a .npz archive", path);
}

/* size: of the file, -1 where it cannot be known. */
static int read_safetensors(const char *path, FILE *f, int64_t size, Checkpoint *c) {
  unsigned char head[8];
  if (fread(head, 1, sizeof head, f) != sizeof head) return no_checkpoint(path);
  const uint64_t n = length_of(head);
  const int first = getc(f);
  if (first != '{' && first != EOF) return no_checkpoint(path);
  if (n > MOST_HEADER)
    return complain(NULL, "%s: the header's length is %llu bytes; at most %d are allowed", path,
                    (unsigned long long)n, MOST_HEADER);
  if (n < 2 || first == EOF || (size >= 0 && n + sizeof head > (uint64_t)size))
    return complain("it may have been downloaded in part",
                    "%s: the file ends within its header of %llu bytes", path,
                    (unsigned long long)n);
  char *text = tirc_alloc(memory, n);
  *text = '{';
  int status;
  if (fread(text + 1, 1, n - 1, f) != n - 1)
    status =
        complain("it may have been downloaded in part",
                 "%s: the file ends within its header of %llu bytes", path, (unsigned long long)n);
  else
    status = parse_header(path, c, text, n, size < 0 ? -1 : size - (int64_t)(n + sizeof head));
  return status;
}

/* --- .npz ------------------------------------------------------------------------------------- */

static int read_npz(const char *path, Checkpoint *c) {
  tirc_npz *z;
  tirc_error *e = NULL;
  int status = DONE;
  if (tirc_npz_open(path, &z, &e)) return report(e);
  for (int i = 0; tirc_npz_name(z, i) && status == DONE; i++) {
    NpyHeader h;
    if (tirc_npz_header(z, tirc_npz_name(z, i), &h, &e)) {
      status = report(e);
      break;
    }
    Weight *w = add_weight(c, tirc_npz_name(z, i), h.descr);
    for (int d = 0; d < h.ndim && d < MOST_WEIGHT_DIMS; d++) w->shape[w->ndim++] = h.shape[d];
  }
  if (status == DONE && !tirc_npz_name(z, 0))
    status = complain("PyTorch's own checkpoints are archives, too: save the state as safetensors",
                      "%s: the archive has no arrays (.npy)", path);
  tirc_npz_close(z);
  return status;
}

/* --- either ----------------------------------------------------------------------------------- */

int read_checkpoint(const char *path, Checkpoint *c) {
  static const unsigned char zip[4] = {'P', 'K', 3, 4}, empty_zip[4] = {'P', 'K', 5, 6};
  unsigned char head[4] = {0};
  struct stat info;
  if (strcmp(path, "-") == 0) return read_safetensors("standard input", stdin, -1, c);
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
    return complain("name the files in it", "%s: %s", path, strerror(EISDIR));
  FILE *f = fopen(path, "rb");
  if (!f) return complain(NULL, "%s: %s", path, strerror(errno));
  const bool regular = fstat(fileno(f), &info) == 0 && S_ISREG(info.st_mode);
  int status;
  if (regular && fread(head, 1, sizeof head, f) == sizeof head &&
      (memcmp(head, zip, sizeof zip) == 0 || memcmp(head, empty_zip, sizeof empty_zip) == 0)) {
    status = read_npz(path, c);
  } else {
    if (regular) rewind(f);
    status = read_safetensors(path, f, regular ? (int64_t)info.st_size : -1, c);
  }
  fclose(f);
  return status;
}
