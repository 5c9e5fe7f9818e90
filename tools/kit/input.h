/* What comes from outside, read to a limit and looked at before it is used. */
#ifndef TIRC_TOOLS_INPUT_H
#define TIRC_TOOLS_INPUT_H

#include <stddef.h>
#include <stdio.h>

/* All that there is, NUL-terminated; NULL: errno says why, EFBIG where it is more
 * than `most` bytes. *n (or NULL): how many they are. What has a NUL in it is no text, and not read
 * on. */
char *read_to_end(FILE *f, size_t most, size_t *n);
/* A text of at most 1 MB; "-" is standard input. NULL: errno says why, in words of read_fault. */
char *read_small_file(const char *path);
const char *read_fault(int error);
/* The next line with its end; NULL at the end of the input, and with errno EFBIG where
 * the line is longer than `most`. */
char *read_bounded_line(FILE *f, size_t most);
/* NULL where a reader of JSON takes the text as it stands; otherwise why not. */
char *json_fault(const char *text, size_t n);

#endif
