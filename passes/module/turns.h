/* What a loop of the graph repeats, as functions of their own while functions get their schedules.
 *
 *   def loop(x, w, state, turns):              def loop_turn0(w, state, p):      is scheduled
 *       state = x                                  p = w @ state
 *       while turns < 8:                 ->    def loop_turn1(p, state):         is scheduled
 *           with T.block("matmul"): ...            state = tanh(p)
 *           with T.block("tanh"): ...
 *           turns = turns + 1                  and they take the blocks' places again
 *
 * A block without iterators that stands in such a loop is a call: what only it uses it writes
 * before it reads it. That is so of loops that graph_loop.c made, which say it by "loop_of_turns";
 * others stay as they are. */
#ifndef TIRC_MODULE_TURNS_H
#define TIRC_MODULE_TURNS_H

#include "module.h"

/* The module with the calls of such loops as functions behind its own. */
const Module *tirc_turns_apart(Tirc *c, const Module *m);
/* `scheduled` without these functions, whose blocks are in the loops of `m`, which it came from. */
const Module *tirc_turns_back(Tirc *c, const Module *m, const Module *scheduled);

#endif
