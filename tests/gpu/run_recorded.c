/* run_recorded DEVICE|emulate [--filter TEXT] [--size N] [--every N] [--from N] [--to N] [--limit
 *     S] [--against compiled] [--words FILE] [--by COMMAND] SCHEDULES.jsonl INTRINSICS.json
 * [PROGRAMS.json]
 *
 * Do recorded schedules for GPUs compute on a device, or on the emulator, what their programs do?
 * One JSON object a line: its `name`, the `program` by its name in PROGRAMS.json, or its text, and
 * the `schedule`. Scripts of intrinsics that a schedule names run before it; a schedule that
 * defines apply_trace has it called. Extents that are symbols get N (61), other scalars 1. What a
 * target or the device does not hold is said and counted apart. It takes minutes, most of them for
 * what is right: one run of the interpreter a program. For large ones, --against compiled takes the
 * program's own machine code for the interpreter (of those for a processor), and lets numbers
 * differ by 1e-4 of the largest one, in programs of float16 by 0.05.
 *
 * Each runs in a process of its own, which is ended after S (60) seconds of processor time, or ten
 * times as long by the clock: a driver that does not come to an end, or crashes, costs one
 * schedule. pocl builds a kernel when it first runs, and its loops over the threads of a block,
 * written out once a barrier, may take it hours: POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable leaves that
 * out.
 *
 * Told to stop (SIGTERM, Ctrl-C), it says what it has counted.
 *
 * With cuda-source for DEVICE nothing runs: clang compiles what is emitted, with the words of FILE.
 * With ptx, LLVM does. --by COMMAND has the path of either for its last argument: "ptxas
 * -arch=sm_80 -o /dev/null" and "nvcc -arch=sm_80 -x cu -ptx -o /dev/null" are such commands.
 * --every N takes one in N, --from N and --to N those from one number on and before another. */
#include "runtime/tirc.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PARAMS = 32, MOST_WORDS = 2000 };

typedef struct Options {
  const char *device, *filter, *words;
  int64_t size, every, from, to, seconds;
  bool compiles;  /* programs do not run */
  bool is_source; /* CUDA C is what is compiled, not PTX */
  bool by_code;   /* the program's machine code says what is right */
  char by[512];   /* the command, or none */
  struct json_object *programs, *intrinsics;
} Options;

typedef struct Program { /* the last one, with what it computes */
  char *text;
  tirc_module *m;
  int n, n_symbols;
  const tirc_param *params;
  tirc_symbol symbols[MOST_PARAMS];
  tirc_argument args[MOST_PARAMS];
  tirc_reference *reference; /* NULL: `made` has it */
  tirc_argument made[MOST_PARAMS];
} Program;

typedef enum Outcome { RIGHT, BEYOND, REFUSED, LATE, WRONG, OUTCOMES } Outcome;
static const char *const outcome_names[OUTCOMES] = {
    [RIGHT] = "right",
    [BEYOND] = "beyond its limits", /* the target's or the device's */
    [REFUSED] = "refused",
    [LATE] = "not done in time",
    [WRONG] = "WRONG"};

typedef struct Verdict { /* as the process of a schedule writes it */
  Outcome outcome;
  int limit; /* a row of `limits`, or -1 */
  char words[MOST_WORDS];
} Verdict;

/* What a target or a device does not hold, by the words of its message. */
static const struct {
  const char *in_message, *says;
} limits[] = {{"bytes of shared memory", "shared memory of a block"},
              {"threads, and the device", "threads of a block"},
              {"threads of a block", "threads of a block"},
              {"has no T.", "no word for it in the language"},
              {"", "another limit"}};
enum { LIMITS = sizeof limits / sizeof *limits };

typedef struct Counts {
  int of[OUTCOMES], by_limit[LIMITS];
} Counts;

static const char *text_of(struct json_object *object, const char *key) {
  struct json_object *value;
  return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) : NULL;
}

static void free_arrays(int n, tirc_argument *args) {
  for (int i = 0; i < n; i++) tirc_array_free(args[i].array);
}

static void forget(Program *p) {
  tirc_reference_free(p->reference);
  free_arrays(p->n, p->args);
  free_arrays(p->n, p->made);
  tirc_module_free(p->m);
  free(p->text);
  *p = (Program){0};
}

static int copy_arguments(const Program *p, tirc_argument *to, tirc_error **e) {
  int bad = 0;
  for (int i = 0; i < p->n && !bad; i++) {
    to[i] = p->args[i];
    to[i].array = NULL;
    bad = p->args[i].array && tirc_array_copy(p->args[i].array, &to[i].array, e);
  }
  return bad;
}

static int run_on(const tirc_module *m, const char *device, int n, const tirc_argument *args,
                  tirc_error **e) {
  tirc_kernel *k = NULL;
  const int bad =
      tirc_kernel_new_on(m, NULL, device, NULL, &k, e) || tirc_kernel_run(k, NULL, n, args, e);
  tirc_kernel_free(k);
  return bad;
}

/* What is no extent may be an index. */
static bool is_extent(const Program *p, const char *name) {
  for (int i = 0; i < p->n; i++)
    for (int d = 0; p->params[i].is_array && d < p->params[i].ndim; d++)
      if (p->params[i].symbol[d] && strcmp(p->params[i].symbol[d], name) == 0) return true;
  return false;
}

static int draw(const Options *o, Program *p, tirc_error **e) {
  const tirc_symbol *symbols;
  if (tirc_module_params(p->m, NULL, &p->n, &p->params, e) ||
      tirc_module_symbols(p->m, NULL, &p->n_symbols, &symbols, e) || p->n > MOST_PARAMS ||
      p->n_symbols > MOST_PARAMS)
    return 1;
  for (int i = 0; i < p->n_symbols; i++)
    p->symbols[i] = (tirc_symbol){symbols[i].name, o->size, true, symbols[i].in_file};
  for (int i = 0; i < p->n; i++) {
    if (p->params[i].is_array) continue;
    p->args[i].i = is_extent(p, p->params[i].name) ? o->size : 1;
    p->args[i].f = (double)p->args[i].i;
  }
  for (int i = 0; i < p->n; i++) {
    if (!p->params[i].is_array) continue;
    if (tirc_module_array(p->m, NULL, p->n, p->args, p->n_symbols, p->symbols, i, NULL,
                          &p->args[i].array, e))
      return 1;
    tirc_array_fill_random(p->args[i].array, (uint64_t)i);
    if (strstr(p->params[i].dtype, "int")) /* an index, too, must be inside */
      (void)tirc_array_fill_range(p->args[i].array, (uint64_t)i, 0, 3, NULL);
  }
  if (o->by_code && !strstr(p->text, "thread_binding"))
    return copy_arguments(p, p->made, e) || run_on(p->m, "cpu", p->n, p->made, e);
  return tirc_reference_new(p->m, NULL, p->n, p->args, NULL, &p->reference, e) != TIRC_OK;
}

static int take_program(const Options *o, Program *p, const char *text, tirc_error **e) {
  if (p->text && strcmp(p->text, text) == 0) return 0;
  forget(p);
  p->text = strdup(text);
  return tirc_module_parse(text, strlen(text), "program", 0, NULL, &p->m, e) ||
         (!o->compiles && draw(o, p, e));
}

/* The intrinsics that it names, itself, and the call of apply_trace. */
static char *script_of(const Options *o, const char *schedule) {
  char *script = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&script, &size);
  if (!f) return NULL;
  json_object_object_foreach(o->intrinsics, name, text) if (strstr(schedule, name))
      fprintf(f, "%s\n", json_object_get_string(text));
  fprintf(f, "%s\n%s", schedule, strstr(schedule, "def apply_trace") ? "apply_trace(sch)\n" : "");
  fclose(f);
  return script;
}

/* Lowered for a GPU with shuffles. */
static int emulate(const Program *p, const tirc_module *m, const tirc_argument *got,
                   tirc_error **e) {
  tirc_module *lowered = NULL;
  const int bad = tirc_module_lower_for(m, "sm_80", NULL, NULL, &lowered, e) ||
                  tirc_module_emulate(lowered, NULL, p->n, got, NULL, NULL, e);
  tirc_module_free(lowered);
  return bad;
}

/* Against what machine code made: the first element that is too far off in the scale of all. */
static tirc_check check_made(const Program *p, const tirc_argument *got) {
  const double allowed = strstr(p->text, "float16") ? 0.05 : 1e-4;
  for (int i = 0; i < p->n; i++) {
    const tirc_array *made = p->made[i].array;
    double largest = 0;
    for (int64_t k = 0; made && k < tirc_array_count(made); k++)
      largest = fmax(largest, fabs(tirc_array_get(made, k)));
    for (int64_t k = 0; made && k < tirc_array_count(made); k++) {
      const double x = tirc_array_get(got[i].array, k), y = tirc_array_get(made, k);
      if (!(fabs(x - y) <= allowed * largest) && x != y && !(isnan(x) && isnan(y)))
        return (tirc_check){.param = p->params[i].name, .at = k, .got = x, .expected = y};
    }
  }
  return (tirc_check){.ok = true};
}

static int run(const Options *o, const Program *p, const tirc_module *m, tirc_check *check,
               tirc_error **e) {
  tirc_argument got[MOST_PARAMS] = {0};
  const bool emulated = strcmp(o->device, "emulate") == 0;
  int bad = copy_arguments(p, got, e) ||
            (emulated ? emulate(p, m, got, e) : run_on(m, o->device, p->n, got, e));
  if (!p->reference && !bad)
    *check = check_made(p, got);
  else
    bad = bad || tirc_reference_check(p->reference, p->n, got, check, e);
  free_arrays(p->n, got);
  return bad;
}

/* Right is what the command takes; without one, what is PTX. */
static int compile(const Options *o, const tirc_module *m, tirc_check *check, tirc_error **e) {
  char *source = NULL, path[] = "/tmp/run_recorded.XXXXXX", command[600];
  size_t n = 0;
  if (tirc_module_emit(m, o->is_source ? TIRC_EMIT_CUDA : TIRC_EMIT_PTX, "sm_80", NULL, &source, &n,
                       e))
    return 1;
  if (!*o->by) {
    *check = (tirc_check){.ok = strstr(source, ".entry") != NULL, .param = "PTX"};
    tirc_string_free(source);
    return 0;
  }
  const int file = mkstemp(path);
  const bool written = file >= 0 && write(file, source, n) == (ssize_t)n;
  snprintf(command, sizeof command, "%s %s", o->by, path);
  *check = (tirc_check){.ok = written && system(command) == 0, .param = o->by};
  if (file >= 0) close(file), unlink(path);
  tirc_string_free(source);
  return 0;
}

static int limit_of(const tirc_error *e) {
  const bool is_one = strcmp(tirc_error_get(e, TIRC_ERROR_CODE), "limit") == 0;
  for (int i = 0; i < (is_one ? LIMITS : LIMITS - 1); i++)
    if (strstr(tirc_error_message(e), limits[i].in_message)) return i;
  return -1;
}

/* What the emulator finds is a fault of what was made, and nothing that is refused. */
static bool is_found(const tirc_error *e) {
  static const char *const codes[] = {"race",          "barrier",  "shuffle",  "uninitialised",
                                      "out-of-bounds", "overflow", "division", "shared-memory",
                                      "launch",        "codegen",  "internal", "endless"};
  const char *code = tirc_error_get(e, TIRC_ERROR_CODE);
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(code, codes[i]) == 0) return true;
  return false;
}

static Verdict verdict_of(const tirc_check *c, const tirc_error *e) {
  Verdict v = {.outcome = RIGHT, .limit = -1};
  if (!e && !c->ok) {
    v.outcome = WRONG;
    snprintf(v.words, sizeof v.words, "\"%s\" element %lld is %.9g, should be %.9g",
             c->param ? c->param : "?", (long long)c->at, c->got, c->expected);
  } else if (e) {
    if (!is_found(e)) v.limit = limit_of(e);
    v.outcome = is_found(e) ? WRONG : v.limit >= 0 ? BEYOND : REFUSED;
    snprintf(v.words, sizeof v.words, "%s [%s]", tirc_error_message(e),
             tirc_error_get(e, TIRC_ERROR_CODE));
  }
  return v;
}

static void tell(Counts *k, const char *name, const Verdict *v) {
  k->of[v->outcome]++;
  if (v->limit >= 0) k->by_limit[v->limit]++;
  if (v->outcome != RIGHT)
    printf("%s: %s%s\n", name, v->outcome == WRONG ? "WRONG: " : "", v->words);
  fflush(stdout);
}

static volatile sig_atomic_t stopped;
static void stop(int unused) {
  (void)unused;
  stopped = 1;
}

/* --- a schedule ------------------------------------------------------------------------------ */

static Verdict judge(const Options *o, const Program *p, const char *schedule) {
  tirc_module *m = NULL;
  tirc_check c = {.ok = false};
  tirc_error *e = NULL;
  char *script = script_of(o, schedule);
  (void)(tirc_module_schedule_text(p->m, script, strlen(script), "schedule", NULL, &m, &e) ||
         (o->compiles ? compile(o, m, &c, &e) : run(o, p, m, &c, &e)));
  const Verdict v = verdict_of(&c, e);
  tirc_error_free(e);
  tirc_module_free(m);
  free(script);
  return v;
}

/* How a process ended that said nothing. */
static Verdict silent(const Options *o, int status) {
  Verdict v = {.outcome = WRONG, .limit = -1};
  const int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (by == SIGXCPU || by == SIGKILL || by == SIGALRM) {
    v.outcome = LATE;
    snprintf(v.words, sizeof v.words, "not built and run in %lld s%s", (long long)o->seconds,
             by == SIGALRM ? " of processor time, nor in ten times as long" : " of processor time");
  } else {
    snprintf(v.words, sizeof v.words, "its process ended with %s %d", by ? "signal" : "status",
             by ? by : WEXITSTATUS(status));
  }
  return v;
}

/* In a process of its own: what is right is known before it begins. */
static Verdict judge_apart(const Options *o, const Program *p, const char *schedule) {
  int ends[2], status = 0;
  Verdict v;
  const pid_t child = pipe(ends) == 0 ? fork() : -1;
  if (child < 0) return judge(o, p, schedule);
  if (child == 0) {
    const rlim_t s = (rlim_t)o->seconds;
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    setrlimit(RLIMIT_CPU, &(struct rlimit){s, s + 1});
    alarm((unsigned)(10 * o->seconds));
    close(ends[0]);
    v = judge(o, p, schedule);
    _exit(write(ends[1], &v, sizeof v) != sizeof v); /* a pipe takes 4096 bytes at once */
  }
  close(ends[1]);
  ssize_t got = -1;
  while (!stopped && (got = read(ends[0], &v, sizeof v)) < 0 && errno == EINTR) continue;
  const bool said = got == sizeof v;
  close(ends[0]);
  if (stopped) kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return said ? v : silent(o, status);
}

static void run_record(const Options *o, Program *p, struct json_object *r, Counts *k) {
  const char *name = text_of(r, "name"), *schedule = text_of(r, "schedule");
  const char *program = text_of(r, "program");
  if (program && o->programs && text_of(o->programs, program))
    program = text_of(o->programs, program);
  if (!name || !schedule || !program || (o->filter && !strstr(name, o->filter))) return;
  tirc_error *e = NULL;
  const Verdict v =
      take_program(o, p, program, &e) ? verdict_of(NULL, e) : judge_apart(o, p, schedule);
  tirc_error_free(e);
  if (!stopped) tell(k, name, &v);
}

static void tell_all(const Options *o, const Counts *k) {
  if (stopped) printf("stopped before the end\n");
  for (int i = 0; i < LIMITS; i++)
    if (k->by_limit[i]) printf("beyond its limits, %s: %d\n", limits[i].says, k->by_limit[i]);
  printf("on %s:", o->device);
  for (int i = 0; i < OUTCOMES; i++) printf("%s %d %s", i ? "," : "", k->of[i], outcome_names[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  Options o = {
      .device = argc > 1 ? argv[1] : NULL, .size = 61, .every = 1, .to = INT64_MAX, .seconds = 60};
  int i = 2;
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    if (strcmp(argv[i], "--filter") == 0) o.filter = argv[i + 1];
    if (strcmp(argv[i], "--words") == 0) o.words = argv[i + 1];
    if (strcmp(argv[i], "--by") == 0) snprintf(o.by, sizeof o.by, "%s", argv[i + 1]);
    if (strcmp(argv[i], "--against") == 0) {
      if (strcmp(argv[i + 1], "compiled") != 0) break;
      o.by_code = true;
    }
    if (strcmp(argv[i], "--size") == 0) o.size = strtoll(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--every") == 0) o.every = strtoll(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--from") == 0) o.from = strtoll(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--to") == 0) o.to = strtoll(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--limit") == 0) o.seconds = strtoll(argv[i + 1], NULL, 10);
  }
  FILE *f = i + 1 < argc ? fopen(argv[i], "r") : NULL;
  if (!f || !(o.intrinsics = json_object_from_file(argv[i + 1])))
    return fprintf(stderr,
                   "usage: run_recorded DEVICE [--filter TEXT] [--size N] [--every N] [--from N] "
                   "[--to N] [--limit S] [--against compiled] [--words FILE] [--by COMMAND] "
                   "SCHEDULES.jsonl INTRINSICS.json [PROGRAMS.json]\n"),
           2;
  if (i + 2 < argc) o.programs = json_object_from_file(argv[i + 2]);
  o.is_source = o.device && strcmp(o.device, "cuda-source") == 0;
  o.compiles = o.is_source || (o.device && strcmp(o.device, "ptx") == 0);
  if (o.is_source && !*o.by)
    snprintf(
        o.by, sizeof o.by,
        "%s -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent -include "
        "%s --cuda-gpu-arch=sm_80 -O1 -Wall -Werror -S -o /dev/null",
        getenv("CLANG") ? getenv("CLANG") : "clang-19", o.words ? o.words : "cuda_words.h");
  char *line = NULL;
  size_t room = 0;
  Program p = {0};
  Counts k = {0};
  int64_t number = 0;
  const struct sigaction on_stop = {.sa_handler = stop};
  sigaction(SIGTERM, &on_stop, NULL);
  sigaction(SIGINT, &on_stop, NULL);
  while (!stopped && getline(&line, &room, f) > 0) {
    struct json_object *r = json_tokener_parse(line);
    const int64_t at = number++;
    if (r && at >= o.from && at < o.to && at % o.every == 0) run_record(&o, &p, r, &k);
    json_object_put(r);
  }
  tell_all(&o, &k);
  forget(&p);
  free(line);
  fclose(f);
  json_object_put(o.intrinsics);
  json_object_put(o.programs);
  return k.of[WRONG] || stopped ? 1 : 0;
}
