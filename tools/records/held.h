/* What the database holds of a contender in a setting, with the figures that bench makes of it. */
#ifndef TIRC_TOOLS_HELD_H
#define TIRC_TOOLS_HELD_H

#include "tools/bench/bench.h"

#include "runtime/database/database.h"

/* A contender's results, the best one first. */
typedef struct Held Held;
struct Held {
  Contender c; /* its figures */
  char *session, *environment, *when;
  double load, clock_low, clock_high;
  bool busy;      /* other processes or the clock disturbed it */
  bool is_enough; /* it was measured as long as somebody asks for */
  Held *older;    /* or worse */
};

/* NULL: memory is out. `more` is r->more; k gets the program's operations and traffic. The samples
 * do not stay. */
Held *hold_result(Case *k, const char *name, const Ceiling *ceiling, const tirc_db_result *r,
                  struct json_object *more);
void free_held(Held *h); /* and what is older */

/* Of an object, which may be NULL; 0 and NULL where it has no such key. */
double number_in(struct json_object *j, const char *key);
const char *text_in(struct json_object *j, const char *key);

#endif
