/* The weights of a checkpoint by name and shape: safetensors, or .npz. */
#ifndef TIRC_TOOLS_CHECKPOINT_H
#define TIRC_TOOLS_CHECKPOINT_H

#include "tools/kit/kit.h"

enum { MOST_WEIGHT_DIMS = 16 };
typedef struct Weight {
  char *name;
  char dtype[16]; /* in the file's words: "F32", "<f4" */
  int ndim;
  int64_t shape[MOST_WEIGHT_DIMS];
} Weight;

typedef struct Checkpoint {
  int n, room;
  Weight *at; /* in the file's order */
} Checkpoint;

/* Adds what the file holds, whichever of the two it is; elements are not read. "-": safetensors
 * from standard input. DONE, or BAD after saying what is wrong. */
int read_checkpoint(const char *path, Checkpoint *c);
/* BAD when two weights have one name. */
int check_names(const Checkpoint *c);

#endif
