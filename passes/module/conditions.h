/* What has to hold when a graph runs: conditions on extents that its operators state and that only
 * the run tells, as an attribute of the graph.
 *
 *   R.func_attr({"requires": [[3 < n, "R.nn.pad(...): the padding 3 ...", "pad.tir", 6, 17]]})
 *
 * Each is a condition, why it has to hold, and the place of the call (line 0: it has none). The
 * plan asserts main's on entry, and those of a branch where the branch is taken: a condition
 * belongs to the graph in which its operator stands. */
#ifndef TIRC_MODULE_CONDITIONS_H
#define TIRC_MODULE_CONDITIONS_H

#include "ir/tree/graph.h"
#include "operators.h"

/* Those of a call at this place, but for conditions that are there already; `whose` stands in front
 * of the message, or is NULL. */
Attrs tirc_add_conditions(Tirc *c, Attrs attrs, int n, const Need *needs, Loc at,
                          const char *whose);
/* Those of a graph that becomes a part of another one, in whose extents its symbols are told. */
Attrs tirc_take_conditions(Tirc *c, Attrs attrs, const Graph *from, const PtrMap *symbols);
int tirc_n_conditions(Attrs attrs);
/* Number i, with its place in a file. */
Need tirc_condition(Tirc *c, const Graph *g, int i);

#endif
