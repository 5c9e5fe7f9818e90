#define _GNU_SOURCE /* wait4 */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void *tirc_shared_memory(size_t bytes) {
  void *at = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

void tirc_shared_free(void *at, size_t bytes) {
  if (at) munmap(at, bytes ? bytes : 1);
}

typedef struct Told {
  bool is_done; /* else what was raised: */
  int status, line, column;
  DiagCode code;
  char file[1024], message[3072], hint[896];
} Told;

static void tell(char *to, size_t room, const char *text) {
  if (text) strncpy(to, text, room - 1);
}

static _Noreturn void live(Tirc *c, void (*body)(Tirc *c, void *self), void *self, Told *told) {
  Trap trap;
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody else wants what it makes */
  if (TIRC_TRY(c, trap)) {
    body(c, self);
    told->is_done = true;
    _exit(0);
  }
  told->status = c->diag.status;
  told->code = c->diag.code;
  told->line = c->diag.loc.line;
  told->column = c->diag.loc.column;
  tell(told->file, sizeof told->file, c->diag.loc.file);
  tell(told->message, sizeof told->message, c->diag.message);
  tell(told->hint, sizeof told->hint, c->diag.hint);
  _exit(1);
}

static _Noreturn void raise_here(Tirc *c, const Told *from) {
  c->diag =
      (Diag){.status = from->status,
             .code = from->code,
             .loc = {*from->file ? tirc_strdup(c, from->file) : NULL, from->line, from->column},
             .message = tirc_strdup(c, from->message),
             .hint = *from->hint ? tirc_strdup(c, from->hint) : NULL};
  tirc_throw(c);
}

bool tirc_in_child(Tirc *c, void (*body)(Tirc *c, void *self), void *self, int64_t *peak) {
  Told *told = tirc_shared_memory(sizeof *told), kept;
  if (!told) return false;
  const pid_t child = fork();
  if (child == 0) live(c, body, self, told);
  int status = 0;
  struct rusage used = {0};
  while (child > 0 && wait4(child, &status, 0, &used) < 0 && errno == EINTR) continue;
  kept = *told;
  tirc_shared_free(told, sizeof *told);
  if (child < 0) return false;
  if (peak) *peak = (int64_t)used.ru_maxrss * 1024;
  if (kept.is_done) return true;
  if (kept.status) raise_here(c, &kept);
  if (WIFSIGNALED(status))
    tirc_fail(c, (Loc){0}, CODE_CHILD, NULL,
              "the process that makes code was ended by signal %d (%s)", WTERMSIG(status),
              strsignal(WTERMSIG(status)));
  tirc_fail(c, (Loc){0}, CODE_CHILD, NULL,
            "the process that makes code ended with its work undone");
}

int tirc_begin_child(Tirc *c, void (*body)(Tirc *c, void *self), void *self) {
  Told untold = {0};
  const pid_t child = fork();
  if (child == 0) live(c, body, self, &untold);
  return child;
}

int64_t tirc_end_child(int child) {
  struct rusage used = {0};
  while (child > 0 && wait4(child, NULL, 0, &used) < 0 && errno == EINTR) continue;
  return (int64_t)used.ru_maxrss * 1024;
}
