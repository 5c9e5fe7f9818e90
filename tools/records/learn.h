/* What `tirc learn` learns: of each machine and kind of nest, for each knob of a schedule a few
 * boosted trees over the extents of the nest's loops. */
#ifndef TIRC_TOOLS_LEARN_H
#define TIRC_TOOLS_LEARN_H

#include "db.h"
#include "nest_facts.h"

/* Four of the whole nest, a tile and the levels below it of each axis. */
enum { MOST_KNOBS = 4 + MOST_AXES * MOST_LEVELS };

typedef struct Query {       /* a shape */
  char kinds[MOST_AXES + 1]; /* S or R of each axis: only those of the same kinds are compared */
  int64_t extents[MOST_AXES];
} Query;
Query query_of(const Facts *f);

typedef struct Example { /* a schedule that was good */
  char *machine;
  Query query;
  int shape; /* a number, in its group */
  double seconds;
  char axes[MOST_AXES][32];
  int n_levels[MOST_AXES];                                          /* below the outermost one */
  double whole[4], tile[MOST_AXES], levels[MOST_AXES][MOST_LEVELS]; /* levels: innermost first */
} Example;

typedef struct Errors { /* sums over the rows that were left out in turn */
  double absolute, relative;
  int wrong;
} Errors;
typedef struct Score {
  int n;
  Errors trees, constant;
} Score;

typedef struct Trees Trees;
typedef struct Knob {
  char name[64];
  bool yes_no;     /* 0 or 1, a class; otherwise a number */
  int axis, level; /* -1: of the whole nest; level 0: the tile, 1: the innermost one */
  int n_values;    /* that were seen, sorted */
  double *values;
  Trees *trees;
  Score score;
} Knob;

typedef struct Group { /* examples of one machine, with axes of the same kinds; sorted by extents */
  int n;
  Example *at;
  const char *kinds;
  int n_axes, n_shapes, n_knobs;
  const char (*axes)[32]; /* their names, in the first example */
  Knob knobs[MOST_KNOBS];
} Group;

typedef struct Lore {
  int n, n_groups;
  Example *at;
  Group *groups;
} Lore;

bool has_trees(void); /* the library is installed */
void lore_add(Lore *l, const char *machine, double seconds, const Facts *f);
/* Sorts the examples into groups, learns, and validates by leaving whole shapes out. False: the
 * library fails, or memory is out. */
bool lore_learn(Lore *l);
void lore_free(Lore *l);

/* What a schedule of the shape should do: a value that some example has. NaN: unknown. */
double predict(const Group *g, const Knob *k, const Query *q);
bool has_shape(const Group *g, const Query *q);
bool is_constant(const Knob *k);
double accuracy(const Errors *e, int n); /* NaN: of none */

#endif
