/* Manual pages, from the tables that help is printed from: tirc(1), one for each command, and
 * tirc-primitives(7), tirc-language(7) and tirc-errors(7). */
#include "ir/ascii.h"
#include "teach.h"

#include <string.h>

/* Text for roff: hyphens that are typed as such, no line that a dot or quote makes a request. */
void roff_text(const char *text) {
  bool start = true;
  for (; *text; text++) {
    if (start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
    start = *text == '\n';
    if (start && text[1] == '\n') {
      fputs("\n.PP\n", stdout);
      while (text[1] == '\n') text++;
    } else if (*text == '\\')
      fputs("\\e", stdout);
    else if (*text == '-')
      fputs("\\-", stdout);
    else
      putchar(*text);
  }
}

void roff_line(const char *text) {
  roff_text(text);
  putchar('\n');
}

static void upper(const char *text) {
  for (; *text; text++)
    if (*text == '-')
      fputs("\\-", stdout);
    else
      putchar(tirc_upper(*text));
}

static void heading(const char *page, int section, const char *summary) {
  printf(".TH ");
  upper(page);
  printf(" %d \"\" \"tirc %s\"\n.SH NAME\n", section, tirc_version());
  roff_text(page);
  printf(" \\- ");
  roff_line(summary);
}

static void print_option(const OptionRow *o) {
  puts(".TP");
  if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
  printf("\\fB\\-\\-");
  roff_text(o->name);
  printf("\\fR");
  if (o->argument) {
    printf("%s=\\fI", o->optional ? "[" : "");
    roff_text(o->argument);
    printf("\\fR%s", o->optional ? "]" : "");
  }
  putchar('\n');
  roff_line(o->help);
}

static void print_examples(const char *const (*examples)[2], int n) {
  puts(".SH EXAMPLES");
  for (int i = 0; i < n; i++) {
    puts(".TP");
    printf("\\fB");
    roff_text(examples[i][0]);
    puts("\\fR");
    roff_line(examples[i][1]);
  }
}

static void print_status(void) {
  puts(".SH EXIT STATUS\n"
       ".TP\n0\ndone\n"
       ".TP\n1\nthe input is well formed, but the answer is no: a ScheduleError, a failed check, "
       "programs that are not equal\n"
       ".TP\n2\nbad usage, syntax or file");
}

static void command_page(const Command *c) {
  char *page = tirc_format(memory, "tirc-%s", c->name);
  heading(page, 1, c->summary);
  printf(".SH SYNOPSIS\n\\fBtirc %s\\fR [\\fIOPTION\\fR]... ", c->name);
  roff_line(c->synopsis);
  if (*c->details) {
    puts(".SH DESCRIPTION");
    roff_line(c->details);
  }
  puts(".SH OPTIONS");
  const OptionRow *o;
  for (int i = 0; (o = option_row(i)); i++)
    if (takes_option(c, o)) print_option(o);
  print_examples((const char *const(*)[2])c->examples, 2);
  print_status();
  puts(".SH SEE ALSO\n.BR tirc (1),\n.BR tirc\\-primitives (7),\n.BR tirc\\-language (7),\n.BR "
       "tirc\\-errors (7)");
}

static void main_page(void) {
  heading("tirc", 1, "a small TensorIR compiler");
  puts(".SH SYNOPSIS\n\\fBtirc\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
       ".SH DESCRIPTION\n"
       "Checks, schedules, lowers, compiles, runs and measures loop\\-nest programs written in a\n"
       "subset of TVMScript. Schedules are scripts in the language of tvm.tir.Schedule.\n"
       ".SH COMMANDS");
  for (int i = 0; i < n_commands; i++) {
    printf(".TP\n\\fB%s\\fR \\fI", commands[i].name);
    roff_text(commands[i].synopsis);
    puts("\\fR");
    roff_line(commands[i].summary);
  }
  print_status();
  puts(
      ".SH ENVIRONMENT\n"
      ".TP\nNO_COLOR\nwhen set and not empty, no colours are printed; they are on a terminal only\n"
      ".TP\nTIRC_NUM_THREADS\nthe number of threads where \\-\\-threads does not say it: 1 to "
      "4096\n"
      ".TP\nTIRC_DATABASE\nthe database where \\-\\-database does not say it\n"
      ".TP\nTIRC_DATABASE_WAIT\nhow many seconds a database that others hold, or a server that is "
      "lost, is waited for: 0 to 1000000\n"
      ".TP\nTIRC_CACHE\nthe folder of the cache of compiled code, else tirc in XDG_CACHE_HOME, "
      "else ~/.cache/tirc; off: there is none\n"
      ".TP\nTIRC_CACHE_MB\nhow many megabytes it holds at most (512)\n"
      ".TP\nTIRC_LLVM\nthe file of LLVM's library, where it is not where the system looks");
  static const char *const examples[][2] = {
      {"tirc apply matmul.tir rule_based.sch", "run a schedule, print the program"},
      {"tirc bench matmul.tir baseline.sch rule_based.sch --vs openblas",
       "measure two schedules and a library"}};
  print_examples(examples, 2);
  puts(".SH SEE ALSO");
  for (int i = 0; i < n_commands; i++) printf(".BR tirc\\-%s (1),\n", commands[i].name);
  puts(".BR tirc\\-primitives (7),\n.BR tirc\\-errors (7)");
}

static void print_parameters(int i, const tirc_primitive_doc *d) {
  const char *name, *value;
  for (int k = 0; d->params[k] && tirc_primitive_param(i, k, &name, &value); k++) {
    printf(".RS\n.TP\n\\fI%s\\fR\n", name);
    roff_line(d->params[k]);
    puts(".RE");
  }
}

static void primitives_page(void) {
  tirc_primitive_info p;
  tirc_primitive_doc d;
  tirc_error_info e;
  heading("tirc-primitives", 7, "the methods of a schedule");
  puts(".SH DESCRIPTION\nThe names, arguments and defaults are those of tvm.tir.Schedule.\n"
       ".B tirc help\n.I NAME\nadds an example with what it makes.\n.SH PRIMITIVES");
  for (int i = 0; tirc_primitive_table(i, &p); i++) {
    printf(".TP\n.B sch.");
    print_signature(i);
    putchar('\n');
    roff_line(p.help);
    if (!tirc_primitive_documentation(i, &d)) continue;
    print_parameters(i, &d);
    for (int k = 0; d.needs[k]; k++) {
      printf(".RS\n.IP \\(bu 2\n");
      roff_line(d.needs[k]);
      puts(".RE");
    }
    for (int k = 0; d.errors[k] >= 0 && tirc_error_table(d.errors[k], &e); k++) {
      printf("%s", k ? ", " : ".RS\n.PP\nErrors: ");
      roff_text(e.code);
      if (d.errors[k + 1] < 0) puts("\n.RE");
    }
  }
  puts(".SH SEE ALSO\n.BR tirc (1),\n.BR tirc\\-errors (7)");
}

static void errors_page(void) {
  tirc_error_info e;
  tirc_definition_info d;
  heading("tirc-errors", 7, "what a schedule is refused for, and the terms behind it");
  puts(".SH SCHEDULE ERRORS\n.B tirc explain\n.I CODE\nsays more of each.");
  for (int i = 0; tirc_error_table(i, &e); i++) {
    puts(".TP");
    printf("\\fB");
    roff_text(e.code);
    puts("\\fR");
    roff_line(e.title);
    if (!*e.hint) continue;
    puts(".br");
    printf("What to do: ");
    roff_line(e.hint);
  }
  puts(".SH TERMS");
  for (int i = 0; tirc_definition_table(i, &d); i++) {
    puts(".TP");
    printf("\\fB");
    roff_text(d.name);
    puts("\\fR");
    roff_line(d.text);
  }
  puts(".SH SEE ALSO\n.BR tirc (1),\n.BR tirc\\-primitives (7)");
}

static void language_page(void) {
  heading("tirc-language", 7, "the language of programs and schedule scripts");
  puts(".SH DESCRIPTION\nBoth are subsets of Python. Methods of a schedule are in "
       "tirc\\-primitives(7).");
  print_language(LANGUAGE_MANUAL);
  puts(".SH SEE ALSO\n.BR tirc (1),\n.BR tirc\\-primitives (7),\n.BR tirc\\-errors (7)");
}

static const struct {
  const char *name;
  int section;
  void (*print)(void);
} pages[] = {{"tirc", 1, main_page},
             {"tirc-primitives", 7, primitives_page},
             {"tirc-language", 7, language_page},
             {"tirc-errors", 7, errors_page}};
enum { N_PAGES = sizeof pages / sizeof *pages };

static void each_page(void (*use)(void *self, const char *name, int section), void *self) {
  for (int i = 0; i < N_PAGES; i++) use(self, pages[i].name, pages[i].section);
  for (int i = 0; i < n_commands; i++)
    use(self, tirc_format(memory, "tirc-%s", commands[i].name), 1);
}

static void list_page(void *self, const char *name, int section) {
  (void)self;
  printf("%s.%d\n", name, section);
}

int print_manual(const char *name) {
  if (strcmp(name, "list") == 0) {
    each_page(list_page, NULL);
    return DONE;
  }
  for (int i = 0; i < N_PAGES; i++)
    if (strcmp(pages[i].name, name) == 0) {
      pages[i].print();
      return DONE;
    }
  const Command *c = strncmp(name, "tirc-", 5) == 0 ? find_command(name + 5) : NULL;
  if (!c)
    return complain("`tirc help --man=list` lists them", "there is no manual page '%s'", name);
  command_page(c);
  return DONE;
}

/* --- all of them, as files -------------------------------------------------------------------- */

typedef struct Writing {
  const char *folder;
  int status; /* DONE until one cannot be written */
} Writing;

static void write_printed(Writing *w, const char *file, int (*print)(const char *),
                          const char *what) {
  const char *path = tirc_format(memory, "%s/%s", w->folder, file);
  if (w->status != DONE) return;
  NewFile to = begin_output(path);
  w->status = end_output(path, &to, to.f ? print(what) : DONE);
}

static void write_page(void *self, const char *name, int section) {
  write_printed(self, tirc_format(memory, "%s.%d", name, section), print_manual, name);
}

int write_pages(const char *folder) {
  const char *file, *shell;
  Writing w = {folder, make_folder(folder)};
  each_page(write_page, &w);
  for (int i = 0; (file = completion_file(i, &shell)); i++)
    write_printed(&w, file, print_completion, shell);
  return w.status;
}
