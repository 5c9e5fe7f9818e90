/* How a nest is drawn: the parts of nests_draw.c, nests_ways.c and nests_odd.c. */
#ifndef TIRC_TESTS_NESTS_DRAW_H
#define TIRC_TESTS_NESTS_DRAW_H

#include "nests.h"

#include <string.h>

#define FAR ((int64_t)1 << 40) /* the size of what is symbolic */

typedef enum How { HOW_LOOP, HOW_TILE, HOW_FUSED, HOW_FUSED_LOW } How;
typedef enum Form { FORM_AFFINE, FORM_FREE, FORM_WRAP, FORM_MOD } Form;

typedef struct Dim {
  int64_t size, guard[2]; /* of each block: it runs below that */
  int symbol;             /* or -1 */
  const Ix *extent;
  How how;
  int64_t tile;
  bool own; /* each block has a loop of its own */
  bool reduce;
  int axis;           /* its slot */
  int place[2];       /* of its loops in the chain; of a tile the outer and the inner one */
  const Ix *value[2]; /* in loops, of each block */
  Form form;
  int64_t stride, mod, times;
  int skew_by; /* a dimension before, or -1 */
  int64_t skew;
} Dim;

typedef struct Access {
  int block; /* 0 or 1 */
  bool store;
  int64_t off[NEST_DIMS];
} Access;

/* Indices of two dimensions at once, of which no formula tells when they meet. */
typedef enum Odd {
  ODD_NOT,
  ODD_TURNED,  /* [i, j] and [j + 3, i] */
  ODD_SCATTER, /* [(i * 1237 + j * 17) % 1999] */
  ODD_SQUARE,  /* [(i * i + j) % 1999] */
  ODD_STRIDES, /* [i * 2, j] and [i * 3, j] */
  ODD_DIVIDED, /* [i // 4, j] */
  ODD_OVERLAP, /* [i * 60 + j], j < 64 */
  N_ODD
} Odd;

enum { MOST_ACCESSES = 4 };

typedef struct Draw {
  Rng *r;
  Tirc *c;
  Nest *n;
  int n_dims, n_blocks, n_shared; /* loops that all blocks are in */
  Dim dims[NEST_DIMS];
  int n_accesses;
  Access accesses[MOST_ACCESSES];
  bool commutes;       /* the store adds to the element that it reads */
  bool adds;           /* it depends on that */
  bool linear, turned; /* the element's indices: as one, the other way round */
  Node *shared[NEST_LOOPS], *own[2][NEST_DIMS];
  int n_own;
  int64_t tail; /* what telling sizes are larger than */
  int hot;      /* the buffer that is asked about */
  Odd odd;
  bool sloping; /* the blocks run where i + j is small */
  int64_t odd_numbers[4];
} Draw;

/* Whether the call keeps the order of accesses to the hot buffer; says why not in the nest. */
Truth draw_decide(Draw *d);
/* The indices of an access, and the shape, where d->odd says so; the number of dimensions. */
void draw_odd_numbers(Draw *d);
int draw_odd_element(const Draw *d, const Access *a, const Ix **at);
int draw_odd_shape(const Draw *d, const Ix **shape);

#endif
