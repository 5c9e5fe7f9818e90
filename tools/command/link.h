/* Shared objects out of objects. */
#ifndef TIRC_TOOLS_LINK_H
#define TIRC_TOOLS_LINK_H

#include "tools/kit/kit.h"

/* What the system's C compiler ($CC, or cc) makes of an object file. */
typedef struct Linking {
  const char *object;
  size_t n;
  bool is_shared;     /* a shared object, with the kernels' runtime; false: an object */
  const char *soname; /* of a shared object, or NULL */
  bool keeps_lines;   /* a shared object keeps its debug information */
  /* A block of bytes that goes into it as the hidden symbol `block`; NULL: none. write_block writes
   * it to a file: DONE, or the exit status after a message. */
  const char *block;
  int (*write_block)(void *self, const char *path);
  void *self;
} Linking;
/* Writes it to `path` (NULL or "-": standard output). DONE, or the exit status after a message. */
int link_code(const Linking *what, const char *path);

#endif
