/* The `tirc` command: finds the subcommand, reads its options, runs it. */
#include "tool.h"

#include <string.h>

int main(int argc, char **argv) {
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
    return complain(&(Options){0}, "`tirc help` lists the commands", "there is no command '%s'",
                    argv[1]);
  }
  Options o = {0};
  int status = BAD;
  if (parse_options(c, argc - 2, argv + 2, &o)) {
    status = DONE;
    if (o.help)
      print_command_help(c, stdout);
    else
      status = c->run(&o);
  }
  free_options(&o);
  if (fflush(stdout) != 0 || ferror(stdout)) status = BAD;
  return status;
}
