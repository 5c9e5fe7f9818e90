/* The `tirc` command: finds the subcommand, reads its options, runs it. */
#include "ir/stack.h"
#include "tools/kit/kit.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>

static int (*const runs[])(Options *) = {
#define COMMAND(name, ...) cmd_##name,
#include "tools/kit/commands.def"
#undef COMMAND
};

static int run_command(int argc, char **argv, Options *o) {
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
    return complain(tirc_suggest_name(&best, "", "`tirc help` lists the commands"),
                    "there is no command '%s'", argv[1]);
  }
  if (!parse_options(c, argc - 2, argv + 2, o)) return BAD;
  if (wants_targets(o))
    print_targets();
  else if (o->help || o->help_all)
    print_command_help(c, o->help_all, stdout);
  else
    return require_defines_used(o) == DONE ? runs[c - commands](o) : BAD;
  return DONE;
}

typedef struct Call {
  int argc;
  char **argv;
  Options *o;
  int status;
} Call;

static void run_call(void *self) {
  Call *call = self;
  Trap trap;
  if (!TIRC_TRY(memory, trap)) {
    call->status = say_that_memory_is_out();
    return;
  }
  call->status = run_command(call->argc, call->argv, call->o);
  TIRC_END(memory, trap);
}

int main(int argc, char **argv) {
  Options o = {.words = {argc, (const char **)(uintptr_t)argv}};
  speech.json = wants_json(argc, argv);
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of writing it */
  end_when_memory_is_out();
  memory = tirc_context_new();
  Call call = {argc, argv, &o, BAD};
  if (!memory || !tirc_on_stack(STACK_ENOUGH, run_call, &call)) (void)say_that_memory_is_out();
  int status = call.status;
  bool lost = fflush(stdout) != 0 || ferror(stdout);
  if (lost && status != BAD) status = complain(NULL, "cannot write standard output");
  if (memory) tirc_context_release(memory);
  return status;
}
