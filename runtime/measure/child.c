#define _GNU_SOURCE
#include "child.h"

#include "ir/number.h"
#include "load.h"
#include "runtime/kernel/timer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const double SLICE = 0.5; /* of waiting */

/* --- in the child ----------------------------------------------------------------------------- */

static void limit_memory(int64_t more) {
  (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* what crashes is told, not kept */
#if !defined __SANITIZE_ADDRESS__
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%ld", &pages) == 1) more += (int64_t)pages * sysconf(_SC_PAGESIZE);
  if (f) fclose(f);
  const struct rlimit limit = {(rlim_t)more, (rlim_t)more};
  if (pages > 0) (void)setrlimit(RLIMIT_AS, &limit);
#else
  (void)more;
#endif
}

static _Noreturn void live(const ChildWork *w, int asked, int answers) {
  char byte = 'b';
  limit_memory(w->memory);
  const int quiet = open("/dev/null", O_WRONLY);
  if (quiet >= 0) (void)dup2(quiet, STDERR_FILENO), (void)dup2(quiet, STDOUT_FILENO);
  w->begin(w->self);
  while (write(answers, &byte, 1) == 1 && read(asked, &byte, 1) == 1) w->work(w->self);
  _exit(0);
}

/* --- from outside ----------------------------------------------------------------------------- */

static void forget(Child *k, int *status) {
  close(k->to);
  close(k->from);
  while (waitpid(k->pid, status, 0) < 0 && errno == EINTR) continue;
  k->pid = 0;
}

void tirc_child_end(Child *k) {
  if (!k->pid) return;
  kill(k->pid, SIGKILL);
  forget(k, NULL);
}

bool tirc_child_start(Child *k, const ChildWork *w) {
  int to[2], from[2]; /* to: a socket, since writing to one that is gone raises no signal */
  *k = (Child){0};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to)) return false;
  if (pipe2(from, O_CLOEXEC)) return close(to[0]), close(to[1]), false;
  const pid_t parent = getpid();
  k->pid = fork();
  if (k->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    signal(SIGINT, SIG_IGN); /* the terminal's Ctrl-C is for the parent, which ends this */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    close(to[1]), close(from[0]);
    live(w, to[0], from[1]);
  }
  close(to[0]), close(from[1]);
  k->to = to[1], k->from = from[0];
  if (k->pid > 0) return true;
  close(k->to), close(k->from);
  k->pid = 0;
  return false;
}

void tirc_child_ask(const Child *k) {
  const char byte = 'r';
  if (send(k->to, &byte, 1, MSG_NOSIGNAL) != 1) return; /* it is gone, which await finds */
}

/* As poll: 0 when the time is over. */
static int wait_for(int from, double seconds, void (*waits)(void *self), void *self) {
  const double end = tirc_now() + seconds;
  for (;;) {
    struct pollfd p = {.fd = from, .events = POLLIN};
    const double left = end - tirc_now(), slice = left < SLICE ? left : SLICE;
    const int n = poll(&p, 1, slice > 0 ? (int)(slice * 1000) + 1 : 0);
    if (n > 0 || (n < 0 && errno != EINTR) || left <= 0) return n;
    if (waits) waits(self);
  }
}

/* Seconds of cores that a child has had; 0: unknown. */
static double cores_of(pid_t pid) {
  char path[40], text[600] = "";
  long long user = 0, kernel = 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  const char *rest = strrchr(text, ')');
  if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld", &user,
                      &kernel) != 2)
    return 0;
  return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

bool tirc_child_await(Child *k, double seconds, const char *what, void (*waits)(void *self),
                      void *self, ChildFailure *why) {
  enum { PATIENCE = 4 };
  static const double fair = 0.8; /* a part of the time, on one core */
  char byte;
  int n = 0, status = 0;
  *why = (ChildFailure){"crash", "it could not be started"};
  if (!k->pid) return false;
  const double before = cores_of(k->pid);
  double waited = 0;
  const Load load = tirc_load_start();
  for (int i = 1; i <= PATIENCE; i++) {
    n = wait_for(k->from, seconds, waits, self);
    const double had = cores_of(k->pid) - before;
    waited = i * seconds;
    /* that it sleeps or hangs is no lack of cores */
    if (n != 0 || had >= fair * waited || tirc_load_since(&load, had) < 1 - fair) break;
  }
  if (n > 0 && read(k->from, &byte, 1) == 1) return true;
  if (n <= 0) {
    snprintf(why->code, sizeof why->code, "timeout");
    tirc_snprintf(why->message, sizeof why->message, "%s takes longer than %.3g s", what, waited);
    tirc_child_end(k);
    return false;
  }
  forget(k, &status);
  if (WIFSIGNALED(status))
    snprintf(why->message, sizeof why->message, "%s was stopped by signal %d (%s)", what,
             WTERMSIG(status), strsignal(WTERMSIG(status)));
  else
    snprintf(why->message, sizeof why->message, "%s ends with status %d", what,
             WEXITSTATUS(status));
  return false;
}
