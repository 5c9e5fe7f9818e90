/* The T.* functions of programs, for those who ask what there is. */
#ifndef TIRC_FUNCTIONS_H
#define TIRC_FUNCTIONS_H

#include <stdbool.h>

/* What a page says of several functions at once. Texts live as long as the program. */
typedef struct FunctionWords {
  const char *topic, *names, *types, *help; /* functions.def says what is in them */
} FunctionWords;

/* Row i, in the order to read them in; false behind the last. */
bool tirc_function_row(int i, FunctionWords *out);

/* Function k of those that row i speaks of: its name after "T.", and its arguments with spaces
 * between them, `?` behind what can be left out, `*` for any number; false behind the last. */
bool tirc_function_of_row(int i, int k, const char **name, const char **arguments);

/* The row that a function of the reader's tables stands in; -1: none. */
int tirc_row_of_function(const char *name);

#endif
