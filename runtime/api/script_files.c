/* What scripts may read, for those who run them again when it changes. */
#include "api.h"

#include "passes/script/reads.h"

#include <sys/stat.h>

typedef struct Asking {
  const char *path;
  void (*file)(void *self, const char *path);
  void *self;
  bool *all;
} Asking;

static void ask(Tirc *c, void *self) {
  const Asking *a = self;
  ScriptReads r = {.c = c, .text = {.c = c}};
  struct stat there;
  if (stat(a->path, &there) == 0 && S_ISDIR(there.st_mode))
    tirc_script_reads_folder(&r, a->path);
  else if (strcmp(a->path, "-") != 0) {
    (void)tirc_read_source(c, a->path); /* throws where it cannot be read */
    tirc_script_reads(&r, a->path);
  }
  for (int i = 0; i < r.files.n; i++) a->file(a->self, r.files.at[i]);
  if (a->all) *a->all = !r.is_hidden;
}

tirc_status tirc_script_files(const char *path, void (*file)(void *self, const char *path),
                              void *self, bool *all, tirc_error **error) {
  NEED(path, (const void *)(uintptr_t)file);
  Asking a = {path, file, self, all};
  return tirc_api_scratch(ask, &a, NULL, error);
}
