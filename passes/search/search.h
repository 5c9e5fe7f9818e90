/* The search for the best schedule of one program: points of a space are proposed, somebody
 * measures them and tells, and what was good is the origin of the next proposals.
 *
 *   while (...) {
 *     n = tirc_search_propose(s, 8, points);
 *     for (i ...) tirc_search_tell(s, points[i], measure(points[i]->mod));
 *   }
 *
 * Evolution: a proposal replays the decisions of one of the best points measured so far, with some
 * of them changed, or is drawn anew. More are made than are proposed; `rank` says which are. The
 * same seed, ranks and times give the same proposals.
 */
#ifndef TIRC_SEARCH_SEARCH_H
#define TIRC_SEARCH_SEARCH_H

#include "space.h"

/* What kind of decision is changed: factors of a loop, one of several numbers, how many pieces go
 * on the threads, a place, and which way or choice between schedules. */
typedef enum ChoiceKind {
  CHOICE_TILE,
  CHOICE_CATEGORY,
  CHOICE_PARALLEL,
  CHOICE_LOCATION,
  CHOICE_WAY,
  N_CHOICE_KINDS
} ChoiceKind;

/* A point, in a context of its own, which goes with it. */
typedef struct SearchPoint {
  Tirc *c;
  const Module *mod;
  const Trace *trace; /* with its decisions */
  const ValueList *decisions;
  const ChoiceKind *kinds; /* one a decision */
  const int *n_options;    /* of numbers to choose from; 0: not known */
  const char *way;         /* of the first function */
  uint64_t hash;           /* of the scheduled program's text */
  uint64_t made_of;        /* hash of the decisions that it was asked for; 0: some were drawn */
  double rank;             /* the lower the better */
  void *data;              /* rank's */
} SearchPoint;
void tirc_search_release(SearchPoint *p);

typedef struct SearchOptions {
  SpaceOptions space;
  int64_t seed;
  int pool;                       /* points made for each that is proposed */
  int parents;                    /* of the best points, origins of others */
  double fresh;                   /* the part of a pool that is drawn anew */
  double blind;                   /* the part of proposals that ranks have no say in */
  double again;                   /* the probability that one more decision is changed */
  double weights[N_CHOICE_KINDS]; /* of decisions to be changed, by kind */
  /* Sets the ranks of some points. */
  void (*rank)(void *self, int n, SearchPoint **points);
  void *self;
} SearchOptions;
extern const SearchOptions tirc_search_defaults;

/* How many points failed with a code, while they were made or measured. */
typedef struct SearchFailure {
  const char *code, *message; /* of the first */
  int n;
} SearchFailure;

typedef struct Search Search;
/* Throws what is wrong with a library. m must stay. */
Search *tirc_search_new(Tirc *c, const Module *m, const SearchOptions *options);
const Space *tirc_search_space(const Search *s);
/* Up to n points that were not proposed before, the most promising first. 0: there are no more, as
 * far as the generator finds. */
int tirc_search_propose(Search *s, int n, SearchPoint **out);
/* What a point took; INFINITY: it failed, and why (a code, or NULL, with a message). It may be
 * released then. */
void tirc_search_tell(Search *s, const SearchPoint *p, double seconds, const char *failure,
                      const char *message);
/* Somebody else's point, by the hash of its program: it is not proposed. */
void tirc_search_pass_over(Search *s, uint64_t hash);
/* The point of a trace (JSON), of this search or of another one. Where the rules of today make
 * another program of its decisions it is what the trace says, and no origin of others. NULL: *why
 * says what its instructions raise. */
SearchPoint *tirc_search_remake(Search *s, const char *trace, SearchFailure *why);
/* Whether a point that takes so long would be an origin of others. */
bool tirc_search_would_keep(const Search *s, double seconds);
int tirc_search_failures(const Search *s, const SearchFailure **out);
int tirc_search_made(const Search *s); /* points, whether or not they were proposed */
uint64_t tirc_search_hash(Tirc *c, const Module *m);

#endif
