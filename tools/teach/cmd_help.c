#include "teach.h"

int cmd_help(HelpOptions *o) {
  if (o->markdown) {
    print_primitives_as_markdown();
    return DONE;
  }
  if (o->man) return print_manual(o->man);
  if (o->pages) return write_pages(o->pages);
  if (o->completion) return print_completion(o->completion);
  if (o->args.n == 0) {
    print_usage(stdout);
    return DONE;
  }
  const Command *c = find_command(o->args.at[0]);
  if (!c) return explain_or_command(o->args.at[0]);
  print_command_help(c, false, stdout);
  return DONE;
}
