/* Conditions that scripts state of what they are given: require(n > 3, "..."). One that is known is
 * decided at once: nothing, or a ValueError. One that only a run tells is noted, for whoever called
 * the script to assert. */
#ifndef TIRC_SCRIPT_REQUIRE_H
#define TIRC_SCRIPT_REQUIRE_H

#include "interp.h"

typedef struct Need {
  Expr cond;
  const char *message; /* the error's, if it does not hold */
  Loc loc;             /* in the script */
} Need;

/* sc->needs; NULL there: nobody asserts, and what is not known is an error. */
typedef struct Needs {
  VEC(Need) list;
  PtrMap extents; /* variables that are extents, so that they are not negative */
} Needs;

/* What require(v, message) does. */
void tirc_script_need(Script *sc, Value v, const char *message);
/* The message with extents as the user wrote them: n - 4, not n - T.int64(4). */
const char *tirc_script_plain_words(Tirc *c, const char *message);
/* The message with its place in a script, behind which another place follows: "... (pad.sch:6)". */
const char *tirc_script_placed(Tirc *c, const char *message, Loc in);
/* The variables of e are extents from now on. */
void tirc_script_extents(Script *sc, Expr e);

/* What is made of extents alone, simplified: (n + 2 - 3 + 1) // 1 is n. Others stay as they are. */
Expr tirc_script_simple_extent(Script *sc, Expr e);

Value tirc_script_run_require(Script *sc, Value self, const Args *a);
Value tirc_script_run_known(Script *sc, Value self, const Args *a);
Value tirc_script_run_limits(Script *sc, Value self, const Args *a);
Value tirc_script_run_simplify(Script *sc, Value self, const Args *a);
#endif
