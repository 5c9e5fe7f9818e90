/* What the makers of wild programs share: a program that grows (fuzz_wild.c), the loops and
 * iterators of a stage (fuzz_wild_space.c), and its blocks (fuzz_wild_block.c). */
#ifndef TIRC_TESTS_FUZZ_WILD_H
#define TIRC_TESTS_FUZZ_WILD_H

#include "fuzz.h"

/* What a program may be full of. One to four of them are on in each. */
typedef enum Feature {
  STARTS,  /* loops and domains that do not start at 0 */
  PARTS,   /* loops that run a part of a domain */
  NESTS,   /* blocks in blocks */
  IFS,     /* conditions around blocks */
  WHERES,  /* predicates */
  LETS,    /* in blocks and around them */
  BODIES,  /* more than one store */
  SUMS,    /* many reductions, and in many forms */
  BINDS,   /* iterators that are not a loop's variable */
  GATHERS, /* indices that are loaded */
  TYPES,   /* not float32 only */
  VIEWS,   /* match_buffer and buffers that share data */
  KINDS,   /* of iterators and of loops */
  EXTENTS, /* 0, 1, no dimensions, and those that depend on a loop */
  UPDATES, /* stages that write what is there */
  SHARES,  /* two stages in one loop */
  SCALARS, /* conditions on a number that is a parameter */
  NARROWS, /* numbers of few bits and truths in indices, conditions and loops; sums of truths */
  N_FEATURES
} Feature;

enum { MAX_DIMS = 3, MAX_BUFFERS = 14, MAX_STAGE = 12, MAX_TERMS = 16 };

typedef struct WildBuffer {
  const char *name, *dtype;
  const char *shown; /* its name in the block that is written just now */
  int n, shape[MAX_DIMS];
  bool param;
  bool indexes; /* holds what others are indexed by */
  int level;    /* how far its values may be from small: see wild_load */
} WildBuffer;

typedef struct Wild {
  Tirc *c;
  Rng *r;
  int percent[N_FEATURES];
  int n_names, depth;
  bool has_scalar; /* n is a parameter */
  int n_sources;   /* buffers that the stage may read */
  int n_buffers;
  WildBuffer buffers[MAX_BUFFERS];
  Text head, body; /* declarations; everything behind them */
} Wild;

typedef struct WildLoop {
  const char *var;
  const char *shown;  /* what stands for it here: itself, an outer block's iterator or a let */
  const char *header; /* a pattern */
  int lo, extent;
  int above; /* the loop whose variable + 1 is the extent; -1: none */
} WildLoop;

/* A binding or a condition: a pattern over loops. */
typedef struct Over {
  const char *pattern;
  int loops[2], n, m;
} Over;

typedef struct WildAxis {
  const char *name, *kind;
  int lo, extent;
  bool reduces;
  Over bound;
} WildAxis;

typedef struct WildStage {
  WildBuffer *out;
  const WildBuffer *copied; /* what the next block only copies, or NULL */
  int n_loops, n_opened, n_axes, n_wheres;
  WildLoop loops[MAX_STAGE]; /* the first n_opened have been written already */
  WildAxis axes[MAX_STAGE];  /* first one a dimension of out */
  Over wheres[MAX_STAGE];
  bool reduces;
  bool fresh;         /* out is new here, and read next */
  bool partial;       /* some elements may not be written, or are read before */
  int level;          /* of what it reads */
  unsigned around;    /* what stands around its blocks by now: a bit a row of a table */
  const char *addend; /* a value from around the block, or NULL */
} WildStage;

/* What an index may be made of: a text whose values are 0 to extent - 1. */
typedef struct Term {
  const char *text;
  int extent;
} Term;
typedef struct Terms {
  int n;
  Term at[MAX_TERMS];
} Terms;

/* --- the program: fuzz_wild.c */

bool wild_on(Wild *g, Feature f);
const char *wild_name(Wild *g, const char *prefix);
int wild_extent(Wild *g);
bool wild_is_empty(const WildBuffer *b);
/* "4, 6", and "(4, 6,)". */
const char *wild_list(Wild *g, int n, const char *const *texts);
const char *wild_shape(Wild *g, const WildBuffer *b);
WildBuffer *wild_buffer(Wild *g, const char *prefix, int n, const int *shape, const char *dtype);
void wild_line(Wild *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A pattern with its @a, @b, @c, @n and @m filled in. */
typedef struct Fill {
  const char *a, *b, *c;
  int n, m;
} Fill;
const char *wild_fill(Wild *g, const char *pattern, Fill with);
#define wild_any(g, table) (&(table)[rng_below((g)->r, (int)(sizeof(table) / sizeof *(table)))])

/* --- loops and iterators: fuzz_wild_space.c */

/* Draws those of a stage that writes s->out. The first loop may have been opened by then. */
void wild_space(Wild *g, WildStage *s);
const char *wild_over(Wild *g, const WildStage *s, const Over *o);
/* A condition on the first n loops; with none of them, NULL. */
const char *wild_condition(Wild *g, const WildStage *s, int n);
const char *wild_domain(Wild *g, int lo, int extent);
void wild_loop(Wild *g, const WildStage *s, int k);

/* --- blocks: fuzz_wild_block.c */

/* An element of a buffer that is there by now, as a value of that type. */
const char *wild_load(Wild *g, WildStage *s, const Terms *in, const char *dtype, bool may_be_empty);
const char *wild_literal(Wild *g, int value, const char *dtype);
void wild_block(Wild *g, WildStage *s);

#endif
