/* `tirc rules`: the libraries of rules that are part of the command. */
#include "command.h"

#include <string.h>

enum { INDENT = 18 };

/* The first paragraph of the comment at a script's top, without its signs. */
static void print_summary(const char *text) {
  char line[512];
  size_t n = 0;
  for (; *text == '#' && text[1] != '\n';
       text += strcspn(text, "\n") + (text[strcspn(text, "\n")] != 0)) {
    const char *from = text + 1 + (text[1] == ' ');
    n += (size_t)snprintf(line + n, sizeof line - n, "%s%.*s", n ? " " : "",
                          (int)strcspn(from, "\n"), from);
    if (n >= sizeof line) n = sizeof line - 1;
  }
  line[n] = 0;
  print_wrapped(INDENT, line);
}

int cmd_rules(List *args) {
  const char *name, *text;
  for (int i = 0; tirc_rules_table(i, &name, &text); i++) {
    if (!args->n) {
      printf("%-*s", INDENT, name);
      print_summary(text);
    } else if (strcmp(args->at[0], name) == 0) {
      fputs(text, stdout);
      return DONE;
    }
  }
  if (!args->n) return DONE;
  return complain("`tirc rules` lists them", "there is no library of rules called '%s'",
                  args->at[0]);
}
