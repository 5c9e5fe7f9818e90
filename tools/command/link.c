/* What the system's C compiler makes of objects: `--emit=lib`, the object file and the runtime that
 * this command carries within it; and weights that are no text, which the assembler takes from a
 * file. All happens in a folder of its own under names that are always the same, so that nothing of
 * the place or the time gets into the result. */
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
  char *path = tirc_format(memory, "%s/%s", folder, name);
  FILE *f = fopen(path, "wb");
  bool ok = f && fwrite(bytes, 1, n, f) == n;
  return f ? fclose(f) == 0 && ok : false;
}

static void remove_folder(const char *folder) {
  static const char *const names[] = {"kernel.o", "runtime.a", "weights", "weights.s", "linked"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    unlink(tirc_format(memory, "%s/%s", folder, names[i]));
  rmdir(folder);
}

/* The exit status of the linker; 127 when there is none. */
static int run_linker(const Linking *what, const char *folder, const char *compiler) {
  const char *command[26] = {compiler,  "-o", "linked", "-Wl,--build-id=none", "-Wl,-z,noexecstack",
                             "kernel.o"};
  const char *const shared[] = {"-shared",
                                what->keeps_lines ? "-g" : "-s",
                                "-Wl,--as-needed",
                                "-Wl,--exclude-libs,ALL",
                                "-Wl,--whole-archive",
                                "runtime.a",
                                "-Wl,--no-whole-archive",
                                "-lpthread",
                                "-lm"};
  static const char *const object[] = {"-r", "-nostdlib"};
  int n = 6;
  if (what->block) command[n++] = "weights.s";
  for (size_t i = 0; what->is_shared && i < sizeof shared / sizeof *shared; i++)
    command[n++] = shared[i];
  for (size_t i = 0; !what->is_shared && i < sizeof object / sizeof *object; i++)
    command[n++] = object[i];
  if (what->is_shared && what->soname) { /* as words of their own: a comma is part of a name */
    command[n++] = "-Xlinker";
    command[n++] = "-soname";
    command[n++] = "-Xlinker";
    command[n++] = what->soname;
  }
  pid_t child = fork();
  if (child < 0) return 127;
  if (child == 0) {
    if (chdir(folder) == 0) execvp(compiler, (char *const *)(uintptr_t)command);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* The assembler takes the block from its file. */
static int write_block(const Linking *what, const char *folder) {
  const char *block = what->block;
  char *text = tirc_format(memory,
                           " .section .rodata\n .balign 64\n .globl %s\n .hidden %s\n"
                           " .type %s, %%object\n%s:\n .incbin \"weights\"\n .size %s, . - %s\n"
                           " .section .note.GNU-stack,\"\",%%progbits\n",
                           block, block, block, block, block, block);
  if (!write_file(folder, "weights.s", text, strlen(text)))
    return complain("set TMPDIR", "cannot write in %s", folder);
  return what->write_block(what->self, tirc_format(memory, "%s/weights", folder));
}

static int copy_result(const char *folder, const char *compiler, const char *path) {
  enum { PIECE = 1 << 16 };
  char bytes[PIECE];
  size_t n;
  FILE *f = fopen(tirc_format(memory, "%s/linked", folder), "rb");
  if (!f) return complain(NULL, "%s made no file", compiler);
  NewFile to = begin_file(path);
  while (to.f && (n = fread(bytes, 1, sizeof bytes, f)) > 0)
    if (fwrite(bytes, 1, n, to.f) != n) break;
  const bool whole = !ferror(f);
  fclose(f);
  if (to.f && !whole) {
    drop_file(&to);
    return complain("set TMPDIR", "cannot read what %s made", compiler);
  }
  return end_output(path, &to, DONE);
}

static int link_in(const Linking *what, const char *folder, const char *compiler,
                   const char *path) {
  const char *kind = what->is_shared ? "--emit=lib" : "--weights-inside";
  if (!write_file(folder, "kernel.o", what->object, what->n) ||
      !write_file(folder, "runtime.a", runtime_archive, sizeof runtime_archive))
    return complain("set TMPDIR", "cannot write in %s", folder);
  const int status = what->block ? write_block(what, folder) : DONE;
  if (status != DONE) return status;
  const int failed = run_linker(what, folder, compiler);
  if (failed == 127)
    return complain("install gcc or clang, or set CC; --emit=obj and --emit=c need none",
                    "%s links with the C compiler, but %s cannot be run", kind, compiler);
  if (failed)
    return complain(
        what->is_shared ? "what is linked is of the C compiler's own kind: set CC to one "
                          "for that machine, as CC=aarch64-linux-gnu-gcc does, or link "
                          "--emit=obj there"
                        : "what is linked is of the C compiler's own kind: set CC to one "
                          "for that machine, as CC=aarch64-linux-gnu-gcc does, or leave "
                          "the weights beside the object: --weights-out FILE",
        "%s cannot link the %s", compiler, what->is_shared ? "shared object" : "object");
  return copy_result(folder, compiler, path);
}

int link_code(const Linking *what, const char *path) {
  const char *compiler = getenv("CC"), *tmp = getenv("TMPDIR");
  if (!compiler || !*compiler || strchr(compiler, ' ')) compiler = "cc";
  char *folder = tirc_format(memory, "%s/tirc.XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!mkdtemp(folder)) return complain("set TMPDIR", "there is no folder for temporary files");
  const int status = link_in(what, folder, compiler, path);
  remove_folder(folder);
  return status;
}
