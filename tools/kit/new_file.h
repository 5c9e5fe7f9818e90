/* Files that are written whole or not at all: the new one grows beside the old one, whose place it
 * takes at the end, so that a full disk or a signal leaves what was there. Links stay, and what
 * they lead to is replaced. What is no plain file (a pipe, a terminal, /dev/full) is written where
 * it is, and so is a file that may be written and not replaced. */
#ifndef TIRC_TOOLS_NEW_FILE_H
#define TIRC_TOOLS_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct NewFile {
  FILE *f;           /* NULL: it cannot be written, and errno says why */
  char *part, *path; /* part: NULL where the file itself is written */
  int out;           /* the standard output that it stands for until its end; 0: for none */
} NewFile;

NewFile begin_file(const char *path); /* NULL or "-": standard output */
/* False: it is not written, errno says why, and what was there is left, where it was to be
 * replaced. */
bool end_file(NewFile *n);
void drop_file(NewFile *n);

/* What goes to standard output goes to the file, until it is ended or dropped. */
NewFile begin_output(const char *path);
const char *output_name(const char *path); /* for messages: what a path, or none, stands for now */

/* Whether a file could be begun; errno says why not. Nothing is changed. */
bool can_begin_file(const char *path);

/* The part beside PATH under which something else writes, and what it has written in PATH's place.
 * A part that is not put is gone when it is dropped, or a signal ends the process. A relative path
 * begins with a dot, since gnuplot would run what begins with a bar. */
char *part_of(const char *path);
/* A file or an empty folder that is gone when it is dropped, or a signal ends the process. */
char *passing(const char *path);
bool put_part(const char *part, const char *path);
void drop_part(char *part); /* NULL: none */

/* Ends as the signal does, without what a part leaves. */
void end_by_signal(int number);
void drop_parts(void); /* of files that this process has begun */

#endif
