/* Ctrl-C while something is measured or checked. */
#include "kit.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number) {
  static const char words[] = "\nending; Ctrl-C again ends at once\n";
  signal(signal_number, end_by_signal);
  interrupted = 1;
  if (write(STDERR_FILENO, words, sizeof words - 1) < 0) return;
}

/* The first one ends the check or the measuring, and what there is gets printed; compiled code runs
 * to its end, which the second one does not wait for. */
void catch_interrupts(void) {
  interrupted = 0;
  struct sigaction a = {.sa_handler = interrupt};
  sigaction(SIGINT, &a, NULL);
  sigaction(SIGTERM, &a, NULL); /* how batch systems end a job */
  sigaction(SIGHUP, &a, NULL);
}

bool was_interrupted(void) { return interrupted; }

bool may_go_on(void *self) {
  (void)self;
  return !was_interrupted();
}
