/* A space: all schedules that the rules of a library may make of a program. A library is a script
 * as for --auto (passes/rules), whose rules may draw:
 *
 *   tile = sch.sample_categorical([4, 6], [0.5, 0.5])
 *
 * It ends with the list `rules` of functions of a schedule and a function's name; each that takes
 * a function is one way to schedule it. A list `block_rules` makes one more way: its functions are
 * called with the schedule and a block, rule by rule, and for each on the function's blocks from
 * the last to the first, or on a block that carries the annotation schedule_rule, the function of
 * the library that this names and no other (none at all if that is "None"; if no library has it,
 * tirc_space_check warns, and the annotation counts for nothing). A rule of either list may return
 * a schedule to go on with, or several, copies of the one that it got: then one of them is drawn.
 *
 * What was drawn stands in the trace, the way and the choices between schedules included. A point
 * of the space is that list of decisions; to replay it with others is to run the rules again, so
 * that what they compute from a decision is computed from the new one.
 */
#ifndef TIRC_SEARCH_SPACE_H
#define TIRC_SEARCH_SPACE_H

#include "ir/cpu.h"
#include "passes/record/trace.h"
#include "passes/script/script.h"

typedef struct Space Space;
typedef struct SpaceOptions {
  const char *path; /* a library whose rules come before the embedded ones, or NULL */
  const Cpu *target;
  const struct Gpu *gpu; /* what schedules are for, if it is no processor; or NULL */
  const struct TensorIntrin *intrins;
  ScriptLimits limits; /* of one schedule */
} SpaceOptions;

/* Reads the libraries and tries each way on each function once. Throws what is wrong with a
 * library. It and m must stay. */
Space *tirc_space_new(Tirc *c, const Module *m, const SpaceOptions *options);
/* Warns, as s says, of schedule rules that blocks of m name and no library has. s: of m. */
void tirc_space_check(Sched *s, const Module *m, const SpaceOptions *options);
const Cpu *tirc_space_target(const Space *sp);
int tirc_space_ways(const Space *sp);
const char *tirc_space_way(const Space *sp, int i);        /* its rule's name */
bool tirc_space_takes(const Space *sp, int func, int way); /* may schedule the function */

typedef struct Draw {
  const ValueList *decisions; /* in order; None, or one that does not fit: drawn. NULL: all are */
  bool likely;                /* where there are probabilities, take the likeliest */
  int64_t seed;
} Draw;
/* A point of the space, as a schedule in c, whose trace holds all decisions. Throws the
 * ScheduleError of a point that is illegal. */
Sched *tirc_space_draw(const Space *sp, Tirc *c, const Draw *d);
/* A schedule of the program as it is, in c, that can run any trace of the space. */
Sched *tirc_space_schedule(const Space *sp, Tirc *c);
/* The decisions of a trace, in order, in a list of c. */
ValueList *tirc_decisions_of(Tirc *c, const Trace *t);
/* Whether a way was drawn by an instruction, or one of the schedules that a rule returned. */
bool tirc_is_choice(const Instruction *inst);
/* The space as scripts: of each way to schedule a function, and of each choice between schedules
 * that comes up in some draws, one that draws all the rest. */
const char *tirc_space_text(const Space *sp, Tirc *c);

#endif
