/* Files of ONNX that were right once: bytes are changed, cut out, doubled, and each file is
 * imported. What can be imported is printed and read again; everything else gets a message. With
 * sanitizers (developing.md) this finds what reads beyond a file.
 *
 * usage: fuzz_onnx [--mutations N] [--seed S] FILE.onnx... */
#include "rng.h"
#include "runtime/tirc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20 };

typedef struct File {
  size_t n;
  unsigned char at[MOST_BYTES];
} File;

static bool read_file(const char *path, File *f) {
  FILE *in = fopen(path, "rb");
  if (!in) return false;
  f->n = fread(f->at, 1, sizeof f->at, in);
  fclose(in);
  return f->n > 0;
}

static bool write_file(const char *path, const File *f) {
  FILE *out = fopen(path, "wb");
  const bool fine = out && fwrite(f->at, 1, f->n, out) == f->n;
  return out && fclose(out) == 0 && fine;
}

static void change(Rng *r, File *f) {
  static const unsigned char odd[] = {0, 1, 0x7f, 0x80, 0xff, 8, 18, 26, 58, 66};
  const size_t at = (size_t)rng_below(r, (int)f->n);
  const size_t some = (size_t)rng_below(r, 16) + 1, n = some < f->n - at ? some : f->n - at;
  switch (rng_below(r, 6)) {
  case 0: f->at[at] ^= (unsigned char)(1u << rng_below(r, 8)); break;
  case 1: f->at[at] = odd[rng_below(r, (int)sizeof odd)]; break;
  case 2: f->at[at] = (unsigned char)rng_below(r, 256); break;
  case 3: /* bytes less */
    memmove(f->at + at, f->at + at + n, f->n - at - n);
    f->n -= n;
    break;
  case 4: /* bytes twice */
    if (f->n + n > sizeof f->at) break;
    memmove(f->at + at + n, f->at + at, f->n - at);
    f->n += n;
    break;
  default: f->n = rng_below(r, 8) ? f->n : at; break;
  }
}

static bool complain(const char *what, const char *path, tirc_error *e) {
  fprintf(stderr, "%s: %s: %s\n", path, what, e ? tirc_error_message(e) : "");
  tirc_error_free(e);
  return false;
}

/* What is printed is input again. */
static bool survives(const char *path, const tirc_module *m) {
  tirc_error *e = NULL;
  tirc_module *again = NULL;
  char *text = NULL;
  if (tirc_module_print(m, &text, &e)) return complain("imported, and cannot be printed", path, e);
  if (tirc_module_parse(text, strlen(text), path, 0, NULL, &again, &e)) {
    fputs(text, stderr);
    tirc_string_free(text);
    return complain("imported and printed, and cannot be read", path, e);
  }
  tirc_module_free(again);
  tirc_string_free(text);
  return true;
}

static bool try_import(const char *path, int64_t *imported) {
  tirc_error *e = NULL;
  tirc_module *m = NULL;
  const tirc_status status = tirc_module_import(path, NULL, &m, &e);
  if (status == TIRC_OK) {
    const bool fine = survives(path, m);
    tirc_module_free(m);
    ++*imported;
    return fine;
  }
  if (!e || !*tirc_error_message(e)) return complain("refused without a word", path, e);
  tirc_error_free(e);
  return true;
}

int main(int argc, char **argv) {
  int64_t mutations = 1000, imported = 0;
  uint64_t seed = 1;
  int first = 1;
  for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2) {
    if (!strcmp(argv[first], "--mutations")) mutations = atoll(argv[first + 1]);
    if (!strcmp(argv[first], "--seed")) seed = (uint64_t)atoll(argv[first + 1]);
  }
  if (first >= argc) {
    fputs("usage: fuzz_onnx [--mutations N] [--seed S] FILE.onnx...\n", stderr);
    return 2;
  }
  File *was = malloc(sizeof *was), *is = malloc(sizeof *is);
  const char *tmp = getenv("TMPDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/fuzz_onnx.%ld.onnx", tmp ? tmp : "/tmp", (long)getpid());
  Rng r = {seed};
  bool fine = was && is;
  for (int64_t i = 0; i < mutations && fine; i++) {
    const char *from = argv[first + (int)rng_below(&r, argc - first)];
    if (!read_file(from, was)) return complain("cannot be read", from, NULL), 2;
    memcpy(is, was, sizeof *is);
    for (int64_t k = rng_below(&r, 4) + 1; k > 0 && is->n > 1; k--) change(&r, is);
    fine = write_file(path, is) && try_import(path, &imported);
    if (!fine)
      fprintf(stderr, "mutation %lld of seed %llu, kept as %s\n", (long long)i,
              (unsigned long long)seed, path);
  }
  if (fine) unlink(path);
  printf("%lld mutations, %lld of them imported\n", (long long)mutations, (long long)imported);
  free(was);
  free(is);
  return fine ? 0 : 1;
}
