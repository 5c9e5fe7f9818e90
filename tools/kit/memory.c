/* Memory that runs out where nothing can be returned: in LLVM, which is C++. The library says "out
 * of memory" wherever it allocates itself and must end nobody's process; the command ends itself,
 * with the same words and status, before C++ would abort it. The parts of files that it has begun
 * go. */
#include "kit.h"
#include "new_file.h"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Tirc *memory;

static _Noreturn void no_memory(void) {
  tirc_fail(memory, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
}

void *more_room(void *at, int n, size_t size) {
  if (n & (n - 1)) return at;
  void *more = tirc_alloc_array(memory, n ? 2 * (size_t)n : 1, size);
  if (n) memcpy(more, at, (size_t)n * size);
  return more;
}

char *copied(const char *text) { return text ? tirc_strdup(memory, text) : NULL; }

char *keep_text(char *text) {
  if (text) tirc_context_own(memory, text, free);
  return text;
}

FILE *begin_text(char **text, size_t *n) {
  FILE *f = open_memstream(text, n);
  if (!f) no_memory();
  return f;
}

char *end_text(FILE *f, char **text) {
  if (fclose(f) != 0) no_memory();
  return keep_text(*text);
}

static const char *last_words;

int say_that_memory_is_out(void) {
  drop_parts();
  const ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
  (void)written;
  return BAD;
}

static void run_out(void) { _exit(say_that_memory_is_out()); }

static void run_out_in_llvm(void *self, const char *reason, bool crash) {
  (void)self, (void)reason, (void)crash;
  run_out();
}

/* std::set_new_handler and llvm::install_bad_alloc_error_handler, by their names in the object
 * file: C has no others. Where they are not, C++ aborts as it would. */
void end_when_memory_is_out(void) {
  void (*(*set_new_handler)(void (*)(void)))(void);
  void (*install)(void (*)(void *, const char *, bool), void *);
  last_words = speech.json ? "{\"severity\":\"error\",\"status\":2,\"code\":\"memory\","
                             "\"message\":\"out of memory\"}\n"
                           : "tirc: error: out of memory [memory]\n";
  *(void **)&set_new_handler = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
  *(void **)&install =
      dlsym(RTLD_DEFAULT, "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");
  if (set_new_handler) set_new_handler(run_out);
  if (install) install(run_out_in_llvm, NULL);
}

/* What the making of a program needed is free now, and the C library keeps it. */
void give_back_memory(void) {
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}
