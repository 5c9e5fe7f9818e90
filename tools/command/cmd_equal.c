#include "command.h"

#include <string.h>

int cmd_equal(Loading *o) {
  tirc_module *a = NULL, *b = NULL;
  tirc_error *e = NULL;
  char *difference = NULL;
  if (strcmp(o->args.at[0], "-") == 0 && strcmp(o->args.at[1], "-") == 0)
    return complain(NULL, "only one of the programs can be standard input");
  int status = load_program(o, o->args.at[0], &a);
  if (status == DONE) status = load_program(o, o->args.at[1], &b);
  if (status == DONE && tirc_module_compare(a, b, &difference, &e)) status = report(e);
  if (difference) {
    printf("%s\n", difference);
    status = NO;
  }
  tirc_string_free(difference);
  tirc_module_free(a);
  tirc_module_free(b);
  return status;
}
