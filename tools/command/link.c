/* `--emit=lib`: the object file and the runtime that this command carries within it, linked by the
 * system's C compiler. All happens in a folder of its own under names that are always the same, so
 * that nothing of the place or the time gets into the result. */
#include "link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const unsigned char runtime_archive[] = {
#include "runtime_archive.inc"
};

static bool write_file(const char *folder, const char *name, const void *bytes, size_t n) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "wb");
  bool ok = f && fwrite(bytes, 1, n, f) == n;
  return f ? fclose(f) == 0 && ok : false;
}

static char *read_file(const char *folder, const char *name, size_t *n) {
  char path[128], *bytes = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  if (fseek(f, 0, SEEK_END) == 0 && ftell(f) >= 0) {
    *n = (size_t)ftell(f);
    rewind(f);
    bytes = malloc(*n + 1);
    if (bytes && fread(bytes, 1, *n, f) != *n) {
      free(bytes);
      bytes = NULL;
    }
  }
  fclose(f);
  return bytes;
}

static void remove_folder(const char *folder) {
  static const char *const names[] = {"kernel.o", "runtime.a", "kernel.so"};
  char path[128];
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
}

/* The exit status of the linker; 127 when there is none. */
static int run_linker(const char *folder, const char *compiler) {
  char *const command[] = {(char *)(uintptr_t)compiler,
                           "-shared",
                           "-s",
                           "-o",
                           "kernel.so",
                           "-Wl,--build-id=none",
                           "-Wl,--as-needed",
                           "-Wl,-z,noexecstack",
                           "-Wl,--exclude-libs,ALL",
                           "kernel.o",
                           "-Wl,--whole-archive",
                           "runtime.a",
                           "-Wl,--no-whole-archive",
                           "-lpthread",
                           "-lm",
                           NULL};
  pid_t child = fork();
  if (child < 0) return 127;
  if (child == 0) {
    if (chdir(folder) == 0) execvp(compiler, command);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int link_shared(const Options *o, const char *object, size_t n, char **out, size_t *n_out) {
  const char *compiler = getenv("CC"), *tmp = getenv("TMPDIR");
  if (!compiler || !*compiler || strchr(compiler, ' ')) compiler = "cc";
  char folder[96];
  int length = snprintf(folder, sizeof folder, "%s/tirc.XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (length >= (int)sizeof folder || !mkdtemp(folder))
    return complain(o, "set TMPDIR", "there is no folder for temporary files");
  int status = BAD;
  if (!write_file(folder, "kernel.o", object, n) ||
      !write_file(folder, "runtime.a", runtime_archive, sizeof runtime_archive)) {
    status = complain(o, "set TMPDIR", "cannot write in %s", folder);
  } else {
    int failed = run_linker(folder, compiler);
    if (failed == 127)
      status = complain(o, "install gcc or clang, or set CC; --emit=obj and --emit=c need none",
                        "--emit=lib links with the C compiler, but %s cannot be run", compiler);
    else if (failed)
      status = complain(
          o,
          "a shared object is made for this machine's own kind; for others link --emit=obj there",
          "%s cannot link the shared object", compiler);
    else
      status = (*out = read_file(folder, "kernel.so", n_out))
                   ? DONE
                   : complain(o, NULL, "%s made no file", compiler);
  }
  remove_folder(folder);
  return status;
}
