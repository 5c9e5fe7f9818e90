/* The parts of the property test: random programs, random calls, and the two laws. */
#ifndef TIRC_TESTS_FUZZ_H
#define TIRC_TESTS_FUZZ_H

#include "meaning.h"
#include "passes/schedule/schedule.h"
#include "rng.h"

/* A program's text: one to five stages (element-wise, broadcasts, transposes, reductions, stencils,
 * paddings, reshapes, ...) over small buffers whose values stay exact integers in float32. */
const char *fuzz_program(Tirc *c, Rng *r);
/* Of kinds that fuzz_program never draws: see the list in fuzz_wild.h. It may be ill-formed, not
 * runnable, or race in parallel loops of its own. */
const char *fuzz_wild_program(Tirc *c, Rng *r);
/* The text of a module's program without some of its blocks: see fuzz_loose.c. */
const char *fuzz_loosen(Tirc *c, Rng *r, const Module *m);
/* Schedule script that calls one primitive, with arguments that are usually meaningful. `last`: the
 * call before, or NULL. `which`: the primitive; NULL: any. NULL: the program has no arguments for
 * it. */
const char *fuzz_call(Tirc *c, Rng *r, Sched *s, const char *last, const Primitive *which);

/* A program as a module; NULL: it is ill-formed, and the context's diagnostic says why. */
const Module *fuzz_parse(Tirc *c, const char *path, const char *program);
/* The module of a case file, its program and its schedule, which live as long as the context.
 * NULL: it is none, or has extents that are loaded. */
const Module *fuzz_case(Tirc *c, const char *path, const char **program, const char **start);

/* The function with the iterations of its parallel, vectorized and bound loops in the other order,
 * or with those of the spatial loops around one block; NULL: it has none. */
const Func *fuzz_turned(Tirc *c, const Func *f, const char *block);
/* Whether it has a parallel loop in which an index is loaded: which iterations meet is not known.
 */
bool fuzz_is_at_users_risk(const Func *f);
/* Watches a run for elements of parameters that one iteration of a parallel loop stores and another
 * one uses, of loops with `depth` others around them. At the end: the buffer in which that was
 * seen, or NULL, and whether there were loops inside of those. */
typedef struct Threads Threads;
Threads *fuzz_watch_threads(const Func *f, int depth, InterpObserver *out);
Buffer fuzz_end_threads(Threads *t, bool *deeper);

#endif
