/* The `tirc` command: finds the subcommand, reads its options, runs it. */
#include "ir/stack.h"
#include "tools/bench/bench.h"
#include "tools/command/command.h"
#include "tools/doctor/doctor.h"
#include "tools/lesson/lesson.h"
#include "tools/records/db.h"
#include "tools/records/learn.h"
#include "tools/records/results.h"
#include "tools/repl/repl.h"
#include "tools/step/step.h"
#include "tools/study/study.h"
#include "tools/teach/teach.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What each command is called with: its options, which have that size. */
#define COMMAND(name, type, ...)                                                                   \
  static int start_##name(void *options) { return cmd_##name((type *)options); }
#include "tools/kit/commands.def"
#undef COMMAND

static const struct {
  int (*run)(void *options);
  size_t size;
} runs[] = {
#define COMMAND(name, type, ...) {start_##name, sizeof(type)},
#include "tools/kit/commands.def"
#undef COMMAND
};

static const size_t places[] = {
#define OPTION(name, letter, kind, type, field, ...) offsetof(type, field),
#define MORE OPTION
#define COMMON(...) 0,
#include "tools/kit/options.def"
#undef COMMON
#undef MORE
#undef OPTION
};

static int run_command(int argc, char **argv) {
  if (argc < 2) {
    print_usage(stderr);
    return BAD;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    print_usage(stdout);
    return DONE;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("tirc %s\n", tirc_version());
    return DONE;
  }
  const Command *c = find_command(argv[1]);
  if (!c) {
    Nearest best = {.wanted = argv[1], .n_wanted = strlen(argv[1])};
    offer_command_names(&best);
    const char *dot = strrchr(argv[1], '.');
    const bool is_file =
        dot && (!strcmp(dot, ".tir") || !strcmp(dot, ".sch") || !strcmp(dot, ".onnx"));
    return complain(is_file ? "the command comes before the file: tirc check FILE"
                            : tirc_suggest_name(&best, "", "`tirc help` lists the commands"),
                    "there is no command '%s'", argv[1]);
  }
  void *options = tirc_alloc(memory, runs[c - commands].size);
  if (!parse_options(c, places, argc - 2, argv + 2, options)) return BAD;
  if (speech.targets)
    print_targets();
  else if (speech.help || speech.help_all)
    print_command_help(c, speech.help_all, stdout);
  else
    return runs[c - commands].run(options);
  return DONE;
}

typedef struct Call {
  int argc;
  char **argv;
  int status;
} Call;

static void run_call(void *self) {
  Call *call = self;
  Trap trap;
  if (!TIRC_TRY(memory, trap)) {
    call->status = say_that_memory_is_out();
    return;
  }
  call->status = run_command(call->argc, call->argv);
  TIRC_END(memory, trap);
}

int main(int argc, char **argv) {
  speech.words = (List){argc, (const char **)(uintptr_t)argv};
  speech.json = wants_json(argc, argv);
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of writing it */
  use_large_pages();
  end_when_memory_is_out();
  memory = tirc_context_new();
  Call call = {argc, argv, BAD};
  if (!memory || !tirc_on_stack(STACK_ENOUGH, run_call, &call)) (void)say_that_memory_is_out();
  int status = call.status;
  bool lost = fflush(stdout) != 0 || ferror(stdout);
  if (lost && status != BAD) status = complain(NULL, "cannot write standard output");
  if (memory) tirc_context_release(memory);
  return status;
}
