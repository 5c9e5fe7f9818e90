/* What is said of errors, primitives, terms and the language. */
#ifndef TIRC_TOOLS_TEACH_H
#define TIRC_TOOLS_TEACH_H

#include "tools/kit/kit.h"

typedef struct ExplainOptions {
  List args;
  bool codes, markdown;
} ExplainOptions;

typedef struct HelpOptions {
  List args;
  const char *man, *completion, *pages;
  bool markdown;
} HelpOptions;

/* manual.c, completion.c: the exit status */
int print_manual(const char *page);
int print_completion(const char *shell);
/* Of shell number i: its name, and what it wants the file to be called; NULL behind the last. */
const char *completion_file(int i, const char **shell);
/* Each manual page and completion, a file in the folder, which is made where it is not there. */
int write_pages(const char *folder);

/* cmd_explain.c: an error code, primitive, term, pass or word of the language; false when there is
 * none of the name */
bool explain_name(const char *name, int *status);
/* A name explained, a command by its help, or what is wrong with it. */
int explain_or_command(const char *what);
/* The definitions that an error's code is about. */
void explain_terms(const char *code);
/* Other words for terms, one after the other; false behind the last. */
bool synonym(int i, const char **word, const char **term);
/* What a code means that is none of the table of ScheduleErrors, or NULL. */
const char *code_meaning(const char *code);
/* explain_primitive.c: false when there is no primitive of the name */
bool explain_primitive(const char *name);
void print_primitives_as_markdown(void);
/* A program without what an example does not need: imports, inferred regions. */
void print_nest(const char *text);
/* explain_case.c: what raises an error, what would go wrong, and the fix; the exit status is that
 * of examples that do not hold. */
int explain_case(const char *code);
/* language.c: the reference of programs and scripts, in one of these forms */
typedef enum LanguageSheet { LANGUAGE_TEXT, LANGUAGE_MARKDOWN, LANGUAGE_MANUAL } LanguageSheet;
void print_language(LanguageSheet how);
/* "language" itself, a T. function or the key of an annotation; false when it is none. */
bool explain_language(const char *wanted);
void each_language_name(void (*use)(void *self, const char *name), void *self);
/* manual.c: text for roff; roff_line ends the line. */
void roff_text(const char *text);
void roff_line(const char *text);
/* "split(loop, factors, preserve_unit_iters=True)" of primitive number i. */
void print_signature(int i);

#endif
