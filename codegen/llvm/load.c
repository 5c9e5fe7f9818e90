/* Finds LLVM's library and its functions. */
#define _GNU_SOURCE
#define LLVM_CALL_NAMES
#include "calls.h"
#include "llvm.h"

#include <dlfcn.h>
#include <limits.h>
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

LlvmCalls tirc_llvm_calls;

#define TEXT(n) #n
#define EXPANDED(n) TEXT(n)
#define MAJOR EXPANDED(LLVM_VERSION_MAJOR)
/* What runs alone installs. */
#define RUNTIME "libLLVM.so." MAJOR "." EXPANDED(LLVM_VERSION_MINOR)

static void *opened(const char *name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

#ifdef LLVM_OWN
/* The folder of the file that this code was loaded from. */
static bool own_folder(char folder[PATH_MAX]) {
  Dl_info here, entry;
  char path[PATH_MAX] = "";
  if (!dladdr((void *)&tirc_llvm_calls, &here)) return false;
  const bool is_main =
      dladdr((void *)getauxval(AT_ENTRY), &entry) && entry.dli_fbase == here.dli_fbase;
  if (is_main && readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return false;
  if (!realpath(is_main ? path : here.dli_fname, folder)) return false;
  *strrchr(folder, '/') = '\0';
  return true;
}

/* The library with the parts of LLVM that are called lies beside ours, or where the command's
 * installation puts ours. It has no relocation by name and the tables of the targets alone, so that
 * it is there in a third of the time that LLVM's own takes. */
static void *own_library(void) {
  static const char *const places[] = {"", FROM_COMMAND_TO_LIBRARIES};
  char folder[PATH_MAX], path[2 * PATH_MAX];
  void *library = NULL;
  if (!own_folder(folder)) return NULL;
  for (size_t i = 0; !library && i < sizeof places / sizeof *places; i++) {
    snprintf(path, sizeof path, "%s/%s/" LLVM_OWN, *places[i] == '/' ? "" : folder, places[i]);
    if (access(path, R_OK) == 0) library = opened(path);
  }
  return library;
}
#else
static void *own_library(void) { return NULL; }
#endif

void *tirc_llvm_library(void) {
  static const char *const names[] = {LLVM_FOLDER "/libLLVM.so", RUNTIME};
  const char *given = getenv("TIRC_LLVM"); /* then no other */
  if (given && *given) return opened(given);
  void *library = own_library();
  for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) library = opened(names[i]);
  return library;
}

/* False: `wrong` says what is, in the words of the dynamic linker. */
static bool load(size_t room, char *wrong) {
  enum { COUNT = sizeof llvm_call_names / sizeof *llvm_call_names };
  _Static_assert(sizeof tirc_llvm_calls == COUNT * sizeof(void *), "a field a name");
  void *at[COUNT], *library = tirc_llvm_library();
  bool ok = library != NULL;
  for (int i = 0; ok && i < COUNT; i++) ok = (at[i] = dlsym(library, llvm_call_names[i])) != NULL;
  if (ok)
    memcpy(&tirc_llvm_calls, at, sizeof at);
  else
    snprintf(wrong, room, "%s", dlerror());
  return ok;
}

/* glibc ends the process where the address space ends while a library's thread-local data are made.
 */
static bool has_room(void) {
  const size_t size = (size_t)192 << 20; /* of LLVM's library and those that it needs */
  void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  munmap(at, size);
  return true;
}

/* Of nothing said why not, there is no room. */
static bool is_loaded(size_t room, char *wrong) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static bool loaded;
  pthread_mutex_lock(&mutex);
  const bool ok = loaded = loaded || (has_room() && load(room, wrong));
  pthread_mutex_unlock(&mutex);
  return ok;
}

const char *tirc_llvm_missing(Tirc *c) {
  char wrong[256] = "";
  if (is_loaded(sizeof wrong, wrong) || !*wrong) return NULL;
  return tirc_format(c, "LLVM's library cannot be loaded: %s", wrong);
}

void tirc_llvm_load(Tirc *c) {
  char wrong[256] = "";
  if (is_loaded(sizeof wrong, wrong)) return;
  if (!*wrong)
    tirc_fail(c, (Loc){0}, CODE_MEMORY, "LLVM's library does not fit into memory: ulimit -v",
              "out of memory");
  tirc_fail(c, (Loc){0}, CODE_CODEGEN,
            "install LLVM " MAJOR ", libllvm" MAJOR " in Debian and Ubuntu, or name a " RUNTIME
            " in $TIRC_LLVM; the interpreter, and C, CUDA and OpenCL source for a named target, do "
            "without",
            "LLVM's library cannot be loaded: %s", wrong);
}
