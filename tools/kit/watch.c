/* A kernel that does not end cannot be taken back from a device: a command that runs kernels there
 * is a child, which says what it runs, and which its parent ends. */
#include "kit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const double LIMIT = 60; /* seconds */
enum { SLICE = 50 };            /* milliseconds */

/* What both see. */
struct Watch {
  char kernel[128];
  double since; /* 0: nothing runs that is watched */
};

static void begin(void *self, const char *kernel) {
  struct Watch *w = self;
  w->since = 0;
  snprintf(w->kernel, sizeof w->kernel, "%s", kernel);
  w->since = tirc_seconds();
}

void watch_launch(const Running *o, tirc_launch *launch, bool on) {
  if (!o->watch) return;
  o->watch->since = 0;
  tirc_launch_tell(launch, on ? begin : NULL, o->watch);
}

static double limit_of(const Running *o) { return o->timeout > 0 ? o->timeout : LIMIT; }

static bool is_late(const Running *o) {
  const double since = o->watch->since;
  return since > 0 && tirc_seconds() - since > limit_of(o);
}

/* As the shell would see it. */
static int status_of(const Running *o, int ended) {
  if (WIFEXITED(ended)) return WEXITSTATUS(ended);
  const int number = WTERMSIG(ended);
  if (number == SIGINT) {
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
  }
  return complain(NULL, "%s%sthe process that runs kernels was stopped by signal %d (%s)",
                  *o->watch->kernel ? o->watch->kernel : "", *o->watch->kernel ? ": " : "", number,
                  strsignal(number));
}

/* The pipe closes with the child. */
static int await(const Running *o, pid_t child, int from) {
  struct pollfd p = {.fd = from, .events = POLLIN};
  bool late = false;
  int ended = 0;
  signal(SIGINT, SIG_IGN); /* the terminal tells the child, too */
  while (!(late = is_late(o)) && (poll(&p, 1, SLICE) == 0 || p.revents == 0)) continue;
  if (late) kill(child, SIGKILL);
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  if (!late) return status_of(o, ended);
  return complain("--timeout S gives it longer",
                  "the kernel %s takes longer than %g s: it is ended", o->watch->kernel,
                  limit_of(o));
}

static _Noreturn void work(int (*command)(void *self), void *self, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(BAD);
  int status;
  Trap trap;
  if (TIRC_TRY(memory, trap)) {
    status = command(self);
    TIRC_END(memory, trap);
  } else {
    status = say_that_memory_is_out();
  }
  if ((fflush(stdout) != 0 || ferror(stdout)) && status != BAD)
    status = complain(NULL, "cannot write standard output");
  _exit(status); /* drivers have threads, which what runs at exit would meet */
}

static int run_watched(Running *o, int (*command)(void *self), void *self) {
  int ends[2];
  void *shared =
      mmap(NULL, sizeof *o->watch, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return complain(NULL, "out of memory");
  o->watch = shared;
  fflush(NULL);
  const pid_t parent = getpid();
  const pid_t child = pipe(ends) ? -1 : fork();
  if (child == 0) close(ends[0]), work(command, self, parent);
  int status = BAD;
  if (child < 0) {
    complain(NULL, "no process can be had: %s", strerror(errno));
  } else {
    close(ends[1]);
    status = await(o, child, ends[0]);
    close(ends[0]);
  }
  munmap(shared, sizeof *o->watch);
  o->watch = NULL;
  return status;
}

int run_on_device(Running *o, int (*command)(void *self), void *self) {
  if (!find_device(o)) return BAD;
  return is_on_device(o->device) ? run_watched(o, command, self) : command(self);
}
