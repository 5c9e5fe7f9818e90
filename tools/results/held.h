/* What is known of a contender in a setting: the database's record, and the figures in it. */
#ifndef TIRC_TOOLS_HELD_H
#define TIRC_TOOLS_HELD_H

#include "setting.h"

#include "runtime/database/database.h"
#include "tools/kit/json.h"

/* A contender's results, the best one first. */
typedef struct Held Held;
struct Held {
  tirc_db_result
      r; /* whose it is, how it came about, its error; setting and figures are not filled in */
  const char *name, *when;
  CeilingKind ceiling;
  tirc_figures f;
  bool busy;      /* other processes or the clock disturbed it */
  bool is_enough; /* it was measured as long as somebody asks for */
  Held *older;    /* or worse */
};

/* NULL: memory is out. `more` is r->more; w gets the program's operations and traffic. The samples
 * do not stay. */
Held *hold_result(Work *w, const char *name, CeilingKind ceiling, const tirc_db_result *r,
                  Json *more);
void free_held(Held *h); /* and what is older */
/* The two results that took turns in one run, of those that are held from here on; or the first
 * figures of each: *together says which. NULL: there is none. */
void pair_up(const Held **of, const Held **base, bool *together);

/* What hold_result finds again in `more`: the work; how many samples each turn has, and what
 * disturbed it. */
void keep_work(Json *more, const Work *w);
void keep_figures(Json *more, const tirc_figures *f, int n_disturbed, const char *const *disturbed);

#endif
