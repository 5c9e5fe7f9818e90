#include "tool.h"

int cmd_help(Options *o) {
  if (o->markdown) {
    print_primitives_as_markdown();
    return DONE;
  }
  if (o->args.n == 0) {
    print_usage(stdout);
    return DONE;
  }
  const Command *c = find_command(o->args.at[0]);
  if (!c) return cmd_explain(o);
  print_command_help(c, stdout);
  return DONE;
}
