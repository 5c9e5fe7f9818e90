/* Completion for bash, zsh and fish, from the tables of commands, options, primitives and errors.
 * An option's argument tells what completes it: words between bars, or files. */
#include "ir/ascii.h"
#include "teach.h"

#include <string.h>

/* Words like "text|json"; a placeholder as PASS is in capitals and left out. */
static bool has_choices(const OptionRow *o) {
  return o->argument && strchr(o->argument, '|') != NULL;
}
static bool takes_file(const OptionRow *o) {
  return o->argument && (strstr(o->argument, "FILE") != NULL);
}

static void print_choices(const OptionRow *o) {
  for (const char *p = o->argument; *p;) {
    size_t n = strcspn(p, "|");
    if (!tirc_is_upper(*p)) printf("%.*s ", (int)n, p);
    p += n + (p[n] == '|');
  }
}

static void print_names(void) {
  tirc_primitive_info p;
  tirc_error_info e;
  tirc_definition_info d;
  for (int i = 0; tirc_primitive_table(i, &p); i++) printf("%s ", p.name);
  for (int i = 0; tirc_error_table(i, &e); i++) printf("%s ", e.code);
  for (int i = 0; tirc_definition_table(i, &d); i++) printf("%s ", d.name);
}

static void print_commands(void) {
  for (int i = 0; i < n_commands; i++) printf("%s ", commands[i].name);
}

/* case "$command" in check) options=...;; esac */
static void print_options_of_commands(void) {
  const OptionRow *o;
  puts("  case \"$command\" in");
  for (int i = 0; i < n_commands; i++) {
    printf("  %s) options='", commands[i].name);
    for (int k = 0; (o = option_row(k)); k++)
      if (takes_option(&commands[i], o)) printf("--%s%s ", o->name, o->argument ? "=" : "");
    puts("' ;;");
  }
  puts("  esac");
}

static void print_values_of_options(void) {
  const OptionRow *o;
  puts("  case \"$option\" in");
  for (int k = 0; (o = option_row(k)); k++) {
    if (has_choices(o)) {
      printf("  --%s) values='", o->name);
      print_choices(o);
      puts("' ;;");
    } else if (takes_file(o))
      printf("  --%s) files=yes ;;\n", o->name);
  }
  puts("  esac");
}

/* bash breaks a word at "=", unless a user took it out of COMP_WORDBREAKS: both forms are one. */
static int print_bash(void) {
  puts("# bash completion for tirc\n"
       "_tirc_files() {\n"
       "  compopt -o filenames 2>/dev/null\n"
       "  COMPREPLY=($(compgen -f -- \"$word\"))\n"
       "}\n"
       "_tirc() {\n"
       "  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} option= options= values= "
       "files=\n"
       "  local before=${COMP_WORDS[COMP_CWORD-1]}\n"
       "  COMPREPLY=()\n"
       "  if [ \"$word\" = = ]; then option=$before word=\n"
       "  elif [ \"$before\" = = ]; then option=${COMP_WORDS[COMP_CWORD-2]}\n"
       "  elif [[ $word == --*=* ]]; then option=${word%%=*} word=${word#*=}\n"
       "  elif [[ $before == --* ]]; then option=$before\n"
       "  fi");
  printf("  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '");
  print_commands();
  puts("--help --version' -- \"$word\")); return\n  fi");
  print_options_of_commands();
  print_values_of_options();
  puts("  if [ -n \"$values\" ]; then COMPREPLY=($(compgen -W \"$values\" -- \"$word\")); return; "
       "fi\n"
       "  if [ -n \"$files\" ]; then _tirc_files; return; fi\n"
       "  if [ -n \"$option\" ]; then return; fi\n"
       "  if [[ $word == -* ]]; then\n"
       "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
       "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace "
       "2>/dev/null\n"
       "    return\n"
       "  fi");
  printf("  case \"$command\" in\n  explain) COMPREPLY=($(compgen -W '");
  print_names();
  printf("' -- \"$word\")) ;;\n  help) COMPREPLY=($(compgen -W '");
  print_commands();
  print_names();
  puts("' -- \"$word\")) ;;\n  *) _tirc_files ;;\n  esac\n"
       "  return 0\n}\n"
       "complete -F _tirc tirc");
  return DONE;
}

/* A text inside of '...[...]' of zsh's _arguments. */
static void print_quoted(const char *text) {
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", stdout);
    else {
      if (strchr("[]:\\", *text)) putchar('\\');
      putchar(*text);
    }
  }
}

static void print_zsh_option(const OptionRow *o) {
  printf("      '%s--%s%s[", o->repeats ? "*" : "", o->name, o->argument ? "=" : "");
  print_quoted(o->help);
  putchar(']');
  if (o->argument) {
    fputs(o->optional ? "::" : ":", stdout);
    print_quoted(o->argument);
    putchar(':');
    if (has_choices(o)) {
      putchar('(');
      print_choices(o);
      putchar(')');
    } else if (takes_file(o))
      fputs("_files", stdout);
  }
  puts("' \\");
}

static int print_zsh(void) {
  const OptionRow *o;
  puts("#compdef tirc\n_tirc() {\n  local -a commands names\n  commands=(");
  for (int i = 0; i < n_commands; i++) {
    printf("    '%s:", commands[i].name);
    print_quoted(commands[i].summary);
    puts("'");
  }
  printf("  )\n  names=(");
  print_names();
  puts(")\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
       "  local command=$words[2]\n  shift words; (( CURRENT-- ))\n  case $command in");
  for (int i = 0; i < n_commands; i++) {
    printf("  %s)\n    _arguments -S \\\n", commands[i].name);
    for (int k = 0; (o = option_row(k)); k++)
      if (takes_option(&commands[i], o)) print_zsh_option(o);
    bool by_name =
        strcmp(commands[i].name, "explain") == 0 || strcmp(commands[i].name, "help") == 0;
    printf("      '*:%s' ;;\n", by_name ? "name:($names ${commands%%%%:*})" : "file:_files");
  }
  puts("  esac\n}\n_tirc \"$@\"");
  return DONE;
}

/* A word in single quotes of fish. */
static void print_fish_quoted(const char *text) {
  putchar('\'');
  for (; *text; text++) {
    if (*text == '\'' || *text == '\\') putchar('\\');
    putchar(*text);
  }
  putchar('\'');
}

static void print_fish_option(const OptionRow *o) {
  bool any = false;
  for (int i = 0; i < n_commands; i++) {
    if (!takes_option(&commands[i], o)) continue;
    printf("%s%s", any ? " " : "complete -c tirc -n '__tirc_is ", commands[i].name);
    any = true;
  }
  if (!any) return;
  printf("' -l %s -d ", o->name);
  print_fish_quoted(o->help);
  if (o->letter) printf(" -s %c", o->letter);
  if (o->argument && !o->optional) fputs(takes_file(o) ? " -r -F" : " -x", stdout);
  if (has_choices(o)) {
    fputs(" -a '", stdout);
    print_choices(o);
    putchar('\'');
  }
  putchar('\n');
}

static int print_fish(void) {
  const OptionRow *o;
  puts("# fish completion for tirc\n"
       "function __tirc_is # the command is one of these; none: there is no command yet\n"
       "  set -l words (commandline -opc)\n"
       "  if test (count $argv) -eq 0\n    test (count $words) -eq 1\n    return\n  end\n"
       "  test (count $words) -gt 1; and contains -- $words[2] $argv\n"
       "end");
  for (int i = 0; i < n_commands; i++) {
    printf("complete -c tirc -n __tirc_is -f -a %s -d ", commands[i].name);
    print_fish_quoted(commands[i].summary);
    putchar('\n');
  }
  for (int k = 0; (o = option_row(k)); k++) print_fish_option(o);
  fputs("complete -c tirc -n '__tirc_is explain help' -f -a '", stdout);
  print_names();
  fputs("'\ncomplete -c tirc -n '__tirc_is help' -f -a '", stdout);
  print_commands();
  puts("'");
  return DONE;
}

static const struct {
  const char *shell, *file; /* and what the shell wants the script's file to be called */
  int (*print)(void);
} shells[] = {
    {"bash", "tirc", print_bash}, {"zsh", "_tirc", print_zsh}, {"fish", "tirc.fish", print_fish}};
enum { N_SHELLS = sizeof shells / sizeof *shells };

int print_completion(const char *shell) {
  for (int i = 0; i < N_SHELLS; i++)
    if (strcmp(shell, shells[i].shell) == 0) return shells[i].print();
  return complain(NULL, "--completion takes bash, zsh or fish, not '%s'", shell);
}

const char *completion_file(int i, const char **shell) {
  if (i >= N_SHELLS) return NULL;
  *shell = shells[i].shell;
  return shells[i].file;
}
