/* Files that are written whole or not at all: the new one grows as PATH.part beside the old one,
 * whose place it takes at the end, so that a full disk or a signal leaves what was there. What is
 * no plain file (a pipe, a terminal, /dev/full) is written where it is. */
#ifndef TIRC_TOOLS_NEW_FILE_H
#define TIRC_TOOLS_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct NewFile {
  FILE *f; /* NULL: it cannot be written, and errno says why */
  char *part, *path;
} NewFile;

NewFile begin_file(const char *path); /* NULL or "-": standard output */
/* False: it is not written, errno says why, and what was there is left. */
bool end_file(NewFile *n);
void drop_file(NewFile *n);
/* The name under which another program may write beside PATH; to be freed. */
char *part_of(const char *path);

#endif
