#define _GNU_SOURCE
#include "measure.h"
#include "ir/number.h"

#include "compare.h"
#include "load.h"
#include "runtime/kernel/timer.h"
#include "statistics.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

const BedOptions tirc_bed_defaults = {
    .builders = 2, .seconds = 0.02, .hopeless = 4, .build_limit = 6};

static const double SLICE = 0.5;                       /* of waiting */
static const double FIRST_LIMIT = 60, LEAST_LIMIT = 2; /* of seconds that a candidate may run */
static const int64_t MEMORY = (int64_t)2 << 30;        /* beside its arrays */
enum { FEWEST_ROUNDS = 2, FEWEST_WHILE_BUSY = 5 };
static const double OUTDONE = 1.04; /* times as slow as the fastest of a comparison: it is over */

/* What a child writes and its parent reads. */
typedef struct Slot {
  double best; /* asked: what is at most that is checked */
  double own;  /* seconds of cores that the child had when it answered last */
  Samples samples;
  Measured m;
} Slot;

typedef struct Child {
  pid_t pid;    /* 0: none */
  int to, from; /* pipes: a byte asks for a run; a byte answers */
  bool done;
} Child;

struct Bed {
  const tirc_module *program;
  BedOptions options;
  int n_params;
  const tirc_param *params;
  tirc_argument *args;     /* inputs, and what outputs begin with */
  tirc_argument *expected; /* outputs, once the reference has run */
  char *shared;            /* its outputs, one after the other */
  size_t shared_bytes;
  double tolerance_reduction;
  Child reference;
  Slot *reference_slot;
  bool has_expected;
  const BedListener *listener; /* of the call that is going on, or NULL */
};

static void put(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from); }

static void *share(size_t bytes) {
  void *p =
      mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static size_t bytes_of(const tirc_array *a) {
  DLTensor t;
  tirc_array_tensor((tirc_array *)(uintptr_t)a, &t);
  return (size_t)tirc_array_count(a) * (size_t)((t.dtype.bits + 7) / 8);
}

/* --- in the child ------------------------------------------------------------------------------
 */

typedef struct Candidate {
  Bed *bed;
  const tirc_module *module;
  Slot *slot;
  tirc_kernel *kernel;
  tirc_executor *executor;
  tirc_argument *args; /* outputs of its own, inputs of the bed */
} Candidate;

static void fail(Slot *s, const char *code, const char *message) {
  s->m.seconds = (double)INFINITY;
  put(s->m.code, sizeof s->m.code, code);
  put(s->m.message, sizeof s->m.message, message);
}

/* A failure that was told before it was looked into, since the process may be ended meanwhile. */
static void withdraw(Slot *s) {
  *s->m.code = *s->m.message = 0;
  s->m.seconds = tirc_median(s->m.n_samples, s->m.samples);
}

/* By the address of the error: it may be set by what makes `status`, in the same call. */
static bool succeeded(Slot *s, tirc_status status, tirc_error **e) {
  if (status == TIRC_OK) return true;
  fail(s, tirc_error_get(*e, TIRC_ERROR_CODE), tirc_error_message(*e));
  tirc_error_free(*e);
  *e = NULL;
  return false;
}

/* Outputs as they were before any run. */
static bool own_outputs(Candidate *c) {
  const Bed *b = c->bed;
  c->args = calloc((size_t)b->n_params + 1, sizeof *c->args);
  for (int i = 0; c->args && i < b->n_params; i++) {
    tirc_error *e = NULL;
    c->args[i] = b->args[i];
    if (!b->params[i].is_written || !b->args[i].array) continue;
    if (!succeeded(c->slot, tirc_array_copy(b->args[i].array, &c->args[i].array, &e), &e))
      return false;
  }
  return c->args != NULL;
}

static bool build(Candidate *c) {
  tirc_error *e = NULL;
  const double start = tirc_now();
  const tirc_status status =
      tirc_kernel_new(c->module, NULL, c->bed->options.target, &c->kernel, &e);
  c->slot->m.build = tirc_now() - start;
  return succeeded(c->slot, status, &e);
}

static double call(void *self, int times) {
  tirc_launch *l = self;
  const double start = tirc_now();
  for (int i = 0; i < times; i++)
    if (tirc_launch_run(l)) return (double)INFINITY; /* memory for workspace is out */
  return (tirc_now() - start) / times;
}

static double now(void *self) {
  (void)self;
  return tirc_now();
}

static const char no_memory[] = "memory for its workspace is out";

bool tirc_is_hopeless(const Measured *m) { return strcmp(m->code, TIRC_HOPELESS) == 0; }

/* What its samples amount to. */
static void conclude(Slot *s) {
  const Samples *from = &s->samples;
  Measured *m = &s->m;
  char message[sizeof m->message];
  m->n_samples = from->n;
  memcpy(m->samples, from->at, sizeof from->at);
  m->seconds = tirc_median(m->n_samples, m->samples);
  if (!from->is_bound) return;
  tirc_snprintf(message, sizeof message,
                "the fastest of %d calls took %.4g ms, and the best so far takes %.4g ms", from->n,
                1e3 * tirc_fastest(from->n, from->at), 1e3 * s->best);
  fail(s, TIRC_HOPELESS, message);
}

static void take_samples(Candidate *c, tirc_launch *l) {
  const BedOptions *o = &c->bed->options;
  const Sampling s = {.seconds = o->seconds,
                      .hopeless = o->hopeless,
                      .best = c->slot->best,
                      .call = call,
                      .now = now,
                      .self = l};
  if (tirc_take_samples(&s, &c->slot->samples))
    conclude(c->slot);
  else
    fail(c->slot, "memory", no_memory);
}

/* The reference's results, out of the memory that all processes share. */
static void take_expected(Bed *b) {
  const char *at = b->shared;
  for (int i = 0; i < b->n_params && !b->has_expected; i++) {
    if (!b->expected[i].array) continue;
    memcpy(tirc_array_data(b->expected[i].array), at, bytes_of(b->expected[i].array));
    at += bytes_of(b->expected[i].array);
  }
  b->has_expected = true;
}

/* What differs from the program's own result may still be right: a rounding or a comparison made
 * another step of sums in another order. The reference with bounds, which is slow, knows. */
static bool is_right_by_bounds(const Bed *b, const tirc_argument *got) {
  tirc_reference *r = NULL;
  tirc_check c = {.ok = false};
  const bool known = !tirc_reference_new(b->program, NULL, b->n_params, b->args, NULL, &r, NULL) &&
                     !tirc_reference_check(r, b->n_params, got, &c, NULL);
  tirc_reference_free(r);
  return known && (c.ok || (c.too_undecided && c.error <= c.allowed));
}

/* Once more, from the same start as the reference. */
static void check(Candidate *c) {
  Bed *b = c->bed;
  Candidate again = *c;
  tirc_launch *l;
  tirc_error *e = NULL;
  if (!own_outputs(&again)) return;
  take_expected(b); /* which may have come after this process */
  if (!succeeded(c->slot, tirc_launch_new(c->kernel, c->executor, b->n_params, again.args, &l, &e),
                 &e))
    return;
  const bool ran = tirc_launch_run(l) == 0;
  tirc_launch_free(l);
  if (!ran) {
    fail(c->slot, "memory", no_memory);
    return;
  }
  c->slot->m.checked = true;
  for (int i = 0; i < b->n_params; i++) {
    if (!b->params[i].is_written || !b->args[i].array) continue;
    /* both round: twice what one may differ by */
    const double allowed = 2 * tirc_allowed_error(b->params[i].dtype, b->tolerance_reduction);
    const ArrayDifference d =
        tirc_array_difference(again.args[i].array, b->expected[i].array, allowed, NULL, NULL);
    if (d.worst <= allowed) continue;
    char message[sizeof c->slot->m.message];
    tirc_snprintf(message, sizeof message, "\"%s\" element %lld is %g, should be %g",
                  b->params[i].name, (long long)d.at, d.got, d.expected);
    fail(c->slot, "wrong-result", message);
    if (is_right_by_bounds(b, again.args)) withdraw(c->slot);
    break;
  }
}

static void run(Candidate *c) {
  const Bed *b = c->bed;
  tirc_launch *l = NULL;
  tirc_error *e = NULL;
  if (!c->executor &&
      !succeeded(c->slot, tirc_executor_new(b->options.threads, &c->executor, &e), &e))
    return;
  if (!c->args && !own_outputs(c)) return;
  if (!succeeded(c->slot, tirc_launch_new(c->kernel, c->executor, b->n_params, c->args, &l, &e),
                 &e))
    return;
  take_samples(c, l);
  if (!*c->slot->m.code && c->slot->m.seconds <= c->slot->best && !c->slot->m.checked) check(c);
  tirc_launch_free(l);
}

/* The program itself: one run, and its outputs into memory that the parent sees. */
static void run_reference(Candidate *c) {
  const Bed *b = c->bed;
  tirc_launch *l = NULL;
  tirc_error *e = NULL;
  char *at = b->shared;
  if (!succeeded(c->slot, tirc_executor_new(b->options.threads, &c->executor, &e), &e) ||
      !own_outputs(c) ||
      !succeeded(c->slot, tirc_launch_new(c->kernel, c->executor, b->n_params, c->args, &l, &e),
                 &e))
    return;
  c->slot->m.seconds = call(l, 1);
  if (!isfinite(c->slot->m.seconds)) {
    fail(c->slot, "memory", no_memory);
    return;
  }
  for (int i = 0; i < b->n_params; i++) {
    if (!b->params[i].is_written || !b->args[i].array) continue;
    memcpy(at, tirc_array_data(c->args[i].array), bytes_of(c->args[i].array));
    at += bytes_of(c->args[i].array);
  }
}

static void limit_memory(const Bed *b) {
  (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* what crashes is told, not kept */
#if !defined __SANITIZE_ADDRESS__
  long pages = 0;
  int64_t bytes = MEMORY;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%ld", &pages) == 1) bytes += (int64_t)pages * sysconf(_SC_PAGESIZE);
  if (f) fclose(f);
  for (int i = 0; i < b->n_params; i++)
    if (b->args[i].array) bytes += 4 * (int64_t)bytes_of(b->args[i].array);
  const struct rlimit limit = {(rlim_t)bytes, (rlim_t)bytes};
  if (pages > 0) (void)setrlimit(RLIMIT_AS, &limit);
#else
  (void)b;
#endif
}

static _Noreturn void live(Candidate *c, int asked, int answers, bool reference) {
  char byte = 'b';
  limit_memory(c->bed);
  const int quiet = open("/dev/null", O_WRONLY);
  if (quiet >= 0) (void)dup2(quiet, STDERR_FILENO), (void)dup2(quiet, STDOUT_FILENO);
  bool ok = build(c);
  c->slot->own = tirc_own_seconds();
  while (write(answers, &byte, 1) == 1 && read(asked, &byte, 1) == 1) {
    if (ok && reference)
      run_reference(c);
    else if (ok)
      run(c);
    c->slot->own = tirc_own_seconds();
  }
  _exit(0);
}

/* --- children from outside ---------------------------------------------------------------------
 */

static void end_child(Child *k) {
  if (!k->pid) return;
  kill(k->pid, SIGKILL);
  close(k->to);
  close(k->from);
  while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR) continue;
  k->pid = 0;
}

static bool start_child(Child *k, Bed *b, const Module *m, Slot *slot, bool reference) {
  int to[2], from[2]; /* to: a socket, since writing to one that is gone raises no signal */
  *k = (Child){0};
  slot->m = (Measured){.seconds = (double)INFINITY};
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
    Candidate c = {.bed = b, .slot = slot};
    c.module = m ? tirc_api_module(m->c, m, &(Sources){0}) : b->program;
    live(&c, to[0], from[1], reference);
  }
  close(to[0]), close(from[1]);
  k->to = to[1], k->from = from[0];
  if (k->pid > 0) return true;
  close(k->to), close(k->from);
  k->pid = 0;
  return false;
}

/* As poll: 0 when the time is over. */
static int wait_for(const Bed *b, int from, double seconds) {
  const double end = tirc_now() + seconds;
  for (;;) {
    struct pollfd p = {.fd = from, .events = POLLIN};
    const double left = end - tirc_now(), slice = left < SLICE ? left : SLICE;
    const int n = poll(&p, 1, slice > 0 ? (int)(slice * 1000) + 1 : 0);
    if (n > 0 || (n < 0 && errno != EINTR) || left <= 0) return n;
    if (b->listener && b->listener->waits) b->listener->waits(b->listener->self);
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

/* So long; longer for what others left no core to run on: it had none, and they had one. *waited:
 * how long, where it did not answer. */
static int wait_fairly(const Bed *b, const Child *k, double seconds, double *waited) {
  enum { PATIENCE = 4 };
  static const double fair = 0.8; /* a part of the time, on one core */
  const double before = cores_of(k->pid);
  const Load load = tirc_load_start();
  for (int i = 1;; i++) {
    const int n = wait_for(b, k->from, seconds);
    const double had = cores_of(k->pid) - before;
    *waited = i * seconds;
    if (n != 0 || i == PATIENCE || had >= fair * *waited) return n;
    if (tirc_load_since(&load, had) < 1 - fair) return n; /* it sleeps, or hangs */
  }
}

/* Waits for its answer; otherwise it is ended, and its slot says why. */
static bool await(const Bed *b, Child *k, Slot *slot, double seconds, const char *what) {
  char byte, message[120];
  if (!k->pid) return false;
  const int n = wait_fairly(b, k, seconds, &seconds);
  if (n > 0 && read(k->from, &byte, 1) == 1) return true;
  int status = 0;
  if (n <= 0) {
    tirc_snprintf(message, sizeof message, "%s takes more than %.3g s", what, seconds);
    end_child(k);
    if (!*slot->m.code) fail(slot, "timeout", message);
    return false;
  }
  close(k->to), close(k->from);
  while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR) continue;
  k->pid = 0;
  if (WIFSIGNALED(status))
    snprintf(message, sizeof message, "%s ends by signal %d (%s)", what, WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else
    snprintf(message, sizeof message, "%s ends with status %d", what, WEXITSTATUS(status));
  fail(slot, "crash", message);
  return false;
}

static void ask(const Child *k) {
  const char byte = 'r';
  if (send(k->to, &byte, 1, MSG_NOSIGNAL) != 1) return; /* it is gone, which await finds */
}

/* --- the bed -----------------------------------------------------------------------------------
 */

typedef struct Making {
  Bed *bed;
  int n;
  const tirc_param *params;
} Making;

static void refuse(Tirc *c, void *self) {
  const char *name = self;
  tirc_fail(c, (Loc){0}, "argument", tirc_format(c, "give it one: -D %s=128", name),
            "%s has no value, and what has no size cannot be measured", name);
}

static tirc_status need_value(const char *name, tirc_error **error) {
  return tirc_api_scratch(refuse, (void *)(uintptr_t)name, NULL, error);
}

static tirc_status fill(const BedOptions *o, const char *param, tirc_array *a, uint64_t seed,
                        tirc_error **error) {
  for (int k = o->n_ranges - 1; k >= 0; k--) /* the last one given, as everywhere */
    if (strcmp(o->ranges[k].param, param) == 0)
      return tirc_array_fill_range(a, seed, o->ranges[k].low, o->ranges[k].high, error);
  tirc_array_fill_random(a, seed);
  return TIRC_OK;
}

static tirc_status make_arrays(Bed *b, tirc_error **error) {
  const BedOptions *o = &b->options;
  tirc_symbol *symbols = calloc((size_t)o->n_symbols + 1, sizeof *symbols);
  tirc_status status = symbols ? TIRC_OK : tirc_api_no_memory(error);
  if (symbols && o->n_symbols) memcpy(symbols, o->symbols, (size_t)o->n_symbols * sizeof *symbols);
  for (int i = 0; i < b->n_params && status == TIRC_OK; i++) {
    const tirc_param *p = &b->params[i];
    if (!p->is_array) {
      int k = 0;
      while (k < o->n_symbols && strcmp(symbols[k].name, p->name) != 0) k++;
      if (k == o->n_symbols) status = need_value(p->name, error);
      if (k < o->n_symbols)
        b->args[i].i = symbols[k].value, b->args[i].f = (double)symbols[k].value;
    }
    if (!p->is_array || status != TIRC_OK) continue;
    status = tirc_module_array(b->program, NULL, b->n_params, b->args, o->n_symbols, symbols, i,
                               NULL, &b->args[i].array, error);
    if (status == TIRC_OK)
      status = fill(o, p->name, b->args[i].array, (uint64_t)(o->seed * 1000 + i), error);
  }
  free(symbols);
  return status;
}

static tirc_status make_expected(Bed *b, tirc_error **error) {
  tirc_status status = TIRC_OK;
  for (int i = 0; i < b->n_params && status == TIRC_OK; i++) {
    if (!b->params[i].is_written || !b->args[i].array) continue;
    b->shared_bytes += bytes_of(b->args[i].array);
    status = tirc_array_copy(b->args[i].array, &b->expected[i].array, error);
  }
  b->shared = share(b->shared_bytes);
  return !b->shared ? tirc_api_no_memory(error) : status;
}

static tirc_status need_symbols(const Bed *b, tirc_error **error) {
  int n;
  const tirc_symbol *symbols;
  tirc_status status = tirc_module_symbols(b->program, NULL, &n, &symbols, error);
  for (int i = 0; i < n && status == TIRC_OK; i++) {
    bool known = false;
    for (int k = 0; k < b->options.n_symbols; k++)
      known |= strcmp(symbols[i].name, b->options.symbols[k].name) == 0;
    if (!known) status = need_value(symbols[i].name, error);
  }
  return status;
}

tirc_status tirc_bed_new(const tirc_module *program, const BedOptions *options, Bed **out,
                         tirc_error **error) {
  Bed *b = calloc(1, sizeof *b);
  tirc_cost cost = {.reduction = 1};
  if (!b) return tirc_api_no_memory(error);
  b->program = program;
  b->options = *options;
  tirc_status status = tirc_module_params(program, NULL, &b->n_params, &b->params, error);
  if (status == TIRC_OK) status = need_symbols(b, error);
  if (status == TIRC_OK) {
    b->args = calloc((size_t)b->n_params + 1, sizeof *b->args);
    b->expected = calloc((size_t)b->n_params + 1, sizeof *b->expected);
    b->reference_slot = share(sizeof *b->reference_slot);
    status = b->args && b->expected && b->reference_slot ? make_arrays(b, error)
                                                         : tirc_api_no_memory(error);
  }
  if (status == TIRC_OK) status = make_expected(b, error);
  if (status == TIRC_OK)
    status = tirc_module_call_cost(program, NULL, b->n_params, b->args, &cost, error);
  b->tolerance_reduction = cost.reduction;
  if (status == TIRC_OK)
    *out = b;
  else
    tirc_bed_free(b);
  return status;
}

static void free_arrays(const Bed *b, tirc_argument *args) {
  for (int i = 0; args && i < b->n_params; i++) tirc_array_free(args[i].array);
  free(args);
}

void tirc_bed_free(Bed *b) {
  if (!b) return;
  end_child(&b->reference);
  free_arrays(b, b->args);
  free_arrays(b, b->expected);
  if (b->shared) munmap(b->shared, b->shared_bytes ? b->shared_bytes : 1);
  if (b->reference_slot) munmap(b->reference_slot, sizeof *b->reference_slot);
  free(b);
}

static void refuse_program(Tirc *c, void *self) {
  const Measured *m = self;
  tirc_fail(c, (Loc){0}, m->code, NULL, "the program itself does not run, with random arrays: %s",
            m->message);
}

void tirc_bed_start(Bed *b) {
  if (b->has_expected || b->reference.pid) return;
  if (start_child(&b->reference, b, NULL, b->reference_slot, true)) ask(&b->reference);
}

/* Waits for the results of the program. */
static tirc_status need_expected(Bed *b, tirc_error **error) {
  if (b->has_expected) return TIRC_OK;
  const double limit = 10 * b->options.build_limit;
  bool ok = await(b, &b->reference, b->reference_slot, limit, "compiling");
  if (ok) ok = await(b, &b->reference, b->reference_slot, FIRST_LIMIT, "the run");
  end_child(&b->reference);
  if (!ok || !isfinite(b->reference_slot->m.seconds))
    return tirc_api_scratch(refuse_program, &b->reference_slot->m, NULL, error);
  take_expected(b);
  return TIRC_OK;
}

/* --- measuring ---------------------------------------------------------------------------------
 */

static bool goes_on(const BedListener *l) { return !l || !l->go_on || l->go_on(l->self); }

/* Several at a time, in order; all are built or have failed when it returns. */
static void build_all(Bed *b, int n, const Module *const *candidates, Child *children,
                      Slot *slots) {
  const int builders = b->options.builders > 0 ? b->options.builders : 1;
  for (int i = 0, done = 0; done < n; done++) {
    while (i < n && i < done + builders) {
      if (!start_child(&children[i], b, candidates[i], &slots[i], false))
        fail(&slots[i], "interrupted", "a process for it could not be had");
      i++;
    }
    (void)await(b, &children[done], &slots[done], b->options.build_limit, "compiling");
  }
}

/* How long a run with its samples may take. */
static double limit_of(const Bed *b, double best) {
  const double known = isfinite(best) ? best : b->reference_slot->m.seconds;
  const double limit = 40 * known + LEAST_LIMIT;
  return limit < FIRST_LIMIT ? limit : FIRST_LIMIT;
}

/* It was ended in the middle of calls each of which was too slow: that is a bound, too. */
static void conclude_early(const Bed *b, Slot *slot) {
  Samples *o = &slot->samples;
  if (strcmp(slot->m.code, "timeout") != 0 || !isfinite(slot->best)) return;
  if (!o->n || !(tirc_fastest(o->n, o->at) > b->options.hopeless * slot->best)) return;
  o->is_bound = true;
  conclude(slot);
}

static void time_one(Bed *b, Child *k, Slot *slot, double best) {
  if (!k->pid || *slot->m.code) return;
  slot->best = best;
  slot->samples.n = 0;
  ask(k);
  if (!await(b, k, slot, limit_of(b, best), "the run")) conclude_early(b, slot);
}

/* What others use while children are timed, which are built and wait by then. */
typedef struct Watch {
  Load load;
  double ended; /* seconds of cores that children had had that were gone by then */
} Watch;

static Watch start_watch(void) {
  return (Watch){.load = tirc_load_start(), .ended = tirc_children_seconds()};
}

/* Children that have ended count as such, with what building them took. */
static double others_of(const Watch *w, int n, const Child *children, const Slot *slots,
                        const double *built) {
  double ours = tirc_children_seconds() - w->ended;
  for (int i = 0; i < n; i++) ours += (children[i].pid ? slots[i].own : 0) - built[i];
  return tirc_load_since(&w->load, ours);
}

tirc_status tirc_bed_measure(Bed *b, int n, const Module *const *candidates, double best,
                             Measured *out, const BedListener *listener, tirc_error **error) {
  Child *children = calloc((size_t)n + 1, sizeof *children);
  double *built = calloc((size_t)n + 1, sizeof *built);
  const size_t bytes = (size_t)n * sizeof(Slot);
  Slot *slots = share(bytes);
  tirc_status status = children && slots && built ? TIRC_OK : tirc_api_no_memory(error);
  b->listener = listener;
  tirc_bed_start(b);
  if (status == TIRC_OK) build_all(b, n, candidates, children, slots);
  if (status == TIRC_OK) status = need_expected(b, error);
  for (int i = 0; i < n && status != TIRC_OK && children; i++) end_child(&children[i]);
  for (int i = 0; i < n && status == TIRC_OK; i++) built[i] = children[i].pid ? slots[i].own : 0;
  const Watch watch = start_watch();
  for (int i = 0; i < n && status == TIRC_OK; i++) {
    if (goes_on(listener))
      time_one(b, &children[i], &slots[i], best);
    else
      fail(&slots[i], "interrupted", "");
    end_child(&children[i]);
    out[i] = slots[i].m;
    out[i].load = others_of(&watch, n, children, slots, built);
    if (out[i].seconds < best) best = out[i].seconds;
    if (listener && listener->told) listener->told(listener->self, i, &out[i]);
  }
  b->listener = NULL;
  free(children);
  free(built);
  if (slots) munmap(slots, bytes ? bytes : 1);
  return status;
}

/* Whether a candidate's fastest turn is slower than what another usually takes. */
static bool is_outdone(const Measured *m, int n, int i, double load) {
  const int fewest = load > tirc_busy_cores ? FEWEST_WHILE_BUSY : FEWEST_ROUNDS;
  double fastest = (double)INFINITY;
  for (int k = 0; k < n; k++)
    if (m[k].n_samples) fastest = fmin(fastest, tirc_median(m[k].n_samples, m[k].samples));
  const double own = tirc_fastest(m[i].n_samples, m[i].samples);
  return m[i].n_samples >= fewest && own > OUTDONE * fastest;
}

/* One turn of each that is not outdone. */
static void take_turns(Bed *b, int n, Child *children, Slot *slots, Measured *out, double load,
                       const BedListener *listener) {
  for (int i = 0; i < n; i++) {
    if (is_outdone(out, n, i, load)) continue;
    time_one(b, &children[i], &slots[i], (double)INFINITY);
    if (!isfinite(slots[i].m.seconds)) continue;
    out[i].samples[out[i].n_samples++] = slots[i].m.seconds;
    if (listener && listener->told) listener->told(listener->self, i, &slots[i].m);
  }
}

tirc_status tirc_bed_compare(Bed *b, int n, const Module *const *candidates, int rounds,
                             int most_rounds, Measured *out, const BedListener *listener,
                             tirc_error **error) {
  Child *children = calloc((size_t)n + 1, sizeof *children);
  double *built = calloc((size_t)n + 1, sizeof *built), load = 0;
  const size_t bytes = (size_t)n * sizeof(Slot);
  Slot *slots = share(bytes);
  b->listener = listener;
  tirc_bed_start(b);
  tirc_status status =
      children && slots && built ? need_expected(b, error) : tirc_api_no_memory(error);
  if (most_rounds > MOST_SAMPLES) most_rounds = MOST_SAMPLES;
  if (status == TIRC_OK) build_all(b, n, candidates, children, slots);
  for (int i = 0; i < n && status == TIRC_OK; i++) {
    out[i] = (Measured){0};
    built[i] = children[i].pid ? slots[i].own : 0;
  }
  const Watch watch = start_watch();
  for (int r = 0; r < most_rounds && status == TIRC_OK && goes_on(listener); r++) {
    if (r >= rounds && load <= tirc_busy_cores) break;
    take_turns(b, n, children, slots, out, load, listener);
    load = others_of(&watch, n, children, slots, built);
  }
  for (int i = 0; i < n && status == TIRC_OK; i++) {
    end_child(&children[i]);
    const Measured turns = out[i];
    out[i] = slots[i].m;
    out[i].load = load;
    if (*out[i].code) continue;
    out[i].n_samples = turns.n_samples;
    memcpy(out[i].samples, turns.samples, sizeof turns.samples);
    out[i].seconds = tirc_median(turns.n_samples, turns.samples);
  }
  b->listener = NULL;
  free(children);
  free(built);
  if (slots) munmap(slots, bytes ? bytes : 1);
  return status;
}
