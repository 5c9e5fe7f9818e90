/* `tirc operator`: the operators of graphs, and the programs that they make. */
#include "command.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 26 };

static int list(tirc_operators *ops) {
  for (int i = 0; i < tirc_operators_count(ops); i++) {
    tirc_error *error = NULL;
    const tirc_operator_info *info;
    if (tirc_operators_find(ops, tirc_operators_name(ops, i), &info, &error)) return report(error);
    printf("%-*s", INDENT, info->name);
    print_wrapped(INDENT, *info->summary ? info->summary : info->signature);
  }
  return DONE;
}

static int explain(tirc_operators *ops, const char *name) {
  tirc_error *error = NULL;
  const tirc_operator_info *info;
  if (tirc_operators_find(ops, name, &info, &error)) return report(error);
  printf("R.%s\n", info->signature);
  if (*info->summary) printf("    %s\n", info->summary);
  printf("    from %s\n", info->path);
  if (info->text) printf("\n%s", info->text);
  return DONE;
}

static int make(const Loading *o) {
  tirc_error *error = NULL;
  tirc_module *m;
  char *text;
  if (tirc_operator_module(o->operators, o->args.at[0], o->args.n - 1, o->args.at + 1, &m, &error))
    return report(error);
  int status = (int)tirc_module_print(m, &text, &error);
  tirc_module_free(m);
  if (status) return report(error);
  status = write_output(o->output, text, strlen(text));
  tirc_string_free(text);
  return status;
}

int cmd_operator(Loading *o) {
  tirc_error *error = NULL;
  tirc_operators *ops;
  if (o->args.n > 1) return make(o);
  if (tirc_operators_read(o->operators, &ops, &error)) return report(error);
  int status = o->args.n ? explain(ops, o->args.at[0]) : list(ops);
  tirc_operators_free(ops);
  return status;
}
