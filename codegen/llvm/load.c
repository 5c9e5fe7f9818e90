/* Finds LLVM's library and its functions. */
#define LLVM_CALL_NAMES
#include "calls.h"

#include <dlfcn.h>
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <string.h>

LlvmCalls tirc_llvm_calls;

static const char
    *missing; /* what could not be found, in the words of the dynamic linker, or NULL */

static void load(void) {
#define TEXT(n) #n
#define VERSION(major, minor) TEXT(major) "." TEXT(minor)
  static const char *const names[] = {
      "libLLVM.so." VERSION(LLVM_VERSION_MAJOR,
                            LLVM_VERSION_MINOR), /* as LLVM 18 and later name it */
      LLVM_FOLDER "/libLLVM.so",
  };
#undef VERSION
#undef TEXT
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  enum { COUNT = sizeof llvm_call_names / sizeof *llvm_call_names };
  _Static_assert(sizeof tirc_llvm_calls == COUNT * sizeof(void *), "a field a name");
  void *at[COUNT];
  for (int i = 0; library && i < COUNT; i++) {
    at[i] = dlsym(library, llvm_call_names[i]);
    if (!at[i]) missing = llvm_call_names[i];
  }
  if (!library) missing = names[0];
  if (!missing) memcpy(&tirc_llvm_calls, at, sizeof at);
}

void tirc_llvm_load(Tirc *c) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  if (missing)
    tirc_fail(c, (Loc){0}, "codegen",
              "install LLVM " LLVM_VERSION_STRING "'s shared library (Debian: libllvm19)",
              "LLVM's library cannot be loaded: no %s", missing);
}
