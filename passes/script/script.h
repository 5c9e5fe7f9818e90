/* The schedule-script interpreter: Python's subset of DESIGN 1.2 over the syntax tree. A script is
 * data: of files it reads scripts and JSON beside it, and nothing else; no network; steps and
 * memory are bounded. */
#ifndef TIRC_SCRIPT_SCRIPT_H
#define TIRC_SCRIPT_SCRIPT_H

#include "parser/syntax.h"
#include "passes/schedule/schedule.h"

typedef struct ScriptLimits {
  int64_t steps; /* statements and expressions evaluated; 0: 10 million */
  int64_t bytes; /* memory; 0: 1 GiB */
} ScriptLimits;

/* Called after each primitive of the script succeeded (or failed: then diag is set). May be NULL.
 */
typedef void (*ScriptObserver)(void *self, Sched *s, const char *call, Loc loc, const Diag *diag);

/* Runs a script on the schedule. `sch` is predefined, and the module's constants (M, N, K ...).
 * print() goes to `out(self, text)`; NULL drops it. A script that only defines one function of one
 * argument is applied by calling it with sch. Throws what the script raises and does not catch. */
void tirc_run_script(Sched *s, const Source *source, const ScriptLimits *limits,
                     void (*out)(void *self, const char *text), ScriptObserver observer,
                     void *self);

/* The same in steps: a scope that stays, and texts that run in it one after the other, each within
 * the limits. */
typedef struct Script Script;
Script *tirc_script_open(Sched *s, const ScriptLimits *limits,
                         void (*out)(void *self, const char *text), ScriptObserver observer,
                         void *self);
void tirc_script_run(Script *sc, const Source *source);
Value tirc_script_value(Script *sc, const Source *source); /* of one expression */
/* Before anything is done that is no text: counts anew, and calls are made at loc. */
void tirc_script_restart(Script *sc, Loc loc);

/* Lends a schedule what replays and primitives need of scripts: Sched.eval and Sched.offer_intrin.
 */
void tirc_script_serve(Sched *s);

#endif
